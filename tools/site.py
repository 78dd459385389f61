"""Build the site, or build and serve it.

    python -m tools.site build    (make book)
    python -m tools.site serve    (make serve)

Sphinx alone would let errors pass: a second build over the first one's files reports nothing that it
has reported before. So what a build leaves behind is kept only if the build was clean. Then a change of
pages, of mcutils or of data has only those pages read again that it can reach (tools/sphinx/incremental.py);
any other change, of a style, a program, the configuration, starts from nothing. Every warning is an error.
Chapters are not executed anew for that: see tools/stored.py.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from tools import stored
from tools.stored import ROOT

BUILD = ROOT / "_build"
HTML = BUILD / "html"
LOG = BUILD / "site.log"
STATE = BUILD / "site.json"

# Where a change has only the pages read again that depend on it: Sphinx tracks pages, of what their
# directives read and of the docstrings on the pages of mcutils; tools/sphinx/incremental.py tracks the
# outputs of chapters.
FOLLOWED = (
    "chapters/",
    "recipes/",
    "parts/",
    "appendix/",
    "mcutils/",
    "index.md",
    "README.md",  # stands in the wheel of mcutils
    "errata.yml",
    "sources.yml",
    "results/",
)

# lines of Sphinx's log that are shown while it works
SHOWN = ("to be executed: ", "folders: ")

PROCESSES = min(4, os.cpu_count() or 1)


# no page shows these
UNSEEN = (
    "tests/",
    "experiments/",
    "benchmarks/",
    "chapters/_template.ipynb",
    "CONTRIBUTING.md",
    "MAINTAINING.md",
    "CHANGELOG.md",
)


def state() -> dict[str, str]:
    """A hash of each file that a page can depend on."""
    paths = (path for path in stored.files() if not path.relative_to(ROOT).as_posix().startswith(UNSEEN))
    hashes = {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }
    return {"Python": sys.version, **hashes}


def last_state() -> dict[str, str] | None:
    """That of the last build if it was clean and is still there."""
    if not STATE.exists() or not (HTML / "index.html").exists():
        return None
    found: dict[str, str] = json.loads(STATE.read_text(encoding="utf-8"))
    return found


def can_follow(before: dict[str, str], now: dict[str, str]) -> bool:
    """Whether the change is one of contents, in files whose readers Sphinx tracks."""
    changed = [name for name in now if before.get(name) != now[name]]
    followed = all(name.startswith(FOLLOWED) and name != "mcutils/__init__.py" for name in changed)
    return before.keys() == now.keys() and followed  # the version of mcutils stands on the status page


def run_sphinx() -> NoReturn:
    """Sphinx as Jupyter Book configures it, in several processes; the end of this one."""
    import sphinx.builders
    from jupyter_book.sphinx import build_sphinx  # type: ignore[import-untyped]

    chunks = sphinx.builders.make_chunks

    def spread(pages: Sequence[str], nproc: int, maxbatch: int = 10) -> list[Any]:
        """As many chunks as Sphinx would make; chapters are neighbours, and would all be in one."""
        count = len(chunks(pages, nproc, maxbatch))
        return [pages[i::count] for i in range(count)]

    sphinx.builders.make_chunks = spread  # type: ignore[assignment]
    gc.disable()  # it looks through the trees of all pages again and again: half of the time, for little
    print(f"Building with {PROCESSES} processes", flush=True)
    result = build_sphinx(
        ROOT,
        HTML,
        noconfig=True,
        path_config=ROOT / "_config.yml",
        doctreedir=BUILD / ".doctrees",
        # what the command line of Jupyter Book hands on: every reference resolved (nitpicky)
        confoverrides={
            "external_toc_path": str(ROOT / "_toc.yml"),
            "latex_individualpages": False,
            "nitpicky": True,
        },
        warningiserror=True,
        keep_going=True,
        jobs=PROCESSES,
    )
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(bool(result)))  # to free the trees of all pages one by one takes eight seconds


def readable(complaints: str) -> str:
    """Sphinx's warnings with paths from the repository's root and places that a reader finds.

    In a notebook, myst-nb counts 10000 lines a cell, and one line too many.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", complaints).replace(f"{ROOT}{os.sep}", "")

    def cell_and_line(match: re.Match[str]) -> str:
        cell, line = divmod(int(match.group(1)) - 1, 10_000)
        return f".ipynb, cell {cell}, line {line}:"

    return re.sub(r"\.ipynb:(\d{5,}):", cell_and_line, text)


def build() -> int:
    """Build the site unless nothing has changed since the last build. Exit status."""
    start = time.perf_counter()
    before, now = last_state(), state()
    if before == now:
        print(f"The site is up to date: {HTML / 'index.html'}")
        return 0
    STATE.unlink(missing_ok=True)
    if before is None or not can_follow(before, now):
        for made in (HTML, BUILD / ".doctrees", BUILD / "jupyter_execute"):
            shutil.rmtree(made, ignore_errors=True)
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as complaints, LOG.open("w", encoding="utf-8") as log:
        command = [sys.executable, "-m", "tools.site", "sphinx"]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8"
        ) as run:
            assert run.stdout is not None
            for line in run.stdout:
                log.write(line)
                if line.startswith(SHOWN):
                    print(line, end="", flush=True)
        complaints.seek(0)
        found = readable(complaints.read())
        log.write(found)
    if run.returncode != 0:
        print(f"{found}\nThe site was not built; the whole log is {LOG}", file=sys.stderr)
        return 1
    STATE.write_text(json.dumps(now), encoding="utf-8")
    print(f"Built in {time.perf_counter() - start:.0f} s: {HTML / 'index.html'}")
    return 0


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each on the terminal."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve() -> int:
    """Build, then serve the site to this computer only, until Ctrl-C. Exit status."""
    if failed := build():
        return failed
    handler = functools.partial(QuietHandler, directory=str(HTML))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler)
    except OSError:  # somebody else has the port: take any free one
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with server:
        print(f"The site is served at http://127.0.0.1:{server.server_port}/ until Ctrl-C", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build or serve the site.")
    commands = {"build": build, "serve": serve, "sphinx": run_sphinx}  # the last is a process of `build`
    parser.add_argument("command", choices=commands)
    return commands[parser.parse_args().command]()


if __name__ == "__main__":
    sys.exit(main())
