"""The two trees over the classes, and where examples lose their label in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._base import Estimator, class_codes, codes_among
from .._checks import array, in_memory, integer, jobs, reals, seed, verbosity
from .._progress import Log, side_by_side
from .._reduction import LEAST_PROBABILITY, is_linear, selectable
from .._routing import WeightRouter
from .._typing import Bools, Floats, Ints
from .._weights import example_weights
from ._order import mean_order, spectral_order
from ._ridge import RidgeOneVsAll, checked_weights, leave_one_out_confusion, members

ORDERS = ("given", "random", "confusion", "means")

_LEAST_LEAD = float(np.nextafter(0.0, 1.0))  # what a tie counts for the child that gets the example


@dataclass(frozen=True)
class Eliminations:
    r"""Where examples lose their label on the way through a tree; see :meth:`FilterTree.eliminations`.

    Attributes
    ----------
    entered : (N,) array
        Weight of the examples whose label has lost nowhere before a node, and that the node decides about.
    lost : (N,) array
        Of these, the weight of those that the node sends to another child than that of their label.
    passing : (N,) array
        Weight of all examples whose label is below the node.
    rounds : (N,) int array
        The round of each node, from 1 for the first that is played.
    total : float
        Weight of all examples.
    """

    entered: Floats
    lost: Floats
    passing: Floats
    rounds: Ints
    total: float

    @property
    def rates(self) -> Floats:
        """The error of each node on what entered it; 0 where nothing did."""
        return np.divide(self.lost, self.entered, out=np.zeros_like(self.lost), where=self.entered > 0)

    @property
    def error(self) -> float:
        """What is lost somewhere: the error of the tree (thm-frontier-identity)."""
        return float(self.lost.sum() / self.total)

    @property
    def path_bound(self) -> float:
        """The mean over the examples of the summed errors above their label (thm-frontier-path-error)."""
        return float(self.passing @ self.rates / self.total)

    @property
    def by_round(self) -> Floats:
        """The part of all examples that is lost in each round; in sum the error."""
        shares: Floats = np.bincount(self.rounds, self.lost)[1:] / self.total
        return shares


def _has_scores(tree: "_Tree") -> bool:
    base = tree._base()
    return hasattr(base, "decision_function") or hasattr(base, "predict_proba")


class _Tree(WeightRouter, ClassifierMixin, Estimator):
    """A tree over the classes with a classifier at each inner node, which predicts the number of a child."""

    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED}

    estimator: Any
    order: Any
    random_state: Any
    n_jobs: int | None
    verbose: int | bool
    classes_: NDArray[Any]
    order_: Ints
    children_: list[Ints]
    rounds_: Ints
    estimators_: list[Any]
    n_features_in_: int

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Any, Ints, Any]:
        """The examples that weigh something, their classes as numbers, and their weights, None for all 1."""
        seed(self.random_state)
        jobs(self.n_jobs)
        verbosity(self.verbose)
        base = self._base()
        if isinstance(base, type) or not hasattr(base, "fit"):
            raise ValueError(f"estimator must be a classifier or None, found {base!r}")
        if get_tags(base).input_tags.pairwise:
            raise ValueError(
                f"estimator must learn from examples, not from a precomputed kernel, found {base!r}"
            )
        labels = validate_data(self, X="no_validation", y=in_memory(y))
        X = selectable(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        check_consistent_length(X, labels)
        self.classes_, codes = class_codes(labels)
        if sample_weight is None:
            return X, codes, None
        self._check_weights_wanted("fit", sample_weight)
        weights = checked_weights(sample_weight, self.classes_, codes)
        rows = np.flatnonzero(weights)
        return _safe_indexing(X, rows), codes[rows], weights[rows]

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        default = RidgeOneVsAll()
        if get_config()["enable_metadata_routing"]:
            default.set_fit_request(sample_weight=True)
        return default

    def _ordered(self, X: Any, codes: Ints, weights: Floats | None) -> Ints:
        """The classes, as numbers, in the order of the leaves."""
        k = len(self.classes_)
        if isinstance(self.order, str):
            if self.order == "given":
                return np.arange(k)
            if self.order == "random":
                drawn: Ints = check_random_state(self.random_state).permutation(k)
                return drawn
            if self.order == "confusion":
                return spectral_order(leave_one_out_confusion(X, codes, sample_weight=weights))
            if self.order == "means":
                return mean_order(X, codes, sample_weight=weights)
            raise ValueError(f"order must be one of {ORDERS} or the labels, found {self.order!r}")
        labels = array(self.order, "order")
        if labels.shape != (k,) or not np.array_equal(np.sort(labels), self.classes_):
            raise ValueError(
                f"order must have each of the classes {self.classes_.tolist()} once, found {labels.tolist()}"
            )
        return np.searchsorted(self.classes_, labels)

    def _grow(self, order: Ints, branching: int) -> None:
        """Join neighbours, ``branching`` at a time, until one is left; one that is left over has a bye."""
        self.order_, self.depth_ = order, 0
        self.children_, self.estimators_, rounds, level = [], [], [], order.tolist()
        while len(level) > 1:
            self.depth_ += 1
            joined = []
            for start in range(0, len(level), branching):
                group = level[start : start + branching]
                if len(group) > 1:
                    self.children_.append(np.array(group))
                    rounds.append(self.depth_)
                joined.append(group[0] if len(group) == 1 else len(order) + len(rounds) - 1)
            level = joined
        self.rounds_ = np.array(rounds)
        self.n_examples_ = np.zeros(len(rounds), dtype=np.intp)

    def _levels(self) -> Iterator[list[int]]:
        """The nodes of each round: none of them needs another."""
        for height in range(1, self.depth_ + 1):
            yield np.flatnonzero(self.rounds_ == height).tolist()

    def _log(self) -> Log:
        return Log(type(self).__name__, verbosity(self.verbose), unit="fit", most=len(self.children_))

    def _fit_nodes(
        self,
        nodes: Sequence[int],
        X: Any,
        parts: Sequence[Sequence[Ints]],
        weights: Sequence[Floats | None],
        asked: Sequence[Ints],
        log: Log,
    ) -> list[Ints]:
        """Classifiers that separate the parts of each node, and to which side each sends those who are asked.

        X is the same object in every task, so that joblib sends it to its workers once.
        """
        base, n_nodes = self._base(), len(self.children_)
        fits = (
            delayed(_fit_node)(base, f"node {node} of {n_nodes} (counted from 0)", X, *task)
            for node, *task in zip(nodes, parts, weights, asked, strict=True)
        )
        done = side_by_side(fits, self.n_jobs, log, before=len(self.estimators_))
        self.n_examples_[nodes] = [sum(map(len, sides)) for sides in parts]
        self.estimators_ += [classifier for classifier, _ in done]
        return [sides for _, sides in done]

    def _right(self, node: int, X: Any, parts: Sequence[Ints]) -> Bools:
        """Of the examples below each child, all in a row, which the node sends to it."""
        right: Bools = _sides(self.estimators_[node], X, np.concatenate(parts)) == _numbers(parts)
        return right

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the leaf that is reached from the root.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[self._leaves(X)]
        return labels

    @available_if(_has_scores)
    def scores(self, X: Any) -> Floats:
        """For each class the least lead on the way from the root to its leaf.

        At a node, the lead of a child is its score minus the largest of the others', by the classifier's
        ``decision_function``, or else by the logarithms of its ``predict_proba``, each probability kept
        2e-16 away from 0 and 1; of a node that sends all examples the same way it is 1 or -1. So the class
        that :meth:`predict` returns, and no other, has a positive score: how far the closest decision on its
        way was from going another way. Where two children tie, the one that gets the example has the smallest
        positive number.

        All classifiers score all examples, where :meth:`predict` asks few.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        X = selectable(X)
        k, n_nodes = len(self.classes_), len(self.children_)
        places = np.argsort(self.order_)
        at = places[self._leaves(X)]
        # the leaves below a node stand side by side in the order: from first to before last
        first, last = np.empty(k + n_nodes, dtype=np.intp), np.empty(k + n_nodes, dtype=np.intp)
        first[:k], last[:k] = places, places + 1
        for node, children in enumerate(self.children_, start=k):
            first[node], last[node] = first[children[0]], last[children[-1]]
        least = {k + n_nodes - 1: np.full(len(at), np.inf)}
        for node in range(n_nodes - 1, -1, -1):
            so_far, leads = least.pop(k + node), _leads(self.estimators_[node], X, len(self.children_[node]))
            for lead, child in zip(leads.T, self.children_[node].tolist(), strict=True):
                # predict decides: in a tie, and where it adds up in another order
                taken = (first[child] <= at) & (at < last[child])
                lead = np.where(taken, np.maximum(lead, _LEAST_LEAD), np.minimum(lead, -_LEAST_LEAD))
                least[child] = np.minimum(so_far, lead)
        return np.column_stack([least[leaf] for leaf in range(k)])

    @available_if(_has_scores)
    def decision_function(self, X: Any) -> Floats:
        """The :meth:`scores`; for two classes (n,), as everywhere in scikit-learn.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
            Of two classes (n,): the score of the second, that of the first is its opposite.
        """
        scores: Floats = self.scores(X)
        if scores.shape[1] > 2:
            return scores
        ahead: Floats = scores[:, 1]
        return ahead

    def _leaves(self, X: Any) -> Ints:
        """The leaf of each example."""
        X = in_memory(X)
        if self._linear is None or issparse(X):
            return self._descended(selectable(X))
        from ..jit import descend as jit

        points = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        leaves = np.empty(len(points), dtype=np.intp)
        jit.leaves(points, *self._linear, leaves)
        return leaves

    def _descended(self, X: Any) -> Ints:
        """The leaves, by the classifiers' own predictions, a node at a time."""
        k, n = len(self.classes_), X.shape[0]
        at = np.empty(n, dtype=np.intp)
        waiting = {k + len(self.children_) - 1: np.arange(n)}
        for node in range(len(self.children_) - 1, -1, -1):
            rows = waiting.pop(k + node)
            sides = _sides(self.estimators_[node], X, rows)
            for place, child in enumerate(self.children_[node].tolist()):
                waiting[child] = rows[sides == place]
        for leaf, rows in waiting.items():
            at[rows] = leaf
        return at

    def _stack(self, X: Any) -> None:
        """If all classifiers are linear, keep them in one table, where a compiled loop can read them.

        Where they learnt from sparse rows they go without: such rows are sent on a node at a time, and their
        tables are large.
        """
        self._linear: tuple[Floats, Floats, Ints, Ints, Ints] | None = None
        if issparse(X):
            return
        plain = LinearClassifierMixin.decision_function
        for classifier, children in zip(self.estimators_, self.children_, strict=True):
            if isinstance(classifier, (int, LinearDiscriminantAnalysis)):
                continue
            # SVC has a weight vector for each pair of more than two classes
            if not is_linear(classifier) or (
                len(children) > 2 and getattr(type(classifier), "decision_function", None) is not plain
            ):
                return
        weights: list[Floats] = []
        biases: list[Floats] = []
        for classifier in self.estimators_:
            if isinstance(classifier, int):  # always the same child: no weights, and the bias decides
                weights.append(np.zeros((1, self.n_features_in_)))
                biases.append(np.array([2.0 * classifier - 1.0]))
            else:
                weights.append(classifier.coef_)
                biases.append(np.ravel(classifier.intercept_))
        rows = np.cumsum([0, *map(len, biases[:-1])])
        points = np.ascontiguousarray(np.vstack(weights), dtype=np.float64)
        starts = np.cumsum([0, *map(len, self.children_)])
        children = np.concatenate(self.children_)
        self._linear = points, np.concatenate(biases, dtype=np.float64), rows, children, starts

    def _known(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Any, Ints, Floats]:
        """Examples to be judged on, their classes as numbers, and their weights."""
        check_is_fitted(self)
        X, labels = selectable(X), np.asarray(y)
        check_consistent_length(X, labels)
        return X, codes_among(self.classes_, labels), example_weights(sample_weight, len(labels))

    def _eliminations(
        self, entered: list[float], lost: list[float], codes: Ints, weights: Floats
    ) -> Eliminations:
        below = np.zeros(len(self.classes_) + len(self.children_))
        below[: len(self.classes_)] = np.bincount(codes, weights, minlength=len(self.classes_))
        for node, children in enumerate(self.children_, start=len(self.classes_)):
            below[node] = below[children].sum()
        passing = below[len(self.classes_) :]
        return Eliminations(np.array(entered), np.array(lost), passing, self.rounds_, float(weights.sum()))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base()).input_tags
        dense = isinstance(self.order, str) and self.order in ("confusion", "means")
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan and not dense
        return tags


