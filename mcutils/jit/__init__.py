"""The few loops that are compiled, each in a file of its own, written to be read.

A loop stands here only where a race is won by it (see ``benchmarks/``). A file is imported by the
function that needs it, at its first call: importing ``mcutils`` loads no compiler.

What is compiled is kept on disk beside the source, or where numba is told by ``NUMBA_CACHE_DIR``, or in
the user's own cache; the second session starts in milliseconds. Where nothing of these can be written to,
as in a read-only installation run by a user without a home, it is compiled once in every session.

numba notices that a file has changed, but not that a file has changed which that file imports. So a loop
stands in one file with everything it calls.
"""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["compiled", "sums_in_any_order"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, **options: Any) -> Function:
    """Compile a function at its first call; keep the result on disk where that is possible.

    It runs without the interpreter's lock, so that threads can share the work.

    Parameters
    ----------
    function : callable
        What numba can compile. Its Python form stays at hand as ``py_func``.
    options
        Of ``numba.njit``, such as ``fastmath``.
    """
    import numba

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
