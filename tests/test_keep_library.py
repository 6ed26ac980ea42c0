"""PYMTML_KEEP_LIBRARY=1: a library that cannot be initialized twice serves programs that init and shut down often."""

import os

import pytest
import simulated
from concurrency import in_child, in_thread

import pymtml

REFUSES = "machine.reinit=DRIVER_FAILURE"


@pytest.fixture(autouse=True)
def _nothing_stays():
    """A test that fails leaves no library behind for the next one."""
    yield
    simulated.shut_down()


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


def test_questions_on_a_library_that_refuses_a_second_init():
    keys = simulated.device_keys("s5000x8", 7)
    result = simulated.run_python(PATTERN, name="s5000x8", set=REFUSES, extra_environment={"PYMTML_KEEP_LIBRARY": "1"})
    line = "8 %s %s %s\n" % (keys["name"], keys["memory_total"], keys["uuid"])
    assert (result.returncode, result.stderr, result.stdout) == (0, "", 3 * line)


@pytest.mark.parametrize("value", [None, "", "0", "yes"])
def test_error_says_what_to_do(value):
    extra = {} if value is None else {"PYMTML_KEEP_LIBRARY": value}
    result = simulated.run_python(PATTERN, name="s5000x8", set=REFUSES, extra_environment=extra)
    assert result.returncode == 1 and result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert "NVMLError_Unknown: Unknown Error: " in last and "PYMTML_KEEP_LIBRARY=1" in last


def test_init_of_another_thread_while_the_last_shutdown_waits(monkeypatch):
    """The library is initialized a second time then: one of the two references is kept, the other goes back to C."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")

    def drain(life, retired, keep, real=pymtml._drain):
        monkeypatch.setattr(pymtml, "_drain", real)
        thread, _ = in_thread(pymtml.nvmlInit)
        thread.join()
        return real(life, retired, keep)

    def child():
        pymtml.nvmlInit()
        monkeypatch.setattr(pymtml, "_drain", drain)
        pymtml.nvmlShutdown()
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
        assert pymtml.nvmlDeviceGetCount() == 8
        pymtml.nvmlShutdown()
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 1)

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


def test_error_of_a_first_init_does_not_mention_it():
    with simulated.machine("no-driver"):
        for function in (pymtml.nvmlInit, pymtml.mtmlLibraryInit):

            def child():
                with pytest.raises(pymtml.MTMLError) as caught:
                    function()
                assert caught.value.detail is None and caught.value.mtml_code == pymtml.MTML_ERROR_DRIVER_NOT_LOADED

            assert in_child(lambda: setattr(pymtml._session, "was_shut_down", False) or child()) == 0


def test_first_init_of_a_process_is_no_second_one():
    result = simulated.run_python("import pymtml\npymtml.nvmlInit()\n", name="no-driver")
    assert result.stderr.splitlines()[-1] == "pymtml.NVMLError_DriverNotLoaded: Driver Not Loaded"


@pytest.fixture
def kept(monkeypatch):
    """Run a function in a child of its own, where the library is kept: it stays for the life of the process."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")

    def run(work, name="s5000x8", **options):
        with simulated.machine(name, **options):
            assert in_child(work) == 0

    return run


def test_native_calls_are_those_of_one_life(kept):
    def work():
        for _ in range(5):
            pymtml.nvmlInit()
            pymtml.nvmlInit()
            assert pymtml.nvmlDeviceGetCount() == 8
            pymtml.nvmlShutdown()
            pymtml.nvmlShutdown()
        assert (simulated.calls("mtmlLibraryInit"), simulated.calls("mtmlLibraryShutDown")) == (1, 0)
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 1)

    simulated.reset_calls()
    kept(lambda: simulated.reset_calls() or work())


