"""Formulas in fewer elements look as those of KaTeX: tools/sphinx/lean.py, web/static/formulas.css."""

import re

import checks
import pytest

from tools.sphinx import katex, lean
from tools.stored import ROOT

FORMULAS = [
    r"x_i^2 + y'_{r \ne y} - \tfrac12\norm{w_{i_j}}^2 \le \mathbf{1}[a = b],\; c",
    r"\frac{1}{1 + \frac{a^2}{b}} \quad\text{if } a \notin B",
    r"\sqrt{x^2 + 1} + \hat y_{\hat z} + \bar{\mathcal F}_m^{-1} + \overline{AB} + \widetilde{xyz}^{a^b_c}",
    r"\sum_{i=1}^n \max_{r \ne y} \argmax_y f_y(x) \int_0^1 \Bigl(\frac ab\Bigr)^{-1}",
    r"\begin{aligned} a &= b^2 \\ c &= \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \end{aligned}",
    r"f(x) = \begin{cases} \frac12 & x > 0 \\ 1 & x = 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\underbrace{a + b}_{c} \xrightarrow{n} \left\lfloor \frac x2 \right\rfloor \, \big|",
    r"e^{-\frac{t^2}{2}} \sqrt[3]{2}",
]

# Of each letter that is seen its left edge and the height of its baseline, from where the formula begins.
PLACES = """
() => [...document.querySelectorAll(".katex-html")].map((formula) => {
  const { left, top } = formula.getBoundingClientRect();
  const walker = document.createTreeWalker(formula, NodeFilter.SHOW_TEXT);
  const places = [];
  const range = document.createRange();
  while (walker.nextNode()) {
    [...walker.currentNode.data].forEach((letter, i) => {
      if (letter === "\\u200b") return;
      range.setStart(walker.currentNode, i);
      range.setEnd(walker.currentNode, i + 1);
      const box = range.getBoundingClientRect();
      places.push([letter, box.left - left, box.bottom - top]);
    });
  }
  return places;
})
"""

SIZES = "[...document.querySelectorAll('p, .katex-base')].map(({ offsetHeight }) => offsetHeight)"


def places(browser, formulas, rules=""):
    """Where the letters of each formula stand, and how much room each line takes."""
    lines = "".join(f"<p>{formula}</p>" for formula in formulas)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    try:
        with checks.served(katex.VENDORED) as root:
            page.goto(f"{root}katex.min.css")  # so that its fonts are of the same place
            link = f'<link rel="stylesheet" href="{root}katex.min.css">'
            page.set_content(f"<!doctype html>{link}<style>{rules}</style>{lines}")
            # fonts are asked for when a page is laid out
            page.evaluate("() => (document.body.offsetHeight, document.fonts.ready.then(() => null))")
            return page.evaluate(PLACES), page.evaluate(SIZES)
    finally:
        context.close()


@pytest.fixture(scope="module")
def written():
    return [katex.answer(tex, display)["html"] for tex in FORMULAS for display in (False, True)]


def far(first, second):
    """The letters that stand further from each other than half a pixel."""
    return [
        a
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
        if a[0] != b[0] or abs(a[1] - b[1]) > 0.5 or abs(a[2] - b[2]) > 0.5
    ]


def rules_of(formulas):
    words = {word for formula in formulas for word in re.findall(r"[\w-]+", formula)}
    return (ROOT / "web" / "static" / "formulas.css").read_text(encoding="utf-8") + lean.rules(words)


def test_letters_stand_where_they_stood(browser, written):
    leaner = [lean.formula(formula) for formula in written]
    before, sizes = places(browser, written)
    after, sizes_after = places(browser, leaner, rules_of(leaner))
    assert sizes_after == sizes
    assert far(before, after) == []


@pytest.mark.ci
@pytest.mark.parametrize("rule", [".r500", ".z6-3", ".v2143", "display: inline-grid", ".katex-base::before"])
def test_without_a_rule_they_do_not(browser, written, rule):
    leaner = [lean.formula(formula) for formula in written]
    rules = rules_of(leaner)
    assert rule in rules
    before, sizes = places(browser, written)
    after, sizes_after = places(browser, leaner, rules.replace(rule, "nothing"))
    assert far(before, after) or sizes_after != sizes
