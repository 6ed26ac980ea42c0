"""nvidia-smi's options: what is asked when the first argument is no subcommand, and how it is refused.

The refusals, their texts and exit statuses are those that nvidia-smi 580 was seen to give.
"""

from pymtml_cli.errors import OTHER, called, refuse

NEEDED, OPTIONAL = "needed", "optional"

# Canonical name: (spellings, whether it takes a value)
OPTIONS = {
    "help": (("-h", "--help"), None),
    "version": (("--version",), None),
    "list": (("-L", "--list-gpus"), None),
    "excluded": (("-B", "--list-excluded-gpus"), None),
    "query": (("-q", "--query"), None),
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
KINDS = ("gpu", "compute-apps", "retired-pages", "remapped-rows", "supported-clocks", "accounted-apps")
for _kind in KINDS:
    OPTIONS["query-" + _kind] = (("--query-" + _kind,), NEEDED)
    OPTIONS["help-query-" + _kind] = (("--help-query-" + _kind,), None)
del _kind

BY_SPELLING = {spelling: name for name, (spellings, _) in OPTIONS.items() for spelling in spellings}

# Questions that stand alone, in the order in which they are looked for
ALONE = ("help", "version", "list", "excluded") + tuple("help-query-" + kind for kind in KINDS)
QUERIES = tuple("query-" + kind for kind in KINDS)
# What may stand beside which question
BESIDE_QUERY = ("format", "id", "filename", "loop", "loop-ms")
BESIDE_LOG = ("unit", "id", "filename", "xml", "display", "loop", "loop-ms")
BESIDE_JSON = ("id", "filename", "loop", "loop-ms")
BESIDE_TABLE = ("id", "filename", "loop", "loop-ms", "watch")

LOOP_SECONDS = 5


class Options:
    """What was asked: ``question`` is one of ALONE, QUERIES, "query" (-q), "json" or "table"; ``values`` by option."""

    def __init__(self, question, values):
        self.question, self.values = question, values

    def get(self, name, default=None):
        """Value of an option; True for one that takes none, the default for one that was not given."""
        return self.values.get(name, default)

    @property
    def seconds(self):
        """Time between samples in seconds, or None for one sample."""
        for name, unit in (("loop", 1.0), ("loop-ms", 1000.0), ("watch", 1.0)):
            if name in self.values:
                return _interval(name, self.values[name]) / unit
        return None


def _interval(name, text):
    """The number behind -l, -lms or --watch."""
    if text is True:
        return LOOP_SECONDS * (1000 if name == "loop-ms" else 1)
    try:
        number = float(text) if name == "watch" else int(text)
    except ValueError:
        number = 0
    if not 0 < number < 1e9:
        text = "Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n"
        raise refuse(text if name != "watch" else text.replace("[-l(ms) | --loop(-ms)=]", "--watch"))
    return number


def _error(text, raw, status, for_help=" for help"):
    return refuse("ERROR: Option %s %s. Please run '%s -h'%s.\n\n" % (raw, text, called(), for_help), status)


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
                    raise _error("is not valid for this command", raw, 2)
            return Options(question, {})
    queries = [name for name in QUERIES if name in names]
    if queries:
        return _parse_query(queries, parts)
    for raw, name, _ in parts:
        if name is None or name == "format":
            raise _error("is not recognized", raw, OTHER, "")
    values = _values(parts)
    if "query" in names:
        return Options("query", _allowed(parts, values, ("query",) + BESIDE_LOG))
    for name, spelled in (
        ("xml", "-x/--xml-format to run an XML query"),
        ("display", "-d/--display to run a filtered query"),
    ):
        if name in names:
            text = (
                "Invalid combination of input arguments. Specify -q/--query and %s.  Please run '%s -h' for help.\n\n"
            )
            raise refuse(text % (spelled, called()))
    if "json" in names:
        return Options("json", _allowed(parts, values, ("json",) + BESIDE_JSON))
    return Options("table", _allowed(parts, values, BESIDE_TABLE))


def _parse_query(queries, parts):
    if len(queries) > 1:
        raise refuse("Only one --query-* switch can be used at a time.\n")
    for raw, name, _ in parts:
        if name not in BESIDE_QUERY and name != queries[0]:
            raise _error("is not recognized", raw, 2)
    return Options(queries[0], _values(parts))


def _allowed(parts, values, names):
    for raw, name, _ in parts:
        if name not in names:
            raise _error("is not recognized", raw, 2)
    return values


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


def run(arguments):
    """Answer nvidia-smi's options (exit status)."""
    options = parse(arguments)
    seconds = options.seconds  # refused before anything is done
    if options.question == "help":
        from pymtml_cli import usage

        return usage.run()
    if options.question.startswith("help-query-"):
        from pymtml_cli import query

        return _print(query.help_text(options.question[len("help-query-") :]))
    if options.question == "excluded":
        return _print("No excluded devices found.\n")
    from pymtml_cli.samples import Output

    with Output(options.get("filename")) as output:
        return _answer(options, seconds, output)


def _print(text):
    from pymtml_cli.samples import Output

    with Output() as output:
        output.write(text)
    return 0


def _answer(options, seconds, output):
    from pymtml_cli import samples
    from pymtml_cli.devices import Machine

    if options.question == "version":
        from pymtml_cli import usage

        return usage.version(output)
    if options.question in QUERIES:
        return _answer_query(options, seconds, output)
    if options.question == "list":
        from pymtml_cli import listing

        return listing.run(output)
    if options.question == "query":
        from pymtml_cli import log

        screen = log.Screen(options)
    elif options.question == "json":
        from pymtml_cli import snapshot

        return snapshot.run(options, seconds, output)
    else:
        from pymtml_cli import table

        if "watch" in options.values:
            return table.watch(options, seconds, output)
        screen = table.Screen(output)
    with Machine() as machine:
        cards = screen.cards(machine, options.get("id"))
        samples.repeat(machine, seconds, lambda first: output.write(screen.text(machine, cards)))
    return 0


def _answer_query(options, seconds, output):
    from pymtml_cli import samples
    from pymtml_cli.devices import Machine
    from pymtml_cli.query import Query

    formats = options.get("format", "csv")
    with Machine() as machine:
        query = Query(
            options.question[len("query-") :], options.get(options.question), "" if formats is True else formats
        )
        cards = machine.chosen(options.get("id"))

        def sample(first):
            lines = (query.header() if first else []) + query.lines(cards)
            output.write("".join(line + "\n" for line in lines))

        samples.repeat(machine, seconds, sample)
    return 0
