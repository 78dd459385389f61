"""What is compiled: the same in plain Python, where numba is missing; and it needs no writable folder."""

import ast
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import loops
import numpy as np
import pytest

import mcutils
from mcutils.jit import gray as jit

try:
    import numba
except ImportError:
    numba = None
needs_numba = pytest.mark.skipif(numba is None, reason="there is no numba to compare with")


# -- without numba -----------------------------------------------------------------------------

FOLDER = Path(mcutils.__file__).parent
LOOPS = sorted(FOLDER.joinpath("jit").glob("[!_]*.py"))


def without_numba(file: Path, *words: str, folder: Path = FOLDER.parent) -> dict[str, Any]:
    """What loops.py reports of the mcutils in a folder."""
    program = [sys.executable, loops.__file__, str(file), *words]
    subprocess.run(program, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)})
    report: dict[str, Any] = pickle.loads(file.read_bytes())
    return report


def difference(result: Any, expected: Any) -> float:
    """Of numbers, arrays, and tuples and lists of them, relative to the largest number of each array."""
    if isinstance(expected, (tuple, list)):
        assert len(result) == len(expected)
        return max(map(difference, result, expected), default=0.0)
    result, expected = np.asarray(result), np.asarray(expected)
    if np.array_equal(result, expected, equal_nan=expected.dtype.kind == "f"):
        return 0.0
    if result.shape != expected.shape or expected.dtype.kind not in "if":
        return np.inf
    apart = np.abs(result - expected).max() / np.abs(expected).max()
    return float(np.nan_to_num(apart, nan=np.inf))


@pytest.fixture(scope="module")
def compiled():
    return loops.solved()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return without_numba(tmp_path_factory.mktemp("plain") / "report", "watch")


@needs_numba
@pytest.mark.parametrize("name", [*loops.EXACT, *loops.NEAR])
@pytest.mark.once
def test_the_results_are_the_same_without_numba(compiled, plain, name):
    tolerance = 0.0 if name in loops.EXACT else loops.TOLERANCE
    assert difference(plain["results"][name], compiled[name]) <= tolerance


@pytest.mark.once
def test_one_warning_reports_that_numba_is_missing(plain):
    ((category, message),) = plain["warnings"]
    assert category is RuntimeWarning
    assert message.startswith("numba cannot be imported (import of numba halted")
    assert "slow" in message
    assert "install it" in message


@pytest.mark.once
def test_every_line_of_the_loops_has_run(plain):
    """Else a line that only numba understands would stay unseen."""
    for path in LOOPS:
        source = path.read_text(encoding="utf-8")
        functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        there = {
            line
            for function in compile(source, str(path), "exec").co_consts
            if isinstance(function, CodeType)
            for *_, line in function.co_lines()
            if line and line > function.co_firstlineno
        }
        assert functions
        missed = sorted(there - {line for file, line in plain["lines"] if file == str(path)})
        assert missed == [], path


@pytest.mark.once
def test_every_function_that_takes_a_loop_has_run(plain):
    users = [
        (str(path), min([node.lineno, *(one.lineno for one in node.decorator_list)]))
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(part, ast.ImportFrom) and "jit" in (part.module or "") for part in ast.walk(node))
    ]
    assert len(users) > 10
    assert set(users) - plain["functions"] == set()


