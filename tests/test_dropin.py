"""The drop-in from a checkout: the names, the processes it reaches, what it leaves alone, and `pymtml run`."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time
import types
from importlib.machinery import ModuleSpec

import pytest
import simulated
import wheels
from inside import drop_in
from test_interpreters import VERSIONS, interpreter

import pymtml_dropin
from pymtml_dropin import hook

PACKAGE = os.path.join(simulated.ROOT, "pymtml_dropin")
FOLDER = os.path.join(PACKAGE, "path")
COPIES = """aim.ext.pynvml clearml.utilities.gpu.pynvml comet_ml.vendor.nvidia_ml.pynvml neptune.vendor.pynvml
py3nvml.py3nvml ray._private.thirdparty.pynvml simvue.pynvml traceml.vendor.pynvml wandb.vendor.pynvml.pynvml""".split()


@pytest.fixture
def variables(tmp_path):
    """The environment of a user on a simulated machine, with nothing of this project in it but PYTHONPATH."""
    env = simulated.environment("s3000x2")
    env.update(PYTHONPATH=FOLDER, HOME=str(tmp_path), PYMTML_PROC_ROOT=str(tmp_path / "proc"))
    return env


def run(command, env, folder, status=0, stdin=""):
    """What the command prints to stdout; to stderr where it is to fail."""
    done = simulated.run(command, env=env, cwd=str(folder), input=stdin)
    assert done.returncode == status, "%s: %d\n%s\n%s" % (command, done.returncode, done.stdout, done.stderr)
    if status == 0:
        assert done.stderr == ""
        return done.stdout
    return done.stderr


def make_package(folder, name, text="raise SystemExit('the copy was imported')\n"):
    """Packages down to a module of that name, whose text is no part of what the drop-in should ever run."""
    place = str(folder)
    *packages, module = name.split(".")
    for package in packages:
        place = os.path.join(place, package)
        os.makedirs(place, exist_ok=True)
        open(os.path.join(place, "__init__.py"), "a").close()
    with open(os.path.join(place, module + ".py"), "w") as file:
        file.write(text)


# ---- names ----


def test_every_name_is_tried():
    assert set(COPIES) == {name for name in pymtml_dropin.NAMES if name.split(".")[0] not in ("pynvml", "pymtml")}


def test_copies_inside_programs(variables, tmp_path):
    code = "import sys, pymtml"
    for name in COPIES:
        make_package(tmp_path, name)
        parent, _, module = name.rpartition(".")
        code += "\nimport {0}; from {1} import {2} as a; assert a is pymtml is sys.modules['{0}'] is {0}, '{0}'".format(
            name, parent, module
        )
    run([sys.executable, "-c", code], variables, tmp_path)


def test_one_finder_before_all_others(monkeypatch):
    """Also before those of editable installs. Who names pymtml later is heard; what is asked is not forgotten."""
    monkeypatch.delenv("PYMTML_DROPIN_MODULES", raising=False)
    others, said = [object(), object()], []
    with monkeypatch.context() as patched:
        patched.setattr(sys, "meta_path", list(others))
        for asked in (False, True, False):
            pymtml_dropin.install(asked=asked)
            said.append((sys.meta_path[1:] == others, sys.meta_path[0].asked, sys.meta_path[0].names))
    wider = pymtml_dropin.NAMES | {"pymtml", "pymtml_cli"}
    assert said == [(True, False, pymtml_dropin.NAMES), (True, True, wider), (True, True, wider)]


def test_a_package_keeps_its_folder(monkeypatch):
    """pymtml is a package where it is installed: what lies in that may be imported also after pynvml."""
    package, alias = types.ModuleType("pymtml"), types.ModuleType("a.copy")
    package.__path__, alias.__spec__ = ["folder"], ModuleSpec("a.copy", None)
    monkeypatch.setitem(sys.modules, "pymtml", package)
    monkeypatch.setitem(sys.modules, "a.copy", alias)
    hook.Alias("pymtml").exec_module(alias)
    assert sys.modules["a.copy"] is package and package.__path__ == ["folder"] and not hasattr(package, "nvml")


IDENTITY = """
import importlib.util, sys
assert "pymtml" not in sys.modules
before = importlib.util.find_spec("pynvml")
assert before.origin == %r
import pynvml
assert sys.modules["pynvml.nvml"] is pynvml.nvml is pynvml
import pymtml
assert pynvml is pymtml
assert pymtml.__name__ == pymtml.__spec__.name == "pymtml", pymtml.__spec__
assert importlib.util.find_spec("pynvml") is pymtml.__spec__
from pynvml import nvmlInit, nvml
import pynvml.nvml as again
import pynvml.nvml
assert nvml is again is pynvml.nvml is pymtml
assert importlib.reload(pynvml) is pymtml
del sys.modules["pynvml.nvml"]  # as programs do that want a module anew
assert importlib.import_module("pynvml.nvml") is pymtml
pynvml.nvmlInit()
print(pynvml.nvmlDeviceGetCount(), before.name)
""" % os.path.join(FOLDER, "pynvml.py")


def test_pynvml_is_pymtml(variables, tmp_path):
    assert run([sys.executable, "-c", IDENTITY], variables, tmp_path) == "2 pynvml\n"


SMI = "import pynvml.smi, pymtml; assert smi is pynvml.smi; print(nvidia_smi)"
IMPORTS = "from pynvml.smi import nvidia_smi; ", "from pynvml import smi; "
SMI_EITHER_WAY = ["".join(order) + SMI for order in (IMPORTS, IMPORTS[::-1])]


@pytest.mark.parametrize("code", SMI_EITHER_WAY)
def test_smi_of_pynvml_utils(code, variables, tmp_path):
    make_package(tmp_path, "pynvml_utils.smi", "import pynvml, pymtml\nassert pynvml is pymtml\nnvidia_smi = 'utils'\n")
    assert run([sys.executable, "-c", code], variables, tmp_path) == "utils\n"


@pytest.mark.parametrize("code", SMI_EITHER_WAY)
def test_smi_of_an_old_pynvml(code, variables, tmp_path):
    folder = tmp_path / "site"
    make_package(folder, "pynvml.smi", "from pynvml.nvml import nvmlInit\nnvidia_smi = nvmlInit.__module__\n")
    variables["PYTHONPATH"] += os.pathsep + str(folder)
    assert run([sys.executable, "-c", code], variables, tmp_path) == "pymtml\n"


@pytest.mark.parametrize(
    "there, found",
    [
        ((), None),
        (("smi",), None),
        (("pynvml", "smi"), None),
        (("pynvml.nvml", "smi"), None),
        (("pynvml.smi", "pynvml_utils.smi"), os.path.join("pynvml", "smi.py")),
        (("pynvml.nvml", "pynvml_utils.smi"), "pynvml_utils.smi"),
        (("pynvml", "pynvml_utils.smi"), "pynvml_utils.smi"),
    ],
)
def test_which_smi(there, found, tmp_path, monkeypatch):
    """Never a module smi of somebody else's."""
    for name in there:
        make_package(tmp_path, name)
    monkeypatch.setattr(sys, "path", [hook.FOLDER, str(tmp_path)])
    spec = hook.find_smi()
    said = spec and (spec.loader.real if spec.origin is None else os.path.relpath(spec.origin, str(tmp_path)))
    assert said == found


