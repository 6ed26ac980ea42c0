"""metrics: whole pages, line by line, as dashboards and alerts take them."""

import re
import sys

import pytest
import simulated
from inside import metrics_page

from command import invoke, process_tree

pytest.importorskip("prometheus_client")

UUID = "10000000-0000-0000-0000-00000000000a"

# Of a card on which no two numbers are the same: without the label uuid that each series of the card has, and
# without the time
PAGE = """\
# HELP mthreads_driver_up 1 if the driver answered all questions of the last collection in time, else 0.
# TYPE mthreads_driver_up gauge
mthreads_driver_up 1.0
# HELP mthreads_gpus Number of whole cards that the driver counts.
# TYPE mthreads_gpus gauge
mthreads_gpus 1.0
# HELP mthreads_gpus_expected Number of cards that there must be, as the option --expect says.
# TYPE mthreads_gpus_expected gauge
mthreads_gpus_expected 2.0
# HELP mthreads_collect_timestamp_seconds When the last collection ended, in seconds since 1970.
# TYPE mthreads_collect_timestamp_seconds gauge
mthreads_collect_timestamp_seconds TIME
# HELP mthreads_collect_duration_seconds Time that the last collection took.
# TYPE mthreads_collect_duration_seconds gauge
mthreads_collect_duration_seconds TIME
# HELP mthreads_health_status Worst finding of a check of pymtml health: 0 as it should be, 1 warning, 2 critical.
# TYPE mthreads_health_status gauge
mthreads_health_status{check="driver"} 0.0
mthreads_health_status{check="devices"} 2.0
mthreads_health_status{check="answers"} 0.0
mthreads_health_status{check="memory"} 0.0
mthreads_health_status{check="utilization"} 0.0
mthreads_health_status{check="temperature"} 2.0
mthreads_health_status{check="ecc"} 2.0
mthreads_health_status{check="pages"} 1.0
mthreads_health_status{check="links"} 2.0
mthreads_health_status{check="pcie"} 1.0
mthreads_health_status{check="processes"} 0.0
# HELP mthreads_gpu_info What the card is; the value is 1.
# TYPE mthreads_gpu_info gauge
mthreads_gpu_info{driver="3.3.9-server",gpu="0",name="MTT S5000",pci_bus_id="00000000:2A:00.0",\
serial="MYAAAA0000000001",vbios="4.3.1"} 1.0
# HELP mthreads_gpu_up 1 if the card answered in the last collection, else 0.
# TYPE mthreads_gpu_up gauge
mthreads_gpu_up{gpu="0"} 1.0
# HELP mthreads_gpu_query_errors_total Questions that the card or its driver failed to answer.
# TYPE mthreads_gpu_query_errors_total counter
mthreads_gpu_query_errors_total{code="Timeout",gpu="0",query="temperature"} 1.0
# HELP mthreads_gpu_utilization_ratio Utilization of an engine, from 0 to 1.
# TYPE mthreads_gpu_utilization_ratio gauge
mthreads_gpu_utilization_ratio{engine="gpu",gpu="0"} 0.61
mthreads_gpu_utilization_ratio{engine="memory",gpu="0"} 0.66
mthreads_gpu_utilization_ratio{engine="encoder",gpu="0"} 0.22
mthreads_gpu_utilization_ratio{engine="decoder",gpu="0"} 0.23
# HELP mthreads_gpu_memory_used_bytes Memory of the card in use.
# TYPE mthreads_gpu_memory_used_bytes gauge
mthreads_gpu_memory_used_bytes{gpu="0"} 3.221225472e+09
# HELP mthreads_gpu_memory_total_bytes Memory that the card has.
# TYPE mthreads_gpu_memory_total_bytes gauge
mthreads_gpu_memory_total_bytes{gpu="0"} 1.7179869184e+10
# HELP mthreads_gpu_temperature_celsius Temperature.
# TYPE mthreads_gpu_temperature_celsius gauge
mthreads_gpu_temperature_celsius{gpu="0",sensor="memory"} 72.0
# HELP mthreads_gpu_temperature_limit_celsius Temperature at which the card slows down, or shuts down.
# TYPE mthreads_gpu_temperature_limit_celsius gauge
mthreads_gpu_temperature_limit_celsius{gpu="0",limit="slowdown"} 88.0
mthreads_gpu_temperature_limit_celsius{gpu="0",limit="shutdown"} 97.0
# HELP mthreads_gpu_power_watts Power that the card draws.
# TYPE mthreads_gpu_power_watts gauge
mthreads_gpu_power_watts{gpu="0"} 123.0
# HELP mthreads_gpu_power_limit_watts Power limit in force.
# TYPE mthreads_gpu_power_limit_watts gauge
mthreads_gpu_power_limit_watts{gpu="0"} 240.0
# HELP mthreads_gpu_clock_hertz Clock at present; the memory's as MTML counts it, an eighth of the data rate.
# TYPE mthreads_gpu_clock_hertz gauge
mthreads_gpu_clock_hertz{clock="graphics",gpu="0"} 1.401e+09
mthreads_gpu_clock_hertz{clock="memory",gpu="0"} 2.101e+09
mthreads_gpu_clock_hertz{clock="video",gpu="0"} 1.101e+09
# HELP mthreads_gpu_clock_max_hertz Greatest clock.
# TYPE mthreads_gpu_clock_max_hertz gauge
mthreads_gpu_clock_max_hertz{clock="graphics",gpu="0"} 1.751e+09
mthreads_gpu_clock_max_hertz{clock="memory",gpu="0"} 2.501e+09
mthreads_gpu_clock_max_hertz{clock="video",gpu="0"} 1.201e+09
# HELP mthreads_gpu_fan_ratio Speed that a fan is set to; 1 is the speed it is made for, and it may be passed.
# TYPE mthreads_gpu_fan_ratio gauge
mthreads_gpu_fan_ratio{fan="0",gpu="0"} 0.31
mthreads_gpu_fan_ratio{fan="1",gpu="0"} 0.33
mthreads_gpu_fan_ratio{fan="2",gpu="0"} 0.35
# HELP mthreads_gpu_ecc_errors_total Memory errors: volatile since the driver was loaded, aggregate in the life of the \
card.
# TYPE mthreads_gpu_ecc_errors_total counter
mthreads_gpu_ecc_errors_total{gpu="0",kind="corrected",scope="volatile"} 101.0
mthreads_gpu_ecc_errors_total{gpu="0",kind="corrected",scope="aggregate"} 203.0
mthreads_gpu_ecc_errors_total{gpu="0",kind="uncorrected",scope="volatile"} 305.0
mthreads_gpu_ecc_errors_total{gpu="0",kind="uncorrected",scope="aggregate"} 407.0
# HELP mthreads_gpu_ecc_enabled 1 if memory errors are corrected and counted (ECC), else 0.
# TYPE mthreads_gpu_ecc_enabled gauge
mthreads_gpu_ecc_enabled{gpu="0"} 1.0
# HELP mthreads_gpu_retired_pages Memory pages that are no longer used.
# TYPE mthreads_gpu_retired_pages gauge
mthreads_gpu_retired_pages{cause="single_bit",gpu="0"} 2.0
mthreads_gpu_retired_pages{cause="double_bit",gpu="0"} 3.0
# HELP mthreads_gpu_retired_pages_pending 1 if memory pages wait for a reboot to be retired, else 0.
# TYPE mthreads_gpu_retired_pages_pending gauge
mthreads_gpu_retired_pages_pending{gpu="0"} 1.0
# HELP mthreads_gpu_pcie_width PCIe lanes in use.
# TYPE mthreads_gpu_pcie_width gauge
mthreads_gpu_pcie_width{gpu="0"} 4.0
# HELP mthreads_gpu_pcie_width_max PCIe lanes that the card has.
# TYPE mthreads_gpu_pcie_width_max gauge
mthreads_gpu_pcie_width_max{gpu="0"} 16.0
# HELP mthreads_gpu_pcie_generation PCIe generation that the link runs at; it drops when the card is idle.
# TYPE mthreads_gpu_pcie_generation gauge
mthreads_gpu_pcie_generation{gpu="0"} 3.0
# HELP mthreads_gpu_pcie_generation_max Greatest PCIe generation of the card.
# TYPE mthreads_gpu_pcie_generation_max gauge
mthreads_gpu_pcie_generation_max{gpu="0"} 5.0
# HELP mthreads_gpu_pcie_replays_total PCIe packets that were sent again.
# TYPE mthreads_gpu_pcie_replays_total counter
mthreads_gpu_pcie_replays_total{gpu="0"} 17.0
# HELP mthreads_gpu_mtlinks MtLinks of the card in a state.
# TYPE mthreads_gpu_mtlinks gauge
mthreads_gpu_mtlinks{gpu="0",state="up"} 2.0
mthreads_gpu_mtlinks{gpu="0",state="down"} 0.0
mthreads_gpu_mtlinks{gpu="0",state="downgraded"} 1.0
# HELP mthreads_gpu_processes Processes that use the card, counted at most every 30 seconds.
# TYPE mthreads_gpu_processes gauge
mthreads_gpu_processes{gpu="0"} 2.0
# HELP mthreads_gpu_process_info A process that uses the card; the value is 1.
# TYPE mthreads_gpu_process_info gauge
mthreads_gpu_process_info{gpu="0",kind="C",name="python",pid="4242"} 1.0
mthreads_gpu_process_info{gpu="0",kind="C",name="vllm",pid="4243"} 1.0
"""


