#!/usr/bin/env python3
"""Changes the hand-written functions of pymtml.py one small step at a time, and says which changes no test notices.

    python tools/mutants.py                       all functions outside the generated parts
    python tools/mutants.py --section 12          those of a section of pymtml.py, by its number
    python tools/mutants.py --lines 4321-5750     those that begin at these lines of it
    python tools/mutants.py --function _load      those of that name
    python tools/mutants.py --explained FILE      leave out the survivors that FILE explains (docs/reliability.md)
    python tools/mutants.py --quick               leave out the second try, below
    python tools/mutants.py --seconds 30          tests of so many seconds for a change that none notices

The suite is run once to learn which test calls which function (later runs learn new tests and those of changed files
only); then, for each change, the tests that call the changed function, in a forked child whose function has the changed
code: first those that noticed earlier changes, of the same function before others, then the quick ones. Tests that only
start other processes do not see the change; a change that survives is therefore tried once more in a file of its own,
against those.

Survivors go to build/mutants/survivors.txt, one a line: function, line, what was changed into what. The exit status is
1 if there are any that the document does not explain. What was noticed goes to build/mutants/noticed.txt with the test
that did: one with a time limit may have failed for the load of the machine.
"""

import argparse
import ast
import collections
import gc
import hashlib
import json
import mmap
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import measured
import pytest
from _pytest.runner import runtestprotocol

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULE = os.path.join(ROOT, "pymtml.py")
BUILD = os.path.join(ROOT, "build", "mutants")
CALLS = os.path.join(BUILD, "calls.json")
SURVIVORS = os.path.join(BUILD, "survivors.txt")
NOTICED = os.path.join(BUILD, "noticed.txt")
DOCUMENT = os.path.join(ROOT, "docs", "reliability.md")
TESTS = ["test_pymtml.py", "test_pynvml.py", "test_sglang_compat.py", "tests"]
# What is not about what pymtml.py does, or only through other programs.
LEFT_OUT = [
    "tests/programs",
    "tests/cli",
    "tests/test_distribution.py",
    "tests/test_documents.py",
    "tests/test_dropin.py",
]
# Of what is left out, tests that look from outside at how the module itself is run.
OUTSIDE = {"tests/cli/test_main.py"}
SECONDS = 20  # for a test beyond thrice its time: one that takes longer is in an endless loop
CASES = 4  # of a test with parameters that are tried before further ones of others
UNSOUND = 5  # tests that may fail without a change; if more do, it is what was made anew that they do not stand
# How pytest is run where nobody reads what it says
QUIET = "-q --tb=no --assert=plain -p no:cacheprovider -p no:faulthandler -p no:timeout -o timeout=0".split()
LOCKS = "_under_lock"  # the decorator of functions that hold the lock

COMPARISONS = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
OPERATIONS = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}


class Function:
    """A function or method of the module, and the source that it is made of."""

    def __init__(self, node, owner, source):
        self.node, self.owner = node, owner
        self.name = node.name if owner is None else "%s.%s" % (owner, node.name)
        self.first = min([node.lineno] + [one.lineno for one in node.decorator_list])
        self.last = node.end_lineno
        self.key = "%s:%d" % (node.name, self.first)
        self.lines = source.splitlines(True)[self.first - 1 : self.last]

    def changed(self, change):
        """The source with one change."""
        lines = list(self.lines)
        start, end = change.start[0] - self.first, change.end[0] - self.first
        head = lines[start].encode()[: change.start[1]].decode()
        tail = lines[end].encode()[change.end[1] :].decode()
        return "".join(lines[:start]) + head + change.new + tail + "".join(lines[end + 1 :])


class Change:
    """A piece of source to be replaced by another."""

    def __init__(self, node, new, start=None, end=None, unlocks=False):
        self.start = start or (node.lineno, node.col_offset)
        self.end = end or (node.end_lineno, node.end_col_offset)
        self.new = new
        self.unlocks = unlocks  # it drops the decorator that holds the lock


def functions(source):
    """The hand-written functions and methods: those outside the lines BEGIN generated ... END generated."""
    generated, inside = set(), False
    for number, line in enumerate(source.splitlines(), 1):
        inside = inside or line.startswith("# BEGIN generated")
        if inside:
            generated.add(number)
        inside = inside and not line.startswith("# END generated")
    for node in ast.parse(source).body:
        members = [(None, node)]
        if isinstance(node, ast.ClassDef):
            members = [(node.name, member) for member in node.body]
        for owner, member in members:
            if isinstance(member, ast.FunctionDef) and member.lineno not in generated:
                yield Function(member, owner, source)


