"""The documents of --json, for programs: what all begin with, and the objects in them. docs/command.md has the schema.

An unknown value is null, and ``reasons`` of the same object has the reason.
"""

import pymtml
from pymtml_cli.common.errors import CommandError
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.common.text import json
from pymtml_cli.readings import devices
from pymtml_cli.readings.devices import Machine, Unknown, ask, host, musa_version, status, then, unreported
from pymtml_cli.readings.processes import processes, unseen, unseen_text
from pymtml_cli.readings.table import fan, named, pairs, readings_of, value_of
from pymtml_cli.readings.topology import link_count

SCHEMA = 2


def head(library=None, driver=None, moment=None):
    """What each document begins with: (key, value) of each (list). ``moment`` is that of a sample, else now."""
    return [
        ("schema", SCHEMA),
        ("pymtml_version", pymtml.__version__),
        ("library_version", library),
        ("driver_version", driver),
        ("host", host()),
        ("time", (moment or devices.Moment()).utc),
    ]


def failure(error):
    """The document in the place of one that needs the library. ``status`` is as pymtml 0.3 had it."""
    found = head() + [("error", " ".join(error.text.split())), ("status", error.status), ("exit_status", error.status)]
    return dict(found)


def show(chosen, content, filename=None, seconds=None, count=0):
    """Write a document of each sample (exit status); what repeats is a line each.

    ``content`` makes the further keys of a document, of a machine and the cards that -i names (list of pairs).
    """
    with Output(filename) as output:
        try:
            with Machine() as machine:
                # No cards are a valid answer, unless the user chose some.
                cards = machine.cards if chosen is None else machine.chosen(chosen)
                for _ in repeat(machine, seconds, count=count):
                    known = head(ask(pymtml.nvmlSystemGetNVMLVersion), machine.driver_version, machine.time)
                    document = object_of(*known, *content(machine, cards))
                    output.write(json(document, is_line=seconds is not None))
                return status(cards)
        except CommandError as error:
            output.write(json(failure(error), is_line=seconds is not None))
            return error.status


def of_cards(cards, content):
    """The key ``devices``, with what tells a card apart, and the keys that ``content`` makes of it (list of pairs)."""
    names = ("index", "name", "uuid", "pci.bus_id")
    rows = [[(name.rpartition(".")[2], value_of(card, name)) for name in names] for card in cards]
    return [("devices", [object_of(*row, *content(card)) for row, card in zip(rows, cards)])]


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


def everything(machine, cards):
    """What --json has of a machine (list of pairs). ``timestamp`` is from pymtml 0.3."""
    return [
        ("timestamp", machine.time.exact),
        ("musa_version", musa_version()),
        ("device_count", len(machine.cards)),
        ("devices", [card_object(card) for card in cards]),
    ]


def card_object(card):
    """The object of a card: what it shares with instances, and what only a card has."""
    result = device_object(card)
    result["mpc"] = mpc_object(card)
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


def mpc_object(card, *further):
    instances = devices.unlisted_instances(card) or [instance_object(instance) for instance in card.instances]
    return object_of(*pairs(card, "mpc"), ("instances", instances), *further)


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


def mtlink_object(card, further=lambda card, link: ()):
    """The MtLinks of a card; ``further`` makes more keys of a link (list of pairs)."""
    result = object_of(*pairs(card, "mtlink"))
    result["links"] = [link_object(card, link, further(card, link)) for link in range(result["count"] or 0)]
    return result


def link_object(card, link, further):
    """An MtLink: its state, and the card at its other end."""
    state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
    indices = {other.handle: other.index for other in card.machine.cards}
    hidden = Unknown(pymtml.NVMLError(pymtml.NVML_ERROR_NOT_FOUND))
    remote = then(card.ask(pymtml.mtmlDeviceGetMtLinkRemoteDevice, link), lambda handle: indices.get(handle, hidden))
    return object_of(("link", link), ("state", then(state, link_state)), ("remote", remote), *further)


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


def process_objects(card, further=lambda process: ()):
    """Processes: null with a reason if they are unknown; a reason beside the list if there may be others.

    ``further`` makes more keys of a process (list of pairs).
    """
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
                *further(process),
            )
            for process in found
        ],
        "unseen": number,
    }
    if number:
        result["reasons"] = {"list": "there may be others: " + unseen_text(number)}
    return result
