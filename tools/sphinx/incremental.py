"""Sphinx extension: after a small change, read and write only the pages that the change can reach.

Sphinx by itself does not see that a chapter's outputs are new while its notebook is not, and it resolves
references only on the pages that it writes: a label that one page loses leaves a dead link on another, in
silence. So:

- A chapter whose outputs would be new is read again (`chapter_outputs` then executes it).
- What pages show of each other (titles, numbers, labels, whatever a domain registers) is compared before and
  after reading. If anything differs, every page is written again, and every reference is resolved again.

A build that is not clean is thrown away by `tools/site.py`, so that what is kept has no warnings to repeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.index_entries import split_index_msg
from sphinx_proof.domain import ProofDomain

from tools import notebooks, stored

# Fields of what extensions register that no other page shows: places in a file, and the nodes themselves.
NOT_SHOWN = {"line", "lineno", "node", "serial_number"}

# They do not say whether pages may be read in several processes. They may: one numbers the sections when all
# pages have been read, the other is for LaTeX.
UNDECLARED = {"sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"}


def canonical(value: Any) -> Iterator[str]:
    """A text that is the same for equal values, whatever the order of sets and dictionaries."""
    if isinstance(value, nodes.Node):
        yield value.pformat() if isinstance(value, nodes.Element) else str(value)
    elif isinstance(value, dict):
        yield "{"
        for key in sorted(value, key=repr):
            if key not in NOT_SHOWN:
                yield f"{key!r}:"
                yield from canonical(value[key])
        yield "}"
    elif isinstance(value, set | frozenset):
        yield from ("{", *sorted("".join(canonical(item)) for item in value), "}")
    elif hasattr(value, "_asdict"):
        yield from canonical(value._asdict())
    elif isinstance(value, list | tuple):
        items = ["".join(canonical(item)) for item in value]
        # what pages have registered stands in the order in which they were read
        yield from ("[", *(sorted(items) if any(hasattr(item, "docname") for item in value) else items), "]")
    elif hasattr(value, "__dict__"):
        yield type(value).__name__
        yield from canonical(vars(value))
    else:
        yield f"{value!r},"


def shown_elsewhere(env: BuildEnvironment) -> str:
    """A hash of all that pages show of each other."""
    parts = {
        "documents": set(env.found_docs),
        "titles": env.titles,
        "sections": env.toc_secnumbers,
        "figures": env.toc_fignumbers,
        "toctrees": env.toctree_includes,
        # the index is made anew in every build
        "domains": {name: data for name, data in env.domaindata.items() if name != "index"},
        "exercises": getattr(env, "sphinx_exercise_registry", {}),
        "proofs": getattr(env, "proof_list", {}),
        "uses": getattr(env, "statement_uses", {}),
    }
    return hashlib.sha256("".join(canonical(parts)).encode()).hexdigest()


def with_new_outputs(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """The chapters that can see something new; before anything is read."""
    for name in UNDECLARED & app.extensions.keys():
        app.extensions[name].parallel_read_safe = True
    app.shown_before = shown_elsewhere(env)  # type: ignore[attr-defined]
    before: dict[str, str] = getattr(env, "chapter_keys", {})
    paths = {name: Path(env.doc2path(name)) for name in env.found_docs}
    after = {
        name: stored.key(notebooks.read(path)) for name, path in paths.items() if path.suffix == ".ipynb"
    }
    env.chapter_keys = after  # type: ignore[attr-defined]
    return [name for name in after if before.get(name) != after[name]]


def write_all_if_needed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Every page, unless all that they show of each other is as it was."""
    if shown_elsewhere(env) == app.shown_before:  # type: ignore[attr-defined]
        return []
    return sorted(env.found_docs)


def index_entries_for_search(app: Sphinx, env: BuildEnvironment) -> None:
    """The terms of the index, of all pages: of those that it does not write, Sphinx forgets them."""
    for docname, entries in sorted(env.domaindata["index"]["entries"].items()):
        env._search_index_index_entries[docname] = sorted(
            {
                (term, target or "", main)
                for kind, value, target, main, _ in entries
                for term in split_index_msg(kind, value)
            }
        )


def drop_old_images(app: Sphinx, exception: Exception | None) -> None:
    """Figures that no page shows any more."""
    if exception or app.builder.format != "html":
        return
    wanted = {name for _, name in app.env.images.values()}
    for file in (Path(app.outdir) / "_images").glob("*"):
        if file.name not in wanted:
            file.unlink()


def nothing_to_merge(self: ProofDomain, docnames: list[str], otherdata: dict[str, Any]) -> None:
    """The domain of statements keeps its data outside itself, and merges it there."""


def setup(app: Sphinx) -> dict[str, Any]:
    ProofDomain.merge_domaindata = nothing_to_merge
    app.connect("env-get-outdated", with_new_outputs)
    app.connect("env-get-updated", write_all_if_needed, priority=900)  # after all that number and collect
    app.connect("env-check-consistency", index_entries_for_search)  # when the environment has been stored
    app.connect("build-finished", drop_old_images)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
