"""The table of cards and processes, in nvidia-smi's form: for people, and for programs that cut it at its columns.

On a terminal it takes the whole width: a wide one shows more of the names of processes, one below 91 columns has the
table of module `compact`, a line for each card.
What is hot or full is marked. Anywhere else it has its full 91 columns and no color.
"""

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.samples import Output
from pymtml_cli.common.text import fit, left, tail
from pymtml_cli.common.text import width as text_width
from pymtml_cli.readings.devices import Unknown, ask, musa_version, shown_driver
from pymtml_cli.readings.processes import NONE_RUNNING, listed, remarks
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi import cells
from pymtml_cli.smi.cells import short
from pymtml_cli.smi.listing import profile
from pymtml_cli.smi.lost import show

FULL_WIDTH = 91
BLOCKS = (41, 24, 22)  # widths of card, memory, load
NAME_WIDTH = 37  # of processes


class Screen:
    """The table for an output."""

    def __init__(self, output, compact=False):
        self._compact = compact
        self._terminal = output.is_terminal
        self._paint = output.paints
        self._smi = called() == NVIDIA_SMI

    def text(self, machine, opened):
        """The table as it is printed; no table if none of the cards can be opened."""
        return (self._table(machine, opened.cards) if opened.cards else "") + opened.sentences

    def _table(self, machine, cards):
        room = FULL_WIDTH
        if self._terminal:
            import shutil

            room = shutil.get_terminal_size((FULL_WIDTH, 24)).columns
        if room < FULL_WIDTH or self._compact:
            from pymtml_cli.smi import compact

            return compact.text(machine, cards, room, self._paint)
        return machine.time.long + " " * 7 + "\n" + "\n".join(self._lines(cards, room)) + "\n"

    def _lines(self, cards, room):
        """The lines below the time."""
        lines = self._head()
        for card in cards:
            lines += self._card(card) + [_rule(BLOCKS, "-")]
        instances = [instance for card in cards for instance in card.instances]
        if instances:
            lines += [""] + self._instances(instances)
        return lines + [""] + self._processes(cards, room)

    def _head(self):
        inner = FULL_WIDTH - 4
        driver, musa = short(shown_driver(ask(pymtml.nvmlSystemGetDriverVersion))), short(musa_version())
        if self._smi:
            line = "%-34s%-31s%s" % ("NVIDIA-SMI " + driver, "Driver Version: " + driver, "CUDA Version: " + musa)
        else:
            library = "MTML " + short(ask(pymtml.nvmlSystemGetNVMLVersion))
            parts = ["pymtml " + pymtml.__version__, library, "Driver Version: " + driver, "MUSA Version: " + musa]
            blanks = max(2, (inner - sum(map(len, parts))) // (len(parts) - 1))
            line = (" " * min(blanks, 7)).join(parts)
        lines = [_rule([inner + 2], "-"), "| " + left(fit(line, inner), inner) + " |", _rule(BLOCKS, "-")]
        lines += [_line([[text] for text in row], False) for row in self._titles()]
        lines.append(_rule(BLOCKS, "=").replace("+", "|", 1)[:-1] + "|")
        return lines

    def _titles(self):
        first = [" GPU  Name                 Persistence-M ", " Bus-Id          Disp.A "]
        second = [" Fan  Temp   Perf          Pwr:Usage/Cap ", "           Memory-Usage "]
        third = ["", "", "%21s " % ("MIG M." if self._smi else "MPC M.")]
        return [first + [" Volatile Uncorr. ECC "], second + [" GPU-Util  Compute M. "], third]

    def _card(self, card):
        pci = card.ask(pymtml.nvmlDeviceGetPciInfo)
        address = short(pci if isinstance(pci, Unknown) else pci.busId)
        display = cells.switched(card.ask(pymtml.nvmlDeviceGetDisplayActive))
        state = cells.switched(card.ask(pymtml.nvmlDeviceGetPersistenceMode))
        title = short(card.ask(pymtml.nvmlDeviceGetName))
        first = [[" %3d  %s %5s  " % (card.index, left(fit(title, 27), 27), state)]]
        first.append(["   %-16s %3s " % (address, display)])
        performance = "    %-4s" % short(BY_NAME["pstate"].cell(card))
        second = [["%4s" % cells.fan(card), (cells.temperature(card), 6), performance, (cells.power(card), 22), " "]]
        second.append([(cells.memory(card), 23), " "])
        first.append([(cells.uncorrected(card), 21), " "])
        mode = short(BY_NAME["compute_mode"].cell(card))
        second.append([(cells.utilization(card), 8), "%13s " % fit(mode, 13)])
        third = [[], [], ["%21s " % cells.division(card)]]
        return [_line(row, self._paint) for row in (first, second, third)]

    def _instances(self, instances):
        kind, head = ("MIG", "MIG devices:") if self._smi else ("MPC", "MPC instances:")
        lines = [" " + head, " GPU %s  Name               Memory-Usage            Util" % kind]
        for one in instances:
            used, share = cells.memory(one).text.strip(), left(fit(short(profile(one)), 14), 14)
            load = cells.utilization(one).text
            lines.append(" %3d %3d  %s %24s %8s" % (one.parent.index, one.index, share, used, load))
        return _framed(lines[:2], lines[2:], FULL_WIDTH)

    def _processes(self, cards, room):
        found, failed = listed(cards)
        names = [short(process.name) for process in found]
        more = max([0] + [min(text_width(text) - NAME_WIDTH, room - FULL_WIDTH) for text in names])
        heads = [
            " Processes:",
            "  GPU   GI   CI              PID   Type   Process name%s                        GPU Memory" % (" " * more),
            "        ID   ID                                      %s                         Usage" % (" " * more),
        ]
        rows = ["%5d   processes: %s" % (card.index, reason) for card, reason in failed.items()]
        rows += [_process(process, text, NAME_WIDTH + more) for process, text in zip(found, names)]
        said = ["  " + text for text in remarks(cards, found)] if not failed else []
        # Programs that cut up nvidia-smi's table take each line in the frame for a process, but for these words.
        below = said if self._smi and not self._terminal and said != ["  " + NONE_RUNNING] else []
        return _framed(heads, rows + (said if not below else []), FULL_WIDTH + more) + below


def _process(process, program, room):
    used, number = process.used("%dMiB"), process.instance_id
    form = "%5d%6s%5s%16d%7s   %s%9s "
    return form % (process.card.index, number, "N/A", process.pid, process.kind, left(tail(program, room), room), used)


def _rule(widths, fill):
    return "+" + "+".join(fill * width for width in widths) + "+"


def _framed(heads, rows, width):
    """Lines in a frame, with a rule below the heads."""
    inner = width - 2
    lines = ["|" + left(fit(line, inner), inner) + "|" for line in heads + ["=" * inner] + rows]
    return [_rule([inner], "-")] + lines + [_rule([inner], "-")]


def _line(row, paint):
    """A line of the blocks: of each the texts, and (Cell, width)."""
    blocks = []
    for block, width in zip(row, BLOCKS):
        parts = [part if isinstance(part, str) else part[0].padded(part[1], paint) for part in block]
        length = sum(text_width(part) if isinstance(part, str) else part[1] for part in block)
        blocks.append("".join(parts) + " " * (width - length))
    return "|" + "|".join(blocks) + "|"


def answer(options):
    """Print the table (exit status).

    With --watch it is drawn in place until somebody interrupts; into a file or a pipe, one table after the other.
    """
    with Output(options.get("filename")) as output:
        screen = Screen(output, options.get("compact"))
        if "watch" not in options.values or not output.is_terminal:
            return show(options, output, screen.text)
        from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal

        if getsignal(SIGINT) is default_int_handler:  # which would run only when C returns, and a driver may hang
            signal(SIGINT, SIG_DFL)
        return show(options, output, lambda machine, opened: _in_place(screen.text(machine, opened)))


def _in_place(text):
    """What redraws the terminal: as many lines as it has, each cleared to its end."""
    import shutil

    rows = shutil.get_terminal_size((FULL_WIDTH, 24)).lines
    lines = text.splitlines()
    if len(lines) >= rows:
        shown = max(0, rows - 2)
        lines = lines[:shown] + ["... %d more lines" % (len(lines) - shown)]
    return "\x1b[H" + "".join(line + "\x1b[K\n" for line in lines) + "\x1b[J"
