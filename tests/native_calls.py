"""How to call each function of the C header through pymtml, and what a simulated machine's profile says it answers."""

import ctypes
import json
import os

import simulated

import pymtml

with open(os.path.join(simulated.ROOT, "facts", "mtml_api.json"), encoding="utf-8") as _file:
    API = json.load(_file)
with open(os.path.join(simulated.ROOT, "facts", "cards.json"), encoding="utf-8") as _file:
    CARDS_KNOWN = json.load(_file)["cards"]

FUNCTIONS = API["functions"]
# Those outside the 2.2.0 header.
BEYOND = {name: function for name, function in FUNCTIONS.items() if function["since"] != "2.2.0"}
ENUMS = {name: value for values in API["enums"].values() for name, value in values.items()}
CODES = API["enums"]["MtmlReturn"]
# From the oldest on: the high byte of the PCI id counts them.
GENERATIONS = sorted(
    (card["pci_device"][0], card["generation"]) for card in CARDS_KNOWN.values() if "generation" in card
)
GENERATIONS = list(dict.fromkeys(generation for _, generation in GENERATIONS))

CARDS = (("s80", 0), ("s3000x2", 1), ("s4000x8", 4), ("s5000x8", 3), ("s5000x8", 5))
LINKED = (("s80", 0), ("s4000x8", 4), ("s5000x8", 5))
FANS = (("s5000x8", 3), ("s80", 0))
PARENT = (("s3000-mpc", 0),)
INSTANCES = (("s3000-mpc", 1), ("s3000-mpc", 3))
HOST = (("s3000-vgpu-host", 0), ("s3000-vgpu-host", 1))


def numbers(text):
    """The numbers of a comma-separated list."""
    return [int(item, 0) for item in text.split(",")] if text else []


def mask(text):
    """The bits that a list such as 0-31,64-95 stands for, in one number."""
    bits = 0
    for item in text.split(","):
        first, _, last = item.partition("-")
        for number in range(int(first), int(last or first) + 1):
            bits |= 1 << number
    return bits


def words(bits, count):
    """A number as 64-bit words, the lowest first."""
    return [bits >> 64 * word & (1 << 64) - 1 for word in range(count)]


def sessions(text):
    """The codec sessions of a profile, each a dict of the key=value pairs it is written with."""
    return [dict(pair.split("=") for pair in item.split()) for item in text.split(",")] if text else []


def pages(text):
    """The retired pages of a profile, as (address, timestamp)."""
    return [tuple(int(part, 0) for part in item.split("@")) for item in text.split(",")] if text else []


def plain(value):
    """A result as Python data to compare: structs as dicts without reserved fields, function pointers as addresses."""
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value)
    if hasattr(value, "argtypes"):
        return ctypes.cast(value, ctypes.c_void_p).value
    if hasattr(value, "_fields_"):
        fields = [field[0] for field in value._fields_ if "rsvd" not in field[0]]
        more = {name: more for name, more in vars(value).items() if not name.startswith("_")}  # PyPy's ctypes has some
        return dict(more, **{field: plain(getattr(value, field)) for field in fields})
    if hasattr(value, "_length_"):
        return list(value)
    return value


