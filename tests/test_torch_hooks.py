"""The hooks for torch: patch_torch_c_for_musa(), and the compute capability where only torch_musa knows it.

Each test runs a fresh process whose sys.path has packages written here, named like the real ones.
"""

import json
import os
import sys
import textwrap

import pytest
import simulated

TORCH = {
    "torch/__init__.py": """
        from . import _C, cuda, version
    """,
    "torch/_C.py": """
        def _cuda_getDeviceCount():
            return "torch's own"

        _cuda_init = None
    """,
    "torch/cuda.py": """
        def is_available():
            return False
    """,
    "torch/version.py": """
        cuda = None
    """,
}
TORCH_MUSA = {
    "torch_musa/__init__.py": """
        import torch
        from . import _MUSAC

        def get_device_capability(device=None):
            return (3, 1) if device == 0 else (2, 2)
    """,
    "torch_musa/_MUSAC.py": """
        def _musa_getDeviceCount():
            return 8

        def _musa_init():
            return "initialized"

        def _musa_memoryStats(device):
            return {"device": device}

        def _musa_is_musa_built():
            return True

        def _MUSAGraph():
            pass

        class MUSAAllocator:
            pass

        __all__ = ["_musa_init"]
        _has_cuda = True
    """,
}
BROKEN = {"torch_musa/__init__.py": "raise OSError('libmusart.so.4: cannot open shared object file')"}


@pytest.fixture
def run(tmp_path):
    """Runs a Python text with the given packages, on a machine; what it reports (parsed JSON).

    Unless told otherwise, the library does not tell the compute capability.
    """

    def run_with(packages, code, name="s80", header_only=True, **options):
        for path, content in packages.items():
            file = tmp_path / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(textwrap.dedent(content))
        path = "import json, sys; sys.path.insert(0, %r)\n" % str(tmp_path)
        program = path + "import pymtml as nvml\n" + code
        result = simulated.run_python(program, name=name, header_only=header_only, **options)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run_with


PATCH = textwrap.dedent("""
    import torch
    before = set(dir(torch._C))
    added = nvml.patch_torch_c_for_musa()
    print(json.dumps({
        "added": added,
        "new": sorted(set(dir(torch._C)) - before),
        "count": torch._C._cuda_getDeviceCount(),
        "init": torch._C._cuda_init,
        "stats": getattr(torch._C, "_cuda_memoryStats", lambda device: None)(5),
        "available": torch.cuda.is_available(),
        "version": torch.version.cuda,
        "again": nvml.patch_torch_c_for_musa(),
    }))
    """)


def test_patch_adds_what_torch_lacks_and_replaces_nothing(run):
    got = run(dict(TORCH, **TORCH_MUSA), PATCH)
    expected = ["MUSAAllocator", "_MUSAGraph", "_cuda_is_musa_built", "_cuda_memoryStats"]
    expected += ["_musa_getDeviceCount", "_musa_init", "_musa_is_musa_built", "_musa_memoryStats"]
    assert sorted(got["added"]) == got["new"] == expected
    assert (got["count"], got["init"], got["stats"]) == ("torch's own", None, {"device": 5})
    assert (got["available"], got["version"], got["again"]) == (False, None, [])


def test_patch_adds_no_name_by_which_torch_tells_a_build_with_cuda(run):
    """As torch of a CPU build, which lacks the name, and goes by whether it is there."""
    packages = dict(TORCH, **TORCH_MUSA)
    packages["torch/_C.py"] = ""
    packages["torch/cuda.py"] = """
        from . import _C

        def is_available():
            return hasattr(_C, "_cuda_getDeviceCount")
    """
    code = "import torch\nadded = nvml.patch_torch_c_for_musa()\n"
    added, available, built = run(
        packages, code + "print(json.dumps([added, torch.cuda.is_available(), hasattr(torch._C, '_has_cuda')]))"
    )
    assert "_musa_getDeviceCount" in added and "_cuda_memoryStats" in added
    assert (available, built) == (False, False)


