"""Checks of arguments: each returns the checked value, or raises a ``ValueError`` that names the argument.

Each sentence has the same form: the argument, what it must be, and what was found.
"""

from collections.abc import Callable, Collection
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._typing import Floats, Ints, RandomState


def switch(value: Any, name: str) -> bool:
    """True or False, of Python or of numpy; a text such as "no" would count as true.

    >>> switch(False, "warm_start")
    False
    >>> switch("no", "warm_start")
    Traceback (most recent call last):
        ...
    ValueError: warm_start must be True or False, found 'no'
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, found {value!r}")
    return bool(value)


def integer(
    value: Any, name: str, least: int, most: int | None = None, *, feasible: int | None = None
) -> int:
    """An integer that is at least ``least`` and at most ``most``; True is none, and neither is 2.0.

    What is beyond ``feasible`` would mean something, but take more time or memory than there is.

    >>> integer(np.int32(3), "bins", 1)
    3
    >>> integer(2.5, "bins", 1)
    Traceback (most recent call last):
        ...
    ValueError: bins must be an integer, at least 1, found 2.5
    """
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least or (most is not None and value > most):
        limits = f", at least {least}" if most is None else f" from {least} to {most}"
        raise ValueError(f"{name} must be an integer{limits}, found {value!r}")
    if feasible is not None and value > feasible:
        raise ValueError(f"{name} must be at most {feasible}: more cannot be computed, found {value!r}")
    return int(value)


def verbosity(value: Any, name: str = "verbose") -> int:
    """How much is said: an integer, at least 0; True is 1.

    >>> verbosity(True)
    1
    >>> verbosity(-1)
    Traceback (most recent call last):
        ...
    ValueError: verbose must be True, False or an integer, at least 0, found -1
    """
    if not isinstance(value, (bool, np.bool_, Integral)) or value < 0:
        raise ValueError(f"{name} must be True, False or an integer, at least 0, found {value!r}")
    return int(value)


def number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """A finite real number within the bounds given; True is none, and neither is "1".

    >>> number(0.5, "C", above=0)
    0.5
    >>> number(float("nan"), "C", above=0)
    Traceback (most recent call last):
        ...
    ValueError: C must be a positive, finite number, found nan
    """
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    inside = (
        real
        and np.isfinite(float(value))
        and (above is None or value > above)
        and (least is None or value >= least)
        and (below is None or value < below)
        and (most is None or value <= most)
    )
    if not inside:
        bounds = {"above": above, "at least": least, "below": below, "at most": most}
        limits = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
        if limits == "above 0":
            raise ValueError(f"{name} must be a positive, finite number, found {value!r}")
        raise ValueError(f"{name} must be a finite number{', ' if limits else ''}{limits}, found {value!r}")
    return float(value)


def one_of(value: Any, name: str, allowed: Collection[str]) -> str:
    """One of the names in ``allowed``.

    >>> one_of("hinge", "loss", ("exponential", "logistic"))
    Traceback (most recent call last):
        ...
    ValueError: loss must be one of 'exponential', 'logistic', found 'hinge'
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, found {value!r}")
    return value


def name_or_function(value: Any, name: str, allowed: Collection[str], function: str) -> None:
    """One of the allowed names, or any function; ``function`` says what it should be.

    >>> name_or_function("gain", "criterion", ("gini", "entropy"), "a concave function")
    Traceback (most recent call last):
        ...
    ValueError: criterion must be one of ('gini', 'entropy') or a concave function, found 'gain'
    """
    if not callable(value) and not (isinstance(value, str) and value in allowed):
        raise ValueError(f"{name} must be one of {allowed} or {function}, found {value!r}")


def or_name(other: str | None, check: Callable[..., Any], value: Any, name: str, *limits: Any) -> Any:
    """A name, or what another check lets through.

    >>> or_name("radius", integer, -1, "delay", 0)
    Traceback (most recent call last):
        ...
    ValueError: delay must be 'radius' or an integer, at least 0, found -1
    """
    if value is other or (isinstance(value, str) and value == other):
        return value
    try:
        return check(value, name, *limits)
    except ValueError as error:
        raise ValueError(str(error).replace(" must be ", f" must be {other!r} or ", 1)) from None


