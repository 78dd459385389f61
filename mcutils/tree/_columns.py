"""Columns of levels, and how a table becomes numbers."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from .._typing import Bools, Floats, Ints


def column_of(X: Any, j: int) -> Any:
    return X.iloc[:, j] if hasattr(X, "iloc") else np.asarray(X)[:, j]


def is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(value != value)


def _order_of_levels(values: Iterable[Any]) -> list[Any]:
    held = list(values)
    try:
        return sorted(held)
    except TypeError:
        return sorted(held, key=lambda value: (type(value).__name__, str(value)))


class Columns:
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
            column = column_of(X, j)
            values = column.tolist()
            seen = {values[i] for i in rows.tolist() if not is_missing(values[i])}
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
            column = column_of(X, j)
            if not self.categorical[j]:
                encoded[:, j] = check_array(
                    np.asarray(column), dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan"
                )
                continue
            number = {level: float(g) for g, level in enumerate(self.levels[j])}
            none = float(len(number))
            encoded[:, j] = [none if is_missing(v) else number.get(v, -1.0) for v in column.tolist()]
        return encoded


def are_chosen(chosen: NDArray[np.uint8], levels: Floats) -> Bools:
    known = (levels >= 0) & (levels < len(chosen))
    return np.asarray(known & (chosen[np.where(known, levels, 0).astype(np.intp)] == 1))


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


def categorical_columns(categorical: Any, X: Any, d: int) -> Bools:
    """Which columns are categorical."""
    chosen = np.zeros(d, dtype=np.bool_)
    frame = hasattr(X, "columns")
    if categorical is None:
        return chosen
    if isinstance(categorical, str) and categorical == "from_dtype":
        if frame and any(declared := _have_levels(X)):
            chosen[:] = declared
        return chosen
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or indices, names or a mask of columns, "
            f"found {categorical!r}"
        )
    listed = list(categorical)
    if listed and all(isinstance(each, (bool, np.bool_)) for each in listed):
        if len(listed) != d:
            raise ValueError(f"categorical_features is a mask of {len(listed)} entries, X has {d} columns")
        chosen[:] = listed
        return chosen
    for each in listed:
        if isinstance(each, str):
            names = [str(name) for name in X.columns] if frame else []
            if each not in names:
                raise ValueError(f"categorical_features names {each!r}, the columns of X are {names or d}")
            chosen[names.index(each)] = True
        elif isinstance(each, Integral) and -d <= int(each) < d:
            chosen[int(each)] = True
        else:
            raise ValueError(f"categorical_features has {each!r}; allowed are columns 0 to {d - 1}, or names")
    return chosen


@contextmanager
def levels_are_declared(X: Any) -> Iterator[None]:
    """Name the column of a text where a number should be, and how to declare that it is a level."""
    try:
        yield
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        if np.ndim(X) == 0:
            raise  # a text is no table with a column of texts
        names = X.columns if hasattr(X, "columns") else range(np.asarray(X).shape[1])
        for j, name in enumerate(names):
            try:
                np.asarray(column_of(X, j), dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"column {name!r} of X must hold numbers, {error}. Are these levels? Then declare them, "
                    f"by categorical_features=[{name!r}], or in a data frame by astype('category')"
                ) from error
        raise
