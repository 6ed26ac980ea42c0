"""Whatever nvidia-smi prints in columns or sections has the recorded form, line for line."""

import re
import shlex

import pytest
import simulated
from command import WORKING_PROFILES, capture_file, invoke, process_tree
from inside import SECTIONS, samples

import pymtml

CAPTURES = {item["command"]: item for item in capture_file("nvidia_smi_580.json")["captures"]}

# Keys of -q that name the same thing in another way: these cards tell limits, not the distance to them, and a driver
# newer than the recorded one adds a line.
RENAMED = {
    "GPU Shutdown T.Limit Temp": "GPU Shutdown Temp",
    "GPU Slowdown T.Limit Temp": "GPU Slowdown Temp",
    "GPU Max Operating T.Limit Temp": "GPU Max Operating Temp",
    "Memory Max Operating T.Limit Temp": "Memory Max Operating Temp",
}
ADDED = {"EDPp Multiplier"}
UNKNOWN = "N/A"


def smi(*arguments):
    return invoke(*arguments, name="nvidia-smi")


def recorded(start):
    return [item for command, item in CAPTURES.items() if command.startswith(start) and not item["status"]]


@pytest.fixture(autouse=True)
def processes(tmp_path, monkeypatch):
    """A proc file system in which everything can be seen, whatever else runs on this machine."""
    (tmp_path / "proc" / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "proc"))


@pytest.fixture
def two_cards():
    with simulated.machine("s3000x2"):
        yield


CARD_UUID, INSTANCE_UUID = ("%s-%s" % (kind, r"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}") for kind in ("GPU", "MIG"))


@pytest.mark.parametrize("profile", WORKING_PROFILES)
def test_forms_that_programs_for_nvidia_rely_on(profile):
    """UUIDs begin with GPU- or MIG-, a driver version is digits and dots, and MUSA's version is not CUDA's."""
    with simulated.machine(profile):
        listed, log = smi("-L").lines, smi("-q").lines
        rows = smi("--query-gpu=uuid,driver_version", "--format=csv,noheader").rows()
        uuids = [row[0] for row in rows]
        assert [smi("--query-gpu=index", "--format=csv,noheader", "-i", uuid).status for uuid in uuids] == [0] * len(
            rows
        )
        table, links = smi().stdout, smi("nvlink", "-s").lines
    for line in listed:
        assert re.search(r"\(UUID: %s\)$" % (CARD_UUID if line.startswith("GPU") else INSTANCE_UUID), line), line
    assert all(line in listed for line in links if line.startswith("GPU "))
    assert all(re.fullmatch(CARD_UUID, uuid) and re.fullmatch(r"\d+(\.\d+)+", driver) for uuid, driver in rows)
    said = [line.partition(" : ")[2] for line in log if re.match(r" *(GPU )?UUID ", line)]
    assert sorted(said) == sorted(re.findall(r"UUID: (.*)\)", "\n".join(listed)))
    versions = {line.partition(" ")[0]: line.partition(" : ")[2] for line in log if re.match("Driver|CUDA", line)}
    assert versions == {"Driver": rows[0][1], "CUDA": "4.3"} and "CUDA Version: 4.3 " in table


def keys(lines):
    """(indentation, key, column of the colon) of the lines of -q."""
    found = []
    for line in lines:
        match = re.match(r"( *)(\S.*?)\s*(?: : ?|: |$)", line)
        if not line or not match or re.match("GPU 0000|=====", line):
            continue
        key = match.group(2)
        colon = line.index(": ", len(match.group(1)) + len(key)) if ": " in line else None
        found.append((len(match.group(1)), RENAMED.get(key, key), colon))
    return found


