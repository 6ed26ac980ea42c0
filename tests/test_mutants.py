"""tools/mutants.py makes the changes that it says, of hand-written functions only, each of which compiles."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import types

import pytest
import simulated

import pymtml

if sys.version_info < (3, 8):
    pytest.skip("the tool needs a Python whose syntax trees know where nodes end (3.8)", allow_module_level=True)

sys.path.append(os.path.join(simulated.ROOT, "tools"))
import file_mutants  # noqa: E402
import mutants  # noqa: E402

SOURCE = mutants.stamp()
SAMPLE = '''
def sample(value, limit):
    """Says nothing that is changed."""
    with _lifecycle_lock:
        if value is None or not limit:
            raise ValueError(value)
    for number in range(10):
        if number in (1, limit) and value < number:
            continue
        value.total = number << 2
    return value + 1
'''


def test_every_kind_of_change():
    (function,) = mutants.functions(SAMPLE)
    made = [mutants.described(function, change) for change in mutants.changes(function)]
    assert sorted(line.partition(": ")[2].split("` in `")[0] + "`" for line in made) == sorted(
        [
            "`with _lifecycle_lock` -> `if True`",
            "`is` -> `is not`",
            "`or` -> `and`",
            "`not limit` -> `(limit)`",
            "`raise ValueError(value)` -> `pass`",
            "`10` -> `11`",
            "`in` -> `not in`",
            "`(1, limit)` -> `(limit,)`",
            "`(1, limit)` -> `(1,)`",
            "`1` -> `2`",
            "`and` -> `or`",
            "`<` -> `<=`",
            "`continue` -> `break`",
            "`value.total = number << 2` -> `pass`",
            "`<<` -> `>>`",
            "`2` -> `3`",
            "`value + 1` -> `None`",
            "`+` -> `-`",
            "`1` -> `2`",
        ]
    )


def test_changes_that_read_alike_are_told_apart():
    """One of them may be seen where another is not."""
    (function,) = mutants.functions("def sample(low, value):\n    return low <= value <= 2\n")
    made = [mutants.described(function, change) for change in mutants.changes(function)]
    assert sorted(made) == [
        "sample: `2` -> `3` in `return low <= value <= 2`",
        "sample: `<=` -> `<` in `return low <= value <= 2` (1 of 2)",
        "sample: `<=` -> `<` in `return low <= value <= 2` (2 of 2)",
        "sample: `low <= value <= 2` -> `None` in `return low <= value <= 2`",
    ]


def test_what_the_document_explains_is_a_change_of_the_module():
    """A survivor whose line has changed since is another one, and nobody has looked at it."""
    explained = mutants.explained_in(mutants.DOCUMENT)
    names = {line.partition(": ")[0] for line in explained}
    chosen = [function for function in mutants.functions(SOURCE) if function.name in names]
    made = {mutants.described(function, change) for function in chosen for change in mutants.changes(function)}
    assert len(explained) == len(set(explained)) > 20
    assert [line for line in explained if line not in made] == []


def test_decorators_that_lock_are_dropped(monkeypatch):
    """The function below a decorator is changed, and the lock is taken from around it."""
    function = next(function for function in mutants.functions(SOURCE) if function.name == "_add_reference")
    assert mutants.find(pymtml, function).__code__.co_name == "_add_reference"
    unlocking = [change for change in mutants.changes(function) if change.unlocks]
    assert [mutants.described(function, change) for change in unlocking] == [
        "_add_reference: `@_under_lock` -> `` in `@_under_lock`"
    ]
    assert function.changed(unlocking[0]).lstrip().startswith("def _add_reference(caller):")
    wrapper, code = mutants.without_lock(pymtml, function)
    locked = []

    class Lock:
        __enter__ = __exit__ = lambda self, *exception: locked.append(self)

    monkeypatch.setattr(pymtml, "_lifecycle_lock", Lock())
    sample = pymtml._under_lock(lambda value: -value)
    assert (sample(3), len(locked)) == (-3, 2)
    sample.__code__ = code
    assert (sample(3), len(locked)) == (-3, 2)
    assert wrapper is pymtml._add_reference
    method = next(function for function in mutants.functions(SOURCE) if function.name == "_Change.settle")
    assert mutants.without_lock(pymtml, method)[0] is vars(pymtml._Change)["settle"]


def test_changes_compile_and_change_something():
    count = 0
    for function in mutants.functions(SOURCE):
        for change in mutants.changes(function):
            text = function.changed(change)
            assert text != "".join(function.lines)
            compile(textwrap.dedent(text), function.name, "exec")
            count += 1
    assert count > 1500


def test_generated_functions_are_left_alone():
    chosen = {function.name for function in mutants.functions(SOURCE)}
    assert {"_load", "_Life.stage", "nvmlDeviceGetMemoryInfo", "mtmlLibraryInit"} <= chosen
    assert "nvmlDeviceGetRowRemapperHistogram" not in chosen and hasattr(pymtml, "nvmlDeviceGetRowRemapperHistogram")


def test_changed_code_replaces_the_functions_own():
    (function,) = [function for function in mutants.functions(SOURCE) if function.name == "_number"]
    (change,) = [change for change in mutants.changes(function) if change.new == "None"]
    target = mutants.find(pymtml, function)
    assert target is pymtml._number
    code = mutants.code_of(pymtml, function, function.changed(change))
    assert code.co_name == "_number" and code.co_varnames == target.__code__.co_varnames
    assert code.co_code != target.__code__.co_code


def test_functions_below_decorators_are_found():
    """Those that hold the lock are kept in a closure."""
    for function in mutants.functions(SOURCE):
        target = mutants.find(pymtml, function)
        assert target is not None and target.__code__.co_name == function.node.name, function.name
        assert target.__code__.co_firstlineno <= function.first, function.name


def test_changed_defaults_are_made_anew():
    (function,) = [function for function in mutants.functions(SOURCE) if function.name == "_link_count"]
    made = [mutants.defaults_of(pymtml, function, change) for change in mutants.changes(function)]
    assert pymtml._link_count.__defaults__ == (False,)
    assert made.count((True,)) == 1 and made.count((False,)) == len(made) - 1 > 5


class Item:
    """As much of a test as the judge needs: a name, and what it checks."""

    def __init__(self, nodeid, check):
        self.nodeid, self.check = nodeid, check


@pytest.fixture
def judge(monkeypatch):
    """A judge whose tests pass, fail or do not end as what they check says."""

    class Report:
        def __init__(self, passed):
            self.passed, self.skipped = passed, False

    monkeypatch.setattr(mutants, "runtestprotocol", lambda item, log, nextitem: [Report(item.check())])
    monkeypatch.setattr(mutants, "SECONDS", 0.3)
    seconds = {"a::slow": 0.2, "a::fast": 0.1, "b::slow": 0.4, "b::fast": 0.3, "b::slowest": 9.0}
    return mutants.Judge([], {"seconds": seconds}, 60)


def test_test_that_noticed_is_known(judge):
    def answer():
        return 1

    def endless():
        while True:
            pass

    def other():
        return 2

    def becomes(function):
        return lambda: setattr(answer, "__code__", function.__code__)

    items = [Item("a::fast", lambda: True), Item("a::slow", lambda: answer() == 1), Item("b::slow", lambda: False)]
    assert (judge.judge(becomes(other), items), judge.begun[0]) == ("killed", 1)
    assert (judge.judge(becomes(endless), items), judge.begun[0]) == ("endless", 1)
    assert (judge.judge(None, items), judge.begun[0]) == ("killed", 2)
    assert judge.judge(None, items[:2]) == "survived"
    assert answer() == 1  # only the child's has changed


def test_tests_that_fail_without_the_change_have_noticed_nothing(judge, capsys):
    def answer():
        return 1

    def change():
        answer.__code__ = (lambda: 2).__code__

    ran = []  # by the child alone
    broken = Item("a::slow", lambda: bool(ran))
    items = [Item("a::fast", lambda: not ran.append(1)), Item("b::slow", lambda: len(ran) == 2)]
    function = next(mutants.functions(SOURCE))
    assert judge.noticing(function, change, [broken] + items[:1]) == ("survived", None)
    assert capsys.readouterr().out == "fails without a change: a::slow\n"
    seeing = Item("b::fast", lambda: answer() == 1)
    assert judge.noticing(function, change, items + [seeing]) == ("killed", "b::fast")
    judge.sound = {(None, "b::slow")}  # which was looked at then
    assert judge.noticing(function, change, items + [seeing]) == ("killed", "b::slow")


def test_a_change_is_not_judged_where_making_it_anew_breaks_tests(judge, capsys):
    """Each of them would be run again for each change; five may fail."""
    items = [Item("a::fast", lambda: False) for _ in range(mutants.UNSOUND + 1)]
    for number, item in enumerate(items):
        item.nodeid = "a::%d" % number
        judge.record["seconds"][item.nodeid] = 0.1
    function = next(mutants.functions(SOURCE))
    assert judge.noticing(function, bool, items[:-1], bool) == ("survived", None)
    judge.unsound.clear()
    assert judge.noticing(function, bool, items[:] + items[:1], bool) == ("not made", None)
    assert capsys.readouterr().out.count("fails without a change") == 2 * mutants.UNSOUND + 1


def test_tests_that_noticed_come_first(judge):
    """Those of the same function before those of others, which may not call this one; then the quick ones."""
    tests = ["b::slowest", "a::slow", "a::fast", "b::slow", "b::fast"]
    function, other = list(mutants.functions(SOURCE))[:2]
    assert judge.chosen(function, tests) == ["a::fast", "a::slow", "b::fast", "b::slow", "b::slowest"]
    judge.noticed = [(other, "a::slow"), (other, "c::elsewhere"), (function, "b::slowest"), (function, "b::slow")]
    assert judge.chosen(function, tests) == ["b::slow", "b::slowest", "a::slow", "a::fast", "b::fast"]


def test_some_cases_of_every_test_come_before_more_of_one(judge):
    seconds = judge.record["seconds"]
    seconds.update({"a::many[%d]" % number: 0.01 * (number + 1) for number in range(9)})
    function, tests = next(mutants.functions(SOURCE)), sorted(seconds)
    cases = ["a::many[%d]" % number for number in range(9)]
    judge.limit = 0.45  # 0.1 for the first cases, 0.1, 0.2, and what begins before the time is over
    assert judge.chosen(function, tests) == cases[:4] + ["a::fast", "a::slow", "b::fast"]
    judge.limit = 10.5
    assert judge.chosen(function, tests) == cases[:4] + sorted(cases[4:] + ["a::fast"], key=seconds.get) + [
        "a::slow",
        "b::fast",
        "b::slow",
        "b::slowest",
    ]


FILE_SAMPLE = '''
"""Says nothing that is changed."""
SIZES = {"small": 1, "large": 2}
FIRST, SECOND = SIZES["small"], SIZES["large"]


def told(size):
    """Says nothing either."""
    if size == FIRST:
        print("%d rows", size)
    return not size


LAST = told(max(FIRST, SECOND))
READERS = {"told": told, "later": lambda: told(0)}
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sample.py"
    path.write_text(FILE_SAMPLE)
    return file_mutants.Source(str(path))


def test_every_kind_of_change_of_a_file(source):
    made = [file_mutants.told(source, change).partition(": ")[2] for change in file_mutants.changes(source)]
    assert sorted(line.split("` in `")[0] + "`" for line in made) == sorted(
        [
            '`1, "large": 2` -> `2, "large": 1`',
            "`\"small\"` -> `'smallx'`",
            "`1` -> `2`",
            "`\"large\"` -> `'largex'`",
            "`2` -> `3`",
            '`SIZES["small"], SIZES["large"]` -> `SIZES["large"], SIZES["small"]`',
            "`\"small\"` -> `'smallx'`",
            "`\"large\"` -> `'largex'`",
            "`\"told\"` -> `'toldx'`",
            "`\"later\"` -> `'laterx'`",
            "`0` -> `1`",
            "`==` -> `!=`",
            '`print("%d rows", size)` -> `pass`',
            '`"%d rows", size` -> `size, "%d rows"`',
            "`\"%d rows\"` -> `'%d rowsx'`",
            "`not size` -> `(size)`",
            '`told, "later": lambda: told(0)` -> `lambda: told(0), "later": told`',
        ]
    )


def test_changes_of_a_file_that_read_alike_are_told_apart(tmp_path):
    path = tmp_path / "sample.py"
    path.write_text("PAIRS = (1, 1), (1, 2)\n")
    source = file_mutants.Source(str(path))
    assert [file_mutants.told(source, change).partition(": ")[2] for change in file_mutants.changes(source)] == [
        "`1` -> `2` in `PAIRS = (1, 1), (1, 2)` (1 of 3)",
        "`1` -> `2` in `PAIRS = (1, 1), (1, 2)` (2 of 3)",
        "`1` -> `2` in `PAIRS = (1, 1), (1, 2)` (3 of 3)",
        "`2` -> `3` in `PAIRS = (1, 1), (1, 2)`",
    ]


def test_a_row_explains_a_change_or_all_changes_of_a_line():
    line = "a.py: `1` -> `2` in `PAIRS = (1, 1), (1, 2)`"
    first, second = line + " (1 of 3)", line + " (2 of 3)"
    assert file_mutants.is_explained(first, {first}) and not file_mutants.is_explained(second, {first})
    for one in (first, second, "a.py: `2` -> `3` in `PAIRS = (1, 1), (1, 2)`"):
        assert file_mutants.is_explained(one, {"a.py: * in `PAIRS = (1, 1), (1, 2)`"})
    assert not file_mutants.is_explained("b" + first[1:], {"a.py: * in `PAIRS = (1, 1), (1, 2)`"})
    assert not file_mutants.is_explained("a.py: `2` -> `3` in `OTHER = 2`", {"a.py: * in `PAIRS = (1, 1), (1, 2)`"})


def test_each_row_explains_a_change_of_a_file():
    """One whose line has changed since explains nothing, and another change may be missed for it."""
    rows = file_mutants.explanations()
    sources = [file_mutants.Source(path) for path in file_mutants.files({row["change"].split(": ")[0] for row in rows})]
    made = [file_mutants.told(source, change) for source in sources for change in file_mutants.changes(source)]
    explained = [row["change"] for row in rows]
    assert explained == sorted(set(explained)), "tests/unnoticed_changes.csv: sort its rows, each once"
    assert [row["change"] for row in rows if not row["why"]] == []
    assert [row for row in explained if not any(file_mutants.is_explained(line, {row}) for line in made)] == []


@pytest.mark.parametrize(
    "text, is_one", [("Product name.", True), ("say it in four", True), ("memory.", False), ("%d of them.", False)]
)
def test_sentences_are_told_from_names(text, is_one):
    assert file_mutants.is_sentence(text) is is_one


def test_tests_of_other_processes_and_of_what_was_read_before():
    record = {
        "seconds": {"tests/test_mutants.py::a[1]": 0.1, "tests/test_mutants.py::b": 0.2, "tests/test_build.py::c": 0.1},
        "children": {"tests/test_mutants.py::b": ["x.py:f:1"], "tests/test_build.py::c": ["x.py:g:9"]},
        "calls": {"tests/test_mutants.py::a[1]": ["x.py:f:1"], "tests/test_build.py::c": ["x.py:f:1"]},
    }
    chosen = file_mutants.from_elsewhere(record, {"x.py:f:1"}, '"said in this file alone"')
    assert chosen == ["tests/test_mutants.py::b", "tests/test_mutants.py::a"]
    assert file_mutants.from_elsewhere(record, {"x.py:f:1"}, "12") == ["tests/test_mutants.py::b"]


def test_tests_whose_interpreter_dies_have_noticed_a_change(tmp_path):
    (tmp_path / "test_dying.py").write_text("import os\ndef test_it():\n    os.abort()\n")
    copies = file_mutants.Copies(0, None, 60, [])
    assert copies.run(str(tmp_path), ["test_dying.py"], 60) == (-signal.SIGABRT, "test_dying.py")


def test_calls_of_other_processes_are_written_down(tmp_path):
    """As the hook does that a line of a .pth file runs."""
    calls = tmp_path / "calls"
    calls.write_text("")
    code = (
        "exec(compile(open(%r).read(), 'hook', 'exec'), {}); from pymtml_cli import numeric; numeric.number('1', 0, 9)"
    )
    environment = dict(os.environ, FILE_MUTANTS_CALLS=str(calls), PYTHONPATH=simulated.ROOT)
    subprocess.check_call([sys.executable, "-c", code % file_mutants.HOOK], env=environment, cwd=str(tmp_path))
    from pymtml_cli import numeric

    line = numeric.number.__code__.co_firstlineno
    assert "pymtml_cli/numeric.py:number:%d" % line in calls.read_text().split("\n")


def test_changes_of_a_table_matter_to_its_readers(source):
    (sizes,) = [node for node in source.tree.body if "SIZES" in file_mutants.bound(node)]
    readers = file_mutants.Readers([source]).functions(source, sizes)
    assert [node.name for _, node in readers] == ["told"]  # by way of FIRST and SECOND


def test_what_is_made_of_a_changed_statement_is_made_anew(source):
    """READERS holds told, and calls it later: it is the same whatever told answers."""
    sizes, first, told, last, table = source.tree.body[1:]
    readers = file_mutants.Readers([source])
    assert [node for _, node in readers.tables(source, sizes)] == [first, last]
    assert [node for _, node in readers.tables(source, told)] == [last]
    assert readers.tables(source, table) == []


def test_statements_are_judged_once(source):
    """Several judges take turns; changes of a statement have one judge, who knows what noticed the earlier ones."""
    todo = [(source, change) for change in file_mutants.changes(source)]
    turn = multiprocessing.Value("i")
    judges = [file_mutants.FileJudge(todo, {"seconds": {}}, 60, turn) for _ in range(2)]
    groups = file_mutants.by_statement(todo)
    assert [len(pairs) for _, pairs in groups] == sorted((len(pairs) for _, pairs in groups), reverse=True)
    assert len({id(statement) for statement, _ in groups}) == len(groups)
    taken = [next(judges[number % 2].taken(groups)) for number in range(len(groups))]
    assert taken == groups
    assert [list(judge.taken(groups)) for judge in judges] == [[], []]
    assert sorted(file_mutants.told(*pair) for _, pairs in taken for pair in pairs) == sorted(
        file_mutants.told(*pair) for pair in todo
    )


def test_a_test_that_asks_another_process_the_same_is_left_to_the_second_try():
    record = {"seconds": {}, "children": {"t.py::both": ["a.py:f:1"], "t.py::other": ["a.py:g:9"]}}
    judge = file_mutants.FileJudge([], record, 60, multiprocessing.Value("i"))
    callers = {"a.py:f:1": ["t.py::both", "t.py::other", "t.py::one"], "a.py:h:5": ["t.py::third"]}
    assert judge.inside({"a.py:f:1"}, callers) == {"t.py::other", "t.py::one"}
    assert judge.inside({"a.py:f:1", "a.py:h:5"}, callers) == {"t.py::other", "t.py::one", "t.py::third"}


def test_fields_of_a_struct_are_not_set_twice(readers):
    """Such a change would be an exception before any test has run, and look as if one had noticed it."""
    source = file_mutants.Source("pymtml.py")
    judge = file_mutants.FileJudge([], {"seconds": {}}, 60, multiprocessing.Value("i"))
    for name, possible in (("c_mtmlPciInfo_t", False), ("_PATHS_MAX", True), ("_Life", True)):
        statement = next(node for node in source.tree.body if name in file_mutants.bound(node))
        begin, end = source.span(statement)
        change = file_mutants.as_it_is(source, (begin, end, "something else"))
        assert change == (begin, end, source.words(statement))
        make = file_mutants.maker(source, statement, change, readers)
        assert judge.is_possible(statement, make) is possible, name


def test_a_run_goes_on_where_it_ended(source, monkeypatch, tmp_path):
    monkeypatch.setattr(file_mutants, "OUTCOMES", str(tmp_path / "outcomes.txt"))
    assert file_mutants.outcomes() == {}
    todo = [(source, change) for change in file_mutants.changes(source)]
    judge = file_mutants.FileJudge(todo, {"seconds": {}}, 60, multiprocessing.Value("i"))
    for pair, outcome, test in zip(todo, ("killed", "survived"), ("a::b[x y]", None)):
        judge.write(outcome, test, file_mutants.told(*pair))
    assert file_mutants.outcomes() == {
        file_mutants.told(*todo[0]): "killed",
        file_mutants.told(*todo[1]): "survived",
    }
    assert len({file_mutants.told(*pair) for pair in todo}) == len(todo)


def test_a_changed_statement_reaches_those_who_hold_what_it_made(monkeypatch):
    def before():
        return 1

    def after():
        return 2

    class Before:
        size = 1

        def told(self):
            return 1

    class After:
        size = 2

        def told(self):
            return 2

    def decorated(function):
        return lambda: function()

    first, second = decorated(before), decorated(lambda: 2)
    module, other = types.ModuleType("one"), types.ModuleType("other")
    other.__file__ = os.path.join(simulated.ROOT, "other.py")
    monkeypatch.setitem(sys.modules, "other", other)
    held, own, table, row = before, Before(), {"a": 1}, (1, 2)
    other.row, other.first = row, first
    file_mutants.put_in_place(module, "first", first, second)
    file_mutants.put_in_place(module, "before", before, after)
    file_mutants.put_in_place(module, "Before", Before, After)
    file_mutants.put_in_place(module, "table", table, {"b": 2})
    file_mutants.put_in_place(module, "row", row, (2, 1))
    assert held() == 2 and module.before is held
    assert (own.size, own.told()) == (2, 2) and isinstance(own, module.Before)
    assert table == {"b": 2} and module.table is table
    assert other.row == (2, 1) and other.first is second and other.first() == 2


@pytest.fixture
def readers():
    """Who reads which names of all files."""
    return file_mutants.Readers([file_mutants.Source(path) for path in file_mutants.files()])


def made(path, line, readers):
    """What makes the change of a file that reads so."""
    source = file_mutants.Source(path)
    found = {file_mutants.told(source, change): change for change in file_mutants.changes(source)}
    change = found["%s: %s" % (path, line)]
    (statement,) = source.within(source.tree.body, change[0])
    return file_mutants.maker(source, statement, change, readers)


def test_a_change_is_made_in_the_module_itself(readers):
    from pymtml_cli import numeric

    code, held = numeric.number.__code__, numeric.number
    make = made("pymtml_cli/numeric.py", "`<=` -> `<` in `return value if least <= value <= most else None`", readers)
    assert held("0", 0, 9) == 0
    try:
        make()
        assert (held("0", 0, 9), held("1", 0, 9)) == (None, 1) and numeric.number is held
    finally:
        held.__code__ = code


def test_a_change_is_made_in_tables_that_come_of_it(readers):
    """In a process of its own, as the judge does: the command's tables are as they were afterwards."""
    line = '("clocks.current.graphics", "clocks.gr"),'
    make = made("pymtml_cli/fields.py", "`\"clocks.gr\"` -> `'clocks.grx'` in `%s`" % line, readers)
    child = os.fork()
    if not child:
        status = 1
        try:
            from pymtml_cli import fields, query

            make()
            held = query.fields.BY_NAME
            status = 0 if "clocks.grx" in held and "clocks.gr" not in held and held is fields.BY_NAME else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_a_change_reaches_a_table_that_is_filled_later(readers):
    """OPTIONS is made of a table, then others are put in, and BY_SPELLING comes of all."""
    source = file_mutants.Source("pymtml_cli/language.py")
    by_name = {name: node for node in source.tree.body for name in file_mutants.bound(node)}
    found = readers.tables(source, by_name["MODIFICATIONS"])
    names = [sorted(file_mutants.bound(node) | file_mutants.filled(node)) for _, node in found]
    assert names.index(["OPTIONS"]) < names.index(["BY_SPELLING"])
    assert names.count(["OPTIONS"]) == 3 and ["OPTIONS", "_kind"] in names


def test_what_starts_the_program_is_not_run():
    source = file_mutants.Source("pymtml_cli/__main__.py")
    change = next(file_mutants.changes(source))
    (statement,) = source.within(source.tree.body, change[0])
    assert file_mutants.maker(source, statement, change, file_mutants.Readers([source])) is None
