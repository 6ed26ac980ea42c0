#!/usr/bin/env python3
"""Changes tables, the command and the drop-in in small steps, and says what no test notices.

    python tools/file_mutants.py                    all files below
    python tools/file_mutants.py pymtml_cli         those that begin so
    python tools/file_mutants.py --sample 60        so many changes, drawn by lot; --seed chooses others
    python tools/file_mutants.py --quick            leave out the second try, below
    python tools/file_mutants.py --resume           leave out what an earlier run of the same files has judged
    python tools/file_mutants.py pymtml_cli/health.py --tests tests/cli/test_health.py
                                                    try what is left of a file with these tests, in a copy

What is changed: everything in pymtml_cli and pymtml_dropin; in pymtml.py the tables outside functions, and within them
assignments of several values, texts and the order of arguments (mutants.py has the rest). Sentences (help, advice) are
left out: no test repeats them.

As with mutants.py, the suite is run once to learn which test calls which function. For each change, a forked child runs
its statement anew, and then the tests that call the function, or a function that reads the table. What survives is
tried once more in a copy of the project, where other processes see it. Survivors go to
build/mutants/file_survivors.txt; the exit status is 1 if there are any that tests/unnoticed_changes.csv does not
explain. What became of each change, and the test that noticed it, goes to build/mutants/file_outcomes.txt meanwhile.
"""

import argparse
import ast
import concurrent.futures
import csv
import functools
import importlib
import multiprocessing
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import types

import mutants
import pytest

ROOT = mutants.ROOT
COPY = os.path.join(mutants.BUILD, "project")
CALLS = os.path.join(mutants.BUILD, "file_calls.json")
SURVIVORS = os.path.join(mutants.BUILD, "file_survivors.txt")
EXPLAINED = os.path.join(ROOT, "tests", "unnoticed_changes.csv")
HOOK = os.path.join(ROOT, "tools", "recorded_calls.py")
OUTCOMES = os.path.join(mutants.BUILD, "file_outcomes.txt")
COPY_LACKS = shutil.ignore_patterns(".git", ".venv", "__pycache__", "dist", "*.egg-info", ".pytest_cache", "mutants")

NATIVE = (
    "function_pointers distinct native_abi values field_values behavior catalogue surface facade_errors loader".split()
)
NATIVE += "native_functions devices_kinds nvlink_topology torch_hooks system_answers processes native_errors".split()
NATIVE += "locks handles null_handles log native_arguments energy native_lifecycle keep_library".split()
NATIVE += "lifecycle_facade standalone vendor_binding".split()
DROP_IN = ["tests/test_dropin.py", "tests/test_dropin_metadata.py", "tests/cli/test_surroundings.py"]
MOST = 30  # tests that are tried in a copy though they call the changed function themselves
TESTS = ["tests/cli", "test_pymtml.py", "test_pynvml.py"] + DROP_IN[:2]
TESTS += ["tests/test_%s.py" % name for name in NATIVE]
TESTS += ["tests/hostile/test_%s.py" % name for name in ("python", "loading")]
# A wrong value has to be noticed elsewhere: this test says how to record it.
LEFT_OUT = "tests/cli/test_screens.py"
SWAPPED = {ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.In: "not in"}
WRITTEN = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in"}
INNER = (ast.FunctionDef, ast.Lambda)
DEFINITION = (ast.FunctionDef, ast.ClassDef)
# What a table may be, or be made of, when it is made anew behind a changed one.
PLAIN = (str, bytes, int, float, tuple, list, dict, set, frozenset, types.MappingProxyType, re.Pattern)


