r"""The multi-class SVM in its dual, one example at a time (alg-solver-block).

The unknowns are the coefficients :math:`\beta_{ir}` of :math:`f_r = \sum_i \beta_{ir} K(x_i, \cdot)`: the
multipliers with their sign, :math:`\beta_{ir} = -\alpha_{ir}` for :math:`r \ne y_i`, and
:math:`\beta_{iy_i} = \sum_{r \ne y_i} \alpha_{ir}`. The dual is to minimise

.. math:: \tfrac12 \sum_r \beta_r^\top \mathbf K \beta_r + \sum_{ir} \Delta(y_i, r) \beta_{ir}, \qquad
   \sum_r \beta_{ir} = 0,

for Crammer and Singer with :math:`\beta_{ir} \le 0` for :math:`r \ne y_i` and :math:`\beta_{iy_i} \le C_i`,
for Weston and Watkins with :math:`-C_i \le \beta_{ir} \le 0` for :math:`r \ne y_i`. Its gradient is the
*appeal* of a class, :math:`a_{ir} = \Delta(y_i, r) + f_r(x_i)`. While all other rows stay, one row has the
same curvature :math:`A = K(x_i, x_i)` in every direction, so that its minimum is found in a few passes over
its classes: :func:`simplex_step` and :func:`box_step`.

``climb`` moves the examples of a working set, the worst first, and keeps the scores of all. ``dense`` and
``sparse`` visit the rows of X one after the other, and keep W.
"""

import numpy as np

from mcutils.jit import compiled, sums_in_any_order

# ---------------------------------------------------------------------------------------------------
# One example


@compiled
def simplex_step(appeal, beta, true, penalty, curvature, moved):
    r"""The best row of Crammer and Singer while all others stay (lem-solver-simplex).

    With :math:`z_r = a_r - A \beta_r` and the caps :math:`c_r`, C for the true class and 0 for the others, it
    is :math:`\min(c_r, (b - z_r) / A)` with the b for which its sum is 0, that is

    .. math:: \sum_r \max(0, z_r + A c_r - b) = A C .

    The left side is convex in b and falls, and at :math:`\max_r (z_r + A c_r) - A C` it is no less than the
    right one. So Newton's steps from there never pass the root, and every step but the last leaves out a
    class for good: no sorting, and at most k - 1 steps.

    Parameters
    ----------
    appeal, beta : (k,) arrays
        The gradient, and the row as it is.
    true : int
        The true class; -1 if only other classes are looked at, and that of the true one is C.
    penalty, curvature : float
        C and A. Without curvature the true class takes all from the class of the largest appeal.
    moved : (k,) array
        Filled: the best row.
    """
    if curvature <= 0.0:
        moved[:] = 0.0
        moved[np.argmax(appeal)] -= penalty
        if true >= 0:
            moved[true] += penalty
        return
    room = curvature * penalty
    highest = -np.inf
    for r in range(len(beta)):
        moved[r] = appeal[r] - curvature * beta[r]
        if r == true:
            moved[r] += room
        highest = max(highest, moved[r])
    b = -room  # counted from the highest, so that no digits are lost
    while True:
        excess, count = -room, 0
        for r in range(len(beta)):
            if moved[r] - highest > b:
                excess += moved[r] - highest - b
                count += 1
        if excess <= 1e-15 * room or b + excess / count <= b:  # the step is less than a digit of b
            break
        b += excess / count
    for r in range(len(beta)):
        moved[r] = min(0.0, (b - (moved[r] - highest)) / curvature)
    if true >= 0:
        moved[true] += penalty


@compiled
def pair_step(appeal, beta, true, penalty, curvature, moved):
    """:func:`simplex_step` where two classes remain: what one gains the other loses, until one is at its cap.

    Parameters are those of :func:`simplex_step`; the curvature is positive.
    """
    down = 0 if appeal[0] > appeal[1] else 1
    up = 1 - down
    cap = penalty if up == true else 0.0
    gain = (appeal[down] - appeal[up]) / (2.0 * curvature)
    if gain < cap - beta[up]:
        moved[up] = beta[up] + gain
        moved[down] = beta[down] - gain
    else:
        moved[up] = cap
        moved[down] = beta[down] - (cap - beta[up])


