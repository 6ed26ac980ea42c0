"""What an installation of pymtml as pynvml comes down to: `import pynvml` gives the module pymtml itself.

A folder with this file on PYTHONPATH reaches child processes too, however they are started.
"""

import sys

import pymtml

sys.modules["pynvml"] = pymtml
