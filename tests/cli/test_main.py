"""How the command starts: one copy of pymtml, nothing imported that was not asked for, a lone pymtml.py."""

import ast
import compileall
import contextlib
import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipapp

import pytest
import simulated
import wheels
from command import COMMAND, command_environment, invoke, run_command
from inside import SUBCOMMANDS, errors, file_of, language, main_module


@pytest.mark.parametrize("start", [["-m", "pymtml"], [os.path.join(simulated.ROOT, "pymtml.py")]])
def test_one_copy_of_the_module(start, tmp_path):
    probe = tmp_path / "pymtml_cli"
    probe.mkdir()
    (probe / "__init__.py").write_text("")
    (probe / "main.py").write_text(
        "import sys, pymtml\ndef main():\n    print(pymtml is sys.modules['__main__'], pymtml.NVML_SUCCESS)\n"
    )
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    start = [part.replace(simulated.ROOT, str(tmp_path)) for part in start]
    output = subprocess.check_output([sys.executable] + start, cwd=str(tmp_path), universal_newlines=True)
    assert output == "True 0\n"


def test_the_command_shuts_the_library_down_when_the_module_itself_is_the_program():
    result = run_command("doctor", name="s3000x2")
    assert re.search("(?m)^ok    reinit ", result.stdout)


def test_a_lone_file_says_what_is_missing(tmp_path):
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    # -S: the environment has the packages, through its editable install.
    for start in (["-S", "-m", "pymtml"], ["-S", "pymtml.py"]):
        result = simulated.run([sys.executable] + start, cwd=str(tmp_path))
        assert result.returncode == 2
        said = r"pymtml: the command line needs the package pymtml_cli beside \S*pymtml\.py\n"
        assert re.fullmatch(said, result.stderr), result.stderr


def test_another_module_that_is_missing_is_named(tmp_path):
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    package = tmp_path / "pymtml_cli"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text("import no_such_module\n")
    result = simulated.run([sys.executable, "pymtml.py"], cwd=str(tmp_path))
    assert result.returncode == 1
    assert "ModuleNotFoundError: No module named 'no_such_module'" in result.stderr
    assert "needs the package pymtml_cli" not in result.stderr


