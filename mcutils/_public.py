"""Packages whose code stands in private files: what is public is shown as a part of the package.

A class stores the module that it comes from, and prints it: in the traceback of an exception, in a
``repr``, on the page of the package. Pickles name it too. A user imports ``mcutils.tree.DecisionTree`` and
should meet that name everywhere, not ``mcutils.tree._estimator.DecisionTree``: which file a class stands in
is the package's own business.
"""

from inspect import isclass, isfunction
from typing import Any


def set_public_module(namespace: dict[str, Any]) -> None:
    """Set ``__module__`` of what a package lists in ``__all__`` to the name of the package.

    The last line of a package's ``__init__.py`` calls it. The methods of a class are set as well, so that
    doctest finds the examples of both in the package.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of the package. Classes and functions from elsewhere stay as they are, as do objects
        of other kinds.
    """
    package = namespace["__name__"]
    for member in (namespace[name] for name in namespace["__all__"]):
        own = (isclass(member) or isfunction(member)) and member.__module__.startswith(f"{package}.")
        if not own:
            continue
        members = vars(member).values() if isclass(member) else []
        functions = (getattr(part, "__func__", part) for part in members)  # of a class or static method
        for part in (member, *filter(isfunction, functions)):
            part.__module__ = package
