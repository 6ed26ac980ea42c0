"""metrics: Prometheus' text, once, into a file for node_exporter, or served. docs/metrics.md has the series."""

import sys

from pymtml_cli import health
from pymtml_cli.errors import BAD_ARGUMENT, OTHER, CommandError
from pymtml_cli.metrics_child import COUNTED, NAMED, NO_PROCESSES
from pymtml_cli.metrics_collector import Collector, Settings
from pymtml_cli.subcommands import argument_parser, argument_type

INTERVAL, TIMEOUT = 15, 10  # seconds


def parser():
    """What reads the arguments (argparse.ArgumentParser); shells complete from it, too."""
    parser = argument_parser("metrics")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--textfile", metavar="FILE", help="write FILE, which node_exporter reads, instead of stdout")
    parser.add_argument(
        "--expect",
        type=argument_type(0, health.MOST_CARDS),
        metavar="N",
        help="how many cards there must be (default: at least one)",
    )
    parser.add_argument(
        "--timeout",
        type=argument_type(0.1, health.LONGEST_TIMEOUT, whole=False),
        default=TIMEOUT,
        metavar="SECONDS",
        help="time that the driver may take for a collection (default %d)" % TIMEOUT,
    )
    parser.add_argument("--limits", metavar="FILE", help="limits of the checks, as pymtml health takes them")
    parser.add_argument("--skip", metavar="CHECKS", default="", help="checks to leave out, as pymtml health does")
    parser.add_argument(
        "--processes",
        choices=(NO_PROCESSES, COUNTED, NAMED),
        default=COUNTED,
        help="whether to look for processes, every 30 seconds at most, and to tell their names (default %s)" % COUNTED,
    )
    return parser


def run(arguments):
    """Collect and write (exit status)."""
    options = parser().parse_args(arguments)
    page = _page()
    collector = Collector(_settings(options))
    try:
        sys.stdout.write(page.page(collector.collect(), options.expect).decode("utf-8"))
    finally:
        collector.stop()
    return 0


def _page():
    """The module that writes the text.

    Raises: CommandError where prometheus_client is missing.
    """
    try:
        from pymtml_cli import metrics_page
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "prometheus_client":
            raise
        text = "metrics needs the Python package prometheus_client: pip install 'pymtml-nvml[metrics]'"
        raise CommandError(text, OTHER)
    return metrics_page


def _settings(options):
    skipped = [name for name in options.skip.split(",") if name]
    unknown = sorted(set(skipped) - set(health.CHECKS[1:]))
    if unknown:
        raise CommandError("no check %r; there are %s" % (unknown[0], ", ".join(health.CHECKS[1:])), BAD_ARGUMENT)
    limits = health.read_limits(options.limits) if options.limits else {}
    names = [name for name in health.CHECKS[1:] if name not in skipped]
    return Settings(options.expect, options.timeout, limits, names, options.processes)
