r"""Growing a tree of numerical and categorical questions, asking it, and the order in which it is pruned.

Every column is sorted once, into *keys*: rank of the value, class and number of an item, packed in 64 bits.
A node is the same slice of every row of keys, which a split partitions stably. So a scan of a slice meets
the items in the order of their values, and has each one's class at hand.

Of a question the *score* is compared, larger is better: up to what is the same for all questions at the
node, minus the total impurity :math:`|n_-| F(n_-) + |n_+| F(n_+)`. With counts L and R on the two sides

- Gini: :math:`\sum_l L_l^2 / |L| + \sum_l R_l^2 / |R|`, whose numerators change by :math:`2 L_l + 1` when an
  item crosses;
- entropy: :math:`\sum_l L_l \log_2 L_l - |L| \log_2 |L|` and the same of R, in whole multiples of a power of
  two (``table``), so that it is a function of the counts, however they were reached;
- misclassification: :math:`\max_l L_l + \max_l R_l`, or minus the costs of the cheapest predictions.

With whole weights these are whole numbers, or fractions of such, and are compared as such.
"""

import numpy as np

from mcutils.jit import compiled

GINI, ENTROPY, MISCLASSIFICATION = 0, 1, 2
ITEM_BITS, CLASS_BITS = 24, 16
ITEM, CLASS = 2**ITEM_BITS - 1, 2**CLASS_BITS - 1
RANK = ITEM_BITS + CLASS_BITS
# Up to this weight of a node, unequal fractions are unequal as floating-point numbers too.
SMALL = 2048
# Of weights that are not whole, scores nearer than this part of the weight of the node are equal.
TIE = 1e-10
# Up to this many levels at a node, all subsets of them are tried.
LEVELS = 20


# ---------------------------------------------------------------------------------------------------
# Columns


@compiled
def count_sort(column, codes, keys):
    """Fill the keys of a column of whole numbers in a small range; False if it is no such column."""
    m = len(column)
    low, high = column[0], column[0]
    for i in range(m):
        x = column[i]
        if not (np.abs(x) < 2.0**31 and x == np.floor(x)):
            return False
        low, high = min(low, x), max(high, x)
    if high - low > m + 64:
        return False
    start = np.zeros(int(high - low) + 2, dtype=np.int64)
    for i in range(m):
        start[int(column[i] - low) + 1] += 1
    rank = np.zeros(len(start), dtype=np.int64)
    for v in range(1, len(start)):
        rank[v] = rank[v - 1] + (start[v] > 0)
        start[v] += start[v - 1]
    for i in range(m):
        v = int(column[i] - low)
        keys[start[v]] = (rank[v] << RANK) | (codes[i] << ITEM_BITS) | i
        start[v] += 1
    return True


@compiled
def pack(column, order, codes, keys):
    """Fill the keys of a column from the order of its values; missing values come last, as one value."""
    rank = 0
    for p in range(len(order)):
        i = order[p]
        if p > 0:
            x, before = column[i], column[order[p - 1]]
            if x != before and not (np.isnan(x) and np.isnan(before)):
                rank += 1
        keys[p] = (rank << RANK) | (codes[i] << ITEM_BITS) | i


@compiled
def between(low, high):
    """A threshold that the lower value is at most, and the higher is not, whatever is rounded."""
    if np.isnan(high):
        return np.inf
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


# ---------------------------------------------------------------------------------------------------
# Scores


@compiled
def greater(a, b, c, d):
    """Whether a/b > c/d, for whole a, c >= 0 and b, d > 0, by Euclid's algorithm: without overflow."""
    while True:
        p, q = a // b, c // d
        if p != q:
            return p > q
        a, c = a - p * b, c - q * d
        if a == 0:
            return False
        if c == 0:
            return True
        a, b, c, d = d, c, b, a


