"""Impurities, questions, the search for them, trees, and their pictures."""

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from .._checks import integer, number, one_of, or_none
from .._weights import example_weights, in_units, times_class_weight
from ..risk import check_costs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Impurity: TypeAlias = Callable[[Floats], ArrayLike]
Criterion: TypeAlias = str | Impurity

CRITERIA = ("gini", "entropy", "misclassification")
"""The names of the impurities."""

FAMILIES = ("numerical", "categorical", "oblique", "sphere")
"""The names of the families of questions."""

# As in mcutils.jit.tree, which loads the compiler.
_TIE, _LEVELS = 1e-10, 20
_ITEMS, _CLASSES = 2**24, 2**16
_EXACT = 2**21
_CENTRES = 256
_OTHER = -2


# ---------------------------------------------------------------------------------------------------
# Impurities


def impurity(counts: ArrayLike, criterion: Criterion = "gini", cost: ArrayLike | None = None) -> Any:
    r"""The impurity :math:`F` of class distributions (def-tree-impurity).

    Parameters
    ----------
    counts : (..., k) array-like
        Numbers of items, weights or probabilities of the classes; at least 0, on any scale. Without any
        items the impurity is 0.
    criterion : {"gini", "entropy", "misclassification"} or callable
        A callable gets the distributions as the rows of an array and answers their impurities.
    cost : (k, k) array-like, optional
        :math:`\Delta`, for "misclassification": rows are true classes, columns answers.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> impurity([[1, 1], [3, 1], [4, 0]])
    array([0.5  , 0.375, 0.   ])
    >>> impurity([[1, 1], [3, 1], [4, 0]], "misclassification")
    array([0.5 , 0.25, 0.  ])
    >>> float(impurity([1, 1, 2], "entropy"))
    1.5
    """
    _check_criterion(criterion)
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim == 0 or table.shape[-1] == 0:
        raise ValueError(f"counts must have an entry for each class, found shape {table.shape}")
    if not np.isfinite(table).all() or table.min(initial=0.0) < 0:
        raise ValueError("counts must be finite and at least 0")
    costs = _check_cost(cost, table.shape[-1])
    sums = table.sum(axis=-1, keepdims=True)
    p = table / np.where(sums > 0, sums, 1.0)
    found = _impurities(p.reshape(-1, table.shape[-1]), criterion, costs)
    found[sums.ravel() == 0] = 0.0
    return found.reshape(table.shape[:-1])


def _impurities(p: Floats, criterion: Criterion, costs: Floats) -> Floats:
    """Of rows that are distributions."""
    if callable(criterion):
        found = np.array(criterion(p), dtype=np.float64)
        if found.shape != (len(p),) or not np.isfinite(found).all():
            raise ValueError(
                f"criterion must answer a finite number for each of {len(p)} distributions, "
                f"found an array of shape {found.shape}"
            )
        return found
    if criterion == "gini":
        return np.asarray((p * (1.0 - p)).sum(axis=1))
    if criterion == "entropy":
        return np.asarray(np.maximum(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1), 0.0))
    if len(costs):
        return np.asarray((p @ costs).min(axis=1))
    return np.asarray(1.0 - p.max(axis=1))


def decrease(
    negative: ArrayLike, positive: ArrayLike, criterion: Criterion = "gini", cost: ArrayLike | None = None
) -> Any:
    r"""What a split decreases the impurity by, :math:`\tilde F` (def-tree-decrease).

    Parameters
    ----------
    negative, positive : (..., k) array-like
        Numbers or weights of the classes among the items that answer no, and yes.
    criterion, cost
        As in :func:`impurity`.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> no, yes = [[6, 4], [0, 1]], [[9, 1], [1, 0]]
    >>> decrease(no, yes).round(12), decrease(no, yes, "misclassification").round(12)
    (array([0.045, 0.5  ]), array([0. , 0.5]))
    """
    no, yes = np.asarray(negative, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if no.shape != yes.shape:
        raise ValueError(f"negative and positive must have one shape, found {no.shape} and {yes.shape}")
    whole = impurity(no + yes, criterion, cost)
    sizes = no.sum(axis=-1), yes.sum(axis=-1)
    eta = sizes[0] / np.where(sizes[0] + sizes[1] > 0, sizes[0] + sizes[1], 1.0)
    return whole - (eta * impurity(no, criterion, cost) + (1 - eta) * impurity(yes, criterion, cost))


# ---------------------------------------------------------------------------------------------------
# Questions


def _name(j: int, names: Sequence[str] | None) -> str:
    return f"x{j + 1}" if names is None else str(names[j])


def _column(X: Any, j: int) -> Any:
    return X.iloc[:, j] if hasattr(X, "iloc") else np.asarray(X)[:, j]


def _numbers(X: Any, columns: Ints) -> Floats:
    """Columns as numbers, rows contiguous: sums along them do not depend on how many rows there are."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and len(columns) == X.shape[1]:
        return np.ascontiguousarray(X)
    return np.stack([np.asarray(_column(X, int(j)), dtype=np.float64) for j in columns], axis=1)


@dataclass(frozen=True)
class Numerical:
    """:math:`X_j \\le a`.

    Attributes
    ----------
    feature : int
        j, from 0.
    threshold : float
        a; infinity asks whether the value is known.

    Examples
    --------
    >>> Numerical(1, 2.5).answer([[9.0, 2.0], [0.0, 3.0], [0.0, float("nan")]])
    array([ True, False, False])
    """

    feature: int
    threshold: float

    def answer(self, X: Any) -> Bools:
        """Whether each row of X answers yes; X is an array-like or a data frame."""
        return np.asarray(np.asarray(_column(X, self.feature), dtype=np.float64) <= self.threshold)

    def text(self, feature_names: Sequence[str] | None = None) -> str:
        """The question in one line."""
        name = _name(self.feature, feature_names)
        return f"{name} is known" if self.threshold == np.inf else f"{name} <= {self.threshold:.4g}"


@dataclass(frozen=True)
class Categorical:
    """:math:`X_j \\in A`.

    Attributes
    ----------
    feature : int
        j, from 0.
    levels : tuple
        A.

    Examples
    --------
    >>> Categorical(0, ("red", "white")).answer([["red"], ["blue"], [None]])
    array([ True, False, False])
    """

    feature: int
    levels: tuple[Hashable, ...]

    def answer(self, X: Any) -> Bools:
        """Whether each row of X answers yes; X is an array-like or a data frame."""
        if not hasattr(X, "iloc"):
            X = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        held = set(self.levels)
        values = _column(X, self.feature).tolist()
        return np.array([not _is_missing(v) and v in held for v in values], dtype=np.bool_)

    def text(self, feature_names: Sequence[str] | None = None) -> str:
        """The question in one line."""
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in self.levels)
        return f"{_name(self.feature, feature_names)} in {{{shown}}}"


@dataclass(frozen=True)
class Oblique:
    """:math:`\\sum_j \\alpha_j X_j \\le b`, the question of a binary space partition.

    Attributes
    ----------
    weights : tuple of d floats
        The :math:`\\alpha_j`. Columns of weight 0 are not looked at.
    threshold : float
        b.

    Examples
    --------
    >>> Oblique((1.0, 1.0), 1.5).answer([[0.0, 1.0], [1.0, 1.0]])
    array([ True, False])
    """

    weights: tuple[float, ...]
    threshold: float

    def score(self, X: Any) -> Floats:
        """:math:`\\sum_j \\alpha_j X_j` for each row."""
        weights = np.asarray(self.weights)
        used = np.flatnonzero(weights)
        return np.asarray((_numbers(X, used) * weights[used]).sum(axis=1))

    def answer(self, X: Any) -> Bools:
        """Whether each row of X answers yes; X is an array-like or a data frame."""
        return self.score(X) <= self.threshold

    def text(self, feature_names: Sequence[str] | None = None) -> str:
        """The question in one line."""
        parts = ""
        for j, weight in enumerate(self.weights):
            if weight != 0:
                sign = (" - " if weight < 0 else " + ") if parts else ("-" if weight < 0 else "")
                parts += f"{sign}{abs(weight):.3g} {_name(j, feature_names)}"
        return f"{parts} <= {self.threshold:.4g}"


@dataclass(frozen=True)
class Sphere:
    """:math:`\\|X - a_0\\| \\le r`.

    Attributes
    ----------
    center : tuple of d floats
        :math:`a_0`. Columns where it is NaN are not looked at.
    radius : float
        r.

    Examples
    --------
    >>> Sphere((0.0, 0.0), 1.0).answer([[0.6, 0.8], [1.0, 1.0]])
    array([ True, False])
    """

    center: tuple[float, ...]
    radius: float

    def score(self, X: Any) -> Floats:
        """:math:`\\|X - a_0\\|` for each row."""
        center = np.asarray(self.center)
        used = np.flatnonzero(~np.isnan(center))
        return np.asarray(np.sqrt(((_numbers(X, used) - center[used]) ** 2).sum(axis=1)))

    def answer(self, X: Any) -> Bools:
        """Whether each row of X answers yes; X is an array-like or a data frame."""
        return self.score(X) <= self.radius

    def text(self, feature_names: Sequence[str] | None = None) -> str:
        """The question in one line."""
        used = [j for j, c in enumerate(self.center) if not np.isnan(c)]
        names = ", ".join(_name(j, feature_names) for j in used)
        place = ", ".join(f"{self.center[j]:.3g}" for j in used)
        return f"|({names}) - ({place})| <= {self.radius:.4g}"


@dataclass(frozen=True, eq=False)
class Split:
    r"""The best question at a node; see :func:`best_question`.

    Attributes
    ----------
    question : Numerical, Categorical, Oblique, Sphere, or one of your own
    decrease : float
        The total decrease :math:`|n| \tilde F(n, q)`.
    positive : (m,) array of bool
        The items that answer yes; those of weight 0 never do.
    ahead : float
        The total decrease of the best tree of depth ``lookahead``; without look-ahead ``decrease``.
    """

    question: Any
    decrease: float
    positive: Bools
    ahead: float


# ---------------------------------------------------------------------------------------------------
# Columns


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(value != value)


def _order_of_levels(values: Iterable[Any]) -> list[Any]:
    held = list(values)
    try:
        return sorted(held)
    except TypeError:
        return sorted(held, key=lambda value: (type(value).__name__, str(value)))


class _Columns:
    """What the columns hold, and how their values become numbers: levels are counted from 0.

    A level that was not seen becomes -1, a missing one the number of levels.
    """

    def __init__(self, d: int, categorical: Bools):
        self.d, self.categorical = d, categorical
        self.levels: dict[int, list[Any]] = {}

    @property
    def n_levels(self) -> Ints:
        return np.array([len(self.levels.get(j, ())) for j in range(self.d)], dtype=np.int64)

    def learn(self, X: Any, rows: Ints) -> None:
        for j in np.flatnonzero(self.categorical).tolist():
            column = _column(X, j)
            values = column.tolist()
            seen = {values[i] for i in rows.tolist() if not _is_missing(values[i])}
            declared = getattr(getattr(column, "dtype", None), "categories", None)
            self.levels[j] = (
                _order_of_levels(seen) if declared is None else [v for v in declared.tolist() if v in seen]
            )

    def encode(self, X: Any) -> Floats:
        """A C-contiguous matrix of numbers."""
        if not self.categorical.any():
            checked: Floats = check_array(X, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
            return checked
        encoded = np.empty((X.shape[0], self.d))
        for j in range(self.d):
            column = _column(X, j)
            if not self.categorical[j]:
                encoded[:, j] = check_array(
                    np.asarray(column), dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan"
                )
                continue
            number = {level: float(g) for g, level in enumerate(self.levels[j])}
            none = float(len(number))
            encoded[:, j] = [none if _is_missing(v) else number.get(v, -1.0) for v in column.tolist()]
        return encoded


def _have_levels(X: Any) -> list[bool]:
    """Of a data frame, which columns have a type of levels: pandas' category, or Categorical and Enum."""
    if hasattr(X, "iloc"):
        return [str(dtype) == "category" for dtype in X.dtypes]
    try:
        import narwhals.stable.v2 as narwhals  # comes with scikit-learn from 1.9 on
    except ImportError:
        return []
    frame = narwhals.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        return []
    return [dtype in (narwhals.Categorical, narwhals.Enum) for dtype in frame.schema.values()]


def _categorical_columns(asked: Any, X: Any, d: int) -> Bools:
    """Which columns are categorical."""
    found = np.zeros(d, dtype=np.bool_)
    frame = hasattr(X, "columns")
    if asked is None:
        return found
    if isinstance(asked, str) and asked == "from_dtype":
        if frame and any(declared := _have_levels(X)):
            found[:] = declared
        return found
    if isinstance(asked, str) or not isinstance(asked, Iterable):
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or indices, names or a mask of columns, "
            f"found {asked!r}"
        )
    listed = list(asked)
    if listed and all(isinstance(each, (bool, np.bool_)) for each in listed):
        if len(listed) != d:
            raise ValueError(f"categorical_features is a mask of {len(listed)} entries, X has {d} columns")
        found[:] = listed
        return found
    for each in listed:
        if isinstance(each, str):
            names = [str(name) for name in X.columns] if frame else []
            if each not in names:
                raise ValueError(f"categorical_features names {each!r}, the columns of X are {names or d}")
            found[names.index(each)] = True
        elif isinstance(each, Integral) and -d <= int(each) < d:
            found[int(each)] = True
        else:
            raise ValueError(f"categorical_features has {each!r}; allowed are columns 0 to {d - 1}, or names")
    return found


