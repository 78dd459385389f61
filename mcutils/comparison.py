r"""Comparing classifiers: splits without leaks, nested tuning, and intervals for paired differences.

The error of a classifier is estimated on examples that took part in nothing: neither in the training, nor in
the choice of its parameters (def-comparison-nested). :func:`splits` draws a test part several times,
:func:`folds` divides what is left, :func:`tune` chooses by these folds and :func:`nested` does all of it.
Where examples come in groups, such as the vowels of one speaker, no group may be on both sides, and what
would cut one is refused.

Two classifiers are compared on the same splits, by the J differences of their errors. These are not
independent: their training parts overlap. If all pairs have the correlation :math:`\rho`, then
(prop-comparison-correlated) with the sample variance :math:`S^2`

.. math:: \operatorname{Var} \bar D = \Bigl(\frac1J + \frac\rho{1 - \rho}\Bigr) \mathbb E S^2 ,

and the t test that takes :math:`S^2 / J` is too sure of itself. :func:`corrected_resampled_t` takes
:math:`\rho = n_{\text{test}} / (n_{\text{train}} + n_{\text{test}})`, which is a guess. Many comparisons at
once are the matter of :func:`holm` and :func:`family`; a few independent ones, such as data sets, that of
:func:`sign_flips`.

>>> differences = [0.02, 0.05, 0.01, 0.04, 0.03]
>>> naive, corrected = paired_t(differences), corrected_resampled_t(differences, n_train=100, n_test=50)
>>> round(naive.p, 3), round(corrected.p, 3)
(0.013, 0.086)
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from os import getpid
from time import process_time
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import delayed

from ._checks import array, entries, in_memory, integer, jobs, number, reals, verbosity
from ._progress import Log, side_by_side

__all__ = [
    "Difference",
    "Family",
    "Nested",
    "Tuned",
    "check_groups",
    "corrected_resampled_t",
    "family",
    "folds",
    "holm",
    "nested",
    "paired_t",
    "scores",
    "sign_flips",
    "smooth",
    "splits",
    "tune",
]

_MOST_SPLITS = 10_000

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Split: TypeAlias = tuple[Ints, Ints]

# Up to this many differences, all sign changes are enumerated.
_MOST_FLIPPED = 20


# ---------------------------------------------------------------------------------------------------
# Differences


@dataclass(frozen=True)
class Difference:
    """What J paired differences imply about their mean.

    Attributes
    ----------
    mean : float
        Their mean.
    low, high : float
        The interval around it.
    p : float
        The two-sided p-value of the hypothesis that the expectation is 0.
    df : int
        Degrees of freedom, J - 1.
    se : float
        The standard error that interval and p-value rest on.
    level : float
        The confidence level of the interval.
    """

    mean: float
    low: float
    high: float
    p: float
    df: int
    se: float
    level: float


def paired_t(differences: ArrayLike, level: float = 0.95) -> Difference:
    r"""The paired t interval :math:`\bar D \pm t_{J-1} \sqrt{S^2 / J}`, for independent differences.

    Of differences from overlapping training parts it is too short (thm-comparison-exact).

    Parameters
    ----------
    differences : (J,) array-like
        At least two. If all are equal, the interval is a point, and p is 0, or 1 if they are 0.
    level : float, default=0.95

    Returns
    -------
    Difference
    """
    return _student(differences, 0.0, level)


def corrected_resampled_t(
    differences: ArrayLike, n_train: int, n_test: int, level: float = 0.95
) -> Difference:
    r"""The t interval of Nadeau and Bengio, for differences from random splits of one sample.

    It takes :math:`\bigl(\frac1J + \frac{n_{\text{test}}}{n_{\text{train}}}\bigr) S^2` for the variance of
    the mean (rem-comparison-heuristic). That is right, and t is distributed as Student's, if the differences
    are jointly normal with the correlation :math:`n_{\text{test}} / (n_{\text{train}} + n_{\text{test}})`
    (thm-comparison-exact). Nothing grants that.

    Parameters
    ----------
    differences : (J,) array-like
        At least two, one for each split. If all are equal, the interval is a point, and p is 0, or 1 if they
        are 0.
    n_train, n_test : int
        How many examples each split trains on and tests on.
    level : float, default=0.95

    Returns
    -------
    Difference

    Examples
    --------
    >>> result = corrected_resampled_t([0.02, 0.05, 0.01, 0.04, 0.03], n_train=90, n_test=10)
    >>> round(result.mean, 3), round(result.low, 4), round(result.high, 4), result.df
    (0.03, 0.0055, 0.0545, 4)
    """
    for name, count in (("n_train", n_train), ("n_test", n_test)):
        integer(count, name, 1)
    return _student(differences, n_test / n_train, level)


def _student(differences: ArrayLike, more: float, level: float) -> Difference:
    d = _numbers("differences", differences)
    if len(d) < 2:
        raise ValueError(f"differences must be at least 2, found {len(d)}")
    level = number(level, "level", above=0, below=1)
    df = len(d) - 1
    mean = float(d.mean())
    # equal numbers have no variance, whatever their mean is rounded to
    with np.errstate(over="ignore"):
        variance = 0.0 if (d == d[0]).all() else float(d.var(ddof=1))
    if not np.isfinite(variance):
        raise ValueError(f"differences must be smaller: their squares overflow, found {np.abs(d).max():.3g}")
    se = sqrt((1 / len(d) + more) * variance)
    half = float(stdtrit(df, (1 + level) / 2)) * se
    certain = 1.0 if d[0] == 0 else 0.0
    p = 2 * float(stdtr(df, -abs(mean) / se)) if se > 0 else certain
    return Difference(mean, mean - half, mean + half, p, df, se, level)


def holm(p_values: ArrayLike) -> Floats:
    r"""Holm's adjusted p-values: those at most :math:`\alpha` may be rejected together (thm-comparison-holm).

    With :math:`p_{(1)} \le \dots \le p_{(N)}` they are :math:`\max_{j \le i} \min(1, (N - j + 1) p_{(j)})`.
    The probability that any true hypothesis is rejected is at most :math:`\alpha`, however the p-values
    depend on each other. They are the p-values of the closed test with Bonferroni's test for each
    intersection (prop-comparison-closed).

    Parameters
    ----------
    p_values : (N,) array-like
        Between 0 and 1.

    Returns
    -------
    (N,) array
        In the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _numbers("p_values", p_values)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values must be between 0 and 1, found {p[(p < 0) | (p > 1)][0]}")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    factors = np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