@pytest.mark.parametrize("item", recorded("-q -d"), ids=lambda item: item["command"])
def test_sections_have_the_recorded_keys(item, two_cards, tmp_path, monkeypatch):
    if "VOLTAGE" in item["command"]:
        pytest.skip("the recorded card tells no voltage, these do")
    if "PIDS" in item["command"]:  # recorded with one process
        process_tree(tmp_path, monkeypatch, {17: ("/opt/trainer", 12)})
    result = smi(*shlex.split(item["command"]))
    assert (result.status, result.stderr) == (0, "")
    assert keys(result.lines) == keys(item["stdout"][:-1])
    blank = [index for index, line in enumerate(result.lines) if not line]
    assert blank == [index for index, line in enumerate(item["stdout"][:-1]) if not line]


# Values of -d that were not recorded, or of a card that has not that
NOT_RECORDED = {
    "VOLTAGE": "    Voltage",
    "SUPPORTED_CLOCKS": "    Supported Clocks",
    "POWER_PROFILES": "    Workload Power Profiles",
}


@pytest.mark.parametrize("section", sorted(NOT_RECORDED))
def test_a_section_alone_has_its_head(section, two_cards):
    lines = smi("-q", "-d", section, "-i", "0").lines
    heads = [line.partition("  :")[0].rstrip() for line in lines if re.match(r" {4}\S", line)]
    assert heads == [NOT_RECORDED[section]]


def test_every_section_is_tried():
    recorded_alone = {item["command"][len("-q -d ") :] for item in recorded("-q -d")}
    assert set(SECTIONS) <= recorded_alone | set(NOT_RECORDED)


def test_all_sections_at_once_have_the_recorded_keys(two_cards):
    wanted = keys(CAPTURES["-q -i 0"]["stdout"])
    # The recorded card has a process; this machine has none.
    start = next(index for index, entry in enumerate(wanted) if entry[1] == "Processes")
    end = next(index for index, entry in enumerate(wanted) if entry[1] == "Capabilities")
    found = [entry for entry in keys(smi("-q", "-i", "0").lines) if entry[1] not in ADDED]
    found = [entry for entry in found if entry[1] != "Processes"]
    assert found == wanted[:start] + wanted[end:], "sections.txt and nvidia-smi's -q differ; ADDED has exceptions"


def test_scrolling_has_the_recorded_columns(two_cards, monkeypatch):
    monkeypatch.setattr(samples.time, "sleep", lambda seconds: None)
    for command in [name for name in CAPTURES if re.match(r"[dp]mon", name)]:
        item, result = CAPTURES[command], smi(*shlex.split(command))
        if item["status"]:
            assert (result.status, result.stdout) == (item["status"], "\n".join(item["stdout"])), command
            continue
        assert (result.status, result.stderr) == (0, ""), command
        head = [line for line in item["stdout"] if line.startswith("#")]
        assert [line for line in result.lines if line.startswith("#")] == head, command
        ends = {cell_ends(line) for line in item["stdout"] if line.startswith(" ")}
        if "csv" in command:
            counts = {line.count(", ") for line in item["stdout"][:-1]}
            assert {line.count(", ") for line in result.lines} == counts, command
        else:
            assert {cell_ends(line) for line in result.lines if line.startswith(" ")} == ends, command
        assert len(result.lines) == len(item["stdout"]) - 1, command


def cell_ends(line):
    """Columns in which the cells of a line end; names are as wide as their column."""
    match = re.match(r"(.*?    )\S*\s*$", line) if re.search(r"    \S+\s{3,}$", line) else None
    return tuple(cell.end() for cell in re.finditer(r"\S+", match.group(1) if match else line)), len(line)


