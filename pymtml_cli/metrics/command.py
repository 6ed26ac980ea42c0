"""metrics: Prometheus' text, once, into a file for node_exporter, or served. docs/metrics.md has the series."""

import sys
import time

from pymtml_cli.common.errors import BAD_ARGUMENT, OTHER, CommandError, called
from pymtml_cli.common.text import safe
from pymtml_cli.health import health
from pymtml_cli.health.child import CHILD_OPTION
from pymtml_cli.health.lock import Lock
from pymtml_cli.metrics.collect import COUNTED, NAMED, NO_PROCESSES, Collector, Settings, answer, not_collected
from pymtml_cli.subcommands import argument_parser

INTERVAL, TIMEOUT, LONGEST_INTERVAL = 15, 10, 3600  # seconds


def parser():
    """What reads the arguments (argparse.ArgumentParser); shells complete from it, too."""
    parser = argument_parser("metrics")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--textfile", metavar="FILE", help="write FILE, which node_exporter reads, instead of stdout")
    where.add_argument(
        "--listen", metavar="[HOST:]PORT", help="serve /metrics (host 127.0.0.1 unless said otherwise; 0.0.0.0: all)"
    )
    text = "time from one collection to the next (--listen: default %d; --textfile: write once without it)" % INTERVAL
    parser.add_number("--interval", "SECONDS", 0.1, LONGEST_INTERVAL, text, whole=False)
    parser.add_number("--expect", "N", 0, health.MOST_CARDS, "how many cards there must be (default: at least one)")
    text = "time that the driver may take for a collection (default %d)" % TIMEOUT
    parser.add_number("--timeout", "SECONDS", 0.1, health.LONGEST_TIMEOUT, text, TIMEOUT, whole=False)
    parser.add_argument("--limits", metavar="FILE", help="limits of the checks, as pymtml health takes them")
    parser.add_argument("--skip", metavar="CHECKS", default="", help="checks to leave out, as pymtml health does")
    parser.add_argument(
        "--processes",
        choices=(NO_PROCESSES, COUNTED, NAMED),
        default=COUNTED,
        help="whether to look for processes, every 30 seconds at most, and to tell their names (default %s)" % COUNTED,
    )
    parser.add_argument("--certfile", metavar="FILE", help="serve by TLS, with this certificate")
    parser.add_argument("--keyfile", metavar="FILE", help="its key, where the file of the certificate has none")
    parser.add_argument(
        "--client-cafile", metavar="FILE", help="only clients with a certificate from these authorities"
    )
    parser.add_argument("--lock", metavar="FILE", help="file that keeps two runs apart (default: one for each user)")
    parser.epilog = "exit status: 0 also without a driver, which the page says; else the page was not written"
    return parser


def run(arguments):
    """Collect and write, or serve (exit status)."""
    if arguments[:1] == [CHILD_OPTION]:
        answer(arguments[1])
    options = parser().parse_args(arguments)
    _check(options)
    writer = _writer(options.expect)
    collector = Collector(_settings(options))
    try:
        if options.listen is not None:
            _serve(options, collector, writer)
        elif options.textfile is not None:
            _remember(options.textfile, collector)
            _write_file(options, collector, writer)
        else:
            _write_out(options, collector, writer)
    finally:
        collector.stop()
    return 0


def _check(options):
    """Refuse options that do not belong together."""
    for name in ("certfile", "keyfile", "client_cafile"):
        if getattr(options, name) is not None and options.listen is None:
            raise CommandError("--%s is for --listen" % name.replace("_", "-"), BAD_ARGUMENT)
    if options.certfile is None and (options.keyfile is not None or options.client_cafile is not None):
        raise CommandError("TLS needs --certfile", BAD_ARGUMENT)
    if options.interval is not None and options.listen is None and options.textfile is None:
        raise CommandError("--interval is for --listen and --textfile", BAD_ARGUMENT)


# ---- Ways to write it ----


def _write_out(options, collector, writer):
    """Print the page of one collection."""
    sys.stdout.write(writer.page(_collect_alone(options, collector)).decode("utf-8"))


def _write_file(options, collector, writer):
    """Write the file, once or again and again."""
    if not options.textfile.endswith(".prom"):
        _say("node_exporter reads files that end in .prom alone, and %s does not" % options.textfile)
    if options.interval is None:
        _replace(options.textfile, writer.page(_collect_alone(options, collector)))
        return
    _end_in_good_order()
    first = True
    for collection in _again_and_again(collector, options.interval):
        try:
            _replace(options.textfile, writer.page(collection))
        except CommandError as error:  # a full disk may have room again
            if first:
                raise
            _say(error.text)
        first = False


def _replace(path, text):
    from pymtml_cli.metrics.write import write

    try:
        write(path, text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError("cannot write %s: %s" % (path, reason), OTHER)


def _remember(path, collector):
    """Let what the file of before knew go on."""
    from pymtml_cli.metrics.write import earlier, read

    text = read(path)
    if text is not None:
        try:
            collector.remember(*earlier(text))
        except ValueError:
            _say("%s was no file of metrics: errors are counted from 0" % path)


def _serve(options, collector, writer):
    """Serve, and collect meanwhile."""
    from pymtml_cli.metrics import serve

    try:
        host, port = serve.address(options.listen)
    except ValueError as error:
        raise CommandError("--listen %s: %s" % (options.listen, error), BAD_ARGUMENT)
    tls = None
    if options.certfile is not None:
        tls = serve.tls_context(options.certfile, options.keyfile, options.client_cafile)
    server = serve.Server(host, port, tls)
    try:
        _end_in_good_order()
        for collection in _again_and_again(collector, options.interval or INTERVAL):
            server.page = serve.Page(writer.page(collection), writer.CONTENT_TYPE)
            if not server.serves:
                server.start()
                _say("listening on %s" % server.url)
    finally:
        server.server_close()


def _again_and_again(collector, interval):
    """A collection each some seconds, for ever (iterator); says when the driver goes and comes."""
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
    """One collection, while no other run collects: a hung driver must not gather a process with each round of cron."""
    lock = Lock(options.lock, "metrics")
    try:
        holder = lock.take(options.timeout)
        if holder is not None:
            return not_collected("another run%s has not ended within %g seconds" % (holder, options.timeout))
        collector.held = lock.descriptor
        return collector.collect()
    finally:
        lock.leave()
        if lock.failure:
            _say("%s: nothing keeps two runs apart" % lock.failure)


def _end_in_good_order():
    """Let SIGTERM end this process as Ctrl-C does, with exit status 0."""
    import signal

    def end(number, frame):
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)


def _say(text):
    sys.stderr.write("%s: %s\n" % (called(), safe(text)))
    sys.stderr.flush()


def _writer(expected):
    """What writes the text.

    Raises: CommandError where prometheus_client is missing.
    """
    try:
        from pymtml_cli.metrics.write import Writer
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "prometheus_client":
            raise
        text = "metrics needs the Python package prometheus_client: pip install 'pymtml-nvml[metrics]'"
        raise CommandError(text, OTHER)
    return Writer(expected)


def _settings(options):
    skipped = [name for name in options.skip.split(",") if name]
    unknown = sorted(set(skipped) - set(health.CHECKS[1:]))
    if unknown:
        raise CommandError("no check %r; there are %s" % (unknown[0], ", ".join(health.CHECKS[1:])), BAD_ARGUMENT)
    limits = health.read_limits(options.limits) if options.limits else {}
    names = [name for name in health.CHECKS[1:] if name not in skipped]
    return Settings(options.expect, options.timeout, limits, names, options.processes)
