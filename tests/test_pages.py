"""Every page: what search engines, screen readers and slow lines need of it."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tinycss2
import yaml
from mini_book import ROOT, copy_to, python

from tools.sphinx.bundle import used

REPOSITORY = "https://github.com/somebody/book"

PAGE = """# A page with everything

Short.

- A list is no running text.

A page has a description, made of its first sentences, and $x \\le y$ comes into it as letters. This
sentence, which is much longer than what is left, does not fit any more.

:::{prf:theorem}
:label: thm-one

One.
:::

:::{prf:proof}
First.
:::

:::{prf:proof}
Second.
:::

:::{exercise}
:label: ex-one

One.
:::

:::{exercise}
:label: ex-two

Two.
:::

| $x_M$ | words |
|---|---|
| 1 | {cite}`euclid` |

```{chapter-figure} fig-toy-lines
*Drawn* by the chapter.
```
"""

OWN = """---
myst:
  html_meta:
    description: What the author wants to be found under, in words that no paragraph of the page has.
---

# A page that describes itself

Something else.
"""


class Page(HTMLParser):
    """The elements of a page: names and attributes, in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.elements if t == tag and wanted.items() <= a.items()]

    def figures(self) -> list[dict[str, str | None]]:
        """The images but the theme's."""
        return [a for a in self.all("img") if "Binder" not in (a["alt"] or "")]

    def description(self) -> str:
        (meta,) = self.all("meta", name="description")
        return meta["content"] or ""


