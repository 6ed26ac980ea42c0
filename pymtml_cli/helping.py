"""The help of subcommands, in one form: what argparse reads, and nvidia-smi's spellings."""

from pymtml_cli.common.errors import called, worded
from pymtml_cli.common.options import CARDS, JSON, known
from pymtml_cli.subcommands import SUBCOMMANDS

COLUMNS, MOST_LEFT = 80, 26  # of help, and of what stands at its left


def usage(command, last=(), arguments="[OPTION]...", **words):
    """The text of --help; some options, named by their first spelling, come last. ``words`` stand in the texts."""
    shown = [(line, text) for line, text in known(command).items() if text is not None]
    shown.sort(key=lambda row: row[0].split(",")[0] in last)
    words.update(name=called(), cards=CARDS, json=JSON)
    lines = [(line, worded(text).format(**words)) for line, text in shown]
    return page("%s %s %s" % (called(), command, arguments), worded(SUBCOMMANDS[command].help), lines)


def page(form, about, rows, below=""):
    """The help of a subcommand: how it is called, what it does, its options as (what is typed, text), and a remark."""
    from textwrap import wrap

    width = min(MOST_LEFT, max([len(left) for left, _ in rows], default=0))
    lines = ["usage: " + form] + [""] * bool(about) + wrap(about[:1].upper() + about[1:], COLUMNS)
    lines += [""] * bool(rows)
    for left, text in rows:
        right = [part for line in text.split("\n") for part in wrap(line, COLUMNS - width - 4)]
        if len(left) > width:
            lines.append("  " + left)
            left = ""
        lines += ["  %s  %s" % (begin.ljust(width), part) for begin, part in zip([left] + [""] * len(right), right)]
    return "\n".join(lines + [""] * bool(below) + wrap(below, COLUMNS)) + "\n"
