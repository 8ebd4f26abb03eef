"""A change report that a payer's operations team can act on: what to change in the systems first, routine last.

What the report says and in which order is decided here, and how it reads as Markdown; how it looks is decided in
`change_page`. Texts come from PDFs and are escaped in both.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.graph.catalogue import revision_months
from taxkg_assets.graph.revisions import find_consecutive
from taxkg_assets.records import DocumentRecord, RevisionRecord, iter_records
from taxkg_assets.rules.models.revisions import load_revisions

_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]<>|#~])")
_KEPT_WORDS = 14
_SHOWN_ITEMS = 12
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
SAME, REMOVED, ADDED = "same", "removed", "added"

GROUPS = (
    ("Boxes", "Fields of the form: check layouts, mappings and validations."),
    ("Lines and codes", "Lines of schedules and worksheets, and codes entered in boxes."),
    ("Amounts", "Limits, rates and thresholds that software keeps as parameters."),
    ("Dates", "Deadlines and periods."),
    ("Instructions", "Text that changes what must be reported, or how."),
    ("Routine", "New years, editing, page numbers: no action needed."),
)
_IMPLEMENTED_GROUPS = ("Boxes", "Lines and codes", "Amounts")
"""Groups of changes that software must implement."""


@dataclass(frozen=True, slots=True)
class Item:
    """One change in a change report."""

    group: str
    what: str
    name: str
    path: str
    places: str
    words: tuple[tuple[str, str], ...]
    nature: str


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """The changes between two documents, grouped by the action they require."""

    subject: str
    older: str
    newer: str
    documents: tuple[str, str]
    notes: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def title(self) -> str:
        """Return the headline of the report."""
        return f"{self.subject}: what changed"

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of changes in each group, in report order."""
        group_counts = Counter(item.group for item in self.items)
        return {name: group_counts[name] for name, _ in GROUPS}


def build_change_report(
    changes: Iterable[RevisionRecord], *, before: DocumentRecord, after: DocumentRecord
) -> ChangeReport:
    """Group the changes between two documents.

    Args:
        changes: Rows of `revisions` for this pair.
        before: Row of `documents` of the older document.
        after: Row of `documents` of the newer document.

    Returns:
        The report, items in the order of `GROUPS`.
    """
    items = [_item(row) for row in changes]
    order = [name for name, _ in GROUPS]
    items.sort(key=lambda item: order.index(item.group))
    is_rebuild = before["revision"] == after["revision"] and before["is_draft"] == after["is_draft"]
    notes = [note for row in (before, after) if (note := _draft_note(row))]
    if is_rebuild:
        notes.append("Both files are the same revision: differences are corrections, not a new revision.")
    if revision_months(after["revision"]) < revision_months(before["revision"]):
        notes.append(
            "The first document is the newer one, so additions are reported as removals, and removals as additions."
        )
    names = [_build_name(row) if is_rebuild else _revision_name(row) for row in (before, after)]
    return ChangeReport(
        subject=_form_name(after),
        older=names[0],
        newer=names[1],
        documents=(before["document_id"], after["document_id"]),
        notes=tuple(notes),
        items=tuple(items),
    )


def build_change_reports(revisions: pl.DataFrame, documents: pl.DataFrame) -> list[ChangeReport]:
    """Build the reports of all pairs of consecutive documents.

    Args:
        revisions: Table `revisions`.
        documents: Table `documents`.

    Returns:
        One report per pair, including pairs without changes.
    """
    rows = {row["document_id"]: row for row in iter_records(documents, DocumentRecord)}
    changes: dict[tuple[str, str], list[RevisionRecord]] = defaultdict(list)
    for row in iter_records(revisions, RevisionRecord):
        changes[row["from_document_id"], row["to_document_id"]].append(row)
    return [
        build_change_report(changes[before, after], before=rows[before], after=rows[after])
        for before, after in find_consecutive(documents)
    ]


def _form_name(document: DocumentRecord) -> str:
    form = document["form"] or document["title"] or document["document_id"]
    name = form if form.startswith(("Pub.", "Schedule", "Form")) else f"Form {form}"
    return f"Instructions for {name}" if document["doc_type"] == "filer_instructions" else name


