"""What people read first: README, its Chinese twin, pictures, index, forms. They agree with code and records."""

import os
import re
import shutil
import subprocess
import sys

import markdown_it
import native_calls
import pytest
import simulated
import yaml
from command import invoke
from inside import SUBCOMMANDS, checks

import pymtml

sys.path.insert(0, os.path.join(simulated.ROOT, "tools"))
import pictures  # noqa: E402
import record  # noqa: E402


def read(*parts):
    with open(os.path.join(simulated.ROOT, *parts), encoding="utf-8") as file:
        return file.read()


# ---- pictures ----


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_a_picture_shows_what_the_programs_print(name):
    if not shutil.which("gpustat", path=os.path.dirname(sys.executable)):
        pytest.skip("gpustat is not installed (extra demo)")
    shown = pictures.words_of_a_picture(os.path.join(pictures.FOLDER, name))
    assert shown == pictures.words(pictures.shown(pictures.PICTURES[name])), "make pictures draws it anew"
    assert len([word for word in shown if word == "S5000"]) == 16  # eight cards, twice


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_a_picture_needs_nothing_from_outside(name):
    """No font, no script, no address but the name of the format."""
    text = read("docs", "pictures", name)
    assert re.findall(r"\w+://[^\"'\s)]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|@font-face|<script|<image|href=", text)
    # librsvg collapses spaces, so each word has a place of its own.
    assert not re.search(r">[^<]*(\s|\xa0|&#160;)[^<]*</text>", text)


# ---- the first screen ----


def test_the_readme_is_short():
    assert len(read("README.md").splitlines()) <= 150


@pytest.mark.parametrize("name", ["README.md", "README_CN.md"])
def test_the_quick_start_prints_what_follows_it(name, tmp_path):
    """The first program, by the command below it, on the machine that this names."""
    program, command, output = re.search(
        r"(?s)```python\n(.*?)```.*?\n    (PYMTML_LIBRARY=.*?)\n\n```text\n(.*?)```", read(name)
    ).groups()
    (tmp_path / command.split()[-1]).write_text(program)
    variables = dict(word.split("=") for word in command.split()[:-2])
    variables["PYMTML_LIBRARY"] = os.path.join(simulated.ROOT, variables["PYMTML_LIBRARY"])
    variables["PYTHONPATH"] = simulated.ROOT
    done = simulated.run([sys.executable, command.split()[-1]], cwd=str(tmp_path), env=variables)
    assert done.stdout == output


@pytest.mark.parametrize("name", ["README.md", "README_CN.md"])
def test_commands_and_the_second_program_print_what_follows_them(name):
    """On an MTT S80; the first line of gpustat has host and time."""
    text, environment = read(name), simulated.environment("s80", frozen=True)
    commands = re.findall(r"(?s)\n    pymtml ([^\n]*)\n\n```text\n(.*?)```", text)
    programs = re.findall(r"(?s)```python\n([^`]*)```\n\n```text\n(.*?)```", text)
    assert (len(commands), len(programs)) == (2, 1)
    runs = [(["-m", "pymtml", *words.split()], output) for words, output in commands]
    runs += [(["-c", program], output) for program, output in programs]
    for arguments, output in runs:
        if "gpustat" in arguments and not shutil.which("gpustat", path=os.path.dirname(sys.executable)):
            continue  # extra demo
        shown = simulated.run([sys.executable] + arguments, env=environment).stdout
        first = int("gpustat" in arguments)
        assert [line.rstrip() for line in shown.splitlines()[first:]] == output.splitlines()[first:]


@pytest.mark.parametrize("name", ["README.md", "README_CN.md"])
def test_version_and_date_are_those_of_the_changelog(name):
    version, date = re.search(r"(?m)^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", read("CHANGELOG.md")).groups()
    assert version == pymtml.__version__
    text = read(name)
    assert version in text
    for page in (text, read("docs", name.replace("README", "install"))):
        assert set(re.findall(r"dist/(\w+)-\*", page)) == {"pymtml_nvml"}
    assert re.findall(r"\b\d{4}-\d\d-\d\d\b", text) == [date]


def test_the_version_of_nvidia_ml_py(monkeypatch):
    """It is everywhere the recorded one; make record changes nothing else in these files."""
    now = {path: read(path) for path in record.VERSION}
    assert record.with_version() == now, "make record"
    recorded = record.version()
    monkeypatch.setattr(record, "version", lambda: "99.1.2")
    assert record.with_version() == {path: text.replace(recorded, "99.1.2") for path, text in now.items()}


