"""The one table of cards, facts/cards.json: both look-ups of the capability read it, every profile holds to it."""

import json
import os
import re

import pytest
import simulated

import pymtml as nvml

with open(os.path.join(simulated.ROOT, "facts", "cards.json"), encoding="utf-8") as _file:
    CARDS = json.load(_file)["cards"]


FORM = "facts/cards.json gives %s another capability than %s of pymtml.py: make generate"
# Profiles that differ on purpose: {profile: {key}}
ODD = {"used-above-total": {"memory_total"}}


def card_of(name):
    """The card of a device's name: a virtual device has its card's name at the front."""
    found = [card for card in CARDS if re.match(re.escape(card) + r"( |$)", name)]
    assert len(found) == 1, "facts/cards.json has no card %s: write it there" % name
    return CARDS[found[0]]


def share(card, key, unit):
    """What one device of the board has, or None where that is not known to the number."""
    return card[key] * unit // card.get("devices", 1) if isinstance(card.get(key), int) else None


def first_number(pattern, text):
    found = re.search(pattern, text or "")
    return found and int(found.group(1))


def watts(card, keys):
    """The power limit in mW, or None where it is not known, or the driver tells 0."""
    if keys.get("default_power_limit") == "0" or not card.get("tdp_w"):
        return None
    return card["tdp_w"] * 1000


def profiles():
    """(profile, keys of one of its cards) of all cards of all machines."""
    for name in simulated.ALL_PROFILES + [simulated.DISTINCT]:
        for section in simulated.profile(name):
            if re.match(r"device\.\d+$", section):
                yield name, simulated.device_keys(name, int(section[7:]))


def test_every_profile_holds_to_the_table():
    wrong = []
    for profile, keys in profiles():
        card = card_of(keys["name"])
        known = {
            "generation": card["generation"],
            "musa_compute_capability": card["capability"],
            "gpu_cores": card.get("gpu_cores"),
            "memory_total": share(card, "mem_mib", 2**20),
            "memory_bus_width": share(card, "mem_bus_bits", 1),
            "memory_bandwidth": card.get("mem_gbps"),
            "memory_speed": card.get("mem_speed_mbps"),
            "memory_type": (card.get("mem_type") or "").replace("LPDDR4X", "LPDDR4") or None,
            "default_power_limit": watts(card, keys),
            "pci_max_gen": first_number(r"(\d)\.0", card.get("pcie")),
            "pci_max_width": first_number(r" x(\d+)", card.get("pcie")),
        }
        if "virt_role" in keys or profile == simulated.DISTINCT:
            known = {key: known[key] for key in ("generation", "musa_compute_capability")}
        if profile == simulated.DISTINCT:
            known = {}
        for key, value in known.items():
            if value is not None and keys.get(key, str(value)) != str(value) and key not in ODD.get(profile, ()):
                wrong.append("%s: %s of %s is %s, not %s" % (profile, key, keys["name"], keys[key], value))
        identity = int(keys["pci_device_id"], 16)
        if identity >> 16 not in [int(number, 16) for number in card["pci_device"]] or identity & 0xFFFF != 0x1ED5:
            wrong.append("%s: no %s has the PCI id %#x" % (profile, keys["name"], identity))
    assert not wrong, "facts/cards.json says otherwise: " + "; ".join(sorted(set(wrong)))


def test_links_carry_what_the_table_says():
    """All of them together, where a profile has links."""
    for profile, keys in profiles():
        total = (card_of(keys["name"]).get("mtlink") or {}).get("total_gbps")
        if total and profile != simulated.DISTINCT and keys.get("mtlink_capability") == "yes":
            links = int(keys["mtlink_count"]) * int(keys["mtlink_bandwidth"])
            assert links == (total[0] if isinstance(total, list) else total), profile


@pytest.mark.parametrize("name", sorted(CARDS))
def test_both_look_ups(name):
    """By PCI id where the name says nothing, by name where the PCI id is hidden."""
    expected = tuple(map(int, CARDS[name].get("capability", "0.0").split(".")))
    with simulated.nvml("s80", set="*.unsupported=mtmlDeviceGetMusaComputeCapability"):
        for number in CARDS[name]["pci_device"]:
            settings = {"name": "Other", "pci_device_id": "%#x" % (int(number, 16) << 16 | 0x1ED5)}
            assert asked_with(settings) == expected, FORM % (name, "_CAPABILITY_BY_PCI_ID")
        for text in (name, name.replace(" ", "-")):
            found = asked_with({"name": text, "pci_device_id": "0xffff1234"})
            assert found == expected, FORM % (name, "_CAPABILITY_BY_NAME")
        assert asked_with({"name": "Other", "pci_device_id": "0xffff1234"}) == (0, 0)


def asked_with(settings):
    """The capability of a card with such values, asked in a new life, as names and ids are kept for one."""
    for key, value in settings.items():
        simulated.set_value(0, key, value)
    nvml.nvmlShutdown()
    nvml.nvmlInit()
    return nvml.nvmlDeviceGetCudaComputeCapability(nvml.nvmlDeviceGetHandleByIndex(0))


# ---- tests/distinct.ini ----

# Numbers by which the machine is put together, and those of which the interface has few.
APART = {"board", "pcie_switch", "switch_group", "host_bridge", "numa_node", "pci_segment", "pci_device"}
APART |= {"memory_affinity", "pci_bus_width", "mtlink_count", "mtlink_version", "mtlink_state", "mtlink_peer"}
APART |= {"encoder_sessions", "decoder_sessions", "displays", "cpu_affinity", "gpu_path", "musa_compute_capability"}
APART |= {"name", "uuid", "slot_name", "mtbios_version", "serial_number", "primary_path", "render_path", "pci_sbdf"}
# They may be the same as something that has nothing to do with them.
SMALL = {"pci_%s_%s" % (which, what) for which in ("max", "cur") for what in ("gen", "width", "speed")}
SMALL |= {"pci_device_id", "slot_id"}


def distinct_numbers():
    """(card, key, number) of all numbers but those of APART."""
    for card in (0, 1):
        for key, text in simulated.device_keys(simulated.DISTINCT, card).items():
            if key in APART:
                continue
            for number in re.findall(r"0x[0-9a-f]+|\b\d+\b", text):
                yield card, key, int(number, 0)


def test_no_two_numbers_of_the_distinct_machine_are_the_same():
    """What tests that compare values rest on."""
    seen = {}
    for card, key, number in distinct_numbers():
        assert number not in seen or key in SMALL, (card, key, seen[number])
        seen[number] = card, key
    assert len(seen) >= 115


def test_a_card_without_pci_address_or_name():
    """What a virtual device does not have is passed over: its PCI address, then its name."""
    hidden = "mtmlDeviceGetMusaComputeCapability, mtmlDeviceGetPciInfo"
    with simulated.nvml("s80", set="*.unsupported=" + hidden):
        assert nvml.nvmlDeviceGetCudaComputeCapability(nvml.nvmlDeviceGetHandleByIndex(0)) == (2, 1)
    with simulated.nvml("s80", set="*.unsupported=%s, mtmlDeviceGetName" % hidden):
        assert nvml.nvmlDeviceGetCudaComputeCapability(nvml.nvmlDeviceGetHandleByIndex(0)) == (0, 0)
