"""A new chapter: its three rooms and its entries, all at once or not at all."""

import ast
import json
import shutil
from pathlib import Path

import pytest
import yaml

from tools import chapter, notebooks, parts

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "chapters/_template.ipynb",
    "_toc.yml",
    "mcutils/__init__.py",
    "mcutils/__init__.pyi",
    "CHANGELOG.md",
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Of the repository, what a new chapter touches, and one chapter that is there."""
    others = ("chapters/margin.ipynb", "mcutils/loss.py", "tests/test_jit.py", "appendix/api/loss.md")
    for file in (*NEEDED, *others):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    (tmp_path / "mcutils" / "jit").mkdir()
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_template_keeps_its_own_rules():
    assert notebooks.findings(ROOT / chapter.TEMPLATE) == []


def test_a_chapter_has_its_rooms_and_its_entries(book: Path):
    before = contents(book)
    done = chapter.begin("voting", book)
    after = contents(book)
    changed = {file for file in after if before.get(file) != after[file]}
    assert changed == {line.split()[1] for line in done}
    assert {line.split()[1] for line in done if line.startswith("written")} == changed - before.keys()
    assert changed - before.keys() == {
        "appendix/api/voting.md",
        "chapters/voting.ipynb",
        "mcutils/voting.py",
        "tests/test_voting.py",
    }
    # nothing that was there is lost
    for file in changed & before.keys():
        old, new = before[file].decode().splitlines(), iter(after[file].decode().splitlines())
        assert all(line in new for line in old)  # each after the one before


def test_the_notebook_is_a_chapter_in_the_committed_form(book: Path):
    chapter.begin("voting", book)
    file = book / "chapters" / "voting.ipynb"
    assert notebooks.findings(file) == []
    assert "template" not in file.read_text(encoding="utf-8")
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    (witness,) = (cell for cell in cells if "witnesses" in cell["metadata"])
    assert witness["metadata"]["witnesses"] == ["prop-voting-constant"]
    assert "prop-voting-constant: with" in "".join(witness["source"])


def test_it_comes_last_so_that_no_number_moves(book: Path):
    shutil.copytree(ROOT / "chapters", book / "chapters", dirs_exist_ok=True)
    before = {c.name: c.number for part in parts.read(book) for c in part.chapters}
    chapter.begin("voting", book)
    after = {c.name: c.number for part in parts.read(book) for c in part.chapters}
    assert after.pop("voting") == max(number for number in before.values() if number) + 1
    assert after == before
    assert list(parts.problems(parts.read(book))) == []


def test_the_module_is_listed_everywhere(book: Path):
    chapter.begin("voting", book)
    tree = ast.parse((book / "mcutils" / "__init__.py").read_text(encoding="utf-8"))
    (modules,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MODULES"
    )
    assert "voting" in modules
    assert list(modules) == sorted(modules)
    types = (book / "mcutils" / "__init__.pyi").read_text(encoding="utf-8")
    ast.parse(types)
    assert "    versions as versions,\n    voting as voting,\n)" in types


def test_the_module_has_a_page_as_the_others(book: Path):
    chapter.begin("voting", book)
    page = (book / "appendix" / "api" / "voting.md").read_text(encoding="utf-8")
    other = (ROOT / "appendix" / "api" / "margin.md").read_text(encoding="utf-8")
    assert page.replace("voting", "margin").splitlines()[1:] == other.splitlines()[1:]  # but for the title
    toc = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    assert toc["parts"][-1]["chapters"][-1] == {"file": "appendix/api/voting"}


def test_two_chapters_can_be_begun(book: Path):
    chapter.begin("voting", book)
    chapter.begin("aaa", book)
    toc = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    documents = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    for folder, last in (("chapters", "frontier"), ("appendix/api", "display")):
        place = documents.index(f"{folder}/{last}")
        assert documents[place + 1 : place + 3] == [f"{folder}/voting", f"{folder}/aaa"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("margin", "'margin' is taken: there is chapters/margin.ipynb"),
        ("loss", "'loss' is taken: there is mcutils/loss.py and appendix/api/loss.md"),
        ("jit", "'jit' is taken: there is mcutils/jit and tests/test_jit.py"),
        ("Voting", "is no name of a topic"),
        ("vot-ing", "is no name of a topic"),
        ("../voting", "is no name of a topic"),
        ("2fold", "is no name of a topic"),
        ("class", "is no name of a topic"),
        ("v" * 21, "at most 20 letters"),
        ("template", "is the name in the labels of chapters/_template.ipynb"),
    ],
)
def test_a_name_that_is_taken_or_ill_formed_is_refused(book: Path, name: str, why: str):
    before = contents(book)
    with pytest.raises(chapter.Refusal, match=why.replace(".", r"\.")):
        chapter.begin(name, book)
    assert contents(book) == before


@pytest.mark.parametrize("file", sorted(NEEDED[1:]))
def test_a_file_without_a_place_stops_everything(book: Path, file: str):
    (book / file).write_text("nothing\n", encoding="utf-8")
    before = contents(book)
    with pytest.raises(chapter.Refusal, match="any more"):
        chapter.begin("voting", book)
    assert contents(book) == before


def test_the_first_day_is_short():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    for link in ("(MAINTAINING.md)", "(chapters/_template.ipynb)", "make chapter NAME="):
        assert link in text
    read_me = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(CONTRIBUTING.md)" in read_me
    assert "(MAINTAINING.md)" in read_me


def test_without_a_name_it_says_how(capsys: pytest.CaptureFixture[str]):
    assert chapter.main([]) == 2
    assert "make chapter NAME=" in capsys.readouterr().err
    assert chapter.main(["margin"]) == 1
    assert capsys.readouterr().err.startswith("'margin' is taken: there is chapters/margin.ipynb")
