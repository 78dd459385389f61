"""The path of a pruned tree, and which tree cross-validation takes."""

from typing import Any, Self

from numpy.typing import ArrayLike

from .._checks import switch
from .._typing import Criterion
from ..pruning import CrossValidation, prune_cv
from ._base import GREY, INK, Display


class PruningDisplay(Display):
    """The errors of the trees of a pruning sequence by cross-validation, and the tree that is chosen.

    Bars are one standard error to both sides, the dotted line is one standard error above the least error:
    by the rule "1se" the smallest tree that is not above it is taken (sec-pruning-price).

    Parameters
    ----------
    result : mcutils.pruning.CrossValidation
        What :func:`mcutils.pruning.prune_cv` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    errorbar_ : matplotlib ErrorbarContainer
        The errors by cross-validation.
    training_line_ : matplotlib Line2D or None
        The errors on the training items.
    limit_line_ : matplotlib Line2D
        The least error plus one standard error.
    chosen_ : matplotlib Line2D
        The mark of the tree that is chosen.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils import DecisionTree, load
    >>> penguins = load("penguins")
    >>> display = PruningDisplay.from_estimator(
    ...     DecisionTree(), penguins.X, penguins.y, cv=5, ax=Figure().subplots()
    ... )
    >>> int(display.chosen_.get_xdata()[0]) == display.result.tree.get_n_leaves()
    True
    """

    def __init__(self, result: CrossValidation):
        if not isinstance(result, CrossValidation):
            raise ValueError(f"result must be what mcutils.pruning.prune_cv returns, found {result!r}")
        self.result = result

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        cv: Any = 10,
        criterion: Criterion | None = "misclassification",
        rule: str = "1se",
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
        include_training: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Grow, cross-validate and draw.

        Parameters
        ----------
        estimator : DecisionTree
            Its parameters; it is not fitted itself, and need not be.
        X : (m, d) array-like or data frame
        y : (m,) array-like
        cv, criterion, rule, sample_weight, n_jobs, verbose
            As in :func:`mcutils.pruning.prune_cv`.
        include_training : bool, default=True
            See :meth:`plot`.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.errorbar``.

        Returns
        -------
        PruningDisplay
        """
        result = prune_cv(
            estimator,
            X,
            y,
            cv=cv,
            criterion=criterion,
            rule=rule,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return cls(result).plot(include_training=include_training, ax=ax, **kwargs)

    def plot(self, *, include_training: bool = True, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the errors against the number of leaves.

        Parameters
        ----------
        include_training : bool, default=True
            Whether to draw the errors on the training items too.
        ax : matplotlib Axes, optional
            By default new ones.
        **kwargs
            Passed on to ``ax.errorbar``.

        Returns
        -------
        PruningDisplay
        """
        switch(include_training, "include_training")
        ax = self._axes(ax)
        from ..plot import class_style

        table, best, row = self.result.table, self.result.best, self.result.chosen
        leaves, error = table["nsplit"] + 1, table["xerror"]
        small = {**class_style(0), "linestyle": "-", "markersize": 4, "elinewidth": 1}
        self.errorbar_ = ax.errorbar(
            leaves, error, yerr=table["xstd"], **{**small, "label": "cross-validated, ±1 SE", **kwargs}
        )
        self.training_line_ = None
        if include_training:
            look = {**class_style(1), "linestyle": "--", "markersize": 4}
            (self.training_line_,) = ax.plot(leaves, table["rel_error"], label="training", **look)
        limit = float(error[best] + table["xstd"][best])
        self.limit_line_ = ax.axhline(limit, color=GREY, linestyle=":", linewidth=1.4, label="least + 1 SE")
        ring = {"marker": "D", "markersize": 10, "markerfacecolor": "none", "linestyle": "none", "zorder": 3}
        several = "leaf" if leaves[row] == 1 else "leaves"
        (self.chosen_,) = ax.plot(
            leaves[row], error[row], color=INK, label=f"chosen: {leaves[row]} {several}", **ring
        )
        ax.set(xscale="log", xlabel="leaves", ylabel="error, as a share of the root's", ylim=(0, None))
        ticks = [one * 10**power for power in range(10) for one in (1, 3)]
        ticks = [tick for tick in ticks if tick <= max(3, 1.2 * leaves.max())]
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_xticks([], minor=True)
        ax.legend()
        return self
