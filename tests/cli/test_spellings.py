"""The options of nvidia-smi by all their spellings, with what they take, as `nvidia-smi -h` of 580 lists them."""

import os
import re
import types

import pytest
import simulated
from command import invoke
from inside import Unknown, cells, errors, language, options_of, parse, setters, spelled_options

import pymtml

# "=" stands behind those that take a value, "[=]" behind those that may.
LISTED = """
-h --help / -V -v --version / -L --list-gpus / -B --list-excluded-gpus / -q --query / -u --unit / -x --xml-format /
-a / --dtd / -d= --display= / -i= --id= / -f= --filename= / -l[=] --loop[=] / -lms[=] --loop-ms[=] / --format[=]
-pm= --persistence-mode= / -e= --ecc-config= / -p= --reset-ecc-errors= / -c= --compute-mode= / --gom= /
-r[=] --gpu-reset[=] / -vm= --virt-mode= / -lgc= --lock-gpu-clocks= / -rgc --reset-gpu-clocks /
-lmc= --lock-memory-clocks= / -rmc --reset-memory-clocks / -lmcd= --lock-memory-clocks-deferred= /
-rmcd --reset-memory-clocks-deferred / -ac= --applications-clocks= / -rac --reset-applications-clocks /
-acp= --applications-clocks-permission= / -pl= --power-limit= / -cc= --cuda-clocks= / -am= --accounting-mode= /
-caa --clear-accounted-apps / --auto-boost-default= / --auto-boost-permission= / -mig= --multi-instance-gpu= /
-gtt= --gpu-target-temp= / -den= --dram-encryption= / -dm= --driver-model= / -fdm= --force-driver-model= /
--set-hostname= / --get-hostname / -t= --toggle-led= / --debug= / -col --columns /
-m= --mode= / -sc= --scope= / -eow --error-on-warning / --force
--query-gpu= / --query-compute-apps= / --query-retired-pages= / --query-remapped-rows= / --query-supported-clocks= /
--query-accounted-apps= / --help-query-gpu / --help-query-compute-apps / --help-query-retired-pages /
--help-query-remapped-rows / --help-query-supported-clocks / --help-query-accounted-apps
--json / --watch[=] / --count= / --compact
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


def helps():
    """{subcommand, or "nvidia-smi": [(spellings of an option, whether it changes something)]} of nvidia-smi 580."""
    with open(os.path.join(os.path.dirname(__file__), "captures", "options.txt"), encoding="ascii") as file:
        found = re.findall(r"^(\S+):((?: .*\n)+)", file.read(), re.M)
    return {name: [(word.lstrip("!").split(","), word[0] == "!") for word in text.split()] for name, text in found}


HELPS = helps()


@pytest.mark.parametrize("name", HELPS)
def test_each_option_of_the_genuine_helps_is_known(name):
    """And no hint names one that changes something."""
    known, changing = list(language.BY_SPELLING), ()
    if name != "nvidia-smi":
        known, changing = (
            [spelling for spellings, _ in spelled_options(lines) for spelling in spellings]
            for lines in (options_of(name)[0], setters(name))
        )
    assert {spelling for spellings, _ in HELPS[name] for spelling in spellings} <= set(known)
    if name == "nvidia-smi":
        with pytest.raises(errors.CommandError) as refused:
            language.parse(["--reset-gpu-clock"])
        assert "mean" not in refused.value.hint
        return
    texts = list(filter(None, options_of(name)[0].values()))
    assert len(set(texts)) == len(texts)
    # All but -h and what is refused, which is left out of these four, have a line in the help.
    assert len(options_of(name)[0]) - len(texts) == {"nvlink": 16, "mig": 5, "vgpu": 25, "dmon": 3}.get(name, 1)
    assert set(changing) == {spelling for spellings, changes in HELPS[name] if changes for spelling in spellings}
    for spelling in changing:
        with pytest.raises(errors.CommandError) as refused:
            parse([spelling + "x"], name)
        assert not set(changing).intersection(refused.value.hint.replace("?", "").split())


EVERYWHERE = "id filename loop loop-ms"
# A question, the module that answers it, and all options that may stand beside it
BESIDE = [
    ("--query-gpu=name", "query", EVERYWHERE + " format"),
    ("--query-compute-apps=pid", "query", EVERYWHERE + " format"),
    ("-q", "sections", EVERYWHERE + " a unit xml-format display"),
    ("-q -x", "xml_document", EVERYWHERE + " a unit"),
    ("-q -d ECC", "sections", EVERYWHERE + " a unit"),
    ("--json", "json_document", EVERYWHERE),
    (
        "-i 0",
        "table",
        "watch compact columns json query a mode scope "
        + " ".join((EVERYWHERE,) + language.QUERIES + tuple(language.MODIFICATIONS)),
    ),
    ("-pm 1", "modify", "id mode scope error-on-warning force " + " ".join(language.MODIFICATIONS)),
    ("-L", "listing", ""),
    ("-B", "listing", ""),
    ("--version", "usage", ""),
    ("-h", "usage", ""),
    ("--help-query-gpu", "query", ""),
]


def test_a_loop_of_so_many_samples():
    """-c is nvidia-smi's compute mode, but not beside a loop; under its name it stays that."""
    count = lambda *arguments: language.parse(arguments).count  # noqa: E731
    assert count("-l", "1", "-c", "3") == count("-c=3", "-lms") == count("--watch", "--count", "3") == 3
    assert count("-q", "-l") == 0 and language.parse(["-c", "0"]).question == "modification"
    for wrong in ("--count 3", "-l -c 0", "-l -c x", "-l --count=-1", "-L --count 2"):
        result = invoke(*wrong.split())
        assert (result.status, result.stdout) == (2, ""), wrong
    for line, lines in (
        ("--query-gpu=index --format=csv,noheader -i 0", 2),
        ("--json -i 0", 2),
        ("--compact -i 0", 14),
    ):
        with simulated.machine("s3000x2"):
            assert len(invoke(*line.split(), "-lms", "1", "-c", "2").lines) == lines, line
            theirs = invoke(*line.split(), "-lms", "1", "--count", "2", name="nvidia-smi")
            assert "is not recognized" in theirs.stdout, line


