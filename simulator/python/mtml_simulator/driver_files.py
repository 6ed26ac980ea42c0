"""Files below /proc/driver/musa, written as genuine drivers write them.

The line `device:`, the newer heads, `status`, `memory` and `int_status` have the form of a genuine MTT S5000 of August
2026 (MooreThreads/julia-musa, contrib/musa/s7-tooling/evidence-s7r4). The form of a row, the older heads, `version`,
`vram_info` and the older words of `status` are those of the kernel driver 2.5.0 to 2.7.0 (dixyes/mtgpu-drv); no row of
a newer driver has been published. Records of `event_report` are those of the driver 3.0.0 (elysia-best/mtgpu,
inc/mtgpu/mtgpu_event_report.h), as is a genuine one (ccfos/huatuo, core/events/gpu_mthreads_xid_test.go).
"""

import os
import struct
from typing import Mapping, Sequence, Union

HEADS = "\tPid \t VPid \t Total \t   2D \t   TA \t   3D \t  CMP \t  TRANSFER \t PidName"
HEADS_OF_2_7 = "\tPid \t VPid \t Total \t   2D \t   TA \t   3D \t  CDM \t  TDM \t PidName"
# Percentages of a row, in this order: Total, 2D, TA, 3D, CMP and TRANSFER (CDM and TDM in the older heads).
Shares = Sequence[int]
Text = Union[str, bytes]
_COUNTS = ("Server Errors",) + tuple(
    "%s %s Count" % (name, "Error" if name in ("WGP", "TRP") else "Event")
    for name in ("HWR", "CRR", "SLR", "WGP", "TRP", "FWF", "APM")
)
SEVERITIES = ("notify", "warn", "fatal")
SCOPES = ("process", "gpu", "host", "system")
# What the driver keeps of a card.
RING = 50


def _bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def process_row(pid: int, vpid: int, shares: Shares, name: Text) -> bytes:
    """A row of proc_util: numbers of the process on the host and for the reader, its shares, its short name."""
    numbers = "".join(" %3d%% \t" % share for share in shares)
    return b"  %9d %9d \t%s %s" % (pid, vpid, numbers.encode(), _bytes(name))


def process_table(*rows: Text, device: Sequence[int] = (0, 128), heads: str = HEADS) -> bytes:
    """proc_util: rows of the processes that were active lately, often none (bytes).

    ``device``: the driver's number of the card, and the minor number of its render node.
    """
    lines = [b"device:    (%d, %d)" % tuple(device), heads.encode()]
    return b"\n".join(lines + [_bytes(row) for row in rows]) + b"\n"


def version(text: str) -> bytes:
    """version, of all cards (bytes)."""
    return b"package version:%s\n" % _bytes(text)


def vram_info(total: int) -> bytes:
    """vram_info: the card's memory in bytes (bytes)."""
    return b"MemTotal\t: 0x%x\n" % total


def status(
    utilization: int = 0,
    engines: Sequence[int] = (0, 0, 0, 0),
    driver: str = "OK",
    firmware: str = "OK",
    counts: Mapping[str, int] = {"Server Errors": 2},
    number: int = 0,
    older: bool = False,
) -> bytes:
    """status: state of driver and firmware, what they counted, percentages (bytes).

    ``engines``: geometry, 2D, 3D and compute. ``counts``: what is not 0, by the names in the file; a healthy card had
    Server Errors. ``older``: as drivers up to 2.7.0 have it.
    """
    lines = ["Driver Status:   " + driver, "Device ID: %d:%d" % (number, number), "Firmware Status: " + firmware]
    for name in _COUNTS:
        # The driver's own misspelling
        shown = "Sercer Errors" if older and name == "Server Errors" else name
        lines.append("%s:%s%d" % (shown, "   " if name == "Server Errors" else " ", counts.get(name, 0)))
    geometry, two, three, compute = engines
    lines += ["GPU Overall Utilisation:      %d%%" % utilization, "\tGEOM Utilisation:     %d%%" % geometry]
    lines += ["\t3D Utilisation:       %d%%" % three]
    lines += [("\tCOMPUTE Utilisation: %d%%" if older else "\tCOMP Utilisation:  %d%%") % compute]
    lines += ["\t2D Utilisation:       %d%%" % two]
    return _bytes("".join(line + "\n" for line in lines))


