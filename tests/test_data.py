"""The data are as in TERMS.md, come from an installed package, and LED-7 is the known problem."""

import subprocess
import sys
import zipfile
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import mcutils
from mcutils.data import LED7, led7, load, prototypes

SHAPES = {
    "glass": ((214, 9), {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}),
    "penguins": ((333, 4), {"Adelie": 146, "Chinstrap": 68, "Gentoo": 119}),
    "vehicle": ((846, 18), {"bus": 218, "opel": 212, "saab": 217, "van": 199}),
    "vowel": (
        (990, 10),
        dict.fromkeys(["hAd", "hEd", "hId", "hOd", "hUd", "hYd", "had", "hed", "hid", "hod", "hud"], 90),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_load_gives_what_the_terms_describe(name: str) -> None:
    shape, sizes = SHAPES[name]
    data = load(name)
    labels, counts = np.unique(data.y, return_counts=True)

    assert data.name == name
    assert data.X.shape == shape
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert (np.ptp(data.X, axis=0) > 0).all()
    assert len(data.feature_names) == len(set(data.feature_names)) == shape[1]
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == sizes
    assert len(data.class_names) == len(sizes)
    if name != "glass":  # whose labels are numbers, named by the package
        assert data.class_names == tuple(labels.tolist())
    terms = Path(mcutils.__file__).with_name("data").joinpath("TERMS.md").read_text(encoding="utf-8")
    assert f"| `{name}.csv` | {shape[0]}, {shape[1]}, {len(sizes)} |" in terms
    assert data.terms


@pytest.mark.parametrize("name", SHAPES)
def test_a_data_set_cannot_be_changed_by_one_reader_for_the_next(name: str) -> None:
    data = load(name)
    for array in (data.X, data.y, data.groups, data.is_test):
        assert array is None or not array.flags.writeable
    with pytest.raises(AttributeError):
        data.X = data.X * 2  # type: ignore[misc]


def test_only_vowel_has_groups_and_a_split() -> None:
    for name in SHAPES:
        data = load(name)
        assert (data.groups is not None) == (data.is_test is not None) == (name == "vowel")


def test_the_split_of_vowel_separates_speakers() -> None:
    vowel = load("vowel")
    assert vowel.groups is not None
    assert vowel.is_test is not None
    assert set(vowel.groups[~vowel.is_test]) == set(range(8))
    assert set(vowel.groups[vowel.is_test]) == set(range(8, 15))
    assert (~vowel.is_test).sum() == 528
    # every speaker says every vowel six times
    pairs = np.unique(np.rec.fromarrays([vowel.groups, vowel.y]), return_counts=True)[1]
    assert pairs.tolist() == [6] * (15 * 11)


def test_an_unknown_name_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(ValueError, match="name must be one of 'glass', 'penguins', 'vehicle', 'vowel'"):
        load("iris")


def test_the_files_are_found_inside_a_zip(tmp_path: Path) -> None:
    package = Path(mcutils.__file__).parent
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for file in [package / "data" / "__init__.py", *(package / "data").glob("*.csv")]:
            archive.write(file, f"elsewhere/{file.name}")
    script = (
        "import sys; sys.path.insert(0, 'package.zip'); import elsewhere as e; print(e.load('glass').X.shape)"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (run.stdout.strip(), run.stderr) == ("(214, 9)", "")


def test_led7_shows_the_digits() -> None:
    # lit segments by where they are: top, upper left, upper right, middle, lower left, lower right, bottom
    drawings = [
        " _     _  _     _  _  _  _  _ ",
        "| |  | _| _||_||_ |_   ||_||_|",
        "|_|  ||_  _|  | _||_|  ||_| _|",
    ]
    places = [(0, 1), (1, 0), (1, 2), (1, 1), (2, 0), (2, 2), (2, 1)]
    for digit in range(10):
        lit = [drawings[row][3 * digit + column] != " " for row, column in places]
        assert (LED7[digit] == np.where(lit, 1, -1)).all()
    assert not LED7.flags.writeable


def test_the_bayes_error_of_led7_is_the_documented_fraction() -> None:
    flip = Fraction(1, 10)
    codewords = [tuple(row) for row in LED7.tolist()]
    right = Fraction(0)
    for pattern in product((-1, 1), repeat=7):
        distances = [sum(a != b for a, b in zip(pattern, word, strict=True)) for word in codewords]
        right += max(flip**d * (1 - flip) ** (7 - d) for d in distances) / 10
    assert 1 - right == Fraction(3249719, 12500000)
    assert led7.__doc__ is not None
    assert f"{1 - right} = {float(1 - right)}" in led7.__doc__


def test_led7_draws_what_it_says() -> None:
    X, y = led7(40_000, flip=0.1, random_state=7)
    assert X.dtype == np.int8
    assert set(np.unique(X)) == {-1, 1}
    # five standard errors around uniform digits and around the probability of each segment
    assert abs(np.bincount(y, minlength=10) / len(y) - 0.1).max() < 5 * np.sqrt(0.09 / len(y))
    assert abs((LED7[y] != X).mean(axis=0) - 0.1).max() < 5 * np.sqrt(0.09 / len(y))


def test_led7_is_reproducible_and_has_its_two_extremes() -> None:
    first, second = (led7(50, random_state=3) for _ in range(2))
    assert (first[0] == second[0]).all()
    assert (first[1] == second[1]).all()
    rng = np.random.default_rng(3)
    assert (led7(50, random_state=rng)[0] == first[0]).all()
    assert (led7(50, random_state=rng)[0] != first[0]).any()
    X, y = led7(50, flip=0)
    assert (LED7[y] == X).all()
    X, y = led7(50, flip=1)
    assert (-LED7[y] == X).all()


@pytest.mark.parametrize(
    ("n", "flip", "message"),
    [
        (0, 0.1, "n must be an integer, at least 1, found 0"),
        (5, 1.5, "flip must be .* at most 1, found 1.5"),
        (5, float("nan"), "nan"),
    ],
)
def test_led7_refuses(n: int, flip: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        led7(n, flip=flip)


def test_prototypes_are_gaussian_classes_with_the_covariance_that_they_name() -> None:
    nature = prototypes(3, 2, random_state=0)
    X, y = nature.draw(30_000, random_state=1)
    assert np.bincount(y).tolist() == [10_000] * 3
    for c in range(3):
        own = (X[y == c] - nature.means[c]) / nature.scales
        assert np.abs(own.mean(axis=0)).max() < 0.04
        assert np.abs(np.cov(own.T) - np.eye(2)).max() < 0.06
    # the posterior by its definition
    density = np.array([norm.pdf(X[:50], mean, nature.scales).prod(axis=1) for mean in nature.means]).T
    posterior = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(nature.log_posterior(X[:50])), posterior, atol=1e-12)
    np.testing.assert_array_equal(nature.predict(X[:50]), posterior.argmax(axis=1))


@pytest.mark.parametrize("d", [1, 3, 64])
def test_the_bayes_error_of_two_prototypes_is_that_of_a_normal_tail(d: int) -> None:
    for seed in range(3):
        nature = prototypes(2, d, random_state=seed)
        distance = np.linalg.norm((nature.means[0] - nature.means[1]) / nature.scales)
        estimate, standard_error = nature.bayes_error(4000, random_state=seed)
        assert abs(estimate - norm.sf(distance / 2)) < 4 * standard_error + 1e-12
        assert standard_error < 0.01


def test_the_bayes_error_is_that_of_the_bayes_rule() -> None:
    nature = prototypes(40, 8, random_state=0)
    X, y = nature.draw(20_000, random_state=1)
    wrong = (nature.predict(X) != y).mean()
    estimate, standard_error = nature.bayes_error()
    noise = np.sqrt(wrong * (1 - wrong) / 20_000)
    assert abs(wrong - estimate) < 4 * np.hypot(noise, standard_error)
    # the same by parts of other sizes
    assert nature.bayes_error(50, 3) == nature.bayes_error(50, 3)


def test_relatives_are_nearer_by_as_much_as_the_growth_says() -> None:
    k, d = 64, 2000
    for growth in (0.0, 0.5, 1.2):
        nature = prototypes(k, d, separation=2.0, growth=growth, random_state=1)
        leaves = nature.means[nature.order]
        for i, j in ((0, 1), (0, 2), (5, 6), (0, 32), (13, 40)):
            height = (i ^ j).bit_length()  # where the two ways part
            expected = 2 * sum((2.0 * growth**h) ** 2 for h in range(height))
            assert ((leaves[i] - leaves[j]) ** 2).sum() == pytest.approx(expected, rel=0.25)
    assert sorted(nature.order) == list(range(k))
    assert nature.order.tolist() != list(range(k))
    assert 1 / 1.5 <= nature.scales.min() <= nature.scales.max() <= 1.5
    assert (prototypes(5, spread=1, random_state=0).scales == 1).all()


def test_prototypes_are_drawn_anew_by_their_seed() -> None:
    one, two, other = (prototypes(9, 3, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.means, two.means)
    assert (one.means != other.means).all()
    assert not one.means.flags.writeable
    for (X, y), (U, v) in (
        (one.draw(20, 4), two.draw(20, 4)),
        (one.draw(20, np.random.default_rng(4)), two.draw(20, 4)),
    ):
        np.testing.assert_array_equal(X, U)
        np.testing.assert_array_equal(y, v)
    counts = np.bincount(one.draw(20, 0)[1], minlength=9)
    assert set(counts.tolist()) == {2, 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 1}, "k must be an integer, at least 2, found 1"),
        ({"k": 2.0}, "k must be an integer"),
        ({"k": 3, "d": 0}, "d must be an integer, at least 1, found 0"),
        ({"k": 3, "separation": 0.0}, "separation must be a positive, finite number, found 0.0"),
        ({"k": 3, "growth": -0.1}, "growth must be a finite number, at least 0, found -0.1"),
        ({"k": 3, "spread": 0.9}, "spread must be a finite number, at least 1, found 0.9"),
    ],
)
def test_prototypes_that_cannot_be_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prototypes(**arguments)


def test_too_few_draws_are_refused() -> None:
    nature = prototypes(3)
    with pytest.raises(ValueError, match="n must be an integer, at least 1, found 0"):
        nature.draw(0)
    with pytest.raises(ValueError, match="n must be an integer, at least 2, found 1"):
        nature.bayes_error(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load(["glass"]), r"name must be one of .* found \['glass'\]"),
        (lambda: led7(2.5), r"n must be an integer, at least 1, found 2\.5"),
        (lambda: led7(3, flip="0.1"), r"flip must be a finite number, .* found '0\.1'"),
        (lambda: prototypes(2.5), r"k must be an integer, at least 2, found 2\.5"),
        (lambda: prototypes(3, separation=True), r"separation must be a positive, finite number, found True"),
        (lambda: prototypes(3, 2, random_state=0).draw(2.5), r"n must be an integer, at least 1, found 2\.5"),
        (
            lambda: prototypes(3, 2, random_state=0).bayes_error(1),
            r"n must be an integer, at least 2, found 1",
        ),
        (lambda: prototypes(3, 2, random_state=0).predict([[np.nan, 0.0]]), r"X must be finite, found nan"),
        (lambda: prototypes(3, 2, random_state=0).predict([]), r"X must have a row of 2 numbers"),
        (
            lambda: prototypes(3, 2, random_state=0).log_posterior([0.0, 0.0]),
            r"X must have a row of 2 numbers",
        ),
    ],
)
def test_the_argument_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_integer_of_numpy_is_one() -> None:
    nature = prototypes(np.int64(5), np.int8(3), random_state=0)
    assert (nature.means == prototypes(5, 3, random_state=0).means).all()
    assert len(nature.draw(np.uint8(7), random_state=0)[1]) == 7
