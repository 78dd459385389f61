r"""Hinges for k classes: the loss where the true class is not ahead by as much as a mistake costs.

A table of scores has one row for each example and one column for each class. Of an example of class y with
scores f, the class r has the *gap* :math:`g_r = \Delta(y, r) + f_r - f_y`: by how much it is not behind
by its cost. The cost :math:`\Delta(y, r) \ge 0` of predicting r where y is true has
:math:`\Delta(y, y) = 0`, so :math:`g_y = 0`; without a cost matrix every mistake costs 1.

- Crammer and Singer pay the largest gap, :math:`\max_r g_r` (def-hinge-crammer-singer).
- Weston and Watkins pay all positive ones, :math:`\sum_{r \ne y} \max(0, g_r)` (def-hinge-weston-watkins).

So the first is at most the second, and the second at most k - 1 times the first (prop-hinge-order); and
both are at least the cost of the prediction, however ties of scores are broken (prop-hinge-bound).

A :class:`HingeProblem` holds the labels, the loss, C, the costs of confusions and the weights.

The classifier of the lectures minimises :meth:`HingeProblem.objective`,
:math:`\frac12 \|W\|_F^2 + C \sum_i \ell_i(W)` with scores :math:`f_r(x) = \langle w_r, x \rangle`. Divided by
:math:`m C` this is :math:`\frac\lambda2 \|W\|_F^2 + \frac1m \sum_i \ell_i(W)` with
:math:`\lambda = 1/(m C)`.

>>> import numpy as np
>>> scores, y = np.array([[2.0, 1.5, 1.25], [0.0, 3.0, 1.0]]), [0, 1]
>>> crammer_singer(scores, y), weston_watkins(scores, y)
(array([0.5, 0. ]), array([0.75, 0.  ]))
>>> weston_watkins_subgradient(scores, y)
array([[-2.,  1.,  1.],
       [ 0.,  0.,  0.]])
"""

from .._public import set_public_module
from ._balance import balanced_multipliers
from ._class_map import ClassMap
from ._losses import (
    HINGES,
    crammer_singer,
    crammer_singer_subgradient,
    gaps,
    lipschitz,
    loss_augmented,
    weston_watkins,
    weston_watkins_subgradient,
)
from ._problem import HingeProblem

__all__ = [
    "HINGES",
    "ClassMap",
    "HingeProblem",
    "balanced_multipliers",
    "crammer_singer",
    "crammer_singer_subgradient",
    "gaps",
    "lipschitz",
    "loss_augmented",
    "weston_watkins",
    "weston_watkins_subgradient",
]

set_public_module(globals())
