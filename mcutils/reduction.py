r"""Reduction to two classes: one-vs-all and one-vs-one, with any binary classifier inside.

*One-vs-all* (def-reduction-ova) learns for each class y a score :math:`f_y`, the class's examples against
all others, and predicts the class of the largest score. *One-vs-one* (def-reduction-ovo) learns for each
pair :math:`y < r` a score :math:`f_{yr}` on the examples of these two classes, positive for y; put
:math:`f_{ry} = -f_{yr}`. The *decoding* combines the pairs' decisions: by vote, by sum or by
tournament.

One-vs-all by least squares, which solves for all classes at once, is
:class:`mcutils.frontier.RidgeOneVsAll`.

**Ties.** A pair whose score is zero gives each of its classes half a win; in a tournament the smaller
class goes on. Of the classes with the largest value, the smallest is predicted, in the order of
``classes_``; for votes the sums of scores can break them first.

Classes in arguments and results are positions in ``classes_``, from 0; pairs come in the order
(0, 1), (0, 2), ..., (k-2, k-1).
"""

from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import available_if

from ._base import LabelClassifier
from ._checks import array, integer, one_of, seed
from ._reduction import (
    LEAST_PROBABILITY,
    BinaryReduction,
    Column,
    Scorer,
    base_has,
    linear_scores,
)
from ._typing import Floats, Ints

__all__ = ["OneVsAll", "OneVsOne", "pairs", "sums", "tournament", "votes"]

_MOST_CLASSES = 10_000  # 50 million pairs

# returns, for the examples of some rows, the score of first against second, first < second
Duel: TypeAlias = Callable[[Ints, int, int], NDArray[Any]]

# Scores of linear classifiers are decoded in chunks of examples, with a work space of about this many bytes:
# small enough for the cache of a core, large enough that a chunk costs more than the calls that it takes.
_CHUNK_BYTES = 2**20
# Couplings keep three matrices of k rows and columns for each example: of this many bytes at a time, each.
_COUPLED_BYTES = 2**25


# ---------------------------------------------------------------------------------------------------
# Decoding the scores of all pairs


