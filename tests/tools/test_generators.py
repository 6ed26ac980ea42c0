"""The recorder and the generators of pymtml.py: what they make of another nvidia-ml-py."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import simulated
from genuine import SURFACE, distribution, recorded

ROOT = simulated.ROOT
MODULE = os.path.join(ROOT, "pymtml.py")


def tool(name, *arguments):
    command = [sys.executable, os.path.join(ROOT, "tools", name + ".py")] + list(arguments)
    return simulated.run(command, stderr=subprocess.STDOUT)


def read(path):
    with open(str(path), encoding="utf-8") as stream:
        return stream.read()


OF_SURFACE = ("errors", "vocabulary", "catalogue", "refusals")


@pytest.fixture
def changed(tmp_path):
    """Generates a copy from a changed surface: (text of the copy, the status and the text of --check)."""
    for folder in ("tools", "facts"):
        shutil.copytree(os.path.join(ROOT, folder), str(tmp_path / folder))
    shutil.copy(MODULE, str(tmp_path))

    def generate(change):
        surface = json.loads(read(SURFACE))
        change(surface)
        (tmp_path / "facts" / "nvml_surface.json").write_text(json.dumps(surface), encoding="utf-8")
        command = [sys.executable, str(tmp_path / "tools" / "generate.py")]
        written, checked = (
            simulated.run(command + options + ["--only", *OF_SURFACE], stderr=subprocess.STDOUT)
            for options in ([], ["--check"])
        )
        assert written.returncode == 0
        assert checked.stdout == written.stdout, "what is left to do is said when it is written, too"
        return read(tmp_path / "pymtml.py"), checked.returncode, checked.stdout

    return generate


def test_the_surface_is_what_the_recorder_makes(tmp_path):
    genuine = distribution()
    assert recorded() == "nvidia-ml-py %s" % genuine.version
    output = tmp_path / "surface.json"
    made = tool("record_surface", str(genuine.locate_file("pynvml.py")), "--output", str(output))
    assert made.returncode == 0, made.stdout
    assert read(output) == read(SURFACE)


def test_a_module_alone_needs_its_version(tmp_path):
    """As an argument, or from the metadata of a source archive, which stand beside it."""
    lone, output = tmp_path / "pynvml.py", tmp_path / "out.json"
    lone.write_text("from ctypes import Structure\nclass _PrintableStructure(Structure):\n    pass\n")
    refused = tool("record_surface", str(lone), "--output", str(output))
    assert refused.returncode == 1 and "VERSION= of make surface" in refused.stdout and not output.exists()
    make = ["make", "-n", "--no-print-directory", "surface", "NVIDIA_ML_PY=" + str(lone), "VERSION=99.1"]
    assert (
        simulated.run(make, cwd=ROOT).stdout.splitlines()[-1].endswith('record_surface.py "%s" --version "99.1"' % lone)
    )
    assert tool("record_surface", str(lone), "--version", "99.1", "--output", str(output)).returncode == 0
    assert json.loads(read(output))["source"] == "nvidia-ml-py 99.1"
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: nvidia-ml-py\nVersion: 99.2\n")
    assert tool("record_surface", str(lone), "--output", str(output)).returncode == 0
    assert json.loads(read(output))["source"] == "nvidia-ml-py 99.2"


def test_running_them_for_the_present_version_changes_nothing(changed):
    assert changed(lambda surface: None) == (read(MODULE), 0, "")


def test_another_version_is_taken_and_given_back_to_the_byte(changed):
    """What it lacks vanishes."""

    def change(surface):
        del surface["functions"]["nvmlDeviceGetPdi"]
        del surface["constants"]["NVML_FAN_FAILED"]
        del surface["structs"]["c_nvmlPdi_t"]
        surface["constants"].update(NVML_ERROR_NEWS=31, NVML_NEWS=7, NVML_CLOCK_MEM=9)

    text, status, output = changed(change)
    assert "\nNVML_CLOCK_MEM = 9\n" in text and text.count("\nNVML_ERROR_NEWS = 31\n") == 1
    assert (status, output) == (1, "NVML_ERROR_NEWS has no row in facts/errors.csv: write one\n")
    for name in ("nvmlDeviceGetPdi", "NVML_FAN_FAILED", "c_nvmlPdi_t"):
        assert name in read(MODULE) and name not in text
    assert changed(lambda surface: None) == (read(MODULE), 0, "")


def test_a_new_function_is_refused_until_it_has_a_row(changed):
    parameters = [{"name": "device"}, {"name": "version", "default": 0x1000010}, {"name": "out", "default": "c_uint()"}]

    def change(surface):
        surface["functions"]["nvmlDeviceGetNews"] = {"params": parameters}
        surface["functions"]["nvmlSystemGetNews"] = {"params": []}
        surface["constants"]["NVML_NEWS"] = 7

    text, status, output = changed(change)
    assert status == 1
    assert [line.split()[0] for line in output.splitlines()] == ["nvmlDeviceGetNews", "nvmlSystemGetNews"]
    assert "facts/refusals.csv" in output
    assert "\nNVML_NEWS = 7\n" in text
    written = {"__name__": "written"}
    exec(compile(text, "pymtml.py", "exec"), written)
    for name, arguments in (("nvmlDeviceGetNews", [None]), ("nvmlSystemGetNews", [])):
        assert written[name].__doc__ == "Not available."
        pytest.raises(written["NVMLError_Uninitialized"], written[name], *arguments)
    assert written["nvmlDeviceGetNews"].__defaults__[0] == 0x1000010


@pytest.mark.parametrize("check", [True, False])
def test_what_is_not_current_is_shown_or_written(monkeypatch, capsys, tmp_path, check):
    monkeypatch.syspath_prepend(os.path.join(ROOT, "tools"))
    generate = importlib.import_module("generate")
    monkeypatch.setattr(generate.generated, "ROOT", str(tmp_path))
    (tmp_path / "page").write_text("old\n")
    assert generate.renew({"page": lambda text: "new\n"}, check)
    assert read(tmp_path / "page") == ("old\n" if check else "new\n")
    assert ("-old\n+new\n" in capsys.readouterr().out) == check
    assert not generate.renew({"page": lambda text: text}, check)


def test_no_two_helpers_have_the_same_name():
    """Tests of all folders may run in one process, where the first module of a name is everybody's."""
    listed = subprocess.check_output(["git", "ls-files", "*.py"], cwd=simulated.ROOT, universal_newlines=True).split()
    places = {}
    for path in listed:
        folder, name = os.path.split(path)
        helper = not name.startswith("test_") and "standin" not in folder
        if helper and re.match(r"tests\b|tools|benchmarks$|simulator/(python/)?tests", folder):
            places.setdefault(name, []).append(folder)
    apart = {"conftest.py", "__init__.py"}
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in apart} == {}
