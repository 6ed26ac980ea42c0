"""Programs in other languages that read what nvidia-smi prints: they get ours."""

import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import test_xml as readers
from machines import MIB
from program_set import CHECKMK, NETDATA, SYSTEMINFORMATION, TELEGRAF

pytestmark = pytest.mark.programs

PROGRAMS = {
    "test_systeminformation": SYSTEMINFORMATION,
    "test_telegraf": TELEGRAF,
    "test_netdata": NETDATA,
    "test_checkmk": CHECKMK,
}
MISSING = "Runs the command nvidia-smi: `pymtml run --nvidia-smi` gives it ours."


@pytest.fixture
def environment(runner, machine):
    """Where the shim is the first nvidia-smi on the path."""
    variables = runner.on_pymtml(machine)
    variables["PATH"] = os.path.join(runner.site, "pymtml_dropin", "bin") + os.pathsep + variables["PATH"]
    return dict(variables, PYMTML_PYTHON=sys.executable)


def test_systeminformation(runner, machine, environment):
    """`graphics()`: memory, utilization, temperatures, power and clocks of eight GPUs, found by lspci's addresses."""
    form = "%s 3D controller: Moore Threads Technology Co.,Ltd MTT S5000 (rev 01)\n\tSubsystem: Moore Threads Device\n"
    form += "\tRegion 0: Memory at 4000000000 (64-bit, prefetchable) [size=128G]\n\n"
    lines = "".join(form % gpu.text("pci_sbdf")[-7:].lower() for gpu in machine.gpus)
    lspci = os.path.join(runner.folder, "lspci")
    with open(lspci, "w") as file:
        file.write("#!/bin/sh\ncat <<END\n%sEND\n" % lines)
    os.chmod(lspci, 0o755)
    environment["PATH"] = runner.folder + os.pathsep + environment["PATH"]
    environment["NODE_PATH"] = os.path.join(SYSTEMINFORMATION.folder, "node_modules")
    code = "require('systeminformation').graphics().then(d => console.log(JSON.stringify(d.controllers)))"
    shown = json.loads(runner.run(["node", "-e", code], environment))
    assert len(shown) == 8
    for gpu, found in zip(machine.gpus, shown):
        assert (found["name"], found["memoryTotal"]) == (gpu.name, gpu.number("memory_total") // MIB)
        assert found["memoryUsed"] == pytest.approx(gpu.number("memory_used") / MIB, abs=1)
        assert found["temperatureGpu"] == gpu.number("gpu_temperature")
        assert found["powerDraw"] == pytest.approx(gpu.number("power_usage") / 1000, abs=0.01)
        assert found.get("utilizationGpu", 0) == gpu.number("gpu_utilization")  # it leaves out what is 0


def document(runner, environment):
    """What nvidia-smi -q -x prints, on both streams."""
    done = subprocess.run(
        ["nvidia-smi", "-q", "-x"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
    )
    assert done.returncode == 0
    return done.stdout.decode()


def checked(gpu, memory, heat, busy):
    """Whether memory, temperature and utilization are the simulated ones."""
    assert memory == pytest.approx(gpu.number("memory_used") / MIB, abs=1)
    assert (heat, busy) == (gpu.number("gpu_temperature"), gpu.number("gpu_utilization"))


def test_telegraf(runner, machine, environment):
    """Its schema v13: the numbers of eight GPUs, from stdout and stderr as one text."""
    text = document(runner, environment)
    assert 'SYSTEM "nvsmi_device_v13.dtd">' in text
    gpus = ElementTree.fromstring(text).findall("gpu")
    assert len(gpus) == 8
    for gpu, found in zip(machine.gpus, gpus):
        paths = [readers.TELEGRAF[name][0] for name in ("memory_used", "temperature_gpu", "utilization_gpu")]
        checked(gpu, *[readers.first_number(found.findtext(path)) for path in paths])


def test_netdata(runner, machine, environment):
    """A process in loop mode: whole documents, the numbers of eight GPUs by their UUID."""
    process = subprocess.Popen(
        ["nvidia-smi", "-q", "-x", "-l", "1"], env=environment, stdout=subprocess.PIPE, universal_newlines=True
    )
    try:
        samples = [readers.netdata_sample(process.stdout) for _ in range(2)]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    for sample in samples:
        gpus = {gpu.findtext("uuid"): gpu for gpu in ElementTree.fromstring(sample).findall("gpu")}
        assert list(gpus) == [gpu.uuid for gpu in machine.gpus]
        for gpu in machine.gpus:
            paths = ("fb_memory_usage/used", "temperature/gpu_temp", "utilization/gpu_util")
            checked(gpu, *[readers.first_number(gpus[gpu.uuid].findtext(path)) for path in paths])


def test_checkmk(runner, machine, environment):
    """Its section: every element as its model wants it, the numbers of eight GPUs."""
    lines = [line.strip() for line in document(runner, environment).splitlines()]
    found = readers.checkmk(ElementTree.fromstring("".join(lines)))
    assert len(found) == 8
    for gpu, values in zip(machine.gpus, found):
        paths = ("fb_memory_usage/used", "temperature/gpu_temp", "utilization/gpu_util")
        checked(gpu, *[values[path] for path in paths])