class Scene:
    """An initialized machine: the handles of one device, the index-th, and what the profile says about it."""

    def __init__(self, name, index=0, **variables):
        self.name, self.index = name, index
        self._machine = simulated.machine(name, **variables)
        self.profile = simulated.profile(name)
        self.card = 0 if name == "s3000-mpc" and index < 4 else max(0, index - 3) if name == "s3000-mpc" else index
        self.keys = simulated.device_keys(name, self.card) if name not in ("empty", "no-driver") else {}
        self.number = self.card
        if name == "s3000-mpc" and 1 <= index <= 3:
            self.keys.update(self.profile["device.0.instance.%d" % (index - 1)])
            self.number = simulated.instance(0, index - 1)

    def __enter__(self):
        self._machine.__enter__()
        try:
            self.library = pymtml.mtmlLibraryInit()
        except BaseException:
            self._machine.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *exception):
        try:
            simulated.set_faults("")
            simulated.shut_down()
        finally:
            self._machine.__exit__(*exception)

    def at(self, index):
        return pymtml.mtmlLibraryInitDeviceByIndex(index)

    @property
    def device(self):
        return self.at(self.index)

    @property
    def peer(self):
        """The next card, or the same one where it is alone."""
        return self.at(self.peer_index)

    @property
    def peer_index(self):
        cards = sum(1 for section in self.profile if section.startswith("device.") and section.count(".") == 1)
        return self.index ^ 1 if self.index ^ 1 < cards else self.index

    @property
    def gpu(self):
        return pymtml.mtmlDeviceInitGpu(self.device)

    @property
    def memory(self):
        return pymtml.mtmlDeviceInitMemory(self.device)

    @property
    def vpu(self):
        return pymtml.mtmlDeviceInitVpu(self.device)

    @property
    def system(self):
        return pymtml.mtmlLibraryInitSystem()

    @property
    def virt(self):
        """The last active virtual device of the first card."""
        return pymtml.mtmlDeviceInitVirtDevice(self.at(0), self.virt_keys["uuid"])

    @property
    def virt_keys(self):
        return self.profile["device.0.virt.2"]

    @property
    def virt_type(self):
        """The card's third virtual type, as the library describes it."""
        return pymtml.mtmlDeviceGetSupportedVirtTypes(self.at(0), len(_virt_names(self)))[2]

    def integer(self, key):
        return int(self.keys[key], 0)

    def supports(self, function):
        """Whether the profile lets the device answer the function."""
        oldest = FUNCTIONS[function].get("min_generation", "SUDI")
        keys = FUNCTIONS[function].get("keys")
        if keys and not set(keys) & set(self.keys):
            return False
        return GENERATIONS.index(self.keys["generation"]) >= GENERATIONS.index(oldest) and function not in [
            name.strip() for name in self.keys.get("unsupported", "").split(",")
        ]


class Call:
    """Machines to call a function on; its arguments, what it returns and what else it changes, each from a Scene."""

    def __init__(self, machines, arguments, expected, effect=None):
        self.machines, self.arguments, self.expected, self.effect = machines, arguments, expected, effect


def _of(handle, machines, expected, *more, effect=None):
    """A function of a handle, and perhaps of constants."""
    return Call(machines, lambda m: (getattr(m, handle),) + more, expected, effect)


def _key(machines, handle, key, convert=str):
    return _of(handle, machines, lambda m: convert(m.keys[key]))


def _text(key):
    return _key(CARDS, "device", key)


def _number(handle, key):
    return _key(CARDS, handle, key, lambda text: int(text, 0))


def _enum(handle, key, prefix):
    return _key(CARDS, handle, key, lambda text: ENUMS[prefix + text])


def _free(machines, handle):
    return _of(handle, machines, lambda m: None)


def _pci_info(m):
    keys = ("segment", "bus", "device")
    info = {key: m.integer("pci_" + key) for key in keys}
    info.update(
        sbdf=m.keys["pci_sbdf"],
        pciDeviceId=m.integer("pci_device_id"),
        pciSubsystemId=m.integer("pci_subsystem_id"),
        busWidth=m.integer("pci_bus_width"),
        pciMaxSpeed=float(m.keys["pci_max_speed"]),
        pciCurSpeed=float(m.keys["pci_cur_speed"]),
        pciMaxWidth=m.integer("pci_max_width"),
        pciCurWidth=m.integer("pci_cur_width"),
        pciMaxGen=m.integer("pci_max_gen"),
        pciCurGen=m.integer("pci_cur_gen"),
    )
    return info


def _property(m):
    instance = m.number != m.card
    mpc = m.keys.get("mpc_mode") == "ENABLE"
    return {
        "virtCap": int(m.keys.get("virt_capability") == "yes"),
        "virtRole": ENUMS["MTML_VIRT_ROLE_" + m.keys.get("virt_role", "NONE")],
        "mpcCap": int(m.keys.get("mpc_capability") == "yes" and not instance),
        "mpcType": ENUMS["MTML_MPC_TYPE_" + ("INSTANCE" if instance else "PARENT" if mpc else "NONE")],
        "mtLinkCap": int(m.keys.get("mtlink_capability") == "yes"),
    }


def _displays(m):
    return [item.strip() for item in m.keys["displays"].split(",") if item.strip()]


def _display(m):
    kind, mode = _displays(m)[-1].split()
    size, rate = mode.split("@")
    width, height = size.split("x")
    return {
        "type": ENUMS["MTML_DISP_INTF_TYPE_" + kind],
        "maxHoriRes": int(width),
        "maxVertRes": int(height),
        "maxRefreshRate": float(rate),
    }


def _states(key, capacity):
    def expected(m):
        states = [ENUMS["MTML_CODEC_SESSION_STATE_IDLE"]] * m.integer(capacity)
        for session in sessions(m.keys.get(key, "")):
            states[int(session["id"])] = ENUMS["MTML_CODEC_SESSION_STATE_" + session["state"]]
        return [{"sessionId": i, "state": state} for i, state in enumerate(states)]

    return expected


def _metrics(key):
    def expected(m):
        session = sessions(m.keys[key])[-1]
        return {
            "id": int(session["id"]),
            "pid": int(session["pid"]),
            "hResolution": int(session["width"]),
            "vResolution": int(session["height"]),
            "frameRate": int(session["fps"]),
            "bitRate": int(session["bitrate"]),
            "latency": int(session["latency"]),
            "codecType": ENUMS["MTML_CODEC_TYPE_" + session["codec"]],
        }

    return expected


def _session_id(key):
    return lambda m: (m.vpu, int(sessions(m.keys[key])[-1]["id"]))


def _virt_type(m, name):
    keys = m.profile["virt_type." + name]
    return {
        "id": name,
        "name": keys["name"],
        "api": keys["api"],
        "horizontalResolution": int(keys["horizontal_resolution"]),
        "verticalResolution": int(keys["vertical_resolution"]),
        "frameBuffer": int(keys["frame_buffer"]),
        "maxEncodeNum": int(keys["max_encode"]),
        "maxDecodeNum": int(keys["max_decode"]),
        "maxInstances": int(keys["max_instances"]),
        "maxVirtualDisplay": int(keys["max_displays"]),
    }


def _virt_names(m):
    return [name.strip() for name in m.keys["virt_types"].split(",")]


def _virt_sections(m):
    return [keys for section, keys in sorted(m.profile.items()) if section.startswith("device.%d.virt." % m.card)]


