"""The form of the second edition: a chapter that keeps all rules, and a fault planted against each."""

import copy
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import edition, notebooks

ROOT = Path(__file__).resolve().parents[1]

Damage = Callable[[NotebookNode], None]

OPENING = """(chapter-toy)=
# Coins

How often does a coin fall on heads?

:::{admonition} In one minute
:class: one-minute

- Half of the tosses are heads. ({prf:ref}`prop-toy-half`)
- So say {prf:ref}`the halves <prop-toy-half>`.
:::"""

CORE = (
    """(sec-toy-half)=
## Half are heads

:::{prf:proposition} Halves
:label: prop-toy-half

On average half of $n$ tosses are heads.
:::

:::{prf:proof}
*Sketch.* By symmetry.

"""
    + "\n".join(f"Line {i}." for i in range(12))
    + """
:::

:::{dropdown} In the five lectures
Lu's lecture on theory, L7, slide 3, says so too; the lecture is right: {ref}`E-K.4 <erratum-e-k-4>`.
:::"""
)

QUIZ = """::::{{admonition}} Quiz: toss {number}
:class: quiz

Which face?

1. heads
2. tails

:::{{dropdown}} Answer
**2.** It is a guess.

1. Heads is not tails.
2. Tails is tails.
:::
::::"""

BEYOND = """```{index} coin
```

## More coins

There are others."""

EXERCISES = "## Exercises\n\n" + "\n\n".join(
    f"```{{exercise-start}} Coin {i}\n:label: ex-toy-{i}\n```\nToss it.\n```{{exercise-end}}\n```\n\n"
    f"```{{solution-start}} ex-toy-{i}\n:label: sol-toy-{i}\n:class: dropdown\n```\n"
    "Done.\n```{solution-end}\n```"
    for i in range(4)
)

# positions among the cells
TITLE, IMPORTS, FIGURE, HALF, WITNESS, SHOWN, QUIZZES, MORE, TASKS = range(9)


@pytest.fixture
def chapter() -> NotebookNode:
    """A chapter that keeps all rules."""
    about = {"sentence": "What coins do.", "difficulty": 1, "builds-on": []}
    figure = {"figure": {"caption": "A coin.", "name": "fig-toy-coin"}, "image": {"alt": "A round coin."}}
    line = new_output("stream", name="stdout", text="holds for 30 coins\n")
    cells = [
        new_markdown_cell(OPENING, metadata={"chapter": about}),
        new_code_cell("import numpy as np", metadata={"tags": ["hide-input"]}),
        new_code_cell("plot.show(fig)", metadata={"tags": ["hide-input"], "mystnb": figure}),
        new_markdown_cell(CORE),
        new_code_cell(
            "def halves():\n    assert sum([1, 2]) == 3\n    return 'holds for 30 coins'\n\n\n"
            "print(halves())",
            outputs=[line],
            metadata={
                "tags": ["witness", "hide-input"],
                "witnesses": ["prop-toy-half"],
                "mutants": [["1", "0", "leave out a coin"], ["== 3", "== 4"]],
            },
        ),
        new_code_cell("heads = 2\nplot.table([('coin', heads)], ('what', 'heads'), caption='Tosses')"),
        new_markdown_cell("\n\n".join(QUIZ.format(number=number) for number in range(4))),
        new_markdown_cell(BEYOND, metadata={"layer": "beyond", "gist": "Coins of other lands."}),
        new_markdown_cell(EXERCISES, metadata={"layer": "detail", "gist": "Four tasks."}),
    ]
    return new_notebook(cells=cells)


