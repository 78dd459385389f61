r"""Visits of the perceptron of k classes: a linear classifier, one example after the other.

A step at a mistake adds multiples of its example to the columns of a few classes of V, in time proportional
to the entries that are not zero. The average over all steps is as lazy. What is added at time t, after t
steps, is in all later classifiers but not in the t before: with

.. math:: U = \sum_t t \, (V_{t+1} - V_t)

the mean of the classifiers after each of T steps is :math:`V - U / T`.

V and U have a row for each feature and one more for a feature that is always ``one``, and a column for each
class.
"""

import numpy as np

from mcutils.jit import compiled


@compiled
def step(update, scores, true, weight, costs, square, who, by):
    """What each class moves by, as a short list: what ``mcutils.perceptron`` does with arrays.

    Parameters
    ----------
    update : int
        0 for "top", 1 for "uniform", 2 for "proportional", 3 for "mira"; less than 0 to list the rivals only.
    scores : (k,) array
    true : int
        The true class.
    weight : float
        That of the example.
    costs : (k, k) array
        The cost of each prediction, a row for each true class.
    square : float
        The squared norm of the example, for "mira".
    who, by : (k,) arrays
        Filled: the rivals that pay and then the true class, and what they move by.

    Returns
    -------
    int
        How many these are; 0 if there is no mistake.
    """
    n, top = 0, 0
    for r in range(len(scores)):
        if costs[true, r] > 0.0 and scores[r] >= scores[true]:
            if n == 0 or scores[r] > scores[top]:
                top = r
            who[n] = r
            n += 1
    if n == 0 or update < 0:
        return n
    length = weight * costs[true, top]
    half = 1.0
    if np.isinf(scores[top] - scores[true]):
        half = 0.5  # the lead overflows, that of half the scores does not
    lead = half * scores[top] - half * scores[true]
    if update == 0:
        n = 1
        who[0], by[0] = top, 1.0
    elif update == 2 and lead > 0.0:
        for q in range(n):
            by[q] = (half * scores[who[q]] - half * scores[true]) / lead
    elif update == 3:
        # how far below the largest score the level lies, above which all pay
        behind = np.empty(n)
        for q in range(n):
            behind[q] = scores[top] - scores[who[q]]
        ordered, together, level = np.sort(behind), 0.0, 0.0
        for q in range(n):
            together += ordered[q]
            below = (together + length * square) / (q + 1.0)
            if below <= ordered[q]:
                break
            level = below
        for q in range(n):
            if level > 0.0:
                by[q] = max(level - behind[q], 0.0)
            else:  # the example is 0
                by[q] = 1.0 if behind[q] == 0.0 else 0.0
    else:
        for q in range(n):
            by[q] = 1.0
    total = 0.0
    for q in range(n):
        total += by[q]
    for q in range(n):
        by[q] = -length * (by[q] / total)
    who[n], by[n] = true, length
    return n + 1


@compiled
def move_dense(X, i, one, t, who, by, n, V, U):
    """Add multiples of row i to the columns of some classes."""
    d = X.shape[1]
    for q in range(n):
        r, late = who[q], by[q] * t
        for j in range(d):
            V[j, r] += by[q] * X[i, j]
            U[j, r] += late * X[i, j]
        V[d, r] += by[q] * one
        U[d, r] += late * one


@compiled
def move_sparse(data, indices, ends, i, one, t, who, by, n, V, U):
    """Add multiples of row i to the columns of some classes."""
    d, k = V.shape[0] - 1, V.shape[1]
    if 3 * n > k:  # many classes: all of them, in their order, take less time than a list
        full = np.zeros(k)
        for q in range(n):
            full[who[q]] = by[q]
        for p in range(ends[i], ends[i + 1]):
            x, j = data[p], indices[p]
            for r in range(k):
                V[j, r] += full[r] * x
            x *= t
            for r in range(k):
                U[j, r] += full[r] * x
    else:
        for p in range(ends[i], ends[i + 1]):
            x, j = data[p], indices[p]
            for q in range(n):
                V[j, who[q]] += by[q] * x
                U[j, who[q]] += by[q] * t * x
    for q in range(n):
        V[d, who[q]] += by[q] * one
        U[d, who[q]] += by[q] * t * one


