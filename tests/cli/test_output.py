"""Tables off a terminal: names in one piece."""

from __future__ import annotations

import pytest

from mixlaw.cli import output
from mixlaw.render.tables import table


def test_a_table_takes_the_room_its_names_need(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"the_pile_a_long_name_{i}" for i in range(3)]
    columns = ["target", *(f"quantity number {i}" for i in range(6))]
    output.show(table("Title", columns, [(name, *["0.1234"] * 6) for name in names]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-4:-1]] == names
    assert 100 < max(map(len, lines)) <= 160


def test_text_and_the_widest_tables_have_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    output.show("word " * 100, table("Title", ["target", *map(str, range(40))], [("a", *["0.123456"] * 40)]))
    text, _, rest = capsys.readouterr().out.partition("Title")
    assert max(map(len, text.splitlines())) <= 100
    assert max(map(len, rest.splitlines())) <= 160
