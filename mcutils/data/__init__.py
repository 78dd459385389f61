"""Small data sets that the chapters compute with, and two generators whose Bayes rule is known.

Four real sets are files in this package, so that a chapter needs no network; ``TERMS.md`` beside
them names where each comes from and under which terms it may be used. LED-7 is generated: its ten
codewords are nature's own error-correcting code, and its Bayes error can be computed exactly.
:func:`prototypes` makes any number of classes, related as the leaves of a tree.
"""

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from mcutils._checks import generator, integer, number, one_of
from mcutils.data._prototypes import MOST_DRAWN, Prototypes, prototypes

__all__ = ["LED7", "Dataset", "Prototypes", "led7", "load", "prototypes"]


@dataclass(frozen=True)
class _Source:
    """What a csv file does not tell about itself."""

    terms: str
    class_names: tuple[str, ...] | None = None


_SOURCES = {
    "glass": _Source(
        terms="UCI Glass Identification (B. German, V. Spiehler, 1987); CC BY 4.0, cite UCI and the donors",
        class_names=(
            "building windows, float processed",
            "building windows, not float processed",
            "vehicle windows, float processed",
            "containers",
            "tableware",
            "headlamps",
        ),
    ),
    "penguins": _Source(terms="Palmer Station LTER and K. Gorman; CC0"),
    "vehicle": _Source(
        terms="UCI Statlog (Vehicle Silhouettes) (P. Mowforth, B. Shepherd, Turing Institute); "
        "CC BY 4.0, cite UCI and the donors",
    ),
    "vowel": _Source(
        terms="UCI Vowel Recognition (D. Deterding); CC BY 4.0, cite UCI and the donors",
    ),
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A labelled sample; all arrays are read-only and their rows correspond.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    X : ndarray of shape (n, d), float64
        The features.
    y : ndarray of shape (n,)
        The labels as in the file: strings, or integers where the file numbers its classes.
    feature_names : tuple of str
        One name for each column of ``X``.
    class_names : tuple of str
        One readable name for each distinct label, in the order of ``np.unique(y)``.
    groups : ndarray of shape (n,), int, or None
        Who produced a row (vowel: the speaker); rows of one group belong in the same fold.
    is_test : ndarray of shape (n,), bool, or None
        The split that the file prescribes (vowel), True for the test rows.
    terms : str
        Origin and terms in one line; ``TERMS.md`` in this package has more.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.str_] | NDArray[np.int64]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    groups: NDArray[np.int64] | None
    is_test: NDArray[np.bool_] | None
    terms: str


def load(name: str) -> Dataset:
    """Load one of the real data sets.

    Parameters
    ----------
    name : {"glass", "penguins", "vehicle", "vowel"}
        The data set.

    Returns
    -------
    Dataset
        Features, labels and, for vowel, the speakers and the prescribed split.

    Examples
    --------
    >>> from mcutils.data import load
    >>> penguins = load("penguins")
    >>> penguins.X.shape, penguins.class_names
    ((333, 4), ('Adelie', 'Chinstrap', 'Gentoo'))
    >>> vowel = load("vowel")
    >>> int(vowel.is_test.sum()), sorted(set(vowel.groups[vowel.is_test].tolist()))
    (462, [8, 9, 10, 11, 12, 13, 14])
    """
    one_of(name, "name", _SOURCES)
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))

    labels = columns.pop("class")
    y: NDArray[np.str_] | NDArray[np.int64]
    y = np.array(labels, dtype=np.int64) if labels[0].isdecimal() else np.array(labels, dtype=np.str_)
    speaker, split = columns.pop("speaker", None), columns.pop("split", None)
    groups = None if speaker is None else np.array(speaker, dtype=np.int64)
    is_test = None if split is None else np.array(split) == "test"
    X = np.array(list(columns.values()), dtype=np.float64).T.copy()
    for array in (X, y, groups, is_test):
        if array is not None:
            array.flags.writeable = False

    source = _SOURCES[name]
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=tuple(columns),
        class_names=source.class_names or tuple(np.unique(y).tolist()),
        groups=groups,
        is_test=is_test,
        terms=source.terms,
    )


# Rows: the digits 0 to 9. Columns, in the order of Breiman, Friedman, Olshen and Stone (1984):
# top, upper left, upper right, middle, lower left, lower right, bottom. 1 is lit.
_SEGMENTS = """
    1110111
    0010010
    1011101
    1011011
    0111010
    1101011
    1101111
    1010010
    1111111
    1111011
"""

LED7: NDArray[np.int8] = np.array([[2 * int(c) - 1 for c in row] for row in _SEGMENTS.split()], dtype=np.int8)
"""The seven-segment digits: row r is the codeword of digit r, +1 lit and -1 dark.

The columns are top, upper left, upper right, middle, lower left, lower right, bottom. Read-only.
"""
LED7.flags.writeable = False


def led7(
    n: int, flip: float = 0.1, random_state: int | np.random.Generator | None = None
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Draw digits uniformly and show them on a display whose segments fail independently.

    Every segment of the codeword ``LED7[y]`` changes its sign with probability ``flip``. At
    ``flip=0.1`` the Bayes error is exactly 3249719/12500000 = 0.25997752.

    Parameters
    ----------
    n : int
        How many displays, at least 1.
    flip : float, default=0.1
        The probability that a segment shows the opposite, between 0 and 1.
    random_state : int, numpy.random.Generator or None, default=None
        Seed, or a generator that is advanced.

    Returns
    -------
    X : ndarray of shape (n, 7), int8
        The segments, +1 lit and -1 dark, in the order of ``LED7``.
    y : ndarray of shape (n,), int64
        The digits.

    Examples
    --------
    >>> from mcutils.data import LED7, led7
    >>> X, y = led7(1000, random_state=0)
    >>> X.shape, y.shape, bool((led7(1000, flip=0.0)[0] ** 2 == 1).all())
    ((1000, 7), (1000,), True)
    """
    n, flip = integer(n, "n", 1, feasible=MOST_DRAWN), number(flip, "flip", least=0, most=1)
    rng = generator(random_state)
    y = rng.integers(len(LED7), size=n)
    X = np.where(rng.random((n, LED7.shape[1])) < flip, -LED7[y], LED7[y])
    return X, y
