"""doctor: what works here, what does not, and what to do about it.

Checks run in the order in which things depend on each other, and each finding is printed as soon as it is known. A
child process asks the driver, which may hang, and looks at processes last. Levels: ok, note (never changes the
verdict), warn (works in part), fail (does not work) and n/a.
"""

import contextlib
import ctypes
import glob
import os
import signal
import sys
import time
from collections import namedtuple
from functools import partial
from types import SimpleNamespace

import pymtml
from pymtml_cli.arguments import argument_parser
from pymtml_cli.common import layout, people
from pymtml_cli.common.errors import CommandError, reason
from pymtml_cli.common.files import read
from pymtml_cli.common.options import JSON
from pymtml_cli.common.text import counted, json, safe, some
from pymtml_cli.health import checks, containers
from pymtml_cli.health.child import LONGEST_TIMEOUT, LOOKING, Child, answer_parent, end_with
from pymtml_cli.health.containers import container
from pymtml_cli.readings import driver_files
from pymtml_cli.readings.devices import Machine, Unknown, ask, describe, host, musa_version, then
from pymtml_cli.readings.documents import head
from pymtml_cli.readings.topology import ranges

OK, NOTE, WARN, FAIL, NOT_APPLICABLE = checks.OK, checks.NOTE, checks.WARNING, checks.CRITICAL, checks.NOT_AVAILABLE
WORDS = {OK: "ok", NOTE: "note", WARN: "warn", FAIL: "fail", NOT_APPLICABLE: "n/a"}  # as they are printed
SLOW_INIT_SECONDS, SLOW_QUERY_SECONDS = 5.0, 0.1
MODULES = ("pymtml", "pynvml")
NAMES_SHOWN = 6


class Finding(namedtuple("Finding", "level check text next_step", defaults=(None,))):
    """A level, what was checked, what was found, what to do; ``gpus``: the cards that it is about, if any."""

    gpus = ()


def parser():
    parser = argument_parser("doctor")
    text = "seconds to wait for the driver (default 30)"
    parser.add_number("--timeout", "SECONDS", 0.1, LONGEST_TIMEOUT, text, 30.0, whole=False)
    parser.add_argument("-q", "--quiet", action="store_true", help="only what is wrong")
    parser.add_argument("--json", action="store_true", help=JSON)
    return parser


def run(arguments):
    """Examine, print, and sum up (exit status: 0 works, 1 works in part, 2 does not work)."""
    answer_parent(arguments, _ask)
    options = parser().parse_args(arguments)
    findings, known = [], SimpleNamespace(library=None, driver=None, count=None)
    at_once = not options.json and not sys.stdout.isatty()
    for finding in examine(options.timeout, known):
        findings.append(finding)
        if at_once and (checks.SEVERITY[finding.level] or not options.quiet):
            sys.stdout.write(as_text(finding))
            sys.stdout.flush()
    levels = [finding.level for finding in findings]
    status, text = 0, "works"
    if FAIL in levels:
        status, text = 2, "does not work: %s" % counted(levels.count(FAIL), "failure")
    elif WARN in levels:
        status, text = 1, "works in part: %s" % counted(levels.count(WARN), "warning")
    if options.json:
        document = dict(head(known.library, known.driver), device_count=known.count, exit_status=status, verdict=text)
        document.update(status=(OK, WARN, FAIL)[status], findings=list(map(as_object, findings)))
        sys.stdout.write(json(document))
    elif at_once:
        sys.stdout.write("\nverdict: pymtml %s\n" % text)
    else:
        shown = [(finding.level, as_text(finding).rstrip("\n")) for finding in findings]
        people.verdict(host(), (OK, WARN, FAIL)[status], "pymtml " + text, shown, options.quiet)
    return status


def as_text(finding):
    """A finding as it is printed: a line, and one for what to do about it."""
    about = "GPU %s: " % ranges(finding.gpus) if finding.gpus else ""
    text = "%-5s %-10s %s%s\n" % (WORDS[finding.level], finding.check, about, safe(finding.text))
    return text + ("%-16s -> %s\n" % ("", safe(finding.next_step)) if finding.next_step else "")


