"""Sphinx extension: how a reader runs what is on the page.

- A menu "Run it" below the title of each chapter (`menu`, which tools/sphinx/layers.py puts there).
- Steps on the page of all ways: `{run-list}`, the folder of each chapter; `{run-package}`, the wheel and the
  line that installs it; `{run-book}`; `{run-cloud}`, or that nothing is published.
- The folders themselves (tools/folders.py), when the pages are written.

Binder needs the address of the repository (`repository_url`, an option of the theme). Colab opens only what
lies in a repository on GitHub: the branch `notebooks_branch` (`html_context.run`), where site.yml puts the
notebooks of the build; and it installs mcutils from the site, so it needs `html_baseurl` too.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from tools import folders, handout, package, parts
from tools.folders import FOLDER

logger = logging.getLogger(__name__)

PAGE = "appendix/run"

SITES = {"github.com": "gh", "gitlab.com": "gl"}  # what Binder calls them


class Repository(NamedTuple):
    """Where the book's repository is, and which of its branches hold what."""

    url: str
    branch: str
    notebooks: str  # the branch with the notebooks for Colab, "" if there is none

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.removeprefix("www.")

    @property
    def name(self) -> str:
        """That of its owner and its own, as in somebody/book."""
        return urlsplit(self.url).path.strip("/").removesuffix(".git")


def repository(config: Config) -> Repository | None:
    """That of the configuration, if it names one."""
    options = config.html_theme_options
    url = options.get("repository_url", "")
    branches = config.html_context.get("run", {})
    branch = options.get("repository_branch") or "main"
    return Repository(url, branch, branches.get("notebooks_branch", "")) if url else None


def clouds(config: Config, name: str) -> Iterator[tuple[str, str]]:
    """Where a chapter runs without an installation: names and addresses."""
    found = repository(config)
    if not found:
        return
    if site := SITES.get(found.host):
        place = f"{site}/{found.name if site == 'gh' else quote(found.name, safe='')}"
    else:
        place = f"git/{quote(found.url, safe='')}"
    branch = quote(found.branch, safe="")
    yield "Binder", f"https://mybinder.org/v2/{place}/{branch}?urlpath=lab/tree/chapters/{name}.ipynb"
    if for_colab(config):
        path = f"{found.name}/blob/{found.notebooks}/{name}.ipynb"
        yield "Colab", f"https://colab.research.google.com/github/{path}"


def for_colab(config: Config) -> str:
    """The address of the site if it is to have notebooks for Colab, else ""."""
    found = repository(config)
    can = found and found.host == "github.com" and found.notebooks
    return str(config.html_baseurl) if can else ""


def address(file: str, docname: str) -> str:
    """From a page to a file of the site."""
    return html.escape(relative_uri(f"{docname}.html", file))


def download(file: str, docname: str, text: str) -> str:
    return f'<a href="{address(f"{FOLDER}/{file}", docname)}" download>{html.escape(text)}</a>'


def menu(app: Sphinx, docname: str) -> str:
    """What a chapter shows below its title, to be opened there."""
    name = Path(docname).name
    links = "".join(
        f' <a href="{html.escape(url)}">Open in {cloud}</a>' for cloud, url in clouds(app.config, name)
    )
    in_the_cloud = f'<p class="run-cloud">Without an installation:{links}</p>\n' if links else ""
    elsewhere = ""
    if PAGE in app.env.found_docs:
        link = f'<a href="{address(f"{PAGE}.html", docname)}">If pip refuses, and other ways</a>'
        elsewhere = f"<p>{link}</p>\n"
    folder = download(f"{name}.zip", docname, "Download as a folder that runs")
    package_alone = f"Only the package: {download(folders.wheel_name(), docname, folders.wheel_name())}"
    return f"""
<details class="run-menu"><summary>Run it</summary>
<div>
<p><strong>{folder}</strong>: {name}.zip, with the notebook, its data and the package. Unzip it. In a
terminal, in the folder {name}:</p>
<ol>
<li><code>pip install -r requirements.txt</code></li>
<li><code>jupyter lab {name}.ipynb</code></li>
</ol>
{in_the_cloud}<p>{package_alone}</p>
{elsewhere}</div></details>
"""


# -- the page about all ways ---------------------------------------------------------------


class Told(SphinxDirective):
    """A text in MyST of what the configuration and the sources know."""

    def text(self) -> str:
        raise NotImplementedError

    def download(self, file: str) -> str:
        return download(file, self.env.docname, file)

    def run(self) -> list[nodes.Node]:
        container = nodes.container()
        text = StringList(self.text().split("\n"), source=__name__)
        self.state.nested_parse(text, self.content_offset, container)
        return container.children


class RunList(Told):
    def text(self) -> str:
        entries = ((name, self.download(f"{name}.zip")) for name in chapters(self.env))
        return "\n".join(f"- {{doc}}`/chapters/{name}`: {link}" for name, link in entries)


class RunPackage(Told):
    def text(self) -> str:
        wheel = folders.wheel_name()
        return f"""\
1. Download {self.download(wheel)}.
2. In a terminal, in the folder where it lies:

   ```bash
   pip install ./{wheel}
   ```

The distribution is called `{package.project()["name"]}`, the import `mcutils`. Do not `pip install mcutils`:
on the Python Package Index that name belongs to a different project."""


class RunBook(Told):
    def text(self) -> str:
        if found := repository(self.config):
            get = f"Get the repository: `git clone {found.url}`"
        else:
            get = "Get the repository from whoever gave you this book: it has no public address yet."
        return f"1. {get}\n2. In its folder: `make lab`; without make, `python3 tools/run.py lab`"


class RunCloud(Told):
    def text(self) -> str:
        names = [name for name, _ in clouds(self.config, chapters(self.env)[0])]
        if not names:
            return (
                "Not yet. Services such as Binder and Colab fetch what they run from a public repository, "
                "and this book names none."
            )
        return (
            f"Open *Run it* at the top of a chapter, and there *Open in {'* or *Open in '.join(names)}*. "
            "The service takes a minute or more to begin, and keeps what you write only if you save it."
        )


# -- the folders ---------------------------------------------------------------------------


def chapters(env: BuildEnvironment) -> list[str]:
    """The names of the chapters in the order of the book."""
    return [chapter.name for part in parts.read(Path(env.srcdir)) for chapter in part.chapters]


def write_folders(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    root = Path(app.srcdir)
    paths = [root / "chapters" / f"{name}.ipynb" for name in chapters(app.env)]
    paths += sorted((root / "recipes").glob("*.ipynb"))
    book = handout.read(Path(app.srcdir))
    written = folders.write(paths, book, Path(app.outdir) / FOLDER, for_colab(app.config))
    size = f"{written.total / 1e6:.1f} MB with the wheel"
    logger.info(f"folders: {written.changed} of {written.zips} written, together {size}")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("run-list", RunList)
    app.add_directive("run-package", RunPackage)
    app.add_directive("run-book", RunBook)
    app.add_directive("run-cloud", RunCloud)
    app.connect("build-finished", write_folders)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
