"""metrics: Prometheus' text, printed, written to a file for node_exporter, or served. docs/metrics.md has the series.

prometheus_client is imported only where a page is made or read: the collecting child does not need it.
"""

import os
import sys
import time
from functools import partial
from types import SimpleNamespace

import pymtml
from pymtml_cli.arguments import argument_parser
from pymtml_cli.common.errors import OTHER, CommandError, called
from pymtml_cli.common.files import open_regular, read, replace_file
from pymtml_cli.common.text import safe
from pymtml_cli.health import health
from pymtml_cli.health.child import LONGEST_TIMEOUT, answer_parent
from pymtml_cli.health.lock import Lock
from pymtml_cli.metrics.collect import COUNTED, NAMED, NO_PROCESSES, OWNED, Collector, Settings, answer, not_collected
from pymtml_cli.metrics.series import (
    CARD_SERIES,
    JOB_LABELS,
    MACHINE_SERIES,
    OF_CARD,
    OF_MACHINE,
    OF_NO_JOB,
    TOTAL,
    XID_LABELS,
)

INTERVAL, TIMEOUT, LONGEST_INTERVAL = 15, 10, 3600  # seconds
LONGEST_PAGE = 1 << 24  # characters of a page that is read back
LONGEST_JOBS, MOST_JOBS = 1 << 16, 16  # bytes of a file of jobs, and jobs on a card
INFO_LABELS = CARD_SERIES["info"][0]
_BOOT = b"# boot %s\n"  # the last line of a page that is kept


def parser():
    parser = argument_parser("metrics")
    where = parser.add_mutually_exclusive_group()
    parser.add_file("--textfile", "write FILE for node_exporter instead of printing", where)
    text = "serve /metrics (default host: 127.0.0.1; 0.0.0.0: all addresses)"
    where.add_argument("--listen", metavar="[HOST:]PORT", help=text)
    text = (
        "seconds from one collection to the next (--listen: default %d; --textfile: write once without it)" % INTERVAL
    )
    parser.add_number("--interval", "SECONDS", 0.1, LONGEST_INTERVAL, text, whole=False)
    parser.add_number("--expect", "N", 0, health.MOST_CARDS, health.EXPECT)
    text = "seconds that the driver may take for a collection (default %d)" % TIMEOUT
    parser.add_number("--timeout", "SECONDS", 0.1, LONGEST_TIMEOUT, text, TIMEOUT, whole=False)
    parser.add_file("--limits", "limits of the checks, as for pymtml health")
    parser.add_list(
        "--skip", health.CHECKS[1:], metavar="CHECKS", default="", help="checks to leave out, as for pymtml health"
    )
    text = "what to report of processes, every 30 seconds at most: nothing, their number, that of each pod, container"
    text += " and job, or also their names (default %s)" % COUNTED
    parser.add_argument("--processes", choices=(NO_PROCESSES, COUNTED, OWNED, NAMED), default=COUNTED, help=text)
    text = "folder with a file for each card, named by its index: the jobs on it, one per line, or job user partition"
    parser.add_argument("--hpc-job-dir", metavar="DIR", help=text)
    parser.add_file("--certfile", "serve by TLS, with this certificate")
    parser.add_file("--keyfile", "its key, if the file of the certificate has none")
    parser.add_file("--client-cafile", "only clients with a certificate from these authorities")
    parser.add_file("--lock", "lock file, which allows one run at a time (default: one per user)")
    text = "file that keeps the names of lost cards over a restart (default: in $STATE_DIRECTORY, which systemd sets)"
    parser.add_file("--state", text)
    parser.epilog = "exit status: 0, also without a driver, which the page reports; otherwise no page was written"
    return parser


def run(arguments):
    """Collect and write, or serve (exit status)."""
    answer_parent(arguments, answer)
    options = parser().parse_args(arguments)
    _check(options)
    _check_library()
    written = partial(page, expected=options.expect, job_folder=options.hpc_job_dir)
    limits, names = health.chosen(options)
    collector = Collector(Settings(options.expect, options.timeout, limits, names[1:], options.processes))
    try:
        if options.listen is not None:
            _serve(options, collector, written)
        elif options.textfile is not None:
            collector.known, collector.errors = _earlier(options.textfile)
            _write_file(options, collector, written)
        else:
            sys.stdout.buffer.write(written(_collect_alone(options, collector)))  # UTF-8 in any locale
    finally:
        collector.stop()
    return 0


