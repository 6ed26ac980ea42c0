"""What somebody writes for a next MTML, as AGENTS.md tells it: two functions of a made-up version 2.3, in a copy.

mtmlDeviceGetModuleId gives one unsigned int, and NVML asks the same; mtmlDeviceGetFabricInfo gives a new struct.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

import simulated

LEFT_OUT = shutil.ignore_patterns(*".git .venv .nox __pycache__ dist *.egg-info .pytest_cache sanitize".split())
# May hold a whole system, devices that never end among its files; and the environments of programs
BUILDS = [os.path.join(simulated.ROOT, *parts, "build") for parts in ([], ["tests", "programs"])]
NUMBER, STRUCT = "mtmlDeviceGetModuleId", "mtmlDeviceGetFabricInfo"


def left_out(folder, names):
    """What of a folder is not copied (set of names)."""
    return LEFT_OUT(folder, names) | {name for name in names if os.path.join(folder, name) in BUILDS}


class Copy:
    """A copy of the project in a folder, in which steps of the recipe are done."""

    def __init__(self, folder):
        self.root = str(folder)
        self.beside = ""  # a folder for imports beside the copy
        shutil.copytree(simulated.ROOT, self.root, ignore=left_out, symlinks=True)
        self.written = {}
        self.undo = {}  # by step: (file, text of before, None) or (file, nothing, text that it put in)

    def do(self, step):
        """A step of the recipe, so that it can be taken back."""
        self.undo[step] = self.steps = []
        step(self)

    def path(self, name):
        return os.path.join(self.root, *name.split("/"))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def edit(self, name, text):
        """Write a file in a step."""
        self.steps.append((name, self.read(name), None))
        self.write(name, text)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def insert(self, name, before, text):
        """Put text into a file, in front of what stands there once."""
        old = self.read(name)
        assert old.count(before) == 1, (name, before)
        self.write(name, old.replace(before, text + before))
        self.written[name] = self.written.get(name, "") + text
        self.steps.append((name, "", text))

    @contextlib.contextmanager
    def without(self, *steps):
        """The copy as if some steps had not been done, with what was generated and compiled as it is."""
        taken = [entry for step in steps for entry in self.undo[step]]
        done = {name: self.read(name) for name, _, _ in taken}
        for name, before, text in taken:
            self.write(name, before if text is None else self.read(name).replace(text, ""))
        try:
            yield
        finally:
            for name, text in done.items():
                self.write(name, text)

    def run(self, *command):
        """What a command prints in the copy, with its exit status first."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MTML_SIM", "PYMTML"))}
        environment["PYTHONPATH"] = self.root + os.pathsep + self.beside
        done = simulated.run(command, cwd=self.root, env=environment, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def python(self, *arguments):
        return self.run(sys.executable, *arguments)

    def test(self, *arguments):
        return self.python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments)

    def generate(self, *options, **only):
        """make generate; with --check what make lint does."""
        names = only.get("names", ("api", "cards", "catalogue", "refusals", "coverage", "reference"))
        return self.python("tools/generate.py", *options + ("--only",) + tuple(names))

    def record(self):
        """make record, of what a new function changes."""
        results = [self.python("tools/record.py", "--only", part) for part in ("json", "support", "capture")]
        return max(status for status, _ in results), "".join(text for _, text in results)

    def build(self):
        return self.run("make", "-s", "-C", "simulator", "CFLAGS=-O0")


def facts(copy):
    """facts/mtml_api.json: the functions, the struct, since when they are."""
    api = json.loads(copy.read("facts/mtml_api.json"))
    api["structs"]["MtmlFabricInfo"] = {
        "notes": "The clique that a card is in, and how far it has come.",
        "since": "2.3",
        "size": 8,
        "align": 4,
        "fields": [
            {"name": "cliqueId", "ctype": "unsigned int", "offset": 0, "size": 4},
            {"name": "state", "ctype": "unsigned int", "offset": 4, "size": 4},
        ],
    }
    handle = {"name": "dev", "ctype": "const MtmlDevice *", "dir": "in", "role": "device handle"}
    for name, notes, ctype, output, keys in (
        (NUMBER, "Number of the card's module.", "unsigned int *", "moduleId", ["module_id"]),
        (STRUCT, "State of the fabric.", "MtmlFabricInfo *", "info", ["fabric_clique", "fabric_state"]),
    ):
        api["functions"][name] = {
            "since": "2.3",
            "group": "device",
            "returns": "MtmlReturn",
            "devices": "PHYSICAL",
            "keys": {key: "uint" for key in keys},
            "params": [handle, {"name": output, "ctype": ctype, "dir": "out", "role": "answer"}],
            "errors": ["MTML_SUCCESS", "MTML_ERROR_INVALID_ARGUMENT", "MTML_ERROR_DRIVER_FAILURE"]
            + ["MTML_ERROR_NOT_SUPPORTED", "MTML_ERROR_UNKNOWN"],
            "notes": notes,
        }
    copy.edit("facts/mtml_api.json", json.dumps(api, indent=1) + "\n")
    copy.written["facts/mtml_api.json"] = '"%s" "%s" "MtmlFabricInfo" "MtmlFabricInfo *"' % (NUMBER, STRUCT)