def test_a_right_chapter_has_no_findings_and_need_not_wait(
    chapter: NotebookNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert edition.findings("toy", chapter) == []
    monkeypatch.setattr(edition, "waiting", frozenset({"toy"}))
    ((cell, message),) = edition.findings("toy", chapter)
    assert cell is None
    assert "take it off" in message


def test_a_chapter_that_waits_is_not_held_to_the_rules(
    chapter: NotebookNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter.cells[TITLE].source = "# Coins"
    assert edition.findings("toy", chapter) != []
    monkeypatch.setattr(edition, "waiting", frozenset({"toy"}))
    assert edition.findings("toy", chapter) == []


def test_only_chapters_wait() -> None:
    assert edition.waiting <= {path.stem for path in notebooks.chapters()}


def replaced(cell: int, old: str, new: str, count: int = -1) -> Damage:
    def damage(nb: NotebookNode) -> None:
        assert old in nb.cells[cell].source
        nb.cells[cell].source = nb.cells[cell].source.replace(old, new, count)

    return damage


def said(cell: int, **metadata: object) -> Damage:
    def damage(nb: NotebookNode) -> None:
        for key, value in metadata.items():
            if value is None:
                del nb.cells[cell].metadata[key]
            else:
                nb.cells[cell].metadata[key] = value

    return damage


def prints(cell: int, text: str) -> Damage:
    def damage(nb: NotebookNode) -> None:
        nb.cells[cell].outputs = [new_output("stream", name="stdout", text=text)]

    return damage


def mutants(*of_the_cell: list[str]) -> Damage:
    return said(WITNESS, mutants=list(of_the_cell))


def one_quiz_less(nb: NotebookNode) -> None:
    nb.cells[QUIZZES].source = nb.cells[QUIZZES].source.rpartition("\n\n::::{admonition}")[0]


def moved(old: int, new: int) -> Damage:
    def damage(nb: NotebookNode) -> None:
        nb.cells.insert(new, nb.cells.pop(old))

    return damage


def twice(cell: int) -> Damage:
    def damage(nb: NotebookNode) -> None:
        nb.cells.append(copy.deepcopy(nb.cells[cell]))

    return damage


BOX = OPENING[OPENING.index(":::{admonition}") :]
LONG = "word " * 2000
WAY = "leave out a coin"

FAULTS: dict[str, tuple[Damage, int | None, str]] = {
    "chapter elsewhere": (said(HALF, chapter={"sentence": "x"}), HALF, "belongs to the cell with the title"),
    "old box": (
        replaced(TITLE, BOX, ":::{admonition} Before you start\nGo.\n:::\n\n" + BOX),
        TITLE,
        "'Before you start' has gone",
    ),
    "old end": (replaced(MORE, "## More coins", "## What to remember"), MORE, "'What to remember' has gone"),
    "no minute": (replaced(TITLE, ":class: one-minute", ":class: note"), None, "has 0 boxes"),
    "two minutes": (replaced(TITLE, BOX, f"{BOX}\n\n{BOX}"), None, "has 2 boxes"),
    "late minute": (moved(TITLE, HALF), HALF, "after the first section"),
    "long minute": (
        replaced(TITLE, "- Half", "- {prf:ref}`prop-toy-half`\n" * 4 + "- Half"),
        TITLE,
        "has 6 lines",
    ),
    "minute without a list": (replaced(TITLE, "\n- ", "\n"), TITLE, "has 1 lines; a list"),
    "line without a statement": (
        replaced(TITLE, "({prf:ref}`prop-toy-half`)", ""),
        TITLE,
        "names no statement",
    ),
    "line of another chapter": (
        replaced(TITLE, "({prf:ref}`prop-toy-half`)", "({prf:ref}`prop-risk-ties`)"),
        TITLE,
        "'prop-risk-ties' is no statement of this chapter",
    ),
    "long Story": (replaced(HALF, "(sec-toy", f"{LONG}\n\n(sec-toy"), None, "Story has 2,"),
    "long Full": (replaced(MORE, "There are", f"{LONG * 3}There are"), None, "Full has 6,"),
    "late picture": (
        replaced(TITLE, "How often", f"{'word ' * 300}How often"),
        None,
        "the first picture comes after 3",
    ),
    "no picture": (said(FIGURE, mystnb={}), None, "has no picture"),
    "few exercises": (
        replaced(TASKS, "exercise-start} Coin 1", "note} Coin 1"),
        None,
        "has 3 exercises; 4 to 8",
    ),
    "many exercises": (
        replaced(TASKS, "## Exercises\n", "## Exercises\n" + "\n```{exercise}\nToss.\n```\n" * 5),
        None,
        "has 9 exercises; 4 to 8",
    ),
    "unknown layer": (said(MORE, layer="extra"), MORE, "metadata 'layer' is 'extra'"),
    "no gist": (said(MORE, gist=None), MORE, "metadata 'gist' is None"),
    "no sentence": (said(MORE, gist="coins"), MORE, "metadata 'gist' is 'coins'"),
    "gist without layer": (said(MORE, layer=None), MORE, "metadata 'layer' is None"),
    "two headings": (replaced(MORE, "There", "### Copper\n\nThere"), MORE, "has a layer and 2 headings"),
    "chapter folded": (replaced(MORE, "## More", "# More"), MORE, "has a layer and 1 headings"),
    "text before": (replaced(MORE, "## More", "Hidden.\n\n## More"), MORE, "text before its heading"),
    "open exercises": (said(TASKS, layer=None, gist=None), TASKS, "the section 'Exercises' is a detail"),
    "open reading": (
        replaced(HALF, "## Half are heads", "## Further reading"),
        HALF,
        "the section 'Further reading' is a beyond",
    ),
    "no sketch": (replaced(HALF, "*Sketch.* By symmetry.", "By symmetry."), HALF, "a proof of 13 lines"),
    "long sketch": (replaced(HALF, "By symmetry.", "By\n\\\n\\\nsymmetry."), HALF, "a sketch of 4 lines"),
    "sketch in other words": (
        replaced(HALF, "*Sketch.*", "*Sketch of it.*"),
        HALF,
        "begins with '*Sketch.*'",
    ),
    "naked witness": (replaced(WITNESS, "def", "coins = 2\n\n\ndef"), WITNESS, "a witness is one function"),
    "long witness": (
        replaced(WITNESS, "    return", "    # toss\n\n" + "    assert True\n" * 38 + "    return"),
        WITNESS,
        "a witness of 41 lines",
    ),
    "silent witness": (prints(WITNESS, "\n"), WITNESS, "a witness that prints 0 lines"),
    "talkative witness": (prints(WITNESS, "a\nb\n"), WITNESS, "a witness that prints 2 lines"),
    "no words": (mutants(["1", "0"], ["3", "4"]), WITNESS, "prop-toy-half has 0 mutants with words"),
    "many words": (
        mutants(*(["1", f"{i}", f"toss {i} coins"] for i in range(5))),
        WITNESS,
        "prop-toy-half has 5 mutants with words",
    ),
    "the same words": (
        mutants(["1", "0", WAY], ["2", "0", WAY]),
        WITNESS,
        "two mutants of prop-toy-half have the same words",
    ),
    "long words": (mutants(["1", "0", "a " * 13]), WITNESS, "has more than 12 words"),
    "TeX as words": (mutants(["1", "0", "let $k = 2$"]), WITNESS, "has signs of Markdown or TeX"),
    "lecture": (replaced(TITLE, "How often", "The lecture asks how often"), TITLE, "speaks of 'The lecture'"),
    "somebody's": (replaced(HALF, "On average", "In Lu's lecture"), HALF, 'speaks of "Lu\'s lecture"'),
    "code": (replaced(MORE, "There", "As in U14, there"), MORE, "speaks of 'U14'"),
    "item": (replaced(QUIZZES, "Which face?", "Which face (K.4)?", 1), QUIZZES, "speaks of 'K.4'"),
    "erratum": (replaced(MORE, "There", "{ref}`E-K.4 <erratum-e-k-4>` there"), MORE, "speaks of 'E-K.4'"),
    "lecture in a gist": (said(MORE, gist="As the lecture has it."), MORE, "speaks of 'the lecture'"),
    "lecture in a caption": (
        said(FIGURE, mystnb={"figure": {"caption": "The lecture's coin."}, "image": {"alt": "A coin."}}),
        FIGURE,
        "speaks of 'The lecture'",
    ),
    "lecture in an alt": (
        said(FIGURE, mystnb={"figure": {"caption": "A coin."}, "image": {"alt": "The coin of L7."}}),
        FIGURE,
        "speaks of 'L7'",
    ),
    "lecture in a table": (
        lambda nb: nb.cells[SHOWN].update(
            outputs=[new_output("execute_result", data={"text/plain": "The lecture's tosses"})]
        ),
        SHOWN,
        "speaks of 'The lecture'",
    ),
    "lecture in an output": (prints(SHOWN, "as in M5"), SHOWN, "speaks of 'M5'"),
    "lecture on a button": (mutants(["1", "0", "the lecture's sign"]), WITNESS, "speaks of 'the lecture'"),
    "lecture in a solution": (
        replaced(TASKS, "Done.", "As the first lecture does.", 1),
        TASKS,
        "speaks of 'the first lecture'",
    ),
    "lecture in the sentence": (
        said(TITLE, chapter={"sentence": "What D10 says."}),
        TITLE,
        "speaks of 'D10'",
    ),
    "prompt": (
        said(WITNESS, mystnb={"code_prompt_show": "Witness"}),
        WITNESS,
        "metadata mystnb.code_prompt_show",
    ),
    "open imports": (said(IMPORTS, tags=[]), IMPORTS, "only imports"),
    "long code": (replaced(SHOWN, "heads = 2", "heads = 2\n" * 30), SHOWN, "31 lines of code in view"),
    "long code on the whole": (
        replaced(SHOWN, "heads = 2", "heads = 2\n" * 12),
        None,
        "13 lines of code in the median",
    ),
    "dictionary": (prints(SHOWN, "{'a': 1}"), SHOWN, "prints \"{'a': 1}\""),
    "list": (prints(SHOWN, "found [1, 2, 3]"), SHOWN, "prints '[1, 2, 3]'"),
    "names": (prints(SHOWN, "['a', 'b']"), SHOWN, "prints \"['a', 'b']\""),
    "repr": (prints(SHOWN, "np.float64(2.0)"), SHOWN, "prints 'np.float64('"),
    "teletype": (prints(SHOWN, "a\nb\nc\nd\n"), SHOWN, "prints 4 lines"),
    "three quizzes": (one_quiz_less, None, "has 3 quizzes, must have 4"),
    "a reason less": (
        replaced(QUIZZES, "2. Tails is tails.\n", "", 1),
        QUIZZES,
        "'Quiz: toss 0' has 2 options and 1 numbered reasons",
    ),
    "no options": (replaced(QUIZZES, "1. heads\n2. tails", "Guess.", 1), QUIZZES, "has 0 numbered options"),
    "no number": (replaced(QUIZZES, "**2.**", "Both.", 1), QUIZZES, "does not begin with the number"),
    "wrong number": (replaced(QUIZZES, "**2.**", "**3.**", 1), QUIZZES, "does not begin with the number"),
    "no answer": (replaced(QUIZZES, ":::{dropdown} Answer", ":::{note}", 1), QUIZZES, "has 0 dropdowns"),
    "long quiz": (
        replaced(QUIZZES, "Which", "word " * 70 + "Which", 1),
        QUIZZES,
        "words in view, at most 70",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_where_it_is(chapter: NotebookNode, fault: str) -> None:
    damage, cell, message = FAULTS[fault]
    damage(chapter)
    found = edition.findings("toy", chapter)
    assert any(at == cell and message in said_of_it for at, said_of_it in found), found


def long_code_in_a_solution(nb: NotebookNode) -> None:
    head, end, _ = nb.cells[TASKS].source.rpartition("\n```{solution-end}")
    nb.cells[TASKS].source = head
    nb.cells += [new_code_cell("x = 1\n" * 40), new_markdown_cell(f"{end.strip()}\n```")]


def a_match(nb: NotebookNode) -> None:
    quiz = "::::{admonition} Quiz: which coin\n:class: quiz match"
    rows = "- **a** gold\n- **b** copper\n\n1. yellow\n2. red"
    answer = ":::{dropdown} Answer\n**1 a, 2 b.** As seen.\n:::"
    one_quiz_less(nb)
    nb.cells[QUIZZES].source += f"\n\n{quiz}\n\nMatch them.\n\n{rows}\n\n{answer}\n::::"


ALLOWED = {
    "an interval": prints(SHOWN, "from 0.12 to 0.15, the interval [0.12, 0.15]\nat {1, 2}\n"),
    "three lines": prints(SHOWN, "a\nb\nc\n"),
    "twelve lines of a proof": replaced(HALF, "*Sketch.* By symmetry.\n\nLine 0.", "By symmetry."),
    "lecture notes": replaced(MORE, "There are", "There are the lecture notes, and lecturers;"),
    "formulas": replaced(MORE, "There are", "By $L7$ and $K.4$"),
    "a match": a_match,
    "four ways": mutants(*(["1", f"{i}", f"toss {i} coins"] for i in range(4))),
    "long code in a solution": long_code_in_a_solution,
    "the end of a solution": replaced(MORE, "```{index} coin", "```{solution-end}"),
    "a long table": replaced(MORE, "There are", "| a |\n|---|\n" + "| word word word word |\n" * 2000),
}


@pytest.mark.parametrize("change", ALLOWED)
def test_what_is_no_fault(chapter: NotebookNode, change: str) -> None:
    ALLOWED[change](chapter)
    assert edition.findings("toy", chapter) == []


def test_the_template_shows_one_quiz_and_one_exercise(chapter: NotebookNode) -> None:
    one_quiz_less(chapter)
    replaced(TASKS, "exercise-start} Coin 1", "note} Coin 1")(chapter)
    assert len(edition.findings("toy", chapter)) == 2
    assert edition.findings("_template", chapter) == []


def test_what_waits_is_told_with_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["edition", sorted(edition.waiting)[0]])
    assert edition.main() == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert all(line.startswith("chapters/") for line in lines)
    assert last == f"edition: {len(lines)} findings"


def test_the_check_of_notebooks_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a chapter of the book, and not of a notebook elsewhere."""
    path = tmp_path / "chapters" / "risk.ipynb"
    path.parent.mkdir()
    nb = notebooks.read(ROOT / "chapters" / "risk.ipynb")
    path.write_text(notebooks.text(nb), encoding="utf-8")
    monkeypatch.setattr(edition, "waiting", frozenset())
    assert notebooks.findings(path) == []
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(edition, "findings", lambda name, nb: [(None, f"{name} is long"), (2, "is short")])
    assert [found.partition(": ")[2] for found in notebooks.findings(path)] == ["risk is long", "is short"]


def test_a_pair_in_the_index_stands_alone():
    """After a type Sphinx takes the whole line for one entry; elsewhere in the line a type is a word."""
    faults = []
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for line in re.findall(r"```\{index\} ([^\"]*?)\\n", path.read_text(encoding="utf-8")):
            if "pair:" in line and (not line.startswith("pair:") or "," in line):
                faults.append(f"{path.name}: {line}")
    assert faults == []
