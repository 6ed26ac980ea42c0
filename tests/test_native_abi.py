"""Constants, structs, prototypes and signatures of the native layer against the record of the C interface."""

import ctypes
import inspect
import re
import types

import pytest
import simulated
from interpreter import content
from native_calls import API, ENUMS, FUNCTIONS
from offenders import each

import pymtml

C_TYPES = {
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "unsigned long": ctypes.c_ulong,
    "unsigned long long": ctypes.c_ulonglong,
    "float": ctypes.c_float,
}
STRUCTS = {name: getattr(pymtml, "c_mtml%s_t" % name[len("Mtml") :]) for name in API["structs"]}
HANDLES = {
    name: getattr(pymtml, "struct_c_nvmlDevice_t" if name == "MtmlDevice" else "struct_c_mtml%s_t" % name[4:])
    for name in API["opaque"]
}


def enum_type(name):
    return ctypes.c_int if API["enum_types"][name]["signed"] else ctypes.c_uint


def scalar_type(name):
    if name in API["enums"]:
        return enum_type(name)
    return C_TYPES.get(name) or STRUCTS.get(name) or HANDLES[name]


def parameter_type(text):
    """The ctypes type of a C parameter."""
    stars = text.count("*")
    base = text.replace("const", "").replace("*", "").strip()
    if base == "char" and stars:
        return ctypes.c_char_p
    found = scalar_type(base)
    for _ in range(stars):
        found = ctypes.POINTER(found)
    return found


@each(sorted(API["constants"]))
def test_constant(name):
    value = getattr(pymtml, name)
    assert (type(value), value) == (type(API["constants"][name]), API["constants"][name])


@each(sorted(ENUMS))
def test_enumerator(name):
    value = getattr(pymtml, name)
    assert (type(value), value) == (int, ENUMS[name])


def test_codes_that_c_does_not_have():
    assert {name: value for name, value in vars(pymtml).items() if name.startswith("MTML_ERROR_")} == dict(
        {name: value for name, value in ENUMS.items() if name.startswith("MTML_ERROR_")},
        MTML_ERROR_UNINITIALIZED=666,
        MTML_ERROR_FUNCTION_NOT_FOUND=667,
        MTML_ERROR_GPU_IS_LOST=669,
        MTML_ERROR_LIBRARY_NOT_FOUND=670,
    )


def check_fields(struct, fields):
    assert [field[0] for field in struct._fields_] == [field["name"] for field in fields]
    for (name, ctype, *_), expected in zip(struct._fields_, fields):
        descriptor = getattr(struct, name)
        where = "%s.%s: pymtml.py and facts/mtml_api.json differ" % (struct.__name__, name)
        assert (name, descriptor.offset) == (name, expected["offset"]), where
        if "bit_width" in expected:
            assert (name, descriptor.size) == (name, expected["bit_width"] << 16 | expected["bit_offset"])
            continue
        assert (name, descriptor.size) == (name, expected["size"])
        if "fields" in expected:
            check_fields(ctype, expected["fields"])
        elif expected["ctype"].startswith("void (*)"):
            assert issubclass(ctype, ctypes._CFuncPtr) and ctype._argtypes_ == (ctypes.c_char_p, ctypes.c_uint)
            assert ctype._restype_ is None
        else:
            element = ctype._type_ if "count" in expected else ctype
            assert (name, getattr(ctype, "_length_", None)) == (name, expected.get("count"))
            assert (name, element) == (name, scalar_type(expected["ctype"])), where


@each(sorted(STRUCTS))
def test_struct(name):
    struct, expected = STRUCTS[name], API["structs"][name]
    names, told = [field[0] for field in struct._fields_], [field["name"] for field in expected["fields"]]
    assert names == told, "pymtml.py, %s: the fields are not those of facts/mtml_api.json" % struct.__name__
    found = ctypes.sizeof(struct), ctypes.alignment(struct)
    assert found == (expected["size"], expected["align"]), "facts/mtml_api.json, %s: `size`, `align`" % name
    check_fields(struct, expected["fields"])


