"""nvidia-smi's options: what is asked when the first argument is no subcommand, and how it is refused.

Each question is answered by the module that ANSWERED_BY names, which has

    answer(options)   prints the answer; returns the exit status

The refusals, their texts and exit statuses are those that nvidia-smi 580 was seen to give.
"""

from pymtml_cli.common import layout
from pymtml_cli.common.errors import BAD_ARGUMENT, NVIDIA_SMI, OTHER, CommandError, called, refuse, see_help
from pymtml_cli.common.options import spelled

NEEDED, OPTIONAL = "needed", "optional"


def _options(lines):
    """Options as {last spelling: (spellings, whether a value follows)}; in brackets the value is optional."""
    found = {}
    for spellings, value in spelled(lines):
        takes = OPTIONAL if value.startswith("[") else NEEDED if value else None
        found[spellings[-1].lstrip("-")] = spellings, takes
    return found


KINDS = ("gpu", "compute-apps", "retired-pages", "remapped-rows", "supported-clocks", "accounted-apps")
# -a is -q as old programs spell it
OPTIONS = _options("""
-h, --help / -V, -v, --version / -L, --list-gpus / -B, --list-excluded-gpus / -q, --query / -a / --dtd / -u, --unit /
-x, --xml-format / -d, --display SECTIONS / -i, --id CARDS / -f, --filename FILE / -l, --loop [SECONDS] /
-lms, --loop-ms [MILLISECONDS] / -col, --columns / --format [WORDS] / --json / --watch [SECONDS] /
-eow, --error-on-warning / --force / --count N / --compact
""".split("/"))
OURS = ("--force", "--count", "--compact", "-V", "-v")  # which nvidia-smi does not have
CHANGE_ROWS = layout.tables("smi/changes.txt")["changes"]
MODIFIERS = ("mode", "scope")  # which go with changes, and stand there too
MODIFICATIONS = {name: row for name, row in _options(row[0] for row in CHANGE_ROWS).items() if name not in MODIFIERS}
OPTIONS.update(_options(row[0] for row in CHANGE_ROWS))
for _kind in KINDS:
    OPTIONS.update(_options(["--query-%s FIELDS" % _kind, "--help-query-" + _kind]))
del _kind

BY_SPELLING = {spelling: name for name, (spellings, _) in OPTIONS.items() for spelling in spellings}

# Questions that stand alone, in the order in which they are looked for
ALONE = ("help", "version", "list-gpus", "list-excluded-gpus") + tuple("help-query-" + kind for kind in KINDS)
QUERIES = tuple("query-" + kind for kind in KINDS)

# Question: module of this package
ANSWERED_BY = {
    "help": "smi.usage",
    "version": "smi.usage",
    "list-gpus": "smi.listing",
    "list-excluded-gpus": "smi.listing",
    "query": "smi.sections",
    "xml": "smi.xml_document",
    "json": "hosts.json_document",
    "table": "smi.table",
    "modification": "smi.modify",
}
ANSWERED_BY.update(("query-" + kind, "smi.query") for kind in KINDS)
ANSWERED_BY.update(("help-query-" + kind, "smi.query") for kind in KINDS)

# What may stand beside which question
LOOPS = ("loop", "loop-ms", "count")
BESIDE_QUERY = ("format", "id", "filename") + LOOPS
BESIDE_LOG = ("query", "a", "unit", "id", "filename", "xml-format", "display") + LOOPS
BESIDE_MODIFICATION = tuple(MODIFICATIONS) + ("id", "mode", "scope", "error-on-warning", "force")
MODIFYING = frozenset(BESIDE_MODIFICATION) - {"id", "error-on-warning", "force"}
BESIDE_TABLE = ("id", "filename", "watch", "compact", "columns") + LOOPS
REPEATING = {"loop", "loop-ms", "watch"}
# Where -c is --count, but for a word that is a compute mode
REPEATABLE = REPEATING.union(QUERIES, ("query", "a", "json", "compact", "columns"))
COMPUTE_MODES = next(row[0] for row in CHANGE_ROWS if row[0].startswith("-c,")).split()[-1].split("|")
BELONGS = {  # what the hint of an option says that needs another
    "format": "--format goes with --query-gpu and the like",
    "force": "--force goes with options that change something",
    "error-on-warning": "--error-on-warning goes with options that change something",
}

