"""The wheel pymtml-nvml: what is in it, that it can be made again, and its neighbors in an environment."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import simulated
import wheels

THEIRS = "THEIRS = 'mthreads-ml-py'\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheels.ours(tmp_path_factory)


@pytest.fixture(scope="module")
def newer_wheel(tmp_path_factory):
    """The same with a higher version."""
    folder = tmp_path_factory.mktemp("newer")
    return wheels.build("wheel", folder, wheels.copy_of_source(folder / "source", version="99.0"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Two versions of a project that installs a pymtml.py, as mthreads-ml-py does."""
    folder = tmp_path_factory.mktemp("theirs")
    return [wheels.stand_in(folder, "mthreads-ml-py", version, {"pymtml.py": THEIRS}) for version in ("2.4.3", "9.9")]


@pytest.fixture
def environment(request, tmp_path):
    """An empty environment; uv fills it where there is one, which is quicker, unless a test names the installer."""
    return wheels.Environment(tmp_path / "environment", getattr(request, "param", wheels.INSTALLERS[-1]))


def read(path):
    with open(str(path), "rb") as file:
        return file.read()


# ---- what is in it ----


def test_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (page,) = [name for name in names if ".data/" in name]
        assert page.endswith(".data/data/share/man/man1/pymtml.1")
        assert archive.read(page) == read(os.path.join(simulated.ROOT, "docs", "pymtml.1"))
        names.remove(page)
        assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
            "pymtml",
            "pymtml_cli",
            "pymtml_dropin",
        }
        assert archive.read("pymtml/__init__.py") == read(os.path.join(simulated.ROOT, "pymtml.py"))
        sources = [os.path.join(simulated.ROOT, name) for name in ("pymtml.py", "facts/nvml_surface.json")]
        generator = [sys.executable, os.path.join(simulated.ROOT, "tools", "generate_stub.py")]
        assert archive.read("pymtml/__init__.pyi") == subprocess.check_output(generator + sources)
        assert archive.read("pymtml/py.typed") == b""
        for package in ("pymtml_cli", "pymtml_dropin"):
            tracked = simulated.run(["git", "ls-files", package], cwd=simulated.ROOT, check=True)
            assert set(tracked.stdout.split()) == {name for name in names if name.startswith(package + "/")}
        executable = [info.filename for info in archive.infolist() if info.external_attr >> 16 & 0o111]
        assert executable == ["pymtml_dropin/bin/nvidia-smi"]


def test_two_builds_are_the_same(wheel, tmp_path):
    """Whenever, wherever and under whatever umask it is made."""
    source = wheels.copy_of_source(tmp_path / "source")
    for folder, _, files in os.walk(source):
        for file in files:
            os.utime(os.path.join(folder, file), (1e9, 1e9))
    before = os.umask(0o077)
    try:
        again = wheels.build("wheel", tmp_path / "again", source)
        archives = [wheels.build("sdist", tmp_path / name, source) for name in ("one", "two")]
    finally:
        os.umask(before)
    assert read(again) == read(wheel)
    assert read(archives[0]) == read(archives[1])