def _revision_name(document: DocumentRecord) -> str:
    """Return the name of a revision: January 2024 for `2024-01`."""
    match = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", document["revision"])
    name = f"{_MONTHS[int(match[2]) - 1]} {match[1]}" if match else document["revision"] or document["document_id"]
    return f"{name} (draft)" if document["is_draft"] else name


def _build_name(document: DocumentRecord) -> str:
    build_name = f"file of {document['pdf_modified_on']}" if document["pdf_modified_on"] else document["document_id"]
    return f"{_revision_name(document)}, {build_name}"


def _draft_note(document: DocumentRecord) -> str:
    is_draft: bool = document["is_draft"]
    return f"{document['document_id']} is a draft: not for filing, and it may still change." if is_draft else ""


def _item(row: RevisionRecord) -> Item:
    path = row["heading_path"].split(" > ") if row["heading_path"] else []
    is_heading = row["kind"].split()[0] not in ("text", "row", "moved") and row["perspective"] != "face"
    return Item(
        group=find_group(row),
        what=_what(row),
        name=" → ".join(name for name in (name_key(row["previous_key"]), name_key(row["key"])) if name),
        path=" › ".join(path[:-1] if is_heading else path),
        places=_places(row),
        words=tuple(find_segments(row)),
        nature=row["nature"],
    )


def _what(row: RevisionRecord) -> str:
    """Return the kind of the change; a reserved box that got a label is put to use, and the reverse."""
    if row["kind"] == "box renamed":
        had, has = (not _is_reserved(row[side]) for side in ("before", "after"))
        if had != has:
            return "box put to use" if has else "box taken out of use"
    return str(row["kind"])


def _is_reserved(label: str) -> bool:
    return load_revisions().reserved.no_use.pattern.search(label) is not None


def find_group(row: RevisionRecord) -> str:
    """Decide which group of `GROUPS` a change belongs to.

    Args:
        row: Row of `revisions`.

    Returns:
        Name of the group.
    """
    if row["is_routine"]:
        return "Routine"
    subject = row["kind"].split()[0]
    if subject == "box":
        return "Boxes"
    if subject in ("line", "code"):
        return "Lines and codes"
    if row["nature"] in ("amounts", "dates"):
        return str(row["nature"]).capitalize()
    return "Lines and codes" if _is_printed_line(row) else "Instructions"


def _is_printed_line(row: RevisionRecord) -> bool:
    """Return whether the text is that of a line itself, which begins with its number or letter, and not about it."""
    number = row["key"].removeprefix("line_")
    first = (row["after"] or row["before"]).split(maxsplit=1)[:1]
    return row["key"].startswith("line_") and any(first == [name] for name in (number, number.lstrip("0123456789")))


def name_key(key: str) -> str:
    """Return the name of a key for readers: Box 1a for `box_1a`, Boxes 14–16 for `boxes_14-16`.

    Args:
        key: Key of a box, line, section or code.

    Returns:
        Name; empty for prose.
    """
    kind, _, number = key.partition("_")
    return f"{kind.capitalize()} {number.replace('-', '–').replace('_', ', ')}" if number else ""


def _places(row: RevisionRecord) -> str:
    """Return the pages of both wordings: `p. 4`, or `p. 4 → 5`."""
    places = (row["before_places"], row["after_places"])
    sides = [", ".join(map(str, sorted({place["page"] for place in side}))) for side in places]
    pages = list(dict.fromkeys(side for side in sides if side))
    return f"p. {' → '.join(pages)}" if pages else ""


# ----------------------------------------------------------------------------------------------------- word diff


def find_segments(row: RevisionRecord) -> list[tuple[str, str]]:
    """Split the two wordings of a change into unchanged, removed and added segments.

    Long unchanged segments are shortened; the whole wording is in `before` and `after`.

    Args:
        row: Row of `revisions`.

    Returns:
        Pairs of operation (`same`, `removed`, `added`) and text, in reading order.
    """
    before, after = row["before"], row["after"]
    if row["kind"] == "box renamed" and not (before and after):
        return [(REMOVED, before)] if before else [(ADDED, after)]
    if not row["words"]:
        return [(op, text) for op, text in ((REMOVED, before), (ADDED, after)) if text and before != after] or [
            (SAME, _shortened(after, is_first=False, is_last=False))
        ]
    segments: list[tuple[str, str]] = []
    at = 0
    for ix, word in enumerate(row["words"]):
        stayed = after[at : word["after_start"]]
        segments.append((SAME, _shortened(stayed, is_first=ix == 0, is_last=False)))
        segments.append((REMOVED, before[word["before_start"] : word["before_end"]]))
        segments.append((ADDED, after[word["after_start"] : word["after_end"]]))
        at = word["after_end"]
    segments.append((SAME, _shortened(after[at:], is_first=False, is_last=True)))
    return [(op, text) for op, text in segments if text]


