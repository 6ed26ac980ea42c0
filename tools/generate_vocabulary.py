"""Writes the constants and structs of NVML that pymtml.py needs while it is imported.

They are those of facts/nvml_surface.json that statements outside functions name: structs, tables and defaults of
parameters, as they are written by hand; and the structs that annotations of functions name. All others stand in Part
III, where functions find them when they run.
"""

import ast

import generated
from generate_catalogue import literal, type_text

TITLE = "NVML vocabulary"
# The structs and their docstrings, in the order in which they need each other
STRUCTS = {
    "c_nvmlDeviceAttributes": "A MIG device's share of a card; memory in MB.",
    "c_nvmlEncoderSession_t": "One encoder session; latency in microseconds.",
    "c_nvmlGpmSupport_t": "Whether a device supports GPM.",
    "c_nvmlGpuDynamicPstatesUtilization_t": "Utilization of the GPU, its memory or its video unit in percent.",
    "c_nvmlGpuDynamicPstatesInfo_t": "Utilization of all domains of a device.",
    "c_nvmlGpuThermalSensor_t": "One thermal sensor; temperatures in degrees Celsius.",
    "c_nvmlGpuThermalSettings_t": "The thermal sensors of a device.",
    "c_nvmlMemory_t": "Device memory in bytes.",
    "c_nvmlMemory_v2_t": "Device memory in bytes, second version.",
    "c_nvmlProcessUtilizationInfo_v1_t": "Utilization by one process in percent; time stamp in microseconds.",
    "c_nvmlProcessUtilizationSample_t": "Utilization by one process in percent; time stamp in microseconds.",
    "c_nvmlUtilization_t": "Utilization in percent.",
}


def needed(source):
    """Names that the statements of a module read while it is imported (set)."""
    names, pending = set(), [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            pending += [default for default in node.args.defaults + node.args.kw_defaults if default is not None]
        else:
            names.update([node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else [])
            pending += ast.iter_child_nodes(node)
    return names


def class_lines(name, struct):
    """The class of a struct."""
    yield "class %s(%s):" % (name, "_PrintableStructure" if struct["printable"] else "Structure")
    yield from ('    """%s"""' % STRUCTS[name], "", "    _fields_ = [")
    for field, kind, *bits in struct["fields"]:
        yield "        (%s)," % ", ".join(['"%s"' % field, type_text(kind, {})] + [str(number) for number in bits])
    yield "    ]"
    if "format" in struct:
        yield "    _fmt_ = {%s}" % ", ".join('"%s": "%s"' % item for item in struct["format"].items())
    yield from ("", "")


def lines(source):
    """The generated block."""
    surface = generated.surface()
    names = sorted(needed(generated.by_hand(source)) & set(surface["constants"]) - generated.above(TITLE, source))
    lines = ["# Written by tools/generate_vocabulary.py."]
    lines += ["%s = %s" % (name, literal(name, surface["constants"][name])) for name in names]
    lines += ["", ""]
    for name in STRUCTS:
        lines += class_lines(name, surface["structs"][name])
    return lines


FILES = generated.block(TITLE, lines)
