"""Pictures of trees, and of the regions of their leaves."""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._checks import array, axes_to_draw_in, reals
from .._typing import Floats
from ._estimator import DecisionTree
from ._questions import question_text
from ._tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def boxes(classifier: DecisionTree, low: float = -np.inf, high: float = np.inf) -> Floats:
    """The boxes of a tree of numerical questions: what its leaves are in space.

    Parameters
    ----------
    classifier : DecisionTree
        Fitted, with numerical questions only.
    low, high : float
        Where space ends.

    Returns
    -------
    (leaves, d, 2) array
        The ends of the leaves, in the order of ``tree_.leaves``; a box has its upper ends, and not its lower.

    Examples
    --------
    >>> model = DecisionTree().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> boxes(model, low=0.0, high=4.0)[:, 0].tolist()
    [[0.0, 1.5], [2.5, 4.0], [1.5, 2.5]]
    """
    _check_tree(classifier)
    for name, end in (("low", low), ("high", high)):
        if not isinstance(end, Real) or isinstance(end, bool) or end != end:
            raise ValueError(f"{name} must be a number or infinite, found {end!r}")
    tree = classifier.tree_
    if tree._others or tree._columns.categorical.any():
        raise ValueError("classifier must have numerical questions only, it has others")
    limits = np.empty((tree.n_nodes, classifier.n_features_in_, 2))
    limits[0] = low, high
    for n in np.flatnonzero(~tree.is_leaf).tolist():
        j, a = int(tree.feature[n]), tree.threshold[n]
        limits[tree.left[n]] = limits[tree.right[n]] = limits[n]
        limits[tree.left[n], j, 0] = max(limits[n, j, 0], a)
        limits[tree.right[n], j, 1] = min(limits[n, j, 1], a)
    return np.asarray(limits[tree.leaves])


def _check_tree(classifier: Any) -> None:
    if not isinstance(classifier, DecisionTree):
        raise ValueError(f"classifier must be a DecisionTree, found {classifier!r}")
    check_is_fitted(classifier)


def _ends(limits: Any, name: str) -> tuple[float, float]:
    ends = reals(limits, name)
    if ends.shape != (2,):
        raise ValueError(f"{name} must be two numbers, found shape {ends.shape}")
    return float(ends[0]), float(ends[1])


def _layout(tree: Tree) -> Floats:
    """Where the nodes of a picture stand: leaves side by side, parents above the middle of their children."""
    place = np.zeros(tree.n_nodes)
    waiting, column = [0], 0
    while waiting:
        n = waiting.pop()
        if tree.left[n] < 0:
            place[n] = column
            column += 1
        else:
            waiting += [int(tree.right[n]), int(tree.left[n])]
    for n in range(tree.n_nodes - 1, -1, -1):
        if tree.left[n] >= 0:
            place[n] = (place[tree.left[n]] + place[tree.right[n]]) / 2
    return np.stack([place, -tree.depth.astype(np.float64)], axis=1)


def draw(
    ax: "Axes",
    classifier: DecisionTree,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    kept: ArrayLike | None = None,
) -> None:
    """Draw a tree: questions, no to the left and yes to the right, and leaves with their class.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    classifier : DecisionTree
        Fitted.
    feature_names, class_names : sequence of str, optional
        As in :meth:`DecisionTree.text`.
    kept : (nodes,) array-like of bool, optional
        Which nodes are still there: with the root, and of siblings both or none. The others are drawn pale,
        so that a pruned tree stands where the full one stood.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils import tree
    >>> ax = Figure().subplots()
    >>> tree.draw(ax, tree.DecisionTree().fit([[1.0], [2.0]], ["a", "b"]))
    >>> [label.get_text() for label in ax.texts]
    ['no', 'yes', 'x1 <= 1.5', 'b', 'a']
    """
    from ..plot import class_style

    axes_to_draw_in(ax)
    _check_tree(classifier)
    features, classes = classifier._names(feature_names, class_names)
    tree = classifier.tree_
    there = np.ones(tree.n_nodes, dtype=np.bool_) if kept is None else array(kept, "kept").astype(np.bool_)
    if there.shape != (tree.n_nodes,):
        raise ValueError(f"kept has shape {there.shape}, the tree has {tree.n_nodes} nodes")
    if not there[0] or (there[1:] & ~there[tree.parent[1:]]).any() or (there[1::2] != there[2::2]).any():
        raise ValueError("kept must have the root, and of siblings both or none, below a node that is kept")
    places = _layout(tree)
    for n in range(1, tree.n_nodes):
        (x, y), (up_x, up_y) = places[n], places[tree.parent[n]]
        pale = not there[n]
        color = "#dddddd" if pale else "#666666"
        ax.plot([up_x, x], [up_y, y], color=color, linewidth=1.0, linestyle="-", zorder=1)
        if tree.parent[n] == 0 and not pale:
            side = -1 if x < up_x else 1
            ax.annotate(
                "no" if side < 0 else "yes",
                (up_x + 0.7 * (x - up_x), up_y + 0.7 * (y - up_y)),
                xytext=(4 * side, 2),
                textcoords="offset points",
                ha="right" if side < 0 else "left",
                va="bottom",
            )
    for n in range(tree.n_nodes):
        if not there[n]:
            continue
        x, y = places[n]
        if tree.left[n] >= 0 and there[tree.left[n]]:
            ax.text(
                x,
                y,
                question_text(tree.questions[n], features),
                ha="center",
                va="center",
                zorder=3,
                bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "#666666"},
            )
            continue
        style = class_style(int(tree.predictions[n]))
        ax.plot(x, y, color=style["color"], marker=style["marker"], markersize=8, linestyle="none", zorder=2)
        # of two leaves side by side the right one has its name a line lower
        lower = n > 0 and n % 2 == 0 and (tree.left[n - 1] < 0 or not there[tree.left[n - 1]])
        ax.annotate(
            classes[tree.predictions[n]],
            (x, y),
            xytext=(0, -20 if lower and tree.n_leaves > 5 else -7),
            textcoords="offset points",
            ha="center",
            va="top",
            zorder=3,
        )
    ax.set_xlim(-0.6, tree.n_leaves - 0.4)
    ax.set_ylim(-float(tree.depth.max()) - 0.5, 0.4)
    ax.set_axis_off()


