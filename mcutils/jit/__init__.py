"""The few loops that are compiled, each in a file of its own, written to be read.

A loop stands here only where a race is won by it (see ``benchmarks/``). A file is imported by the
function that needs it, at its first call: importing ``mcutils`` loads no compiler.

What is compiled is kept on disk beside the source, or in ``NUMBA_CACHE_DIR``, or in
the user's own cache; the second session starts in milliseconds. If none of these is writable (a read-only
installation and no home directory), every session compiles again. When a session compiles for the first time,
a line says so: to the logger ``mcutils.jit``, and on the stderr of a terminal or a notebook, unless
``MCUTILS_QUIET`` is set in the environment.

numba notices that a file has changed, but not that a file has changed which that file imports. So a loop
stands in one file with everything it calls.

Where numba cannot be imported, as in a browser, the loops run as the plain Python that they are. They are
slow then, and the first one that runs warns of it. Both forms must give the same results, and numba's types
are not those of numpy:

- a counter has 64 bits for numba. Added to an entry of a ``uint8`` array it has 8 for numpy; so the entry is
  made an ``np.int64`` first;
- a ``float`` is double precision for numba. Compared with an entry of a ``float32`` array it is rounded by
  numpy; an ``np.float64`` is not.
"""

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

__all__ = ["compiled", "kept_in", "sums_in_any_order"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, **options: Any) -> Function:
    """Compile a function at its first call; keep the result on disk where that is possible.

    It runs without the interpreter's lock, so that threads can share the work. Without numba it runs as it
    is, and its first call warns.

    Parameters
    ----------
    function : callable
        What numba can compile. Its Python form stays at hand as ``py_func``.
    options
        Of ``numba.njit``, such as ``fastmath``.
    """
    try:
        import numba
    except ImportError as error:
        return _plain(function, str(error))

    _watch_the_compiler()
    try:
        fast: Function = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # "cannot cache function ...: no locator available": nowhere to write to
        fast = numba.njit(nogil=True, **options)(function)
    return fast


def sums_in_any_order(function: Function) -> Function:
    """As :func:`compiled`, and the terms of a sum may be added in another order, several at a time.

    So a result may differ in its last digits from that of the Python form. Nothing is assumed of infinities
    and of what is not a number.
    """
    return compiled(function, fastmath={"reassoc", "contract", "nsz"})


def kept_in() -> str | None:
    """The folder with what is compiled; None if there is none, or no numba."""
    from . import stumps

    return next((one.stats.cache_path for one in vars(stumps).values() if hasattr(one, "stats")), None)


# ---------------------------------------------------------------------------------------------------
# A word for who waits


@cache
def _watch_the_compiler() -> None:
    """Have numba say when it compiles; it says nothing where it finds on disk what it needs."""
    from numba.core.event import Listener, register

    class Word(Listener):
        has_said = False

        def on_start(self, event: Any) -> None:
            dispatcher = event.data["dispatcher"]
            if not self.has_said and dispatcher.py_func.__module__.startswith(f"{__name__}."):
                self.has_said = True
                _say_that_it_compiles(dispatcher.stats.cache_path)

        def on_end(self, event: Any) -> None:
            pass

    register("numba:compile", Word())


def _say_that_it_compiles(folder: str | None) -> None:
    from .._progress import is_watched

    kept = f"they are kept in {folder}" if folder else "to keep them, name a folder in NUMBA_CACHE_DIR"
    text = f"mcutils compiles its loops when they are first used, which takes some seconds; {kept}"
    logging.getLogger(__name__).info(text)
    if is_watched() and not os.environ.get("MCUTILS_QUIET"):
        print(f"\r{text}", file=sys.stderr, flush=True)  # over a line that says how far a fit is


# ---------------------------------------------------------------------------------------------------
# Without numba


class _Here(threading.local):
    """Whether this thread is in a plain loop: loops call each other, and only the first one prepares."""

    in_a_loop = False


_here = _Here()
_lock = threading.Lock()
_has_warned = False


def _plain(function: Function, reason: str) -> Function:
    """The function as it is. As numba, it is silent where numbers overflow, not where one is divided by 0."""
    import numpy as np

    @wraps(function)
    def run(*arguments: Any) -> Any:
        if _here.in_a_loop:
            return function(*arguments)
        _warn_once(reason)
        _here.in_a_loop = True
        try:
            with np.errstate(all="ignore", divide="raise"):
                return function(*arguments)
        finally:
            _here.in_a_loop = False

    run.py_func = function  # where numba has it
    return run


def _warn_once(reason: str) -> None:
    """Warn what the lack of numba means, once in a process, whichever of its threads comes first."""
    global _has_warned
    with _lock:
        if not _has_warned:
            warnings.warn(
                f"numba cannot be imported ({reason}): the loops of mcutils that it compiles run as plain "
                "Python, with the same results up to rounding, but up to several hundred times as slowly. "
                "Where numba exists for your Python, install it; otherwise keep the data small",
                RuntimeWarning,
                stacklevel=3,  # who called the loop
            )
            _has_warned = True
