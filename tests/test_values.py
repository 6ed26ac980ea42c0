"""Every nvml* function that answers, answers with what the simulated hardware says, in NVML's unit.

Each row of CASES sets a value of the machine more than once, so that neither a constant nor a stale copy passes. Where
pymtml may keep an answer as long as the library lives (names, addresses, sizes), `kept` has the library initialized
anew for each value.
"""

import ctypes
import functools
import os
import re
import subprocess

import every_function
import pytest
import simulated

import pymtml as nvml

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINE = simulated.MACHINE
UNSIGNED = (0, 41, 0xFFFFFFFE)  # all ones are no answer: tests/test_all_ones.py
SIGNED = (-40, 0, 97)
WIDE = (0, 1 << 32, (1 << 64) - 2)
COUNTS = (1, 5)
UUIDS = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-0000000000ff")
SESSION = "id=%d pid=%d width=%d height=%d fps=%d bitrate=1000 latency=%d codec=%s state=%s"
HANDLE = nvml.c_nvmlDevice_t
UNSUPPORTED = nvml.NVMLError_NotSupported  # of what is unknown, and is no number then
CASES = {}


def device(index=0):
    return lambda: (nvml.nvmlDeviceGetHandleByIndex(index),)


def mtml_device(index):
    """The device with that index of MTML's, which counts instances as well."""
    return lambda: (nvml.mtmlLibraryInitDeviceByIndex(index),)


def pair():
    return nvml.nvmlDeviceGetHandleByIndex(0), nvml.nvmlDeviceGetHandleByIndex(1)


def nothing():
    return ()


def case(functions, changes, *arguments, **options):
    """A row for one function, or for several that answer alike.

    changes: pairs of settings, {key of device 0 or (device, key): value}, and the answer or error they bring about.
    options: on (whatever stands before the other arguments), read (what to compare of the answer), profile, kept.
    """
    for function in functions.split():
        CASES.setdefault(function, []).append((changes, arguments, options))


on_two = functools.partial(case, profile="s3000x2")
on_eight = functools.partial(case, profile="s5000x8")
on_container = functools.partial(case, profile="s5000x8-container")
on_divided = functools.partial(case, profile="s3000-mpc")
on_host = functools.partial(case, profile="s3000-vgpu-host")


def numbers(key, values=UNSIGNED, unknown=()):
    return [({key: value}, value) for value in values] + [({key: value}, UNSUPPORTED) for value in unknown]


def attributes(*names):
    return lambda struct: tuple(getattr(struct, name) for name in names)


def index(handle):
    return nvml.nvmlDeviceGetIndex(handle)


def indices(handles):
    return [index(handle) for handle in handles]


def pci_address(segment, bus, number):
    text = "%08x:%02x:%02x.0" % (segment, bus, number)
    return [("pci_sbdf", text), ("pci_segment", segment), ("pci_bus", bus), ("pci_device", number)]


# ---- Library, handles, identity ----

case("nvmlSystemGetDriverVersion", numbers((MACHINE, "driver_version"), ("9.9.9-server", "1.0")), on=nothing)
case(
    "nvmlSystemGetNVMLVersion", numbers((MACHINE, "library_version"), ("9.9.9-simulator", "1.0-simulator")), on=nothing
)
on_container(
    "nvmlDeviceGetCount",
    [({}, 2), ({(0, "visible"): "yes"}, 3), ({(0, "visible"): "no", (2, "visible"): "no"}, 1)],
    on=nothing,
)
on_divided("nvmlDeviceGetCount", [({}, 2)], on=nothing)
on_divided("nvmlDeviceGetIndex", [({}, 2)], on=mtml_device(3))
for on_machine, card, place in ((on_divided, 1, 1), (on_container, 2, 0)):
    on_machine(
        "nvmlDeviceGetHandleByIndex",
        numbers((card, "name"), ("MTT S3000", "MTT S4000")),
        place,
        on=nothing,
        read=nvml.nvmlDeviceGetName,
        kept=True,
    )
OWNERS = [({(i, "uuid"): UUIDS[0], (1 - i, "uuid"): UUIDS[1]}, i) for i in (0, 1)]
on_two("nvmlDeviceGetHandleByUUID nvmlDeviceGetHandleByUuid", OWNERS, UUIDS[0], on=nothing, read=index)
for uuid, kind in ((UUIDS[0], nvml.NVML_UUID_TYPE_ASCII), (b"\0" * 6 + b"\x40\0\x80" + b"\0" * 6 + b"\1", 2)):
    on_two("nvmlDeviceGetHandleByUUIDV", OWNERS, uuid, kind, on=nothing, read=index)
