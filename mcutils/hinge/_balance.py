"""Multipliers that are balanced: as much flows into every class as out of it."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order

from .._checks import reals
from .._typing import Floats
from ._problem import HingeProblem


def balanced_multipliers(multipliers: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> Floats:
    r"""Multipliers that bound the objective for every bias; see :meth:`HingeProblem.dual_objective`.

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
        :math:`\Delta`: rows are true classes, columns predictions. By default every mistake costs 1.

    Returns
    -------
    (m, k) array
        0 for the true classes.

    Examples
    --------
    >>> balanced_multipliers([[0.0, 0.5], [0.0, 0.5], [0.25, 0.0]], [0, 0, 1])
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
    solved = linprog(
        -worth,
        A_eq=balance.tocsr(),
        b_eq=np.zeros(k),
        bounds=np.column_stack([np.zeros(len(pairs)), most]),
        method="highs-ds",
    )
    if solved.x is not None:
        flow[first, second] *= np.clip(solved.x / most, 0.0, 1.0)
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