@compiled
def box_step(appeal, beta, true, penalty, curvature, moved):
    r"""The best row of Weston and Watkins while all others stay (lem-solver-box).

    With the gaps :math:`g_r = a_r - a_y` and the sum :math:`s_0` of the multipliers as they are, the best are
    :math:`\alpha_r(s) = \min(C, \max(0, \alpha_r + g_r / A + s_0 - s))` for the s that is their own sum.
    :math:`\sum_r \alpha_r(s) - s` is piecewise linear and falls with a slope of at least 1. A Newton step
    that stays where the root must be, or else the middle of it, leads there.

    Parameters are those of :func:`simplex_step`. What ``beta[true]`` is beyond the multipliers here belongs
    to classes that are not looked at.
    """
    elsewhere = beta[true]
    for r in range(len(beta)):
        if r != true:
            elsewhere += beta[r]
    low, high = elsewhere, elsewhere + (len(beta) - 1) * penalty
    s = beta[true]
    if curvature > 0.0:
        for r in range(len(beta)):
            moved[r] = (appeal[r] - appeal[true]) / curvature - beta[r] + s
    else:  # each multiplier by itself, 0 or C
        for r in range(len(beta)):
            moved[r] = np.inf if appeal[r] > appeal[true] else -np.inf
    rounding = 1e-15 * (abs(s) + high)
    while curvature > 0.0 and high - low > rounding:
        total, free = elsewhere, 0
        for r in range(len(beta)):
            if r != true and moved[r] > s:
                if moved[r] - s < penalty:
                    total += moved[r] - s
                    free += 1
                else:
                    total += penalty
        if abs(total - s) <= rounding:
            break
        if total > s:
            low = s
        else:
            high = s
        s += (total - s) / (free + 1)
        if not low < s < high:
            s = 0.5 * (low + high)
    total = elsewhere
    for r in range(len(beta)):
        if r != true:
            moved[r] = -min(penalty, max(0.0, moved[r] - s))
            total -= moved[r]
    moved[true] = total


@compiled
def violation(appeal, beta, true, penalty, every):
    r"""How far a row is from optimal: by how much appeals differ of which the lower could still rise.

    For Crammer and Singer the largest appeal less the smallest of a class whose coefficient may rise; for
    Weston and Watkins the largest gap of a class whose multiplier may rise, or the negative of one that may
    fall. It is 0 exactly where no step gains.
    """
    high, low = -np.inf, np.inf
    if every:
        high = low = appeal[true]
        for r in range(len(beta)):
            if r != true:
                if beta[r] > -penalty:
                    high = max(high, appeal[r])
                if beta[r] < 0.0:
                    low = min(low, appeal[r])
        return max(high - appeal[true], appeal[true] - low)
    for r in range(len(beta)):
        high = max(high, appeal[r])
        if beta[r] < (penalty if r == true else 0.0):
            low = min(low, appeal[r])
    return max(0.0, high - low)


# ---------------------------------------------------------------------------------------------------
# A kernel: all scores are kept


@compiled
def open_sides(beta, labels, penalties, costs, every, upper, lower):
    """What must be added to the scores so that the extremes over all classes are those of :func:`violation`.

    The cost where a coefficient may move, and minus or plus infinity where it may not.

    Parameters
    ----------
    beta : (m, k) array
    labels, penalties, costs, every
        As in :func:`climb`.
    upper, lower : (k, m) arrays
        Filled.
    """
    for i in range(len(beta)):
        open_row(i, beta, labels[i], penalties[i], costs, every, upper, lower)


@compiled
def open_row(i, beta, true, penalty, costs, every, upper, lower):
    """The part of :func:`open_sides` of one example."""
    for r in range(beta.shape[1]):
        rises, falls = True, beta[i, r] < (penalty if r == true else 0.0)
        if every:
            rises, falls = r == true or beta[i, r] > -penalty, r == true or beta[i, r] < 0.0
        upper[r, i] = costs[true, r] if rises else -np.inf
        lower[r, i] = costs[true, r] if falls else np.inf


@compiled
def values(scores, labels, penalties, costs, every, beta, member):
    """Primal and dual value, and how much of their difference is due to examples outside the working set."""
    k, m = scores.shape
    primal = dual = outside = 0.0
    for i in range(m):
        own, true = scores[labels[i], i], labels[i]
        paid = 0.0
        for r in range(k):
            gap = scores[r, i] + costs[true, r] - own
            if gap > 0.0:
                paid = paid + gap if every else max(paid, gap)
        paid *= penalties[i]
        square = linear = 0.0
        if beta[i, true] != 0.0:
            for r in range(k):
                square += beta[i, r] * scores[r, i]
                linear -= beta[i, r] * costs[true, r]
        primal += 0.5 * square + paid
        dual += linear - 0.5 * square
        if member[i] == 0.0:
            outside += paid + square - linear
    return primal, dual, outside


