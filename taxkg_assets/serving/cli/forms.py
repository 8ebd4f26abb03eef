"""Commands that read the lines of forms: line, form."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from taxkg_assets.serving.cli.application import (
    HomeOption,
    JsonOption,
    app,
    counted,
    err,
    examples,
    home_of,
    out,
    print_json,
)

command = partial(app.command, rich_help_panel="Query")


@command(epilog=examples("taxkg line 8960 5a", "taxkg line Schedule D 7", "taxkg line 8949 Part II 2"))
def line(
    words: Annotated[list[str], typer.Argument(help="Form and key: 8960 5a, Schedule D 7, 8949 Part II 2.")],
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Look up a line, box or column of a form in each revision: label, formula, flows, instructions, fields."""
    from taxkg_assets.serving import render_lines
    from taxkg_assets.serving.lines import find_lines
    from taxkg_assets.serving.released import open_release

    rows = find_lines(open_release(home_of(home)), words)
    if as_json:
        print_json(rows)
    else:
        render_lines.print_lines(rows, out=out)


@command(epilog=examples("taxkg form 8960", "taxkg form 1040 --revision 2023 --csv fields.csv"))
def form(
    words: Annotated[list[str], typer.Argument(help="Form or schedule: 8960, Schedule D.")],
    revision: Annotated[str, typer.Option("--revision", help="Revision or document (default: the newest).")] = "",
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write name, key, label and rectangle of each field to this file.")
    ] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the numbered fields of a form in printed order, or export all fields as CSV."""
    from taxkg_assets.defs.home.store import atomic_write
    from taxkg_assets.serving import render_lines
    from taxkg_assets.serving.lines import find_form, list_fields
    from taxkg_assets.serving.released import open_release

    rows = find_form(open_release(home_of(home)), words, revision=revision)
    if csv is not None:
        fields = list_fields(rows)
        atomic_write(csv, fields.write_csv().encode())
        err.print(f"Wrote {counted(fields.height, 'field')} to {csv}.", markup=False)
    if as_json:
        print_json(rows)
    elif csv is None:
        render_lines.print_form(rows, out=out)


@command(epilog=examples("taxkg trace 1099-DIV 1a", "taxkg trace 1099-DIV 1a --svg trace.svg"))
def trace(
    words: Annotated[list[str], typer.Argument(help="Form and key: 1099-DIV 1a, W-2 12 code W.")],
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the trace into this SVG file.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Follow an amount across documents: where it comes from and where it goes, each step with its evidence."""
    from taxkg_assets.defs.home.store import atomic_write
    from taxkg_assets.serving import render_lines
    from taxkg_assets.serving.released import open_release
    from taxkg_assets.serving.trace import draw
    from taxkg_assets.serving.trace import trace as follow

    traced = follow(open_release(home_of(home)), words)
    if svg is not None:
        atomic_write(svg, draw(traced).encode())
    if as_json:
        print_json(traced)
    else:
        render_lines.print_trace(traced, out=out)
