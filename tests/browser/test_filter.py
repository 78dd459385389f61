"""The filters of the source map and the errata: what they show and say, and how a link gets through."""

import pytest
from test_pages import ROOT, root  # noqa: F401

SCRIPT = (ROOT / "web" / "static" / "filter.js").read_text(encoding="utf-8")

SHOWN = """() => [...document.querySelectorAll(".bd-article .entry")]
  .filter((entry) => entry.getClientRects().length)
  .map((entry) => entry.textContent.trim().split(/[\\s:]/)[0])"""
HEADS = """() => [...document.querySelectorAll(".bd-article section section > :is(h2, h3)")]
  .filter((head) => head.getClientRects().length).length"""


def findings(browser, address: str, script: str = SCRIPT) -> list[str]:
    """All that is wrong with the filters of the two pages."""
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
        page.get_by_label("Lecture", exact=True).select_option("lecture--k")
        chosen = page.evaluate(SHOWN)
        expect(len(chosen) == 52 and all(item.startswith("K.") for item in chosen), "not the items of K")
        expect(page.evaluate(HEADS) == 1, "heads of lectures without an item are shown")
        expect(page.inner_text("form.filters output") == "52 of 396 entries", "the count is not said")
        page.get_by_label("Kind").select_option("kind--algorithm")
        algorithms = page.evaluate(SHOWN)
        expect(0 < len(algorithms) < 52, "the kind changes nothing")
        page.get_by_label("Words").fill("perceptron")
        page.keyboard.press("Enter")
        expect(0 < len(page.evaluate(SHOWN)) < len(algorithms), "the words change nothing")
        page.evaluate("location.hash = 'source-l7-109'")
        page.wait_for_timeout(100)
        expect(page.evaluate(SHOWN) == everything, "a link to an item that is hidden does not show it")

        page.goto(f"{address}appendix/errata.html", wait_until="load")
        page.get_by_label("Class").select_option("class--r")
        more = page.evaluate(SHOWN)
        expect({"E-L7.8", "E-L7.12", "E-L7.13", "E-L7.28"} <= set(more), f"of class R only {more}")
        return wrong
    finally:
        context.close()


def test_filters(browser, root):  # noqa: F811
    assert findings(browser, root) == []


@pytest.mark.ci
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("wanted.every", "wanted.some", "the kind changes nothing"),
        ("section.hidden = ", "section.hidden = false && ", "heads of lectures without an item are shown"),
        ("texts[n].includes(one)", "true", "the words change nothing"),
        ("count.textContent = ", "count.title = ", "the count is not said"),
        ("    bar.reset();", "", "a link to an item that is hidden does not show it"),
    ],
)
def test_planted_faults_are_found(browser, root, old, new, complaint):  # noqa: F811
    assert SCRIPT.count(old) == 1
    assert complaint in findings(browser, root, SCRIPT.replace(old, new))
