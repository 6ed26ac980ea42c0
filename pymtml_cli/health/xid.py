"""xid: the errors that the driver has recorded, which NVIDIA calls XIDs: the oldest first, and new ones with -f.

The records are read without MTML, as they matter most if that does not answer. A child process asks it which card is
which; without an answer cards are named as the driver names them.
"""

import os
import sys
import time
from collections import namedtuple

import pymtml
from pymtml_cli.arguments import argument_parser
from pymtml_cli.common import errors
from pymtml_cli.common.errors import CommandError, called, reason
from pymtml_cli.common.options import CARDS, JSON
from pymtml_cli.common.text import counted, json, left, safe
from pymtml_cli.health import checks
from pymtml_cli.health.child import Child, answer_parent
from pymtml_cli.readings import driver_files
from pymtml_cli.readings.devices import Machine, Unknown, ask
from pymtml_cli.readings.documents import head

ANSWER_SECONDS, PAUSE = 5, 1  # for the child, and from one look to the next
LONGEST_FILE = 16 << 20  # bytes
# The file that the driver keeps below /var/log/mtgpu/event_report (struct mtgpu_xid_file_header in
# inc/mtgpu/mtgpu_event_report.h of elysia-best/mtgpu). That records follow without the head of an event is inferred.
TAG, TAG_BYTES, BIG_ENDIAN, HEADER = b"XID\0", 4, 0x80, 32
EVENT, BODY, RECORD = b"\1\0\0\1\xb8\0\0\0", 184, 256

# Index, UUID and PCI address of a card, and the name of its directory; None for what is not known
Card = namedtuple("Card", "gpu uuid bus_id directory", defaults=(None,) * 4)
COLUMNS = {"time": 19, "gpu": 5, "xid": 8, "name": 28, "severity": 8, "scope": 7, "pid": 7, "text": 0}


