r"""The perceptron for k classes: every ultraconservative update, averaged and voted, linear or with a kernel.

A classifier has a weight vector for each class and scores :math:`f_y(x) = \langle w_y, \phi(x) \rangle`. It
looks at one example after the other. Where the true class is not alone in front, so where

.. math:: E = \{r \ne y : f_r(x) \ge f_y(x)\}

is not empty, that is a *mistake* - a tie counts, for the classifier starts at 0 - and every class moves,
:math:`w_r \leftarrow w_r + \tau_r \phi(x)`. An update is *ultraconservative*
(def-perceptron-ultraconservative) if

.. math:: \tau_y = 1, \qquad \tau_r \le 0 \text{ on } E, \qquad \tau_r = 0 \text{ elsewhere}, \qquad
   \sum_r \tau_r = 0.

Whichever it is, on examples within the radius R, and of the margin :math:`\gamma` for some W of norm 1, it
makes at most :math:`2 R^2 / \gamma^2` mistakes, in whatever order and however often they come
(thm-perceptron-mistakes).

Classes are rows of an array, from 0.

>>> from mcutils.perceptron import MulticlassPerceptron, mistake_bound
>>> X = [[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0], [0.5, 2.0]]
>>> y = ["up", "right", "down", "up"]
>>> model = MulticlassPerceptron(average=False, shuffle=False).fit(X, y)
>>> model.mistakes_, model.predict(X).tolist()
(array([4, 1, 0]), ['up', 'right', 'down', 'up'])
>>> bool(model.mistakes_.sum() <= mistake_bound(X, y).bound)
True

Reference: Crammer and Singer, *Ultraconservative online algorithms for multiclass problems*, Journal of
Machine Learning Research 3 (2003) 951-991.
"""

from .._public import set_public_module
from ._bound import MistakeBound, mistake_bound
from ._estimators import KernelPerceptron, MulticlassPerceptron
from ._updates import UPDATES, mira, ultraconservative

__all__ = [
    "UPDATES",
    "KernelPerceptron",
    "MistakeBound",
    "MulticlassPerceptron",
    "mira",
    "mistake_bound",
    "ultraconservative",
]

set_public_module(globals())
