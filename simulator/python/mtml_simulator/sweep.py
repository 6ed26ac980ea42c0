"""The marker mtml_sweep: a test is run with its first, second, ... call of the library failing.

Each run is a fork of the process, taken where the test is about to begin: whatever it does to the process, or dies of,
the next one begins as the first did.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import pickle
import re
import select
import signal
import sys
import tempfile
import time
from typing import IO, Dict, Generator, List, NoReturn, Optional, Sequence, Tuple, Union

import pytest

from . import native

MARKER = (
    "mtml_sweep(codes=('DRIVER_FAILURE', 'NOT_SUPPORTED'), allow=(), limit=1000, timeout=30): run the test with each "
    "of its calls failing, and fail it if nobody notices (see mtml-simulator)"
)
SHARD = "_mtml_sweep_shard"
PROPERTY = "mtml_sweep"
_NO_CALL = 1 << 62
Names = Union[str, Sequence[str]]
Options = Tuple[Tuple[str, ...], Tuple[str, ...], int, float]
Child = Tuple[int, ctypes.CDLL, int]
Runs = Generator[None, Optional[BaseException], Optional["Report"]]


def _arguments(
    codes: Names = ("DRIVER_FAILURE", "NOT_SUPPORTED"), allow: Names = (), limit: int = 1000, timeout: float = 30
) -> Options:
    one = (codes,) if isinstance(codes, str) else tuple(codes)
    return one, (allow,) if isinstance(allow, str) else tuple(allow), limit, timeout


def options(item: pytest.Item) -> Options:
    """Codes, allowed functions, most runs, seconds a run, as the test's marker has them.

    Raises: pytest.UsageError.
    """
    marker = item.get_closest_marker("mtml_sweep")
    assert marker is not None
    try:
        chosen = _arguments(*marker.args, **marker.kwargs)
    except TypeError as error:
        text = str(error).replace("_arguments()", "the marker")
        raise pytest.UsageError("pytest.mark.mtml_sweep: %s" % text) from None
    library = native.load()
    for code in chosen[0]:
        if library.mtmlSimFailCall(_NO_CALL, code.encode()):
            raise pytest.UsageError("pytest.mark.mtml_sweep: %s: unknown return code" % code)
    library.mtmlSimFailCall(0, None)
    return chosen


def shards() -> int:
    """Into how many tests a sweep is divided (int): one for each worker of pytest-xdist."""
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


class Run:
    """What came of a run: the calls that it made, the function that failed, and how it ended."""

    def __init__(
        self, calls: int = 0, function: Optional[str] = None, passed: bool = False, crash: Optional[str] = None
    ) -> None:
        self.calls = calls
        self.function = function
        self.passed = passed
        self.crash = crash


def _failed_function(library: ctypes.CDLL) -> Optional[str]:
    buffer = ctypes.create_string_buffer(128)
    return None if library.mtmlSimGetFailedCall(buffer, len(buffer)) else buffer.value.decode()


def tell(pipe: int, library: ctypes.CDLL, before: int, error: Optional[BaseException]) -> NoReturn:
    """In the child: say what came of the run, and end."""
    calls = library.mtmlSimGetCallCount(None) - before
    # A test that is skipped has made nothing of the failure either.
    passed = error is None or isinstance(error, pytest.skip.Exception)
    with contextlib.suppress(OSError):
        os.write(pipe, pickle.dumps((calls, _failed_function(library), passed)))
    os._exit(0)


def _quiet(file: IO[bytes]) -> None:
    """In the child: nothing is said to the user; what a crash writes is kept."""
    sys.stdout, sys.stderr = open(os.devnull, "w"), open(os.dup(file.fileno()), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(file.fileno(), 2)
    faulthandler.enable(2)


def fork(number: int, code: str, timeout: float) -> Union[Run, Child]:
    """Fork for a run in which a call fails: in the child (pipe, library, calls so far), in the parent its Run."""
    library = native.load()
    with tempfile.TemporaryFile() as said:
        reader, writer = os.pipe()
        process = os.fork()
        if not process:
            os.close(reader)
            os.setpgid(0, 0)
            _quiet(said)
            library.mtmlSimFailCall(number or _NO_CALL, code.encode())
            return writer, library, library.mtmlSimGetCallCount(None)
        os.close(writer)
        try:
            return _wait(process, reader, said, timeout)
        finally:
            os.close(reader)


def _wait(process: int, reader: int, said: IO[bytes], timeout: float) -> Run:
    """The Run of a child."""
    end = time.monotonic() + timeout
    told = b""
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            # With what it has started, which may hold the pipe open.
            for kill, target in ((os.killpg, process), (os.kill, process)):
                with contextlib.suppress(OSError):
                    kill(target, signal.SIGKILL)
            os.waitpid(process, 0)
            return Run(crash="did not end within %g seconds" % timeout) if not told else Run(*pickle.loads(told))
        part = os.read(reader, 65536)
        if not part:
            break
        told += part
        with contextlib.suppress(Exception):
            pickle.loads(told)  # whole: what the child has started need not be waited for
            break
    _, status = os.waitpid(process, 0)
    if told:
        return Run(*pickle.loads(told))
    if os.WIFSIGNALED(status):
        crash = "ended the program by " + signal.Signals(os.WTERMSIG(status)).name
    else:
        crash = "ended the program with exit status %d" % os.WEXITSTATUS(status)
    said.seek(0)
    text = said.read().decode("utf-8", "replace")
    # What the simulator or a sanitizer said, and where the program was; faulthandler tells both.
    lines = [line for line in text.partition("Fatal Python error")[0].splitlines() if line.strip()]
    place = re.search(r'File "(.+)", line (\d+) in (\S+)', text)
    crash += ", at %s:%s, in %s" % place.groups() if place else ""
    return Run(crash=crash + (": " + lines[-1] if lines else ""))


def chosen(calls: int, count: int) -> List[int]:
    """At most so many of the calls 1, 2, ..., evenly spread (list)."""
    if calls <= count:
        return list(range(1, calls + 1))
    if count < 2:
        return [1]
    return sorted({1 + number * (calls - 1) // (count - 1) for number in range(count)})


class Report:
    """What a sweep has found."""

    def __init__(self, codes: Sequence[str], allow: Sequence[str]) -> None:
        self._allow = allow
        self._codes = codes
        self._found: Dict[Tuple[str, str], Dict[str, List[int]]] = {}
        self.runs = 0
        self.calls = 0
        self.swept = 0

    def add(self, number: int, code: str, run: Run) -> None:
        self.runs += 1
        if run.crash:
            self._note(number, code, run.function, run.crash)
        elif run.function is None:
            pass  # the program went another way this time, and had fewer calls
        elif run.passed and run.function not in self._allow and "%s=%s" % (run.function, code) not in self._allow:
            self._note(number, code, run.function, "the test still passed: nobody noticed")

    def _note(self, number: int, code: str, function: Optional[str], what: str) -> None:
        self._found.setdefault((function or "the call", what), {}).setdefault(code, []).append(number)

    def summary(self) -> str:
        """One line (str)."""
        some = "" if self.swept == self.calls else ", %d of them failing once" % self.swept
        found = sum(len(numbers) for codes in self._found.values() for numbers in codes.values())
        result = "%d findings" % found if found else "all noticed"
        return "%d calls%s, %d runs: %s" % (self.calls, some, self.runs, result)

    def problem(self) -> Optional[str]:
        """What is to be told, None when all is well (str)."""
        if not self._found:
            return None
        lines = ["mtml_sweep: %s" % self.summary()]
        for (function, what), by_code in sorted(self._found.items(), key=lambda found: min(found[1].values())):
            numbers = sorted(set().union(*by_code.values()))
            which = ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")
            noun = "call" if len(numbers) == 1 else "calls"
            lines.append("  %s (%s %s) = %s: %s" % (function, noun, which, ", ".join(by_code), what))
        return "\n".join(lines)


def sweep(item: pytest.Item, shard: Tuple[int, int]) -> Runs:
    """All runs of a test, or of one shard of it.

    A generator for the hook that calls the test: it yields once in each child, where the hook is to run the test and
    send the exception or None; what it returns, in the parent, is the Report, or None when the test does not even pass
    without a failure.
    """
    codes, allow, limit, timeout = options(item)
    report = Report(codes, allow)

    def run(number: int, code: str) -> Generator[None, Optional[BaseException], Run]:
        result = fork(number, code, timeout)
        if isinstance(result, Run):
            return result
        pipe, library, before = result
        tell(pipe, library, before, (yield))

    plain = yield from run(0, codes[0])
    if not plain.passed or plain.crash:
        return None
    report.calls = plain.calls
    numbers = chosen(plain.calls, max(1, limit // len(codes)))
    report.swept = len(numbers)
    for place, number in enumerate(numbers):
        if place % shard[1] != shard[0]:
            continue
        for code in codes:
            result = yield from run(number, code)
            if result.crash:
                # It cannot say any more which call it was: one that does not see it fail does.
                again = yield from run(number, "NULL")
                result.function = again.function
            report.add(number, code, result)
    return report
