"""The package's README lists all there is; tests/test_documents.py runs its examples."""

import os
import re

import packaged


def readme():
    with open(os.path.join(packaged.PYTHON_FOLDER, "README.md"), encoding="utf-8") as file:
        return file.read()


def test_every_method_is_in_the_readme():
    """What a Simulator offers, and nothing that it does not."""
    source = os.path.join(packaged.PYTHON_FOLDER, "mtml_simulator", "session.py")
    with open(source) as file:
        body = file.read().partition("class Machine:")[2].partition("def attach(")[0]
    methods = set(re.findall(r"^    def ([a-z]\w*)\(", body, re.M))
    table = readme().partition("| method | does |")[2].partition("\n\n")[0]
    named = " ".join(re.findall(r"^\| ([^|]*) \|", table, re.M))
    assert set(re.findall(r"`(\w+)\(", named)) == methods