on_two(
    "nvmlDeviceGetHandleBySerial",
    [({(i, "serial_number"): "SERIAL-7", (1 - i, "serial_number"): "SERIAL-8"}, i) for i in (0, 1)],
    "SERIAL-7",
    on=nothing,
    read=index,
    kept=True,
)
for spelling in ("0001:0a:1f.0", " 1:a:1f "):
    on_two(
        "nvmlDeviceGetHandleByPciBusId",
        [
            ({(i, key): number for i in (0, 1) for key, number in pci_address(1, 10 + (i != mine), 31)}, mine)
            for mine in (0, 1)
        ],
        spelling,
        on=nothing,
        read=index,
    )
case("nvmlDeviceGetName", numbers("name", ("MTT S90", "\u6469\u5c14")), kept=True)
case("nvmlDeviceGetUUID", numbers("uuid", UUIDS), kept=True)
case("nvmlDeviceGetSerial", numbers("serial_number", ("MY13VG023C800014", "X")), kept=True)
case("nvmlDeviceGetVbiosVersion", numbers("mtbios_version", ("4.3.43", "29358.1.59")))
on_container(
    "nvmlDeviceGetIndex",
    [({}, 1), ({(0, "visible"): "yes", (1, "visible"): "yes"}, 3)],
    on=lambda: (nvml.nvmlDeviceGetHandleByUUID(simulated.get_value(5, "uuid")),),
    kept=True,
)
case(
    "nvmlDeviceGetMinorNumber",
    [({"gpu_path": "/dev/" + name}, number) for name, number in (("mtgpu.0", 0), ("mtgpu.17", 17), ("musax3", 3))]
    + [({"gpu_path": "/dev/mtgpu"}, UNSUPPORTED)],
    kept=True,
)

PCI = ("domain", "bus", "device", "pciDeviceId", "pciSubSystemId", "busId", "busIdLegacy", "segment", "sbdf")
PCI_CHANGES = [
    (
        {
            "pci_segment": 1,
            "pci_bus": 42,
            "pci_device": 31,
            "pci_device_id": 0x04001ED5,
            "pci_subsystem_id": 0x12345678,
        },
        (1, 42, 31, 0x04001ED5, 0x12345678, "00000001:2A:1F.0", "0001:2A:1F.0", 1, "00000001:2a:1f.0"),
    ),
    (
        {"pci_segment": 0x1ABCD, "pci_bus": 0xFE, "pci_device": 0, "pci_device_id": 1, "pci_subsystem_id": 0},
        (0x1ABCD, 254, 0, 1, 0, "0001ABCD:FE:00.0", "1ABCD:FE:00.0", 0x1ABCD, "0001abcd:fe:00.0"),
    ),
    (  # the legacy text has room for 15 characters
        {"pci_segment": 0xABCDEF12, "pci_bus": 0, "pci_device": 0, "pci_device_id": 1, "pci_subsystem_id": 0},
        (0xABCDEF12, 0, 0, 1, 0, "ABCDEF12:00:00.0", "ABCDEF12:00:00.", 0xABCDEF12, "abcdef12:00:00.0"),
    ),
    (  # a driver that fills in the text alone
        {"pci_segment": 0, "pci_bus": 0, "pci_device": 0, "pci_sbdf": "00000002:0c:01.0"},
        (2, 12, 1, 1, 0, "00000002:0C:01.0", "0002:0C:01.0", 2, "00000002:0c:01.0"),
    ),
]
case("nvmlDeviceGetPciInfo nvmlDeviceGetPciInfo_v3", PCI_CHANGES, read=attributes(*PCI), kept=True)
case(
    "nvmlDeviceGetBoardId", [({"pci_bus": 0x2A, "pci_device": 3}, 0x2A03), ({"pci_bus": 0xFF, "pci_device": 0}, 0xFF00)]
)
on_two("nvmlDeviceGetMultiGpuBoard", [({}, 0), ({(1, "board"): 0}, 1)])
on_two("nvmlDeviceOnSameBoard", [({}, False), ({(1, "board"): 0}, True)], on=pair)
case("nvmlDeviceGetNumGpuCores", numbers("gpu_cores", COUNTS), kept=True)
case(
    "nvmlDeviceGetCudaComputeCapability",
    [
        ({"musa_compute_capability": text}, answer)
        for text, answer in (("2.2", (2, 2)), ("3.1", (3, 1)), ("1.0", (1, 0)))
    ],
)
case(
    "nvmlDeviceGetCudaComputeCapability",
    [
        ({"musa_compute_capability": "0.0", "pci_device_id": "0x04001ed5"}, (3, 1)),
        ({"pci_device_id": "0x03231ed5"}, (2, 2)),
        ({"pci_device_id": "0x09991ed5", "name": "MTT S3000"}, (2, 1)),
        ({"name": "MTT S10"}, (1, 0)),
    ],
    kept=True,
)

