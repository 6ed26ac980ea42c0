"""The command on a terminal, on a closed pipe, and when somebody presses Ctrl-C."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
import simulated
from command import COMMAND, command_environment, run_command
from inside import devices, main
from mtml_simulator import driver_files


class Terminal:
    """A command on a pseudo-terminal of a size."""

    def __init__(self, *arguments, **options):
        columns, lines = options.pop("size", (91, 60))
        how, command = options.pop("how", {"start_new_session": True}), options.pop("command", COMMAND)
        extra = dict({"TERM": "xterm"}, **options.pop("extra_environment", {}))
        env = command_environment(extra_environment=extra, **options)
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            if name not in extra:
                env.pop(name, None)
        self.fd, slave = pty.openpty()
        self.resize(columns, lines)
        self.process = subprocess.Popen(
            command + list(arguments), env=env, stdin=slave, stdout=slave, stderr=slave, **how
        )
        os.close(slave)
        self.text = ""

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, enough, seconds=60):
        deadline = time.monotonic() + seconds
        while not enough(self.text) and time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode("utf-8").replace("\r\n", "\n")
                except OSError:  # the other end is closed
                    break
        assert enough(self.text), self.text

    def read_until_silent(self, seconds):
        deadline = time.monotonic() + 60
        while select.select([self.fd], [], [], seconds)[0]:
            assert time.monotonic() < deadline
            self.text += os.read(self.fd, 65536).decode("utf-8").replace("\r\n", "\n")

    def finish(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([self.fd], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self.fd, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            self.text += piece.decode("utf-8").replace("\r\n", "\n")
        os.close(self.fd)
        return self.process.wait(60), self.text


def plain(text):
    return re.sub(r"\x1b\[\d*m", "", text)


HOT = "0.gpu_temperature=99;0.memory_used=34359738368;1.gpu_temperature=30;1.memory_used=1048576"


def test_hot_and_full_are_colored_on_a_terminal():
    status, text = Terminal(name="s3000x2", set=HOT).finish()
    assert status == 0
    assert "\x1b[31m99C\x1b[0m" in text
    assert re.search(r"\x1b\[31m +32768MiB /  32768MiB\x1b\[0m|\x1b\[31m\s*32768MiB / +32768MiB\x1b\[0m", text)
    assert "30C" in text and "\x1b[31m30C" not in text and "\x1b[33m30C" not in text
    assert all(len(line) == 91 for line in plain(text).splitlines()[1:] if line)


def test_people_read_the_verdict_first_and_what_is_well_last():
    """Programs read the worst line first, and the others in the order of the checks; -q leaves out what is well."""
    replays = "0.pcie_replay_counter=3;1.pcie_replay_counter=4"
    machine = dict(name="s3000x2", set="1.gpu_temperature=99;1.pci_cur_width=8;" + replays)
    status, text = Terminal("health", **machine).finish()
    first, *rest = text.splitlines()
    host = os.uname()[1]
    assert "NOTE     pcie: PCIe replays: 3 (GPU 0), 4 (GPU 1)" in rest
    assert (status, first) == (2, "%s: \x1b[31mCRITICAL: 1 critical finding, 1 warning\x1b[0m" % host)
    hot, narrow = "temperature: GPU 1: 99 C; the limit is 85 C", "pcie: GPU 1: PCIe link is x8; the card supports x16"
    assert rest[0] == "\x1b[31mCRITICAL\x1b[0m " + hot and rest[1].startswith("         -> look at fans")
    assert rest[2] == "\x1b[33mWARNING\x1b[0m  " + narrow and rest[3].startswith("         -> reseat the card")
    levels = [re.match(r"(?:\x1b\[2m)?(OK|N/A|NOTE) ", line).group(1) for line in rest[4:]]
    assert levels == sorted(levels, key=("NOTE", "OK", "N/A").index) and set(levels) == {"NOTE", "OK", "N/A"}
    assert Terminal("health", "-q", **machine).finish()[1].splitlines() == [first] + rest[:4]
    for_programs = run_command("health", **machine).stdout.splitlines()
    assert for_programs[:2] == ["CRITICAL " + hot, "OK       driver: answers"]
    assert run_command("health", "-q", **machine).stdout.splitlines() == ["CRITICAL " + hot, "WARNING  " + narrow]
    assert Terminal("health", "-q", "-i", "0", **machine).finish() == (
        0,
        host + ": \x1b[32mOK: no problems found\x1b[0m\n",
    )
    assert run_command("health", "-q", "-i", "0", **machine).stdout == ""
    missing = run_command("health", "-i", "7", **machine)
    text = "CRITICAL devices: there is no card 7; pymtml -L lists cards 0 to 1"
    assert (missing.returncode, missing.stdout.splitlines()[0], missing.stderr) == (2, text, "")


def test_people_read_doctor_s_verdict_first_and_what_it_waits_for():
    status, text = Terminal(
        "doctor", "-q", "--timeout", "2.5", name="s3000x2", latency_ns=10**10, extra_environment={"NO_COLOR": ""}
    ).finish()
    waits, first, failed, step = text.splitlines()
    assert (status, waits) == (2, "asking the driver, which may take up to 2.5 seconds ...")
    assert first == "%s: \x1b[31mpymtml does not work: 1 failure\x1b[0m" % os.uname()[1]
    assert failed == "\x1b[31mfail\x1b[0m  driver     no answer within 2.5 seconds" and step.strip().startswith("-> ")


@pytest.mark.parametrize(
    "command, words",
    [("capture", "calling all functions of the library"), ("health", "checking the cards, which may take")],
)
def test_what_takes_long_says_what_it_does(command, words):
    terminal = Terminal(command, name="s80", latency_ns=10**11)
    terminal.read_until(lambda text: " ...\n" in text)
    os.kill(terminal.process.pid, signal.SIGKILL)
    assert terminal.finish()[1].startswith(words)


IMPATIENT = "import %s as devices; devices.PATIENCE = 1; from %s import main; main()"
IMPATIENT %= (devices.__name__, main.__module__)


@pytest.mark.parametrize("again", [False, True])
def test_somebody_at_a_terminal_hears_that_the_driver_is_waited_for(again, tmp_path):
    """At the beginning, and in a loop; the pause between two samples is not the driver's."""
    control, slow = tmp_path / "control", "machine.latency_ns = 100000000000\n"
    control.write_text("profile = s80\n" + slow * (not again))
    command = [sys.executable, "-c", IMPATIENT]
    terminal = Terminal("--query-gpu=temperature.gpu", "-l", "2", name="s80", control=str(control), command=command)
    begun = 0
    if again:
        terminal.read_until(lambda text: text.partition("gpu\n")[2].count("\n") == 2)
        assert "waiting" not in terminal.text.partition("gpu\n")[2]
        with control.open("a") as file:
            file.write(slow)
        begun = len(terminal.text)
    terminal.read_until(lambda text: "waiting" in text[begun:])
    os.kill(terminal.process.pid, signal.SIGKILL)
    text = terminal.finish()[1]
    assert text.endswith("pymtml: waiting for the driver; `pymtml doctor --timeout 10` reports where it hangs\n")


