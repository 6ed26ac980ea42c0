"""Measure the energy of training steps: python examples/training_energy.py [STEPS]

MTML has no energy counter. With PYMTML_ENERGY=sample pymtml adds up the power, which it queries ten times a second:
measure shorter steps together, not one by one. It is the energy of the whole card, whoever uses it.
"""

import os
import sys
import time

os.environ["PYMTML_ENERGY"] = "sample"  # read at each question
import pymtml  # noqa: E402


class Energy:
    """Context manager: afterwards ``joules`` and ``seconds`` are those of the block."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.began = time.monotonic()
        self.before = pymtml.nvmlDeviceGetTotalEnergyConsumption(self.device)  # in mJ; the first one of a process is 0
        return self

    def __exit__(self, *exception):
        self.joules = (pymtml.nvmlDeviceGetTotalEnergyConsumption(self.device) - self.before) / 1000
        self.seconds = time.monotonic() - self.began


def step():
    """Stands for a step of a training; a real one ends with torch.musa.synchronize(), or it measures the launch."""
    time.sleep(0.3)


def main(steps):
    """Print a line for each step."""
    pymtml.nvmlInit()
    try:
        if not pymtml.musa_visible_devices():
            print("no GPU")
            return
        device = pymtml.musa_visible_devices()[0]  # what torch calls musa:0
        for number in range(steps):
            with Energy(device) as energy:
                step()
            shown = number, energy.joules, energy.seconds, energy.joules / energy.seconds
            print("step %d: %.1f J in %.2f s, %.0f W" % shown)
    finally:
        pymtml.nvmlShutdown()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    except pymtml.NVMLError_NotSupported as error:
        sys.exit("%s: the card does not report its power: %s" % (sys.argv[0], error))
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
