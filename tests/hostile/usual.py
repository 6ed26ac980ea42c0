"""What a function usually makes of a driver that lies, so that outcomes.csv holds what differs from it.

- A function that only refuses, refuses.
- A code that no header names is Unknown, with the code.
- A function of one output says what C wrote: most of what the type holds (`brim`), 2147483647 (`absurd`), 1
  (`changing`, and `null`, which is about handles). Where C wrote nothing it says 0; of a part of the device, which has
  no handle then, Unknown.
- A function of NVML that rests on one function of MTML, and answers with an int, says the same.
"""

import re

import native_calls

import pymtml

CODES = {"future": 4242, "own 666": 666, "own 667": 667, "own 669": 669, "own 670": 670, "negative": 0xFFFFFFFF}
MOST = {"unsigned int *": "4294967295", "int *": "-1", "unsigned long long *": "18446744073709551615"}


def unknown(layer, code=999):
    """The error for a code of C that nobody knows."""
    return "%sError_Unknown %d mtml_code %d" % (layer, code if layer == "MTML" else 999, code)


def outcome(function, lie):
    """What a function usually comes to, or None where that cannot be told."""
    text = pymtml.__dict__[function].__doc__ or ""
    layer = "MTML" if function.startswith("mtml") else "NVML"
    if text.startswith("Not available"):
        return "NVMLError_NotSupported 3 mtml_code None"
    if lie in CODES:
        return unknown(layer, CODES[lie])
    native = function if layer == "MTML" else rests_on(function, text)
    return None if native is None else answer(native, lie, layer)


def rests_on(function, text):
    """The one function of MTML behind a function that answers with an int, or None."""
    named = re.findall(r"\bmtml[A-Z]\w+", text.partition("MTML: ")[2])
    if len(named) != 1 or pymtml.__dict__[function].__annotations__.get("return") != "int":
        return None
    return named[0]


def answer(native, lie, layer):
    """What a native function of one output says, or None for another kind of function."""
    parameters = native_calls.FUNCTIONS[native]["params"]
    outputs = [parameter["ctype"] for parameter in parameters if parameter["dir"] != "in"]
    if len(outputs) != 1 or "**" in outputs[0] or parameters[-1]["ctype"] != outputs[0]:
        return None
    part = not parameters[0]["ctype"].startswith("const MtmlDevice")
    if part and lie in ("nothing", "null"):
        return unknown(layer)
    struct = outputs[0].rstrip(" *")
    if struct in native_calls.API["structs"]:
        return "c_m%s_t" % struct[1:]
    if outputs[0] not in MOST:
        return None
    return {"nothing": "0", "brim": MOST[outputs[0]], "absurd": "2147483647", "changing": "1", "null": "1"}[lie]
