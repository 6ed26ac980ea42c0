"""Where the parts of the package are: beside this file when installed, in the repository when run from a checkout."""

import errno
import os
import stat

PACKAGE = os.path.dirname(os.path.abspath(__file__))
_SIMULATOR = os.path.dirname(os.path.dirname(PACKAGE))
# An installed package has no makefile two folders above it; a checkout uses what `make sim` has built last.
_CHECKOUT = os.path.isfile(os.path.join(_SIMULATOR, "src", "call.c")) and os.path.isfile(
    os.path.join(_SIMULATOR, "build", "libmtml.so.2")
)

BIN = os.path.join(PACKAGE, "bin")
if _CHECKOUT:
    LIBRARIES = os.path.join(_SIMULATOR, "build")
    LINK = LIBRARIES
    PROFILES = os.path.join(_SIMULATOR, "profiles")
    HEADERS = [os.path.dirname(_SIMULATOR), _SIMULATOR]
    PKGCONFIG = None
else:
    LIBRARIES = os.path.join(PACKAGE, "libs")
    LINK = os.path.join(PACKAGE, "link")
    PROFILES = os.path.join(PACKAGE, "profiles")
    HEADERS = [os.path.join(PACKAGE, "include")]
    PKGCONFIG = os.path.join(PACKAGE, "pkgconfig")

MTML = os.path.join(LIBRARIES, "libmtml.so.2")
MUSA = os.path.join(LIBRARIES, "libmusa.so.1")
# To be preloaded: device nodes that answer.
NODES = os.path.join(LIBRARIES, "libmtgpu_nodes.so")
# For programs that load the library by its other name.
PLAIN = [os.path.join(LIBRARIES, "libmtml.so"), os.path.join(LIBRARIES, "libmusa.so")]

_MOST = 1 << 20  # as the library has it for profiles and control files


def read(path: str, errors: str = "surrogateescape") -> str:
    """Text of a file that anybody may have written: one of a megabyte at most; nobody waits at a FIFO.

    Raises: OSError.
    """
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "is no ordinary file", path)
        text = file.read(_MOST + 1)
    if len(text) > _MOST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return text.decode("utf-8", errors)
