"""Run it: what a chapter offers, and that it is what comes when somebody takes it."""

import re
import zipfile

import pytest
import yaml
from test_pages import PAGES, ROOT, SITE, root  # noqa: F401

CHAPTER = "margin"
CHAPTERS = [page.split("/")[1].removesuffix(".html") for page in PAGES if page.startswith("chapters/")]
PAGE = (SITE / "chapters" / f"{CHAPTER}.html").read_text(encoding="utf-8") if SITE.exists() else ""
PUBLISHED = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"][
    "html_theme_options"
].get("repository_url")
TOUCHED = 24  # pixels: what WCAG 2.2 asks for


def findings(browser, address: str, text: str = PAGE, path: str = f"chapters/{CHAPTER}.html") -> list[str]:
    """All that is wrong with the menu of a chapter on a phone, and with the page to which it leads."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    context.route(f"**/{path}", lambda route: route.fulfill(body=text, content_type="text/html"))
    page = context.new_page()
    try:
        page.goto(address + path, wait_until="load")
        menu = page.locator(".run-menu")
        if menu.locator("summary").all_inner_texts() != ["Run it"]:
            return ["no menu “Run it”"]
        box = menu.locator("summary").bounding_box()
        if not box or box["y"] > 844 or min(box["height"], box["width"]) < TOUCHED:
            return [f"the menu is not at the top, or too small for a finger: {box}"]
        menu.locator("summary").focus()
        page.keyboard.press("Enter")
        steps = menu.locator("ol li").all_inner_texts()
        if steps != ["pip install -r requirements.txt", f"jupyter lab {CHAPTER}.ipynb"]:
            return [f"the steps are {steps}"]
        words = menu.inner_text()
        if bool(PUBLISHED) != bool(re.search("Binder|Colab", words)):
            return ["the menu offers Binder or Colab, and no repository is named, or the other way round"]
        taken = []
        for link in menu.locator("a[download]").all():
            with page.expect_download(timeout=5000) as download:
                link.click()
            taken.append(download.value.suggested_filename)
            if not zipfile.is_zipfile(download.value.path()):
                return [f"{taken[-1]} is no archive"]
            with zipfile.ZipFile(download.value.path()) as archive:
                files = archive.namelist()
            if taken[-1] == f"{CHAPTER}.zip" and f"{CHAPTER}/{CHAPTER}.ipynb" not in files:
                return ["the folder has no notebook"]
        if len(taken) != 2 or taken[0] != f"{CHAPTER}.zip" or not taken[1].endswith(".whl"):
            return [f"the downloads are {taken}"]
        ways = menu.get_by_role("link", name="other ways")
        if not ways.count():
            return ["the other ways are not linked"]
        ways.click()
        page.wait_for_load_state("load")
        offered = [link.inner_text() for link in page.locator("main a[download]").all()]
        if set(offered) != {f"{name}.zip" for name in CHAPTERS} | {taken[1]}:
            return [f"the page of all ways offers {offered}"]
        if f"pip install ./{taken[1]}" not in page.inner_text("main"):
            return ["no page says how the wheel is installed"]
        said = "this book names none" in page.inner_text("main")
        return [] if said != bool(PUBLISHED) else ["the page does not say whether the book is published"]
    finally:
        context.close()


def test_run_it(browser, root):  # noqa: F811
    assert findings(browser, root) == []


FAULTS = {
    "<summary>Run it</summary>": ("<summary>⬇</summary>", "no menu “Run it”"),
    'class="run-menu"': (
        'class="run-menu" style="position: absolute; top: 3000px"',
        "the menu is not at the top",
    ),
    f"<code>jupyter lab {CHAPTER}.ipynb</code>": ("<code>jupyter lab</code>", "the steps are"),
    "<p>Only the package:": ("<p>Binder, or only the package:", "the menu offers Binder"),
    f'href="../run/{CHAPTER}.zip"': ('href="../run/risk.zip"', "the downloads are"),
    f'href="../run/{CHAPTER}.zip" download': (
        f'href="../chapters/{CHAPTER}.html" download="{CHAPTER}.zip"',
        f"{CHAPTER}.zip is no archive",
    ),
    "If pip refuses, and other ways": ("Elsewhere", "the other ways are not linked"),
}


@pytest.mark.ci
@pytest.mark.parametrize("piece", FAULTS)
def test_a_planted_fault_is_found(browser, root, piece):  # noqa: F811
    other, complaint = FAULTS[piece]
    assert PAGE.count(piece) == 1
    (found,) = findings(browser, root, PAGE.replace(piece, other))
    assert found.startswith(complaint), found
