"""pynvml, if Python did not run the sitecustomize.py beside this file: python -S, or another one came first."""

import os
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# For this one import: root may hold the packages of another Python.
sys.path.insert(0, root)
try:
    import pymtml_dropin
finally:
    sys.path.remove(root)

pymtml_dropin.install(asked=True)

from pymtml_dropin.hook import Alias  # noqa: E402

Alias("pymtml").exec_module(sys.modules[__name__])
