"""The margin bounds: their terms against twins, what they refuse, and the chain of the proof."""

from decimal import Decimal, getcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import comb, inf, isclose, log, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcutils import bound
from mcutils.bound import Bound, best_rho, chain, complexity_term, samples_needed, steps
from mcutils.margin import empirical_margin_loss

getcontext().prec = 40
DELTAS = st.floats(1e-6, 0.999)
KINDS = ("quadratic", "linear", "sqrt")
KERNEL_BOUNDS = {kind: partial(bound.kernel_bound, kind=kind) for kind in KINDS}


def problem(m=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, k)), rng.integers(k, size=m)


# below 1e-300 numbers lose digits one after the other
close = partial(isclose, rel_tol=1e-12, abs_tol=1e-300)


# ---------------------------------------------------------------------------------------------------
# The formulas, typed a second time in decimal arithmetic


def confidence_twin(m, delta, data_dependent=False, octaves=0):
    inside = ((2 if data_dependent else 1) / Decimal(delta)).ln() + Decimal(octaves) * Decimal(2).ln()
    return (3 if data_dependent else 1) * (inside / (2 * m)).sqrt()


def factor_twin(kind, k):
    root = Decimal(k).sqrt()
    b = Decimal(k - 1).sqrt() * (1 + 1 / (root + 1))
    return {"quadratic": Decimal(2) * k * k, "linear": 2 * root * b, "sqrt": 2 * b}[kind]


def class_factor_twin(kind, k):
    """For any class of scores: 4 (k - 1) for even k, 4 k^2 / (k + 1) for odd k."""
    if kind == "quadratic":
        return Decimal(2) * k * k
    return Decimal(4) * k * k / (k + 1) if k % 2 else Decimal(4) * (k - 1)


def log2_twin(x):
    return Decimal(x).ln() / Decimal(2).ln()


@given(st.floats(0, 1), st.floats(0, 10), st.integers(1, 10**9), DELTAS, st.booleans())
def test_the_uniform_bound_is_the_sum_of_its_terms(empirical, complexity, m, delta, data_dependent):
    result = bound.uniform(empirical, complexity, m, delta, data_dependent)
    assert result.empirical == empirical
    assert result.complexity == 2 * complexity
    assert close(result.confidence, confidence_twin(m, delta, data_dependent))
    # the float nearest to the exact sum; what sum() makes of floats depends on the version of Python
    assert result.total == float(sum(map(Fraction, result.terms.values())))
    assert result.vacuous == (result.total >= 1)


@given(st.integers(2, 8), st.floats(0.01, 3), st.floats(0, 2), DELTAS, st.booleans(), st.booleans())
def test_the_margin_bound(k, rho, complexity, delta, data_dependent, linear):
    scores, y = problem(k=k)
    kind = "linear" if linear else "quadratic"
    result = bound.margin_bound(scores, y, rho, complexity, delta, kind=kind, data_dependent=data_dependent)
    assert result.empirical == empirical_margin_loss(scores, y, rho)
    expected = class_factor_twin(kind, k) * Decimal(complexity) / Decimal(rho)
    assert close(result.complexity, expected)
    assert close(result.confidence, confidence_twin(40, delta, data_dependent))


@given(st.integers(2, 8), st.floats(0.01, 1), DELTAS, st.booleans())
def test_uniform_in_rho_doubles_one_term_and_adds_octaves_to_the_other(k, rho, delta, data_dependent):
    scores, y = problem(k=k)
    fixed = bound.margin_bound(scores, y, rho, 0.1, delta, data_dependent=data_dependent)
    result = bound.margin_bound(
        scores, y, rho, 0.1, delta, data_dependent=data_dependent, uniform_in_rho=True
    )
    assert result.empirical == fixed.empirical
    assert result.complexity == 2 * fixed.complexity
    octaves = 2 - log2_twin(rho)
    assert close(result.confidence, confidence_twin(40, delta, data_dependent, octaves))


