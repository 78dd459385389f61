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


class Reader:
    """Two chapters with a script, and who reads them; what is wrong with them is collected."""

    def __init__(self, browser, address, script=SCRIPT, width=1280, before=""):
        self.address = address
        self.wrong = []
        self.context = browser.new_context(viewport={"width": width, "height": 900})
        if before:
            self.context.add_init_script(before)
        self.context.route(
            "**/layers.js*", lambda route: route.fulfill(body=script, content_type="text/javascript")
        )
        self.page = self.context.new_page()
        self.page.on("pageerror", self.hear)

    def hear(self, error):
        self.expect("layers.js" not in (error.stack or ""), f"error: {error}")

    def expect(self, condition, complaint):
        if not condition:
            self.wrong.append(complaint)

    def visit(self, name):
        self.page.goto(self.address + name, wait_until="load")
        self.page.wait_for_timeout(100)


def switching(reader):
    """What is open in Story and in Full, by key and by mouse, and what is remembered."""
    page, expect = reader.page, reader.expect
    reader.visit(FIRST)
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

    reader.visit(SECOND)
    number, is_open = page.evaluate(FOLDS, OPENED_BY_FULL)
    expect(is_open == number, "the choice is not remembered")
    page.get_by_role("button", name="Story", exact=True).first.click()
    expect(page.evaluate(FOLDS, OPENED_BY_FULL)[1] == 0, "the switch does not fold")


def following_links(reader):
    """A link from elsewhere, and one on the page, show what is folded."""
    page, expect = reader.page, reader.expect
    for place in (f"proof-{LABEL}", f"witness-{LABEL}"):
        page.goto("about:blank")  # so that the link is followed from another page
        reader.visit(f"{FIRST}#{place}")
        page.wait_for_timeout(300)
        expect(page.evaluate(SEEN, place) == "seen", f"a link to {place} does not show it")
        reader.visit(FIRST)
        page.evaluate(GO_TO, place)
        page.wait_for_timeout(300)
        expect(page.evaluate(SEEN, place) == "seen", f"a link on the page to {place} does not show it")


def printing(reader):
    """What is on paper, by the layer that is chosen for it; afterwards the page is as it was."""
    page, expect = reader.page, reader.expect
    reader.visit(FIRST)
    for paper, proofs, checks_shown in (
        ("story", False, False),
        ("full", True, False),
        ("everything", True, True),
    ):
        page.evaluate("(paper) => { document.documentElement.dataset.paper = paper; }", paper)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        expect(bool(page.evaluate(PRINTED, ".proof")) == proofs, f"paper, {paper}: proofs")
        expect(bool(page.evaluate(PRINTED, ".check")) == checks_shown, f"paper, {paper}: checks")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        expect(page.evaluate(FOLDS, ":is(.proof, .check)")[1] == 0, f"paper, {paper}: folds stay open")


def where_storage_is_refused(reader):
    """On a phone, the switch holds for the page."""
    page = reader.page
    reader.visit(FIRST)
    page.get_by_role("button", name="Full", exact=True).first.click()
    number, is_open = page.evaluate(FOLDS, OPENED_BY_FULL)
    reader.expect(is_open == number, "where storage is refused the switch does nothing")


STORIES = [switching, following_links, printing, where_storage_is_refused]


def findings(browser, address, story, script=SCRIPT):
    """All that a reader of this story, who comes for the first time, finds wrong."""
    refused = story is where_storage_is_refused
    reader = Reader(browser, address, script, *((390, NO_STORAGE) if refused else ()))
    try:
        story(reader)
    finally:
        reader.context.close()
    return reader.wrong


@pytest.mark.parametrize("story", STORIES)
def test_layers(browser, root, story):  # noqa: F811
    assert findings(browser, root, story) == []


@pytest.mark.ci
@pytest.mark.parametrize("story", STORIES)
def test_layers_from_the_disk(browser, story):
    assert findings(browser, SITE.as_uri() + "/", story) == []


LINK_ON_THE_PAGE = f"a link on the page to proof-{LABEL} does not show it"
# what is changed: by what, in which story it is noticed, and as what
FAULTS = [
    (
        'layer === "full") ?? "story";',
        'layer === "full") ?? "full";',
        switching,
        "Story is not what a first reader sees",
    ),
    (
        ":is(.section, .proof, .lectures, .aside)",
        ".proof, details.check",
        switching,
        "Full opens checks and code",
    ),
    ("    remember(layer);\n", "", switching, "the choice is not remembered"),
    ("place.open = true;", "place.open ||= false;", following_links, LINK_ON_THE_PAGE),
    ('addEventListener("hashchange", reveal);', "", following_links, LINK_ON_THE_PAGE),
    ("if (seen) scrollBy", "if (!seen) scrollBy", switching, "the reader loses the place"),
    ("for (const fold of opened) fold.open = false;", "", printing, "paper, full: folds stay open"),
    ("for (const fold of opened) fold.open = true;", "", printing, "paper, full: proofs"),
    (
        "    } catch {} // then it holds for this page\n",
        "    } finally {}\n",
        where_storage_is_refused,
        "error: denied",
    ),
    (
        "String(button.dataset.layer === layer)",
        '"true"',
        switching,
        "the switch does not say what is shown",
    ),
]


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new", "story", "complaint"), FAULTS)
def test_a_planted_fault_is_found(browser, root, old, new, story, complaint):  # noqa: F811
    assert SCRIPT.count(old) == 1
    found = findings(browser, root, story, SCRIPT.replace(old, new))
    assert complaint in found, found
