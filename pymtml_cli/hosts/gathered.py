"""Reads what was gathered from many hosts: documents of `pymtml --json`, `health --json` and `doctor --json`.

The text is in files, of one or more hosts each, or comes through a pipe: documents one after another, lines with the
host in front (pdsh, clush, srun --label), or text below a head that names hosts (dshbak, clush -b). Anything that is
not a whole document becomes an Unreadable, with its host if that is known, so that no host is dropped silently.

The text is not trusted: in a folder only regular files are read, and the cost of reading has bounds.
"""

import collections
import copy
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
MOST_BROKEN = 100  # undecodable documents in a text; the rest of it is not read

# Where a document begins: a brace at the start of a line, or one before the first key of a document of pymtml
_BEGIN = re.compile(r'^\{|\{\s*"(?:schema|host|verdict)":', re.MULTILINE)
_HOST_KEY = re.compile(r'"host":\s*("(?:[^"\\]|\\.)*")')
# How lines begin in the output of two subcommands without --json
_TEXTS = {
    HEALTH: re.compile(r"(OK|NOTE|N/A|WARNING|CRITICAL) +[a-z]+: "),
    DOCTOR: re.compile(r"(ok   |note |warn |fail |n/a  ) \S+ +\S"),
}
# srun --label puts blanks before the numbers of tasks.
_HOST = r' *(\d+|[^\s:{"]\S*?):'
_PREFIX = re.compile(_HOST + "(?: (.*))?$")
_PREFIXED = re.compile('^%s \\{\\s*(?:$|")' % _HOST, re.MULTILINE)
_RULED = re.compile(r"^-{10,}\s*\n(\S+)(?: \(\d+\))?\s*\n-{10,}\s*$", re.MULTILINE)
# Messages of the launcher that ran the command, about a host or in general
_LAUNCHER = re.compile(r"(?:pdsh@\S+|srun|clush|slurmstepd): (?:error: )?(?:(\S+): )?(.*)$")


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
    try:
        if _PREFIXED.search(text):
            return _of_parts(_by_prefix(text), name)
        if _RULED.search(text):
            return _of_parts(_by_head(text), name)
    except _Bad as error:
        return [Unreadable(name, str(error))]
    found = _documents(text)
    kinds = [one.kind for one in found if isinstance(one, Document)]
    if title is not None and len(kinds) == len(set(kinds)):
        for one in found:
            one.host = title
    nameless = [one for one in found if one.host is None]
    for number, one in enumerate(nameless, 1):
        one.host = name if len(nameless) == 1 else "%s, document %d" % (name, number)
    return found


# ---- The host of a line ----


def _by_prefix(text):
    """(host, line) of lines with the host in front, (None, line) of others (iterator)."""
    for line in text.split("\n"):
        found = None if _LAUNCHER.match(line) else _PREFIX.match(line)
        yield (found.group(1), (found.group(2) or "") + "\n") if found else (None, line)


def _by_head(text):
    """(host, text) of text below heads that name hosts, (None, line) of lines before the first (iterator)."""
    before, *pieces = _RULED.split(text)
    yield from ((None, line) for line in before.split("\n"))
    for head, body in zip(pieces[::2], pieces[1::2]):
        yield from ((host, body) for host in _unfolded(head))


def _unfolded(text):
    try:
        return hostlist.unfold(text)
    except ValueError:
        return [text]


def _of_parts(parts, name):
    """Documents and Unreadables of what _by_prefix and _by_head find."""
    texts, remarks, rest = {}, {}, []  # remarks: the launcher's messages about hosts
    for host, text in parts:
        launcher = _LAUNCHER.match(text) if host is None else None
        if host is not None:
            texts.setdefault(host, []).append(text)
        elif launcher and launcher.group(1):
            for one in _unfolded(launcher.group(1)):
                remarks.setdefault(one, launcher.group(2))
        elif text.strip():
            rest.append(text)
        if len(texts) + len(remarks) > MOST_HOSTS:
            raise _Bad(hostlist.TOO_MANY % MOST_HOSTS)
    found, read = [], {}  # hosts that share a head share its text, which is read once
    for label, pieces in texts.items():
        text = "".join(pieces)
        if text not in read:
            read[text] = _documents(text)
        for one in map(copy.copy, read[text]):
            # srun --label puts numbers of tasks in front: the host is in the documents.
            one.host = (one.host or "task %s" % label) if label.isdigit() else label
            found.append(one)
    heard = {one.host for one in found}
    found += [Unreadable(host, text) for host, text in remarks.items() if host not in heard]
    if rest:
        found.append(Unreadable(name, "of no host: %s" % rest[-1]))
    return found


# ---- Documents ----


def _documents(text):
    """Documents and Unreadables of a text, each with the host that it names, or None (list)."""
    decoder, found, position, noise, broken = json.JSONDecoder(parse_constant=_no_number), [], 0, [], 0
    while True:
        begin = _BEGIN.search(text, position)
        noise.append(text[position : begin.start() if begin else len(text)])
        if not begin:
            break
        if broken > MOST_BROKEN or len(found) > MOST_HOSTS:
            text = "not read from character %d on: too many errors before it" % begin.start()
            return found + [Unreadable(None, text)]
        window, start = text, begin.start()
        if len(text) > LARGEST_DOCUMENT:
            window, start = text[start : start + LARGEST_DOCUMENT], 0
        try:
            content, end = decoder.raw_decode(window, start)
            position = begin.start() + end - start
            found.append(Document(_host(content), _kind(content), content))
        except _Bad as error:
            found.append(Unreadable(_host(content), str(error)))
        except (ValueError, RecursionError) as error:
            following = _BEGIN.search(text, begin.end())
            position = following.start() if following else len(text)
            if position - begin.start() > LARGEST_DOCUMENT:
                error = _Bad("a document of more than %d MiB" % (LARGEST_DOCUMENT >> 20))
            piece = text[begin.start() : min(position, begin.start() + LARGEST_DOCUMENT)]
            found.append(Unreadable(_named(piece), _broken(piece, error, start)))
            broken += 1
    if not found:
        said = [line for line in "".join(noise).split("\n") if line.strip()] or ["nothing"]
        for kind, line in _TEXTS.items():
            if any(map(line.match, said)):
                return [Unreadable(None, "the text of %s: only %s --json can be compared" % (kind, kind))]
        return [Unreadable(None, "not a document, but: %s" % said[-1])]
    return found


def _no_number(name):
    raise ValueError("%s is not a number" % name)


def _broken(piece, error, begin):
    """Why a piece of text is no document."""
    if isinstance(error, _Bad):
        return str(error)
    if isinstance(error, RecursionError):
        return "JSON nested too deeply"
    end = len(piece.rstrip())
    if getattr(error, "pos", 0) - begin >= end or not piece.rstrip().endswith("}"):
        return "cut off after %d characters" % end
    return "not JSON: %s" % error


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