def as_object(finding):
    """A finding of the document. ``level`` and ``next_step`` are as pymtml 0.3 had them."""
    found = {"check": finding.check, "status": finding.level, "gpus": list(finding.gpus), "text": finding.text}
    return dict(found, advice=finding.next_step, level=WORDS[finding.level], next_step=finding.next_step)


def examine(timeout, known):
    """All findings (iterator). ``known`` gets the versions of library and driver, and the number of cards."""
    yield from python_findings()
    yield from environment_findings()
    answers = {"answering": ()}
    with people.saying("asking the driver, which may take up to %g seconds" % timeout):
        yield from findings_of_a_child({}, timeout, answers)
    known.library, known.driver, known.count = [answers.get(name) for name in ("library", "driver", "count")]
    if (
        answers["answering"] and LOOKING not in answers
    ):  # the child ended, or the library takes no init after a shutdown
        with people.saying("looking at processes"):
            yield from findings_of_a_child({"cards": answers["answering"]}, timeout, {})


def findings_of_a_child(wanted, timeout, answers):
    """Findings of a child process (iterator); what else it says is put into ``answers``."""
    child, asking = None, ""
    try:
        child = Child("doctor", wanted)
        for kind, value in child.messages(time.monotonic() + timeout):
            if kind == "finding":
                *parts, gpus = value
                found = Finding(*parts)
                found.gpus = gpus
                yield found
            elif kind == "asking":
                asking = ", to the check %s of GPU %d" % tuple(value) if value else ""
            elif kind == "end":
                return
            else:
                answers[kind] = value
        if child.hangs_in_a_look:
            found = finding_of(checks.PROCESSES, checks.endless_look(child.look_seconds))
            yield from about_cards({found: wanted.get("cards") or answers["answering"]})
        else:
            yield Finding(FAIL, "driver", child.failure(timeout) + asking, "look at dmesg for mtgpu; a reboot may help")
    except (OSError, ValueError) as error:
        yield Finding(FAIL, "driver", "cannot start the check: %s" % reason(error))
    finally:
        if child is not None:
            child.stop()


# ---- The child ----


def _ask(wanted, send):
    cards = wanted.get("cards")
    for one in examine_driver(send) if cards is None else processes_findings(cards, send):
        send("finding", [*one, one.gpus])


def examine_driver(send):
    before = open_nodes()
    began = time.perf_counter()
    initialized = ask(pymtml.nvmlInit)
    seconds = time.perf_counter() - began
    opened = sorted(open_nodes() - before)
    loaded = pymtml.nvmlLib is not None
    if loaded:
        yield library_finding()
        yield functions_finding()
    simulated = loaded and hasattr(pymtml.nvmlLib, "mtmlSimReload")
    yield from system_findings(simulated, loaded)
    yield from file_findings(simulated or container())  # which has a finding of its own where there are none
    if isinstance(initialized, Unknown):
        yield init_failure(initialized.error)
        return
    try:
        library, driver = ask(pymtml.nvmlSystemGetNVMLVersion), ask(pymtml.nvmlSystemGetDriverVersion)
        for name, version in (("library", library), ("driver", driver)):
            send(name, None if isinstance(version, Unknown) else version)
        yield Finding(OK, "versions", "MTML %s, driver %s, MUSA %s" % (library, driver, musa_version()))
        answering = yield from device_findings(seconds, send)
    finally:
        setting = os.environ.pop("PYMTML_KEEP_LIBRARY", None)  # so that both kinds of shutdown are tried
        ask(pymtml.nvmlShutdown)
    try:
        yield fork_finding(opened)
        again = second_life_finding()
        yield again
    finally:
        os.environ.update({} if setting is None else {"PYMTML_KEEP_LIBRARY": setting})
    if answering and again.level == OK:
        yield from processes_findings(answering, send)


# ---- Python ----


