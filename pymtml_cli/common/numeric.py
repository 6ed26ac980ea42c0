"""Numbers that users write: every option and every file of the command reads them by `number`."""

LONGEST = 15  # digits; so many a float still keeps


def number(text, least, most, whole=True):
    """The number that a text is, from ``least`` to ``most`` (int, or float unless ``whole``); None for anything else.

    Only decimal ASCII digits, with a point if not ``whole``: no sign, no exponent, no inf, no nan.
    """
    digits = text if whole else text.replace(".", "", 1)
    if len(digits) > LONGEST or not (digits.isascii() and digits.isdigit()):
        return None
    value = int(text) if whole else float(text)
    return value if least <= value <= most else None
