"""HTML by small functions: escaping, and a Rich table walked by columns and rows."""

from __future__ import annotations

from rich.text import Text

from mixlaw.render.report.markup import MOST_COLUMNS, Markup, breakable, element, listing, markup, opening, table
from mixlaw.render.tables import table as rich_table

EVIL = "<script>alert(1)</script>&\"'"


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = element("b", EVIL)
    assert inner == "<b>&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#x27;</b>"
    assert element("p", inner) == f"<p>{inner}</p>"
    assert opening("meta", name=EVIL) == f'<meta name="{markup(EVIL)}">'
    assert markup(inner) is inner


def test_attributes_that_are_none_are_left_out_and_names_get_their_dashes() -> None:
    assert element("i", class_="a", aria_label="b", scope=None) == '<i class="a" aria-label="b"></i>'


def test_characters_that_html_cannot_hold_are_replaced() -> None:
    assert markup("a\x00b\x1bc\ud800d\n") == "a\ufffdb\ufffdc\ufffdd\n"


def test_names_break_after_their_joints_only() -> None:
    assert breakable("a_b-c<d") == "a_<wbr>b-<wbr>c&lt;d"
    assert breakable("plain_") == "plain_"


def test_no_items_make_no_list() -> None:
    assert listing([]) == ""
    assert listing([EVIL]) == f"<ul><li>{markup(EVIL)}</li></ul>"


def test_a_table_has_scopes_sides_and_its_title() -> None:
    made = table(rich_table("Title <1>", ["name", "n"], [(Text("a", style="bold"), "1.5"), ("b", EVIL)]))
    assert isinstance(made, Markup)
    assert "<figcaption>Title &lt;1&gt;</figcaption>" in made
    assert '<th scope="col">name</th><th scope="col" class="number">n</th>' in made
    assert '<th scope="row"><span class="name"><strong>a</strong></span></th><td class="number">1.5</td>' in made
    assert "<script" not in made


def test_an_empty_first_cell_belongs_to_the_name_above() -> None:
    made = table(rich_table("t", ["target", "law"], [("web", "x"), ("", "y"), ("code", "z")], left=2))
    assert '<th scope="rowgroup" rowspan="2"><span class="name">web</span></th><td class="text">x</td></tr>' in made
    assert '<tr><td class="text">y</td></tr>' in made
    assert '<th scope="row"><span class="name">code</span></th>' in made


def test_columns_and_rows_are_chosen() -> None:
    source = rich_table("t", ["a", "b", "c"], [("top", "1", "2"), ("next", "3", "4")])
    made = table(source, only=["a", "c", "b"], skip=1)
    assert "top" not in made
    assert made.index(">c</th>") < made.index(">b</th>")
    assert ">b</th>" not in table(source, without=["b"])


def test_a_wide_table_is_cut_into_parts_that_repeat_the_names() -> None:
    columns = ["name", *(f"c{i}" for i in range(2 * MOST_COLUMNS))]
    made = table(rich_table("t", columns, [("row", *map(str, range(2 * MOST_COLUMNS)))]))
    assert made.count("<table>") == 3
    assert made.count('<th scope="row"><span class="name">row</span></th>') == 3
    assert all(f">c{i}</th>" in made for i in range(2 * MOST_COLUMNS))
