"""Quadratic forms of Gram matrices."""

import numpy as np

from .._typing import Floats

# Up to this size eigenvalues are computed.
SMALL = 1000


def quadratic_forms(gram: Floats, signs: Floats) -> Floats:
    """The numbers s K s for the rows s of signs, from the upper half of K."""
    total = np.zeros(len(signs))
    m, width = len(gram), 512
    for i in range(0, m, width):
        here, after = slice(i, i + width), slice(i + width, m)
        product = signs[:, here] @ gram[here, here]
        if i + width < m:
            product += 2 * (signs[:, after] @ gram[here, after].T)
        total += np.einsum("ij,ij->i", product, signs[:, here])
    return total


def features_of(gram: Floats) -> Floats:
    """Vectors with these inner products, in as few dimensions as there are beyond rounding."""
    eigenvalues, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = eigenvalues > 8 * len(gram) * np.finfo(np.float64).eps * np.abs(gram).max()
    if not kept.any():
        return np.zeros((len(gram), 1))
    features: Floats = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    return features


def largest_eigenvalue(gram: Floats) -> float:
    """A bound on the largest eigenvalue; up to rounding the eigenvalue itself for small matrices."""
    if len(gram) <= SMALL:
        return max(0.0, float(np.linalg.eigvalsh(gram)[-1]))
    return float(min(np.linalg.norm(gram), np.abs(gram).sum(axis=1).max()))


def trace(gram: Floats) -> float:
    return max(0.0, float(np.trace(gram)))


def root(squares: Floats) -> Floats:
    """The root; what rounding put below 0 counts as 0."""
    return np.sqrt(np.maximum(squares, 0.0))