@compiled
def violations(scores, labels, every, upper, lower, high, low, violated):
    """The violation of every example at once, class by class: a processor takes many examples at a time."""
    k, m = scores.shape
    high[:] = -np.inf
    low[:] = np.inf
    for r in range(k):
        line, above, below = scores[r], upper[r], lower[r]
        for i in range(m):
            appeal = line[i] + above[i]
            high[i] = appeal if appeal > high[i] else high[i]
        for i in range(m):
            appeal = line[i] + below[i]
            low[i] = appeal if appeal < low[i] else low[i]
    if every:
        for i in range(m):
            own = scores[labels[i], i]
            violated[i] = max(high[i] - own, own - low[i])
    else:
        for i in range(m):
            violated[i] = max(high[i] - low[i], 0.0)


@sums_in_any_order
def climb(
    rows,
    places,
    member,
    curvatures,
    labels,
    penalties,
    costs,
    every,
    greed,
    tolerance,
    share,
    fall,
    most,
    beta,
    scores,
    upper,
    lower,
    violated,
):
    r"""Move the worst examples of a working set, until the gap is small or due to examples outside.

    A sweep computes all violations, and moves the examples whose violation is more than ``greed`` times the
    worst. Each time that the worst has fallen by a fifth, primal and dual are computed. A large part of the
    gap outside the working set does not end it before the working set was of use: its own part has fallen to
    ``fall`` times what it was, or as many examples were moved as it has.

    Parameters
    ----------
    rows : (c, m) array
        Rows of the Gram matrix, of float32 or float64.
    places : (m,) int array
        Which row is that of an example.
    member : (m,) array of the type of rows
        1 for the examples of the working set, whose rows are there; else 0.
    curvatures : (m,) array
        The diagonal of the Gram matrix; 0 where it is rounding.
    labels : (m,) int array
    penalties : (m,) array
    costs : (k, k) array
    every : bool
        Weston-Watkins, not Crammer-Singer.
    greed : float
        Between 0 and 1.
    tolerance : float
        Of the relative gap.
    share : float
        The part of the gap that examples outside may account for.
    fall : float
        Between 0 and 1.
    most : int
        About the largest number of rows to move.
    beta : (m, k) array
        Overwritten.
    scores : (k, m) array of the type of rows
        Those of ``beta``; overwritten.
    upper, lower : (k, m) arrays of the type of rows
        See :func:`open_sides`; overwritten.
    violated : (m,) array of the type of rows
        Filled.

    Returns
    -------
    steps : int
        How many rows were moved.
    primal, dual, outside : float
        As last computed.
    """
    k, m = scores.shape
    high, low = np.empty_like(violated), np.empty_like(violated)
    appeal, moved, todo = np.empty(k), np.empty(k), np.empty(m, np.intp)
    steps, last = 0, np.inf
    primal = dual = outside = first = 0.0
    size = (member > 0).sum()
    while True:
        violations(scores, labels, every, upper, lower, high, low, violated)
        top = violated[0] * member[0]
        for i in range(m):
            own = violated[i] * member[i]
            top = own if own > top else top
        worst = np.float64(top)  # numpy would round a float before it compares it with single precision
        if worst <= 0.8 * last or steps >= most:
            last = worst
            primal, dual, outside = values(scores, labels, penalties, costs, every, beta, member)
            gap = primal - dual
            first = first if steps > 0 else gap - outside
            used = gap - outside <= fall * first or steps >= size
            if gap <= tolerance * max(1.0, primal) or (outside > share * gap and used) or steps >= most:
                return steps, primal, dual, outside
        n, before = 0, steps
        for i in range(m):
            todo[n] = i
            n += violated[i] * member[i] > greed * worst
        for q in range(n):
            i = todo[q]
            true, penalty = labels[i], penalties[i]
            for r in range(k):
                appeal[r] = scores[r, i] + costs[true, r]
            if violation(appeal, beta[i], true, penalty, every) <= greed * worst:
                continue
            if every:
                box_step(appeal, beta[i], true, penalty, curvatures[i], moved)
            else:
                simplex_step(appeal, beta[i], true, penalty, curvatures[i], moved)
            row, changed = rows[places[i]], False
            for r in range(k):
                change = moved[r] - beta[i, r]
                if change != 0.0:
                    beta[i, r] = moved[r]
                    factor, line = row.dtype.type(change), scores[r]
                    for j in range(m):
                        line[j] += factor * row[j]
                    changed = True
            steps += changed
            open_row(i, beta, true, penalty, costs, every, upper, lower)
        if steps == before:  # rounding has ended all progress
            most = steps


