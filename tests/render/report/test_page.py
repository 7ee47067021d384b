"""The page as a browser meets it: whole, alone, and with everything in it."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from mixlaw import fitfile
from mixlaw.cli import main
from mixlaw.render.report.figures import MISSING

EVIL = "<script>alert(1)</script>&\"'"
VOID = {"meta", "wbr", "br", "img", "link", "hr", "input", "source", "col", "base", "embed"}
REACHING = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background", "ping", "formaction"}


class Page(HTMLParser):
    """Checks nesting while it reads, and keeps elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.styles: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> outside a picture"
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        (self.styles if self.open[-1:] == ["style"] else self.said).append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


@pytest.fixture(scope="module")
def table(known_law: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample table with a hostile domain, target, task and runs."""
    frame = pd.read_csv(known_law)
    frame = frame.rename(columns={"mix/web": f"mix/{EVIL}", "loss/web": f"loss/{EVIL}"})
    frame[f"bench/{EVIL}"] = 0.3 + 0.4 / frame[f"loss/{EVIL}"]
    frame["run"] = EVIL + frame["run"]
    path = tmp_path_factory.mktemp("report") / f"{EVIL.replace('/', '')}.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fit(table: Path) -> Path:
    path = table.with_name("fit.json")
    words = ["--law", "capacity,additive", "--starts", "2", "--bootstrap", "10", "-o", str(path)]
    assert main(["fit", str(table), *words]) == 0
    return path


def report(fit: Path, *words: str, name: str = "report.html") -> str:
    path = fit.with_name(name)
    assert main(["report", str(fit), "--params", "1B", "--tokens", "20B", *words, "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(fit: Path, table: Path) -> str:
    return report(fit, "--runs", str(table))


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_it_is_one_well_nested_page(text: str, page: Page) -> None:
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert [t for t, _ in page.elements[:2]] == ["html", "head"]
    assert len(page.tags("title")) - len(page.tags("svg")) == 1  # a picture has its own
    assert len(page.tags("h1")) == len(page.tags("main")) == 1
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.tags("meta")
    assert {"charset": "utf-8"} in page.tags("meta")


def test_nothing_leads_outside(text: str, page: Page) -> None:
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & {t for t, _ in page.elements}
    pointing = [v for _, a in page.elements for k, v in a.items() if k in REACHING]
    assert pointing and all(v and v.startswith("#") for v in pointing)
    assert not [k for _, a in page.elements for k in a if k.startswith("on")]
    assert not re.search(r"https?:|@import|@font-face|url\((?!#)", text)
    assert ("http-equiv", "Content-Security-Policy") in page.tags("meta")[1].items()


def test_links_and_ids_meet(page: Page) -> None:
    ids = Counter(a["id"] for _, a in page.elements if "id" in a)
    assert set(ids.values()) == {1}
    links = [a["href"] for t, a in page.elements if t == "a"]
    assert len(links) == 8
    assert all(str(link)[1:] in ids for link in links)
    labels = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    assert len(labels) == 3 and all(label in ids for label in labels)


def test_names_from_files_are_text(text: str, page: Page) -> None:
    assert "<script" not in text
    assert page.text.count(EVIL) > 20  # domain, target, task, runs, in tables and sentences
    assert f"{EVIL}400M-00" in page.text


def test_the_answers_come_first(page: Page) -> None:
    places = [page.text.index(words) for words in ("What to do", "How sure that is", "What would change it")]
    assert places == sorted(places)
    assert places[0] < 400
    top = page.text[: page.text.index("Mixture and evidence")]
    assert "it beats uniform" in top or "A tie: this mixture cannot be told from" in top
    assert re.search(
        r"Its laws miss by \d\.\d+% to \d\.\d+% each on 8 runs they had not seen \(largest size, 400M\)", top
    )
    assert re.search(r"90 % intervals covered \d+% of \d+ held-out losses", top)
    assert "2.5 times the largest size and 2.5 times the largest token count" in top
    assert "The run that would help most:" in top or "No single run is expected to change the choice" in top
    assert "48 runs" in top


def test_every_table_is_there_with_scopes(page: Page) -> None:
    for title in (
        "What the proposal gains", "Mixture (token shares) for 1B parameters, 20B tokens",
        "Objective: mean of 4 losses, nats/token, lower is better", "Predicted loss of the recommended mixture",
        "Predicted, the proposal beside other mixtures", "Held out: largest size, 400M (8 runs; fitted without them)",
        "Mean relative error by target", "Fits (residual: median on the training data", "Parameters",
        "Predicted accuracy", "Benchmarks (errors on", "Runs by size", "Shares in the runs",
        "Losses at the end of the runs",
    ):  # fmt: skip
        assert title in page.text, title
    tables = len(page.tags("table"))
    assert tables >= 15
    assert len(page.tags("thead")) == len(page.tags("tbody")) == tables
    assert all(a.get("scope") in ("col", "row", "rowgroup") for a in page.tags("th"))
    assert len(page.tags("figure")) == len(page.tags("figcaption")) >= 14


def test_pictures_are_drawn_in_the_page(page: Page) -> None:
    pytest.importorskip("matplotlib")
    assert [a["class"] for a in page.tags("svg")] == ["picture"] * 3
    assert MISSING not in page.text


def test_every_flag_is_there_with_its_definition(
    fit: Path, table: Path, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["report", str(fit), "--params", "1B", "--tokens", "20B", "--runs", str(table), "--json"]) == 0
    flags = json.loads(capsys.readouterr().out)["flags"]
    carried = {f.name for ms in fitfile.load(fit).members.values() for m in ms for f in m.fit.flags}
    assert carried <= {flag["name"] for flag in flags}
    assert flags
    for flag in flags:
        assert f"{flag['name']}{flag['definition']}Here: {' '.join(flag['raised_for'].split())}" in page.text


def test_the_data_are_accounted_for(fit: Path, page: Page) -> None:
    seen = fitfile.load(fit).seen
    assert seen.fingerprint in page.text
    assert seen.dropped
    assert all(f"Left out: {number} rows, {why}" in page.text for why, number in seen.dropped.items())


def test_the_commands_can_be_pasted(fit: Path, table: Path, page: Page) -> None:
    import shlex

    words = [shlex.split(line) for line in (fitfile.load(fit).command,)]
    assert words == [["mixlaw", "fit", str(table), "--law", "capacity,additive", "--starts", "2", "--bootstrap", "10"]]
    assert fitfile.load(fit).command in page.text
    made = shlex.join(["mixlaw", "report", str(fit), "--params", "1B", "--tokens", "20B", "--runs", str(table)])
    assert made in page.text
    assert re.search(r"mixlaw \d+\.\d+\.\d+ \(mixlaw --version\)", page.text)


def test_the_same_input_gives_the_same_bytes(fit: Path, table: Path, text: str) -> None:
    assert report(fit, "--runs", str(table), name="again.html") == text


def test_without_matplotlib_there_are_tables_and_a_word(
    fit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Page(report(fit, name="bare.html"))
    assert MISSING in page.text
    assert MISSING in capsys.readouterr().err
    assert page.tags("svg") == []
    assert len(page.tags("table")) >= 12
    assert "None: no run table was given (--runs RUNS adds it)" in page.text


def test_colours_follow_the_reader_and_paper_is_light(page: Page) -> None:
    (style,) = page.styles[:1]
    assert "@media screen and (prefers-color-scheme: dark)" in style
    assert "@media print" in style
    names = set(re.findall(r"var\((--[a-z-]+)", style))
    assert names <= set(re.findall(r"(--[a-z-]+):", style))
