"""health: a check for schedulers and cron. One line for each finding; the exit status is that of monitoring plugins.

The questions are asked by a child process: a driver that hangs takes its caller with it, and here only the child.
"""

import json
import os
import subprocess
import sys

HEALTHY, DEGRADED, UNHEALTHY = 0, 1, 2
WORDS = {HEALTHY: "OK", DEGRADED: "WARNING", UNHEALTHY: "CRITICAL"}
HOTTEST = 90  # degrees Celsius, for a card that does not tell its limit
CHECKS = ("driver", "devices", "answers", "links", "ecc", "pages", "temperature")

_CHILD = (
    "import json, sys; sys.path.insert(0, sys.argv[1]); from pymtml_cli import health; "
    "health.answer(json.loads(sys.argv[2]))"
)


def add_arguments(parser):
    """Arguments of the subcommand."""
    parser.add_argument("--expect", type=int, metavar="N", help="how many cards there must be (default: at least one)")
    parser.add_argument(
        "--timeout", type=float, default=30, metavar="SECONDS", help="time that the driver may take (default 30)"
    )
    parser.add_argument(
        "--max-temperature",
        type=int,
        metavar="CELSIUS",
        help="limit of the GPU temperature (default: where the card slows down, or %d)" % HOTTEST,
    )
    parser.add_argument("--skip", metavar="CHECKS", default="", help="leave out, by commas: " + ", ".join(CHECKS[1:]))
    parser.add_argument("--json", action="store_true", help="for programs: {status, findings}")
    parser.epilog = "exit status: 0 healthy, 1 degraded, 2 unhealthy"


def run(options):
    """Check and print (exit status: 0 healthy, 1 degraded, 2 unhealthy)."""
    skipped = [name for name in options.skip.split(",") if name]
    unknown = sorted(set(skipped) - set(CHECKS[1:]))
    if unknown:
        from pymtml_cli.errors import CommandError

        raise CommandError("no check %r; there are %s" % (unknown[0], ", ".join(CHECKS[1:])), 2)
    wanted = {"expect": options.expect, "hottest": options.max_temperature}
    findings = [entry for entry in probe(wanted, options.timeout) if entry[1] not in skipped]
    status = max(level for level, _, _ in findings) if findings else HEALTHY
    if options.json:
        objects = [{"level": WORDS[level], "check": check, "text": text} for level, check, text in findings]
        sys.stdout.write(json.dumps({"status": WORDS[status], "findings": objects}, indent=2) + "\n")
    else:
        sys.stdout.write("".join("%-8s %s: %s\n" % (WORDS[level], check, text) for level, check, text in findings))
    return status


def probe(wanted, timeout):
    """What the child process finds within a time (list of (level, check, text))."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = [sys.executable, "-c", _CHILD, here, json.dumps(wanted)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()  # and no waiting for it: the kernel may hold it as long as the driver hangs
        return [(UNHEALTHY, "driver", "no answer within %g seconds" % timeout)]
    try:
        return [tuple(entry) for entry in json.loads(out)]
    except ValueError:
        last = (err.strip().splitlines() or ["no output"])[-1]
        return [(UNHEALTHY, "driver", "the check ended with status %s: %s" % (child.returncode, last))]


def answer(wanted):
    """Print what was found, as the child process (for `probe`)."""
    sys.stdout.write(json.dumps(examine(wanted)))


def examine(wanted):
    """The findings (list of (level, check, text))."""
    from pymtml_cli.devices import Machine
    from pymtml_cli.errors import CommandError

    try:
        machine = Machine()
    except CommandError as error:
        return [(UNHEALTHY, "driver", " ".join(error.text.split()))]
    with machine:
        findings = [(HEALTHY, "driver", "answers")]
        count, expected = len(machine.cards), wanted["expect"]
        missing = count < 1 if expected is None else count != expected
        text = "%d" % count if expected is None else "%d of %d" % (count, expected)
        findings.append((UNHEALTHY if missing else HEALTHY, "devices", text))
        for check, function in (
            ("answers", _answers),
            ("links", _links),
            ("ecc", _ecc),
            ("pages", _pages),
            ("temperature", lambda card: _temperature(card, wanted["hottest"])),
        ):
            found = [
                (level, check, "GPU %d: %s" % (card.index, text))
                for card in machine.cards
                for level, text in function(card)
            ]
            findings += found or ([(HEALTHY, check, "as it should be")] if machine.cards else [])
        return findings


def _answers(card):
    import pymtml
    from pymtml_cli.devices import Unknown

    for function in (pymtml.nvmlDeviceGetUUID, pymtml.nvmlDeviceGetMemoryInfo, pymtml.nvmlDeviceGetUtilizationRates):
        value = card.ask(function)
        if isinstance(value, Unknown) and not value.not_supported:
            return [(UNHEALTHY, value.reason)]
    return []


def _links(card):
    from pymtml_cli.doctor import link_findings

    return [(UNHEALTHY, finding.text) for finding in link_findings(card)]


def _ecc(card):
    import pymtml
    from pymtml_cli.devices import Unknown

    count = card.ask(
        pymtml.nvmlDeviceGetTotalEccErrors, pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pymtml.NVML_VOLATILE_ECC
    )
    if isinstance(count, Unknown) or not count:
        return []
    return [(UNHEALTHY, "%d uncorrected memory error(s) since the driver was loaded" % count)]


def _pages(card):
    import pymtml

    if card.ask(pymtml.nvmlDeviceGetRetiredPagesPendingStatus) == 1:
        return [(DEGRADED, "memory pages wait to be retired: drain the card and reboot")]
    return []


def _temperature(card, hottest):
    import pymtml
    from pymtml_cli.devices import Unknown

    value = card.ask(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU)
    if isinstance(value, Unknown):
        return []
    limit = hottest
    if limit is None:
        limit = card.ask(pymtml.nvmlDeviceGetTemperatureThreshold, pymtml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
        limit = HOTTEST if isinstance(limit, Unknown) or limit <= 0 else limit
    return [(UNHEALTHY, "%d C, and %d C is the limit" % (value, limit))] if value >= limit else []
