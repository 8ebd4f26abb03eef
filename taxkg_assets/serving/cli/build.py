"""Commands that build and keep a home: build, fetch, train, status, sources, vacuum."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from taxkg_assets.serving.cli.application import (
    FAILED,
    QUARANTINED,
    HomeOption,
    JsonOption,
    app,
    counted,
    examples,
    home_of,
    out,
    print_json,
)
from taxkg_assets.settings import MOST_DAYS, Settings

command = partial(app.command, rich_help_panel="Build")


VerboseOption = Annotated[bool, typer.Option("--verbose", help="List every gate and table at the end.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show Dagster's own log.")]


class Kind(StrEnum):
    """Model to train."""

    encoder = "encoder"
    reranker = "reranker"
    all = "all"


class Sources(StrEnum):
    """Action on the recorded sources."""

    list = "list"
    drop = "drop"


@command(epilog=examples("taxkg build --corpus forms/", "taxkg build --home library --select edges"))
def build(
    corpus: Annotated[
        list[Path] | None,
        # A folder that cannot be read is reported by the build, which continues with the others.
        typer.Option(
            "--corpus",
            help="Document or folder of documents, without subfolders. Recorded for later builds. Repeatable.",
            readable=False,
        ),
    ] = None,
    home: HomeOption = "",
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", help="Build only this asset. The gates of all tables that it depends on must pass. Repeatable."
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try quarantined documents again.")] = False,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Estimate the calls of language models and their cost, without building."),
    ] = False,
    verbose: VerboseOption = False,
    debug: DebugOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build all tables, the index and the release, and run the gates. A later build does only what changed."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.build import build as run_build
    from taxkg_assets.serving.progress_bars import ProgressBars

    if estimate:
        from taxkg_assets.defs.wiring.resources import Home
        from taxkg_assets.serving.estimate import estimate_build

        rows = estimate_build(Home(home=home_of(home, is_new=True)))
        if as_json:
            print_json([row.as_row() for row in rows])
        else:
            render.print_estimates(rows, out=out)
        return
    with ProgressBars():
        result = run_build(
            home_of(home, is_new=True),
            roots=corpus or [],
            select=select or [],
            retry=retry,
            log_level="DEBUG" if debug else "CRITICAL",
        )
    if as_json:
        print_json(asdict(result))
    else:
        render.print_build_result(result, out=out, is_whole=verbose)
    if not result.is_done:
        raise typer.Exit(FAILED)
    if result.quarantine:
        raise typer.Exit(QUARANTINED)


@command(epilog=examples("taxkg fetch 1099 w2", "taxkg fetch f1040 i1040 --year 2023 --to forms/"))
def fetch(
    names: Annotated[list[str], typer.Argument(help="IRS file names (f1099div, i1099div) or families (1099, w2).")],
    year: Annotated[
        list[int] | None,
        typer.Option("--year", help="Fetch the revision of this year instead of the current one. Repeatable."),
    ] = None,
    to: Annotated[Path | None, typer.Option("--to", help="Folder to fetch into (default: <home>/inbox).")] = None,
    is_draft: Annotated[bool, typer.Option("--draft", help="Fetch the early release draft.")] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Print the requests without sending them.")] = False,
    base_url: Annotated[
        str, typer.Option("--base-url", help="Server to fetch from instead of the IRS. It must have the same paths.")
    ] = "",
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Fetch forms, instructions and publications from the IRS. Only changed files are downloaded."""
    from taxkg_assets.defs.home.store import Store
    from taxkg_assets.defs.ingest.fetching import fetch as fetch_documents

    folder = to or Store(home_of(home, is_new=True)).home / "inbox"
    results = []
    for result in fetch_documents(
        names,
        folder=folder,
        settings=Settings(),
        years=year or [],
        base_url=base_url,
        is_draft=is_draft,
        is_dry=is_dry,
    ):
        results.append(result)
        if not as_json:
            reason = result.reason.removeprefix(f"{result.url}: ")
            out.print(f"{result.status:10} {result.url}  {result.file}{reason}", markup=False, highlight=False)
    if as_json:
        print_json({"folder": str(folder), "lines": [asdict(result) for result in results]})
    if any(result.status == "failed" for result in results):
        raise typer.Exit(FAILED)