def _numbers(parts: Sequence[Ints]) -> Ints:
    """For the examples of all parts, all in a row, the number of the part."""
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _fit_node(
    base: Any, where: str, X: Any, parts: Sequence[Ints], weights: Floats | None, asked: Ints
) -> tuple[Any, Ints]:
    """A classifier that separates the parts, and to which it sends those who are asked.

    Where fewer than two parts have examples, it is the number of one.
    """
    sizes = [len(part) for part in parts]
    if np.count_nonzero(sizes) < 2:
        constant = int(np.argmax(sizes))
        return constant, _sides(constant, X, asked)
    rows = np.concatenate(parts)
    # in the order in which they came: some classifiers look at one after the other
    into_order = np.argsort(rows, kind="stable")
    rows = rows[into_order]
    known = {} if weights is None else {"sample_weight": weights[rows]}
    classifier = clone(base)
    try:
        classifier.fit(_safe_indexing(X, rows), _numbers(parts)[into_order], **known)
    except Exception as error:
        error.add_note(f"This was raised by {classifier!r} while fitting {where}.")
        raise
    return classifier, _sides(classifier, X, asked)


def _sides(classifier: Any, X: Any, rows: Ints) -> Ints:
    """The number of the child to which the classifier of a node sends some of the examples."""
    if isinstance(classifier, int) or not len(rows):
        return np.full(len(rows), classifier if isinstance(classifier, int) else 0)
    sides: Ints = classifier.predict(_safe_indexing(X, rows))
    return sides


