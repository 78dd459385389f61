"""Chapters as folders that run: all that is needed, nothing else, and always the same bytes."""

import ast
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from tools import environment, folders, handout, package, parts, run
from tools.notebooks import ROOT
from tools.sphinx import launch

CHAPTERS = [chapter.name for part in parts.read(ROOT) for chapter in part.chapters]
WHEEL = folders.wheel_name()
SITE = "https://somebody.example/book/"
QUICKEST = "margin"
RPART = "files/tests/fixtures/rpart"


def paths(names):
    return [ROOT / "chapters" / f"{name}.ipynb" for name in names]


@pytest.fixture(scope="module")
def book():
    return handout.read(ROOT)


@pytest.fixture(scope="module")
def made(book, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "run"
    written = folders.write(paths(CHAPTERS), book, folder)
    assert (written.zips, written.changed) == (len(CHAPTERS), len(CHAPTERS))
    assert written.total == sum(file.stat().st_size for file in folder.iterdir())
    assert written.total < 15e6
    return folder


def test_every_chapter_has_one_and_the_wheel_lies_beside_them(made):
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert set(CHAPTERS) == set(re.findall(r"file: chapters/(\w+)", toc))
    assert {file.name for file in made.iterdir()} == {WHEEL, *(f"{name}.zip" for name in CHAPTERS)}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_folder_has_exactly_what_its_notebook_needs(name, made):
    with zipfile.ZipFile(made / f"{name}.zip") as archive:
        files = {file.removeprefix(f"{name}/"): archive.read(file) for file in archive.namelist()}
        date = tuple(map(int, package.released().split("-")))
        assert {entry.date_time for entry in archive.infolist()} == {(*date, 0, 0, 0)}
    nb = json.loads(files[f"{name}.ipynb"])
    code = "\n".join("".join(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == "code")
    # each string that begins so is the path of a file, or of a folder of them, that is here
    read = {node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)}
    read = {path for path in read if isinstance(path, str) and path.startswith("files/")}
    assert "../" not in code.replace("../widgets/", "")
    data = {path for path in files if path.startswith("files/")}
    assert data == {file for file in data if any(f"{file}/".startswith(f"{path}/") for path in read)}
    assert all(any(f"{file}/".startswith(f"{path}/") for file in data) for path in read)
    assert set(files) - data == {f"{name}.ipynb", "requirements.txt", "README.md", WHEEL}
    assert files[WHEEL] == (made / WHEEL).read_bytes()
    assert f"\n./{WHEEL}[plot,interior]\n" in files["requirements.txt"].decode()
    steps = ["pip install -r requirements.txt", f"jupyter lab {name}.ipynb"]
    assert all(f"       {step}\n" in files["README.md"].decode() for step in steps)


def test_most_chapters_read_nothing_and_one_a_folder(made):
    with_data = {}
    for name in CHAPTERS:
        with zipfile.ZipFile(made / f"{name}.zip") as archive:
            if data := [file for file in archive.namelist() if "/files/" in file]:
                with_data[name] = data
    assert with_data["bound"] == ["bound/files/results/bound.json"]
    assert f"pruning/{RPART}/glass-table.csv" in with_data["pruning"]
    assert 5 <= len(with_data) < len(CHAPTERS) / 2


def test_what_is_written_again_has_the_same_bytes_and_stays_where_it_is_the_same(made, book, tmp_path):
    again = tmp_path / "run"
    names = ["bound", "tree", "pruning"]
    folders.write(paths(names), book, again)
    for name in (WHEEL, *(f"{name}.zip" for name in names)):
        assert (again / name).read_bytes() == (made / name).read_bytes()
    (again / "bound.zip").write_bytes(b"another")
    (again / "gone.zip").write_bytes(b"of a chapter that the book has no longer")
    before = (again / "tree.zip").stat().st_mtime_ns
    assert folders.write(paths(names), book, again).changed == 1
    assert (again / "bound.zip").read_bytes() == (made / "bound.zip").read_bytes()
    assert (again / "tree.zip").stat().st_mtime_ns == before
    assert not (again / "gone.zip").exists()


def test_a_change_of_a_chapter_or_of_its_data_changes_its_folder(made, book, monkeypatch):
    wheel = made / WHEEL
    files = folders.contents(ROOT / "chapters" / "bound.ipynb", book, wheel)
    assert folders.packed("bound", files) == (made / "bound.zip").read_bytes()
    for name in files:
        other = files | {name: files[name] + b" "}
        assert folders.packed("bound", other) != (made / "bound.zip").read_bytes()


def test_the_name_of_the_wheel_is_what_its_builder_calls_it(made):
    project = package.project()
    with zipfile.ZipFile(made / WHEEL) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA")))
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert f"\nName: {project['name']}\n".encode() in metadata


def test_pages_name_the_pythons_that_the_commands_accept():
    accepted = [f"3.{minor}" for minor in range(50) if run.refusal((3, minor), "python") is None]
    assert handout.pythons() == f"{', '.join(accepted[:-1])} or {accepted[-1]}"
    assert f"Python {handout.pythons()}" in (ROOT / "appendix" / "run.md").read_text(encoding="utf-8")


# -- in the cloud ----------------------------------------------------------------------------


def config(url="", baseurl="", branch="", notebooks="notebooks"):
    options = {"repository_url": url, "repository_branch": branch}
    context = {"run": {"notebooks_branch": notebooks}}
    return SimpleNamespace(html_theme_options=options, html_context=context, html_baseurl=baseurl)


COLAB = "https://colab.research.google.com/github/somebody/book/blob/notebooks/ecoc.ipynb"
LAB = "?urlpath=lab/tree/chapters/ecoc.ipynb"


@pytest.mark.parametrize(
    ("configured", "links"),
    [
        (config(), {}),
        (config(baseurl=SITE), {}),
        (
            config("https://github.com/somebody/book"),
            {"Binder": f"https://mybinder.org/v2/gh/somebody/book/main{LAB}"},
        ),
        (
            config("https://github.com/somebody/book.git", SITE, "next/one"),
            {"Binder": f"https://mybinder.org/v2/gh/somebody/book/next%2Fone{LAB}", "Colab": COLAB},
        ),
        (
            config("https://github.com/somebody/book", SITE, notebooks=""),
            {"Binder": f"https://mybinder.org/v2/gh/somebody/book/main{LAB}"},
        ),
        (
            config("https://gitlab.com/somebody/book/", SITE),
            {"Binder": f"https://mybinder.org/v2/gl/somebody%2Fbook/main{LAB}"},
        ),
        (
            config("https://git.example.org/book", SITE),
            {"Binder": f"https://mybinder.org/v2/git/https%3A%2F%2Fgit.example.org%2Fbook/main{LAB}"},
        ),
    ],
)
def test_links_to_the_cloud_need_an_address(configured, links):
    assert dict(launch.clouds(configured, "ecoc")) == links
    assert launch.for_colab(configured) == (SITE if "Colab" in links else "")


def test_in_colab_a_notebook_fetches_its_folder_and_elsewhere_nothing(made, book, tmp_path, monkeypatch):
    target = tmp_path / "run"
    folders.write(paths([QUICKEST]), book, target, SITE)
    nb = json.loads((target / "colab" / f"{QUICKEST}.ipynb").read_text(encoding="utf-8"))
    with zipfile.ZipFile(made / f"{QUICKEST}.zip") as archive:
        packed = json.loads(archive.read(f"{QUICKEST}/{QUICKEST}.ipynb"))
    (cell,) = [cell for cell in nb["cells"] if cell not in packed["cells"]]
    assert nb["cells"].index(cell) == 2
    assert all(other["cell_type"] == "markdown" for other in nb["cells"][:2])
    source = "".join(cell["source"])

    asked: list[object] = []

    def answer(address):
        asked.append(address)
        return io.BytesIO((made / f"{QUICKEST}.zip").read_bytes())

    monkeypatch.setattr("urllib.request.urlopen", answer)
    monkeypatch.setattr("subprocess.run", lambda command, check: asked.append(command[1:]))
    exec(source, {})
    assert asked == []
    # as in Colab, but for the folder in which it starts
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    monkeypatch.chdir(tmp_path)
    exec(source.replace("/content", str(tmp_path)), {})
    assert asked[0] == f"{SITE}run/{QUICKEST}.zip"
    assert asked[1] == ["-m", "pip", "install", "--quiet", f"./{WHEEL}[plot,interior]"]
    assert Path.cwd() == tmp_path / QUICKEST
    assert Path(WHEEL).exists()
    # without the address nothing is left for Colab
    folders.write(paths([QUICKEST]), book, target)
    assert not [file for file in (target / "colab").rglob("*") if file.is_file()]


# -- for real --------------------------------------------------------------------------------


@pytest.mark.ci
def test_a_folder_runs_in_an_environment_of_its_own(made, tmp_path):
    """Its two steps, with nbconvert in the place of a person who runs all cells."""
    shutil.unpack_archive(made / f"{QUICKEST}.zip", tmp_path)
    folder = tmp_path / QUICKEST
    place = package.install(
        environment.THIS, ["-r", "requirements.txt"], str(tmp_path / "environment"), folder
    )
    notebook = f"{QUICKEST}.ipynb"
    for command in (["lab", "--version"], ["nbconvert", "--to=notebook", "--execute", "--inplace", notebook]):
        program = [place.python, "-m", "jupyter", *command]
        done = subprocess.run(program, cwd=folder, env=package.variables(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    nb = json.loads((folder / notebook).read_text(encoding="utf-8"))
    code = [cell for cell in nb["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code)
    images = [kind for cell in code for output in cell["outputs"] for kind in output.get("data", {})]
    assert sum(kind.startswith("image/") for kind in images) >= 2


def test_a_notebook_that_lacks_its_data_fails(made, tmp_path):
    """So a folder without them would be noticed."""
    with zipfile.ZipFile(made / "bound.zip") as archive:
        nb = nbformat.reads(archive.read("bound/bound.ipynb"), as_version=4)
    nb.cells = [cell for cell in nb.cells if cell.cell_type == "code" and "files/" in cell.source]
    assert nb.cells
    with pytest.raises(Exception, match=r"FileNotFoundError|NameError"):
        NotebookClient(nb, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
