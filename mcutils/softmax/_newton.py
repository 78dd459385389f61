"""Newton's method for softmax regression; conjugate gradients solve its steps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import issparse

from .._progress import Log
from .._typing import Floats
from ._loss import hessian_product, loss_parts
from ._objective import Problem, input_sums

# A Newton step is preconditioned by the Hessian's diagonal, or by Cholesky factors of its blocks, one for
# each class. The factors are used for a dense X with few features: from the start where they are cheap,
# otherwise as soon as the diagonal has taken as much time as they would take.
_BLOCK_FEATURES = 200  # the most features for which factors are made
_QUICK = 2e8  # factors that take at most this many multiplications are used from the start

# A dense X is rotated first if that costs at most this many products with the Hessian.
_ROTATION = 20

# Most products with the Hessian in a Newton step.
_PRODUCTS = 500


@dataclass
class _Found:
    """A classifier with its best lower bound."""

    V: Floats
    primal: float
    dual: float
    stationarity: float
    balance: float
    n_steps: int

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / max(1.0, abs(self.primal))


def minimise(problem: Problem, V: Floats, tol: float, max_iter: int, log: Log) -> _Found:
    """Newton's method with conjugate gradients, from the classifier V, until the gap is at most tol."""
    d = problem.X.shape[1]
    penalised = np.zeros_like(V)
    penalised[:, :d] = 1.0
    axes = _axes(problem)
    few = axes is not None and d <= _BLOCK_FEATURES
    quick = len(problem.y) * d**2 * problem.k <= _QUICK
    preconditioner = _Blocks(axes) if axes is not None and few and quick else _Diagonal(problem, axes)

    V = V - V.mean(axis=0)  # the same vector added to all classes changes no probability
    f = problem.scores(V)
    dual, best, stalled, first, flat = -np.inf, np.inf, 0, 0.0, False
    for step in range(max_iter + 1):
        losses, others, missing = loss_parts(f, problem.y)
        multipliers = problem.multipliers(others, missing)
        now = problem.norm(V) + float(problem.penalties @ losses)
        gradient = penalised * V - problem.gathered(multipliers)
        noise, doubt = problem.rounding(V, multipliers)
        dual = max(dual, problem.dual(others, missing) - doubt)
        slope = float(np.linalg.norm(gradient))
        first = first or slope
        reached = _Found(
            V,
            now,
            dual,
            float(np.linalg.norm(gradient[:, :d])),
            float(np.abs(gradient[:, d:]).max(initial=0.0)),
            step,
        )
        log.values(step, now, dual)
        stalled = 0 if reached.gap < best / 2 else stalled + 1
        best = min(best, reached.gap)
        # nothing more is to be had: only rounding is left of the gradient, or of the decrease for many steps
        spent = slope == 0 or (stalled >= 4 and slope <= noise) or (stalled >= 12 and flat)
        if reached.gap <= tol or step == max_iter or spent:
            break

        q = others.copy()
        q[problem.rows, problem.y] = 1 - missing
        bends = q * (1 - q)
        bends[problem.rows, problem.y] = (1 - missing) * missing
        bends *= problem.penalties[:, None]
        preconditioner.update(bends)

        def bend(D: Floats, q: Floats = q) -> Floats:
            v = problem.scores(D)
            v -= v[problem.rows, problem.y][:, None]  # so that a true class of probability 1 costs no digits
            return penalised * D + problem.gathered(hessian_product(q, v) * problem.penalties[:, None])

        accuracy = min(0.1, slope / first)
        # a product takes 4 m d k operations, the factors of all blocks take 2 m d^2 k
        doubtful = few and isinstance(preconditioner, _Diagonal)
        exact, most = (accuracy / 2, d // 2) if doubtful else (accuracy, _PRODUCTS)
        D, solved = _conjugate_gradients(bend, preconditioner, -gradient, exact, most)
        if axes is not None and doubtful and not solved:
            preconditioner = _Blocks(axes)  # from now on
            preconditioner.update(bends)
            D, _ = _conjugate_gradients(bend, preconditioner, -gradient, accuracy, _PRODUCTS)
        decrease = -float(np.vdot(gradient, D))
        ahead = problem.scores(D)
        # on a line the norm is a parabola and the scores are linear: no further product with X
        t, flat = 1.0, decrease <= 1e-12 * max(1.0, abs(now))
        while not flat and t > 1e-12:
            if problem.primal(V + t * D, f + t * ahead) <= now - 1e-4 * t * decrease:
                break
            t /= 2
        V = V + t * D
        f = problem.scores(V)
    return reached


class _Axes:
    """Other coordinates of dense inputs, in which the Hessian's blocks of the classes are far from singular
    even if the features are not centred or almost dependent: the inputs are centred, which moves the
    intercept, and rotated to their principal axes."""

    def __init__(self, problem: Problem):
        X, penalties = problem.X, problem.penalties
        self.d, self.bias = X.shape[1], problem.bias
        self.centre = penalties @ X / penalties.sum() if self.bias else np.zeros(self.d)
        moved = X - self.centre
        triangle = np.linalg.qr(np.sqrt(penalties)[:, None] * moved, mode="r")
        self.axes = np.linalg.svd(triangle, full_matrices=True)[2].T
        self.X = moved @ self.axes

    def turned(self, R: Floats) -> Floats:
        """A gradient in these coordinates."""
        d, turned = self.d, R.copy()
        turned[:, :d] = (R[:, :d] - R[:, d:] * self.centre if self.bias else R) @ self.axes
        return turned

    def back(self, R: Floats) -> Floats:
        """The classifier that is R in these coordinates."""
        d, restored = self.d, R.copy()
        restored[:, :d] = R[:, :d] @ self.axes.T
        if self.bias:
            restored[:, d] -= restored[:, :d] @ self.centre
        return restored


def _axes(problem: Problem) -> _Axes | None:
    """The principal axes, for few dense features, or if they cost little."""
    if issparse(problem.X):
        return None
    m, d = problem.X.shape
    # QR and singular values take 2 m d^2 + 20 d^3 operations, a product takes 4 m d k
    cheap = 2 * m * d + 20 * d**2 <= _ROTATION * 4 * m * problem.k
    return _Axes(problem) if d <= _BLOCK_FEATURES or cheap else None


class _Diagonal:
    """The inverse of the Hessian's diagonal, with the inputs centred for each class, which moves its
    intercept."""

    def __init__(self, problem: Problem, axes: _Axes | None):
        self.axes, self.bias = axes, problem.bias
        self.X = X = problem.X if axes is None else axes.X
        self.d = X.shape[1]
        self.squares = X.multiply(X).tocsr() if issparse(X) else X**2

    def update(self, bends: Floats) -> None:
        self.own = bends.sum(axis=0)[:, None] + 1e-300
        self.centre = np.zeros((bends.shape[1], self.d))
        if self.bias:
            self.centre = input_sums(self.X, bends) / self.own
        second = input_sums(self.squares, bends)
        self.diagonal = 1.0 + np.maximum(second - self.own * self.centre**2, 0.0)

    def __call__(self, R: Floats) -> Floats:
        d = self.d
        R = R if self.axes is None else self.axes.turned(R)
        solved = R.copy()
        if self.bias:
            solved[:, :d] -= R[:, d:] * self.centre
        solved[:, :d] /= self.diagonal
        if self.bias:
            solved[:, d:] = R[:, d:] / self.own - (solved[:, :d] * self.centre).sum(axis=1, keepdims=True)
        if self.axes is not None:
            solved = self.axes.back(solved)
        solved -= solved.mean(axis=0)
        return solved


class _Blocks:
    """Inverses of the Hessian's blocks of the classes, for few dense features."""

    def __init__(self, axes: _Axes):
        self.axes, self.d = axes, axes.d
        self.columns = np.column_stack([axes.X, np.ones((len(axes.X), int(axes.bias)))])

    def update(self, bends: Floats) -> None:
        self.factors = []
        for weight in bends.T:
            block = self.columns.T @ (weight[:, None] * self.columns)
            block[np.diag_indices(self.d)] += 1.0
            diagonal = np.diag(block)
            unit = np.sqrt(np.maximum(diagonal, 1e-30 * diagonal.max() + 1e-300))
            block = block / unit[:, None] / unit
            block[np.diag_indices(len(block))] += 1e-12
            try:
                factor = cho_factor(block, lower=True)
            except LinAlgError:  # only by rounding
                factor = cho_factor(np.eye(len(block)), lower=True)
            self.factors.append((factor, unit))

    def __call__(self, R: Floats) -> Floats:
        turned = self.axes.turned(R)
        for row, (factor, unit) in zip(turned, self.factors, strict=True):
            row[:] = cho_solve(factor, row / unit) / unit
        solved = self.axes.back(turned)
        solved -= solved.mean(axis=0)
        return solved


def _conjugate_gradients(
    product: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    target: Floats,
    accuracy: float,
    most: int,
) -> tuple[Floats, bool]:
    """A descent direction D with product(D) = target up to ``accuracy``; and whether that was reached within
    the allowed number of products."""
    D = np.zeros_like(target)
    R = target.copy()
    Z = precondition(R)
    P = Z.copy()
    size = float(np.vdot(R, Z))
    goal, solved = accuracy**2 * size, False
    for _ in range(most):
        if not size > 0:
            break
        bent = product(P)
        curvature = float(np.vdot(P, bent))
        if not curvature > 0:
            break
        D += size / curvature * P
        R -= size / curvature * bent
        Z = precondition(R)
        before, size = size, float(np.vdot(R, Z))
        solved = size <= goal
        if solved:
            break
        P = Z + size / before * P
    return (D if D.any() else Z), solved
