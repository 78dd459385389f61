"""Raise the locked packages to the newest versions that fit together, if the book stays as it is.

    python -m tools.upgrade        try it in a copy (make upgrade)
    python -m tools.upgrade lock   write requirements.lock after an edit of requirements.txt

The trial takes place in a clone of the last commit, in a temporary folder with an environment of its own:
all chapters are executed and all tests run. If everything passes and no printed line has moved, the new
versions come into this tree. Otherwise the tree stays as it was, and the trial's changes, rewritten
chapters included, lie in `_build/upgrade.patch`.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools import audit, environment, notebooks
from tools.environment import ROOT, Refusal

# Where the newest release is not wanted. What a package allows of others, the resolver finds by itself.
LIMITS = {"jupyter-book": "<2"}  # 2 is a different program

PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


# -- versions ----------------------------------------------------------------------------


def loosened(requirements: str) -> str:
    """The requirements with each pin as a lower bound: nothing goes back."""

    def bound(pin: re.Match[str]) -> str:
        limit = LIMITS.get(pin[1])
        return f"{pin[1]}>={pin[2]}" + (f",{limit}" if limit else "")

    return PIN.sub(bound, requirements)


def resolve(requirements: str, lock: Path) -> None:
    """Write the lock of some requirements, for all Pythons and platforms; what it has stays if it can."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    # one version of a package for all Pythons where there is one: else a figure could depend on the Python
    command += ["--fork-strategy", "fewest", "--python-version", oldest]
    command += ["--no-header", "--no-annotate", "--output-file", str(lock), "-"]
    found = subprocess.run(
        command, input=requirements, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if found.returncode:
        raise Refusal(f"The versions could not be resolved: {found.stderr.strip()}")


def write_lock(folder: Path) -> None:
    """Make `requirements.lock` and the vendored pip what `requirements.txt` needs."""
    lock = folder / "requirements.lock"
    resolve((folder / "requirements.txt").read_text(encoding="utf-8"), lock)
    exchange_pip(folder, lock.read_text(encoding="utf-8"))


def raise_pins(folder: Path) -> None:
    """Pin the newest versions that fit together, and write the lock."""
    file, lock = folder / "requirements.txt", folder / "requirements.lock"
    requirements = file.read_text(encoding="utf-8")
    lock.unlink()
    resolve(loosened(requirements), lock)
    newest = dict(PIN.findall(lock.read_text(encoding="utf-8")))
    file.write_text(PIN.sub(lambda pin: f"{pin[1]}=={newest[pin[1]]}", requirements), encoding="utf-8")
    write_lock(folder)


def exchange_pip(folder: Path, lock: str) -> None:
    """Fetch the wheel of the locked pip, with its licence, unless it is there."""
    version, hashes = environment.pinned_pip(lock)
    vendor = folder / "tools" / "vendor"
    wheel = vendor / f"pip-{version}-py3-none-any.whl"
    if wheel.exists():
        return
    fetch_pip(version, vendor)
    content = wheel.read_bytes()
    if hashlib.sha256(content).hexdigest() not in hashes:
        wheel.unlink()
        raise Refusal(f"{wheel.name} as it was fetched has a hash that the lock does not allow.")
    for other in vendor.glob("pip-*.whl"):
        if other != wheel:
            other.unlink()
    with zipfile.ZipFile(wheel) as archive:
        licence = archive.read(f"pip-{version}.dist-info/licenses/LICENSE.txt")
    (vendor / "LICENSE-pip.txt").write_bytes(licence)
    readme = vendor / "README.md"
    named = re.sub(r"pip-[\w.]+-py3-none-any\.whl", wheel.name, readme.read_text(encoding="utf-8"))
    readme.write_text(named, encoding="utf-8")


def fetch_pip(version: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(folder), f"pip=={version}"], check=True)


# -- what moved --------------------------------------------------------------------------


def raised(before: str, after: str) -> list[str]:
    """A line for each package of which two locks have different versions."""
    old, new = dict(PIN.findall(before)), dict(PIN.findall(after))
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    return [f"{name} {old.get(name, 'none')} -> {new.get(name, 'none')}" for name in names]