def test_no_smi(variables, tmp_path):
    said = run([sys.executable, "-S", "-c", SHOW + "; import pynvml.smi"], variables, tmp_path, status=1)
    assert "ModuleNotFoundError: No module named 'pynvml.smi'" in said


# ---- what is left alone, and what is changed ----

CHOOSERS = ("clearml_agent.helper.gpu.pynvml", "sglang.multimodal_gen.third_party.pynvml", "vllm.third_party.pynvml")


def test_copies_whose_count_would_choose_cuda(variables, tmp_path):
    for name in CHOOSERS + ("simvue.pynvml",):
        make_package(tmp_path, name, "theirs = True\n")
    imports = "import pymtml, %s\n" % ", ".join(CHOOSERS)
    theirs = " and ".join(name + ".theirs" for name in CHOOSERS)
    run([sys.executable, "-c", imports + "assert " + theirs], variables, tmp_path)
    variables["PYMTML_DROPIN_MODULES"] = "json.tool,  " + ", ".join(CHOOSERS)
    ours = "import json.tool, simvue.pynvml; assert pymtml is simvue.pynvml is json.tool is " + " is ".join(CHOOSERS)
    run([sys.executable, "-c", imports + ours], variables, tmp_path)


MANAGER = """
import os
CUDA_VISIBLE_DEVICES_ENV_VAR = "CUDA_VISIBLE_DEVICES"
NOSET_CUDA_VISIBLE_DEVICES_ENV_VAR = "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"
class NvidiaGPUAcceleratorManager:
    @staticmethod
    def get_resource_name():
        return "GPU"
    @staticmethod
    def get_visible_accelerator_ids_env_var():
        return CUDA_VISIBLE_DEVICES_ENV_VAR
    @staticmethod
    def get_current_process_visible_accelerator_ids():
        return "Ray's own"
    @staticmethod
    def set_current_process_visible_accelerator_ids(ids):
        os.environ[CUDA_VISIBLE_DEVICES_ENV_VAR] = ",".join(ids)
"""

ASK_MANAGER = """
import inspect, json, os, sys
from ray._private.accelerators import nvidia_gpu as module
manager = module.NvidiaGPUAcceleratorManager
source = inspect.getsource(module)
assert manager.get_resource_name() == "GPU" and "Ray's own" in source == module.__loader__.get_source(module.__name__)
print(manager.get_visible_accelerator_ids_env_var(), module.CUDA_VISIBLE_DEVICES_ENV_VAR)
print(module.NOSET_CUDA_VISIBLE_DEVICES_ENV_VAR)
before = dict(os.environ)
for variables in json.loads(sys.argv[1]):
    os.environ.update(variables)
    print(manager.get_current_process_visible_accelerator_ids())
    manager.set_current_process_visible_accelerator_ids(["3", "1"])
    print(os.environ.get("MUSA_VISIBLE_DEVICES"), os.environ.get("CUDA_VISIBLE_DEVICES"))
    os.environ.clear()
    os.environ.update(before)
"""


