r"""Pruning: the nested sequence of smallest minimisers, and the penalty of a leaf by cross-validation.

A pruned subtree of a tree keeps its root, and of two siblings both or none. Its risk is
:math:`\hat R = \sum_{n \in L} |n| F(n)` over its leaves, and at the penalty :math:`\lambda` of a leaf

.. math:: G_\lambda = \hat R + \lambda |L|.

Among the minimisers of :math:`G_\lambda` one is contained in all others (thm-pruning-smallest). As
:math:`\lambda` grows from 0 these smallest minimisers are nested, and the weakest link finds them
(thm-pruning-sequence): the internal nodes of the least

.. math:: r(n) = \frac{|n| F(n) - \hat R(tree_n)}{|L_n| - 1},

where :math:`tree_n` is what hangs below n, are collapsed, all of them together; then again, until the root
is left. What has r = 0 costs nothing and is collapsed first.

Risks are totals, not divided by m, and with weights :math:`|n|` is the weight. Any impurity serves as F, also
another one than that by which the tree was grown.

>>> from mcutils import pruning
>>> from mcutils.tree import DecisionTree
>>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "a", "b", "a", "b"]
>>> path = pruning.sequence(DecisionTree().fit(X, y), "misclassification", exact=True)
>>> path.leaves, path.risks, [str(penalty) for penalty in path.penalties]
((4, 2, 1), (0, 1, 2), ['0', '1/2', '1'])
>>> print(pruning.prune(DecisionTree().fit(X, y), 0.5, "misclassification").text())
x1 <= 2.5 ?
|-- no: b (3)
`-- yes: a (2)
"""

from collections.abc import Sequence as Several
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from ._checks import (
    array,
    divided,
    in_memory,
    integer,
    jobs,
    name_or_function,
    one_of,
    reals,
    switch,
    verbosity,
)
from ._progress import Log, side_by_side
from ._typing import Criterion
from ._weights import example_weights, in_units, times_class_weight
from .risk import check_costs
from .tree import CRITERIA, DecisionTree, impurity

__all__ = [
    "CrossValidation",
    "Sequence",
    "Shape",
    "links",
    "prune",
    "prune_cv",
    "sequence",
]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

# Of risks that are not whole, ratios nearer than this part of the root's risk are equal.
_TIE = 1e-10


@dataclass(frozen=True, eq=False)
class Shape:
    """A tree given by arrays with an entry for each node, the root first; they are kept as arrays.

    Attributes
    ----------
    left, right : (nodes,) array-like of int
        The children, -1 at leaves. A child has a larger number than its parent.
    counts : (nodes, k) array-like
        The numbers of items of each class, or their weights. Those of a node are the sum of its children's.

    Examples
    --------
    >>> path = sequence(Shape([1, -1, -1], [2, -1, -1], [[3, 2], [3, 0], [0, 2]]))
    >>> path.penalties, path.leaves
    (array([0., 2.]), array([2, 1]))
    """

    left: ArrayLike
    right: ArrayLike
    counts: ArrayLike

    def __post_init__(self) -> None:
        sides = []
        for name in ("left", "right"):
            side = np.asarray(getattr(self, name))
            if side.ndim != 1 or side.dtype.kind not in "iu":
                raise ValueError(
                    f"{name} must have an integer for each node, found {side.dtype} of shape {side.shape}"
                )
            sides.append(side.astype(np.int64))
        left, right = sides
        values, n = reals(self.counts, "counts"), len(left)
        if right.shape != (n,) or values.ndim != 2 or len(values) != n or values.size == 0:
            raise ValueError(
                "left, right and counts must have an entry for each node, "
                f"found shapes {left.shape}, {right.shape} and {values.shape}"
            )
        inner = left >= 0
        if ((right >= 0) != inner).any():
            raise ValueError("left and right must be -1 at the same nodes: a node has two children or none")
        children = np.concatenate([left[inner], right[inner]])
        parents = np.concatenate([np.flatnonzero(inner)] * 2)
        if not np.array_equal(np.sort(children), np.arange(1, n)) or (children <= parents).any():
            raise ValueError(
                "left and right must name every node but the root once, with a larger number than its parent"
            )
        if values.min() < 0:
            raise ValueError(f"counts must be at least 0, found {values.min()}")
        together = values[left[inner]] + values[right[inner]]
        if not np.allclose(values[inner], together, rtol=1e-9, atol=1e-12):
            raise ValueError("counts of a node must be the sum of its children's")
        for name, kept in (("left", left), ("right", right), ("counts", np.asarray(self.counts))):
            object.__setattr__(self, name, kept)


@dataclass(frozen=True, eq=False)
class Sequence:
    r"""The nested sequence of the smallest minimisers of :math:`G_\lambda`; see :func:`sequence`.

    Attributes
    ----------
    penalties : (s,) array, or tuple of Fractions
        Penalties, increasing from 0: tree i is the smallest minimiser for
        :math:`\lambda_i \le \lambda < \lambda_{i+1}`, the last, a single node, for all from
        :math:`\lambda_{s-1}` on.
    leaves : (s,) int array, or tuple
        The numbers of leaves, decreasing to 1.
    risks : (s,) array, or tuple
        :math:`\hat R`, increasing.
    collapse_at : (nodes,) array, or tuple
        From which penalty on an internal node is a leaf or gone; infinite for leaves of the full tree, which
        vanish with their parents.
    start_leaves : int
        Leaves of the full tree. Tree 0 has fewer where some r is 0.
    parent : (nodes,) int array
        Of the full tree, -1 at the root.
    """

    penalties: Any
    leaves: Any
    risks: Any
    collapse_at: Any
    start_leaves: int
    parent: Ints

    def __len__(self) -> int:
        return len(self.penalties)

    def at(self, penalty: Any) -> int:
        """Which tree is the smallest minimiser at this penalty.

        Parameters
        ----------
        penalty : number
            At least 0.
        """
        if not isinstance(penalty, (int, float, Fraction, np.number)) or not penalty >= 0:
            raise ValueError(f"penalty must be at least 0, found {penalty!r}")
        return sum(1 for each in self.penalties if each <= penalty) - 1

    def kept(self, i: int) -> Bools:
        """The nodes of tree i, as a mask of those of the full tree."""
        i = integer(i, "i", -len(self), len(self) - 1)
        return _kept(
            self.parent, np.array([at <= self.penalties[i] for at in self.collapse_at], dtype=np.bool_)
        )


def _kept(parent: Ints, collapsed: Bools) -> Bools:
    """The nodes that remain when some become leaves."""
    kept = np.ones(len(parent), dtype=np.bool_)
    for n in range(1, len(parent)):
        kept[n] = kept[parent[n]] and not collapsed[parent[n]]
    return kept


# ---------------------------------------------------------------------------------------------------
# Trees, whatever their kind


@dataclass(frozen=True, eq=False)
class _Plain:
    left: Ints
    right: Ints
    parent: Ints
    counts: NDArray[Any]
    criterion: Criterion
    cost: Any


def _plain(tree: Any) -> _Plain:
    """The arrays of a tree, and its own impurity."""
    if isinstance(tree, DecisionTree):
        check_is_fitted(tree)
        own = tree.tree_
        return _Plain(own.left, own.right, own.parent, own.counts, tree.criterion, tree.cost)
    if isinstance(tree, DecisionTreeClassifier):
        check_is_fitted(tree)
        if tree.n_outputs_ != 1:
            raise ValueError(f"tree must have one output, it has {tree.n_outputs_}")
        own = tree.tree_
        counts = own.value[:, 0, :] * own.weighted_n_node_samples[:, None]
        whole = np.round(counts)  # shares times weights: whole where these were
        counts = np.where(np.abs(counts - whole) <= 1e-9 * np.maximum(whole, 1.0), whole, counts)
        left, right = own.children_left.astype(np.int64), own.children_right.astype(np.int64)
        return _Plain(left, right, _parents(left, right), counts, tree.criterion, None)
    if not isinstance(tree, Shape):
        raise ValueError(
            "tree must be a DecisionTree, a DecisionTreeClassifier of scikit-learn or a Shape, "
            f"found {type(tree).__name__}"
        )
    left, right = np.asarray(tree.left), np.asarray(tree.right)
    return _Plain(left, right, _parents(left, right), np.asarray(tree.counts), "misclassification", None)


