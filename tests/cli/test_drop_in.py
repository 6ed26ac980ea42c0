"""All that `pymtml drop-in` says and does to an environment; tools/test_distribution.py installs it."""

import os
import shutil
import site
import sys
import sysconfig
import venv

import pytest
import simulated
import wheels
from command import invoke
from inside import drop_in, links

import pymtml_dropin

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the Python of the environment is a link")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment with nothing in it (path)."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    venv.EnvBuilder(with_pip=False, symlinks=True).create(str(folder))
    return folder


@pytest.fixture
def packages(bare, tmp_path, monkeypatch):
    """The folder of packages of an environment, empty; this process takes itself for one of that environment (path)."""
    folder = bare / "lib" / ("python%d.%d" % sys.version_info[:2]) / "site-packages"
    shutil.rmtree(str(folder))
    folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(bare / "bin" / "python"))
    monkeypatch.setattr(sys, "prefix", str(bare))
    monkeypatch.setattr(sysconfig, "get_path", {"purelib": str(tmp_path / "first"), "platlib": str(folder)}.get)
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(folder)])
    monkeypatch.setattr(site, "ENABLE_USER_SITE", False)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "proc"))
    (tmp_path / "first").mkdir()
    return folder


def install(folder, monkeypatch):
    """Put pymtml into a folder, as a wheel does; this process takes itself for that one."""
    (folder / "pymtml").mkdir(parents=True)
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(folder / "pymtml" / "__init__.py"))
    shutil.copytree(os.path.dirname(pymtml_dropin.__file__), str(folder / "pymtml_dropin"), ignore=wheels.UNCOMPILED)
    monkeypatch.setattr(pymtml_dropin, "__file__", str(folder / "pymtml_dropin" / "__init__.py"))


@pytest.fixture
def installed(packages, monkeypatch):
    """The same with pymtml in it: the folder of packages (path)."""
    install(packages, monkeypatch)
    return packages


@pytest.fixture
def driver(tmp_path):
    """What a driver of NVIDIA's leaves (path)."""
    mark = tmp_path / "proc" / "driver" / "nvidia" / "version"
    mark.parent.mkdir(parents=True)
    mark.write_text("NVRM version: NVIDIA\n")
    return mark


def told(*arguments):
    """What `pymtml drop-in` answers: exit status, lines of stdout, lines of stderr."""
    result = invoke("drop-in", *arguments)
    return result.status, result.lines, result.stderr.splitlines()


WROTE, UNDO = "wrote %s", "pymtml drop-in disable undoes it"
TAKE = "programs of %s use pymtml as pynvml from their next start"
SHARED = "%s, and of environments that share its packages (--system-site-packages),"


