"""Every shipped profile loads, with the keys that it gives.

What C's functions make of the keys is in tests/test_native_functions.py.
"""

import ctypes
import os
import re

import interface
import profiles
import pytest
from interface import STRUCTS, Failure, Session, integer, out, pointer, text, uint, uint64

ALL = interface.profile_names()
WITH_DEVICES = [name for name in ALL if name not in ("empty", "no-driver")]


def section_number(section):
    found = re.match(r"device\.(\d+)(?:\.(instance|virt)\.(\d+))?$", section)
    if not found:
        return None
    card = int(found.group(1))
    if found.group(2) == "instance":
        return interface.instance_number(card, int(found.group(3)))
    if found.group(2) == "virt":
        return interface.virt_number(card, int(found.group(3)))
    return card


def test_the_shipped_profiles():
    """Each has its row in README, and each row its file."""
    with open(os.path.join(interface.SIMULATOR, "README.md"), encoding="utf-8") as file:
        table = file.read().partition("\n## Profiles\n")[2].partition("\n## ")[0].partition("\n\n| section |")[0]
    rows = re.findall(r"(?m)^\| `([\w-]+)` \| ", table)
    wrong = sorted(set(rows) ^ set(ALL))
    assert not wrong, "simulator/README.md, Profiles: one row for each file of simulator/profiles: %s" % wrong
    assert len(rows) == len(ALL) >= 20


WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
COUNTED = (
    r"(?m)^\| `([\w-]+)` \| (" + "|".join(WORDS) + r") (?:idle )?(?:S5000 boards that call themselves )?(?:MTT )?(\w+)"
)


def test_cards_in_readme():
    with open(os.path.join(interface.SIMULATOR, "README.md"), encoding="utf-8") as file:
        rows = re.findall(COUNTED, file.read())
    assert len(rows) > 10
    for name, count, card in rows:
        cards = [section for section in profiles.read(name).sections() if re.fullmatch(r"device\.\d+", section)]
        names = {merged(profiles.read(name), section)["name"].replace("MTT ", "") for section in cards}
        expected = 2 if name == "s2000" else WORDS.index(count) + 1
        assert (len(cards), names) == (expected, {card}), name


def test_keys_in_readme():
    """Each key of a table is one, and each key stands in a table."""
    with open(os.path.join(interface.SIMULATOR, "README.md"), encoding="utf-8") as file:
        tables = re.findall(r"(?m)^\| key \| value \|\n\|---\|---\|\n((?:\|.*\n)+)", file.read())
    with open(os.path.join(interface.SIMULATOR, "src", "keys.c"), encoding="utf-8") as file:
        text = file.read()
    lists = [re.search(r"(?s)const struct key %s\[\] = \{(.*?)\n\};" % name, text).group(1) for name in LISTS]
    for table, keys in zip(tables, lists):
        told = {key for row in table.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}
        known = set(re.findall(r'(?:KEY|NAMED)\(\w+, (\w+),|AT\("(\w+)"', keys))
        known = {one or other for one, other in known}
        beyond = {key for function in interface.BEYOND.values() for key in function.get("keys", {})}
        assert told - beyond == known


LISTS = ("machine_keys", "device_keys")


def test_limits_in_readme():
    sizes = {}
    for name in ("machine.h", "fields.h"):
        with open(os.path.join(interface.SIMULATOR, "src", name), encoding="utf-8") as file:
            sizes.update(re.findall(r"#define (SIM_\w+) +(\w+)", file.read()))
    assert sizes["SIM_MAX_INSTANCES"] == "MTML_MPC_CONF_MAX_PROF_NUM"
    instances = interface.API["constants"]["MTML_MPC_CONF_MAX_PROF_NUM"]
    numbers = (sizes["SIM_MAX_DEVICES"], sizes["SIM_LIST_SIZE"], instances, sizes["SIM_MAX_VIRT"])
    with open(os.path.join(interface.SIMULATOR, "README.md"), encoding="utf-8") as file:
        text = " ".join(file.read().split())
    assert "%s cards; %s links, %s instances and %s virtual devices a card" % numbers in text


