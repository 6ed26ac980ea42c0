"""CPU, series and bytes of pymtml metrics beside nvitop-exporter, each on eight simulated MTT S5000 (make sim before).

python benchmarks/exporters.py

CPU is what the kernel counts for a process with its threads, those that have ended too (/proc/PID/stat); the collecting
child is counted by itself.
"""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = dict(
    os.environ,
    LD_LIBRARY_PATH=os.path.join(ROOT, "simulator", "build"),
    MTML_SIM_PROFILE="s5000x8",
    PYTHONPATH=ROOT,
)
SCRAPES, SECONDS = 1000, 30


def cpu(pid):
    """CPU time that a process has used, in ms."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000.0 / os.sysconf("SC_CLK_TCK")


def children(pid):
    """Numbers of the processes that a process started."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(number) for number in file.read().split()]


def resident(pid):
    """Memory of a process in MB, without what it shares with files."""
    with open("/proc/%d/status" % pid) as file:
        return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1)) / 1024


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, port):
    """A server that answers on a port (its Popen)."""
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                scrape(port)
                break
            if time.monotonic() > deadline or process.poll() is not None:
                raise SystemExit("%s does not answer" % command)
            time.sleep(0.2)
        time.sleep(2)  # what it does once is done
        yield process
    finally:
        process.kill()
        process.wait()


def scrape(port, connection=None):
    """A page, as a Prometheus server asks for it (its bytes as sent, and as text where it is plain)."""
    connection = connection or http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
    return connection.getresponse().read()


def plain(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/metrics", headers={"Accept-Encoding": "identity"})
    return connection.getresponse().read().decode()


def a_scrape(pid, port):
    """CPU of a scrape in ms, what the server does by itself meanwhile taken off."""
    began, before = time.monotonic(), cpu(pid)
    time.sleep(5)
    idle = (cpu(pid) - before) / (time.monotonic() - began)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    began, before = time.monotonic(), cpu(pid)
    for _ in range(SCRAPES):
        scrape(port, connection)
    return (cpu(pid) - before - idle * (time.monotonic() - began)) / SCRAPES, idle


def tell(name, port, pid):
    text = plain(port)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    constant = sum(line.endswith(" NaN") for line in lines)
    ms, idle = a_scrape(pid, port)
    print(
        "%s: %d series (%d of them NaN), %d bytes, %d compressed"
        % (name, len(lines), constant, len(text), len(scrape(port)))
    )
    print("%s: %.2f ms of CPU a scrape; by itself %.2f ms a second; %.0f MB" % (name, ms, idle, resident(pid)))


def main():
    """Measure, and print."""
    print("nproc %d, load %s" % (os.cpu_count() or 0, os.getloadavg()))
    module = [sys.executable, "-m", "pymtml"]
    for processes in ("none", "count"):
        port = free_port()
        command = module + ["metrics", "--listen", str(port), "--processes", processes]
        with running(command + ["--interval", "3600"], port) as server:
            tell("pymtml metrics --processes " + processes, port, server.pid)
            print("    its child: %.0f MB" % resident(children(server.pid)[0]))
    for interval in ("0.1", "1"):
        port = free_port()
        command = module + ["metrics", "--listen", str(port), "--processes", "none", "--interval", interval]
        with running(command, port) as server:
            (child,) = children(server.pid)
            began, parent, collecting = time.monotonic(), cpu(server.pid), cpu(child)
            time.sleep(SECONDS)
            rounds = (time.monotonic() - began) / float(interval)
            parent, collecting = (cpu(server.pid) - parent) / rounds, (cpu(child) - collecting) / rounds
            text = "pymtml metrics, a collection every %s s: %.2f ms of CPU (child %.2f, page %.2f)"
            print(text % (interval, parent + collecting, collecting, parent))
    port = free_port()
    exporter = [os.path.join(os.path.dirname(sys.executable), "nvitop-exporter"), "--port", str(port)]
    with running(module + ["run"] + exporter + ["--bind-address", "127.0.0.1", "--interval", "1"], port) as server:
        tell("nvitop-exporter", port, server.pid)


if __name__ == "__main__":
    main()