def test_figures_are_those_of_the_results():
    now = record.counts()
    for name in ("README.md", "README_CN.md"):
        marks = re.findall(r"<!--(\w+)-->([\d.,]+)<!--/-->", read(name))
        named = {mark for mark, _ in marks}
        assert {"programs", "imitations", "call_nvidia", "call_mthreads", "import_nvidia"} <= named
        for mark, number in marks:
            if now[mark] is not None:
                assert number == str(now[mark]), "%s: %s is %s now; make record" % (name, mark, now[mark])
        # No ratio stands there without its mark.
        assert not re.findall(r"(?<![-\d.>])0\.\d\d\b(?!<)", read(name))


def test_no_number_of_a_document_is_stale():
    assert [path for path, text in record.with_counts().items() if text != read(path)] == [], "make record"


# ---- two languages ----

TWINS = tuple((name + ".md", name + "_CN.md") for name in ("README", "docs/install", "docs/faq"))


def shape(document):
    """What two languages have in common, section by section: heading's level, code, links, marked-up words, numbers."""
    text = re.sub(r"<!--.*?-->", "", read(document))
    sections = [{"level": 0, "code": [], "links": [], "words": [], "blocks": [], "numbers": []}]
    tokens = markdown_it.MarkdownIt().enable("table").parse(text)
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            sections.append({"level": token.tag, "code": [], "links": [], "words": [], "blocks": [], "numbers": []})
        section = sections[-1]
        if token.type in ("fence", "code_block"):
            section["code"].append((token.info, token.content))
        elif token.type in ("bullet_list_open", "list_item_open", "tr_open", "paragraph_open"):
            section["blocks"].append(token.type)
        for child in token.children or []:
            if child.type == "link_open":
                section["links"].append(twin_of_link(child.attrGet("href")))
            elif child.type == "image":
                section["links"].append(child.attrGet("src"))
            elif child.type == "code_inline":
                section["words"].append(child.content)
            elif child.type == "text":
                section["numbers"] += re.findall(r"\d[\d.-]*\d|\d", child.content)
    for section in sections:
        for key in ("links", "words", "numbers"):
            section[key].sort()  # word order differs
    return sections


def twin_of_link(target):
    """A link as the English page has it: twins link to their own language, and to each other."""
    return target.partition("#")[0].replace("_CN.md", ".md")


@pytest.mark.parametrize("english, chinese", TWINS)
def test_both_languages_say_the_same(english, chinese):
    ours, theirs = shape(english), shape(chinese)
    assert [section["level"] for section in ours] == [section["level"] for section in theirs]
    for one, other in zip(ours, theirs):
        assert one == other


@pytest.mark.parametrize("english, chinese", TWINS)
def test_each_language_links_to_its_own_pages(english, chinese):
    for target in re.findall(r"\]\(([^)#]+)", read(chinese)):
        path = os.path.join(os.path.dirname(chinese), target)
        if path.endswith(tuple(name for name, _ in TWINS)) and os.path.normpath(path) != english:
            assert os.path.normpath(path) not in [name for name, _ in TWINS], target
    assert re.search("[\u4e00-\u9fff]{4}", read(chinese)) and not re.search("[\u4e00-\u9fff]{4}", read(english))


# ---- what docs/command.md says of exit statuses ----

# Status: what brings it about
STATUSES = {
    0: (["-L"], {}),
    2: (["--query-gpu=nonsense", "--format=csv"], {}),
    3: (["mtlink", "-s"], {"name": "s80"}),
    4: (["-e", "0"], {"faults": "mtmlMemorySetEccMode=NO_PERMISSION"}),
    6: (["-L"], {"name": "empty"}),
    9: (["-L"], {"name": "no-driver"}),
    12: (["-L"], {"name": "s80"}),
    19: (["-e", "0", "-i", "0"], {"faults": "mtmlMemorySetEccMode=RESOURCE_IS_BUSY"}),
    23: (["mig", "-i", "0", "-cgi", "8c+32gb,8c+32gb"], {"name": "s3000-mpc"}),
    255: (["--no-such-option"], {}),
}
ELSEWHERE = {15}  # a card that is lost between two questions


