"""What is compiled: it says what its Python form says, and needs no writable folder."""


import numpy as np
import pytest

from mcutils.jit import gray


@pytest.mark.parametrize("m", [0, 1, 5])
def test_compiled_and_python_agree(m):
    rng = np.random.default_rng(0)
    moves, start = rng.normal(size=(m, 3)), rng.normal(size=3)
    for kernel, n_results in ((gray.extremes, 2), (gray.squared_norms, 1)):
        compiled, python = np.empty((2, n_results, 2**m))
        kernel(start.copy(), moves, *compiled)
        kernel.py_func(start.copy(), moves, *python)
        np.testing.assert_allclose(compiled, python, rtol=1e-14)
