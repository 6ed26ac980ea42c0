"""The machine as files of sysfs, /dev and /proc."""

import json
import os
import struct
import subprocess
import sys

import packaged
import profiles
import pytest
from mtml_simulator import driver_files
from packaged import command, environment, run, run_tests

pytestmark = packaged.needs_python_3_8
UNSHARE = ["unshare", "--map-root-user", "--mount", "sh", "-c", "mount --bind /tmp /sys/bus/pci/devices"]


def may_mount():
    try:
        return subprocess.call(UNSHARE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


needs_mounts = pytest.mark.skipif(not may_mount(), reason="user namespaces with mounts are not allowed here")


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def read(*parts):
    with open(os.path.join(*map(str, parts)), errors="replace") as file:
        return file.read().rstrip("\n")


def tree(tmp_path, name):
    done = command("tree", name, str(tmp_path / name))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return tmp_path / name


NAMES = sorted(name[:-4] for name in os.listdir(os.path.join(packaged.SIMULATOR, "profiles")))


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """The folder of the trees of all profiles, which one process has written."""
    folder = tmp_path_factory.mktemp("trees")
    code = "import sys\nfrom mtml_simulator.__main__ import main\n"
    code += "sys.exit(max([main(['tree', name, name]) for name in sys.argv[1:]]))"
    done = run([sys.executable, "-c", code] + NAMES, cwd=str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_every_profile(trees, name):
    root = trees / name
    parser = profiles.read(name)
    cards = [section for section in parser.sections() if section.startswith("device.") and section.count(".") == 1]
    shown = [entry for entry in (root / "sys/bus/pci/devices").iterdir() if read(entry, "vendor") == "0x1ed5"]
    assert len(shown) == len(cards)
    assert len(list((root / "proc/driver/musa").glob("gpu*"))) <= len(cards)
    for entry in shown:
        assert entry.is_symlink() and not os.path.isabs(os.readlink(str(entry)))
        assert (entry / "config").read_bytes()[:2] == b"\xd5\x1e"
        assert int(read(entry, "class"), 16) >> 16 == 3


def test_values(trees):
    root = trees / "s5000x8"
    keys = profiles.read("s5000x8")["device.5"]
    card = root / "sys/bus/pci/devices/0000:ba:00.0"
    if not card.exists():
        card = root / "sys/bus/pci/devices" / ("0000:%02x:00.0" % int(keys["pci_bus"]))
    assert [read(card, name) for name in ("vendor", "device", "numa_node")] == ["0x1ed5", "0x0400", keys["numa_node"]]
    assert read(card, "current_link_width") == keys["pci_cur_width"]
    assert read(card, "max_link_speed").startswith("%.1f GT/s" % float(keys["pci_max_speed"]))
    assert read(card, "local_cpulist") == keys["cpu_affinity"]
    assert read(card, "irq") == "104"
    assert os.path.basename(os.readlink(str(card / "driver"))) == "mtgpu"
    assert (root / "dev/mtgpu.5").is_file() and (root / "dev/dri/renderD133").is_file()
    assert read(card, "revision") == "0x01" and (card / "config").read_bytes()[8] == 1
    # No driver up to 3.0.0 can have it.
    assert (root / "sys/module/mtgpu").is_dir() and not (root / "sys/module/mtgpu/version").exists()
    # Cards below one host bridge have one root, others another.
    roots = {os.path.realpath(str(path)).split("/devices/pci")[1][:7] for path in card.parent.iterdir()}
    assert len(roots) == len({profiles.read("s5000x8")["device.%d" % n]["host_bridge"] for n in range(8)})


def test_values_of_which_no_two_are_alike(tmp_path):
    done = command("tree", os.path.join(packaged.ROOT, "tests", "distinct.ini"), str(tmp_path / "tree"))
    assert done.returncode == 0
    card = tmp_path / "tree/sys/bus/pci/devices/0000:2a:00.0"
    names = ("subsystem_vendor", "subsystem_device", "current_link_width", "max_link_width")
    assert [read(card, name) for name in names] == ["0x1ed5", "0x0401", "4", "16"]
    assert [read(card, name)[:4] for name in ("current_link_speed", "max_link_speed")] == ["8.0 ", "32.0"]
    kind = "pci:v00001ED5d00000400sv00001ED5sd00000401bc03sc00i00"
    uevent = (
        "DRIVER=mtgpu PCI_CLASS=30000 PCI_ID=1ED5:0400 PCI_SUBSYS_ID=1ED5:0401 PCI_SLOT_NAME=0000:2a:00.0 MODALIAS="
    )
    assert read(card, "uevent").split() == (uevent + kind).split()
    assert [read(card, "modalias"), read(card, "class")] == [kind, "0x030000"]
    # Where PCI has them
    assert struct.unpack_from("<HH", (card / "config").read_bytes(), 0x2C) == (0x1ED5, 0x0401)


def test_driver_files(trees):
    root = trees / "s5000x8" / "proc/driver/musa"
    keys = profiles.read("s5000x8")["device.5"]
    assert (root / "version").read_bytes() == driver_files.version("5.1.0-server")
    files = {path.name: path.read_bytes() for path in (root / "gpu05").iterdir()}
    used, system = int(keys["memory_used"]), int(profiles.read("s5000x8")["device"]["memory_used_system"])
    assert files == {
        "devname": b"mtgpu.5\n",
        "vram_info": driver_files.vram_info(85899345920),
        "proc_util": driver_files.process_table(device=(5, 133)),
        "status": driver_files.status(41, (5, 2, 10, 41), number=5),
        "memory": driver_files.memory(used, system),
        "int_status": driver_files.int_status(104, [0] * 8),
        "event_report": b"",
    }


def test_driver_files_of_older_drivers(trees, tmp_path):
    """Each file is there from the first driver on whose sources have it."""
    card = trees / "s80-narrow-slot" / "proc/driver/musa/gpu00"
    assert read(card, "proc_util").splitlines() == ["device:    (0, 128)", driver_files.HEADS_OF_2_7]
    assert (card / "status").read_bytes() == driver_files.status(older=True)
    assert (card / "event_report").exists() and not (card / "int_status").exists()
    there, musa = {"devname", "vram_info", "status", "memory"}, tmp_path / "proc/driver/musa"
    for version, more in (("2.4.9", ""), ("2.5", "proc_util"), ("2.7.0", "event_report"), ("3.0", "int_status")):
        environ = environment(MTML_SIM_SET="machine.driver_version=" + version)
        assert command("tree", "s80", str(tmp_path), environ=environ).returncode == 0
        there |= {more} - {""}
        assert {path.name for path in (musa / "gpu00").iterdir()} == there
        assert (musa / "version").exists() == ("event_report" in there)


def test_instances(trees):
    root = trees / "s3000-mpc" / "proc/driver/musa"
    assert sorted(path.name for path in (root / "gpu00/mpc").iterdir()) == ["gi0", "gi1", "gi2"]
    assert (root / "gpu00/mpc/gi0/memory").read_bytes() == driver_files.memory(7516192768, 67108864)
    assert (root / "gpu00/mpc/gi0/status").read_bytes().count(b" 80%\n") == 1
    assert not (root / "gpu00/mpc/gi0/devname").exists() and not (root / "gpu01/mpc").exists()


def test_rows_of_processes(tmp_path):
    """Processes have equal parts of what the card does, an idle one no row; without displays nothing is drawn."""
    values = "0.processes=60 - /usr/bin/a b, 61 5 c;6.processes=7 - d"
    done = command("tree", "s5000x8", str(tmp_path), environ=environment(MTML_SIM_SET=values))
    assert done.returncode == 0, done.stderr
    rows = [driver_files.process_row(60, 60, (48, 3, 0, 0, 48, 0), "a")]
    rows += [driver_files.process_row(61, 61, (48, 3, 0, 0, 48, 0), "c")]
    tables = tmp_path / "proc/driver/musa"
    assert (tables / "gpu00/proc_util").read_bytes() == driver_files.process_table(*rows)
    assert (tables / "gpu06/proc_util").read_bytes() == driver_files.process_table(device=(6, 134))
    assert os.readlink(str(tmp_path / "proc/7/fd/3")) == "/dev/mtgpu.6"


def test_without_a_driver(trees):
    root = trees / "no-driver"
    assert not (root / "sys/module").exists() and not (root / "proc/driver").exists()


def test_a_container_sees_the_nodes_of_its_cards_only(trees):
    root = trees / "s5000x8-container"
    assert sorted(path.name for path in (root / "dev").glob("mtgpu*")) == ["mtgpu.2", "mtgpu.5"]
    vendors = [read(entry, "vendor") for entry in (root / "sys/bus/pci/devices").iterdir()]
    assert vendors.count("0x1ed5") == 8
    # As a container does that has one of eight genuine S5000.
    assert len(list((root / "proc/driver/musa").glob("gpu0*"))) == 8


def test_again_and_elsewhere(tmp_path):
    root = tree(tmp_path, "s80")
    assert command("tree", "s4000x8", str(root)).returncode == 0
    assert not (root / "sys/bus/pci/devices/0000:01:00.0").exists() or len(list((root / "dev").glob("mtgpu*"))) == 8
    os.rename(str(root), str(tmp_path / "moved"))
    assert read(tmp_path, "moved/sys/bus/pci/devices/0000:08:00.0/vendor") == "0x1ed5"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("precious")
    done = command("tree", "s80", str(tmp_path / "mine"))
    assert done.returncode == 2 and "is not empty" in done.stderr
    assert read(tmp_path, "mine/file") == "precious"


@pytest.mark.parametrize("how", ["tree", "exec"])
def test_nothing_is_written_outside(tmp_path, how):
    file = tmp_path / "mine.ini"
    file.write_text("[machine]\nlibrary_version = 1-simulator\n[device.0]\nrender_path = /dev/../../out\n")
    before = set(tmp_path.iterdir())
    arguments = {"tree": ["tree", str(file), "made/tree"], "exec": ["exec", "--tree", str(file), "--", "echo", "ran"]}
    done = command(*arguments[how], cwd=str(tmp_path), environ=environment(TMPDIR=str(tmp_path)))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mtml simulator: %s:4: [device.0] render_path: a path " % file)
    assert set(tmp_path.iterdir()) == before


def test_links_in_the_folder_are_not_followed(tmp_path):
    for part in ("sys", "dev", "proc"):
        outside, root = tmp_path / ("outside-" + part), tmp_path / ("tree-" + part)
        outside.mkdir()
        (outside / "file").write_text("precious")
        root.mkdir()
        (root / part).symlink_to(outside)
        assert command("tree", "s80", str(root)).returncode == 2
        assert [path.name for path in outside.iterdir()] == ["file"] and read(outside / "file") == "precious"
    # Links that lie deeper go with the tree before.
    root = tree(tmp_path, "s80")
    (root / "dev" / "mtgpu.0").unlink()
    (root / "dev" / "mtgpu.0").symlink_to(outside / "file")
    tree(tmp_path, "s80")
    assert read(outside / "file") == "precious"


def test_fixture(tmp_path):
    suite = r'''
import os
import struct
import subprocess
import sys
import time

import pymtml as nvml
import pytest
from mtml_simulator import driver_files


def test(mtml_simulator):
    mtml_simulator.set("0.numa_node", 1)
    mtml_simulator.set("0.processes", "4242 2048 python worker.py, 17 - sleep")
    mtml_simulator.set("1.processes", "4242 5 python worker.py")
    root = mtml_simulator.tree()
    nvml.nvmlInit()
    device = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceGetNumaNodeId(device) == 1
    info = nvml.nvmlPciInfoExt_v1_t()
    info.version = nvml.nvmlPciInfoExt_v1
    nvml.nvmlDeviceGetPciInfoExt(device, info)
    assert (info.baseClass, info.subClass) == (3, 2)
    assert sorted(p.pid for p in nvml.nvmlDeviceGetComputeRunningProcesses(device)) == [17, 4242]
    assert nvml.nvmlSystemGetProcessName(4242) == "python"
    assert [p.pid for p in nvml.nvmlDeviceGetComputeRunningProcesses(nvml.nvmlDeviceGetHandleByIndex(1))] == [4242]
    assert nvml.nvmlDeviceGetComputeRunningProcesses(nvml.nvmlDeviceGetHandleByIndex(2)) == []
    nvml.nvmlShutdown()
    shown = subprocess.run(["mthreads-gmi"], stdout=subprocess.PIPE).stdout.decode()
    assert shown.count("python worker.py") == 2 and "2048MiB" in shown
    assert os.path.exists(os.path.join(root, "dev", "mtgpu.7"))
    for number in range(8):
        mtml_simulator.set("%d.gpu_path" % number, "/dev/one")
    assert os.listdir(os.path.join(mtml_simulator.tree(), "dev")).count("one") == 1
    with pytest.raises(ValueError, match="a path below /dev"):
        mtml_simulator.set("0.gpu_path", "/dev/../one")


MEMORY = """
import pymtml as nvml
nvml.nvmlInit()
for number in range(2):
    handle = nvml.nvmlDeviceGetHandleByIndex(number)
    print({p.pid: p.usedGpuMemory for p in nvml.nvmlDeviceGetComputeRunningProcesses(handle)})
"""


def test_nodes(mtml_simulator, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    mtml_simulator.set("0.processes", "4242 2048 python worker.py, 17 1 sleep")
    mtml_simulator.set("1.processes", "4242 5 python worker.py, 18 - other")
    mtml_simulator.tree()
    folder = mtml_simulator.nodes()
    said = subprocess.run([sys.executable, "-c", MEMORY], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert said.splitlines() == [str({17: 1 << 20, 4242: 2 << 30}), str({18: None, 4242: None})]
    with open(os.path.join(folder, "calls")) as file:
        assert [line.split()[1:3] for line in file] == [["mtgpu.%d" % card, "0xa3104da7"] for card in range(2)]
    assert mtml_simulator.nodes() == folder and not os.path.exists(os.path.join(folder, "calls"))
    assert os.environ["LD_PRELOAD"].split(":")[1:] == ["libm.so.6"]


def reported(root, card=0):
    with open("%s/proc/driver/musa/gpu%02x/event_report" % (root, card), "rb") as file:
        data = file.read()
    return [data[start : start + 256] for start in range(0, len(data), 256)]


def test_xids(mtml_simulator):
    mtml_simulator.set("0.xid", '0x05000002 warn host pid=7 "it, and more"')
    mtml_simulator.set("3.mtlink_state.2", "DOWN")
    begin = int(time.time())
    root = mtml_simulator.tree()
    (record,) = reported(root)
    seconds = struct.unpack_from("<Q", record, 40)[0]
    assert begin <= seconds <= time.time()
    uuid, bus = mtml_simulator.get("0.uuid"), int(mtml_simulator.get("0.pci_bus"), 0)
    expected = (0x05000002, "it, and more", "warn", "host", uuid, seconds, bus, 7)
    assert record == driver_files.event_record(*expected)
    assert reported(root, 1) == []
    numbers = lambda card: [struct.unpack_from("<I", record, 28)[0] for record in reported(root, card)]
    assert numbers(3) == [0x07000001]
    # From now on as it happens.
    mtml_simulator.set("0.xid", "83886082 notify process")
    assert reported(root)[0] == record and reported(root)[1][64:66] == b"\n\0"
    mtml_simulator.lose(1)
    mtml_simulator.lose(1, "TIMEOUT")  # is lost already
    mtml_simulator.heal(1)
    mtml_simulator.lose(1)
    mtml_simulator.set("3.mtlink_state.4", "DOWN")
    mtml_simulator.set("3.mtlink_state.2", "UP")
    assert (numbers(1), numbers(3)) == ([0x06000001] * 2, [0x07000001] * 2)
    for number in range(51):
        mtml_simulator.set("*.xid", "%d fatal gpu" % number)
    assert numbers(7) == list(range(1, 51))
    with pytest.raises(ValueError, match="not NUMBER SEVERITY SCOPE"):
        mtml_simulator.set("0.xid", "5 fatal gpu text")


def test_no_xids_of_drivers_that_have_others(mtml_simulator):
    mtml_simulator.profile("old-library")
    mtml_simulator.set("0.xid", "1 fatal gpu")
    root = mtml_simulator.tree()
    mtml_simulator.lose(0)
    assert reported(root) == []


def test_displays(mtml_simulator):
    mtml_simulator.profile("s80")
    mtml_simulator.tree()
    mtml_simulator.nodes()  # whose variables are gone in the next test, as those of the tree
    nvml.nvmlInit()
    device = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceGetDisplayMode(device) == 0 == nvml.nvmlDeviceGetDisplayActive(device)
    nvml.nvmlShutdown()


def test_gone(mtml_simulator):
    assert "LD_PRELOAD" not in os.environ and "MTML_SIM_NODES" not in os.environ
    assert "PYMTML_SYS_ROOT" not in os.environ and "PYMTML_PROC_ROOT" not in os.environ


def test_gone_without():
    assert "PYMTML_SYS_ROOT" not in os.environ
'''
    done = run_tests(tmp_path, test_tree=suite)
    assert done.returncode == 0, done.stdout


# What gpustack-runtime does: vendor and class of all devices, by Python's own means.
DETECTOR = r"""
import json, os
import pymtml

found = {}
for name in os.listdir("/sys/bus/pci/devices"):
    folder = os.path.join("/sys/bus/pci/devices", name)
    try:
        with open(folder + "/vendor") as file:
            vendor = file.read().strip()
    except OSError:
        continue
    if vendor == "0x1ed5":
        found[name] = [len(open(folder + "/config", "rb").read()), os.path.realpath(folder).split("/")[-3][:3]]
    else:
        found.setdefault("others", []).append(name)
pymtml.nvmlInit()
node = pymtml.nvmlDeviceGetNumaNodeId(pymtml.nvmlDeviceGetHandleByIndex(7))
print(json.dumps([found, pymtml.nvmlDeviceGetCount(), node, os.getpid()]))
pymtml.nvmlShutdown()
"""


@needs_mounts
def test_programs_that_read_sysfs(tmp_path):
    environ = environment(TMPDIR=str(tmp_path))
    arguments = [sys.executable, "-m", "mtml_simulator", "exec", "--tree", "s4000x8+frozen", "--", sys.executable]
    process = subprocess.Popen(
        arguments + ["-c", DETECTOR], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    said, problem = process.communicate(timeout=100)
    assert process.returncode == 0, problem
    found, count, node, pid = json.loads(said.decode())
    others = set(found.pop("others"))
    assert len(found) == count == 8 and "0000:08:00.0" in found
    assert all(entry == [64, "pci"] for entry in found.values())
    assert str(node) == profiles.read("s4000x8")["device.7"]["numa_node"]
    assert pid == process.pid, "signals reach the program itself"
    # The host's own are there still, and nothing is different outside.
    assert others >= set(os.listdir("/sys/bus/pci/devices"))
    assert not os.path.exists("/sys/bus/pci/devices/.simulated")


def test_where_it_is_refused(tmp_path):
    """The program runs all the same, pymtml has the tree, and one line says what is missing."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "unshare").chmod(0o755)
    environ = environment(TMPDIR=str(tmp_path), PATH=str(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    code = "import os; print(os.listdir(os.environ['PYMTML_SYS_ROOT'] + '/bus/pci/drivers/mtgpu'))"
    arguments = ["-m", "mtml_simulator", "exec", "--tree", "s80", "--", sys.executable, "-c", code]
    done = run([sys.executable] + arguments, environ)
    assert (done.returncode, done.stdout) == (0, "['0000:01:00.0']\n")
    assert done.stderr.count("\n") == 1 and "/sys/bus/pci/devices cannot be replaced here" in done.stderr


@needs_mounts
@pytest.mark.programs
def test_gpustack_runtime(tmp_path):
    environ = {name: value for name, value in os.environ.items() if not name.startswith(packaged.OURS)}
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, env=environ)
    binaries = tmp_path / "venv" / "bin"
    subprocess.run([str(binaries / "pip"), "install", "-q", "gpustack-runtime==0.2.6"], check=True, env=environ)
    done = command("exec", "--tree", "s4000x8+frozen", "--", str(binaries / "gpustack-runtime"), "detect")
    assert done.stdout.count("MTT S4000") == 8, done.stdout + done.stderr
