"""The vendor's own binding on the simulator: its programs print the same with pymtml in its place.

Its module is named pymtml as well, so it lives in a folder of its own.
"""

import glob
import os
import re
import sys

import pytest
import simulated
import wheels

import pymtml


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    return wheels.vendor(tmp_path_factory)


def run(arguments, vendor, **options):
    env = simulated.environment(**options)
    env["PYTHONPATH"] = os.pathsep.join([vendor, os.path.join(simulated.ROOT, "tests")])
    result = simulated.run([sys.executable] + arguments, env=env)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_names_of_its_star_import(vendor):
    """What ``from pymtml import *`` brings there it brings here, but for the syntax that Python lets through."""
    star = "names = {}; exec('from pymtml import *', names); print(*sorted(names))"
    theirs = set(run(["-c", star], vendor).split())
    assert len(theirs) > 500
    assert theirs - {"__builtins__", "annotations"} - set(pymtml.__all__) == set()
    assert all(hasattr(pymtml, name) for name in theirs - {"__builtins__", "annotations"})


# ---- The vendor's own programs, unmodified, on both bindings ----

TEXTS = "pymtml says what mtmlErrorString says, the vendor's binding has a table of its own"
# By program and profile: the line of theirs, the line of ours, and why it differs. Nothing else may differ.
DIFFERENCES = {
    ("quick start", "s3000-vgpu-guest"): (
        "pymtml.MTMLError_NotSupported: Not Supported",
        "pymtml.MTMLError_NotSupported: Not supported",
        TEXTS,
    ),
    ("error handling", "s5000x8"): ("Error: Not Found", "Error: Not found", TEXTS),
}


@pytest.fixture(scope="module")
def programs(vendor, tmp_path_factory):
    """Paths of the programs that the vendor publishes with the binding: its example, and the Python of its README."""
    folder = tmp_path_factory.mktemp("programs")
    (metadata,) = glob.glob(os.path.join(vendor, "mthreads_ml_py-*.dist-info", "METADATA"))
    with open(metadata, encoding="utf-8") as file:
        quick_start, levels, capabilities, handling = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    with open(os.path.join(vendor, "example.py"), encoding="utf-8") as file:
        sources = {"example": file.read(), "quick start": quick_start}
    # Three fragments, which need a beginning and an end.
    sources["constants"] = "%s%s\n" % (levels, capabilities) + "".join(
        "import pymtml; print(pymtml.%s == %s)\n" % (name, name)
        for name in re.findall(r"^(MTML_\w+)", levels + capabilities, re.M)
    )
    sources["error handling"] = "from pymtml import *\n\nmtmlLibraryInit()\n" + handling
    paths = {}
    for name, source in sources.items():
        paths[name] = folder / (name.replace(" ", "_") + ".py")
        paths[name].write_text(source, encoding="utf-8")
    return paths


def output(path, binding, profile):
    """(exit status, lines of stdout and the last of stderr) of a program, with a binding's folder on the path.

    Without a profile there is no library.
    """
    env = dict(simulated.environment(profile or "s80"), PYTHONPATH=binding, PYTHONIOENCODING="utf-8")
    if profile is None:
        del env["LD_LIBRARY_PATH"]
        env["PYMTML_LIBRARY"] = "libmtml.so.2"
    done = simulated.run([sys.executable, str(path)], env=env, encoding="utf-8")
    lines = done.stdout.splitlines() + done.stderr.strip().splitlines()[-1:]
    return done.returncode, [re.sub(r" at 0x[0-9a-f]+", " at ...", line) for line in lines]


MACHINES = ("s5000x8", "s80", "s3000-mpc", "s3000-vgpu-guest", "empty", "no-driver")


@pytest.mark.parametrize(
    "program, profile",
    [(program, profile) for program in ("example", "quick start") for profile in MACHINES]
    + [("error handling", "s5000x8"), ("error handling", "no-driver"), ("constants", "s80")],
)
def test_vendor_programs(vendor, programs, program, profile):
    status, theirs = output(programs[program], vendor, profile)
    our_status, ours = output(programs[program], simulated.ROOT, profile)
    assert our_status == status and len(ours) == len(theirs) > 0
    differences = {(a, b) for a, b in zip(theirs, ours) if a != b}
    expected = DIFFERENCES.get((program, profile))
    assert differences == ({expected[:2]} if expected else set())
    if program == "constants":
        assert set(ours) == {"True"}
    if program == "quick start" and profile not in ("empty", "no-driver"):
        assert simulated.device_keys(profile, 0)["uuid"] in ours[1]
    if program == "example" and profile != "no-driver":
        assert ours[0].strip() == "<attached_gpus>%d</attached_gpus>" % sum(line.startswith("  <gpu ") for line in ours)


# ---- What docs/coming-from-mthreads-ml-py.md says of the vendor's binding ----

