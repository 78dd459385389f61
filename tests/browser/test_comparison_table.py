"""The table of the chapter on real data: sorted, compared and narrowed by hand."""

import pytest
from test_pages import SITE

PAGE = "chapters/comparison.html"


class Table:
    """The interactive table on its page, and what can be read in it."""

    def __init__(self, page):
        self.box = page.locator('[data-widget="comparison-table"]')
        page.goto((SITE / PAGE).as_uri(), wait_until="load")
        self.box.scroll_into_view_if_needed()

    def press(self, name):
        self.box.get_by_role("button", name=name, exact=True).click()

    def column(self, place):
        return self.box.locator(f"tbody tr > :nth-child({place})").all_inner_texts()

    def said(self):
        return self.box.get_by_role("status").inner_text()

    def marks(self, verdict):
        return self.box.locator(f"tbody .mc-{verdict}").count()


@pytest.fixture(params=[1280, 390])
def table(browser, request):
    page = browser.new_page(viewport={"width": request.param, "height": 844})
    yield Table(page)
    page.close()


def test_it_begins_as_the_text_and_without_scripts(browser, table):
    assert table.said().endswith("23 shown worse, 0 shown better, 169 open.")
    assert table.marks("worse") == 23
    context = browser.new_context(java_script_enabled=False)
    plain = Table(context.new_page())
    cells = "tbody th, tbody td"
    assert plain.box.locator(cells).all_inner_texts() == table.box.locator(cells).all_inner_texts()
    context.close()


def test_a_head_sorts_and_keeps_the_focus(table):
    table.press("glass")
    assert table.column(1)[0] == "RandomForest"
    head = table.box.locator("th[aria-sort]")
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert table.column(1)[0] == "Dummy"


def test_baseline_test_and_data_sets_are_chosen(table):
    table.press("Naive t")
    assert (table.marks("worse"), table.marks("better")) == (89, 23)
    table.press("Digits alone")
    assert table.marks("worse") == 7
    assert table.box.get_by_role("checkbox", name="digits").is_disabled()  # one must stay
    table.press("As in the text")
    table.box.get_by_label("Baseline").select_option("Dummy")
    assert table.marks("worse") == 0
    table.box.get_by_role("checkbox", name="vowel").uncheck()
    assert table.said().startswith("168 comparisons with Dummy on 7 data sets")
