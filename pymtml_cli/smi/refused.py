"""Subcommands of nvidia-smi for what these cards do not have: they print what nvidia-smi does for a card without it."""

import sys

from pymtml_cli.common.errors import NOT_AVAILABLE, refuse
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import CARDS, parse, usage
from pymtml_cli.readings.devices import Machine, Unknown
from pymtml_cli.readings.table import answer
from pymtml_cli.smi import listing
from pymtml_cli.smi.modify import DONE, WARNING, address

COMMON = {"-i, --id CARDS": CARDS, "-h, --help": None}
# Subcommand: its options
OPTIONS = {
    "base-clocks": {},
    "boost-slider": {"-l, --list": "boost sliders", "--vboost N": "set one"},
    "c2c": {
        "-s, --status": "state of each link between chips",
        "-e, --errorCounters": "errors of each link",
        "-gLowPwrInfo, -getLowPowerInfo": "their low-power mode",
        "-l, --link N": "only this link",
    },
    "clocks": {
        "--sync-boost-list": "groups of cards that boost together",
        "--sync-boost-add": "make one (not possible on these cards)",
        "--sync-boost-remove NUMBER": "take one away (likewise)",
        "-som, --sparse-operation-mode 0|1": "likewise",
    },
    "compute-policy": {"-l, --list": "compute policies", "--set-timeslice N": "set the time slice"},
    "conf-compute": {
        "-f, --get-cc-feature": "CC feature status",
        "-d, --get-devtools-mode": "DevTools Mode",
        "-e, --get-environment": "Environment",
        "-gc, --get-cpu-caps": "CPU capabilities",
        "-gg, --get-gpus-caps": "GPUs capabilities",
        "-gm, --get-mem-size-info": "GPU Memory Size Info",
        "-grs, --get-gpus-ready-state": "GPUs Ready State",
        "-gkr, --get-key-rotation-threshold-info": "key rotation threshold info",
        "-mgm, --get-multigpu-mode": "Multi-GPU Mode",
        "-q, --query-conf-compute": "Detailed Info",
    },
    "drain": {
        "-p, --pciid ADDRESS": "the card, by its PCI address",
        "-q, --query": "its drain state",
        "-m, --modify 0|1": "change that (not possible on these cards)",
        "-r, --remove": "take the card away (likewise)",
        "-d, --discover": "find cards that were taken away (likewise)",
    },
    "gpm": {"-g, --get-stream-state": "state of the stream of metrics", "-s, --set-stream-state 0|1": "set it"},
    "pci": {
        "-gErrCnt, --getErrorCounters": "PCIe replays; MTML has no other counter of errors",
        "-gCnt, --getCounters": "bytes sent and received, which MTML does not count",
        "-cErrCnt, --clearErrorCounters": "clear the counters (not possible on these cards)",
    },
    "power-hint": {
        "-l, --list-info": "supported values",
        "-gc, --graphics-clock MHZ": "the clock to give a hint for",
        "-mc, --memory-clock MHZ": "likewise",
        "-t, --temperature C": "likewise",
        "-p, --profile ID": "likewise",
    },
    "power-profiles": {
        "-l, --list": "power profiles",
        "-ld, --list-detailed": "with all details",
        "-gr, --get-requested": "those requested",
        "-ge, --get-enforced": "those in force",
        "-sr, --set-requested IDS": "request some",
        "-cr, --clear-requested IDS": "take that back",
    },
    "power-smoothing": {
        "-ppd, --print-profile-definitions": "preset profiles",
        "-s, --state 0|1": "turn it off or on",
        "-spp, --set-preset-profile ID": "choose a profile",
    },
    "prm": {
        "-l, --list": "registers and counters",
        "-n, --name REGISTER": "the value of a register",
        "-c, --counters": "values of counters",
        "-f, --info": "parameters of a register",
        "-p, --params KEY=VALUE": "values of these",
    },
}
for _name, _table in OPTIONS.items():
    _table.update(COMMON if _name != "drain" else {"-h, --help": None})
del _name, _table