def _check(options):
    """Refuse options that do not belong together."""
    of_tls = [name for name in ("certfile", "keyfile", "client_cafile") if getattr(options, name) is not None]
    if of_tls and options.listen is None:
        raise CommandError("--%s is for --listen" % of_tls[0].replace("_", "-"))
    if of_tls and options.certfile is None:
        raise CommandError("TLS needs --certfile")
    for name, served in (("state", True), ("lock", False)):
        if getattr(options, name) is not None and (options.listen is not None) != served:
            raise CommandError("--%s is %s --listen" % (name, "for" if served else "not for"))
    if options.interval is not None and options.listen is None and options.textfile is None:
        raise CommandError("--interval is for --listen and --textfile")
    if options.hpc_job_dir is not None and not os.path.isdir(options.hpc_job_dir):
        raise CommandError("--hpc-job-dir %s is not a folder" % options.hpc_job_dir)


# ---- Ways to write it ----


def _write_file(options, collector, written):
    if not options.textfile.endswith(".prom"):
        _say("node_exporter only reads files that end in .prom, but %s does not" % options.textfile)
    if options.interval is None:
        replace_file(options.textfile, written(_collect_alone(options, collector)) + _BOOT % boot())
        return
    _end_in_good_order()
    for number, collection in enumerate(_again_and_again(collector, options.interval)):
        try:
            replace_file(options.textfile, written(collection) + _BOOT % boot())
        except CommandError as error:  # a full disk may have room again
            if not number:
                raise
            _say(error.text)


def _serve(options, collector, written):
    from pymtml_cli.metrics import serve

    try:
        host, port = serve.address(options.listen)
    except ValueError as error:
        raise CommandError("--listen %s: %s" % (options.listen, error))
    files = options.certfile, options.keyfile, options.client_cafile
    state, kept = _state(options), {}
    if state is not None:
        collector.known, _ = _earlier(state)
    server = serve.Server(host, port, None if options.certfile is None else serve.tls_context(*files))
    try:
        _end_in_good_order()
        for collection in _again_and_again(collector, options.interval or INTERVAL):
            text = written(collection)
            server.page = serve.Page(text, CONTENT_TYPE)
            if state is not None and collector.known != kept:
                kept = collector.known
                try:
                    replace_file(state, text + _BOOT % boot())
                except CommandError as error:
                    _say(error.text)
            if not server.serves:
                try:
                    server.start()
                except RuntimeError as error:
                    raise CommandError("cannot serve: %s" % error)
                _say("listening on %s" % server.url)
    finally:
        server.server_close()


def _state(options):
    """The path of the file that keeps identities over a restart of what serves, or None."""
    folder = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    return options.state or (os.path.join(folder, "metrics.prom") if folder else None)


def _earlier(path):
    """What `earlier` finds in a file that may hold anything."""
    try:
        return earlier(read(path, LONGEST_PAGE), boot())
    except Exception:  # the parser may raise anything
        _say("%s was not a file of metrics: errors are counted from 0" % path)
        return {}, {}


def _again_and_again(collector, interval):
    """A collection every ``interval`` seconds, forever (iterator); reports when the driver goes down or up."""
    due, before = time.monotonic(), None
    while True:
        collection = collector.collect()
        yield collection
        if collection.failure != before:
            before = collection.failure
            _say("the driver is up again" if before is None else "the driver is not up: %s" % before)
        due = max(due + interval, time.monotonic())
        time.sleep(max(0, due - time.monotonic()))


def _collect_alone(options, collector):
    """One collection, while no other run collects: with a hung driver, each round of cron would leave a process."""
    lock = Lock(options.lock, "metrics")
    try:
        holder = lock.take(options.timeout)
        if holder is not None:
            return not_collected("another run%s has not ended within %g seconds" % (holder, options.timeout))
        collector.held = lock.descriptor
        collection = collector.collect()
        if collector.unstarted:
            raise CommandError(collector.unstarted)
        return collection
    finally:
        lock.leave()
        if lock.failure:
            _say("%s: two runs may overlap" % lock.failure)


def _end_in_good_order():
    """Let SIGTERM end this process as Ctrl-C does, with exit status 0."""
    import signal

    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))


def _say(text):
    sys.stderr.write("%s: %s\n" % (called(), safe(text)))
    sys.stderr.flush()


def _check_library():
    """Raise CommandError if prometheus_client, which makes the page, is missing."""
    try:
        import prometheus_client.core  # noqa: F401
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "prometheus_client":
            raise
        how = "`pip install prometheus_client` in pymtml's environment, or `pipx inject pymtml-nvml prometheus_client`"
        raise CommandError("metrics needs the Python package prometheus_client: " + how, OTHER)


# ---- The page ----


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def page(collection, expected=None, job_folder=None):
    """The page of a collection (bytes)."""
    from prometheus_client import generate_latest

    families = _families(collection, expected, job_folder)
    text = generate_latest(SimpleNamespace(collect=lambda: families))
    failure = collection.failure
    return text + (b"" if failure is None else ("# The driver is not up: %s\n" % safe(failure)).encode("utf-8"))


