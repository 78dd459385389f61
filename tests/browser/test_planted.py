"""Every check finds what is planted for it on planted/index.html, and nothing else: each of them can fail."""

import re
from pathlib import Path

import checks
import pytest

PLANTED = Path(__file__).parent / "planted"

# what a visit must find there, by check; the axe findings of the second mode begin with its name
EXPECTED = {
    "mode": ["the reader's system is dark, the page is light"],
    "foreign request": ["https://elsewhere.example/mathjax.js"],
    "failed request": ["missing.js: 404"],
    "console": ["a planted complaint index.html"],
    "formulas": ["an error: \\undefined", "not typeset: x^2", "TeX in the text: \\(a + b\\)."],
    "alt": [
        "figure.svg has no alternative text",
        "figure.svg has the name of a file for its alternative text: 0403c007d356aa2ec59c92a0d858.svg",
        "figure.svg has an alternative text that says nothing: A figure",
    ],
    "sideways": ["wider than the column: p#beyond"],
    "growth": [],
    "headings": ["h3 (28 px, 600) looks as weighty as h2 (34 px, 500)"],
    "code": ["pre#small in letters of 12 px, its lines 15 px apart"],
    "looks": ["warning looks as note does, but for colours"],
    "links": ["dark: a link would have a contrast of 2.7 on pre#small"],
    "widget": [
        "widget dead: nothing in it takes the keyboard",
        "widget mouse: a key on its range changes nothing",
        "widget mouse: a key on its select changes nothing",
        "widget mouse: a key on its application changes nothing",
        "widget kept: the still picture is left",
    ],
    "quiz": [
        "quiz 1: the keyboard reaches no option",
        "quiz 2: Enter on the button says nothing",
        "quiz 3: it does not give the reason of what was chosen",
        "quiz 4: the first miss opens the answer",
        "quiz 5: the second miss does not open the answer",
    ],
    "match": ["match 1: the keyboard reaches no choice", "match 2: nothing is said of a row"],
    "drawer": [],
    "folds": [
        "#mouse-only “Opens by mouse only”: the keyboard does not reach what opens it",
        "#deaf “Hears no key Show”: Enter does not open it",
    ],
    "results": [
        "table 1 “”: no caption",
        "table 1 “”: the head “Error” is not of a col",
        "table 1 “”: the head “hinge” is not of a row",
        "table 1 “”: a row of 1 cells",
        "sortable table 1 “No buttons”: the keyboard reaches no head",
        "sortable table 2 “Sorts nothing”: Enter on a head does not sort",
        "sortable table 3 “Says it sorts”: both directions have the same order",
        "sortable table 4 “Sorts in silence”: nothing says how it is sorted",
        "sortable table 5 “Never as it was”: the first order does not come back",
    ],
    "print": ["not printed: h1 “Planted faults”"],
    "stretched": ["div#stretched goes on below its last words"],
    "axe": [
        "button-name: p:nth-child(3) > button",
        "empty-table-header: #formula-head",
        "dark: color-contrast: .faint",
    ],
}
EXPECTED_NARROW = EXPECTED | {
    "sideways": ["the page scrolls by 218 px, because of div#wide"],
    "growth": ["the page grows by more than a tenth of its height while it is read"],
    "stretched": [],
    "drawer": ["the drawer secondary stays open when a place was chosen"],
    # the dark page comes first, and all of axe's rules with it
    "links": ["a link would have a contrast of 2.7 on pre#small"],
    "axe": [
        "button-name: p:nth-child(3) > button",
        "color-contrast: .faint",
        "empty-table-header: #formula-head",
    ],
}


@pytest.fixture(scope="module")
def planted():
    with checks.served(PLANTED) as address:
        yield address


@pytest.mark.ci
@pytest.mark.parametrize(("width", "expected"), [(1280, EXPECTED), (390, EXPECTED_NARROW)])
def test_a_visit_finds_what_is_planted(browser, planted, width, expected):
    found = checks.visit(browser, planted, "index.html", width)
    assert found == expected


@pytest.mark.ci
def test_a_visit_in_one_mode(browser, planted):
    found = checks.visit(browser, planted, "index.html", 1280, both=False)
    assert not any(place.startswith("dark: ") for places in found.values() for place in places)


def test_no_check_of_a_visit_is_without_a_planted_fault():
    assert all(EXPECTED[check] or EXPECTED_NARROW[check] for check in EXPECTED)


@pytest.mark.ci
def test_without_scripts(browser, planted):
    assert checks.unscripted(browser, planted, "index.html") == [
        *EXPECTED["formulas"],
        "an empty formula: #by-script span.katex-html",
        "never seen: #mouse-only p.hidden “The solution.”",
        "never seen: #deaf p.hidden “The solution.”",
        "never seen: p#for-scripts “Seen with scripts only.”",
        "widget dead: no figure in its place",
        "widget mouse: no figure in its place",
        "quiz 2: no answer to unfold",
        "quiz 4: no answer to unfold",
        "the contents cannot be reached on a small screen",
    ]


@pytest.mark.ci
def test_links():
    assert checks.links(PLANTED) == [
        "index.html: missing.js: no such file",
        "index.html: nowhere.html: no such file",
        "index.html: #nowhere: no such place on that page",
        "index.html: search.html#here: no such place on that page",
    ]


@pytest.mark.ci
def test_search_from_the_disk(browser):
    nothing, failed, *console = checks.search(browser, PLANTED.resolve().as_uri() + "/", "planted")
    assert nothing == "nothing is found for 'planted'"
    assert failed == "index.html: net::ERR_FAILED"
    assert "blocked by CORS policy" in console[0]


@pytest.mark.ci
def test_search_where_it_is_served(browser):
    with checks.served(PLANTED) as root:
        assert checks.search(browser, root, "planted")[0] == "typed formula: δ\\delta"


def test_readme_names_the_vendored_version():
    readme = (checks.HERE / "vendor" / "README.md").read_text(encoding="utf-8")
    version = re.match(r"/\*! axe v(\S+)", checks.AXE)[1]
    assert readme.count(version) == 2
