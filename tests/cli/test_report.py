"""report: one archive with everything that a support request needs, and nothing that tells whose it is."""

import json
import os
import re
import tarfile

import pytest
import simulated
from command import process_tree, run_command
from inside import report

FILES = ["doctor.txt", "health.json", "machine.json", "xid.json", "capture.ini", "kernel.txt", "CONTENTS"]
UUID = simulated.device_keys("s5000x8", 0)["uuid"]


@pytest.fixture
def reported(tmp_path, monkeypatch):
    """Runs report with a kernel's log of its own: (what it printed, {file: text})."""
    process_tree(tmp_path / "proc", monkeypatch, {17: ("/opt/secret-训练", 12)})
    log = tmp_path / "dmesg"
    host = os.uname()[1]
    log.write_text(
        '#!/bin/sh\nseq -f "mtgpu %%g" 2000\necho "%s kernel: mtgpu: %s /home/ann/x /Users/ann/x"\necho "usb: no"\n'
        % (host, UUID.upper())
    )
    log.chmod(0o755)

    def run(*arguments, **machine):
        path = str(tmp_path / "report.tar.gz")
        extra = {"PATH": str(tmp_path) + os.pathsep + os.environ["PATH"], "TMPDIR": str(tmp_path)}
        extra["PYMTML_PROC_ROOT"] = str(tmp_path / "proc")
        result = run_command("report", path, *arguments, extra_environment=extra, **machine)
        assert (result.returncode, result.stderr, os.stat(path).st_mode & 0o777) == (0, "", 0o600)
        with tarfile.open(path) as archive:
            texts = {name: archive.extractfile("pymtml-report/" + name).read().decode("utf-8") for name in FILES}
            assert len(archive.getnames()) == len(FILES)
        assert result.stdout == "wrote %s:\n\n%s" % (path, texts["CONTENTS"])
        return result.stdout, texts

    return run


def test_what_is_in_it_and_what_is_masked(reported):
    said, texts = reported(name="s5000x8")
    uuids = [simulated.device_keys("s5000x8", card)["uuid"] for card in range(8)]
    secrets = uuids + [simulated.device_keys("s5000x8", 0)["serial_number"], "secret", "训练", "\\u8bad", "ann/"]
    everything = "\n".join(texts.values())
    assert [secret for secret in secrets if secret.lower() in everything.lower()] == []
    first, *rest = texts["kernel.txt"].splitlines()  # the newest
    assert re.search(r"kernel.txt .* \(2000 lines\)", said)
    machine, health = json.loads(texts["machine.json"]), json.loads(texts["health.json"])
    shown = [card["uuid"] for card in machine["devices"]]
    assert (first, len(rest)) == ("mtgpu 2", 1999)
    assert rest[-1] == "HOST kernel: mtgpu: %s /home/USER/x /Users/USER/x" % shown[0]
    assert len(set(shown)) == 8 and shown[0] in {one["uuid"] for one in health["findings"]}
    assert machine["host"] == "HOST" and machine["devices"][0]["processes"]["list"][0]["name"] == "PROGRAM"
    assert "verdict: pymtml works" in texts["doctor.txt"] and "[machine]" in texts["capture.ini"]
    assert re.search(r"xid.json .*\(pymtml: the driver's XID records are unavailable", said)
    said, texts = reported("--full", name="s5000x8")
    everything = "\n".join(texts.values())
    assert [secret for secret in secrets[:-4] if secret.lower() not in everything.lower()] == []
    assert "Nothing is masked" in said and os.uname()[1] in texts["kernel.txt"]


def test_a_driver_that_hangs_cuts_parts_off(reported):
    """Even those that would end in the time that parts without a limit of their own have besides."""
    said, texts = reported("--timeout", "0.3", name="s80", latency_ns=5 * 10**7)
    assert re.search(r"machine.json .*\(no answer\)\n(.*\n)*capture.ini .*\(no answer\)\n", said)
    (found,) = json.loads(texts["health.json"])["findings"]
    assert (found["status"], found["value"], found["limit"]) == ("CRITICAL", None, 0.3)
    assert "no answer within 0.3 seconds" in texts["doctor.txt"]


def test_a_host_is_masked_with_and_without_its_domain(monkeypatch):
    monkeypatch.setattr(report, "host", lambda: "n1.example.org")
    masked = report._masked({"machine.json": "", "kernel.txt": "n1.example.org: n1 n10 in1"})
    assert masked["kernel.txt"] == "HOST: HOST n10 in1"


@pytest.mark.parametrize(
    "name, why", [("nowhere/x", "No such file or directory"), ("", "it exists and is not a regular file")]
)
def test_an_archive_that_cannot_be_written_is_not_begun(tmp_path, name, why):
    path, trace = str(tmp_path / name), str(tmp_path / "trace")
    result = run_command("report", path, name="s80", trace=trace, extra_environment={"TMPDIR": str(tmp_path)})
    assert (result.returncode, result.stdout) == (255, "")
    assert result.stderr == "pymtml: cannot write %s: %s\n" % (path, why)
    assert os.listdir(str(tmp_path)) == []