def _families(collection, expected, job_folder):
    """The families of a collection that have samples (list of Metric)."""
    from prometheus_client.core import Metric

    families = {}
    for prefix, table in ((OF_MACHINE, MACHINE_SERIES), (OF_CARD, CARD_SERIES)):
        for name, (_, text) in table.items():
            # The name of a counter's family lacks the suffix of its samples.
            family = name[: -len(TOTAL)] if name.endswith(TOTAL) else name
            families[prefix + name] = Metric(prefix + family, text, "gauge" if family == name else "counter")
    _add(families, OF_MACHINE + "driver_up", {}, int(collection.failure is None))
    _add(families, OF_MACHINE + "gpus", {}, collection.count)
    _add(families, OF_MACHINE + "gpus_expected", {}, expected)
    _add(families, OF_MACHINE + "collect_timestamp_seconds", {}, collection.time)
    _add(families, OF_MACHINE + "collect_duration_seconds", {}, collection.duration)
    for check, level in collection.status.items():
        _add(families, OF_MACHINE + "health_status", {"check": check}, level)
    for card in collection.cards:
        for device in (card, *card["parts"]):
            place = _place(card["gpu"], device)
            name = ".".join(place[label] for label in ("gpu", "instance_id") if label in place)
            _device(families, device, place, [] if job_folder is None else jobs(job_folder, name))
        for (query, code), number in collection.errors.get((card["gpu"], card["uuid"]), {}).items():
            labels = dict(_place(card["gpu"], card), query=query, code=code)
            _add(families, OF_CARD + "query_errors_total", labels, number)
        for values, number in collection.xids.get((card["gpu"], card["uuid"]), {}).items():
            labels = dict(_place(card["gpu"], card), **dict(zip(XID_LABELS, values)))
            _add(families, OF_CARD + "xid_errors_total", labels, number)
    return [family for family in families.values() if family.samples]


def _add(families, name, labels, value):
    """Add a sample, unless the value is None."""
    if value is not None:
        families[name].add_sample(name, labels, value)


def _place(gpu, device):
    """Labels of a card or of a part of it; only a part has an instance_id."""
    labels = {"gpu": str(gpu), "uuid": device["uuid"], "instance_id": device.get("instance_id")}
    return {label: text for label, text in labels.items() if text}


def _device(families, device, place, jobs):
    """Add the series of a card or a part of it; the values once for each job on it."""
    known = {label: text for label, text in zip(INFO_LABELS, device["info"]) if text}
    if known:
        _add(families, OF_CARD + "info", dict(place, **known), 1)
    _add(families, OF_CARD + "up", place, int(device["up"]))
    for job in jobs:
        if len(job) == len(JOB_LABELS):
            _add(families, OF_CARD + "job_info", dict(place, **dict(zip(JOB_LABELS, job))), 1)
    places = [dict(place, hpc_job=job[0]) for job in jobs] or [place]
    for series, labels, value in device["values"]:
        own = {label: text for label, text in zip(CARD_SERIES[series][0], labels) if text} if labels else None
        for one in places if series not in OF_NO_JOB else (place,):
            _add(families, OF_CARD + series, dict(one, **own) if own else one, value)


def jobs(folder, name):
    """The jobs on a card or an instance of it, from the file that a scheduler's prolog writes (list).

    Of a line `job user partition` these three, else the line as a tuple of one. A job comes once.
    """
    found = {}
    for line in read(os.path.join(folder, name), LONGEST_JOBS, open_regular).split("\n"):  # a link may lead anywhere
        parts = tuple(map(safe, line.split()))
        job = parts if len(parts) == len(JOB_LABELS) else (safe(line.strip()),)
        if job[0] and "\ufffd" not in line:  # which stands for bytes that are no text
            found.setdefault(job[0], job)
    return list(found.values())[:MOST_JOBS]


def boot():
    """What tells this boot of the machine from others (bytes); empty if that is not known."""
    return read(os.path.join(pymtml._proc_root(), "sys/kernel/random/boot_id")).strip().encode()


def earlier(text, this_boot):
    """Identities by gpu, and counts of errors by gpu and uuid, from the page of an earlier process; ValueError.

    Cards may have been exchanged while the machine was off: an identity of another boot is none.
    """
    from prometheus_client.parser import text_string_to_metric_families

    known, errors = {}, {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = sample.labels
            if "instance_id" in labels or not labels.get("gpu", "").isdigit():
                continue
            gpu, uuid = int(labels["gpu"]), labels.get("uuid", "")
            if sample.name == OF_CARD + "info":
                known[gpu] = [uuid, [labels.get(name, "") for name in INFO_LABELS]]
            elif sample.name == OF_CARD + "query_errors_total":
                key = labels.get("query", ""), labels.get("code", "")
                errors.setdefault((gpu, uuid), {})[key] = int(sample.value)
    return known if this_boot and (_BOOT % this_boot).decode() in text.splitlines(True) else {}, errors
