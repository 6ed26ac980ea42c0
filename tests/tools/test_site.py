"""The documents as a site (make docs): each document has its place; what is built needs nothing from outside."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

import pytest
import simulated
import yaml

ROOT = simulated.ROOT
CONFIG = os.path.join(ROOT, "tools", "mkdocs.yml")
# Documents that readers of the site do not look for; links lead to them all the same.
NOT_IN_THE_MENU = ("facts/", "tests/", "simulator/CHANGELOG.md", "simulator/python/tests/")


def menu(entries):
    """The files that the menu of the site lists (list)."""
    found = []
    for entry in entries:
        value = list(entry.values())[0] if isinstance(entry, dict) else entry
        found += menu(value) if isinstance(value, list) else [value]
    return found


def test_menu_lists_the_documents():
    """A new document gets a line in tools/mkdocs.yml, below nav."""
    with open(CONFIG, encoding="utf-8") as file:
        listed = menu(yaml.safe_load(file)["nav"])
    tracked = simulated.run(["git", "ls-files", "*.md"], cwd=ROOT)
    documents = [name for name in tracked.stdout.split() if not name.startswith(NOT_IN_THE_MENU + (".",))]
    assert len(listed) == len(set(listed))
    kept = [name for name in listed if not name.startswith("docs/reference/")]  # which make reference writes
    assert [name for name in kept if not os.path.exists(os.path.join(ROOT, name))] == []
    assert [name for name in documents if name not in listed] == []


# ---- What is built ----


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter that has mkdocs-material: this one, or one of an environment that is made here."""
    if subprocess.run([sys.executable, "-c", "import material"], stderr=subprocess.DEVNULL).returncode == 0:
        return sys.executable
    folder = str(tmp_path_factory.mktemp("mkdocs"))
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    interpreter = os.path.join(folder, "bin", "python")
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        needed = re.findall(r'"([^"]+)"', re.search(r"(?m)^site = \[(.*)\]$", file.read()).group(1))
    subprocess.run([interpreter, "-m", "pip", "install", "--quiet"] + needed, check=True)
    return interpreter


@pytest.fixture(scope="module")
def site(python, tmp_path_factory):
    """The folder of the site, built without a network where the system can take it away."""
    folder = str(tmp_path_factory.mktemp("site"))
    alone = ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run(alone + ["true"], stderr=subprocess.DEVNULL).returncode:
        alone = []
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "generate_reference.py")], check=True)
    env = dict(os.environ, NO_MKDOCS_2_WARNING="1", HTTPS_PROXY="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")
    subprocess.run(
        alone + [python, "-m", "mkdocs", "build", "--config-file", CONFIG, "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=env,
        check=True,
    )
    return folder


class Page(html.parser.HTMLParser):
    """What a page has: places that can be linked, links, and what a browser loads for it."""

    LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "video": "src", "object": "data"}

    def __init__(self, path):
        super().__init__()
        self.places, self.links, self.loaded = {""}, [], []
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places.update(filter(None, [attributes.get("id"), attributes.get("name") if tag == "a" else None]))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "link" and attributes.get("rel") != "canonical":
            self.loaded.append(attributes["href"])
        if attributes.get(self.LOADED.get(tag)):
            self.loaded.append(attributes[self.LOADED[tag]])


@pytest.fixture(scope="module")
def pages(site):
    """The pages by their path in the site (dict)."""
    found = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, site)] = Page(path)
    return found


def is_outside(address):
    return bool(re.match(r"([a-z][a-z0-9+.-]*:)?//", address))


@pytest.mark.programs
def test_every_link_leads_somewhere(site, pages):
    """To a file of the site, and there to the place that it names."""
    followed = 0
    for name, page in pages.items():
        for link in page.links:
            if is_outside(link) or link.startswith("mailto:") or name == "404.html":
                continue
            address, _, place = urllib.parse.unquote(link).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), address)) if address else name
            target = os.path.join(target, "index.html") if os.path.isdir(os.path.join(site, target)) else target
            assert os.path.exists(os.path.join(site, target)), (name, link)
            assert target not in pages or place in pages[target].places or place == "__codelineno", (name, link)
            followed += 1
    assert followed > 3000


@pytest.mark.programs
def test_nothing_is_loaded_from_outside(site, pages):
    for name, page in pages.items():
        assert [address for address in page.loaded if is_outside(address)] == [], name
        assert 'class="mermaid"' not in page.text, name
    for folder, _, names in os.walk(os.path.join(site, "assets")):
        for name in names:
            if name.endswith(".css"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", file.read()), name
            elif name.endswith(".js"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    assert "unpkg.com" not in file.read(), name


@pytest.mark.programs
def test_index_of_the_search_leads_to_pages(site, pages):
    with open(os.path.join(site, "search", "search_index.json"), encoding="utf-8") as file:
        entries = json.load(file)["docs"]
    assert len(entries) > 600
    for entry in entries:
        name, _, place = urllib.parse.unquote(entry["location"]).partition("#")
        assert place in pages[name or "index.html"].places, entry["location"]
    titles = {re.sub("<[^>]+>", "", entry["title"]) for entry in entries}
    assert {"nvmlDeviceGetPowerUsage", "mtmlDeviceGetPowerUsage", "c_nvmlMemory_t", "What most programs call"} <= titles


ASKED = {
    "nvmlDeviceGetPowerUsage": "docs/reference/sensors.html#nvmldevicegetpowerusage",
    "c_mtmlPciInfo_t": "docs/reference/structs.html#c_mtmlpciinfo_t",
    "MUSA_VISIBLE_DEVICES": "docs/frameworks.html#logical-and-physical-index",
    "power limit": "docs/reference/sensors.html",
    "retired pages": "docs/reference/ecc.html",
    "prometheus": "docs/metrics.html",
    "利用率": "docs/faq_CN.html#",
    "容器": "docs/faq_CN.html#",
    "显存": "docs/faq_CN.html#",
    "卸载": "docs/install_CN.html#",
}


@pytest.mark.programs
@pytest.mark.skipif(not shutil.which("node"), reason="node runs the site's search")
def test_search_finds(site):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "search_site.js")
    answers = subprocess.run(
        ["node", script, site] + list(ASKED), stdout=subprocess.PIPE, check=True
    ).stdout.splitlines()
    for (query, expected), answer in zip(ASKED.items(), answers):
        assert any(place.startswith(expected) for place in json.loads(answer.decode())[:8]), (query, answer)
