"""Kernels: their formulas one entry at a time, explicit features, peers, and what is refused."""

import pickle
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, exp, factorial, prod, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from mcutils import kernel

KERNELS = [
    kernel.linear,
    kernel.polynomial(1),
    kernel.polynomial(2, b=1.0),
    kernel.polynomial(3, a=2.0, b=0.5),
    kernel.polynomial(5, a=7.0),
    kernel.rbf(0.3),
    kernel.linear + kernel.rbf(0.3),
    kernel.polynomial(2, b=1.0) * kernel.rbf(0.2),
    0.25 * (kernel.linear * kernel.linear + kernel.polynomial(1, a=3.0)) * 2,
]
NAMES = [
    f"{number}-{one.name}-{'-'.join(str(v) for v in one.parameters.values() if isinstance(v, float))}"
    for number, one in enumerate(KERNELS)
]
POINTS = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-3, 3, width=32)
)


def twin(one, x, z):
    """K(x, z) by its formula; exact in rationals but for the exponential and what is made of it."""
    parts = one.parameters
    if one.name == "sum":
        return twin(parts["first"], x, z) + twin(parts["second"], x, z)
    if one.name == "product":
        return twin(parts["first"], x, z) * twin(parts["second"], x, z)
    if one.name == "multiple":
        return parts["factor"] * twin(parts["of"], x, z)
    product = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), z.tolist(), strict=True))
    squared = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))
    p = {name: Fraction(value) for name, value in parts.items()}
    if one.name == "linear":
        return float(product)
    if one.name == "poly":
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
def test_sparse_inputs_have_the_same_kernel_values(one):
    rng = np.random.default_rng(5)
    X, Z = (rng.integers(-3, 4, size=(n, 4)) * rng.integers(0, 2, size=(n, 4)) for n in (9, 6))
    expected = one.gram(X, Z)
    for left in (csr_array, csr_matrix, csc_array, np.asarray):
        for right in (csr_array, csr_matrix, np.asarray):
            assert np.allclose(one.gram(left(X), right(Z)), expected, rtol=1e-13, atol=1e-13)
        assert np.array_equal(one.gram(left(X)), one.gram(left(X)).T)
        assert np.allclose(one.diagonal(left(X)), one.diagonal(X), rtol=1e-13)
        assert np.allclose(np.vstack([b for _, b in one.blocks(left(X), left(Z), size=4)]), expected)
        assert np.allclose(one.expand(left(X), left(Z), np.arange(6)), expected @ np.arange(6))


@pytest.mark.parametrize("one", [*KERNELS, kernel.precomputed], ids=[*NAMES, "precomputed"])
def test_kernels_can_be_pickled(one):
    """Fitted classifiers carry one, to other processes and to disk."""
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    X = np.eye(3)
    assert np.array_equal(again.gram(X), one.gram(X))
    assert np.array_equal(again.diagonal(X), one.diagonal(X))


def test_combinations():
    X = np.array([[1.0, 2.0], [0.0, -1.0]])
    first, second = kernel.linear, kernel.polynomial(2, b=1.0)
    both = np.hstack([X, monomials(X, 2, 1.0, 1.0)])  # the features of a sum stand beside each other
    assert np.allclose((first + second).gram(X), both @ both.T)
    assert first + second == kernel.linear + kernel.polynomial(2, b=1.0)
    assert first + second not in (second + first, first * second, first + kernel.polynomial(3))
    for factor in (3, 3.0, np.float64(3), np.int64(3)):
        assert factor * first == first * factor
        assert np.array_equal((factor * first).gram(X), 3 * (X @ X.T))
    for wrong in ("2", None, X):
        with pytest.raises(TypeError):
            first * wrong
        with pytest.raises(TypeError):
            first + wrong
    for make in (
        lambda: kernel.precomputed + first,
        lambda: first * kernel.precomputed,
        lambda: 2 * kernel.precomputed,
    ):
        with pytest.raises(ValueError, match="a precomputed kernel has no points to make a"):
            make()


@pytest.mark.parametrize("one", KERNELS, ids=NAMES)
@given(X=POINTS)
def test_gram_matrices_are_symmetric_psd_and_made_of_blocks(one, X):
    gram = one.gram(X)
    assert np.array_equal(gram, gram.T)
    assert np.allclose(np.diag(gram), one.diagonal(X), rtol=1e-12, atol=1e-12)
    result = kernel.check_psd(gram)
    assert result.smallest >= -result.tolerance
    assert abs(result.largest) <= np.trace(gram) + result.tolerance
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
    result = kernel.check_psd(thin @ thin.T)
    assert not result.definite
    assert kernel.check_psd(thin.T @ thin).definite
    # beyond rounding, below any eye
    with pytest.raises(ValueError, match="not positive semidefinite"):
        kernel.check_psd(np.diag([1.0, -1e-12]))
    assert not kernel.check_psd(np.diag([1.0, -1e-12]), tolerance=1e-11).definite
    assert kernel.check_psd(np.zeros((2, 2))) == kernel.Spectrum(0.0, 0.0, 0.0)


