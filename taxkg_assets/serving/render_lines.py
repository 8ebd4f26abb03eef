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
"""Maximum number of pages that are listed as stating a flow."""


def print_lines(rows: Sequence[LineRow], *, out: Console) -> None:
    """Print a line in each revision of its form, with its label, formula and instructions.

    Args:
        rows: The line in each revision, newest first.
        out: Console to print to.
    """
    is_contained = any(row.document_id for row in rows)
    for row in rows:
        part = f"Part {row.part}, " if row.part and not is_step_of(row.key, row.part) else ""
        if row.document_id:
            name = f"{row.form} ({row.document_id.partition('--')[2] or row.revision}) {part}{_format_key(row)}"
            out.print(f"[bold]{escape(name)}[/]  {escape(row.label) or '[dim]no label[/]'}", highlight=False)
        else:
            name = f"{row.form} {part}{_format_key(row)}"
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
            source = f"{heading.document_id} p. {heading.page}"
            other_revision = ", another revision" if heading.relation != "same_field" else ""
            out.print(
                f"  explained: {escape(heading.heading)} [dim]{escape(source)}{other_revision}[/]", highlight=False
            )
            for passage in heading.passages[:1]:
                out.print(f"    {escape(passage.text[:300])}", highlight=False)
        for field in row.fields:
            _print_field(field, out=out)
        out.print()


def list_other_ends(flows: Sequence[FlowRow], end: str) -> list[str]:
    """List the lines at the other end of a line's flows, each once, with the pages that state the flow.

    If the same statements name several forms for one line, such as 1040 and 1040-SR, the forms are listed together.

    Args:
        flows: Flows to the line, or from it.
        end: End to list: `source` for flows to the line, `target` for flows from it.

    Returns:
        One text per line: `1040 line 7a (also 1040-SR)  f1040sd--2025 p. 2`; those with the most statements first,
        then by form and number.
    """
    statements_by_end: dict[tuple[str, str], dict[str, None]] = {}
    other_end = "source" if end == "target" else "target"
    for flow in flows:
        part, key, code = (getattr(flow, f"{end}_{name}") for name in ("part", "key", "code"))
        name = f"{f'Part {part} ' if part else ''}{key.replace('_', ' ')}{f' code {code}' if code else ''}".strip()
        name += f", for code {line_code}" if (line_code := getattr(flow, f"{other_end}_code")) else ""
        statements = statements_by_end.setdefault((getattr(flow, f"{end}_form"), name), {})
        statements[f"{flow.document_id} p. {flow.page}"] = None
    forms_by_line: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (form, name), statements in statements_by_end.items():
        forms_by_line.setdefault((name, tuple(statements)), []).append(form)
    sorted_lines = sorted(
        forms_by_line.items(), key=lambda row: (-len(row[0][1]), min(row[1]), order_of_key(row[0][0]))
    )
    return [_join_end(name, statements, forms_of_end) for (name, statements), forms_of_end in sorted_lines]


def _join_end(name: str, statements: Sequence[str], forms: Sequence[str]) -> str:
    """Format one end: `1040 line 7a (also 1040-SR)  f1040sd--2025 p. 2`."""
    first, *other_forms = sorted(forms, key=lambda form: (len(form), form))
    also = f" (also {', '.join(other_forms)})" if other_forms else ""
    more_words = f" and {len(statements) - _MOST_PLACES} more" if len(statements) > _MOST_PLACES else ""
    end = f"{first} {name}".strip().replace(" ,", ",")
    return f"{end}{also}  {', '.join(statements[:_MOST_PLACES])}{more_words}"


def _print_field(field: FieldRow, *, out: Console) -> None:
    positions = (("copy", field.copy_name), ("row", field.row), ("column", field.column))
    position = ", ".join(f"{name} {value}" for name, value in positions if value)
    box = field.bbox
    rectangle = f"({box.x0_pt:.0f}, {box.y0_pt:.0f})-({box.x1_pt:.0f}, {box.y1_pt:.0f}) pt"
    out.print(
        f"  {field.kind} field{escape(f' in {position}') if position else ''}, "
        f"[dim]page {field.page} at {rectangle}: {escape(field.name)}[/]",
        highlight=False,
    )


