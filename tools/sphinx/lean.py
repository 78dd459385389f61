"""Sphinx extension: the same page in fewer elements.

What a browser waits for, to show a chapter or to turn it dark, is the number of its elements, and most are in
formulas and in code.

KaTeX writes a formula as boxes within boxes: a letter with an index takes a dozen elements. `formula` has the
same picture in fewer:

- a box that no rule of KaTeX's stylesheet knows is taken away from around its letters;
- a space between signs is the margin of the sign beside it;
- a superscript or subscript whose signs stand in one line is one box that is moved up or down;
- what stacks boxes loses the elements that only have a height: pseudo-elements have it;
- lengths that KaTeX writes into `style` are classes, `r2778` for a right margin of 0.2778 em; the site has a
  stylesheet of those that its pages use.

The MathML beside it, which is read aloud, loses what only a drawing of it would need.

Pygments puts every name and every bracket into an element, although they have the colour of the code itself
(web/static/formulas.css); these are letters again.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx

# what KaTeX says of a sign for its own use: no rule of its stylesheet begins or ends with these alone
KINDS = {
    "mord",
    "mbin",
    "mrel",
    "mopen",
    "mclose",
    "mpunct",
    "minner",
    "mop",
    "mtight",
    "text",
    "delimsizinginner",
}

# a rule of its stylesheet is for the elements directly in these
PARENTS = {"katex-html", "katex-inner", "delim-size1", "delim-size4"}

# spaces go to these first, which often have one at each side
OPERATORS = {"mrel", "mbin", "mpunct"}

# letters of other fonts, which stand in a line as any letter does
FONTS = {"mathnormal", "mathit", "mathrm", "mathbf", "boldsymbol", "mathbb", "mathcal", "mathfrak", "mathsf"}

SIZES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.44, 1.728, 2.074, 2.488)  # KaTeX's size1 to size11

# The letter of a class, and what it says of a number of em. `{}` in a selector is the class. Each selector
# ends in a class: one that ends in `span` would be tried on ten thousand elements.
LENGTHS = {
    "r": ("{}", "margin-right"),
    "l": ("{}", "margin-left"),
    "v": ("{}", "position:relative;top"),  # moved down
    "t": (".vlist>{}", "top"),
    "h": (".vlist{}", "height"),
    # of the strut that a stacked box begins with
    "p": (".vlist>{}::before", 'content:"";display:inline-block;height'),
    "a": (".katex-base{}::before", "height"),  # of the strut of a line
    "d": (".katex-base{}::before", "vertical-align"),
}
LENGTH = re.compile(rf"([{''.join(LENGTHS)}])(n?)(\d{{2,}})")
SIZE = re.compile(r"z(\d+)-(\d+)")
SIZING = re.compile(r"katex-sizing reset-size(\d+) size(\d+)")


def length(letter: str, em: float) -> str:
    """The class of a length, to a ten thousandth of an em, as KaTeX has it.

    >>> length("r", 0.2778), length("t", -3.063)
    ('r2778', 'tn30630')
    """
    number = round(em * 10_000)
    return f"{letter}{'n' if number < 0 else ''}{abs(number)}"


def is_long(em: float) -> bool:
    """A thousandth of an em is a fiftieth of a pixel."""
    return abs(round(em * 10_000)) >= 10


def rules(words: Iterable[str]) -> str:
    """The stylesheet of those words that are lengths or sizes.

    >>> print(rules(["r2778", "z6-3", "other"]), end="")
    .r2778{margin-right:.2778em}
    .z6-3{font-size:.7em}
    """
    lines = []
    for word in sorted(set(words)):
        if match := LENGTH.fullmatch(word):
            selector, name = LENGTHS[match[1]]
            em = int(match[3]) / 10_000 * (-1 if match[2] else 1)
            lines.append(f"{selector.format('.' + word)}{{{name}:{written(em)}em}}\n")
        elif (match := SIZE.fullmatch(word)) and max(int(match[1]), int(match[2])) <= len(SIZES):
            lines.append(f".{word}{{font-size:{written(ratio(word))}em}}\n")
    return "".join(lines)


def written(number: float) -> str:
    return f"{number:.10f}".rstrip("0").rstrip(".").replace("0.", ".", 1) or "0"


def ratio(size: str) -> float:
    """The size of letters in a box of this class, by that of the letters around it."""
    match = SIZE.fullmatch(size)
    assert match is not None
    return SIZES[int(match[2]) - 1] / SIZES[int(match[1]) - 1]


@dataclass
class Box:
    """An element: its lengths are in em of its own letters, by the letter of their class."""

    tag: str
    classes: list[str] = field(default_factory=list)
    style: dict[str, str] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    lengths: dict[str, float] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        sizes = [name for name in self.classes if SIZE.fullmatch(name)]
        return ratio(sizes[0]) if sizes else 1.0

    def add(self, letter: str, em: float) -> None:
        """Em of the letters around it, which have another size where the box has one."""
        self.lengths[letter] = self.lengths.get(letter, 0.0) + em / self.scale

    def is_plain(self) -> bool:
        """Whether nothing would change to the eye if only its parts were there."""
        return self.tag == "span" and not (
            self.style or self.other or self.lengths or set(self.classes) - KINDS
        )


@dataclass
class Space:
    em: float


Part = Box | Space | str


def boxes(box: Box) -> list[Box]:
    """The elements in it."""
    return [part for part in box.parts if isinstance(part, Box)]


def em(value: str) -> float | None:
    match = re.fullmatch(r"(-?[\d.]+)em", value)
    return float(match[1]) if match else None


def read(element: ElementTree.Element) -> Box:
    """An element of KaTeX's; but for a change of size, which is one class, lengths stay in its style."""
    other = dict(element.attrib)
    style = dict(entry.split(":", 1) for entry in other.pop("style", "").split(";") if entry)
    classes = SIZING.sub(r"z\1-\2", other.pop("class", "")).split()
    box = Box(element.tag, classes, style, other)
    parts = [element.text, *(part for child in element for part in (read(child), child.tail))]
    box.parts = [part for part in parts if part]
    return box


