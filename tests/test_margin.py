"""Margins against their definition, one example at a time; the sandwich with many ties."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcutils import loss, margin


@st.composite
def tables(draw, low=-3, high=3, max_k=5):
    """Integer scores, so that ties are frequent and arithmetic is exact, and true classes."""
    m, k = draw(st.integers(1, 8)), draw(st.integers(2, max_k))
    entries = st.lists(st.integers(low, high), min_size=k, max_size=k)
    scores = np.array(draw(st.lists(entries, min_size=m, max_size=m)))
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=m, max_size=m)))
    return scores, y


rhos = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0])


def margin_twin(row, label):
    return row[label] - max(value for y, value in enumerate(row) if y != label)


def loss_twin(u, rho):
    """The three cases that the lecture prints."""
    u, rho = Fraction(u), Fraction(rho)
    return Fraction(1) if u <= 0 else Fraction(0) if u >= rho else 1 - u / rho


@given(tables())
def test_margins_are_the_definition(table):
    scores, y = table
    expected = [margin_twin(row, label) for row, label in zip(scores.tolist(), y.tolist(), strict=True)]
    assert margin.margins(scores, y).tolist() == expected


@given(st.integers(-40, 40), rhos)
def test_the_loss_is_its_three_cases(quarters, rho):
    u = quarters / 4
    assert float(margin.rho_loss(u, rho)) == pytest.approx(float(loss_twin(u, rho)), abs=1e-15)


@given(tables(), rhos, st.data())
def test_the_sandwich_for_every_tie_break(table, rho, data):
    scores, y = table
    k = scores.shape[1]
    tie = data.draw(st.sampled_from(["smallest", "largest", "for", "against"]) | st.permutations(range(k)))
    result = margin.sandwich(scores, y, rho, tie)
    assert result.zero_one <= result.nonpositive <= result.margin_loss <= result.at_most_rho

    exact = [margin_twin(row, label) for row, label in zip(scores.tolist(), y.tolist(), strict=True)]
    assert result.nonpositive == np.mean([u <= 0 for u in exact])
    assert result.at_most_rho == np.mean([u <= rho for u in exact])
    mean = sum(loss_twin(u, rho) for u in exact) / len(exact)
    assert result.margin_loss == pytest.approx(float(mean), abs=1e-14)


@given(tables(), rhos)
def test_equality_holds_exactly_where_the_chapter_says(table, rho):
    scores, y = table
    result, against = margin.sandwich(scores, y, rho), margin.sandwich(scores, y, rho, "against")
    u = margin.margins(scores, y)
    wrong = margin.predict(scores) != y
    assert against.zero_one == against.nonpositive
    assert (result.zero_one == result.nonpositive) == wrong[u == 0].all()
    assert (result.nonpositive == result.margin_loss) == (not ((u > 0) & (u < rho)).any())
    assert (result.margin_loss == result.at_most_rho) == (not ((u > 0) & (u <= rho)).any())


@given(
    st.lists(st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)), min_size=1, max_size=30),
    st.floats(1e-300, 1e300),
)
def test_the_sandwich_survives_rounding(pairs, rho):
    scores = np.array(pairs)
    result = margin.sandwich(scores, np.zeros(len(scores), dtype=int), rho)
    assert result.zero_one <= result.nonpositive <= result.margin_loss <= result.at_most_rho


@given(tables())
def test_no_tie_break_errs_less_than_for_or_more_than_against(table):
    scores, y = table
    best, worst = (margin.sandwich(scores, y, 1.0, tie).zero_one for tie in ("for", "against"))
    for order in itertools.islice(itertools.permutations(range(scores.shape[1])), 24):
        assert best <= margin.sandwich(scores, y, 1.0, order).zero_one <= worst


@pytest.mark.parametrize("winner", range(4))
def test_each_class_wins_the_tie_once(winner):
    order = [winner, *(y for y in range(4) if y != winner)]
    assert margin.predict(np.zeros((2, 4)), order).tolist() == [winner, winner]
    assert margin.predict([[0, 0, 0, 0], [9, 9, 9, 10]], "smallest").tolist() == [0, 3]
    assert margin.predict([[0, 0, 0, 0], [9, 10, 9, 9]], "largest").tolist() == [3, 1]


@given(tables(), rhos)
def test_an_order_of_the_classes_is_a_renaming(table, rho):
    """Predicting with the order reversed is predicting the reversed columns."""
    scores, y = table
    k = scores.shape[1]
    assert (margin.predict(scores, "largest") == k - 1 - margin.predict(scores[:, ::-1])).all()
    assert (margin.margins(scores[:, ::-1], k - 1 - y) == margin.margins(scores, y)).all()


@given(tables(), rhos, st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_scaling_scores_and_rho_together_changes_nothing(table, rho, c):
    scores, y = table
    assert margin.sandwich(c * scores, y, c * rho) == margin.sandwich(scores, y, rho)
    shifted = scores + np.arange(len(scores))[:, None]
    assert margin.sandwich(shifted, y, rho) == margin.sandwich(scores, y, rho)


@given(tables())
def test_the_margin_loss_is_the_mean_height_of_the_cumulative_curve(table):
    """The integral of F over [0, ρ] is a sum: with integer margins, F is constant between integers."""
    scores, y = table
    u = margin.margins(scores, y)
    heights = [(u <= t).mean() for t in range(7)]
    for rho in range(1, 8):
        assert margin.empirical_margin_loss(scores, y, rho) == pytest.approx(
            np.mean(heights[:rho]), abs=1e-14
        )


@given(tables())
def test_the_curve_never_decreases_and_has_its_limits(table):
    scores, y = table
    curve = margin.empirical_margin_loss(scores, y, np.geomspace(0.01, 1000, 40))
    u = margin.margins(scores, y)
    assert (np.diff(curve) >= -1e-15).all()
    assert curve[0] == (u <= 0).mean()  # margins are integers: none lies between 0 and 0.01
    assert curve[-1] >= 1 - u.max(initial=0) / 1000 - 1e-15


@given(tables(max_k=2), rhos)
def test_two_classes_have_the_binary_margin(table, rho):
    scores, y = table
    sign = np.where(y == 0, 1, -1)
    assert (margin.margins(scores, y) == sign * (scores[:, 0] - scores[:, 1])).all()


def test_two_classes_agree_with_the_hinge_where_both_are_steep():
    u = np.linspace(0, 1, 9)
    np.testing.assert_allclose(margin.rho_loss(u, 1.0), loss.hinge(u), atol=1e-15)


@given(tables(), st.data())
def test_the_margin_is_lipschitz(table, data):
    scores, y = table
    m, k = scores.shape
    row = st.lists(st.integers(-3, 3), min_size=k, max_size=k)
    other = np.array(data.draw(st.lists(row, min_size=m, max_size=m)))
    change = np.abs(margin.margins(scores, y) - margin.margins(other, y))
    difference = np.abs(scores - other)
    assert (change <= 2 * difference.max(axis=1)).all()
    assert (change**2 <= 2 * (difference**2).sum(axis=1)).all()


def test_a_margin_of_zero_is_a_tie_and_nothing_smaller():
    tiny = np.finfo(float).smallest_subnormal
    assert margin.margins([[1.0, 1.0], [tiny, 0.0]], [1, 0]).tolist() == [0.0, tiny]
    assert margin.margins([[1e308, -1e308]], [0]).tolist() == [np.inf]
    assert float(margin.rho_loss(np.inf, 1.0)) == 0.0
    assert float(margin.rho_loss(tiny, 1e308)) == 1.0


def test_the_arguments_are_left_alone():
    scores, y = np.array([[1.0, 2.0]]), np.array([1])
    margin.sandwich(scores, y, 1.0)
    assert scores.tolist() == [[1.0, 2.0]]


def test_the_result_cannot_be_changed():
    result = margin.sandwich([[1.0, 2.0]], [1], 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.zero_one = 0.0


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        ([1.0, 2.0], [0], "found shape \\(2,\\)"),
        ([[1.0], [2.0]], [0, 0], "at least two classes, found shape \\(2, 1\\)"),
        (np.empty((0, 3)), [], "at least one example"),
        ([[1.0, np.nan]], [0], "finite, found nan"),
        ([[1.0, np.inf]], [0], "finite, found inf"),
        ([["a", "b"]], [0], "real numbers"),
        ([[True, False]], [0], "real numbers"),
        ([[1.0, 2.0]], [0, 1], "each of the 1 examples"),
        ([[1.0, 2.0]], [2], "from 0 to 1, found 2"),
        ([[1.0, 2.0]], [-1], "found -1"),
        ([[1.0, 2.0]], [0.0], "y must be integers"),
        ([[1.0, 2.0]], [True], "y must be integers"),
    ],
)
def test_bad_scores_and_labels_are_named(scores, y, message):
    with pytest.raises(ValueError, match=message):
        margin.margins(scores, y)
    with pytest.raises(ValueError, match=message):
        margin.sandwich(scores, y, 1.0)


@pytest.mark.parametrize("rho", [0, -1.0, np.nan, np.inf, True, [1.0]])
def test_rho_is_a_positive_number(rho):
    with pytest.raises(ValueError, match="rho must be a positive, finite number"):
        margin.rho_loss([0.5], rho)
    with pytest.raises(ValueError, match="rho must be a positive, finite number"):
        margin.sandwich([[1.0, 2.0]], [0], rho)


def test_a_curve_is_one_dimensional_and_positive():
    with pytest.raises(ValueError, match="found shape \\(1, 2\\)"):
        margin.empirical_margin_loss([[1.0, 2.0]], [0], [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"found 0\.0"):
        margin.empirical_margin_loss([[1.0, 2.0]], [0], [1.0, 0.0])
    with pytest.raises(ValueError, match="found nan"):
        margin.rho_loss([np.nan], 1.0)


@pytest.mark.parametrize("tie", ["first", "for", [0, 0], [0], [0.0, 1.0], [1, 2]])
def test_a_tie_break_names_every_class_once(tie):
    with pytest.raises(ValueError, match="tie"):
        margin.predict([[1.0, 1.0]], tie)


def test_what_is_no_number_is_refused():
    for bad in ("1", 1j, None):
        with pytest.raises(ValueError, match=r"^rho must be a positive, finite number, found"):
            margin.rho_loss([0.0], bad)
    with pytest.raises(ValueError, match=r"^rho must be (real numbers|a finite number)"):
        margin.empirical_margin_loss([[0.2, 0.1]], [0], ["1"])
    for bad in ([1j], ["1"], None):
        with pytest.raises(ValueError, match=r"^margins must be real numbers, found"):
            margin.rho_loss(bad, 1.0)
