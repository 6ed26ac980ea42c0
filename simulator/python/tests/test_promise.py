"""What README promises to keep: the list in simulator/tests/promise.txt, held against what is there.

`python simulator/python/tests/test_promise.py` writes the list anew. A line that is added is a promise; one that
changes or goes breaks one, and wants a word in the CHANGELOG.
"""

import ctypes
import hashlib
import inspect
import os
import re
import subprocess
import sys

import packaged
import pytest

pytestmark = packaged.needs_python_3_8
LIST = os.path.join(packaged.SIMULATOR, "tests", "promise.txt")


def source(*parts):
    with open(os.path.join(packaged.SIMULATOR, *parts), encoding="utf-8") as file:
        return file.read()


def keys():
    """(object, key) for each key of profiles."""
    for block in re.findall(r"const struct key (\w+)_keys\[\] = \{(.*?)\n\};", source("src", "keys.c"), re.S):
        for name in re.findall(r'(?:KEY|NAMED)\(\w+, (\w+)|(?:ECC\(|\{)"(\w+)"', block[1]):
            yield block[0], name[0] or name[1]


def digest(library, profile):
    """A number that changes when a value of a frozen machine does, and its name (str)."""
    os.environ.clear()
    os.environ["MTML_SIM_PROFILE"] = profile + "+frozen"
    assert library.mtmlSimLoad() == 0
    buffer = ctypes.create_string_buffer(65536)
    values = []

    def add(number, key):
        found = library.mtmlSimGet(ctypes.c_uint(number), key.encode(), buffer, ctypes.c_size_t(len(buffer))) == 0
        if found:
            values.append("%d.%s=%s" % (number, key, buffer.value.decode("utf-8", "replace")))
        return found

    kinds = {kind: sorted(key for of, key in keys() if of == kind) for kind in ("device", "machine")}
    for key in kinds["machine"]:
        add(0xFFFFFFFF, key)
    for card in range(64):
        for child in [0] + [(n + 1) << shift for shift in (8, 16) for n in range(64)]:
            if (card | child) == card or add(card | child, "name"):
                if not add(card | child, "uuid"):
                    break
                for key in kinds["device"]:
                    add(card | child, key)
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:16]


def signature(function):
    parameters = inspect.signature(function).parameters.values()
    return ", ".join(
        re.sub(r": .*?(?= = |$)", "", str(each)).replace(" = ", "=") for each in parameters if each.name != "self"
    )


def commands():
    """Subcommands with their arguments, as the parser has them."""
    import argparse

    from mtml_simulator import __main__

    def walk(parser, name):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for each, child in action.choices.items():
                    yield "command %s" % (name + " " + each).strip()
                    yield from walk(child, (name + " " + each).strip())
            elif action.dest not in ("help", "version"):
                yield "argument %s %s" % (name, "|".join(action.option_strings) or action.dest)

    return walk(__main__._parser(), "")


def there():
    """All that is promised, as it is (sorted list of str)."""
    sys.path.insert(0, packaged.PYTHON_FOLDER)
    import mtml_simulator
    from mtml_simulator import plugin, session, sweep

    lines = ["key %s %s" % pair for pair in keys()]
    header = re.sub(r"/\*.*?\*/", "", source("mtml_sim.h"), flags=re.S)
    header = re.sub(r"^#.*$", "", header, flags=re.M)
    for declaration in re.findall(r"MTML_SIM_API\s+([^;]+);", header):
        lines.append("function " + " ".join(declaration.split()))
    lines += ["variable " + name for name in re.findall(r'"(MTML_SIM_\w+)"[, ]', source("src", "environment.c"))]
    lines += ["name mtml_simulator." + name for name in mtml_simulator.__all__]
    lines += [
        "method %s(%s)" % (name, signature(function))
        for name, function in inspect.getmembers(session.Simulator, inspect.isfunction)
        if not name.startswith("_")
    ]
    lines.append("call simulate(%s)" % signature(session.simulate))
    lines += ["fixture " + name for name in (plugin.FIXTURE,) + plugin.WIDER]
    lines.append("marker mtml(%s)" % signature(plugin._marked))
    lines.append("marker mtml_sweep(%s)" % signature(sweep._arguments))
    lines += ["option --mtml-profile", "ini mtml_profile"]
    lines += commands()
    library = ctypes.CDLL(packaged.LIBRARY)
    before = dict(os.environ)
    try:
        for name in sorted(os.listdir(os.path.join(packaged.SIMULATOR, "profiles"))):
            lines.append("profile %s %s" % (name[:-4], digest(library, name[:-4])))
    finally:
        os.environ.clear()
        os.environ.update(before)
        library.mtmlSimReload()
    return sorted(set(lines))


