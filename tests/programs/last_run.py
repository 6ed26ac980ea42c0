"""The record of the last run of all programs, kept beside the suite: when, on what, and how each test ended."""

import datetime
import json
import os
import platform

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "last_run.json")


def write(programs):
    """Keep the results of a run that ends now; programs: {package: {"version", "missing", "tests"}}."""
    run = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "python": "%s %s" % (platform.python_implementation(), platform.python_version()),
        "system": "%s %s" % (platform.system(), platform.machine()),
        "programs": programs,
    }
    with open(PATH, "w", encoding="utf-8") as file:
        json.dump(run, file, indent=1, sort_keys=True)
        file.write("\n")


def read():
    with open(PATH, encoding="utf-8") as file:
        return json.load(file)