@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_color_where_nobody_wants_it(extra):
    status, text = Terminal(name="s3000x2", set=HOT, extra_environment=extra).finish()
    assert status == 0 and "99C" in text and "\x1b" not in text


def test_values_of_any_size_stay_whole_in_36_columns():
    status, text = Terminal(
        name="s3000x2",
        size=(36, 24),
        set="0.memory_total=150752727040;0.memory_used=150752727040;0.gpu_utilization=100",
    ).finish()
    assert status == 0 and "143770/143770MiB  100% |" in re.sub(r" +", lambda m: m.group()[:2], plain(text))


def many_processes(tmp_path, count, program="/opt/bin/train"):
    """A proc file system with a process on each of so many cards."""
    for card in range(count):
        command = ["%s-%d" % (program, card), "--x"]
        driver_files.write_process(str(tmp_path), 1000 + card, command, "/dev/mtgpu.%d" % card)
    return {"PYMTML_PROC_ROOT": str(tmp_path)}


@pytest.mark.parametrize("name", ["pymtml", "nvidia-smi"])
def test_eight_cards_and_their_processes_fit_a_terminal(name, tmp_path):
    """80 x 24, and a line for the prompt."""
    extra = dict(many_processes(tmp_path, 8), PYMTML_COMMAND_NAME=name)
    status, text = Terminal(name="s5000x8", size=(80, 24), extra_environment=extra).finish()
    lines = plain(text).splitlines()
    assert status == 0 and len(lines) <= 23 and {len(line) for line in lines} == {80}
    for card in range(8):
        assert any(re.match(r"\| +%d MTT S5000 " % card, line) for line in lines)
        assert any(
            re.match(r"\| +%d +%d C +N/A /opt/bin/train-%d " % (card, 1000 + card, card), line) for line in lines
        )
    assert re.search("NVIDIA-SMI 5.1.0  CUDA Version: 4.3" if name == "nvidia-smi" else "pymtml .* MUSA", lines[0])
    assert re.search(r"\d\d:\d\d:\d\d", lines[0])


