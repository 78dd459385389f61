"""Begin a chapter: its three rooms, and its entries in the book.

    python -m tools.chapter NAME    (make chapter NAME=…)

The notebook is a copy of chapters/_template.ipynb, which shows each convention once. Module and tests are as
short as they can be. The chapter stands at the end of the last part of `_toc.yml`, where it moves no number,
and its module's page after those of all others; move both lines to where they belong. `sources.yml` needs
nothing: each item of the lectures has its owner; a new chapter takes items over by writing its name there.

Everything is computed before anything is written, and a name that is taken or ill-formed is refused: so all
files are written or none.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from tools.stored import ROOT

TEMPLATE = "chapters/_template.ipynb"
TOPIC = "template"  # the name that the template's labels have
LONGEST = 20

MODULE = '''"""One sentence that says what this module holds.

What it computes, in the symbols of the chapter `{name}`, with the labels of the statements.
"""

__all__: list[str] = []
'''

TESTS = '''"""mcutils.{name}, against a slow twin and by the laws of the chapter."""

from mcutils import {name}


def test_what_is_public_exists():
    assert all(hasattr({name}, member) for member in {name}.__all__)
'''

PAGE = """# {name}: `mcutils.{name}`

```{{module-summary}}
```

```{{eval-rst}}
.. automodule:: mcutils.{name}
   :members:
```
"""


class Refusal(Exception):
    """A sentence that says why no chapter was begun."""


def refuse(name: str, root: Path) -> None:
    """Raise if no chapter of this name can be begun."""
    if not re.fullmatch(r"[a-z][a-z0-9]*", name) or len(name) > LONGEST or keyword.iskeyword(name):
        raise Refusal(
            f"{name!r} is no name of a topic: one lower-case word of at most {LONGEST} letters and digits, "
            "which is a module, a part of labels and an address, as `ecoc`."
        )
    if name == TOPIC:
        raise Refusal(f"{name!r} is the name in the labels of {TEMPLATE}, so no chapter can have it.")
    rooms = [
        f"chapters/{name}.ipynb",
        f"mcutils/{name}.py",
        f"mcutils/{name}",
        f"tests/test_{name}.py",
        f"appendix/api/{name}.md",
    ]
    taken = [room for room in rooms if (root / room).exists()]
    if taken:
        raise Refusal(f"{name!r} is taken: there is {' and '.join(taken)}.")


def inserted(text: str, pattern: str, line: str, file: str) -> str:
    """The text with a line after the last place where `pattern` matches."""
    found = list(re.finditer(pattern, text, re.MULTILINE | re.DOTALL))
    if not found:
        raise Refusal(
            f"{file} has no place for the chapter any more: tools/chapter.py looks for {pattern!r}."
        )
    return text[: found[-1].end()] + line + text[found[-1].end() :]


def listed(text: str, pattern: str, line: str, file: str) -> str:
    """The text with a line among those that match `pattern`, which stay in the order of the alphabet."""
    lines = text.splitlines(keepends=True)
    places = [i for i, other in enumerate(lines) if re.fullmatch(pattern, other)]
    if not places:
        raise Refusal(f"{file} has no place for the module any more: tools/chapter.py looks for {pattern!r}.")
    place = next((i for i in places if lines[i] > line), places[-1] + 1)
    return "".join([*lines[:place], line, *lines[place:]])


def plan(name: str, root: Path) -> dict[str, str]:
    """What each file that is new or changed will hold."""
    refuse(name, root)

    def text(file: str) -> str:
        return (root / file).read_text(encoding="utf-8")

    toc = r"^  - numbered: 1\n    chapters:\n(?:      - file: chapters/\w+\n)+"
    contents = inserted(text("_toc.yml"), toc, f"      - file: chapters/{name}\n", "_toc.yml")
    page = r"^      - file: appendix/api/\w+\n"
    contents = inserted(contents, page, f"      - file: appendix/api/{name}\n", "_toc.yml")
    list_of_modules = text("mcutils/__init__.py").partition("MODULES = (\n")
    if not list_of_modules[2]:
        raise Refusal("mcutils/__init__.py has no list MODULES any more, in which the module must stand.")
    head, begin, rest = list_of_modules
    return {
        f"chapters/{name}.ipynb": re.sub(rf"\b{TOPIC}(?=-)", name, text(TEMPLATE)),
        f"mcutils/{name}.py": MODULE.format(name=name),
        f"tests/test_{name}.py": TESTS.format(name=name),
        f"appendix/api/{name}.md": PAGE.format(name=name),
        "_toc.yml": contents,
        "mcutils/__init__.py": head
        + begin
        + listed(rest, r'    "\w+",\n', f'    "{name}",\n', "mcutils/__init__.py"),
        "mcutils/__init__.pyi": listed(
            text("mcutils/__init__.pyi"),
            r"    (\w+) as \1,\n",
            f"    {name} as {name},\n",
            "mcutils/__init__.pyi",
        ),
        "CHANGELOG.md": inserted(
            text("CHANGELOG.md"),
            r"\A.*?^## \[Unreleased\]\n\n### Added\n\n",
            f"- The chapter `{name}`: one line that says what it brings.\n",
            "CHANGELOG.md",
        ),
    }


def begin(name: str, root: Path = ROOT) -> list[str]:
    """Write the files of a new chapter; what was done to each."""
    files = plan(name, root)
    done = []
    for file, content in files.items():
        path = root / file
        done.append(f"{'changed' if path.exists() else 'written'}  {file}")
        path.write_bytes(content.encode())
    return done


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("A chapter needs a name: make chapter NAME=margin", file=sys.stderr)
        return 2
    try:
        done = begin(arguments[0])
    except Refusal as reason:
        print(reason, file=sys.stderr)
        return 1
    print("\n".join(done))
    print(
        f"\nNext: rewrite chapters/{arguments[0]}.ipynb, fill module and tests, move its lines in _toc.yml.\n"
        "To undo it, remove what was written and take the added lines out of what was changed.\n"
        "CONTRIBUTING.md says how a chapter is made; MAINTAINING.md has the conventions."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