def write(part: Part) -> str:
    if isinstance(part, str):
        return html.escape(part, quote=False)
    if isinstance(part, Space):
        return f'<span class="{length("r", part.em)}"></span>'
    lengths = [length(letter, number) for letter, number in part.lengths.items() if is_long(number)]
    classes = [name for name in part.classes if name not in KINDS]
    attributes = {"class": " ".join([*classes, *lengths])} if classes or lengths else {}
    if part.style:
        attributes["style"] = ";".join(f"{name}:{value}" for name, value in part.style.items())
    attributes |= part.other
    said = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<{part.tag}{said}>{''.join(map(write, part.parts))}</{part.tag}>"


# -- what is seen --------------------------------------------------------------------------


def take(box: Box, letter: str, name: str) -> None:
    """A property of the style, as a length."""
    if (found := em(box.style.get(name, ""))) is not None:
        del box.style[name]
        box.lengths[letter] = found


def as_space(box: Box) -> Space | None:
    if box.parts or box.other:
        return None
    if "mspace" in box.classes and not set(box.style) - {"margin-right"}:
        found = em(box.style.get("margin-right", "0em"))
        return None if found is None else Space(found * box.scale)
    if "nulldelimiter" in box.classes and not box.style:
        return Space(0.12 * box.scale)
    return None


def tidy(box: Box) -> None:
    """Its own classes and style."""
    if "delimcenter" in box.classes and box.style.get("top") in ("0em", "0"):
        box.classes.remove("delimcenter")
        del box.style["top"]
    if box.style.get("position") == "relative" and em(box.style.get("top", "")) is not None:
        del box.style["position"]
        take(box, "v", "top")
    take(box, "r", "margin-right")
    take(box, "l", "margin-left")


