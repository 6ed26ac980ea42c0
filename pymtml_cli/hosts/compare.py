"""compare: what differs between hosts, by their output of `pymtml --json`, `health --json` and `doctor --json`.

`gathered` reads the documents, `facts` chooses what is compared. Hosts with equal values of a fact are a group. No
driver is queried here.
"""

import collections
import sys

from pymtml_cli.arguments import argument_parser
from pymtml_cli.common.errors import CommandError
from pymtml_cli.common.options import JSON
from pymtml_cli.common.people import saying
from pymtml_cli.common.text import counted, fit, json, safe
from pymtml_cli.hosts import gathered, hostlist
from pymtml_cli.hosts.facts import DOCTOR, HEALTH, Fact
from pymtml_cli.hosts.gathered import STDIN
from pymtml_cli.readings.documents import head
from pymtml_cli.readings.topology import ranges

SAME, DIFFERENT, UNREADABLE = 0, 1, 2  # exit status
LONGEST_VALUE, LONGEST_CELL = 200, 60  # columns


def parser():
    parser = argument_parser("compare")
    text = "output of hosts: a file, a folder of files, or - for stdin (default); a host is named after its file, "
    text += "without %s" % ", ".join(gathered.SUFFIXES)
    parser.add_argument("files", nargs="*", metavar="FILE", help=text)
    parser.add_argument("--hosts", metavar="HOSTS", help="the expected hosts, such as node[01-16,20],login1")
    text = "facts to leave out, by their printed names, separated by commas"
    parser.add_argument("--skip", metavar="FACTS", default="", help=text)
    form = parser.add_mutually_exclusive_group()
    text = "one line: the hosts outside the largest groups, for pdsh -w"
    form.add_argument("--differing", action="store_true", help=text)
    form.add_argument("--json", action="store_true", help=JSON)
    parser.epilog = "exit status: 0 equal, 1 different, 2 a host could not be compared"
    return parser


def run(arguments):
    """Read, compare and print (exit status: 0 equal, 1 different, 2 a host was not compared)."""
    options = parser().parse_args(arguments)
    if not options.files and sys.stdin.isatty():
        raise CommandError("name files, or pipe the output of hosts into it; see `pymtml compare --help`")
    expected = None
    if options.hosts is not None:
        try:
            expected = hostlist.unfold(options.hosts)
        except ValueError as error:
            raise CommandError("--hosts: %s" % error)
    skipped = {name for name in options.skip.split(",") if name}
    with saying("reading and comparing the documents"):
        result = Comparison(gathered.read(options.files or [STDIN]), expected, skipped)
    if options.json:
        sys.stdout.write(json(result.as_object()))
    else:
        lines = result.differing() if options.differing else result.lines()
        sys.stdout.write("".join(line + "\n" for line in lines))
    return result.status


# ---- Comparison ----


class Host:
    """A host: its facts as {name: Fact}, and the number of cards in its document of each kind."""

    def __init__(self, name, expected):
        self.name, self.cards, self.facts = name, {}, {"documents": None}
        if expected is not None:
            text = "named by --hosts" if name in expected else "not named by --hosts"
            self.facts["expected"] = Fact(None, {None: text})

    def add(self, document):
        self.cards[document.kind] = document.cards
        self.facts.update(document.facts)
        self.facts["documents"] = Fact(None, {None: ", ".join(sorted(self.cards))})


class Group:
    """Hosts with the same values of a fact."""

    def __init__(self, fact):
        self.fact, self.hosts, self.shown = fact, [], fact.shown

    def add(self, host, fact):
        """Add a host. If the texts of hosts differ in measured numbers, the group shows them without the numbers."""
        self.hosts.append(host)
        if any(self.shown.get(card, text) != text for card, text in fact.shown.items()):
            self.shown = self.fact.values


