"""A collector of metrics that reads the vendor's tool, mthreads-gmi."""

import json
import re
import subprocess

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def number(text):
    """The number of a text such as "81920MiB"; None for N/A."""
    match = NUMBER.match(text)
    return float(match.group()) if match else None


def query():
    done = subprocess.run(["mthreads-gmi", "-q", "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode())


def collect(indices):
    """Metrics of some cards, by their numbers (dict of dict): percent, MiB, degrees Celsius, W."""
    metrics = {}
    for gpu in query()["GPU"]:
        index = gpu["Index"]
        if index in indices:
            metrics[index] = {
                "utilization": number(gpu["Utilization"]["Gpu"]),
                "memory_used": number(gpu["FB Memory Usage"]["Used"]),
                "temperature": number(gpu["Temperature"]["GPU Current Temp"]),
                "power": number(gpu["Power Readings"]["Power Draw"]),
            }
    return metrics


def processes():
    """Card, process and MiB of each process (list of tuples)."""
    shown = subprocess.run(["mthreads-gmi"], stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = re.findall(r"^(\d+)\s+(\d+)\s+.+?\s+(\d+)MiB\s*$", shown.partition("Processes:")[2], re.M)
    return [tuple(map(int, row)) for row in rows]