@pytest.fixture
def text_of(tmp_path, monkeypatch):
    """Runs metrics on a machine with two processes on its first card (the page, TIME in the place of times)."""
    process_tree(tmp_path, monkeypatch, {4242: ("python", 10), 4243: ("vllm", 20)})

    def run(*arguments, **machine):
        with simulated.machine(**machine):
            result = invoke("metrics", "--lock", str(tmp_path / "lock"), *arguments)
        assert (result.status, result.stderr) == (0, "")
        text = re.sub(r"e\+0(\d\d)$", r"e+\1", result.stdout, flags=re.M)  # as older prometheus_client writes numbers
        return re.sub(r"^(mthreads_collect_\w+) \d\S*$", r"\1 TIME", text, flags=re.M)

    return run


def test_a_whole_page(text_of):
    changes = {"set": "1.visible=no;0.mtlink_state.2=UP", "faults": "0.mtmlGpuGetTemperature=TIMEOUT"}
    text = text_of("--expect", "2", "--processes", "names", name=simulated.DISTINCT, **changes)
    assert text.count('uuid="%s"' % UUID) == text.count('gpu="0"')
    assert text.replace(',uuid="%s"' % UUID, "").splitlines() == PAGE.splitlines()


# Of an MPC instance: without its uuid, and without what begins the name of each series
PART = """\
info{driver="3.3.5-server",gpu="0",instance_id="1",name="2c+8gb",pci_bus_id="00000000:3B:00.0",\
serial="MY02S30B24A10007",vbios="3.4.8"} 1.0
up{gpu="0",instance_id="1"} 1.0
utilization_ratio{engine="gpu",gpu="0",instance_id="1"} 0.35
utilization_ratio{engine="memory",gpu="0",instance_id="1"} 0.33
utilization_ratio{engine="encoder",gpu="0",instance_id="1"} 0.0
utilization_ratio{engine="decoder",gpu="0",instance_id="1"} 0.0
memory_used_bytes{gpu="0",instance_id="1"} 2.147483648e+09
memory_total_bytes{gpu="0",instance_id="1"} 8.589934592e+09
"""