def pairs(k: int) -> Ints:
    """All pairs of k classes in their order, a row each.

    Parameters
    ----------
    k : int
        At least 1; of one class there are no pairs.

    Examples
    --------
    >>> pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.column_stack(np.triu_indices(integer(k, "k", 1, feasible=_MOST_CLASSES), 1))


def votes(scores: ArrayLike) -> Floats:
    r"""The number :math:`n_y` of duels that each class wins; a score of zero is half a win for both.

    The score by vote :math:`\sum_{r \ne y} \operatorname{sign} f_{yr}` is :math:`2 n_y - (k - 1)`
    (prop-reduction-votes).

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_{yr}(x_i)` of the :math:`l = k(k-1)/2` pairs.

    Returns
    -------
    (n, k) array
        Each row adds up to l.

    Examples
    --------
    >>> votes([[1.0, -0.5, 2.0], [1.0, 0.0, 0.1]])
    array([[1. , 1. , 1. ],
           [1.5, 1. , 0.5]])
    """
    f, k = _check_scores(scores)
    return _votes(_tally(k, len(f), _blocks(f.T, k), count=True)[0])


def sums(scores: ArrayLike) -> Floats:
    r"""The summed scores :math:`\sum_{r \ne y} f_{yr}` of each class.

    If the scores are linear in x, so are the sums (thm-reduction-sum).

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_{yr}(x_i)` of the :math:`l = k(k-1)/2` pairs.

    Returns
    -------
    (n, k) array
        Each row adds up to 0.

    Examples
    --------
    >>> sums([[1.0, -0.5, 2.0]])
    array([[ 0.5,  1. , -1.5]])
    """
    f, k = _check_scores(scores)
    return _tally(k, len(f), _blocks(f.T, k), add=True)[1].T


def tournament(scores: ArrayLike, bracket: ArrayLike | None = None) -> NDArray[np.intp]:
    """Rounds that each class survives when the classes play each other out (prop-reduction-bracket).

    In a round, the first class of the bracket plays the second, the third the fourth, and so on; of an odd
    number, the last goes on without playing. The winners are the bracket of the next round. Who is left
    has survived all rounds, and is the only one. A score of zero lets the smaller class go on.

    Parameters
    ----------
    scores : (n, l) array-like
        :math:`f_{yr}(x_i)` of the :math:`l = k(k-1)/2` pairs.
    bracket : (k,) array-like of int, optional
        All classes, in the order in which they enter; by default 0, 1, ..., k-1.

    Returns
    -------
    (n, k) int array
        Its argmax is the champion.

    Examples
    --------
    Class 0 beats 1, 1 beats 2, and 2 beats 0: the class without a duel in the first round wins.

    >>> cycle = [[1.0, -1.0, 1.0]]
    >>> tournament(cycle), tournament(cycle, [1, 2, 0])
    (array([[1, 0, 2]]), array([[2, 1, 0]]))
    """
    f, k = _check_scores(scores)
    order = np.arange(k) if bracket is None else array(bracket, "bracket")
    if order.shape != (k,) or order.dtype.kind not in "iu" or (np.sort(order) != np.arange(k)).any():
        raise ValueError(f"bracket must have each class from 0 to {k - 1} once, found {order.tolist()}")

    def duel(rows: Ints, first: int, second: int) -> NDArray[Any]:
        scores: NDArray[Any] = f[rows, _place(k, first, second)]
        return scores

    return _play(order.tolist(), len(f), duel).T


def _check_scores(scores: ArrayLike) -> tuple[Floats, int]:
    """The scores and the number of classes."""
    f = array(scores, "scores")
    l = f.shape[1] if f.ndim == 2 else 0
    k = (1 + isqrt(1 + 8 * l)) // 2
    if l < 1 or k * (k - 1) // 2 != l:
        raise ValueError(
            "scores must be a matrix with a row for each example and k(k-1)/2 columns, one for each pair of "
            f"k >= 2 classes, found shape {f.shape}"
        )
    if f.dtype.kind not in "iufb":
        raise ValueError(f"scores must be real numbers, found dtype {f.dtype}")
    f = f.astype(np.float64, copy=False)
    if not np.isfinite(f).all():
        raise ValueError(f"scores must be finite, found {f[~np.isfinite(f)][0]}")
    return f, k


def _place(k: int, first: int, second: int) -> int:
    """Where the pair first < second stands."""
    return first * (2 * k - first - 1) // 2 + second - first - 1


def _blocks(scores: Floats, k: int) -> Iterator[Floats]:
    """The rows of ``scores``, (l, n): those of the pairs whose first class is 0, then 1, ..."""
    for y in range(k - 1):
        yield scores[_place(k, y, y + 1) : _place(k, y, k)]


def _tally(
    k: int, n: int, blocks: Iterator[Floats], *, count: bool = False, add: bool = False
) -> tuple[NDArray[Any], Floats]:
    r"""Sums over :math:`r \ne y` of the signs of the scores and of the scores, both (k, n), where wanted."""
    # signs of fewer than 128 duels add up in a byte: eight times the speed of floats
    kind = np.int8 if k <= 128 else np.int32
    signs, total = np.zeros((k, n if count else 0), dtype=kind), np.zeros((k, n if add else 0))
    for y, block in enumerate(blocks):
        if count:
            sign = (block > 0).view(np.int8) - (block < 0).view(np.int8)
            signs[y] += sign.sum(axis=0, dtype=kind)
            signs[y + 1 :] -= sign
        if add:
            total[y] += block.sum(axis=0)
            total[y + 1 :] -= block
    return signs, total


def _votes(signs: NDArray[Any]) -> Floats:
    """Wins, (n, k), out of sums of signs, (k, n)."""
    wins: Floats = (signs.T.astype(np.float64) + (len(signs) - 1)) / 2
    return wins


def _play(bracket: list[int], n: int, duel: Duel) -> NDArray[np.intp]:
    """Rounds that each class survives, (k, n)."""
    k = len(bracket)
    survived = np.zeros((k, n), dtype=np.intp)
    every = np.arange(n)
    entrants = [np.full(n, c) for c in bracket]
    while len(entrants) > 1:
        winners = [
            _winner(k, np.minimum(a, b), np.maximum(a, b), duel)
            for a, b in zip(entrants[::2], entrants[1::2], strict=False)
        ]
        entrants = winners + entrants[2 * len(winners) :]
        for winner in entrants:
            survived[winner, every] += 1
    return survived


def _winner(k: int, first: Ints, second: Ints, duel: Duel) -> Ints:
    """Of first < second, the winner for each example; each pair that occurs is scored once."""
    winner = first.copy()
    pair = first * k + second
    for code in np.unique(pair).tolist():
        rows = np.flatnonzero(pair == code)
        loses = duel(rows, *divmod(code, k)) < 0
        winner[rows[loses]] = code % k
    return winner


# ---------------------------------------------------------------------------------------------------
# The estimators


def _compares_probabilities(reduction: Any) -> bool:
    if reduction.decoding == "sign":
        raise AttributeError("predict_proba needs decoding='score': signs do not tell probabilities apart")
    return base_has("predict_proba")(reduction)


class OneVsAll(LabelClassifier, BinaryReduction):
    r"""A classifier for each class against all others (def-reduction-ova), or for each of several labels.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with ``decision_function``, or else ``predict_proba``; a clone is fitted to each
        class. From probabilities the score is the log-odds :math:`\log \frac{p}{1 - p}`, where p is kept at
        least :math:`2^{-52}` away from 0 and 1. A regressor learns 1 for the class and 0 for the others; from
        its prediction a the score is :math:`2 a - 1` (prop-reduction-minimisers).
    decoding : {"score", "sign"}
        "score" chooses the class of the largest score; "sign" uses only whether scores are positive, zero
        or negative, and where several classes or none have a positive score, it predicts the smallest of them
        (prop-reduction-signs).
    n_jobs : int or None
        How many classifiers are fitted at once, through joblib.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted; the numbers of the columns, if an example may have several labels.
    n_classes_ : int
        k.
    multilabel_ : bool
        Whether y was a matrix with a column for each label.
    estimators_ : list of estimator
        The classifier of each class, its own examples labelled +1, all others -1. Two classes need one
        classifier only, that of the second. Where all examples have a label, or none has it, a constant
        stands for its classifier, and a warning says so; likewise for the only class of y.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsAll(LogisticRegression()).fit(X, y)
    >>> model.decision_function(X).shape
    (150, 3)
    >>> model.score(X, y) > 0.9
    True

    Of several labels, each has a classifier of its own.

    >>> Y = np.column_stack([y > 0, X[:, 0] > 6]).astype(int)
    >>> OneVsAll(LogisticRegression()).fit(X, Y).predict(X[[0, 100]])
    array([[0, 0],
           [1, 1]])
    """

    _opposite = True

    def __init__(
        self,
        estimator: Any,
        *,
        decoding: Literal["score", "sign"] = "score",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        one_of(self.decoding, "decoding", ("score", "sign"))

    def _codes(self, labels: NDArray[Any]) -> NDArray[Any]:
        return self._read_labels(labels)

    def _prepare(self) -> int:
        k = len(self.classes_)
        return k if k != 2 or self.multilabel_ else 1

    def _column(self, s: int) -> Column:
        if self.multilabel_:
            return Column(np.array([-1, 1], dtype=np.int8), f"label {s}", s)
        y = 1 if len(self.classes_) == 2 else s
        signs = np.full(len(self.classes_), -1, dtype=np.int8)
        signs[y] = 1
        return Column(signs, f"class {_label(self.classes_, y)} against all others")

    def scores(self, X: Any) -> Floats:
        """The scores of all classes or labels, or with ``decoding="sign"`` their signs; of two classes -f, f.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        f = self.column_scores(X)
        if len(self.classes_) == 2 and not self.multilabel_:
            f = np.hstack([-f, f])
        return np.sign(f) if self.decoding == "sign" else f

    @available_if(_compares_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classifiers: of labels as they are, of classes divided by their sum.

        If each is the true probability of its class, the sum is 1, and so are these the true ones. If not,
        the division makes nothing right: it is a convention, scikit-learn's.
        :class:`mcutils.softmax.WithProbabilities` compares the scores with examples left out instead. Where
        the probabilities are not one increasing function of the scores, the class of the largest may be
        another than that of ``predict`` (prop-reduction-calibrated).

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
            Where all classifiers say 0, all classes have the same probability.
        """
        scorer = Scorer(self)
        p = scorer.probabilities(scorer.check(X)).T
        if self.multilabel_ or len(self.classes_) == 1:
            return p
        if len(self.classes_) == 2:
            return np.hstack([1 - p, p])
        sums = p.sum(axis=1, keepdims=True)
        return np.where(sums > 0, p, 1.0) / np.where(sums > 0, sums, float(len(self.classes_)))


def _asks_all_pairs(reduction: Any) -> bool:
    if reduction.decoding == "tournament":
        raise AttributeError("predict_proba looks at all pairs: it is there with decoding 'vote' or 'sum'")
    return base_has("predict_proba")(reduction)


class OneVsOne(BinaryReduction):
    r"""A classifier for each pair of classes (def-reduction-ovo).

    Parameters
    ----------
    estimator : estimator
        A binary classifier or a regressor, as for :class:`OneVsAll`; a clone is fitted to each pair.
    decoding : {"vote", "sum", "tournament"}
        See :func:`votes`, :func:`sums` and :func:`tournament`. It can be changed after ``fit``: the
        classifiers are the same.
    ties : {"first", "sum"}
        Which of the classes with most votes is predicted: the smallest, or that of the largest summed
        score. Votes only.
    bracket : None, array-like of labels, or int
        The order in which the classes enter the tournament, by default that of ``classes_``. An integer m
        makes m tournaments in random order; the class with most titles is predicted.
    random_state : int, RandomState or None
        Draws the random orders in ``fit``. It is not passed on: a random estimator has its own.
    n_jobs : int or None
        How many classifiers are fitted at once, through joblib.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    n_classes_ : int
        k.
    pairs_ : (l, 2) int array
        The pairs, as positions in ``classes_``.
    estimators_ : list of estimator
        The l = k(k-1)/2 classifiers in the order of ``pairs_``; the examples of a pair's first class are
        labelled +1, those of its second -1.
    brackets_ : (m, k) int array
        The orders of the tournaments, as positions in ``classes_``.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    ``decision_function`` gives the votes :math:`n_y`; with ``ties="sum"`` and sums s, the values
    :math:`n_y + s_y / (5 (1 + |s_y|))`, which order classes of equal votes by their sums and others by
    their votes; the sums; the rounds survived, or with several brackets the titles. For two classes all of
    them are :math:`-f_{12}`, positive for the second class.

    scikit-learn's decision function is that of ``ties="sum"`` with one third in place of one fifth, and gives
    a pair whose score is zero to one class. Whole votes are the default here, as they are what the chapter's
    statements are about (prop-reduction-votes).

    Classifiers known to be linear (scikit-learn's linear classifiers, and SVC, NuSVC and BinarySVM with the
    linear kernel) do not score one by one: their scores are one product, and their sums the product of one
    linear classifier for each class (thm-reduction-sum). It adds up in another order than the classifiers do
    alone, so that scores agree up to rounding; a score that is zero but for rounding may get another sign.

    A tournament computes only the duels that take place: k - 1 for each example.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsOne(LinearSVC(random_state=0), decoding="vote").fit(X, y)
    >>> model.pairs_.tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> model.votes(X[:2])
    array([[2., 1., 0.],
           [2., 1., 0.]])
    >>> model.score(X, y) > 0.9
    True
    """

    _opposite = True

    def __init__(
        self,
        estimator: Any,
        *,
        decoding: Literal["vote", "sum", "tournament"] = "vote",
        ties: Literal["first", "sum"] = "first",
        bracket: Sequence[Any] | NDArray[Any] | int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.decoding = decoding
        self.ties = ties
        self.bracket = bracket
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        one_of(self.decoding, "decoding", ("vote", "sum", "tournament"))
        one_of(self.ties, "ties", ("first", "sum"))
        if self.bracket is not None and array(self.bracket, "bracket").ndim == 0:
            integer(self.bracket, "bracket", 1, feasible=_MOST_CLASSES)
        seed(self.random_state)

    def _prepare(self) -> int:
        k = len(self.classes_)
        self.pairs_ = pairs(k)
        if self.bracket is None:
            self.brackets_ = np.arange(k)[None, :]
        elif isinstance(self.bracket, (int, np.integer)):
            rng = check_random_state(self.random_state)
            self.brackets_ = np.array([rng.permutation(k) for _ in range(self.bracket)])
        else:
            order = array(self.bracket, "bracket")
            if order.shape != (k,) or not np.array_equal(np.sort(order), self.classes_):
                raise ValueError(
                    f"bracket must have each of the classes {self.classes_.tolist()} once, "
                    f"found {order.tolist()}"
                )
            self.brackets_ = np.searchsorted(self.classes_, order)[None, :]
        return len(self.pairs_)

    def _column(self, s: int) -> Column:
        y, r = self.pairs_[s]
        signs = np.zeros(len(self.classes_), dtype=np.int8)
        signs[y], signs[r] = 1, -1
        first, second = _label(self.classes_, y), _label(self.classes_, r)
        return Column(signs, f"the pair of classes {first} (+1) and {second} (-1)")

    def scores(self, X: Any) -> Floats:
        """What decides: votes, summed scores, or rounds survived or titles won; for two classes -f and f.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        self._check_parameters()
        scorer = Scorer(self)
        X = scorer.check(X)
        if len(self.classes_) == 2:
            first = scorer(X)[0]
            return np.column_stack([first, -first])
        if self.decoding == "tournament":
            return self._played(scorer, X).T.astype(np.float64)
        if self.decoding == "sum":
            return self._summed(scorer, X).T
        if self.ties == "first":
            return _votes(self._tallied(scorer, X, count=True)[0])
        # classifiers that score one by one do it once
        signs, total = self._tallied(scorer, X, count=True, add=scorer.linear is None)
        if scorer.linear is not None:
            total = self._summed(scorer, X)
        # what is added is between -1/5 and 1/5: it cannot make up for half a vote
        values: Floats = _votes(signs) + (total / (5 * (1 + np.abs(total)))).T
        return values

    @available_if(_asks_all_pairs)
    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes that fit those of the pairs best (def-softmax-coupling).

        They are those of :func:`mcutils.softmax.pairwise_coupling`, and the true ones if each classifier
        gives the true probability of its first class among its two. The class of the largest may be another
        than that of ``predict``, which counts duels or adds scores; a tournament, which asks few pairs, has
        no probabilities. :class:`mcutils.softmax.WithProbabilities` with ``method="coupling"`` first makes
        the classifiers' probabilities fit examples left out.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        from .softmax import pairwise_coupling

        scorer = Scorer(self)
        p = np.clip(scorer.probabilities(scorer.check(X)).T, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        step = max(1, _COUPLED_BYTES // (8 * len(self.classes_) ** 2))
        parts = [p[start : start + step] for start in range(0, len(p), step)]
        return np.vstack([pairwise_coupling(part).probabilities for part in parts])

    def votes(self, X: Any) -> Floats:
        """The number of duels that each class wins, as :func:`votes` of :meth:`column_scores`.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        scorer = Scorer(self)
        return _votes(self._tallied(scorer, scorer.check(X), count=True)[0])

    def _tallied(
        self, scorer: Scorer, X: Any, *, count: bool = False, add: bool = False
    ) -> tuple[NDArray[Any], Floats]:
        """:func:`_tally` of the scores, without having them all at once."""
        k, n = len(self.classes_), X.shape[0]
        step = max(256, _CHUNK_BYTES // (8 * k)) if scorer.linear is not None else max(n, 1)
        parts = []
        for start in range(0, max(n, 1), step):
            part = X if step >= n else X[start : start + step]
            blocks = (scorer(part, slice(_place(k, y, y + 1), _place(k, y, k))) for y in range(k - 1))
            parts.append(_tally(k, part.shape[0], blocks, count=count, add=add))
        signs, totals = zip(*parts, strict=True)
        return np.hstack(signs), np.hstack(totals)

    def _summed(self, scorer: Scorer, X: Any) -> Floats:
        """Summed scores, (k, n)."""
        if scorer.linear is None:
            return self._tallied(scorer, X, add=True)[1]
        # sums of linear scores are linear scores
        weights, biases = scorer.linear
        blocks = _blocks(np.column_stack([weights, biases]), len(self.classes_))
        summed = _tally(len(self.classes_), weights.shape[1] + 1, blocks, add=True)[1]
        return linear_scores(X, summed[:, :-1], summed[:, -1])

    def _played(self, scorer: Scorer, X: Any) -> NDArray[np.intp]:
        """Rounds survived, or with several brackets the titles, (k, n)."""
        k, n = len(self.classes_), X.shape[0]

        def duel(rows: Ints, first: int, second: int) -> NDArray[Any]:
            s = _place(k, first, second)
            some = X if len(rows) == n else _safe_indexing(X, rows)
            scores: NDArray[Any] = scorer(some, slice(s, s + 1))[0]
            return scores

        if len(self.brackets_) == 1:
            return _play(self.brackets_[0].tolist(), n, duel)
        titles = np.zeros((k, n), dtype=np.intp)
        for bracket in self.brackets_.tolist():
            survived = _play(bracket, n, duel)
            titles += survived == survived.max(axis=0)
        return titles


def _label(classes: NDArray[Any], y: int) -> str:
    return repr(classes[[y]].tolist()[0])
