"""labels: what node-feature-discovery reads, by the rules that Kubernetes has for labels."""

import re

import pytest
import simulated
from command import invoke

# A name with a prefix that is a domain, and a value
LABEL = r"mthreads\.com/[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?=([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?"


def labels(*arguments, **machine):
    """{name: value} of what is printed."""
    with simulated.machine(**machine):
        result = invoke("labels", *arguments)
    assert (result.status, result.stderr) == (0, "")
    assert all(re.match(LABEL + r"\Z", line) for line in result.lines), result.lines
    found = dict(line[len("mthreads.com/") :].split("=") for line in result.lines)
    assert len(found) == len(result.lines)
    return found


@pytest.mark.parametrize("name", simulated.ALL_PROFILES)
def test_labels_are_what_kubernetes_takes(name):
    if name != "no-driver":
        assert labels(name=name)["gpu.count"].isdigit()


@pytest.mark.parametrize(
    "changes, product, memory",
    [
        ("", "MTT-S3000", "32768"),
        ("1.gpu_clock=0;1.power_usage=0;1.gpu_temperature=0", "MTT-S3000", "32768"),
        ("1.name=MTT S80;1.memory_total=17179869184", "mixed", "16384"),
        ("1.lost=TIMEOUT", "MTT-S3000", "32768"),
        (r"*.name=\xe6\x91\xa9 - _S3000 (a/b)!", "S3000-a-b", "32768"),
        ("*.name=!", None, "32768"),
        ("1.name=!", "mixed", "32768"),
    ],
)
def test_cards_and_names_of_all_kinds(changes, product, memory):
    found = labels(name="s3000x2", set=changes)
    count = "1" if "lost" in changes or "gpu_clock=0" in changes else "2"  # those that answer
    assert (found["gpu.count"], found.get("gpu.product"), found["gpu.memory"]) == (count, product, memory)


def test_a_value_is_as_long_as_it_may_be():
    found = labels(name="s3000x2", set="machine.driver_version=%s-%s" % ("x" * 62, "y" * 10))
    assert found["driver.version"] == "x" * 62


def test_what_nobody_knows_has_no_label():
    failing = ("mtmlDeviceGetName", "mtmlMemoryGetTotal", "mtmlSystemGetDriverVersion")
    found = labels(name="s3000x2", faults=",".join(name + "=TIMEOUT" for name in failing))
    assert found == {"gpu.count": "2", "mpc.enabled": "false", "mpc.instances": "0"}
    assert labels(name="empty", faults=failing[2] + "=TIMEOUT") == {"gpu.count": "0"}
    assert labels(name="s3000-mpc")["mpc.enabled"] == "true"  # of one card of two


def test_a_file_is_written_as_a_whole_and_kept_without_a_driver(tmp_path):
    path = tmp_path / "mthreads"
    assert labels("--output", str(path), name="s3000x2") == {}
    text = path.read_text()
    assert text.startswith("mthreads.com/gpu.count=2\n") and text.endswith("\n")
    with simulated.machine("no-driver"):
        assert invoke("labels", "--output", str(path)).status == 9
    assert path.read_text() == text and [one.name for one in tmp_path.iterdir()] == ["mthreads"]
