"""One house style for every figure of the book, and for its tables of results.

A class has one colour **and** one marker wherever it appears, lines differ by their dashes too, and a
code matrix shows its signs by glyph as well as by colour: no figure depends on colour. Backgrounds are
white, so that a figure is legible wherever a notebook is opened; the site's dark mode shows the same file
turned over, ``invert(1) hue-rotate(180deg)``, and blends its black into the page.
The colours are chosen for both (tests/test_plot.py measures it): contrast at least 3:1 with the page, and
any two of them at least 11 apart (CIEDE2000) for trichromats and each kind of dichromat.
"""

import base64
import io
import struct
import sys
import zlib
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import is_color_like
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, AffineDeltaTransform
from numpy.typing import ArrayLike

from ._checks import axes_to_draw_in, entries, integer, number, reals
from ._table import Table, table

__all__ = [
    "CLASS_COLORS",
    "CLASS_MARKERS",
    "ClassStyle",
    "Table",
    "class_style",
    "code",
    "intervals",
    "show",
    "table",
    "use_style",
]

# in whichever file they stand: a reader meets them here
Table.__module__ = table.__module__ = __name__

CLASS_COLORS = ("#0072b2", "#d55e00", "#1ea578", "#962d4b", "#9678ff", "#4b3c00", "#c378a5", "#1e1e69")
"""Blue, orange, green, wine, violet, olive, pink, navy: the colours of the classes, in this order."""

# Their number has no factor in common with that of the colours, so that the pairs repeat only after 8 · 13.
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d")
"""The markers of the classes, in this order."""

_LIGHT = 16_000  # bytes over the wire of an SVG that no PNG is tried for

_INK, _FRAME = "#1a1a1a", "#666666"

_STYLE: dict[Any, Any] = {
    # At 5.2 in the site shows a figure in its own size on a desktop, and on a phone at 0.7 of it,
    # where 11 pt are still 10 pixels.
    "figure.figsize": (5.2, 3.2),
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.labelsize": 11,
    "axes.titlesize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FRAME,
    "xtick.color": _FRAME,
    "xtick.labelcolor": _INK,
    "ytick.color": _FRAME,
    "ytick.labelcolor": _INK,
    "grid.color": "#cccccc",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "axes.prop_cycle": plt.cycler(color=CLASS_COLORS) + plt.cycler(linestyle=["-", "--", ":", "-."] * 2),
    # Letters as outlines: a figure looks the same on a device that lacks our font.
    "svg.fonttype": "path",
    # Otherwise matplotlib draws the ids inside an SVG at random.
    "svg.hashsalt": "mcutils",
}


class ClassStyle(TypedDict):
    """The keyword arguments that `class_style` gives."""

    color: str
    marker: str


def use_style() -> None:
    """Make matplotlib draw in the style of the book from here on.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> from mcutils.plot import use_style
    >>> with mpl.rc_context():  # a chapter calls use_style() at its top instead
    ...     use_style()
    ...     mpl.rcParams["font.size"]
    11.0
    """
    mpl.rcParams.update(_STYLE)


def class_style(i: int) -> ClassStyle:
    """Colour and marker of a class, for ``ax.plot`` and ``ax.scatter``.

    Parameters
    ----------
    i : int
        The index of the class, from 0. The first 8 classes differ in colour, the first 13 in marker, and the
        first 104 in the pair of both.

    Returns
    -------
    dict
        The keyword arguments ``color`` and ``marker``.

    Examples
    --------
    >>> from mcutils.plot import class_style
    >>> class_style(2)
    {'color': '#1ea578', 'marker': '^'}
    """
    i = integer(i, "i", 0)
    return {"color": CLASS_COLORS[i % len(CLASS_COLORS)], "marker": CLASS_MARKERS[i % len(CLASS_MARKERS)]}