@pytest.fixture
def ask_ray(variables, tmp_path):
    """What the manager of a Ray says and does, line by line, where each of some variables are set."""
    make_package(tmp_path, "ray._private.accelerators.nvidia_gpu", MANAGER)

    def ask(*cases, **more):
        command = [sys.executable, "-c", ASK_MANAGER, json.dumps(cases or [{}])]
        return run(command, dict(variables, **more), tmp_path).splitlines()

    return ask


def test_ray_hands_out_cards_by_the_variable_of_musa(ask_ray):
    cases = [
        ({}, None),
        ({"MUSA_VISIBLE_DEVICES": "all"}, None),
        ({"MUSA_VISIBLE_DEVICES": " ALL "}, None),
        ({"MUSA_VISIBLE_DEVICES": "4, 5"}, ["4", "5"]),
        ({"MUSA_VISIBLE_DEVICES": ""}, []),
        ({"MUSA_VISIBLE_DEVICES": "NoDevFiles"}, []),
        ({"CUDA_VISIBLE_DEVICES": "4,5"}, ["4", "5"]),
        ({"CUDA_VISIBLE_DEVICES": "4,5", "MUSA_VISIBLE_DEVICES": "1"}, ["1"]),
    ]
    expected = ["MUSA_VISIBLE_DEVICES MUSA_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_MUSA_VISIBLE_DEVICES"]
    for variables, visible in cases:
        expected += [str(visible), "3,1 %s" % variables.get("CUDA_VISIBLE_DEVICES")]
    assert ask_ray(*[variables for variables, _ in cases]) == expected


def test_ray_leaves_the_variable_where_it_is_told_to(ask_ray):
    values = {"1": "None None", "True": "None None", "0": "3,1 None", "": "3,1 None"}
    for vendor in ("MUSA", "CUDA"):
        name = "RAY_EXPERIMENTAL_NOSET_%s_VISIBLE_DEVICES" % vendor
        assert ask_ray(*[{name: value} for value in values])[3::2] == list(values.values())


def test_ray_where_there_is_nothing_of_musa(ask_ray, tmp_path):
    """Without a library, or beside a driver of NVIDIA's, Ray goes on as it is."""
    as_it_is = ["CUDA_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]
    as_it_is += ["Ray's own", "None 3,1"]
    assert ask_ray(PYMTML_LIBRARY=str(tmp_path / "none.so")) == as_it_is
    mark = tmp_path / "proc" / "driver" / "nvidia" / "version"
    mark.parent.mkdir(parents=True)
    mark.write_text("NVRM version: NVIDIA\n")
    assert ask_ray() == as_it_is


def test_ray_in_another_form(ask_ray, variables, tmp_path):
    """A finder that a .pth installs; a Ray that is not there."""
    code = "import sys; sys.path.insert(0, %r); import pymtml_dropin; pymtml_dropin.install(asked=False)\n"
    variables["PYTHONPATH"] = ""
    said = run([sys.executable, "-c", code % simulated.ROOT + ASK_MANAGER, "[{}]"], variables, tmp_path).splitlines()
    assert said[0] == "MUSA_VISIBLE_DEVICES MUSA_VISIBLE_DEVICES"
    shutil.rmtree(str(tmp_path / "ray"))
    assert "No module named 'ray'" in run([sys.executable, "-c", ASK_MANAGER, "[]"], variables, tmp_path, status=1)


# ---- processes ----

SHOW = "import pynvml; pynvml.nvmlInit(); print(pynvml.__name__, pynvml.nvmlDeviceGetCount(), flush=True)"

CHILDREN = """
import multiprocessing, os, subprocess, sys

def show():
    %s

if __name__ == "__main__":
    for method in multiprocessing.get_all_start_methods():
        child = multiprocessing.get_context(method).Process(target=show)
        child.start()
        child.join()
        assert child.exitcode == 0
    subprocess.check_call([sys.executable, "-c", "import program; program.show()"])
""" % (SHOW + "; print(pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(0))[:4], flush=True)")


def test_children(variables, tmp_path):
    """Forked or spawned, they have pymtml for pynvml, and its UUIDs in NVML's form."""
    (tmp_path / "program.py").write_text(CHILDREN)
    methods = 3 if sys.platform.startswith("linux") else 1
    assert run([sys.executable, "program.py"], variables, tmp_path) == "pymtml 2\nGPU-\n" * (methods + 1)


def test_the_users_sitecustomize_runs(variables, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("import sys\nsys.mine = __name__, __file__\nhere = 1\n")
    variables["PYTHONPATH"] += os.pathsep + str(tmp_path / "mine")
    code = SHOW + "; import sys, sitecustomize; print(*sys.mine, sitecustomize.here)"
    said = run([sys.executable, "-c", code], variables, tmp_path)
    assert said == "pymtml 2\nsitecustomize %s 1\n" % (tmp_path / "mine" / "sitecustomize.py")


def test_a_sitecustomize_further_up(variables, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.mine = 1\n")
    variables["PYTHONPATH"] = str(tmp_path) + os.pathsep + FOLDER
    make_package(tmp_path, "py3nvml.py3nvml")
    code = SHOW + "; import py3nvml.py3nvml, sys; print(py3nvml.py3nvml is pynvml, sys.mine)"
    assert run([sys.executable, "-c", code], variables, tmp_path) == "pymtml 2\nTrue 1\n"


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_another_python(version, variables, tmp_path):
    """A Python that has no pymtml gets this one, and a module pymtml of somebody else's stays behind."""
    python = interpreter(version)
    if python is None:
        pytest.skip("there is no Python %s on this machine" % version)
    shutil.copytree(PACKAGE, str(tmp_path / "ours" / "pymtml_dropin"), ignore=wheels.UNCOMPILED)
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path / "ours"))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "pymtml.py").write_text("raise SystemExit('the other one')\n")
    folder = str(tmp_path / "ours" / "pymtml_dropin" / "path")
    variables["PYTHONPATH"] = folder + os.pathsep + str(tmp_path / "theirs")
    code = SHOW + "; import os, sys; ours = os.path.dirname(pynvml.__file__); print(ours, ours in sys.path)"
    # Not even with -S, where the module pynvml of the folder does the work, is the rest of it on the path.
    for options in ([], ["-S"]):
        said = run([python] + options + ["-c", code], variables, tmp_path)
        assert said == "pymtml 2\n%s False\n" % (tmp_path / "ours")


