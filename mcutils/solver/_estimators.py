"""The estimators of Crammer and Singer and of Weston and Watkins."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from numbers import Integral, Real
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _hinge, _rows
from .._checks import gram_matrix, one_of, switch
from .._rows import LinearGram, WholeGram, WorkingSet, is_precomputed
from .._weights import example_weights, times_class_weight
from ..certificate import Certificate
from ..dual import feasible, quadratic_program
from ..kernel import Kernel, check_psd, linear, resolve

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

SOLVERS = ("block", "interior", "qp")
PRECISIONS = ("auto", "single", "double")

# A sweep moves the examples that violate more than this part of the worst.
_GREED = 0.6
# The working set grows when others owe more than this part of the gap, and what it owes itself has fallen to
# that part, or as many examples were moved as it has, since it last changed. When its rows fill the room for
# them, a quarter is exchanged instead.
_SHARE, _SHRUNK = 0.5, 0.5
# A move of one example counts as so many operations for each example.
_MOVE = 5.0
# Up to so many free multipliers a Newton step is taken.
_NEWTON = 1500
# So much work of Newton steps is always allowed, and more each time, or where the ascent has taken more.
_CHEAP = 2e6
# Newton's steps are tried after so many passes of a linear machine over its examples, then a tenth later.
_PATIENCE = 200
# After so many passes what was left out is looked at again. After so many times as many moves as there are
# examples Newton's steps are tried for a kernel machine.
_ROUND = 50
# What was left out is looked at before that, too, when the gap seems to have fallen to this part of it; but
# not before so many times as many visits as there are examples.
_FALL, _LEAST = 0.3, 2
# Rounds that neither halve the gap nor raise the dual by this part of it are idle; after 25 in a row it ends.
_IDLE = 1e-6


@dataclass(frozen=True, eq=False)
class Solution:
    r"""What a solver found.

    Attributes
    ----------
    multipliers : (m, k) array
        :math:`\alpha`, feasible; for the true class the sum of the others.
    certificate : Certificate
        Primal and dual value of the machine that they make, and the residuals of :func:`mcutils.dual.kkt`.
        ``n_iter`` counts the steps of an interior-point method, or how many times m examples were moved.
    converged : bool
        Whether the relative gap is at most ``tol``.
    """

    multipliers: Floats
    certificate: Certificate
    converged: bool


# ---------------------------------------------------------------------------------------------------
# Ascent


class _Task:
    """The checked problem, without the examples: every row moves by itself."""

    def __init__(self, loss: str, setting: _hinge.Setting, k: int):
        self.loss, self.setting = loss, setting
        self.labels, self.prices = setting.labels, setting.prices
        self.every = loss == "weston-watkins"
        self.costs = 1.0 - np.eye(k) if setting.costs is None else setting.costs
        self.k = k

    def multipliers(self, beta: Floats) -> Floats:
        """Those of coefficients, 0 for the true class."""
        A = np.maximum(-beta, 0.0)
        A[np.arange(len(A)), self.labels] = 0.0
        return A

    def tidy(self, beta: Floats) -> Floats:
        """Coefficients whose rows sum to 0, from such up to rounding."""
        return _hinge.coefficients(self.multipliers(beta), self.labels)

    def certificate(self, beta: Floats, scores: Floats, curvatures: Floats, n_iter: int) -> Certificate:
        squares = np.einsum("ir,ir->r", beta, scores)
        # what rounding may make of terms that are no larger than those of the sum of all norms, squared
        norms = np.sqrt(np.maximum(curvatures, 0.0)) @ np.abs(beta)
        rounding = 8 * float(np.finfo(np.float64).eps) * float((norms**2).max())
        if squares.min() < -rounding:
            raise ValueError(
                "kernel must be positive semidefinite, found a combination of the examples with the square "
                f"{squares.min():.4g}: mcutils.kernel.check_psd shows a negative eigenvalue"
            )
        return _hinge.certificate(self.multipliers(beta), scores, self.setting, self.loss, n_iter)

    def free(self, beta: Floats, rows: Indices) -> NDArray[np.bool_]:
        """Which coefficients of some rows have room on both sides."""
        part, price = beta[rows], self.prices[rows][:, None]
        true = self.labels[rows][:, None] == np.arange(self.k)
        if self.every:
            inside: NDArray[np.bool_] = (part < 0) & (part > -price) & ~true
            return np.asarray(inside | (true & inside.any(axis=1, keepdims=True)))
        return np.asarray(part < np.where(true, price, 0.0))


class _Progress:
    """Whether there is any, seen by the certificates."""

    def __init__(self) -> None:
        self.gap, self.dual, self.idle = np.inf, -np.inf, 0

    def ended(self, primal: float, dual: float) -> bool:
        """After another round."""
        gap = primal - dual
        gained = dual - self.dual > _IDLE * gap or gap <= 0.5 * self.gap
        self.idle = 0 if gained else self.idle + 1
        self.gap, self.dual = min(self.gap, gap), max(self.dual, dual)
        return self.idle > 25


def _climb(
    gram: WholeGram | WorkingSet, task: _Task, tol: float, max_iter: int, beta: Floats
) -> tuple[Floats, Certificate]:
    """The block ascent of a kernel machine.

    Each round moves examples, and changes the working set in between. It ends where the gap is small, where
    nothing moves or where enough was moved, with the certificate and Newton's steps. All loops end: between
    two changes of the working set an example moves, moves and changes are counted, rounds too, and rounds
    without progress are few.
    """
    from ..jit import multiclass as compiled

    m, kind = len(beta), gram.rows.dtype
    curvatures = np.where(gram.curvatures > 1e-12 * gram.curvatures.max(initial=0.0), gram.curvatures, 0.0)
    costs, prices, labels = task.costs, task.prices, task.labels
    upper, lower = np.empty((task.k, m), kind), np.empty((task.k, m), kind)
    violated = np.zeros(m, kind)
    scores = gram.product(beta)
    if isinstance(gram, WorkingSet):
        spread = np.argsort(labels, kind="stable")[np.linspace(0, m - 1, min(m, _rows.FIRST)).astype(np.intp)]
        gram.take(np.unique(spread), violated)
    left, budget = max_iter * m, _ROUND * m
    progress, goal, steps = _Progress(), tol, 0
    work, cheap = 0.0, _CHEAP
    for rounds in itertools.count(1):
        before, entered = steps, 0
        table = np.ascontiguousarray(scores.T, dtype=kind)
        compiled.open_sides(beta, labels, prices, costs, task.every, upper, lower)
        while True:
            done, primal, dual, outside = compiled.climb(
                gram.rows,
                gram.places,
                gram.member,
                curvatures,
                labels,
                prices,
                costs,
                task.every,
                _GREED,
                goal,
                _SHARE,
                _SHRUNK,
                min(budget, left - steps),
                beta,
                table,
                upper,
                lower,
                violated,
            )
            steps += done
            gap = primal - dual
            if gap <= goal * max(1.0, primal) or steps >= left or not outside > _SHARE * gap:
                break
            if entered and not done:  # nothing could be done with those that entered
                break
            entered = gram.more(violated)
            if not entered:
                break
            steps += entered
        beta = task.tidy(beta)
        scores = gram.product(beta)
        found = task.certificate(beta, scores, gram.curvatures, max(1, ceil(steps / m)))
        spent = steps >= left or rounds >= max_iter
        if found.gap <= tol or spent or progress.ended(found.primal, found.dual):
            break
        goal = min(goal, 0.5 * tol)
        if isinstance(gram, WorkingSet) and kind == np.float32 and progress.idle > 1:
            gram, kind = gram.doubled(), np.dtype(np.float64)
            upper, lower, violated = upper.astype(kind), lower.astype(kind), violated.astype(kind)
        elif gap > goal * max(1.0, primal):  # the ascent has stalled
            work += _MOVE * m * (steps - before)
            if _newton(gram, task, beta, scores, min(max(work, cheap), _MOVE * m * (left - steps))):
                scores, work = gram.product(beta), 0.0
            else:
                budget *= 2
            cheap *= 2
    return beta, found


def _newton_work(size: int) -> float:
    return size**3 / 24 + 30 * size**2


def _newton(gram: Any, task: _Task, beta: Floats, scores: Floats, budget: float) -> bool:
    """Newton steps on the coefficients that have room on both sides; each as far as the bounds allow.

    The last one, that no bound stops, ends where single rows would creep along a valley. The others bring a
    coefficient to its bound each. The budget is of operations of the ascent, which take longer than those of
    a factorisation.
    """
    rows = np.flatnonzero(beta.any(axis=1))
    free = task.free(beta, rows)
    rows = rows[free.sum(axis=1) > 1]
    size = int(task.free(beta, rows).sum()) - len(rows)
    if not 0 < size <= _NEWTON or _newton_work(size) > budget:
        return False
    square = gram.square(rows)
    tiny = 1e-12 * (float(np.diag(square).max()) or 1.0)
    appeal = scores[rows] + task.costs[task.labels[rows]]
    own, labels, prices = beta[rows], task.labels[rows], task.prices[rows]
    true = labels[:, None] == np.arange(task.k)
    high = np.where(true, np.inf if task.every else prices[:, None], 0.0)
    low = np.where(true | (not task.every), -np.inf, -prices[:, None])
    moved = False
    for _ in range(len(rows) * task.k):
        free = (own < high) & (own > low)
        # what the others of a row gain, one of them loses: the true class, or that which has most room
        base = np.where(task.every | free[true], labels, np.where(free, own, np.inf).argmin(axis=1))
        free[np.arange(len(rows)), base] = False
        i, r = np.nonzero(free)
        budget -= _newton_work(len(i))
        if not len(i) or budget < 0:
            break
        b = base[i]
        signs = (
            (r[:, None] == r).astype(np.float64) - (r[:, None] == b) - (b[:, None] == r) + (b[:, None] == b)
        )
        hessian = square[np.ix_(i, i)] * signs
        hessian[np.diag_indices(len(i))] += tiny
        slope = appeal[i, b] - appeal[i, r]
        try:
            step = cho_solve(cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False), slope)
        except np.linalg.LinAlgError:
            break
        direction = np.zeros_like(own)
        direction[i, r] = step
        np.add.at(direction, (i, b), -step)
        change = square @ direction
        gain, curvature = float(slope @ step), float(np.vdot(direction, change))
        if not (np.isfinite(curvature) and gain > 0):
            break
        side = np.where(direction > 0, high, low)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            room = np.where(direction != 0, (side - own) / direction, np.inf)
            t = min(gain / curvature if curvature > 0 else np.inf, float(room.min()))
        if not 0 < t < np.inf:
            break
        stopped = room <= t
        own = np.where(stopped, side, np.clip(own + t * direction, low, high))
        appeal += t * change
        moved = True
        if not stopped.any():
            break
    beta[rows] = own
    beta[:] = task.tidy(beta)
    return moved


def _sweep(X: Any, task: _Task, tol: float, max_iter: int, beta: Floats) -> tuple[Floats, Certificate]:
    """The block ascent of a linear machine, which keeps W."""
    from ..jit import multiclass as compiled

    m = X.shape[0]
    state = np.array([88172645463325252], dtype=np.uint64)
    squares = linear.self_products(X)
    squares[squares <= 1e-12 * squares.max(initial=0.0)] = 0.0
    active, counts = np.empty((m, task.k), np.int32), np.empty(m, np.int32)
    data = (X.data, X.indices, X.indptr) if issparse(X) else (X,)
    visit: Any = compiled.sparse if issparse(X) else compiled.dense
    order, accuracy, settled = np.empty(m, np.intp), float(task.costs.max()) or 1.0, False
    progress, n_iter, work, cheap = _Progress(), 0, 0.0, _CHEAP
    passes, patience = 0, _PATIENCE  # since the last Newton step, and until the next
    W = np.ascontiguousarray((X.T @ beta).T)
    while True:
        table = np.ascontiguousarray(W @ X.T)
        primal, dual, _ = compiled.values(
            table, task.labels, task.prices, task.costs, task.every, beta, task.prices
        )
        gap, allowed = primal - dual, tol * max(1.0, primal)
        if gap <= allowed or n_iter >= max_iter or progress.ended(primal, dual):
            beta = task.tidy(beta)
            W = np.ascontiguousarray((X.T @ beta).T)
            found = task.certificate(beta, X @ W.T, squares, n_iter)
            if found.gap <= tol or n_iter >= max_iter or progress.idle > 25:
                return beta, found
        if settled:
            accuracy *= 0.3
        if passes >= patience:
            beta = task.tidy(beta)
            if _newton(LinearGram(X), task, beta, table.T, max(work, cheap)):
                W = np.ascontiguousarray((X.T @ beta).T)
                table, work = np.ascontiguousarray(W @ X.T), 0.0
            passes, patience, cheap = 0, patience + patience // 10, 2 * cheap
        kept = compiled.reopen(
            table, task.labels, task.prices, task.costs, task.every, beta, order, active, counts
        )
        done, _, visits, settled = visit(
            *data,
            squares,
            task.labels,
            task.prices,
            task.costs,
            task.every,
            accuracy,
            max(_FALL * gap, allowed),
            _LEAST * m,
            min(_ROUND, max_iter - n_iter),
            state,
            order,
            kept,
            beta,
            W,
            active,
            counts,
        )
        n_iter, passes, work = n_iter + done, passes + done, work + 4.0 * visits * X.shape[1]


# ---------------------------------------------------------------------------------------------------
# Solvers of a Gram matrix


def solve_block(
    gram: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "crammer-singer",
    C: float = 1.0,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    initial: ArrayLike | None = None,
) -> Solution:
    r"""Move one example after the other to its best multipliers, the worst first (alg-solver-block).

    Parameters
    ----------
    gram : (m, m) array-like
        :math:`K(x_i, x_j)`, symmetric and positive semidefinite. Symmetry and the minors of two rows are
        checked, all of it by :func:`mcutils.kernel.check_psd`; add 1 to it for a regularised bias.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    loss : {"crammer-singer", "weston-watkins"}
    C : float
        The price of loss, positive.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.
    sample_weight : (m,) array-like, optional
        :math:`s_i \ge 0`, by default 1.
    n_classes : int, optional
        k; by default the size of ``cost``, or as many classes as ``y`` shows.
    tol : float
        The relative gap :math:`(P - D) / \max(1, |P|)` to stop at.
    max_iter : int
        At most so many times m examples are moved, in at most so many rounds; Newton's steps end a round.
    initial : (m, k) array-like, optional
        Multipliers to start from, as those of a smaller C; moved into their bounds first.

    Returns
    -------
    Solution

    Warns
    -----
    ConvergenceWarning
        With the gap that was reached, where it is larger than ``tol``.

    Examples
    --------
    >>> found = solve_block([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> found.multipliers, found.certificate.primal, found.converged
    (array([[0.5, 0.5],
           [0.5, 0.5]]), 0.5, True)
    """
    matrix, task, tol = _problem(gram, y, loss, C, cost, sample_weight, n_classes, tol)
    beta = _start(task, initial, y, loss, C, sample_weight)
    beta, found = _climb(WholeGram(matrix), task, tol, _check_max_iter(max_iter), beta)
    return _solution(task, beta, found, tol)


def solve_qp(
    gram: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "crammer-singer",
    C: float = 1.0,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_classes: int | None = None,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Solution:
    r"""Hand the textbook's matrices, :func:`mcutils.dual.quadratic_program`, to cvxopt.

    For comparison: its memory grows as :math:`(m k)^2`, and its time as :math:`(m k)^3`.

    Parameters
    ----------
    gram, y, loss, C, cost, sample_weight, n_classes
        As in :func:`solve_block`. Examples without weight are left out.
    tol : float
        The relative gap that is asked for.
    max_iter : int
        At most so many steps.

    Returns
    -------
    Solution

    Warns
    -----
    ConvergenceWarning
        With the gap that was reached, where it is larger than ``tol``.

    Examples
    --------
    >>> found = solve_qp([[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    >>> found.multipliers.round(6), round(found.certificate.primal, 6), found.converged
    (array([[0.25, 0.25],
           [0.25, 0.25]]), 0.25, True)
    """
    matrix, task, tol = _problem(gram, y, loss, C, cost, sample_weight, n_classes, tol)
    beta, found = _by_cvxopt(matrix, task, tol, _check_max_iter(max_iter), structured=False)
    return _solution(task, beta, found, tol)


def solve_interior(
    gram: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "crammer-singer",
    C: float = 1.0,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_classes: int | None = None,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Solution:
    r"""Let cvxopt solve the same program, with functions in place of matrices (thm-solver-structure).

    Each step of its interior-point method has a positive diagonal matrix :math:`E_r` for each class, and asks
    for the solution of the equations

    .. math:: (D_r K D_r + E_r) u_r + D_r v = p_r, \qquad \sum_r D_r u_r = q,

    where :math:`D_r` has the signs :math:`2 [y_i = r] - 1`. With :math:`N_r = (K + E_r)^{-1}` they are
    :math:`\big(\sum_r N_r\big) v = \sum_r N_r D_r p_r - q` and :math:`u_r = D_r N_r (D_r p_r - v)`. As
    :math:`N_r = E_r^{-1/2} (I + E_r^{-1/2} K E_r^{-1/2})^{-1} E_r^{-1/2}`, it takes one Cholesky factor for
    each class, of a matrix with no eigenvalue below 1, and one for v: time that grows as :math:`m^3 k`.

    Parameters, results and warnings are those of :func:`solve_qp`.

    Examples
    --------
    >>> found = solve_interior([[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    >>> found.multipliers.round(6), round(found.certificate.primal, 6), found.converged
    (array([[0.25, 0.25],
           [0.25, 0.25]]), 0.25, True)
    """
    matrix, task, tol = _problem(gram, y, loss, C, cost, sample_weight, n_classes, tol)
    beta, found = _by_cvxopt(matrix, task, tol, _check_max_iter(max_iter), structured=True)
    return _solution(task, beta, found, tol)


def _by_cvxopt(
    gram: Floats, task: _Task, tol: float, max_iter: int, *, structured: bool
) -> tuple[Floats, Certificate]:
    cvxopt = _cvxopt()
    m, k = len(gram), task.k
    used = np.flatnonzero(task.prices > 0)
    setting = task.setting
    part = _hinge.Setting(setting.labels[used], setting.costs, setting.prices[used])
    # prices of the size of 1 are what its stopping rule expects
    unit = float(part.prices.max(initial=0.0)) or 1.0
    program: Any
    if structured:
        program = _Structured(gram[np.ix_(used, used)] * unit, part, task, unit)
        more = {"kktsolver": program.solver}
    else:
        program = quadratic_program(
            gram[np.ix_(used, used)] * unit,
            part.labels,
            loss=task.loss,
            cost=part.costs,
            sample_weight=part.prices / unit,
            n_classes=k,
        )
        more = {}
    given = (program.P, program.q, program.G, program.h, program.A, program.b)
    options = {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": 0.1 * tol / unit,
        "reltol": 0.1 * tol,
        "feastol": min(1e-8, 0.1 * tol),
    }
    try:
        found = cvxopt.solvers.coneqp(
            *(cvxopt.matrix(each) if isinstance(each, np.ndarray) else each for each in given[:4]),
            None,
            *(cvxopt.matrix(each) if isinstance(each, np.ndarray) else each for each in given[4:]),
            options=options,
            **more,
        )
        u, steps = np.array(found["x"]).reshape(k, -1).T * unit, int(found["iterations"])
    except (ArithmeticError, ValueError) as reason:  # a matrix that has lost its definiteness
        raise RuntimeError(f"cvxopt gave up: {reason}") from reason
    beta = np.zeros((m, k))
    A = feasible(u, part.labels, loss=task.loss, C=1.0, sample_weight=part.prices)
    beta[used] = _hinge.coefficients(A, part.labels)
    return beta, task.certificate(beta, gram @ beta, np.diag(gram), max(1, steps))


def _cvxopt() -> Any:
    try:
        import cvxopt
        import cvxopt.solvers
    except ImportError as reason:
        raise ImportError(
            "this solver needs cvxopt: install it, as with pip install 'cvxopt>=1.3' or with the extra "
            "multiclass-theorems[interior], or use the solver 'block'"
        ) from reason
    return cvxopt


class _Structured:
    """The program of :func:`mcutils.dual.quadratic_program` as functions, and the equations of a step.

    For Weston-Watkins one inequality more says of each sum what follows from its terms, that it is not
    negative: without it the diagonal matrix of the step would have zeros.
    """

    def __init__(self, gram: Floats, setting: _hinge.Setting, task: _Task, unit: float):
        cvxopt = _cvxopt()
        self.gram, self.m, self.k = gram, len(gram), task.k
        true = setting.labels == np.arange(task.k)[:, None]
        self.signs = np.where(true, 1.0, -1.0)
        prices = np.broadcast_to(setting.prices / unit, true.shape)
        self.bounded_below = ~true if task.loss == "crammer-singer" else np.full(true.shape, True)
        self.bounded_above = true if task.loss == "crammer-singer" else ~true
        costs = task.costs[setting.labels].T
        self.q = cvxopt.matrix(np.where(true, 0.0, -costs).ravel())
        lower, upper = int(self.bounded_below.sum()), int(self.bounded_above.sum())
        self.h = cvxopt.matrix(np.concatenate([np.zeros(lower), prices[self.bounded_above]]))
        self.split = lower
        self.b = cvxopt.matrix(0.0, (self.m, 1))
        self.rows = lower + upper

    def table(self, vector: Any) -> Floats:
        """A view of a vector of unknowns, a row for each class."""
        view: Floats = np.asarray(vector).reshape(self.k, self.m)
        return view

    def P(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0) -> None:
        product = self.signs * ((self.signs * self.table(x)) @ self.gram)
        self.add(y, product.ravel(), alpha, beta)

    def A(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0, trans: str = "N") -> None:
        if trans == "N":
            self.add(y, (self.signs * self.table(x)).sum(axis=0), alpha, beta)
        else:
            self.add(y, (self.signs * np.asarray(x).ravel()).ravel(), alpha, beta)

    def G(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0, trans: str = "N") -> None:
        if trans == "N":
            table = self.table(x)
            product = np.concatenate([-table[self.bounded_below], table[self.bounded_above]])
        else:
            product = self.spread(np.asarray(x).ravel()).ravel()
        self.add(y, product, alpha, beta)

    def spread(self, values: Floats) -> Floats:
        """The transpose of G."""
        table = np.zeros((self.k, self.m))
        table[self.bounded_below] -= values[: self.split]
        table[self.bounded_above] += values[self.split :]
        return table

    @staticmethod
    def add(y: Any, product: Floats, alpha: float, beta: float) -> None:
        target = np.asarray(y).reshape(-1)
        target *= beta
        target += alpha * product

    def solver(self, W: Any) -> Callable[[Any, Any, Any], None]:
        """What solves the equations of a step, whose scaling is W."""
        weights = np.asarray(W["d"]).ravel() ** -2
        diagonal = np.zeros((self.k, self.m))
        diagonal[self.bounded_below] += weights[: self.split]
        diagonal[self.bounded_above] += weights[self.split :]
        roots = diagonal**-0.5
        factors, total = [], np.zeros((self.m, self.m))
        for root in roots:
            scaled = root[:, None] * self.gram * root
            scaled[np.diag_indices(self.m)] += 1.0
            factor, failed = dpotrf(scaled, lower=True, overwrite_a=True)
            if failed:
                raise ArithmeticError("a scaled Gram matrix has a negative eigenvalue")
            factors.append(factor)
            inverse, _ = dpotri(factor, lower=True)
            total += root[:, None] * inverse * root  # the lower triangle
        total_factor = cho_factor(total, lower=True, overwrite_a=True, check_finite=False)

        def inverses(table: Floats) -> Floats:
            """:math:`N_r` times each row."""
            return np.stack(
                [
                    root * cho_solve((factor, True), root * row, check_finite=False)
                    for root, factor, row in zip(roots, factors, table, strict=True)
                ]
            )

        scale = np.sqrt(weights)

        def solve(x: Any, y: Any, z: Any) -> None:
            u, v, w = np.asarray(x).reshape(-1), np.asarray(y).reshape(-1), np.asarray(z).reshape(-1)
            right = self.signs * (u.reshape(self.k, self.m) + self.spread(weights * w))
            v[:] = cho_solve(total_factor, inverses(right).sum(axis=0) - v, check_finite=False)
            table = self.signs * inverses(right - v)
            u[:] = table.ravel()
            product = np.concatenate([-table[self.bounded_below], table[self.bounded_above]])
            w[:] = scale * (product - w)

        return solve


def _problem(
    gram: ArrayLike,
    y: ArrayLike,
    loss: str,
    C: float,
    cost: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_classes: int | None,
    tol: float,
) -> tuple[Floats, _Task, float]:
    matrix = gram_matrix(gram)
    k = _hinge.count_classes(y, len(matrix), cost, n_classes)
    setting = _hinge.check_setting(k, len(matrix), y, loss, C, cost, sample_weight)
    return matrix, _Task(loss, setting, k), _check_tol(tol)


def _start(
    task: _Task,
    initial: ArrayLike | None,
    y: ArrayLike,
    loss: str,
    C: float,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Coefficients to start from."""
    if initial is None:
        return np.zeros((len(task.labels), task.k))
    table = _hinge.multiplier_table(initial, len(task.labels), task.k, "initial")
    return _hinge.coefficients(feasible(table, y, loss=loss, C=C, sample_weight=sample_weight), task.labels)


def _solution(task: _Task, beta: Floats, found: Certificate, tol: float) -> Solution:
    multipliers = task.multipliers(beta)
    rows = np.arange(len(beta))
    multipliers[rows, task.labels] = multipliers.sum(axis=1)
    converged = found.certifies(tol)
    if not converged:
        _warn(found, tol)
    return Solution(multipliers, found, converged)


def _warn(found: Certificate, tol: float) -> None:
    warnings.warn(
        f"the machine is not solved to tol={tol:g}: after {found.n_iter} iterations the relative gap of "
        f"primal and dual is {found.gap:.3g}; increase max_iter or tol, or decrease C",
        ConvergenceWarning,
        stacklevel=4,  # who called solve_... or fit
    )


def _check_tol(tol: float) -> float:
    if isinstance(tol, (bool, np.bool_)) or not isinstance(tol, Real) or not 0 < tol < np.inf:
        raise ValueError(f"tol must be a positive, finite number, found {tol!r}")
    return float(tol)


def _check_max_iter(max_iter: int) -> int:
    if isinstance(max_iter, (bool, np.bool_)) or not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter must be an integer, at least 1, found {max_iter!r}")
    return int(max_iter)


# ---------------------------------------------------------------------------------------------------
# Estimators


class _Machine(ClassifierMixin, BaseEstimator):
    """What the two machines share: all but the loss."""

    _loss: str

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool | str = "appended",
        cost: ArrayLike | None = None,
        class_weight: dict[Any, float] | str | None = None,
        solver: str = "block",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        warm_start: bool = False,
        precision: str = "auto",
        cache_size: float = 256,
        check_kernel: bool = False,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.cost = cost
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.precision = precision
        self.cache_size = cache_size
        self.check_kernel = check_kernel

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the machine.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            The examples; for a precomputed kernel their (m, m) Gram matrix.
        y : (m,) array-like
            Labels of at least two classes.
        sample_weight : (m,) array-like, optional
            Factors of C, at least 0. An example of weight 0 is ignored.

        Returns
        -------
        Self
        """
        tol, max_iter = self._check_parameters()
        given = getattr(X, "dtype", None)
        X, labels = self._validate(X, y=y)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        k = len(self.classes_)
        if k < 2:
            raise ValueError(f"y must have at least 2 classes, found 1 class: {self.classes_.tolist()}")
        weights = self._weights(X, codes, sample_weight)
        setting = _hinge.Setting(codes, _hinge.check_cost(self.cost, k), float(self.C) * weights)
        task = _Task(self._loss, setting, k)
        self.kernel_ = resolve(self.kernel, self.gamma, self.degree, self.coef0, X)
        beta = self._before(task)
        bias, linear = float(bool(self.fit_intercept)), self.kernel_.name == "linear"
        if self.check_kernel and not linear:
            check_psd(X if self.kernel_.name == "precomputed" else self.kernel_.gram(X))
        if self.solver != "block":
            known = self.kernel_.name == "precomputed"
            gram = _precomputed(X, given) if known else self.kernel_.gram(X)
            beta, found = _by_cvxopt(gram + bias, task, tol, max_iter, structured=self.solver == "interior")
        elif linear:
            beta, found = _sweep(_with_ones(X) if bias else X, task, tol, max_iter, beta)
        else:
            beta, found = _climb(self._gram(X, bias, tol, given), task, tol, max_iter, beta)
        self._codes = codes
        self.certificate_, self.converged_ = found, found.certifies(tol)
        self.n_iter_ = found.n_iter or 1
        self.dual_coef_ = beta + 0.0
        self.support_ = np.flatnonzero(beta.any(axis=1))
        self.support_of_class_ = [np.flatnonzero(column) for column in beta.T]
        self.intercept_ = bias * beta.sum(axis=0) + 0.0
        if linear:
            self.coef_ = np.ascontiguousarray((X.T @ beta).T)
        elif self.kernel_.name != "precomputed":
            self.support_vectors_ = X[self.support_]
        if not self.converged_:
            _warn(found, tol)
        return self

    def scores(self, X: Any) -> Floats:
        r"""The scores :math:`f_r(x)` of all classes, for two classes both.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
            For a precomputed kernel the (n, m) matrix of the kernel with the examples of the training.

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        found: Floats = np.zeros((X.shape[0], len(self.classes_)))
        if self.kernel_.name == "linear":
            found += X @ self.coef_.T
        else:
            weights = self.dual_coef_[self.support_]
            if self.kernel_.name == "precomputed":
                found += X[:, self.support_] @ weights
            elif len(weights):
                for rows, part in self.kernel_.blocks(X, self.support_vectors_, size=512):
                    found[rows] = part @ weights
        found += self.intercept_
        return found

    def decision_function(self, X: Any) -> Floats:
        """The scores of all classes; for two classes the second less the first.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array, or (n,) array for two classes
        """
        found = self.scores(X)
        if found.shape[1] > 2:
            return found
        ahead: Floats = found[:, 1] - found[:, 0]
        return ahead

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score; ties go to the smallest class.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        largest = self.scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[largest]
        return labels

    def _validate(self, X: Any, **more: Any) -> Any:
        sparse = False if is_precomputed(self.kernel) else "csr"
        found = validate_data(self, X, accept_sparse=sparse, dtype=np.float64, order="C", **more)
        rows = found[0] if isinstance(found, tuple) else found
        if issparse(rows) and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
            return (rows, *found[1:]) if isinstance(found, tuple) else rows
        return found

    def _check_parameters(self) -> tuple[float, int]:
        if isinstance(self.C, (bool, np.bool_)) or not isinstance(self.C, Real) or not 0 < self.C < np.inf:
            raise ValueError(f"C must be a positive, finite number, found {self.C!r}")
        for name, allowed in (
            ("solver", SOLVERS),
            ("precision", PRECISIONS),
        ):
            one_of(getattr(self, name), name, allowed)
        for name in ("warm_start", "check_kernel"):
            switch(getattr(self, name), name)
        chosen = self.fit_intercept
        if not (isinstance(chosen, (bool, np.bool_)) or (isinstance(chosen, str) and chosen == "appended")):
            raise ValueError(f"fit_intercept must be 'appended', True or False, found {chosen!r}")
        size = self.cache_size
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, Real) or not size > 0:
            raise ValueError(f"cache_size must be a positive number of MiB, found {size!r}")
        return _check_tol(self.tol), _check_max_iter(self.max_iter)

    def _weights(self, X: Any, codes: Indices, sample_weight: ArrayLike | None) -> Floats:
        weights = example_weights(sample_weight, len(codes))
        weights = times_class_weight(weights, self.class_weight, self.classes_, codes)
        if not weights.any():
            raise ValueError("sample_weight and class_weight must not be zero for all examples")
        return weights

    def _gram(self, X: Any, bias: float, tol: float, given: Any) -> WholeGram | WorkingSet:
        if self.kernel_.name == "precomputed":
            return WholeGram(_precomputed(X, given) + bias)
        single = self.precision == "single" or (self.precision == "auto" and tol >= 1e-4)
        kind = np.float32 if single else np.float64
        return WorkingSet(self.kernel_, X, bias, kind, float(self.cache_size))

    def _before(self, task: _Task) -> Floats:
        """Coefficients to start from: with ``warm_start`` those of the last fit, moved into the bounds."""
        zero = np.zeros((len(task.labels), task.k))
        if not (self.warm_start and hasattr(self, "_codes")):
            return zero
        if self.dual_coef_.shape != zero.shape or not np.array_equal(self._codes, task.labels):
            return zero
        A = feasible(
            task.multipliers(self.dual_coef_), task.labels, loss=self._loss, sample_weight=task.prices
        )
        return _hinge.coefficients(A, task.labels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


def _precomputed(X: Floats, given: Any) -> Floats:
    """A Gram matrix that was given, checked; made symmetric where its entries have few digits."""
    if given == np.float32 and X.shape[0] == X.shape[1]:
        away, allowed = np.abs(X - X.T).max(), 8 * float(np.finfo(np.float32).eps) * np.abs(X).max()
        if away <= allowed:
            X = (X + X.T) / 2
            X[np.diag_indices(len(X))] += allowed  # what rounding may have taken from a diagonal
    return gram_matrix(X)


def _with_ones(X: Any) -> Any:
    """The examples with a feature that is always 1."""
    ones = np.ones((X.shape[0], 1))
    return hstack([X, csr_array(ones)], format="csr") if issparse(X) else np.hstack([X, ones])


class CrammerSinger(_Machine):
    r"""The machine of Crammer and Singer for k classes, linear or with a kernel, solved to a certified gap.

    It minimises :math:`\frac12 \sum_r \|f_r\|^2 + \sum_i C_i \max_r (\Delta(y_i, r) + f_r(x_i) -
    f_{y_i}(x_i))` (def-dual-problem), where :math:`C_i` is C times the weight of the example and of its
    class, and answers with the class of the largest score.

    Parameters
    ----------
    C : float, default=1.0
        The price of loss, positive.
    kernel : {"linear", "polynomial", "rbf", "precomputed"} or Kernel, default="linear"
        See :func:`mcutils.kernel.resolve`. The linear machine keeps W instead of kernel values. With
        "precomputed", ``X`` is the square Gram matrix in :meth:`fit`, and afterwards the matrix of the kernel
        between new examples (rows) and all those of the training (columns).
    gamma, degree, coef0
        Of the named kernels, as in scikit-learn: :math:`e^{-\gamma \|x - z\|^2}` and
        :math:`(\gamma \langle x, z \rangle + \text{coef0})^{\text{degree}}`.
    fit_intercept : "appended", True or False, default="appended"
        "appended", or True: a feature that is always 1, whose coefficients are regularised as all others, as
        if the kernel were :math:`K + 1`. False: none. A bias that is not regularised would tie the rows of
        the dual together, so that no row could move by itself.
    cost : (k, k) array-like, optional
        :math:`\Delta`, what it costs to answer the class of a column where that of a row is true, both in
        the order of ``classes_``. By default every mistake costs 1.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    solver : {"block", "interior", "qp"}, default="block"
        See the module. The others need cvxopt and the whole Gram matrix.
    tol : float, default=1e-4
        The relative gap :math:`(P - D) / \max(1, |P|)` to stop at.
    max_iter : int, default=10,000
        What bounds all work. For the linear machine, at most so many passes over the examples. With a kernel,
        at most so many times m examples are moved or brought into the working set, in at most so many rounds;
        Newton's steps end a round. For the solvers of cvxopt, at most so many steps of the interior point.
    warm_start : bool, default=False
        Whether :meth:`fit` starts at the multipliers of the last fit, moved into their bounds, as along a
        path of C. It does so where the labels are the same, in the same order.
    precision : {"auto", "single", "double"}, default="auto"
        Of the kernel rows of the solver "block". "auto" is single for ``tol`` from 1e-4. The certificate is
        computed in double precision in any case; where single cannot reach ``tol``, double goes on.
    cache_size : float, default=256
        So many MiB of kernel rows are kept at most, but no fewer than 512 rows. A row of the Gram matrix is
        computed when its example joins the working set. Where there is room for no more, a quarter of the set
        is exchanged each time that it has been of use, and the fit takes longer.
    check_kernel : bool, default=False
        Whether the whole Gram matrix is computed first, and refused if it has a negative eigenvalue. Without
        this only what is met is refused.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    kernel_ : Kernel
        The kernel, with its parameters.
    dual_coef_ : (m, k) array
        :math:`\beta`: :math:`f_r = \sum_i \beta_{ir} K(x_i, \cdot)`, of all examples. The rows sum to 0.
    support_ : (s,) int array
        The examples whose row is not 0.
    support_of_class_ : list of k int arrays
        The examples with a coefficient in the score of each class.
    support_vectors_ : (s, d) array or sparse matrix
        The examples of ``support_``; only with a kernel of points other than the linear.
    coef_ : (k, d) array
        W, for the linear kernel only; also for two classes a row for each.
    intercept_ : (k,) array
        What is added to the scores; 0 without an intercept.
    certificate_ : Certificate
        Primal and dual value, and in ``kkt`` the residuals of :func:`mcutils.dual.kkt`.
    converged_ : bool
        Whether the relative gap is at most ``tol``. If not, ConvergenceWarning says what was reached.
    n_iter_ : int
        Of what ``max_iter`` limits.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    *Memory.* The tables of coefficients and scores take some 50 bytes for each example and class, the kernel
    rows as much as ``cache_size`` allows. 10,000 examples of 10 classes stay below 1 GB.

    *No bias* for two classes is the binary machine without bias, with a C twice as large (prop-dual-two).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = CrammerSinger(kernel="rbf", tol=1e-3).fit(X, y)
    >>> machine.converged_, machine.score(X, y) > 0.99
    (True, True)
    """

    _loss = "crammer-singer"


class WestonWatkins(_Machine):
    r"""The machine of Weston and Watkins for k classes, linear or with a kernel, solved to a certified gap.

    It minimises :math:`\frac12 \sum_r \|f_r\|^2 + \sum_i C_i \sum_{r \ne y_i} \max(0, \Delta(y_i, r) +
    f_r(x_i) - f_{y_i}(x_i))` (def-dual-problem), where :math:`C_i` is C times the weight of the example and
    of its class, and answers with the class of the largest score. It differs from :class:`CrammerSinger` in
    the loss only: each parameter and each attribute means what it means there.

    Parameters
    ----------
    C : float, default=1.0
        The price of loss, positive.
    kernel : {"linear", "polynomial", "rbf", "precomputed"} or Kernel, default="linear"
        The kernel.
    gamma, degree, coef0
        Of the named kernels, as in scikit-learn.
    fit_intercept : "appended", True or False, default="appended"
        "appended", or True: a feature that is always 1. False: none.
    cost : (k, k) array-like, optional
        :math:`\Delta`, in the order of ``classes_``. By default every mistake costs 1.
    class_weight : dict, "balanced" or None
        Factors of C by label.
    solver : {"block", "interior", "qp"}, default="block"
        See the module.
    tol : float, default=1e-4
        The relative gap to stop at.
    max_iter : int, default=10,000
        The largest number of passes over the examples, or of steps of an interior-point method.
    warm_start : bool, default=False
        Whether :meth:`fit` starts at the multipliers of the last fit.
    precision : {"auto", "single", "double"}, default="auto"
        Of the kernel rows of the solver "block".
    cache_size : float, default=256
        The most MiB of kernel rows to keep, but no fewer than 512 rows.
    check_kernel : bool, default=False
        Whether the whole Gram matrix is checked first.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    kernel_ : Kernel
        The kernel, with its parameters.
    dual_coef_ : (m, k) array
        The coefficients of all examples. The rows sum to 0.
    support_ : (s,) int array
        The examples whose row is not 0.
    support_of_class_ : list of k int arrays
        The examples with a coefficient in the score of each class.
    support_vectors_ : (s, d) array or sparse matrix
        The examples of ``support_``; only with a kernel of points other than the linear.
    coef_ : (k, d) array
        W, for the linear kernel only.
    intercept_ : (k,) array
        What is added to the scores; 0 without an intercept.
    certificate_ : Certificate
        Primal and dual value, and in ``kkt`` the residuals of :func:`mcutils.dual.kkt`.
    converged_ : bool
        Whether the relative gap is at most ``tol``.
    n_iter_ : int
        The number that ``max_iter`` limits.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = WestonWatkins(C=0.5).fit(X, y)
    >>> machine.coef_.shape, machine.converged_, machine.certificate_.certifies(1e-4)
    ((3, 4), True, True)
    """

    _loss = "weston-watkins"
