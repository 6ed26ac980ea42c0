"""Every function of pynvml's surface, called on every machine and with everything that a program may get wrong.

The calls are made by every_function.py in processes of their own, so that a crash is a failed test that names the call.
"""

import os
import sys

import pytest
import simulated

PROGRAM = os.path.join(os.path.dirname(__file__), "every_function.py")


def run(mode, profile, tmp_path, **options):
    """Run the program, and fail with what it reports, and with how it ended if it did not end well."""
    trace = str(tmp_path / "trace")
    result = simulated.run([sys.executable, PROGRAM, mode, trace], env=simulated.environment(profile, **options))
    text = result.stdout.strip()
    if result.returncode:
        with open(trace) as file:
            text += "\nended with %d in %s\n%s" % (result.returncode, file.read().strip(), result.stderr[-2000:])
    lines = text.splitlines()
    if lines:
        pytest.fail("\n".join(lines[:40] + ["... and %d more" % (len(lines) - 40)] * (len(lines) > 40)), pytrace=False)


KINDS = ("s80", "s5000x8", "s3000-mpc", "s3000-vgpu-host", "s3000-vgpu-guest")  # on a library of the header alone


@pytest.mark.parametrize(
    "profile, header_only", [(name, False) for name in simulated.ALL_PROFILES] + [(name, True) for name in KINDS]
)
def test_good_handle(profile, header_only, tmp_path):
    """With a good handle: an answer or an NVMLError, and no reference to the native library is left over."""
    run("good", profile, tmp_path, header_only=header_only)


@pytest.mark.parametrize("profile", ["s5000x8", "no-driver", "s3000-mpc"])
def test_uninitialized(profile, tmp_path):
    """Without the library, and with a handle from before its end: Uninitialized."""
    run("uninitialized", profile, tmp_path)


@pytest.mark.parametrize("profile", ["s5000x8", "s3000-mpc", "s3000-vgpu-host"])
def test_junk_handle(profile, tmp_path):
    """With what is no device handle, or was one: InvalidArgument."""
    run("junk", profile, tmp_path)


@pytest.mark.parametrize("profile", ["s5000x8", "s3000-mpc", "s3000-vgpu-host"])
def test_junk_arguments(profile, tmp_path):
    """With a good handle and junk beside it: an answer, an NVMLError, or Python's TypeError."""
    run("arguments", profile, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each function is tried in a forked process")
def test_pretender(tmp_path):
    """With mocks and with other programs' device classes, whatever attributes they have: InvalidArgument."""
    run("pretenders", "s5000x8", tmp_path)
