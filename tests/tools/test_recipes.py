"""AGENTS.md's recipes for the command, a card and an nvidia-ml-py, followed in a copy: they name all that it takes."""

import json
import re

import next_mtml
import pytest
from genuine import distribution

TABLE, FIELDS, SECTIONS = "pymtml_cli/readings/table.py", "pymtml_cli/smi/fields.txt", "pymtml_cli/smi/sections.txt"
CHECKS, BY_HAND = "pymtml_cli/health/checks.py", "tests/cli/by_hand.txt"


def above(name, line, text):
    """What puts lines of text above one that a file has once."""
    return name, line, text + line


ROW = """\
    _count("pcie.link.gen.hostmax", asked(pymtml.nvmlDeviceGetMaxPcieLinkGeneration), json="pci.host_generation",
           compare=VALUE, series=("pcie_generation_host",)),
"""
HELP = """\
    "pcie_generation_host": ("pcie", as_it_is, (), "Greatest PCIe generation of the host's port."),
"""
VALUES = "pci_max_gen, number | pcie.link.gen.hostmax | PCI/GPU Link Info/PCIe Generation/Host Max"
VALUES += " | pci/pci_gpu_link_info/pcie_gen/max_host_link_gen | pci/host_generation | pcie_generation_host\n"
QUERY = '''\
def host_port(card, limits):
    """Whether the host's port is one of this century."""
    value = required("PCIe generation of the host", value_of(card, "pcie.link.gen.hostmax"))
    return well_or(WARNING, "generation %d" % value, value, 2, value < 2)


'''
ENTRY = """\
    Check("port", "WARNING: an old port", {host_port: "a port of this century"}, "buy another board"),
"""
EDGES = """\
host_port | pci_max_gen=2 | OK 2/2 | a port of this century
host_port | pci_max_gen=1 | WARNING 1/2 | generation 1
"""
# (file, what it has once, what stands there afterwards)
READING = [
    above(TABLE, '    _count("pcie.link.width.current"', ROW),
    above(TABLE, '    "pcie_replays_total": (', HELP),
    (FIELDS, "\nnone | pcie.link.gen.hostmax |", "\nreading | pcie.link.gen.hostmax |"),
    (SECTIONS, " Host Max | max_host_link_gen", " Host Max | max_host_link_gen | pcie.link.gen.hostmax"),
    above(BY_HAND, "pci_cur_width, lanes |", VALUES),
    above(CHECKS, "def pcie_replays(card, limits):", QUERY),
    above(CHECKS, '    Check("readings",', ENTRY),
    above(BY_HAND, "seen_processes | | OK", EDGES),
]
NEWS = """


def nvmlDeviceGetNews(handle, which):
    c_news = c_uint()
    fn = _nvmlGetFunctionPointer("nvmlDeviceGetNews")
    ret = fn(handle, c_uint(which), byref(c_news))
    _nvmlCheckReturn(ret)
    return c_news.value
"""
HELLO = '''\
"""hello: says hello."""

import sys

from pymtml_cli.arguments import argument_parser


def parser():
    parser = argument_parser("hello")
    parser.add_argument("--name", metavar="NAME", help="who")
    return parser


def run(arguments):
    sys.stdout.write("hello %s\\n" % parser().parse_args(arguments).name)
'''
SUBCOMMAND = [
    above(
        "pymtml_cli/subcommands.py", '    "health": Subcommand(', '    "hello": Subcommand("smi.hello", "say hello"),\n'
    ),
    above("docs/command.md", "## metrics\n", "## hello\n\nSays hello.\n\n"),
    above("tests/cli/expected/help.txt", "$ pymtml labels --help\n", "$ pymtml hello --help\n\n"),
]
# The tests that know all readings, series and checks, by file of tests/cli.
OF_COMMAND = {
    "checks": "limits_in_the_documents the_questions_call_many_functions a_sound_machine_is_ok no_failure_is_called_ok "
    "both_sides_of_each_edge each_question_has_an_edge a_number_that_cannot_be_is_never_ok",
    "compare": "what_tells_machines_apart each_key_of_the_schema_is_compared_or_left_out",
    "completion": "everything_is_in_the_script the_words_that_are_offered_are_those_that_the_command_takes "
    "all_options_that_help_names_are_offered",
    "distinct_values": "every_field sections xml json metrics columns_of_dmon other_machines capture",
    "doctor": "text_and_json_say_the_same what_is_well_was_asked_and_answered",
    "hostfacts": "numbers_in_what_health_says",
    "json": "all_documents_speak_one_dialect views_have_what_the_whole_has",
    "metrics": "series_are_those_of_the_table how_many_series_a_card_has the_checks_of_a_card "
    "the_page_in_the_documents_has_every_series a_number_that_cannot_be_is_no_value",
    "plausible": "no_output_has_a_number_that_cannot_be",
    "query": "fields_have_the_recorded_unit fields_have_their_other_names help_lists_fields_in_the_recorded_order "
    "every_field_answers_or_is_unknown",
    "rooms": "what_a_room_knows",
}
OF_CARD = """tests/test_cards.py tests/test_readme.py::test_no_number_of_a_document_is_stale
simulator/python/tests/test_promise.py::test_promise simulator/tests/test_profiles.py::test_the_shipped_profiles
simulator/tests/test_profiles.py::test_cards_in_readme simulator/tests/test_profiles.py::test_identities_differ
simulator/tests/test_profiles.py::test_text_of_every_key_comes_back[n1]
tests/cli/test_capture.py::test_a_captured_machine_answers_as_the_original[n1]
tests/cli/test_capture.py::test_the_generation_follows_from_the_pci_id"""
OF_NVIDIA_ML_PY = """tests/test_surface.py tests/tools/test_coverage_doc.py::test_every_refusal_has_its_reason
tests/tools/test_coverage_doc.py::test_every_public_function_has_its_line
tests/tools/test_coverage_doc.py::test_what_is_said_to_answer_does_and_nothing_else
tests/test_readme.py::test_the_version_of_nvidia_ml_py tests/test_readme.py::test_no_number_of_a_document_is_stale
tests/test_dropin_metadata.py::test_the_version_is_the_one_whose_names_are_here
tests/test_function_pointers.py::test_every_function_that_nvidia_ml_py_asks_for_is_there
tests/test_function_pointers.py::test_as_nvidia_ml_py_calls_them[distinct.ini-byref]"""


