"""The support vector machine of a Gram matrix, soft and hard, with its certificate."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import array, gram_matrix, integer, number, switch
from .._progress import Log
from .._rows import Gram
from .._typing import Bools, Floats, Ints
from .._warnings import warn
from ..certificate import Certificate
from ._ascent import Ascent

_EPS = float(np.finfo(np.float64).eps)

# A sweep is idle that brings the dual by less than this part of the gap nearer. After 25 in a row it ends.
_IDLE = 1e-9


class NotSeparable(ValueError):
    r"""No hyperplane separates the two classes, so that no hard-margin SVM exists (prop-binary-separable).

    It is known of a Gram matrix up to its rounding, and ``largest_margin`` bounds what that leaves open;
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
        less, as many distinct points by the RBF kernel, cannot be distinguished from what is not.
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
    r"""A solved classifier, on its sample; see :func:`solve_svm`.

    Attributes
    ----------
    alpha : (m,) array
        Multipliers; :math:`w = \sum_i \alpha_i y_i \phi(x_i)`.
    intercept : float
        :math:`b`, with this w optimal; 0.0 for a classifier without bias.
    intercept_interval : (float, float)
        All optimal biases with this w: one point twice, except where no multiplier is free
        (cor-kernel-bias).
    scores : (m,) array
        :math:`f(x_i)`, the bias included.
    slack : (m,) array
        :math:`\xi_i = \max(0, 1 - y_i f(x_i))` (prop-binary-cases); zero for a hard-margin SVM.
    kinds : (m,) array of str
        ``"none"`` where :math:`\alpha_i = 0` (prop-kernel-support: it could be deleted), ``"free"`` where
        :math:`0 < \alpha_i < C_i` (it lies on the margin, :math:`y_i f(x_i) = 1`), ``"bound"`` where
        :math:`\alpha_i = C_i > 0` (on the margin or beyond, :math:`y_i f(x_i) \le 1`). A hard-margin SVM has
        no bound. Multipliers need not be unique, so neither are the kinds: of two equal examples either may
        carry both.
    support : (s,) int array
        Indices of the support vectors, those of :math:`\alpha_i > 0`.
    certificate : Certificate
        Primal value at (w, b), dual value at :math:`\alpha` (for a hard-margin SVM at its best multiple); in
        ``kkt`` the ``violation`` of the optimality conditions and the ``balance``
        :math:`|\sum_i \alpha_i y_i|` (with a bias). ``n_iter`` counts steps.
    converged : bool
        Whether primal and dual differ by at most ``tol`` times the primal.
    """

    alpha: Floats
    intercept: float
    intercept_interval: tuple[float, float]
    scores: Floats
    slack: Floats
    kinds: NDArray[np.str_]
    support: Ints
    certificate: Certificate
    converged: bool