def or_none(check: Callable[..., Any], value: Any, name: str, *limits: Any, **more: Any) -> Any:
    """None, or what another check lets through.

    >>> or_none(integer, 0, "max_depth", 1)
    Traceback (most recent call last):
        ...
    ValueError: max_depth must be None or an integer, at least 1, found 0
    """
    return or_name(None, partial(check, **more), value, name, *limits)


def seed(value: Any, name: str = "random_state") -> None:
    """What scikit-learn's ``check_random_state`` takes: it need not be drawn from to be checked.

    >>> seed("abc")
    Traceback (most recent call last):
        ...
    ValueError: random_state must be None, an integer from 0 to 4294967295 or a RandomState, found 'abc'
    """
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    known = value is None or value is np.random or isinstance(value, np.random.RandomState)
    if not known and not (whole and 0 <= value < 2**32):
        raise ValueError(
            f"{name} must be None, an integer from 0 to {2**32 - 1} or a RandomState, found {value!r}"
        )


def generator(random_state: RandomState) -> np.random.Generator:
    """The numpy Generator that draws for a ``random_state``; from a RandomState it takes its seed.

    >>> generator(0).random() == generator(0).random()
    True
    >>> generator("abc")
    Traceback (most recent call last):
        ...
    ValueError: random_state must be None, an integer of at least 0, a Generator or a RandomState, found 'abc'
    """
    if isinstance(random_state, np.random.RandomState):
        # scikit-learn's convention: the object is shared, and using it advances it
        return np.random.default_rng(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, Integral) and not isinstance(random_state, (bool, np.bool_))
    known = random_state is None or isinstance(random_state, np.random.Generator)
    if not known and not (whole and int(random_state) >= 0):  # type: ignore[arg-type]
        raise ValueError(
            "random_state must be None, an integer of at least 0, a Generator or a RandomState, "
            f"found {random_state!r}"
        )
    return np.random.default_rng(random_state)


def entries(value: Any, name: str, what: str) -> list[Any]:
    """The entries of a list, a tuple, a vector or whatever gives them one by one; a text is one thing.

    >>> entries(3, "candidates", "a list of estimators")
    Traceback (most recent call last):
        ...
    ValueError: candidates must be a list of estimators, found 3
    """
    try:
        if isinstance(value, (bytes, dict, set)):
            raise TypeError
        return list(value)
    except TypeError:
        raise ValueError(f"{name} must be {what}, found {value!r}") from None


def function(value: Any, name: str, what: str) -> None:
    """Something that can be called.

    >>> function(2, "decode", "a function of the outputs")
    Traceback (most recent call last):
        ...
    ValueError: decode must be a function of the outputs, found 2
    """
    if not callable(value):
        raise ValueError(f"{name} must be {what}, found {value!r}")


def divided(cv: Any, X: Any, labels: NDArray[Any], name: str = "cv") -> list[tuple[Any, Any]]:
    """The folds that scikit-learn makes of an integer, a splitter, a list of pairs or None."""
    from sklearn.model_selection import check_cv  # loaded when it is needed

    reason: Exception | None = None
    try:
        folds = [(train, test) for train, test in check_cv(cv, labels, classifier=True).split(X, labels)]
    except (TypeError, ValueError) as error:
        folds, reason = [], error
    if not folds:
        raise ValueError(
            f"{name} must be a number of folds, a splitter of scikit-learn or pairs (train, test) that fit "
            f"these examples, found {cv!r}{f': {reason}' if reason else ''}"
        ) from reason
    return folds


def axes_to_draw_in(ax: Any) -> None:
    """The axes to draw in. Their class is not asked for: matplotlib is loaded only where somebody draws."""
    if not hasattr(ax, "transData"):
        raise ValueError(f"ax must be an Axes of matplotlib, found {ax!r}")


MOST_JOBS = 10_000  # more processes no machine starts


def jobs(value: Any, name: str = "n_jobs") -> None:
    """What joblib takes for a number of workers: None, or an integer other than 0.

    >>> jobs(0)
    Traceback (most recent call last):
        ...
    ValueError: n_jobs must be None or an integer from -10000 to 10000 other than 0, found 0
    """
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if value is not None and not (whole and 0 < abs(int(value)) <= MOST_JOBS):
        raise ValueError(
            f"{name} must be None or an integer from -{MOST_JOBS} to {MOST_JOBS} other than 0, "
            f"found {value!r}"
        )


