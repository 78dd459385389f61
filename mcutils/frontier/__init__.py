r"""Very many classes: a tournament and a tree of labels, which evaluate few classifiers for each example.

Both trees have the k classes as leaves. Their numbering is that of ``scipy.cluster.hierarchy``: leaf c is
class c, inner node n is k + n, children come before their parents, and the last node is the root. To predict,
an example starts at the root, and the classifier of each node sends it to a child, until it is at a leaf.

The trees differ in what a classifier learns from. In a :class:`FilterTree` the children play for the example:
the classifier of a node sees those examples whose label has won all its matches below. In a
:class:`LabelTree` it sees all examples whose label is below the node.

>>> from mcutils.data import prototypes
>>> from mcutils.frontier import FilterTree, LabelTree, RidgeOneVsAll
>>> nature = prototypes(50, random_state=0)
>>> (X, y), (X_test, y_test) = nature.draw(5000, 1), nature.draw(5000, 2)
>>> for model in (RidgeOneVsAll(), FilterTree(order="confusion"), LabelTree(branching=8)):
...     error = 1 - model.fit(X, y).score(X_test, y_test)
...     print(f"{type(model).__name__:13} {error:.2f}")
RidgeOneVsAll 0.12
FilterTree    0.25
LabelTree     0.19
"""

from .._public import set_public_module
from ._order import mean_order, spectral_order
from ._ridge import RidgeOneVsAll, leave_one_out_confusion
from ._trees import Eliminations, FilterTree, LabelTree

__all__ = [
    "Eliminations",
    "FilterTree",
    "LabelTree",
    "RidgeOneVsAll",
    "leave_one_out_confusion",
    "mean_order",
    "spectral_order",
]

set_public_module(globals())
