import subprocess

import gmi_parser
import pytest


def test_metrics(mtml_simulator):
    mtml_simulator.set("5.gpu_temperature", -7)
    mtml_simulator.set("5.power_usage", 96660)
    mtml_simulator.set("5.memory_used", 5 << 30)
    mtml_simulator.set("5.gpu_utilization", 42)
    metrics = gmi_parser.collect([0, 5])
    assert sorted(metrics) == [0, 5]
    assert metrics[5] == {"temperature": -7, "power": 96.66, "memory_used": 5120, "utilization": 42}


def test_what_is_not_known(mtml_simulator):
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT", device=1)
    assert [gmi_parser.collect([0, 1])[index]["temperature"] is None for index in (0, 1)] == [False, True]


def test_processes(mtml_simulator):
    mtml_simulator.set("2.processes", "4242 2048 python worker.py, 17 300 /opt/server --port 8000")
    assert gmi_parser.processes() == [(2, 17, 300), (2, 4242, 2048)]


@pytest.mark.mtml(profile="no-driver")
def test_no_driver():
    with pytest.raises(subprocess.CalledProcessError):
        gmi_parser.collect([0])