# ---------------------------------------------------------------------------------------------------
# Linear scores: W is kept


@sums_in_any_order
def dense(
    X,
    squares,
    labels,
    penalties,
    costs,
    every,
    accuracy,
    enough,
    least,
    most,
    state,
    order,
    kept,
    beta,
    W,
    active,
    counts,
):
    r"""Passes over some rows of X, each in random order; what seems settled is left out from then on.

    A class is left out of an example where its coefficient is at a bound, and its appeal on the far side: for
    Crammer and Singer below that of every class that may rise, for Weston and Watkins beyond that of the true
    one by more than the worst violation of the pass before. An example is left out when one class remains.

    Parameters
    ----------
    X : (m, d) array
    squares : (m,) array
        The squared norms of its rows.
    labels : (m,) int array
    penalties : (m,) array
    costs : (k, k) array
    every : bool
        Weston-Watkins, not Crammer-Singer.
    accuracy : float
        A pass with no larger violation is the last.
    enough : float
        A pass is also the last if its examples, each when it was visited, added at most this much to the
        difference of primal and dual,
    least : int
        and all passes together have visited at least this many examples.
    most : int
        The largest number of passes.
    state : (1,) uint64 array
        Of the random numbers; overwritten.
    order : (n,) int array
        The examples; overwritten with those that are kept, at its beginning.
    kept : int
        How many of them to visit.
    beta : (m, k) array
        Overwritten.
    W : (k, d) array
        Those of ``beta``; overwritten.
    active : (m, k) int array
        The classes of each example that are looked at come first; overwritten.
    counts : (m,) int array
        How many these are; overwritten.

    Returns
    -------
    passes, kept, visits, products : int
        How many passes were made, examples are kept, examples were visited, scores were computed.
    settled : bool
        Whether the last pass had no larger violation.
    """
    k, d = W.shape
    appeal, own, moved = np.empty(k), np.empty(k), np.empty(k)
    margin, visits, products = np.inf, 0, 0
    for count in range(most):
        shuffle(order, kept, state)
        visits += kept
        worst, gap, n_visit, kept = 0.0, 0.0, kept, 0
        for q in range(n_visit):
            i = order[q]
            x, classes, n = X[i], active[i], counts[i]
            products += n
            for a in range(n):
                row, score = W[classes[a]], 0.0
                for j in range(d):
                    score += row[j] * x[j]
                appeal[a] = score
            n, true, violated, excess = settle(
                appeal, own, beta[i], labels[i], penalties[i], costs, every, margin, classes, n
            )
            counts[i] = n
            gap += excess
            if n < 2:
                continue
            order[kept] = i
            kept += 1
            worst = max(worst, violated)
            if violated <= 1e-14:
                continue
            if every:
                box_step(appeal[:n], own[:n], true, penalties[i], squares[i], moved[:n])
            elif n == 2 and squares[i] > 0.0:
                pair_step(appeal, own, true, penalties[i], squares[i], moved)
            else:
                simplex_step(appeal[:n], own[:n], true, penalties[i], squares[i], moved[:n])
            for a in range(n):
                change = moved[a] - own[a]
                if change != 0.0:
                    beta[i, classes[a]] = moved[a]
                    row = W[classes[a]]
                    for j in range(d):
                        row[j] += change * x[j]
        if worst <= accuracy or kept == 0:
            return count + 1, kept, visits, products, True
        if gap <= enough and visits >= least:
            return count + 1, kept, visits, products, False
        margin = worst
    return most, kept, visits, products, False