def show(fig: Figure) -> None:
    """Display a figure once and close it.

    A notebook gets SVG; where that is more than 16 kB over the wire, PNG with two pixels per CSS pixel if
    this is fewer. Beside it stands matplotlib's own line of text. Where there is no notebook, ``plt.show()``
    opens a window.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils.plot import show
    >>> show(Figure())
    """
    if not isinstance(fig, Figure):
        raise ValueError(f"fig must be a Figure of matplotlib, found {fig!r}")
    ipython = sys.modules.get("IPython")  # not imported: then this is no notebook
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        plt.show()
        return

    bundle = {"text/plain": repr(fig)}
    # What matplotlib would write about itself and the hour is different tomorrow, or of no use.
    svg, no_metadata = io.BytesIO(), dict.fromkeys(["Date", "Creator", "Format", "Type"])
    fig.savefig(svg, format="svg", bbox_inches="tight", pad_inches=0.03, metadata=no_metadata)
    # JupyterLab in its dark theme puts white behind such a picture.
    metadata: dict[str, Any] = {"needs_background": "light"}
    wire = len(zlib.compress(svg.getvalue()))  # servers compress SVG on the way; PNG is compressed already
    png = _png(fig) if wire > _LIGHT else b""  # to draw it takes longer than SVG
    if 0 < len(png) < wire:
        bundle["image/png"] = base64.b64encode(png).decode()
        width, height = (pixels // 2 for pixels in struct.unpack(">II", png[16:24]))
        metadata["image/png"] = {"width": width, "height": height}
    else:
        bundle["image/svg+xml"] = svg.getvalue().decode()
    # Before the display: if that fails, the notebook does not show the figure by itself.
    plt.close(fig)
    ipython.display.display(bundle, metadata=metadata, raw=True)


def _png(fig: Figure) -> bytes:
    """Two pixels for each of the page's."""
    png = io.BytesIO()
    fig.savefig(png, format="png", bbox_inches="tight", pad_inches=0.03, dpi=192, metadata={"Software": None})
    return png.getvalue()


# Shapes in units of a cell, so that glyphs shrink with their cells, as letters would not.
_SQUARE = Path([(-0.46, -0.46), (0.46, -0.46), (0.46, 0.46), (-0.46, 0.46), (0, 0)], closed=True)
_MINUS = Path([(-0.27, -0.06), (0.27, -0.06), (0.27, 0.06), (-0.27, 0.06), (0, 0)], closed=True)
_PLUS = Path.make_compound_path(_MINUS, _MINUS.transformed(Affine2D().rotate_deg(90)))
_ZERO = Path.unit_circle().transformed(Affine2D().scale(0.11, 0.18))


def _ticks(n: int, labels: Sequence[str] | None, name: str) -> tuple[list[int], list[str]]:
    """Places and labels of n rows or columns; numbered from 1, every fifth where there are many."""
    if labels is None:
        places = list(range(n)) if n <= 20 else list(range(4, n, 5))
        return places, [str(place + 1) for place in places]
    named = entries(labels, name, "a list of names")
    if len(named) != n:
        raise ValueError(f"{name} has {len(named)} entries, the code matrix needs {n}")
    return list(range(n)), named


def code(
    ax: Axes,
    M: ArrayLike,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
) -> None:
    """Draw a code matrix: + on blue, - on orange, a small 0 on nothing.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    M : array-like of shape (k, l)
        The code, with entries -1, 0 and 1; row r is the codeword of class r.
    row_labels, column_labels : sequence of str, optional
        The names of the k classes and of the l columns; without them they are numbered from 1. Cells are
        square up to 20 columns; beyond, they share out the height of the axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils.plot import code
    >>> ax = Figure().subplots()
    >>> code(ax, [[1, 1, 0], [-1, 0, 1], [0, -1, -1]], column_labels=["1 : 2", "1 : 3", "2 : 3"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1', '2', '3']
    """
    axes_to_draw_in(ax)
    M = reals(M, "M")
    if M.ndim != 2 or M.size == 0:
        raise ValueError(
            f"M must have a row for each class and a column for each problem, found shape {M.shape}"
        )
    if not np.isin(M, (-1, 0, 1)).all():
        others = sorted(set(M[~np.isin(M, (-1, 0, 1))].tolist()))
        raise ValueError(f"M must have the entries -1, 0 and 1, found {others[:5]}")
    rows, columns = M.shape

    def stamp(shape: Path, value: int, **style: Any) -> None:
        """Draw the shape in every cell that holds the value."""
        centers = np.argwhere(value == M)[:, ::-1]
        if len(centers):  # a collection without offsets draws its shape once, at the origin
            by = AffineDeltaTransform(ax.transData)  # type: ignore[arg-type]  # it is affine on linear axes
            ax.add_collection(PathCollection([shape], offsets=centers, offset_transform=by, **style))

    for value, color, glyph in ((1, CLASS_COLORS[0], _PLUS), (-1, CLASS_COLORS[1], _MINUS)):
        stamp(_SQUARE, value, facecolors=color, linewidths=0)
        stamp(glyph, value, facecolors="white", linewidths=0)
    stamp(_ZERO, 0, facecolors="none", edgecolors=_FRAME, linewidths=1)

    # Many square cells would be lower than the letters beside them.
    aspect: Literal["equal", "auto"] = "equal" if columns <= 20 else "auto"
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect=aspect)
    ax.set_xticks(*_ticks(columns, column_labels, "column_labels"))
    ax.set_yticks(*_ticks(rows, row_labels, "row_labels"))
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.xaxis.set_label_position("top")
    ax.spines[:].set_visible(False)


