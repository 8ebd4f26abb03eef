"""The command `taxkg`: parse, call, render. Exit status: 0 done, 1 failed, 2 bad usage, 3 built with a quarantine."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from taxkg_assets.serving.errors import BAD_USAGE, explained, is_one_of
from taxkg_assets.serving.terminal import Terminal, escape_controls
from taxkg_assets.settings import MOST_DAYS, Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Tax forms and instructions to a gated knowledge graph and cited answers.",
)
# A pipe has no width: tables get one that a wide terminal would have.
out = Terminal(width=None if sys.stdout.isatty() else 140)
err = Terminal(stderr=True)

HomeOption = Annotated[str, typer.Option("--home", help="Home folder (default: TAXKG_HOME, or data/store).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
FAILED, USAGE, QUARANTINED = 1, 2, 3
DEV_IS_SUPERSEDED = "ignore:Function `dev_command` is superseded:FutureWarning"


class Review(StrEnum):
    """What a reviewer does."""

    list = "list"
    accept = "accept"
    reject = "reject"


class Sources(StrEnum):
    """What is done with the recorded sources."""

    list = "list"
    drop = "drop"


class Kind(StrEnum):
    """What is trained."""

    encoder = "encoder"
    reranker = "reranker"
    all = "all"


class Level(StrEnum):
    """Sizes of a passage."""

    auto = "auto"
    document = "document"
    page = "page"
    section = "section"
    paragraph = "paragraph"


def home_of(option: str) -> str:
    """The home to work on: the option, else the setting. Whatever the option, settings are looked over first."""
    settings = Settings()
    return option or settings.home


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(escape_controls(json.dumps(value, indent=1, ensure_ascii=False, default=str)) + "\n")


@app.command()
def build(
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", help="Folder or file to build from; recorded for later builds.")
    ] = None,
    home: HomeOption = "",
    select: Annotated[
        list[str] | None, typer.Option("--select", help="Only this asset, behind all gates above it.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try quarantined documents again.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only tell what language models would be asked, and what it would cost.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show Dagster's own log.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Materialize the asset graph with its gates; a second run does only what changed."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.bars import Bars
    from taxkg_assets.serving.build import build as run_build

    if estimate:
        from taxkg_assets.defs.resources import Home
        from taxkg_assets.serving.estimate import estimate_build

        rows = estimate_build(Home(home=home_of(home)))
        print_json(rows) if as_json else render.estimates(rows, out=out)
        return
    with Bars():
        result = run_build(
            home_of(home),
            roots=corpus or [],
            select=select or [],
            retry=retry,
            log_level="DEBUG" if verbose else "CRITICAL",
        )
    if as_json:
        print_json(asdict(result))
    else:
        render.build_result(result, out=out)
    if not result.is_done:
        raise typer.Exit(FAILED)
    if result.quarantine:
        raise typer.Exit(QUARANTINED)


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="IRS file names (f1099div, i1099div) or families (1099, w2).")],
    year: Annotated[list[int] | None, typer.Option("--year", help="Prior revisions of these years.")] = None,
    to: Annotated[Path | None, typer.Option("--to", help="Folder to fetch into (default: <home>/inbox).")] = None,
    is_draft: Annotated[bool, typer.Option("--draft", help="The early release draft.")] = False,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked for, and ask for nothing.")
    ] = False,
    base_url: Annotated[str, typer.Option("--base-url", help="Another server that holds the same paths.")] = "",
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Fetch forms, instructions and publications from the IRS; only what changed is loaded."""
    from taxkg_assets.defs.fetching import fetch as fetch_documents
    from taxkg_assets.defs.store import Store

    folder = to or Store(home_of(home)).home / "inbox"
    lines = []
    for line in fetch_documents(
        names,
        folder=folder,
        settings=Settings(),
        years=year or [],
        base_url=base_url,
        is_draft=is_draft,
        is_dry=is_dry,
    ):
        lines.append(line)
        if not as_json:
            out.print(f"{line.status:10} {line.url}  {line.file}{line.reason}", markup=False, highlight=False)
    if as_json:
        print_json({"folder": str(folder), "lines": [asdict(line) for line in lines]})
    if any(line.status == "failed" for line in lines):
        raise typer.Exit(FAILED)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of passages.")] = 5,
    form: Annotated[str, typer.Option("--form", help="Only this form, e.g. 1099-DIV.")] = "",
    year: Annotated[int | None, typer.Option("--year", help="Only this tax year or revision year.")] = None,
    level: Annotated[Level, typer.Option("--level", help="Size of a passage.")] = Level.auto,
    document: Annotated[str, typer.Option("--document", help="Only this document.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="Only passages with this tag or entity.")] = "",
    queries: Annotated[Path | None, typer.Option("--queries", help="File with one {id, query} a line.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Run file for --queries.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Rank passages of the released corpus, each with its page and rectangles."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.batch import run_batch
    from taxkg_assets.serving.filters import check_filters
    from taxkg_assets.serving.released import open_release

    check_question(query, queries, output)
    released = open_release(home_of(home))
    searcher = released.searcher
    check_filters(released, form=form, year=year, document=document, tag=tag)
    filters: dict[str, Any] = {"form": form or None, "year": year, "level": level.value, "document": document or None}
    filters |= {"tag": tag} if tag else {}
    if queries is not None and output is not None:
        from taxkg_assets.serving.batch import search_line

        def line(query_id: str, text: str) -> dict[str, Any]:
            return search_line(searcher, query_id, text, filters=filters)

        err.print(f"{run_batch(queries, output, line=line)} questions answered into {output}.")
        return
    results = searcher.search(query, k=k, **filters)
    if as_json:
        print_json([result.model_dump() for result in results])
    else:
        render.passages(results, out=out)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of passages to show.")] = 5,
    queries: Annotated[Path | None, typer.Option("--queries", help="File with one {id, query} a line.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Run file for --queries.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Answer a question with citations, with general guidance, or with silence."""
    from taxkg_assets.retrieval.answer import ask as answer_question
    from taxkg_assets.serving import render
    from taxkg_assets.serving.batch import run_batch, run_line
    from taxkg_assets.serving.released import open_release

    check_question(question, queries, output)
    searcher = open_release(home_of(home)).searcher
    settings = Settings()
    if queries is not None and output is not None:
        count = run_batch(queries, output, line=lambda i, q: run_line(searcher, i, q, settings=settings))
        err.print(f"{count} questions answered into {output}.")
        return
    answer = answer_question(searcher, question, settings=settings, k=k)
    if as_json:
        print_json(answer.model_dump())
    else:
        render.answer(question, answer, out=out)


def check_question(question: str, queries: Path | None, output: Path | None) -> None:
    """A question, or a file of them with a place for the run; anything else is bad usage."""
    if bool(question.strip()) == (queries is not None):
        raise typer.BadParameter("give a question, or --queries FILE with --out RUN")
    if (queries is None) != (output is None):
        raise typer.BadParameter("--queries and --out belong together")
    if queries is not None and not queries.is_file():
        raise typer.BadParameter(f"{queries} is no file")


@app.command()
def box(
    words: Annotated[list[str], typer.Argument(help="Form and key (1099-DIV 1a), a name (QD), or a form.")],
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Look up boxes by form and key or by name, with what instructions say of them; of a form alone list all boxes."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.boxes import find_asked_boxes, find_asked_forms
    from taxkg_assets.serving.released import open_release

    released = open_release(home_of(home))
    whole = find_asked_forms(released, words)
    rows = whole or find_asked_boxes(released, words)
    if as_json:
        print_json(rows)
    elif whole:
        render.forms(whole, out=out)
    else:
        render.boxes(rows, out=out)


@app.command()
def explain(
    words: Annotated[list[str], typer.Argument(help="Node, e.g. f1099div--2024-01#face-box_1a, or a box in words.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write what stands around it as a page.")] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Write what stands around it as a PNG.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Explain a node of the graph: what it is, where it stands, what it says, and what is said of it."""
    from taxkg_assets.defs.store import atomic_write
    from taxkg_assets.graph.picture import render_graph_page, render_graph_picture
    from taxkg_assets.serving import explain as explaining
    from taxkg_assets.serving.released import open_release

    found = explaining.explain(open_release(home_of(home)), words)
    if html is not None:
        atomic_write(html, render_graph_page(found.around).encode())
    if picture is not None:
        atomic_write(picture, render_graph_picture(found.around))
    if as_json:
        print_json(found.row())
    else:
        explaining.show(found, out=out)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write nodes, edges and the registry into.")],
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Export the released graph: GraphML for graph programs, Parquet for everything else."""
    from taxkg_assets.serving.explain import export_graph
    from taxkg_assets.serving.released import open_release

    written = export_graph(open_release(home_of(home)), folder)
    if as_json:
        print_json(written)
    else:
        for path, rows in written.items():
            out.print(f"{path}: {rows} rows", markup=False, highlight=False)


@app.command()
def diff(
    name: Annotated[str, typer.Argument(help="Product or form, e.g. f1099nec or 1099-NEC.")],
    older: Annotated[str, typer.Argument(help="Older revision, document or PDF, e.g. 2020.")] = "",
    newer: Annotated[str, typer.Argument(help="Newer one (default: the two newest).")] = "",
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the report as Markdown.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as an HTML page.")] = None,
    has_routine: Annotated[bool, typer.Option("--all", help="Show routine changes too.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Tell what changed between two revisions: boxes, lines and codes, amounts, instructions, routine."""
    from taxkg_assets.defs.store import Store, atomic_write
    from taxkg_assets.graph.change_page import render_change_page
    from taxkg_assets.graph.change_report import render_change_markdown
    from taxkg_assets.serving.diff import compare
    from taxkg_assets.serving.diff import show as show_report
    from taxkg_assets.serving.diff_files import admit_files
    from taxkg_assets.settings import Settings

    tables, (before, after) = admit_files(Store(home_of(home)), (older, newer), product=name, settings=Settings())
    rows, report = compare(tables, name, before, after)
    for path, render in ((markdown, render_change_markdown), (html, render_change_page)):
        if path is not None:
            atomic_write(path, render(report).encode())
    if as_json:
        print_json(rows)
    else:
        show_report(report, has_routine=has_routine, out=out)


@app.command()
def table(
    question: Annotated[str, typer.Argument(help="What to read from a table.")],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of cells to show.")] = 3,
    document: Annotated[str, typer.Option("--document", help="Only this document.")] = "",
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Read a cell of a table by its row and column headers; say so where none fits."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.released import open_release
    from taxkg_assets.serving.tables import TableDesk

    if not question.strip():
        raise typer.BadParameter("the question is empty")
    rows = TableDesk(open_release(home_of(home))).find(question, k=k, document=document or None)
    if as_json:
        print_json(rows)
    else:
        render.cells(question, rows, out=out)


@app.command()
def show(
    document: Annotated[str, typer.Argument(help="Document, e.g. i1099div--2024-01.")],
    page: Annotated[int, typer.Argument(help="Page of the PDF, from 1.")],
    output: Annotated[
        Path | None, typer.Option("--out", help="Picture to write (default: <home>/reports/pages).")
    ] = None,
    is_opened: Annotated[bool, typer.Option("--open", help="Open the picture when it is written.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Draw a page with its roles, columns, reading order, table cells and owners."""
    from taxkg_assets.defs.store import Store, atomic_write
    from taxkg_assets.serving.show import draw_page, find_page

    store = Store(home_of(home))
    content = find_page(store, document, page)
    picture = draw_page(store, content)
    path = output or store.folder("reports", "pages") / f"{document}-p{page:04d}.png"
    atomic_write(path, picture.png)
    if as_json:
        size = {"width_px": picture.width_px, "height_px": picture.height_px}
        print_json({"picture": str(path), **size, "elements": content.elements, "owners": content.owners})
    else:
        for line in content.lines():
            out.print(line, markup=False, highlight=False)
        out.print(f"Drawn into {path}.", markup=False, highlight=False)
    if is_opened:
        typer.launch(str(path))


@app.command(name="eval")
def evaluate(
    gold: Annotated[Path | None, typer.Option("--gold", help="Another file of gold questions.")] = None,
    usage: Annotated[bool, typer.Option("--usage", help="What servers of this home were asked, from the log.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the metrics of the evaluation, or measure the release on other gold; the report lies in the home."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.evaluate import evaluate_gold, read_report, report_usage

    if usage:
        figures, text, path = report_usage(home_of(home))
        if as_json:
            print_json({"report": path, "figures": figures})
        else:
            out.print(text, markup=False, highlight=False)
        return
    if gold is not None and not gold.is_file():
        raise typer.BadParameter(f"{gold} is no file")
    report, path = evaluate_gold(home_of(home), gold) if gold is not None else read_report(home_of(home))
    if as_json:
        print_json({"report": path, "figures": report.to_dicts()})
    else:
        render.figures(report, path=path, out=out)


@app.command()
def review(
    action: Annotated[Review, typer.Argument(help="What to do.")],
    chunks: Annotated[list[str] | None, typer.Argument(help="Chunks to accept or reject.")] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why, in your words.")] = "",
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the chunks that wait for a person, or accept or reject chunks; the next build follows.

    A chunk that was cut by meaning and accepted can be rejected too: its text is then searched as the layout cuts it.
    """
    from taxkg_assets.defs.store import Store
    from taxkg_assets.serving import render
    from taxkg_assets.serving.review import decide, list_waiting

    store = Store(home_of(home))
    if action is Review.list:
        rows = list_waiting(store)
        print_json(rows) if as_json else render.waiting(rows, out=out)
        return
    if not chunks:
        raise typer.BadParameter("name the chunks, as `taxkg review list` shows them")
    count = decide(store, chunks, decision=f"{action.value}ed", reason=reason)
    print_json({"decided": count}) if as_json else out.print(f"{count} decided; `taxkg build` brings it to the index.")


@app.command()
def train(
    kind: Annotated[Kind, typer.Option("--kind", help="What to train.")] = Kind.all,
    home: HomeOption = "",
    verbose: Annotated[bool, typer.Option("--verbose", help="Show Dagster's own log.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train encoder and reranker on the graph; the base is kept where they do not beat it. Goes on after a kill."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.bars import Bars
    from taxkg_assets.serving.train import read_models
    from taxkg_assets.serving.train import train as run_training

    with Bars():
        result = run_training(home_of(home), kind=kind.value, log_level="DEBUG" if verbose else "CRITICAL")
    models = read_models(home_of(home))
    if as_json:
        print_json({**asdict(result), "models": models})
    else:
        render.build_result(result, out=out)
        render.models(models, out=out)
    if not result.is_done:
        raise typer.Exit(FAILED)


@app.command()
def release(
    rollback: Annotated[bool, typer.Option("--rollback", help="Serve the release before the current one.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the releases, or go back to the one before; servers follow within a second."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.release import list_releases, withdraw

    if rollback:
        withdraw(home_of(home))
    rows = list_releases(home_of(home))
    if as_json:
        print_json(rows)
    else:
        render.releases(rows, out=out)


@app.command()
def sources(
    action: Annotated[Sources, typer.Argument(help="What to do.")],
    source: Annotated[Path | None, typer.Argument(help="Folder or file to drop.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the recorded folders and files, or drop one; its documents leave with the next build."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.sources import drop, list_sources

    if action is Sources.list:
        rows = list_sources(home_of(home))
        print_json(rows) if as_json else render.sources(rows, out=out)
        return
    if source is None:
        raise typer.BadParameter("name the folder or file, as `taxkg sources list` shows it")
    leaving = drop(home_of(home), source)
    if as_json:
        print_json({"leaving": leaving})
    else:
        out.print(f"Dropped. With the next build {len(leaving)} documents leave: {', '.join(leaving)}.", markup=False)


@app.command()
def vacuum(
    keep_days: Annotated[
        float | None,
        typer.Option("--keep-days", min=0, max=MOST_DAYS, help="Versions younger than this stay (default: a week)."),
    ] = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete old versions of tables and of the index that no kept release reads."""
    from taxkg_assets.defs.resources import Home
    from taxkg_assets.defs.retention import keep_house
    from taxkg_assets.serving import render

    given = Home(home=home_of(home))
    days = given.settings.keep_days if keep_days is None else keep_days
    with given.store.exclusive():
        freed = keep_house(given, keep_days=days, is_dry=is_dry)
    if as_json:
        print_json([asdict(one) for one in freed])
    else:
        render.freed(freed, is_dry=is_dry, out=out)


@app.command()
def status(home: HomeOption = "", as_json: JsonOption = False) -> None:
    """Show what is built, stale, failed, served and quarantined."""
    from taxkg_assets.defs.proposers import describe_proposer
    from taxkg_assets.defs.resources import Home
    from taxkg_assets.defs.store import Store
    from taxkg_assets.serving import render
    from taxkg_assets.serving.status import list_flagged, list_hidden_texts, table_statuses

    store = Store(home_of(home))
    tables = table_statuses(store)
    quarantine = store.read_or_empty("quarantine").to_dicts()
    hidden, flagged = list_hidden_texts(store), list_flagged(store)
    proposer = describe_proposer(Home(home=str(store.home)))
    if as_json:
        shown = {"home": store.uri, "tables": [asdict(t) for t in tables]}
        shown |= {
            "quarantine": quarantine,
            "flagged": flagged,
            "hidden text": hidden,
            "metrics": store.read_or_empty("metrics").to_dicts(),
        }
        print_json({**shown, "language models": proposer})
    else:
        render.statuses(tables, quarantine, home=store.uri, out=out)
        render.flagged(flagged, out=out)
        render.hidden_texts(hidden, out=out)
        render.metrics(store.read_or_empty("metrics"), out=out)
        render.proposer(proposer, out=out)


@app.command()
def ui(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port of the web server.")] = 3000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    has_daemon: Annotated[
        bool, typer.Option("--daemon/--no-daemon", help="With the daemon, or beside one that `taxkg daemon` runs.")
    ] = True,
) -> None:
    """Open the Dagster UI on this home, with the daemon that runs sensors, automation and backfills."""
    from taxkg_assets.serving.daemon import WORKSPACE, prepare_home

    store = prepare_home(home_of(home))
    err.print(f"Dagster UI on http://{host}:{port} for {store.uri}; stop it with Ctrl-C.")
    address = ["-h", host, "-p", str(port)]
    program = ["dagster", "dev"] if has_daemon else ["dagster_webserver"]
    _become([*program, *WORKSPACE, *address], store.home)


@app.command()
def daemon(home: HomeOption = "") -> None:
    """Run sensors, schedules, automation and queued runs of this home, without the UI."""
    from taxkg_assets.defs.compat import DAEMON_MODULE
    from taxkg_assets.serving.daemon import WORKSPACE, prepare_home

    store = prepare_home(home_of(home))
    err.print(f"Dagster daemon for {store.uri}; stop it with Ctrl-C.")
    _become([DAEMON_MODULE, "run", *WORKSPACE], store.home)


def _become(module: list[str], home: Path) -> None:
    """Replace this process by one of Dagster's programs, at work in the home."""
    from taxkg_assets.defs.looks import inbox_of

    paths = {"TAXKG_HOME": str(home), "TAXKG_INBOX": str(inbox_of(Settings(home=str(home))))}
    environment = {**os.environ, **paths, "PYTHONWARNINGS": DEV_IS_SUPERSEDED}
    os.chdir(home)
    os.execvpe(sys.executable, [sys.executable, "-m", *module], environment)


@app.command()
def serve(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port to listen on.")] = 8000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve the HTTP API, the web explorer and the tools for agents (/mcp) over the released corpus."""
    import uvicorn

    from taxkg_assets.serving.http_api import create_app
    from taxkg_assets.serving.service import Service

    settings = Settings()
    if host not in LOOPBACK and not settings.api_key.get_secret_value():
        raise typer.BadParameter(f"{host} is open to others: set TAXKG_API_KEY first, or listen on 127.0.0.1")
    err.print(f"taxkg on http://{host}:{port} for {home_of(home)}; stop it with Ctrl-C.", highlight=False)
    service = Service(home_of(home), settings=settings)
    uvicorn.run(create_app(service, hosts=[host]), host=host, port=port, log_level="warning")


@app.command()
def mcp(home: HomeOption = "") -> None:
    """Serve search, ask, box and evidence pictures to an agent over standard input and output."""
    from taxkg_assets.serving.service import Service
    from taxkg_assets.serving.tools import create_tools

    create_tools(Service(home_of(home))).run("stdio")


def main() -> None:
    """Run the command line; an expected error is one message without a trace."""
    streams = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
    try:
        app()
    except Exception as error:
        # Dagster turns both into a step's log, and where its disk is full it does not turn them back.
        for number, own in streams.items():
            os.dup2(own, number)
        message, status = _explain(error)
        if message is None:
            raise
        err.print(f"[bold red]taxkg:[/] {message}", highlight=False, markup=True, soft_wrap=True)
        sys.exit(status)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _explain(error: Exception) -> tuple[str | None, int]:
    """What to say of an error, and the exit status; nothing of a defect."""
    return explained(error), USAGE if is_one_of(error, BAD_USAGE) else FAILED


if __name__ == "__main__":
    main()
