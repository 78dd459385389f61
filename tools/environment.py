"""The book's virtual environments, made with nothing but the standard library.

`.venv` belongs to the Python that runs the commands; `tools.pythons` has one for each other Python.

A bare Debian has Python without pip and without ensurepip, so `python3 -m venv` fails there.
Hence the one way for every computer: a venv without pip, and the locked packages installed by the
pip that lies in `tools/vendor`, run out of its wheel; where the packages come from is then pip's own
business and its user's settings. The stamp is written last: an installation that was interrupted
has none, and the next run starts it again.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
VENDOR = ROOT / "tools" / "vendor"


class Interpreter(NamedTuple):
    """A Python that runs."""

    path: str
    version: tuple[int, ...]
    platform: str

    @property
    def name(self) -> str:
        return ".".join(map(str, self.version))


class Place(NamedTuple):
    """An environment: where it is, which Python it is made with, and where pip's words go."""

    folder: Path
    interpreter: Interpreter
    log: Path

    @property
    def scripts(self) -> str:
        return str(self.folder / ("Scripts" if os.name == "nt" else "bin"))

    @property
    def python(self) -> str:
        return os.path.join(self.scripts, "python.exe" if os.name == "nt" else "python")

    @property
    def stamp(self) -> Path:
        return self.folder / "stamp"


THIS = Interpreter(sys.executable, sys.version_info[:2], sysconfig.get_platform())
HERE = Place(ROOT / ".venv", THIS, ROOT / "_build" / "install.log")
FOLDER, PYTHON = str(HERE.folder), HERE.python


class Refusal(Exception):
    """A reason to stop that is the user's to know, as one sentence."""


def find(version: tuple[int, ...]) -> Interpreter | None:
    """A Python of this version: the one that runs, one on the PATH, or one of pyenv's."""
    if version == THIS.version:
        return THIS
    name = "python" + ".".join(map(str, version))
    on_path = (shutil.which(name, path=folder) for folder in os.get_exec_path())
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"  # as `pyenv root` says
    installed = sorted(pyenv.glob(f"{name.removeprefix('python')}.*/bin/{name}"), key=_patch, reverse=True)
    for path in (*filter(None, on_path), *map(str, installed)):
        found = inspect(path)
        if found and found.version == version:
            return found
    return None


def _patch(path: Path) -> list[int]:
    """The 10 of pyenv's versions/3.12.10/bin/python3.12, to be compared as a number."""
    return [int(number) for number in re.findall(r"\d+", path.parts[-3])]


def inspect(path: str) -> Interpreter | None:
    """Version and platform of the Python at this path; None if it does not run, as many a shim of pyenv."""
    question = "import sys, sysconfig, venv; print(*sys.version_info[:2], sysconfig.get_platform())"
    try:
        # -I: neither the folder nor the variables of this process are its own
        done = subprocess.run(
            [path, "-I", "-c", question], capture_output=True, text=True, check=True, timeout=60
        )
        major, minor, platform = done.stdout.split()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(path, (int(major), int(minor)), platform)


def ensure(place: Place | None = None) -> None:
    """Make an environment what `requirements.lock` and `pyproject.toml` say, unless it is already."""
    place = place or HERE
    expected = fingerprint(place)
    if is_ready(place, expected):
        return
    place.log.parent.mkdir(exist_ok=True)
    with open(place.log.with_suffix(".busy"), "w") as busy:
        wait_for(busy)  # a second command started meanwhile must not install over the first
        if not is_ready(place, expected):
            install(place)
            place.stamp.write_text(expected)


def is_ready(place: Place, expected: str) -> bool:
    return os.path.exists(place.python) and place.stamp.exists() and place.stamp.read_text() == expected