def test_on_and_off(installed, bare, tmp_path, monkeypatch):
    """What PYTHONPATH has for this process is no part of the environment."""
    (tmp_path / "pynvml.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    module, file = str(installed / "pymtml" / "__init__.py"), installed / drop_in.FILE
    ours, nothing = "import pymtml: " + module, "import pynvml: not found"
    before = sorted(os.listdir(str(installed)))
    assert told("status") == (1, ["not enabled in %s" % bare, ours, nothing], [])
    assert told("disable") == (0, ["not enabled in %s: nothing to undo" % bare], [])
    assert told("enable") == (0, [WROTE % file, TAKE % bare, UNDO], [])
    assert file.read_text() == drop_in.line(False, str(file), str(installed))
    assert sorted(os.listdir(str(installed))) == sorted(before + [drop_in.FILE])
    assert told("status") == (0, ["enabled by %s" % file, ours, "import pynvml: pymtml"], [])
    assert told("disable") == (0, ["removed %s" % file], [])
    assert sorted(os.listdir(str(installed))) == before
    (installed / "pynvml.py").write_text("")
    theirs = "import pynvml: %s" % (installed / "pynvml.py")
    assert told("status") == (1, ["not enabled in %s" % bare, ours, theirs], [])


def test_beside_a_driver_of_nvidias(installed, bare, driver):
    """pynvml stays NVIDIA's, unless the user says otherwise."""
    file = installed / drop_in.FILE
    (installed / "pynvml.py").write_text("")
    module = "import pymtml: %s" % (installed / "pymtml" / "__init__.py")
    theirs = "import pynvml: %s" % (installed / "pynvml.py")
    present = "an NVIDIA driver is present (%s): " % driver
    stays = present + "pynvml stays as it is; --force replaces it anyway"
    assert told("status") == (1, ["not enabled in %s" % bare, module, theirs], [])
    assert told("enable") == (0, [WROTE % file, stays, UNDO], [])
    assert told("status") == (0, ["enabled by %s" % file, module, theirs, present + "pynvml is left as it is"], [])
    assert told("enable", "--force") == (0, [WROTE % file, TAKE % bare, UNDO], [])
    assert file.read_text() == drop_in.line(True, str(file), str(installed))
    assert told("status") == (0, ["enabled by %s" % file, module, "import pynvml: pymtml"], [])


def test_a_package_that_is_not_among_the_packages(packages, bare, tmp_path):
    """As of an editable install, or a module instead of a wheel: the file goes into the first folder."""
    (packages / "editable.pth").write_text(simulated.ROOT + "\n")
    file = tmp_path / "first" / drop_in.FILE
    assert told("enable") == (0, [WROTE % file, TAKE % bare, UNDO], [])
    assert file.read_text() == drop_in.line(False, str(file))
    assert os.listdir(str(packages)) == ["editable.pth"]


def test_an_environment_that_shares_packages(packages, bare, tmp_path, monkeypatch):
    """The Python below has pymtml: the file goes into the environment, and none but that one is removed."""
    below = tmp_path / "below"
    install(below, monkeypatch)
    (packages / "below.pth").write_text("%s\n" % below)
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(packages), str(below)])
    file, shared = tmp_path / "first" / drop_in.FILE, below / drop_in.FILE
    assert told("enable") == (0, [WROTE % file, TAKE % bare, UNDO], [])
    assert (file.read_text(), shared.exists()) == (drop_in.line(False, str(file), str(below)), False)
    shared.write_text("")
    still = "pymtml: still enabled by %s, which others share: run pymtml drop-in disable of %s"
    for lines in (["removed %s" % file], []):
        assert told("disable") == (1, lines, [still % (shared, sys.base_prefix)])
    assert shared.exists()
    # Run for that Python itself, then for a user who installed with --user
    monkeypatch.setattr(sys, "base_prefix", str(bare))
    assert told("enable") == (0, [WROTE % shared, TAKE % (SHARED % bare), UNDO], [])
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(packages)])
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(below))
    assert told("enable") == (0, [WROTE % shared, "your own " + TAKE % bare, UNDO], [])
    assert told("disable") == (0, ["removed %s" % shared], [])


def test_a_folder_that_the_locale_cannot_write(bare, packages, monkeypatch):
    """A new Python of that environment tells where it finds pymtml all the same."""
    other = os.fsdecode(os.fsencode(str(bare)) + b"\xff")
    install(packages, monkeypatch)
    shutil.copytree(str(bare), other, symlinks=True)
    monkeypatch.setattr(sys, "executable", os.path.join(other, "bin", "python"))
    assert drop_in.found()[0] == os.path.join(other, str(packages.relative_to(bare)), "pymtml", "__init__.py")


def test_an_environment_that_has_no_pymtml(packages, bare, tmp_path):
    """What an uninstalled one may leave behind, and Python takes for a package, is none."""
    left = ["pymtml", "pynvml"]
    for name in left:
        (packages / name / "__pycache__").mkdir(parents=True)
    said = ["pymtml: pymtml is not installed in %s; install it there first" % bare]
    assert told("enable") == (1, [], said)
    lines = ["not enabled in %s" % bare, "import pymtml: not found", "import pynvml: not found"]
    assert told("status") == (1, lines, [])
    assert (sorted(os.listdir(str(packages))), os.listdir(str(tmp_path / "first"))) == (left, [])