LOADED = """
import sys, time, pymtml  # time is part of the interpreter from 3.8 on
before = set(sys.modules)
sys.argv[0] = "pymtml"
from pymtml_cli.main import main
try:
    main()
except SystemExit:
    pass
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [[], ["-L"], ["topo", "-m"], ["--query-gpu=index,memory.used", "--format=csv"]])
def test_startup_loads_nothing_heavy(arguments):
    """What costs time when a command starts is what it imports: no argparse, no re, no json, and few files of ours."""
    result = simulated.run([sys.executable, "-S", "-c", LOADED] + arguments, env=simulated.environment("s3000x2"))
    loaded = result.stderr.split()
    own = [name for name in loaded if name.startswith("pymtml_cli")]
    light = {"pymtml_cli", "encodings", "importlib", "io", "types", "warnings"}  # io: built in, and there before 3.15
    others = {name.partition(".")[0] for name in loaded} - light
    assert "pymtml_cli.main" in own and len(own) <= 23, own
    assert others == set()


def test_a_zipapp_ends_with_the_status(tmp_path):
    """The entry that zipapp makes calls the function, and drops what it returns."""
    for folder in ("pymtml_cli", "pymtml_dropin"):
        shutil.copytree(os.path.join(simulated.ROOT, folder), str(tmp_path / "app" / folder), ignore=wheels.UNCOMPILED)
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path / "app"))
    compileall.compile_dir(str(tmp_path / "app"), quiet=1, legacy=True)  # else each of these processes would
    zipapp.create_archive(str(tmp_path / "app"), str(tmp_path / "pymtml.pyz"), main="pymtml_cli.main:main")
    variables = {name: value for name, value in simulated.environment("s3000x2").items() if name != "PYTHONPATH"}
    command = [sys.executable, "-I", str(tmp_path / "pymtml.pyz")]
    statuses = {"-L": 0, "-i 99": 6, "health --expect 3": 2, "drop-in fruit": 2}
    found = {one: simulated.run(command + one.split(), env=variables).returncode for one in statuses}
    assert found == statuses
    smi = simulated.run(command + ["run", "--nvidia-smi", "nvidia-smi", "-L"], env=variables)
    assert smi.returncode == 126 and "needs pymtml's files on disk" in smi.stderr


@pytest.mark.parametrize("arguments", [["-L"], [], ["--query-gpu=name"], ["topo", "-m"], ["doctor"], ["--json"]])
def test_a_module_of_the_same_name_is_told_apart(arguments, tmp_path):
    (tmp_path / "pymtml.py").write_text("def nvmlInit():\n    pass\n")
    shutil.copytree(os.path.join(simulated.ROOT, "pymtml_cli"), str(tmp_path / "pymtml_cli"), ignore=wheels.UNCOMPILED)
    result = simulated.run([sys.executable, "-m", "pymtml_cli"] + arguments, cwd=str(tmp_path))
    assert (result.returncode, result.stdout) == (255, "")
    assert result.stderr.count("\n") == 1
    assert "another module" in result.stderr and str(tmp_path / "pymtml.py") in result.stderr


def test_called_by_the_name_of_nvidia_smi(tmp_path):
    link = tmp_path / "nvidia-smi"
    # As pip writes a script: the kernel takes no interpreter whose path holds a space.
    head = "#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n" % sys.executable
    link.write_text(head + "import sys\nfrom pymtml_cli.main import main\nsys.exit(main())\n")
    link.chmod(0o755)
    env = simulated.environment("s3000x2")
    result = subprocess.run([str(link), "--foo"], env=env, stdout=subprocess.PIPE, universal_newlines=True)
    said = "ERROR: Option --foo is not recognized. Please run 'nvidia-smi -h'.\n\n"
    assert (result.returncode, result.stdout) == (255, said)
    table = subprocess.check_output([str(link)], env=env, universal_newlines=True)
    assert "| NVIDIA-SMI " in table and "CUDA Version: " in table


def test_a_stdout_that_does_not_block_is_waited_for():
    """As a pipe of asyncio or node: without a reader it takes 64 KiB."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    process = subprocess.Popen(COMMAND + ["-q"], env=command_environment(name="s5000x8"), stdout=writer)
    os.close(writer)
    with open(reader, "rb") as file:
        assert file.peek(1) and process.poll() is None
        time.sleep(0.2)
        text = file.read()
    assert process.wait(30) == 0 and len(text) > 1 << 16 and text.count(b"Product Name") == 8


@pytest.mark.parametrize("form, named", [("NVML", True), ("x\x1b" + "y" * 99, True), ("nvml", False), ("", False)])
def test_a_form_of_uuids_that_there_is_none_of_is_named(form, named):
    result = run_command("-L", name="s80", extra_environment={"PYMTML_UUID": form})
    assert result.returncode == 0 and "(UUID: b786" in result.stdout
    assert result.stderr.endswith(" is ignored: it must be mtml or nvml\n") == named and len(result.stderr) < 100


def test_what_another_wrote_before_stays_on_stdout():
    """The command takes stdout for itself, and leaves what its program has not flushed yet where it belongs."""
    code = "import sys; print('before'); sys.argv = ['pymtml', '-L']; from pymtml_cli.main import main; main()"
    result = simulated.run_python(code, name="s80", extra_environment={"PYTHONUNBUFFERED": ""})
    assert (result.returncode, result.stderr) == (0, "")
    assert re.match(r"before\nGPU 0: MTT S80 \(UUID: \S+\)\n$", result.stdout)


