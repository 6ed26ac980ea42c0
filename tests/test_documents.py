"""Every block of code in the documents: Python and shell run on the simulator, data parses.

Blocks are run from the top folder, with eight simulated GPUs at hand and with the simulator's package on the path. A
fenced block names its language; an indented one is for a shell, unless it begins with an import. What a command writes
into the top folder goes into a folder of links to it.
"""

import collections
import configparser
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import markdown_it
import pytest
import simulated
import yaml
from offenders import each

import pymtml

SKIPPED_FOLDERS = ("build", "dist", "node_modules", "__pycache__")
PYTHON = ("python", "py")
SHELL = ("sh", "bash", "shell", "console")


def c_source(text):
    """Compiles a program against the headers, without a result."""
    folders = [simulated.ROOT, os.path.join(simulated.ROOT, "simulator")]
    command = [os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-fsyntax-only", "-x", "c", "-"]
    subprocess.run(command + ["-I" + folder for folder in folders], input=text.encode(), check=True)


DATA = {
    "c": c_source,
    "json": json.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "ini": lambda text: configparser.ConfigParser(strict=False, interpolation=None).read_string(text),
}
PROSE = ("text",)  # what a program prints

# Commands that are not run, by what they are in whole, and why.
NOT_RUN = {
    r"make (test|-C simulator test)": "runs tests that run already",
    r"make (build|format lint|-C simulator sanitize)": "is a part of .ci/run",
    r"make (test-programs|\.venv/\.installed sim)": "installs programs from the package index",
    r"make bench.*": "takes minutes, and writes the results that are kept",
    r"(python3 -m |\S*/)?pip (wheel|(un)?install) .*|python3 -m venv .*": "changes an environment; test_install.py and "
    "test_distribution.py of tests/tools, test_package_wheel.py of the simulator do it in one of their own",
    r"pymtml (doctor.*|health)": "its exit status says that a simulated card waits for a reboot; tests/cli runs it",
    r"pymtml xid .*": "needs a driver that has recorded something; tests/cli/test_xid.py has one",
    r"pymtml drop-in (enable|status|disable).*": "changes, or finds nothing in, the environment of the tests",
    r"(PYTHONPATH=/tmp/pymtml )?python3 -m (zipfile|pymtml) ?.*": "wants a wheel; tests/tools/test_install.py does it",
    r"PYMTML_LIBRARY=\S+ MTML_SIM_PROFILE=\S+ python3 quick_start.py": "runs the program above; test_readme.py does it",
    r"python -m pytest tests/programs/\S+ -m programs .*": "installs a program from the package index",
    r"LD_LIBRARY_PATH=simulator/build MTML_SIM_PROFILE=s4000x8 some-program": "stands for any program",
    r"(cp|cp -r) examples/fleet/.* /etc/\S+|install -D .*|/opt/\S+ .*": "is for a system of its own",
    r"(systemctl|apt-get|docker|kubectl|promtool|amtool) .*": "is for a system with such a thing",
    r"(until )?curl -s .*": "asks a service that was not started",
    r"(pdsh|srun|for host in) .*": "needs a cluster",
    r"python examples/fleet/ray_check.py .*": "needs Ray; tests/programs/test_ray_check.py does it",
    r"cd examples/ci/platform_probe && .*": "needs the installed plugin; test_ci_examples.py does it",
    r"python -m mtml_simulator exec .* -- sh -c .*cc -Wall.*": "compiles it; test_package_wheel.py does too",
    r"python -m mtml_simulator ctl (set|fail|lose|heal)\b.*": "changes what runs; test_package_command.py does it",
}


def why_not(command):
    """Why a command is not run, or None."""
    return next((why for pattern, why in NOT_RUN.items() if re.match(r"(?:%s)$" % pattern, command)), None)


# What leaves nothing behind runs once, however many documents have it.
ONCE = re.compile(r"make demo|pymtml run .*")
ran = set()
# Programs of the extra demo: without them the commands are skipped.
EXTRAS = ("gpustat", "nvitop")
BEFORE_COMMENT = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<=\S)#|[^#'"\\])*""")

