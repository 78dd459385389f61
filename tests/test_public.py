"""What the packages in mcutils make public: one name for each thing, wherever its code stands."""

import doctest
import pickle
import pkgutil
from importlib import import_module
from inspect import isclass, isfunction
from types import FunctionType, ModuleType

import pytest

import mcutils
from mcutils._public import set_public_module


def split_packages() -> list[ModuleType]:
    """The packages whose code stands in private files."""
    packages = [import_module(f"mcutils.{m.name}") for m in pkgutil.iter_modules(mcutils.__path__) if m.ispkg]
    return [package for package in packages if hasattr(package, "set_public_module")]


def members(package: ModuleType) -> dict[str, type | FunctionType]:
    named = {name: getattr(package, name) for name in package.__all__}
    return {name: member for name, member in named.items() if isclass(member) or isfunction(member)}


def private_files(package: ModuleType) -> list[ModuleType]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [import_module(module.name) for module in found]


@pytest.fixture
def package():
    """A package of two files, with what it takes from elsewhere."""

    class Box:
        def method(self):
            """Something."""

        @classmethod
        def of_class(cls):
            """Something."""

        @staticmethod
        def of_none():
            """Something."""

    def function():
        """Something."""

    for made in (Box, Box.method, Box.of_class.__func__, Box.of_none, function):
        made.__module__ = "shop._box"
    names = {"Box": Box, "function": function, "Elsewhere": ModuleType, "number": 1}
    return {"__name__": "shop", "__all__": list(names), **names}


def test_classes_their_methods_and_functions_get_the_name_of_the_package(package):
    set_public_module(package)
    assert package["Box"].__module__ == package["function"].__module__ == "shop"
    assert package["Box"].method.__module__ == "shop"
    assert package["Box"].of_class.__module__ == package["Box"].of_none.__module__ == "shop"


def test_what_is_from_elsewhere_keeps_its_name(package):
    before = ModuleType.__module__
    set_public_module(package)
    assert ModuleType.__module__ == before


@pytest.mark.parametrize("package", split_packages(), ids=lambda package: package.__name__)
def test_a_public_name_is_in_the_package_only(package):
    for name, member in members(package).items():
        assert (member.__module__, member.__qualname__) == (package.__name__, name)
        assert pickle.loads(pickle.dumps(member)) is member


@pytest.mark.parametrize("package", split_packages(), ids=lambda package: package.__name__)
def test_the_examples_of_what_is_public_are_found_in_the_package(package):
    def examples(module: ModuleType) -> list[str]:
        return [test.name for test in doctest.DocTestFinder().find(module) if test.examples]

    public = examples(package)
    for name, member in members(package).items():
        parts = vars(member).values() if isclass(member) else []
        functions = filter(isfunction, (getattr(part, "__func__", part) for part in parts))
        texts = [part.__doc__ or "" for part in (member, *functions)]
        found = [test for test in public if f"{test}.".startswith(f"{package.__name__}.{name}.")]
        assert len(found) == sum(">>> " in text for text in texts), name
    for file in private_files(package):
        assert not set(examples(file)) & set(public)