@pytest.mark.parametrize("version", ["2.7", "3.6"])
def test_a_python_too_old(version, variables, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip("there is no Python %s on this machine" % version)
    code = "try:\n    import pynvml\nexcept ImportError:\n    print('without')"
    assert run([python, "-c", code], variables, tmp_path) == "without\n"


# ---- what it does not heed ----


@pytest.mark.parametrize("option", ["-E", "-I"])
def test_isolated(option, variables, tmp_path):
    """Python itself ignores PYTHONPATH then; a finder that a .pth installs ignores PYMTML_DROPIN_MODULES."""
    variables["PYMTML_DROPIN_MODULES"] = "json.tool"
    variables["PYMTML_PROC_ROOT"] = str(tmp_path)
    code = "import sys; sys.path.insert(0, %r); import pymtml_dropin, json.tool; pymtml_dropin.install(asked=False); "
    code += (
        "from pymtml_dropin import hook; print('json.tool' in sys.meta_path[0].names, hook.setting('PYMTML_PROC_ROOT'))"
    )
    code %= simulated.ROOT
    assert run([sys.executable, "-c", code], variables, tmp_path) == "True %s\n" % tmp_path
    assert run([sys.executable, option, "-c", code], variables, tmp_path) == "False None\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has an auxiliary vector in /proc")
@pytest.mark.parametrize("value, raised", [(0, False), (1, True)])
def test_the_kernels_word_on_privileges(tmp_path, value, raised):
    vector = tmp_path / "auxv"
    for words in ([6, 4096, 23, value, 0, 0], [6, 23, 23, value]):
        vector.write_bytes(struct.pack("@%dL" % len(words), *words))
        assert hook.raised_privileges(str(vector)) is raised
    assert hook.raised_privileges(str(tmp_path / "none")) is False


def test_what_else_tells_of_privileges(monkeypatch):
    """The kernel that hides the vector; a user or a group that is not the one who started it. Windows has none."""

    def hidden(path, mode):
        assert (path, mode) == ("/proc/self/auxv", "rb")
        raise PermissionError(path)

    with monkeypatch.context() as patched:
        patched.setattr(hook, "open", hidden, raising=False)
        assert hook.raised_privileges() is True
        patched.delattr(os, "getuid")
        assert hook.raised_privileges() is False
    monkeypatch.setenv("PYMTML_DROPIN_MODULES", "a")
    assert hook.more_names() == {"a"}
    for name in ("geteuid", "getegid"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, lambda: 12345)
            assert hook.raised_privileges("/no such file") is True
            assert hook.more_names() == set() and hook.setting("PYMTML_DROPIN_MODULES") is None


def test_an_nvidia_driver(variables, tmp_path):
    """Whoever names pymtml gets it; a finder that was installed for the whole environment stands aside."""
    mark = tmp_path / "proc" / "driver" / "nvidia" / "version"
    mark.parent.mkdir(parents=True)
    mark.write_text("NVRM version: NVIDIA\n")
    make_package(tmp_path, "py3nvml.py3nvml")
    assert run([sys.executable, "-c", SHOW + "; import py3nvml.py3nvml"], variables, tmp_path) == "pymtml 2\n"
    (tmp_path / "pynvml.py").write_text("print('theirs')\n")
    code = "import sys; sys.path.insert(1, %r); import pymtml_dropin; pymtml_dropin.install(asked=%s); import pynvml"
    code += "; print(pymtml_dropin.stands_in())"
    variables["PYTHONPATH"] = str(tmp_path)
    assert run([sys.executable, "-c", code % (simulated.ROOT, False)], variables, tmp_path) == "theirs\nFalse\n"
    assert run([sys.executable, "-c", code % (simulated.ROOT, True)], variables, tmp_path) == "True\n"
    mark.unlink()
    assert run([sys.executable, "-c", code % (simulated.ROOT, False)], variables, tmp_path) == "True\n"
    code = "import sys; sys.path.insert(1, %r); import pymtml_dropin; print(pymtml_dropin.stands_in())" % simulated.ROOT
    assert run([sys.executable, "-c", code], variables, tmp_path) == "False\n"


