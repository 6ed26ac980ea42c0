"""Reads what was gathered from many hosts: documents of `pymtml --json`, `health --json` and `doctor --json`.

The text is in files, of one or more hosts each, or comes through a pipe: documents one after another, or lines with the
host in front (pdsh, clush, srun --label). Anything that is not a whole document becomes an Unreadable, with its host if
that is known, so that no host is dropped silently.

The text is not trusted: in a folder only regular files are read, and the cost of reading has bounds.
"""

import collections
import json
import os
import re
import sys

from pymtml_cli.common.files import open_regular
from pymtml_cli.common.text import fit, safe
from pymtml_cli.health.checks import CRITICAL, NOT_AVAILABLE, NOTE, OK, WARNING
from pymtml_cli.hosts import hostlist
from pymtml_cli.hosts.facts import DOCTOR, HEALTH, MACHINE, facts_of
from pymtml_cli.readings.documents import SCHEMA

SUFFIXES = (".json", ".txt", ".out", ".log")
STDIN = "-"
LONGEST_REASON = 160
LARGEST = 64 << 20  # bytes of a file or of stdin: some 1400 hosts of eight cards
LARGEST_DOCUMENT = 2 << 20  # characters: a host of eight cards has 48000
MOST_HOSTS = 20000  # of a text, or documents in it
MOST_CARDS = 10000  # of a host

# Where a document begins: a brace at the start of a line, or one before the first key of a document of pymtml
_BEGIN = re.compile(r'^\{|\{\s*"(?:schema|host|verdict)":', re.MULTILINE)
_HOST_KEY = re.compile(r'"host":\s*("(?:[^"\\]|\\.)*")')
# srun --label puts blanks before the numbers of tasks.
_HOST = r' *(\d+|[^\s:{"]\S*?):'
_PREFIX = re.compile(_HOST + "(?: (.*))?$")
_PREFIXED = re.compile('^%s \\{\\s*(?:$|")' % _HOST, re.MULTILINE)


class Document:
    """A document: its host, its kind, the number of cards in it, its facts."""

    def __init__(self, host, kind, content):
        self.host, self.kind = host, kind
        self.cards, self.facts = facts_of(kind, content)


class Unreadable:
    """Output that cannot be compared: its host, as far as that is known, and the reason."""

    def __init__(self, host, reason):
        self.host, self.reason = host, fit(safe(" ".join(reason.split())), LONGEST_REASON)


class _Bad(Exception):
    """What is wrong with a document."""


def read(paths):
    """Documents and Unreadables of files, of the files in folders, and of stdin for "-" (list)."""
    files = {path: _files(path) for path in paths}
    found = [Unreadable(safe(path), "a folder without files") for path, its in files.items() if not its]
    files = [file for its in files.values() for file in its]
    titles = _titles(files)
    for path in files:
        try:
            text = _text(path, named=path in paths)
        except OSError as error:
            found.append(Unreadable(titles[path], "cannot be read: %s" % (error.strerror or error)))
        except (_Bad, ValueError) as error:
            found.append(Unreadable(titles[path] or "standard input", str(error)))
        else:
            found += parse(text, titles[path])
    return found


def _files(path):
    """A file, or the files in a folder except hidden ones (list)."""
    if path == STDIN or not os.path.isdir(path):
        return [path]
    names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    return [os.path.join(path, name) for name in names if not os.path.isdir(os.path.join(path, name))]


def _titles(files):
    """{path: name of its host}: the file's name without suffix, and as much of the path as makes it unique."""
    titles = {}
    for path in files:
        root, suffix = os.path.splitext(path)
        titles[path] = None if path == STDIN else root if suffix in SUFFIXES else path
    parts = {path: tuple(title.split(os.sep)) for path, title in titles.items() if title is not None}
    ends = collections.Counter(names[start:] for names in parts.values() for start in range(len(names)))
    for path, names in parts.items():
        unlike = [start for start in range(len(names)) if ends[names[start:]] == 1]
        titles[path] = safe("/".join(names[max(unlike, default=0) :]))
    return titles


def _text(path, named):
    """The text of a file; one that was found in a folder must be a regular file."""
    if path == STDIN:
        data = sys.stdin.buffer.read(LARGEST + 1)
    else:
        with open(path, "rb", opener=None if named else open_regular) as file:
            data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _Bad("more than %d MiB" % (LARGEST >> 20))
    return data.decode("utf-8-sig", "backslashreplace").replace("\r\n", "\n")


def parse(text, title=None):
    """Documents and Unreadables of a text (list). ``title`` names the host of a file that holds one host."""
    name = title or "standard input"
    if not text.strip():
        return [Unreadable(name, "empty")]
    if _PREFIXED.search(text):
        return _by_prefix(text, name)
    found = _documents(text)
    kinds = [one.kind for one in found if isinstance(one, Document)]
    if title is not None and len(kinds) == len(set(kinds)):
        for one in found:
            one.host = title
    nameless = [one for one in found if one.host is None]
    for number, one in enumerate(nameless, 1):
        one.host = name if len(nameless) == 1 else "%s, document %d" % (name, number)
    return found


def _by_prefix(text, name):
    """Documents and Unreadables of lines with the host in front."""
    texts, rest = {}, []
    for line in text.split("\n"):
        found = _PREFIX.match(line)
        if found:
            texts.setdefault(found.group(1), []).append((found.group(2) or "") + "\n")
        elif line.strip():
            rest.append(line)
    if len(texts) > MOST_HOSTS:
        return [Unreadable(name, hostlist.TOO_MANY % MOST_HOSTS)]
    found = [Unreadable(name, "of no host: %s" % rest[-1])] if rest else []
    for label, pieces in texts.items():
        for one in _documents("".join(pieces)):
            # srun --label puts numbers of tasks in front: the host is in the documents.
            one.host = (one.host or "task %s" % label) if label.isdigit() else label
            found.append(one)
    return found


