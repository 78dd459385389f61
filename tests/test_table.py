"""Tables of results: what is shown, what is compared, and what a screen reader gets."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from mcutils import plot

ROWS = [("hinge", 0.125, 7, True), ("logistic", 0.25, 12345, False), ("none", None, 0, None)]
HEADS = ("loss", "error", "steps", "convex")


def made(rows: Any = ROWS, heads: Any = HEADS, **more: Any) -> plot.Table:
    return plot.table(rows, heads, **{"caption": "What was found", **more})


class Cells(HTMLParser):
    """The elements of a table in order: (name, attributes, text)."""

    def __init__(self, found: plot.Table):
        super().__init__()
        self.open: list[str] = []
        self.elements: list[list[Any]] = []
        self.feed(found._repr_html_())
        self.close()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.open.append(tag)
        self.elements.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.elements[-1][2] += data.rstrip("\n")

    def all(self, *tags: str) -> list[list[Any]]:
        return [element for element in self.elements if element[0] in tags]


def test_the_text_is_aligned_and_ends_without_blanks() -> None:
    assert repr(made(formats={"error": ".2f", "steps": ",d"}, note="Of one run.")).splitlines() == [
        "What was found",
        "",
        "loss      error   steps  convex",
        "--------  -----  ------  ------",
        "hinge      0.12       7  yes",
        "logistic   0.25  12,345  no",
        "none          –       0  –",
        "",
        "Of one run.",
    ]


def test_a_notebook_displays_the_text_that_print_writes() -> None:
    found = made()
    data, _ = InteractiveShell.instance().display_formatter.format(found)
    assert data == {"text/plain": str(found), "text/html": found._repr_html_()}


def test_the_page_gets_a_caption_scopes_and_raw_numbers() -> None:
    cells = Cells(made(formats={"error": ".1f"}, labels=1, note="Of one run."))
    assert cells.open == []
    assert [name for name, _, _ in cells.all("table", "caption", "thead", "tbody", "tfoot")] == [
        "table",
        "caption",
        "thead",
        "tbody",
        "tfoot",
    ]
    assert cells.all("table")[0][1] == {"class": "results", "style": "--letters: 8"}
    assert [text for _, _, text in cells.all("span")] == ["What was found", "Of one run."]
    heads, labels = cells.all("th")[:4], cells.all("th")[4:]
    assert [(text, attributes["scope"]) for _, attributes, text in heads] == [(h, "col") for h in HEADS]
    assert [(text, attributes) for _, attributes, text in labels] == [
        (name, {"scope": "row"}) for name in ("hinge", "logistic", "none")
    ]
    assert [(text, attributes) for _, attributes, text in cells.all("td")] == [
        ("0.1", {"class": "number", "data-value": "0.125"}),
        ("7", {"class": "number", "data-value": "7.0"}),
        ("yes", {}),
        ("0.2", {"class": "number", "data-value": "0.25"}),
        ("12345", {"class": "number", "data-value": "12345.0"}),
        ("no", {}),
        ("–", {"class": "number"}),
        ("0", {"class": "number", "data-value": "0.0"}),
        ("–", {}),
        ("", {"colspan": "4"}),  # the note stands in its span
    ]


def test_a_head_stands_as_its_numbers_do() -> None:
    heads = Cells(made()).all("th")[:4]
    assert [attributes.get("class") for _, attributes, _ in heads] == [None, "number", "number", None]
    assert "number" not in made([("a", None)], ("x", "nothing"))._repr_html_()


@pytest.mark.parametrize(("rows", "kind"), [(6, "results"), (7, "results sortable")])
def test_a_table_is_sortable_beyond_six_rows(rows: int, kind: str) -> None:
    assert Cells(made([(i,) for i in range(rows)], ("i",))).all("table")[0][1]["class"] == kind


def test_bars_are_shares_of_the_largest_value() -> None:
    rows = [("a", 30, 1), ("b", 75, 2), ("c", None, 3), ("d", 0, 4)]
    cells = Cells(made(rows, ("x", "wins", "n"), bars=["wins"])).all("td")
    assert [a.get("style") for _, a, _ in cells] == [
        *("--share: 40%", None),
        *("--share: 100%", None),
        *("--share: 0%", None),
        *("--share: 0%", None),
    ]
    assert cells[0][1]["class"] == "number bar"
    zeros = Cells(made([("a", 0.0)], ("x", "wins"), bars=["wins"])).all("td")
    assert zeros[0][1]["style"] == "--share: 0%"


def test_every_text_is_escaped() -> None:
    evil = "<b>&\"'"
    html = made([(evil, 1)], (f"{evil}0", f"{evil}1"), caption=evil, note=evil)._repr_html_()
    assert "<b>" not in html
    assert html.count("&lt;b&gt;&amp;&quot;&#x27;") == 5


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (np.float64(0.5), ".3f", "0.500"),
        (np.float32(0.5), None, "0.5"),
        (np.int64(1200), ",d", "1,200"),
        (np.bool_(True), None, "yes"),
        (np.str_("word"), None, "word"),
        (np.longdouble(2), ".1f", "2.0"),
        (Fraction(1, 3), None, "1/3"),
        (Fraction(1, 3), ".2f", "0.33"),
        (Fraction(4, 2), "d", "2"),
        (1 / 3, None, "0.3333"),
        (123456.0, None, "1.235e+05"),
        (0.125, ".1%", "12.5%"),
        (3, ".1f", "3.0"),
        (float("inf"), ".2f", "inf"),
        # two machines may round a zero from either side
        (-1e-9, ".2f", "0.00"),
        (-0.0, None, "0"),
        (-0.004, ".1%", "-0.4%"),
        (-1e-9, None, "-1e-09"),
        (float("-inf"), ".2f", "-inf"),
        ("as it is", ".2f", "as it is"),
        (False, ".2f", "no"),
        (None, ".2f", "–"),
    ],
)
def test_values_are_shown_the_same_on_every_machine(value: Any, spec: str | None, text: str) -> None:
    found = made([("x", value)], ("what", "value"), formats={"value": spec} if spec else None)
    assert found.texts == (("x", text),)


def test_numbers_that_have_no_place_in_an_order_say_so() -> None:
    cells = Cells(made([(float("nan"), float("inf"), -2)], ("a", "b", "c"), labels=0)).all("td")
    assert [(text, a.get("data-value")) for _, a, text in cells] == [
        ("nan", None),
        ("inf", "inf"),
        ("−2", "-2.0"),  # with the sign that print has for it
    ]


def test_a_table_is_frozen_and_has_the_name_of_its_module() -> None:
    found = made(row for row in ROWS)
    assert found.rows[0] == ("hinge", 0.125, 7, True)
    with pytest.raises(FrozenInstanceError):
        found.caption = "another"  # type: ignore[misc]
    assert plot.Table.__module__ == plot.table.__module__ == "mcutils.plot"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"rows": [("a", 1), ("b",)]}, "rows must have a value for each of the 2 heads, found 1 in row 2"),
        ({"rows": []}, "rows must hold at least one row, found none"),
        ({"rows": ["ab"]}, "rows must be sequences of values, found the text 'ab' for row 1"),
        ({"rows": [("a", {})]}, r"rows must hold lines .* found {} in row 1, column 'n'"),
        ({"rows": [("a", 1j)]}, r"found 1j in row 1, column 'n'"),
        ({"rows": [("a", np.ones(2))]}, r"found array\(\[1., 1.\]\) in row 1, column 'n'"),
        ({"rows": [("a\nb", 1)]}, r"found 'a\\nb' in row 1, column 'x'"),
        ({"heads": ()}, "heads must name at least one column, found none"),
        ({"heads": "xn"}, "heads must be a sequence of texts, found the text 'xn'"),
        ({"heads": ("x", "x")}, "heads must all be different, found 'x' twice"),
        ({"heads": ("x", " ")}, "heads must be a line of text, found ' '"),
        ({"heads": ("x", 1)}, "heads must be a line of text, found 1"),
        ({"formats": {"m": ".1f"}}, "formats must name columns among 'x', 'n', found 'm'"),
        ({"formats": {"n": ".1q"}}, "formats must fit the numbers of their column, found '.1q' for 1 in col"),
        ({"bars": ("m",)}, "bars must name columns among 'x', 'n', found 'm'"),
        ({"bars": "n"}, "bars must be a sequence of texts, found the text 'n'"),
        ({"bars": ("n", "n")}, "bars must all be different, found 'n' twice"),
        ({"bars": ("x",)}, "none negative; found 'a' in row 1, column 'x'"),
        ({"rows": [("a", -1)], "bars": ("n",)}, "none negative; found -1 in row 1, column 'n'"),
        ({"rows": [("a", np.inf)], "bars": ("n",)}, "none negative; found inf in row 1, column 'n'"),
        ({"rows": [("a", np.nan)], "bars": ("n",)}, "none negative; found nan in row 1, column 'n'"),
        ({"rows": [("a", True)], "bars": ("n",)}, "none negative; found True in row 1, column 'n'"),
        ({"labels": 3}, "labels must be an integer from 0 to 2, found 3"),
        ({"labels": True}, "labels must be an integer from 0 to 2, found True"),
        ({"caption": ""}, "caption must be a line of text, found ''"),
        ({"caption": None}, "caption must be a line of text, found None"),
        ({"note": "a\nb"}, r"note must be a line of text, found 'a\\nb'"),
    ],
)
def test_what_cannot_be_a_table_is_refused(bad: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"rows": [("a", 1)], "heads": ("x", "n"), "caption": "A table", **bad}
    with pytest.raises(ValueError, match=message):
        plot.table(**arguments)
