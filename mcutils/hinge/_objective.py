"""What the machine minimises, the lower bounds of the dual, and multipliers that are balanced."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order

from .._checks import reals, score_table, switch
from .._typing import Floats
from ._class_map import ClassMap, example_matrix
from ._losses import score_slopes
from ._problem import HingeProblem


def objective(
    W: ArrayLike,
    X: Any,
    problem: HingeProblem | ArrayLike,
    *,
    intercept: ArrayLike | None = None,
    class_map: ClassMap | None = None,
) -> float:
    r""":math:`\frac12 \|W\|_F^2 + C \sum_i s_i \ell_i(W)`, what the machine minimises.

    A bias is not regularised; append a feature that is always 1 for one that is.

    Parameters
    ----------
    W : (k, d) array-like
        A row for each class; with ``class_map`` the (p, d) parameters V, whose norm it then is.
    X : (m, d) array-like or sparse matrix
        The examples.
    problem : HingeProblem or (m,) array-like of int
        Labels alone stand for the problem with these labels and the defaults of :class:`HingeProblem`.
    intercept : (k,) array-like, optional
        What is added to the scores, by default 0.
    class_map : ClassMap, optional
        Another map than the block map.

    Examples
    --------
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> objective([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], X, y)
    2.0
    >>> objective([[0.0, 0.0]] * 3, X, HingeProblem(y, loss="weston_watkins", C=2.0))
    12.0
    """
    V, rows = _parameters(W, X, class_map)
    points, task = _checked(X, problem, len(rows))
    scores = points @ rows.T + _check_intercept(intercept, len(rows))
    paid = task.losses(task.gaps(score_table(scores)))
    return _in_range(float(0.5 * np.vdot(V, V) + task.prices @ paid))


def objective_subgradient(
    W: ArrayLike,
    X: Any,
    problem: HingeProblem | ArrayLike,
    *,
    class_map: ClassMap | None = None,
) -> Floats:
    r"""A subgradient of :func:`objective`, :math:`W + C \sum_i s_i \, g_i x_i^\top`.

    :math:`g_i` is the subgradient of the loss with respect to the scores, with the tie rules of
    :func:`crammer_singer_subgradient` and :func:`weston_watkins_subgradient`. Parameters are those of
    :func:`objective`.

    Returns
    -------
    array of the shape of ``W``

    Examples
    --------
    >>> objective_subgradient([[0.0, 0.0], [0.0, 0.0]], [[1.0, 3.0]], [1])
    array([[ 1.,  3.],
           [-1., -3.]])
    """
    V, rows = _parameters(W, X, class_map)
    points, task = _checked(X, problem, len(rows))
    gaps = task.gaps(score_table(points @ rows.T))
    slopes = task.prices[:, None] * score_slopes(task.loss, gaps, task.labels)
    by_class: Floats = (points.T @ slopes).T
    return V + (by_class if class_map is None else class_map.matrix.T @ by_class)


def dual_objective(
    multipliers: ArrayLike,
    X: Any,
    problem: HingeProblem | ArrayLike,
    *,
    fit_intercept: bool = False,
    class_map: ClassMap | None = None,
) -> float:
    r"""A lower bound of every value of :func:`objective`.

    A Crammer-Singer loss is at least every convex combination of the gaps, a Weston-Watkins loss at least
    every combination with factors between 0 and 1. So for multipliers :math:`A_{ir} \ge 0`, with
    :math:`\sum_{r \ne y_i} A_{ir} \le C s_i` for Crammer-Singer and :math:`A_{ir} \le C s_i` for
    Weston-Watkins, no value is below

    .. math:: \sum_{i,r} A_{ir} \Delta(y_i, r) - \tfrac12 \Big\| \sum_{i,r} A_{ir} (e_{y_i} - e_r) x_i^\top
        \Big\|_F^2 .

    A bias b adds :math:`\sum_{i,r} A_{ir} (b_r - b_{y_i})` to that combination of the gaps. Collected by
    classes, b_y has as its factor what the other classes' examples put on y, less what the examples of y put
    on others. If the two are equal for each class, b drops out, and the bound holds for every bias. See
    :func:`balanced`.

    Parameters
    ----------
    multipliers : (m, k) array-like
        A. The column of the true class is not looked at. It must be feasible up to rounding, 1e-9 of
        :math:`C s_i`, and is scaled down by what it is beyond.
    fit_intercept : bool
        Whether the bound is to hold for every bias. Multipliers that are not balanced, by more than 1e-9 of
        all prices in sum, are then refused.
    X, problem, class_map
        As in :func:`objective`.

    Examples
    --------
    >>> X, y = [[1.0], [-1.0]], [0, 1]
    >>> dual_objective([[0.0, 0.25], [0.25, 0.0]], X, y), objective([[0.5], [-0.5]], X, y)
    (0.25, 0.25)
    """
    fit_intercept = switch(fit_intercept, "fit_intercept")
    A = reals(multipliers, "multipliers").copy()
    m = example_matrix(X).shape[0]
    if A.ndim != 2 or len(A) != m or A.shape[1] < 2:
        raise ValueError(
            f"multipliers must have a row for each of the {m} examples and a column for each of at least two "
            f"classes, found shape {A.shape}"
        )
    k = A.shape[1]
    if class_map is not None and class_map.n_classes != k:
        raise ValueError(f"class_map must be of the {k} classes of multipliers, found {class_map.n_classes}")
    points, task = _checked(X, problem, k)
    A = task.into_bounds(A)
    if fit_intercept:
        unpaid = task.coefficients(A).sum(axis=0)
        if np.abs(unpaid).max() > 1e-9 * task.prices.sum():
            raise ValueError(
                "multipliers must be balanced with an intercept, found that the examples of each class put "
                f"on others, beyond what these put on it: {unpaid.tolist()}"
            )
    linear, square = task.dual_terms(A, points, class_map)
    return _in_range(linear - square)


def balanced(multipliers: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""Multipliers that bound the objective for every bias; see :func:`dual_objective`.

    Let :math:`F_{yr}` be the sum of :math:`A_{ir}` over the examples of class y, what flows from y to r. The
    multipliers of each pair of classes are scaled by one factor between 0 and 1, which keeps them feasible,
    so that as much flows into every class as out of it. Of all such factors those with the most
    :math:`\sum_{i,r} A_{ir} \Delta(y_i, r)` are taken: a linear program of at most k(k - 1) unknowns.

    Parameters
    ----------
    multipliers : (m, k) array-like
        A, not negative. The column of the true class is not looked at.
    y : (m,) array-like of int
        The true classes, 0 to k - 1.
    cost : (k, k) array-like, optional
        :math:`\Delta`: rows are true classes, columns answers. By default every mistake costs 1.

    Returns
    -------
    (m, k) array
        0 for the true classes.

    Examples
    --------
    >>> balanced([[0.0, 0.5], [0.0, 0.5], [0.25, 0.0]], [0, 0, 1])
    array([[0.   , 0.125],
           [0.   , 0.125],
           [0.25 , 0.   ]])
    """
    from scipy.optimize import linprog  # loaded when it is needed

    A = reals(multipliers, "multipliers").copy()
    if A.ndim != 2 or len(A) < 1 or A.shape[1] < 2:
        raise ValueError(
            "multipliers must have a row for each example and a column for each of at least two classes, "
            f"found shape {A.shape}"
        )
    problem = HingeProblem.of(HingeProblem(y, cost=cost, n_classes=A.shape[1]), len(A))
    labels = problem.labels
    problem.without_true_classes(A)
    if A.min() < 0:
        raise ValueError("multipliers must be finite and not negative")
    k = problem.n_classes
    flow = np.zeros((k, k))
    np.add.at(flow, labels, A)
    first, second = np.nonzero(flow)
    if not len(first):
        return A
    most = flow[first, second] / flow.max()
    pairs = np.arange(len(first))
    rows, columns = np.concatenate([first, second]), np.concatenate([pairs, pairs])
    balance = coo_array((np.repeat([1.0, -1.0], len(pairs)), (rows, columns)), shape=(k, len(pairs)))
    worth = problem.costs[first, second]
    answer = linprog(
        -worth,
        A_eq=balance.tocsr(),
        b_eq=np.zeros(k),
        bounds=np.column_stack([np.zeros(len(pairs)), most]),
        method="highs-ds",
    )
    if answer.x is not None:
        flow[first, second] *= np.clip(answer.x / most, 0.0, 1.0)
    before = np.zeros((k, k))
    np.add.at(before, labels, A)
    _cancel(flow)  # the solver's balance is not exact
    kept = np.divide(flow, before, out=np.zeros((k, k)), where=before > 0)
    scaled = A * kept[labels]
    if np.abs(problem.coefficients(scaled).sum(axis=0)).max() > 1e-11 * before.sum():
        scaled[:] = 0.0  # feasible, whatever went wrong
    return scaled


