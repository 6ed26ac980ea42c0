"""Text of others is safe and as wide as it says, numbers are numbers: the functions that all of the command uses."""

import json
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from inside import number, text

NAMES = [
    ("plain name /usr/bin/python3", None),
    ("训练 \u0645\u062b\u0627\u0644 é", None),
    ("a\nb\tc", "a\\x0ab\\x09c"),
    ("\x1b[31m\x1b]0;x\x07\x08\x7f", "\\x1b[31m\\x1b]0;x\\x07\\x08\\x7f"),
    ("\x85\x9b1m", "\\x85\\x9b1m"),
    ("\u202eexe\u2066\u200f\u061c\u200b\ufeff", "\\u202eexe\\u2066\\u200f\\u061c\\u200b\\ufeff"),
    ("\u2028\u2029\xa0", "\\u2028\\u2029\\xa0"),
    ("\ufffe\uffff\ufdd0\U0001fffe\udc80", "\\ufffe\\uffff\\ufdd0\\U0001fffe\\udc80"),
]


@pytest.mark.parametrize("name, expected", NAMES)
def test_what_shows_nothing_is_escaped(name, expected):
    assert text.safe(name) == (name if expected is None else expected)
    assert text.safe(text.safe(name)) == text.safe(name)


def test_every_character():
    """But for planes of which nearly nothing is assigned: there the tags, and what is no character."""
    for code in [*range(0x20000), *range(0xE0000, 0xE0200), *range(0x2FFFE, sys.maxunicode, 0x10000), sys.maxunicode]:
        shown = text.safe(chr(code))
        assert shown.isprintable()
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp") or code & 0xFFFE == 0xFFFE:
            assert shown.startswith("\\") and int(shown[2:], 16) == code


@pytest.mark.parametrize("name, _", NAMES)
def test_documents_of_any_name(name, _):
    document = '<?xml version="1.0"?><a b="%s">%s</a>' % (text.xml(name), text.xml("<&>\"'" + name))
    element = ElementTree.fromstring(document.encode("ascii"))
    assert element.attrib["b"] == text.safe(name) and element.text == text.safe("<&>\"'" + name)
    parsed = json.loads(text.json({"name": [name, (name,)], name: 1}).encode("ascii").decode())
    assert parsed == {"name": [text.safe(name), [text.safe(name)]], text.safe(name): 1}


def test_numbers_without_a_value_are_null():
    shown = text.json([float("nan"), float("inf"), float("-inf"), 1.5, True, None, 7])
    assert json.loads(shown, parse_constant=pytest.fail) == [None, None, None, 1.5, True, None, 7]


@pytest.mark.parametrize(
    "name, columns",
    [("abc", 3), ("é", 1), ("e\u0300", 1), ("e\u0301", 1), ("a\u20dd", 1), ("中文", 4), ("ｱ", 1), ("Ａ", 2), ("", 0)],
)
def test_width(name, columns):
    assert text.width(name) == columns


@pytest.mark.parametrize("columns", range(9))
@pytest.mark.parametrize("name", ["中文中文", "abcdefgh", "a中b文c", "e\u0301" * 9])
def test_what_is_cut_fits(name, columns):
    for cut in (text.head, text.fit, text.tail):
        shown = cut(name, columns)
        assert text.width(shown) <= columns
        assert shown == name if text.width(name) <= columns else shown != name
        assert text.width(text.left(shown, columns)) == columns
    if columns > 3 and text.width(name) > columns:
        assert text.fit(name, columns).endswith("...") and text.tail(name, columns).startswith("...")


@pytest.mark.parametrize(
    "name, columns, head, fit, tail",
    [
        ("abcdefgh", 8, "abcdefgh", "abcdefgh", "abcdefgh"),
        ("abcdefgh", 7, "abcdefg", "abcd...", "...efgh"),
        ("abcdefgh", 4, "abcd", "a...", "...h"),
        ("abcdefgh", 3, "abc", "...", "..."),
        ("abcdefgh", 2, "ab", "..", ".."),
        ("abcdefgh", 0, "", "", ""),
        ("中文中文", 7, "中文中", "中文...", "...中文"),
        ("中文中文", 6, "中文中", "中...", "...文"),
        ("e\u0301e\u0301x", 2, "e\u0301e\u0301", "..", ".."),
    ],
)
def test_what_is_left_of_what_is_cut(name, columns, head, fit, tail):
    assert (text.head(name, columns), text.fit(name, columns), text.tail(name, columns)) == (head, fit, tail)


def test_blanks_stand_on_the_right_side():
    assert (text.left("ab", 4), text.left("中", 4)) == ("ab  ", "中  ")
    assert text.left("abcd", 4) == text.left("abcd", 2) == "abcd"


@pytest.mark.parametrize(
    "name, shown",
    [
        ('a<b>&"c"', "a&lt;b&gt;&amp;&quot;c&quot;"),
        ("&lt;", "&amp;lt;"),
        ("é中", "&#233;&#20013;"),
        ("\x1b\u202e", "\\x1b\\u202e"),
    ],
)
def test_text_in_a_document(name, shown):
    assert text.xml(name) == shown


def test_what_json_looks_like():
    assert text.json({"b": [1, "é"], "a": {}}) == '{\n  "b": [\n    1,\n    "\\u00e9"\n  ],\n  "a": {}\n}\n'


@pytest.mark.parametrize("written, whole, value", [("0", True, 0), ("007", True, 7), ("100", True, 100)])
def test_whole_numbers(written, whole, value):
    assert number(written, 0, 100) == value and type(number(written, 0, 100)) is int


@pytest.mark.parametrize("written, value", [("0.5", 0.5), ("30", 30.0), (".5", 0.5), ("5.", 5.0)])
def test_numbers_with_a_point(written, value):
    assert number(written, 0, 100, whole=False) == value


@pytest.mark.parametrize(
    "written",
    ["", ".", "²", "５", "٣", "-1", "+1", " 1", "1 ", "1_0", "1e3", "inf", "nan", "0x10", "1" * 5000, "101", "1.2.3"],
)
def test_what_is_no_number(written):
    assert number(written, 0, 100) is None and number(written, 0, 100, whole=False) is None


def test_as_many_digits_as_a_float_keeps():
    assert number("9" * 15, 0, 10**16) == number("9" * 15, 0, 10**16, whole=False) == 10**15 - 1
    for written in ("0" * 16, "9" * 16, "0." + "9" * 15):
        assert number(written, 0, 10**16) is None and number(written, 0, 10**16, whole=False) is None


def test_a_whole_number_has_no_point():
    assert number("1.0", 0, 100) is None
