"""Writes the dashboards of examples/fleet from the tables below: panels as data, places and the rest by rule."""

import functools

from generated import json_text

COLUMNS = 24  # of Grafana's grid
REFRESH = "30s"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Points of a curve: what keeps the answers of a page small, whatever the time that it shows
POINTS = 60

# The targets that rules.yml watches
JOB, LABELED = 'job=~"mthreads.*"', 'gpus!=""'
WHOLE = 'instance_id=""'  # whole cards, not their instances
EXPECTED_COUNTS = range(1, 17)  # cards that a host may be expected to have, by the label `gpus` of its target

RED_ABOVE_0 = (("green", None), ("red", 1))
TEMPERATURE = (("green", None), ("orange", 80), ("red", 90))


def targets(more="", compared=""):
    """The targets, those of one host or those whose `up` compares so."""
    return "(%s)" % " or ".join("up{%s%s}%s" % (chosen, more, compared) for chosen in (JOB, LABELED))


def one_of(*parts):
    """Queries joined, each with the label `why`: ((query, value to add, why) ...)."""
    texts = ['label_replace(%s + %d, "why", "%s", "", "")' % (query, rank, why) for query, rank, why in parts]
    return " or ".join(texts)


def expected(more=""):
    """How many cards there are to be. The label has a number as text; each that there may be is asked for."""
    return "sum(%s)" % " or ".join('up{gpus="%d"%s} * 0 + %d' % (count, more, count) for count in EXPECTED_COUNTS)


REPORTING = "count(mthreads_gpu_up{%s} == 1)" % WHOLE
# What rules.yml records: the past of a fleet costs a page what the past of one card would.
FLEET_OF, RECORDED = "mthreads_fleet:%s", "Recorded by rules.yml: empty without it"
STALLED = "changes(mthreads_collect_timestamp_seconds[1m]) == 0"

WORST = "topk(30, %s)" % one_of(
    ("max by (instance) %s" % targets(compared=" == 0"), 100, "the host or its exporter is down"),
    ("max by (instance) (%s)" % STALLED, 90, "nothing is collected any more"),
    (
        "max by (instance) (%s unless on (instance) mthreads_driver_up)" % targets(compared=" == 1"),
        84,
        "it answers, and has no series of pymtml",
    ),
    ("max by (instance) (mthreads_driver_up == 0)", 80, "the driver does not answer"),
    (
        "max by (instance) (mthreads_driver_up == 1 and on (job, instance) (up{%s} unless on (job, instance, gpus) "
        'count_values by (job, instance) ("gpus", count by (job, instance) (mthreads_gpu_up{%s}))))' % (LABELED, WHOLE),
        70,
        "fewer or more cards than the label gpus of the target",
    ),
    ("count by (instance) (mthreads_gpu_up{%s} == 0)" % WHOLE, 60, "cards do not answer"),
    (
        'count by (instance) (mthreads_gpu_xid_records{severity="fatal",scope!="process"} > 0)',
        50,
        "cards with fatal XIDs",
    ),
    (
        'count by (instance) (mthreads_gpu_ecc_errors_total{kind="uncorrected",scope="volatile"} > 0)',
        40,
        "cards with uncorrected memory errors",
    ),
    ('count by (instance) (mthreads_gpu_mtlinks{state!="up"} > 0)', 30, "cards with links down or downgraded"),
    ("count by (instance) (mthreads_health_status == 2)", 20, "other checks of health are CRITICAL"),
    ("count by (instance) (mthreads_health_status == 1)", 0, "checks of health are a WARNING"),
)


def per_card(metric, *matchers):
    """A series of whole cards of the whole fleet."""
    return "%s{%s}" % (metric, ",".join(matchers + (WHOLE,)))


def of_host(metric, *matchers):
    """A series of the chosen host's whole cards."""
    return "%s{%s}" % (metric, ",".join(('instance="$host"', WHOLE) + matchers))


USED_SHARE = "%s / %s" % (per_card("mthreads_gpu_memory_used_bytes"), per_card("mthreads_gpu_memory_total_bytes"))
TEN = "topk(10, max by (instance, gpu, uuid) (%s))"
CARD, GPU = "{{instance}} GPU {{gpu}}", "GPU {{gpu}}"

# Without what only follows from the state of the whole host
CAUSES = 'ALERTS{alertstate="firing",problem=~"(Host|Driver)(Down|Flapping)|NothingCollected|CollectionStalled"}'


def firing(labels, *matchers):
    """Alerts that fire, by some labels and with their number."""
    alerts = 'ALERTS{%s,problem%%s"Gpu.+"}' % ",".join(('alertname=~"Mthreads.+"', 'alertstate="firing"') + matchers)
    of_cards = "(%s unless on (job, instance) %s)" % (alerts % "=~", CAUSES)
    return "count by (%s) (%s or %s)" % (labels, alerts % "!~", of_cards)


