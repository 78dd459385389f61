"""A table of results: HTML where a page can show it, aligned lines of text elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import isfinite
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from ._checks import entries, integer

Cell = str | bool | int | float | Fraction | None

NOTHING = "–"
ROWS_AT_A_GLANCE = 6  # a longer table can be sorted


@dataclass(frozen=True, repr=False)
class Table:
    """What `table` returns: a notebook displays it as HTML, ``print`` writes it as aligned text.

    Attributes
    ----------
    caption : str
        What the table shows.
    heads : tuple of str
        The heads of the columns.
    rows : tuple of tuples
        The values, row by row.
    texts : tuple of tuples of str
        The values as they are shown.
    labels : int
        How many of the first columns say what a row is.
    bars : tuple of str
        The heads of the columns that have a bar in each cell.
    note : str or None
        A sentence below the table.

    Examples
    --------
    >>> from mcutils.plot import table
    >>> found = table([("hinge", 0.125)], ("loss", "error"), caption="Errors on the test part")
    >>> found.texts
    (('hinge', '0.125'),)
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    labels: int
    bars: tuple[str, ...]
    note: str | None

    def __repr__(self) -> str:
        columns = zip(self.heads, *self.texts, strict=True)
        widths = [max(map(len, column)) for column in columns]

        def line(texts: Iterable[str]) -> str:
            cells = zip(texts, widths, self._numeric(), strict=True)
            padded = (text.rjust(width) if right else text.ljust(width) for text, width, right in cells)
            return "  ".join(padded).rstrip()

        lines = [self.caption, "", line(self.heads), line("-" * width for width in widths)]
        lines += map(line, self.texts)
        return "\n".join([*lines, "", self.note] if self.note else lines)

    def _repr_html_(self) -> str:
        numeric = self._numeric()
        shares = {self.heads.index(head): self._shares(self.heads.index(head)) for head in self.bars}

        def head(j: int) -> str:
            kind = ' class="number"' if numeric[j] else ""
            return f'<th{kind} scope="col">{escape(self.heads[j])}</th>'

        def cell(i: int, j: int) -> str:
            value, text = self.rows[i][j], self.texts[i][j]
            name = "th" if j < self.labels else "td"
            raw = repr(float(value)) if _is_number(value) else ""
            classes = ["number"] * bool(raw or numeric[j]) + ["bar"] * (j in shares)
            attributes = {
                "class": " ".join(classes),
                "scope": "row" if j < self.labels else "",
                "style": f"--share: {shares[j][i]}" if j in shares else "",
                "data-value": raw if raw != "nan" else "",  # which has no place in an order
            }
            written = "".join(f' {key}="{entry}"' for key, entry in attributes.items() if entry)
            return f"<{name}{written}>{escape(text.replace('-', '−') if raw else text)}</{name}>"

        columns = range(len(self.heads))
        sortable = " sortable" if len(self.rows) > ROWS_AT_A_GLANCE else ""
        letters = max(len(texts[0]) for texts in self.texts)  # of what must stay readable in a narrow column
        lines = [
            f'<table class="results{sortable}" style="--letters: {letters}">',
            f"<caption><span>{escape(self.caption)}</span></caption>",
            f"<thead><tr>{''.join(map(head, columns))}</tr></thead>",
            "<tbody>",
            *(f"<tr>{''.join(cell(i, j) for j in columns)}</tr>" for i in range(len(self.rows))),
            "</tbody>",
        ]
        if self.note:
            note = f'<td colspan="{len(self.heads)}"><span>{escape(self.note)}</span></td>'
            lines.append(f"<tfoot><tr>{note}</tr></tfoot>")
        return "\n".join([*lines, "</table>"])

    def _numeric(self) -> list[bool]:
        """Which columns hold numbers, perhaps with gaps, and nothing else."""
        columns = ([v for v in column if v is not None] for column in zip(*self.rows, strict=True))
        return [bool(column) and all(map(_is_number, column)) for column in columns]

    def _shares(self, column: int) -> list[str]:
        """How much of each cell its bar fills: all of it at the largest value."""
        values = [float(v) if _is_number(v) else 0.0 for v in (row[column] for row in self.rows)]
        largest = max(values) or 1.0
        return [f"{100 * value / largest:.4g}%" for value in values]


