"""health: a line and an exit status for each thing that a scheduler must know, also of a driver that hangs."""

import json
import time

import pytest
import simulated
from command import invoke


def check(*arguments, **machine):
    with simulated.machine(machine.pop("profile", "s3000x2"), **machine):
        return invoke("health", *arguments)


def test_a_sound_machine():
    result = check("--expect", "2")
    assert (result.status, result.stderr) == (0, "")
    assert [line.split()[0] for line in result.lines] == ["OK"] * 7
    assert "OK       devices: 2 of 2" in result.lines


@pytest.mark.parametrize(
    "arguments, change, line",
    [
        (["--expect", "3"], "", "CRITICAL devices: 2 of 3"),
        (["--expect", "1"], "", "CRITICAL devices: 2 of 1"),
        ([], "1.lost=DRIVER_FAILURE", "CRITICAL answers: GPU 1: Unknown Error"),
        ([], "0.gpu_temperature=84;1.gpu_temperature=85", "CRITICAL temperature: GPU 1: 85 C, and 85 C is the limit"),
        (["--max-temperature", "40"], "0.gpu_temperature=39;1.gpu_temperature=40", "CRITICAL temperature: GPU 1: 40 C"),
    ],
)
def test_findings(arguments, change, line):
    change = ";".join(filter(None, ["*.slowdown_temperature=85", change]))
    result = check(*arguments, set=change)
    assert result.status == 2
    assert [text[: len(line)] for text in result.lines if not text.startswith("OK")] == [line]


@pytest.mark.parametrize("state, words", [("DOWN", "down"), ("DOWNGRADE", "at reduced width")])
def test_links(state, words):
    result = check(profile="s4000x8", set="6.mtlink_state.1=" + state)
    assert result.status == 2
    assert "CRITICAL links: GPU 6: MtLink 1 " + words in result.lines


def test_memory_errors_and_pages():
    with simulated.machine("s5000x8", set="*.ecc_uncorrected_volatile=0;*.retired_pages_pending=no"):
        before = invoke("health")
    with simulated.machine("s5000x8", set="4.ecc_uncorrected_volatile=3"):
        after = invoke("health")
    assert "CRITICAL ecc: GPU 4: 3 uncorrected memory error(s) since the driver was loaded" in after.lines
    assert not [line for line in before.lines if "ecc: GPU" in line]


def test_waiting_pages_are_a_warning():
    skipped = ["--skip", "ecc"]
    with simulated.machine("s5000x8"):
        result = invoke("health", *skipped)
        waiting = [
            index for index in range(8) if simulated.device_keys("s5000x8", index)["retired_pages_pending"] == "yes"
        ]
    assert waiting and result.status == 1
    for index in waiting:
        assert (
            "WARNING  pages: GPU %d: memory pages wait to be retired: drain the card and reboot" % index in result.lines
        )


def test_a_hung_driver():
    began = time.monotonic()
    result = check("--timeout", "0.5", latency_ns=5000000000)
    assert (result.status, result.lines) == (2, ["CRITICAL driver: no answer within 0.5 seconds"])
    assert time.monotonic() - began < 4


def test_a_driver_that_ends_the_process():
    # What crashes the child is a finding as well: a lenient simulator would answer, this one aborts on misuse.
    result = check("--timeout", "20", profile="no-driver")
    assert result.status == 2
    assert len(result.lines) == 1 and result.lines[0].startswith("CRITICAL driver: ")


def test_for_programs():
    result = check("--expect", "3", "--json")
    report = json.loads(result.stdout)
    assert (result.status, report["status"]) == (2, "CRITICAL")
    assert {"level": "CRITICAL", "check": "devices", "text": "2 of 3"} in report["findings"]


def test_checks_can_be_left_out():
    assert check("--expect", "3", "--skip", "devices,links").status == 0
    result = check("--skip", "nix")
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.startswith("pymtml: no check 'nix'; there are devices, ")