@compiled
def visit_dense(
    X, y, weights, costs, squares, order, update, one, t, start, made, V, U, scores, places, lengths, moves
):
    """Visit some examples, the rows of a matrix.

    Parameters
    ----------
    X : (m, d) array
    y : (m,) int array
        True classes.
    weights : (m,) array
        Of the examples.
    costs : (k, k) array
        The cost of each prediction, a row for each true class.
    squares : (m,) array
        The squared norms of the examples, for "mira".
    order : (n,) int array
        The examples to be visited.
    update : int
        See :func:`step`; less than 0 to stop at a mistake.
    one : float
        The feature that is always the same: 1, or 0 for no intercept.
    t : int
        The number of steps before the whole order.
    start, made : int
        From which place of the order on, and the number of mistakes before it.
    V, U : (d + 1, k) arrays
        Overwritten.
    scores : (k,) array
        Overwritten: those of the example visited last.
    places, lengths : (n,) int array, (n,) array
        Filled: the places of the mistakes, and what the true class moved by.
    moves : (n, k) array, or one without rows
        If it has rows, filled: what the classes moved by.

    Returns
    -------
    place : int
        Where it stopped: behind the last, or at scores that are not finite, or at a mistake.
    made : int
        The number of mistakes.
    """
    d, k = X.shape[1], V.shape[1]
    who, by = np.empty(k, np.intp), np.empty(k)
    for place in range(start, len(order)):
        i = order[place]
        for r in range(k):
            scores[r] = V[d, r] * one
        for j in range(d):
            x = X[i, j]
            for r in range(k):
                scores[r] += x * V[j, r]
        if not np.isfinite(scores).all():
            return place, made
        n = step(update, scores, y[i], weights[i], costs, squares[i], who, by)
        if n > 0:
            if update < 0:
                return place, made
            move_dense(X, i, one, t + place, who, by, n, V, U)
            places[made], lengths[made] = place, by[n - 1]
            if len(moves) > 0:
                for q in range(n):
                    moves[made, who[q]] = by[q]
            made += 1
    return len(order), made


@compiled
def visit_sparse(
    data,
    indices,
    ends,
    y,
    weights,
    costs,
    squares,
    order,
    update,
    one,
    t,
    start,
    made,
    V,
    U,
    scores,
    places,
    lengths,
    moves,
):
    """Visit some examples, the rows of a compressed matrix, in time proportional to its entries.

    Parameters
    ----------
    data, indices, ends : arrays
        Entry p has the value ``data[p]`` and stands in column ``indices[p]``; row i has those from
        ``ends[i]`` to before ``ends[i + 1]``.
    y, weights, costs, squares, order, update, one, t, start, made, V, U, scores, places, lengths, moves
        As in :func:`visit_dense`, and so are the results.
    """
    d, k = len(V) - 1, V.shape[1]
    who, by = np.empty(k, np.intp), np.empty(k)
    for place in range(start, len(order)):
        i = order[place]
        for r in range(k):
            scores[r] = V[d, r] * one
        for p in range(ends[i], ends[i + 1]):
            x, j = data[p], indices[p]
            for r in range(k):
                scores[r] += x * V[j, r]
        if not np.isfinite(scores).all():
            return place, made
        n = step(update, scores, y[i], weights[i], costs, squares[i], who, by)
        if n > 0:
            if update < 0:
                return place, made
            move_sparse(data, indices, ends, i, one, t + place, who, by, n, V, U)
            places[made], lengths[made] = place, by[n - 1]
            if len(moves) > 0:
                for q in range(n):
                    moves[made, who[q]] = by[q]
            made += 1
    return len(order), made