def solve_svm(
    gram: ArrayLike | Gram,
    y: ArrayLike,
    *,
    C: float | ArrayLike = 1.0,
    fit_intercept: bool = True,
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
        Penalty of the slack, of all examples or of each. ``inf`` is the hard-margin SVM; in an array the
        other entries must then be ``inf`` or 0. An example of :math:`C_i = 0` is ignored.
    fit_intercept : bool, default=True
        Whether the classifier has a bias.
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
        The hard-margin SVM does not exist.
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
    the minimisers may be an interval, which is returned too, and b is its middle (cor-kernel-bias). Both
    classes have a positive C, so it is bounded.

    *Rounding*: where the multiples of kernel values are so large that their rounding would count in the gap,
    the scores are computed in twice the digits. So the values of the certificate are those of the Gram matrix
    as it was given. Its own rounding, as that of :math:`K(x, z)` far from the origin, is not known here.

    *The hard-margin SVM* is found as the nearest points of the convex hulls of the two classes (without
    bias, the point of the hull of all :math:`y_i \phi(x_i)` that is nearest to the origin). Their distance is
    known from both sides: if w separates, the classes are separable and the classifier is w, scaled; if the
    points meet, up to what rounding of the Gram matrix explains, the classes are not.

    Examples
    --------
    Two points, one of each class, at 0 and 1; the hard-margin SVM has :math:`\alpha = (2, 2)`:

    >>> import numpy as np
    >>> gram = np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> soft = solve_svm(gram, [-1, 1], C=0.5)
    >>> soft.alpha, soft.kinds.tolist(), soft.intercept_interval
    (array([0.5, 0.5]), ['bound', 'bound'], (-1.0, 0.5))
    >>> solve_svm(gram, [-1, 1], C=3.0).alpha
    array([2., 2.])

    Two examples at the same place:

    >>> solve_svm(np.ones((2, 2)), [-1, 1], C=np.inf)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mcutils.binary.NotSeparable: the classes are not separable by a hyperplane with bias: ...
    """
    fit_intercept = switch(fit_intercept, "fit_intercept")
    rows = gram if isinstance(gram, Gram) else Gram.of_matrix(gram_matrix(gram))
    labels = signed_labels(y, len(rows.diagonal))
    return solve(
        rows,
        labels,
        checked_penalties(C, labels, fit_intercept),
        fit_intercept=fit_intercept,
        tol=number(tol, "tol", above=0),
        max_iter=integer(max_iter, "max_iter", 1),
        initial=None if initial is None else _vector(initial, "initial", len(labels)),
    )


def _vector(values: ArrayLike, name: str, m: int) -> Floats:
    vector = array(values, name)
    if vector.shape != (m,) or vector.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must have one number for each of {m} examples, found shape {vector.shape} "
            f"of type {vector.dtype}"
        )
    vector = vector.astype(np.float64)
    if np.isnan(vector).any():
        raise ValueError(f"{name} must be numbers, found NaN")
    return vector


def signed_labels(y: ArrayLike, m: int) -> Floats:
    """The labels of m examples, -1 and +1, as floats."""
    labels = _vector(y, "y", m)
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError(f"y must have labels -1 and +1, found {np.unique(labels)[:5].tolist()}")
    return labels


def checked_penalties(C: float | ArrayLike, labels: Floats, fit_intercept: bool) -> Floats:
    """C of each example."""
    penalties = array(C, "C")
    if penalties.dtype.kind not in "uif" or penalties.ndim > 1:
        raise ValueError(f"C must be a positive number, or one of at least 0 for each example, found {C!r}")
    if penalties.ndim == 0:
        if not penalties > 0:
            raise ValueError(f"C must be a positive number or inf, found {C!r}")
        penalties = np.full(len(labels), float(penalties))
    penalties = _vector(penalties, "C", len(labels))
    if penalties.min() < 0 or not penalties.max() > 0:
        raise ValueError("C must be at least 0 for each example, and positive for some")
    endless = np.isinf(penalties)
    if endless.any() and not (endless | (penalties == 0)).all():
        raise ValueError("C must be finite for all examples, or inf for all but those of C = 0")
    if fit_intercept:
        present = np.unique(labels[penalties > 0])
        if len(present) < 2:
            raise ValueError(
                "with a bias, y must have both labels among the examples of C > 0, "
                f"found only {present[0]:+g}: every large bias of that sign would be optimal"
            )
    return penalties


def solve(
    gram: Gram,
    y: Floats,
    penalties: Floats,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    initial: Floats | None = None,
    log: Log | None = None,
) -> SVMSolution:
    """The classifier of a Gram matrix that is whole or by rows; all arguments are checked already."""
    log = log or Log()
    if np.isinf(penalties).any():
        return _solve_hard(
            gram, y, penalties > 0, fit_intercept=fit_intercept, tol=tol, max_iter=max_iter, log=log
        )
    return _solve_soft(
        gram, y, penalties, fit_intercept=fit_intercept, tol=tol, max_iter=max_iter, initial=initial, log=log
    )


def optimal_biases(kinks: Floats, y: Floats, penalties: Floats) -> tuple[float, float]:
    r"""All b that minimise :math:`\sum_i C_i \max(0, 1 - y_i (g_i + b))`; the kinks are :math:`y_i - g_i`."""
    used = np.flatnonzero(penalties > 0)
    order = used[np.argsort(kinks[used], kind="stable")]
    # the slope in b is the sum of C over the kinks passed, less that over the positive examples
    passed = np.cumsum(penalties[order])
    turn = penalties[y > 0].sum()
    rounding = 4 * len(y) * _EPS * passed[-1]
    low = int(np.argmax(passed >= turn - rounding))
    high = int(np.argmax(passed > turn + rounding))
    return float(kinks[order[low]]), float(kinks[order[high]])


def _kinds(alpha: Floats, penalties: Floats) -> NDArray[np.str_]:
    return np.where(alpha == 0, "none", np.where(alpha < penalties, "free", "bound"))


def _warn(gap: float, tol: float, steps: int) -> None:
    warn(
        f"the SVM is not solved to tol={tol:g}: primal and dual differ by {gap:.3g} of the primal "
        f"after {steps} steps",
    )


def _solve_soft(
    gram: Gram,
    y: Floats,
    penalties: Floats,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    initial: Floats | None,
    log: Log,
) -> SVMSolution:
    m = len(y)
    lower, upper = np.minimum(0.0, y * penalties), np.maximum(0.0, y * penalties)
    beta = np.zeros(m)
    if initial is not None:
        inside = np.clip(initial, 0.0, penalties)
        # what is balanced up to rounding is left alone: multipliers at a bound must stay exactly there
        uneven = fit_intercept and abs(float(y @ inside)) > 1e-12 * float(inside.sum())
        beta = balanced(inside, y) if uneven else y * inside
    ascent = Ascent(gram, y, lower, upper, np.array([m]) if fit_intercept else None, beta, max_iter)

    # 1 is the violation of the start; the gap is at most the violation times the sum of penalties
    tolerance, patience, stalled, best, top = 0.5, m + 200, 0, np.inf, -np.inf
    while True:
        reached = ascent.sweep(tolerance, patience)
        if not reached:
            patience = min(2 * patience, 5 * m + 2000)
            ascent.newton()
        ascent.refresh()
        kinks = ascent.error  # y - <w, phi>
        b, interval = _best_bias(ascent.beta, kinks, y, penalties) if fit_intercept else (0.0, (0.0, 0.0))
        square = float(ascent.beta @ (y - kinks))  # |w|^2
        scores = y - kinks + b
        slack = np.maximum(0.0, y * (kinks - b))  # 1 - y (y - kink + b)
        primal = 0.5 * square + float(penalties @ slack)
        dual = float(ascent.beta @ y) - 0.5 * square
        # where rounding of the scores costs as much as a gap would, they are computed with more digits
        rounding = np.where(ascent.beta != 0, penalties, 0.0) @ gram.rounding(ascent.beta)
        if not ascent.precise and rounding > 0.1 * tol * primal:
            ascent.precise = True
            continue
        gap = primal - dual
        if not np.isfinite(gap):
            raise ValueError(
                "C and the kernel must leave primal and dual finite, "
                f"found {primal:.3g} and {dual:.3g}: scale the inputs, or decrease C"
            )
        log.values(ascent.steps, primal, dual)
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

    log.close()
    converged = gap <= tol * primal
    if not converged:
        _warn(gap / primal, tol, ascent.steps)
    alpha = y * ascent.beta + 0.0  # no minus zero
    kkt = {"violation": ascent.violation()}
    if fit_intercept:
        kkt["balance"] = abs(float(ascent.beta.sum()))
    return SVMSolution(
        alpha=alpha,
        intercept=b,
        intercept_interval=interval,
        scores=scores,
        slack=slack,
        kinds=_kinds(alpha, penalties),
        support=np.flatnonzero(alpha > 0),
        certificate=Certificate(primal, dual, kkt, ascent.steps),
        converged=converged,
    )


def _best_bias(
    beta: Floats, kinks: Floats, y: Floats, penalties: Floats
) -> tuple[float, tuple[float, float]]:
    """The bias, and all that are as good: see the notes of :func:`solve_svm`."""
    interval = optimal_biases(kinks, y, penalties)
    free = (beta != 0) & (np.abs(beta) < penalties)
    if not free.any():
        return (interval[0] + interval[1]) / 2, interval
    b = float(np.clip(kinks[free].mean(), *interval))
    return b, (b, b)


def _solve_hard(
    gram: Gram, y: Floats, used: Bools, *, fit_intercept: bool, tol: float, max_iter: int, log: Log
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
                s[rows, None] * s[columns] * gram.values(order[rows], order[columns]), -2 * root
            ),
        )
    n = len(order)
    ends = np.array([split, n] if fit_intercept else [n])
    weights = np.zeros(n)
    weights[[0, *ends[:-1]]] = 1.0
    ascent = Ascent(ordered, np.zeros(n), np.zeros(n), np.full(n, np.inf), ends, weights, max_iter)
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
            log.values(ascent.steps, *_unscaled(primal, dual, root))
            if primal - dual <= tol * primal:
                break
        elif square <= nothing:
            raise _not_separable(ascent, order, y, fit_intercept, root)
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
    log.close()
    converged = primal - dual <= tol * primal
    if not converged:
        _warn((primal - dual) / primal, tol, ascent.steps)
    primal, dual = _unscaled(primal, dual, root)
    if primal == np.inf:
        raise ValueError("gram is so small that the multipliers leave the range of floating point; scale it")
    alpha = np.zeros(len(y))
    alpha[order] = np.ldexp(ascent.beta / margin, -2 * root)
    # for scores of every example, those of C = 0 included
    inner = gram.product(y * alpha)
    b = 0.0
    if fit_intercept:
        f = inner[order]
        b = -(float(f[split:].min()) + float(f[:split].max())) / 2
    scores = inner + b
    kkt = {"violation": ascent.violation() / square}
    if fit_intercept:
        kkt["balance"] = abs(float(y @ alpha))
    return SVMSolution(
        alpha=alpha,
        intercept=b,
        intercept_interval=(b, b),
        scores=scores,
        slack=np.where(used, 0.0, np.maximum(0.0, 1.0 - y * scores)),
        kinds=_kinds(alpha, np.full(len(y), np.inf)),
        support=np.flatnonzero(alpha > 0),
        certificate=Certificate(primal, dual, kkt, ascent.steps),
        converged=converged,
    )


def _unscaled(primal: float, dual: float, root: int) -> tuple[float, float]:
    """Two values of a Gram matrix from those of the scaled one."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(primal, -2 * root)), float(np.ldexp(dual, -2 * root))


def _not_separable(ascent: Ascent, order: Ints, y: Floats, fit_intercept: bool, scale: int) -> NotSeparable:
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
        + (
            "with bias: a convex combination of each"
            if fit_intercept
            else "through the origin: a convex combination"
        )
        + f" ({involved} examples in all) is "
        + ("the same point" if fit_intercept else "the origin")
        + f" up to {distance:.2g}, so no margin exceeds {largest:.2g}",
        full,
        distance,
        largest,
    )


def balanced(alpha: Floats, y: Floats) -> Floats:
    """Signed multipliers of sum zero: those of the heavier class are scaled down."""
    beta = y * alpha
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    lighter = min(positive, negative)
    for side, total in ((y > 0, positive), (y < 0, negative)):
        if total > lighter:
            beta[side] *= lighter / total
    return beta