def intervals(
    ax: Axes,
    labels: Sequence[str],
    centers: ArrayLike,
    lows: ArrayLike,
    highs: ArrayLike,
    *,
    color: str = CLASS_COLORS[0],
    marker: str = CLASS_MARKERS[0],
    offset: float = 0.0,
    name: str | None = None,
) -> None:
    """Draw a dot with its interval for each label, the first at the top.

    Two series share the axes when each call has its own colour, marker and offset, say -0.15 and 0.15.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; the values run horizontally.
    labels : sequence of str
        What each row is, written beside it.
    centers, lows, highs : array-like of shape (len(labels),)
        The dots and the ends of their intervals, low <= center <= high.
    color, marker : str
        Of the whole series.
    offset : float, default=0.0
        How far below its label's row the series is drawn, in rows; negative is above.
    name : str, optional
        The name of the series, written at its first dot: above it, or below when the offset is positive.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils.plot import class_style, intervals
    >>> ax = Figure().subplots()
    >>> codes = ["one-vs-all", "all-pairs"]
    >>> intervals(ax, codes, [0.14, 0.11], [0.12, 0.09], [0.16, 0.13], offset=-0.15, name="Hamming")
    >>> intervals(
    ...     ax, codes, [0.12, 0.10], [0.10, 0.08], [0.14, 0.12], offset=0.15, name="hinge", **class_style(1)
    ... )
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['one-vs-all', 'all-pairs']
    """
    axes_to_draw_in(ax)
    labels = entries(labels, "labels", "a list of texts")
    offset = number(offset, "offset", least=-1, most=1)
    if not is_color_like(color):
        raise ValueError(f"color must be a colour of matplotlib, found {color!r}")
    if not (isinstance(marker, str) and marker in MarkerStyle.markers):
        raise ValueError(f"marker must be a marker of matplotlib, found {marker!r}")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"name must be a text or None, found {name!r}")
    center, low, high = reals(centers, "centers"), reals(lows, "lows"), reals(highs, "highs")
    for argument, values in (("centers", center), ("lows", low), ("highs", high)):
        if values.shape != (len(labels),):
            raise ValueError(
                f"{argument} has shape {values.shape}, the {len(labels)} labels need ({len(labels)},)"
            )
    if not ((low <= center) & (center <= high)).all():
        row = int(np.argmin((low <= center) & (center <= high)))
        raise ValueError(
            "lows, centers and highs must be in this order in each row, found "
            f"{low[row]}, {center[row]}, {high[row]} in row {labels[row]!r}"
        )
    rows = np.arange(len(labels))
    ax.hlines(rows + offset, low, high, color=color, linewidth=2)
    ax.plot(center, rows + offset, color=color, marker=marker, markersize=7, linestyle="none")
    if name is not None:
        side = 1 if offset <= 0 else -1
        ax.annotate(
            name,
            (center[0], offset),
            xytext=(0, 6 * side),
            textcoords="offset points",
            ha="center",
            va="bottom" if side > 0 else "top",
        )
    ax.set_yticks(rows, labels)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(labels) - 0.4, -0.8)
