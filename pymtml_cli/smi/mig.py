"""mig: MPC instances in the language of nvidia-smi's MIG. What is there, and which configuration divides a card.

An instance is made by giving its card another configuration, so that all of the card's instances change together; it
is used whole, as one compute instance that MTML has no number for.
"""

import sys

import pymtml
from pymtml_cli.common import layout
from pymtml_cli.common.errors import NO_SUCH_DEVICE, OTHER, CommandError, refuse, see_help, worded
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import parse
from pymtml_cli.common.text import left, safe
from pymtml_cli.helping import usage
from pymtml_cli.readings.devices import Machine, Unknown, ask, failed_instances, status, then
from pymtml_cli.readings.documents import mpc_object, of_cards, show
from pymtml_cli.smi.listing import profile
from pymtml_cli.smi.modify import exit_status, nvml_code, obstacle

TEXTS = layout.blocks("smi/texts.txt")
OFFERED = {
    "instance profiles": pymtml.mtmlDeviceGetSupportedMpcProfiles,
    "configurations": pymtml.mtmlDeviceGetSupportedMpcConfigurations,
}
NOT_SUPPORTED = pymtml.NVML_ERROR_NOT_SUPPORTED


def run(arguments):
    """Answer (exit status)."""
    options = parse(arguments, "mig")
    actions = [name for name in _ACTIONS if name in options]
    if "-h" in options or not actions and "--json" not in options:
        sys.stdout.write(usage("mig", ("-i", "-gi"), "OPTION..."))
        return 0
    changes = [name for name in actions if not name.startswith("-l")]
    if "--json" in options and changes:
        raise CommandError("--json and %s cannot be combined" % changes[0], hint=see_help("mig"))
    if "--json" in options:
        return show(options.get("-i"), lambda machine, cards: of_cards(cards, _content))
    if len(actions) > 1:
        raise refuse("Options %s and %s can not be combined.\n" % tuple(actions[:2]))
    numbers = None
    if "-gi" in options:
        numbers = [number(part, 0, 1 << 31) for part in options["-gi"].split(",")]
        if None in numbers:
            raise refuse("Invalid GPU instance ID: %s\n" % options["-gi"])
    with Machine() as machine:
        chosen = machine.chosen(options.get("-i"))
        cards = [card for card in chosen if _divided(card)]
        if not cards:
            sys.stdout.write(worded("No MPC-enabled devices found.\n"))
        else:
            _check_numbers(cards, numbers or ())
            _ACTIONS[actions[0]](cards, numbers, options)
    return status(chosen)


def _check_numbers(cards, numbers):
    """Refuse -gi if it names instances, and also one that no card has."""
    known = {instance.index for card in cards for instance in card.instances}
    unknown = [one for one in numbers if one not in known]
    if known.intersection(numbers) and unknown:
        raise refuse("Unable to find GPU instance ID %d: Not Found\n" % unknown[0], NO_SUCH_DEVICE)


def _content(card):
    def of_profiles(found):
        return [
            {"id": one.id, "name": one.name, "cores": one.coreCount, "memory_bytes": one.memorySizeMB << 20}
            for one in found
        ]

    def of_configurations(found):
        return [{"id": one.id, "name": one.name, "profiles": _members(one)} for one in found]

    profiles = then(card.ask(OFFERED["instance profiles"]), of_profiles)
    configurations = then(card.ask(OFFERED["configurations"]), of_configurations)
    return [("mpc", mpc_object(card, ("profiles", profiles), ("configurations", configurations)))]


def _divided(card):
    """Whether MPC is on.

    Raises: CommandError if that query fails on a card that can be opened.
    """
    modes = card.ask(pymtml.nvmlDeviceGetMigMode)
    if not isinstance(modes, Unknown):
        return bool(modes[0])
    if not modes.not_supported and modes is not card.handle:
        text = worded("Unable to get the MPC mode of GPU %2d") % card.index
        raise _failed(text, worded("find MPC-enabled devices"), nvml_code(modes.error))
    return False


def _failed(text, what, code, hint=""):
    """What ends the command: what failed for a card, and the sentence for all."""
    word = pymtml.nvmlErrorString(code)
    text = "%s: %s\nFailed to %s: %s\n" % (text, word, what, word)
    return refuse(text, exit_status(pymtml.NVMLError(code)), hint)


