"""Test mcutils as its users have it: installed from here, without the book's environment.

    python -m tools.package                       (against the newest releases that its ranges let in)
    python -m tools.package -c requirements.txt   (against the versions of the book)

What follows the name is handed to pip's `install`. A new environment is made in a temporary folder,
with mcutils and what its tests import, and nothing else: a module that needs more fails here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv

from tools import environment
from tools.environment import ROOT

# what the tests of the modules import, beside mcutils and what it needs
TESTS_NEED = ("pytest", "hypothesis", "pandas", "array-api-strict", "cvxopt")

# An extra of the package: it wants matplotlib, and its tests run it inside a notebook.
WITH_THE_BOOK = {"plot"}


def modules() -> list[str]:
    """The names of mcutils' public modules that work without an extra."""
    files = (ROOT / "mcutils").glob("[!_]*.py")
    folders = (ROOT / "mcutils").glob("*/__init__.py")
    names = {file.stem for file in files} | {file.parent.name for file in folders}
    return sorted(names - WITH_THE_BOOK)


def pytest_arguments() -> list[str]:
    """The tests of every module, and the examples in the docstrings of the installed ones."""
    tests = [f"tests/test_{name}.py" for name in modules()]
    examples = [f"mcutils.{name}" for name in modules()]
    # the conftest.py above tests/ executes chapters, with packages that are not there
    return ["-c", "pyproject.toml", "--confcutdir=tests", *tests, "--pyargs", *examples]


def main(pip_options: list[str]) -> int:
    """Exit status of the tests."""
    variables = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    # The pip of the book: a bare Debian has none. It runs out of its wheel, as in tools.environment.
    wheel = environment.vendored_pip(environment.LOCK.read_text(encoding="utf-8"))
    # on Windows a file that is still loaded cannot be deleted, and the folder is the system's to clean
    with tempfile.TemporaryDirectory(prefix="mcutils-", ignore_cleanup_errors=True) as folder:
        venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
        python = os.path.join(folder, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        with_wheel = {**variables, "PYTHONPATH": str(wheel)}
        subprocess.run(
            [*pip, "install", *pip_options, ".", *TESTS_NEED], cwd=ROOT, env=with_wheel, check=True
        )
        # -P: without it Python would look into this folder first, and find the mcutils that is not installed
        tests = [python, "-P", "-m", "pytest", *pytest_arguments()]
        return subprocess.run(tests, cwd=ROOT, env=variables, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (environment.Refusal, subprocess.CalledProcessError) as reason:
        sys.exit(str(reason))
