"""--version: versions of command, library, driver and MUSA."""

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.samples import Output
from pymtml_cli.readings.devices import Unknown, ask, shown_driver, shown_musa


def answer(options):
    """Print the versions, of what there is (exit status)."""
    failed = ask(pymtml.nvmlInit)
    if isinstance(failed, Unknown):
        library = driver = musa = "N/A"
    else:
        library, driver = ask(pymtml.nvmlSystemGetNVMLVersion), shown_driver(ask(pymtml.nvmlSystemGetDriverVersion))
        musa = shown_musa()
        ask(pymtml.nvmlShutdown)
    if called() == NVIDIA_SMI:
        rows = [("NVIDIA-SMI version", driver), ("NVML version", library), ("DRIVER version", driver)]
        rows.append(("CUDA Version", musa))
    else:
        rows = [("pymtml version", pymtml.__version__), ("MTML version", library), ("DRIVER version", driver)]
        rows.append(("MUSA Version", musa))
    with Output() as output:
        output.write("".join("%-20s: %s\n" % row for row in rows))
    return 0
