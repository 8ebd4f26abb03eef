"""Lines of forms for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from taxkg_assets.serving.trace import name_line


def lines(rows: Sequence[Mapping[str, Any]], *, out: Console) -> None:
    """Print a line in each revision of its form.

    Args:
        rows: Lines with their fields, newest revision first.
        out: Where to print.
    """
    for row in rows:
        part = f"Part {row['part']}, " if row["part"] else ""
        name = f"{row['form']} ({row['revision']}) {part}{_key(row)}"
        out.print(f"[bold]{escape(name)}[/]  {escape(row['label']) or '[dim]no label[/]'}", highlight=False)
        if row["section"]:
            out.print(f"  under {escape(row['section'])}", highlight=False)
        out.print(
            f"  [dim]{escape(row['canonical_id'])}, {escape(row['document_id'])} p. {row['page']}[/]", highlight=False
        )
        if row["history"]:
            out.print(f"  in older revisions: {escape(', '.join(row['history']))}", highlight=False)
        if row["formula"] is not None:
            out.print(f"  computed: {escape(formula(row))}", highlight=False)
        if row["used_in"]:
            out.print(f"  used in: {escape(', '.join(row['used_in']).replace('_', ' '))}", highlight=False)
        for way, end in (("from", "source"), ("to", "target")):
            for flow in row["flows_in" if way == "from" else "flows_out"]:
                there = f"{flow[f'{end}_form']} {flow[f'{end}_key']}".replace("_", " ")
                out.print(f"  {way}: {escape(there)} [dim]{escape(flow['document_id'])}[/]", highlight=False)
        for heading in row["explanations"]:
            where = f"{heading['document_id']} p. {heading['page']}"
            other = ", another revision" if heading["relation"] != "same_field" else ""
            out.print(f"  explained: {escape(heading['heading'])} [dim]{escape(where)}{other}[/]", highlight=False)
            for passage in heading["passages"][:1]:
                out.print(f"    {escape(passage['text'][:300])}", highlight=False)
        for field in row["fields"]:
            box = field["bbox"]
            place_names = " ".join(f"{name} {field[name]}" for name in ("copy", "row", "column") if field[name])
            corners = f"({box['x0_pt']:.0f}, {box['y0_pt']:.0f})-({box['x1_pt']:.0f}, {box['y1_pt']:.0f}) pt"
            where = f"p. {field['page']} {corners}"
            out.print(
                f"  {field['kind']} field {escape(place_names)} [dim]{where} {escape(field['name'])}[/]",
                highlight=False,
            )
        out.print()


_SIGNS = {"sum": " + ", "difference": " − ", "smaller": ", ", "larger": ", ", "product": ", ", "copy": ", "}


def formula(row: Mapping[str, Any]) -> str:
    """Write the formula of a line as arithmetic; one that is unparsed in its own words.

    Args:
        row: Line with its formula; empty text where it has none.
    """
    own = row["formula"]
    if own is None:
        return ""
    if own["operation"] == "unparsed":
        return f"unparsed ({own['problem']}): {own['evidence']}"
    text = _SIGNS[own["operation"]].join(key.replace("_", " ") for key in own["operands"])
    if own["operation"] in ("smaller", "larger"):
        text = f"{own['operation']} of {text}"
    if own["factor"] is not None:
        text = f"{text or 'a number that the label names'} × {own['factor']:g}"
    condition = f" ({own['condition']})" if own["condition"] else ""
    bounds = {"at_least_zero": ", at least 0", "at_most_zero": ", at most 0", "": ""}
    return f"{text}{bounds[own['bound']]}{condition}"


def form(rows: Sequence[Mapping[str, Any]], *, out: Console) -> None:
    """Print all lines of one form, by part.

    Args:
        rows: Lines of one document in the order they are printed.
        out: Where to print.
    """
    head = rows[0]
    out.print(
        f"[bold]{escape(head['form'])} ({escape(head['revision'])})[/], {escape(head['document_id'])}", highlight=False
    )
    for part, of_part in groupby(rows, key=lambda row: row["part"]):
        shown = Table(
            "", "label", "formula", "fields", title=f"Part {escape(part)}" if part else None, title_justify="left"
        )
        for row in of_part:
            label = escape(row["label"]) or "[dim]no label[/]"
            letters = f" in columns {', '.join(row['column_letters'])}" if row["column_letters"] else ""
            shown.add_row(escape(_key(row)), label, escape(formula(row)), f"{row['field_count'] or '–'}{letters}")
        out.print(shown)
    out.print(escape(check_totals(rows)), highlight=False)


def check_totals(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say whether the totals of a form use every line once; empty for a form without totals.

    Args:
        rows: Lines of one document with their formulas.
    """
    totals = [row for row in rows if row["formula"] is not None and row["formula"]["operation"] == "sum"]
    if not totals:
        return ""
    repeated = {
        _key(row): ", ".join(row["formula"].get("repeated_lines", ())).replace("_", " ")
        for row in totals
        if row["formula"].get("repeated_lines")
    }
    apart = [
        f"{_key(row)} and {', '.join(row['formula']['also_added_in'])}".replace("_", " ")
        for row in totals
        if row["formula"].get("also_added_in") and _key(row) not in repeated
    ]
    text = f"{len(totals)} totals use every line once"
    if repeated:
        text += "; except " + "; ".join(f"{key}: {lines}" for key, lines in repeated.items())
    if apart:
        text += "; the form states when each of these applies: " + "; ".join(apart)
    return f"{text}."


def _key(row: Mapping[str, Any]) -> str:
    kind, _, number = str(row["key"]).partition("_")
    return f"{row['kind'] if kind == 'box' else kind} {number}"


def trace(traced: Mapping[str, Any], *, out: Console) -> None:
    """Print where an amount goes and comes from as two trees.

    Args:
        traced: What `serving.trace.trace` returns.
        out: Where to print.
    """
    if not traced["document_id"]:
        name = escape(name_line(traced))
        out.print(
            f"The library does not contain {name}. These are the statements of its documents about it.", highlight=False
        )
    for title, steps in (("goes to", traced["into"]), ("comes from", traced["out_of"])):
        tree = Tree(f"[bold]{escape(name_line(traced))}[/] {title}")
        _grow(tree, steps)
        out.print(tree if steps else f"{escape(name_line(traced))} {title}: no document states it", highlight=False)


_AGREEMENTS = {
    "agreed": "both ends state it",
    "contradicted": "the other end names another line",
    "unresolved": "not found in the library",
}
"""What the two ends of a flow say of it; where only one end states it, that goes without saying."""


def _grow(tree: Tree, steps: Sequence[Mapping[str, Any]]) -> None:
    for step in steps:
        stated = step["statement"]
        problem = stated["problem"].removeprefix("source: ").removeprefix("target: ")
        notes = (
            problem or _AGREEMENTS.get(stated["agreement"], ""),
            "" if stated["is_same_year"] or problem else "of another year",
        )
        where = ", ".join(filter(None, (f"{stated['document_id']} p. {stated['page']}", *notes)))
        evidence = f"“{stated['evidence']}” ({where})"
        head = f"{escape(name_line(step))}  {escape(step['label'])}"
        _grow(tree.add(f"{head}\n[dim]{escape(evidence)}[/]"), step["steps"])
