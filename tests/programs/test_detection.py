"""Which platform frameworks choose: the same with the drop-in in any of its forms as without it, and never CUDA."""

import json
import os

import pytest
from inside import drop_in
from machines import Machine
from musa_stack import environment
from program_set import SGLANG, VLLM, VLLM_MUSA
from row_files import ASKING

pytestmark = pytest.mark.programs

PROGRAMS = {"test_sglang": SGLANG, "test_vllm": VLLM, "test_vllm_with_vllm_musa": VLLM_MUSA}

ASK = """
found = []
for visible in (None, "1", "all", ""):
    os.environ.pop("MUSA_VISIBLE_DEVICES", None)
    if visible is not None:
        os.environ["MUSA_VISIBLE_DEVICES"] = visible
    found.append(platforms.resolve_current_platform_cls_qualname())
platform = platforms.current_platform
show(found + [platform.device_type])
"""

SGLANG_CHOICE = ASKING + """
bare("sglang", "sglang.multimodal_gen")  # whose own imports want a GPU stack
from sglang.multimodal_gen.runtime import platforms
""" + ASK

VLLM_CHOICE = ASKING + """
bare("vllm", "vllm.v1", "vllm.v1.attention", "vllm.v1.attention.backends")
stand_in("vllm.v1.attention.backends.registry", AttentionBackendEnum=None)
from vllm import platforms
""" + ASK

FORMS = ("PYTHONPATH", "pymtml run", "a .pth")
MACHINES = {"eight GPUs": "s5000x8", "no GPU": "empty", "no driver": "no-driver", "no library": "s5000x8"}


def command(runner, program, form, code):
    """A program's Python, with the drop-in in one of its forms or without it (None); and its PYTHONPATH's first."""
    if form == "PYTHONPATH":
        return [program.python, "-c", code], os.path.join(runner.site, "pymtml_dropin", "path")
    if form == "pymtml run":
        return [program.python, "-m", "pymtml", "run", "-c", code], runner.site
    if form == "a .pth":
        path = os.path.join(runner.folder, drop_in.FILE)
        with open(path, "w") as file:
            file.write(drop_in.line(False, path))
        code = "import site; site.addsitedir(%r)\n" % runner.folder + code
    return [program.python, "-c", code], runner.site


@pytest.fixture
def choices(runner, tmp_path):
    """What a program chooses with and without the drop-in: ({state of the machine: answers}, which must agree)."""

    def ask(program, code, *packages):
        found = {}
        for state, profile in MACHINES.items():
            variables = environment(runner, Machine(tmp_path, profile))
            if state == "no library":
                variables.update(LD_LIBRARY_PATH="", PYMTML_LIBRARY="/nonexistent/libmtml.so")
            for form in (None,) + (FORMS if state == "eight GPUs" else FORMS[:1]):
                words, first = command(runner, program, form, code)
                rest = [folder for folder in variables["PYTHONPATH"].split(os.pathsep)[1:] if folder not in packages]
                path = os.pathsep.join([first, program.folder] + rest)
                said = json.loads(runner.run(words, dict(variables, PYTHONPATH=path)).splitlines()[-1])
                assert found.setdefault(state, said) == said, (state, form)
                assert not any("cuda" in word.lower() for word in said)
        return found

    return ask


def test_sglang(choices):
    """The platform of its diffusion runtime: MUSA."""
    package = "sglang.multimodal_gen.runtime.platforms."
    musa, cpu = package + "musa.MusaPlatform", package + "cpu.CpuPlatform"
    assert choices(SGLANG, SGLANG_CHOICE) == {
        "eight GPUs": [musa] * 4 + ["musa"],
        "no GPU": [cpu] * 4 + ["cpu"],
        "no driver": [cpu] * 4 + ["cpu"],
        "no library": [cpu] * 4 + ["cpu"],
    }


def test_vllm(choices):
    """Its platform: none, unless vllm-musa is installed."""
    none = ["vllm.platforms.interface.UnspecifiedPlatform"] * 4 + [""]
    assert choices(VLLM, VLLM_CHOICE, VLLM_MUSA.folder) == dict.fromkeys(MACHINES, none)


def test_vllm_with_vllm_musa(choices):
    """vllm's own detection finds it, with the drop-in or without it."""
    found = choices(VLLM, VLLM_CHOICE)
    assert set(found) == set(MACHINES)
    for answers in found.values():
        assert len(set(answers[:4])) == 1 and answers[0].startswith("vllm_musa_platform.")
