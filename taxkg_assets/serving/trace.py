"""Where an amount goes and comes from, across documents: the flows of a line, followed both ways."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from taxkg_assets.graph.lookup import order_of_key
from taxkg_assets.serving.lines import (
    FormNotFoundError,
    LineNotFoundError,
    SeveralFormsError,
    choose_outside_line,
    find_lines,
)
from taxkg_assets.serving.naming_lines import find_naming_lines
from taxkg_assets.serving.outside_lines import find_outside_lines, name_forms
from taxkg_assets.serving.query_words import spell_part
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import LineRow, Trace, TraceStatement, TraceStep

FlowColumns = Mapping[str, Any]
"""A row of `flows`. The columns of its ends are read by name and end: `source_key`, `target_key`."""
Node = tuple[str, str, str]
"""Document, or form where the library does not contain it; part and key."""

DEPTH = 6
_CODE = re.compile(r"(?i),? code (?P<code>[A-Z]{1,2})$")
_YEAR = r"--(\d{4})"
_WIDTH, _HEIGHT = 300, 46


def trace(released: Released, words: Sequence[str], *, revision: str = "", depth: int = DEPTH) -> Trace:
    """Trace the flows of a line, in one revision of its form, to their first sources and last destinations.

    Args:
        released: The release to read.
        words: Form and key: 1099-DIV 1a; with the code of an entry of a box: W-2 12 code W.
        revision: Revision, its year, or document; the newest if empty.
        depth: Maximum number of steps in each direction.

    Returns:
        The line with the steps in both directions. A line that is reached again has no further steps. If the library
        does not contain the line's form, and other documents state its flows, document, revision and label are empty.

    Raises:
        LineNotFoundError: No form of the library has the line and no document states its flows, or the release was
            made by a version of taxkg without flows.
    """
    if not released.holds("flows"):
        raise LineNotFoundError(
            "An older version of taxkg made this release, and it has no table `flows`. Run `taxkg build`."
        )
    year = pl.col("document_id").str.extract(_YEAR).fill_null("")
    order = [~pl.col("is_same_year"), pl.col("problem") != "", year, pl.col("flow_id")]
    flows = _fill_parts(released.table("flows").sort(order, descending=[False, False, True, False]))
    query, code = _split_code(" ".join(words))
    if code and "source_code" not in flows.columns:
        raise LineNotFoundError(
            "An older version of taxkg made this release, and its table `flows` has no codes. Run `taxkg build`."
        )
    line = _choose_line(released, flows, query, code, revision)
    if not line.document_id and line.part:
        flows = _join_part(flows, line)
    labels = {
        (row["document_id"], row["part"], row["key"]): row["label"]
        for row in released.table("lines").select("document_id", "part", "key", "label").iter_rows(named=True)
    }
    start_node = (line.document_id or line.form, line.part, line.key)
    by_source = _index_flows(flows, "source", start_node, code)
    destinations = _follow(start_node, by_source, "target", labels, depth, {start_node})
    sources = _follow(
        start_node, _index_flows(flows, "target", start_node, code), "source", labels, depth, {start_node}
    )
    trace_of_line = line.model_copy(update={"code": code, "into": destinations, "out_of": sources})
    named_by = (
        [] if _reaches_other_form(start_node, by_source, line.form) else find_naming_lines(released, trace_of_line)
    )
    return trace_of_line.model_copy(update={"named_by": named_by})


def _choose_line(released: Released, flows: pl.DataFrame, query: str, code: str, revision: str) -> Trace:
    """Return the line of the library that a query means, else the one that only statements name, without steps.

    A code is looked for in the statements first: a form that prints several fields for a box has no line of its number.

    Raises:
        LineNotFoundError: There is no such line in the library nor in a statement.
    """
    if code and (line_of_code := _find_outside(flows.filter(pl.col("source_code") == code), query, released)):
        return line_of_code
    try:
        lines = find_lines(released, [query])
    except FormNotFoundError:
        raise LineNotFoundError(
            f"The library has no form for {query!r}. Put the form and its instructions into a folder, and run "
            "`taxkg build --corpus FOLDER`."
        ) from None
    except SeveralFormsError:
        raise
    except LineNotFoundError:
        outside_line = _find_outside(flows, query, released)
        if outside_line is None:
            raise
        return outside_line
    lines_in_library = [line for line in lines if line.document_id]
    if revision and lines_in_library:
        return _choose_revision(lines_in_library, revision)
    outside_line = None if lines[0].document_id else _find_outside(flows, query, released)
    if outside_line is not None and (_has_flows(flows, outside_line) or not lines_in_library):
        return outside_line
    return _choose_revision(lines_in_library or lines, revision)


def _has_flows(flows: pl.DataFrame, line: Trace) -> bool:
    """Return whether a statement names a line of a form, in whatever part, that no document of the library prints."""
    is_end = [
        pl.col(f"{end}_document_id").is_null()
        & (pl.col(f"{end}_form") == line.form)
        & (pl.col(f"{end}_key") == line.key)
        for end in ("source", "target")
    ]
    return not flows.filter(is_end[0] | is_end[1]).is_empty()


def _split_code(query: str) -> tuple[str, str]:
    """Take the code of a box's entry off a query; empty where it names none."""
    match = _CODE.search(query)
    return (query[: match.start()], match["code"].upper()) if match else (query, "")


