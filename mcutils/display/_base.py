"""What the displays share: the axes to draw in, labels as class numbers, and the scores of an estimator."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._checks import array, axes_to_draw_in, entries, one_of, reals, score_table
from .._typing import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

INK, GREY = "#1a1a1a", "#666666"
RESPONSES = ("auto", "decision_function", "predict_proba")


class Display:
    """A picture of numbers that are kept: ``plot`` draws it, as often as wanted."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def _axes(self, ax: Any) -> "Axes":
        """The axes given, or new ones; they are kept."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as reason:
                raise ImportError(
                    f"{type(self).__name__} needs matplotlib: install it, as with pip install matplotlib "
                    "or with the extra multiclass-theorems[plot]"
                ) from reason
            ax = plt.subplots()[1]
        axes_to_draw_in(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self.ax_


def text_or_none(value: Any, name: str) -> str | None:
    """The name of a curve."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be a text or None, found {value!r}")
    return value


def names(labels: Sequence[Any] | None, name: str, n: int) -> list[str]:
    """The names of n rows or columns; numbers from 1 where there are none."""
    if labels is None:
        return [str(i + 1) for i in range(n)]
    named = [str(label) for label in entries(labels, name, "a list of names")]
    if len(named) != n:
        raise ValueError(f"{name} must have {n} entries, found {len(named)}")
    return named


def label_vector(y: ArrayLike, name: str) -> NDArray[Any]:
    """The labels of at least one example."""
    labels = array(y, name)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} must be a vector of at least one label, found shape {labels.shape}")
    if labels.dtype.kind not in "biufUSO" or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        raise ValueError(f"{name} must be labels, found dtype {labels.dtype} or a number that is not finite")
    return labels


def class_list(labels: ArrayLike, name: str) -> NDArray[Any]:
    """The classes in the order in which they are given."""
    classes = label_vector(labels, name)
    if len(classes) < 2 or len(set(classes.tolist())) != len(classes):
        raise ValueError(f"{name} must be two or more different classes, found {classes.tolist()[:10]}")
    return classes


def numbers_of(y: NDArray[Any], classes: NDArray[Any], name: str) -> Ints:
    """The place of each label among the classes."""
    place = {label: c for c, label in enumerate(classes.tolist())}
    unknown = [label for label in y.tolist() if label not in place]
    if unknown:
        some = classes.tolist()[:10]
        raise ValueError(f"{name} must have labels among the classes {some}, found {unknown[0]!r}")
    return np.array([place[label] for label in y.tolist()], dtype=np.intp)


def columns(
    scores: ArrayLike, y: ArrayLike, labels: ArrayLike | None, names: tuple[str, str]
) -> tuple[Floats, Ints]:
    """Scores with a column for each class, of two classes perhaps one, and the columns of the labels y."""
    name, y_name = names
    true = label_vector(y, y_name)
    floats = reals(scores, name)
    if floats.ndim == 1:  # by how much the second class is ahead
        floats = np.column_stack([np.zeros(len(floats)), floats])
    table = score_table(floats, name)
    if len(table) != len(true):
        raise ValueError(
            f"{name} must have a row for each of the {len(true)} labels of {y_name}, found {len(table)}"
        )
    classes = np.unique(true) if labels is None else class_list(labels, "labels")
    if len(classes) != table.shape[1]:
        raise ValueError(
            f"{name} must have a column for each of the {len(classes)} classes, found {table.shape[1]}; "
            "labels names the classes of the columns"
        )
    return table, numbers_of(true, classes, y_name)


def scores_of(estimator: Any, X: Any, y: ArrayLike, response_method: str) -> tuple[Floats, Ints]:
    """The scores that a fitted classifier gives, and the columns of the labels y."""
    check_is_fitted(estimator)
    one_of(response_method, "response_method", RESPONSES)
    wanted = RESPONSES[1:] if response_method == "auto" else (response_method,)
    method = next((name for name in wanted if hasattr(estimator, name)), None)
    if method is None or not hasattr(estimator, "classes_"):
        raise ValueError(f"estimator must be a classifier with {' or '.join(wanted)}, found {estimator!r}")
    names = "the scores of X", "y"
    return columns(getattr(estimator, method)(X), y, estimator.classes_, names)
