"""Changes between two revisions of a form, its instructions or a publication.

Which revisions are consecutive is decided here, and what a pair of passages amounts to: a box added, a line renumbered,
a text changed. A rebuild with the same text is no change, and a draft never counts as a revision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.box_changes import find_box_changes
from taxkg_assets.graph.catalogue import revision_months
from taxkg_assets.graph.form_blocks import Part
from taxkg_assets.graph.pairing import Pair, find_pairs
from taxkg_assets.graph.passages import (
    ADDRESS,
    BLOCK,
    HEADING,
    LINE,
    ROW,
    ComparableDocument,
    Passage,
    build_comparable_documents,
)
from taxkg_assets.graph.text_diff import (
    ROUTINE,
    Change,
    Token,
    Wording,
    classify_nature,
    find_changes,
    find_masked_words,
    masked,
)
from taxkg_assets.records import DocumentRecord, PlacedBoxRecord, RevisionRecord, copy_place, iter_records
from taxkg_assets.rules.models.revisions import load_revisions
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Revisions, Sections, Tables

NATURES = ("structure", "amounts", "dates", "references", "wording", *ROUTINE)
"""Subjects of a change by descending priority: a row has the first one that applies to any of its words."""

_FEW_WORDS = 4
_LEAST_LETTERS = 3


def build_revisions(
    documents: dy.DataFrame[Documents],
    sections: dy.DataFrame[Sections],
    anchors: dy.DataFrame[Anchors],
    tables: dy.DataFrame[Tables],
    faces: dy.DataFrame[Faces],
    elements: dy.DataFrame[Elements],
    *,
    pairs: Sequence[tuple[str, ...]] | None = None,
) -> dy.DataFrame[Revisions]:
    """Build one row per change between consecutive final revisions of a product, or two builds of one revision.

    Args:
        documents: Documents of the corpus.
        sections: Content elements of the documents to compare.
        anchors: Anchors of the documents to compare.
        tables: Tables of the documents to compare.
        faces: Boxes of the documents to compare.
        elements: Elements of the documents to compare.
        pairs: Documents to compare, from `find_consecutive`, older first; None for all consecutive ones.

    Returns:
        Changes of each pair, boxes first, then in reading order.
    """
    frames = {"sections": sections, "anchors": anchors, "tables": tables, "faces": faces, "elements": elements}
    rows = {row["document_id"]: row for row in iter_records(documents, DocumentRecord)}
    pairs = find_consecutive(documents) if pairs is None else pairs
    compared = build_comparable_documents({name for pair in pairs for name in pair}, frames)
    changes: list[dict[str, Any]] = []
    for before, after in pairs:
        changes += _find_changes(rows[before], rows[after], old=compared[before], new=compared[after])
    return Revisions.validate(_as_frame(changes).sort(Revisions.primary_key()))


def _as_frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=Revisions.create_empty().schema)


def find_consecutive(documents: pl.DataFrame) -> list[tuple[str, str]]:
    """Pair the consecutive final documents of each product, by revision, or by date for builds of one revision.

    Args:
        documents: Rows of `documents`; drafts and documents without product or revision are left out.

    Returns:
        Ids of the older and the newer document.
    """
    final = documents.filter(~pl.col("is_draft") & (pl.col("irs_name") != "") & (pl.col("revision") != ""))
    pairs: list[tuple[str, str]] = []
    for _, group in sorted(final.group_by("irs_name"), key=lambda item: str(item[0])):
        ordered = sorted(
            group.iter_rows(named=True),
            key=lambda r: (revision_months(r["revision"]), r["pdf_modified_on"], r["document_id"]),
        )
        pairs += pairwise(row["document_id"] for row in ordered)
    return pairs


def find_revision_changes(
    before: DocumentRecord, after: DocumentRecord, *, frames: Mapping[str, pl.DataFrame]
) -> list[RevisionRecord]:
    """Find the changes between any two documents.

    Args:
        before: Row of `documents` of the older document.
        after: Row of `documents` of the newer document.
        frames: Tables `sections`, `anchors`, `tables`, `faces` and `elements`.

    Returns:
        Rows of `revisions`; boxes first, then in reading order.
    """
    ids = (before["document_id"], after["document_id"])
    compared = build_comparable_documents(ids, frames)
    changes = _find_changes(before, after, old=compared[ids[0]], new=compared[ids[1]])
    return list(iter_records(_as_frame(changes), RevisionRecord))


def _find_changes(
    before: DocumentRecord, after: DocumentRecord, *, old: ComparableDocument, new: ComparableDocument
) -> list[dict[str, Any]]:
    years = _year(after) - _year(before)
    rows: list[dict[str, Any]] = [*find_box_changes(old.boxes, new.boxes, years=years)]
    pairs = find_pairs(old, new)
    loose = tuple(_loose_words(pairs, ix) for ix in range(2))
    for pair in pairs:
        rows += _pair_rows(pair, old=old, new=new, years=years, loose=loose)
    common = {
        "irs_name": after["irs_name"],
        "form": after["form"],
        "from_revision": before["revision"],
        "to_revision": after["revision"],
        "from_document_id": before["document_id"],
        "to_document_id": after["document_id"],
    }
    return [{**common, "change_ix": ix, **row} for ix, row in enumerate(rows)]


def _loose_words(pairs: Iterable[Pair], side: int) -> str:
    """Return the words of all passages of one side without a counterpart."""
    alone = (pair.before if side == 0 else pair.after for pair in pairs if not (pair.before and pair.after))
    return f" {' '.join(word for passages in alone for p in passages for word in p.words)} "


def _year(document: DocumentRecord) -> int:
    stated = document["tax_year"] or document["revision"][:4]
    return int(stated) if str(stated).isdigit() else 0


# ------------------------------------------------------------------------------------------------- pairs to rows


def _pair_rows(
    pair: Pair, *, old: ComparableDocument, new: ComparableDocument, years: int, loose: Sequence[str]
) -> Iterator[dict[str, Any]]:
    if pair.before and pair.after:
        yield from _changed(pair, old=old, new=new, years=years, loose=loose)
        return
    (passage,) = pair.before or pair.after
    this, other = (old, new) if pair.before else (new, old)
    if not _is_gone(passage, own=this, other=other):
        return
    kind = f"{_subject(passage)} {'removed' if pair.before else 'added'}"
    is_stamp = load_revisions().edition_lines.edition_line.pattern.search(passage.text) is not None
    yield _row(kind, pair, (), nature="edition" if is_stamp else _nature_of_passage(passage))


def _nature_of_passage(passage: Passage) -> str:
    """Return what an added or removed passage is about, by the rules for changed words.

    A heading or a row without anything that systems store is structure; so is a field or a line, whatever its label.
    """
    nature = classify_nature(passage.text[passage.skipped :], "")
    if _subject(passage) in ("section", "row", "text") and nature in ("amounts", "dates"):
        return nature
    return nature if _subject(passage) == "text" else "structure"


def _is_gone(passage: Passage, *, own: ComparableDocument, other: ComparableDocument) -> bool:
    """Return whether the other document prints these words nowhere, or less often than this one."""
    if passage.kind == HEADING and passage.owner.key and passage.place in other.keys:
        return False
    if passage.kind == ADDRESS:
        return all(passage.words != p.words for p in other.passages if p.kind == ADDRESS)
    if passage.kind != ROW and sum(map(str.isalpha, "".join(t.norm for t in passage.tokens))) < _LEAST_LETTERS:
        return False
    # Of a line, the words and the number are printed together.
    runs = [passage.words, find_masked_words(passage.text)] if passage.kind == LINE else [passage.words]
    return not all(_is_printed(run, own=own, other=other, is_copied=passage.kind == BLOCK) for run in runs)


def _is_printed(words: Sequence[str], *, own: ComparableDocument, other: ComparableDocument, is_copied: bool) -> bool:
    """Return whether the other document prints a run of words at least as often; once is enough for a form's copies."""
    run = f" {' '.join(words)} "
    counts = [
        (stream.count(run), other_count.count(run))
        for stream, other_count in zip(own.streams, other.streams, strict=True)
    ]
    return any(other_count and (is_copied or other_count >= own_count) for own_count, other_count in counts)


