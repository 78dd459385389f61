r"""Stochastic subgradients: many steps of the multi-class SVM, one example each.

The step at time t, on an example with the subgradient :math:`g_t` of its loss, is
:math:`W_{t+1} = (1 - \eta_t \lambda) W_t - \eta_t g_t`. With :math:`\eta_t = 1/(\lambda t)` the shrink is
:math:`(t - 1)/t`, and with :math:`\eta_t = 2/(\lambda (t + 1))` it is :math:`(t - 1)/(t + 1)`. So no step
has to shrink anything:

.. math:: W_{t+1} = \frac1{\lambda t} V_t, \quad V_t = -\sum_{\tau \le t} g_\tau, \qquad\text{or}\qquad
    W_{t+1} = \frac2{\lambda t (t + 1)} V_t, \quad V_t = -\sum_{\tau \le t} \tau g_\tau .

A step only adds multiples of its example to the columns of a few classes, and takes time proportional to
the entries that are not zero. The sum of the iterates, with weights :math:`a_\tau` which are 1 in the first
case and :math:`\tau` in the second, is as lazy. Say :math:`W_\tau = c_\tau V_{\tau-1}` and
:math:`A_t = \sum_{\tau \le t} a_\tau c_\tau`. What step :math:`\tau` added to V is in every later iterate, so
it counts :math:`A_t - A_\tau` times:

.. math:: \sum_{\tau \le t} a_\tau W_\tau = A_t V_t - U_t, \quad
    U_t = \sum_{\tau \le t} A_\tau (V_\tau - V_{\tau-1}) .

A delay of :math:`t_0` lets t begin behind :math:`t_0` steps that are not made: the first ones are smaller
by it, and all else stays as it is.

V and U have a row for each feature and one more for a feature that is always 1, and a column for each class.
"""

import numpy as np

from mcutils.jit import compiled


@compiled
def active(scores, true, costs, every, who, by):
    r"""The subgradient of a loss with respect to the scores, as a short list.

    Parameters
    ----------
    scores : (k,) array
    true : int
        The true class.
    costs : (k, k) array
        The cost of each prediction, a row for each true class.
    every : bool
        Whether every class with a positive gap counts (Weston-Watkins), or the first of the largest only
        (Crammer-Singer).
    who, by : (k,) arrays
        Filled: the classes where it is not 0, the true one last, and its entries.

    Returns
    -------
    n : int
        How many these are; 0 if the loss is 0.
    demand : float
        The costs of these classes in sum.
    """
    n, most, demand = 0, 0.0, 0.0
    behind = -scores[true]
    for r in range(len(scores)):
        if r != true:
            gap = costs[true, r] + scores[r] + behind
            if gap > 0.0:
                if every:
                    who[n], by[n] = r, 1.0
                    demand += costs[true, r]
                    n += 1
                elif gap > most:
                    who[0], by[0] = r, 1.0
                    most, demand = gap, costs[true, r]
                    n = 1
    if n > 0:
        who[n], by[n] = true, -float(n)
        n += 1
    return n, demand


@compiled
def share(similar, who, by, n, others, shares):
    """What a subgradient is for every class, where classes learn from each other: a product of matrices."""
    for r in range(len(similar)):
        others[r], shares[r] = r, 0.0
        for q in range(n):
            shares[r] += similar[r, who[q]] * by[q]
    return len(similar)


