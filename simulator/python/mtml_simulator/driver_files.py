"""Files below /proc/driver/musa, written as genuine drivers write them.

The line `device:`, the newer heads, `status` and `memory` have the form of a genuine MTT S5000 of August 2026
(MooreThreads/julia-musa, contrib/musa/s7-tooling/evidence-s7r4). The form of a row, the older heads and `version` are
those of the kernel driver 2.5.0 to 2.7.0 (dixyes/mtgpu-drv); no row of a newer driver has been published.
"""

from typing import Sequence, Tuple, Union

HEADS = "\tPid \t VPid \t Total \t   2D \t   TA \t   3D \t  CMP \t  TRANSFER \t PidName"
HEADS_OF_2_7 = "\tPid \t VPid \t Total \t   2D \t   TA \t   3D \t  CDM \t  TDM \t PidName"
# Percentages of a row: Total, 2D, TA, 3D, CMP and TRANSFER (CDM and TDM in the older heads).
Shares = Tuple[int, int, int, int, int, int]


def process_row(pid: int, vpid: int, shares: Shares, name: Union[str, bytes]) -> bytes:
    """A row of proc_util: numbers of the process on the host and for the reader, its shares, its short name."""
    numbers = "".join(" %3d%% \t" % share for share in shares)
    return b"  %9d %9d \t%s %s" % (pid, vpid, numbers.encode(), name if isinstance(name, bytes) else name.encode())


def process_table(*rows: Union[str, bytes], device: Sequence[int] = (0, 128), heads: str = HEADS) -> bytes:
    """proc_util: rows of the processes that were active lately, often none (bytes).

    ``device``: the driver's number of the card, and the minor number of its render node.
    """
    lines = [b"device:    (%d, %d)" % tuple(device), heads.encode()]
    return b"\n".join(lines + [row if isinstance(row, bytes) else row.encode() for row in rows]) + b"\n"
