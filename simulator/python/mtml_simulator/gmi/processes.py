"""Processes on the simulated GPUs. MTML knows none, and a simulated GPU runs none: a test says which there are.

They come from the key `processes` of a card ("4242 2048 python worker.py": pid, MiB or -, name; several separated by
commas), and from the tree that PYMTML_PROC_ROOT names, which looks like the driver's part of /proc: tables
driver/musa/gpuXX/proc_util, each beside a file devname, and PID/cmdline for names. Where there is no such table, from
processes that have the card's device file open: PID/fd.
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
        lines = [line.split() for line in table.splitlines() if line.strip()]
        heads = lines[0] if lines else []
        tables[device.strip()] = [dict(zip(heads, line)) for line in lines[1:]]
    return tables


def _from_tables(device, rows, root):
    for row in rows:
        pid, share = row.get("Pid", ""), row.get("Total", "")
        if pid.isdigit():
            name = _name(root, pid, row.get("PidName", "-"))
            yield Process(device.index, int(pid), name, share=int(share) if share.isdigit() else None)


def _from_files(devices, root):
    by_path = {device.path: device for device in devices if device.path}
    for pid in filter(str.isdigit, _entries(root)):
        folder = os.path.join(root, pid, "fd")
        opened = set()
        for entry in _entries(folder):
            try:
                opened.add(os.readlink(os.path.join(folder, entry)))
            except OSError:
                continue
        for path in sorted(opened & by_path.keys()):
            yield Process(by_path[path].index, int(pid), _name(root, pid, "-"))


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
        tables = _tables(root)
        listed = [
            process for device in devices for process in _from_tables(device, tables.get(_node(device), []), root)
        ]
        for process in listed if tables else _from_files(devices, root):
            found[process.index, process.pid] = process
    for process in _configured(machine, devices):
        known = found.setdefault((process.index, process.pid), process)
        known.memory = process.memory
    return [found[key] for key in sorted(found)]


def _node(device):
    return os.path.basename(device.path or "")
