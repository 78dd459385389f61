"""Keep the book's promise on the other Pythons: the tests of mcutils, and every chapter's printed lines.

    python -m tools.pythons

Each promised Python but the one that runs this gets an environment of its own from the lock, in
`_build/pythons`. A Python is one that runs: the shim of a version that is not installed is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tools import environment, package, run
from tools.environment import ROOT, THIS, Place

PROMISED = [(3, minor) for minor in range(50) if run.refusal((3, minor), None) is None]

# Mutants and further configurations of an estimator are left to the main Python: they are about logic.
PYTEST = (*run.PYTEST, "-q", "--quick", "--no-mutants", "chapters")


def test(place: Place) -> int:
    """Exit status of the tests in an environment, which is made if need be."""
    environment.ensure(place)
    variables = run.surroundings("test")
    variables.update(PATH=place.scripts + os.pathsep + variables["PATH"], VIRTUAL_ENV=str(place.folder))
    command = [place.python, "-m", *PYTEST, *package.tests_and_examples()]
    return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode


def main() -> int:
    report, failed, tested = [], False, 0
    for version in PROMISED:
        if version == THIS.version:
            continue
        name = ".".join(map(str, version))
        interpreter = environment.find(version)
        if not interpreter:
            report.append(f"  Python {name}: NOT TESTED, there is none on the PATH and none of pyenv's")
            continue
        print(f"\n=== Python {name}: {interpreter.path}", flush=True)
        log = ROOT / "_build" / f"install-{name}.log"
        start = time.monotonic()
        code = test(Place(ROOT / "_build" / "pythons" / name, interpreter, log))
        outcome = "FAILED" if code else "ok"
        report.append(f"  Python {name}: {outcome}, {time.monotonic() - start:.0f} s")
        failed, tested = failed or code != 0, tested + 1
    print("\n" + "\n".join(report))
    if not tested:
        print(f"NO OTHER PYTHON WAS TESTED: only {THIS.name} is here, of {len(PROMISED)} that are promised.")
        return run.LEFT_OUT
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except environment.Refusal as reason:
        sys.exit(str(reason))
