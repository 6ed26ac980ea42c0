"""The libmtml over NVML, beneath which the oracle runs on NVIDIA GPUs: here over the stand-in for NVML."""

import ctypes
import os
import subprocess
import sys

import oracle
import pytest
import simulated

import pymtml

STANDIN = os.path.join(oracle.ROOT, "tests", "standin", "standin.c")
NAMES = ("NVIDIA H100 80GB HBM3", "NVIDIA A100-PCIE-40GB")
UUIDS = ("GPU-6c6b4a6e-0f4f-4d8c-9a57-0b1f5e0a3c11", "GPU-1f2e3d4c-5b6a-4978-8675-a4b3c2d1e0f9")
MACHINE = """
[system]
driver = 580.95.05
cuda = 13000
[gpu]
name = %s
uuid = %s
bus_id = 00000000:3A:00.0
pci_device_id = 0x233010DE
pci_subsystem_id = 0x16C110DE
temperature = 41
power_usage = 123456
power_limit = 700000
memory_total = 85520809984
memory_used = 1073741824
pcie_generation = 5
[gpu]
name = %s
uuid = %s
bus_id = 00000000:B7:00.0
pci_device_id = 0x20F110DE
pci_subsystem_id = 0x145F10DE
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Environment of programs on two NVIDIA GPUs."""
    folder = str(tmp_path_factory.mktemp("nvml"))
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-D_DEFAULT_SOURCE", "-fPIC", "-shared", "-fvisibility=hidden"]
        + ["-o", os.path.join(folder, "libnvidia-ml.so.1"), STANDIN],
        check=True,
    )
    library = os.path.join(folder, "libmtml.so.2")
    assert oracle.main(["--build", library]) == 0
    with open(os.path.join(folder, "machine.ini"), "w") as file:
        file.write(MACHINE % (NAMES[0], UUIDS[0], NAMES[1], UUIDS[1]))
    return dict(
        os.environ,
        LD_LIBRARY_PATH=folder,
        NVML_STANDIN_MACHINE=file.name,
        PYMTML_LIBRARY=library,
        PYMTML_MUSA_LIBRARY=library,
        PYTHONPATH=oracle.ROOT,
    )


def run(environment, *arguments):
    """A finished Python process with its texts."""
    return simulated.run([sys.executable] + list(arguments), env=environment)


def nvidia_smi(folder, *replacements):
    """An nvidia-smi: the command, with texts of its answers replaced."""
    path = folder / "nvidia-smi"
    script = "".join("s|%s|%s|;" % pair for pair in replacements)
    path.write_text(
        "#!/bin/bash\nset -o pipefail\nexport PYMTML_COMMAND_NAME=nvidia-smi\n'%s' -m pymtml_cli \"$@\" | sed '%s'\n"
        % (sys.executable, script)
    )
    path.chmod(0o755)
    return str(path)


def test_names_and_uuids(machine):
    done = run(machine, "-m", "pymtml_cli", "-L")
    expected = ["GPU %d: %s (UUID: %s)" % (index, NAMES[index], UUIDS[index][4:]) for index in range(2)]
    assert (done.returncode, done.stderr, done.stdout.splitlines()) == (0, "", expected)


def test_values_and_what_nvml_refuses(machine):
    names = "pci.bus_id,driver_version,temperature.gpu,power.draw,power.limit,memory.used,pcie.link.gen.current"
    done = run(machine, "-m", "pymtml_cli", "--query-gpu=" + names, "--format=csv,noheader")
    assert done.stdout.splitlines() == [
        "00000000:3A:00.0, 580.95.05, 41, 123.46 W, 700.00 W, 1024 MiB, 5",
        "00000000:B7:00.0, 580.95.05, [N/A], [N/A], [N/A], [N/A], [N/A]",
    ]
    assert "MUSA Version: 13.0 " in run(machine, "-m", "pymtml_cli").stdout


def test_devices_by_uuid_and_bus_id(machine):
    for name in (UUIDS[1], "00000000:B7:00.0"):
        done = run(machine, "-m", "pymtml_cli", "--query-gpu=index", "--format=csv,noheader", "-i", name)
        assert (done.returncode, done.stdout) == (0, "1\n")


def test_every_function_is_there(machine):
    library = ctypes.CDLL(machine["PYMTML_LIBRARY"])
    assert [name for name in pymtml._PROTOTYPES if not hasattr(library, name)] == []
    assert library.mtmlDeviceReset(None) == pymtml.MTML_ERROR_NOT_SUPPORTED


def test_oracle_agrees_with_itself(machine, tmp_path, monkeypatch, capfd):
    """By a command: the test below has all, and counts what differs."""
    monkeypatch.setattr(oracle, "COMMANDS", (["-q"],))
    for name, value in machine.items():
        monkeypatch.setenv(name, value)
    assert oracle.main([nvidia_smi(tmp_path)]) == 0
    said = capfd.readouterr()
    assert (said.out.splitlines()[-1], said.err) == ("0 differences; 0 values that only nvidia-smi has", "")


def test_oracle_tells_differences(machine, tmp_path):
    """A name, a unit and a value that only nvidia-smi has, and nothing else; the temperature moved, which is none."""
    architecture = r"\(Product Architecture *\): N/A"
    smi = nvidia_smi(
        tmp_path,
        ("H100", "H200"),
        (r"power.draw \[W]", "power.draw [mW]"),
        ("41 C$", "42 C"),
        (architecture, r"\1: Hopper"),
    )
    done = run(machine, oracle.__file__, smi)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert "  name: nvidia-smi 'NVIDIA H200 80GB HBM3', here 'NVIDIA H100 80GB HBM3'" in lines
    assert "  head of power.draw: nvidia-smi 'power.draw [mW]', here 'power.draw [W]'" in lines
    assert "  Product Name: nvidia-smi 'NVIDIA H200 80GB HBM3', here 'NVIDIA H100 80GB HBM3'" in lines
    assert any(line.startswith("  line 1: nvidia-smi 'GPU 0: NVIDIA H200") for line in lines)
    assert not [line for line in lines if "42" in line or "Hopper" in line]
    assert lines[-1] == "4 differences; 2 values that only nvidia-smi has"


def test_oracle_without_nvidia_smi(machine):
    done = run(machine, oracle.__file__, "no-such-command")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no nvidia-smi: give its path\n")