@pytest.mark.parametrize(
    "platform, environment, mark",
    [
        ("linux", {}, "/proc/driver/nvidia/version"),
        ("linux", {"PYMTML_PROC_ROOT": "/host/proc"}, "/host/proc/driver/nvidia/version"),
        ("linux", {}, "/usr/lib/wsl/lib/libnvidia-ml.so.1"),
        ("win32", {}, os.path.join("C:\\Windows", "System32", "nvml.dll")),
        ("win32", {"SystemRoot": "D:\\WinNT"}, os.path.join("D:\\WinNT", "System32", "nvml.dll")),
    ],
)
def test_the_marks_of_an_nvidia_driver(platform, environment, mark, monkeypatch):
    monkeypatch.setattr(hook.sys, "platform", platform)
    for name in ("PYMTML_PROC_ROOT", "SystemRoot"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os.path, "exists", lambda path: path == mark)
    found = hook.nvidia_driver()
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    assert (found, hook.nvidia_driver()) == (mark, None)


# ---- programs that know these cards themselves ----

WHOSE = """
def whose():
    try:
        import pynvml
    except ImportError as error:
        return str(error)
    return pynvml.__name__
"""
NONE = "No module named 'pynvml'"


@pytest.fixture
def knowing(variables, tmp_path):
    """Packages that have functions of their own for `whose`, a program, and the environment without mthreads-gmi."""
    for name in ("swanlab.nvidia", "other.nvidia", "other.__main__"):
        make_package(tmp_path, name, WHOSE + "if __name__ == '__main__': print(whose())\n")
    for name in ("tool.py", "xpustat"):
        (tmp_path / name).write_text(
            "from importlib import metadata, util\n" + WHOSE + "print(whose(), end=' ')\n"
            "print('nvidia-ml-py' in map(lambda d: d.metadata['Name'], "
            "metadata.distributions(name='nvidia-ml-py')), util.find_spec('pynvml') is None)\n"
        )
    return dict(variables, PATH=os.defpath, PYTHONPATH=os.pathsep.join([FOLDER, str(tmp_path)]))


def add_mthreads_gmi(folder, variables):
    (folder / "bin").mkdir()
    (folder / "bin" / "mthreads-gmi").write_text("#!/bin/sh\n")
    (folder / "bin" / "mthreads-gmi").chmod(0o755)
    variables["PATH"] = str(folder / "bin") + os.pathsep + variables["PATH"]


PLAIN = os.path.realpath(sys.executable)  # outside of a virtual environment, whose packages may have a pynvml
BY_IMPORT = ["-c", "import other.nvidia, swanlab.nvidia; print(swanlab.nvidia.whose(), other.nvidia.whose(), sep='; ')"]


@pytest.mark.skipif(sys.version_info < (3, 8), reason="importlib.metadata")
@pytest.mark.parametrize(
    "arguments, there, excepted, said",
    [
        (BY_IMPORT, True, "", NONE + "; pymtml"),
        (BY_IMPORT, False, "", "pymtml; pymtml"),
        (BY_IMPORT, False, "tool, other", "pymtml; pymtml"),  # it is loaded by then
        (BY_IMPORT, True, "other", NONE + "; " + NONE),
        (BY_IMPORT, True, "other.nvidia", NONE + "; " + NONE),
        (BY_IMPORT, True, "nvidia other.nvi", NONE + "; pymtml"),
        (["xpustat"], True, "", NONE + " False True"),
        (["xpustat"], False, "", "pymtml True False"),
        (["tool.py"], True, "", "pymtml True False"),
        (["tool.py"], False, "other tool", NONE + " False True"),
        (["-c", "import sys; sys.argv = []; " + BY_IMPORT[1]], False, "", "pymtml; pymtml"),
        (["-m", "other"], False, "other", NONE),
        (["-m", "other"], False, "xpustat", "pymtml"),
    ],
)
def test_programs_that_know_these_cards(knowing, tmp_path, arguments, there, excepted, said):
    """They keep their own pynvml, or none; the others have pymtml, in the same process as well."""
    if there:
        add_mthreads_gmi(tmp_path, knowing)
    knowing["PYMTML_DROPIN_EXCEPT"] = excepted
    assert run([PLAIN] + arguments, knowing, tmp_path).strip() == said
    if arguments is BY_IMPORT and there:
        (tmp_path / "pynvml.py").write_text("")
        assert run([PLAIN] + arguments, knowing, tmp_path).startswith("pynvml")


