"""--json: everything that pymtml knows, for programs. docs/command.md has the schema.

An unknown value is null, and ``reasons`` of the same object has the reason.
"""

import pymtml
from pymtml_cli.common.errors import CommandError
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.common.text import json
from pymtml_cli.readings import devices
from pymtml_cli.readings.devices import Machine, Unknown, ask, host, musa_version, then, unreported
from pymtml_cli.readings.processes import processes, unseen, unseen_text
from pymtml_cli.readings.table import fan, named, pairs, readings_of, value_of
from pymtml_cli.readings.topology import link_count

SCHEMA = 1


def words(prefix, names):
    """A function that returns the word for a value of an enum, or its number."""
    return named({getattr(pymtml, prefix + name.upper()): name for name in names.split()})


link_state = words("MTML_MTLINK_STATE_", "down up downgrade")
display_type = words("MTML_DISP_INTF_TYPE_", "DP eDP VGA HDMI LVDS")
level_name = words("NVML_TOPOLOGY_", "internal single multiple hostbridge node system")


def object_of(*pairs):
    """An object of the answer: null for an Unknown, with its reason beside it."""
    values = dict(pairs)
    reasons = {key: value.reason for key, value in values.items() if isinstance(value, Unknown)}
    result = {key: None if key in reasons else value for key, value in values.items()}
    if reasons:
        result["reasons"] = reasons
    return result


def attribute(answer, name):
    return then(answer, lambda value: getattr(value, name))


def answer(options):
    """Print the answer to --json, which is an object even if the library cannot be used (exit status)."""
    with Output(options.get("filename")) as output:
        try:
            with Machine() as machine:
                # No cards are a valid answer, unless the user chose some.
                cards = machine.cards if options.get("id") is None else machine.chosen(options.get("id"))
                for _ in repeat(machine, options.seconds):
                    output.write(json(machine_object(machine, cards)))
        except CommandError as error:
            output.write(failure(error))
            return error.status
    return 0


def failure(error):
    return json({"schema": SCHEMA, "host": host(), "error": " ".join(error.text.split()), "status": error.status})


def machine_object(machine, cards):
    return object_of(
        ("schema", SCHEMA),
        ("host", host()),
        ("timestamp", machine.time.exact),
        ("pymtml_version", pymtml.__version__),
        ("library_version", ask(pymtml.nvmlSystemGetNVMLVersion)),
        ("driver_version", machine.driver_version),
        ("musa_version", musa_version()),
        ("device_count", len(machine.cards)),
        ("devices", [card_object(card) for card in cards]),
    )


def card_object(card):
    """The object of a card: what it shares with instances, and what only a card has."""
    result = device_object(card)
    instances = devices.unlisted_instances(card) or [instance_object(instance) for instance in card.instances]
    result["mpc"] = object_of(*pairs(card, "mpc"), ("instances", instances))
    result["ecc"] = object_of(*pairs(card, "ecc"))
    result["retired_pages"] = object_of(*pairs(card, "retired_pages"))
    result["fans"] = fans(card)
    result["mtlink"] = mtlink_object(card)
    result["topology"] = [pair_object(card, other) for other in card.machine.cards if other is not card]
    shown = displays(card)
    if isinstance(shown, Unknown):
        result.setdefault("reasons", {})["displays"] = shown.reason
    result["displays"] = None if isinstance(shown, Unknown) else shown
    result["processes"] = process_objects(card)
    return result


def instance_object(instance):
    result = device_object(instance)
    profile = instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo)
    memory = then(profile, lambda info: info.memorySizeMB << 20)
    names = ("name", attribute(profile, "name")), ("cores", attribute(profile, "coreCount"))
    result["profile"] = object_of(*names, ("memory_bytes", memory))
    return result


OBJECTS = ("pci", "memory", "utilization", "temperature", "power", "clocks", "codec", "affinity")


def device_object(device):
    """What cards and instances have in common."""
    result = object_of(*pairs(device))
    for name in OBJECTS:
        result[name] = object_of(*pairs(device, name))
    result["utilization"]["engines"] = object_of(*pairs(device, "utilization.engines"))
    return result


def documented():
    """The keys of objects that hold only readings, for docs/command.md: {object: text}."""

    def keys(place):
        found = [(key, reading.note) for key, reading in readings_of(place)]
        return ", ".join("`%s`" % key + (" (%s)" % note if note else "") for key, note in found)

    texts = {"`%s`" % place: keys(place) for place in OBJECTS + ("ecc", "retired_pages")}
    texts["`utilization`"] += ", `engines` (%s)" % keys("utilization.engines")
    texts["a card, an MPC instance"] = keys("") + ", and the objects below"
    return texts


def fans(card):
    """Fans: target in percent, revolutions per minute."""
    result = object_of(*pairs(card, "fans"))
    if result["count"] is not None:
        rows = [fan(number) for number in range(result["count"])]
        result["speeds"] = [object_of(*((reading.name, reading.question(card)) for reading in row)) for row in rows]
    return result


def mtlink_object(card):
    result = object_of(*pairs(card, "mtlink"))
    result["links"] = [link_object(card, link) for link in range(result["count"] or 0)]
    return result


def link_object(card, link):
    """An MtLink: its state, and the card at its other end."""
    state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
    indices = {other.handle: other.index for other in card.machine.cards}
    hidden = Unknown(pymtml.NVMLError(pymtml.NVML_ERROR_NOT_FOUND))
    remote = then(card.ask(pymtml.mtmlDeviceGetMtLinkRemoteDevice, link), lambda handle: indices.get(handle, hidden))
    return object_of(("link", link), ("state", then(state, link_state)), ("remote", remote))


def pair_object(card, other):
    """How a card is joined to another."""
    level = card.ask(pymtml.nvmlDeviceGetTopologyCommonAncestor, other.handle)
    found = [("device", other.index), ("level", then(level, level_name)), ("mtlinks", link_count(card, other))]
    for name, index in (("read", pymtml.NVML_P2P_CAPS_INDEX_READ), ("write", pymtml.NVML_P2P_CAPS_INDEX_WRITE)):
        status = card.ask(pymtml.nvmlDeviceGetP2PStatus, other.handle, index)
        found.append((name, then(status, lambda code: code == pymtml.NVML_P2P_STATUS_OK)))
    return object_of(*found)


def displays(card):
    """Display interfaces (list), or an Unknown if they cannot be counted."""
    count = value_of(card, "displays.count")
    if isinstance(count, Unknown):
        return count
    result = []
    for number in range(count):
        spec = card.ask(pymtml.mtmlDeviceGetDisplayInterfaceSpec, number)
        sizes = (("max_width", "maxHoriRes"), ("max_height", "maxVertRes"), ("max_refresh_hertz", "maxRefreshRate"))
        kind = ("type", then(attribute(spec, "type"), display_type))
        result.append(object_of(kind, *((key, attribute(spec, name)) for key, name in sizes)))
    return result


def process_objects(card):
    """Processes: null with a reason if they are unknown; a reason beside the list if there may be others."""
    found = processes(card)
    if isinstance(found, Unknown):
        return object_of(("list", found), ("unseen", found))
    number = unseen([card])
    result = {
        "list": [
            object_of(
                ("pid", process.pid),
                ("type", process.kind),
                ("name", process.name),
                ("instance", None if process.instance is None else process.instance.index),
                ("memory_bytes", unreported() if process.memory is None else process.memory),
            )
            for process in found
        ],
        "unseen": number,
    }
    if number:
        result["reasons"] = {"list": "there may be others: " + unseen_text(number)}
    return result
