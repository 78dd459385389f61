"""What the packages in mcutils make public: one name for each thing, wherever its code stands."""

import ast
import doctest
import pickle
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from sklearn.base import ClassifierMixin

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
    result = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [import_module(module.name) for module in result]


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
        result = [test for test in public if f"{test}.".startswith(f"{package.__name__}.{name}.")]
        assert len(result) == sum(">>> " in text for text in texts), name
    for file in private_files(package):
        assert not set(examples(file)) & set(public)


def imports():
    """(file, its package, name) of each import in mcutils, package and name as lists of their parts."""
    root = Path(mcutils.__file__).parent
    for path in sorted(root.rglob("*.py")):
        package = ["mcutils", *path.relative_to(root).parts[:-1]]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom):
                continue
            parents = package[: len(package) + 1 - node.level] if node.level else []
            base = [*parents, *(node.module or "").split(".")] if node.module else parents
            for alias in node.names:
                yield path.relative_to(root).as_posix(), package, [*base, alias.name]


def private_imports():
    """(file, name) of every import of a private name or file that belongs to another public module."""
    for file, package, name in imports():
        private = next((i for i, part in enumerate(name) if re.match(r"_(?!_)", part)), None)
        # what stands in the room of mcutils itself, as _checks, is for all
        if name[0] == "mcutils" and private and private > 1 and package[:private] != name[:private]:
            yield file, ".".join(name)


def test_no_module_takes_a_private_name_from_another():
    assert list(private_imports()) == []


def test_what_a_module_takes_from_another_is_in_its_list():
    taken = [(file, name) for file, _, name in imports() if name[0] == "mcutils" and len(name) == 3]
    assert len(taken) > 30
    for file, (_, module, name) in taken:
        if module in mcutils.MODULES and file.split("/")[0] != module:
            assert name in import_module(f"mcutils.{module}").__all__, (file, module, name)


# -- the names of mcutils itself -------------------------------------------------------------------


def estimators():
    """Every classifier in a public module, by name, with the module that lists it."""
    return {
        name: module.__name__.removeprefix("mcutils.")
        for module in map(import_module, sorted(f"mcutils.{name}" for name in mcutils.MODULES))
        for name in module.__all__
        if isclass(getattr(module, name)) and issubclass(getattr(module, name), ClassifierMixin)
    }


def test_mcutils_lists_every_module_and_every_estimator():
    modules = [m.name for m in pkgutil.iter_modules(mcutils.__path__) if not m.name.startswith("_")]
    assert list(mcutils.MODULES) == sorted({*modules} - {"jit"})
    others = {"Certificate": "certificate", "load": "data", "show_versions": "versions"}
    assert {**estimators(), **others} == mcutils.HOMES
    assert {*mcutils.__all__, *mcutils.MODULES} <= {*dir(mcutils)}


@pytest.mark.parametrize("name", mcutils.__all__)
def test_a_name_of_mcutils_is_that_of_its_module(name):
    assert getattr(mcutils, name) is getattr(import_module(f"mcutils.{mcutils.HOMES[name]}"), name)


def test_a_name_that_mcutils_does_not_have():
    with pytest.raises(AttributeError, match="module 'mcutils' has no attribute 'CramerSinger'"):
        mcutils.CramerSinger  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'CramerSinger'"):
        from mcutils import CramerSinger  # noqa: F401


def test_the_types_of_the_names_are_those_of_their_modules():
    """The stub, which only type checkers read, imports what the package loads."""
    stub = ast.parse(Path(mcutils.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert tuple(alias.name for node in imports if not node.module for alias in node.names) == mcutils.MODULES
    names = {alias.name: node.module for node in imports if node.module for alias in node.names}
    assert names == mcutils.HOMES


def test_importing_mcutils_loads_nothing_and_its_modules_no_compiler():
    program = (
        "import sys, mcutils; assert 'numpy' not in sys.modules; "
        "[getattr(mcutils, name) for name in mcutils.MODULES if name != 'plot']; "
        "assert not {'numba', 'matplotlib', 'cvxopt'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_public_name_hides_another_module():
    """`from mcutils.bound import *` leaves the modules that were imported before as they are."""
    met = {
        (module, name)
        for module in mcutils.MODULES
        for name in import_module(f"mcutils.{module}").__all__
        if name in mcutils.MODULES
    }
    # a function of its own module's name; and a loss among losses, which are used as loss.NAME
    assert met == {("softmax", "softmax"), ("loss", "hinge")}
