"""The three solvers as functions of a Gram matrix."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._checks import gram_matrix, integer, number, reals
from .._progress import Log
from .._rows import WholeGram
from .._typing import Floats
from .._warnings import warn
from ..certificate import Certificate
from ..hinge import HingeProblem
from ._ascent import climb
from ._interior import by_cvxopt


@dataclass(frozen=True, eq=False)
class Solution:
    r"""What a solver found.

    Attributes
    ----------
    multipliers : (m, k) array
        :math:`\alpha`, feasible; for the true class the sum of the others.
    certificate : Certificate
        Primal and dual value of the classifier that they make, and the residuals of :func:`mcutils.dual.kkt`.
        ``n_iter`` counts the steps of an interior-point method, or how many times m examples were moved.
    converged : bool
        Whether the relative gap is at most ``tol``.
    """

    multipliers: Floats
    certificate: Certificate
    converged: bool


def solve_block(
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
    *,
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
    problem : HingeProblem or (m,) array-like of int
        Labels alone stand for the problem with these labels and the defaults of
        :class:`mcutils.hinge.HingeProblem`.
    tol : float
        The relative gap :math:`(P - D) / \max(1, |P|)` to stop at.
    max_iter : int
        The solver stops after ``max_iter * m`` moves of an example or ``max_iter`` rounds; Newton steps end a
        round.
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
    >>> certificate = solve_block([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> certificate.multipliers, certificate.certificate.primal, certificate.converged
    (array([[0.5, 0.5],
           [0.5, 0.5]]), 0.5, True)
    """
    matrix, task, tol = _checked(gram, problem, tol)
    beta = np.zeros((len(matrix), task.n_classes))
    if initial is not None:
        beta = task.coefficients(_initial(initial, task))
    beta, certificate = climb(WholeGram(matrix), task, tol, integer(max_iter, "max_iter", 1), beta, Log())
    return _solution(task, beta, certificate, tol)


def solve_qp(
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Solution:
    r"""Hand the textbook's matrices, :func:`mcutils.dual.quadratic_program`, to cvxopt.

    For comparison: its memory grows as :math:`(m k)^2`, and its time as :math:`(m k)^3`.

    Parameters
    ----------
    gram, problem
        As in :func:`solve_block`. Examples without weight are left out.
    tol : float
        The relative gap to reach.
    max_iter : int
        The largest number of steps.

    Returns
    -------
    Solution

    Warns
    -----
    ConvergenceWarning
        With the gap that was reached, where it is larger than ``tol``.

    Examples
    --------
    >>> certificate = solve_qp([[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    >>> certificate.multipliers.round(6), round(certificate.certificate.primal, 6), certificate.converged
    (array([[0.25, 0.25],
           [0.25, 0.25]]), 0.25, True)
    """
    matrix, task, tol = _checked(gram, problem, tol)
    beta, certificate = by_cvxopt(matrix, task, tol, integer(max_iter, "max_iter", 1), structured=False)
    return _solution(task, beta, certificate, tol)


def solve_interior(
    gram: ArrayLike,
    problem: HingeProblem | ArrayLike,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Solution:
    r"""Let cvxopt solve the same program, with functions in place of matrices (thm-solver-structure).

    Each step of its interior-point method has a positive diagonal matrix :math:`E_r` for each class, and
    needs the solution of the equations

    .. math:: (D_r K D_r + E_r) u_r + D_r v = p_r, \qquad \sum_r D_r u_r = q,

    where :math:`D_r` has the signs :math:`2 [y_i = r] - 1`. With :math:`N_r = (K + E_r)^{-1}` they are
    :math:`\big(\sum_r N_r\big) v = \sum_r N_r D_r p_r - q` and :math:`u_r = D_r N_r (D_r p_r - v)`. As
    :math:`N_r = E_r^{-1/2} (I + E_r^{-1/2} K E_r^{-1/2})^{-1} E_r^{-1/2}`, it takes one Cholesky factor for
    each class, of a matrix with no eigenvalue below 1, and one for v: time that grows as :math:`m^3 k`.

    Parameters, results and warnings are those of :func:`solve_qp`.

    Examples
    --------
    >>> certificate = solve_interior([[1.0, -1.0], [-1.0, 1.0]], [0, 1])
    >>> certificate.multipliers.round(6), round(certificate.certificate.primal, 6), certificate.converged
    (array([[0.25, 0.25],
           [0.25, 0.25]]), 0.25, True)
    """
    matrix, task, tol = _checked(gram, problem, tol)
    beta, certificate = by_cvxopt(matrix, task, tol, integer(max_iter, "max_iter", 1), structured=True)
    return _solution(task, beta, certificate, tol)


def _checked(
    gram: ArrayLike, problem: HingeProblem | ArrayLike, tol: float
) -> tuple[Floats, HingeProblem, float]:
    matrix = gram_matrix(gram)
    return matrix, HingeProblem.of(problem, len(matrix), rows="gram"), number(tol, "tol", above=0)


def _initial(initial: ArrayLike, problem: HingeProblem) -> Floats:
    """Multipliers to start from, moved into their bounds."""
    start, shape = reals(initial, "initial"), (len(problem.labels), problem.n_classes)
    if start.shape != shape:
        raise ValueError(f"initial must be of shape {shape}, found {start.shape}")
    return problem.nearest(start)


def _solution(problem: HingeProblem, beta: Floats, certificate: Certificate, tol: float) -> Solution:
    multipliers = problem.multipliers(beta)
    multipliers[np.arange(len(beta)), problem.labels] = multipliers.sum(axis=1)
    converged = certificate.certifies(tol)
    if not converged:
        warn_unsolved(certificate, tol)
    return Solution(multipliers, certificate, converged)


def warn_unsolved(certificate: Certificate, tol: float) -> None:
    """Warn by how much a classifier misses its tolerance."""
    warn(
        f"the SVM is not solved to tol={tol:g}: after {certificate.n_iter} iterations the relative gap of "
        f"primal and dual is {certificate.gap:.3g}; increase max_iter or tol, or decrease C",
    )
