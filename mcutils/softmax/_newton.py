"""Newton's method for softmax regression; conjugate gradients solve its steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import diags_array, issparse

from .._progress import Log
from .._typing import Floats
from ._objective import Problem, blocks, input_sums

# A Newton step is preconditioned by the Hessian's diagonal, or by Cholesky factors of its blocks, one for
# each class. The factors are used for a dense X with few features: from the start where they are cheap,
# otherwise as soon as the diagonal has taken as much time as they would take.
_BLOCK_FEATURES = 200  # the most features for which factors are made
_QUICK = 2e8  # factors that take at most this many multiplications are used from the start

# A dense X is rotated first if that costs at most this many products with the Hessian.
_ROTATION = 20

# Most products with the Hessian in a Newton step.
_PRODUCTS = 500

# Products of at least so many multiplications are made in single precision.
_SINGLE = 1e7

# Then a dual value, which takes as long as several products, is computed only where the gap is small: at most
# so many times what is allowed.
_NEAR = 30


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
    axes = _axes(problem)
    few = axes is not None and d <= _BLOCK_FEATURES
    work = len(problem.y) * d * problem.k
    hessian = _Hessian(problem, axes, np.float32 if work >= _SINGLE else np.float64)
    preconditioner = _Blocks(hessian) if few and work * d <= _QUICK else _Diagonal(hessian)

    V = V - V.mean(axis=0)  # the same vector added to all classes changes no probability
    now = problem.at(V, hessian.keep)
    dual, best, stalled, first, flat, decrease = -np.inf, np.inf, 0, 0.0, False, np.inf
    for step in range(max_iter + 1):
        gradient, allowed = now.gradient, tol * max(1.0, abs(now.primal))
        slope = float(np.linalg.norm(gradient))
        first = first or slope
        # without intercepts half of its square is the gap
        stationarity = float(np.linalg.norm(gradient[:, :d]))
        measure = slope**2 / max(1.0, abs(now.primal))
        stalled = 0 if measure < best / 4 else stalled + 1
        best = min(best, measure)
        # nothing more is to be had: only rounding is left of the gradient, or of the decrease for many steps
        spent = slope == 0 or (stalled >= 4 and slope <= now.noise) or (stalled >= 12 and flat)
        ends = step == max_iter or spent
        if ends or stationarity**2 / 2 <= allowed * (_NEAR if hessian.kind == np.float32 else np.inf):
            excess = gradient[:, d] if problem.bias else np.zeros(problem.k)
            dual = max(dual, problem.bound(V, excess) - now.doubt)
        balance = float(np.abs(gradient[:, d:]).max(initial=0.0))
        reached = _Found(V, now.primal, dual, stationarity, balance, step)
        if dual > -np.inf:
            log.values(step, now.primal, dual)
        else:
            log.tell(step, f", primal {now.primal:.6g}")
        if ends or reached.gap <= tol:
            break

        # far from the optimum a step may not halve the gradient; near it, the direction was not good enough
        if stalled >= 2 and decrease <= 1e-5 * max(1.0, abs(now.primal)) and hessian.kind == np.float32:
            hessian = hessian.doubled()
            preconditioner = _Diagonal(hessian)
            now = problem.at(V, hessian.keep)
        preconditioner.update()
        target = -gradient if axes is None else -axes.turned(gradient)
        accuracy = max(min(0.1, slope / first), hessian.digits)
        # a small problem is solved further than is asked for; of a large one no product is made in vain
        enough = min(0.5 * np.sqrt(2 * allowed), 0.02 * slope) if hessian.kind == np.float32 else 0.0
        # a product takes 4 m d k operations, the factors of all blocks take 2 m d^2 k
        doubtful = few and isinstance(preconditioner, _Diagonal)
        exact, most = (accuracy / 2, hessian.cheap * d // 2) if doubtful else (accuracy, _PRODUCTS)
        D, solved = _conjugate_gradients(hessian, preconditioner, target, exact, most, enough)
        if doubtful and not solved:
            preconditioner = _Blocks(hessian)  # from now on
            preconditioner.update()
            D, _ = _conjugate_gradients(hessian, preconditioner, target, accuracy, _PRODUCTS, enough)
        D = D if axes is None else axes.back(D)
        decrease = -float(np.vdot(gradient, D))
        start, t, flat = now.primal, 1.0, decrease <= 1e-12 * max(1.0, abs(now.primal))
        now = problem.at(V + D, hessian.keep)
        while not flat and t > 1e-12 and not now.primal <= start - 1e-4 * t * decrease:
            t /= 2
            now = problem.at(V + t * D, hessian.keep)
        V = V + t * D
    return reached


class _Hessian:
    """The Hessian at the classifier whose probabilities were kept last, in coordinates of the inputs in which
    it is far from singular. Its products are made in single precision where that saves time: they choose
    the directions, and gradients in double precision say how good these were."""

    def __init__(self, problem: Problem, axes: "_Axes | None", kind: Any):
        self.problem, self.axes, self.kind = problem, axes, kind
        self.bias, self.d = problem.bias, problem.X.shape[1]
        X: Any = problem.X if axes is None else axes.inputs()
        self.sizes, self.unit = np.ones(self.d), 1.0
        self.digits, self.cheap = 0.0, 1
        if kind == np.float32:  # numbers far from 1 would leave its range
            self.digits, self.cheap = 1e-4, 4
            squares = X.multiply(X) if issparse(X) else np.einsum("ij,ij->j", X, X)
            total = np.asarray(squares.sum(axis=0)).ravel() if issparse(X) else squares
            self.sizes = np.sqrt(np.where(total > 0, total / len(problem.y), 1.0))
            self.unit = float(problem.penalties.max())
            X = (X @ diags_array(1 / self.sizes)).tocsr() if issparse(X) else X / self.sizes
        self.X = X.astype(kind, copy=False)
        self.penalties = (problem.penalties / self.unit).astype(kind)
        self.q = np.empty((len(problem.y), problem.k), kind)
        self.missing = np.empty(len(problem.y))

    def doubled(self) -> "_Hessian":
        """The same in double precision."""
        return _Hessian(self.problem, self.axes, np.float64)

    def keep(self, rows: slice, others: Floats, missing: Floats) -> None:
        """The probabilities of some rows, zero at the true class, and what this lacks to 1."""
        self.q[rows] = others
        self.missing[rows] = missing
        part = self.q[rows]
        part[np.arange(len(part)), self.problem.y[rows]] = 1 - missing

    def bends(self, rows: slice) -> Any:
        """The second derivative of each loss by each score."""
        bends = self.q[rows] * (1 - self.q[rows])
        missing = self.missing[rows]
        bends[np.arange(len(bends)), self.problem.y[rows]] = (1 - missing) * missing
        bends *= self.penalties[rows, None]
        return bends

    def __call__(self, D: Floats) -> Floats:
        W, b = D[:, : self.d] * self.sizes, D[:, self.d :]
        size = 1.0 if self.kind == np.float64 else max(np.abs(W).max(), np.abs(b).max(initial=0.0)) or 1.0
        W, b = np.asarray(W.T / size, self.kind), np.asarray(b.T / size, self.kind)
        bent = np.zeros_like(D)
        for rows in blocks(len(self.q), len(D)):
            X, q, y = self.X[rows], self.q[rows], self.problem.y[rows]
            v = X @ W
            if self.bias:
                v += b
            v -= v[np.arange(len(v)), y][:, None]  # so that a true class of probability 1 costs no digits
            v -= np.einsum("ir,ir->i", q, v)[:, None]
            v *= q
            v *= self.penalties[rows, None]
            bent[:, : self.d] += input_sums(X, v)
            if self.bias:
                bent[:, self.d] += v.sum(axis=0)
        bent *= size * self.unit
        bent[:, : self.d] *= self.sizes
        bent[:, : self.d] += D[:, : self.d]
        return bent


class _Axes:
    """Other coordinates of dense inputs, in which the Hessian's blocks of the classes are far from singular
    even if the features are not centred or almost dependent: the inputs are centred, which moves the
    intercept, and rotated to their principal axes."""

    def __init__(self, problem: Problem):
        X, penalties = problem.X, problem.penalties
        self.problem, self.d, self.bias = problem, X.shape[1], problem.bias
        self.centre = penalties @ X / penalties.sum() if self.bias else np.zeros(self.d)
        triangle = np.linalg.qr(np.sqrt(penalties)[:, None] * (X - self.centre), mode="r")
        self.axes = np.linalg.svd(triangle, full_matrices=True)[2].T

    def inputs(self) -> Floats:
        turned: Floats = (self.problem.X - self.centre) @ self.axes
        return turned

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

    def __init__(self, hessian: _Hessian):
        self.hessian, self.d, self.bias = hessian, hessian.d, hessian.bias

    def update(self) -> None:
        hessian, k = self.hessian, self.hessian.problem.k
        own, first, second = np.zeros((k, 1)), np.zeros((k, self.d)), np.zeros((k, self.d))
        for rows in blocks(len(hessian.q), k):
            X: Any = hessian.X[rows]
            bends = hessian.bends(rows)
            own[:, 0] += bends.sum(axis=0)
            if self.bias:
                first += input_sums(X, bends)
            second += input_sums(X.multiply(X).tocsr() if issparse(X) else X * X, bends)
        self.own = hessian.unit * own + 1e-300
        self.centre = hessian.unit * hessian.sizes * first / self.own
        second *= hessian.unit * hessian.sizes**2
        self.diagonal = 1.0 + np.maximum(second - self.own * self.centre**2, 0.0)

    def __call__(self, R: Floats) -> Floats:
        d, solved = self.d, R.copy()
        if self.bias:
            solved[:, :d] -= R[:, d:] * self.centre
        solved[:, :d] /= self.diagonal
        if self.bias:
            solved[:, d:] = R[:, d:] / self.own - (solved[:, :d] * self.centre).sum(axis=1, keepdims=True)
        solved -= solved.mean(axis=0)
        return solved


class _Blocks:
    """Inverses of the Hessian's blocks of the classes, for few dense features."""

    def __init__(self, hessian: _Hessian):
        self.hessian, self.d = hessian, hessian.d
        self.columns = np.ones((len(hessian.q), self.d + hessian.bias))
        self.columns[:, : self.d] = hessian.X * hessian.sizes

    def update(self) -> None:
        self.factors = []
        parts = [self.hessian.bends(rows) for rows in blocks(*self.hessian.q.shape)]
        for weight in self.hessian.unit * np.concatenate(parts, dtype=np.float64).T:
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
        solved = np.empty_like(R)
        for row, own, (factor, unit) in zip(R, solved, self.factors, strict=True):
            own[:] = cho_solve(factor, row / unit) / unit
        solved -= solved.mean(axis=0)
        return solved


def _conjugate_gradients(
    product: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    target: Floats,
    accuracy: float,
    most: int,
    enough: float,
) -> tuple[Floats, bool]:
    """A descent direction D with product(D) = target up to ``accuracy``, or up to a difference of the norm
    ``enough``; and whether that was reached within the allowed number of products."""
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
        solved = size <= goal or float(np.linalg.norm(R)) <= enough
        if solved:
            break
        P = Z + size / before * P
    return (D if D.any() else Z), solved