@contextmanager
def _levels_are_declared(X: Any) -> Iterator[None]:
    """Of a text where a number should be, say in which column, and how to say that it is a level."""
    try:
        yield
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        names = X.columns if hasattr(X, "columns") else range(np.asarray(X).shape[1])
        for j, name in enumerate(names):
            try:
                np.asarray(_column(X, j), dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"column {name!r} of X must hold numbers, {error}. Are these levels? Then say so, by "
                    f"categorical_features=[{name!r}], or in a data frame by astype('category')"
                ) from error
        raise


# ---------------------------------------------------------------------------------------------------
# Checks


def _check_criterion(criterion: Any) -> None:
    if not callable(criterion) and not (isinstance(criterion, str) and criterion in CRITERIA):
        raise ValueError(f"criterion must be one of {CRITERIA} or a concave function, found {criterion!r}")


def _check_cost(cost: ArrayLike | None, k: int) -> Floats:
    """The costs as floats; an array without rows where there are none."""
    if cost is None:
        return np.zeros((0, 0))
    costs = check_costs(cost).astype(np.float64)
    if costs.shape != (k, k):
        raise ValueError(f"cost must have a row and a column for each of {k} classes, found {costs.shape}")
    return np.ascontiguousarray(costs)


def _check_families(questions: Any) -> tuple[Any, ...]:
    if not (isinstance(questions, (str, Iterable)) or callable(questions)):
        raise ValueError(f"questions must be among {FAMILIES}, or functions, found {questions!r}")
    families = (questions,) if isinstance(questions, str) or callable(questions) else tuple(questions)
    for family in families:
        if not callable(family) and not (isinstance(family, str) and family in FAMILIES):
            raise ValueError(f"questions must be among {FAMILIES}, or functions, found {family!r}")
    if not families:
        raise ValueError("questions must name at least one family, found none")
    return families


# ---------------------------------------------------------------------------------------------------
# Search


def _in_units(weights: Floats | None) -> tuple[Floats | None, float]:
    """The weights in units of their own, None if all are one; and the unit.

    Whole numbers stay what they are. Of others a tree depends on the proportions only, and in units of a
    power of two nothing is rounded; less than 1e-290 of the largest is taken as this.
    """
    if weights is None or (weights == weights[0]).all():
        return None, 1.0 if weights is None else float(weights[0])
    if weights.sum() <= _EXACT and (weights == np.floor(weights)).all():
        return weights, 1.0
    weights, unit = in_units(weights)
    return np.maximum(weights, 2.0**-960), unit