def test_no_driver():
    with pytest.raises(Failure) as failure:
        with Session("no-driver"):
            pass
    assert failure.value.reason == "DRIVER_NOT_LOADED"
    assert interface.LIBRARY.mtmlSimGetLibraryReferences() == 0


def test_empty():
    with Session("empty") as session:
        assert session.count() == 0
        assert interface.reason(
            "mtmlLibraryInitDeviceByIndex", session.library, 0, ctypes.byref(ctypes.c_void_p())
        ) == ("NOT_FOUND")


@pytest.mark.parametrize("name", [name for name in ALL if name != "no-driver"])
def test_text_of_every_key_comes_back(name):
    profile = profiles.read(name)
    compared = 0
    with Session(name + "+frozen"):
        for section in profile.sections():
            if section == "machine":
                number = interface.MACHINE
            else:
                number = section_number(section)
            if number is None:
                continue
            for key, value in profile[section].items():
                assert interface.sim_get(number, key) == value, (section, key)
                compared += 1
        defaults = profile["device"] if profile.has_section("device") else {}
        for section in profile.sections():
            if section_number(section) is not None and section.count(".") == 1:
                for key, value in defaults.items():
                    if key not in profile[section]:
                        assert interface.sim_get(section_number(section), key) == value, (section, key)
                        compared += 1
    assert compared > 0


def merged(profile, section):
    values = dict(profile["device"]) if profile.has_section("device") else {}
    values.update(profile[section])
    return values


@pytest.mark.parametrize("name", WITH_DEVICES)
def test_identities_differ(name):
    with Session(name + "+frozen") as session:
        uuids = {text("mtmlDeviceGetUUID", session.device(i)) for i in range(session.count())}
        assert len(uuids) == session.count()
        paths = {text("mtmlDeviceGetGpuPath", session.device(i)) for i in range(session.count())}
        assert len(paths) == session.count()


@pytest.mark.parametrize("name", WITH_DEVICES)
def test_parts_are_called_by_their_cores_and_memory(name):
    """What a card can be divided into, and how: 8-44 are two halves of eight cores."""
    profile, parts = profiles.read(name), {}
    for section in profile.sections():
        kind, _, number = section.partition(".")
        if kind == "mpc_profile":
            parts[number] = profile[section]["cores"]
            form = (parts[number], int(profile[section]["memory"]) >> 10)
            assert profile[section]["name"] == "%sc+%dgb" % form
        elif kind == "mpc_configuration":
            cores = [parts[each] for each in profile[section]["profiles"].split(", ")]
            assert profile[section]["name"] == "8-" + "".join(cores) and sum(map(int, cores)) == 8


KEYED = {name: function for name, function in interface.BEYOND.items() if "keys" in function}
CELLS = {"int *": ctypes.c_int, "unsigned int *": ctypes.c_uint, "unsigned long long *": ctypes.c_ulonglong}


@pytest.mark.parametrize("key", sorted(key for function in KEYED.values() for key in function["keys"]))
def test_keys_beyond_the_header(key, tmp_path):
    """What a key says comes back; a card whose profile lacks all keys of a function does not support it."""
    (name,) = [name for name, function in KEYED.items() if key in function["keys"]]
    keys, parameters = KEYED[name]["keys"], KEYED[name]["params"]
    kind = parameters[0]["ctype"].split()[1]
    inputs = [list(keys).index(key)] if parameters[1]["dir"] == "in" else []
    outputs = [parameter["ctype"] for parameter in parameters[1 + len(inputs) :]]
    values = {"capability": ("2.1", "4.7"), "text": ("one", "another")}.get(keys[key], ("17", "99"))

    def ask(session):
        handle = {"MtmlDevice": session.device, "MtmlGpu": session.gpu, "MtmlMemory": session.memory}[kind](0)
        if outputs == ["char *", "unsigned int"]:
            return text(name, handle).decode()
        if set(outputs) <= set(CELLS):
            cells = [CELLS[output]() for output in outputs]
        else:
            cells = [STRUCTS[output.rstrip(" *")]() for output in outputs]
        interface.call(name, handle, *inputs, *[ctypes.byref(cell) for cell in cells])
        if set(outputs) <= set(CELLS):
            return ".".join(str(cell.value) for cell in cells)
        fields = interface.API["structs"][outputs[0].rstrip(" *")]["fields"]
        value = getattr(cells[0], fields[list(keys).index(key)]["name"])
        return value.decode() if isinstance(value, bytes) else str(value)

    path = tmp_path / "bare.ini"
    path.write_text("[machine]\nlibrary_version = 2.2.0-simulator\n[device.0]\nname = X\ngeneration = PINGHU\n")
    with Session(str(path) + "+frozen") as session:
        with pytest.raises(Failure) as failure:
            ask(session)
        assert failure.value.reason == "NOT_SUPPORTED"
        for value in values:
            interface.sim_set(0, key, value)
            assert ask(session) == value