def _parents(left: Ints, right: Ints) -> Ints:
    parent = np.full(len(left), -1)
    inner = np.flatnonzero(left >= 0)
    parent[left[inner]] = inner
    parent[right[inner]] = inner
    return parent


def _chosen(plain: _Plain, criterion: Criterion | None, cost: Any) -> tuple[Criterion, Any]:
    """The impurity that is the risk: another one, or the tree's own."""
    if criterion is None:
        criterion = plain.criterion
    if cost is None:
        cost = plain.cost
    name_or_function(criterion, "criterion", (*CRITERIA, "log_loss"), "a concave function")
    return criterion, cost if criterion == "misclassification" else None


def _risks(plain: _Plain, criterion: Criterion, cost: Any) -> tuple[Floats, bool]:
    """:math:`|n| F(n)`, and whether these are whole numbers."""
    counts = plain.counts.astype(np.float64)
    whole = bool((counts == np.floor(counts)).all() and counts[0].sum() < 2**26)
    if criterion == "misclassification":
        if cost is None:
            return counts.sum(axis=1) - counts.max(axis=1), whole
        costs = check_costs(cost).astype(np.float64)
        if costs.shape != (counts.shape[1],) * 2:
            raise ValueError(f"cost has shape {costs.shape}, the tree has {counts.shape[1]} classes")
        whole = whole and bool((costs == np.floor(costs)).all() and (counts[0] @ costs).max() < 2**26)
        return np.asarray((counts @ costs).min(axis=1)), whole
    sizes = counts.sum(axis=1)
    return np.asarray(sizes * impurity(counts, criterion)), False


def _exact_risks(plain: _Plain, criterion: Criterion, cost: Any) -> list[Any]:
    """The same as integers or Fractions."""
    if criterion not in ("gini", "misclassification"):
        raise ValueError(f"exact risks exist for 'gini' and 'misclassification', found {criterion!r}")
    if any(value != int(value) for value in plain.counts.ravel().tolist()):
        raise ValueError("exact risks need counts that are whole numbers, found others")
    table = [[int(value) for value in row] for row in plain.counts.tolist()]
    if criterion == "gini":
        return [sum(row) - Fraction(sum(c * c for c in row), max(sum(row), 1)) for row in table]
    if cost is None:
        return [sum(row) - max(row) for row in table]
    costs = [[Fraction(value) for value in row] for row in check_costs(cost).tolist()]
    predictions = range(len(costs))
    return [min(sum(c * costs[y][r] for y, c in enumerate(row)) for r in predictions) for row in table]


# ---------------------------------------------------------------------------------------------------
# The sequence


def sequence(
    tree: Any, criterion: Criterion | None = None, cost: ArrayLike | None = None, *, exact: bool = False
) -> Sequence:
    r"""All smallest minimisers of :math:`G_\lambda`, from :math:`\lambda = 0` on (alg-pruning-sequence).

    Parameters
    ----------
    tree : DecisionTree, scikit-learn's DecisionTreeClassifier, or Shape
        Fitted.
    criterion : {"gini", "entropy", "log_loss", "misclassification"} or callable, optional
        The impurity that is the risk. By default that of the tree; of a Shape, misclassification.
    cost : (k, k) array-like, optional
        For "misclassification"; by default that of the tree.
    exact : bool
        Compute with whole numbers and Fractions, slowly: "gini" or "misclassification", whole counts.

    Returns
    -------
    Sequence
        Equal ratios are one penalty. They are compared exactly if ``exact``, and for misclassification
        of whole counts and costs; otherwise ratios that differ by no more than
        :math:`10^{-10}` of the root's risk are equal.

    Examples
    --------
    >>> from mcutils.tree import DecisionTree
    >>> model = DecisionTree().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> path = sequence(model)
    >>> path.penalties.round(3), path.leaves
    (array([0.   , 0.667]), array([3, 1]))
    >>> path.kept(1)
    array([ True, False, False, False, False])
    """
    plain = _plain(tree)
    criterion, cost = _chosen(plain, criterion, cost)
    if switch(exact, "exact"):
        risks: Any = _exact_risks(plain, criterion, cost)
        collapse: Any = _collapse_exactly(plain, risks)
    else:
        from .jit import tree as jit

        risks, whole = _risks(plain, criterion, cost)
        collapse = np.empty(len(risks))
        tie = 0.0 if whole else _TIE * float(risks[0])
        jit.weakest_links(plain.left, plain.right, plain.parent, np.arange(len(risks)), risks, tie, collapse)
    return _sequence(plain, risks, collapse, exact)


