"""Options that change something, with nvidia-smi's sentences and exit status.

What MTML can do is done, and looked at afterwards: the ECC mode, the ECC counters, MPC, a reset. Where it cannot, the
sentence says so, and the exit status is 0 for everybody, as nvidia-smi has it: scripts go on.
"""

import contextlib
import os

import pymtml
from pymtml_cli.common import layout
from pymtml_cli.common.errors import (
    BAD_ARGUMENT,
    NO_PERMISSION,
    NOT_AVAILABLE,
    NVIDIA_SMI,
    OTHER,
    called,
    refuse,
    see_help,
    worded,
)
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import spelled
from pymtml_cli.common.samples import Output
from pymtml_cli.language import CHANGE_ROWS, MODIFICATIONS, OPTIONS
from pymtml_cli.readings import driver_files
from pymtml_cli.readings.devices import Machine, Unknown, ask, describe, uuid_of
from pymtml_cli.readings.processes import held_elsewhere, hidden_by, processes
from pymtml_cli.readings.table import COMPUTE_MODES, enabled
from pymtml_cli.smi.listing import address

WARNING = "Treating as warning and moving on.\n"
EARLY = "Terminating early due to previous errors.\n"
DONE = "All done.\n"
REBOOT = "Reboot required.\n"
USE_DEFERRED = "This option is not supported. Please use --lock-memory-clocks-deferred instead.\n"


class NotPossible(Exception):
    """The card cannot do that: a warning."""


class Failed(Exception):
    """The card could, and did not: the end, with an exit status and a hint."""

    def __init__(self, text, status, hint=""):
        Exception.__init__(self, text)
        self.status, self.hint = status, hint


# ---- values ----


def _choice(*words):
    """A value that is one of some words, or the number of one."""

    def value(text):
        chosen = number(text, 0, len(words) - 1)
        return chosen if chosen is not None else words.index(text.upper()) if text.upper() in words else None

    value.words = words
    return value


def _numbers(least, most):
    """A value of so many whole numbers, separated by commas."""

    def value(text):
        found = [number(part, 0, 1 << 31) for part in text.split(",")]
        return found if least <= len(found) <= most and None not in found else None

    return value


def _one_of(*words):
    """A value that is one of some words, and is not looked at beyond that."""
    return lambda text: text if text in words or str(text).upper() in words else None


# What reads a value, by the word for it in changes.txt; it returns None for an invalid one
READERS = {
    "N": _numbers(1, 1),
    "N[,N]": _numbers(1, 2),
    "N,N": _numbers(2, 2),
    "WATTS": lambda text: number(text, 0, 1 << 31, whole=False),
    "[bus]": _one_of(True, "bus"),
    "TYPE": _one_of("3", "4", "VGPU", "VSGA"),
}
VALUES, SENTENCES = {}, {}
for _option, *_sentence in CHANGE_ROWS:
    ((_spellings, _value),) = spelled([_option])
    VALUES[_spellings[-1].lstrip("-")], SENTENCES[_spellings[-1].lstrip("-")] = _value, "".join(_sentence)
# How a value that is none is called, where nvidia-smi has a sentence of its own
INVALID = {
    "ecc-config": "Invalid ECC configuration code: %s\n",
    "compute-mode": "Invalid compute mode: %s\n",
    "multi-instance-gpu": "Invalid MPC Mode: %s\n",
}

OF_ANOTHER = {"mode": "lock-gpu-clocks", "scope": "power-limit"}  # modifier: the option that it belongs to


def reader(name):
    """What reads the value of an option, or None."""
    word = VALUES.get(name, "")
    return _choice(*word.split("|")) if "|" in word else READERS.get(word)


def _checked(options):
    """The changes that were asked for, as (option, value), in the order in which they were.

    Raises: CommandError for a value that is none.
    """
    changes = []
    for name, text in options.values.items():
        read = reader(name)
        value = text if read is None else read(text)
        if value is None:
            if name in INVALID:
                raise refuse(worded(INVALID[name]) % text + EARLY)
            named = text, OPTIONS[name][0][0]
            form = "ERROR: Option %s is invalid for %s. Please run '%s -h' for help.\n\n"
            raise refuse(form % (*named, called()), hint=see_help(), ours="%s is no value of %s" % named)
        if name in OF_ANOTHER and OF_ANOTHER[name] not in options.values:
            text = "Invalid combination of input arguments. '%s' can only be used with '%s'.\n"
            other = OPTIONS[OF_ANOTHER[name]][0][-1]
            raise refuse(text % (OPTIONS[name][0][-1], other + "s" * (name == "scope")))
        if name in RESTARTING:
            value = value, "force" in options.values
        if name in MODIFICATIONS:
            changes.append((name, value))
    if "gpu-reset" in options.values and options.get("id") is None:
        raise refuse("Option -i is missing: a reset is for the GPUs that it names.\n" + EARLY)
    return changes


# ---- what MTML cannot do ----


