"""Build the site, or build and serve it.

    python -m tools.site build    (make book)
    python -m tools.site serve    (make serve)

Sphinx alone would let errors pass: a second build over the first one's files reports nothing
that it has reported before. So whenever an input has changed, pages and doctrees are deleted
and everything is built anew, with every warning an error. Chapters are not executed anew for
that: see tools/stored.py.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tools import stored
from tools.stored import ROOT

BUILD = ROOT / "_build"
HTML = BUILD / "html"
LOG = BUILD / "site.log"
FINGERPRINT = BUILD / "site.fingerprint"

# every warning an error (-W), every reference resolved (-n), all of them reported
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
OPTIONS = ["build", ".", "-W", "-n", "--keep-going"]


def fingerprint() -> str:
    """Of everything that a page can depend on: the repository's files, bar the tests."""
    return stored.digest(path for path in stored.files() if not path.is_relative_to(ROOT / "tests"))


def up_to_date(fresh: str) -> bool:
    built = FINGERPRINT.exists() and (HTML / "index.html").exists()
    return built and FINGERPRINT.read_text(encoding="utf-8") == fresh


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
    fresh = fingerprint()
    if up_to_date(fresh):
        print(f"The site is up to date: {HTML / 'index.html'}")
        return 0
    FINGERPRINT.unlink(missing_ok=True)
    for made in (HTML, BUILD / ".doctrees", BUILD / "jupyter_execute"):
        shutil.rmtree(made, ignore_errors=True)
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as complaints, LOG.open("w", encoding="utf-8") as log:
        command = [sys.executable, "-c", JUPYTER_BOOK, *OPTIONS]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8"
        ) as run:
            assert run.stdout is not None
            for line in run.stdout:
                log.write(line)
                if line.startswith("to be executed: "):
                    print(line, end="", flush=True)
        complaints.seek(0)
        found = readable(complaints.read())
        log.write(found)
    if run.returncode != 0:
        print(f"{found}\nThe site was not built; the whole log is {LOG}", file=sys.stderr)
        return 1
    FINGERPRINT.write_text(fresh, encoding="utf-8")
    print(f"Built in {time.perf_counter() - start:.0f} s: {HTML / 'index.html'}")
    return 0


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each on the terminal."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve() -> int:
    """Build, then serve the site to this machine only, until Ctrl-C. Exit status."""
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
    parser.add_argument("command", choices=["build", "serve"])
    return {"build": build, "serve": serve}[parser.parse_args().command]()


if __name__ == "__main__":
    sys.exit(main())
