"""Options that change something: nvidia-smi's sentences and exit status, and what really changed."""

import os
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import time

import pytest
import simulated
from command import capture_file, invoke, process_tree, run_command
from inside import answers, language, modify
from offenders import each

import pymtml

RECORDED = {row["command"]: row for row in capture_file("modifications.json")["rows"]}
ADDRESS = "00000000:2A:00.0"
# What MTML can do, and the call that does it
CAN = {"-e 0": "mtmlMemorySetEccMode", "-p 0": "mtmlMemoryClearEccErrorCounts", "-mig 1": "mtmlDeviceSetMpcMode"}
RANGE = ("200.00 W and 700.00 W", "N/A and N/A")  # of power limits: MTML tells none


@pytest.fixture(autouse=True)
def all_is_visible(tmp_path, monkeypatch):
    process_tree(tmp_path / "proc", monkeypatch)


def smi(*arguments):
    return invoke(*arguments, name="nvidia-smi")


def recorded(lines):
    """The recorded text, for the card of the machine here."""
    text = "\n".join(line.replace("GPU  GPU 0", "GPU 0") for line in lines) + "\n"
    text = re.sub(r"(GPU:? )0\b", r"\g<1>" + ADDRESS, text).replace(*RANGE)
    return text + ("\n" if text.startswith("ERROR") else "")


def machine(fault):
    """Eight cards that have ECC, and can be divided; their calls that change something end with the fault."""
    return simulated.machine("s5000x8", faults=",".join("%s=%s" % (call, fault) for call in CAN.values()))


@each(sorted(RECORDED))
def test_what_is_not_supported_says_what_was_recorded(command):
    row = RECORDED[command]
    with machine("NOT_SUPPORTED"):
        result = smi(*(shlex.split(command) + ["-i", "0"] * (not row["status"])))
    assert (result.status, result.stdout) == (row["status"], recorded(row["not_supported"]))


@each(sorted(CAN))
def test_without_permission_it_ends_early(command):
    with machine("NO_PERMISSION"):
        result = smi(*shlex.split(command))
    assert (result.status, result.stdout) == (4, recorded(RECORDED[command]["no_permission"]))


@pytest.mark.parametrize(
    "command, sentence",
    [
        ("-c 3", "Setting compute mode to EXCLUSIVE_PROCESS is not supported for GPU: %s."),
        ("-am 1", "Unable to enable Accounting Mode for GPU %s: Not Supported"),
        ("-am 0", "Unable to disable Accounting Mode for GPU %s: Not Supported"),
    ],
)
def test_what_would_be_another_mode_is_a_warning(command, sentence, monkeypatch):
    monkeypatch.setattr(pymtml, "nvmlDeviceGetAccountingMode", lambda _: pymtml.NVML_FEATURE_ENABLED)
    with simulated.machine("s5000x8"):
        result = smi(*(shlex.split(command) + ["-i", "0"]))
    assert (result.status, result.stdout) == (0, sentence % ADDRESS + "\n" + modify.WARNING + modify.DONE)


# What each option takes, as `nvidia-smi -h` lists it (number/word), and values that are none
TAKES = [
    ("-pm", "0/DISABLED 1/ENABLED", "2 ON"),
    ("-p", "0/VOLATILE 1/AGGREGATE", "2 ALL"),
    ("-c", "0/DEFAULT 1/EXCLUSIVE_THREAD 2/PROHIBITED 3/EXCLUSIVE_PROCESS", "4 EXCLUSIVE"),
    ("-e", "0/DISABLED 1/ENABLED", "2 ON"),
    ("--gom", "0/ALL_ON 1/COMPUTE 2/LOW_DP", "3 ALL"),
    ("-vm", "3/VGPU 4/VSGA", "0 2 5 NONE"),
    ("-lgc", "1000 1000,1200 0,0", "x 1,2,3 -5 1.5"),
    ("-lmc", "1000 1000,1200", "x 1,2,3"),
    ("-lmcd", "1000", "x 1,2"),
    ("-ac", "1000,1200", "x 1000 1,2,3"),
    ("-acp", "0/UNRESTRICTED 1/RESTRICTED", "2 NONE"),
    ("-pl", "200 200.5", "x -1 1e3"),
    ("-cc", "0/RESTORE_DEFAULT 1/OVERRIDE", "2 DEFAULT"),
    ("-am", "0/DISABLED 1/ENABLED", "2 ON"),
    ("--auto-boost-default", "0/DISABLED 1/ENABLED", "2 ON"),
    ("--auto-boost-permission", "0/UNRESTRICTED 1/RESTRICTED", "2 NONE"),
    ("-mig", "0/DISABLED 1/ENABLED", "2 ON"),
    ("-gtt", "80", "x 80,90"),
    ("-den", "0/DISABLED 1/ENABLED", "2 ON"),
    ("-dm", "0/WDDM 1/WDM 2/MCDM", "3 TCC"),
    ("-fdm", "0/WDDM 1/WDM 2/MCDM", "3 TCC"),
    ("--set-hostname", "host", ""),
    ("-t", "0/GREEN 1/AMBER", "2 RED"),
    ("--debug", "file", ""),
]
TAKES_NOTHING = ("-rgc", "-rmc", "-rmcd", "-rac", "-caa", "--get-hostname")


