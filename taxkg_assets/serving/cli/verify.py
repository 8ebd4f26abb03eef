"""The command that checks a draft against the release: verify."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from taxkg_assets.serving.cli.application import FAILED, HomeOption, JsonOption, app, examples, home_of, out, print_json

command = partial(app.command, rich_help_panel="Query")


@command(epilog=examples("taxkg verify memo.md", "taxkg verify reply.txt --strict --html report.html"))
def verify(
    draft: Annotated[Path, typer.Argument(help="Draft to check: text, Markdown or PDF.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as an HTML page.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the report as Markdown.")] = None,
    is_strict: Annotated[
        bool, typer.Option("--strict", help="Exit status 1 also for statements that are not found or unclear.")
    ] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Check the quotations and statements of a draft against the library. Exit status 1: the draft needs a change."""
    from taxkg_assets.defs.home.store import atomic_write
    from taxkg_assets.serving import render_verify
    from taxkg_assets.serving.drafts import read_file
    from taxkg_assets.serving.released import open_release
    from taxkg_assets.serving.verify import Checker
    from taxkg_assets.verification.report import render_markdown, render_page

    draft_file = read_file(draft)
    report = Checker(open_release(home_of(home))).check(draft_file)
    if html is not None:
        atomic_write(html, render_page(report, draft_file.text).encode())
    if markdown is not None:
        atomic_write(markdown, render_markdown(report).encode())
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        render_verify.print_report(report, out=out)
    if not report.is_fine or (is_strict and not report.is_confirmed):
        raise typer.Exit(FAILED)
