"""A simulated machine as files: what programs read of it in sysfs, /dev and /proc.

DIR/sys has the PCI devices (vendor, device, class, numa_node, link, config ...), the DRM class with connectors, and the
module; DIR/dev the device nodes, as empty files; DIR/proc the driver's files, and the processes that the key
`processes` gives the cards. Ordinary programs read /sys itself: `exec --tree` puts the PCI devices there, where the
system lets an ordinary user do so.
"""

import errno
import os
import re
import shutil
import struct
import time
from typing import Dict, Iterator, List, Optional, Protocol, Sequence, Tuple, Union

from . import driver_files, places

VENDOR = 0x1ED5
PCI_DEVICES = "/sys/bus/pci/devices"
# Bridges between a card and its host: any vendor's.
_BRIDGE_VENDOR, _BRIDGE_DEVICE, _BRIDGE_CLASS = 0x1B36, 0x000C, 0x060400
# An S5000 is a 3D controller of revision 1. Drivers take boards with outputs for display controllers as well
# (elysia-best/mtgpu, inc/mtgpu/mtgpu_defs.h); the revision of other boards is not known.
_DISPLAY, _COMPUTE = 0x030000, 0x030200
_REVISION = 1
# The drivers (major, minor) that have a table of processes, and version and event_report, were the first ones in
# dixyes/mtgpu-drv. After 2.7.0 heads and words changed; the form of int_status is known from newer ones only.
_TABLES, _REPORTS, _NEWER = (2, 5), (2, 7), (3, 0)
_INTERRUPTS = 8
# The key xid: the record that a card has written last.
_XID = re.compile(r'(\w+)\s+(\w+)\s+(\w+)(?:\s+pid=(\w+))?(?:\s+"([^"]*)")?')


class Reads(Protocol):
    """A machine whose values can be read."""

    def cards(self) -> int:
        """Number of cards (int)."""

    def get(self, key: str) -> str:
        """A value, such as 0.name, as a profile has it (str)."""


