"""What is compiled: it says what its Python form says, and needs no writable folder."""

import numpy as np
import pytest

from mcutils.jit import gray


@pytest.mark.parametrize("m", [0, 1, 5])
def test_compiled_and_python_agree(m):
    rng = np.random.default_rng(0)
    moves, start, table = rng.normal(size=(m, 4)), rng.normal(size=4), rng.normal(size=(4, 3))

    def both(kernel, n_results, *arguments, shape):
        compiled, python = np.empty((2, n_results, *shape))
        kernel(start.copy(), *arguments, *compiled)
        kernel.py_func(start.copy(), *arguments, *python)
        np.testing.assert_allclose(compiled, python, rtol=1e-13)

    both(gray.extremes, 2, moves, table, shape=(2**m, 3))
    both(gray.squared_norms, 1, moves, shape=(2**m,))
