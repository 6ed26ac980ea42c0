"""The line on stderr for people: what may have been meant, and what to do; stdout stays what programs know."""

import os
import re
import sys

import pytest
import simulated
from command import invoke, run_command
from inside import BY_SPELLING, SUBCOMMANDS, errors, hints


def test_nothing_is_said_where_it_works():
    """Programs read both streams as one."""
    for arguments in ([], ["-L"], ["-i", "0,1"], ["--query-gpu=name"], ["-q", "-x"], ["-pm", "1"], ["-h"]):
        with simulated.machine("s3000-mpc"):
            result = invoke(*arguments)
        assert (result.status, result.stderr) == (0, ""), arguments


MISTAKES = """--nope|docter|-q --json|-x|-i 9|-i ,|-l x|-d X -q|--query-gpu=x|--query-gpu=name --format=x|-pm 3|-r
topo -n 1|topo -p2p x|topo -nvme|mig -gi x -lgi|mig -lgi -lci|dmon -d 0|pmon -c x|dmon -s x|nvlink -l x|nvlink -gt x
pci -cErrCnt|pci -gCnt|drain -q|drain -m 1 -p 0|gpm -s 1|encodersessions -l 0|completion ksh|health --expect x
compare --hosts [|run /nowhere/program|metrics --interval 1|labels --output""".replace("\n", "|")


def test_each_error_is_a_line_on_stderr(monkeypatch):
    """Whichever subcommand says it: "pymtml: what is wrong; what to do"."""
    monkeypatch.setattr(sys, "stdin", open(os.devnull))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # whom a reset is refused
    for line in MISTAKES.split("|") + [
        name + " --nope" for name in SUBCOMMANDS if name not in ("run", "drop-in", "completion")
    ]:
        with simulated.machine("s3000x2"):
            result = invoke(*line.split())
        assert result.status and not result.stdout, line
        assert re.fullmatch(r"pymtml: (?!ERROR|Option|[A-Z][a-z])[^\n]+\n", result.stderr), (line, result.stderr)
        if "nope" in line:
            assert re.match("pymtml: option --nope is not recognized; .*pymtml", result.stderr), line


def test_words_of_somebody_cannot_steer_the_terminal():
    with simulated.machine("s3000x2"):
        for arguments in (["-i", "\x1b[31m9"], ["-i", "a\nb"], ["\x1b]0;x\x07"]):
            stderr = invoke(*arguments).stderr
            assert "\x1b" not in stderr and stderr.count("\n") == 1


def test_near_words():
    assert hints.near("zzzzzz", BY_SPELLING) == []
    assert hints.near("top", SUBCOMMANDS) == ["topo"]
    for word in list(BY_SPELLING) + list(SUBCOMMANDS):
        if len(word) > 5:
            assert word in hints.near(word[:-1], list(BY_SPELLING) + list(SUBCOMMANDS)), word
        assert word not in hints.near(word, list(BY_SPELLING) + list(SUBCOMMANDS))


def test_a_hint_is_what_may_have_been_meant():
    """Everywhere; never the word that was typed, and never an option that changes something."""
    wrong = []
    for line, hint in (
        ("health --expct 2", "did you mean --expect? pymtml health --help lists the options"),
        ("health --skip temprature", "did you mean temperature?"),
        ("metrics --processes nmes", "did you mean names?"),
        ("topo --matrx", "did you mean --matrix or --matrix_pci? pymtml topo --help lists the options"),
        ("topo -p2p x", "it takes r, w, n, a, p"),
        ("-q -d TEMP", "did you mean TEMPERATURE?"),
        ("--query-gpu=name --format=cvs", "did you mean csv?"),
        ("-vx", "pymtml --help lists options and subcommands"),
        ("--gpu-rest", "pymtml --help lists options and subcommands"),
        ("mig --create-gpu-instanc", "did you mean --list-gpu-instances? pymtml mig --help lists the options"),
        ("drop-in enabel", "did you mean enable?"),
        ("help helth", "did you mean health? pymtml help lists them"),
        ("top", "did you mean --watch? pymtml --help lists options and subcommands"),
        ("ps aux", "pymtml ps --help lists the options"),
        ("health -h x", "pymtml health --help"),
    ):
        with simulated.machine("s80"):
            result = invoke(*line.split())
        if line == "health -h x":
            assert result.stdout == invoke("help", "health").stdout == invoke("-h", "health").stdout
        elif (result.stdout, result.stderr.rstrip("\n").partition("; ")[2]) != ("", hint):
            wrong.append("%s: %s" % (line, result.stderr))
    assert not wrong, "\n".join(wrong)
    for word in ("--forc", "--compac"):  # which are ours
        assert "mean" in invoke(word).stderr and "mean" not in invoke(word, name="nvidia-smi").stderr


