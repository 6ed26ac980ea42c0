"""The machines that can be simulated: the shipped profiles, and files of the user's own."""

import os
from typing import List, Tuple

from . import places

FROZEN = "+frozen"
DEFAULT = "s5000x8"


class ProfileError(ValueError):
    """A profile that is not there, or that the simulator refuses."""


def names() -> List[str]:
    """Names of the shipped profiles (list of str, sorted)."""
    return sorted(name[:-4] for name in os.listdir(places.PROFILES) if name.endswith(".ini"))


def split(profile: str) -> Tuple[str, bool]:
    """A profile's name or path, and whether its values are to stay what the file says (str, bool)."""
    if profile.endswith(FROZEN) and profile != FROZEN:
        return profile[: -len(FROZEN)], True
    return profile, False


def path(profile: str) -> str:
    """File of a profile, given by its name or path, with or without `+frozen` (absolute path).

    Raises: ProfileError, which lists the shipped profiles, when there is none.
    """
    name, _ = split(profile)
    shipped = os.path.join(places.PROFILES, name + ".ini")
    if "/" not in name and not name.endswith(".ini") and os.path.isfile(shipped):
        return shipped
    if name and os.path.isfile(name):
        return os.path.abspath(name)
    raise ProfileError(
        'there is no profile "%s": give the path of a profile file, or one of %s' % (profile, ", ".join(names()))
    )


def from_folder(profile: str, folder: str) -> str:
    """A profile that is named as seen from a folder: the path of a file there is made absolute (str)."""
    name, frozen = split(profile)
    file = os.path.join(folder, name)
    if name in names() or not os.path.isfile(file):
        return profile
    return file + (FROZEN if frozen else "")


def value(profile: str) -> str:
    """What MTML_SIM_PROFILE is to hold for a profile, so that it is found from every folder (str).

    Raises: ProfileError.
    """
    name, frozen = split(profile)
    found = path(profile)
    shipped = os.path.dirname(found) == places.PROFILES
    return (name if shipped and os.path.basename(found) == name + ".ini" else found) + (FROZEN if frozen else "")


def text(profile: str) -> str:
    """A profile's text; with `+frozen` it says so itself (str).

    Raises: ProfileError, OSError.
    """
    lines = places.read(path(profile)).splitlines(True)
    if split(profile)[1]:
        lines = [line for line in lines if line.split("=")[0].strip() != "frozen"]
        lines.insert([line.strip() for line in lines].index("[machine]") + 1, "frozen = yes\n")
    return "".join(lines)


def summary(name: str) -> str:
    """The first sentence of the comment that a profile begins with (str)."""
    words: List[str] = []
    for line in places.read(path(name)).splitlines():
        if not line.startswith(("#", ";")):
            break
        words += line[1:].split()
    return " ".join(words).split(". ")[0]


def check(profile: str) -> None:
    """Nothing, for a profile that the simulator takes.

    Raises: ProfileError, SimulatorError.
    """
    from . import native

    library = native.load()
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("MTML_SIM_")}
    os.environ["MTML_SIM_PROFILE"] = value(profile)
    try:
        if not library.mtmlSimGetLibraryReferences() and library.mtmlSimLoad():
            raise ProfileError(native.message(library))
    finally:
        del os.environ["MTML_SIM_PROFILE"]
        os.environ.update(before)
        library.mtmlSimReload()