# ---- Memory ----

MEMORY_CHANGES = [
    ({"memory_total": 85899345920, "memory_used": 1}, (85899345920, 85899345919, 1)),
    ({"memory_total": 1 << 33, "memory_used": (1 << 33) - 4096}, (1 << 33, 4096, (1 << 33) - 4096)),
]
case("nvmlDeviceGetMemoryInfo", MEMORY_CHANGES, read=attributes("total", "free", "used"), kept=True)
case(
    "nvmlDeviceGetMemoryInfo",
    # Total and used are two reads: where a driver's counters disagree, the free memory does not wrap around.
    [({"memory_used": used}, (1 << 34, max(0, (1 << 34) - used), used)) for used in (0, 5 << 32, 1 << 34)],
    read=attributes("total", "free", "used"),
)
case(
    "nvmlDeviceGetMemoryInfo",
    [(settings, answer + (0, 0x2000028)) for settings, answer in MEMORY_CHANGES],
    nvml.nvmlMemory_v2,
    read=attributes("total", "free", "used", "reserved", "version"),
    kept=True,
)
case("nvmlDeviceGetMemoryBusWidth", numbers("memory_bus_width", (64, 640)), kept=True)

# ---- Utilization and codecs ----

case(
    "nvmlDeviceGetUtilizationRates",
    [
        ({"gpu_utilization": 0, "memory_utilization": 100}, (0, 100)),
        ({"gpu_utilization": 71, "memory_utilization": 3}, (71, 3)),
    ],
    read=attributes("gpu", "memory"),
)
for coder in ("encoder", "decoder"):
    case(
        "nvmlDeviceGet%sUtilization" % coder.capitalize(),
        [
            ({coder + "_utilization": 0, "codec_sample_period": 167000}, [0, 167000]),
            ({coder + "_utilization": 93, "codec_sample_period": 1000000}, [93, 1000000]),
        ],
    )
for codec in (nvml.NVML_ENCODER_QUERY_H264, nvml.NVML_ENCODER_QUERY_HEVC, nvml.NVML_ENCODER_QUERY_AV1):
    case(
        "nvmlDeviceGetEncoderCapacity",
        [
            ({"encoder_capacity": 16, "encoder_sessions": ""}, 100),
            ({"encoder_sessions": SESSION % (0, 9, 64, 32, 30, 5, "AVC", "ACTIVE")}, 93),
            ({"encoder_capacity": 1}, 0),
            ({"encoder_capacity": 0}, UNSUPPORTED),
        ],
        codec,
    )
TWO_SESSIONS = ", ".join(
    (
        SESSION % (0, 11, 1920, 1080, 30, 1000, "AVC", "ACTIVE"),
        SESSION % (3, 12, 3840, 2160, 61, 3001, "HEVC", "ACTIVE"),
        SESSION % (5, 13, 640, 480, 99, 9, "AV1", "IDLE"),
    )
)
case(
    "nvmlDeviceGetEncoderStats",
    [
        ({"encoder_sessions": ""}, (0, 0, 0)),
        ({"encoder_sessions": TWO_SESSIONS}, (2, 45, 2000)),
        ({"decoder_capacity": 0}, (2, 45, 2000)),
        ({"encoder_capacity": 0}, (0, 0, 0)),
    ],
)
case(
    "nvmlDeviceGetEncoderSessions",
    [
        ({"encoder_sessions": ""}, []),
        (
            {"encoder_sessions": TWO_SESSIONS},
            [(0, 11, 0, 0, 1920, 1080, 30, 1000), (3, 12, 0, 1, 3840, 2160, 61, 3001)],
        ),
        (
            {"encoder_sessions": TWO_SESSIONS.replace("ACTIVE", "IDLE").replace("AV1 state=IDLE", "AV1 state=ACTIVE")},
            [(5, 13, 0, 2, 640, 480, 99, 9)],
        ),
        ({"encoder_sessions": SESSION % (1, 1, 1, 1, 1, 1, "VP9", "ACTIVE")}, [(1, 1, 0, 255, 1, 1, 1, 1)]),
        ({"decoder_capacity": 0}, [(1, 1, 0, 255, 1, 1, 1, 1)]),
        ({"encoder_capacity": 0}, []),
    ],
    read=lambda sessions: [tuple(getattr(session, name) for name, _ in session._fields_) for session in sessions],
)

