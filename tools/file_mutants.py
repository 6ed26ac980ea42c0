#!/usr/bin/env python3
"""Changes files in small steps that mutants.py cannot make in a running process, and says what no test notices.

    python tools/file_mutants.py                    all files below
    python tools/file_mutants.py pymtml_cli         those that begin so
    python tools/file_mutants.py --sample 60        so many changes, drawn by lot; --seed chooses others

What is changed: everything in pymtml_cli and pymtml_dropin; in pymtml.py the tables outside functions, and within them
assignments of several values, texts and the order of arguments. Sentences (help, advice) are left out: no test repeats
them. Each change is made in a copy of the project, and the tests that have to do with the file are run there until one
fails, first those that noticed an earlier change of it. Survivors go to build/mutants/file_survivors.txt; the
exit status is 1 if there are any that docs/reliability.md does not explain.
"""

import argparse
import ast
import glob
import os
import random
import re
import shutil
import subprocess
import sys

import mutants

ROOT = mutants.ROOT
COPY = os.path.join(mutants.BUILD, "project")
SURVIVORS = os.path.join(mutants.BUILD, "file_survivors.txt")
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", "dist", "*.egg-info", ".pytest_cache", "mutants")

CLI = "tests/cli/test_%s.py"
COMMAND = "distinct_values query forms json main xml text names terminal capture doctor health checks modify".split()
COMMAND += "subcommands completion hints processes_shown surroundings".split()
NATIVE = (
    "function_pointers distinct native_abi values field_values behavior catalogue surface facade_errors loader".split()
)
NATIVE += "native_functions devices_kinds nvlink_topology torch_hooks system_answers processes native_errors".split()
# Beginning of a file's name: tests, those first that notice most. test_screens.py is not among them: a wrong value has
# to be noticed elsewhere, as that test says how to record it.
TESTS = {
    "pymtml_cli": [CLI % name for name in COMMAND] + ["tests/test_dropin.py"],
    "pymtml_dropin": ["tests/test_dropin.py", "tests/cli/test_main.py"],
    "pymtml.py": ["tests/test_%s.py" % name for name in NATIVE] + ["test_pymtml.py", "test_pynvml.py"],
}
# Those of the command that stand in no list come last.
TESTS["pymtml_cli"] += sorted(
    set(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, CLI % "*")))
    - set(TESTS["pymtml_cli"])
    - {CLI % "screens"}
)
SWAPPED = {ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.In: "not in"}
WRITTEN = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in"}


NOTICED: "dict[str, list[str]]" = {}  # files of tests that noticed changes of a file, the last one first


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
    """Whether a text is help or advice rather than a name, a unit or a format."""
    return len(text.split()) > 3 and "%" not in text


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
            if swapped[0] != swapped[1]:
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
    """A change in one line."""
    begin, end, new = change
    old = source.text[begin:end].decode()
    line = source.line(source.line_of(begin))
    return "%s: `%s` -> `%s` in `%s`" % (source.path, " ".join(old.split()), " ".join(new.split()), line)


def run(tests):
    """Exit status and output of tests in the copy; a failure ends them, and so does a quarter of an hour."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout=120"]
    command += tests
    try:
        done = subprocess.run(
            command, cwd=COPY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900
        )
    except subprocess.TimeoutExpired:
        return 1, "no end within a quarter of an hour"
    return done.returncode, done.stdout.decode("utf-8", "replace")


def survives(source, change, tests):
    """Whether all tests pass with the change."""
    begin, end, new = change
    path = os.path.join(COPY, source.path)
    noticed = NOTICED.setdefault(source.path, [])
    changed = source.text[:begin] + new.encode() + source.text[end:]
    try:
        compile(changed, path, "exec")
    except SyntaxError:
        return False
    with open(path, "wb") as stream:
        stream.write(changed)
    try:
        status, output = run(noticed + [test for test in tests if test not in noticed])
        found = re.search(r"(?m)^(?:FAILED|ERROR) ([^:\s]+)", output)
        if found and found.group(1) in tests:
            noticed[:] = [found.group(1)] + [test for test in noticed if test != found.group(1)]
        return status == 0
    finally:
        with open(path, "wb") as stream:
            stream.write(source.text)


def files(wanted):
    """Files to change, by what their names begin with."""
    found = ["pymtml.py"]
    for folder in ("pymtml_cli", "pymtml_dropin"):
        found += sorted(
            "%s/%s" % (folder, name) for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith(".py")
        )
    return [path for path in found if not wanted or path.startswith(tuple(wanted))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="*", help="what the names of the files begin with")
    parser.add_argument("--sample", type=int, help="try only so many changes, drawn by lot")
    parser.add_argument("--seed", type=int, default=2, help="another one draws others")
    options = parser.parse_args()
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=LEFT_OUT, symlinks=True)
    todo = [(source, change) for source in map(Source, files(options.file)) for change in changes(source)]
    if options.sample and options.sample < len(todo):
        todo = random.Random(options.seed).sample(todo, options.sample)
    explained = mutants.explained_in(mutants.DOCUMENT)
    for start in sorted({start for source, _ in todo for start in TESTS if source.path.startswith(start)}):
        status, output = run(TESTS[start])
        if status:
            sys.exit("the tests for %s fail without a change:\n%s" % (start, output[-2000:]))
    survivors = []
    for number, (source, change) in enumerate(todo, 1):
        tests = next(tests for start, tests in TESTS.items() if source.path.startswith(start))
        if survives(source, change, tests):
            line = told(source, change)
            survivors.append(line)
            print("%d of %d: survivor: %s" % (number, len(todo), line), flush=True)
    unexplained = [line for line in survivors if line not in explained]
    with open(SURVIVORS, "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in unexplained)
    print(
        "%d changes, %d survivors, %d of them explained"
        % (len(todo), len(survivors), len(survivors) - len(unexplained))
    )
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