def draw_regions(
    ax: "Axes",
    classifier: DecisionTree,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
    class_names: Sequence[str] | None = None,
) -> None:
    """Draw the partition of the plane: each leaf's region in the colour of its class, with its name.

    Regions of numerical questions are drawn exactly, as rectangles, others on a grid.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    classifier : DecisionTree
        Fitted to two numerical features.
    xlim, ylim : (float, float)
        The part of the plane.
    class_names : sequence of str, optional
        By default the labels.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils import tree
    >>> ax = Figure().subplots()
    >>> model = tree.DecisionTree().fit([[1.0, 0.0], [2.0, 0.0]], ["a", "b"])
    >>> tree.draw_regions(ax, model, (0, 3), (-1, 1))
    >>> [label.get_text() for label in ax.texts]
    ['b', 'a']
    """
    from matplotlib.patches import Rectangle
    from scipy.ndimage import distance_transform_edt

    from ..plot import class_style

    axes_to_draw_in(ax)
    _check_tree(classifier)
    xlim, ylim = _ends(xlim, "xlim"), _ends(ylim, "ylim")
    _, classes = classifier._names(None, class_names)
    tree = classifier.tree_
    if classifier.n_features_in_ != 2 or tree._columns.categorical.any():
        raise ValueError(
            f"classifier must have two numerical features, it has {classifier.n_features_in_}, "
            f"{int(tree._columns.categorical.sum())} of them categorical"
        )
    colors = [class_style(int(a))["color"] for a in tree.predictions]
    if not tree._others:
        limits = np.array([xlim, ylim], dtype=np.float64)
        regions = np.clip(boxes(classifier), limits[:, :1], limits[:, 1:])
        for n, box in zip(tree.leaves.tolist(), regions, strict=True):
            (x, right), (y, top) = box.tolist()
            if x < right and y < top:
                ax.add_patch(Rectangle((x, y), right - x, top - y, facecolor=colors[n], alpha=0.22, zorder=0))
                ax.add_patch(
                    Rectangle((x, y), right - x, top - y, fill=False, edgecolor="#666666", linewidth=1.0)
                )
                _label(ax, (x + right) / 2, (y + top) / 2, classes[tree.predictions[n]])
    else:
        x, y = np.linspace(*xlim, 401), np.linspace(*ylim, 401)
        grid = np.stack(np.meshgrid(x, y), axis=-1)
        reached = tree.reach(np.ascontiguousarray(grid.reshape(-1, 2))).reshape(401, 401)
        for n in np.unique(reached).tolist():
            region = (reached == n).astype(np.float64)
            if region.min() < 1:
                ax.contour(x, y, region, levels=[0.5], colors="#666666", linewidths=1.0)
            ax.contourf(x, y, region, levels=[0.5, 1.5], colors=[colors[n]], alpha=0.22, zorder=0)
            far = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
            row, column = np.unravel_index(int(np.argmax(far)), far.shape)
            if far.max() > 12:  # of 401: a name has room
                _label(ax, x[column], y[row], classes[tree.predictions[n]])
    ax.set_xlim(*xlim)
    ax.set_ylim(*ylim)


def _label(ax: "Axes", x: float, y: float, text: str) -> None:
    halo = {"boxstyle": "round,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
    ax.text(x, y, text, ha="center", va="center", bbox=halo, zorder=3)
