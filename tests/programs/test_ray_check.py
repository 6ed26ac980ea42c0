"""examples/fleet/ray_check.py on ten nodes: machines of several kinds, one hung, one frozen, one killed."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time

import pytest
from machines import ROOT
from program_set import RAY as PROGRAM
from scrape import free_port, until

pytestmark = pytest.mark.programs

CHECK = os.path.join(ROOT, "examples", "fleet", "ray_check.py")
SECONDS = 15  # that a driver may take

# What each node has, in the order in which they join; the first one is the head.
NODES = [
    {"MTML_SIM_PROFILE": "s5000x8+frozen"},
    {"MTML_SIM_PROFILE": "s5000x8+frozen"},
    {"MTML_SIM_PROFILE": "s5000x8+frozen"},
    {"MTML_SIM_PROFILE": "s5000x8+frozen"},
    {"MTML_SIM_PROFILE": "s5000x8+frozen", "MTML_SIM_SET": "3.pci_cur_width=8"},
    {"MTML_SIM_PROFILE": "s4000x8+frozen"},
    {"MTML_SIM_PROFILE": "no-driver"},
    {"MTML_SIM_PROFILE": "s5000x8+frozen", "MTML_SIM_LATENCY_NS": "100000000000"},  # its driver hangs
    {"MTML_SIM_PROFILE": "s5000x8+frozen"},  # frozen as a whole, with its raylet
    {"MTML_SIM_PROFILE": "s5000x8+frozen", "MTML_SIM_LATENCY_NS": "100000000000"},  # killed while it is asked
]
NARROW, OTHER, NO_DRIVER, HUNG, FROZEN, KILLED = range(4, 10)

# Makes the cluster, says where it is, and does what it is told on stdin: freeze N, kill N.
CLUSTER = """
import json, os, signal, sys
from ray.cluster_utils import Cluster

nodes = []
cluster = Cluster()
for variables in json.loads(os.environ["NODES"]):
    nodes.append(cluster.add_node(num_cpus=1, num_gpus=0, include_dashboard=False, env_vars=variables,
                                  object_store_memory=80_000_000))
print(json.dumps({"address": cluster.address, "ids": [node.node_id for node in nodes]}), flush=True)
for line in sys.stdin:
    what, number = line.split()
    raylet = nodes[int(number)].all_processes["raylet"][0].process
    if what == "freeze":
        os.kill(raylet.pid, signal.SIGSTOP)
    else:  # with its workers, as a machine dies
        with open("/proc/%d/task/%d/children" % (raylet.pid, raylet.pid)) as file:
            children = [int(child) for child in file.read().split()]
        for process in [raylet.pid] + children:
            os.kill(process, signal.SIGKILL)
    print("done", flush=True)
for node in nodes:
    for processes in node.all_processes.values():
        for info in processes:
            info.process.kill()
os._exit(0)
"""


@pytest.fixture
def cluster(runner, simulator, tmp_path):
    """(what tells nodes to freeze and to die, address, ids of the nodes) of a cluster."""
    environment = runner._environment(
        LD_LIBRARY_PATH=simulator, PYTHONPATH=runner.site, RAY_USAGE_STATS_ENABLED="0", NODES=json.dumps(NODES)
    )
    with tempfile.TemporaryDirectory(prefix="ray") as folder, open(str(tmp_path / "cluster.log"), "w") as log:
        environment["RAY_TMPDIR"] = folder
        made = subprocess.Popen(
            [PROGRAM.python, "-c", CLUSTER],
            env=environment,
            cwd=str(tmp_path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            universal_newlines=True,
            start_new_session=True,
        )
        try:
            answer = json.loads(made.stdout.readline())

            def tell(what, number):
                made.stdin.write("%s %d\n" % (what, number))
                made.stdin.flush()
                assert made.stdout.readline() == "done\n"

            yield tell, answer["address"], answer["ids"], environment
        finally:
            made.stdin.close()
            try:
                made.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(made.pid, signal.SIGKILL)
                made.wait()


def test_without_a_cluster(runner):
    """`ray_check.py` without a cluster: exit status 2."""
    for address in ("auto", "127.0.0.1:%d" % free_port()):
        command = [PROGRAM.python, CHECK, "--address", address, "--start", "10"]
        environment = runner._environment(PYTHONPATH=runner.site, RAY_TMPDIR=runner.folder)
        said = runner.run(command, environment, timeout=60, status=2)
        assert said.splitlines()[-1].startswith("no Ray cluster at %s: " % address)


def test_ten_nodes(cluster, tmp_path):
    """`ray_check.py`: differences, and nodes that hang or die."""
    tell, address, ids, environment = cluster
    out = str(tmp_path / "said")
    command = [PROGRAM.python, CHECK, "--address", address, "--timeout", str(SECONDS), "--start", "40", "--out", out]
    tell("freeze", FROZEN)
    began = time.monotonic()
    check = subprocess.Popen(
        command + ["--json"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    asked = os.path.join(environment["TMPDIR"], "ray-check-%s.lock" % ids[KILLED])
    assert until(lambda: os.path.exists(asked)), "the node was not asked"
    tell("kill", KILLED)
    printed, said = check.communicate(timeout=200)
    seconds = time.monotonic() - began
    assert seconds < 40 + 3 * SECONDS + 30, "it waited for nodes that do not answer"
    answer = json.loads(printed)
    assert (check.returncode, answer["status"]) == (2, 2), said
    host = re.sub("-[0-9a-f]{8}$", "", answer["hosts"][0])
    names = ["%s-%s" % (host, node[:8]) for node in ids]
    reasons = {one["host"]: one["reason"] for one in answer["not_compared"]}
    assert set(reasons) == {names[number] for number in (NO_DRIVER, HUNG, FROZEN, KILLED)}
    assert sorted(answer["hosts"]) == sorted(names[number] for number in (0, 1, 2, 3, NARROW, OTHER))
    assert "no answer within %d seconds" % SECONDS in reasons[names[HUNG]]
    assert re.search("no answer in time|TaskUnschedulable|died|dead", reasons[names[FROZEN]])
    assert re.search("died|dead|crash|not schedulable", reasons[names[KILLED]])
    differences = {one["fact"]: one["groups"] for one in answer["differences"]}
    assert [group["hosts"] for group in differences["pci.width"]][1:] == [[names[NARROW]]]
    assert differences["pci.width"][1]["value"] == "GPU 0-2,4-7: 16; GPU 3: 8"
    assert [group["value"] for group in differences["name"]] == ["MTT S5000", "MTT S4000"]
    assert differences["name"][1]["hosts"] == [names[OTHER]]
    assert set(os.listdir(out)) == {name + ".json" for name in names}