def python_findings():
    """Where pymtml comes from, and which other packages have files named pymtml or pynvml."""
    version = "%d.%d.%d" % sys.version_info[:3]
    yield Finding(OK, "module", "pymtml %s, %s, Python %s" % (pymtml.__version__, pymtml.__file__, version))
    owners = file_owners()
    owned = {(module, os.path.realpath(path)) for module, _, path in owners or ()}
    for module, path, used in files_on_path():
        if (module, os.path.realpath(path)) in owned:
            continue  # reported below, with its owner
        if module == "pynvml" and used:
            step = "`pymtml run PROGRAM` puts pymtml in its place"
            yield Finding(NOTE, "packages", "import pynvml finds %s, which belongs to no distribution" % path, step)
        elif module == "pymtml" and not used:
            yield Finding(NOTE, "packages", "%s is also on the path and is not used" % path, "remove it")
    if owners is None:
        yield Finding(NOT_APPLICABLE, "packages", "Python %s cannot list distributions" % version)
        return
    for module, owner, path in owners:
        if module == "pynvml":
            step = "`pymtml run PROGRAM` or `pymtml drop-in` put pymtml in its place"
            yield Finding(NOTE, "packages", "%s provides pynvml (%s)" % (owner, path), step)
        elif owner.lower().replace("_", "-") != "pymtml-nvml":
            step = "this module comes first; nothing to do"
            if os.path.realpath(path) == os.path.realpath(pymtml.__file__):
                step = "%s owns the file in use: if you uninstall it, install pymtml's wheel again" % owner
            yield Finding(NOTE, "packages", "%s owns %s" % (owner, path), step)


def files_on_path():
    """(module, file, whether an import finds it) of the files on the path that have the modules' names (iterator)."""
    for module in MODULES:
        found, ends = {}, (os.path.join(module, "__init__.py"), module + ".py")
        for path in [os.path.join(folder or os.curdir, end) for folder in sys.path for end in ends]:
            if os.path.isfile(path):
                found.setdefault(os.path.realpath(path), path)
        used = os.path.realpath(pymtml.__file__) if module == "pymtml" else next(iter(found), None)
        yield from ((module, path, file == used) for file, path in found.items())


def file_owners():
    """(module, distribution, path) of files of distributions with the modules' names (list); None before Python 3.8."""
    try:
        from importlib import metadata
    except ImportError:
        return None
    wanted, found = {"%s%s" % (module, end): module for module in MODULES for end in (".py", "/__init__.py")}, {}
    for distribution in metadata.distributions():
        listed = "".join(filter(None, (distribution.read_text(name) for name in ("RECORD", "installed-files.txt"))))
        if not any(module in listed for module in MODULES):
            continue  # this saves splitting hundreds of lists
        for file in distribution.files or ():
            module = wanted.get(str(file).replace(os.sep, "/"))
            if module:
                owner = distribution.metadata.get("Name") or "?"
                found[module, owner, str(distribution.locate_file(file))] = None
    return sorted(found, key=lambda one: MODULES.index(one[0]))


# ---- Environment ----

PATHS = ("PYMTML_LIBRARY", "PYMTML_MUSA_LIBRARY", "PYMTML_PROC_ROOT", "PYMTML_SYS_ROOT")
VARIABLES = PATHS + ("PYMTML_KEEP_LIBRARY", "LD_LIBRARY_PATH")


def environment_findings():
    """Variables that change what pymtml sees."""
    for name in VARIABLES:
        if os.environ.get(name):
            text = "%s=%s" % (name, os.environ[name])
            if name in PATHS and pymtml._setting(name) is None:
                text += ": not followed, as this process has raised privileges"
            yield Finding(NOTE, "variable", text)


# ---- Library ----


def library_finding():
    """Which file was loaded, and how it was found."""
    name = pymtml.nvmlLib._name
    how = "through PYMTML_LIBRARY" if pymtml._setting("PYMTML_LIBRARY") else "as %s by the usual search" % name
    return Finding(OK, "library", "%s, found %s" % (loaded_file() or name, how))


