"""The generated part of pymtml.py: current, lazy, the same for all threads, and alike to genuine nvidia-ml-py."""

import ast
import copy
import ctypes
import importlib.util
import inspect
import json
import os
import pickle
import random
import re
import subprocess
import sys

import pytest
from genuine import distribution
from interpreter import content, not_on_pypy
from offenders import each

import pymtml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

with open(os.path.join(ROOT, "facts", "nvml_surface.json"), encoding="utf-8") as stream:
    SURFACE = json.load(stream)
STRUCTS, FUNCTIONS = SURFACE["structs"], SURFACE["functions"]
WITH_FIELDS = sorted(name for name in STRUCTS if STRUCTS[name]["fields"])
PRINTABLE = [name for name in WITH_FIELDS if STRUCTS[name]["printable"]]

# Classes that nvidia-ml-py itself cannot make without arguments: one parameter is required, one constructor names a
# module that does not exist, one assigns None to a struct.
NEEDS_ARGUMENTS = {"c_nvmlPRMCounterList_v1_t", "c_nvmlPRMCounterValue_v1_t", "c_nvmlPRMCounter_v1_t"}


def run_python(code, *arguments):
    result = subprocess.run([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, universal_newlines=True)
    assert result.returncode == 0
    return result.stdout


@pytest.fixture(scope="module")
def genuine():
    """nvidia-ml-py under a name of its own, so that nothing else in this process takes it for pynvml."""
    path = distribution().locate_file("pynvml.py")
    spec = importlib.util.spec_from_file_location("genuine_pynvml", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def fill(struct, pattern):
    """Fills a struct with bytes, but leaves NULL where reading a field follows a pointer to text."""
    ctypes.memmove(ctypes.addressof(struct), pattern, ctypes.sizeof(struct))
    for field in struct._fields_:
        if field[1] is ctypes.c_char_p:
            setattr(struct, field[0], None)


def patterns(size):
    yield bytes(size)
    yield random.Random(size).choices(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=size)


def normalized(text):
    """The text without what differs between two modules in one process: module names and addresses."""
    text = re.sub(r"<c_mtmlDevice_t 0x[0-9a-f]+>", "<LP_struct_c_nvmlDevice_t>", text)
    return re.sub(r"<[\w.]*?(\w+) object at 0x[0-9a-f]+>", r"<\1>", text)


def holds_pointers(kind):
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        return any(holds_pointers(field[1]) for field in getattr(kind, "_fields_", []))
    if issubclass(kind, ctypes.Array):
        return holds_pointers(kind._type_)
    return issubclass(kind, (ctypes._Pointer, ctypes.c_char_p, ctypes.c_void_p))


def needed_by_defaults():
    """The structs that parameter defaults are made of, and those inside them; what is defined by hand left out."""
    defaults = {str(parameter.get("default"))[:-2] for entry in FUNCTIONS.values() for parameter in entry["params"]}
    needed = set()
    pending = [name for name in defaults if name in pymtml._CATALOGUE_STRUCTS]
    while pending:
        needed.add(pending[-1])
        kinds = [field[1].partition(" * ")[0] for field in STRUCTS[pending.pop()]["fields"]]
        pending += [kind for kind in kinds if kind in pymtml._CATALOGUE_STRUCTS]
    return needed


def test_import_makes_no_more_structs_than_defaults_need():
    code = (
        "from pymtml import _CATALOGUE_STRUCTS as lazy; import pymtml; print(len(lazy), set(lazy) & set(vars(pymtml)))"
    )
    count, made = run_python(code).split(" ", 1)
    assert int(count) > 100
    assert ast.literal_eval(made) == needed_by_defaults() != set()


def test_unknown_names_are_refused():
    assert not hasattr(pymtml, "c_nvmlNoSuchStruct_t")
    with pytest.raises(AttributeError) as caught:
        pymtml.c_nvmlNoSuchStruct_t
    assert str(caught.value) == "module 'pymtml' has no attribute 'c_nvmlNoSuchStruct_t'"


def test_names_that_people_invented_lead_to_those_that_exist():
    for name in pymtml._INVENTED:
        assert not hasattr(pymtml, name)
        with pytest.raises(AttributeError) as caught:
            getattr(pymtml, name)
        said, _, instead = str(caught.value).partition("; MTML has ")
        assert said == "module 'pymtml' has no attribute %r" % name
        found = re.findall(r"\w+ml[A-Z]\w+", instead)
        assert found and all(callable(getattr(pymtml, one)) for one in found)
    with pytest.raises(ImportError):
        from pymtml import c_nvmlNoSuchStruct_t  # noqa: F401


def test_structs_are_made_once():
    for name in WITH_FIELDS:
        assert getattr(pymtml, name) is getattr(pymtml, name) is vars(pymtml)[name]
    assert dict(inspect.getmembers(pymtml, inspect.isclass))["c_nvmlUnitInfo_t"] is pymtml.c_nvmlUnitInfo_t


def test_threads_get_the_same_classes():
    code = """if True:
        import random, sys, threading
        import pymtml

        sys.setswitchinterval(1e-6)
        names = sorted(pymtml._CATALOGUE_STRUCTS)
        barrier, seen = threading.Barrier(8), []

        def look(seed):
            order = random.Random(seed // 2).sample(names, len(names))
            barrier.wait()
            found = {name: getattr(pymtml, name) for name in order}
            fields = {name: [field[1] for field in getattr(found[name], "_fields_", [])] for name in names}
            seen.append((found, fields))

        threads = [threading.Thread(target=look, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8 and all(other == seen[0] for other in seen)
        assert seen[0][0] == {name: getattr(pymtml, name) for name in names}
        """
    for _ in range(5):
        run_python(code)


@each(PRINTABLE)
def test_text_is_that_of_nvidia_ml_py(name, genuine):
    ours, theirs = getattr(pymtml, name), getattr(genuine, name)
    for pattern in patterns(ctypes.sizeof(ours)):
        texts = []
        for kind in (ours, theirs):
            struct = kind.__new__(kind)
            fill(struct, bytes(pattern))
            texts.append(normalized(str(struct)))
        assert texts[0] == texts[1]


@each(sorted(set(WITH_FIELDS) - NEEDS_ARGUMENTS))
def test_new_struct_is_that_of_nvidia_ml_py(name, genuine):
    assert content(getattr(pymtml, name)()) == content(getattr(genuine, name)())


@each(WITH_FIELDS)
def test_fields_are_constructor_parameters(name):
    struct = getattr(pymtml, name)
    for field in struct._fields_:
        if field[1] is ctypes.c_uint:
            assert getattr(struct(**{field[0]: 1}), field[0]) == 1
    if struct._fields_[0][1] is ctypes.c_uint:
        assert getattr(struct(1), struct._fields_[0][0]) == 1


@pytest.mark.skipif("c_nvmlGpuOperationalEventConfig_v1_t" not in STRUCTS, reason="this nvidia-ml-py lacks the struct")
def test_constructor_parameters_of_nvidia_ml_py():
    assert pymtml.c_nvmlPRMTLV_v1_t(size=7).dataSize == pymtml.c_nvmlPRMTLV_v1_t(7).dataSize == 7
    port = pymtml.c_nvmlPRMCounterInput_v1_t(port=3)
    counter = pymtml.c_nvmlPRMCounter_v1_t(ctrId=5, inData=port)
    assert (counter.counterId, counter.inputValue.localPort) == (5, 3)
    counters = pymtml.c_nvmlPRMCounterList_v1_t(num=1, ctrs=(pymtml.c_nvmlPRMCounter_v1_t * 1)(counter))
    assert (counters.numCounters, counters.counters[0].counterId) == (1, 5)
    assert pymtml.c_nvmlGpuOperationalEventConfig_v1_t(uuid="GPU-1", minSeverity=2).uuid == "GPU-1"


def test_bit_fields(monkeypatch):
    """The one struct that has some is not made late; another version of nvidia-ml-py may have others."""
    description = "Structure(version: c_uint : 3 = 0x5, items: c_ubyte * 2, rest: c_uint : 29)"
    monkeypatch.setitem(pymtml._CATALOGUE_STRUCTS, "c_nvmlWithBits_t", description)
    made = pymtml.c_nvmlWithBits_t
    delattr(pymtml, "c_nvmlWithBits_t")  # where it is kept once it is made
    assert made._fields_ == [("version", ctypes.c_uint, 3), ("items", ctypes.c_ubyte * 2), ("rest", ctypes.c_uint, 29)]
    assert (made().version, made(rest=1 << 29).rest, made.__module__) == (5, 0, "pymtml")


@not_on_pypy.pickle
@each(WITH_FIELDS)
def test_pickle_and_copy(name):
    struct = getattr(pymtml, name)()
    for pattern in patterns(ctypes.sizeof(struct)):
        if holds_pointers(type(struct)):
            pytest.raises(ValueError, pickle.dumps, struct)
            return
        fill(struct, bytes(pattern))
        for again in (pickle.loads(pickle.dumps(struct)), copy.copy(struct), copy.deepcopy(struct)):
            assert type(again) is type(struct) and bytes(again) == bytes(struct)


@not_on_pypy.pickle
def test_pickle_reaches_a_process_that_has_not_made_the_class():
    fan = pymtml.c_nvmlUnitFanInfo_t(speed=4200, state=1)
    code = "import pickle, sys; print(pickle.loads(bytes.fromhex(sys.argv[1])))"
    assert run_python(code, pickle.dumps(fan).hex()) == "c_nvmlUnitFanInfo_t(speed: 4200, state: 1)\n"


def test_structs_of_a_program_behave_alike():
    class Entry(pymtml._PrintableStructure):
        _fields_ = [("label", ctypes.c_char * 8), ("size", ctypes.c_uint), ("clock", ctypes.c_uint)]
        _fmt_ = {"size": "%d B", "<default>": "%s!"}

    class Late(pymtml._PrintableStructure):
        pass

    Late._fields_ = [("label", ctypes.c_char * 8)]
    assert str(Entry(label="a", size=5, clock=7)) == "Entry(label: a!, size: 5 B, clock: 7!)"
    assert Late(label=b"a").label == "a"
    assert Entry.label.offset == 0 and Entry.label.size == 8


def test_friendly_objects(genuine):
    for module in (pymtml, genuine):
        unit = module.c_nvmlUnitInfo_t(name="S2050", id="0", serial="1", firmwareVersion="2")
        friendly = module.nvmlStructToFriendlyObject(unit)
        assert type(friendly) is module.nvmlFriendlyObject
        assert str(friendly) == "{'name': 'S2050', 'id': '0', 'serial': '1', 'firmwareVersion': '2'}"
        friendly.name = "S2070"
        model = module.c_nvmlUnitInfo_t()
        assert module.nvmlFriendlyObjectToStruct(friendly, model) is model
        assert (model.name, model.id) == ("S2070", "0")
        pytest.raises(KeyError, module.nvmlFriendlyObjectToStruct, module.nvmlFriendlyObject({"name": "S2070"}), model)
    friendly = pymtml.nvmlStructToFriendlyObject(pymtml.c_nvmlUnitFanInfo_t(speed=4200, state=1))
    assert pymtml.nvmlFriendlyObjectToStruct(friendly, pymtml.c_nvmlUnitFanInfo_t()).speed == 4200


def test_decorators(genuine):
    """Programs that add NVML functions of their own write them with these, as nvidia-ml-py does its own."""
    for module in (pymtml, genuine):

        @module.convertStrBytes
        def echo(first, second=None, size=0):
            """What it is given."""
            return size or second or first

        assert (echo.__name__, echo.__doc__) == ("echo", "What it is given.")
        assert echo("x") == echo(b"x") == "x"
        assert echo(b"", second="y") == "y" and echo("x", 7) == 7 and echo("x", size=5) == 5
        assert module.convertStrBytes(lambda *arguments: arguments)("\u00e9", b"\xff", 1) == (b"\xc3\xa9", b"\xff", 1)

        @module.throwOnVersionMismatch
        def look(code):
            """What it is given, unless that is an error."""
            if code:
                raise module.NVMLError(code)
            return code

        assert (look.__name__, look.__doc__, look(0)) == ("look", "What it is given, unless that is an error.", 0)
        with pytest.raises(module.NVMLLibraryMismatchError) as caught:
            look(module.NVML_ERROR_FUNCTION_NOT_FOUND)
        assert str(caught.value) == "the loaded library lacks what look needs" or module is genuine
        pytest.raises(module.NVMLError_Timeout, look, code=module.NVML_ERROR_TIMEOUT)
