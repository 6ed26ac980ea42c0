"""Names of hosts folded as pdsh, ClusterShell and Slurm write them, node[03,17-25], and unfolded again."""

import itertools
import re

MOST = 100000  # hosts that one text may stand for
TOO_MANY = "more than %d hosts"
LONGEST = 15  # digits of a number that is folded

_PLAIN = re.compile(r"[A-Za-z0-9._-]+$")
_NUMBER = re.compile(r"([0-9]+)")
_ADDRESS = re.compile(r"[0-9.]+$")


def fold(names):
    """Names as one text, sorted by number: db1,node[03,17-25]. A name that cannot be folded stays as it is."""
    single, series = set(), {}
    for name in set(names):
        parts = _split(name) if _PLAIN.match(name) else None
        if parts is None:
            single.add(name)
        else:
            series.setdefault((parts[0], parts[2]), set()).add(parts[1])
    found = list(single)
    for (head, tail), numbers in series.items():
        text = ",".join(_ranges(numbers))
        found.append(head + (text if len(numbers) == 1 else "[%s]" % text) + tail)
    return ",".join(sorted(found, key=order))


def _split(name):
    """(head, digits, tail) of a name at its last number, in the first label if that has one; None without a number."""
    label = len(name) if _ADDRESS.match(name) else (name + ".").index(".")
    numbers = list(_NUMBER.finditer(name[:label])) or list(_NUMBER.finditer(name))
    if not numbers or len(numbers[-1].group()) > LONGEST:
        return None
    first, end = numbers[-1].span()
    return name[:first], name[first:end], name[end:]


def _ranges(numbers):
    """Ranges of numbers as text (list of str); in a range with leading zeros, all numbers have the same length."""
    runs = []
    for text in sorted(numbers, key=lambda text: (len(text), text)):
        follows = runs and int(runs[-1][1]) + 1 == int(text)
        # A range with zeros in front keeps its number of digits: not all programs read [08-100].
        if follows and (len(runs[-1][1]) == len(text) or _is_plain(runs[-1][0]) and _is_plain(text)):
            runs[-1][1] = text
        else:
            runs.append([text, text])
    return [first if first == last else "%s-%s" % (first, last) for first, last in runs]


def _is_plain(digits):
    """Whether a number has no zeros in front."""
    return digits == "0" or not digits.startswith("0")


def order(name):
    """A sort key for names with numbers in them."""
    parts = enumerate(_NUMBER.split(name))  # every second one is a number, which may be too long for an int
    return [
        (0, len(part.lstrip("0")), part.lstrip("0"), part) if index % 2 else (1, 0, part)
        for index, part in parts
        if part
    ]


def unfold(text):
    """The names that a text stands for (list); ValueError for wrong brackets, ranges that go down, more than MOST."""
    names = []
    for part in re.findall(r"(?:[^\s,\[]|\[[^\]]*\]?)+", text):  # between commas outside of brackets, or white space
        pieces = re.split(r"\[([^\[\]]*)\]", part)
        if any("[" in piece or "]" in piece for piece in pieces):
            raise ValueError("unbalanced brackets in %s" % part)
        choices = [_numbers(piece) if index % 2 else [piece] for index, piece in enumerate(pieces)]
        names += map("".join, itertools.islice(itertools.product(*choices), MOST + 1))
        if len(names) > MOST:
            raise ValueError(TOO_MANY % MOST)
    return names


def _numbers(text):
    """The numbers of a text in brackets, such as 03,17-25 (list of str)."""
    found = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        if not all(re.match("[0-9]{1,%d}$" % LONGEST, number) for number in (first, last)):
            raise ValueError("not a range of numbers: [%s]" % text)
        if int(last) < int(first):
            raise ValueError("the range %s goes down" % part)
        if int(last) - int(first) >= MOST:
            raise ValueError(TOO_MANY % MOST)
        digits = len(first) if first.startswith("0") else 1
        found += ["%0*d" % (digits, number) for number in range(int(first), int(last) + 1)]
    return found