def table(
    rows: Iterable[Sequence[Any]],
    heads: Sequence[str],
    *,
    caption: str,
    formats: Mapping[str, str] | None = None,
    labels: int = 1,
    bars: Sequence[str] = (),
    note: str | None = None,
) -> Table:
    """Make a table of results, the last expression of a cell.

    On the page of a chapter it is an HTML table, which a reader can sort if it has more than six rows. As
    text its columns are aligned, numbers at the right. A zero that was rounded from below has no sign.

    Parameters
    ----------
    rows : iterable of sequences
        The values: text, numbers of Python or numpy, fractions, True and False (shown as "yes" and "no"), and
        None for what does not exist (shown as a dash).
    heads : sequence of str
        The head of each column: plain text, all different.
    caption : str
        What the table shows.
    formats : dict of str to str, optional
        For a column's head how its numbers are written, as ``".3f"``, ``",d"`` or ``".1%"``. Without one,
        integers and fractions are written as they are, floats with four digits.
    labels : int, default=1
        How many of the first columns say what a row is.
    bars : sequence of str, default=()
        Heads of columns of numbers, none negative, to be drawn as bars too; the largest fills its cell.
    note : str, optional
        A sentence below the table.

    Returns
    -------
    Table
        Shows itself as HTML and as text.

    Examples
    --------
    >>> from mcutils.plot import table
    >>> table(
    ...     [("one-vs-all", 0.0312, 10), ("all-pairs", 0.0287, 45), ("by luck", None, 0)],
    ...     ("code", "error", "columns"),
    ...     caption="Ten digits, three codes",
    ...     formats={"error": ".1%"},
    ... )
    Ten digits, three codes
    <BLANKLINE>
    code        error  columns
    ----------  -----  -------
    one-vs-all   3.1%       10
    all-pairs    2.9%       45
    by luck         –        0
    """
    heads = _texts(heads, "heads")
    if formats is not None and not isinstance(formats, Mapping):
        raise ValueError(f"formats must be a dict from heads to formats, found {formats!r}")
    formats = dict(formats or {})
    bars = _texts(bars, "bars")
    if not heads:
        raise ValueError("heads must name at least one column, found none")
    for name, named in (("heads", heads), ("bars", bars)):
        if twice := sorted({head for head in named if named.count(head) > 1}):
            raise ValueError(f"{name} must all be different, found {twice[0]!r} twice")
    for name, unknown in (("formats", set(formats) - set(heads)), ("bars", set(bars) - set(heads))):
        if unknown:
            allowed = ", ".join(map(repr, heads))
            raise ValueError(f"{name} must name columns among {allowed}, found {min(unknown, key=str)!r}")
    labels = integer(labels, "labels", 0, len(heads))
    caption = _text(caption, "caption")
    note = None if note is None else _text(note, "note")

    listed = entries(rows, "rows", "a list of rows")
    values = tuple(_row(row, i, heads) for i, row in enumerate(listed, start=1))
    if not values:
        raise ValueError("rows must hold at least one row, found none")
    for head in bars:
        column = heads.index(head)
        for i, row in enumerate(values, start=1):
            value = row[column]
            if value is not None and not (_is_number(value) and isfinite(value) and value >= 0):
                raise ValueError(
                    f"bars must be of columns of finite numbers, none negative; found {value!r} "
                    f"in row {i}, column {head!r}"
                )
    texts = tuple(
        tuple(_shown(value, formats.get(head), head) for head, value in zip(heads, row, strict=True))
        for row in values
    )
    return Table(caption, heads, values, texts, labels, bars, note)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip() or "\n" in value:
        raise ValueError(f"{name} must be a line of text, found {value!r}")
    return str(value)


def _texts(values: Any, name: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise ValueError(f"{name} must be a sequence of texts, found the text {values!r}")
    return tuple(_text(value, name) for value in entries(values, name, "a sequence of texts"))


def _row(row: Any, number: int, heads: tuple[str, ...]) -> tuple[Cell, ...]:
    """The values of a row, those of numpy as Python's."""
    if isinstance(row, str):
        raise ValueError(f"rows must be sequences of values, found the text {row!r} for row {number}")
    values = tuple(entries(row, "rows", "sequences of values"))
    if len(values) != len(heads):
        raise ValueError(
            f"rows must have a value for each of the {len(heads)} heads, found {len(values)} in row {number}"
        )
    return tuple(_cell(value, number, head) for head, value in zip(heads, values, strict=True))


def _cell(value: Any, number: int, head: str) -> Cell:
    match value:
        case None | bool() | Fraction():
            return value
        case np.bool_():
            return bool(value)
        case str() if "\n" not in value:
            return str(value)
        case Integral():
            return int(value)
        case Real():
            return float(value)
    raise ValueError(
        "rows must hold lines of text, real numbers, True, False or None, "
        f"found {value!r} in row {number}, column {head!r}"
    )


def _is_number(value: Cell) -> TypeGuard[int | float | Fraction]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _shown(value: Cell, spec: str | None, head: str) -> str:
    """A value as a reader sees it, the same on every machine and every Python."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if spec is None:
        spec = ".4g" if isinstance(value, float) else ""
    elif isinstance(value, Fraction):  # knows no formats before Python 3.12
        value = int(value) if value.denominator == 1 else float(value)
    try:
        text = format(value, spec)
    except ValueError as error:
        raise ValueError(
            f"formats must fit the numbers of their column, found {spec!r} for {value!r} in column {head!r}"
        ) from error
    return text if any(sign in text for sign in "123456789infINF") else text.lstrip("-")
