"""The link named nvidia-smi: for login shells, programs that set PATH anew, and those that run /usr/bin/nvidia-smi."""

import os

import pymtml_dropin
from pymtml_cli.common.errors import CommandError, reason
from pymtml_cli.common.files import put
from pymtml_cli.dropin.run import shim_problem
from pymtml_dropin import hook

FOLDERS = ("/usr/local/bin", "/usr/bin")  # it is made in the first, if no other is named
NAME, KEPT, FAILED = "nvidia-smi", "pymtml_dropin.links", 1
ENDS = os.path.join(os.sep + "pymtml_dropin", "bin", NAME)


def is_ours(link):
    """Whether a link leads to the nvidia-smi of a pymtml, also of one that is gone."""
    return os.path.islink(link) and os.readlink(link).endswith(ENDS)


def kept(folder):
    """The links that were made while the drop-in was enabled, from the file beside its own (list)."""
    try:
        with open(os.path.join(folder, KEPT), encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    except (OSError, TypeError):  # there is none; no folder
        return []


def found(folder):
    """The links that are there (list)."""
    usual = [os.path.join(usual, NAME) for usual in FOLDERS]
    return [link for link in dict.fromkeys(kept(folder) + usual) if is_ours(link)]


def _keep(folder, links):
    text = "".join(link + "\n" for link in links)
    try:
        if links:
            put(os.path.join(folder, KEPT), text.encode("utf-8", "surrogateescape"))
        elif kept(folder):
            os.unlink(os.path.join(folder, KEPT))
    except OSError as error:
        raise CommandError("cannot write %s: %s" % (os.path.join(folder, KEPT), reason(error)), FAILED)


def make(where, folder):
    """Make the link, and remember it in ``folder``, which has the drop-in's own file, or is None (exit status)."""
    driver, link = hook.nvidia_driver(), os.path.join(os.path.abspath(where), NAME)
    problem = shim_problem()
    if driver:
        problem = "an NVIDIA driver is present (%s): nvidia-smi stays NVIDIA's" % driver
    elif os.path.lexists(link) and not is_ours(link):
        problem = "%s exists and is not pymtml's; name another folder: --nvidia-smi DIR" % link
    if problem:
        raise CommandError(problem, FAILED)
    shim = os.path.join(os.path.dirname(os.path.abspath(pymtml_dropin.__file__)), "bin", NAME)
    temporary = "%s.%s.tmp" % (link, os.urandom(8).hex())
    try:
        os.symlink(shim, temporary)
        os.replace(temporary, link)
    except OSError as error:
        if os.path.islink(temporary):
            os.unlink(temporary)
        raise CommandError("cannot make %s: %s" % (link, reason(error)), FAILED)
    print("made %s, which leads to %s" % (link, shim))
    known = folder is not None or os.path.dirname(link) == FOLDERS[0]
    if folder is not None:
        _keep(folder, list(dict.fromkeys(kept(folder) + [link])))
    print("pymtml drop-in disable --nvidia-smi%s undoes it" % ("" if known else " " + os.path.dirname(link)))
    return 0


def remove(where, folder):
    """Remove the link from a folder; from those remembered, and the usual one, if none is named (exit status)."""
    links = [os.path.join(os.path.abspath(where), NAME)] if where else kept(folder) + [os.path.join(FOLDERS[0], NAME)]
    there = [link for link in dict.fromkeys(links) if is_ours(link)]
    for link in there:
        try:
            os.unlink(link)
        except OSError as error:
            raise CommandError("cannot remove %s: %s" % (link, reason(error)), FAILED)
        print("removed %s" % link)
    if not there:
        print("no nvidia-smi of pymtml's at %s: nothing to undo" % ", ".join(dict.fromkeys(links)))
    if folder is not None:
        _keep(folder, [link for link in kept(folder) if link not in links])
    return 0