def test_an_environment_with_a_pymtml_of_somebody_elses(packages):
    other = packages / "pymtml.py"
    other.write_text("")
    said = "pymtml: import pymtml loads %s here, which is not this pymtml; remove it (pip uninstall) first"
    assert told("enable") == (1, [], [said % other])
    assert os.listdir(str(packages)) == ["pymtml.py"]


def test_a_python_that_does_not_start(packages, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert drop_in.found() == ("", "")


def test_a_file_that_cannot_be_written_or_removed(installed, monkeypatch):
    """Nothing is left of the attempt; a folder stands for what only root could refuse."""
    file = installed / drop_in.FILE
    file.mkdir()
    before = sorted(os.listdir(str(installed)))
    said = "pymtml: cannot write %s: Is a directory; PYTHONPATH=$(pymtml drop-in path) needs no file" % file
    assert told("enable") == (1, [], [said])
    assert sorted(os.listdir(str(installed))) == before
    file.rmdir()

    def refused(*arguments):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refused)
        assert told("enable") == (1, [], [said.replace("Is a directory", "Permission denied")])
    # Python may start at any time: a file that is there stays whole until the new one is
    file.write_text("# before\n")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refused)
        assert told("enable") == (1, [], [said.replace("Is a directory", "Permission denied")])
    assert file.read_text() == "# before\n" and sorted(os.listdir(str(installed))) == before
    monkeypatch.setattr(os, "unlink", refused)
    assert told("disable") == (1, [], ["pymtml: cannot remove %s: Permission denied" % file])


def test_the_folders_that_python_reads(monkeypatch):
    """Each once, the user's last, where the user's is on; an old virtualenv had no list of its own."""
    monkeypatch.setattr(sysconfig, "get_path", {"purelib": "/e/lib", "platlib": "/e/lib64"}.get)
    monkeypatch.setattr(site, "getsitepackages", lambda: ["/e/lib64", "/e/dist"])
    monkeypatch.setattr(site, "getusersitepackages", lambda: "/home/u/lib")
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    assert drop_in.site_folders() == ["/e/lib", "/e/lib64", "/e/dist", "/home/u/lib"]
    monkeypatch.setattr(site, "ENABLE_USER_SITE", None)
    monkeypatch.delattr(site, "getsitepackages")
    assert drop_in.site_folders() == ["/e/lib", "/e/lib64"]


