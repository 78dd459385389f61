"""Execute, rewrite and check the notebooks: the chapters, and the recipes.

    python -m tools.notebooks write [names…]    execute and rewrite (make notebooks)
    python -m tools.notebooks check [names…]    check without executing (part of make check)

A name is that of a topic (`ecoc`), of a recipe (`text`) or a path; without names, all of them.

They are committed with the text that their cells print and with execution counts 1..n,
without images and HTML and with little metadata, so that a change of a number is a line in a diff.
`check` finds what differs from that form, and what strict nbval lets pass: a cell that was
never run, a figure without alternative text, a witness that names no mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import gc
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbval.plugin import coalesce_streams  # type: ignore[import-untyped]

from tools import breaks, constants, edition, forked, parts, recipes, stored
from tools.stored import ROOT

# Where notebooks lie, one level below the root: the first cell counts on it. pyproject.toml names them too.
FOLDERS = ("chapters", "recipes")

SECONDS_A_CELL = 300

# What numba compiles anew is no output of a notebook: kernels inherit this, forked ones and others.
os.environ.setdefault("MCUTILS_QUIET", "1")

SETUP = """\
import sys
from pathlib import Path

# Run from the repository, its own mcutils comes before an installed one.
if Path("../mcutils/__init__.py").exists():
    sys.path.insert(0, str(Path("..").resolve()))"""

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

# the metadata that a cell may have; `check` refuses everything else, so that a slip of the pen is seen
KEYS = {
    *("tags", "mystnb", "witnesses", "mutants", "no-witness", "no-proof"),
    *("chapter", "layer", "gist"),
}
TAGS = {
    "witness",
    "remove-cell",
    "remove-input",
    "remove-output",
    "hide-cell",
    "hide-input",
    "hide-output",
    "full-width",
    "margin",
}

# what editors leave behind; `write` drops it
LEFT_BY_EDITORS = {
    "ExecuteTime",
    "collapsed",
    "editable",
    "execution",
    "jupyter",
    "scrolled",
    "slideshow",
    "trusted",
}

# each of these comments would let a cell differ from what is committed
NBVAL_MARKERS = re.compile(r"^\s*#\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)\b", re.MULTILINE)

# a repr that stands in the notebook for a figure: matplotlib's, or IPython's wrapper of an image
FIGURE_REPR = re.compile(r"<(Figure |IPython\.core\.display\.(SVG|Image) )")
# what IPython writes beside HTML of which it knows nothing
HTML_REPR = "<IPython.core.display.HTML "

SHORTEST_ALT = 40  # "A plot of the error." says nothing to somebody who cannot see it


class CellError(Exception):
    """A cell of a chapter raised, wrote to stderr, took too long or killed its kernel."""

    def __init__(self, path: Path, index: int, cell: NotebookNode, error: str):
        self.index = index
        self.headline = f"{shown(path)}, {place(index, cell)}: {error.strip().splitlines()[-1]}"
        super().__init__(f"{self.headline}\n\n{indent(cell.source)}\n\n{error.strip()}")


def shown(path: Path) -> str:
    """The path as a reader of the repository would type it."""
    path = path.resolve()
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def place(index: int, cell: NotebookNode) -> str:
    """Where a cell is: its position counted from 1, and what it begins with."""
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "empty")
    return f"cell {index + 1} ({first[:40].rstrip()}{'…' if len(first) > 40 else ''})"


def indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def code_cells(nb: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """The code cells with their positions among all cells."""
    return ((i, cell) for i, cell in enumerate(nb.cells) if cell.cell_type == "code")


# -- the two first cells -----------------------------------------------------------------


@functools.cache
def macros() -> dict[str, str]:
    """The table of web/macros.yml: `\\name` to TeX."""
    table: dict[str, str] = yaml.safe_load((ROOT / "web" / "macros.yml").read_text(encoding="utf-8"))
    return table


def macros_source() -> str:
    """The first cell of a chapter: JupyterLab reads the macros there, the site does not show it."""
    lines = [f"  '{name}': '{tex}'" for name, tex in macros().items()]
    return "\n".join(["---", "math:", *lines, "---"])


def is_macros(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and cell.source.startswith("---\nmath:")


def is_setup(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and "remove-cell" in tags(cell) and "sys.path" in cell.source


def set_first_cells(nb: NotebookNode) -> None:
    """Put the macros and the setup cell first, or bring them up to date."""
    rest = [c for i, c in enumerate(nb.cells) if not (i < 2 and (is_macros(c) or is_setup(c)))]
    first = next(filter(is_macros, nb.cells[:2]), nbformat.v4.new_markdown_cell(id="macros"))
    second = next(filter(is_setup, nb.cells[:2]), nbformat.v4.new_code_cell(id="setup"))
    first.source, second.source = macros_source(), SETUP
    first.metadata, second.metadata = (nbformat.from_dict({"tags": ["remove-cell"]}) for _ in range(2))
    nb.cells = [first, second, *rest]


# -- the form in which notebooks are committed -------------------------------------------


def read(path: Path) -> NotebookNode:
    """Read a notebook; a cell without an id, or with another cell's, gets one from its text.

    nbformat would draw a random one, so that rewriting would never come to rest.
    """
    raw = json.loads(path.read_text(encoding="utf-8"))
    taken: set[str] = set()
    for cell in raw["cells"]:
        wanted = cell.get("id")
        if wanted is None or wanted in taken:
            text = "".join(cell["source"])
            candidates = (hashlib.sha256(f"{i}{text}".encode()).hexdigest()[:8] for i in range(10**6))
            wanted = next(candidate for candidate in candidates if candidate not in taken)
        cell["id"] = wanted
        taken.add(wanted)
    raw["nbformat"], raw["nbformat_minor"] = 4, 5
    return nbformat.reads(json.dumps(raw), as_version=4)


def normalise(nb: NotebookNode) -> None:
    """Bring a notebook to the committed form; leaves its text and its code alone."""
    nb.metadata = nbformat.from_dict(METADATA)
    nb.cells = [cell for cell in nb.cells if cell.cell_type != "code" or cell.source.strip()]
    set_first_cells(nb)
    for cell in nb.cells:
        for name in LEFT_BY_EDITORS & cell.metadata.keys():
            del cell.metadata[name]
    for count, (_, cell) in enumerate(code_cells(nb), start=1):
        cell.execution_count = count
        cell.outputs = coalesce_streams(cell.outputs)
        for output in cell.outputs:
            if "data" in output:
                output.metadata = NotebookNode()
                for mime in [m for m in output.data if m.startswith("image/")]:
                    del output.data[mime]
                if "text/plain" in output.data:  # a table's: that is what is compared
                    output.data.pop("text/html", None)
            if output.output_type == "execute_result":
                output.execution_count = count


def text(nb: NotebookNode) -> str:
    """The bytes of a notebook, one way to write each."""
    return nbformat.writes(nb, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


# -- execution ---------------------------------------------------------------------------


class Run(NamedTuple):
    """What an execution of a notebook gives."""

    outputs: list[Any]  # one list per code cell
    broken: dict[str, list[str]]  # what the mutants with words have found, by the id of their cell
    seconds: float  # without the mutants


def execute(path: Path, nb: NotebookNode) -> Run:
    """Run the code cells of `nb` in the notebook's folder, and then the mutants that have words."""
    run = copy.deepcopy(nb)
    broken = list(breaks.spoken(nb))
    run.cells += [
        nbformat.v4.new_code_cell(mutant.source(cell), metadata={"tags": ["raises-exception"]})
        for cell, mutant in broken
    ]
    begun: list[int] = []
    times: list[float] = []

    def begin(cell: NotebookNode, cell_index: int) -> None:
        begun.append(cell_index)
        times.append(time.perf_counter())

    client = NotebookClient(
        run,
        kernel_name=METADATA["kernelspec"]["name"],
        timeout=SECONDS_A_CELL,
        resources={"metadata": {"path": str(path.resolve().parent)}},
        extra_arguments=["--log-level=ERROR"],  # a kernel's warnings about itself help nobody here
        store_widget_state=False,
        record_timing=False,
        on_cell_execute=begin,
    )
    start = time.perf_counter()
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
        cell = run.cells[begun[-1]]
        raised = [line for o in cell.outputs if o.output_type == "error" for line in o.traceback]
        if not isinstance(problem, CellExecutionError):  # what the cell raised when it was stopped
            raised = []
        error = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(raised) or str(problem))
        raise CellError(path, begun[-1], cell, error) from None
    times.append(time.perf_counter())
    own = len(nb.cells)
    own_end = next((at for index, at in zip(begun, times, strict=False) if index >= own), times[-1])
    sentences = []
    for (cell, mutant), mutated in zip(broken, run.cells[own:], strict=True):
        errors = [(o.ename, o.evalue) for o in mutated.outputs if o.output_type == "error"]
        try:
            name, said = errors[0] if errors else ("", "")
            sentences.append(breaks.sentence(name, said, mutant.label))
        except breaks.Silent as silent:
            message = f"with {mutant.old!r} replaced by {mutant.new!r} ({mutant.words}) it {silent}"
            raise CellError(path, nb.cells.index(cell), cell, message) from None
    del run.cells[own:]
    for index, cell in code_cells(run):
        for output in cell.outputs:
            if output.get("name") == "stderr":
                message = f"{output.text}\nwrote to stderr; silence the cause, or print what matters"
                raise CellError(path, index, cell, message)
    outputs = [coalesce_streams(cell.outputs) for _, cell in code_cells(run)]
    return Run(outputs, breaks.by_cell(nb, sentences), own_end - start)


