"""Conditional risks against definitions, grids of scores, all orders of the classes, and proofs by hand."""

import dataclasses
from fractions import Fraction as F
from itertools import permutations, product
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as descend

from mcutils import hinge, softmax
from mcutils.consistency import (
    POLYHEDRAL,
    SURROGATES,
    abstain,
    calibration_gap,
    conditional_risk,
    corners,
    losses,
    minimise,
    simplex_grid,
)

SMOOTH = tuple(name for name in SURROGATES if name not in POLYHEDRAL)


@st.composite
def distributions(draw, max_k=4, least=0):
    """Fractions with small denominators, so that ties, halves, thirds and zeros are frequent."""
    counts = draw(st.lists(st.integers(least, 6), min_size=2, max_size=max_k).filter(sum))
    return [F(count, sum(counts)) for count in counts]


def loss_twin(surrogate, s, y):
    """The table of `losses`, one number at a time."""
    k = len(s)
    rest = [r for r in range(k) if r != y]
    if surrogate == "crammer_singer":
        return max(0, *(1 + s[r] - s[y] for r in rest))
    if surrogate == "weston_watkins":
        return sum(max(0, 1 + s[r] - s[y]) for r in rest)
    if surrogate == "lee_lin_wahba":
        mean = sum(s) / k
        return sum(max(0, F(1, k - 1) + s[r] - mean) for r in rest)
    if surrogate == "softmax":
        return log(sum(np.exp(float(s[r] - s[y])) for r in range(k)))
    phi = {
        "ova_hinge": lambda z: max(0, 1 - z),
        "squared": lambda z: (1 - z) ** 2,
        "ova_logistic": lambda z: log(1 + np.exp(-float(z))),
    }[surrogate]
    return phi(s[y]) + sum(phi(-s[r]) for r in rest)


def risk_twin(surrogate, s, p):
    return sum(p[y] * loss_twin(surrogate, s, y) for y in range(len(s)) if p[y])


def ordered_partitions(k):
    """All scores 0, 1, ..., M, each taken by some class: every way to rank k classes with ties."""
    for s in product(range(k), repeat=k):
        if set(s) == set(range(max(s) + 1)):
            yield tuple(F(value) for value in s)


def all_corners(surrogate, k):
    """Corners in every order of the classes."""
    if surrogate in ("crammer_singer", "weston_watkins"):
        yield from ordered_partitions(k)
    elif surrogate == "ova_hinge":
        yield from product((F(-1), F(1)), repeat=k)
    else:
        for chosen in product((0, 1), repeat=k):
            if any(chosen):
                yield tuple(F(k * one, (k - 1) * sum(chosen)) - F(1, k - 1) for one in chosen)


def wrong(s, p):
    """Whether a class that is not one of the most probable has the largest score."""
    return any(s[r] == max(s) and p[r] < max(p) for r in range(len(p)))


# --- losses and risks -------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(SURROGATES), distributions())
def test_losses_and_risks_are_their_definitions(data, surrogate, p):
    s = [F(data.draw(st.integers(-6, 6)), 2) for _ in p]
    result = losses(surrogate, s)
    expected = [loss_twin(surrogate, s, y) for y in range(len(s))]
    assert [float(value) for value in result] == pytest.approx(
        [float(value) for value in expected], abs=1e-12
    )
    risk = conditional_risk(surrogate, s, p)
    assert float(risk) == pytest.approx(float(risk_twin(surrogate, s, p)), abs=1e-12)
    if surrogate not in ("softmax", "ova_logistic"):
        assert result.tolist() == expected
        assert risk == risk_twin(surrogate, s, p)


def test_losses_are_those_of_the_other_modules():
    scores = np.random.default_rng(0).normal(size=(30, 4))
    for y in range(4):
        labels = np.full(30, y)
        for name, other in (
            ("crammer_singer", hinge.crammer_singer),
            ("weston_watkins", hinge.weston_watkins),
            ("softmax", softmax.cross_entropy),
        ):
            np.testing.assert_allclose(losses(name, scores)[:, y], other(scores, labels), atol=1e-12)


