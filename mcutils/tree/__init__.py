r"""Decision trees: grown by any question, yes to the right.

A node n holds :math:`|n|` items, a share :math:`p_l(n)` of them of class l. Its *impurity* :math:`F(n)` is

- Gini: :math:`\sum_l p_l (1 - p_l)`,
- entropy: :math:`-\sum_l p_l \log_2 p_l`,
- misclassification: :math:`1 - \max_l p_l`, or with costs :math:`\min_r \sum_l p_l \Delta(l, r)`,

or a concave function of your own. A question sends the share :math:`\eta` of the items to the left, those
that answer no, and the others to the right. It decreases the impurity by

.. math:: \tilde F(n, q) = F(n) - \big(\eta F(n_-) + (1 - \eta) F(n_+)\big) \ge 0.

A tree grows best first: the next node to be split is that of the largest :math:`|n| \tilde F`. With no limits
an impure node is split as long as some question separates its items, also where no question decreases the
impurity, as at the root of the exclusive or.

*What is missing*, NaN or None or pandas' NA, answers no to every question, and so does a level that is not in
A, seen or not. Where values are missing, :math:`X_j \le \infty` asks whether a value is known, and A never
has the missing ones.

*Ties* go to the question of the first column, then to the smallest threshold; of sets of levels to the first
in a fixed order. With whole weights, up to :math:`2^{21}` in sum, they are decided on whole numbers: exactly
for Gini and misclassification, and for the entropy after rounding :math:`x \log_2 x` to a multiple of
:math:`2^{-s}`, where s is 61 less the bits of the largest such value. Otherwise decreases that differ by less
than :math:`10^{-10} |n|` are equal.

>>> from mcutils import tree
>>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
>>> print(tree.DecisionTree().fit(X, y).text())
x1 <= 0.5 ?
|-- no: x2 <= 0.5 ?
|   |-- no: same (1)
|   `-- yes: other (1)
`-- yes: x2 <= 0.5 ?
    |-- no: other (1)
    `-- yes: same (1)
"""

from .._public import set_public_module
from ._draw import boxes, draw, draw_regions
from ._estimator import DecisionTree, best_question
from ._impurity import CRITERIA, decrease, impurity
from ._questions import FAMILIES, Categorical, Numerical, Oblique, Sphere, Split
from ._tree import Tree

__all__ = [
    "CRITERIA",
    "FAMILIES",
    "Categorical",
    "DecisionTree",
    "Numerical",
    "Oblique",
    "Sphere",
    "Split",
    "Tree",
    "best_question",
    "boxes",
    "decrease",
    "draw",
    "draw_regions",
    "impurity",
]

set_public_module(globals())
