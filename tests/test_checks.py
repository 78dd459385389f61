"""The checks of arguments: what they let through, and that they name what they refuse."""

from fractions import Fraction

import numpy as np
import pytest

from mcutils import _checks

NEVER = ["no", None, [], [1], object(), float("nan"), float("inf"), 1j, np.array([1.0, 2.0])]


@pytest.mark.parametrize("value", [*NEVER, 0, 1, 2.0])
def test_a_switch_is_a_boolean(value):
    with pytest.raises(ValueError, match=r"^warm must be True or False, found "):
        _checks.switch(value, "warm")


def test_a_switch_of_numpy_is_a_boolean_too():
    assert _checks.switch(np.True_, "warm") is True


@pytest.mark.parametrize("value", [*NEVER, True, np.True_, 2.0, 0, -3])
def test_an_integer_is_an_integer(value):
    with pytest.raises(ValueError, match=r"^k must be an integer, at least 1, found "):
        _checks.integer(value, "k", 1)


def test_an_integer_has_its_limits():
    assert [_checks.integer(value, "k", 2, 3) for value in (2, np.int64(3), np.uint8(2))] == [2, 3, 2]
    with pytest.raises(ValueError, match=r"^k must be an integer from 2 to 3, found 4$"):
        _checks.integer(4, "k", 2, 3)


@pytest.mark.parametrize("value", [*NEVER, True, "1", -1, 0])
def test_a_number_is_a_number(value):
    with pytest.raises(ValueError, match=r"^C must be a positive, finite number, found "):
        _checks.number(value, "C", above=0)


@pytest.mark.parametrize("value", [1, 0.25, np.float32(0.5), np.int8(1), Fraction(1, 3)])
def test_numbers_of_every_kind(value):
    assert _checks.number(value, "C", above=0, most=1) == float(value)


def test_the_ends_of_an_interval():
    assert _checks.number(0, "p", least=0, most=1) == 0
    assert _checks.number(1, "p", least=0, most=1) == 1
    with pytest.raises(ValueError, match=r"^p must be a positive, finite number, found 0"):
        _checks.number(0, "p", above=0)
    for value, bounds in [(1, {"above": 1}), (1, {"below": 1}), (-1, {"least": 0}), (2, {"most": 1})]:
        with pytest.raises(ValueError, match=r"^p must be a finite number, \w.* [01], found "):
            _checks.number(value, "p", **bounds)


@pytest.mark.parametrize("value", [*NEVER, "Hinge", b"hinge"])
def test_a_name_is_one_of_those_allowed(value):
    with pytest.raises(ValueError, match=r"^loss must be one of 'hinge', 'squared', found "):
        _checks.one_of(value, "loss", ("hinge", "squared"))


@pytest.mark.parametrize("value", ["1", b"1", None, [None], [1j], 1 + 1j, ["a", 1], [[1], "a"], object()])
def test_real_numbers_are_real_numbers(value):
    with pytest.raises(ValueError, match=r"^X must be real numbers, found "):
        _checks.reals(np.asarray(value, dtype=object) if value == [[1], "a"] else value, "X")


def test_real_numbers_of_every_kind():
    for value in ([1, 2], (1.0, 2.0), np.float32([1, 2]), [Fraction(1), 2], np.array([1, 2], dtype=">i2")):
        result = _checks.reals(value, "X")
        assert (result.dtype, result.tolist()) == (np.float64, [1.0, 2.0])
    same = np.ones(3)
    assert _checks.reals(same, "X") is same
    assert _checks.reals(True, "X").shape == ()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_real_numbers_are_finite(bad):
    with pytest.raises(ValueError, match=rf"^X must be finite, found {bad}$"):
        _checks.reals([[1.0, bad]], "X")
    if np.isinf(bad):
        assert _checks.reals([bad], "X", infinite=True).tolist() == [bad]
    else:
        with pytest.raises(ValueError, match=r"^X must be numbers, found nan$"):
            _checks.reals([bad], "X", infinite=True)