# ---- Temperature, clocks, power, fans ----

case("nvmlDeviceGetTemperature nvmlDeviceGetTemperatureV1", numbers("gpu_temperature", SIGNED), 0)
case("nvmlDeviceGetTemperatureV", numbers("gpu_temperature", SIGNED), 0)
case("nvmlDeviceGetTemperatureThreshold", numbers("shutdown_temperature", SIGNED), 0)
case("nvmlDeviceGetTemperatureThreshold", numbers("slowdown_temperature", SIGNED), 1)
for threshold in (2, 7):
    case("nvmlDeviceGetTemperatureThreshold", [({}, UNSUPPORTED)], threshold)
case(
    "nvmlDeviceGetMarginTemperature",
    [
        ({"slowdown_temperature": 85, "gpu_temperature": 60}, 25),
        ({"gpu_temperature": 90}, -5),
        ({"gpu_temperature": -10}, 95),
    ],
)
for clock, unit in ((0, "gpu"), (1, "gpu"), (2, "memory"), (3, "vpu")):
    case("nvmlDeviceGetClockInfo", numbers(unit + "_clock"), clock)
    case("nvmlDeviceGetMaxClockInfo", numbers(unit + "_max_clock"), clock)
    case("nvmlDeviceGetClock", numbers(unit + "_clock"), clock, nvml.NVML_CLOCK_ID_CURRENT)
    case("nvmlDeviceGetClock", numbers(unit + "_max_clock"), clock, nvml.NVML_CLOCK_ID_CUSTOMER_BOOST_MAX)
case("nvmlDeviceGetClock", [({}, UNSUPPORTED)], 0, nvml.NVML_CLOCK_ID_APP_CLOCK_TARGET)
case("nvmlDeviceGetClock", [({}, UNSUPPORTED)], 4, nvml.NVML_CLOCK_ID_CURRENT)  # as nvmlDeviceGetClockInfo
case("nvmlDeviceGetClockInfo", [({}, UNSUPPORTED)], 4)
case("nvmlDeviceGetPowerUsage", numbers("power_usage"))
LIMIT = numbers("enforced_power_limit", (1, 950000), (0,))
case("nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetPowerManagementLimit", LIMIT)
case("nvmlDeviceGetPowerManagementDefaultLimit", numbers("default_power_limit", (1, 700000), (0,)))
case("nvmlDeviceGetPerformanceState nvmlDeviceGetPowerState", numbers("performance_state", (0, 8, 15)))
case("nvmlDeviceGetPerformanceState nvmlDeviceGetPowerState", [({"performance_state": 16}, 32)])
case("nvmlDeviceGetFanSpeed", numbers("fan_speed.0", (0, 55, 130)))
case("nvmlDeviceGetFanSpeed_v2 nvmlDeviceGetTargetFanSpeed", numbers("fan_speed.0", (0, 55, 130)), 0)
case("nvmlDeviceGetFanSpeed_v2 nvmlDeviceGetTargetFanSpeed", numbers("fan_speed.2", (0, 55, 130)), 2)
case("nvmlDeviceGetFanSpeedRPM", numbers("fan_rpm.0", (0, 1480, 5000)))
case("nvmlDeviceGetNumFans", [({"fan_speed": "1"}, 1), ({"fan_speed": "1, 2, 3, 4"}, 4)])

# ---- PCIe link ----

case("nvmlDeviceGetCurrPcieLinkGeneration", numbers("pci_cur_gen", COUNTS, (0,)))
GREATEST = numbers("pci_max_gen", COUNTS, (0,))
case("nvmlDeviceGetMaxPcieLinkGeneration nvmlDeviceGetGpuMaxPcieLinkGeneration", GREATEST)
case("nvmlDeviceGetCurrPcieLinkWidth", numbers("pci_cur_width", (1, 8), (0,)))
case("nvmlDeviceGetMaxPcieLinkWidth", numbers("pci_max_width", (4, 16)))
case(
    "nvmlDeviceGetPcieSpeed",
    [({"pci_cur_speed": gtps}, mbps) for gtps, mbps in ((0.5, 500), (2.5, 2500), (16, 16000), (32, 32000))]
    + numbers("pci_cur_speed", (), unknown=(0, "nan", "inf", -1, 1 << 20)),
)
case(
    "nvmlDeviceGetPcieLinkMaxSpeed",
    [({"pci_max_speed": gtps}, code) for gtps, code in ((2.5, 1), (5, 2), (8, 3), (16, 4), (32, 5), (64, 6))]
    + [({"pci_max_speed": 0, "pci_max_gen": gen}, gen) for gen in range(1, 7)]
    + [({"pci_max_speed": 0, "pci_max_gen": 0}, UNSUPPORTED), ({"pci_max_speed": 1, "pci_max_gen": 9}, UNSUPPORTED)],
)
case("nvmlDeviceGetPcieReplayCounter", numbers("pcie_replay_counter"))

