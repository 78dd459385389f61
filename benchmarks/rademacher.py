"""Exact Rademacher complexity against one product with all signs; Monte Carlo against a product a draw.

The peers are given what can be prepared: the matrix of all signs, and the draws themselves.
"""

from functools import partial

import numpy as np

from benchmarks.race import Race
from mcutils import rademacher

EXACT_M, FUNCTIONS = 20, 100
BALL_M, DRAWS = 5000, 1000


def in_one_piece(values: np.ndarray, signs: np.ndarray) -> float:
    """The definition: the product with all 2^m rows of signs, the largest of each row."""
    return float((signs @ values.T).max(axis=1).mean() / values.shape[1])


def draw_by_draw(gram: np.ndarray, draws: np.ndarray) -> float:
    """One matrix-vector product for each draw of signs."""
    return float(np.mean([np.sqrt(signs @ (gram @ signs)) for signs in draws]) / len(gram))


def races() -> list[Race]:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(FUNCTIONS, EXACT_M))
    finite = rademacher.Finite(values)
    signs = 1.0 - 2.0 * (np.arange(2**EXACT_M)[:, None] >> np.arange(EXACT_M) & 1)
    np.testing.assert_allclose(rademacher.complexity(finite), in_one_piece(values, signs), rtol=1e-12)

    points = rng.normal(size=(BALL_M, 20))
    squares = (points**2).sum(axis=1)
    gram = np.exp((points @ points.T - squares[:, None] / 2 - squares / 2) / 20)
    gram = (gram + gram.T) / 2
    ball = rademacher.KernelBall(gram)
    ours = partial(rademacher.monte_carlo, ball, DRAWS, random_state=0)
    draws = rng.choice([-1.0, 1.0], size=(DRAWS, BALL_M))
    # these are other signs than ours: the means differ by a few standard errors
    result = ours()
    assert abs(draw_by_draw(gram, draws) - result.value) < 6 * result.standard_error

    return [
        Race(
            id="rademacher-exact",
            title="Rademacher complexity, exact",
            condition=f"m = {EXACT_M}, {FUNCTIONS} functions, one thread",
            ours=partial(rademacher.complexity, finite),
            peer=partial(in_one_piece, values, signs),
            peer_name="NumPy's product with all signs",
            threads=1,
            at_most=0.05,
            input_bytes=values.nbytes,
        ),
        Race(
            id="rademacher-monte-carlo",
            title="Rademacher complexity, Monte Carlo",
            condition=f"kernel ball, m = {BALL_M:,}, {DRAWS:,} draws, one thread",
            ours=ours,
            peer=partial(draw_by_draw, gram, draws),
            peer_name="one product for each draw",
            threads=1,
            at_most=round(1 / 6, 3),
            input_bytes=gram.nbytes,
        ),
    ]
