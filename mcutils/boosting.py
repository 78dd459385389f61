r"""AdaBoost.MH: boosting for many classes, and for many labels at once, by the Hamming loss.

For each of k classes an example :math:`x_i` belongs to it or not, :math:`Y_{il} = \pm1`. These are
m k examples :math:`(x_i, l)` of two classes, and AdaBoost.MH is AdaBoost on them
(thm-boosting-equivalence): from the distribution :math:`D_1(i, l) = 1 / mk` on, round t takes a base
classifier :math:`h_t(x, l) = \pm1` with a small error

.. math:: \varepsilon_t = \sum_{i, l} D_t(i, l) \, [h_t(x_i, l) \ne Y_{il}], \qquad
   \alpha_t = \tfrac12 \log \frac{1 - \varepsilon_t}{\varepsilon_t}, \qquad
   Z_t = 2 \sqrt{\varepsilon_t (1 - \varepsilon_t)},

and goes on with :math:`D_{t+1}(i, l) = D_t(i, l) \exp(-\alpha_t h_t(x_i, l) Y_{il}) / Z_t`. The prediction is
by the scores :math:`g(x, l) = \sum_t \alpha_t h_t(x, l)`: their signs, or where every example has one class,
the class of the largest. Then (thm-boosting-product, thm-boosting-errors, thm-boosting-weak)

.. math:: \text{Hamming error} \le \frac1{mk} \sum_{i, l} e^{-Y_{il} g(x_i, l)} = \prod_t Z_t
   \le e^{-2 \sum_t (1/2 - \varepsilon_t)^2}, \qquad \text{mistakes} \le \frac k2 \prod_t Z_t .

>>> from mcutils.boosting import AdaBoostMH
>>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
>>> y = ["low", "low", "middle", "middle", "high", "high"]
>>> model = AdaBoostMH(n_estimators=20).fit(X, y)
>>> model.predict([[0.0], [3.4], [9.0]]).tolist()
['low', 'middle', 'high']
>>> model.rounds_.error[:2].round(4).tolist(), bool(model.rounds_.bound[-1] < 0.1)
([0.2222, 0.1429], True)

References: Schapire and Singer, *Improved boosting algorithms using confidence-rated predictions*, Machine
Learning 37 (1999) 297-336; Kégl, *The return of AdaBoost.MH: multi-class Hamming trees*, ICLR 2014.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

# joblib's own: threads of scikit-learn's Parallel set and restore the warning filters of the whole process at
# the same time, and may leave them changed. The compiled search needs no configuration of scikit-learn.
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, softmax
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import (
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from ._base import LabelClassifier
from ._checks import array, in_memory, integer, jobs, number, one_of, seed, switch, verbosity
from ._progress import Log
from ._warnings import warn
from ._weights import example_weights, in_units

__all__ = ["AdaBoostMH", "Rounds", "Stump", "best_stump"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

VOTES = ("sign", "leaf")

# Weights have the sum 1, and edges 1 - 2 error that differ by less are equal: so that rounding does not
# choose, and the choice is the same on every computer, and for a weight of 2 as for two examples.
_TIE = 1e-12

# The classes whose sums a sweep keeps in registers, see mcutils.jit.stumps.
_BLOCK = 4

# A sample of at least _LARGE examples, whose weights for four classes leave a cache, is cut into buckets for
# the search, _SIZE examples or more in each; but not by a feature that has one value more often than _COMMON,
# which is quicker to sweep without it. What is known of the weights in a bucket is renewed when they can have
# grown by _GROWN. An edge and its bound may be _ROUNDING apart.
_LARGE, _SIZE, _MOST, _COMMON = 2**15, 32, 1024, 0.4
_ROUNDING = 1e-9
_GROWN = 4.0


# ---------------------------------------------------------------------------------------------------
# Stumps


@dataclass(frozen=True, eq=False)
class Stump:
    r"""A stump for k classes: votes :math:`h(x, l) = \pm1` by one threshold of one feature.

    Attributes
    ----------
    feature : int or None
        The feature j; None for a constant.
    threshold : float
        :math:`\theta`, midway between two values of the sample; :math:`-\infty` for a constant.
    left : (k,) array
        The votes where :math:`x_j \le \theta`.
    right : (k,) array
        The votes where :math:`x_j > \theta`.
    error : float
        Its error under the weights that it was chosen for.
    """

    feature: int | None
    threshold: float
    left: NDArray[np.int8]
    right: NDArray[np.int8]
    error: float

    def __call__(self, X: ArrayLike) -> NDArray[np.int8]:
        """The votes, (n, k), for examples X, (n, d)."""
        values = np.asarray(X)
        if values.ndim != 2 or (self.feature is not None and values.shape[1] <= self.feature):
            raise ValueError(
                f"X must be a matrix with at least {(self.feature or 0) + 1} features, "
                f"found shape {values.shape}"
            )
        return np.where(self._right(values)[:, None], self.right, self.left)

    def _right(self, X: Any) -> NDArray[np.bool_]:
        if self.feature is None:
            return np.ones(len(X), dtype=np.bool_)
        side: NDArray[np.bool_] = X[:, self.feature] > self.threshold
        return side


def best_stump(
    X: ArrayLike,
    signs: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    votes: str = "sign",
    n_jobs: int | None = None,
) -> Stump:
    r"""The stump of the least weighted error :math:`\sum_{i, l} D(i, l) [h(x_i, l) \ne Y_{il}]`.

    Of all these stumps it also has the least
    :math:`Z = \min_\alpha \sum_{i, l} D(i, l) e^{-\alpha h(x_i, l) Y_{il}}`, for with votes :math:`\pm1` that
    is :math:`2 \sqrt{\varepsilon (1 - \varepsilon)}`, which increases with :math:`\varepsilon \le 1/2`
    (prop-boosting-stump).

    If there are several, it is the constant if that is one of them, otherwise that of the first feature, and
    of this the smallest threshold; errors that differ by less than 5e-13 are taken as equal. Where as much
    speaks for a class as against it, the vote is -1.

    Parameters
    ----------
    X : (m, d) array-like
        Finite features.
    signs : (m, k) array-like
        :math:`Y`, of -1 and 1.
    weights : (m, k) array-like, optional
        :math:`D`, at least 0 and not all 0; divided by their sum. By default all are equal.
    votes : {"sign", "leaf"}
        "sign": one sign for each class, :math:`h(x, l) = v_l` where :math:`x_j > \theta` and :math:`-v_l`
        elsewhere. "leaf": both sides vote for each class as they like. The constants are among both.
    n_jobs : int, optional
        The number of threads that share the features; the result is the same.

    Returns
    -------
    Stump

    Examples
    --------
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]]
    >>> stump = best_stump(X, [[1, -1], [1, -1], [-1, 1], [-1, 1]])
    >>> stump.feature, stump.threshold, stump.left.tolist(), stump.right.tolist(), stump.error
    (0, 2.5, [1, -1], [-1, 1], 0.0)
    """
    values = check_array(X, dtype=np.float64, input_name="X")
    Y = array(signs, "signs")
    of_numbers = Y.dtype.kind in "biuf"
    if (
        Y.ndim != 2
        or len(Y) != len(values)
        or Y.shape[1] < 1
        or not of_numbers
        or not np.isin(Y, (-1, 1)).all()
    ):
        raise ValueError(
            f"signs must be a matrix of -1 and 1 with a row for each of {len(values)} examples, "
            f"found shape {Y.shape} and the entries {Y.ravel()[:6].tolist()}"
        )
    D = np.ones(Y.shape) if weights is None else array(weights, "weights")
    if D.shape != Y.shape or D.dtype.kind not in "buif":
        raise ValueError(
            f"weights must be numbers with the shape of signs, {Y.shape}, "
            f"found shape {D.shape} of type {D.dtype}"
        )
    # written so that NaN is refused as well
    if not (D.min() >= 0 and 0 < D.max() < np.inf):
        raise ValueError("weights must be finite, at least 0, and not all 0")
    D, _ = in_units(D.astype(np.float64))
    one_of(votes, "votes", VOTES)
    jobs(n_jobs)
    used = np.flatnonzero(D.any(axis=1))
    sample = (values[used], Y[used], D[used] / D.sum(), votes)
    tasks = effective_n_jobs(n_jobs)
    if tasks == 1:
        return _Stumps(*sample, None, 1).best()
    with Parallel(n_jobs=tasks, require="sharedmem") as pool:
        return _Stumps(*sample, pool, tasks).best()


class _Stumps:
    """The mk-fold sample with its weights, for stumps: order of every feature, signed weights in blocks."""

    def __init__(self, X: Floats, Y: NDArray[Any], D: Floats, votes: str, pool: Any, tasks: int):
        m, d = X.shape
        self.X, self.k = X, Y.shape[1]
        self.order = np.empty((d, m), dtype=np.int32)
        self.common = np.empty(d, dtype=np.int32)
        ends = []
        for j in range(d):
            self.order[j] = np.argsort(X[:, j], kind="stable")
            values = X[self.order[j], j]
            ends.append(np.flatnonzero(np.append(values[1:] != values[:-1], True)).astype(np.int32) + 1)
            self.common[j] = np.diff(ends[j], prepend=0).argmax()
        self.starts = np.cumsum([0, *map(len, ends)])
        self.ends = np.concatenate(ends)
        self.signed = np.zeros((-(-self.k // _BLOCK), m, _BLOCK))
        for b, block in enumerate(self.signed):
            some = slice(b * _BLOCK, (b + 1) * _BLOCK)
            np.multiply(D[:, some], Y[:, some], out=block[:, : Y[:, some].shape[1]])
        self.totals = self.signed.sum(axis=1)
        self.mass = np.array([np.abs(block).sum(axis=0) for block in self.signed])
        self.independent = votes == "leaf"
        self.largest = np.empty(d)
        self.pool, self.parts = pool, np.array_split(np.arange(d), min(tasks, d))
        self.buckets = _Buckets(self) if m >= _LARGE else None

    def best(self) -> Stump:
        """The best stump for the present weights; it is kept for :meth:`reweigh`."""
        from .jit import stumps as jit

        constant = np.abs(self.totals)
        least = constant if self.independent else np.zeros_like(constant)
        weights = (self.signed, self.totals, least)
        problem: tuple[Any, ...] = (self.order, self.ends, self.starts, self.common, *weights)
        ranges = [(int(part[0]), int(part[-1]) + 1) for part in self.parts]
        search: Any = jit.largest_edges
        if self.buckets is not None:
            search, problem = jit.screened_edges, (*self.buckets.known(self.signed), *problem)
        if len(ranges) == 1:
            search(*ranges[0], *problem, self.largest)
        else:
            self.pool(delayed(search)(*one, *problem, self.largest) for one in ranges)
        enough = max(float(constant.sum()), float(self.largest.max())) - _TIE
        feature, threshold = None, -np.inf
        self.right = np.ones(len(self.X), dtype=np.bool_)
        if constant.sum() < enough:
            feature = int((self.largest >= enough).argmax())
            ends = self.ends[self.starts[feature] : self.starts[feature + 1]]
            if self.buckets is not None and self.buckets.has(feature):
                known: tuple[Any, ...] = (*self.buckets.known(self.signed), self.order, ends, *weights)
                edges = jit.edges_above(feature, enough - _ROUNDING, *known)
            else:
                edges = jit.edges_of(self.order[feature], ends, self.common[feature], *weights)
            cut = int(ends[(edges >= enough).argmax()])
            below, above = self.X[self.order[feature, cut - 1 : cut + 1], feature].tolist()
            # never above, whatever is rounded; halves, so that nothing overflows
            threshold = min(max(below / 2 + above / 2, below), np.nextafter(above, -np.inf))
            self.right[self.order[feature, :cut]] = False
        self.votes = self._vote(feature is None)
        wrong, correct = jit.masses(self.signed, self.right, *self.votes)
        self.wrong, self.correct = float(wrong), float(correct)
        left, right = (side.ravel()[: self.k].astype(np.int8) for side in self.votes)
        return Stump(feature, float(threshold), left, right, self.wrong / (self.wrong + self.correct))

    def _vote(self, constant: bool) -> tuple[Floats, Floats]:
        """The votes of both sides: the sign of what speaks for the class, -1 where that is rounding."""
        from .jit import stumps as jit

        of_left, of_right = np.zeros_like(self.totals), np.zeros_like(self.totals)
        jit.sums(self.signed, self.right, of_left, of_right)
        nothing = _TIE * self.mass
        if self.independent and not constant:
            return np.where(of_left > nothing, 1.0, -1.0), np.where(of_right > nothing, 1.0, -1.0)
        right = np.where(of_right - of_left > nothing, 1.0, -1.0)
        return (right if constant else -right), right

    def reweigh(self) -> None:
        """From D_t to D_{t+1}: what was wrong has half of the weight, and what was right the other half."""
        from .jit import stumps as jit

        if self.buckets is not None:
            self.buckets.factor *= 0.5 / self.wrong
        jit.reweigh(
            *(self.signed, self.right, *self.votes, 0.5 / self.wrong, 0.5 / self.correct),
            *(self.totals, self.mass),
        )


class _Buckets:
    """The order of every feature of a large sample, cut into buckets between two values."""

    def __init__(self, stumps: _Stumps):
        d, m = stumps.order.shape
        self.codes = np.zeros((d, m), dtype=np.uint16)
        count = min(_MOST, m // _SIZE)
        marks = np.arange(1, count + 1) * m // count
        inner: list[NDArray[np.bool_]] = []
        for j in range(d):
            ends = stumps.ends[stumps.starts[j] : stumps.starts[j + 1]]
            if np.diff(ends, prepend=0).max() > _COMMON * m:
                inner.append(np.empty(0, dtype=np.bool_))
                continue
            last = np.unique(np.searchsorted(ends, marks))  # the last value of each bucket
            sizes = np.diff(ends[last], prepend=0)
            self.codes[j, stumps.order[j]] = np.repeat(np.arange(len(last)), sizes)
            inner.append(np.diff(last, prepend=-1) > 1)
        self.begins = np.cumsum([0, *map(len, inner)])
        self.inner = np.concatenate(inner)
        self.mass = np.empty(len(self.inner))
        self.factor = np.inf  # by how much a weight can have grown since these were summed up

    def has(self, feature: int) -> bool:
        """Whether the order of the feature is cut."""
        return bool(self.begins[feature + 1] > self.begins[feature])

    def known(self, signed: Floats) -> tuple[Any, ...]:
        """What the search takes for the present weights."""
        from .jit import stumps as jit

        if self.factor > _GROWN:
            jit.masses_of_buckets(self.codes, self.begins, signed, self.mass)
            self.factor = 1.0
        return self.codes, self.begins, self.inner, self.mass, self.factor


class _Learner:
    """The mk-fold sample with its weights, for a base learner of scikit-learn."""

    def __init__(self, X: Floats, Y: NDArray[Any], D: Floats, estimator: Any, random_state: Any):
        self.X, self.signs, self.D = _fold(X, Y.shape[1]), Y.ravel(), D.flatten()
        self.estimator, self.random_state = estimator, random_state

    def best(self) -> Any:
        """A clone fitted to the present weights; it is kept for :meth:`reweigh`."""
        learner = clone(self.estimator)
        seeds = [name for name in sorted(learner.get_params()) if re.search("(^|__)random_state$", name)]
        learner.set_params(**{name: self.random_state.randint(2**31 - 1) for name in seeds})
        try:
            learner.fit(self.X, self.signs, sample_weight=self.D * (len(self.D) / self.D.sum()))
        except Exception as error:
            error.add_note(f"This was raised by {self.estimator!r} on the mk-fold sample.")
            raise
        self.missed = learner.predict(self.X) != self.signs
        self.wrong, self.correct = float(self.D[self.missed].sum()), float(self.D[~self.missed].sum())
        return learner

    def reweigh(self) -> None:
        """From D_t to D_{t+1}: what was wrong has half of the weight, and what was right the other half."""
        self.D *= np.where(self.missed, 0.5 / self.wrong, 0.5 / self.correct)


def _plus_minus(belongs: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(belongs, np.int8(1), np.int8(-1))


def _fold(X: Floats, k: int) -> Floats:
    """The mk-fold sample: row i k + l is example i followed by the unit vector of the class l."""
    return np.hstack([np.repeat(X, k, axis=0), np.tile(np.eye(k), (len(X), 1))])


# ---------------------------------------------------------------------------------------------------
# The estimator


@dataclass(frozen=True, eq=False)
class Rounds:
    r"""What each round of boosting found.

    Attributes
    ----------
    error : (T,) array
        :math:`\varepsilon_t`, the weighted error of the base classifier.
    alpha : (T,) array
        :math:`\alpha_t = \frac12 \log((1 - \varepsilon_t) / \varepsilon_t)`; infinite for the error 0.
    z : (T,) array
        :math:`Z_t = 2 \sqrt{\varepsilon_t (1 - \varepsilon_t)}`.
    bound : (T,) array
        :math:`\prod_{s \le t} Z_s`: no smaller than the Hamming error on the sample after round t, and equal
        to the mean of :math:`e^{-Y_{il} g(x_i, l)}` (thm-boosting-product).
    """

    error: Floats
    alpha: Floats
    z: Floats
    bound: Floats


class AdaBoostMH(LabelClassifier):
    r"""AdaBoost.MH with stumps, or with any classifier of scikit-learn as the base learner (alg-boosting-mh).

    The rounds end before ``n_estimators`` where the formula for :math:`\alpha_t` ends (prop-boosting-stops):

    * :math:`\varepsilon_t = 0`, so :math:`\alpha_t = \infty`: this base classifier is right about all of the
      sample. It is kept, with :math:`1 + \sum_{s < t} \alpha_s` as its weight, which makes its votes the
      signs of all scores; what was learned before decides between the classes that it votes for.
    * :math:`\varepsilon_t \ge 1/2`, up to 1e-12: it is no better than chance, :math:`Z_t = 1`, and would be
      found again in every later round. It is left out. If it is the first, there is a warning, and all scores
      are 0.

    Parameters
    ----------
    estimator : estimator or None
        None: stumps, see :func:`best_stump`. Otherwise a classifier whose ``fit`` takes ``sample_weight``.
        It learns the signs :math:`Y_{il} = \pm1` of the mk-fold sample, whose row i k + l is :math:`x_i`
        followed by the unit vector of the class l (an array of m k (d + k) numbers), with the weights
        :math:`mk D_t`; its votes are what it predicts. It must be able to use a class and a feature
        at once: a tree of depth 1, or a linear classifier, soon has no edge.
    n_estimators : int
        T, the most rounds.
    votes : {"sign", "leaf"}
        Of stumps: one sign for each class, or both sides vote independently.
    early_stopping : bool
        Whether to hold out a part of the sample, to stop when the mistakes on it do not become fewer, and to
        keep the rounds up to the fewest (the first of these). Mistakes are counted as those of ``predict``:
        wrong classes, or with several labels, wrong labels.
    validation_fraction : float
        Which part is held out; of each class the same, where every example has one.
    n_iter_no_change : int
        How many rounds without improvement are waited for.
    n_jobs : int, optional
        The number of threads that share the features in the search for a stump; the result is the same. They
        read and write the same memory, so they stay in this process where joblib's backend is a cluster too.
    random_state : int, RandomState or None
        Draws what is held out, and is handed to the base learners.
    verbose : int or bool
        1, or True: a line on stderr says how far the fit is; 2: each report is a line of its own.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted; the numbers of the columns, if an example may have several labels.
    multilabel_ : bool
        Whether y was a matrix with a column for each label.
    estimators_ : list
        The base classifiers of the rounds that are kept: of :class:`Stump`, or fitted clones.
    estimator_weights_ : (T,) array
        Their weights :math:`\alpha_t`, all finite.
    rounds_ : Rounds
        :math:`\varepsilon_t`, :math:`\alpha_t`, :math:`Z_t` and :math:`\prod Z` of each.
    n_estimators_ : int
        How many these are.
    stop_ : {"n_estimators", "perfect", "no edge", "validation"}
        Why there are not more: all were made; :math:`\varepsilon_t = 0`; :math:`\varepsilon_t \ge 1/2`;
        the held out part.
    validation_errors_ : array or None
        The mistakes on the held out part after each round, also of those that are not kept; a fraction.
    feature_importances_ : (d,) array
        The share of each feature in :math:`\sum \alpha_t`, with the sum 1, constants left out; all 0 if there
        are only constants. For base learners the mean of theirs, each with the weight :math:`\alpha_t`,
        without the columns that stand for the class.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Examples
    --------
    >>> import numpy as np
    >>> from mcutils.boosting import AdaBoostMH
    >>> X = np.arange(12.0)[:, None]
    >>> Y = np.hstack([X > 2, X > 5, X > 8]).astype(int)  # each example has the labels that it has passed
    >>> model = AdaBoostMH(n_estimators=30).fit(X, Y)
    >>> model.predict([[1.0], [7.0], [20.0]]).tolist()
    [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    _takes_sparse = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        votes: str = "sign",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.votes = votes
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        r"""Boost.

        Parameters
        ----------
        X : (m, d) array-like or data frame
            Finite features.
        y : (m,) array-like or (m, k) array-like or sparse matrix
            Labels; or for each example and label whether it has it, as 0 and 1 or as -1 and 1. If all
            examples have the same class, it is always predicted.
            A label that no example has is learned as such, and a warning names it.
        sample_weight : (m,) array-like, optional
            At least 0; :math:`D_1(i, l)` is in proportion to it. An example of weight 0 is absent.

        Returns
        -------
        AdaBoostMH
        """
        self._check_parameters()
        values, target = validate_data(self, in_memory(X), in_memory(y), dtype=np.float64, multi_output=True)
        codes = self._read_labels(target)
        belongs = codes > 0 if self.multilabel_ else codes[:, None] == np.arange(len(self.classes_))
        Y = _plus_minus(belongs)
        weights = example_weights(sample_weight, len(Y))
        used = np.flatnonzero(weights)
        weights, _ = in_units(weights)
        rng = check_random_state(self.random_state)
        held = used[:0]
        if self.early_stopping:
            used, held = train_test_split(
                used,
                test_size=self.validation_fraction,
                random_state=rng,
                stratify=None if self.multilabel_ else codes[used],
            )
        self._warn_of_missing(Y[used])
        share = weights[used, None] / (weights[used].sum() * Y.shape[1])
        validation = (values[held], Y[held], weights[held])
        if len(used) < len(values):
            values, Y = values[used], Y[used]
        D = np.broadcast_to(share, Y.shape)  # no array of its own
        if self.estimator is not None:
            self._boost(_Learner(values, Y, D, self.estimator, rng), validation)
            return self
        tasks = effective_n_jobs(self.n_jobs)
        if tasks == 1:
            self._boost(_Stumps(values, Y, D, self.votes, None, 1), validation)
        else:
            with Parallel(n_jobs=tasks, require="sharedmem") as pool:
                self._boost(_Stumps(values, Y, D, self.votes, pool, tasks), validation)
        return self

    def _boost(self, sample: "_Stumps | _Learner", validation: tuple[Floats, NDArray[Any], Floats]) -> None:
        X, Y, weights = validation
        scores = np.zeros(Y.shape)
        points = X if self.estimator is None else _fold(X, Y.shape[1])
        errors: list[float] = []
        alphas: list[float] = []
        mistakes: list[float] = []
        self.estimators_: list[Any] = []
        self.estimator_weights_ = np.empty(0)
        self.stop_ = "n_estimators"
        with Log(type(self).__name__, int(self.verbose), most=self.n_estimators) as log:
            while len(errors) < self.n_estimators and self.stop_ == "n_estimators":
                base = sample.best()
                error = sample.wrong / (sample.wrong + sample.correct)
                if error >= 0.5 - _TIE:
                    self.stop_ = "no edge"
                    break
                if error == 0.0:
                    self.stop_ = "perfect"
                    weight = 1.0 + sum(alphas)
                    alphas.append(np.inf)
                else:
                    weight = 0.5 * np.log((1.0 - error) / error)
                    alphas.append(weight)
                errors.append(error)
                self.estimators_.append(base)
                self.estimator_weights_ = np.append(self.estimator_weights_, weight)
                if self.early_stopping:
                    scores += weight * self._votes_of(base, points)
                    mistakes.append(self._mistakes(scores, Y, weights))
                    if len(mistakes) - 1 - np.argmin(mistakes) >= self.n_iter_no_change:
                        self.stop_ = "validation"
                held_out = f", {mistakes[-1]:.4g} of the held out wrong" if mistakes else ""
                log.tell(len(errors), f", error {error:.4g}{held_out}")
                if self.stop_ == "n_estimators":
                    sample.reweigh()
        kept = len(errors)
        self.validation_errors_ = None
        if self.early_stopping:
            self.validation_errors_ = np.array(mistakes)
            if mistakes and np.argmin(mistakes) + 1 < kept:
                kept, self.stop_ = int(np.argmin(mistakes)) + 1, "validation"
        if not errors:
            warn(
                f"no base classifier of round 1 has an error below 1/2, found {error}: all scores are 0",
            )
        del self.estimators_[kept:]
        self.estimator_weights_ = self.estimator_weights_[:kept]
        self.n_estimators_ = kept
        kept_errors = np.array(errors[:kept])
        z = 2 * np.sqrt(kept_errors * (1 - kept_errors))
        self.rounds_ = Rounds(kept_errors, np.array(alphas[:kept]), z, np.cumprod(z))

    def scores(self, X: Any) -> Floats:
        r"""The scores :math:`g(x, l) = \sum_t \alpha_t h_t(x, l)` of all classes, also if there are only two.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self)
        values = self._validate(X, reset=False)
        sums = np.zeros((len(values), len(self.classes_)))
        for _ in self._partial_sums(values, sums):
            continue
        return sums

    def staged_scores(self, X: Any) -> Iterator[Floats]:
        """The scores after each round.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Yields
        ------
        (n, k) array
        """
        check_is_fitted(self)
        values = self._validate(X, reset=False)
        for sums in self._partial_sums(values, np.zeros((len(values), len(self.classes_)))):
            yield sums.copy()

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The values of :meth:`decision_function` after each round.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Yields
        ------
        (n, k) array, or (n,) for two classes
        """
        for scores in self.staged_scores(X):
            yield self._decided(scores)

    def predict_proba(self, X: Any) -> Floats:
        r"""The probabilities for which these scores would be best: of classes, with the sum 1, or of labels.

        Of all scores, :math:`\frac12 \log \frac{p}{1 - p}` has the least expected exponential loss, where p
        is the probability of the label (prop-reduction-minimisers). So p is :math:`1 / (1 + e^{-2 g(x, l)})`,
        for classes divided by their sum, which is 1 at the best scores. What is best on a sample is another
        matter: while the edges stay away from 0, the scores of the sample grow without end
        (thm-boosting-product), and these probabilities tend to 0 and 1.
        :class:`mcutils.softmax.WithProbabilities` compares the scores with examples left out instead.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Returns
        -------
        (n, k) array
        """
        return self._probabilities(self.scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities of :meth:`predict_proba` after each round.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Yields
        ------
        (n, k) array
        """
        for scores in self.staged_scores(X):
            yield self._probabilities(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The predictions of :meth:`predict` after each round.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Yields
        ------
        (n,) array, or (n, k) array
        """
        for scores in self.staged_scores(X):
            yield self._answer(scores)

    def staged_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """The accuracy after each round; with several labels, of the examples that have all of them right.

        Parameters
        ----------
        X : (n, d) array-like or data frame
        y : (n,) array-like, or (n, k) array-like
        sample_weight : (n,) array-like, optional

        Yields
        ------
        float
        """
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    @property
    def feature_importances_(self) -> Floats:
        """See the attributes."""
        check_is_fitted(self)
        shares = np.zeros(self.n_features_in_)
        for base, alpha in zip(self.estimators_, self.estimator_weights_, strict=True):
            if self.estimator is not None:
                shares += alpha * base.feature_importances_[: self.n_features_in_]
            elif base.feature is not None:
                shares[base.feature] += alpha
        total = shares.sum()
        return shares / total if total > 0 else shares

    def _partial_sums(self, X: Floats, sums: Floats) -> Iterator[Floats]:
        """Add one base classifier after the other to ``sums``, the same array each time."""
        points = X if self.estimator is None else _fold(X, len(self.classes_))
        for base, alpha in zip(self.estimators_, self.estimator_weights_, strict=True):
            sums += alpha * self._votes_of(base, points)
            yield sums

    def _votes_of(self, base: Any, points: Floats) -> NDArray[Any]:
        """The votes, (n, k), of a base classifier: of a stump on X, of a learner on the mk-fold sample."""
        if isinstance(base, Stump):
            return base(points)
        votes: NDArray[Any] = base.predict(points).reshape(-1, len(self.classes_))
        return votes

    def _probabilities(self, scores: Floats) -> Floats:
        shares: Floats = expit(2 * scores) if self.multilabel_ else softmax(log_expit(2 * scores), axis=1)
        return shares

    def _mistakes(self, scores: Floats, Y: NDArray[Any], weights: Floats) -> float:
        """The weighted fraction of wrong predictions: classes, or with several labels, labels."""
        if self.multilabel_:
            wrong = ((scores > 0) != (Y > 0)).mean(axis=1)
        else:
            wrong = scores.argmax(axis=1) != Y.argmax(axis=1)
        return float(np.average(wrong, weights=weights))

    def _check_parameters(self) -> None:
        integer(self.n_estimators, "n_estimators", 1)
        integer(self.n_iter_no_change, "n_iter_no_change", 1)
        one_of(self.votes, "votes", VOTES)
        switch(self.early_stopping, "early_stopping")
        number(self.validation_fraction, "validation_fraction", above=0, below=1)
        jobs(self.n_jobs)
        seed(self.random_state)
        verbosity(self.verbose)
        if self.estimator is not None and (
            isinstance(self.estimator, type) or not has_fit_parameter(self.estimator, "sample_weight")
        ):
            raise ValueError(f"estimator must take sample_weight in fit, found {self.estimator!r}")

    def _warn_of_missing(self, Y: NDArray[np.int8]) -> None:
        missing = self.classes_[(Y < 0).all(axis=0)]
        if len(missing):
            warn(
                f"no example with a weight has the label {', '.join(map(str, missing.tolist()))}: "
                "all there is to learn about it is never to predict it",
                UserWarning,
            )