def test_a_threshold_that_there_is_not():
    with Session() as session:
        for kind in (-1, 2):
            reason = interface.reason(
                "mtmlGpuGetTemperatureThreshold", session.gpu(1), kind, ctypes.byref(ctypes.c_int())
            )
            assert reason == "INVALID_ARGUMENT"


def test_sixty_four_cards(tmp_path):
    """As many as there may be, each joined to all others."""
    lines = ["[machine]", "library_version = 1-simulator", "frozen = yes"]
    lines += ["[device]", "generation = PINGHU", "mtlink_capability = yes", "mtlink_count = 63", "mtlink_state = UP"]
    for card in range(64):
        peers = ["%d.%d" % (other, card - (card > other)) for other in range(64) if other != card]
        lines += ["[device.%d]" % card, "uuid = card-%d" % card, "gpu_temperature = %d" % card, "board = %d" % card]
        lines += ["pci_bus = %d" % card, "mtlink_peer = " + ", ".join(peers)]
    path = tmp_path / "many.ini"
    path.write_text("\n".join(lines) + "\n")
    with Session(str(path), MTML_SIM_SET="63.gpu_temperature=-63") as session:
        assert session.count() == 64
        devices = [session.device(index) for index in range(64)]
        assert len({device.value for device in devices}) == 64
        assert [integer("mtmlGpuGetTemperature", session.gpu(index)) for index in range(64)] == [*range(63), -63]
        assert [uint("mtmlDeviceGetIndex", device) for device in devices] == list(range(64))
        for index in (0, 31, 63):
            found = pointer("mtmlLibraryInitDeviceByPciSbdf", session.library, b"0000:%02x:00.0" % index)
            assert found.value == devices[index].value
            remotes = {pointer("mtmlDeviceGetMtLinkRemoteDevice", devices[index], link).value for link in range(63)}
            assert remotes == {device.value for device in devices} - {devices[index].value}
            # What the profile does not say: no capability, and an unknown one.
            assert [uint("mtmlDeviceGetMtLinkCapStatus", devices[index], 3, which) for which in (0, 1)] == [0, 0]
            assert [uint("mtmlDeviceGetP2PStatus", devices[index], devices[9], which) for which in (0, 1)] == [3, 3]
            assert uint("mtmlDeviceCountMtLinkLayouts", devices[index], devices[(index + 1) % 64]) == 1
    path.write_text("\n".join(lines + ["[device.64]"]) + "\n")
    with pytest.raises(Failure):
        with Session(str(path)):
            pass


def test_values_can_be_odd():
    with Session() as session:
        device, gpu, memory = session.device(2), session.gpu(2), session.memory(2)
        interface.sim_set(2, "gpu_temperature", -40)
        assert integer("mtmlGpuGetTemperature", gpu) == -40
        interface.sim_set(2, "power_usage", 4294967295)
        assert uint("mtmlDeviceGetPowerUsage", device) == 4294967295
        interface.sim_set(2, "ecc_corrected_aggregate", 18446744073709551615)
        assert uint64("mtmlMemoryGetEccErrorCounter", memory, 0, 1, 1) == 18446744073709551615
        interface.sim_set(2, "name", r"a\xff\x7f\\b\n\t\s")
        assert text("mtmlDeviceGetName", device) == b"a\xff\x7f\\b\n\t "
        assert interface.sim_get(2, "name") == r"a\xff\x7f\\b\n\t\s"
        interface.sim_set(2, "pci_sbdf", "")
        interface.sim_set(2, "pci_bus_width", 16)
        pci = out("mtmlDeviceGetPciInfo", STRUCTS["MtmlPciInfo"], device)
        assert (pci.sbdf, pci.busWidth) == (b"", 16)
        interface.sim_set(2, "unsupported", "")
        interface.sim_set(2, "fan_speed", "30, 140")
        assert uint("mtmlDeviceGetFanSpeed", device, 1) == 140
        interface.sim_set(2, "memory_type", 9)
        assert uint("mtmlMemoryGetType", memory) == 9