@pytest.mark.parametrize("option, taken, refused", TAKES, ids=[row[0] for row in TAKES])
def test_each_option_takes_its_values_and_answers(option, taken, refused):
    value = modify.reader(language.BY_SPELLING[option])
    with machine("NOT_SUPPORTED"):
        for forms in taken.split():
            if hasattr(value, "words"):
                number, word = forms.split("/")
                assert value(number) == value(word) == value(word.lower()) == int(number)
            said = {
                form: smi(option + "=" + form, "-i", "0") for form in forms.split("/") + [forms.split("/")[-1].lower()]
            }
            assert {result.status for result in said.values()} == {0}, forms
            ((answer, *rest),) = {tuple(result.lines) for result in said.values()}
            assert answer != "All done." == rest[-1] and len(rest) <= 2
            if option == "-c":
                assert " to %s " % forms.split("/")[1] in answer
        for text in refused.split():
            result = smi(option + "=" + text, "-i", "0")
            assert result.status == 2 and text in result.stdout and "All done." not in result.stdout


def test_every_change_is_tried():
    tried = {language.BY_SPELLING[option] for option in [row[0] for row in TAKES] + list(TAKES_NOTHING)}
    assert tried == set(language.MODIFICATIONS) - {"gpu-reset"}
    with machine("NOT_SUPPORTED"):
        for option in TAKES_NOTHING:
            result = smi(option, "-i", "0")
            assert result.status == 0 and ADDRESS in result.lines[0] and result.lines[-1] == "All done."


@pytest.mark.parametrize(
    "modifier, values, of", [("--mode", "01", "-lgc"), ("--scope", ("0", "1", "GPU", "total_module"), "-pl")]
)
def test_what_modifies_another_option(modifier, values, of):
    assert modify.reader(language.BY_SPELLING[modifier]).words == tuple(word.upper() for word in values[-2:])
    with simulated.machine("s3000x2"):
        for value in values:
            result = smi(of, "200", modifier, value)
            assert (result.status, result.stdout) == (0, smi(of, "200").stdout)
            alone = smi(modifier, value)
            assert alone.status == 2 and "'%s' can only be used with '" % modifier in alone.stdout
        assert smi(of, "200", modifier, "2").status == 2


# ---- what MTML can do ----


def test_ecc_mode():
    """Of the card that -i names, and back; what is said stands in expected/modify.txt."""
    with simulated.machine("s5000x8"):
        for value, modes in (("0", ["ENABLE", "DISABLE"]), ("1", ["ENABLE", "ENABLE"])):
            assert smi("-e", value, "-i", "2").status == 0
            assert [simulated.get_value(card, "ecc_pending_mode") for card in (1, 2)] == modes


def test_a_change_that_does_not_stick_is_a_failure(monkeypatch):
    """The driver says yes, and nothing changes."""
    for name in ("nvmlDeviceSetEccMode", "nvmlDeviceClearEccErrorCounts", "nvmlDeviceSetMigMode"):
        monkeypatch.setattr(pymtml, name, lambda *_: None)
    # What will be is not what is.
    answers(monkeypatch, "nvmlDeviceGetMigMode", lambda _: [pymtml.NVML_DEVICE_MIG_DISABLE, 1])
    with simulated.machine("s5000x8", set="0.ecc_uncorrected_volatile=7"):
        for command, words in (("-e 0", "set ECC config"), ("-p 0", "clear ECC errors"), ("-mig 1", "enable MIG Mode")):
            result = smi(*(shlex.split(command) + ["-i", "0"]))
            text = "Unable to %s for GPU %s: the driver accepted it, but nothing changed\n" % (words, ADDRESS)
            assert (result.status, result.stdout) == (255, text + modify.EARLY)


