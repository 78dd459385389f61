"""Formulas are typeset while the site is built; one that cannot be is an error with its place."""

import html
import re
from pathlib import Path

import nbformat
import pytest
from mini_book import copy_to, python

from tools import notebooks
from tools.sphinx import katex

# what the build has to refuse, with what it says
FAULTS = {
    r"\nosuchmacro{x}": "Undefined control sequence: \\nosuchmacro",
    r"\frac{1": "Unexpected end of input",
    r"\href{https://example.org}{x}": "\\href is not allowed",
    r"\begin{align} a &= b \end{align}": "`align` numbers itself",
}

FORMULAS = r"""# Formulas, even $\R$ in a title

## A section on $\norm{x}$

```{math}
:label: eq-formulas-first
\E \abs{x} \le 1
```

```{math}
:label: eq-formulas-second
\begin{aligned} a &= b \\ c &= d \end{aligned}
```

See {eq}`eq-formulas-second` of class ($\inner{u}{v}$), not {eq}`eq-formulas-first`. And

\begin{align*}
  a &= b \\
  c &= \sign(d).
\end{align*}

$$
e &= \argmax_y f(y) \\
g &= h
$$

| a table | $\ind{y = 1}$ |
|---------|---------------|
| $x < y$ | `code`        |

:::{prf:theorem} On $\Yset$
:label: thm-formulas-title

In $\Xset$.
:::

:::{exercise} Of $\floor{x}$
:label: ex-formulas
Show $\ceil{x}$.
:::
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A small book with a page of formulas and a page of faults: its pages, and what the build said."""
    book = copy_to(tmp_path_factory.mktemp("book"))
    (book / "appendix" / "formulas.md").write_text(FORMULAS, encoding="utf-8")
    cells = [nbformat.v4.new_markdown_cell("# Faults")]
    cells += [nbformat.v4.new_markdown_cell(f"A line.\n\n$${tex}$$") for tex in FAULTS]
    cells += [nbformat.v4.new_markdown_cell(r"## A title with $\nosuchtitle$")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), book / "chapters" / "faults.ipynb")
    toc = "format: jb-book\nroot: index\nchapters:\n"
    toc += "".join(
        f"  - file: {page}\n" for page in ("appendix/formulas", "chapters/faults", "appendix/status")
    )
    (book / "_toc.yml").write_text(toc, encoding="utf-8")
    run = python(book, "tools.site", "build")
    assert run.returncode == 1, run.stdout
    return book / "_build" / "html", run.stderr


@pytest.fixture(scope="module")
def page(build: tuple[Path, str]) -> str:
    """The page without faults."""
    return (build[0] / "appendix" / "formulas.html").read_text(encoding="utf-8")


def letters(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", text))


@pytest.mark.ci
def test_every_fault_is_reported_once_with_place_and_formula(build: tuple[Path, str]):
    complaints = build[1]
    for cell, (tex, complaint) in enumerate(FAULTS.items(), start=2):
        expected = f"chapters/faults.ipynb, cell {cell}, line 3: WARNING: {complaint}"
        assert re.search(rf"{re.escape(expected)}[^\n]*, in the formula\n{re.escape(tex)}\n", complaints), (
            expected,
            complaints,
        )
        assert complaints.count(complaint) == 1
    assert re.search(r"faults\.ipynb, cell 6, line 1: WARNING: .*nosuchtitle, in the formula", complaints)
    assert complaints.count("in the formula") == len(FAULTS) + 1
    assert "formulas.md" not in complaints


@pytest.mark.ci
def test_all_formulas_are_typeset_with_the_books_macros(page: str):
    written = [katex.plain(formula) for formula in re.findall(r"<math.*?</math>", page, re.DOTALL)]
    for said in ("R", "∥x∥", "⟨u,v⟩", "1[y=1]", "x<y", "Y", "⌊x⌋", "⌈x⌉"):
        assert said in written
    assert "<annotation" not in page
    # \R is a letter, \sign a word, and no other formula is left as TeX
    assert re.search(r'<span class="mathbb">R</span>', page)
    assert ">sign<" in page
    assert not re.search(r"\\[A-Za-z(\[]", letters(page.split("<article")[1].split("</article")[0]))


@pytest.mark.ci
def test_numbers_and_references(page: str):
    for number, label in ((1, "first"), (2, "second")):
        assert (
            f'<span class="eqno">({number})<a class="headerlink" href="#equation-eq-formulas-{label}" '
            'title="Link to this equation">#</a></span>'
        ) in page
        assert f'id="equation-eq-formulas-{label}"' in page
        reference = re.search(
            rf'<a class="reference internal" href="#equation-eq-formulas-{label}">(.*?)</a>', page
        )
        assert reference is not None
        assert letters(reference[1]) == f"({number})"
    assert page.count('class="eqno"') == 2


@pytest.mark.ci
def test_browser_title_has_letters_only(page: str):
    assert "<title>Formulas, even R in a title &#8212;" in page


@pytest.mark.ci
def test_comma_and_brackets_stay_beside_the_formula(page: str):
    assert re.search(
        r'<span class="beside-formula">\(<span class="math[^>]*><span class="katex">.*?</span>\),</span> not',
        page,
    )


@pytest.mark.ci
def test_stylesheet_and_fonts_are_in_the_site(build: tuple[Path, str], page: str):
    assert re.search(r'<link [^>]*href="\.\./_static/book\.bundle\.css\?v=', page)
    assert 'url("katex/fonts/' in (build[0] / "_static" / "book.bundle.css").read_text(encoding="utf-8")
    folder = build[0] / "_static" / "katex"
    stylesheet = (folder / "katex.min.css").read_text(encoding="utf-8")
    fonts = re.findall(r"url\(([^)]+)\)", stylesheet)
    assert len(fonts) == len(set(fonts)) == 20
    assert all(name.endswith(".woff2") and (folder / name).is_file() for name in fonts)
    assert (folder / "LICENSE").is_file()


@pytest.mark.ci
def test_pages_ask_no_other_host(build: tuple[Path, str]):
    for path in build[0].rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        foreign = r'<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"'
        assert re.findall(foreign, text) == [], path
        assert not re.search(r"mathjax|cdn", text, re.IGNORECASE), path


@pytest.mark.parametrize("macro", notebooks.macros())
def test_every_macro_of_the_table_can_be_typeset(macro: str):
    body = "x" + macro if macro == r"\T" else macro
    assert 'class="katex"' in katex.typeset(body + "{a}{b}", display=False)


def test_a_formula_defines_nothing_for_the_next():
    katex.typeset(r"\gdef\leaked{1}\leaked", display=False)
    with pytest.raises(katex.FormulaError, match=r"Undefined control sequence: \\leaked"):
        katex.typeset(r"\leaked", display=False)


def test_readme_names_the_vendored_version():
    readme = (katex.VENDORED / "README.md").read_text(encoding="utf-8")
    script = (katex.VENDORED / "katex.min.js").read_text(encoding="utf-8")
    version = re.search(r"# KaTeX ([\d.]+)", readme)
    assert version is not None
    assert f'"{version[1]}"' in script