# The other questions, in the order in which they are looked for: (options that ask it, question, what may stand there)
QUESTIONS = (
    (("query", "a"), "query", BESIDE_LOG),
    (MODIFYING, "modification", BESIDE_MODIFICATION),
    (("json",), "json", ("json", "id", "filename") + LOOPS),
)
_LOG = ". Specify -q/--query and %s"
# What cannot stand together, in the order in which nvidia-smi looks for it: whether -q is there, which options are, and
# how it is refused
NOT_TOGETHER = (
    (True, {"xml-format", "display"}, ": --display/-d flags can not be combined with -x/--xml-format flags"),
    (False, {"unit"}, _LOG % "-u/--unit to run a unit query"),
    (False, {"xml-format"}, _LOG % "-x/--xml-format to run an XML query"),
    (False, {"display"}, _LOG % "-d/--display to run a filtered query"),
)

LOOP_SECONDS, WATCH_SECONDS = 5, 2
LONGEST_LOOP = 10**9 - 1  # of whatever unit

# Values of -d
SECTIONS = tuple(
    "MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE SUPPORTED_CLOCKS PAGE_RETIREMENT "
    "ACCOUNTING ENCODER_STATS SUPPORTED_GPU_TARGET_TEMP VOLTAGE FBC_STATS ROW_REMAPPER GSP_FIRMWARE_VERSION "
    "POWER_SMOOTHING POWER_PROFILES".split()
)


class Options:
    """What was asked: ``question`` is a name in ANSWERED_BY; ``values`` by option.

    ``seconds`` is the time between samples, None for one sample; ``count`` is the number of samples, 0 for no end.
    """

    def __init__(self, question, values):
        self.question, self.values = question, values
        self.seconds, self.count = _seconds(values), _count(values)

    def get(self, name, default=None):
        """Value of an option; True for one that takes none, the default for one that was not given."""
        return self.values.get(name, default)


def _seconds(values):
    """The seconds that -l, -lms or --watch ask for, or None."""
    for name, unit, default in (
        ("loop", 1.0, LOOP_SECONDS),
        ("loop-ms", 1000.0, LOOP_SECONDS),
        ("watch", 1.0, WATCH_SECONDS),
    ):
        if values.get(name) is True:
            return default
        if name in values:
            from pymtml_cli.common.numeric import number

            value = number(values[name], 0, LONGEST_LOOP, whole=name != "watch")
            if not value:
                spelled = "--watch" if name == "watch" else "[-l(ms) | --loop(-ms)=]"
                text = "Provided %s value is incorrect. Loop frequency must be greater than 0.\n\n"
                raise refuse(text % spelled)
            return value / unit
    return None


def _count(values):
    """How many samples --count asks for."""
    from pymtml_cli.common.numeric import number

    if "count" in values and not REPEATING & set(values):
        raise CommandError("-c, or --count, needs -l, -lms or --watch", hint=see_help())
    count = number(values.get("count", "0"), "count" in values, LONGEST_LOOP)
    if count is None:
        raise CommandError("--count takes a number from 1 on", hint=see_help())
    return count


def _error(text, raw, status, for_help=" for help", hint=""):
    theirs = "ERROR: Option %s %s. Please run '%s -h'%s.\n\n" % (raw, text, called(), for_help)
    kind = "option" if raw.startswith("-") else "subcommand"
    return refuse(theirs, status, hint or see_help(), "%s %s %s" % (kind, raw, text))