FIRING = "severity, instance, gpu, alertname"


def stat(title, query, width=3, unit="none", **more):
    """A panel with one number."""
    return "stat", title, width, 4, unit, [(query, "")], more


def chart(kind, title, size, queries, unit="none", **more):
    """A panel of another kind: its width and height; a query, or several with their legends."""
    return kind, title, size[0], size[1], unit, [(queries, "")] if isinstance(queries, str) else queries, more


def curves(title, metric, *matchers, size=(12, 8), label="", **more):
    """A curve of a series for each whole card of the chosen host."""
    return chart("timeseries", title, size, [(of_host(metric, *matchers), GPU + label)], **more)


# Rows fill from the left.
OVERVIEW = (
    stat("GPUs expected", expected(), text="Sum of the label gpus of the targets"),
    stat("GPUs reporting", REPORTING + " or vector(0)"),
    stat(
        "GPUs silent",
        "count(mthreads_gpu_up{%s} == 0) or vector(0)" % WHOLE,
        steps=RED_ABOVE_0,
        text="Cards that were there and do not answer",
    ),
    stat(
        "GPUs missing",
        "clamp_min(%s - (%s or vector(0)), 0)" % (expected(), REPORTING),
        steps=RED_ABOVE_0,
        text="Expected and not reporting, hosts that are down included",
    ),
    stat("Hosts up", "count%s or vector(0)" % targets(compared=" == 1")),
    stat("Hosts down", "count%s or vector(0)" % targets(compared=" == 0"), steps=RED_ABOVE_0),
    stat(
        "Stalled",
        "count(%s) or vector(0)" % STALLED,
        steps=RED_ABOVE_0,
        text="Hosts that answer, and collect nothing any more",
    ),
    stat(
        "Drivers down",
        "count(mthreads_driver_up == 0) or vector(0)",
        steps=RED_ABOVE_0,
        text="No driver, or one that hangs",
    ),
    chart(
        "table",
        "Firing alerts",
        (8, 8),
        "topk(30, %s) or topk(10, %s)"
        % (firing(FIRING, 'severity="critical"'), firing(FIRING, 'severity!="critical"')),
        text="At most 30 critical lines and 10 others; empty without rules.yml, which Worst hosts does not need",
    ),
    chart(
        "table",
        "Worst hosts",
        (16, 8),
        WORST,
        link="instance",
        text="The worst first, at most 30 lines; a click on a host leads to its dashboard",
    ),
    chart(
        "timeseries",
        "Mean utilization, memory in use",
        (8, 7),
        [
            (FLEET_OF % "gpu_utilization_ratio:avg", "utilization"),
            (FLEET_OF % "gpu_memory_used_bytes:sum" + " / " + FLEET_OF % "gpu_memory_total_bytes:sum", "memory"),
        ],
        unit="percentunit",
        text=RECORDED,
    ),
    chart(
        "timeseries",
        "GPUs reporting and expected",
        (8, 7),
        [(FLEET_OF % "gpus_up:count", "reporting"), (FLEET_OF % "gpus_expected:sum", "expected")],
        text=RECORDED,
    ),
    chart("timeseries", "Power", (8, 7), [(FLEET_OF % "gpu_power_watts:sum", "all GPUs")], unit="watt", text=RECORDED),
    *[
        chart("heatmap", title, (8, 8), [(FLEET_OF % series, "{{%s}}" % label)], text=RECORDED)
        for title, series, label in (
            ("GPUs by utilization (%)", "gpu_utilization:count", "percent"),
            ("GPUs by memory in use (%)", "gpu_memory_used:count", "percent"),
            ("GPUs by temperature (C)", "gpu_temperature:count", "celsius"),
        )
    ],
    chart(
        "bargauge",
        "Ten hottest",
        (8, 10),
        [(TEN % per_card("mthreads_gpu_temperature_celsius", 'sensor="gpu"'), CARD)],
        unit="celsius",
        steps=TEMPERATURE,
    ),
    chart("bargauge", "Ten fullest memories", (8, 10), [(TEN % USED_SHARE, CARD)], unit="percentunit"),
    chart(
        "bargauge",
        "Ten that hold memory and do nothing",
        (8, 10),
        [
            (
                TEN
                % (
                    "(%s > 0.5) and ignoring (engine) (%s == 0)"
                    % (USED_SHARE, per_card("mthreads_gpu_utilization_ratio", 'engine="gpu"'))
                ),
                CARD,
            )
        ],
        unit="percentunit",
        text="More than half of the memory in use at a utilization of 0",
    ),
)

