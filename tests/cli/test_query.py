"""The csv language: names, heads, units and refusals as recorded from nvidia-smi, values as the simulator has them."""

import re
import shlex
import types

import pytest
import simulated
from command import WORKING_PROFILES, capture_file, invoke, process_tree
from inside import BY_NAME, FIELDS, QUERIES
from mtml_simulator import driver_files

import pymtml

CAPTURES = capture_file("nvidia_smi_580.json")["captures"]
RECORDED_FIELDS = capture_file("fields.json")

# What nvidia-smi refuses does not depend on the machine.
REFUSALS = [item for item in CAPTURES if item["status"] and not re.match(r"topo|nvlink|dmon|pmon", item["command"])]


@pytest.fixture
def two_cards():
    with simulated.machine("s3000x2"):
        yield


@pytest.mark.parametrize("item", REFUSALS, ids=lambda item: item["command"])
def test_refusals_are_the_recorded_ones(item, two_cards):
    result = invoke(*shlex.split(item["command"]), name="nvidia-smi")
    assert (result.status, result.stdout) == (item["status"], "\n".join(item["stdout"]))
    assert result.stderr.count("\n") <= 1 and (not result.stderr or result.stderr.startswith("nvidia-smi: "))


@pytest.mark.parametrize(
    "item",
    [item for item in CAPTURES if item["command"].startswith("--query-") and not item["status"]],
    ids=lambda item: item["command"][:60],
)
def test_head_lines_and_line_counts_are_the_recorded_ones(item, two_cards):
    arguments = shlex.split(item["command"])
    chosen = [argument for argument in arguments if "GPU-0000" in argument]
    if chosen:  # the recorded UUID is not this machine's
        with_uuid = invoke("--query-gpu=uuid", "--format=csv,noheader").lines
        arguments = ["GPU-" + with_uuid[int(chosen[0][-1])] if part in chosen else part for part in arguments]
    if re.search(r"-i 0000|-i 00:", item["command"]):
        arguments[-1] = invoke("--query-gpu=pci.bus_id", "--format=csv,noheader", "-i", "0").lines[0]
    result = invoke(*arguments, name="nvidia-smi")
    head = [line for line in item["stdout"] if "noheader" not in item["command"]][:1]
    assert result.status == 0
    assert result.lines[: len(head)] == head
    if "apps" not in item["command"]:
        assert len(result.lines) == len(item["stdout"]) - 1


def test_fields_have_the_recorded_unit():
    recorded = [(name, unit) for name, unit, _ in RECORDED_FIELDS["fields"]]
    assert [(BY_NAME[name][0][0], BY_NAME[name][1]) for name, _ in recorded] == recorded


# Older and shorter names, as `nvidia-smi --help-query-gpu` lists them behind the name that heads the column
ALIASES = """
gpu_name=name gpu_serial=serial gpu_uuid=uuid gpu_bus_id=pci.bus_id
inforom.image=inforom.img inforom.power=inforom.pwr
gpu_operation_mode.current=gom.current gpu_operation_mode.pending=gom.pending
retired_pages.sbe=retired_pages.single_bit_ecc.count retired_pages.dbe=retired_pages.double_bit.count
remapped_rows.sbe=remapped_rows.correctable remapped_rows.dbe=remapped_rows.uncorrectable
gpu.power.draw.average=power.draw.average gpu.power.draw.instant=power.draw.instant
gpu.power.requested_limit=power.limit gpu.power.current_limit=enforced.power.limit
gpu.power.default_limit=power.default_limit gpu.power.min_limit=power.min_limit gpu.power.max_limit=power.max_limit
module.power.requested_limit=module.power.limit module.power.current_limit=module.enforced.power.limit
clocks.gr=clocks.current.graphics clocks.sm=clocks.current.sm clocks.mem=clocks.current.memory
clocks.video=clocks.current.video clocks.max.gr=clocks.max.graphics clocks.max.mem=clocks.max.memory
clocks.applications.gr=clocks.applications.graphics clocks.applications.mem=clocks.applications.memory
clocks.default_applications.gr=clocks.default_applications.graphics
clocks.default_applications.mem=clocks.default_applications.memory
"""


def test_fields_have_their_other_names():
    expected = dict(pair.split("=") for pair in ALIASES.split())
    reasons = [name for name, _, _ in RECORDED_FIELDS["fields"] if name.startswith("clocks_event_reasons.")]
    expected.update((name.replace("event", "throttle"), name) for name in reasons)
    assert {name: names[0] for names, _, _, _ in FIELDS for name in names[1:]} == expected


def test_fields_that_some_drivers_have_are_known():
    assert [name for name in RECORDED_FIELDS["only_some"] if name not in BY_NAME] == []
    common = [row[0] for row in RECORDED_FIELDS["fields"] if row[0] not in RECORDED_FIELDS["only_some"]]
    assert len(common) == 196