@pytest.mark.parametrize("question, module, beside", BESIDE, ids=[row[0] for row in BESIDE])
def test_what_may_stand_beside_a_question(question, module, beside):
    assert language.ANSWERED_BY[language.parse(question.split()).question].rpartition(".")[2] == module
    allowed = set()
    for name, (spellings, takes) in language.OPTIONS.items():
        try:
            language.parse(question.split() + [spellings[0] + "=1" * (takes == language.NEEDED)])
            allowed.add(name)
        except errors.CommandError as error:
            assert error.status in (2, 255) and error.text
    given = {language.BY_SPELLING[word] for word in question.split() if word in language.BY_SPELLING}
    assert allowed - given == set(beside.split()) - given


@pytest.mark.parametrize(
    "arguments, seconds",
    [
        ("-l", 5),
        ("-lms", 5),
        ("--watch", 2),
        ("-l 3", 3),
        ("-lms 250", 0.25),
        ("--watch=0.5", 0.5),
        ("-l=999999999", 999999999),
        ("-l=1000000000", None),
        ("-l 0", None),
        ("-l 1.5", None),
        ("-lms 1.5", None),
        ("--watch=0", None),
        ("--watch=x", None),
    ],
)
def test_the_time_between_samples(arguments, seconds):
    if seconds is not None:
        assert language.parse(arguments.split()).seconds == seconds
        return
    with pytest.raises(errors.CommandError) as refused:
        language.parse(arguments.split())
    named = "--watch" if "watch" in arguments else "[-l(ms) | --loop(-ms)=]"
    assert refused.value.text == "provided %s value is incorrect. Loop frequency must be greater than 0" % named


