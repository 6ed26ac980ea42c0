"""A next MTML, as AGENTS.md tells it, is a change of few files, and whatever is left out is named.

The steps are in next_mtml.py; they are done in a copy of the project.
"""

import functools
import json
import os
import re
import sys

import next_mtml
import pytest
import simulated

sys.path.insert(0, os.path.join(simulated.ROOT, "tools"))
import generate_api  # noqa: E402

ASK_FOR = "mtmlDeviceGetModuleId|mtmlDeviceGetFabricInfo|c_mtmlFabricInfo_t|nvmlDeviceGetModuleId"


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A copy in which all is done."""
    copy = next_mtml.Copy(tmp_path_factory.mktemp("next") / "project")
    for step in next_mtml.STEPS:
        copy.do(step)
    assert copy.generate() == (0, "")
    assert copy.build() == (0, "")
    assert copy.record() == (0, "")
    return copy


def test_the_recipe(complete):
    assert complete.generate("--check") == (0, "")
    status, output = complete.test(
        "simulator/tests/test_exports.py",
        "simulator/tests/test_profiles.py::test_keys_beyond_the_header",
        "tests/abi/test_header.py",
        "tests/test_module_map.py",
        "tests/tools/test_coverage_doc.py",
        "tests/test_native_functions.py",
        "-k",
        "not test_result or ModuleId or FabricInfo",
    )
    assert status == 0, output[-3000:]
    tests = ["tests/test_native_abi.py", "tests/test_values.py", "tests/test_surface.py"]
    for name in ("a_captured_machine_answers_as_the_original", "a_captured_library_lacks_what_the_original_lacks"):
        tests.append("tests/cli/test_capture.py::test_" + name)
    status, output = complete.test(*tests)
    assert status == 0, output[-3000:]


def test_what_it_takes(complete):
    """Fourteen files: eight by hand, in which each name is typed eight times at most; six are generated or recorded."""
    files = set(next_mtml.changed(complete))
    assert len(complete.written) <= 8, sorted(complete.written)
    others = "docs/coverage.md facts/card_support.csv mtml_2.2.0.h simulator/src/functions.h tests/captured.ini"
    assert files - set(complete.written) == set(others.split()) | {"pymtml_cli/health/resting.txt"}
    typed = "\n".join(complete.written.values())
    for name in (next_mtml.NUMBER, next_mtml.STRUCT, "[Mm]tmlFabricInfo", "nvmlDeviceGetModuleId"):
        count = len(re.findall(r"\b(?:FUNCTION_|c_)?%s(?:_t)?\b" % name, typed))
        assert 0 < count <= 8, (name, count)


# Step that is left out: the generator, or the test with its name, that says so, and how.
OMISSIONS = [
    (next_mtml.meanings, "reference", None, "describe the fields of c_mtmlFabricInfo_t"),
    (next_mtml.facade, "refusals", None, "nvmlDeviceGetModuleId has no row in facts/refusals.csv (group,name,checks"),
    (
        next_mtml.simulation,
        "api",
        None,
        "the simulator lacks mtmlDeviceGetModuleId: write it in a file of simulator/src",
    ),
    (next_mtml.profile, "api", None, "no file of simulator/profiles has the key module_id"),
    (next_mtml.readme, "api", None, "simulator/README.md does not say what the key fabric_clique is"),
    (
        next_mtml.refusal,
        "tests/tools/test_coverage_doc.py",
        "reason",
        "facts/refusals.csv has rows of functions that return a value: nvmlDev",
    ),
    (next_mtml.values, "tests/test_values.py", "left_out", "tests/test_values.py has no case of nvmlDeviceGetModuleId"),
    (
        next_mtml.capture,
        "tests/cli/test_capture.py",
        "as_the_original and s5000x8",
        "pymtml_cli/capture.txt does not write down what these answer",
    ),
]


def test_each_step_is_here():
    assert [step for step in next_mtml.STEPS if step is not next_mtml.facts] == sorted(
        (entry[0] for entry in OMISSIONS), key=next_mtml.STEPS.index
    )


@pytest.mark.parametrize("step, named_by, test, words", OMISSIONS, ids=[entry[0].__name__ for entry in OMISSIONS])
def test_what_is_left_out_is_named(step, named_by, test, words, complete):
    with complete.without(step):
        if test is None:
            status, output = complete.generate("--check", names=[named_by])
        else:
            status, output = complete.test(named_by, "-k", test)
        assert status == 1 and words in output, output[-3000:]


UNCOVERED = """
import sys
sys.path.insert(0, "tests")
import native_calls as calls
print(sorted(set(calls.FUNCTIONS) - set(calls.CALLS) - set(calls.LIFECYCLE)))
"""


@pytest.mark.parametrize(
    "name, keys",
    [
        (next_mtml.STRUCT, ["fabric_clique", "fabric_state", "fabric_health"]),  # more than the struct has fields
        (next_mtml.NUMBER, []),
        (next_mtml.NUMBER, ["module_id", "module_part"]),
    ],
)
def test_a_function_whose_call_does_not_follow_is_named(name, keys, complete):
    """tests/test_native_functions.py says of such that native_calls.py must tell how to call it."""
    text = complete.read("facts/mtml_api.json")
    api = json.loads(text)
    api["functions"][name]["keys"] = dict.fromkeys(keys, "uint")
    try:
        complete.write("facts/mtml_api.json", json.dumps(api))
        assert complete.python("-c", UNCOVERED) == (0, "['%s']\n" % name)
    finally:
        complete.write("facts/mtml_api.json", text)
    assert complete.python("-c", UNCOVERED) == (0, "[]\n")


def test_what_was_not_generated_is_named(tmp_path):
    """Of the facts alone, and then what no generator can write: a struct in a struct, and a function with a text."""
    copy = next_mtml.Copy(tmp_path / "project")
    copy.do(next_mtml.facts)
    status, output = copy.generate("--check", names=["api"])
    assert status == 1 and "make generate" in output
    api = json.loads(copy.read("facts/mtml_api.json"))
    api["structs"]["MtmlFabricInfo"]["fields"][0].update(ctype="struct (anonymous)", fields=[])
    api["functions"][next_mtml.NUMBER]["params"][1]["ctype"] = "char *"
    copy.write("facts/mtml_api.json", json.dumps(api))
    status, output = copy.generate(names=["api"])
    assert status == 1 and "no class c_mtmlFabricInfo_t: write it under Structs, then make generate\n" in output
    assert "mtmlDeviceGetModuleId: write it under Functions outside the 2.2.0 header\n" in output


def test_a_wrong_slot_is_named(complete):
    """In C it would be a handle of another kind, which ends the interpreter."""
    text = complete.read("pymtml.py")
    right, wrong = ('_query(_UInt(), "mtmlDeviceGetModuleId", "%s"' % slot for slot in ("_device", "_gpu"))
    assert right in text
    try:
        complete.write("pymtml.py", text.replace(right, wrong))
        status, output = complete.generate("--check", names=["api"])
    finally:
        complete.write("pymtml.py", text)
    assert status == 1 and "pymtml.py passes the slot _gpu to mtmlDeviceGetModuleId, which takes a MtmlDevice" in output


# What somebody forgets or mistypes in facts/mtml_api.json: (place, word, what stands there or LACKING, what names it)
LACKING = object()
NUMBER, STRUCT = ("functions", next_mtml.NUMBER), ("structs", "MtmlFabricInfo")
FORGOTTEN = {
    NUMBER: ("mtmlDeviceGetModuleId", "since group returns params errors notes keys"),
    NUMBER + ("params", 1): ("mtmlDeviceGetModuleId, parameter moduleId", "ctype dir role"),
    STRUCT: ("struct MtmlFabricInfo", "since notes size align fields"),
    STRUCT + ("fields", 1): ("struct MtmlFabricInfo, field state", "offset size"),
}
SLIPS = [
    (place, word, LACKING, "%s lacks `%s`" % (what, word))
    for place, (what, words) in FORGOTTEN.items()
    for word in words.split()
] + [
    (NUMBER + ("params", 1), "name", LACKING, "mtmlDeviceGetModuleId, parameter ? lacks `name`"),
    (NUMBER, "since", "2,3", "mtmlDeviceGetModuleId: `since` is a version such as 2.3, or undocumented"),
    (NUMBER, "since", "2.2.0", "mtml_2.2.0.h does not declare it, so `since` is a later version"),
    (NUMBER, "errors", ["MTML_ERROR_LATE"], "Id: `errors` MTML_ERROR_LATE is none of MTML_SUCCESS, "),
    (NUMBER, "keys", {"module_id": "u"}, "mtmlDeviceGetModuleId, key module_id: `type` u is none of bool, int, "),
    (NUMBER, "keys", {"name": "text"}, "mtmlDeviceGetModuleId: the key name is another function's, give it a name of "),
    (NUMBER, "keys", {"fabric_state": "int"}, "mtmlDeviceGetFabricInfo: the key fabric_state is another function's"),
    (NUMBER, "devices", "CARDS", "mtmlDeviceGetModuleId: `devices` CARDS is none of ALL, PHYSICAL, "),
    (NUMBER, "min_generation", "S5000", "mtmlDeviceGetModuleId: `min_generation` S5000 is none of ANY, SUDI, "),
    (NUMBER + ("params", 1), "ctype", "MtmlNews *", "parameter moduleId: nothing is known of its type MtmlNews *: "),
    (NUMBER + ("params", 1), "dir", "answer", "moduleId: `dir` answer is none of in, out, in_array, out_array"),
    (STRUCT + ("fields", 1), "ctype", "MtmlNews", "nothing is known of its type MtmlNews: describe it in "),
    (("enums",), "MtmlNews", {"MTML_NEWS": 0}, "enum_types lacks `MtmlNews`"),
    (("enum_types",), "MtmlNews", {"size": 4, "signed": False, "since": "2.3"}, "enums lacks `MtmlNews`"),
    (("enum_types",), "MtmlNews", {}, "enum_types, MtmlNews lacks `size`, `signed`, `since`"),
]


@pytest.mark.parametrize("place, word, value, named", SLIPS)
def test_slips_in_the_facts_are_named(place, word, value, named, complete):
    api = json.loads(complete.read("facts/mtml_api.json"))
    assert generate_api.slips(api) == []
    entry = functools.reduce(lambda outer, key: outer[key], place, api)
    if value is LACKING:
        del entry[word]
    else:
        entry[word] = value
    assert named in "\n".join(generate_api.slips(api))
