"""Search for wrong reads: threads on every device, and a signal handler that queries in the middle of a query.

Every value of the stub tells which device gave it, so a buffer that two calls share shows as a wrong read. Exit status
1 if there was one. --broken makes one query share its buffer, and has to find wrong reads.
"""

import argparse
import ctypes
import random
import signal
import sys
import threading
import time

import common
from bench_call import QUERIES

READS_PER_ROUND = 200000
SIGNAL_SECONDS = 0.0005


class Broken:
    """A binding with one shared out-parameter for the power query, as a fast but wrong one would have it."""

    def __init__(self, binding, module):
        self._module = module
        prefix = "mtml" if binding.stub is common.MTML else "nvml"
        self._get_power = binding.stub.library[prefix + "DeviceGetPowerUsage"]
        self._out = ctypes.c_uint()

    def __getattr__(self, name):
        return getattr(self._module, name)

    def nvmlDeviceGetPowerUsage(self, handle):
        self._get_power(handle, ctypes.byref(self._out))
        return self._out.value


class Tally:
    """Reads and wrong reads of one thread: threads do not share one, so none needs a lock."""

    def __init__(self):
        self.reads = 0
        self.wrong = []

    def read(self, nvml, query, function, handle, index):
        self.reads += 1
        try:
            answer = function(handle, index)
            right = query.check(nvml, answer, index)
        except Exception as error:  # Whatever a query raises here is a wrong answer; a dead thread would hide it.
            answer, right = repr(error), False
        if not right:
            self.wrong.append("%s on device %d: %s" % (query.name, index, answer))


def functions_of(nvml):
    """[(query, function of handle and index)], of those that the binding has."""
    functions = []
    for query in QUERIES:
        if not hasattr(nvml, query.function):
            continue
        source = "lambda x, index: " + query.call
        if query.function == "nvmlDeviceGetHandleByIndex":
            source = "lambda x, index: f(index)"
        functions.append((query, eval(source, {"f": getattr(nvml, query.function)})))
    return functions


def stress_round(nvml, threads, reads):
    """One life of the library, so that what a handle keeps after a first success is raced for as well."""
    nvml.nvmlInit()
    functions = functions_of(nvml)
    handles = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(common.DEVICES)]
    tallies = [Tally() for _ in range(threads + 1)]
    start = threading.Barrier(threads)
    in_handler = random.Random(0)

    armed = [True]

    def on_signal(signum, frame):
        if not armed:
            return
        index = in_handler.randrange(common.DEVICES)
        for query, function in functions:
            tallies[-1].read(nvml, query, function, handles[index], index)
        # Armed anew each time: a periodic timer outruns a slow handler, which then runs within itself without end.
        signal.setitimer(signal.ITIMER_REAL, SIGNAL_SECONDS)

    def work(number):
        choose = random.Random(number)
        tally = tallies[number]
        start.wait()
        while tally.reads < reads // threads:
            index = choose.randrange(common.DEVICES)
            for query, function in functions:
                tally.read(nvml, query, function, handles[index], index)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(1, threads)]
    for worker in workers:
        worker.start()
    # Never put back: a signal that is on its way would end the program.
    signal.signal(signal.SIGALRM, on_signal)
    signal.setitimer(signal.ITIMER_REAL, SIGNAL_SECONDS)
    try:
        # Handlers run in the main thread, so it has to be one of those that query.
        work(0)
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        for worker in workers:
            worker.join()
    nvml.nvmlShutdown()
    return tallies


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reads", type=int, default=5000000, help="reads in all (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--binding", choices=[binding.key for binding in common.BINDINGS], default="pymtml")
    parser.add_argument("--broken", action="store_true", help="share a buffer: show that wrong reads are found")
    options = parser.parse_args()
    common.build_stubs()
    binding = next(binding for binding in common.BINDINGS if binding.key == options.binding)
    binding.install()
    nvml = binding.load()
    nvml.nvmlShutdown()
    if options.broken:
        nvml = Broken(binding, nvml)
    sys.setswitchinterval(1e-5)
    begin = time.perf_counter()
    reads = in_handler = 0
    wrong = []
    while reads < options.reads:
        tallies = stress_round(nvml, options.threads, min(READS_PER_ROUND, options.reads))
        reads += sum(tally.reads for tally in tallies)
        in_handler += tallies[-1].reads
        for tally in tallies:
            wrong += tally.wrong
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(
        "%s on Python %s%s: %d reads in %d threads, %d of them in a signal handler, %.0f s: %d wrong"
        % (
            binding.title,
            sys.version.split()[0],
            "" if gil else " without GIL",
            reads,
            options.threads,
            in_handler,
            time.perf_counter() - begin,
            len(wrong),
        )
    )
    for line in wrong[:10]:
        print("  " + line)
    if bool(wrong) != options.broken:
        sys.exit(1)


if __name__ == "__main__":
    main()
