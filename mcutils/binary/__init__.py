r"""Two classes: the support vector machine, hard and soft, with and without bias, with a certificate.

Labels are :math:`y \in \{-1, +1\}`, a classifier returns the sign of a score
:math:`f(x) = \langle w, \phi(x) \rangle + b`. The *soft-margin* SVM (def-binary-soft) minimises

.. math:: \tfrac12 \|w\|^2 + \sum_i C_i \xi_i, \qquad \xi_i = \max(0, 1 - y_i f(x_i)),

which is its hinge form (thm-binary-hinge); the *hard-margin* SVM (def-binary-hard, :math:`C = \infty`)
minimises :math:`\frac12 \|w\|^2` with all :math:`\xi_i = 0`, and has the largest margin (thm-binary-hard).
The dual (thm-kernel-dual) maximises

.. math:: \sum_i \alpha_i - \tfrac12 \alpha^\top Q \alpha, \qquad
   0 \le \alpha_i \le C_i, \quad \sum_i \alpha_i y_i = 0, \quad Q_{ij} = y_i y_j K(x_i, x_j),

without the equation where the classifier has no bias (thm-kernel-dual-origin). Every result comes with the
values of both, so that nobody has to trust the solver.

>>> import numpy as np
>>> from mcutils import binary
>>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
>>> y = np.array([-1, -1, 1, 1])
>>> result = binary.solve_svm(X @ X.T, y, C=np.inf)  # the margin is 1: half the way from 1 to 3
>>> result.alpha.round(6), round(result.intercept, 6), result.kinds.tolist()
(array([0. , 0.5, 0.5, 0. ]), -2.0, ['none', 'free', 'free', 'none'])
>>> round(result.certificate.primal, 6), result.certificate.certifies(1e-6)
(0.5, True)
"""

from .._public import set_public_module
from ._estimator import BinarySVM
from ._risk import LinearRisk, hinge_objective, minimise_risk
from ._separation import Separation, distance, geometric_margin, separate
from ._svm import NotSeparable, SVMSolution, solve_svm

__all__ = [
    "BinarySVM",
    "LinearRisk",
    "NotSeparable",
    "SVMSolution",
    "Separation",
    "distance",
    "geometric_margin",
    "hinge_objective",
    "minimise_risk",
    "separate",
    "solve_svm",
]

set_public_module(globals())