def unwrapped(parts: Iterable[Part]) -> list[Part]:
    """Without the boxes that only hold others."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Box) and part.is_plain() and any(isinstance(p, Box | Space) for p in part.parts):
            found += unwrapped(part.parts)
        elif isinstance(part, Box) and part.is_plain() and not part.parts:
            continue
        else:
            found.append(part)
    return found


def is_inline(part: Part | None) -> bool:
    return isinstance(part, Box) and part.tag == "span" and "katex-base" not in part.classes


def place_spaces(parts: list[Part]) -> list[Part]:
    """A space becomes a margin of what stands beside it."""
    found: list[Part] = []
    for part in parts:  # one space of several
        if isinstance(part, Space) and found and isinstance(found[-1], Space):
            found[-1] = Space(found[-1].em + part.em)
        else:
            found.append(part)

    def wish(box: Part | None) -> int:
        if not is_inline(box):
            return 0
        assert isinstance(box, Box)
        return 3 if not box.is_plain() else 2 if OPERATORS & set(box.classes) else 1

    for n, part in enumerate(found):
        if not isinstance(part, Space):
            continue
        if not is_long(part.em):
            found[n] = ""
            continue
        before = found[n - 1] if n else None
        after = found[n + 1] if n + 1 < len(found) else None
        taker = before if wish(before) >= wish(after) else after
        if wish(taker):
            assert isinstance(taker, Box)
            taker.add("r" if taker is before else "l", part.em)
            found[n] = ""
    return [part for part in found if part != ""]


def bare(parts: list[Part]) -> list[Part]:
    """Letters that need no box of their own, side by side in one text."""
    found: list[Part] = []
    for part in parts:
        for one in part.parts if isinstance(part, Box) and part.is_plain() else [part]:
            if isinstance(one, str) and found and isinstance(found[-1], str):
                found[-1] += one
            else:
                found.append(one)
    return found


def in_line(parts: list[Part]) -> list[Part]:
    return bare(place_spaces(unwrapped(parts)))


def stands_in_a_line(box: Box) -> bool:
    """Whether its parts are letters and scripts, no higher than a line."""
    if "katex-vbox" in box.classes:  # the stroke of a sign such as "not equal"
        return True
    scripts = {name for name in box.classes if SIZE.fullmatch(name)} | {"scripts"}
    return (
        box.tag == "span"
        and not (box.style or box.other or set(box.classes) - KINDS - FONTS - scripts)
        and all(stands_in_a_line(part) for part in box.parts if isinstance(part, Box))
    )


def script(child: Box) -> Box | None:
    """A box of a stack as one that is moved, if it is no higher than a line."""
    if len(child.parts) != 2 or child.classes or set(child.style) - {"top", "margin-left", "margin-right"}:
        return None
    strut, content = boxes(child)
    top, height = em(child.style["top"]), em(strut.style["height"])
    if top is None or height is None or not stands_in_a_line(content):
        return None
    only = content.parts[0] if len(content.parts) == 1 else None
    if (
        isinstance(only, Box)
        and not {"v"} & set(only.lengths)
        and only.scale == 1
        and "scripts" not in only.classes
    ):
        for letter, number in content.lengths.items():
            only.lengths[letter] = only.lengths.get(letter, 0) + number
        only.classes = [*content.classes, *only.classes]
        content = only
    content.add("v", top + height)
    for letter, name in (("l", "margin-left"), ("r", "margin-right")):
        if name in child.style:
            content.add(letter, em(child.style[name]) or 0.0)
    return content


def scripts(box: Box, children: list[Box]) -> list[Part] | None:
    """What stands in the place of a stack of one or two scripts."""
    found = [script(child) for child in children] if "msupsub" in box.classes else [None]
    moved = [one for one in found if one is not None]
    if len(moved) < len(found) or len(moved) > 2:
        return None
    return [moved[0]] if len(moved) == 1 else [Box("span", ["scripts"], parts=[*moved])]


def stack(table: Box) -> tuple[Box, list[Box]]:
    """Of a table of KaTeX's the cell with the boxes that it stacks, and those."""
    cell = boxes(boxes(table)[0])[0]
    return cell, boxes(cell)


def lean_stack(table: Box, children: list[Box]) -> None:
    """Without the row, without the second row, whose height the line's strut has, and without struts."""
    cell = stack(table)[0]
    take(cell, "h", "height")
    for child in children:
        take(child, "t", "top")
        take(child, "l", "margin-left")
        take(child, "r", "margin-right")
        strut, content = boxes(child)
        take(strut, "p", "height")
        child.lengths |= strut.lengths
        child.parts = [content]
    table.classes = [name for name in table.classes if name != "vlist-t2"]
    cell.parts = [*children]
    table.parts = [cell]


