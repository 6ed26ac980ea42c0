"""mtlink: state, speed and far end of each MtLink; under the name nvlink in nvidia-smi's form."""

import sys

import pymtml
from pymtml_cli.common.errors import NOT_AVAILABLE, refuse, worded
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import parse, rows
from pymtml_cli.common.text import safe
from pymtml_cli.helping import usage
from pymtml_cli.readings.devices import Machine, Unknown, ask, status, then
from pymtml_cli.readings.documents import mtlink_object, of_cards, show
from pymtml_cli.readings.table import value_of
from pymtml_cli.smi import listing

STATES = {
    pymtml.MTML_MTLINK_STATE_DOWN: "Down",
    pymtml.MTML_MTLINK_STATE_UP: "Up",
    pymtml.MTML_MTLINK_STATE_DOWNGRADE: "Downgrade",
}
CAPABILITIES = {
    "P2P is supported": pymtml.MTML_MTLINK_CAP_P2P_ACCESS,
    "P2P atomics supported": pymtml.MTML_MTLINK_CAP_P2P_ATOMICS,
}
LAST_LINK = (1 << 32) - 1


def run(arguments, command):
    """Answer as mtlink, or as nvlink in nvidia-smi's form (exit status)."""
    options = parse(arguments, command)
    if "-h" in options or not options:
        remote = ", and the card at its other end" if command == "mtlink" else ""
        sys.stdout.write(usage(command, remote=remote))
        return 0
    if "--json" in options:
        return show(options.get("-i"), lambda machine, cards: of_cards(cards, _content))
    link = options.get("-l")
    if link is not None:
        link = number(link, 0, LAST_LINK)
        if link is None:
            raise refuse('"%s" is not the number of a link.\n' % options["-l"])
    with Machine() as machine:
        cards = machine.chosen(options.get("-i"))
        for _, code, refused in [row for row in rows(command)[1] if row[0] in options]:
            title, is_below_one, sentence = refused.rpartition("\n")
            text = title.format(title=listing.lines(cards[0])[0]) + is_below_one + sentence + "\n"
            raise refuse(text, int(code), ours=sentence if is_below_one else None)
        answered = False
        for card in cards:
            spec = card.ask(pymtml.mtmlDeviceGetMtLinkSpec)
            if command == "nvlink" and isinstance(spec, Unknown) and spec.not_supported:
                answered = True  # that there are no links is an answer there, of no lines
                continue
            answered = answered or not isinstance(spec, Unknown)
            sys.stdout.write(listing.lines(card)[0] + "\n")
            for line in _card_lines(card, options, link, command):
                sys.stdout.write("\t %s\n" % line)
        return status(cards) or (0 if answered else NOT_AVAILABLE)


def _content(card):
    return [("mtlink", mtlink_object(card, _of_document))]


def _of_document(card, link):
    """What the document has of a link beside its state and the card at its other end."""
    far = _remote(card, link)
    number = _remote_link(card, far, link)
    found = [("remote_bus_id", _address(far)), ("remote_link", None if number == "N/A" else number)]
    for key, capability in zip(("p2p", "p2p_atomics"), CAPABILITIES.values()):
        code = card.ask(pymtml.mtmlDeviceGetMtLinkCapStatus, link, capability)
        found.append((key, then(code, lambda code: code == pymtml.MTML_MTLINK_CAP_STATUS_OK)))
    return found


def _card_lines(card, options, chosen, command):
    count = value_of(card, "mtlink.count")
    if isinstance(count, Unknown):
        return [worded("MtLink: %s") % count]
    links = [link for link in range(count) if chosen in (None, link)]
    if not links and chosen is not None:
        return ["Invalid Link"]
    return ["Link %d%s" % (link, text) for link in links for text in _of_link(card, link, options, command)]


def _of_link(card, link, options, command):
    """The texts of a link, line by line (iterator)."""
    if "-s" in options:
        yield ": " + _status(card, link, command)
    if "-p" in options:
        yield ": %s" % _address(_remote(card, link))
    if "-R" in options:
        far = _remote(card, link)
        yield ": Remote Device %s: Link %s" % (_address(far), _remote_link(card, far, link))
    if "-e" in options:
        yield from (": %s Errors: N/A" % kind for kind in ("Replay", "Recovery", "CRC"))
    if "-c" in options:
        for text, capability in CAPABILITIES.items():
            status = card.ask(pymtml.mtmlDeviceGetMtLinkCapStatus, link, capability)
            words = then(status, lambda code: "true" if code == pymtml.MTML_MTLINK_CAP_STATUS_OK else "false")
            yield ", %s: %s" % (text, words)


def _status(card, link, command):
    speed = value_of(card, "mtlink.bandwidth")
    state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
    if command == "nvlink":  # MTML has the full speed only: that of a link at reduced width is unknown
        known = {pymtml.MTML_MTLINK_STATE_DOWN: "<inactive>", pymtml.MTML_MTLINK_STATE_DOWNGRADE: "N/A"}
        return str(then(state, lambda code: known.get(code) or then(speed, "{:.3f} GB/s".format)))
    words = then(state, lambda code: STATES.get(code, str(code)))
    return "%s, %s, %s" % (words, then(speed, "{} GB/s".format), _far_end(card, link))


def _far_end(card, link):
    handle = _remote(card, link)
    if isinstance(handle, Unknown) and not isinstance(handle.error, pymtml.NVMLError_NotFound):
        return "remote %s" % handle
    for other in card.machine.cards:
        if other.handle == handle:
            return "GPU %d (%s)" % (other.index, _address(handle))
    return "a card that is lost, or not visible here"


def _remote(card, link):
    return card.ask(pymtml.mtmlDeviceGetMtLinkRemoteDevice, link)


def _remote_link(card, handle, link):
    """Number of a link at its other end, N/A for a link that is down, or an Unknown."""
    layouts = card.ask(pymtml.mtmlDeviceGetMtLinkLayouts, handle)
    return then(layouts, lambda known: next((one.remoteLinkId for one in known if one.localLinkId == link), "N/A"))


def _address(handle):
    return then(ask(pymtml.nvmlDeviceGetPciInfo, handle), lambda info: safe(info.busId))