def _collapse_exactly(plain: _Plain, risks: Several[Any]) -> list[Any]:
    """The penalties from the leaves upwards, in exact numbers.

    At a penalty, the best value of the tree below a node is a concave, piecewise linear function of the
    penalty. That of a node is the sum of its children's until the node itself, as a leaf, is as cheap.
    """
    left, right = plain.left.tolist(), plain.right.tolist()
    collapse: list[Any] = [float("inf")] * len(left)
    # below each node: the penalties at which something collapses, with what is lost (leaves, and risk gained)
    steps: list[dict[Fraction, list[Any]]] = [{} for _ in left]
    below: list[Any] = list(risks)
    leaves = [1] * len(left)
    for n in range(len(left) - 1, -1, -1):
        if left[n] < 0:
            continue
        joined: dict[Fraction, list[Any]] = steps[left[n]]
        for penalty, (fewer, more) in steps[right[n]].items():
            step = joined.setdefault(penalty, [0, 0])
            step[0] += fewer
            step[1] += more
        below[n], leaves[n] = below[left[n]] + below[right[n]], leaves[left[n]] + leaves[right[n]]
        count, risk = leaves[n], below[n]
        kept: dict[Fraction, list[Any]] = {}
        for penalty in [*sorted(joined), None]:
            # where the children's minimiser has `count` leaves: up to this penalty
            if count > 1:
                own = Fraction(risks[n] - risk) / (count - 1)
                if penalty is None or own <= penalty:
                    collapse[n] = own
                    kept[own] = [count - 1, risks[n] - risk]
                    break
            fewer, more = joined[penalty]
            kept[penalty] = joined[penalty]
            count, risk = count - fewer, risk + more
        steps[n] = kept
        steps[left[n]], steps[right[n]] = {}, {}
    # a node below one that collapses earlier is gone with it
    for n in range(1, len(left)):
        if left[n] >= 0:
            collapse[n] = min(collapse[n], collapse[plain.parent[n]])
    return collapse


def _sequence(plain: _Plain, risks: Any, collapse: Any, exact: bool) -> Sequence:
    """What there is at each penalty."""
    inner = np.flatnonzero(plain.left >= 0).tolist()
    steps: dict[Any, list[Any]] = {0: [0, 0]}
    for n in inner:
        # where a node collapses it loses what its children were: sums over nodes of two for one
        step = steps.setdefault(collapse[n], [0, 0])
        step[0] += 1
        step[1] += risks[n] - risks[plain.left[n]] - risks[plain.right[n]]
    leaves, risk = len(inner) + 1, sum(risks[n] for n in np.flatnonzero(plain.left < 0).tolist())
    penalties, counts, values = [], [], []
    for penalty in sorted(steps):
        fewer, more = steps[penalty]
        leaves, risk = leaves - fewer, risk + more
        penalties.append(penalty)
        counts.append(leaves)
        values.append(risk)
    if exact:
        fractions = tuple(Fraction(penalty) for penalty in penalties)
        return Sequence(
            fractions, tuple(counts), tuple(values), tuple(collapse), len(inner) + 1, plain.parent
        )
    values = [max(value, 0.0) for value in values[:-1]] + [risks[0]]
    return Sequence(
        np.array(penalties, dtype=np.float64),
        np.array(counts),
        np.array(values, dtype=np.float64),
        collapse,
        len(inner) + 1,
        plain.parent,
    )


