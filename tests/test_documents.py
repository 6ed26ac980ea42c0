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

import pymtml

SKIPPED_FOLDERS = ("build", "dist", "node_modules", "__pycache__")
PYTHON = ("python", "py")
SHELL = ("sh", "bash", "shell", "console")


def promql(text):
    """Parses queries, one a line, where there is a parser (extra dev, Python 3.11 and newer)."""
    try:
        import promql_parser
    except ImportError:
        return
    for query in text.splitlines():
        promql_parser.parse(query)


def c_source(text):
    """Compiles a program against the headers, without a result."""
    folders = [simulated.ROOT, os.path.join(simulated.ROOT, "simulator")]
    command = [os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-fsyntax-only", "-x", "c", "-"]
    subprocess.run(command + ["-I" + folder for folder in folders], input=text.encode(), check=True)


DATA = {
    "c": c_source,
    "promql": promql,
    "json": json.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "ini": lambda text: configparser.ConfigParser(strict=False, interpolation=None).read_string(text),
}
PROSE = ("text",)  # what a program prints

# Commands that are not run, and why. They stand here as they stand in the documents.
NOT_RUN = {
    "make test": "runs this very test",
    "make test-tools": "is a part of .ci/run already",
    "make test-programs": "takes many minutes and installs programs from the package index",
    "make release-check": "takes many minutes and installs programs from the package index",
    "make fuzz": "takes five minutes, and finds what it finds by lot",
    "make test-all": "runs this very test under every Python",
    "make pictures": "writes into the checkout; tests/test_readme.py says what is stale",
    "make site": "would install mkdocs into this environment; tests/tools/test_site.py builds the site",
    "make sanitize": "is a part of .ci/run already",
    "make -C simulator test": "runs tests that this suite runs as well",
    "make -C simulator sanitize": "is a part of .ci/run already",
    "make build": "is a part of .ci/run already",
    "python3 -m pip install .": "changes the environment of the tests; tests/tools/test_distribution.py installs",
    "python3 -m pip install dist/pymtml_nvml-*.whl": "as above",
    "python3 -m venv ~/pymtml": "as above",
    "~/pymtml/bin/pip install dist/pymtml_nvml-*.whl": "as above",
    "PYMTML_LIBRARY=simulator/build/libmtml.so.2 MTML_SIM_PROFILE=s80+frozen "
    "python3 quick_start.py": "runs the program above it; test_readme.py compares what it prints",
    "pymtml doctor": "its exit status says that a simulated card waits for a reboot; tests/cli/test_doctor.py runs it",
    "pymtml doctor > doctor.txt": "as above",
    "pymtml health": "as above; tests/cli/test_health.py runs it",
    "pymtml drop-in enable": "changes the environment of the tests; tests/tools/test_distribution.py installs",
    "pymtml drop-in status": "its exit status says that the drop-in is not enabled",
    "pymtml drop-in disable": "changes the environment of the tests; tests/tools/test_distribution.py does it",
    "make format lint": "is a part of .ci/run already, and formatting writes into the checkout",
    "make generate record": "writes into the checkout; make lint and the tests say what is stale",
    "make bench": "takes minutes, and writes the results that are kept",
    'make bench PYTHONS="python3.11 python3.13"': "takes minutes, and writes the results that are kept",
    "python -m pytest tests/programs/test_glances.py -m programs": "installs a program from the package index",
    "LD_LIBRARY_PATH=simulator/build MTML_SIM_PROFILE=s4000x8 some-program": "stands for any program",
    "python3 -m venv /opt/gpu-exporter": "writes outside of the checkout",
    "/opt/gpu-exporter/bin/pip install nvitop-exporter==1.7.2 .": "writes outside of the checkout",
    '/opt/gpu-exporter/bin/pymtml run nvitop-exporter --hostname "$(hostname)" &': "as above",
    "curl -s http://127.0.0.1:8000/metrics | grep gpu_temperature": "asks the exporter that was not started",
    "cp examples/fleet/nvitop-exporter/nvitop-exporter.service /etc/systemd/system/": "writes outside of the checkout",
    "systemctl daemon-reload": "is for a system with systemd",
    "systemctl enable --now nvitop-exporter": "is for a system with systemd",
    "apt-get install prometheus": "installs a package of the system",
    "cp examples/fleet/nvitop-exporter/prometheus.yml /etc/prometheus/prometheus.yml": "writes outside of the checkout",
    "systemctl restart prometheus": "is for a system with systemd",
    "python3 -m venv /opt/pymtml": "writes outside of the checkout",
    "/opt/pymtml/bin/pip install '.[metrics]'": "as above",
    "/opt/pymtml/bin/pymtml metrics": "as above",
    "cp examples/fleet/systemd/mthreads-metrics.service /etc/systemd/system/": "as above",
    "cp examples/fleet/systemd/mthreads-textfile.* /etc/systemd/system/": "as above",
    "systemctl enable --now mthreads-metrics": "is for a system with systemd",
    "systemctl enable --now mthreads-textfile.timer": "as above",
    "curl -s --retry 9 --retry-connrefused http://127.0.0.1:9406/metrics | grep mthreads_driver_up": "asks the service "
    "that was not started",
    "chown prometheus: /var/lib/prometheus/node-exporter": "writes outside of the checkout",
    "curl -s http://127.0.0.1:9100/metrics | grep mthreads_driver_up": "as above",
    "cp -r examples/fleet/prometheus.yml examples/fleet/rules.yml examples/fleet/targets /etc/prometheus/": "writes "
    "outside of the checkout",
    "promtool check config /etc/prometheus/prometheus.yml": "needs Prometheus; test_dashboards.py does it",
    "pdsh -w node[01-16] pymtml --json | pymtml compare --hosts node[01-16]": "needs a cluster",
    "srun --label --nodes=16 --ntasks-per-node=1 pymtml --json | pymtml compare": "as above",
    "for host in node01 node02; do ssh $host pymtml --json > said/$host.json; done; pymtml compare said": "as above",
    "python examples/fleet/ray_check.py --address auto --timeout 20": "needs Ray; tests/programs/test_ray_check.py",
    "docker build -f examples/fleet/Containerfile -t registry.example.com/pymtml-metrics:1 .": "needs an engine",
    "kubectl label node gpu01 mthreads-gpus=8": "needs a cluster",
    "kubectl apply -f examples/fleet/kubernetes/daemonset.yml": "as above",
    "kubectl apply -f examples/fleet/kubernetes/servicemonitor.yml": "as above",
    "cd examples/ci/platform_probe && python -m pytest": "needs the installed plugin; test_ci_examples.py does it",
    "python -m mtml_simulator exec s5000x8+frozen -- sh -c 'cc -Wall test.c -lmtml -o test && ./test'": "compiles the "
    "program on the same page; test_package_wheel.py does it",
    "python -m mtml_simulator ctl set 0.gpu_temperature 99": "changes what runs; test_package_command.py does it",
    "python -m mtml_simulator ctl fail mtmlGpuGetTemperature TIMEOUT --device 3": "as above",
    "python -m mtml_simulator ctl lose 5": "as above",
    "python -m mtml_simulator ctl heal": "as above",
    "python3 -m pip install --no-index dist/pymtml_nvml-*.whl": "as above; tests/tools/test_install.py does it",
    "python3 -m pip install --force-reinstall --no-deps dist/pymtml_nvml-*.whl": "as above",
    "python3 -m zipfile -e dist/pymtml_nvml-*.whl /tmp/pymtml": "wants the wheel; tests/tools/test_install.py does it",
    "PYTHONPATH=/tmp/pymtml python3 -m pymtml": "as above",
    'PYTHONPATH=/tmp/pymtml python3 -m pymtml run -c "import pynvml; print(pynvml.__file__)"': "as above",
    "python3 -m pip uninstall pymtml-nvml": "changes the environment of the tests; tests/tools/test_install.py does it",
    "docker run --runtime=mthreads -e MTHREADS_VISIBLE_DEVICES=all my-image pymtml doctor": "wants a container engine",
    "make .venv/.installed sim": "would install a virtual environment of its own",
    "pip install ./simulator": "writes into this environment; test_package_wheel.py does it in one of its own",
}
# Programs of the extras demo and dev: without them the commands are skipped.
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


def blocks_of(document):
    """The code blocks of a Markdown file."""
    with open(os.path.join(simulated.ROOT, document), encoding="utf-8") as file:
        tokens = markdown_it.MarkdownIt().parse(file.read())
    for token in tokens:
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
    env["TERM"] = "dumb"
    return env


@pytest.fixture
def top(tmp_path):
    """A folder that holds links to all that the top folder holds, and the virtual environment as .venv."""
    folder = tmp_path / "top"
    folder.mkdir()
    for name in os.listdir(simulated.ROOT):
        if not name.startswith(".") and name not in SKIPPED_FOLDERS:
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
    assert set(NOT_RUN) <= written


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
def test_shell(block, top):
    commands = [command for command in commands_of(block) if command not in NOT_RUN]
    if not commands:
        pytest.skip("; ".join("%s: %s" % (command, NOT_RUN[command]) for command in commands_of(block)))
    path = environment()["PATH"]
    for program in EXTRAS:
        if any(program in command.split() for command in commands) and not shutil.which(program, path=path):
            pytest.skip("%s is not installed (extra demo)" % program)
    if "make demo" in commands and not is_current(os.path.join(sys.prefix, ".demo")):
        pytest.skip("make demo would install a virtual environment of its own, or this one anew")
    script = "\n".join(commands)
    done = run(["bash", "-euo", "pipefail", "-c", script], top)
    assert done.returncode == 0, "%s\n%s\n%s" % (script, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr


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


def tokens_of(document):
    with open(os.path.join(simulated.ROOT, document), encoding="utf-8") as file:
        return markdown_it.MarkdownIt().parse(file.read())


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


@pytest.mark.parametrize("document", sorted(documents()))
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


# Names in documents that are of somebody else, of C alone, or of many functions: nvmlDeviceGet*, mtmlSimSet
NO_NAMES = re.compile(r"mtmlSim|.*\*$|nvmlErrorCode$|nvmlReturn$")


@pytest.mark.parametrize("document", sorted(documents()))
def test_names(document):
    """A function that a document names is there."""
    with open(os.path.join(simulated.ROOT, document), encoding="utf-8") as file:
        code = re.findall(r"`([^`\n]+)`", file.read())
    names = {name for text in code for name in re.findall(r"(?<![\w*])(?:mtml|nvml)[A-Z][\w*]+", text)}
    assert not [name for name in sorted(names) if not NO_NAMES.match(name) and not hasattr(pymtml, name)]