def section_of(source, line):
    """The number of the section that a line stands in."""
    found = ""
    for number, text in enumerate(source.splitlines(), 1):
        match = re.match(r"# ==== (\d+)\. ", text)
        if number > line:
            return found
        found = match.group(1) if match else found
    return found


def changes(function):
    """All changes of a function."""
    text = [line.encode() for line in function.lines]

    def words(node):
        lines = text[node.lineno - function.first : node.end_lineno - function.first + 1]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode()

    def between(left, right, old, new):
        """A change of the operator that stands between two operands."""
        gap_start, gap_end = (left.end_lineno, left.end_col_offset), (right.lineno, right.col_offset)
        if gap_start[0] != gap_end[0]:
            return []
        gap = text[gap_start[0] - function.first][gap_start[1] : gap_end[1]].decode()
        if old not in gap:
            return []
        return [Change(None, gap.replace(old, new, 1), gap_start, gap_end)]

    def end_of(node):
        return node.end_lineno, node.end_col_offset

    annotations = set()
    for node in ast.walk(function.node):
        for note in [getattr(node, "annotation", None), getattr(node, "returns", None)]:
            annotations.update(map(id, ast.walk(note)) if note is not None else ())
    names = {v: k for k, v in (("==", ast.Eq), ("!=", ast.NotEq), ("<", ast.Lt), ("<=", ast.LtE), (">", ast.Gt))}
    names.update({ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"})
    signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.LShift: "<<", ast.RShift: ">>"}
    signs.update({ast.BitAnd: "&", ast.BitOr: "|"})
    for node in ast.walk(function.node):
        if id(node) in annotations:
            continue
        if isinstance(node, ast.Compare):
            operands = [node.left] + node.comparators
            for left, operation, right in zip(operands, node.ops, operands[1:]):
                yield from between(left, right, names[type(operation)], COMPARISONS[type(operation)])
                if isinstance(right, ast.Tuple) and len(right.elts) > 1:
                    for gone in right.elts:
                        left_over = [words(one) for one in right.elts if one is not gone]
                        yield Change(right, "(%s,)" % ", ".join(left_over))
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:]):
                yield from between(left, right, old, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Change(node, "(%s)" % words(node.operand))
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            yield from between(node.left, node.right, signs[type(node.op)], OPERATIONS[type(node.op)])
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield Change(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield Change(node, str(node.value + 1))
        elif isinstance(node, ast.Return) and node.value is not None and words(node.value) != "None":
            yield Change(node.value, "None")
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield Change(node, "pass")
        elif isinstance(node, (ast.Delete, ast.Assign)) and not isinstance(getattr(node, "value", None), ast.Tuple):
            if isinstance(node, ast.Delete) or any(isinstance(target, ast.Attribute) for target in node.targets):
                yield Change(node, "pass")
        elif isinstance(node, (ast.Continue, ast.Break)):
            yield Change(node, "break" if isinstance(node, ast.Continue) else "continue")
        elif isinstance(node, ast.With) and words(node.items[0].context_expr) == "_lifecycle_lock":
            yield Change(None, "if True", (node.lineno, node.col_offset), end_of(node.items[0].context_expr))
    for decorator in function.node.decorator_list:
        if words(decorator) == LOCKS:
            start = (decorator.lineno, decorator.col_offset - len("@"))
            yield Change(None, "", start, end_of(decorator), unlocks=True)


def in_words(function, change):
    """A change in one line, the same as long as the function's text is."""
    line = function.lines[change.start[0] - function.first]
    end = change.end[1] if change.start[0] == change.end[0] else None
    old = line.encode()[change.start[1] : end].decode()
    return "%s: `%s` -> `%s` in `%s`" % (function.name, old.strip(), change.new.strip(), line.strip())


def described(function, change):
    """A change in one line, with its number among those that read alike: one may be seen where another is not."""
    line = in_words(function, change)
    alike = sorted(other.start for other in changes(function) if in_words(function, other) == line)
    return line if len(alike) == 1 else "%s (%d of %d)" % (line, alike.index(change.start) + 1, len(alike))


def scope_of(module, function):
    """The names of the module, or of the class that the function belongs to."""
    return vars(module) if function.owner is None else vars(getattr(module, function.owner))


def find(module, function):
    """The function object that a Function is, below properties and decorators; None if it is not to be had."""
    found = scope_of(module, function).get(function.node.name)
    found = getattr(found, "fget", found) or found
    found = getattr(found, "__func__", found)
    for cell in getattr(found, "__closure__", None) or ():  # below a decorator
        if getattr(cell.cell_contents, "__name__", None) == function.node.name:
            found = cell.cell_contents
    return found if hasattr(found, "__code__") else None


def without_lock(module, function):
    """(wrapper that takes the lock, its code without that)."""

    def outer(function):
        def locked(*arguments):
            return function(*arguments)

        return locked

    return scope_of(module, function)[function.node.name], outer(None).__code__


def code_of(module, function, text):
    """The code object that the changed text compiles to; None where it does not compile or needs an enclosing scope."""
    indent = " " * function.node.col_offset
    if indent:
        text = "class _:\n" + text
    try:
        compiled = compile(text, MODULE, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    pending = [compiled]
    while pending:
        code = pending.pop()
        for constant in code.co_consts:
            if hasattr(constant, "co_name"):
                if constant.co_name == function.node.name:
                    return constant
                pending.append(constant)
    return None


def defaults_of(module, function, change):
    """The defaults of the function's parameters, with those that a change of them makes anew."""
    defaults = find(module, function).__defaults__
    body = function.node.body[0]
    if not defaults or change.start >= (body.lineno, body.col_offset):
        return defaults
    (changed,) = ast.parse(textwrap.dedent(function.changed(change))).body
    expressions = [compile(ast.Expression(one), MODULE, "eval") for one in changed.args.defaults]
    return tuple(eval(expression, vars(module)) for expression in expressions)


class Recorder:
    """Learns, while the suite runs, which test calls which functions of some files in its process and forks of it.

    ``keys``: the start of a function's key, by the path of its file. ``sources``: what the record depends on."""

    def __init__(self, path=CALLS, keys=None, sources=None):
        self.path, self.keys, self.sources = path, keys or {MODULE: ""}, sources or stamp()
        self.forked = os.open(os.path.join(BUILD, "forked"), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        self.calls, self.seconds, self.files, self.failed = {}, {}, {}, set()
        known = recorded(path)
        if known["module"] == self.sources:
            self.calls, self.seconds, self.files = known["calls"], known["seconds"], known["files"]

    def pytest_collection_modifyitems(self, items):
        files = {str(item.fspath): item.nodeid.split("::")[0] for item in items}
        digests = {name: digest(path) for path, name in files.items()}
        items[:] = [
            item
            for item in items
            if item.nodeid not in self.calls
            or digests[files[str(item.fspath)]] != self.files.get(files[str(item.fspath)])
        ]
        self.files = digests

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        seen, parent, keys = set(), os.getpid(), self.keys

        def profile(frame, event, argument):
            if event == "call" and frame.f_code.co_filename in keys:
                code = frame.f_code
                name = "%s%s:%d" % (keys[code.co_filename], code.co_name, code.co_firstlineno)
                if name not in seen:
                    seen.add(name)
                    if os.getpid() != parent:
                        os.write(self.forked, name.encode() + b"\n")

        began = time.monotonic()
        threading.setprofile(profile)
        sys.setprofile(profile)
        yield
        sys.setprofile(None)
        threading.setprofile(None)
        self.seconds[item.nodeid] = time.monotonic() - began
        seen.update(os.pread(self.forked, os.fstat(self.forked).st_size, 0).decode().split())
        os.ftruncate(self.forked, 0)
        self.calls[item.nodeid] = seen

    def pytest_runtest_logreport(self, report):
        if report.failed:  # the profiler slows tests down, some beyond what they allow
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self, session):
        with open(self.path, "w") as file:
            json.dump(self.as_record(), file)

    def as_record(self):
        """What ``recorded`` reads."""
        calls = {test: sorted(names) for test, names in self.calls.items() if test not in self.failed}
        return {"module": self.sources, "calls": calls, "seconds": self.seconds, "files": self.files}


def stamp():
    """What the record of calls depends on."""
    with open(MODULE, encoding="utf-8") as file:
        return file.read()


def digest(path):
    """What tells whether a test file has changed."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def recorded(path=CALLS):
    """What earlier runs learned."""
    if not os.path.exists(path):
        return {"module": None, "calls": {}, "seconds": {}, "files": {}}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def some_of_each_first(tests, seconds):
    """Tests, the quick ones first, but some cases of each test before further ones (list)."""
    cases = {}
    for test in sorted(tests, key=seconds.get):
        cases.setdefault(test.split("[")[0], []).append(test)
    some = [test for tests in cases.values() for test in tests[:CASES]]
    more = [test for tests in cases.values() for test in tests[CASES:]]
    return sorted(some, key=seconds.get) + sorted(more, key=seconds.get)


class Judge:
    """Runs, for each change, the tests that call the changed function, each time in a child with the changed code.

    A subclass makes the changes: ``pytest_runtestloop`` hands each of them, and its tests, to ``try_out``."""

    def __init__(self, todo, record, limit, log=os.devnull):
        self.todo, self.record, self.limit, self.log = todo, record, limit, log
        self.survivors, self.counts = [], {"killed": 0, "survived": 0, "not called": 0, "not made": 0, "endless": 0}
        self.noticed = []  # (function, test that noticed a change of it)
        self.sound = set()  # tests that do not fail without a change: (function if it has an unchanged form, test)
        self.unsound = set()  # (function, test that fails without a change of it)
        self.begun = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("i")  # [0]: which test a child is at

    def pytest_collection_finish(self, session):
        gc.collect()
        gc.freeze()  # children share what they do not look at

    def callers(self, items):
        """The tests that are at hand and call a function, by the function's key."""
        found = {}
        for test, names in self.record["calls"].items():
            for name in names:
                if test in items:
                    found.setdefault(name, []).append(test)
        return found

    def try_out(self, function, make, tests, items, line, unchanged=None):
        """Whether one of the tests notices what ``make`` does in a child; None for ``make``: it cannot be made.
        ``unchanged`` does the same and changes nothing."""
        outcome, test = "not called" if make else "not made", None
        if make and tests:
            sound = [items[test] for test in tests if (function, test) not in self.unsound]
            outcome, test = self.noticing(function, make, sound, unchanged)
        self.counts[outcome] += 1
        if test is not None:
            self.noticed.append((function, test))
        self.write(outcome, test, line)
        if outcome != "killed":
            print("%s: %s" % (outcome, line), flush=True)
        return test is not None

    def write(self, outcome, test, line):
        """Add what became of a change to the log."""
        if test is not None:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write("%s: %s\n" % (test, line))

    def chosen(self, function, tests):
        """Those that noticed an earlier change, of this function before others; after them as many as there is time
        for, some cases of each test before further ones. Those that noticed much in little time come first."""
        seconds = self.record["seconds"]
        noticed = collections.Counter(test for _, test in self.noticed)
        own = {test for other, test in self.noticed if other is function}
        others = set(noticed).intersection(tests) - own
        chosen, left = [], self.limit
        for test in some_of_each_first(set(tests) - own - others, seconds):
            if left > 0:
                chosen.append(test)
                left -= seconds[test]
        known = [sorted(kind, key=lambda test: seconds[test] / noticed[test]) for kind in (own, others)]
        return known[0] + known[1] + sorted(chosen, key=seconds.get)

    def noticing(self, function, make, items, unchanged=None):
        """(outcome, the test that noticed or None). One that fails behind the same tests without the change as well
        has noticed nothing; it is asked that once, or once for each function that is made anew."""
        while True:
            outcome, number = self.judge(make, items), self.begun[0]
            if outcome == "survived":
                return outcome, None
            test = items[number].nodeid
            sound = (unchanged and function, test)
            if sound in self.sound or self.judge(unchanged, items[: number + 1]) == "survived":
                self.sound.add(sound)
                return outcome, test
            print("fails without a change: %s" % test, flush=True)
            self.unsound.add((function, test))
            if sum(other is function for other, _ in self.unsound) > UNSOUND:
                return "not made", None
            del items[number]

    def judge(self, make, items):
        """ "killed", "survived", or "endless": killed, if the machine has time; the last test begun is the one."""
        self.begun[0] = 0
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            status = 1
            try:
                if make:
                    make()
                status = 0 if all(self.passes(item, number) for number, item in enumerate(items)) else 1
            finally:
                os._exit(status)
        os.setpgid(child, child)  # as the child does, whichever comes first
        number = -1
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return "survived" if status == 0 else "killed"
            if self.begun[0] != number:
                number = self.begun[0]
                seconds = self.record["seconds"][items[number].nodeid] if items else 0
                deadline = time.monotonic() + SECONDS + 3 * seconds
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "endless"
            time.sleep(0.005)

    def passes(self, item, number):
        self.begun[0] = number
        reports = runtestprotocol(item, log=False, nextitem=None)
        return all(report.passed or report.skipped for report in reports)


class FunctionJudge(Judge):
    """The judge of changes within functions of pymtml.py: (Function, Change) each."""

    def pytest_runtestloop(self, session):
        import pymtml

        items = {item.nodeid: item for item in session.items}
        callers = self.callers(items)
        for function, change in self.todo:
            tests = self.chosen(function, callers.get(function.key, []))
            make = maker(pymtml, function, change)
            if not self.try_out(function, make, tests, items, described(function, change)):
                self.survivors.append((function, change))
        return True


def maker(module, function, change):
    """What gives the function its changed code and defaults; None if that cannot be done in the process."""
    if change.unlocks:
        target, code = without_lock(module, function)
    else:
        target = find(module, function)
        code = target and code_of(module, function, function.changed(change))
    if not code or code.co_freevars != target.__code__.co_freevars:
        return None
    defaults = None if change.unlocks else defaults_of(module, function, change)

    def make():
        target.__code__, target.__defaults__ = code, defaults

    return make


def survives_in_a_file(function, change, source, tests):
    """Whether the change goes unnoticed by these tests as a module of its own, which other processes import too."""
    folder = os.path.join(BUILD, "checkout")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in os.listdir(ROOT):
        if not name.startswith(".") and name not in ("pymtml.py", "build", "dist"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    lines = source.splitlines(True)
    lines[function.first - 1 : function.last] = [function.changed(change)]
    with open(os.path.join(folder, "pymtml.py"), "w", encoding="utf-8") as file:
        file.write("".join(lines))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--rootdir", folder]
    done = subprocess.run(
        command + ["-c", os.path.join(folder, "pyproject.toml")] + tests,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode == 0


def explained_in(path):
    """The survivors that a document explains: the lines of its blocks of text, below the headline "Mutations"."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        _, _, section = file.read().partition("\n## Mutations\n")
    blocks = re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def line_range(text):
    """The lines that "100-200" names."""
    first, last = map(int, text.split("-"))
    return range(first, last + 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", action="append", default=[], help="number of a section of pymtml.py")
    parser.add_argument("--lines", type=line_range, help="first and last line that a function may begin at, as 100-200")
    parser.add_argument("--function", action="append", default=[], help="name of a function, or Class.method")
    parser.add_argument("--explained", default=DOCUMENT, help="document that explains survivors")
    parser.add_argument("--sample", type=int, help="try only so many changes, drawn by lot")
    parser.add_argument(
        "--seconds",
        type=float,
        default=100,
        help="how long the tests of a change may take, by what they took when the suite was run to learn (100)",
    )
    parser.add_argument("--quick", action="store_true", help="do not try survivors once more in a file of their own")
    return parser.parse_args()


def main():
    options = arguments()
    os.chdir(ROOT)
    os.makedirs(BUILD, exist_ok=True)
    source = stamp()
    chosen = [
        function
        for function in functions(source)
        if (not options.section or section_of(source, function.first) in options.section)
        and (not options.lines or function.first in options.lines)
        and (not options.function or function.name in options.function)
    ]
    todo = [(function, change) for function in chosen for change in changes(function)]
    if options.sample and options.sample < len(todo):
        todo = random.Random(2).sample(todo, options.sample)
    print("%d changes of %d functions" % (len(todo), len(chosen)), flush=True)
    print("running the tests that are new to learn which functions they call ...", flush=True)
    code = "import sys; sys.path.insert(0, 'tools'); import mutants, pytest; "
    code += "sys.exit(pytest.main(%r, plugins=[mutants.Recorder()]))" % (
        QUIET + ["--ignore=" + path for path in LEFT_OUT] + TESTS
    )
    subprocess.call([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    record = recorded()
    open(NOTICED, "w").close()
    judge = FunctionJudge(todo, record, options.seconds, NOTICED)
    files = sorted({test.split("::")[0] for test, names in record["calls"].items() if names})
    pytest.main(QUIET + ["--no-header", "--no-summary"] + files, plugins=[judge])
    survivors = judge.survivors
    if not options.quick and survivors:
        print("%d changes left, tried once more where other processes see them ..." % len(survivors), flush=True)
        blind = sorted({test.split("::")[0] for test, names in record["calls"].items() if not names} | OUTSIDE)
        survivors = [pair for pair in survivors if survives_in_a_file(*pair, source, blind)]
    lines = sorted({described(function, change) for function, change in survivors})
    explained = explained_in(options.explained)
    unexplained = [line for line in lines if line not in explained]
    with open(SURVIVORS, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in unexplained)
    counts = judge.counts
    print("%(killed)d noticed, %(survived)d not, %(not called)d in functions that no test calls itself," % counts)
    print("%(not made)d that cannot be made in the process, %(endless)d noticed as endless" % counts)
    print("%d survivors, %d of them explained" % (len(lines), len(lines) - len(unexplained)))
    for line in unexplained:
        print("survivor: " + line)
    if options.section and not (options.lines or options.function or options.sample or options.quick):
        what = "section%s %s" % ("s" * (len(options.section) > 1), ", ".join(options.section))
        result = "{:,} changes, {:,} survive".format(len(todo), len(lines))
        measured.note("mutations", what, "`make mutants`", result)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