def _instances(card, numbers, what):
    failed = failed_instances(card)
    if failed is not None:
        raise _failed("Unable to get the instances of GPU %2d" % card.index, what, nvml_code(failed.error))
    return [instance for instance in card.instances if numbers is None or instance.index in numbers]


# ---- lists ----


def _table(title, rows):
    """Print a list in nvidia-smi's frame, and in the form that it has in texts.txt."""
    lines = TEXTS[title].split("\n")
    rule = next(index for index, line in enumerate(lines) if line.startswith("="))
    width = len(lines[rule])
    edge, framed = "+" + "-" * width + "+", [" %s:" % (title[0].upper() + title[1:])] + lines[: rule + 1]
    for row in rows:
        framed += [edge] * (len(framed) > rule + 2) + [form.format(**row) for form in lines[rule + 1 :]]
    framed = [line if line is edge else "|" + left(line, width) + "|" for line in framed]
    sys.stdout.write("".join(line + "\n" for line in [edge] + framed + [edge]))


def _kind(name):
    return worded("MPC ") + safe(name)


def _offered(card, kind, what):
    """What a card offers (list).

    Raises: CommandError if it does not say so.
    """
    offered = card.ask(OFFERED[kind])
    if isinstance(offered, Unknown):
        raise _failed("Unable to get the %s of GPU %2d" % (kind, card.index), what, nvml_code(offered.error))
    return offered


def _members(configuration):
    """Ids of the profiles that a configuration makes instances of, in order."""
    return sorted(configuration.profileIds[: configuration.profileNum])


def _list_profiles(cards, numbers, options):
    rows, what = [], "list GPU instance profiles"
    for card in cards:
        ways = [_members(configuration) for configuration in _offered(card, "configurations", what)]
        for offered in _offered(card, "instance profiles", what):
            most = max([members.count(offered.id) for members in ways] or [0])
            row = {"card": card.index, "kind": _kind(offered.name), "id": offered.id, "count": "N/A/%d" % most}
            rows.append(dict(row, size=offered.memorySizeMB / 1024.0, cores=offered.coreCount))
    _table("GPU instance profiles", rows)


def _list(what):
    """The function that lists something of instances."""

    def answer(cards, numbers, options):
        rows = [
            {
                "card": card.index,
                "instance": instance.index,
                "kind": _kind(profile(instance)),
                "id": str(_of_profile(instance, "id")),
                "cores": str(_of_profile(instance, "coreCount")),
            }
            for card in cards
            for instance in _instances(card, numbers, "list " + what)
        ]
        if not rows:
            raise refuse("No %s found: Not Found\n" % what, NO_SUCH_DEVICE)
        _table(what, rows)

    return answer


def _of_profile(instance, name):
    """A number of the profile that an instance was made of, or an Unknown."""
    return then(instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo), lambda info: getattr(info, name))


# ---- changes ----


def _wanted(card, text):
    """The configuration that -cgi asks a card for.

    Raises: CommandError if there is none.
    """
    what, sentence = "create GPU instances", "Unable to create a GPU instance on GPU %2d using profile %s"
    configurations = _offered(card, "configurations", what)
    for configuration in configurations:
        if text == configuration.name:
            return configuration
    by_name = {offered.name: offered.id for offered in _offered(card, "instance profiles", what)}
    known = set(by_name.values())
    wanted = []
    for part in text.split(","):
        part = part.strip()
        for kind in ("MIG ", "MPC "):
            part = part[len(kind) :] if part.startswith(kind) else part
        chosen = by_name.get(part, number(part, 0, 1 << 31))
        if chosen not in known:
            names = "a profile is one of %s" % ", ".join("%s (%d)" % pair for pair in by_name.items())
            raise _failed(sentence % (card.index, safe(part)), what, pymtml.NVML_ERROR_INVALID_ARGUMENT, names)
        wanted.append(chosen)
    for configuration in configurations:
        if _members(configuration) == sorted(wanted):
            return configuration
    names = {profile_id: name for name, profile_id in by_name.items()}
    ways = (",".join(names.get(member, str(member)) for member in _members(way)) for way in configurations)
    ways = "GPU %d can be divided into %s" % (card.index, " or ".join(ways))
    raise _failed(sentence % (card.index, safe(text)), what, pymtml.NVML_ERROR_INSUFFICIENT_RESOURCES, ways)