def parser():
    parser = argument_parser("xid")
    parser.add_argument("-i", "--id", metavar="CARDS", help=CARDS)
    parser.add_argument("-f", "--follow", action="store_true", help="wait for new ones, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help=JSON + "; with -f one per line")
    parser.add_file("--file", "read a copy of the driver's file event_report or xid_records")
    return parser


def run(arguments):
    """Print the records (exit status)."""
    answer_parent(arguments, _ask)
    options = parser().parse_args(arguments)
    if options.file is not None:
        if options.id is not None or options.follow:
            raise CommandError("--file reads a copy: neither -i nor -f go with it")
        _write([(Card(), *copied(options.file))], options.json, {})
        return 0
    cards, versions = known_cards(options.id)
    printed, first = {}, True
    while first or options.follow:
        files, found, unread = driver_files.look().found, [], "no files of such a card in %s" % driver_files.root()
        for card in [card for card in cards if card.directory in files]:
            xids = files[card.directory].xids
            if isinstance(xids, driver_files.Unread):
                unread = xids.why
                continue
            new = driver_files.new(printed.setdefault(card, {}), [one.raw for one in xids[0]])
            found.append((card, [xids[0][position] for position in new], xids[1]))
        if first and found and all(strange and not known for _, known, strange in found):
            found, unread = [], "no XID among them is understood"
        if first and not found:
            text = "the driver's XID records are unavailable: %s; `pymtml doctor` shows more"
            raise CommandError(text % unread, errors.NOT_AVAILABLE)
        _write(found, options.json, versions, options.follow, first)
        first = False
        if options.follow:
            time.sleep(PAUSE)
    return 0


# ---- What is printed ----


def _write(found, as_json, versions, follows=False, first=True):
    """Write [(Card, XIDs, number of records that are not understood)], the oldest record first."""
    pairs = sorted(((one, card) for card, xids, _ in found for one in xids), key=lambda pair: pair[0].time)
    rows = [_row(*pair) for pair in pairs]
    strange = sum(number for _, _, number in found)
    if as_json and (rows or first):
        begin = head(versions.get("library"), versions.get("driver"))
        sys.stdout.write(json(dict(begin, xids=rows, not_understood=strange), is_line=follows))
    elif not as_json:
        lines = [dict(zip(COLUMNS, COLUMNS))] * first
        for (one, _), row in zip(pairs, rows):
            gpu = row["directory"] if row["gpu"] is None else row["gpu"]
            lines.append(dict(row, time=driver_files.when(one, "%Y-%m-%d %H:%M:%S"), gpu=gpu))
        for line in lines:
            cells = [left("-" if line[name] is None else safe(line[name]), width) for name, width in COLUMNS.items()]
            sys.stdout.write("  ".join(cells).rstrip() + "\n")
        if strange and first:
            sys.stderr.write("%s: %s not understood\n" % (called(), counted(strange, "record is", "records are")))
    sys.stdout.flush()


def _row(one, card):
    return {
        "time": driver_files.when(one, "%Y-%m-%dT%H:%M:%SZ", time.gmtime),
        **card._asdict(),
        "xid": driver_files.number(one),
        "name": one.name or None,
        "meaning": one.meaning or None,
        "severity": one.severity,
        "scope": one.scope,
        "pid": one.pid or None,
        "text": one.text,
    }


# ---- A copy ----


def copied(path):
    """(XIDs, number of records not understood) of a file that was copied from the driver; raises CommandError."""
    try:
        size = os.stat(path).st_size
        if not (os.path.isfile(path) and 0 < size <= LONGEST_FILE):  # the driver's own file, too, has no size
            raise ValueError(
                "not a file of 1 to %d bytes; without --file this machine's records are read" % LONGEST_FILE
            )
        with open(path, "rb") as file:
            content = file.read(size)
    except (OSError, ValueError) as error:
        raise CommandError("cannot read %s: %s" % (path, reason(error)))
    if content[: len(TAG)] != TAG:
        records, strange = pymtml._xid_records(content)
        if strange * RECORD >= len(content):
            raise CommandError("%s is no copy of event_report or xid_records: no record in it is understood" % path)
        return records, strange
    if content[TAG_BYTES : TAG_BYTES + 1] >= bytes([BIG_ENDIAN]):
        raise CommandError("%s comes from a machine with another byte order, whose records cannot be read" % path)
    bodies = [content[start : start + BODY] for start in range(HEADER, len(content), BODY)]
    records, strange = pymtml._xid_records(b"".join((EVENT + body).ljust(RECORD, b"\0") for body in bodies))
    strange += (len(content) - HEADER) % BODY > 0
    if strange:
        text = "%s begins as a file of XIDs, but %d of its %d records do not have the inferred form"
        raise CommandError(text % (path, strange, len(bodies)))
    return records, strange


# ---- Which card is which ----


def known_cards(wanted):
    """(list of Card, versions of library and driver); raises CommandError for a card that is not there."""
    text = "the driver does not answer"
    try:
        child = Child("xid", {"cards": wanted})
        try:
            for kind, value in child.messages(time.monotonic() + ANSWER_SECONDS):
                if kind == "refused":
                    raise CommandError(*value)
                if kind == "cards":
                    cards = [Card(*one) for one in value[0]]
                    return cards + (_of_no_card(cards) if wanted is None else []), value[1]
                text = value or text
        finally:
            child.stop()
    except (OSError, ValueError) as error:
        text = "cannot start a process: %s" % reason(error)
    if wanted is not None:
        raise CommandError("-i needs MTML: %s" % text, errors.OTHER)
    sys.stderr.write(
        "%s: cards are named by their directories, as MTML does not report their index: %s\n" % (called(), text)
    )
    return [Card(directory=directory) for directory in driver_files.directories()], {}


def _of_no_card(cards):
    """Directories that are none of the cards', such as a lost one's, whose nodes MTML does not tell (list of Card)."""
    look = driver_files.look()
    others = driver_files.elsewhere(look) if len(cards) < len(look.found) else []
    known = {card.directory for card in cards}.union(others)
    return [Card(directory=directory) for directory in look.found if directory not in known]


def _ask(wanted, send):
    try:
        machine = Machine()
    except CommandError as error:
        send("failed", safe(" ".join(error.text.split())))
        return
    try:
        cards = machine.chosen(wanted["cards"])
    except CommandError as error:
        send("refused", [error.text, error.status, error.stdout, error.hint])
        return
    versions = {"library": ask(pymtml.nvmlSystemGetNVMLVersion), "driver": machine.driver_version}
    versions = {name: None if isinstance(value, Unknown) else value for name, value in versions.items()}
    send("cards", [[[*checks.identity(card), driver_files.directory_of(card)] for card in cards], versions])
