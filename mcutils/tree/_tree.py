"""A tree as arrays."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import assert_all_finite

from .._typing import Bools, Floats, Ints
from ._columns import Columns, are_chosen
from ._questions import OTHER, make_question


@dataclass(frozen=True, eq=False)
class Tree:
    r"""A tree: arrays with an entry for each node, the root first, parents before their children.

    In a grown tree the t-th split makes the nodes 2 t - 1 and 2 t, so that the first 2 t + 1 nodes are the
    tree after t splits.

    Attributes
    ----------
    left, right : (nodes,) int arrays
        The children, -1 at leaves; items that answer yes go right.
    parent : (nodes,) int array
        -1 at the root.
    depth : (nodes,) int array
    counts : (nodes, k) array
        The weights of the classes.
    items : (nodes,) int array
        :math:`|n|`, the number of training items in the region of the node; weights do not count.
    impurity : (nodes,) array
        :math:`F(n)`.
    decrease : (nodes,) array
        The total decrease :math:`|n| \tilde F(n, q)` of the node's question, with weights; 0 at leaves.
    predictions : (nodes,) int array
        The index of the class that a node predicts as a leaf: the cheapest, ties to the first.
    feature : (nodes,) int array
        The column of a numerical or categorical question; -1 at leaves, -2 for other questions.
    threshold : (nodes,) array
        Of numerical questions, else NaN.
    """

    left: Ints
    right: Ints
    parent: Ints
    depth: Ints
    counts: Floats
    items: Ints
    impurity: Floats
    decrease: Floats
    predictions: Ints
    feature: Ints
    threshold: Floats
    _members: NDArray[np.uint8]
    _others: dict[int, Any]
    _columns: Columns

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.left)

    @property
    def is_leaf(self) -> Bools:
        """Which nodes are leaves."""
        return self.left < 0

    @property
    def leaves(self) -> Ints:
        """The leaves, ascending."""
        return np.flatnonzero(self.left < 0)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.left < 0).sum())

    @cached_property
    def questions(self) -> tuple[Any, ...]:
        """The question of every node, None at leaves."""
        return tuple(
            None
            if self.left[n] < 0
            else make_question(
                int(self.feature[n]),
                self.threshold[n],
                self._members[n] if self._members.shape[1] else None,
                self._columns,
                self._others.get(n),
            )
            for n in range(self.n_nodes)
        )

    @cached_property
    def _asked(self) -> tuple[NDArray[Any], ...]:
        """As the compiled descent wants it."""
        leaf = self.is_leaf
        return (
            np.where(leaf, np.arange(len(leaf)), self.left).astype(np.int32),
            np.where(leaf, 0, self.feature).astype(np.int32),
            np.where(leaf, np.nan, self.threshold),
            self._members,
            self._columns.n_levels,
        )

    def reach(self, X: Floats) -> Ints:
        """The leaf of each row of encoded values."""
        if not self._others:
            from ..jit import tree as jit

            reached = np.empty(len(X), dtype=np.int64)
            if jit.descend(X, *self._asked, reached):  # type: ignore[call-arg]
                assert_all_finite(X, allow_nan=True, estimator_name="DecisionTree", input_name="X")
            return reached
        assert_all_finite(X, allow_nan=True, estimator_name="DecisionTree", input_name="X")
        reached = np.zeros(len(X), dtype=np.int64)
        waiting: list[tuple[int, Ints]] = [(0, np.arange(len(X)))]
        while waiting:
            n, rows = waiting.pop()
            if self.left[n] < 0 or len(rows) == 0:
                reached[rows] = n
                continue
            j = int(self.feature[n])
            if j == OTHER:
                positive = np.asarray(self._others[n].answer(X[rows]))
            elif j in self._columns.levels:
                positive = are_chosen(self._members[n], X[rows, j])
            else:
                positive = X[rows, j] <= self.threshold[n]
            waiting += [(int(self.left[n]), rows[~positive]), (int(self.right[n]), rows[positive])]
        return reached

    def paths(self, leaves: Ints) -> csr_array:
        """The nodes from the root to each of some leaves, (n, nodes), 0 and 1."""
        above: list[list[int]] = []
        for n in range(self.n_nodes):
            above.append([*above[self.parent[n]], n] if n > 0 else [0])
        indices = [above[leaf] for leaf in leaves.tolist()]
        ends = np.cumsum([0, *(len(path) for path in indices)])
        flat = np.concatenate(indices).astype(np.int64)
        return csr_array((np.ones(len(flat), dtype=np.int64), flat, ends), shape=(len(leaves), self.n_nodes))

    def restricted(self, kept: Bools) -> "Tree":
        """The tree of some nodes: with the root, and of siblings both or none."""
        number = np.cumsum(kept) - 1
        open_ = kept & (self.left >= 0)
        open_[open_] = kept[self.left[open_]]

        def renumbered(links: Ints) -> Ints:
            return np.where(open_, number[links], -1)[kept]

        return replace(
            self,
            left=renumbered(self.left),
            right=renumbered(self.right),
            parent=np.where(self.parent >= 0, number[self.parent], -1)[kept],
            decrease=np.where(open_, self.decrease, 0.0)[kept],
            feature=np.where(open_, self.feature, -1)[kept],
            threshold=np.where(open_, self.threshold, np.nan)[kept],
            _others={int(number[n]): question for n, question in self._others.items() if open_[n]},
            **{name: getattr(self, name)[kept] for name in _EACH},
        )


_EACH = ("depth", "counts", "items", "impurity", "predictions", "_members")
