"""NVML's names keep the C library for the next life, MTML's end it: what PYMTML_KEEP_LIBRARY says to that, what a later
life costs, and what becomes of a kept library."""

import os
import shutil
import subprocess
import sys
import sysconfig
import threading

import pytest
import simulated
from concurrency import in_child, in_thread
from interpreter import not_on_pypy
from simulated import state

import pymtml

pytestmark = pytest.mark.usefixtures("as_a_program")
REFUSES = "machine.reinit=DRIVER_FAILURE"


def end():
    """How a kept library is ended."""
    pymtml.mtmlLibraryInit()
    pymtml.mtmlLibraryShutDown()
    assert state() == (0, 0)


# vLLM and sglang initialize, ask one question and shut down, each time.
PATTERN = """
import pymtml as pynvml

def asked(question):
    pynvml.nvmlInit()
    try:
        return question()
    finally:
        pynvml.nvmlShutdown()

handle = lambda index=0: pynvml.nvmlDeviceGetHandleByIndex(index)
for _ in range(3):
    print(asked(pynvml.nvmlDeviceGetCount), asked(lambda: pynvml.nvmlDeviceGetName(handle())),
          asked(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle(1)).total),
          asked(lambda: pynvml.nvmlDeviceGetUUID(handle(7))))
"""


def run(value, code=PATTERN, **options):
    extra = {"PYMTML_KEEP_LIBRARY": value} if value is not None else {}
    return simulated.run_python(code, name="s5000x8", extra_environment=extra, **options)


def test_questions_on_a_library_that_refuses_a_second_init(tmp_path):
    """Nothing is shut down, not at exit either."""
    keys, trace = simulated.device_keys("s5000x8", 7), tmp_path / "trace"
    result = run(None, set=REFUSES, trace=trace)
    line = "8 %s %s %s\n" % (keys["name"], keys["memory_total"], keys["uuid"])
    assert (result.returncode, result.stderr, result.stdout) == (0, "", 3 * line)
    calls = trace.read_text().split()
    assert calls.count("mtmlLibraryInit") == 1 and "mtmlLibraryShutDown" not in calls


@pytest.mark.parametrize(
    "value, code", [("0", PATTERN), (None, PATTERN.replace("nvmlShutdown", "mtmlLibraryShutDown"))]
)
def test_error_says_what_to_do(value, code):
    result = run(value, code, set=REFUSES)
    assert result.returncode == 1 and result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert "NVMLError_Unknown: Unknown Error: " in last and "PYMTML_KEEP_LIBRARY=1" in last


def test_error_of_a_first_init_does_not_mention_it():
    result = simulated.run_python("import pymtml\npymtml.nvmlInit()\n", name="no-driver")
    assert result.stderr.splitlines()[-1] == "pymtml.NVMLError_DriverNotLoaded: Driver Not Loaded"


SHUTDOWNS = {"nvml": pymtml.nvmlShutdown, "mtml": pymtml.mtmlLibraryShutDown}
INITS = {"nvml": pymtml.nvmlInit, "mtml": pymtml.mtmlLibraryInit}