@compiled
def dense(
    X,
    y,
    weights,
    costs,
    similar,
    order,
    every,
    rising,
    lazy,
    mode,
    penalty,
    t,
    delay,
    total,
    V,
    U,
    b,
    late,
    counts,
):
    r"""Steps on the rows of a matrix.

    Parameters
    ----------
    X : (m, d) array
    y : (m,) int array
        True classes.
    weights : (m,) array
        Factors of the losses.
    costs : (k, k) array
        The cost of each prediction, a row for each true class.
    similar : (k, k) array, or one without rows
        The products of the rows of a class-sensitive map; without rows for the block map.
    order : (n,) int array
        The examples to be visited.
    every : bool
        See :func:`active`.
    rising : bool
        Which of the two step sizes: True for :math:`2/(\lambda (t + 1))`.
    lazy : bool
        Whether to keep U.
    mode : int
        0 for no intercept, 1 for one that is the coefficient of a feature that is always 1, 2 for one that
        is not regularised and steps by :math:`1/\sqrt t`.
    penalty : float
        :math:`1/\lambda`.
    t : int
        The number of steps before these, with the delay.
    delay : int
        How many of them were none, but only make the first steps smaller.
    total : float
        :math:`A_t`.
    V, U : (d + 1, k) arrays
        Overwritten.
    b, late : (k,) arrays
        The intercept of mode 2, and what U is for it; overwritten.
    counts : (m, k) array, or one without rows
        Where it has rows, the factor of each subgradient in V is added for its example and active classes.

    Returns
    -------
    total : float
        :math:`A_t` after the last step.
    demand : float
        The costs of all active classes in sum, each times the factor of its subgradient in V.
    """
    d, k = X.shape[1], V.shape[1]
    scores, who, by = np.empty(k), np.empty(k, np.intp), np.empty(k)
    others, shares = np.empty(k, np.intp), np.empty(k)
    demand = 0.0
    for i in order:
        t += 1
        scale = 0.0
        if t > 1:
            scale = 2.0 * penalty / ((t - 1.0) * t) if rising else penalty / (t - 1.0)
        factor = weights[i] * t if rising else weights[i]
        total += t * scale if rising else scale
        for r in range(k):
            scores[r] = V[d, r]
        for j in range(d):
            x = X[i, j]
            for r in range(k):
                scores[r] += x * V[j, r]
        for r in range(k):
            scores[r] = scale * scores[r] + b[r]
        n, paid = active(scores, y[i], costs, every, who, by)
        if n == 0:
            continue
        demand += factor * paid
        if mode == 2:
            step = weights[i] / np.sqrt(t - delay)
            before = t * (t + 1.0) / 2.0 if rising else float(t)
            for q in range(n):
                b[who[q]] -= step * by[q]
                late[who[q]] -= before * step * by[q]
        if len(counts) > 0:
            for q in range(n - 1):
                counts[i, who[q]] += factor
        classes, slopes = who, by
        if len(similar) > 0:
            n = share(similar, who, by, n, others, shares)
            classes, slopes = others, shares
        for q in range(n):
            r, move = classes[q], -factor * slopes[q]
            for j in range(d):
                V[j, r] += move * X[i, j]
            if mode == 1:
                V[d, r] += move
            if lazy:
                move *= total
                for j in range(d):
                    U[j, r] += move * X[i, j]
                if mode == 1:
                    U[d, r] += move
    return total, demand


@compiled
def sparse(
    data,
    indices,
    ends,
    y,
    weights,
    costs,
    similar,
    order,
    every,
    rising,
    lazy,
    mode,
    penalty,
    t,
    delay,
    total,
    V,
    U,
    b,
    late,
    counts,
):
    """Steps on the rows of a compressed matrix, in time proportional to its entries; see :func:`dense`.

    Parameters
    ----------
    data, indices, ends : arrays
        Entry p has the value ``data[p]`` and stands in column ``indices[p]``; row i has those from
        ``ends[i]`` to before ``ends[i + 1]``.
    y, weights, costs, similar, order, every, rising, lazy, mode, penalty, t, delay, total, V, U, b, late
        As there.
    counts : array
        As there, and so are the results.
    """
    d, k = V.shape[0] - 1, V.shape[1]
    scores, who, by = np.empty(k), np.empty(k, np.intp), np.empty(k)
    others, shares, full = np.empty(k, np.intp), np.empty(k), np.empty(k)
    demand = 0.0
    for i in order:
        t += 1
        scale = 0.0
        if t > 1:
            scale = 2.0 * penalty / ((t - 1.0) * t) if rising else penalty / (t - 1.0)
        factor = weights[i] * t if rising else weights[i]
        total += t * scale if rising else scale
        for r in range(k):
            scores[r] = V[d, r]
        for p in range(ends[i], ends[i + 1]):
            x, j = data[p], indices[p]
            for r in range(k):
                scores[r] += x * V[j, r]
        for r in range(k):
            scores[r] = scale * scores[r] + b[r]
        n, paid = active(scores, y[i], costs, every, who, by)
        if n == 0:
            continue
        demand += factor * paid
        if mode == 2:
            step = weights[i] / np.sqrt(t - delay)
            before = t * (t + 1.0) / 2.0 if rising else float(t)
            for q in range(n):
                b[who[q]] -= step * by[q]
                late[who[q]] -= before * step * by[q]
        if len(counts) > 0:
            for q in range(n - 1):
                counts[i, who[q]] += factor
        classes, slopes = who, by
        if len(similar) > 0:
            n = share(similar, who, by, n, others, shares)
            classes, slopes = others, shares
        if 2 * n > k:  # most classes: all of them, in their order, take less time than a list
            full[:] = 0.0
            for q in range(n):
                full[classes[q]] = -factor * slopes[q]
            for p in range(ends[i], ends[i + 1]):
                x, j = data[p], indices[p]
                for r in range(k):
                    V[j, r] += x * full[r]
                if lazy:
                    x *= total
                    for r in range(k):
                        U[j, r] += x * full[r]
        else:
            for p in range(ends[i], ends[i + 1]):
                x, j = -factor * data[p], indices[p]
                for q in range(n):
                    V[j, classes[q]] += x * slopes[q]
                if lazy:
                    x *= total
                    for q in range(n):
                        U[j, classes[q]] += x * slopes[q]
        if mode == 1:
            for q in range(n):
                move = -factor * slopes[q]
                V[d, classes[q]] += move
                if lazy:
                    U[d, classes[q]] += total * move
    return total, demand
