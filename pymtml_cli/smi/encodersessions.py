"""encodersessions: a line for each encoder session of a card, again and again."""

import sys

import pymtml
from pymtml_cli.common.errors import refuse
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import CARDS, parse
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.helping import usage
from pymtml_cli.readings import plausible
from pymtml_cli.readings.devices import Machine, Unknown

OPTIONS = {
    "-h, --help": None,
    "-i, --id CARDS": CARDS,
    "-l, --loop SECONDS": "time between samples (default 1)",
}

HEAD = """\
# GPU Session    Process   Codec       H       V Average     Average
# Idx      Id         Id    Type     Res     Res     FPS Latency(us)
"""
ROW = "%5d %7s %10s %7s %7s %7s %7s %11s\n"
LINES_BELOW_A_HEAD = 10

CODECS = {
    pymtml.NVML_ENCODER_QUERY_H264: "H.264",
    pymtml.NVML_ENCODER_QUERY_HEVC: "HEVC",
    pymtml.NVML_ENCODER_QUERY_AV1: "AV1",
}


def run(arguments):
    """Print help, or lines until somebody interrupts."""
    options = parse(arguments, OPTIONS, "encodersessions")
    if "-h" in options:
        sys.stdout.write(usage("encodersessions", OPTIONS))
        return 0
    seconds = number(options.get("-l", "1"), 1, 1 << 31)
    if seconds is None:
        raise refuse("Loop frequency must be greater than 0.\n")
    with Output() as output, Machine() as machine:
        cards = machine.chosen(options.get("-i"))
        written = 0
        for _ in repeat(machine, seconds):
            for line in [line for card in cards for line in _lines(card)]:
                output.write((HEAD if written % LINES_BELOW_A_HEAD == 0 else "") + line)
                written += 1


def _lines(card):
    """A line for each session, or one without any; numbers that cannot be are left out."""
    sessions, lines = card.ask(pymtml.nvmlDeviceGetEncoderSessions), []
    for session in [] if isinstance(sessions, Unknown) else sessions:
        numbers = (session.hResolution, session.vResolution, session.averageFps, session.encodeLatency)
        known = [number if plausible.counter(card, number) else "-" for number in numbers]
        lines.append(ROW % (card.index, session.sessionId, session.pid, CODECS.get(session.codecType, "-"), *known))
    return lines or [ROW % ((card.index,) + ("-",) * 7)]
