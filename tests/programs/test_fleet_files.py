"""The files of examples/fleet by themselves: their formats, and that each speaks of what the others and pymtml have."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest
import simulated
import yaml
from inside import READINGS, checks, child, metrics, metrics_series
from machines import ROOT, Machine
from program_set import SEMANTIC_CONVENTIONS
from scrape import fetch, free_port

FLEET = os.path.join(ROOT, "examples", "fleet")
SERVING, TEXTFILE = "mthreads-metrics.service", "mthreads-textfile.service"
COLUMNS = 24  # of Grafana's grid
DASHBOARDS = ("overview.json", "host.json")
RULES = ("rules.yml", "dcgm.rules.yml")


def read(*names):
    with open(os.path.join(FLEET, *names), encoding="utf-8") as file:
        return file.read()


def unit(name):
    """A unit of systemd: {section: {name: value}}, the last value where a name comes twice."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read_string(read("systemd", name))
    return parser


def options_of(arguments):
    """What the arguments behind `pymtml metrics` ask for."""
    return metrics.parser().parse_args(arguments)


def port_of(arguments):
    """The port that `pymtml metrics` is told to listen on, at all addresses."""
    host, _, port = options_of(arguments).listen.rpartition(":")
    assert host == "0.0.0.0"
    return int(port)


def port():
    return port_of(unit(SERVING)["Service"]["ExecStart"].split()[2:])


# ---- Prometheus ----


def relabelled(job, address):
    """The labels of a target after the rules of a job."""
    labels = {"__address__": address}
    for rule in job["relabel_configs"]:
        assert set(rule) <= {"source_labels", "regex", "target_label", "replacement"}
        value = ";".join(labels.get(name, "") for name in rule["source_labels"])
        found = re.fullmatch(rule["regex"], value)
        if found:
            labels[rule["target_label"]] = rule["replacement"].replace("$1", found.group(1))
    return labels["__address__"], labels.get("instance")


def test_targets_are_hosts():
    """A target may have a port or not; the label instance is the host."""
    config = yaml.safe_load(read("prometheus.yml"))
    ports = {"mthreads": port(), "mthreads-textfile": 9100}
    itself, *jobs = config["scrape_configs"]
    assert {job["job_name"] for job in jobs} == set(ports) and itself["job_name"] == "prometheus"
    assert jobs[1]["params"] == {"collect[]": ["textfile"]}, "the other series of node_exporter are another job's"
    for job in jobs:
        usual = ":%d" % ports[job["job_name"]]
        for target, added, host in (
            ("node07", usual, "node07"),
            ("node07.example.com:1234", "", "node07.example.com"),
            ("10.0.0.7", usual, "10.0.0.7"),
            ("[fe80::7]", usual, "fe80::7"),
            ("[fe80::7]:99", "", "fe80::7"),
        ):
            assert relabelled(job, target) == (target + added, host)


def test_the_files_of_targets_are_read():
    """Each job has its file, in the form of file_sd; the number of cards is a label as the rules want it."""
    config = yaml.safe_load(read("prometheus.yml"))
    for job, file in zip(config["scrape_configs"][1:], ("mthreads.yml", "textfile.yml")):
        (pattern,) = job["file_sd_configs"][0]["files"]
        assert re.fullmatch(pattern.replace(".", r"\.").replace("*", ".*"), "targets/" + file)
        for group in yaml.safe_load(read("targets", file)):
            assert set(group) == {"targets", "labels"} and all(isinstance(one, str) for one in group["targets"])
            assert int(group["labels"]["gpus"]) > 0 and isinstance(group["labels"]["gpus"], str)


def rules(name):
    """All rules of a file."""
    return [rule for group in yaml.safe_load(read(name))["groups"] for rule in group["rules"]]


def test_what_alerts_take_for_granted():
    """As the head of rules.yml says: the names of the jobs, how often there are values, and are looked at."""
    config = yaml.safe_load(read("prometheus.yml"))
    assert config["rule_files"] == ["rules.yml"] and 'job=~"mthreads.*"' in read("rules.yml")
    assert {config["global"][name] for name in ("scrape_interval", "evaluation_interval")} == {"15s"}
    assert "OnUnitInactiveSec=15\n" in read("systemd", "mthreads-textfile.timer")
    assert "AccuracySec=1\n" in read("systemd", "mthreads-textfile.timer"), "else systemd waits up to a minute"
    (endpoint,) = kubernetes("servicemonitor.yml")["ServiceMonitor"]["spec"]["endpoints"]
    assert endpoint["interval"] == "15s"
    (server,) = config["scrape_configs"][0]["static_configs"][0]["targets"]
    (source,) = yaml.safe_load(read("datasource.yml"))["datasources"]
    assert source["url"] == "http://" + server


def test_cards_that_are_expected_are_counted():
    """PromQL makes no number of a label: each number is added up with its own."""
    for name in ("rules.yml",) + DASHBOARDS:
        found = [re.findall(r'up\{gpus="(\d+)"[^}]*\} \* 0 \+ (\d+)', query) for query in queries(name)]
        numbers = [(str(number), str(number)) for number in range(1, 17)]
        assert numbers in found and all(pairs in ([], numbers) for pairs in found), name


def printed(environment, *arguments):
    """What a command of pymtml prints."""
    command = [sys.executable, "-m", "pymtml"] + list(arguments)
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, universal_newlines=True).stdout


# ---- systemd ----

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze (systemd)")
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")


def analyzed(*arguments):
    command = ["systemd-analyze", "--no-pager"] + list(arguments)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