def memory(allocated: int = 0, system: int = 0, most: int = 0) -> bytes:
    """memory: bytes allocated on the card and of the host's memory, now and at most (bytes)."""
    lines = []
    for name, value, highest in (
        ("AllocGPUMemLMA\t\t", allocated, max(allocated, most)),
        ("MappedGPUMemLMA\t\t", 0, 0),
        ("AllocSystemMem\t\t\t", system, system),
    ):
        lines.append("MemoryUsage%s%d\n" % (name, value))
        lines.append("MemoryUsage%sMax\t\t%d\n" % (name.rstrip(), highest))
    return _bytes("".join(lines))


def int_status(first: int, counts: Sequence[int] = (4, 1, 0, 0, 0, 0, 0, 0)) -> bytes:
    """int_status: for each target its interrupt, counted from the first, and how many came (bytes)."""
    line = "target %-5d host_irq: %-5d received_int_times: %-5d completed_int_times: %-5d last_claim_int_id: %-5d\n"
    rows = [line % (target, first + target, count, count, 64 + target) for target, count in enumerate(counts)]
    return _bytes("int status:\n" + "".join(rows))


# ==== Below a root of the proc file system ====


def _write(data: bytes, *parts: str) -> None:
    path = os.path.join(*parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def write_table(root: str, number: int, *rows: Text, node: str = "") -> str:
    """The folder of a card, by the driver's number and the name of its GPU node, with a table of processes (path)."""
    folder = os.path.join(root, "driver", "musa", "gpu%02x" % number)
    node = node or "mtgpu.%d" % number
    _write(_bytes(node) + b"\n", folder, "devname")
    minor = 128 + int(node.rpartition(".")[2])
    _write(process_table(*rows, device=(number, minor)), folder, "proc_util")
    return folder


def short_name(program: str) -> str:
    """The name that the kernel and the driver's table have for a program (str)."""
    return program.rpartition("/")[2][:15]


def write_process(root: str, pid: int, command: Sequence[str], *nodes: str) -> str:
    """The folder of a process that has nodes open, by their paths such as /dev/mtgpu.0; more at each call (path)."""
    folder = os.path.join(root, "%d" % pid)
    opened = os.path.join(folder, "fd")
    name = short_name(command[0])
    _write(b"".join(_bytes(word) + b"\0" for word in command), folder, "cmdline")
    _write(_bytes(name) + b"\n", folder, "comm")
    _write(_bytes("Name:\t%s\nPid:\t%d\nNSpid:\t%d\n" % (name, pid, pid)), folder, "status")
    os.makedirs(opened, exist_ok=True)
    for number, node in enumerate(nodes, 3 + len(os.listdir(opened))):
        os.symlink(node, os.path.join(opened, "%d" % number))
    return folder


# ==== XID records ====


def event_record(
    xid: int,
    text: Text = "",
    severity: Union[str, int] = "fatal",
    scope: Union[str, int] = "gpu",
    uuid: str = "6a1f0c52-83d7-4be9-9c41-d20e75b8a613",
    seconds: int = 1789000000,
    bus: int = 0,
    pid: int = 0,
    record_version: int = 1,
) -> bytes:
    """A record of event_report: an XID, module << 24 | code, at a time in seconds since 1970 (256 bytes).

    Two mistakes are the driver's: the last byte of the UUID is 0, and of the PCI address there is the bus only.
    """
    severity = SEVERITIES.index(severity) if isinstance(severity, str) else severity
    scope = SCOPES.index(scope) if isinstance(scope, str) else scope
    # snprintf into 128 bytes
    said = (_bytes(text) + b"\n")[:127]
    card = bytes.fromhex(uuid.replace("-", ""))[:15]
    values = (card, record_version, 0, xid, scope | severity << 3, seconds, bus << 16, pid, said)
    record = struct.pack("<16sHHII4xQQQ128s", *values)
    return (struct.pack("<II", 1 << 24 | 1, len(record)) + record).ljust(256, b"\0")


def event_report(records: Sequence[bytes] = ()) -> bytes:
    """event_report: the newest records of a ring, oldest first; empty without any (bytes)."""
    return b"".join(records[-RING:])


def persisted_records(records: Sequence[bytes], uuid: str = "6a1f0c52-83d7-4be9-9c41-d20e75b8a613") -> bytes:
    """The file xid_records that the driver keeps below /var/log/mtgpu/event_report (bytes).

    Its header is that of elysia-best/mtgpu. That records follow without the event's header is inferred.
    """
    header = struct.pack("<4sBxHHxxI16s", b"XID", 0, 1, 1, 0, bytes.fromhex(uuid.replace("-", "")))
    return header + b"".join(record[8:192] for record in records)