@given(st.sampled_from(KINDS), st.integers(2, 6), st.floats(0.01, 1), st.floats(0, 50), DELTAS, st.booleans())
@example(
    "quadratic", 2, 0.1875, 5e-324, 0.5, False
)  # norm / rho is not a whole number of the smallest floats
def test_the_kernel_bounds(kind, k, rho, norm, delta, from_gram):
    scores, y = problem(k=k)
    rng = np.random.default_rng(k)
    X = rng.normal(size=(40, 3))
    size = (Decimal(float((X * X).sum())).sqrt() / 40) if from_gram else 3 / Decimal(40).sqrt()
    given_size = {"gram": X @ X.T} if from_gram else {"radius": 3.0}
    result = KERNEL_BOUNDS[kind](scores, y, rho, norm, delta, **given_size)
    penalty = factor_twin(kind, k) * size / Decimal(rho)
    assert close(result.complexity, penalty * Decimal(norm))
    assert close(result.confidence, confidence_twin(40, delta, from_gram))
    for in_rho, in_norm in ((True, False), (False, True), (True, True)):
        options = {"uniform_in_rho": in_rho, "uniform_in_norm": in_norm}
        result = KERNEL_BOUNDS[kind](scores, y, rho, norm, delta, **given_size, **options)
        least = (Decimal(1) if in_norm else Decimal(norm)) / (Decimal(1) if in_rho else Decimal(rho))
        used = max(Decimal(norm) / Decimal(rho), least)
        assert close(result.complexity, 2 * penalty * Decimal(rho) * used)
        octaves = 2 + (log2_twin(used / least) if least else -log2_twin(rho) if in_rho else 0)
        assert close(result.confidence, confidence_twin(40, delta, from_gram, octaves))