# ---- ECC and retired pages ----

MODES = [
    ({"ecc_mode": "ENABLE", "ecc_pending_mode": "DISABLE"}, [1, 0]),
    ({"ecc_mode": "DISABLE", "ecc_pending_mode": "ENABLE"}, [0, 1]),
]
on_eight("nvmlDeviceGetEccMode", MODES)
on_eight("nvmlDeviceGetCurrentEccMode", [(settings, modes[0]) for settings, modes in MODES])
on_eight("nvmlDeviceGetPendingEccMode", [(settings, modes[1]) for settings, modes in MODES])
for error, error_name in enumerate(("corrected", "uncorrected")):
    for counter, counter_name in enumerate(("volatile", "aggregate")):
        key = "ecc_%s_%s" % (error_name, counter_name)
        on_eight("nvmlDeviceGetTotalEccErrors", numbers(key, WIDE), error, counter)
        on_eight("nvmlDeviceGetMemoryErrorCounter", numbers(key, WIDE), error, counter, 2)
for cause, key in enumerate(("retired_pages_sbe", "retired_pages_dbe")):
    on_eight(
        "nvmlDeviceGetRetiredPages",
        [({key: ""}, []), ({key: "0x1000@7, 0xfffffffffffff000@1700000000"}, [0x1000, 0xFFFFFFFFFFFFF000])],
        cause,
    )
    on_eight(
        "nvmlDeviceGetRetiredPages_v2",
        [
            ({key: "0x2000@8"}, [{"address": 0x2000, "timestamp": 8}]),
            (
                {key: "0x1000@7, 0xfffffffffffff000@1700000000"},
                [{"address": 0x1000, "timestamp": 7}, {"address": 0xFFFFFFFFFFFFF000, "timestamp": 1700000000}],
            ),
        ],
        cause,
    )
on_eight(
    "nvmlDeviceGetRetiredPagesPendingStatus",
    [({"retired_pages_pending": "yes"}, 1), ({"retired_pages_pending": "no"}, 0)],
)

# ---- Topology and affinity ----

LEVELS = [("INTERNAL", 0), ("SINGLE", 10), ("MULTIPLE", 20), ("HOSTBRIDGE", 30), ("NODE", 40), ("SYSTEM", 50)]
on_two("nvmlDeviceGetTopologyCommonAncestor", [({"topology.1": name}, level) for name, level in LEVELS], on=pair)
on_two(
    "nvmlDeviceGetTopologyNearestGpus",
    [({"topology.1": name}, [1] if level <= 30 else []) for name, level in LEVELS],
    30,
    read=indices,
)
P2P = [("OK", 0), ("CHIPSET_NOT_SUPPORTED", 1), ("GPU_NOT_SUPPORTED", 2), ("UNKNOWN", 6)]
for capability, key in ((0, "p2p_read"), (1, "p2p_write"), (4, "p2p_read")):
    on_two("nvmlDeviceGetP2PStatus", [({key: name}, status) for name, status in P2P], capability, on=pair)
for capability, key, without in ((2, "mtlink_state", "DOWN"), (3, "mtlink_p2p_atomics", "NOT_SUPPORTED")):
    on_eight("nvmlDeviceGetP2PStatus", [({}, 0), ({(0, key): without, (1, key): without}, 5)], capability, on=pair)
CPUS = [({"cpu_affinity": "0-3,64,127"}, [15, 1 | 1 << 63]), ({"cpu_affinity": "63"}, [1 << 63, 0])]
case("nvmlDeviceGetCpuAffinity", CPUS, 2, read=list)
case("nvmlDeviceGetCpuAffinityWithinScope", CPUS, 2, 0, read=list)
case("nvmlDeviceGetCpuAffinityWithinScope", CPUS, 2, 1, read=list)
NODES = [({"memory_affinity": "0-1"}, [3]), ({"memory_affinity": "5"}, [32])]
case("nvmlDeviceGetMemoryAffinity", NODES, 1, 0, read=list)
case(
    "nvmlDeviceGetNumaNodeId",
    [({"memory_affinity": str(node), "pci_segment": 0x7FFF}, node) for node in (0, 1, 70, 1023)],
)
on_two(
    "nvmlSystemGetTopologyGpuSet",
    [
        ({(0, "cpu_affinity"): "0-31", (1, "cpu_affinity"): "32-100"}, [1]),
        ({(0, "cpu_affinity"): "70", (1, "cpu_affinity"): "70"}, [0, 1]),
        ({(0, "cpu_affinity"): "", (1, "cpu_affinity"): "71"}, []),
    ],
    70,
    on=nothing,
    read=indices,
)

