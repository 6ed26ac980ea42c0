"""``pymtml drop-in``: make all programs of this Python environment use pymtml as pynvml, or undo it."""

import ast
import os
import site
import subprocess
import sys
import sysconfig

import pymtml_dropin
from pymtml_cli.arguments import argument_parser
from pymtml_cli.common.errors import CommandError
from pymtml_cli.common.files import put
from pymtml_cli.dropin import links
from pymtml_dropin import hook

FILE, FAILED = "pymtml_dropin.pth", 1

# Python runs this at its start, as one line; a damaged package must not print errors then. If the package is gone from
# its folder, it was uninstalled: the file is removed, so that the next installation is not enabled unasked (while pip
# replaces a package, folders that begin with ~ hold what it may have to put back). Python reads a virtual environment's
# files before the packages that it shares are on sys.path. Paths are bytes: another locale may decode them otherwise.
STARTS = """\
import os
folder = {folder!r}
try:
 sys.path += [os.fsdecode(folder)] if folder else []
 try:
  from pymtml_dropin import install
 finally:
  folder and sys.path.pop()
 install(asked={asked})
except ImportError:
 try:
  gone = folder and not os.path.exists(os.path.join(folder, b"pymtml_dropin", b"__init__.py"))
  if gone and not any(name[:1] == b"~" for name in os.listdir(folder)):
   os.unlink({file!r})
 except OSError:
  pass
except Exception:
 pass
"""

# Prints the files that a new Python of this environment, which inherits nothing from this one, finds for both names. A
# folder that an uninstalled package left behind, with compiled files in it, is a package without a file.
LOOK = """
import os, sys
sys.path[:] = [folder for folder in sys.path if folder]
import importlib.util
for name in ("pymtml", "pynvml"):
    spec = importlib.util.find_spec(name)
    print(os.fsencode(spec and spec.origin or ""))
"""


def parser():
    parser = argument_parser("drop-in")
    actions = parser.add_subparsers(dest="action", required=True, metavar="path | enable | disable | status")
    actions.add_parser("path", help="print the folder to put on PYTHONPATH for the same effect")
    enable = actions.add_parser("enable", help="make all programs of this environment use pymtml as pynvml")
    enable.add_argument("--force", action="store_true", help="even if an NVIDIA driver is present")
    text = "only make a link nvidia-smi in DIR (default: %s)" % links.FOLDERS[0]
    enable.add_argument("--nvidia-smi", nargs="?", const=links.FOLDERS[0], metavar="DIR", help=text)
    disable = actions.add_parser("disable", help="undo it")
    text = "only remove the link nvidia-smi from DIR (default: where it was made)"
    disable.add_argument("--nvidia-smi", nargs="?", const="", metavar="DIR", help=text)
    actions.add_parser("status", help="show whether it is enabled (exit status 0: enabled, 1: not enabled)")
    return parser


def line(asked, file, folder=None):
    """The text of our .pth file; ``folder`` is the one that the package was installed into, or None."""
    file, folder = os.fsencode(file), folder and os.fsencode(folder)
    return "import sys; exec(%a)\n" % STARTS.format(asked=asked, folder=folder, file=file)


def package():
    return os.path.dirname(os.path.abspath(pymtml_dropin.__file__))


def site_folders():
    """The folders whose .pth files this Python reads at its start, the user's last."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    folders += getattr(site, "getsitepackages", list)()
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return list(dict.fromkeys(os.path.abspath(folder) for folder in folders))


def layered():
    """Whether this is a virtual environment: the Python that it is made of may be shared, and have pymtml."""
    return sys.prefix != sys.base_prefix


def own_folders():
    """Those of the site folders that belong to this environment alone (list)."""
    own = {os.path.abspath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    return [folder for folder in site_folders() if not layered() or folder in own]


def enabled(folders=None):
    """Our .pth files in the folders, if not given in those that this Python reads (list)."""
    files = [os.path.join(folder, FILE) for folder in folders or site_folders()]
    return [file for file in files if os.path.isfile(file)]


def found():
    """(file of pymtml, file of pynvml) as a new Python of this environment finds them; "" for none."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=os.path.dirname(os.path.abspath(sys.executable)),
    )
    lines = done.stdout.decode("ascii").splitlines()
    return tuple(os.fsdecode(ast.literal_eval(text)) for text in lines) if len(lines) == 2 else ("", "")


