"""capture: a captured machine, loaded by the simulator, answers everything as the original does."""

import configparser
import inspect
import os
import re

import pytest
import simulated
from command import invoke, run_command
from inside import capture
from native_calls import GENERATIONS, plain

import pymtml

# What would change the machine, or hands out what differs from life to life
LEFT_OUT = re.compile(
    "mtml(Library(Init|InitSystem|InitDeviceByUuid|ShutDown)|DeviceInit(Gpu|Memory|Vpu)|ErrorString|Log.*"
    "|.*(Free|Reset|Clear)[A-Z].*|DeviceReset|.*Set(Mpc|Ecc).*)$"
)
# Values of the parameters that are no devices
VALUES = {
    "index": range(6),
    "fanIndex": range(4),
    "intfIndex": range(5),
    "level": range(6),
    "p2pCap": range(2),
    "engine": range(4),
    "linkId": range(16),
    "capability": range(2),
    "cause": range(2),
    "errorType": range(2),
    "counterType": range(2),
    "locationType": [pymtml.MTML_MEMORY_LOCATION_DRAM],
    "kind": range(2),
    "profileId": range(4),
    "configName": ["8-8", "8-44", "8-422"],
    "nodeSetSize": [2],
    "cpuSetSize": [8],
    "sessionId": range(8),
    "pciSbdf": ["00000000:2a:00.0", "0000:3b:00.0", "00000000:01:00.0", "x"],
}
DEVICES = ("dev", "device", "gpu", "mem", "vpu", "parentDevice", "mpcInstance", "dev1", "localDevice")
OTHERS = ("dev2", "remoteDevice")


def comparable(value, names):
    """An answer without handles: those by the UUID of their device."""
    if isinstance(value, (list, tuple)):
        return [comparable(item, names) for item in value]
    if isinstance(value, pymtml.c_mtmlDevice_t):
        return names.get(value) or pymtml.mtmlDeviceGetUUID(value)
    return plain(value)


def call(function, arguments, names):
    try:
        return comparable(function(*arguments), names)
    except pymtml.MTMLError as error:
        return type(error).__name__


def answers():
    """{call: answer} of everything that can be asked on this machine."""
    found = {}
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError as error:
        return {"init": type(error).__name__}
    try:
        devices = [pymtml.mtmlLibraryInitDeviceByIndex(index) for index in range(pymtml.mtmlLibraryCountDevice())]
        for device in list(devices):
            try:
                uuids = pymtml.mtmlDeviceGetActiveVirtDeviceUuids(device)
            except pymtml.MTMLError:
                continue
            devices += [pymtml.mtmlDeviceInitVirtDevice(device, uuid) for uuid in uuids]
        names = {device: pymtml.mtmlDeviceGetUUID(device) for device in devices}
        types = []
        for device in devices:
            try:
                types += pymtml.mtmlDeviceGetSupportedVirtTypes(device)
            except pymtml.MTMLError:
                pass
        for name in list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES):
            if LEFT_OUT.match(name):
                continue
            function = getattr(pymtml, name)
            lists = [()]
            for parameter in inspect.signature(function).parameters.values():
                if parameter.default is not inspect.Parameter.empty:
                    continue
                choices = VALUES.get(parameter.name)
                if parameter.name in DEVICES + OTHERS + ("virtDev",):
                    choices = devices
                elif parameter.name == "type":
                    choices = types[:6]
                elif parameter.name == "uuid":
                    choices = list(names.values())[:4]
                assert choices is not None, (name, parameter.name)
                lists = [arguments + (choice,) for arguments in lists for choice in choices]
            for arguments in lists:
                shown = tuple(names[one] if isinstance(one, pymtml.c_mtmlDevice_t) else plain(one) for one in arguments)
                found[name, str(shown)] = call(function, arguments, names)
    finally:
        pymtml.mtmlLibraryShutDown()
    try:  # a second life
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
    except pymtml.MTMLError as error:
        found["reinit"] = type(error).__name__
    return found


# What a library exports is decided when it is loaded: each of them needs a process
LACKING = [name for name in simulated.ALL_PROFILES if simulated.missing_functions(name)]


