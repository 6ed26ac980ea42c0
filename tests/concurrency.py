"""Work in threads, in a forked child, and before each line of a call."""

import collections
import contextlib
import os
import signal
import sys
import threading
import time
import traceback

import pymtml

LINE_TIMES = int(os.environ.get("LINE_TIMES", "2"))  # how often a line counts for before_line, as in a loop


def in_threads(work, count=8):
    """Run work(number) in threads that begin together; what any of them raised is raised here."""
    barrier, failures = threading.Barrier(count), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def in_thread(work):
    """A started thread that does work(), and the list that gets what it came to: the answer or what was raised."""
    ends = []

    def run():
        try:
            ends.append(work())
        except BaseException as error:
            ends.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, ends


def elsewhere(work):
    """Do work(), which returns nothing, in another thread, and wait for it."""
    thread, ends = in_thread(work)
    thread.join(30)
    assert ends == [None], ends


def before_line(step, ask, do, *also):
    """(answer or class of the error of ask(), the function and line of pymtml.py before whose step-th line do() ran).

    None in place of these where ask() runs fewer lines. Besides errors of MTML and NVML, those in `also` are expected.
    """
    left, times, place = [step], collections.Counter(), []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__ or place:
            return None
        if event == "line":
            times[frame.f_lineno] += 1
            left[0] -= times[frame.f_lineno] <= LINE_TIMES
        if not left[0]:
            place.append((frame.f_code.co_name, frame.f_lineno))
            do()
        return trace

    sys.settrace(trace)
    try:
        answer = ask()
    except (pymtml.NVMLError,) + also as error:
        answer = type(error)
    finally:
        sys.settrace(None)
    return answer, place[0] if place else None


class Hang:
    """A function of the C library that does not come back to the first who calls it, a thread of this."""

    def __init__(self, name, arguments):
        self.real = getattr(pymtml._c, name)
        self.call = lambda: getattr(pymtml, name)(*arguments)
        self.inside, self.over, self.about, self.again = threading.Event(), threading.Event(), None, []

    def __call__(self, *arguments):
        about = [repr(argument) for argument in arguments[: 2 if self.real.__name__.startswith("mtmlLibrary") else 1]]
        if not self.inside.is_set():
            self.about = about
            self.inside.set()
            assert self.over.wait(60)
        elif about == self.about:
            self.again.append(about)  # this would hang as well
        return self.real(*arguments)


def until(what, seconds=60):
    """Wait until what() is true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.001)


@contextlib.contextmanager
def over_and_over(work, count=1):
    """Threads that do work(number) again and again meanwhile; what any of them raised is raised in the end."""
    stop = threading.Event()

    def run(number):
        while not stop.is_set():
            work(number)

    started = [in_thread(lambda number=number: run(number)) for number in range(count)]
    try:
        yield
    finally:
        stop.set()
        for thread, _ in started:
            thread.join(30)
    assert [ends for _, ends in started] == [[None]] * count


@contextlib.contextmanager
def held(lock):
    """Another thread holds the lock meanwhile."""
    locked, done = threading.Event(), threading.Event()

    def hold():
        with lock:
            locked.set()
            done.wait()

    thread, _ = in_thread(hold)
    assert locked.wait(30)
    try:
        yield
    finally:
        done.set()
        thread.join(30)


def in_child(work, seconds=30):
    """Exit status of a forked child that runs work() and is ended after that time; negative for a signal."""
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.alarm(int(seconds))
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + seconds + 5  # a child that waits for a lock of the interpreter has no alarm yet
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
        ended, status = os.waitpid(child, os.WNOHANG)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
