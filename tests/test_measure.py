"""What is counted of a chapter, word by word; and that the reading by lines is that of the site's parser."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import ledger, measure, notebooks

CHAPTERS = notebooks.chapters()


# -- reading -----------------------------------------------------------------------------


def as_the_site_reads(source: str) -> list[tuple[str, str]]:
    """Headings, targets, and the directives that matter here, in order."""
    seen = []
    for kind, value in ledger.outline(source):
        if kind == "directive" and value[0] not in measure.OPAQUE:
            seen.append((value[0], value[2].get("label", "")))
        elif kind in ("heading", "target"):
            seen.append((kind, value))
    return seen


def as_it_is_measured(blocks: tuple[measure.Block, ...]) -> list[tuple[str, str]]:
    seen = []
    for block in blocks:
        if block.kind in ("heading", "target"):
            seen.append((block.kind, block.text))
        elif block.kind not in ("text", "display", "code", "html", "table", "comment"):
            seen.append((block.kind, block.options.get("label", "")))
        seen += as_it_is_measured(block.inside)
    return seen


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_reading_by_lines_finds_what_the_parser_of_the_site_finds(path: Path) -> None:
    found = 0
    for cell in notebooks.read(path).cells[2:]:
        if cell.cell_type == "markdown":
            expected = as_the_site_reads(cell.source)
            assert as_it_is_measured(measure.blocks(cell.source)) == expected
            found += len(expected)
    assert found > 20


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("one\ntwo\n\nthree", ["text", "text"]),
        ("$$\nx\n$$ (eq-one)\nafter", ["display", "text"]),
        ("$$ x $$\n$$ y $$", ["display", "display"]),
        ("\\begin{align}\nx\n\\end{align}\nafter", ["display", "text"]),
        ("```{math}\nx\n```", ["display"]),
        ("```python\nx = 1\n```", ["code"]),
        ("```{index} a; b\n```\n(sec-a)=\n## A", ["comment", "target", "heading"]),
        ("| a | b |\n|---|---|\n| c | d |\n\nafter", ["table", "text"]),
        ("```{list-table} Title\n* - one\n  - two\n```", ["list-table"]),
        ('<div class="mc-widget">\n<p>text</p>\n</div>\n\nafter', ["html", "text"]),
        ("a < b\n<b>bold</b> text", ["text"]),
        ("text\n<div>\nmore\n</div>", ["text", "html"]),
        ("text\n| a |\n|---|\n| b |", ["text", "table"]),
        ("| a bar at the start of a line", ["text"]),
        ("#5 is no heading\n# 5 is one", ["text", "heading"]),
        ("% a comment\n+++\n", ["comment", "comment"]),
        (":::{note}\nnever closed", ["note"]),
        ("- item\n\n  $$\n  x\n  $$", ["text", "display"]),
    ],
)
def test_blocks(source: str, kinds: list[str]) -> None:
    assert [block.kind for block in measure.blocks(source)] == kinds


def test_a_directive_has_options_and_an_inside() -> None:
    (quiz,) = measure.blocks(
        "::::{admonition} Which?\n:class: quiz match\n\nOne.\n\n:::{dropdown} Answer\n*1.*\n:::\n::::"
    )
    assert (quiz.kind, quiz.title, quiz.options) == ("admonition", "Which?", {"class": "quiz match"})
    assert [(block.kind, block.title) for block in quiz.inside] == [("text", ""), ("dropdown", "Answer")]
    assert quiz.has_class("quiz")
    assert not quiz.has_class("qui")


@pytest.mark.parametrize(
    ("text", "words", "formulas"),
    [
        ("one-vs-all, e.g. Lu's 0.5 – and 1,000 times", 7, 0),
        ("with $k = 3$ and $n$-fold", 3, 2),
        ("a price of \\$5 and \\$6", 6, 0),
        ("{prf:ref}`thm-x` and {ref}`three words here <sec-x>`", 5, 0),
        ("{ref}`E-K.4 <erratum-e-k-4>`", 1, 0),
        ("[two words](https://example.org/a-b) and `code()`", 4, 0),
        ("*emphasised* **words** and <br> a tag", 5, 0),
        ("1. an item", 3, 0),
        ("– … ± ×", 0, 0),
    ],
)
def test_words_and_formulas(text: str, words: int, formulas: int) -> None:
    assert (measure.words(text), measure.formulas(text)) == (words, formulas)


# -- counting ----------------------------------------------------------------------------

TEXT = """# One

(sec-toy)=
two three $x$

:::{prf:theorem} four
:label: thm-toy
five
$$
y
$$
:::