class Copy(next_mtml.Copy):
    """A copy of the project in which recipes are followed."""

    def follow(self, recipe):
        """Do what a recipe says; returns how many lines that takes."""
        typed = 0
        for name, old, new in recipe:
            text = self.read(name)
            assert text.count(old) == 1, (name, old)
            self.write(name, text.replace(old, new))
            typed += len([line for line in new.splitlines() if line and line not in old.splitlines()])
        return typed

    def make(self, *parts):
        """make generate record, of what the command changes."""
        for arguments in [("tools/generate.py", "--only", "man_page")] + [
            ("tools/record.py", "--only", part) for part in parts
        ]:
            status, output = self.python(*arguments)
            assert status == 0, output[-3000:]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """One for all of them: a test leaves what it did."""
    return Copy(tmp_path_factory.mktemp("recipes") / "project")


def test_a_reading_with_everything_and_a_subcommand(copy):
    """The reading, a field, lines of -q and -x, a key of --json, a series and a check: five files, fifteen lines."""
    assert len({name for name, _, _ in READING}) <= 5 and copy.follow(READING) <= 15
    copy.follow(SUBCOMMAND)
    copy.write("pymtml_cli/smi/hello.py", HELLO)
    copy.make("counts", "checks", "keys", "series", "expected", "screens")
    assert re.search(r"\n +Host Max +: [45]\n", copy.read("tests/cli/expected/details.txt"))
    assert "| `mthreads_gpu_pcie_generation_host` | | Greatest" in copy.read("docs/metrics.md")
    written = copy.read("docs/command.md")
    assert "| `port` | WARNING: an old port |" in written and "`host_generation`" in written
    assert "--name NAME  who" in copy.read("tests/cli/expected/help.txt")
    tests = ["tests/cli/test_%s.py::test_%s" % (file, name) for file in OF_COMMAND for name in OF_COMMAND[file].split()]
    status, output = copy.test(*tests)
    assert status == 0, output[-5000:]


def test_a_card(copy):
    """The first of a generation: a row of the table, a profile, a row of the simulator's README."""
    card = {"pci_device": ["0x7f00"], "generation": "NEXT", "capability": "9.1", "gpu_cores": 8, "src": ["a report"]}
    cards = json.loads(copy.read("facts/cards.json"))
    cards["cards"]["MTT N1"] = card
    copy.write("facts/cards.json", json.dumps(cards))
    profile = copy.read("simulator/profiles/s90.ini")
    given = {"name": "MTT N1", "generation": "NEXT", "pci_device_id": "0x7f001ed5", "musa_compute_capability": "9.1"}
    for key, value in given.items():
        profile = re.sub("(?m)^(    )?%s = .*" % key, "%s = %s" % (key, value), profile)
    copy.write("simulator/profiles/n1.ini", profile)
    copy.follow([above("simulator/README.md", "| `s90` |", "| `n1` | one MTT N1 |\n")])
    assert copy.generate() == (0, "")
    assert copy.build() == (0, "")
    assert copy.python("simulator/python/tests/test_promise.py")[0] == 0
    copy.make("counts", "json", "support")
    assert '127: "NEXT"' in copy.read("pymtml_cli/capture.py")
    status, output = copy.test(*OF_CARD.split())
    assert status == 0, output[-5000:]


def test_an_nvidia_ml_py(copy, tmp_path):
    """One with a function and an error code more, which need a row each."""
    genuine = distribution()
    text = genuine.locate_file("pynvml.py").read_text(encoding="utf-8")
    text = re.sub("(?m)^NVML_ERROR_UNKNOWN", "NVML_ERROR_NEWS = 31\nNVML_ERROR_UNKNOWN", text, count=1)
    (tmp_path / "pynvml.py").write_text(text + NEWS, encoding="utf-8")
    metadata = tmp_path / "nvidia_ml_py-99.1.2.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: nvidia-ml-py\nVersion: 99.1.2\n")
    copy.beside = str(tmp_path)
    assert copy.python("tools/record_surface.py", str(tmp_path / "pynvml.py")) == (0, "")
    assert copy.generate("--check", names=["errors", "refusals"])[0] == 1
    copy.follow(
        [
            above(
                "facts/refusals.csv", "Identity,nvmlDeviceGetPdi,", "Identity,nvmlDeviceGetNews,handle,news,no news\n"
            ),
            above("facts/errors.csv", "NVML_ERROR_UNKNOWN,,", "NVML_ERROR_NEWS,,News,There are news.\n"),
        ]
    )
    assert copy.generate(names=["errors", "vocabulary", "catalogue", "refusals", "coverage"]) == (0, "")
    copy.make("version", "counts")
    assert "nvidia-ml-py==99.1.2" in copy.read("pyproject.toml")
    status, output = copy.test(*OF_NVIDIA_ML_PY.split())
    assert status == 0, output[-5000:]
