"""A confusion matrix with intervals."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from sklearn.utils.validation import check_is_fitted

from .._checks import number, one_of, switch
from .._typing import Floats
from ..risk import Confusion, confusion, hoeffding_interval
from ._base import INK, Display, class_list, label_vector, names, numbers_of

KINDS, METHODS = ("matrix", "recall", "precision"), ("exact", "hoeffding")


class ConfusionDisplay(Display):
    r"""A confusion matrix, with intervals for the recall or the precision of each class.

    Rows are the true classes, columns the predictions. An interval is for one class by itself, and for a
    classifier that was not trained on these examples.

    Parameters
    ----------
    confusion : mcutils.risk.Confusion
        Counts, whole numbers.
    display_labels : sequence of k names, optional
        The classes; by default 1 to k.
    level : float, default=0.95
        Of the intervals.
    method : {"exact", "hoeffding"}
        "exact": the interval of Clopper and Pearson, which fails with a probability of at most 1 - level for
        whatever share is the true one. "hoeffding": by :func:`mcutils.risk.hoeffding_interval`
        (prop-risk-hoeffding), cut off at 0 and 1; it has a short proof, and is longer.

    Attributes
    ----------
    recall, precision : (k, 3) array
        The share, and the two ends of its interval; nan for a class that does not occur, or is never
        predicted.
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    im_ : matplotlib AxesImage
        The matrix, where it was drawn.
    text_ : (k, k) array of matplotlib Text
        The counts that are not 0, else None.
    interval_text_ : list of matplotlib Text
        The recalls right of the matrix.

    See Also
    --------
    mcutils.risk.confusion : The numbers alone.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> y_true, y_pred = list("aaaabbbc"), list("aaabbbba")
    >>> display = ConfusionDisplay.from_predictions(y_true, y_pred, ax=Figure().subplots())
    >>> [text.get_text() for text in display.interval_text_]
    ['75% (19–99)', '100% (29–100)', '0% (0–98)']
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> display = ConfusionDisplay.from_estimator(model, X[1::2], y[1::2], ax=Figure().subplots())
    >>> display.recall.shape
    (3, 3)
    """

    def __init__(
        self,
        confusion: Confusion,
        *,
        display_labels: Sequence[Any] | None = None,
        level: float = 0.95,
        method: str = "exact",
    ):
        if not isinstance(confusion, Confusion):
            raise ValueError(f"confusion must be what mcutils.risk.confusion returns, found {confusion!r}")
        if (confusion.counts != np.round(confusion.counts)).any():
            raise ValueError("confusion must have whole counts: weights have no such intervals")
        self.confusion = confusion
        self.display_labels = names(display_labels, "display_labels", len(confusion.counts))
        self.level = number(level, "level", above=0, below=1)
        self.method = one_of(method, "method", METHODS)
        right = np.diagonal(confusion.counts)
        self.recall = _shares(right, confusion.support, self.level, method)
        self.precision = _shares(right, confusion.predicted, self.level, method)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        kind: str = "matrix",
        level: float = 0.95,
        method: str = "exact",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the predictions of a classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : (m, d) array-like, sparse matrix or data frame
            Examples that it was not trained on.
        y : (m,) array-like
            The true labels.
        kind : {"matrix", "recall", "precision"}
            See :meth:`plot`.
        level, method
            Of the intervals.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.imshow``, or to :func:`mcutils.plot.intervals`.

        Returns
        -------
        ConfusionDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "classes_"):
            raise ValueError(f"estimator must be a classifier, found {estimator!r}")
        names = "y", "the predictions for X"
        found, classes = _count(y, estimator.predict(X), estimator.classes_, names)
        display = cls(found, display_labels=classes, level=level, method=method)
        return display.plot(kind=kind, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        kind: str = "matrix",
        level: float = 0.95,
        method: str = "exact",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw predictions.

        Parameters
        ----------
        y_true, y_pred : (m,) array-like
            The true and the predicted labels.
        labels : (k,) array-like, optional
            The classes in their order; by default the labels that occur, sorted.
        kind : {"matrix", "recall", "precision"}
            See :meth:`plot`.
        level, method
            Of the intervals.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.imshow``, or to :func:`mcutils.plot.intervals`.

        Returns
        -------
        ConfusionDisplay
        """
        found, classes = _count(y_true, y_pred, labels, ("y_true", "y_pred"))
        display = cls(found, display_labels=classes, level=level, method=method)
        return display.plot(kind=kind, ax=ax, **kwargs)

    def plot(
        self, *, kind: str = "matrix", include_intervals: bool = True, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the matrix, or the intervals of one share.

        Parameters
        ----------
        kind : {"matrix", "recall", "precision"}
            "matrix": the counts, on a ground that is darker the larger their share of the row is. "recall",
            "precision": a dot with its interval for each class.
        include_intervals : bool, default=True
            Whether the matrix has the recall of each class with its interval, in per cent, right of it.
        ax : matplotlib Axes, optional
            By default new ones.
        **kwargs
            Passed on to ``ax.imshow``, or to :func:`mcutils.plot.intervals`.

        Returns
        -------
        ConfusionDisplay
        """
        one_of(kind, "kind", KINDS)
        switch(include_intervals, "include_intervals")
        if kind != "matrix" and np.isnan(getattr(self, kind)).any():
            c = int(np.isnan(getattr(self, kind)).any(axis=1).argmax())
            reason = "occurs" if kind == "recall" else "is predicted"
            raise ValueError(
                f"kind must be 'matrix': class {self.display_labels[c]!r} never {reason} and has no {kind}, "
                f"found {kind!r}"
            )
        ax = self._axes(ax)
        if kind == "matrix":
            self._draw_matrix(ax, include_intervals, kwargs)
        else:
            from ..plot import intervals

            intervals(ax, self.display_labels, *getattr(self, kind).T, **kwargs)
            ax.set(xlabel=f"{kind}, with its {100 * self.level:g}% interval", xlim=(-0.03, 1.03))
        return self

    def _draw_matrix(self, ax: Any, include_intervals: bool, kwargs: dict[str, Any]) -> None:
        counts = self.confusion.counts
        k = len(counts)
        shares = counts / np.maximum(self.confusion.support, 1)[:, None]
        self.im_ = ax.imshow(shares, **{"cmap": "Blues", "vmin": 0, "vmax": 1, **kwargs})
        self.text_ = np.full((k, k), None)
        for r, c in np.argwhere(counts > 0).tolist():
            ink = "white" if shares[r, c] > 0.55 else INK
            self.text_[r, c] = ax.text(c, r, f"{counts[r, c]:g}", ha="center", va="center", color=ink)
        long = max(map(len, self.display_labels)) > 3
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
        ax.set_xticks(range(k), self.display_labels, **turned)
        ax.set_yticks(range(k), self.display_labels)
        ax.set(xlabel="predicted class", ylabel="true class")
        self.interval_text_ = []
        if not include_intervals:
            return
        beside = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
        for r, (share, low, high) in enumerate((100 * self.recall).tolist()):
            words = "–" if np.isnan(share) else f"{share:.0f}% ({low:.0f}–{high:.0f})"
            self.interval_text_.append(ax.annotate(words, (1, r), (6, 0), **beside))
        head = {**beside, "xycoords": "axes fraction", "va": "bottom"}
        ax.annotate(f"recall\n({100 * self.level:g}% interval)", (1, 1), (6, 4), **head)


def _count(
    y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None, names: tuple[str, str]
) -> tuple[Confusion, list[Any]]:
    """The table of the labels, and its classes."""
    true, predicted = label_vector(y_true, names[0]), label_vector(y_pred, names[1])
    if len(true) != len(predicted):
        raise ValueError(
            f"{names[0]} and {names[1]} must be equally many, found {len(true)} and {len(predicted)}"
        )
    if labels is None:
        labels = np.unique(np.concatenate([true, predicted]))
    classes = class_list(labels, "labels")
    codes = numbers_of(true, classes, names[0]), numbers_of(predicted, classes, names[1])
    return confusion(*codes, n_classes=len(classes)), list(classes)


def _shares(right: Floats, of: Floats, level: float, method: str) -> Floats:
    """Shares of right predictions with their intervals, nan where there is nothing to share."""
    h, n = right[of > 0], of[of > 0]
    if method == "exact":
        tail = (1 - level) / 2
        # a beta distribution with a parameter 0 is a point: there the end is 0 or 1
        low = np.where(h > 0, betaincinv(np.maximum(h, 1), n - h + 1, tail), 0.0)
        high = np.where(h < n, betaincinv(h + 1, np.maximum(n - h, 1), 1 - tail), 1.0)
    else:
        ends = [hoeffding_interval(a / b, int(b), 1 - level) for a, b in zip(h, n, strict=True)]
        low = np.array([max(0.0, end.low) for end in ends])
        high = np.array([min(1.0, end.high) for end in ends])
    shares = np.full((len(of), 3), np.nan)
    shares[of > 0] = np.column_stack([h / n, low, high])
    return shares
