"""With this folder on PYTHONPATH, programs that import pynvml get pymtml, child processes included."""

import sys

import pymtml

sys.modules["pynvml"] = pymtml