_AGREEMENTS = {"agreed": "both ends state it", "contradicted": "the other end names another line"}
_SIGNS = {"sum": " + ", "difference": " − ", "smaller": ", ", "larger": ", ", "product": ", ", "copy": ", "}


def formula(parsed: FormulaRow, *, label: str = "") -> str:
    """Format a formula as arithmetic, or in its printed words if it could not be parsed.

    Args:
        parsed: Formula of a line.
        label: Label that is shown next to it; its words are not repeated.
    """
    if parsed.operation == "unparsed":
        words = "" if parsed.evidence in label else f": {parsed.evidence}"
        return f"not parsed ({parsed.problem}){words}"
    text = _SIGNS[parsed.operation].join(key.replace("_", " ") for key in parsed.operands)
    if parsed.operation in ("smaller", "larger"):
        text = f"{parsed.operation} of {text}"
    if parsed.factor is not None:
        text = f"{text or 'a number that the label names'} × {parsed.factor:g}"
    column = f", in column {parsed.column}" if parsed.column else ""
    condition = f" ({parsed.condition})" if parsed.condition else ""
    bounds = {"at_least_zero": ", at least 0", "at_most_zero": ", at most 0", "": ""}
    return f"{text}{column}{bounds[parsed.bound]}{condition}"


def print_form(rows: Sequence[LineRow], *, out: Console) -> None:
    """Print all lines of one form, by part.

    Args:
        rows: Lines of one document in the order they are printed.
        out: Console to print to.
    """
    first_row = rows[0]
    out.print(
        f"[bold]{escape(first_row.form)} ({escape(first_row.revision)})[/], {escape(first_row.document_id)}",
        highlight=False,
    )
    for part, rows_of_part in groupby(rows, key=lambda row: row.part):
        table = Table(
            "", "label", "formula", "fields", title=f"Part {escape(part)}" if part else None, title_justify="left"
        )
        for row in rows_of_part:
            label = escape(row.label) or "[dim]no label[/]"
            letters = f" in columns {', '.join(row.column_letters)}" if row.column_letters else ""
            computed = "" if row.formula is None else escape(formula(row.formula, label=row.label))
            table.add_row(escape(_format_key(row)), label, computed, f"{row.field_count or '–'}{letters}")
        out.print(table)
    out.print(escape(check_totals(rows)), highlight=False)


def check_totals(rows: Sequence[LineRow]) -> str:
    """Return a sentence on the totals of a form: whether each adds every line once. Empty for a form without totals.

    Args:
        rows: Lines of one document with their formulas.
    """
    totals = {
        _format_key(row): row.formula for row in rows if row.formula is not None and row.formula.operation == "sum"
    }
    if not totals:
        return ""
    repeated_lines = {key: ", ".join(total.repeated_lines).replace("_", " ") for key, total in totals.items()}
    repeated_lines = {key: lines for key, lines in repeated_lines.items() if lines}
    sharing_totals = [
        sorted({key, *(name.replace("_", " ") for name in total.also_added_in)}, key=order_of_key)
        for key, total in totals.items()
        if total.also_added_in and key not in repeated_lines
    ]
    sharing_names = list(dict.fromkeys(" and ".join(names) for names in sharing_totals))
    text = "1 total uses every line once" if len(totals) == 1 else f"{len(totals)} totals use every line once"
    if repeated_lines:
        text += "; except " + "; ".join(f"{key}: {lines}" for key, lines in repeated_lines.items())
    if sharing_names:
        text += "; these add some of the same lines: " + "; ".join(sharing_names)
    return f"{text}."


def _format_key(row: LineRow) -> str:
    kind, _, number = row.key.partition("_")
    return f"{row.kind if kind == 'box' else kind} {number}"