# ---- NVLink ----

on_eight(
    "nvmlDeviceGetNvLinkState",
    [({"mtlink_state.3": state}, active) for state, active in (("DOWN", 0), ("UP", 1), ("DOWN", 0), ("DOWNGRADE", 1))],
    3,
)
on_eight(
    "nvmlDeviceGetNvLinkVersion",
    [
        ({"mtlink_version": 10000 * major + 100 * minor}, version)
        for major, minor, version in ((1, 0, 1), (2, 0, 2), (2, 2, 3), (3, 0, 4), (3, 1, 5), (4, 0, 6), (5, 0, 7))
    ],
    0,
)
for capability, key in ((0, "mtlink_p2p_access.5"), (2, "mtlink_p2p_atomics.5")):
    on_eight("nvmlDeviceGetNvLinkCapability", [({key: "NOT_SUPPORTED"}, 0), ({key: "OK"}, 1)], 5, capability)
on_eight(
    "nvmlDeviceGetNvLinkRemotePciInfo",
    [({"mtlink_peer.4": "%d.0" % peer}, peer) for peer in (1, 6)],
    4,
    read=lambda info: index(nvml.nvmlDeviceGetHandleByPciBusId(info.busId)),
)
on_eight(
    "nvmlDeviceGetNvLinkRemoteDeviceType",
    [({(5, "visible"): "no", "mtlink_peer.0": "5.0"}, 255), ({(5, "visible"): "yes"}, 0)],
    0,
)

# ---- MIG and vGPU ----

case("nvmlDeviceGetMigMode", [({"mpc_mode": "ENABLE"}, [1, 1]), ({"mpc_mode": "DISABLE"}, [0, 0])], kept=True)
on_divided(
    "nvmlDeviceGetMaxMigDeviceCount",
    [({"mpc_configurations": text}, count) for text, count in (("0", 1), ("0, 2", 3), ("0, 4, 1", 8), ("", 0))],
    kept=True,
)
on_divided(
    "nvmlDeviceGetMigDeviceHandleByIndex",
    numbers((simulated.instance(0, 1), "uuid"), UUIDS),
    1,
    read=nvml.nvmlDeviceGetUUID,
    kept=True,
)
on_divided(
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
    numbers("uuid", UUIDS),
    on=mtml_device(1),
    read=nvml.nvmlDeviceGetUUID,
    kept=True,
)
on_divided(
    "nvmlDeviceIsMigDeviceHandle",
    [({"mpc_mode": "ENABLE"}, 1), ({"mpc_mode": "DISABLE"}, 0)],
    on=mtml_device(1),
    read=lambda answer: answer.value,
    kept=True,
)
on_divided(
    "nvmlDeviceGetGpuInstanceId",
    [({"mpc_configuration": 1}, 1), ({"mpc_configuration": 4}, 7)],
    on=lambda: mtml_device(nvml.mtmlLibraryCountDevice() - 2)(),
    kept=True,
)
on_divided(
    "nvmlDeviceGetAttributes nvmlDeviceGetAttributes_v2",
    [({"mpc_configuration": 1}, (4, 4, 16384)), ({"mpc_configuration": 4}, (1, 1, 4096))],
    on=mtml_device(1),
    read=attributes("multiprocessorCount", "gpuInstanceSliceCount", "memorySizeMB"),
    kept=True,
)
case(
    "nvmlDeviceGetVirtualizationMode",
    [
        ({"virt_capability": "no"}, 0),
        ({"virt_capability": "yes"}, 3),
        ({"virt_capability": "no", "virt_role": "GUEST_VIRTDEVICE"}, 2),
    ],
)
on_host(
    "nvmlDeviceGetSupportedVgpus",
    [({"virt_types": "mtgpu-1102"}, [1102]), ({"virt_types": "mtgpu-1132, mtgpu-1101"}, [1132, 1101])],
)
on_host(
    "nvmlDeviceGetCreatableVgpus",
    [
        ({"memory_total": 30 << 30}, [1101, 1102]),
        ({"memory_total": 64 << 30}, [1101, 1102, 1104, 1108, 1116, 1132]),
        ({"memory_total": 1 << 30}, []),
    ],
    kept=True,
)
SECOND = 2 << 16  # the second virtual device of the first card
on_second = functools.partial(
    on_host, on=lambda: nvml.nvmlDeviceGetActiveVgpus(nvml.nvmlDeviceGetHandleByIndex(0))[1:2]
)
on_second("nvmlVgpuInstanceGetUUID nvmlVgpuInstanceGetMdevUUID", numbers((SECOND, "uuid"), UUIDS), kept=True)
on_second("nvmlVgpuInstanceGetFbUsage", numbers((SECOND, "memory_used"), (0, 3 << 30, (1 << 34) - 1)))
on_second("nvmlVgpuInstanceGetType", [({(SECOND, "virt_type"): "mtgpu-%d" % kind}, kind) for kind in (1101, 1116)])
on_host(
    "nvmlVgpuTypeGetMaxInstances", [({"memory_total": 3 << 30}, 3), ({"memory_total": 1 << 40}, 32)], 1101, kept=True
)

