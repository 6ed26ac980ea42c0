"""health: a check for schedulers and cron. The exit status is that of monitoring plugins; `checks` has the questions.

A child process asks the questions: if the driver hangs, only the child hangs with it. The child reports each answer at
once, through a pipe of its own, so that it is known which question hangs. Processes come last, with a limit of time of
their own: what hangs there is not the driver.
"""

import sys
import time
from functools import partial
from types import SimpleNamespace

import pymtml
from pymtml_cli.arguments import argument_parser
from pymtml_cli.common import hints, people
from pymtml_cli.common.errors import CommandError, reason
from pymtml_cli.common.files import read_text
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import CARDS, JSON
from pymtml_cli.common.text import counted, json
from pymtml_cli.health import checks
from pymtml_cli.health.checks import CRITICAL, NOTE, OK, WARNING, Finding, Outcome
from pymtml_cli.health.child import LONGEST_TIMEOUT, LOOKING, Child, answer_parent
from pymtml_cli.health.lock import Lock
from pymtml_cli.readings import driver_files
from pymtml_cli.readings.devices import Machine, Unknown, ask, host
from pymtml_cli.readings.documents import head
from pymtml_cli.readings.topology import ranges

CHECKS = tuple(checks.CHECKS)
MOST_CARDS, LONGEST_FILE = 10000, 1 << 16
EXPECT = "number of cards that must be present (default: at least one)"


def parser():
    parser = argument_parser("health")
    parser.add_argument("-i", "--id", metavar="CARDS", help=CARDS)
    parser.add_argument("-q", "--quiet", action="store_true", help="only what is wrong")
    parser.add_number("--expect", "N", 0, MOST_CARDS, EXPECT)
    text = "seconds to wait for the driver, and before that for another running check (default 30)"
    parser.add_number("--timeout", "SECONDS", 0.1, LONGEST_TIMEOUT, text, 30.0, whole=False)
    for name, (default, least, most, text) in checks.LIMITS.items():
        shown = "" if default is None else " (default %d)" % default
        parser.add_number("--" + name, "N", least, most, "limit: " + text.replace("%", "%%") + shown)
    parser.add_file("--limits", "a file of limits, one per line: max-temperature = 85")
    text = "checks to leave out, separated by commas: " + ", ".join(CHECKS[1:])
    parser.add_list("--skip", CHECKS[1:], metavar="CHECKS", default="", help=text)
    parser.add_argument("--json", action="store_true", help=JSON)
    parser.add_file("--lock", "lock file, which allows one check at a time (default: one per user)")
    parser.epilog = "exit status: 0 OK, 1 WARNING, 2 CRITICAL"
    return parser


def run(arguments):
    """Check and print (exit status: 0 healthy, 1 degraded, 2 unhealthy)."""
    answer_parent(arguments, _ask)
    options = parser().parse_args(arguments)
    limits, names = chosen(options)
    for name in limits:
        written = getattr(options, name.replace("-", "_"))
        if written is not None:
            limits[name] = written
    wanted = {"cards": options.id, "expect": options.expect, "limits": limits, "checks": names}
    with people.saying("checking the cards, which may take up to %g seconds" % options.timeout):
        report = examine(wanted, options.timeout, options.lock)
    worst = checks.status(report.findings)
    if options.json:
        sys.stdout.write(as_json(report))
    elif sys.stdout.isatty():
        tell(report.findings, worst, options.quiet)
    else:
        write(report.findings, options.quiet)
    return checks.SEVERITY[worst]


def chosen(options):
    """(limits, names of the checks to run) by the options --limits and --skip; raises CommandError."""
    skipped = [name for name in options.skip.split(",") if name]
    if set(skipped) - set(CHECKS[1:]):
        raise hints.no_value(skipped, CHECKS[1:], "--skip")
    limits = checks.default_limits() if options.limits is None else read_limits(options.limits)
    return limits, [name for name in CHECKS if name not in skipped]


def read_limits(path):
    """The limits of a file (dict): lines of a name, = and a number; # begins a comment. Raises CommandError."""
    limits = checks.default_limits()
    try:
        written = read_text(path, LONGEST_FILE)
    except (OSError, ValueError) as error:
        raise CommandError("cannot read %s: %s" % (path, reason(error)))
    if written is None:
        raise CommandError("%s is not a file of limits: it is longer than %d bytes" % (path, LONGEST_FILE))
    for index, line in enumerate(written.splitlines(), 1):
        name, equals, value = (part.strip() for part in line.partition("#")[0].partition("="))
        if not name and not equals:
            continue
        if name not in checks.LIMITS:
            text = "%s:%d: no limit %r; the limits are %s" % (path, index, name, ", ".join(checks.LIMITS))
            raise CommandError(text)
        _, least, most, _ = checks.LIMITS[name]
        limits[name] = number(value, least, most)
        if limits[name] is None:
            raise CommandError("%s:%d: %s must be a whole number from %d to %d" % (path, index, name, least, most))
    return limits