def test_help_lists_fields_in_the_recorded_order():
    order = [row[0] for row in RECORDED_FIELDS["fields"]]
    more = {names[0] for names, _, _, _ in FIELDS} - set(order) - set(RECORDED_FIELDS["only_some"])
    assert not more, "pymtml_cli/smi/fields.txt has fields that nvidia-smi lacks: %s" % more
    assert [names[0] for names, _, _, _ in FIELDS if names[0] in order] == order


@pytest.mark.parametrize("kind", sorted(QUERIES))
def test_help_is_read_as_exporters_read_it(kind):
    result = invoke("--help-query-" + kind)
    names = re.findall(r'\n\s*\n^"([^"]+)"', result.stdout, re.M)  # the expression of a widely used exporter
    assert names == [line[0][0] for line in QUERIES[kind][0]]
    alike = re.compile("dram|gpucurrent|uncorrectable_inactive")  # which say what the one before says
    texts = [line[3] for line in QUERIES[kind][0] if not alike.search(line[0][0])]
    assert len(set(texts)) == len(texts) and all(texts)
    entries = [" or ".join('"%s"' % name for name in line[0]) + "\n%s\n" % line[3] for line in QUERIES[kind][0]]
    head = 'List of valid properties to query for the switch "--query-%s":\n' % kind
    assert result.stdout == "\n".join([head] + entries) + "\n"


class Teller:
    """A card that tells what these cards do not, with NVML's numbers: ECC errors say what they were asked for."""

    def ask(self, function, *arguments):
        answers = {
            "extended_pci_info": types.SimpleNamespace(baseClass=3, subClass=128),
            "nvmlDeviceGetDisplayMode": 1,
            "nvmlDeviceGetDisplayActive": 0,
            "nvmlDeviceGetPersistenceMode": 1,
            "nvmlDeviceGetAccountingBufferSize": 4000,
            "nvmlDeviceGetSupportedClocksEventReasons": 0x1FF,
            "nvmlDeviceGetCurrentClocksEventReasons": 0x24,
            "nvmlDeviceGetJpgUtilization": [11, 167000],
            "nvmlDeviceGetOfaUtilization": [12, 167000],
            "nvmlDeviceGetMemoryErrorCounter": int("".join(map(str, arguments))) if arguments else None,
            "nvmlDeviceGetRemappedRows": (5, 6, True, False),  # correctable, uncorrectable, pending, failed
            "nvmlDeviceGetPowerManagementMode": 1,
            "nvmlDeviceGetPowerManagementLimitConstraints": [100000, 300500],  # least, greatest
            "nvmlDeviceGetPowerManagementDefaultLimit": 300000,
            "nvmlDeviceGetMaxClockInfo": 2000,
            "nvmlDeviceGetApplicationsClock": 1000 + sum(arguments),
            "nvmlDeviceGetDefaultApplicationsClock": 2000 + sum(arguments),
            "nvmlDeviceGetMigMode": [1, 0],  # current, pending
        }
        return answers[function.__name__]

    def field(self, field_id):
        return {pymtml.NVML_FI_DEV_POWER_AVERAGE: 123456}[field_id]


GRAPHICS, MEMORY = 0, 2  # NVML's numbers of the clocks
# Field that no card here answers: what it would say
TOLD = {
    "pci.baseClass": "0x3",
    "pci.subClass": "0x80",
    "display_mode": "Enabled",
    "display_attached": "Yes",
    "display_active": "Disabled",
    "persistence_mode": "Enabled",
    "accounting.buffer_size": "4000",
    "clocks_event_reasons.supported": "0x00000000000001FF",
    "clocks_event_reasons.active": "0x0000000000000024",
    "utilization.jpeg": "11",
    "utilization.ofa": "12",
    "remapped_rows.correctable": "5",
    "remapped_rows.uncorrectable": "6",
    "remapped_rows.pending": "Yes",
    "remapped_rows.failure": "No",
    "power.management": "Enabled",
    "power.draw.average": "123.46",
    "power.min_limit": "100.00",
    "power.max_limit": "300.50",
    "clocks.applications.graphics": str(1000 + GRAPHICS),
    "clocks.applications.memory": str(1000 + MEMORY),
    "clocks.default_applications.graphics": str(2000 + GRAPHICS),
    "clocks.default_applications.memory": str(2000 + MEMORY),
    "mig.mode.current": "Enabled",
    "mig.mode.pending": "Disabled",
}
# By NVML's numbers: kind, counter, location
PLACES = {"l1_cache": 0, "l2_cache": 1, "device_memory": 2, "dram": 2, "register_file": 3, "texture_memory": 4}
PLACES.update(cbu=6, sram=7)
for _place, _location in PLACES.items():
    for _number, _kind in enumerate(("corrected", "uncorrected")):
        for _since, _counter in enumerate(("volatile", "aggregate")):
            TOLD["ecc.errors.%s.%s.%s" % (_kind, _counter, _place)] = str(int("%d%d%d" % (_number, _since, _location)))