def test_a_part_of_a_card(text_of):
    text, uuid = text_of("--processes", "none", name="s3000-mpc"), "bdbb08bd-228b-1bf3-4390-602119a4ed9c"
    lines = [line for line in text.splitlines() if 'instance_id="1"' in line]
    assert text.count('uuid="%s"' % uuid) == len(lines)
    assert [line.replace(',uuid="%s"' % uuid, "") for line in lines] == [
        "mthreads_gpu_" + line for line in PART.splitlines()
    ]


def test_without_a_driver(text_of):
    text = text_of("--expect", "0", name="no-driver")
    lines = [line for line in text.splitlines() if not re.match("# (HELP|TYPE) ", line)]
    assert lines[:-1] == [
        "mthreads_driver_up 0.0",
        "mthreads_gpus_expected 0.0",
        "mthreads_collect_timestamp_seconds TIME",
        "mthreads_collect_duration_seconds TIME",
        'mthreads_health_status{check="driver"} 2.0',
    ]
    assert lines[-1].startswith("# The driver is not up: ") and "`pymtml doctor` says why" in lines[-1]


@pytest.mark.parametrize("lacks", ["prometheus_client", "prometheus_client.core"])
def test_without_prometheus_client(monkeypatch, lacks):
    monkeypatch.setitem(sys.modules, lacks, None)
    metrics_page.forget(monkeypatch)
    result = invoke("metrics")
    words = "metrics needs the Python package prometheus_client: pip install 'pymtml-nvml[metrics]'"
    assert (result.status, result.stdout, result.stderr) == (255, "", "pymtml: %s\n" % words)