def execute_and_save(path: Path, nb: NotebookNode) -> float:
    """Execute, put the outputs into `nb`, keep them for the site; the seconds that it took."""
    key = stored.key(nb)
    run = execute(path, nb)
    stored.put(nb, run.outputs)
    if stored.key(nb) == key:  # else the helpers were edited meanwhile: whose outputs are these?
        stored.save(path, run.outputs, run.seconds, key, run.broken)
    return run.seconds


def two_at_a_time(job: Callable[[Path], Any], paths: Iterable[Path]) -> Iterator[tuple[Path, Any]]:
    """Yield each path with the result of `job`, or with the CellError that it raised."""

    def caught(path: Path) -> tuple[Path, Any]:
        try:
            return path, job(path)
        except CellError as error:
            return path, error

    with forked.prepared(), ThreadPoolExecutor(max_workers=2) as pool:
        yield from pool.map(caught, paths)


def rewrite(path: Path) -> str:
    """Execute one notebook and write it in the committed form; return what happened."""
    nb = read(path)
    normalise(nb)
    seconds = execute_and_save(path, nb)
    normalise(nb)
    new = text(nb).encode()
    changed = path.read_bytes() != new
    if changed:
        path.write_bytes(new)
    return f"{shown(path)}: {'rewritten' if changed else 'unchanged'} ({seconds:.1f} s)"


