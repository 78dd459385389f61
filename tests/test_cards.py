"""The cards of links: what they show of each kind of place, and that their scripts lose nothing."""

import json
import re
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from tools.sphinx import cards

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = (ROOT / "web" / "static" / "follow.js").read_text(encoding="utf-8")

FORMULA = (
    '<span class="math notranslate nohighlight"><span class="katex"><span class="katex-mathml">'
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>x</mi></mrow>'
    '<annotation encoding="application/x-tex">x_{raw}</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="mord mathnormal">x</span></span></span></span>'
)
BACK = '<a class="headerlink" href="#self" title="Link">#</a>'

# the HTML of a page, as Sphinx and its extensions write it
PLACES = f"""<article class="bd-article">
<section id="a-chapter">
<span id="sec-one"></span><span id="index-0"></span><h2>One section{BACK}</h2>
<div class="cell"><p class="admonition-title">A box</p></div>
<p style="--lines:2">Its <a href="#thm-one">beginning</a> has {FORMULA}.</p>
<div class="proof theorem admonition" id="thm-one">
<p class="admonition-title"><span class="caption-number">Theorem 1.1 </span> (One)</p>
<section class="theorem-content" id="proof-content"><div><p>All {FORMULA} are one.</p></div></section>
</div>
<p>After the theorem.</p>
<div class="strip"><details class="fold proof"><summary>Proof</summary>
<span class="target" id="proof-thm-one"></span><p>By hand.</p></details></div>
<div class="exercise admonition" id="ex-one"><p class="admonition-title">Exercise 1.1</p><p>Try.</p></div>
<div class="math notranslate nohighlight" id="equation-eq-one" style="--height:3.1">
<span class="eqno">(1.1){BACK}</span><span class="katex-display">{FORMULA}</span></div>
<figure class="align-default" id="fig-one"><div class="mc-widget"><p>A widget</p></div>
<img alt="Dots." src="../_images/dots.svg" width="9" height="9" loading="lazy" />
<figcaption><p><span class="caption-text">Dots</span>{BACK}</p></figcaption></figure>
<dl class="glossary"><dt id="term-margin">margin{BACK}</dt><dd><p>A distance.</p><p>Of a point.</p></dd></dl>
<dl class="py"><dt class="sig sig-object py" id="mc.fit"><span>fit</span>{BACK}</dt>
<dd><p>Fit it.</p><p>All the rest.</p></dd></dl>
<div class="citation" id="id7" role="listitem"><span class="label"><span>[</span>7<span>]</span></span>
<p>Euclid. Elements.</p></div>
<span id="sec-two"></span><h3>Two</h3>
<details class="fold section beyond"><summary>☆ Beyond: its gist</summary><p>Folded.</p></details>
<p id="sec-three">A paragraph with a name.</p>
<table><tr><td>before</td></tr>
<tr class="entry"><td><p id="erratum-e-1"><strong>E-1</strong></p></td><td><p>says</p></td></tr></table>
</section></article>"""


def shown(anchor: str, page: str = "chapters/one.html") -> str:
    return cards.card(PLACES, cards.places(PLACES)[anchor], page)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<math.*?</math>|<[^>]+>", "", html)).strip()


@pytest.mark.parametrize(
    ("anchor", "says"),
    [
        ("thm-one", "Theorem 1.1 (One) All x are one."),
        ("ex-one", "Exercise 1.1Try."),
        ("equation-eq-one", "(1.1)x"),
        ("fig-one", "Dots"),
        ("term-margin", "marginA distance.Of a point."),
        ("mc.fit", "fitFit it."),
        ("id7", "Euclid. Elements."),
        ("sec-one", "One sectionIts beginning has x."),
        ("sec-two", "Two☆ Beyond: its gist"),
        ("sec-three", "A paragraph with a name."),
        ("erratum-e-1", "E-1says"),
        ("proof-thm-one", ""),
    ],
)
def test_each_kind_of_place_has_its_card(anchor: str, says: str) -> None:
    assert words(shown(anchor)) == says


def test_a_card_keeps_what_is_read_aloud_and_nothing_to_press() -> None:
    card = shown("thm-one")
    assert "<math><mrow><mi>x</mi></mrow></math>" in card
    assert 'aria-hidden="true"' in card
    assert not re.search(r"x_\{raw\}|<a\b| id=", card)


