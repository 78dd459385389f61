"""Following links: cards, the way back, and what is remembered of a chapter."""

import checks
import pytest
from py_mini_racer import MiniRacer
from test_pages import ROOT, SITE, root  # noqa: F401

from tools.sphinx import cards

LARGEST = 150_000  # bytes of a page's cards, uncompressed
# places in a chapter without a card: they are not numbered, and the name of the link says what they are
WITHOUT = ("proof-", "witness-", "index-")
SCRIPT = (ROOT / "web" / "static" / "follow.js").read_text(encoding="utf-8")
PAGE, NEXT = "chapters/kernel.html", "chapters/solver.html"
STATEMENT = "a.internal[href='binary.html#thm-binary-hinge']"
HERE = ".bd-article a.internal[href='#alg-kernel-perceptron']"
# a place of each kind, and what its card says; two are on the page itself
KINDS = {
    "statement": (PAGE, STATEMENT, "Theorem 6."),
    "figure here": (PAGE, "a.internal[href='#fig-kernel-support']", "Fig. 7."),
    "statement here": (PAGE, "a.internal[href='#prop-kernel-truncation']", "Proposition 7."),
    "citation": (PAGE, "a.internal[href*='bibliography.html#']", "."),
    "erratum": (PAGE, "a.internal[href*='errata.html#erratum-']", "E-"),
    "figure": ("appendix/errata.html", "a.internal[href*='chapters/'][href*='#fig-']", "Fig. "),
    "equation": ("chapters/dual.html", "a.internal[href*='.html#equation-']", "("),
    "exercise": ("chapters/classes.html", "a.internal[href*='.html#ex-']", "Exercise "),
    "term": ("genindex.html", ".genindextable a[href*='glossary.html#term-margin']", "margin"),
    "section": ("parts/choose.html", "a.internal[href*='.html#sec-']", ""),
}
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, { get() { throw new Error("denied"); } });
}"""
# where a link stands in the window, and which folds are open
STATE = """(link) => [
  Math.round(link.getBoundingClientRect().top),
  [...document.querySelectorAll(".bd-article details")].flatMap((fold, i) => (fold.open ? [i] : [])).join(),
]"""
OPEN_AROUND = """(link, block) => {
  const around = (one) => one.closest("details:not([open])");
  for (let fold = around(link); fold; fold = around(link)) fold.open = true;
  link.scrollIntoView({ block, behavior: "instant" });
}"""
# the first link in a proof that leads to another statement, of this page ("#") or another
IN_PROOF = """(page) => {
  const links = [...document.querySelectorAll("details.proof a.reference.internal")];
  return links.findIndex((link) => link.getAttribute("href").startsWith(page) && link.hash.includes("-"));
}"""


HAS_FOCUS = "link => link === document.activeElement"
IS_BEFORE_FOCUS = """(link) =>
  Boolean(link.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING)"""
IS_FREE = """(link) => {
  const [one, other] = [link, document.querySelector("#link-card")].map((e) => e.getBoundingClientRect());
  return one.bottom <= other.top || other.bottom <= one.top;
}"""
FITS = """(card) => {
  const { left, right, top } = card.getBoundingClientRect();
  return left >= 0 && right <= 390 && top >= 0 && document.documentElement.scrollWidth <= 390;
}"""
MARK = ".bd-links a:is([href*='kernel.html'], [href='#']) .reading-mark"


class Wrong(Exception):
    """What a reader complains of first: what follows is not looked at."""


class Reader:
    """A page with a script, and who reads it."""

    def __init__(self, browser, address, script=SCRIPT, width=1280, before="", mode="light"):
        self.address = address
        touch = width < 600
        self.context = browser.new_context(
            viewport={"width": width, "height": 800},
            has_touch=touch,
            is_mobile=touch,
            color_scheme=mode,
            reduced_motion="reduce",
        )
        if before:
            self.context.add_init_script(before)
        self.context.route(
            "**/follow.js*", lambda route: route.fulfill(body=script, content_type="text/javascript")
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.set_default_navigation_timeout(30_000)
        self.asked_for = []
        self.errors = []
        self.page.on("request", lambda request: self.asked_for.append(request.url))
        self.page.on("pageerror", self.hear)
        self.card = self.page.locator("#link-card")
        self.box = self.page.locator(".way")

    def hear(self, error):
        if "follow.js" in (error.stack or ""):  # the theme, too, wants storage
            self.errors.append(f"error: {error}")

    def expect(self, condition, complaint):
        if self.errors or not condition:
            raise Wrong((self.errors or [complaint])[0])

    def visit(self, name):
        self.page.goto(self.address + name, wait_until="load")
        self.page.wait_for_timeout(250)

    def rest(self, ms=250):
        self.page.wait_for_timeout(ms)

    def becomes(self, condition, seconds=2):
        try:
            self.page.wait_for_function(condition, timeout=1000 * seconds)
        except Exception as error:
            if type(error).__name__ != "TimeoutError":
                raise
            return False
        return True

    def has_card(self):
        return self.becomes("document.querySelector('#link-card')?.hidden === false")

    def has_no_card(self):
        return self.becomes("document.querySelector('#link-card').hidden", 1)

    def has_box(self):
        return self.becomes("document.querySelector('.way')", 4)

    def show(self, link, block="center"):
        """Open what a link is folded in, and scroll to it; gives its place and the open folds."""
        link.evaluate(OPEN_AROUND, block)
        self.rest(400)
        return link.evaluate(STATE)

    def by_key(self, link):
        """Focus a link as the keyboard does."""
        self.show(link)
        link.evaluate("link => link.focus({ focusVisible: true, preventScroll: true })")

    def comes_back(self):
        self.page.wait_for_url(f"**/{PAGE}*")
        self.page.wait_for_load_state("load")
        self.rest(700)

    def scripts(self):
        return [url for url in self.asked_for if "/cards/" in url]


def with_mouse(reader):
    """A card by the mouse: loaded late, hoverable, dismissible; a click follows at once."""
    page, expect, card = reader.page, reader.expect, reader.card
    reader.visit(PAGE)
    expect(not reader.scripts(), "cards are loaded before they are needed")
    link = page.locator(STATEMENT).first
    reader.show(link)
    link.hover()
    expect(reader.has_card(), "the mouse shows no card")
    expect(reader.scripts() != [], "no script is loaded for another page")
    expect("Theorem 6." in card.inner_text(), "the card shows something else")
    expect(card.locator(".katex-html").count() > 3, "the formulas of the card are not typeset")
    expect(card.locator("math").count() > 3, "the formulas of the card are not read aloud")
    expect(link.get_attribute("aria-describedby") == "link-card", "the link does not name its card")
    in_place = card.get_attribute("role") == "dialog" or card.get_attribute("aria-label") is None
    expect(in_place, "a name is read in the place of the card's words")
    expect(link.evaluate(IS_FREE), "the card lies over its link")
    box = card.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=8)
    reader.rest(600)
    expect(card.is_visible(), "the card goes when the mouse comes")
    page.keyboard.press("Escape")
    expect(reader.has_no_card(), "Escape does not close the card")
    page.mouse.move(5, 5)
    asked = len(reader.scripts())
    here = page.locator(HERE).first
    reader.show(here)
    here.hover()
    expect(reader.has_card(), "a link on the page has no card")
    expect(len(reader.scripts()) == asked, "a script is loaded for what is on the page")
    page.mouse.move(5, 5)
    expect(reader.has_no_card(), "the card stays when the mouse goes")
    here.click()
    expect("#alg-kernel-perceptron" in page.url, "a click follows no link")


def with_keys(reader):
    """A card of each kind by the keyboard."""
    page, expect = reader.page, reader.expect
    at = ""
    for kind, (name, where, says) in KINDS.items():
        if at != name:
            reader.visit(name)
            at = name
        link = page.locator(where).first
        reader.by_key(link)
        expect(reader.has_card(), f"a link to a {kind} has no card")
        text = reader.card.inner_text()
        expect(says in text and len(text) > 8, f"the card of a {kind} says {text[:40]!r}")
        expect(reader.card.locator("a, button, [id]").count() == 0, f"a {kind} has something to press")
        if "figure" in kind:
            drawn = "[...document.querySelectorAll('#link-card img')].some((one) => one.naturalWidth)"
            expect(reader.becomes(drawn), "a figure's card has no picture")
        page.keyboard.press("Escape")
        expect(reader.has_no_card(), f"Escape does not close the card of a {kind}")
        expect(link.evaluate(HAS_FOCUS), "Escape takes the focus away")


def in_a_small_window(reader):
    """A card that scrolls is reached by Tab, which then goes on."""
    page, expect = reader.page, reader.expect
    page.set_viewport_size({"width": 1280, "height": 300})
    reader.visit(PAGE)
    link = page.locator(STATEMENT).first
    reader.by_key(link)
    expect(reader.has_card(), "a link in a small window has no card")
    page.keyboard.press("Tab")
    in_card = "card => card.contains(document.activeElement)"
    expect(reader.card.evaluate(in_card), "Tab does not reach a card that scrolls")
    page.keyboard.press("Tab")
    expect(reader.has_no_card(), "Tab does not leave the card")
    expect(link.evaluate(IS_BEFORE_FOCUS), "Tab does not go on after the link")


def there_and_back(reader):
    """The way back, on the page and from another one: the place, the folds, the focus."""
    page, expect, box = reader.page, reader.expect, reader.box
    for target in ("#", "background.html#"):
        reader.visit(PAGE)
        number = page.evaluate(IN_PROOF, target)
        link = page.locator("details.proof a.reference.internal").nth(number)
        before, folds = reader.show(link)
        link.click()
        expect(reader.has_box(), f"no way back after a jump to {target}")
        said = page.locator("body > [role=status]").last.inner_text()
        expect("back to where you were" in said, "the way back is not announced")
        reader.rest(700)
        if target == "#":
            page.keyboard.press("Shift+Tab")
            expect(
                box.evaluate("box => box.contains(document.activeElement)"), "the keyboard finds no way back"
            )
            page.evaluate("document.querySelectorAll('details.proof').forEach((one) => (one.open = false))")
        box.get_by_role("button", name="Back to where").click()
        reader.comes_back()
        expect(page.url.split("#")[0].endswith(PAGE), "the way back leads to another page")
        top, now = link.evaluate(STATE)
        expect(now == folds, f"the folds are not as they were before a jump to {target}")
        expect(abs(top - before) <= 2, f"the place is lost by a jump to {target}")
        expect(link.evaluate(HAS_FOCUS), "the keyboard is not back at the link")
        expect(box.count() == 0, "the way back stays when it was used")


def by_the_browser(reader):
    """Its own way back, from a jump and from one to the place where one is already."""
    page, expect = reader.page, reader.expect
    reader.visit(PAGE)
    here = page.locator(HERE).first
    places = []
    for block in ("center", "end"):
        places.append(reader.show(here, block)[0])
        here.click()
        reader.rest(600)
    for before in reversed(places):
        page.go_back()
        reader.rest(600)
        top, _ = here.evaluate(STATE)
        expect(abs(top - before) <= 2, "the browser's own way back leads beside the place")
        expect(reader.box.count() == 0, "the way back stays when the browser's was used")


def not_taken(reader):
    """The way back goes when it is closed, and when the reader goes on."""
    page, expect, box = reader.page, reader.expect, reader.box
    reader.visit(PAGE)
    here = page.locator(HERE).first
    reader.show(here)
    here.click()
    expect(reader.has_box(), "no way back")
    box.get_by_role("button", name="Close").click()
    expect(box.count() == 0, "the way back cannot be closed")
    reader.show(here)
    here.click()
    reader.rest(900)
    page.evaluate("scrollBy({ top: 3 * innerHeight, behavior: 'instant' })")
    expect(reader.becomes("!document.querySelector('.way')"), "the way back stays while one reads on")


def reading(reader):
    """What is remembered of a chapter, offered, marked and cleared."""
    page, expect, box = reader.page, reader.expect, reader.box

    def state():
        mark = page.locator(MARK)
        return mark.first.get_attribute("aria-label") if mark.count() else ""

    def read(number, ms):
        headings.nth(number).evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
        reader.rest(ms)

    reader.visit(PAGE)
    expect(box.count() == 0, "who has read nothing is offered a place")
    expect(page.locator(".reading-note").count() == 0, "marks are explained where there are none")
    headings = page.locator(".bd-article section > h2")
    for number in range(4):
        read(number, 450)
    reader.visit(NEXT)
    expect(state() == "begun", "a begun chapter has no mark")
    reader.visit(PAGE)
    page.evaluate("scrollBy(0, 50)")  # who looks at the beginning does not give the place up
    reader.rest(500)
    reader.visit(NEXT)
    reader.visit(PAGE)
    expect(page.evaluate("scrollY") == 0, "the page jumps by itself")
    offer = box.get_by_role("link")
    expect(offer.count() == 1, "the place is not offered")
    title = headings.nth(3).inner_text().rstrip("#").strip()
    expect(title in offer.inner_text(), "another place is offered")
    offer.click()
    reader.rest(700)
    top = headings.nth(3).evaluate("one => one.getBoundingClientRect().top")
    expect(-5 < top < 300, "the offer leads elsewhere")
    expect(box.count() == 0, "the offer stays when it was taken")
    for number in range(headings.count()):
        read(number, 120)
    expect(state() == "read", "a read chapter has no mark")
    note = page.locator(".reading-note")
    expect(note.count() == 1 and "nothing is sent" in note.inner_text(), "it is not said what is kept")
    note.get_by_role("button").click()
    expect(page.locator(".reading-mark").count() == 0, "the marks cannot be cleared")
    read(0, 500)
    reader.visit(NEXT)
    expect(page.locator(".reading-mark").count() == 0, "the marks come back")


def where_storage_is_refused(reader):
    """Cards and the way back need no storage."""
    page, expect = reader.page, reader.expect
    reader.visit(PAGE)
    here = page.locator(HERE).first
    reader.by_key(here)
    expect(reader.has_card(), "without storage there is no card")
    here.click()
    expect(reader.has_box(), "without storage there is no way back")
    page.evaluate("scrollTo(0, 9000)")
    reader.rest(600)
    expect(True, "")


def with_a_finger(reader):
    """A tap shows the card, which leads there; a second tap follows the link."""
    page, expect, card = reader.page, reader.expect, reader.card
    reader.visit(PAGE)
    link = page.locator(STATEMENT).first
    before, _ = reader.show(link)
    link.tap()
    expect(reader.has_card(), "a tap shows no card")
    expect(page.url.endswith(PAGE), "the first tap leaves the page")
    expect(card.evaluate(FITS), "the card is wider than the window")
    expect(card.get_attribute("role") == "dialog", "what can be pressed is in a tooltip")
    expect(card.evaluate("card => card.contains(document.activeElement)"), "the focus is not in the card")
    page.touchscreen.tap(195, 795)
    expect(reader.has_no_card(), "a tap beside the card does not close it")
    link.tap()
    expect(reader.has_card(), "a tap shows no second card")
    card.get_by_role("button", name="Close").tap()
    expect(reader.has_no_card(), "the card cannot be closed")
    link.tap()
    expect(reader.has_card(), "a tap shows no third card")
    card.get_by_role("link", name="Go there").tap()
    expect(reader.has_box() and "thm-binary-hinge" in page.url, "the card does not lead there")
    expect(page.evaluate("document.documentElement.scrollWidth <= 390"), "the box is wider than the window")
    reader.box.get_by_role("button", name="Back to where").tap()
    reader.comes_back()
    expect(page.url.endswith(PAGE), "no way back by touch")
    expect(abs(link.evaluate(STATE)[0] - before) <= 2, "the place is lost on a phone")
    link.tap()
    expect(reader.has_card(), "a tap shows no card when one has come back")
    link.tap()
    expect(reader.becomes("location.hash === '#thm-binary-hinge'"), "the second tap does not follow the link")


STORIES = [
    with_mouse,
    with_keys,
    in_a_small_window,
    there_and_back,
    by_the_browser,
    not_taken,
    reading,
    where_storage_is_refused,
    with_a_finger,
]


def findings(browser, address, story, script=SCRIPT):
    """What a reader complains of first, who comes for the first time; "" if all is well."""
    width = 390 if story is with_a_finger else 1280
    before = NO_STORAGE if story is where_storage_is_refused else ""
    reader = Reader(browser, address, script, width, before)
    try:
        story(reader)
    except Wrong as complaint:
        return str(complaint)
    finally:
        reader.context.close()
    return "".join(reader.errors)


def test_every_link_to_a_label_has_a_card(root):  # noqa: F811
    """Of the chapters; on their own page too, where the script makes the card (`with_keys`)."""
    texts = cards.pages(SITE)
    places = {page: cards.places(text) for page, text in texts.items()}
    found, missing = 0, []
    for name in (name for name in texts if name.startswith("chapters/")):
        for page, anchor in cards.links(name, texts[name]):
            if anchor.startswith(WITHOUT):
                continue
            found += 1
            if anchor not in places[page] or not cards.shown(texts[page], places[page][anchor]):
                missing.append(f"{name}: {page}#{anchor}")
    assert missing == []
    assert found > 2000
    context = MiniRacer()
    context.eval(f"{SCRIPT}; const sizes = [];")
    context.eval("mcFollow.take = (page, signs, values, cards) => sizes.push(Object.keys(cards).length)")
    for page, stored in cards.cards_by_page(texts):
        file = SITE / cards.CARDS / page.replace(".html", ".js")
        assert file.stat().st_size <= LARGEST, page
        context.eval(file.read_text(encoding="utf-8"))
        assert context.eval("sizes.pop()") == len(stored), page


@pytest.mark.ci
@pytest.mark.parametrize("story", STORIES)
def test_where_it_is_served(browser, root, story):  # noqa: F811
    assert findings(browser, root, story) == ""


@pytest.mark.ci
@pytest.mark.parametrize(
    "story", [with_mouse, there_and_back, by_the_browser, not_taken, reading, with_a_finger]
)
def test_from_the_disk(browser, story):
    assert findings(browser, SITE.as_uri() + "/", story) == ""


@pytest.mark.parametrize(("mode", "width"), [("light", 1280), ("dark", 390)])
def test_axe(browser, root, mode, width):  # noqa: F811
    reader = Reader(browser, root, width=width, mode=mode)
    page = reader.page
    try:
        page.add_init_script('localStorage.setItem(\'reading\', \'{"chapters/risk": {"state": "read"}}\')')
        reader.visit("parts/choose.html")
        link = page.locator(".bd-article a.internal[href*='#sec-']").first
        reader.show(link)
        link.tap() if width < 600 else link.hover()
        assert reader.has_card()
        assert page.locator(".reading-note").count() == 1
        page.evaluate(checks.AXE)
        assert violations(page, "html") == []
        reader.visit(PAGE)
        page.locator(HERE).first.evaluate("link => { link.click(); }")
        assert reader.has_box()
        page.evaluate(checks.AXE)
        assert violations(page, ".way, body > [role=status]") == []
    finally:
        reader.context.close()


def violations(page, place):
    found = page.evaluate("(place) => axe.run(place)", place)["violations"]
    return [(rule["id"], node["target"]) for rule in found for node in rule["nodes"]]


# what is changed: by what, in which story it is noticed, and as what
FAULTS = [
    (
        "article.append(card);",
        "article.append(card); load('chapters/binary');",
        with_mouse,
        "before they are needed",
    ),
    ("else if (link) later(() => show(link));", "", with_mouse, "the mouse shows no card"),
    (
        "else if (card.contains(event.target)) clearTimeout(timer);",
        "",
        with_mouse,
        "the card goes when the mouse comes",
    ),
    ("      else hide();\n", "", with_mouse, "Escape does not close the card"),
    ("if (isHere(link)) return cleaned", "if (false) return cleaned", with_mouse, "on the page"),
    ("link.replaceWith(...link.childNodes)", "void link", with_keys, "something to press"),
    ('!shown.matches(":focus-visible")', "false", with_mouse, "stays when the mouse goes"),
    ("`${top - zero.top}px`", "`${line.top - zero.top}px`", with_mouse, "lies over its link"),
    ('link !== shown && link.matches(":focus-visible")', "false", with_keys, "has no card"),
    ('place.querySelector("img"), ', "", with_keys, "has no picture"),
    ("root + picture.getAttribute", "picture.getAttribute", with_keys, "has no picture"),
    ("inside[0].focus()", "inside[0].blur()", in_a_small_window, "does not reach a card that scrolls"),
    ("history.replaceState({ visited: true, place }", "({ visited: true, place }", there_and_back, "folds"),
    ("(fold.open = open.includes(i))", "void fold", there_and_back, "the folds are not as they were"),
    ("?.to === location.href) offerBack()", "?.to === 0) offerBack()", there_and_back, "jump to background"),
    ("if (again) history.pushState", "if (false) history.pushState", by_the_browser, "leads beside"),
    ("removeFarFrom(box, FAR);", "", not_taken, "stays while one reads on"),
    ("blockAround(target)", "article.firstElementChild", there_and_back, "the keyboard finds no way back"),
    ("status.textContent = ", "status.title = ", there_and_back, "not announced"),
    ("if (offered?.isConnected) return;", "", reading, "the place is not offered"),
    ("watching = false;", "", reading, "the marks"),
    ("keep({});", "", reading, "the marks"),
    ("} catch {\n      return {};", "} finally {", where_storage_is_refused, "error: denied"),
    ('finger = event.pointerType === "touch"', "finger = false", with_a_finger, "a tap shows no card"),
    (" || link === shown) return;", ") return;", with_a_finger, "the second tap"),
    ("!== shown) hide();", "=== shown) hide();", with_a_finger, "the second tap"),
]


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new", "story", "complaint"), FAULTS)
def test_planted_faults_are_found(browser, root, old, new, story, complaint):  # noqa: F811
    assert SCRIPT.count(old) == 1
    found = findings(browser, root, story, SCRIPT.replace(old, new))
    assert found
    assert complaint in found
