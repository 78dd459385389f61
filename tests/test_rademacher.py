"""Empirical Rademacher complexity: against all signs one by one, and what the interval promises.

The twins here are the definition: itertools over the signs, exact fractions where the values are integers.
"""

import pickle
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mcutils import rademacher
from mcutils.exact import all_signs
from mcutils.rademacher import (
    Finite,
    KernelBall,
    L1Ball,
    L2Ball,
    MulticlassBall,
    Thresholds,
    _families,
)


def exact_fraction(values):
    """The definition, for integer values: a mean over all signs, as a fraction."""
    rows = [[int(v) for v in row] for row in values]
    m = len(rows[0])
    suprema = [
        max(sum(s * v for s, v in zip(signs, row, strict=True)) for row in rows)
        for signs in product((-1, 1), repeat=m)
    ]
    return Fraction(sum(suprema), 2**m * m)


def over_all_signs(family):
    return family.supremum(all_signs(family.n_signs)).mean() / family.m


def some_families(m):
    rng = np.random.default_rng(m)
    thin, wide = rng.normal(size=(m, 3)), rng.normal(size=(m, 20))
    yield Finite(rng.normal(size=(7, m)))
    yield Finite(rng.normal(size=(1, m)))
    yield KernelBall(thin @ thin.T, 2.0)
    yield KernelBall(np.ones((m, m)))
    yield L2Ball(thin, 1.5)
    yield L2Ball(wide)
    yield L1Ball(thin, 0.5)
    yield L1Ball(wide)
    yield Thresholds(rng.integers(5, size=m))
    yield Thresholds(rng.normal(size=m))
    if m < 5:
        yield from (MulticlassBall(thin @ thin.T, k, 0.5) for k in (1, 2, 3, 4))


FAMILIES = pytest.mark.parametrize(
    "family",
    [
        pytest.param(one, id=f"{type(one).__name__}-{m}-{number}")
        for m in (1, 2, 4, 9)
        for number, one in enumerate(some_families(m))
    ],
)

small_integers = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=st.integers(-4, 4)
)


# ---------------------------------------------------------------------------------------------------
# The supremum is that of the definition


@given(values=small_integers)
def test_the_supremum_of_a_finite_family_is_the_largest_sum(values):
    signs = all_signs(values.shape[1])
    expected = [max(int(s @ row) for row in values) for s in signs]
    np.testing.assert_array_equal(Finite(values).supremum(signs), expected)


@given(x=hnp.arrays(np.int64, st.integers(1, 7), elements=st.integers(-3, 3)))
def test_thresholds_are_a_finite_family(x):
    cuts = [-np.inf, *np.unique(x).tolist(), np.inf]
    family = Finite([np.where(x >= cut, 1, -1) for cut in cuts])
    signs = all_signs(len(x))
    np.testing.assert_array_equal(Thresholds(x).supremum(signs), family.supremum(signs))
    assert rademacher.complexity(Thresholds(x)) == pytest.approx(rademacher.complexity(family), abs=1e-15)


@pytest.mark.parametrize("ball", [L1Ball, L2Ball])
def test_no_function_of_a_ball_does_better_and_one_does_as_well(ball):
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(6, 3)), all_signs(6)
    result = ball(X, 2.0).supremum(signs)
    order = 1 if ball is L1Ball else 2
    weights = rng.normal(size=(500, 3))
    weights *= 2 / np.linalg.norm(weights, order, axis=1)[:, None]
    assert ((signs @ X @ weights.T).max(axis=1) <= result + 1e-12).all()
    sums = signs @ X
    if ball is L1Ball:
        best = 2 * np.eye(3)[np.abs(sums).argmax(axis=1)] * np.sign(sums)
    else:
        best = 2 * sums / np.linalg.norm(sums, axis=1)[:, None]
    np.testing.assert_allclose((best * sums).sum(axis=1), result, rtol=1e-13)


