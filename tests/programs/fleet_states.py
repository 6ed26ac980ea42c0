"""The states that hosts of a fleet get into: their series as promtool's virtual clock plays them, and the alerts."""

import collections
import json
import os
import re
import subprocess

from machines import ROOT

FLEET = os.path.join(ROOT, "examples", "fleet")
STEP = 15  # seconds between scrapes
SOUND = 20  # scrapes before a state begins
AFTER = 80  # and after it ended

# A host in a state: ``series`` {selector: (value before and after, value meanwhile)}, ``alerts`` {name: how many},
# ``page``: what the one page says, or None where no alert is to reach anybody; ``target``: other labels of the target.
State = collections.namedtuple("State", "host alerts page series target", defaults=(None,))

ABSENT = None
NEVER = (ABSENT, ABSENT)
COUNTS = ("0+15", "300+15")  # a clock that goes on
CARDS = 2


def of(gpu, series, *labels):
    """The selector of a card's series."""
    return "mthreads_gpu_%s{%s}" % (series, ",".join(['gpu="%d",uuid="u%d"' % (gpu, gpu)] + list(filter(None, labels))))


def identity(gpu, serial=True):
    """The selector of what a card is."""
    known = ',serial="SN%d"' % gpu if serial else ""
    return of(gpu, "info", 'pci_bus_id="00000000:%d0:00.0",name="MTT S5000"' % gpu + known)


def unidentified(series, *labels):
    """The selector of a series of card 1 that was lost before the exporter began."""
    return "mthreads_gpu_%s{%s}" % (series, ",".join(('gpu="1"',) + labels))


UP, COLLECTED, DRIVER = "up", "mthreads_collect_timestamp_seconds", "mthreads_driver_up"
CARD_1 = "PCI address 00000000:10:00.0, serial SN1"
BASE = {UP: ("1", "1"), COLLECTED: COUNTS, DRIVER: ("1", "1")}
for number in range(CARDS):
    BASE[of(number, "up")] = ("1", "1")
    BASE[identity(number)] = ("1", "1")
NO_CARDS = {selector: ("1", ABSENT) for selector in BASE if "gpu_" in selector}
ALL_SILENT = {of(0, "up"): ("1", "0"), of(1, "up"): ("1", "0")}
BUSY = {of(1, "utilization_ratio", 'engine="gpu"'): ("0.96", "0.96")}
IDLE = {of(1, "utilization_ratio", 'engine="gpu"'): ("0.5", "0")}
FLAPS = ("1", "1 0 0 1")


def with_memory(used):
    return {of(1, "memory_used_bytes"): used, of(1, "memory_total_bytes"): ("100", "100")}


def ecc(kind, scope, values):
    return {of(1, "ecc_errors_total", 'kind="%s",scope="%s"' % (kind, scope)): values}


def clock(values):
    hertz = "1750000000"
    return {
        of(1, "clock_hertz", 'clock="graphics"'): values,
        of(1, "clock_max_hertz", 'clock="graphics"'): (hertz, hertz),
    }


# Many hosts with the same trouble at the same time
ROLLOUT = tuple("rollout%d" % number for number in range(6))

