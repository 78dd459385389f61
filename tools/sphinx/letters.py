"""Sphinx extension: letters for chapters that have no number.

Sphinx counts the statements, figures and equations of all pages without a number together, so that
"Theorem 1" of the chapter on what the lectures borrow looks like a theorem of whatever chapter refers to it.
`chapter_letters` gives such a page a letter: Theorem B.1, Fig. B.1, (B.1), Exercise B.1, and the letter
before its title. Whatever shows these numbers, here or elsewhere, takes them from the tables that are
changed here.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)

# after TocTreeCollector (500) has numbered everything, before incremental.py (900) compares
BEFORE, AFTER = 400, 600


def give_back(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The numbers as Sphinx left them, with which it compares what it counts next."""
    env.toc_fignumbers.update(getattr(env, "numbers_without_letters", {}))
    for name in app.config.chapter_letters:
        env.toc_secnumbers.pop(name, None)
        if name in env.titles:  # what has a number counts among the numbered
            for titled in (env.titles[name], *env.tocs[name].findall(nodes.reference)):
                titled.attributes.pop("secnumber", None)
    return []


def lettered(numbers: dict[str, tuple[int, ...]], letter: str) -> dict[str, tuple[Any, ...]]:
    """Counted from 1 on this page.

    >>> lettered({"thm-b": (4,), "thm-a": (3,)}, "B")
    {'thm-a': ('B', 1), 'thm-b': ('B', 2)}
    """
    ordered = sorted(numbers, key=lambda name: numbers[name])
    return {name: (letter, count) for count, name in enumerate(ordered, 1)}


def put_letters(app: Sphinx, env: BuildEnvironment) -> list[str]:
    kept = env.numbers_without_letters = {}  # type: ignore[attr-defined]
    for name, letter in app.config.chapter_letters.items():
        if name not in env.found_docs or env.toc_secnumbers.get(name):
            logger.warning("chapter_letters: there is no page %r without a number", name)
            continue
        if name in env.toc_fignumbers:
            kept[name] = env.toc_fignumbers[name]
            env.toc_fignumbers[name] = {kind: lettered(found, letter) for kind, found in kept[name].items()}
        # the title has the letter, its sections have nothing
        title, *sections = env.tocs[name].findall(nodes.reference)
        without: dict[str, Any] = {section["anchorname"]: None for section in sections}
        env.toc_secnumbers[name] = without | {"": (letter,)}
        title["secnumber"] = env.titles[name]["secnumber"] = [letter]
    return []


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("chapter_letters", {}, "env", dict)
    app.connect("env-get-updated", give_back, priority=BEFORE)
    app.connect("env-get-updated", put_letters, priority=AFTER)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
