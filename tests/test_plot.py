"""Figures can be read in both modes of the site and by the colour-blind, and come out the same each time."""

import base64
import io
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from nbclient import NotebookClient
from numpy.typing import NDArray

from mcutils import plot

ROOT = Path(__file__).parents[1]
Array = NDArray[np.float64]

# sRGB (D65) to XYZ; its second row is the relative luminance of WCAG.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "trichromat": np.eye(3),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanope": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(color: Array) -> Array:
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def contrast(color: Array, page: Array) -> float:
    low, high = sorted(float(XYZ[1] @ linear(c)) + 0.05 for c in (color, page))
    return high / low


def turned_over(color: Array) -> Array:
    """What ``filter: invert(1) hue-rotate(180deg)`` makes of a colour (Filter Effects, Level 1)."""
    rotate = np.array([[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]])
    turned: Array = np.clip(rotate @ (1 - color), 0, 1)
    return turned


def lab(color: Array, vision: Array) -> Array:
    xyz = XYZ @ np.clip(vision @ linear(color), 0, 1) / XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: Array, two: Array) -> float:
    (l1, a1, b1), (l2, a2, b2) = one.tolist(), two.tolist()
    c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(c**7 / (c**7 + 25**7)))
    c1, c2 = np.hypot(a1 * (1 + g), b1), np.hypot(a2 * (1 + g), b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * (1 + g))) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = h1 + turn / 2 if c1 * c2 else h1 + h2
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = 1 - 0.17 * np.cos(np.radians(hue - 30)) + 0.24 * np.cos(np.radians(2 * hue))
    t += 0.32 * np.cos(np.radians(3 * hue + 6)) - 0.20 * np.cos(np.radians(4 * hue - 63))
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    bend = -np.sin(np.radians(60 * np.exp(-(((hue % 360 - 275) / 25) ** 2))))
    bend *= 2 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + bend * dc * dh))


@pytest.mark.parametrize(
    ("one", "two", "difference"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ],
)
def test_the_ruler_agrees_with_the_published_differences(
    one: tuple[float, ...], two: tuple[float, ...], difference: float
) -> None:
    # Sharma, Wu and Dalal (2005)
    assert ciede2000(np.array(one), np.array(two)) == pytest.approx(difference, abs=5e-5)


def light_and_dark(color: str) -> Iterator[tuple[Array, Array]]:
    """A colour and the page it is on: as it is on white, turned over on the dark pages of the site."""
    rgb = np.array(to_rgb(color))
    yield rgb, np.ones(3)
    for page in ("#121212", "#14181e"):
        yield turned_over(rgb), np.array(to_rgb(page))


@pytest.mark.parametrize("color", plot.CLASS_COLORS)
def test_every_class_stands_out_from_the_page_in_both_modes(color: str) -> None:
    assert min(contrast(*pair) for pair in light_and_dark(color)) >= 3


@pytest.fixture
def style() -> Iterator[dict[Any, Any]]:
    """The rcParams of the book, for one test."""
    with mpl.rc_context():
        plot.use_style()
        yield dict(mpl.rcParams)


def test_text_stands_out_from_the_page_in_both_modes(style: dict[Any, Any]) -> None:
    for name in ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"):
        assert min(contrast(*pair) for pair in light_and_dark(style[name])) >= 7
    for name in ("axes.edgecolor", "xtick.color", "ytick.color"):
        assert min(contrast(*pair) for pair in light_and_dark(style[name])) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_the_colours_differ_for_every_kind_of_eye(mode: str, vision: str) -> None:
    seen = [np.array(to_rgb(color)) for color in plot.CLASS_COLORS]
    if mode == "dark":
        seen = [turned_over(color) for color in seen]
    labs = [lab(color, VISION[vision]) for color in seen]
    assert min(ciede2000(*pair) for pair in combinations(labs, 2)) > 11
    assert min(ciede2000(*pair) for pair in combinations(labs[:3], 2)) > 14
    assert ciede2000(labs[0], labs[1]) > 45  # these two carry the signs of a code


def test_every_class_has_its_own_look() -> None:
    assert len(plot.CLASS_COLORS) == len(set(plot.CLASS_COLORS)) == 8
    assert len(plot.CLASS_MARKERS) == len(set(plot.CLASS_MARKERS)) == 13
    assert len({tuple(plot.class_style(i).items()) for i in range(104)}) == 104
    with pytest.raises(ValueError, match="i must be an integer, at least 0, found -1"):
        plot.class_style(-1)