BOOST = "Synchronous boost is not supported for GPU {gpu}.\n"
PROFILES = "Workload Power Profiles feature is not supported on this device.\n"
REGISTER = "ERROR executing function nvmlDeviceReadWritePRM_v1: Not Supported\n"
SLIDERS = "Boost sliders are not supported on this device.\n"
POLICIES = "Compute policies are not supported on this device.\n"
SMOOTHING = "Power Smoothing is not supported on this device.\n"
STREAM = "Failed to %s GPU performance monitoring stream state: Not Supported\n"
# Subcommand: (option, sentence, exit status), in the order in which they are looked for; "" is any option
REFUSED = {
    "base-clocks": [("", "GPU {index}:\n\tGraphics: \tN/A\n", 0)],
    "boost-slider": [("", SLIDERS, NOT_AVAILABLE)],
    "c2c": [("", "No Devices support C2C.\n", NOT_AVAILABLE)],
    "clocks": [
        ("-som", "Setting sparse operation mode is not supported for GPU {gpu}.\n" + WARNING, 0),
        ("", BOOST + WARNING, 0),
    ],
    "compute-policy": [("", POLICIES, NOT_AVAILABLE)],
    "conf-compute": [
        (line.split(",")[0], "Failed to display Conf. Compute %s: Not Supported\n" % what, NOT_AVAILABLE)
        for line, what in OPTIONS["conf-compute"].items()
        if line not in COMMON
    ],
    "drain": [
        ("-d", "Discovering GPUs is not supported.\n", NOT_AVAILABLE),
        # Nobody may take the card for drained: unlike a clock that stays as it is, this is a failure.
        ("-m", "Changing the drain state is not supported for GPU {gpu}.\n", NOT_AVAILABLE),
        ("-r", "Removing is not supported for GPU {gpu}.\n", NOT_AVAILABLE),
        ("", "The current drain state of GPU {gpu} is: not draining.\n", 0),
    ],
    "gpm": [("-s", STREAM % "set", NOT_AVAILABLE), ("", STREAM % "display", NOT_AVAILABLE)],
    "pci": [
        ("-cErrCnt", "Clearing PCI error counters is not supported for GPU {gpu}.\n", NOT_AVAILABLE),
        ("-gErrCnt", "{title}\n{replays}", 0),
        ("", "{title}\n", NOT_AVAILABLE),
    ],
    "power-hint": [("", "No supported devices found\n", 0)],
    "power-profiles": [("", PROFILES, NOT_AVAILABLE)],
    "power-smoothing": [("-ppd", SMOOTHING, 0), ("", SMOOTHING, NOT_AVAILABLE)],
    "prm": [("-l", "Supported PRM registers:\nSupported PRM counters:\n", 0), ("", REGISTER, NOT_AVAILABLE)],
}
# Greatest values of options; all others take whatever there is
VALUES = {"-som": 1, "--sync-boost-remove": 1 << 31, "drain -m": 1, "gpm -s": 1, "power-smoothing -s": 1}


def run(arguments, name):
    """Print what a subcommand comes to on these cards (exit status)."""
    chosen = parse(arguments, OPTIONS[name])
    if "-h" in chosen or not (set(chosen) - {"-i"} or name == "base-clocks"):
        sys.stdout.write(usage(name, OPTIONS[name], ("-i",), "OPTION..."))
        return 0
    if name == "drain" and "-p" not in chosen and "-d" not in chosen:
        raise refuse("Must specify -p with this option.\n")
    for option, value in chosen.items():
        most = VALUES.get(option, VALUES.get(name + " " + option))
        if most is not None and number(value, 0, most) is None:
            raise refuse("Option %s is invalid for %s.\n" % (value, option))
    sentence, status = next((text, status) for option, text, status in REFUSED[name] if not option or option in chosen)
    with Machine() as machine:
        cards = machine.chosen(chosen.get("-p" if name == "drain" else "-i"))
        texts = [sentence.format(**_of_card(card)) for card in cards] if "{" in sentence else [sentence]
    if "{replays}" in sentence and not any("COUNTER" in text for text in texts):
        status = NOT_AVAILABLE
    text = "".join(texts) + (DONE if name == "clocks" else "")
    if status:
        raise refuse(text, status)
    sys.stdout.write(text)
    return 0


def _of_card(card):
    """What sentences may say of a card."""
    replays = answer(card, "pcie.replays")
    counter = "" if isinstance(replays, Unknown) else "    REPLAY_COUNTER:          %d\n" % replays
    return {"gpu": address(card), "index": card.index, "title": listing.lines(card)[0], "replays": counter}
