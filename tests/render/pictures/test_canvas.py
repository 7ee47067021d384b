"""The canvas: what is refused, that bytes repeat, and what a page gets."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mixlaw.errors import InputError, MissingExtraError, UsageError
from mixlaw.render.pictures import canvas

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@canvas.style()
def drawn(label: str = "loss of $web$ & <code>") -> Figure:
    figure = canvas.figure(4, 3)
    axes = figure.add_subplot()
    axes.plot([1, 2, 3], [3, 1, 2], "o-", color=canvas.PALETTE[0], markeredgecolor=canvas.PAPER)
    axes.set_xlim(1, 2.5)
    axes.set_ylabel(label)
    canvas.say(figure, "One line", caption="seen from afar")
    return figure


@pytest.mark.parametrize("suffix", canvas.SUFFIXES)
def test_the_same_picture_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        canvas.write(drawn(), tmp_path / f"{name}{suffix}")
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == second
    assert first[:5] in (b"\x89PNG\r", b"%PDF-", b"<?xml")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a{suffix}", f"b{suffix}"]


def test_the_users_own_settings_do_not_reach_the_picture(tmp_path: Path) -> None:
    import matplotlib

    canvas.write(drawn(), tmp_path / "a.png")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        canvas.write(drawn(), tmp_path / "b.png")
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_other_suffixes_and_folders_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ends in \.png, \.pdf, \.svg"):
        canvas.check(tmp_path / "a.gif")
    canvas.check(tmp_path / "A.PNG")
    with pytest.raises(InputError, match="a folder that can be written to"):
        canvas.write(drawn(), tmp_path / "absent" / "a.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None)
    with pytest.raises(MissingExtraError, match=r"mixlaw\[plot\]"):
        canvas.check(Path("a.png"))


def test_the_fragment_belongs_to_its_page() -> None:
    text = canvas.svg(drawn(), "one")
    root = ElementTree.fromstring(text)
    assert root.tag == "svg"
    assert (root.attrib["role"], root.attrib["aria-label"], root[0].text) == ("img", "One line", "One line")
    assert "width" not in root.attrib
    assert [float(v) for v in root.attrib["viewBox"].split()][:3] == [0, 0, 288]
    assert not re.search(r"http|<\?|<!|<metadata|<style|font-family|DejaVu|xlink", text)
    assert {"loss of $web$ & <code>", "seen from afar"} <= {e.text for e in root.iter("text")}


def test_ids_are_those_that_are_used_and_start_with_the_prefix() -> None:
    first, second = (canvas.svg(drawn(), prefix, label="") for prefix in ("one", "two"))
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    used = [set(re.findall(r'(?:url\(|href=")#([^")]+)', text)) for text in (first, second)]
    assert ids == used
    assert all(name.startswith("one-") for name in ids[0])
    assert not ids[0] & ids[1]
    assert first == canvas.svg(drawn(), "one", label="")


def test_foreground_takes_the_colour_of_the_page() -> None:
    text = canvas.svg(drawn())
    styles = [e.attrib.get("style", "") for e in ElementTree.fromstring(text).iter() if e.tag == "text"]
    assert styles
    assert all("fill: currentColor" in style for style in styles)
    assert "stroke: currentColor; stroke-opacity: 0.17" in text
    assert "stroke: var(--paper, Canvas)" in text
    assert canvas.PALETTE[0] in text
    assert not {canvas.INK, canvas.MUTED, canvas.GRID, canvas.PAPER} & set(re.findall("#[0-9a-f]{6}", text))


def test_long_names_keep_both_ends() -> None:
    assert canvas.short("web") == "web"
    assert canvas.short("crawl_of_everything_2023_quality_high", 20) == "crawl_of_e…lity_high"
