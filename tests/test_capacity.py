"""Shattering against its definition, separation against hulls and fractions, bounds against enumeration."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcutils import binary, capacity
from mcutils.exact import as_fractions


@st.composite
def tables(draw, max_k=3, max_points=4):
    k, n = draw(st.integers(2, max_k)), draw(st.integers(1, max_points))
    rows = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    return k, np.array(draw(st.lists(rows, min_size=1, max_size=30)))


def shatters(rows, points, first, second):
    """The definition word by word: two functions, different everywhere; a classifier for every mixture."""
    if any(f == s for f, s in zip(first, second, strict=True)):
        return False
    return all(
        any(
            all(row[p] == (f, s)[b] for p, f, s, b in zip(points, first, second, choice, strict=True))
            for row in rows
        )
        for choice in product((0, 1), repeat=len(points))
    )


def natarajan_twin(table, k):
    rows, n = table.tolist(), table.shape[1]
    best = 0
    for size in range(1, n + 1):
        labels = list(product(range(k), repeat=size))
        for points in combinations(range(n), size):
            if any(shatters(rows, points, f, s) for f in labels for s in labels):
                best = size
    return best


@settings(max_examples=40, deadline=None)
@given(tables(max_points=3))
def test_the_dimension_is_its_definition(drawn):
    k, table = drawn
    assert capacity.natarajan_dimension(table) == natarajan_twin(table, k)


@given(tables())
def test_the_shattered_set_is_shattered(drawn):
    _, table = drawn
    result = capacity.shattered_set(table)
    present = {tuple(row) for row in table[:, list(result.points)].tolist()}
    assert set(product(*result.pairs)) <= present


@given(tables())
def test_no_more_labelings_than_shattered_sets(drawn):
    k, table = drawn
    distinct = len(np.unique(table, axis=0))
    n, dimension = table.shape[1], capacity.natarajan_dimension(table)
    assert distinct <= capacity.n_shattered(table) <= capacity.natarajan_bound(n, dimension, k)
    assert capacity.n_shattered(table) == sum(capacity.n_shattered(table, size) for size in range(n + 1))
    for size in range(n + 1):
        assert capacity.growth(table, size) <= capacity.natarajan_bound(size, dimension, k)
    assert capacity.growth(table, n) == distinct


@given(st.integers(0, 12), st.integers(0, 12))
def test_sauer_is_the_sum(n, d):
    assert capacity.sauer(n, d) == sum(comb(n, i) for i in range(d + 1))


@pytest.mark.parametrize("l", [1, 2, 3, 5, 10, 45])
@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_the_bound_for_reductions(l, d):
    n = capacity.reduction_bound(l, d)
    assert 2**n <= capacity.sauer(n, d) ** l
    assert all(2**j > capacity.sauer(j, d) ** l for j in range(n + 1, n + 40))
    assert n <= capacity.closed_form(l, d)
    if l == 1:
        assert n == d
    if l * d >= 3:
        assert n <= 3 * l * d * log(l * d) + 1e-9 or (l, d) in {(1, 3), (3, 1)}


def test_the_bound_for_very_many_rules():
    """2^n has more digits than a memory holds: logarithms decide, with as many digits as it takes."""
    for l, d in ((10**9, 1), (10**12, 2)):
        n = capacity.reduction_bound(l, d)
        with localcontext() as context:
            context.prec = 60
            lead = [l * Decimal(capacity.sauer(j, d)).ln() / Decimal(2).ln() - j for j in (n, n + 1)]
        assert lead[0] > 0 > lead[1]


# --- decoding ------------------------------------------------------------


def test_decoding_row_by_row():
    for k in (2, 3, 4):
        for predictions in product((-1, 1), repeat=k):
            yes = [y for y in range(k) if predictions[y] > 0]
            row = np.array([predictions])
            assert capacity.smallest_positive(row) == (yes[0] if yes else 0)
            assert capacity.decision_list(row) == (yes[0] if yes else k - 1)
        pairs = list(combinations(range(k), 2))
        for predictions in product((-1, 0, 1), repeat=len(pairs)):
            wins = [Fraction(0)] * k
            for (y, r), predicted in zip(pairs, predictions, strict=True):
                wins[y] += Fraction(1 + predicted, 2)
                wins[r] += Fraction(1 - predicted, 2)
            assert capacity.vote(np.array([predictions])) == wins.index(max(wins))


def test_predictions_may_be_lists():
    assert capacity.vote([[1, -1, 1]]).tolist() == [0]
    assert capacity.smallest_positive([[-1, 1, 1], [-1, -1, -1]]).tolist() == [1, 0]
    assert capacity.decision_list(((-1, 1, 1), (-1, -1, -1))).tolist() == [1, 2]


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_how_sensitive_reductions_are(k):
    assert capacity.sensitivity(capacity.smallest_positive, k)[0] == k
    assert capacity.sensitivity(capacity.decision_list, k)[0] == k - 1
    size, predictions = capacity.sensitivity(capacity.vote, k * (k - 1) // 2)
    assert size == -(-((k - 1) ** 2) // 2)
    before = capacity.vote(np.array([predictions]))
    changed = 0
    for s in range(len(predictions)):
        flipped = np.array([predictions])
        flipped[0, s] *= -1
        changed += int(capacity.vote(flipped)[0] != before[0])
    assert changed == size


def test_reduction_labelings_are_all_of_them():
    half_lines = np.array([[s * (1 if j < t else -1) for j in range(3)] for t in range(4) for s in (1, -1)])
    rows = {tuple(row) for row in half_lines.tolist()}
    expected = set()
    for chosen in product(sorted(rows), repeat=2):
        expected.add(tuple(0 if a > 0 else 1 if b > 0 else 0 for a, b in zip(*chosen, strict=True)))
    result = capacity.reduction_labelings(half_lines, capacity.smallest_positive, 2)
    assert {tuple(row) for row in result.tolist()} == expected
    assert capacity.natarajan_dimension(result) <= capacity.reduction_bound(2, 2)


# --- separation ------------------------------------------------------------


def check_alternative(result, strict, weak):
    """Either certificate, in exact arithmetic."""
    strict, weak = as_fractions(strict), as_fractions(weak)
    if result.feasible:
        v = as_fractions(result.solution)
        assert min(strict @ v) > 0
        assert len(weak) == 0 or min(weak @ v) >= 0
        return
    assert min(result.strict) >= 0
    assert sum(result.strict) == 1
    assert len(weak) == 0 or min(result.weak) >= 0
    assert not any(result.strict @ strict + (result.weak @ weak if len(weak) else 0))


def check_separation(result, X, y, k, bias):
    """The separator, or the multipliers, of the very numbers in X."""
    points, y = as_fractions(X), np.asarray(y)
    rows = np.arange(len(y))
    if result.separable:
        scores = points @ as_fractions(result.weights).T + as_fractions(result.intercept)
        assert bias or not np.any(result.intercept)
        others = scores.copy()
        others[rows, y] = [min(row) - 1 for row in scores]
        assert min(scores[rows, y] - others.max(axis=1)) > 0
        assert result.margins.min() > 0
        return
    alpha = result.multipliers
    assert alpha.min() >= 0
    assert alpha.sum() == 1
    assert not alpha[rows, y].any()
    balance = -alpha
    balance[rows, y] += alpha.sum(axis=1)
    assert not (balance.T @ points).any()
    assert not bias or not balance.sum(axis=0).any()


inequalities = st.integers(1, 3).flatmap(
    lambda size: st.tuples(
        st.lists(st.lists(st.integers(-3, 3), min_size=size, max_size=size), min_size=1, max_size=6),
        st.lists(st.lists(st.integers(-3, 3), min_size=size, max_size=size), max_size=4),
    )
)


@settings(deadline=None)
@given(inequalities)
def test_one_of_the_alternatives_and_never_both(drawn):
    strict, weak = (np.array(rows, dtype=int) for rows in drawn)
    weak = weak.reshape(-1, strict.shape[1])
    exact, fast = capacity.decide(strict, weak, exact=True), capacity.decide(strict, weak)
    check_alternative(exact, strict, weak)
    check_alternative(fast, strict, weak)
    assert exact.exact
    assert exact.feasible == fast.feasible
    scaled = capacity.decide(strict * 2.0**-20, weak * 2.0**20)
    check_alternative(scaled, strict * 2.0**-20, weak * 2.0**20)
    assert scaled.feasible == exact.feasible


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=7), st.data())
def test_two_classes_on_a_line_are_separable_if_their_intervals_are_disjoint(places, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(places), max_size=len(places))))
    X = np.array(places)[:, None]
    zero, one = ([p for p, label in zip(places, labels, strict=True) if label == c] for c in (0, 1))
    disjoint = not zero or not one or max(zero) < min(one) or max(one) < min(zero)
    assert capacity.separable(X, labels, k=2, exact=True).separable == disjoint
    same_side = all(
        (p > 0) == (places[0] > 0) if c == labels[0] else (p < 0) == (places[0] > 0)
        for p, c in zip(places, labels, strict=True)
    )
    expected = 0 not in places and same_side
    assert capacity.separable(X, labels, k=2, fit_intercept=False).separable == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_certificates_of_separation(seed):
    rng = np.random.default_rng(seed)
    k, m, d = int(rng.integers(2, 5)), int(rng.integers(2, 9)), int(rng.integers(1, 4))
    X, y = rng.integers(-3, 4, size=(m, d)), rng.integers(k, size=m)
    for bias in (True, False):
        result = capacity.separable(X, y, k=k, fit_intercept=bias, exact=True)
        assert result.exact
        assert capacity.separable(X, y, k=k, fit_intercept=bias).separable == result.separable
        if result.separable:
            scores = X @ result.weights.T + result.intercept
            leads = [
                row[c] - max(row[r] for r in range(k) if r != c) for row, c in zip(scores, y, strict=True)
            ]
            assert leads == result.margins.tolist()
            assert min(leads) > 0
        else:
            check_separation(result, X, y, k, bias)


samples = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(st.integers(-3, 3), min_size=d, max_size=d), st.integers(0, 2)),
        min_size=2,
        max_size=7,
    )
)


@settings(max_examples=60, deadline=None)
@given(samples, st.lists(st.integers(-1070, 1020), min_size=3, max_size=3), st.booleans())
def test_no_power_of_two_changes_a_verdict(drawn, exponents, bias):
    """A factor for each feature, down to the subnormal numbers: nothing is rounded, so nothing may change."""
    A, y = np.array([x for x, _ in drawn]), [c for _, c in drawn]
    X = np.ldexp(A, exponents[: A.shape[1]])
    truth = capacity.separable(A, y, k=3, fit_intercept=bias, exact=True)
    result = capacity.separable(X, y, k=3, fit_intercept=bias)
    check_separation(truth, A, y, 3, bias)
    check_separation(result, X, y, 3, bias)
    assert result.separable == truth.separable


@settings(max_examples=60, deadline=None)
@given(samples, st.lists(st.integers(-300, 300), min_size=3, max_size=3), st.booleans())
def test_every_certificate_is_one_in_fractions(drawn, exponents, bias):
    """Powers of ten round, which may even separate what touched: the verdict is that of the rounded."""
    A, y = np.array([x for x, _ in drawn]), [c for _, c in drawn]
    X = A * 10.0 ** np.array(exponents[: A.shape[1]])
    result = capacity.separable(X, y, k=3, fit_intercept=bias)
    check_separation(result, X, y, 3, bias)
    assert result.separable == capacity.separable(X, y, k=3, fit_intercept=bias, exact=True).separable


@pytest.mark.parametrize("factor", [5e-324, 1e-300, 1e-20, 1e-12, 1.0, 1e150, 1e200, 3.5e307])
def test_a_sample_is_separable_at_every_scale(factor):
    X, y = np.array([[0.0, 0], [1, 0], [0, 1], [5, 5]]) * factor, [0, 1, 2, 1]
    result = capacity.separable(X, y, k=3)
    assert result.separable
    check_separation(result, X, y, 3, True)
    alone = capacity.separable(X, [0, 1, 2, 0], k=3, fit_intercept=False)
    assert not alone.separable
    check_separation(alone, X, [0, 1, 2, 0], 3, False)


def test_integers_are_what_they_are():
    """Unsigned ones, the least one and those beyond floating point: a negative must not wrap round."""
    assert capacity.separable(np.array([[0], [1], [2]], dtype=np.uint8), [0, 1, 2]).separable
    least = np.array([[-(2**63)], [0]])
    assert capacity.separable(least, [0, 1]).separable
    near = np.array([[2**60], [2**60 + 1]])
    check_separation(capacity.separable(near, [0, 1]), near, [0, 1], 2, True)
    huge = np.array([[10**400], [10**400 + 1]], dtype=object)
    check_separation(capacity.separable(huge, [0, 1]), huge, [0, 1], 2, True)
    numpys = np.array([[np.int64(1), np.float64(0.5)], [np.float32(0.5), Fraction(1, 3)]], dtype=object)
    check_separation(capacity.separable(numpys, [0, 1]), numpys, [0, 1], 2, True)
    mixed = capacity.decide([[2**60 + 1]], [[-(2.0**60)]])
    assert not mixed.feasible


def test_many_columns_are_decided_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 10))
    for y, truth in (
        (rng.integers(5, size=150), False),
        ((X @ rng.normal(size=(10, 5))).argmax(axis=1), True),
    ):
        result = capacity.separable(X, y)
        assert result.separable == truth
        check_separation(result, X, y, 5, True)


def test_a_distant_origin_hides_nothing():
    """More columns than fractions are tried on: floating point has to see the differences."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    for y in ((X @ rng.normal(size=(20, 4))).argmax(axis=1), np.tile([0, 1, 2, 3], 15)):
        result = capacity.separable(X + 1e7, y)
        assert result.separable == capacity.separable(X, y).separable
        check_separation(result, X + 1e7, y, 4, True)