def test_risks_are_broadcast():
    rng = np.random.default_rng(1)
    scores, p = rng.normal(size=(5, 1, 3)), rng.dirichlet(np.ones(3), size=4)
    for surrogate in SURROGATES:
        result = conditional_risk(surrogate, scores, p)
        assert result.shape == (5, 4)
        assert result[2, 3] == pytest.approx(
            float(risk_twin(surrogate, scores[2, 0].tolist(), p[3].tolist()))
        )


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_with_two_classes_all_but_the_scale_of_the_scores_is_a_loss_of_one_margin(surrogate):
    """R depends on p and 1 - p, and the sign of 2 p - 1 decides (prop-consistency-two)."""
    for n in range(101):
        gap = calibration_gap(surrogate, [F(n, 100), F(100 - n, 100)])
        assert gap == inf if n == 50 else gap > 0


def test_the_grid_is_the_simplex():
    for k, n in ((2, 5), (3, 4), (4, 3)):
        result = simplex_grid(k, n)
        expected = {c for c in product(range(n + 1), repeat=k) if sum(c) == n}
        assert {tuple(int(n * value) for value in row) for row in result} == expected
        assert len(result) == len(expected)
        assert all(isinstance(value, F) for value in result.ravel())


# --- minima -----------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(distributions(), st.sampled_from(POLYHEDRAL))
def test_no_corner_in_any_order_is_better(p, surrogate):
    """And the same under a class on top; the multipliers prove it besides, in fractions."""
    every = [(s, risk_twin(surrogate, s, p)) for s in all_corners(surrogate, len(p))]
    for top in (None, *range(len(p))):
        result = minimise(surrogate, p, top=top, exact=True)
        allowed = [risk for s, risk in every if top is None or s[top] == max(s)]
        assert result.value == min(allowed)
        assert result.value == risk_twin(surrogate, result.scores, p)
        assert top is None or result.scores[top] == max(result.scores)


@given(distributions(max_k=3), st.sampled_from((*POLYHEDRAL, "squared")))
def test_no_scores_of_a_grid_are_better(p, surrogate):
    """Steps of 1/4, from -2 to 2: many scores that are no corners."""
    k = len(p)
    steps = [np.arange(-8, 9) / 4] * k
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, k)
    risks = conditional_risk(surrogate, grid, [float(value) for value in p])
    for top in (None, *range(k)):
        least = minimise(surrogate, p, top=top, exact=True).value
        allowed = risks if top is None else risks[grid[:, top] == grid.max(axis=1)]
        assert allowed.min() >= float(least) - 1e-12
        if surrogate != "squared" and (surrogate != "lee_lin_wahba" or k == 2):
            assert allowed.min() == pytest.approx(float(least), abs=1e-12)


@settings(max_examples=50)
@given(distributions(), st.sampled_from((*POLYHEDRAL, "squared")))
def test_multipliers_are_a_proof(p, surrogate):
    """Written out for each surrogate, without the module's own account of it."""
    k = len(p)
    for top in (None, *range(k)):
        result = minimise(surrogate, p, top=top, exact=True)
        A = result.multipliers
        assert result.exact
        assert (A >= 0).all()
        if surrogate == "squared":
            pull = A - p
            bound = sum(4 * q * (1 - q) for q in A)
        elif surrogate == "ova_hinge":
            assert (A[0] <= p).all()
            assert (A[1] <= 1 - np.array(p, dtype=object)).all()
            bound, pull = A.sum(), A[1] - A[0]
        elif surrogate == "lee_lin_wahba":
            assert (1 - np.array(p, dtype=object) >= A).all()
            bound, pull = A.sum() / F(k - 1), A - A.sum() / F(k)
        else:
            assert not A.diagonal().any()
            used = A.sum(axis=1) if surrogate == "crammer_singer" else A.max(axis=1)
            assert (used <= p).all()
            bound, pull = A.sum(), A.sum(axis=0) - A.sum(axis=1)
        assert bound == result.value
        # what is left over pulls the class on top up and others down, or nothing
        if top is None:
            assert not np.any(pull)
        else:
            assert sum(pull) == 0
            assert all(pull[j] <= 0 for j in range(k) if j != top)


