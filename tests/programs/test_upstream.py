"""examples/upstream: with the patches the pinned releases find Moore Threads cards without the drop-in."""

import json
import os
import shutil
import subprocess
import tempfile

import pytest
import wheels
from machines import ROOT, Machine
from program_set import NVITOP, RAY

pytestmark = pytest.mark.programs
PROGRAMS = {"test_nvitop": NVITOP, "test_nvitop_is_unchanged": NVITOP, "test_ray": RAY, "test_ray_hands_out": RAY}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Where the packages are that have their patch ({program: path}); made at the first question."""
    made = {}
    yield made
    for path in made.values():
        shutil.rmtree(path)


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    return wheels.vendor(tmp_path_factory)


@pytest.fixture
def patched(runner, folders, tmp_path_factory):
    """A function: the environment in which a program has its patch, and pymtml is one package among others.

    `binding` is another folder with a module of that name. Without a machine there is no library.
    """

    def make(program):
        find = "import %s, os; print(os.path.dirname(%s.__file__))" % (program.package, program.package)
        plain = runner.run([program.python, "-c", find], runner._environment()).strip()
        folder = str(tmp_path_factory.mktemp("patched-" + program.package))
        # Links to the files, but for those that the patch changes: a patch never writes to what is installed.
        subprocess.run(["cp", "-rs", plain, folder], check=True)
        patch = os.path.join(ROOT, "examples", "upstream", program.package + ".patch")
        with open(patch) as file:
            changed = [line.split("a/", 1)[1].strip() for line in file if line.startswith("--- a/")]
        for path in (os.path.join(folder, name) for name in changed):
            if os.path.exists(path):
                text = open(path, "rb").read()
                os.unlink(path)
                with open(path, "wb") as file:
                    file.write(text)
        subprocess.run(["patch", "-p1", "--fuzz=0", "-s", "-d", folder, "-i", patch], check=True)
        return folder

    def environment(program, machine, binding=None):
        if program.package not in folders:
            folders[program.package] = make(program)
        path = os.pathsep.join([folders[program.package], binding or runner.site])
        return dict(runner.on_pymtml(machine) if machine else runner._environment(), PYTHONPATH=path)

    return environment


DEVICES = """
import json
from nvitop import Device
import pynvml
devices = Device.all()
print(json.dumps([pynvml.__name__, [[d.index, d.name(), d.uuid(), d.memory_used(), d.temperature()] for d in devices]]))
"""


def test_nvitop(runner, patched, machine):
    """With [its patch](../examples/upstream/README.md): its devices and its screen."""
    environment = patched(NVITOP, machine)
    module, devices = runner.evaluate(NVITOP, DEVICES, environment)
    assert module == "pymtml"
    for gpu, (index, name, uuid, used, temperature) in zip(machine.gpus, devices):
        assert (index, name, used) == (gpu.index, gpu.name, gpu.memory_used)
        assert (uuid, temperature) == (gpu.uuid, gpu.gpu_temperature)
    shown = runner.run([NVITOP.python, "-m", "nvitop", "-1"], environment)
    assert shown.count(machine.gpus[0].name.replace("MTT ", "")) >= 8


@pytest.mark.parametrize("profile", ["s5000x8", "empty", "no-driver", None])
@pytest.mark.parametrize("beside", ["a driver of NVIDIA's", "this module", "the vendor's module"])
def test_nvitop_is_unchanged(runner, standin, vendor, patched, tmp_path, beside, profile):
    """Its patch changes nothing with NVIDIA's library, without a card, and with the vendor's `pymtml`."""
    machine = Machine(tmp_path, profile) if profile else None
    environment = patched(NVITOP, machine, vendor if beside == "the vendor's module" else None)
    if beside == "a driver of NVIDIA's":
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [environment.get("LD_LIBRARY_PATH"), standin]))
    code = "import nvitop.api.libnvml, pynvml; print(pynvml.__name__)"
    expected = "pymtml" if (beside, profile) == ("this module", "s5000x8") else "pynvml"
    assert runner.run([NVITOP.python, "-c", code], environment).strip() == expected


MANAGER = """
import json
from ray._private.accelerators import get_accelerator_manager_for_resource
manager = get_accelerator_manager_for_resource("GPU")
print(json.dumps([manager.__name__, manager.get_current_node_num_accelerators(),
                  manager.get_current_node_accelerator_type()]))
"""


@pytest.mark.parametrize("binding", ["this module", "the vendor's module"])
@pytest.mark.parametrize(
    "profile, lost, found",
    [
        ("s5000x8", None, ["MTGPUAcceleratorManager", 8, "S5000"]),
        ("s5000x8", 0, ["MTGPUAcceleratorManager", 8, "S5000"]),
        ("s3000-mpc", None, ["MTGPUAcceleratorManager", 2, "S3000"]),
        ("s5000x8-container", None, ["MTGPUAcceleratorManager", 2, "S5000"]),
        ("no-driver", None, ["NvidiaGPUAcceleratorManager", 0, None]),
        (None, None, ["NvidiaGPUAcceleratorManager", 0, None]),
    ],
)
def test_ray(runner, vendor, patched, tmp_path, profile, lost, found, binding):
    """With [its patch](../examples/upstream/README.md): count and type, by either `pymtml`."""
    machine = Machine(tmp_path, profile) if profile else None
    if lost is not None:
        machine.parser[machine.sections[lost]]["lost"] = "UNKNOWN"
        machine.write()
    environment = patched(RAY, machine, vendor if binding == "the vendor's module" else None)
    assert runner.evaluate(RAY, MANAGER, environment) == found


TASKS = """
import json, os
import ray

@ray.remote
def look():
    return [os.environ.get("MUSA_VISIBLE_DEVICES"), os.environ.get("CUDA_VISIBLE_DEVICES"), sorted(ray.get_gpu_ids())]

ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False,
         _temp_dir=os.environ["RAY_FOLDER"])
print(json.dumps([ray.cluster_resources().get("GPU", 0), ray.get(look.options(num_gpus=2).remote(), timeout=60)]))
"""


@pytest.mark.parametrize("visible", [None, "6,1,4"])
def test_ray_hands_out(runner, patched, tmp_path, visible):
    """With the patch: tasks get their cards in `MUSA_VISIBLE_DEVICES`."""
    environment = patched(RAY, Machine(tmp_path))
    if visible:
        environment["MUSA_VISIBLE_DEVICES"] = visible
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        environment.update(RAY_USAGE_STATS_ENABLED="0", RAY_FOLDER=folder)
        count, (musa, cuda, ids) = json.loads(runner.run([RAY.python, "-c", TASKS], environment).splitlines()[-1])
    chosen = visible.split(",") if visible else [str(index) for index in range(8)]
    assert count == len(chosen)
    assert len(musa.split(",")) == 2 and set(musa.split(",")) <= set(chosen)
    assert sorted(musa.split(",")) == sorted(map(str, ids)) and cuda is None
