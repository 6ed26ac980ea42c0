"""Calls every function through whichever module named pymtml comes first on the path, and tells what differs.

The test of the vendor's binding runs it in a process of its own, where that is the vendor's module and not this one's.
"""

import ctypes
import inspect
import json
import sys

import simulated
from native_calls import BEYOND, CALLS, Scene, plain

import pymtml

# Sizes that the vendor's functions want to be told.
SIZES = {
    "mtmlDeviceGetAvailVirtTypes": lambda m: (pymtml.mtmlDeviceCountAvailVirtTypes(m.device),),
    "mtmlDeviceGetDeviceByTopologyLevel": lambda m: (pymtml.mtmlDeviceCountDeviceByTopologyLevel(m.device, 5),),
    "mtmlDeviceGetMpcInstancesByProfileId": lambda m: (pymtml.mtmlDeviceCountMpcInstancesByProfileId(m.device, 2),),
    "mtmlVpuGetEncoderSessionStates": lambda m: (m.integer("encoder_capacity"),),
    "mtmlVpuGetDecoderSessionStates": lambda m: (m.integer("decoder_capacity"),),
    "mtmlMemoryGetRetiredPages": lambda m: (1 if m.index == 5 else 2,),
}
# The vendor's type for an output has other field names, and its log functions other structs.
OTHER_SHAPES = ("mtmlLogSetConfiguration", "mtmlLogGetConfiguration")
RENAMED = {"maxResWidth": "maxHoriRes", "maxResHeight": "maxVertRes"}


def comparable(value):
    """Handles as addresses, session states and tuples as lists, text as str."""
    if type(value).__name__ == "mtmlFriendlyObject":
        value = vars(value)
    value = plain(value)
    if isinstance(value, dict):
        return {RENAMED.get(key, key): comparable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    if isinstance(value, ctypes._Pointer):
        return ctypes.cast(value, ctypes.c_void_p).value
    return value.decode() if isinstance(value, bytes) else value


def compare(name, machine, index):
    """(outcome, got, expected) of one function on one machine."""
    with Scene(machine, index) as scene:
        if not scene.supports(name):
            return None
        arguments = tuple(CALLS[name].arguments(scene))
        function = getattr(pymtml, name)
        if name in SIZES and len(arguments) < len(inspect.signature(function).parameters):
            arguments += SIZES[name](scene)
        simulated.reset_calls()
        result = comparable(function(*arguments))
        reached = simulated.calls(name) == 1
        expected = comparable(CALLS[name].expected(scene))
        if CALLS[name].effect is not None:
            return reached and CALLS[name].effect(scene), result, expected
        return reached and result == expected, result, expected


def main():
    answers = {}
    for name in [name for name in CALLS if name not in BEYOND]:
        if not hasattr(pymtml, name):
            answers[name] = "absent"
            continue
        if name in OTHER_SHAPES:
            continue
        for machine, index in CALLS[name].machines:
            try:
                answer = compare(name, machine, index)
            except Exception as error:
                answer = False, repr(error), None
            if answer is not None:
                answers["%s %s/%d" % (name, machine, index)] = answer
    json.dump({"module": pymtml.__file__, "answers": answers}, sys.stdout, default=repr)


if __name__ == "__main__":
    main()
