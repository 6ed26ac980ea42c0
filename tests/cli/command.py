"""The command run as users run it: another process, on a simulated machine."""

import os
import subprocess
import sys

import simulated


def run_command(*arguments, **options):
    """What the command does on a machine (CompletedProcess with texts; options as for simulated.environment)."""
    extra = options.pop("extra_environment", {})
    env = simulated.environment(**options)
    env.update(extra)
    return subprocess.run(
        [sys.executable, "-m", "pymtml"] + list(arguments),
        env=env,
        cwd=os.path.dirname(simulated.ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
    )