def test_what_people_try_for_help_and_version():
    with simulated.machine("s80"):
        assert invoke("help").stdout == invoke("--help").stdout
        assert invoke("-V").stdout == invoke("-v").stdout == invoke("--version").stdout
        theirs = invoke("-v", name="nvidia-smi")
    assert theirs.stdout == "ERROR: Option -v is not recognized. Please run 'nvidia-smi -h'.\n\n"


def test_no_help_wraps_in_80_columns():
    texts = [invoke(*line).stdout for line in [["--help"]] + [[name, "--help"] for name in SUBCOMMANDS]]
    assert [line for text in texts for line in text.splitlines() if len(line) > 80] == []
    assert {text.splitlines()[0].split(" ")[0] for text in texts} == {"usage:"}


def test_three_words_at_most_and_the_likeliest_first():
    known = ["clocks.mem", "Clocks.SM", "clocks.gr", "clocks.video", "name"]
    assert hints.near("CLOCKS.SM", known)[0] == "Clocks.SM" and len(hints.near("clocks", known)) == 3
    assert hints.near("na", known) == [] and hints.near("nam", known) == ["name"]
    assert hints.meant(" nam ", known) == "did you mean name?"
    assert hints.meant("clocks.sn", known[:2], "--help lists them") == (
        "did you mean Clocks.SM or clocks.mem? pymtml --help lists them"
    )
    assert hints.meant("xyz", known, "--help lists them") == "pymtml --help lists them"
    assert hints.near("nam", ["name.of.something.long"]) == ["name.of.something.long"]
    assert hints.near("na", ["name.of.something.long"]) == []


@pytest.mark.parametrize(
    "variable, program, name",
    [
        (None, "/usr/bin/nvidia-smi", "nvidia-smi"),
        (None, "/usr/bin/pymtml", "pymtml"),
        (None, "/x/nvidia-smi-2", "pymtml"),
        ("nvidia-smi", "/usr/bin/pymtml", "nvidia-smi"),
        ("pymtml", "/usr/bin/nvidia-smi", "pymtml"),
        ("", "nvidia-smi", "nvidia-smi"),
    ],
)
def test_what_the_command_is_called(variable, program, name, monkeypatch):
    monkeypatch.delenv("PYMTML_COMMAND_NAME", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYMTML_COMMAND_NAME", variable)
    monkeypatch.setattr(sys, "argv", [program])
    assert errors.called() == name
    ours = "MPC instance 1 of 2, MPC, MUSA, MtLink, MTML"
    assert errors.worded(ours) == (ours if name == "pymtml" else "MIG device 1 of 2, MIG, CUDA, NVLink, NVML")


def test_what_ends_the_command(monkeypatch):
    one = errors.refuse("Text.\nMore.\n", hint="what to do")
    assert (one.text, one.status, one.stdout, one.line) == ("text", 2, False, "text; what to do")
    monkeypatch.setenv("PYMTML_COMMAND_NAME", "nvidia-smi")
    one = errors.refuse("Text.\nMore.\n", hint="what to do", ours="other")
    assert (one.text, one.status, one.stdout, one.hint) == ("Text.\nMore.\n", 2, True, "what to do")
    one = errors.CommandError("text", errors.NO_LIBRARY)
    assert (one.text, one.status, one.stdout, one.hint) == ("text", 12, False, "")
    assert errors.refuse("text", errors.NO_SUCH_DEVICE).status == 6


def test_help_in_nvidias_words():
    with simulated.machine("s3000-mpc"):
        lines = invoke("-h", name="nvidia-smi").lines
        fields = invoke("--help-query-gpu", name="nvidia-smi").stdout
    assert lines[0] == "NVIDIA System Management Interface -- v3.3.5"
    assert not re.search("MPC|MUSA|MtLink", "".join(lines) + fields)
    assert "MUSA" in invoke("-h").stdout and "System Management" not in invoke("-h").stdout
    result = run_command("-h", name="no-driver", extra_environment={"PYMTML_COMMAND_NAME": "nvidia-smi"})
    assert result.returncode == 0 and re.match(r"NVIDIA System Management Interface -- v\d", result.stdout)
