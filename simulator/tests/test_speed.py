"""What a test run pays: millions of calls a second while nothing is traced or delayed, machines in no time."""

import os
import subprocess
import time

import interface
import pytest
from interface import LIBRARY

if "sanitize" in interface.BUILD:
    pytest.skip("a library with sanitizers is slower by design", allow_module_level=True)

CALLS = 2_000_000
# Processor time, so that a busy machine does not matter.
PROGRAM = r"""
#include "mtml_2.2.0.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    unsigned int calls = (unsigned int)strtoul(argv[argc - 1], NULL, 10);
    unsigned int count;
    MtmlLibrary *library;
    MtmlGpu *gpus[64];
    double best = 1e9;

    if (mtmlLibraryInit(&library) || mtmlLibraryCountDevice(library, &count))
        return 1;
    for (unsigned int i = 0; i < count; i++) {
        MtmlDevice *device;

        if (mtmlLibraryInitDeviceByIndex(library, i, &device) || mtmlDeviceInitGpu(device, &gpus[i]))
            return 1;
    }
    for (int round = 0; round < 5; round++) {
        double begin = seconds();
        double took;
        int temperature;

        for (unsigned int i = 0; i < calls; i++)
            if (mtmlGpuGetTemperature(gpus[i % count], &temperature))
                return 1;
        took = seconds() - begin;
        best = took < best ? took : best;
    }
    printf("%u %f\n", count, calls / best);
    return (int)mtmlLibraryShutDown(library);
}
"""
CARD = "[device.%d]\nname = MTT S5000\nuuid = %d\npci_sbdf = %08x:01:00.0\npci_segment = %d\npci_bus = 1\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speed")
    (folder / "speed.c").write_text(PROGRAM)
    binary = str(folder / "speed")
    command = [os.environ.get("CC", "cc"), "-std=c11", "-D_DEFAULT_SOURCE", "-O2", "-I" + interface.ROOT]
    command += [str(folder / "speed.c"), "-o", binary, os.path.join(interface.BUILD, "libmtml.so.2")]
    command += ["-Wl,-rpath," + interface.BUILD]
    subprocess.run(command, check=True)
    return binary


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A machine with 64 cards."""
    path = tmp_path_factory.mktemp("speed") / "many.ini"
    cards = "".join(CARD % (number, number, number, number) for number in range(64))
    path.write_text("[machine]\nlibrary_version = 1-simulator\n" + cards)
    return str(path)


@pytest.mark.parametrize("cards", [8, 64])
def test_calls(program, many, cards):
    profile = (many if cards == 64 else "s5000x8") + "+frozen"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MTML_SIM_")}
    command = [program, str(CALLS)]
    done = subprocess.run(command, env=dict(environment, MTML_SIM_PROFILE=profile), stdout=subprocess.PIPE, check=True)
    count, rate = done.stdout.split()
    assert int(count) == cards
    assert float(rate) > 10e6


@pytest.mark.parametrize("cards", [8, 64])
def test_machines(many, cards):
    """A hundred of them in less than half a second."""
    os.environ["MTML_SIM_PROFILE"] = many if cards == 64 else "s5000x8+frozen"
    begin = time.process_time()
    for _ in range(100):
        assert LIBRARY.mtmlSimLoad() == 0
    assert time.process_time() - begin < 0.4
