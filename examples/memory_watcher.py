"""Report when a card's memory becomes full, and has room again: python examples/memory_watcher.py [PERCENT [TICKS]]

It prints a line for each change, and queries all cards every second. The default is 90 percent, until Ctrl-C.
"""

import sys
import time

import pymtml


def state(index, percent):
    """(whether the card is full, what to say about it)."""
    try:
        memory = pymtml.nvmlDeviceGetMemoryInfo(pymtml.nvmlDeviceGetHandleByIndex(index))
    except pymtml.NVMLError as error:
        return None, "does not answer: %s" % error
    full = memory.used * 100 >= memory.total * percent  # used may pass total: seen with the IOMMU off
    shown = memory.used >> 20, memory.total >> 20, memory.used * 100 // memory.total
    return full, ("full" if full else "has room") + ", %d of %d MiB (%d %%)" % shown


def main(percent, ticks):
    """Look, and say what has changed since the last look."""
    pymtml.nvmlInit()
    try:
        before = [False] * pymtml.nvmlDeviceGetCount()
        if not before:
            print("no GPU")
            return
        while ticks != 0:
            for index in range(len(before)):
                full, text = state(index, percent)
                if full != before[index]:
                    print("%s GPU %d %s" % (time.strftime("%H:%M:%S"), index, text), flush=True)
                before[index] = full
            ticks -= 1
            if ticks:
                time.sleep(1)
    finally:
        pymtml.nvmlShutdown()


if __name__ == "__main__":
    try:
        main(*[int(word) for word in sys.argv[1:3] + ["90", "-1"][len(sys.argv[1:3]) :]])
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
    except KeyboardInterrupt:
        pass