def test_only_the_trace_of_a_gram_matrix_counts():
    scores, y = problem()
    X = np.random.default_rng(1).normal(size=(40, 3))
    whole, diagonal = (
        bound.kernel_bound(scores, y, 0.5, 2, 0.1, gram=gram) for gram in (X @ X.T, (X * X).sum(axis=1))
    )
    assert whole.complexity == pytest.approx(diagonal.complexity, rel=1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_margin_and_norm_matter_through_their_ratio_alone(name):
    """(f, rho, Lambda) and (2f, 2 rho, 2 Lambda) are the same classifier (rem-bound-scale)."""
    scores, y = problem()
    options = {"uniform_in_rho": True, "uniform_in_norm": True, "radius": 1.5}
    once = KERNEL_BOUNDS[name](scores, y, 0.25, 8, 0.1, rho_max=0.5, norm_min=2, **options)
    twice = KERNEL_BOUNDS[name](2 * scores, y, 0.5, 16, 0.1, rho_max=1, norm_min=4, **options)
    assert once == twice


def test_the_order_of_the_kernel_bounds():
    """2 b_k < 2 sqrt(k) b_k < 4 k - 3 and 2 k^2, and sqrt(k - 1) < b_k < 1 + sqrt(k - 1)."""
    for k in range(2, 40):
        terms = [complexity_term(kind, k, 100, 0.7) for kind in KINDS]
        assert terms[2] < terms[1] < terms[0]
        b = complexity_term("sqrt", k, 1) / 2
        assert (k - 1) ** 0.5 < b < 1 + (k - 1) ** 0.5
        assert complexity_term("linear", k, 1) < 4 * k - 3
    assert complexity_term("linear", 2, 1) == pytest.approx(4)  # as for any class of two


# ---------------------------------------------------------------------------------------------------
# Behaviour


@given(st.integers(2, 6), st.floats(0.01, 1), DELTAS)
def test_bounds_shrink_with_m_and_delta_and_grow_with_complexity(k, rho, delta):
    scores, y = problem(k=k)
    more = np.tile(scores, (3, 1)), np.tile(y, 3)
    here = bound.margin_bound(scores, y, rho, 0.1, delta)
    assert bound.margin_bound(*more, rho, 0.1, delta).total < here.total
    assert bound.margin_bound(scores, y, rho, 0.1, delta / 2).total > here.total
    assert bound.margin_bound(scores, y, rho, 0.2, delta).total > here.total
    assert bound.margin_bound(scores, y, rho, 0.1, delta, uniform_in_rho=True).total > here.total
    assert bound.margin_bound(scores, y, rho, 0.1, delta, data_dependent=True).total > here.total


def test_the_two_ends_of_delta():
    """At delta -> 1 the third term of the first form vanishes, that of the second does not."""
    assert bound.uniform(0, 0, 100, np.nextafter(1.0, 0)).confidence < 1e-9
    second = bound.uniform(0, 0, 100, np.nextafter(1.0, 0), data_dependent=True).confidence
    assert second == pytest.approx(3 * (log(2) / 200) ** 0.5)
    assert bound.uniform(0, 0, 100, 5e-324).confidence == pytest.approx((744.4 / 200) ** 0.5, rel=1e-3)


@given(st.integers(0, 10**6), st.floats(0, 0.05), DELTAS, st.booleans())
def test_best_rho_is_the_least_of_a_grid_and_no_worse_than_the_closed_form(seed, complexity, delta, data):
    scores, y = problem(seed=seed)
    rho, result = best_rho(scores, y, complexity, delta, data_dependent=data)
    twin = {}
    for j in range(40):
        fixed = bound.margin_bound(
            scores, y, 2.0**-j, complexity, delta * 2.0 ** -(j + 1), data_dependent=data
        )
        twin[2.0**-j] = fixed.total
    assert result.total == pytest.approx(min(twin.values()), rel=1e-12)
    assert result.total == pytest.approx(twin[rho], rel=1e-12)
    for other in (1.0, 0.7, 0.5, 0.3, 0.011):
        closed = bound.margin_bound(
            scores, y, other, complexity, delta, data_dependent=data, uniform_in_rho=True
        )
        assert result.total <= closed.total + 1e-12


def test_best_rho_ends_even_when_nothing_stops_it():
    rho, result = best_rho([[1e-320, 0.0], [0.0, 1.0]], [0, 1], 0.0, 0.5)
    assert rho > 0
    assert result.total < 2


@given(
    st.sampled_from(KINDS), st.integers(2, 50), st.floats(0.01, 20), DELTAS, st.floats(0, 0.8), st.booleans()
)
def test_samples_needed_is_the_first(kind, k, ratio, delta, empirical, data_dependent):
    m = samples_needed(kind, k, ratio, delta, empirical, data_dependent=data_dependent)

    def total(size):
        factor = (3 if data_dependent else 1) * (log((2 if data_dependent else 1) / delta) / 2 / size) ** 0.5
        return empirical + complexity_term(kind, k, size, ratio) + factor

    assert total(m) < 1 + 1e-9
    assert m == 1 or total(m - 1) > 1 - 1e-9


def test_curves_broadcast():
    k, m = np.array([2, 10, 100]), np.array([[100], [10_000]])
    table = complexity_term("quadratic", k, m, 0.5)
    assert table.shape == (2, 3)
    assert table[1, 1] == pytest.approx(2 * 100 * 0.5 / 100)


# ---------------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, nan, inf, True, [0.1]])
def test_delta_lies_between_0_and_1(delta):
    scores, y = problem()
    for call in (
        lambda: bound.uniform(0.1, 0.1, 10, delta),
        lambda: bound.margin_bound(scores, y, 1, 0.1, delta),
        lambda: bound.kernel_bound(scores, y, 1, 1, delta, radius=1),
        lambda: best_rho(scores, y, 0.1, delta),
        lambda: samples_needed("linear", 3, 1, delta),
    ):
        with pytest.raises(ValueError, match="delta must"):
            call()


@pytest.mark.parametrize("rho", [0, -1, nan, inf, [0.5, 1.0], True])
def test_rho_is_one_positive_number(rho):
    scores, y = problem()
    for call in (bound.margin_bound, *KERNEL_BOUNDS.values()):
        options = {} if call is bound.margin_bound else {"radius": 1.0}
        with pytest.raises(ValueError, match="rho must"):
            call(scores, y, rho, 0.1, 0.1, **options)


def test_what_was_chosen_from_the_data_needs_the_uniform_form():
    scores, y = problem()
    with pytest.raises(ValueError, match=r"rho=0\.5 was chosen from the data.*uniform_in_rho=True"):
        bound.margin_bound(scores, y, 0.5, 0.1, 0.1, rho_chosen_from_data=True)
    for call in KERNEL_BOUNDS.values():
        with pytest.raises(ValueError, match=r"rho=0\.5 was chosen.*uniform_in_rho=True"):
            call(scores, y, 0.5, 1, 0.1, radius=1, rho_chosen_from_data=True, uniform_in_norm=True)
        with pytest.raises(ValueError, match=r"norm_bound=1 was chosen.*uniform_in_norm=True"):
            call(scores, y, 0.5, 1, 0.1, radius=1, norm_chosen_from_data=True, uniform_in_rho=True)
        both = {"rho_chosen_from_data": True, "norm_chosen_from_data": True}
        call(scores, y, 0.5, 1, 0.1, radius=1, uniform_in_rho=True, uniform_in_norm=True, **both)
    with pytest.raises(ValueError, match=r"up to rho_max=1\.0, found rho=2\.0"):
        bound.margin_bound(scores, y, 2, 0.1, 0.1, uniform_in_rho=True)


def test_other_refusals_name_the_argument():
    scores, y = problem()
    with pytest.raises(ValueError, match="at least two classes"):
        bound.margin_bound(scores[:, :1], np.zeros(40, int), 1, 0.1, 0.1)
    with pytest.raises(ValueError, match="complexity must be a finite number, at least 0"):
        bound.margin_bound(scores, y, 1, -0.1, 0.1)
    with pytest.raises(ValueError, match="empirical must"):
        bound.uniform(1.2, 0.1, 10, 0.1)
    with pytest.raises(ValueError, match="m must be an integer"):
        bound.uniform(0.2, 0.1, 0, 0.1)
    with pytest.raises(ValueError, match=r"kind must be one of .* found 'cubic'"):
        complexity_term("cubic", 3, 10)
    with pytest.raises(ValueError, match="kind must be one of 'quadratic', 'linear', found 'sqrt'"):
        bound.margin_bound(scores, y, 1, 0.1, 0.1, kind="sqrt")
    with pytest.raises(ValueError, match="k must be"):
        complexity_term("linear", 1, 10)
    with pytest.raises(ValueError, match="found none"):
        bound.kernel_bound(scores, y, 1, 1, 0.1)
    with pytest.raises(ValueError, match="found both"):
        bound.kernel_bound(scores, y, 1, 1, 0.1, radius=1, gram=np.eye(40))
    with pytest.raises(ValueError, match=r"found shape \(3, 3\)"):
        bound.kernel_bound(scores, y, 1, 1, 0.1, gram=np.eye(3))
    with pytest.raises(ValueError, match="negative"):
        bound.kernel_bound(scores, y, 1, 1, 0.1, gram=-np.eye(40))
    with pytest.raises(ValueError, match="target must exceed"):
        samples_needed("linear", 3, 1, 0.1, empirical=1.0)
    with pytest.raises(ValueError, match="signs"):
        steps(np.zeros((1, 4, 2)), [0, 1, 0, 1], 1, np.ones((2, 3)))
    with pytest.raises(ValueError, match="values"):
        chain(np.zeros((4, 2)), [0, 1, 0, 1], 1)
    with pytest.raises(ValueError, match="2\\^21 signs"):
        chain(np.zeros((1, 21, 2)), [0] * 21, 1)


# ---------------------------------------------------------------------------------------------------
# The chain of the proof, against fractions


def complexity_twin(family, m):
    """Mean over all signs of the largest signed sum, by hand."""
    total = Fraction(0)
    for signs in product((1, -1), repeat=m):
        total += max(sum(s * v for s, v in zip(signs, g, strict=True)) for g in family)
    return total / 2**m / m


def margin_twin(row, y):
    return row[y] - max(v for c, v in enumerate(row) if c != y)


def chain_twin(values, y, rho):
    m, k = len(y), len(values[0][0])
    clip = lambda u: min(Fraction(1), max(Fraction(0), 1 - u / rho))  # noqa: E731
    own = [[margin_twin(f[i], y[i]) for i in range(m)] for f in values]
    parts = {c: [[f[i][c] for i in range(m)] for f in values] for c in range(k)}
    others = {
        c: [[max(f[i][z] for z in range(k) if z != c) for i in range(m)] for f in values] for c in range(k)
    }
    towards = {c: [[margin_twin(f[i], c) for i in range(m)] for f in values] for c in range(k)}
    masked = {c: [[g[i] * (y[i] == c) for i in range(m)] for g in own] for c in range(k)}
    each = [complexity_twin(parts[c], m) for c in range(k)]
    return {
        "losses": complexity_twin([[clip(u) for u in g] for g in own], m),
        "margins": complexity_twin(own, m) / rho,
        "masked": sum(complexity_twin(masked[c], m) for c in range(k)) / rho,
        "unmasked": sum(complexity_twin(towards[c], m) for c in range(k)) / rho,
        "split": sum(each[c] + complexity_twin(others[c], m) for c in range(k)) / rho,
        "components": k * sum(each) / rho,
        "total": k * k * complexity_twin([g for c in range(k) for g in parts[c]], m) / rho,
    }


@pytest.mark.parametrize(
    ("k", "m", "functions", "seed"), [(2, 4, 3, 0), (3, 4, 3, 1), (4, 3, 2, 2), (3, 5, 1, 3)]
)
def test_the_chain_is_the_one_computed_with_fractions(k, m, functions, seed):
    rng = np.random.default_rng(seed)
    whole = rng.integers(-4, 5, size=(functions, m, k))
    y = rng.integers(k, size=m)
    twin = chain_twin([[[Fraction(int(v), 4) for v in row] for row in f] for f in whole], y, Fraction(1, 2))
    result = chain(whole / 4, y, 0.5)
    for name, value in twin.items():
        assert getattr(result, name) == pytest.approx(float(value), abs=1e-12), name


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 7), st.integers(1, 6), st.floats(0.05, 3))
def test_no_step_of_the_chain_goes_down(seed, k, m, functions, rho):
    rng = np.random.default_rng(seed)
    values = rng.choice([-1.0, -0.5, 0.0, 0.25, 1.0], size=(functions, m, k))
    result = list(vars(chain(values, rng.integers(k, size=m), rho)).values())
    assert result[0] >= -1e-12
    assert all(a <= b + 1e-9 for a, b in pairwise(result))