# ---- What is printed ----


def lines(found, stem=lambda text: text):
    """A row for all findings that differ only in the card, in the order of the checks: level, line, what to do (list).

    ``stem`` is the part of a text that those of one row have in common.
    """
    groups = {}
    for one in sorted(found, key=lambda one: CHECKS.index(one.check)):
        key = (
            one.check,
            one.level,
            one.gpu is None,
            stem(one.text),
            one.advice if (one.advice or "") not in one.text else None,
        )
        groups.setdefault(key, {}).setdefault(one.text, []).append(one.gpu)
    rows = []
    for (check, level, of_machine, begin, advice), texts in groups.items():
        (text, cards), *others = texts.items()
        if others:
            text = begin + ", ".join("%s (GPU %s)" % (text[len(begin) :], ranges(of)) for text, of in texts.items())
        elif not of_machine:
            text = "GPU %s: %s" % (ranges(cards), text)
        rows.append((level, "%-8s %s: %s" % (level, check, text), advice))
    return rows


def _before_a_number(text):
    begin, colon, number = text.rpartition(": ")
    return begin + colon if number.isdigit() else text


def write(found, quiet):
    """Print for programs: the first of the worst lines comes first, as monitoring plugins show that one."""
    rows = [row for row in lines(found) if not quiet or checks.SEVERITY[row[0]]]
    first = max(rows, key=lambda row: checks.SEVERITY[row[0]], default=None)
    rows.sort(key=lambda row: (row is not first, quiet and -checks.SEVERITY[row[0]]))
    sys.stdout.write("".join(line + "\n" for _, line, _ in rows))


def tell(found, worst, quiet):
    """Print for people: a verdict, what is wrong and what to do about it, and the rest."""
    rows = lines(found, _before_a_number)
    levels = [level for level, _, _ in rows]
    counts = [counted(levels.count(CRITICAL), "critical finding")] if CRITICAL in levels else []
    counts += [counted(levels.count(WARNING), "warning")] if WARNING in levels else []
    text = "%s: %s" % (worst, ", ".join(counts) or "no problems found")
    shown = [(level, line + ("\n%9s-> %s" % ("", advice) if advice else "")) for level, line, advice in rows]
    people.verdict(host(), worst, text, shown, quiet)


def as_json(report):
    """The document. ``version``, ``driver`` and ``library``, in findings ``level`` and ``gpu``, are as 0.3 had them."""
    worst = checks.status(report.findings)
    document = dict(head(report.library, report.driver), status=worst, exit_status=checks.SEVERITY[worst])
    document.update(version=pymtml.__version__, driver=report.driver, library=report.library)
    document["findings"] = [
        dict(one._asdict(), status=one.level, gpus=[] if one.gpu is None else [one.gpu]) for one in report.findings
    ]
    return json(document)


# ---- The parent ----


def examine(wanted, timeout, lock_file=None):
    """The findings of a child process (report). The driver, and an earlier check, may each take ``timeout`` seconds."""
    report, lock = SimpleNamespace(findings=[], driver=None, library=None), Lock(lock_file)
    if lock.failure:
        report.findings.append(checks.driver_finding(NOTE, "%s: two checks may run at once" % lock.failure))
    try:
        holder = lock.take(timeout)
        if holder is None:
            _collect_child(report, wanted, timeout, lock)
        else:
            text = "another check%s has not ended within %g seconds" % (holder, timeout)
            report.findings.append(checks.driver_finding(CRITICAL, text, timeout))
    finally:
        lock.leave()
    return report


