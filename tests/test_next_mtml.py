"""A next MTML, as AGENTS.md tells it, is a change of twelve files, and whatever is left out is named.

The steps are in next_mtml.py; they are done in a copy of the project.
"""

import re

import next_mtml
import pytest

ASK_FOR = "mtmlDeviceGetModuleId|mtmlDeviceGetFabricInfo|c_mtmlFabricInfo_t|nvmlDeviceGetModuleId"


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A copy in which all is done."""
    copy = next_mtml.Copy(tmp_path_factory.mktemp("next") / "project")
    for step in next_mtml.STEPS:
        step(copy)
    assert copy.generate() == (0, "")
    assert copy.build() == (0, "")
    return copy


def test_the_recipe(complete):
    assert complete.generate("--check") == (0, "")
    status, output = complete.test(
        "simulator/tests/test_exports.py",
        "simulator/tests/test_profiles.py::test_keys_beyond_the_header",
        "tests/abi/test_header.py",
        "tests/test_module_map.py",
        "tests/test_coverage_doc.py",
        "tests/test_native_functions.py",
        "-k",
        "not test_result or ModuleId or FabricInfo",
    )
    assert status == 0, output[-3000:]
    status, output = complete.test(
        "tests/test_native_abi.py", "tests/test_values.py", "tests/test_surface.py", "-k", "ModuleId or FabricInfo"
    )
    assert status == 0, output[-3000:]
    assert int(re.search(r"(\d+) passed", output).group(1)) > 10


def test_what_it_takes(complete):
    """At most twelve files, and generated pages of the reference; each name is typed eight times at most."""
    files = [name for name in next_mtml.changed(complete) if not name.startswith("docs/reference/")]
    assert len(files) <= 12, files
    assert {name for name in files if name not in complete.written} == {
        "docs/coverage.md",
        "mtml_2.2.0.h",
        "simulator/src/functions.h",
    }
    typed = "\n".join(complete.written.values())
    for name in (next_mtml.NUMBER, next_mtml.STRUCT, "[Mm]tmlFabricInfo", "nvmlDeviceGetModuleId"):
        count = len(re.findall(r"\b(?:FUNCTION_|c_)?%s(?:_t)?\b" % name, typed))
        assert 0 < count <= 8, (name, count)


# Step that is left out: what names it, and how.
OMISSIONS = [
    (next_mtml.struct, None, "pymtml.py has no class c_mtmlFabricInfo_t"),
    (next_mtml.meanings, None, "facts/struct_fields.csv says what the fields of c_mtmlFabricInfo_t are"),
    (next_mtml.native_number, None, "pymtml.py does not define mtmlDeviceGetModuleId: write it in section 8"),
    (next_mtml.native_struct, None, "pymtml.py does not define mtmlDeviceGetFabricInfo: write it in section 8"),
    (next_mtml.facade, None, "nvmlDeviceGetModuleId has no row in facts/refusals.csv: write one, or the function"),
    (next_mtml.simulation, None, "the simulator lacks mtmlDeviceGetModuleId: write it in a file of simulator/src"),
    (next_mtml.profile, None, "no file of simulator/profiles has the key module_id"),
    (next_mtml.readme, None, "simulator/README.md does not say what the key fabric_clique is"),
    (next_mtml.refusal, "tests/test_coverage_doc.py", "facts/refusals.csv has rows of functions that answer: nvmlDev"),
    (
        next_mtml.calls,
        "tests/test_native_functions.py",
        "tests/native_calls.py does not say how to call mtmlDeviceGetF",
    ),
    (next_mtml.values, "tests/test_values.py", "tests/test_values.py has no case of nvmlDeviceGetModuleId"),
    (next_mtml.capture, "tests/cli/test_capture.py", "pymtml_cli/capture.py does not write down what these answer"),
]
TESTS = {
    next_mtml.refusal: "reason",
    next_mtml.calls: "covered",
    next_mtml.values: "answer or covered",
    next_mtml.capture: "as_the_original and s5000x8",
}


def test_each_step_is_here():
    assert [step for step in next_mtml.STEPS if step is not next_mtml.facts] == sorted(
        (step for step, _, _ in OMISSIONS), key=next_mtml.STEPS.index
    )


@pytest.mark.parametrize("step, tests, words", OMISSIONS, ids=[step.__name__ for step, _, _ in OMISSIONS])
def test_what_is_left_out_is_named(step, tests, words, complete):
    with complete.without(step):
        if tests is None:
            status, output = complete.generate("--check")
        else:
            status, output = complete.test(tests, "-k", TESTS[step])
        assert status == 1 and words in output, output[-3000:]


def test_what_was_not_generated_is_named(complete):
    """The facts alone: make lint says what to do next."""
    with complete.without(*[step for step in next_mtml.STEPS if step is not next_mtml.facts], generate=False):
        status, output = complete.generate("--check")
    assert status == 1 and "make generate" in output