def loaded_file():
    """Path of the file that the library was loaded from, or None if the system does not list it."""
    address = ctypes.cast(pymtml._mtmlGetFunctionPointer("mtmlLibraryInit"), ctypes.c_void_p).value
    for line in read("/proc/self/maps").splitlines():
        parts = line.split(None, 5)
        first, last = (int(number, 16) for number in parts[0].split("-"))
        if first <= address < last and len(parts) > 5:
            return parts[5]
    return None


def functions_finding():
    """Which functions the library lacks, and what the facade therefore refuses."""
    known = (pymtml._PROTOTYPES, pymtml._OPTIONAL_PROTOTYPES)
    from pymtml_cli.capture import missing  # at the top it would precede the check for another pymtml

    absent = missing()
    header, further = [[name for name in absent if name in names] for names in known]
    text = "%d of %d functions of the header" % (len(known[0]) - len(header), len(known[0]))
    if not absent:
        return Finding(OK, "functions", text + ", and all that are known beyond it")
    text += ", %d of %d others; missing: %s" % (len(known[1]) - len(further), len(known[1]), some(absent, NAMES_SHOWN))
    refused = resting_on(absent)
    step = "not or only partly reported: %s" % some(refused, NAMES_SHOWN) if refused else None
    return Finding(WARN if header else NOTE, "functions", text, step)


def resting_on(functions):
    """Facade functions that call one of these functions (list)."""
    rows = dict(layout.tables("health/resting.txt")["functions"])
    return sorted({name for function in functions for name in rows.get(function, "").split()})


def init_failure(error):
    steps = {
        pymtml.NVMLError_LibraryNotFound: "install the Moore Threads driver, or name the file in PYMTML_LIBRARY; in a "
        "container, start it with the mthreads runtime and MTHREADS_VISIBLE_DEVICES=all",
        pymtml.NVMLError_DriverNotLoaded: "load the kernel module (modprobe mtgpu) and look at dmesg",
        pymtml.NVMLError_NoPermission: "look at the permissions of /dev/mtgpu*; the group is often render or video",
    }
    step = next((text for kind, text in steps.items() if isinstance(error, kind)), "look at dmesg for mtgpu")
    step = pymtml._session.misfit or step
    return Finding(FAIL, "init", " ".join(str(error).split()), step)


# ---- System ----


