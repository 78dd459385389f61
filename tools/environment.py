"""The book's virtual environment, `.venv`, made with nothing but the standard library.

A bare Debian has Python without pip and without ensurepip, so `python3 -m venv` fails there.
Hence the one way for every machine: a venv without pip, and the locked packages installed by the
pip that lies in `tools/vendor`, run out of its wheel; where the packages come from is then pip's own
business and its user's settings. The stamp is written last: an installation that was interrupted
has none, and the next run starts it again.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = str(ROOT / ".venv")
PYTHON = os.path.join(FOLDER, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
LOCK = ROOT / "requirements.lock"
VENDOR = ROOT / "tools" / "vendor"
STAMP = ROOT / ".venv" / "stamp"
LOG = ROOT / "_build" / "install.log"


class Refusal(Exception):
    """A reason to stop that is the user's to know, as one sentence."""


def ensure() -> None:
    """Make `.venv` what `requirements.lock` and `pyproject.toml` say, unless it is already."""
    expected = fingerprint()
    if is_ready(expected):
        return
    LOG.parent.mkdir(exist_ok=True)
    with open(LOG.with_suffix(".busy"), "w") as busy:
        wait_for(busy)  # a second command started meanwhile must not install over the first
        if not is_ready(expected):
            install()
            STAMP.write_text(expected)


def is_ready(expected: str) -> bool:
    return os.path.exists(PYTHON) and STAMP.exists() and STAMP.read_text() == expected


def fingerprint() -> str:
    """A hash of everything that the contents of `.venv` depend on.

    The place is part of it, because scripts and the link to mcutils hold absolute paths: in a
    copy of the tree, a copied `.venv` would run the mcutils of the original.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = [
        LOCK.read_text(encoding="utf-8"),
        project["build-system"],
        project["project"],
        project["tool"]["hatch"],
        sys.version_info[:2],
        sysconfig.get_platform(),
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


def install() -> None:
    start = time.monotonic()
    lock = LOCK.read_text(encoding="utf-8")
    installer = vendored_pip(lock)
    packages = len(re.findall(r"^\S+==", lock, re.MULTILINE))
    print(
        f"Installing about {packages} locked packages into .venv for Python "
        f"{sys.version_info[0]}.{sys.version_info[1]}: once, for a minute or so."
    )
    # What an earlier installation left is not mended but replaced: nothing outside the lock survives.
    venv.EnvBuilder(clear=True, symlinks=os.name != "nt").create(FOLDER)
    with open(LOG, "w", encoding="utf-8") as log, tempfile.TemporaryDirectory() as folder:
        # No bytecode yet: Python writes it for the modules that are used, a fraction of them. The lock names
        # every package, so there is nothing to resolve, and two pips share the work.
        options = ["install", "--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile", "-r"]
        commands = []
        for number, part in enumerate(halves(lock)):
            file = Path(folder, f"{number}.txt")
            file.write_text(part, encoding="utf-8")
            commands.append([*options, str(file)])
        pip(commands, log, from_wheel=installer)
        pip([["install", "--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT)]], log)
    print(f"Installed in {time.monotonic() - start:.0f} s.", flush=True)


def halves(lock: str) -> list[str]:
    """The entries of the lock, every second one in each half; an empty half is none."""
    entries = [entry for entry in re.split(r"^(?=\S)", lock, flags=re.MULTILINE) if entry]
    return [half for half in ("".join(entries[::2]), "".join(entries[1::2])) if half]


def pip(commands, log, from_wheel=None) -> None:
    """Run pips side by side: their words go to the log, a count of packages to a terminal."""
    variables = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    variables.pop("PYTHONHOME", None)
    variables.pop("PYTHONPATH", None)
    if from_wheel:  # on the path, not as a script: on Windows a script named pip may not install pip
        variables["PYTHONPATH"] = str(from_wheel)
    start = time.monotonic()
    started = [
        subprocess.Popen(
            [PYTHON, "-m", "pip", *arguments], cwd=ROOT, env=variables, stdout=log, stderr=subprocess.STDOUT
        )
        for arguments in commands
    ]
    while any(process.poll() is None for process in started):
        time.sleep(0.2)
        if sys.stdout.isatty():
            found = LOG.read_text(encoding="utf-8", errors="replace").count("\nCollecting ")
            print(f"\r  {found} packages, {time.monotonic() - start:.0f} s ", end="", flush=True)
    if sys.stdout.isatty():
        print("\r" + " " * 40, end="\r")
    if code := next((process.returncode for process in started if process.returncode), 0):
        words = LOG.read_text(encoding="utf-8", errors="replace")
        # Without a network pip ends with "No matching distribution", which is not the reason.
        if "(from versions: none)" in words:
            reason = "no package index answered, so check the network or name an index in PIP_INDEX_URL"
        elif errors := re.findall("^error: (.*)", words, re.IGNORECASE | re.MULTILINE):
            reason = f"pip says {errors[-1]!r}"
        else:
            reason = f"pip ended with code {code}"
        raise Refusal(f"The packages could not be installed: {reason}; {LOG} has the whole story.")


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
        raise Refusal("requirements.lock pins no pip with hashes, and needs to: CONTRIBUTING.md says how.")
    return entry[1], set(re.findall(r"sha256:(\w+)", entry[2]))
