"""nvidia-smi's options: what is asked when the first argument is no subcommand, and how it is refused.

Each question is answered by the module that ANSWERED_BY names, which has

    answer(options)   prints the answer; returns the exit status

The refusals, their texts and exit statuses are those that nvidia-smi 580 was seen to give.
"""

from pymtml_cli.common.errors import BAD_ARGUMENT, NVIDIA_SMI, OTHER, called, refuse

NEEDED, OPTIONAL = "needed", "optional"

# Canonical name: (spellings, whether it takes a value)
OPTIONS = {
    "help": (("-h", "--help"), None),
    "version": (("--version",), None),
    "list": (("-L", "--list-gpus"), None),
    "excluded": (("-B", "--list-excluded-gpus"), None),
    "query": (("-q", "--query"), None),
    "all": (("-a",), None),  # -q as old programs spell it
    "dtd": (("--dtd",), None),
    "unit": (("-u", "--unit"), None),
    "xml": (("-x", "--xml-format"), None),
    "display": (("-d", "--display"), NEEDED),
    "id": (("-i", "--id"), NEEDED),
    "filename": (("-f", "--filename"), NEEDED),
    "loop": (("-l", "--loop"), OPTIONAL),
    "loop-ms": (("-lms", "--loop-ms"), OPTIONAL),
    "format": (("--format",), OPTIONAL),
    "json": (("--json",), None),
    "watch": (("--watch",), OPTIONAL),
}
MODIFICATIONS = {
    "persistence-mode": (("-pm", "--persistence-mode"), NEEDED),
    "ecc-config": (("-e", "--ecc-config"), NEEDED),
    "reset-ecc-errors": (("-p", "--reset-ecc-errors"), NEEDED),
    "compute-mode": (("-c", "--compute-mode"), NEEDED),
    "gom": (("--gom",), NEEDED),
    "gpu-reset": (("-r", "--gpu-reset"), OPTIONAL),
    "virt-mode": (("-vm", "--virt-mode"), NEEDED),
    "lock-gpu-clocks": (("-lgc", "--lock-gpu-clocks"), NEEDED),
    "reset-gpu-clocks": (("-rgc", "--reset-gpu-clocks"), None),
    "lock-memory-clocks": (("-lmc", "--lock-memory-clocks"), NEEDED),
    "reset-memory-clocks": (("-rmc", "--reset-memory-clocks"), None),
    "lock-memory-clocks-deferred": (("-lmcd", "--lock-memory-clocks-deferred"), NEEDED),
    "reset-memory-clocks-deferred": (("-rmcd", "--reset-memory-clocks-deferred"), None),
    "applications-clocks": (("-ac", "--applications-clocks"), NEEDED),
    "reset-applications-clocks": (("-rac", "--reset-applications-clocks"), None),
    "applications-clocks-permission": (("-acp", "--applications-clocks-permission"), NEEDED),
    "power-limit": (("-pl", "--power-limit"), NEEDED),
    "cuda-clocks": (("-cc", "--cuda-clocks"), NEEDED),
    "accounting-mode": (("-am", "--accounting-mode"), NEEDED),
    "clear-accounted-apps": (("-caa", "--clear-accounted-apps"), None),
    "auto-boost-default": (("--auto-boost-default",), NEEDED),
    "auto-boost-permission": (("--auto-boost-permission",), NEEDED),
    "multi-instance-gpu": (("-mig", "--multi-instance-gpu"), NEEDED),
    "gpu-target-temp": (("-gtt", "--gpu-target-temp"), NEEDED),
    "dram-encryption": (("-den", "--dram-encryption"), NEEDED),
    "driver-model": (("-dm", "--driver-model"), NEEDED),
    "force-driver-model": (("-fdm", "--force-driver-model"), NEEDED),
    "set-hostname": (("--set-hostname",), NEEDED),
}
OPTIONS.update(MODIFICATIONS)
OPTIONS.update(
    {
        "mode": (("-m", "--mode"), NEEDED),
        "scope": (("-sc", "--scope"), NEEDED),
        "error-on-warning": (("-eow", "--error-on-warning"), None),
    }
)
KINDS = ("gpu", "compute-apps", "retired-pages", "remapped-rows", "supported-clocks", "accounted-apps")
for _kind in KINDS:
    OPTIONS["query-" + _kind] = (("--query-" + _kind,), NEEDED)
    OPTIONS["help-query-" + _kind] = (("--help-query-" + _kind,), None)