@compiled
def better(criterion, exact, size, k, value, num, den, best, best_num, best_den):
    """Whether a score is larger than the best, and not only by rounding."""
    if not exact:
        return value > best + TIE * size
    if best_den == 0:
        return True
    if criterion == ENTROPY:
        return num > best_num + 2 * (k + 1)
    if size <= SMALL or value < (1.0 - 1e-13) * best or value > (1.0 + 1e-13) * best:
        return value > best
    return greater(num, den, best_num, best_den)


@compiled
def weight_of(counts):
    """The sum of the weights of the classes."""
    total = 0.0
    for c in range(len(counts)):
        total += counts[c]
    return total


@compiled
def largest(counts):
    """The largest weight of a class."""
    top = 0.0
    for c in range(len(counts)):
        top = max(top, counts[c])
    return top


@compiled
def cheapest(counts, costs):
    """The cost of the cheapest prediction."""
    best = np.inf
    for r in range(costs.shape[1]):
        cost = 0.0
        for c in range(len(counts)):
            cost += counts[c] * costs[c, r]
        best = min(best, cost)
    return best


@compiled
def score(criterion, exact, left, right, table, costs):
    """The score of two sides: a float, and where it is exact the fraction of whole numbers that it is."""
    k = len(left)
    nl, nr = weight_of(left), weight_of(right)
    if criterion == GINI:
        sl, sr = 0.0, 0.0
        if not exact:
            # shares first, as squares of small weights would vanish; rounding may leave nothing of a side
            one_left, one_right = 1.0 / nl if nl > 0.0 else 0.0, 1.0 / nr if nr > 0.0 else 0.0
            for c in range(k):
                sl += left[c] * (left[c] * one_left)
                sr += right[c] * (right[c] * one_right)
            return sl + sr, 0, 0
        for c in range(k):
            sl += left[c] * left[c]
            sr += right[c] * right[c]
        num, den = int(sl) * int(nr) + int(sr) * int(nl), int(nl) * int(nr)
        return float(num) / float(den), num, den
    if criterion == ENTROPY:
        if exact:
            num = -table[int(nl)] - table[int(nr)]
            for c in range(k):
                num += table[int(left[c])] + table[int(right[c])]
            return float(num), num, 1
        value = -nl * np.log2(nl) if nl > 0.0 else 0.0
        if nr > 0.0:
            value -= nr * np.log2(nr)
        for c in range(k):
            if left[c] > 0.0:
                value += left[c] * np.log2(left[c])
            if right[c] > 0.0:
                value += right[c] * np.log2(right[c])
        return value, 0, 0
    if len(costs) == 0:
        top = largest(left) + largest(right)
        return top, int(top), 1
    return -cheapest(left, costs) - cheapest(right, costs), 0, 0