def _changed(
    pair: Pair, *, old: ComparableDocument, new: ComparableDocument, years: int, loose: Sequence[str]
) -> Iterator[dict[str, Any]]:
    sides = _wording(pair.before), _wording(pair.after)
    changes = find_changes(*sides, years=years)
    kind = pair.after[0].kind
    streams = (old.streams, new.streams) if kind in (BLOCK, LINE) else ((loose[0],), (loose[1],))
    changes = tuple(change for change in changes if not _is_regrouped(change, sides, streams=streams, kind=kind))
    first, last = pair.before[0], pair.after[0]
    first_number, last_number = _number(first), _number(last)
    is_renumbered = first.kind == last.kind and bool(first_number and last_number) and first_number != last_number
    if first.kind == last.kind == HEADING and len(pair.after) > len(pair.before):
        yield _row(f"{_subject(first)} split", pair, (), nature="structure")
    elif is_renumbered:
        yield _row(f"{_subject(last)} renumbered", pair, changes, nature="structure")
    elif changes:
        if last.kind == HEADING:
            kind_of_change = f"{_subject(last)} renamed"
        else:
            kind_of_change = "row changed" if last.kind == ROW else "text changed"
        yield _row(kind_of_change, pair, changes, nature=_highest_priority(changes))
    elif pair.is_moved and (first.place != last.place or first.kind == HEADING) and first.kind != BLOCK:
        yield _row("moved", pair, (), nature="moved")


