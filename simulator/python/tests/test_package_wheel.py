"""What is installed: the wheel, built from the checkout and from the source archive, and C programs on it."""

import glob
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile

import packaged
import pytest

pytestmark = packaged.needs_python_3_8
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_%s(sys.argv[1]))"
C_PROGRAM = r"""
#include <dlfcn.h>
#include <mtml_2.2.0.h>
#include <mtml_sim.h>
#include <stdio.h>

int main(void)
{
    MtmlLibrary *library;
    MtmlDevice *device;
    MtmlGpu *gpu;
    int temperature;

    if (mtmlLibraryInit(&library) || mtmlLibraryInitDeviceByIndex(library, 0, &device) ||
        mtmlDeviceInitGpu(device, &gpu) || mtmlSimSet(0, "gpu_temperature", "21") ||
        mtmlGpuGetTemperature(gpu, &temperature) || mtmlLibraryShutDown(library))
        return 1;
    printf("%d %u\n", temperature, mtmlSimGetLibraryReferences());
    return 0;
}
"""


def python_build(kind, source, target, **variables):
    """Build a wheel or an sdist without fetching anything (path)."""
    pytest.importorskip("setuptools.command.bdist_wheel", reason="needs setuptools 70.1 or later in this environment")
    environ = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "LDFLAGS")}
    done = packaged.run([sys.executable, "-c", BUILD % kind, str(target)], dict(environ, **variables), cwd=str(source))
    assert done.returncode == 0, done.stdout + done.stderr
    return os.path.join(str(target), done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The checkout's folder with nothing but what is under version control, and the two files above it."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("mtml_2.2.0.h", "LICENSE"):
        shutil.copy(os.path.join(packaged.ROOT, name), str(root))
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "libs", "link", "include", "pkgconfig")
    shutil.copytree(packaged.SIMULATOR, str(root / "simulator"), ignore=ignored)
    return root / "simulator"


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    return python_build("wheel", source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(source, tmp_path_factory):
    return python_build("sdist", source, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that the wheel was installed into."""
    folder = str(tmp_path_factory.mktemp("site"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", folder, wheel]
    done = packaged.run(command, dict(os.environ))
    assert done.returncode == 0, done.stderr
    return folder


def environment(installed, **variables):
    environ = packaged.environment(packaged.ROOT, **variables)
    environ["PYTHONPATH"] = os.pathsep.join([installed, packaged.ROOT])
    return environ


def names(wheel):
    """Files of the package in a wheel (set)."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_wheel(wheel):
    assert os.path.basename(wheel).split("-")[2:] == ["py3", "none", "linux_%s.whl" % platform.machine()]
    package = "mtml_simulator/"
    profiles = glob.glob(os.path.join(packaged.SIMULATOR, "profiles", "*.ini"))
    native = {"libs/libmtml.so.2", "libs/libmtml.so", "libs/libmusa.so.1", "libs/libmusa.so", "bin/mthreads-gmi"}
    native |= {"libs/libmtgpu_nodes.so"}
    native |= {"include/mtml_2.2.0.h", "include/mtml_sim.h", "pkgconfig/mtml-simulator.pc", "LICENSE"}
    native |= {"CHANGELOG.md", "py.typed"}
    native |= {"link/libmtml.so", "link/libmusa.so"} | {"profiles/" + os.path.basename(path) for path in profiles}
    found = names(wheel)
    assert {name for name in found if not name.endswith(".py")} == {package + name for name in native}
    modules = glob.glob(os.path.join(packaged.PYTHON_FOLDER, "mtml_simulator", "**", "*.py"), recursive=True)
    expected = {os.path.relpath(path, packaged.PYTHON_FOLDER) for path in modules}
    assert {name for name in found if name.endswith(".py")} == expected
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read([name for name in archive.namelist() if name.endswith("/METADATA")][0]).decode()
        assert archive.getinfo(package + "bin/mthreads-gmi").external_attr >> 16 & 0o111 == 0o111
    assert "Requires-Dist" not in metadata
    assert "Requires-Python: >=3.8\n" in metadata


def test_source_archive_builds_the_same_wheel(sdist, wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(str(tmp_path))
        assert not [name for name in archive.getnames() if "/tests/" in name or "/build/" in name]
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert names(python_build("wheel", folder, tmp_path, CFLAGS="-O0")) == names(wheel)


def test_installed_package_runs_by_itself(installed, tmp_path):
    code = "import pymtml; pymtml.nvmlInit(); print(pymtml.nvmlDeviceGetCount()); print(open('/proc/self/maps').read())"
    command = [sys.executable, "-m", "mtml_simulator", "exec", "s3000x2", "--", sys.executable, "-c", code]
    done = packaged.run(command, environment(installed), cwd=str(tmp_path))
    assert done.stdout.startswith("2\n"), done.stderr
    assert os.path.join(installed, "mtml_simulator", "libs", "libmtml.so.2") in done.stdout
    assert packaged.LIBRARY not in done.stdout
    done = packaged.run([sys.executable, "-m", "mtml_simulator", "list"], environment(installed), cwd=str(tmp_path))
    assert "s5000x8" in done.stdout


def test_mthreads_gmi_is_on_path_inside_exec(installed, tmp_path):
    command = [sys.executable, "-m", "mtml_simulator", "exec", "s80", "--", "mthreads-gmi", "-L"]
    done = packaged.run(command, environment(installed), cwd=str(tmp_path))
    assert done.stdout.startswith("GPU 0 : MTT S80 (UUID : "), done.stderr
    # And nowhere else: it would stand in for the vendor's.
    folders = [path for path, _, files in os.walk(installed) if "mthreads-gmi" in files]
    assert folders == [os.path.join(installed, "mtml_simulator", "bin")]


def test_mthreads_gmi_beside_other_packages(installed):
    """What else is installed does not get in its way."""
    wrong = os.path.join(installed, "json.py")
    with open(wrong, "w") as file:
        file.write("raise SystemExit('the wrong module')")
    try:
        command = [os.path.join(installed, "mtml_simulator", "bin", "mthreads-gmi"), "-q", "--json"]
        done = packaged.run(command, environment(installed, MTML_SIMULATOR_PYTHON=sys.executable))
    finally:
        os.remove(wrong)
    assert done.stdout.startswith("{"), done.stdout + done.stderr


def test_plugin_is_found_without_a_word(installed, tmp_path):
    """Installed, the fixture is simply there."""
    (tmp_path / "test_it.py").write_text(
        "import ctypes\n\n"
        "def test(mtml_simulator):\n"
        "    for name in ('libmtml.so.2', 'libmtml.so', 'libmusa.so.1', 'libmusa.so'):\n"
        "        library = ctypes.CDLL(name)\n"
        "    plain, real = ctypes.CDLL('libmtml.so'), ctypes.CDLL('libmtml.so.2')\n"
        "    pointer = ctypes.c_void_p()\n"
        "    assert plain.mtmlLibraryInit(ctypes.byref(pointer)) == 0\n"
        "    assert mtml_simulator.references() == 1\n"
        "    assert real.mtmlLibraryShutDown(pointer) == 0\n"
    )
    environ = environment(installed, PYTEST_ADDOPTS="-p no:cacheprovider")
    done = packaged.run([sys.executable, "-m", "pytest", "-q", "test_it.py"], environ, cwd=str(tmp_path))
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["pkg-config", "-lmtml"])
def test_c_programs(installed, tmp_path, how):
    if how == "pkg-config" and not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    (tmp_path / "program.c").write_text(C_PROGRAM)
    flags = "$(pkg-config --cflags --libs mtml-simulator)" if how == "pkg-config" else "-lmtml"
    build = "cc -Wall program.c %s -o program && ./program && readelf -d program" % flags
    command = [sys.executable, "-m", "mtml_simulator", "exec", "s80+frozen", "--", "sh", "-c", build]
    environ = environment(installed)
    if how == "pkg-config":
        command[-1] = "unset CPATH LIBRARY_PATH; " + build
    done = packaged.run(command, environ, cwd=str(tmp_path))
    assert done.stdout.startswith("21 0\n"), done.stderr
    # As a program linked on a machine with the driver has it.
    assert "[libmtml.so.2]" in done.stdout


def test_program_of_the_page_on_c(installed, tmp_path):
    with open(os.path.join(packaged.ROOT, "docs", "simulator-in-c.md")) as file:
        page = file.read()
    (program,) = re.findall(r"```c\n(.*?)```", page, re.S)
    (command,) = re.findall(r"^    python -m mtml_simulator (exec .*)$", page, re.M)
    (tmp_path / "test.c").write_text(program)
    done = packaged.run(
        [sys.executable, "-m", "mtml_simulator"] + shlex.split(command), environment(installed), cwd=str(tmp_path)
    )
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stderr


REFUSE = """
import platform, sys
%s
from setuptools import build_meta
build_meta.build_wheel(sys.argv[1])
"""


@pytest.mark.parametrize(
    "pretence, problem",
    [
        ("platform.machine = lambda: 'riscv64'", "64-bit Linux on x86_64 and aarch64; this is Linux on riscv64"),
        ("import setuptools; sys.platform = 'darwin'; platform.system = lambda: 'Darwin'", "this is Darwin"),
        ("import os; os.environ['CC'] = 'no-such-cc'", '"no-such-cc" (from CC) is not installed'),
        ("import os; os.environ['PATH'] = '/nowhere'", "a C compiler is needed, and none of cc, gcc, clang"),
    ],
)
def test_what_cannot_be_built_is_refused(source, tmp_path, pretence, problem):
    environ = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "LDFLAGS")}
    done = packaged.run([sys.executable, "-c", REFUSE % pretence, str(tmp_path)], environ, cwd=str(source))
    assert done.returncode != 0
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_header_that_is_missing(sdist, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(str(tmp_path))
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    (folder / "mtml_2.2.0.h").unlink()
    done = packaged.run([sys.executable, "-c", REFUSE % "", str(tmp_path)], dict(os.environ), cwd=str(folder))
    assert "mtml_2.2.0.h is missing; build from a whole checkout or from the source archive" in done.stderr


@pytest.mark.programs
@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_empty_environment(version, tmp_path):
    """pip install ./simulator, as a stranger does it: a fresh environment with nothing but pytest."""
    found = [shutil.which("python" + version)]
    found += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python" % version)))
    working = [path for path in found if path and subprocess.run([path, "-c", "import venv"]).returncode == 0]
    if not working:
        pytest.skip("there is no Python %s on this machine" % version)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(packaged.OURS)}
    subprocess.run([working[-1], "-m", "venv", str(tmp_path / "venv")], check=True, env=environ)
    python = str(tmp_path / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", packaged.SIMULATOR, "pytest"], check=True, env=environ)
    (tmp_path / "test_it.py").write_text(
        "import subprocess\n\n"
        "def test(mtml_simulator):\n"
        "    mtml_simulator.set('0.gpu_temperature', -7)\n"
        "    shown = subprocess.run(['mthreads-gmi'], stdout=subprocess.PIPE).stdout.decode()\n"
        "    assert '|-7C ' in shown\n"
    )
    done = packaged.run([python, "-m", "pytest", "-q", "test_it.py"], environ, cwd=str(tmp_path))
    assert "1 passed" in done.stdout, done.stdout + done.stderr