@pytest.mark.parametrize("text, counter", [("0", "volatile"), ("AGGREGATE", "aggregate")])
def test_ecc_counters(text, counter):
    kinds = ["ecc_%scorrected_%s" % (un, other) for un in ("", "un") for other in ("volatile", "aggregate")]
    with simulated.machine("s5000x8", set=";".join("0.%s=7" % kind for kind in kinds)):
        result = smi("-p", text, "-i", "0")
        assert result.stdout == "Reset %s ECC errors to zero for GPU 00000000:2A:00.0.\nAll done.\n" % counter
        left = {other: simulated.get_value(0, "ecc_uncorrected_" + other) for other in ("volatile", "aggregate")}
    assert left.pop(counter) == "0" and list(left.values()) == ["7"]


def test_mpc_mode(tmp_path, monkeypatch):
    process_tree(tmp_path / "proc", monkeypatch, {os.getpid(): ("pymtml", 0)})  # which has the card open itself
    with simulated.machine("s3000-mpc"):
        assert smi("-mig", "0").stdout == (
            "Disabled MIG Mode for GPU 00000000:3B:00.0\n"
            "MIG Mode is already Disabled for GPU 00000000:AF:00.0.\nAll done.\n"
        )
        assert len(invoke("-L").lines) == 2
        assert invoke("-mig", "ENABLED", "-i", "0").status == 0
        assert any(line.startswith("  MPC") for line in invoke("-L").lines)


@pytest.fixture
def root(monkeypatch):
    """The simulator asks nobody who he is: the command does."""
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)


def test_a_card_in_use_is_neither_divided_nor_reset(tmp_path, monkeypatch, root):
    process_tree(tmp_path, monkeypatch, {17: ("trainer", 12), os.getpid(): ("pymtml", 0)})
    with simulated.machine("s3000-mpc"):
        busy = smi("-mig", "0", "-i", "0")
        assert busy.status == 19
        assert busy.stdout == (
            "Unable to disable MIG Mode for GPU 00000000:3B:00.0: In use by another client\n"
            "Terminating early due to previous errors.\n"
        )
        assert simulated.get_value(0, "mpc_mode") == "ENABLE"
        busy = smi("--gpu-reset", "-i", "0")
        assert busy.status == 19 and "GPU 00000000:3B:00.0: In use by another client" in busy.stdout
        assert simulated.get_value(0, "resets") == "0"


def without_the_capability(proc):
    (proc / "self" / "status").write_text("CapEff:\t%016x\n" % (~(1 << 19) & 0x1FFFFFFFFFF))


def in_a_container(proc):
    (proc / "self" / "ns").mkdir()
    (proc / "self" / "ns" / "pid").symlink_to("pid:[4026532617]")


def root_of_a_user_namespace(proc):
    (proc / "self" / "ns").mkdir()
    (proc / "self" / "ns" / "pid").symlink_to("pid:[4026531836]")
    (proc / "self" / "ns" / "user").symlink_to("user:[4026532616]")


def without_processes(proc):
    shutil.rmtree(str(proc / "1"))


ONLY_ROOT = "seeing other users' processes needs CAP_SYS_PTRACE"
HIDDEN = [
    (without_the_capability, ONLY_ROOT),
    (root_of_a_user_namespace, ONLY_ROOT),
    (in_a_container, "processes outside this pid namespace are invisible"),
    (without_processes, "no processes are visible"),
]
# A change, what it cannot do then, and the call that does it
CHANGING = [
    ("-r -i 0", "reset GPU 00000000:3B:00.0", "mtmlDeviceReset"),
    ("-mig 0 -i 0", "disable MIG Mode for GPU 00000000:3B:00.0", "mtmlDeviceSetMpcMode"),
    ("mig -cgi 1,1 -i 0", "create GPU instances on GPU  0", "mtmlDeviceSetMpcConfiguration"),
    ("mig -dgi -i 0", "destroy GPU instance ID  0 from GPU  0", "mtmlDeviceSetMpcConfiguration"),
]


