"""Laws of the margin losses."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcutils import loss

ALL = sorted(loss.LOSSES.values(), key=lambda one: one.name)
CONVEX = [one for one in ALL if one is not loss.zero_one]
margins = st.floats(-1e4, 1e4)

# The definitions, one margin at a time.
TWIN = {
    "hinge": lambda z: max(0.0, 1.0 - z),
    "squared_hinge": lambda z: max(0.0, 1.0 - z) ** 2,
    "exponential": lambda z: math.exp(-z) if z > -700 else math.inf,
    "logistic": lambda z: math.log1p(math.exp(-z)) if z > 0 else -z + math.log1p(math.exp(z)),
    "linear": lambda z: -z,
    "zero_one": lambda z: 0.5 if z == 0 else float(z < 0),
}


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
@given(z=st.floats(-690, 1e4))
def test_value_is_the_definition(one, z):
    assert float(one(z)) == pytest.approx(TWIN[one.name](z), rel=1e-13, abs=0)


@pytest.mark.parametrize("one", CONVEX, ids=lambda one: one.name)
@given(z=margins, w=margins)
def test_subgradient_supports_the_loss_from_below(one, z, w):
    # for the exponential: where neither side overflows
    if one is loss.exponential:
        z, w = z / 20, w / 20
    line = float(one(z)) + float(one.subgradient(z)) * (w - z)
    scale = abs(float(one(z))) + abs(float(one.subgradient(z)) * (w - z))
    assert float(one(w)) >= line - 1e-14 * scale


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_extreme_margins_neither_warn_nor_give_nan(one):
    z = np.array([-1e4, -709.0, -1.0, -0.0, 0.0, 1.0, 709.0, 1e4])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        value = one(z)
        slope = one.subgradient(z) if one in CONVEX else value
    assert not np.isnan(value).any()
    assert not np.isnan(slope).any()
    if one is not loss.exponential:
        assert np.isfinite(value).all()
        assert np.isfinite(slope).all()


def test_the_exponential_overflows_to_infinity_but_its_logarithm_does_not():
    assert loss.exponential(-1e4) == np.inf
    np.testing.assert_array_equal(loss.exponential.log_value([-1e4, 0.5, 1e4]), [1e4, -0.5, -1e4])


def test_the_logistic_loss_keeps_small_values():
    assert loss.logistic(50.0) == pytest.approx(math.exp(-50), rel=1e-14)
    assert loss.logistic.subgradient(50.0) == pytest.approx(-math.exp(-50), rel=1e-14)


@given(z=margins)
def test_logistic_differs_by_z_from_its_mirror_image(z):
    assert float(loss.logistic(-z)) == pytest.approx(float(loss.logistic(z)) + z, rel=1e-15, abs=1e-11)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
@pytest.mark.parametrize("z", [2, [1, 2], [[0.5], [1.0]], np.ones((2, 0)), np.float32([[0.25]])], ids=repr)
def test_results_are_float64_of_the_same_shape(one, z):
    predictions = [one(z)] + ([one.subgradient(z)] if one in CONVEX else [])
    for predicted in predictions:
        assert predicted.dtype == np.float64
        assert predicted.shape == np.shape(z)
        if np.ndim(z) == 0:
            assert isinstance(predicted, np.float64)


def test_a_scalar_is_not_changed_by_being_in_an_array():
    z = np.linspace(-3, 3, 25)
    for one in ALL:
        np.testing.assert_array_equal(one(z), [one(entry) for entry in z])


def test_the_zero_one_loss_has_no_subgradient():
    with pytest.raises(ValueError, match=r"'zero_one' has no subgradient"):
        loss.zero_one.subgradient(0.0)


def test_at_zero():
    known = {
        "hinge": 1,
        "squared_hinge": 1,
        "exponential": 1,
        "logistic": math.log(2),
        "linear": 0,
        "zero_one": 0.5,
    }
    assert {name: one.at_zero for name, one in loss.LOSSES.items()} == pytest.approx(known, rel=1e-15)


def test_get_names_what_is_allowed():
    with pytest.raises(
        ValueError, match=r"unknown loss 'huber'; allowed are exponential, hinge, linear, logistic"
    ):
        loss.get("huber")
    with pytest.raises(ValueError, match=r"name .* or a callable, found 3"):
        loss.get(3)


def test_a_callable_must_return_one_finite_number_a_margin():
    with pytest.raises(ValueError, match=r"shape \(3,\) it returned shape \(\)"):
        loss.get(np.sum)([1.0, 2.0, 3.0])
    with (
        pytest.raises(ValueError, match=r"'log' must be finite, found nan at z = -1"),
        np.errstate(invalid="ignore"),
    ):
        loss.get(np.log)([1.0, -1.0])


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_losses_survive_pickling(one):
    assert pickle.loads(pickle.dumps(one)) == one


@pytest.mark.parametrize("z", [[1j], ["1"], np.array(["2020"], dtype="M8[Y]"), b"1"])
def test_a_margin_is_a_real_number(z):
    """A text would be read as a number, and of a complex one the imaginary part would be lost."""
    for one in loss.LOSSES.values():
        for function in (one, one.subgradient) if one.slope else (one,):
            with pytest.raises(ValueError, match=r"^z must be real numbers, found dtype"):
                function(z)
    with pytest.raises(ValueError, match=r"^z must be real numbers, found dtype"):
        loss.exponential.log_value(z)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, np.negative), "name must be a text, found None"),
        (("ramp", 3), "value must be a function of the margins, found 3"),
        (("ramp", np.negative, 3), "slope must be a function of the margins or None, found 3"),
    ],
)
def test_a_loss_is_made_of_functions(arguments, message):
    with pytest.raises(ValueError, match=message):
        loss.MarginLoss(*arguments)
