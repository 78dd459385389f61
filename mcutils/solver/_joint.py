r"""Steps of all examples at once, for linear classifiers with few weights.

With a price :math:`\frac\tau2 \sum_i \|b_i - \beta_i\|^2` on moves, the dual is as well to minimise over W

.. math:: \varphi(W) = \tfrac12 \|W\|^2 - \sum_i \min_b \big( \langle \Delta(y_i, \cdot) + W x_i, b \rangle
   + \tfrac\tau2 \|b - \beta_i\|^2 \big) .

This function is convex, with the gradient :math:`W - \sum_i b_i x_i^\top` for the best rows :math:`b_i`.
Only examples with two coefficients between their bounds add to its curvature, so Newton's steps are cheap.
Where they end, :math:`\beta` becomes the best rows, and :math:`\tau` falls.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._progress import Log
from .._typing import Bools, Floats
from ..hinge import HingeProblem

MOST = 450  # the most weights: with more, passes over the examples may take less time
_FIRST = 0.03  # the first price, as a part of the mean curvature of an example
_FALL = 0.3  # what remains of it when the best rows are taken
_NEAR = 0.2  # they are taken when the gradient, squared, is at most this part of tau times their way, squared
_STEPS = 60  # the most Newton steps
_TRIALS = 12  # the most points on a line


@dataclass(eq=False)
class _Point:
    """Weights, and what follows from them."""

    W: Floats  # (k, d)
    scores: Floats  # (m, k)
    best: Floats  # (m, k), the best rows
    made: Floats  # (k, d), the weights that they make
    free: Bools  # (m, k)
    value: float  # of the function that is minimised
    way: float  # of the best rows from those before, squared
    primal: float  # of W
    dual: float  # of the best rows

    @property
    def gradient(self) -> Floats:
        return self.W - self.made


def joint_work(m: int, d: int, k: int) -> float:
    """About what the steps take, in multiplications: for calls, scores, Hessians, their factors.

    For a Hessian all pairs of free classes are gone through; the more classes, the more of them are free.
    """
    return 15 * (1e5 + 2.0 * m * k * (d + 8) + 0.005 * m * d**2 * k**3 + (k * d) ** 3 / 20)


class Joint:
    """The steps, from some coefficients and the weights that they make.

    Moves are priced from ``beta`` on, and ``visits`` counts how often all examples were visited, at most
    ``most`` times.
    """

    def __init__(self, X: Floats, problem: HingeProblem, beta: Floats, squares: Floats, most: int):
        from ..jit import multiclass as jit

        self.jit, self.X, self.problem = jit, X, problem
        self.every = problem.loss == "weston_watkins"
        self.beta, self.price = beta, _FIRST * float(squares.mean())
        self.visits, self.most = 0, most

    def ascend(self, tol: float, W: Floats, log: Log, n_iter: int) -> Floats:
        """Coefficients whose own weights have the gap; or else those of the largest dual value met."""
        point = self.at(W, self.X @ W.T)
        primal, kept = point.primal, self.beta
        linear = float(np.vdot(self.problem.costs[self.problem.labels], self.beta))
        dual = -0.5 * float(np.vdot(W, W)) - linear
        for _ in range(_STEPS):
            primal = min(primal, point.primal)
            if point.dual > dual:
                dual, kept = point.dual, point.best
            log.values(n_iter + self.visits, primal, dual)
            allowed = tol * max(1.0, point.primal)
            close = point.primal - point.dual <= allowed
            if self.visits >= self.most:
                break
            if close and self.primal(point.made) - point.dual <= allowed:
                return point.best
            slope = float(np.vdot(point.gradient, point.gradient))
            if not close and slope <= _NEAR * self.price * point.way and self.visits < self.most:
                self.beta, self.price = point.best, _FALL * self.price
                point = self.at(point.W, point.scores)
            new = self.step(point)
            if new is None:
                break
            point = new
        return kept

    def at(self, W: Floats, scores: Floats) -> _Point:
        self.visits += 1
        best, free = np.empty_like(self.beta), np.empty(self.beta.shape, np.bool_)
        paid, least, linear, way = self.jit.best_near(
            scores,
            self.beta,
            self.problem.labels,
            self.problem.penalties,
            self.problem.costs,
            self.every,
            self.price,
            best,
            free,
        )
        made, half = best.T @ self.X, 0.5 * float(np.vdot(W, W))
        dual = -0.5 * float(np.vdot(made, made)) - linear
        return _Point(W, scores, best, made, free, half - least, way, half + paid, dual)

    def primal(self, W: Floats) -> float:
        self.visits += 1
        return self.problem.objective(W, self.X)

    def step(self, point: _Point) -> _Point | None:
        """Where a Newton step leads, shortened where the function rises; None where there is no such step."""
        hessian = np.zeros(point.W.shape * 2)
        self.jit.add_curvature(self.X, point.free, self.price, hessian)
        square = hessian.reshape(point.W.size, -1)
        square[np.diag_indices(len(square))] += 1.0
        gradient = point.gradient
        try:
            factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        direction = -cho_solve(factor, gradient.ravel(), check_finite=False).reshape(gradient.shape)
        change, slope, t = self.X @ direction.T, float(np.vdot(gradient, direction)), 1.0
        if not slope < 0:
            return None
        low, high, short = 0.0, np.inf, slope  # the slope is negative at low, and positive at high
        for _ in range(min(_TRIALS, self.most - self.visits)):
            new = self.at(point.W + t * direction, point.scores + t * change)
            rises = float(np.vdot(new.gradient, direction))
            if abs(rises) <= -0.5 * slope and new.value <= point.value:
                return new
            if rises > 0:
                high, steep = t, rises
            else:
                low, short = t, rises
            if high == np.inf:
                t *= 2
            else:
                t = low + (high - low) * min(0.9, max(0.1, short / (short - steep)))
        return None
