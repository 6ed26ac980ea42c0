"""Shells complete the command: driven for real, on a terminal of their own, where the shells are there."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
import simulated
from command import invoke
from inside import BY_NAME, BY_SPELLING, KINDS, QUERIES, SECTIONS, SUBCOMMANDS, Option, completion, file_of
from offenders import each
from test_modify import TAKES

SHELLS = ("bash", "zsh", "fish")
SETUP = {
    "bash": (["--norc", "--noprofile", "-i"], 'bind "set show-all-if-ambiguous on"; source {script}; echo ready'),
    "zsh": (["-f", "-i"], "autoload -Uz compinit; compinit -u -D; source {script}; PS1='> '; echo ready"),
}


def script(shell, folder, name="pymtml"):
    """The file of a shell's script."""
    result = invoke("completion", shell, name=name)
    assert (result.status, result.stderr) == (0, "")
    path = folder / ("completion." + shell)
    path.write_text(result.stdout)
    return str(path)


def need(shell):
    if shutil.which(shell) is None:
        pytest.skip("there is no %s on this machine" % shell)


def environment(folder):
    """What a shell has: a file, a folder, and the command by its name alone, which would fail if it were run."""
    command = folder / "pymtml"
    command.write_text("#!/bin/sh\necho the command was run >&2\nexit 1\n")
    command.chmod(0o755)
    path = str(folder) + os.pathsep + os.environ["PATH"]
    (folder / "other-file").write_text("")
    (folder / "a-folder").mkdir()
    return dict(os.environ, PATH=path, TERM="dumb", PS1="> ", HOME=str(folder), LC_ALL="C.UTF-8")


def typed(shell, keys, folder, wanted, name="pymtml"):
    """What a shell shows after some keys, as soon as that matches what is wanted, or when nothing more comes."""
    need(shell)
    arguments, setup = SETUP[shell]
    setup = setup.format(script=script(shell, folder, name))
    fd, slave = pty.openpty()
    process = subprocess.Popen(
        [shell] + arguments,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(folder),
        cwd=str(folder),
        start_new_session=True,
    )
    os.close(slave)
    try:
        os.write(fd, setup.encode() + b"\n")
        _read(fd, lambda text: re.search(r"\nready\r?\n.*> ", text, re.S))
        os.write(fd, keys.encode())
        text = _read(fd, lambda text: re.search(wanted, shown(text)))
    finally:
        process.kill()
        process.wait()
        os.close(fd)
    return shown(text)


def shown(text):
    """What a terminal shows of a text."""
    return re.sub(r"\x1b\[[?\d;]*[a-zA-Z]|[\a\x00]", "", text).replace("\r", "")


def _read(fd, enough, seconds=60):
    """What comes until it is enough."""
    text, deadline = "", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                text += os.read(fd, 65536).decode("utf-8", "replace")
            except OSError:
                break
        if enough(text):
            break
    return text