def system_findings(simulated, loaded):
    """Kernel module, device nodes, the driver's tree in procfs, container."""
    if simulated or sys.platform == "win32":
        text = "the library is a simulator: kernel module and device nodes not checked"
        elsewhere = "kernel module and device nodes are only checked on Linux"
        yield Finding(NOT_APPLICABLE, "driver", text if simulated else elsewhere)
        return
    inside = container()
    yield Finding(NOTE if inside else OK, "container", "inside a container (%s)" % inside if inside else "none seen")
    for found in containers.findings(loaded) if inside else ():
        yield Finding(*found)
    version, load = driver_files.version(), "modprobe mtgpu, and look at dmesg"
    # The published drivers, up to 3.0.0, have no MODULE_VERSION, and so no file `version` in this folder.
    if isinstance(version, str) or os.path.isdir(os.path.join(pymtml._sys_root(), "module", "mtgpu")):
        known = "version not reported" if isinstance(version, driver_files.Unread) else version
        yield Finding(OK, "module", "kernel module mtgpu, %s" % known)
    elif inside:
        yield Finding(NOTE, "module", "kernel module mtgpu not seen from inside the container")
    else:
        yield Finding(WARN, "module", "kernel module mtgpu is not loaded", load)
    nodes = sorted(glob.glob("/dev/mtgpu*"))
    if not inside:  # a container has its own finding about them
        found = Finding(OK, "nodes", "%d of /dev/mtgpu*" % len(nodes))
        yield found if nodes else Finding(WARN, "nodes", "no /dev/mtgpu*", load)
    closed = [node for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        step = "add yourself to the group that owns the device files (in a container: --group-add)"
        yield Finding(WARN, "rights", "no permission to use %s" % some(closed, NAMES_SHOWN), step)
    elif nodes:
        yield Finding(OK, "rights", "all nodes readable and writable")
    else:
        yield Finding(NOT_APPLICABLE, "rights", "no nodes")


def file_findings(may_lack):
    """Which of the driver's files are there, and which of them are understood (iterator)."""
    names = driver_files.directories()
    if not names:
        text = "no files of the driver below %s: shares of processes, state and XIDs of cards are unavailable"
        if not may_lack:
            yield Finding(NOTE, "files", text % driver_files.root())
        return
    groups = {}
    for name in names:
        files = driver_files.patiently(lambda: driver_files.described(name))
        if files is None:
            text = "%s: reading these files of the driver hangs" % name
            yield Finding(WARN, "files", text, "look at dmesg for mtgpu; a reboot may help")
            break
        known = [file + (" (%s)" % form if form else "") for file, (form, _) in files.items() if form is not None]
        missing = [file for file in driver_files.FORMS if file not in files]
        text = "understood: " + ", ".join(known) + ("; not there: " + ", ".join(missing) if missing else "")
        groups.setdefault((OK, text, None), []).append(name)
        for file, why in [(file, why) for file, (form, why) in files.items() if form is None]:
            step = "run as root, or report it with what `pymtml capture` prints"
            groups.setdefault((NOTE, "%s is present but not understood: %s" % (file, why), step), []).append(name)
    if driver_files.version() is driver_files.NOT_UNDERSTOOD:
        groups[NOTE, "version is present but not understood", None] = ["version"]
    for (level, text, step), those in groups.items():
        yield Finding(level, "files", "%s: %s" % (some(those, NAMES_SHOWN), text), step)


# ---- Devices ----


def device_findings(init_seconds, send=lambda kind, value: None):
    """Findings about the cards, and the cost of a query (iterator that returns which answer); what it asks is sent."""
    try:
        machine = Machine()
    except CommandError as error:
        yield Finding(FAIL, "devices", error.text, "look at dmesg for mtgpu")
        return
    with machine:
        cards = machine.cards
        send("count", len(cards))
        if not cards:
            step = "in a container: MTHREADS_VISIBLE_DEVICES=all; else look at lspci -d 1ed5: and at dmesg"
            yield Finding(FAIL, "devices", "no devices", step)
            return
        if "MUSA_VISIBLE_DEVICES" in os.environ:
            yield visible_finding(cards)
        instances = sum(len(card.instances) for card in cards)
        divided = ", " + counted(instances, "MPC instance") if instances else ""
        yield Finding(OK, "devices", counted(len(cards), "card") + divided)
        answering = []
        yield from grouped(findings_of_cards(cards, answering, lambda *what: send("asking", what[::-1])))
        send("asking", None)
        indices = [card.index for card in answering]
        send("answering", indices)
        yield cost_finding(cards[0], init_seconds)
        return indices


def processes_findings(indices, send):
    """Whether all processes could be inspected, asked of the cards with these indices (iterator)."""
    try:
        machine = Machine()
    except CommandError as error:
        yield Finding(NOTE, checks.PROCESSES, "not looked at: " + " ".join(error.text.split()))
        return
    with machine:
        send(LOOKING, None)
        limits, cards = checks.default_limits(), [card for card in machine.cards if card.index in indices]
        groups = {}
        for card in cards:
            found = [finding_of(checks.PROCESSES, one) for one in checks.outcomes(card, checks.PROCESSES, limits)]
            memory = then(ask(pymtml._processes_of, card.handle), lambda users: users.memory())
            if not isinstance(memory, Unknown) and memory.count is not None and memory.reason is not None:
                text = "memory per process is unavailable: %s" % memory.reason
                found.append(Finding(NOTE, checks.PROCESSES, text))
            for one in found:
                groups.setdefault(one._replace(next_step=None) if one.level == OK else one, []).append(card.index)
        yield from about_cards(groups)


def grouped(findings):
    """Findings of cards (iterator): equal ones are merged; checks that are well or unreported are only listed."""
    groups, levels, quiet = {}, {}, {OK: {}, NOT_APPLICABLE: {}}  # cards by finding, levels, and cards by check
    for index, check, finding in findings:
        levels.setdefault((index, check), set()).add(finding.level)
        if finding.level not in quiet:
            groups.setdefault(finding, []).append(index)
    for (index, check), found in levels.items():
        if found <= set(quiet):
            quiet[NOT_APPLICABLE if NOT_APPLICABLE in found else OK].setdefault(check, []).append(index)
    if not any(finding.level == WARN for finding in groups):
        groups.update(checks_by_cards(quiet[OK], Finding(OK, "cards", "%s: in order")))
    unreported = Finding(NOT_APPLICABLE, "unreported", "%s: not or only partly reported")
    groups.update(checks_by_cards(quiet[NOT_APPLICABLE], unreported))
    yield from about_cards(groups)


def about_cards(groups):
    """Findings with their cards, of {Finding: indices} (iterator)."""
    for finding, indices in groups.items():
        finding.gpus = indices
        yield finding


def checks_by_cards(cards_by_check, form):
    """(Finding that lists checks, their cards), one for all checks that have the same cards (iterator)."""
    found = {}
    for check, indices in cards_by_check.items():
        found.setdefault(tuple(indices), []).append(check)
    return ((form._replace(text=form.text % ", ".join(names)), list(indices)) for indices, names in found.items())


def visible_finding(cards):
    """Which cards MUSA_VISIBLE_DEVICES leaves visible, by the function that programs call (Finding)."""
    variable = "MUSA_VISIBLE_DEVICES=%s: " % os.environ["MUSA_VISIBLE_DEVICES"]
    devices = ask(pymtml.musa_visible_devices)
    if isinstance(devices, Unknown):
        text = "the cards that it names do not answer: %s" % describe(devices.error)
        return Finding(WARN, "variable", variable + text)
    numbers, step = {card.handle: card.index for card in cards}, None
    if devices == list(numbers):
        text = "see all cards, numbered as here"
    elif not devices:
        text, step = "see no card", "unset it, or name cards that exist"
    else:
        names = ["GPU %s" % numbers[device] if device in numbers else "an MPC instance" for device in devices]
        text = "only see these, as 0 and up: " + ", ".join(names)
        step = "pymtml.musa_visible_devices() returns them in that order; everything else shows all cards"
    return Finding(NOTE, "variable", variable + "MUSA programs " + text, step)


def findings_of_cards(cards, answering, asking):
    """(index, check, Finding) of health's outcomes on cards, and of what else is odd about them (iterator).

    What is ``asking`` is told before; ``answering`` gets the cards that answer.
    """
    names = [name for name in checks.OF_CARD if name != checks.PROCESSES]
    for card in cards:
        outcomes = []
        tell = partial(asking, card.index)
        for check, outcomes in checks.card_outcomes(card, checks.default_limits(), names, tell):
            yield from ((card.index, check, finding_of(check, one)) for one in outcomes)
        yield from ((card.index, check, finding) for check, finding in odd_findings(card))
        if not checks.is_silent(outcomes):
            answering.append(card)
    for card, check, outcome in checks.among_outcomes(answering, names):
        yield card.index, check, finding_of(check, outcome)


def finding_of(name, outcome):
    """An outcome of a check as doctor's Finding."""
    check, title = checks.CHECKS[name], "cards" if name == "answers" else name
    level = OK if outcome.level == NOTE and not check.noted else outcome.level
    level = WARN if level == checks.CRITICAL else level  # the rest of the machine works
    return Finding(level, title, outcome.text, outcome.advice or check.advice)


def odd_findings(card):
    """(check of health, Finding) of what is odd about a card and not covered by health's questions (iterator)."""
    for name, function in (
        ("power limit", pymtml.mtmlGpuGetEnforcedPowerLimit),
        ("default power limit", pymtml.mtmlGpuGetPowerManagementDefaultLimit),
    ):
        if card.ask(function) == 0:  # as with driver 3.3.7 (chengminhua/musatop, docs/NA_DIAGNOSIS.md)
            step = "pymtml treats it as unknown; drivers from 3.3.8 on were seen to report it"
            yield "limits", Finding(NOTE, "limits", "the driver reports a %s of 0" % name, step)
    if driver_files.of(card) is None and driver_files.directories():
        text = "none of the driver's directories could be matched to this card"
        yield "firmware", Finding(NOTE, "files", text, "their devname or proc_util must name one of the card's nodes")
    modes = card.ask(pymtml.nvmlDeviceGetEccMode)
    if not isinstance(modes, Unknown) and modes[0] != modes[1]:
        text = "ECC is %s and will be %s" % tuple("on" if mode else "off" for mode in modes)
        yield "ecc", Finding(NOTE, "ecc", text, "reboot for the change to take place")


def cost_finding(card, init_seconds):
    rounds = 20
    began = time.perf_counter()
    for _ in range(rounds):
        ask(pymtml.nvmlDeviceGetMemoryInfo, card.handle)
    seconds = (time.perf_counter() - began) / rounds
    text = "init %.1f ms, a memory query %.3f ms" % (init_seconds * 1000, seconds * 1000)
    if init_seconds > SLOW_INIT_SECONDS or seconds > SLOW_QUERY_SECONDS:
        return Finding(WARN, "cost", text + ": slow", "a driver in trouble, or a loaded host: look at dmesg")
    return Finding(OK, "cost", text)


FORK_SECONDS = 10


def open_nodes():
    """Device nodes that this process has open (set of paths); empty if the system does not list them."""
    opened = set()
    for file in glob.glob("/proc/self/fd/*"):
        with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed by now
            opened.add(os.readlink(file))
    return {path for path in opened if path.startswith("/dev/") and ("mtgpu" in path or "dri/" in path)}


def fork_finding(opened):
    """Whether an init works in a forked child while the library is kept; ``opened``: device nodes that it inherits."""
    opens = "an init opens %s" % ", ".join(opened) if opened else "an init leaves no device node open"
    if not hasattr(os, "fork"):
        return Finding(NOT_APPLICABLE, "fork", "%s; this system does not fork" % opens)
    parent, child = os.getpid(), os.fork()
    if not child:
        status = 1
        try:
            end_with(parent)
            pymtml.nvmlInit()
            pymtml.nvmlDeviceGetCount()
            status = 0
        finally:
            os._exit(status)
    end, ended = time.monotonic() + FORK_SECONDS, 0
    while not ended and time.monotonic() < end:
        time.sleep(0.01)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    how = "hangs" if not ended else "fails" if status else "works"
    text = "an init in a forked child %s; %s" % (how, opens)
    if how != "works":
        return Finding(WARN, "fork", text, "initialize only in the child, or start it by spawn")
    return Finding(OK, "fork", text + (", which a child inherits" if opened else ""))


def second_life_finding():
    """Whether an init works after a shutdown in C: vllm-musa 0.1.28 met a library that refuses it."""
    ask(pymtml.mtmlLibraryInit)
    stopped = ask(pymtml.mtmlLibraryShutDown)
    if isinstance(stopped, Unknown):
        return Finding(WARN, "reinit", "the shutdown failed: %s" % describe(stopped.error), "look at dmesg")
    again = ask(pymtml.nvmlInit)
    if isinstance(again, Unknown):
        step = "nvmlShutdown keeps the library; PYMTML_KEEP_LIBRARY=1 is for programs that call mtmlLibraryShutDown"
        return Finding(WARN, "reinit", "an init after a shutdown fails: %s" % describe(again.error), step)
    ask(pymtml.mtmlLibraryShutDown)
    return Finding(OK, "reinit", "an init after a shutdown works")