@pytest.mark.parametrize("profile", LACKING)
def test_a_captured_library_lacks_what_the_original_lacks(profile, tmp_path):
    file = tmp_path / "captured.ini"
    first = run_command("capture", "--unmasked", name=profile)
    file.write_text(first.stdout)
    second = run_command("capture", "--unmasked", name=str(file))
    assert (first.returncode, first.stderr, second.stdout) == (0, "", first.stdout)
    missing = parsed(first.stdout)["machine"]["missing"]
    assert sorted(missing.split(", ")) == sorted(simulated.missing_functions(profile))
    assert "\n# Not exported: %s\n" % missing in first.stdout


@pytest.mark.parametrize(
    "profile", [one for one in simulated.ALL_PROFILES if one not in LACKING] + [simulated.DISTINCT]
)
def test_a_captured_machine_answers_as_the_original(profile, tmp_path):
    file = tmp_path / "captured.ini"
    with simulated.machine(profile):
        result, original = invoke("capture", "--unmasked"), answers()
    assert (result.status, result.stderr) == (0, "")
    file.write_text(result.stdout)
    with simulated.machine(str(file)):
        captured = answers()
    different = {key[0] for key in original if captured.get(key) != original[key]}
    assert not different, "pymtml_cli/capture.txt does not write down what these answer: %s" % sorted(different)
    assert set(captured) == set(original)


CAPTURED = os.path.join(simulated.ROOT, "tests", "captured.ini")


def test_a_capture_of_a_captured_machine_says_the_same():
    """Of a card with MPC, one with virtual devices and one of a guest, whose keys, definitions and refusals differ."""
    assert captured_text() == recorded(), "make record"


def recorded():
    """What a capture of that machine says, below the file's head (str)."""
    with simulated.machine(CAPTURED):
        result = invoke("capture", "--unmasked")
    assert (result.status, result.stderr) == (0, "")
    return captured_text().split("\n\n", 1)[0] + "\n\n" + result.stdout.split("\n", 3)[3]


def captured_text():
    with open(CAPTURED) as file:
        return file.read()


def test_names_that_no_section_can_have(tmp_path):
    file = tmp_path / "odd.ini"
    file.write_text(captured_text().replace("mtgpu-10", "MT vGPU/10"))
    with simulated.machine(str(file)):
        captured = parsed(invoke("capture").stdout)
    assert captured["device.1"]["virt_types"] == "mtgpu-2, MT_vGPU_10"
    assert captured["device.1.virt.0"]["virt_type"] == "MT_vGPU_10"
    assert captured["virt_type.MT_vGPU_10"]["name"] == "MT vGPU 20"


SOURCE = inspect.getsource(capture) + capture.TABLES["card"]
ASKED = sorted(set(re.findall(r'(?m)(?:"|^)(mtml(?!LibraryInit\b)\w+(?<!_t))(?:"| )', SOURCE)))
ASKED.append("mtmlDeviceInitVirtDevice@1x1")


def test_a_capture_is_a_profile_whatever_fails(tmp_path):
    """What cannot be told is left out, and nothing refers to it."""
    file = tmp_path / "captured.ini"
    assert len(ASKED) > 60
    for function in ASKED:
        name, at, times = function.partition("@")
        with simulated.machine(CAPTURED, faults=name + "=TIMEOUT" + at + times):
            file.write_text(invoke("capture").stdout)
        with simulated.nvml(str(file)):
            pass  # the simulator refuses a profile in which something is missing


@pytest.mark.parametrize(
    "fault, told",
    [
        ("0.mtmlDeviceGetSupportedVirtTypes=TIMEOUT", "mtmlDeviceGetSupportedVirtTypes: TIMEOUT (device.0)"),
        ("mtmlDeviceInitVirtDevice=TIMEOUT@1x1", "mtmlDeviceInitVirtDevice: TIMEOUT (device.1)"),
        ("mtmlDeviceGetVirtType=TIMEOUT@1x1", "mtmlDeviceGetVirtType: TIMEOUT (device.1.virt.1)"),
    ],
)
def test_who_did_not_answer(fault, told):
    with simulated.machine(CAPTURED, set="0.virt_capability=yes", faults=fault):
        assert "# " + told in invoke("capture").lines


def parsed(text):
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",))
    parser.read_string(text)
    return parser


