"""The filters of the back matter: what they show, say and keep in the address; how links get through."""

import pytest
from test_pages import ROOT, root  # noqa: F401

SCRIPT = (ROOT / "web" / "static" / "filter.js").read_text(encoding="utf-8")

SHOWN = """() => [...document.querySelectorAll(".bd-article .entry")]
  .filter((entry) => entry.getClientRects().length)
  .map((entry) => entry.textContent.trim().split(/[\\s:]/)[0])"""
HEADS = """() => [...document.querySelectorAll(".bd-article section section > :is(h2, h3)")]
  .filter((head) => head.getClientRects().length).length"""


def findings(browser, address: str, script: str = SCRIPT) -> list[str]:
    """All that is wrong with the filters of the pages."""
    wrong = []

    def expect(condition: bool, complaint: str) -> None:
        if not condition:
            wrong.append(complaint)

    context = browser.new_context(viewport={"width": 390, "height": 800})
    context.route("**/filter.js*", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page = context.new_page()
    try:
        page.goto(f"{address}appendix/sources.html", wait_until="load")
        everything = page.evaluate(SHOWN)
        expect(len(everything) == 396, f"{len(everything)} items are shown at first")
        page.get_by_label("Lecture", exact=True).select_option("k")
        chosen = page.evaluate(SHOWN)
        expect(len(chosen) == 52 and all(item.startswith("K.") for item in chosen), "not the items of K")
        expect(page.evaluate(HEADS) == 1, "heads of lectures without an item are shown")
        expect(page.inner_text("form.filters output") == "52 of 396 entries", "the count is not said")
        promised = page.evaluate("""() => Number(document.querySelector("#filter-kind [value=algorithm]")
          .textContent.match(/[(]([0-9]+)[)]$/)[1])""")
        page.get_by_label("Kind").select_option("algorithm")
        algorithms = page.evaluate(SHOWN)
        expect(0 < len(algorithms) < 52, "the kind changes nothing")
        expect(
            promised == len(algorithms), f"{promised} algorithms were promised, {len(algorithms)} are shown"
        )
        page.get_by_label("Words").fill("perceptron")
        page.keyboard.press("Enter")
        narrowed = page.evaluate(SHOWN)
        expect(0 < len(narrowed) < len(algorithms), "the words change nothing")
        expect(
            page.url.endswith("sources.html?lecture=k&kind=algorithm&words=perceptron"),
            f"the address says {page.url}",
        )
        page.reload(wait_until="load")
        expect(page.evaluate(SHOWN) == narrowed, "a link with a filter does not show what it showed")
        page.evaluate("location.hash = 'source-l7-109'")
        page.wait_for_timeout(100)
        expect(page.evaluate(SHOWN) == everything, "a link to an item that is hidden does not show it")

        page.goto(f"{address}appendix/errata.html?lecture=nobody", wait_until="load")
        index = page.evaluate("document.querySelector('#filter-lecture').selectedIndex")
        expect(index == 0, "a value that the page does not have leaves its field blank")
        page.get_by_label("Class").select_option("r")
        more = page.evaluate(SHOWN)
        expect({"E-L7.8", "E-L7.12", "E-L7.13", "E-L7.28"} <= set(more), f"of class R only {more}")
        page.get_by_role("button", name="Show all").click()
        page.wait_for_timeout(100)
        expect(len(page.evaluate(SHOWN)) > len(more), "the button does not show all")
        expect(page.url.endswith("errata.html"), f"all are shown, and the address says {page.url}")

        page.goto(f"{address}appendix/ledger.html?place=risk&kind=definition", wait_until="load")
        of_chapter = page.evaluate("document.querySelectorAll('.entry:not([hidden])').length")
        page.get_by_label("Place").select_option("all-what-is-learned")
        of_part = page.evaluate("document.querySelectorAll('.entry:not([hidden])').length")
        expect(0 < of_chapter < of_part, f"{of_chapter} definitions in a chapter, {of_part} in its part")
        return wrong
    finally:
        context.close()


def test_filters(browser, root):  # noqa: F811
    assert findings(browser, root) == []


@pytest.mark.ci
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("classes.every", "classes.some", "the kind changes nothing"),
        ("section.hidden = ", "section.hidden = false && ", "heads of lectures without an item are shown"),
        ("texts[n].includes(one)", "true", "the words change nothing"),
        ("count.textContent = ", "count.title = ", "the count is not said"),
        ("left.filter(has).length", "entries.filter(has).length", "39 algorithms were promised"),
        ("    bar.reset();", "", "a link to an item that is hidden does not show it"),
        ("value ? query.set", "!value ? query.set", "the address says"),
        ('asked.get(control.name) ?? ""', '""', "a link with a filter does not show what it showed"),
        ("control.selectedIndex === -1", "false", "a value that the page does not have"),
        ('"reset", () => setTimeout(change)', '"reset", () => {}', "the button does not show all"),
    ],
)
def test_planted_faults_are_found(browser, root, old, new, complaint):  # noqa: F811
    assert SCRIPT.count(old) == 1
    found = findings(browser, root, SCRIPT.replace(old, new))
    assert any(one.startswith(complaint) for one in found), found
