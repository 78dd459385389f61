"""Hand-outs: chapters without what only the site reads; for a class, without a word of a solution."""

import ast
import builtins
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tools import handout, notebooks
from tools.sphinx import katex

ROOT = notebooks.ROOT
TOC = (ROOT / "_toc.yml").read_text(encoding="utf-8")
CHAPTERS = [path for path in notebooks.chapters() if f"chapters/{path.stem}\n" in TOC]
QUICKEST = ROOT / "chapters" / "bound.ipynb"  # seconds; and it reads a file of results

SOLUTION = re.compile(r"[`:]{3,}\{solution-start\}.*?\{solution-end\}", re.DOTALL)
LABEL = re.compile(r":label: (ex-[\w-]+)")
EXERCISE = re.compile(r"^#### Exercise.* `(ex-[\w-]+)`$", re.MULTILINE)
MYST = re.compile(r"^.*([`:]{3,}\{|\{[\w:]+\}`|^\([\w-]+\)=).*", re.MULTILINE)
MACRO = re.compile(rf"\\({'|'.join(name[1:] for name in notebooks.macros())})(?![A-Za-z])")


@pytest.fixture(scope="module")
def book():
    return handout.read(ROOT)


def everything(nb) -> str:
    """All cells, one after the other, as they stand in the file."""
    return "\n\n".join(cell.source for cell in nb.cells)


def pieces(text: str) -> set[str]:
    """The longer pieces of its lines between formulas and references, which a hand-out writes otherwise."""
    found = (piece.strip() for piece in re.split(r"\n|\$[^$\n]*\$|\{[\w:]+\}`[^`]*`", text))
    return {piece for piece in found if len(piece) > 25}


def leaks(nb, result) -> set[str]:
    """Pieces of solutions that stand in a hand-out, and not only because the chapter has them elsewhere."""
    text, written = everything(nb), everything(result)
    elsewhere = SOLUTION.sub("", text)
    solved = {piece for solution in SOLUTION.findall(text) for piece in pieces(solution)}
    assert solved
    return {piece for piece in solved if piece in written and piece not in elsewhere}


def left_over(nb) -> list[str]:
    """What only the site understands: directives, roles, targets, macros, metadata; and outputs."""
    found = []
    for cell in nb.cells:
        found += {"sources", "errata", "witnesses", "mutants", "tags"} & cell.metadata.keys()
        if cell.cell_type == "code":
            found += [cell.id] if cell.outputs or cell.execution_count else []
        else:
            found += [line[0] for line in MYST.finditer(cell.source)]
            found += [tex for tex, _ in formulas(cell.source) if MACRO.search(tex)]
    return found


def formulas(source: str):
    """The formulas of a Markdown cell, and whether each is displayed."""
    source = re.sub(r"(`+)[^`].*?\1", "", source, flags=re.DOTALL)
    for found in re.finditer(r"\$\$(.*?)\$\$|(?<![\\$])\$(?![\s$])([^$]+)\$", source, re.DOTALL):
        yield found[1] or found[2], bool(found[1])


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_solution_is_left_and_every_exercise_is(path, book):
    nb = notebooks.read(path)
    result, _ = handout.handout(path, book)
    nbformat.validate(result)
    assert leaks(nb, result) == set()
    exercises = set(LABEL.findall(everything(nb)))
    assert exercises
    assert exercises <= set(EXERCISE.findall(everything(result)))
    assert left_over(result) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_for_one_reader_every_solution_is_there_and_folded(path, book):
    nb = notebooks.read(path)
    result, _ = handout.handout(path, book, solutions=True)
    nbformat.validate(result)
    assert left_over(result) == []
    solved = re.findall(r"\{solution-start\} (ex-[\w-]+)", everything(nb))
    folded = [cell for cell in result.cells if cell.metadata.get("jp-MarkdownHeadingCollapsed")]
    assert [cell.source for cell in folded] == [f"##### Solution of `{label}`" for label in solved]
    assert set(solved) <= set(EXERCISE.findall(everything(result)))
    code = [cell.source for _, cell in notebooks.code_cells(nb) if "remove-cell" not in notebooks.tags(cell)]
    assert len(list(notebooks.code_cells(result))) == len(code)
    # what JupyterLab hides with a solution is what stands between its marks
    shown, is_folded = [], False
    for cell in result.cells:
        if cell.cell_type == "markdown" and re.match(r"#{1,5} ", cell.source):
            is_folded = "jp-MarkdownHeadingCollapsed" in cell.metadata
        shown += [] if is_folded else [cell]
    seen = nbformat.v4.new_notebook(cells=shown)
    assert leaks(nb, seen) == set()
    assert EXERCISE.findall(everything(seen)) == EXERCISE.findall(everything(result))


