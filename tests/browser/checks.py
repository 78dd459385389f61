"""What is asked of a page of the site, as functions that return what they found wrong.

`visit` loads a page once per width and asks everything of it; `unscripted`, `links` and `search` need
other loads, or none. The same functions look at the real site (test_pages.py) and at a page on which
each of them has something to find (test_planted.py).
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
AXE = (HERE / "vendor" / "axe.min.js").read_text(encoding="utf-8")
PROBES = (HERE / "probes.js").read_text(encoding="utf-8")

# Each mode is loaded at one width, and switched to at the other.
WIDTHS = {1280: ("light", "dark"), 390: ("dark", "light")}

# For the address bar of each context, which nobody sees, Chromium loads two pages of its own. The last list
# that it is given counts, so Playwright's is repeated.
WITHOUT = [
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
]

# No name is looked up: a request to another host fails at once, with and without a network.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
    "--disable-features=" + ",".join(WITHOUT),
]


def chromium() -> str | None:
    """The browser: the one that `CHROMIUM` names, or Debian's; None where it is missing."""
    return shutil.which(os.environ.get("CHROMIUM") or "chromium")


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine; gives its address, which ends in a slash."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Ear:
    """Hears what a page asks for and what it complains of, from before its first request."""

    def __init__(self, page: Any, root: str):
        self.root = root
        self.foreign: list[str] = []
        self.failed: dict[str, str] = {}
        self.complaints: list[tuple[str, str]] = []
        page.on("request", self.request)
        page.on("requestfailed", self.requestfailed)
        page.on("response", self.response)
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.complaints.append(("", str(error).splitlines()[0])))

    def is_foreign(self, url: str) -> bool:
        return not url.startswith((self.root, "data:", "blob:", "about:"))

    def request(self, request: Any) -> None:
        if self.is_foreign(request.url):
            self.foreign.append(request.url)

    def requestfailed(self, request: Any) -> None:
        self.failed.setdefault(request.url, request.failure or "no answer")

    def response(self, response: Any) -> None:
        if response.status >= 400:
            self.failed[response.url] = str(response.status)

    def console(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append((message.location.get("url", ""), message.text))

    def findings(self) -> dict[str, list[str]]:
        failed = {url: why for url, why in self.failed.items() if not self.is_foreign(url)}
        # the browser writes a line for each failed request too: once is enough
        known = {*self.foreign, *failed}
        console = [f"{text} {url}".strip() for url, text in self.complaints if url not in known]
        return {
            "foreign request": sorted(set(self.foreign)),
            "failed request": [f"{url}: {why}".replace(self.root, "") for url, why in sorted(failed.items())],
            "console": [text.replace(self.root, "") for text in console],
        }


def axe(page: Any, *rules: str) -> list[str]:
    """Violations that axe-core finds: of all its rules, or of those named."""
    found = page.evaluate("(rules) => mcProbe.axe(rules)", list(rules))
    return [f"{rule}: {', '.join(places)}" for rule, places in found]


def folds(page: Any) -> list[str]:
    """What no key reaches, and what Enter does not open, of each kind one. What was opened stays open."""
    names = page.evaluate("mcProbe.findFolds()")
    unreached, pressed = [], []
    number = -1
    while number is not None:
        number, missed = page.evaluate("(from) => mcProbe.nextFold(from)", number + 1)
        unreached += missed
        if number is not None:
            page.keyboard.press("Enter")
            pressed.append(number)
    closed = page.evaluate("(numbers) => mcProbe.closed(numbers)", pressed)
    return [f"{names[n]}: the keyboard does not reach what opens it" for n in unreached] + [
        f"{names[n]}: Enter does not open it" for n in closed
    ]


KEYS = {"range": "ArrowRight", "radio": "ArrowDown", "select": "ArrowDown"}


def widgets(page: Any) -> list[str]:
    """Interactive figures in which a key changes nothing that can be read."""
    wrong = []
    for number, (name, kinds) in enumerate(page.evaluate("mcProbe.findWidgets()")):
        if not kinds:
            wrong.append(f"{name}: nothing in it takes the keyboard")
        for kind in kinds:
            before = page.evaluate("([n, kind]) => mcProbe.focusControl(n, kind)", [number, kind])
            page.keyboard.press(KEYS.get(kind, "Enter"))
            if page.evaluate("(n) => mcProbe.read(n)", number) == before:
                wrong.append(f"{name}: a key on its {kind} changes nothing")
        if page.evaluate("(n) => mcProbe.isStill(n)", number):
            wrong.append(f"{name}: the still picture is left")
    return wrong


def quizzes(page: Any) -> list[str]:
    """Quizzes that cannot be chosen from, checked and read with the keyboard alone."""
    wrong = []
    for number, name in enumerate(page.evaluate("mcProbe.findQuizzes()")):
        if not page.evaluate("(n) => mcProbe.focusQuiz(n)", number):
            wrong.append(f"{name}: the keyboard reaches no option")
            continue
        for key in ("Space", "ArrowDown", "Tab", "Enter"):  # choose, choose the next, go to the button, check
            page.keyboard.press(key)
        complaint = page.evaluate("(n) => mcProbe.quizState(n)", number)
        if complaint == "again":  # a second try
            for key in ("Shift+Tab", "ArrowDown", "Tab", "Enter"):
                page.keyboard.press(key)
            complaint = page.evaluate("(n) => mcProbe.quizState(n, true)", number)
        if complaint:
            wrong.append(f"{name}: {complaint}")
    return wrong


def matches(page: Any) -> list[str]:
    """Match-up quizzes in which the keyboard alone cannot choose in each row, check and read."""
    wrong = []
    for number, (name, rows) in enumerate(page.evaluate("mcProbe.findMatches()")):
        if not page.evaluate("(n) => mcProbe.focusMatch(n)", number):
            wrong.append(f"{name}: the keyboard reaches no choice")
            continue
        for key in ("a", "Tab") * rows + ("Enter",):  # choose a letter, go on; at the button check
            page.keyboard.press(key)
        complaint = page.evaluate("(n) => mcProbe.quizState(n)", number)
        if complaint == "again":
            page.keyboard.press("Enter")
            complaint = page.evaluate("(n) => mcProbe.quizState(n, true)", number)
        if complaint:
            wrong.append(f"{name}: {complaint}")
    return wrong


def results(page: Any) -> list[str]:
    """Tables of results that a screen reader or a keyboard cannot use as their reader's eye and mouse do."""
    wrong = page.evaluate("mcProbe.results()")
    for number, name in enumerate(page.evaluate("mcProbe.findSortable()")):
        if not page.evaluate("(n) => mcProbe.focusHead(n)", number):
            wrong.append(f"{name}: the keyboard reaches no head")
            continue
        states = [page.evaluate("(n) => mcProbe.sortState(n)", number)]
        for _ in range(3):  # upwards, downwards, and as it was
            page.keyboard.press("Enter")
            states.append(page.evaluate("(n) => mcProbe.sortState(n)", number))
        directions, orders, said = zip(*states, strict=True)
        if directions != (None, "ascending", "descending", None):
            wrong.append(f"{name}: Enter on a head does not sort")
        elif orders[1] == orders[2] and len({*orders[0]} - {"–"}) > 1:
            wrong.append(f"{name}: both directions have the same order")
        elif orders[3] != orders[0]:
            wrong.append(f"{name}: the first order does not come back")
        elif not (said[1] and said[2] and said[1] != said[2]):
            wrong.append(f"{name}: nothing says how it is sorted")
    return wrong


def drawers(page: Any) -> list[str]:
    """Contents of a small screen that do not close when something was chosen in them."""
    found = [
        page.evaluate("(name) => mcProbe.useDrawer(name)", name)
        for name in page.evaluate("mcProbe.findDrawers()")
    ]
    return [complaint for complaint in found if complaint]


def switch(page: Any, mode: str) -> list[str]:
    """Let the reader's system change its mode, and wait until the page has followed."""
    page.emulate_media(color_scheme=mode)
    return page.evaluate("(mode) => mcProbe.followsMode(mode)", mode)


def visit(browser: Any, root: str, name: str, width: int, both: bool = True) -> dict[str, list[str]]:
    """All that is wrong with a page at a width, in both modes or in that alone in which it is loaded.

    The findings by check.
    """
    first, second = WIDTHS[width]
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=first,
        has_touch=width < 600,
        reduced_motion="reduce",  # a colour half way to another is no reader's colour
    )
    context.add_init_script(PROBES)
    page = context.new_page()
    ear = Ear(page, root)
    try:
        page.goto(root + name, wait_until="load")
        page.evaluate("document.fonts.ready.then(() => null)")
        found = {
            "mode": switch(page, first),
            "formulas": page.evaluate("mcProbe.formulas()"),
            "alt": page.evaluate("mcProbe.alts()"),
            "sideways": page.evaluate("mcProbe.sideways()"),
            "growth": page.evaluate("mcProbe.growth()"),
            "headings": page.evaluate("mcProbe.headings()"),
            "code": page.evaluate("mcProbe.code()"),
            "looks": page.evaluate("mcProbe.looks()"),
            "links": page.evaluate("mcProbe.links()"),
            "drawer": drawers(page) if width < 600 else [],
        }
        page.evaluate("mcProbe.openAround()")  # an interactive figure or a quiz may stand in a fold
        found |= {"widget": widgets(page), "quiz": quizzes(page), "match": matches(page)}
        page.evaluate("mcProbe.closeAgain()")
        page.evaluate("mcProbe.openAll()")
        page.evaluate("mcProbe.settled()")
        found["results"] = results(page)
        page.emulate_media(media="print")
        found["print"] = page.evaluate("mcProbe.unprinted()")
        page.emulate_media(media="screen")
        found["stretched"] = page.evaluate("mcProbe.stretched()")
        found["sideways"] = found["sideways"] or page.evaluate("mcProbe.sideways()")
        page.evaluate(AXE)
        page.evaluate("mcProbe.slim()")
        page.evaluate("mcProbe.settled()")
        found["axe"] = axe(page)
        if both:
            found["mode"] += switch(page, second)
            found["links"] += [f"{second}: {place}" for place in page.evaluate("mcProbe.links()")]
            # nothing but colours depends on the mode
            found["axe"] += [f"{second}: {place}" for place in axe(page, "color-contrast")]
        # last, on the small page that `slim` has left: each key press lays it out again
        page.evaluate("mcProbe.closeAgain()")
        found["folds"] = folds(page)
        return found | ear.findings()
    finally:
        context.close()


