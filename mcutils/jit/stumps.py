r"""The search of the best stump for k classes, and the two weights of a round of boosting.

The signed weights :math:`D(i, l) \, Y_{il}` of the examples i and classes l stand in blocks of four classes:
``G[b, i, q]`` belongs to the class 4 b + q, and is 0 for classes that there are not. So the four sums of a
sweep stay in registers, and what it reads in the order of a feature, here and there, stays in a cache.

A stump parts the examples by a threshold. For the class l let the signed weights of its left side have the
sum :math:`c_l`, and those of all examples the sum :math:`t_l`. The edge :math:`1 - 2 \varepsilon` of the best
votes is

.. math:: \sum_l |t_l - 2 c_l|, \qquad \text{or} \qquad
   \sum_l |c_l| + |t_l - c_l| = \sum_l \max(|t_l|, |t_l - 2 c_l|)

if both sides vote independently. It is the same if left and right change places,
:math:`c_l \to t_l - c_l`. So the thresholds below the commonest value of a feature are reached from the left,
those above it from the right, and the examples that have it are never visited.

Of a large sample the examples are not visited in the order of a feature at first. Their weights would not
stay in a cache, and from some size on the sweep would take several times as long. Instead the order is cut
into buckets, and each example adds its weights to those of its bucket. That gives the edges of the thresholds
between the buckets. From one bucket to the next, :math:`|t_l - 2 c_l|` moves by at most twice the weights of
the class in the bucket. So no edge in between is larger than the mean of those at the two borders plus the
weights of all classes in the bucket, and only the few buckets where this could be the largest are swept.
"""

import numpy as np

from mcutils.jit import compiled


@compiled
def sweep_up(order, last, rows, total, least, edges):
    """Add what four classes contribute to half of the edges of the thresholds after the first examples.

    Parameters
    ----------
    order : (m,) array
        The examples, sorted by a feature.
    last : int
        How many of them are visited.
    rows : (m, 4) array
        The signed weights of four classes.
    total, least : (4,) arrays
        Their sums, and what the edge of each class is at least.
    edges : (m,) array
        Entry n, added to, belongs to a threshold after n + 1 examples.
    """
    h0, h1, h2, h3 = 0.5 * least[0], 0.5 * least[1], 0.5 * least[2], 0.5 * least[3]
    # c - t / 2, from c = 0 on
    c0, c1, c2, c3 = -0.5 * total[0], -0.5 * total[1], -0.5 * total[2], -0.5 * total[3]
    for place in range(last):
        i = order[place]
        c0 += rows[i, 0]
        c1 += rows[i, 1]
        c2 += rows[i, 2]
        c3 += rows[i, 3]
        edges[place] += (max(h0, abs(c0)) + max(h1, abs(c1))) + (max(h2, abs(c2)) + max(h3, abs(c3)))


@compiled
def sweep_down(order, first, rows, total, least, edges):
    """The same for the thresholds before the last examples, from that of the number ``first`` on."""
    h0, h1, h2, h3 = 0.5 * least[0], 0.5 * least[1], 0.5 * least[2], 0.5 * least[3]
    c0, c1, c2, c3 = -0.5 * total[0], -0.5 * total[1], -0.5 * total[2], -0.5 * total[3]
    for place in range(len(order) - 1, first - 1, -1):
        i = order[place]
        c0 += rows[i, 0]
        c1 += rows[i, 1]
        c2 += rows[i, 2]
        c3 += rows[i, 3]
        edges[place - 1] += (max(h0, abs(c0)) + max(h1, abs(c1))) + (max(h2, abs(c2)) + max(h3, abs(c3)))


@compiled
def sums_of_values(order, ends, common, rows):
    """For each value of a feature the sum of its rows, (n, 4); 0 for the commonest, which is never used."""
    sums = np.zeros((len(ends), 4))
    start = 0
    for n in range(len(ends)):
        c0 = c1 = c2 = c3 = 0.0
        if n != common:
            for place in range(start, ends[n]):
                i = order[place]
                c0 += rows[i, 0]
                c1 += rows[i, 1]
                c2 += rows[i, 2]
                c3 += rows[i, 3]
        sums[n, 0], sums[n, 1], sums[n, 2], sums[n, 3] = c0, c1, c2, c3
        start = ends[n]
    return sums


