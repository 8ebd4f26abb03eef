"""The table `formulas`: how a line is computed from other lines, as its label states it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.graph.arithmetic.keys import Span, expand_range
from taxkg_assets.graph.arithmetic.statement import Operand, Statement, read_statement
from taxkg_assets.graph.totals import mark_totals
from taxkg_assets.records import FormulaRecord, LineRecord, iter_records
from taxkg_assets.rules.forms import form_pattern
from taxkg_assets.rules.models.formulas import load_formulas

Place = tuple[str, str]
"""Part and key."""
Spans = Mapping[Place, Sequence[Span]]


def build_formulas(
    lines: dy.DataFrame[schemas.Lines], fields: dy.DataFrame[schemas.Fields]
) -> dy.DataFrame[schemas.Formulas]:
    """Parse the formula of every line whose label states arithmetic.

    Args:
        lines: Numbered fields with their labels.
        fields: Positions of the lines: a range of lines names amounts of one column.

    Returns:
        One row per line that states arithmetic; one that cannot be parsed is `unparsed`, with the reason.
    """
    spans = _find_spans(fields)
    registered = _find_registered(lines)
    forms = lines["form"].unique().sort().to_list()
    rows = []
    for line in iter_records(lines.filter(pl.col("kind").is_in(("line", "step"))), LineRecord):
        statement = read_statement(line["label"])
        if statement is not None:
            document_id = line["document_id"]
            spans_of_document = spans.get(document_id, {})
            rows.append(_row_of(line, statement, spans_of_document, registered[document_id], forms=forms))
    _mark_cycles(rows)
    mark_totals(rows)
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Formulas)).sort("document_id", "part", "key")
    return schemas.validated(frame, schemas.Formulas)


def find_formula_faults(formulas: dy.DataFrame[schemas.Formulas], lines: dy.DataFrame[schemas.Lines]) -> pl.DataFrame:
    """Return the formulas with an operand missing on the form, and lines that are computed from themselves.

    Args:
        formulas: Parsed and unparsed formulas.
        lines: Numbered fields.
    """
    parsed = formulas.filter(pl.col("operation") != "unparsed")
    operand_rows = parsed.explode("operands", "operand_parts", empty_as_null=False)
    operand_rows = operand_rows.filter(~pl.col("operands").str.contains("(", literal=True))
    operand_rows = operand_rows.select("document_id", "part", "key", "operand_parts", "operands")
    known_operands = lines.select("document_id", operand_parts="part", operands="key").unique()
    unmatched = operand_rows.join(known_operands, on=["document_id", "operand_parts", "operands"], how="anti")
    faults = [unmatched.with_columns(fault=pl.lit("no such line"))]
    for (document_id,), rows in operand_rows.group_by("document_id", maintain_order=True):
        sources: dict[Place, set[Place]] = defaultdict(set)
        for part, key, of_part, operand in rows.drop("document_id").iter_rows():
            sources[part, key].add((of_part, operand))
        while cycle := _find_cycle({line: sorted(operands) for line, operands in sources.items()}):
            del sources[cycle[0]]
            ends = {"part": cycle[0][0], "key": cycle[0][1], "operand_parts": cycle[-1][0], "operands": cycle[-1][1]}
            faults.append(pl.DataFrame([{"document_id": document_id, **ends, "fault": "cycle"}]))
    return pl.concat(faults).sort("document_id", "part", "key", "operands")


def _find_spans(fields: pl.DataFrame) -> dict[str, dict[tuple[str, str], list[Span]]]:
    """Collect for each document the extents of the amounts of each part and key."""
    extents: dict[str, dict[tuple[str, str], list[Span]]] = defaultdict(lambda: defaultdict(list))
    amounts = fields.filter((pl.col("kind") == "text") & pl.col("key").str.starts_with("line_"))
    for row in amounts.select("document_id", "part", "key", "label", "bbox").iter_rows(named=True):
        number = row["key"].partition("_")[2]
        spans = extents[row["document_id"]][row["part"], number]
        if load_formulas().no_amounts.matches(row["label"]):
            continue
        spans.append((row["bbox"]["x0_pt"], row["bbox"]["x1_pt"]))
    return extents


def _find_registered(lines: pl.DataFrame) -> dict[str, set[Place]]:
    """Collect part and key of the lines of each document, also of those without a field of their own."""
    registered: dict[str, set[Place]] = defaultdict(set)
    numbered = lines.filter(pl.col("key").str.starts_with("line_")).select("document_id", "part", "key")
    for document_id, part, key in numbered.iter_rows():
        registered[document_id].add((part, key.partition("_")[2]))
    return registered


def _row_of(
    line: LineRecord, statement: Statement, spans: Spans, registered: Collection[Place], *, forms: Sequence[str]
) -> FormulaRecord:
    operands: list[Place] = []
    problem = statement.problem
    for operand in statement.operands:
        places = _resolve(operand, line, spans, registered, forms=forms)
        if not places:
            problem = f"line {operand.first}{f' through {operand.last}' if operand.last else ''} is not on the form"
        operands += places
    is_parsed = not problem
    return {
        "document_id": line["document_id"],
        "part": line["part"],
        "key": line["key"],
        "operation": statement.operation if is_parsed else "unparsed",
        "operands": [key for _, key in operands] if is_parsed else [],
        "operand_parts": [part for part, _ in operands] if is_parsed else [],
        "factor": statement.factor if is_parsed else None,
        "bound": statement.bound if is_parsed else "",
        "condition": statement.condition,
        "column": statement.column,
        "also_added_in": [],
        "repeated_lines": [],
        "problem": problem,
        "evidence": line["label"][statement.start : statement.end],
        "start": statement.start,
        "end": statement.end,
        "page": line["page"],
        "bbox": line["bbox"],
    }


def _resolve(
    operand: Operand, line: LineRecord, spans: Spans, registered: Collection[Place], *, forms: Sequence[str]
) -> list[Place]:
    """Return the lines that an operand names; of equal keys in several parts, those of the part named, else its own.

    A line that is named alone may have no field of its own: its letters have them.
    """
    if operand.form and (form := _name_form(operand.form, forms)) != line["form"]:
        return [("", f"line_{operand.first} ({form})")]
    parts = [operand.part] if operand.part else [line["part"], *sorted({part for part, _ in spans})]
    by_key: dict[str, tuple[str, Sequence[Span]]] = {}
    for part in reversed(parts):
        by_key |= {key: (part, span) for (operand_part, key), span in spans.items() if operand_part == part}
    if operand.last:
        keys = expand_range(operand.first, operand.last, {key: key_span for key, (_, key_span) in by_key.items()})
    else:
        keys = [operand.first] if operand.first in by_key else []
        if not keys:
            parts_with_operand = [part for part in parts if (part, operand.first) in registered]
            return [(parts_with_operand[0], f"line_{operand.first}")] if parts_with_operand else []
    return [(by_key[key][0], f"line_{key}") for key in keys]


def _name_form(words: str, forms: Sequence[str]) -> str:
    """Name another form as the library does; as printed where the library does not contain it."""
    named_forms = [form for form in forms if form_pattern(form).fullmatch(words.partition("(")[0].strip())]
    return named_forms[0] if named_forms else words.removeprefix("Form ")


def _mark_cycles(rows: Sequence[FormulaRecord]) -> None:
    """Mark as unparsed the lines of a document that would be computed from themselves."""
    by_document: dict[str, dict[Place, list[FormulaRecord]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_document[row["document_id"]][row["part"], row["key"]].append(row)
    for formulas_of_document in by_document.values():
        while cycle := _find_cycle(
            {at: sorted({o for row in of for o in _operands_of(row)}) for at, of in formulas_of_document.items()}
        ):
            for row in (row for at in cycle for row in formulas_of_document[at] if row["operands"]):
                row["operation"], row["operands"], row["operand_parts"] = "unparsed", [], []
                row["factor"], row["bound"] = None, ""
                row["problem"] = "the line would be computed from itself"


def _operands_of(row: FormulaRecord) -> list[Place]:
    return list(zip(row["operand_parts"], row["operands"], strict=True))


def _find_cycle(sources: Mapping[Place, Sequence[Place]]) -> list[Place]:
    try:
        TopologicalSorter(sources).prepare()
    except CycleError as error:
        return [line for line in error.args[1] if line in sources]
    return []