def fish(line, folder):
    """What fish offers for a line (list of str)."""
    need("fish")
    done = simulated.run(
        ["fish", "--no-config", "-c", 'source %s; complete -C "%s"' % (script("fish", folder), line)],
        env=environment(folder),
        cwd=str(folder),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


# Keys: what the line is then
LINES = {
    "pymtml dro\t": "pymtml drop-in ",
    "pymtml drop-in st\t": "pymtml drop-in status ",
    "pymtml --list-g\t": "pymtml --list-gpus ",
    "pymtml --query-gpu=name,memory.u\t": "pymtml --query-gpu=name,memory.used",
    "pymtml --query-gpu utilization.gp\t": "pymtml --query-gpu utilization.gpu",
    "pymtml --query-compute-apps=pid,process_n\t": "pymtml --query-compute-apps=pid,process_name",
    "pymtml -d ECC,MEM\t": "pymtml -d ECC,MEMORY",
    "pymtml -q -x --displ\t": "pymtml -q -x --display ",
    "pymtml topo --matrix_p\t": "pymtml topo --matrix_pci ",
    "pymtml -pm EN\t": "pymtml -pm ENABLED ",
    "pymtml health --sk\t": "pymtml health --skip ",
    "pymtml health --skip pages,temper\t": "pymtml health --skip pages,temperature",
    "pymtml help comple\t": "pymtml help completion ",
    "pymtml completion fi\t": "pymtml completion fish ",
    "pymtml run --nv\t": "pymtml run --nvidia-smi ",
    "pymtml -f other-f\t": "pymtml -f other-file ",
    "pymtml health --limits a-fold\t": "pymtml health --limits a-folder/",
    "pymtml compare a-fold\t": "pymtml compare a-folder/",
    "pymtml compare --differ\t": "pymtml compare --differing ",
    "pymtml run a-fold\t": "pymtml run a-folder/",
    "pymtml run mkfif\t": "pymtml run mkfifo ",
}


@pytest.mark.parametrize("keys", sorted(LINES))
@pytest.mark.parametrize("shell", sorted(SETUP))
def test_a_word_is_completed(shell, keys, tmp_path):
    ends = "/ " if shell == "zsh" else " "  # zsh's _command_names offers a folder, too, and without a slash
    wanted = re.escape(LINES[keys].rstrip(ends)) + "[%s]?$" % ends
    text = typed(shell, keys, tmp_path, wanted)
    assert re.search(wanted, text), text
    assert "was run" not in text


@pytest.mark.parametrize("keys", sorted(LINES))
def test_a_word_is_completed_by_fish(keys, tmp_path):
    offered = fish(keys.rstrip("\t"), tmp_path)
    assert LINES[keys].split()[-1] in offered, offered


@pytest.mark.parametrize("shell", sorted(SETUP))
@pytest.mark.parametrize(
    "keys, wanted",
    [
        ("pymtml mig -lgi\t\t", r"-lgi\s+-lgip"),
        ("pymtml --mode=\t\t", r"\b0\s+1\b"),
        ("pymtml run -m other-f\tx", "run -m other-fx$"),  # a module is no file
        ("pymtml \t\t", r"(?s)pymtml \s*base-clocks (?!.*\s-\w).*> pymtml $"),
    ],
)
def test_choices_are_listed(keys, wanted, shell, tmp_path):
    assert re.search(wanted, typed(shell, keys, tmp_path, wanted))


def test_there_are_as_many_cards_as_nodes(tmp_path):
    need("bash")
    words = (
        "for it in '' 1,; do COMP_WORDS=(pymtml health -i \"$it\"); COMP_CWORD=3; _pymtml; echo ${COMPREPLY[*]}; done"
    )
    for nodes, offered in ((0, "\n\n"), (3, "0 1 2\n1,0 1,1 1,2\n")):
        for number in range(nodes):
            (tmp_path / ("mtgpu.%d" % number)).write_text("")
        text = open(script("bash", tmp_path)).read().replace("/dev/", str(tmp_path) + "/")
        assert simulated.run(["bash", "-c", text + words]).stdout == offered


@pytest.mark.parametrize("shell", sorted(SETUP))
def test_under_nvidias_name(shell, tmp_path):
    wanted = "nvidia-smi --query-gpu=memory.total$"
    assert re.search(wanted, typed(shell, "nvidia-smi --query-gpu=memory.to\t", tmp_path, wanted, name="nvidia-smi"))


@pytest.mark.parametrize("shell", SHELLS)
def test_everything_is_in_the_script(shell, tmp_path):
    text = open(script(shell, tmp_path)).read()
    words = set(re.findall(r"[-\w.]+", text))
    assert set(SUBCOMMANDS) <= words and set(BY_NAME) <= words
    assert {spelling.lstrip("-") for spelling in BY_SPELLING} <= {word.lstrip("-") for word in words}
    assert "--max-temperature".lstrip("-") in {word.lstrip("-") for word in words}  # what argparse reads
    if shutil.which(shell):
        assert subprocess.run([shell, "-n", str(tmp_path / ("completion." + shell))]).returncode == 0


# A small command: options with a list, a file, a word, and any value; a quote in what a subcommand is said to do
SMALL = {
    "": (
        [
            Option(("-d", "--display"), True, ("ECC", "PIDS"), True, False),
            Option(("-L", "--list"), False, (), False, False),
        ],
        ["compare", "run", "topo"],
    ),
    "cards": ([Option(("-i",), True, (), False, False, True)], []),
    "compare": ([Option(("-f", "--filename"), True, (), False, True)], []),
    "run": ([Option(("-m",), True, (), False, False)], []),
    "topo": ([Option(("-n", "--near"), True, ("0", "1"), False, False)], ["all", "some"]),
}
HELP = {"compare": "what isn't alike", "run": "run a program", "topo": "how cards are joined"}
# Lines that are made of it: bash, which is on every machine, shows for itself what its lines are worth
WRITTEN = {
    "zsh": r"""
        (" -d"|" --display") compset -P '*,'; compadd -S '' -- ECC PIDS; return;;
        ("cards -i") local -a nodes=(/dev/mtgpu.<->(N)); compset -P '*,'
            (( $#nodes )) && compadd -S '' -- {0..$(( $#nodes - 1 ))}; return;;
        ("compare -f"|"compare --filename") _files; return;;
        ("run -m") return;;
        ("topo -n"|"topo --near") compadd -- 0 1; return;;
    esac
    case "$command" in
        ("") if [[ $PREFIX == -* ]]; then compadd -- -d --display -L --list; else local -a subcommands=("""
    r"""'compare:what isn'\''t alike' 'run:run a program' 'topo:how cards are joined'); _describe subcommand"""
    r""" subcommands; fi;;
        ("cards") if [[ $PREFIX == -* ]]; then compadd -- -i; else compadd -- -i; fi;;
        ("compare") if [[ $PREFIX == -* ]]; then compadd -- -f --filename; else _files; fi;;
        ("run") if [[ $PREFIX == -* ]]; then compadd -- -m; else _command_names; _files; fi;;
        ("topo") if [[ $PREFIX == -* ]]; then compadd -- -n --near; else compadd -- all some; fi;;
""",
    "fish": r"""
complete -c pymtml -n 'not __fish_seen_subcommand_from compare run topo' -a compare -d 'what isn\'t alike'
complete -c pymtml -n 'not __fish_seen_subcommand_from compare run topo' -a run -d 'run a program'
complete -c pymtml -n 'not __fish_seen_subcommand_from compare run topo' -a topo -d 'how cards are joined'
complete -c pymtml -n 'not __fish_seen_subcommand_from compare run topo'"""
    r""" -o d -l display -x -a '(__pymtml_list ECC PIDS)'
complete -c pymtml -n 'not __fish_seen_subcommand_from compare run topo' -o L -l list
complete -c pymtml -n '__fish_seen_subcommand_from cards' -o i -x"""
    r""" -a '(__pymtml_list (seq 0 (math (count /dev/mtgpu.*) - 1)))'
complete -c pymtml -n '__fish_seen_subcommand_from compare' -F
complete -c pymtml -n '__fish_seen_subcommand_from compare' -o f -l filename -r -F
complete -c pymtml -n '__fish_seen_subcommand_from run' -F -a '(__fish_complete_command)'
complete -c pymtml -n '__fish_seen_subcommand_from run' -o m -x
complete -c pymtml -n '__fish_seen_subcommand_from topo' -a all -d ''
complete -c pymtml -n '__fish_seen_subcommand_from topo' -a some -d ''
complete -c pymtml -n '__fish_seen_subcommand_from topo' -o n -l near -x -a '0 1'
""",
}


@pytest.mark.parametrize("shell", sorted(WRITTEN))
def test_the_script_of_a_small_command(shell, monkeypatch):
    """Also where the shell itself is not there to try it."""
    monkeypatch.setattr(completion, "ABOUT", HELP)
    monkeypatch.setattr(completion, "tables", lambda: SMALL)
    result = invoke("completion", shell)
    assert (result.status, result.stderr) == (0, "")
    assert WRITTEN[shell] in result.stdout and "@" not in result.stdout


# Options whose value is one of a few words: what else their question needs, and the status of a word that is known
OFFERED = {
    ("health", "--skip"): ([], 0),
    ("metrics", "--processes"): ([], 0),
    ("metrics", "--skip"): ([], 0),
    ("topo", "-p2p"): ([], 0),
    ("topo", "-n"): (["-i", "0"], 0),
    ("dmon", "-o"): (["-c", "1"], 0),
    ("dmon", "--format"): (["-c", "1"], 0),
    ("pmon", "-o"): (["-c", "1"], 0),
    ("drain", "-m"): (["-p", "00000000:3B:00.0"], 3),
    ("clocks", "-som"): ([], 0),
    ("gpm", "-s"): ([], 3),
    ("conf-compute", "-srs"): ([], 3),
    ("power-smoothing", "-s"): ([], 3),
}


def test_the_words_that_are_offered_are_those_that_the_command_takes():
    found = {
        (name, option.spellings[0]): option
        for name, (options, _) in completion.tables().items()
        for option in options
        if name and option.words
    }
    assert set(found) == set(OFFERED)
    assert {key for key, option in found.items() if option.commas} == {
        ("dmon", "--format"),
        ("health", "--skip"),
        ("metrics", "--skip"),
    }
    with simulated.machine("s3000x2"):
        for key, (others, status) in OFFERED.items():
            words = list(found[key].words)
            for word in [",".join(words), words[0]] if found[key].commas else words:
                result = invoke(*key, word, *others)
                assert result.status == status, key + (word, result.stderr)
            assert invoke(*key, words[0] + "x", *others).status not in (0, status), key


def test_what_is_offered_behind_nvidia_smis_options():
    """What test_modify.py has them take, but numbers; fields and sections."""
    found = {BY_SPELLING[option.spellings[0]]: option for option in completion.tables()[""][0] if option.words}
    words = {BY_SPELLING[option]: re.findall(r"/(\w+)", taken) for option, taken, _ in TAKES if option != "-vm"}
    words.update(mode=["0", "1"], scope=["GPU", "TOTAL_MODULE"])
    lists = {"query-" + kind: [name for line in QUERIES[kind][0] for name in line[0]] for kind in KINDS}
    lists.update(display=list(SECTIONS), format=["csv", "noheader", "nounits"])
    offered = {name: taken for name, taken in dict(words, **lists).items() if taken}
    assert {name: list(option.words) for name, option in found.items()} == offered
    assert {name for name, option in found.items() if option.commas} == set(lists)


def test_the_options_whose_value_is_a_file():
    files = dict.fromkeys(("", "dmon", "pmon"), "--filename")
    files.update(replay="--filename", health="--limits --lock", labels="--output", xid="--file")
    files["metrics"] = "--textfile --limits --certfile --keyfile --client-cafile --lock --state"
    for name, (options, _) in completion.tables().items():
        found = {option.spellings[-1] for option in options if option.file}
        assert found == set(files.get(name, "").split()), name


@each([""] + sorted(SUBCOMMANDS))
def test_all_options_that_help_names_are_offered(name):
    options, words = completion.tables()[name]
    offered = {spelling for option in options for spelling in option.spellings}
    helped = invoke(*([name, "--help"] if name else ["--help"])).stdout
    named = set(re.findall(r"(?<![\w-])--?[A-Za-z0-9][\w-]*", helped))
    # -mig is an option, beside the subcommand mig; -w is pdsh's, in the help of compare
    assert named - {"--query-", "--help-query-", "-mig", "-w"} <= offered
    assert set(re.findall(r"[\w-]+", helped)) >= set(words)
    if name:
        unnamed = {option.spellings[0] for option in options if named.isdisjoint(option.spellings)}
        below = {"drop-in": {"--force", "--nvidia-smi"}}  # in the help of `drop-in enable`
        assert unnamed - {"-h"} == below.get(name, set())
    assert len(offered) == sum(len(option.spellings) for option in options)
    for spelling in ("-h", "--help"):
        result = invoke(*([name, spelling] if name else [spelling]))
        assert (result.status, result.stdout, spelling in offered) == (0, helped, True)
    if not name:
        assert set(re.findall(r"\w+", helped)) >= set(SECTIONS)
    elif name == "run":
        assert [option.spellings for option in options if option.takes_value] == [("-m",), ("-c",)]
    elif hasattr(file_of(SUBCOMMANDS[name].module), "parser"):  # argparse's own
        for option in options:
            if option.spellings[0] in below.get(name, ()):
                continue
            shown = re.search(r"^  (-\w( \[?[A-Z]+\]?)?, )?%s \S" % option.spellings[-1], helped, re.M)
            assert option.takes_value is (shown is not None), option.spellings
    elif name != "completion":
        for option in options:
            for spelling in option.spellings:
                result = invoke(name, spelling, *(["1"] * option.takes_value), "--help")
                assert (result.status, result.stdout) == (0, helped), spelling


def test_it_needs_no_driver_and_no_library():
    result = simulated.run_python("from pymtml_cli.main import main; main(['completion', 'bash'])", name="no-driver")
    assert result.returncode == 0 and "complete -F" in result.stdout


def test_what_is_no_shell():
    for arguments in ([], ["tcsh"], ["bash", "zsh"]):
        assert invoke("completion", *arguments).status == 2
    assert invoke("completion", "--help").stdout.startswith("usage: pymtml completion bash | zsh | fish")
