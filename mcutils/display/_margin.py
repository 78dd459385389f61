"""The distribution of margins."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._checks import number, or_none, reals
from ..margin import margins, rho_loss
from ._base import INK, Display, columns, scores_of, text_or_none


class MarginDisplay(Display):
    r"""The distribution of margins: for every v the share of examples with a margin of at most v.

    The margin of an example is the score of its class minus the largest score of the others
    (def-margin-margin); at 0 the curve has the height of the training error, ties counted as mistakes
    (prop-margin-sandwich). With a ``rho`` the picture shows the four values of that statement but the first.

    Parameters
    ----------
    margins : (m,) array-like
        Margins, finite, of at least one example; in any unit, say divided by a norm.
    name : str, optional
        What they are the margins of, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    line_ : matplotlib Line2D
        The curve.
    loss_line_ : matplotlib Line2D or None
        The line at the height of the mean ρ-margin loss.
    marks_ : list of matplotlib Line2D
        The points at 0 and at rho.

    See Also
    --------
    mcutils.margin.margins : The margins alone.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y, rho=1.0, ax=Figure().subplots())
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()][:2]
    ['LogisticRegression', 'margin ≤ 0: 2.7%']
    """

    def __init__(self, margins: ArrayLike, *, name: str | None = None):
        values = reals(margins, "margins")
        if values.ndim != 1 or not len(values):
            raise ValueError(f"margins must be a vector of at least one, found shape {values.shape}")
        self.margins = values
        self.name = text_or_none(name, "name")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        rho: float | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the margins of a classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with scores of all classes; of two classes, with one score, positive for the
            second.
        X : (m, d) array-like, sparse matrix or data frame
        y : (m,) array-like
            The true labels.
        response_method : {"auto", "decision_function", "predict_proba"}
            What the scores are; "auto" takes the first of the two that the classifier has.
        rho : float, optional
            See :meth:`plot`.
        name : str, optional
            By default the name of the estimator's class.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.plot``, for the curve.

        Returns
        -------
        MarginDisplay
        """
        name = type(estimator).__name__ if name is None else name
        display = cls(margins(*scores_of(estimator, X, y, response_method)), name=name)
        return display.plot(rho=rho, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        rho: float | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the margins of scores.

        Parameters
        ----------
        y_true : (m,) array-like
            The true labels.
        y_score : (m, k) or (m,) array-like
            The scores; of two classes perhaps only by how much the second is ahead.
        labels : (k,) array-like, optional
            The classes of the columns; by default the labels that occur, sorted.
        rho : float, optional
            See :meth:`plot`.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.plot``, for the curve.

        Returns
        -------
        MarginDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> scores = [[2.0, 0.5, 1.0], [1.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 4.0]]
        >>> display = MarginDisplay.from_predictions(
        ...     list("abba"), scores, labels=list("abc"), ax=Figure().subplots()
        ... )
        >>> display.margins
        array([ 1.,  0.,  2., -4.])
        """
        values = margins(*columns(y_score, y_true, labels, ("y_score", "y_true")))
        return cls(values, name=name).plot(rho=rho, ax=ax, **kwargs)

    def plot(
        self, *, ax: Any = None, rho: float | None = None, name: str | None = None, **kwargs: Any
    ) -> Self:
        r"""Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default new ones.
        rho : float, optional
            A margin asked for. Then the picture has a line there, marks at the shares of margins of at most
            0 and of at most rho, and between these the mean ρ-margin loss, a dashed line at the mean height
            of the shaded area.
        name : str, optional
            For the legend; by default that of the display.
        **kwargs
            Passed on to ``ax.plot``, for the curve.

        Returns
        -------
        MarginDisplay
        """
        rho = or_none(number, rho, "rho", above=0)
        name = self.name if text_or_none(name, "name") is None else name
        ax = self._axes(ax)
        places, counts = np.unique(self.margins, return_counts=True)
        shares = np.cumsum(counts) / len(self.margins)
        line = {"label": name, "drawstyle": "steps-post", **kwargs}
        (self.line_,) = ax.plot(np.append(places[0], places), np.append(0.0, shares), **line)
        self.loss_line_: Any = None
        self.marks_: list[Any] = []
        if rho is not None:
            self._draw_rho(ax, rho)
        ax.set(xlabel="margin", ylabel="share of examples at most")
        if name is not None or rho is not None:
            ax.legend()
        return self

    def _draw_rho(self, ax: Any, rho: float) -> None:
        def share(place: float) -> float:
            return float((self.margins <= place).mean())

        inner = self.margins[(self.margins > 0) & (self.margins < rho)]
        under = np.concatenate([[0.0], np.unique(inner), [rho]])
        heights = [share(place) for place in under.tolist()]
        ax.fill_between(under, heights, step="post", color=self.line_.get_color(), alpha=0.2, linewidth=0)
        ax.axvline(rho, color=INK, linestyle="-", linewidth=1)
        loss = float(rho_loss(self.margins, rho).mean())
        look = {"color": INK, "linestyle": "none", "markersize": 8, "zorder": 3}
        first = ax.plot(0, share(0), marker="o", label=f"margin ≤ 0: {100 * share(0):.1f}%", **look)
        (self.loss_line_,) = ax.plot(
            [0, rho], [loss, loss], color=INK, linestyle="--", label=f"margin loss: {100 * loss:.1f}%"
        )
        last = ax.plot(
            rho, share(rho), marker="^", label=f"margin ≤ {rho:g}: {100 * share(rho):.1f}%", **look
        )
        self.marks_ = [*first, *last]