class Comparison:
    """The comparison of hosts: ``differences`` is {fact: [Group]}, ``unreadable`` what could not be compared."""

    def __init__(self, documents, expected=None, skipped=()):
        self.hosts, self.unreadable, self._numbers = {}, [], collections.Counter()
        for one in documents:
            if isinstance(one, gathered.Unreadable):
                self.unreadable.append(one)
            else:
                self._host_of(one, expected).add(one)
        heard = set(self.hosts) | {one.host for one in self.unreadable}
        missing = [name for name in expected or () if name not in heard]
        self.unreadable += [gathered.Unreadable(name, "no output") for name in missing]
        some = {}  # each fact, as some host has it
        for host in self.hosts.values():
            for name, fact in host.facts.items():
                some.setdefault(name, fact)
        for host in self.hosts.values():
            for name, fact in some.items():  # a host may lack a check that others report
                if fact.kind in (HEALTH, DOCTOR) and fact.kind in host.cards:
                    host.facts.setdefault(name, Fact(fact.kind, {None: fact.absent}))
        unknown = sorted(set(skipped) - set(some))
        if unknown and self.hosts:
            raise CommandError("--skip: no fact %s; the facts are %s" % (safe(unknown[0]), ", ".join(some)))
        self.facts = {name: self._groups(name) for name in some if name not in skipped}
        self.differences = {name: groups for name, groups in self.facts.items() if len(groups) > 1}

    def _host_of(self, document, expected):
        """The host of a document. A second document of the same kind is of another machine with the same name."""
        name = document.host
        while name in self.hosts and document.kind in self.hosts[name].cards:
            self._numbers[document.host, document.kind] += 1
            name = "%s#%d" % (document.host, 1 + self._numbers[document.host, document.kind])
        return self.hosts.setdefault(name, Host(name, expected))

    @property
    def status(self):
        return UNREADABLE if self.unreadable else DIFFERENT if self.differences else SAME

    def _groups(self, name):
        """Groups of the hosts that have a fact, the largest first (list)."""
        known = [(host, host.facts[name]) for host in self.hosts.values() if name in host.facts]
        counts = collections.Counter(host.cards.get(fact.kind) for host, fact in known)
        usual = max(counts, key=lambda count: (counts[count], count))
        groups, later = {}, []
        for host, fact in known:
            count = host.cards.get(fact.kind)
            if fact.uniform or count == usual and fact.whole:
                groups.setdefault(fact.key, Group(fact)).add(host.name, fact)
            elif count == usual or not fact.ordered:
                later.append((host, fact))
        # Hosts with silent cards, or another number of cards, join the largest group that has all their values.
        ordered = sorted(groups.values(), key=lambda group: -len(group.hosts))
        for host, fact in later:
            if host.cards.get(fact.kind) == usual:
                like = [group for group in ordered if _agree(group.fact, fact)]
            else:
                answers = set(fact.values.values())
                like = [group for group in ordered if answers <= set(group.fact.values.values())]
            if like:
                like[0].hosts.append(host.name)
            else:
                groups.setdefault(fact.key, Group(fact)).add(host.name, fact)
        return sorted(groups.values(), key=lambda group: -len(group.hosts))

    # ---- What is printed ----

    def differing(self):
        """The hosts outside the largest group of any fact, as one line; no line if there are none (list)."""
        found = {host for groups in self.differences.values() for group in groups[1:] for host in group.hosts}
        return [_hosts(found)] if found else []

    def lines(self):
        """The comparison as text (iterator)."""
        total = len(self.hosts) + len({one.host for one in self.unreadable} - set(self.hosts))
        if self.unreadable:
            reasons = {}
            for one in self.unreadable:
                reasons.setdefault(one.reason, []).append(one.host)
            yield "not compared"
            for reason, hosts in sorted(reasons.items(), key=lambda pair: min(map(hostlist.order, pair[1]))):
                yield "  %s: %s" % (_hosts(hosts), reason)
            yield ""
        yield from self._blocks()
        troubles = self._common_troubles()
        if troubles:
            yield "problems that all hosts share"
            for name, text in troubles:
                yield "  %s: %s" % (safe(name), fit(text, LONGEST_VALUE))
            yield ""
        if not self.hosts:
            yield "the only host cannot be compared" if total == 1 else "none of %d hosts can be compared" % total
        elif len(self.hosts) == 1 and total == 1:
            yield "1 host, %s: nothing to compare it with" % safe(next(iter(self.hosts)))
        else:
            text = "no differences" if not self.differences else counted(len(self.differences), "differs", "differ")
            left_out = "" if total == len(self.hosts) else ", %d of them not compared" % (total - len(self.hosts))
            yield "%s%s; %d facts compared: %s" % (_of(total), left_out, len(self.facts), text)

    def _blocks(self):
        """Differences as lines (iterator): those with the same two groups of hosts share a head."""
        alike = {}
        for name, groups in self.differences.items():
            alike.setdefault(tuple(tuple(group.hosts) for group in groups), []).append((name, groups))
        for hosts, found in alike.items():
            if len(found) == 1 or len(hosts) > 2:
                for name, groups in found:
                    yield from _block(name, groups)
                continue
            width = max(len(safe(name)) for name, _ in found)
            yield " | ".join(_of(len(group)) + _names(group, hosts) for group in hosts)
            for name, groups in found:
                shown = _differing(groups)
                values = [fit(_text(group, shown), LONGEST_CELL) for group in groups]
                yield "  %-*s  %s" % (width, safe(name), " | ".join(values))
            yield ""

    def _common_troubles(self):
        """(fact, text) of the problems that all hosts share (list)."""
        shared = {name: groups[0] for name, groups in self.facts.items() if len(groups) == 1}
        return [(name, _text(group, None)) for name, group in shared.items() if group.fact.ill]

    def as_object(self):
        return {
            **dict(head()),
            "exit_status": self.status,
            "status": self.status,  # as pymtml 0.3 had it
            "hosts": sorted(self.hosts, key=hostlist.order),
            "not_compared": sorted(map(vars, self.unreadable), key=lambda one: hostlist.order(one["host"])),
            "facts": list(self.facts),
            "differences": [
                {"fact": name, "groups": [_group_object(group) for group in groups]}
                for name, groups in self.differences.items()
            ],
            "not_well": [{"fact": name, "text": text} for name, text in self._common_troubles()],
        }


