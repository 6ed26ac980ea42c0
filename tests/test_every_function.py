"""Every function of pynvml's surface, called on every machine and with everything that a program may get wrong.

The calls are made by every_function.py in processes of their own, so that a crash is a failed test that names the call.
"""

import os
import sys

import pytest
import simulated

PROGRAM = os.path.join(os.path.dirname(__file__), "every_function.py")
KINDS = ("s80", "s5000x8", "s3000-mpc", "s3000-vgpu-host", "s3000-vgpu-guest")
THREE = ("s5000x8", "s3000-mpc", "s3000-vgpu-host")
CALLS = {  # of each mode, on which machines; what must come of it is said there
    "good": simulated.ALL_PROFILES + ["header only:" + name for name in KINDS],
    "uninitialized": ("s5000x8", "no-driver", "s3000-mpc"),
    "junk": THREE,
    "arguments": THREE,
    "pretenders": ("s5000x8",),
}


@pytest.mark.parametrize("mode", CALLS)
def test_every_function(mode, tmp_path):
    trace = str(tmp_path / "trace")
    command = [sys.executable, PROGRAM, mode, trace] + list(CALLS[mode])
    result = simulated.run(command, env=simulated.environment())
    text = result.stdout.strip()
    if result.returncode:
        with open(trace) as file:
            text += "\nended with %d in %s\n%s" % (result.returncode, file.read().strip(), result.stderr[-2000:])
    lines = text.splitlines()
    if lines:
        pytest.fail("\n".join(lines[:40] + ["... and %d more" % (len(lines) - 40)] * (len(lines) > 40)), pytrace=False)
