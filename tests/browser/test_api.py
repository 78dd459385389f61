"""The page of mcutils in _build/html names what there is, as a reader sees it. No browser is started."""

import inspect
from html.parser import HTMLParser
from operator import attrgetter
from pathlib import Path

import pytest

import mcutils
from tools import docstrings

PAGE = Path(__file__).parents[2] / "_build" / "html" / "appendix" / "api.html"

PUBLIC = {name: obj for name, obj in docstrings.public() if not name.startswith("mcutils.jit.")}


class Definitions(HTMLParser):
    """The definitions on a page: the names in each signature, and in each list below it."""

    def __init__(self, page):
        super().__init__()
        self.signatures, self.lists = {}, {}
        self.inside = 0  # of how many <dd>, counted from that of a list
        self.depth = 0  # of lists within it
        self.expected = None  # the tag around the name that comes next
        self.take = None  # what to do with the text that is collected
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        classes = set((dict(attributes).get("class") or "").split())
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
        elif tag == self.expected:
            self.text, self.expected = "", None
            self.take = self.parameter if tag == "span" else self.entry
            if tag == "span" and "n" not in classes:  # a star or a stroke
                self.take = None

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
def page():
    if not PAGE.exists():
        pytest.fail("There is no site to look at in _build/html: `make book` builds it.", pytrace=False)
    return Definitions(PAGE.read_text(encoding="utf-8"))


def on_the_page(page):
    """Each function and class of the page."""
    objects = {name: attrgetter(name.removeprefix("mcutils."))(mcutils) for name in page.signatures}
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


def test_everything_public_is_on_the_page(page):
    assert set(PUBLIC) - set(page.signatures) == set()


@pytest.mark.parametrize("section", ["Parameters", "Attributes"])
def test_a_list_has_the_names_of_the_docstring(page, section):
    objects = on_the_page(page)
    shown = {name: lists[section] for name, lists in page.lists.items() if section in lists}
    written = {name: docstrings.names(obj, section) for name, obj in objects.items()}
    assert shown == {name: names for name, names in written.items() if names}
    assert sum(len(names) for names in shown.values()) > 200


def test_a_signature_has_the_parameters_that_are_public(page):
    for name, obj in on_the_page(page).items():
        if page.signatures[name]:  # some classes have none: no reader makes such an object
            parameters = [p for p in inspect.signature(obj).parameters if p[0] != "_" and p != "self"]
            assert (name, page.signatures[name]) == (name, parameters)
