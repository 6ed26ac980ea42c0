"""What a wheel holds beside the packages: the module, in the shape of a package.

Python prefers a package to a module of the same name in the same folder. As pymtml/__init__.py the module therefore
stays what ``import pymtml`` finds, whether mthreads-ml-py, which brings a pymtml.py, is installed or removed, before or
after it.
"""

import os
import runpy
import shutil
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Adds to a wheel what the source tree has elsewhere; an editable install takes the source tree as it is."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel" or version != "standard":
            return
        self.made = tempfile.TemporaryDirectory()
        module = os.path.join(self.root, "pymtml.py")
        entry = shutil.copy(os.path.join(self.root, "pymtml_cli", "__main__.py"), self.made.name)
        generate = runpy.run_path(os.path.join(self.root, "tools", "generate_stub.py"))["generate"]
        stub = self.make("__init__.pyi", generate(module, os.path.join(self.root, "facts", "nvml_surface.json")))
        build_data["force_include"].update(
            {
                module: "pymtml/__init__.py",
                stub: "pymtml/__init__.pyi",
                entry: "pymtml/__main__.py",
                self.make("py.typed", ""): "pymtml/py.typed",
            }
        )

    def make(self, name, text):
        """The path of a file with the text, until the wheel is finished."""
        path = os.path.join(self.made.name, name)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        return path

    def finalize(self, version, build_data, artifact_path):
        if self.target_name == "wheel" and version == "standard":
            self.made.cleanup()
