"""The alerts of examples/fleet, played by promtool's clock."""

import os
import re

import pytest
from fleet_states import AFTER, FLEET, HOUR, MANY, MINUTE, SOUND, STATES, STEP, promtool, selectors
from program_set import PROMETHEUS

pytestmark = pytest.mark.programs

# Scrapes until an alert comes, where not at once
LATER = dict.fromkeys(("GpuClockLow", "GpuHung", "HostListedTwice", "GpusTooMany"), 10 * MINUTE)
LATER.update(DriverSlow=5 * MINUTE, HealthWarning=15 * MINUTE, GpuMemoryFullForLong=HOUR // 2, GpuIdleWithMemory=HOUR)
LOOKING_BACK = set("DriverFlapping GpuFlapping GpuEccCorrectedOften GpuRecovered HostFlapping GpusFlapping".split())
LOOKING_BACK |= {"GpuLinkFlapping", "GpuPcieReplays", "RulesFail"}  # for 15 minutes, or five
SILENCING = {"DriverDown": "hung", "CollectionStalled": "stalled"}  # and what ends at the same moment; the states
MANY_GET = {"DriverDown", "GpuHot"}  # for 12 hours; the cards of the first only follow


def expected(scrapes, lasts=lambda name: True):
    """What promtool is to expect of all alerts, so many scrapes after the states began."""
    samples = [
        {"labels": '{alertname="Mthreads%s", instance="%s"}' % (name, state.host), "value": count}
        for state in STATES
        for name, count in state.alerts.items()
        if scrapes > LATER.get(name, 0) and lasts(name)
    ]
    if 0 < scrapes < 12 * HOUR and lasts("ManyHosts"):
        samples.append({"labels": '{alertname="MthreadsManyHosts"}', "value": len(MANY_GET)})
    return samples


def asked(at, samples):
    """A question of a promtool test, so many scrapes after its beginning."""
    expression = 'count by (alertname, instance) (ALERTS{alertstate="firing"})'
    return {"expr": expression, "eval_time": "%ds" % (at * STEP), "exp_samples": samples}


def test_each_state_turns_red_within_two_minutes_and_back(tmp_path):
    PROMETHEUS.find("promtool")
    steps = 3 * MINUTE
    ended = SOUND + steps
    moments = [
        asked(SOUND - 1, []),
        asked(SOUND + 2 * MINUTE, expected(2 * MINUTE)),
        asked(ended - 1, expected(steps - 1)),
        asked(ended + 2 * MINUTE, expected(2 * MINUTE, LOOKING_BACK.__contains__)),
        asked(ended + 16 * MINUTE, []),
    ]
    ever = 'count by (alertname, instance) (last_over_time(ALERTS{alertstate="firing"}[1h]))'
    moments.append(dict(asked(ended + 16 * MINUTE, expected(steps)), expr=ever))
    # An alert that silences others outlasts them: they are evaluated up to 15 seconds apart.
    last = ['{alertname="Mthreads%s", instance="%s"}' % one for one in SILENCING.items()]
    last = asked(ended, [{"labels": one, "value": 1} for one in last])
    expression = 'count by (alertname, instance) (ALERTS{alertstate="firing",instance=~"%s"})'
    moments.append(dict(last, expr=expression % "|".join(SILENCING.values())))
    done = promtool(tmp_path, steps, "%ds" % STEP, {"promql_expr_test": moments})
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout


def test_no_alert_ages_out(tmp_path):
    """For 80 hours, looked at every two hours: promtool takes minutes for every 15 seconds.

    The one that looks at the past of a recorded series is not seen so.
    """
    PROMETHEUS.find("promtool")
    steps = 80 * HOUR
    lasting = expected(steps, lambda name: name != "GpusFlapping")
    moments = [asked(SOUND + steps - 1, lasting), asked(SOUND + steps + AFTER - 1, [])]
    done = promtool(tmp_path, steps, "2h", {"promql_expr_test": moments})
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout


def hour(usual, *others, at=100):
    """The values of an hour, of which some differ."""
    values = [str(usual)] * HOUR
    values[at : at + len(others)] = map(str, others)
    return " ".join(values)


def in_turn(first, second):
    """The values of two hours, the one and the other."""
    return " ".join([first] * HOUR + [second] * HOUR)


# What is no fault: a restart of the exporter, a card that a collection does not reach, MPC that is switched, jobs that
# begin and end, one reading of the limit, a query that fails once, errors that are corrected
QUIET = {
    "up": hour(1, 0),
    "GPU 0 up": hour(1, 0),
    "GPU 0 up instance_id=0": in_turn("1", "stale"),
    "GPU 1 utilization_ratio engine=gpu hpc_job=7": in_turn("0.99", "stale"),
    "GPU 1 memory_used_bytes hpc_job=7": in_turn("90", "stale"),
    "GPU 1 power_watts hpc_job=7": in_turn("800", "stale"),
    "GPU 1 utilization_ratio engine=gpu": in_turn("stale", "0"),
    "GPU 1 memory_used_bytes": in_turn("stale", "1"),
    "GPU 1 power_watts": in_turn("stale", "90"),
    "GPU 1 power_limit_watts hpc_job=7": in_turn("950", "stale"),
    "GPU 1 power_limit_watts": in_turn("stale", "950"),
    "GPU 1 pcie_generation": in_turn("5", "1"),
    "GPU 1 pcie_generation_max": "5",
    "GPU 1 fan_ratio fan=0": in_turn("0.6", "0"),
    "GPU 1 temperature_celsius sensor=gpu": hour(70, 95, at=32),
    "GPU 1 temperature_limit_celsius limit=slowdown": "95",
    "GPU 1 query_errors_total query=power code=Timeout": in_turn("1", "2"),
    "GPU 1 pcie_replays_total": "0+0.01",
    "GPU 1 ecc_errors_total kind=corrected scope=volatile": "0+0.1",
    "mthreads_health_status check=pcie": hour(0, 1, 1),
}


def test_nothing_is_said_of_a_quiet_day(tmp_path):
    """Nor is a card that was replaced at noon. Each event is at a full minute, when the rules are evaluated."""
    PROMETHEUS.find("promtool")
    (removed,) = (state for state in STATES if state.host == "removed")
    steps, half = 24 * HOUR, 12 * HOUR
    series = {one: ("1", "1") for one in removed.series if 'uuid="u1"' not in one}
    series["mthreads_collect_timestamp_seconds{}"] = "0+15", "300+15"
    series.update({one: ("_", value) for key, value in QUIET.items() for one in selectors(key)})
    for uuid, value in (("u1", "1x%d stale _x%d" % (half - 1, half - 1)), ("v1", "_x%d 1x%d" % (half, half - 1))):
        for name, more in (("up", ""), ("info", ',pci_bus_id="00000000:10:00.0",name="MTT S5000",serial="S%s"' % uuid)):
            series['mthreads_gpu_%s{gpu="1",uuid="%s"%s}' % (name, uuid, more)] = ("_", value)
    states = [removed._replace(host="quiet", series=series)]
    ever = dict(asked(SOUND + steps - 1, []), expr='last_over_time(ALERTS{alertstate="firing"}[24h])')
    done = promtool(tmp_path, steps, "1m", {"promql_expr_test": [ever]}, states)
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout


def test_what_follows_from_a_pending_alert_is_not_counted(tmp_path):
    """The queries of many lost cards fail before the cards are known to be lost: never a page of that."""
    PROMETHEUS.find("promtool")
    (lost,) = (state for state in STATES if state.host == "lost")
    states = [lost._replace(host="lost%d" % number, target={"job": "mthreads", "gpus": "2"}) for number in range(5)]
    many = [{"labels": '{problem="GpuDown"}', "value": 1}]
    moments = [
        {
            "expr": 'count by (problem) (ALERTS{alertname="MthreadsManyHosts"})',
            "eval_time": "%ds" % ((SOUND + scrapes) * STEP),
            "exp_samples": many if scrapes >= MINUTE - 1 else [],  # GpuDown is for 45 s
        }
        for scrapes in range(2 * MINUTE)
    ]
    done = promtool(tmp_path, 2 * MINUTE, "%ds" % STEP, {"promql_expr_test": moments}, states)
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout


def joined(late):
    """Six hosts whose driver hangs, and so many that get the same a minute later, and keep it."""
    states = [state for state in STATES if state.host in MANY["hung"]]
    steps = 10 * MINUTE
    hung = {selector: pair for selector, pair in states[0].series.items() if pair[0] != pair[1] and pair[1] == "0"}
    for number in range(late):
        later = {one: ("1", " ".join(["1"] * 2 * MINUTE + ["0"] * (steps - 2 * MINUTE))) for one in hung}
        states.append(states[0]._replace(host="late%d" % number, series=dict(states[0].series, **later)))
    return states, steps


@pytest.mark.parametrize("late", [1, 4])
def test_who_joins_many_hosts_is_paged(tmp_path, late):
    """By itself, five minutes after it began; four of them together. The first hosts are not reported again."""
    PROMETHEUS.find("promtool")
    states, steps = joined(late)
    own = ['{alertname="MthreadsJoinedManyHosts", instance="late0", problem="DriverDown"}'] if late == 1 else []
    together = [] if late == 1 else ['{alertname="MthreadsMoreHosts", problem="DriverDown"}']
    moments = [
        {
            "expr": 'count by (alertname, instance, problem) (ALERTS{alertname=~".*(Joined|More).*",problem!~"Gpu.*"})',
            "eval_time": "%ds" % ((SOUND + scrapes) * STEP),
            "exp_samples": [{"labels": labels, "value": 1} for labels in wanted],
        }
        for scrapes, wanted in ((6 * MINUTE, []), (8 * MINUTE, own + together), (steps + 2 * MINUTE, []))
    ]
    done = promtool(tmp_path, steps, "%ds" % STEP, {"promql_expr_test": moments}, states)
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout


# What the rules of dcgm.rules.yml are made of
FOR_DCGM = ("utilization_ratio engine=gpu|memory|encoder|decoder", "memory_used_bytes", "memory_total_bytes")
FOR_DCGM += ("temperature_celsius sensor=gpu|memory", "power_watts", "clock_hertz clock=graphics|memory")
FOR_DCGM += ("pcie_replays_total", "ecc_errors_total kind=corrected|uncorrected scope=volatile|aggregate")
FOR_DCGM += ("retired_pages cause=single_bit|double_bit", "retired_pages_pending", "last_xid")


def test_names_of_dcgm_beside_a_host_that_is_two_targets(tmp_path):
    """With other labels, or exporters that do not know the same of a card: a rule that fails is empty for all."""
    PROMETHEUS.find("promtool")
    hosts = []
    for host, more, infos in (
        ("well", "", ["identity"]),
        ("twin", " gpus=2|8", ["identity gpus=2|8"]),
        ("second", "", ["identity", "info driver=5.2 name=MTT pci_bus_id=00000000:00:00.0"]),
    ):
        keys = ["GPU 0 %s%s" % (one, more) for one in FOR_DCGM] + ["GPU 0 " + one for one in infos]
        series = {selector: ("7" if "xid" in key else "1",) * 2 for key in keys for selector in selectors(key)}
        hosts.append(STATES[0]._replace(host=host, series=series, target={"job": "mthreads"}))
    with open(os.path.join(FLEET, "dcgm.rules.yml"), encoding="utf-8") as file:
        names = len(re.findall("record: DCGM", file.read()))
    counts = {"well": names, "twin": 2 * names, "second": names}
    samples = [{"labels": '{instance="%s"}' % host, "value": count} for host, count in counts.items()]
    asked = {"expr": 'count by (instance) ({__name__=~"DCGM.+"})', "eval_time": "5m", "exp_samples": samples}
    xids = dict(asked, expr="count(DCGM_FI_DEV_XID_ERRORS == 7)", exp_samples=[{"labels": "{}", "value": 4}])
    done = promtool(tmp_path, MINUTE, "15s", {"promql_expr_test": [asked, xids]}, hosts, "dcgm.rules.yml")
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout
