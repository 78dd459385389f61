"""The dictionary of the notation page: the same classifier under the constants of the five lectures."""

import numpy as np
import pytest
from cvxopt import matrix, solvers

M_EXAMPLES, DIMENSION = 30, 3


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no line through the origin separates, and signs for them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(M_EXAMPLES, DIMENSION))
    return X, np.sign(X @ rng.normal(size=DIMENSION) + rng.normal(size=M_EXAMPLES))


def model(rows: np.ndarray, norm: float, slack: float) -> np.ndarray:
    """Minimise (norm/2)‖v‖² + slack · Σ max(0, 1 − ⟨row_i, v⟩), as a quadratic program in (v, ξ)."""
    m, n = rows.shape
    quadratic = np.diag(np.r_[np.full(n, norm), np.zeros(m)])
    linear = np.r_[np.zeros(n), np.full(m, slack)]
    constraints = np.block([[-rows, -np.eye(m)], [np.zeros((m, n)), -np.eye(m)]])
    limits = np.r_[-np.ones(m), np.zeros(m)]
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    solution = solvers.qp(*map(matrix, (quadratic, linear, constraints, limits)), options=options)
    return np.array(solution["x"]).ravel()[:n]


@pytest.mark.parametrize("C", [0.05, 0.7, 4.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_three_constants_name_the_same_classifier(seed: int, C: float) -> None:
    X, t = data(seed)
    rows, m = t[:, None] * X, M_EXAMPLES
    of_l7 = model(rows, norm=1, slack=C)
    of_m5 = model(rows, norm=1 / (m * C), slack=1 / m)  # (λ/2)‖w‖² with λ = 1/(mC)
    of_d10 = model(rows, norm=2 / (2 * m * C), slack=1 / m)  # λ‖w‖² with λ = 1/(2mC)
    np.testing.assert_allclose(of_m5, of_l7, atol=1e-6)
    np.testing.assert_allclose(of_d10, of_l7, atol=1e-6)


@pytest.mark.parametrize("C", [0.05, 0.7])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_at_two_classes_c_of_the_multiclass_classifier_is_2c_of_the_binary_one(seed: int, C: float) -> None:
    X, t = data(seed)
    rows = t[:, None] * X
    both = model(np.hstack([rows, -rows]), norm=1, slack=C)  # (w_1, w_2), margin t⟨w_1 − w_2, x⟩
    w1, w2 = both[:DIMENSION], both[DIMENSION:]
    np.testing.assert_allclose(w1, -w2, atol=1e-6)
    np.testing.assert_allclose(w1 - w2, model(rows, norm=1, slack=2 * C), atol=1e-6)
    assert np.abs(w1 - w2 - model(rows, norm=1, slack=C)).max() > 1e-3  # C itself is not right
