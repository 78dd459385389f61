"""The site: it shows outputs of the present code, and no error gets past its build."""

import re
import shutil
from pathlib import Path

import pytest
from mini_book import FIXTURE, copy_to, python

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book, executed and built."""
    book = copy_to(tmp_path_factory.mktemp("book"), "toy")
    written = python(book, "tools.notebooks", "write")
    assert written.returncode == 0, written.stderr
    run = python(book, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    # executed once already: its outputs were kept
    assert "to be executed" not in run.stdout
    return book


@pytest.fixture(scope="module")
def page(built: Path) -> str:
    """The chapter of the small book as HTML."""
    return (built / "_build" / "html" / "chapters" / "toy.html").read_text(encoding="utf-8")


def test_page_shows_outputs_and_figures(page: str):
    assert ">4242\n" in page
    assert re.search(r'<img [^>]*alt="Two straight lines that cross[^>]*\.png"', page)
    assert "Fig. 1.1" in page
    assert "Theorem 1.1" in page


def test_page_shows_a_table_of_results_as_one(page: str):
    assert '<table class="results sortable"' in page
    assert "after 3 tosses  " not in page  # as it is printed
    assert re.search(r'<script[^>]* src="[^"]*/tables\.js', page)


def test_page_hides_first_cells_and_has_the_macros(page: str):
    assert "sys.path" not in page
    assert re.search(r'<span class="[^"]*\bmathbb\b[^"]*">R</span>', page)


def test_margin_notes_folded_solutions_and_quizzes(page: str):
    assert '<aside class="margin sidebar">' in page
    assert 'class="solution dropdown admonition"' in page
    assert 'class="quiz admonition"' in page
    assert "<details" in page


def test_page_loads_nothing_from_elsewhere(page: str):
    assert re.findall(r'<(?:script|link|img)\b[^>]*(?:src|href)="(https?://[^"]+)"', page) == []
    assert "thebe" not in page


def test_an_empty_field_of_the_foot_shows_nothing(page: str):
    assert "version 0" in page[page.index('<div class="book-footer">') :]
    assert "Report an error" not in page
    assert "Repository" not in page


def test_status_page_lists_times_and_versions(built: Path):
    status = (built / "_build" / "html" / "appendix" / "status.html").read_text(encoding="utf-8")
    counts, seconds = r"(\s*<td[^>]*><p>\d+</p></td>){3}", r"\s*<td[^>]*><p>\d+\.\d</p>"
    assert re.search(rf"A toy chapter[^\n]*</td>{counts}{seconds}", status)
    assert "numpy" in status


def test_nothing_changed_nothing_built(built: Path):
    index = built / "_build" / "html" / "index.html"
    before = index.stat().st_mtime_ns
    run = python(built, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    assert "up to date" in run.stdout
    assert index.stat().st_mtime_ns == before


@pytest.fixture
def book(built: Path, tmp_path: Path) -> Path:
    """A copy of the small book with everything that was built, to be changed."""
    return shutil.copytree(built, tmp_path / "book")


def test_page_follows_the_helpers(book: Path):
    """An older number is never served: the chapter itself has not changed, its helper has."""
    helper = book / "mcutils" / "ecoc.py"
    helper.write_text(helper.read_text(encoding="utf-8").replace("4242", "2424"), encoding="utf-8")
    run = python(book, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    assert "to be executed: chapters/toy.ipynb" in run.stdout
    page = (book / "_build" / "html" / "chapters" / "toy.html").read_text(encoding="utf-8")
    assert ">2424\n" in page
    assert "4242" not in page


OTHER = """# Another page

It names {ref}`sec-toy-sums` and cites {cite}`euclid`.

:::{prf:theorem} Another
:label: thm-other

It says less than {prf:ref}`thm-toy-sum`.
:::

```{index} a term of the index
```
"""


def files_of(site: Path) -> dict[str, bytes]:
    files = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in files}


def test_a_change_of_a_sentence_gives_the_site_of_a_clean_build(book: Path):
    (book / "other.md").write_text(OTHER, encoding="utf-8")
    toc = (book / "_toc.yml").read_text(encoding="utf-8")
    toc = toc.replace("file: appendix/status", "file: appendix/status\n      - file: other")
    (book / "_toc.yml").write_text(toc, encoding="utf-8")
    config = (book / "_config.yml").read_text(encoding="utf-8")
    (book / "_config.yml").write_text(config.replace("appendix/status: S", "other: O"), encoding="utf-8")
    assert python(book, "tools.site", "build").returncode == 0
    site, toy = book / "_build" / "html", book / "chapters" / "toy.ipynb"

    def build_after(old: str, new: str) -> str:
        text = toy.read_text(encoding="utf-8")
        assert text.count(old) == 1
        toy.write_text(text.replace(old, new), encoding="utf-8")
        run = python(book, "tools.site", "build")
        return run.stdout + run.stderr

    assert "Built" in build_after("By counting.", "By counting on one hand.")
    log = (book / "_build" / "site.log").read_text(encoding="utf-8")
    log = re.sub(r"\x1b\[[0-9;]*m", "", log)
    assert "0 added, 2 changed" in log  # the chapter, and the page that counts what it states
    assert "now-outdated files... none found" in log
    small = files_of(site)
    assert b"By counting on one hand." in small["chapters/toy.html"]
    assert b"Theorem O.1" in small["other.html"]
    (book / "_build" / "site.json").unlink()
    assert python(book, "tools.site", "build").returncode == 0
    assert small.keys() == files_of(site).keys()
    assert [name for name, content in files_of(site).items() if small[name] != content] == []

    # a title that another page shows changes there too, and a label that it names may not go
    assert "Built" in build_after("## Sums", "## Totals")
    assert "Totals" in (site / "other.html").read_text(encoding="utf-8")
    complaint = build_after("(sec-toy-sums)=", "(sec-toy-totals)=")
    assert re.search(r"other\.md:3: WARNING: undefined label: 'sec-toy-sums'", complaint)


def test_every_fault_is_reported_with_its_place_also_the_second_time(book: Path):
    shutil.copy(FIXTURE / "chapters" / "faulty.ipynb", book / "chapters")
    toc = (FIXTURE / "_toc.yml").read_text(encoding="utf-8")
    toc = toc.replace("file: chapters/toy", "file: chapters/toy\n      - file: chapters/faulty")
    (book / "_toc.yml").write_text(toc, encoding="utf-8")
    helper = book / "mcutils" / "ecoc.py"
    helper.write_text(helper.read_text(encoding="utf-8").replace("4242", "4242 + x"), encoding="utf-8")
    for _ in range(2):  # Sphinx by itself would find nothing to say the second time
        run = python(book, "tools.site", "build")
        assert run.returncode == 1, run.stdout
        for line in (
            # a broken helper
            r"chapters/toy\.ipynb, cell 4 .*: NameError: name 'x' is not defined",
            # a failing cell, a bad citation, a bad reference
            r"chapters/faulty\.ipynb, cell 2 \(numerator = 1\): ZeroDivisionError: division by zero",
            r"chapters/faulty\.ipynb, cell 1, line 3: WARNING: could not find bibtex key .nobody.",
            r"chapters/faulty\.ipynb, cell 3, line 1: WARNING: undefined label: 'sec-faulty-nowhere'",
        ):
            assert re.search(line, run.stderr), (line, run.stderr)