@sums_in_any_order
def sparse(
    data,
    indices,
    ends,
    squares,
    labels,
    penalties,
    costs,
    every,
    accuracy,
    enough,
    least,
    most,
    state,
    order,
    kept,
    beta,
    W,
    active,
    counts,
):
    """Passes over some rows of a compressed matrix, see :func:`dense`.

    Parameters
    ----------
    data, indices, ends : arrays
        Entry p has the value ``data[p]`` and stands in column ``indices[p]``; row i has those from
        ``ends[i]`` to before ``ends[i + 1]``.
    squares, labels, penalties, costs, every, accuracy, enough, least, most, state, order, kept, beta, W
    active, counts
        As there, and so are the results.
    """
    k = len(W)
    appeal, own, moved = np.empty(k), np.empty(k), np.empty(k)
    margin, visits, products = np.inf, 0, 0
    for count in range(most):
        shuffle(order, kept, state)
        visits += kept
        worst, gap, n_visit, kept = 0.0, 0.0, kept, 0
        for q in range(n_visit):
            i = order[q]
            first, last, classes, n = ends[i], ends[i + 1], active[i], counts[i]
            products += n
            for a in range(n):
                row, score = W[classes[a]], 0.0
                for p in range(first, last):
                    score += row[indices[p]] * data[p]
                appeal[a] = score
            n, true, violated, excess = settle(
                appeal, own, beta[i], labels[i], penalties[i], costs, every, margin, classes, n
            )
            counts[i] = n
            gap += excess
            if n < 2:
                continue
            order[kept] = i
            kept += 1
            worst = max(worst, violated)
            if violated <= 1e-14:
                continue
            if every:
                box_step(appeal[:n], own[:n], true, penalties[i], squares[i], moved[:n])
            elif n == 2 and squares[i] > 0.0:
                pair_step(appeal, own, true, penalties[i], squares[i], moved)
            else:
                simplex_step(appeal[:n], own[:n], true, penalties[i], squares[i], moved[:n])
            for a in range(n):
                change = moved[a] - own[a]
                if change != 0.0:
                    beta[i, classes[a]] = moved[a]
                    row = W[classes[a]]
                    for p in range(first, last):
                        row[indices[p]] += change * data[p]
        if worst <= accuracy or kept == 0:
            return count + 1, kept, visits, products, True
        if gap <= enough and visits >= least:
            return count + 1, kept, visits, products, False
        margin = worst
    return most, kept, visits, products, False


@compiled
def reopen(scores, labels, penalties, costs, every, beta, order, active, counts):
    """Look at all classes of all examples again, and leave out what these scores show to be settled.

    For Crammer and Singer it is the rule of :func:`dense`. For Weston and Watkins only examples without a
    penalty are left out.

    Parameters
    ----------
    scores : (k, m) array
    labels, penalties, costs, every, beta
        As in :func:`dense`.
    order, active, counts
        As there; filled.

    Returns
    -------
    kept : int
        The number of examples in ``order``.
    """
    k, m = scores.shape
    appeal, kept = np.empty(k), 0
    for i in range(m):
        true, low, n = labels[i], np.inf, 0
        for r in range(k):
            appeal[r] = scores[r, i] + costs[true, r]
            if beta[i, r] < (penalties[i] if r == true else 0.0):
                low = min(low, appeal[r])
        for r in range(k):
            active[i, n] = r
            n += every or appeal[r] >= low or beta[i, r] < (penalties[i] if r == true else 0.0)
        counts[i] = n
        if n > 1 and penalties[i] > 0.0:
            order[kept] = i
            kept += 1
    return kept


@compiled
def shuffle(order, n, state):
    """A random order of the first n, by the generator xorshift64 (Marsaglia 2003)."""
    word = state[0]
    for i in range(n - 1, 0, -1):
        word ^= word << np.uint64(13)
        word ^= word >> np.uint64(7)
        word ^= word << np.uint64(17)
        j = np.intp((word >> np.uint64(32)) * np.uint64(i + 1) >> np.uint64(32))
        order[i], order[j] = order[j], order[i]
    state[0] = word


@compiled
def settle(appeal, own, beta, label, penalty, costs, every, margin, classes, n):
    """Leave out the settled classes of an example, see :func:`dense`.

    Parameters
    ----------
    appeal : (k,) array
        The scores of the first n classes of the list; overwritten with the appeals of those that remain.
    own : (k,) array
        Filled with their coefficients.
    beta, label, penalty, costs, every, margin
        Of the example.
    classes : (k,) int array
        The list; those that are left out are moved behind those that remain.
    n : int
        Its length.

    Returns
    -------
    n : int
        The length of what remains.
    true : int
        The place of the true class in it, or -1.
    violated : float
        See :func:`violation`.
    excess : float
        What the example adds to the difference of primal and dual.
    """
    true, high, low, excess = -1, -np.inf, np.inf, 0.0
    for a in range(n):
        r = classes[a]
        appeal[a] += costs[label, r]
        own[a] = beta[r]
        if r == label:
            true = a
        excess += own[a] * appeal[a]
        high = max(high, appeal[a])
        if own[a] < (penalty if r == label else 0.0):
            low = min(low, appeal[a])
    level = appeal[true] if true >= 0 else 0.0
    excess = 0.0 if every else excess + penalty * (high - level)
    a, worst = 0, 0.0
    while a < n:
        r, ahead, out = classes[a], 0.0, False
        if every:
            if a != true:
                ahead = appeal[a] - level
                excess += own[a] * ahead + penalty * max(0.0, ahead)
                out = (own[a] >= 0.0 and ahead < -margin) or (own[a] <= -penalty and ahead > margin)
                if (own[a] > -penalty and ahead > 0.0) or (own[a] < 0.0 and ahead < 0.0):
                    worst = max(worst, abs(ahead))
        else:
            out = own[a] >= (penalty if r == label else 0.0) and appeal[a] < low
        if out:
            n -= 1
            classes[a], classes[n] = classes[n], r
            appeal[a], own[a] = appeal[n], own[n]
            if true == a:
                true = -1
            elif true == n:
                true = a
        else:
            a += 1
    return n, true, (worst if every else max(0.0, high - low)), excess


