r"""One optimum, three solvers: the classifiers of Crammer and Singer and of Weston and Watkins, certified.

The classifier of def-dual-problem has scores :math:`f_r` in the Hilbert space of a kernel, and minimises

.. math:: \tfrac12 \sum_r \|f_r\|^2 + \sum_i C_i \ell_i(f), \qquad C_i = C s_i,

with a hinge of :mod:`mcutils.hinge`, costs :math:`\Delta` and weights :math:`s_i`. Its dual is in
:mod:`mcutils.dual`: multipliers :math:`\alpha_{ir}` make the coefficients :math:`\beta_{ir}` of
:math:`f_r = \sum_i \beta_{ir} K(x_i, \cdot)`, whose rows sum to 0. The largest dual value is the least primal
one (thm-dual-strong), so that both together are a certificate, and every fit ends with one.

- :func:`solve_qp` hands the textbook's quadratic program to cvxopt: matrices of m k rows and columns.
- :func:`solve_interior` hands it over as functions, and solves the equations of each step class by class
  (thm-solver-structure): k Cholesky factors of m rows, and one more.
- :func:`solve_block` moves one example after the other to its best multipliers (alg-solver-block).
  :class:`CrammerSinger` and :class:`WestonWatkins` use it by default: with kernel rows that are computed
  when an example first moves, or without any kernel, on W.

>>> import numpy as np
>>> X = np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 99.0]])
>>> model = CrammerSinger(fit_intercept=False, tol=1e-9).fit(X, [0, 1, 2, 2, 2])
>>> model.coef_.round(6)
array([[-0.5     , -0.333333],
       [ 0.5     , -0.333333],
       [ 0.      ,  0.666667]])
>>> round(12 * model.certificate_.primal, 6), model.converged_
(7.0, True)
"""

from .._public import set_public_module
from ._estimators import CrammerSinger, WestonWatkins
from ._solve import Solution, solve_block, solve_interior, solve_qp

__all__ = ["CrammerSinger", "Solution", "WestonWatkins", "solve_block", "solve_interior", "solve_qp"]

set_public_module(globals())
