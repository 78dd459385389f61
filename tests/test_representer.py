"""The span of the examples against Gram–Schmidt in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from mcutils import kernel, representer


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def orthogonal(vectors):
    """Gram–Schmidt without roots; dependent vectors drop out."""
    basis = []
    for v in vectors:
        for e in basis:
            share = dot(v, e) / dot(e, e)
            v = [a - share * b for a, b in zip(v, e, strict=True)]
        if any(v):
            basis.append(v)
    return basis


def samples():
    """Integer feature vectors: independent, dependent, equal, zero, one alone."""
    rng = np.random.default_rng(0)
    yield [[1, 2, 3]]
    yield [[0, 0], [0, 0]]
    yield [[1, 0, 1], [1, 0, 1], [0, 1, 0]]
    for m, d in [(2, 5), (4, 4), (6, 3), (8, 2), (5, 5)]:
        yield rng.integers(-3, 4, (m, d)).tolist()


@pytest.mark.parametrize("rows", list(samples()))
def test_coordinates_have_the_inner_products_and_the_rank(rows):
    gram = np.array(rows, float) @ np.array(rows, float).T
    result = representer.span(gram)
    assert result.rank == len(orthogonal([list(map(Fraction, row)) for row in rows]))
    np.testing.assert_allclose(result.coordinates @ result.coordinates.T, gram, atol=1e-11)
    np.testing.assert_allclose(result.basis.T @ gram @ result.basis, np.eye(result.rank), atol=1e-10)
    np.testing.assert_allclose(gram @ result.basis, result.coordinates, atol=1e-10)


@pytest.mark.parametrize("rows", list(samples()))
def test_parts_are_those_of_the_projection_in_fractions(rows):
    rng = np.random.default_rng(1)
    exact = [list(map(Fraction, row)) for row in rows]
    functions = rng.integers(-4, 5, (3, len(rows[0]))).tolist()
    values = np.array(rows, float) @ np.array(functions, float).T
    squares = (np.array(functions, float) ** 2).sum(axis=1)
    parts = representer.decompose(np.array(rows, float) @ np.array(rows, float).T, values, squares)
    for j, f in enumerate(functions):
        near = [Fraction(0)] * len(f)
        for e in orthogonal(exact):
            share = dot(f, e) / dot(e, e)
            near = [a + share * b for a, b in zip(near, e, strict=True)]
        ours = np.array(rows, float).T @ parts.coefficients[:, j]
        np.testing.assert_allclose(ours, [float(a) for a in near], atol=1e-9)
        assert parts.inside[j] == pytest.approx(float(dot(near, near)), abs=1e-8)
        assert parts.outside[j] == pytest.approx(float(dot(f, f) - dot(near, near)), abs=1e-8)


def test_coefficients_are_the_shortest_ones():
    result = representer.span(np.ones((4, 4)))
    np.testing.assert_allclose(result.coefficients([2.0] * 4), [0.5] * 4)
    one = representer.span(np.ones((4, 4))).coefficients(np.array([[2.0, 0.0]] * 4))
    np.testing.assert_allclose(one, [[0.5, 0.0]] * 4, atol=1e-15)


def test_an_ill_conditioned_gram_matrix_keeps_values_and_norms():
    x = np.linspace(0, 1, 60)[:, None]
    gram = kernel.rbf(1.0).gram(x)  # its eigenvalues fall below rounding
    result = representer.span(gram)
    assert result.rank < 60
    np.testing.assert_allclose(result.coordinates @ result.coordinates.T, gram, atol=1e-12)
    z = np.array([[-0.3], [0.5], [1.7]])
    f = np.array([1.0, -2.0, 0.5])
    values = kernel.rbf(1.0).gram(x, z) @ f
    parts = representer.decompose(gram, values, f @ kernel.rbf(1.0).gram(z) @ f)
    np.testing.assert_allclose(gram @ parts.coefficients, values, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_contradiction_is_found_at_every_scale(scale):
    gram = scale * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    result = representer.span(gram)
    np.testing.assert_allclose(gram @ result.coefficients([2.0, 2.0, -1.0]), [2.0, 2.0, -1.0])
    with pytest.raises(ValueError, match="contradict a linear relation"):
        result.coefficients([2.0, 2.001, -1.0])


def test_what_no_function_can_have_is_refused():
    with pytest.raises(ValueError, match=r"contradict a linear relation .* by 0.5 at example"):
        representer.span(np.ones((2, 2))).coefficients([1.0, 2.0])
    with pytest.raises(ValueError, match="squared_norm is less than a function with these values can have"):
        representer.decompose(np.eye(2), [3.0, 4.0], 24.9)
    assert representer.decompose(np.eye(2), [3.0, 4.0], 25.0).outside == 0
    with pytest.raises(ValueError, match=r"one finite number for each function, shape \(2,\)"):
        representer.decompose(np.eye(2), np.eye(2), 1.0)
    with pytest.raises(ValueError, match="squared_norm must be finite, found nan"):
        representer.decompose(np.eye(2), [1.0, 0.0], np.nan)


@pytest.mark.parametrize("values", [[1.0], np.zeros((2, 1, 1)), 1.0])
def test_values_of_another_shape_are_refused(values):
    with pytest.raises(ValueError, match="a row for each of the 2 examples"):
        representer.span(np.eye(2)).coefficients(values)


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="values must be finite"):
        representer.span(np.eye(2)).coefficients([1.0, np.inf])
    with pytest.raises(kernel.NotPositiveSemidefinite):
        representer.span([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="not symmetric"):
        representer.span([[1.0, 2.0], [0.0, 4.0]])