class Card:
    """A card that answers what it is told, and does not know anything else."""

    parent = None

    def __init__(self, **answers):
        self.answers = answers

    def ask(self, query, *arguments):
        return self.answers.get(query.__name__, UNKNOWN)


@pytest.mark.parametrize(
    "watts, color", [(270, ""), (271, cells.YELLOW), (285, cells.YELLOW), (286, cells.RED), (300, cells.RED), (30, "")]
)
def test_power_near_its_limit_is_colored(watts, color):
    """Yellow above 90 %, red above 95 %."""
    card = Card(nvmlDeviceGetPowerUsage=watts * 1000, nvmlDeviceGetEnforcedPowerLimit=300000)
    assert cells.power(card).color == color


@pytest.mark.parametrize("used, color", [(90, ""), (91, cells.YELLOW), (95, cells.YELLOW), (96, cells.RED)])
def test_memory_that_is_nearly_full_is_colored(used, color):
    info = types.SimpleNamespace(used=used << 20, total=100 << 20)
    cell = cells.memory(Card(nvmlDeviceGetMemoryInfo=info))
    assert (cell.color, cell.text.split()) == (color, ["%dMiB" % used, "/", "100MiB"])


def test_a_card_without_memory_is_not_full():
    assert cells.memory(Card(nvmlDeviceGetMemoryInfo=types.SimpleNamespace(used=0, total=0))).color == ""


UNKNOWN = Unknown(pymtml.NVMLError_NotSupported())


@pytest.mark.parametrize(
    "limit, celsius, color",
    [(85, 74, ""), (85, 75, cells.YELLOW), (85, 84, cells.YELLOW), (85, 85, cells.RED), (85, UNKNOWN, "")]
    # A card that tells no limit, or that tells 0 or less
    + [(limit, celsius, color) for limit in (UNKNOWN, 0, -1) for celsius, color in ((79, ""), (80, cells.YELLOW))]
    + [
        (limit, celsius, color)
        for limit in (UNKNOWN, 0, -1)
        for celsius, color in ((89, cells.YELLOW), (90, cells.RED))
    ]
    + [(1, 1, cells.RED)],
)
def test_a_temperature_near_its_limit_is_colored(limit, celsius, color):
    """Yellow ten degrees below it."""
    card = Card(nvmlDeviceGetTemperature=celsius, nvmlDeviceGetTemperatureThreshold=limit)
    cell = cells.temperature(card)
    assert (cell.color, cell.text) == (color, "N/A" if celsius is UNKNOWN else "%dC" % celsius)


@pytest.mark.parametrize(
    "modes, count, text, color",
    [([1, 0], 0, "0", ""), ([1, 0], 1, "1", cells.RED), ([0, 1], 1, "Off", ""), ([1, 1], UNKNOWN, "N/A", "")]
    + [(UNKNOWN, 2, "2", cells.RED), (UNKNOWN, UNKNOWN, "N/A", "")],
)
def test_errors_are_colored_where_ecc_is_on(modes, count, text, color):
    cell = cells.uncorrected(Card(nvmlDeviceGetTotalEccErrors=count, nvmlDeviceGetEccMode=modes))
    assert (cell.text, cell.color) == (text, color)


@pytest.mark.parametrize(
    "show, answer, text",
    [
        (cells.division, [1, 0], "Enabled"),
        (cells.division, [0, 1], "Disabled"),
        (cells.division, UNKNOWN, "N/A"),
        (cells.fan, 0, "0%"),
        (cells.fan, UNKNOWN, "N/A"),
        (cells.fan, Unknown(pymtml.NVMLError_GpuIsLost()), "ERR!"),
    ],
)
def test_short_words_of_the_table(show, answer, text):
    query = {cells.division: "nvmlDeviceGetMigMode", cells.fan: "nvmlDeviceGetFanSpeed"}[show]
    assert show(Card(**{query: answer})) == text


@pytest.mark.parametrize("state, word", [(1, "On"), (0, "Off"), (UNKNOWN, "N/A")])
def test_a_feature_is_on_or_off(state, word):
    assert cells.switched(state) == word
