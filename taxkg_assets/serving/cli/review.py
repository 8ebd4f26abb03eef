"""Commands that evaluate and decide: eval, review, release."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from taxkg_assets.serving.cli.application import (
    HomeOption,
    JsonOption,
    app,
    counted,
    examples,
    home_of,
    out,
    print_json,
)

command = partial(app.command, rich_help_panel="Evaluate and decide")


class Review(StrEnum):
    """Action of a reviewer."""

    list = "list"
    accept = "accept"
    reject = "reject"


@command(name="eval", epilog=examples("taxkg eval", "taxkg eval --gold questions.jsonl"))
def evaluate(
    gold: Annotated[
        Path | None,
        typer.Option("--gold", help="Evaluate on the questions in this JSON Lines file, which have gold passages."),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Answer this home's evaluation questions and score the answers.")
    ] = False,
    usage: Annotated[bool, typer.Option("--usage", help="Summarize the query log of this home's servers.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the metrics of the last evaluation, or measure the release on other gold questions."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.evaluate import evaluate_answers, evaluate_gold, read_report, report_usage

    if usage:
        figures, text, path = report_usage(home_of(home))
        if as_json:
            print_json({"report": path, "figures": figures})
        else:
            out.print(text, markup=False, highlight=False)
        return
    if gold is not None and not gold.is_file():
        raise typer.BadParameter(f"{gold} is not a file.")
    if gold is not None:
        report, path = evaluate_gold(home_of(home), gold)
    elif answers:
        report, path = evaluate_answers(home_of(home))
    else:
        report, path = read_report(home_of(home))
    if as_json:
        print_json({"report": path, "figures": report.to_dicts()})
    else:
        render.print_figures(report, path=path, out=out)


@command(epilog=examples("taxkg review list", 'taxkg review reject CHUNK --reason "two boxes in one"'))
def review(
    action: Annotated[Review, typer.Argument(help="Action: list, accept or reject.")],
    chunks: Annotated[list[str] | None, typer.Argument(help="Ids of chunks to accept or reject.")] = None,
    reason: Annotated[str, typer.Option("--reason", help="Reason for the decision.")] = "",
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the chunks that need review, or accept or reject chunks. The next build applies the decisions.

    Accepted chunks of the semantic chunker can also be rejected: chunks by layout then replace them.
    """
    from taxkg_assets.defs.home.store import Store
    from taxkg_assets.serving import render
    from taxkg_assets.serving.review import decide, list_waiting

    store = Store(home_of(home))
    if action is Review.list:
        rows = list_waiting(store)
        if as_json:
            print_json(rows)
        else:
            render.print_waiting(rows, out=out)
        return
    if not chunks:
        raise typer.BadParameter("Give the chunk ids that `taxkg review list` prints.")
    count = decide(store, chunks, decision=f"{action.value}ed", reason=reason)
    if as_json:
        print_json({"decided": count})
    else:
        out.print(f"Recorded {counted(count, 'decision')}. Run `taxkg build` to apply them.")


@command(epilog=examples("taxkg release", "taxkg release --rollback"))
def release(
    rollback: Annotated[bool, typer.Option("--rollback", help="Roll back to the previous release.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the releases, or roll back to the previous one. Servers follow within a second."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.release import list_releases, withdraw

    if rollback:
        withdraw(home_of(home))
    rows = list_releases(home_of(home))
    if as_json:
        print_json(rows)
    else:
        render.print_releases(rows, out=out)
