"""Pages of the documentation site that the repository keeps outside `docs`: the README, the benchmarks and others.

MkDocs calls these functions (`hooks` in mkdocs.yml). Links between the pages are rewritten to their place on the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "license.txt",
    "benchmarks/README.md": "benchmarks.md",
    **{
        f"benchmarks/docs/{own.name}": f"benchmarks/{own.name}"
        for own in sorted((ROOT / "benchmarks/docs").glob("*.md"))
    },
}
"""Place in the repository, and place on the site."""

_LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?(?=\))")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages from outside `docs`.

    Args:
        files: Files of `docs`.
        config: Settings of the site.

    Returns:
        The same collection with one more file per entry of `OUTSIDE`.
    """
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf8")
        files.append(File.generated(config, page, content=_rewrite(text, source=source, page=page)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page of `docs` that leave the folder.

    Args:
        markdown: Text of the page.
        page: Page.
        config: Settings of the site.
        files: All files of the site.
    """
    name = page.file.src_uri
    return markdown if name in OUTSIDE.values() else _rewrite(markdown, source=f"docs/{name}", page=name)


def _rewrite(text: str, *, source: str, page: str) -> str:
    """Return a text whose relative links lead to the pages of the site.

    Args:
        text: Markdown.
        source: Place of the page in the repository.
        page: Place of the page on the site.
    """

    def place(link: re.Match[str]) -> str:
        target = (ROOT / source).parent.joinpath(link["path"]).resolve()
        if not target.is_relative_to(ROOT):
            return link[0]
        name = target.relative_to(ROOT).as_posix()
        found = OUTSIDE.get(name, name.removeprefix("docs/"))
        return posixpath.relpath(found, posixpath.dirname(page)) + (link["anchor"] or "")

    return _LINK.sub(place, text)
