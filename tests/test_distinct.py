"""The machine on which no two numbers are the same (distinct.ini): what tests that compare values rest on."""

import re

import simulated

# Numbers by which the machine is put together, and those of which the interface has few.
EXCEPT = {"board", "pcie_switch", "switch_group", "host_bridge", "numa_node", "pci_segment", "pci_device"}
EXCEPT |= {"memory_affinity", "pci_bus_width", "mtlink_count", "mtlink_version", "mtlink_state", "mtlink_peer"}
EXCEPT |= {"encoder_sessions", "decoder_sessions", "displays", "cpu_affinity", "gpu_path", "musa_compute_capability"}
EXCEPT |= {"name", "uuid", "slot_name", "mtbios_version", "serial_number", "primary_path", "render_path", "pci_sbdf"}
# They may be the same as something that has nothing to do with them.
SMALL = {"pci_%s_%s" % (which, what) for which in ("max", "cur") for what in ("gen", "width", "speed")}
SMALL |= {"pci_device_id", "slot_id"}


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