@pytest.mark.parametrize("command, what, call", CHANGING, ids=[row[0] for row in CHANGING])
@pytest.mark.parametrize("hide, why", HIDDEN, ids=[hide.__name__ for hide, _ in HIDDEN])
def test_nothing_is_changed_where_users_may_be_invisible(command, what, call, hide, why, tmp_path, root):
    """But with --force, which nvidia-smi does not have."""
    hide(tmp_path / "proc")
    text = "Unable to %s: whether it is in use cannot be seen (%s)" % (what, why)
    with simulated.machine("s3000-mpc"):
        simulated.reset_calls()
        result = smi(*command.split())
        assert (result.status, result.lines[0]) == (19, text)
        assert result.stderr == "nvidia-smi: run it as root on the host\n"
        result = invoke(*command.split())
        wrong = "pymtml: u" + " ".join(text[1:].replace("MIG", "MPC").split())
        assert (result.status, result.stdout) == (19, "")
        assert result.stderr == wrong + "; run it as root on the host, or with --force if nobody uses the card\n"
        result = smi(*command.split(), "--force")
        assert "not recognized" in result.stdout and result.status in (2, 255) and "--force or" not in result.stderr
        assert simulated.calls(call) == 0
        assert invoke(*command.split(), "--force").status == 0 and simulated.calls(call) == 1


@pytest.mark.parametrize("command, what, call", CHANGING, ids=[row[0] for row in CHANGING])
def test_a_user_that_is_known_cannot_be_forced_away(command, what, call, tmp_path, monkeypatch, root):
    process_tree(tmp_path / "proc", monkeypatch, {17: ("trainer", 12)})
    with simulated.machine("s3000-mpc"):
        simulated.reset_calls()
        result = invoke(*command.split(), "--force")
        assert result.status == 19 and "In use by another client" in result.stderr
        assert simulated.calls(call) == 0


def in_use(folder, how):
    """A process that has card 1 open, whose node has the number of /dev/zero (Popen)."""
    card, other = folder + "/mtgpu.1", folder + "/mtgpu.0"
    if how == "by its primary node":
        os.rename(card, folder + "/card1")
        card = folder + "/card1"
    if how == "in another folder":
        os.mkdir(folder + "/host")
        os.link(card, folder + "/host/mtgpu.1")
        card = folder + "/host/mtgpu.1"
    command = ["sh", "-c", "exec sleep 60 < " + card]
    if how == "as another card's node":
        mount = "mount --bind %s %s && exec sleep 60 < %s" % (card, other, other)
        command = ["unshare", "--mount", "sh", "-c", mount]
    process = subprocess.Popen(command)
    while not os.path.exists("/proc/%d/fd/0" % process.pid) or os.stat("/proc/%d/fd/0" % process.pid).st_rdev != BUSY:
        assert process.poll() is None
        time.sleep(0.01)
    if how == "by a node that was made anew":
        os.unlink(card)
        os.mknod(card, stat.S_IFCHR | 0o600, BUSY)
    return process


BUSY, IDLE = os.makedev(1, 5), os.makedev(1, 7)  # Linux: /dev/zero, and /dev/full, which hardly any process has open


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
@pytest.mark.parametrize(
    "how",
    [
        "by its node",
        "by a node that was made anew",
        "by its primary node",
        "in another folder",
        "as another card's node",
    ],
)
def test_a_card_in_use_is_known_by_the_number_of_its_node(how, monkeypatch):
    """Whatever the name of the file that the process has open; the other card is idle."""
    monkeypatch.delenv("PYMTML_PROC_ROOT")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # MTML has 64 bytes for the path of a node
        os.mknod(folder + "/mtgpu.0", stat.S_IFCHR | 0o600, IDLE)
        os.mknod(folder + "/mtgpu.1", stat.S_IFCHR | 0o600, BUSY)
        paths = "0.gpu_path={0}/mtgpu.0;1.gpu_path={0}/mtgpu.1;1.primary_path={0}/card1".format(folder)
        process = in_use(folder, how)
        try:
            with simulated.machine("s3000x2", set=paths):
                busy, idle = [invoke("-r", "--force", "-i", card) for card in "10"]  # in a container, too
        finally:
            process.kill()
            process.wait()
    assert busy.status == 19 and "GPU 00000000:AF:00.0: In use by another client" in busy.stderr
    assert (idle.status, idle.lines[0]) == (0, "GPU 00000000:3B:00.0 was successfully reset.")