@pytest.fixture
def doing(monkeypatch):
    """Lets the command print a text and then raise an error, if there is one; signals that it sends are not sent, but
    listed, with what was on stdout then and what the process would do."""
    sent, before = [], signal.getsignal(signal.SIGINT)

    def do(error=None):
        def dispatch(_):
            print("so far")
            if error is not None:
                raise error

        monkeypatch.setattr(main_module, "dispatch", dispatch)
        return sent

    def kill(pid, number):
        written = sys.stdout.buffer.getvalue() if hasattr(sys.stdout.buffer, "getvalue") else None
        sent.append((pid, number, signal.getsignal(number), written))

    monkeypatch.setattr(os, "kill", kill)
    yield do
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_command_by_the_signal(doing):
    """A status says it where no signal comes."""
    sent = doing(KeyboardInterrupt())
    result = invoke("-L")
    assert sent == [(os.getpid(), signal.SIGINT, signal.SIG_DFL, b"so far\n")]
    assert (result.status, result.stdout, result.stderr) == (130, "so far\n", "")


@pytest.mark.parametrize(
    "error, status", [(None, 141), (errors.CommandError("text", 9), 141), (KeyboardInterrupt(), 130)], ids=repr
)
def test_a_pipe_that_nobody_reads_takes_what_is_left(error, status, doing):
    """So that the interpreter has nothing to complain of when it closes stdout."""
    doing(error)
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream, contextlib.redirect_stdout(stream):
        assert main_module.main(["-L"]) == status


def test_what_a_frozen_program_lacks(monkeypatch):
    module = file_of(SUBCOMMANDS["topo"].module).__name__
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError):
        invoke("topo", "-m")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    result = invoke("topo", "-m")
    said = "pymtml: this program was frozen without %s; PyInstaller includes all with --collect-all pymtml_cli\n"
    assert (result.status, result.stdout, result.stderr) == (255, "", said % module)
    for name in ("smi.sections", "common.layout"):
        file_of(name)
        monkeypatch.delitem(sys.modules, "pymtml_cli." + name)
    monkeypatch.setattr(os.path, "dirname", lambda path: "/nowhere")
    result = invoke("-q")
    assert (result.status, result.stdout, result.stderr) == (255, "", said % "sections.txt")