def print_trace(trace: Trace, *, out: Console) -> None:
    """Print the sources and destinations of an amount as two trees.

    Args:
        trace: Trace of a line.
        out: Console to print to.
    """
    if not trace.document_id:
        is_stated = trace.into or trace.out_of
        states = ", but other documents state where its amount comes from or goes:" if is_stated else "."
        out.print(f"No form in the library has {escape(name_line(trace))}{states}", highlight=False)
    for title, end, steps in (("goes to", "target", trace.into), ("comes from", "source", trace.out_of)):
        tree = Tree(f"[bold]{escape(name_line(trace))}[/] {title}")
        _add_steps(tree, steps, end=end, is_any_year=not trace.document_id)
        out.print(tree if steps else f"{escape(name_line(trace))} {title}: no document states this", highlight=False)
    if trace.named_by:
        out.print(f"Lines that refer to {escape(trace.form)} without naming one of its lines:", highlight=False)
    for row in trace.named_by:
        part = f" Part {row.part}" if row.part else ""
        name = f"{row.form} ({row.revision}){part} {row.key.replace('_', ' ')}"
        out.print(f"  {escape(name)}  {escape(row.label)}", highlight=False)


def _add_steps(tree: Tree, steps: Sequence[TraceStep], *, end: str, is_any_year: bool) -> None:
    """Add the steps of a trace to a tree.

    Steps of other years are only counted, unless there are no others. For a line without a year, the newest step to
    each form is shown. A form that the same statement names for the same line is added in parentheses.
    """
    steps_in_library = [step for step in steps if step.document_id]
    shown_steps = [step for step in steps_in_library if step.statement.is_same_year] or steps_in_library
    if is_any_year:
        newest = {step.form: step.document_id for step in sorted(shown_steps, key=_sort_key_of_revision)}
        shown_steps = [step for step in shown_steps if step.document_id == newest[step.form]]
    steps_outside = [step for step in steps if not step.document_id]
    independent_steps = [step for step in steps_outside if not any(_is_copy(step, other) for other in steps_in_library)]
    for step in [*shown_steps, *independent_steps]:
        statement = step.statement
        copied = (other.form for other in steps_outside if step in steps_in_library and _is_copy(other, step))
        copies = ", ".join(dict.fromkeys(copied))
        name = escape(name_line(step)) + (f" [dim](also {escape(copies)})[/]" if copies else "")
        source = ", ".join([f"{statement.document_id} p. {statement.page}", *_describe_limits(step, end)])
        evidence = escape(f"“{statement.evidence}” ({source})")
        branch = tree.add(f"{name}  {escape(step.label)}\n[dim]{evidence}[/]")
        _add_steps(branch, step.steps, end=end, is_any_year=not step.document_id)
        if step.has_more:
            branch.add("[dim]further steps are not shown; trace this line to see them[/]")
    hidden = [step for step in steps if step not in shown_steps and step not in steps_outside]
    if hidden:
        other_years = dict.fromkeys(f"{step.form} ({step.revision})" if step.revision else step.form for step in hidden)
        tree.add(f"[dim]in other years: {escape(', '.join(other_years))} (--json shows them)[/]")


def _sort_key_of_revision(step: TraceStep) -> tuple[bool, str]:
    """Return a sort key that puts the newest final revision last."""
    return "draft" not in step.revision, step.revision


def _is_copy(step: TraceStep, other: TraceStep) -> bool:
    """Decide whether a statement names two forms for one line: `Form 1040 or 1040-SR, line 3b`.

    The other form may also be shown with another statement.
    """
    stated = step.statement.evidence
    names_both = stated == other.statement.evidence or re.search(rf"(?<![\w-]){re.escape(other.form)}(?![\w-])", stated)
    return step.key == other.key and bool(names_both)


def _describe_limits(step: TraceStep, end: str) -> list[str]:
    """Return notes on a step: where the trace ends, another year, what the other end states."""
    statement = step.statement
    reasons = [part.removeprefix(f"{end}: ") for part in statement.problem.split("; ") if part.startswith(end)]
    return [
        *(f"the trace ends here: {reason}" for reason in reasons),
        *([] if statement.is_same_year else ["of the nearest revision" if step.document_id else "of another year"]),
        *([_AGREEMENTS[statement.agreement]] if statement.agreement in _AGREEMENTS else []),
    ]
