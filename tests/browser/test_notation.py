"""The search of the notation: it keeps the rows with what was typed, opens their folds, and counts them."""

import re
from contextlib import contextmanager

import checks
import pytest
from test_pages import ROOT, SITE

SCRIPT = ROOT / "web" / "static" / "find.js"
HOME = "appendix/notation.html"
TREES = "appendix/notation/trees.html"
LINES = """() => {
  const lines = [...document.querySelectorAll("table.notation-table tbody tr")];
  const tex = (line) => [...line.querySelectorAll("annotation")].map((one) => one.textContent);
  const seen = lines.filter((line) => line.checkVisibility());
  return [lines.length, seen.map((line) => tex(line))];
}"""


@contextmanager
def opened(browser, width, name, script=None):
    """A page of the notation, from the disk; with another script in place of the search's own."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    if script is not None:
        page.route("**/find.js*", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page.goto(f"{SITE.as_uri()}/{name}", wait_until="load")
    yield page
    context.close()


def said(page):
    return page.locator("form.find output").inner_text()


def rows_are_filtered(page):
    total, seen = page.evaluate(LINES)
    assert len(seen) > 100
    assert said(page) == f"{total} rows"
    answers = []
    for typed in ("gamma", r"\gamma", "γ"):
        page.locator("form.find input").fill(typed)
        _, seen = page.evaluate(LINES)
        assert 3 <= len(seen) < 10
        assert all(any(r"\gamma" in tex for tex in line) for line in seen)
        answers.append(seen)
        assert re.fullmatch(rf"{len(seen)} of {total} rows, and \d+ elsewhere", said(page))
        assert page.locator("form.find nav a", has_text="Boosting").is_visible()
    assert answers[0] == answers[1] == answers[2]
    assert page.url.endswith("?find=%CE%B3")  # so that it can be linked
    page.locator("form.find input").fill("")
    assert said(page) == f"{total} rows"
    assert page.locator("form.find nav").is_hidden()
    assert page.url.endswith(HOME)


def folds_open_with_a_hit(page):
    folds = page.locator("details:has(table.notation-table)")
    assert folds.count() > 3
    closed = page.locator("details:has(table.notation-table):not([open])").count()
    assert closed == folds.count()
    page.locator("form.find input").fill("hitting")
    _, seen = page.evaluate(LINES)
    assert len(seen) == 1
    assert page.locator("details[open]:has(table.notation-table)").count() == 1
    page.locator("form.find input").fill("")
    assert page.locator("details[open]:has(table.notation-table)").count() == 0


@pytest.fixture(params=list(checks.WIDTHS))
def width(request):
    return request.param


def test_letters_are_found_however_they_are_typed(browser, width):
    with opened(browser, width, HOME) as page:
        rows_are_filtered(page)


def test_a_fold_opens_for_what_it_holds_and_closes_again(browser, width):
    with opened(browser, width, TREES) as page:
        folds_open_with_a_hit(page)


def test_the_field_is_reached_named_and_heard(browser, width):
    with opened(browser, width, HOME) as page:
        assert page.get_by_role("search", name="Notation").count() == 1
        page.get_by_role("searchbox", name="Find a symbol or a word").focus()
        page.keyboard.type("no such thing")
        page.keyboard.press("Enter")  # no page is asked for
        assert page.get_by_role("status").filter(has_text=re.compile("^0 of ")).count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_symbol_of_another_page_is_a_link_to_it(browser, width):
    with opened(browser, width, HOME) as page:
        page.locator("form.find input").fill("Ndim")
        page.locator("form.find nav a", has_text="Capacity").click()
        page.wait_for_url("**/trees.html?find=Ndim#sec-notation-capacity")
        _, seen = page.evaluate(LINES)
        assert [line for line in seen if any("Ndim" in tex for tex in line)]
        assert len(seen) < 4


def test_a_link_to_a_hidden_row_shows_it(browser, width):
    with opened(browser, width, f"{TREES}?find=pruned") as page:
        section = page.locator("section:has(> #sec-notation-frontier)")
        assert section.is_hidden()
        page.evaluate("location.hash = '#sec-notation-frontier'")
        page.wait_for_function("!document.querySelector('form.find input').value")
        assert section.is_visible()


@pytest.mark.parametrize(
    ("right", "wrong", "name", "check"),
    [
        ("(found && !found[n])", "(found && found[n])", HOME, rows_are_filtered),
        ("(found && !found[n])", "(false)", HOME, rows_are_filtered),
        ("one.symbols.has(name)", "one.words.includes(name)", HOME, rows_are_filtered),
        (r'.map((one) => one.replace("\\", ""))', "", HOME, rows_are_filtered),
        ("location.pathname + query", "location.pathname", HOME, rows_are_filtered),
        ("elsewhere.hidden = !links.length;", "", HOME, rows_are_filtered),
        ("!fold.open) opened.add(fold)", "!fold.open) opened.delete(fold)", TREES, folds_open_with_a_hit),
        ("fold.open = Boolean(found) &&", "fold.open = true ||", TREES, folds_open_with_a_hit),
    ],
)
def test_a_planted_fault_is_found(browser, right, wrong, name, check):
    source = SCRIPT.read_text(encoding="utf-8")
    assert source.count(right) == 1
    with opened(browser, 1280, name, source.replace(right, wrong)) as page, pytest.raises(AssertionError):
        check(page)