def write(paths: list[Path]) -> int:
    """Execute and rewrite; a notebook that raises is left as it was. Exit status."""
    failed = 0
    for _, result in two_at_a_time(rewrite, paths):
        if isinstance(result, CellError):
            failed += 1
            print(f"{result}\n\nNot written: {result.headline}\n", file=sys.stderr)
        else:
            print(result)
    return 1 if failed else 0


# -- check -------------------------------------------------------------------------------


def findings(path: Path) -> list[str]:
    """Everything that is wrong with a notebook as it stands, without running it."""
    try:
        nb = read(path)
    except (ValueError, KeyError) as problem:  # not JSON, or not a notebook
        return [f"{shown(path)}: not a notebook ({problem})"]
    found = [f"{shown(path)}: {message}" for message in _form(path, nb)]
    figures: dict[str, str] = {}
    shaped = True
    found += [f"{shown(path)}, {message}" for message in _counts(nb)]
    for index, cell in enumerate(nb.cells):
        messages = list(_metadata(cell))
        if messages:  # all further rules rely on metadata of the right shape
            shaped = False
        else:
            if cell.cell_type == "code":
                messages += [*_code(cell), *_outputs(cell), *_witness(cell)]
                messages += _figure(cell, path.stem.lstrip("_"), figures, place(index, cell))
            else:
                messages += _prose(cell)
        found += [f"{shown(path)}, {place(index, cell)}: {message}" for message in messages]
    if shaped and path.resolve().parent == ROOT / "chapters":
        for at, message in [*constants.untried(nb), *edition.findings(path.stem, nb)]:
            where = "" if at is None else f", {place(at, nb.cells[at])}"
            found.append(f"{shown(path)}{where}: {message}")
    if shaped and path.resolve().parent == ROOT / "recipes":
        found += [f"{shown(path)}: {message}" for message in recipes.findings(nb)]
    return found


# sphinx-proof writes the word "Proof." before the first line of a proof, which must be one of a paragraph.
BLOCK_FIRST = re.compile(r":::+\{prf:proof\}[^\n]*\n(?::\w+:[^\n]*\n)*\s*((?:\d+\. |[-*|#] |\$\$|```|:::).*)")


def _prose(cell: NotebookNode) -> Iterator[str]:
    if "attachments" in cell:
        yield "holds an attached image; compute the figure in a code cell"
    for block in BLOCK_FIRST.findall(cell.source):
        yield f"a proof begins with {block[:30]!r}, which would become running text: put a sentence before it"


