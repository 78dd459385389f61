"""What is compiled: it says what its Python form says, and needs no writable folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mcutils
from mcutils.jit import gray as jit


@pytest.mark.parametrize("m", [0, 1, 5])
def test_compiled_and_python_agree(m):
    rng = np.random.default_rng(0)
    moves, start, table = rng.normal(size=(m, 4)), rng.normal(size=4), rng.normal(size=(4, 3))

    def both(kernel, n_results, *arguments, shape):
        compiled, python = np.empty((2, n_results, *shape))
        kernel(start.copy(), *arguments, *compiled)
        kernel.py_func(start.copy(), *arguments, *python)
        np.testing.assert_allclose(compiled, python, rtol=1e-13)

    both(jit.extremes, 2, moves, table, shape=(2**m, 3))
    both(jit.squared_norms, 1, moves, shape=(2**m,))


@pytest.mark.ci
@pytest.mark.skipif(os.name == "nt", reason="there the user's own cache is not found by a variable")
def test_nowhere_to_write_to(tmp_path):
    # Read-only for every user, root included: where the caches would be folders there are files.
    package = tmp_path / "mcutils"
    shutil.copytree(Path(mcutils.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "jit" / "__pycache__").touch()
    nowhere = tmp_path / "nowhere"
    nowhere.touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(nowhere),
        "XDG_CACHE_HOME": str(nowhere),
    }
    program = (
        "import mcutils; from mcutils.rademacher import Finite, exact; from mcutils.jit import gray;"
        f"assert mcutils.__file__.startswith({str(tmp_path)!r}), mcutils.__file__;"
        "assert type(gray.extremes._cache).__name__ == 'NullCache', gray.extremes._cache;"
        "assert exact(Finite([[1, 1], [-1, -1]])) == 0.5;"
        "from mcutils.jit import multiclass; from mcutils.solver import solve_block;"
        "assert type(multiclass.climb._cache).__name__ == 'NullCache', multiclass.climb._cache;"
        "assert solve_block([[1.0, 0.0], [0.0, 1.0]], [0, 1]).certificate.primal == 0.5"
    )
    # started there: Python looks first into the folder that it is started in
    command = [sys.executable, "-W", "error", "-c", program]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)


def test_what_is_compiled_is_kept():
    assert type(jit.extremes._cache).__name__ == "FunctionCache"


def test_a_loop_calls_only_its_own_file():
    # numba's cache does not notice a change in a file that the loop's file imports
    for path in Path(mcutils.__file__).parent.joinpath("jit").glob("[!_]*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        imports = [line for line in lines if line.startswith(("import", "from"))]
        assert imports[0] == "import numpy as np", path
        assert imports[1:] in (
            ["from mcutils.jit import compiled"],
            ["from mcutils.jit import sums_in_any_order"],
            ["from mcutils.jit import compiled, sums_in_any_order"],
        ), path
