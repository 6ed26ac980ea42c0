"""How programs that import pymtml by its own name ask it: each function is one of them, in its own order of calls.

python importers.py NAME    prints what it makes of the machine, as JSON
"""

import json
import sys


def ray():
    """MTGPUAcceleratorManager: any failure is no GPU, a name that fails is none; init and shutdown each time."""
    import pymtml

    def count_and_name():
        try:
            pymtml.nvmlInit()
        except Exception:
            return 0, None
        try:
            count, name = int(pymtml.nvmlDeviceGetCount()), None
            if count > 0:
                try:
                    name = pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0))
                except Exception:
                    pass
            return count, name
        except Exception:
            return 0, None
        finally:
            pymtml.nvmlShutdown()

    found = [count_and_name() for _ in range(10)]
    assert found == found[:1] * 10
    return found[0]


def vllm_musa():
    """Its platform: pymtml as pynvml, an init before each question, and never a shutdown."""
    import pymtml as pynvml

    def name(index):
        pynvml.nvmlInit()
        return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(index))

    pynvml.nvmlInit()
    return [name(index) for index in range(pynvml.nvmlDeviceGetCount())]


def vllm_omni():
    """As sglang's diffusion runtime: MTML's names, a count, shut down again; any failure but ImportError is logged."""
    import pymtml

    try:
        pymtml.mtmlLibraryInit()
        try:
            return pymtml.mtmlLibraryCountDevice() > 0
        finally:
            pymtml.mtmlLibraryShutDown()
    except Exception as error:
        return type(error).__name__


def xinference():
    """Names taken one by one, and a shutdown also where init failed."""
    from pymtml import nvmlDeviceGetCount, nvmlInit, nvmlShutdown

    count = 0
    try:
        nvmlInit()
        count = nvmlDeviceGetCount()
    except Exception:
        pass
    finally:
        try:
            nvmlShutdown()
        except Exception:
            pass
    return count > 0


def gpustack_runtime():
    """A module that takes everything by a star and initializes once: its own functions call those of pymtml."""
    space = {}
    exec("from pymtml import *", space)
    problem = []

    def init():
        if not problem:
            try:
                space["mtmlLibraryInit"]()
                problem.append(None)
            except Exception as error:
                problem.append(error)
                raise
        elif problem[0] is not None:
            raise problem[0]

    def uuid(index):
        try:
            return space["mtmlDeviceGetUUID"](space["mtmlLibraryInitDeviceByIndex"](index))
        except space["MTMLError"] as error:
            return type(error).__name__

    for _ in range(3):
        try:
            init()
        except space["MTMLError"] as error:
            said = type(error).__name__
    if problem[0] is not None:
        return said
    return [uuid(index) for index in range(space["mtmlLibraryCountDevice"]())]


def rlinf():
    """Shuts down in its own code and again in the clean-up, which passes over what the second one says."""
    import pymtml

    try:
        pymtml.nvmlInit()
        count = pymtml.nvmlDeviceGetCount()
        pymtml.nvmlShutdown()
    except pymtml.NVMLError:
        count = 0
    try:
        pymtml.nvmlShutdown()
    except pymtml.NVMLError as error:
        return count, type(error).__name__
    return count, None


def benchmark_runner():
    """Names that no binding has, within ``except Exception``: what the runner drops is the text shown here."""
    import pymtml

    try:
        pymtml.mtmlInit()
        return pymtml.mtmlDeviceGetCount()
    except Exception as error:
        return str(error)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