STATES = [
    # One card is divided, the other warm, full and busy; an error now and then, a second of an answer that was late
    State(
        "sound",
        {},
        None,
        {
            of(0, "up", 'instance_id="0"'): ("1", "1"),
            of(0, "memory_used_bytes", 'instance_id="0"'): ("100", "100"),
            of(0, "memory_total_bytes", 'instance_id="0"'): ("100", "100"),
            of(0, "power_limit_watts"): ("950", "950"),
            of(0, "ecc_enabled"): ("1", "1"),
            of(1, "ecc_enabled"): ("1", "1"),
            of(1, "power_limit_watts"): ("950", "950"),
            of(1, "temperature_celsius", 'sensor="gpu"'): ("94", "94"),
            of(1, "temperature_celsius", 'sensor="memory"'): ("94", "94"),
            of(1, "temperature_limit_celsius", 'limit="slowdown"'): ("95", "95"),
            **with_memory(("97.4", "97.4")),
            **BUSY,
            **clock(("1000000000", "1000000000")),
            of(1, "query_errors_total", 'query="power",code="Timeout"'): ("5", "6"),
            of(1, "mtlinks", 'state="down"'): ("0", "0"),
            of(1, "pcie_width"): ("16", "16"),
            of(1, "pcie_width_max"): ("16", "16"),
            of(1, "pcie_generation"): ("5", "4"),
            of(1, "pcie_generation_max"): ("5", "5"),
            of(1, "retired_pages", 'cause="single_bit"'): ("60", "60"),
            **ecc("corrected", "volatile", ("0+16", "320+16")),
            **ecc("uncorrected", "volatile", ("0", "0")),
            **ecc("uncorrected", "aggregate", ("10", "10")),
        },
    ),
    # Two jobs share a card that is hot: it is one card, and the alert does not change with the jobs.
    State(
        "shared",
        {"GpuHot": 1},
        ["the limit is 95", CARD_1],
        {
            of(1, series, label, 'hpc_job="%d"' % job): values
            for job in (7, 8)
            for series, label, values in (
                ("temperature_celsius", 'sensor="gpu"', ("94", "95")),
                ("temperature_limit_celsius", 'limit="slowdown"', ("95", "95")),
                ("power_limit_watts", "", ("950", "950")),
                ("ecc_enabled", "", ("1", "1")),
                ("retired_pages", 'cause="double_bit"', ("40", "40")),
                ("clock_hertz", 'clock="graphics"', ("1000000000", "1000000000")),
                ("clock_max_hertz", 'clock="graphics"', ("1750000000", "1750000000")),
                ("utilization_ratio", 'engine="gpu"', ("0.9", "0.9")),
            )
        },
    ),
    # The generation of an idle card's link drops
    State(
        "resting",
        {},
        None,
        {
            of(1, "utilization_ratio", 'engine="gpu"'): ("0", "0"),
            of(1, "power_watts"): ("0", "0"),
            of(1, "pcie_generation"): ("5", "1"),
            of(1, "pcie_generation_max"): ("5", "5"),
        },
    ),
    State(
        "down",
        {"HostDown": 1},
        ["its 2 GPUs", "systemctl status"],
        dict(NO_CARDS, **{UP: ("1", "0"), COLLECTED: ("0+15", ABSENT), DRIVER: ("1", ABSENT)}),
    ),
    State(
        "silent",
        {"NothingCollected": 1},
        ["reports nothing"],
        dict(NO_CARDS, **{COLLECTED: ("0+15", ABSENT), DRIVER: ("1", ABSENT)}),
        {"job": "node", "gpus": "2"},
    ),
    # Nobody says how many cards there must be: they are not watched.
    State("unlabeled", {}, None, {of(1, "up"): ("1", ABSENT)}, {"job": "mthreads"}),
    State("stalled", {"CollectionStalled": 1}, ["for a minute"], {COLLECTED: ("0+15", "285")}),
    State(
        "hung",
        {"DriverDown": 1, "GpuDown": 2},
        [
            "2 GPU(s) do not answer",
            "No answer from GPU 0 (PCI address 00000000:00:00.0, serial SN0), GPU 1 (%s)." % CARD_1,
            "pymtml doctor",
        ],
        dict(ALL_SILENT, **{DRIVER: ("1", "0")}),
    ),
    State(
        "driverless",
        {"DriverDown": 1, "GpusMissing": 1},
        ["hangs or is not loaded", "reboot"],
        dict(NO_CARDS, **{DRIVER: ("1", "0")}),
    ),
    State(
        "flapping",
        {"DriverFlapping": 1, "GpuFlapping": 2},
        ["again and again: [0-9]+ changes", "4 are the limit"],
        {DRIVER: FLAPS, of(0, "up"): FLAPS, of(1, "up"): FLAPS},
    ),
    State("loose", {"GpuFlapping": 1}, ["GPU 1 of loose", CARD_1, "[0-9]+ changes"], {of(1, "up"): FLAPS}),
    State(
        "lost",
        {"GpuDown": 1, "GpuQueryErrors": 3},
        ["GPU 1 of lost", CARD_1, "a reset or a reboot"],
        dict(
            {
                of(1, "query_errors_total", 'query="%s",code="GpuIsLost"' % query): (ABSENT, "1+1")
                for query in ("memory", "power", "clock")
            },
            **{of(1, "up"): ("1", "0")},
        ),
    ),
    # The exporter began after the card was lost, which has neither uuid nor address until it is back.
    State(
        "forgotten",
        {"GpuDown": 1},
        ["GPU 1 of forgotten", CARD_1],
        {
            of(1, "up"): ("1", ABSENT),
            identity(1): ("1", ABSENT),
            unidentified("up"): (ABSENT, "0"),
            unidentified("info", 'driver="1"'): (ABSENT, "1"),
        },
    ),
    State(
        "unknown",
        {"GpuDown": 1},
        ["GPU 1, not identified", "GPU 1 of unknown"],
        {
            of(1, "up"): ("1", ABSENT),
            identity(1): NEVER,
            unidentified("up"): (ABSENT, "0"),
            unidentified("info", 'driver="1"'): (ABSENT, "1"),
        },
    ),
    State(
        "gone",
        {"GpusMissing": 1},
        ["gone lists 1 GPUs, and should have 2", "GPU 1 (MTT S5000, " + CARD_1 + ")", "lspci"],
        {of(1, "up"): ("1", ABSENT), identity(1): ("1", ABSENT)},
    ),
    State(
        "expecting",
        {"GpusUnexpected": 1},
        ["expecting lists 1 GPUs, and should have 2", CARD_1],
        {of(1, "up"): ("1", ABSENT), identity(1): ("1", ABSENT), "mthreads_gpus_expected": ("2", "2")},
        {"job": "mthreads-expecting"},
    ),
    State(
        "mute",
        {"GpuQueryErrors": 1},
        ["temperature keeps failing with Timeout", CARD_1],
        {of(1, "query_errors_total", 'query="temperature",code="Timeout"'): (ABSENT, "1+1")},
    ),
    State(
        "hot",
        {"GpuHot": 1},
        ["GPU 1 of hot: the GPU is at 105 degrees", "the limit is 95", "look at fans", CARD_1],
        {
            of(1, "temperature_celsius", 'sensor="gpu"'): ("94", "105"),
            of(1, "temperature_limit_celsius", 'limit="slowdown"'): ("95", "95"),
        },
    ),
    State(
        "warm",
        {"GpuHot": 1},
        ["the GPU is at 90 degrees Celsius, the limit is 90"],
        {of(1, "temperature_celsius", 'sensor="gpu"'): ("89", "90")},
    ),
    State(
        "melting",
        {"GpuHot": 1, "GpuSlow": 1},
        ["the memory is at 95 degrees Celsius, the limit is 95", CARD_1],
        dict(
            {of(1, "temperature_celsius", 'sensor="memory"'): ("94", "95")},
            **BUSY,
            **clock(("1750000000", "210000000")),
        ),
    ),
    State("full", {"GpuMemoryFull": 1, "GpuMemoryFullForLong": 1}, ["97.5%"], with_memory(("97.4", "97.5"))),
    State(
        "wrong",
        {"GpuMemoryImpossible": 1},
        ["a wrong memory use: 135B, of 100B", "IOMMU", CARD_1],
        with_memory(("50", "135")),
    ),
    State(
        "slow",
        {"GpuSlow": 1},
        ["busy at 210MHz", "half of its 1.75GHz", CARD_1],
        dict(BUSY, **clock(("1750000000", "210000000"))),
    ),
    State(
        "limited",
        {"GpuPowerLimitLow": 1},
        ["200 W", "other cards of its name have 950 W", CARD_1],
        {of(0, "power_limit_watts"): ("950", "950"), of(1, "power_limit_watts"): ("950", "200")},
    ),
    State(
        "powerless",
        {"GpuPowerWrong": 1},
        ["busy and reports 0 W", CARD_1],
        dict(BUSY, **{of(1, "power_watts"): ("600", "0")}),
    ),
    State("idle", {"GpuIdleWithMemory": 1}, None, dict(IDLE, **with_memory(("60", "60")))),
    State(
        "lying",
        {"GpuUtilizationWrong": 1},
        ["utilization of 0%, but works: it draws 600 W", "do not schedule by utilization", CARD_1],
        dict(
            IDLE,
            **{
                'mthreads_health_status{check="utilization"}': ("0", "1"),
                of(1, "power_watts"): ("600", "600"),
                of(1, "power_limit_watts"): ("950", "950"),
            },
        ),
    ),
    State(
        "ecc",
        {"GpuEccUncorrected": 1, "GpuEccUncorrectedInItsLife": 1},
        ["1 uncorrected memory error(s) since", "the limit is 0", CARD_1],
        dict(ecc("uncorrected", "volatile", ("0", "1")), **ecc("uncorrected", "aggregate", ("10", "11"))),
    ),
    State(
        "worn",
        {"GpuEccUncorrectedInItsLife": 1},
        ["11 uncorrected memory errors", "the limit is 10", CARD_1],
        ecc("uncorrected", "aggregate", ("10", "11")),
    ),
    State(
        "corrected",
        {"GpuEccCorrectedOften": 1},
        ["corrected memory errors in 15 minutes, the limit is 1000", CARD_1],
        ecc("corrected", "volatile", ("0", "200+200")),
    ),
    State(
        "unprotected",
        {"GpuEccOff": 1},
        ["GPU 1 of unprotected has ECC off", CARD_1],
        {of(0, "ecc_enabled"): ("1", "1"), of(1, "ecc_enabled"): ("1", "0")},
    ),
    State(
        "pending", {"GpuPagesPending": 1}, ["wait for a reboot", CARD_1], {of(1, "retired_pages_pending"): ("0", "1")}
    ),
    State(
        "pages",
        {"GpuPagesRetired": 1},
        ["61 retired memory pages, the limit is 60", CARD_1],
        {
            of(1, "retired_pages", 'cause="single_bit"'): ("30", "30"),
            of(1, "retired_pages", 'cause="double_bit"'): ("30", "31"),
        },
    ),
    State(
        "cut",
        {"GpuLinkDown": 1},
        ["1 MtLink(s) down", "reseat the board", CARD_1],
        {of(1, "mtlinks", 'state="down"'): ("0", "1")},
    ),
    State(
        "degraded",
        {"GpuLinkDegraded": 1},
        ["2 MtLink(s) at reduced width", CARD_1],
        {of(1, "mtlinks", 'state="downgraded"'): ("0", "2")},
    ),
    State(
        "narrow",
        {"GpuPcieNarrow": 1},
        ["4 PCIe lanes, the card has 16", "reseat the card", CARD_1],
        {of(1, "pcie_width"): ("16", "4"), of(1, "pcie_width_max"): ("16", "16")},
    ),
    State(
        "early",
        {"GpuPcieSlow": 1},
        ["PCIe generation 1, the card has 5", CARD_1],
        dict(BUSY, **{of(1, "pcie_generation"): ("5", "1"), of(1, "pcie_generation_max"): ("5", "5")}),
    ),
] + [
    State(
        host,
        {"DriverDown": 1, "GpuDown": 2},
        None,
        dict(ALL_SILENT, **{DRIVER: ("1", "0")}),
        {"job": "mthreads-rollout", "gpus": "2"},
    )
    for host in ROLLOUT
]


