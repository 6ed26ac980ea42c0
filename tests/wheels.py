"""Wheels for the tests of installing: this project's, built once, and small stand-ins for other people's."""

import base64
import fcntl
import glob
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest
from simulated import ROOT, run

INSTALLERS = ["pip"] + (["uv"] if os.path.exists(os.path.join(os.path.dirname(sys.executable), "uv")) else [])
BUILD = "import hatchling.build, sys; print(getattr(hatchling.build, 'build_' + sys.argv[1])(sys.argv[2]))"

VENDOR = "mthreads-ml-py==2.4.3"

# What Pythons beside this one compile comes and goes while a folder is copied.
UNCOMPILED = shutil.ignore_patterns("__pycache__")


def build(kind, folder, source=ROOT):
    """The file that the build backend makes: a wheel, an sdist or an editable (path)."""
    os.makedirs(str(folder), exist_ok=True)
    done = run([sys.executable, "-c", BUILD, kind, str(folder)], cwd=str(source))
    assert done.returncode == 0, done.stderr
    return os.path.join(str(folder), done.stdout.splitlines()[-1])


def once(factory, name, make):
    """A folder that the first one of a run's processes to ask for it has made (path)."""
    top = factory.getbasetemp()
    top = top.parent if "PYTEST_XDIST_WORKER" in os.environ else top
    with open(str(top / (name + ".lock")), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (top / name).exists():
            make(str(top / (name + ".new")))
            os.rename(str(top / (name + ".new")), str(top / name))
    return str(top / name)


def ours(factory):
    """This project's wheel (path)."""
    (path,) = glob.glob(os.path.join(once(factory, "wheel", lambda folder: build("wheel", folder)), "*.whl"))
    return path


def copy_of_source(folder, version=None):
    """A copy of what this project is built from, with another version number if one is given (path)."""
    folder = str(folder)
    os.makedirs(folder)
    for name in ("pyproject.toml", "hatch_build.py", "pymtml.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(os.path.join(ROOT, name), folder)
    for name in ("pymtml_cli", "pymtml_dropin", "tools", "facts"):
        shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name), ignore=UNCOMPILED)
    os.mkdir(os.path.join(folder, "docs"))
    shutil.copy(os.path.join(ROOT, "docs", "pymtml.1"), os.path.join(folder, "docs"))
    if version is not None:
        module = os.path.join(folder, "pymtml.py")
        with open(module) as file:
            text = file.read()
        changed = text.replace('\n__version__ = "', '\n__version__ = "%s"  # "' % version)
        assert changed != text
        with open(module, "w") as file:
            file.write(changed)
    return folder


def copy_of_module(folder):
    """Copies pymtml.py with its bytecode, which would take a third of a second to make."""
    source, target = os.path.join(ROOT, "pymtml.py"), os.path.join(str(folder), "pymtml.py")
    shutil.copy2(source, target)
    compiled = importlib.util.cache_from_source(source)
    if os.path.exists(compiled):
        os.makedirs(os.path.join(str(folder), "__pycache__"), exist_ok=True)
        shutil.copy(compiled, importlib.util.cache_from_source(target))


def vendor(factory):
    """Folder that holds the vendor's pymtml.py: that of `make test`, or one that is filled from the package index."""
    folder = os.path.join(sys.prefix, "vendor")
    if os.path.exists(os.path.join(folder, "pymtml.py")):
        return folder
    folder = str(factory.mktemp("vendor"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, VENDOR]
    result = run(command, stderr=subprocess.STDOUT)
    if result.returncode:
        pytest.skip("%s cannot be installed: %s" % (VENDOR, result.stdout.strip().splitlines()[-1:]))
    return folder


def stand_in(folder, name, version, files, metadata=""):
    """A wheel of somebody else's project that holds the files, {path: text}; `metadata` is added to its own (path)."""
    label = "%s-%s" % (name.replace("-", "_"), version)
    path = os.path.join(str(folder), label + "-py3-none-any.whl")
    info = label + ".dist-info/"
    files = dict(files)
    fields = "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: of a test\n%s"
    files[info + "METADATA"] = fields % (name, version, metadata)
    files[info + "WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = []
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
            record.append("%s,sha256=%s,%d\n" % (file, digest, len(text.encode())))
        archive.writestr(info + "RECORD", "".join(record) + info + "RECORD,,\n")
    return path


class Environment:
    """An empty virtual environment, filled by one of the installers."""

    def __init__(self, folder, installer="pip"):
        self.folder = str(folder)
        venv.EnvBuilder(with_pip=False, symlinks=True).create(self.folder)
        self.bin = os.path.join(self.folder, "bin")
        self.python = os.path.join(self.bin, "python")
        if installer == "pip":
            self._install = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python"]
            self._install += [self.python, "install", "--no-compile"]
            self._uninstall = self._install[:-2] + ["uninstall", "--yes"]
        else:
            uv = [os.path.join(os.path.dirname(sys.executable), "uv"), "--quiet", "pip"]
            self._install = uv + ["install", "--python", self.python]
            self._uninstall = uv + ["uninstall", "--python", self.python]
        self.packages = self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()

    def install(self, *wheels):
        """Install files, and nothing from anywhere else."""
        self._call(self._install + ["--no-index", "--no-deps"] + list(wheels))

    def fetch(self, *requirements):
        """Install from the package index."""
        self._call(self._install + list(requirements))

    def uninstall(self, name):
        self._call(self._uninstall + [name])

    def run(self, *arguments, **options):
        """What the environment's Python prints."""
        return self._call([self.python] + list(arguments), **options)

    def imported(self, name="pymtml"):
        """The file that a new Python of the environment imports under a name."""
        return self.run("-c", "import sys; del sys.path[0]; import {0}; print({0}.__file__)".format(name)).strip()

    def _call(self, command, env=None):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYMTML_", "PIP_"))}
        done = run(command, cwd=self.folder, env=dict(clean, PYTHONDONTWRITEBYTECODE="", **(env or {})))
        assert done.returncode == 0, "%s\n%s\n%s" % (command, done.stdout, done.stderr)
        return done.stdout


class Neighbors:
    """Ours and theirs in one environment; after each step `import pymtml` is checked."""

    def __init__(self, environment, ours, theirs):
        self.environment, self.ours, self.theirs = environment, ours, theirs
        self.present = set()

    def install(self, who, version=0):
        self.environment.install(getattr(self, who)[version])
        self.present.add(who)
        self.check()

    def uninstall(self, who):
        self.environment.uninstall({"ours": "pymtml-nvml", "theirs": "mthreads-ml-py"}[who])
        self.present.remove(who)
        self.check()

    def check(self):
        package = os.path.join(self.environment.packages, "pymtml", "__init__.py")
        module = os.path.join(self.environment.packages, "pymtml.py")
        expected = package if "ours" in self.present else module
        assert self.environment.imported() == expected
        if "ours" not in self.present:
            assert self.environment.run("-c", "import pymtml; print(pymtml.THEIRS)") == "mthreads-ml-py\n"
