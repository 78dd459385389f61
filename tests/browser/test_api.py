"""The pages of mcutils in _build/html name what there is, as a reader sees it. No browser is started."""

import inspect
import re
from html.parser import HTMLParser
from operator import attrgetter
from pathlib import Path

import pytest

import mcutils
from tools import docstrings
from tools.sphinx.api import LABEL

SITE = Path(__file__).parents[2] / "_build" / "html"
LARGEST = 1_500_000  # bytes of a page

PUBLIC = {name: obj for name, obj in docstrings.public() if not name.startswith("mcutils.jit.")}


class Definitions(HTMLParser):
    """The definitions on a page: the names in each signature, and in each list below it."""

    def __init__(self, page):
        super().__init__()
        self.signatures, self.lists = {}, {}
        self.inside = 0  # of how many <dd>, counted from that of a list
        self.depth = 0  # of lists within it
        self.expected = None  # the tag around the name that comes next
        self.links = set()
        self.take = None  # what to do with the text that is collected
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        classes = set((dict(attributes).get("class") or "").split())
        if tag == "a":
            self.links.add(dict(attributes).get("href"))
        listed = bool(classes & {"field-odd", "field-even"})
        if tag == "dt" and "sig" in classes:
            self.signature, self.fields = [], {}
            self.signatures[dict(attributes)["id"]] = self.signature
            self.lists[dict(attributes)["id"]] = self.fields
        elif tag == "em" and "sig-param" in classes:
            self.expected = "span"
        elif tag == "dt" and listed:
            self.text, self.take = "", self.begin
        elif tag == "dd" and (listed or self.inside):
            self.inside += 1
            if listed:
                self.depth, self.expected = 0, "strong"
        elif tag == "li" and self.inside:
            self.depth += 1
            if self.depth == 1:
                self.expected = "strong"
        elif tag == self.expected and (tag != "span" or "n" in classes):  # before a name may stand stars
            self.text, self.expected = "", None
            self.take = self.parameter if tag == "span" else self.entry

    def begin(self, title):
        self.names = self.fields[title.rstrip(":")] = []

    def parameter(self, name):
        self.signature.append(name)

    def entry(self, names):
        self.names += names.split(", ")

    def handle_data(self, data):
        if self.take:
            self.text += data

    def handle_endtag(self, tag):
        if self.inside:
            self.inside -= tag == "dd"
            self.depth -= tag == "li"
        if self.take:
            self.take(self.text)
            self.take = None


@pytest.fixture(scope="module")
def site():
    """What each page of a module defines, by the module's name."""
    files = sorted((SITE / "appendix" / "api").glob("*.html"))
    if not files:
        pytest.fail("There is no site to look at in _build/html: `make book` builds it.", pytrace=False)
    assert [file.name for file in files if file.stat().st_size > LARGEST] == []
    return {file.stem: Definitions(file.read_text(encoding="utf-8")) for file in files}


@pytest.fixture(scope="module")
def signatures(site):
    return {name: names for page in site.values() for name, names in page.signatures.items()}


@pytest.fixture(scope="module")
def lists(site):
    return {name: fields for page in site.values() for name, fields in page.lists.items()}


@pytest.fixture(scope="module")
def shown(signatures):
    """Each function and class of the pages."""
    objects = {name: attrgetter(name.removeprefix("mcutils."))(mcutils) for name in signatures}
    return {name: obj for name, obj in objects.items() if inspect.isroutine(obj) or inspect.isclass(obj)}


def test_definitions_are_read():
    page = Definitions(
        '<dl><dt class="sig" id="a.f"><em class="sig-param"><span class="n"><span>low</span></span>=1</em>'
        '</dt><dd><dl class="field-list"><dt class="field-odd">Attributes<span>:</span></dt>'
        '<dd class="field-odd"><ul><li><p><strong>a_, b_</strong> (<em>int</em>) of <strong>two</strong></p>'
        "<ul><li><strong>no</strong></li></ul></li><li><strong>c</strong></li></ul></dd>"
        '<dt class="field-even">Parameters:</dt><dd class="field-even"><p><strong>low</strong> (int)</p></dd>'
        "</dl></dd></dl>"
    )
    assert page.signatures == {"a.f": ["low"]}
    assert page.lists == {"a.f": {"Attributes": ["a_", "b_", "c"], "Parameters": ["low"]}}


def test_everything_public_is_on_the_page_of_its_module(site, signatures):
    assert set(PUBLIC) - set(signatures) == set()
    assert site.keys() == set(mcutils.MODULES)
    for module, page in site.items():
        assert {name for name in page.signatures if not name.startswith(f"mcutils.{module}.")} == set()