def test_equal_examples_may_be_written_once_with_the_sum_of_their_signs():
    rng = np.random.default_rng(4)
    once, y = rng.normal(size=(5, 3, 4)), np.array([2, 0, 3])
    times = np.array([2, 3, 1])
    signs = rng.choice([-1, 1], size=(6, 6))
    summed = np.add.reduceat(signs, [0, 2, 5], axis=1)
    long = steps(np.repeat(once, times, axis=1), np.repeat(y, times), 0.7, signs)
    short = steps(once, y, 0.7, summed)
    for name, value in long.items():
        assert short[name] == pytest.approx(value)


def test_a_bound_below_one_that_could_fail_fails_no_more_often_than_delta():
    """One score function and two kinds of examples: the failures of the first form, exactly."""
    m, risk = 60, Fraction(3, 10)
    for delta in (0.5, 0.1, 0.01):
        fails = Fraction(0)
        for wrong in range(m + 1):
            # margins -1 and 1 at rho = 1; a single function has complexity 0
            result = bound.uniform(wrong / m, 0.0, m, delta)
            if result.total < risk:
                fails += comb(m, wrong) * risk**wrong * (1 - risk) ** (m - wrong)
        assert 0 < fails <= delta


def test_a_bound_prints_its_terms():
    assert Bound("thm", 0.25, 0.5, 0.25).terms == {"empirical": 0.25, "complexity": 0.5, "confidence": 0.25}
    assert Bound("thm", 0.25, 0.5, 0.25).vacuous
    assert not Bound("thm", 0.25, 0.5, 0.125).vacuous


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda gram: bound.kernel_bound(
                [[1.0, 0.0], [0.0, 1.0]], [0, 1], 1, 1, 0.1, kind="linear", gram=gram
            ),
            "^gram must be finite, found nan$",
        ),
        (lambda _: complexity_term("linear", np.inf, 10), "^k must be finite, found inf$"),
        (lambda _: complexity_term("linear", 3, np.inf, np.inf), "^m must be finite, found inf$"),
        (lambda _: complexity_term("linear", 3, 10, np.nan), "^ratio must be finite, found nan$"),
        (lambda _: complexity_term("linear", "3", 10), "^k must be real numbers"),
        (lambda _: samples_needed("linear", 3.5, 1.0, 0.1), "^k must be an integer"),
        (
            lambda _: samples_needed("linear", 3, 1.0, 0.1, data_dependent="no"),
            "^data_dependent must be True",
        ),
        (lambda _: bound.uniform("0.1", 0.1, 10, 0.1), "^empirical must be a finite number"),
        (lambda _: bound.uniform(0.1, 0.1, 10, 0.1, data_dependent=[]), "^data_dependent must be True or"),
        (
            lambda _: bound.margin_bound([[1.0, 0.0]], [0], 1, 0.1, 0.1, uniform_in_rho="no"),
            "^uniform_in_rho must be True or False",
        ),
        (
            lambda _: bound.kernel_bound([[1.0, 0.0]], [0], 1, 1, 0.1, radius=1, norm_chosen_from_data="no"),
            "^norm_chosen_from_data must be True or False",
        ),
        (
            lambda _: bound.kernel_bound([[1.0, 0.0]], [0], 1e-300, 1e300, 0.1, radius=0),
            "^complexity must be a number, at least 0, found nan$",
        ),
        (
            lambda _: bound.Bound("thm", 0.1, np.nan, 0.1),
            "^complexity must be a number, at least 0, found nan$",
        ),
        (
            lambda _: bound.Bound("thm", -0.1, 0.1, 0.1),
            "^empirical must be a number, at least 0, found -0.1$",
        ),
        (lambda _: bound.steps([[[np.nan, 0.0]]], [0], 1.0, [[1]]), "^values must be finite, found nan$"),
        (lambda _: bound.steps([[[1.0, 0.0]]], [0], 1.0, [[np.nan]]), "^signs must be finite, found nan$"),
    ],
)
def test_no_bound_is_made_of_what_is_no_number(call, message):
    with pytest.raises(ValueError, match=message):
        call([[1.0, np.nan], [np.nan, 1.0]])


@given(st.integers(2, 10**9), st.floats(1e-3, 1e6), st.floats(0.01, 0.5), st.booleans())
def test_no_fewer_samples_are_enough(k, ratio, delta, data_dependent):
    """However many are needed: 2 k^2 of 10^9 classes needs more than floating point can count by ones."""
    m = samples_needed("quadratic", k, ratio, delta, data_dependent=data_dependent)
    numerator = Fraction(
        complexity_term("quadratic", k, 1, ratio) + bound._confidence(1, delta, data_dependent)
    )
    assert numerator**2 < m
    assert m == 1 or numerator**2 >= m - 1