@pytest.mark.parametrize("serial", ["7", "ABCD", "ABCDEFGH", "ABCDEFGHIJK", "ABCDEFGHIJKL"])
def test_short_serial_numbers_are_masked_whole(serial):
    with simulated.machine("s80", set="0.serial_number=" + serial):
        (shown,) = re.findall("(?m)^serial_number = (.*)$", invoke("capture").stdout)
    expected = (serial[:4] if len(serial) >= 12 else "") + "1".rjust(len(serial) - 4 * (len(serial) >= 12), "0")
    assert shown == expected


def test_names_of_slots_and_odd_paths_are_masked():
    change = "0.slot_name=rack 17;0.gpu_path=/dev/host17/mtgpu.0;0.primary_path=/dev/host18;0.render_path=/x/y"
    with simulated.machine("s80", set=change):
        masked, open_ = invoke("capture").stdout, invoke("capture", "--unmasked").stdout
    for secret in ("rack 17", "host17", "host18", "/x/y"):
        assert secret in open_ and secret not in masked
    paths = "gpu_path = /dev/mtgpu.0", "primary_path = /dev/dri/card0", "render_path = /dev/dri/renderD0"
    for line in ("slot_name = slot 1",) + paths:
        assert "\n%s\n" % line in masked
    assert "# Masked: serial numbers, UUIDs" in masked and "# Left in: names, versions, PCI" in masked
    assert "# Nothing is masked." in open_ and "Left in" not in open_


@pytest.mark.parametrize("profile", ["s5000x8", "s3000-mpc", "s3000-vgpu-host"])
def test_serial_numbers_and_uuids_are_masked(profile, tmp_path):
    with simulated.machine(profile):
        masked, open_ = invoke("capture").stdout, invoke("capture", "--unmasked").stdout
    secrets = set(re.findall(r"(?m)^(?:uuid|serial_number) = (\S+)", open_))
    assert len(secrets) > 3 and not [secret for secret in secrets if secret in masked]
    stand_ins, opened = parsed(masked), parsed(open_)
    for section in opened.sections():
        for key, value in opened[section].items():
            if key in ("uuid", "serial_number") and value:
                stand_in = stand_ins[section][key]
                assert len(stand_in) == len(value)
                assert re.match(r"0{8}-0{4}-0{4}-0{4}-[0-9a-f]{12}$" if key == "uuid" else value[:4], stand_in)
            elif key == "slot_name" and value:
                assert re.match(r"slot \d+$", stand_ins[section][key])
            else:
                assert stand_ins[section][key] == value
    shown = re.findall(r"(?m)^(?:uuid|serial_number) = (\S+)", masked)
    assert len(shown) == len(set(shown))
    file = tmp_path / "masked.ini"
    file.write_text(masked)
    with simulated.machine(profile):
        lines = len(invoke("-L").lines)
    with simulated.machine(str(file)):
        assert len(invoke("-L").lines) == lines > 0


def test_without_a_library(tmp_path):
    result = run_command("capture", extra_environment={"PYMTML_LIBRARY": str(tmp_path / "none.so")})
    assert (result.returncode, result.stdout) == (12, "")
    assert re.fullmatch(r"pymtml: MTML shared library not found: tried .*none\.so.*search\n", result.stderr)


LINKS = pymtml.c_mtmlMtLinkSpec_t(linkNum=4000000000)


@pytest.mark.parametrize(
    "function, answer",
    [
        ("mtmlLibraryCountDevice", 4000000000),
        ("mtmlDeviceCountFan", 4000000000),
        ("mtmlDeviceCountDisplayInterface", 4000000000),
        ("mtmlDeviceGetMtLinkSpec", LINKS),
    ],
)
def test_a_driver_that_counts_too_many(function, answer, monkeypatch):
    """Some are asked, and the profile says so."""
    monkeypatch.setattr(pymtml, function, lambda *_: answer)
    with simulated.machine("s80", set="0.mtlink_capability=yes"):
        text = invoke("capture").stdout
    label = "machine" if function == "mtmlLibraryCountDevice" else "device.0"
    assert text.count("# %s: 4000000000 (%s); the first 256 were queried\n" % (function, label)) == 1
    assert text.count("\n[device.") == 1


def test_a_count_that_fails_is_no_machine_with_cards():
    with simulated.machine("s80", faults="mtmlLibraryCountDevice=TIMEOUT"):
        text = invoke("capture").stdout
    assert parsed(text).sections() == ["machine"] and "\n# mtmlLibraryCountDevice: TIMEOUT (machine)\n" in text