@pytest.mark.parametrize("value", [None, "", "0", "1", "no"])
@pytest.mark.parametrize("shutdown", SHUTDOWNS)
@pytest.mark.parametrize("init", INITS)
def test_who_gives_back_the_last_reference_decides(init, shutdown, value, monkeypatch):
    """References of both names are counted together. The variable is read at each last shutdown, also under raised
    privileges: it names no code."""
    monkeypatch.setattr(pymtml._session, "secure", True)
    kept = {"0": False, "1": True}.get(value, shutdown == "nvml")
    with simulated.machine("s5000x8"):
        for _ in range(2):
            INITS[init](), pymtml.mtmlLibraryInit(), pymtml.nvmlInit()
            pymtml.nvmlShutdown(), pymtml.mtmlLibraryShutDown()
            assert state() == (1, 1) and pymtml.nvmlDeviceGetCount() == 8
            if value is not None:
                monkeypatch.setenv("PYMTML_KEEP_LIBRARY", value)
            SHUTDOWNS[shutdown]()
            assert state() == (0, int(kept))
            for other in SHUTDOWNS.values():
                pytest.raises(pymtml.NVMLError_Uninitialized, other)
            monkeypatch.delenv("PYMTML_KEEP_LIBRARY", raising=False)
        end()


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("refused", [False, True])
def test_library_that_answers_no_more_is_started_anew(init, refused):
    """One question asks whether it does; a shutdown that C refuses does not hinder the init."""

    def child():
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        simulated.reset_calls()
        faults = "mtmlLibraryCountDevice=DRIVER_FAILURE@0x1" + ",mtmlLibraryShutDown=DRIVER_FAILURE@0x1" * refused
        simulated.set_faults(faults)
        INITS[init]()
        calls = [simulated.calls(name) for name in ("mtmlLibraryCountDevice", "mtmlLibraryShutDown", "mtmlLibraryInit")]
        assert calls == [1, 1, 1] and pymtml.nvmlDeviceGetCount() == 8
        assert state() == (1, 1 + refused)  # the one that C would not take back is lost

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


def test_library_without_the_question_whether_it_answers(monkeypatch):
    """It is taken as it is."""
    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        monkeypatch.delitem(pymtml._functions, "mtmlLibraryCountDevice")
        simulated.reset_calls()
        pymtml.nvmlInit()
        assert simulated.calls() == 0 and state() == (1, 1)
        simulated.shut_down()


def test_library_that_answers_no_more_and_does_not_come_back():
    with simulated.machine("s5000x8", set=REFUSES):
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        simulated.set_faults("mtmlLibraryCountDevice=TIMEOUT")
        with pytest.raises(pymtml.NVMLError_Unknown, match="initialized again"):
            pymtml.nvmlInit()
        assert state() == (0, 0)


def test_library_that_answers_no_more_while_a_query_runs(monkeypatch):
    """It cannot be restarted under that one; the error is C's, and says what to wait for."""
    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        device, inside, over = pymtml.nvmlDeviceGetHandleByIndex(0), threading.Event(), threading.Event()
        real = pymtml._c.mtmlDeviceGetPowerUsage
        monkeypatch.setattr(pymtml._c, "mtmlDeviceGetPowerUsage", lambda *a: inside.set() or over.wait(30) and real(*a))
        thread, _ = in_thread(lambda: pymtml.nvmlDeviceGetPowerUsage(device))
        try:
            assert inside.wait(30)
            pymtml.nvmlShutdown()
            simulated.set_faults("mtmlLibraryCountDevice=TIMEOUT@0x1")
            with pytest.raises(pymtml.NVMLError_Timeout, match="an earlier query is still running"):
                pymtml.nvmlInit()
            assert state() == (0, 1)
        finally:
            over.set()
            thread.join()


def test_change_of_mig_on_a_library_without_a_shutdown(monkeypatch):
    """It is not initialized a second time."""
    with simulated.machine("s3000-mpc"):
        pymtml.nvmlInit()
        with monkeypatch.context() as patch, pytest.raises(pymtml.NVMLError_NotSupported):
            patch.delitem(pymtml._functions, "mtmlLibraryShutDown")
            pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), pymtml.NVML_DEVICE_MIG_DISABLE)
        assert state() == (0, 1)


@pytest.mark.parametrize("value", [None, "0", "1"])
def test_library_without_a_shutdown(value, monkeypatch):
    """Where C's shutdown is wanted it is missing, and nothing has changed; where C is kept nobody needs it."""
    if value is not None:
        monkeypatch.setenv("PYMTML_KEEP_LIBRARY", value)

    def child():
        pymtml.nvmlInit()
        pymtml._functions.pop("mtmlLibraryShutDown")
        for name, kind, wanted in (
            ("mtmlLibraryShutDown", pymtml.MTMLError_FunctionNotFound, value != "1"),
            ("nvmlShutdown", pymtml.NVMLError_FunctionNotFound, value == "0"),
        ):
            if wanted:
                pymtml.nvmlInit()
                getattr(pymtml, name)()  # not the last one, for which C is not asked
                device = pymtml.nvmlDeviceGetHandleByIndex(0)
                with pytest.raises(kind) as caught:
                    getattr(pymtml, name)()
                assert type(caught.value) is kind and state() == (1, 1)
                assert pymtml.nvmlDeviceGetHandleByIndex(0) is device and pymtml.nvmlDeviceGetName(device)
            else:
                getattr(pymtml, name)()
                assert state() == (0, 1)
                pymtml.nvmlInit()

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