def _shortened(text: str, *, is_first: bool, is_last: bool) -> str:
    words = text.split(" ")
    if len(words) <= 2 * _KEPT_WORDS + 4:
        return text
    head = [] if is_first else words[:_KEPT_WORDS]
    tail = [] if is_last else words[-_KEPT_WORDS:]
    return " ".join([*head, "…", *tail])


# ------------------------------------------------------------------------------------------------------ Markdown


def render_change_markdown(report: ChangeReport) -> str:
    """Render a change report as Markdown.

    Args:
        report: Report of one pair of documents.

    Returns:
        Markdown with all texts escaped.
    """
    lines = [f"# {_plain(report.title)}", f"{_plain(report.older)} → {_plain(report.newer)}"]
    lines += [f"> {_plain(note)}" for note in report.notes]
    if not report.items:
        return "\n\n".join([*lines, "No change: both print the same text."]) + "\n"
    counts = [f"| {name} | {count} |" for name, count in report.counts.items()]
    lines.append("\n".join(["| to check | changes |", "| --- | ---: |", *counts]))
    for name, why in GROUPS:
        items = [item for item in report.items if item.group == name]
        if items:
            lines += [f"## {name} ({len(items)})", why]
            lines.append("\n".join(_markdown_item(item) for item in items))
    lines.append(f"Compared: {_plain(report.documents[0])}, {_plain(report.documents[1])}.")
    return "\n\n".join(lines) + "\n"


def render_changes_overview(reports: Sequence[ChangeReport]) -> str:
    """Render all pairs as one Markdown table, followed by the changes that software must implement.

    Args:
        reports: Reports in the order of the table.

    Returns:
        Markdown with all texts escaped; below the table the first changes of boxes, lines, codes and amounts.
    """
    names = [name for name, _ in GROUPS]
    table_lines = [
        "| " + " | ".join(["what", "from", "to", *names]) + " |",
        "| --- | --- | --- |" + " ---: |" * len(names),
    ]
    for report in reports:
        cells = [report.subject, report.older, report.newer, *map(str, report.counts.values())]
        table_lines.append("| " + " | ".join(map(_plain, cells)) + " |")
    parts = ["\n".join(table_lines)]
    for report in reports:
        urgent = [item for item in report.items if item.group in _IMPLEMENTED_GROUPS]
        if urgent:
            parts.append(f"**{_plain(report.subject)}, {_plain(report.older)} → {_plain(report.newer)}**")
            parts.append("\n".join(_markdown_item(item) for item in urgent[:_SHOWN_ITEMS]))
            if len(urgent) > _SHOWN_ITEMS:
                parts.append(f"{_SHOWN_ITEMS} of {len(urgent)} shown; the report of the pair lists the rest.")
    return "\n\n".join(parts) + "\n"


def _markdown_item(item: Item) -> str:
    marks = {SAME: "{}", REMOVED: "~~{}~~", ADDED: "**{}**"}
    words = " ".join(marks[op].format(plain) for op, text in item.words if (plain := _plain(text)))
    where = f" ({item.places})" if item.places else ""
    name = item.name or item.path.split(" › ")[-1]
    name = f"**{_plain(name)}**, " if name else ""
    return f"- {name}{item.what}{where}: {words}"


def _plain(text: str) -> str:
    """Escape a text for Markdown and put it on one line."""
    return _MARKDOWN_SIGNS.sub(r"\\\1", " ".join(text.split()))


def order_by_heading(items: Sequence[Item]) -> list[tuple[str, list[Item]]]:
    """Group report items by their headings.

    Args:
        items: Items of one group of the report.

    Returns:
        Heading path and its items, in the order in which the headings first occur.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.path, []).append(item)
    return list(groups.items())
