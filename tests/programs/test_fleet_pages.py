"""The pages that a real Alertmanager makes of the alerts of examples/fleet."""

import collections
import contextlib
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.request

import pytest
import yaml
from fleet_states import FLEET, HOUR, MANY, MINUTE, SOUND, STATES, STEP, fired
from program_set import ALERTMANAGER, PROMETHEUS
from scrape import fetch, free_port, until

pytestmark = pytest.mark.programs


class Pager:
    """A real Alertmanager with the example's configuration, whose receivers are here: `pages` is [(path, page)]."""

    def __init__(self, servers, stack):
        self.pages = []
        pager = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                pager.pages.append((self.path, json.loads(body)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128  # all pages come at the same moment

        server = Server(("127.0.0.1", 0), Handler)
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with open(os.path.join(FLEET, "alertmanager.yml")) as file:
            text = file.read()
        assert "group_wait: 30s" in text and "//localhost:9099/" in text
        text = text.replace("group_wait: 30s", "group_wait: 1s")
        text = text.replace("//localhost:9099/", "//127.0.0.1:%d/" % server.server_address[1])
        path = os.path.join(servers.folder, "alertmanager.yml")
        with open(path, "w") as file:
            file.write(text)
        self.address = "127.0.0.1:%d" % free_port()
        command = [ALERTMANAGER.find(), "--config.file", path, "--storage.path", os.path.join(servers.folder, "data")]
        command += ["--web.listen-address", self.address, "--cluster.listen-address", ""]
        stack.enter_context(servers.serve(command, dict(os.environ)))
        fetch("http://%s/-/ready" % self.address)

    def take(self, alerts):
        """Post alerts, and wait until there is a page of each group that has one to be sent, and nothing more comes."""
        body = json.dumps([{"labels": labels, "annotations": annotations} for labels, annotations in alerts])
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request("http://%s/api/v2/alerts" % self.address, body.encode(), headers)
        with urllib.request.urlopen(request, timeout=30):
            shown = "http://%s/api/v2/alerts/groups?active=true&silenced=false&inhibited=false" % self.address
            until(
                lambda: len(self.pages)
                >= len([one for one in json.loads(fetch(shown)) if one["receiver"]["name"] != "nobody"])
                > 0
            )
            count = 0
            while count != len(self.pages):
                count = len(self.pages)
                time.sleep(2)


FLAPPING = ("HostFlapping", "DriverFlapping", "GpusFlapping")


@pytest.mark.parametrize("silenced", [False, True])
def test_pages_of_many_hosts(servers, silenced):
    """One for each problem, and one for a host that joined: in the place of its own alert, also with many others.

    The README's silence of a rollout on gpu01 to gpu04 leaves out the one of these hosts alone.
    """
    labels = {"job": "mthreads", "severity": "critical"}
    posted = [dict(labels, alertname="MthreadsManyHosts", problem=problem) for problem in ("HostDown", "GpuHot")]
    posted += [dict(labels, alertname="MthreadsHostDown", problem="HostDown", instance="gpu0%d" % n) for n in range(5)]
    posted += [dict(labels, alertname="MthreadsGpuHot", problem="GpuHot", instance="gpu05", gpu="3")]
    posted += [
        dict(labels, alertname="MthreadsGpuEccUncorrected", problem="GpuEccUncorrected", instance="gpu06", gpu="1")
    ]
    posted += [dict(labels, alertname="Mthreads" + one, problem=one, instance="gpu06") for one in FLAPPING]
    posted += [dict(posted[2], alertname="MthreadsJoinedManyHosts")]
    with contextlib.ExitStack() as stack:
        pager = Pager(servers, stack)
        if silenced:
            with open(os.path.join(FLEET, "README.md"), encoding="utf-8") as file:
                (command,) = re.findall(r"^amtool .* silence add .*\\\n.*", file.read(), re.M)
            subprocess.run(command.replace("localhost:9093", pager.address), shell=True, check=True)
        pager.take([(one, {}) for one in posted])
    sent = [sorted((one["labels"]["alertname"][8:], one["labels"].get("instance")) for one in page["alerts"])
            for _, page in pager.pages]  # fmt: skip
    wanted = [
        [("GpuEccUncorrected", "gpu06"), ("HostFlapping", "gpu06")],
        [("JoinedManyHosts", "gpu00")],
        [("ManyHosts", None)],
    ] + [[("ManyHosts", None)]] * (not silenced)
    assert sorted(sent, key=str) == wanted


@pytest.fixture(scope="module")
def alerts(tmp_path_factory):
    """All that fires, an hour after the states began, with its texts."""
    PROMETHEUS.find("promtool")
    return fired(tmp_path_factory.mktemp("states"), HOUR + MINUTE, (SOUND + HOUR + MINUTE - 1) * STEP)


@pytest.fixture
def pages(servers, alerts):
    """{host: [(path, text)]} of all pages."""
    with contextlib.ExitStack() as stack:
        pager = Pager(servers, stack)
        pager.take(alerts)
        found = collections.defaultdict(list)
        for path, page in pager.pages:
            text = "\n".join(text for alert in page["alerts"] for text in alert["annotations"].values())
            found[page["groupLabels"].get("instance")].append((path, text))
        return found


def test_one_page_for_each_fault(pages):
    """It has the host, the card with its address and serial number, value and limit, in the words of rules.yml."""
    with open(os.path.join(FLEET, "rules.yml"), encoding="utf-8") as file:
        groups = yaml.safe_load(file)["groups"]
    rules = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    severity = {rule["alert"][len("Mthreads") :]: rule["labels"]["severity"] for rule in rules}
    for state in STATES:
        if state.page is None:
            assert not pages.pop(state.host, []), state.host
            continue
        ((path, text),) = pages.pop(state.host)
        worst = "/page" if "critical" in {severity[name] for name in state.alerts} else "/ticket"
        assert path == worst, state.host
        for values in state.page:
            assert re.search(r"(?<![\w.])%s(?!\.?\w)" % values, text), (values, text)
        assert state.host in text and not re.search("<no value>|<error|template", text), text
    of_many = pages.pop(None)
    assert {path for path, _ in of_many} == {"/page"} and not pages
    for problem, hosts in (("DriverDown", MANY["hung"]), ("GpuHot", MANY["hot"])):
        (text,) = [text for _, text in of_many if re.search(r"\b6\b.* %s\b" % problem, text)]
        assert ", ".join(hosts) in text and len(of_many) == 2