def test_the_uuids_of_a_program_that_is_left_alone(knowing, tmp_path):
    """Its pymtml, by that name, writes them as MTML does."""
    (tmp_path / "tool.py").write_text(
        "import pymtml\npymtml.nvmlInit()\nprint(pymtml.nvmlDeviceGetUUID(pymtml.nvmlDeviceGetHandleByIndex(0))[:4])\n"
    )
    assert run([sys.executable, "tool.py"], knowing, tmp_path) == "GPU-\n"
    knowing["PYMTML_DROPIN_EXCEPT"] = "tool"
    assert run([sys.executable, "tool.py"], knowing, tmp_path) != "GPU-\n"


UNRELATED = """
import sys
import textwrap
sys.path.insert(0, %r)
before = set(sys.modules)
from pymtml_dropin import install
install(asked=False)
import json, email.message
try:
    import importlib.metadata
    importlib.metadata.version("no-such-distribution")
except ImportError:  # there is none; Python 3.7 lacks the module
    pass
print(sorted(name for name in set(sys.modules) - before if "pymtml" in name))
"""


def test_cost_of_an_unrelated_start(variables, tmp_path):
    """The finder brings one module along, and none more until a name of the table is imported, or asked for: that the
    others are damaged, or gone since the start, is nothing to a program that wants the version of something else."""
    variables["PYTHONPATH"] = ""
    assert run([sys.executable, "-c", UNRELATED % simulated.ROOT], variables, tmp_path) == "['pymtml_dropin']\n"


# ---- pymtml run ----


@pytest.fixture
def command(variables):
    """The command line of `pymtml run`, and its environment: nothing but the checkout on PYTHONPATH."""
    variables["PYTHONPATH"] = simulated.ROOT
    return [sys.executable, "-m", "pymtml", "run"]


def test_forms(command, variables, tmp_path):
    script = "import sys; %s; print(sys.argv[1:])" % SHOW
    (tmp_path / "script.py").write_text(script)
    # The system's own interpreter line takes no path with a blank in it.
    (tmp_path / "program").write_text('#!/bin/sh\nexec \'%s\' -c "%s" "$@"\n' % (sys.executable, script))
    (tmp_path / "program").chmod(0o755)
    expected = "pymtml 2\n['-m', '--', '--nvidia-smi']\n"
    for form in (["script.py"], ["./program"], ["-m", "script"], ["-c", script], ["--", "./program"]):
        said = run(command + form + ["-m", "--", "--nvidia-smi"], variables, tmp_path)
        assert said == expected, form


