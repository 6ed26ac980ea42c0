"""Writes down which functions of pymtml, the command and the drop-in this process calls, for file_mutants.py.

A line of a .pth file runs this in each Python that a test starts, while file_mutants.py learns what its tests call.
"""

import os
import re
import sys
import threading

OURS = re.compile(r"(?:^|/)(pymtml\.py|pymtml_(?:cli|dropin)/\w+\.py)$")


def record(path):
    """Append "file:function:line" to a file at the first call of each function."""
    seen = set()
    ours = {}  # what a file of ours is called; None for the others
    stream = os.open(path, os.O_WRONLY | os.O_APPEND)

    def profile(frame, event, argument):
        if event == "call":
            code = frame.f_code
            if code not in seen:
                seen.add(code)
                name = code.co_filename
                if name not in ours:
                    match = OURS.search(name)
                    ours[name] = match and match.group(1)
                if ours[name]:
                    line = "%s:%s:%d\n" % (ours[name], code.co_name, code.co_firstlineno)
                    try:
                        os.write(stream, line.encode())
                    except OSError:  # the program has closed it
                        sys.setprofile(None)

    threading.setprofile(profile)
    sys.setprofile(profile)


if os.environ.get("FILE_MUTANTS_CALLS"):
    record(os.environ["FILE_MUTANTS_CALLS"])