:::{prf:proof}
*Sketch.* six

a b c
:::

:::{dropdown} seven
d $z$
:::"""

QUIZ = """::::{admonition} eight
:class: quiz
nine

1. x

:::{dropdown} Answer
e f
:::
::::"""

# words: Story has One .. nine and Sketch, 1, x, Answer: 13
STORY, FULL = 13, 13 + 3 + 1 + 2


def toy(*more: NotebookNode, **metadata: Any) -> NotebookNode:
    cells = [
        new_markdown_cell("---\nmath: {}\n---", metadata={"tags": ["remove-cell"]}),
        new_markdown_cell(TEXT, metadata=metadata),
        new_markdown_cell(QUIZ),
    ]
    return new_notebook(cells=[*cells, *more])


def markdown(text: str, **metadata: Any) -> NotebookNode:
    return new_markdown_cell(text, metadata=metadata)


def code(source: str, *tags: str, printed: str = "", **metadata: Any) -> NotebookNode:
    outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
    return new_code_cell(source, metadata={"tags": list(tags), **metadata}, outputs=outputs)


def words(nb: NotebookNode) -> tuple[int, int]:
    measures = measure.measure(nb)
    return measures.story_words, measures.full_words


def test_story_has_what_is_seen_and_full_what_is_folded_too() -> None:
    assert words(toy()) == (STORY, FULL)


def test_of_a_folded_section_story_has_heading_and_gist() -> None:
    folded = markdown("## g h\n\ni j\n\n### k\n\nl", layer="detail", gist="m n.")
    inside = markdown("### o\n\np q")
    after = markdown("## r\n\ns")
    assert words(toy(folded, inside, after)) == (STORY + 4 + 2, FULL + 8 + 3 + 2)
    # one that is marked inside of it does not open it again
    parts = [markdown("### k\n\nl", layer="beyond", gist="m."), markdown("### n\n\no")]
    assert words(toy(markdown("## g\n\nh", layer="detail", gist="i."), *parts)) == (STORY + 2, FULL + 7)
    # a heading of a higher level ends it too, in the same cell
    assert words(toy(markdown("### g\n\nh\n\n## i\n\nj", layer="beyond"))) == (STORY + 3, FULL + 4)


def test_captions_count_and_code_tables_and_solutions_do_not() -> None:
    figure = {"figure": {"caption": "g h", "name": "fig-toy"}, "image": {"alt": "not this"}}
    solution = "```{solution-start} ex-toy\n:label: sol-toy\n```\ng h\n"
    uncounted = [
        code("x = 1  # a comment", printed="words"),
        markdown("| g | h |\n|---|---|\n| i | j |"),
        markdown("```{image} file name.svg\n```"),
        markdown("```{list-table}\n* - g\n  - h\n```\n\n<div>g h</div>\n\n```\ng h\n```\n\n% g h"),
        markdown(solution),
        code("y = 1"),
        markdown("g h\n```{solution-end}\n```"),
    ]
    assert words(toy(code("plot", "hide-input", mystnb=figure), *uncounted)) == (STORY + 2, FULL + 2)
    assert words(toy(*uncounted, markdown("g"))) == (STORY + 1, FULL + 1)


def test_only_a_proof_that_begins_with_its_sketch_shows_it() -> None:
    assert words(toy(markdown(":::{prf:proof}\n*Sketch.* g\n\n*Sketch.* h\n:::"))) == (STORY + 2, FULL + 4)


def layer(**counts: int) -> measure.Layer:
    return measure.Layer(**counts)


def test_minutes_are_made_of_words_formulas_and_code() -> None:
    assert layer(words=150 * 20).minutes == 20
    assert layer(formulas=20 * 20).minutes == 20
    assert layer(displays=4 * 20).minutes == 20
    assert layer(lines=15 * 20).minutes == 20
    assert layer(words=150 * 5, formulas=100, displays=20, lines=75).minutes == 20
    assert layer().minutes == 5
    assert (layer(words=150 * 22).minutes, layer(words=150 * 23).minutes) == (20, 25)


SECTIONS = """# A title

{one}

(sec-toy-a)=
## A

{two}

### A, more

{three}

(sec-toy-b)=
## B

{four}

## C