def test_the_source_archive_makes_the_same_wheel(wheel, tmp_path):
    with tarfile.open(wheels.build("sdist", tmp_path / "archive")) as archive:
        archive.extractall(str(tmp_path))
    (source,) = tmp_path.glob("pymtml_nvml-*")
    assert read(wheels.build("wheel", tmp_path / "again", source)) == read(wheel)
    assert {"CHANGELOG.md", "LICENSE", "README.md"} <= set(os.listdir(str(source)))
    # Tests need the simulator, which is a project of its own: none are carried that could not be run.
    assert not [file for file in source.rglob("*") if "test" in file.name]


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        text = archive.read(name).decode("utf-8")
    fields, _, readme = text.partition("\n\n")
    for line in (
        "Name: pymtml-nvml",
        "License-Expression: MIT",
        "License-File: LICENSE",
        "Author: The pymtml authors",
        "Requires-Python: >=3.7",
        "Description-Content-Type: text/markdown",
    ):
        assert line in fields.splitlines()
    assert "License ::" not in fields  # an index refuses both kinds together
    assert "Project-URL" not in fields  # there is no public repository
    needed = [line for line in fields.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert needed == []
    # An index has no files beside the README: what links to them is their words.
    assert "docs/support.md" in readme
    assert [link for link in re.findall(r"\]\(([^)]+)\)", readme) if not link.startswith(("https://", "#"))] == []


def test_the_readme_renders_on_an_index(wheel, tmp_path):
    pytest.importorskip("twine")
    archive = wheels.build("sdist", tmp_path)
    command = [sys.executable, "-m", "twine", "check", "--strict", wheel, archive]
    done = simulated.run(command, stderr=subprocess.STDOUT)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout


# ---- installed ----


def test_the_commands(wheel, environment):
    environment.install(wheel)
    command = os.path.join(environment.bin, "pymtml")
    said = subprocess.check_output([command, "--help"], universal_newlines=True)
    assert "drop-in" in said
    assert environment.run("-m", "pymtml", "--help") == said
    assert environment.run("-m", "pymtml_cli", "--help") == said
    folder = subprocess.check_output([command, "drop-in", "path"], universal_newlines=True).strip()
    assert folder == os.path.join(environment.packages, "pymtml_dropin", "path")


def test_the_manual_page(wheel, environment):
    """Where man looks for it once the environment's bin is on the path."""
    environment.install(wheel)
    page = os.path.join(environment.folder, "share", "man", "man1", "pymtml.1")
    assert read(page) == read(os.path.join(simulated.ROOT, "docs", "pymtml.1"))
    if shutil.which("man") and shutil.which("groff"):
        shown = simulated.run(["man", "-l", page], env=dict(os.environ, MANWIDTH="100"), check=True).stdout
        for words in ("query-gpu=FIELDS", "EXIT STATUS", "PYMTML_LIBRARY", "completion"):
            assert words in shown.replace("\u2010", "-")
    if shutil.which("mandoc"):
        done = simulated.run(["mandoc", "-T", "lint", page])
        assert (done.returncode, done.stdout) == (0, "")


def test_an_editable_install(environment, tmp_path):
    """What is edited in the source is what is imported, from anywhere: there is no second copy of the module."""
    source = wheels.copy_of_source(tmp_path / "source")
    environment.install(wheels.build("editable", tmp_path / "wheel", source))
    module = os.path.join(source, "pymtml.py")
    with open(module, "a") as file:
        file.write("\nEDITED = 1\n")
    assert environment.run("-c", "import pymtml; print(pymtml.__file__, pymtml.EDITED)") == "%s 1\n" % module
    said = subprocess.check_output([os.path.join(environment.bin, "pymtml"), "--help"], universal_newlines=True)
    assert said == environment.run("-m", "pymtml", "--help")
    environment.uninstall("pymtml-nvml")
    # pip removes the folder when it is empty.
    left = os.listdir(environment.packages) if os.path.exists(environment.packages) else []
    assert [name for name in left if "pymtml" in name] == []


def test_an_editable_install_is_behind_theirs(environment, theirs, tmp_path):
    """A folder on the path comes after site-packages, and there is no package to prefer: the command says so."""
    source = wheels.copy_of_source(tmp_path / "source")
    environment.install(wheels.build("editable", tmp_path / "wheel", source))
    environment.install(theirs[0])
    assert environment.imported() == os.path.join(environment.packages, "pymtml.py")
    done = simulated.run([os.path.join(environment.bin, "pymtml"), "drop-in", "enable"])
    assert done.returncode == 1
    assert environment.imported() + " here, which is not this pymtml" in done.stderr
    # Asked for by name it is this one all the same.
    code = "import pymtml, pynvml; print(pymtml is pynvml, pymtml.__file__)"
    said = simulated.run([os.path.join(environment.bin, "pymtml"), "run", "-c", code], check=True)
    assert said.stdout == "True %s\n" % os.path.join(source, "pymtml.py")


# ---- beside mthreads-ml-py ----


STORIES = {
    "ours then theirs, ours removed": ["+ours", "+theirs", "-ours"],
    "ours then theirs, theirs removed": ["+ours", "+theirs", "-theirs"],
    "theirs then ours, ours removed": ["+theirs", "+ours", "-ours"],
    "theirs then ours, theirs removed": ["+theirs", "+ours", "-theirs"],
    "ours upgraded": ["+theirs", "+ours", "^ours", "-ours"],
    "theirs upgraded": ["+theirs", "+ours", "^theirs", "-ours"],
    "theirs upgraded, then removed": ["+ours", "+theirs", "^theirs", "-theirs"],
    "both upgraded, ours again": ["+ours", "+theirs", "^ours", "^theirs", "-ours", "+ours"],
}


# pip takes its time: the rest of its stories is told with the programs.
QUICK = ("ours then theirs, theirs removed", "theirs then ours, ours removed")


@pytest.mark.parametrize(
    "environment, story",
    [
        pytest.param(
            installer, story, marks=[pytest.mark.programs] if installer == "pip" and story not in QUICK else []
        )
        for installer in wheels.INSTALLERS
        for story in sorted(STORIES)
    ],
    indirect=["environment"],
)
def test_beside_mthreads_ml_py(environment, wheel, newer_wheel, theirs, story):
    neighbors = wheels.Neighbors(environment, [wheel, newer_wheel], theirs)
    for step in STORIES[story]:
        if step[0] == "-":
            neighbors.uninstall(step[1:])
        else:
            neighbors.install(step[1:], version=1 if step[0] == "^" else 0)
    if "^ours" in STORIES[story] and "ours" in neighbors.present:
        environment.run("-c", "import pymtml, sys; sys.exit('THEIRS' in dir(pymtml))")


# ---- the drop-in of an environment ----


@pytest.fixture
def enabled(environment, wheel):
    """An environment with the drop-in enabled, and another pynvml in it."""
    environment.install(wheel)
    environment.theirs = wheels.stand_in(environment.folder, "nvidia-ml-py", "13.0", {"pynvml.py": "NVIDIA = 1\n"})
    environment.install(environment.theirs)
    said = drop_in(environment, "enable")
    assert said.splitlines()[0] == "wrote " + os.path.join(environment.packages, "pymtml_dropin.pth")
    return environment


def drop_in(environment, *arguments, **options):
    """What `pymtml drop-in` says, to stderr where it is to fail."""
    status = options.pop("status", 0)
    done = simulated.run(
        [os.path.join(environment.bin, "pymtml"), "drop-in"] + list(arguments),
        env=dict(os.environ, PYMTML_PROC_ROOT=environment.folder, **options.pop("env", {})),
    )
    assert done.returncode == status, done
    if status and done.stderr:
        return done.stderr
    assert done.stderr == ""
    return done.stdout


def name_of_pynvml(environment, *options, **env):
    """The name of the module that a new Python of the environment has for pynvml; nothing may be said besides."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYMTML_"))}
    done = simulated.run(
        [environment.python] + list(options) + ["-c", "import pynvml; print(pynvml.__name__)"],
        env=dict(variables, **env),
        cwd=environment.folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_enabled(enabled):
    assert name_of_pynvml(enabled) == "pymtml"
    # -E and -I leave out the variables of the environment, not what is installed in it.
    assert name_of_pynvml(enabled, "-E") == name_of_pynvml(enabled, "-I") == "pymtml"
    assert name_of_pynvml(enabled, "-S", PYTHONPATH=enabled.packages) == "pynvml"
    lines = drop_in(enabled, "status").splitlines()
    assert lines[0] == "enabled by " + os.path.join(enabled.packages, "pymtml_dropin.pth")
    assert lines[2] == "import pynvml: pymtml"


def test_it_survives_installs(enabled):
    enabled.install(wheels.stand_in(enabled.folder, "nvidia-ml-py", "14.0", {"pynvml.py": "NVIDIA = 2\n"}))
    assert name_of_pynvml(enabled) == "pymtml"
    enabled.uninstall("nvidia-ml-py")
    assert name_of_pynvml(enabled) == "pymtml"


def test_disabled(enabled):
    file = os.path.join(enabled.packages, "pymtml_dropin.pth")
    assert drop_in(enabled, "disable") == "removed %s\n" % file
    assert not os.path.exists(file)
    assert name_of_pynvml(enabled) == "pynvml"
    assert drop_in(enabled, "disable").startswith("not enabled")
    lines = drop_in(enabled, "status", status=1).splitlines()
    assert lines[0].startswith("not enabled")
    assert lines[2] == "import pynvml: " + os.path.join(enabled.packages, "pynvml.py")


def test_an_nvidia_driver_is_left_its_pynvml(enabled):
    folder = os.path.join(enabled.folder, "driver", "nvidia")
    os.makedirs(folder)
    mark = os.path.join(folder, "version")
    open(mark, "w").close()
    driver = {"PYMTML_PROC_ROOT": enabled.folder}
    assert name_of_pynvml(enabled, **driver) == "pynvml"
    assert "an NVIDIA driver is present (%s)" % mark in drop_in(enabled, "status")
    assert "an NVIDIA driver is present (%s)" % mark in drop_in(enabled, "enable")
    assert name_of_pynvml(enabled, **driver) == "pynvml"
    assert "an NVIDIA driver" not in drop_in(enabled, "enable", "--force")
    assert name_of_pynvml(enabled, **driver) == "pymtml"
    drop_in(enabled, "enable")
    assert name_of_pynvml(enabled, **driver) == "pynvml"


def test_where_it_cannot_write(environment, wheel):
    """The folder is what a file system without write permission is: root may write where others may not."""
    environment.install(wheel)
    folder = os.path.join(environment.packages, "pymtml_dropin.pth")
    os.mkdir(folder)
    said = drop_in(environment, "enable", status=1)
    assert said.startswith("pymtml: cannot write " + folder) and said.count("\n") == 1
    assert [name for name in os.listdir(environment.packages) if name.startswith("pymtml_dropin.pth.")] == []


def test_where_it_is_not_installed(tmp_path):
    """From a checkout, in an environment that knows nothing of it."""
    environment = wheels.Environment(tmp_path / "environment")
    done = simulated.run([environment.python, "-m", "pymtml", "drop-in", "enable"], cwd=simulated.ROOT)
    assert done.returncode == 1
    assert done.stderr == "pymtml: pymtml is not installed in %s; install it there first\n" % environment.folder