def _cancel(flow: Floats) -> None:
    """Take away what flows from classes with more out than in, along paths to those with more in than out."""
    least = 1e-15 * flow.sum()
    for _ in range(2 * flow.size):  # each path empties a pair, or balances a class
        excess = flow.sum(axis=1) - flow.sum(axis=0)
        start = int(excess.argmax())
        reached, before = breadth_first_order(csr_array(flow > 0), start)
        ends = reached[excess[reached] < 0]
        if excess[start] <= least or not len(ends):
            return
        path = [int(ends[0])]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
        pairs = path[1:], path[:-1]
        taken = min(excess[start], -excess[ends[0]], flow[pairs].min())
        flow[pairs] = np.maximum(flow[pairs] - taken, 0.0)


def _checked(X: Any, problem: HingeProblem | ArrayLike, k: int) -> tuple[Any, HingeProblem]:
    points = example_matrix(X)
    return points, HingeProblem.of(problem, points.shape[0], k, "X")


def _parameters(W: ArrayLike, X: Any, class_map: ClassMap | None) -> tuple[Floats, Floats]:
    """The parameters, and the rows of the classes that they make."""
    V = reals(W, "W")
    if V.ndim != 2 or np.ndim(X) != 2 or V.shape[1] != np.shape(X)[1]:
        raise ValueError(
            f"W must be a matrix with a column for each feature of X, found the shapes {V.shape} "
            f"and {np.shape(X)}"
        )
    return V, V if class_map is None else class_map.to_rows(V)


def _check_intercept(intercept: ArrayLike | None, k: int) -> Floats:
    found = np.zeros(k) if intercept is None else reals(intercept, "intercept")
    if found.shape != (k,):
        raise ValueError(f"intercept must be a number for each of the {k} classes, found shape {found.shape}")
    return found


def _in_range(value: float) -> float:
    if not isfinite(value):
        raise ValueError("the value leaves the range of floating point; scale X, W or C")
    return value
