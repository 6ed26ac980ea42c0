"""Error classes: which code makes which, and that they behave as values."""

import copy
import pickle

import pytest
from offenders import each

import pymtml

MTML = {
    1: ("DriverNotLoaded", "DriverNotLoaded"),
    2: ("DriverFailure", "Unknown"),
    3: ("InvalidArgument", "InvalidArgument"),
    4: ("NotSupported", "NotSupported"),
    5: ("NoPermission", "NoPermission"),
    6: ("InsufficientSize", "InsufficientSize"),
    7: ("NotFound", "NotFound"),
    8: ("InsufficientMemory", "Memory"),
    9: ("DriverTooOld", "LibRmVersionMismatch"),
    10: ("DriverTooNew", "LibRmVersionMismatch"),
    11: ("Timeout", "Timeout"),
    12: ("ResourceIsBusy", "InUse"),
    666: ("Uninitialized", "Uninitialized"),
    667: ("FunctionNotFound", "FunctionNotFound"),
    669: ("GpuIsLost", "GpuIsLost"),
    670: ("LibraryNotFound", "LibraryNotFound"),
    999: ("Unknown", "Unknown"),
}
NVML_CODES = sorted(pymtml.NVMLError._valClassMapping)
ALL = [(pymtml.MTMLError, code) for code in MTML] + [(pymtml.NVMLError, code) for code in NVML_CODES]
UNKNOWN = [(pymtml.MTMLError, 1234), (pymtml.NVMLError, 1234), (pymtml.MTMLError, -1), (pymtml.NVMLError, 0)]


@each(sorted(MTML))
def test_mtml_class(code):
    name, counterpart = MTML[code]
    error = pymtml.MTMLError(code)
    cls = getattr(pymtml, "MTMLError_" + name)
    assert type(error) is cls
    assert cls.value == error.value == code
    assert cls.__bases__[-1] is getattr(pymtml, "NVMLError_" + counterpart)
    for root in (pymtml.MTMLError, pymtml.NVMLError, getattr(pymtml, "NVMLError_" + counterpart), Exception):
        with pytest.raises(root):
            raise error


@pytest.mark.parametrize("root", [pymtml.MTMLError, pymtml.NVMLError])
def test_error_without_a_code(root):
    """A program may make one to compare with, or to raise: it has no value, and says nothing of one."""
    error = root()
    assert (type(error), error.args, error.value, error.mtml_code, error.detail) == (root, (), None, None, None)
    assert error == root() and not error != root() and hash(error) == hash(root())
    assert error != root(2) and root(2) != error
    assert repr(error) == root.__name__ + "()" and root(2).args == (2,)
    assert str(error) == "%s Error with code None" % root.__name__[:4]
    error.note = "a program's own"
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (type(twin), twin.args, twin.value, twin.note) == (root, (), None, "a program's own")
    with pytest.raises(root):
        raise error


def test_all_classes_are_known():
    classes = {name for name in dir(pymtml) if name.startswith("MTMLError_")}
    assert classes == {"MTMLError_" + name for name, _ in MTML.values()}
    assert issubclass(pymtml.NVMLError, pymtml.MTMLError)
    assert not issubclass(pymtml.MTMLError, pymtml.NVMLError)


@each(ALL + UNKNOWN)
def test_value_semantics(case):
    root, code = case
    error = root(code)
    assert (error.value, error.args) == (code, (code,))
    assert repr(error) == "%s(%d)" % (type(error).__name__, code)
    same, other = root(code), root(11)
    assert error == same and not error != same and hash(error) == hash(same)
    assert error != other or code == 11
    for foreign in (None, code, str(error), Exception(code), object()):
        assert error != foreign and not error == foreign
    assert len({error, same}) == 1
    assert error != (pymtml.MTMLError if root is pymtml.NVMLError else pymtml.NVMLError)(code)
    for copied in [copy.copy(error), copy.deepcopy(error)] + [
        pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]:
        assert (type(copied), copied.value, copied.args, str(copied)) == (type(error), code, (code,), str(error))
        assert copied == error


@each(ALL)
def test_class_without_arguments_is_its_code(case):
    root, code = case
    cls = type(root(code))
    for error in (cls(), cls("what a program says")):
        assert (error.value, error.args, str(error)) == (code, (code,), str(root(code)))
    with pytest.raises(cls) as caught:
        raise cls
    assert caught.value.value == code


@each(UNKNOWN)
def test_code_that_is_unknown(case):
    root, code = case
    error = root(code)
    assert type(error) is root
    assert str(error) == "%s Error with code %d" % ("NVML" if root is pymtml.NVMLError else "MTML", code)


def test_texts():
    for code in MTML:
        text = str(pymtml.MTMLError(code))
        assert text and "code" not in text
    assert str(pymtml.MTMLError(4)) == "Not supported"
    assert str(pymtml.NVMLError(3)) == "Not Supported"
    assert len({str(pymtml.MTMLError(code)) for code in MTML}) == len(MTML)


def test_detail_is_shown_and_survives_pickling():
    error = pymtml.MTMLError(pymtml.MTML_ERROR_LIBRARY_NOT_FOUND)
    error.detail, error.mtml_code = "tried x", 670
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == str(error) == "MTML shared library not found: tried x"
    assert (copied.detail, copied.mtml_code) == ("tried x", 670)


@pytest.mark.parametrize("value", [1234, 666, 667, 669, 670])
def test_value_of_the_driver_survives_pickling(value):
    """A status that no header names is an Unknown with that value: class and value do not follow from each other."""
    with pytest.raises(pymtml.MTMLError_Unknown) as caught:
        pymtml._mtmlCheckReturn(value)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copied = pickle.loads(pickle.dumps(caught.value, protocol))
        assert (type(copied), copied.value, copied.args) == (pymtml.MTMLError_Unknown, value, (value,))
        assert copied == caught.value and copied.mtml_code == value


def test_raised_errors_are_not_shared():
    with pytest.raises(pymtml.MTMLError) as first:
        pymtml.mtmlLibraryCountDevice()
    with pytest.raises(pymtml.MTMLError) as second:
        pymtml.mtmlLibraryCountDevice()
    assert first.value == second.value and first.value is not second.value


def test_subclasses_of_users():
    class Mine(pymtml.NVMLError_NotSupported):
        pass

    error = Mine()
    assert (type(error), error.value, str(error)) == (Mine, 3, "Not Supported")
    with pytest.raises(pymtml.MTMLError):
        raise error
