"""doctor: a finding for each thing that is wrong, nothing for what is right, and the exit status that follows."""

import json
import os

import pytest
import simulated
from command import WORKING_PROFILES, invoke, run_command

import pymtml


def findings(*arguments, **machine):
    """(exit status, {check: [(level, text, next step)]}) of doctor on a machine."""
    with simulated.machine(machine.pop("profile", "s3000x2"), **machine):
        result = invoke("doctor", "--json")
    report = json.loads(result.stdout)
    assert (result.status, result.stderr) == (report["status"], "")
    found = {}
    for finding in report["findings"]:
        found.setdefault(finding["check"], []).append((finding["level"], finding["text"], finding["next_step"]))
    return result.status, found


def levels(found, check):
    return [level for level, _, _ in found.get(check, [])]


def test_a_sound_machine_works():
    status, found = findings()
    assert status == 0
    for check in ("library", "functions", "versions", "devices", "cards", "cost", "reinit"):
        assert levels(found, check) == ["ok"], check
    assert levels(found, "driver") == ["n/a"]  # a simulated library
    assert found["library"][0][1].startswith(os.path.realpath(pymtml.nvmlLib._name))


@pytest.mark.parametrize("profile", WORKING_PROFILES)
def test_every_warning_has_a_next_step(profile):
    _, found = findings(profile=profile)
    for check in found.values():
        for level, _, step in check:
            assert step or level not in ("warn", "fail")


@pytest.mark.parametrize(
    "change, check, level, words",
    [
        ("0.memory_used=99999999999", "memory", "warn", "GPU 0: 95367 MiB of"),
        ("0.enforced_power_limit=0", "limits", "note", "GPU 0: the driver tells a power limit of 0"),
        ("1.lost=DRIVER_FAILURE", "cards", "warn", "GPU 1: no answer: Unknown Error"),
    ],
)
def test_findings_on_a_card(change, check, level, words):
    status, found = findings(set=change)
    assert status == (1 if level == "warn" else 0)
    assert [(entry[0], entry[1][: len(words)]) for entry in found[check]] == [(level, words)]


@pytest.mark.parametrize("state, words", [("DOWN", "down"), ("DOWNGRADE", "at reduced width")])
def test_links(state, words):
    status, found = findings(profile="s4000x8", set="2.mtlink_state.3=" + state)
    assert status == 1
    assert [text for level, text, _ in found["links"] if level == "warn"] == ["GPU 2: MtLink 3 %s" % words]


def test_ecc_that_waits_for_a_reboot():
    _, found = findings(profile="s5000x8", set="*.ecc_pending_mode=DISABLE;*.retired_pages_pending=no")
    assert [(level, text) for level, text, _ in found["ecc"]] == [("note", "GPU 0-7: ECC is on and will be off")]


def test_pages_that_wait_for_a_reboot():
    waiting = [index for index in range(8) if simulated.device_keys("s5000x8", index)["retired_pages_pending"] == "yes"]
    assert waiting
    status, found = findings(profile="s5000x8")
    text = "GPU %s: memory pages wait to be retired" % ",".join(map(str, waiting))
    assert (status, found["pages"]) == (1, [("warn", text, found["pages"][0][2])])


def test_a_library_that_lacks_functions():
    with simulated.machine("old-library"):
        report = run_command("doctor", "--json", name="old-library")
    functions = [entry for entry in json.loads(report.stdout)["findings"] if entry["check"] == "functions"][0]
    missing = [name for name in simulated.profile("old-library")["machine"]["missing"].split(", ") if name]
    header = [name for name in missing if name in pymtml._PROTOTYPES]
    assert functions["level"] == "warn"
    assert "%d of 116 functions" % (116 - len(header)) in functions["text"]
    assert "nvml" in functions["next_step"]


def test_an_init_that_works_once():
    status, found = findings(set="machine.reinit=DRIVER_FAILURE")
    assert (status, levels(found, "reinit")) == (1, ["warn"])
    assert "PYMTML_KEEP_LIBRARY=1" in found["reinit"][0][2]


@pytest.mark.parametrize("profile, check", [("no-driver", "init"), ("empty", "devices")])
def test_what_does_not_work(profile, check):
    status, found = findings(profile=profile)
    assert (status, levels(found, check)) == (2, ["fail"])
    assert found[check][0][2]


def test_no_library(tmp_path):
    result = run_command("doctor", extra_environment={"PYMTML_LIBRARY": str(tmp_path / "none.so")})
    assert (result.returncode, result.stderr) == (2, "")
    assert "fail  init" in result.stdout and str(tmp_path) in result.stdout
    assert result.stdout.endswith("verdict: pymtml does not work: see the first failure above\n")


def test_visible_devices_are_explained():
    os.environ["MUSA_VISIBLE_DEVICES"] = "1"
    try:
        status, found = findings()
    finally:
        del os.environ["MUSA_VISIBLE_DEVICES"]
    assert status == 0
    assert [text for _, text, _ in found["variable"] if text.startswith("MUSA_VISIBLE_DEVICES=1:")]


def test_text_and_json_say_the_same():
    with simulated.machine("s5000x8"):
        text = invoke("doctor")
        report = json.loads(invoke("doctor", "--json").stdout)
    assert text.status == report["status"]
    assert text.lines[-1] == "verdict: pymtml " + report["verdict"]
    for finding in report["findings"]:
        if finding["check"] != "cost":
            assert "%-5s %-10s %s" % (finding["level"], finding["check"], finding["text"]) in text.lines


def test_another_pynvml_is_a_note():
    status, found = findings()
    assert status == 0
    assert all(level in ("note", "n/a") for level in levels(found, "packages"))


def test_files_of_the_same_name_on_the_path(tmp_path, monkeypatch):
    (tmp_path / "pynvml.py").write_text("")
    (tmp_path / "pymtml.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    status, found = findings()
    texts = [text for _, text, _ in found["packages"]]
    assert status == 0
    assert "import pynvml finds %s, of no distribution" % (tmp_path / "pynvml.py") in texts
    assert "%s stands on the path, too, and is not used" % (tmp_path / "pymtml.py") in texts
