"""From Matplotlib's SVG file to a fragment that a page can hold: nothing that reaches out of the picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

_FONT = re.compile(r"^(?:(?P<weight>\d+) )?(?P<size>[\d.]+)px .*$")
_DECIMAL = re.compile(r"-?\d+\.\d{3,}")
_URL = re.compile(r"url\(#([^)]+)\)")


def fragment(svg: bytes, prefix: str, *, label: str, colours: Mapping[str, str], paper: str) -> str:
    """Rewrite an SVG file for use inside HTML.

    Args:
        svg: the file.
        prefix: starts every id.
        label: for screen readers.
        colours: foreground colours by their code, each with its opacity as text (empty for full).
        paper: code of the background colour.
    """
    old = ElementTree.fromstring(svg)
    _, _, width, _ = (float(v) for v in old.attrib["viewBox"].split())
    root = ElementTree.Element(
        "svg",
        {
            "class": "picture",
            "viewBox": old.attrib["viewBox"],
            "role": "img",
            "aria-label": label,
            # Matplotlib says this in a style sheet, which would hold for the whole page.
            "style": f"max-width: {4 / 3 * width:.0f}px; stroke-linejoin: round; stroke-linecap: butt",
        },
    )
    ElementTree.SubElement(root, "title").text = label
    root.extend(old)
    used = _references(root)
    for element in root.iter():
        _rename(element)
        _restyle(element, colours, paper)
        _point(element, prefix, used)
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in ("metadata", "style")]:
            parent.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def _references(root: ElementTree.Element) -> set[str]:
    """Ids that something in the picture points to."""
    values = [v for element in root.iter() for v in element.attrib.values()]
    return {v[1:] for v in values if v.startswith("#")} | {name for v in values for name in _URL.findall(v)}


def _rename(element: ElementTree.Element) -> None:
    """Take off the namespaces, which HTML does not have, and digits that nobody sees."""
    element.tag = element.tag.rpartition("}")[2]
    for name in [n for n in element.attrib if n.startswith("{")]:
        element.attrib[name.rpartition("}")[2]] = element.attrib.pop(name)
    element.text = element.text if element.text and element.text.strip() else None
    element.tail = None
    if "d" in element.attrib:  # a hundredth of a point is not to be seen
        element.attrib["d"] = _DECIMAL.sub(
            lambda found: f"{float(found[0]):.2f}", " ".join(element.attrib["d"].split())
        )


def _restyle(element: ElementTree.Element, colours: Mapping[str, str], paper: str) -> None:
    """Foreground colours and fonts become those of the page."""
    if "style" not in element.attrib or element.tag == "svg":
        return
    parts: list[str] = []
    for part in element.attrib["style"].split(";"):
        name, _, value = (text.strip() for text in part.partition(":"))
        font = _FONT.match(value) if name == "font" else None
        if font:  # before Matplotlib 3.11
            parts += [f"font-size: {font['size']}px"] + ([f"font-weight: {font['weight']}"] if font["weight"] else [])
        elif name in ("fill", "stroke") and value in colours:
            parts += [f"{name}: currentColor"] + ([f"{name}-opacity: {colours[value]}"] if colours[value] else [])
        elif name in ("fill", "stroke") and value == paper:
            parts.append(f"{name}: var(--paper, Canvas)")
        elif name and name != "font-family":
            parts.append(f"{name}: {value}")
    element.attrib["style"] = "; ".join(parts)


def _point(element: ElementTree.Element, prefix: str, used: set[str]) -> None:
    """Prefix the ids that are pointed to, and what points to them; leave out the others."""
    name = element.attrib.pop("id", None)
    if name in used:
        element.attrib["id"] = f"{prefix}-{name}"
    for key, value in element.attrib.items():
        if key == "href" and value.startswith("#"):
            element.attrib[key] = f"#{prefix}-{value[1:]}"
        else:
            element.attrib[key] = _URL.sub(rf"url(#{prefix}-\1)", value)
