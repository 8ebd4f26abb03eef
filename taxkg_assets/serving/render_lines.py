"""Lines of forms for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from taxkg_assets.graph.lookup import order_of_key
from taxkg_assets.serving.replies import FieldRow, FlowRow, FormulaRow, LineRow, Trace, TraceStep
from taxkg_assets.serving.trace import is_step_of, name_line

_MOST_PLACES = 4
"""Places that state a flow, as shown next to it."""


def print_lines(rows: Sequence[LineRow], *, out: Console) -> None:
    """Print a line in each revision of its form, with its label, formula and instructions.

    Args:
        rows: The line in each revision, newest first.
        out: Where to print.
    """
    is_contained = any(row.document_id for row in rows)
    for row in rows:
        part = f"Part {row.part}, " if row.part and not is_step_of(row.key, row.part) else ""
        if row.document_id:
            name = f"{row.form} ({row.document_id.partition('--')[2] or row.revision}) {part}{_key(row)}"
            out.print(f"[bold]{escape(name)}[/]  {escape(row.label) or '[dim]no label[/]'}", highlight=False)
        else:
            name = f"{row.form} {part}{_key(row)}"
            printed = "revisions print it only with letters" if is_contained else "the form is not in the library"
            out.print(f"[bold]{escape(name)}[/]  {printed}; other documents state:", highlight=False)
        if row.section:
            out.print(f"  heading: {escape(row.section)}", highlight=False)
        if row.document_id:
            out.print(f"  [dim]{escape(row.canonical_id)}, {escape(row.document_id)} p. {row.page}[/]", highlight=False)
        if row.history:
            out.print(f"  in older revisions: {escape(', '.join(row.history))}", highlight=False)
        if row.formula is not None:
            out.print(f"  computed: {escape(formula(row.formula, label=row.label))}", highlight=False)
        if row.used_in:
            out.print(f"  used in: {escape(', '.join(row.used_in).replace('_', ' '))}", highlight=False)
        for direction, end, flows in (("from", "source", row.flows_in), ("to", "target", row.flows_out)):
            for text in list_other_ends(flows, end):
                out.print(f"  {direction}: {escape(text)}", highlight=False)
        for heading in row.explanations:
            where = f"{heading.document_id} p. {heading.page}"
            other = ", another revision" if heading.relation != "same_field" else ""
            out.print(f"  explained: {escape(heading.heading)} [dim]{escape(where)}{other}[/]", highlight=False)
            for passage in heading.passages[:1]:
                out.print(f"    {escape(passage.text[:300])}", highlight=False)
        for field in row.fields:
            _field(field, out=out)
        out.print()


def list_other_ends(flows: Sequence[FlowRow], end: str) -> list[str]:
    """List the other ends of a line's flows, each once, with the places that state it.

    Forms that the same statements name for one line, such as 1040 and 1040-SR, are one entry.

    Args:
        flows: Flows to the line, or from it.
        end: Which end to list, `source` or `target`.

    Returns:
        One text for each end, those with the most statements first, then by form and number.
    """
    stated: dict[tuple[str, str], dict[str, None]] = {}
    own = "source" if end == "target" else "target"
    for flow in flows:
        part, key, code = (getattr(flow, f"{end}_{name}") for name in ("part", "key", "code"))
        name = f"{f'Part {part} ' if part else ''}{key.replace('_', ' ')}{f' code {code}' if code else ''}".strip()
        name += f", for code {own_code}" if (own_code := getattr(flow, f"{own}_code")) else ""
        places = stated.setdefault((getattr(flow, f"{end}_form"), name), {})
        places[f"{flow.document_id} p. {flow.page}"] = None
    forms: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (form, name), places in stated.items():
        forms.setdefault((name, tuple(places)), []).append(form)
    ordered = sorted(forms.items(), key=lambda row: (-len(row[0][1]), min(row[1]), order_of_key(row[0][0])))
    return [_join_end(name, places, named) for (name, places), named in ordered]


def _join_end(name: str, places: Sequence[str], forms: Sequence[str]) -> str:
    """Format one end: `1040 line 7a (also 1040-SR)  f1040sd--2025 p. 2`."""
    first, *others = sorted(forms, key=lambda form: (len(form), form))
    also = f" (also {', '.join(others)})" if others else ""
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return f"{f'{first} {name}'.strip().replace(' ,', ',')}{also}  {', '.join(places[:_MOST_PLACES])}{more}"


def _field(field: FieldRow, *, out: Console) -> None:
    places = (("copy", field.copy_name), ("row", field.row), ("column", field.column))
    place_names = " ".join(f"{name} {value}" for name, value in places if value)
    box = field.bbox
    where = f"p. {field.page} ({box.x0_pt:.0f}, {box.y0_pt:.0f})-({box.x1_pt:.0f}, {box.y1_pt:.0f}) pt"
    out.print(
        f"  {field.kind} field {escape(place_names)} [dim]{where} {escape(field.name)}[/]",
        highlight=False,
    )


_AGREEMENTS = {"agreed": "both ends state it", "contradicted": "the other end names another line"}
_SIGNS = {"sum": " + ", "difference": " − ", "smaller": ", ", "larger": ", ", "product": ", ", "copy": ", "}


def formula(found: FormulaRow, *, label: str = "") -> str:
    """Format a formula as arithmetic, or in its printed words if it could not be parsed.

    Args:
        found: Formula of a line.
        label: Label that is shown next to it; its words are not repeated.
    """
    if found.operation == "unparsed":
        words = "" if found.evidence in label else f": {found.evidence}"
        return f"not parsed ({found.problem}){words}"
    text = _SIGNS[found.operation].join(key.replace("_", " ") for key in found.operands)
    if found.operation in ("smaller", "larger"):
        text = f"{found.operation} of {text}"
    if found.factor is not None:
        text = f"{text or 'a number that the label names'} × {found.factor:g}"
    column = f", in column {found.column}" if found.column else ""
    condition = f" ({found.condition})" if found.condition else ""
    bounds = {"at_least_zero": ", at least 0", "at_most_zero": ", at most 0", "": ""}
    return f"{text}{column}{bounds[found.bound]}{condition}"


def print_form(rows: Sequence[LineRow], *, out: Console) -> None:
    """Print all lines of one form, by part.

    Args:
        rows: Lines of one document in the order they are printed.
        out: Where to print.
    """
    head = rows[0]
    out.print(f"[bold]{escape(head.form)} ({escape(head.revision)})[/], {escape(head.document_id)}", highlight=False)
    for part, of_part in groupby(rows, key=lambda row: row.part):
        shown = Table(
            "", "label", "formula", "fields", title=f"Part {escape(part)}" if part else None, title_justify="left"
        )
        for row in of_part:
            label = escape(row.label) or "[dim]no label[/]"
            letters = f" in columns {', '.join(row.column_letters)}" if row.column_letters else ""
            computed = "" if row.formula is None else escape(formula(row.formula, label=row.label))
            shown.add_row(escape(_key(row)), label, computed, f"{row.field_count or '–'}{letters}")
        out.print(shown)
    out.print(escape(check_totals(rows)), highlight=False)


def check_totals(rows: Sequence[LineRow]) -> str:
    """Return a sentence that says whether the form's totals use every line once; empty without totals.

    Args:
        rows: Lines of one document with their formulas.
    """
    totals = {_key(row): row.formula for row in rows if row.formula is not None and row.formula.operation == "sum"}
    if not totals:
        return ""
    repeated = {key: ", ".join(total.repeated_lines).replace("_", " ") for key, total in totals.items()}
    repeated = {key: lines for key, lines in repeated.items() if lines}
    sharing = [
        sorted({key, *(name.replace("_", " ") for name in total.also_added_in)}, key=order_of_key)
        for key, total in totals.items()
        if total.also_added_in and key not in repeated
    ]
    apart = list(dict.fromkeys(" and ".join(names) for names in sharing))
    text = "1 total uses every line once" if len(totals) == 1 else f"{len(totals)} totals use every line once"
    if repeated:
        text += "; except " + "; ".join(f"{key}: {lines}" for key, lines in repeated.items())
    if apart:
        text += "; these add some of the same lines: " + "; ".join(apart)
    return f"{text}."


def _key(row: LineRow) -> str:
    kind, _, number = row.key.partition("_")
    return f"{row.kind if kind == 'box' else kind} {number}"


def print_trace(traced: Trace, *, out: Console) -> None:
    """Print the sources and destinations of an amount as two trees.

    Args:
        traced: Trace of a line.
        out: Where to print.
    """
    if not traced.document_id:
        is_stated = traced.into or traced.out_of
        states = ", but other documents state where its amount comes from or goes:" if is_stated else "."
        out.print(f"No form in the library has {escape(name_line(traced))}{states}", highlight=False)
    for title, end, steps in (("goes to", "target", traced.into), ("comes from", "source", traced.out_of)):
        tree = Tree(f"[bold]{escape(name_line(traced))}[/] {title}")
        _grow(tree, steps, end=end, is_any_year=not traced.document_id)
        out.print(tree if steps else f"{escape(name_line(traced))} {title}: no document states this", highlight=False)
    if traced.named_by:
        out.print(f"Lines that refer to {escape(traced.form)} without naming one of its lines:", highlight=False)
    for row in traced.named_by:
        part = f" Part {row.part}" if row.part else ""
        name = f"{row.form} ({row.revision}){part} {row.key.replace('_', ' ')}"
        out.print(f"  {escape(name)}  {escape(row.label)}", highlight=False)


def _grow(tree: Tree, steps: Sequence[TraceStep], *, end: str, is_any_year: bool) -> None:
    """Add steps to a tree: those of the same year, or all where there is none, with the forms that copy them.

    Of a line that is of no year only the newest step to each form is shown.
    """
    known = [step for step in steps if step.document_id]
    of_year = [step for step in known if step.statement.is_same_year] or known
    if is_any_year:
        newest = {step.form: step.document_id for step in sorted(of_year, key=_age)}
        of_year = [step for step in of_year if step.document_id == newest[step.form]]
    outside = [step for step in steps if not step.document_id]
    alone = [step for step in outside if not any(_is_copy(step, other) for other in known)]
    for step in [*of_year, *alone]:
        stated = step.statement
        copied = (other.form for other in outside if step in known and _is_copy(other, step))
        copies = ", ".join(dict.fromkeys(copied))
        name = escape(name_line(step)) + (f" [dim](also {escape(copies)})[/]" if copies else "")
        where = ", ".join([f"{stated.document_id} p. {stated.page}", *_note(step, end)])
        evidence = escape(f"“{stated.evidence}” ({where})")
        branch = tree.add(f"{name}  {escape(step.label)}\n[dim]{evidence}[/]")
        _grow(branch, step.steps, end=end, is_any_year=not step.document_id)
    hidden = [step for step in steps if step not in of_year and step not in outside]
    if hidden:
        others = dict.fromkeys(f"{step.form} ({step.revision})" if step.revision else step.form for step in hidden)
        tree.add(f"[dim]in other years: {escape(', '.join(others))} (--json shows them)[/]")


def _age(step: TraceStep) -> tuple[bool, str]:
    """Return a sort key that puts the newest final revision last."""
    return "draft" not in step.revision, step.revision


def _is_copy(step: TraceStep, other: TraceStep) -> bool:
    """Decide whether a statement names two forms for one line: `Form 1040 or 1040-SR, line 3b`.

    The other form may also be shown with another statement.
    """
    stated = step.statement.evidence
    names_both = stated == other.statement.evidence or re.search(rf"(?<![\w-]){re.escape(other.form)}(?![\w-])", stated)
    return step.key == other.key and bool(names_both)


def _note(step: TraceStep, end: str) -> list[str]:
    """Return notes on a step: where the trace ends, another year, what the other end states."""
    stated = step.statement
    reasons = [part.removeprefix(f"{end}: ") for part in stated.problem.split("; ") if part.startswith(end)]
    return [
        *(f"the trace ends here: {reason}" for reason in reasons),
        *([] if stated.is_same_year else ["of the nearest revision" if step.document_id else "of another year"]),
        *([_AGREEMENTS[stated.agreement]] if stated.agreement in _AGREEMENTS else []),
    ]