def _block(name, groups):
    yield safe(name)
    shown, width = _differing(groups), len(_of(len(groups[0].hosts)))
    for group in groups:
        text, names = fit(_text(group, shown), LONGEST_VALUE), _names(group.hosts, [group.hosts for group in groups])
        yield "  %*s: %s%s" % (width, _of(len(group.hosts)), text, names)
    yield ""


def _names(hosts, groups):
    """A colon and the names of a group's hosts; empty if they outnumber all others."""
    return "" if 2 * len(hosts) > sum(map(len, groups)) else ": " + _hosts(hosts)


def _agree(whole, part):
    """Whether two facts have the same values for the cards that both have; ``part`` has several values."""
    if whole.uniform:  # its cards all have one value
        return False
    return all(whole.values.get(index, value) == value for index, value in part.values.items())


def _of(count):
    return "%d host%s" % (count, "" if count == 1 else "s")


def _hosts(names):
    return hostlist.fold(map(safe, names))


def _differing(groups):
    """The cards on which groups differ (set), if all have the same cards; None: show all."""
    cards = set(groups[0].fact.values)
    if any(not group.fact.uniform and set(group.fact.values) != cards for group in groups):
        return None
    return {card for card in cards if len({group.fact.at(card) for group in groups}) > 1}


def _text(group, cards):
    """The values of a group as text, for these cards or for all (None)."""
    values = group.shown
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    found = {}
    for index, value in values.items():
        if cards is None or index in cards:
            found.setdefault(value, []).append(index)
    numbers = {value: ranges(index for index in indices if index is not None) for value, indices in found.items()}
    return "; ".join("%s: %s" % ("GPU " + text if text else "machine", value) for value, text in numbers.items())


def _group_object(group):
    hosts = sorted(group.hosts, key=hostlist.order)
    return {
        "count": len(hosts),
        "hosts": hosts,
        "nodes": _hosts(hosts),
        "value": _text(group, None),
        "values": [{"gpu": index, "value": value} for index, value in group.shown.items()],
    }