# ---- What does not change ----

# Answers that are true of every one of these devices.
FIXED = {
    "nvmlDeviceGetBrand": nvml.NVML_BRAND_UNKNOWN,
    "nvmlDeviceGetBusType": nvml.NVML_BUS_TYPE_PCIE,
    "nvmlDeviceGetArchitecture": nvml.NVML_DEVICE_ARCH_UNKNOWN,
    "nvmlDeviceGetComputeMode": nvml.NVML_COMPUTEMODE_DEFAULT,
    "nvmlDeviceGetAccountingMode": nvml.NVML_FEATURE_DISABLED,
    "nvmlDeviceGetMPSComputeRunningProcesses": [],
    "nvmlDeviceGetMPSComputeRunningProcesses_v2": [],
    "nvmlDeviceGetMPSComputeRunningProcesses_v3": [],
}


def change(settings):
    for key, value in settings.items():
        number, name = key if isinstance(key, tuple) else (0, key)
        simulated.set_value(number, name, value)


def check(function, changes, arguments, options):
    """One row, with the handle and with a copy of it, which is asked for in another way."""
    read, kept = options.get("read", lambda value: value), options.get("kept")
    for settings, answer in changes:
        if kept and settings:
            nvml.nvmlShutdown()
        change(settings)
        if kept and settings:
            nvml.nvmlInit()
        given = tuple(options.get("on", device())()) + arguments
        for asked in (given, [ctypes.cast(one, HANDLE) if type(one) is HANDLE else one for one in given]):
            try:
                got = getattr(nvml, function)(*asked)
            except nvml.NVMLError as error:
                got = type(error)
            else:
                annotated = getattr(nvml, function).__annotations__.get("return")
                if annotated in ("int", "str", "float", "bool"):
                    assert type(got).__name__ == annotated, "%s is annotated as %s: %r" % (function, annotated, got)
                got = read(got)
            assert got == answer and type(got) is type(answer), "%s%r after %r" % (function, arguments, settings)


@pytest.mark.parametrize("function", sorted(CASES))
def test_value_follows_the_hardware(function):
    answers = [answer for changes, _, _ in CASES[function] for _, answer in changes if answer is not UNSUPPORTED]
    assert any(answer != answers[0] for answer in answers), "one answer alone could be a constant"
    for changes, arguments, options in CASES[function]:
        with simulated.nvml(options.get("profile", "s80")):
            check(function, changes, arguments, options)


def test_fixed_answers_still_check_the_device():
    with simulated.nvml("s80"):
        handle = nvml.nvmlDeviceGetHandleByIndex(0)
        support = nvml.nvmlGpmQueryDeviceSupport(handle)
        assert (support.version, support.isSupportedDevice) == (1, 0)
        for function in FIXED:
            assert getattr(nvml, function)(handle) == FIXED[function]
            pytest.raises(nvml.NVMLError_InvalidArgument, getattr(nvml, function), None)


@pytest.mark.parametrize("function", ["nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"])
def test_cuda_driver_version_is_that_of_musa(function, monkeypatch):
    with simulated.nvml("s80"):
        for version in (4030, 12345):
            monkeypatch.setenv("MTML_SIM_MUSA_VERSION", str(version))
            assert getattr(nvml, function)() == version
    for other in (simulated.LIBRARY, "/nonexistent/libmusa.so"):  # a library, but not of MUSA
        monkeypatch.setenv("PYMTML_MUSA_LIBRARY", other)
        with simulated.nvml("s80"):
            for _ in range(2):
                pytest.raises(nvml.NVMLError_NotSupported, getattr(nvml, function))


