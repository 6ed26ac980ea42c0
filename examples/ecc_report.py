"""Report memory errors and retired pages of every card: python examples/ecc_report.py

MTML reports no ECC for cards before the Pinghu generation (MTT S5000); the output states that.
"""

import sys

import pymtml
from pymtml import NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED

KINDS = {"corrected": NVML_MEMORY_ERROR_TYPE_CORRECTED, "uncorrected": NVML_MEMORY_ERROR_TYPE_UNCORRECTED}
CAUSES = {
    "single-bit errors": pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
    "a double-bit error": pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
}


def lines(device):
    """What there is to say about a card (iterator of str)."""
    yield pymtml.nvmlDeviceGetName(device)
    current, pending = ("on" if mode else "off" for mode in pymtml.nvmlDeviceGetEccMode(device))
    yield "ECC is %s" % current + (", %s after the next reboot" % pending if pending != current else "")
    for name, kind in KINDS.items():
        since_boot = pymtml.nvmlDeviceGetTotalEccErrors(device, kind, pymtml.NVML_VOLATILE_ECC)
        ever = pymtml.nvmlDeviceGetTotalEccErrors(device, kind, pymtml.NVML_AGGREGATE_ECC)
        yield "%s errors: %d since the driver was loaded, %d in the card's lifetime" % (name, since_boot, ever)
    for name, cause in CAUSES.items():
        pages = pymtml.nvmlDeviceGetRetiredPages(device, cause)
        yield "pages retired for %s: %s" % (name, " ".join("0x%x" % page for page in pages) or "none")
    waiting = pymtml.nvmlDeviceGetRetiredPagesPendingStatus(device)
    yield "more pages are retired at the next reboot" if waiting else "no page waits for a reboot"


def main():
    """Print the report."""
    pymtml.nvmlInit()
    try:
        count = pymtml.nvmlDeviceGetCount()
        for index in range(count):
            print("GPU %d" % index)
            try:
                for line in lines(pymtml.nvmlDeviceGetHandleByIndex(index)):
                    print("  " + line)
            except pymtml.NVMLError_NotSupported:
                print("  memory errors: not reported")
            except pymtml.NVMLError as error:
                print("  does not answer: %s" % error)
        if not count:
            print("no GPU")
    finally:
        pymtml.nvmlShutdown()


if __name__ == "__main__":
    try:
        main()
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
