"""What is still missing while an optimiser runs."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._checks import one_of, reals
from ._base import Display, text_or_none

KINDS, AGAINST = ("gap", "values"), ("seconds", "steps")


class GapDisplay(Display):
    r"""The primal value, the dual value and the gap between them while an optimiser runs.

    The optimum lies between the two values (lem-dual-gap). The relative gap is
    :math:`(P - D) / \max(1, |P|)`, as in :class:`mcutils.certificate.Certificate`.

    Parameters
    ----------
    history : (n, 3) array-like
        A row for each step of the optimiser: seconds since the start, primal value P, dual value D.
    name : str, optional
        Which optimiser it was, for the legend.

    Attributes
    ----------
    gaps : (n,) array
        The relative gaps.
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    lines_ : list of matplotlib Line2D
        The gap, or the primal and the dual value.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> history = [[0.1, 12.0, 2.0], [0.2, 10.0, 8.0], [0.3, 10.0, 9.99]]
    >>> display = GapDisplay(history, name="ascent").plot(ax=Figure().subplots())
    >>> display.gaps.round(3)
    array([0.833, 0.2  , 0.001])
    """

    def __init__(self, history: ArrayLike, *, name: str | None = None):
        table = reals(history, "history")
        if table.ndim != 2 or table.shape[1] != 3 or not len(table):
            raise ValueError(
                "history must have a row for each of at least one step and the columns seconds, primal value "
                f"and dual value, found shape {table.shape}"
            )
        if table[0, 0] < 0 or (np.diff(table[:, 0]) < 0).any():
            raise ValueError("history must have seconds that do not fall, from 0 on, in its first column")
        scale = np.maximum(1.0, np.abs(table[:, 1]))
        self.gaps = table[:, 1] / scale - table[:, 2] / scale
        if (self.gaps < -1e-9).any():
            n = int(self.gaps.argmin())
            raise ValueError(
                "history must have no dual value above the primal one, "
                f"found {table[n, 2]} and {table[n, 1]} in row {n}"
            )
        self.history = table
        self.name = text_or_none(name, "name")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "gap",
        against: str = "seconds",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw how an estimator was trained.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``history_``.
        kind : {"gap", "values"}
            See :meth:`plot`.
        against : {"seconds", "steps"}
            See :meth:`plot`.
        name : str, optional
            By default the name of the estimator's class.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.plot``.

        Returns
        -------
        GapDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from mcutils import CrammerSinger, load
        >>> penguins = load("penguins")
        >>> model = CrammerSinger(kernel="rbf", tol=1e-3).fit(penguins.X / [10, 10, 100, 1000], penguins.y)
        >>> display = GapDisplay.from_estimator(model, ax=Figure().subplots())
        >>> bool(display.gaps[-1] <= 1e-3)
        True
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "history_"):
            raise ValueError(f"estimator must have history_, found {estimator!r}")
        name = type(estimator).__name__ if name is None else name
        return cls(estimator.history_, name=name).plot(kind=kind, against=against, ax=ax, **kwargs)

    def plot(
        self,
        *,
        kind: str = "gap",
        against: str = "seconds",
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the gap or the values.

        Parameters
        ----------
        kind : {"gap", "values"}
            "gap": the relative gap, on a logarithmic axis; steps without a gap are left out. "values": the
            primal value and, dashed, the dual one.
        against : {"seconds", "steps"}
            "steps": the number of the row of the history, from 1.
        ax : matplotlib Axes, optional
            By default new ones.
        name : str, optional
            For the legend; by default that of the display.
        **kwargs
            Passed on to ``ax.plot``, for each line.

        Returns
        -------
        GapDisplay
        """
        one_of(kind, "kind", KINDS)
        one_of(against, "against", AGAINST)
        name = self.name if text_or_none(name, "name") is None else name
        ax = self._axes(ax)
        from ..plot import CLASS_COLORS

        along = self.history[:, 0] if against == "seconds" else np.arange(1, len(self.history) + 1)
        few = {"marker": "." if len(along) <= 30 else ""}  # a single step would not be seen
        if kind == "gap":
            positive = np.where(self.gaps > 0, self.gaps, np.nan)
            self.lines_ = ax.plot(along, positive, **{**few, "label": name, **kwargs})
            if (self.gaps > 0).any():
                ax.set_yscale("log")
            ax.set(xlabel=against, ylabel="relative gap")
            named = name is not None
        else:
            before = "" if name is None else f"{name}, "
            self.lines_ = []
            for column, word, dashes in ((1, "primal", "-"), (2, "dual", "--")):
                style = {"color": CLASS_COLORS[column - 1], "linestyle": dashes}
                look = {**style, **few, "label": before + word, **kwargs}
                self.lines_ += ax.plot(along, self.history[:, column], **look)
            ax.set(xlabel=against, ylabel="value")
            named = True
        if named:
            ax.legend()
        return self
