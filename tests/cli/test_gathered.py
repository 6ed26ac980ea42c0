"""gathered: which host said what, for each form in which it comes; what compare makes of it is in test_compare.py."""

import io
import json
import sys

import pytest
from inside import gathered

GOOD = {"schema": 1, "device_count": 0, "devices": []}
FAILED = '{\n"verdict": "x",\n"findings": [{"check": "init", "level": "fail", "text": "no library"}]\n}\n'
TEXT = json.dumps(GOOD)
FOUR = [json.dumps(dict({"host": "node%d" % number}, **GOOD)) for number in range(3)]
CUT = ("node1", "cut off after 25 characters")
HUNG = '{"schema": 1, "findings": [{"check": "driver", "level": "CRITICAL", "text": "no answer within 20 seconds"}]}'
LATER, NO_DOCUMENT = "schema %s is of a later pymtml; this one reads 2", "not a document, but: "
ONE_VIEW = "a document of one view: only --json, health --json and doctor --json can be compared"
CUT_OFF = '{"schema": 1, "devices": {"a": 1}'  # its end looks like that of a document
BROKEN = '{"schema": 1, "devices"}', '\n{"schema": "1}'


def no_json(text):
    """What Python says of a text that is no JSON."""
    with pytest.raises(ValueError) as raised:
        json.loads(text)
    return "not JSON: %s" % raised.value


def told(found):
    """[(host, kind, or the reason why there is none)]"""
    return [(one.host, one.kind if isinstance(one, gathered.Document) else one.reason) for one in found]


@pytest.mark.parametrize(
    "text, title, expected",
    [
        (json.dumps(GOOD), "a", [("a", "json")]),
        (json.dumps(dict(GOOD, host="b")), None, [("b", "json")]),
        # What is no document
        ("", "a", [("a", "empty")]),
        (" \n\n", "a", [("a", "empty")]),
        ("bash: pymtml: command not found\n", "a", [("a", NO_DOCUMENT + "bash: pymtml: command not found")]),
        ('{"schema": 1, "error": "no library", "status": 12}', "a", [("a", "reports: no library")]),
        ('{"schema": 3, "devices": []}', "a", [("a", LATER % "3")]),
        ('{"schema": 2, "devices": []}', "a", [("a", ONE_VIEW)]),
        ('{"schema": true, "devices": []}', "a", [("a", LATER % "True")]),
        ('{"schema": "%s", "devices": []}' % ("x" * 21), "a", [("a", LATER % ("x" * 17 + "..."))]),
        ('{"fruit": 1}', "a", [("a", "not a document of pymtml: fruit")]),
        ("{}", "a", [("a", "not a document of pymtml: an empty object")]),
        ('{"schema": 1, "devices": 3}', "a", [("a", "devices is not a list of objects")]),
        ('{"schema": 1, "device_count": 1, "devices": [1]}', "a", [("a", "devices is not a list of objects")]),
        ('{"schema": 1, "device_count": 1, "devices": []}', "a", [("a", "counts 1 devices and lists 0")]),
        ('{"schema": 1, "devices": ' + "[" * 100000, "a", [("a", "JSON nested too deeply")]),
        ('{"schema": 1, "findings": []}', "a", [("a", "no findings")]),
        ('{"schema": 1, "findings": [{"check": 1}]}', "a", [("a", "findings is not a list of findings")]),
        (HUNG, "a", [("a", "health: driver: no answer within 20 seconds")]),
        (FAILED, "a", [("a", "doctor: init: no library")]),
        (CUT_OFF, "a", [("a", "cut off after 33 characters")]),
        (CUT_OFF + "\n \n", "a", [("a", "cut off after 33 characters")]),
        (BROKEN[0], "a", [("a", no_json(BROKEN[0]))]),
        (BROKEN[1], "a", [("a", no_json(BROKEN[1].strip()))]),
        ('{"schema": NaN}', "a", [("a", "not JSON: NaN is not a number")]),
        (json.dumps(dict.fromkeys("abcdef")), "a", [("a", "not a document of pymtml: a, b, c, d, e, f")]),
        (json.dumps(dict.fromkeys("abcdefg")), "a", [("a", "not a document of pymtml: a, b, c, d, e, f")]),
        # The next host is still read, also where no line end comes between
        (FOUR[0] + FOUR[1][:25] + FOUR[2], None, [("node0", "json"), CUT, ("node2", "json")]),
        ("\n".join([FOUR[0], FOUR[1][:25], FOUR[2]]), None, [("node0", "json"), CUT, ("node2", "json")]),
        (
            'a: %s\nb: {"schema": 1,\nc: sh: not found\n' % TEXT,
            None,
            [("a", "json"), ("b", "cut off after 13 characters"), ("c", NO_DOCUMENT + "sh: not found")],
        ),
        # Lines with the host, or with the number of a task, in front
        ("a: %s\nb: \nb:\n" % json.dumps(GOOD), None, [("a", "json"), ("b", "not a document, but: nothing")]),
        ("3: %s\n" % json.dumps(GOOD), None, [("task 3", "json")]),
        ("3: %s\n" % json.dumps(dict(GOOD, host="c")), None, [("c", "json")]),
        ("".join("a: %s\n" % line for line in FAILED.splitlines()), None, [("a", "doctor: init: no library")]),
    ],
)
def test_what_a_text_says_of_which_host(text, title, expected):
    assert told(gathered.parse(text, title)) == expected


def test_a_number_that_is_too_long():
    """Some Pythons refuse it, others compare it."""
    (one,) = gathered.parse('{"schema": 1, "devices": ' + "9" * 5000 + "}", "a")
    assert isinstance(one, gathered.Unreadable)


@pytest.mark.parametrize("length, shown", [(160, "x" * 160), (161, "x" * 157 + "...")])
def test_a_long_reason_is_cut(length, shown):
    assert gathered.Unreadable("a", "x" * length).reason == shown


def test_what_comes_through_a_pipe(monkeypatch):
    """Its bytes, whatever Python takes them for."""
    for before, host, after in (("", "standard input", b"\r\n\xff\r\n"), ("n1: ", "n1", b"\r\nn1: \xff\r\nn1:\r\n")):
        stdin = io.BytesIO(b"\xef\xbb\xbf" + (before + json.dumps(GOOD)).encode() + after)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin, "ascii"))
        assert told(gathered.read(["-"])) == [(host, "json")]


def test_the_files_of_a_folder(tmp_path):
    """Neither those that are hidden nor those in folders within; a folder without any is named."""
    (tmp_path / "empty" / "within").mkdir(parents=True)
    (tmp_path / "empty" / ".hidden").write_text("")
    (tmp_path / "full").mkdir()
    for name in ("b.json", "a", ".c.json"):
        (tmp_path / "full" / name).write_text(json.dumps(GOOD))
    found = gathered.read([str(tmp_path / "empty"), str(tmp_path / "full")])
    assert told(found) == [(str(tmp_path / "empty"), "a folder without files"), ("a", "json"), ("b", "json")]


def test_files_of_one_name(tmp_path):
    """As much of a path as tells it apart, without suffix; two that differ in it alone are two of one name."""
    for name in ("x/a.json", "y/a.json", "x/b.json", "x/b.txt", "y/c.out", "y/d.log", "y/e.dc1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(GOOD))
    found = gathered.read([str(tmp_path / "x"), str(tmp_path / "y")])
    whole = str(tmp_path / "x" / "b")
    assert [one.host for one in found] == ["x/a", whole, whole, "y/a", "c", "d", "e.dc1"]
