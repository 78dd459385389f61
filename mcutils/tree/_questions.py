"""Questions, and the names of their families."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Bools, Floats, Ints
from ._columns import Columns, column_of, is_missing

FAMILIES = ("numerical", "categorical", "oblique", "sphere")
"""The names of the families of questions."""

# What arrays of features have for a question that is neither numerical nor categorical.
OTHER = -2


def _name(j: int, names: Sequence[str] | None) -> str:
    return f"x{j + 1}" if names is None else str(names[j])


def _numbers(X: Any, columns: Ints) -> Floats:
    """Columns as numbers, rows contiguous: sums along them do not depend on how many rows there are."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and len(columns) == X.shape[1]:
        return np.ascontiguousarray(X)
    return np.stack([np.asarray(column_of(X, int(j)), dtype=np.float64) for j in columns], axis=1)


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
        return np.asarray(np.asarray(column_of(X, self.feature), dtype=np.float64) <= self.threshold)

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
        values = column_of(X, self.feature).tolist()
        return np.array([not is_missing(v) and v in held for v in values], dtype=np.bool_)

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


def make_question(
    feature: int,
    threshold: float,
    members: NDArray[np.uint8] | None,
    columns: Columns,
    other: Any,
) -> Any:
    if feature == OTHER:
        return other
    if feature in columns.levels and members is not None:
        levels = columns.levels[feature]
        return Categorical(feature, tuple(levels[g] for g in np.flatnonzero(members).tolist()))
    return Numerical(feature, float(threshold))


def question_text(question: Any, names: Sequence[str] | None) -> str:
    return str(question.text(names)) if hasattr(question, "text") else repr(question)


def check_families(questions: Any) -> tuple[Any, ...]:
    if not (isinstance(questions, (str, Iterable)) or callable(questions)):
        raise ValueError(f"questions must be among {FAMILIES}, or functions, found {questions!r}")
    families = (questions,) if isinstance(questions, str) or callable(questions) else tuple(questions)
    for family in families:
        if not callable(family) and not (isinstance(family, str) and family in FAMILIES):
            raise ValueError(f"questions must be among {FAMILIES}, or functions, found {family!r}")
    if not families:
        raise ValueError("questions must name at least one family, found none")
    return families