ARGUMENTS = {
    "nvmlSystemGetCudaDriverVersion": "",
    "nvmlDeviceGetPcieThroughput": "device, 0",
    "nvmlDeviceGetTotalEccErrors": "device, 1, 0",
    "nvmlDeviceGetNvLinkState": "device, 0",
    "nvmlDeviceGetNvLinkCapability": "device, 0, 0",
    "nvmlDeviceGetNvLinkRemotePciInfo": "device, 0",
    "nvmlDeviceGetProcessUtilization": "device, 0",
    "nvmlDeviceGetMigDeviceHandleByIndex": "device, 0",
}
ASK = """
from pymtml import *
nvmlInit()
device = nvmlDeviceGetHandleByIndex(0)
for call in %r:
    try:
        print(repr(eval(call)).replace("'", '"'))
    except Exception as error:
        print(type(error).__name__)
"""


def stand_ins():
    """[(function, what the page says that the vendor's answers, what it says of ours)]."""
    with open(os.path.join(simulated.ROOT, "docs", "coming-from-mthreads-ml-py.md"), encoding="utf-8") as file:
        table = re.search(r"<!-- stand-ins -->\n\n\|.*\n\|-.*\n((?:\|.*\n)+)", file.read()).group(1)
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
    return [(name, row[1].strip("`"), row[2]) for row in rows for name in re.findall(r"`(nvml\w+)`", row[0])]


def answers(calls, binding, folder, **machine):
    (folder / "ask.py").write_text(ASK % calls)
    return run([str(folder / "ask.py")], binding, **machine).splitlines()


def test_the_page_says_what_the_vendors_binding_answers(vendor, tmp_path):
    """On a card without fans, MtLink and ECC, not divided, with a library that has no more than the header."""
    rows = stand_ins()
    assert len(rows) > 15
    calls = ["%s(%s)" % (name, ARGUMENTS.get(name, "device")) for name, _, _ in rows]
    theirs = answers(calls, vendor, tmp_path, name="s3000x2", header_only=True)
    assert dict(zip([name for name, _, _ in rows], theirs)) == {name: told for name, told, _ in rows}
    ours = answers(calls, simulated.ROOT, tmp_path, name="s3000x2", header_only=True)
    numbers = {"nvmlDeviceGetCudaComputeCapability": "(2, 1)", "nvmlSystemGetCudaDriverVersion": "4030"}
    for (name, _, told), answer in zip(rows, ours):
        assert numbers.get(name, "NVMLError_" + answer.partition("_")[2]) == answer, name
        assert name in numbers or answer.partition("_")[2] in told, (name, answer)


OTHER = "device, nvmlDeviceGetHandleByIndex(1), "
SHAPES = {  # a call, and what each binding returns
    "len(mtmlDeviceGetMtLinkLayouts(%s5))" % OTHER: ("5", "2"),
    "len(mtmlMemoryGetRetiredPages(mtmlDeviceInitMemory(device), 0, 9))": ("9", "0"),
    "mtmlLibraryInit() is None": ("True", "False"),
    "nvmlDeviceGetTemperature(device, 1)": ("35", "NVMLError_InvalidArgument"),
    "nvmlDeviceGetP2PStatus(%sNVML_P2P_CAPS_INDEX_NVLINK)" % OTHER: ("0", "5"),
    "nvmlDeviceGetNvLinkCapability(device, 0, 1)": ("1", "NVMLError_NotSupported"),
    "nvmlDeviceGetNvLinkCapability(device, 0, 2)": ("0", "1"),
    "isinstance(nvmlDeviceGetCpuAffinity(device, 2), list)": ("True", "False"),
    "len(nvmlDeviceGetFieldValues(device, [1]))": ("0", "1"),
}


def test_values_of_another_shape(vendor, tmp_path):
    """On a card whose links are down."""
    for place, binding in enumerate((vendor, simulated.ROOT)):
        said = answers(list(SHAPES), binding, tmp_path, set="0.mtlink_state=DOWN")
        assert dict(zip(SHAPES, said)) == {call: pair[place] for call, pair in SHAPES.items()}


# ---- docs/frameworks.md ----

with open(os.path.join(simulated.ROOT, "docs", "frameworks.md"), encoding="utf-8") as file:
    FRAMEWORKS = file.read()
ONLY_OURS = " ".join(re.search(r"needs this project's module: (.*?)\.", FRAMEWORKS, re.S).group(1).split()).split(", ")
CODE = [
    (title, code)
    for title, section in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", FRAMEWORKS, re.M)
    for code in re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)
]


@pytest.mark.parametrize("title, code", CODE, ids=[title for title, _ in CODE])
def test_the_code_for_frameworks_runs_on_both(vendor, tmp_path, title, code):
    """But for the sections that the page names; without a driver and without a library, the detection does."""
    (tmp_path / "code.py").write_text(code)
    for profile in ("s5000x8", "no-driver", None) if title.startswith("Detection") else ("s5000x8",):
        (status, theirs), (our_status, ours) = [
            output(tmp_path / "code.py", binding, profile) for binding in (vendor, simulated.ROOT)
        ]
        assert our_status == 0, ours
        assert (status != 0) == (title in ONLY_OURS), theirs
        if title not in ONLY_OURS:  # two say how the modules differ
            assert (theirs == ours) != title.startswith(("Which", "Compute"))
