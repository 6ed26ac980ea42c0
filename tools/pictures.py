#!/usr/bin/env python3
"""Draws the pictures of the documents: what programs print on a terminal, on eight simulated GPUs, as SVG.

What differs from run to run stands for itself: the time and the name of the host. rich draws; the frame is
ours, so that a picture needs no font and no address from outside. tests/test_readme.py compares the words.
"""

import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

import simulated  # noqa: E402
from mtml_simulator import driver_files  # noqa: E402

FOLDER = os.path.join(ROOT, "docs", "pictures")
COLUMNS = 80
# One card is hot, so that there is something to see.
MACHINE = {"name": "s5000x8", "set": "5.gpu_temperature=88"}
# Processes that have a card open: card, pid, program
PROCESSES = tuple((card, 4242 + card, "sglang::scheduler_TP%d" % card) for card in range(5)) + ((5, 5151, "ffmpeg"),)
# Picture: the commands whose output stands in it, one below the other
PICTURES = {"eight-cards.svg": ("pymtml", "pymtml run gpustat")}
# A command that asks the terminal for what it can gets none, and is told by an option to use colors all the same.
WITHOUT_TERMINAL = {"pymtml run gpustat": ["--force-color"]}
# Of what a program prints: what is of this run, and what stands for it
OF_THIS_RUN = (
    # gpustat begins with the host's name.
    (re.compile(r"(?m)^(\x1b\S*?)%s *(?=\x1b)" % re.escape(os.uname().nodename)), r"\1gpu-host"),
    (re.compile(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}"), "Sun Nov 22 20:07:40 2026"),
    (re.compile(r"\d\d:\d\d:\d\d"), "20:07:40"),
)

PIPES = {"stdout": subprocess.PIPE, "universal_newlines": True, "check": True}

# rich's cell, and the margin around all. Letters of that width: most monospaced fonts are 0.602 times as wide as high.
CELL_WIDTH, LINE_HEIGHT, MARGIN = 12.2, 24.4, 12
FONT_SIZE = CELL_WIDTH / 0.602
FORMAT = """\
<svg class="{unique_id}" viewBox="0 0 WIDTH HEIGHT" xmlns="http://www.w3.org/2000/svg">
    <!-- Written by tools/pictures.py: make pictures. -->
    <style>
    .{unique_id}-matrix {{
        font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
        font-size: FONT_SIZEpx;
    }}
    {styles}
    </style>
    <rect fill="#1e2127" width="WIDTH" height="HEIGHT" rx="8" />
    <g class="{unique_id}-matrix" transform="translate(MARGIN, MARGIN)">
    {matrix}
    </g>
</svg>
"""


def write_processes(folder, more):
    """Writes a proc file system with these processes; ``more`` is added to their numbers."""
    for card, pid, program in PROCESSES:
        driver_files.write_process(folder, pid + more, [program], "/dev/mtgpu.%d" % card)


def printed(command):
    """What a command prints on a terminal, with its colors (str)."""
    with tempfile.TemporaryDirectory() as folder:
        # gpustat shows those that this machine has as well, so it gets numbers that no Linux has.
        write_processes(folder, 1 << 22 if command in WITHOUT_TERMINAL else 0)
        env = simulated.environment(**MACHINE)
        env = {key: value for key, value in env.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        env = {key: value for key, value in env.items() if not key.startswith(("MUSA_", "CUDA_", "NVIDIA_"))}
        env.update(TERM="xterm-256color", PYMTML_PROC_ROOT=folder, TZ="UTC", LC_ALL="C.UTF-8")
        env["PYMTML_MUSA_LIBRARY"] = simulated.MUSA_LIBRARY
        arguments = [sys.executable, "-m"] + command.split()
        if command in WITHOUT_TERMINAL:
            text = subprocess.run(arguments + WITHOUT_TERMINAL[command], cwd=ROOT, env=env, **PIPES).stdout
        else:
            text = on_a_terminal(arguments, env)
    for pattern, stand_in in OF_THIS_RUN:
        text = pattern.sub(stand_in, text)
    return text


def on_a_terminal(arguments, env):
    """What a command prints on a terminal of its own (str)."""
    own, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    process = subprocess.Popen(arguments, cwd=ROOT, env=env, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    pieces = [b""]
    try:
        while not pieces[1:] or pieces[-1]:
            pieces.append(os.read(own, 65536))
    except OSError:  # the other end is closed
        pass
    os.close(own)
    text = b"".join(pieces).decode("utf-8").replace("\r\n", "\n")
    if process.wait():
        sys.exit("%s: status %d\n%s" % (" ".join(arguments), process.returncode, text))
    return text


def shown(commands):
    """The text of a picture, with colors: each command behind a prompt, and what it prints."""
    parts = ["\x1b[1;32m$\x1b[0m %s\n%s" % (command, printed(command)) for command in commands]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def words(text):
    """The words of a text without its colors (list)."""
    return re.sub(r"\x1b\[[\d;]*m", "", text).split()


def words_of_a_picture(path):
    """The words that an SVG shows, line by line (list)."""
    lines = {}
    for element in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text"):
        line = lines.setdefault(float(element.get("y")), [" "] * COLUMNS)
        column = round(float(element.get("x")) / CELL_WIDTH)
        line[column : column + len(element.text)] = element.text
    return [word for _, line in sorted(lines.items()) for word in "".join(line).split()]


def by_words(match):
    """A text element as one element a word, each at its place: librsvg ignores `textLength` and drops spaces."""
    style, left, height, text = match.groups()
    elements = []
    for word in re.finditer(r"\S+", html.unescape(text).replace("\xa0", " ")):
        place = (style, float(left) + word.start() * CELL_WIDTH, height, len(word.group()) * CELL_WIDTH)
        elements.append(
            '<text class="%s" x="%g" y="%s" textLength="%g">' % place + html.escape(word.group()) + "</text>"
        )
    return "".join(elements) + "\n" * text.endswith("\n")


def draw(commands, path):
    """Writes a picture."""
    import rich.console
    import rich.terminal_theme
    import rich.text

    console = rich.console.Console(width=COLUMNS, record=True, file=open(os.devnull, "w"), force_terminal=True)
    text = shown(commands).rstrip("\n")
    console.print(rich.text.Text.from_ansi(text), no_wrap=True, overflow="ignore", crop=False)
    theme = rich.terminal_theme.TerminalTheme(
        (30, 33, 39),
        (200, 204, 212),
        [(120, 127, 140), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221)]
        + [(86, 182, 194), (200, 204, 212)],
        [(120, 127, 140), (240, 113, 120), (170, 217, 130), (240, 200, 120), (115, 185, 250), (215, 140, 235)]
        + [(100, 200, 210), (255, 255, 255)],
    )
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, (text.count("\n") + 1) * LINE_HEIGHT + 2 * MARGIN
    frame = FORMAT
    for name, number in (("WIDTH", width), ("HEIGHT", height), ("MARGIN", MARGIN), ("FONT_SIZE", FONT_SIZE)):
        frame = frame.replace(name, "%g" % number)
    svg = console.export_svg(title="", theme=theme, code_format=frame, unique_id=os.path.basename(path)[:-4])
    svg = re.sub(r'<text class="(\S+)" x="(\S+)" y="(\S+)"[^>]*>([^<]*)</text>', by_words, svg)
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"[ \t]*\n\s*", "\n", svg))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, commands in sorted(PICTURES.items()):
        draw(commands, os.path.join(FOLDER, name))


if __name__ == "__main__":
    main()
