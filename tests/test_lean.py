"""Pages in fewer elements: nothing that is read is lost, and every class that is written has its rule."""

import html
import re

import pytest
from pygments.styles import get_style_by_name
from pygments.token import Token

from tools.sphinx import katex, lean

# one of each thing that KaTeX stacks, moves or spaces
FORMULAS = [
    r"x_i^2 + y'_{r \ne y} - \tfrac12\norm{w_{i_j}}^2 \le \mathbf{1}[a = b],\; c",
    r"\frac{1}{1 + \frac{a^2}{b}} \quad\text{if } a \notin B",
    r"\sqrt{x^2 + 1} + \hat y + \bar{\mathcal F}_m + \overline{AB} + \widetilde{xyz}",
    r"\sum_{i=1}^n \max_{r \ne y} \argmax_y f_y(x) \int_0^1 \Bigl(\frac ab\Bigr)^{-1}",
    r"\begin{aligned} a &= b \\ c &= \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \end{aligned}",
    r"f(x) = \begin{cases} 1 & x > 0 \\ 1 & x = 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\underbrace{a + b}_{c} \xrightarrow{n} \left\lfloor \frac x2 \right\rfloor \, \big| \, \color{red}{x}",
]


def raw(tex: str) -> str:
    return katex.answer(tex, True)["html"]


def seen(formula: str) -> str:
    """The letters of the part that is shown; KaTeX has spaces of no width for old browsers."""
    text = re.sub(r"<[^>]*>", "", formula.split('<span class="katex-html"')[1].split(">", 1)[1])
    return html.unescape(text).replace("\u200b", "")


def elements(formula: str) -> int:
    return len(re.findall(r"<[a-z]", formula))


@pytest.mark.parametrize("tex", FORMULAS)
def test_a_formula_keeps_its_letters_and_loses_elements(tex: str):
    before, after = raw(tex), lean.formula(raw(tex))
    assert seen(after) == seen(before)
    assert katex.plain(after) == katex.plain(before)
    assert elements(after) < 0.7 * elements(before)
    assert "<annotation" not in after
    assert f"{html.escape(tex, quote=False)}</annotation>" in lean.formula(before, keep_tex=True)


def test_an_index_is_one_element():
    after = lean.formula(raw("x_i"))
    assert after.split('aria-hidden="true">')[1] == (
        '<span class="katex-base a5806 dn1500"><span class="mathnormal">x</span>'
        '<span class="z6-3 mathnormal v2143 r714">i</span></span></span></span></span>'
    )
    assert '<math display="block"><msub><mi>x</mi><mi>i</mi></msub></math>' in after


@pytest.mark.parametrize("tex", FORMULAS)
def test_every_class_has_a_rule(tex: str):
    after = lean.formula(raw(tex)).split('<span class="katex-html"')[1]
    names = {name for names in re.findall(r'class="([^"]*)"', after) for name in names.split()}
    stylesheet = (katex.VENDORED / "katex.min.css").read_text(encoding="utf-8") + lean.rules(names)
    without = {name for name in names if not re.search(rf"\.{re.escape(name)}(?![\w-])", stylesheet)}
    assert without <= {"scripts"}  # the first is in web/static/formulas.css


def test_boxes_that_are_taken_away_have_no_rule():
    stylesheet = (katex.VENDORED / "katex.min.css").read_text(encoding="utf-8")
    assert [name for name in sorted(lean.KINDS) if re.search(rf"\.{name}(?![\w-])", stylesheet)] == []


@pytest.mark.parametrize("style", ["a11y-high-contrast-light", "a11y-high-contrast-dark"])
def test_code_without_an_element_has_the_colour_of_the_code(style: str):
    colours = get_style_by_name(style)
    base = colours.style_for_token(Token)["color"] or colours.style_for_token(Token.Name)["color"]
    names = {short: kind for kind, short in lean_standard_types().items()}

    def colour(short: str) -> str:
        return colours.style_for_token(names[short])["color"] or base

    assert {colour(short) for short in lean.PLAIN} == {base}
    assert len({colour(short) for short in lean.STRINGS}) == 1


def lean_standard_types() -> dict:
    from pygments.token import STANDARD_TYPES

    return STANDARD_TYPES


def test_code_keeps_its_letters():
    block = (
        '<pre><span></span>\n<span class="n">f</span><span class="p">(</span><span class="sa">f</span>'
        '<span class="s2">&quot;a</span><span class="si">{</span><span class="n">b</span>'
        '<span class="si">}</span>'
        '<span class="s2">&quot;</span><span class="p">)</span> <span class="o">&lt;</span></pre>'
    )
    after = lean.CODE.sub(lean.code, f'{block}<span class="n">not code</span>')
    assert after == (
        '<pre><span></span>\nf(<span class="s">f&quot;a{</span>b<span class="s">}&quot;</span>) '
        '<span class="o">&lt;</span></pre><span class="n">not code</span>'
    )
