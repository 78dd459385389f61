"""The search while typing, on the site as built: from the disk and served, by keyboard; its whole index."""

import re

import checks
import pytest
from test_pages import ROOT, SITE, root  # noqa: F401

SCRIPT = (ROOT / "web" / "static" / "search.js").read_text(encoding="utf-8")
HITS = "#pst-search-dialog .search-hits"
LARGEST = 300_000  # bytes of the index

# every other word of the whole index, and whether its place comes first
ASTRAY = """() => {
  const { pages, entries } = mcSearchIndex;
  const names = mcSearch.prepare(mcSearchIndex);
  const all = entries.flatMap(([, page, anchor, , , words = []]) =>
    words.map((word) => [word, pages[page] + (anchor && `#${anchor}`)]));
  const astray = all.filter(([word, place]) => mcSearch.rank(names, word)[0]?.hits[0].address !== place);
  return { all: all.length, astray: astray.map(([word]) => word) };
}"""
# the page and the anchor of each entry
PLACES = "() => mcSearchIndex.entries.map(([, page, anchor]) => [mcSearchIndex.pages[page], anchor])"
IDS = re.compile(r'\bid="([^"]+)"')


def findings(browser, address: str, script: str = SCRIPT, width: int = 390) -> list[str]:
    """All that is wrong with the search while typing."""
    wrong = []

    def expect(condition: bool, complaint: str) -> None:
        if not condition:
            wrong.append(complaint)

    context = browser.new_context(
        viewport={"width": width, "height": 800}, offline=address.startswith("file:")
    )
    context.route("**/search.js*", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page = context.new_page()
    page.set_default_timeout(5000)
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    try:
        page.goto(f"{address}chapters/hinge.html", wait_until="load")
        expect(not any("search-index" in url for url in asked_for), "the index is loaded before it is needed")
        page.keyboard.press("Control+k")
        field = page.locator("#pst-search-dialog input")
        hits = page.locator(HITS)
        links = hits.locator("li a")
        field.press_sequentially("price c")
        try:
            page.wait_for_function(f"document.querySelectorAll('{HITS} li a').length === 2")
        except Exception as error:
            if type(error).__name__ != "TimeoutError":
                raise
            return [*wrong, "nothing is found while typing"]
        expect(
            links.first.get_attribute("href") == "../chapters/hinge.html#the-price-c", "another comes first"
        )
        said = hits.get_by_role("status")
        expect(said.inner_text().startswith(f"{links.count()} place"), "the number of places is not said")
        named = hits.locator("ul").evaluate_all(
            "lists => lists.every((list) => document.getElementById(list.getAttribute('aria-labelledby')))"
        )
        expect(named, "a list has no name")
        expect(
            page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
        )

        # to a place on this page
        page.keyboard.press("ArrowDown")
        expect(links.first.evaluate("link => link === document.activeElement"), "the arrow reaches no place")
        page.keyboard.press("ArrowUp")
        expect(field.evaluate("field => field === document.activeElement"), "the arrow does not lead back")
        if wrong:
            return wrong  # what follows needs the arrows, and a first place on this page
        links.first.click()
        page.wait_for_timeout(100)
        if field.is_visible():
            return ["the dialog stays open over the place"]
        page.keyboard.press("Control+k")
        page.keyboard.press("ArrowDown")
        page.evaluate("history.replaceState(null, '', location.pathname)")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("the-price-c|search[.]html"))
        if "search.html" in page.url:
            return [*wrong, "Enter leads to no place"]
        page.keyboard.press("Tab")
        expect(
            page.evaluate("!!document.activeElement?.closest('#the-price-c')"), "the keyboard stays behind"
        )

        # Escape closes; what fits nothing is said; Enter goes on to the text of all pages
        page.keyboard.press("Control+k")
        field.fill("hinge")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        expect(not field.is_visible(), "Escape does not close the dialog")
        if not field.is_visible():
            page.keyboard.press("Control+k")
        field.fill("qqqq")
        page.wait_for_timeout(300)
        expect("No title or name fits" in said.inner_text(), "it is not said that nothing fits")
        field.fill("ecoc")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect("search.html?q=ecoc" in page.url, "Enter does not go on")
        page.wait_for_selector("#search-results li a")
        page.wait_for_timeout(300)
        head = page.locator(".bd-search-container .search-hits li a")
        if not head.count():
            return [*wrong, "the results are not headed by the places"]
        expect(head.first.get_attribute("href") == "./chapters/ecoc.html", "another heads the results")
        page.locator(".bd-search-container input").press("Escape")
        expect(not head.count(), "Escape does not close on the page of the search")
        return wrong
    finally:
        context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_where_it_is_served(browser, root, width):  # noqa: F811
    assert findings(browser, root, width=width) == []


@pytest.mark.ci
def test_from_the_disk(browser, root):  # noqa: F811
    assert findings(browser, SITE.as_uri() + "/") == []


def test_index(browser, root):  # noqa: F811
    assert (SITE / "_static" / "search-index.js").stat().st_size <= LARGEST
    page = browser.new_page()
    try:
        page.goto(f"{root}search.html?q=x", wait_until="load")
        page.wait_for_function("globalThis.mcSearchIndex")
        found = page.evaluate(ASTRAY)
        assert found["all"] > 150
        assert found["astray"] == []
        places = page.evaluate(PLACES)
    finally:
        page.close()
    ids = {
        page: IDS.findall((SITE / page).read_text(encoding="utf-8")) for page in {page for page, _ in places}
    }
    assert [f"{page}#{anchor}" for page, anchor in places if anchor and anchor not in ids[page]] == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe(browser, root, mode):  # noqa: F811
    page = browser.new_page(color_scheme=mode)
    try:
        page.goto(f"{root}chapters/hinge.html", wait_until="load")
        page.keyboard.press("Control+k")
        page.locator("#pst-search-dialog input").fill("one vs all")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".search-hits li a")
        page.evaluate(checks.AXE)
        found = page.evaluate("axe.run('#pst-search-dialog')")["violations"]
        assert [(rule["id"], node["target"]) for rule in found for node in rule["nodes"]] == []
    finally:
        page.close()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "    if (!dialog) {\n      field",
            "    load();\n    if (!dialog) {\n      field",
            "before it is needed",
        ),
        ('field.addEventListener("input", update)', "", "nothing is found while typing"),
        ("b.score - a.score", "a.score - b.score", "another comes first"),
        ("said.textContent = `${found}", "said.title = `${found}", "the number of places is not said"),
        ("links[here + 1].focus()", "links[here + 1].blur()", "the arrow reaches no place"),
        ("(links[here - 1] ?? field).focus()", "links[here - 1]?.focus()", "the arrow does not lead back"),
        ("dialog.close();\n", "void 0;\n", "the dialog stays open over the place"),
        ("      update();\n    }\n  }", "    }\n  }", "the results are not headed by the places"),
        ("dialog.close(); // the theme", "; // the theme", "Escape does not close the dialog"),
        ('event.key === "Escape" && !dialog', "false", "Escape does not close on the page of the search"),
    ],
)
def test_planted_faults_are_found(browser, root, old, new, complaint):  # noqa: F811
    assert SCRIPT.count(old) == 1
    assert complaint in "\n".join(findings(browser, root, SCRIPT.replace(old, new)))
