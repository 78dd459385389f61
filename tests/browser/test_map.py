"""The map of the chapters on the first page: reached by keyboard, seen on a phone, and followed."""

import checks
import pytest
from test_pages import SITE

# of a row: whether its frame is drawn; of all lines: how many are lit
STATE = """() => {
  const map = document.querySelector(".chapter-map");
  const drawn = (part) => getComputedStyle(part).stroke !== "none";
  const frames = [...map.querySelectorAll("a rect")].filter(drawn);
  return [frames.length, [...map.querySelectorAll(".map-lit path")].filter(drawn).length];
}"""
# letters as high as on the screen, and whether each title stays inside the drawing
SIZES = """() => {
  const map = document.querySelector(".chapter-map");
  const { left, right, width } = map.getBoundingClientRect();
  const words = [...map.querySelectorAll("tspan[x], .map-part, .map-number")];
  const boxes = words.map((word) => word.getBoundingClientRect());
  const lines = [...map.querySelectorAll("circle, .map-lines path")];
  const ends = lines.map((line) => line.getBoundingClientRect().right);
  return {
    letters: (14 * width) / map.viewBox.baseVal.width,
    outside: boxes.filter((box) => box.left < left || box.right > right + 1).length,
    crossed: Math.min(...boxes.map((box) => box.left)) < Math.max(...ends),
  };
}"""


@pytest.fixture(scope="module", params=list(checks.WIDTHS))
def page(browser, request):
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    page = context.new_page()
    page.goto((SITE / "index.html").as_uri(), wait_until="load")
    yield page
    context.close()


def test_the_words_are_legible_and_nothing_crosses_them(page):
    sizes = page.evaluate(SIZES)
    assert 12 <= sizes["letters"] <= 20
    assert sizes["outside"] == 0
    assert not sizes["crossed"]


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


def test_a_row_is_a_link(page):
    page.locator(".to-solver").click()
    page.wait_for_url("**/chapters/solver.html", wait_until="commit")