# ---------------------------------------------------------------------------------------------------
# Linear scores: all examples at once


@compiled
def best_near(scores, beta, labels, penalties, costs, every, nearness, moved, free):
    r"""The best row of every example for given scores, with a price on its distance from the row as it is.

    It minimises :math:`\langle a_i, b \rangle + \frac\tau2 \|b - \beta_i\|^2` over the rows b that are
    allowed: the subproblem of :func:`simplex_step` and :func:`box_step`, of curvature :math:`\tau`.

    Parameters
    ----------
    scores, beta : (m, k) arrays
    labels, penalties, costs, every
        As in :func:`climb`.
    nearness : float
        :math:`\tau`, positive.
    moved : (m, k) array
        Filled: the best rows.
    free : (m, k) bool array
        Filled: the coefficients between their bounds, where at least two of a row are.

    Returns
    -------
    paid, least, linear, distance : float
        The losses of the scores, the sum of the minima, :math:`\sum_{ir} \Delta(y_i, r) b_{ir}`, and the sum
        of the :math:`\|b_i - \beta_i\|^2`.
    """
    m, k = scores.shape
    appeal = np.empty(k)
    paid = least = linear = distance = 0.0
    for i in range(m):
        true, penalty, own, best = labels[i], penalties[i], beta[i], moved[i]
        for r in range(k):
            appeal[r] = scores[i, r] + costs[true, r]
        if every:
            box_step(appeal, own, true, penalty, nearness, best)
        else:
            simplex_step(appeal, own, true, penalty, nearness, best)
        n, loss, apart = 0, 0.0, 0.0
        for r in range(k):
            ahead = appeal[r] - appeal[true]
            loss = loss + max(0.0, ahead) if every else max(loss, ahead)
            least += appeal[r] * best[r]
            linear += costs[true, r] * best[r]
            apart += (best[r] - own[r]) ** 2
            if every:
                inside = r != true and -penalty < best[r] and best[r] < 0.0
            else:
                inside = best[r] < (penalty if r == true else 0.0)
            free[i, r] = inside
            n += inside
        if every and n > 0:
            free[i, true] = True
            n += 1
        if n < 2:
            free[i] = False
        paid += penalty * loss
        distance += apart
    return paid, least + 0.5 * nearness * distance, linear, distance


@sums_in_any_order
def add_curvature(X, free, nearness, hessian):
    r"""Add what the examples contribute to the curvature at :func:`best_near`, below the diagonal.

    That of an example with the set F of free coefficients is :math:`\frac1\tau (I_F - \frac1{|F|} 1_F
    1_F^\top) \otimes x_i x_i^\top`.

    Parameters
    ----------
    X : (m, d) array
    free : (m, k) bool array
        In each row none or at least two.
    nearness : float
        :math:`\tau`.
    hessian : (k, d, k, d) array
        The blocks on and below the diagonal are changed.
    """
    m, d = X.shape
    k = free.shape[1]
    classes, outer = np.empty(k, np.intp), np.empty((d, d))
    for i in range(m):
        n = 0
        for r in range(k):
            if free[i, r]:
                classes[n] = r
                n += 1
        if n == 0:
            continue
        for a in range(d):
            for b in range(d):
                outer[a, b] = X[i, a] * X[i, b]
        for p in range(n):
            for q in range(p + 1):
                factor = ((1.0 if p == q else 0.0) - 1.0 / n) / nearness
                for a in range(d):
                    row = hessian[classes[p], a, classes[q]]
                    for b in range(d):
                        row[b] += factor * outer[a, b]