def in_memory(values: Any) -> Any:
    """The values themselves; of a Dask collection, which would be computed anew at each look, its values.

    >>> in_memory([1, 2])
    [1, 2]
    """
    return values.compute() if hasattr(values, "__dask_graph__") else values


def array(values: Any, name: str) -> NDArray[Any]:
    """An array of anything: rows of several lengths are none.

    >>> array([[1, 2], [3]], "cost")
    Traceback (most recent call last):
        ...
    ValueError: cost must be an array, found rows of different lengths
    """
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array, found rows of different lengths") from None


def reals(values: ArrayLike, name: str, *, infinite: bool = False) -> Floats:
    """Real numbers as an array of float64, of any shape: no text, no complex numbers and no NaN.

    >>> reals([1, 2], "scores")
    array([1., 2.])
    >>> reals([1.0, float("nan")], "scores")
    Traceback (most recent call last):
        ...
    ValueError: scores must be finite, found nan
    """
    matrix = array(values, name)
    if matrix.dtype == object:
        bad = [entry for entry in matrix.flat if not isinstance(entry, Real)]
        if bad:
            raise ValueError(f"{name} must be real numbers, found {bad[0]!r}")
    elif matrix.dtype.kind not in "buif":
        raise ValueError(f"{name} must be real numbers, found dtype {matrix.dtype}")
    matrix = matrix.astype(np.float64, copy=False)
    wrong = np.isnan(matrix) if infinite else ~np.isfinite(matrix)
    if wrong.any():
        raise ValueError(f"{name} must be {'numbers' if infinite else 'finite'}, found {matrix[wrong][0]}")
    return matrix


def numbers_as_given(values: ArrayLike, name: str) -> NDArray[Any]:
    """Finite real numbers: float64, or fractions as they are."""
    floats = reals(values, name)
    given = array(values, name)
    return given if given.dtype == object else floats