def capture(copy):
    """pymtml_cli/capture.txt: the keys, so that a machine that has them can be written down."""
    text = """\
mtmlDeviceGetModuleId | module_id
mtmlDeviceGetFabricInfo | fabric_clique=cliqueId fabric_state=state
"""
    copy.insert("pymtml_cli/capture.txt", "mtmlMemoryGetTemperature |", text)


def meanings(copy):
    """facts/mtml_api.json: what the struct's fields mean, for the reference."""
    api = json.loads(copy.read("facts/mtml_api.json"))
    clique, state = api["structs"]["MtmlFabricInfo"]["fields"]
    clique["meaning"], state["meaning"] = "the clique that the card is in", "how far it has come"
    copy.edit("facts/mtml_api.json", json.dumps(api, indent=1) + "\n")


def facade(copy):
    """pymtml.py: NVML's question, which is no longer refused."""
    text = '''def nvmlDeviceGetModuleId(handle, moduleId=c_uint()) -> "int":
    """Number of the module in its baseboard.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported where the library lacks it.
    MTML: mtmlDeviceGetModuleId (optional).
    """
    return _query(_UInt(), "mtmlDeviceGetModuleId", "_device", handle)[0]


'''
    copy.insert("pymtml.py", "def nvmlDeviceGetIrqNum(device)", text)


def refusal(copy):
    """facts/refusals.csv: its row goes."""
    text = copy.read("facts/refusals.csv")
    copy.edit("facts/refusals.csv", re.sub(r"(?m)^Identity,nvmlDeviceGetModuleId,.*\n", "", text))
    copy.written["facts/refusals.csv"] = ""


def simulation(copy):
    """simulator/src/beyond.c: the functions."""
    number = """MtmlReturn mtmlDeviceGetModuleId(const MtmlDevice *dev, unsigned int *moduleId)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetModuleId, dev, moduleId != NULL))
        *moduleId = call.device->module_id;
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetFabricInfo(const MtmlDevice *dev, MtmlFabricInfo *info)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetFabricInfo, dev, info != NULL)) {
        info->cliqueId = call.device->fabric_clique;
        info->state = call.device->fabric_state;
    }
    return call_leave(&call);
}

"""
    copy.insert("simulator/src/beyond.c", "MtmlReturn mtmlDeviceGetMusaComputeCapability(", number)


def profile(copy):
    """simulator/profiles: a machine that has the values."""
    keys = "module_id = 3\nfabric_clique = 41\nfabric_state = 2\n"
    copy.insert("simulator/profiles/s5000x8.ini", "[device.0]\n", keys)


def readme(copy):
    """simulator/README.md: the keys."""
    text = "| `module_id`, `fabric_clique`, `fabric_state` | numbers (functions beyond the header) |\n"
    copy.insert("simulator/README.md", "| `processes` |", text)


def values(copy):
    """tests/test_values.py: what the facade makes of it."""
    text = 'case("nvmlDeviceGetModuleId", numbers("module_id"))\n'
    copy.insert("tests/test_values.py", "# ---- What does not change ----", text)


STEPS = (facts, meanings, facade, refusal, simulation, profile, readme, values, capture)


def changed(copy):
    """Files of the copy that differ from the project's (list)."""
    names = subprocess.check_output(["git", "ls-files"], cwd=simulated.ROOT, universal_newlines=True).splitlines()
    different = []
    for name in names:
        with open(os.path.join(simulated.ROOT, name), "rb") as one, open(copy.path(name), "rb") as other:
            if one.read() != other.read():
                different.append(name)
    return different