def test_where_a_program_is_looked_for(command, variables, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("python", "only-here"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\necho path\n")
        (tmp_path / "bin" / name).chmod(0o755)
    variables["PATH"] = str(tmp_path / "bin")
    assert run(command + ["only-here"], variables, tmp_path) == "path\n"
    beside = run(command + ["python", "-c", "import sys; print(sys.prefix)"], variables, tmp_path)
    assert beside == sys.prefix + "\n"


def test_a_program_passes_through(command, variables, tmp_path):
    code = "import sys, os; print(sys.stdin.read(), os.environ['PYTHONPATH']); sys.exit(7)"
    expected = "asked %s\n" % (FOLDER + os.pathsep + simulated.ROOT)
    for nested in (command, command + command):
        done = simulated.run(nested + ["-c", code], env=variables, cwd=str(tmp_path), input="asked")
        assert (done.returncode, done.stdout, done.stderr) == (7, expected, "")


def test_the_form_of_uuids(command, variables, tmp_path):
    """A program has that of the user or the drop-in; what the command prints is MTML's text."""
    variables["PYMTML_UUID"] = "nvml"
    program = command + ["-c", "import os; print(os.environ['PYMTML_UUID'])"]
    assert run(program, variables, tmp_path) == "nvml\n"
    variables["PYTHONPATH"] = FOLDER + os.pathsep + simulated.ROOT
    ask = command[:-1] + ["--query-gpu=uuid", "--format=csv,noheader"]
    uuids = run(ask, variables, tmp_path).split()
    walk = "import pymtml as m; m.mtmlLibraryInit()\nfor index in (0, 1):"
    walk += " print(m.mtmlDeviceGetUUID(m.mtmlLibraryInitDeviceByIndex(index)))"
    assert uuids == run([sys.executable, "-c", walk], variables, tmp_path).split()
    assert not any(uuid.startswith("GPU-") for uuid in uuids)


def test_a_program_with_a_python_of_its_own(command, variables, tmp_path):
    """What PyInstaller made has its mark near the end; it starts all the same, and is told to have no pymtml."""
    program = tmp_path / "frozen"
    program.write_bytes(b"#!/bin/sh\nexit 7\n" + b"x" * 100000 + b"MEI\014\013\012\013\016" + b"\0" * 3000)
    program.chmod(0o755)
    said = run(command + ["./frozen"], variables, tmp_path, status=7)
    assert said == (
        "pymtml: ./frozen was made by PyInstaller and runs a Python of its own, which does not see pymtml; "
        "run its source instead\n"
    )


def test_signals(command, variables, tmp_path):
    """The program is the process that was started, and dies of what it is sent."""
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with subprocess.Popen(
        command + ["-c", code], env=variables, cwd=str(tmp_path), stdout=subprocess.PIPE, universal_newlines=True
    ) as process:
        assert int(process.stdout.readline()) == process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM


def test_a_closed_pipe_ends_the_program(command, variables, tmp_path):
    script = ["sh", "-c", '"$@" sh -c "while echo y; do :; done; echo ignored >&2" | head -1', "sh"]
    assert run(script + command, variables, tmp_path) == "y\n"


def test_nothing_is_left_on_disk(command, variables, tmp_path):
    (tmp_path / "tmp").mkdir()
    variables.update(TMPDIR=str(tmp_path / "tmp"), PYTHONDONTWRITEBYTECODE="1")
    folders = (simulated.ROOT, PACKAGE, FOLDER)
    for folder in folders:  # which another test might make meanwhile
        os.makedirs(os.path.join(folder, "__pycache__"), exist_ok=True)
    time.sleep(0.01)
    before = sorted(os.walk(str(tmp_path)))
    stamps = [os.stat(folder).st_mtime_ns for folder in folders]
    run(command + ["--nvidia-smi", "-c", SHOW], variables, tmp_path)
    assert sorted(os.walk(str(tmp_path))) == before
    assert [os.stat(folder).st_mtime_ns for folder in folders] == stamps


@pytest.mark.parametrize(
    "program, said",
    [
        ("data", "Permission denied"),
        (".", "Permission denied"),
        ("empty", "Exec format error"),
        ("script", "/no/such/sh, which its first line names, is not there"),
    ],
)
def test_what_the_system_does_not_start(command, variables, tmp_path, program, said):
    (tmp_path / "script").write_text("#!/no/such/sh -e\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "data").write_text("")
    (tmp_path / "empty").write_text("")
    (tmp_path / "empty").chmod(0o755)
    expected = "pymtml: cannot run ./%s: %s\n" % (program, said)
    assert run(command + ["./" + program], variables, tmp_path, status=126) == expected


def test_nvidia_smi(command, variables, tmp_path):
    """A command nvidia-smi that is this very command, in the Python that pymtml runs in."""
    code = "import shutil; print(shutil.which('nvidia-smi'))"
    shim = os.path.join(PACKAGE, "bin", "nvidia-smi")
    assert run(command + ["--nvidia-smi", "-c", code], variables, tmp_path) == shim + "\n"
    assert run(command + ["-c", code], variables, tmp_path) != shim + "\n"
    named = dict(variables, PYMTML_COMMAND_NAME="nvidia-smi")
    direct = run([sys.executable, "-m", "pymtml", "--help"], named, tmp_path)
    assert direct.startswith("NVIDIA System Management Interface -- v")
    os.symlink(shim, str(tmp_path / "linked"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text("#!/bin/sh\necho another Python\n")
    (tmp_path / "bin" / "python3").chmod(0o755)
    plain = dict(variables, PYTHONPATH="")
    variables["PATH"] = str(tmp_path / "bin") + os.pathsep + variables["PATH"]
    for program in ("nvidia-smi", "./linked"):
        assert run(command + ["--nvidia-smi", program, "--help"], variables, tmp_path) == direct
    (tmp_path / "json.py").write_text("raise SystemExit('of another Python')\n")
    for broken in ({"PYTHONPATH": str(tmp_path)}, {"PYTHONHOME": "/nowhere"}):  # as modules of a cluster set them
        assert run([shim, "--help"], dict(plain, PYMTML_PYTHON=sys.executable, **broken), tmp_path) == direct
    # Without the variable it is some Python of the user's, which has no pymtml.
    assert run([shim, "--help"], plain, tmp_path) == direct
    said = simulated.run([shim, "--query-gpu=no  such,*"], env=plain, cwd=str(tmp_path)).stdout
    assert said.startswith('Field "no  such" is not a valid field to query.'), "the shell leaves a word as it is"


# ---- the file of `pymtml drop-in enable` ----


@pytest.fixture
def site_folder(tmp_path):
    """A folder of packages with a copy of this one and its .pth file, as `enable` writes it."""
    folder = tmp_path / "site packages \u4e2d"
    folder.mkdir()
    for name in ("pymtml_dropin", "pymtml_cli"):
        shutil.copytree(os.path.join(simulated.ROOT, name), str(folder / name), ignore=wheels.UNCOMPILED)
    wheels.copy_of_module(folder)
    (folder / drop_in.FILE).write_text(drop_in.line(False, str(folder / drop_in.FILE), str(folder)))
    return folder


def start_of_python(folder, variables, *others):
    """What a Python prints that reads the .pth files of folders, one after another: whether pynvml is pymtml."""
    code = "import site\n" + "".join("site.addsitedir(%r)\n" % str(one) for one in (folder,) + others)
    code += "try:\n import pynvml\n print(pynvml.__name__)\nexcept ImportError as error:\n print(error)"
    environment = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    return run([sys.executable, "-S", "-c", code], dict(environment, PYTHONUTF8="1"), "/").strip()


def test_nvidia_smi_takes_nothing_else_of_its_folder(site_folder, variables, tmp_path):
    """What lies beside the packages may be of another Python."""
    (site_folder / "argparse.py").write_text("raise SystemExit('the other one')\n")
    variables.update(PYTHONPATH="", PYMTML_PYTHON=sys.executable)
    shim = [str(site_folder / "pymtml_dropin" / "bin" / "nvidia-smi")]
    # Nor does it need to be among the packages of the Python that runs it.
    alone = [sys.executable, "-S", str(site_folder / "pymtml_dropin" / "nvidia_smi.py")]
    for program in (shim, alone):
        said = run(program + ["health", "--help"], variables, tmp_path)
        assert said.startswith("usage: nvidia-smi health ")


def test_an_nvidia_smi_without_a_shell(variables, tmp_path):
    """As docs/drop-in.md has it."""
    with open(os.path.join(simulated.ROOT, "docs", "drop-in.md"), encoding="utf-8") as page:
        lines = re.search(r"(?m)^ +#!/usr/bin/python3\n((?: +[a-z].*\n)+)", page.read()).group(1)
    script = tmp_path / "nvidia-smi"
    script.write_text("#!%s\n%s" % (sys.executable, textwrap.dedent(lines)))
    script.chmod(0o755)
    assert run([str(script), "health", "--help"], variables, tmp_path).startswith("usage: nvidia-smi health ")


NOT_THERE = "No module named 'pynvml'"


def test_the_file_enables(site_folder, variables):
    assert start_of_python(site_folder, variables) == "pymtml"
    text = (site_folder / drop_in.FILE).read_text()
    assert (text.count("\n"), text[:17], text[-2:]) == (1, "import sys; exec(", ")\n")


@pytest.mark.parametrize(
    "damage", ["x = (", "raise RuntimeError('damaged')", "import no_such_module_of_ours", "\0", "install = 7"]
)
def test_a_damaged_package_is_not_heard_of(site_folder, variables, damage):
    (site_folder / "pymtml_dropin" / "__init__.py").write_text(damage)
    assert start_of_python(site_folder, variables) == NOT_THERE
    assert (site_folder / drop_in.FILE).exists()


def test_a_file_is_read_before_the_packages_that_an_environment_shares(site_folder, variables, tmp_path):
    above = tmp_path / "above"
    above.mkdir()
    os.replace(str(site_folder / drop_in.FILE), str(above / drop_in.FILE))
    (above / drop_in.FILE).write_text(drop_in.line(False, str(above / drop_in.FILE), str(site_folder)))
    assert start_of_python(above, variables, site_folder) == "pymtml"
    assert start_of_python(above, variables) == NOT_THERE.replace("pynvml", "pymtml")  # nor is sys.path changed
    shutil.rmtree(str(site_folder / "pymtml_dropin"))
    assert start_of_python(above, variables, site_folder) == NOT_THERE
    assert os.listdir(str(above)) == []


@pytest.mark.parametrize("left", [False, True], ids=["nothing left", "a folder left"])
def test_what_is_uninstalled_stays_off_when_it_is_installed_again(site_folder, variables, left):
    kept = shutil.copytree(str(site_folder / "pymtml_dropin"), str(site_folder.parent / "kept"))
    shutil.rmtree(str(site_folder / "pymtml_dropin"))
    if left:  # with what another Python compiled in it, say; Python takes it for a package
        (site_folder / "pymtml_dropin").mkdir()
    assert start_of_python(site_folder, variables) == NOT_THERE
    shutil.rmtree(str(site_folder / "pymtml_dropin"), ignore_errors=True)
    shutil.copytree(kept, str(site_folder / "pymtml_dropin"))
    assert start_of_python(site_folder, variables) == NOT_THERE
    assert not (site_folder / drop_in.FILE).exists()


def test_a_package_that_is_being_replaced_stays_on(site_folder, variables):
    """While pip replaces a package, the old one lies beside it under a name that begins with ~."""
    os.rename(str(site_folder / "pymtml_dropin"), str(site_folder / "~ymtml_dropin"))
    assert start_of_python(site_folder, variables) == NOT_THERE
    os.rename(str(site_folder / "~ymtml_dropin"), str(site_folder / "pymtml_dropin"))
    assert start_of_python(site_folder, variables) == "pymtml"


@pytest.mark.parametrize("folder", [None, "/no/such/folder"])
def test_a_package_elsewhere_may_be_out_of_sight(folder, site_folder, variables):
    """As of an editable install: what is not beside the file may come and go with the path. A folder that was moved."""
    (site_folder / drop_in.FILE).write_text(drop_in.line(False, str(site_folder / drop_in.FILE), folder))
    shutil.rmtree(str(site_folder / "pymtml_dropin"))
    assert start_of_python(site_folder, variables) == NOT_THERE
    assert (site_folder / drop_in.FILE).exists()


def test_who_disables_second_has_nothing_to_do(tmp_path, monkeypatch, capsys):
    file = tmp_path / drop_in.FILE
    monkeypatch.setattr(drop_in, "enabled", lambda *folders: [str(file)])
    assert drop_in.disable() == 0
    assert capsys.readouterr().err == ""