def printed(cell: NotebookNode) -> list[str]:
    """The lines of a cell's outputs, as they are committed."""
    texts = [
        text
        for output in cell.outputs
        for text in ([output.text] if "text" in output else output.get("data", {}).values())
    ]
    return [line for text in texts for line in str(text).splitlines()]


def moved(before: NotebookNode, after: NotebookNode) -> list[str]:
    """The printed lines that two runs of a chapter do not share: the place, then - old and + new."""
    report = []
    pairs = zip(notebooks.code_cells(before), notebooks.code_cells(after), strict=True)
    for (index, cell), (_, other) in pairs:
        lines = [line for line in difflib.ndiff(printed(cell), printed(other)) if line[0] in "-+"]
        if lines:
            report += [notebooks.place(index, cell), *lines]
    return report


# -- the trial ---------------------------------------------------------------------------


def git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout


def command(folder: Path, name: str) -> bool:
    """Whether one of the book's commands passes in a copy of the tree, as strictly as in CI."""
    program = [sys.executable, "tools/run.py", name]
    variables = {**os.environ, "CI": "true"}
    return subprocess.run(program, cwd=folder, env=variables, check=False).returncode == 0


def trial(folder: Path) -> tuple[bool, list[str]]:
    """Raise the versions in a copy of the tree and try them: whether all is well, and the report."""
    lock = folder / "requirements.lock"
    before = lock.read_text(encoding="utf-8")
    raise_pins(folder)
    after = lock.read_text(encoding="utf-8")
    packages = raised(before, after)
    report = ["", "Packages:", *(packages or ["all are the newest that fit together"])]
    vulnerable = audit.findings(after)
    report += ["", "Known vulnerabilities:", *(vulnerable or ["none"])]
    if not packages:
        return not vulnerable, report
    print("\n".join(report), flush=True)  # and again at the end, below what the tests print

    paths = notebooks.listed(root=folder)
    old = {path: nbformat.read(path, as_version=4) for path in paths}
    executed = command(folder, "notebooks")
    lines = []
    for path in paths:
        if here := moved(old[path], nbformat.read(path, as_version=4)):
            lines += [path.relative_to(folder).as_posix(), *(f"  {line}" for line in here)]
    report += ["", "Printed lines that moved:", *(lines or ["none"])]
    if not executed:
        report.append("not all notebooks could be executed: see above")
    passed = command(folder, "test")
    report += ["", "Tests:", "all passed" if passed else "not all passed: see above"]
    return executed and passed and not lines and not vulnerable, report


def upgrade() -> int:
    """Try the newest versions, and take them if all is well. Exit status."""
    if git(ROOT, "status", "--porcelain"):
        raise Refusal("Commit or stash your changes first: the upgrade is tried on the last commit.")
    # on Windows a file that is still loaded cannot be deleted, and the folder is the system's to clean
    with tempfile.TemporaryDirectory(prefix="upgrade-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "book"
        git(ROOT, "clone", "--quiet", str(ROOT), str(folder))
        well, report = trial(folder)
        git(folder, "add", "--all")
        changes = git(folder, "diff", "--cached", "--binary")
    print("\n".join(report), end="\n\n")
    patch = ROOT / "_build" / "upgrade.patch"
    if well and changes:
        git(ROOT, "apply", given=changes)
        print("The new versions are in this tree: look at them with `git diff`, and commit.")
    elif changes:
        patch.parent.mkdir(exist_ok=True)
        patch.write_bytes(changes)
        print(f"The tree stays as it was. To take the changes all the same: git apply {patch}")
    return 0 if well else 1


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.upgrade", description="Raise the locked packages.")
    parser.add_argument("what", nargs="?", choices=["lock"], help="only write requirements.lock")
    if parser.parse_args(arguments).what == "lock":
        write_lock(ROOT)
        return 0
    return upgrade()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refusal, OSError, subprocess.CalledProcessError) as reason:
        sys.exit(str(reason))