def test_exit_statuses_of_health():
    rows = re.findall(r"(?m)^\| `([A-Z/]+)` \| .* \| (\d) \|$", read("docs", "command.md"))
    assert {level: int(status) for level, status in rows} == checks.SEVERITY


def test_the_end_of_the_manual_page():
    """Its exit statuses, and its examples, which take the options that they name."""
    page = read("docs", "pymtml.1").replace("\\-", "-")
    assert "health 0 healthy, 1 degraded, 2 unhealthy;\ndoctor 0 works, 1 works in part, 2 does not work;\n" in page
    with simulated.machine("s5000x8"):
        for words in map(str.split, re.findall(r"(?m)^\.Dl pymtml (.*)$", page)):
            assert words[0] in ("--watch", "run") or invoke(*words).stderr == "", words


def test_exit_statuses(tmp_path):
    table = read("docs", "command.md").partition("| exit status | meaning |")[2].partition("\n\n")[0]
    assert [int(status) for status in re.findall(r"(?m)^\| (\d+) \|", table)] == sorted(set(STATUSES) | ELSEWHERE)
    for status, (arguments, machine) in STATUSES.items():
        environment = simulated.environment(**machine)
        if status == 12:
            environment["PYMTML_LIBRARY"] = str(tmp_path / "libmtml.so.2")
        done = simulated.run([sys.executable, "-m", "pymtml"] + arguments, env=environment, stderr=subprocess.STDOUT)
        assert done.returncode == status, (status, done.stdout)


# ---- the index, the forms ----


def test_the_index_names_every_page():
    linked = set(re.findall(r"\]\(([^)#]+)", read("docs", "README.md")))
    pages = {name for name in os.listdir(os.path.join(simulated.ROOT, "docs")) if name.endswith(".md")} - {"README.md"}
    assert pages - linked == set()


def github(*parts):
    return yaml.safe_load(read(".github", *parts))


def test_forms_for_issues():
    bug, card = github("ISSUE_TEMPLATE", "bug.yml"), github("ISSUE_TEMPLATE", "card.yml")
    for form in (bug, card):
        assert {"name", "description", "body"} <= set(form)
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields)
    required = {
        field["attributes"]["label"]
        for form in (bug, card)
        for field in form["body"]
        if field.get("validations", {}).get("required")
    }
    assert {"pymtml doctor", "my-card.ini"} <= required
    assert {"doctor", "capture"} <= set(SUBCOMMANDS)


@pytest.mark.parametrize("profile", ["s5000x8", "s80", "s3000-mpc"])
def test_doctor_tells_no_identity(profile):
    """As the form for bugs says: nobody has to mask what it prints."""
    with simulated.nvml(profile):
        identities = set()
        for index in range(pymtml.nvmlDeviceGetCount()):
            device = pymtml.nvmlDeviceGetHandleByIndex(index)
            identities |= {pymtml.nvmlDeviceGetUUID(device), pymtml.nvmlDeviceGetSerial(device)}
    with simulated.machine(profile):
        said = invoke("doctor").stdout
    assert "verdict" in said and not [identity for identity in identities if identity and identity in said]


def test_the_workflow_runs_targets_that_are_there():
    workflow = github("workflows", "test.yml")
    targets = set(re.findall(r"(?m)^([a-z-]+):", read("Makefile")))
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for run in runs:
        words = run.split()
        assert words == [".ci/run"] or words[0] == "make" and set(words[1:]) <= targets, run
    run = read(".ci", "run")
    asked = set(" ".join(re.findall(r"(?m)^ *(?:ordinary )?make (.*)$", run)).split())
    for name in ("root", "fleet"):
        assert "$" + name in asked and "%s=test-%s\n" % (name, name) in run
    assert {"test", "test-tools", "lint", "sanitize", "build"} <= asked
    versions = workflow["jobs"]["interpreters"]["strategy"]["matrix"]["python"]
    assert versions == ["3.%d" % minor for minor in range(8, 16)]


# ---- what support.md says of the library ----


def test_support_names_every_function_that_no_header_declares():
    text = read("docs", "support.md")
    undocumented = [name for name, function in native_calls.BEYOND.items() if function["since"] == "undocumented"]
    missing = [name for name in undocumented if "`%s`" % name not in text]
    assert not missing, "docs/support.md, Values: say what needs %s, and what was reported" % ", ".join(missing)