SESSION = "id=0 pid=0 width=0 height=0 fps=0 bitrate=0 latency=0 codec=AVC state=ACTIVE"


@pytest.mark.parametrize(
    "key, good, bad",
    [
        ("gpu_temperature", "-2147483648", "-2147483649"),
        ("gpu_temperature", "2147483647", "2147483648"),
        ("power_usage", "4294967295", "4294967296"),
        ("memory_total", "18446744073709551615", "18446744073709551616"),
        ("name", 255 * "x", 256 * "x"),
        ("musa_compute_capability", "2147483647.2147483647", "3.2147483648"),
        ("fan_speed", "1" + 63 * ", 1", "1" + 64 * ", 1"),
        ("displays", "DP 1x1@1" + 15 * ", DP 1x1@1", "DP 1x1@1" + 16 * ", DP 1x1@1"),
        ("encoder_sessions", SESSION + 63 * (", " + SESSION), SESSION + 64 * (", " + SESSION)),
        ("retired_pages_sbe", "0x1@1" + 63 * ", 0x1@1", "0x1@1" + 64 * ", 0x1@1"),
    ],
    ids=lambda text: text[:12],
)
def test_the_greatest_value(key, good, bad):
    with Session():
        interface.sim_set(0, key, good)
        assert interface.LIBRARY.mtmlSimSet(0, key.encode(), bad.encode()) == -1
        assert interface.sim_get(0, key) == good


def test_text_without_terminator():
    with Session() as session:
        device = session.device(4)
        interface.sim_set(4, "unterminated", "name, pci_sbdf")
        interface.sim_set(4, "name", "MTT")
        buffer = ctypes.create_string_buffer(8)
        interface.call("mtmlDeviceGetName", device, buffer, 8)
        assert buffer.raw == b"MTTMTTMT"
        assert b"\0" not in bytes(out("mtmlDeviceGetPciInfo", STRUCTS["MtmlPciInfo"], device))[:32]
        assert text("mtmlDeviceGetUUID", device, 48) == interface.sim_get(4, "uuid").encode()


def test_elements_of_lists():
    with Session() as session:
        interface.sim_set(0, "engine_utilization.2", 77)
        assert uint("mtmlGpuGetEngineUtilization", session.gpu(0), 2) == 77
        interface.sim_set(0, "mtlink_state.3", "DOWN")
        states = [uint("mtmlDeviceGetMtLinkState", session.device(0), link) for link in range(14)]
        assert states == [1, 1, 1, 0] + [1] * 10
        interface.sim_set(0, "p2p_read.6", "UNKNOWN")
        for other in range(1, 8):
            status = uint("mtmlDeviceGetP2PStatus", session.device(0), session.device(other), 0)
            assert status == (3 if other == 6 else 0)
        interface.sim_set(0, "topology.5", "SINGLE")
        assert uint("mtmlDeviceGetTopologyLevel", session.device(0), session.device(5)) == 1
        assert uint("mtmlDeviceGetTopologyLevel", session.device(0), session.device(6)) == 5
        assert interface.LIBRARY.mtmlSimSet(0, b"engine_utilization.9", b"1") == -1
        assert [interface.sim_get(0, key) for key in ("topology.40", "mtlink_peer.20")] == ["-", "-"]
        assert [interface.sim_get(0, "mtlink_state.%d" % link) for link in (3, 20)] == ["DOWN", "UP"]
