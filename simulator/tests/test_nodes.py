"""libmtgpu_nodes.so: device nodes that answer as the kernel driver does who asks for the memory of processes."""

import errno
import os
import struct
import subprocess
import sys
import time

import interface
import pytest

LIBRARY = os.path.join(interface.BUILD, "libmtgpu_nodes.so")
MEMORY = 0xA3104DA7
# Asks a node, then says what came: an errno, or the answer.
ASK = """
import fcntl, os, sys
path, request, ostype = sys.argv[1], int(sys.argv[2], 0), int(sys.argv[3])
node = os.open(path, getattr(os, sys.argv[4]) | getattr(os, "O_CLOEXEC"))
buffer = bytearray(ostype.to_bytes(4, "little").ljust(8976, b"\\xaa"))
for _ in range(int(sys.argv[5])):
    try:
        fcntl.ioctl(node, request, buffer)
        print("answered", flush=True)
        break
    except OSError as error:
        print(error.errno, flush=True)
assert os.dup(0) == node + 1  # no file is left open
sys.stdout.buffer.write(buffer)
"""


def start(folder, path, request=MEMORY, ostype=1, mode="O_RDONLY", times=1):
    preload = list(filter(None, [os.environ.get("LD_PRELOAD"), LIBRARY]))
    environ = dict(os.environ, LD_PRELOAD=":".join(preload), MTML_SIM_NODES=str(folder))
    command = [sys.executable, "-c", ASK, str(path), str(request), str(ostype), mode, str(times)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ask(*arguments, **options):
    """What each call came to ("answered" or an errno), the last answer, and stderr."""
    said, problem = start(*arguments, **options).communicate(timeout=60)
    head, answer = said[:-8976], said[-8976:]
    return head.decode().split(), answer, problem.decode()


def entries(answer):
    """Entries of an answer, by the driver's offsets."""
    (count,) = struct.unpack_from("<I", answer, 8)
    return [struct.unpack_from("<iIII12Q", answer, 16 + 0x70 * number) for number in range(count)]


@pytest.fixture
def nodes(tmp_path):
    """A folder in which `nodes(2, text)` says how mtgpu.2 answers (path of that node's file)."""

    def write(number, text):
        path = tmp_path / ("mtgpu.%d" % number)
        path.write_text(text)
        return path

    return write


def test_processes(nodes, tmp_path):
    text = "# two of them\nprocess = 4242 pt_lma=3 lma=0x500 uma=7 pt_uma=2 system=11 user=13\ndevice=131\n"
    path = nodes(1, text + "process = 17 host=90017 device=140\n")
    said, answer, problem = ask(tmp_path, path)
    assert (said, problem) == (["answered"], "")
    assert answer[:4] == struct.pack("<I", 1)
    figures = [2, 2, 3, 3, 0x500, 0x500, 7, 7, 11, 11, 13, 13]
    assert entries(answer) == [(131, 1, 4242, 0, *figures), (140, 1, 17, 0, *[0] * 12)]
    # Whoever asks as the host gets the host's numbers.
    assert [entry[2] for entry in entries(ask(tmp_path, path, ostype=0)[1])] == [4242, 90017]


def test_nodes_are_known_by_name(nodes, tmp_path):
    nodes(3, "process = 5")
    other = tmp_path / "host" / "dev"
    other.mkdir(parents=True)
    (other / "mtgpu.3").write_text("")
    # Where the path is missing, as /dev/mtgpu.3 is here, the folder's file is opened.
    for path in (other / "mtgpu.3", "/dev/mtgpu.3"):
        assert entries(ask(tmp_path, path)[1])[0][:3] == (131, 3, 5)
    (other / "mtgpu.30").write_text("")
    (other / "xmtgpu.3").write_text("")
    for name in ("mtgpu.30", "xmtgpu.3"):
        assert ask(tmp_path, other / name)[0] == [str(errno.ENOTTY)]


def test_no_more_than_the_struct_holds(nodes, tmp_path):
    answer = ask(tmp_path, nodes(0, "".join("process = %d\n" % pid for pid in range(1, 201))))[1]
    assert [entry[2] for entry in entries(answer)] == list(range(1, 81))


def test_hostile_answers(nodes, tmp_path):
    answer = ask(tmp_path, nodes(0, "process = 1\ncount = 4000000000"))[1]
    assert struct.unpack_from("<I", answer, 8) == (4000000000,)
    for byte in (0, 0xFF):
        assert ask(tmp_path, nodes(0, "process = 1\nfill = %d" % byte))[1] == bytes([byte]) * 8976
    assert ask(tmp_path, nodes(0, "errno = %d" % errno.EACCES))[0] == [str(errno.EACCES)]
    assert ask(tmp_path, nodes(0, "interrupt = 2"), times=4)[0] == [str(errno.EINTR)] * 2 + ["answered"]


def test_call_that_blocks(nodes, tmp_path):
    process = start(tmp_path, nodes(0, "delay = 100"))
    calls = tmp_path / "calls"
    calls.touch()  # it is there before its line is
    deadline = time.monotonic() + 60
    while not calls.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None and calls.read_text().startswith("%d mtgpu.0 " % process.pid)
    process.kill()
    assert process.communicate()[0] == b""


def test_calls_are_counted(nodes, tmp_path):
    path = nodes(0, "")
    ask(tmp_path, path, mode="O_RDWR")
    assert ask(tmp_path, path, request=0x5451)[0] == ["answered"]  # by the kernel, before any driver
    # Any other goes to the kernel, which knows none for an ordinary file.
    assert ask(tmp_path, path, request=0xA3104DA8)[0] == [str(errno.ENOTTY)]
    lines = [line.split(None, 1)[1] for line in (tmp_path / "calls").read_text().splitlines()]
    assert lines == ["mtgpu.0 0xa3104da7 1 O_RDWR O_CLOEXEC", "mtgpu.0 0xa3104da8 - O_RDONLY O_CLOEXEC"]


@pytest.mark.parametrize("text", ["process", "process = x", "process = 1 lma", "process = 1 vram=5", "speed = 1"])
def test_mistakes(nodes, tmp_path, text):
    path = nodes(0, "\n" + text)
    said, _, problem = ask(tmp_path, path)
    assert (said, problem) == ([str(errno.EINVAL)], "mtml simulator: %s:2: not understood\n" % path)