def test_versions_and_failures_are_told():
    faults = "mtmlGpuGetTemperature=TIMEOUT,mtmlDeviceGetName=4711,mtmlSystemGetDriverVersion=NOT_FOUND"
    with simulated.machine("s3000x2", faults=faults):
        head = [line for line in invoke("capture").lines if line.startswith("#")]
    first = r"# Captured by pymtml \S+ on \d{4}-\d\d-\d\d: library 2\.2\.0-simulator, driver unknown\.$"
    assert re.match(first, head[0])
    assert "# mtmlGpuGetTemperature: TIMEOUT (device.0; device.1)" in head
    assert "# mtmlDeviceGetName: 4711 (device.0; device.1)" in head
    assert "# mtmlSystemGetDriverVersion: NOT_FOUND (machine)" in head


def test_a_library_that_is_no_simulator_becomes_one(tmp_path):
    """As each library that is captured in the field: its name is cut, so that there is room for the addition."""
    library = simulated.shim(
        tmp_path,
        "#include <stdio.h>\nint mtmlLibraryGetVersion(void *library, char *text, unsigned int size)\n"
        '{ (void)library; snprintf(text, size, "2.3.0+abcdefghijklmnopqrstuvwxyz"); return 0; }\n',
    )
    result = run_command("capture", name="s80", extra_environment={"PYMTML_LIBRARY": library})
    assert parsed(result.stdout)["machine"]["library_version"] == "2.3.0+abcdefghijklmn-simulator"
    assert "library 2.3.0+abcdefghijklmnopqrstuvwxy, driver " in result.stdout.splitlines()[0]


@pytest.mark.parametrize("code", ["DRIVER_FAILURE", "RESOURCE_IS_BUSY", "666", "667", "669", "670", "4711"])
def test_an_init_that_fails_is_captured(code, tmp_path):
    """Also where a driver answers what pymtml has for errors of its own: no profile has a name for that."""
    with simulated.machine("s3000x2", set="machine.reinit=" + code):
        assert parsed(invoke("capture").stdout)["machine"]["reinit"] == code
    with simulated.machine("s3000x2", set="machine.init=" + code):
        result = invoke("capture")
    assert (result.status, result.stderr) == (0, "")
    head, _, machine = result.stdout.partition("\n\n")
    assert re.match("# Captured by .*: mtmlLibraryInit returns %s\\.\n" % code, head)
    expected = "[machine]\nlibrary_version = unknown-simulator\ndriver_version = unknown\ninit = %s\n"
    assert machine == expected % code
    file = tmp_path / "init.ini"
    file.write_text(machine)
    with simulated.machine(str(file)):
        assert invoke("capture").stdout == result.stdout


def test_links_that_are_down_keep_their_far_ends(tmp_path):
    change = "1.mtlink_state.0=DOWN;0.mtlink_state.0=DOWN;1.mtlink_state.4=DOWNGRADE"
    with simulated.machine("s4000x8", set=change):
        first = invoke("capture", "--unmasked").stdout
    file = tmp_path / "links.ini"
    file.write_text(first)
    with simulated.machine(str(file)):
        assert invoke("capture", "--unmasked").stdout == first
    assert parsed(first)["device.1"]["mtlink_state"].split(", ")[:5] == ["DOWN", "UP", "UP", "UP", "DOWNGRADE"]
    assert parsed(first)["device.1"]["mtlink_peer"] == simulated.device_keys("s4000x8", 1)["mtlink_peer"]


@pytest.mark.parametrize("fault", ["", "mtmlDeviceGetMtLinkLayouts=TIMEOUT"])
def test_links_keep_their_far_ends_where_no_layout_tells_them(fault):
    """The links of a pair are told in order then."""
    with simulated.machine("s5000x8", faults=fault):
        captured = parsed(invoke("capture").stdout)
    for card in (0, 1, 7):
        peers = captured["device.%d" % card]["mtlink_peer"]
        assert peers == simulated.device_keys("s5000x8", card)["mtlink_peer"]


