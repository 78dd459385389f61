r"""From the root of a tree of linear classifiers to a leaf, one example after the other.

Leaves are 0 to k - 1, inner node n is k + n, and the last node is the root. Node n has the children
``children[starts[n]:starts[n + 1]]``. With two children it has one classifier, and a positive score goes to
the second; with more it has one classifier for each, and the first of the largest scores wins.
"""

import numpy as np

from mcutils.jit import sums_in_any_order


@sums_in_any_order
def leaves(X, weights, biases, rows, children, starts, leaf):
    """The leaf of each example.

    Parameters
    ----------
    X : (n, d) array
    weights : (r, d) array
        The classifiers of all nodes.
    biases : (r,) array
    rows : (N,) int array
        The first classifier of each node.
    children : (N + k - 1,) int array
    starts : (N + 1,) int array
    leaf : (n,) int array
        Filled with the leaves.
    """
    n_nodes, d = len(rows), X.shape[1]
    k = len(children) - n_nodes + 1
    for i in range(len(X)):
        at = n_nodes - 1
        while at >= 0:
            degree = starts[at + 1] - starts[at]
            best, where = 0.0, 0
            for j in range(1 if degree == 2 else degree):
                score = biases[rows[at] + j]
                for a in range(d):
                    score += weights[rows[at] + j, a] * X[i, a]
                if degree == 2:
                    where = 1 if score > 0.0 else 0
                elif j == 0 or score > best:
                    best, where = score, j
            at = children[starts[at] + where] - k
        leaf[i] = at + np.int64(k)