@pytest.mark.parametrize(
    "packages",
    [TORCH, dict(TORCH, **BROKEN), dict(TORCH, **{"torch_musa/__init__.py": ""})],
    ids=["no torch_musa", "broken torch_musa", "torch_musa without _MUSAC"],
)
def test_patch_without_a_working_torch_musa_does_nothing(run, packages):
    got = run(packages, PATCH)
    assert (got["added"], got["new"], got["again"], got["count"]) == ([], [], [], "torch's own")


def test_patch_while_torch_musa_is_being_imported(run):
    """torch_musa itself may ask for the patch, before and after it has _MUSAC: what is not there yet is not missed."""
    early = """
        import pymtml
        import torch
        first = pymtml.patch_torch_c_for_musa()
        from . import _MUSAC
        second = pymtml.patch_torch_c_for_musa()
    """
    code = "import torch_musa; print(json.dumps([torch_musa.first, sorted(torch_musa.second)]))"
    first, second = run(dict(TORCH, **dict(TORCH_MUSA, **{"torch_musa/__init__.py": early})), code)
    assert first == [] and "_musa_init" in second


def test_patch_while_torch_is_being_imported(run):
    early = "import pymtml; first = pymtml.patch_torch_c_for_musa()"
    packages = dict(TORCH_MUSA, **{"torch/__init__.py": early, "torch_musa/__init__.py": "from . import _MUSAC"})
    assert run(packages, "import torch; print(json.dumps(torch.first))") == []


@pytest.mark.parametrize(
    "packages",
    [{}, dict(BROKEN, **{"torch/__init__.py": "raise ImportError('no torch here')"})],
    ids=["neither", "both broken"],
)
def test_patch_without_torch_does_nothing(run, packages):
    assert run(packages, "print(json.dumps(nvml.patch_torch_c_for_musa()))") == []


def test_patch_needs_no_library(run):
    code = "import torch_musa; print(json.dumps([len(nvml.patch_torch_c_for_musa()), nvml.nvmlLib is None]))"
    assert run(dict(TORCH, **TORCH_MUSA), code, name="no-driver") == [8, True]


# ---- Compute capability ----

CAPABILITY = """
nvml.nvmlInit()
devices = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
answers = [nvml.nvmlDeviceGetCudaComputeCapability(device) for device in devices]
print(json.dumps(answers + ["torch" in sys.modules, "torch_musa" in sys.modules]))
"""
IMPORTED = "import torch_musa" + CAPABILITY
BOTH = dict(TORCH, **TORCH_MUSA)
# A card that neither its PCI id nor its name gives away.
UNKNOWN = "0.pci_device_id=0x09991ed5;0.name=MTT Next"


def saying(answer):
    """A torch_musa that answers so."""
    return dict(TORCH, **{"torch_musa/__init__.py": "def get_device_capability(device):\n    " + answer})


def named(name, identity="0x09991ed5"):
    return {"set": "0.pci_device_id=%s;0.name=%s" % (identity, name)}


TRIED = "try:\n    import torch_musa\nexcept Exception:\n    pass" + CAPABILITY
# What there is, what is run, on which machine; the capability of its cards, whether torch and torch_musa are imported
CAPABILITIES = {
    "the card comes before torch_musa": (BOTH, IMPORTED, {"name": "s3000x2"}, [2, 1], True, True),
    "so does the library": (BOTH, IMPORTED, {"header_only": False}, [2, 1], True, True),
    "nothing is imported to find out": (BOTH, CAPABILITY, {"set": UNKNOWN}, [0, 0], False, False),
    "there is no torch_musa": ({}, TRIED, {"set": UNKNOWN}, [0, 0], False, False),
    "it is broken": (BROKEN, TRIED, {"set": UNKNOWN}, [0, 0], False, False),
    "another vendor's card": ({}, CAPABILITY, named("Other", "0x020110de"), [0, 0], False, False),
}
for _name in ("S3000 MtvGPU-1108", "S80-16G"):  # the names as they are: tests/test_cards.py
    CAPABILITIES["the name MTT " + _name] = BOTH, CAPABILITY, named("MTT " + _name), [2, 1], False, False
for _answer in ("return (0, 0)", "return None", "return (-1, 0)", "return '3.1'"):
    CAPABILITIES["a card, torch_musa: " + _answer] = saying(_answer), IMPORTED, {}, [2, 1], False, True