def test_promise():
    packaged.build()
    # In a process of its own: machines are loaded by the dozen.
    command = [sys.executable, os.path.abspath(__file__), "--print"]
    done = packaged.run(command, packaged.environment(os.path.dirname(os.path.abspath(__file__))))
    assert done.returncode == 0, done.stderr
    with open(LIST, encoding="utf-8") as file:
        promised = file.read().splitlines()
    now = done.stdout.splitlines()
    broken = sorted(set(promised) - set(now))
    assert not broken, "promised in README, and no longer so: say it in simulator/CHANGELOG.md"
    new = sorted(set(now) - set(promised))
    assert not new, "not in the list yet: python simulator/python/tests/test_promise.py"


def test_versions_and_changelog():
    version = re.search(r'__version__ = "(.*?)"', source("python", "mtml_simulator", "__init__.py")).group(1)
    assert re.search(r"^## (\d\S*)$", source("CHANGELOG.md"), re.M).group(1) == version


TYPED = """
import mtml_simulator
import pytest
from mtml_simulator import Simulator


def test(mtml_simulator: Simulator) -> None:
    mtml_simulator.set("0.gpu_temperature", 3)
    mtml_simulator.set("0.fan_speed", [1, 2])
    mtml_simulator.set("0.name", None)
    mtml_simulator.fail("*", "TIMEOUT", times=1, device=2)
    mtml_simulator.heal()
    count: int = mtml_simulator.calls() + mtml_simulator.references()
    text: str = mtml_simulator.get("0.name") + mtml_simulator.tree()
    reveal_type(mtml_simulator.environment())


def other() -> None:
    with mtml_simulator.simulate("s80") as simulator:
        reveal_type(simulator)
    with pytest.raises(mtml_simulator.ReferenceLeak):
        pass
    reveal_type(mtml_simulator.variables("s80"))
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of the package, of a test of a user's, and of one with two mistakes ({file: lines})."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    folder = tmp_path_factory.mktemp("types")
    (folder / "good.py").write_text(TYPED)
    (folder / "bad.py").write_text(TYPED.replace("times=1", 'times="1"').replace(".heal()", ".heel()"))
    environ = dict(packaged.environment(), MYPYPATH=packaged.PYTHON_FOLDER)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "good.py", "bad.py"]
    package = os.path.join(packaged.PYTHON_FOLDER, "mtml_simulator")
    lines = packaged.run(command + [package], environ, cwd=str(folder)).stdout.replace("builtins.", "").splitlines()
    return {name: [line for line in lines if line.startswith(name)] for name in ("good.py", "bad.py")}, lines


def test_types_of_a_test(checked):
    good, bad = checked[0]["good.py"], checked[0]["bad.py"]
    assert re.findall(r'Revealed type is "(.*?)"', "\n".join(good)) == [
        "dict[str, str]",
        "mtml_simulator.session.Simulator",
        "dict[str, str]",
    ], checked
    assert "error" not in "".join(good)
    assert "\n".join(bad).count("error:") == 2, bad


def test_types_of_the_package(checked):
    gmi = os.path.join("", "gmi", "")
    errors = [line for line in checked[1] if ": error:" in line and gmi not in line and not line.startswith("bad.py")]
    assert not errors and "checked" in checked[1][-1]
    assert os.path.exists(os.path.join(packaged.PYTHON_FOLDER, "mtml_simulator", "py.typed"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        print("\n".join(there()))
    else:
        subprocess.run(["make", "-s", "-C", packaged.SIMULATOR], check=True)
        with open(LIST, "w", encoding="utf-8") as target:
            target.write("\n".join(there()) + "\n")