@dataclass(frozen=True)
class Family(Mapping[Hashable, Difference]):
    """Comparisons that are judged together: a mapping from the name of each to its :class:`Difference`.

    Attributes
    ----------
    differences : mapping of name to Difference
        The same mapping.
    adjusted : mapping of name to float
        Holm's p-values.
    level : float
        With at least this probability all the intervals contain their expectations: each has the level
        1 - (1 - level) / N. An interval may contain 0 where Holm's correction rejects 0, never conversely.
    """

    differences: Mapping[Hashable, Difference]
    adjusted: Mapping[Hashable, float]
    level: float

    def __getitem__(self, name: Hashable) -> Difference:
        return self.differences[name]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    @property
    def clear(self) -> list[Hashable]:
        """The names whose adjusted p-value is at most 1 - level: their signs may be claimed together."""
        return [name for name, p in self.adjusted.items() if p <= 1 - self.level]

    @property
    def words(self) -> str:
        """Over how many comparisons was corrected, how, and how many are clear."""
        return (
            f"{len(self)} comparisons: intervals that hold together at {100 * self.level:g} %; "
            f"after Holm's correction over all, clear: {len(self.clear)}"
        )


def family(
    differences: Mapping[Any, ArrayLike],
    sizes: tuple[int, int] | Mapping[Any, tuple[int, int]] | None = None,
    level: float = 0.95,
) -> Family:
    r"""Intervals and p-values that are corrected together, over all comparisons of a section.

    By the union bound all N intervals hold together with probability at least ``level`` if each holds with
    :math:`1 - (1 - \text{level}) / N`; the p-values are corrected by :func:`holm`. Both presuppose that the
    family was chosen before its results were seen, and that each interval alone keeps its level.

    Parameters
    ----------
    differences : mapping of name to (J,) array-like
        The paired differences of each comparison.
    sizes : (n_train, n_test), or mapping of name to such a pair, optional
        Of random splits of one sample, for :func:`corrected_resampled_t`. Without it the differences are
        taken to be independent (:func:`paired_t`).
    level : float, default=0.95

    Returns
    -------
    Family

    Examples
    --------
    >>> both = family({"a": [0.02, 0.05, 0.01, 0.04, 0.03], "b": [0.02, -0.01, 0.01, -0.03, 0.0]}, (100, 50))
    >>> both.words
    "2 comparisons: intervals that hold together at 95 %; after Holm's correction over all, clear: 0"
    >>> round(both["a"].p, 3), round(both.adjusted["a"], 3), round(both["a"].level, 3)
    (0.086, 0.172, 0.975)
    """
    if not isinstance(differences, Mapping) or not differences:
        raise ValueError(f"differences must be a mapping with at least one comparison, found {differences!r}")
    if isinstance(sizes, Mapping) and (missing := [name for name in differences if name not in sizes]):
        raise ValueError(f"sizes must have (n_train, n_test) of every comparison, {missing[0]!r} is missing")
    level = number(level, "level", above=0, below=1)
    each = 1 - (1 - level) / len(differences)
    judged = {}
    for name, values in differences.items():
        pair = sizes[name] if isinstance(sizes, Mapping) else sizes
        if sizes is None:
            judged[name] = paired_t(values, each)
        elif isinstance(pair, tuple) and len(pair) == 2:
            judged[name] = corrected_resampled_t(values, *pair, level=each)
        else:
            raise ValueError(f"sizes must be (n_train, n_test), or a mapping to such pairs, found {pair!r}")
    adjusted = holm([one.p for one in judged.values()]).tolist()
    return Family(judged, dict(zip(judged, adjusted, strict=True)), level)


