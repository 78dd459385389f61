"""Keep the book's promise on the other Pythons: the tests of mcutils, and every notebook's printed lines.

    python -m tools.pythons

Each promised Python but the one that runs this gets an environment of its own from the lock, in
`_build/pythons`. A Python is one that runs: the shim of a version that is not installed is none.

On the last of them the notebooks run with other numerics: a line that is printed there as it is committed
depends neither on the version nor on the computer. Where no other Python is here, this one does it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tools import environment, package, run
from tools.environment import ROOT, THIS, Place
from tools.notebooks import FOLDERS

PROMISED = [(3, minor) for minor in range(50) if run.refusal((3, minor), None) is None]

# What is about logic is left to the main Python: see conftest.py, tests/conftest.py. There each notebook has
# a kernel of its own, which notices what it forgets to import.
PYTEST = (*run.PYTEST, "-q", "--no-mutants", "--forked")
# With two threads of BLAS each, one after the other: on two cores, four threads would wait for each other.
ALONE = ("-n", "1")


def test(place: Place, numerics: dict[str, str]) -> int:
    """Exit status of the tests, and of the notebooks with some numerics, in an environment that is made."""
    environment.ensure(place)
    variables = run.surroundings("test")
    variables.update(PATH=place.scripts + os.pathsep + variables["PATH"], VIRTUAL_ENV=str(place.folder))
    tests = ["--again", *package.tests_and_examples()]
    runs = [(["--quick", *FOLDERS, *tests], variables)]
    if numerics:  # stored outputs may be those of the usual ones: all is executed
        compiled = {name: value for name, value in numerics.items() if name.startswith("NUMBA_")}
        # compiled once for both
        runs = [(tests, variables | compiled), ([*ALONE, *FOLDERS], variables | numerics)]
    return max(
        subprocess.run([place.python, "-m", *PYTEST, *what], cwd=ROOT, env=env, check=False).returncode
        for what, env in runs
    )


def notebooks_with_other_numerics() -> int:
    """Exit status of the notebooks on this Python."""
    return run.run([*PYTEST, *ALONE, *FOLDERS], run.surroundings("test") | run.OTHER_MACHINE)


def main() -> int:
    report, failed = [], False
    found = {version: environment.find(version) for version in PROMISED if version != THIS.version}
    here = [version for version, interpreter in found.items() if interpreter]
    for version, interpreter in found.items():
        name = ".".join(map(str, version))
        if not interpreter:
            report.append(f"  Python {name}: NOT TESTED, there is none on the PATH and none of pyenv's")
            continue
        numerics = run.OTHER_MACHINE if version == here[-1] else {}
        print(f"\n=== Python {name}{', other numerics' if numerics else ''}: {interpreter.path}", flush=True)
        log = ROOT / "_build" / f"install-{name}.log"
        start = time.monotonic()
        code = test(Place(ROOT / "_build" / "pythons" / name, interpreter, log), numerics)
        outcome = "FAILED" if code else "ok"
        report.append(f"  Python {name}: {outcome}, {time.monotonic() - start:.0f} s")
        failed = failed or code != 0
    if not here:
        failed = notebooks_with_other_numerics() != 0
        report.append(f"  other numerics, on this Python: {'FAILED' if failed else 'ok'}")
    print("\n" + "\n".join(report))
    if not here:
        print(f"NO OTHER PYTHON WAS TESTED: only {THIS.name} is here, of {len(PROMISED)} that are promised.")
    return 1 if failed else 0 if here else run.LEFT_OUT


if __name__ == "__main__":
    try:
        sys.exit(main())
    except environment.Refusal as reason:
        sys.exit(str(reason))