@pytest.mark.parametrize("package", ["pymtml", "pymtml_cli"])
def test_packages_in_the_current_folder_are_not_ours(package, tmp_path):
    """As an installed wheel starts, in which pymtml/__main__.py is that of pymtml_cli."""
    (tmp_path / "site" / "pymtml").mkdir(parents=True)
    ours = os.path.join(simulated.ROOT, "pymtml_cli")
    shutil.copytree(ours, str(tmp_path / "site" / "pymtml_cli"), ignore=wheels.UNCOMPILED)
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path / "site" / "pymtml" / "__init__.py"))
    shutil.copy(os.path.join(ours, "__main__.py"), str(tmp_path / "site" / "pymtml"))
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("pymtml_cli", "pymtml"):
        if name != package:
            (trap / name).mkdir()
            (trap / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    result = simulated.run(
        [sys.executable, "-m", package, "-L"],
        cwd=str(trap),
        env=command_environment(name="s80", extra_environment={"PYTHONPATH": str(tmp_path / "site")}),
    )
    assert (result.returncode, result.stderr) == (0, "") and result.stdout.startswith("GPU 0: MTT S80 (")


ERRORS = {
    "no-driver": {"profile": "no-driver"},
    "empty": {"profile": "empty"},
    "lost": {"profile": "s3000x2", "set": "0.lost=DRIVER_FAILURE"},
    "all lost": {"profile": "s3000x2", "set": "0.lost=DRIVER_FAILURE;1.lost=TIMEOUT"},
    "guest": {"profile": "s3000-vgpu-guest"},
    "divided": {"profile": "s3000-mpc"},
    "container": {"profile": "s5000x8-container"},
    "count fails": {"profile": "s3000x2", "faults": "mtmlLibraryCountDevice=DRIVER_FAILURE"},
    "handles fail": {"profile": "s3000x2", "faults": "mtmlLibraryInitDeviceByIndex=DRIVER_FAILURE"},
    "init fails": {"profile": "s3000x2", "faults": "mtmlLibraryInit=NO_PERMISSION"},
    "driver too old": {"profile": "s3000x2", "faults": "mtmlLibraryInit=DRIVER_TOO_OLD"},
    "an unknown code": {"profile": "s3000x2", "faults": "mtmlGpuGetTemperature=4711"},
}
OUTPUTS = (
    [],
    ["-L"],
    ["-q"],
    ["-q", "-x"],
    ["--json"],
    ["--version"],
    ["--query-gpu=name,temperature.gpu,uuid"],
    ["--query-compute-apps=pid,gpu_uuid"],
    ["--query-retired-pages=gpu_name,retired_pages.address"],
    ["--query-supported-clocks=memory"],
    ["topo", "-m"],
    ["topo", "-p2p", "r"],
    ["topo", "-n", "5", "-i", "0"],
    ["topo", "-C", "-i", "0"],
    ["mtlink", "-s", "-R", "-c"],
    ["nvlink", "-s"],
    ["mig", "-lgi"],
    ["mig", "-lgip"],
    ["vgpu"],
    ["-pm", "1"],
    ["dmon", "-c", "1"],
    ["pmon", "-c", "1"],
)
OF_PYMTML = (["doctor"], ["health"])


@pytest.mark.parametrize("case", sorted(ERRORS))
@pytest.mark.parametrize("name", ["pymtml", "nvidia-smi"])
def test_every_output_works_on_every_machine(case, name):
    machine = dict(ERRORS[case])
    for arguments in OUTPUTS + OF_PYMTML * (name == "pymtml"):
        with simulated.machine(machine["profile"], **{key: machine[key] for key in machine if key != "profile"}):
            result = invoke(*arguments, name=name)
        assert result.status in (0, 1, 2, 3, 4, 6, 9, 12, 15, 18, 255), (arguments, result.status)
        assert "Traceback" not in result.stdout + result.stderr
        assert result.stderr.count("\n") <= (2 if result.status == 15 else 1), (arguments, result.stderr)
        assert result.stdout or result.stderr or "apps" in arguments[0] or arguments[0] == "nvlink", arguments


def test_a_driver_that_stops_answering_altogether():
    """After some calls."""
    commands = ([], ["-L"], ["-q"], ["--json"], ["--query-gpu=name"], ["topo", "-m"], ["dmon", "-c", "1"], ["doctor"])
    moments = (0, 1, 3, 10, 40)
    for number, arguments in enumerate(commands):
        result = run_command(*arguments, name="s3000x2", faults="*=TIMEOUT@%d" % moments[number % 5])
        assert "Traceback" not in result.stderr and result.stderr.count("\n") <= 1, (arguments, result.stderr)
        assert result.stdout or result.stderr
        assert 0 <= result.returncode <= 255


def imports_of(path, names):
    """Modules of the package, of all their names, that a file imports, at its head or within functions."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in [node.module] + [node.module + "." + alias.name for alias in node.names]:
                if name in names:
                    yield name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in names:
                    yield alias.name


def test_no_file_imports_one_that_imports_it():
    """Below pymtml_cli, in whatever folders the files are."""
    files = {}
    for folder, _, names in os.walk(os.path.join(simulated.ROOT, "pymtml_cli")):
        for name in names:
            if name.endswith(".py") and name != "__init__.py":
                path = os.path.join(folder, name)
                files[os.path.relpath(path, simulated.ROOT)[:-3].replace(os.sep, ".")] = path
    graph = {name: set(imports_of(path, files)) for name, path in files.items()}
    assert len(graph["pymtml_cli.main"]) >= 2
    while graph:
        leaves = {name for name, imported in graph.items() if not imported & set(graph)}
        assert leaves, "imports in a circle: %s" % graph
        graph = {name: imported for name, imported in graph.items() if name not in leaves}


def test_each_invocation_has_one_way_in():
    for name, row in SUBCOMMANDS.items():
        parameters = list(inspect.signature(file_of(row.module).run).parameters)
        assert parameters[:1] == ["arguments"] and len(parameters) == 1 + row.shared
    for module in set(language.ANSWERED_BY.values()):
        assert len(inspect.signature(file_of(module).answer).parameters) == 1