@compiled
def decrease(criterion, exact, left, right, table, scale, costs):
    """The total decrease of the impurity, at least 0; the same number for the same fraction."""
    k = len(left)
    nl, nr = weight_of(left), weight_of(right)
    n = nl + nr
    if criterion == GINI:
        if exact and n <= 2**16:
            square, den = 0, int(n) * int(nl) * int(nr)
            for c in range(k):
                apart = int(left[c]) * int(nr) - int(right[c]) * int(nl)
                square += apart * apart
            return float(square // den) + float(square % den) / float(den)
        gain = 0.0
        for c in range(k):
            # of weights that are not whole, products could vanish
            apart = left[c] * nr - right[c] * nl if exact else left[c] / nl - right[c] / nr
            gain += apart * apart
        return rounded(gain / (n * nl * nr) if exact else gain * nl * (nr / n), n)
    value, num, den = score(criterion, exact, left, right, table, costs)
    if criterion == ENTROPY and exact:
        num += table[int(n)]
        for c in range(k):
            num -= table[int(left[c] + right[c])]
        return rounded(num / scale, n)
    both = left + right
    if criterion == ENTROPY:
        value += n * np.log2(n)
        for c in range(k):
            if both[c] > 0.0:
                value -= both[c] * np.log2(both[c])
    elif len(costs) == 0:
        value -= largest(both)
    else:
        value += cheapest(both, costs)
    return rounded(value, n) if not exact else value


@compiled
def rounded(value, size):
    """A decrease without what rounding has added: nothing below TIE of the weight, and 12 digits."""
    if value <= TIE * size:
        return 0.0
    unit = 2.0 ** (np.floor(np.log2(value)) - 40.0)
    return np.floor(value / unit + 0.5) * unit


# ---------------------------------------------------------------------------------------------------
# The best question at a node


@compiled
def scan(
    keys,
    start,
    end,
    criterion,
    exact,
    weighted,
    weights,
    total,
    size,
    table,
    costs,
    fewest,
    lightest,
    best,
    num,
    den,
):
    """The best threshold of one column, if it is better than the best so far.

    Parameters
    ----------
    keys : (m,) array
        Of this column.
    start, end : int
        The node.
    total : (k,) array
        Weights of the classes at the node, together ``size``.
    fewest, lightest : int, float
        Items, and weight, that either side must have.
    best, num, den : float, int, int
        The best score so far.

    Returns
    -------
    (int, float, int, int)
        The last place that says yes, or -1, and the best score.
    """
    k, n = len(total), int(size)
    chosen, lowest, highest = -1, start + fewest - 1, end - fewest - 1
    heaviest = size - lightest
    margin = 0.0 if n <= SMALL else 1e-13
    key = keys[start]
    if exact and criterion == GINI:
        left = np.zeros(k, dtype=np.int64)
        sl, sr, nl = 0, 0, 0
        for c in range(k):
            sr += int(total[c]) * int(total[c])
        near, w = best * (1.0 - margin), 1
        for p in range(start, end - 1):
            c = (key >> ITEM_BITS) & CLASS
            if weighted:
                w = int(weights[key & ITEM])
            inside = left[c]
            sl += w * (2 * inside + w)
            sr -= w * (2 * (int(total[c]) - inside) - w)
            left[c] = inside + w
            nl += w
            after = keys[p + 1]
            if (after ^ key) >> RANK != 0 and lowest <= p <= highest and lightest <= nl <= heaviest:
                a, b = sl * (n - nl) + sr * nl, nl * (n - nl)
                value = float(a) / float(b)
                if value > near and (
                    n <= SMALL or value > best * (1.0 + margin) or den == 0 or greater(a, b, num, den)
                ):
                    chosen, best, num, den = p, value, a, b
                    near = best * (1.0 - margin)
            key = after
    elif exact and criterion == ENTROPY:
        left = np.zeros(k, dtype=np.int64)
        both, nl, w, slack = 0, 0, 1, 2 * (k + 1)
        for c in range(k):
            both += table[int(total[c])]
        for p in range(start, end - 1):
            c = (key >> ITEM_BITS) & CLASS
            if weighted:
                w = int(weights[key & ITEM])
            inside = left[c]
            outside = int(total[c]) - inside
            both += table[inside + w] - table[inside] + table[outside - w] - table[outside]
            left[c] = inside + w
            nl += w
            after = keys[p + 1]
            if (after ^ key) >> RANK != 0 and lowest <= p <= highest and lightest <= nl <= heaviest:
                a = both - table[nl] - table[n - nl]
                if den == 0 or a > num + slack:
                    chosen, best, num, den = p, float(a), a, 1
            key = after
    elif exact:
        left = np.zeros(k, dtype=np.int64)
        most_left, most_right, nl, w = 0, int(largest(total)), 0, 1
        for p in range(start, end - 1):
            c = (key >> ITEM_BITS) & CLASS
            if weighted:
                w = int(weights[key & ITEM])
            shrinks = int(total[c]) - left[c] == most_right
            left[c] += w
            nl += w
            most_left = max(most_left, left[c])
            if shrinks:
                most_right = 0
                for r in range(k):
                    most_right = max(most_right, int(total[r]) - left[r])
            after = keys[p + 1]
            if (after ^ key) >> RANK != 0 and lowest <= p <= highest and lightest <= nl <= heaviest:
                a = most_left + most_right
                if den == 0 or a > num:
                    chosen, best, num, den = p, float(a), a, 1
            key = after
    else:
        some, rest, nl = np.zeros(k), total.copy(), 0.0
        for p in range(start, end - 1):
            c = (key >> ITEM_BITS) & CLASS
            w = weights[key & ITEM] if weighted else 1.0
            nl += w
            some[c] += w
            rest[c] = max(total[c] - some[c], 0.0)
            after = keys[p + 1]
            if (after ^ key) >> RANK != 0 and lowest <= p <= highest and lightest <= nl <= heaviest:
                value, a, b = score(criterion, exact, some, rest, table, costs)
                if better(criterion, exact, size, k, value, a, b, best, num, den):
                    chosen, best, num, den = p, value, a, b
            key = after
    return chosen, best, num, den


@compiled
def subset(
    keys,
    start,
    end,
    missing,
    criterion,
    exact,
    weighted,
    weights,
    total,
    size,
    table,
    costs,
    fewest,
    lightest,
    best,
    num,
    den,
    chosen,
):
    """The best set A of levels of one categorical column, if it is better than the best so far.

    Of a set and its complement A is that which lacks the missing values, else the smaller, else that which
    has the first level. ``chosen`` is filled with its levels.

    Returns
    -------
    (int, float, int, int)
        0 if there is none, 1 if there is, -L if there are L levels, too many; and the best score.
    """
    k = len(total)
    L = 1
    for p in range(start, end - 1):
        L += (keys[p + 1] ^ keys[p]) >> RANK != 0
    levels, items = np.zeros(L, dtype=np.int64), np.zeros(L, dtype=np.int64)
    counts = np.zeros((L, k))
    g = 0
    for p in range(start, end):
        key = keys[p]
        if p > start and (key ^ keys[p - 1]) >> RANK != 0:
            g += 1
        levels[g] = key >> RANK
        items[g] += 1
        counts[g, (key >> ITEM_BITS) & CLASS] += weights[key & ITEM] if weighted else 1.0
    present, second = 0, 0
    for c in range(k):
        if total[c] > 0.0:
            present, second = present + 1, c
    inside = np.zeros(L, dtype=np.int64)
    some, rest = np.zeros(k), np.zeros(k)
    splits, obeys = False, False
    if present <= 2:
        # two classes: some set of the order by the share of one of them is the best of all
        order, share = np.zeros(L, dtype=np.int64), np.zeros(L)
        for g in range(L):
            share[g] = counts[g, second] / weight_of(counts[g])
            p = g
            while p > 0 and share[g] < share[order[p - 1]]:
                order[p] = order[p - 1]
                p -= 1
            order[p] = g
        cut, n, held, obeys = -1, 0, (best, num, den), True
        for q in range(L - 1):
            n += items[order[q]]
            for c in range(k):
                some[c] += counts[order[q], c]
                rest[c] = max(total[c] - some[c], 0.0)
            value, a, b = score(criterion, exact, some, rest, table, costs)
            if better(criterion, exact, size, k, value, a, b, best, num, den):
                cut, best, num, den = q, value, a, b
                obeys = (
                    min(n, end - start - n) >= fewest and min(weight_of(some), weight_of(rest)) >= lightest
                )
        if obeys:
            splits = cut >= 0
            for q in range(cut + 1):
                inside[order[q]] = 1
        else:
            best, num, den = held
    if not obeys:
        if L > LEVELS:
            return -L, best, num, den
        # the last level, which is that of the missing values, stays outside
        n, mask, best_mask = 0, 0, 0
        for c in range(k):
            some[c], rest[c] = 0.0, total[c]
        for t in range(1, 2 ** (L - 1)):
            g = 0
            while (t >> g) & 1 == 0:
                g += 1
            mask ^= 1 << g
            sign = 1 if (mask >> g) & 1 == 1 else -1
            n += sign * items[g]
            for c in range(k):
                some[c] = max(some[c] + sign * counts[g, c], 0.0)
                rest[c] = max(rest[c] - sign * counts[g, c], 0.0)
            if min(n, end - start - n) < fewest or min(weight_of(some), weight_of(rest)) < lightest:
                continue
            value, a, b = score(criterion, exact, some, rest, table, costs)
            ahead = better(criterion, exact, size, k, value, a, b, best, num, den)
            # of equal ones the first, by number and not by Gray's order
            if not ahead and 0 < mask < best_mask:
                ahead = not better(criterion, exact, size, k, best, num, den, value, a, b)
            if ahead:
                splits, best_mask, best, num, den = True, mask, value, a, b
        for g in range(L):
            inside[g] = (best_mask >> g) & 1
    if not splits:
        return 0, best, num, den
    n = 0
    for g in range(L):
        n += inside[g]
    yes = 1  # the side whose question is posed
    if levels[L - 1] == missing:
        yes = 1 - inside[L - 1]
    elif 2 * n > L or (2 * n == L and inside[0] == 0):
        yes = 0
    for g in range(len(chosen)):
        chosen[g] = 0
    for g in range(L):
        if inside[g] == yes:
            chosen[levels[g]] = 1
    return 1, best, num, den


@compiled
def best_question(
    keys,
    start,
    end,
    n_levels,
    constant,
    criterion,
    exact,
    weighted,
    weights,
    total,
    table,
    costs,
    fewest,
    lightest,
    chosen,
):
    """The best question at a node: of equal ones that of the first column, and there the first threshold.

    Parameters
    ----------
    n_levels : (d,) array
        The number of levels of a categorical column, 0 for a numerical one. A missing level has this number.
    constant : (d,) array
        1 for columns known to have one value; more of them are filled in.

    Returns
    -------
    (int, int)
        The column, or -1; and the last place that says yes, or -1 for a set of levels, or minus the number of
        levels if these are too many.
    """
    size = weight_of(total)
    column, place = -1, -1
    best, num, den = -np.inf, np.int64(0), np.int64(0)
    for j in range(len(keys)):
        if constant[j]:
            continue
        row = keys[j]
        if (row[start] ^ row[end - 1]) >> RANK == 0:
            constant[j] = 1
            continue
        if n_levels[j] > 0:
            cut, best, num, den = subset(
                row,
                start,
                end,
                n_levels[j],
                criterion,
                exact,
                weighted,
                weights,
                total,
                size,
                table,
                costs,
                fewest,
                lightest,
                best,
                num,
                den,
                chosen,
            )
            if cut < 0:
                return j, cut
            if cut > 0:
                column, place = j, -1
        else:
            cut, best, num, den = scan(
                row,
                start,
                end,
                criterion,
                exact,
                weighted,
                weights,
                total,
                size,
                table,
                costs,
                fewest,
                lightest,
                best,
                num,
                den,
            )
            if cut >= 0:
                column, place = j, cut
    return column, place


# ---------------------------------------------------------------------------------------------------
# Growing


@compiled
def before(priority, s, t):
    """Whether node s comes before node t: the larger priority first, of equal ones the smaller number."""
    return priority[s] > priority[t] or (priority[s] == priority[t] and s < t)


@compiled
def lift(heap, where, priority, p):
    """Bring the node at place p of a heap upwards to its place; ``where`` has the places of the nodes."""
    t = heap[p]
    while p > 0 and before(priority, t, heap[(p - 1) // 2]):
        heap[p] = heap[(p - 1) // 2]
        where[heap[p]] = p
        p = (p - 1) // 2
    heap[p], where[t] = t, p


@compiled
def sink(heap, where, priority, length, p):
    """Bring the node at place p of a heap downwards to its place."""
    t = heap[p]
    while 2 * p + 1 < length:
        down = 2 * p + 1
        if down + 1 < length and before(priority, heap[down + 1], heap[down]):
            down += 1
        if not before(priority, heap[down], t):
            break
        heap[p] = heap[down]
        where[heap[p]] = p
        p = down
    heap[p], where[t] = t, p


@compiled
def take(heap, where, priority, length, p):
    """Take the node at place p out of a heap, which is one shorter then."""
    t, last = heap[p], heap[length - 1]
    where[t] = -1
    if last != t:
        heap[p], where[last] = last, p
        lift(heap, where, priority, p)
        sink(heap, where, priority, length - 1, where[last])


@compiled
def impurity(criterion, counts, costs):
    """The impurity of a node; whole counts give a share of mistakes without a rounded difference."""
    k, size, value, top, others = len(counts), weight_of(counts), 0.0, 0.0, 0.0
    if criterion == MISCLASSIFICATION and len(costs) > 0:
        return cheapest(counts / size, costs)
    for c in range(k):
        p = counts[c] / size
        others += min(top, counts[c])
        top = max(top, counts[c])
        if criterion == GINI:
            value += p * (1.0 - p)
        elif p > 0.0:
            value -= p * np.log2(p)
    return others / size if criterion == MISCLASSIFICATION else value


@compiled
def is_open(counts, items, fewest_split, fewest, lightest, criterion, costs, purest):
    """Whether a node is impure, by more than ``purest`` if this is at least 0, and large enough."""
    kinds = 0
    for c in range(len(counts)):
        kinds += counts[c] > 0.0
    large = items >= fewest_split and items >= 2 * fewest and weight_of(counts) >= 2 * lightest
    if kinds < 2 or not large:
        return False
    return purest < 0.0 or impurity(criterion, counts, costs) > purest * (1.0 + 1e-12)


@compiled
def says_yes(key, p, place, members):
    """Whether an item of a column's keys, at place p, answers yes."""
    if place >= 0:
        return p <= place
    level = key >> RANK
    return level < len(members) and members[level] == 1


@compiled
def partition(row, start, end, middle, side, aside):
    """Bring the items that answer no before those that answer yes, both in their order."""
    a, b = start, 0
    for p in range(start, end):
        key = row[p]
        yes = np.int64(side[key & ITEM])
        row[a] = key
        aside[b] = key
        a += 1 - yes
        b += yes
    for p in range(middle, end):
        row[p] = aside[p - middle]


@compiled
def grow(
    keys,
    columns,
    n_levels,
    criterion,
    exact,
    weighted,
    weights,
    table,
    scale,
    costs,
    by_mean,
    most_leaves,
    most_depth,
    fewest_split,
    fewest,
    lightest,
    least,
    purest,
    links,
    threshold,
    gains,
    counts,
    members,
    constant,
):
    """Grow a tree, best node first.

    Parameters
    ----------
    keys : (d, m) array
        Partitioned in place.
    columns : (d, m) array
        The values, for the thresholds.
    by_mean : bool
        Whether the decrease is divided by the weight of its node before it is compared with others'.
    most_leaves, most_depth, fewest_split, fewest : int
        Limits; of items.
    lightest : float
        The weight that either side of a split must have.
    least : float
        The total decrease that a split must have.
    purest : float
        A node of this impurity or less is a leaf; negative if only one of a single class is.
    links : (5, room) array
        Filled, for each node: left child (-1 at leaves), parent, depth, column (-1 at leaves), items.
    threshold, gains : (room,) arrays
        Filled: nan at leaves and for levels; total decreases, 0 at leaves.
    counts : (room, k) array
        Filled; the first row is given.
    members : (room, levels) array
        Filled: the levels that say yes.
    constant : (room, d) array
        Of zeros.

    Returns
    -------
    (int, int)
        The number of nodes; or minus a number of levels that is too many, and the column.
    """
    d, m = keys.shape
    room, k = counts.shape
    left, parent, depth, feature, items = links[0], links[1], links[2], links[3], links[4]
    starts, places, where = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64)
    heap, priority, waiting = np.zeros(room, np.int64), np.zeros(room), np.int64(0)
    side, aside = np.zeros(m, np.uint8), np.zeros(m, np.int64)
    yes, no = np.zeros(k), np.zeros(k)
    left[0], parent[0], depth[0], feature[0], items[0], threshold[0] = -1, -1, 0, -1, m, np.nan
    nodes, fresh = np.int64(1), np.int64(0)
    leaves = 1
    while leaves < most_leaves:
        for node in range(fresh, nodes):
            start, end = starts[node], starts[node] + items[node]
            if depth[node] >= most_depth or not is_open(
                counts[node], items[node], fewest_split, fewest, lightest, criterion, costs, purest
            ):
                continue
            column, place = best_question(
                keys,
                start,
                end,
                n_levels,
                constant[node],
                criterion,
                exact,
                weighted,
                weights,
                counts[node],
                table,
                costs,
                fewest,
                lightest,
                members[node],
            )
            if column < 0:
                continue
            if place < -1:
                return place, column
            row = keys[column]
            for c in range(k):
                yes[c], no[c] = 0.0, 0.0
            for p in range(start, end):
                key = row[p]
                w = weights[key & ITEM] if weighted else 1.0
                if says_yes(key, p, place, members[node]):
                    yes[(key >> ITEM_BITS) & CLASS] += w
                else:
                    no[(key >> ITEM_BITS) & CLASS] += w
            gain = decrease(criterion, exact, no, yes, table, scale, costs)
            if gain < least * (1.0 - 1e-12):
                continue
            places[node], feature[node], gains[node], priority[node] = place, column, gain, gain
            if by_mean:
                priority[node] = rounded(gain / weight_of(counts[node]), 1.0)
            heap[waiting], where[node] = node, waiting
            waiting += 1
            lift(heap, where, priority, waiting - 1)
        if waiting == 0:
            break

        node = heap[0]
        take(heap, where, priority, waiting, 0)
        waiting -= 1
        leaves += 1
        start, end = starts[node], starts[node] + items[node]
        row, place = keys[feature[node]], places[node]
        if place >= 0:
            below, above = (
                columns[feature[node], row[place] & ITEM],
                columns[feature[node], row[place + 1] & ITEM],
            )
            threshold[node] = between(below, above)
        n_yes = 0
        for p in range(start, end):
            key = row[p]
            positive = int(says_yes(key, p, place, members[node]))
            side[key & ITEM] = positive
            counts[nodes + positive, (key >> ITEM_BITS) & CLASS] += weights[key & ITEM] if weighted else 1.0
            n_yes += positive
        left[node] = nodes
        for child in range(nodes, nodes + 2):
            left[child], parent[child], depth[child] = -1, node, depth[node] + 1
            feature[child], threshold[child] = -1, np.nan
            for j in range(d):
                constant[child, j] = constant[node, j]
        starts[nodes], items[nodes] = start, end - start - n_yes
        starts[nodes + 1], items[nodes + 1] = end - n_yes, n_yes
        # what is not looked at again needs no order
        if leaves < most_leaves and (
            is_open(counts[nodes], items[nodes], fewest_split, fewest, lightest, criterion, costs, purest)
            or is_open(counts[nodes + 1], n_yes, fewest_split, fewest, lightest, criterion, costs, purest)
        ):
            for j in range(d):
                if not constant[node, j]:
                    partition(keys[j], start, end, end - n_yes, side, aside)
        fresh, nodes = nodes, nodes + 2
    # what still waits remains a leaf
    for p in range(waiting):
        feature[heap[p]], gains[heap[p]] = -1, 0.0
    return nodes, -1


# ---------------------------------------------------------------------------------------------------
# Asking


@compiled
def descend(X, child, feature, threshold, members, n_levels, reached):
    """The leaf of every row of X. A missing value, or a level that is not in A, answers no.

    Eight rows go down together, as the processor need not wait for one of them before it loads another; and
    before that all their values are looked at once, one after the other, as memory likes it.

    Parameters
    ----------
    X : (n, d) array
    child : (nodes,) array
        Left children, of leaves the leaf itself; a right child is the next node.
    feature, threshold : (nodes,) arrays
        0 and nan at leaves, so that nothing answers yes there.
    members : (nodes, levels) array
        Levels of categorical questions that say yes.
    n_levels : (d,) array
        0 for numerical columns.
    reached : (n,) array
        Filled.

    Returns
    -------
    bool
        Whether a value is infinite or missing.
    """
    n, d = X.shape
    width = members.shape[1]
    uncommon = False
    at = np.zeros(8, np.int64)
    for start in range(0, n, 8):
        size = min(8, n - start)
        odd = 0
        for i in range(start, start + size):
            for j in range(d):
                odd += not (np.abs(X[i, j]) < np.inf)
        if odd > 0:
            uncommon = True
        for b in range(size):
            at[b] = 0
        moved = 1
        while moved > 0:
            moved = 0
            for b in range(size):
                node = at[b]
                j = feature[node]
                x = X[start + b, j]
                yes = x <= threshold[node]
                if width > 0 and n_levels[j] > 0:
                    yes = x >= 0.0 and x < width and members[node, int(x)] == 1 and child[node] != node
                below = child[node] + yes
                at[b] = below
                moved += below != node
        for b in range(size):
            reached[start + b] = at[b]
    return uncommon


# ---------------------------------------------------------------------------------------------------
# Pruning


@compiled
def weakest_links(left, right, parent, order, risk, tie, collapse):
    r"""From which penalty on each internal node is a leaf of the smallest minimiser.

    The node with the least :math:`r = (R(n) - \hat R(tree_n)) / (|L_n| - 1)` is collapsed, and so on; equal
    ones have equal penalties, whatever their order. Sums are formed anew from the children, so that no
    difference of large numbers remains.

    Parameters
    ----------
    left, right, parent : (nodes,) arrays
        -1 where there is none.
    order : (nodes,) array
        Nodes, parents before their children.
    risk : (nodes,) array
    tie : float
        Ratios that exceed the penalty by no more than this are equal to it.
    collapse : (nodes,) array
        Filled; infinity at leaves.
    """
    n = len(left)
    leaves, below = np.ones(n, dtype=np.int64), risk.copy()
    for q in range(n - 1, -1, -1):
        t = order[q]
        if left[t] >= 0:
            leaves[t] = leaves[left[t]] + leaves[right[t]]
            below[t] = below[left[t]] + below[right[t]]
    # a heap of nodes, the smallest ratio first; where[t] is the place of node t, -1 once it is out
    ratio = np.full(n, -np.inf)
    heap, where, length = np.empty(n, dtype=np.int64), np.full(n, -1), 0
    for t in range(n):
        collapse[t] = np.inf
        if left[t] >= 0:
            ratio[t] = -(risk[t] - below[t]) / (leaves[t] - 1)
            heap[length], where[t] = t, length
            length += 1
    for p in range(length - 1, -1, -1):
        sink(heap, where, ratio, length, p)
    penalty = 0.0
    stack = np.empty(n, dtype=np.int64)
    while length > 0:
        t = heap[0]
        if -ratio[t] > penalty + tie:
            penalty = -ratio[t]
        # the whole subtree leaves the heap at this penalty
        stack[0], depth = t, 1
        while depth > 0:
            depth -= 1
            s = stack[depth]
            if left[s] >= 0 and where[s] >= 0:
                take(heap, where, ratio, length, where[s])
                length -= 1
                collapse[s] = penalty
                stack[depth], stack[depth + 1] = left[s], right[s]
                depth += 2
        leaves[t], below[t] = 1, risk[t]
        s = parent[t]
        while s >= 0:
            leaves[s] = leaves[left[s]] + leaves[right[s]]
            below[s] = below[left[s]] + below[right[s]]
            ratio[s] = -(risk[s] - below[s]) / (leaves[s] - 1)
            lift(heap, where, ratio, where[s])
            sink(heap, where, ratio, length, where[s])
            s = parent[s]