def _pruned_arrays(plain: _Plain, kept: ArrayLike | None) -> tuple[Bools, Bools]:
    """Which nodes are there, and which of them are leaves."""
    n = len(plain.left)
    there = np.ones(n, dtype=np.bool_) if kept is None else array(kept, "kept").astype(np.bool_)
    if there.shape != (n,):
        raise ValueError(f"kept has shape {there.shape}, the tree has {n} nodes")
    inner = np.flatnonzero(plain.left >= 0)
    orphans = (there[1:] & ~there[plain.parent[1:]]).any()
    if not there[0] or orphans or (there[plain.left[inner]] != there[plain.right[inner]]).any():
        raise ValueError("kept must have the root, and of siblings both or none, below a node that is kept")
    leaf = there.copy()
    leaf[inner] &= ~there[plain.left[inner]]
    return there, leaf


def links(
    tree: Any,
    criterion: Criterion | None = None,
    cost: ArrayLike | None = None,
    kept: ArrayLike | None = None,
) -> Floats:
    r"""The ratios :math:`r(n) = (|n| F(n) - \hat R(tree_n)) / (|L_n| - 1)` of the internal nodes.

    Parameters
    ----------
    tree, criterion, cost
        As in :func:`sequence`.
    kept : (nodes,) array-like of bool, optional
        A pruned subtree; by default the whole tree.

    Returns
    -------
    (nodes,) array
        NaN at leaves, and for nodes that are not there.

    Examples
    --------
    >>> links(Shape([1, -1, -1], [2, -1, -1], [[3, 2], [3, 0], [0, 2]]))
    array([ 2., nan, nan])
    """
    plain = _plain(tree)
    risks, _ = _risks(plain, *_chosen(plain, criterion, cost))
    there, leaf = _pruned_arrays(plain, kept)
    count, below = leaf.astype(np.int64), np.where(leaf, risks, 0.0)
    penalties = np.full(len(risks), np.nan)
    for n in np.flatnonzero(there & ~leaf)[::-1].tolist():
        children = [plain.left[n], plain.right[n]]
        count[n], below[n] = count[children].sum(), below[children].sum()
        penalties[n] = (risks[n] - below[n]) / (count[n] - 1)
    return penalties


def prune(
    tree: Any, penalty: float, criterion: Criterion | None = None, cost: ArrayLike | None = None
) -> Any:
    r"""The smallest minimiser of :math:`G_\lambda` among the pruned subtrees.

    Parameters
    ----------
    tree, criterion, cost
        As in :func:`sequence`.
    penalty : float
        The penalty of a leaf, at least 0.

    Returns
    -------
    DecisionTree or Shape
        Of a DecisionTree a copy with fewer nodes, which predicts; of others their Shape.

    Examples
    --------
    >>> from mcutils.tree import DecisionTree
    >>> model = DecisionTree().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> [prune(model, penalty).get_n_leaves() for penalty in (0.5, 1.0)]
    [3, 1]
    """
    path = sequence(tree, criterion, cost)
    kept = path.kept(path.at(penalty))
    if isinstance(tree, DecisionTree):
        pruned = copy(tree)
        pruned.tree_ = tree.tree_.restricted(kept)
        return pruned
    plain = _plain(tree)
    _, leaf = _pruned_arrays(plain, kept)
    number = np.cumsum(kept) - 1
    sides = [np.where(leaf, -1, number[side])[kept] for side in (plain.left, plain.right)]
    return Shape(sides[0], sides[1], plain.counts[kept])


# ---------------------------------------------------------------------------------------------------
# Cross-validation

_ROW = np.dtype(
    [
        ("penalty", float),
        ("cp", float),
        ("nsplit", np.int64),
        ("rel_error", float),
        ("xerror", float),
        ("xstd", float),
    ]
)


