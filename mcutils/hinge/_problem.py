"""The problem that objectives, duals and solvers share: losses, labels, costs and penalties, checked once."""

from copy import copy
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import array, class_labels, cost_matrix, integer, number, one_of, reals, score_table, switch
from .._typing import Floats, Ints
from .._weights import example_weights
from ..certificate import Certificate
from ._class_map import ClassMap, example_matrix
from ._losses import HINGES, score_gaps, score_slopes, total

# Multipliers may exceed their penalty by this part of it, which is rounding.
_BEYOND = 1e-9

# A certificate takes the examples in blocks with so many entries of a table, so that a large sample needs no
# further tables of its size.
_ENTRIES = 2**20


class HingeProblem:
    r"""What the classifier minimises, but for the examples: the labels, and what their mistakes cost.

    :math:`\frac12 \sum_r \|f_r\|^2 + \sum_i C s_i \ell_i(f)`, with a Crammer-Singer or a Weston-Watkins hinge
    of the gaps :math:`g_{ir} = \Delta(y_i, r) + f_r(x_i) - f_{y_i}(x_i)`. Functions of :mod:`mcutils.dual`
    and :mod:`mcutils.solver` take it together with a Gram matrix; with points it has the methods below.

    The arguments are checked here. :meth:`objective`, :meth:`objective_subgradient` and
    :meth:`dual_objective` check theirs too. The other methods are the steps of solvers: they take arrays of
    floats as they are. Their tables of scores, gaps, multipliers :math:`\alpha` and coefficients
    :math:`\beta` have a row for each example and a column for each class, and the multipliers of the true
    classes are 0.

    Parameters
    ----------
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    loss : {"crammer_singer", "weston_watkins"}
    C : float
        The factor of the losses, positive.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns predictions. By default every mistake costs 1.
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
    penalties : (m,) array
        :math:`C_i = C s_i`.
    n_classes : int

    Examples
    --------
    >>> problem = HingeProblem([0, 1, 1], C=2.0, sample_weight=[1, 1, 3])
    >>> problem.n_classes, problem.penalties.tolist()
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
        self.loss = one_of(loss, "loss", HINGES)
        penalty = number(C, "C", above=0)
        given = array(y, "y")
        if given.ndim != 1 or not len(given):
            raise ValueError(
                f"y must have a class for each of at least one example, found shape {given.shape}"
            )
        if n_classes is not None:
            self.n_classes = integer(n_classes, "n_classes", 2)
        elif cost is not None:
            self.n_classes = max(2, len(np.atleast_1d(array(cost, "cost"))))
        else:
            self.n_classes = int(class_labels(given, len(given), np.iinfo(np.intp).max).max()) + 1
            if self.n_classes < 2:
                raise ValueError(
                    "y must have at least two classes, found only class 0; n_classes says how many there are"
                )
        self.labels: Ints = class_labels(given, len(given), self.n_classes)
        self.costs = cost_matrix(cost, self.n_classes)
        self.penalties: Floats = penalty * example_weights(sample_weight, len(given), all_zero=True)

    @classmethod
    def of(
        cls,
        problem: "HingeProblem | ArrayLike",
        m: int | None = None,
        k: int | None = None,
        rows: str = "multipliers",
        columns: str = "multipliers",
    ) -> "HingeProblem":
        """A problem, or that of labels alone, refused if it does not have m examples and k classes.

        Parameters
        ----------
        problem : HingeProblem or (m,) array-like of int
        m, k : int, optional
            Where they are known from other arguments.
        rows, columns : str
            The arguments that have a row for each example, and a column or row for each class.

        Returns
        -------
        HingeProblem
        """
        try:
            known = problem if isinstance(problem, HingeProblem) else cls(problem, n_classes=k)
        except ValueError as error:
            raise ValueError(f"problem must be a HingeProblem or labels: {error}") from None
        if m not in (None, len(known.labels)):
            raise ValueError(
                f"problem must have a label for each of the {m} rows of {rows}, found {len(known.labels)}"
            )
        if k not in (None, known.n_classes):
            raise ValueError(
                f"problem must have {k} classes, as {columns} has, found {known.n_classes}; its argument "
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
        A = np.maximum(-beta, 0.0)
        return self.without_true_classes(A)

    def without_true_classes(self, A: Floats) -> Floats:
        """The table itself, with 0 for the true classes."""
        A[np.arange(len(A)), self.labels] = 0.0
        return A

    def load(self, multipliers: Floats) -> Floats:
        """What must not exceed the penalty of each example: the sum of its multipliers, or the largest."""
        crammer_singer = self.loss == "crammer_singer"
        used: Floats = multipliers.sum(axis=1) if crammer_singer else multipliers.max(axis=1)
        return used

    def into_bounds(self, multipliers: Floats) -> Floats:
        """The table itself, refused beyond rounding, scaled down where it is beyond by rounding."""
        A = self.without_true_classes(multipliers)
        if not np.isfinite(A).all() or A.min() < 0:
            raise ValueError("multipliers must be finite and not negative")
        used = self.load(A)
        beyond = used - self.penalties * (1 + _BEYOND)
        if beyond.max() > 0:
            i = int(np.argmax(beyond))
            raise ValueError(
                f"multipliers of an example must not exceed its penalty {self.penalties[i]:.6g} "
                f"({'in sum' if self.loss == 'crammer_singer' else 'each'}), found {used[i]:.6g} in row {i}"
            )
        A /= np.maximum(1.0, np.divide(used, self.penalties, out=np.ones(len(A)), where=self.penalties > 0))[
            :, None
        ]
        return A

    def nearest(self, A: Floats) -> Floats:
        """Feasible multipliers near to a table; see :func:`mcutils.dual.feasible`."""
        near = self.without_true_classes(np.maximum(A, 0.0))
        if self.loss == "weston_watkins":
            return np.minimum(near, self.penalties[:, None])
        used = near.sum(axis=1)
        near *= np.divide(self.penalties, used, out=np.ones(len(near)), where=used > self.penalties)[:, None]
        return near

    # Values and optimality

    def values(self, beta: Floats, scores: Floats, gaps: Floats | None = None) -> tuple[float, float]:
        """P and D of a classifier made of feasible multipliers; of the kernel only the scores are needed.

        Parameters
        ----------
        beta : (m, k) array
            The coefficients.
        scores : (m, k) array
            Those of the classifier on the sample, the Gram matrix times ``beta``.
        gaps : (m, k) array, optional
            Those of the scores, where they are known.

        Returns
        -------
        two floats
        """
        known = self.gaps(scores) if gaps is None else gaps
        square = 0.5 * float(np.vdot(beta, scores))
        paid = float(self.penalties @ self.losses(known))
        earned = 0.0 - float(np.vdot(beta, self.costs[self.labels]))  # the true class costs nothing
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

        All are 0 at an optimum. Of the classifier of the multipliers, their sum is the gap between P and D.
        """
        left = self._left(multipliers)
        return np.concatenate([multipliers * (slack - gaps), left * slack[:, : left.shape[1]]], axis=1)

    def residuals(
        self,
        multipliers: Floats,
        gaps: Floats,
        slack: Floats,
        away: float = 0.0,
        penalty: float | None = None,
    ) -> dict[str, float]:
        """By how much each group of optimality conditions is violated; see :func:`mcutils.dual.kkt`.

        Parameters
        ----------
        multipliers, gaps, slack : (m, k) array
        away : float
            The distance of the classifier from that of the multipliers, as a part of its norm.
        penalty : float, optional
            What the multipliers are measured by: the largest penalty, here or of a larger sample.

        Returns
        -------
        dict
        """
        penalty, cost = self.largest_penalty() if penalty is None else penalty, self.largest_cost()
        least = min(multipliers.min(), self._left(multipliers).min())
        violated = max((gaps - slack).max(), -slack.min())
        products = np.abs(self.products(multipliers, gaps, slack))
        return {
            "stationarity": away,
            "primal": max(0.0, float(violated)) / cost,
            "dual": max(0.0, -float(least)) / penalty,
            "complementarity": float(products.max()) / (penalty * cost),
        }

    def certificate(self, beta: Floats, scores: Floats, n_iter: int | None = None) -> Certificate:
        """P, D and the residuals of a classifier made of feasible multipliers.

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
        primal = dual = 0.0
        worst: dict[str, float] = {}
        rows = max(1, _ENTRIES // self.n_classes)
        for start in range(0, len(beta), rows):
            some = slice(start, start + rows)
            part, own = self._part(some), beta[some]
            gaps = part.gaps(scores[some])
            one, other = part.values(own, scores[some], gaps)
            primal, dual = primal + one, dual + other
            found = part.residuals(
                part.multipliers(own), gaps, part.slack(gaps), penalty=self.largest_penalty()
            )
            worst = {name: max(value, worst.get(name, 0.0)) for name, value in found.items()}
        return Certificate(primal, dual, worst, n_iter)

    # From points

    def objective(
        self,
        W: ArrayLike,
        X: Any,
        *,
        intercept: ArrayLike | None = None,
        class_map: ClassMap | None = None,
    ) -> float:
        r""":math:`\frac12 \|W\|_F^2 + C \sum_i s_i \ell_i(W)`, what the classifier minimises.

        A bias is not regularised; append a feature that is always 1 for one that is.

        Parameters
        ----------
        W : (k, d) array-like
            A row for each class; with ``class_map`` the (p, d) parameters V, whose norm it then is.
        X : (m, d) array-like or sparse matrix
            The examples.
        intercept : (k,) array-like, optional
            What is added to the scores, by default 0.
        class_map : ClassMap, optional
            Another map than the block map.

        Examples
        --------
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
        >>> HingeProblem(y).objective([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], X)
        2.0
        >>> HingeProblem(y, loss="weston_watkins", C=2.0).objective([[0.0, 0.0]] * 3, X)
        12.0
        """
        V, rows = _parameters(W, X, class_map)
        points = self._points(X, len(rows), "W")
        scores = points @ rows.T + _check_intercept(intercept, len(rows))
        paid = self.losses(self.gaps(score_table(scores)))
        return _in_range(float(0.5 * np.vdot(V, V) + self.penalties @ paid))

    def objective_subgradient(
        self,
        W: ArrayLike,
        X: Any,
        *,
        class_map: ClassMap | None = None,
    ) -> Floats:
        r"""A subgradient of :meth:`objective`, :math:`W + C \sum_i s_i \, g_i x_i^\top`.

        :math:`g_i` is the subgradient of the loss with respect to the scores, with the tie rules of
        :func:`crammer_singer_subgradient` and :func:`weston_watkins_subgradient`. Parameters are those of
        :meth:`objective`.

        Returns
        -------
        array of the shape of ``W``

        Examples
        --------
        >>> HingeProblem([1]).objective_subgradient([[0.0, 0.0], [0.0, 0.0]], [[1.0, 3.0]])
        array([[ 1.,  3.],
               [-1., -3.]])
        """
        V, rows = _parameters(W, X, class_map)
        points = self._points(X, len(rows), "W")
        gaps = self.gaps(score_table(points @ rows.T))
        slopes = self.penalties[:, None] * score_slopes(self.loss, gaps, self.labels)
        by_class: Floats = (points.T @ slopes).T
        return V + (by_class if class_map is None else class_map.matrix.T @ by_class)

    def dual_objective(
        self,
        multipliers: ArrayLike,
        X: Any,
        *,
        fit_intercept: bool = False,
        class_map: ClassMap | None = None,
    ) -> float:
        r"""A lower bound of every value of :meth:`objective`.

        A Crammer-Singer loss is at least every convex combination of the gaps, a Weston-Watkins loss at least
        every combination with factors between 0 and 1. So for multipliers :math:`A_{ir} \ge 0`, with
        :math:`\sum_{r \ne y_i} A_{ir} \le C s_i` for Crammer-Singer and :math:`A_{ir} \le C s_i` for
        Weston-Watkins, no value is below

        .. math:: \sum_{i,r} A_{ir} \Delta(y_i, r)
            - \tfrac12 \Big\| \sum_{i,r} A_{ir} (e_{y_i} - e_r) x_i^\top \Big\|_F^2 .

        A bias b adds :math:`\sum_{i,r} A_{ir} (b_r - b_{y_i})` to that combination of the gaps. Collected by
        classes, b_y has as its factor what the other classes' examples put on y, less what the examples of y
        put on others. If the two are equal for each class, b drops out, and the bound holds for every bias.
        See :func:`balanced_multipliers`.

        Parameters
        ----------
        multipliers : (m, k) array-like
            A. The column of the true class is not looked at. It must be feasible up to rounding, 1e-9 of
            :math:`C s_i`, and is scaled down by what it is beyond.
        fit_intercept : bool
            Whether the bound is to hold for every bias. Multipliers that are not balanced, by more than 1e-9
            of all penalties in sum, are then refused.
        X, class_map
            As in :meth:`objective`.

        Examples
        --------
        >>> problem, X = HingeProblem([0, 1]), [[1.0], [-1.0]]
        >>> problem.dual_objective([[0.0, 0.25], [0.25, 0.0]], X), problem.objective([[0.5], [-0.5]], X)
        (0.25, 0.25)
        """
        fit_intercept = switch(fit_intercept, "fit_intercept")
        A = reals(multipliers, "multipliers").copy()
        m = len(self.labels)
        if A.ndim != 2 or len(A) != m or A.shape[1] < 2:
            raise ValueError(
                f"multipliers must have a row for each of the {m} examples and a column for each of at least "
                f"two classes, found shape {A.shape}"
            )
        k = A.shape[1]
        if class_map is not None and class_map.n_classes != k:
            raise ValueError(
                f"class_map must be of the {k} classes of multipliers, found {class_map.n_classes}"
            )
        points = self._points(X, k, "multipliers")
        A = self.into_bounds(A)
        if fit_intercept:
            unpaid = self.coefficients(A).sum(axis=0)
            if np.abs(unpaid).max() > 1e-9 * self.penalties.sum():
                raise ValueError(
                    "multipliers must be balanced with an intercept, found that the examples of each class "
                    f"put on others, beyond what these put on it: {unpaid.tolist()}"
                )
        linear, square = self.dual_terms(A, points, class_map)
        return _in_range(linear - square)

    def _points(self, X: Any, k: int, columns: str) -> Any:
        """The examples, as many as there are labels; another argument has ``k`` classes."""
        points = example_matrix(X)
        HingeProblem.of(self, points.shape[0], k, "X", columns)
        return points

    def _part(self, rows: slice) -> "HingeProblem":
        """The problem of some of the examples."""
        part = copy(self)
        part.labels, part.penalties = self.labels[rows], self.penalties[rows]
        return part

    def largest_penalty(self) -> float:
        """The largest penalty, and 1 where all are 0."""
        return float(self.penalties.max()) or 1.0

    def largest_cost(self) -> float:
        """The largest cost, and 1 where all are 0."""
        return float(self.costs.max()) or 1.0

    def _left(self, multipliers: Floats) -> Floats:
        """The multipliers of the slack: one column for Crammer-Singer, else one for each class."""
        crammer_singer = self.loss == "crammer_singer"
        used = multipliers.sum(axis=1, keepdims=True) if crammer_singer else multipliers
        left: Floats = self.penalties[:, None] - used
        return left


def _parameters(W: ArrayLike, X: Any, class_map: ClassMap | None) -> tuple[Floats, Floats]:
    """The parameters, and the rows of the classes that they make."""
    V = reals(W, "W")
    if V.ndim != 2 or np.ndim(X) != 2 or V.shape[1] != np.shape(X)[1]:
        raise ValueError(
            f"W must be a matrix with a column for each feature of X, found the shapes {V.shape} "
            f"and {np.shape(X)}"
        )
    return V, V if class_map is None else class_map.to_rows(V)


def _check_intercept(intercept: ArrayLike | None, k: int) -> Floats:
    checked = np.zeros(k) if intercept is None else reals(intercept, "intercept")
    if checked.shape != (k,):
        raise ValueError(
            f"intercept must be a number for each of the {k} classes, found shape {checked.shape}"
        )
    return checked


def _in_range(value: float) -> float:
    if not isfinite(value):
        raise ValueError("the value leaves the range of floating point; scale X, W or C")
    return value