def _divide(card, configuration, sentence, what, options):
    """Give a card a configuration, and look at what came of it (the card as it is now).

    Raises: CommandError.
    """
    found = obstacle(card, "--force" in options)
    if found:
        raise refuse("%s: %s\nFailed to %s: %s\n" % (sentence, found, what, found), found.status, found.hint)
    done = ask(pymtml.mtmlDeviceSetMpcConfiguration, card.handle, configuration.id)
    if isinstance(done, Unknown):
        raise _failed(sentence, what, nvml_code(done.error))
    gone = card.machine.restart()
    if gone:
        text = "%s: GPU %d was divided, but the library did not come back: %s\n"
        raise refuse(text % (sentence, card.index, gone.reason), OTHER)
    card = card.machine.again(card)
    found = [instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo) for instance in card.instances]
    if sorted(-1 if isinstance(info, Unknown) else info.id for info in found) != _members(configuration):
        text = "%s: the driver accepted it, but GPU %d is divided in another way\n"
        raise refuse(text % (sentence, card.index), OTHER)
    return card


def _create(cards, numbers, options):
    wanted = [(card, _wanted(card, options["-cgi"])) for card in cards]  # all are checked before one is changed
    for card, configuration in wanted:
        index, card = card.index, card.machine.again(card)
        present = card.ask(pymtml.mtmlDeviceGetMpcConfiguration)
        if not isinstance(present, Unknown) and present.id == configuration.id:
            form = "GPU instances of GPU %2d are already those of configuration %s\n"
            sys.stdout.write(form % (index, safe(configuration.name)))
            continue
        sentence = "Unable to create GPU instances on GPU %2d" % index
        card = _divide(card, configuration, sentence, "create GPU instances", options)
        for instance in card.instances:
            form = "Successfully created GPU instance ID %2d on GPU %2d using profile %s (ID %2s)\n"
            sys.stdout.write(form % (instance.index, index, _kind(profile(instance)), _of_profile(instance, "id")))


def _destroy(cards, numbers, options):
    found, what = False, "destroy GPU instances"
    for card in cards:
        index, card = card.index, card.machine.again(card)
        chosen = [instance.index for instance in _instances(card, numbers, what)]
        if not chosen or len(card.instances) < 2:
            continue  # one instance is the whole card
        found = True
        sentence = "Unable to destroy GPU instance ID %2d from GPU %2d" % (chosen[0], index)
        whole = next((way for way in _offered(card, "configurations", what) if way.profileNum == 1), None)
        if len(chosen) < len(card.instances) or whole is None:
            together = "the instances of a card change together: -dgi without -gi, or another -cgi"
            raise _failed(sentence, what, NOT_SUPPORTED, together)
        _divide(card, whole, sentence, what, options)
        for instance in chosen:
            sys.stdout.write("Successfully destroyed GPU instance ID %2d from GPU %2d\n" % (instance, index))
    if not found:
        raise refuse("No GPU instances found: Not Found\n", NO_SUCH_DEVICE)


def _compute_instances(verb):
    def refused(cards, numbers, options):
        sentence = "Unable to %s a compute instance on GPU %2d" % (verb, cards[0].index)
        whole = worded("an MPC instance is used whole: there are no compute instances in it")
        raise _failed(sentence, verb + " compute instances", NOT_SUPPORTED, whole)

    return refused


def _placements(cards, numbers, options):
    """A line for each profile; MTML does not tell where on a card an instance of it can be."""
    for card in cards:
        if "-lgipp" in options:
            found = card.ask(OFFERED["instance profiles"])
            profiles = [(card.index, one.id) for one in found] if not isinstance(found, Unknown) else []
            lines = ["GPU %2d Profile ID %2d Placements: N/A\n" % row for row in profiles]
        else:
            instances = _instances(card, numbers, "list compute instance placements")
            lines = ["GPU %2d GI %2d Profile ID  0 Placements: N/A\n" % (card.index, one.index) for one in instances]
        sys.stdout.write("".join(lines))


_ACTIONS = {
    "-lgip": _list_profiles,
    "-lgipp": _placements,
    "-lgi": _list("GPU instances"),
    "-lcip": _list("compute instance profiles"),
    "-lcipp": _placements,
    "-lci": _list("compute instances"),
    "-cgi": _create,
    "-dgi": _destroy,
    "-cci": _compute_instances("create"),
    "-dci": _compute_instances("destroy"),
}