del _kind

BY_SPELLING = {spelling: name for name, (spellings, _) in OPTIONS.items() for spelling in spellings}

# Questions that stand alone, in the order in which they are looked for
ALONE = ("help", "version", "list", "excluded") + tuple("help-query-" + kind for kind in KINDS)
QUERIES = tuple("query-" + kind for kind in KINDS)

# Question: module of this package
ANSWERED_BY = {
    "help": "smi.usage",
    "version": "smi.versions",
    "list": "smi.listing",
    "excluded": "smi.listing",
    "query": "smi.sections",
    "xml": "smi.xml_document",
    "dtd": "smi.xml_document",
    "json": "hosts.json_document",
    "table": "smi.table",
    "modification": "smi.modify",
}
ANSWERED_BY.update(("query-" + kind, "smi.query") for kind in KINDS)
ANSWERED_BY.update(("help-query-" + kind, "smi.query") for kind in KINDS)

# What may stand beside which question
BESIDE_QUERY = ("format", "id", "filename", "loop", "loop-ms")
BESIDE_LOG = ("query", "all", "unit", "id", "filename", "xml", "dtd", "display", "loop", "loop-ms")
BESIDE_MODIFICATION = tuple(MODIFICATIONS) + ("id", "mode", "scope", "error-on-warning")
MODIFYING = frozenset(BESIDE_MODIFICATION) - {"id", "error-on-warning"}
BESIDE_TABLE = ("id", "filename", "loop", "loop-ms", "watch")

# The other questions, in the order in which they are looked for: (options that ask it, question, what may stand there)
QUESTIONS = (
    (("query", "all"), "query", BESIDE_LOG),
    (("dtd",), "dtd", ("dtd", "unit", "filename")),
    (MODIFYING, "modification", BESIDE_MODIFICATION),
    (("json",), "json", ("json", "id", "filename", "loop", "loop-ms")),
)
_LOG, _NO_LOG = ". Specify -q/--query and %s.  Please run '%%(name)s -h' for help.\n\n", {"query", "all", "dtd"}
# What cannot stand together, in the order in which nvidia-smi looks for it: (whether options do, how it refuses them)
NOT_TOGETHER = (
    (
        lambda names: names & {"query", "all"} and {"xml", "display"} <= names,
        ": --display/-d flags can not be combined with -x/--xml-format flags.\n",
    ),
    (
        lambda names: names & {"query", "all"} and "dtd" in names and "xml" not in names,
        ": Specify -x/--xml-format with the -q/--query and --dtd flags to embed DTD.\n",
    ),
    (lambda names: "unit" in names and not names & _NO_LOG, _LOG % "-u/--unit to run a unit query"),
    (lambda names: "xml" in names and not names & _NO_LOG, _LOG % "-x/--xml-format to run an XML query"),
    (lambda names: "display" in names and not names & _NO_LOG, _LOG % "-d/--display to run a filtered query"),
)

LOOP_SECONDS, WATCH_SECONDS = 5, 2
LONGEST_LOOP = 10**9 - 1  # of whatever unit

# Values of -d
SECTIONS = tuple(
    (
        "MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE SUPPORTED_CLOCKS PAGE_RETIREMENT "
        "ACCOUNTING ENCODER_STATS SUPPORTED_GPU_TARGET_TEMP VOLTAGE FBC_STATS ROW_REMAPPER GSP_FIRMWARE_VERSION "
        "POWER_SMOOTHING POWER_PROFILES "
    ).split()
)


class Options:
    """What was asked: ``question`` is a name in ANSWERED_BY; ``values`` by option.

    ``seconds`` is the time between samples, None for one sample.
    """

    def __init__(self, question, values):
        self.question, self.values = question, values
        self.seconds = _seconds(values)

    def get(self, name, default=None):
        """Value of an option; True for one that takes none, the default for one that was not given."""
        return self.values.get(name, default)


def _seconds(values):
    for name, unit in (("loop", 1.0), ("loop-ms", 1000.0), ("watch", 1.0)):
        if name in values:
            return _interval(name, values[name]) / unit
    return None