@given(distributions(max_k=5), st.sampled_from(SURROGATES))
def test_floating_point_agrees_and_is_certified(p, surrogate):
    rough = [float(value) for value in p]
    for top in (None, *range(len(p))):
        result = minimise(surrogate, rough, top=top)
        assert result.certificate.primal == result.value
        assert result.certificate.certifies(1e-9)
        assert abs(result.certificate.gap) < 1e-9
        assert all(residual < 1e-9 for residual in result.certificate.kkt.values())
        if np.isfinite(result.scores).all():
            assert conditional_risk(surrogate, result.scores, rough) == pytest.approx(result.value, abs=1e-9)


@pytest.mark.parametrize("surrogate", SMOOTH)
@pytest.mark.parametrize("seed", range(4))
def test_descent_finds_nothing_better_than_the_smooth_minimum(surrogate, seed):
    """Also with a class on top, whose scores are parametrised as the largest."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3 + seed % 2))
    k = len(p)

    def risk(v, top):
        s = v if top is None else np.insert(v[0] - np.square(v[1:]), top, v[0])
        return float(conditional_risk(surrogate, s, p))

    for top in (None, *range(k)):
        starts = rng.normal(size=(5, k))
        reached = min(
            descend(risk, start, args=(top,), method="L-BFGS-B", options={"ftol": 1e-15}).fun
            for start in starts
        )
        least = minimise(surrogate, p, top=top).value
        assert least <= reached + 1e-9
        assert reached == pytest.approx(least, abs=2e-6)


@pytest.mark.parametrize("surrogate", ["softmax", "ova_logistic"])
def test_infinite_scores_are_limits(surrogate):
    for p in ([0.0, 0.0, 1.0], [0.0, 0.4, 0.6], [0.5, 0.5, 0.0]):
        result = minimise(surrogate, p)
        assert np.isinf(result.scores).any()
        near = conditional_risk(surrogate, np.clip(result.scores, -40, 40), p)
        assert near == pytest.approx(result.value, abs=1e-12)


def test_corners_fall_and_are_as_many_as_said():
    for k in (2, 3, 6):
        for surrogate, n in zip(POLYHEDRAL, (2 ** (k - 1), 2 ** (k - 1), k, k + 1), strict=True):
            result = corners(surrogate, k)
            assert result.shape == (n, k)
            assert len({tuple(row) for row in result}) == n
            assert (result[:, :-1] >= result[:, 1:]).all()


# --- what the theorems claim ------------------------------------------------------------------------------


def sorted_with_best(p):
    p = sorted(p, reverse=True)
    return p, sum(value == p[0] for value in p)


@given(distributions(max_k=5))
def test_gaps_are_the_closed_forms(p):
    k = len(p)
    (first, *_), n = ranked = sorted_with_best(p)
    gaps = {surrogate: calibration_gap(surrogate, p) for surrogate in SURROGATES}
    if n == k:
        assert set(gaps.values()) == {inf}
        return
    other = ranked[0][n]
    assert gaps["crammer_singer"] == max(0, 2 * first - 1)
    assert gaps["ova_hinge"] == 2 * max(0, 2 * first - 1)
    assert gaps["lee_lin_wahba"] == F(k, k - 1) * (first - other) / (n + 1)
    assert gaps["squared"] == F(4 * n, n + 1) * (first - other) ** 2
    mean = (n * first + other) / (n + 1)
    parts = n * first * log(first / mean) + (other * log(other / mean) if other else 0)
    assert gaps["softmax"] == pytest.approx(parts, rel=1e-9)

    def entropy(q):
        return -sum(float(x) * log(x) for x in (q, 1 - q) if x)

    parts = (n + 1) * entropy(mean) - n * entropy(first) - entropy(other)
    assert gaps["ova_logistic"] == pytest.approx(parts, rel=1e-6, abs=1e-12)


def test_weston_watkins_with_three_classes():
    """Right where the first class has a majority or the second less than a third; 5/6 of the triangle."""
    n = 24
    right = inside = 0
    for p in simplex_grid(3, n):
        (first, second, third), best = sorted_with_best(p)
        gap = calibration_gap("weston_watkins", p)
        if best == 1:
            assert gap == max(0, 1 - 3 * second, 2 * first - 1)
            assert minimise("weston_watkins", p).value == pytest.approx(
                float(min(3 * (1 - first), 1 + 3 * third, 2 * second + 5 * third))
            )
        elif best == 2:
            assert gap == 1 - 3 * third
        else:
            assert gap == inf
        # cells of the map, by their centres
    for i, j in product(range(150), repeat=2):
        if i + j < 149:
            p = sorted(((3 * i + 1) / 450, (3 * j + 1) / 450, (448 - 3 * i - 3 * j) / 450), reverse=True)
            inside += 1
            right += p[0] > 0.5 or p[1] < 1 / 3
    assert right / inside == pytest.approx(5 / 6, abs=0.01)


@given(distributions(max_k=4), st.sampled_from(POLYHEDRAL))
def test_the_gap_is_that_of_all_wrong_corners(p, surrogate):
    risks = [(risk_twin(surrogate, s, p), wrong(s, p)) for s in all_corners(surrogate, len(p))]
    least = min(risk for risk, _ in risks)
    expected = min((risk - least for risk, bad in risks if bad), default=inf)
    assert calibration_gap(surrogate, p) == expected


@given(distributions(max_k=5), st.sampled_from(SURROGATES))
def test_the_gap_is_the_least_over_the_wrong_classes_on_top(p, surrogate):
    values = [minimise(surrogate, p, top=r).value for r in range(len(p)) if p[r] < max(p)]
    least = minimise(surrogate, p).value
    expected = min((value - least for value in values), default=inf)
    assert float(calibration_gap(surrogate, p)) == pytest.approx(float(expected), abs=1e-9)


@given(distributions(max_k=5), st.sampled_from(SURROGATES), st.randoms())
def test_the_names_of_the_classes_do_not_matter(p, surrogate, random):
    mixed = random.sample(p, len(p))
    assert calibration_gap(surrogate, mixed) == calibration_gap(surrogate, p)
    a, b = (minimise(surrogate, q).value for q in (p, mixed))
    assert a == pytest.approx(b, abs=1e-12)


def test_values_without_a_majority():
    p = [F(2, 5), F(7, 20), F(1, 4)]
    values = {"crammer_singer": 1, "weston_watkins": F(7, 4), "lee_lin_wahba": F(9, 10), "ova_hinge": 2}
    scores = {
        "crammer_singer": [0, 0, 0],
        "weston_watkins": [1, 1, 0],
        "lee_lin_wahba": [1, -F(1, 2), -F(1, 2)],
        "ova_hinge": [-1, -1, -1],
        "squared": [-F(1, 5), -F(3, 10), -F(1, 2)],
    }
    values["squared"] = sum(4 * x * (1 - x) for x in p)
    for surrogate, value in values.items():
        result = minimise(surrogate, p, exact=True)
        assert result.value == value
        assert result.scores.tolist() == scores[surrogate]
        right = surrogate in ("lee_lin_wahba", "squared")
        assert (calibration_gap(surrogate, p) > 0) == right


def test_crammer_singer_is_constant_only_among_classes_that_occur():
    """Without the assumption that no probability is 0, the minimiser is not unique up to a constant."""
    p = [F(2, 5), F(3, 10), F(3, 10), F(0)]
    assert minimise("crammer_singer", p, exact=True).value == 1
    assert conditional_risk("crammer_singer", [F(0), F(0), F(0), F(-5)], p) == 1


@pytest.mark.parametrize("k", range(3, 9))
def test_the_share_of_majorities(k):
    """k / 2^(k-1) of the simplex: there Crammer-Singer and the one-vs-all hinge are right."""
    p = np.random.default_rng(k).dirichlet(np.ones(k), size=4000)
    share = (calibration_gap("crammer_singer", p) > 1e-12).mean()
    assert share == (calibration_gap("ova_hinge", p) > 1e-12).mean()
    expected = k / 2 ** (k - 1)
    assert abs(share - expected) < 4 * (expected * (1 - expected) / 4000) ** 0.5
    assert (calibration_gap("weston_watkins", p) > 1e-12).mean() > share


@given(distributions(max_k=5), st.sampled_from(SURROGATES))
def test_regret_is_bounded_by_that_of_the_surrogate(p, surrogate):
    """Of every class on top: lee_lin_wahba (k - 1) times, squared, softmax and logistic by a root."""
    least = minimise(surrogate, p).value
    for r in range(len(p)):
        regret = float(max(p) - p[r])
        excess = minimise(surrogate, p, top=r).value - least
        bound = {
            "lee_lin_wahba": excess * (len(p) - 1),
            "squared": (excess / 2) ** 0.5 if excess > 0 else 0,
            "softmax": (2 * max(excess, 0)) ** 0.5,
            "ova_logistic": max(excess, 0) ** 0.5,
        }.get(surrogate, inf)
        assert regret <= bound + 1e-7


@pytest.mark.parametrize("k", range(2, 7))
def test_no_smaller_factor_for_lee_lin_wahba(k):
    """All but one class equally probable, the other on top with the same scores."""
    for denominator in (7, 100):
        p = [F(1, k) + F(1, denominator * k)] * (k - 1) + [F(1, k) - F(k - 1, denominator * k)]
        excess = minimise("lee_lin_wahba", p, top=k - 1, exact=True).value
        excess -= minimise("lee_lin_wahba", p, exact=True).value
        assert (k - 1) * excess == p[0] - p[-1] > 0


# --- abstention -------------------------------------------------------------------------------------------


def abstain_regret(p, predicted):
    """Above the best of all predictions, if to abstain costs 1/2."""
    paid = F(1, 2) if predicted < 0 else 1 - p[predicted]
    return paid - min(F(1, 2), 1 - max(p))


@pytest.mark.parametrize("surrogate", ["crammer_singer", "ova_hinge"])
@pytest.mark.once
def test_regret_with_abstention_is_bounded_for_every_threshold(surrogate):
    """On a grid of scores, and on scores at and just beyond the bar, where next to nothing is given away."""
    for threshold in (0.25, 0.5, 0.75) if surrogate == "crammer_singer" else (-0.5, 0.0, 0.5):
        bar = F(threshold)
        grid = [[F(value, 2) for value in row] for row in product(range(-3, 4), repeat=3)]
        rest = 0 if surrogate == "crammer_singer" else F(-1)
        for value, t in product((bar, bar + F(1, 100)), range(3)):
            grid.append([value if r == t else rest for r in range(3)])
        s = np.array(grid, dtype=object)
        predictions = abstain(surrogate, s, threshold)
        factor = 2 * (min(bar, 1 - bar) if surrogate == "crammer_singer" else 1 - abs(bar))
        tightest = F(0)
        for p in ([5, 3, 2], [4, 3, 3], [7, 2, 1], [5, 5, 0], [6, 4, 0], [10, 0, 0], [2, 7, 1]):
            p = [F(value, 10) for value in p]
            excess = conditional_risk(surrogate, s, p) - minimise(surrogate, p, exact=True).value
            regret = np.array([abstain_regret(p, predicted) for predicted in predictions])
            assert (factor * regret <= excess).all()
            known = excess > 0
            tightest = max(tightest, (factor * regret[known] / excess[known]).max())
        assert tightest > F(19, 20)


def test_the_best_scores_abstain_just_without_a_majority():
    for surrogate in ("crammer_singer", "ova_hinge"):
        for p in simplex_grid(3, 12):
            s = minimise(surrogate, p, exact=True).scores.astype(float)
            predicted = abstain(surrogate, s[None])[0]
            assert abstain_regret(p, predicted) == 0
            if max(p) != F(1, 2):
                assert (predicted >= 0) == (max(p) > F(1, 2))


def test_ties_and_the_bar_itself_give_no_prediction():
    assert abstain("crammer_singer", [[1.0, 1.0], [0.5, 0.0], [0.51, 0.0]]).tolist() == [-1, -1, 0]
    assert abstain("ova_hinge", [[0.0, -1.0], [2.0, 2.0], [0.0, 0.01]]).tolist() == [-1, 0, 1]


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: losses("hinge", [0, 0]), "surrogate must be one of"),
        (lambda: losses("softmax", [0.0]), "scores must have an entry for each of at least two classes"),
        (lambda: losses("softmax", [0.0, inf]), "scores must be finite"),
        (lambda: losses("softmax", ["a", "b"]), "scores must be real numbers"),
        (lambda: losses("squared", [F(1, 2), 0.5]), r"scores must be numbers, or all .* found 0\.5"),
        (lambda: conditional_risk("squared", [0, 0, 0], [0.5, 0.5]), "scores have 3 classes and"),
        (
            lambda: conditional_risk("squared", [0, 0], [0.5, 0.6]),
            r"must have the sum 1, found \[0\.5, 0\.6\]",
        ),
        (lambda: conditional_risk("squared", [0, 0], [[1, 0], [2, -1]]), r"not be negative .* found \[2"),
        (lambda: minimise("squared", [F(1, 3), F(1, 3)], exact=True), r"sum 1, found \[1/3, 1/3\]"),
        (lambda: minimise("squared", [[0.5, 0.5]]), "probabilities must be those of one distribution"),
        (lambda: minimise("squared", [0.5, 0.5], top=2), "top must be an integer from 0 to 1, found 2"),
        (lambda: minimise("softmax", [F(1), F(0)], exact=True), "exact=True is for"),
        (lambda: minimise("squared", [0.5, 0.5], exact=True), "probabilities must be fractions"),
        (lambda: minimise("weston_watkins", np.full(17, 1 / 17)), "at most 16 classes .* found 17"),
        (lambda: calibration_gap("ova_hinge", np.ones((2, 2, 2)) / 2), "must be a vector or a matrix"),
        (lambda: corners("softmax", 3), "surrogate must be one of"),
        (lambda: corners("ova_hinge", 1), "k must be an integer from 2 to 16, found 1"),
        (lambda: simplex_grid(1, 3), "k must be an integer, at least 2, found 1"),
        (lambda: simplex_grid(3, 0), "n must be an integer, at least 1, found 0"),
        (lambda: abstain("softmax", [[0, 0]]), "surrogate must be one of 'crammer_singer', 'ova_hinge'"),
        (
            lambda: abstain("crammer_singer", [[0, 0]], 1.0),
            "threshold must be a finite number, above 0 and below 1",
        ),
        (
            lambda: abstain("ova_hinge", [[0, 0]], -1.0),
            "threshold must be a finite number, above -1 and below 1",
        ),
        (lambda: abstain("ova_hinge", [0, 0]), "scores must be a matrix"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_results_are_frozen():
    result = minimise("softmax", [0.5, 0.5])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 0


def test_corners_that_are_handed_out_are_copies():
    corners("ova_hinge", 2)[:] = 7
    assert corners("ova_hinge", 2).max() == 1


def test_every_order_of_a_distribution_gives_its_scores_in_that_order():
    p = [F(1, 2), F(1, 3), F(1, 6)]
    for order in permutations(range(3)):
        result = minimise("weston_watkins", [p[r] for r in order], exact=True)
        assert result.scores.tolist() == [minimise("weston_watkins", p, exact=True).scores[r] for r in order]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_probabilities_of_another_precision(kind):
    """Their sum is 1 up to the rounding of their own type, and all is computed in double."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=20).astype(kind)
    double = p.astype(np.float64)
    double /= double.sum(axis=1, keepdims=True)
    for surrogate in SURROGATES:
        np.testing.assert_allclose(
            calibration_gap(surrogate, p), calibration_gap(surrogate, double), atol=1e-12
        )
        risk = conditional_risk(surrogate, np.arange(4.0), p)
        np.testing.assert_allclose(risk, conditional_risk(surrogate, np.arange(4.0), double), rtol=1e-12)
        result = minimise(surrogate, p[0])
        assert result.value == pytest.approx(minimise(surrogate, double[0]).value, rel=1e-12)
        assert result.certificate.certifies(1e-9)
    with pytest.raises(ValueError, match="must have the sum 1"):
        conditional_risk("softmax", np.arange(4.0), np.array([0.26, 0.25, 0.25, 0.25], dtype=kind))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimise("softmax", [0.5, 0.5], top=0.5), "top must be an integer from 0 to 1, found 0.5"),
        (lambda: minimise("squared", [0.5, 0.5], exact="no"), "exact must be True or False, found 'no'"),
        (lambda: minimise(["softmax"], [0.5, 0.5]), "surrogate must be one of"),
        (lambda: corners("ova_hinge", 2.5), "k must be an integer from 2 to 16, found 2.5"),
        (lambda: simplex_grid(2, 2.5), "n must be an integer, at least 1, found 2.5"),
        (lambda: abstain("ova_hinge", [[0, 0]], "0"), "threshold must be a finite number"),
        (lambda: calibration_gap("softmax", [0.5 + 1j, 0.5]), "probabilities must be real numbers"),
    ],
)
def test_what_is_no_such_number_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