# ---- promtool ----


def values(before, meanwhile, steps):
    """A series as promtool writes it, for so many scrapes of the state."""
    parts = []
    for value, count in ((before, SOUND), (meanwhile, steps), (before, AFTER)):
        if value is ABSENT:
            parts.append("stale _x%d" % (count - 1))
        elif " " in value:
            parts.append(" ".join([value] * (count // len(value.split()))))
        elif value == COUNTS[0] and parts:  # the clock goes on from where it would be
            parts.append("%d+%dx%d" % (STEP * (SOUND + steps), STEP, count - 1))
        else:
            parts.append("%sx%d" % (value, count - 1))
    return " ".join(parts)


def input_series(steps, states):
    """All series of hosts in these states, as promtool reads them (list)."""
    found = []
    for state in states:
        target = dict(state.target or {"job": "mthreads-" + state.host, "gpus": "2"}, instance=state.host)
        labels = ",".join('%s="%s"' % pair for pair in sorted(target.items()))
        for selector, pair in dict(BASE, **state.series).items():
            if pair != NEVER:
                name, _, own = selector.rstrip("}").partition("{")
                text = "%s{%s}" % (name, ",".join(filter(None, (labels, own))))
                found.append({"series": text, "values": values(pair[0], pair[1], steps)})
    return found


def promtool(folder, steps, evaluated, tests, states=None):
    """Let promtool play the states for so many scrapes, with these tests (CompletedProcess)."""
    group = dict(
        {"name": "states", "interval": "%ds" % STEP, "input_series": input_series(steps, states or STATES)}, **tests
    )
    document = {"rule_files": [os.path.join(FLEET, "rules.yml")], "evaluation_interval": evaluated, "tests": [group]}
    path = os.path.join(str(folder), "states.yml")
    with open(path, "w") as file:
        json.dump(document, file)  # which is YAML as well
    command = ["promtool", "test", "rules", path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def fired(folder, steps, seconds):
    """The alerts that fire at a moment: [(labels, annotations)]. promtool prints those that it does not expect."""
    with open(os.path.join(FLEET, "rules.yml"), encoding="utf-8") as file:
        names = re.findall(r"- alert: (\w+)", file.read())
    tests = [{"eval_time": "%ds" % seconds, "alertname": name, "exp_alerts": []} for name in names]
    said = promtool(folder, steps, "%ds" % STEP, {"alert_rule_test": tests}).stdout
    found = []
    for labels, annotations in re.findall(r"Labels:\{(.*)\}\s+Annotations:\{(.*)\}", said):
        pairs = [re.findall(r'(\w+)=("(?:[^"\\]|\\.)*")', text) for text in (labels, annotations)]
        found.append(tuple({name: json.loads(value) for name, value in one} for one in pairs))
    assert found, said
    return found