def _form(path: Path, nb: NotebookNode) -> Iterator[str]:
    if not (len(nb.cells) > 1 and is_macros(nb.cells[0]) and nb.cells[0].source == macros_source()):
        yield "the first cell does not hold the macros of web/macros.yml; run `make notebooks`"
    if not (len(nb.cells) > 1 and is_setup(nb.cells[1]) and nb.cells[1].source == SETUP):
        yield "the second cell is not the setup cell that finds mcutils; run `make notebooks`"
    normal = copy.deepcopy(nb)
    normalise(normal)
    expected, present = text(normal), path.read_bytes().decode()
    if present == expected:
        return
    both = zip(present.splitlines(), expected.splitlines(), strict=False)
    for number, (here, wanted) in enumerate(both, start=1):
        if here != wanted:
            yield (
                f"line {number} of the file is {here.strip()[:60]!r}, in the committed form "
                f"{wanted.strip()[:60]!r}; run `make notebooks`"
            )
            return
    yield "differs at its end or in its line ends from the committed form; run `make notebooks`"


def _metadata(cell: NotebookNode) -> Iterator[str]:
    for name in sorted(cell.metadata.keys() - KEYS):
        yield f"unknown metadata {name!r}; allowed are {', '.join(sorted(KEYS))}"
    for name in ("tags", "witnesses"):
        value = cell.metadata.get(name, [])
        if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            yield f"metadata {name!r} is {value!r}; it must be a list of strings"
        elif name == "tags":
            for tag in sorted(set(value) - TAGS):
                yield f"unknown tag {tag!r}; allowed are {', '.join(sorted(TAGS))}"
    for name in ("no-witness", "no-proof"):
        value = cell.metadata.get(name, {})
        if not (isinstance(value, dict) and all(isinstance(v, str) and v.strip() for v in value.values())):
            yield f"metadata {name!r} is {value!r}; it must map labels to reasons"
    if "chapter" in cell.metadata:
        if cell.cell_type != "markdown" or not re.search(r"^# ", cell.source, re.MULTILINE):
            yield "metadata 'chapter' belongs to the cell with the chapter's title"
        yield from parts.complaints(cell.metadata.chapter)


def _code(cell: NotebookNode) -> Iterator[str]:
    if not cell.source.strip():
        yield "empty code cell; delete it"
        return
    try:
        ast.parse(cell.source)
    except SyntaxError as problem:
        yield (
            f"not plain Python ({problem.msg} in its line {problem.lineno}); "
            "magics such as %pip and !command do not belong into a chapter"
        )
    if cell.source.rstrip().endswith(";"):
        yield "ends with ';', which hides nothing under nbval; assign to _ instead"
    if marker := NBVAL_MARKERS.search(cell.source):
        yield f"holds {marker.group(1)}, which switches the comparison of outputs off; remove it"


def _counts(nb: NotebookNode) -> Iterator[str]:
    cells = [(count, *found) for count, found in enumerate(code_cells(nb), start=1)]
    wrong = [entry for entry in cells if entry[2].execution_count != entry[0]]
    if wrong:  # one finding: after a cell was inserted, all that follow are wrong
        count, index, cell = wrong[0]
        more = f", and {len(wrong) - 1} cells after it are off too" if len(wrong) > 1 else ""
        yield (
            f"{place(index, cell)}: execution count is {cell.execution_count}, should be {count}{more}; "
            "run `make notebooks`"
        )


def _outputs(cell: NotebookNode) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"its output is an error ({output.ename}); make it run, then `make notebooks`"
        if output.get("name") == "stderr":
            yield f"wrote to stderr ({output.text.strip()[:60]!r}); silence the cause, then `make notebooks`"
        data = output.get("data", {})
        words = data.get("text/plain", "")
        if words.startswith(HTML_REPR) or ("text/html" in data and not words):
            yield "displays HTML that has no text beside it, so that nothing is compared; use plot.table"
        elif "text/html" in data:
            yield "holds the HTML of a table; chapters are committed with its text: `make notebooks`"
        for mime in data:
            if mime.startswith("image/"):
                yield f"holds an {mime} output; chapters are committed without images: `make notebooks`"