def _documents(text):
    """Documents and Unreadables of a text, each with the host that it names, or None (list)."""
    starts = [found.start() for found in _BEGIN.finditer(text)]
    if not starts:
        said = [line for line in text.split("\n") if line.strip()] or ["nothing"]
        return [Unreadable(None, "not a document, but: %s" % said[-1])]
    if len(starts) > MOST_HOSTS:
        return [Unreadable(None, "more than %d documents" % MOST_HOSTS)]
    return [_document(text[start:end]) for start, end in zip(starts, starts[1:] + [None])]


def _document(piece):
    """The Document that a piece of text begins with, or an Unreadable."""
    content, text = None, piece.rstrip()
    try:
        if len(text) > LARGEST_DOCUMENT:
            raise _Bad("a document of more than %d MiB" % (LARGEST_DOCUMENT >> 20))
        content, _ = json.JSONDecoder(parse_constant=_no_number).raw_decode(text)
        return Document(_host(content), _kind(content), content)
    except _Bad as error:
        reason = str(error)
    except RecursionError:
        reason = "JSON nested too deeply"
    except ValueError as error:
        is_cut = getattr(error, "pos", 0) >= len(text) or not text.endswith("}")
        reason = "cut off after %d characters" % len(text) if is_cut else "not JSON: %s" % error
    return Unreadable(_host(content) or _named(text), reason)


def _no_number(name):
    raise ValueError("%s is not a number" % name)


def _named(piece):
    """The host that a broken document names, or None."""
    found = _HOST_KEY.search(piece)
    try:
        return safe(json.loads(found.group(1))) if found else None
    except ValueError:
        return None


def _host(content):
    """The host that a document names, or None."""
    host = content.get("host") if isinstance(content, dict) else None
    return safe(host) if isinstance(host, str) and host.strip() else None


def _kind(content):
    """The kind of a document; raises _Bad if it is not pymtml's, or reports an error."""
    if not isinstance(content, dict):
        raise _Bad("not a document of pymtml")
    schema = content.get("schema", 1)  # doctor had none in 0.3
    if isinstance(schema, bool) or schema not in (1, SCHEMA):
        raise _Bad("schema %s is of a later pymtml; this one reads %d" % (fit(str(schema), 20), SCHEMA))
    if "error" in content:
        raise _Bad("reports: %s" % content["error"])
    if "devices" in content:
        devices, count = content["devices"], content.get("device_count")
        if not isinstance(devices, list) or not all(isinstance(device, dict) for device in devices):
            raise _Bad("devices is not a list of objects")
        if "device_count" not in content:
            raise _Bad("a document of one view: only --json, health --json and doctor --json can be compared")
        if count != len(devices):
            raise _Bad("counts %s devices and lists %d" % (count, len(devices)))
        return MACHINE
    if "findings" in content and ("verdict" in content or "schema" in content):
        kind = DOCTOR if "verdict" in content else HEALTH
        _check_findings(kind, content)
        return kind
    raise _Bad("not a document of pymtml: %s" % (", ".join(map(str, list(content)[:6])) or "an empty object"))


def _check_findings(kind, content):
    """Raise _Bad if the driver could not be asked; give findings of pymtml 0.3 the form that they have now."""
    found = content["findings"]
    if not isinstance(found, list) or not found:
        raise _Bad("no findings")
    for one in found:
        if isinstance(one, dict) and "status" not in one:
            _renew(kind, content, one)
        if not isinstance(one, dict) or not all(isinstance(one.get(key), str) for key in ("check", "status", "text")):
            raise _Bad("findings is not a list of findings")
        one["gpus"] = [gpu for gpu in one["gpus"] if type(gpu) is int] if isinstance(one.get("gpus"), list) else []
        if one["status"] == CRITICAL and (kind == DOCTOR or one["check"] == "driver"):
            raise _Bad("%s: %s: %s" % (kind, one["check"], one["text"]))
    count = content.get("device_count")
    content["device_count"] = count if type(count) is int and 0 <= count <= MOST_CARDS else 0


_OLD_LEVELS = {"ok": OK, "note": NOTE, "warn": WARNING, "fail": CRITICAL, "n/a": NOT_AVAILABLE}
_OLD_CARDS = re.compile(r"GPU ([0-9,-]{1,200}): ")
_OLD_COUNT = re.compile(r"([0-9]{1,5}) card")


def _renew(kind, content, one):
    """Give a finding of pymtml 0.3 ``status`` and ``gpus``: doctor had the cards, and their number, in texts only."""
    level, text = one.get("level"), one.get("text")
    one["status"] = _OLD_LEVELS.get(level, level) if isinstance(level, str) else None
    if kind == HEALTH:
        one["gpus"] = [one.get("gpu")]
    elif isinstance(text, str):
        cards, count = _OLD_CARDS.match(text), _OLD_COUNT.match(text)
        if cards:
            one["gpus"], one["text"] = _numbers(cards.group(1)), text[cards.end() :]
        elif count and one.get("check") == "devices":
            content["device_count"] = int(count.group(1))


def _numbers(text):
    """The numbers of cards in a text such as 0-3,5 (list)."""
    try:
        return list(map(int, hostlist.unfold("[%s]" % text)))
    except ValueError:
        return []