def _interval(name, text):
    """The number behind -l, -lms or --watch."""
    if text is True:
        return {"loop": LOOP_SECONDS, "loop-ms": LOOP_SECONDS * 1000, "watch": WATCH_SECONDS}[name]
    from pymtml_cli.common.numeric import number

    value = number(text, 0, LONGEST_LOOP, whole=name != "watch")
    if not value:
        text = "Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n"
        raise refuse(text if name != "watch" else text.replace("[-l(ms) | --loop(-ms)=]", "--watch"))
    return value


def _error(text, raw, status, for_help=" for help", hint=""):
    return refuse("ERROR: Option %s %s. Please run '%s -h'%s.\n\n" % (raw, text, called(), for_help), status, hint)


def _not_known(raw):
    """The line about an argument that is neither an option nor a subcommand."""
    from pymtml_cli.common import hints
    from pymtml_cli.subcommands import SUBCOMMANDS

    return hints.option(raw, list(SUBCOMMANDS) + [spelling for spelling in BY_SPELLING if len(spelling) > 2])


def _apart(parts, raw, question, text):
    """The error for an argument that cannot stand beside the question, which is one of the others."""
    spelling = raw.partition("=")[0]
    if spelling not in BY_SPELLING:
        return _error(text, raw, BAD_ARGUMENT, hint=_not_known(raw))
    first = next((other for other, name, _ in parts if name == question and other != raw), None)
    if first is None or called() == NVIDIA_SMI:
        return _error(text, raw, BAD_ARGUMENT)
    both = "ERROR: %s and %s cannot be combined. Please run '%s -h' for help.\n\n"
    return refuse(both % (first.partition("=")[0], spelling, called()))


def _split(arguments):
    """The arguments as (as written, option or None, value), in order."""
    parts, position = [], 0
    while position < len(arguments):
        raw = arguments[position]
        position += 1
        spelling, equals, value = raw.partition("=")
        name = BY_SPELLING.get(spelling)
        takes = OPTIONS[name][1] if name else None
        if name is None or (equals and not takes):
            parts.append((raw, None, None))
            continue
        if not equals and takes and position < len(arguments) and not arguments[position].startswith("-"):
            value, equals = arguments[position], "="
            position += 1
        if not equals:
            value = None if takes == NEEDED else True
        parts.append((raw, name, value))
    return parts


def parse(arguments):
    """Options for the arguments.

    Raises: CommandError in nvidia-smi's words.
    """
    parts = _split(arguments)
    names = [name for _, name, _ in parts]
    for question in ALONE:
        if question in names:
            for raw, name, _ in parts:
                if name != question:
                    raise _apart(parts, raw, question, "is not valid for this command")
            return Options(question, {})
    queries = [name for name in QUERIES if name in names]
    if queries:
        return _parse_query(queries, parts)
    for raw, name, _ in parts:
        if name is None or name == "format":
            hint = _not_known(raw) if name is None else "--format goes with --query-gpu and the like"
            raise _error("is not recognized", raw, OTHER, "", hint)
    values = _values(parts)
    for stands, text in NOT_TOGETHER:
        if stands(set(names)):
            raise refuse("Invalid combination of input arguments" + text % {"name": called()})
    for asking, question, beside in QUESTIONS:
        first = next((name for name in names if name in asking), None)
        if first is not None:
            _allow(parts, first, beside)
            return Options("xml" if question == "query" and "xml" in names else question, values)
    _allow(parts, "watch", BESIDE_TABLE)
    return Options("table", values)


def _parse_query(queries, parts):
    if len(queries) > 1:
        raise refuse("Only one --query-* switch can be used at a time.\n")
    _allow(parts, queries[0], (queries[0],) + BESIDE_QUERY)
    return Options(queries[0], _values(parts))


def _allow(parts, question, names):
    """Refuse what cannot stand beside a question."""
    for raw, name, _ in parts:
        if name not in names:
            raise _apart(parts, raw, question, "is not recognized")


def _values(parts):
    """Options by name; one that lacks its value, or comes twice, is refused."""
    values = {}
    for raw, name, value in parts:
        if value is None:
            raise _error("is missing its value", raw, OTHER)
        if name in values:
            raise _error("is not recognized", parts[0][0], OTHER)
        values[name] = value
    return values