def test_the_scores_of_a_multiclass_ball_attain_its_supremum():
    rng = np.random.default_rng(0)
    X, k = rng.normal(size=(4, 3)), 3
    signs = rng.choice([-1, 1], size=(50, 12))
    result = MulticlassBall(X @ X.T, k, 2.0).supremum(signs)
    sums = np.einsum("niy,id->nyd", signs.reshape(50, 4, 3), X)  # of class y: sum_i sigma_iy x_i
    best = 2 * sums / np.sqrt((sums**2).sum(axis=(1, 2)))[:, None, None]
    np.testing.assert_allclose((best * sums).sum(axis=(1, 2)), result, rtol=1e-13)


def test_a_kernel_ball_is_a_ball_of_features():
    X = np.random.default_rng(0).normal(size=(1100, 4))  # more than one block of the product
    signs = np.random.default_rng(1).choice([-1, 1], size=(7, 1100))
    np.testing.assert_allclose(
        KernelBall(X @ X.T, 3.0).supremum(signs), L2Ball(X, 3.0).supremum(signs), rtol=1e-11
    )


def test_maxima_are_those_of_every_choice():
    families = [np.random.default_rng(s).normal(size=(n, 5)) for s, n in enumerate((2, 3, 4))]
    expected = [np.max(choice, axis=0) for choice in product(*families)]
    np.testing.assert_array_equal(rademacher.maximum(*map(Finite, families)).values, expected)


# ---------------------------------------------------------------------------------------------------
# Exactly


@settings(max_examples=60)
@given(values=small_integers)
def test_exact_is_exact(values):
    assert rademacher.complexity(Finite(values)) == float(exact_fraction(values))


