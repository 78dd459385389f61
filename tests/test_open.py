"""The page of open problems: complete, in order, with code that runs and the numbers of the chapters."""

import functools
import re
from pathlib import Path

import nbformat
import pytest

from tools import ledger
from tools.sphinx import open_problems

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "appendix" / "open.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block {i}" for i in range(1, len(BLOCKS) + 1)])
def test_the_code_runs(block: str) -> None:
    exec(compile(block, "appendix/open.md", "exec"), {})


def open_exercises() -> list[str]:
    """The labels of the exercises of published chapters whose title begins with Open."""
    result: list[str] = []
    for document in ledger.read(ROOT).documents:
        notebook = ROOT / f"{document}.ipynb"
        if notebook.exists():
            text = "\n".join(c.source for c in nbformat.read(notebook, as_version=4).cells)
            result += re.findall(r"\{exercise(?:-start)?\} Open\b.*\n:label: (\S+)", text)
    return result


def test_every_open_exercise_is_listed() -> None:
    labels = open_exercises()
    assert len(labels) > 15
    assert [label for label in labels if f"<{label}>`" not in PAGE] == []


HEADS = ("Problem", "Known", "Evidence", "To start", "Status")
PROBLEM = re.compile(
    r"^### (?P<title>.*?)\n+```{open-problem} (?P<chapter>\w+) (?P<kind>\w+)\n```\n"
    r"(?P<text>.*?)(?=^\(sec-open)",
    re.MULTILINE | re.DOTALL,
)
PROBLEMS = {found["title"]: found for found in PROBLEM.finditer(PAGE)}


def complaints(text: str) -> list[str]:
    """What is wrong with the form of a problem."""
    heads = tuple(re.findall(r"^\*\*([\w ]+)\.\*\*", text, re.MULTILINE))
    wrong = [] if heads == HEADS else [f"its paragraphs are {', '.join(heads)}"]
    code = text.partition("**To start.**")[2].partition("**Status.**")[0]
    return wrong + ([] if "\n```python\n" in code else ["there is no code to start with"])


@functools.cache
def exercises() -> dict[str, str]:
    """By label: an exercise with its solution, and what the cells between them print."""
    said: dict[str, list[str]] = {}
    for document in ledger.read(ROOT).documents:
        notebook = ROOT / f"{document}.ipynb"
        label = ""
        for cell in nbformat.read(notebook, as_version=4).cells if notebook.exists() else ():
            if cell.cell_type == "markdown" and (found := re.search(r"^:label: (ex-\S+)", cell.source, re.M)):
                label = found[1]
            printed = [output.get("text", "") for output in cell.get("outputs", ())]
            printed += ["".join(o.get("data", {}).get("text/plain", "")) for o in cell.get("outputs", ())]
            said.setdefault(label, []).extend([cell.source, *printed])
    return {label: "\n".join(texts) for label, texts in said.items()}


NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?!\w)|(?<![\w.])\d{2,}(?![\w.]*\d)")


def evidence(text: str) -> tuple[set[str], list[str]]:
    """The numbers of a problem's evidence, and the exercises that have computed them."""
    paragraph = text.partition("**Evidence.**")[2].partition("**To start.**")[0]
    return set(NUMBER.findall(paragraph)), re.findall(r"<(ex-[\w-]+)>`", paragraph)


def unsupported(text: str) -> set[str]:
    """The numbers that no cell of the exercises prints, and no solution says."""
    numbers, labels = evidence(text)
    return numbers - {number for label in labels for number in NUMBER.findall(exercises()[label])}


def test_problems_stand_in_the_order_of_the_book() -> None:
    chapters = ledger.read(ROOT).chapters
    places = [chapters.index(found["chapter"]) for found in PROBLEMS.values()]
    assert len(PROBLEMS) == PAGE.count("```{open-problem}") == 17
    assert places == sorted(places)
    assert {found["kind"] for found in PROBLEMS.values()} == set(open_problems.KINDS)


@pytest.mark.parametrize("title", PROBLEMS)
def test_a_problem_is_complete(title: str) -> None:
    assert complaints(PROBLEMS[title]["text"]) == []


@pytest.mark.parametrize("title", PROBLEMS)
def test_the_numbers_of_the_evidence_are_those_of_the_chapter(title: str) -> None:
    assert evidence(PROBLEMS[title]["text"])[1], "the evidence names no exercise"
    assert unsupported(PROBLEMS[title]["text"]) == set()


@pytest.mark.ci
def test_what_is_missing_is_found() -> None:
    text = PROBLEMS["Is the mistake bound attained with four classes?"]["text"]
    assert complaints(text.replace("**Known.**", "Known.")) == [
        "its paragraphs are Problem, Evidence, To start, Status"
    ]
    assert complaints(re.sub("```python.*?```", "", text, flags=re.DOTALL)) == [
        "there is no code to start with"
    ]
    assert unsupported(text.replace("0.64", "0.65")) == {"0.65"}
