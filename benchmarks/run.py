"""Run the benchmarks on each Python named on the command line (default: this one), and write results.md."""

import importlib
import json
import os
import subprocess
import sys
import time

import common

BENCHMARKS = ("call", "tick", "topology", "refusals", "processes", "programs", "life", "import")
TITLES = {
    "call": "One call",
    "tick": "One tick of a monitor",
    "topology": "Pairs of devices",
    "refusals": "Refusals",
    "processes": "Processes",
    "programs": "Programs",
    "life": "A life of the library",
    "import": "Import",
}


def commit():
    """Which state of the module was measured, if this is a clone."""
    try:
        words = common.run(["git", "-C", common.ROOT, "log", "-1", "--format=%h", "--", "pymtml.py"]).strip()
        changed = common.run(["git", "-C", common.ROOT, "status", "--porcelain", "--", "pymtml.py"]).strip()
    except (common.BenchmarkError, OSError):
        return ""
    return words + (" with uncommitted changes" if changed else "")


def measure(python, name):
    path = os.path.join(common.BUILD, "bench_%s.json" % name)
    script = os.path.join(common.HERE, "bench_%s.py" % name)
    status = subprocess.call([python, script, "--json", path], env=common.user_environment())
    if status:
        raise common.BenchmarkError("%s bench_%s.py ended with status %d" % (python, name, status))
    with open(path) as file:
        document = json.load(file)
    tag = document["machine"]["python"].split()[1] + ("t" if document["machine"]["free_threaded"] else "")
    os.replace(path, os.path.join(common.BUILD, "bench_%s-%s.json" % (name, tag)))
    return document


def section(documents):
    """The results of one Python."""
    machine, versions = documents[0]["machine"], documents[0]["versions"]
    lines = [
        "## %s%s" % (machine["python"], ", free-threaded" if machine["free_threaded"] else ""),
        "",
        "%s, %d CPUs; %s; %s. Against nvidia-ml-py %s and mthreads-ml-py %s."
        % (
            machine["cpu"],
            machine["cpus"],
            machine["system"],
            machine["compiler"],
            versions["nvidia"],
            versions["mthreads"],
        ),
    ]
    for document in documents:
        report = importlib.import_module("bench_" + document["benchmark"]).report
        lines += ["", "### " + TITLES[document["benchmark"]], "", report(document)]
    return "\n".join(lines)


def main():
    pythons = sys.argv[1:] or [sys.executable]
    sections = []
    for python in pythons:
        documents = []
        for name in BENCHMARKS:
            print("\n%s: %s" % (python, TITLES[name]), flush=True)
            documents.append(measure(python, name))
        sections.append(section(documents))
    head = (
        "# Results\n\nWritten by `make bench` on %s with a load of %.1f; pymtml %s. "
        "README.md explains how to read them.\n"
        % (
            time.strftime("%Y-%m-%d"),
            os.getloadavg()[0],
            " at ".join(part for part in (documents[0]["versions"]["pymtml"], commit()) if part),
        )
    )
    with open(os.path.join(common.HERE, "results.md"), "w") as file:
        file.write("\n\n".join([head.rstrip()] + sections) + "\n")
    print("\nWritten: benchmarks/results.md, and JSON in benchmarks/build/")


if __name__ == "__main__":
    try:
        main()
    except common.BenchmarkError as error:
        sys.exit("benchmarks: %s" % error)
