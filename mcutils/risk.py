r"""Risks: what a wrong prediction costs, on average.

A classifier predicts a class (or a set of labels) for every input; a *cost* :math:`\Delta(y, y')` says what
the prediction :math:`y'` costs where :math:`y` is true; the *risk* is its mean over the distribution of the
examples, and the *empirical risk* its mean over a sample. Four costs have names: the 0-1 cost, the Hamming
cost of multi-label problems, the balanced cost and the general cost matrix.

Classes are counted from 0, so that class y is row y of a matrix; ``np.unique(labels, return_inverse=True)``
turns other labels into such numbers. Rows of a matrix of counts or costs are true classes, columns are
predictions. Nothing is dropped in silence: a class without an example has no recall, and a mean over classes
refuses it unless ``undefined`` allows it.

>>> from mcutils import risk
>>> y, predicted = [0, 0, 0, 1, 2], [0, 0, 1, 1, 0]
>>> risk.zero_one_error(y, predicted), round(risk.balanced_error(y, predicted), 3)
(0.4, 0.444)
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array, entries, integer, number, numbers_as_given, one_of, reals, switch, table_of_costs
from ._weights import example_weights

__all__ = [
    "BayesRule",
    "Confusion",
    "Interval",
    "balanced_error",
    "bayes_rule",
    "check_costs",
    "confusion",
    "cost_sensitive",
    "costs_from_graph",
    "costs_from_tree",
    "costs_from_weights",
    "hamming",
    "hoeffding_interval",
    "signs",
    "top_k",
    "zero_one_error",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Undefined = Literal["refuse", "skip", "zero"]
Tie = Literal["smallest", "for", "against"]

_MOST_CLASSES = 10_000  # a table of confusion then takes 800 MB


# ---------------------------------------------------------------------------------------------------
# What is passed in


def _classes(labels: ArrayLike, name: str, n_classes: int | None = None) -> Ints:
    """Class numbers as a vector of integers from 0."""
    codes = array(labels, name)
    if codes.ndim != 1 or len(codes) == 0:
        raise ValueError(f"{name} must be a vector of at least one class, found shape {codes.shape}")
    if codes.dtype.kind not in "iu" or codes.min() < 0:
        raise ValueError(
            f"{name} must hold class numbers 0, 1, 2, ..., found {codes[:5].tolist()}; "
            "np.unique(labels, return_inverse=True) makes such numbers"
        )
    if n_classes is not None and codes.max() >= n_classes:
        raise ValueError(f"{name} has class {codes.max()}, but there are only the {n_classes} classes from 0")
    return codes.astype(np.intp)


def _pair(y: ArrayLike, predicted: ArrayLike, n_classes: int | None = None) -> tuple[Ints, Ints]:
    true, chosen = _classes(y, "y", n_classes), _classes(predicted, "predicted", n_classes)
    if len(true) != len(chosen):
        raise ValueError(f"y and predicted must be equally long, found {len(true)} and {len(chosen)}")
    return true, chosen


def _mean(values: NDArray[Any], weights: Floats) -> float:
    return float(np.sum(weights * values) / np.sum(weights))


# ---------------------------------------------------------------------------------------------------
# Risks


def zero_one_error(y: ArrayLike, predicted: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Share of wrong predictions: the 0-1 risk :math:`\frac1m \sum_i 1[h(x_i) \ne y_i]` (def-risk-zero-one).

    Parameters
    ----------
    y, predicted : (m,) array-like
        True classes and predictions, from 0.
    sample_weight : (m,) array-like, optional
        Weights that are not negative; the mean becomes a weighted one. With the probabilities of a finite
        distribution as weights the result is the risk itself.

    Returns
    -------
    float

    Examples
    --------
    >>> zero_one_error([0, 1, 2, 2], [0, 1, 1, 0])
    0.5
    """
    true, chosen = _pair(y, predicted)
    return _mean(true != chosen, example_weights(sample_weight, len(true)))


