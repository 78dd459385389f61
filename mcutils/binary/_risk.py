"""Regularised risks: other losses and another penalty, minimised with a certificate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.sparse import eye_array, hstack
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from .. import loss as losses
from .._alternative import TOLERANCES
from .._checks import number, one_of, squarable, switch
from .._rows import gram_of
from .._typing import Floats
from .._warnings import warn
from ..certificate import Certificate
from ..kernel import linear
from ._separation import checked_sample, normal_vector
from ._svm import balanced, checked_penalties, optimal_biases, solve


def hinge_objective(
    X: ArrayLike, y: ArrayLike, w: ArrayLike, b: float = 0.0, C: float | ArrayLike = 1.0
) -> float:
    r"""The hinge form of the soft-margin SVM (thm-binary-hinge) at a given hyperplane.

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
    points, labels = checked_sample(X, y, both=False)
    normal = normal_vector(w, points.shape[1])
    penalties = checked_penalties(C, labels, False)
    if np.isinf(penalties).any():
        raise ValueError(f"C must be finite, found {C!r}")
    with np.errstate(over="ignore", invalid="ignore"):
        slack = losses.hinge(labels * (points @ normal + number(b, "b")))
        value = float(normal @ normal / 2 + penalties @ slack)
    if not np.isfinite(value):
        raise ValueError("the objective leaves the range of floating point; scale X, w or C")
    return value


@dataclass(frozen=True, eq=False)
class LinearRisk:
    """A linear classifier of least regularised risk; see :func:`minimise_risk`.

    Attributes
    ----------
    weights : (d,) array
        w.
    intercept : float
        b; 0.0 without one.
    certificate : Certificate
        Primal value at (w, b) and the value of a dual feasible point.
    """

    weights: Floats
    intercept: float
    certificate: Certificate