def _witness(cell: NotebookNode) -> Iterator[str]:
    tagged = "witness" in tags(cell)
    if tagged != ("witnesses" in cell.metadata) or tagged != ("mutants" in cell.metadata):
        yield (
            "the tag 'witness' and the metadata 'witnesses' (labels) and 'mutants' ([old, new] pairs) "
            f"go together; found tags {tags(cell)} and metadata {sorted(cell.metadata.keys())}"
        )
    if not tagged:
        return
    if not cell.metadata.get("witnesses", ["given elsewhere"]):
        yield "'witnesses' is empty; name the labels of the statements that this cell checks"
    mutants = cell.metadata.get("mutants", [])
    well = [
        m for m in mutants if isinstance(m, list) and 2 <= len(m) <= 4 and all(isinstance(s, str) for s in m)
    ]
    if len(well) != len(mutants):
        yield (
            f"'mutants' is {mutants!r}; each must be a pair [old, new] of strings, or have two more: "
            "its words, and the label of the statement that it breaks"
        )
        return
    yield from breaks.malformed(cell)
    pairs = {(old, new): None for old, new, *_ in well}
    if len(pairs) < 2:
        yield f"has {len(pairs)} mutants; at least two different ones that make the claim false"
    for old, new in pairs:
        times = cell.source.count(old) if old else 0
        if times != 1:
            yield f"mutant {old!r} → {new!r}: {old!r} occurs {times} times in the cell, must occur once"
        elif old == new:
            yield f"mutant {old!r} → {new!r} changes nothing"
        else:
            try:
                ast.parse(cell.source.replace(old, new))
            except SyntaxError as problem:
                yield f"mutant {old!r} → {new!r} is not Python any more ({problem.msg})"


def _figure(cell: NotebookNode, topic: str, seen: dict[str, str], where: str) -> Iterator[str]:
    hidden = {"remove-cell", "remove-output"} & set(tags(cell))
    reprs = [o.get("data", {}).get("text/plain", "") for o in cell.outputs]
    figures = sum(bool(FIGURE_REPR.match(r)) for r in reprs)
    if hidden or not (figures or "plot.show(" in cell.source):
        return
    if figures > 1:
        yield f"displays {figures} figures, which share one caption; one cell for each"
    image = cell.metadata.get("mystnb", {}).get("image", {})
    figure = cell.metadata.get("mystnb", {}).get("figure", {})
    alt, caption, name = image.get("alt", ""), figure.get("caption", ""), figure.get("name", "")
    if len(alt) < SHORTEST_ALT:
        yield (
            f"the figure's alternative text (metadata mystnb.image.alt) is {alt!r}; say in at least "
            f"{SHORTEST_ALT} characters what is to be seen"
        )
    elif alt == caption:
        yield "the figure's alternative text repeats its caption; say what is to be seen"
    if not caption:
        yield "the figure has no caption (metadata mystnb.figure.caption)"
    if not name.startswith(f"fig-{topic}-"):
        yield f"the figure's name (metadata mystnb.figure.name) is {name!r}; must begin with fig-{topic}-"
    elif name in seen:
        yield f"the figure's name {name!r} is taken by {seen[name]}"
    seen.setdefault(name, where)


def check(paths: list[Path]) -> int:
    """Print every finding. Exit status."""
    gc.disable()  # for a second, in which thousands of syntax trees come and go
    found = [message for path in paths for message in findings(path)]
    found += parts.problems(parts.read(ROOT))
    for message in found:
        print(message, file=sys.stderr)
    print(f"notebooks: {len(paths)} checked, {len(found)} findings")
    return 1 if found else 0


# -- the command -------------------------------------------------------------------------


def chapters() -> list[Path]:
    """The chapters, published or not, and the template of a new one."""
    return listed("chapters")


def listed(*folders: str, root: Path = ROOT) -> list[Path]:
    """The notebooks of some folders of `root`, by default of all that have notebooks."""
    return [path for folder in folders or FOLDERS for path in sorted((root / folder).glob("*.ipynb"))]


def find(name: str) -> Path:
    """The notebook of a topic's or a recipe's name, or of a path."""
    for path in (Path(name), ROOT / name, *(ROOT / folder / f"{name}.ipynb" for folder in FOLDERS)):
        if path.suffix == ".ipynb" and path.is_file() and path.resolve().is_relative_to(ROOT):
            return path
    have = ", ".join(path.stem for path in listed()) or "none yet"
    raise argparse.ArgumentTypeError(f"no notebook {name!r}; there are: {have}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description="Execute or check.")
    parser.add_argument("command", choices=["write", "check"])
    parser.add_argument("names", nargs="*", type=find, help="ecoc, or a path; all notebooks if none")
    arguments = parser.parse_args()
    paths = arguments.names or listed()
    return write(paths) if arguments.command == "write" else check(paths)


if __name__ == "__main__":
    sys.exit(main())
