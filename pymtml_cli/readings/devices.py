"""The machine as the subcommands see it: cards, MPC instances below them, each value or the reason it is unknown."""

import os
import sys
import time

import pymtml
from pymtml_cli.common import errors
from pymtml_cli.common.errors import OTHER, CommandError, called, refuse
from pymtml_cli.common.text import safe

if not hasattr(pymtml, "unseen_processes"):
    raise CommandError(
        "Python finds another module named pymtml, %s; install pymtml's wheel again, or remove that one"
        % getattr(pymtml, "__file__", "without a file"),
        OTHER,
    )


MOST_DEVICES = 4096
PATIENCE = 5  # seconds


class Unknown:
    """In the place of a value: the error why it is unknown."""

    __slots__ = ("error",)

    def __init__(self, error):
        self.error = error

    @property
    def not_supported(self):
        """Whether hardware, driver or library cannot answer; otherwise they could and failed."""
        return isinstance(self.error, (pymtml.NVMLError_NotSupported, pymtml.NVMLError_FunctionNotFound))

    @property
    def reason(self):
        """The error in the words of NVML, such as "GPU is lost"."""
        error = cause(self.error)
        of_mtml = isinstance(error, pymtml._MTMLTexts)  # whose codes are MTML's
        return safe(error if of_mtml else pymtml.nvmlErrorString(error.value))

    def __str__(self):
        return "N/A" if self.not_supported else self.reason


class Implausible(Unknown):
    """In the place of an impossible number; ``text`` has what the card returned. Users see an Unknown Error."""

    __slots__ = ("text",)

    def __init__(self, text):
        Unknown.__init__(self, pymtml.NVMLError(pymtml.NVML_ERROR_UNKNOWN))
        self.text = text

    @property
    def reason(self):
        """Why it is no answer."""
        return "implausible: " + self.text

    def __str__(self):
        return pymtml.nvmlErrorString(self.error.value)


def cause(error):
    """The error that a failure is named after: a look-up that timed out is a Timeout."""
    by_look_up = isinstance(error, pymtml.NVMLError_Unknown) and error.mtml_code == pymtml.MTML_ERROR_TIMEOUT
    return pymtml.NVMLError(pymtml.NVML_ERROR_TIMEOUT) if by_look_up else error


def unreported(*_):
    """The value of a field that has no counterpart on these cards."""
    return Unknown(pymtml.NVMLError(pymtml.NVML_ERROR_NOT_SUPPORTED))


def ask(function, *arguments):
    """What a pymtml function answers, text made safe to print, or an Unknown: also one among the arguments."""
    unknown = next((argument for argument in arguments if isinstance(argument, Unknown)), None)
    if unknown is not None:
        return unknown
    try:
        answer = function(*arguments)
    except pymtml.MTMLError as error:
        return Implausible(error.detail) if error.detail == pymtml._ALL_ONES else Unknown(error)
    return safe(answer) if isinstance(answer, str) else answer


def then(value, function):
    """``function`` of a value; an Unknown stays what it is."""
    return value if isinstance(value, Unknown) else function(value)