@pytest.mark.parametrize(
    "text",
    ["```{note} A\n```", "> :::{prf:theorem}", "as {prf:ref}`a`", "(sec-a)=", "$\\R^2$", "$$\n\\norm{x}\n$$"],
)
def test_what_only_the_site_reads_would_be_found(text):
    cell = nbformat.v4.new_markdown_cell(f"Words.\n\n{text}\n")
    assert left_over(nbformat.v4.new_notebook(cells=[cell]))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_its_code_uses_is_not_in_a_solution(path, book):
    result, _ = handout.handout(path, book)
    used, made = set(), {"self", *dir(builtins)}
    for _, cell in notebooks.code_cells(result):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
                made.add(node.name)
            elif isinstance(node, ast.alias):
                made.add((node.asname or node.name).split(".")[0])
            elif isinstance(node, ast.arg):
                made.add(node.arg)
    assert used <= made


def test_formulas_need_no_macros(book, monkeypatch):
    """KaTeX, which makes the formulas of the site, reads them without the table of macros."""
    monkeypatch.setattr(katex, "macros", lambda: "{}")
    katex.answer.cache_clear()
    result, _ = handout.handout(ROOT / "chapters" / "rademacher.ipynb", book)
    found = {f for cell in result.cells if cell.cell_type == "markdown" for f in formulas(cell.source)}
    assert len(found) > 300
    for tex, display in found:
        katex.typeset(tex, display=display)
    katex.answer.cache_clear()


