"""Files that are run by themselves: each file of scenarios, and what ``python -m`` starts."""

import ctypes
import json
import os
import subprocess
import sys

import pytest
import simulated

SCENARIOS = ("test_pymtml.py", "test_pynvml.py", "test_sglang_compat.py")


def run(file, *arguments):
    """A file's process, run from a folder that has nothing to do with the project (CompletedProcess)."""
    return simulated.run(
        [sys.executable, os.path.join(simulated.ROOT, file)] + list(arguments),
        env={key: value for key, value in os.environ.items() if not key.startswith(("MTML_SIM_", "PYMTML_", "PYTEST"))},
        cwd=os.path.dirname(simulated.ROOT),
        stderr=subprocess.STDOUT,
    )


def test_scenarios_run_by_themselves():
    """One test of one file; the others end as this one does, and the suite runs what is in them."""
    ends = set()
    for file in SCENARIOS:
        with open(os.path.join(simulated.ROOT, file)) as source:
            ends.add(source.read().partition("\nif __name__")[2])
    assert len(ends) == 1
    done = run(SCENARIOS[0], "-q", "-p", "no:cacheprovider", "-k", "quick_start")
    assert done.returncode == 0 and "1 passed, " in done.stdout


@pytest.mark.parametrize("program", ["another", "pymtml"])
def test_a_program_of_python_m_takes_no_ctypes_from_the_current_folder(program, tmp_path):
    """That Python puts first on the path; there it stays for another program, which may need it."""
    here, packages = tmp_path / "here", tmp_path / "packages"
    show = (
        "import ctypes, json, sys\ndef main():\n    path = sys.path[: sys.path.index(%r) + 1]\n"
        "    print(json.dumps({'ctypes': ctypes.__file__, 'path': path, 'arguments': sys.argv[1:]}))\n"
    ) % simulated.ROOT
    for file, text in {
        here / "ctypes.py": "raise SystemExit('that of somebody else')\n",
        packages / "another" / "__init__.py": "import pymtml\n",
        packages / "another" / "__main__.py": show + "main()\n",
        packages / "pymtml_cli" / "__init__.py": "",
        packages / "pymtml_cli" / "main.py": show,
    }.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    environment["PYTHONPATH"] = os.pathsep.join([str(packages), simulated.ROOT])
    done = simulated.run(
        [sys.executable, "-m", program, "an", "argument"], env=environment, cwd=str(here), stderr=subprocess.STDOUT
    )
    path = [str(packages), simulated.ROOT]
    expected = {"ctypes": ctypes.__file__, "path": path if program == "pymtml" else [str(here)] + path}
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout) == dict(expected, arguments=["an", "argument"])
