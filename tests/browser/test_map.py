"""The first page: what is seen at once, its doors, and the map of the chapters; by keyboard, on a phone."""

import shutil

import checks
import pytest
from test_pages import SITE

# of a row: whether its frame is drawn; of all lines: how many are lit
STATE = """() => {
  const map = document.querySelector(".chapter-map");
  const framed = (a) => getComputedStyle(a, "::after").outlineStyle !== "none";
  const look = (line) => getComputedStyle(line);
  const lit = (line) => look(line).borderLeftWidth === "3px" && look(line).zIndex === "1";
  const count = (selector, is) => [...map.querySelectorAll(selector)].filter(is).length;
  return [count("li a", framed), count(".map-line", lit)];
}"""
# what of the map is not where it belongs
MISPLACED = """() => {
  const map = document.querySelector(".chapter-map");
  const box = (element) => element.getBoundingClientRect();
  const middle = (element) => (box(element).top + box(element).bottom) / 2;
  const stations = [...map.querySelectorAll(".map-station")];
  const chapters = [...map.querySelectorAll("li")];
  const found = chapters
    .map((li, n) => [li, box(stations[n]), li.querySelector("a").getClientRects()[0]])
    .filter(([, dot, line]) => dot.right > line.left || dot.top < line.top || dot.bottom > line.bottom)
    .map(([li]) => "no station beside the first line of " + li.innerText);
  if (stations.length !== chapters.length) found.push("stations: " + stations.length);
  const heights = stations.map(middle);
  const meets = (y) => heights.some((height) => Math.abs(height - y) < 2);
  for (const line of map.querySelectorAll(".map-line")) {
    const { top, bottom, left, right } = box(line);
    if (!meets(top) || !meets(bottom)) found.push("a line ends beside the stations: " + line.className);
    const beside = left < box(map).left || right > box(stations[0]).right;
    if (beside) found.push("a line leaves its place: " + line.className);
  }
  const small = (p) => parseFloat(getComputedStyle(p).fontSize) < 12 || box(p).right > box(map).right;
  const words = [...map.querySelectorAll("p, a")].filter(small);
  return [...found, ...words.map((p) => "small or cut: " + p.innerText)];
}"""
# in screens from the top: where a theorem can be broken
BREAK = "() => document.querySelector('.break-it .breaks').getBoundingClientRect().bottom / innerHeight"


def opened(browser, site, width, height):
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    page.goto((site / "index.html").as_uri(), wait_until="load")
    return page


@pytest.fixture(scope="module", params=list(checks.WIDTHS))
def page(browser, request):
    page = opened(browser, SITE, request.param, {1280: 800, 390: 844}[request.param])
    yield page
    page.context.close()


def test_a_theorem_can_be_broken_within_two_screens(page):
    screens = 2 if page.viewport_size["width"] > 600 else 2.5  # there the doors stand one below the other
    assert page.evaluate(BREAK) <= screens
    first = page.locator(".break-it details").first
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    assert first.locator(".counter").is_visible()
    page.keyboard.press("Enter")


def test_each_part_of_the_map_is_where_it_belongs(page):
    assert page.evaluate(MISPLACED) == []


def test_the_keyboard_sees_where_it_is_and_what_a_chapter_builds_on(page):
    assert page.evaluate(STATE) == [0, 0]
    page.keyboard.press("Tab")  # from now on the browser shows what has the focus
    page.locator(".to-solver").focus()
    frames, lit = page.evaluate(STATE)
    assert frames == 1
    assert lit >= 4  # the dual, the representer theorem, the hinge, and more
    page.locator(".to-risk").focus()
    assert page.evaluate(STATE) == [1, 0]
    page.locator(".to-risk").blur()


def test_a_door_and_a_row_are_links_as_a_whole(page):
    for part, address in ((".doors li >> nth=0", "**/path.html"), ("li:has(.to-solver)", "**/solver.html")):
        box = page.locator(part).bounding_box()
        page.locator(part).click(position={"x": box["width"] - 15, "y": box["height"] - 15})
        page.wait_for_url(address, wait_until="commit", timeout=5000)
        page.go_back(wait_until="load")


@pytest.mark.ci
def test_a_map_whose_lines_go_astray_is_noticed(browser, tmp_path):
    site = tmp_path / "html"
    shutil.copytree(SITE / "_static", site / "_static")
    text = (SITE / "index.html").read_text(encoding="utf-8")
    # the lines from the second chapter begin at the caption below it
    (site / "index.html").write_text(text.replace("grid-row:3/", "grid-row:4/"), encoding="utf-8")
    found = opened(browser, site, 1280, 800).evaluate(MISPLACED)
    assert found
    assert all(complaint.startswith("a line ends beside the stations: map-line") for complaint in found)