def musa_version():
    """Version of the MUSA driver API as text, or an Unknown."""
    return then(ask(pymtml.nvmlSystemGetCudaDriverVersion), lambda code: "%d.%d" % (code // 1000, code % 1000 // 10))


# What is printed under NVIDIA's name has the form that programs for NVIDIA rely on.


def uuid_of(device):
    """UUID of a card or an instance, or an Unknown; without NVIDIA's prefix, which PYMTML_UUID may put before it."""
    found = device.ask(pymtml.nvmlDeviceGetUUID)
    return then(found, lambda uuid: uuid[4:] if uuid.startswith(("GPU-", "MIG-")) else uuid)


def prefixed(uuid, prefix="GPU-"):
    """A UUID as it is printed: under NVIDIA's name it begins with GPU- or MIG-."""
    return prefix + uuid if uuid and called() == errors.NVIDIA_SMI else uuid


def shown_uuid(device):
    """UUID of a card or an instance as it is printed, or an Unknown."""
    return then(uuid_of(device), lambda uuid: prefixed(uuid, "GPU-" if device.parent is None else "MIG-"))


def shown_driver(version):
    """A driver version as it is printed: under NVIDIA's name its leading digits and dots."""
    if called() != errors.NVIDIA_SMI or isinstance(version, Unknown):
        return version
    rest = version.lstrip("0123456789.")
    return version[: len(version) - len(rest)].rstrip(".") or unreported()


def host():
    """The name of this host."""
    if hasattr(os, "uname"):
        return os.uname()[1]
    import platform

    return platform.node()


class Device:
    """A card, or an MPC instance below its card. Answers are kept until ``forget``, so that they fit each other."""

    def __init__(self, machine, handle, index, parent=None):
        self.machine, self.handle, self.index, self.parent = machine, handle, index, parent
        self.instances = []
        self.peers = {}  # by MtLink: the index of the card at its end, which `metrics` keeps
        self._answers = {}

    def ask(self, function, *arguments):
        """What a pymtml function answers on this device, or an Unknown."""
        key = (function, arguments)
        if key not in self._answers:
            self._answers[key] = ask(function, self.handle, *arguments)
        return self._answers[key]

    def field(self, field_id):
        """Value of a NVML field as a number, or an Unknown."""
        values = self.ask(pymtml.nvmlDeviceGetFieldValues, (field_id,))
        if isinstance(values, Unknown):
            return values
        if values[0].nvmlReturn != pymtml.NVML_SUCCESS:
            return Unknown(pymtml.NVMLError(values[0].nvmlReturn))
        return field_number(values[0])

    def forget(self):
        """Ask everything anew from now on."""
        self._answers.clear()
        for instance in self.instances:
            instance.forget()


def field_number(value):
    """The number that a c_nvmlFieldValue_t holds, by its type."""
    members = {
        pymtml.NVML_VALUE_TYPE_DOUBLE: "dVal",
        pymtml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
        pymtml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
        pymtml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
        pymtml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
        pymtml.NVML_VALUE_TYPE_SIGNED_INT: "siVal",
    }
    return getattr(value.value, members[value.valueType])


def virtual_device(card, uuid):
    """The Device for an active virtual device of a card."""
    return Device(card.machine, ask(pymtml.mtmlDeviceInitVirtDevice, card.handle, uuid), None, card)


class Moment:
    """When a sample was taken, in nvidia-smi's forms, and as documents have it."""

    def __init__(self):
        now = time.time()
        local = time.localtime(now)
        self.exact = time.strftime("%Y/%m/%d %H:%M:%S", local) + ".%03d" % (now % 1 * 1000)
        self.long, self.utc = time.asctime(local), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        self.date, self.clock = time.strftime("%Y%m%d", local), time.strftime("%H:%M:%S", local)


class Machine:
    """The initialized library and its cards; ``time`` is that of the sample under way.

    Values of the machine: ``driver_version``, text or Unknown; ``files``, what `driver_files` has read for the sample.

    Raises: CommandError if the library cannot be used.
    """

    def __init__(self):
        self._hint = None
        self.expect(True)
        try:
            self._begin()
        except BaseException:
            self.expect(False)
            raise

    def _begin(self):
        try:
            pymtml.nvmlInit()
        except pymtml.MTMLError as error:
            raise initialization_error(error)
        self.time, self.cards, self.files = Moment(), [], None
        self.driver_version = ask(pymtml.nvmlSystemGetDriverVersion)
        try:
            self.look_again()
        except BaseException:
            ask(pymtml.nvmlShutdown)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ask(pymtml.nvmlShutdown)
        self.expect(False)

    def expect(self, something):
        """Whether answers are expected: on a terminal the first that takes long is said to be waited for."""
        if self._hint is not None:
            self._hint.cancel()
        if something and sys.stderr.isatty():
            from pymtml_cli.common.people import later

            text = "%s: waiting for the driver; `pymtml doctor --timeout 10` reports where it hangs\n" % called()
            self._hint = later(text, PATIENCE)

    def look_again(self):
        """Count the cards anew, and ask everything anew from now on.

        Raises: CommandError.
        """
        devices = ask(pymtml.mtmlLibraryCountDevice)
        if not isinstance(devices, Unknown) and devices > MOST_DEVICES:
            text = "the driver counts %d devices, more than the %d that are possible"
            raise CommandError(text % (devices, MOST_DEVICES), OTHER)
        count = ask(pymtml.nvmlDeviceGetCount)
        if isinstance(count, Unknown):
            handles = [] if isinstance(devices, Unknown) else _likely_cards(devices)
            if all(isinstance(handle, Unknown) for handle in handles):
                text = "cannot count the devices: %s; run `pymtml doctor` to find out more" % describe(count.error)
                raise CommandError(text, OTHER)
        else:
            handles = [ask(pymtml.nvmlDeviceGetHandleByIndex, index) for index in range(count)]
        self.cards = [Device(self, handle, index) for index, handle in enumerate(handles)]
        for card in self.cards:
            places = enumerate(_places(card))
            card.instances = [Device(self, it, number, card) for number, it in places if not isinstance(it, Unknown)]

    def restart(self):
        """Start the library again, after a change that it survives in no other way, and look again.

        Returns the Unknown for which it did not come back, or None.
        """
        ask(pymtml.mtmlLibraryShutDown)
        if self.is_gone:  # else C refused the shutdown, and is initialized as before
            failed = ask(pymtml.nvmlInit)
            if isinstance(failed, Unknown):
                return failed
        return self.look_again()

    def again(self, card):
        """A card as it is after `look_again`: at its PCI address, or at its index if the card there cannot be opened.

        Indices change if a card is gone. That answers nothing.
        """
        place, same = pci_address(card), self.cards[card.index : card.index + 1]
        found = [one for one in self.cards if one is card or place is not None and pci_address(one) == place]
        found = [one for one in found if len(found) == 1 or one.index == card.index]  # of two at one address
        found += [one for one in same if isinstance(one.handle, Unknown)]
        return found[0] if found else Device(self, Unknown(pymtml.NVMLError(pymtml.NVML_ERROR_NOT_FOUND)), card.index)

    @property
    def is_gone(self):
        """Whether the library did not come back after a change."""
        count = ask(pymtml.nvmlDeviceGetCount)
        return isinstance(count, Unknown) and isinstance(count.error, pymtml.NVMLError_Uninitialized)

    def next_sample(self):
        """Ask everything anew from now on."""
        self.expect(True)
        self.time, self.files = Moment(), None
        self.driver_version = self.driver_version or ask(pymtml.nvmlSystemGetDriverVersion)  # "" while it comes up
        for card in self.cards:
            card.forget()

    def chosen(self, text):
        """Cards that an -i argument names by index, UUID or PCI address, in index order; None names all.

        Raises: CommandError for a name that no card has; under NVIDIA's name only if all are such, as in nvidia-smi.
        """
        cards = self.cards
        if text is not None:
            wanted = list(filter(None, map(str.strip, text.split(","))))
            if not wanted:
                raise refuse("Failed to parse device string on command line", OTHER)
            cards = [card for card in cards if any(_is_named(card, name) for name in wanted)]
            for name in wanted:
                named = [card.index for card in cards if _is_named(card, name)]
                if len(named) > 1:
                    line = "cards %s report %s: name one by its index" % (" and ".join(map(str, named)), name)
                    raise refuse(line, errors.NO_SUCH_DEVICE)
            unknown = [name for name in dict.fromkeys(wanted) if not any(_is_named(card, name) for card in cards)]
            if self.cards and unknown:
                line = _not_found(unknown, self.cards)
                if called() != errors.NVIDIA_SMI:
                    raise CommandError(line, errors.NO_SUCH_DEVICE)
                if not cards:
                    raise no_devices(line)
                if sys.stderr.isatty():  # programs read stdout and stderr together
                    sys.stderr.write("%s: %s\n" % (called(), safe(line)))
        if not cards:
            raise no_devices()
        return cards


def status(cards):
    """Exit status of what shows some cards: 15 if one of them cannot be opened."""
    return errors.CARD_IS_LOST if any(isinstance(card.handle, Unknown) for card in cards) else 0


_DOCTOR = "`pymtml doctor` reports why, and what to do about it"


def no_devices(hint=_DOCTOR):
    """The error for a machine without devices, or without one that was asked for."""
    return refuse("No devices were found\n", errors.NO_SUCH_DEVICE, hint)


def _not_found(names, cards):
    """The line for names in -i that no card has: what they name instead, and which cards there are."""
    parts = []
    for name in names:
        instance = next((i for card in cards for i in card.instances if is_uuid(i, name)), None)
        if instance is None:
            lost = any(isinstance(card.handle, Unknown) for card in cards)  # which has no UUID or address here
            parts.append(("no card that can be opened is %s" if lost else "there is no card %s") % name)
        else:
            form = errors.worded("%s is MPC instance %d of card %d, and -i takes cards")
            parts.append(form % (name, instance.index, instance.parent.index))
    here = "card 0" if len(cards) == 1 else "cards 0 to %d" % (len(cards) - 1)
    return "%s; %s -L lists %s" % (", ".join(parts), called(), here)


def _likely_cards(count):
    """Handles of the cards among MTML's devices, or an Unknown for one that is lost (list).

    NVML counts no cards if one is divided and another device is lost, as that may be an instance.
    """
    found = []
    for position in range(count):
        handle = ask(pymtml.mtmlLibraryInitDeviceByIndex, position)
        kind = then(ask(pymtml.mtmlDeviceGetProperty, handle), lambda known: known.mpcType)
        if kind != pymtml.MTML_MPC_TYPE_INSTANCE or isinstance(
            ask(pymtml.mtmlDeviceGetMpcParentDevice, handle), Unknown
        ):
            in_nvml = isinstance(kind, Unknown) and Unknown(pymtml._nvml_error(kind.error.mtml_code))
            found.append(in_nvml or handle)
    return found


def _places(card):
    """For each place that an MPC instance of a card may have its handle, or the Unknown that stands there instead."""
    count = card.ask(pymtml.nvmlDeviceGetMaxMigDeviceCount)
    if isinstance(count, Unknown):
        return [count]
    return [card.ask(pymtml.nvmlDeviceGetMigDeviceHandleByIndex, index) for index in range(count)]


def unlisted_instances(card):
    """Why not all MPC instances of a card are known (Unknown), or None; an empty place is no reason."""
    unknown = [place for place in _places(card) if isinstance(place, Unknown)]
    return next((one for one in unknown if not isinstance(one.error, pymtml.NVMLError_NotFound)), None)


def failed_instances(card):
    """The same, but None for a card that cannot be opened or does not support MPC."""
    unknown = unlisted_instances(card)
    return None if unknown is None or unknown.not_supported or unknown is card.handle else unknown


def _is_named(card, name):
    """Whether an index, a UUID or a PCI address names a card."""
    if name == str(card.index):
        return True
    if is_uuid(card, name):
        return True
    address = _address(name)
    return address is not None and address == pci_address(card)


def pci_address(card):
    """(domain, bus, device) of a card, or None."""
    pci = card.ask(pymtml.nvmlDeviceGetPciInfo)
    return None if isinstance(pci, Unknown) else _address(pci.busId)


def is_uuid(device, name):
    """Whether a text is the UUID of a card or an instance, with or without NVIDIA's prefix."""
    known, name = uuid_of(device), name.lower()
    if isinstance(known, Unknown) or not known:
        return False
    return name in (known.lower(), ("gpu-" if device.parent is None else "mig-") + known.lower())


def _address(text):
    """(domain, bus, device) of a PCI address, which ends with a function here; None for another text."""
    return pymtml._parse_bus_id(text) if "." in text else None


def describe(error):
    """An error as a user reads it: the text of NVML or MTML, and what pymtml knows beyond."""
    return safe(str(error).split("\n")[0])


def initialization_error(error):
    """The CommandError for a library that cannot be initialized, in nvidia-smi's words."""
    from pymtml_cli.common import layout

    texts = layout.blocks("smi/texts.txt")
    if isinstance(error, pymtml.NVMLError_LibraryNotFound):
        misfit = pymtml._session.misfit
        hint = "is the driver installed? `pymtml doctor` shows what was tried; PYMTML_LIBRARY may name the file"
        hint = "%s; `pymtml doctor` shows what was tried" % misfit if misfit else hint
        if called() == errors.NVIDIA_SMI:
            hint = "%s; run `pymtml doctor` to find out more" % describe(error).partition(": ")[2]
        ours = "%s cannot be loaded" if misfit else "%s was not found"
        ours %= safe(pymtml._setting("PYMTML_LIBRARY") or "libmtml.so.2")
        return refuse(texts["no library"] + "\n", errors.NO_LIBRARY, hint, ours)
    if isinstance(error, pymtml.NVMLError_DriverNotLoaded):
        ours = "the Moore Threads driver is not loaded, or does not answer"
        return refuse(texts["no driver"] + "\n\n", errors.NO_DRIVER, _DOCTOR, ours)
    code = error.value if 0 < error.value < OTHER else OTHER
    text = errors.worded("Failed to initialize MTML: %s\n")
    return refuse(text % pymtml.nvmlErrorString(error.value), code, _DOCTOR)
