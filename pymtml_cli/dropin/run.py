"""``pymtml run``: runs a program, and all that it starts, with pymtml as pynvml; nothing is written to disk."""

import os
import re
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pymtml_dropin
from pymtml_cli.common import layout
from pymtml_cli.common.files import put
from pymtml_dropin import hook

MARK, MARK_FROM_END = b"MEI\014\013\012\013\016", 65536
NOT_FOUND, NOT_EXECUTABLE = 127, 126
LONGEST_FIRST_LINE = 127  # of a script; Linux before 5.1 cuts longer ones
ENTRY = b"import runpy\n\nrunpy.run_path(%s, run_name='__main__')\n"


def parse(arguments):
    """The options, the program with its arguments, and the error in them or None (SimpleNamespace)."""
    flags, rest, error = [], list(arguments), None
    while rest and rest[0] in ("-h", "--help", "--nvidia-smi"):
        flags.append(rest.pop(0))
    if rest and rest[0] == "--":
        del rest[0]
    elif rest and rest[0] in ("-m", "-c") and len(rest) == 1:
        error = "%s needs a %s" % (rest[0], "module" if rest[0] == "-m" else "text of Python code")
    elif rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        error = "no option %s" % rest[0]
    if not rest:
        error = "a program is missing"
    wants_help = bool({"-h", "--help"} & set(flags))
    return SimpleNamespace(help=wants_help, nvidia_smi="--nvidia-smi" in flags, command=rest, error=error)


def environment(nvidia_smi):
    """The variables that make a program and its children use pymtml as pynvml."""
    home = os.path.dirname(os.path.abspath(pymtml_dropin.__file__))
    variables = dict(os.environ)

    def put_first(name, folder, default=None):
        others = [entry for entry in variables.get(name, default or "").split(os.pathsep) if entry != folder]
        variables[name] = os.pathsep.join([folder] + (others if others != [""] else []))

    put_first("PYTHONPATH", os.path.join(home, "path"))
    if nvidia_smi:
        put_first("PATH", os.path.join(home, "bin"), os.defpath)
        variables["PYMTML_PYTHON"] = sys.executable
    return variables


def shim_problem():
    """Why no program could run the shim of nvidia-smi, or None; an unpacked wheel has lost the modes of its files."""
    home = os.path.dirname(os.path.abspath(pymtml_dropin.__file__))
    shim = os.path.join(home, "bin", "nvidia-smi")
    if not os.path.isfile(shim):
        return "--nvidia-smi needs pymtml's files on disk, but %s is not a file; install the wheel" % shim
    if os.name == "posix" and not os.access(shim, os.X_OK):
        try:
            os.chmod(shim, 0o755)
        except OSError:
            return "no program could run %s; as its owner: chmod +x" % shim
    if os.name == "posix" and not os.path.exists(first_words(shim)[0]) and not needs_no_shell(shim):
        return (
            "--nvidia-smi needs %s, which is not there; docs/drop-in.md has an nvidia-smi without a shell"
            % first_words(shim)[0]
        )
    return None


def needs_no_shell(shim):
    """Replace the shim by one for this Python, which needs no shell; returns whether that was done."""
    first = os.fsencode("#!%s -I\n" % sys.executable)
    if len(first) > LONGEST_FIRST_LINE or b" " in first[:-4]:
        return False
    script = os.path.join(os.path.dirname(os.path.dirname(shim)), "nvidia_smi.py")
    try:
        put(shim, first + ENTRY % ascii(script).encode("ascii"))
        os.chmod(shim, 0o755)
    except OSError:
        return False
    return True


def find(program, path):
    """The file to run: beside this Python, else on the search path; None if there is none."""
    if os.path.dirname(program):
        return program if os.path.exists(program) else None
    beside = os.path.dirname(os.path.abspath(sys.executable))
    return shutil.which(program, path=os.pathsep.join([beside, path]))


def first_words(program):
    """The interpreter in a script's first line and its options (list of str); empty for any other file."""
    try:
        with open(program, "rb") as file:
            line = file.readline(1000)
    except OSError:
        return []
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []


def ignores_environment(program):
    """The option in a script's first line that makes Python ignore PYTHONPATH, or None."""
    words = first_words(program)
    if not any("python" in os.path.basename(word) for word in words):
        return None
    return next((word for word in words[1:] if re.match("-(?!-).*[EI]", word)), None)


def is_frozen(program):
    """Whether PyInstaller made the program: its mark is near the end, before the tables of an ELF file."""
    try:
        with open(program, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MARK_FROM_END))
            return MARK in file.read()
    except OSError:
        return False


def complain(text, status=None):
    """Print an error or a warning; returns ``status``."""
    print("pymtml: " + text, file=sys.stderr)
    return status


def start(file, command, variables):
    """Become the program; on Windows, where that is not possible, run it and wait (exit status)."""
    from pymtml_cli.main import give_stdout_back

    sys.stdout.flush()
    sys.stderr.flush()
    give_stdout_back()
    if os.name == "nt":
        process = subprocess.Popen([file] + command[1:], env=variables)
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the program got it too, and decides what to do
    # Python ignores these signals from its start on, and the program would inherit that.
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execve(file, command, variables)


def run(arguments):
    """Become the program (exit status if that fails)."""
    options = parse(arguments)
    if options.help:
        print(layout.blocks("dropin/run.txt")["help"])
        return 0
    if options.error:
        return complain(options.error + "; see `pymtml run --help`", 2)
    problem = shim_problem() if options.nvidia_smi else None
    if problem:
        return complain(problem, NOT_EXECUTABLE)
    command = options.command
    name = command[1].partition(".")[0] if command[0] == "-m" else hook.program(command[0])
    why = hook.exception(name)
    if why and sys.stderr.isatty():
        complain("%s keeps its own pynvml and nvidia-smi: %s" % (name, why))
    variables = environment(options.nvidia_smi and not why)
    if getattr(sys, "frozen", False):
        text = "needs a Python interpreter: this pymtml is frozen into one program; install pymtml's wheel"
        return complain(text, NOT_EXECUTABLE)
    if command[0] in ("-m", "-c") or (command[0].endswith((".py", ".pyz")) and os.path.isfile(command[0])):
        file, command = sys.executable, [sys.executable] + command
    else:
        file = find(command[0], variables.get("PATH", os.defpath))
        if file is None:
            return complain("no program %s beside %s or on PATH" % (command[0], sys.executable), NOT_FOUND)
        # A Python that is not on PATH finds its environment by this path.
        command = [file] + command[1:]
        option = ignores_environment(file)
        if option:
            complain(
                "%s starts Python with %s, so it may not see pymtml; "
                "in its own environment, pymtml drop-in enable reaches it" % (file, option)
            )
        if is_frozen(file):
            complain(
                "%s was made by PyInstaller and runs a Python of its own, which does not see pymtml; "
                "run its source instead" % file
            )
    try:
        return start(file, command, variables)
    except OSError as error:
        reason, words = error.strerror, first_words(file)
        if isinstance(error, FileNotFoundError) and words:
            reason = "%s, which its first line names, is not there" % words[0]
        return complain("cannot run %s: %s" % (file, reason), NOT_EXECUTABLE)
