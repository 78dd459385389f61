r"""Two classes: the support vector machine, hard and soft, with and without bias, with a certificate.

Labels are :math:`y \in \{-1, +1\}`, a machine answers the sign of a score
:math:`f(x) = \langle w, \phi(x) \rangle + b`. The *soft* machine (def-binary-soft) minimises

.. math:: \tfrac12 \|w\|^2 + \sum_i C_i \xi_i, \qquad \xi_i = \max(0, 1 - y_i f(x_i)),

which is its hinge form (thm-binary-hinge); the *hard* machine (def-binary-hard, :math:`C = \infty`) minimises
:math:`\frac12 \|w\|^2` with all :math:`\xi_i = 0`, and has the largest margin (thm-binary-hard). The dual
(thm-kernel-dual) maximises

.. math:: \sum_i \alpha_i - \tfrac12 \alpha^\top Q \alpha, \qquad
   0 \le \alpha_i \le C_i, \quad \sum_i \alpha_i y_i = 0, \quad Q_{ij} = y_i y_j K(x_i, x_j),

without the equation where the machine has no bias (thm-kernel-dual-origin). Every answer comes with the values
of both, so that nobody has to trust the solver.

>>> import numpy as np
>>> from mcutils import binary
>>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
>>> y = np.array([-1, -1, 1, 1])
>>> found = binary.solve_svm(X @ X.T, y, C=np.inf)  # the margin is 1: half the way from 1 to 3
>>> found.alpha.round(6), round(found.bias, 6), found.kinds.tolist()
(array([0. , 0.5, 0.5, 0. ]), -2.0, ['none', 'free', 'free', 'none'])
>>> round(found.certificate.primal, 6), found.certificate.certifies(1e-6)
(0.5, True)
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from .certificate import Certificate

__all__ = ["NotSeparable", "SVMSolution", "solve_svm"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# A Gram matrix of at most so many bytes is kept whole. Of a larger one, so many bytes of rows are kept: those
# that were asked for last.
WHOLE_BYTES = 2**27
CACHE_BYTES = 2**28

# So many coordinates are moved before the gradient of the others is brought up to date.
_BLOCK = 512
# Up to so many free multipliers a Newton step is taken: one Cholesky factor of their Gram matrix.
_NEWTON = 1500


# ---------------------------------------------------------------------------------------------------
# Results


class NotSeparable(ValueError):
    r"""No hyperplane separates the two classes, so that no hard machine exists (prop-binary-separable).

    Attributes
    ----------
    weights : (m,) array
        The certificate: :math:`\lambda \ge 0` with :math:`\sum_i \lambda_i y_i \phi(x_i) = 0`. With a bias
        also :math:`\sum_i \lambda_i y_i = 0` and the weights of each class sum to 1: the same point is a convex
        combination of either class. Without a bias all weights sum to 1.
    distance : float
        The norm of :math:`\sum_i \lambda_i y_i \phi(x_i)`, zero up to rounding.
    """

    def __init__(self, message: str, weights: Floats, distance: float):
        super().__init__(message)
        self.weights = weights
        self.distance = distance


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
        :math:`\xi_i = \max(0, 1 - y_i f(x_i))`; zero for a hard machine.
    kinds : (m,) array of str
        ``"none"`` where :math:`\alpha_i = 0` (the example could be deleted), ``"free"`` where
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
# Gram matrices, whole or by rows


class _Gram:
    """A Gram matrix :math:`(s_i s_j K_{ij})`, whole or as rows that are computed when they are needed."""

    def __init__(
        self,
        diagonal: Floats,
        rows: Callable[[Ints], Floats],
        whole: Floats | None = None,
        cache_bytes: int | None = None,
    ):
        self.diagonal = diagonal
        self.whole = whole
        self._compute = rows
        self._cache: OrderedDict[int, Floats] = OrderedDict()
        row_bytes = 8 * max(1, len(diagonal))
        self._capacity = max(2 * _BLOCK, (CACHE_BYTES if cache_bytes is None else cache_bytes) // row_bytes)

    @classmethod
    def of_matrix(cls, matrix: Floats) -> "_Gram":
        return cls(np.diag(matrix).copy(), lambda indices: matrix[indices], whole=matrix)

    def rows(self, indices: Ints) -> Floats:
        if self.whole is not None:
            return self.whole[indices]
        missing = np.array([i for i in indices.tolist() if i not in self._cache], dtype=np.intp)
        if len(missing):
            for i, row in zip(missing.tolist(), self._compute(missing), strict=True):
                self._cache[i] = row.copy()  # not a view: it would keep the whole block
        found = np.empty((len(indices), len(self.diagonal)))
        for place, i in enumerate(indices.tolist()):
            self._cache.move_to_end(i)
            found[place] = self._cache[i]
        while len(self._cache) > self._capacity:
            self._cache.popitem(last=False)
        return found

    def square(self, indices: Ints) -> Floats:
        if self.whole is not None:
            return self.whole[np.ix_(indices, indices)]
        found = np.empty((len(indices), len(indices)))
        for start in range(0, len(indices), _BLOCK):
            part = slice(start, start + _BLOCK)
            found[part] = self.rows(indices[part])[:, indices]
        return (found + found.T) / 2

    def product(self, beta: Floats) -> Floats:
        """The matrix times a vector, by the rows of its nonzeros."""
        used = np.flatnonzero(beta)
        if self.whole is not None:
            if len(used) == len(beta):
                return self.whole @ beta
            return self.whole[:, used] @ beta[used] if len(used) < len(beta) // 4 else self.whole @ beta
        total = np.zeros(len(beta))
        for start in range(0, len(used), _BLOCK):
            part = used[start : start + _BLOCK]
            total += beta[part] @ self.rows(part)
        return total


# ---------------------------------------------------------------------------------------------------
# Ascent


class _Ascent:
    r"""Maximise :math:`p^\top \beta - \frac12 \beta^\top G \beta` over a box, the sums of groups fixed.

    ``ends`` has the place behind the last coordinate of each group; without groups it is None.
    """

    def __init__(
        self,
        gram: _Gram,
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
        # scale of the curvatures; what is a millionth of a millionth of it is rounding
        self.tiny = 1e-12 * (float(gram.diagonal.max(initial=0.0)) or 1.0)
        self.previous = np.empty(0, dtype=np.intp)
        self.refresh()

    def refresh(self) -> None:
        """The gradient, from scratch."""
        self.error = self.target - self.gram.product(self.beta)

    def groups(self) -> list[slice]:
        if self.ends is None:
            return []
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]

    def badness(self) -> Floats:
        """By how much each coordinate violates optimality, on its own side of the middle of its group."""
        middle = np.zeros(len(self.beta))
        rise, fall = self.beta < self.upper, self.beta > self.lower
        for group in self.groups():
            high = self.error[group][rise[group]].max(initial=-np.inf)
            low = self.error[group][fall[group]].min(initial=np.inf)
            middle[group] = (high + low) / 2 if np.isfinite(high) and np.isfinite(low) else np.nan
        with np.errstate(invalid="ignore"):
            ahead = self.error - middle
        return np.nan_to_num(np.maximum(np.where(rise, ahead, 0.0), np.where(fall, -ahead, 0.0)), nan=0.0)

    def violation(self) -> float:
        bad = float(self.badness().max(initial=0.0))
        return bad if self.ends is None else 2 * bad

    def sweep(self, tolerance: float, most: int) -> bool:
        """Some steps; whether the violation was brought below the tolerance."""
        most = min(most, self.max_iter - self.steps)
        if self.gram.whole is not None and len(self.beta) <= 2 * _BLOCK:
            steps, violation = self._inner(
                self.gram.whole, slice(None), self.ends, self.beta, self.error, tolerance, most
            )
            self.steps += steps
            return violation <= tolerance
        bad = self.badness()
        while True:
            violation = float(bad.max()) * (1 if self.ends is None else 2)
            if violation <= tolerance:
                return True
            if most <= 0:
                return False
            chosen = self._choose(bad)
            ends = None if self.ends is None else np.searchsorted(chosen, self.ends)
            rows = self.gram.rows(chosen)
            beta, error = self.beta[chosen], self.error[chosen]
            steps, _ = self._inner(
                np.ascontiguousarray(rows[:, chosen]),
                chosen,
                ends,
                beta,
                error,
                max(0.1 * violation, 0.5 * tolerance),
                min(most, 20 * _BLOCK),
            )
            self.error -= (beta - self.beta[chosen]) @ rows
            self.beta[chosen] = beta
            self.previous = chosen
            self.steps += steps
            most -= max(steps, 1)
            bad = self.badness()

    def _choose(self, bad: Floats) -> Ints:
        """The worst coordinates, and of the last ones those that are free, then any."""
        block = min(_BLOCK, len(bad))
        worst = np.argpartition(-bad, block // 2 - 1)[: block // 2]
        chosen = set(worst[bad[worst] > 0].tolist())
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
        from .jit import smo

        box = self.lower[chosen], self.upper[chosen]
        if ends is None:
            found = smo.singles(square, *box, beta, error, tolerance, self.tiny, most)
        else:
            found = smo.pairs(square, *box, ends, beta, error, tolerance, self.tiny, most)
        return int(found[0]), float(found[1])

    def newton(self, most: int = 10) -> None:
        """Newton steps on the free coordinates, each as far as the box allows: they end in one where
        the steps of the ascent creep along a valley."""
        for _ in range(most):
            free = np.flatnonzero((self.beta > self.lower) & (self.beta < self.upper))
            if self.steps >= self.max_iter or not len(free) or len(free) > _NEWTON:
                return
            direction = self._newton_direction(free)
            if direction is None:
                return
            slope = float(self.error[free] @ direction)
            move = np.zeros(len(self.beta))
            move[free] = direction
            change = self.gram.product(move)
            curvature = float(direction @ change[free])
            if not (np.isfinite(curvature) and slope > 0):
                return
            beta = self.beta[free]
            with np.errstate(divide="ignore", over="ignore"):
                room = np.where(
                    direction > 0,
                    (self.upper[free] - beta) / np.where(direction > 0, direction, 1.0),
                    (self.lower[free] - beta) / np.where(direction < 0, direction, -1.0),
                )
            room[direction == 0] = np.inf
            wanted = slope / curvature if curvature > 0 else np.inf
            t = min(wanted, float(room.min()))
            if not np.isfinite(t) or t <= 0:
                return
            moved = np.clip(beta + t * direction, self.lower[free], self.upper[free])
            stopped = room <= t
            moved[stopped] = np.where(direction > 0, self.upper[free], self.lower[free])[stopped]
            self.beta[free] = moved
            self.error -= t * change
            self.steps += 1
            if not stopped.any():
                return

    def _newton_direction(self, free: Ints) -> Floats | None:
        square = self.gram.square(free)
        # a ridge below rounding: where the matrix is singular the step is long, and the box ends it
        square[np.diag_indices(len(free))] += self.tiny
        error = self.error[free]
        constraints = np.zeros((len(free), 0))
        if self.ends is not None:
            group = np.searchsorted(self.ends, free, side="right")
            constraints = (group[:, None] == np.unique(group)).astype(np.float64)
            size = constraints.sum(axis=0)
            error = error - constraints @ ((constraints.T @ error) / size)  # the same step, fewer digits lost
        try:
            factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        solved = cho_solve(factor, np.column_stack([error, constraints]), check_finite=False)
        direction: Floats = solved[:, 0]
        if self.ends is not None:
            shift = np.linalg.lstsq(constraints.T @ solved[:, 1:], constraints.T @ direction, rcond=None)[0]
            direction = direction - solved[:, 1:] @ shift
            direction -= constraints @ (
                (constraints.T @ direction) / size
            )  # the sums stay, to the last digit
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
    matrix = _check_gram(gram)
    labels = _check_labels(y, len(matrix))
    return _solve(
        _Gram.of_matrix(matrix),
        labels,
        _check_prices(C, labels, bias),
        bias=bias,
        tol=_check_tol(tol),
        max_iter=_check_max_iter(max_iter),
        initial=None if initial is None else _vector(initial, "initial", len(labels)),
    )


def _check_gram(gram: ArrayLike) -> Floats:
    matrix = np.asarray(gram)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"gram must be a square matrix, found shape {matrix.shape}")
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"gram must hold real numbers, found entries of type {matrix.dtype}")
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("gram must be finite, found NaN or infinity")
    diagonal = np.diag(matrix)
    rounding = 8 * len(matrix) * _EPS * float(np.abs(diagonal).max())
    if diagonal.min() < -rounding:
        i = int(diagonal.argmin())
        raise ValueError(
            f"gram is no Gram matrix: its entry ({i}, {i}), counted from 0, is {diagonal[i]:.4g}"
        )
    root = np.sqrt(np.maximum(diagonal, 0.0))
    for start in range(0, len(matrix), _BLOCK):
        rows = slice(start, start + _BLOCK)
        skew = np.abs(matrix[rows] - matrix[:, rows].T)
        excess = np.abs(matrix[rows]) - root[rows, None] * root
        for fault, says in ((skew, "is not that of its mirror"), (excess, "is beyond its diagonal")):
            if fault.max() > rounding:
                i, j = np.unravel_index(int(fault.argmax()), fault.shape)
                raise ValueError(
                    f"gram is no Gram matrix: its entry ({i + start}, {j}), counted from 0, {says} "
                    f"by {fault.max():.3g}"
                )
    return matrix


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


def _check_tol(tol: float) -> float:
    if isinstance(tol, (bool, np.bool_)) or not isinstance(tol, (int, float, np.number)) or not tol > 0:
        raise ValueError(f"tol must be a positive number, found {tol!r}")
    return float(tol)


def _check_max_iter(max_iter: int) -> int:
    if not isinstance(max_iter, (int, np.integer)) or isinstance(max_iter, bool) or max_iter < 1:
        raise ValueError(f"max_iter must be an integer, at least 1, found {max_iter!r}")
    return int(max_iter)


def _solve(
    gram: _Gram,
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
    r"""All b that minimise :math:`\sum_i C_i \max(0, 1 - y_i (g_i + b))`, given the kinks :math:`y_i - g_i`."""
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
        stacklevel=4,
    )


def _solve_soft(
    gram: _Gram, y: Floats, prices: Floats, *, bias: bool, tol: float, max_iter: int, initial: Floats | None
) -> SVMSolution:
    m = len(y)
    lower, upper = np.minimum(0.0, y * prices), np.maximum(0.0, y * prices)
    beta = np.zeros(m) if initial is None else _start(initial, y, prices, bias)
    ascent = _Ascent(gram, y, lower, upper, np.array([m]) if bias else None, beta, max_iter)

    def evaluate() -> tuple[float, float, float, tuple[float, float]]:
        kinks = ascent.error  # y - <w, phi>
        free = (ascent.beta > lower) & (ascent.beta < upper)
        interval, b = (0.0, 0.0), 0.0
        if bias:
            interval = _biases(kinks, y, prices)
            b = (interval[0] + interval[1]) / 2
            if free.any():
                b = float(np.clip(kinks[free].mean(), *interval))
                interval = (b, b)
        square = float(ascent.beta @ (y - kinks))  # |w|^2
        slack = np.maximum(0.0, y * (kinks - b))  # 1 - y (g + b) = y (kink - b)
        primal = 0.5 * square + float(prices @ slack)
        dual = float(ascent.beta @ y) - 0.5 * square
        return primal, dual, b, interval

    # 1 is the violation of the start; the gap is at most the violation times the sum of prices
    tolerance, stalled, best = 0.5, 0, np.inf
    while True:
        reached = ascent.sweep(tolerance, 5 * m + 2000)
        if not reached:
            ascent.newton()
        ascent.refresh()
        primal, dual, b, interval = evaluate()
        gap = primal - dual
        if gap <= tol * primal or ascent.steps >= max_iter:
            break
        if reached:
            ascent.newton()
            tolerance *= 0.2
        # rounding ends progress where the violation is a few units in the last place
        stalled = stalled + 1 if reached and gap >= 0.5 * best else 0
        best = min(best, gap)
        if tolerance < 1e-15 or stalled > 12:
            break
    return _finish_soft(ascent, y, prices, evaluate, bias=bias, tol=tol)


def _finish_soft(
    ascent: _Ascent,
    y: Floats,
    prices: Floats,
    evaluate: Callable[[], tuple[float, float, float, tuple[float, float]]],
    *,
    bias: bool,
    tol: float,
) -> SVMSolution:
    violation = ascent.violation()
    primal, dual, b, interval = evaluate()
    alpha = y * ascent.beta + 0.0  # no minus zero
    converged = primal - dual <= tol * primal
    if not converged:
        _warn((primal - dual) / primal, tol, ascent.steps)
    kkt = {"violation": violation}
    if bias:
        kkt["balance"] = abs(float(ascent.beta.sum()))
    scores = y - ascent.error + b
    return SVMSolution(
        alpha=alpha,
        bias=b,
        bias_interval=interval,
        scores=scores,
        slack=np.maximum(0.0, 1.0 - y * scores),
        kinds=_kinds(alpha, prices),
        support=np.flatnonzero(alpha > 0),
        certificate=Certificate(primal, dual, kkt, ascent.steps),
        converged=converged,
    )


def _start(initial: Floats, y: Floats, prices: Floats, bias: bool) -> Floats:
    """Multipliers inside the box; with a bias, the heavier class is scaled down to balance the lighter."""
    alpha = np.clip(initial, 0.0, prices)
    if bias:
        positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
        lighter = min(positive, negative)
        for side, total in ((y > 0, positive), (y < 0, negative)):
            if total > lighter:
                alpha[side] *= lighter / total
    return y * alpha


def _solve_hard(
    gram: _Gram, y: Floats, used: NDArray[np.bool_], *, bias: bool, tol: float, max_iter: int
) -> SVMSolution:
    # lambda >= 0 on the examples in use, those of a group sum to 1; of Q, whose rows have signs
    order = np.flatnonzero(used)
    order = order[np.argsort(y[order], kind="stable")]
    s = y[order]
    split = int((s < 0).sum())
    if gram.whole is not None:
        ordered = _Gram.of_matrix(s[:, None] * s * gram.whole[np.ix_(order, order)])
    else:
        ordered = _Gram(
            gram.diagonal[order],
            lambda indices: s[indices, None] * s * gram.rows(order[indices])[:, order],
            cache_bytes=0,
        )
    n = len(order)
    ends = np.array([split, n] if bias else [n])
    weights = np.zeros(n)
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        weights[start] = 1.0
    ascent = _Ascent(ordered, np.zeros(n), np.zeros(n), np.full(n, np.inf), ends, weights, max_iter)
    # what rounding of a Gram matrix makes of a square that is 0
    scale = float(ordered.diagonal.max())
    nothing = 16 * _EPS * n * scale

    tolerance, stalled, best = 0.5 * scale, 0, np.inf
    while True:
        reached = ascent.sweep(tolerance, 5 * n + 2000)
        ascent.newton()
        ascent.refresh()
        g = -ascent.error  # y <w, phi>
        square = float(ascent.beta @ g)
        lowest = [float(part.min()) for part in np.split(g, ends[:-1])]
        margin = sum(lowest) / len(lowest)  # of w and the best bias
        if margin > 0:
            # w / margin is feasible; of the multiples of lambda the dual's best is 2 / |w|^2 (1 without groups)
            total = float(len(ends))
            primal, dual = 0.5 * square / margin**2, 0.5 * total**2 / square
        if margin > 0 and (primal - dual <= tol * primal or ascent.steps >= max_iter):
            break
        if margin <= 0 and square <= nothing:
            _refuse(ascent, order, y, bias)
        if reached:
            tolerance = min(0.2 * tolerance, 0.2 * max(square, nothing))
        gap = square - sum(lowest)
        stalled = stalled + 1 if reached and gap >= 0.5 * best else 0
        best = min(best, gap)
        if stalled > 12 or ascent.steps >= max_iter:
            if margin > 0:
                break
            _refuse(ascent, order, y, bias)
    converged = primal - dual <= tol * primal
    if not converged:
        _warn((primal - dual) / primal, tol, ascent.steps)
    alpha = np.zeros(len(y))
    alpha[order] = ascent.beta / margin
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


def _refuse(ascent: _Ascent, order: Ints, y: Floats, bias: bool) -> None:
    for _ in range(3):  # the two points are brought together as far as their digits go
        ascent.newton()
        ascent.refresh()
    distance = max(float(-ascent.beta @ ascent.error), 0.0) ** 0.5
    full = np.zeros(len(y))
    full[order] = ascent.beta
    involved = int((full > 0).sum())
    raise NotSeparable(
        "the classes are not separable by a hyperplane "
        + ("with bias: a convex combination of each" if bias else "through the origin: a convex combination")
        + f" ({involved} examples in all) is "
        + ("the same point" if bias else "the origin")
        + f" up to {distance:.2g}",
        full,
        distance,
    )