@dataclass(frozen=True, eq=False)
class CrossValidation:
    r"""The penalty of a leaf by cross-validation; see :func:`prune_cv`. Printed, it is a table.

    Attributes
    ----------
    table : (s,) structured array
        A row for each tree of the sequence, the smallest first. ``penalty``: the least penalty at which it is
        the smallest minimiser; ``cp``: the same as a share of the root's risk; ``nsplit``: its questions;
        ``rel_error``: its risk as a share of the root's; ``xerror``: the error on the items left out, as a
        share of the root's error; ``xstd``: the standard error of that.
    best : int
        The row of least ``xerror``, that of the smallest tree if there are several.
    chosen : int
        The row that the rule takes.
    penalty : float
        The penalty of the chosen row.
    tree : DecisionTree
        Grown with all items and pruned at this penalty.
    sequence : Sequence
        Of the tree of all items; row i of the table is its tree s - 1 - i.
    errors : (m, s) array
        The loss of each item, left out, at each row.
    """

    table: NDArray[Any]
    best: int
    chosen: int
    penalty: float
    tree: DecisionTree
    sequence: Sequence
    errors: Floats

    def __str__(self) -> str:
        lines = [f"{'':1} {'CP':>9} {'nsplit':>6} {'rel error':>9} {'xerror':>9} {'xstd':>9}"]
        for i, row in enumerate(self.table):
            mark = "*" if i == self.chosen else " "
            numbers = " ".join(f"{row[name]:9.5f}" for name in ("rel_error", "xerror", "xstd"))
            lines.append(f"{mark} {row['cp']:9.5f} {row['nsplit']:6d} {numbers}")
        return "\n".join(lines)


def prune_cv(
    estimator: DecisionTree,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 10,
    criterion: Criterion | None = "misclassification",
    rule: str = "1se",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> CrossValidation:
    r"""Grow, find the sequence, and choose the penalty of a leaf by cross-validation.

    Tree i of the sequence stands for the penalties between :math:`\lambda_i` and :math:`\lambda_{i+1}`. For
    each fold a tree is grown without it and pruned at the geometric means
    :math:`\sqrt{\lambda_i \lambda_{i+1}}`, in shares of the root's risk, as the risk of fewer items is less;
    beyond the last :math:`\lambda` it is a single node. The error is measured on the items left out.

    Parameters
    ----------
    estimator : DecisionTree
        Its parameters; it is not fitted itself.
    X : (m, d) array-like or data frame
    y : (m,) array-like
    cv : int, splitter or (m,) array-like of int
        Stratified folds in the order of the data, scikit-learn's splitters, or the number of the fold of each
        item.
    criterion : {"gini", "entropy", "log_loss", "misclassification"} or callable, optional
        The risk by which is pruned, None for that of the classifier. The error on items left out is always
        misclassification, or the classifier's cost.
    rule : {"1se", "min"}
        "1se": the smallest tree whose error is at most one standard error above the least. "min": the
        smallest of the least error.
    sample_weight : (m,) array-like, optional
        Weights, in growing, pruning and in the error.
    n_jobs : int, optional
        Folds at a time, as joblib understands it.
    verbose : int or bool
        1, or True: a line on stderr says how far the work is; 2: each report is a line of its own.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from mcutils.data import load
    >>> from mcutils.tree import DecisionTree
    >>> penguins = load("penguins")
    >>> result = prune_cv(DecisionTree(), penguins.X, penguins.y, cv=5)
    >>> bool(result.tree.get_n_leaves() == result.table["nsplit"][result.chosen] + 1)
    True
    """
    if not isinstance(estimator, DecisionTree):
        raise ValueError(f"estimator must be a DecisionTree, found {type(estimator).__name__}")
    if estimator.ccp_alpha:
        raise ValueError(
            f"estimator must have ccp_alpha=0, as the penalty is chosen here, found {estimator!r}"
        )
    one_of(rule, "rule", ("1se", "min"))
    jobs(n_jobs)
    verbose = verbosity(verbose)
    X, labels = in_memory(X), column_or_1d(in_memory(y), warn=True)
    full = clone(estimator).fit(X, labels, sample_weight)
    weights = None if sample_weight is None else example_weights(sample_weight, len(labels))
    path = sequence(full, criterion)
    codes = np.searchsorted(full.classes_, labels)
    k, m = len(full.classes_), len(labels)
    costs = 1.0 - np.eye(k) if estimator.cost is None else check_costs(estimator.cost).astype(np.float64)
    root = float(path.risks[-1])
    penalties = path.penalties[::-1] / (root or 1.0)
    means = np.concatenate([[np.inf], np.sqrt(penalties[1:] * penalties[:-1])])
    folds = _folds(cv, X, labels, m)
    calls = (
        delayed(_left_out)(estimator, X, labels, weights, full.classes_, criterion, means, *fold)
        for fold in folds
    )
    with Log("prune_cv", verbose, unit="fold", most=len(folds)) as log:
        predictions = side_by_side(calls, n_jobs, log)
    errors = np.full((m, len(penalties)), np.nan)
    for (_, test), predicted in zip(folds, predictions, strict=True):
        errors[test] = costs[codes[test][:, None], predicted]
    if np.isnan(errors).any():
        never = int(np.isnan(errors[:, 0]).sum())
        raise ValueError(f"cv must leave out every item once, it never leaves out {never} of {m}")
    w = np.ones(m) if weights is None else weights
    w, unit = in_units(times_class_weight(w, estimator.class_weight, full.classes_, codes))
    total = w @ errors
    # the sum of squares about the mean, over the root's error: rpart's standard error
    spread = np.sqrt(np.maximum(w @ errors**2 - total**2 / w.sum(), 0.0))
    start = float((np.bincount(codes, w, minlength=k) @ costs).min()) or 1.0
    table = np.empty(len(penalties), dtype=_ROW)
    table["penalty"], table["cp"] = path.penalties[::-1], penalties
    table["nsplit"] = path.leaves[::-1] - 1
    table["rel_error"] = path.risks[::-1] / (root or 1.0)
    table["xerror"], table["xstd"] = total / start, spread / start / np.sqrt(unit)
    best = int(np.argmin(table["xerror"]))
    allowed = table["xerror"][best] + (table["xstd"][best] if rule == "1se" else 0.0)
    chosen = int(np.argmax(table["xerror"] <= allowed))
    penalty = float(table["penalty"][chosen])
    pruned = copy(full)
    pruned.tree_ = full.tree_.restricted(path.kept(len(path) - 1 - chosen))
    return CrossValidation(table, best, chosen, penalty, pruned, path, errors)


def _folds(cv: Any, X: Any, labels: NDArray[Any], m: int) -> list[tuple[Ints, Ints]]:
    if isinstance(cv, (list, tuple, np.ndarray)) and all(isinstance(each, Integral) for each in cv):
        numbers = np.asarray(cv)
        if numbers.shape != (m,) or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"cv must be the number of a fold for each of {m} items, "
                f"found {numbers.dtype} of shape {numbers.shape}"
            )
        cv = PredefinedSplit(np.unique(numbers, return_inverse=True)[1])
    return divided(cv, X, labels)