@FAMILIES
def test_exact_is_the_mean_over_all_signs(family):
    assert rademacher.complexity(family) == pytest.approx(over_all_signs(family), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("m", [7, 8, 16, 17, 18])  # around the lengths of the table and of a walk
@pytest.mark.parametrize("n", [3, 4, 5])
def test_every_length_of_table_and_walk(m, n):
    values = np.random.default_rng(m).integers(-9, 9, size=(n, m))
    signs = 1 - 2 * (np.arange(2**m)[:, None] >> np.arange(m) & 1)
    sums = (signs @ values.T).max(axis=1).sum()
    assert rademacher.complexity(Finite(values)) == float(Fraction(int(sums), 2**m * m))
    norms = np.sqrt(((signs @ values.T) ** 2).sum(axis=1))
    assert rademacher.complexity(L2Ball(values.T)) == pytest.approx(norms.mean() / m, rel=1e-13)


def mean_distance_of_a_walk(m):
    """E |sigma_1 + ... + sigma_m|, a closed form."""
    n = (m + 1) // 2
    return Fraction(2 * n * comb(2 * n, n), 4**n)


@pytest.mark.compiler
@pytest.mark.parametrize("m", [1, 2, 3, 10, 23, 24])
def test_one_direction_is_the_mean_distance_of_a_walk(m):
    expected = float(mean_distance_of_a_walk(m) / m)
    assert rademacher.complexity(Finite([[1] * m, [-1] * m])) == expected
    # half of the signs of an even walk add up to 0, where a root is worst conditioned
    assert rademacher.complexity(KernelBall(np.full((m, m), 0.49))) == pytest.approx(
        0.7 * expected, rel=1e-12
    )
    assert rademacher.complexity(L1Ball(np.ones((m, 1)))) == expected


@pytest.mark.parametrize("m", [1, 2, 3, 50, 301])
def test_thresholds_by_the_identity_of_spitzer(m):
    # E max(0, S_1, ..., S_m) = sum_j E max(0, S_j) / j
    maximum = sum(mean_distance_of_a_walk(j) / (2 * j) for j in range(1, m + 1))
    shuffled = np.random.default_rng(0).permutation(m)
    assert rademacher.complexity(Thresholds(shuffled)) == pytest.approx(float(2 * maximum / m), rel=1e-13)


def test_orthogonal_inputs_have_no_spread():
    # every supremum is radius * sqrt(m k): lower bound, complexity and upper bound in closed form
    ball = MulticlassBall(np.eye(200) * 4.0, k=9, radius=0.5)
    assert rademacher.upper(ball) == pytest.approx(sqrt(9 / 200))
    small = MulticlassBall(np.eye(8) * 4.0, k=9, radius=0.5)
    assert rademacher.complexity(small) == pytest.approx(sqrt(9 / 8))


@pytest.mark.compiler
def test_m_24_with_hundreds_of_functions():
    # two groups of functions on two halves of the sample; E max of all = E |S_12| of the better half
    half = np.repeat(np.eye(2), 12, axis=1)
    values = np.vstack([half, -half] * 75)  # 300 rows, and four different ones
    rng = np.random.default_rng(0)
    noise = values + 1e-3 * rng.normal(size=values.shape)  # 300 different ones, as near as that
    ways = {12 - 2 * heads: Fraction(comb(12, heads), 2**12) for heads in range(13)}
    expected = sum(p * q * max(abs(a), abs(b)) for a, p in ways.items() for b, q in ways.items())
    assert rademacher.complexity(Finite(values)) == pytest.approx(float(expected) / 24, rel=1e-14)
    assert rademacher.complexity(Finite(noise)) == pytest.approx(float(expected) / 24, abs=5e-3)


def test_a_function_and_a_family_of_ones_own_are_enumerated():
    @dataclass
    class Pairs:
        """Everything within the square of the pairs."""

        m: int = 5
        n_signs: int = 10

        def supremum(self, signs):
            return np.abs(signs).sum(axis=1)

    assert isinstance(Pairs(), rademacher.Family)
    assert rademacher.complexity(Pairs()) == 2.0
    values = np.random.default_rng(0).normal(size=(5, 13))
    assert rademacher.complexity(lambda s: (s @ values.T).max(axis=1), m=13) == pytest.approx(
        rademacher.complexity(Finite(values)), rel=1e-13
    )


# ---------------------------------------------------------------------------------------------------
# Laws, and the bounds


@settings(max_examples=40)
@given(values=small_integers, shift=st.integers(-3, 3), factor=st.integers(-3, 3))
def test_the_rules(values, shift, factor):
    # prop-rademacher-rules
    value = rademacher.complexity(Finite(values))
    moved = values + shift * np.arange(values.shape[1])
    assert rademacher.complexity(Finite(moved)) == value
    assert rademacher.complexity(Finite(factor * values)) == pytest.approx(abs(factor) * value)
    mixtures = np.vstack([values, (values[:1] + values) / 2])
    assert rademacher.complexity(Finite(mixtures)) == value
    assert rademacher.complexity(Finite(values[: -(-len(values) // 2)])) <= value + 1e-15


@given(seed=st.integers(0, 1000))
def test_a_maximum_is_at_most_the_sum(seed):
    # lem-rademacher-maximum
    rng = np.random.default_rng(seed)
    families = [Finite(rng.integers(-3, 4, size=(3, 5))) for _ in range(3)]
    total = sum(rademacher.complexity(one) for one in families)
    assert rademacher.complexity(rademacher.maximum(*families)) <= total + 1e-12


@FAMILIES
def test_the_complexity_lies_between_its_bounds(family):
    value = rademacher.complexity(family)
    assert rademacher.lower(family) <= value * (1 + 1e-12)
    assert value <= rademacher.upper(family) * (1 + 1e-12)


def test_the_bounds_in_closed_form():
    values = [[3, 4, 0], [0, 0, 5], [0, 0, 5]]  # two different functions, of length 5
    assert rademacher.upper(Finite(values)) == pytest.approx(5 * sqrt(2 * log(2)) / 3)
    assert rademacher.lower(Finite(values)) == pytest.approx(sqrt(50) / (2 * sqrt(2) * 3))
    X = np.array([[3.0, 0.0], [4.0, 1.0]])
    assert rademacher.upper(L2Ball(X, 2.0)) == pytest.approx(2 * sqrt(26) / 2)
    assert rademacher.upper(KernelBall(X @ X.T, 2.0)) == pytest.approx(2 * sqrt(26) / 2)
    assert rademacher.upper(MulticlassBall(X @ X.T, 4, 2.0)) == pytest.approx(2 * sqrt(4 * 26) / 2)
    assert rademacher.upper(L1Ball(X, 2.0)) == pytest.approx(2 * 5 * sqrt(2 * log(4)) / 2)
    assert rademacher.lower(L1Ball(X, 2.0)) == pytest.approx(2 * 5 / sqrt(2) / 2)
    assert rademacher.upper(Thresholds([1, 1, 2])) == pytest.approx(sqrt(2 * log(3) / 3))


@FAMILIES
def test_envelope_and_norm_bound_every_function(family):
    # one sign moves the supremum by at most twice the envelope, any signs by the norm times their distance
    n = min(family.n_signs, 6)
    signs = np.ones((2**n, family.n_signs))
    signs[:, :n] = all_signs(n)
    result = family.supremum(signs)
    for i in range(n):
        flipped = signs.copy()
        flipped[:, i] *= -1
        moved = np.abs(family.supremum(flipped) - result)
        assert (moved <= 2 * family.envelope[i] + 1e-12).all()
    distances = np.linalg.norm(signs[:, None] - signs, axis=2)
    assert (np.abs(result[:, None] - result) <= family.norm * distances + 1e-12).all()


def test_the_norm_of_a_large_ball_is_a_bound():
    X = np.random.default_rng(0).normal(size=(1200, 1100))
    largest = np.linalg.norm(X, 2)
    assert largest <= L2Ball(X).norm
    assert largest <= KernelBall(X @ X.T).norm
    small = X[:50, :20]
    assert L2Ball(small).norm == pytest.approx(np.linalg.norm(small, 2))
    assert KernelBall(small @ small.T, 3.0).norm == pytest.approx(3 * np.linalg.norm(small, 2))


# ---------------------------------------------------------------------------------------------------
# By Monte Carlo


def chance_to_contain(draws, reach):
    """The exact probability that the mean of three draws is within reach of the mean of all.

    `draws` are equally likely suprema over m.
    """
    means = np.add.outer(np.add.outer(draws, draws), draws) / 3
    return (np.abs(means - draws.mean()) <= reach + 1e-12).mean()


@pytest.mark.parametrize("family", [one for m in (1, 2, 4) for one in some_families(m) if one.n_signs < 7])
@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.8, 0.95])
def test_the_guaranteed_interval_contains_the_complexity_as_often_as_it_says(family, confidence):
    result = rademacher.monte_carlo(family, 3, confidence=confidence, random_state=0)
    assert result.guaranteed
    if isinstance(family, Finite):  # what is drawn: the family around its middle
        low, high = family.values.min(axis=0), family.values.max(axis=0)
        family = Finite(family.values - (low + high) / 2)
    # the interval's reach does not depend on what was drawn, so its coverage is a sum over all outcomes
    suprema = family.supremum(all_signs(family.n_signs)) / family.m
    assert chance_to_contain(suprema, result.high - result.value) >= confidence


@FAMILIES
def test_both_tails_are_as_thin_as_the_guarantee_takes_them(family):
    suprema = family.supremum(all_signs(family.n_signs))
    away = np.abs(suprema - suprema.mean())
    for scale in (np.linalg.norm(family.envelope), 2 * family.norm):
        for t in np.unique(away.round(9)):
            assert (away >= t - 1e-9).mean() <= 2 * exp(-(t**2) / (2 * scale**2 + 1e-300)) + 1e-9


@pytest.mark.parametrize("n_draws", [2, 30, 300])
@pytest.mark.parametrize(
    "family",
    [
        Finite([[1, -1, 1, 1, 0], [0, 0, 2, 0, 0], [-1, 0, 0, 0, 3]]),
        Finite([[5.0, 1.0, 0.1], [5.0, 1.0, -0.1]]),
        KernelBall(np.ones((7, 7))),
        Thresholds(np.arange(6)),
    ],
    ids=lambda family: type(family).__name__,
)
def test_runs_contain_the_complexity_as_often_as_they_say(family, n_draws):
    value = rademacher.complexity(family)
    runs = [rademacher.monte_carlo(family, n_draws, confidence=0.9, random_state=seed) for seed in range(100)]
    assert np.mean([run.low <= value <= run.high for run in runs]) >= 0.9
    # unbiased: the mean of all runs is within five of its standard errors
    values = np.array([run.value for run in runs])
    assert abs(values.mean() - value) <= 5 * values.std() / sqrt(len(runs)) + 1e-12


def test_the_guaranteed_interval_is_that_of_the_docstring():
    gram = np.diag([1.0, 4.0, 9.0])
    ball = KernelBall(gram, radius=2.0)
    bounded_differences, convex = 2 * sqrt(14), 2 * 2 * 3
    result = rademacher.monte_carlo(ball, 50, confidence=0.9, random_state=0)
    reach = min(bounded_differences, convex) / 3 * sqrt(2 * log(2 / 0.1) / 50)
    assert result.high - result.value == pytest.approx(reach)
    assert result.value - result.low == pytest.approx(reach)
    # many equal directions: here the convex one is narrower
    wide = rademacher.monte_carlo(KernelBall(np.eye(100)), 50, confidence=0.9, random_state=0)
    assert wide.high - wide.value == pytest.approx(2 / 100 * sqrt(2 * log(2 / 0.1) / 50))


def test_students_interval_is_right_for_many_draws_and_wrong_for_few():
    ball = KernelBall(np.exp(-(np.subtract.outer(np.arange(12.0), np.arange(12.0)) ** 2)))
    value = rademacher.complexity(ball)
    runs = [
        rademacher.monte_carlo(ball, 400, guaranteed=False, confidence=0.9, random_state=s)
        for s in range(400)
    ]
    covered = np.mean([run.low <= value <= run.high for run in runs])
    assert abs(covered - 0.9) < 4 * sqrt(0.09 / 400)
    # One function, one example: the supremum is the sign. Three draws agree one time in four, and then the
    # interval is a point beside the truth, 0.
    runs = [
        rademacher.monte_carlo(lambda signs: signs[:, 0], 3, m=1, confidence=0.95, random_state=s)
        for s in range(400)
    ]
    assert not any(run.guaranteed for run in runs)
    assert np.mean([run.low <= 0 <= run.high for run in runs]) < 0.85
    # the guarantee holds there as well, once the envelope is given
    runs = [
        rademacher.monte_carlo(lambda s: s[:, 0], 3, m=1, envelope=1, confidence=0.95, random_state=s)
        for s in range(400)
    ]
    assert all(run.guaranteed for run in runs)
    assert np.mean([run.low <= 0 <= run.high for run in runs]) >= 0.95


def test_one_function_has_complexity_0_whatever_is_drawn():
    result = rademacher.monte_carlo(Finite([[1e6, -3.0, 2.0]]), 1, random_state=0)
    assert (result.value, result.low, result.high) == (0.0, 0.0, 0.0)
    assert np.isnan(result.standard_error)


def test_the_standard_error_is_that_of_the_mean():
    ball = L2Ball(np.random.default_rng(0).normal(size=(10, 2)))
    runs = [rademacher.monte_carlo(ball, 300, random_state=seed) for seed in range(200)]
    spread = np.std([run.value for run in runs], ddof=1)
    assert np.mean([run.standard_error for run in runs]) == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("n_draws", [1, 255, 256, 257, 1000])
def test_the_draws_do_not_depend_on_who_draws(n_draws):
    family = Thresholds(np.arange(9))
    alone = rademacher.monte_carlo(family, n_draws, random_state=3)
    assert alone.n_draws == n_draws
    again = rademacher.monte_carlo(family, n_draws, random_state=3)
    as_function = rademacher.monte_carlo(family.supremum, n_draws, m=9, envelope=1.0, random_state=3)
    # as text, since not a number is not itself
    assert str(alone) == str(again) == str(as_function)


def test_another_seed_draws_others():
    family = L2Ball(np.random.default_rng(0).normal(size=(9, 2)))
    first, second = (rademacher.monte_carlo(family, 300, random_state=seed).value for seed in (0, 1))
    assert first != second


def test_processes_share_the_work():
    rng = np.random.default_rng(0)
    for family in (L2Ball(rng.normal(size=(30, 4))), Finite(rng.integers(-5, 5, size=(9, 16)))):
        alone = rademacher.monte_carlo(family, 1000, random_state=0)
        together = rademacher.monte_carlo(family, 1000, random_state=0, n_jobs=2)
        # a worker has its own number of BLAS threads, and so its own rounding
        assert together.value == pytest.approx(alone.value, rel=1e-13)
        assert together.standard_error == pytest.approx(alone.standard_error, rel=1e-10)


def test_wide_features_are_multiplied_once():
    X = np.random.default_rng(0).normal(size=(20, 400))
    thin = rademacher.monte_carlo(L2Ball(X), 10, random_state=1)  # too few to be worth it
    wide = rademacher.monte_carlo(L2Ball(X), 300, random_state=1)
    gram = rademacher.monte_carlo(KernelBall(X @ X.T), 300, random_state=1)
    assert wide.value == pytest.approx(gram.value, rel=1e-12)
    assert thin.value == pytest.approx(rademacher.monte_carlo(KernelBall(X @ X.T), 10, random_state=1).value)


def test_many_functions_are_done_in_parts(monkeypatch):
    family = Finite(np.random.default_rng(0).normal(size=(50, 6)))
    whole = rademacher.monte_carlo(family, 300, random_state=0).value
    monkeypatch.setattr(_families, "ROOM", 170)
    assert rademacher.monte_carlo(family, 300, random_state=0).value == pytest.approx(whole, rel=1e-14)


def test_several_signs_for_an_example():
    ball = MulticlassBall(np.eye(4), k=3)
    result = rademacher.monte_carlo(ball.supremum, 20, m=4, n_signs=12, random_state=0)
    assert result.value == pytest.approx(sqrt(12) / 4)


def test_a_generator_is_advanced():
    family = Thresholds(np.arange(9))
    for make in (np.random.default_rng, np.random.RandomState):
        shared = make(0)
        first, second = (rademacher.monte_carlo(family, 50, random_state=shared).value for _ in range(2))
        assert first != second
        assert first == rademacher.monte_carlo(family, 50, random_state=make(0)).value


def test_the_signs_are_fair_and_independent():
    seen = []
    rademacher.monte_carlo(lambda s: seen.append(s) or s[:, 0], 20000, m=5, random_state=0)
    signs = np.vstack(seen)
    assert signs.shape == (20000, 5)
    rows, counts = np.unique(signs, axis=0, return_counts=True)
    assert set(map(tuple, rows)) == set(product((-1.0, 1.0), repeat=5))
    # 32 cells of 625 each: chi-squared with 31 degrees of freedom
    assert ((counts - 625) ** 2 / 625).sum() < 70


# ---------------------------------------------------------------------------------------------------
# Degenerate cases, refusals


@pytest.mark.parametrize(
    "family",
    [
        KernelBall(np.zeros((3, 3))),
        KernelBall(np.eye(3), radius=0),
        L2Ball(np.zeros((3, 2))),
        L1Ball(np.zeros((3, 2))),
        MulticlassBall(np.zeros((3, 3)), k=2),
        Finite([[1, 2, 3]]),
        Finite([[1, 2, 3]] * 4),
    ],
    ids=lambda family: type(family).__name__,
)
def test_what_can_only_be_0(family):
    assert rademacher.complexity(family) == rademacher.upper(family) == rademacher.lower(family) == 0
    result = rademacher.monte_carlo(family, 10, random_state=0)
    assert (result.low, result.value, result.high) == (0, 0, 0)


def test_no_draw_has_no_supremum():
    for family in some_families(3):
        assert family.supremum(np.ones((0, family.n_signs))).shape == (0,)


def test_equal_thresholds_are_two_functions():
    # only the constants +1 and -1 are left: |S_4| / 4
    assert rademacher.complexity(Thresholds([2, 2, 2, 2])) == float(mean_distance_of_a_walk(4) / 4)


def test_what_a_family_holds_cannot_be_changed():
    family = Finite([[1.0, 2.0]])
    with pytest.raises(ValueError, match="read-only"):
        family.values[0, 0] = 5
    mine = np.ones((2, 2))
    KernelBall(mine)
    mine[0, 0] = 1  # the caller's own array stays writeable
    assert pickle.loads(pickle.dumps(family)).supremum([[1, 1]]) == [3.0]


REFUSED = [
    (lambda: Finite([]), "values must hold a row for each function.*found shape"),
    (lambda: Finite(np.ones((0, 4))), r"at least one function and one example; found shape \(0, 4\)"),
    (lambda: Finite([[1.0, np.nan]]), "values must be finite"),
    (lambda: Finite([["a"]]), "values must hold real numbers"),
    (lambda: Finite([[1j]]), "values must hold real numbers"),
    (lambda: KernelBall([[1, 2], [2, 1]]), "not positive semidefinite: its smallest eigenvalue is -1"),
    (lambda: KernelBall([[1, 0.5], [0.4, 1]]), "not symmetric"),
    (lambda: KernelBall([[1, 0]]), "square"),
    (lambda: KernelBall(np.eye(2), radius=-1), "radius must be a finite number, at least 0, found -1"),
    (lambda: KernelBall(np.eye(2), radius=np.inf), "radius must be a finite number, at least 0, found inf"),
    (lambda: KernelBall(np.eye(2), radius="1"), "radius must be a finite number"),
    (lambda: L2Ball([1.0, 2.0]), r"X must hold a row for each example.*found shape \(2,\)"),
    (lambda: Thresholds([[1.0]]), r"x must be a vector of numbers, found shape \(1, 1\)"),
    (lambda: Thresholds([]), "x must hold a number for each example"),
    (lambda: MulticlassBall(np.eye(2), k=0), "k must be an integer, at least 1, found 0"),
    (lambda: MulticlassBall(np.eye(2), k=2.0), "k must be an integer, at least 1, found 2.0"),
    (
        lambda: Finite([[1, 2]]).supremum([1, 1]),
        r"signs must have a row of 2 for each draw, found shape \(2,\)",
    ),
    (lambda: Finite([[1, 2]]).supremum([[1, 1, 1]]), "row of 2 for each draw"),
    (lambda: Finite([[1, 2]]).supremum([[0, 1]]), r"signs must be -1 or \+1 \(from bits b: 2 \* b - 1\)"),
    (lambda: Finite([[1, 2]]).supremum([[True, False]]), "signs must be -1 or"),
    (lambda: rademacher.maximum(), "at least one family"),
    (lambda: rademacher.maximum(Finite([[1]]), Finite([[1, 2]])), r"same sample, found sizes \[1, 2\]"),
    (
        lambda: rademacher.maximum(Finite([[1]]), L2Ball([[1]])),
        "takes families of the type Finite, found L2Ball",
    ),
    (lambda: rademacher.maximum(*[Finite(np.eye(9))] * 9), "take fewer functions"),
    (lambda: rademacher.complexity(Finite(np.eye(40))), r"2\^39 \* 40 steps.*use monte_carlo"),
    (lambda: rademacher.complexity(KernelBall(np.eye(40))), r"2\^39 \* 40 steps.*use monte_carlo"),
    (lambda: rademacher.complexity(lambda s: s[:, 0], m=25), r"2\^25 steps.*use monte_carlo"),
    (lambda: rademacher.complexity(Thresholds(np.arange(100_000))), r"100000\^2 steps"),
    (lambda: rademacher.complexity(lambda s: s[:, 0]), "give m=..., the size of the sample"),
    (lambda: rademacher.complexity(Finite([[1]]), m=1), "a family has its own"),
    (
        lambda: rademacher.complexity([[1]]),
        "family must have m, n_signs and supremum, or be a function.*found list",
    ),
    (
        lambda: rademacher.complexity(lambda s: s, m=3),
        r"one number for each row of signs.*it has shape \(8, 3\)",
    ),
    (lambda: rademacher.complexity(lambda s: s[:, 0] / 0, m=3), "supremum must be finite, found"),
    (lambda: rademacher.complexity(L2Ball([[1e200], [1e200]])), "leave the range of floating point"),
    (lambda: rademacher.monte_carlo(Finite([[1]]), 0), "n_draws must be an integer, at least 1, found 0"),
    (lambda: rademacher.monte_carlo(Finite([[1]]), 1e3), "n_draws must be an integer"),
    (
        lambda: rademacher.monte_carlo(Finite([[1]]), confidence=1),
        "confidence must be a finite number, above 0 and below 1",
    ),
    (
        lambda: rademacher.monte_carlo(Finite([[1]]), confidence=0.0),
        "confidence must be a finite number, above 0 and below 1",
    ),
    (lambda: rademacher.monte_carlo(Finite([[1]]), 1, guaranteed=False), "at least 2 draws, found n_draws=1"),
    (lambda: rademacher.monte_carlo(Finite([[1]]), envelope=1), "Finite has its envelope"),
    (lambda: rademacher.monte_carlo(len, m=3, guaranteed=True), "needs the envelope"),
    (
        lambda: rademacher.monte_carlo(len, m=3, envelope=-1),
        "envelope must be a number or 3 numbers, at least 0",
    ),
    (lambda: rademacher.monte_carlo(len, m=3, envelope=[1, 2]), "envelope must be a number or 3 numbers"),
    (lambda: rademacher.monte_carlo(len), "give m=..., the size of the sample"),
    (lambda: rademacher.monte_carlo(len, m=0), "m must be an integer, at least 1, found 0"),
    (lambda: rademacher.upper(len), "upper is known for the families of this module"),
    (lambda: rademacher.lower(len), "lower is known for the families of this module"),
]


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize(("attempt", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_refusal_names_what_is_wrong(attempt, message):
    with pytest.raises(ValueError, match=message):
        attempt()


def test_a_large_matrix_that_is_no_gram_matrix_is_refused():
    X = np.random.default_rng(0).normal(size=(1100, 5))
    gram = X @ X.T
    assert KernelBall(gram).m == 1100
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelBall(gram - 1e-6 * np.eye(1100))
    gram[3, 5] += 1e-3
    with pytest.raises(ValueError, match="not symmetric"):
        KernelBall(gram)


def test_only_the_enumeration_is_compiled():
    program = (
        "import sys; from mcutils import rademacher as r;"
        "r.monte_carlo(r.KernelBall([[1.0]]), 5); r.complexity(r.Thresholds([1.0, 2.0]));"
        "assert not {'numba', 'matplotlib', 'cvxopt'} & set(sys.modules);"
        "r.complexity(r.Finite([[1.0]])); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_leaves_floating_point_is_no_bound():
    family = rademacher.Finite(np.array([[1e200, 0.0], [0.0, 1e200]]))
    with np.errstate(over="ignore"):
        for compute in (rademacher.upper, rademacher.lower):
            with pytest.raises(ValueError, match="leave the range of floating point"):
                compute(family)
    with pytest.raises(ValueError, match="leave the range of floating point"):
        rademacher.complexity(lambda signs: np.full(len(signs), 1e308), m=2)
    with pytest.raises(ValueError, match="guaranteed must be True or False, found 'no'"):
        rademacher.monte_carlo(rademacher.Finite([[1.0]]), 10, guaranteed="no")
    with pytest.raises(ValueError, match="envelope must be real numbers"):
        rademacher.monte_carlo(lambda signs: signs[:, 0], 10, m=1, envelope=1j)


def test_a_family_says_how_large_it_is():
    """Dask asks, and then sends it to each worker once instead of with each block of draws."""
    gram = np.eye(500)
    for large in (KernelBall(gram), Finite(gram), L2Ball(gram), MulticlassBall(gram, 3)):
        assert gram.nbytes < sys.getsizeof(large) < gram.nbytes + 10_000
    assert sys.getsizeof(KernelBall(np.eye(2))) < 1000