@pytest.mark.parametrize("columns", [91, 120, 200])
def test_a_wide_terminal_gives_its_columns_to_names_of_processes(columns, tmp_path):
    program = "/opt/" + "very-long-folder/" * 6 + "train"
    status, text = Terminal(
        name="s3000x2", size=(columns, 60), extra_environment=many_processes(tmp_path, 1, program)
    ).finish()
    lines = [line for line in plain(text).splitlines()[1:] if line]
    (row,) = [line for line in lines if " 1000 " in line]
    assert status == 0 and len(row) == min(columns, 91 + len(program) + 2 - 37)
    shown = re.search(r"C   (\S+)", row).group(1)
    assert (program + "-0").endswith(shown.replace("...", ""))
    assert len(shown) == min(len(program) + 2, columns - 91 + 37) and row.endswith(" N/A |")
    start = lines.index(next(line for line in lines if "Processes:" in line)) - 1
    assert {len(line) for line in lines[:start]} == {91} and len({len(line) for line in lines[start:]}) == 1


@pytest.mark.parametrize("hung", [False, True])
def test_watch_draws_in_place_until_interrupted(hung, tmp_path):
    """Also while the driver hangs: Python's own handler would run when C returns."""
    control = tmp_path / "control"
    control.write_text("profile = s3000x2+frozen\n")
    terminal = Terminal("--watch", "0.1", "-i", "1", name="s3000x2", control=str(control))
    terminal.read_until(lambda text: text.count("\x1b[H") >= 3)
    if hung:
        with control.open("a") as file:
            file.write("machine.latency_ns = 100000000000\n")
        terminal.read_until_silent(0.8)
    os.kill(terminal.process.pid, signal.SIGINT)
    status, text = terminal.finish()
    assert status == -signal.SIGINT
    assert text.startswith("\x1b[H") and text.endswith("\x1b[K\n\x1b[J")
    assert "Traceback" not in text and "\n\n\x1b" not in plain(text)
    assert "AF:00.0" in text and "3B:00.0" not in text  # of the cards that -i names


def test_watch_follows_the_size_of_the_terminal():
    terminal = Terminal("--watch", "0.2", name="s3000x2")
    terminal.read_until(lambda text: text.count("\x1b[H") == 1 and text.endswith("\x1b[J"))
    assert any(len(line) == 91 for line in plain(terminal.text).replace("\x1b[K", "").splitlines())
    terminal.resize(40, 6)
    terminal.read_until(lambda text: text.count("\x1b[H") == 3 and text.endswith("\x1b[J"))
    screen = plain(terminal.text).split("\x1b[H")[3].replace("\x1b[K", "").replace("\x1b[J", "").splitlines()
    assert len(screen) < 6 and max(len(line) for line in screen) <= 40
    assert screen[-1].startswith("... ") and screen[-1].endswith(" more lines")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.finish()[0] == -signal.SIGINT


def test_watch_into_a_pipe_prints_one_table_after_the_other():
    env = command_environment(name="s3000x2")
    process = subprocess.Popen(
        COMMAND + ["--watch=0.1"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
    )
    seen = [process.stdout.readline() for _ in range(60)]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert sum("Processes:" in line for line in seen) >= 2
    assert "\x1b" not in "".join(seen) + out
    assert (process.returncode, err) == (-signal.SIGINT, "")


@pytest.mark.parametrize(
    "arguments", [["-lms", "50", "--query-gpu=index"], ["dmon"], ["pmon"], ["-l", "1"], ["-q", "-l", "1"]]
)
def test_interrupts_end_quietly(arguments):
    process = subprocess.Popen(
        COMMAND + arguments, env=command_environment(name="s3000x2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize(
    "line", ["-q", "-L", "--json", "topo -m", "--help-query-gpu", "-lms 20", "dmon", "doctor", "-h", "health -h"]
)
def test_a_closed_pipe_ends_quietly(line):
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        COMMAND + line.split(), env=command_environment(name="s5000x8"), stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [["-q"], ["-L"], ["--query-gpu=name"], ["health", "-h"], []])
def test_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        result = simulated.run(COMMAND + arguments, env=command_environment(name="s5000x8"), stdout=full)
    assert (result.returncode, result.stderr.count("\n")) == (255, 1)
    assert "No space left" in result.stderr and "Traceback" not in result.stderr


def test_a_closed_stdout_is_no_failure():
    command = ["sh", "-c", 'exec >&-; "$0" -m pymtml -L', sys.executable]
    result = simulated.run(command, env=command_environment(name="s3000x2"))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_that_the_locale_cannot_write(locale, tmp_path):
    """A file is in UTF-8 in any locale."""
    extra, log = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, tmp_path / "log"
    for arguments in ([], ["-L"], ["-q"], ["--query-gpu=name"], ["--json"], ["-f", str(log)]):
        result = run_command(
            *arguments, name="s3000x2", set=r"0.name=MTT \xe6\x91\xa9\xe5\xb0\x94", extra_environment=extra
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert "MTT" in result.stdout or "MTT \u6469\u5c14" in log.read_text(encoding="utf-8")