def test_letters_are_large_enough_on_a_phone(style: dict[Any, Any]) -> None:
    pixels = 350 / style["figure.figsize"][0] / 72  # of a point, where the text column is 350 wide
    assert style["font.size"] * pixels >= 10
    for name in ("xtick.labelsize", "ytick.labelsize", "legend.fontsize"):
        assert style[name] * pixels >= 9


CELLS = [
    # 0: small, drawn best by lines
    "fig, ax = plt.subplots()\nplot.code(ax, [[1, -1, 0], [-1, 1, 1]])\nplot.show(fig)",
    # 1: many points, smaller as pixels
    """fig, axes = plt.subplots(1, 2, figsize=(4, 2))
axes[0].scatter(*np.random.default_rng(0).normal(size=(2, 20000)), **plot.class_style(1))
plot.show(fig)""",
    # 2: clipped, labelled, with every kind of line
    """fig, ax = plt.subplots()
for i in range(9):
    ax.plot(np.arange(4) ** (i / 4), label=f"$f_{i}$")
ax.set(ylim=(0, 3), ylabel="score")
ax.legend()
plot.show(fig)""",
    "print(plt.get_fignums())",
]


@pytest.fixture(scope="module")
def runs() -> list[list[Any]]:
    """The outputs of each cell, from two kernels."""
    setup = "import matplotlib.pyplot as plt\nimport numpy as np\nfrom mcutils import plot\nplot.use_style()"
    runs = []
    for _ in range(2):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in [setup, *CELLS]])
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
        runs.append([cell.outputs for cell in notebook.cells[1:]])
    return runs


def test_a_figure_is_the_same_bytes_in_every_run(runs: list[list[Any]]) -> None:
    assert runs[0] == runs[1]
    assert "Matplotlib v" not in runs[0][2][0].data["image/svg+xml"]


def test_a_figure_is_displayed_once_in_its_smaller_form_and_closed(runs: list[list[Any]]) -> None:
    *figures, open_figures = runs[0]
    assert [len(outputs) for outputs in figures] == [1, 1, 1]
    assert {outputs[0].output_type for outputs in figures} == {"display_data"}
    bundles = [dict(outputs[0].data) for outputs in figures]
    assert [bundle.pop("text/plain") for bundle in bundles] == [
        "<Figure size 520x320 with 1 Axes>",
        "<Figure size 400x200 with 2 Axes>",
        "<Figure size 520x320 with 1 Axes>",
    ]
    assert [list(bundle) for bundle in bundles] == [["image/svg+xml"], ["image/png"], ["image/svg+xml"]]
    assert open_figures[0].text == "[]\n"


def test_a_png_has_two_pixels_per_css_pixel_and_a_white_background(runs: list[list[Any]]) -> None:
    output = runs[0][1][0]
    pixels = mpl.image.imread(io.BytesIO(base64.b64decode(output.data["image/png"])))
    size = output.metadata["image/png"]
    assert (pixels.shape[1] // 2, pixels.shape[0] // 2) == (size["width"], size["height"])
    assert size["width"] == pytest.approx(4 * 96, abs=10)
    assert pixels[0, 0].tolist() == [1, 1, 1, 1]


def test_without_a_notebook_a_window_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: calls.append(True))
    plot.show(Figure())
    assert calls == [True]


def test_mcutils_does_without_matplotlib_until_something_is_drawn() -> None:
    script = "import sys, mcutils, mcutils.data; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def drawn(M: list[list[int]], **labels: list[str]) -> NDArray[np.uint8]:
    """The pixels of a code matrix without labels, on white."""
    fig = Figure(figsize=(3, 2), dpi=100, facecolor="white")
    ax = fig.add_axes((0, 0, 1, 1))
    plot.code(ax, M, **labels)
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def test_a_code_shows_its_signs_by_glyph_and_by_colour() -> None:
    # Cells are 100 pixels wide: look at their centres, to the right, below, and into their corners.
    pixels = drawn([[1, -1, 0], [0, 1, -1]])
    white, plus, minus = (
        (255, 255, 255),
        *(tuple(round(255 * c) for c in to_rgb(color)) for color in plot.CLASS_COLORS[:2]),
    )
    look = {1: (white, white, white, plus), -1: (white, white, minus, minus), 0: (white,) * 4}
    for row, entries in enumerate([[1, -1, 0], [0, 1, -1]]):
        for column, entry in enumerate(entries):
            y, x = 100 * row + 50, 100 * column + 50
            seen = [pixels[y, x], pixels[y, x + 20], pixels[y + 20, x], pixels[y + 40, x + 40]]
            assert tuple(tuple(p.tolist()) for p in seen) == look[entry]
    assert pixels[50, 236:243].min() < 160  # the ring of the 0, left of its centre


