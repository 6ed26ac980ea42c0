"""What dmon and pmon share: options, the columns of date and time, and scrolling."""

import sys

from pymtml_cli.common.errors import OTHER, refuse, see_help
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import parse
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.readings.devices import Machine, status
from pymtml_cli.readings.documents import show

FAILED = "Failed to process command line \n\n"


class Settings:
    """Checked options.

    Raises: CommandError in nvidia-smi's words.
    """

    def __init__(self, command, options, groups, default, most):
        self.seconds = number(options.get("-d", "1"), 1, most)
        if self.seconds is None:
            raise refuse("Collection delay/interval should be between 1 second and %d seconds\n" % most)
        self.count = number(options["-c"], 1, 1 << 31) if "-c" in options else 0
        if self.count is None:
            raise refuse("Invalid value for number of samples to be displayed\n")
        letters = options.get("-s", default)
        if not letters or set(letters) - set(groups):
            raise refuse("Failed to find any metric to display\n" + FAILED, OTHER, see_help(command))
        self.letters = [letter for index, letter in enumerate(letters) if letter not in letters[:index]]
        if set(options.get("-o", "")) - set("DT"):
            raise refuse("Error in parsing options\n" + FAILED, OTHER)
        self.date, self.clock = "D" in options.get("-o", ""), "T" in options.get("-o", "")
        self.formats = [part for part in options.get("--format", "").split(",") if part]
        for part in self.formats:
            if part not in ("csv", "nounit", "noheader"):
                text = "%s is not a recognized format option\nError parsing format options\n" % part
                raise refuse(text + FAILED, OTHER, see_help(command))
        self.filename, self.cards = options.get("-f"), options.get("-i")

    def stamps(self, date, clock):
        """The leading cells of a line that -o asks for."""
        return [text for text, wanted in ((date, self.date), (clock, self.clock)) if wanted]

    def lead(self, mark, stamps, index):
        """The beginning of a line: date and time if asked for, then the card."""
        if not stamps:
            return "%s%*s" % (mark, 5 - len(mark), index)
        texts = [(mark + stamps[0]).ljust(9)] + [stamp.ljust(8) for stamp in stamps[1:]]
        return "    ".join(texts) + "%8s" % index


def run(command, arguments, groups, default, most, views, content=None):
    """Print help, or a head and samples (exit status).

    ``views`` makes of settings, columns and options two functions: for the head, and for the lines of a sample.
    ``content`` makes the document of a sample for --json.
    """
    options = parse(arguments, command)
    if "-h" in options:
        from pymtml_cli.helping import usage

        titles = "".join("\n%s  %s" % (letter, text) for letter, (text, _) in groups.items())
        sys.stdout.write(usage(command, most=most, default=default, groups=titles))
        return 0
    settings = Settings(command, options, groups, default, most)
    if "--json" in options:
        return show(settings.cards, content, settings.filename, settings.seconds, settings.count)
    head, lines = views(settings, [column for letter in settings.letters for column in groups[letter][1]], options)
    with Output(settings.filename) as output, Machine() as machine:
        cards = machine.chosen(settings.cards)
        for first in repeat(machine, settings.seconds, count=settings.count):
            text = head() if first else []
            output.write("".join(line + "\n" for line in text + lines(machine, cards)))
        return status(cards)
