"""What people read first: the pictures of the documents show what programs print now."""

import importlib.util
import os
import re
import shutil
import sys

import pytest
import simulated

spec = importlib.util.spec_from_file_location("pictures", os.path.join(simulated.ROOT, "tools", "pictures.py"))
pictures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pictures)


def read(*parts):
    with open(os.path.join(simulated.ROOT, *parts), encoding="utf-8") as file:
        return file.read()


# ---- pictures ----


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_a_picture_shows_what_the_programs_print(name):
    if not shutil.which("gpustat", path=os.path.dirname(sys.executable)):
        pytest.skip("gpustat is not installed (extra demo)")
    shown = pictures.words_of_a_picture(os.path.join(pictures.FOLDER, name))
    assert shown == pictures.words(pictures.shown(pictures.PICTURES[name])), "make pictures draws it anew"
    assert len([word for word in shown if word == "S5000"]) == 16  # eight cards, twice


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_a_picture_needs_nothing_from_outside(name):
    """No font, no script, no address but the name of the format."""
    text = read("docs", "pictures", name)
    assert re.findall(r"\w+://[^\"'\s)]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|@font-face|<script|<image|href=", text)
