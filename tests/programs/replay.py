"""A fleet of any size for Prometheus: one server that shows a real page of `pymtml metrics` for each of many hosts.

UUIDs and values are each host's own, its life sign moves, and a host can be in any state that `STATES` names.
"""

import functools
import http.server
import re
import socketserver
import threading
import time
import urllib.parse

# "down" does not answer at all, "nothing" has another page
STATES = "well, down, stalled, driver down, card silent, card missing, hot, link down, idle, nothing".split(", ")
VALUES = {
    "mthreads_gpu_utilization_ratio": 1.0,
    "mthreads_gpu_temperature_celsius": 90.0,
    "mthreads_gpu_power_watts": 900.0,
    "mthreads_gpu_memory_used_bytes": 8e10,
}


@functools.lru_cache(maxsize=1)
def parsed(text):
    """The lines of a page: [(name, card or -1, what is before the value, value)]."""
    found = []
    for line in text.splitlines():
        key, _, value = line.rpartition(" ")
        card = re.search(r'gpu="(\d+)"', line)
        key = re.sub(r'uuid=".{8}', 'uuid="{own}', key.replace("{", "{{").replace("}", "}}"))
        found.append((re.match(r"\w*", line).group(), int(card.group(1)) if card else -1, key, value))
    return found


def page_of(text, host, state, now):
    """The page of a host: the text, with values of its own, in a state."""
    if state == "nothing":
        return ""
    number = int(re.sub(r"\D", "", host) or 0)
    lines = []
    for name, card, key, value in parsed(text):
        if name == "mthreads_collect_timestamp_seconds":
            value = "%.3f" % (1e9 if state == "stalled" else now)
        elif state == "driver down" and (card >= 0 or name in ("mthreads_gpus", "mthreads_health_status")):
            continue
        elif state == "card missing" and card == 7:
            continue
        elif name == "mthreads_driver_up":
            value = "%d" % (state != "driver down")
        elif state == "card silent" and card == 3 and name not in ("mthreads_gpu_info", "mthreads_gpu_up"):
            continue
        elif state == "card silent" and card == 3 and name == "mthreads_gpu_up":
            value = "0"
        elif state == "hot" and name == "mthreads_gpu_temperature_celsius":
            value = "101"
        elif state == "hot" and key == 'mthreads_health_status{{check="temperature"}}':
            value = "2"
        elif state == "link down" and card == 2 and name == "mthreads_gpu_mtlinks" and "down" in key:
            value = "1"
        elif state == "idle" and name == "mthreads_gpu_utilization_ratio":
            value = "0"
        elif name in VALUES:
            value = "%r" % round(VALUES[name] * ((number * 37 + card * 11 + int(now / 5)) % 101 / 100.0), 4)
        lines.append("%s %s" % (key.format(own="%08x" % (number * 64 + card)), value))
    return "\n".join(lines) + "\n"


class Replay:
    """The server: `targets` is the fleet for file_sd; `states` is {host: state} of hosts that are not well."""

    def __init__(self, text, hosts, cards=8):
        self.text, self.hosts, self.cards, self.states = text, hosts, cards, {}
        replay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                host = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["host"][0]
                state = replay.states.get(host, "well")
                if state == "down":
                    self.send_error(503)
                    return
                body = page_of(replay.text, host, state, time.time()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 1024

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def targets(self):
        """What a file of file_sd says (list)."""
        address = "127.0.0.1:%d" % self.server.server_address[1]
        return [
            {"targets": [address], "labels": {"__param_host": host, "instance": host, "gpus": str(self.cards)}}
            for host in self.hosts
        ]

    def close(self):
        """End the server."""
        self.server.shutdown()
        self.server.server_close()