Block = collections.namedtuple("Block", "document line language text")


def documents():
    """Paths of all Markdown files, from the top folder."""
    for folder, folders, files in os.walk(simulated.ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith(".")]
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), simulated.ROOT)


def read(*parts):
    with open(os.path.join(simulated.ROOT, *parts), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def tokens_of(document):
    return markdown_it.MarkdownIt().parse(read(document))


@functools.lru_cache(maxsize=None)
def lines_of(document):
    """The tokens without what is inside of paragraphs, which takes most of the time of reading all documents."""
    return markdown_it.MarkdownIt().disable("inline").parse(read(document))


def blocks_of(document):
    """The code blocks of a Markdown file."""
    for token in lines_of(document):
        if token.type == "fence":
            yield Block(document, token.map[0] + 1, token.info.strip().split(" ")[0], token.content)
        elif token.type == "code_block":
            language = "python" if token.content.startswith(("import ", "from ")) else "sh"
            yield Block(document, token.map[0] + 1, language, token.content)


def quick_start_of_the_docstring():
    lines = pymtml.__doc__.split("Quick start::\n\n")[1].split("\n")
    end = next(number for number, line in enumerate(lines) if line and not line.startswith(" "))
    return Block("pymtml.py", 3, "python", textwrap.dedent("\n".join(lines[:end])))


def translated(document):
    """True of a page that a test holds against the English one, block by block."""
    return document.endswith("_CN.md")


BLOCKS = sorted(block for document in documents() if not translated(document) for block in blocks_of(document))
BLOCKS.append(quick_start_of_the_docstring())


def blocks(languages):
    chosen = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", chosen, ids=["%s:%d" % block[:2] for block in chosen])


def commands_of(block):
    """The commands of a shell block, one a line of the script; of a console block those behind the prompt."""
    text = block.text.replace("\\\n", "")
    lines = [line.strip() for line in text.splitlines()]
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    commands = [BEFORE_COMMENT.match(line).group().strip() for line in lines]
    return [command for command in commands if command]


def environment():
    """A user's environment: this interpreter's commands come first, the simulator is where the library would be."""
    env = simulated.environment("s5000x8", frozen=False)
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        env.pop(variable, None)
    env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), env["PATH"]])
    env["PYTHONPATH"] = os.path.join(simulated.ROOT, "simulator", "python")
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # into __pycache__, which `top` links to
    env["TERM"] = "dumb"
    return env


@pytest.fixture
def top(tmp_path):
    """A folder that holds links to all that the top folder holds, and the virtual environment as .venv."""
    folder = tmp_path / "top"
    folder.mkdir()
    for name in os.listdir(simulated.ROOT):
        if not name.startswith(".") and name not in SKIPPED_FOLDERS or name == "__pycache__":  # spares compiling pymtml
            (folder / name).symlink_to(os.path.join(simulated.ROOT, name))
    (folder / ".venv").symlink_to(sys.prefix)
    return str(folder)


def run(command, folder):
    """The process of a command that is ended, with all that it started, when its time is over (CompletedProcess)."""
    return simulated.run(
        ["timeout", "--kill-after=5", "120"] + command,
        cwd=folder,
        env=dict(environment(), HOME=folder, TMPDIR=folder),
        stdin=subprocess.DEVNULL,
    )


def test_every_block_names_a_language_that_is_checked():
    known = PYTHON + SHELL + PROSE + tuple(DATA)
    assert not ["%s:%d %s" % block[:3] for block in BLOCKS if block.language not in known]


def test_there_is_something_to_run():
    """The README's own blocks are found: two of Python, and commands."""
    readme = [block.language for block in BLOCKS if block.document == "README.md"]
    assert readme.count("python") >= 2 and readme.count("sh") >= 2


def test_exceptions_are_in_the_documents():
    written = {command for block in BLOCKS if block.language in SHELL for command in commands_of(block)}
    assert set(NOT_RUN.values()) <= set(map(why_not, written))


