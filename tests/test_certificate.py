"""Laws of certificates."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcutils.certificate import Certificate

values = st.floats(-1e6, 1e6)


@given(primal=values, distance=st.floats(0, 1e6))
def test_the_gap_is_relative_to_the_primal_value_or_to_one(primal, distance):
    result = Certificate(primal, primal - distance)
    assert result.gap * max(1.0, abs(primal)) == pytest.approx(primal - (primal - distance))


@given(primal=values, distance=st.floats(0, 1e6), tol=st.floats(0, 10))
def test_certifies_when_the_gap_is_at_most_the_tolerance(primal, distance, tol):
    result = Certificate(primal, primal - distance)
    assert result.certifies(tol) == (result.gap <= tol)
    assert result.certifies(result.gap)


@given(primal=values, excess=st.floats(1e-6, 1e3))
def test_a_dual_above_the_primal_is_refused(primal, excess):
    with pytest.raises(ValueError, match="weak duality"):
        Certificate(primal, primal + excess * max(1.0, abs(primal)))


@given(primal=values)
def test_a_dual_above_the_primal_by_rounding_is_the_same_value(primal):
    dual = primal + 1e-10 * max(1.0, abs(primal))
    assert Certificate(primal, dual).certifies(0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1j, "1", None, True])
def test_values_must_be_finite_numbers(bad):
    with pytest.raises(ValueError, match=r"^primal must be a finite number, found"):
        Certificate(bad, 0.0)
    with pytest.raises(ValueError, match=r"^dual must be a finite number, found"):
        Certificate(0.0, bad)
    with pytest.raises(ValueError, match=r"^kkt\['balance'\] must be a finite number, at least 0, found"):
        Certificate(0.0, 0.0, {"balance": bad})


def test_residuals_and_iterations_are_not_negative():
    with pytest.raises(ValueError, match=r"^kkt\['balance'\] must be a finite number, at least 0, found -1"):
        Certificate(0.0, 0.0, {"balance": -1.0})
    with pytest.raises(ValueError, match=r"^kkt must map names to residuals, found 5$"):
        Certificate(0.0, 0.0, 5)
    with pytest.raises(ValueError, match=r"^n_iter must be an integer, at least 0, found 1\.5$"):
        Certificate(0.0, 0.0, n_iter=1.5)


def test_the_gap_of_values_far_apart_is_a_number():
    assert Certificate(1e308, -1e308).gap == 2


@pytest.mark.parametrize("tol", [-1.0, math.nan])
def test_a_tolerance_below_zero_certifies_nothing(tol):
    with pytest.raises(ValueError, match="tol must be"):
        Certificate(1.0, 1.0).certifies(tol)


def test_a_certificate_cannot_be_changed():
    result = Certificate(1.0, 1.0, kkt={"stationarity": 0.0}, n_iter=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.dual = 2.0
    assert (result.kkt, result.n_iter) == ({"stationarity": 0.0}, 3)