@needs_systemd
@pytest.mark.parametrize("name", [SERVING, TEXTFILE])
def test_units_are_hardened(name):
    """systemd's rating of what the service may do: 10 is everything, and below 3 is called OK."""
    done = analyzed("security", "--offline=true", os.path.join(FLEET, "systemd", name))
    if "--offline" in done.stdout:
        pytest.skip("this systemd-analyze rates no files: " + done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert float(re.search(r"exposure level for %s: ([\d.]+)" % re.escape(name), done.stdout).group(1)) <= 2


@needs_systemd
def test_systemd_takes_the_units(tmp_path):
    """`systemd-analyze verify` has nothing to say, once the command is there."""
    command = tmp_path / "pymtml"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    shutil.copytree(os.path.join(FLEET, "systemd"), str(tmp_path / "units"))
    (tmp_path / "units" / "optional").rename(tmp_path / "units" / (SERVING + ".d"))
    for file in (tmp_path / "units").glob("**/*.*"):
        if file.is_file():
            file.write_text(file.read_text().replace("/opt/pymtml/bin/pymtml", str(command)))
    for name in (SERVING, TEXTFILE, "mthreads-textfile.timer"):
        done = analyzed("verify", "--man=no", str(tmp_path / "units" / name))
        said = [line for line in done.stdout.splitlines() if "mthreads" in line]
        assert not said, said


@pytest.mark.parametrize("name", [SERVING, TEXTFILE])
def test_units_leave_what_is_read(name):
    """The GPUs' device files and all of /proc: settings that close these to a service are not there."""
    closing = {"DeviceAllow", "DevicePolicy", "PrivateDevices", "ProtectClock", "ProtectProc", "ProcSubset"}
    assert not (closing | {"PrivatePIDs", "PrivateUsers"}) & set(unit(name)["Service"])


# What each unit has by itself; in all else, its few rights above all, they are alike
OWN = set(
    "ExecStart UMask RestrictAddressFamilies DynamicUser StateDirectory Restart RestartSec Type User Group".split()
)
OWN |= set("ExecStartPre ReadWritePaths RuntimeDirectory RuntimeDirectoryPreserve TimeoutStartSec".split())
OWN |= {"PrivateNetwork", "IPAddressDeny"}


def test_units_have_the_same_rights():
    """But for the user, the network and where they may write; what is optional is for what it names."""
    services = [set(unit(name)["Service"].items()) for name in (SERVING, TEXTFILE)]
    own = {key for key, _ in services[0] ^ services[1]}
    assert own == OWN, own ^ OWN
    assert [unit(name)["Service"]["UMask"] for name in (SERVING, TEXTFILE)] == ["0077", "0022"], "others read the file"
    after = [set(unit(name)["Unit"]["After"].split()) for name in (SERVING, TEXTFILE)]
    assert after[0] - after[1] == {unit(SERVING)["Unit"]["Wants"]} == {"network-online.target"}
    assert after[1] == {"systemd-modules-load.service", "systemd-udev-trigger.service"}
    optional = {name: unit(os.path.join("optional", name))["Service"] for name in ("jobs.conf", "processes.conf")}
    jobs, processes = (options_of(one["ExecStart"].split()[2:]) for one in optional.values())
    assert (jobs.listen, processes.listen) == ("0.0.0.0:%d" % port(), "127.0.0.1:%d" % port())
    assert "PYMTML_HPC_JOBS:-%s}" % jobs.hpc_job_dir in read("slurm", "hpc_job.sh")
    assert optional["jobs.conf"]["ExecStartPre"] == "+/usr/bin/install -d " + jobs.hpc_job_dir
    for name in os.listdir(os.path.join(FLEET, "systemd", "optional")):
        assert read("systemd", "optional", name).count("ExecStart=\nExecStart=/") == 1, "in the place of the unit's own"
    assert re.findall(r"--port (\d+)", read("systemd", "optional", "nvitop-exporter.conf")) == ["8000"]
    assert "on port 8000;" in read("README.md")
    rights = optional["processes.conf"]
    assert rights["CapabilityBoundingSet"] == rights["AmbientCapabilities"] == "CAP_SYS_PTRACE CAP_DAC_READ_SEARCH"


def test_the_serving_unit():
    """It has the network, is started again for ever, and says what pymtml metrics takes."""
    service = unit(SERVING)["Service"]
    assert {"AF_INET", "AF_INET6"} <= set(service["RestrictAddressFamilies"].split())
    assert not {"PrivateNetwork", "IPAddressDeny"} & set(service)
    assert (service["Restart"], unit(SERVING)["Unit"]["StartLimitIntervalSec"]) == ("always", "0")
    assert int(service["RestartSec"]) > 0 and port() == 9406
    assert unit(SERVING)["Install"]["WantedBy"] == "multi-user.target"


def test_the_unit_of_the_textfile():
    """It may write where its file goes, keeps its lock between two runs, and a timer starts it."""
    service = unit(TEXTFILE)["Service"]
    options = options_of(service["ExecStart"].split()[2:])
    folder = os.path.dirname(options.textfile)
    assert "-" + folder == service["ReadWritePaths"] and options.textfile.endswith(".prom")
    owner = "-o %s -g %s" % (service["User"], service["Group"])
    assert service["ExecStartPre"] == "+/usr/bin/install -d %s %s" % (owner, folder)
    assert options.lock == "/run/%s/lock" % service["RuntimeDirectory"]
    assert (service["RuntimeDirectoryPreserve"], service["Type"]) == ("yes", "oneshot")
    assert 2 * options.timeout < int(service["TimeoutStartSec"])
    timer = unit("mthreads-textfile.timer")
    assert "Unit" not in timer["Timer"], "a timer starts the service of its name"
    assert timer["Install"]["WantedBy"] == "timers.target"
    assert timer["Timer"]["OnBootSec"], "the time from one end to the next start begins with a first run"


def group_of_calls(name):
    """The system calls in a group of systemd's."""
    said = analyzed("syscall-filter", name).stdout
    names = [line.strip() for line in said.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return {call for one in names for call in (group_of_calls(one) if one.startswith("@") else [one])}


def allowed_calls(name):
    """The system calls that a unit allows."""
    assert unit(name)["Service"]["SystemCallFilter"] == "~@privileged @resources"
    allowed = group_of_calls("@system-service") - group_of_calls("@privileged") - group_of_calls("@resources")
    return allowed | group_of_calls("@default")


@needs_systemd
@needs_strace
@pytest.mark.parametrize("name", [SERVING, TEXTFILE])
def test_units_allow_the_system_calls_that_are_made(name, tmp_path, simulator):
    """What `pymtml metrics` calls, with the arguments of the unit, on eight cards."""
    pytest.importorskip("prometheus_client")
    service, here = unit(name)["Service"], free_port()
    arguments = service["ExecStart"].split()[2:]
    for place in ("/var/lib/prometheus/node-exporter", "/run/mthreads-textfile"):
        arguments = [one.replace(place, str(tmp_path)) for one in arguments]
    arguments = [one.replace("0.0.0.0:%d" % port(), "127.0.0.1:%d" % here) for one in arguments]
    trace = tmp_path / "trace"
    # With -o strace takes no signals by itself, so that what it started is told to end.
    command = ["strace", "-I", "2", "-f", "-qq", "-o", str(trace), sys.executable, "-m", "pymtml", "metrics"]
    environment = dict(os.environ, LD_LIBRARY_PATH=simulator, MTML_SIM_PROFILE="s5000x8")
    log = open(str(tmp_path / "log"), "w")
    process = subprocess.Popen(command + arguments, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        if name == SERVING:
            assert "mthreads_driver_up 1" in fetch("http://127.0.0.1:%d/metrics" % here, wait=60)
        else:
            assert process.wait(60) == 0
            assert "mthreads_driver_up 1" in (tmp_path / "mthreads.prom").read_text()
    finally:
        process.terminate()
        process.wait(30)
        log.close()
    made = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(errors="replace"), re.MULTILINE))
    assert "openat" in made and ("listen" in made) == (name == SERVING)
    assert made <= allowed_calls(name)


# ---- Containers ----


def test_the_containerfile():
    """It runs the exporter as a user without rights, at the port of the unit."""
    lines = read("Containerfile").splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER 10001"]
    (entry,) = [json.loads(line[len("ENTRYPOINT ") :]) for line in lines if line.startswith("ENTRYPOINT")]
    (arguments,) = [json.loads(line[len("CMD ") :]) for line in lines if line.startswith("CMD")]
    assert entry == ["pymtml", "metrics"] and port_of(arguments) == port()
    assert "EXPOSE %d" % port() in lines
    (base,) = [line.split()[1] for line in lines if line.startswith("FROM")]
    assert base.endswith("-slim")
    assert 'pip install --no-cache-dir "$wheel[metrics]"' in read("Containerfile") and "--uid 10001 " in read(
        "Containerfile"
    )


def kubernetes(name):
    return {one["kind"]: one for one in yaml.safe_load_all(read("kubernetes", name))}


def test_kubernetes_takes_the_daemon_set():
    """kubernetes-validate, which has the schemas of Kubernetes."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="comes with the extra dev on Python 3.11")
    for one in kubernetes("daemonset.yml").values():
        kubernetes_validate.validate(one, "1.30", strict=True)
    broken = kubernetes("daemonset.yml")["DaemonSet"]
    broken["spec"]["template"]["spec"]["containers"][0]["argz"] = []
    with pytest.raises(Exception):
        kubernetes_validate.validate(broken, "1.30", strict=True)


def test_the_pods_are_found():
    """Service and ServiceMonitor choose what the DaemonSet makes, by its port; the job has a name that is watched."""
    made = kubernetes("daemonset.yml")
    assert made["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == made["Service"]["spec"]["selector"]
    monitor = kubernetes("servicemonitor.yml")["ServiceMonitor"]["spec"]
    pod = made["DaemonSet"]["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert made["Service"]["spec"]["selector"] == labels
    assert made["DaemonSet"]["spec"]["selector"]["matchLabels"] == labels
    assert monitor["selector"]["matchLabels"] == made["Service"]["metadata"]["labels"]
    (container,) = pod["spec"]["containers"]
    (listening,) = container["ports"]
    assert listening["containerPort"] == port_of(container["args"]) == port()
    (served,) = made["Service"]["spec"]["ports"]
    (endpoint,) = monitor["endpoints"]
    assert endpoint["port"] == served["name"] and served["targetPort"] == listening["name"]
    rules = {rule["targetLabel"]: rule for rule in endpoint["relabelings"]}
    assert rules["job"]["replacement"].startswith("mthreads") and set(rules) == {"job", "instance", "gpus"}
    (term,) = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    label = term["matchExpressions"][0]["key"].replace("-", "_")
    # Also a pod that is not ready, on a node that is drained; the label of the node, and all of its cards.
    assert made["Service"]["spec"]["publishNotReadyAddresses"] and monitor["attachMetadata"] == {"node": True}
    assert pod["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert container["env"] == [{"name": "MTHREADS_VISIBLE_DEVICES", "value": "all"}]
    assert (
        rules["gpus"]["sourceLabels"] == ["__meta_kubernetes_node_label_" + label] and rules["gpus"]["regex"] == "(.+)"
    )
    assert rules["instance"]["sourceLabels"] == ["__meta_kubernetes_pod_node_name"], "a host is its node"


def test_rules_for_the_operator():
    """They are rules.yml, with the label by which it is found, as the ServiceMonitor is."""
    monitor = kubernetes("servicemonitor.yml")["ServiceMonitor"]["metadata"]["labels"]
    script = os.path.join(FLEET, "kubernetes", "prometheusrule.sh")
    made, other = (yaml.safe_load(subprocess.check_output([script] + more)) for more in ([], ["prom"]))
    assert made["kind"] == "PrometheusRule" and made["spec"] == yaml.safe_load(read("rules.yml"))
    assert made["metadata"]["labels"] == {"release": monitor["release"]}
    assert other["metadata"]["labels"] == {"release": "prom"}


def test_the_pod_may_do_little():
    """It is the user of the image, and writes nothing."""
    spec = kubernetes("daemonset.yml")["DaemonSet"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    context = container["securityContext"]
    assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
    assert context["capabilities"] == {"drop": ["ALL"]} and spec["automountServiceAccountToken"] is False
    (mount,), (volume,) = container["volumeMounts"], spec["volumes"]
    assert os.path.dirname(options_of(container["args"]).state) == mount["mountPath"]
    assert mount["name"] == volume["name"] and volume["emptyDir"]["medium"] == "Memory"
    (listening,) = container["ports"]
    probed = [container[probe + "Probe"]["tcpSocket"]["port"] for probe in ("readiness", "liveness")]
    policy = kubernetes("daemonset.yml")["NetworkPolicy"]["spec"]
    (source,), (allowed,) = policy["ingress"][0]["from"], policy["ingress"][0]["ports"]
    assert probed == [allowed["port"]] * 2 == [listening["name"]] * 2 and set(policy["policyTypes"]) == {
        "Ingress",
        "Egress",
    }
    namespace = source["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
    text = read("README.md")
    assert set(re.findall(r"kubectl .*-n (\S+)", text)) == {namespace}
    assert "runtimeClassName: %s`" % spec["runtimeClassName"] in text and "`%s`" % spec["priorityClassName"] in text
    assert (spec["securityContext"]["runAsUser"], spec["securityContext"]["runAsNonRoot"]) == (10001, True)


def test_a_plugin_of_node_problem_detector(slurm, simulator, tmp_path):
    """Its exit statuses are others than those of health; the line is what is wrong."""
    monitor = json.loads(read("kubernetes", "npd_mthreads.json"))
    (rule,) = monitor["rules"]
    assert [one["type"] for one in monitor["conditions"]] == [rule["condition"]] and rule["type"] == "permanent"
    assert os.path.basename(rule["path"]) == "npd_mthreads.sh"

    environment = dict(os.environ, LD_LIBRARY_PATH=simulator, MTML_SIM_PROFILE="s3000x2", TMPDIR=str(tmp_path))
    environment.update(PYMTML_HEALTH_DEFAULTS=str(tmp_path / "defaults"), PYTHONHOME="/nowhere")
    script = os.path.join(FLEET, "kubernetes", os.path.basename(rule["path"]))

    def plugin(**variables):
        done = subprocess.run([script], env=dict(environment, **variables), stdout=subprocess.PIPE)
        return done.returncode, done.stdout.decode()

    assert plugin(FOUND="OK", STATUS="0") == (0, "GPUs are well\n")
    assert plugin(FOUND="WARNING pcie: x8", STATUS="1") == (0, "WARNING pcie: x8\n")
    status, text = plugin(MTML_SIM_SET="0.gpu_temperature=104")
    assert status == 1 and re.match(r"CRITICAL +temperature", text)
    with (tmp_path / "defaults").open("a") as defaults:
        defaults.write("GPUS=3\n")
    status, text = plugin()
    assert status == 1 and re.match(r"CRITICAL +devices: 2 of 3", text)
    (tmp_path / "defaults").write_text("PYMTML=/nonexistent\n")
    assert plugin()[0] == 2


# ---- OpenTelemetry ----


def test_names_of_the_collector():
    """Each series that is renamed is one of pymtml metrics, with the labels that are; each is renamed once."""
    config = yaml.safe_load(read("otel", "collector.yml"))
    (scrape,) = config["receivers"]["prometheus"]["config"]["scrape_configs"]
    (pipeline,) = config["service"]["pipelines"].values()
    assert pipeline == {name: list(config[name]) for name in ("receivers", "processors", "exporters")}
    assert scrape["scrape_interval"] == "15s"
    assert scrape["static_configs"][0]["targets"] == ["localhost:%d" % port()]
    transforms = config["processors"]["metricstransform"]["transforms"]
    *each, common = transforms
    assert re.fullmatch(common["include"], "hw.power") and common["match_type"] == "regexp"
    for one in each:
        assert one["include"].startswith(metrics_series.OF_CARD), one
        labels, _ = metrics_series.CARD_SERIES[one["include"][len(metrics_series.OF_CARD) :]]
        used = {operation["label"] for operation in one.get("operations", ()) if operation["action"] == "update_label"}
        assert used | set(one.get("experimental_match_labels", ())) == set(labels) - {"fan"}, one
    assert len({one["include"] for one in each}) == len({one["new_name"] for one in each}) == len(each)
    operations = [operation for one in each for operation in one.get("operations", ())]
    assert all("new_label" in operation for operation in operations)
    values = {one["value"]: one["new_value"] for operation in operations for one in operation.get("value_actions", ())}
    assert values == {"gpu": "general", "slowdown": "high.degraded", "shutdown": "high.critical"}
    used = {operation["label"] for operation in common["operations"] if operation["action"] == "update_label"}
    assert used == {"gpu", "uuid"} < set(metrics_series.PLACE)


@pytest.mark.programs
def test_names_are_those_of_the_semantic_conventions():
    """Of OpenTelemetry's own package."""
    code = (
        "import json; from opentelemetry.semconv._incubating.metrics import hw_metrics as m;"
        "from opentelemetry.semconv._incubating.attributes import hw_attributes as a, error_attributes as e;"
        "print(json.dumps([v for k in (m, a, e) for v in vars(k).values() if isinstance(v, str)]))"
    )
    known = set(json.loads(subprocess.check_output([SEMANTIC_CONVENTIONS.python, "-c", code]).decode()))
    names = re.findall(r"(?:new_name|new_label): ([\w.]+)", read("otel", "collector.yml"))
    assert len(names) > 10 and set(names) <= known, set(names) - known


# ---- Slurm ----

# Notes its arguments, an empty line behind those of each call.
SCONTROL = """\
#!/bin/bash
[ "$1" = show ] || printf '%s\\n' "$@" "" >> "$CALLS"
FORM='NodeName=gpu01 Arch=x86_64\\n   State=%s ThreadsPerCore=1\\n   Comment=%s\\n   Reason=%s [root@x]\\n'
[ "$1" = show ] && printf "$FORM" "$STATE" "$COMMENT" "$REASON"
exit 0
"""


# pymtml itself, or what it is to say
PYMTML = """\
#!/bin/sh
[ -n "$FOUND" ] && echo "$FOUND" && exit "$STATUS"
cd %s && exec %s -m pymtml "$@"
"""


@pytest.fixture
def slurm(tmp_path, simulator):
    """Runs the health program on a machine, with a scontrol that notes what it is told; returns its calls (list)."""
    for name in ("scontrol", "logger"):
        (tmp_path / name).write_text(SCONTROL)
        (tmp_path / name).chmod(0o755)
    command = tmp_path / "pymtml"
    command.write_text(PYMTML % (ROOT, shutil.which("python3")))
    command.chmod(0o755)
    defaults = tmp_path / "defaults"
    defaults.write_text(
        "GPUS=${WANTED-2} TIMEOUT=${PATIENCE:-30} GOOD=3 PYMTML=%s LOCK=%s\n" % (command, tmp_path / "lock")
    )

    def run(machine, state="IDLE", reason="none", **variables):
        calls = tmp_path / "calls"
        calls.write_text("")
        environment = dict(os.environ, PATH="%s:%s" % (tmp_path, os.environ["PATH"]), CALLS=str(calls), STATE=state)
        environment.update(PYTHONHOME="/nowhere")  # as that of another Python, by a module of the cluster
        environment.update(REASON=reason, SLURMD_NODENAME="gpu01", PYMTML_HEALTH_DEFAULTS=str(defaults))
        environment.update(LD_LIBRARY_PATH=simulator, MTML_SIM_PROFILE=machine.path, TMPDIR=str(tmp_path), **variables)
        done = subprocess.run([os.path.join(FLEET, "slurm", "health.sh")], env=environment, timeout=120)
        assert done.returncode == 0
        return [call.splitlines() for call in calls.read_text().split("\n\n")[:-1]]

    return run


OURS = "pymtml: CRITICAL devices: 1 of 2"


def test_a_sick_node_is_drained(slurm, tmp_path):
    """Once, with the reason, which follows what is found; what somebody else drained keeps theirs."""
    sick = Machine(tmp_path, "s3000x2", changes={"gpu_temperature": lambda i: 104})
    drain = ["update", "NodeName=gpu01", "State=DRAIN"]
    (call,) = slurm(sick)
    assert call[:3] == drain and call[3].startswith("Reason=pymtml: CRITICAL temperature: GPU 0-1: 104 C")
    assert len(call) == 4
    hot = {"FOUND": "CRITICAL  temperature: 104 C", "STATUS": "2"}
    reason = "pymtml: CRITICAL temperature: 104 C"
    assert slurm(sick, "IDLE+DRAIN", reason, **hot) == []
    assert slurm(sick, "IDLE+DRAIN", OURS, **hot) == [drain + ["Reason=" + reason]]
    assert slurm(sick, "IDLE+DRAIN", "disk is broken", **hot) == []
    assert slurm(Machine(tmp_path, "s3000x2"), WANTED="") == [] != slurm(Machine(tmp_path, "s3000x2"), WANTED="3")
    assert re.search(r"^GPUS= ", read("slurm", "health.sh"), re.M), "nothing is expected that nobody has set"
    for status in ("126", "127"):
        (call,) = slurm(sick, FOUND="sh: no pymtml", STATUS=status)
        assert call[:3] == ["-t", "pymtml", "--"] and "cannot be run (status %s)" % status in call[3]
    (call,) = slurm(sick, MTML_SIM_LATENCY_NS="100000000000", PATIENCE="2")
    assert "CRITICAL driver: no answer within 2 seconds" in call[3]
    narrow = Machine(tmp_path, "s3000x2", changes={"pci_cur_width": lambda i: 8, "pci_cur_gen": lambda i: 5})
    (call,) = slurm(narrow)
    assert call[:3] == ["-t", "pymtml", "--"] and call[3].startswith("gpu01: WARNING pcie: GPU 0-1: PCIe link is x8")


def test_a_node_is_resumed_after_good_checks_in_a_row(slurm, tmp_path):
    """Where it was drained for its GPUs; a finding in between begins the count anew."""

    machine = Machine(tmp_path, "s3000x2")

    def check(state, reason=OURS):
        said = {
            "well": ("OK", "0"),
            "degraded": ("WARNING pages: GPU 5", "1"),
            "sick": ("CRITICAL temperature: GPU 0: 104 C", "2"),
        }[state]
        calls = slurm(machine, "IDLE+DRAIN", reason, FOUND=said[0], STATUS=said[1])
        return [call[2] for call in calls]

    assert [check(state) for state in ("well", "well", "sick", "well", "well")] == [[], [], ["State=DRAIN"], [], []]
    assert check("degraded")[0] == "State=RESUME"  # a WARNING drains no node, and keeps none drained
    assert check("well", "disk is broken") == []
    comment = "State=IDLE+DRAIN Reason=pymtml: "  # whose words are an admin's
    assert slurm(machine, "IDLE+DRAIN", "disk is broken", FOUND="OK", STATUS="0", COMMENT=comment) == []
    (call,) = slurm(machine, "IDLE", FOUND="CRITICAL x", STATUS="2", COMMENT=comment)
    assert call[2] == "State=DRAIN"
    for text, good in (("a[$(touch %s)]" % (tmp_path / "x"), "1"), ("08", "9"), ("", "1"), ("9" * 30, "1")):
        (tmp_path / "lock").write_text(text + "\n")
        slurm(machine, FOUND="OK", STATUS="0")
        assert (tmp_path / "lock").read_text() == good + "\n" and not (tmp_path / "x").exists()


def test_which_job_has_which_card(tmp_path):
    """What prolog and epilog write, one after the other, as pymtml metrics reads it."""
    fcntl = pytest.importorskip("fcntl")

    def at(context, job, gpus, **more):
        environment = dict(os.environ, SLURM_SCRIPT_CONTEXT=context, SLURM_JOB_ID=job, SLURM_JOB_GPUS=gpus, **more)
        environment["PYMTML_HPC_JOBS"] = str(tmp_path / "jobs")
        subprocess.run([os.path.join(FLEET, "slurm", "hpc_job.sh")], env=environment, check=True)
        files = [path for path in (tmp_path / "jobs").iterdir() if path.name != ".lock"]
        return {path.name: path.read_text().split() for path in files}

    assert at("prolog_slurmd", "7", "0,3") == {"0": ["7"], "3": ["7"]}
    assert at("prolog_slurmd", "8", "3,../x") == {"0": ["7"], "3": ["7", "8"]}
    page = printed(simulated.environment("s5000x8"), "metrics", "--hpc-job-dir", str(tmp_path / "jobs"))
    jobs = re.findall(r'mthreads_gpu_power_watts\{gpu="(\d)",hpc_job="(\d)"', page)
    assert jobs == [("0", "7"), ("3", "7"), ("3", "8")]
    with open(str(tmp_path / "jobs" / ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        threading.Timer(0.5, lock.close).start()
        assert at("epilog_slurmd", "7", "0,3") == {"3": ["8"]}
        assert time.monotonic() - began >= 0.5
    assert at("epilog_slurmd", "9", "") == {"3": ["8"]}
    assert at("prolog_slurmd", "78", "3") == {"3": ["8", "78"]}
    assert at("epilog_slurmd", "8", "3") == {"3": ["78"]}  # whose number only begins or ends like another's
    assert at("epilog_slurmd", "78", "3") == {}
    of_whom = {"SLURM_JOB_USER": "ann", "SLURM_JOB_PARTITION": "s5000"}
    assert at("prolog_slurmd", "7", "0", **of_whom) == {"0": ["7", "ann", "s5000"]}
    page = printed(simulated.environment("s5000x8"), "metrics", "--hpc-job-dir", str(tmp_path / "jobs"))
    assert 'mthreads_gpu_job_info{gpu="0",hpc_job="7",hpc_partition="s5000",hpc_user="ann",' in page
    assert at("epilog_slurmd", "7", "0", **of_whom) == {}


def test_time_of_a_check():
    """The same that ray_check.py gives a driver. Slurm ends a check after 60 s, one that waits for the lock, too."""
    (seconds,) = re.findall(r"\bTIMEOUT=(\d+)", read("slurm", "health.sh"))
    assert re.findall(r'"--timeout", type=float, default=(\d+)', read("ray_check.py")) == [seconds]
    assert 2 * int(seconds) + child.Child.look_seconds < 60
    assert "--timeout %s)" % seconds in read("kubernetes", "npd_mthreads.sh")
    monitor = json.loads(read("kubernetes", "npd_mthreads.json"))
    times = [
        monitor["rules"][0]["timeout"],
        monitor["pluginConfig"]["timeout"],
        monitor["pluginConfig"]["invoke_interval"],
    ]
    times = [float(time[:-1]) for time in times]
    assert 2 * int(seconds) + child.Child.look_seconds < times[0] <= times[1] < times[2]


def test_two_checks_do_not_meet(slurm, tmp_path):
    """The second one does nothing."""
    fcntl = pytest.importorskip("fcntl")
    with open(str(tmp_path / "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert slurm(Machine(tmp_path, "s3000x2", changes={"gpu_temperature": lambda i: 104})) == []


def test_a_task_sees_the_cards_of_its_job():
    """Those of its step, if Slurm says these."""

    def prolog(**variables):
        script = os.path.join(FLEET, "slurm", "task_prolog.sh")
        return subprocess.check_output([script], env=dict(PATH=os.environ["PATH"], **variables)).decode()

    assert prolog(SLURM_JOB_GPUS="0,3") == "export MUSA_VISIBLE_DEVICES=0,3\n"
    assert prolog(SLURM_JOB_GPUS="0,3", SLURM_STEP_GPUS="3") == "export MUSA_VISIBLE_DEVICES=3\n"
    assert prolog() == ""
    count, nodes = re.search(r"(?s)Gres=gpu:s5000:(\d+) .*File=/dev/mtgpu\.(\S+)", read("slurm", "gres.conf")).groups()
    assert nodes == "[0-%d]" % (int(count) - 1)


# ---- Dashboards ----


def board(name):
    return json.loads(read(name))


def queries(name):
    """All PromQL of a file of rules, or of a dashboard, its variable replaced as Grafana does."""
    if name in RULES:
        return [rule["expr"] for rule in rules(name)]
    found = [target["expr"] for panel in board(name)["panels"] for target in panel["targets"]]
    for entry in board(name)["templating"]["list"]:
        if entry["type"] == "query":
            found.append(re.match(r"query_result\((.*)\)$", entry["query"]).group(1))
    return [query.replace("$host", "node07") for query in found]


@pytest.mark.parametrize("name", DASHBOARDS)
def test_grafana_reads_the_dashboards(name):
    """grafana-foundation-sdk, Grafana's own types: it writes what the file has, and adds what it takes for granted."""
    pytest.importorskip("grafana_foundation_sdk", reason="comes with the extra dev on Python 3.11 and newer")
    from grafana_foundation_sdk.cog import plugins
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.models.dashboard import Dashboard

    plugins.register_default_plugins()
    decoded = Dashboard.from_json(board(name))
    kinds = {type(target).__module__ for panel in decoded.panels for target in panel.targets}
    assert kinds == {"grafana_foundation_sdk.models.prometheus"}
    for panel in decoded.panels:
        assert type(panel.options).__module__.rpartition(".")[2] == panel.type_val.replace("-", "")

    def kept(before, after):
        if isinstance(before, dict):
            return all(key in after and kept(before[key], after[key]) for key in before)
        if isinstance(before, list):
            return len(before) == len(after) and all(map(kept, before, after))
        return before == after

    assert kept(board(name), json.loads(JSONEncoder().encode(decoded)))


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_by_itself(name):
    """Panels lie beside each other on the grid, each variable is defined, and the data source is one of ours."""
    panels = board(name)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 0
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert all(0 <= x < COLUMNS for x, y in taken)
    defined = {variable["name"] for variable in board(name)["templating"]["list"]}
    (source,) = yaml.safe_load(read("datasource.yml"))["datasources"]
    assert [one["query"] for one in board(name)["templating"]["list"] if one["type"] == "datasource"] == [
        source["type"]
    ]
    assert set(re.findall(r"\$\{?([a-z]\w*)(?![\w.])", read(name))) - {"__data"} == defined


@pytest.mark.parametrize("name", DASHBOARDS + RULES)
def test_queries_are_promql(name):
    promql_parser = pytest.importorskip("promql_parser", reason="comes with the extra dev on Python 3.11 and newer")
    for query in queries(name):
        promql_parser.parse(query)


@pytest.mark.parametrize("name", DASHBOARDS + RULES)
def test_queries_ask_for_series_that_there_are(name):
    """Of pymtml metrics by its own table, with labels that they have; of Prometheus itself; of rules.yml."""
    of_target = {"job", "instance", "gpus"}
    labels = {"up": of_target, "ALERTS": of_target | {"alertname", "alertstate", "severity", "problem"}}
    labels["ALERTS_FOR_STATE"] = labels["ALERTS"]
    for what in ("evaluation_failures_total", "group_iterations_missed_total"):
        labels["prometheus_rule_" + what] = {"rule_group"}
    for key, (more, _) in metrics_series.MACHINE_SERIES.items():
        labels[metrics_series.OF_MACHINE + key] = of_target | set(more)
    for key, (more, _) in metrics_series.CARD_SERIES.items():
        labels[metrics_series.OF_CARD + key] = of_target | set(metrics_series.PLACE) | set(more)
    labels.update((rule["record"], set()) for file in RULES for rule in rules(file) if "record" in rule)
    for query in queries(name):
        names = r"mthreads[_:][a-z_:]+|(?:instance|gpu):[a-z_:]+|prometheus_\w+|up|ALERTS\w*"
        asked = re.findall(r"(?<![\w:])(%s)(?![\w:(])(?:\{(.*?)\})?" % names, query)
        assert asked, query
        for metric, selection in asked:
            assert metric in labels, metric
            assert set(re.findall(r"(\w+)(?:=~|!=|!~|=)", selection)) <= labels[metric], (metric, selection)


def test_a_card_that_jobs_share_counts_once():
    """Its values differ in the label hpc_job: what adds them up, but for `up`, takes one of them first."""
    for rule in rules("rules.yml"):
        added = re.findall(r"\b(?:sum|avg|count)(?: (?:by|without) \([^)]*\))? ?\(mthreads_gpu_(\w+)", rule["expr"])
        assert set(added) <= {"up"}, rule


def test_temperatures_are_red_where_health_is():
    """Of a card that tells no limit."""
    (defaults,) = [
        panel["fieldConfig"]["defaults"] for panel in board("overview.json")["panels"] if "hottest" in panel["title"]
    ]
    (row,) = [row for row in READINGS if row.name == "temperature.slowdown"]
    assert re.findall(r'temperature_limit_celsius{.*limit=\\"(\w+)\\"', read("host.json")) == [row.series[1]]
    steps = {step["color"]: step["value"] for step in defaults["thresholds"]["steps"]}
    assert defaults["unit"] == "celsius" and steps["red"] == checks.HOTTEST > steps["orange"]


# The unit in which Grafana shows a series; memory is shown as a share.
UNITS = {"celsius": "celsius", "watts": "watt", "hertz": "hertz", "duration_seconds": "s"}
UNITS.update(ratio="percentunit", bytes="percentunit")
# Which of the series of a name a panel shows
CHOSEN = {
    "Temperature": 'sensor="gpu"',
    "Temperature of the memory": 'sensor="memory"',
    "Clock of the GPU": 'clock="graphics"',
}
CHOSEN.update(
    dict.fromkeys(("Utilization", "Utilization of instances", "Ten that hold memory and do nothing"), 'engine="gpu"')
)
CHOSEN.update({"Ten hottest": 'sensor="gpu"', "MtLinks that are not up": 'state!="up"'})
CHOSEN["Memory errors since the driver was loaded"] = 'scope="volatile"'
# What the values 0, 1 and so on are called; numbers that are red from 1 on, and those that are so below
CALLED = {"Host": "down, up", "Driver": "does not answer, answers", "GPUs answer": "no, yes"}
CALLED["Health"] = "well, WARNING, CRITICAL"
SILENT, NONE_DOWN = {"GPUs silent", "GPUs missing"}, {"Hosts down", "Stalled", "Drivers down"}
RED = {"overview.json": (SILENT | NONE_DOWN, set())}
RED["host.json"] = (SILENT, {"GPUs reporting", "Collections in the last minute"})


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_panel_shows_what_its_title_says(name):
    steps = {}
    for panel in board(name)["panels"]:
        defaults, title = panel["fieldConfig"]["defaults"], panel["title"]
        asked = " ".join(target["expr"] for target in panel["targets"])
        units = {unit for suffix, unit in UNITS.items() if re.search(r"mthreads[\w:]+_%s(?![a-z_])" % suffix, asked)}
        if panel["type"] in ("heatmap", "table") or not units or re.match("count|changes|clamp", asked):
            units = {"none"}
        assert {defaults["unit"]} == units, title
        assert not re.search(r"total_bytes[^/]*/", asked), "a share is of the total"
        assert (defaults.get("min"), defaults.get("max")) == ((0, 1) if units == {"percentunit"} else (None, None))
        if panel["type"] in ("timeseries", "bargauge"):
            chosen = re.findall(r'\b(?:sensor|clock|engine|scope|state)!?="\w+"', asked)
            assert set(chosen) == ({CHOSEN[title]} if title in CHOSEN else set()), title
        options = [each for one in defaults.get("mappings", ()) for each in one["options"].items()]
        assert ", ".join(text["text"] for _, text in sorted(options)) == CALLED.get(title, ""), title
        assert [int(value) for value, _ in sorted(options)] == list(range(len(options)))
        if panel["type"] == "stat":
            steps.setdefault(
                json.dumps([[step["color"], step["value"]] for step in defaults["thresholds"]["steps"]]), set()
            ).add(title)
    above, below = RED[name]
    assert steps.get('[["green", null], ["red", 1]]', set()) == above
    assert steps.get('[["red", null], ["green", 1]]', set()) == below


# The check of health that looks at the same as an alert
ADVICE = {
    "GpuDown": "answers",
    "GpuMemoryImpossible": "memory",
    "GpuUtilizationWrong": "utilization",
    "GpuHot": "temperature",
    "GpuEccUncorrected": "ecc",
    "GpuEccUncorrectedInItsLife": "ecc",
    "GpuPowerLimitLow": "power",
    "GpuPowerWrong": "power",
    "GpuLinkDown": "links",
    "GpuLinkDegraded": "links",
    "GpuPcieNarrow": "pcie",
    "GpuPcieSlow": "pcie",
}


def test_advice_of_alerts_is_that_of_health():
    """The last part of it at least; the rest in words of its own."""
    texts = {rule["alert"]: rule["annotations"]["description"] for rule in rules("rules.yml") if "alert" in rule}
    for name, check in ADVICE.items():
        words = re.findall(r"\w+", checks.CHECKS[check].advice.lower())[-4:]
        text = " ".join(re.findall(r"\w+", texts["Mthreads" + name].lower()))
        assert " ".join(words) in text, (name, checks.CHECKS[check].advice)


# Each cause, and what it silences: of its host; of its card if it is of a card
ALL = "Driver.+|Gpu.+"
SILENCED = dict.fromkeys(("HostDown", "NothingCollected", "CollectionStalled"), ALL)
SILENCED.update(
    HostFlapping="HostDown|NothingCollected|CollectionStalled|DriverDown|DriverFlapping|GpuFlapping|GpusFlapping",
    DriverFlapping="DriverDown|GpusFlapping|GpusMissing|GpusTooMany|GpuDown|GpuFlapping|GpuQueryErrors",
    DriverDown="Gpu.+",
    GpusFlapping="GpusMissing",
    HealthCritical="GpuQueryErrors",
    GpuFlapping="Gpu(?!s|Flapping).+",
    GpuDown="Gpu(?!s|Flapping|Down).+",
    GpuEccUncorrected="GpuEccUncorrectedInItsLife|GpuEccCorrectedOften|GpuPagesPending|GpuPagesRetired",
    GpuHot="GpuSlow|GpuClockLow",
    GpuLinkFlapping="GpuLinkDown|GpuLinkDegraded",
)


def matched(matchers, labels):
    """Whether all of Alertmanager's matchers are true of labels."""
    parsed = [re.fullmatch(r'(\w+)(=~|!~|!=|=)"(.*)"', one).groups() for one in matchers]
    texts = [(how, text if "~" in how else re.escape(text), labels.get(name, "")) for name, how, text in parsed]
    return all(bool(re.fullmatch(text, value)) != ("!" in how) for how, text, value in texts)


def test_a_cause_silences_what_follows():
    inhibitions = yaml.safe_load(read("alertmanager.yml"))["inhibit_rules"]

    def silences(cause, other):
        return any(
            matched(one["source_matchers"], cause)
            and matched(one["target_matchers"], other)
            and all(cause.get(name) == other.get(name) for name in one["equal"])
            for one in inhibitions
        )

    problems = {one["labels"].get("problem") for one in rules("rules.yml") if "alert" in one} - {None}
    assert set(SILENCED) < problems
    # Hosts are not counted for cards that are silenced, or that a bad firmware explains.
    (expression,) = [one["expr"] for one in rules("rules.yml") if one.get("alert") == "MthreadsManyHosts"]
    (explained,) = re.findall(r'ALERTS\{problem=~"(HostDown.*?)"\}', expression)
    causes = {one for one, other in SILENCED.items() if re.fullmatch(other, "GpuSlow") and not re.match("Gpu", one)}
    causes |= {"DriverFlapping", "DriverFirmware"}
    assert {one for one in problems if re.fullmatch(explained, one)} == causes
    alerts = [dict(job="j", instance="a", problem=one, alertname="Mthreads" + one) for one in sorted(problems)]
    alerts = [dict(one, gpu="1") if re.match("Gpu(?!s)", one["problem"]) else one for one in alerts]
    for cause in alerts:
        for other in alerts:
            follows = bool(re.fullmatch(SILENCED.get(cause["problem"], ""), other["problem"]))
            assert silences(cause, other) == follows, (cause, other)
            # Of many hosts it silences the same of each, and what joined them, which alone is then told of that one.
            of_many = {"job": "j", "problem": cause["problem"], "alertname": "MthreadsManyHosts"}
            joined = dict(cause, alertname="MthreadsJoinedManyHosts")
            assert silences(of_many, other) == (cause == other)
            assert silences(joined, dict(other, alertname="MthreadsX")) == (cause == other or follows)
            assert not any(silences(one, dict(other, job="k")) for one in (cause, joined, of_many))
            assert not any(silences(one, dict(other, instance="b")) for one in (cause, joined))
            assert "gpu" not in cause or not any(silences(one, dict(other, gpu="2")) for one in (cause, joined))
            assert not silences(of_many, joined) and not silences(of_many, dict(of_many, alertname="MthreadsMoreHosts"))


@pytest.mark.parametrize("severity, receiver", [("critical", "pager"), ("warning", "tickets"), ("info", "nobody")])
def test_who_is_told_of_an_alert(severity, receiver):
    """Of a host and of many; as one page, with all that follows within two evaluations of the rules."""
    config = yaml.safe_load(read("alertmanager.yml"))
    root, receivers = config["route"], {one["name"]: one.get("webhook_configs", []) for one in config["receivers"]}
    told = {"pager": ["http://localhost:9099/page"], "tickets": ["http://localhost:9099/ticket"], "nobody": []}
    assert {name: [one["url"] for one in hooks] for name, hooks in receivers.items()} == told
    assert [root[name] for name in ("group_wait", "group_interval", "repeat_interval")] == ["30s", "5m", "4h"]
    for labels, groups in (({"instance": "a"}, ["job", "instance"]), ({}, ["job", "problem"])):
        route, found = root, {}
        while route:
            found.update(route)
            below = [
                one for one in route.get("routes", ()) if matched(one["matchers"], dict(labels, severity=severity))
            ]
            route = below and below[0]
        assert found["receiver"] == receiver and (found["group_by"] == groups or severity == "info")


# How times are said, and written in rules.yml
TIMES = {
    "30 of the last 120 seconds": "2m",
    "90 seconds": "90s",
    "a minute": "1m",
    "5 minutes": "5m",
    "five minutes": "5m",
    "ten minutes": "10m",
    "15 minutes": "15m",
    "half an hour": "30m",
    "an hour": "1h",
    "twelve hours": "12h",
}
# How limits are said, other than in digits
LIMITS = {
    "half": "50 percent",
    "at least four": "4",
    "four or more": "4",
    "two percent": "2 percent",
    "two or more": "1",
}
SHORT = {"30s", "45s", "1m", "2m"}  # of which nothing need be said: red within two minutes
SAID = r"limit is ([\d.]+%?)|(\d+) are the limit|}}(\d+){{"


def test_an_alert_looks_at_what_it_says():
    """Its times and limits, in its summary and in docs/metrics.md; the limit of a temperature is health's."""
    (row,) = [row for row in READINGS if row.name == "temperature.slowdown"]
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = re.findall(r"(?m)^\| `Mthreads(\w+)` \| ([\w ]+) \| (.*) \|$", file.read())
    documented, severities = {name: when for name, _, when in rows}, {name: severity for name, severity, _ in rows}
    recorded = {rule["record"]: rule["expr"] for rule in rules("rules.yml") if "record" in rule}
    for rule in (one for one in rules("rules.yml") if one.get("alert")):
        name, text, when = rule["alert"], rule["annotations"]["summary"], documented[rule["alert"][len("Mthreads") :]]
        severity = severities[name[len("Mthreads") :]].replace("as its hosts", "{{ $labels.severity }}")
        assert rule["labels"]["severity"] == severity, name
        looked_at = " ".join([rule["expr"]] + [expr for record, expr in recorded.items() if record in rule["expr"]])
        times = set(re.findall(r"\b(?:%s)\b" % "|".join(TIMES), text + " " + when))
        spans = set(re.findall(r"(?:\[|offset )(\w+)", rule["expr"])) | {rule.get("for", "1m")}
        spans |= {rule.get("keep_firing_for", "1m")}
        spans |= {"%gm" % (int(seconds) / 60) for seconds in re.findall(r"time\(\) - (\d+)", looked_at)}
        assert spans - SHORT <= {TIMES[words] for words in times} <= spans | SHORT, (name, spans, times)
        assert "for" in rule or "15m" in spans or "ALERTS" in looked_at, "one bad scrape is no alert"
        for number in filter(None, sum(re.findall(SAID, text), ())):
            limit = "%g" % (float(number[:-1]) / 100) if number.endswith("%") else number
            assert re.search(r"[<>]=? %s(?![\d.])" % limit.rstrip("."), looked_at), (name, number)
        for words in times:
            when = when.replace(words, "")
        for words, number in LIMITS.items():
            when = re.sub(r"\b%s\b" % words, number, when)
        numbers = re.findall(r"(\d[\d.]*\b)( percent)?", when)
        limits = ["%g" % (float(number) / (100 if percent else 1)) for number, percent in numbers]
        for limit in limits:
            asked = re.findall(r"(?<![\w.])%s(?![\w.])" % re.escape(limit), looked_at)
            assert len(asked) >= limits.count(limit), (name, limit)
        found = re.findall(r'mthreads_gpu_(temperature_limit_celsius){limit="(\w+)"', looked_at)
        assert set(found) <= {row.series}, name
        doubled = re.findall(r"(?:ge \$value (\d+)\.0|else) }}(\d+)", rule["labels"].get("joined", ""))
        steps = [("64", "64"), ("32", "32"), ("16", "16"), ("8", "8"), ("", "4")]
        assert doubled == (steps if name == "MthreadsMoreHosts" else [])


# Problems that have another name: that of two alerts, or one by which others are inhibited
PROBLEMS = {
    "GpusUnexpected": "GpusMissing",
    "GpuMemoryFullForLong": "GpuMemoryFull",
    "FirmwareBad": "DriverFirmware",
    "ManyHosts": None,
    "MoreHosts": None,
    "JoinedManyHosts": None,
}


def test_a_problem_is_called_as_its_alert():
    for rule in (one for one in rules("rules.yml") if "alert" in one):
        name = rule["alert"][len("Mthreads") :]
        assert rule["alert"] == "Mthreads" + name and rule["labels"].get("problem") == PROBLEMS.get(name, name), name


@pytest.mark.parametrize("name", DASHBOARDS)
def test_cards_that_nobody_expects_are_not_missing(name):
    (missing,) = [panel for panel in board(name)["panels"] if panel["title"] == "GPUs missing"]
    assert re.match(r"clamp_min\(.*, 0\)$", missing["targets"][0]["expr"])


def test_the_overview_leads_to_the_host():
    """By the address of its dashboard, and the name of its variable."""
    links = re.findall(r'"url": "/d/([\w-]+)\?var-(\w+)=', read("overview.json"))
    host = board("host.json")
    assert links == [(host["uid"], host["templating"]["list"][-1]["name"])]
