"""Where the command runs must not matter: folders with files of others, closed streams, frozen programs."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import simulated
from command import COMMAND, command_environment
from inside import checks

# Modules that somebody left in a folder, each of which says that it was imported
LEFT = "json ctypes argparse re subprocess tempfile threading queue platform typing shutil signal unicodedata".split()
SUBCOMMANDS = [
    ["health"],
    ["doctor"],
    ["--json"],
    ["-q", "-x"],
    [],
    ["topo", "-m"],
    ["pmon", "-c", "1"],
    ["capture"],
    ["drop-in", "status"],
    ["run", "true"],
]


@pytest.fixture
def trap(tmp_path):
    folder = tmp_path / "trap"
    folder.mkdir()
    for name in LEFT:
        (folder / (name + ".py")).write_text(
            "open(%r, 'a').write(%r)\nraise SystemExit('imported')\n" % (str(tmp_path / "seen"), name + "\n")
        )
    return folder


def in_folder(folder, command, **extra):
    return simulated.run(command, cwd=str(folder), env=command_environment(name="s3000x2", extra_environment=extra))


def seen(folder):
    file = folder.parent / "seen"
    return file.read_text().split() if file.exists() else []


CODE = "import sys; sys.argv[0] = 'pymtml'; from pymtml_cli.main import main; sys.exit(main())"


# Each subcommand in one way, and the two that begin differently in all
WAYS = [("script", arguments) for arguments in SUBCOMMANDS]
WAYS += [(way, arguments) for way in ("module", "package", "path") for arguments in (["health"], ["--json"])]


@pytest.mark.parametrize("way, arguments", WAYS, ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_nothing_is_imported_from_the_current_folder(trap, tmp_path, arguments, way):
    script = tmp_path / "bin" / "pymtml"
    script.parent.mkdir()
    script.write_text(CODE.replace("; sys.argv[0] = 'pymtml'", ""))
    command = {"module": ["-m", "pymtml"], "package": ["-m", "pymtml_cli"]}.get(way, [str(script)])
    extra = {"PYTHONPATH": os.pathsep.join([simulated.ROOT, ""])} if way == "path" else {}
    if "health" in arguments:
        arguments = arguments + ["--lock", str(tmp_path / "lock")]
    if way != "package" and way != "module" or sys.version_info >= (3, 10):  # runpy itself imports some of these before
        result = in_folder(trap, [sys.executable] + command + arguments, **extra)
        assert seen(trap) == [], result.stderr
        assert "imported" not in result.stderr and result.returncode in (0, 1)


@pytest.mark.parametrize("flags", [["-I"], ["-E"], ["-s"]] + ([["-P"]] if sys.version_info >= (3, 11) else []), ids=str)
def test_isolated_pythons(trap, tmp_path, flags):
    code = "import sys; sys.path.append(%r); " % simulated.ROOT + CODE
    for arguments in (["health", "--lock", str(tmp_path / "lock")], ["drop-in", "status"]):
        if "-I" not in flags and "-P" not in flags:
            code = code.replace("import sys; ", "import sys; sys.path.remove(''); ", 1)
        result = in_folder(trap, [sys.executable] + flags + ["-c", code] + arguments)
        assert seen(trap) == [], result.stderr
        assert "CRITICAL" not in result.stdout and result.returncode in (0, 1), result.stdout + result.stderr


def test_a_folder_that_is_gone(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    script = 'rmdir "$PWD" && exec "$@"'
    lock = ["--lock", str(tmp_path / "lock")]
    for arguments in (["-L"], ["health"] + lock):
        folder.mkdir(exist_ok=True)
        result = in_folder(folder, ["sh", "-c", script, "sh", sys.executable, "-m", "pymtml"] + arguments)
        assert (result.returncode, result.stderr) == (0, ""), result.stdout


@pytest.mark.skipif(os.name != "posix", reason="a shell closes streams")
@pytest.mark.parametrize("arguments", [["run", "-c", "print('it ran')"], ["health"], ["doctor"]], ids=" ".join)
def test_closed_streams(tmp_path, arguments):
    if arguments == ["health"]:
        arguments = arguments + ["--lock", str(tmp_path / "lock")]
    command = [sys.executable, "-m", "pymtml"] + arguments
    # How many processes an ordinary user cannot inspect would change meanwhile.
    proc = {"PYMTML_PROC_ROOT": str(tmp_path)}
    usual = in_folder(tmp_path, command, **proc)
    for closed in ("<&-", "2>&-", "<&- 2>&-")[0 if "run" in arguments else -1 :]:
        result = in_folder(tmp_path, ["sh", "-c", 'exec "$@" ' + closed, "sh"] + command, **proc)
        assert result.returncode == usual.returncode and len(result.stdout) > 5
        assert result.stdout.count("\n") == usual.stdout.count("\n")


def test_the_program_that_is_run_has_the_streams_that_it_was_given(tmp_path):
    code = "import os\nfor fd in (0, 2):\n try:\n  os.fstat(fd)\n  print('open')\n except OSError:\n  print('closed')"
    command = [sys.executable, "-m", "pymtml", "run", "-c", code]
    result = in_folder(tmp_path, ["sh", "-c", 'exec "$@" <&- 2>&-', "sh"] + command)
    assert result.stdout == "closed\nclosed\n"


def test_run_in_a_frozen_program_says_what_it_needs(tmp_path):
    for arguments, status in ((["run", "-c", "pass"], 126), (["drop-in", "status"], 1)):
        result = in_folder(tmp_path, [sys.executable, "-c", "import sys; sys.frozen = True; " + CODE] + arguments)
        assert result.returncode == status and "needs a Python interpreter" in result.stderr


@pytest.mark.parametrize("encoding", ["gbk", "ascii"])
@pytest.mark.parametrize("arguments", [["-q", "-x"], ["--json"], ["health", "--json"]], ids=" ".join)
def test_documents_in_any_encoding_of_the_terminal(tmp_path, encoding, arguments):
    """They are ASCII: a name in Chinese comes through also where stdout is not UTF-8."""
    name = "训练卡"
    arguments = arguments + (["--lock", str(tmp_path / "lock")] if "health" in arguments else [])
    escaped = "".join("\\x%02x" % byte for byte in name.encode())
    result = subprocess.run(
        COMMAND + arguments,
        env=dict(command_environment(name="s80", set="0.name=" + escaped), PYTHONIOENCODING=encoding),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    if "-x" in arguments:
        assert [element.text for element in ElementTree.fromstring(result.stdout).iter("product_name")] == [name]
    else:
        report = json.loads(result.stdout.decode("ascii"))
        assert "findings" in report or report["devices"][0]["name"] == name


@pytest.mark.parametrize("arguments", [["--query-gpu=nix", "--format=csv"], ["-q", "-d", "NIX"], ["dmon", "-i", "77"]])
def test_a_refused_request_leaves_the_file_alone(tmp_path, arguments):
    file = tmp_path / "precious"
    file.write_text("content")
    result = in_folder(tmp_path, [sys.executable, "-m", "pymtml"] + arguments + ["-f", str(file)])
    assert result.returncode != 0 and file.read_text() == "content"


def test_a_python_without_its_home_is_no_reason_to_fail(tmp_path):
    """The child of health ignores PYTHONPATH; a copy of the package elsewhere answers for itself."""
    for name in ("pymtml.py", "pymtml_cli", "pymtml_dropin"):
        source = os.path.join(simulated.ROOT, name)
        (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, str(tmp_path / name))
    code = "print(__import__('pymtml_cli').__file__)"
    environment = {"PYTHONPATH": str(tmp_path)}
    where = in_folder("/", [sys.executable, "-c", code], **environment).stdout
    assert where.startswith(str(tmp_path))
    with open(str(tmp_path / os.path.relpath(checks.__file__, simulated.ROOT)), "a") as file:
        file.write("\nHOTTEST = 1\n")
    command = [sys.executable, "-m", "pymtml", "health", "--lock", str(tmp_path / "lock")]
    result = simulated.run(
        command, cwd="/", env=dict(command_environment(name="s3000x2", set="*.slowdown_temperature=0"), **environment)
    )
    assert "the limit is 1 C" in result.stdout
