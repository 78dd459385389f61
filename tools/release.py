"""Make the files of a release, and try them as users will have them. Nothing is published.

    python -m tools.release

All places must name the same version and date: `mcutils`, `CITATION.cff`, `CHANGELOG.md`, and the tag, where
a run has one. Wheel and sdist are made in `dist/` and checked as the Package Index checks them. Each is
installed into an empty environment on every promised Python that is here, and the example of the README runs
there. With `CI` set, a Python that is missing is a failure. The workflow `release.yml` publishes the files.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mcutils import __version__
from tools import environment, package
from tools.environment import ROOT, THIS, Place
from tools.pythons import PROMISED

DIST = ROOT / "dist"

# What makes the files and checks them; neither the book nor mcutils needs it.
TOOLS = ("build==1.6.1", "twine==7.0.0")


def contradictions(tag: str | None = None) -> list[str]:
    """Where another version, or another date, stands than in `mcutils/__init__.py`."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## \[(?!Unreleased)(.+?)\](?: - (\S+))?$", changelog, re.MULTILINE)
    cited = re.search(r"^version: (.*)$", citation, re.MULTILINE)
    places = {
        "CITATION.cff": (cited and cited[1], package.released()),
        "CHANGELOG.md": (heading and heading[1], heading and heading[2]),
    }
    wanted = (__version__, package.released())
    found = [
        f"{place} has {version} of {date}"
        for place, (version, date) in places.items()
        if (version, date) != wanted
    ]
    if tag is not None and tag != f"v{__version__}":
        found.append(f"the tag is {tag}")
    return found


def example() -> str:
    """The example of the README, which prints its last line."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    if not blocks:
        raise environment.Refusal("README.md must have an example in Python.")
    tree = ast.parse(blocks[0])
    last = ast.unparse(tree.body.pop())
    return (
        f"{ast.unparse(tree)}\nprint({last})\nimport mcutils\nassert mcutils.__version__ == {__version__!r}"
    )


def make(folder: str) -> list[Path]:
    """Wheel and sdist in `dist/`, checked."""
    shutil.rmtree(DIST, ignore_errors=True)
    place = package.install(THIS, list(TOOLS), folder)
    for command in (["build", "--outdir", str(DIST), str(ROOT)], ["twine", "check", "--strict"]):
        files = [str(path) for path in sorted(DIST.glob("*"))] if command[0] == "twine" else []
        run(place, "-m", *command, *files)
    made = sorted(DIST.glob("*"))
    if len(made) != 2:
        raise environment.Refusal(
            f"dist/ must have a wheel and an sdist, found {[path.name for path in made]}."
        )
    return made


def run(place: Place, *words: str) -> None:
    # not from the repository: its mcutils would be found first
    subprocess.run([place.python, *words], cwd=place.folder, env=package.variables(), check=True)


def main() -> int:
    tag = os.environ.get("GITHUB_REF_NAME") if os.environ.get("GITHUB_REF_TYPE") == "tag" else None
    wrong = contradictions(tag)
    if wrong:
        raise environment.Refusal(
            f"mcutils is {__version__}, released on {package.released()}; " + "; ".join(wrong)
        )
    missing = []
    with tempfile.TemporaryDirectory(prefix="mcutils-", ignore_cleanup_errors=True) as folder:
        files = make(os.path.join(folder, "tools"))
        for version in PROMISED:
            name = ".".join(map(str, version))
            interpreter = environment.find(version)
            if not interpreter:
                missing.append(name)
                continue
            for file in files:
                place = package.install(interpreter, [str(file)], os.path.join(folder, name, file.suffix[1:]))
                print(f"Python {name}, {file.name}:", flush=True)
                run(place, "-c", example())
    if missing:
        print(f"NOT TRIED on Python {', '.join(missing)}, which is not here.")
    return (1 if os.environ.get("CI") else package.LEFT_OUT) if missing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (environment.Refusal, subprocess.CalledProcessError) as reason:
        sys.exit(str(reason))