@pytest.mark.parametrize("item", recorded("topo") + recorded("nvlink"), ids=lambda item: item["command"])
def test_topology_and_links_have_the_recorded_form(item):
    with simulated.machine("s4000x8"):
        result = smi(*shlex.split(item["command"]))
    assert result.status == 0 and result.lines
    masked = [mask(line) for line in item["stdout"][:-1]]
    assert [mask(line) for line in result.lines if mask(line) in masked] or masked == [""]
    if "topo -m" in item["command"]:
        assert result.lines[0].startswith("\t\x1b[4mGPU0\tGPU1") and result.lines[0].endswith("\tGPU NUMA ID\x1b[0m")
        assert result.lines[-7:] == [line for line in item["stdout"][:-1]][-7:]
        for line in result.lines[1:9]:
            assert re.fullmatch(r"GPU\d(\t(NV\d+|PIX|PXB|PHB|NODE|SYS| X )){8}\t[\d,-]+\t\d+\t\tN/A", line)
    if "-p2p" in item["command"]:
        legend = item["stdout"].index("Legend:")
        assert result.lines[-len(item["stdout"][legend:-1]) :] == item["stdout"][legend:-1]
        for line in result.lines[1:9]:
            assert re.fullmatch(r" GPU\d(\t(X|OK|CNS|GNS|TNS|NS|U)){8}\t", line)


def mask(line):
    """A line without what depends on the machine."""
    line = re.sub(r"GPU \d+: .*", "GPU", line)
    line = re.sub(r"[\dA-F]{8}:[\dA-F]{2}:[\dA-F]{2}\.0", "ADDRESS", line)
    return re.sub(r"\d+(\.\d+)?", "N", line)


@pytest.mark.parametrize(
    "item",
    [item for name, item in CAPTURES.items() if re.match(r"topo|nvlink", name) and item["status"]],
    ids=lambda item: item["command"],
)
def test_refusals_of_topology_and_links_are_the_recorded_ones(item, two_cards):
    if item["command"] == "topo -p2p r -i 0":
        pytest.skip("prints the matrix and then refuses; pymtml refuses at once")
    result = smi(*shlex.split(item["command"]))
    assert (result.status, result.stdout) == (item["status"], "\n".join(item["stdout"]))
    assert result.stderr.count("\n") <= 1


def test_the_table_has_the_recorded_frame(two_cards, tmp_path, monkeypatch):
    (tmp_path / "1" / "fd").mkdir(parents=True)  # the one process that there is, and it can be looked into
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    wanted, found = CAPTURES["-i 0"]["stdout"][:-1], smi("-i", "0").lines
    assert len(found) == len(wanted)
    for ours, theirs in zip(found[1:], wanted[1:]):
        assert len(ours) == len(theirs) and len(theirs) in (0, 91)
        assert [i for i, c in enumerate(ours) if c in "+|"] == [i for i, c in enumerate(theirs) if c in "+|"]
        if re.match(r"[+=|][-+=|]+$", theirs) or re.search(r"Name|Temp |M\. |Processes|GI|  ID", theirs):
            assert ours == theirs
    assert re.fullmatch(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} {7}", found[0])
    assert re.fullmatch(r"\| NVIDIA-SMI \S+ +Driver Version: \S+ +CUDA Version: \S+ +\|", found[2])
    assert [found[2].index(word) for word in ("Driver", "CUDA")] == [wanted[2].index(w) for w in ("Driver", "CUDA")]


def test_topology_counts_the_links_that_carry_data():
    """Whichever end says so; where an end fails to answer nothing is made of it."""

    def cell(one, other):
        return invoke("topo", "-m").lines[one + 1].split("\t")[other + 1]

    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        cards = [pymtml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1)]
        near, far = [
            [layout.localLinkId for layout in pymtml.mtmlDeviceGetMtLinkLayouts(*pair)] for pair in (cards, cards[::-1])
        ]
        pymtml.nvmlShutdown()
        simulated.set_value(1, "mtlink_state.%d" % far[0], "DOWN")
        assert (cell(0, 1), cell(1, 0), cell(0, 2)) == ("MT1", "MT1", "MT2")
        simulated.set_value(0, "mtlink_state.%d" % near[1], "DOWN")
        assert (cell(0, 1), cell(1, 0), cell(0, 2)) == ("NODE", "NODE", "MT2")
        simulated.set_faults("mtmlDeviceGetMtLinkState=TIMEOUT")
        assert cell(0, 1) == "N/A"


def test_a_pipe_gets_the_whole_table_whatever_the_environment_says(two_cards, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert {len(line) for line in invoke().lines[1:] if line} == {91}