def _accounting_mode(card, value):
    if not value and card.ask(pymtml.nvmlDeviceGetAccountingMode) == pymtml.NVML_FEATURE_DISABLED:
        return "Accounting Mode is already Disabled for GPU %s.\n" % address(card)
    verb = "enable" if value else "disable"
    raise NotPossible("Unable to %s Accounting Mode for GPU %s: Not Supported" % (verb, address(card)))


def _compute_mode(card, value):
    word = COMPUTE_MODES[value].upper()
    if card.ask(pymtml.nvmlDeviceGetComputeMode) == value:
        return "Compute mode is already set to %s for GPU %s.\n" % (word, address(card))
    raise NotPossible("Setting compute mode to %s is not supported for GPU: %s." % (word, address(card)))


def _power_limit(card, value):
    if not value:  # below any range; MTML reports none
        form = "Provided power limit 0.00 W is not a valid power limit which should be between N/A and N/A for GPU %s"
        raise Failed(form % address(card), BAD_ARGUMENT)
    raise NotPossible("Changing power management limit is not supported for GPU: %s." % address(card))


# ---- what MTML can do ----


def _known(sentence, answer):
    """An answer; an error is a warning, or the end."""
    if not isinstance(answer, Unknown):
        return answer
    text = "%s: %s" % (sentence, pymtml.nvmlErrorString(nvml_code(answer.error)))
    if answer.not_supported:
        raise NotPossible(text)
    raise Failed(text, exit_status(answer.error))


def nvml_code(error):
    """NVML's code of an error, also of one of MTML's."""
    for base in type(error).__mro__:
        if base.__name__.startswith("NVMLError_"):
            return base().value
    return pymtml.NVML_ERROR_UNKNOWN


def exit_status(error):
    """Exit status for an error: NVML's code, at most OTHER."""
    return min(nvml_code(error), OTHER)


def _unchanged(sentence):
    return Failed(sentence + ": the driver accepted it, but nothing changed", OTHER)


def _ecc_config(card, value):
    sentence = "Unable to set ECC config for GPU %s" % address(card)
    if _known(sentence, card.ask(pymtml.nvmlDeviceGetEccMode))[1] == value:
        return "ECC support is already %s for GPU %s.\n" % (enabled(value), address(card))
    _known(sentence, ask(pymtml.nvmlDeviceSetEccMode, card.handle, value))
    card.forget()
    modes = card.ask(pymtml.nvmlDeviceGetEccMode)
    if isinstance(modes, Unknown) or modes[1] != value:
        raise _unchanged(sentence)
    return "%s ECC support for GPU %s.\n" % (enabled(value), address(card))


def _waits_for_reboot(card):
    modes = card.ask(pymtml.nvmlDeviceGetEccMode)
    return not isinstance(modes, Unknown) and modes[0] != modes[1]


def _reset_ecc_errors(card, value):
    counter = (pymtml.NVML_VOLATILE_ECC, pymtml.NVML_AGGREGATE_ECC)[value]
    sentence = "Unable to clear ECC errors for GPU %s" % address(card)
    done = ask(pymtml.nvmlDeviceClearEccErrorCounts, card.handle, counter)
    if isinstance(done, Unknown) and done.not_supported:
        raise NotPossible("ECC features not supported for GPU %s." % address(card))
    _known(sentence, done)
    for kind in (pymtml.NVML_MEMORY_ERROR_TYPE_CORRECTED, pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED):
        left = ask(pymtml.nvmlDeviceGetTotalEccErrors, card.handle, kind, counter)
        if not isinstance(left, Unknown) and left:
            raise _unchanged(sentence)
    return "Reset %s ECC errors to zero for GPU %s.\n" % (("volatile", "aggregate")[value], address(card))


_GONE = "%s, but the library did not come back: %%s"
_BUSY = Failed(pymtml.nvmlErrorString(pymtml.NVML_ERROR_IN_USE), pymtml.NVML_ERROR_IN_USE)


def obstacle(card, forced):
    """Why a card may not be changed (Failed): somebody else has it open, or that cannot be known. None if it may.

    No other look prevents it: the header of MTML 2.2.0 documents no error of these functions for a card in use.
    """
    known = processes(card)
    if not isinstance(known, Unknown) and any(process.pid != os.getpid() for process in known):
        return _BUSY
    if card.ask(held_elsewhere) is True:
        return _BUSY
    if forced:
        return None
    if isinstance(known, Unknown) and not known.not_supported:  # the library is gone, say
        return Failed(pymtml.nvmlErrorString(nvml_code(known.error)), exit_status(known.error))
    hidden = "no processes are visible" if isinstance(known, Unknown) else hidden_by()
    if not hidden:
        return None
    hint = "run it as root on the host" + ", or with --force if nobody uses the card" * (called() != NVIDIA_SMI)
    return Failed("whether it is in use cannot be seen (%s)" % hidden, _BUSY.status, hint)