def number_that(value: Any, name: str, allowed: str, ok: Callable[[float], bool]) -> float:
    """A finite real number that passes a test, which ``allowed`` describes.

    >>> number_that(-1.0, "gamma", "'scale' or a positive number", lambda v: v > 0)
    Traceback (most recent call last):
        ...
    ValueError: gamma must be 'scale' or a positive number, found -1.0
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} must be {allowed}, found {value!r}")
    number = float(value)
    if not (np.isfinite(number) and ok(number)):
        raise ValueError(f"{name} must be {allowed}, found {value!r}")
    return number


def kernel_parameters(gamma: Any, degree: Any, coef0: Any) -> None:
    """The parameters of the named kernels. They are checked for every kernel, so that no slip is silent."""
    if not (isinstance(gamma, str) and gamma in ("scale", "auto")):
        number_that(gamma, "gamma", "'scale', 'auto' or a positive number", lambda v: v > 0)
    integer(degree, "degree", 1)
    number_that(coef0, "coef0", "a number, at least 0", lambda v: v >= 0)


def point_matrix(X: Any, name: str, columns: int | None = None) -> Any:
    """X as a float64 matrix with a row for each input; in CSR format if it is sparse."""
    from scipy.sparse import csr_array, issparse  # loaded when it is needed

    points = csr_array(X) if issparse(X) else array(X, name)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(f"{name} must be a matrix with a row for each input, found shape {points.shape}")
    if points.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers, found entries of type {points.dtype}")
    if not np.isfinite(points.data if issparse(X) else points).all():
        raise ValueError(f"{name} must be finite, found NaN or infinity")
    if columns is not None and points.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, as X has, found {points.shape[1]}")
    return points.astype(np.float64, copy=False)


def score_table(scores: ArrayLike, name: str = "scores") -> Floats:
    """Finite scores, with a row for each example and a column for each of at least two classes."""
    matrix = array(scores, name)
    if matrix.ndim != 2 or matrix.shape[0] < 1 or matrix.shape[1] < 2:
        raise ValueError(
            f"{name} must be a matrix with a row for each of at least one example and a column for each of "
            f"at least two classes, found shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be real numbers, found dtype {matrix.dtype}")
    matrix = matrix.astype(np.float64, copy=False)
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite, found {matrix[~np.isfinite(matrix)][0]}")
    return matrix


def class_labels(y: ArrayLike, m: int, k: int) -> Ints:
    """The classes of m examples, integers from 0 to k - 1."""
    labels = array(y, "y")
    if labels.shape != (m,):
        raise ValueError(f"y must have one class for each of the {m} examples, found shape {labels.shape}")
    if labels.dtype.kind not in "iu":
        raise ValueError(f"y must be integers, the true classes, found dtype {labels.dtype}")
    if labels.min() < 0 or labels.max() >= k:
        bad = labels[(labels < 0) | (labels >= k)][0]
        raise ValueError(f"y must be integers from 0 to {k - 1}, found {bad}")
    return labels.astype(np.intp)


def table_of_costs(cost: ArrayLike) -> NDArray[Any]:
    """The cost of each prediction (column) where a class (row) is true: see ``risk.check_costs``."""
    costs = numbers_as_given(cost, "cost")
    if costs.ndim != 2 or costs.shape[0] < 2 or costs.shape[1] < costs.shape[0]:
        raise ValueError(
            "cost must be a matrix with a row for each of at least two classes and a column for each class, "
            f"then perhaps for further predictions, found shape {costs.shape}"
        )
    if costs.min() < 0:
        raise ValueError(f"cost must be finite and not negative, found {costs.min()}")
    right = np.diagonal(costs)
    if (right != 0).any():
        y = int(np.argmax(right != 0))
        raise ValueError(
            f"cost of a right prediction must be 0, found {right[y]} for class {y} (counted from 0)"
        )
    return costs


def cost_matrix(cost: ArrayLike | None, k: int) -> Floats:
    """The costs of k classes as floats: 1 for every mistake where none are given."""
    if cost is None:
        return 1.0 - np.eye(k)
    costs: Floats = table_of_costs(cost).astype(np.float64)
    if costs.shape != (k, k):
        raise ValueError(
            f"cost must have a row and a column for each of the {k} classes, found shape {costs.shape}"
        )
    return costs


# A Gram matrix is compared with its mirror by this many rows at a time.
_BLOCK = 512


def gram_matrix(gram: ArrayLike) -> Floats:
    """A symmetric matrix of finite numbers whose minors of two rows are not negative, up to rounding."""
    matrix = array(gram, "gram")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"gram must be a square matrix, found shape {matrix.shape}")
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"gram must hold real numbers, found entries of type {matrix.dtype}")
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("gram must be finite, found NaN or infinity")
    diagonal = np.diag(matrix)
    rounding = 8 * len(matrix) * float(np.finfo(np.float64).eps) * float(np.abs(diagonal).max())
    if diagonal.min() < -rounding:
        i = int(diagonal.argmin())
        raise ValueError(
            f"gram is no Gram matrix: its entry ({i}, {i}), counted from 0, is {diagonal[i]:.4g}"
        )
    root = np.sqrt(np.maximum(diagonal, 0.0))
    for start in range(0, len(matrix), _BLOCK):
        rows = slice(start, start + _BLOCK)
        skew = np.abs(matrix[rows] - matrix[:, rows].T)
        excess = np.abs(matrix[rows]) - root[rows, None] * root
        for fault, text in ((skew, "is not that of its mirror"), (excess, "is beyond its diagonal")):
            if fault.max() > rounding:
                row, j = np.unravel_index(int(fault.argmax()), fault.shape)
                raise ValueError(
                    f"gram is no Gram matrix: its entry ({int(row) + start}, {j}), counted from 0, {text} "
                    f"by {fault.max():.3g}"
                )
    return matrix


def squarable(X: Any, name: str = "X") -> None:
    """Refuse an array or a csr matrix whose squares add up to more than floating point holds.

    >>> squarable(np.array([[3.0, 1e200]]))
    Traceback (most recent call last):
        ...
    ValueError: X must be scaled: its squares are beyond floating point, found entries up to 1e+200
    """
    entries = (X.data if hasattr(X, "indptr") else X).ravel(order="K")
    with np.errstate(over="ignore"):
        if np.isfinite(entries @ entries):
            return
    raise ValueError(
        f"{name} must be scaled: its squares are beyond floating point, "
        f"found entries up to {np.abs(entries).max():.3g}"
    )