def test_forked_child():
    """What the parent kept is initialized once more in the child; the life that it was in goes on there."""

    def anew():
        assert state() == (0, 1)
        pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceGetCount)
        pymtml.nvmlInit()
        assert state() == (1, 2) and pymtml.nvmlDeviceGetCount() == 8
        pymtml.mtmlLibraryShutDown()
        assert state() == (0, 1)  # never on the parent's behalf

    def deaf():  # C does not answer, but no change was under way when the child was forked
        simulated.set_faults("mtmlLibraryCountDevice=DRIVER_FAILURE")
        pymtml.nvmlInit()
        assert state() == (1, 2)

    def on():
        assert state() == (1, 1) and pymtml.nvmlDeviceGetName(device)
        pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        assert state() == (1, 1) and simulated.calls("mtmlLibraryInit") == inits
        assert in_child(lambda: pymtml.nvmlDeviceGetCount() == 8 or os._exit(3)) == 0
        pymtml.nvmlShutdown()
        end()

    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        assert in_child(anew) == in_child(deaf) == 0
        pymtml.nvmlInit()
        device, inits = pymtml.nvmlDeviceGetHandleByIndex(0), simulated.calls("mtmlLibraryInit")
        assert in_child(on) == 0
        assert pymtml.nvmlDeviceGetName(device) == "MTT S5000" and state() == (1, 1)
        pymtml.nvmlShutdown()
        end()


def test_a_child_does_not_change_what_it_cannot_restart():
    """Its parent kept the library, so that C has another reference there: MPC is left alone, a reset is not."""

    def child():
        pymtml.nvmlInit()
        before = simulated.calls("mtmlDeviceSetMpcMode")
        for change in (pymtml.nvmlDeviceSetMigMode, pymtml.mtmlDeviceSetMpcMode):
            one = pymtml.nvmlDeviceGetHandleByIndex(0)
            with pytest.raises(pymtml.NVMLError_InUse, match="PYMTML_KEEP_LIBRARY=0 before the fork"):
                change(one, 0)
            assert pymtml.nvmlDeviceGetName(one) and simulated.calls("mtmlDeviceSetMpcMode") == before
        pymtml.mtmlDeviceReset(one)
        assert in_child(again) == 0

    def again():
        pytest.raises(pymtml.NVMLError_InUse, pymtml.nvmlDeviceSetMigMode, pymtml.nvmlDeviceGetHandleByIndex(0), 0)

    def heir():  # a child that does not ask itself hands on what it knows
        assert in_child(child) == 0

    def free():
        pymtml.nvmlInit()
        assert pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), 0) == 0 and state() == (1, 1)

    with simulated.machine("s3000-mpc"):
        pymtml.nvmlInit()
        assert in_child(lambda: pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), 0)) == 0  # its own
        pymtml.nvmlShutdown()
        assert in_child(child) == in_child(heir) == 0
        end()
        assert in_child(free) == 0


@not_on_pypy.interpreters
def test_other_interpreters_keep_the_library():
    """Their stacks cannot be read: C is kept, and MPC left alone, until they have ended."""
    interpreters = pytest.importorskip("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")

    def child():
        other = interpreters.create()
        pymtml.mtmlLibraryInit()
        with pytest.raises(pymtml.NVMLError_InUse, match="other interpreters are alive"):
            pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), 0)
        pymtml.mtmlLibraryShutDown()
        assert state() == (0, 1)
        interpreters.destroy(other)
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
        assert state() == (0, 0)

    with simulated.machine("s3000-mpc"):
        assert in_child(child) == 0


