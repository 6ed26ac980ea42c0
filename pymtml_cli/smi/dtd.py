"""The declarations of -q -x --dtd and --dtd: which elements a document may have, as found in documents."""

from pymtml_cli.smi.sections import OF_PROCESS

# Elements that not every machine has
RARE = {
    "processes": ("process_info",),
    "process_info": tuple(tag for _, _, tag, _ in OF_PROCESS),
    "retired_pagelist": ("retired_page",),
    "retired_page": ("retired_page_address",),
    "gpu": ("voltage",),
    "voltage": ("graphics_volt",),
}


def declarations(kind, documents):
    """The DTD of a kind that these documents fit, and those of other machines."""
    from xml.etree.ElementTree import fromstring

    children, attributes = {}, {}
    for document in documents:
        for element in fromstring(document).iter():
            children.setdefault(element.tag, []).extend(child.tag for child in element)
            attributes.setdefault(element.tag, set()).update(element.attrib)
    if kind == "device":
        for tag, below in RARE.items():
            children.setdefault(tag, []).extend(below)
            for child in below:
                children.setdefault(child, [])
    lines = ["<!-- nvsmi_%s_v13.dtd -->" % kind]
    for tag, below in children.items():
        content = " | ".join(["#PCDATA"] + sorted(set(below), key=below.index))
        lines.append("<!ELEMENT %s (%s)%s>" % (tag, content, "*" if below else ""))
        lines += ["<!ATTLIST %s %s CDATA #REQUIRED>" % (tag, name) for name in sorted(attributes.get(tag, ()))]
    return "\n".join(lines) + "\n"
