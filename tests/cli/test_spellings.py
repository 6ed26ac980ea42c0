"""The options of nvidia-smi by all their spellings, with what they take, as `nvidia-smi -h` of 580 lists them."""

import pytest
import simulated
from command import invoke

from pymtml_cli import cells, language

# "=" stands behind those that take a value, "[=]" behind those that may.
LISTED = """
-h --help / --version / -L --list-gpus / -B --list-excluded-gpus / -q --query / -u --unit / -x --xml-format /
-d= --display= / -i= --id= / -f= --filename= / -l[=] --loop[=] / -lms[=] --loop-ms[=] / --format[=]
-pm= --persistence-mode= / -e= --ecc-config= / -p= --reset-ecc-errors= / -c= --compute-mode= / --gom= /
-r[=] --gpu-reset[=] / -vm= --virt-mode= / -lgc= --lock-gpu-clocks= / -rgc --reset-gpu-clocks /
-lmc= --lock-memory-clocks= / -rmc --reset-memory-clocks / -lmcd= --lock-memory-clocks-deferred= /
-rmcd --reset-memory-clocks-deferred / -ac= --applications-clocks= / -rac --reset-applications-clocks /
-acp= --applications-clocks-permission= / -pl= --power-limit= / -cc= --cuda-clocks= / -am= --accounting-mode= /
-caa --clear-accounted-apps / --auto-boost-default= / --auto-boost-permission= / -mig= --multi-instance-gpu= /
-gtt= --gpu-target-temp= / -den= --dram-encryption= / -dm= --driver-model= / -fdm= --force-driver-model= /
--set-hostname= / -m= --mode= / -sc= --scope= / -eow --error-on-warning
--query-gpu= / --query-compute-apps= / --query-retired-pages= / --query-remapped-rows= / --query-supported-clocks= /
--query-accounted-apps= / --help-query-gpu / --help-query-compute-apps / --help-query-retired-pages /
--help-query-remapped-rows / --help-query-supported-clocks / --help-query-accounted-apps
--json / --watch[=]
"""
TAKES = {"": None, "=": language.NEEDED, "[=]": language.OPTIONAL}


def spelled(entry):
    """(spellings, what the option takes) of an entry of the list."""
    words = [word.partition("[=]" if word.endswith("[=]") else "=") for word in entry.split()]
    (mark,) = {mark for _, mark, _ in words}
    return tuple(word for word, _, _ in words), TAKES[mark]


def test_each_option_has_its_spellings_and_takes_what_it_takes():
    listed = [
        spelled(entry) for line in LISTED.replace("/\n", "/ ").split("\n") for entry in line.split(" / ") if entry
    ]
    assert sorted(listed, key=str) == sorted(language.OPTIONS.values(), key=str)


@pytest.mark.parametrize(
    "arguments, advice",
    [
        (["-L", "--display=ECC"], "pymtml: -L and --display cannot be combined\n"),
        (["-L", "--bogus=1"], "pymtml: pymtml --help lists them\n"),
        (["--query-gpu=name", "--list-gpu"], "pymtml: did you mean --list-gpus? pymtml --help lists them\n"),
    ],
)
def test_the_advice_tells_an_option_in_the_wrong_place_from_one_that_there_is_not(arguments, advice):
    with simulated.machine("s80"):
        assert invoke(*arguments).stderr == advice


class Card:
    """A card that answers what it is told."""

    def __init__(self, **answers):
        self.answers = answers

    def ask(self, query, *arguments):
        return self.answers[query.__name__]


@pytest.mark.parametrize(
    "watts, color", [(270, ""), (271, cells.YELLOW), (285, cells.YELLOW), (286, cells.RED), (300, cells.RED), (30, "")]
)
def test_power_near_its_limit_is_colored(watts, color):
    """Yellow above 90 %, red above 95 %."""
    card = Card(nvmlDeviceGetPowerUsage=watts * 1000, nvmlDeviceGetEnforcedPowerLimit=300000)
    assert cells.power(card).color == color


def test_a_character_that_no_terminal_shows_is_captured_by_its_bytes(tmp_path):
    with simulated.machine("s3000x2", set=r"0.name=a\x07b\xc2\x85"):
        text = invoke("capture", "--unmasked").stdout
    assert text.isascii() and "name = a\\x07b\\xc2\\x85" in text.replace('"', "")
    file = tmp_path / "escaped.ini"
    file.write_text(text)
    with simulated.machine(str(file)):
        assert invoke("capture", "--unmasked").stdout == text