for _answer, _capability in (
    *(("pass", [0, 0]), ("raise RuntimeError('no device')", [0, 0]), ("return None", [0, 0])),
    *(("return (0, 5)", [0, 0]), ("return (1, 0)", [1, 0])),
):
    CAPABILITIES["an unknown card, torch_musa: " + _answer] = (
        *(saying(_answer), IMPORTED, {"set": UNKNOWN}, _capability, False, True),
    )


@pytest.mark.parametrize("what", CAPABILITIES)
def test_compute_capability(run, what):
    packages, code, options, capability, torch, torch_musa = CAPABILITIES[what]
    *found, has_torch, has_torch_musa = run(packages, code, **options)
    assert found and found == [capability] * len(found)
    assert (has_torch, has_torch_musa) == (torch, torch_musa)


def test_an_unknown_card_asks_torch_musa_by_its_logical_index(run):
    unknown = ";".join("%d.pci_device_id=0x09991ed5;%d.name=Unheard-of" % (card, card) for card in (0, 1))
    assert run(BOTH, IMPORTED, name="s3000x2", set=unknown) == [[3, 1], [2, 2], True, True]
    for visible, expected in (("1,0", [[2, 2], [3, 1]]), ("1", [[0, 0], [3, 1]]), ("", [[0, 0], [0, 0]])):
        options = {"extra_environment": {"MUSA_VISIBLE_DEVICES": visible}}
        assert run(BOTH, IMPORTED, name="s3000x2", set=unknown, **options)[:2] == expected, visible


# ---- The real torch ----


@pytest.fixture(scope="session")
def torch_python():
    """A Python that has the CPU build of torch, the one that the acceptance suite installs."""
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
    from program_set import TORCH as program

    return program.python


REAL_TORCH = """
import json
import torch
import torch.version
import pymtml as nvml

def refusal():
    try:
        torch.zeros(1, device="cuda")
    except Exception as error:
        return [type(error).__name__, str(error)]

def platform():
    return {
        "available": torch.cuda.is_available(),
        "built": torch.backends.cuda.is_built(),
        "version": torch.version.cuda,
        "compiled": torch.cuda._is_compiled(),
        "count": torch.cuda.device_count(),
        "refusal": refusal(),
        "marks": [hasattr(torch._C, mark) for mark in ("_cuda_getDeviceCount", "_has_cuda")],
    }

kept = {name: getattr(torch._C, name) for name in dir(torch._C)}
available, before = torch.cuda.is_available, platform()
added = nvml.patch_torch_c_for_musa()
print(json.dumps({
    "added": sorted(added),
    "replaced": [name for name, value in kept.items() if getattr(torch._C, name) is not value],
    "new": sorted(set(dir(torch._C)) - set(kept)),
    "before": before,
    "after": platform(),
    "same function": torch.cuda.is_available is available,
    "again": nvml.patch_torch_c_for_musa(),
}))
"""


@pytest.mark.programs
@pytest.mark.parametrize("with_musa", [True, False])
def test_real_torch(torch_python, tmp_path, with_musa):
    for path, content in TORCH_MUSA.items() if with_musa else ():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(content))
    env = simulated.environment(name="s5000x8")
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    result = simulated.run([torch_python, "-c", REAL_TORCH], env=env)
    assert result.returncode == 0, result.stderr
    got = json.loads(result.stdout.splitlines()[-1])
    # torch built for the CPU has no _cuda_getDeviceCount, and may not get one: its presence alone is what torch asks.
    names = ["MUSAAllocator", "_MUSAGraph", "_cuda_init", "_cuda_is_musa_built", "_cuda_memoryStats"]
    names += ["_musa_getDeviceCount", "_musa_init", "_musa_is_musa_built", "_musa_memoryStats"]
    assert got["added"] == got["new"] == (names if with_musa else [])
    assert (got["replaced"], got["same function"], got["again"]) == ([], True, [])
    before = got["before"]
    assert (before["available"], before["built"], before["version"], before["count"]) == (False, False, None, 0)
    assert got["after"] == before
