"""Random calls of all functions, in child processes: python tests/fuzz.py [--minutes M] [--seed S] [--children N].

Each child has a seed of its own, which is printed when the child dies, raises anything but an error of MTML or NVML
or a TypeError, or leaves the library out of step. --seed repeats that child alone, or begins with it where --children
says how many there are.
"""

import argparse
import ctypes
import inspect
import os
import random
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CALLS = 2000  # of each child
MACHINES = ("s80", "s5000x8", "s4000x8", "s3000-mpc", "s3000-vgpu-host", "old-library", "empty")
MAKERS = (  # of handles: called more often than others, as most functions want one
    "nvmlDeviceGetHandleByIndex",
    "mtmlLibraryInitDeviceByIndex",
    "mtmlDeviceInitGpu",
    "mtmlDeviceInitMemory",
    "mtmlDeviceInitVpu",
)
FAULTS = ("", "", "*=DRIVER_FAILURE@40x3", "*=NOT_FOUND@100x20", "*=666@200x5", "mtmlLibraryShutDown=TIMEOUT@1x1")


def value(numbers, every_function, handles, first):
    """One random argument: for the first parameter of a function mostly a handle, without which nothing is asked."""
    if handles and numbers.random() < (0.9 if first else 0.2):
        return numbers.choice(handles)
    choice = numbers.randrange(6)
    if choice < 3:
        return numbers.choice([0, 1, 2, 3, 4, 5, 7, 8])
    if choice == 3:
        return numbers.choice(every_function.JUNK)
    if choice == 4:
        return numbers.choice([0, 1, 2, 35, 48, 255, 4096, 2**31 - 1, 2**32 - 1, 2**63, True])
    return numbers.choice([numbers.getrandbits(70) - 2**69, "GPU-" + "0" * 36, [1, 2], [(1, 0)], ctypes.c_uint()])


def child(seed, trace):
    """The calls of one seed; exit status 0 if all was well."""
    numbers = random.Random(seed)
    name, faults = numbers.choice(MACHINES), numbers.choice(FAULTS)
    sys.path[:0] = [ROOT, os.path.join(ROOT, "tests")]
    import every_function
    import native_calls
    import simulated

    import pymtml

    names = sorted(set(every_function.FUNCTIONS) | set(native_calls.FUNCTIONS) | set(pymtml._OPTIONAL_PROTOTYPES))
    for name_of in sorted(every_function.PURE | {"mtmlLogSetConfiguration"}):  # these raise what they like; it writes
        if name_of in names:
            names.remove(name_of)
    with simulated.machine(name, faults=faults) if faults else simulated.machine(name):
        handles, problems = [], []
        for _ in range(CALLS):
            function = getattr(pymtml, numbers.choice(names))
            if numbers.random() < 0.02:
                function = numbers.choice([pymtml.nvmlInit, pymtml.nvmlInit, pymtml.nvmlShutdown])
            elif numbers.random() < 0.03:
                function = getattr(pymtml, numbers.choice(MAKERS))
            wanted = [one for one in inspect.signature(function).parameters.values() if one.kind != one.VAR_POSITIONAL]
            given = len([one for one in wanted if one.default is one.empty or numbers.random() < 0.3])
            maker = function.__name__ in MAKERS[:2]
            arguments = [value(numbers, every_function, handles, not maker and not i) for i in range(given)]
            text = "%s(%s)" % (function.__name__, ", ".join(repr(one)[:60] for one in arguments))
            os.pwrite(trace, text.encode("utf-8", "replace").ljust(400)[:400], 0)
            try:
                answer = function(*arguments)
            except pymtml.MTMLError:
                continue
            except (TypeError, OverflowError, ctypes.ArgumentError):
                continue  # what Python itself rejects
            except Exception as error:
                problems.append("%s: %s: %s" % (text, type(error).__name__, error))
                continue
            if isinstance(answer, ctypes._Pointer):
                handles = (handles + [answer])[-40:]
        simulated.set_faults("")
        if pymtml._session.native.held and not pymtml._nvmlLib_refcount:
            pymtml.nvmlInit()  # C refused to end for a change of MPC, and then once more: the next life makes up for it
        while pymtml._nvmlLib_refcount:
            pymtml.nvmlShutdown()
        if simulated.references():
            problems.append("%d native references are left" % simulated.references())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def run(seed):
    """Run a child; what went wrong, or an empty text."""
    with tempfile.NamedTemporaryFile() as trace:
        command = [sys.executable, os.path.abspath(__file__), "--child", str(seed), trace.name]
        try:
            result = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=300
            )
        except subprocess.TimeoutExpired:
            return "does not end"
        if result.returncode == 0:
            return ""
        last = open(trace.name, "rb").read().decode("utf-8", "replace").strip()
        return "exit status %d, last call %s\n%s" % (result.returncode, last, result.stdout[-12000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--children", type=int)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        with open(options.child[1], "r+b") as trace:
            return child(int(options.child[0]), trace.fileno())
    first = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    end, children, bad = time.monotonic() + 60 * options.minutes, 0, 0
    wanted = options.children or (1 if options.seed is not None else None)
    print("first seed %d" % first, flush=True)
    while children < wanted if wanted else time.monotonic() < end:
        said = run(first + children)
        if said:
            bad += 1
            print("seed %d: %s" % (first + children, said), flush=True)
        children += 1
    print("%d calls in %d children, %d went wrong" % (children * CALLS, children, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