def test_what_would_take_too_long_is_refused():
    """Two copies of a point, separated by less than floating point sees, in many dimensions."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 55)), 2, axis=0)
    X[1::2, 0] = np.nextafter(X[1::2, 0], np.inf)
    with pytest.raises(RuntimeError, match=r"floating point proves neither .* exact=True"):
        capacity.separable(X, np.tile([0, 1], 60))


def test_what_rounding_cannot_decide_is_decided_in_fractions():
    near = capacity.separable([[0.0], [1e-11], [1.0]], [0, 1, 1])
    assert near.separable
    assert not near.exact
    nearest = capacity.separable([[2**60], [2**60 + 1]], [0, 1])  # no constant in floats is between
    assert nearest.separable
    assert nearest.exact
    tie = capacity.separable([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert not tie.separable
    third = [[Fraction(1, 3)], [Fraction(2, 3)]]
    assert capacity.separable(third, [0, 1], exact=True).margins.min() > 0


@pytest.mark.parametrize(("k", "n"), [(2, 4), (3, 5)])
def test_labelings_of_the_line_are_blocks(k, n):
    """Upper envelopes of lines: each class in one interval, in any order."""
    result = {tuple(row) for row in capacity.linear_labelings(np.arange(n)[:, None], k).tolist()}
    blocks = {
        row
        for row in product(range(k), repeat=n)
        if len([1 for j in range(1, n) if row[j] != row[j - 1]]) == len(set(row)) - 1
    }
    assert result == blocks
    assert capacity.natarajan_dimension(np.array(sorted(result))) == 2 * (k // 2)


def test_ties_matter_without_bias_only():
    ends = np.array([[1], [-1]])
    assert capacity.realises(ends, [0, 0], 3, fit_intercept=False)
    assert not capacity.realises(ends, [2, 2], 3, fit_intercept=False)
    assert capacity.natarajan_dimension(capacity.linear_labelings(ends, 3, fit_intercept=False)) == 2
    assert all(capacity.realises(ends, [c, c], 3) for c in range(3))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_two_classes_agree_with_the_binary_programme(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(int(rng.integers(2, 9)), 2))
    y = rng.integers(2, size=len(X))
    y[:2] = 0, 1
    for bias in (True, False):
        here = capacity.separable(X, y, fit_intercept=bias).separable
        assert here == binary.separate(X, 2 * y - 1, fit_intercept=bias).separable


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: capacity.natarajan_dimension([0, 1]), "table must have a row"),
        (lambda: capacity.natarajan_dimension([[0.5]]), "classes as integers"),
        (lambda: capacity.growth([[0, 1]], 3), "size must be an integer from 0 to 2, found 3"),
        (lambda: capacity.n_shattered([[0]], -1), "at least 0"),
        (lambda: capacity.natarajan_bound(3, 1, 1), "k must be an integer, at least 2, found 1"),
        (lambda: capacity.reduction_bound(0, 1), "l must be an integer, at least 1, found 0"),
        (lambda: capacity.closed_form(1, 0), "d must be an integer, at least 1, found 0"),
        (lambda: capacity.sensitivity(capacity.vote, 21), "from 1 to 20"),
        (lambda: capacity.vote(np.ones((1, 2))), "no number of pairs"),
        (lambda: capacity.reduction_labelings([[0]], capacity.vote, 1), "entries"),
        (lambda: capacity.reduction_labelings([[1], [-1]], capacity.decision_list, 30), "at most"),
        (lambda: capacity.decide(np.zeros((0, 2))), "at least one row"),
        (lambda: capacity.decide([[1.0]], [[1.0, 2.0]]), "must agree"),
        (lambda: capacity.decide([[np.nan]]), "finite"),
        (lambda: capacity.decide([["a"]]), "real numbers"),
        (lambda: capacity.decide(np.array([[None]])), "numbers or fractions"),
        (lambda: capacity.separable([1.0], [0]), "must be a matrix"),
        (lambda: capacity.separable([[1.0]], [0, 1]), "one integer for each"),
        (lambda: capacity.separable([[1.0]], [3], k=2), "from 0 to 1"),
        (lambda: capacity.separable([[1.0]], [0], k=1), "k must be an integer, at least 2, found 1"),
        (lambda: capacity.vote(["a"]), "outputs must be a matrix"),
        (lambda: capacity.vote([["a"]]), "outputs must hold real numbers, found dtype <U1"),
        (lambda: capacity.smallest_positive([[np.nan]]), "outputs must be numbers, found nan"),
        (lambda: capacity.decision_list([[]]), "outputs must be a matrix with a column for each rule"),
        (lambda: capacity.decide([[1.0, np.nan]]), "strict must be finite, found nan"),
        (lambda: capacity.decide(np.array([[1, float("nan")]], dtype=object)), "strict must be finite"),
        (lambda: capacity.decide([[1j]]), "strict must hold real numbers, found dtype complex128"),
        (lambda: capacity.decide([[1]], exact="no"), "exact must be True or False, found 'no'"),
        (
            lambda: capacity.separable([[1.0]], [0], fit_intercept=None),
            "fit_intercept must be True or False, found None",
        ),
        (lambda: capacity.separable([[1.0]], [0], k=2.5), "k must be an integer, at least 2, found 2.5"),
        (
            lambda: capacity.realises([[1.0]], [0], 2, fit_intercept="no"),
            "fit_intercept must be True or False",
        ),
        (lambda: capacity.linear_labelings(3, 2), "X must be a matrix"),
        (lambda: capacity.linear_labelings([[1.0]], 2.5), "k must be an integer"),
        (lambda: capacity.n_shattered([[0]], 1.5), "size must be an integer"),
        (lambda: capacity.sauer(2.5, 1), "n must be an integer"),
        (lambda: capacity.sauer(2, -1), "d must be an integer, at least 0, found -1"),
        (lambda: capacity.reduction_labelings([[1]], capacity.vote, 1.5), "l must be an integer"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