THE_HOST = ',instance="$host"'
SOME_CARDS = "count(%s == %d) or on () max%s * 0"
HOST = (
    stat("Host", "max%s" % targets(THE_HOST), names={0: "down", 1: "up"}),
    stat("Driver", 'mthreads_driver_up{instance="$host"}', names={0: "does not answer", 1: "answers"}),
    stat(
        "Collections in the last minute",
        'changes(mthreads_collect_timestamp_seconds{instance="$host"}[1m])',
        width=4,
        steps=(("red", None), ("green", 1)),
        text="0: nothing is collected any more",
    ),
    stat(
        "GPUs reporting",
        SOME_CARDS % (of_host("mthreads_gpu_up"), 1, targets(THE_HOST)),
        steps=(("red", None), ("green", 1)),
    ),
    stat(
        "GPUs silent",
        SOME_CARDS % (of_host("mthreads_gpu_up"), 0, targets(THE_HOST)),
        steps=RED_ABOVE_0,
        text="Cards that were there and do not answer",
    ),
    stat(
        "GPUs missing",
        'clamp_min((%s or on () max(mthreads_gpus_expected{instance="$host"})) - on () (%s), 0)'
        % (expected(THE_HOST), SOME_CARDS % (of_host("mthreads_gpu_up"), 1, targets(THE_HOST))),
        width=4,
        steps=RED_ABOVE_0,
        text="Expected by the label gpus or --expect, and not reporting",
    ),
    stat("A collection takes", 'mthreads_collect_duration_seconds{instance="$host"}', width=4, unit="s"),
    chart("table", "Firing alerts", (8, 8), firing("severity, gpu, alertname", 'instance="$host"')),
    chart(
        "table",
        "Links that are not up",
        (8, 8),
        'max by (gpu, link, peer, state) (mthreads_gpu_mtlink_not_up{instance="$host"})',
        text="peer: the GPU at the other end",
    ),
    chart(
        "table",
        "Health",
        (8, 8),
        'sort_desc(mthreads_health_status{instance="$host"})',
        names={0: "well", 1: "WARNING", 2: "CRITICAL"},
    ),
    chart(
        "table",
        "Queries that failed in the last hour",
        (8, 8),
        'sum by (gpu, query, code) (increase(mthreads_gpu_query_errors_total{instance="$host"}[1h])) > 0',
    ),
    chart(
        "table",
        "XIDs",
        (8, 8),
        'sum by (gpu, xid, name, severity, scope) (max without (hpc_job) (mthreads_gpu_xid_records{instance="$host"}))',
        text="That are fresh, by the limit xid-hours of pymtml health",
    ),
    chart("state-timeline", "GPUs answer", (8, 8), [(of_host("mthreads_gpu_up"), GPU)], names={0: "no", 1: "yes"}),
    curves("Utilization", "mthreads_gpu_utilization_ratio", 'engine="gpu"', unit="percentunit"),
    chart(
        "timeseries",
        "Memory in use",
        (12, 8),
        [("%s / %s" % (of_host("mthreads_gpu_memory_used_bytes"), of_host("mthreads_gpu_memory_total_bytes")), GPU)],
        unit="percentunit",
    ),
    chart(
        "timeseries",
        "Temperature",
        (12, 8),
        [
            (of_host("mthreads_gpu_temperature_celsius", 'sensor="gpu"'), GPU),
            ("min(%s)" % of_host("mthreads_gpu_temperature_limit_celsius", 'limit="slowdown"'), "slows down"),
        ],
        unit="celsius",
    ),
    curves("Temperature of the memory", "mthreads_gpu_temperature_celsius", 'sensor="memory"', unit="celsius"),
    chart(
        "timeseries",
        "Power",
        (12, 8),
        [(of_host("mthreads_gpu_power_watts"), GPU), ("max(%s)" % of_host("mthreads_gpu_power_limit_watts"), "limit")],
        unit="watt",
    ),
    curves("Clock of the GPU", "mthreads_gpu_clock_hertz", 'clock="graphics"', unit="hertz"),
    curves("MtLinks that are not up", "mthreads_gpu_mtlinks", 'state!="up"', size=(8, 7), label=" {{state}}"),
    curves(
        "Memory errors since the driver was loaded",
        "mthreads_gpu_ecc_errors_total",
        'scope="volatile"',
        size=(8, 7),
        label=" {{kind}}",
    ),
    chart(
        "timeseries",
        "PCIe lanes",
        (8, 7),
        [
            (of_host("mthreads_gpu_pcie_width"), GPU),
            ("max(%s)" % of_host("mthreads_gpu_pcie_width_max"), "of the card"),
        ],
    ),
    chart(
        "timeseries",
        "Utilization of instances",
        (12, 7),
        [
            (
                'mthreads_gpu_utilization_ratio{instance="$host",instance_id!="",engine="gpu"}',
                GPU + " instance {{instance_id}}",
            )
        ],
        unit="percentunit",
        text="MPC instances and virtual devices, below their card",
    ),
    curves("Processes", "mthreads_gpu_processes", size=(12, 7)),
    chart("table", "Cards", (24, 8), 'sort(mthreads_gpu_info{instance="$host"})'),
)