def _left_out(
    estimator: DecisionTree,
    X: Any,
    labels: NDArray[Any],
    weights: Floats | None,
    classes: NDArray[Any],
    criterion: Criterion | None,
    means: Floats,
    train: Ints,
    test: Ints,
) -> Ints:
    """The predictions, as indices of classes, for the items of a fold at every penalty."""
    if weights is not None:  # a class may have no weight in this part
        train = train[weights[train] > 0]
    grown = clone(estimator)
    if estimator.cost is not None and len(np.unique(labels[train])) < len(classes):
        raise ValueError("cv must leave every class in every training part, as cost has a row for each")
    grown.fit(_safe_indexing(X, train), labels[train], None if weights is None else weights[train])
    path = sequence(grown, criterion)
    tree = grown.tree_
    known = np.searchsorted(classes, grown.classes_)
    leaf = grown.apply(_safe_indexing(X, test))
    root = float(path.risks[-1]) or 1.0
    predictions = np.empty((len(test), len(means)), dtype=np.int64)
    for i, penalty in enumerate(means.tolist()):
        collapsed = np.asarray(path.collapse_at) <= penalty * root
        # the highest collapsed node above each node, or the node itself
        top = np.arange(tree.n_nodes)
        for n in range(1, tree.n_nodes):
            up = top[tree.parent[n]]
            if collapsed[up]:
                top[n] = up
        predictions[:, i] = known[tree.predictions[top[leaf]]]
    return predictions