# What other tools call what
OTHERS_WORDS = {"top": "--watch", "monitor": "--watch", "list": "-L", "status": "health", "processes": "ps"}


def _not_known(raw):
    """The line about an argument that is neither an option nor a subcommand."""
    from pymtml_cli.common import hints
    from pymtml_cli.subcommands import SUBCOMMANDS

    word = raw.partition("=")[0]
    if word in OTHERS_WORDS and called() != NVIDIA_SMI:
        return "did you mean %s? %s --help lists options and subcommands" % (OTHERS_WORDS[word], called())
    harmless = [spelling for spelling, name in BY_SPELLING.items() if len(spelling) > 2 and name not in MODIFYING]
    if called() == NVIDIA_SMI:
        harmless = [spelling for spelling in harmless if spelling not in OURS]
    return hints.meant(word, list(SUBCOMMANDS) + harmless, "--help lists options and subcommands")


def _apart(parts, raw, question, text):
    """The error for an argument that cannot stand beside the question, which is one of the others."""
    spelling = raw.partition("=")[0]
    if spelling not in BY_SPELLING:
        return _error(text, raw, BAD_ARGUMENT, hint=_not_known(raw))
    first = next((other for other, name, _ in parts if name == question and other != raw), None)
    if first is None or called() == NVIDIA_SMI:
        return _error(text, raw, BAD_ARGUMENT, hint="" if first else BELONGS.get(BY_SPELLING[spelling], ""))
    both = "%s and %s cannot be combined" % (first.partition("=")[0], spelling)
    return CommandError(both, hint=see_help())


def _split(arguments):
    """The arguments as (as written, option or None, value), in order."""
    parts, position = [], 0
    while position < len(arguments):
        raw = arguments[position]
        position += 1
        spelling, equals, value = raw.partition("=")
        name = BY_SPELLING.get(spelling)
        if spelling in OURS and called() == NVIDIA_SMI:
            name = None
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
    if called() != NVIDIA_SMI and any(name in REPEATABLE for _, name, _ in parts):
        parts = [(raw, "count" if _is_count(raw, value) else name, value) for raw, name, value in parts]
    names = [name for _, name, _ in parts]
    for question in ALONE:
        if question in names:
            _allow(parts, question, (question,), "is not valid for this command")
            return Options(question, {})
    queries = [name for name in QUERIES if name in names]
    if len(queries) > 1:
        raise refuse("Only one --query-* switch can be used at a time.\n")
    if queries:
        _allow(parts, queries[0], (queries[0],) + BESIDE_QUERY)
        return Options(queries[0], _values(parts))
    for raw, name, _ in parts:
        if name is None or name == "format":
            raise _error("is not recognized", raw, OTHER, "", _not_known(raw) if name is None else BELONGS[name])
    values = _values(parts)
    queried = "query" in names or "a" in names
    if "dtd" in names:
        raise refuse("Option --dtd is not supported: the documents of -q -x have no declarations.\n")
    for log, given, text in NOT_TOGETHER:
        if log == queried and given <= set(names):
            theirs = "Invalid combination of input arguments" + text
            theirs += ".\n" if log else ".  Please run '%s -h' for help.\n\n" % called()
            raise refuse(theirs, hint=see_help(), ours="options that do not go together" + text)
    for asking, question, beside in QUESTIONS:
        first = next((name for name in names if name in asking), None)
        if first is not None:
            _allow(parts, first, beside)
            return Options("xml" if question == "query" and "xml-format" in names else question, values)
    _allow(parts, "watch", BESIDE_TABLE)
    return Options("table", values)


def _is_count(raw, value):
    """Whether an argument is -c as --count."""
    return raw.partition("=")[0] == "-c" and str(value).upper() not in COMPUTE_MODES


def _allow(parts, question, names, refused="is not recognized"):
    """Refuse what cannot stand beside a question."""
    for raw, name, _ in parts:
        if name not in names:
            raise _apart(parts, raw, question, refused)


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