def add_pages(book: Path, **pages: str) -> None:
    toc = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    for name, text in pages.items():
        (book / "appendix" / f"{name}.md").write_text(text, encoding="utf-8")
        toc["parts"][-1]["chapters"].append({"file": f"appendix/{name}"})
    (book / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book with an address, built."""
    book = copy_to(tmp_path_factory.mktemp("book"), "toy")
    config = yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))
    config["sphinx"]["config"]["html_theme_options"]["repository_url"] = REPOSITORY
    (book / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    add_pages(book, everything=PAGE, own=OWN)
    written = python(book, "tools.notebooks", "write")
    assert written.returncode == 0, written.stderr
    run = python(book, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    return book


@pytest.fixture(scope="module")
def pages(book: Path) -> dict[str, Page]:
    html = book / "_build" / "html"
    result = [p for p in html.rglob("*.html") if "_static" not in p.parts]
    return {p.relative_to(html).with_suffix("").as_posix(): Page(p) for p in result}


@pytest.mark.ci
def test_every_page_has_a_description_of_its_own(pages: dict[str, Page]):
    descriptions = [page.description() for page in pages.values()]
    assert len(set(descriptions)) == len(descriptions) >= 6
    assert all(50 <= len(text) <= 160 for text in descriptions), descriptions
    assert pages["appendix/everything"].description() == (
        "Short. A page has a description, made of its first sentences, and x≤y comes into it as letters."
    )
    assert pages["appendix/own"].description().startswith("What the author wants")
    # and nobody's description is lost where nobody wrote one
    assert "A small book" in pages["index"].description()


@pytest.mark.ci
def test_titles_and_languages(pages: dict[str, Page]):
    for name, page in pages.items():
        assert page.all("html", lang="en"), name
        assert len(page.all("h1")) == 1, name
    assert pages["index"].text.count("<title>Multi-Class Classification — Theorems You Can Run</title>") == 1


@pytest.mark.ci
def test_no_id_twice_and_no_role_that_is_withdrawn(pages: dict[str, Page]):
    for name, page in pages.items():
        ids = [a["id"] for _, a in page.elements if "id" in a]
        assert len(set(ids)) == len(ids), (name, [i for i in ids if ids.count(i) > 1])
        assert "doc-biblioentry" not in page.text
    assert pages["index"].all("div", role="listitem")


@pytest.mark.ci
def test_a_formula_at_the_head_of_a_column_has_a_name(pages: dict[str, Page]):
    assert pages["appendix/everything"].all("math", **{"aria-label": "xM"})


@pytest.mark.ci
def test_icons_are_few_and_all_of_them_are_there(book: Path, pages: dict[str, Page]):
    static = book / "_build" / "html" / "_static"
    assert "icons/book-icons.woff2" in (static / "book.css").read_text(encoding="utf-8")
    assert (static / "icons" / "LICENSE").is_file()
    used = {
        icon
        for page in pages.values()
        for _, a in page.elements
        if re.search(r"\bfa[sbr]?\b|\bfa-(solid|brands|regular)\b", a.get("class") or "")
        for icon in re.findall(r"\bfa-[a-z-]+", a["class"] or "")
    } - {"fa-solid", "fa-lg"}
    theme = (static / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    read_me = (ROOT / "web" / "vendor" / "fontawesome" / "README.md").read_text(encoding="utf-8")
    kept = set(re.findall(r"\bf[0-9a-f]{3}\b", read_me))
    assert {"fa-sun", "fa-magnifying-glass", "fa-download"} <= used
    for icon in used:
        glyph = re.search(rf'\.{icon}::?before[^{{}}]*{{content:"\\?(\w+)"', theme)
        assert glyph, icon
        assert glyph[1] in kept, icon


@pytest.mark.ci
def test_no_page_loads_what_only_some_readers_need(pages: dict[str, Page]):
    for name, page in pages.items():
        scripts = [a["src"] or "" for a in page.all("script") if "src" in a]
        assert not [s for s in scripts if "fontawesome" in s]
        if name != "search":
            assert not [s for s in scripts if "searchindex" in s], name
            waited_for = [a["src"] for a in page.all("script") if "src" in a and "defer" not in a]
            assert waited_for == [], name
            assert "const DOCUMENTATION_OPTIONS" in page.text


@pytest.mark.ci
def test_one_stylesheet_with_all_that_it_names(book: Path, pages: dict[str, Page]):
    static = book / "_build" / "html" / "_static"
    links = {
        re.sub(r".*_static/|\?.*", "", a["href"] or "")
        for page in pages.values()
        for a in page.all("link", rel="stylesheet")
    }
    assert links == {"book.bundle.css"}
    css = (static / "book.bundle.css").read_text(encoding="utf-8")
    assert "@import" not in css
    assert "@charset" not in css
    assert "#pst-back-to-top{" in css  # of book.css, and of the theme:
    assert ".bd-sidebar" in css
    assert ".sd-tab-set" in "".join(p.read_text(encoding="utf-8") for p in static.rglob("*.css"))
    assert ".sd-tab-set" not in css  # no page has tabs
    addresses = {a for a in re.findall(r'url\(["\']?([^"\')]+)', css) if not a.startswith(("data:", "#"))}
    assert {"icons/book-icons.woff2", "katex/fonts/KaTeX_Main-Regular.woff2"} <= addresses
    assert [a for a in addresses if not (static / a).is_file()] == []


CSS = """
@charset "utf-8";
.here, .nowhere, h1 > .also-nowhere { color: red; /* why */ margin: 0 }
.nowhere a { color: red }
a:not(.nowhere), p:is(.nowhere, [title=".nowhere"]) { top: 0 }
.a\\:b { top: 1px }
@media print { #here { top: 2px } #nowhere { top: 3px } }
@media print { .nowhere { top: 4px } }
@font-face { font-family: nowhere; src: url("x.woff2") }
"""


def test_rules_that_can_match_nothing_are_left_out():
    rules = tinycss2.parse_stylesheet(CSS, skip_comments=True, skip_whitespace=True)
    assert list(used(rules, {"here", "a", "b", "a:b"})) == [
        '@charset "utf-8";',
        ".here{color: red;  margin: 0}",
        'a:not(.nowhere),p:is(.nowhere, [title=".nowhere"]){top: 0}',
        ".a\\:b{top: 1px}",
        "@media print {#here{top: 2px}}",
        '@font-face { font-family: nowhere; src: url("x.woff2") }',
    ]
    with pytest.raises(ValueError, match="at line 1"):
        list(used(tinycss2.parse_stylesheet("}"), set()))


@pytest.mark.ci
def test_icon_of_the_site(book: Path, pages: dict[str, Page]):
    for page in pages.values():
        (icon,) = page.all("link", rel="icon")
        assert (icon["href"] or "").endswith("favicon.svg")
    assert (book / "_build" / "html" / "_static" / "favicon.png").is_file()


@pytest.mark.ci
def test_figures_have_their_place_before_they_come(pages: dict[str, Page]):
    (figure,) = pages["chapters/toy"].figures()
    assert figure["loading"] == "lazy"
    assert int(figure["width"] or 0) > int(figure["height"] or 0) > 100


@pytest.mark.ci
def test_a_figure_of_a_chapter_on_another_page(pages: dict[str, Page]):
    (there,) = pages["chapters/toy"].figures()
    (here,) = pages["appendix/everything"].figures()
    assert here["alt"] == there["alt"]
    assert (here["width"], here["height"]) == (there["width"], there["height"])
    assert "loading" not in here  # nothing stands above it that would be further up
    assert "<em>Drawn</em> by the chapter." in pages["appendix/everything"].text


@pytest.mark.ci
def test_every_chapter_can_be_downloaded_and_run(book: Path, pages: dict[str, Page]):
    links = [a["href"] or "" for a in pages["chapters/toy"].all("a")]
    assert f"https://mybinder.org/v2/gh/{REPOSITORY[-13:]}/main?urlpath=lab/tree/chapters/toy.ipynb" in links
    assert "../_sources/chapters/toy.ipynb" in links
    downloaded = book / "_build" / "html" / "_sources" / "chapters" / "toy.ipynb"
    assert downloaded.read_bytes() == (book / "chapters" / "toy.ipynb").read_bytes()


def test_what_binder_needs_is_there():
    """It installs the lock, which has no mcutils, and postBuild adds it."""
    binder = ROOT / "binder"
    assert "-r ../requirements.lock" in (binder / "requirements.txt").read_text(encoding="utf-8")
    assert re.fullmatch(r"python-3\.1[1-3]\n?", (binder / "runtime.txt").read_text(encoding="utf-8"))
    assert "pip install --no-deps" in (binder / "postBuild").read_text(encoding="utf-8")


@pytest.mark.ci
def test_an_image_without_alternative_text_fails_the_build(book: Path, tmp_path: Path):
    copied = shutil.copytree(book, tmp_path / "book")
    shutil.copy(ROOT / "web" / "readme.png", copied / "appendix")
    add_pages(
        copied,
        images="# Images\n\nText.\n\n![](readme.png)\n\n![A decoder](readme.png)\n\n"
        '<img src="readme.png" alt="">\n\n<img src="readme.png" alt="A decoder">\n',
        nowhere="# Nowhere\n\n```{chapter-figure} fig-toy-nowhere\n```\n",
    )
    chapter = copied / "chapters" / "toy.ipynb"
    nb = json.loads(chapter.read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["metadata"].get("mystnb", {}).pop("image", None)
    chapter.write_text(json.dumps(nb), encoding="utf-8")
    run = python(copied, "tools.site", "build")
    assert run.returncode == 1, run.stdout
    missing = "WARNING: an image without alternative text"
    for place in ("appendix/images.md:5", "appendix/images.md:9", r"chapters/toy.ipynb, cell 7, line \d+"):
        assert re.search(f"{place}: {missing}", run.stderr), (place, run.stderr)
    assert run.stderr.count(missing) == 4, run.stderr  # that of the chapter also where it is shown again
    assert "no cell of a chapter has the figure 'fig-toy-nowhere'" in run.stderr
