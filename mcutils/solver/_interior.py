"""The interior-point method of cvxopt, for matrices, or for functions that take their place."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri

from .._typing import Floats
from ..certificate import Certificate
from ..dual import quadratic_program
from ..hinge import HingeProblem
from ._ascent import certified


def by_cvxopt(
    gram: Floats, problem: HingeProblem, tol: float, max_iter: int, *, structured: bool
) -> tuple[Floats, Certificate]:
    """Coefficients and their certificate; ``structured`` takes functions in place of the matrices."""
    cvxopt = _cvxopt()
    m, k = len(gram), problem.n_classes
    used = np.flatnonzero(problem.penalties > 0)
    if not len(used):
        beta = np.zeros((m, k))
        return beta, certified(problem, beta, beta, np.diag(gram), 1)
    # penalties of the size of 1 are what its stopping rule expects
    unit = float(problem.penalties.max()) or 1.0
    part = HingeProblem(
        problem.labels[used],
        loss=problem.loss,
        cost=problem.costs,
        sample_weight=problem.penalties[used] / unit,
    )
    square = gram[np.ix_(used, used)] * unit
    program: Any = _Structured(square, part) if structured else quadratic_program(square, part)
    more = {"kktsolver": program.solver} if structured else {}
    given = (program.P, program.q, program.G, program.h, program.A, program.b)
    options = {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": 0.1 * tol / unit,
        "reltol": 0.1 * tol,
        "feastol": min(1e-8, 0.1 * tol),
    }
    try:
        solved = cvxopt.solvers.coneqp(
            *(cvxopt.matrix(each) if isinstance(each, np.ndarray) else each for each in given[:4]),
            None,
            *(cvxopt.matrix(each) if isinstance(each, np.ndarray) else each for each in given[4:]),
            options=options,
            **more,
        )
        u, steps = np.array(solved["x"]).reshape(k, -1).T, int(solved["iterations"])
    except (ArithmeticError, ValueError) as reason:  # a matrix that has lost its definiteness
        raise RuntimeError(f"cvxopt gave up: {reason}") from reason
    beta = np.zeros((m, k))
    beta[used] = unit * part.coefficients(part.nearest(u))
    return beta, certified(problem, beta, gram @ beta, np.diag(gram), max(1, steps))


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

    For Weston-Watkins one inequality more states of each sum what follows from its terms, that it is not
    negative: without it the diagonal matrix of the step would have zeros.
    """

    def __init__(self, gram: Floats, problem: HingeProblem):
        cvxopt = _cvxopt()
        self.gram, self.m, self.k = gram, len(gram), problem.n_classes
        true = problem.labels == np.arange(problem.n_classes)[:, None]
        self.signs = np.where(true, 1.0, -1.0)
        penalties = np.broadcast_to(problem.penalties, true.shape)
        self.bounded_below = ~true if problem.loss == "crammer_singer" else np.full(true.shape, True)
        self.bounded_above = true if problem.loss == "crammer_singer" else ~true
        costs = problem.costs[problem.labels].T
        self.q = cvxopt.matrix(np.where(true, 0.0, -costs).ravel())
        lower, upper = int(self.bounded_below.sum()), int(self.bounded_above.sum())
        self.h = cvxopt.matrix(np.concatenate([np.zeros(lower), penalties[self.bounded_above]]))
        self.split = lower
        self.b = cvxopt.matrix(0.0, (self.m, 1))
        self.rows = lower + upper

    def as_matrix(self, vector: Any) -> Floats:
        """A view of a vector of unknowns, a row for each class."""
        view: Floats = np.asarray(vector).reshape(self.k, self.m)
        return view

    def P(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0) -> None:
        product = self.signs * ((self.signs * self.as_matrix(x)) @ self.gram)
        self.add(y, product.ravel(), alpha, beta)

    def A(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0, trans: str = "N") -> None:
        if trans == "N":
            self.add(y, (self.signs * self.as_matrix(x)).sum(axis=0), alpha, beta)
        else:
            self.add(y, (self.signs * np.asarray(x).ravel()).ravel(), alpha, beta)

    def G(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0, trans: str = "N") -> None:
        if trans == "N":
            matrix = self.as_matrix(x)
            product = np.concatenate([-matrix[self.bounded_below], matrix[self.bounded_above]])
        else:
            product = self.spread(np.asarray(x).ravel()).ravel()
        self.add(y, product, alpha, beta)

    def spread(self, values: Floats) -> Floats:
        """The transpose of G."""
        matrix = np.zeros((self.k, self.m))
        matrix[self.bounded_below] -= values[: self.split]
        matrix[self.bounded_above] += values[self.split :]
        return matrix

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
            with np.errstate(over="ignore"):  # what is infinite then, the factorisation refuses
                scaled = root[:, None] * self.gram * root
            scaled[np.diag_indices(self.m)] += 1.0
            factor, failed = dpotrf(scaled, lower=True, overwrite_a=True)
            if failed:
                raise ArithmeticError("a scaled Gram matrix has a negative eigenvalue")
            factors.append(factor)
            inverse, _ = dpotri(factor, lower=True)
            total += root[:, None] * inverse * root  # the lower triangle
        total_factor = cho_factor(total, lower=True, overwrite_a=True, check_finite=False)

        def inverses(matrix: Floats) -> Floats:
            """:math:`N_r` times each row."""
            return np.stack(
                [
                    root * cho_solve((factor, True), root * row, check_finite=False)
                    for root, factor, row in zip(roots, factors, matrix, strict=True)
                ]
            )

        scale = np.sqrt(weights)

        def solve(x: Any, y: Any, z: Any) -> None:
            u, v, w = np.asarray(x).reshape(-1), np.asarray(y).reshape(-1), np.asarray(z).reshape(-1)
            right = self.signs * (u.reshape(self.k, self.m) + self.spread(weights * w))
            v[:] = cho_solve(total_factor, inverses(right).sum(axis=0) - v, check_finite=False)
            matrix = self.signs * inverses(right - v)
            u[:] = matrix.ravel()
            product = np.concatenate([-matrix[self.bounded_below], matrix[self.bounded_above]])
            w[:] = scale * (product - w)

        return solve
