"""doctor: what works here, what does not, and what to do about it.

Checks come in the order in which things depend on each other, and each finding is printed as soon as it is known: where
a driver hangs, the last line says at what. Levels: ok, note (never changes the verdict), warn (works in part), fail
(does not work) and n/a.
"""

import ctypes
import os
import re
import sys
import time

import pymtml
from pymtml_cli.devices import Machine, Unknown, ask, describe
from pymtml_cli.errors import CommandError
from pymtml_cli.topo import ranges

OK, NOTE, WARN, FAIL, NOT_APPLICABLE = "ok", "note", "warn", "fail", "n/a"
VERDICTS = {
    0: "works",
    1: "works in part: %d warning(s) above",
    2: "does not work: see the first failure above",
}
SLOW_INIT_SECONDS, SLOW_QUERY_SECONDS = 5.0, 0.1
MODULES = ("pymtml", "pynvml")
NAMES_SHOWN = 6


class Finding:
    """One line of the report: a level, what was checked, what was found, what to do."""

    def __init__(self, level, check, text, step=None):
        self.level, self.check, self.text, self.step = level, check, text, step

    def lines(self):
        """The finding as it is printed."""
        lines = ["%-5s %-10s %s" % (self.level, self.check, self.text)]
        return lines + (["%-16s -> %s" % ("", self.step)] if self.step else [])

    def as_object(self):
        """The finding for --json."""
        return {"level": self.level, "check": self.check, "text": self.text, "next_step": self.step}


def add_arguments(parser):
    """Arguments of the subcommand."""
    parser.add_argument("--json", action="store_true", help="for programs: {verdict, status, findings}")


def run(options):
    """Examine, print, and sum up (exit status: 0 works, 1 works in part, 2 does not work)."""
    findings = []
    for finding in examine():
        findings.append(finding)
        if not options.json:
            sys.stdout.write("\n".join(finding.lines()) + "\n")
            sys.stdout.flush()
    status = verdict(findings)
    warnings = sum(finding.level == WARN for finding in findings)
    text = VERDICTS[status] % warnings if status == 1 else VERDICTS[status]
    if options.json:
        import json

        objects = [finding.as_object() for finding in findings]
        sys.stdout.write(json.dumps({"verdict": text, "status": status, "findings": objects}, indent=2) + "\n")
    else:
        sys.stdout.write("\nverdict: pymtml %s\n" % text)
    return status


def verdict(findings):
    """Exit status for findings."""
    levels = {finding.level for finding in findings}
    return 2 if FAIL in levels else 1 if WARN in levels else 0


def examine():
    """The findings, as they come."""
    for finding in python_findings():
        yield finding
    for finding in environment_findings():
        yield finding
    began = time.perf_counter()
    initialized = ask(pymtml.nvmlInit)
    seconds = time.perf_counter() - began
    loaded = pymtml.nvmlLib is not None
    if loaded:
        yield library_finding()
        yield functions_finding()
    simulated = loaded and hasattr(pymtml.nvmlLib, "mtmlSimReload")
    for finding in system_findings(simulated):
        yield finding
    if isinstance(initialized, Unknown):
        yield init_failure(initialized.error)
        return
    try:
        yield versions_finding()
        for finding in device_findings(seconds):
            yield finding
    finally:
        stopped = ask(pymtml.nvmlShutdown)
    yield second_life_finding(stopped)


# ---- Python ----


def python_findings():
    """Where pymtml comes from, and who else has files of its name or of pynvml's."""
    version = "%d.%d.%d" % sys.version_info[:3]
    yield Finding(OK, "module", "pymtml %s, %s, Python %s" % (pymtml.__version__, pymtml.__file__, version))
    owners = file_owners()
    for module, path, used in files_on_path():
        if any(os.path.realpath(path) == os.path.realpath(owned) for _, owned in (owners or {}).get(module, ())):
            continue  # told with its owner
        if module == "pynvml" and used:
            step = "`pymtml run PROGRAM` puts pymtml in its place"
            yield Finding(NOTE, "packages", "import pynvml finds %s, of no distribution" % path, step)
        elif module == "pymtml" and not used:
            yield Finding(NOTE, "packages", "%s stands on the path, too, and is not used" % path, "take it away")
    if owners is None:
        yield Finding(NOT_APPLICABLE, "packages", "Python %s cannot list distributions" % version)
        return
    for module in MODULES:
        for owner, path in owners[module]:
            if module == "pymtml" and owner.lower().replace("_", "-") == "pymtml-nvml":
                continue
            if module == "pymtml":
                here = os.path.realpath(path) == os.path.realpath(pymtml.__file__)
                text = "%s owns %s" % (owner, path)
                step = "this very file is in use: removing %s removes it; reinstall pymtml-nvml afterwards" % owner
                yield Finding(NOTE, "packages", text, step if here else "pymtml-nvml comes first; nothing to do")
            else:
                step = "`pymtml run PROGRAM` or `pymtml drop-in` put pymtml in its place"
                yield Finding(NOTE, "packages", "%s provides pynvml (%s)" % (owner, path), step)