def _multi_instance_gpu(card, asked):
    value, forced = asked
    machine, place, verb, word = card.machine, address(card), ("disable", "enable")[value], enabled(value)
    sentence = worded("Unable to %s MPC Mode for GPU %s") % (verb, place)
    if _known(sentence, card.ask(pymtml.nvmlDeviceGetMigMode))[0] == value:
        return worded("MPC Mode is already %s for GPU %s.\n") % (word, place)
    found = obstacle(card, forced)
    if found:
        raise Failed("%s: %s" % (sentence, found), found.status, found.hint)
    done = ask(pymtml.nvmlDeviceSetMigMode, card.handle, value)
    if isinstance(done, Unknown):
        if not machine.is_gone:
            _known(sentence, done)
        if machine.restart():
            raise Failed(worded(_GONE % "%s MPC Mode for GPU %s") % (word, place, done.reason), OTHER)
    machine.look_again()
    modes = machine.again(card).ask(pymtml.nvmlDeviceGetMigMode)
    if isinstance(modes, Unknown) or modes[0] != value:
        raise _unchanged(sentence)
    return worded("%s MPC Mode for GPU %s\n") % (word, place)


def _gpu_reset(card, value):
    place, uuid, directory = address(card), uuid_of(card), driver_files.directory_of(card)
    sentence = "Unable to reset GPU %s" % place
    if hasattr(os, "geteuid") and os.geteuid():
        raise Failed(sentence + ": Insufficient Permissions (a reset is for root)", NO_PERMISSION)
    found = obstacle(card, value[1])
    if found and found is not _BUSY:
        raise Failed("%s: %s" % (sentence, found), found.status, found.hint)
    done = None if found else ask(pymtml.mtmlDeviceReset, card.handle)
    if found or (isinstance(done, Unknown) and isinstance(done.error, pymtml.NVMLError_InUse)):
        text = layout.blocks("smi/texts.txt")["gpu-reset of a card in use"].format(gpu=place, name=called())
        raise Failed(text if called() == NVIDIA_SMI else sentence + ": In use by another client", _BUSY.status)
    if isinstance(done, Unknown) and done.not_supported:
        raise Failed("Resetting GPU %s is not supported." % place, NOT_AVAILABLE)
    _known(sentence, done)
    if directory is not None and not isinstance(uuid, Unknown):
        with contextlib.suppress(OSError, ValueError):  # its XIDs then count until they are old
            driver_files.note_reset(uuid, directory)
    gone = card.machine.restart()
    if gone:
        raise Failed(_GONE % "GPU %s was reset" % (place, gone.reason), OTHER)
    name = card.machine.again(card).ask(pymtml.nvmlDeviceGetName)
    if isinstance(name, Unknown):
        raise Failed("GPU %s was reset, but does not answer: %s" % (place, describe(name.error)), OTHER)
    return "GPU %s was successfully reset.\n" % place


def _end(text, status, hint=""):
    """What ends the command after a failure."""
    if status == NO_PERMISSION:
        hint = "run it as root; `pymtml doctor` shows what this user may do"
    return refuse("%s\n%s" % (text, EARLY) if text else EARLY, status, hint)


# Changes that a card can make, or that need more than a sentence: each returns a text or raises NotPossible or Failed
CHANGES = {
    "ecc-config": _ecc_config,
    "reset-ecc-errors": _reset_ecc_errors,
    "compute-mode": _compute_mode,
    "gpu-reset": _gpu_reset,
    "lock-memory-clocks": lambda card, value: USE_DEFERRED,
    "power-limit": _power_limit,
    "accounting-mode": _accounting_mode,
    "multi-instance-gpu": _multi_instance_gpu,
}
RESTARTING = ("gpu-reset", "multi-instance-gpu")  # after which C is initialized anew: each card is tried


def answer(options):
    """Make the changes, card by card (exit status)."""
    changes = _checked(options)
    warned, failed = False, []
    with Output() as output, Machine() as machine:
        cards = machine.chosen(options.get("id"))
        places = [address(card) for card in cards]  # which a card keeps, should the library or the card be gone
        for name, value in changes:
            for card, place in zip(cards, places):
                try:
                    if name not in CHANGES:
                        raise NotPossible(SENTENCES[name].format(gpu=place))
                    output.write(CHANGES[name](machine.again(card), value))
                except NotPossible as error:
                    warned = True
                    output.write("%s\n%s" % (error, WARNING))
                except Failed as error:
                    failed.append(error.status)
                    if name in RESTARTING and error.status != NO_PERMISSION and card is not cards[-1]:
                        output.write("%s\n" % error)
                        if machine.is_gone:
                            machine.restart()
                        continue
                    raise _end(error, max(failed), error.hint)
            if failed:
                raise _end("", max(failed))
        waiting = "ecc-config" in options.values and any(_waits_for_reboot(machine.again(card)) for card in cards)
        output.write(DONE + REBOOT * waiting)
    return NOT_AVAILABLE if warned and options.get("error-on-warning") else 0
