"""Ask the Python Package Index for known vulnerabilities of the locked packages.

    python -m tools.audit

The exit status is 0 only if the index has answered for every package, and every vulnerability that it
lists is accepted below. It is the same data that pip-audit reads.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pip._internal.models.index import PyPI  # pip knows the address: no other index has the data

from tools import environment

# The vulnerabilities that the book lives with: the id in the index, and the reason.
ACCEPTED: dict[str, str] = {}


def releases(lock: str) -> list[tuple[str, str]]:
    """The name and the version of every locked package."""
    return re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE)


def ask(page: str) -> dict[str, Any] | None:
    """The page of a release or a project in the index; None if there is no reply."""
    try:
        with urllib.request.urlopen(f"{PyPI.pypi_url}/{page}/json", timeout=30) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except (OSError, ValueError):
        return None


def vulnerabilities(release: tuple[str, str]) -> list[dict[str, Any]] | None:
    """What is known against a release; None if there is no reply."""
    name, version = release
    # some copies of the index have no pages of releases; the page of a project is about its newest release
    for page in (f"{name}/{version}", name):
        answer = ask(page)
        if answer and answer["info"]["version"] == version and "vulnerabilities" in answer:
            return [found for found in answer["vulnerabilities"] if not found.get("withdrawn")]
    return None


def findings(lock: str) -> list[str]:
    """A line for each vulnerability that is not accepted, and one for the packages without an answer."""
    locked = releases(lock)
    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(vulnerabilities, locked))
    lines, unknown = [], []
    for (name, version), answer in zip(locked, answers, strict=True):
        if answer is None:
            unknown.append(f"{name} {version}")
        for found in answer or ():
            if found["id"] not in ACCEPTED:
                mended = ", ".join(found.get("fixed_in") or ()) or "no release"
                what = found.get("summary") or found.get("details") or ""
                lines.append(f"{name} {version}: {found['id']}, mended in {mended}. {what}"[:300].strip())
    if unknown:
        lines.append(
            f"unknown for {len(unknown)} of {len(locked)}, for want of an answer: {', '.join(unknown)}"
        )
    return lines


def main() -> int:
    """Print the findings. Exit status."""
    lock = environment.LOCK.read_text(encoding="utf-8")
    found = findings(lock)
    print("\n".join(found) or f"No known vulnerability in {len(releases(lock))} packages.")
    for name, reason in ACCEPTED.items():
        print(f"Accepted: {name}, because {reason}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