@command(epilog=examples("taxkg train --kind reranker"))
def train(
    kind: Annotated[Kind, typer.Option("--kind", help="Model to train.")] = Kind.all,
    home: HomeOption = "",
    verbose: VerboseOption = False,
    debug: DebugOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train the encoder and the reranker on the graph. A model that does not beat its base is not used.

    A training that was interrupted continues where it stopped.
    """
    from taxkg_assets.serving import render
    from taxkg_assets.serving.progress_bars import ProgressBars
    from taxkg_assets.serving.train import read_models
    from taxkg_assets.serving.train import train as run_training

    with ProgressBars():
        result = run_training(home_of(home), kind=kind.value, log_level="DEBUG" if debug else "CRITICAL")
    models = read_models(home_of(home))
    if as_json:
        print_json({**asdict(result), "models": models})
    else:
        render.print_build_result(result, out=out, is_whole=verbose)
        render.print_models(models, out=out)
    if not result.is_done:
        raise typer.Exit(FAILED)


@command(epilog=examples("taxkg status", "taxkg status --json"))
def status(home: HomeOption = "", as_json: JsonOption = False) -> None:
    """Show what is built, stale, failed, served and quarantined."""
    from taxkg_assets.defs.home.proposers import describe_proposer
    from taxkg_assets.defs.home.store import Store
    from taxkg_assets.defs.wiring.resources import Home
    from taxkg_assets.records import QuarantineRecord, iter_records
    from taxkg_assets.serving import render
    from taxkg_assets.serving.status import list_flagged, list_hidden_texts, table_statuses

    store = Store(home_of(home))
    tables = table_statuses(store)
    quarantine = list(iter_records(store.read_or_empty("quarantine"), QuarantineRecord))
    hidden_texts = list_hidden_texts(store)
    flagged_documents = list_flagged(store)
    proposer = describe_proposer(Home(home=str(store.home)))
    if as_json:
        report = {"home": store.uri, "tables": [asdict(table_status) for table_status in tables]}
        report |= {
            "quarantine": quarantine,
            "flagged": flagged_documents,
            "hidden text": hidden_texts,
            "metrics": store.read_or_empty("metrics").to_dicts(),
        }
        print_json({**report, "language models": proposer.as_figures()})
    else:
        render.print_statuses(tables, quarantine, home=store.uri, out=out)
        render.print_flagged(flagged_documents, out=out)
        render.print_hidden_texts(hidden_texts, out=out)
        render.print_metrics(store.read_or_empty("metrics"), out=out)
        render.print_proposer(proposer, out=out)


@command(epilog=examples("taxkg sources list", "taxkg sources drop forms/old"))
def sources(
    action: Annotated[Sources, typer.Argument(help="Action: list or drop.")],
    source: Annotated[Path | None, typer.Argument(help="Folder or file to remove from the recorded sources.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the recorded folders and files, or remove one. The next build removes its documents."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.sources import drop, list_sources

    if action is Sources.list:
        rows = list_sources(home_of(home))
        if as_json:
            print_json(rows)
        else:
            render.print_sources(rows, out=out)
        return
    if source is None:
        raise typer.BadParameter("Give the folder or file as `taxkg sources list` prints it.")
    document_ids = drop(home_of(home), source)
    if as_json:
        print_json({"leaving": document_ids})
    else:
        document_list = f"{counted(len(document_ids), 'document')}: {', '.join(document_ids)}"
        out.print(f"Removed the source. The next build removes {document_list}.", markup=False)


@command(epilog=examples("taxkg vacuum --keep-days 30 --dry-run"))
def vacuum(
    keep_days: Annotated[
        float | None,
        typer.Option(
            "--keep-days", min=0, max=MOST_DAYS, help="Keep versions younger than this many days (default: 7)."
        ),
    ] = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Print what would be deleted, and delete nothing.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete versions of tables and of the index that are older than --keep-days and that no kept release uses."""
    from taxkg_assets.defs.retention import run_retention
    from taxkg_assets.defs.wiring.resources import Home
    from taxkg_assets.serving import render

    opened_home = Home(home=home_of(home))
    days = opened_home.settings.keep_days if keep_days is None else keep_days
    with opened_home.store.exclusive():
        reclaimed_files = run_retention(opened_home, keep_days=days, is_dry=is_dry)
    if as_json:
        print_json([asdict(files_of_table) for files_of_table in reclaimed_files])
    else:
        render.print_freed(reclaimed_files, is_dry=is_dry, out=out)