{five}"""


@pytest.mark.parametrize(
    ("first", "last", "minutes"),
    [
        ("", "", 15),
        ("sec-toy-a", "sec-toy-a", 5),
        ("sec-toy-a", "sec-toy-b", 9),
        ("sec-toy-b", "sec-toy-b", 4),
    ],
)
def test_sections_have_minutes_of_their_own(first: str, last: str, minutes: int) -> None:
    numbers = {
        name: " ".join(["word"] * 150 * n)
        for n, name in enumerate(("one", "two", "three", "four", "five"), 1)
    }
    nb = new_notebook(cells=[new_markdown_cell(SECTIONS.format(**numbers))])
    assert round(measure.story_seconds(nb, first, last) / 60) == minutes


@pytest.mark.parametrize(("first", "last"), [("sec-toy-x", "sec-toy-a"), ("sec-toy-b", "sec-toy-a")])
def test_a_section_that_is_not_there_has_no_minutes(first: str, last: str) -> None:
    with pytest.raises(ValueError, match=f"'{last}' at or after a section '{first}'"):
        measure.story_seconds(new_notebook(cells=[new_markdown_cell(SECTIONS)]), first, last)


def test_what_the_minutes_are_made_of() -> None:
    story, full = measure.Layer(), measure.Layer()
    for piece in measure.pieces(toy(code("a = 1\n\nb = 2"), code("c = 3", "hide-input"), code("import d"))):
        full.add(piece)
        if not piece.folded:
            story.add(piece)
    assert story == layer(words=STORY, formulas=1, displays=1, lines=2)
    assert full == layer(words=FULL, formulas=2, displays=1, lines=2)


FIGURE = {"figure": {"caption": "", "name": "fig-toy"}}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], None),
        ([code("plot", mystnb=FIGURE)], STORY),
        ([code("plot", "remove-output", mystnb=FIGURE)], None),
        ([markdown("a\n\n```{figure} file.svg\nb\n```")], STORY + 1),
        ([markdown('<div class="mc-widget" data-widget="x"></div>')], STORY),
        ([markdown("![a](b.png)")], STORY),
        ([code('HTML(f\'<div class="mc-widget" data-widget="x">{rows}</div>\')', "hide-input")], STORY),
        ([markdown("## A\n\n![a](b.png)", layer="detail", gist="b"), code("plot", mystnb=FIGURE)], None),
        ([markdown("## A", layer="detail"), markdown("## B"), code("plot", mystnb=FIGURE)], STORY + 2),
        ([markdown(":::{dropdown} a\n![a](b.png)\n:::")], None),
    ],
)
def test_words_before_the_first_picture_that_is_seen(cells: list[NotebookNode], expected: int | None) -> None:
    assert measure.measure(toy(*cells)).before_picture == expected


def test_proofs_quizzes_and_exercises_are_counted() -> None:
    exercises = "```{exercise-start} a\n```\nb\n```{exercise-end}\n```\n\n```{exercise}\nc\n```"
    measures = measure.measure(toy(markdown(":::{prf:proof}\na *Sketch.*\n:::"), markdown(exercises)))
    assert (measures.proofs, measures.sketched, measures.quizzes, measures.exercises) == (2, 1, 1, 2)


def test_a_statement_is_breakable_if_a_mutant_of_it_has_words() -> None:
    witness = code(
        "assert 1 + 2 == 3",
        "witness",
        witnesses=["thm-a", "thm-b", "thm-c"],
        mutants=[["1", "2", "more", "thm-b"], ["2", "1"], ["3", "4"]],
    )
    again = code("assert 1", "witness", witnesses=["thm-a"], mutants=[["1", "0", "less"]])
    measures = measure.measure(toy(witness))
    assert (measures.statements, measures.breakable) == (3, 1)
    assert measure.worded(toy(witness, again)) == {"thm-b": ["more"], "thm-a": ["less"]}


@pytest.mark.parametrize(
    ("cell", "teletype"),
    [
        (code("print()", printed="a\nb\nc\n"), False),
        (code("print()", printed="a\nb\nc\nd\n"), True),
        (code("print()", "remove-output", printed="a\nb\nc\nd\n"), False),
        (code("print()", printed="{'a': 1}"), True),
        (code("print()", printed="{1, 2} and [0.1, 0.2]"), False),
        (code("print()", printed="[1, 2, 3]"), True),
        (code("print()", printed="['a']"), True),
        (code("print()", printed="np.float64(0.5)"), True),
        (code("print()", printed="array([1, 2])"), True),
        (code("print()", printed="<mcutils.Thing object at 0x7f>"), True),
    ],
)
def test_teletype(cell: NotebookNode, teletype: bool) -> None:
    assert measure.is_teletype(cell) == teletype
    assert measure.measure(toy(cell)).teletype == teletype


@pytest.mark.parametrize(
    ("source", "shown", "teletype"),
    [
        ("plot.table(rows, heads, caption='c')", "c\n\na  b\n----\n1  2", False),
        ("table(rows, heads, caption='c')", "c\n\na  b\n----\n1  2", False),
        ("x = plot.table(rows, heads, caption='c')\nx.rows", "1\n2\n3\n4", True),
        ("table(rows)[0]", "1\n2\n3\n4", True),
        ("x", "<Figure size 640x480 with 1 Axes>", False),
        ("x", "{'a': 1}", True),
    ],
)
def test_tables_and_figures_are_no_teletype(source: str, shown: str, teletype: bool) -> None:
    cell = code(source)
    cell.outputs = [new_output("execute_result", data={"text/plain": shown})]
    assert measure.is_teletype(cell) == teletype
    assert measure.printed(cell, tables=True) == ("" if shown.startswith("<Figure") else shown)


STATEMENT = ":::{prf:theorem}\n:label: thm-x\na\n:::"
PROOF = ":::{prf:proof}\nb\n:::"
LECTURES = ":::{dropdown} In the five lectures\nc\n:::"
SOLUTION = ["```{solution-start} ex-x\n```\nd", "e\n```{solution-end}\n```"]
WITNESS = code("f", "witness", "hide-input", witnesses=["thm-x"], mutants=[], printed="holds")


@pytest.mark.parametrize(
    ("cells", "apart", "together"),
    [
        ([], 0, 0),
        ([markdown(STATEMENT), WITNESS], 1, 1),
        ([markdown(f"{STATEMENT}\n\n{PROOF}\n\n{LECTURES}"), WITNESS], 3, 1),
        ([markdown(f"{STATEMENT}\n\nthen\n\n{PROOF}"), WITNESS, markdown(LECTURES)], 3, 1),
        ([markdown(f"{STATEMENT}\n\n{PROOF}\n\nthen\n\n{LECTURES}\n\n{LECTURES}")], 2, 2),
        ([markdown(f"{STATEMENT}\n\n{PROOF}\n\n:::{{dropdown}} More\nc\n:::")], 2, 2),
        ([code("g", "hide-input"), code("h", "hide-input"), code("i")], 2, 2),
        ([code("g", "hide-input"), markdown("between"), code("h", "hide-input")], 1, 1),
        ([code("g", "hide-input"), markdown("(target)=\n% comment"), code("h", "hide-input")], 2, 2),
        ([code("g", "hide-input"), code("h", "hide-input", mystnb=FIGURE)], 1, 1),
        ([code("g", "hide-input"), code("table(x)", "hide-input")], 1, 1),
        ([code("g", "remove-cell"), code("h", "remove-input")], 0, 0),
        ([code("import g"), code("h", "hide-input")], 2, 2),
        (
            [markdown(SOLUTION[0]), code("i", "hide-input"), markdown(SOLUTION[1]), code("j", "hide-input")],
            2,
            2,
        ),
    ],
)
def test_the_longest_run_of_fold_bars(cells: list[NotebookNode], apart: int, together: int) -> None:
    nb = new_notebook(cells=copy.deepcopy(cells))
    assert measure.measure(nb).bars == apart
    nb.cells.insert(0, markdown("# A", chapter={}))
    assert measure.measure(nb).bars == together


def test_in_a_run_the_sketch_of_a_proof_is_something_to_read() -> None:
    sketched = markdown(f":::{{prf:proof}}\n*Sketch.* a\n\nb\n:::\n\n{PROOF}")
    assert measure.measure(new_notebook(cells=[code("g", "hide-input"), sketched])).bars == 2


# -- the command -------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr("sys.argv", ["measure", *arguments])
    assert measure.main() == 0
    return capsys.readouterr().out


def test_the_command_prints_a_table_in_the_order_of_the_book(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(monkeypatch, capsys).splitlines()
    heads, rule, *rows = lines[2:-2]
    assert heads.split()[:2] == ["chapter", "Story"]
    assert set(rule) <= {"-", " "}
    names = [row.split()[0] for row in rows]
    assert (names[0], names[-2], names[-1]) == ("risk", "background", "all")
    book = [path for path in CHAPTERS if not path.stem.startswith("_")]
    assert sorted(names[:-1]) == [path.stem for path in book]
    total = sum(measure.measure(notebooks.read(path)).story_words for path in book)
    assert rows[-1].split()[1] == f"{total:,}"


def test_the_command_writes_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    written = json.loads(run(monkeypatch, capsys, "--json", "risk"))
    assert list(written) == ["risk"]
    assert measure.Measures(**written["risk"]) == measure.measure(notebooks.read(notebooks.find("risk")))
