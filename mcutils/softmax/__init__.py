r"""Softmax: class probabilities out of scores, how to learn them, and how to check what they are worth.

Scores :math:`f_1, \dots, f_k` become probabilities :math:`q_y = e^{f_y} / \sum_r e^{f_r}`. Their loss is the
*cross-entropy* :math:`\ell = -\log q_y = \log \sum_r e^{f_r - f_y}` of the true class y (def-softmax-loss);
with two classes it is the logistic loss of the margin :math:`f_y - f_r`. Softmax regression minimises

.. math:: \tfrac12 \|W\|_F^2 + C \sum_i \ell_i, \qquad f_y(x) = \langle w_y, x \rangle + b_y ,

with :math:`\lambda = 1/(mC)` in the other notation. The loss is a maximum over probability vectors,
:math:`\ell = \max_q \langle q - e_y, f \rangle + H(q)` with the entropy :math:`H(q) = -\sum_r q_r \log q_r`,
and so the dual maximises

.. math:: \sum_i C H(q_i) - \tfrac12 \|V\|_F^2, \qquad V = \sum_i C (e_{y_i} - q_i) x_i^\top,

over one probability vector :math:`q_i` for each example; with intercepts, over those with
:math:`\sum_i C (e_{y_i} - q_i) = 0`. It certifies every classifier here.

The other half of the module makes probabilities for classifiers that have only scores (:func:`temperature`,
:func:`pairwise_coupling`, :class:`WithProbabilities`), and judges probabilities wherever they come from
(:func:`reliability`, :func:`brier`, :func:`log_loss`).

Classes in arguments of functions are rows of W, from 0; estimators take any labels. Ties go to the smallest
class.

>>> import numpy as np
>>> from mcutils import softmax
>>> softmax.softmax([[0.0, np.log(3.0)]]).round(4)
array([[0.25, 0.75]])
>>> float(softmax.cross_entropy([[0.0, -50.0]], [0])[0])  # tiny, and right in all digits
1.9287498479639178e-22
"""

from .._public import set_public_module
from ._calibration import WithProbabilities
from ._coupling import Coupling, pairwise_coupling
from ._loss import cross_entropy, cross_entropy_gradient, cross_entropy_hessian_product, log_softmax, softmax
from ._objective import dual_objective, objective
from ._regression import SoftmaxRegression
from ._scoring import Reliability, brier, log_loss, reliability
from ._temperature import Temperature, temperature

__all__ = [
    "Coupling",
    "Reliability",
    "SoftmaxRegression",
    "Temperature",
    "WithProbabilities",
    "brier",
    "cross_entropy",
    "cross_entropy_gradient",
    "cross_entropy_hessian_product",
    "dual_objective",
    "log_loss",
    "log_softmax",
    "objective",
    "pairwise_coupling",
    "reliability",
    "softmax",
    "temperature",
]

set_public_module(globals())
