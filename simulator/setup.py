"""Builds the package mtml-simulator: compiles the library and lays profiles and headers beside it.

A C compiler is all it takes: CC, or the first of cc, gcc and clang; CFLAGS and LDFLAGS are passed on. Metadata is in
pyproject.toml.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "python", "mtml_simulator")
# Files of the repository that lie above this folder in a checkout, and in it in a source archive.
SHARED = ("mtml_2.2.0.h", "LICENSE")
MACHINES = ("x86_64", "aarch64")
COMPILE = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", "-O2", "-Wall", "-Wextra"]
# Symbols and lines, for those who look at frames in valgrind, a sanitizer or a debugger.
COMPILE += ["-fPIC", "-fvisibility=hidden", "-pthread", "-g1", "-ffile-prefix-map=%s=mtml-simulator" % HERE]
LINK = ["-shared", "-Wl,--hash-style=both", "-Wl,-z,defs"]


def shared(name):
    """Path of a file that the repository keeps above this folder."""
    for folder in (HERE, os.path.dirname(HERE)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise SystemExit("mtml-simulator: %s is missing; build from a whole checkout or from the source archive" % name)


def refuse_other_platforms():
    machine = platform.machine()
    if not sys.platform.startswith("linux") or machine not in MACHINES or sys.maxsize < 2**32:
        raise SystemExit(
            "mtml-simulator: the simulated library is for 64-bit Linux on %s; this is %s on %s (%d-bit Python)"
            % (" and ".join(MACHINES), platform.system(), machine, 64 if sys.maxsize > 2**32 else 32)
        )


def compiler():
    """The compiler's command as a list."""
    chosen = shlex.split(os.environ.get("CC", ""))
    for command in [chosen] if chosen else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    raise SystemExit(
        "mtml-simulator: a C compiler is needed, and %s is not installed (Debian: apt-get install gcc libc6-dev)"
        % ('"%s" (from CC)' % chosen[0] if chosen else "none of cc, gcc, clang")
    )


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    sys.stdout.write(done.stdout)
    if done.returncode:
        raise SystemExit("mtml-simulator: this command failed: %s" % " ".join(map(shlex.quote, command)))


def compile_libraries(folder):
    """Make libmtml.so.2, libmtml.so, libmusa.so.1, libmusa.so and libmtgpu_nodes.so in a folder."""
    cc = compiler() + COMPILE + shlex.split(os.environ.get("CFLAGS", ""))
    link = LINK + shlex.split(os.environ.get("LDFLAGS", ""))
    # The sources name the header as "../../mtml_2.2.0.h". Where it is not there, but beside this file, it is found
    # from two folders below this one.
    cc += ["-I", PACKAGE, "-I", os.path.join(os.path.dirname(shared("mtml_2.2.0.h")), "simulator", "src")]
    sources = sorted(os.path.join(HERE, "src", name) for name in os.listdir(os.path.join(HERE, "src")))
    sources = [path for path in sources if path.endswith(".c")]
    apart = {name: os.path.join(HERE, "src", name + ".c") for name in ("musa", "nodes")}
    nodes = "libmtgpu_nodes.so"
    run(cc + link + ["-Wl,-soname," + nodes, apart["nodes"], "-o", os.path.join(folder, nodes)])
    for name, version, files in (
        ("mtml", "2", [path for path in sources if path not in apart.values()]),
        ("musa", "1", [apart["musa"]]),
    ):
        library = "lib%s.so.%s" % (name, version)
        script = "-Wl,--version-script=" + os.path.join(HERE, "lib%s.map" % name)
        target = os.path.join(folder, library)
        run(cc + link + ["-Wl,-soname," + library, script] + files + ["-ldl", "-o", target])
        # A wheel has no symbolic links, and a copy would be a second machine in one process. So the plain name is a
        # library of its own, which has nothing and needs the real one: dlopen and dlsym find everything through it.
        plain = "lib%s.so" % name
        needs = ["-Wl,--no-as-needed", "-L" + folder, "-l:" + library, "-Wl,-rpath,$ORIGIN", "-Wl,-soname," + plain]
        run(cc + link + ["-x", "c", os.devnull, "-x", "none"] + needs + ["-o", os.path.join(folder, plain)])


def fresh(*parts):
    """An empty folder of that path."""
    folder = os.path.join(*parts)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def write(text, *parts):
    with open(os.path.join(*parts), "w") as file:
        file.write(text)


class BuildPy(build_py):
    """Adds what is not Python; in an editable install it goes into the source folder."""

    def run(self):
        refuse_other_platforms()
        if not getattr(self, "editable_mode", False):
            fresh(self.build_lib, "mtml_simulator")
        super().run()
        target = PACKAGE if getattr(self, "editable_mode", False) else os.path.join(self.build_lib, "mtml_simulator")
        # Not lib/: gcc looks in ../lib of the folders on LIBRARY_PATH first, and link/ is to come first.
        compile_libraries(fresh(target, "libs"))
        profiles = fresh(target, "profiles")
        for name in sorted(os.listdir(os.path.join(HERE, "profiles"))):
            shutil.copy(os.path.join(HERE, "profiles", name), profiles)
        include = fresh(target, "include")
        shutil.copy(shared("mtml_2.2.0.h"), include)
        shutil.copy(os.path.join(HERE, "mtml_sim.h"), include)
        # For -lmtml: the linker follows the script to the library that the dynamic loader will look for.
        link = fresh(target, "link")
        write("INPUT(-l:libmtml.so.2)\n", link, "libmtml.so")
        write("INPUT(-l:libmusa.so.1)\n", link, "libmusa.so")
        with open(os.path.join(HERE, "python", "mtml-simulator.pc.in")) as template:
            text = template.read().replace("@VERSION@", self.distribution.get_version())
        write(text, fresh(target, "pkgconfig"), "mtml-simulator.pc")
        shutil.copy(shared("LICENSE"), target)
        shutil.copy(os.path.join(HERE, "CHANGELOG.md"), target)
        os.chmod(os.path.join(target, "bin", "mthreads-gmi"), 0o755)

    def get_outputs(self, include_bytecode=True):
        root = os.path.join(self.build_lib, "mtml_simulator")
        outputs = super().get_outputs(include_bytecode)
        outputs += [os.path.join(root, name) for name in ("LICENSE", "CHANGELOG.md")]
        for folder in ("libs", "profiles", "include", "link", "pkgconfig"):
            for place, _, names in os.walk(os.path.join(root, folder)):
                outputs += [os.path.join(place, name) for name in names]
        return outputs


class Wheel(bdist_wheel):
    """No Python interface is compiled: one wheel of a platform serves every Python 3."""

    def get_tag(self):
        return ("py3", "none") + super().get_tag()[2:]


class Sdist(sdist):
    """The archive builds by itself, so it carries the files from above."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, [name for name in files if not name.startswith("build" + os.sep)])
        for name in SHARED:
            target = os.path.join(base_dir, name)
            if os.path.exists(target):
                os.remove(target)
            shutil.copy(shared(name), target)


class PlatformDistribution(Distribution):
    """Goes to the folder for platform-dependent packages, although it has no extension module."""

    def has_ext_modules(self):
        return True


# Not build/, which is the Makefile's. Metadata beside the sources would make a checkout on PYTHONPATH look installed.
OUTPUT = os.path.join("build", "package")
os.makedirs(os.path.join(HERE, OUTPUT), exist_ok=True)

setup(
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel, "sdist": Sdist},
    options={"build": {"build_base": OUTPUT}, "egg_info": {"egg_base": OUTPUT}},
)
