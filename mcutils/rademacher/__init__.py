r"""Empirical Rademacher complexity: computed exactly, estimated with an honest interval, bounded.

On a sample :math:`z_1, \dots, z_m` a family :math:`\mathcal G` of real functions is a set of vectors
:math:`(g(z_1), \dots, g(z_m))`. Its empirical Rademacher complexity (def-rademacher-empirical) is

.. math:: \hat{\mathfrak R}_S(\mathcal G) = \mathbb E_\sigma \sup_{g \in \mathcal G}
          \frac1m \sum_{i=1}^m \sigma_i g(z_i),

without an absolute value, where the signs :math:`\sigma_i` are -1 or +1, independent and equally likely.
All that is needed of a family is its supremum for given signs; the families here compute theirs:

==========================  =======================================================================
:class:`Finite`             finitely many functions, given by their values
:class:`KernelBall`         functions of norm at most :math:`\Lambda` in the space of a kernel
:class:`L2Ball`             :math:`x \mapsto \langle w, x \rangle` with :math:`\|w\|_2 \le \Lambda`
:class:`L1Ball`             :math:`x \mapsto \langle w, x \rangle` with :math:`\|w\|_1 \le \Lambda`
:class:`Thresholds`         :math:`x \mapsto \pm 1` by the side of a threshold
:class:`MulticlassBall`     k functions :math:`f_y` of a kernel, :math:`\sum_y \|f_y\|^2 \le \Lambda^2`
:func:`maximum`             pointwise maxima of functions of finite families
==========================  =======================================================================

:func:`complexity` averages over all signs, :func:`monte_carlo` over some; :func:`upper` and :func:`lower` are
what the theorems give.

Reference for the convex case of the interval: P.-M. Samson, *Concentration of measure inequalities for
Markov chains and Φ-mixing processes*, The Annals of Probability 28 (2000) 416-461.

>>> import numpy as np
>>> from mcutils import rademacher
>>> ball = rademacher.KernelBall(np.eye(4))  # four orthogonal inputs: the supremum is 2 for all signs
>>> rademacher.lower(ball), rademacher.complexity(ball), rademacher.upper(ball)  # doctest: +ELLIPSIS
(0.3535..., 0.5, 0.5)
>>> steps = rademacher.Thresholds([0.1, 0.2, 0.3])
>>> rademacher.complexity(steps)
0.6666666666666666
>>> result = rademacher.monte_carlo(steps, 1000, random_state=0)
>>> result.low < 2 / 3 < result.high
True
"""

from .._public import set_public_module
from ._bounds import lower, upper
from ._exact import complexity
from ._families import Family, Finite, KernelBall, L1Ball, L2Ball, MulticlassBall, Thresholds, maximum
from ._monte_carlo import Estimate, monte_carlo

__all__ = [
    "Estimate",
    "Family",
    "Finite",
    "KernelBall",
    "L1Ball",
    "L2Ball",
    "MulticlassBall",
    "Thresholds",
    "complexity",
    "lower",
    "maximum",
    "monte_carlo",
    "upper",
]

set_public_module(globals())
