"""The ways in which programs that are in no package index import pymtml by its own name, on one table of machines."""

import json
import sys

import pytest
from machines import Machine
from row_files import cases, expectation

# A machine: the profile, the card that is lost; how many cards NVML's names count, their name, what MTML's names count.
MACHINES = {
    "eight cards": ("s5000x8", None, 8, "MTT S5000", 8),
    "instances": ("s3000-mpc", None, 2, "MTT S3000", 5),
    "container": ("s5000x8-container", None, 2, "MTT S5000", 2),
    "a lost card": ("s5000x8", 5, 8, "MTT S5000", 8),
    "no driver": ("no-driver", None, 0, None, 0),
}


class Truth:
    def __init__(self, machine):
        self.profile, self.lost, self.count, self.name, self.devices = MACHINES[machine]

    def each(self, value, error="NVMLError_Unknown", devices=False):
        """A list of a value for each card (or device of MTML's), with the error of the lost one; or no driver's."""
        found = [value] * (self.devices if devices else self.count)
        if self.lost is not None:
            found[self.lost] = error
        return found or error.split("_")[0] + "_DriverNotLoaded"


@pytest.mark.parametrize("machine", sorted(MACHINES))
@pytest.mark.parametrize("case", cases("importers.txt"), ids=lambda case: case["program"].package)
def test_importer(case, machine, runner, tmp_path):
    truth = Truth(machine)
    made = Machine(tmp_path, truth.profile)
    if truth.lost is not None:
        made.parser[made.sections[truth.lost]]["lost"] = "UNKNOWN"
        made.write()
    shown = runner.run([sys.executable, "-c", case["code"]], runner.on_pymtml(made)).splitlines()[-1]
    assert json.loads(shown) == expectation(case["expected"], truth=truth)
