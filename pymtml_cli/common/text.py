"""Text of others, such as names of processes and the driver's messages: made safe for every output, and its width.

Whatever comes from outside goes through `safe` before it is printed. Applied again, `safe` changes nothing.
"""

RED, YELLOW, GREEN, DIM, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[2m", "\x1b[0m"


def safe(text):
    """A text with a visible escape in the place of each character that shows nothing, or that changes what is shown.

    Those are control characters (C0, DEL and C1), marks of direction and other format characters, separators but the
    plain blank, lone surrogates, and codes that are no characters: ``\\x1b``, ``\\u202e``, ``\\U0001fffe``.
    """
    text = str(text)
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character):
    if character.isprintable():
        return character
    number = ord(character)
    return ("\\x%02x" if number < 0x100 else "\\u%04x" if number < 0x10000 else "\\U%08x") % number


def width(text):
    """Columns of a terminal that a safe text takes: two for a wide East Asian character, none for a combining mark."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character):
    if character < "\u0300":
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def head(text, columns):
    """The longest beginning of a text that fits into some columns."""
    taken = 0
    for index, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return text[:index]
    return text


def fit(text, columns):
    """A text cut to some columns, with dots where its end is missing."""
    if width(text) <= columns:
        return text
    return head(text, columns - 3) + "..."[:columns]


def tail(text, columns):
    """The end of a text, such as a path, with dots where its beginning is missing."""
    if width(text) <= columns:
        return text
    return "..."[:columns] + head(text[::-1], columns - 3)[::-1]


def some(names, most):
    """Some names, and how many more there are."""
    return ", ".join(names[:most]) + (" and %d more" % (len(names) - most) if len(names) > most else "")


def counted(number, one, many=None):
    """A number of things in words; ``many`` is the plural if it is not ``one`` and an s."""
    return "%d %s" % (number, one if number == 1 else many or one + "s")


def left(text, columns):
    """A text with blanks behind it to fill some columns."""
    return text + " " * (columns - width(text))


def xml(text):
    """A text as content or attribute of XML, in ASCII: well-formed in every encoding, as is what stands around it."""
    result = safe(text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        result = result.replace(character, entity)
    return result.encode("ascii", "xmlcharrefreplace").decode("ascii")


def json(value, is_line=False):
    """A value as JSON with indents, or in a line, in ASCII; all text is safe, numbers without a value are null."""
    from json import dumps

    return dumps(_plain(value), indent=None if is_line else 2, allow_nan=False) + "\n"


def _plain(value):
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, dict):
        return {safe(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        return None
    return value
