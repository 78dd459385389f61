"""Kernels: their formulas one entry at a time, explicit features, peers, and what is refused."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import exp, factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from mcutils import kernel

KERNELS = [
    kernel.linear,
    kernel.polynomial(1),
    kernel.polynomial(2, b=1.0),
    kernel.polynomial(3, a=2.0, b=0.5),
    kernel.polynomial(5, a=7.0),
    kernel.rbf(0.3),
]
NAMES = [f"{one.name}-{'-'.join(map(str, one.parameters.values()))}" for one in KERNELS]
POINTS = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-3, 3, width=32)
)


def twin(one, x, z):
    """K(x, z) by its formula; exact in rationals but for the exponential."""
    product = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), z.tolist(), strict=True))
    squared = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))
    p = {name: Fraction(value) for name, value in one.parameters.items()}
    if one.name == "linear":
        return float(product)
    if one.name == "polynomial":
        return float((product / p["a"] + p["b"]) ** int(p["q"]))
    return exp(-float(p["gamma"] * squared))


def monomials(X, q, a, b):
    """Features of the polynomial kernel: all monomials of degree q in (x / sqrt a, sqrt b)."""
    extended = np.column_stack([X / np.sqrt(a), np.full(len(X), np.sqrt(b))])
    features = []
    for chosen in combinations_with_replacement(range(extended.shape[1]), q):
        repeats = factorial(q) // prod(factorial(chosen.count(j)) for j in set(chosen))
        features.append(np.sqrt(repeats) * extended[:, list(chosen)].prod(axis=1))
    return np.column_stack(features)


def exactly_psd(matrix):
    """Whether a symmetric matrix of rationals is positive semidefinite: elimination without rounding."""
    rows = [[Fraction(v) for v in row] for row in matrix]
    while rows:
        pivot = rows[0][0]
        if pivot < 0 or (pivot == 0 and any(rows[0])):
            return False
        rest = [row[1:] for row in rows[1:]]
        if pivot > 0:
            rest = [
                [v - rows[i + 1][0] * rows[0][j + 1] / pivot for j, v in enumerate(row)]
                for i, row in enumerate(rest)
            ]
        rows = rest
    return True


@pytest.mark.parametrize("one", KERNELS, ids=NAMES)
@given(X=POINTS, data=st.data())
def test_every_entry_is_the_formula(one, X, data):
    Z = data.draw(hnp.arrays(np.float64, (3, X.shape[1]), elements=st.floats(-3, 3, width=32)))
    expected = np.array([[twin(one, x, z) for z in Z] for x in X])
    scale = max(1.0, np.abs(expected).max())
    assert np.allclose(one.gram(X, Z), expected, rtol=1e-12, atol=1e-12 * scale)
    own = np.array([twin(one, x, x) for x in X])
    assert np.allclose(one.diagonal(X), own, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("one", KERNELS, ids=NAMES)
@given(X=POINTS)
def test_gram_matrices_are_symmetric_psd_and_made_of_blocks(one, X):
    gram = one.gram(X)
    assert np.array_equal(gram, gram.T)
    assert np.allclose(np.diag(gram), one.diagonal(X), rtol=1e-12, atol=1e-12)
    found = kernel.check_psd(gram)
    assert found.smallest >= -found.tolerance
    assert abs(found.largest) <= np.trace(gram) + found.tolerance
    for size in (1, 2, 100):
        pieces = list(one.blocks(X, size=size))
        assert [piece.start for piece, _ in pieces] == list(range(0, len(X), size))
        assert np.allclose(np.vstack([block for _, block in pieces]), gram, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize(("q", "a", "b"), [(1, 1.0, 0.0), (2, 1.0, 1.0), (3, 2.0, 0.5), (4, 0.5, 0.0)])
def test_polynomial_is_the_inner_product_of_its_monomials(q, a, b):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    expected = monomials(X, q, a, b) @ monomials(Z, q, a, b).T
    assert np.allclose(kernel.polynomial(q, a, b).gram(X, Z), expected)


def test_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(30, 5)), rng.normal(size=(20, 5))
    peer = polynomial_kernel(X, Z, degree=3, gamma=1 / 2.0, coef0=0.5)
    assert np.allclose(kernel.polynomial(3, a=2.0, b=0.5).gram(X, Z), peer)
    assert np.allclose(kernel.rbf(0.3).gram(X, Z), rbf_kernel(X, Z, gamma=0.3))


def test_rbf_far_from_the_origin():
    """Distances survive a shift of a million: the three squares are taken around a centre."""
    X = np.array([[0.0], [0.5], [1.0]])
    assert np.allclose(kernel.rbf(1.0).gram(X + 2.0**20), kernel.rbf(1.0).gram(X), rtol=1e-14)
    assert np.array_equal(np.diag(kernel.rbf(5.0).gram(X + 0.1)), np.ones(3))
    assert kernel.rbf(1.0).gram([[0.0], [1e4]])[0, 1] == 0.0


@given(
    hnp.arrays(np.int64, st.integers(1, 4).map(lambda n: (n, n)), elements=st.integers(-4, 4)),
)
def test_check_psd_agrees_with_exact_elimination(matrix):
    """Integer matrices: nothing between -tolerance and 0 but 0 itself, so the verdicts must agree."""
    symmetric = matrix + matrix.T
    if exactly_psd(symmetric.tolist()):
        kernel.check_psd(symmetric)
    else:
        with pytest.raises(ValueError, match="not positive semidefinite"):
            kernel.check_psd(symmetric)


def test_check_psd_is_honest_about_zero():
    thin = np.random.default_rng(2).normal(size=(50, 3))
    found = kernel.check_psd(thin @ thin.T)
    assert not found.definite
    assert kernel.check_psd(thin.T @ thin).definite
    # beyond rounding, below any eye
    with pytest.raises(ValueError, match="not positive semidefinite"):
        kernel.check_psd(np.diag([1.0, -1e-12]))
    assert not kernel.check_psd(np.diag([1.0, -1e-12]), tolerance=1e-11).definite
    assert kernel.check_psd(np.zeros((2, 2))) == kernel.Spectrum(0.0, 0.0, 0.0)


def test_precomputed_is_checked():
    gram = kernel.rbf(1.0).gram([[0.0], [1.0]])
    assert np.array_equal(kernel.precomputed.gram(gram), gram)
    assert np.array_equal(kernel.precomputed.diagonal(gram), [1.0, 1.0])
    for wrong, message in (
        ([[1.0, 2.0], [2.0, 1.0]], "not positive semidefinite"),
        ([[1.0, 0.5], [0.0, 1.0]], "not symmetric"),
        ([[1.0, 0.5]], "square"),
    ):
        with pytest.raises(ValueError, match=message):
            kernel.precomputed.gram(wrong)
    with pytest.raises(ValueError, match="no Z"):
        kernel.precomputed.gram(gram, np.eye(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kernel.polynomial(0), "q must be an integer, at least 1, found 0"),
        (lambda: kernel.polynomial(1.5), "q must be an integer, at least 1, found 1.5"),
        (lambda: kernel.polynomial(True), "q must be an integer"),
        (lambda: kernel.polynomial(2, a=0), "a must be a positive number, found 0"),
        (lambda: kernel.polynomial(2, a=-1), "a must be a positive number, found -1"),
        (lambda: kernel.polynomial(2, b=-0.1), "b must be a number, at least 0, found -0.1"),
        (lambda: kernel.polynomial(2, b=float("nan")), "b must be a number, at least 0, found nan"),
        (lambda: kernel.rbf(0), "gamma must be a positive number, found 0"),
        (lambda: kernel.rbf("scale"), "gamma must be a positive number, found 'scale'"),
        (lambda: kernel.rbf(float("inf")), "gamma must be a positive number, found inf"),
        (lambda: kernel.linear.gram([1.0, 2.0]), r"X must be a matrix .*found shape \(2,\)"),
        (lambda: kernel.linear.gram(np.empty((0, 2))), r"found shape \(0, 2\)"),
        (lambda: kernel.linear.gram([["a"]]), "X must hold real numbers"),
        (lambda: kernel.linear.gram([[np.nan]]), "X must be finite"),
        (lambda: kernel.linear.gram([[1.0]], [[1.0, 2.0]]), "Z must have 1 columns"),
        (lambda: kernel.polynomial(9).gram([[1e200]]), "leaves the range of floating point"),
        (lambda: list(kernel.linear.blocks([[1.0]], size=0)), "size must be an integer, at least 1, found 0"),
        (lambda: kernel.check_psd([[1.0]], tolerance=-1.0), "tolerance must be a number, at least 0"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_kernel_of_other_parameters_is_another():
    assert kernel.polynomial(2, b=1) == kernel.polynomial(2, a=1.0, b=1.0)
    assert kernel.polynomial(2) != kernel.polynomial(3)
    assert kernel.rbf(1.0) != kernel.rbf(2.0)
