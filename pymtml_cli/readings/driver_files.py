"""What the kernel driver writes below /proc/driver/musa and MTML does not tell: the state of a card, and its XIDs.

No file is trusted: each is read up to a size, and what is not understood is reported as that. The forms are those of a
genuine MTT S5000 of August 2026 (MooreThreads/julia-musa, contrib/musa/s7-tooling/evidence-s7r4) and of the published
kernel driver 1.0.0 to 2.7.0 (dixyes/mtgpu-drv).
"""

import contextlib
import errno
import glob
import os
import re
import time
from collections import namedtuple

import pymtml
from pymtml_cli.common.errors import reason
from pymtml_cli.common.files import put, read_text
from pymtml_cli.common.text import fit, safe

LONGEST = 1 << 16  # bytes that are read of a file; the longest of a genuine driver has less than a tenth of that
MOST_DIRECTORIES = 256  # their names have two hexadecimal digits
PATIENCE = 2  # seconds for all files: a driver that hangs may hold whoever reads them

# What the files in the directory of a card say, or why it is not known (an Unread): ``status`` {name: value}, ``xids``
# (XIDs, the oldest first; number of records that are not understood); ``reset``: when pymtml reset the card, or 0
Files = namedtuple("Files", "directory status xids reset")


class Unread:
    """In the place of what a file says: why it is not known. ``failed``: it should be, so that something is wrong."""

    def __init__(self, why, failed=False):
        self.why, self.failed = why, failed


NOT_THERE, NOT_UNDERSTOOD = Unread("not there"), Unread("there, and not understood")
NO_ANSWER = Unread("no answer within %d seconds" % PATIENCE, failed=True)


def root():
    """The folder of the driver's files."""
    return os.path.join(pymtml._proc_root(), "driver", "musa")


def text(*path):
    """What is in a file of the driver (str), cut after LONGEST bytes, or an Unread."""
    try:
        # A file that waits for its driver, or a pipe in its place, answers with nothing instead.
        with open(os.path.join(root(), *path), "rb", opener=pymtml._open_nonblocking) as file:
            return (file.read(LONGEST) or b"").decode("utf-8", "replace")
    except OSError as error:
        return _unread(error)


def _unread(error):
    """The Unread for an OSError."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return NOT_THERE
    return Unread(reason(error), failed=error.errno not in (errno.EACCES, errno.EPERM))


def directories():
    """Names of the cards' directories (list)."""
    try:
        names = os.listdir(root())
    except OSError:
        return []
    return sorted(name for name in names if re.match(r"gpu[0-9a-f]+\Z", name))[:MOST_DIRECTORIES]


# ---- The state of a card ----

# What the driver counts since it was loaded: what it had to recover from, and its errors: a card in order had 3. "APM
# Event Count" is left out: it is how often power was taken from an idle card (ui32ActivePMReqTotal, in
# services/server/common/debug_common.c of Imagination's driver, from which this one comes).
COUNTS = {kind: ("%s Event Count" % kind.upper(),) for kind in ("hwr", "crr", "slr", "fwf")}
COUNTS.update({kind: ("%s Error Count" % kind.upper(),) for kind in ("wgp", "trp")})
COUNTS["server"] = "Server Errors", "Sercer Errors"  # so spelled up to driver 2.7.0
STATES = "Driver Status", "Firmware Status"
GOOD = "OK"
BAD = ("BAD", "DEAD", "NOT RESPONDING", "FAULT")  # all other words of the driver are for a state that is none yet


def parsed(status):
    """The lines of a file ``status`` ({name: value}), or an Unread."""
    if isinstance(status, Unread):
        return status
    rows = [line.partition(":") for line in status.split("\n")]
    found = {name: value.strip()[:80] for name, _, value in rows}
    return found if STATES[0] in found else NOT_UNDERSTOOD


def states(status):
    """(name, word, what stands behind it in brackets) of each state that a card has (list)."""
    found = []
    for name in STATES:
        word, _, why = status.get(name, "").partition(" (")
        found += [(name, safe(word.strip()), safe(why.strip(") ")))] if word else []
    return found


def counts(status):
    """(kind, the driver's name for it, number) of what the driver has counted of faults, without those at 0 (list)."""
    rows = [(kind, name, status.get(name, "").strip()) for kind, names in COUNTS.items() for name in names]
    return [(kind, name, int(text)) for kind, name, text in rows if re.match(r"0*[1-9][0-9]{0,9}\Z", text)]


# ---- XIDs ----

# Root's, and empty after a boot: a file for each card that pymtml has reset, named by its UUID, with its directory
RESETS = "/run/pymtml"
FATAL, NOTED = "fatal", "notify"  # severities
OF_A_PROCESS = "process"  # a scope
NEWEST = 256  # records of a card that are remembered, of the 50 that the driver keeps


def xids(directory):
    """(XIDs that the driver has recorded of a card, the oldest first; number of strange records), or an Unread."""
    try:
        return pymtml._xid_records(pymtml._event_bytes(os.path.join(root(), directory, "event_report")))
    except OSError as error:
        return _unread(error)


def number(xid):
    """The number of an XID as the kernel's log has it: hexadecimal, so that a search for it finds the line there."""
    return "%x" % xid.number


def when(xid, form, zone=time.localtime):
    """When the driver recorded an XID, as text, in local time by default; None if that is no time."""
    try:
        moment = zone(xid.time)
    except (ValueError, OverflowError, OSError):
        return None
    return time.strftime(form, moment) if moment.tm_year < 10000 else None