@blocks(PYTHON)
def test_python(block, top):
    """A program, or tests for pytest."""
    command = [sys.executable, "program.py"]
    if re.search(r"^def test_", block.text, re.MULTILINE):
        if sys.version_info < (3, 8):
            pytest.skip("the simulator's package needs Python 3.8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mtml_simulator.plugin"]
        command += ["--rootdir", top, "-c", os.devnull, "program.py"]
    with open(os.path.join(top, "program.py"), "w", encoding="utf-8") as file:
        file.write(block.text)
    done = run(command, top)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


def is_current(stamp):
    """Whether the virtual environment was installed for pyproject.toml as it is now."""
    project = os.path.join(simulated.ROOT, "pyproject.toml")
    return os.path.exists(stamp) and os.path.getmtime(stamp) >= os.path.getmtime(project)


@blocks(SHELL)
def test_shell(block, top, tmp_path):
    commands = [command for command in commands_of(block) if not why_not(command)]
    if not commands:
        pytest.skip("; ".join("%s: %s" % (command, why_not(command)) for command in commands_of(block)))
    path = environment()["PATH"]
    for program in EXTRAS:
        if any(program in command.split() for command in commands) and not shutil.which(program, path=path):
            pytest.skip("%s is not installed (extra demo)" % program)
    if "make demo" in commands and not is_current(os.path.join(sys.prefix, ".demo")):
        pytest.skip("make demo would install a virtual environment of its own, or this one anew")
    script = "\n".join(command for command in commands if command not in ran)
    script = script.replace("/tmp/", "%s/" % tmp_path)  # where files of others may be in the way
    done = run(["bash", "-euo", "pipefail", "-c", script], top)
    assert done.returncode == 0, "%s\n%s\n%s" % (script, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    ran.update(filter(ONCE.match, commands))


def test_data():
    """Data is well-formed."""
    for block in BLOCKS:
        if block.language in DATA:
            DATA[block.language](block.text)


def test_profiles(tmp_path):
    """A machine that a document describes is one for the simulator."""
    described = [block for block in BLOCKS if block.language == "ini" and block.text.startswith("[machine]")]
    for block in described:
        path = tmp_path / "machine.ini"
        path.write_text(block.text)
        code = "import pymtml\npymtml.nvmlInit()\nprint(pymtml.nvmlDeviceGetCount())"
        result = simulated.run_python(code, name=str(path), frozen=False)
        assert (result.stdout, result.stderr) == ("%d\n" % len(re.findall(r"\[device\.\d+\]", block.text)), "")


@functools.lru_cache(maxsize=None)
def anchors(document):
    """The anchors of a page's headings, as GitHub makes them (set)."""
    tokens, found = tokens_of(document), set()
    for head, inline in zip(tokens, tokens[1:]):
        if head.type == "heading_open":
            text = "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.add(next(name for name in [slug] + ["%s-%d" % (slug, n) for n in range(1, 99)] if name not in found))
    return found


@each(sorted(documents()))
def test_links(document):
    """Links to files of the project lead to one, and those to a heading to that."""
    folder, dead = os.path.dirname(document), []
    children = [child for token in tokens_of(document) for child in token.children or []]
    targets = [child.attrGet("href") for child in children if child.type == "link_open"]
    targets += [child.attrGet("src") for child in children if child.type == "image"]
    for target in targets:
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(folder, path)) if path else document
        if not os.path.exists(os.path.join(simulated.ROOT, path)):
            dead.append(target)
        elif anchor and path.endswith(".md") and anchor not in anchors(path):
            dead.append(target)
    assert not dead


# Names in documents that are of C alone, or of many functions: nvmlDeviceGet*, mtmlSimSet
NO_NAMES = re.compile(r"mtmlSim|.*\*$|nvmlErrorCode$|nvmlReturn$")
OURS = re.compile(
    r"(?<![\w*/])(?:(?:PYMTML|MTML_SIM|NVML|MTML)_[A-Z]|(?:NVML|MTML)Error_\w|mtmlSim|_[a-z])\w+(?![\w*])"
)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
OUR_COMMAND = re.compile(r"(pymtml|python -m mtml_simulator|exec|ctl) |--")
IN_THE_TREE = re.compile(r"(?:docs|examples|facts|pymtml_cli|pymtml_dropin|simulator|tests|tools)/[\w./-]+")
WRITTEN_LATER = ("docs/reference/", "simulator/build")
OF_OTHERS = ("docs/programs.md", "tests/")  # their names are of other programs, and of tests