def fingerprint(place: Place) -> str:
    """A hash of everything that the contents of an environment depend on.

    The tree's place is part of it, because scripts and the link to mcutils hold absolute paths: in a
    copy of the tree, a copied environment would run the mcutils of the original.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = [
        LOCK.read_text(encoding="utf-8"),
        project["build-system"],
        project["project"],
        project["tool"]["hatch"],
        place.interpreter.version,
        place.interpreter.platform,
        str(ROOT),
    ]
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()


def wait_for(busy) -> None:
    """Hold the open file alone; the system lets go of it however this process ends."""
    if sys.platform == "win32":
        import msvcrt

        while True:
            try:
                msvcrt.locking(busy.fileno(), msvcrt.LK_LOCK, 1)
                break
            except OSError:  # it gives up after ten seconds
                continue
    else:
        import fcntl

        fcntl.flock(busy, fcntl.LOCK_EX)


def install(place: Place) -> None:
    start = time.monotonic()
    lock = LOCK.read_text(encoding="utf-8")
    installer = vendored_pip(lock)
    packages = len(re.findall(r"^\S+==", lock, re.MULTILINE))
    print(
        f"Installing about {packages} locked packages into {place.folder.relative_to(ROOT)} for Python "
        f"{place.interpreter.name}: once, for a minute or so.",
        flush=True,
    )
    # What an earlier installation left is not mended but replaced: nothing outside the lock survives.
    create(place)
    with open(place.log, "w", encoding="utf-8") as log, tempfile.TemporaryDirectory() as folder:
        # No bytecode yet: Python writes it for the modules that are used, a fraction of them. The lock names
        # every package, so there is nothing to resolve, and two pips share the work.
        options = ["install", "--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile", "-r"]
        commands = []
        for number, part in enumerate(halves(lock)):
            file = Path(folder, f"{number}.txt")
            file.write_text(part, encoding="utf-8")
            commands.append([*options, str(file)])
        pip(place, commands, log, from_wheel=installer)
        pip(place, [["install", "--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT)]], log)
    print(f"Installed in {time.monotonic() - start:.0f} s.", flush=True)


def halves(lock: str) -> list[str]:
    """The entries of the lock, every second one in each half; an empty half is none."""
    entries = [entry for entry in re.split(r"^(?=\S)", lock, flags=re.MULTILINE) if entry]
    return [half for half in ("".join(entries[::2]), "".join(entries[1::2])) if half]


def create(place: Place) -> None:
    """An environment without packages."""
    command = [place.interpreter.path, "-I", "-m", "venv", "--clear", "--without-pip", str(place.folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        said = (made.stdout + made.stderr).strip().splitlines() or [f"code {made.returncode}"]
        raise Refusal(f"{command[0]} could not make an environment in {place.folder}: {said[-1]}")


def pip(place, commands, log, from_wheel=None) -> None:
    """Run pips side by side: their words go to the log, a count of packages to a terminal."""
    variables = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    variables.pop("PYTHONHOME", None)
    variables.pop("PYTHONPATH", None)
    if from_wheel:  # on the path, not as a script: on Windows a script named pip may not install pip
        variables["PYTHONPATH"] = str(from_wheel)
    start = time.monotonic()
    started = [
        subprocess.Popen(
            [place.python, "-m", "pip", *arguments],
            cwd=ROOT,
            env=variables,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        for arguments in commands
    ]
    while any(process.poll() is None for process in started):
        time.sleep(0.2)
        if sys.stdout.isatty():
            found = place.log.read_text(encoding="utf-8", errors="replace").count("\nCollecting ")
            print(f"\r  {found} packages, {time.monotonic() - start:.0f} s ", end="", flush=True)
    if sys.stdout.isatty():
        print("\r" + " " * 40, end="\r")
    if code := next((process.returncode for process in started if process.returncode), 0):
        words = place.log.read_text(encoding="utf-8", errors="replace")
        # Without a network pip ends with "No matching distribution", which is not the reason.
        if "(from versions: none)" in words:
            reason = "no package index answered, so check the network or name an index in PIP_INDEX_URL"
        elif errors := re.findall("^error: (.*)", words, re.IGNORECASE | re.MULTILINE):
            reason = f"pip says {errors[-1]!r}"
        else:
            reason = f"pip ended with code {code}"
        raise Refusal(f"The packages could not be installed: {reason}; {place.log} has the whole story.")


def vendored_pip(lock: str) -> Path:
    """The wheel of pip that lies in the repository; the lock decides whether it is the right one."""
    version, hashes = pinned_pip(lock)
    wheel = VENDOR / f"pip-{version}-py3-none-any.whl"
    if not wheel.exists():
        there = ", ".join(sorted(path.name for path in VENDOR.glob("pip-*.whl"))) or "none"
        raise Refusal(f"tools/vendor must hold {wheel.name}, the pip of requirements.lock; it holds {there}.")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found not in hashes:
        raise Refusal(f"{wheel} has the hash {found}, which requirements.lock does not allow.")
    return wheel


def pinned_pip(lock: str) -> tuple[str, set[str]]:
    """The version of pip in the lock, and the sha256 hashes that its files may have."""
    entry = re.search(r"^pip==(\S+)((?: \\\n\s+--hash=sha256:\w+)+)", lock, re.MULTILINE)
    if not entry:
        raise Refusal("requirements.lock pins no pip with hashes, and needs to: MAINTAINING.md says how.")
    return entry[1], set(re.findall(r"sha256:(\w+)", entry[2]))