class _Measure:
    """How splits are compared: an impurity, on weights."""

    def __init__(
        self, criterion: Criterion, costs: Floats, weights: Floats | None, codes: Ints, k: int
    ) -> None:
        weights, self.unit = _in_units(weights)
        self.criterion, self.costs, self.k = criterion, costs, k
        self.code = -1 if callable(criterion) else CRITERIA.index(criterion)
        if criterion != "misclassification":
            self.costs = np.zeros((0, 0))
        self.weighted = weights is not None
        self.weights = np.zeros(0) if weights is None else weights
        self.total = np.bincount(codes, weights, minlength=k).astype(np.float64)
        size = self.total.sum()
        whole = weights is None or bool((weights == np.floor(weights)).all())
        self.exact = whole and size <= _EXACT and len(self.costs) == 0 and self.code >= 0
        self.table, self.scale = np.zeros(0, dtype=np.int64), 1.0
        if self.exact and criterion == "entropy":
            x = np.arange(int(size) + 1, dtype=np.float64)
            x[1:] *= np.log2(x[1:])
            self.scale = 2.0 ** (61 - np.ceil(np.log2(x[-1] + 2)))
            self.table = np.round(x * self.scale).astype(np.int64)

    def gain(self, no: Floats, yes: Floats) -> float:
        """The total decrease: that of the impurity, times the weight of the node."""
        from ..jit import tree as jit

        if self.code >= 0:
            found: float = jit.decrease(self.code, self.exact, no, yes, self.table, self.scale, self.costs)
            return found
        return float(self._gains(no[None], yes[None])[0])

    def _gains(self, no: Floats, yes: Floats) -> Floats:
        """Of rows of counts, by a function of one's own."""
        both = no[:1] + yes[:1]
        size = float(both.sum())
        values = []
        for side in (no, yes):
            sums = np.maximum(side.sum(axis=1), 2.0**-1000)  # rounding may have left nothing
            values.append(sums * _impurities(side / sums[:, None], self.criterion, self.costs))
        gains = size * _impurities(both / size, self.criterion, self.costs) - values[0] - values[1]
        worst = int(np.argmin(gains))
        if gains[worst] < -1e-8 * size:
            raise ValueError(
                "criterion must be concave: it found "
                f"{(no[worst] / no[worst].sum()).tolist()} and {(yes[worst] / yes[worst].sum()).tolist()} "
                f"together purer than apart, by {-gains[worst] / size:.3g}"
            )
        gains[gains < _TIE * size] = 0.0
        return np.asarray(gains)

    def first_best(self, no: Floats, yes: Floats, allowed: Bools) -> tuple[int, float] | None:
        """Of rows of counts the first among the best, and its decrease, by a function of one's own."""
        places = np.flatnonzero(allowed)
        if len(places) == 0:
            return None
        gains = self._gains(no[places], yes[places])
        first = int(np.argmax(gains >= gains.max() - _TIE * (no[0] + yes[0]).sum()))
        return int(places[first]), float(gains[first])


@dataclass(eq=False)
class _Found:
    """A question, as it is searched for."""

    gain: float
    positive: Bools  # of the node's items, in ascending order
    feature: int = _OTHER
    threshold: float = np.nan
    members: NDArray[np.uint8] | None = None
    question: Any = None
    ahead: float = 0.0


@dataclass(eq=False)
class _Node:
    """Some items: their keys, column by column, and the weights of their classes."""

    keys: Ints
    total: Floats

    @cached_property
    def items(self) -> Ints:
        return np.sort(self.keys[0] & (_ITEMS - 1))

    def __len__(self) -> int:
        return int(self.keys.shape[1])


