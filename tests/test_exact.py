"""Fractions, signs and linear equations without rounding."""

from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mcutils import exact

KINDS = st.sampled_from([np.float64, np.float32, np.int64, np.uint8])


@given(hnp.arrays(KINDS, hnp.array_shapes(min_dims=0)))
def test_fractions_are_the_same_numbers(values):
    if not np.isfinite(values).all():
        with pytest.raises(ValueError, match="values must be finite numbers, found"):
            exact.as_fractions(values)
        return
    fractions = exact.as_fractions(values)
    assert fractions.shape == values.shape
    assert {type(value) for value in fractions.flat} <= {Fraction}
    assert all(a == b for a, b in zip(fractions.flat, values.flat, strict=True))


def test_numbers_of_any_kind():
    kinds = [True, np.int64(2**60 + 1), 10**400, Decimal("0.1"), "1/3", " 0.25 ", Fraction(2, 7)]
    expected = [1, 2**60 + 1, 10**400, Fraction(1, 10), Fraction(1, 3), Fraction(1, 4), Fraction(2, 7)]
    assert exact.as_fractions(kinds).tolist() == expected
    assert exact.as_fractions([0.1])[0] != Fraction(1, 10)
    assert exact.as_fractions([]).shape == (0,)


@pytest.mark.parametrize("m", [0, 1, 5])
def test_all_signs_are_the_product(m):
    assert exact.all_signs(m).tolist() == [list(row) for row in product((-1, 1), repeat=m)]


def determinant(A):
    total = Fraction(0)
    for places in permutations(range(len(A))):
        turned = sum(places[i] > places[j] for j in range(len(A)) for i in range(j))
        term = Fraction((-1) ** turned)
        for row, place in zip(A, places, strict=True):
            term *= row[place]
        total += term
    return total


@given(
    st.integers(0, 4).flatmap(lambda n: hnp.arrays(np.int64, (n, n + 1), elements=st.integers(-2, 2))),
    st.integers(1, 7),
)
def test_the_solution_is_that_of_cramers_rule(table, denominator):
    rows = exact.as_fractions(table) / denominator
    A, b = rows[:, :-1], rows[:, -1]
    whole = determinant(A)
    solution = exact.solve(A, b)
    if whole == 0:
        assert solution is None
        return
    for i, value in enumerate(solution):
        swapped = A.copy()
        swapped[:, i] = b
        assert value == determinant(swapped) / whole


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact.as_fractions([1, None]), "values must be finite numbers, found None"),
        (lambda: exact.as_fractions(["1/0"]), "values must be finite numbers, found '1/0'"),
        (lambda: exact.as_fractions([1j]), "values must be finite numbers, found 1j"),
        (lambda: exact.all_signs(21), "m must be an integer from 0 to 20, found 21"),
        (lambda: exact.solve([[1, 2]], [1]), r"A must be square .* found shapes \(1, 2\) and \(1,\)"),
        (lambda: exact.solve([[1]], [1, 2]), r"found shapes \(1, 1\) and \(2,\)"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