def unscripted(browser: Any, root: str, name: str) -> list[str]:
    """What a reader without JavaScript does not get to see."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page = context.new_page()
    try:
        page.goto(root + name, wait_until="load")
        wrong = page.evaluate(f"() => {{ {PROBES}; return mcProbe.unscripted(); }}")
        page.set_viewport_size({"width": 390, "height": 900})
        return wrong + page.evaluate(f"() => {{ {PROBES}; return mcProbe.contents(); }}")
    finally:
        context.close()


def search(browser: Any, root: str, word: str) -> list[str]:
    """What is wrong with a search for `word`: on the disk, where it shows no lines, or where it is served."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=root.startswith("file:"))
    page = context.new_page()
    ear = Ear(page, root)
    try:
        page.goto(f"{root}search.html?{urllib.parse.urlencode({'q': word})}", wait_until="load")
        wrong = []
        try:
            page.wait_for_selector("#search-results li a", timeout=5000)
        except Exception as error:
            if type(error).__name__ != "TimeoutError":
                raise
            wrong = [f"nothing is found for {word!r}"]
        else:
            if root.startswith("http"):
                page.wait_for_selector("#search-results .context", timeout=5000)
                page.wait_for_load_state("networkidle")
                lines = page.locator("#search-results .context").all_inner_texts()
                wrong = [f"typed formula: {line}" for line in lines if "\\" in line]
            with page.expect_navigation():
                page.click("#search-results li a")
            if word not in page.inner_text("body").lower():
                wrong += [f"the first page for {word!r} does not have it: {page.url.removeprefix(root)}"]
        return wrong + [text for texts in ear.findings().values() for text in texts]
    finally:
        context.close()


class Links(HTMLParser):
    """The names that a page has for its places, and the addresses that it refers to."""

    def __init__(self, text: str):
        super().__init__()
        self.places: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if value is None:
                continue
            if key == "id" or (key == "name" and tag == "a"):
                self.places.add(value)
            elif key in ("href", "src", "data-src", "poster"):
                self.addresses.append(value)


def links(folder: Path) -> list[str]:
    """Links within the site, on any of its pages, to a file or a place that does not exist."""
    pages = {
        path.resolve(): Links(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
    }
    wrong = {}  # a dictionary, because a page often has a link twice
    for path, page in pages.items():
        for address in page.addresses:
            url = urllib.parse.urlsplit(address)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            place = urllib.parse.unquote(url.fragment)
            missing = (
                "no such file"
                if not target.is_file()
                else "no such place on that page"
                if place and target in pages and place not in pages[target].places
                else ""
            )
            if missing:
                wrong[f"{path.relative_to(folder.resolve()).as_posix()}: {address}: {missing}"] = None
    return list(wrong)