def new(known, keys):
    """Positions of the keys of a card's records that were not there at an earlier look (list); ``known`` {} remembers.

    The driver's file has old records again, and drops the oldest. Two records may be equal: they are two.
    """
    counts, found = {}, []
    for position, key in enumerate(keys):
        counts[key] = counts.get(key, 0) + 1
        if (key, counts[key]) not in known:
            known[key, counts[key]] = None
            found.append(position)
    for key in list(known)[:-NEWEST]:
        del known[key]
    return found


def note_reset(uuid, directory):
    """Let the XIDs of a card before this moment count as settled (raises OSError, ValueError)."""
    os.makedirs(RESETS, 0o755, exist_ok=True)
    put(os.path.join(RESETS, "reset-" + re.sub("[^0-9A-Za-z-]", "_", uuid)), directory.encode("ascii", "replace"))


def resets():
    """When pymtml has reset cards ({directory: seconds since 1970})."""
    found = {}
    for path in glob.glob(os.path.join(RESETS, "reset-*"))[:MOST_DIRECTORIES]:
        with contextlib.suppress(OSError, ValueError):  # another reset has just replaced it
            found[read_text(path, 80)] = os.stat(path).st_mtime
    return found


# ---- A look at all cards ----


class Look:
    """What the driver's files say of all cards at one moment, ``found`` {directory: Files}, read by a thread.

    What the driver does not answer in PATIENCE seconds stays NO_ANSWER, and the thread is left to it.
    """

    def __init__(self):
        from threading import Thread

        self.found = {}
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()
        self._thread.join(PATIENCE)

    def _read(self):
        found, reset = {one: Files(one, NO_ANSWER, NO_ANSWER, 0) for one in directories()}, resets()
        self.found = found
        for one in found:
            found[one] = Files(one, parsed(text(one, "status")), NO_ANSWER, reset.get(one, 0))
            found[one] = found[one]._replace(xids=xids(one))

    @property
    def ended(self):
        """Whether the driver does not hold the thread."""
        return not self._thread.is_alive()


_last = None  # the Look before


def look():
    """A Look of now, or the one before as long as the driver holds its thread."""
    global _last
    if _last is None or _last.ended:
        _last = Look()
    return _last


def of(card):
    """The Files of a card in the sample under way, or None if it is not known which directory is its own."""
    if card.machine.files is None:
        card.machine.files = look()
    return card.machine.files.found.get(directory_of(card))


def directory_of(card):
    """The directory of a card, or None."""
    path = card.ask(pymtml._driver_directory)
    return os.path.basename(path) if isinstance(path, str) else None


def node(directory):
    """The name of the device node of a directory's card, such as mtgpu.0, or None."""
    name = text(directory, "devname")
    return name.strip() if not isinstance(name, Unread) and re.match(r"mtgpu\.[0-9]{1,9}\s*\Z", name) else None


def shown(files):
    """A directory as users read it: with the name of its card's node."""
    return "%s (%s)" % (files.directory, node(files.directory) or "unknown")


def elsewhere(look):
    """Directories of cards that cannot be used here: a container sees those of all cards of its host (list)."""
    return [one for one in look.found if not os.path.exists(os.path.join("/dev", node(one) or "mtgpu"))]


def patiently(read):
    """What a function that reads files of the driver returns; None if that holds it for more than PATIENCE seconds."""
    from threading import Thread

    found = []
    thread = Thread(target=lambda: found.append(read()), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found[0] if found else None


# ---- The forms of all files, for doctor: what is known of a content, or None if its form is not known ----


def _matches(pattern):
    return lambda content: "" if re.match(pattern, content) else None


def _table(content):
    _, rows = pymtml._parse_process_table(content.encode("utf-8", "replace"))
    heads = [line.split() for line in content.split("\n") if "Pid" in line.split()]
    if rows is None or not all(row.get(b"Pid", b"").isdigit() for row in rows):
        return None
    if not heads:  # the driver says so when its counters do not open
        return "not now"
    return " ".join(heads[0]) + ("" if content.startswith("device:") else ", without a line `device:`")


def _events(content):
    return None if content[1] else "%d XIDs" % len(content[0])


FORMS = {
    "devname": _matches(r"mtgpu\.[0-9]{1,9}\s*\Z"),
    "status": lambda content: None if isinstance(parsed(content), Unread) else "",
    "memory": _matches(r"(MemoryUsage\w+\s+[0-9]+\s+)+\Z"),
    "proc_util": _table,
    "int_status": _matches(r"int status:\n(target [0-9]+ .*\n)*\Z"),
    "vram_info": _matches(r"MemTotal\s*: *0x[0-9a-f]+\s*\Z"),
    "event_report": _events,
}


def version():
    """The driver's own version, or an Unread."""
    found = text("version")
    if isinstance(found, Unread):
        return found
    named = re.match(r"package version: *(\S{1,80})\s*\Z", found)
    return safe(named.group(1)) if named else NOT_UNDERSTOOD


def described(directory):
    """{file in a directory: (what is known of its form, or None; else why not)}, without files that are not there."""
    found = {}
    for name, form in FORMS.items():
        content = xids(directory) if name == "event_report" else text(directory, name)
        if isinstance(content, Unread):
            if content is not NOT_THERE:
                found[name] = None, content.why
            continue
        known = form(content)
        if name == "event_report":
            why = "records that are not the 256 bytes of drivers from 3.0.0 on: %d" % content[1]
        else:
            why = "begins with " + fit(safe(repr(content[:80])), 40)
            if len(content) >= LONGEST:
                known, why = None, "%s, and is longer than %d bytes" % (why, LONGEST)
        found[name] = known if known is None else fit(safe(known), 80), why
    return found
