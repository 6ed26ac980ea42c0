"""The machine on which no two numbers are the same (distinct.ini): what tests that compare values rest on."""

import re

import pytest
import simulated

import pymtml as nvml

# Numbers by which the machine is put together, and those of which the interface has few.
EXCEPT = {"board", "pcie_switch", "switch_group", "host_bridge", "numa_node", "pci_segment", "pci_device"}
EXCEPT |= {"memory_affinity", "pci_bus_width", "mtlink_count", "mtlink_version", "mtlink_state", "mtlink_peer"}
EXCEPT |= {"encoder_sessions", "decoder_sessions", "displays", "cpu_affinity", "gpu_path", "musa_compute_capability"}
EXCEPT |= {"name", "uuid", "slot_name", "mtbios_version", "serial_number", "primary_path", "render_path", "pci_sbdf"}
# They may be the same as something that has nothing to do with them.
SMALL = {
    "pci_device_id",
    "pci_max_gen",
    "pci_cur_gen",
    "pci_max_width",
    "pci_cur_width",
    "pci_max_speed",
    "pci_cur_speed",
    "slot_id",
}


def numbers():
    """(card, key, number) of all numbers but those of EXCEPT."""
    for card in (0, 1):
        for key, text in simulated.device_keys(simulated.DISTINCT, card).items():
            if key in EXCEPT:
                continue
            for number in re.findall(r"0x[0-9a-f]+|\b\d+\b", text):
                yield card, key, int(number, 0)


def test_no_two_numbers_are_the_same():
    seen = {}
    for card, key, number in numbers():
        assert number not in seen or key in SMALL, (card, key, seen[number])
        seen[number] = card, key
    assert len(seen) >= 115


# Answers that a program could take for each other.
TWINS = [
    (nvml.nvmlDeviceGetEnforcedPowerLimit, nvml.nvmlDeviceGetPowerManagementDefaultLimit),
    (nvml.nvmlDeviceGetCurrPcieLinkWidth, nvml.nvmlDeviceGetMaxPcieLinkWidth),
    (nvml.nvmlDeviceGetCurrPcieLinkGeneration, nvml.nvmlDeviceGetMaxPcieLinkGeneration),
    (nvml.nvmlDeviceGetPcieSpeed, nvml.nvmlDeviceGetPcieLinkMaxSpeed),
    (nvml.nvmlDeviceGetEncoderUtilization, nvml.nvmlDeviceGetDecoderUtilization),
    (nvml.nvmlDeviceGetCurrentEccMode, nvml.nvmlDeviceGetPendingEccMode),
    (nvml.nvmlDeviceGetDisplayMode, nvml.nvmlDeviceGetDisplayActive),
]
TWINS += [
    (lambda device, clock=clock: nvml.nvmlDeviceGetClockInfo(device, clock), lambda d, c=clock: most(d, c))
    for clock in (nvml.NVML_CLOCK_GRAPHICS, nvml.NVML_CLOCK_MEM, nvml.NVML_CLOCK_VIDEO)
]


def most(device, clock):
    return nvml.nvmlDeviceGetMaxClockInfo(device, clock)


@pytest.mark.parametrize("one, other", TWINS)
def test_twins_answer_differently(one, other, tmp_path, monkeypatch):
    for card in ("card1", "card2"):  # a display that is plugged in, and shows nothing
        folder = tmp_path / "class" / "drm" / card / (card + "-DP-1")
        folder.mkdir(parents=True)
        (folder / "status").write_text("connected\n")
        (folder / "enabled").write_text("disabled\n")
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    with simulated.nvml(simulated.DISTINCT):
        for card in (0, 1):
            device = nvml.nvmlDeviceGetHandleByIndex(card)
            answers = []
            for function in (one, other):
                try:
                    answers.append(function(device))
                except nvml.NVMLError as error:
                    answers.append(type(error))
            assert answers[0] != answers[1]