def files_on_path():
    """(module, file, whether it is what an import finds) of files on the path that have the modules' names."""
    for module in MODULES:
        used, seen = True, set()
        for folder in sys.path:
            for end in (os.path.join(module, "__init__.py"), module + ".py"):
                path = os.path.join(folder or os.curdir, end)
                if not os.path.isfile(path) or os.path.realpath(path) in seen:
                    continue
                seen.add(os.path.realpath(path))
                if module == "pymtml":
                    used = os.path.realpath(path) == os.path.realpath(pymtml.__file__)
                yield module, path, used
                used = False


def file_owners():
    """Distributions with a file of the modules' names: {module: [(distribution, path)]}, None before Python 3.8."""
    try:
        from importlib import metadata
    except ImportError:
        return None
    wanted = {"%s%s" % (module, end): module for module in MODULES for end in (".py", "/__init__.py")}
    owners = {module: [] for module in MODULES}
    for distribution in metadata.distributions():
        listed = "".join(filter(None, (distribution.read_text(name) for name in ("RECORD", "installed-files.txt"))))
        if not any(module in listed for module in MODULES):
            continue  # without splitting hundreds of lists
        for file in distribution.files or ():
            module = wanted.get(str(file).replace(os.sep, "/"))
            if module:
                owner = (distribution.metadata["Name"] or "?", str(distribution.locate_file(file)))
                if owner not in owners[module]:
                    owners[module].append(owner)
    return owners


# ---- Environment ----

VARIABLES = (
    "PYMTML_LIBRARY",
    "PYMTML_MUSA_LIBRARY",
    "PYMTML_PROC_ROOT",
    "PYMTML_SYS_ROOT",
    "PYMTML_KEEP_LIBRARY",
    "LD_LIBRARY_PATH",
    "MTHREADS_VISIBLE_DEVICES",
)


def environment_findings():
    """Variables that change what is seen."""
    for name in VARIABLES:
        if os.environ.get(name):
            yield Finding(NOTE, "variable", "%s=%s" % (name, os.environ[name]))
    visible = os.environ.get("MUSA_VISIBLE_DEVICES")
    if visible is not None:
        text = "MUSA_VISIBLE_DEVICES=%s: MUSA programs see these alone, numbered anew" % visible
        yield Finding(NOTE, "variable", text, "pymtml shows all cards; map its indices by UUID")


# ---- Library ----


def library_finding():
    """Which file was loaded, and how it was found."""
    name = pymtml.nvmlLib._name
    how = "as PYMTML_LIBRARY says" if os.environ.get("PYMTML_LIBRARY") else "as %s by the usual search" % name
    return Finding(OK, "library", "%s, found %s" % (loaded_file() or name, how))


def loaded_file():
    """Path of the file that the library was loaded from, or None where the system does not tell."""
    address = ctypes.cast(pymtml._mtmlGetFunctionPointer("mtmlLibraryInit"), ctypes.c_void_p).value
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                parts = line.split(None, 5)
                first, last = (int(number, 16) for number in parts[0].split("-"))
                if first <= address < last and len(parts) > 5:
                    return parts[5].strip()
    except OSError:
        pass
    return None


def functions_finding():
    """Which functions the library lacks, and what the facade therefore refuses."""
    header = [name for name in pymtml._PROTOTYPES if not exports(name)]
    further = [name for name in pymtml._OPTIONAL_PROTOTYPES if not exports(name)]
    counts = (len(pymtml._PROTOTYPES) - len(header), len(pymtml._PROTOTYPES))
    counts += (len(pymtml._OPTIONAL_PROTOTYPES) - len(further), len(pymtml._OPTIONAL_PROTOTYPES))
    text = "%d of %d functions of the header, %d of %d others" % counts
    if not header and not further:
        return Finding(OK, "functions", text)
    refused = resting_on(header + further)
    text += "; missing: " + shown(header + further)
    step = "not answered, or in part: %s" % shown(refused) if refused else None
    return Finding(WARN if header else NOTE, "functions", text, step)


def exports(name):
    """Whether the loaded library has a function."""
    return not isinstance(ask(pymtml._mtmlGetFunctionPointer, name), Unknown)


def resting_on(functions):
    """Facade functions whose documentation names one of the functions that they rest on."""
    missing = set(functions)
    found = []
    for name, value in sorted(vars(pymtml).items()):
        text = (getattr(value, "__doc__", None) or "") if name.startswith("nvml") and callable(value) else ""
        if missing & set(re.findall(r"mtml[A-Z]\w+", text.rpartition("MTML:")[2])):
            found.append(name)
    return found


