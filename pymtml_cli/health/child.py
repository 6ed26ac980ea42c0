"""A child process that queries the driver: if the driver hangs, only the child hangs with it.

The child answers through a pipe of its own, one line per message: a token, and JSON. It ends with its parent.
"""

import contextlib
import errno
import json
import os
import sys
import time

import pymtml
import pymtml_cli
from pymtml_cli.common.text import safe

# What the child runs. Only pymtml and its command are imported from the folder of this package.
_BOOT = """
import sys
from importlib.machinery import PathFinder
here = sys.argv.pop(1)
class Own:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [here]) if name in ("pymtml", "pymtml_cli") else None
sys.meta_path.insert(0, Own)
from pymtml_cli.main import dispatch, main
%s
"""
CHILD_OPTION = "--answer-to-the-parent"
LONGEST_TIMEOUT = 86400  # seconds, of the options --timeout
LOOKING = "looking"  # the message after which only processes are looked at
STANDARD_OUTPUT = 1
LONGEST_MESSAGE = 1 << 20  # bytes


class Child:
    """A child process that queries the driver. Its answers are kept apart from what the driver prints.

    It runs a subcommand that calls `answer_parent`. ``inherited`` are descriptors that it holds as well (or None);
    ``environment`` replaces variables; if it ``listens``, it reads what `send` writes. Raises OSError, ValueError.
    """

    look_seconds = 5.0  # for a look at processes: reading the files of one that hangs never ends

    def __init__(self, subcommand, wanted, inherited=(), environment=None, listens=False):
        import subprocess
        from queue import SimpleQueue

        self._token = os.urandom(8).hex()  # begins each message; what a driver writes there lacks it
        self._answers, self._last, self._is_garbled, self._is_looking = SimpleQueue(), b"", False, False
        inherited = [one for one in inherited if one is not None]
        request = dict(wanted, parent=os.getpid(), channel=STANDARD_OUTPUT, token=self._token)
        reading = writing = None
        if os.name == "posix":
            reading, writing = os.pipe()
            request["channel"] = writing
            inherited.append(writing)
        try:
            self._process = subprocess.Popen(
                command(subcommand, request),
                stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=inherited,
                env=dict(os.environ, **(environment or {})),
            )
            self.pid = self._process.pid
        except (OSError, ValueError):
            if reading is not None:
                os.close(reading)
            raise
        finally:
            if writing is not None:
                os.close(writing)
        answers, noise = self._process.stdout, [self._process.stderr]
        if reading is not None:
            answers, noise = os.fdopen(reading, "rb"), noise + [answers]
        try:
            _in_background(self._read, answers)
            self._listeners = [_in_background(self._listen, stream) for stream in noise]
        except RuntimeError as error:  # no thread can be started
            self.stop()
            raise OSError(errno.EAGAIN, str(error))

    def _read(self, stream):
        for line in iter(lambda: stream.readline(LONGEST_MESSAGE), b""):
            self._answers.put(line)
        stream.close()
        self._answers.put(b"")  # the end: whoever takes it finds nothing open

    def _listen(self, stream):
        for line in iter(lambda: stream.readline(4096), b""):
            self._last = line.strip() or self._last
        stream.close()

    @property
    def ended(self):
        return self._process.poll() is not None

    def send(self, value):
        """Send a line of JSON to a child that listens; raises OSError if it has ended."""
        self._process.stdin.write(json.dumps(value).encode("ascii") + b"\n")
        self._process.stdin.flush()

    def messages(self, deadline):
        """(kind, value) of each message until the child ends, or until a moment of time.monotonic (iterator).

        A line that is not a message ends them as well, because it may have overwritten one. From a message LOOKING on
        the limit of time is `look_seconds`.
        """
        from queue import Empty

        self._is_looking = False
        while True:
            try:
                line = self._answers.get(timeout=max(0, deadline - time.monotonic()))
            except Empty:
                return
            if not line:
                self._wait()
                return
            if not line.endswith(b"\n") and len(line) < LONGEST_MESSAGE:
                continue  # the child ended in the middle
            token, _, text = line.decode("ascii", "replace").partition(" ")
            try:
                message = json.loads(text)
            except (ValueError, RecursionError):
                message = None
            if token != self._token or message is None:
                self._is_garbled = True
                return
            if message[0] == LOOKING:
                self._is_looking, deadline = True, time.monotonic() + self.look_seconds
            yield message

    @property
    def hangs(self):
        """Whether there are no more answers because the driver, or a look at processes, gives none."""
        return not self._is_garbled and not self.ended

    @property
    def hangs_in_a_look(self):
        """Whether the driver has answered, and there are no more answers because a look at processes does not end."""
        return self._is_looking and self.hangs

    def failure(self, timeout):
        """Why there are no more answers (str)."""
        if self._is_garbled:
            return "no readable answer: something else writes to the same stream"
        status = self._process.poll()
        if status is None:
            return "no answer within %g seconds" % timeout
        how = "by signal %d" % -status if status < 0 else "with status %d" % status
        for listener in self._listeners:
            listener.join(1)
        last = safe(self._last.decode("utf-8", "replace"))
        return "the check ended %s: %s" % (how, last or "no output")

    def stop(self):
        """End the child; wait a second at most, because the kernel may hold it as long as the driver hangs."""
        if self._process.poll() is None:
            self._process.kill()
            self._wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _wait(self):
        from subprocess import TimeoutExpired

        with contextlib.suppress(TimeoutExpired):
            self._process.wait(1)


def command(subcommand, request):
    """The command that starts the child (list)."""
    return program([subcommand, CHILD_OPTION, json.dumps(request)], "dispatch(sys.argv[1:])")


def program(arguments, entry="main()"):
    """The command that runs this one: this Python, ignoring the current folder and Python's variables (list)."""
    if getattr(sys, "frozen", False):
        return [sys.executable] + arguments
    here = os.path.dirname(os.path.dirname(os.path.abspath(pymtml_cli.__file__)))
    return [sys.executable, "-I", "-c", _BOOT % entry, here] + arguments


def _in_background(function, *arguments):
    from threading import Thread

    thread = Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


# ---- In the child ----


def answer_parent(arguments, work):
    """If a subcommand's arguments are those of its child, call ``work(wanted, send)`` and end the process."""
    if arguments[:1] != [CHILD_OPTION]:
        return
    wanted = json.loads(arguments[1])
    end_with(wanted["parent"])
    channel = wanted["channel"]
    if channel == STANDARD_OUTPUT:
        channel = os.dup(channel)
        os.dup2(2, STANDARD_OUTPUT)  # keeps what the driver prints out of the answers
    with os.fdopen(channel, "wb", 0) as pipe:

        def send(kind, value):
            pipe.write(("%s %s\n" % (wanted["token"], json.dumps([kind, value]))).encode("ascii"))

        work(wanted, send)
        send("end", None)
    os._exit(0)  # skips what the driver does when a process ends


def end_with(parent):
    """Let the kernel end this process with its parent, if it can."""
    if not sys.platform.startswith("linux"):
        return
    import signal

    pr_set_pdeathsig = 1
    pymtml.CDLL(None).prctl(pr_set_pdeathsig, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
