"""What the docstrings of mcutils name, for the tests that compare it with the objects and with the page.

A section begins with its title, underlined; an entry is a line that is not indented, `name : type` or
`name, name : type`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from tools import package


def entries(obj: Any, section: str) -> list[list[str]]:
    """The names of each entry in a section of a docstring, [] where there is no such section."""
    doc = inspect.cleandoc(obj.__doc__ or "")
    found = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\S|\Z)", doc, re.MULTILINE | re.DOTALL)
    lines = found[1].splitlines() if found else []
    return [line.split(" : ")[0].split(", ") for line in lines if line and not line[0].isspace()]


def names(obj: Any, section: str) -> list[str]:
    """The names in a section of a docstring, one after the other."""
    return [name for entry in entries(obj, section) for name in entry]


def public() -> Iterator[tuple[str, Any]]:
    """The functions and classes of mcutils' public modules, and the methods of the classes, by full name."""
    for module_name in sorted({*package.modules(), *package.WITH_THE_BOOK}):
        module = importlib.import_module(f"mcutils.{module_name}")
        for name, obj in list(vars(module).items()):
            own = getattr(obj, "__module__", None) == module.__name__
            if name.startswith("_") or not own or not (inspect.isclass(obj) or inspect.isfunction(obj)):
                continue
            yield f"{module.__name__}.{name}", obj
            if inspect.isclass(obj):
                for method_name, method in list(vars(obj).items()):
                    method = getattr(method, "__func__", method)  # of a class method or static method
                    if not method_name.startswith("_") and inspect.isfunction(method):
                        yield f"{module.__name__}.{name}.{method_name}", method
