"""The problem that objectives, duals and solvers share: losses, labels, costs and prices, checked once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import class_labels, cost_matrix, integer, number, one_of
from .._typing import Floats, Ints
from .._weights import example_weights
from ..certificate import Certificate
from ._class_map import ClassMap
from ._losses import LOSSES, score_gaps, total

# Multipliers may exceed their price by this part of it, which is rounding.
_BEYOND = 1e-9


class HingeProblem:
    r"""What the machine minimises, but for the examples: the labels, and what their mistakes cost.

    :math:`\frac12 \sum_r \|f_r\|^2 + \sum_i C s_i \ell_i(f)`, with a Crammer-Singer or a Weston-Watkins hinge
    of the gaps :math:`g_{ir} = \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i)`. Functions of :mod:`mcutils.hinge`,
    :mod:`mcutils.dual` and :mod:`mcutils.solver` take it together with the examples or their Gram matrix.

    The arguments are checked here. The methods take arrays of floats and do not check them again: tables of
    scores, gaps, multipliers :math:`\alpha` and coefficients :math:`\beta` have a row for each example and a
    column for each class, and the multipliers of the true classes are 0.

    Parameters
    ----------
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    loss : {"crammer_singer", "weston_watkins"}
    C : float
        The price of loss, positive.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.
    sample_weight : (m,) array-like, optional
        :math:`s_i \ge 0`, by default 1.
    n_classes : int, optional
        k, at least 2. By default the size of ``cost``, or as many classes as ``y`` shows, which must then be
        at least two.

    Attributes
    ----------
    loss : str
    labels : (m,) int array
    costs : (k, k) array
        1 off the diagonal where no costs were given.
    prices : (m,) array
        :math:`C_i = C s_i`.
    n_classes : int

    Examples
    --------
    >>> problem = HingeProblem([0, 1, 1], C=2.0, sample_weight=[1, 1, 3])
    >>> problem.n_classes, problem.prices.tolist()
    (2, [2.0, 2.0, 6.0])
    >>> HingeProblem([0, 1], loss="log")
    Traceback (most recent call last):
        ...
    ValueError: loss must be one of 'crammer_singer', 'weston_watkins', found 'log'
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        loss: str = "crammer_singer",
        C: float = 1.0,
        cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        n_classes: int | None = None,
    ):
        self.loss = one_of(loss, "loss", LOSSES)
        price = number(C, "C", above=0)
        given = np.asarray(y)
        if given.ndim != 1 or not len(given):
            raise ValueError(
                f"y must have a class for each of at least one example, found shape {given.shape}"
            )
        if n_classes is not None:
            self.n_classes = integer(n_classes, "n_classes", 2)
        elif cost is not None:
            self.n_classes = max(2, len(np.atleast_1d(np.asarray(cost))))
        else:
            self.n_classes = int(class_labels(given, len(given), np.iinfo(np.intp).max).max()) + 1
            if self.n_classes < 2:
                raise ValueError(
                    "y must have at least two classes, found only class 0; n_classes says how many there are"
                )
        self.labels: Ints = class_labels(given, len(given), self.n_classes)
        self.costs = cost_matrix(cost, self.n_classes)
        self.prices: Floats = price * example_weights(sample_weight, len(given), all_zero=True)

    @classmethod
    def of(
        cls,
        problem: "HingeProblem | ArrayLike",
        m: int | None = None,
        k: int | None = None,
        rows: str = "multipliers",
    ) -> "HingeProblem":
        """A problem, or that of labels alone, refused if it does not have m examples and k classes.

        Parameters
        ----------
        problem : HingeProblem or (m,) array-like of int
        m, k : int, optional
            Where they are known from other arguments.
        rows : str
            The argument that has a row for each example.

        Returns
        -------
        HingeProblem
        """
        known = problem if isinstance(problem, HingeProblem) else cls(problem, n_classes=k)
        if m not in (None, len(known.labels)):
            raise ValueError(
                f"problem must have a label for each of the {m} rows of {rows}, found {len(known.labels)}"
            )
        if k not in (None, known.n_classes):
            raise ValueError(
                f"problem must have the {k} classes of {rows}, found {known.n_classes}; its argument "
                "n_classes says how many there are"
            )
        return known

    # What scores make

    def gaps(self, scores: Floats, rows: slice = slice(None)) -> Floats:
        r"""The gaps :math:`g_{ir}` of these rows of the examples; exactly 0 for the true class."""
        return score_gaps(scores, self.labels[rows], self.costs)

    def losses(self, gaps: Floats) -> Floats:
        r"""The loss :math:`\ell_i` of each row of gaps."""
        return total(self.loss, gaps)

    def slack(self, gaps: Floats) -> Floats:
        """The least feasible slack of each pair: for Crammer-Singer that of the example, in each column."""
        if self.loss == "crammer_singer":
            return np.repeat(gaps.max(axis=1, keepdims=True), gaps.shape[1], axis=1)
        return np.maximum(gaps, 0.0)

    # Multipliers and coefficients

    def coefficients(self, multipliers: Floats) -> Floats:
        r""":math:`\beta`, the factors of :math:`x_i` in the rows of W.

        :math:`\beta_{ir} = -\alpha_{ir}`, and :math:`\beta_{i y_i} = \sum_r \alpha_{ir}`.
        """
        beta = -multipliers
        beta[np.arange(len(beta)), self.labels] = multipliers.sum(axis=1)
        return beta

    def multipliers(self, beta: Floats) -> Floats:
        r""":math:`\alpha` of coefficients; what rounding has made negative becomes 0."""
        table = np.maximum(-beta, 0.0)
        return self.without_true_classes(table)

    def without_true_classes(self, table: Floats) -> Floats:
        """The table itself, with 0 for the true classes."""
        table[np.arange(len(table)), self.labels] = 0.0
        return table

    def load(self, multipliers: Floats) -> Floats:
        """What must not exceed the price of each example: the sum of its multipliers, or the largest."""
        crammer_singer = self.loss == "crammer_singer"
        used: Floats = multipliers.sum(axis=1) if crammer_singer else multipliers.max(axis=1)
        return used

    def into_bounds(self, multipliers: Floats) -> Floats:
        """The table itself, refused beyond rounding, scaled down where it is beyond by rounding."""
        table = self.without_true_classes(multipliers)
        if not np.isfinite(table).all() or table.min() < 0:
            raise ValueError("multipliers must be finite and not negative")
        used = self.load(table)
        beyond = used - self.prices * (1 + _BEYOND)
        if beyond.max() > 0:
            i = int(np.argmax(beyond))
            raise ValueError(
                f"multipliers of an example must not exceed its price {self.prices[i]:.6g} "
                f"({'in sum' if self.loss == 'crammer_singer' else 'each'}), found {used[i]:.6g} in row {i}"
            )
        table /= np.maximum(
            1.0, np.divide(used, self.prices, out=np.ones(len(table)), where=self.prices > 0)
        )[:, None]
        return table

    def nearest(self, table: Floats) -> Floats:
        """Feasible multipliers near to a table; see :func:`mcutils.dual.feasible`."""
        near = self.without_true_classes(np.maximum(table, 0.0))
        if self.loss == "weston_watkins":
            return np.minimum(near, self.prices[:, None])
        used = near.sum(axis=1)
        near *= np.divide(self.prices, used, out=np.ones(len(near)), where=used > self.prices)[:, None]
        return near

    # Values and optimality

    def values(self, beta: Floats, scores: Floats, gaps: Floats | None = None) -> tuple[float, float]:
        """P and D of a machine made of feasible multipliers; of the kernel only the scores are needed.

        Parameters
        ----------
        beta : (m, k) array
            The coefficients.
        scores : (m, k) array
            Those of the machine on the sample, the Gram matrix times ``beta``.
        gaps : (m, k) array, optional
            Those of the scores, where they are known.

        Returns
        -------
        two floats
        """
        known = self.gaps(scores) if gaps is None else gaps
        square = 0.5 * float(np.vdot(beta, scores))
        paid = float(self.prices @ self.losses(known))
        earned = -float(np.vdot(beta, self.costs[self.labels]))  # the true class costs nothing
        return square + paid, earned - square

    def dual_terms(
        self, multipliers: Floats, points: Any, class_map: ClassMap | None = None
    ) -> tuple[float, float]:
        """The linear term of the dual value, and the quadratic one, from points instead of kernel values."""
        W = (points.T @ self.coefficients(multipliers)).T
        V = W if class_map is None else class_map.matrix.T @ W
        earned = float(np.vdot(multipliers, self.costs[self.labels]))
        return earned, 0.5 * float(np.vdot(V, V))

    def products(self, multipliers: Floats, gaps: Floats, slack: Floats) -> Floats:
        """Each multiplier times the room in its constraint, those of the slack in the last columns.

        All are 0 at an optimum. Of the machine of the multipliers, their sum is the gap between P and D.
        """
        left = self._left(multipliers)
        return np.concatenate([multipliers * (slack - gaps), left * slack[:, : left.shape[1]]], axis=1)

    def residuals(
        self, multipliers: Floats, gaps: Floats, slack: Floats, away: float = 0.0
    ) -> dict[str, float]:
        """By how much each group of optimality conditions is violated; see :func:`mcutils.dual.kkt`.

        Parameters
        ----------
        multipliers, gaps, slack : (m, k) array
        away : float
            The distance of the machine from that of the multipliers, as a part of its norm.

        Returns
        -------
        dict
        """
        price, cost = float(self.prices.max()) or 1.0, self.largest_cost()
        least = min(multipliers.min(), self._left(multipliers).min())
        violated = max((gaps - slack).max(), -slack.min())
        products = np.abs(self.products(multipliers, gaps, slack))
        return {
            "stationarity": away,
            "primal": max(0.0, float(violated)) / cost,
            "dual": max(0.0, -float(least)) / price,
            "complementarity": float(products.max()) / (price * cost),
        }

    def certificate(self, beta: Floats, scores: Floats, n_iter: int | None = None) -> Certificate:
        """P, D and the residuals of a machine made of feasible multipliers.

        Parameters
        ----------
        beta, scores : (m, k) array
            As in :meth:`values`.
        n_iter : int, optional
            Iterations used, to be kept with the values.

        Returns
        -------
        Certificate
        """
        gaps = self.gaps(scores)
        residuals = self.residuals(self.multipliers(beta), gaps, self.slack(gaps))
        return Certificate(*self.values(beta, scores, gaps), residuals, n_iter)

    def largest_cost(self) -> float:
        """The largest cost, and 1 where all are 0."""
        return float(self.costs.max()) or 1.0

    def _left(self, multipliers: Floats) -> Floats:
        """The multipliers of the slack: one column for Crammer-Singer, else one for each class."""
        crammer_singer = self.loss == "crammer_singer"
        used = multipliers.sum(axis=1, keepdims=True) if crammer_singer else multipliers
        left: Floats = self.prices[:, None] - used
        return left