def _write(text: Union[str, bytes], *parts: str) -> None:
    """A new file: none that is there is followed or overwritten."""
    path = os.path.join(*parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def _link(target: str, *parts: str) -> None:
    """A symbolic link to a path, relative so that the tree may be moved."""
    path = os.path.join(*parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(os.path.relpath(target, os.path.dirname(path)), path)


class _Card:
    """What the tree shows of one card, or of an instance of it, by what its keys begin with."""

    def __init__(self, machine: Reads, number: int, prefix: str = "") -> None:
        self._machine = machine
        self.number = number
        self._prefix = prefix or "%d." % number
        self.address = "%04x:%02x:%02x.0" % (self("pci_segment"), self("pci_bus"), self("pci_device"))
        self.visible = self.text("visible") == "yes"

    def text(self, key: str) -> str:
        return self._machine.get(self._prefix + key)

    def __call__(self, key: str) -> int:
        return int(self.text(key), 0)

    def displays(self) -> List[str]:
        """Types of its outputs (list of str)."""
        return [entry.split()[0] for entry in self.text("displays").split(",") if entry.strip()]

    def node(self, key: str) -> str:
        """Name of a device node, such as dri/card0, or empty."""
        path = self.text(key)
        return path[len("/dev/") :] if path.startswith("/dev/") else ""

    @property
    def interrupt(self) -> int:
        """Number of its first interrupt (int)."""
        return 64 + _INTERRUPTS * self.number

    def render_minor(self) -> int:
        """Minor number of its render node (int)."""
        digits = re.search(r"\d+$", self.node("render_path"))
        return int(digits.group()) if digits else 128 + self.number

    def engines(self) -> List[int]:
        """Percentages of geometry, 2D, 3D and compute (list of int)."""
        found = [int(value) for value in self.text("engine_utilization").split(",") if value.strip()]
        return (found + [0] * 4)[:4]

    def processes(self) -> Iterator[Tuple[int, Optional[int], str]]:
        """(pid, MiB or None, name) for each."""
        for entry in filter(None, map(str.strip, self.text("processes").split(","))):
            pid, memory, name = entry.split(None, 2)
            yield int(pid), None if memory == "-" else int(memory), name

    def rows(self) -> List[bytes]:
        """Rows of the driver's table: the processes have equal parts of what the card does; an idle one has no row."""
        found = list(self.processes())
        if not found or not self("gpu_utilization"):
            return []
        geometry, two, three, compute = (
            self.engines() if self.displays() else [0, self.engines()[1], 0, self.engines()[3]]
        )
        shares = [value // len(found) for value in (self("gpu_utilization"), two, geometry, three, compute, 0)]
        return [
            driver_files.process_row(pid, pid, shares, driver_files.short_name(name.split()[0]))
            for pid, _, name in found
        ]

    def troubles(self) -> List[str]:
        """XIDs of what is wrong with it, in the form of the key xid (list of str).

        The numbers are the driver's (elysia-best/mtgpu, inc/mtgpu/mtgpu_event_report.h); severity, scope and text of a
        genuine record of these are not known.
        """
        lost, states = self.text("lost"), self.text("mtlink_state").split(", ")
        found = [] if lost == "OK" or "@" in lost else ['0x06000001 fatal gpu "GPU has fallen off the bus"']
        for link in range(self("mtlink_count")):
            if states[min(link, len(states) - 1)] == "DOWN":
                found.append('0x07000001 warn gpu "MTLink %d is down"' % link)
        return found

    def record(self, text: str) -> bytes:
        """A record of now of an XID in the form of the key xid (bytes)."""
        match = _XID.fullmatch(text.strip())
        assert match
        number, severity, scope, pid, said = match.groups()
        uuid = re.sub("[^0-9a-f]", "", self.text("uuid").lower())
        return driver_files.event_record(
            _number(number),
            said or "",
            severity,
            scope,
            uuid=uuid[: len(uuid) // 2 * 2],
            seconds=int(time.time()),
            bus=self("pci_bus"),
            pid=_number(pid or "0"),
        )

    def instances(self) -> Iterator["_Card"]:
        """Its MPC instances, as far as they have values of their own."""
        number = 0
        while self.text("mpc_mode") == "ENABLE":
            try:
                yield _Card(self._machine, self.number, "%d.instance.%d." % (self.number, number))
            except ValueError:
                return
            number += 1


def _number(text: str) -> int:
    return int(text, 16 if text.lower().startswith("0x") else 10)


def _config(vendor: int, device: int, code: int, subsystem: int, revision: int) -> bytes:
    """A PCI configuration space as an ordinary user may read it: 64 bytes."""
    head = struct.pack("<HHHHI", vendor, device, 0x0406, 0x0010, code << 8 | revision)
    head = head.ljust(0x2C, b"\0") + struct.pack("<HH", subsystem & 0xFFFF, subsystem >> 16)
    return head.ljust(64, b"\0")


def _pci_function(folder: str, address: str, vendor: int, device: int, code: int, subsystem: int, node: int) -> None:
    """The files that every PCI device has."""
    identity = (vendor, device, subsystem & 0xFFFF, subsystem >> 16)
    numbers = {"vendor": vendor, "device": device, "subsystem_vendor": identity[2], "subsystem_device": identity[3]}
    for name, number in numbers.items():
        _write("0x%04x\n" % number, folder, name)
    _write("0x%06x\n" % code, folder, "class")
    revision = _REVISION if vendor == VENDOR else 0
    _write("0x%02x\n" % revision, folder, "revision")
    _write("%d\n" % node, folder, "numa_node")
    _write("1\n", folder, "enable")
    _write("D0\n", folder, "power_state")
    _write(_config(vendor, device, code, subsystem, revision), folder, "config")
    alias = "pci:v%08Xd%08Xsv%08Xsd%08X" % identity + "bc%02Xsc%02Xi%02X" % (code >> 16, code >> 8 & 0xFF, code & 0xFF)
    _write(alias + "\n", folder, "modalias")
    lines = ["PCI_CLASS=%X" % code, "PCI_ID=%04X:%04X" % (vendor, device), "PCI_SUBSYS_ID=%04X:%04X" % identity[2:]]
    lines += ["PCI_SLOT_NAME=" + address, "MODALIAS=" + alias]
    _write("".join(line + "\n" for line in (["DRIVER=mtgpu"] if vendor == VENDOR else []) + lines), folder, "uevent")


def _speed(value: str) -> str:
    return "%s GT/s PCIe\n" % ("%.1f" % float(value)) if float(value) else "Unknown\n"


class _Tree:
    def __init__(self, machine: Reads, root: str) -> None:
        self._machine = machine
        self._root = root
        self.cards = [_Card(machine, number) for number in range(machine.cards())]

    def _sys(self, *parts: str) -> str:
        return os.path.join(self._root, "sys", *parts)

    def pci(self) -> None:
        """The devices, each below a root of its host bridge and a port of its switch group, and their list."""
        bridges: Dict[Tuple[int, int], int] = {}
        # Away from the cards', and from what begins at bus 0 on the host.
        taken = {(card("pci_segment"), card("pci_bus")) for card in self.cards}
        for card in self.cards:
            key = (card("pci_segment"), card("host_bridge"))
            if key not in bridges:
                bridges[key] = next(bus for bus in range(255, -1, -1) if (key[0], bus) not in taken)
                taken.add((key[0], bridges[key]))
            domain = "%04x:%02x" % (key[0], bridges[key])
            # A switch with several ports, or a port of the root by itself.
            port = "%s:%02x.%x" % (domain, card("switch_group") >> 3 & 0x1F, card("switch_group") & 7)
            above = self._sys("devices", "pci" + domain, port)
            if not os.path.isdir(above):
                self._add(above, port, _BRIDGE_VENDOR, _BRIDGE_DEVICE, _BRIDGE_CLASS, 0, card("numa_node"))
            self._card(card, os.path.join(above, card.address))

    def _add(self, folder: str, address: str, *rest: int) -> None:
        _pci_function(folder, address, *rest)
        _link(folder, self._sys("bus", "pci", "devices", address))

    def _card(self, card: _Card, folder: str) -> None:
        device = card("pci_device_id") >> 16
        self._add(
            folder,
            card.address,
            card("pci_device_id") & 0xFFFF or VENDOR,
            device,
            _DISPLAY if card.displays() else _COMPUTE,
            card("pci_subsystem_id"),
            card("numa_node"),
        )
        for name, key in (("max", "max"), ("current", "cur")):
            _write(_speed(card.text("pci_%s_speed" % key)), folder, name + "_link_speed")
            _write("%d\n" % card("pci_%s_width" % key), folder, name + "_link_width")
        if card.text("cpu_affinity"):
            _write(card.text("cpu_affinity") + "\n", folder, "local_cpulist")
        _write("%d\n" % card.interrupt, folder, "irq")
        drivers = self._sys("bus", "pci", "drivers", "mtgpu")
        os.makedirs(drivers, exist_ok=True)
        _link(drivers, folder, "driver")
        _link(folder, drivers, card.address)
        for key in ("primary_path", "render_path"):
            self._drm(card, folder, card.node(key))

    def _drm(self, card: _Card, folder: str, node: str) -> None:
        if not node or not card.visible:
            return
        name = os.path.basename(node)
        entry = os.path.join(folder, "drm", name)
        os.makedirs(entry, exist_ok=True)
        _link(folder, entry, "device")
        _link(entry, self._sys("class", "drm", name))
        if not name.startswith("card"):
            return
        counts: Dict[str, int] = {}
        for kind in card.displays():
            counts[kind] = counts.get(kind, 0) + 1
            connector = "%s-%s-%d" % (name, {"HDMI": "HDMI-A"}.get(kind, kind), counts[kind])
            for file, state in (("status", "disconnected"), ("enabled", "disabled")):
                _write(state + "\n", entry, connector, file)
            _link(os.path.join(entry, connector), self._sys("class", "drm", connector))

    def module(self) -> None:
        # No driver up to 3.0.0 has a MODULE_VERSION, so there is no file with it.
        os.makedirs(self._sys("module", "mtgpu"))

    def nodes(self) -> None:
        keys = ("gpu_path", "primary_path", "render_path")
        for node in sorted({card.node(key) for card in self.cards if card.visible for key in keys} - {""}):
            _write("", self._root, "dev", node)

    def proc(self) -> None:
        """The driver's files, and the processes that have a card's node open."""
        proc = os.path.join(self._root, "proc")
        musa = os.path.join(proc, "driver", "musa")
        os.makedirs(musa, exist_ok=True)
        text = self._machine.get("machine.driver_version")
        release = tuple(map(int, re.findall(r"\d+", text)[:2])) or _NEWER
        if release >= _REPORTS:
            _write(driver_files.version(text), musa, "version")
        for card in self.cards:
            node = card.node("gpu_path")
            if not node:
                continue
            # A container sees the folders of all cards (evidence-s7r4).
            self._driver_files(card, os.path.join(musa, "gpu%02x" % card.number), release)
            for pid, _, name in card.processes() if card.visible else ():
                driver_files.write_process(proc, pid, name.split(" "), "/dev/" + node)

    def _driver_files(self, card: _Card, folder: str, release: Tuple[int, ...]) -> None:
        """What /proc/driver/musa/gpuXX has of a card, as far as it is known of that driver."""
        older = release < _NEWER
        _write(card.node("gpu_path") + "\n", folder, "devname")
        _write(driver_files.vram_info(card("memory_total")), folder, "vram_info")
        parts = [(card, folder)]
        # What an instance's devname says is not known.
        parts += [(part, os.path.join(folder, "mpc", "gi%d" % number)) for number, part in enumerate(card.instances())]
        for part, place in parts:
            state = driver_files.status(part("gpu_utilization"), part.engines(), number=card.number, older=older)
            _write(state, place, "status")
            _write(driver_files.memory(part("memory_used"), part("memory_used_system")), place, "memory")
        if release >= _TABLES:
            heads = driver_files.HEADS_OF_2_7 if older else driver_files.HEADS
            rows = card.rows() if card.visible else []
            device = (card.number, card.render_minor())
            _write(driver_files.process_table(*rows, device=device, heads=heads), folder, "proc_util")
        if release >= _REPORTS:
            last = [card.text("xid")] if card.text("xid") else []
            records = [card.record(text) for text in last + card.troubles()] if not older else []
            _write(driver_files.event_report(records), folder, "event_report")
        if not older:
            _write(driver_files.int_status(card.interrupt, _INTERRUPTS * [0]), folder, "int_status")


def render(machine: Reads, root: str) -> None:
    """Write the machine's tree into a folder, in the place of one that is there.

    Raises: OSError; ValueError where the folder has something else in it.
    """
    parts = ("sys", "dev", "proc")
    if os.path.isdir(root) and set(os.listdir(root)) - set(parts):
        raise ValueError("%s is not empty: a tree is written into a folder of its own" % root)
    for part in parts:
        shutil.rmtree(os.path.join(root, part), ignore_errors=True)
        os.makedirs(os.path.join(root, part))
    os.makedirs(os.path.join(root, "sys", "bus", "pci", "devices"))
    tree = _Tree(machine, root)
    tree.pci()
    # Without a driver there is the hardware, and no more.
    if machine.get("machine.init") != "DRIVER_NOT_LOADED":
        tree.module()
        tree.nodes()
        tree.proc()


def troubles(machine: Reads, number: int) -> List[str]:
    """XIDs of what is wrong with a card of a machine (list of str)."""
    return _Card(machine, number).troubles()


def report(machine: Reads, root: str, number: int, texts: Sequence[str]) -> None:
    """Add records of a card to those of a tree, if it is one with such records.

    Raises: OSError.
    """
    path = os.path.join(root, "proc", "driver", "musa", "gpu%02x" % number, "event_report")
    # A driver that is older has records of another form.
    if texts and os.path.exists(os.path.join(os.path.dirname(path), "int_status")):
        with open(path, "rb") as file:
            data = file.read()
        records = [data[start : start + 256] for start in range(0, len(data), 256)]
        records += [_Card(machine, number).record(text) for text in texts]
        # In one piece for those who read it meanwhile.
        new = "%s.%d" % (path, os.getpid())
        _write(driver_files.event_report(records), new)
        os.replace(new, path)


def variables(root: str) -> Dict[str, str]:
    """The variables by which pymtml and this package's mthreads-gmi read a tree (dict)."""
    return {"PYMTML_SYS_ROOT": os.path.join(root, "sys"), "PYMTML_PROC_ROOT": os.path.join(root, "proc")}


# ==== For programs that ask the driver for the memory of processes ====


def write_nodes(machine: Reads, root: str) -> Dict[str, str]:
    """Write into a new folder how the cards' nodes answer; the variables of a program that asks them (dict).

    simulator/src/nodes.c has the form. A card answers if the memory of each of its processes is known.

    Raises: OSError.
    """
    os.makedirs(root)
    for card in [_Card(machine, number) for number in range(machine.cards())]:
        name = card.node("gpu_path")
        if not name or not card.visible:
            continue
        lines = ["device = %d" % card.render_minor()]
        for pid, memory, _ in card.processes():
            lines.append("errno = %d" % errno.ENOTTY if memory is None else "process = %d lma=%d" % (pid, memory << 20))
        _write("".join(line + "\n" for line in lines), root, name)
    others = [path for path in os.environ.get("LD_PRELOAD", "").split(":") if path and path != places.NODES]
    return {"MTML_SIM_NODES": root, "LD_PRELOAD": ":".join([places.NODES] + others)}


# ==== For programs that read /sys itself ====

_MOUNT = 'mount --bind "$0" %s && exec "$@"' % PCI_DEVICES


def _shown(root: str, folder: str) -> None:
    """Fill a folder with what /sys/bus/pci/devices is to be: the host's own devices, and the tree's.

    Their links stay within it: nothing can be added to /sys/devices.
    """
    hidden = os.path.join(folder, ".simulated")
    shutil.copytree(os.path.join(root, "sys", "devices"), hidden, symlinks=True)
    try:
        for name in os.listdir(PCI_DEVICES):
            os.symlink(os.readlink(os.path.join(PCI_DEVICES, name)), os.path.join(folder, name))
    except OSError:
        pass  # a machine without PCI
    listed = os.path.join(root, "sys", "bus", "pci", "devices")
    for name in os.listdir(listed):
        target = os.path.realpath(os.path.join(listed, name))
        inside = os.path.relpath(target, os.path.realpath(os.path.join(root, "sys", "devices")))
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            os.remove(path)
        os.symlink(os.path.join(".simulated", inside), path)


def over_sysfs(root: str, folder: str, command: Sequence[str]) -> Optional[List[str]]:
    """A command that runs another with the tree's PCI devices in /sys/bus/pci/devices, or None where that is refused.

    It is done by a user and mount namespace of its own: nobody else sees it, and the program runs as the user 0 of it.
    """
    if not shutil.which("unshare") or not os.path.isdir(PCI_DEVICES):
        return None
    import subprocess

    os.makedirs(folder)
    _shown(root, folder)
    start = ["unshare", "--map-root-user", "--mount", "sh", "-c", _MOUNT, folder]
    null = subprocess.DEVNULL
    if subprocess.call(start + ["true"], stdin=null, stdout=null, stderr=null):
        return None
    return start + list(command)