def lean(part: Part) -> list[Part]:
    """What stands in the place of a part."""
    if not isinstance(part, Box):
        return [part]
    if (space := as_space(part)) is not None:
        return [space]
    if "msupsub" in part.classes or "vlist-t" in part.classes:
        table = part if "vlist-t" in part.classes else boxes(part)[0]
        children = stack(table)[1]
        for child in children:
            strut, content = child.parts
            inner = lean(content)
            one = inner[0] if len(inner) == 1 else None
            box = one if isinstance(one, Box) else Box("span", parts=inner)
            child.parts = [strut, box]
        if found := scripts(part, children):
            return found
        lean_stack(table, children)
        table.classes += [name for name in part.classes if name not in table.classes]
        return [table]
    tidy(part)
    if "katex-base" in part.classes:
        strut, *_ = boxes(part)
        take(strut, "a", "height")
        take(strut, "d", "vertical-align")
        part.lengths |= strut.lengths
        del part.parts[0]
    parts = [one for old in part.parts for one in lean(old)]
    part.parts = parts if PARENTS & set(part.classes) else in_line(parts)
    return [part]


# -- what is read aloud --------------------------------------------------------------------

# how a drawing of it would look
DRAWN = {
    *("stretchy", "fence", "separator", "lspace", "rspace", "minsize", "maxsize", "movablelimits"),
    *("rowspacing", "columnspacing", "columnalign", "scriptlevel", "displaystyle"),
}
GROUPS = {"mrow", "mstyle"}


def spoken(box: Box, *, keep_tex: bool) -> Box:
    """MathML without what only a drawing of it needs; its TeX stays if it is asked for."""
    box.other = {name: value for name, value in box.other.items() if name not in DRAWN}
    box.parts = [spoken(part, keep_tex=keep_tex) if isinstance(part, Box) else part for part in box.parts]
    if box.tag == "semantics" and not keep_tex:
        return boxes(box)[0]
    if box.tag in GROUPS and not box.other and not box.style:
        if len(box.parts) == 1 and isinstance(box.parts[0], Box):
            return box.parts[0]
        box.tag = "mrow"
    if box.tag == "math" and len(box.parts) == 1:
        only = box.parts[0]
        if isinstance(only, Box) and only.tag == "mrow" and not only.other:
            box.parts = only.parts
    return box


def formula(written_by_katex: str, *, keep_tex: bool = False) -> str:
    """The HTML of a formula, with fewer elements."""
    box = read(ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", written_by_katex)))
    katex = box
    while "katex" not in katex.classes:
        (katex,) = boxes(katex)
    mathml, seen = boxes(katex)
    mathml.parts = [spoken(part, keep_tex=keep_tex) for part in boxes(mathml)]
    lean(seen)
    return write(box)


# -- code ----------------------------------------------------------------------------------

# names, brackets, spaces: in both styles of the theme as the code around them
PLAIN = ("n", "nn", "p", "pm", "w")
# all parts of a string have one colour in both
STRINGS = ("s", "s1", "s2", "sa", "sd", "se", "sh", "si", "dl")

CODE = re.compile(r"<pre>(?:<span></span>(?!\n))?(.*?)</pre>", re.DOTALL)
AS_CODE = re.compile(rf'<span class="(?:{"|".join(PLAIN)})">([^<]*)</span>')
AS_STRING = re.compile(rf'<span class="(?:{"|".join(STRINGS)})">')
STRING = re.compile(r'(?:<span class="s">[^<]*</span>){2,}')


def code(block: re.Match[str]) -> str:
    """A block of code, with elements only where the colour changes.

    >>> CODE.sub(code, '<pre><span></span><span class="n">f</span> <span class="mi">1</span></pre>')
    '<pre>f <span class="mi">1</span></pre>'
    """
    text = AS_STRING.sub('<span class="s">', AS_CODE.sub(r"\1", block[1]))
    return f"<pre>{STRING.sub(one_string, text)}</pre>"


def one_string(parts: re.Match[str]) -> str:
    return f'<span class="s">{re.sub(r"<[^>]*>", "", parts[0])}</span>'


def lean_code(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if context.get("body"):
        context["body"] = CODE.sub(code, context["body"])


# -- their stylesheet ----------------------------------------------------------------------

STYLESHEET = "katex/lengths.css"  # below _static


def write_lengths(static: Path, words: Iterable[str]) -> None:
    (static / STYLESHEET).write_text(rules(words), encoding="utf-8")


def link_lengths(app: Sphinx) -> None:
    """Its content is known when the pages are there: tools.sphinx.bundle has it written."""
    file = Path(app.outdir) / "_static" / STYLESHEET
    if app.builder.format == "html" and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_css_file(STYLESHEET, priority=600)
    app.connect("builder-inited", link_lengths)
    app.connect("html-page-context", lean_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
