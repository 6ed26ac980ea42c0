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
from command import command_environment, run_command

COMMAND = [sys.executable, "-m", "pymtml"]
COLORS = ("\x1b[31m", "\x1b[33m")


class Terminal:
    """A command on a pseudo-terminal of a size."""

    def __init__(self, *arguments, **options):
        columns, lines = options.pop("size", (91, 60))
        extra = dict({"TERM": "xterm"}, **options.pop("extra_environment", {}))
        env = command_environment(extra_environment=extra, **options)
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            if name not in extra:
                env.pop(name, None)
        self.fd, slave = pty.openpty()
        self.resize(columns, lines)
        self.process = subprocess.Popen(
            COMMAND + list(arguments), env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.text = ""

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, enough, seconds=20):
        deadline = time.monotonic() + seconds
        while not enough(self.text) and time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode("utf-8").replace("\r\n", "\n")
                except OSError:  # the other end is closed
                    break
        assert enough(self.text), self.text

    def finish(self):
        deadline = time.monotonic() + 20
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
        return self.process.wait(20), self.text


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


@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_color_where_nobody_wants_it(extra):
    status, text = Terminal(name="s3000x2", set=HOT, extra_environment=extra).finish()
    assert status == 0 and "99C" in text and "\x1b" not in text


def test_no_color_in_a_pipe():
    result = run_command(name="s3000x2", set=HOT)
    assert result.returncode == 0 and "99C" in result.stdout and "\x1b" not in result.stdout


@pytest.mark.parametrize("columns", [200, 91, 90, 76, 61, 50, 36, 28, 20])
def test_narrow_terminals_lose_columns_and_no_lines(columns):
    status, text = Terminal(name="s3000-mpc", size=(columns, 60), set="0.gpu_temperature=99").finish()
    lines = plain(text).splitlines()
    assert status == 0
    assert max(len(line) for line in lines[1:]) <= min(columns, 91)
    cards = [line for line in lines if re.match(r"\|   \d  MTT", line)]
    assert len(cards) == 2
    if columns >= 28:
        assert any("99C" in line for line in lines)
    if columns >= 61:
        assert any(re.search(r"\d+MiB / +\d+MiB", line) for line in lines)


def test_watch_draws_in_place_until_interrupted():
    terminal = Terminal("--watch", "0.2", name="s3000x2")
    terminal.read_until(lambda text: text.count("\x1b[H") >= 3)
    os.kill(terminal.process.pid, signal.SIGINT)
    status, text = terminal.finish()
    assert status == -signal.SIGINT
    assert text.startswith("\x1b[?1049h\x1b[?25l") and text.endswith("\x1b[?25h\x1b[?1049l")
    assert "Traceback" not in text and "\n\n\x1b" not in plain(text)


def test_watch_follows_the_size_of_the_terminal():
    terminal = Terminal("--watch", "60", name="s3000x2")
    terminal.read_until(lambda text: text.count("\x1b[H") == 1 and "No running" in text)
    assert any(len(line) == 91 for line in plain(terminal.text).replace("\x1b[K", "").splitlines())
    terminal.resize(40, 12)
    os.kill(terminal.process.pid, signal.SIGWINCH)  # as the kernel does for the foreground group
    terminal.read_until(lambda text: text.count("\x1b[H") == 2 and text.endswith("\x1b[J"))
    screen = terminal.text.split("\x1b[H")[2].replace("\x1b[K", "").replace("\x1b[J", "").splitlines()
    assert len(screen) <= 12 and max(len(line) for line in screen) <= 40
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
    out, err = process.communicate(timeout=20)
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
    assert process.communicate(timeout=20)[1] == b""
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize(
    "arguments",
    [["-q"], ["-L"], ["--json"], ["topo", "-m"], ["--help-query-gpu"], ["-lms", "20"], ["dmon"], ["doctor"], ["-h"]],
)
def test_a_closed_pipe_ends_quietly(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        COMMAND + arguments, env=command_environment(name="s5000x8"), stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert process.communicate(timeout=30)[1] == b""
    assert process.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [["-q"], ["-L"], ["--query-gpu=name"], []])
def test_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            COMMAND + arguments,
            env=command_environment(name="s5000x8"),
            stdout=full,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=60,
        )
    assert (result.returncode, result.stderr.count("\n")) == (255, 1)
    assert "No space left" in result.stderr and "Traceback" not in result.stderr


def test_a_closed_stdout_is_no_failure():
    script = 'exec >&-; "$0" -m pymtml -L'
    result = subprocess.run(
        ["sh", "-c", script, sys.executable],
        env=command_environment(name="s3000x2"),
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_a_file_instead_of_stdout(tmp_path):
    for arguments in (["--query-gpu=index"], [], ["-q"], ["dmon", "-c", "1"]):
        file = tmp_path / "out"
        result = run_command(*(arguments + ["-f", str(file)]), name="s3000x2")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert file.read_text()
        missing = str(tmp_path / "none" / "out")
        result = run_command(*(arguments + ["-f", missing]), name="s3000x2")
        assert (result.returncode, result.stdout) == (255, "")
        assert result.stderr == "pymtml: cannot write %s: No such file or directory\n" % missing


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_names_that_the_locale_cannot_write(locale):
    extra = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments in ([], ["-L"], ["-q"], ["--query-gpu=name"], ["--json"]):
        result = run_command(
            *arguments, name="s3000x2", set=r"0.name=MTT \xe6\x91\xa9\xe5\xb0\x94", extra_environment=extra
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert "MTT" in result.stdout
