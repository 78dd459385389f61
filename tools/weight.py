"""What a browser has to take in of each page of the built site.

    python -m tools.weight [names…] [--dark]

A table of the pages, the heaviest first: bytes, bytes compressed, elements, and the bytes of the largest SVG
that the page holds or shows. With `--dark` also the milliseconds until the page is dark, in Chromium on a
machine four times as slow as this one, best of five; for that name a few pages (`chapters/kernel`).

A style is computed for each element whenever the colours change, so elements count for more than bytes, which
are compressed on their way.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.site import HTML

BYTES, ELEMENTS, SVG = 1_500_000, 45_000, 150_000  # the most that a page may have

SCRIPT = re.compile(r"(<script\b[^>]*>).*?(?=</script>)", re.DOTALL)
ELEMENT = re.compile(r"<[a-zA-Z]")
INLINE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
SHOWN = re.compile(r'<img\b[^>]*\bsrc="([^":]+\.svg)"')


@dataclass(frozen=True)
class Weight:
    """Of a page, whose `name` is its address without the ending."""

    name: str
    bytes: int
    compressed: int
    elements: int
    svg: int

    def complaints(self) -> list[str]:
        found = (
            (self.bytes, BYTES, "bytes"),
            (self.elements, ELEMENTS, "elements"),
            (self.svg, SVG, "bytes in an SVG"),
        )
        return [
            f"{self.name}: {number:,} {what}, {most:,} are allowed"
            for number, most, what in found
            if number > most
        ]


def weigh(page: Path, site: Path) -> Weight:
    content = page.read_bytes()
    text = content.decode("utf-8")
    shown = (page.parent / address for address in SHOWN.findall(text))
    pictures = [len(picture.encode()) for picture in INLINE.findall(text)]
    pictures += [picture.stat().st_size for picture in shown if picture.is_file()]
    return Weight(
        page.relative_to(site).with_suffix("").as_posix(),
        len(content),
        len(gzip.compress(content, mtime=0)),
        len(ELEMENT.findall(SCRIPT.sub(r"\1", text))),
        max(pictures, default=0),
    )


def weights(site: Path) -> list[Weight]:
    """Of every page of the site, the heaviest first."""
    pages = (page for page in site.rglob("*.html") if "_static" not in page.relative_to(site).parts)
    return sorted((weigh(page, site) for page in pages), key=lambda weight: -weight.bytes)


TURN = """
() => new Promise((resolve) => {
  const root = document.documentElement;
  const start = performance.now();
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
})
"""


def darkening(names: Iterable[str], site: Path) -> dict[str, int]:
    """Milliseconds from a change of the mode to the picture after it."""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as playwright:
        chromium = shutil.which(os.environ.get("CHROMIUM") or "chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            page.goto((site / f"{name}.html").as_uri(), wait_until="load")
            page.wait_for_timeout(1000)
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
            times = []
            for _ in range(5):
                times.append(page.evaluate(TURN))
                page.wait_for_timeout(300)
            found[name] = round(min(times))
            context.close()
        browser.close()
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.weight", description="Weigh the pages of the built site."
    )
    parser.add_argument("names", nargs="*", help="of pages, as chapters/kernel; without names, all")
    parser.add_argument("--dark", action="store_true", help="measure how soon a page is dark, in Chromium")
    options = parser.parse_args(arguments)
    found = weights(HTML)
    unknown = set(options.names) - {weight.name for weight in found}
    if unknown or not found:
        missing = ", ".join(sorted(unknown)) or "no page at all"
        print(f"Not in {HTML}: {missing}. `make book` builds the site.", file=sys.stderr)
        return 1
    chosen = [weight for weight in found if not options.names or weight.name in options.names]
    dark = darkening([weight.name for weight in chosen], HTML) if options.dark else {}
    heads = ("bytes", "compressed", "elements", "SVG", *(["dark, ms"] if dark else []))
    print("".join(f"{head:>12}" for head in heads), " page")
    for weight in chosen:
        numbers = (weight.bytes, weight.compressed, weight.elements, weight.svg)
        milliseconds = f"{dark[weight.name]:12,}" if dark else ""
        print("".join(f"{number:12,}" for number in numbers) + milliseconds, "", weight.name)
    complaints = [complaint for weight in chosen for complaint in weight.complaints()]
    for complaint in complaints:
        print(complaint)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
