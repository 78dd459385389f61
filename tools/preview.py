"""The picture that other sites show beside a link to the book: web/static/preview.png.

    python -m tools.preview

It is committed, and drawn again when the title or the style of the figures has changed: tests/test_preview.py
notices.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import yaml

from tools.stored import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = ROOT / "web" / "static" / "preview.png"
SIZE = (1200, 630)  # pixels, as sites that show previews want them
PLACES = ((-1.5, 2.4), (2.0, 2.4), (1.9, -1.9))  # of the names of the species, where no points are
WORDS = (
    "The book's title beside three species of penguins in the plane of bill length and depth. "
    "Each region is where a support vector machine answers with one of the species."
)


def draw() -> Figure:
    # not at the top: the site needs the name of the file only
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    import numpy as np

    from mcutils import CrammerSinger, load, plot

    penguins = load("penguins")
    X = penguins.X[:, :2]  # length and depth of the bill
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    machine = CrammerSinger(kernel="rbf", gamma=0.2, C=10.0).fit(X, penguins.y)

    plot.use_style()
    fig = plt.figure(figsize=(12, 6.3), dpi=100, layout="none")
    ax = fig.add_axes((0.5, 0, 0.5, 1), xlim=(-2.4, 3.0), ylim=(-2.7, 2.97))
    ax.axis("off")
    across, up = np.linspace(*ax.get_xlim(), 600), np.linspace(*ax.get_ylim(), 630)
    plane = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
    answers = np.searchsorted(machine.classes_, machine.predict(plane)).reshape(len(up), len(across))
    paler = [mpl.colors.to_rgba(color, 0.2) for color in plot.CLASS_COLORS[:3]]
    ax.contourf(across, up, answers, levels=(-0.5, 0.5, 1.5, 2.5), colors=paler)
    ax.contour(across, up, answers, levels=(0.5, 1.5), colors="#1a1a1a", linewidths=2)
    for i, (name, place) in enumerate(zip(penguins.class_names, PLACES, strict=True)):
        ax.plot(*X[penguins.y == name].T, ls="", ms=9, mec="white", **plot.class_style(i))
        ax.text(*place, name, fontsize=24, ha="center", va="center")

    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    name, promise = config["title"].split(" — ")
    fig.text(0.05, 0.66, name.replace(" ", "\n"), fontsize=42, fontweight="bold", va="center")
    fig.text(0.05, 0.42, promise, fontsize=30, color=plot.CLASS_COLORS[0], va="center")
    return fig


def main() -> int:
    draw().savefig(FILE, metadata={"Software": None})
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
