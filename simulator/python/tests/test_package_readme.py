"""The package's README: its tests are run as a stranger would run them, and what it lists is all there is."""

import os
import re

import packaged
import pytest
from packaged import run_tests

pytestmark = packaged.needs_python_3_8


def readme():
    with open(os.path.join(packaged.PYTHON_FOLDER, "README.md"), encoding="utf-8") as file:
        return file.read()


def examples():
    blocks = re.findall(r"```python\n(.*?)```", readme(), re.S)
    return [block for block in blocks if "def test_" in block]


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


@pytest.mark.parametrize("number", range(len(examples())))
def test_example(tmp_path, number):
    done = run_tests(tmp_path, test_example=examples()[number])
    assert done.returncode == 0, done.stdout


def test_profile_in_the_readme(tmp_path):
    (text,) = re.findall(r"```ini\n(.*?)```", readme(), re.S)
    suite = (
        "import pymtml\n\ndef test(mtml_simulator):\n"
        "    mtml_simulator.profile(%r)\n"
        "    pymtml.nvmlInit()\n"
        "    device = pymtml.nvmlDeviceGetHandleByPciBusId('00000000:3a:00.0')\n"
        "    assert pymtml.nvmlDeviceGetIndex(device) == 1\n"
        "    with pymtml_refuses():\n"
        "        pymtml.nvmlDeviceGetPowerUsage(device)\n"
        "    pymtml.nvmlShutdown()\n\n"
        "def pymtml_refuses():\n"
        "    import pytest\n"
        "    return pytest.raises(pymtml.NVMLError_NotSupported)\n" % text
    )
    done = run_tests(tmp_path, test_profile=suite)
    assert done.returncode == 0, done.stdout


def test_every_method_is_in_the_readme():
    """What a Simulator offers, and nothing that it does not."""
    source = os.path.join(packaged.PYTHON_FOLDER, "mtml_simulator", "session.py")
    with open(source) as file:
        body = file.read().partition("class Machine:")[2].partition("def attach(")[0]
    methods = set(re.findall(r"^    def ([a-z]\w*)\(", body, re.M))
    table = readme().partition("| method | does |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)\(", table, re.M)) == methods
    with open(os.path.join(packaged.ROOT, "simulator", "src", "names.c")) as file:
        codes = set(re.findall(r'\{"(\w+)", MTML_ERROR_\w+\}', file.read()))
    for code in re.findall(r"`([A-Z_]{5,})`", readme().partition("The codes are")[2].partition("or a\nnumber")[0]):
        assert code in codes | {"MTML_ERROR_"}
