"""Pictures in fewer bytes: `smaller` takes an SVG of matplotlib's and gives one that looks the same.

- Each marker of a scatter plot is an element with its own colours; in a row of equal ones, the places are one
  path, and the marker stands once.
- The points of a path are written as steps, in hundredths of a point.
"""

from __future__ import annotations

import re

PLACE = r' x="([-\d.]+)" y="([-\d.]+)"'
# neighbours with the same shape and the same style
ROW = re.compile(
    rf'<use xlink:href="#(\w+)"{PLACE} style="([^"]*)"/>(?:\s*<use xlink:href="#\1"{PLACE} style="\4"/>)+'
)
PLACES = re.compile(PLACE)
PATH = re.compile(r'(<path\b[^>]*?\bd=")([^"]*)"')
STEP = re.compile(r"([MLQCz])([^MLQCz]*)")
WHOLE = re.compile(r"[\sMLQCz\d.e-]*")


def smaller(svg: str) -> str:
    """The same picture; what is not written in matplotlib's way stays."""
    rows: list[str] = []

    def as_path(match: re.Match[str]) -> str:
        shape, style = match[1], match[4]
        name = f"row{len(rows)}"
        rows.append(name)
        points = [f"{x} {y}" for x, y in PLACES.findall(match[0])]
        return (
            f'<marker id="{name}" overflow="visible" markerUnits="userSpaceOnUse">'
            f'<use xlink:href="#{shape}" style="{style}"/></marker>'
            f'<path d="M {" L ".join(points)}" style="fill: none; stroke: none; marker: url(#{name})"/>'
        )

    svg = ROW.sub(as_path, svg)
    svg = PATH.sub(lambda match: f'{match[1]}{steps(match[2])}"', svg)
    return re.sub(r">\s+<", ">\n<", svg)


def number(hundredths: int) -> str:
    """
    >>> number(-50), number(1200), number(3)
    ('-.5', '12', '.03')
    """
    text = f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if abs(hundredths) < 100 and hundredths else text


def steps(path: str) -> str:
    """A path, from point to point, without steps of no length.

    >>> steps("M 10 10.004 \\nL 12.5 10 L 12.5 10 C 13 10 13 11 12 12 z")
    'M10 10l2.5 0c.5 0 .5 1-.5 2z'
    >>> steps("M 0 0 L 1 1 L 2 1 L 2 0")
    'M0 0l1 1 1 0 0-1'
    """
    if not WHOLE.fullmatch(path):
        return path
    written: list[str] = []
    x = y = start_x = start_y = 0
    last = ""
    for letter, text in STEP.findall(path):
        if letter == "z":
            written.append("z")
            last = "z"
            x, y = start_x, start_y
            continue
        values = [round(float(value) * 100) for value in text.split()]
        relative = [value - (x if n % 2 == 0 else y) for n, value in enumerate(values)]
        if letter == "L" and len(values) == 2 and not any(relative) and last != "M":
            continue
        x, y = values[-2:]
        if letter == "M":
            start_x, start_y = x, y
        command = letter if letter == "M" else letter.lower()
        numbers = [number(value) for value in (values if letter == "M" else relative)]
        if command != last or letter == "M":  # else it need not be said again
            numbers[0] = command + numbers[0]
        written += [f" {value}" if value[0].isdigit() or value[0] == "." else value for value in numbers]
        last = command
    return "".join(written)
