"""python -m mtml_simulator: list, show, env, exec."""

import configparser
import os
import signal
import subprocess
import sys

import packaged
import pytest
from packaged import command, environment, run

pytestmark = packaged.needs_python_3_8
PROFILES = os.path.join(packaged.SIMULATOR, "profiles")
NAMES = "import pymtml; pymtml.nvmlInit(); d = pymtml.nvmlDeviceGetHandleByIndex(0); print(pymtml.nvmlDeviceGetName(d))"
CARD = "[machine]\nlibrary_version = 1-simulator\n[device.0]\nname = MTT X1\n"


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def shipped():
    return sorted(name[:-4] for name in os.listdir(PROFILES) if name.endswith(".ini"))


def test_list():
    done = command("list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == shipped()
    assert any(line.startswith("s5000x8 ") and "Eight MTT S5000" in line for line in lines)


def test_show():
    code = "import sys\nfrom mtml_simulator.__main__ import main\nfor name in sys.argv[1:]: main(['show', name])"
    texts = []
    for name in shipped():
        with open(os.path.join(PROFILES, name + ".ini")) as file:
            texts.append(file.read())
    assert run([sys.executable, "-c", code] + shipped()).stdout == "".join(texts)


def test_show_frozen(tmp_path):
    shown = command("show", "s5000x8+frozen").stdout
    path = tmp_path / "mine.ini"
    path.write_text(shown)
    parser = configparser.RawConfigParser()
    parser.read_string(shown)
    assert parser["machine"]["frozen"] == "yes"
    assert command("exec", str(path), "--", sys.executable, "-c", NAMES).stdout == "MTT S5000\n"
    # It says so once, whatever the file says already.
    path.write_text(shown.replace("frozen = yes", "frozen = no"))
    assert command("show", str(path) + "+frozen").stdout == shown


@pytest.mark.parametrize("profile", ["s80", "s80+frozen"])
def test_env(tmp_path, profile):
    script = (
        'eval "$("$PYTHON" -m mtml_simulator env %s)" && echo "$MTML_SIM_PROFILE" && "$PYTHON" -c "$CODE"' % profile
    )
    odd = environment(PYTHON=sys.executable, CODE=NAMES, LD_LIBRARY_PATH="/it's a folder")
    done = run(["sh", "-c", script + ' && echo "$LD_LIBRARY_PATH"'], odd)
    folder = os.path.dirname(packaged.LIBRARY)
    assert done.stdout == "%s\nMTT S80\n%s:/it's a folder\n" % (profile, folder), done.stderr


def test_env_twice_adds_nothing():
    script = (
        'eval "$("$PYTHON" -m mtml_simulator env s80)"; first=$(env | sort)\n'
        'eval "$("$PYTHON" -m mtml_simulator env s80)"; [ "$first" = "$(env | sort)" ]'
    )
    assert run(["sh", "-c", script], environment(PYTHON=sys.executable)).returncode == 0


def test_exec_of_a_shipped_profile():
    done = command("exec", "s4000x8", "--", sys.executable, "-c", NAMES)
    assert (done.returncode, done.stdout, done.stderr) == (0, "MTT S4000\n", "")


@pytest.mark.parametrize("form", ["mine.ini", "./mine.ini", "mine.ini+frozen", "plain"])
def test_exec_of_a_file(tmp_path, form):
    """A program that changes its folder finds it all the same."""
    (tmp_path / "mine.ini").write_text(CARD)
    (tmp_path / "plain").write_text(CARD)
    code = "import os; os.chdir('/'); " + NAMES
    done = command("exec", form, "--", sys.executable, "-c", code, cwd=str(tmp_path))
    assert done.stdout == "MTT X1\n", done.stderr


def test_exec_wins_over_what_was_set_before():
    odd = environment(PYMTML_LIBRARY="/nowhere/libmtml.so", MTML_SIM_PROFILE="s9000", PYMTML_MUSA_LIBRARY="/nowhere")
    code = "import os; os.stat(os.environ['PYMTML_MUSA_LIBRARY']); " + NAMES
    done = command("exec", "s80", "--", sys.executable, "-c", code, environ=odd)
    assert done.stdout == "MTT S80\n", done.stderr


def test_exec_passes_the_rest_on():
    code = "import sys; print(sys.argv[1:]); sys.exit(7)"
    done = command("exec", "s80", "--", sys.executable, "-c", code, "--", "-h", "exec")
    assert (done.returncode, done.stdout) == (7, "['--', '-h', 'exec']\n")
    done = command("exec", "s80", sys.executable, "-c", code, "--help")
    assert (done.returncode, done.stdout) == (7, "['--help']\n")


def test_exec_is_the_program_itself():
    """Signals, standard input and the process are the program's."""
    code = "import os, signal, sys; print(sys.stdin.read(), os.getppid()); os.kill(os.getpid(), signal.SIGTERM)"
    process = subprocess.Popen(
        [sys.executable, "-m", "mtml_simulator", "exec", "s80", "--", sys.executable, "-uc", code],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    said, _ = process.communicate(b"words", timeout=60)
    assert said.decode() == "words %d\n" % os.getpid()
    assert process.returncode == -signal.SIGTERM


def test_exec_under_the_vendors_binding():
    if not os.path.exists(os.path.join(packaged.VENDOR, "pymtml.py")):
        pytest.skip("the vendor's binding is not in %s (make test installs it)" % packaged.VENDOR)
    code = (
        "from pymtml import *; mtmlLibraryInit()\n"
        "for i in range(mtmlLibraryCountDevice()): print(mtmlDeviceGetUUID(mtmlLibraryInitDeviceByIndex(i)))\n"
        "mtmlLibraryShutDown()"
    )
    done = command("exec", "s5000x8", "--", sys.executable, "-c", code, environ=environment(packaged.VENDOR))
    parser = configparser.RawConfigParser()
    parser.read(os.path.join(PROFILES, "s5000x8.ini"))
    assert done.stdout.split() == [parser["device.%d" % index]["uuid"] for index in range(8)], done.stderr


@pytest.mark.parametrize(
    "arguments, status, problem",
    [
        ([], 2, "required"),
        (["exec", "s80"], 2, "exec needs a command"),
        (["exec", "s80", "--"], 2, "exec needs a command"),
        (
            ["exec", "s81", "--", "true"],
            2,
            'there is no profile "s81": give the path of a profile file, or one of ',
        ),
        (["env", "+frozen"], 2, "there is no profile"),
        (["show", "nowhere.ini"], 2, 'there is no profile "nowhere.ini"'),
        (["exec", "s80", "--", "no-such-program"], 127, "no-such-program: No such file"),
        (["exec", "s80", "--", "/"], 126, "/: Permission denied"),
    ],
)
def test_mistakes(arguments, status, problem, tmp_path):
    # A folder of PATH that this user may not look into would make it "permission denied".
    done = command(*arguments, environ=environment(PATH=str(tmp_path)))
    assert (done.returncode, done.stdout) == (status, "")
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("subcommand", ["exec", "env"])
def test_mistake_in_a_profile(tmp_path, subcommand):
    path = tmp_path / "bad.ini"
    path.write_text(CARD + "color = blue\n")
    arguments = [subcommand, str(path)] + (["--", "echo", "started"] if subcommand == "exec" else [])
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mtml simulator: %s:5: [device.0] color: unknown key\n" % path


def test_reader_that_goes_away():
    done = run(["sh", "-c", '"$PYTHON" -m mtml_simulator show s5000x8 | head -1'], environment(PYTHON=sys.executable))
    assert done.stdout.startswith("# Eight MTT S5000")
    assert done.stderr == ""


def test_version():
    assert command("--version").stdout.startswith("mtml-simulator 0.")


# ==== Changing programs that run ====

DAEMON = """
import sys
import pymtml

pymtml.nvmlInit()
device = pymtml.nvmlDeviceGetHandleByIndex(0)
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(pymtml.nvmlDeviceGetTemperature(device, 0), flush=True)
    except pymtml.NVMLError as error:
        print(type(error).__name__, flush=True)
"""


@pytest.fixture
def daemon(tmp_path):
    """A program on a simulated machine: asks it for the temperature of card 0."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mtml_simulator", "exec", "s5000x8+frozen", "--", sys.executable, "-c", DAEMON],
        env=environment(TMPDIR=str(tmp_path / "tmp")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    )
    assert process.stdout.readline() == "ready\n"

    def ask():
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield ask
    process.communicate(timeout=30)


def ctl(tmp_path, *arguments, **variables):
    return command("ctl", *arguments, environ=environment(TMPDIR=str(tmp_path / "tmp"), **variables))


def test_ctl(tmp_path, daemon):
    before = daemon()
    for arguments, answer in (
        (["set", "0.gpu_temperature", "99"], "99"),
        (["fail", "mtmlGpuGetTemperature", "TIMEOUT", "--device", "0"], "NVMLError_Timeout"),
        (["heal", "1"], "NVMLError_Timeout"),
        (["heal"], "99"),
        (["lose", "0"], "NVMLError_Unknown"),
        (["lose", "0", "--code", "TIMEOUT"], "NVMLError_Timeout"),
        (["heal", "0"], "99"),
        (["unset", "0.gpu_temperature"], before),
        (["set", "0.ecc_pending_mode", "DISABLE"], before),
        (["latency", "0.000001"], before),
        (["reboot"], before),
    ):
        done = ctl(tmp_path, *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), arguments
        assert daemon() == answer, arguments
    for key, value in (("0.gpu_temperature", before), ("0.ecc_mode", "DISABLE"), ("machine.latency_ns", "1000")):
        assert ctl(tmp_path, "get", key).stdout == value + "\n"
    ctl(tmp_path, "set", "5.gpu_clock", "7")
    ctl(tmp_path, "fail", "*", "TIMEOUT", "--after", "2", "--times", "3", "--device", "6")
    shown = ctl(tmp_path, "show").stdout
    assert "6.*=TIMEOUT@2x3\n" in shown
    assert shown.startswith("profile = s5000x8+frozen\n") and "5.gpu_clock = 7\n" in shown


def test_ctl_writes_xids_into_the_tree_of_a_program(tmp_path):
    file, temporary = str(tmp_path / "control"), environment(TMPDIR=str(tmp_path / "tmp"))
    for options in ([], ["--control", file]):
        program = subprocess.Popen(
            [sys.executable, "-m", "mtml_simulator", "exec", "--tree"]
            + options
            + ["s4000x8", "--", "sh", "-c", "echo $PYMTML_PROC_ROOT; cat"],
            env=temporary,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            root = program.stdout.readline().decode().strip()
            variables = {"PYMTML_PROC_ROOT": root} if options else {}
            done = ctl(tmp_path, *options, "set", "2.xid", '3 fatal host "x"', **variables)
            assert (done.returncode, done.stderr) == (0, "")
            with open(os.path.join(root, "driver", "musa", "gpu02", "event_report"), "rb") as report:
                assert report.read()[28:32] == b"\3\0\0\0"
        finally:
            program.communicate(timeout=30)


def test_these_tests_leave_the_machines_of_others_alone():
    """What the user of the tests runs is not seen from them."""
    theirs = environment()
    del theirs["TMPDIR"]
    other = subprocess.Popen(
        [sys.executable, "-m", "mtml_simulator", "exec", "s80", "--", "sh", "-c", "echo ready; cat"],
        env=theirs,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout.readline() == b"ready\n"
    said = command("ctl", "heal").stderr
    other.communicate(timeout=30)
    assert "no program runs on a simulated machine" in said


SWITCHES = """
import os, subprocess, sys, time
from mtml_simulator import session

with session.simulate("s5000x8") as machine:
    for number in range(10):  # and 10 comes before 9 in the order of texts
        machine.profile("s80")
        machine.set("0.gpu_clock", number)
    time.sleep(0.05)
    machine.profile("s80")
    machine.set("0.gpu_clock", 10)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MTML_SIM_")}
    subprocess.run([sys.executable, "-m", "mtml_simulator", "ctl", "get", "0.gpu_clock"], env=environ)
"""


def test_ctl_changes_the_machine_of_now(tmp_path):
    """Of a program that has put another machine in force."""
    assert run([sys.executable, "-c", SWITCHES], environment(TMPDIR=str(tmp_path))).stdout == "10\n"


def test_env_leaves_what_is_kept(tmp_path):
    """An init after a shutdown is a new one, unless the user says otherwise."""
    for environ, kept in ((environment(), "0"), (environment(PYMTML_KEEP_LIBRARY="1"), "1")):
        lines = command("env", "s80", "--format", "github", environ=environ).stdout.splitlines()
        assert "PYMTML_KEEP_LIBRARY=" + kept in lines


MISTAKES_OF_CTL = {
    "set 8.gpu_temperature 1": "the machine has no such card",
    "fail mtmlGpuGetTemperature TIMEOUT --device 8": "the machine has no such card",
    "fail mtmlGpuGetTemperatur TIMEOUT": "unknown function",
    "set gpu_temperature 1": "names no value",
    "get 0.gpu_temp": "there is no 0.gpu_temp",
    "heal 9": "there is no such card",
    "set": "required: KEY, VALUE",
}


def test_mistakes_of_ctl(tmp_path, daemon):
    for arguments, problem in MISTAKES_OF_CTL.items():
        done = ctl(tmp_path, *arguments.split())
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr.count(problem) == 1 and "Traceback" not in done.stderr, arguments


def test_ctl_says_which_programs_there_are(tmp_path, daemon):
    assert "no program runs on a simulated machine" in ctl(tmp_path / "other", "heal").stderr
    other = subprocess.Popen(
        [sys.executable, "-m", "mtml_simulator", "exec", "s80", "--", "cat"],
        env=environment(TMPDIR=str(tmp_path / "tmp")),
        stdin=subprocess.PIPE,
    )
    try:
        while len(list((tmp_path / "tmp").glob("*/control"))) < 2:
            pass
        said = ctl(tmp_path, "heal").stderr
        assert "several programs" in said and "(process %d)" % other.pid in said
    finally:
        other.communicate(timeout=30)


@pytest.mark.root
def test_ctl_knows_no_program_of_another_user(tmp_path, daemon):
    (control,) = (tmp_path / "tmp").glob("*/control")
    os.chown(control.parent, 12345, 12345)
    assert "no program runs on a simulated machine" in ctl(tmp_path, "heal").stderr


def test_file_that_programs_meet_at(tmp_path):
    file = str(tmp_path / "control")
    code = "from pymtml import *; nvmlInit(); print(nvmlDeviceGetTemperature(nvmlDeviceGetHandleByIndex(0), 0))"
    assert command("ctl", "--control", file, "--profile", "s80", "set", "0.gpu_temperature", "5").returncode == 0
    done = command("exec", "--control", file, "s80+frozen", "--", sys.executable, "-c", code)
    assert (done.stdout, done.stderr) == ("5\n", "")
    assert command("ctl", "--control", file, "get", "0.gpu_temperature").stdout == "5\n"
    assert "Name it with --profile" in command("ctl", "--control", file + "2", "heal").stderr
    os.mkfifo(file + "3")
    for path in (file + "3", "/dev/zero"):
        assert "cannot read the control file" in command("ctl", "--control", path, "heal").stderr


def test_nothing_is_left_where_nothing_was_started(tmp_path):
    for name in ("no-such-program", "/"):
        command("exec", "s80", "--", name, environ=environment(TMPDIR=str(tmp_path)))
    (tmp_path / "bad.ini").write_text("[machine]\n")
    command("exec", str(tmp_path / "bad.ini"), "--", "true", environ=environment(TMPDIR=str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["bad.ini"]


def test_strict():
    code = (
        "import ctypes; l = ctypes.CDLL('libmtml.so.2'); p, d = ctypes.c_void_p(), ctypes.c_void_p()\n"
        "l.mtmlLibraryInit(ctypes.byref(p)); l.mtmlLibraryInitDeviceByIndex(p, 0, ctypes.byref(d))\n"
        "l.mtmlLibraryFreeDevice(d); l.mtmlLibraryFreeDevice(d)"
    )
    assert command("exec", "s80", "--", sys.executable, "-c", code).returncode == 0
    done = command("exec", "--strict", "s80", "--", sys.executable, "-c", code)
    assert done.returncode == -signal.SIGABRT
    assert "mtmlLibraryFreeDevice: the handle is dangling: it was freed" in done.stderr


# ==== For the steps of a CI service ====


def test_env_for_github(tmp_path):
    """Each line is NAME=VALUE to its end, as $GITHUB_ENV takes it."""
    done = command("env", "--format", "github", "s80", environ=environment(LD_LIBRARY_PATH="/it's a folder"))
    environ = environment(**dict(line.split("=", 1) for line in done.stdout.splitlines()))
    assert environ["LD_LIBRARY_PATH"].endswith(":/it's a folder")
    assert run([sys.executable, "-c", NAMES], environ).stdout == "MTT S80\n"


def test_env_for_dotenv():
    odd = '/it\'s $HOME `a` \\ "folder"'
    done = command("env", "--format", "dotenv", "s80", environ=environment(LD_LIBRARY_PATH=odd))
    assert all(line.split("=", 1)[1][0] == line[-1] == '"' for line in done.stdout.splitlines())
    # A shell reads such a file as those who wrote the format did.
    script = 'set -a; eval "$FILE"; printf "%s\\n" "$LD_LIBRARY_PATH"; exec "$PYTHON" -c "$CODE"'
    done = run(["sh", "-c", script], environment(FILE=done.stdout, PYTHON=sys.executable, CODE=NAMES))
    assert done.stdout == "%s:%s\nMTT S80\n" % (os.path.dirname(packaged.LIBRARY), odd), done.stderr


def test_env_that_does_not_fit_into_a_line(tmp_path):
    done = command("env", "--format", "github", "s80", environ=environment(LD_LIBRARY_PATH="/a\n/b"))
    assert (done.returncode, done.stderr) == (2, "mtml_simulator: LD_LIBRARY_PATH cannot be written in one line\n")
