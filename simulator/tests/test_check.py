"""The C program that uses the simulator as any C program does: compiled with the header, linked against the library."""

import os
import subprocess

import interface
import pytest


@pytest.mark.skipif("SIM_TEST_BUILD" in os.environ, reason="the Makefile that starts these tests has run it before")
def test_check_program():
    make = ["make", "-s", "-C", interface.SIMULATOR, "build/check"]
    built = subprocess.run(make, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert built.returncode == 0, built.stdout
    done = subprocess.run(
        [os.path.join(interface.BUILD, "check")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the simulator checks out, after ")