COPIES = """
import importlib.util, pymtml
spec = importlib.util.spec_from_file_location("second", pymtml.__file__)
second = importlib.util.module_from_spec(spec); spec.loader.exec_module(second)
for module in (pymtml, second):
    for _ in range(2):
        module.nvmlInit(); print(module.nvmlDeviceGetCount()); module.nvmlShutdown()
second.nvmlInit()
pymtml.mtmlLibraryInit(); pymtml.mtmlLibraryShutDown()
print(second.nvmlDeviceGetName(second.nvmlDeviceGetHandleByIndex(0)))
"""


def test_two_copies_of_the_module_keep_a_reference_each(tmp_path):
    trace = tmp_path / "trace"
    result = run(None, COPIES, trace=trace)
    assert (result.stdout, result.stderr) == ("8\n" * 4 + "MTT S5000\n", "")
    calls = trace.read_text().split()
    assert (calls.count("mtmlLibraryInit"), calls.count("mtmlLibraryShutDown")) == (2, 1)


def test_change_of_mig_starts_the_library_again():
    """MTML wants a shutdown after a change of MPC: that others keep the library does not stand in its way."""
    with simulated.machine("s3000-mpc"):
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        pymtml.nvmlInit()
        simulated.reset_calls()
        pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), pymtml.NVML_DEVICE_MIG_DISABLE)
        assert simulated.calls("mtmlLibraryShutDown") == simulated.calls("mtmlLibraryInit") == 1
        assert pymtml.nvmlDeviceGetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [0, 0] and state() == (2, 1)
        pymtml.nvmlShutdown()
        # MTML's own name leaves the restart to its callers, also to one that shuts down by NVML's.
        pymtml.mtmlDeviceSetMpcMode(pymtml.mtmlLibraryInitDeviceByIndex(0), 1)
        pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        assert pymtml.nvmlDeviceGetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [1, 1] and state() == (1, 1)
        pymtml.nvmlShutdown()
        end()


@pytest.mark.parametrize("another", [False, True])
def test_change_of_mig_on_a_library_that_does_not_come_back(another):
    """It refuses a second init, or another user of it in the process keeps C from restarting; the error says which."""
    with simulated.machine("s3000-mpc", **({} if another else {"set": REFUSES})):
        pymtml.nvmlInit()
        pointer, card = pymtml.c_void_p(), pymtml.nvmlDeviceGetHandleByIndex(1)
        if another:
            assert simulated.library.mtmlLibraryInit(pymtml.byref(pointer)) == 0
        with pytest.raises(pymtml.NVMLError_Unknown, match="whatever else uses it" if another else "KEEP_LIBRARY"):
            pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), pymtml.NVML_DEVICE_MIG_DISABLE)
        assert state() == (0, 2 if another else 0)
        pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceGetCount)
        if another:
            assert simulated.library.mtmlLibraryShutDown(pointer) == 0
        else:
            pytest.raises(pymtml.NVMLError_Unknown, pymtml.nvmlInit)
            simulated.set_value(simulated.MACHINE, "reinit", "OK")
        pymtml.nvmlInit()
        assert pymtml.nvmlDeviceGetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [0, 0] and state() == (1, 1)
        pytest.raises(pymtml.NVMLError_InvalidArgument, pymtml.nvmlDeviceGetName, card)


LIVES = """
import pymtml
for _ in range(2):
    pymtml.nvmlInit()
    name = pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0))
    pymtml.nvmlShutdown()
print(name)
"""


