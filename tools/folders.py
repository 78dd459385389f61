"""Pack notebooks as folders that run without this repository; the site's build does it, for each one.

`run/NAME.zip` is one download: a chapter or a recipe as a notebook in plain Markdown (tools/handout.py, with
solutions), a `requirements.txt`, a `README.md` with the two steps, what the notebook reads, and mcutils as a
wheel. The wheel is in each: a folder that names it by an address would run only while the site is reachable
there. Beside them lies the wheel, for whoever wants nothing else.

The same sources give the same bytes, and a file whose bytes are the same is not written again.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import nbformat

from tools import handout, notebooks, package
from tools.handout import Book

FOLDER = "run"  # of the site
BESIDES = ("pandas",)  # what a notebook may need that mcutils does not
COLAB = "colab"  # below it: the notebooks for Google Colab

README = """\
# {title}

From “{book}”: a notebook with all that it needs. Solutions of exercises
are in it, folded.

In a terminal, in this folder, with Python {pythons}:

1. Install what the notebook needs:

       pip install -r requirements.txt

2. Open it:

       jupyter lab {name}.ipynb

The first step installs the versions that the book is tested with. If other work of yours needs
other versions, or if pip refuses to change the Python of your system, make an environment for this
folder first:

    python3 -m venv env            Windows: py -m venv env
    . env/bin/activate             Windows: env\\Scripts\\activate

`{wheel}` is mcutils, the package of the book.
Do not `pip install mcutils`: on the Python Package Index that name belongs to a different project.

{terms} What is in the wheel has its licences inside.
"""

# In Colab a notebook comes alone. Its other packages are Colab's own: pins would ask to start it again.
IN_COLAB = """\
# In Google Colab this fetches what the notebook reads, and mcutils. Elsewhere it does nothing.
import io, os, subprocess, sys, urllib.request, zipfile

if "google.colab" in sys.modules:
    with urllib.request.urlopen("{site}/{folder}/{name}.zip") as answer:
        zipfile.ZipFile(io.BytesIO(answer.read())).extractall("/content")
    os.chdir("/content/{name}")
    wheel = "./{wheel}[{extras}]"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", wheel], check=True)"""


class Written(NamedTuple):
    """What a build has made."""

    total: int  # bytes of all zips and of the wheel
    changed: int  # the zips that were written
    zips: int


def wheel_name() -> str:
    """What the wheel is called, before there is one."""
    from mcutils import __version__

    return f"{package.project()['name'].replace('-', '_')}-{__version__}-py3-none-any.whl"


def contents(path: Path, book: Book, wheel: Path) -> dict[str, bytes]:
    """The files of a chapter's folder."""
    name = path.stem
    nb, files = handout.handout(path, book, solutions=True)
    document = f"{path.parent.name}/{name}"
    read_me = README.format(
        title=handout.Handout(book, document).text(book.titles[document]),
        book=book.title,
        pythons=handout.pythons(),
        name=name,
        wheel=wheel.name,
        terms=handout.TERMS,
    )
    also = [name for name in BESIDES if any(f"import {name}" in cell.source for cell in nb.cells)]
    texts = {
        f"{name}.ipynb": notebooks.text(nb),
        "requirements.txt": handout.requirements(wheel.name, also),
        "README.md": read_me,
    }
    found = {file: text.encode() for file, text in texts.items()} | {wheel.name: wheel.read_bytes()}
    for file in files:
        found |= handout.files_of(file)
    return found


def packed(name: str, files: dict[str, bytes]) -> bytes:
    """A zip of a folder, without what differs from build to build."""
    target = io.BytesIO()
    year, month, day = map(int, (package.released() or "1980-01-01").split("-"))
    with zipfile.ZipFile(target, "w") as archive:
        for file, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{name}/{file}", (year, month, day, 0, 0, 0))
            entry.create_system = 3  # which of the two systems has made it is a byte of the zip
            entry.external_attr = 0o644 << 16
            is_packed = file.endswith(".whl")
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return target.getvalue()


def for_colab(path: Path, book: Book, site: str) -> str:
    """The notebook of a chapter with a first cell that fetches the rest of its folder from the site."""
    nb, _ = handout.handout(path, book, solutions=True)
    extras = ",".join(package.project()["optional-dependencies"])
    places = {"site": site.rstrip("/"), "folder": FOLDER, "name": path.stem}
    source = IN_COLAB.format(**places, wheel=wheel_name(), extras=extras)
    cell = nbformat.v4.new_code_cell(source, id="colab")
    nb.cells.insert(2, cell)  # after the title, and the words about this notebook
    return notebooks.text(nb)


def put(path: Path, content: bytes) -> bool:
    """Write a file unless it is there already; whether it was written."""
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def write(chapters: Iterable[Path], book: Book, folder: Path, site: str = "") -> Written:
    """Write the zips of chapters, and the wheel; with the site's address, the notebooks for Colab too."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / handout.build_wheel(folder)
    kept = {wheel}
    total, changed = wheel.stat().st_size, 0
    for path in chapters:
        target = folder / f"{path.stem}.zip"
        content = packed(path.stem, contents(path, book, wheel))
        changed += put(target, content)
        total += len(content)
        kept.add(target)
        if site:
            notebook = folder / COLAB / f"{path.stem}.ipynb"
            put(notebook, for_colab(path, book, site).encode())
            kept.add(notebook)
    for old in folder.rglob("*"):  # of a chapter that is gone, or of another version
        if old.is_file() and old not in kept:
            old.unlink()
    return Written(total, changed, len([path for path in kept if path.suffix == ".zip"]))