def sign_flips(differences: ArrayLike) -> float:
    r"""The exact two-sided p-value of a sum under all :math:`2^L` changes of signs (prop-comparison-flips).

    It is the share of sign changes with which the sum is at least as large in absolute value. If the
    differences are independent, and each as likely to be d as -d, then :math:`\Pr(p \le \alpha) \le \alpha`.
    Differences of splits of one sample are not independent; those of data sets or speakers may be. No p-value
    is below :math:`2^{1 - L}` (cor-comparison-eight).

    Parameters
    ----------
    differences : (L,) array-like
        At least one, at most 20.

    Returns
    -------
    float

    Examples
    --------
    >>> sign_flips([0.1, 0.2, 0.05, 0.3])
    0.125
    """
    d = _numbers("differences", differences)
    if not 1 <= len(d) <= _MOST_FLIPPED:
        raise ValueError(f"differences must be between 1 and {_MOST_FLIPPED}, found {len(d)}")
    sums = np.zeros(1)
    for one in d:
        sums = np.concatenate([sums + one, sums - one])
    # sums that differ by rounding are equal
    reached = np.abs(sums) >= abs(float(d.sum())) - 1e-12 * float(np.abs(d).sum())
    return float(reached.mean())


# ---------------------------------------------------------------------------------------------------
# Splits


def folds(
    y: ArrayLike, parts: int = 3, *, groups: ArrayLike | None = None, random_state: int = 0
) -> list[Split]:
    """A random partition into stratified parts; each part in turn is the test.

    Parameters
    ----------
    y : (m,) array-like
        Labels, at least one.
    parts : int, default=3
        At most the number of examples of each class, and of groups.
    groups : (m,) array-like, optional
        No group is cut; then the parts are stratified only as far as the groups permit.
    random_state : int, default=0
        Draws the partition.

    Returns
    -------
    list of (train, test)
        Indices, ascending.

    Examples
    --------
    >>> sorted(test.tolist() for _, test in folds(["a", "a", "b", "b"], 2, groups=[1, 2, 1, 2]))
    [[0, 2], [1, 3]]
    """
    labels = _check_labels(y)
    integer(parts, "parts", 2)
    integer(random_state, "random_state", 0, 2**32 - 1)
    _, counts = np.unique(labels, return_counts=True)
    if counts.min() < parts:
        raise ValueError(
            f"parts must be at most the number of examples of each class, {counts.min()}, found {parts}"
        )
    if groups is None:
        plain = StratifiedKFold(parts, shuffle=True, random_state=random_state)
        return list(plain.split(np.zeros(len(labels)), labels))
    named = _check_named(groups, len(labels))
    n_groups = len(np.unique(named))
    if n_groups < parts:
        raise ValueError(f"parts must be at most the number of groups, {n_groups}, found {parts}")
    grouped = StratifiedGroupKFold(parts, shuffle=True, random_state=random_state)
    return list(grouped.split(np.zeros(len(labels)), labels, named))


