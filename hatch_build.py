"""What a wheel holds beside the packages: the module, in the shape of a package.

Python prefers a package to a module of the same name in the same folder. As pymtml/__init__.py the module therefore
stays what ``import pymtml`` finds, whether mthreads-ml-py, which brings a pymtml.py, is installed or removed, before or
after it.
"""

import os
import shutil
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Adds to a wheel what the source tree has elsewhere; an editable install takes the source tree as it is."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel" or version != "standard":
            return
        self.made = tempfile.TemporaryDirectory()
        entry = shutil.copy(os.path.join(self.root, "pymtml_cli", "__main__.py"), self.made.name)
        build_data["force_include"].update(
            {os.path.join(self.root, "pymtml.py"): "pymtml/__init__.py", entry: "pymtml/__main__.py"}
        )

    def finalize(self, version, build_data, artifact_path):
        if self.target_name == "wheel" and version == "standard":
            self.made.cleanup()
