"""Reading what a server on the loopback interface shows."""

import contextlib
import re
import socket
import time
import urllib.request

from program_set import EXPORTER


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def fetch(url, wait=20):
    """The body of a page, as soon as its server answers."""
    deadline = time.monotonic() + wait
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30) as page:
                return page.read().decode()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def until(probe, wait=60):
    """The first true answer of the probe; the last one when none came."""
    deadline = time.monotonic() + wait
    while True:
        answer = probe()
        if answer or time.monotonic() > deadline:
            return answer
        time.sleep(0.5)


def samples(text):
    """{(metric, labels as a frozenset of pairs): value} of a page in Prometheus' format."""
    found = {}
    for metric, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", text, re.MULTILINE):
        found[metric, frozenset(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
    return found


def settled(url):
    """The samples of a page whose server fills it in the background, once two looks at it show the same series."""
    found = {}
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        before, found = found, samples(fetch(url))
        if found and set(found) == set(before) and any(name.startswith("gpu_") for name, _ in found):
            break
        time.sleep(0.7)
    return found


@contextlib.contextmanager
def exporter(runner, environment, *under):
    """The address of nvitop-exporter's page in an environment; ``under``: a command that runs it."""
    port = free_port()
    command = [*under, EXPORTER.script("nvitop-exporter"), "--bind-address", "127.0.0.1", "--port", str(port)]
    with runner.serve(command + ["--interval", "0.5"], environment):
        yield "http://127.0.0.1:%d/metrics" % port


def exporter_series(runner, environment):
    """The samples that nvitop-exporter serves in an environment."""
    with exporter(runner, environment) as url:
        return settled(url)


def by_label(found, label):
    """{(metric, value of the label): value} of the samples that carry the label."""
    return {(metric, dict(labels)[label]): value for (metric, labels), value in found.items() if label in dict(labels)}
