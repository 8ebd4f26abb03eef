"""Hand-written pages: links lead somewhere, commands and settings exist, README stays short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from taxkg_assets.serving.cli import app
from taxkg_assets.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BENCHMARKS = sorted((ROOT / "benchmarks").glob("**/*.md"))
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
NO_SETTINGS = {"TEST_CORPUS", "REQUIRE_CORPUS", "REWRITE_GOLDEN", "BENCH_CHUNKS", "BENCH_REQUESTS"}
"""Variables of the tests and benchmarks."""
README_LINES = 100
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as they are made from their words."""
    text = _FENCE.sub("", page.read_text(encoding="utf8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _find_dead(page: Path) -> Iterator[str]:
    for link in _LINK.findall(page.read_text(encoding="utf8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            yield link


@pytest.mark.parametrize("page", [*PAGES, *BENCHMARKS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(_find_dead(page)) == []


@pytest.mark.parametrize("page", [*PAGES, *BENCHMARKS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_no_command_and_no_setting_that_is_gone(page: Path) -> None:
    text = page.read_text(encoding="utf8")
    blocks = "".join(_FENCE.findall(text))
    named = re.findall(r"^(?:.*/)?taxkg ([a-z]+)\b", blocks, re.MULTILINE) + re.findall(r"`taxkg ([a-z]+)\b", text)
    assert set(named) <= COMMANDS
    variables = set(re.findall(r"\bTAXKG_([A-Z_]+[A-Z])\b", text)) - NO_SETTINGS
    assert variables <= {field.upper() for field in Settings.model_fields}


def test_the_readme_stays_short_and_leads_to_every_page() -> None:
    readme = ROOT / "README.md"
    assert len(readme.read_text(encoding="utf8").splitlines()) <= README_LINES
    linked = {(readme.parent / link).resolve() for link in _LINK.findall(readme.read_text(encoding="utf8"))}
    assert {page for page in PAGES if page != readme} <= linked