MADE, REMOVED = "made %s/nvidia-smi, which leads to %s", "removed %s/nvidia-smi"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The folders that login shells look in, and one more (list of str)."""
    found = [tmp_path / name for name in ("local", "usr", "opt")]
    for folder in found:
        folder.mkdir()
    found = [str(folder) for folder in found]
    monkeypatch.setattr(links, "FOLDERS", tuple(found[:2]))
    return found


def shim_of(package):
    return os.path.join(str(package), "pymtml_dropin", "bin", "nvidia-smi")


def test_the_link_alone(packages, bare, places, monkeypatch):
    """As from a checkout, which has no file of its own to remember it by."""
    local, usr, opt = places
    undo = "pymtml drop-in disable --nvidia-smi%s undoes it"
    shim = shim_of(simulated.ROOT)
    assert told("enable", "--nvidia-smi") == (0, [MADE % (local, shim), undo % ""], [])
    assert told("enable", "--nvidia-smi", opt) == (0, [MADE % (opt, shim), undo % (" " + opt)], [])
    assert told("enable", "--nvidia-smi")[0] == 0  # once more
    assert (os.readlink(local + "/nvidia-smi"), os.listdir(local)) == (shim, ["nvidia-smi"])
    assert not any(name.startswith("pymtml_dropin") for name in os.listdir(str(packages)))
    shown = simulated.run(
        ["bash", "-c", "nvidia-smi -L"], env=dict(simulated.environment("s80"), PATH=opt + ":/usr/bin:/bin")
    )
    assert shown.stdout.startswith("GPU 0: MTT S80 (UUID: GPU-"), shown.stderr
    assert told("status")[1][-1] == "nvidia-smi: %s/nvidia-smi" % local
    assert told("disable", "--nvidia-smi") == (0, [REMOVED % local], [])
    nothing = "no nvidia-smi of pymtml's at %s/nvidia-smi: nothing to undo"
    assert told("disable", "--nvidia-smi") == (0, [nothing % local], [])
    assert told("disable", "--nvidia-smi", opt) == (0, [REMOVED % opt], [])
    assert [os.listdir(place) for place in places] == [[], [], []]


def test_the_link_is_remembered_beside_the_file(installed, bare, places):
    local, usr, opt = places
    opt = os.fsdecode(os.fsencode(opt) + b"\xff")  # no text in UTF-8
    os.mkdir(opt)
    written = opt.encode("utf-8", "backslashreplace").decode()
    assert told("enable")[0] == 0
    for place in (opt, usr):
        assert told("enable", "--nvidia-smi", place)[1][1] == "pymtml drop-in disable --nvidia-smi undoes it"
    shown = ["nvidia-smi: %s/nvidia-smi" % place for place in (written, usr)]
    assert told("status")[1][-2:] == shown
    assert told("disable", "--nvidia-smi", usr) == (0, [REMOVED % usr], [])
    status, lines, _ = told("disable")
    assert (status, lines[1:]) == (0, [REMOVED % written])
    assert [os.listdir(place) for place in (local, usr, opt)] == [[]] * 3 and not (installed / links.KEPT).exists()


def test_no_link_in_place_of_somebody_elses(packages, bare, places, driver, monkeypatch):
    local, usr, opt = places
    present = "pymtml: an NVIDIA driver is present (%s): nvidia-smi stays NVIDIA's" % driver
    assert told("enable", "--nvidia-smi") == (1, [], [present])
    driver.unlink()
    for place, make in (
        (local, lambda path: open(path, "w").close()),
        (usr, lambda path: os.symlink("/not/mounted/nvidia-smi", path)),
    ):
        make(place + "/nvidia-smi")
        theirs = "pymtml: %s/nvidia-smi exists and is not pymtml's; name another folder: --nvidia-smi DIR" % place
        assert told("enable", "--nvidia-smi", place) == (1, [], [theirs])
        assert told("disable", "--nvidia-smi", place)[1][0].endswith("nothing to undo")
        assert os.listdir(place) == ["nvidia-smi"]
    lacking = "pymtml: cannot make /nowhere/nvidia-smi: No such file or directory"
    assert told("enable", "--nvidia-smi", "/nowhere") == (1, [], [lacking])
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *paths: os.rmdir(paths[0]))  # an OSError, when the link has been made
        assert told("enable", "--nvidia-smi", opt)[0] == 1 and os.listdir(opt) == []
    os.symlink("/gone/pymtml_dropin/bin/nvidia-smi", opt + "/nvidia-smi")  # of a pymtml that was uninstalled
    assert told("enable", "--nvidia-smi", opt)[0] == 0


def test_the_folder_for_pythonpath():
    assert told("path") == (0, [os.path.join(simulated.ROOT, "pymtml_dropin", "path")], [])


def test_a_command_without_an_action():
    missing = "the following arguments are required: path | enable | disable | status"
    assert told() == (2, [], ["pymtml: %s; see `pymtml drop-in --help`" % missing])


@pytest.mark.parametrize("action", ["path", "enable", "disable", "status"])
def test_a_frozen_program_has_no_environment(action, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    said = "drop-in needs a Python interpreter: this pymtml is frozen into one program; install pymtml's wheel"
    assert told(action) == (1, [], ["pymtml: " + said])
