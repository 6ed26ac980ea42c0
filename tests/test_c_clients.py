"""Programs in C that know MTML by its header alone: the calling sequences of clients in the field."""

import os
import subprocess

import pytest
import simulated

CLIENTS = os.path.join(simulated.ROOT, "tests", "clients")
# All but those that have no card.
PROFILES = [name for name in simulated.ALL_PROFILES if name not in ("empty", "no-driver")]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Compiles a client (function: name to the path of the program)."""

    def compiled(name):
        program = os.path.join(str(folder), name)
        if not os.path.exists(program):
            command = [os.environ.get("CC", "cc"), "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra"]
            command += ["-I", simulated.ROOT, os.path.join(CLIENTS, name + ".c"), "-o", program, "-ldl"]
            done = simulated.run(command, stderr=subprocess.STDOUT)
            assert done.returncode == 0, done.stdout
        return program

    folder = tmp_path_factory.mktemp("clients")
    return compiled


def run(program, *arguments, profile, status=0, **options):
    done = simulated.run([program] + list(arguments), env=simulated.environment(profile, **options), timeout=60)
    assert done.returncode == status, done.stderr
    return done.stdout


def address(keys):
    return [keys["pci_sbdf"][:8], keys["pci_sbdf"][9:11], keys["pci_sbdf"][12:14], keys["pci_sbdf"][15:]]


@pytest.mark.parametrize("profile", PROFILES)
def test_system_information(client, profile):
    """Found by the address that Linux writes; every answer is the card's, what is not supported is left out."""
    machine = simulated.profile(profile)
    index = 0
    for number in range(64):
        if "device.%d" % number not in machine:
            break
        keys = simulated.device_keys(profile, number)
        if keys.get("visible") == "no":
            run(client("fetch"), *address(keys), profile=profile, status=4)
            continue
        lines = run(client("fetch"), *address(keys), profile=profile).splitlines()
        shown = dict(line.split("=", 1) for line in lines)
        expected = {
            "name": keys["name"],
            "uuid": keys["uuid"],
            "index": str(index),
            "virtual": "1" if keys.get("virt_role") == "GUEST_VIRTDEVICE" else "0",
            "cores": keys["gpu_cores"],
            "pcie": "{pci_cur_gen}x{pci_cur_width} of {pci_max_gen}x{pci_max_width}".format(**keys),
            "utilization": keys["gpu_utilization"],
            "temperature": keys["gpu_temperature"],
            "clock": keys["gpu_max_clock"],
            "total": keys["memory_total"],
            "used": keys["memory_used"],
            "type": keys["memory_type"],
        }
        refused = keys.get("unsupported", "") + machine["machine"].get("missing", "")
        for name, function in (("temperature", "mtmlGpuGetTemperature,"), ("cores", "mtmlDeviceCountGpuCores,")):
            if function in refused + ",":
                del expected[name]
        assert shown == expected
        instances = keys.get("mpc_mode") == "ENABLE" and sum(
            machine[section].get("visible", "yes") == "yes"
            for section in machine
            if section.startswith("device.%d.instance." % number)
        )
        index += 1 + instances


def test_no_such_card(client):
    for numbers in (("0", "ff", "0", "0"), ("1", "1", "0", "0"), ("0", "1", "0", "1"), ("0", "1", "1", "0")):
        assert run(client("fetch"), *numbers, profile="s80", status=4) == ""
    assert run(client("fetch"), "0", "1", "0", "0", profile="s80", set="machine.strict_pci_sbdf=yes", status=4) == ""
    assert run(client("fetch"), "0", "1", "0", "0", profile="no-driver", status=3) == ""


def test_opened_and_closed_twice(client):
    lines = run(client("twice"), "s80+frozen", "s5000x8+frozen", profile="empty").splitlines()
    expected = []
    for profile, count in (("s80", 1), ("s5000x8", 8)):
        keys = simulated.device_keys(profile, count - 1)
        expected.append("%d %s %s" % (count, keys["name"], keys["gpu_temperature"]))
    assert lines == expected
