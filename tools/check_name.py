"""Refuses a release that must not be uploaded: the name belongs to somebody else, or its source address is dead.

    python tools/check_name.py dist/pymtml_nvml-0.2.0-py3-none-any.whl

Asks the package index that pip is set up for. The name is free, or ours if what lies under it names the same source
address as the wheel given.
"""

import email
import glob
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile

# Any project that is certain to be there: what the index does not have is told from an index that does not answer.
CONTROL = "nvidia-ml-py"


def metadata(wheel):
    """The core metadata of a wheel (email.message.Message)."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_string(archive.read(name).decode("utf-8"))


def source(message):
    """The address of the project's source in its metadata; None without one."""
    for line in message.get_all("Project-URL", []):
        label, _, address = line.partition(",")
        if label.strip().lower() == "source":
            return address.strip()
    return None


def pip(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check"] + list(arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def published(name, index=()):
    """The metadata of the newest wheel that the index has under a name; None if it has nothing."""
    with tempfile.TemporaryDirectory() as folder:
        # Wheels only: to learn the metadata of a source archive pip would run what is in it.
        done = pip("download", "--no-deps", "--pre", "--only-binary", ":all:", "--dest", folder, name, *index)
        if done.returncode == 0:
            return metadata(glob.glob(os.path.join(folder, "*.whl"))[0])
    if "No matching distribution found for " + name not in done.stderr:
        sys.exit("pip cannot ask the index for %s:\n%s" % (name, done.stderr))
    if pip("index", "versions", "--pre", name, *index).returncode == 0:
        sys.exit("the name %s belongs to another project, which has no wheel: do not upload" % name)
    return None


def answers(address):
    """True if the address can be opened."""
    try:
        urllib.request.urlopen(address, timeout=30).close()
        return True
    except (OSError, ValueError):
        return False


def main(wheel, *index):
    ours = metadata(wheel)
    name, address = ours["Name"], source(ours)
    if address is None:
        sys.exit("%s names no source address: add Source to [project.urls] in pyproject.toml" % wheel)
    if published(CONTROL, index) is None:
        sys.exit("the package index does not answer: it does not even have %s" % CONTROL)
    theirs = published(name, index)
    if theirs is not None and source(theirs) != address:
        sys.exit(
            "the name %s belongs to another project, %s: do not upload" % (name, source(theirs) or theirs["Summary"])
        )
    if not answers(address):
        sys.exit("the source address %s does not answer: correct [project.urls] in pyproject.toml" % address)
    print("%s is %s" % (name, "free" if theirs is None else "ours, %s is there" % theirs["Version"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
