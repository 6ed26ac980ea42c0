"""--help and --version."""

import pymtml
from pymtml_cli.devices import Unknown, ask
from pymtml_cli.errors import NVIDIA_SMI, called
from pymtml_cli.main import SUBCOMMANDS

_HELP = """\
usage: {name} [OPTION [VALUE]]...
       {name} SUBCOMMAND ...

Shows Moore Threads GPUs. Without arguments: a table of cards and processes.

What to show:
  -L, --list-gpus            a line for each card and each MPC instance
  -q, --query                all there is to know, in sections
  --json                     all there is to know, for programs
  --query-gpu=FIELDS         chosen properties of the cards; --help-query-gpu lists them
  --query-compute-apps=FIELDS, --query-retired-pages=FIELDS, --query-remapped-rows=FIELDS,
  --query-supported-clocks=FIELDS, --query-accounted-apps=FIELDS
                             of other things, each with its --help-query-...
  --version                  versions of command, library, driver and MUSA
  -h, --help                 this text

How:
  -i, --id=CARDS             only these cards: index, UUID or PCI address, separated by commas
  -d, --display=SECTIONS     with -q: only these sections: {sections}
  -x, --xml-format           with -q: as XML
  --format=csv[,noheader][,nounits]
                             with --query-...: without the head line, without units
  -f, --filename=FILE        into a file
  -l, --loop[=SECONDS]       again and again; -lms, --loop-ms[=MILLISECONDS] likewise
  --watch[=SECONDS]          the table, in place, until Ctrl-C

Subcommands ({name} SUBCOMMAND --help says more):
{subcommands}
"""


def run():
    """Print the help (exit status)."""
    from pymtml_cli.log import SECTIONS

    words = []
    for section in SECTIONS:
        words.append(section)
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) > 55:
            lines.append(line.rstrip())
            line = ""
        line += word + ", "
    lines.append(line.rstrip(", "))
    subcommands = "\n".join("  %-10s %s" % (name, summary) for name, (_, summary) in sorted(SUBCOMMANDS.items()))
    sections = ("\n" + " " * 29).join(lines)
    print(_HELP.format(name=called(), subcommands=subcommands, sections=sections), end="")
    return 0


def musa_version():
    """Version of the MUSA driver API as text, or an Unknown."""
    version = ask(pymtml.nvmlSystemGetCudaDriverVersion)
    return version if isinstance(version, Unknown) else "%d.%d" % (version // 1000, version % 1000 // 10)


def version(output):
    """Print the versions, of what there is (exit status)."""
    failed = ask(pymtml.nvmlInit)
    if isinstance(failed, Unknown):
        library = driver = musa = "N/A"
    else:
        library, driver = ask(pymtml.nvmlSystemGetNVMLVersion), ask(pymtml.nvmlSystemGetDriverVersion)
        musa = musa_version()
        ask(pymtml.nvmlShutdown)
    if called() == NVIDIA_SMI:
        rows = [("NVIDIA-SMI version", driver), ("NVML version", library), ("DRIVER version", driver)]
        rows.append(("CUDA Version", musa))
    else:
        rows = [("pymtml version", pymtml.__version__), ("MTML version", library), ("DRIVER version", driver)]
        rows.append(("MUSA Version", musa))
    output.write("".join("%-20s: %s\n" % row for row in rows))
    return 0