def _find_outside(flows: pl.DataFrame, query: str, released: Released) -> Trace | None:
    """Find a line that no form of the library prints among the ends of flows; None where no statement names it.

    Raises:
        LineNotFoundError: Several forms, or several parts of the form, have such a line.
    """
    lines = find_outside_lines(released, name_forms(released, query))
    ends = {row for end in ("source", "target") for row in flows.select(f"{end}_form", f"{end}_key").iter_rows()}
    if not any((line.form, line.key) in ends for line in lines):
        return None
    line = choose_outside_line(lines)
    if len(line.stated_parts) > 1 and not line.part_spellings:
        parts = ", ".join(line.stated_parts)
        raise LineNotFoundError(f"Several parts of {line.form} have this line. Name the part: {parts}.")
    return Trace(
        document_id="", form=line.form, revision="", part=line.part, key=line.key, label="", into=[], out_of=[]
    )


def _join_part(flows: pl.DataFrame, line: Trace) -> pl.DataFrame:
    """Give a line outside the library its part, as the trace spells it, also where statements name none."""
    for end in ("source", "target"):
        is_line = (pl.col(f"{end}_form") == line.form) & (pl.col(f"{end}_key") == line.key)
        is_line &= pl.col(f"{end}_document_id").is_null() & pl.col(f"{end}_part").is_in([*spell_part(line.part), ""])
        part = pl.when(is_line).then(pl.lit(line.part)).otherwise(pl.col(f"{end}_part"))
        flows = flows.with_columns(part.alias(f"{end}_part"))
    return flows


def _fill_parts(flows: pl.DataFrame) -> pl.DataFrame:
    """Give lines of forms outside the library their part where only some statements name it, and all the same one."""
    for end in ("source", "target"):
        line_columns = [f"{end}_form", f"{end}_key"]
        parts = _list_parts(flows).rename(dict(zip(("form", "key"), line_columns, strict=True)))
        lacks_part = pl.col(f"{end}_document_id").is_null() & (pl.col(f"{end}_part") == "")
        part = pl.when(lacks_part).then(pl.col("only_part").fill_null("")).otherwise(pl.col(f"{end}_part"))
        flows = flows.join(parts, on=line_columns, how="left", maintain_order="left")
        flows = flows.with_columns(part.alias(f"{end}_part")).drop("only_part")
    return flows


