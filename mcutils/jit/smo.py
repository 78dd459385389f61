r"""Sequential minimal optimisation: the dual of a support vector machine, two multipliers at a time.

Both loops maximise the concave quadratic :math:`p^\top \beta - \frac12 \beta^\top G \beta` over a box
:math:`l_i \le \beta_i \le u_i`, where G is positive semidefinite. They keep ``error``, the gradient
:math:`e = p - G \beta`, and climb until no step promises more than a tolerance.

``singles`` moves one coordinate at a time: the dual without bias. ``pairs`` also keeps the sum of each
*group* of coordinates, so it moves two of one group, by t and by -t: the dual with bias has one group, the
problem of the nearest points of two convex hulls has two. A group is a stretch of neighbours, and ``ends``
holds the place behind the last of each.

A step along a direction d gains at most :math:`\frac12 (e^\top d)^2 / d^\top G d`. Of all pairs with the
steepest i that may rise, ``pairs`` takes the one of the largest such gain; this choice, by second order, is
that of Fan, Chen and Lin, *Working set selection using second order information for training support
vector machines*, Journal of Machine Learning Research 6 (2005) 1889-1918.
"""

import numpy as np

from mcutils.jit import compiled


@compiled
def pairs(gram, lower, upper, ends, beta, error, tolerance, tiny, max_steps):
    r"""Climb by pairs until :math:`e_i - e_j \le` tolerance for all i that may rise and j that may fall.

    Parameters
    ----------
    gram : (m, m) array
        G, symmetric.
    lower, upper : (m,) arrays
        The box; its sides may be infinite.
    ends : (g,) int array
        The place behind the last coordinate of each group; the last is m.
    beta, error : (m,) arrays
        Where to start, inside the box, and the gradient there; overwritten with where it ended.
    tolerance : float
        When to stop.
    tiny : float
        Positive; the least curvature that is believed. Less is rounding, and the box ends the step.
    max_steps : int
        The largest number of pairs.

    Returns
    -------
    steps : int
        How many pairs were moved.
    violation : float
        The largest :math:`e_i - e_j` in a group, before the last step if all steps were used.
    """
    m = len(beta)
    violation = np.inf
    for step in range(max_steps):
        violation = 0.0
        i, first, last, start = -1, 0, 0, 0
        for end in ends:
            top, highest, lowest = -1, -np.inf, np.inf
            for s in range(start, end):
                if beta[s] < upper[s] and error[s] > highest:
                    top, highest = s, error[s]
                if beta[s] > lower[s] and error[s] < lowest:
                    lowest = error[s]
            if highest - lowest > violation:
                violation, i, first, last = highest - lowest, top, start, end
            start = end
        if violation <= tolerance or i < 0:
            return step, violation

        row_i = gram[i]
        j, most = -1, 0.0
        for s in range(first, last):
            slope = error[i] - error[s]
            if slope > 0.0 and beta[s] > lower[s]:
                curvature = max(row_i[i] + gram[s, s] - 2.0 * row_i[s], tiny)
                gain = slope * slope / curvature
                if gain > most:
                    j, most = s, gain
        if j < 0:  # all gains are below the least number that there is
            return step, violation

        row_j = gram[j]
        curvature = max(row_i[i] + row_j[j] - 2.0 * row_i[j], tiny)
        t = (error[i] - error[j]) / curvature
        rise, fall = upper[i] - beta[i], beta[j] - lower[j]
        if t < rise and t < fall:
            beta[i] += t
            beta[j] -= t
        elif rise <= fall:  # a side of the box is reached exactly, not up to rounding
            t = rise
            beta[i] = upper[i]
            beta[j] = max(beta[j] - t, lower[j])
        else:
            t = fall
            beta[j] = lower[j]
            beta[i] = min(beta[i] + t, upper[i])
        for s in range(m):
            error[s] -= t * (row_i[s] - row_j[s])
    return max_steps, violation


@compiled
def singles(gram, lower, upper, beta, error, tolerance, tiny, max_steps):
    r"""Climb by single coordinates until none that may rise or fall has a gradient beyond tolerance.

    Each step goes along the coordinate that gains most. Parameters and results are those of :func:`pairs`;
    the violation is the largest :math:`|e_i|` in a direction that the box leaves open. A coordinate without
    curvature goes to the side of its box, which must be finite.
    """
    m = len(beta)
    violation = np.inf
    for step in range(max_steps):
        violation = 0.0
        i, most, by = -1, 0.0, 0.0
        for s in range(m):
            slope = error[s]
            if slope == 0.0 or (slope > 0.0 and beta[s] >= upper[s]) or (slope < 0.0 and beta[s] <= lower[s]):
                continue
            violation = max(violation, abs(slope))
            t = slope / max(gram[s, s], tiny)
            t = min(max(t, lower[s] - beta[s]), upper[s] - beta[s])
            gain = t * (slope - 0.5 * gram[s, s] * t)
            if gain > most:
                i, most, by = s, gain, t
        if violation <= tolerance or i < 0:
            return step, violation
        if by == upper[i] - beta[i]:
            beta[i] = upper[i]
        elif by == lower[i] - beta[i]:
            beta[i] = lower[i]
        else:
            beta[i] += by
        row = gram[i]
        for s in range(m):
            error[s] -= by * row[s]
    return max_steps, violation


@compiled
def add_rows(matrix, rows, factors, total):
    """Add multiples of some rows of a matrix to a vector, without a copy of the rows."""
    for i in range(len(rows)):
        row, factor = matrix[rows[i]], factors[i]
        for s in range(len(total)):
            total[s] += factor * row[s]


@compiled
def add_rows_precisely(matrix, rows, factors, high, low):
    r"""Add multiples of some rows of a matrix to ``high + low``, as if in twice the digits.

    What rounding takes from each product and each sum is itself a number, and is added up in ``low``:
    Ogita, Rump and Oishi, *Accurate sum and dot product*, SIAM Journal on Scientific Computing 26 (2005)
    1955-1988. To multiply without loss, each factor is split into halves of 26 digits.
    """
    split = 134217729.0  # 2**27 + 1
    for i in range(len(rows)):
        row, factor = matrix[rows[i]], factors[i]
        factor_high = split * factor - (split * factor - factor)
        factor_low = factor - factor_high
        for s in range(len(high)):
            x = row[s]
            x_high = split * x - (split * x - x)
            x_low = x - x_high
            product = factor * x
            lost = factor_low * x_low - (
                product - factor_high * x_high - factor_low * x_high - factor_high * x_low
            )
            total = high[s] + product
            part = total - high[s]
            low[s] += (high[s] - (total - part)) + (product - part) + lost
            high[s] = total