def splits(
    y: ArrayLike,
    n_splits: int = 10,
    *,
    parts: int = 3,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> list[Split]:
    """Repeated splits: each leaves out for the test one of the stratified parts of a fresh partition.

    Parameters
    ----------
    y, parts, groups
        As for :func:`folds`; the test is the first of the parts.
    n_splits : int, default=10
        How many partitions are drawn.
    random_state : int, default=0
        Split j is that of the seed ``random_state + j``.

    Returns
    -------
    list of (train, test)

    Examples
    --------
    >>> train, test = splits([0] * 6 + [1] * 3, n_splits=1)[0]
    >>> len(train), len(test)
    (6, 3)
    """
    integer(n_splits, "n_splits", 1, feasible=_MOST_SPLITS)
    integer(random_state, "random_state", 0, 2**32 - n_splits)
    return [folds(y, parts, groups=groups, random_state=random_state + j)[0] for j in range(n_splits)]


def check_groups(pairs: Sequence[Split], groups: ArrayLike) -> None:
    """Refuse splits with a group on both sides.

    Parameters
    ----------
    pairs : list of (train, test)
        Indices of examples.
    groups : (m,) array-like
        The group of each example.

    Examples
    --------
    >>> check_groups([([0, 1, 2], [3])], ["ann", "bob", "bob", "cem"])
    >>> check_groups([([0, 1], [2, 3])], ["ann", "bob", "bob", "cem"])
    Traceback (most recent call last):
        ...
    ValueError: groups must be on one side of a split, found 'bob' on both sides of split 0
    """
    named = array(groups, "groups")
    if named.ndim != 1:
        raise ValueError(f"groups must name the group of each example, found shape {named.shape}")
    for place, (train, test) in enumerate(_check_pairs(pairs, len(named), "pairs", "split")):
        both = np.intersect1d(named[train], named[test])
        if len(both):
            raise ValueError(
                "groups must be on one side of a split, "
                f"found {both.tolist()[0]!r} on both sides of split {place}"
            )


# ---------------------------------------------------------------------------------------------------
# Scores and probabilities


def smooth(probabilities: ArrayLike, m: int) -> Floats:
    r"""Probabilities mixed with the uniform ones, of the weight :math:`1 / (m + 2)`.

    Trees, forests and neighbours return probabilities of 0, whose logarithmic loss may be infinite. After m
    right predictions of m, Laplace's rule expects a mistake with the probability 1/(m + 2): nobody who
    has seen m examples should be surer than that.

    Parameters
    ----------
    probabilities : (n, k) array-like
    m : int
        How many examples the classifier was trained on.

    Returns
    -------
    (n, k) array

    Examples
    --------
    >>> smooth([[1.0, 0.0]], m=8)
    array([[0.95, 0.05]])
    """
    p = reals(probabilities, "probabilities")
    if p.ndim != 2 or p.shape[1] < 1:
        raise ValueError(f"probabilities must have a column for each class, found shape {p.shape}")
    integer(m, "m", 1)
    if p.size and not 0 <= p.min() <= p.max() <= 1:
        raise ValueError(f"probabilities must be from 0 to 1, found {p[(p < 0) | (p > 1)][0]}")
    mixed: Floats = ((m + 1) * p + 1 / p.shape[1]) / (m + 2)
    return mixed


def scores(estimator: Any, X: Any, m: int) -> Floats:
    """A column for each class: logarithms of smoothed probabilities if the classifier has them, or scores.

    Parameters
    ----------
    estimator : fitted classifier
        With ``predict_proba`` or ``decision_function``.
    X : (n, d) array-like
    m : int
        How many examples it was trained on, see :func:`smooth`.

    Returns
    -------
    (n, k) array
        Of two classes with the one score f the columns 0 and f.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    >>> scores(RidgeClassifier(alpha=1e-9).fit(X, y), [[0.0], [4.0]], 4).round(6)
    array([[ 0. , -1.2],
           [ 0. ,  1.2]])
    """
    m = integer(m, "m", 1)
    if hasattr(estimator, "predict_proba"):
        return np.log(smooth(estimator.predict_proba(X), m))
    if not hasattr(estimator, "decision_function"):
        raise ValueError(f"estimator must have predict_proba or decision_function, found {estimator!r}")
    values: Floats = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.column_stack([np.zeros(len(values)), values]) if values.ndim == 1 else values


# ---------------------------------------------------------------------------------------------------
# Tuning


@dataclass(frozen=True, eq=False)
class Tuned:
    """A classifier whose parameters were chosen by folds; see :func:`tune`.

    Attributes
    ----------
    index : int
        Which candidate was chosen.
    params : dict
        That candidate.
    mistakes : (number of candidates,) int array
        The mistakes of each candidate in all folds. That of the chosen one is no estimate of its error:
        it is a minimum (prop-comparison-optimism).
    estimator : classifier
        Fitted to all examples with the chosen parameters.
    held_out : (m, k) array
        :func:`scores` of each example by the classifier of its fold with the chosen parameters: what a
        temperature may be fitted to.
    fit_seconds, tune_seconds : float
        Processor time of the last fit, and of everything, that of other processes included: of each task
        what its process took meanwhile.
    """

    index: int
    params: Mapping[str, Any]
    mistakes: Ints
    estimator: Any
    held_out: Floats
    fit_seconds: float
    tune_seconds: float


def tune(
    estimator: Any,
    candidates: Sequence[Mapping[str, Any]],
    X: ArrayLike,
    y: ArrayLike,
    *,
    folds: Sequence[Split],
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Tuned:
    """Choose the first parameters with the fewest mistakes in the folds, and fit them to everything.

    Whatever is learnt from data, as a scaling, belongs inside ``estimator`` (a pipeline): then each fold
    learns it anew.

    Parameters
    ----------
    estimator : classifier
        It is cloned, not changed.
    candidates : list of dict
        Parameters for ``set_params``, at least one dict; it may be empty.
    X : (m, d) array-like, sparse matrix or data frame
        Handed to the classifier as it is, its rows selected: a data frame keeps its names and types.
    y : (m,) array-like
    folds : list of (train, test)
        Indices. Every example is in exactly one test part, and not in the training part of the same fold.
    groups : (m,) array-like, optional
        Folds that cut a group are refused.
    n_jobs : int or None
        How many fits are made at once, of all candidates and folds, through joblib. The choice does not
        depend on it.
    verbose : int or bool
        1, or True: a line on stderr says how far the work is; 2: each report is a line of its own.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import mcutils.comparison as comparison
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = [{"n_neighbors": n} for n in (1, 10, 100)]
    >>> result = tune(KNeighborsClassifier(), grid, X, y, folds=comparison.folds(y))
    >>> result.params, bool(result.mistakes[2] > result.mistakes[1])
    ({'n_neighbors': 1}, True)
    """
    start = process_time()
    _check_classifier(estimator)
    jobs(n_jobs)
    verbose = verbosity(verbose)
    labels = _check_labels(y)
    data = _check_examples(X, len(labels))
    candidates = _check_candidates(candidates)
    folds = _check_partition(folds, len(labels))
    if groups is not None:
        check_groups(folds, _check_named(groups, len(labels)))
    classes = np.unique(labels)

    tasks = [(params, fold) for params in candidates for fold in folds]
    calls = (
        delayed(_fit_and_test)(estimator, params, data, labels, classes, *fold, getpid())
        for params, fold in tasks
    )
    J = len(folds)
    with Log("tune", verbose, unit="fit", most=len(tasks) + 1) as log:
        done = side_by_side(calls, n_jobs, log)
        mistakes = np.array([wrong for _, wrong, _ in done], dtype=np.intp).reshape(-1, J).sum(axis=1)
        index = int(mistakes.argmin())
        held_out = np.empty((len(labels), len(classes)))
        for (one, _, _), (a, b) in zip(done[index * J : (index + 1) * J], folds, strict=True):
            held_out[b] = scores(one, _safe_split(one, data, labels, b, a)[0], len(a))
        last = process_time()
        final = _with(estimator, candidates[index]).fit(data, labels)
        end = process_time()
        log.tell(len(done) + 1)
    elsewhere = sum(seconds for _, _, seconds in done)
    return Tuned(
        index, dict(candidates[index]), mistakes, final, held_out, end - last, end - start + elsewhere
    )


def _with(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A clone with these parameters, which are cloned too: no fit changes what another one gets."""
    fresh = clone(estimator).set_params(**clone(dict(params), safe=False))
    return fresh


def _fit_and_test(
    estimator: Any,
    params: Mapping[str, Any],
    data: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    train: Ints,
    test: Ints,
    parent: int,
) -> tuple[Any, int, float]:
    """A classifier fitted to a fold, its mistakes, and the seconds that this took outside of the parent."""
    start = process_time()
    one = _with(estimator, params)
    one.fit(*_safe_split(one, data, labels, train))
    if not np.array_equal(one.classes_, classes):
        raise ValueError(
            f"folds must leave examples of all classes {classes.tolist()} for training, "
            f"found one with {one.classes_.tolist()}"
        )
    others, unknown = _safe_split(one, data, labels, test, train)
    wrong = int((one.predict(others) != unknown).sum())
    return one, wrong, 0.0 if getpid() == parent else process_time() - start


@dataclass(frozen=True, eq=False)
class Nested:
    """Errors of a classifier that is tuned inside each split; see :func:`nested`.

    Attributes
    ----------
    mistakes, n_train, n_test : (J,) int array
        Of each split: mistakes on its test part, and the sizes.
    chosen : (J,) int array
        The candidate that was chosen without the test part.
    inner : (J,) array
        Its share of mistakes in the folds that chose it. Its expectation is at most that of the best
        candidate (prop-comparison-optimism).
    """

    mistakes: Ints
    n_train: Ints
    n_test: Ints
    chosen: Ints
    inner: Floats

    @property
    def errors(self) -> Floats:
        """The share of mistakes of each split."""
        share: Floats = self.mistakes / self.n_test
        return share


def nested(
    estimator: Any,
    candidates: Sequence[Mapping[str, Any]],
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_splits: int = 10,
    parts: int = 3,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Nested:
    """Splits outside, folds inside, a choice of parameters in each (def-comparison-nested).

    With the same labels, groups and seed all classifiers get the same splits and the same folds, so that
    their errors are paired.

    Parameters
    ----------
    estimator, candidates, X, y
        As for :func:`tune`.
    n_splits, parts, random_state
        As for :func:`splits`; the number of folds into which the training part is divided again.
    groups : (m,) array-like, optional
        No group is cut, neither by a split nor by a fold.
    n_jobs : int or None
        How many splits are computed at once, through joblib; on a cluster the fits inside of a split are
        divided again. The result does not depend on it.
    verbose : int or bool
        As for :func:`tune`; the line counts splits.

    Returns
    -------
    Nested

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> result = nested(GaussianNB(), [{}], X, y, n_splits=2)
    >>> result.n_test.tolist(), bool((result.errors < 0.2).all())
    ([50, 50], True)
    """
    _check_classifier(estimator)
    jobs(n_jobs)
    verbose = verbosity(verbose)
    labels = _check_labels(y)
    data = _check_examples(X, len(labels))
    candidates = _check_candidates(candidates)
    named = None if groups is None else _check_named(groups, len(labels))
    outer = splits(labels, n_splits, parts=parts, groups=named, random_state=random_state)
    inner = []
    for j, (train, _) in enumerate(outer):
        inside = None if named is None else named[train]
        inner.append(folds(labels[train], parts, groups=inside, random_state=random_state + j))
    calls = (
        delayed(_tune_and_test)(estimator, candidates, data, labels, *split, inside)
        for split, inside in zip(outer, inner, strict=True)
    )
    with Log("nested", verbose, unit="split", most=len(outer)) as log:
        rows = side_by_side(calls, n_jobs, log)
    mistakes, n_train, n_test, chosen, inner_mistakes = np.array(rows, dtype=np.intp).T
    return Nested(mistakes, n_train, n_test, chosen, inner_mistakes / n_train)


def _tune_and_test(
    estimator: Any,
    candidates: Sequence[Mapping[str, Any]],
    data: Any,
    labels: NDArray[Any],
    train: Ints,
    test: Ints,
    inside: Sequence[Split],
) -> tuple[int, int, int, int, int]:
    """Mistakes on the test part, the sizes of both, which candidate was chosen, and its mistakes inside."""
    some, known = _safe_split(estimator, data, labels, train)
    tuned = tune(estimator, candidates, some, known, folds=inside)
    others, unknown = _safe_split(estimator, data, labels, test, train)
    wrong = int((tuned.estimator.predict(others) != unknown).sum())
    return wrong, len(train), len(test), tuned.index, int(tuned.mistakes[tuned.index])


# ---------------------------------------------------------------------------------------------------
# Checks


def _numbers(name: str, values: ArrayLike) -> Floats:
    numbers = reals(values, name)
    if numbers.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, found shape {numbers.shape}")
    return numbers


def _check_labels(y: ArrayLike) -> NDArray[Any]:
    """The labels; a column of them is taken for a list, with scikit-learn's warning."""
    labels: NDArray[Any] = column_or_1d(in_memory(y), warn=True)
    if not len(labels):
        raise ValueError("y must have at least one label, found none")
    check_classification_targets(labels)
    return labels


def _check_candidates(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    listed = entries(candidates, "candidates", "a list of dicts of parameters")
    if not all(isinstance(one, Mapping) for one in listed):
        raise ValueError(f"candidates must be a list of dicts of parameters, found {candidates!r}")
    if not listed:
        raise ValueError("candidates must be at least one dict of parameters, found none")
    return listed


def _check_examples(X: Any, m: int) -> Any:
    """X in a form whose rows can be selected, as scikit-learn selects them; frames remain frames."""
    X = in_memory(X)
    shape = getattr(X, "shape", ())
    if not shape and not isinstance(X, Sequence):
        raise ValueError(f"X must have a row for each example, found {X!r}")
    (table,) = indexable(X)
    n = shape[0] if shape else len(X)
    if n != m:
        raise ValueError(f"X and y must have the same length, found {n} and {m}")
    return table


def _check_named(groups: ArrayLike, m: int) -> NDArray[Any]:
    named = array(groups, "groups")
    if named.shape != (m,):
        raise ValueError(f"groups must name the group of each of {m} examples, found shape {named.shape}")
    if named.dtype == object and any(name is None or name != name for name in named.tolist()):
        raise ValueError("groups must name the group of each example, found None or NaN")
    if named.dtype.kind == "f" and not np.isfinite(named).all():
        raise ValueError(f"groups must name the group of each example, found {named[~np.isfinite(named)][0]}")
    return named


def _check_classifier(estimator: Any) -> None:
    if not (hasattr(estimator, "fit") and hasattr(estimator, "set_params")):
        raise ValueError(f"estimator must be a classifier in scikit-learn's manner, found {estimator!r}")


def _check_partition(folds: Sequence[Split], m: int) -> list[Split]:
    """Every example is tested once, by classifiers that have not seen it."""
    pairs, tested = _check_pairs(folds, m, "folds", "fold"), np.zeros(m, dtype=np.intp)
    for place, pair in enumerate(pairs):
        both = np.intersect1d(*pair)
        if len(both):
            raise ValueError(
                f"folds must not test what they train on, found example {both[0]} twice in fold {place}"
            )
        tested += np.bincount(pair[1], minlength=m)
    if (tested != 1).any():
        wrong = int(np.flatnonzero(tested != 1)[0])
        raise ValueError(f"folds must test every example once, found example {wrong} {tested[wrong]} times")
    return pairs


def _check_pairs(pairs: Any, m: int, name: str, one: str) -> list[Split]:
    """Pairs of lists of indices of m examples."""
    listed = entries(pairs, name, "a list of pairs (train, test)")
    for place, pair in enumerate(listed):
        two = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
        if not two or not all(_are_indices(array(part, name), m) for part in pair):
            raise ValueError(
                f"{name} must be pairs of lists of indices from 0 to {m - 1}, found {pair!r} in {one} {place}"
            )
    return listed


def _are_indices(part: NDArray[Any], m: int) -> bool:
    some = part.ndim == 1 and part.dtype.kind in "iu" and len(part) > 0
    return some and bool(part.min() >= 0 and part.max() < m)