def _list_parts(flows: pl.DataFrame) -> pl.DataFrame:
    """List the lines outside the library that statements put into one part only: form, key and `only_part`."""
    names = ("form", "key", "part")
    ends = [
        flows.filter(pl.col(f"{end}_document_id").is_null()).select(
            *(pl.col(f"{end}_{name}").alias(name) for name in names)
        )
        for end in ("source", "target")
    ]
    ends_with_part = pl.concat(ends).filter(pl.col("part") != "").unique()
    return (
        ends_with_part.group_by("form", "key")
        .agg(pl.col("part").first().alias("only_part"), pl.len().alias("count"))
        .filter(pl.col("count") == 1)
        .drop("count")
    )


def _choose_revision(lines: Sequence[LineRow], revision: str) -> Trace:
    """Return the newest line of a revision, or the line of an absent form, which has no revision; without steps.

    Raises:
        LineNotFoundError: No revision is named so.
    """
    for line in lines:
        if not line.document_id or line.document_id == revision or line.revision.startswith(revision):
            fields = {name: getattr(line, name) for name in ("document_id", "form", "revision", "part", "key", "label")}
            return Trace(**fields, into=[], out_of=[])
    revision_list = ", ".join(dict.fromkeys(line.revision for line in lines))
    raise LineNotFoundError(
        f"No revision {revision!r} of {lines[0].form} has this line. Revisions with it: {revision_list}."
    )


def draw(trace: Trace) -> str:
    """Draw a trace as SVG: the sources of the amount at the left, the line, its destinations at the right.

    Args:
        trace: Trace of a line.

    Returns:
        SVG document.
    """
    layers: dict[int, list[str]] = defaultdict(list)
    arrows: list[tuple[tuple[int, int], tuple[int, int]]] = []
    layers[0].append(name_line(trace))

    def add_steps(steps: Sequence[TraceStep], position: tuple[int, int], direction: int) -> None:
        for step in steps:
            layer = layers[position[0] + direction]
            name = name_line(step)
            if name not in layer:
                layer.append(name)
            step_position = (position[0] + direction, layer.index(name))
            arrow = (position, step_position) if direction > 0 else (step_position, position)
            if arrow not in arrows:
                arrows.append(arrow)
            add_steps(step.steps, step_position, direction)

    add_steps(trace.into, (0, 0), 1)
    add_steps(trace.out_of, (0, 0), -1)
    leftmost = min(layers)
    width, height = _WIDTH * len(layers) + 20, _HEIGHT * max(map(len, layers.values())) + 20
    svg_parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">']
    svg_parts.append('<defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">')
    svg_parts.append('<path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>')
    for (from_layer, from_row), (to_layer, to_row) in arrows:
        x0, y0 = 10 + (from_layer - leftmost) * _WIDTH + 240, 10 + from_row * _HEIGHT + 16
        x1, y1 = 10 + (to_layer - leftmost) * _WIDTH, 10 + to_row * _HEIGHT + 16
        svg_parts.append(f'<path d="M{x0} {y0} {x1} {y1}" stroke="#555" marker-end="url(#a)"/>')
    for layer, names in layers.items():
        for row, name in enumerate(names):
            x, y = 10 + (layer - leftmost) * _WIDTH, 10 + row * _HEIGHT
            fill = "#fff2cc" if layer == 0 else "#eef3fa"
            svg_parts.append(f'<rect x="{x}" y="{y}" width="240" height="32" rx="4" fill="{fill}" stroke="#555"/>')
            svg_parts.append(
                f'<text x="{x + 120}" y="{y + 20}" font-size="10" text-anchor="middle">{escape(name)}</text>'
            )
    return "\n".join([*svg_parts, "</svg>\n"])


def is_step_of(key: str, part: str) -> bool:
    """Return whether the key of a step begins with the number of its part: `Step 4b` names Part 4.

    Args:
        key: Key of the line.
        part: Its part.
    """
    return key.startswith(f"step_{part}")