def test_interpreters_one_after_another(tmp_path):
    """A program that ends its Python and starts another: each initializes C once more, and none is disturbed."""
    library = os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY") or "")
    if not os.path.isfile(library) or not shutil.which("cc"):
        pytest.skip("no compiler, or no library of this Python to link with")
    source = os.path.join(os.path.dirname(__file__), "clients", "embed.c")
    program, trace = tmp_path / "embed", tmp_path / "trace"
    flags = [sysconfig.get_config_var(name) or "" for name in ("LIBS", "SYSLIBS", "LINKFORSHARED")]
    command = ["cc", "-I" + sysconfig.get_path("include"), source, "-o", str(program), library]
    subprocess.run(command + " ".join(flags).split(), check=True)
    home = {"PYTHONHOME": sys.base_prefix, "LD_LIBRARY_PATH": os.path.dirname(library)}
    env = simulated.environment("s5000x8", trace=trace)
    env.update(home, LD_LIBRARY_PATH=os.pathsep.join([home["LD_LIBRARY_PATH"], env["LD_LIBRARY_PATH"]]))
    if simulated.run([str(program), "import ctypes"], env=env).returncode:
        pytest.skip("this Python does not survive a second start with nothing but ctypes, as 3.12.1")
    said = simulated.run([str(program), LIVES], env=env)
    assert (said.returncode, said.stdout) == (0, "MTT S5000\n" * 3)
    assert trace.read_text().split().count("mtmlLibraryInit") == 3


# ---- A kept library, and a program that closes its files ----

# What every driver's library does: init opens a device's file, a shutdown closes it, queries use it. Three here.
WITH_FILES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
static int files[3], references;
int mtmlLibraryInit(void **library)
{
    int status = ((int (*)(void **))dlsym(RTLD_NEXT, "mtmlLibraryInit"))(library);
    for (int i = 0; !status && !references && i < 3; i++)
        files[i] = open("/dev/zero", O_RDWR | O_CLOEXEC);
    references += !status;
    return status;
}
int mtmlLibraryShutDown(void *library)
{
    for (int i = 0; references == 1 && i < 3; i++)
        close(files[i]);
    references--;
    return ((int (*)(void *))dlsym(RTLD_NEXT, "mtmlLibraryShutDown"))(library);
}
"""
DAEMON = """
import os, sys, pymtml as pynvml

def tries():
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_Unknown as error:
        return error.detail.partition(",")[0]
    pynvml.nvmlShutdown()

if "first" not in sys.argv:
    pynvml.nvmlInit()
    if "shutdown" in sys.argv:
        pynvml.nvmlShutdown()
if "fork" in sys.argv and os.fork():
    os._exit(os.WEXITSTATUS(os.wait()[1]))
kept = int(sys.argv[1])
if "all" in sys.argv:
    os.closerange(3, 256)
elif "one" in sys.argv:
    os.close(kept + 1)
log = [open("/dev/null", "w") for _ in range(6 if "open" in sys.argv else 0)]
if "shutdown" not in sys.argv and "first" not in sys.argv:
    (pynvml.mtmlLibraryShutDown if "mtml" in sys.argv else pynvml.nvmlShutdown)()
print([tries() for _ in range(3)])
for file in log:
    os.fstat(file.fileno())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors are listed in /proc")
@pytest.mark.parametrize("shutdown", ["shutdown", "", "mtml"])
@pytest.mark.parametrize("does", ["all", "all open", "all fork", "one open", "fork", "", "all first"])
def test_files_of_the_library_that_the_program_closes(does, shutdown, tmp_path):
    """As one does that becomes a daemon: the library would act on what has its numbers now."""
    extra = {"PYMTML_LIBRARY": simulated.shim(tmp_path, WITH_FILES)}
    lowest = simulated.run_python("import os, pymtml; print(os.dup(0))", extra_environment=extra).stdout.strip()
    words = [lowest] + does.split() + shutdown.split()
    result = simulated.run_python(DAEMON, *words, extra_environment=extra)
    closed = {"a": int(lowest), "o": int(lowest) + 1}.get(does[:1]) if "first" not in does else None
    said = result.stdout.strip("[]\n").split(", ")
    assert (result.stderr, said[-1]) == ("", "None" if closed is None else "'descriptor %d'" % closed)
    assert len(set(said)) == 1 or does == "one open"  # of three, the second is looked at by every second init
    if shutdown == "shutdown" and does != "one open":
        result = simulated.run_python(DAEMON, *words, extra_environment=dict(extra, PYMTML_KEEP_LIBRARY="0"))
        assert (result.stdout, result.stderr) == ("[None, None, None]\n", "")