def _room(m, name):
    """How many more virtual devices of a type fit into the memory that the active ones leave."""
    taken = [m.profile["virt_type." + keys["virt_type"]] for keys in _virt_sections(m)]
    left = m.integer("memory_total") // 2**20 - sum(int(keys["frame_buffer"]) for keys in taken)
    wanted = m.profile["virt_type." + name]
    same = sum(1 for keys in _virt_sections(m) if keys["virt_type"] == name)
    return min(left // int(wanted["frame_buffer"]), int(wanted["max_instances"]) - same)


def _mpc_profile(m, number):
    keys = m.profile["mpc_profile.%d" % number]
    return {"id": number, "coreCount": int(keys["cores"]), "memorySizeMB": int(keys["memory"]), "name": keys["name"]}


def _mpc_configuration(m, number):
    keys = m.profile["mpc_configuration.%d" % number]
    profiles = numbers(keys["profiles"])
    return {"id": number, "name": keys["name"], "profileId": profiles + [-1] * (16 - len(profiles))}


def _mpc_profiles_in_force(m):
    """Profile ids of the instances of the card, in their order."""
    return numbers(m.profile["mpc_configuration.%d" % m.integer("mpc_configuration")]["profiles"])


def _level(m, other):
    """MTML_TOPOLOGY_* of the scene's card and another one."""
    mine, theirs = m.keys, simulated.device_keys(m.name, other)
    for key, level in (
        ("board", "INTERNAL"),
        ("pcie_switch", "SINGLE"),
        ("switch_group", "MULTIPLE"),
        ("host_bridge", "HOSTBRIDGE"),
        ("numa_node", "NODE"),
    ):
        if mine[key] == theirs[key]:
            return ENUMS["MTML_TOPOLOGY_" + level]
    return ENUMS["MTML_TOPOLOGY_SYSTEM"]


def _at_level(m, level):
    cards = [int(section[7:]) for section in m.profile if section.startswith("device.") and section.count(".") == 1]
    return [card for card in sorted(cards) if card != m.card and _level(m, card) == level]


def _peers(m):
    """(card, link) at the other end of each MtLink."""
    return [tuple(int(part) for part in item.split(".")) for item in m.keys["mtlink_peer"].split(",")]


def _layouts(m):
    return [
        {"localLinkId": link, "remoteLinkId": remote}
        for link, (card, remote) in enumerate(_peers(m))
        if card == m.peer_index
    ]


def _every(values, index):
    """An element of a list whose last one stands for all that follow."""
    values = [value.strip() for value in values.split(",")]
    return values[min(index, len(values) - 1)]


def log_configuration():
    """A log configuration that is silent but not empty."""
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.callbackConfig.level = pymtml.MTML_LOG_LEVEL_OFF
    configuration.fileConfig.level = pymtml.MTML_LOG_LEVEL_ERROR
    configuration.fileConfig.size = 7
    return configuration


SYSTEM_LEVEL = ENUMS["MTML_TOPOLOGY_SYSTEM"]

CALLS = {
    "mtmlLibraryGetVersion": Call(CARDS, lambda m: (), lambda m: m.profile["machine"]["library_version"]),
    "mtmlLibraryInitSystem": Call(CARDS, lambda m: (), lambda m: m.system),
    "mtmlLibraryFreeSystem": _free(CARDS, "system"),
    "mtmlLibraryCountDevice": Call(
        CARDS + PARENT + HOST,
        lambda m: (),
        lambda m: sum(
            m.profile[s].get("visible", "yes") == "yes"
            for s in m.profile
            if s.startswith("device.") and ".virt." not in s
        ),
    ),
    "mtmlLibraryInitDeviceByIndex": _of("index", CARDS + INSTANCES, lambda m: m.device),
    "mtmlLibraryInitDeviceByUuid": Call(CARDS + INSTANCES, lambda m: (m.keys["uuid"],), lambda m: m.device),
    "mtmlLibraryInitDeviceByPciSbdf": Call(CARDS, lambda m: (m.keys["pci_sbdf"],), lambda m: m.device),
    "mtmlLibrarySetMpcConfigurationInBatch": Call(
        PARENT,
        lambda m: ([m.at(0), m.at(4)], [1, 3]),
        lambda m: None,
        lambda m: [simulated.get_value(card, "mpc_configuration") for card in (0, 1)] == ["1", "3"],
    ),
    "mtmlLibraryFreeDevice": _free(CARDS, "device"),
    "mtmlSystemGetDriverVersion": _of("system", CARDS, lambda m: m.profile["machine"]["driver_version"]),
    "mtmlDeviceInitGpu": _of("device", CARDS, lambda m: m.gpu),
    "mtmlDeviceFreeGpu": _free(CARDS, "gpu"),
    "mtmlDeviceInitMemory": _of("device", CARDS, lambda m: m.memory),
    "mtmlDeviceFreeMemory": _free(CARDS, "memory"),
    "mtmlDeviceInitVpu": _of("device", CARDS, lambda m: m.vpu),
    "mtmlDeviceFreeVpu": _free(CARDS, "vpu"),
    "mtmlDeviceGetIndex": _of("device", CARDS + INSTANCES, lambda m: m.index),
    "mtmlDeviceGetUUID": _key(CARDS + INSTANCES, "device", "uuid"),
    "mtmlDeviceGetBrand": _enum("device", "brand", "MTML_BRAND_"),
    "mtmlDeviceGetName": _text("name"),
    "mtmlDeviceGetPciInfo": _of("device", CARDS, _pci_info),
    "mtmlDeviceGetPowerUsage": _number("device", "power_usage"),
    "mtmlDeviceGetGpuPath": _key(CARDS + INSTANCES, "device", "gpu_path"),
    "mtmlDeviceGetPrimaryPath": _key(CARDS + INSTANCES, "device", "primary_path"),
    "mtmlDeviceGetRenderPath": _key(CARDS + INSTANCES, "device", "render_path"),
    "mtmlDeviceGetVbiosVersion": _text("mtbios_version"),
    "mtmlDeviceGetMtBiosVersion": _text("mtbios_version"),
    "mtmlDeviceGetProperty": _of("device", CARDS + PARENT + INSTANCES + HOST, _property),
    "mtmlDeviceCountFan": _of("device", FANS, lambda m: len(numbers(m.keys["fan_speed"]))),
    "mtmlDeviceGetFanSpeed": _of("device", FANS, lambda m: numbers(m.keys["fan_speed"])[2], 2),
    "mtmlDeviceGetFanRpm": _of("device", FANS, lambda m: numbers(m.keys["fan_rpm"])[1], 1),
    "mtmlDeviceGetPcieSlotInfo": _of(
        "device", CARDS, lambda m: {"slotId": m.integer("slot_id"), "slotName": m.keys["slot_name"]}
    ),
    "mtmlDeviceCountDisplayInterface": _of("device", CARDS, lambda m: len(_displays(m))),
    "mtmlDeviceGetDisplayInterfaceSpec": Call(
        (("s80", 0), ("s3000x2", 1)), lambda m: (m.device, len(_displays(m)) - 1), _display
    ),
    "mtmlDeviceGetSerialNumber": _text("serial_number"),
    "mtmlDeviceCountGpuCores": _number("device", "gpu_cores"),
    "mtmlDeviceCountSupportedVirtTypes": _of("device", HOST, lambda m: len(_virt_names(m))),
    "mtmlDeviceGetSupportedVirtTypes": _of(
        "device", HOST, lambda m: [_virt_type(m, name) for name in _virt_names(m)], 6
    ),
    "mtmlDeviceCountAvailVirtTypes": _of(
        "device", HOST, lambda m: sum(1 for name in _virt_names(m) if _room(m, name) > 0)
    ),
    "mtmlDeviceGetAvailVirtTypes": _of(
        "device", HOST, lambda m: [_virt_type(m, name) for name in _virt_names(m) if _room(m, name) > 0]
    ),
    "mtmlDeviceCountAvailVirtDevices": Call(
        HOST, lambda m: (m.device, m.virt_type), lambda m: _room(m, _virt_names(m)[2])
    ),
    "mtmlDeviceCountActiveVirtDevices": _of("device", HOST, lambda m: len(_virt_sections(m))),
    "mtmlDeviceGetActiveVirtDeviceUuids": _of(
        "device", HOST, lambda m: [keys["uuid"] for keys in _virt_sections(m)], 48, 3
    ),
    "mtmlDeviceCountMaxVirtDevices": Call(
        HOST,
        lambda m: (m.device, m.virt_type),
        lambda m: int(m.profile["virt_type." + _virt_names(m)[2]]["max_instances"]),
    ),
    "mtmlDeviceInitVirtDevice": Call(HOST[:1], lambda m: (m.device, m.virt_keys["uuid"]), lambda m: m.virt),
    "mtmlDeviceFreeVirtDevice": _free(HOST, "virt"),
    "mtmlDeviceGetVirtType": _of("virt", HOST, lambda m: _virt_type(m, m.virt_keys["virt_type"])),
    "mtmlDeviceGetPhyDeviceUuid": _of("virt", HOST, lambda m: m.profile["device.0"]["uuid"]),
    "mtmlDeviceGetTopologyLevel": Call(CARDS, lambda m: (m.device, m.peer), lambda m: _level(m, m.peer_index)),
    "mtmlDeviceCountDeviceByTopologyLevel": _of(
        "device", CARDS, lambda m: len(_at_level(m, SYSTEM_LEVEL)), SYSTEM_LEVEL
    ),
    "mtmlDeviceGetDeviceByTopologyLevel": _of(
        "device", CARDS, lambda m: [m.at(card) for card in _at_level(m, SYSTEM_LEVEL)], SYSTEM_LEVEL
    ),
    "mtmlDeviceGetP2PStatus": Call(
        CARDS,
        lambda m: (m.device, m.peer, ENUMS["MTML_P2P_CAPS_WRITE"]),
        lambda m: ENUMS["MTML_P2P_STATUS_" + _every(m.keys["p2p_write"], m.peer_index)],
    ),
    "mtmlGpuGetUtilization": _number("gpu", "gpu_utilization"),
    "mtmlGpuGetTemperature": _number("gpu", "gpu_temperature"),
    "mtmlGpuGetClock": _number("gpu", "gpu_clock"),
    "mtmlGpuGetMaxClock": _number("gpu", "gpu_max_clock"),
    "mtmlGpuGetEngineUtilization": _of(
        "gpu", CARDS, lambda m: numbers(m.keys["engine_utilization"])[2], ENUMS["MTML_GPU_ENGINE_3D"]
    ),
    "mtmlMemoryGetTotal": _number("memory", "memory_total"),
    "mtmlMemoryGetUsed": _number("memory", "memory_used"),
    "mtmlMemoryGetUsedSystem": _number("memory", "memory_used_system"),
    "mtmlMemoryGetUtilization": _number("memory", "memory_utilization"),
    "mtmlMemoryGetClock": _number("memory", "memory_clock"),
    "mtmlMemoryGetMaxClock": _number("memory", "memory_max_clock"),
    "mtmlMemoryGetBusWidth": _number("memory", "memory_bus_width"),
    "mtmlMemoryGetBandwidth": _number("memory", "memory_bandwidth"),
    "mtmlMemoryGetSpeed": _number("memory", "memory_speed"),
    "mtmlMemoryGetVendor": _key(CARDS, "memory", "memory_vendor"),
    "mtmlMemoryGetType": _enum("memory", "memory_type", "MTML_MEM_TYPE_"),
    "mtmlVpuGetUtilization": _of(
        "vpu",
        CARDS,
        lambda m: {
            "util": m.integer("vpu_utilization"),
            "period": m.integer("codec_sample_period"),
            "encUtil": m.integer("encoder_utilization"),
            "decUtil": m.integer("decoder_utilization"),
        },
    ),
    "mtmlVpuGetClock": _number("vpu", "vpu_clock"),
    "mtmlVpuGetMaxClock": _number("vpu", "vpu_max_clock"),
    "mtmlVpuGetCodecCapacity": _of(
        "vpu", CARDS + INSTANCES, lambda m: (m.integer("encoder_capacity"), m.integer("decoder_capacity"))
    ),
    "mtmlVpuGetEncoderSessionStates": _of("vpu", CARDS + INSTANCES, _states("encoder_sessions", "encoder_capacity")),
    "mtmlVpuGetEncoderSessionMetrics": Call(
        (("s80", 0), ("s4000x8", 4), ("s3000-mpc", 1)), _session_id("encoder_sessions"), _metrics("encoder_sessions")
    ),
    "mtmlVpuGetDecoderSessionStates": _of("vpu", CARDS + INSTANCES, _states("decoder_sessions", "decoder_capacity")),
    "mtmlVpuGetDecoderSessionMetrics": Call(
        (("s80", 0), ("s4000x8", 4)), _session_id("decoder_sessions"), _metrics("decoder_sessions")
    ),
    "mtmlLogSetConfiguration": Call(
        CARDS[:1],
        lambda m: (log_configuration(),),
        lambda m: None,
        lambda m: pymtml.mtmlLogGetConfiguration().fileConfig.size == 7,
    ),
    "mtmlLogGetConfiguration": Call(
        CARDS[:1],
        lambda m: pymtml.mtmlLogSetConfiguration(log_configuration()) or (),
        lambda m: plain(log_configuration()),
    ),
    "mtmlErrorString": Call(CARDS[:1], lambda m: (pymtml.MTML_ERROR_NOT_FOUND,), lambda m: "Not found"),
    "mtmlDeviceSetMpcMode": Call(
        PARENT + (("s80", 0),),
        lambda m: (m.device, int(m.name == "s80")),
        lambda m: None,
        lambda m: simulated.get_value(0, "mpc_mode") == ("ENABLE" if m.name == "s80" else "DISABLE"),
    ),
    "mtmlDeviceGetMpcMode": _of("device", CARDS + PARENT, lambda m: int(m.keys.get("mpc_mode") == "ENABLE")),
    "mtmlDeviceCountSupportedMpcProfiles": _of("device", PARENT, lambda m: len(numbers(m.keys["mpc_profiles"]))),
    "mtmlDeviceGetSupportedMpcProfiles": _of(
        "device", PARENT, lambda m: [_mpc_profile(m, i) for i in numbers(m.keys["mpc_profiles"])], 4
    ),
    "mtmlDeviceCountSupportedMpcConfigurations": _of(
        "device", PARENT, lambda m: len(numbers(m.keys["mpc_configurations"]))
    ),
    "mtmlDeviceGetSupportedMpcConfigurations": _of(
        "device", PARENT, lambda m: [_mpc_configuration(m, i) for i in numbers(m.keys["mpc_configurations"])], 5
    ),
    "mtmlDeviceGetMpcConfiguration": _of(
        "device", PARENT, lambda m: _mpc_configuration(m, m.integer("mpc_configuration"))
    ),
    "mtmlDeviceGetMpcConfigurationByName": _of("device", PARENT, lambda m: _mpc_configuration(m, 3), "8-2222"),
    "mtmlDeviceSetMpcConfiguration": _of(
        "device", PARENT, lambda m: None, 3, effect=lambda m: simulated.get_value(0, "mpc_configuration") == "3"
    ),
    "mtmlDeviceCountMpcInstancesByProfileId": _of("device", PARENT, lambda m: _mpc_profiles_in_force(m).count(2), 2),
    "mtmlDeviceGetMpcInstancesByProfileId": _of(
        "device",
        PARENT,
        lambda m: [m.at(1 + i) for i, number in enumerate(_mpc_profiles_in_force(m)) if number == 2],
        2,
    ),
    "mtmlDeviceCountMpcInstances": _of("device", PARENT, lambda m: len(_mpc_profiles_in_force(m))),
    "mtmlDeviceGetMpcInstances": _of(
        "device", PARENT, lambda m: [m.at(1 + i) for i in range(len(_mpc_profiles_in_force(m)))], 3
    ),
    "mtmlDeviceGetMpcInstanceByIndex": _of("device", PARENT, lambda m: m.at(2), 1),
    "mtmlDeviceGetMpcParentDevice": _of("device", INSTANCES, lambda m: m.at(0)),
    "mtmlDeviceGetMpcProfileInfo": _of(
        "device", INSTANCES, lambda m: _mpc_profile(m, _mpc_profiles_in_force(m)[m.index - 1])
    ),
    "mtmlDeviceGetMpcInstanceIndex": _of("device", INSTANCES, lambda m: m.index - 1),
    "mtmlDeviceGetMtLinkSpec": _of(
        "device",
        LINKED,
        lambda m: {
            "version": m.integer("mtlink_version"),
            "bandWidth": m.integer("mtlink_bandwidth"),
            "linkNum": m.integer("mtlink_count"),
        },
    ),
    "mtmlDeviceGetMtLinkState": _of(
        "device", LINKED, lambda m: ENUMS["MTML_MTLINK_STATE_" + _every(m.keys["mtlink_state"], 3)], 3
    ),
    "mtmlDeviceGetMtLinkCapStatus": _of(
        "device",
        LINKED,
        lambda m: ENUMS["MTML_MTLINK_CAP_STATUS_" + _every(m.keys["mtlink_p2p_atomics"], 3)],
        3,
        ENUMS["MTML_MTLINK_CAP_P2P_ATOMICS"],
    ),
    "mtmlDeviceGetMtLinkRemoteDevice": _of("device", LINKED, lambda m: m.at(_peers(m)[3][0]), 3),
    "mtmlDeviceCountMtLinkShortestPaths": Call(LINKED, lambda m: (m.device, m.peer), lambda m: (1, 2)),
    "mtmlDeviceGetMtLinkShortestPaths": Call(
        LINKED, lambda m: (m.device, m.peer, 1, 2), lambda m: [[m.device, m.peer]]
    ),
    "mtmlDeviceCountMtLinkLayouts": Call(LINKED, lambda m: (m.device, m.peer), lambda m: len(_layouts(m))),
    "mtmlDeviceGetMtLinkLayouts": Call(LINKED, lambda m: (m.device, m.peer, 2), _layouts),
    "mtmlDeviceGetMemoryAffinityWithinNode": _of(
        "device", CARDS, lambda m: words(mask(m.keys["memory_affinity"]), 1), 1
    ),
    "mtmlDeviceGetCpuAffinityWithinNode": _of("device", CARDS, lambda m: words(mask(m.keys["cpu_affinity"]), 3), 3),
    "mtmlDeviceReset": _of(
        "device", CARDS, lambda m: None, effect=lambda m: simulated.get_value(m.card, "resets") == "1"
    ),
    "mtmlMemorySetEccMode": _of(
        "memory",
        LINKED,
        lambda m: None,
        ENUMS["MTML_MEMORY_ECC_DISABLE"],
        effect=lambda m: simulated.get_value(m.card, "ecc_pending_mode") == "DISABLE",
    ),
    "mtmlMemoryGetEccMode": _of(
        "memory",
        LINKED,
        lambda m: tuple(ENUMS["MTML_MEMORY_ECC_" + m.keys[key]] for key in ("ecc_mode", "ecc_pending_mode")),
    ),
    "mtmlMemoryGetRetiredPagesCount": _of(
        "memory",
        CARDS,
        lambda m: {
            "sbeCount": len(pages(m.keys["retired_pages_sbe"])),
            "dbeCount": len(pages(m.keys["retired_pages_dbe"])),
        },
    ),
    "mtmlMemoryGetRetiredPages": Call(
        CARDS,
        lambda m: (m.memory, m.index == 5),  # cards 3 and 5 have retired pages, of different causes
        lambda m: [
            {"address": address, "timestamps": time}
            for address, time in pages(m.keys["retired_pages_dbe" if m.index == 5 else "retired_pages_sbe"])
        ],
    ),
    "mtmlMemoryGetRetiredPagesPendingStatus": _of(
        "memory", CARDS, lambda m: int(m.keys["retired_pages_pending"] == "yes")
    ),
    "mtmlMemoryGetEccErrorCounter": _of(
        "memory",
        CARDS,
        lambda m: m.integer("ecc_corrected_aggregate"),
        ENUMS["MTML_MEMORY_ERROR_TYPE_CORRECTED"],
        ENUMS["MTML_AGGREGATE_ECC"],
        ENUMS["MTML_MEMORY_LOCATION_DRAM"],
    ),
    "mtmlMemoryClearEccErrorCounts": _of(
        "memory",
        CARDS,
        lambda m: None,
        ENUMS["MTML_AGGREGATE_ECC"],
        effect=lambda m: simulated.get_value(m.card, "ecc_corrected_aggregate") == "0"
        and simulated.get_value(m.card, "ecc_corrected_volatile") == m.keys["ecc_corrected_volatile"],
    ),
}

CALLS["mtmlGpuGetTemperatureThreshold"] = _of("gpu", CARDS, lambda m: m.integer("slowdown_temperature"), 1)


def _from_keys(function):
    """How to call a function of one handle, whose answer comes of the keys that facts/mtml_api.json names: the value of
    the only one, or a struct with a field for each, in this order; None if it is neither."""
    kinds = {"text": str, "capability": lambda text: tuple(map(int, text.split(".")))}
    answers = [(key, kinds.get(kind, lambda text: int(text, 0))) for key, kind in function.get("keys", {}).items()]
    types = [parameter["ctype"].replace("const ", "").rstrip(" *") for parameter in function["params"]]
    handle = types[0][len("Mtml") :].lower()
    if len(answers) == 1:
        return _key(CARDS, handle, *answers[0])
    if len(types) == 2 and types[1] in API["structs"]:
        fields = [field["name"] for field in API["structs"][types[1]]["fields"]]
    else:
        fields = []
    if answers and len(fields) == len(answers):
        return Call(
            CARDS,
            lambda m: (getattr(m, handle),),
            lambda m: {field: convert(m.keys[key]) for field, (key, convert) in zip(fields, answers)},
        )
    return None


for _name in sorted(set(BEYOND) - set(CALLS)):
    _call = _from_keys(BEYOND[_name])
    if _call:
        CALLS[_name] = _call

LIFECYCLE = ("mtmlLibraryInit", "mtmlLibraryShutDown")
FREES = tuple(name for name in FUNCTIONS if FUNCTIONS[name].get("deprecated") and "Free" in name)
# After these a machine is another one, so that each call of them needs a scene of its own.
CHANGES = ("mtmlLibrarySetMpcConfigurationInBatch", "mtmlDeviceSetMpcConfiguration")
CHANGES += ("mtmlDeviceSetMpcMode", "mtmlDeviceReset")
