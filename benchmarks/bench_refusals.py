"""Time of a refusal, for every function that pymtml refuses: over C libraries that refuse at once and the simulator."""

import inspect
import json
import os
import re
import statistics

import common

CALLS_PER_SAMPLE = 64
PROFILE = "s5000x8"
FOLDER = os.path.join(common.BUILD, "refusing")
HANDLES = ("handle", "device", "device1", "device2")  # parameters that are devices; the others get 0

NVML_ANSWERS = """\
const char *nvmlErrorString(int result) { return result ? "error" : "success"; }
int nvmlInitWithFlags(unsigned int flags) { return 0 * (int)flags; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 8; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, char **device) { *device = objects + index; return 0; }
"""
MTML_ANSWERS = """\
const char *mtmlErrorString(int result) { return result ? "error" : "success"; }
int mtmlLibraryInit(char **library) { *library = objects + 8; return 0; }
int mtmlLibraryShutDown(void *library) { return 0 * !library; }
int mtmlLibraryCountDevice(void *library, unsigned int *count) { *count = 8; return 0 * !library; }
int mtmlLibraryInitDeviceByIndex(void *library, unsigned int index, char **device)
{ *device = objects + index; return 0 * !library; }
int mtmlDeviceInitGpu(char *device, char **gpu) { *gpu = device + 16; return 0; }
int mtmlDeviceInitMemory(char *device, char **memory) { *memory = device + 32; return 0; }
int mtmlDeviceInitVpu(char *device, char **vpu) { *vpu = device + 48; return 0; }
"""


def refusing_library(soname, answers, names, status):
    """Path of a C library whose functions refuse but for those that lead to a device."""
    path = os.path.join(FOLDER, soname)
    refused = set(names) - set(re.findall(r"^\w[\w *]*\b(\w+)\(", answers, re.MULTILINE))
    text = "static char objects[64];\n" + answers
    text += "".join("int %s(void) { return %d; }\n" % (name, status) for name in sorted(refused))
    os.makedirs(FOLDER, exist_ok=True)
    source = os.path.join(FOLDER, soname.partition(".")[0] + ".c")
    with open(source, "w") as file:
        file.write(text)
    common.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-Wl,-soname," + soname, "-o", path, source])
    return path


def loaded(binding, path, title):
    """A module over a library that is not the stub, initialized."""
    common.ctypes.CDLL(path)  # nvidia-ml-py then finds it by its SONAME
    os.environ["PYMTML_LIBRARY"] = path
    spec = common.importlib.util.spec_from_file_location(title, binding.source)
    module = common.importlib.util.module_from_spec(spec)
    common.sys.modules[title] = module  # for dataclasses and pickle
    spec.loader.exec_module(module)
    module.nvmlInit()
    return module


def modules(options):
    """{title: module}: nvidia-ml-py, and pymtml over two libraries."""
    bindings = {binding.key: binding for binding in options.bindings}
    with open(bindings["nvidia"].source) as file:
        nvml_names = re.findall(r'_nvmlGetFunctionPointer\("(\w+)"\)', file.read())
    with open(os.path.join(common.ROOT, "facts", "mtml_api.json")) as file:
        mtml_names = list(json.load(file)["functions"])
    common.run(["make", "-s", "-C", os.path.join(common.ROOT, "simulator")])
    os.environ["MTML_SIM_PROFILE"] = PROFILE
    simulator = os.path.join(common.ROOT, "simulator", "build", "libmtml.so.2")
    return {
        "nvidia": loaded(
            bindings["nvidia"], refusing_library("libnvidia-ml.so.1", NVML_ANSWERS, nvml_names, 3), "pynvml"
        ),
        "stub": loaded(
            bindings["pymtml"], refusing_library("libmtml.so.2", MTML_ANSWERS, mtml_names, 4), "pymtml_over_stub"
        ),
        "simulator": loaded(bindings["pymtml"], simulator, "pymtml_over_simulator"),
    }


def arguments_of(function, device):
    """What a function is called with, its defaults aside."""
    parameters = inspect.signature(function).parameters.values()
    return [device if one.name in HANDLES else 0 for one in parameters if one.default is one.empty]


def refuses(module, name):
    """Whether the answer is NotSupported."""
    function = getattr(module, name)
    try:
        function(*arguments_of(function, module.nvmlDeviceGetHandleByIndex(0)))
    except module.NVMLError as error:
        return type(error) is module.NVMLError_NotSupported
    except Exception:
        return False
    return False


class Subject:
    """One function of one module."""

    def __init__(self, module, name):
        self.function = getattr(module, name)
        self.arguments = arguments_of(self.function, module.nvmlDeviceGetHandleByIndex(0))
        call = "f(%s)" % ", ".join("a%d" % number for number in range(len(self.arguments)))
        names = {"a%d" % number: value for number, value in enumerate(self.arguments)}
        names["E"] = module.NVMLError_NotSupported
        self.loop = common.loop_of("0\n        try: %s\n        except E: pass" % call, names=names)

    def sample(self):
        return self.loop(self.function, range(CALLS_PER_SAMPLE))


def measure(options):
    found = modules(options)
    refused = {}
    for name, function in inspect.getmembers(found["nvidia"], inspect.isfunction):
        if name.startswith("nvml") and not name.startswith(("nvmlInit", "nvmlShutdown")):
            titles = [title for title, module in found.items() if hasattr(module, name) and refuses(module, name)]
            if "nvidia" in titles and len(titles) > 1:
                refused[name] = titles
    # A function that did not refuse may have made earlier handles stale: these are new ones.
    jobs = {name: {title: Subject(found[title], name).sample for title in titles} for name, titles in refused.items()}
    figures = {}
    for name, of_name in common.sampled(jobs, options.rounds).items():
        figures[name] = {
            "ns": {title: statistics.median(values) for title, values in of_name.items()},
            "ratios": {
                title: common.ratio(values, of_name["nvidia"]) for title, values in of_name.items() if title != "nvidia"
            },
        }
    return figures


def budgets_of(figures):
    budgets = []
    for title in ("stub", "simulator"):
        ratios = {name: row["ratios"][title]["median"] for name, row in figures.items() if title in row["ratios"]}
        slowest = max(ratios, key=lambda name: ratios[name])
        slower = sum(ratio > 1 for ratio in ratios.values())
        mean = common.geometric_mean(list(ratios.values()))
        note = "%d functions, %d slower, most %s at %.2f" % (len(ratios), slower, slowest, ratios[slowest])
        budgets.append(common.budget("refusal / nvidia-ml-py over the %s, geometric mean" % title, mean, 1.0, note))
    return budgets


def report(document):
    return common.budget_table(document)


if __name__ == "__main__":
    common.main("refusals", __doc__, 15, measure, budgets_of, report)