def name_line(step: Trace | TraceStep) -> str:
    """Format the name of a line in a trace for readers: form, revision, part, key, column and code.

    Args:
        step: A step, or the line that a trace begins with.

    Returns:
        Name: `1040 (2023) line 7a`, `W-2 (2024) box 12 code W`.
    """
    revision = f" ({step.revision})" if step.revision else ""
    part = f" Part {step.part}" if step.part and not is_step_of(step.key, step.part) else ""
    code = f" code {step.code}" if step.code else ""
    letter = step.column if isinstance(step, TraceStep) else ""
    column = f" column {letter}" if letter and step.key else ""
    return f"{step.form}{revision}{part} {step.key.replace('_', ' ')}".rstrip() + column + code


def _index_flows(flows: pl.DataFrame, end: str, start: Node, code: str) -> dict[Node, list[FlowColumns]]:
    """Index flows by one end; those of the first line are only the ones of its code, if one is meant."""
    flows_by_node: dict[Node, list[FlowColumns]] = defaultdict(list)
    for row in flows.iter_rows(named=True):
        node = _node_of(row, end)
        if not code or node != start or row[f"{end}_code"] == code:
            flows_by_node[node].append(row)
    return flows_by_node


def _node_of(row: FlowColumns, end: str) -> Node:
    return row[f"{end}_document_id"] or row[f"{end}_form"], row[f"{end}_part"], row[f"{end}_key"]


def _follow(
    node: Node,
    index: Mapping[Node, Sequence[FlowColumns]],
    end: str,
    labels: Mapping[Node, str],
    depth: int,
    reached: set[Node],
) -> list[TraceStep]:
    """Follow all flows of a line in one direction, each other end once, in printed order.

    What is stated of the same year comes first, of that what the line's own document states.
    """
    flows: dict[Node, FlowColumns] = {}
    rows = sorted(index.get(node, ()), key=lambda row: (not row["is_same_year"], row["document_id"] != node[0]))
    for row in rows if depth > 0 else ():
        end_node = _node_of(row, end)
        if not (end_node in reached and end_node == node):
            flows.setdefault(end_node, row)
    ranks = {row[f"{end}_form"]: rank for rank, row in reversed([*enumerate(flows.values())])}
    steps = []
    for end_node, row in sorted(
        flows.items(), key=lambda item: (ranks[item[1][f"{end}_form"]], _sort_key_of_line(item[0]))
    ):
        further_steps: list[TraceStep] = []
        has_more = depth == 1 and end_node not in reached and end_node in index
        if end_node not in reached:
            reached.add(end_node)
            further_steps = _follow(end_node, index, end, labels, depth - 1, reached)
        step = _to_step(row, end, label=labels.get(end_node, ""), further_steps=further_steps)
        steps.append(step.model_copy(update={"has_more": has_more}))
    return steps


def _reaches_other_form(start: Node, by_source: Mapping[Node, Sequence[FlowColumns]], form: str) -> bool:
    """Decide whether the amount of a line reaches another form, in any number of steps."""
    reached, open_nodes = {start}, [start]
    while open_nodes:
        for row in by_source.get(open_nodes.pop(), ()):
            if row["target_form"] != form:
                return True
            end_node = _node_of(row, "target")
            if end_node not in reached:
                reached.add(end_node)
                open_nodes.append(end_node)
    return False


def _sort_key_of_line(node: Node) -> tuple[int, str, tuple[int, str]]:
    """Return a sort key for lines of a form: the newest revision first, in it by part and number."""
    document, part, key = node
    year = re.search(_YEAR, document)
    return -int(year[1]) if year else 0, f"{document} {part}", order_of_key(key)


def _to_step(row: FlowColumns, end: str, *, label: str, further_steps: list[TraceStep]) -> TraceStep:
    document = row[f"{end}_document_id"]
    return TraceStep(
        **{name: row[f"{end}_{name}"] for name in ("form", "part", "key", "column")},
        code=row.get(f"{end}_code", ""),
        revision=document.partition("--")[2] if document else "",
        document_id=document,
        label=label,
        statement=TraceStatement(**{name: row[name] for name in TraceStatement.model_fields}),
        steps=further_steps,
    )
