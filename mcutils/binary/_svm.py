"""The support vector machine of two classes: its quadratic program, soft and hard."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import fsum
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.sparse import eye_array, hstack
from scipy.special import entr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _rows
from .. import loss as losses
from .._checks import gram_matrix, integer, number, one_of, switch
from .._exact import Rows, fraction, in_floats, multipliers, objects, power, root, rounded_leads, search
from .._rows import Gram, is_precomputed, refuse_underflow
from .._weights import example_weights, refuse_idle, times_class_weight
from ..certificate import Certificate
from ..kernel import Kernel, check_psd, linear, resolve

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# Up to so many free multipliers a Newton step is taken: a Cholesky factor of their Gram matrix, whose work is
# about the cube of their number. That of a step by pairs is so many times the size of the block.
_NEWTON = 1500
_PAIR_WORK = 12
# Newton steps of so little work are always taken.
_CHEAP = 300**3

# A sweep is idle that brings the dual by less than this part of the gap nearer. After 25 in a row it ends.
_IDLE = 1e-9


# ---------------------------------------------------------------------------------------------------
# Results


class NotSeparable(ValueError):
    r"""No hyperplane separates the two classes, so that no hard machine exists (prop-binary-separable).

    It is known of a Gram matrix up to its rounding, and ``largest_margin`` says what that leaves open;
    :func:`separate` decides exactly, of points.

    Attributes
    ----------
    weights : (m,) array
        The certificate: :math:`\lambda \ge 0` with :math:`\sum_i \lambda_i y_i \phi(x_i) = 0`. With a bias
        also :math:`\sum_i \lambda_i y_i = 0` and the weights of each class sum to 1: the same point is a
        convex combination of either class. Without a bias all weights sum to 1.
    distance : float
        The norm of :math:`\sum_i \lambda_i y_i \phi(x_i)`, as computed.
    largest_margin : float
        No geometric margin :math:`\rho` exceeds this, since
        :math:`\rho \|w\| \sum_i \lambda_i \le \sum_i \lambda_i y_i f(x_i) \le \|w\|` times the distance. It
        allows the entries of the Gram matrix 8 units in the last place of the largest: what is separated by
        less, as many distinct points by the RBF kernel, cannot be told from what is not.
    """

    def __init__(self, message: str, weights: Floats, distance: float, largest_margin: float):
        super().__init__(message, weights, distance, largest_margin)  # all of it, so that it can be pickled
        self.weights = weights
        self.distance = distance
        self.largest_margin = largest_margin

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class SVMSolution:
    r"""A solved machine, on its sample; see :func:`solve_svm`.

    Attributes
    ----------
    alpha : (m,) array
        Multipliers; :math:`w = \sum_i \alpha_i y_i \phi(x_i)`.
    bias : float
        :math:`b`, with this w optimal; 0.0 for a machine without bias.
    bias_interval : (float, float)
        All optimal biases with this w: one point twice, except where no multiplier is free
        (cor-kernel-bias).
    scores : (m,) array
        :math:`f(x_i)`, the bias included.
    slack : (m,) array
        :math:`\xi_i = \max(0, 1 - y_i f(x_i))` (prop-binary-cases); zero for a hard machine.
    kinds : (m,) array of str
        ``"none"`` where :math:`\alpha_i = 0` (prop-kernel-support: it could be deleted), ``"free"`` where
        :math:`0 < \alpha_i < C_i` (it lies on the margin, :math:`y_i f(x_i) = 1`), ``"bound"`` where
        :math:`\alpha_i = C_i > 0` (on the margin or beyond, :math:`y_i f(x_i) \le 1`). A hard machine has
        no bound. Multipliers need not be unique, so neither are the kinds: of two equal examples either may
        carry both.
    support : (s,) int array
        Indices of the support vectors, those of :math:`\alpha_i > 0`.
    certificate : Certificate
        Primal value at (w, b), dual value at :math:`\alpha` (for a hard machine at its best multiple); in
        ``kkt`` the ``violation`` of the optimality conditions and the ``balance``
        :math:`|\sum_i \alpha_i y_i|` (with a bias). ``n_iter`` counts steps.
    converged : bool
        Whether primal and dual differ by at most ``tol`` times the primal.
    """

    alpha: Floats
    bias: float
    bias_interval: tuple[float, float]
    scores: Floats
    slack: Floats
    kinds: NDArray[np.str_]
    support: Ints
    certificate: Certificate
    converged: bool


# ---------------------------------------------------------------------------------------------------
# Ascent


class _Ascent:
    r"""Maximise :math:`p^\top \beta - \frac12 \beta^\top G \beta` over a box, the sums of groups fixed.

    ``ends`` has the place behind the last coordinate of each group; without groups it is None.
    """

    def __init__(
        self,
        gram: Gram,
        target: Floats,
        lower: Floats,
        upper: Floats,
        ends: Ints | None,
        beta: Floats,
        max_iter: int,
    ):
        self.gram, self.target, self.lower, self.upper, self.ends = gram, target, lower, upper, ends
        self.beta = beta
        self.steps, self.max_iter = 0, max_iter
        self.work = 0
        self.precise = False
        # scale of the curvatures; what is a millionth of a millionth of it is rounding
        self.tiny = 1e-12 * (float(gram.diagonal.max(initial=0.0)) or 1.0)
        self.previous = np.empty(0, dtype=np.intp)
        self.refresh()

    def refresh(self) -> None:
        """The gradient, from scratch."""
        product = self.gram.precise_product if self.precise else self.gram.product
        self.error = self.target - product(self.beta)

    def groups(self) -> list[slice]:
        if self.ends is None:
            return []
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]

    def badness(self) -> tuple[Floats, Floats]:
        """By how much each coordinate should rise, and fall, as seen from the middle of its group."""
        middle = np.zeros(len(self.beta))
        rise, fall = self.beta < self.upper, self.beta > self.lower
        for group in self.groups():
            high = self.error[group][rise[group]].max(initial=-np.inf)
            low = self.error[group][fall[group]].min(initial=np.inf)
            # without one that may rise, or one that may fall, none can move
            middle[group] = (high + low) / 2 if np.isfinite(high - low) else self.error[group]
        ahead = self.error - middle
        return np.where(rise, np.maximum(ahead, 0.0), 0.0), np.where(fall, np.maximum(-ahead, 0.0), 0.0)

    def violation(self) -> float:
        """The largest gradient along a move that the box leaves open."""
        worst = max(float(side.max(initial=0.0)) for side in self.badness())
        return worst if self.ends is None else 2 * worst

    def sweep(self, tolerance: float, most: int) -> bool:
        """Some steps, at least one for each block; whether the violation was brought below the tolerance."""
        most = min(most, self.max_iter - self.steps)
        if self.gram.whole is not None and len(self.beta) <= 2 * _rows.BLOCK:
            steps, violation = self._inner(
                self.gram.whole, slice(None), self.ends, self.beta, self.error, tolerance, most
            )
            self.steps += steps
            self.work += _PAIR_WORK * steps * len(self.beta)
            return violation <= tolerance
        while True:
            violation = self.violation()
            if violation <= tolerance:
                return True
            if most <= 0:
                return False
            chosen = self._choose()
            ends = None if self.ends is None else np.searchsorted(chosen, self.ends)
            beta, error = self.beta[chosen], self.error[chosen]
            steps, _ = self._inner(
                self.gram.square(chosen),
                chosen,
                ends,
                beta,
                error,
                max(0.1 * violation, 0.5 * tolerance),
                min(most, 20 * _rows.BLOCK),
            )
            move = np.zeros(len(self.beta))
            move[chosen] = beta - self.beta[chosen]
            self.beta[chosen] = beta
            self.error -= self.gram.product(move)
            self.previous = chosen
            self.steps += steps
            self.work += (_PAIR_WORK * steps + len(self.beta)) * len(chosen)
            most -= steps
            if not steps:  # rounding has ended all progress
                return False

    def _choose(self) -> Ints:
        """The worst on both sides of each group, and of the last choice those that are free, then any."""
        block = min(_rows.BLOCK, len(self.beta))
        groups = self.groups() or [slice(None)]
        share = max(1, block // (4 * len(groups)))
        chosen: set[int] = set()
        for side in self.badness():
            for group in groups:
                start, bad = group.start or 0, side[group]
                worst = np.argpartition(-bad, share - 1)[:share] if len(bad) > share else np.arange(len(bad))
                chosen.update((start + worst[bad[worst] > 0]).tolist())
        free = (self.beta > self.lower) & (self.beta < self.upper)
        for i in self.previous[np.argsort(~free[self.previous], kind="stable")].tolist():
            if len(chosen) >= block:
                break
            chosen.add(i)
        return np.array(sorted(chosen), dtype=np.intp)

    def _inner(
        self,
        square: Floats,
        chosen: Any,
        ends: Ints | None,
        beta: Floats,
        error: Floats,
        tolerance: float,
        most: int,
    ) -> tuple[int, float]:
        from ..jit import smo

        box = self.lower[chosen], self.upper[chosen]
        if ends is None:
            found = smo.singles(square, *box, beta, error, tolerance, self.tiny, most)
        else:
            found = smo.pairs(square, *box, ends, beta, error, tolerance, self.tiny, most)
        return int(found[0]), float(found[1])

    def newton(self) -> None:
        """Newton steps on the free coordinates, each as far as the box allows.

        The last one, that the box does not stop, ends where the ascent by one or two coordinates would creep
        along a valley. The others fix a coordinate each. They may take as much work as the ascent has taken
        since the last call; if one alone would take more, none is taken.
        """
        free = np.flatnonzero((self.beta > self.lower) & (self.beta < self.upper))
        budget = max(self.work, _CHEAP)
        if not 0 < len(free) <= _NEWTON or len(free) ** 3 > budget:
            return
        self.work = 0
        square = self.gram.square(free)
        lower, upper = self.lower[free], self.upper[free]
        beta, error = self.beta[free], self.error[free]
        group = np.zeros(len(free)) if self.ends is None else np.searchsorted(self.ends, free, side="right")
        moving = np.arange(len(free))
        while len(moving) and budget > 0 and self.steps < self.max_iter:
            budget -= len(moving) ** 3 + len(free) ** 2
            part = square if len(moving) == len(free) else square[np.ix_(moving, moving)]
            direction = self._newton_direction(part, error[moving], group[moving])
            if direction is None:
                break
            change = square[:, moving] @ direction
            slope, curvature = float(error[moving] @ direction), float(direction @ change[moving])
            if not (np.isfinite(curvature) and slope > 0):
                break
            side = np.where(direction > 0, upper[moving], lower[moving])
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                room = np.where(direction != 0, (side - beta[moving]) / direction, np.inf)
                t = min(slope / curvature if curvature > 0 else np.inf, float(room.min()))
            if not 0 < t < np.inf:
                break
            stopped = room <= t
            moved = np.clip(beta[moving] + t * direction, lower[moving], upper[moving])
            beta[moving] = np.where(stopped, side, moved)
            error -= t * change
            self.steps += 1
            if not stopped.any():
                break
            moving = moving[~stopped]
        move = np.zeros(len(self.beta))
        move[free] = beta - self.beta[free]
        self.beta[free] = beta
        self.error -= self.gram.product(move)

    def _newton_direction(self, square: Floats, error: Floats, group: NDArray[Any]) -> Floats | None:
        # a ridge below rounding: where the matrix is singular the step is long, and the box ends it
        square = square.copy()
        square[np.diag_indices(len(square))] += self.tiny
        constraints = np.zeros((len(square), 0))
        if self.ends is not None:
            constraints = (group[:, None] == np.unique(group)).astype(np.float64)
            size = constraints.sum(axis=0)
            error = error - constraints @ ((constraints.T @ error) / size)  # the same step, fewer digits lost
        try:
            factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        solved = cho_solve(factor, np.column_stack([error, constraints]), check_finite=False)
        if not np.isfinite(solved).all():
            return None
        direction: Floats = solved[:, 0]
        if self.ends is not None:
            shift = np.linalg.lstsq(constraints.T @ solved[:, 1:], constraints.T @ direction, rcond=None)[0]
            direction = direction - solved[:, 1:] @ shift
            direction -= constraints @ ((constraints.T @ direction) / size)  # sums stay, to the last digit
        return direction if np.isfinite(direction).all() else None


# ---------------------------------------------------------------------------------------------------
# The machines


def solve_svm(
    gram: ArrayLike,
    y: ArrayLike,
    C: float | ArrayLike = 1.0,
    *,
    bias: bool = True,
    tol: float = 1e-6,
    max_iter: int = 10_000_000,
    initial: ArrayLike | None = None,
) -> SVMSolution:
    r"""Solve the support vector machine of a Gram matrix, and certify the solution.

    Parameters
    ----------
    gram : (m, m) array-like
        :math:`K(x_i, x_j)`, symmetric and positive semidefinite. Symmetry and the minors of two rows are
        checked here, all of it by :func:`mcutils.kernel.check_psd`.
    y : (m,) array-like
        Labels -1 and +1. With a bias both must occur, among the examples of :math:`C_i > 0`.
    C : float or (m,) array-like
        Price of the slack, of all examples or of each. ``inf`` is the hard machine; in an array the other
        entries must then be ``inf`` or 0. An example of :math:`C_i = 0` is ignored.
    bias : bool, default=True
        Whether the machine has a bias.
    tol : float, default=1e-6
        How far primal and dual may be apart, relative to the primal. (The certificate's relative gap has
        :math:`\max(1, |P|)` below, so it is no larger.)
    max_iter : int, default=10,000,000
        The most steps, of two multipliers (one without bias) or a Newton step of all that are free.
    initial : (m,) array-like, optional
        Multipliers to start from, as those of a similar problem; moved into the box and into balance first.

    Returns
    -------
    SVMSolution

    Raises
    ------
    NotSeparable
        The hard machine does not exist.
    RuntimeError
        Within ``max_iter`` steps neither a separating hyperplane nor a proof that there is none was found.

    Warns
    -----
    ConvergenceWarning
        The gap is larger than ``tol`` after ``max_iter`` steps, or where rounding ends all progress.

    Notes
    -----
    *The bias* minimises the primal with this w, exactly: the primal is a piecewise linear function of b with
    a kink at :math:`y_i - \langle w, \phi(x_i) \rangle` for each example. Where some multiplier is
    free, b is the mean of the kinks of the free ones, moved among the minimisers if need be. Where none is,
    the minimisers may be an interval, which is answered too, and b is its middle (cor-kernel-bias). Both
    classes have a price, so it is bounded.

    *Rounding*: where the multiples of kernel values are so large that their rounding would count in the gap,
    the scores are computed in twice the digits. So the values of the certificate are those of the Gram matrix
    as it was given. Its own rounding, as that of :math:`K(x, z)` far from the origin, is not known here.

    *The hard machine* is found as the nearest points of the convex hulls of the two classes (without
    bias, the point of the hull of all :math:`y_i \phi(x_i)` that is nearest to the origin). Their distance is
    known from both sides: if w separates, the classes are separable and the machine is w, scaled; if the
    points meet, up to what rounding of the Gram matrix explains, the classes are not.

    Examples
    --------
    Two points, one of each class, at 0 and 1; the hard machine has :math:`\alpha = (2, 2)`:

    >>> import numpy as np
    >>> gram = np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> soft = solve_svm(gram, [-1, 1], C=0.5)
    >>> soft.alpha, soft.kinds.tolist(), soft.bias_interval
    (array([0.5, 0.5]), ['bound', 'bound'], (-1.0, 0.5))
    >>> solve_svm(gram, [-1, 1], C=3.0).alpha
    array([2., 2.])

    Two examples at the same place:

    >>> solve_svm(np.ones((2, 2)), [-1, 1], C=np.inf)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mcutils.binary.NotSeparable: the classes are not separable by a hyperplane with bias: ...
    """
    bias = switch(bias, "bias")
    matrix = gram_matrix(gram)
    labels = _check_labels(y, len(matrix))
    return _solve(
        Gram.of_matrix(matrix),
        labels,
        _check_prices(C, labels, bias),
        bias=bias,
        tol=number(tol, "tol", above=0),
        max_iter=integer(max_iter, "max_iter", 1),
        initial=None if initial is None else _vector(initial, "initial", len(labels)),
    )


def _vector(values: ArrayLike, name: str, m: int) -> Floats:
    vector = np.asarray(values)
    if vector.shape != (m,) or vector.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must have one number for each of {m} examples, found shape {vector.shape} "
            f"of type {vector.dtype}"
        )
    vector = vector.astype(np.float64)
    if np.isnan(vector).any():
        raise ValueError(f"{name} must be numbers, found NaN")
    return vector


def _check_labels(y: ArrayLike, m: int) -> Floats:
    labels = _vector(y, "y", m)
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError(f"y must have labels -1 and +1, found {np.unique(labels)[:5].tolist()}")
    return labels


def _check_prices(C: float | ArrayLike, labels: Floats, bias: bool) -> Floats:
    prices = np.asarray(C)
    if prices.dtype.kind not in "uif" or prices.ndim > 1:
        raise ValueError(f"C must be a positive number, or one of at least 0 for each example, found {C!r}")
    if prices.ndim == 0:
        if not prices > 0:
            raise ValueError(f"C must be a positive number or inf, found {C!r}")
        prices = np.full(len(labels), float(prices))
    prices = _vector(prices, "C", len(labels))
    if prices.min() < 0 or not prices.max() > 0:
        raise ValueError("C must be at least 0 for each example, and positive for some")
    endless = np.isinf(prices)
    if endless.any() and not (endless | (prices == 0)).all():
        raise ValueError("C must be finite for all examples, or inf for all but those of C = 0")
    if bias:
        present = np.unique(labels[prices > 0])
        if len(present) < 2:
            raise ValueError(
                "with a bias, y must have both labels among the examples of C > 0, "
                f"found only {present[0]:+g}: every large bias of that sign would be optimal"
            )
    return prices


def _solve(
    gram: Gram,
    y: Floats,
    prices: Floats,
    *,
    bias: bool,
    tol: float,
    max_iter: int,
    initial: Floats | None = None,
) -> SVMSolution:
    if np.isinf(prices).any():
        return _solve_hard(gram, y, prices > 0, bias=bias, tol=tol, max_iter=max_iter)
    return _solve_soft(gram, y, prices, bias=bias, tol=tol, max_iter=max_iter, initial=initial)


def _biases(kinks: Floats, y: Floats, prices: Floats) -> tuple[float, float]:
    r"""All b that minimise :math:`\sum_i C_i \max(0, 1 - y_i (g_i + b))`; the kinks are :math:`y_i - g_i`."""
    used = np.flatnonzero(prices > 0)
    order = used[np.argsort(kinks[used], kind="stable")]
    # the slope in b is the price of the kinks passed, less that of the positive examples
    passed = np.cumsum(prices[order])
    turn = prices[y > 0].sum()
    rounding = 4 * len(y) * _EPS * passed[-1]
    low = int(np.argmax(passed >= turn - rounding))
    high = int(np.argmax(passed > turn + rounding))
    return float(kinks[order[low]]), float(kinks[order[high]])


def _kinds(alpha: Floats, prices: Floats) -> NDArray[np.str_]:
    return np.where(alpha == 0, "none", np.where(alpha < prices, "free", "bound"))


def _warn(gap: float, tol: float, steps: int) -> None:
    warnings.warn(
        f"the machine is not solved to tol={tol:g}: primal and dual differ by {gap:.3g} of the primal "
        f"after {steps} steps",
        ConvergenceWarning,
        stacklevel=5,  # who called solve_svm or fit
    )


def _solve_soft(
    gram: Gram, y: Floats, prices: Floats, *, bias: bool, tol: float, max_iter: int, initial: Floats | None
) -> SVMSolution:
    m = len(y)
    lower, upper = np.minimum(0.0, y * prices), np.maximum(0.0, y * prices)
    beta = np.zeros(m)
    if initial is not None:
        inside = np.clip(initial, 0.0, prices)
        # what is balanced up to rounding is left alone: multipliers at a bound must stay exactly there
        uneven = bias and abs(float(y @ inside)) > 1e-12 * float(inside.sum())
        beta = _balanced(inside, y) if uneven else y * inside
    ascent = _Ascent(gram, y, lower, upper, np.array([m]) if bias else None, beta, max_iter)

    # 1 is the violation of the start; the gap is at most the violation times the sum of prices
    tolerance, patience, stalled, best, top = 0.5, m + 200, 0, np.inf, -np.inf
    while True:
        reached = ascent.sweep(tolerance, patience)
        if not reached:
            patience = min(2 * patience, 5 * m + 2000)
            ascent.newton()
        ascent.refresh()
        kinks = ascent.error  # y - <w, phi>
        b, interval = _best_bias(ascent.beta, kinks, y, prices) if bias else (0.0, (0.0, 0.0))
        square = float(ascent.beta @ (y - kinks))  # |w|^2
        scores = y - kinks + b
        slack = np.maximum(0.0, y * (kinks - b))  # 1 - y (y - kink + b)
        primal = 0.5 * square + float(prices @ slack)
        dual = float(ascent.beta @ y) - 0.5 * square
        # where rounding of the scores costs as much as a gap would, they are computed with more digits
        rounding = np.where(ascent.beta != 0, prices, 0.0) @ gram.rounding(ascent.beta)
        if not ascent.precise and rounding > 0.1 * tol * primal:
            ascent.precise = True
            continue
        gap = primal - dual
        if not np.isfinite(gap):
            raise ValueError(
                "C and the kernel must leave primal and dual finite, "
                f"found {primal:.3g} and {dual:.3g}: scale the inputs, or decrease C"
            )
        # every step raises the dual: where it hardly rises any more, or the gap stays while the violation
        # falls to a few units in the last place, rounding has ended all progress
        gained = gap < 0.5 * best if reached else dual - top > _IDLE * gap
        stalled = 0 if gained else stalled + 1
        best, top = min(best, gap), max(top, dual)
        if gap <= tol * primal or ascent.steps >= max_iter or stalled > 25 or tolerance < 1e-15:
            break
        if reached:
            ascent.newton()
            tolerance *= 0.2

    converged = gap <= tol * primal
    if not converged:
        _warn(gap / primal, tol, ascent.steps)
    alpha = y * ascent.beta + 0.0  # no minus zero
    kkt = {"violation": ascent.violation()}
    if bias:
        kkt["balance"] = abs(float(ascent.beta.sum()))
    return SVMSolution(
        alpha=alpha,
        bias=b,
        bias_interval=interval,
        scores=scores,
        slack=slack,
        kinds=_kinds(alpha, prices),
        support=np.flatnonzero(alpha > 0),
        certificate=Certificate(primal, dual, kkt, ascent.steps),
        converged=converged,
    )


def _best_bias(beta: Floats, kinks: Floats, y: Floats, prices: Floats) -> tuple[float, tuple[float, float]]:
    """The bias, and all that are as good: see the notes of :func:`solve_svm`."""
    interval = _biases(kinks, y, prices)
    free = (beta != 0) & (np.abs(beta) < prices)
    if not free.any():
        return (interval[0] + interval[1]) / 2, interval
    b = float(np.clip(kinks[free].mean(), *interval))
    return b, (b, b)


def _solve_hard(
    gram: Gram, y: Floats, used: NDArray[np.bool_], *, bias: bool, tol: float, max_iter: int
) -> SVMSolution:
    # lambda >= 0 on the examples in use, those of a group sum to 1; of Q, whose rows have signs
    order = np.flatnonzero(used)
    order = order[np.argsort(y[order], kind="stable")]
    s = y[order]
    split = int((s < 0).sum())
    # times a power of four, which rounds nothing: squares and quotients stay in range
    root = int(np.frexp(gram.diagonal[order].max())[1]) // 2
    if gram.whole is not None:
        ordered = Gram.of_matrix(np.ldexp(s[:, None] * s * gram.whole[np.ix_(order, order)], -2 * root))
    else:
        ordered = Gram(
            np.ldexp(gram.diagonal[order], -2 * root),
            lambda rows, columns: np.ldexp(
                s[rows, None] * s[columns] * gram.compute(order[rows], order[columns]), -2 * root
            ),
        )
    n = len(order)
    ends = np.array([split, n] if bias else [n])
    weights = np.zeros(n)
    weights[[0, *ends[:-1]]] = 1.0
    ascent = _Ascent(ordered, np.zeros(n), np.zeros(n), np.full(n, np.inf), ends, weights, max_iter)
    # what rounding of a Gram matrix makes of a square, and of a margin, that is 0
    scale = float(ordered.diagonal.max())
    nothing = 16 * _EPS * n * scale
    unsure = 8 * _EPS * len(ends) * scale

    tolerance, patience, stalled, best, low = 0.5 * scale, n + 200, 0, np.inf, np.inf
    while True:
        reached = ascent.sweep(tolerance, patience)
        if not reached:
            patience = min(2 * patience, 5 * n + 2000)
        ascent.newton()
        ascent.refresh()
        g = -ascent.error  # y <w, phi>
        square = float(ascent.beta @ g)
        lowest = [float(part.min()) for part in np.split(g, ends[:-1])]
        margin = sum(lowest) / len(lowest)  # of w and the best bias
        if margin > unsure:
            # w / margin is feasible; the best multiple of lambda has the dual value (sum lambda)^2 / 2 |w|^2
            primal, dual = 0.5 * square / margin**2, 0.5 * len(ends) ** 2 / square
            if primal - dual <= tol * primal:
                break
        elif square <= nothing:
            raise _not_separable(ascent, order, y, bias, root)
        gap = square - sum(lowest)
        gained = gap < 0.5 * best if reached else low - square > _IDLE * gap
        stalled = 0 if gained else stalled + 1
        best, low = min(best, gap), min(low, square)
        if stalled > 25 or ascent.steps >= max_iter:
            if margin > unsure:
                break
            raise RuntimeError(
                f"not decided after {ascent.steps} steps whether the classes are separable: the distance "
                f"of their convex hulls is at most {np.ldexp(square**0.5, root):.3g}, and no separating w "
                "was met; allow more steps, or scale the inputs"
            )
        if reached:
            tolerance = min(0.2 * tolerance, 0.2 * max(square, nothing))
    converged = primal - dual <= tol * primal
    if not converged:
        _warn((primal - dual) / primal, tol, ascent.steps)
    with np.errstate(over="ignore"):
        primal, dual = (float(np.ldexp(value, -2 * root)) for value in (primal, dual))
    if primal == np.inf:
        raise ValueError("gram is so small that the multipliers leave the range of floating point; scale it")
    alpha = np.zeros(len(y))
    alpha[order] = np.ldexp(ascent.beta / margin, -2 * root)
    # for scores of every example, those without a price included
    inner = gram.product(y * alpha)
    b = 0.0
    if bias:
        f = inner[order]
        b = -(float(f[split:].min()) + float(f[:split].max())) / 2
    scores = inner + b
    kkt = {"violation": ascent.violation() / square}
    if bias:
        kkt["balance"] = abs(float(y @ alpha))
    return SVMSolution(
        alpha=alpha,
        bias=b,
        bias_interval=(b, b),
        scores=scores,
        slack=np.where(used, 0.0, np.maximum(0.0, 1.0 - y * scores)),
        kinds=_kinds(alpha, np.full(len(y), np.inf)),
        support=np.flatnonzero(alpha > 0),
        certificate=Certificate(primal, dual, kkt, ascent.steps),
        converged=converged,
    )


def _not_separable(ascent: _Ascent, order: Ints, y: Floats, bias: bool, scale: int) -> NotSeparable:
    for _ in range(3):  # the two points are brought together as far as their digits go
        ascent.newton()
        ascent.refresh()
    ascent.precise = True  # so that only the rounding of the Gram matrix is left
    ascent.refresh()
    distance = max(-fsum(ascent.beta * ascent.error), 0.0) ** 0.5
    full = np.zeros(len(y))
    full[order] = ascent.beta
    involved = int((full > 0).sum())
    total = full.sum()
    rounding = 8 * _EPS * float(ascent.gram.diagonal.max(initial=0.0)) * total**2
    largest = float(np.ldexp((distance**2 + rounding) ** 0.5 / total, scale))
    distance = float(np.ldexp(distance, scale))
    return NotSeparable(
        "the classes are not separable by a hyperplane "
        + ("with bias: a convex combination of each" if bias else "through the origin: a convex combination")
        + f" ({involved} examples in all) is "
        + ("the same point" if bias else "the origin")
        + f" up to {distance:.2g}, so no margin exceeds {largest:.2g}",
        full,
        distance,
        largest,
    )


# ---------------------------------------------------------------------------------------------------
# The estimator


class BinarySVM(ClassifierMixin, BaseEstimator):
    r"""The support vector machine of two classes, linear or with a kernel, solved to a certified gap.

    It minimises :math:`\frac12 \|w\|^2 + \sum_i C_i \xi_i` (def-binary-soft), where :math:`C_i` is C times
    the weight of the example and of its class. As scikit-learn's ``SVC``, and unlike its ``LinearSVC``, it
    does not regularise the bias. ``LinearSVC(loss="hinge", intercept_scaling=s)`` is this machine without
    bias on inputs with one more feature, which is s throughout.

    Parameters
    ----------
    C : float, default=1.0
        The price of the slack, positive; ``inf`` is the hard machine (def-binary-hard).
    kernel : {"linear", "polynomial", "rbf", "precomputed"} or Kernel, default="linear"
        See :func:`mcutils.kernel.resolve`. With "precomputed", ``X`` is the square Gram matrix in
        :meth:`fit`, and afterwards the matrix of the kernel between new examples (rows) and all those of the
        training (columns).
    gamma, degree, coef0
        Of the named kernels, as in scikit-learn: :math:`e^{-\gamma \|x - z\|^2}` and
        :math:`(\gamma \langle x, z \rangle + \text{coef0})^{\text{degree}}`.
    bias : bool, default=True
        Whether the machine has a bias.
    tol : float, default=1e-6
        How far primal and dual may be apart, relative to the primal.
    max_iter : int, default=10,000,000
        The most steps of the solver; see :func:`solve_svm`.
    class_weight : dict, "balanced" or None
        Factors of C by label.

    Attributes
    ----------
    classes_ : (2,) array
        The labels, sorted; a positive score is the second.
    kernel_ : Kernel
        The kernel, with its parameters.
    solution_ : SVMSolution
        What :func:`solve_svm` found, for the examples in the order of the training.
    alpha_ : (m,) array
        The multipliers of these examples.
    kinds_ : (m,) array of str
        ``"none"``, ``"free"`` or ``"bound"``; see :class:`SVMSolution`.
    certificate_ : Certificate
        Primal and dual value.
    converged_ : bool
        Whether primal and dual differ by at most ``tol`` times the primal.
    n_iter_ : int
        The number of steps, at least 1.
    support_ : (s,) int array
        Which examples are support vectors.
    support_vectors_ : (s, d) array or sparse matrix
        These examples; none are kept for a precomputed kernel.
    dual_coef_ : (1, s) array
        :math:`\alpha_i y_i` of the support vectors.
    intercept_ : (1,) array
        The bias.
    coef_ : (1, d) array
        w, for a linear kernel only.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    *Memory*: Gram matrices of up to 128 MiB (4096 examples) are kept whole. Of larger ones up to 256 MiB of
    rows are kept, those that were used last, and rows are computed when they are needed, some hundreds at a
    time. 10,000 examples stay below 1 GB in all.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = BinarySVM(kernel="rbf").fit(scale(X), y)
    >>> machine.converged_, round(machine.certificate_.primal, 3)
    (True, 59.761)
    >>> machine.score(scale(X), y) > 0.98
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000_000,
        class_weight: dict[Any, float] | str | None = None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the machine.

        Parameters
        ----------
        X : (m, d) array-like or sparse matrix
            The examples; for a precomputed kernel their (m, m) Gram matrix.
        y : (m,) array-like
            Labels of two classes.
        sample_weight : (m,) array-like, optional
            Factors of C, at least 0. An example of weight 0 is ignored.

        Returns
        -------
        BinarySVM

        Raises
        ------
        NotSeparable
            C is infinite and no hyperplane separates the classes.
        """
        bias, tol = switch(self.bias, "bias"), number(self.tol, "tol", above=0)
        given = getattr(X, "dtype", None)
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(labels)
        target = type_of_target(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {target}.")
        if len(self.classes_) < 2:
            raise ValueError(f"y must have 2 classes, found 1 class: {self.classes_.tolist()}")
        signs: Floats = np.where(codes > 0, 1.0, -1.0)
        prices = self._prices(signs, sample_weight)
        max_iter = integer(self.max_iter, "max_iter", 1)

        self.kernel_ = resolve(self.kernel, self.gamma, self.degree, self.coef0, X)
        gram = _gram_of(self.kernel_, X, given)
        if np.isinf(prices).any():
            refuse_underflow(self.kernel_, X, gram.diagonal)
        found = _solve(gram, signs, prices, bias=bias, tol=tol, max_iter=max_iter)
        self.solution_ = found
        self.alpha_, self.kinds_, self.support_ = found.alpha, found.kinds, found.support
        self.certificate_, self.converged_ = found.certificate, found.converged
        self.n_iter_ = max(1, found.certificate.n_iter or 0)
        beta = signs * found.alpha
        self.dual_coef_ = beta[None, found.support]
        self.intercept_ = np.array([found.bias])
        if self.kernel_.name != "precomputed":
            self.support_vectors_ = X[found.support]
        if self.kernel_.name == "linear":
            self.coef_ = np.asarray(X.T @ beta)[None, :]
        return self

    def _prices(self, signs: Floats, sample_weight: ArrayLike | None) -> Floats:
        """C of each example."""
        if isinstance(self.C, (bool, np.bool_)) or not isinstance(self.C, (int, float, np.number)):
            raise ValueError(f"C must be a positive number or inf, found {self.C!r}")
        if not self.C > 0:
            raise ValueError(f"C must be a positive number or inf, found {self.C!r}")
        weights = example_weights(sample_weight, len(signs))
        codes = (signs > 0).astype(np.intp)
        factors = times_class_weight(weights, self.class_weight, self.classes_, codes)
        refuse_idle(factors, self.classes_, codes)
        return np.where(factors > 0, float(self.C) * np.where(factors > 0, factors, 1.0), 0.0)

    def decision_function(self, X: Any) -> Floats:
        """The score :math:`f(x)` of each row.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix
            For a precomputed kernel the (n, m) matrix of the kernel with the examples of the training.

        Returns
        -------
        (n,) array
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.kernel_.name == "linear":
            scores: Floats = X @ self.coef_[0]
        else:
            points = self.support_ if self.kernel_.name == "precomputed" else self.support_vectors_
            scores = self.kernel_.expand(X, points, self.dual_coef_[0])
        return scores + float(self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row: the second of ``classes_`` where the score is positive.

        A score of exactly 0 is answered by the first class: ties go to the smallest class.

        Parameters
        ----------
        X : (n, d) array-like or sparse matrix

        Returns
        -------
        (n,) array
        """
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


def _gram_of(kernel: Kernel, X: Any, given: Any = None) -> Gram:
    """The Gram matrix of a sample: whole where it is small, else by rows."""
    m = X.shape[0]
    if kernel.name == "precomputed" and given == np.float32:  # its entries have that many digits only
        check_psd(X, tolerance=8 * m * float(np.finfo(np.float32).eps) * float(np.abs(X).max()))
        return Gram.of_matrix((X + X.T) / 2)
    if kernel.name == "precomputed" or 8 * m * m <= _rows.WHOLE_BYTES:
        return Gram.of_matrix(kernel.gram(X))
    return Gram(kernel.diagonal(X), lambda rows, columns: kernel.gram(X[rows], X[columns]))


# ---------------------------------------------------------------------------------------------------
# Separation


@dataclass(frozen=True, eq=False)
class Separation:
    r"""Whether a hyperplane separates two classes, with a proof of either answer; see :func:`separate`.

    Attributes
    ----------
    separable : bool
    weights : (d,) array or None
        w of a separating hyperplane: :math:`y_i (\langle w, x_i \rangle + b) > 0` for all i, in exact
        arithmetic. Floats, or `fractions.Fraction` where no floats were found that separate.
    bias : float or None
        Its b; 0.0 for one through the origin. A fraction where the weights are.
    margin : float or None
        Its geometric margin, as computed: 0.0 where it is smaller than every positive float.
    multipliers : (m,) array of fractions.Fraction, or None
        If there is none: :math:`\lambda \ge 0` with sum 1 and :math:`\sum_i \lambda_i y_i x_i = 0`, and with
        a bias also :math:`\sum_i \lambda_i y_i = 0`, exactly. So a convex combination of each class is the
        same point.
    """

    separable: bool
    weights: NDArray[Any] | None = None
    bias: Any = None
    margin: float | None = None
    multipliers: NDArray[Any] | None = None


def separate(X: ArrayLike, y: ArrayLike, *, bias: bool = True) -> Separation:
    r"""Decide by linear programming whether a hyperplane separates two classes (prop-binary-separable).

    The programme maximises t with :math:`y_i (\langle w, x_i \rangle + b) \ge t` and :math:`|w_j| \le 1`; its
    multipliers are the other certificate. The features are shifted and scaled to the unit cube first. The
    programme only proposes: a hyperplane is checked in exact arithmetic, and of the multipliers only the
    support is believed, on which they are solved for in fractions. Where neither is a proof, the simplex
    method decides in whole numbers. So neither scales nor a small margin change the verdict.

    Parameters
    ----------
    X : (m, d) array-like
        The examples.
    y : (m,) array-like
        Labels -1 and +1; with a bias both must occur.
    bias : bool, default=True
        Whether the hyperplane may miss the origin.

    Returns
    -------
    Separation

    Raises
    ------
    RuntimeError
        Only with 50 features or more: floating point proves neither, and whole numbers would take long.

    Examples
    --------
    >>> found = separate([[0.0], [1.0], [3.0]], [-1, -1, 1])
    >>> found.separable, found.margin
    (True, 1.0)
    >>> separate([[0.0], [1.0], [3.0]], [-1, -1, 1], bias=False).separable
    False
    >>> [str(weight) for weight in separate([[0.0], [2.0], [3.0]], [-1, 1, -1]).multipliers]
    ['1/6', '1/2', '1/3']
    """
    bias = switch(bias, "bias")
    points, labels = _sample(X, y, both=bias)
    m, d = points.shape
    # columns times powers of two, of which nothing below overflows
    exponents = np.frexp(np.abs(points).max(axis=0))[1].astype(np.intp)
    units = np.ldexp(points, -exponents)
    centre = (units.min(axis=0) + units.max(axis=0)) / 2 if bias else np.zeros(d)
    width = np.abs(units - centre).max(axis=0)
    width[width == 0] = 1.0
    cube = (units - centre) / width
    # unknowns: w, b, t
    answer = linprog(
        np.r_[np.zeros(d + 1), -1.0],
        A_ub=np.column_stack([-labels[:, None] * cube, -labels, np.ones(m)]),
        b_ub=np.zeros(m),
        bounds=[(-1, 1)] * d + [(None, None) if bias else (0, 0), (None, None)],
        method="highs",
        options=_EXACT,
    )
    signed = labels[:, None] * (np.column_stack([points, np.ones(m)]) if bias else points)
    rows, support = Rows(signed, m), np.zeros(0, dtype=np.intp)
    if answer.status == 0:
        for v in _hyperplanes(answer.x[:d] / width, points, units, exponents, labels, bias):
            if rows.solved_by([fraction(entry) for entry in v.tolist()], *rounded_leads(signed, v)):
                return _separated(points, labels, v, bias)
        support = np.flatnonzero(answer.ineqlin.marginals < 0)
        weights = multipliers(rows, support)
        if weights is not None:
            return Separation(False, multipliers=objects(weights))
    solution, weights = search(rows, support)
    if solution is None:
        return Separation(False, multipliers=objects(weights or []))
    rounded = in_floats(solution)
    if rounded is not None:
        near = rounded_leads(signed, rounded)
        if rows.solved_by([fraction(entry) for entry in rounded.tolist()], *near):
            return _separated(points, labels, rounded, bias)
    return _separated(points, labels, objects(solution), bias)


def _hyperplanes(
    w: Floats, points: Floats, units: Floats, exponents: Ints, labels: Floats, bias: bool
) -> Iterator[Floats]:
    """The hyperplane with a normal in the units: the largest weight 1, or else no number out of range."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        plain = np.ldexp(w, -exponents)
        plain /= np.abs(plain).max()
        v = np.append(plain, _middle(points @ plain, labels)) if bias else plain
    if np.isfinite(v).all():
        yield v
    ends = np.append(w, _middle(units @ w, labels)) if bias else w
    factors = [*(power(-e) for e in exponents.tolist()), Fraction(1)]
    exact = [fraction(entry) * factor for entry, factor in zip(ends.tolist(), factors, strict=False)]
    moved = in_floats(exact) if any(exact) else None
    if moved is not None:
        yield moved


def _separated(points: Floats, labels: Floats, v: NDArray[Any], bias: bool) -> Separation:
    w, b = (v[:-1], v[-1]) if bias else (v, 0.0)
    if v.dtype != object:
        b = float(b)
    return Separation(True, w, b, float((labels * _heights(points, w, b)).min()))


# what HiGHS can be asked for
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def _sample(X: ArrayLike, y: ArrayLike, *, both: bool) -> tuple[Floats, Floats]:
    points = np.asarray(X)
    if points.ndim != 2 or 0 in points.shape or points.dtype.kind not in "buif":
        raise ValueError(
            f"X must be a matrix of numbers with a row for each example, found shape {points.shape} "
            f"of type {points.dtype}"
        )
    points = points.astype(np.float64)
    if not np.isfinite(points).all():
        raise ValueError("X must be finite, found NaN or infinity")
    labels = _check_labels(y, len(points))
    if both and len(np.unique(labels)) < 2:
        raise ValueError(f"y must have both labels, -1 and +1, found only {labels[0]:+g}")
    return points, labels


def _middle(f: Floats, y: Floats) -> float:
    """The bias that makes the smallest margins of both classes equal."""
    return -(float(f[y > 0].min()) + float(f[y < 0].max())) / 2


def _heights(points: Floats, w: NDArray[Any], b: Any) -> Floats:
    """The signed distances of points to a hyperplane, in fractions where floats leave their range."""
    if w.dtype != object:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            length = np.linalg.norm(w)
            most = np.abs(points).max() * np.abs(w).max() + abs(b)
            if 1e-100 < length < 1e100 and 1e-200 < most < 1e200:
                found: Floats = (points @ w + b) / length
                return found
    rows = np.array([[fraction(entry) for entry in row] for row in points.tolist()], dtype=object)
    normal = objects([fraction(entry) for entry in w.tolist()])
    values = rows @ normal + fraction(b)
    square = normal @ normal
    return np.array([(-1 if value < 0 else 1) * root(value * value / square) for value in values])


# ---------------------------------------------------------------------------------------------------
# The lecture's quantities


def distance(X: ArrayLike, w: ArrayLike, b: float = 0.0) -> Floats:
    r"""The distance of each point to the hyperplane :math:`\langle w, x \rangle + b = 0`
    (lem-binary-distance).

    It is :math:`|\langle w, x \rangle + b| / \|w\|`.

    Parameters
    ----------
    X : (m, d) array-like
    w : (d,) array-like
        Not zero.
    b : float, default=0.0

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> distance([[0.0, 0.0], [3.0, 4.0]], [3.0, 4.0], -5.0)
    array([1., 4.])
    """
    distances: Floats = np.abs(_heights(*_hyperplane(X, w, b)))
    return distances


def geometric_margin(X: ArrayLike, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> float:
    r"""The geometric margin :math:`\rho_{w,b} = \min_i y_i (\langle w, x_i \rangle + b) / \|w\|`.

    See def-binary-margins. It is positive just when the hyperplane separates the classes, and does not change
    when w and b are multiplied by a positive number (prop-binary-scaling).

    Parameters
    ----------
    X : (m, d) array-like
    y : (m,) array-like
        Labels -1 and +1.
    w : (d,) array-like
        Not zero.
    b : float, default=0.0

    Returns
    -------
    float

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [3.0, 4.0]], [-1, 1]
    >>> geometric_margin(X, y, [3.0, 4.0], -5.0), geometric_margin(X, y, [6.0, 8.0], -10.0)
    (1.0, 1.0)
    """
    points, normal, shift = _hyperplane(X, w, b)
    labels = _check_labels(y, len(points))
    return float((labels * _heights(points, normal, shift)).min())


def _hyperplane(X: ArrayLike, w: ArrayLike, b: float) -> tuple[Floats, Floats, float]:
    points, _ = _sample(X, np.ones(len(np.asarray(X))), both=False)
    normal = _vector_of(w, points.shape[1])
    if not normal.any():
        raise ValueError("w must not be zero: it is the normal of the hyperplane")
    return points, normal, number(b, "b")


def _vector_of(w: ArrayLike, d: int) -> Floats:
    normal = np.asarray(w)
    if normal.shape != (d,) or normal.dtype.kind not in "buif" or not np.isfinite(normal).all():
        raise ValueError(f"w must have {d} finite numbers, one for each column of X, found {normal}")
    return normal.astype(np.float64)


def hinge_objective(
    X: ArrayLike, y: ArrayLike, w: ArrayLike, b: float = 0.0, C: float | ArrayLike = 1.0
) -> float:
    r"""The hinge form of the soft machine (thm-binary-hinge) at a given hyperplane.

    It is :math:`\frac12 \|w\|^2 + \sum_i C_i \max(0, 1 - y_i (\langle w, x_i \rangle + b))`.

    Parameters
    ----------
    X : (m, d) array-like
    y : (m,) array-like
        Labels -1 and +1.
    w : (d,) array-like
    b : float, default=0.0
    C : float or (m,) array-like, default=1.0
        Finite.

    Returns
    -------
    float

    Examples
    --------
    >>> hinge_objective([[0.0], [1.0], [3.0]], [-1, -1, 1], [1.0], -1.5, C=10.0)
    5.5
    """
    points, labels = _sample(X, y, both=False)
    normal = _vector_of(w, points.shape[1])
    prices = _check_prices(C, labels, False)
    if np.isinf(prices).any():
        raise ValueError(f"C must be finite, found {C!r}")
    with np.errstate(over="ignore", invalid="ignore"):
        slack = losses.hinge(labels * (points @ normal + number(b, "b")))
        found = float(normal @ normal / 2 + prices @ slack)
    if not np.isfinite(found):
        raise ValueError("the objective leaves the range of floating point; scale X, w or C")
    return found


# ---------------------------------------------------------------------------------------------------
# Regulariser and loss, exchanged


@dataclass(frozen=True, eq=False)
class LinearRisk:
    """A linear machine of least regularised risk; see :func:`minimise_risk`.

    Attributes
    ----------
    weights : (d,) array
        w.
    bias : float
        b; 0.0 without one.
    certificate : Certificate
        Primal value at (w, b) and the value of a dual feasible point.
    """

    weights: Floats
    bias: float
    certificate: Certificate


def minimise_risk(
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "hinge",
    penalty: str = "l2",
    C: float = 1.0,
    bias: bool = True,
    tol: float = 1e-8,
) -> LinearRisk:
    r"""Minimise a regularised risk (def-binary-risk), with either regulariser and any of three losses.

    The objective is :math:`R(w) + C \sum_i L(y_i (\langle w, x_i \rangle + b))` with
    :math:`R(w) = \frac12 \|w\|_2^2` ("l2") or :math:`\|w\|_1` ("l1"). The bias is not regularised. The dual,
    which gives the certificate, is

    .. math:: \max_\alpha -C \sum_i L^*(-\alpha_i / C) - R^*(v), \quad v = \sum_i \alpha_i y_i x_i, \quad
       \sum_i \alpha_i y_i = 0 \text{ (with a bias)},

    with :math:`R^*(v) = \frac12 \|v\|_2^2`, or 0 where all :math:`|v_j| \le 1` and infinite elsewhere; and
    :math:`-C L^*(-\alpha / C)` is :math:`\alpha` for the hinge (on :math:`[0, C]`), :math:`\alpha - \alpha^2
    / 4C` for its square (from 0), and C times the entropy of :math:`\alpha / C` for the logistic loss.

    The hinge with "l2" is :func:`solve_svm`'s machine, with "l1" a linear programme. The smooth losses are
    minimised by Newton's method; with "l1" on a smooth penalty, :math:`|w_j|` plus a barrier of weight
    :math:`\mu \to 0`, and what is then too small to matter is set to 0.

    Parameters
    ----------
    X : (m, d) array-like
    y : (m,) array-like
        Labels -1 and +1; with a bias both must occur.
    loss : {"hinge", "squared-hinge", "logistic"}
    penalty : {"l2", "l1"}
    C : float, default=1.0
        Positive and finite.
    bias : bool, default=True
    tol : float, default=1e-8
        The relative gap of the certificate. ConvergenceWarning if it is not reached.

    Returns
    -------
    LinearRisk

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [3.0, 0.0], [4.0, 1.0]], [-1, -1, 1, 1]
    >>> for penalty in ("l2", "l1"):
    ...     found = minimise_risk(X, y, loss="squared-hinge", penalty=penalty)
    ...     print(found.weights.round(4), found.certificate.certifies(1e-8))
    [0.6993 0.2797] True
    [0.75 0.  ] True
    """
    bias = switch(bias, "bias")
    points, labels = _sample(X, y, both=bias)
    one_of(loss, "loss", _CONJUGATES)
    one_of(penalty, "penalty", ("l2", "l1"))
    price = number(C, "C", above=0)
    risk = _Risk(points, labels, loss, penalty, price, bias)
    tol = number(tol, "tol", above=0)
    if loss == "hinge":
        found = risk.by_machine(tol) if penalty == "l2" else risk.by_programme()
    else:
        found = risk.by_newton(tol)
    if not found.certificate.certifies(tol):
        warnings.warn(
            f"the risk is not minimised to tol={tol:g}: the relative gap is {found.certificate.gap:.3g}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found


def _entropy(p: Floats) -> Floats:
    found: Floats = entr(p) + entr(1 - p)
    return found


# -L*(-p), the concave gain of a multiplier p = alpha / C
_CONJUGATES: dict[str, Callable[[Floats], Floats]] = {
    "hinge": lambda p: p,
    "squared-hinge": lambda p: p - p * p / 4,
    "logistic": _entropy,
}


class _Risk:
    """One regularised risk: its values, its dual values, and its minimisers."""

    def __init__(self, X: Floats, y: Floats, loss: str, penalty: str, C: float, bias: bool):
        self.X, self.y, self.C, self.bias, self.name = X, y, C, bias, loss
        self.loss = losses.get(loss.replace("-", "_"))
        self.lasso = penalty == "l1"
        self.n_steps = 0

    def primal(self, w: Floats, b: float) -> float:
        norm = float(np.abs(w).sum()) if self.lasso else float(w @ w) / 2
        return norm + self.C * float(self.loss(self.y * (self.X @ w + b)).sum())

    def answer(self, w: Floats, b: float, alpha: Floats) -> LinearRisk:
        """With the certificate of multipliers that are feasible up to rounding, made feasible."""
        alpha = np.maximum(alpha, 0.0)
        if self.name != "squared-hinge":
            alpha = np.minimum(alpha, self.C)
        if self.bias:
            alpha = np.abs(_balanced(alpha, self.y))
        v = self.X.T @ (alpha * self.y)
        if self.lasso:
            shrink = 1 / max(1.0, float(np.abs(v).max()))
            alpha, v = alpha * shrink, np.zeros(1)
        dual = self.C * float(_CONJUGATES[self.name](alpha / self.C).sum()) - float(v @ v) / 2
        return LinearRisk(w, b, Certificate(self.primal(w, b), dual, n_iter=self.n_steps))

    def by_machine(self, tol: float) -> LinearRisk:
        prices = np.full(len(self.y), self.C)
        gram = _gram_of(linear, self.X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said by the caller
            found = _solve(gram, self.y, prices, bias=self.bias, tol=tol / 10, max_iter=10_000_000)
        self.n_steps = found.certificate.n_iter or 0
        return self.answer(self.X.T @ (self.y * found.alpha), found.bias, found.alpha)

    def by_programme(self) -> LinearRisk:
        m, d = self.X.shape
        signed = self.y[:, None] * self.X
        # unknowns: the positive and the negative part of w, b, the slacks
        found = linprog(
            np.r_[np.ones(2 * d), 0.0, np.full(m, self.C)],
            A_ub=hstack([np.hstack([-signed, signed, -self.y[:, None]]), -eye_array(m)], format="csc"),
            b_ub=-np.ones(m),
            bounds=[(0, None)] * (2 * d) + [(None, None) if self.bias else (0, 0)] + [(0, None)] * m,
            method="highs",
            options=_EXACT,
        )
        if found.status != 0:
            raise RuntimeError(f"the linear programme was not solved: {found.message}")
        self.n_steps = int(found.nit)
        w = found.x[:d] - found.x[d : 2 * d]
        b = 0.0
        if self.bias:
            b = sum(_biases(self.y - self.X @ w, self.y, np.full(m, self.C))) / 2
        return self.answer(w, b, -found.ineqlin.marginals)

    # Newton's method, for the smooth losses: in theta = (w, b)

    def by_newton(self, tol: float) -> LinearRisk:
        m, d = self.X.shape
        columns = np.column_stack([self.X, np.ones(m)]) if self.bias else self.X
        signed = self.y[:, None] * columns
        theta = np.zeros(signed.shape[1])
        if not self.lasso:
            basis = None
            if d > m:  # w is a combination of the examples: m coordinates are enough
                basis, triangle = np.linalg.qr(self.X.T)
                signed = self.y[:, None] * np.column_stack([triangle.T, np.ones(m)][: 1 + self.bias])
                theta = np.zeros(signed.shape[1])
            theta = self.newton(signed, theta, lambda w: (float(w @ w) / 2, w, np.ones_like(w)))
            return self.result(signed, theta, basis)

        smoothing, before = 1.0, theta
        while True:
            before, theta = theta, self.newton(signed, theta, partial(_smooth_lasso, smoothing))
            found = self.result(signed, theta)
            if (smoothing < 1.0 and found.certificate.gap <= tol / 4) or smoothing < 1e-15:
                break
            smoothing *= 0.2
        # weights that shrink with the smoothing are zero in the limit; the signs of the others hold, or they
        # are zero too
        kept = np.abs(theta[:d]) > 0.5 * np.abs(before[:d])
        for _ in range(20):
            signs = np.sign(theta[:d][kept])
            columns_kept = np.r_[kept, np.full(int(self.bias), True)]
            sparse = np.zeros_like(theta)
            sparse[columns_kept] = self.newton(
                signed[:, columns_kept],
                theta[columns_kept],
                partial(_signed_sum, signs),
            )
            refined = self.result(signed, sparse)
            if refined.certificate.gap <= tol:
                return refined
            turned = np.sign(sparse[:d]) * np.sign(theta[:d]) < 0
            if not turned.any():
                break
            kept &= ~turned
        return found

    def result(self, signed: Floats, theta: Floats, basis: Floats | None = None) -> LinearRisk:
        w, b = (theta[:-1], float(theta[-1])) if self.bias else (theta, 0.0)
        alpha = -self.C * self.loss.subgradient(signed @ theta)
        return self.answer(w if basis is None else basis @ w, b, alpha)

    def newton(
        self,
        signed: Floats,
        theta: Floats,
        penalty: Callable[[Floats], tuple[float, Floats, Floats]],
    ) -> Floats:
        """Minimise penalty(w) + C sum L; the penalty answers its value, gradient and second derivatives."""
        n = signed.shape[1] - self.bias

        def value(theta: Floats) -> float:
            return penalty(theta[:n])[0] + self.C * float(self.loss(signed @ theta).sum())

        def gradient(theta: Floats) -> Floats:
            found: Floats = self.C * (signed.T @ self.loss.subgradient(signed @ theta))
            found[:n] += penalty(theta[:n])[1]
            return found

        now, slope = value(theta), gradient(theta)
        for _ in range(200 if len(theta) else 0):
            z = signed @ theta
            first = self.loss.subgradient(z)
            bend = self.C * (-first * (1 + first) if self.name == "logistic" else 2.0 * (z < 1))
            hessian = signed.T @ (bend[:, None] * signed)
            hessian[np.diag_indices(n)] += penalty(theta[:n])[2]
            # scaled to a unit diagonal; the ridge is rounding, for directions without curvature
            diagonal = np.diag(hessian)
            unit = np.sqrt(np.maximum(diagonal, 1e-300 + 1e-14 * diagonal.max(initial=0.0)))
            scaled = hessian / unit[:, None] / unit
            scaled[np.diag_indices(len(scaled))] += 1e-13
            try:
                step = -cho_solve(cho_factor(scaled, lower=True), slope / unit) / unit
            except np.linalg.LinAlgError:
                break
            decrease = -float(slope @ step)
            self.n_steps += 1
            t = 1.0
            if decrease > 1e-13 * abs(now):
                while t > 1e-10 and value(theta + t * step) > now - 1e-4 * t * decrease:
                    t /= 2
            ahead = theta + t * step
            further = gradient(ahead)
            # at the bottom the values are equal up to rounding, and the gradient still tells
            if not (
                value(ahead) < now - 1e-13 * abs(now)
                or np.abs(further).max(initial=0.0) < np.abs(slope).max(initial=0.0) / 2
            ):
                break
            theta, now, slope = ahead, value(ahead), further
        return theta


def _smooth_lasso(mu: float, w: Floats) -> tuple[float, Floats, Floats]:
    r"""The least of :math:`\tau - \mu \log(\tau^2 - w^2)` over :math:`\tau > |w|`, and two derivatives."""
    root = np.hypot(mu, w)
    tau = mu + root
    return float((tau - mu * np.log(2 * mu * tau)).sum()), w / tau, mu / (root * tau)


def _signed_sum(signs: Floats, w: Floats) -> tuple[float, Floats, Floats]:
    """The sum of the absolute values while the signs hold, and its two derivatives."""
    return float(signs @ w), signs, np.zeros_like(w)


def _balanced(alpha: Floats, y: Floats) -> Floats:
    """Signed multipliers of sum zero: those of the heavier class are scaled down."""
    beta = y * alpha
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    lighter = min(positive, negative)
    for side, total in ((y > 0, positive), (y < 0, negative)):
        if total > lighter:
            beta[side] *= lighter / total
    return beta
