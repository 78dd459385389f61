"""Story and Full: what is open, what is remembered, where links lead, what is printed."""

import pytest
from test_pages import ROOT, SITE, root  # noqa: F401

SCRIPT = (ROOT / "web" / "static" / "layers.js").read_text(encoding="utf-8")
FIRST, SECOND = "chapters/margin.html", "chapters/risk.html"
LABEL = "prop-margin-sandwich"

FOLDS = """(kinds) => {
  const folds = [...document.querySelectorAll("details.fold")].filter((fold) => fold.matches(kinds));
  return [folds.length, folds.filter((fold) => fold.open).length];
}"""
OPENED_BY_FULL = ":is(.section, .proof, .lectures, .aside)"
LEFT_ALONE = ":is(.check, .code, .package)"
# an error of JavaScript, where browsers throw one of the page: it tells which script asked
NO_STORAGE = """Object.defineProperty(window, "localStorage", { get() { throw new Error("denied"); } });"""
# what a link on the page does, without what this browser does by itself: older ones open no fold for a link
GO_TO = """(place) => {
  history.replaceState(null, "", "#" + place);
  dispatchEvent(new HashChangeEvent("hashchange"));
}"""
SEEN = """(id) => {
  const place = document.getElementById(id);
  if (place.closest("details:not([open])")) return "folded";
  const next = place.nextElementSibling ?? place.parentElement;
  const { top } = (place.getClientRects().length ? place : next).getBoundingClientRect();
  return top > -5 && top < innerHeight ? "seen" : `at ${Math.round(top)} px`;
}"""
# what a reader sees first below the head of the page, and where it stands
FIRST_SEEN = """() => {
  const places = [...document.querySelectorAll(".bd-article :is(h2, h3, p)")];
  const isSeen = (one) => one.getClientRects().length && one.getBoundingClientRect().top > 60;
  globalThis.seenFirst = places.find(isSeen);
  return globalThis.seenFirst.getBoundingClientRect().top;
}"""
PRINTED = """(kinds) => [...document.querySelectorAll("details.fold[open]")].filter((fold) =>
  fold.matches(kinds) && getComputedStyle(fold).display !== "none" && fold.lastElementChild.checkVisibility()
).length"""


def findings(browser, address: str, script: str = SCRIPT) -> list[str]:
    """All that is wrong with the layers of two chapters."""
    wrong = []

    def expect(condition: bool, complaint: str) -> None:
        if not condition:
            wrong.append(complaint)

    def visit(page, name: str) -> None:
        page.goto(address + name, wait_until="load")
        page.wait_for_timeout(100)

    def new_page(context):
        context.route(
            "**/layers.js*", lambda route: route.fulfill(body=script, content_type="text/javascript")
        )
        page = context.new_page()
        page.on("pageerror", lambda error: expect("layers.js" not in (error.stack or ""), f"error: {error}"))
        return page

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = new_page(context)
    visit(page, FIRST)
    number, is_open = page.evaluate(FOLDS, OPENED_BY_FULL)
    expect(number > 10, f"only {number} folds")
    expect(is_open == 0, "Story is not what a first reader sees")

    page.evaluate("scrollTo(0, 4000)")
    page.wait_for_timeout(200)
    before = page.evaluate(FIRST_SEEN)
    page.keyboard.press("Alt+l")
    page.wait_for_timeout(200)
    after = page.evaluate("seenFirst.getBoundingClientRect().top")
    expect(abs(after - before) < 100, "the reader loses the place")
    number, is_open = page.evaluate(FOLDS, OPENED_BY_FULL)
    expect(is_open == number, "the keys do not open all of Full")
    expect(page.evaluate(FOLDS, LEFT_ALONE)[1] == 0, "Full opens checks and code")
    pressed = page.locator(".layers button[aria-pressed='true']").all_inner_texts()
    expect(pressed == ["Full"], "the switch does not say what is shown")

    visit(page, SECOND)
    number, is_open = page.evaluate(FOLDS, OPENED_BY_FULL)
    expect(is_open == number, "the choice is not remembered")
    page.get_by_role("button", name="Story", exact=True).first.click()
    expect(page.evaluate(FOLDS, OPENED_BY_FULL)[1] == 0, "the switch does not fold")

    for place in (f"proof-{LABEL}", f"witness-{LABEL}"):
        visit(page, "search.html")
        visit(page, f"{FIRST}#{place}")
        page.wait_for_timeout(300)
        expect(page.evaluate(SEEN, place) == "seen", f"a link to {place} does not show it")
        visit(page, FIRST)
        page.evaluate(GO_TO, place)
        page.wait_for_timeout(300)
        expect(page.evaluate(SEEN, place) == "seen", f"a link on the page to {place} does not show it")

    for paper, proofs, checks_shown in (
        ("story", False, False),
        ("full", True, False),
        ("everything", True, True),
    ):
        visit(page, SECOND)
        visit(page, FIRST)
        page.evaluate("(paper) => { document.documentElement.dataset.paper = paper; }", paper)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        expect(bool(page.evaluate(PRINTED, ".proof")) == proofs, f"paper, {paper}: proofs")
        expect(bool(page.evaluate(PRINTED, ".check")) == checks_shown, f"paper, {paper}: checks")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        expect(page.evaluate(FOLDS, ":is(.proof, .check)")[1] == 0, f"paper, {paper}: folds stay open")
    context.close()

    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.add_init_script(NO_STORAGE)
    page = new_page(context)
    visit(page, FIRST)
    page.get_by_role("button", name="Full", exact=True).first.click()
    number, is_open = page.evaluate(FOLDS, OPENED_BY_FULL)
    expect(is_open == number, "where storage is refused the switch does nothing")
    context.close()
    return wrong


def test_layers(browser, root):  # noqa: F811
    assert findings(browser, root) == []


@pytest.mark.ci
def test_layers_from_the_disk(browser):
    assert findings(browser, SITE.as_uri() + "/") == []


LINK_ON_THE_PAGE = f"a link on the page to proof-{LABEL} does not show it"
FAULTS = {
    'layer === "full") ?? "story";': (
        'layer === "full") ?? "full";',
        "Story is not what a first reader sees",
    ),
    ":is(.section, .proof, .lectures, .aside)": (".proof, details.check", "Full opens checks and code"),
    "    remember(layer);\n": ("", "the choice is not remembered"),
    "place.open = true;": ("place.open ||= false;", LINK_ON_THE_PAGE),
    'addEventListener("hashchange", reveal);': ("", LINK_ON_THE_PAGE),
    "if (seen) scrollBy": ("if (!seen) scrollBy", "the reader loses the place"),
    "for (const fold of opened) fold.open = false;": ("", "paper, full: folds stay open"),
    "for (const fold of opened) fold.open = true;": ("", "paper, full: proofs"),
    "    } catch {} // then it holds for this page\n": (
        "    } finally {}\n",
        "error: denied",
    ),
    "String(button.dataset.layer === layer)": ('"true"', "the switch does not say what is shown"),
}


@pytest.mark.ci
@pytest.mark.parametrize("piece", FAULTS)
def test_a_planted_fault_is_found(browser, root, piece):  # noqa: F811
    other, complaint = FAULTS[piece]
    assert SCRIPT.count(piece) == 1
    found = findings(browser, root, SCRIPT.replace(piece, other))
    assert complaint in found, found
