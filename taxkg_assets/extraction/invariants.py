"""Laws of the extraction: each function gives the rows that break one; an empty frame means that the law holds.

Laws of one document run before its tables are written; laws across documents are gates. Floors of accuracy are not
here: they need labelled documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.keys import read_members
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.structure.blocks import CONTENT_ROLES
from taxkg_assets.rules.loader import load_rules
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Sections, Spans

# A letter's foot may hang over the page's edge by this much.
_EDGE_PT = 12.0
_GUIDES = ("filer_instructions", "recipient_instructions")
_BOX_KINDS = ("box", "box_group")
_AND = " and "
_MEMBER = re.compile(r"^(?P<number>\d*)(?P<letter>[a-z]*)$")
# Unnumbered checkboxes of information returns: the instructions head them, the faces number nothing.
_UNNUMBERED = frozenset({"void", "corrected"})


def find_off_page_spans(spans: dy.DataFrame[Spans], source: Source) -> pl.DataFrame:
    """Find spans that lie outside their page."""
    sizes = pl.DataFrame(
        {
            "page": pl.Series([page.page for page in source.pages], dtype=pl.Int32),
            "width_pt": pl.Series([page.width_pt for page in source.pages], dtype=pl.Float64),
            "height_pt": pl.Series([page.height_pt for page in source.pages], dtype=pl.Float64),
        }
    )
    placed = spans.join(sizes, on="page", how="left")
    is_inside = (
        pl.col("width_pt").is_not_null()
        & (pl.col("x1_pt") >= -_EDGE_PT)
        & (pl.col("y1_pt") >= -_EDGE_PT)
        & (pl.col("x0_pt") <= pl.col("width_pt") + _EDGE_PT)
        & (pl.col("y0_pt") <= pl.col("height_pt") + _EDGE_PT)
    )
    return placed.filter(~is_inside).select("document_id", "page", "span_ix", "text")


def find_unread_pages(elements: dy.DataFrame[Elements], source: Source) -> pl.DataFrame:
    """Find pages that hold text of which no element was made."""
    read = set(elements["page"].to_list())
    lost = [page.page for page in source.pages if page.page not in read and any(s.text.strip() for s in page.spans)]
    return pl.DataFrame(
        {"document_id": [source.document_id] * len(lost), "page": pl.Series(lost, dtype=pl.Int32)},
        schema={"document_id": pl.String, "page": pl.Int32},
    )


def find_silent_pages(elements: dy.DataFrame[Elements], documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Find pages of which no element was made and that their document does not list as scanned or blank."""
    pages = documents.select(
        "document_id", "image_only_pages", page=pl.int_ranges(1, pl.col("page_count") + 1, dtype=pl.Int32)
    ).explode("page")
    silent = pages.filter(~pl.col("page").is_in(pl.col("image_only_pages")))
    return silent.join(elements, on=["document_id", "page"], how="anti").select("document_id", "page")