class Source:
    """A file's text, from which stretches can be taken and replaced."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), "rb") as stream:
            self.text = stream.read()
        self.starts = [0]
        for line in self.text.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.tree = ast.parse(self.text)
        self.lines_of_changes = {}  # by the change

    def place(self, line, column):
        return self.starts[line - 1] + column

    def span(self, node):
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)

    def words(self, node):
        begin, end = self.span(node)
        return self.text[begin:end].decode()

    def line_of(self, begin):
        return self.text[:begin].count(b"\n") + 1

    def line(self, number):
        return self.text.split(b"\n")[number - 1].decode().strip()

    def within(self, nodes, begin):
        """Those of the nodes that a position lies in."""
        return [node for node in nodes if self.span(node)[0] <= begin < self.span(node)[1]]


def generated_lines(source):
    """Lines that a generator writes (set)."""
    lines, inside = set(), False
    for number, line in enumerate(source.text.decode().split("\n"), 1):
        inside = inside or line.startswith("# BEGIN generated")
        if inside:
            lines.add(number)
        inside = inside and not line.startswith("# END generated")
    return lines


def is_sentence(text):
    """Whether a text is help or advice rather than a name, a unit, the begin of a key or a format."""
    return "%" not in text and (len(text.split()) > 3 or text[:1].isupper() and text.endswith("."))


def changes(source):
    """All changes of a file: (begin, end, new text)."""
    own = source.path == "pymtml.py"
    left_out = generated_lines(source)
    in_functions, documentation, notes = set(), set(), set()
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documentation.add(id(first.value))
        if isinstance(node, ast.FunctionDef):
            in_functions.update(id(inner) for inner in ast.walk(node))
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            notes.update(id(inner) for inner in ast.walk(note)) if note is not None else None
        if isinstance(node, ast.keyword) and node.arg in ("help", "metavar"):
            notes.update(id(inner) for inner in ast.walk(node.value))
    for node in ast.walk(source.tree):
        if not hasattr(node, "lineno") or node.lineno in left_out or id(node) in notes | documentation:
            continue
        begin, end = source.span(node)
        inside = own and id(node) in in_functions
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if (
                node.value.strip()
                and not is_sentence(node.value)
                and source.text[begin : begin + 1] in b"\"'"
                and not source.text[begin:].startswith(b'"""')
            ):
                yield begin, end, repr(node.value + "x")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool) and not inside:
            yield begin, end, str(
                not node.value if node.value in (True, False) and isinstance(node.value, bool) else node.value + 1
            )
        elif (
            isinstance(node, ast.Call) and len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args)
        ):
            first, second = node.args[0], node.args[1]
            swapped = (source.words(second), source.words(first))
            pairs = isinstance(first, ast.Tuple) and isinstance(second, ast.Tuple)  # of a document: keys in any order
            if swapped[0] != swapped[1] and not pairs and source.words(node.func) not in ("max", "min"):
                between = source.text[source.span(first)[1] : source.span(second)[0]].decode()
                yield source.span(first)[0], source.span(second)[1], between.join(swapped)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Tuple)
            and isinstance(node.targets[0], ast.Tuple)
        ):
            items = [source.words(item) for item in node.value.elts]
            if len(set(items)) > 1:
                yield source.span(node.value) + (", ".join(items[1:] + items[:1]),)
        elif isinstance(node, ast.Dict) and len(node.values) > 1 and (not own or not inside):
            first, second = node.values[0], node.values[1]
            if source.words(first) != source.words(second):
                between = source.text[source.span(first)[1] : source.span(second)[0]].decode()
                swapped = source.words(second) + between + source.words(first)
                yield source.span(first)[0], source.span(second)[1], swapped
        elif isinstance(node, ast.Compare) and not own and type(node.ops[0]) in SWAPPED:
            left, right = node.left, node.comparators[0]
            gap = source.text[source.span(left)[1] : source.span(right)[0]].decode()
            old, new = WRITTEN[type(node.ops[0])], SWAPPED[type(node.ops[0])]
            if old in gap:
                yield source.span(left)[1], source.span(right)[0], gap.replace(old, new, 1)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not own:
            yield begin, end, "pass"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and not own:
            yield begin, end, "(%s)" % source.words(node.operand)


def told(source, change):
    """A change in one line, which no other change of the file has."""
    if not source.lines_of_changes:
        alike = {}
        for one in changes(source):
            begin, end, new = one
            old = source.text[begin:end].decode()
            line = source.line(source.line_of(begin))
            text = "%s: `%s` -> `%s` in `%s`" % (source.path, " ".join(old.split()), " ".join(new.split()), line)
            alike.setdefault(text, []).append(one)
        for text, ones in alike.items():
            for number, one in enumerate(ones, 1):
                source.lines_of_changes[one] = "%s (%d of %d)" % (text, number, len(ones)) if ones[1:] else text
    return source.lines_of_changes[change]


