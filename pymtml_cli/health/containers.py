"""Which parts of the cards a container was given, and the option of docker that adds the others (for doctor)."""

import os
import re

from pymtml_cli.common.files import read
from pymtml_cli.common.text import counted, some
from pymtml_cli.health.checks import NOTE, OK
from pymtml_cli.health.checks import WARNING as WARN
from pymtml_cli.readings.processes import in_a_namespace_of_its_own

RUNTIME = "docker run --runtime=mthreads -e MTHREADS_VISIBLE_DEVICES=all"
NODES = "--device=/dev/mtgpu.N --device=/dev/dri for each card"
VISIBLE = "MTHREADS_VISIBLE_DEVICES"


def container(root="/"):
    """The evidence that this is a container (str), or None."""
    for path in (".dockerenv", "run/.containerenv"):
        if os.path.exists(os.path.join(root, path)):
            return "/" + path
    if os.environ.get("container"):
        return "container=" + os.environ["container"]
    match = re.search(r"docker|kubepods|containerd|lxc|libpod", read(os.path.join(root, "proc/1/cgroup")))
    if match:
        return "/proc/1/cgroup names " + match.group()
    kinds = [kind for place, kind in mounts(root) if place == "/"]
    return "its root is an overlay" if kinds[-1:] == ["overlay"] else None


def mounts(root="/"):
    """(mount point, kind of file system) of each mount (list)."""
    found = []
    for line in read(os.path.join(root, "proc/self/mountinfo")).splitlines():
        fields, dash, rest = line.partition(" - ")
        if dash and len(fields.split()) > 4 and rest.split():
            found.append((fields.split()[4], rest.split()[0]))
    return found


def findings(library, root="/"):
    """(level, check, text, next step) of each finding in a container (iterator); ``library``: libmtml was found."""
    nodes, renderers = _named(root, "dev", r"mtgpu\.\d+"), _named(root, "dev/dri", r"renderD\d+")
    visible = os.environ.get(VISIBLE)
    yield _asked(visible, nodes)
    bound = [place for place, _ in mounts(root) if re.search(r"/dev/(mtgpu|dri)|libmtml|libmusa|/driver/musa", place)]
    text = "%d of /dev/mtgpu.N, %d of /dev/dri/renderDN" % (len(nodes), len(renderers))
    if bound:
        text += "; mounted from the host: " + some(bound, 6)
    if not nodes:
        yield WARN, "mounts", text, "%s, or %s" % (RUNTIME, NODES)
    elif not renderers:
        yield NOTE, "mounts", text, "programs that draw, and some that compute, also need --device=/dev/dri"
    else:
        yield OK, "mounts", text, None
    if not library:
        yield WARN, "mounts", "no libmtml.so.2 in the container", "%s brings in the host's" % RUNTIME
    if not os.path.isdir(os.path.join(root, "proc/driver/musa")):
        text = "no /proc/driver/musa: shares of processes are unavailable, and processes are found by open files"
        yield NOTE, "mounts", text, "%s brings it" % RUNTIME
    if not os.path.isdir(os.path.join(root, "sys/bus/pci/devices")):
        text = "no /sys/bus/pci: NUMA nodes and display connectors are unavailable"
        yield NOTE, "mounts", text, "docker mounts /sys by default"
    if in_a_namespace_of_its_own():
        text = "a pid namespace of its own: processes of other containers and of the host are not visible"
        yield NOTE, "processes", text, "docker run --pid=host shows them, with --cap-add=SYS_PTRACE what they have open"


def _asked(visible, nodes):
    """The finding about MTHREADS_VISIBLE_DEVICES, by which the runtime hands out cards, and the nodes that are here."""
    if visible is None:
        if nodes:
            return NOTE, "variable", "%s is not set: the nodes came by --device or --privileged" % VISIBLE, None
        return WARN, "variable", "%s is not set: no cards were requested" % VISIBLE, RUNTIME
    text, word = "%s=%s" % (VISIBLE, visible), visible.strip().lower()
    if word in ("", "none", "void", "nodevfiles"):
        return WARN, "variable", text + ": no cards were requested", RUNTIME
    wanted = len({name.strip() for name in visible.split(",") if name.strip()})
    if wanted == len(nodes) or word == "all" and nodes:
        return OK, "variable", text, None
    if word == "all":
        step = "docker run --runtime=mthreads; /etc/docker/daemon.json must name that runtime"
        return WARN, "variable", text + ", and no nodes: the runtime of mthreads did not start this container", step
    text += ": %s requested; device nodes here: %d" % (counted(wanted, "card"), len(nodes))
    if not nodes:
        return WARN, "variable", text, "docker run --runtime=mthreads"
    return NOTE, "variable", text, "--privileged and --device add nodes to those of the runtime"


def _named(root, folder, pattern):
    """Names in a folder that match a pattern (list)."""
    try:
        return sorted(name for name in os.listdir(os.path.join(root, folder)) if re.match(pattern + r"\Z", name))
    except OSError:
        return []
