"""Test mcutils as its users have it: installed from here, without the book's environment.

    python -m tools.package                       (against the newest releases that its ranges let in)
    python -m tools.package -c requirements.txt   (against the versions of the book)
    python -m tools.package --lowest              (against the lowest versions of its ranges, Python included)

What follows the name is otherwise handed to pip's `install`. A new environment is made in a temporary
folder, with mcutils, its extras and what its tests import, and nothing else: a module that needs more
fails here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from tools import environment
from tools.environment import ROOT, Interpreter, Place

# what the tests of the modules import, beside mcutils and what it needs; the second runs two at a time
TESTS_NEED = ("pytest", "pytest-xdist", "hypothesis", "pandas", "array-api-strict")

# Tests of what modules share, and of what they promise together.
OF_ALL = ("checks", "estimators", "progress", "public", "routing", "weights")

# Its tests run it inside a notebook.
WITH_THE_BOOK = {"plot"}

# As in tools.run, which cannot be imported here: it refuses a Python newer than the book's.
LEFT_OUT = 77


def project() -> dict[str, Any]:
    """The table of the package in `pyproject.toml`."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def released() -> str:
    """The date of this version, or "". That of a build would make two builds differ."""
    citation = ROOT / "CITATION.cff"
    found = citation.exists() and re.search(
        r'^date-released: *"?([\d-]+)', citation.read_text(encoding="utf-8"), re.MULTILINE
    )
    return found[1] if found else ""


def lowest(project: dict[str, Any]) -> tuple[tuple[int, ...], list[str]]:
    """The lowest Python of the declared ranges, and the lowest version of every dependency."""
    extras = project.get("optional-dependencies", {}).values()
    bounds = {"Python": project["requires-python"].removeprefix(">=")}
    for requirement in [*project["dependencies"], *(each for extra in extras for each in extra)]:
        bounded = re.fullmatch(r"([\w.-]+)\s*>=\s*([\d.]+)(\s*[,;].*)?", requirement)
        if not bounded:
            raise environment.Refusal(f"pyproject.toml must declare a lowest version, found {requirement!r}.")
        bounds[bounded[1]] = bounded[2]
    python = tuple(int(number) for number in bounds.pop("Python").split("."))
    return python, [f"{name}=={version}" for name, version in bounds.items()]


def modules() -> list[str]:
    """The names of mcutils' public modules whose tests need nothing of the book."""
    files = (ROOT / "mcutils").glob("[!_]*.py")
    folders = (ROOT / "mcutils").glob("*/__init__.py")
    names = {file.stem for file in files} | {file.parent.name for file in folders}
    return sorted(names - WITH_THE_BOOK)


def tests_and_examples() -> list[str]:
    """For pytest: the tests of every module and of all together, and the examples in the installed ones."""
    tests = [f"tests/test_{name}.py" for name in (*modules(), *OF_ALL)]
    return [*tests, "--pyargs", *(f"mcutils.{name}" for name in modules())]


def pytest_arguments() -> list[str]:
    # the conftest.py above tests/ executes chapters, with packages that are not there
    options = ["-c", "pyproject.toml", "--confcutdir=tests", "-n", "2", "--dist", "loadscope"]
    return [*options, *tests_and_examples()]


def variables() -> dict[str, str]:
    """Those of this process, without what would show another Python the modules of this one."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def install(interpreter: Interpreter, wanted: list[str], folder: str, working: Path = ROOT) -> Place:
    """Make an environment in the folder, with what pip installs for these words."""
    # The pip of the book: a bare Debian has none. It runs out of its wheel, as in tools.environment.
    wheel = environment.vendored_pip(environment.LOCK.read_text(encoding="utf-8"))
    place = Place(Path(folder), interpreter, environment.HERE.log)
    environment.create(place)
    pip = [place.python, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", *wanted],
        cwd=working,
        env={**variables(), "PYTHONPATH": str(wheel)},
        check=True,
    )
    return place


def test(interpreter: Interpreter, pip_options: list[str], pytest_options: list[str], folder: str) -> int:
    """Exit status of the tests, in an environment that is made in the folder."""
    mcutils = ".[" + ",".join(project()["optional-dependencies"]) + "]"
    place = install(interpreter, [*pip_options, mcutils, *TESTS_NEED], folder)
    # -P: without it Python would look into this folder first, and find the mcutils that is not installed
    tests = [place.python, "-P", "-m", "pytest", *pytest_options, *pytest_arguments()]
    return subprocess.run(tests, cwd=ROOT, env=variables(), check=False).returncode


def main(pip_options: list[str]) -> int:
    interpreter, pytest_options = environment.THIS, []
    # on Windows a file that is still loaded cannot be deleted, and the folder is the system's to clean
    with tempfile.TemporaryDirectory(prefix="mcutils-", ignore_cleanup_errors=True) as folder:
        if pip_options == ["--lowest"]:
            python, pins = lowest(project())
            found = environment.find(python)
            if not found:
                wanted = ".".join(map(str, python))
                print(f"The lowest versions were not tested: they need Python {wanted}, which is not here.")
                return LEFT_OUT
            constraints = Path(folder) / "lowest.txt"
            constraints.write_text("\n".join(pins), encoding="utf-8")
            interpreter, pip_options = found, ["--only-binary=:all:", "-c", str(constraints)]
            # the lowest versions of some packages use what is deprecated in the newest of others
            pytest_options = ["-W", "ignore::DeprecationWarning", "--again"]
        return test(interpreter, pip_options, pytest_options, os.path.join(folder, "environment"))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (environment.Refusal, subprocess.CalledProcessError) as reason:
        sys.exit(str(reason))