def ours(file):
    """Whether a file of pymtml belongs to the same installation as this package."""
    root = os.path.dirname(package())
    return os.path.abspath(file) in (os.path.join(root, "pymtml", "__init__.py"), os.path.join(root, "pymtml.py"))


def enable(force):
    module = found()[0]
    if not module:
        raise CommandError("pymtml is not installed in %s; install it there first" % sys.prefix, FAILED)
    if not ours(module):
        text = "import pymtml loads %s here, which is not this pymtml; remove it (pip uninstall) first"
        raise CommandError(text % module, FAILED)
    folders, root = own_folders(), os.path.dirname(package())
    file = os.path.join(root if root in folders else folders[0], FILE)
    text = line(force, file, root if root in site_folders() else None)
    try:
        put(file, text.encode("ascii"))  # another Python may start at any time
    except OSError as error:
        text = "cannot write %s: %s; PYTHONPATH=$(pymtml drop-in path) needs no file"
        raise CommandError(text % (file, error.strerror), FAILED)
    print("wrote %s" % file)
    driver = hook.nvidia_driver()
    if driver and not force:
        print("an NVIDIA driver is present (%s): pynvml stays as it is; --force replaces it anyway" % driver)
    else:
        print("%s use pymtml as pynvml from their next start" % reach(file))
    print("pymtml drop-in disable undoes it")
    return 0


def reach(file):
    """Whose programs take pymtml because of our .pth file (str)."""
    if layered():
        return "programs of %s" % sys.prefix
    if os.path.dirname(file) == os.path.abspath(site.getusersitepackages()):
        return "your own programs of %s" % sys.prefix
    return "programs of %s, and of environments that share its packages (--system-site-packages)," % sys.prefix


def disable():
    files = enabled(own_folders())
    shared = [file for file in enabled() if file not in files]
    if not files and not shared:
        print("not enabled in %s: nothing to undo" % sys.prefix)
    for file in files:
        try:
            os.unlink(file)
        except FileNotFoundError:
            pass  # another process was faster
        except OSError as error:
            raise CommandError("cannot remove %s: %s" % (file, error.strerror), FAILED)
        print("removed %s" % file)
        if links.kept(os.path.dirname(file)):
            links.remove("", os.path.dirname(file))
    if shared:
        text = "still enabled by %s, which others share: run pymtml drop-in disable of %s"
        raise CommandError(text % (", ".join(shared), sys.base_prefix), FAILED)
    return 0


def status():
    files = enabled()
    for file in files:
        print("enabled by %s" % file)
    if not files:
        print("not enabled in %s" % sys.prefix)
    module, pynvml = found()
    print("import pymtml: %s" % (module or "not found"))
    taken = pynvml == os.path.join(package(), "path", "pynvml.py")
    print("import pynvml: %s" % ("pymtml" if taken else pynvml or "not found"))
    driver = hook.nvidia_driver()
    if files and driver and not taken:
        print("an NVIDIA driver is present (%s): pynvml is left as it is" % driver)
    for link in links.found(folder_of_links()):
        print("nvidia-smi: %s" % link)
    return 0 if files else 1


def folder_of_links():
    """The folder that has our .pth file, in which links are remembered; None where the drop-in is not enabled."""
    return next((os.path.dirname(file) for file in enabled(own_folders())), None)


def run(arguments):
    """Enable, disable, or print the state (exit status)."""
    options = parser().parse_args(arguments)
    if getattr(sys, "frozen", False):
        text = "drop-in needs a Python interpreter: this pymtml is frozen into one program; install pymtml's wheel"
        raise CommandError(text, FAILED)
    if options.action == "path":
        print(os.path.join(package(), "path"))
        return 0
    if getattr(options, "nvidia_smi", None) is not None:
        change = links.make if options.action == "enable" else links.remove
        return change(options.nvidia_smi, folder_of_links())
    if options.action == "enable":
        return enable(options.force)
    return disable() if options.action == "disable" else status()
