"""That AddressSanitizer sees what C does to the buffers of Python, where make sanitize runs the tests under it."""

import os

import pytest
import simulated

pytestmark = pytest.mark.skipif("libasan" not in os.environ.get("LD_PRELOAD", ""), reason="for make sanitize")

CALL = """
import ctypes, pymtml
pymtml.nvmlInit()
device = pymtml.nvmlDeviceGetHandleByIndex(0)
buffer = (ctypes.c_char * {size})()
pymtml._mtmlGetFunctionPointer("mtmlDeviceGetUUID")(device, buffer, 48)
print(len(buffer.value))
"""


@pytest.mark.parametrize("size, seen", [(48, False), (36, True), (24, True)])
def test_too_small_a_buffer_is_seen(size, seen):
    """A UUID has 36 letters and its end; a buffer for it of 16 bytes or less would be part of the ctypes object."""
    result = simulated.run_python(CALL.format(size=size), extra_environment={"PYMTML_LIBRARY": simulated.LIBRARY})
    assert ("AddressSanitizer: heap-buffer-overflow" in result.stderr) is seen, result.stderr
    assert result.stdout == ("" if seen else "36\n") and bool(result.returncode) is seen
