"""Constants of displayed bounds: which are read, and which a mutant must change."""

import pytest
from nbformat import from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import constants

STATEMENT = """:::{prf:theorem} Too large by a factor
:label: thm-factor

For 7 of the $m \\ge 5$ examples

$$
R_2 \\le 4\\sqrt{k} + \\frac{3}{m^2} .
$$
:::"""


def chapter(source: str, *mutants: list[str]):
    metadata = {"tags": ["witness"], "witnesses": ["thm-factor"], "mutants": list(mutants)}
    cell = new_code_cell(source, id="check", metadata=from_dict(metadata))
    return new_notebook(cells=[new_markdown_cell(STATEMENT, id="claim"), cell])


@pytest.mark.parametrize(
    ("display", "numbers"),
    [
        (r"R \le 4k", {"4"}),
        (r"R \leq \frac32 k", {"3", "2"}),
        (r"R < 0.5 + 2e^{2} x_3", {"0.5", "2"}),
        (r"R = 4k", set()),
        (r"R \left( 4k \right)", set()),
        (r"x_{12} \ge 1 \tag{7}", set()),
        (r"x \ge \sqrt{5}", {"5"}),
    ],
)
def test_the_constants_of_a_display(display: str, numbers: set[str]):
    assert constants.of_bounds(f"In words 9.\n\n$$\n{display}\n$$\n") == numbers


def test_the_numbers_of_a_witness():
    source = "x = 3 * f(7) / 4.0 + 9 % 5 - 16 ** y + z ** 8 + Fraction(k, 6) + 2 * True"
    assert constants.of_witness(source) == {"2", "3", "4", "6", "16"}


def test_a_piece_of_code_need_not_be_whole():
    assert constants.written("bound(4 * x, 4.0, (2") == {"4": 2, "2": 1}


@pytest.mark.parametrize(
    ("mutants", "missing"),
    [
        ([], ["3", "4"]),
        ([["4 * k", "2 * k"]], ["3"]),
        ([["4 * k", "2 * k"], ["3 / m", "1 / m"]], []),
        ([["4 * k", "4 * k**2"], ["+ 3", "+ 3"]], ["3", "4"]),
    ],
)
def test_a_constant_needs_a_mutant(mutants: list[list[str]], missing: list[str]):
    untried = list(constants.untried(chapter("assert risk <= 4 * k + 3 / m**2", *mutants)))
    assert [index for index, _ in untried] == [0] * len(missing)
    for number, (_, message) in zip(missing, untried, strict=True):
        assert f"thm-factor: its bound and its witness have the constant {number}," in message


def test_a_constant_that_the_witness_does_not_have_says_nothing():
    assert not list(constants.untried(chapter("assert risk <= limit(k, m)")))
