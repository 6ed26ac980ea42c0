"""Processes on a card and its MPC instances, each once, and what cannot be seen of them."""

import os
import sys
import time

import pymtml
from pymtml_cli.common.text import counted
from pymtml_cli.readings.devices import Unknown, ask, then
from pymtml_cli.readings.table import mebibytes

NONE_RUNNING = "No running processes found"
# The kernel gives the host's own namespaces these numbers: include/linux/proc_ns.h, PROC_*_INIT_INO.
FIRST_NAMESPACES = {"pid": "pid:[4026531836]", "user": "user:[4026531837]"}
SECOND_LOOK = 0.25  # seconds after which the driver's counters, which a first look starts, have something to tell
CAP_SYS_PTRACE = 19  # the bit, by include/uapi/linux/capability.h


class Process:
    """A process on a card: ``kind`` is C (computes), G (draws) or C+G; ``instance`` the Device it runs on, or None."""

    def __init__(self, card, pid, kind, memory):
        self.card, self.pid, self.kind, self.memory, self.instance = card, pid, kind, memory, None

    @property
    def name(self):
        """Program as its command line has it, safe to print, or an Unknown."""
        return ask(pymtml.nvmlSystemGetProcessName, self.pid)

    @property
    def instance_id(self):
        """Number of the instance that it runs on, as text."""
        return "N/A" if self.instance is None else str(self.instance.index)

    def used(self, form="%d MiB"):
        """Memory that it uses, as text."""
        return "N/A" if self.memory is None else form % mebibytes(self.memory)


def compute_processes(handle):
    """(processes that compute, number of those that could not be inspected)."""
    return pymtml.nvmlDeviceGetComputeRunningProcesses(handle), pymtml.unseen_processes()


def processes(card):
    """Processes of a card and its instances by pid (list of Process), or an Unknown."""
    found = {}
    for device in [card] + card.instances:
        computing = then(device.ask(compute_processes), lambda answer: answer[0])
        for kind, rows in (("C", computing), ("G", device.ask(pymtml.nvmlDeviceGetGraphicsRunningProcesses))):
            if isinstance(rows, Unknown):
                if device is card and kind == "C":
                    return rows
                continue
            for row in rows:
                process = found.get(row.pid)
                if process is None:
                    process = found[row.pid] = Process(card, row.pid, kind, row.usedGpuMemory)
                elif kind not in process.kind:
                    process.kind = "C+G"
                if device is not card:
                    process.instance = device
    return [found[pid] for pid in sorted(found)]


def listed(cards):
    """Processes of all cards, and {card: why they are not known}."""
    answers = {card: processes(card) for card in cards}
    failed = {card: known.reason for card, known in answers.items() if isinstance(known, Unknown)}
    return [process for card in cards if card not in failed for process in answers[card]], failed


def shares(cards, again=False):
    """Share of a card by pid, in percent, of the processes that were active lately ({card: dict}).

    ``again``: whether to look a second time where a process has none, as the first look since the driver was loaded
    only starts the driver's counters.
    """
    samples = {card: ask(pymtml.nvmlDeviceGetProcessUtilization, card.handle, 0) for card in cards}
    if again and any(_lacks_a_share(card, known) for card, known in samples.items()):
        time.sleep(SECOND_LOOK)
        return shares(cards)
    return {card: {} if isinstance(known, Unknown) else _by_pid(known) for card, known in samples.items()}


def _by_pid(samples):
    return {sample.pid: sample.smUtil for sample in samples}


def _lacks_a_share(card, samples):
    """Whether the driver has a table, and it has no row for a process of the card."""
    known = processes(card)
    if isinstance(known, Unknown) or isinstance(samples, Unknown) and samples.not_supported:
        return False
    return not {process.pid for process in known} <= set(() if isinstance(samples, Unknown) else _by_pid(samples))


def unseen(cards):
    """Number of processes that could not be inspected, any of which may use one of the cards."""
    numbers = [device.ask(compute_processes) for card in cards for device in [card] + card.instances]
    return max([number for _, number in (known for known in numbers if not isinstance(known, Unknown))], default=0)


def _who_sees():
    if os.geteuid():
        return "root sees all"
    return "not even by root" if _may_inspect() else "needs CAP_SYS_PTRACE"


def unseen_text(number):
    """In words, that some processes could not be inspected, and who could."""
    return "%s could not be inspected (%s)" % (counted(number, "process", "processes"), _who_sees())


def in_a_namespace_of_its_own(kind="pid"):
    """Whether processes of other containers, and of the host, do not exist here."""
    try:
        return os.readlink(os.path.join(pymtml._proc_root(), "self", "ns", kind)) != FIRST_NAMESPACES[kind]
    except OSError:
        return False


def held_elsewhere(handle):
    """Whether the driver lists a process of a pid namespace from which none is visible here.

    Inferred from its source, which converts such a pid to 0: see _process_memory in pymtml.py.
    """
    return pymtml._processes_of(handle).memory().elsewhere


def hidden_by():
    """Why processes that use a card may be invisible here (str), or "".

    That one could not be inspected is no reason: on some machines not even root may look into process 1.
    """
    if in_a_namespace_of_its_own():
        return "processes outside this pid namespace are invisible"
    if in_a_namespace_of_its_own("user") or not _may_inspect():
        return "seeing other users' processes needs CAP_SYS_PTRACE"
    return ""


def _may_inspect():
    """Whether this process has CAP_SYS_PTRACE: the tree says, or the system if the tree is only of the driver."""
    for root in (pymtml._proc_root(), "/proc"):
        try:
            with open(os.path.join(root, "self", "status")) as file:
                effective = next(line.split()[1] for line in file if line.startswith("CapEff:"))
            return bool(int(effective, 16) >> CAP_SYS_PTRACE & 1)
        except (OSError, StopIteration, IndexError, ValueError):
            continue
    return False


def remarks(cards, found):
    """Remarks on a list of processes: that it is empty, and why there may be others (list of str).

    NONE_RUNNING, which scripts take for an idle card, is said only where all processes could be seen.
    """
    number, elsewhere = unseen(cards), in_a_namespace_of_its_own()
    if number:
        none = "No process visible to you; %d could not be inspected (%s)" % (number, _who_sees())
        said = ["There may be others: " + unseen_text(number) if found else none]
        return said + ["Processes of other containers exist elsewhere"] * elsewhere
    if elsewhere:
        begin = "Those" if found else "No process in this container; those"
        return [begin + " of other containers exist elsewhere"]
    return [] if found else [NONE_RUNNING]


def say_to_people(cards, said):
    """Warn on stderr, if that is a terminal, that there may be other processes; once for each list ``said``.

    Programs read stdout and stderr together.
    """
    number = unseen(cards)
    texts = ["There may be other processes: %s" % unseen_text(number)] if number else []
    for card, reason in listed(cards)[1].items():
        texts.append("The processes of GPU %d are unavailable: %s" % (card.index, reason))
    if texts and not said and sys.stderr.isatty():
        said += texts
        sys.stderr.write("".join(text + "\n" for text in texts))