@compiled
def edges_of(order, ends, common, G, totals, least):
    """The edge of each threshold of a feature.

    Parameters
    ----------
    order : (m,) array
        The examples, sorted by the feature.
    ends : (n,) array
        How many examples there are up to each value.
    common : int
        Which of the values most examples have.
    G, totals, least : arrays
        The signed weights; their sums over all examples; what the edge of each class is at least.

    Returns
    -------
    (n - 1,) array
    """
    n = len(ends)
    if 4 * n < len(order):  # few values: sum up first what belongs to each
        edges, values = np.zeros(n), np.arange(n)
        for b in range(len(G)):
            sums = sums_of_values(order, ends, common, G[b])
            sweep_up(values, common, sums, totals[b], least[b], edges)
            sweep_down(values, common + 1, sums, totals[b], least[b], edges)
        return 2.0 * edges[:-1]
    edges = np.zeros(len(order))
    for b in range(len(G)):
        sweep_up(order, ends[common - 1] if common > 0 else 0, G[b], totals[b], least[b], edges)
        sweep_down(order, ends[common], G[b], totals[b], least[b], edges)
    return 2.0 * edges[ends[:-1] - 1]


@compiled
def largest_edges(first, last, order, ends, starts, common, G, totals, least, largest):
    """Fill in the largest edge of each feature from the first to before the last; -1 without a threshold.

    The ``ends`` of the features stand one after the other, those of feature j from ``starts[j]`` on.
    """
    for j in range(first, last):
        largest[j] = -1.0
        if starts[j + 1] - starts[j] > 1:
            own = ends[starts[j] : starts[j + 1]]
            largest[j] = edges_of(order[j], own, common[j], G, totals, least).max()


@compiled
def add_to_buckets(codes, rows, sums):
    """Add each row to the sum of its bucket, a row of ``sums``."""
    for i in range(len(codes)):
        q = codes[i]
        r0, r1, r2, r3 = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        c0, c1, c2, c3 = sums[q, 0], sums[q, 1], sums[q, 2], sums[q, 3]
        sums[q, 0], sums[q, 1], sums[q, 2], sums[q, 3] = c0 + r0, c1 + r1, c2 + r2, c3 + r3


@compiled
def edges_of_buckets(first, last, codes, begins, G, totals, least):
    """The edges of the thresholds after each bucket of each feature, from that of the feature ``first`` on.

    Some thousand examples are taken at a time, whose weights stay in a cache for all features.
    """
    origin = begins[first]
    edges = np.zeros(begins[last] - origin)
    sums = np.empty((len(edges), 4))
    places = np.arange(len(edges))
    for b in range(len(G)):
        sums[:] = 0.0
        for start in range(0, codes.shape[1], 8192):
            for j in range(first, last):
                if begins[j + 1] > begins[j]:
                    own = sums[begins[j] - origin : begins[j + 1] - origin]
                    add_to_buckets(codes[j, start : start + 8192], G[b, start : start + 8192], own)
        for j in range(first, last):
            begin, end = begins[j] - origin, begins[j + 1] - origin
            sweep_up(places, end - begin, sums[begin:end], totals[b], least[b], edges[begin:end])
    return 2.0 * edges


@compiled
def bounds_of_buckets(edges, inner, mass, factor):
    """What no edge of a threshold within a bucket exceeds, from the edges after each; -1 if there is none."""
    bounds = np.full(len(edges), -1.0)
    left = edges[-1]  # all examples on one side
    for q in range(len(edges)):
        if inner[q]:
            bounds[q] = 0.5 * (left + edges[q]) + factor * mass[q]
        left = edges[q]
    return bounds


@compiled
def edges_above(j, enough, codes, begins, inner, mass, factor, order, own, G, totals, least):
    """The edge of each threshold of a feature, or -1 where it is surely less than ``enough``.

    Parameters
    ----------
    j : int
        The feature.
    own : (n,) array
        Its ends: how many examples there are up to each value.
    codes, begins, inner, mass, factor, order, G, totals, least
        As of :func:`screened_edges`.

    Returns
    -------
    (n - 1,) array
    """
    first, last = begins[j], begins[j + 1]
    coarse = edges_of_buckets(j, j + 1, codes, begins, G, totals, least)
    near = bounds_of_buckets(coarse, inner[first:last], mass[first:last], factor) >= enough
    counts = np.zeros(len(coarse), np.int64)
    for i in range(codes.shape[1]):
        counts[codes[j, i]] += 1
    fine, sums = np.zeros(codes.shape[1]), np.empty((len(coarse), 4))
    for b in range(len(G)):
        sums[:] = 0.0
        add_to_buckets(codes[j], G[b], sums)
        before, start = -0.5 * totals[b], 0  # c - t / 2 before each bucket, as a sweep has it
        for q in range(len(coarse)):
            if near[q]:
                within = order[j, start : start + counts[q]]
                sweep_up(within, counts[q], G[b], -2.0 * before, least[b], fine[start : start + counts[q]])
            before += sums[q]
            start += counts[q]
    edges = np.full(len(own) - 1, -1.0)
    for n in range(len(own) - 1):
        q = codes[j, order[j, own[n] - 1]]
        if near[q]:
            edges[n] = 2.0 * fine[own[n] - 1]
        elif codes[j, order[j, own[n]]] != q:  # between two buckets
            edges[n] = coarse[q]
    return edges


