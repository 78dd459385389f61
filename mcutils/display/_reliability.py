"""Confidence and truth."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._checks import integer, switch
from ..softmax import Reliability, reliability
from ._base import GREY, Display, columns, scores_of, text_or_none


class ReliabilityDisplay(Display):
    """The reliability diagram: how often predictions of a given confidence are right.

    The confidence is the largest probability. On the diagonal a classifier is confidence-calibrated
    (def-softmax-calibrated). Bars are Wilson's intervals of each bin by itself.

    Parameters
    ----------
    reliability : mcutils.softmax.Reliability
        The bins.
    name : str, optional
        Whose probabilities they are, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    errorbar_ : matplotlib ErrorbarContainer
        The marks and their bars.
    text_ : list of matplotlib Text
        How many examples are in each bin that is drawn.

    See Also
    --------
    mcutils.softmax.reliability : The numbers alone.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2], bins=5, ax=Figure().subplots())
    >>> sum(int(text.get_text()) for text in display.text_)
    75
    """

    def __init__(self, reliability: Reliability, *, name: str | None = None):
        if not isinstance(reliability, Reliability):
            raise ValueError(
                f"reliability must be what mcutils.softmax.reliability returns, found {reliability!r}"
            )
        self.reliability = reliability
        self.name = text_or_none(name, "name")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        bins: int | ArrayLike = 10,
        level: float = 0.95,
        least: int = 1,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of a classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``predict_proba``.
        X : (m, d) array-like, sparse matrix or data frame
            Examples that it was not trained on.
        y : (m,) array-like
            The true labels.
        bins : int or (n + 1,) array-like, default=10
            The number of bins of equal width from 0 to 1, or their ends.
        level : float, default=0.95
            Of the intervals.
        least : int, default=1
            See :meth:`plot`.
        name : str, optional
            By default the name of the estimator's class.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.errorbar``.

        Returns
        -------
        ReliabilityDisplay
        """
        table = scores_of(estimator, X, y, "predict_proba")
        name = type(estimator).__name__ if name is None else name
        display = cls(reliability(*table, bins=bins, level=level), name=name)
        return display.plot(ax=ax, least=least, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        bins: int | ArrayLike = 10,
        level: float = 0.95,
        least: int = 1,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y_true : (m,) array-like
            The true labels.
        y_prob : (m, k) array-like
            The probabilities of the classes.
        labels : (k,) array-like, optional
            The classes of the columns; by default the labels that occur, sorted.
        bins, level, least
            As in :meth:`from_estimator`.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.errorbar``.

        Returns
        -------
        ReliabilityDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]
        >>> display = ReliabilityDisplay.from_predictions(list("abba"), p, bins=2, ax=Figure().subplots())
        >>> float(display.reliability.accuracy[-1])
        0.75
        """
        table, codes = columns(y_prob, y_true, labels, ("y_prob", "y_true"))
        try:
            found = reliability(table, codes, bins=bins, level=level)
        except ValueError as error:
            raise ValueError(str(error).replace("probabilities", "y_prob", 1)) from None
        return cls(found, name=name).plot(ax=ax, least=least, **kwargs)

    def plot(
        self,
        *,
        ax: Any = None,
        least: int = 1,
        name: str | None = None,
        ref_line: bool = True,
        include_counts: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the bins.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default new ones.
        least : int, default=1
            Bins with fewer examples are left out.
        name : str, optional
            For the legend; by default that of the display.
        ref_line : bool, default=True
            Whether to draw the diagonal.
        include_counts : bool, default=True
            Whether to write below each bar how many examples are in its bin.
        **kwargs
            Passed on to ``ax.errorbar``, say ``mcutils.plot.class_style(1)`` for a second classifier.

        Returns
        -------
        ReliabilityDisplay
        """
        found, least = self.reliability, integer(least, "least", 1)
        used = found.counts >= least
        if not used.any():
            raise ValueError(f"least must be at most {found.counts.max()}, the fullest bin, found {least}")
        name = self.name if text_or_none(name, "name") is None else name
        switch(ref_line, "ref_line")
        switch(include_counts, "include_counts")
        ax = self._axes(ax)
        from ..plot import class_style

        if ref_line:
            ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        at, right = found.confidence[used], found.accuracy[used]
        ends = np.abs(np.array([found.lower[used], found.upper[used]]) - right)
        style = {**class_style(0), "linestyle": "none", "capsize": 3, "label": name, **kwargs}
        self.errorbar_ = ax.errorbar(at, right, yerr=ends, **style)
        below = {"textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 9}
        counted = zip(at, found.lower[used], found.counts[used], strict=True)
        self.text_ = [
            ax.annotate(str(n), (x, low), (0, -5), **below) for x, low, n in counted if include_counts
        ]
        ax.set(xlim=(0, 1.04), ylim=(-0.12, 1.06), xlabel="mean confidence in the bin")
        ax.set_ylabel("share of right answers")
        if name is not None:
            ax.legend(loc="upper left")
        return self
