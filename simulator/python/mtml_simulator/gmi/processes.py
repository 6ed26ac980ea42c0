"""Processes on the simulated GPUs. MTML knows none, and a simulated GPU runs none: a test says which there are.

They come from the key `processes` of a card ("4242 2048 python worker.py": pid, MiB or -, name; several separated by
commas), and from the tree that PYMTML_PROC_ROOT names: those that have the card's device file open (PID/fd). The
driver's tables there, driver/musa/gpuXX/proc_util, each beside a file devname, give them shares: rows are of what was
active lately. A row of a process that cannot be looked into counts as a process, too.
"""

import os

from .. import places

PROC_ROOT = "PYMTML_PROC_ROOT"


class Process:
    """A process on one GPU; memory in bytes and share in percent, or None."""

    def __init__(self, index, pid, name, memory=None, share=None):
        self.index = index
        self.pid = pid
        self.name = name
        self.memory = memory
        self.share = share


def _read(*parts):
    try:
        return places.read(os.path.join(*parts), "replace")
    except OSError:
        return None


def _entries(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _name(root, pid, otherwise):
    """The command line of a process, as far as the tree has it (str)."""
    words = (_read(root, str(pid), "cmdline") or "").rstrip("\0").split("\0")
    return " ".join(words).strip() or (_read(root, str(pid), "comm") or "").strip() or otherwise


def _tables(root):
    """The driver's tables: rows by device name such as mtgpu.0, each a dict by the table's heads."""
    tables = {}
    folder = os.path.join(root, "driver", "musa")
    for entry in _entries(folder):
        device, table = _read(folder, entry, "devname"), _read(folder, entry, "proc_util")
        if not device or table is None:
            continue
        lines = table.splitlines()
        # The heads follow a line `device:`; the name, which is last, may have blanks.
        place = next((number for number, line in enumerate(lines) if "Pid" in line.split()), len(lines))
        heads = lines[place].split() if lines[place:] else []
        rows = [line.split(None, len(heads) - 1) for line in lines[place + 1 :]]
        tables[device.strip()] = [dict(zip(heads, row)) for row in rows]
    return tables


def _opened(root, pid):
    """Paths that a process has open (set), None where it cannot be looked into."""
    folder = os.path.join(root, pid, "fd")
    opened = set()
    try:
        entries = os.listdir(folder)
    except OSError:
        return None
    for entry in entries:
        try:
            opened.add(os.readlink(os.path.join(folder, entry)))
        except OSError:
            continue
    return opened


def _in_tree(devices, root):
    """Processes of a tree: who has a card's file open, and rows of those that may have it."""
    opened = {pid: _opened(root, pid) for pid in filter(str.isdigit, _entries(root))}
    tables = _tables(root)
    for device in devices:
        rows = {}
        for row in tables.get(_node(device), []):
            pid, share = row.get("VPid") or row.get("Pid", ""), row.get("Total", "").rstrip("%")
            if pid.isdigit():
                rows[pid] = (int(share) if share.isdigit() else None, row.get("PidName", "-"))
        holders = [pid for pid, paths in opened.items() if paths and device.path in paths]
        for pid in holders + [pid for pid in rows if opened.get(pid) is None]:
            share, name = rows.get(pid, (None, "-"))
            yield Process(device.index, int(pid), _name(root, pid, name), share=share)


def _configured(machine, devices):
    """Processes that the profile, or a test, gives the cards."""
    for device in devices:
        text = machine.key(device, "processes")
        for entry in filter(None, map(str.strip, text.split(","))):
            pid, memory, name = entry.split(None, 2)
            yield Process(device.index, int(pid), name, memory=None if memory == "-" else int(memory) << 20)


def find(machine, devices):
    """Processes on some devices, by GPU and process (list of Process)."""
    found = {}
    root = os.environ.get(PROC_ROOT)
    if root:
        for process in _in_tree(devices, root):
            found[process.index, process.pid] = process
    for process in _configured(machine, devices):
        known = found.setdefault((process.index, process.pid), process)
        known.memory = process.memory
    return [found[key] for key in sorted(found)]


def _node(device):
    return os.path.basename(device.path or "")
