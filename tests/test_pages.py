"""Every page: what search engines, screen readers and slow lines need of it."""

import json
import re
import shutil
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tinycss2
import yaml
from mini_book import ROOT, copy_to, python
from py_mini_racer import MiniRacer

from tools import parts
from tools.sphinx import figures, guesses
from tools.sphinx.bundle import used
from tools.sphinx.pages import parts_of

REPOSITORY = "https://github.com/somebody/book"
SITE = "https://somebody.example/book/"

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

```{math}
:label: eq-one
1 = 1
```

| $x_M$ | words | $y_M$ |
|---|---|:--|
| 1 | {cite}`euclid` | 2 |

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

Something else, with {prf:ref}`thm-one`, {eq}`eq-one` and {ref}`ex-two`.
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

    def properties(self) -> dict[str, str]:
        """What other sites show of the page."""
        named = {a.get("property") or a.get("name") or "": a.get("content") or "" for a in self.all("meta")}
        return {name: named[name] for name in named if name.startswith(("og:", "twitter:"))}

    def about(self) -> str:
        """What the first page says of the book."""
        return self.text[self.text.index('<dl class="simple about-book">') : self.text.index("</dl>")]

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
    settings = config["sphinx"]["config"]
    settings["html_theme_options"]["repository_url"] = REPOSITORY
    settings["html_context"]["book"] = {"authors": "Ada & Bob", "report": "mailto:ada@example.org"}
    settings["html_baseurl"] = SITE
    settings["chapter_letters"] = {"appendix/everything": "E"}
    (book / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    add_pages(book, everything=PAGE, own=OWN)
    with (book / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n```{about-book}\n```\n")
    written = python(book, "tools.notebooks", "write")
    assert written.returncode == 0, written.stderr
    run = python(book, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    return book


def read(book: Path) -> dict[str, Page]:
    html = book / "_build" / "html"
    result = [p for p in html.rglob("*.html") if "_static" not in p.parts]
    return {p.relative_to(html).with_suffix("").as_posix(): Page(p) for p in result}


@pytest.fixture(scope="module")
def pages(book: Path) -> dict[str, Page]:
    return read(book)


@pytest.mark.ci
def test_links_to_another_page_have_their_cards(book: Path):
    script = (book / "_build/html/_static/cards/appendix/everything.js").read_text(encoding="utf-8")
    assert [
        anchor for anchor in ("thm-one", "ex-two", "equation-eq-one") if f'"{anchor}":' not in script
    ] == []


@pytest.mark.ci
def test_every_page_has_a_description_of_its_own(pages: dict[str, Page]):
    descriptions = [page.description() for page in pages.values()]
    assert len(set(descriptions)) == len(descriptions) >= 6
    assert all(50 <= len(text) <= 160 for text in descriptions), descriptions
    assert pages["appendix/everything"].description() == (
        "Short. A page has a description, made of its first sentences, and x≤y comes into it as letters."
    )
    assert pages["appendix/own"].description().startswith("What the author wants")
    assert pages["chapters/toy"].description().startswith("What a small book can show.")
    # and nobody's description is lost where nobody wrote one
    assert "A small book" in pages["index"].description()


def test_descriptions_that_somebody_wrote_have_room():
    found = {}
    for folder in (".", "parts", "appendix"):
        for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md"):
            text = path.read_text(encoding="utf-8")
            if text.startswith("---\n"):
                front = yaml.safe_load(text.split("---\n")[1])
                found[path.stem] = front["myst"]["html_meta"]["description"]
    chapters = [chapter for part in parts.read(ROOT) for chapter in part.chapters]
    found |= {chapter.name: chapter.sentence for chapter in chapters if chapter.sentence}
    assert {"index", "path", "errata", "risk"} <= found.keys()
    assert {name: len(text) for name, text in found.items() if not 50 <= len(text) <= 160} == {}
    assert len(set(found.values())) == len(found)


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
    for name in ("xM", "yM"):  # also where the column is aligned
        assert pages["appendix/everything"].all("math", **{"aria-label": name})


@pytest.mark.ci
def test_a_page_without_a_number_has_its_letter(pages: dict[str, Page]):
    there, elsewhere = pages["appendix/everything"].text, pages["appendix/own"].text
    assert '<h1><span class="section-number">E. </span>A page with everything' in there
    assert '<span class="caption-number">Theorem E.1 </span>' in there
    assert '<span class="eqno">(E.1)' in there
    assert "Exercise E.2" in there
    for text in (">Theorem E.1<", ">(E.1)<", ">Exercise E.2<", ">E. A page with everything<"):
        assert text in elsewhere, text  # the last in the contents
    assert '<span class="caption-number">Theorem 1.1 </span>' in pages["chapters/toy"].text


@pytest.mark.ci
def test_contents_fold_by_part_and_name_the_book_once(pages: dict[str, Page]):
    def folds(name: str) -> list[bool]:
        return ["open" in a for a in pages[name].all("details", **{"class": "bd-part"})]

    assert (folds("chapters/toy"), folds("appendix/own")) == ([True, False], [False, True])
    assert folds("index") == [False, False]
    for page in pages.values():
        start = page.text.index('class="bd-sidebar-primary')
        sidebar = page.text[start : page.text.index("<main", start)]
        assert sidebar.count("Theorems You Can Run") == 1
        assert re.findall(r"<summary>(.*?)</summary>", sidebar) == ["Fixtures", "Back matter"]


def test_a_list_without_a_caption_belongs_to_the_part_before_it():
    """A part of a page of its own and of numbered chapters: Sphinx lists them one after the other."""
    caption = '<p aria-level="2" class="caption" role="heading"><span class="caption-text">{}</span></p>'
    one, two = caption.format("One"), caption.format("Two")
    contents = f'{one}<ul>a</ul><ul><li class="toctree-l1 current">b</li></ul>{two}<ul>c</ul><ul>d</ul>'
    assert parts_of(contents) == [
        ("One", '<ul>a</ul><ul><li class="toctree-l1 current">b</li></ul>', True),
        ("Two", "<ul>c</ul><ul>d</ul>", False),
    ]


@pytest.mark.ci
def test_the_foot_of_a_page_has_what_the_configuration_says(pages: dict[str, Page]):
    released = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["date-released"]
    for page in [page for name, page in pages.items() if name != "index"]:
        foot = page.text[page.text.index('<div class="book-footer">') :]
        assert "By Ada &amp; Bob" in foot
        assert re.search(rf"version [\w.]+ of {released}\.", foot)
        assert '<a href="mailto:ada@example.org">Report an error</a>' in foot
        assert f'<a href="{REPOSITORY}">Repository</a>' in foot


@pytest.mark.ci
def test_the_first_page_says_what_the_configuration_says(pages: dict[str, Page]):
    released = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["date-released"]
    about = pages["index"].about()
    assert "<dt>Authors</dt><dd>Ada &amp; Bob</dd>" in about
    assert f" of {released}, of the book" in about
    assert re.search(rf"Ada &amp; Bob\. <cite>Multi-Class .*</cite>, version [\w.]+, {released[:4]}\.", about)
    addresses = re.findall('href="(.*?)"', about)
    assert addresses == [SITE, REPOSITORY, "mailto:ada@example.org"]
    assert "book-footer" not in pages["index"].text  # which would say it once more


@pytest.mark.ci
def test_other_sites_have_a_title_a_description_and_a_picture_to_show(book: Path, pages: dict[str, Page]):
    for name in pages.keys() - {"search", "genindex"}:
        shown = pages[name].properties()
        (heading,) = re.findall(r'<h1>(.*?)<a class="headerlink"', pages[name].text)
        assert shown["og:title"] == re.sub("<.*?>", "", heading)
        assert shown["og:description"] == pages[name].description()
        assert shown["og:url"] == f"{SITE}{name}.html"
        assert shown["twitter:card"] == "summary_large_image"
        assert shown["og:image"].startswith(SITE)
        assert (book / "_build" / "html" / shown["og:image"].removeprefix(SITE)).is_file()
        assert shown["og:image:alt"]
        assert (shown["og:image:width"], shown["og:image:height"]) == ("1200", "630")
    assert pages["index"].properties()["og:type"] == "website"
    assert pages["chapters/toy"].properties()["og:type"] == "article"


@pytest.mark.ci
def test_fields_that_are_empty_show_nothing(book: Path, tmp_path: Path):
    copied = shutil.copytree(book, tmp_path / "book")
    config = yaml.safe_load((copied / "_config.yml").read_text(encoding="utf-8"))
    settings = config["sphinx"]["config"]
    real = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    for name in ("html_theme_options", "html_context", "html_baseurl"):
        settings[name] = real[name]
    (copied / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    run = python(copied, "tools.site", "build")
    assert run.returncode == 0, run.stderr
    for name, page in read(copied).items():
        for gone in ("Ada", "Report an error", "Repository", "mybinder", "canonical", "og:image", SITE):
            assert gone not in page.text, (name, gone)
        if name not in ("search", "genindex"):
            assert page.properties()["twitter:card"] == "summary"
            assert page.properties()["og:description"] == page.description()
    about = read(copied)["index"].about()
    assert re.findall("<dt>(.*?)</dt>", about) == ["Version", "Licence", "Cite as"]
    assert "href" not in about


def test_the_book_names_its_empty_fields_for_whoever_publishes_it():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    fields = [*settings["html_context"]["book"], "repository_url", "html_baseurl"]
    assert "repository_url" in settings["html_theme_options"]
    assert "html_baseurl" in settings
    read_me = (ROOT / "README.md").read_text(encoding="utf-8")
    list_of_fields = read_me[read_me.index("Whoever publishes the site") :].split("\n## ")[0]
    for field in fields:
        assert re.search(rf"`(book: )?{field}`", list_of_fields), field


@pytest.mark.ci
def test_a_page_is_light_until_a_script_says_otherwise(pages: dict[str, Page]):
    for page in pages.values():
        assert page.all("html", **{"data-theme": "light"})


WIDGET = """<figure class="align-default" id="fig-a"><a href="a"><img src="a.svg" alt="A line" /></a></figure>
<div class="mc-widget" data-a='{"sign": ">"}' data-fallback="fig-a"><div><p>Words.</p></div></div>
<div class="mc-widget"><table><tr><td>1</td></tr></table></div>
<div>after</div>"""


def test_an_interactive_figure_holds_a_still_one(caplog: pytest.LogCaptureFixture):
    context = {"body": WIDGET}
    figures.put_stills(None, "page", "page.html", context, None)  # type: ignore[arg-type]
    still = '<div class="mc-still"><img src="a.svg" alt="A line" /></div>\n'
    assert context["body"] == WIDGET.replace("</p></div></div>", f"</p></div>{still}</div>")
    assert not caplog.records

    context = {
        "body": '<figure id="fig-ab"><img></figure><div class="mc-widget" data-fallback="fig-a"></div>'
    }
    figures.put_stills(None, "page", "page.html", context, None)  # type: ignore[arg-type]
    assert "without a still one" in caplog.text


def test_paragraphs_and_formulas_say_how_high_they_will_be():
    long = f"<p>{'a word ' * 12}<math>not seen, not counted</math></p>"
    formula = '<div class="math notranslate"><span class="katex-base a25000 dn50"></span></div>'
    above = f'<div class="cell"></div>{long}<h2>One</h2>{long}'
    body = f"{above}<h2>Two</h2><p>Short.</p>{long}{formula}"
    context = {"body": body}
    guesses.guess(None, "page", "page.html", context, None)  # type: ignore[arg-type]
    below = body[len(above) :].replace("<p>a", '<p style="--lines:3">a')
    assert context["body"] == above + below.replace('te">', 'te" style="--height:2.5">')


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
    assert {"fa-sun", "fa-magnifying-glass"} <= used
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
def test_the_index_of_the_search_names_what_the_pages_have(book: Path, pages: dict[str, Page]):
    html = book / "_build" / "html"
    context = MiniRacer()
    context.eval((html / "_static" / "search-index.js").read_text(encoding="utf-8"))
    index = json.loads(str(context.eval("JSON.stringify(mcSearchIndex)")))
    names = [address.removesuffix(".html") for address in index["pages"]]
    assert set(names) == pages.keys() - {"search", "genindex"}
    places = {(names[page], anchor): (title, note) for _, page, anchor, title, note in index["entries"]}
    assert places["appendix/everything", ""] == ("A page with everything", "E")
    assert places["appendix/everything", "thm-one"] == ("Theorem E.1", "Theorem E.1")  # it has no title
    assert "Theorem 1.1" in {note for _, note in places.values()}
    for (page, anchor), _ in places.items():
        assert not anchor or f'id="{anchor}"' in pages[page].text, (page, anchor)
    for page in pages.values():  # which load it when somebody comes to a search field
        assert "search-index" not in page.text


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
    (figure,) = pages["chapters/toy"].all("img")
    assert figure["loading"] == "lazy"
    assert int(figure["width"] or 0) > int(figure["height"] or 0) > 100


@pytest.mark.ci
def test_a_figure_of_a_chapter_on_another_page(pages: dict[str, Page]):
    (there,) = pages["chapters/toy"].all("img")
    (here,) = pages["appendix/everything"].all("img")
    assert here["alt"] == there["alt"]
    assert (here["width"], here["height"]) == (there["width"], there["height"])
    assert "loading" not in here  # nothing stands above it that would be further up
    assert "<em>Drawn</em> by the chapter." in pages["appendix/everything"].text


@pytest.mark.ci
def test_every_chapter_says_how_it_is_run(book: Path, pages: dict[str, Page]):
    html = book / "_build" / "html"
    for name, page in pages.items():
        menus = page.all("details", **{"class": "run-menu"})
        assert len(menus) == name.startswith("chapters/"), name
        # the theme's own, whose notebook does not run alone
        assert "_sources/" not in page.text
        assert "dropdown-toggle" not in page.text
    links = [a["href"] or "" for a in pages["chapters/toy"].all("a")]
    assert f"https://mybinder.org/v2/gh/{REPOSITORY[-13:]}/main?urlpath=lab/tree/chapters/toy.ipynb" in links
    colab = f"https://colab.research.google.com/github/{REPOSITORY[-13:]}/blob/notebooks/toy.ipynb"
    assert colab in links
    assert f"{SITE}run/toy.zip" in (html / "run" / "colab" / "toy.ipynb").read_text(encoding="utf-8")
    downloads = [a["href"] or "" for a in pages["chapters/toy"].all("a") if "download" in a]
    (wheel,) = (html / "run").glob("*.whl")
    assert downloads == ["../run/toy.zip", f"../run/{wheel.name}"]
    with zipfile.ZipFile(html / "run" / "toy.zip") as archive:
        inside = archive.namelist()
    assert inside == [f"toy/{file}" for file in ("README.md", wheel.name, "requirements.txt", "toy.ipynb")]
    assert "folders: 1 of 1 written" in (book / "_build" / "site.log").read_text(encoding="utf-8")


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
