"""Who runs a process, and what it takes of the host: from /proc alone."""

import os
import time

import pymtml
from pymtml_cli.common import cgroup
from pymtml_cli.common.files import read
from pymtml_cli.common.text import safe


def of(process):
    """What is known of a process (dict; None for what is not), as documents have it, with seconds in ``started``."""
    folder = os.path.join(pymtml._proc_root(), str(process.pid))
    # From the state on: field 3 and later of proc(5)
    fields = read(os.path.join(folder, "stat")).rpartition(")")[2].split()
    began = [
        line.split()[1] for line in read(os.path.join(pymtml._proc_root(), "stat")).splitlines() if "btime" in line
    ]
    started = cpu = resident = None
    if len(fields) > 21:
        resident = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    if len(fields) > 21 and began:
        ticks = os.sysconf("SC_CLK_TCK")
        started = int(began[0]) + int(fields[19]) / ticks
        ran = time.time() - started
        cpu = round(100.0 * (int(fields[11]) + int(fields[12])) / ticks / ran, 1) if ran > 0 else None
    who = cgroup.owner(process.pid)
    return {
        "user": _user(folder),
        "command": _command(folder),
        "host_memory_bytes": resident,
        "cpu_percent": cpu,
        "started": started,
        "pod": who.pod or None,
        "container": who.container or None,
        "job": who.job or None,
    }


def _user(folder):
    """The name of a process's user, or the number of one without a name here."""
    try:
        number = os.stat(folder).st_uid
    except OSError:
        return None
    try:
        import pwd

        return safe(pwd.getpwuid(number).pw_name)
    except (ImportError, KeyError):
        return str(number)


def _command(folder):
    """The command line; None where the kernel may never answer, and for a process that has none."""
    if pymtml._waits_in_kernel(folder):
        return None
    return safe(" ".join(read(os.path.join(folder, "cmdline")).rstrip("\0").split("\0"))) or None