def test_the_summaries_have_every_public_name(site):
    overview = Definitions((SITE / "appendix" / "api.html").read_text(encoding="utf-8")).links
    for module, page in site.items():
        names = {name for name in page.signatures if name.count(".") == 2}
        assert names == {f"mcutils.{module}.{name}" for name in getattr(mcutils, module).__all__}
        assert {f"api/{module}.html", *(f"api/{module}.html#{name}" for name in names)} <= overview
        table = re.search(
            r"<table.*?</table>", (SITE / f"appendix/api/{module}.html").read_text("utf-8"), re.DOTALL
        )
        rows = re.findall(r'<tr.*?href="#([^"]+)".*?</td>\s*<td>(.*?)</td>', table[0], re.DOTALL)
        assert {name for name, _ in rows} == names
        assert [name for name, text in rows if not re.search(r"\w", re.sub(r"<.*?>", "", text))] == []


def test_a_module_and_the_chapter_of_its_name_link_to_each_other(site):
    chapters = {file.stem for file in (SITE / "chapters").glob("*.html")}
    for module in site.keys() & chapters:
        assert f"../../chapters/{module}.html" in site[module].links
        chapter = Definitions((SITE / "chapters" / f"{module}.html").read_text(encoding="utf-8"))
        assert f"../appendix/api/{module}.html" in chapter.links
    assert len(site.keys() & chapters) > 20


def test_the_labels_of_statements_are_links(site):
    links = {str(link) for page in site.values() for link in page.links}
    assert (
        sum(bool(re.match(r"../../chapters/\w+\.html#(?:thm|prop|lem|def)-", link)) for link in links) > 100
    )
    code = re.compile(r"<(script|code|pre|dt)\b.*?</\1>", re.DOTALL)
    for module in site:
        page = code.sub("", (SITE / "appendix" / "api" / f"{module}.html").read_text(encoding="utf-8"))
        assert LABEL.findall(re.sub(r"<[^>]*>", "", page)) == []


FOLD = re.compile(
    r'<details class="fold package">\s*<summary>In the package</summary>(.*?)</details>', re.DOTALL
)


def ways_back(chapter):
    """The anchors of the package that the rows below the statements of a chapter lead to."""
    return {link for fold in FOLD.findall(chapter) for link in re.findall(r'href="([^"]+)"', fold)}


def test_a_statement_that_a_docstring_names_leads_back_to_it(site):
    labels = re.compile(r'href="../../chapters/(\w+)\.html#((?:thm|prop|lem|def|alg|cor|exm|rem)-[\w-]+)"')
    definition = re.compile(r'<dt class="sig[^>]*id="(mcutils\.\w+\.\w+)"')
    named = set()
    for module in site:
        page = (SITE / "appendix" / "api" / f"{module}.html").read_text(encoding="utf-8")
        parts = definition.split(page)
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            named |= {
                (chapter, f"../appendix/api/{module}.html#{name}") for chapter, _ in labels.findall(text)
            }
    chapters = {chapter for chapter, _ in named}
    texts = {name: (SITE / "chapters" / f"{name}.html").read_text("utf-8") for name in chapters}
    assert {(name, link) for name, text in texts.items() for link in ways_back(text)} == named
    assert len(named) > 100


def test_a_missing_way_back_is_noticed():
    fold = (
        '<details class="fold package">\n<summary>In the package</summary><a href="a.html#b">b</a></details>'
    )
    assert ways_back(fold + '<a href="c.html">c</a>') == {"a.html#b"}
    assert ways_back(fold.replace("fold package", "fold aside")) == set()


def test_no_sentence_is_taken_for_a_type(lists):
    assert lists["mcutils.risk.Confusion.support"] == {}
    assert [name for name, fields in lists.items() if "Type" in fields] == []


@pytest.mark.parametrize("section", ["Parameters", "Attributes"])
def test_a_list_has_the_names_of_the_docstring(lists, shown, section):
    listed = {name: fields[section] for name, fields in lists.items() if section in fields}
    written = {name: docstrings.names(obj, section) for name, obj in shown.items()}
    assert listed == {name: names for name, names in written.items() if names}
    assert sum(len(names) for names in listed.values()) > 200


def test_a_signature_has_the_parameters_that_are_public(signatures, shown):
    for name, obj in shown.items():
        if signatures[name]:  # some classes have none: no reader makes such an object
            parameters = [p for p in inspect.signature(obj).parameters if p[0] != "_" and p != "self"]
            assert (name, signatures[name]) == (name, parameters)
