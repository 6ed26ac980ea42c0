"""Programs of which one look at what they show is enough: rows.txt has them; the others have a file of their own.

What a program shows must be what the machine's profile has: on the machine as shipped, with all numbers changed,
without what the C header does not declare, or on one of its own.
"""

import getpass
import glob
import json
import os
import re

import musa_stack
import program_set as programs
import pytest
from machines import Machine
from row_files import about, cases, expectation

# What `make test` runs as well, since a developer has them; all others are installed.
AT_HAND = (programs.GPUSTAT, programs.NVITOP)
# A program may be so far from the profile: it rounds.
ROUNDED = {"share": 0.1, "power_share": 0.1, "watts": 0.1, "watts_if_limit": 0.1}
ROUNDED.update(used_mib=1, free_mib=1, used_mb=0.1)


def shown_by(gpus, names):
    """What the GPUs that are not lost have, by names of machines.Gpu."""
    gpus = [gpu for gpu in gpus if "lost" not in gpu.values]
    return [[about(getattr(gpu, name), ROUNDED.get(name, 0)) for name in names.split()] for gpu in gpus]


def change(machine, settings):
    """Set keys of a machine: "5.lost=UNKNOWN" of a card, "*.fan_speed=50" of all, "machine.frozen=no"."""
    for setting in settings.split(";"):
        place, _, value = setting.partition("=")
        card, _, key = place.partition(".")
        whole = {"*": machine.sections, "machine": ["machine"]}
        for section in whole[card] if card in whole else [machine.sections[int(card)]]:
            machine.parser[section][key] = value
    machine.write()


def packages_of(*others):
    """The folders in which programs of other environments are installed, as a path."""
    places = [os.path.dirname(program.python) + "/../lib/*/site-packages" for program in others]
    return os.pathsep.join(folder for place in places for folder in glob.glob(place))


def runs():
    """Each row of rows.txt on each of its machines."""
    for number, case in enumerate(cases("rows.txt")):
        program, profile = case["program"], case["options"].get("profile")
        for kind in ["changed"] if profile else ["as shipped", "changed", "header only"]:
            name = "%s-%d-%s" % (program.package, number, profile or kind)
            at_hand = program in AT_HAND and kind != "as shipped"  # the changed machine has all that one shows
            yield pytest.param(case, kind, id=name, marks=[] if at_hand else pytest.mark.programs)


@pytest.mark.parametrize("case, machine", list(runs()), indirect=["machine"])
def test_program(case, machine, runner, tmp_path, processes):
    program, options = case["program"], dict(case["options"])
    by = options.pop("by", "")
    if "profile" in options:
        machine = Machine(tmp_path, options.pop("profile"))
    if "set" in options:
        change(machine, options.pop("set"))
    busy, machine.held = (
        dict(map(int, pair.split(":")) for pair in options.pop(name, "").split(",") if pair)
        for name in ("busy", "memory")
    )
    machine.pid = processes(busy, machine.held) if busy else None
    environment = runner.on_pymtml(machine, program)
    command = [program.python]
    if by.startswith("run"):
        environment["PYTHONPATH"] = os.pathsep.join([runner.site, *program.folders])
        command += ["-m", "pymtml", "run"] + ["--nvidia-smi"] * (by == "run+nvidia-smi")
    elif by == "musa":
        musa_stack.add(environment, program)
    elif by == "nvidia-smi":
        runner.add_nvidia_smi(environment, program.python)
    names = dict(vars(runner), package="".join(program.folders), path=environment["PYTHONPATH"], pid=machine.pid)
    names["addresses"] = " ".join(gpu.text("pci_sbdf")[-7:].lower() for gpu in machine.gpus)
    names["nvgpu"] = programs.PROGRAMS["nvgpu"].folder if program.package == "torchserve" else ""
    if "{others}" in options.get("PYTHONPATH", ""):
        names["others"] = packages_of(programs.NVITOP, programs.RAY)
    environment.update({name: value.format(**names) for name, value in options.items()})
    gpus = machine.gpus
    visible = options.get("MUSA_VISIBLE_DEVICES") or options.get("CUDA_VISIBLE_DEVICES")
    if re.fullmatch("[a-z_ ]+", case["expected"]):
        expected = shown_by(gpus, case["expected"])
    else:
        expected = expectation(
            case["expected"],
            machine=machine,
            gpus=gpus,
            chosen=[gpus[int(index)] for index in visible.split(",")] if visible else gpus,
            fields=lambda names: shown_by(gpus, names),
            user=getpass.getuser(),
        )
    assert expected == json.loads(runner.run(command + ["-c", case["code"]], environment).splitlines()[-1])