@pytest.mark.parametrize(
    "written, meant",
    [
        (r"\sMTT\tS\\3000\s", " MTT\tS\\3000 "),
        (r"a\s", "a "),
        (r"\s", " "),
        (r"\s\s", "  "),
        (r"~!\n\x01\x7f\xe8\xae\xad", "~!\n\x01\x7f\u8bad"),
        (r"a\x07b\xc2\x85", "a\x07b\x85"),
    ],
)
def test_texts_that_need_escapes(written, meant, tmp_path):
    with simulated.machine("s3000x2", set="0.name=" + written):
        text = invoke("capture", "--unmasked").stdout
    assert "\nname = %s\n" % written in text
    file = tmp_path / "escaped.ini"
    file.write_text(text)
    with simulated.machine(str(file)):
        pymtml.nvmlInit()
        name = pymtml.mtmlDeviceGetName(pymtml.mtmlLibraryInitDeviceByIndex(0))
        pymtml.nvmlShutdown()
    assert name == meant


SESSION = "id=%d pid=%d width=1920 height=1080 fps=60 bitrate=8000000 latency=1500 codec=%s state=%s"
CODECS = "AVC VC1 MPEG2 MPEG4 H263 DIV3 RV AVS RSVD1 THO VP3 VP8 HEVC VP9 AVS2 RSVD2 AV1".split()
SESSIONS = [SESSION % (number, 5000 + number, codec, "ACTIVE") for number, codec in enumerate(CODECS)]
# All the words that profiles have for values, as what a capture of a machine with them says of its first card
EVERY_WORD = [
    {
        "brand": "MTT",
        "memory_type": "LPDDR4",
        "ecc_mode": "ENABLE",
        "ecc_pending_mode": "DISABLE",
        "retired_pages_pending": "yes",
        "retired_pages_sbe": "0x12000@1735689600, 0x34000@1735776000",
        "retired_pages_dbe": "0x56000@1738368000",
        "displays": "DP 7680x4320@60, EDP 2560x1440@165, VGA 1280x1024@75, HDMI 3840x2160@120, LVDS 800x600@50",
        "encoder_sessions": ", ".join(SESSIONS),
        "decoder_sessions": SESSION % (1, 5003, "VP9", "ACTIVE"),
        "mtlink_state": "UP, DOWNGRADE, DOWN" + ", UP" * 11,
        "mtlink_p2p_access": "OK, NOT_SUPPORTED" + ", OK" * 12,
        "mtlink_p2p_atomics": "NOT_SUPPORTED, OK" + ", OK" * 12,
        "topology": "-, INTERNAL, SINGLE, MULTIPLE, HOSTBRIDGE, NODE, SYSTEM, SYSTEM",
        "p2p_read": "OK, CHIPSET_NOT_SUPPORTED, GPU_NOT_SUPPORTED, UNKNOWN, OK, OK, OK, OK",
        "p2p_write": "UNKNOWN, OK, CHIPSET_NOT_SUPPORTED, GPU_NOT_SUPPORTED, OK, OK, OK, OK",
        "cpu_affinity": "0-31,64,66-95",
        "memory_affinity": "0,2-3",
        "pci_max_speed": "32",
        "pci_cur_speed": "2.5",
    },
    {
        "brand": "UNKNOWN",
        "memory_type": "GDDR6",
        "ecc_mode": "DISABLE",
        "ecc_pending_mode": "ENABLE",
        "encoder_sessions": SESSION % (3, 7, "AVC", "UNKNOWN"),
        "decoder_sessions": "",
        "displays": "",
    },
    {"ecc_mode": "ENABLE", "retired_pages_pending": "no", "retired_pages_sbe": ""},
]


@pytest.mark.parametrize("keys", EVERY_WORD)
def test_every_word_of_a_profile_is_captured(keys):
    with simulated.machine("s5000x8", set=";".join("0.%s=%s" % pair for pair in keys.items())):
        captured = parsed(invoke("capture", "--unmasked").stdout)["device.0"]
    assert {key: captured.get(key) for key in keys} == keys


@pytest.mark.parametrize("byte, generation", [(1, "SUDI"), (3, "QUYUAN"), (0x7F, GENERATIONS[-1])])
def test_the_generation_follows_from_the_pci_id(byte, generation):
    with simulated.machine("s80", set="0.pci_device_id=0x%02x001ed5" % byte):
        assert parsed(invoke("capture").stdout)["device.0"]["generation"] == generation