def find_orphan_anchors(anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Find anchors whose parent does not exist in their document, or that are their own ancestor."""
    parents = dict(anchors.select("anchor_id", "parent_anchor_id").iter_rows())
    owners = dict(anchors.select("anchor_id", "document_id").iter_rows())
    broken = []
    for anchor_id, parent in parents.items():
        seen = {anchor_id}
        while parent is not None and parent in parents and parent not in seen:
            seen.add(parent)
            parent = parents[parent]
        first = parents[anchor_id]
        is_foreign = first is not None and owners.get(first) != owners[anchor_id]
        if parent is not None or is_foreign:
            broken.append(anchor_id)
    return anchors.filter(pl.col("anchor_id").is_in(broken)).select("document_id", "anchor_id", "parent_anchor_id")


def find_twin_anchors(anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Find anchors that share form, key, parent, heading, page and number of repetition."""
    same = ["document_id", "form", "key", "parent_anchor_id", "heading", "page", "repeat_ix"]
    return anchors.filter(pl.len().over(same) > 1).select("anchor_id", *same)


def find_misowned_elements(elements: dy.DataFrame[Elements], sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Find content elements that stand in no row of `sections`, or in more than one."""
    counts = sections.select(pl.col("element_ids").explode().alias("element_id")).group_by("element_id").len("owners")
    content = elements.filter(pl.col("role").is_in(CONTENT_ROLES))
    counted = content.join(counts, on="element_id", how="left").with_columns(pl.col("owners").fill_null(0))
    return counted.filter(pl.col("owners") != 1).select("document_id", "page", "element_id", "role", "owners", "text")


def find_strayed_sections(sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Find rows whose owner is no anchor of their document."""
    known = anchors.select("anchor_id", "document_id")
    owned = sections.filter(pl.col("anchor_id").is_not_null())
    return owned.join(known, on=["anchor_id", "document_id"], how="anti").select(
        "document_id", "element_id", "anchor_id"
    )


def find_broken_pieces(sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Find rows whose pieces do not cover their text from end to end, or have no rectangle."""
    flat = (
        sections.select("element_id", pl.col("text").str.len_chars().alias("length"), "pieces")
        .explode("pieces")
        .unnest("pieces")
        .with_columns(before=pl.col("end").shift(1).over("element_id").fill_null(0))
    )
    is_sound = (
        (pl.col("start") == pl.col("before"))
        & (pl.col("end") > pl.col("start"))
        & (pl.col("x1_pt") > pl.col("x0_pt"))
        & (pl.col("y1_pt") > pl.col("y0_pt"))
    )
    gaps = flat.filter(~is_sound.fill_null(value=False)).select("element_id").unique()
    short = (
        flat.group_by("element_id")
        .agg(pl.col("end").max(), pl.col("length").first())
        .filter(pl.col("end").fill_null(-1) != pl.col("length"))
        .select("element_id")
    )
    broken = pl.concat([gaps, short]).unique()
    return sections.join(broken, on="element_id").select("document_id", "page", "element_id", "text").sort("element_id")


def find_unanchored_boxes(
    faces: dy.DataFrame[Faces],
    anchors: dy.DataFrame[Anchors],
    *,
    documents: dy.DataFrame[Documents],
    elements: dy.DataFrame[Elements],
) -> pl.DataFrame:
    """Find boxes of a face without an anchor in its filer instructions or on its recipient pages.

    Which documents have to explain a face is decided without looking at anchors: a reader that lost them all is caught.

    Returns:  one row per box and document; `is_excused` where no text line of that document begins with its key, lines
              that head a box of another form aside.
    """
    rows: list[dict[str, object]] = []
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
    begun: dict[str, dict[str, list[str]]] = {}
    for face_id, form, revision, keys in _face_keys(faces):
        for document_id in [face_id, *_find_guides(documents, form=form, revision=revision)]:
            if document_id not in begun:
                begun[document_id] = _keys_begun(elements, document_id)
            found = _boxes_of(boxes, document_id, form=form, documents=documents)
            others = set(boxes["element_id"]) - set(found["element_id"])
            lines = _covered((part for e, ps in begun[document_id].items() if e not in others for part in ps), keys)
            if document_id == face_id and not lines and found.is_empty():
                continue  # a form without recipient pages explains nothing itself
            missing = set(keys) - _covered((part for key in found["key"] for part in _parts(key)), keys)
            rows += [
                {
                    "document_id": document_id,
                    "form": form,
                    "revision": revision,
                    "box_key": f"box_{key}",
                    "is_excused": key not in lines,
                }
                for key in keys
                if key in missing
            ]
    schema = {
        "document_id": pl.String,
        "form": pl.String,
        "revision": pl.String,
        "box_key": pl.String,
        "is_excused": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema).sort("document_id", "form", "revision", "box_key")


def find_invented_boxes(
    faces: dy.DataFrame[Faces], anchors: dy.DataFrame[Anchors], *, documents: dy.DataFrame[Documents]
) -> pl.DataFrame:
    """Find anchors of boxes that the face of their form and revision does not print.

    Older instructions are left out: they may well speak of a box that the face has dropped since.
    """
    invented: list[str] = []
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS))
    for face_id, form, revision, keys in _face_keys(faces):
        printed = {*keys, *(key.rstrip("abcdefghijklmnopqrstuvwxyz") for key in keys), *_UNNUMBERED}
        for document_id in [face_id, *_find_guides(documents, form=form, revision=revision, is_same=True)]:
            found = _boxes_of(boxes, document_id, form=form, documents=documents)
            for anchor_id, key in found.select("anchor_id", "key").iter_rows():
                ends = [end for part in _parts(key) for end in part.split("-")]
                if any(end not in printed for end in ends):
                    invented.append(anchor_id)
    return anchors.filter(pl.col("anchor_id").is_in(invented)).select(
        "document_id", "anchor_id", "form", "key", "heading"
    )


def find_boxes_without_face(
    faces: dy.DataFrame[Faces], anchors: dy.DataFrame[Anchors], *, documents: dy.DataFrame[Documents]
) -> pl.DataFrame:
    """Find forms that have headings of boxes and no box on any face: their face was not read, or they print none.

    Returns: `document_id` and `boxes`, the number of those headings. A list to look at, no fault by itself.
    """
    forms = (
        documents.filter(pl.col("doc_type") == "form").select("document_id").join(faces, on="document_id", how="anti")
    )
    boxes = anchors.filter(pl.col("kind").is_in(_BOX_KINDS)).join(forms, on="document_id", how="semi")
    return boxes.group_by("document_id").len("boxes").sort("document_id")


def _face_keys(faces: pl.DataFrame) -> Iterator[tuple[str, str, str, list[str]]]:
    """Give each face: document, form, revision and the keys it prints, without `box_`."""
    for (face_id, form, revision), group in faces.group_by("document_id", "form", "revision", maintain_order=True):
        yield str(face_id), str(form), str(revision), [key.removeprefix("box_") for key in group["box_key"]]


def _find_guides(documents: pl.DataFrame, *, form: str, revision: str, is_same: bool = False) -> list[str]:
    """Find the instructions for a face: of its revision; for continuous use also the latest that are not newer."""
    guides: list[str] = []
    for doc_type in _GUIDES:
        kin = documents.filter(
            (pl.col("doc_type") == doc_type) & pl.col("form").str.split(_AND).list.contains(form)
        ).sort("document_id")
        same = kin.filter(pl.col("revision") == revision)
        if same.is_empty() and not is_same and _is_continuous(revision):
            older = kin.filter(pl.col("revision").str.contains("-", literal=True) & (pl.col("revision") < revision))
            same = older.filter(pl.col("revision") == pl.col("revision").max())
        guides += same["document_id"].to_list()
    return guides


def _is_continuous(revision: str) -> bool:
    """Tell a revision in continuous use (year and month) from the form of one tax year."""
    return "-" in revision


def _boxes_of(boxes: pl.DataFrame, document_id: str, *, form: str, documents: pl.DataFrame) -> pl.DataFrame:
    """Select a document's boxes that speak of a form; in a document of one form also those that name none."""
    named = documents.filter(pl.col("document_id") == document_id)["form"]
    forms = [form] if any(_AND in name for name in named) else [form, ""]
    return boxes.filter((pl.col("document_id") == document_id) & pl.col("form").is_in(forms))


def _parts(key: str) -> list[str]:
    return key.split("_")[1:]


def _covered(parts: Iterable[str], keys: Sequence[str]) -> set[str]:
    """Tell which of a face's keys some parts of keys (`3`, `14-16`) name, groups and bare numbers included."""
    covered: set[str] = set()
    for part in parts:
        first, _, last = part.partition("-")
        low, high = _order(first), _order(last or first, is_last=True)
        covered.update(name for name in keys if low <= _order(name) <= high)
    return covered


def _order(key: str, *, is_last: bool = False) -> tuple[int, str]:
    """Put keys in the order of the face: 2 < 2a < 2b < 10; as the end of a run a bare number takes its letters in."""
    match = _MEMBER.match(key)
    if match is None:
        return (999, key)
    letter = match["letter"] or ("~" if is_last and match["number"] else "")
    return (int(match["number"] or 0), letter)


def _keys_begun(elements: pl.DataFrame, document_id: str) -> dict[str, list[str]]:
    """Give the keys of each line of a document that begins with some (`Box 3 …`, `Boxes 3–5 …`); faces left aside."""
    prose = elements.filter((pl.col("document_id") == document_id) & ~pl.col("role").is_in(["FormField", "TableBlock"]))
    begun: dict[str, list[str]] = {}
    for rule in load_rules("box_grammar", "lines"):
        for element_id, text in prose.select("element_id", "text").iter_rows():
            match = rule.pattern.match(text)
            if match is not None:
                begun.setdefault(element_id, []).extend(read_members(match["list"]))
    return begun