@needs_numba
@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "right", "wrong", "problem"),
    [
        ("tree", "np.int64(side[key & ITEM])", "side[key & ITEM]", "trees_of_gini"),
        ("multiclass", "word >> np.uint64(7)", "np.int64(word) >> 7", "random_order"),
        ("gray", "signs[i] = -signs[i]", "signs[i] = numba.float64(-signs[i])", "signs_of_points"),
    ],
    ids=["eight bits", "a sign", "a type of numba"],
)
@pytest.mark.once
def test_what_only_numba_computes_so_would_be_noticed(tmp_path, compiled, name, right, wrong, problem):
    shutil.copytree(FOLDER, tmp_path / "mcutils", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "mcutils" / "jit" / f"{name}.py"
    source = path.read_text(encoding="utf-8")
    assert right in source
    path.write_text(source.replace(right, wrong), encoding="utf-8")
    try:
        result = without_numba(tmp_path / "report", "only", problem, folder=tmp_path)["results"][problem]
    except subprocess.CalledProcessError:
        return
    assert difference(result, compiled[problem]) > 0


def test_importing_warns_of_nothing(tmp_path):
    """Whether numba is not there, or refuses; the first loop tells why."""
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs an older NumPy')", encoding="utf-8")
    program = (
        "import importlib, pkgutil, sys, mcutils;"
        "names = [one.name for one in pkgutil.walk_packages(mcutils.__path__, 'mcutils.')];"
        f"assert {{'mcutils.jit.{LOOPS[0].stem}', 'mcutils.tree'}} < set(names);"
        "[importlib.import_module(name) for name in names if name != 'mcutils.plot'];"
        "from mcutils.boosting import best_stump;"
        "best_stump([[0.0], [1.0]], [[1], [-1]])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(FOLDER.parent)])}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    caught = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stderr
    last = caught.strip().splitlines()[-1]
    assert last.startswith("RuntimeWarning: numba cannot be imported (Numba needs an older NumPy): ")
    assert "best_stump" in caught


# -- with numba --------------------------------------------------------------------------------


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
        "import mcutils; from mcutils.rademacher import Finite, complexity; from mcutils.jit import gray;"
        f"assert mcutils.__file__.startswith({str(tmp_path)!r}), mcutils.__file__;"
        "assert type(gray.extremes._cache).__name__ == 'NullCache', gray.extremes._cache;"
        "assert complexity(Finite([[1, 1], [-1, -1]])) == 0.5;"
        "from mcutils.jit import multiclass; from mcutils.solver import solve_block;"
        "assert type(multiclass.climb._cache).__name__ == 'NullCache', multiclass.climb._cache;"
        "assert solve_block([[1.0, 0.0], [0.0, 1.0]], [0, 1]).certificate.primal == 0.5"
    )
    # started there: Python looks first into the folder that it is started in
    command = [sys.executable, "-W", "error", "-c", program]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)


@needs_numba
def test_what_is_compiled_is_kept():
    assert type(jit.extremes._cache).__name__ == "FunctionCache"


def test_a_loop_calls_only_its_own_file():
    # numba's cache does not notice a change in a file that the loop's file imports
    for path in LOOPS:
        lines = path.read_text(encoding="utf-8").splitlines()
        imports = [line for line in lines if line.startswith(("import", "from"))]
        assert imports[0] == "import numpy as np", path
        assert imports[1:] in (
            ["from mcutils.jit import compiled"],
            ["from mcutils.jit import sums_in_any_order"],
            ["from mcutils.jit import compiled, sums_in_any_order"],
        ), path


# -- a word for who waits ----------------------------------------------------------------------

WORD = """
import io, logging, sys

class Terminal(io.StringIO):
    def isatty(self):
        return {watched}

sys.stderr, real = Terminal(), sys.stderr
records = []
logger = logging.getLogger("mcutils")
logger.setLevel("INFO")
handler = logging.Handler()
handler.emit = lambda record: records.append(record.getMessage())
logger.addHandler(handler)
from mcutils.jit import gray
assert (gray.larger(1.0, 2.0), gray.smaller(1.0, 2.0)) == (2.0, 1.0)
said, sys.stderr = sys.stderr.getvalue(), real
print(*records, sep="|", end="\\n")
print(said, end="")
"""


def words(folder: Path, *, watched: bool = True, quiet: str = "") -> tuple[str, str]:
    """What is logged, and what a terminal shows, where numba keeps what it compiles in the folder."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "MCUTILS_QUIET": quiet}
    program = [sys.executable, "-c", WORD.format(watched=watched)]
    done = subprocess.run(program, check=True, capture_output=True, text=True, env=variables)
    logged, _, said = done.stdout.partition("\n")
    return logged, said


@needs_numba
def test_the_first_loop_that_is_compiled_is_announced_once(tmp_path):
    logged, said = words(tmp_path)
    assert logged.startswith("mcutils compiles its loops when they are first used, which takes some seconds")
    assert str(tmp_path) in logged
    assert "|" not in logged
    assert said.strip() == logged
    assert words(tmp_path) == ("", "")  # nothing is compiled


@needs_numba
@pytest.mark.parametrize("kind", [{"watched": False}, {"quiet": "1"}])
def test_nobody_is_told_who_does_not_look_or_want_it(tmp_path, kind):
    logged, said = words(tmp_path, **kind)
    assert logged
    assert said == ""