def test_a_code_without_zeros_draws_none() -> None:
    assert len(np.unique(drawn([[1, 1, 1], [1, 1, 1]]).reshape(-1, 3)[:, 0])) > 1
    fig = Figure()
    ax = fig.subplots()
    plot.code(ax, [[1, -1], [-1, 1]])
    assert len(ax.collections) == 4


def test_a_code_has_the_labels_given_or_numbers_from_one() -> None:
    ax = Figure().subplots()
    plot.code(ax, [[1, -1, 0]], row_labels=["a"])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2", "3"]
    ax = Figure().subplots()
    plot.code(ax, np.ones((2, 45)))
    assert [t.get_text() for t in ax.get_xticklabels()] == [str(s) for s in range(5, 50, 5)]
    assert ax.get_xticks().tolist() == list(range(4, 45, 5))


def test_code_refuses_what_it_cannot_draw() -> None:
    ax = Figure().subplots()
    with pytest.raises(ValueError, match=r"M must have the entries -1, 0 and 1, found \[2\.0\]"):
        plot.code(ax, [[1, 2], [0, -1]])
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        plot.code(ax, [1, -1])
    with pytest.raises(ValueError, match="row_labels has 1 entries, the code matrix needs 2"):
        plot.code(ax, [[1], [-1]], row_labels=["a"])
    with pytest.raises(ValueError, match="column_labels has 2 entries, the code matrix needs 1"):
        plot.code(ax, [[1], [-1]], column_labels=["a", "b"])


def test_intervals_stand_in_the_order_of_their_labels() -> None:
    ax = Figure().subplots()
    plot.intervals(ax, ["a", "b"], [1, 2], [0, 1.5], [3, 2.5], offset=0.15, name="s", **plot.class_style(3))
    (line,) = ax.lines
    assert np.asarray(line.get_xydata()).tolist() == [[1, 0.15], [2, 1.15]]
    assert (line.get_color(), line.get_marker()) == tuple(plot.class_style(3).values())
    (bars,) = ax.collections
    assert isinstance(bars, LineCollection)
    ends = [np.asarray(segment).tolist() for segment in bars.get_segments()]
    assert ends == [[[0, 0.15], [3, 0.15]], [[1.5, 1.15], [2.5, 1.15]]]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert ax.yaxis_inverted()
    assert [t.get_text() for t in ax.texts] == ["s"]


def test_intervals_refuse_a_dot_outside_and_a_missing_row() -> None:
    ax = Figure().subplots()
    with pytest.raises(ValueError, match=r"lows, centers and highs .* found 3\.0, 2\.0, 4\.0 in row 'b'"):
        plot.intervals(ax, ["a", "b"], [1, 2], [0, 3], [2, 4])
    with pytest.raises(ValueError, match="lows must be finite, found nan"):
        plot.intervals(ax, ["a"], [1], [float("nan")], [2])
    with pytest.raises(ValueError, match=r"highs has shape \(1,\), the 2 labels need \(2,\)"):
        plot.intervals(ax, ["a", "b"], [1, 2], [0, 1], [3])


@pytest.mark.usefixtures("style")
def test_series_that_share_axes_do_not_overlap() -> None:
    fig = Figure()
    ax = fig.subplots()
    labels = ["one-vs-all", "all-pairs", "exhaustive", "dense", "sparse"]
    low, center, high = np.full((3, 5), [[0.1], [0.2], [0.3]])
    plot.intervals(ax, labels, center, low, high, offset=-0.15, name="Hamming", **plot.class_style(0))
    plot.intervals(ax, labels, center, low, high, offset=0.15, name="hinge", **plot.class_style(1))
    FigureCanvasAgg(fig).draw()

    above, below = (ax.transData.transform(line.get_xydata())[:, 1] for line in ax.lines)
    name_above, name_below = (text.get_window_extent() for text in ax.texts)
    radius = 3.5 * fig.dpi / 72
    assert (above - radius > below + radius).all()
    assert name_above.y0 > above[0] + radius
    assert below[0] - radius > name_below.y1
    assert name_below.y0 > above[1] + radius