def test_handles_go_stale_and_calls_raise(kept):
    def work():
        library = pymtml.mtmlLibraryInit()
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        gpu = pymtml.mtmlDeviceInitGpu(device)
        pymtml.nvmlDeviceGetName(device), pymtml.mtmlGpuGetUtilization(gpu)
        pymtml.mtmlLibraryShutDown()
        for call in (
            pymtml.mtmlLibraryCountDevice,
            pymtml.mtmlLibraryShutDown,
            pymtml.nvmlDeviceGetCount,
            pymtml.nvmlSystemGetDriverVersion,
            lambda: pymtml.nvmlDeviceGetHandleByIndex(0),
            lambda: pymtml.nvmlDeviceGetName(device),
            lambda: pymtml.nvmlDeviceGetPowerUsage(device),
            lambda: pymtml.mtmlGpuGetUtilization(gpu),
        ):
            with pytest.raises(pymtml.NVMLError_Uninitialized):
                call()
        assert pymtml.mtmlLibraryInit() is not library
        for call in (pymtml.nvmlDeviceGetName, pymtml.nvmlDeviceGetPowerUsage):
            with pytest.raises(pymtml.NVMLError_InvalidArgument):
                call(device)
        with pytest.raises(pymtml.MTMLError_InvalidArgument):
            pymtml.mtmlGpuGetUtilization(gpu)
        again = pymtml.nvmlDeviceGetHandleByIndex(0)
        assert again is not device and pymtml.nvmlDeviceGetName(again) == "MTT S5000"

    kept(work)


def test_variable_is_read_at_the_last_shutdown(kept):
    def work():
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        assert simulated.references() == 1
        del os.environ["PYMTML_KEEP_LIBRARY"]
        pymtml.nvmlInit()
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        pymtml.nvmlShutdown()
        assert simulated.references() == 0
        pymtml.nvmlInit()
        os.environ["PYMTML_KEEP_LIBRARY"] = "1"
        pymtml.nvmlShutdown()
        assert simulated.references() == 1

    kept(work)


def test_forked_child_starts_anew(kept):
    def work():
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        before = simulated.calls("mtmlLibraryInit")

        def child():
            assert pymtml._nvmlLib_refcount == 0
            with pytest.raises(pymtml.NVMLError_Uninitialized):
                pymtml.nvmlDeviceGetCount()
            pymtml.nvmlInit()
            assert simulated.calls("mtmlLibraryInit") == before + 1
            assert pymtml.nvmlDeviceGetCount() == 8

        assert in_child(child) == 0
        pymtml.nvmlInit()
        assert simulated.calls("mtmlLibraryInit") == before

    kept(work)


def test_nothing_is_shut_down_at_exit(tmp_path):
    trace = tmp_path / "trace"
    result = simulated.run_python(PATTERN, name="s5000x8", trace=trace, extra_environment={"PYMTML_KEEP_LIBRARY": "1"})
    assert (result.returncode, result.stderr) == (0, "")
    calls = trace.read_text().split()
    assert calls.count("mtmlLibraryInit") == 1 and "mtmlLibraryShutDown" not in calls


def test_change_of_mig_starts_the_library_again(kept):
    """MTML wants a shutdown after a change of MPC: keeping the library does not stand in its way."""

    def work():
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        before = simulated.calls("mtmlLibraryShutDown")
        pymtml.nvmlDeviceSetMigMode(device, pymtml.NVML_DEVICE_MIG_DISABLE)
        assert simulated.calls("mtmlLibraryShutDown") == before + 1
        assert pymtml.nvmlDeviceGetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [0, 0]
        pymtml.nvmlShutdown()
        assert simulated.references() == 1

    kept(work, name="s3000-mpc")


def test_change_of_mig_on_a_library_that_refuses(kept):
    def work():
        pymtml.nvmlInit()
        with pytest.raises(pymtml.NVMLError_Unknown) as caught:
            pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), pymtml.NVML_DEVICE_MIG_DISABLE)
        assert "PYMTML_KEEP_LIBRARY" in str(caught.value)
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)

    kept(work, name="s3000-mpc", set=REFUSES)
