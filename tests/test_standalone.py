"""Files that are run by themselves: the typed program, each file of scenarios, and what ``python -m`` starts."""

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


def test_typed_program():
    done = simulated.run(
        [sys.executable, os.path.join(simulated.ROOT, "tests", "typed_program.py")],
        env=simulated.environment("s3000x2"),
    )
    keys = [simulated.device_keys("s3000x2", index) for index in range(2)]
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:3] == [keys[0][key] for key in ("name", "memory_used", "gpu_temperature")]
    assert lines[3:5] == [key["pci_sbdf"].upper() for key in keys]
    assert lines[5:] == [str({index: int(key["enforced_power_limit"]) for index, key in enumerate(keys)})]


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
