"""Python runs this at its start if the folder is on PYTHONPATH: pynvml is then pymtml in this process.

Any Python may start here; one that is too old goes on without pymtml.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def install():
    root = os.path.dirname(os.path.dirname(FOLDER))
    # For this one import: root may hold the packages of another Python.
    sys.path.insert(0, root)
    try:
        import pymtml_dropin
    finally:
        sys.path.remove(root)
    pymtml_dropin.install(asked=True)


def run_hidden():
    """Run the sitecustomize that this one hides."""
    from importlib.machinery import PathFinder

    rest = [entry for entry in sys.path if os.path.abspath(entry) != FOLDER]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec

        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if sys.version_info >= (3, 7):
    install()
    run_hidden()
else:
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != FOLDER]
