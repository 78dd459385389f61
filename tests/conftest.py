"""Settings of all tests; the first must stand before the first import of SciPy or scikit-learn."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

# scikit-learn's own checks of an estimator are complete only with SciPy's array API switched on.
os.environ["SCIPY_ARRAY_API"] = "1"

# No deadlines: a slow computer must not fail a property test. The same examples in every run: what is red
# is red for everybody, and `--hypothesis-profile=explore` looks for new ones.
settings.register_profile(
    "repeatable", parent=settings.get_profile("default"), deadline=None, derandomize=True
)
settings.register_profile(
    "explore", parent=settings.get_profile("default"), deadline=None, derandomize=False, max_examples=500
)
settings.register_profile("few", parent=settings.get_profile("repeatable"), max_examples=20)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parents[1]

# what most tests with the mark `ci` look at
TOOLS = ("tools", "web", "conftest.py", "tests", "_config.yml", "pyproject.toml", "requirements.lock")


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Matplotlib warns of more than twenty, in whichever test comes then."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def iris() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Measurements and names; nobody can write to them, so that no test can harm another."""
    from sklearn.datasets import load_iris

    data = load_iris()
    return _read_only(data.data, data.target_names[data.target])


@pytest.fixture(scope="session")
def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The first 600 images, with values from 0 to 1, and their digits."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return _read_only(X[:600] / 16, y[:600])


def _read_only(X: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    X.flags.writeable = y.flags.writeable = False
    return X, y


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-compiler",
        action="store_true",
        help="Run as where numba cannot be imported, without the tests that would take long.",
    )
    parser.addoption(
        "--again",
        action="store_true",
        help="All tests run elsewhere: leave out those that do not depend on a Python or a version, and "
        "of scikit-learn's checks all but those of the first configuration of each estimator in a file.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ci: runs under CI, and where a tool or a test has changed")
    config.addinivalue_line("markers", "once: of memory, chance or logic alone, left out with --again")
    config.addinivalue_line("markers", "compiler: takes seconds in plain Python, skipped with --no-compiler")
    if config.getoption("--again"):
        settings.load_profile("few")
    if config.getoption("--no-compiler"):
        assert "numba" not in sys.modules
        sys.modules["numba"] = None  # Python's way to forbid an import
        config.addinivalue_line("filterwarnings", "ignore:numba cannot be imported:RuntimeWarning")


def _tools_have_changed() -> bool:
    from tools import stored

    return any(path.is_relative_to(ROOT / name) for path in stored.changed() for name in TOOLS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --quick leave out the tests marked `ci` if no tool has changed, with --again those marked `once`.

    With either, further configurations.
    """
    if config.getoption("--no-compiler"):
        for item in items:
            if item.get_closest_marker("compiler"):
                item.add_marker(pytest.mark.skip(reason="takes long in plain Python"))
    quick = config.getoption("--quick", default=False)
    again = config.getoption("--again")
    if not (quick or again):
        return
    without = {"once"} if again else set()
    if quick and not _tools_have_changed():
        without.add("ci")
    first: dict[tuple[str, type], object] = {}
    left_out = []
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if any(item.get_closest_marker(mark) for mark in without):
            left_out.append(item)
        elif {"estimator", "check"} <= parameters.keys():
            estimator = parameters["estimator"]
            if first.setdefault((item.path.name, type(estimator)), estimator) is not estimator:
                left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]
