"""How the command starts: one copy of pymtml, nothing imported that was not asked for, a lone pymtml.py."""

import os
import shutil
import subprocess
import sys

import pytest
import simulated
from command import run_command

from pymtml_cli.main import SUBCOMMANDS


def test_help_names_the_subcommands():
    result = run_command("--help")
    assert (result.returncode, result.stderr) == (0, "")
    for name in SUBCOMMANDS:
        assert "  %s " % name in result.stdout


@pytest.mark.parametrize("start", [["-m", "pymtml"], [os.path.join(simulated.ROOT, "pymtml.py")]])
def test_one_copy_of_the_module(start, tmp_path):
    probe = tmp_path / "pymtml_cli"
    probe.mkdir()
    (probe / "__init__.py").write_text("")
    (probe / "main.py").write_text(
        "import sys, pymtml\ndef main():\n    print(pymtml is sys.modules['__main__'], pymtml.NVML_SUCCESS)\n"
    )
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    start = [part.replace(simulated.ROOT, str(tmp_path)) for part in start]
    output = subprocess.check_output([sys.executable] + start, cwd=str(tmp_path), universal_newlines=True)
    assert output == "True 0\n"


def test_a_lone_file_says_what_is_missing(tmp_path):
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    # -S: the environment has the packages, through its editable install.
    for start in (["-S", "-m", "pymtml"], ["-S", "pymtml.py"]):
        result = subprocess.run(
            [sys.executable] + start, cwd=str(tmp_path), stderr=subprocess.PIPE, universal_newlines=True
        )
        assert result.returncode == 2
        assert result.stderr.count("\n") == 1
        assert "needs the package pymtml_cli" in result.stderr