def is_explained(line, explained):
    """Whether a row explains a change, or all changes of its line (``*`` in place of what is changed into what)."""
    path, _, rest = line.partition(": ")
    whole = "%s: * in `%s" % (path, re.sub(r" \(\d+ of \d+\)$", "", rest).rpartition("` in `")[2])
    return line in explained or whole in explained


def bound(statement):
    """The names that a statement of a module gives a value (set)."""
    if isinstance(statement, DEFINITION):
        return {statement.name}
    if isinstance(statement, ast.Expr):
        return set()
    targets = getattr(statement, "targets", None) or [statement]
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    nodes = [node for target in targets for node in ast.walk(target)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def filled(statement):
    """The names of tables that a statement of a module puts something into (set)."""
    found = set()
    for node in [] if isinstance(statement, DEFINITION) else ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(getattr(node.value, "id", None))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("update", "append", "extend", "add"):
            found.add(getattr(node.func.value, "id", None))
    return found - {None}


def called(statement):
    """The names of the functions that a statement calls when it runs (set)."""
    found, todo = set(), [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            found.add(getattr(node.func, "id", getattr(node.func, "attr", None)))
        todo.extend(one for one in ast.iter_child_nodes(node) if not isinstance(one, INNER))
    return found


class Readers:
    """Knows which functions and tables read which names of the modules."""

    def __init__(self, sources):
        self.readers = {}  # (file, name): (source, statement) each; the file is None where it is not known
        self.givers = {}  # (file, name): the (source, statement) that gives it a value
        for source in sources:
            imported = names_of_imports(source)
            for statement in source.tree.body:
                self.givers.update(((source.path, name), (source, statement)) for name in bound(statement))
                for name in {origin(node, source.path, imported) for node in ast.walk(statement)} - {None}:
                    self.readers.setdefault(name, []).append((source, statement))

    def functions(self, own, statement):
        """The functions and classes that read what a statement of a file gives a value, or a table that does
        ((source, node) each)."""
        found, seen, todo = [], set(), [(own.path, name) for name in bound(statement)]
        while todo:
            path, name = todo.pop()
            if (path, name) in seen:
                continue
            seen.add((path, name))
            for source, node in self.readers.get((path, name), []) + self.readers.get((None, name), []):
                if isinstance(node, DEFINITION):
                    found.append((source, node))
                else:
                    todo.extend((source.path, one) for one in bound(node))
        return found

    def tables(self, own, statement):
        """The tables that are made of what a statement of a file gives a value, functions in between or not ((source,
        node) each, those that others are made of first)."""
        found, seen = {}, set()
        todo = [(own.path, name, isinstance(statement, DEFINITION)) for name in bound(statement)]
        while todo:
            path, name, by_call = todo.pop()
            if (path, name, by_call) in seen:
                continue
            seen.add((path, name, by_call))
            for source, node in self.readers.get((path, name), ()):
                if isinstance(node, ast.FunctionDef):
                    todo.extend((source.path, one, True) for one in bound(node))
                elif not isinstance(node, DEFINITION) and (not by_call or name in called(node)):
                    if isinstance(node, (ast.Assign, ast.AnnAssign)) or filled(node):
                        found[source.path, node.lineno] = (source, node)
                        todo.extend((source.path, one, False) for one in bound(node) | filled(node))
                    for giver, one in (self.givers[source.path, name] for name in filled(node)):
                        found[giver.path, one.lineno] = (giver, one)
        found.pop((own.path, statement.lineno), None)
        return sorted(found.values(), key=lambda pair: (pair[0].path != "pymtml.py", pair[0].path, pair[1].lineno))


def names_of_imports(source):
    """What a file imports of the other files: {name: (file, name there; None for the file itself)}."""
    found, known = {}, {path[: -len(".py")].replace("/", "."): path for path in files()}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            found.update((one.asname or one.name, (known[one.name], None)) for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                whole = "%s.%s" % (node.module, one.name)
                if whole in known:
                    found[one.asname or one.name] = (known[whole], None)
                elif node.module in known:
                    found[one.asname or one.name] = (known[node.module], one.name)
    return found


def origin(node, path, imported):
    """(file, name) of what a node of a syntax tree reads; the file is None for an attribute of anything."""
    if isinstance(node, ast.Attribute):
        path, name = imported.get(getattr(node.value, "id", None), (None, None))
        return (path if name is None else None, node.attr)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return imported.get(node.id, (path, node.id))
    return None


class Keys:
    """Knows the keys that a record of calls has of the functions to which a change matters."""

    def __init__(self, record, readers):
        self.readers, self.by_file = readers, {}
        for names in list(record["calls"].values()) + list(record.get("children", {}).values()):
            for key in names:
                self.by_file.setdefault(key.split(":")[0], {})[key] = int(key.rpartition(":")[2])

    def of(self, source, begin):
        """The keys for a change that begins so (set)."""
        (statement,) = source.within(source.tree.body, begin)
        inner = source.within((node for node in ast.walk(statement) if isinstance(node, INNER)), begin)
        places = [(source, inner[-1])] if inner else []
        if not inner or not isinstance(statement, DEFINITION):
            places += self.readers.functions(source, statement) + [(source, statement)]
        found = set()
        for one, node in places:
            first = min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", ())])
            lines = range(first, node.end_lineno + 1)
            found |= {key for key, line in self.by_file.get(one.path, {}).items() if line in lines}
        return found if inner else found or set(self.by_file.get(source.path, ()))


class FileJudge(mutants.Judge):
    """The judge of changes in files: (Source, change) each; ``turn`` counts the statements that judges have taken."""

    def __init__(self, todo, record, limit, turn):
        super().__init__(todo, record, limit)
        self.turn, self.possible = turn, {}

    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        callers = self.callers(items)
        readers = Readers([Source(path) for path in files()])
        known = Keys(self.record, readers)
        for statement, pairs in self.taken(by_statement(self.todo)):
            for source, change in pairs:
                tests = self.chosen(statement, sorted(self.inside(known.of(source, change[0]), callers)))
                make, unchanged = maker(source, statement, change, readers), None
                if make and (not isinstance(statement, ast.FunctionDef) or readers.tables(source, statement)):
                    unchanged = maker(source, statement, as_it_is(source, change), readers)
                    make = make if self.is_possible(statement, unchanged) else None
                self.try_out(statement, make, tests, items, told(source, change), unchanged)
        return True

    def inside(self, keys, callers):
        """The tests that call some functions in this process alone (set). One that compares it with others would find
        that they differ, whatever the change is: theirs are as they were."""
        elsewhere = self.record.get("children", {})
        tests = {test for key in keys for test in callers.get(key, ())}
        return {test for test in tests if keys.isdisjoint(elsewhere.get(test, ()))}

    def is_possible(self, statement, unchanged):
        """Whether a statement can be run once more in the process: the fields of a struct cannot be set twice."""
        if statement not in self.possible:
            self.possible[statement] = self.judge(unchanged, []) == "survived"
        return self.possible[statement]

    def taken(self, groups):
        """Those of the groups that no other judge takes."""
        while True:
            with self.turn.get_lock():
                number = self.turn.value
                self.turn.value += 1
            if number >= len(groups):
                return
            yield groups[number]

    def write(self, outcome, test, line):
        write_outcome(outcome, test, line)


def by_statement(todo):
    """Changes, by the statement of a module that they lie in ((statement, pairs) each), most of them first."""
    groups = {}
    for source, change in todo:
        (statement,) = source.within(source.tree.body, change[0])
        groups.setdefault((source.path, statement.lineno), (statement, []))[1].append((source, change))
    return sorted(groups.values(), key=lambda group: -len(group[1]))


def as_it_is(source, change):
    """A change of the same place that changes nothing."""
    return change[:2] + (source.text[change[0] : change[1]].decode(),)


def write_outcome(outcome, test, line):
    """Add what became of a change, and the test that noticed it (None: none has)."""
    with open(OUTCOMES, "a", encoding="utf-8") as stream:
        stream.write("\t".join([outcome, test or "", line]) + "\n")


def outcomes():
    """What became of the changes that were judged ({the change in one line: outcome})."""
    if not os.path.exists(OUTCOMES):
        return {}
    with open(OUTCOMES, encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t", 2) for line in stream]
    return {line: outcome for outcome, _, line in rows}


def judge(todo, record, limit, turn, tests):
    """Judge changes until none is left; several processes do this at a time."""
    pytest.main(mutants.QUIET + ["--no-header", "--no-summary"] + tests, plugins=[FileJudge(todo, record, limit, turn)])


def maker(source, statement, change, readers):
    """What runs the changed statement anew in its module, and the tables made of it; None if it does not compile or
    starts the program."""
    begin, end, new = change
    first, last = source.span(statement)
    for decorator in getattr(statement, "decorator_list", ()):
        first = min(first, source.span(decorator)[0] - 1)  # with its "@"
    text = source.text[first:begin] + new.encode() + source.text[end:last]
    text = b"\n" * (source.line_of(first) - 1) + text
    try:
        code = compile(text, os.path.join(ROOT, source.path), "exec", dont_inherit=True)
    except SyntaxError:
        return None
    if source.path.endswith("__main__.py"):
        return None
    tables = readers.tables(source, statement)

    def make():
        run_anew(source, statement, code)
        for one, node in tables:
            if filled(node) or all(isinstance(vars(module_of(one)).get(name), PLAIN) for name in bound(node)):
                tree = ast.Module([node], type_ignores=[])
                run_anew(one, node, compile(tree, os.path.join(ROOT, one.path), "exec", dont_inherit=True))

    return make


def module_of(source):
    """The module that a file is."""
    name = source.path[: -len(".py")].replace("/", ".")
    return importlib.import_module(name[: -len(".__init__")] if name.endswith(".__init__") else name)


def run_anew(source, statement, code):
    """Run a statement of a module, and let everybody have what it makes."""
    module = module_of(source)
    before = {key: vars(module).get(key) for key in bound(statement)}
    exec(code, vars(module))
    for key, old in before.items():
        put_in_place(module, key, old, vars(module).get(key))


def is_plain(value):
    """Whether a value is a function whose code is all there is to it: what a decorator made has the other in a cell."""
    return isinstance(value, types.FunctionType) and not value.__closure__


def put_in_place(module, key, old, new):
    """Let everybody who holds what a name stood for see what it stands for now."""
    if is_plain(old) and is_plain(new):
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
        setattr(module, key, old)
        return
    if isinstance(old, type) and isinstance(new, type):
        for name, value in vars(new).items():
            if is_plain(value) and is_plain(vars(old).get(name)):
                vars(old)[name].__code__, vars(old)[name].__defaults__ = value.__code__, value.__defaults__
            elif name not in ("__dict__", "__weakref__", "__doc__"):
                setattr(old, name, value)
        setattr(module, key, old)
        return
    if type(old) is type(new) and isinstance(old, (dict, list, set)):
        filled = type(new)(new)
        old.clear()
        (old.extend if isinstance(old, list) else old.update)(filled)
        setattr(module, key, old)
        return
    for other in list(sys.modules.values()):
        path = getattr(other, "__file__", None) or ""
        if path.startswith(ROOT) and vars(other).get(key) is old:
            setattr(other, key, new)


def explanations():
    """Changes that nobody needs to notice, and why: the rows of tests/unnoticed_changes.csv."""
    with open(EXPLAINED, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


class Copies:
    """Copies of the project, one for each process, in which a change is in a file and other processes see it."""

    def __init__(self, count, choose, limit, tests):
        self.choose, self.limit = choose, limit  # choose: what gives the tests for a change
        self.sound, self.unsound = set(), set()  # tests that pass, and that fail, without a change
        self.free = queue.Queue()
        for number in range(count):
            path = "%s-%d" % (COPY, number)
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(ROOT, path, ignore=COPY_LACKS, symlinks=True)
            environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
            self.run(path, ["--collect-only"] + tests, 600, environment)  # compiles what is not changed
            self.free.put(path)

    def run(self, path, tests, limit, environment=None):
        """(pytest's exit status, the test that fails in a copy, without its parameters, or the file that cannot be
        read, or the first test where the interpreter itself dies); (0, None) if none does in the time."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", "--timeout=120"]
        process = subprocess.Popen(
            command + ["--deselect=" + test for test in sorted(self.unsound)] + tests,
            cwd=path,
            env=environment or dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            output = process.communicate(timeout=limit)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 0, None
        finally:
            end_what_runs_in(path)
        found = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", output, re.MULTILINE)
        died = process.returncode in (-signal.SIGABRT, -signal.SIGSEGV)
        return process.returncode, found.group(1) if found else tests[0] if died else None

    def survives(self, source, change):
        """Whether the tests that may see the change from elsewhere pass, as far as there is time for them."""
        path = self.free.get()
        try:
            test = self.noticing(path, source, change)
        finally:
            self.free.put(path)
        write_outcome("killed" if test else "survived elsewhere", test, told(source, change))
        return test is None

    def noticing(self, path, source, change):
        """The test that notices a change in a copy; None if none does. One that fails without the change as well has
        noticed nothing."""
        begin, end, new = change
        changed = os.path.join(path, source.path)
        tests = self.choose(source, change)
        while tests:
            try:
                with open(changed, "wb") as stream:
                    stream.write(source.text[:begin] + new.encode() + source.text[end:])
                status, test = self.run(path, tests, self.limit)
            finally:
                with open(changed, "wb") as stream:
                    stream.write(source.text)
            if status == pytest.ExitCode.USAGE_ERROR and tests != without_parameters(tests):
                tests = without_parameters(tests)  # some come of what was changed
                continue
            if test is None or test in self.sound:
                return test
            if self.run(path, [test], self.limit)[1] is None:
                self.sound.add(test)
                return test
            print("fails without a change: %s" % test, flush=True)
            self.unsound.add(test)
        return None


def end_what_runs_in(path):
    """End the programs that changed tests have left in a copy: nothing else would, and each can take a whole CPU."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if (os.readlink("/proc/%s/cwd" % number) + "/").startswith(path + "/"):
                os.kill(int(number), signal.SIGKILL)
        except OSError:  # it has ended
            pass


def files(wanted=()):
    """Files to change, by what their names begin with."""
    found = ["pymtml.py"]
    for folder in ("pymtml_cli", "pymtml_dropin"):
        found += sorted(
            "%s/%s" % (folder, name) for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith(".py")
        )
    return [path for path in found if not wanted or path.startswith(tuple(wanted))]


def without_parameters(tests):
    """Tests with all their cases, each once (list)."""
    return list(dict.fromkeys(test.split("[")[0] for test in tests))


def from_elsewhere(record, keys, old):
    """The tests that may see a change of some functions from elsewhere (list).

    First those whose other processes call one, quick ones before others, some cases of each before more; then those
    that call one themselves, in files that have the text, which they may have read before anything was changed."""
    found = [test for test, names in record["children"].items() if not keys.isdisjoint(names)]
    chosen = mutants.some_of_each_first(found, record["seconds"])
    if old[:1] == '"' and len(old) > 3:
        callers = [test for test, names in record["calls"].items() if not keys.isdisjoint(names)]
        readers = [test for test in without_parameters(callers) if old[1:-1] in text_of(test.split("::")[0])]
        chosen += sorted(readers)[:MOST]
    return chosen


@functools.lru_cache(maxsize=None)
def text_of(path):
    """The text of a file of the project."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="*", help="what the names of the files begin with")
    parser.add_argument("--sample", type=int, help="try only so many changes, drawn by lot")
    parser.add_argument("--seed", type=int, default=2, help="another one draws others")
    parser.add_argument("--seconds", type=float, default=30, help="how long the tests of a change may take (30)")
    parser.add_argument("--quick", action="store_true", help="do not try survivors once more in a copy")
    parser.add_argument("--elsewhere", type=float, default=900, help="how long the second try may take (900)")
    parser.add_argument("--resume", action="store_true", help="go on with an earlier run")
    parser.add_argument("--tests", nargs="+", help="go on with an earlier run, with these tests and in a copy only")
    parser.add_argument("--only", default="", help="try only changes whose line has this text")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time (one for each CPU)")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.makedirs(mutants.BUILD, exist_ok=True)
    sources = {path: Source(path) for path in files()}
    todo = [(sources[path], change) for path in files(options.file) for change in changes(sources[path])]
    todo = [pair for pair in todo if options.only in told(*pair)]
    if options.sample and options.sample < len(todo):
        todo = random.Random(options.seed).sample(todo, options.sample)
    print("%d changes" % len(todo), flush=True)
    if not (options.resume or options.tests):
        open(OUTCOMES, "w").close()
    explained = {row["change"] for row in explanations()}
    if options.tests:
        survivors = [pair for pair in unnoticed(todo) if not is_explained(told(*pair), explained)]
        survivors = tried_elsewhere(survivors, lambda source, change: options.tests, options)
    else:
        survivors = tried(todo, options)
    lines = [told(*pair) for pair in survivors]
    unexplained = [line for line in lines if not is_explained(line, explained)]
    with open(SURVIVORS, "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in unexplained)
    counts = (len(todo), len(lines), len(lines) - len(unexplained))
    print("%d changes, %d survivors, %d of them explained" % counts)
    for line in unexplained:
        print("survivor: " + line)
    return 1 if unexplained else 0


def unnoticed(pairs):
    """Those of the changes that no test has noticed yet."""
    judged = outcomes()
    return [pair for pair in pairs if judged.get(told(*pair)) not in ("killed", "endless")]


def tried(todo, options):
    """Try changes with the tests that call what is changed; those that survive (list)."""
    print("running the tests that are new to learn which functions they call ...", flush=True)
    subprocess.call(
        [sys.executable, __file__, "--learn"] + mutants.QUIET + ["--ignore=" + LEFT_OUT] + TESTS,
        stdout=subprocess.DEVNULL,
    )
    record = mutants.recorded(CALLS)
    judged = outcomes()
    left = [pair for pair in todo if told(*pair) not in judged]
    known = sorted({test.split("::")[0] for test, names in record["calls"].items() if names})
    turn = multiprocessing.Value("i")
    judges = [
        multiprocessing.Process(target=judge, args=(left, record, options.seconds, turn, known))
        for _ in range(options.jobs if left else 0)
    ]
    for process in judges:
        process.start()
    for process in judges:
        process.join()
    survivors, judged = unnoticed(todo), outcomes()
    if options.quick:
        return survivors
    keys = Keys(record, Readers([Source(path) for path in files()]))

    def choose(source, change):
        begin, end, _ = change
        return from_elsewhere(record, keys.of(source, begin), source.text[begin:end].decode())

    tried_elsewhere([pair for pair in survivors if judged.get(told(*pair)) != "survived elsewhere"], choose, options)
    return unnoticed(survivors)


def tried_elsewhere(pairs, choose, options):
    """Try changes once more in a copy; those that survive (list)."""
    print("%d changes left, tried once more in a copy ..." % len(pairs), flush=True)
    copies = Copies(options.jobs, choose, options.elsewhere, options.tests or TESTS)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        survives = list(pool.map(lambda pair: copies.survives(*pair), pairs))
    return [pair for pair, one in zip(pairs, survives) if one]


class FileRecorder(mutants.Recorder):
    """Learns what tests call in other processes, too: in ``children``, by the test."""

    def __init__(self, sources):
        keys = {os.path.join(ROOT, path): path + ":" for path in sources}
        super().__init__(CALLS, keys, sources)
        known = mutants.recorded(CALLS)
        self.children = known.get("children", {}) if known["module"] == sources else {}
        if not self.children:  # what an earlier form of this tool has learned lacks them
            self.calls = {}
        self.started = os.path.join(mutants.BUILD, "started")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        open(self.started, "w").close()
        os.environ.update(FILE_MUTANTS_HOOK=HOOK, FILE_MUTANTS_CALLS=self.started)
        yield from super().pytest_runtest_protocol(item)
        del os.environ["FILE_MUTANTS_HOOK"], os.environ["FILE_MUTANTS_CALLS"]
        with open(self.started, encoding="utf-8") as stream:
            whole = re.findall(r"^\S+:\S+:\d+$", stream.read(), re.MULTILINE)  # others write while this is read
            self.children[item.nodeid] = sorted(set(whole))

    def as_record(self):
        return dict(super().as_record(), children=self.children)


def learn(arguments):
    """Run tests and record which functions of the files they call; those that are known are left out."""
    # What starts with a Python of this environment runs the hook, if the test has not left out the variables
    entry = os.path.join(sysconfig.get_path("purelib"), "pymtml_file_mutants.pth")
    with open(entry, "w") as stream:
        stream.write(
            'import os; p = os.environ.get("FILE_MUTANTS_HOOK"); p and exec(compile(open(p).read(), p, "exec"), {})\n'
        )
    try:
        return pytest.main(arguments, plugins=[FileRecorder({path: Source(path).text.decode() for path in files()})])
    finally:
        os.remove(entry)


if __name__ == "__main__":
    sys.exit(learn(sys.argv[2:]) if sys.argv[1:2] == ["--learn"] else main())