def _collect_child(report, wanted, timeout, lock):
    """Add a child's findings and the versions to a report; an unknown version stays None."""
    try:
        child = Child("health", wanted, [lock.descriptor])
    except (OSError, ValueError) as error:
        report.findings.append(checks.driver_finding(CRITICAL, "cannot start the check: %s" % reason(error)))
        return
    asking, cards, files = None, [], {}
    try:
        for kind, value in child.messages(time.monotonic() + timeout):
            if kind == "versions":
                report.driver, report.library = value
            elif kind == "cards":
                cards = [(index, None, None) for index in value]
            elif kind == "identity":
                cards[asking[0]] = tuple(value)
            elif kind == "asking":
                asking = value
            elif kind == "findings":
                report.findings += [Finding(*one) for one in value]
            elif kind == "files":
                files = value
            elif kind == "placed":
                files.pop(value, None)
            elif kind == "end":
                return
        if child.hangs_in_a_look:
            looked = asking[0] if asking and asking[1] == checks.PROCESSES else 0
            outcome = checks.endless_look(child.look_seconds)
            report.findings += [checks.finding(checks.PROCESSES, outcome, who) for who in cards[looked:]]
        else:
            limit = timeout if child.hangs else None
            report.findings += _unanswered(asking, cards, wanted, child.failure(timeout), limit)
    finally:
        child.stop()
        report.findings += [Finding(*one) for found in files.values() for one in found]


def _unanswered(asking, cards, wanted, text, limit=None):
    """Findings for the question at which the child fell silent, and for the cards that it did not reach.

    ``limit``: the seconds that it was waited for, if it hangs.
    """
    if asking is None:
        return [checks.driver_finding(CRITICAL, text, limit)]
    place, check = asking
    found = [checks.finding(check, Outcome(CRITICAL, text, limit=limit), cards[place])]
    rest = checks.not_asked("GPU %d" % cards[place][0])
    if check == checks.PROCESSES:  # the other cards have answered all others
        return found + [checks.finding(check, rest, who) for who in cards[place + 1 :]]
    later = wanted["checks"][wanted["checks"].index(check) + 1 :] if check in wanted["checks"] else ()
    found += [checks.finding(other, rest, cards[place]) for other in later if other in checks.OF_CARD]
    return found + [checks.finding("answers", rest, who) for who in cards[place + 1 :]]


# ---- The child ----


def _ask(wanted, send):
    # Before the library, which may hang: what the driver's files say is known without it.
    names = [name for name in wanted["checks"] if name in checks.OF_CARD]
    looks = checks.PROCESSES in names
    names = [name for name in names if name != checks.PROCESSES]
    of_files, look = [name for name in names if name in checks.OF_FILES], None
    if of_files:
        look = driver_files.look()
        send("files", checks.file_findings(look, wanted["limits"], of_files))
    try:
        machine = Machine()
    except CommandError as error:
        send("findings", [checks.driver_finding(CRITICAL, " ".join(error.text.split()))])
        return
    machine.files = look
    versions = machine.driver_version, ask(pymtml.nvmlSystemGetNVMLVersion)
    send("versions", [None if isinstance(value, Unknown) else value for value in versions])
    found = [checks.driver_finding(OK, "answers")]
    if checks.fails(machine.driver_version):
        found = [checks.driver_finding(CRITICAL, "version: %s" % machine.driver_version.reason)]
    if "devices" in wanted["checks"]:
        found.append(checks.device_finding(len(machine.cards), wanted["expect"]))
    cards = machine.cards
    try:
        if cards and wanted.get("cards") is not None:
            cards = machine.chosen(wanted.get("cards"))
    except CommandError as error:
        cards = []
        found.append(checks.finding("devices", Outcome(CRITICAL, error.line)))
    send("findings", found)
    send("cards", [card.index for card in cards])
    asked = []

    def asking(card, check):
        send("asking", [cards.index(card), check])

    for card in cards:
        asking(card, "answers")
        who = checks.identity(card)
        send("identity", who)
        outcomes = []
        for check, outcomes in checks.card_outcomes(card, wanted["limits"], names, partial(asking, card)):
            send("findings", [checks.finding(check, outcome, who) for outcome in outcomes])
        if look is not None:
            send("placed", driver_files.directory_of(card))
        if not checks.is_silent(outcomes):
            asked.append(card)
    for card, check, outcome in checks.among_outcomes(asked, names):
        send("findings", [checks.finding(check, outcome, checks.identity(card))])
    if look is not None and (len(machine.cards) < len(look.found) or wanted.get("cards") is not None):
        for directory in driver_files.elsewhere(look) if wanted.get("cards") is None else look.found:
            send("placed", directory)
    send(LOOKING, None)
    for card in cards if looks else ():
        asking(card, checks.PROCESSES)
        found = checks.look_outcomes(card, wanted["limits"], card not in asked)
        send("findings", [checks.finding(checks.PROCESSES, one, checks.identity(card)) for one in found])