@pytest.mark.parametrize(
    "function, section, keys",
    [
        ("mtmlDeviceGetTopologyLevel", "device.0", {"topology": "-, -"}),
        ("mtmlDeviceGetP2PStatus", "device.0", {"p2p_read": "UNKNOWN, UNKNOWN", "p2p_write": "UNKNOWN, UNKNOWN"}),
        ("mtmlDeviceGetMtLinkState", "device.0", {"mtlink_state": "DOWN, DOWN, DOWN"}),
        ("mtmlDeviceGetMtLinkSpec", "device.0", {"mtlink_count": None, "mtlink_peer": None}),
        ("mtmlDeviceCountFan", "device.0", {"fan_speed": "31", "fan_rpm": "1310"}),
        ("mtmlDeviceGetFanRpm", "device.0", {"fan_speed": "31, 33, 35", "fan_rpm": ""}),
        ("mtmlDeviceGetPciInfo", "device.0", {"generation": None, "pci_sbdf": None, "slot_id": "7"}),
        ("mtmlDeviceGetPcieSlotInfo", "device.0", {"slot_id": None, "slot_name": None}),
        ("mtmlDeviceCountDisplayInterface", "device.0", {"displays": ""}),
        ("mtmlGpuGetEngineUtilization", "device.0", {"engine_utilization": None, "vpu_utilization": "21"}),
        ("mtmlVpuGetUtilization", "device.0", {"vpu_utilization": None, "decoder_utilization": None}),
        ("mtmlVpuGetCodecCapacity", "device.0", {"encoder_capacity": None, "decoder_capacity": None}),
        ("mtmlVpuGetEncoderSessionMetrics", "device.0", {"encoder_sessions": "id=0 state=ACTIVE, id=2 state=ACTIVE"}),
        ("mtmlVpuGetDecoderSessionStates", "device.0", {"decoder_sessions": ""}),
        ("mtmlMemoryGetEccMode", "device.0", {"ecc_mode": None, "ecc_pending_mode": None}),
        ("mtmlMemoryGetRetiredPagesCount", "device.0", {"retired_pages_sbe": None, "retired_pages_dbe": None}),
        ("mtmlMemoryGetRetiredPages", "device.0", {"retired_pages_sbe": None, "retired_pages_pending": "yes"}),
        ("mtmlDeviceGetProperty", "device.0", {"virt_role": None, "mtlink_capability": None, "name": "MTT S5000"}),
        ("mtmlDeviceGetMusaComputeCapability", "device.0", {"musa_compute_capability": None}),
        ("mtmlDeviceGetCpuAffinityWithinNode", "device.0", {"cpu_affinity": None}),
        ("mtmlLibraryGetVersion", "machine", {"library_version": "unknown-simulator"}),
        ("mtmlSystemGetDriverVersion", "machine", {"driver_version": "unknown"}),
        (
            "mtmlLibraryInit",
            "machine",
            {"library_version": "unknown-simulator", "driver_version": "unknown", "init": "TIMEOUT"},
        ),
    ],
)
def test_what_fails_is_not_made_up(function, section, keys):
    with simulated.machine(simulated.DISTINCT, faults=function + "=TIMEOUT"):
        text = invoke("capture").stdout
    captured = parsed(text)[section]
    assert {key: captured.get(key) for key in keys} == keys
    if section == "device.0":
        assert re.search(r"(?m)^# %s: TIMEOUT \(.*\bdevice\.0\b" % function, text)


@pytest.mark.parametrize(
    "profile, settings, told",
    [
        ("s5000x8", "machine.topology_includes_nearer=yes", "yes"),
        ("s5000x8", "machine.topology_includes_nearer=no", None),
        ("s3000x2", "machine.topology_includes_nearer=yes", "yes"),
        # Nothing is nearer: both ways answer the same.
        ("s3000x2", "machine.topology_includes_nearer=yes;0.topology=-, SYSTEM", None),
        ("s3000-mpc", "machine.topology_includes_nearer=yes", None),
        ("s80", "machine.topology_includes_nearer=yes", None),
    ],
)
def test_whether_a_level_includes_nearer_ones(profile, settings, told):
    with simulated.machine(profile, set=settings):
        machine = parsed(invoke("capture").stdout)["machine"]
    assert machine.get("topology_includes_nearer") == told
