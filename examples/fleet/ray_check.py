"""Query the GPUs of every node of a Ray cluster at once, and report what differs.

    python ray_check.py --address auto --timeout 20

A task on each node runs `pymtml health --json` and `pymtml --json` there, by the Python of Ray's workers, which must
have pymtml's wheel. A node that does not answer in time, or dies, is named and not waited for. `pymtml compare` prints
the differences; its exit status is returned (0 equal, 1 different, 2 a node was not compared). --out
keeps the output of each node in a file.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import threading
import time

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

COLUMNS = 30  # of the progress bar
NAMES_SHOWN = 3


def ask(arguments, seconds):
    """What a command of pymtml prints on this node (str). Raises TimeoutError for one that hangs."""
    command = subprocess.Popen(
        [sys.executable, "-m", "pymtml"] + arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    try:
        printed, said = command.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # The kernel may hold it as long as the driver hangs: it is told to end, and not waited for.
        command.kill()
        raise TimeoutError("pymtml %s: no answer within %g seconds" % (" ".join(arguments), seconds))
    return printed if printed.strip() else said


def examine(seconds):
    """What a node says (str): its health, and all that it knows, unless its driver does not answer."""
    # A lock of its own: a check of cron's that is under way has another one.
    lock = os.path.join(tempfile.gettempdir(), "ray-check-%s.lock" % ray.get_runtime_context().get_node_id())
    try:
        said = ask(["health", "--json", "--timeout", "%g" % seconds, "--lock", lock], 2 * seconds + 5)
        return said + "\n" + ask(["--json"], seconds)
    except TimeoutError as error:
        return str(error)


def connect(address, seconds):
    """Join the cluster, or say that there is none and end: Ray would wait for minutes."""

    def give_up(reason="no answer within %g seconds" % seconds):
        sys.stderr.write("no Ray cluster at %s: %s\n" % (address, reason))
        sys.stderr.flush()
        os._exit(2)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        give_up(" ".join(str(error).split()))
    timer.cancel()


def names_of(nodes):
    """A name for each node, {id: name}: its host's, with the begin of its id where hosts have several."""
    hosts = collections.Counter(node["NodeManagerHostname"] for node in nodes)
    return {
        node["NodeID"]: node["NodeManagerHostname"]
        + ("" if hosts[node["NodeManagerHostname"]] == 1 else "-" + node["NodeID"][:8])
        for node in nodes
    }


def submit(nodes, seconds):
    """A task on each node ({task: id}). It needs no processor, so that busy nodes answer too, and is tried once."""
    task = ray.remote(num_cpus=0, max_retries=0)(examine)
    tasks = {}
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        tasks[task.options(scheduling_strategy=there).remote(seconds)] = node["NodeID"]
    return tasks


def gather(tasks, names, deadline):
    """What each node says, {id: text}, and why others say nothing, {id: reason}, by a moment of time.monotonic."""
    said, silent = {}, {}
    waiting = list(tasks)
    while waiting and time.monotonic() < deadline:
        show(len(tasks) - len(waiting), len(tasks), [names[tasks[task]] for task in waiting])
        done, waiting = ray.wait(waiting, num_returns=1, timeout=min(1, max(0, deadline - time.monotonic())))
        for task in done:
            try:
                said[tasks[task]] = ray.get(task)
            except Exception as error:  # of Ray, or of what ran there: the node did not answer
                silent[tasks[task]] = "%s: %s" % (type(error).__name__, " ".join(str(error).split()))
    for task in waiting:
        silent[tasks[task]] = "no answer in time"
        ray.cancel(task, force=True)
    show(len(tasks), len(tasks), ())
    return said, silent


def show(done, count, waiting):
    """The progress bar, on a terminal."""
    if not sys.stderr.isatty():
        return
    filled = COLUMNS * done // max(count, 1)
    names = ", ".join(waiting[:NAMES_SHOWN]) + (" ..." if len(waiting) > NAMES_SHOWN else "")
    text = "[%s%s] %d of %d nodes  %s" % ("#" * filled, "." * (COLUMNS - filled), done, count, names)
    sys.stderr.write("\r\x1b[K" + text[:79] + ("\n" if done == count else ""))
    sys.stderr.flush()


def write(folder, texts, names):
    """A file for each node."""
    os.makedirs(folder, exist_ok=True)
    for node, text in texts.items():
        with open(os.path.join(folder, names[node] + ".json"), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="auto", help="of the cluster, as ray.init takes it (default: auto)")
    parser.add_argument("--timeout", type=float, default=20, help="seconds that a node's driver may take (default 20)")
    parser.add_argument(
        "--start", type=float, default=30, help="seconds that Ray may take to join, and for a task (default 30)"
    )
    parser.add_argument("--out", help="folder that keeps the output of each node")
    parser.add_argument("--json", action="store_true", help="print the comparison for programs")
    options = parser.parse_args()

    # Ray writes about nodes that die to stdout, which is for the comparison.
    stdout = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    connect(options.address, options.start)
    nodes = ray.nodes()
    names = names_of(nodes)
    alive = [node for node in nodes if node["Alive"]]
    # health waits for another check as long as for the driver; then all that is known is asked for.
    deadline = time.monotonic() + options.start + 3 * options.timeout + 5
    said, silent = gather(submit(alive, options.timeout), names, deadline)
    silent.update((node["NodeID"], "Ray calls the node dead") for node in nodes if not node["Alive"])

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or temporary
        write(folder, dict(said, **silent), names)
        command = [sys.executable, "-m", "pymtml", "compare"] + ["--json"] * options.json
        paths = [os.path.join(folder, name + ".json") for name in sorted(names.values())]
        status = subprocess.call(command + paths, stdout=stdout)
    os._exit(status)  # Ray's own end may wait for nodes that do not answer


if __name__ == "__main__":
    main()