def minimise_risk(
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "hinge",
    penalty: str = "l2",
    C: float = 1.0,
    fit_intercept: bool = True,
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

    The hinge with "l2" is :func:`solve_svm`'s classifier, with "l1" a linear programme. The smooth losses are
    minimised by Newton's method; with "l1" on a smooth penalty, :math:`|w_j|` plus a barrier of weight
    :math:`\mu \to 0`, and what is then too small to matter is set to 0.

    Parameters
    ----------
    X : (m, d) array-like
    y : (m,) array-like
        Labels -1 and +1; with a bias both must occur.
    loss : {"hinge", "squared_hinge", "logistic"}
    penalty : {"l2", "l1"}
    C : float, default=1.0
        Positive and finite.
    fit_intercept : bool, default=True
    tol : float, default=1e-8
        The relative gap of the certificate. ConvergenceWarning if it is not reached.

    Returns
    -------
    LinearRisk

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [3.0, 0.0], [4.0, 1.0]], [-1, -1, 1, 1]
    >>> for penalty in ("l2", "l1"):
    ...     result = minimise_risk(X, y, loss="squared_hinge", penalty=penalty)
    ...     print(result.weights.round(4), result.certificate.certifies(1e-8))
    [0.6993 0.2797] True
    [0.75 0.  ] True
    """
    fit_intercept = switch(fit_intercept, "fit_intercept")
    points, labels = checked_sample(X, y, both=fit_intercept)
    squarable(points)
    one_of(loss, "loss", _CONJUGATES)
    one_of(penalty, "penalty", ("l2", "l1"))
    risk = _Risk(points, labels, loss, penalty, number(C, "C", above=0), fit_intercept)
    tol = number(tol, "tol", above=0)
    if loss == "hinge":
        minimum = risk.by_svm(tol) if penalty == "l2" else risk.by_programme()
    else:
        minimum = risk.by_newton(tol)
    if not minimum.certificate.certifies(tol):
        warn(
            f"the risk is not minimised to tol={tol:g}: the relative gap is {minimum.certificate.gap:.3g}",
        )
    return minimum


def _entropy(p: Floats) -> Floats:
    entropy: Floats = entr(p) + entr(1 - p)
    return entropy


# -L*(-p), the concave gain of a multiplier p = alpha / C
_CONJUGATES: dict[str, Callable[[Floats], Floats]] = {
    "hinge": lambda p: p,
    "squared_hinge": lambda p: p - p * p / 4,
    "logistic": _entropy,
}


class _Risk:
    """One regularised risk: its values, its dual values, and its minimisers."""

    def __init__(self, X: Floats, y: Floats, loss: str, penalty: str, C: float, fit_intercept: bool):
        self.X, self.y, self.C, self.fit_intercept, self.name = X, y, C, fit_intercept, loss
        self.loss = losses.get(loss)
        self.lasso = penalty == "l1"
        self.n_steps = 0

    def primal(self, w: Floats, b: float) -> float:
        norm = float(np.abs(w).sum()) if self.lasso else float(w @ w) / 2
        return norm + self.C * float(self.loss(self.y * (self.X @ w + b)).sum())

    def certified(self, w: Floats, b: float, alpha: Floats) -> LinearRisk:
        """With the certificate of multipliers that are feasible up to rounding, made feasible."""
        alpha = np.maximum(alpha, 0.0)
        if self.name != "squared_hinge":
            alpha = np.minimum(alpha, self.C)
        if self.fit_intercept:
            alpha = np.abs(balanced(alpha, self.y))
        v = self.X.T @ (alpha * self.y)
        if self.lasso:
            shrink = 1 / max(1.0, float(np.abs(v).max()))
            alpha, v = alpha * shrink, np.zeros(1)
        dual = self.C * float(_CONJUGATES[self.name](alpha / self.C).sum()) - float(v @ v) / 2
        return LinearRisk(w, b, Certificate(self.primal(w, b), dual, n_iter=self.n_steps))

    def by_svm(self, tol: float) -> LinearRisk:
        penalties = np.full(len(self.y), self.C)
        gram = gram_of(linear, self.X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the caller warns
            solution = solve(
                gram, self.y, penalties, fit_intercept=self.fit_intercept, tol=tol / 10, max_iter=10_000_000
            )
        self.n_steps = solution.certificate.n_iter or 0
        return self.certified(self.X.T @ (self.y * solution.alpha), solution.intercept, solution.alpha)

    def by_programme(self) -> LinearRisk:
        m, d = self.X.shape
        signed = self.y[:, None] * self.X
        # unknowns: the positive and the negative part of w, b, the slacks
        solved = linprog(
            np.r_[np.ones(2 * d), 0.0, np.full(m, self.C)],
            A_ub=hstack([np.hstack([-signed, signed, -self.y[:, None]]), -eye_array(m)], format="csc"),
            b_ub=-np.ones(m),
            bounds=[(0, None)] * (2 * d) + [(None, None) if self.fit_intercept else (0, 0)] + [(0, None)] * m,
            method="highs",
            options=TOLERANCES,
        )
        if solved.status != 0:
            raise RuntimeError(f"the linear programme was not solved: {solved.message}")
        self.n_steps = int(solved.nit)
        w = solved.x[:d] - solved.x[d : 2 * d]
        b = 0.0
        if self.fit_intercept:
            b = sum(optimal_biases(self.y - self.X @ w, self.y, np.full(m, self.C))) / 2
        return self.certified(w, b, -solved.ineqlin.marginals)

    # Newton's method, for the smooth losses: in theta = (w, b)

    def by_newton(self, tol: float) -> LinearRisk:
        m, d = self.X.shape
        columns = np.column_stack([self.X, np.ones(m)]) if self.fit_intercept else self.X
        signed = self.y[:, None] * columns
        theta = np.zeros(signed.shape[1])
        if not self.lasso:
            basis = None
            if d > m:  # w is a combination of the examples: m coordinates are enough
                basis, triangle = np.linalg.qr(self.X.T)
                signed = self.y[:, None] * np.column_stack([triangle.T, np.ones(m)][: 1 + self.fit_intercept])
                theta = np.zeros(signed.shape[1])
            theta = self.newton(signed, theta, lambda w: (float(w @ w) / 2, w, np.ones_like(w)))
            return self.result(signed, theta, basis)

        smoothing, before = 1.0, theta
        while True:
            before, theta = theta, self.newton(signed, theta, partial(_smooth_lasso, smoothing))
            result = self.result(signed, theta)
            if (smoothing < 1.0 and result.certificate.gap <= tol / 4) or smoothing < 1e-15:
                break
            smoothing *= 0.2
        # weights that shrink with the smoothing are zero in the limit; the signs of the others hold, or they
        # are zero too
        kept = np.abs(theta[:d]) > 0.5 * np.abs(before[:d])
        for _ in range(20):
            signs = np.sign(theta[:d][kept])
            columns_kept = np.r_[kept, np.full(int(self.fit_intercept), True)]
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
        return result

    def result(self, signed: Floats, theta: Floats, basis: Floats | None = None) -> LinearRisk:
        w, b = (theta[:-1], float(theta[-1])) if self.fit_intercept else (theta, 0.0)
        alpha = -self.C * self.loss.subgradient(signed @ theta)
        return self.certified(w if basis is None else basis @ w, b, alpha)

    def newton(
        self,
        signed: Floats,
        theta: Floats,
        penalty: Callable[[Floats], tuple[float, Floats, Floats]],
    ) -> Floats:
        """Minimise penalty(w) + C sum L; ``penalty`` returns its value, gradient and second derivatives."""
        n = signed.shape[1] - self.fit_intercept

        def value(theta: Floats) -> float:
            return penalty(theta[:n])[0] + self.C * float(self.loss(signed @ theta).sum())

        def gradient(theta: Floats) -> Floats:
            total: Floats = self.C * (signed.T @ self.loss.subgradient(signed @ theta))
            total[:n] += penalty(theta[:n])[1]
            return total

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
            # at the minimum the values are equal up to rounding, and the gradient still decides
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