def _leads(classifier: Any, X: Any, degree: int) -> Floats:
    """By how much each child of a node is ahead of the best of the others."""
    if isinstance(classifier, int):
        leads = np.full((X.shape[0], degree), -1.0)
        leads[:, classifier] = 1.0
        return leads
    if hasattr(classifier, "decision_function"):
        scores = np.asarray(classifier.decision_function(X), dtype=np.float64)
        if degree == 2:
            ahead = scores.ravel()
            scores = np.column_stack([np.zeros(len(ahead)), ahead])
    else:
        scores = np.log(np.clip(classifier.predict_proba(X), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    if scores.shape != (X.shape[0], degree) or not np.isfinite(scores).all():
        raise ValueError(
            f"estimator must give a finite score for each of the {degree} children of a node, "
            f"found shape {scores.shape}{'' if np.isfinite(scores).all() else ' and not finite ones'}"
        )
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    leads = np.asarray(scores - best[:, None], dtype=np.float64)
    leader = scores.argmax(axis=1)
    leads[np.arange(len(leads)), leader] = best - second
    return leads


class FilterTree(_Tree):
    r"""A tournament whose matches are learnt from the examples that reach them (def-frontier-filter-tree).

    Neighbours in the order meet, and the last of an odd number has a bye, as in
    :func:`mcutils.reduction.tournament`. The classifier of a match learns which of the two sides has the
    label, from the examples whose label has won all its matches before (alg-frontier-filter-tree); so the
    classifiers are trained from the leaves to the root, k - 1 of them. To predict, the way goes from the root
    to a leaf: :math:`\lceil \log_2 k \rceil` classifiers predict.

    Parameters
    ----------
    estimator : estimator, optional
        A binary classifier, by default :class:`RidgeOneVsAll`. A clone is fitted to each match, labels 0 and
        1 for the first and the second side. Its ``predict`` decides; :meth:`scores` need its
        ``decision_function``, or else ``predict_proba``.
    order : {"given", "random", "confusion", "means"} or array-like of labels
        The order of the leaves: that of ``classes_``, a random one, the :func:`spectral_order` of
        :func:`leave_one_out_confusion`, the :func:`mean_order`, or one of your own.
    random_state : int, RandomState or None
        Draws the random order. It is not passed on: a random estimator has its own.
    n_jobs : int or None
        How many matches of a round are learnt at once, through joblib. The result does not depend on it.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    order_ : (k,) int array
        The leaves, as positions in ``classes_``.
    children_ : list of k - 1 int arrays
        The two sides of each match: leaves below k, and match n as k + n.
    rounds_ : (k - 1,) int array
        The round of each match, from 1.
    depth_ : int
        Number of rounds.
    estimators_ : list of k - 1 estimators
        The classifiers of the matches; where no example came to one side, the number of the side that always
        wins.
    n_examples_ : int array
        How many examples each classifier was trained on.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Classifiers known to be linear do not predict one by one: a compiled loop goes from the root to the leaf.
    It adds up in another order than they do alone, so that a score that is zero but for rounding may get
    another sign.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FilterTree(order=[1, 2, 0]).fit(X, y)
    >>> [children.tolist() for children in model.children_]
    [[1, 2], [3, 0]]
    >>> result = model.eliminations(X, y)
    >>> result.entered.astype(int).tolist(), result.lost.astype(int).tolist()
    ([100, 147], [3, 0])
    >>> round(result.error, 4) == round(1 - model.score(X, y), 4), round(result.path_bound, 4)
    (True, 0.02)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: str | ArrayLike = "given",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.order = order
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifiers of all matches, from the first round to the last.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        y : (m,) array-like
            Labels of any type that can be sorted, of at least two classes.
        sample_weight : (m,) array-like, optional
            Passed on to the estimator, its entries selected; refused if the estimator takes none, or with
            scikit-learn's metadata routing does not request them. An example of weight 0 is ignored.

        Returns
        -------
        FilterTree
        """
        X, codes, weights = self._prepare(X, y, sample_weight)
        self._grow(self._ordered(X, codes, weights), 2)
        alive = members(codes, len(self.classes_))
        with self._log() as log:
            for nodes in self._levels():
                parts = [[alive[child] for child in self.children_[node]] for node in nodes]
                rows = [np.concatenate(two) for two in parts]
                sent = self._fit_nodes(nodes, X, parts, [weights] * len(nodes), rows, log)
                for two, among, sides in zip(parts, rows, sent, strict=True):
                    alive.append(among[sides == _numbers(two)])
        self._stack(X)
        return self

    def fit_costs(self, X: Any, costs: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Train with the cost of each class for each example (alg-frontier-filter-tree).

        A match learns, for every example, which of the two classes that came to it is the cheaper, with the
        difference of their costs as the weight. Costs that are 0 for the label and 1 elsewhere give what
        :meth:`fit` does with equal weights. Time and memory grow as mk.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        costs : (m, k) array-like
            The cost of predicting each class for each example; finite. The estimator must take
            ``sample_weight``.
        classes : (k,) array-like, optional
            The labels of the columns, sorted; by default 0 to k - 1.

        Returns
        -------
        FilterTree
        """
        points = reals(costs, "costs")
        if points.ndim != 2 or points.shape[1] < 2:
            raise ValueError(
                f"costs must have a row for each example and k >= 2 columns, found shape {points.shape}"
            )
        k = points.shape[1]
        labels = np.arange(k) if classes is None else array(classes, "classes")
        if labels.shape != (k,) or not np.array_equal(np.unique(labels), labels):
            raise ValueError(f"classes must be {k} labels, sorted and different, found {labels.tolist()}")
        if isinstance(self.order, str) and self.order in ("confusion", "means"):
            raise ValueError(f"order={self.order!r} needs labels; with costs give an order of your own")
        base = self._base()
        if "sample_weight" not in signature(base.fit).parameters:
            raise ValueError(f"costs are weights of examples, but {base!r} does not take sample_weight")
        seed(self.random_state)
        jobs(self.n_jobs)
        verbosity(self.verbose)
        X, every = selectable(X), np.arange(len(points))
        validate_data(self, X, reset=True, skip_check_array=True)
        check_consistent_length(X, points)
        self.classes_ = labels
        self._grow(self._ordered(X, every, None), 2)
        winners: list[Any] = list(range(k))
        with self._log() as log:
            for nodes in self._levels():
                pairs = [[winners[child] for child in self.children_[node]] for node in nodes]
                leads = [points[every, second] - points[every, first] for first, second in pairs]
                parts = [[np.flatnonzero(lead > 0), np.flatnonzero(lead < 0)] for lead in leads]
                sent = self._fit_nodes(nodes, X, parts, [*map(np.abs, leads)], [every] * len(nodes), log)
                for (first, second), sides in zip(pairs, sent, strict=True):
                    winners.append(np.where(sides == 1, second, first))
        self._stack(X)
        return self

    def eliminations(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Eliminations:
        """In which match each label loses, on examples of your choice.

        Those who enter a match are the examples whose label has won all its matches before. A mistake of the
        tree is the loss of exactly one match (thm-frontier-identity), and its share is at most the mean
        error of the matches on the label's way to the root, summed (thm-frontier-path-error).

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among ``classes_``.
        sample_weight : (n,) array-like, optional

        Returns
        -------
        Eliminations
        """
        X, codes, weights = self._known(X, y, sample_weight)
        alive = members(codes, len(self.classes_))
        entered, lost = [], []
        for node, children in enumerate(self.children_):
            sides = [alive[child] for child in children]
            rows, right = np.concatenate(sides), self._right(node, X, sides)
            entered.append(float(weights[rows].sum()))
            lost.append(float(weights[rows[~right]].sum()))
            alive.append(rows[right])
        return self._eliminations(entered, lost, codes, weights)


class LabelTree(_Tree):
    r"""A tree of sets of labels, with a classifier of few classes at each node (def-frontier-label-tree).

    Neighbours in the order are joined, ``branching`` at a time, then the joined ones, until one set is left.
    The classifier of a node learns, from all examples whose label is in its set, in which part the label is.
    To predict, the way goes from the root to a leaf.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier, by default :class:`RidgeOneVsAll`. A clone is fitted to each node, labels from 0 on for
        the parts in their order. Its ``predict`` decides; :meth:`scores` need its ``decision_function``, or
        else ``predict_proba``.
    branching : int
        The most children of a node, at least 2. From k on the tree is flat: one classifier for all classes.
    order : {"given", "random", "confusion", "means"} or array-like of labels
        The order of the leaves, as for :class:`FilterTree`.
    random_state : int, RandomState or None
        Draws the random order. It is not passed on: a random estimator has its own.
    n_jobs : int or None
        How many nodes are learnt at once, through joblib. The result does not depend on it.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    order_ : (k,) int array
        The leaves, as positions in ``classes_``.
    children_ : list of int arrays
        The children of each node: leaves below k, and node n as k + n.
    rounds_ : (N,) int array
        The height of each node, from 1.
    depth_ : int
        The height of the root.
    estimators_ : list of N estimators
        The classifiers of the nodes.
    n_examples_ : int array
        How many examples each classifier was trained on.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Classifiers known to be linear do not predict one by one: a compiled loop goes from the root to the leaf.
    It adds up in another order than they do alone, so that scores that are equal but for rounding may be
    ordered otherwise.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LabelTree(branching=4).fit(X, y)
    >>> [children.tolist() for children in model.children_], model.depth_
    ([[0, 6, 5, 9], [1, 8, 2, 3], [4, 7], [10, 11, 12]], 2)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        branching: int = 2,
        order: str | ArrayLike = "confusion",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.branching = branching
        self.order = order
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifiers of all nodes.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Passed on to the estimator, its rows selected.
        y : (m,) array-like
            Labels of any type that can be sorted, of at least two classes.
        sample_weight : (m,) array-like, optional
            Passed on to the estimator, its entries selected; refused if the estimator takes none, or with
            scikit-learn's metadata routing does not request them. An example of weight 0 is ignored.

        Returns
        -------
        LabelTree
        """
        most = integer(self.branching, "branching", 2)
        X, codes, weights = self._prepare(X, y, sample_weight)
        self._grow(self._ordered(X, codes, weights), most)
        below = members(codes, len(self.classes_))
        for children in self.children_:
            below.append(np.concatenate([below[child] for child in children]))
        every = range(len(self.children_))
        parts = [[below[child] for child in children] for children in self.children_]
        nobody = [np.empty(0, np.intp)] * len(every)
        with self._log() as log:
            self._fit_nodes(every, X, parts, [weights] * len(every), nobody, log)
        self._stack(X)
        return self

    def eliminations(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Eliminations:
        """At which node each example leaves the way to its label, on examples of your choice.

        Those who enter a node are the examples that no node above has sent another way. Otherwise as
        :meth:`FilterTree.eliminations`; rounds are heights, the root last.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame
        y : (n,) array-like
            Labels, all among ``classes_``.
        sample_weight : (n,) array-like, optional

        Returns
        -------
        Eliminations
        """
        X, codes, weights = self._known(X, y, sample_weight)
        below = members(codes, len(self.classes_))
        for children in self.children_:
            below.append(np.concatenate([below[child] for child in children]))
        on_way = np.ones(len(codes), dtype=bool)
        n_nodes = len(self.children_)
        entered, lost = [0.0] * n_nodes, [0.0] * n_nodes
        for node in range(n_nodes - 1, -1, -1):
            parts = [below[child][on_way[below[child]]] for child in self.children_[node]]
            rows, right = np.concatenate(parts), self._right(node, X, parts)
            on_way[rows] = right
            entered[node] = float(weights[rows].sum())
            lost[node] = float(weights[rows[~right]].sum())
        return self._eliminations(entered, lost, codes, weights)