@pytest.mark.parametrize("size", [2, 5, 40])
def test_the_direction_of_a_negative_eigenvalue(size):
    rng = np.random.default_rng(size)
    matrix = rng.normal(size=(size, size))
    matrix = matrix + matrix.T - size * np.eye(size)
    with pytest.raises(kernel.NotPositiveSemidefinite, match="not positive semidefinite") as caught:
        kernel.check_psd(matrix)
    result = caught.value
    assert result.eigenvalue == pytest.approx(np.linalg.eigvalsh(matrix)[0])
    c = result.direction
    assert np.linalg.norm(c) == pytest.approx(1)
    assert c @ matrix @ c == pytest.approx(result.eigenvalue)  # a negative squared length: no features
    assert result.eigenvalue < -result.tolerance < 0
    again = pickle.loads(pickle.dumps(result))  # as another process would raise it
    assert str(again) == str(result)
    assert f"{result.eigenvalue:.4g}" in str(result)
    assert np.array_equal(again.direction, c)


def test_polynomial_kernels_of_a_negative_constant_are_none():
    """(<x, z> - 1)^2 is refused as a kernel, and its matrix shows why."""
    x = np.arange(-2.0, 3.0)
    with pytest.raises(kernel.NotPositiveSemidefinite) as caught:
        kernel.check_psd((np.outer(x, x) - 1) ** 2)
    c = np.rint(1e9 * caught.value.direction).astype(int).tolist()
    exact = sum(
        a * b * (int(s * t) - 1) ** 2 for a, s in zip(c, x, strict=True) for b, t in zip(c, x, strict=True)
    )
    assert exact < 0  # in integers


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
    with pytest.raises(ValueError, match="dense"):
        kernel.precomputed.gram(csr_array(gram))


@pytest.mark.parametrize("one", KERNELS, ids=NAMES)
def test_expansions(one):
    rng = np.random.default_rng(8)
    X, Z, c = rng.normal(size=(1500, 3)), rng.normal(size=(7, 3)), rng.normal(size=7)
    assert np.allclose(one.expand(X, Z, c), one.gram(X, Z) @ c)
    assert np.array_equal(one.expand(X, Z[:0], []), np.zeros(1500))
    whole = one.gram(X[:20], X)
    chosen = [3, 1499, 0]
    assert np.allclose(
        kernel.precomputed.expand(whole, chosen, [1.0, -2.0, 0.5]),
        one.expand(X[:20], X[chosen], [1.0, -2.0, 0.5]),
    )


# ---------------------------------------------------------------------------------------------------
# Kernels by name


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
@pytest.mark.parametrize("make", [np.asarray, csr_array, csr_matrix, pd.DataFrame])
def test_named_kernels_are_those_of_scikit_learn(gamma, make):
    rng = np.random.default_rng(4)
    X = rng.normal(1.0, 3.0, size=(20, 3)) * rng.integers(0, 2, size=(20, 3))
    y = np.arange(20) % 2
    ours = ("linear", "poly", "rbf")
    for name in ours:
        peer = SVC(kernel=name, gamma=gamma, degree=2, coef0=0.5, C=1e-9).fit(make(X), y)
        one = kernel.resolve(name, gamma, 2, 0.5, make(X))
        # so small a C puts every multiplier at its bound: the scores are sums of kernel values
        expected = peer.decision_function(X) - peer.intercept_
        assert np.allclose(1e9 * expected, one.gram(X) @ np.where(y == 1, 1.0, -1.0), rtol=1e-6, atol=1e-6)


def test_resolve():
    assert kernel.resolve("rbf", "scale", 3, 0.0, np.ones((4, 2))) == kernel.rbf(1.0)  # no variance
    assert kernel.resolve("rbf", "auto", 3, 0.0, np.ones((4, 2))) == kernel.rbf(0.5)
    assert kernel.resolve("precomputed", "scale", 3, 0.0) is kernel.precomputed
    own = kernel.linear + kernel.rbf(2.0)
    assert kernel.resolve(own, "scale", 3, 0.0, np.eye(2)) is own
    for name in ("linear", "precomputed", "rbf", own):  # also what is not used, as in scikit-learn
        for wrong, caught in (
            (("nonsense", 3, 0.0), "gamma must be 'scale', 'auto' or a positive number, found 'nonsense'"),
            ((1.0, 0, 0.0), "degree must be an integer, at least 1, found 0"),
            ((1.0, 3, -1.0), r"coef0 must be a number, at least 0, found -1\.0"),
        ):
            with pytest.raises(ValueError, match=caught):
                kernel.resolve(name, *wrong)


