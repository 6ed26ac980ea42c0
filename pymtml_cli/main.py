"""Entry point of the command: imports only what was asked for, and turns failures into an exit status."""

import importlib
import io
import os
import sys

from pymtml_cli.common.errors import NVIDIA_SMI, PYMTML, CommandError, called
from pymtml_cli.common.text import fit, safe
from pymtml_cli.subcommands import SUBCOMMANDS

STDOUT, STDERR = 1, 2

INTERRUPTED = 130
BROKEN_PIPE = 141
FAILED = 255


def dispatch(arguments):
    """Run what the arguments ask for (exit status)."""
    if arguments[:1] in (["help"], ["-h"], ["--help"]) and called() != NVIDIA_SMI and len(arguments) < 3:
        arguments = _helped(arguments)
    if arguments and arguments[0] in SUBCOMMANDS:
        name, *rest = arguments
        run = _module(SUBCOMMANDS[name].module).run
        return run(rest, name) if SUBCOMMANDS[name].shared else run(rest)
    from pymtml_cli import language

    options = language.parse(arguments)
    return _module(language.ANSWERED_BY[options.question]).answer(options)


def _helped(arguments):
    """The arguments for `help`, `help SUBCOMMAND`, and -h in place of help."""
    if arguments[1:] and arguments[1] in SUBCOMMANDS:
        return [arguments[1], "--help"]
    if arguments[0] == "help" and arguments[1:] not in ([], ["help"]):
        from pymtml_cli.common import hints

        raise CommandError(
            "there is no subcommand %s" % arguments[1], hint=hints.meant(arguments[1], SUBCOMMANDS, "help lists them")
        )
    return ["--help"] + [word for word in arguments[1:] if word != "help"]


def _module(name):
    try:
        return importlib.import_module("pymtml_cli." + name)
    except (ModuleNotFoundError, FileNotFoundError) as error:
        if not getattr(sys, "frozen", False):
            raise
        missing = error.name if isinstance(error, ImportError) else os.path.basename(error.filename)
        text = "this program was frozen without %s; PyInstaller includes all with --collect-all pymtml_cli"
        raise CommandError(text % missing, FAILED)


def main(arguments=None):
    """Run the command (exit status). Without arguments: those of the process, which it ends.

    The entry that zipapp makes would drop what this returns.
    """
    status = _run(arguments)
    if arguments is None:
        sys.exit(status)
    return status


def _run(arguments):
    form = os.environ.get("PYMTML_UUID") if arguments is None else None
    if arguments is None:
        _forget_current_folder()
        if sys.argv[1:2] != ["run"]:  # whose program has a form of its own
            os.environ["PYMTML_UUID"] = "mtml"  # the form that the outputs start from, also under the drop-in
    _open_standard_streams()
    if arguments is None:
        _take_stdout()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the locale cannot write is no reason to fail
    if form not in (None, "", "mtml", "nvml") and called() == PYMTML and sys.stderr is not None:
        sys.stderr.write("pymtml: PYMTML_UUID=%s is ignored: it must be mtml or nvml\n" % fit(safe(form), 40))
    try:
        status = dispatch(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status or 0
    except CommandError as error:
        return _report(error)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:  # a full disk, say
        return _report(CommandError(str(error), FAILED))


def _forget_current_folder():
    """Import nothing from the current folder, even if it is in PYTHONPATH: files that others left there would run."""
    try:
        here = os.getcwd()
    except OSError:  # it is gone
        return
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here or here == ours]


def _open_standard_streams():
    """Let streams that the caller closed lead nowhere: a file or a pipe must not get their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))


def _take_stdout():
    """Keep stdout for the command's output: what the driver prints there goes to stderr."""
    if sys.stdout is not sys.__stdout__ or sys.stdout.fileno() != STDOUT:
        return
    sys.stdout.flush()
    ours = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    form = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors, "line_buffering": os.isatty(ours)}
    # shutil.get_terminal_size asks the second one.
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BufferedWriter(_Stdout(ours, "w")), **form)


class _Stdout(io.FileIO):
    """A stdout that waits until it can be written, also if whoever reads it has made it non-blocking."""

    def write(self, data):
        while True:
            written = io.FileIO.write(self, data)
            if written is not None:
                return written
            import select

            select.select([], [self], [])


def give_stdout_back():
    """Let stdout be that of a program which this process becomes."""
    if sys.stdout is sys.__stdout__ and sys.stdout.fileno() != STDOUT:
        os.dup2(sys.stdout.fileno(), STDOUT)


def _report(error):
    try:
        if error.stdout:
            sys.stdout.write("\n".join(map(safe, error.text.split("\n"))))
        sys.stdout.flush()
    except BrokenPipeError:
        return _nobody_reads()
    except OSError:
        _discard_stdout()
    line = error.hint if error.stdout else error.line
    try:
        if line:
            sys.stderr.write("%s: %s\n" % (called(), safe(line)))
    except OSError:
        pass  # nobody is left to read it
    return error.status


def _interrupted():
    """End by the signal itself, so that a shell script around the command ends too."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()
    try:
        from _signal import SIG_DFL, SIGINT, signal

        signal(SIGINT, SIG_DFL)
        os.kill(os.getpid(), SIGINT)
    except (ImportError, OSError, ValueError):
        pass
    return INTERRUPTED


def _nobody_reads():
    _discard_stdout()
    return BROKEN_PIPE


def _discard_stdout():
    """Let what is left for a stdout that takes no more go nowhere, so that the interpreter's last flush succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
