"""Every page of the site that lies in _build/html, in Chromium."""

from pathlib import Path

import checks
import pytest
import yaml

from tools import stored, weight

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"


def entries(node):
    """The pages that a part of _toc.yml names, in order."""
    if isinstance(node, list):
        return [name for child in node for name in entries(child)]
    if not isinstance(node, dict):
        return []
    own = [node[key] for key in ("root", "file") if key in node]
    return own + [name for child in node.values() for name in entries(child)]


PAGES = [f"{name}.html" for name in entries(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))]


EVERY = 3  # odd: the widths take turns


def has_changed(page):
    """Whether the page's own source differs from the last commit."""
    return any(path.with_suffix(".html") == ROOT / page for path in stored.changed())


@pytest.fixture(scope="session")
def root():
    if not (SITE / "index.html").exists():
        pytest.fail("There is no site to look at in _build/html: `make book` builds it.", pytrace=False)
    with checks.served(SITE) as address:
        yield address


def complain(found):
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def pytest_generate_tests(metafunc):
    """Each page at each width, and without scripts; of pages that one program makes alike, each at one width.

    Wide, a page is light, and narrow, dark; at one of the widths, in turn, it is switched to the other mode.
    With --quick each page at one width, in one mode; every fifth without scripts; every fifth of those alike.
    Where no tool and no style has changed, of these the pages that have, and every third.
    """
    quick = metafunc.config.getoption("--quick")
    alike = [name for name in PAGES if name.startswith(("appendix/api/", "appendix/lectures/"))]
    own = [name for name in [*PAGES, "search.html"] if name not in alike]
    if metafunc.function is test_page_without_scripts:
        metafunc.parametrize("name", [*own[:-1:5], alike[0]] if quick else [*own[:-1], *alike[::5]])
    if metafunc.function is not test_page:
        return
    widths = list(checks.WIDTHS)
    in_turn = [*own, *alike[::5]] if quick else alike
    visits = [(name, widths[n % len(widths)], not quick) for n, name in enumerate(in_turn)]
    if not quick:
        visits += [
            (name, width, width == widths[n % len(widths)]) for n, name in enumerate(own) for width in widths
        ]
    else:
        visits = [
            pytest.param(*visit, marks=[pytest.mark.ci] if n % EVERY and not has_changed(visit[0]) else [])
            for n, visit in enumerate(visits)
        ]
    metafunc.parametrize(("name", "width", "both"), visits)


def test_page(browser, root, name, width, both):
    found = checks.visit(browser, root, name, width, both)
    complain([f"{check}: {place}" for check, places in found.items() for place in places])


def test_page_without_scripts(browser, root, name):
    complain(checks.unscripted(browser, root, name))


def test_weight(root):
    complain([complaint for page in weight.weights(SITE) for complaint in page.complaints()])


def test_links(root):
    complain(checks.links(SITE))


def test_search_from_the_disk(browser, root):
    complain(checks.search(browser, SITE.as_uri() + "/", "codeword"))


def test_search_where_it_is_served(browser, root):
    complain(checks.search(browser, root, "separation"))