def test_a_process_of_another_namespace_is_known_by_the_driver(tmp_path):
    """Its number is 0 in the driver's answer (inferred from the driver's source)."""
    (tmp_path / "mtgpu.0").write_text("process = 0 lma=1048576\n")
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), simulated.NODES_LIBRARY]))
    extra = {"LD_PRELOAD": preload, "MTML_SIM_NODES": str(tmp_path), "PYMTML_PROC_ROOT": str(tmp_path / "proc")}
    for arguments in (["-mig", "0", "-i", "0"], ["-mig", "0", "-i", "0", "--force"]):
        result = run_command(*arguments, name="s3000-mpc", extra_environment=extra)
        assert result.returncode == 19 and "In use by another client" in result.stderr, result
    (tmp_path / "mtgpu.0").write_text("")
    assert run_command("-mig", "0", "-i", "0", name="s3000-mpc", extra_environment=extra).returncode == 0


def test_a_process_that_cannot_be_inspected_hinders_no_change(monkeypatch, root):
    """On some machines not even root may look into process 1."""
    monkeypatch.setattr(pymtml, "unseen_processes", lambda: 1)
    with simulated.machine("s3000-mpc"):
        assert smi("-r", "-i", "0").status == 0 and smi("-mig", "0", "-i", "0").status == 0


def test_the_driver_speaks_first(tmp_path, root):
    without_the_capability(tmp_path / "proc")
    with simulated.machine("s3000-mpc", faults="mtmlDeviceGetMpcMode=NO_PERMISSION"):
        assert smi("-mig", "0", "-i", "0").status == 4
    with simulated.machine("s3000-mpc"):
        assert smi("-mig", "1", "-i", "0").stdout.startswith("MIG Mode is already Enabled")
    with simulated.machine("s3000-mpc", faults="mtmlDeviceGetGpuPath=DRIVER_FAILURE"):
        result = smi("-r", "-i", "0")
    assert (result.status, result.lines[0]) == (255, "Unable to reset GPU 00000000:3B:00.0: Unknown Error")


def test_a_reset(root):
    with simulated.machine("s3000x2"):
        assert invoke("-L").status == 0
        assert smi("-r").status == 2 and simulated.get_value(0, "resets") == "0"
        result = smi("-r", "-i", "1")
        assert (result.status, result.stdout) == (0, "GPU 00000000:AF:00.0 was successfully reset.\nAll done.\n")
        assert [simulated.get_value(card, "resets") for card in (0, 1)] == ["0", "1"]
        assert smi("-r", "bus", "-i", "0,1").stdout.count("successfully") == 2
    for fault, status, words in (
        ("NOT_SUPPORTED", 3, "Resetting GPU 00000000:3B:00.0 is not supported.\n"),
        ("NO_PERMISSION", 4, "Unable to reset GPU 00000000:3B:00.0: Insufficient Permissions\n"),
        ("RESOURCE_IS_BUSY", 19, "The following GPUs could not be reset:\n  GPU 00000000:3B:00.0: In use by another "),
        ("DRIVER_FAILURE", 255, "Unable to reset GPU 00000000:3B:00.0: Unknown Error\n"),
    ):
        with simulated.machine("s3000x2", faults="mtmlDeviceReset=" + fault):
            result = smi("-r", "-i", "0")
        assert result.status == status and result.stdout.startswith(words), result.stdout
        assert result.stdout.endswith("Terminating early due to previous errors.\n")