def signs(labels: ArrayLike) -> NDArray[np.int8]:
    r"""Label vectors in :math:`\{-1, +1\}^k`, out of :math:`\{0, 1\}^k`, booleans or signs.

    Parameters
    ----------
    labels : (m, k) array-like
        One row for each example; all entries among 0 and 1, or all among -1 and +1.

    Returns
    -------
    (m, k) int8 array

    Examples
    --------
    >>> signs([[1, 0, 1], [0, 0, 0]])
    array([[ 1, -1,  1],
           [-1, -1, -1]], dtype=int8)
    """
    return _signs(labels, "labels")


def _signs(labels: ArrayLike, name: str) -> NDArray[np.int8]:
    table = array(labels, name)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"{name} must be a matrix, one row for each example, found shape {table.shape}")
    if table.dtype.kind in "biuf":
        if np.isin(table, (0, 1)).all():
            return np.where(table == 1, np.int8(1), np.int8(-1))
        if np.isin(table, (-1, 1)).all():
            return table.astype(np.int8)
    raise ValueError(f"{name} must have entries 0 and 1, or -1 and +1, found {table.ravel()[:5].tolist()}")


def hamming(y: ArrayLike, predicted: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Share of wrong labels, :math:`\frac1m \sum_i \frac1k d_H(h(x_i), y_i)` (def-risk-hamming).

    Parameters
    ----------
    y, predicted : (m, k) array-like
        Label vectors, with entries 0 and 1 or -1 and +1.
    sample_weight : (m,) array-like, optional
        As in :func:`zero_one_error`.

    Returns
    -------
    float

    Examples
    --------
    >>> hamming([[1, 0, 1], [0, 0, 0]], [[1, 1, 1], [0, 0, 1]])
    0.3333333333333333
    """
    true, chosen = _signs(y, "y"), _signs(predicted, "predicted")
    if true.shape != chosen.shape:
        raise ValueError(f"y and predicted must have the same shape, found {true.shape} and {chosen.shape}")
    wrong = true != chosen
    return _mean(wrong.mean(axis=1), example_weights(sample_weight, len(wrong)))


def cost_sensitive(
    y: ArrayLike, predicted: ArrayLike, cost: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Mean cost :math:`\frac1m \sum_i \Delta(y_i, h(x_i))` (def-risk-cost).

    Parameters
    ----------
    y, predicted : (m,) array-like
        True classes and predictions, from 0. Predictions beyond the classes are allowed where ``cost`` has
        further columns, say for "I do not know".
    cost : (k, k) or (k, more than k) array-like
        See :func:`check_costs`.
    sample_weight : (m,) array-like, optional
        As in :func:`zero_one_error`.

    Returns
    -------
    float

    Examples
    --------
    >>> cost_sensitive([0, 1, 1], [1, 0, 1], [[0, 1], [5, 0]])
    2.0
    """
    costs = check_costs(cost)
    true, chosen = _pair(y, predicted)
    _classes(true, "y", costs.shape[0])
    _classes(chosen, "predicted", costs.shape[1])
    return _mean(costs[true, chosen], example_weights(sample_weight, len(true)))


def balanced_error(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    n_classes: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean over the classes of the share of wrong predictions in each class (def-risk-balanced).

    It is the mean of :math:`1 - \text{recall}`, that is, one minus "balanced accuracy".

    Parameters
    ----------
    y, predicted : (m,) array-like
        True classes and predictions, from 0.
    n_classes : int, optional
        Number of classes; by default one more than the largest number in ``y``. Each of them needs an
        example, for the share of wrong predictions in an empty class does not exist.
    sample_weight : (m,) array-like, optional
        As in :func:`zero_one_error`.

    Returns
    -------
    float

    Examples
    --------
    Always to predict class 0 costs 5 per cent here, and a half when both classes count alike:

    >>> y = [0] * 95 + [1] * 5
    >>> zero_one_error(y, [0] * 100), balanced_error(y, [0] * 100)
    (0.05, 0.5)
    """
    true, chosen = _pair(y, predicted)
    weights = example_weights(sample_weight, len(true))
    if n_classes is None:
        k = int(true.max()) + 1
    else:
        k = integer(n_classes, "n_classes", 1, feasible=_MOST_CLASSES)
    _classes(true, "y", k)
    size = np.bincount(true, weights, minlength=k)
    if (size == 0).any():
        raise ValueError(
            f"y has no example of class {int(np.argmin(size))} (counted from 0, {k} classes): its share "
            "of wrong predictions does not exist; number the classes that occur without gaps, or add examples"
        )
    return float(np.mean(np.bincount(true, weights * (true != chosen), minlength=k) / size))


# ---------------------------------------------------------------------------------------------------
# Costs


def check_costs(cost: ArrayLike) -> NDArray[Any]:
    r"""The matrix :math:`\Delta(y, y')` as an array, or a ValueError that names what is wrong with it.

    Rows are true classes, columns predictions. The first k columns are the classes, where the diagonal is
    zero; further columns are predictions that are no class. Entries are finite and not negative. Fractions
    stay fractions.

    Parameters
    ----------
    cost : (k, k) or (k, more than k) array-like
        Of numbers, at least two rows.

    Examples
    --------
    >>> check_costs([[0, 1], [5, 0]])
    array([[0., 1.],
           [5., 0.]])
    >>> check_costs([[0, 1], [5, 2]])
    Traceback (most recent call last):
        ...
    ValueError: cost of a right prediction must be 0, found 2.0 for class 1 (counted from 0)
    """
    return table_of_costs(cost)


def costs_from_weights(weights: ArrayLike) -> NDArray[Any]:
    r"""Costs of mistakes from a weight for each class: :math:`\Delta(y, y') = w_y` for :math:`y' \ne y`.

    With :math:`w_y = 1 / (k \pi_y)`, where :math:`\pi_y` is the probability of class y, the cost-sensitive
    risk is the balanced risk (prop-risk-balanced).

    Parameters
    ----------
    weights : (k,) array-like
        Not negative. Fractions stay fractions.

    Returns
    -------
    (k, k) array

    Examples
    --------
    >>> costs_from_weights([1, 5])
    array([[0., 1.],
           [5., 0.]])
    """
    row = numbers_as_given(weights, "weights")
    if row.ndim != 1 or len(row) < 2:
        raise ValueError(
            f"weights must be a vector, one weight for each of at least two classes, found shape {row.shape}"
        )
    if row.min() < 0:
        raise ValueError(f"weights must not be negative, found {row.min()}")
    mistake = 1 - np.eye(len(row), dtype=int)
    return check_costs(row[:, None] * mistake)


def _distances(
    neighbours: Mapping[Hashable, Iterable[Hashable]], classes: Sequence[Hashable], scale: bool
) -> Floats:
    """Numbers of edges of shortest paths between the classes, by breadth-first search."""
    scale = switch(scale, "scale")
    classes = entries(classes, "classes", "a list of names")
    if not all(isinstance(name, Hashable) for name in classes):
        raise ValueError(f"classes must be a list of hashable names, found {classes}")
    if len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError(f"classes must name at least two different classes, found {list(classes)}")
    unknown = [name for name in classes if name not in neighbours]
    if unknown:
        raise ValueError(
            f"classes names {unknown[0]!r}, which has no edge: edges or parents must name every class"
        )
    costs = np.empty((len(classes), len(classes)))
    for row, start in zip(costs, classes, strict=True):
        steps = {start: 0}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for there in neighbours[here]:
                if there not in steps:
                    steps[there] = steps[here] + 1
                    queue.append(there)
        far = [name for name in classes if name not in steps]
        if far:
            raise ValueError(f"no path joins {start!r} and {far[0]!r}: their distance does not exist")
        row[:] = [steps[name] for name in classes]
    return costs / costs.max() if scale else costs


def costs_from_graph(
    edges: Iterable[tuple[Hashable, Hashable]], classes: Sequence[Hashable], *, scale: bool = True
) -> Floats:
    r"""Costs from a graph of concepts: the number of edges of a shortest path, over its largest value.

    An ontology draws arrows ("is a", "part of"); here they are walked both ways (def-risk-distance). The
    cost is a metric on the classes (prop-risk-metric).

    Parameters
    ----------
    edges : iterable of pairs
        The edges; direction does not count. A concept need not be a class.
    classes : sequence
        The concepts that are classes, in the order of the rows of the result.
    scale : bool, default=True
        Divide by the largest distance between two classes, so that costs lie in [0, 1].

    Returns
    -------
    (k, k) array

    Examples
    --------
    >>> costs_from_graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], "abc", scale=False)
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    >>> costs_from_graph([("a", "b"), ("c", "d")], "ac")
    Traceback (most recent call last):
        ...
    ValueError: no path joins 'a' and 'c': their distance does not exist
    """
    neighbours: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
    for edge in entries(edges, "edges", "a list of pairs"):
        pair = entries(edge, "edges", "a list of pairs")
        if len(pair) != 2 or not all(isinstance(end, Hashable) for end in pair):
            raise ValueError(f"edges must be pairs of hashable names, found {edge!r}")
        first, second = pair
        neighbours[first].add(second)
        neighbours[second].add(first)
    return _distances(neighbours, classes, scale)


def costs_from_tree(
    parents: Mapping[Hashable, Hashable], classes: Sequence[Hashable], *, scale: bool = True
) -> Floats:
    r"""Costs from a hierarchy: the number of edges between two classes in the tree, over its largest value.

    It counts the ancestors that one of the two has and the other has not (prop-risk-tree).

    Parameters
    ----------
    parents : mapping
        The parent of each concept but the root.
    classes : sequence
        The concepts that are classes, inner ones included, in the order of the rows of the result.
    scale : bool, default=True
        Divide by the largest distance between two classes, so that costs lie in [0, 1].

    Returns
    -------
    (k, k) array

    Examples
    --------
    >>> parents = {"sports": "news", "baseball": "sports", "politics": "news"}
    >>> costs_from_tree(parents, ["sports", "baseball", "politics"], scale=False)
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """
    if not isinstance(parents, Mapping):
        raise ValueError(f"parents must be a mapping from each concept to its parent, found {parents!r}")
    roots = set(parents.values()) - set(parents)
    if len(roots) != 1:
        named = ", ".join(sorted(map(repr, roots))) if roots else "none"
        raise ValueError(f"parents must have one root, which has no parent itself, found {named}")
    for start in parents:
        seen = {start}
        node = start
        while node in parents:
            node = parents[node]
            if node in seen:
                raise ValueError(f"parents is no tree: {start!r} is led round a cycle at {node!r}")
            seen.add(node)
    return costs_from_graph(parents.items(), classes, scale=scale)


# ---------------------------------------------------------------------------------------------------
# The best rule


@dataclass(frozen=True, eq=False)
class BayesRule:
    r"""What the Bayes rule predicts; see :func:`bayes_rule`.

    Attributes
    ----------
    decision : (n,) int array
        The prediction of least expected cost, the one with the smallest number if there are several.
    tied : (n,) bool array
        Whether there were several.
    expected : (n, number of predictions) array
        :math:`\sum_y p(y \mid x) \Delta(y, y')`, the expected cost of every prediction.
    """

    decision: Ints
    tied: NDArray[np.bool_]
    expected: NDArray[Any]

    @property
    def conditional_risk(self) -> NDArray[Any]:
        """The smallest expected cost at every input; its mean over the inputs is the Bayes risk."""
        least: NDArray[Any] = self.expected.min(axis=1)
        return least


def bayes_rule(probabilities: ArrayLike, cost: ArrayLike | None = None) -> BayesRule:
    r"""The rule of smallest risk when the class probabilities are known (prop-risk-bayes-cost).

    At every input it predicts :math:`\argmin_{y'} \sum_y p(y \mid x) \Delta(y, y')`; with the 0-1 cost this
    is the most probable class (prop-risk-bayes).

    Parameters
    ----------
    probabilities : (n, k) array-like
        Row x holds :math:`p(y \mid x)`, or the joint probabilities :math:`p(x, y)`, or anything else in
        proportion: nothing is normalised. Floating-point values are compared as they are; with fractions
        (an array of objects) everything is exact, ties included.
    cost : (k, number of predictions) array-like, optional
        See :func:`check_costs`; by default the 0-1 cost.

    Returns
    -------
    BayesRule

    Examples
    --------
    >>> result = bayes_rule([[0.6, 0.4], [0.5, 0.5]])
    >>> result.decision, result.tied
    (array([0, 0]), array([False,  True]))

    Missing class 1 costs five times as much:

    >>> bayes_rule([[0.6, 0.4], [0.9, 0.1]], [[0, 1], [5, 0]]).decision
    array([1, 0])
    """
    p = numbers_as_given(probabilities, "probabilities")
    if p.ndim != 2 or p.shape[0] < 1 or p.shape[1] < 2:
        raise ValueError(
            f"probabilities must be a matrix, a row for each input and at least two columns, found {p.shape}"
        )
    if p.min() < 0:
        raise ValueError(f"probabilities must not be negative, found {p.min()}")
    if cost is None:
        # the sum over all other classes, as one minus its own would round
        expected = p @ (1 - np.eye(p.shape[1], dtype=int))
        best = p == p.max(axis=1, keepdims=True)
    else:
        costs = check_costs(cost)
        if costs.shape[0] != p.shape[1]:
            raise ValueError(
                f"cost must have a row for each class: {costs.shape[0]} rows, but {p.shape[1]} probabilities"
            )
        expected = p @ costs
        best = expected == expected.min(axis=1, keepdims=True)
    best = best.astype(bool)
    return BayesRule(best.argmax(axis=1), best.sum(axis=1) > 1, expected)


# ---------------------------------------------------------------------------------------------------
# The confusion matrix and what is read off it


@dataclass(frozen=True, eq=False)
class Confusion:
    r"""How often each class got each answer; see :func:`confusion`.

    Attributes
    ----------
    counts : (k, k) array-like
        Entry (y, y'): how many examples of class y got the prediction y', or their weight. Kept as float64.
    """

    counts: Floats

    def __post_init__(self) -> None:
        counts = reals(self.counts, "counts")
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
            raise ValueError(
                f"counts must have a row and a column for each class, found shape {counts.shape}"
            )
        with np.errstate(over="ignore"):
            total = counts.sum()
        if counts.min() < 0 or not 0 < total < np.inf:
            raise ValueError("counts must not be negative, and their sum positive and finite")
        object.__setattr__(self, "counts", counts)

    @property
    def support(self) -> Floats:
        """Size of each class: the sums of the rows."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> Floats:
        """How often each class was predicted: the sums of the columns."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def zero_one(self) -> float:
        """Share of wrong predictions."""
        return float(1 - np.trace(self.counts) / self.counts.sum())

    @cached_property
    def recall(self) -> Floats:
        """Share of right predictions among the examples of each class; nan for a class without any."""
        return _ratio(np.diagonal(self.counts), self.support)

    @cached_property
    def precision(self) -> Floats:
        """Share of right predictions among those that named each class; nan for a class never named."""
        return _ratio(np.diagonal(self.counts), self.predicted)

    @cached_property
    def f1(self) -> Floats:
        r"""Harmonic mean of precision and recall, :math:`2 C_{yy} / (\text{row} + \text{column})`.

        nan for a class that neither occurs nor is named; 0 for one that is never named rightly.
        """
        return _ratio(2 * np.diagonal(self.counts), self.support + self.predicted)

    def macro(self, name: Literal["recall", "precision", "f1"], undefined: Undefined = "refuse") -> float:
        """Mean over the classes of recall, precision or F1.

        Parameters
        ----------
        name : {"recall", "precision", "f1"}
            What to average.
        undefined : {"refuse", "skip", "zero"}
            What to do with a class for which it does not exist: raise a ValueError, leave the class out, or
            count it as 0. scikit-learn counts 0 and warns, but leaves out absent classes in
            ``balanced_accuracy_score``.

        Returns
        -------
        float
        """
        one_of(name, "name", ("recall", "precision", "f1"))
        one_of(undefined, "undefined", ("refuse", "skip", "zero"))
        values: Floats = getattr(self, name)
        missing = np.isnan(values)
        if undefined == "refuse" and missing.any():
            raise ValueError(
                f"the {name} of class {int(np.argmax(missing))} (counted from 0) does not exist; "
                "undefined='skip' leaves it out, undefined='zero' counts it as 0"
            )
        return float(np.mean(values[~missing] if undefined == "skip" else np.nan_to_num(values)))

    def mean_cost(self, cost: ArrayLike) -> float:
        """Mean cost of the predictions, as :func:`cost_sensitive`.

        Parameters
        ----------
        cost : (k, k) array-like
            See :func:`check_costs`.

        Returns
        -------
        float
        """
        costs = check_costs(cost).astype(np.float64)
        if costs.shape != self.counts.shape:
            raise ValueError(f"cost must have shape {self.counts.shape}, found {costs.shape}")
        return float(np.sum(costs * self.counts) / self.counts.sum())

    def with_priors(self, priors: ArrayLike) -> "Confusion":
        """The shares to expect where the classes have other probabilities, and their inputs are as before.

        Recalls stay; precisions do not (prop-risk-precision).

        Parameters
        ----------
        priors : (k,) array-like
            Probabilities of the classes, not negative; they are divided by their sum. Zero for each class
            without an example here.

        Returns
        -------
        Confusion
        """
        pi = reals(priors, "priors")
        if pi.shape != self.support.shape or pi.min() < 0 or not 0 < pi.sum() < np.inf:
            raise ValueError(
                f"priors must be {len(self.support)} numbers that are not negative, with a positive sum"
            )
        empty = (self.support == 0) & (pi > 0)
        if empty.any():
            raise ValueError(
                f"class {int(np.argmax(empty))} (counted from 0) has no example: its row is unknown"
            )
        rows = self.counts / np.where(self.support == 0, 1, self.support)[:, None]
        return Confusion(rows * (pi / pi.sum())[:, None])


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return ratio


def confusion(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    n_classes: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> Confusion:
    """Count, for every pair of classes, how often the one was predicted where the other was true.

    Parameters
    ----------
    y, predicted : (m,) array-like
        True classes and predictions, from 0.
    n_classes : int, optional
        Number of classes; by default one more than the largest number in either.
    sample_weight : (m,) array-like, optional
        As in :func:`zero_one_error`.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> result = confusion([0, 0, 0, 1, 2], [0, 0, 1, 1, 0])
    >>> result.counts
    array([[2., 1., 0.],
           [0., 1., 0.],
           [1., 0., 0.]])
    >>> result.recall.round(2), result.precision.round(2)
    (array([0.67, 1.  , 0.  ]), array([0.67, 0.5 ,  nan]))
    """
    if n_classes is not None:
        n_classes = integer(n_classes, "n_classes", 1, feasible=_MOST_CLASSES)
    true, chosen = _pair(y, predicted, n_classes)
    k = max(int(max(true.max(), chosen.max())) + 1, 2) if n_classes is None else n_classes
    weights = example_weights(sample_weight, len(true))
    counts: Floats = np.bincount(k * true + chosen, weights, minlength=k * k).astype(np.float64)
    return Confusion(counts.reshape(k, k))


def top_k(
    scores: ArrayLike,
    y: ArrayLike,
    size: int,
    *,
    tie: Tie = "smallest",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Share of the examples whose class is not among the ``size`` highest scores (def-risk-top).

    Parameters
    ----------
    scores : (m, k) array-like
        Row i holds the scores of the classes at :math:`x_i`.
    y : (m,) array-like
        True classes, from 0.
    size : int
        How many classes may be named, from 1 to k.
    tie : {"smallest", "for", "against"}
        Which class comes first among equal scores: the smallest, as everywhere in the book; the true one; or
        every other one. The last two give the smallest and the largest value of all tie-breaks.
    sample_weight : (m,) array-like, optional
        As in :func:`zero_one_error`.

    Returns
    -------
    float

    Examples
    --------
    >>> top_k([[3, 2, 1], [3, 2, 1], [1, 1, 1]], [0, 1, 2], 2)
    0.3333333333333333
    >>> [top_k([[1, 1, 1]], [2], 2, tie=rule) for rule in ("smallest", "for", "against")]
    [1.0, 0.0, 1.0]
    """
    f = reals(scores, "scores", infinite=True)
    if f.ndim != 2 or f.shape[1] < 2:
        raise ValueError(
            f"scores must be a matrix, a row for each example and a column for each class, found {f.shape}"
        )
    true = _classes(y, "y", f.shape[1])
    if len(true) != len(f):
        raise ValueError(f"scores and y must be equally long, found {len(f)} and {len(true)}")
    size = integer(size, "size", 1, f.shape[1])
    one_of(tie, "tie", ("smallest", "for", "against"))
    own = f[np.arange(len(f)), true][:, None]
    before = (f > own).sum(axis=1)  # how many classes go first
    if tie == "smallest":
        before += ((f == own) & (np.arange(f.shape[1]) < true[:, None])).sum(axis=1)
    elif tie == "against":
        before += (f == own).sum(axis=1) - 1
    return _mean(before >= size, example_weights(sample_weight, len(true)))


# ---------------------------------------------------------------------------------------------------
# How far an empirical risk can be from the risk


@dataclass(frozen=True)
class Interval:
    """An interval that contains the risk with probability at least ``confidence``.

    Attributes
    ----------
    low, high : float
        The ends. They are not cut off at 0 or at the largest cost.
    confidence : float
        One minus delta.
    """

    low: float
    high: float
    confidence: float


def hoeffding_interval(empirical: float, m: int, delta: float, *, largest: float = 1.0) -> Interval:
    r"""Empirical risk plus and minus :math:`b \sqrt{\log(2/\delta) / (2m)}` (prop-risk-hoeffding).

    It contains the risk with probability at least :math:`1 - \delta`, whatever the distribution, for a rule
    that was fixed before the m independent examples were seen. For a rule that was fitted to them there is
    no such guarantee.

    Parameters
    ----------
    empirical : float
        The empirical risk.
    m : int
        Number of examples, at least 1.
    delta : float
        How often the interval may fail, strictly between 0 and 1.
    largest : float, default=1.0
        An upper bound b of the cost.

    Returns
    -------
    Interval

    Examples
    --------
    >>> result = hoeffding_interval(0.2, 1000, 0.05)
    >>> round(result.low, 3), round(result.high, 3)
    (0.157, 0.243)
    """
    delta, m = number(delta, "delta", above=0, below=1), integer(m, "m", 1)
    largest = number(largest, "largest", above=0)
    empirical = number(empirical, "empirical", least=0, most=largest)  # a mean of costs
    half = largest * sqrt(log(2 / delta) / (2 * m))
    return Interval(empirical - half, empirical + half, 1 - delta)