def _is_regrouped(
    change: Change, sides: tuple[Wording, Wording], *, streams: tuple[Sequence[str], Sequence[str]], kind: str
) -> bool:
    """Return whether inserted or deleted words are printed in another passage of the other document.

    The pieces that a form prints in its margins and lines are grouped differently whenever one of them moves, and a
    paragraph that continues after a break may be read as two: on a form any place counts, else only passages without a
    counterpart. A few words are not enough to be found again, least of all numbers.
    """
    is_block, is_form = kind == BLOCK, kind in (BLOCK, LINE)
    spans = ((change.before_start, change.before_end), (change.after_start, change.after_end))
    put = [ix for ix, (start, end) in enumerate(spans) if end > start]
    if len(put) > 1 and not is_form:
        return False
    for ix in put:
        pieces = list(_pieces(sides[ix], *spans[ix]))
        if not _is_distinctive([word for piece in pieces for word in piece], is_block=is_block):
            return False
        if not all(any(f" {' '.join(piece)} " in other for other in streams[1 - ix]) for piece in pieces):
            return False
    return True


def _pieces(wording: Wording, start: int, end: int) -> Iterator[tuple[str, ...]]:
    """Yield the words between two places, line by line."""
    runs: dict[int, list[Token]] = defaultdict(list)
    for token in wording.tokens:
        if start <= token.start < end:
            runs[wording.text.count("\n", start, token.start)].append(token)
    return (words for run in runs.values() if (words := masked(run)))


def _is_distinctive(words: Sequence[str], *, is_block: bool) -> bool:
    """Return whether words are enough to be found again: a few numbers would be found anywhere."""
    has_letters = [word.isalpha() for word in words]
    return len(words) >= _FEW_WORDS or (any(has_letters) if is_block else len(words) > 1 and all(has_letters))


def _number(passage: Passage) -> str:
    """Return the key of a line, or the key that a heading prints itself: only these can be renumbered."""
    return passage.owner.key if passage.kind == LINE or (passage.kind == HEADING and passage.is_keyed) else ""


def _subject(passage: Passage) -> str:
    """Return what a passage is to its reader: box, line, code, section, row or text."""
    key, kind = passage.owner.key, passage.owner.kind
    if passage.kind == LINE:
        return "line"
    if passage.kind == ROW:
        return "row"
    if passage.kind != HEADING:
        return "text"
    if key.startswith("code_"):
        return "code"
    return {"box": "box", "box_group": "box", "line": "line"}.get(kind if passage.is_keyed else "", "section")


def _highest_priority(changes: Iterable[Change]) -> str:
    return min((change.nature for change in changes), key=NATURES.index)


def _wording(side: Sequence[Passage]) -> Wording:
    tokens: list[Token] = []
    offset = 0
    for passage in side:
        tokens += [Token(t.norm, t.start + offset, t.end + offset) for t in passage.tokens]
        offset += len(passage.text) + 1
    return Wording("\n".join(passage.text for passage in side), tuple(tokens))


def _row(kind: str, pair: Pair, changes: Sequence[Change], *, nature: str) -> dict[str, Any]:
    shown_passage = (pair.after or pair.before)[0]
    owner = shown_passage.owner
    sides: dict[str, Any] = {}
    pointers = []
    for name, side in (("before", pair.before), ("after", pair.after)):
        spans = [(getattr(c, f"{name}_start"), getattr(c, f"{name}_end")) for c in changes]
        parts = list(_parts(side))
        sides[name] = "\n".join(part.text for _, part in parts)
        sides[f"{name}_places"] = list(_places(parts, spans))
        pointers.append("; ".join(_pointers(parts, spans)))
    return {
        "kind": kind,
        "key": owner.key,
        "previous_key": pair.before[0].owner.key if kind.endswith("renumbered") else "",
        "heading_path": " > ".join(owner.path[:-1] if shown_passage.kind == LINE else owner.path),
        "perspective": owner.perspective,
        **sides,
        "words": [_change(change) for change in changes],
        "nature": nature,
        "is_routine": nature in ROUTINE,
        "evidence": " → ".join(pointers),
    }


def _change(change: Change) -> dict[str, Any]:
    names = ("before_start", "before_end", "after_start", "after_end", "nature")
    return {name: getattr(change, name) for name in names}


def _parts(side: Sequence[Passage]) -> Iterator[tuple[int, Part]]:
    """Yield the parts of one side with the place of each in the joined text."""
    offset = 0
    for passage in side:
        for part in passage.parts:
            yield offset, part
            offset += len(part.text) + 1


def _touches(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a range contains changed words; without changed words the whole text counts."""
    return not spans or any(s <= end and e >= start and (s < end or e > start or s == e) for s, e in spans)


def _places(parts: Iterable[tuple[int, Part]], spans: Sequence[tuple[int, int]]) -> Iterator[PlacedBoxRecord]:
    for offset, part in parts:
        for place in part.places:
            if _touches(place["start"] + offset, place["end"] + offset, spans):
                yield copy_place(place)


def _pointers(parts: Iterable[tuple[int, Part]], spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield `<source>:<start>-<end>` of each part with changed words, from the first to the last of them."""
    for offset, part in parts:
        end = offset + len(part.text)
        if not _touches(offset, end, spans):
            continue
        inside = [(max(s, offset), min(e, end)) for s, e in spans if s <= end and e >= offset] or [(offset, end)]
        yield f"{part.source_id}:{min(s for s, _ in inside) - offset}-{max(e for _, e in inside) - offset}"