def test_a_hand_out_runs_from_its_first_cell_to_its_last(book, tmp_path):
    result, files = handout.handout(QUICKEST, book)
    assert files == {"results/bound.json"}
    for file in files:
        handout.copy(file, tmp_path)
    client = NotebookClient(result, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    # as if mcutils were installed from its wheel; this repository is not above the folder
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert all(cell.execution_count for _, cell in notebooks.code_cells(result))


# -- a small chapter -------------------------------------------------------------------------

SMALL = [
    """# Small

:::{prf:theorem} On $\\R$
:label: thm-small

Let

$$
\\norm{x}
= 1 .
$$ (eq-small)
:::

:::{prf:proof}
See {eq}`eq-small`, {ref}`sec-small` and {prf:ref}`thm-small`.
:::

(sec-small)=
## Here""",
    """::::{admonition} Quiz: one
:class: quiz

Which?

1. a
2. b

:::{dropdown} Answer
**2.** So.
:::
::::""",
    """```{exercise-start} Warm-up: two
:label: ex-small
```
Add.
```{exercise-end}
```

```{solution-start} ex-small
:class: dropdown
```
The answer that nobody in the class may see.""",
    "the_solution = 'code that nobody in the class may see, either'",
    "```{solution-end}\n```\n\n## After",
    "import math",
]


def small(tmp_path: Path, cells=SMALL, **options):
    """The hand-out of a small chapter."""
    path = tmp_path / "chapters" / "small.ipynb"
    path.parent.mkdir(exist_ok=True)
    (tmp_path / "_config.yml").write_text("title: A small book\n", encoding="utf-8")
    is_code = re.compile(r"the_solution|import ")
    nb = nbformat.v4.new_notebook(
        cells=[
            (nbformat.v4.new_code_cell if is_code.match(cell) else nbformat.v4.new_markdown_cell)(cell)
            for cell in cells
        ]
    )
    nbformat.write(nb, path)
    return handout.handout(path, handout.read(tmp_path), **options)[0]


def test_what_becomes_of_the_directives(tmp_path):
    result = small(tmp_path)
    title, origin, *rest = (cell.source for cell in result.cells)
    assert title == (
        "# Small\n\n> **Theorem (On $\\mathbb{R}$)** `thm-small`\n> \n> Let\n> \n"
        "> $$ \\left\\lVert x \\right\\rVert = 1 . \\tag{1} $$\n\n"
        "**Proof.** See (1), “Here” and Theorem “On $\\mathbb{R}$”. ∎\n\n## Here"
    )
    assert "A small book" in origin
    assert "CC BY 4.0" in origin
    assert rest == [
        "> **Quiz: one**\n> \n> Which?\n> \n> 1. a\n> 2. b",
        "#### Exercise (Warm-up: two) `ex-small`\n\nAdd.",
        "## After",
        "import math",
    ]


def test_answers_of_quizzes_stay_if_asked_for(tmp_path):
    answer = "> <details><summary>Answer</summary>\n> \n> **2.** So.\n> \n> </details>"
    assert answer in everything(small(tmp_path, quiz=True))


def test_a_solution_stays_open_where_something_else_would_be_folded_with_it(tmp_path):
    """JupyterLab folds until the next heading."""
    solution = "##### Solution of `ex-small`"

    def folded(cells) -> bool:
        result = small(tmp_path, cells, solutions=True)
        (cell,) = [cell for cell in result.cells if cell.source == solution]
        is_folded = cell.metadata.get("jp-MarkdownHeadingCollapsed", False)
        assert ("***" in [cell.source for cell in result.cells]) != is_folded  # a line where an open one ends
        return is_folded

    ended = [cell.replace("\n\n## After", "") for cell in SMALL[:-1]]
    assert folded(SMALL)
    assert folded(ended)
    assert folded([*ended, "% why\n(sec-after)=\n## After"])
    assert not folded([*ended, "import math"])
    assert not folded([*ended, "After."])
    assert not folded([cell.replace("\n\n## After", "\n\nAfter.") for cell in SMALL])


def test_a_solution_that_leaked_would_be_found(tmp_path):
    """Without its marks it is text as any other: then it is in the hand-out, and `leaks` says so."""
    marked = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(cell) for cell in SMALL])
    assert leaks(marked, small(tmp_path)) == set()
    unmarked = [re.sub(r"```\{solution-(start|end)\}[^`]*```\n?", "", cell) for cell in SMALL]
    assert len(leaks(marked, small(tmp_path, unmarked))) == 2


@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ("```{solution-start} ex-small\n```\nNo end.", "does not end"),
        ("See {prf:ref}`thm-nowhere`.", "'thm-nowhere'"),
        ("See {doc}`nowhere`.", "'chapters/nowhere'"),
        ("See {cite}`nobody2000`.", "'nobody2000'"),
        ("A {newrole}`x`.", "'newrole'"),
        (":::{newdirective}\nx\n:::", "'newdirective'"),
        ("A formula, $\\norm{x$.", "not closed"),
        ("A formula, $\\norm$.", "lacks an argument"),
    ],
)
def test_what_cannot_be_written_is_named(cell, named, tmp_path):
    with pytest.raises(handout.Refusal, match=re.escape(named)):
        small(tmp_path, [*SMALL, cell])


# -- the command -----------------------------------------------------------------------------


def test_the_folder_has_all_that_a_class_needs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(handout, "OUT", tmp_path)
    assert handout.main(["bound", "tree"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    (wheel,) = tmp_path.glob("*.whl")
    assert {path.name for path in tmp_path.iterdir()} == {
        "bound.ipynb",
        "tree.ipynb",
        "files",
        "requirements.txt",
        wheel.name,
    }
    source = (tmp_path / "bound.ipynb").read_text(encoding="utf-8")
    assert "files/results/bound.json" in source
    assert (tmp_path / "files/results/bound.json").exists()
    required = (tmp_path / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert required[1] == f"./{wheel.name}[plot,interior]"
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert {line.split("==")[0] for line in required[2:]} >= {"numpy", "matplotlib", "jupyterlab"}
    assert set(required[2:]) <= set(pins)


def test_an_unknown_chapter_is_refused_with_a_list(capsys):
    with pytest.raises(SystemExit):
        handout.main(["nochapter"])
    said = capsys.readouterr().err
    assert "no notebook 'nochapter'; there are: " in said
    assert "ecoc" in said
