"""Names that nobody would choose: whatever processes and the driver are called, an output is safe, and parses back."""

import json
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree

import pytest
import simulated
from command import invoke
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from inside import safe, width

import pymtml

NODE = "/dev/mtgpu.0"
# Text of the driver by profile key: bytes that it may have, its end left out
TEXTS = {"name": 31, "uuid": 47, "serial_number": 63, "mtbios_version": 63, "pci_sbdf": 31, "memory_vendor": 63}

NASTY = "\x1b[2J \x1b]0;owned\x07 \x9b31m \r \n \t \b \u202e \u2066 \u200b \ufeff \u2028".split(" ")
NASTY += "\ufffe \uffff \U0001fffe & < > \" ' | ]]> %s {} 中 ｱ e\u0301 \\".split(" ") + [", "]
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=3)), max_size=8).map("".join)
some_bytes = st.one_of(texts.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=40))
some_bytes = some_bytes.map(lambda value: value.replace(b"\0", b""))


def escaped(value):
    """Bytes as a profile writes them."""
    return "".join("\\x%02x" % byte for byte in value)


def put_process(root, name):
    """A proc file system with one process on the card."""
    for pid, links in (("1", ()), ("5", (NODE,))):
        os.makedirs(os.path.join(root, pid, "fd"))
        for link in links:
            os.symlink(link, os.path.join(root, pid, "fd", "3"))
    with open(os.path.join(root, "5", "cmdline"), "wb") as file:
        file.write(name + b"\0")
    with open(os.path.join(root, "5", "comm"), "wb") as file:
        file.write(name[:15] + b"\n")


def known():
    """What pymtml itself answers: name, UUID and name of the process, made safe; None for what it does not."""
    pymtml.nvmlInit()
    try:
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        found = []
        for function, argument in (
            (pymtml.nvmlDeviceGetName, device),
            (pymtml.nvmlDeviceGetUUID, device),
            (pymtml.nvmlSystemGetProcessName, 5),
        ):
            try:
                found.append(safe(function(argument)))
            except pymtml.NVMLError:
                found.append(None)
        return found
    finally:
        pymtml.nvmlShutdown()


OUTPUTS = [
    [],
    ["-L"],
    ["-q"],
    ["-q", "-x"],
    ["--json"],
    ["--version"],
    ["--query-gpu=gpu_name,uuid,serial,vbios_version,pci.bus_id,driver_version", "--format=csv,noheader"],
    ["--query-compute-apps=pid,name,gpu_name,gpu_uuid", "--format=csv,noheader"],
    ["pmon", "-c", "1"],
    ["dmon", "-c", "1"],
    ["mtlink", "-s"],
    ["nvlink", "-s"],
    ["topo", "-m"],
    ["doctor"],
    ["capture"],
    ["capture", "--unmasked"],
    ["-i", "1"],
]
UNDERLINE = re.compile("\x1b\\[4m|\x1b\\[0m")  # nvidia-smi underlines the head of a matrix wherever it goes


def shown(arguments, name):
    """What an output prints; there is nothing in it that a terminal would obey."""
    result = invoke(*arguments, name=name)
    for text in (result.stdout, result.stderr):
        text = UNDERLINE.sub("", text) if arguments[:1] == ["topo"] else text
        bad = {character for character in text if not character.isprintable() and character not in "\n\t"}
        assert not bad, (arguments, bad)
    return result


def check_table(text, name, uuid, process):
    assert {width(line) for line in text.splitlines() if line.startswith(("|", "+"))} == {91}


def check_list(text, name, uuid, process):
    said = "GPU 0: %s (UUID: %s)\n" % (name or "", uuid or "")
    assert text in (said, said.replace("(UUID: ", "(UUID: GPU-")) or None in (name, uuid)


def check_xml(text, name, uuid, process):
    document = ElementTree.fromstring(text.encode("ascii"))
    (element,) = document.iter("product_name")
    assert name is None or (element.text or "") == name
    (element,) = document.iter("process_name")
    assert process is None or element.text == process


def check_json(text, name, uuid, process):
    (device,) = json.loads(text.encode("ascii").decode(), parse_constant=pytest.fail)["devices"]
    assert (device["name"], device["uuid"]) == (name, uuid)
    assert [one["name"] for one in device["processes"]["list"]] == [process]


def check_csv(text, name, uuid, process):
    assert text.count("\n") == 1 and (name is None or text.startswith(name + ", "))


def check_processes(text, name, uuid, process):
    assert text.count("\n") == 1 and text.startswith("5, " + (process or "["))


def check_profile(text, name, uuid, process):
    for line in text.splitlines():
        assert not line or re.match(r"#|\[[\w.-]+\]$|[a-z0-9_]+ =( \S.*)?$", line), line


CHECKS = {
    (): check_table,
    ("-L",): check_list,
    ("-q", "-x"): check_xml,
    ("--json",): check_json,
    tuple(OUTPUTS[6]): check_csv,
    tuple(OUTPUTS[7]): check_processes,
    ("capture",): check_profile,
    ("capture", "--unmasked"): check_profile,
}


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize="CI" in os.environ,
)
@given(
    process=some_bytes,
    driver=st.fixed_dictionaries({key: some_bytes for key in TEXTS}),
    version=some_bytes,
    command=st.sampled_from(["pymtml", "nvidia-smi"]),
)
@example(b"\x1b[31m\nx\x85", {key: b"\x1b]0;x\x07" for key in TEXTS}, b"\x9b\n<&>", "pymtml")
@example("\u202e中\ufffe".encode(), {key: "中\ufffe\u202e&<\"'>".encode() for key in TEXTS}, b"\r\n", "nvidia-smi")
def test_whatever_things_are_called(process, driver, version, command):
    changes = ["0.%s=%s" % (key, escaped(driver[key][:length])) for key, length in TEXTS.items()]
    changes += ["machine.driver_version=%s" % escaped(version[:79]), "0.encoder_sessions=", "0.decoder_sessions="]
    with tempfile.TemporaryDirectory() as root:
        put_process(root, process)
        before = os.environ.get("PYMTML_PROC_ROOT")
        os.environ["PYMTML_PROC_ROOT"] = root
        try:
            with simulated.machine("s80", set=";".join(changes)):
                names = known()
                for arguments in OUTPUTS:
                    result = shown(arguments, command)
                    check = CHECKS.get(tuple(arguments))
                    if check is not None:
                        check(result.stdout, *names)
        finally:
            os.environ.pop("PYMTML_PROC_ROOT")
            if before is not None:
                os.environ["PYMTML_PROC_ROOT"] = before