@functools.lru_cache(maxsize=None)
def words_of_the_sources():
    """Names and options in all files that are no documents, nor tests (set)."""
    words = set()
    for folder, folders, files in os.walk(simulated.ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS + ("tests", "docs") and name[0] != "."]
        for name in files:
            if name.endswith((".py", ".c", ".h", ".txt", ".ini", ".yml", ".csv")) or name == "Makefile":
                words.update(re.findall(r"--[a-z][\w-]+|\w+", read(folder, name)))
    return words


@functools.lru_cache(maxsize=None)
def targets():
    """What make can be asked for (set)."""
    return set(re.findall(r"(?m)^([a-z][\w-]+):", read("Makefile")))


@each(sorted(documents()))
def test_names(document):
    """What a document names is there: functions, variables, errors, series, options, files, targets of make."""
    gone = []
    for piece in re.findall(r"`([^`\n]+)`", read(document)):
        names = re.findall(r"(?<![\w*])(?:mtml|nvml)[A-Z][\w*]+", piece)
        gone += [name for name in names if not NO_NAMES.match(name) and not hasattr(pymtml, name)]
        names = OURS.findall(piece) + (OPTION.findall(piece) if OUR_COMMAND.match(piece) else [])
        if not document.startswith(OF_OTHERS):
            gone += [name for name in names if name not in words_of_the_sources()]
        if IN_THE_TREE.fullmatch(piece) and not piece.startswith(WRITTEN_LATER):
            places = [os.path.join(simulated.ROOT, folder, piece) for folder in ("", os.path.dirname(document))]
            gone += [] if any(map(os.path.exists, places)) else [piece]
        gone += [piece for name in re.findall(r"^make ([a-z][\w-]+)", piece) if name not in targets()]
    assert not gone


def test_errors_are_those_of_the_docstring():
    """A function of which a guide says that it raises an error."""
    for document in documents():
        text = " ".join(read(document).split())
        for name, error in re.findall(r"`((?:nvml|mtml)\w+)` raises `(\w+Error_\w+)`", text):
            assert document == "CHANGELOG.md" or error in getattr(pymtml, name).__doc__, (document, name, error)


# Who is told to install or to require one of our distributions by its name
BY_NAME = re.compile(
    r"(?i)(?:\b(?:installs?|requires?|needs?|must have)\b|安装)[^.:;|：，。]{0,60}?"
    r"\b(?:pymtml[-_]nvml|mtml[-_]simulator)\b(?!-\S*\.whl|/)"
    r"|[\"'](?:pymtml-nvml|mtml-simulator)(?:\[|[=<>~]=)"
)


def test_nobody_is_told_to_install_a_name_that_nobody_owns():
    """No package index has them: whoever registers one runs code at those who follow. A wheel's file is safe."""
    tried = ("pip install mtml-simulator", "must have pymtml-nvml.", "`安装 pymtml-nvml`", '"pymtml-nvml[metrics]"')
    assert all(map(BY_NAME.search, tried)) and not BY_NAME.search("pip uninstall pymtml-nvml; pip install ./simulator")
    told = []
    for folder, folders, files in os.walk(simulated.ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and (name[0] != "." or name == ".github")]
        for path in (os.path.join(folder, name) for name in files if name not in ("CHANGELOG.md", "test_documents.py")):
            try:
                with open(path, encoding="utf-8") as file:
                    text = " ".join(file.read().split())
            except (OSError, UnicodeDecodeError):
                continue
            told += [
                "%s: %s" % (os.path.relpath(path, simulated.ROOT), found.group()) for found in BY_NAME.finditer(text)
            ]
    assert not told, "no package index has these names: advise the wheel's file: " + "; ".join(told)