def test_bit_fields_lie_where_gcc_puts_them():
    for field in API["structs"]["MtmlDeviceProperty"]["fields"]:
        value = pymtml.c_mtmlDeviceProperty_t()
        setattr(value, field["name"], -1)
        words = (ctypes.c_uint * 2).from_buffer_copy(content(value))
        assert (field["name"], words[field["offset"] // 4]) == (field["name"], int(field["word_mask"], 16))


ALIASES = {
    "c_mtmlPciSlotInfo_t": {"slotType": ("slotId", 1)},
    "c_mtmlCodecUtil_t": {"encodeUtil": ("encUtil", 1), "decodeUtil": ("decUtil", 1)},
    "c_mtmlCodecSessionMetrics_t": {
        "sessionId": ("id", 1),
        "width": ("hResolution", 1),
        "height": ("vResolution", 1),
        "fps": ("frameRate", 1),
    },
    "c_mtmlVirtType_t": {
        "apiType": ("api", "x"),
        "maxResWidth": ("horizontalResolution", 1),
        "maxResHeight": ("verticalResolution", 1),
        "memSize": ("frameBuffer", 2**20),
        "encoderNum": ("maxEncodeNum", 1),
        "decoderNum": ("maxDecodeNum", 1),
    },
    "c_mtmlDeviceProperty_t": {
        "virtCapability": ("virtCap", 1),
        "mpcCapability": ("mpcCap", 1),
        "mtLinkCapability": ("mtLinkCap", 1),
    },
    "c_mtmlMpcProfile_t": {"profileId": ("id", 1), "gpuCores": ("coreCount", 1), "memSize": ("memorySizeMB", 2**20)},
    "c_mtmlDispIntfSpec_t": {"maxResWidth": ("maxHoriRes", 1), "maxResHeight": ("maxVertRes", 1)},
    "c_mtmlPageRetirementCount_t": {"singleBitEcc": ("sbeCount", 1), "doubleBitEcc": ("dbeCount", 1)},
    "c_mtmlPageRetirement_t": {"timestamp": ("timestamps", 1)},
    "c_mtmlPageRetirementPending_t": {"timestamp": ("timestamps", 1)},
}


@each(sorted(ALIASES))
def test_aliases_follow_their_field(name):
    for alias, (field, unit) in ALIASES[name].items():
        struct = getattr(pymtml, name)()
        for value in (1, 0) if name == "c_mtmlDeviceProperty_t" else (3, 40000):
            value = "api %d" % value if unit == "x" else value
            setattr(struct, field, value)
            assert (alias, getattr(struct, alias)) == (alias, value if unit == "x" else value * unit)
        if alias == "memSize":  # in another unit than the field
            pytest.raises(AttributeError, setattr, struct, alias, 1)
        else:
            setattr(struct, alias, "7" if unit == "x" else 1)
            assert getattr(struct, field) == ("7" if unit == "x" else 1)


def test_aliases_that_are_computed():
    configuration = pymtml.c_mtmlMpcConfiguration_t()
    configuration.profileId[:] = [1, 2, 2] + [-1] * 13
    assert (list(configuration.profileIds), configuration.profileNum) == ([1, 2, 2] + [-1] * 13, 3)
    configuration.profileId[:] = [1, -1] + [0] * 14  # what stands behind the first -1 is none
    assert configuration.profileNum == 1
    configuration.profileId[:] = [0] * 16
    assert configuration.profileNum == 16
    log = pymtml.c_mtmlLogConfiguration_t()
    log.fileConfig.file, log.fileConfig.size, log.fileConfig.level = "/tmp/x", 9, 4
    assert (log.filePath, log.maxSize, log.logLevel) == ("/tmp/x", 9, 4)
    log.filePath, log.maxSize = "/tmp/y", 8
    assert (log.fileConfig.file, log.fileConfig.size) == ("/tmp/y", 8)
    pci = pymtml.c_mtmlPciInfo_t(segment=0x12, bus=0xAB, device=0x1F)
    assert pci.busId == "00000012:ab:1f.0"
    pci.sbdf = "00000000:3a:00.0"
    assert pci.busId == "00000000:3a:00.0"


def test_the_state_of_a_session_is_made_like_an_enum_too():
    for made in (pymtml.c_mtmlCodecSessionState_t(-1), pymtml._mtmlCodecSessionState_t(state=-1)):
        assert (made.value, made.state, made.sessionId) == (-1, -1, 0)
    entry = pymtml.c_mtmlCodecSessionState_t(5, pymtml.MTML_CODEC_SESSION_STATE_ACTIVE)
    assert (entry.value, entry.sessionId) == (pymtml.MTML_CODEC_SESSION_STATE_ACTIVE, 5)
    states = (pymtml.c_mtmlCodecSessionState_t * 2)((-1,), (1,))  # what C fills in: as large as its enum
    assert bytes(states) == b"\xff\xff\xff\xff\x01\0\0\0"
    assert str(states[1]) == "c_mtmlCodecSessionState_t(sessionId: 0, state: 1)"


@each(sorted(name for name in STRUCTS))
def test_text_fields_and_printing(name):
    struct = STRUCTS[name]()
    for field in API["structs"][name]["fields"]:
        if field["ctype"] != "char":
            continue
        for given, seen in (("caf\u00e9", "caf\u00e9"), (b"bytes", "bytes"), (b"\xff\0rest", "\ufffd"), ("", "")):
            setattr(struct, field["name"], given)
            assert getattr(struct, field["name"]) == seen
        full = "x" * field["size"]
        setattr(struct, field["name"], full)
        assert getattr(struct, field["name"]) == full
        pytest.raises(ValueError, setattr, struct, field["name"], full + "x")
        pytest.raises(TypeError, setattr, struct, field["name"], 5)
    text = str(struct)
    assert text.startswith("c_mtml%s_t(" % name[len("Mtml") :])
    for field in API["structs"][name]["fields"]:
        assert field["name"] + ": " in text


def test_char_fields_of_a_programs_own_struct():
    class Mine(pymtml._PrintableStructure):
        _fields_ = [("letter", ctypes.c_char), ("text", ctypes.c_char_p), ("name", ctypes.c_char * 4)]

    class Plain(ctypes.Structure):
        _fields_ = Mine._fields_

    mine = Mine()
    assert (mine.text, mine.name) == (None, "")
    mine.letter, mine.text, mine.name = "x", "y z", b"abc"
    assert (mine.letter, mine.text, mine.name) == ("x", "y z", "abc")
    for name, _ in Mine._fields_:
        assert repr(getattr(Mine, name)) == repr(getattr(Plain, name)) and "Field " in repr(getattr(Mine, name))
    for struct in (Mine, Plain):
        friendly = pymtml.nvmlStructToFriendlyObject(struct(b"\xff", None, b"abc"))
        assert vars(friendly) == {"letter": "\ufffd", "text": None, "name": "abc"}


def test_prototypes():
    assert list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES) == list(FUNCTIONS)
    for name, prototype in dict(pymtml._PROTOTYPES, **pymtml._OPTIONAL_PROTOTYPES).items():
        assert (name, list(prototype)) == (name, [parameter["ctype"] for parameter in FUNCTIONS[name]["params"]])


@each(sorted(FUNCTIONS))
def test_function_pointer(name):
    function = pymtml._mtmlGetFunctionPointer(name)
    assert pymtml._mtmlGetFunctionPointer(name) is function
    assert function.restype is (ctypes.c_char_p if name == "mtmlErrorString" else ctypes.c_uint)
    expected = [parameter_type(parameter["ctype"]) for parameter in FUNCTIONS[name]["params"]]
    assert [argtype for argtype in function.argtypes] == expected


@pytest.mark.parametrize("name", ["mtmlNoSuchFunction", "", "mtmlSimGetHandleCount", "printf"])
def test_function_pointer_of_an_unknown_name(name):
    pytest.raises(pymtml.MTMLError_FunctionNotFound, pymtml._mtmlGetFunctionPointer, name)


def test_function_pointer_of_a_name_that_the_module_uses_itself():
    with simulated.nvml("s80"):
        for name in ["__class__", "mtmlLibrary"] + [name for name in dir(pymtml._c) if not name.startswith("mtml")]:
            pytest.raises(pymtml.MTMLError_FunctionNotFound, pymtml._mtmlGetFunctionPointer, name)


def test_function_pointer_can_be_called():
    pytest.raises(ctypes.ArgumentError, pymtml._mtmlGetFunctionPointer("mtmlLibraryCountDevice"), 4711, None)
    count = ctypes.c_uint()
    status = pymtml._mtmlGetFunctionPointer("mtmlLibraryCountDevice")(None, ctypes.byref(count))
    assert status == pymtml.MTML_ERROR_INVALID_ARGUMENT
    pytest.raises(pymtml.MTMLError_InvalidArgument, pymtml._mtmlCheckReturn, status)


def python_parameters(name):
    """The parameters of C that a Python caller is to give, in C's order."""
    names = []
    for parameter in FUNCTIONS[name]["params"]:
        base = re.sub(r"const|\*", "", parameter["ctype"]).strip()
        out = parameter["dir"].startswith("out")
        text_size = parameter["name"] == "length" and not name.endswith("SessionStates")
        if not out and base != "MtmlLibrary" and not text_size:
            names.append(parameter["name"])
    if name == "mtmlLogGetConfiguration":
        names = []
    if name == "mtmlLibrarySetMpcConfigurationInBatch":
        names.remove("count")  # the lists know their length
    return names


@each(sorted(FUNCTIONS))
def test_signature(name):
    function = getattr(pymtml, name)
    assert type(function) is types.FunctionType
    signature = inspect.signature(function)
    assert list(signature.parameters) == python_parameters(name), "pymtml.py: %s%s" % (name, signature)
    for parameter in signature.parameters.values():
        assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        counts = ("count", "entryCount", "linkCount", "pathCount", "pathLength", "length", "entryLength")
        optional = parameter.name in counts or name == "mtmlSystemGetDriverVersion"
        assert (parameter.name, parameter.default is not inspect.Parameter.empty) == (parameter.name, optional)


def raised(function):
    """Names of the error classes that a docstring lists."""
    found = re.search(r"Raises: (.*?)\.(?:\s|$)", function.__doc__, re.S)
    return set(re.findall(r"MTMLError_\w+", found.group(1))) if found else set()


@each(sorted(FUNCTIONS))
def test_docstring_lists_the_documented_errors(name):
    function = getattr(pymtml, name)
    assert function.__doc__ and (function.__doc__[0].isupper() or function.__doc__[0] == "(")
    if "Free" in name:
        assert not raised(function)
        assert "not called" in " ".join(function.__doc__.split())
        return
    general = ("MTML_SUCCESS", "MTML_ERROR_INVALID_ARGUMENT", "MTML_ERROR_UNKNOWN")
    documented = {
        type(pymtml.MTMLError(ENUMS[code])).__name__ for code in FUNCTIONS[name]["errors"] if code not in general
    }
    own = {"MTMLError_LibraryNotFound", "MTMLError_FunctionNotFound", "MTMLError_ResourceIsBusy"}
    missing, odd = documented - raised(function), raised(function) - documented - own
    assert not missing, "the docstring of %s, Raises: name %s" % (name, ", ".join(sorted(missing)))
    assert not odd, "facts/mtml_api.json does not list for %s: %s" % (name, ", ".join(sorted(odd)))


def test_what_is_an_address_or_an_id_prints_in_hexadecimal():
    pci = pymtml.c_mtmlPciInfo_t(b"0001:3a:1f.0", 0x1A, 0x3A, 0x1F, 0x02011ED5, 0x0A3C1ED5, 16, 16.0, 8.0, 16, 8, 4, 3)
    assert str(pci).startswith(
        "c_mtmlPciInfo_t(sbdf: 0001:3a:1f.0, segment: 0x0000001A, bus: 0x3A, device: 0x1F, pciDeviceId: 0x02011ED5, "
        "pciSubsystemId: 0x0A3C1ED5, busWidth: 16, pciMaxSpeed: 16.0, pciCurSpeed: 8.0, pciMaxWidth: 16, pciCurWidth: "
        "8, pciMaxGen: 4, pciCurGen: 3, "
    )
    retired, pending = pymtml.c_mtmlPageRetirement_t(77, 0xBEEF000), pymtml.c_mtmlPageRetirementPending_t(1, 77, 0xBEEF)
    assert str(retired).startswith("c_mtmlPageRetirement_t(timestamps: 77, address: 0xbeef000, ")
    assert str(pending).startswith("c_mtmlPageRetirementPending_t(cause: 1, timestamps: 77, address: 0xbeef, ")


UNITS = {"width": "pixels", "height": "pixels", "maxResWidth": "pixels", "maxResHeight": "pixels"}
UNITS["fps"] = "frames per second"


@each(sorted(STRUCTS))
def test_help_says_what_another_name_of_a_field_stands_for(name):
    struct = STRUCTS[name]
    for alias, value in vars(struct).items():
        if isinstance(value, pymtml._Alias):
            found = re.match(r"Alias of ``([\w.]+)``(?:, (.+))?\.$", value.__doc__)
            assert found and found.group(2) == UNITS.get(alias), (alias, value.__doc__)
            assert inspect.getdoc(value) == value.__doc__
            inside = struct
            for part in found.group(1).split("."):
                types_of = {field[0]: field[1] for field in inside._fields_}
                assert part in types_of, (alias, value.__doc__)
                inside = types_of[part]