def shown(names):
    """Some names, and how many more there are."""
    text = ", ".join(names[:NAMES_SHOWN])
    return text + (" and %d more" % (len(names) - NAMES_SHOWN) if len(names) > NAMES_SHOWN else "")


def init_failure(error):
    """Why the library cannot be used."""
    steps = {
        pymtml.NVMLError_LibraryNotFound: "install the Moore Threads driver, or name the file in PYMTML_LIBRARY; in a "
        "container, start it with the mthreads runtime and MTHREADS_VISIBLE_DEVICES=all",
        pymtml.NVMLError_DriverNotLoaded: "load the kernel module (modprobe mtgpu) and look at dmesg",
        pymtml.NVMLError_NoPermission: "look at the rights of /dev/mtgpu*; the group is often render or video",
    }
    step = next((text for kind, text in steps.items() if isinstance(error, kind)), "look at dmesg for mtgpu")
    return Finding(FAIL, "init", " ".join(str(error).split()), step)


def versions_finding():
    """Versions of library, driver and MUSA."""
    from pymtml_cli.usage import musa_version

    library, driver = ask(pymtml.nvmlSystemGetNVMLVersion), ask(pymtml.nvmlSystemGetDriverVersion)
    return Finding(OK, "versions", "MTML %s, driver %s, MUSA %s" % (library, driver, musa_version()))


# ---- System ----


def system_findings(simulated):
    """Kernel module, device nodes, the driver's tree in procfs, container."""
    if simulated:
        yield Finding(
            NOT_APPLICABLE, "driver", "the library is a simulator: kernel module and device nodes not looked at"
        )
        return
    if sys.platform == "win32":
        yield Finding(NOT_APPLICABLE, "driver", "kernel module and device nodes are looked at on Linux alone")
        return
    proc = os.environ.get("PYMTML_PROC_ROOT") or "/proc"
    inside = container()
    yield Finding(NOTE if inside else OK, "container", "inside a container (%s)" % inside if inside else "none seen")
    version = read(os.path.join(os.environ.get("PYMTML_SYS_ROOT") or "/sys", "module", "mtgpu", "version"))
    if version is not None:
        yield Finding(OK, "module", "kernel module mtgpu %s" % version.strip())
    elif inside:
        yield Finding(NOTE, "module", "kernel module mtgpu not seen from inside the container")
    else:
        yield Finding(WARN, "module", "kernel module mtgpu is not loaded", "modprobe mtgpu, and look at dmesg")
    yield nodes_finding()
    yield table_finding(proc)