class _Search:
    """The search for the best question at a node, of any family, by any impurity."""

    def __init__(
        self,
        X: Floats,
        codes: Ints,
        columns: _Columns,
        measure: _Measure,
        families: tuple[Any, ...],
        fewest: int,
        lightest: float = 0.0,
        names: Sequence[str] | None = None,
    ):
        self.X, self.codes, self.columns, self.measure = X, codes, columns, measure
        # of equal questions the numerical and categorical win
        self.families = tuple(sorted(families, key=lambda family: family not in ("numerical", "categorical")))
        self.names = names
        self.fewest, self.lightest = fewest, lightest * float(measure.total.sum()) * (1.0 - 1e-12)
        self.n_levels = columns.n_levels
        self.width = int(self.n_levels.max(initial=0))
        self.values = np.ascontiguousarray(X.T)
        self.inside = np.zeros(len(X), dtype=np.bool_)
        axis = {family for family in families if family in ("numerical", "categorical")}
        asked = np.where(self.n_levels > 0, "categorical" in axis, "numerical" in axis)
        self.left_out = (~asked).astype(np.uint8)
        self.numerical = np.flatnonzero(~columns.categorical)

    def root(self) -> _Node:
        """All items, every column sorted."""
        from ..jit import tree as jit

        d, m = self.values.shape
        keys = np.empty((d, m), dtype=np.int64)
        for j in range(d):
            if not jit.count_sort(self.values[j], self.codes, keys[j]):
                jit.pack(self.values[j], np.argsort(self.values[j]), self.codes, keys[j])
        return _Node(keys, self.measure.total)

    def counts(self, items: Ints) -> Floats:
        weights = self.measure.weights[items] if self.measure.weighted else None
        return np.bincount(self.codes[items], weights, minlength=self.measure.k).astype(np.float64)

    def children(self, node: _Node, positive: Bools) -> tuple[_Node, _Node]:
        """The items that answer no, and those that answer yes."""
        sides = []
        self.inside[node.items] = positive
        mask = self.inside[node.keys & (_ITEMS - 1)]
        for side, chosen in ((node.items[~positive], ~mask), (node.items[positive], mask)):
            sides.append(_Node(node.keys[chosen].reshape(len(node.keys), -1), self.counts(side)))
        return sides[0], sides[1]

    def is_open(self, node: _Node, fewest_split: int = 2) -> bool:
        """Whether a node is impure and large enough."""
        large = len(node) >= max(fewest_split, 2 * self.fewest) and node.total.sum() >= 2 * self.lightest
        return bool(large and (node.total > 0).sum() > 1)

    def best(self, node: _Node, ahead: int = 1) -> _Found | None:
        """The best question, looking ahead by so many levels."""
        if ahead > 1:
            return self._best_ahead(node, ahead)
        best: _Found | None = None
        done = False
        for family in self.families:
            if family in ("numerical", "categorical"):
                if done:
                    continue
                done = True
                found = self._axis(node)
            elif family == "oblique":
                found = self._oblique(node)
            elif family == "sphere":
                found = self._sphere(node)
            else:
                found = self._own(node, family)
            if found is not None and (best is None or found.gain > best.gain):
                best = found
        if best is not None:
            best.ahead = best.gain
        return best

    def _best_ahead(self, node: _Node, ahead: int) -> _Found | None:
        best: tuple[int, float] | None = None
        chosen: _Found | None = None
        unit = 2 * _TIE * float(node.total.sum())
        for found in self._all(node):
            found.ahead = found.gain
            for child in self.children(node, found.positive):
                if self.is_open(child):
                    following = self.best(child, ahead - 1)
                    found.ahead += 0.0 if following is None else following.ahead
            value = round(found.ahead / unit), found.gain
            if best is None or value > best:
                best, chosen = value, found
        return chosen

    def _positive(self, node: _Node, items: Ints) -> Bools:
        self.inside[node.items] = False
        self.inside[items] = True
        return self.inside[node.items]

    def _counted(self, node: _Node, positive: Bools) -> float:
        return self.measure.gain(self.counts(node.items[~positive]), self.counts(node.items[positive]))

    def _axis(self, node: _Node) -> _Found | None:
        """The best numerical or categorical question."""
        from ..jit import tree as jit

        measure = self.measure
        if measure.code < 0:
            return self._axis_by_function(node)
        chosen = np.zeros(self.width, dtype=np.uint8)
        j, place = jit.best_question(
            node.keys,
            0,
            len(node),
            self.n_levels,
            self.left_out.copy(),
            measure.code,
            measure.exact,
            measure.weighted,
            measure.weights,
            node.total,
            measure.table,
            measure.costs,
            self.fewest,
            self.lightest,
            chosen,
        )
        if j < 0:
            return None
        if place < -1:
            self.refuse_levels(j, -place)
        if place == -1:
            return self._by_levels(node, j, chosen)
        return self._by_threshold(node, j, place)

    def _by_threshold(self, node: _Node, j: int, place: int) -> _Found:
        from ..jit import tree as jit

        items = node.keys[j] & (_ITEMS - 1)
        positive = self._positive(node, items[: place + 1])
        threshold = jit.between(self.values[j, items[place]], self.values[j, items[place + 1]])
        return _Found(self._counted(node, positive), positive, j, threshold)

    def _by_levels(self, node: _Node, j: int, chosen: NDArray[np.uint8]) -> _Found:
        positive = self._members(chosen, self.X[node.items, j])
        return _Found(self._counted(node, positive), positive, j, members=chosen)

    @staticmethod
    def _members(chosen: NDArray[np.uint8], levels: Floats) -> Bools:
        known = (levels >= 0) & (levels < len(chosen))
        return np.asarray(known & (chosen[np.where(known, levels, 0).astype(np.intp)] == 1))

    def refuse_levels(self, j: int, L: int) -> None:
        """Say that there are too many levels."""
        name = str(j) if self.names is None else repr(str(self.names[j]))
        barred = self.fewest > 1 or self.lightest > 0
        small = ", or small sets barred by min_samples_leaf or min_weight_fraction_leaf" if barred else ""
        raise ValueError(
            f"column {name} has {L} levels at a node with more than two classes{small}: all subsets are "
            f"searched, which is allowed up to {_LEVELS} levels. Join rare levels, or give it as numbers."
        )

    def _cumulated(self, node: _Node, j: int) -> tuple[Floats, Floats, Bools]:
        """The counts on both sides of every place of a column, and which places may divide it."""
        row, n = node.keys[j], len(node)
        table = np.zeros((n, self.measure.k))
        items = row & (_ITEMS - 1)
        table[np.arange(n), self.codes[items]] = self.measure.weights[items] if self.measure.weighted else 1.0
        some = table.cumsum(axis=0)[:-1]
        places = np.arange(1, n)
        allowed = (row[1:] >> 40) != (row[:-1] >> 40)
        allowed &= (places >= self.fewest) & (n - places >= self.fewest)
        rest = np.maximum(node.total - some, 0.0)
        allowed &= np.minimum(some.sum(axis=1), rest.sum(axis=1)) >= self.lightest
        return rest, some, allowed

    def _axis_by_function(self, node: _Node) -> _Found | None:
        best: tuple[float, int, Any] | None = None
        for j in np.flatnonzero(self.left_out == 0).tolist():
            if self.n_levels[j] > 0:
                candidate: Any = self._subset_by_function(node, j)
            else:
                candidate = self.measure.first_best(*self._cumulated(node, j))
            if candidate is not None and (best is None or candidate[1] > best[0] + _TIE * node.total.sum()):
                best = candidate[1], j, candidate[0]
        if best is None:
            return None
        _, j, place = best
        return self._by_levels(node, j, place) if self.n_levels[j] > 0 else self._by_threshold(node, j, place)

    def _level_table(self, node: _Node, j: int) -> tuple[Ints, Floats, Ints]:
        """The levels of a column at a node, the weights of the classes in each, and the items."""
        levels, where = np.unique(self.X[node.items, j].astype(np.int64), return_inverse=True)
        table = np.zeros((len(levels), self.measure.k))
        weights = self.measure.weights[node.items] if self.measure.weighted else 1.0
        np.add.at(table, (where, self.codes[node.items]), weights)
        return levels, table, np.bincount(where)

    def _subset_by_function(self, node: _Node, j: int) -> tuple[NDArray[np.uint8], float] | None:
        levels, table, items = self._level_table(node, j)
        L = len(levels)
        if L < 2:
            return None
        present = np.flatnonzero(node.total > 0)
        masks: Bools | None = None
        if len(present) <= 2:
            order = np.argsort(table[:, present[-1]] / table.sum(axis=1), kind="stable")
            masks = np.zeros((L - 1, L), dtype=np.bool_)
            for q in range(L - 1):
                masks[q, order[: q + 1]] = True
            best = self._best_mask(masks, table, np.ones(len(masks), dtype=np.bool_))
            if best is not None and self._obeys(masks[best[0]][None], table, items)[0]:
                return self._side(levels, masks[best[0]], j), best[1]
        if L > _LEVELS:
            self.refuse_levels(j, L)
        found: tuple[NDArray[np.uint8], float] | None = None
        step = 2**14
        for start in range(1, 2 ** (L - 1), step):
            numbers = np.arange(start, min(start + step, 2 ** (L - 1)))
            masks = (numbers[:, None] >> np.arange(L) & 1).astype(np.bool_)
            best = self._best_mask(masks, table, self._obeys(masks, table, items))
            if best is not None and (found is None or best[1] > found[1] + _TIE * node.total.sum()):
                found = self._side(levels, masks[best[0]], j), best[1]
        return found

    def _best_mask(self, masks: Bools, table: Floats, allowed: Bools) -> tuple[int, float] | None:
        return self.measure.first_best((~masks) @ table, masks @ table, allowed)

    def _obeys(self, masks: Bools, table: Floats, items: Ints) -> Bools:
        """Which sets of levels leave enough items, and weight, on either side."""
        sizes, weights = masks @ items, masks @ table.sum(axis=1)
        light = np.minimum(weights, table.sum() - weights)
        return np.asarray((np.minimum(sizes, items.sum() - sizes) >= self.fewest) & (light >= self.lightest))

    def _side(self, levels: Ints, inside: Bools, j: int) -> NDArray[np.uint8]:
        """Of a set of levels and its complement the one that is asked for."""
        has_missing = levels[-1] == self.n_levels[j]
        n, L = int(inside.sum()), len(levels)
        swapped = bool(inside[-1]) if has_missing else 2 * n > L or (2 * n == L and not inside[0])
        chosen = np.zeros(self.width, dtype=np.uint8)
        chosen[levels[inside != swapped]] = 1
        return chosen

    def _all(self, node: _Node) -> Iterator[_Found]:
        """Every question of the families, for looking ahead."""
        done = False
        for family in self.families:
            if callable(family):
                yield from self._each_own(node, family)
            elif not done:
                done = True
                for j in np.flatnonzero(self.left_out == 0).tolist():
                    if self.n_levels[j] > 0:
                        yield from self._all_subsets(node, j)
                    else:
                        for place in np.flatnonzero(self._cumulated(node, j)[2]).tolist():
                            yield self._by_threshold(node, j, place)

    def _all_subsets(self, node: _Node, j: int) -> Iterator[_Found]:
        levels, table, items = self._level_table(node, j)
        L = len(levels)
        if L > _LEVELS:
            self.refuse_levels(j, L)
        for mask in range(1, 2 ** (L - 1)):
            inside = (mask >> np.arange(L) & 1).astype(np.bool_)
            if self._obeys(inside[None], table, items)[0]:
                yield self._by_levels(node, j, self._side(levels, inside, j))

    def _each_own(self, node: _Node, family: Callable[..., Iterable[Any]]) -> Iterator[_Found]:
        items = node.items
        weights = self.measure.weights[items] if self.measure.weighted else np.ones(len(items))
        weights = weights * self.measure.unit
        rows = self.X[items]
        for question in family(rows, self.codes[items], weights):
            found = self._asked(node, question, rows)
            if found is not None:
                yield found

    def _own(self, node: _Node, family: Callable[..., Iterable[Any]]) -> _Found | None:
        best: _Found | None = None
        for found in self._each_own(node, family):
            if best is None or found.gain > best.gain:
                best = found
        return best

    def _asked(self, node: _Node, question: Any, rows: Floats) -> _Found | None:
        """What a question does at a node; None if it does not divide it, or by too little."""
        positive = np.asarray(question.answer(rows))
        if positive.shape != (len(rows),) or positive.dtype != np.bool_:
            raise ValueError(
                f"answer of {question!r} must be {len(rows)} booleans, "
                f"found {positive.dtype} of shape {positive.shape}"
            )
        if min(positive.sum(), (~positive).sum()) < self.fewest:
            return None
        light = min(self.counts(node.items[side]).sum() for side in (positive, ~positive))
        if light < self.lightest:
            return None
        return _Found(self._counted(node, positive), positive, question=question)

    def _cut(self, node: _Node, values: Floats) -> tuple[float, float] | None:
        """The best threshold of values of the items, and the decrease; what is missing answers no."""
        from ..jit import tree as jit

        measure, items = self.measure, node.items
        keys = np.empty(len(items), dtype=np.int64)
        order = np.argsort(values, kind="stable")
        jit.pack(values, order, self.codes[items], keys)
        if measure.code < 0:
            local = _Node(items[order][None] | (keys & ~np.int64(_ITEMS - 1))[None], node.total)
            found = measure.first_best(*self._cumulated(local, 0))
            place = -1 if found is None else found[0]
        else:
            weights = measure.weights[items] if measure.weighted else measure.weights
            size = node.total.sum()
            place, *_ = jit.scan(
                keys,
                0,
                len(keys),
                measure.code,
                measure.exact,
                measure.weighted,
                weights,
                node.total,
                size,
                measure.table,
                measure.costs,
                self.fewest,
                self.lightest,
                -np.inf,
                0,
                0,
            )
        if place < 0:
            return None
        threshold = jit.between(values[order[place]], values[order[place + 1]])
        return threshold, self._counted(node, values <= threshold)

    def _directions(self, node: _Node, rows: Floats) -> Iterator[Floats]:
        """Where the climb to an oblique question begins: the axes, and between the means of two classes."""
        yield from np.eye(rows.shape[1])
        codes = self.codes[node.items]
        known = ~np.isnan(rows).any(axis=1)
        means = [rows[known & (codes == c)].mean(axis=0) for c in np.unique(codes[known]).tolist()]
        for a in range(len(means)):
            for b in range(a):
                if (means[a] != means[b]).any():
                    yield means[a] - means[b]

    def _oblique(self, node: _Node) -> _Found | None:
        columns = self.numerical
        if len(columns) == 0:
            return None
        rows = np.ascontiguousarray(self.X[np.ix_(node.items, columns)])
        starts: list[tuple[float, int, Floats, float]] = []
        for direction in self._directions(node, rows):
            cut = self._cut(node, _project(rows, direction))
            if cut is not None:
                starts.append((-cut[1], len(starts), direction, cut[0]))
        best: _Found | None = None
        # from the best start of all, and from two others
        for _, _, direction, threshold in sorted(starts, key=lambda start: start[:2])[:3]:
            found = self._climb(node, rows, direction, threshold)
            if found is not None and (best is None or found.gain > best.gain):
                best = found
        return best

    def _climb(self, node: _Node, rows: Floats, weights: Floats, threshold: float) -> _Found | None:
        """Turn a hyperplane within itself, one weight at a time by the best angle, as long as it helps."""
        found = self._hyperplane(node, rows, weights)
        improved = found is not None
        while improved and found is not None:
            improved = False
            for j in range(rows.shape[1]):
                known = rows[:, j][~np.isnan(rows[:, j])]
                # what of the hyperplane has this value in column j stays where it is
                for pivot in np.unique(np.quantile(known, [0.0, 0.25, 0.5, 0.75, 1.0])) if len(known) else ():
                    others = weights.copy()
                    others[j] = 0.0
                    level = threshold - weights[j] * pivot - _project(rows, others)
                    others[j] = self._turn(node, level, rows[:, j] - pivot, weights[j])
                    if not others.any():
                        continue
                    candidate = self._hyperplane(node, rows, others)
                    if candidate is not None and candidate.gain > found.gain:
                        found, improved = candidate, True
                        weights = np.asarray(candidate.question.weights)[self.numerical]
                        threshold = candidate.question.threshold
        return found

    def _turn(self, node: _Node, level: Floats, far: Floats, weight: float) -> float:
        """The best weight v, where an item says yes if v times ``far`` is at most its ``level``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = level / far
        moving = np.isfinite(slopes)
        ahead = moving & (far > 0)
        items = node.items[moving][np.argsort(slopes[moving], kind="stable")]
        slopes = np.sort(slopes[moving], kind="stable")
        if len(slopes) < 2:
            return weight
        table = np.zeros((len(items), self.measure.k))
        table[np.arange(len(items)), self.codes[items]] = (
            self.measure.weights[items] if self.measure.weighted else 1.0
        )
        sign = np.where(ahead[np.searchsorted(node.items, items)], -1.0, 1.0)
        # as v grows, an item ahead of the pivot turns to no, one behind it to yes
        start = self.counts(node.items[ahead | (~moving & (far == 0) & (level >= 0))])
        yes = np.maximum(start + (sign[:, None] * table).cumsum(axis=0)[:-1], 0.0)
        no = np.maximum(node.total - yes, 0.0)
        allowed = (slopes[1:] > slopes[:-1]) & (yes.sum(axis=1) > 0) & (no.sum(axis=1) > 0)
        best = self.measure.first_best(no, yes, allowed)
        return weight if best is None else float(slopes[best[0]] / 2 + slopes[best[0] + 1] / 2)

    def _hyperplane(self, node: _Node, rows: Floats, weights: Floats) -> _Found | None:
        """The best question with these weights, which are brought to length 1."""
        weights = weights / np.linalg.norm(weights)
        weights[np.abs(weights) < 1e-12] = 0.0
        cut = self._cut(node, _project(rows, weights))
        if cut is None:
            return None
        full = np.zeros(self.X.shape[1])
        full[self.numerical] = weights
        question = Oblique(tuple(full.tolist()), float(cut[0]))
        return self._asked(node, question, self.X[node.items])

    def _sphere(self, node: _Node) -> _Found | None:
        columns = self.numerical
        rows = self.X[np.ix_(node.items, columns)]
        known = np.flatnonzero(~np.isnan(rows).any(axis=1))
        if len(columns) == 0 or len(known) == 0:
            return None
        codes = self.codes[node.items][known]
        means = [rows[known[codes == c]].mean(axis=0) for c in np.unique(codes).tolist()]
        some = known[np.linspace(0, len(known) - 1, min(len(known), _CENTRES)).astype(np.intp)]
        best: tuple[float, Sphere] | None = None
        for center in [*means, *rows[some]]:
            full = np.full(self.X.shape[1], np.nan)
            full[columns] = center
            sphere = Sphere(tuple(full.tolist()), 0.0)
            cut = self._cut(node, sphere.score(self.X[node.items]))
            if cut is not None and (best is None or cut[1] > best[0]):
                best = cut[1], replace(sphere, radius=float(cut[0]))
        return None if best is None else self._asked(node, best[1], self.X[node.items])


def _project(rows: Floats, weights: Floats) -> Floats:
    """As :meth:`Oblique.score` computes it."""
    used = np.flatnonzero(weights)
    if len(used) == 0:
        return np.zeros(len(rows))
    return np.asarray((np.ascontiguousarray(rows[:, used]) * weights[used]).sum(axis=1))


def best_question(
    X: Any,
    y: ArrayLike,
    *,
    criterion: Criterion = "gini",
    questions: Any = ("numerical", "categorical"),
    sample_weight: ArrayLike | None = None,
    categorical_features: Any = "from_dtype",
    min_samples_leaf: int = 1,
    lookahead: int = 1,
    cost: ArrayLike | None = None,
) -> Split | None:
    r"""The question with the largest decrease of the impurity of these items, taken as one node.

    Parameters
    ----------
    X : (m, d) array-like or data frame
        The items of the node.
    y : (m,) array-like
        Their labels. ``cost`` has them in sorted order.
    criterion, questions, categorical_features, min_samples_leaf, lookahead, cost
        As in :class:`DecisionTree`.
    sample_weight : (m,) array-like, optional
        Weights of the items, at least 0; an item of weight 0 is not there.

    Returns
    -------
    Split or None
        None if no question divides the items with ``min_samples_leaf`` on either side.

    Examples
    --------
    >>> split = best_question([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "b"])
    >>> split.question, split.decrease, split.positive
    (Numerical(feature=0, threshold=1.5), 1.5, array([ True, False, False, False]))
    >>> best_question([["red"], ["blue"], ["red"]], [0, 1, 0], categorical_features=[0]).question
    Categorical(feature=0, levels=('blue',))
    """
    machine = DecisionTree(
        criterion,
        questions=questions,
        categorical_features=categorical_features,
        min_samples_leaf=min_samples_leaf,
        lookahead=lookahead,
        cost=cost,
    )
    machine._check_parameters()
    search, rows = machine._prepare(X, y, sample_weight)
    root = search.root()
    if len(root) < 2 * min_samples_leaf:
        return None
    found = search.best(root, lookahead)
    if found is None:
        return None
    positive = np.zeros(len(np.asarray(y)), dtype=np.bool_)
    positive[rows] = found.positive
    question = _question(found.feature, found.threshold, found.members, search.columns, found.question)
    unit = search.measure.unit
    return Split(question, found.gain * unit, positive, found.ahead * unit)


def _question(
    feature: int,
    threshold: float,
    members: NDArray[np.uint8] | None,
    columns: _Columns,
    other: Any,
) -> Any:
    if feature == _OTHER:
        return other
    if feature in columns.levels and members is not None:
        levels = columns.levels[feature]
        return Categorical(feature, tuple(levels[g] for g in np.flatnonzero(members).tolist()))
    return Numerical(feature, float(threshold))


# ---------------------------------------------------------------------------------------------------
# Trees


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
    answers : (nodes,) int array
        The index of the class that a node answers as a leaf: the cheapest, ties to the first.
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
    answers: Ints
    feature: Ints
    threshold: Floats
    _members: NDArray[np.uint8]
    _others: dict[int, Any]
    _columns: _Columns

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
            else _question(
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
            if j == _OTHER:
                positive = np.asarray(self._others[n].answer(X[rows]))
            elif j in self._columns.levels:
                positive = _Search._members(self._members[n], X[rows, j])
            else:
                positive = X[rows, j] <= self.threshold[n]
            waiting += [(int(self.left[n]), rows[~positive]), (int(self.right[n]), rows[positive])]
        return reached

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


_EACH = ("depth", "counts", "items", "impurity", "answers", "_members")


class DecisionTree(ClassifierMixin, BaseEstimator):
    r"""A classifier that asks one question after the other (def-tree-tree, alg-tree-greedy).

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification"} or callable
        The impurity. A callable gets class distributions, the rows of an array, and answers their
        impurities; it must be concave.
    questions : str, callable, or several of them in a tuple
        The families of questions, of which each node takes the best. "numerical": :math:`X_j \le a`, with
        thresholds half-way between neighbouring values. "categorical": :math:`X_j \in A`; with two classes at
        the node by the order of the levels, else through all subsets, up to 20 levels. "oblique":
        :math:`\sum_j \alpha_j X_j \le b`, climbing from the best of some directions, the axes among them, so
        that it is never worse than a numerical question; the best of all is not promised. "sphere":
        :math:`\|X - a_0\| \le r` with :math:`a_0` a mean of a class or one of at most 256 items, and every r.
        A function is given the items of a node, their class codes and their weights, and answers with
        questions: objects with a method ``answer``, from rows to booleans. (Levels are numbers there.) Of
        equal questions the numerical and categorical win over others, and among others the family named
        first.
    priority : {"weighted", "unweighted"}
        Which node is split next: that of the largest :math:`|n| \tilde F`, or :math:`\tilde F`. It matters
        where ``max_leaf_nodes`` ends the growth.
    max_leaf_nodes : int, optional
        Stop at so many leaves.
    max_depth : int, optional
        A leaf has at most so many questions above it.
    min_samples_split : int
        A node with fewer items is a leaf.
    min_samples_leaf : int
        A question must leave so many items on either side.
    min_weight_fraction_leaf : float
        A question must leave this part of the weight of all items on either side; from 0 to 0.5.
    min_impurity_decrease : float
        A node is split only if :math:`\frac{|n|}{m} \tilde F` is at least this; with weights, of these.
    lookahead : int
        d: choose the question with which a tree of depth d from here decreases the impurity most; ties go to
        the larger decrease at once. The time is that of all trees of depth d - 1, so keep it small: 2 or 3.
    categorical_features : "from_dtype", None, or array-like
        Which columns hold levels: those whose type says so, category in pandas, Categorical or Enum in polars
        (with scikit-learn from 1.9 on); none; or indices, names or a mask.
    class_weight : dict or "balanced", optional
        Factors of the weights, by class.
    cost : (k, k) array-like, optional
        What it costs to answer the class of a column where that of a row is true, in the order of
        ``classes_``. Leaves answer what is cheapest, and "misclassification" is the cost of that. Gini and
        entropy do not see costs.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    tree_ : Tree
        The tree.
    feature_importances_ : (d,) array
        What the questions about each column decreased the total impurity by, in sum 1 (0 for a single leaf).
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Weights that are whole numbers mean that many equal items, but for the limits on numbers of items, which
    count rows. An item of weight 0 is not there.

    Examples
    --------
    >>> from mcutils.data import load
    >>> penguins = load("penguins")
    >>> machine = DecisionTree(max_leaf_nodes=3).fit(penguins.X, penguins.y)
    >>> machine.get_n_leaves(), round(machine.score(penguins.X, penguins.y), 3)
    (3, 0.949)
    """

    classes_: NDArray[Any]
    tree_: Tree
    n_features_in_: int

    def __init__(
        self,
        criterion: Criterion = "gini",
        *,
        questions: Any = ("numerical", "categorical"),
        priority: str = "weighted",
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        lookahead: int = 1,
        categorical_features: Any = "from_dtype",
        class_weight: dict[Any, float] | str | None = None,
        cost: ArrayLike | None = None,
    ):
        self.criterion = criterion
        self.questions = questions
        self.priority = priority
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.lookahead = lookahead
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.cost = cost

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : (m, d) array-like or data frame
            Numbers may be missing (NaN), not infinite; columns of levels hold anything that can be hashed.
        y : (m,) array-like
            Labels.
        sample_weight : (m,) array-like, optional
            Weights of the items, at least 0.

        Returns
        -------
        DecisionTree
        """
        self._check_parameters()
        search, _ = self._prepare(X, y, sample_weight)
        axis = {"numerical", "categorical"}
        fast = search.measure.code >= 0 and self.lookahead == 1 and axis.issuperset(search.families)
        self.tree_ = self._grow_fast(search) if fast else self._grow(search)
        return self

    def _check_parameters(self) -> None:
        _check_criterion(self.criterion)
        families = _check_families(self.questions)
        one_of(self.priority, "priority", ("weighted", "unweighted"))
        for name, least in (("max_leaf_nodes", 1), ("max_depth", 0)):
            or_none(integer, getattr(self, name), name, least)
        for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1), ("lookahead", 1)):
            integer(getattr(self, name), name, least)
        number(self.min_impurity_decrease, "min_impurity_decrease", least=0)
        number(self.min_weight_fraction_leaf, "min_weight_fraction_leaf", least=0, most=0.5)
        climbing = [family for family in families if family in ("oblique", "sphere")]
        if self.lookahead > 1 and climbing:
            raise ValueError(
                "lookahead above 1 asks every question of a family, which are too many of "
                f"{climbing}; allowed are 'numerical', 'categorical' and functions"
            )

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[_Search, Ints]:
        """The search for questions among the items of positive weight, and which items these are."""
        table, labels = self._validate(X, y, fitting=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        k = len(self.classes_)
        if k > _CLASSES or table.shape[0] > _ITEMS:
            raise ValueError(
                f"y must have at most {_CLASSES} classes and {_ITEMS} items, found {k} and {table.shape[0]}"
            )
        costs = _check_cost(self.cost, k)
        weights = self._weights(table, codes, sample_weight)
        rows = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
        if len(rows) == 0:
            raise ValueError("sample_weight and class_weight must not be zero for all items")
        columns = _Columns(table.shape[1], _categorical_columns(self.categorical_features, X, table.shape[1]))
        columns.learn(table, rows)
        with _levels_are_declared(X):
            encoded = columns.encode(table)
        if len(rows) < len(labels):
            encoded, codes = encoded[rows], codes[rows]
        if weights is not None:
            weights = weights[rows]
        codes = codes.astype(np.int64)
        measure = _Measure(self.criterion, costs, weights, codes, k)
        families = _check_families(self.questions)
        names = getattr(self, "feature_names_in_", None)
        fewest, light = int(self.min_samples_leaf), float(self.min_weight_fraction_leaf)
        return _Search(encoded, codes, columns, measure, families, fewest, light, names), rows

    def _validate(self, X: Any, y: ArrayLike | None = None, *, fitting: bool = False) -> tuple[Any, Any]:
        """X as a table with a shape, of numbers if no column holds levels; and the labels, in fit."""
        frame = hasattr(X, "columns")
        if not fitting:
            mixed = bool(self.tree_._columns.categorical.any())
        elif frame:
            mixed = bool(_categorical_columns(self.categorical_features, X, X.shape[1]).any())
        else:
            mixed = not (self.categorical_features is None or isinstance(self.categorical_features, str))
        if not mixed:
            options: dict[str, Any] = {
                "dtype": np.float64,
                "order": "C",
                "ensure_all_finite": "allow-nan" if fitting else False,
                "reset": fitting,
            }
            with _levels_are_declared(X):
                if fitting:
                    table, labels = validate_data(self, X, y, **options)
                    return table, labels
                return validate_data(self, X, **options), None
        if not hasattr(X, "iloc"):
            table = np.asarray(X)
            if table.dtype.kind not in "fiub":
                table = np.asarray(X, dtype=object)
            if table.ndim != 2:
                raise ValueError(
                    f"X must be a table. Expected 2D array, got shape {table.shape}. Reshape your data"
                )
        else:
            table = X
        labels = validate_data(self, X="no_validation", y=y) if fitting else None
        validate_data(self, X if frame else table, skip_check_array=True, reset=fitting)
        if table.shape[0] == 0 or table.shape[1] == 0:
            raise ValueError(f"X must have rows and columns, found shape {table.shape}")
        if fitting:
            check_consistent_length(table, labels)
        return table, labels

    def _weights(self, X: Any, codes: NDArray[Any], sample_weight: ArrayLike | None) -> Floats | None:
        """The weights of the items, None if all are 1."""
        if sample_weight is None and self.class_weight is None:
            return None
        weights = example_weights(sample_weight, len(codes))
        return times_class_weight(weights, self.class_weight, self.classes_, codes)

    def _grow_fast(self, search: _Search) -> Tree:
        """By compiled loops: numerical and categorical questions, and an impurity known by name."""
        from ..jit import tree as jit

        measure, unlimited = search.measure, 2**62
        # what is not asked about is as good as constant
        asked = np.flatnonzero(search.left_out == 0)
        root = search.root()
        keys, values, n_levels = root.keys, search.values, search.n_levels
        if len(asked) < len(n_levels):
            keys, values, n_levels = keys[asked], values[asked], n_levels[asked]
        if len(asked) == 0:
            keys, values, n_levels = root.keys[:1], search.values[:1] * 0, np.zeros(1, dtype=np.int64)
            keys &= 2**40 - 1
        most_leaves = unlimited if self.max_leaf_nodes is None else int(self.max_leaf_nodes)
        room = 2 * min(keys.shape[1], most_leaves) - 1
        links = np.empty((5, room), dtype=np.int64)
        # pages of these that no node needs are never touched
        threshold, gains, counts = np.empty(room), np.zeros(room), np.zeros((room, measure.k))
        members = np.zeros((room, int(n_levels.max())), dtype=np.uint8)
        constant = np.zeros((room, len(keys)), dtype=np.uint8)
        counts[0] = measure.total
        nodes, column = jit.grow(
            keys,
            values,
            n_levels,
            measure.code,
            measure.exact,
            measure.weighted,
            measure.weights,
            measure.table,
            measure.scale,
            measure.costs,
            self.priority == "unweighted",
            most_leaves,
            unlimited if self.max_depth is None else int(self.max_depth),
            int(self.min_samples_split),
            search.fewest,
            search.lightest,
            float(self.min_impurity_decrease) * float(measure.total.sum()),
            links,
            threshold,
            gains,
            counts,
            members,
            constant,
        )
        if nodes < 0:
            search.refuse_levels(int(asked[column]), -nodes)
        left, parent, depth, feature, items = (row[:nodes].copy() for row in links)
        threshold, gains = threshold[:nodes].copy(), gains[:nodes].copy()
        counts, members = counts[:nodes].copy(), members[:nodes].copy()
        if len(asked) < len(search.n_levels) and len(asked):
            feature = np.where(feature >= 0, asked[feature], -1)
        if members.shape[1] < search.width:
            members = np.zeros((len(left), search.width), dtype=np.uint8)
        return self._tree(search, left, parent, depth, feature, threshold, items, counts, gains, members, {})

    def _grow(self, search: _Search) -> Tree:
        """The same, node by node, for any question and any impurity."""
        from ..jit import tree as jit

        measure = search.measure
        most_leaves = np.inf if self.max_leaf_nodes is None else self.max_leaf_nodes
        most_depth = np.inf if self.max_depth is None else self.max_depth
        least = self.min_impurity_decrease * measure.total.sum() * (1 - 1e-12)
        nodes = [search.root()]
        left, parent, depth, gains = [-1], [-1], [0], [0.0]
        found: dict[int, _Found] = {}
        heap: list[tuple[float, int]] = []
        fresh = [0]
        leaves = 1
        while True:
            for n in fresh:
                node = nodes[n]
                if not search.is_open(node, self.min_samples_split) or depth[n] >= most_depth:
                    continue
                if leaves >= most_leaves:
                    continue
                best = search.best(node, int(min(self.lookahead, most_depth - depth[n])))
                if best is None or best.gain < least:
                    continue
                found[n] = best
                mean = jit.rounded(best.ahead / node.total.sum(), 1.0)
                heapq.heappush(heap, (-mean if self.priority == "unweighted" else -best.ahead, n))
            if not heap or leaves >= most_leaves:
                break
            _, n = heapq.heappop(heap)
            leaves += 1
            left[n], gains[n] = len(nodes), found[n].gain
            fresh = [len(nodes), len(nodes) + 1]
            nodes += search.children(nodes[n], found[n].positive)
            left += [-1, -1]
            parent += [n, n]
            depth += [depth[n] + 1] * 2
            gains += [0.0, 0.0]
        split = [n for n in range(len(nodes)) if left[n] >= 0]
        feature, threshold = np.full(len(nodes), -1), np.full(len(nodes), np.nan)
        members = np.zeros((len(nodes), search.width), dtype=np.uint8)
        others = {}
        for n in split:
            feature[n], threshold[n] = found[n].feature, found[n].threshold
            chosen = found[n].members
            if chosen is not None:
                members[n] = chosen
            if found[n].feature == _OTHER:
                others[n] = found[n].question
        return self._tree(
            search,
            np.array(left),
            np.array(parent),
            np.array(depth),
            feature,
            threshold,
            np.array([len(node) for node in nodes]),
            np.array([node.total for node in nodes]),
            np.array(gains),
            members,
            others,
        )

    def _tree(
        self,
        search: _Search,
        left: Ints,
        parent: Ints,
        depth: Ints,
        feature: Ints,
        threshold: Floats,
        items: Ints,
        counts: Floats,
        gains: Floats,
        members: NDArray[np.uint8],
        others: dict[int, Any],
    ) -> Tree:
        costs = _check_cost(self.cost, counts.shape[1])
        members[(feature < 0) | (search.n_levels[np.maximum(feature, 0)] == 0)] = 0
        shares = counts / counts.sum(axis=1, keepdims=True)
        unit = search.measure.unit
        return Tree(
            left=left,
            right=np.where(left >= 0, left + 1, -1),
            parent=parent,
            depth=depth,
            counts=counts * unit,
            items=items,
            impurity=_impurities(shares, self.criterion, costs),
            decrease=gains * unit,
            answers=np.argmin(counts @ costs, axis=1) if len(costs) else np.argmax(counts, axis=1),
            feature=feature,
            threshold=threshold,
            _members=members,
            _others=others,
            _columns=search.columns,
        )

    def apply(self, X: Any) -> Ints:
        """The leaf that each row of X reaches, as a number of a node.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Returns
        -------
        (n,) int array
        """
        check_is_fitted(self)
        table, _ = self._validate(X)
        columns = self.tree_._columns
        if columns.categorical.any():
            with _levels_are_declared(X):
                table = columns.encode(table)
        return self.tree_.reach(table)

    def decision_path(self, X: Any) -> csr_array:
        """Which nodes each row of X goes through.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Returns
        -------
        (n, nodes) sparse array of 0 and 1
        """
        reached = self.apply(X)
        tree = self.tree_
        paths: list[list[int]] = []
        for n in range(tree.n_nodes):
            paths.append([*paths[tree.parent[n]], n] if n > 0 else [0])
        indices = [paths[leaf] for leaf in reached.tolist()]
        ends = np.cumsum([0, *(len(path) for path in indices)])
        flat = np.concatenate(indices).astype(np.int64)
        shape = (len(reached), tree.n_nodes)
        return csr_array((np.ones(len(flat), dtype=np.int64), flat, ends), shape=shape)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the leaf of each row.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Returns
        -------
        (n,) array
        """
        reached = self.apply(X)
        labels: NDArray[Any] = self.classes_[self.tree_.answers][reached]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """The shares of the classes in the leaf of each row, with weights.

        Parameters
        ----------
        X : (n, d) array-like or data frame

        Returns
        -------
        (n, k) array
        """
        reached = self.apply(X)
        counts = self.tree_.counts
        return np.asarray((counts / counts.sum(axis=1, keepdims=True))[reached])

    @property
    def feature_importances_(self) -> Floats:
        """What the questions about each column decreased the total impurity by, in sum 1."""
        check_is_fitted(self)
        tree = self.tree_
        if tree._others:
            raise AttributeError("feature_importances_ needs questions about one column each, some are not")
        asked = tree.feature >= 0
        sums = np.bincount(tree.feature[asked], tree.decrease[asked], minlength=self.n_features_in_)
        return np.asarray(sums / sums.sum() if sums.sum() > 0 else sums)

    def get_depth(self) -> int:
        """The largest number of questions above a leaf."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def text(
        self, feature_names: Sequence[str] | None = None, class_names: Sequence[str] | None = None
    ) -> str:
        """The tree in lines of text: questions, then leaves with their label and number of items.

        Parameters
        ----------
        feature_names : sequence of str, optional
            By default those of the data frame, or x1, x2, ...
        class_names : sequence of str, optional
            By default the labels.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        features, classes = self._names(feature_names, class_names)
        tree, lines = self.tree_, []
        waiting = [(0, "", "")]
        while waiting:
            n, first, rest = waiting.pop()
            if tree.left[n] < 0:
                lines.append(f"{first}{classes[tree.answers[n]]} ({tree.items[n]})")
                continue
            lines.append(f"{first}{_text(tree.questions[n], features)} ?")
            waiting.append((int(tree.right[n]), f"{rest}`-- yes: ", f"{rest}    "))
            waiting.append((int(tree.left[n]), f"{rest}|-- no: ", f"{rest}|   "))
        return "\n".join(lines)

    def _names(
        self, feature_names: Sequence[str] | None, class_names: Sequence[str] | None
    ) -> tuple[Sequence[str] | None, Sequence[str]]:
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        elif len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(feature_names)} entries, the tree has {self.n_features_in_} features"
            )
        if class_names is None:
            class_names = [str(label) for label in self.classes_.tolist()]
        elif len(class_names) != len(self.classes_):
            raise ValueError(
                f"class_names has {len(class_names)} entries, the tree has {len(self.classes_)} classes"
            )
        return feature_names, class_names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _text(question: Any, names: Sequence[str] | None) -> str:
    return str(question.text(names)) if hasattr(question, "text") else repr(question)


# ---------------------------------------------------------------------------------------------------
# Pictures


def boxes(machine: DecisionTree, low: float = -np.inf, high: float = np.inf) -> Floats:
    """The boxes of a tree of numerical questions: what its leaves are in space.

    Parameters
    ----------
    machine : DecisionTree
        Fitted, with numerical questions only.
    low, high : float
        Where space ends.

    Returns
    -------
    (leaves, d, 2) array
        The ends of the leaves, in the order of ``tree_.leaves``; a box has its upper ends, and not its lower.

    Examples
    --------
    >>> machine = DecisionTree().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> boxes(machine, low=0.0, high=4.0)[:, 0].tolist()
    [[0.0, 1.5], [2.5, 4.0], [1.5, 2.5]]
    """
    check_is_fitted(machine)
    tree = machine.tree_
    if tree._others or tree._columns.categorical.any():
        raise ValueError("machine must ask numerical questions only, it asks others")
    found = np.empty((tree.n_nodes, machine.n_features_in_, 2))
    found[0] = low, high
    for n in np.flatnonzero(~tree.is_leaf).tolist():
        j, a = int(tree.feature[n]), tree.threshold[n]
        found[tree.left[n]] = found[tree.right[n]] = found[n]
        found[tree.left[n], j, 0] = max(found[n, j, 0], a)
        found[tree.right[n], j, 1] = min(found[n, j, 1], a)
    return np.asarray(found[tree.leaves])


def _layout(tree: Tree) -> Floats:
    """Where the nodes of a picture stand: leaves side by side, parents above the middle of their children."""
    place = np.zeros(tree.n_nodes)
    waiting, column = [0], 0
    while waiting:
        n = waiting.pop()
        if tree.left[n] < 0:
            place[n] = column
            column += 1
        else:
            waiting += [int(tree.right[n]), int(tree.left[n])]
    for n in range(tree.n_nodes - 1, -1, -1):
        if tree.left[n] >= 0:
            place[n] = (place[tree.left[n]] + place[tree.right[n]]) / 2
    return np.stack([place, -tree.depth.astype(np.float64)], axis=1)


def draw(
    ax: "Axes",
    machine: DecisionTree,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    kept: ArrayLike | None = None,
) -> None:
    """Draw a tree: questions, no to the left and yes to the right, and leaves with their class.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    machine : DecisionTree
        Fitted.
    feature_names, class_names : sequence of str, optional
        As in :meth:`DecisionTree.text`.
    kept : (nodes,) array-like of bool, optional
        Which nodes are still there: with the root, and of siblings both or none. The others are drawn pale,
        so that a pruned tree stands where the full one stood.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils import tree
    >>> ax = Figure().subplots()
    >>> tree.draw(ax, tree.DecisionTree().fit([[1.0], [2.0]], ["a", "b"]))
    >>> [label.get_text() for label in ax.texts]
    ['no', 'yes', 'x1 <= 1.5', 'b', 'a']
    """
    from ..plot import class_style

    check_is_fitted(machine)
    features, classes = machine._names(feature_names, class_names)
    tree = machine.tree_
    there = np.ones(tree.n_nodes, dtype=np.bool_) if kept is None else np.asarray(kept, dtype=np.bool_)
    if there.shape != (tree.n_nodes,):
        raise ValueError(f"kept has shape {there.shape}, the tree has {tree.n_nodes} nodes")
    if not there[0] or (there[1:] & ~there[tree.parent[1:]]).any() or (there[1::2] != there[2::2]).any():
        raise ValueError("kept must have the root, and of siblings both or none, below a node that is kept")
    places = _layout(tree)
    for n in range(1, tree.n_nodes):
        (x, y), (up_x, up_y) = places[n], places[tree.parent[n]]
        pale = not there[n]
        color = "#dddddd" if pale else "#666666"
        ax.plot([up_x, x], [up_y, y], color=color, linewidth=1.0, linestyle="-", zorder=1)
        if tree.parent[n] == 0 and not pale:
            side = -1 if x < up_x else 1
            ax.annotate(
                "no" if side < 0 else "yes",
                (up_x + 0.7 * (x - up_x), up_y + 0.7 * (y - up_y)),
                xytext=(4 * side, 2),
                textcoords="offset points",
                ha="right" if side < 0 else "left",
                va="bottom",
            )
    for n in range(tree.n_nodes):
        if not there[n]:
            continue
        x, y = places[n]
        if tree.left[n] >= 0 and there[tree.left[n]]:
            ax.text(
                x,
                y,
                _text(tree.questions[n], features),
                ha="center",
                va="center",
                zorder=3,
                bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "#666666"},
            )
            continue
        style = class_style(int(tree.answers[n]))
        ax.plot(x, y, color=style["color"], marker=style["marker"], markersize=8, linestyle="none", zorder=2)
        # of two leaves side by side the right one has its name a line lower
        lower = n > 0 and n % 2 == 0 and (tree.left[n - 1] < 0 or not there[tree.left[n - 1]])
        ax.annotate(
            classes[tree.answers[n]],
            (x, y),
            xytext=(0, -20 if lower and tree.n_leaves > 5 else -7),
            textcoords="offset points",
            ha="center",
            va="top",
            zorder=3,
        )
    ax.set_xlim(-0.6, tree.n_leaves - 0.4)
    ax.set_ylim(-float(tree.depth.max()) - 0.5, 0.4)
    ax.set_axis_off()


def draw_regions(
    ax: "Axes",
    machine: DecisionTree,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
    class_names: Sequence[str] | None = None,
) -> None:
    """Draw the partition of the plane: each leaf's region in the colour of its class, with its name.

    Regions of numerical questions are drawn exactly, as rectangles, others on a grid.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    machine : DecisionTree
        Fitted to two numerical features.
    xlim, ylim : (float, float)
        The part of the plane.
    class_names : sequence of str, optional
        By default the labels.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils import tree
    >>> ax = Figure().subplots()
    >>> machine = tree.DecisionTree().fit([[1.0, 0.0], [2.0, 0.0]], ["a", "b"])
    >>> tree.draw_regions(ax, machine, (0, 3), (-1, 1))
    >>> [label.get_text() for label in ax.texts]
    ['b', 'a']
    """
    from matplotlib.patches import Rectangle
    from scipy.ndimage import distance_transform_edt

    from ..plot import class_style

    check_is_fitted(machine)
    _, classes = machine._names(None, class_names)
    tree = machine.tree_
    if machine.n_features_in_ != 2 or tree._columns.categorical.any():
        raise ValueError(
            f"machine must have two numerical features, it has {machine.n_features_in_}, "
            f"{int(tree._columns.categorical.sum())} of them categorical"
        )
    colors = [class_style(int(a))["color"] for a in tree.answers]
    if not tree._others:
        limits = np.array([xlim, ylim], dtype=np.float64)
        regions = np.clip(boxes(machine), limits[:, :1], limits[:, 1:])
        for n, box in zip(tree.leaves.tolist(), regions, strict=True):
            (x, right), (y, top) = box.tolist()
            if x < right and y < top:
                ax.add_patch(Rectangle((x, y), right - x, top - y, facecolor=colors[n], alpha=0.22, zorder=0))
                ax.add_patch(
                    Rectangle((x, y), right - x, top - y, fill=False, edgecolor="#666666", linewidth=1.0)
                )
                _label(ax, (x + right) / 2, (y + top) / 2, classes[tree.answers[n]])
    else:
        x, y = np.linspace(*xlim, 401), np.linspace(*ylim, 401)
        grid = np.stack(np.meshgrid(x, y), axis=-1)
        reached = tree.reach(np.ascontiguousarray(grid.reshape(-1, 2))).reshape(401, 401)
        for n in np.unique(reached).tolist():
            region = (reached == n).astype(np.float64)
            if region.min() < 1:
                ax.contour(x, y, region, levels=[0.5], colors="#666666", linewidths=1.0)
            ax.contourf(x, y, region, levels=[0.5, 1.5], colors=[colors[n]], alpha=0.22, zorder=0)
            far = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
            row, column = np.unravel_index(int(np.argmax(far)), far.shape)
            if far.max() > 12:  # of 401: a name has room
                _label(ax, x[column], y[row], classes[tree.answers[n]])
    ax.set_xlim(*xlim)
    ax.set_ylim(*ylim)


def _label(ax: "Axes", x: float, y: float, text: str) -> None:
    halo = {"boxstyle": "round,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
    ax.text(x, y, text, ha="center", va="center", bbox=halo, zorder=3)