FAILING = "int muDriverGetVersion(int *version) { return *version = 7; }"


@pytest.mark.parametrize("first", [None, "another library", "one that fails"])
def test_cuda_driver_version_of_the_second_name_tried(first, tmp_path):
    """There is no libmusa.so.1, or it is something else, or it fails: the other name is tried, each time."""
    if first == "another library":
        tmp_path.joinpath("libmusa.so.1").symlink_to(simulated.LIBRARY)
    elif first:
        tmp_path.joinpath("musa.c").write_text(FAILING)
        command = ["cc", "-shared", "-fPIC", "-o", str(tmp_path / "libmusa.so.1"), str(tmp_path / "musa.c")]
        subprocess.run(command, check=True)
    tmp_path.joinpath("libmusa.so").symlink_to(simulated.MUSA_LIBRARY)
    code = "import pymtml as nvml\nnvml.nvmlInit()\n"
    code += "print([nvml.nvmlSystemGetCudaDriverVersion() for _ in range(3)])"
    variables = {"LD_LIBRARY_PATH": str(tmp_path), "PYMTML_LIBRARY": simulated.LIBRARY}
    result = simulated.run_python(code, extra_environment=variables)
    assert (result.stdout, result.stderr) == ("[4030, 4030, 4030]\n", "")


def test_set_ecc_mode():
    with simulated.nvml("s5000x8"):
        handle = nvml.nvmlDeviceGetHandleByIndex(3)
        for mode, name in ((0, "DISABLE"), (1, "ENABLE"), (0, "DISABLE")):
            assert nvml.nvmlDeviceSetEccMode(handle, mode) is None
            assert simulated.get_value(3, "ecc_pending_mode") == name
            assert nvml.nvmlDeviceGetEccMode(handle) == [1, mode]
        assert simulated.get_value(2, "ecc_pending_mode") == "ENABLE"


@pytest.mark.parametrize("counter, cleared, left", [(0, "volatile", "aggregate"), (1, "aggregate", "volatile")])
def test_clear_ecc_error_counts(counter, cleared, left, device):
    for error in ("corrected", "uncorrected"):
        for kind in ("volatile", "aggregate"):
            simulated.set_value(0, "ecc_%s_%s" % (error, kind), 9)
    assert nvml.nvmlDeviceClearEccErrorCounts(device, counter) is None
    for error in ("corrected", "uncorrected"):
        assert simulated.get_value(0, "ecc_%s_%s" % (error, cleared)) == "0"
        assert simulated.get_value(0, "ecc_%s_%s" % (error, left)) == "9"


def test_numa_node_of_the_kernel_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    with simulated.nvml("s80"):
        handle = nvml.nvmlDeviceGetHandleByIndex(0)
        change({"pci_segment": 0x7FFF, "memory_affinity": "5"})
        node = tmp_path / "bus" / "pci" / "devices" / "7fff:01:00.0" / "numa_node"
        node.parent.mkdir(parents=True)
        # -1 is the kernel's word for "not known"
        for text, answer in (("3\n", 3), ("0\n", 0), ("-1\n", 5), ("nonsense", 5)):
            node.write_text(text)
            assert nvml.nvmlDeviceGetNumaNodeId(handle) == answer, text
        change({"memory_affinity": "0-1"})
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlDeviceGetNumaNodeId, handle)


# ---- Is the table complete? ----


def refuses(name, position):
    """Whether a function refuses on a device, in whatever it is asked."""
    arguments = every_function.fill(name, nvml.mtmlLibraryInitDeviceByIndex(position))
    try:
        getattr(nvml, name)(*arguments)
    except nvml.NVMLError_NotSupported:
        return True
    except nvml.NVMLError:
        pass  # it looks at its arguments: more than a refusal does
    return False


def test_no_answering_function_is_left_out():
    """Each that does more than refuse, on some device of some machine, is in the table or named in another file."""
    words = set(CASES) | set(FIXED)
    for name in os.listdir(HERE):
        if name.startswith("test_") and name != "test_surface.py":
            with open(os.path.join(HERE, name), encoding="utf-8") as file:
                words.update(re.findall(r"nvml[A-Z]\w+", file.read()))
    uncovered = set(every_function.FUNCTIONS) - words
    for profile in set(simulated.ALL_PROFILES) - {"no-driver"} if uncovered else ():
        with simulated.nvml(profile):
            for position in range(nvml.mtmlLibraryCountDevice()):
                found = [name for name in uncovered if not refuses(name, position)]
                assert not found, "tests/test_values.py has no case of %s" % ", ".join(found)