@compiled
def screened_edges(
    first, last, codes, begins, inner, mass, factor, order, ends, starts, common, G, totals, least, largest
):
    """Fill in the largest edge of each feature, or a smaller number where it is not the largest of them all.

    Parameters
    ----------
    first, last, order, ends, starts, common, G, totals, least, largest
        As of :func:`largest_edges`.
    codes : (d, m) array
        The bucket of each example by each feature.
    begins : (d + 1,) array
        Where the buckets of a feature begin among those of all; a feature without buckets is swept.
    inner : array of bool
        Whether a bucket has more than one value, and so a threshold within.
    mass : array
        The weights in each bucket, those of all classes, but for ...
    factor : float
        by how much they can have grown since.
    """
    bounds, between = np.empty(last - first), edges_of_buckets(first, last, codes, begins, G, totals, least)
    for j in range(first, last):
        bounds[j - first] = largest[j] = -1.0
        if begins[j + 1] == begins[j]:
            largest_edges(j, j + 1, order, ends, starts, common, G, totals, least, largest)
            continue
        some = slice(begins[j], begins[j + 1])
        edges = between[begins[j] - begins[first] : begins[j + 1] - begins[first]]
        if len(edges) > 1:
            largest[j] = edges[:-1].max()
        bounds[j - first] = bounds_of_buckets(edges, inner[some], mass[some], factor).max()
    best = largest[first:last].max()
    for j in range(first, last):
        enough = best - 1e-9  # rounding is less
        if bounds[j - first] >= enough:
            own = ends[starts[j] : starts[j + 1]]
            edges = edges_above(j, enough, codes, begins, inner, mass, factor, order, own, G, totals, least)
            largest[j] = edges.max()
            best = max(best, largest[j])


@compiled
def masses_of_buckets(codes, begins, G, mass):
    """Fill in the weights in each bucket of each feature, those of all classes."""
    weights = np.zeros(G.shape[1])
    for b in range(G.shape[0]):
        for i in range(G.shape[1]):
            weights[i] += (abs(G[b, i, 0]) + abs(G[b, i, 1])) + (abs(G[b, i, 2]) + abs(G[b, i, 3]))
    mass[:] = 0.0
    for j in range(len(codes)):
        if begins[j + 1] > begins[j]:
            own = mass[begins[j] : begins[j + 1]]
            for i in range(len(weights)):
                own[codes[j, i]] += weights[i]


@compiled
def sums(G, right, of_left, of_right):
    """Fill in, for each class, the sums of the signed weights on both sides."""
    for b in range(G.shape[0]):
        for i in range(G.shape[1]):
            side = of_right if right[i] else of_left
            for q in range(4):
                side[b, q] += G[b, i, q]


@compiled
def masses(G, right, votes_left, votes_right):
    """The weights of all pairs that the votes get wrong, and of those that they get right."""
    wrong, correct = np.zeros(4), np.zeros(4)
    for b in range(G.shape[0]):
        for i in range(G.shape[1]):
            votes = votes_right if right[i] else votes_left
            for q in range(4):
                signed = votes[b, q] * G[b, i, q]
                correct[q] += max(signed, 0.0)
                wrong[q] += max(-signed, 0.0)
    return wrong.sum(), correct.sum()


@compiled
def reweigh(G, right, votes_left, votes_right, if_wrong, if_correct, totals, mass):
    """Multiply the weights of the pairs that the votes get wrong, and of those that they get right.

    Fill in, for each class, the sum of the signed weights that result, and that of their absolute values.
    """
    totals[:] = 0.0
    mass[:] = 0.0
    for b in range(G.shape[0]):
        for i in range(G.shape[1]):
            votes = votes_right if right[i] else votes_left
            for q in range(4):
                G[b, i, q] *= if_wrong if votes[b, q] * G[b, i, q] < 0.0 else if_correct
                totals[b, q] += G[b, i, q]
                mass[b, q] += abs(G[b, i, q])