def variable(name, label, query, extra):
    """A menu at the top of a dashboard."""
    return dict({"name": name, "label": label, "query": query}, **extra)


DATASOURCE = variable("datasource", "Data source", "prometheus", {"type": "datasource"})
CHOICE = variable(
    "host",
    "Host",
    "query_result(max by (instance) %s)" % targets(),
    {
        "type": "query",
        "regex": '/instance="([^"]+)"/',
        "datasource": SOURCE,
        "refresh": 2,
        "sort": 3,
        "includeAll": False,
        "multi": False,
    },
)

DASHBOARDS = {
    "overview.json": ("mthreads-fleet", "Moore Threads GPUs: the fleet", OVERVIEW, [DATASOURCE]),
    "host.json": ("mthreads-host", "Moore Threads GPUs: a host", HOST, [DATASOURCE, CHOICE]),
}
INSTANT = ("stat", "table", "bargauge")

# What each type of panel is told beside its queries
OPTIONS = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "none"},
    "timeseries": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
    "table": {"showHeader": True},
    "bargauge": {"reduceOptions": {"calcs": ["lastNotNull"]}, "orientation": "horizontal", "displayMode": "basic"},
    "heatmap": {
        "calculate": False,
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 32},
        "cellGap": 1,
        "yAxis": {"axisPlacement": "left"},
    },
    "state-timeline": {"mergeValues": True, "showValue": "never", "rowHeight": 0.9},
}


def target(number, panel_type, query, legend):
    """A query of a panel."""
    result = {"refId": chr(ord("A") + number), "datasource": SOURCE, "expr": query, "legendFormat": legend}
    if panel_type in INSTANT:
        result.update(instant=True, range=False)
    else:
        result.update(instant=False, range=True)
    result["format"] = "table" if panel_type == "table" else "time_series"
    return result


def panel(number, place, entry):
    """A panel of a dashboard."""
    panel_type, title, _, _, unit, queries, more = entry
    steps = more.get("steps", (("green", None),))
    defaults = {
        "unit": unit,
        "thresholds": {"mode": "absolute", "steps": [{"color": color, "value": value} for color, value in steps]},
    }
    if unit == "percentunit":
        defaults.update(min=0, max=1)
    if "names" in more:
        options = {str(value): {"text": text, "index": value} for value, text in more["names"].items()}
        defaults["mappings"] = [{"type": "value", "options": options}]
    result = {
        "id": number,
        "type": panel_type,
        "title": title,
        "datasource": SOURCE,
        "gridPos": place,
        "maxDataPoints": POINTS,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": OPTIONS[panel_type],
        "targets": [target(index, panel_type, *query) for index, query in enumerate(queries)],
    }
    if "text" in more:
        result["description"] = more["text"]
    if panel_type == "table":
        hidden = {"Time": True, "__name__": True, "job": True, "gpus": True}
        names = {"Value": "rank" if "link" in more else "number"}
        organize = {"excludeByName": hidden, "renameByName": names, "indexByName": {}}
        result["transformations"] = [{"id": "organize", "options": organize}]
    if "link" in more:
        link = {"title": "The host", "url": "/d/mthreads-host?var-host=${__data.fields.instance}"}
        result["fieldConfig"]["overrides"] = [
            {"matcher": {"id": "byName", "options": more["link"]}, "properties": [{"id": "links", "value": [link]}]}
        ]
    return result


def places(entries):
    """Where each panel stands: from the left, in rows as high as their highest panel."""
    x = y = height = 0
    for _, _, wide, high, _, _, _ in entries:
        if x + wide > COLUMNS:
            x, y, height = 0, y + height, 0
        yield {"x": x, "y": y, "w": wide, "h": high}
        x, height = x + wide, max(height, high)


def dashboard(name, old):
    """The text of a dashboard's file."""
    uid, title, entries, variables = DASHBOARDS[name]
    board = {
        "uid": uid,
        "title": title,
        "tags": ["gpu", "mthreads"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": REFRESH,
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": variables},
        "links": [
            {"title": "GPUs", "type": "dashboards", "tags": ["mthreads"], "asDropdown": True, "includeVars": True}
        ],
        "panels": [
            panel(number, place, entry) for number, (place, entry) in enumerate(zip(places(entries), entries), 1)
        ],
    }
    return json_text(board, deep=2)


FILES = {"examples/fleet/%s" % name: functools.partial(dashboard, name) for name in DASHBOARDS}
