"""Poll all cards from asyncio: python examples/async_polling.py [TICKS]

A query is a call of C that may block, so each runs in a thread. All cards are queried at once. One that does not answer
in time delays no other: its line reports that, and it is not queried again until that query has returned.
"""

import asyncio
import concurrent.futures
import os
import sys

import pymtml

PATIENCE = 2.0  # seconds that a card has to answer


def ask(index):
    """(utilization in percent, used memory in MiB) of a card; blocks."""
    device = pymtml.nvmlDeviceGetHandleByIndex(index)
    return pymtml.nvmlDeviceGetUtilizationRates(device).gpu, pymtml.nvmlDeviceGetMemoryInfo(device).used >> 20


async def line(pool, index, pending):
    """What to print of a card (str)."""
    if index not in pending:
        pending[index] = asyncio.get_running_loop().run_in_executor(pool, ask, index)
    done, _ = await asyncio.wait([pending[index]], timeout=PATIENCE)
    if not done:
        return "GPU %d: no answer yet" % index
    try:
        return "GPU %d: %d %% busy, %d MiB used" % ((index,) + pending.pop(index).result())
    except pymtml.NVMLError as error:
        return "GPU %d: %s" % (index, error)


async def main(ticks):
    """Print a line for each card, as often as was asked for."""
    pymtml.nvmlInit()
    count = pymtml.nvmlDeviceGetCount()
    if not count:
        print("no GPU")
        return
    pool, pending = concurrent.futures.ThreadPoolExecutor(count), {}
    for tick in range(ticks):
        if tick:
            await asyncio.sleep(1)
        print("\n".join(await asyncio.gather(*[line(pool, index, pending) for index in range(count)])), flush=True)
    if pending:
        os._exit(0)  # the interpreter would wait for the threads that hang


if __name__ == "__main__":
    try:
        asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