@pytest.mark.parametrize(
    "key, value, words",
    [("visible", "no", "does not answer: Not Found"), ("lost", "DRIVER_FAILURE", "does not answer: Unknown Error")],
)
def test_a_card_that_does_not_come_back(key, value, words, monkeypatch, root):
    """The second card is reset nevertheless, and not the one that has its number then."""
    reset = pymtml.mtmlDeviceReset

    def then_changed(device):
        reset(device)
        simulated.set_value(0, key, value)

    monkeypatch.setattr(pymtml, "mtmlDeviceReset", then_changed)
    with simulated.machine("s4000x8"):
        result = smi("-r", "-i", "0,1")
        assert [simulated.get_value(card, "resets") for card in range(3)] == ["1", "1", "0"]
    with simulated.machine("s4000x8", faults="1.mtmlDeviceGetPciInfo=TIMEOUT"):  # nor is it known where the second is
        assert smi("-r", "-i", "0,1").status == 255
        assert [simulated.get_value(card, "resets") for card in range(3)] == ["1", "0", "0"]
    text = "GPU 00000000:08:00.0 was reset, but %s\nGPU 00000000:09:00.0 was successfully reset.\n" % words
    assert (result.status, result.stdout) == (255, text + modify.EARLY)
    monkeypatch.setattr(pymtml, "mtmlDeviceReset", lambda device: simulated.set_value(1, key, value))
    with simulated.machine("s4000x8"):
        assert words in smi("-r", "-i", "1").stdout


def test_the_second_of_two_cards_at_one_address(root):
    with simulated.machine("s3000x2", set="1.pci_sbdf=0000:3b:00.0;1.pci_bus=0x3b"):
        assert smi("-r", "-i", "1").status == 0
        assert [simulated.get_value(card, "resets") for card in range(2)] == ["0", "1"]


@pytest.mark.parametrize("code, status", [(0, 255), (1, 1), (4, 4), (15, 15), (254, 255), (999, 255)])
def test_the_exit_status_of_an_error(code, status):
    """NVML's code where there is such an error, and where that can be an exit status."""
    assert modify.exit_status(pymtml.NVMLError(code)) == status


BACK = "but the library did not come back: Unknown Error"


@pytest.mark.parametrize(
    "fault, back", [("mtmlLibraryInit=DRIVER_FAILURE@1", False), ("mtmlLibraryInit=DRIVER_FAILURE@1x1", True)]
)
def test_a_library_that_does_not_come_back(fault, back, root):
    """Each card is tried, and it is said what became of each."""
    first, second = "GPU 00000000:3B:00.0", "GPU 00000000:AF:00.0"
    with simulated.machine("s3000x2", faults=fault):
        result = smi("-r", "-i", "0,1")
        assert [simulated.get_value(card, "resets") for card in (0, 1)] == ["1", "01"[back]]
    assert result.status == 255 and result.lines == [
        "%s was reset, %s" % (first, BACK),
        "%s was successfully reset." % second if back else "Unable to reset %s: Uninitialized" % second,
        "Terminating early due to previous errors.",
    ]


@pytest.mark.parametrize("failing, other", [(0, 1), (1, 0)])
def test_the_worst_failure_is_the_exit_status(failing, other, root):
    faults = "%d.mtmlDeviceReset=DRIVER_FAILURE,%d.mtmlDeviceReset=NOT_SUPPORTED" % (failing, other)
    with simulated.machine("s4000x8", faults=faults):
        result = smi("-r", "-i", "0,1,2")
        assert simulated.get_value(2, "resets") == "1"
    assert result.status == 255 and result.lines[other].endswith(" is not supported.")


def test_a_shutdown_that_is_refused(root):
    """What was changed is done, on each card."""
    fault = "mtmlLibraryShutDown=DRIVER_FAILURE@0x1"
    with simulated.machine("s3000x2", faults=fault):
        result = smi("-r", "-i", "0,1")
        assert [simulated.get_value(card, "resets") for card in (0, 1)] == ["1", "1"]
    form = "GPU 00000000:%s:00.0 was successfully reset."
    assert (result.status, result.lines) == (0, [form % "3B", form % "AF", "All done."])
    with simulated.machine("s3000-mpc", faults=fault):
        result = smi("-mig", "0", "-i", "0")
    assert (result.status, result.lines) == (0, ["Disabled MIG Mode for GPU 00000000:3B:00.0", "All done."])


def test_a_mode_that_is_changed_by_a_library_that_does_not_come_back():
    with simulated.machine("s3000-mpc", set="machine.reinit=DRIVER_FAILURE"):
        result = smi("-mig", "0", "-i", "0")
    assert (result.status, result.lines[0]) == (255, "Disabled MIG Mode for GPU 00000000:3B:00.0, " + BACK)


def test_a_reset_is_for_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    with simulated.machine("s3000x2"):
        result = smi("-r", "-i", "0")
        assert result.status == 4 and "Insufficient Permissions" in result.stdout
        assert simulated.get_value(0, "resets") == "0"