def nodes_finding():
    """Device nodes and their rights."""
    import glob

    nodes = sorted(glob.glob("/dev/mtgpu*"))
    if not nodes:
        step = "in a container: start it with the mthreads runtime and MTHREADS_VISIBLE_DEVICES=all"
        return Finding(WARN, "nodes", "no /dev/mtgpu*", step)
    closed = [node for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        return Finding(WARN, "nodes", "no rights on %s" % shown(closed), "join the group that owns them, or ask root")
    return Finding(OK, "nodes", "%d of /dev/mtgpu*, all readable and writable" % len(nodes))


def table_finding(proc):
    """Whether the driver's process tables can be read."""
    import glob

    tables = glob.glob(os.path.join(proc, "driver", "musa", "gpu*", "proc_util"))
    readable = [table for table in tables if read(table) is not None]
    if tables and len(readable) == len(tables):
        return Finding(OK, "processes", "the driver's process tables can be read (%s)" % os.path.dirname(tables[0]))
    if tables:
        text = "%d of %d process tables of the driver cannot be read" % (len(tables) - len(readable), len(tables))
        return Finding(NOTE, "processes", text, "processes of other users stay hidden: run as root to see them")
    text = "no process table of the driver below %s/driver/musa: processes are found by open device nodes" % proc
    return Finding(NOTE, "processes", text, "those of other users are seen by root alone")


def container():
    """What gives a container away, or None."""
    for path in ("/.dockerenv", "/run/.containerenv"):
        if os.path.exists(path):
            return path
    if os.environ.get("container"):
        return "container=" + os.environ["container"]
    match = re.search(r"docker|kubepods|containerd|lxc|libpod", read("/proc/1/cgroup") or "")
    return match and "/proc/1/cgroup says " + match.group()


def read(path):
    """Text of a file, or None."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return None


# ---- Devices ----


def device_findings(init_seconds):
    """What the cards say, and what it costs to ask."""
    try:
        machine = Machine()
    except CommandError as error:
        yield Finding(FAIL, "devices", error.text, "look at dmesg for mtgpu")
        return
    with machine:
        if not machine.cards:
            step = "in a container: MTHREADS_VISIBLE_DEVICES=all; else look at lspci -d 1ed5: and at dmesg"
            yield Finding(FAIL, "devices", "no devices", step)
            return
        instances = sum(len(card.instances) for card in machine.cards)
        divided = ", %d MPC instance(s)" % instances if instances else ""
        yield Finding(OK, "devices", "%d card(s)%s" % (len(machine.cards), divided))
        groups = {}  # cards by what was found on them
        for card in machine.cards:
            for finding in card_findings(card):
                groups.setdefault((finding.level, finding.check, finding.text, finding.step), []).append(card.index)
        for (level, check, text, step), indices in groups.items():
            yield Finding(level, check, "GPU %s: %s" % (ranges(indices), text), step)
        if not groups:
            yield Finding(OK, "cards", "memory, limits, links, ECC and pages as they should be")
        yield cost_finding(machine.cards[0], init_seconds)


def card_findings(card):
    """What is odd about a card."""
    temperature = card.ask(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU)
    memory = card.ask(pymtml.nvmlDeviceGetMemoryInfo)
    for answer in (temperature, memory):
        if isinstance(answer, Unknown) and not answer.not_supported:
            step = "look at dmesg; a card that fell off the bus needs a reset or a reboot"
            yield Finding(WARN, "cards", "no answer: %s" % describe(answer.error), step)
            return
    if not isinstance(memory, Unknown) and memory.used > memory.total:
        text = "%d MiB of %d MiB in use, more than there is" % (memory.used >> 20, memory.total >> 20)
        yield Finding(WARN, "memory", text, "seen with the IOMMU off: turn it on, or do not trust memory numbers")
    for name, function in (
        ("power limit", pymtml.mtmlGpuGetEnforcedPowerLimit),
        ("default power limit", pymtml.mtmlGpuGetPowerManagementDefaultLimit),
    ):
        if card.ask(function) == 0:
            step = "pymtml calls it unknown; drivers from 3.3.8 on were seen to tell it"
            yield Finding(NOTE, "limits", "the driver tells a %s of 0" % name, step)
    for finding in link_findings(card):
        yield finding
    modes = card.ask(pymtml.nvmlDeviceGetEccMode)
    if not isinstance(modes, Unknown) and modes[0] != modes[1]:
        text = "ECC is %s and will be %s" % (on_off(modes[0]), on_off(modes[1]))
        yield Finding(NOTE, "ecc", text, "reboot for the change to take place")
    if card.ask(pymtml.nvmlDeviceGetRetiredPagesPendingStatus) == 1:
        yield Finding(WARN, "pages", "memory pages wait to be retired", "drain the card and reboot")


def link_findings(card):
    """MtLinks that are down or slower than they could be."""
    spec = card.ask(pymtml.mtmlDeviceGetMtLinkSpec)
    states = {}
    for link in range(0 if isinstance(spec, Unknown) else spec.linkNum):
        states.setdefault(card.ask(pymtml.mtmlDeviceGetMtLinkState, link), []).append(link)
    for state, words in (
        (pymtml.MTML_MTLINK_STATE_DOWN, "down"),
        (pymtml.MTML_MTLINK_STATE_DOWNGRADE, "at reduced width"),
    ):
        if state in states:
            step = "`pymtml mtlink -s` shows all; reseat the board or the bridge"
            yield Finding(WARN, "links", "MtLink %s %s" % (ranges(states[state]), words), step)


def on_off(value):
    """A feature's state in words."""
    return "on" if value else "off"


def cost_finding(card, init_seconds):
    """What initialization and a query cost."""
    rounds = 20
    began = time.perf_counter()
    for _ in range(rounds):
        ask(pymtml.nvmlDeviceGetMemoryInfo, card.handle)
    seconds = (time.perf_counter() - began) / rounds
    text = "init %.1f ms, a memory query %.3f ms" % (init_seconds * 1000, seconds * 1000)
    if init_seconds > SLOW_INIT_SECONDS or seconds > SLOW_QUERY_SECONDS:
        return Finding(WARN, "cost", text + ": slow", "a driver in trouble, or a loaded host: look at dmesg")
    return Finding(OK, "cost", text)


def second_life_finding(stopped):
    """Whether an init after a shutdown works, which some library in the field refuses."""
    if isinstance(stopped, Unknown):
        return Finding(WARN, "reinit", "the shutdown failed: %s" % describe(stopped.error), "look at dmesg")
    again = ask(pymtml.nvmlInit)
    if isinstance(again, Unknown):
        step = "set PYMTML_KEEP_LIBRARY=1 for programs that initialize more than once, as vLLM and sglang do"
        return Finding(WARN, "reinit", "an init after a shutdown fails: %s" % describe(again.error), step)
    ask(pymtml.nvmlShutdown)
    return Finding(OK, "reinit", "an init after a shutdown works")