def test_fields_of_a_card_that_tells_more():
    assert {name: BY_NAME[name][2](Teller()) for name in TOLD} == TOLD


COMPUTE_MODES = [(0, "Default"), (1, "Exclusive_Thread"), (2, "Prohibited"), (3, "Exclusive_Process"), (9, "9")]


@pytest.mark.parametrize(
    "field, query, answer, text",
    [("compute_mode", "nvmlDeviceGetComputeMode", mode, word) for mode, word in COMPUTE_MODES]
    + [("pstate", "nvmlDeviceGetPerformanceState", 15, "P15"), ("pstate", "nvmlDeviceGetPerformanceState", 32, "N/A")]
    + [("compute_cap", "nvmlDeviceGetCudaComputeCapability", (9, 0), "9.0")]
    + [("compute_cap", "nvmlDeviceGetCudaComputeCapability", (0, 0), "N/A")],
)
def test_words_for_numbers(field, query, answer, text):
    card = types.SimpleNamespace(ask=lambda function, *_: {query: answer}[function.__name__])
    assert str(BY_NAME[field][2](card)) == text


@pytest.mark.parametrize("profile", WORKING_PROFILES)
def test_every_field_answers_or_is_unknown(profile):
    with simulated.machine(profile):
        result = invoke("--query-gpu=" + ",".join(names[0] for names, _, _, _ in FIELDS), "--format=csv")
        count = len(invoke("-L").lines)
    head, rows = result.rows()[0], result.rows()[1:]
    assert (result.status, result.stderr) == (0, "")
    assert rows and len(rows) <= count
    for row in rows:
        assert len(row) == len(head) == len(FIELDS)
        for (names, unit, _, _), value in zip(FIELDS, row):
            assert value == "[N/A]" or not value.startswith("["), (names[0], value)
            assert value == "[N/A]" or not unit or value.endswith(" " + unit), (names[0], value)


def test_cards_are_chosen_by_index_uuid_and_address(two_cards):
    for index, uuid, address in invoke("--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader").rows():
        for name in (index, uuid, "GPU-" + uuid, uuid.upper(), address, address.lower(), address[4:], address[9:]):
            rows = invoke("--query-gpu=index", "--format=csv,noheader", "-i", name).rows()
            assert rows == [[index]], name
    for name in ("2", "-1", "x", "00:ff.0", "00000000-0000-0000-0000-000000000000"):
        result = invoke("--query-gpu=index", "--format=csv", "--id=" + name)
        assert (result.status, result.stdout) == (6, ""), name


def test_pages_that_nothing_tells_have_a_line_for_each_cause():
    with simulated.machine("s80"):
        result = invoke("--query-retired-pages=retired_pages.address,retired_pages.cause", "--format=csv,noheader")
    assert result.lines == ["[N/A], Single Bit ECC", "[N/A], Double Bit ECC"]


def test_processes(tmp_path, monkeypatch):
    process_tree(tmp_path, monkeypatch, {17: ("/opt/trainer, 2", 12), 18: ("game", 5)})
    rows = [driver_files.process_row(17, 17, (12, 0, 0, 0, 12, 0), "trainer, 2")]
    rows += [driver_files.process_row(18, 18, (5, 0, 0, 5, 0, 0), "game")]  # it draws
    driver_files.write_table(str(tmp_path), 0, *rows)
    with simulated.machine("s3000x2"):
        result = invoke("--query-compute-apps=gpu_name,pid,name,used_memory", "--format=csv")
    name = simulated.device_keys("s3000x2", 0)["name"]
    assert result.lines == ["gpu_name, pid, process_name, used_gpu_memory [MiB]", name + ", 17, /opt/trainer, 2, [N/A]"]


def test_all_64_cards(tmp_path):
    common = "[device]\nname = MTT S80\nbrand = MTT\nmemory_total = 1048576\ngpu_path = /dev/mtgpu.0\n"
    cards = "".join(
        "[device.%d]\nuuid = 00000000-0000-0000-0000-0000000000%02x\npci_bus = %d\npci_sbdf = 00000000:%02x:00.0\n"
        % (index, index, index + 1, index + 1)
        for index in range(64)
    )
    profile = tmp_path / "many.ini"
    profile.write_text("[machine]\nlibrary_version = 2.2.0-simulator\ndriver_version = 1\n" + common + cards)
    with simulated.machine(str(profile)):
        rows = invoke("--query-gpu=index,pci.bus", "--format=csv,noheader").rows()
        assert rows == [[str(index), "0x%02X" % (index + 1)] for index in range(64)]
        assert len(invoke("topo", "-m").lines[1].split("\t")) == 1 + 64 + 4
        assert len(invoke("-L").lines) == 64
