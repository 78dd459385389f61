"""Empirical Rademacher complexity: against all signs one by one, and the interval's promise."""

from itertools import product

import numpy as np
import pytest

from mcutils import rademacher


def over_all_signs(family):
    signs = np.array(list(product((-1, 1), repeat=family.n_signs)))
    return family.supremum(signs).mean() / family.m


def some_families(m):
    rng = np.random.default_rng(m)
    thin, wide = rng.normal(size=(m, 3)), rng.normal(size=(m, 20))
    yield rademacher.Finite(rng.normal(size=(7, m)))
    yield rademacher.Finite(rng.normal(size=(1, m)))
    yield rademacher.KernelBall(thin @ thin.T, 2.0)
    yield rademacher.L2Ball(thin, 1.5)
    yield rademacher.L2Ball(wide)
    yield rademacher.L1Ball(thin, 0.5)
    yield rademacher.Thresholds(rng.integers(5, size=m))
    yield rademacher.Thresholds(rng.normal(size=m))
    if m < 5:
        yield from (rademacher.MulticlassBall(thin @ thin.T, k) for k in (1, 2, 3, 4))


@pytest.mark.parametrize("m", [1, 2, 5, 9])
def test_the_exact_value_is_the_mean_over_all_signs(m):
    for family in some_families(m):
        assert rademacher.exact(family) == pytest.approx(over_all_signs(family), abs=1e-12)


@pytest.mark.parametrize("m", [1, 2, 5, 9])
def test_the_theorems_hold(m):
    for family in some_families(m):
        value = rademacher.exact(family)
        assert rademacher.lower(family) <= value + 1e-12
        assert value <= rademacher.upper(family) + 1e-12