def test_a_picture_is_found_from_the_root_of_the_site() -> None:
    assert 'src="_images/dots.svg"' in shown("fig-one")
    assert 'alt="Dots."' in shown("fig-one")
    assert 'src="chapters/_images/dots.svg"' in shown("fig-one", "chapters/deep/one.html")


def test_links_are_those_of_the_text() -> None:
    text = (
        f'<a href="x.html#nav">x</a><article class="bd-article">{BACK}<a href="two.html#a-%C3%BC">u</a>'
        '<a class="reference" href="#here">h</a><a href="https://a.org/#far">f</a>'
        '<a href="../index.html#b">b</a>'
        '</article><a href="x.html#foot">x</a>'
    )
    assert list(cards.links("chapters/one.html", text)) == [
        ("chapters/two.html", "a-ü"),
        ("chapters/one.html", "here"),
        ("index.html", "b"),
    ]


def test_cards_are_stored_for_other_pages_only() -> None:
    links = "".join(f'<a href="one.html#{anchor}">x</a>' for anchor in ("thm-one", "proof-thm-one", "gone"))
    other = f'<article class="bd-article">{links}</article>'
    texts = {"chapters/one.html": PLACES, "chapters/two.html": other}
    (found,) = cards.cards_by_page(texts)
    assert found[0] == "chapters/one.html"
    assert list(found[1]) == ["thm-one"]


# -- the scripts ----------------------------------------------------------------------------


def read(script: str, follow: str = SCRIPT) -> dict[str, str]:
    """What a browser reads in a script of cards."""
    context = MiniRacer()
    context.eval(follow)
    names = (
        "const read = {}; mcFollow.take = (page, signs, values, cards) => {"
        "const pieces = new Map([...signs].map((sign, i) => [sign, values[i]]));"
        "for (const anchor in cards) read[anchor] = mcFollow.expand(cards[anchor], pieces); };"
    )
    context.eval(names + script)
    return dict(json.loads(str(context.eval("JSON.stringify(read)"))))


def test_a_script_gives_back_what_was_put_in() -> None:
    some = {anchor: shown(anchor) for anchor in ("thm-one", "fig-one", "equation-eq-one", "sec-one")}
    some["ex-strange"] = 'A "quote" \\ Ж Ѐ </script> \u2028 and ' + FORMULA * 3
    script = cards.script("chapters/one.html", some)
    assert read(script) == some
    assert script.startswith('mcFollow.take("chapters/one"')


def test_what_occurs_again_is_written_once() -> None:
    many = {f"thm-{n}": shown("thm-one") for n in range(50)}
    assert len(cards.script("a.html", many)) < len(shown("thm-one")) + 50 * 200
    assert cards.script("a.html", many).count("mathnormal") == 1


def test_signs_may_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "SIGNS", range(0x400, 0x402))
    some = {f"{n}-{anchor}": shown(anchor) for n in range(3) for anchor in ("thm-one", "id7", "ex-one")}
    assert read(cards.script("a.html", some)) == some


def test_an_element_without_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no end: '<p>x"):
        cards.element("<p>x", 0)
    with pytest.raises(ValueError, match="no element begins at 1, but 'x'"):
        cards.element(" x", 1)


# -- what is remembered of a chapter --------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        ([], ""),
        (["a"], ""),
        (["a", "b"], "begun"),
        (["c", "b", "x"], "begun"),
        (["x", "y"], ""),
        (["c", "a", "b"], "read"),
    ],
)
def test_a_chapter_is_read_when_all_its_sections_were_seen(seen: list[str], state: str) -> None:
    context = MiniRacer()
    context.eval(SCRIPT)
    assert context.eval(f"mcFollow.progress({seen}, ['a', 'b', 'c'])") == state
    assert context.eval(f"mcFollow.progress({seen}, [])") == ""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("expand(pieces.get(sign), pieces) : sign", "pieces.get(sign) : sign"),  # pieces in pieces
        ("\\ue000-\\uf8ff", ""),
        (": sign));", ': ""));'),  # a letter that stands for itself
    ],
)
def test_faults_in_reading_are_found(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SCRIPT.count(old) == 1
    monkeypatch.setattr(cards, "SIGNS", (0x401, 0x402, *range(0xE000, 0xE0FF)))
    some = {f"{n}-{anchor}": "Ж" + shown(anchor) for n in range(3) for anchor in ("thm-one", "sec-one")}
    assert read(cards.script("a.html", some)) == some
    assert read(cards.script("a.html", some), SCRIPT.replace(old, new)) != some
