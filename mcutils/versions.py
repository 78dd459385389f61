"""What is installed, and which version a saved model comes from.

The module has no chapter. :func:`show_versions` prints what a report of an error should say. A pickle of an
estimator says with which version of ``mcutils`` it was saved, and another version that loads it warns
(:class:`InconsistentVersionWarning`).
"""

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import sklearn.exceptions
import threadpoolctl

from . import __version__, jit

__all__ = ["InconsistentVersionWarning", "show_versions"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "numba", "matplotlib", "cvxopt")


class InconsistentVersionWarning(sklearn.exceptions.InconsistentVersionWarning):
    """An estimator was saved by another version of ``mcutils`` than the one that loads it.

    What it has learned may mean something else here: fit it again. A filter for scikit-learn's warning of the
    same name, whose kind this is, also takes this one. The version of scikit-learn is not recorded.
    """

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was saved by mcutils {self.original_sklearn_version}, and this is "
            f"{self.current_sklearn_version}: what it has learned may mean something else here; fit it again"
        )


def show_versions() -> None:
    """Print what is installed, for a report of an error.

    That is Python and the platform, the versions of ``mcutils`` and of what it uses, whether the compiler is
    there and where it keeps what it has compiled, and the pools of threads.

    Examples
    --------
    >>> show_versions()  # doctest: +ELLIPSIS
    <BLANKLINE>
    System
           python: 3...
    """
    groups = {"System": _system(), "Packages": _packages(), "Compiler": _compiler()}
    for title, lines in groups.items():
        print(f"\n{title}")
        for name, value in lines:
            print(f"{name:>13}: {value}")
    for pool in threadpoolctl.threadpool_info():
        print("\nPool of threads")
        for name, value in pool.items():
            print(f"{name:>13}: {value}")


def _system() -> Iterator[tuple[str, str]]:
    yield "python", " ".join(sys.version.split())
    yield "executable", sys.executable
    yield "machine", platform.platform()


def _packages() -> Iterator[tuple[str, str]]:
    yield "mcutils", __version__
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed"


def _compiler() -> Iterator[tuple[str, str]]:
    try:
        import numba  # noqa: F401
    except ImportError as error:
        yield "numba", f"cannot be imported ({error}): the loops run as plain Python"
        return
    yield "numba", "compiles each loop at its first use"
    yield "kept in", jit.kept_in() or "no folder: none can be written to, so every session compiles again"