# ---------------------------------------------------------------------------------------------------
# The features of the RBF kernel


@pytest.mark.parametrize(("d", "degree"), [(1, 0), (1, 7), (2, 4), (3, 3), (4, 2)])
def test_rbf_features_are_the_formula(d, degree):
    """e^(-gamma |x|^2) times prod_j sqrt((2 gamma)^q_j / q_j!) x_j^q_j, over all q of sum at most degree."""
    gamma = 0.4
    X = np.random.default_rng(d).normal(size=(5, d))
    result = kernel.rbf_features(X, gamma, degree)
    exponents = sorted(
        (q for q in np.ndindex(*(degree + 1,) * d) if sum(q) <= degree),
        key=lambda q: (sum(q), [-one for one in q]),
    )
    expected = [
        [
            exp(-gamma * float(x @ x))
            * prod(
                sqrt((2 * gamma) ** q / factorial(q)) * v**q for q, v in zip(chosen, x.tolist(), strict=True)
            )
            for chosen in exponents
        ]
        for x in X
    ]
    assert result.shape == (5, comb(d + degree, d))
    assert np.allclose(result, expected, rtol=1e-12, atol=1e-300)


@given(
    X=POINTS,
    gamma=st.floats(0.01, 2.0),
    degree=st.integers(0, 6),
)
def test_rbf_features_miss_no_more_than_the_bound(X, gamma, degree):
    radii = np.sqrt((X**2).sum(axis=1))
    missed = kernel.rbf(gamma).gram(X) - (features := kernel.rbf_features(X, gamma, degree)) @ features.T
    for i, r in enumerate(radii):
        for j, s in enumerate(radii):
            assert abs(missed[i, j]) <= kernel.rbf_truncation(gamma, r, s, degree) + 1e-13
        # at equal points nothing smaller would do, in any direction and dimension
        assert missed[i, i] == pytest.approx(kernel.rbf_truncation(gamma, r, r, degree), abs=1e-12)


@given(u=st.floats(0.0, 30.0), degree=st.integers(0, 40))
def test_the_truncation_bound_is_the_rest_of_the_exponential_series(u, degree):
    rest = 1 - exp(-u) * sum(u**q / factorial(q) for q in range(degree + 1))
    assert kernel.rbf_truncation(0.5, u, 1.0, degree) == pytest.approx(rest, abs=1e-12)
    assert kernel.rbf_truncation(0.5, 1.0, u, degree + 1) <= kernel.rbf_truncation(0.5, u, 1.0, degree)


def test_rbf_features_of_large_inputs():
    """Each is the root of a probability: far from the origin they vanish, they do not overflow."""
    far = kernel.rbf_features([[1e3, 0.0], [30.0, -30.0]], 0.5, 40)
    assert np.isfinite(far).all()
    assert np.abs(far).max() <= 1
    assert kernel.rbf_truncation(0.5, 1e3, 1e3, 40) == 1.0


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
        (lambda: kernel.linear * 0, "the factor of a kernel must be a positive number, found 0"),
        (lambda: -1.0 * kernel.linear, "the factor of a kernel must be a positive number, found -1.0"),
        (lambda: kernel.linear * True, "the factor of a kernel must be a positive number, found True"),
        (lambda: kernel.linear.gram(csr_array([[np.inf]])), "X must be finite"),
        (lambda: kernel.linear.gram(csr_array([[1j]])), "X must hold real numbers"),
        (lambda: kernel.resolve("polynomial", 1.0, 3, 0.0), "kernel must be 'linear', .* found 'polynomial'"),
        (lambda: kernel.resolve(None, 1.0, 3, 0.0), "kernel must be 'linear', .* found None"),
        (
            lambda: kernel.resolve("rbf", "large", 3, 0.0),
            "gamma must be 'scale', 'auto' or a positive number",
        ),
        (lambda: kernel.resolve("rbf", 0.0, 3, 0.0), "gamma must be 'scale', 'auto' or a positive number"),
        (
            lambda: kernel.resolve("poly", 1.0, 2.5, 0.0),
            "degree must be an integer, at least 1, found 2.5",
        ),
        (
            lambda: kernel.resolve("poly", 1.0, 2, -1.0),
            "coef0 must be a number, at least 0, found -1.0",
        ),
        (lambda: kernel.rbf_features([[1.0]], 1.0, -1), "degree must be an integer, at least 0, found -1"),
        (lambda: kernel.rbf_features([[1.0]], 0.0, 1), "gamma must be a positive number, found 0.0"),
        (lambda: kernel.rbf_features(np.ones((1, 784)), 1.0, 5), "has 2515874132157 features: too many"),
        (lambda: kernel.rbf_features(csr_array([[1.0]]), 1.0, 1), "X must be dense"),
        (lambda: kernel.rbf_truncation(1.0, -1.0, 1.0, 3), "radius_x must be a number, at least 0"),
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
