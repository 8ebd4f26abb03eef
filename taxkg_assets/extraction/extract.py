"""One document's bytes to all its per-document tables: `extract(data) -> Extraction` with `{name: frame}`.

A pure function, so that a process pool, Dagster partitions or a cluster engine can map it over documents.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.authored.destinations import find_named_places
from taxkg_assets.extraction.authored.form_fields import FormFields, find_form_fields
from taxkg_assets.extraction.authored.links import find_links
from taxkg_assets.extraction.authored.trust import TagTrust, drop_face_tags
from taxkg_assets.extraction.errors import TABLES_AS_TEXT, StageError
from taxkg_assets.extraction.forms.faces import build_faces, find_faces
from taxkg_assets.extraction.forms.fields import build_fields
from taxkg_assets.extraction.forms.form_lines import holds_form_lines
from taxkg_assets.extraction.forms.stated_columns import name_printed_columns
from taxkg_assets.extraction.forms.stated_fields import StatedField, find_stated_fields
from taxkg_assets.extraction.invariants import (
    CORRUPT_CHECKS,
    find_broken_pieces,
    find_duplicate_anchors,
    find_misowned_elements,
    find_off_page_spans,
    find_orphan_anchors,
    find_strayed_sections,
    find_unread_pages,
)
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.printed_text import PrintedText, read_printed_text
from taxkg_assets.extraction.layout.regions import FaceBox, TableRegion
from taxkg_assets.extraction.page_sources import PageSource, find_page_sources
from taxkg_assets.extraction.pdf.hidden_text import HiddenText
from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.pdf.rotation import derotate_pages, restore_rotation
from taxkg_assets.extraction.references.references import build_references
from taxkg_assets.extraction.spans import build_spans
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.blocks import Block
from taxkg_assets.extraction.structure.elements import build_elements, find_blocks
from taxkg_assets.extraction.structure.identity import Identity, read_identity
from taxkg_assets.extraction.structure.links import build_links
from taxkg_assets.extraction.structure.publisher_ids import add_publisher_ids
from taxkg_assets.extraction.structure.sections import build_sections
from taxkg_assets.extraction.structure.table_titles import find_distant_titles
from taxkg_assets.extraction.structure.targets import TargetFinder
from taxkg_assets.extraction.tables.cells import FoundTable
from taxkg_assets.extraction.tables.engines import ENGINES
from taxkg_assets.extraction.tables.tables import build_tables, find_cells_without_path
from taxkg_assets.rules.addresses import Addresses, find_addresses, is_published
from taxkg_assets.rules.models.addresses import load_addresses
from taxkg_assets.schemas import Anchors, Elements, Sections, Tables, validated


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything extracted from one document.

    Attributes:
        frames: Tables by name.
        identity: Form, type, revision and title of the document.
        page_count: Number of pages.
        warnings: Quality warnings, one sentence each.
        image_only_pages: Pages without text.
        hidden_texts: Text that was left out because readers do not see it, and prompt injections.
        addresses: Official web addresses of the document.
        page_sources: How each page was read.
    """

    frames: dict[str, pl.DataFrame]
    identity: Identity
    page_count: int
    warnings: tuple[str, ...]
    image_only_pages: tuple[int, ...]
    hidden_texts: tuple[HiddenText, ...] = ()
    addresses: Addresses = field(default_factory=Addresses)
    page_sources: tuple[PageSource, ...] = ()


def _refuse(name: str, offending: pl.DataFrame) -> None:
    """Hold back a document that fails a check of its tables, before anything of it is written."""
    if offending.height:
        first = ", ".join(f"{k}={str(v)[:60]}" for k, v in offending.row(0, named=True).items())
        check = next(check for check in CORRUPT_CHECKS if check.name == name)
        raise StageError(check.on, f"{offending.height} {check.broken} ({first}).", check.remedy, is_check_failure=True)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause Python's collector of reference cycles: what is extracted has none, and looking for them takes time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _note_engine(name: str) -> tuple[str, ...]:
    """Return a note on tables that another engine than our own read."""
    return () if name == "own" else (f"Tables read with the engine {name}.",)


def _note_misread_tables(table_ids: list[str]) -> tuple[str, ...]:
    """Return a note on tables that are kept as text because some of their cells have no header."""
    return (f"{TABLES_AS_TEXT}, as cells have no header: {', '.join(table_ids)}.",) if table_ids else ()


def _drop_line_frames(tables: list[FoundTable], *, lines: list[Line]) -> list[FoundTable]:
    """Drop the "tables" of a form's page that are only frames around its numbered lines."""

    def is_frame(region: TableRegion) -> bool:
        return holds_form_lines(lines, x0=region.x0, y0=region.y0, x1=region.x1, y1=region.y1)

    return [table for table in tables if not is_frame(table.region)]


@dataclass(frozen=True, slots=True)
class _Form:
    """What a document's faces and form fields state.

    Attributes:
        faces: Boxes by page.
        stated: All form fields with what their template states.
        by_page: The same by page, for pages that are read by them.
        is_trusted: Whether the template is reliable.
    """

    faces: Mapping[int, Sequence[FaceBox]]
    stated: Sequence[StatedField]
    by_page: Mapping[int, Sequence[StatedField]]
    is_trusted: bool


def _read_form(source: Source, identity: Identity) -> _Form:
    """Read the boxes of a document's faces, and a form's fields from its template."""
    faces = find_faces(source, identity=identity)
    form_fields = find_form_fields(source) if identity.doc_type == "form" else FormFields()
    boxed = {number: len(boxes) > 1 for number, boxes in faces.items()}
    stated_fields = find_stated_fields(form_fields.fields, boxed_pages=boxed)
    by_page: dict[int, list[StatedField]] = {}
    for stated_field in stated_fields if form_fields.is_trusted else ():
        by_page.setdefault(stated_field.field.page, []).append(stated_field)
    return _Form(faces, stated_fields, by_page, form_fields.is_trusted)


def _name_columns(form: _Form, text: PrintedText) -> _Form:
    """Give the fields that say nothing the columns that are printed above them; faces with boxes have none."""
    by_page: dict[int, list[StatedField]] = {}
    for stated_field in form.stated:
        by_page.setdefault(stated_field.field.page, []).append(stated_field)
    fields_by_page = {
        page: page_fields if form.faces.get(page) else name_printed_columns(page_fields, text.lines[page])
        for page, page_fields in by_page.items()
    }
    if form.is_trusted:
        usable = fields_by_page
    else:
        usable = {}
        for page, page_fields in fields_by_page.items():
            fields_with_column = [stated_field for stated_field in page_fields if stated_field.column]
            if fields_with_column:
                usable[page] = fields_with_column
    return replace(
        form,
        stated=[stated_field for page_fields in fields_by_page.values() for stated_field in page_fields],
        by_page=usable,
    )


def _keep_tables(
    source: Source, tables_by_page: Mapping[int, list[FoundTable]], blocks: list[Block]
) -> tuple[dy.DataFrame[Tables], list[str]]:
    """Build the table rows; a table with a cell without a header is left as plain text, and its id is returned."""
    tables = build_tables(source, found_tables=[table for of_page in tables_by_page.values() for table in of_page])
    if not tables.height:
        return tables, []
    misread_ids = find_cells_without_path(tables)["table_id"].unique().sort().to_list()
    if misread_ids:
        tables = validated(tables.filter(~pl.col("table_id").is_in(misread_ids)), Tables)
        for block in blocks:
            block.table_id = None if block.table_id in misread_ids else block.table_id
    titles = dict(tables.select("table_id", "title").iter_rows())
    if not all(titles.values()):
        distant_titles = find_distant_titles(blocks, titles=titles)
        title_column = pl.col("table_id").replace_strict(
            distant_titles, default=pl.col("title"), return_dtype=pl.String
        )
        tables = validated(tables.with_columns(title=title_column), Tables) if distant_titles else tables
    return tables, misread_ids


def _check_tables(
    source: Source,
    *,
    elements: dy.DataFrame[Elements],
    anchors: dy.DataFrame[Anchors],
    sections: dy.DataFrame[Sections],
) -> None:
    """Refuse a document whose tables fail a check."""
    _refuse("pages_are_read", find_unread_pages(elements, source))
    _refuse("headings_form_a_tree", find_orphan_anchors(anchors))
    _refuse("headings_are_distinct", find_duplicate_anchors(anchors))
    _refuse("elements_have_one_owner", find_misowned_elements(elements, sections))
    _refuse("sections_have_headings", find_strayed_sections(sections, anchors))
    _refuse("pieces_cover_the_text", find_broken_pieces(sections))


def _find_official_addresses(source: Source, identity: Identity) -> Addresses:
    """Find a product's official addresses; a document that is not the publisher's has none."""
    pages = [*source.pages[: load_addresses().limits.pages], source.pages[-1]]
    if not is_published(" ".join(span.text for span in page.spans) for page in pages):
        return Addresses()
    return find_addresses(
        identity.irs_name,
        form=identity.form,
        doc_type=identity.doc_type,
        revision=identity.revision,
        is_draft=identity.is_draft,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read of a document, before it becomes tables: `shown` as printed, `source` upright."""

    shown: Source
    source: Source
    identity: Identity
    form: _Form
    lines: Mapping[int, Sequence[Line]]
    blocks: list[Block]
    tables: dy.DataFrame[Tables]
    document_id: str


def _build_frames(reading: _Reading, *, page_url: str | None) -> tuple[dict[str, pl.DataFrame], Sequence[str]]:
    """Build all tables of a document, which pass the checks; also return why links were left out."""
    source, shown_source, document_id = reading.source, reading.shown, reading.document_id
    anchors = build_anchors(reading.blocks, identity=reading.identity, document_id=document_id)
    sections = build_sections(reading.blocks, anchors, reading.tables, document_id=document_id)
    spans = build_spans(shown_source)
    elements = build_elements(reading.blocks, document_id=document_id)
    _refuse("spans_are_on_their_page", find_off_page_spans(spans, shown_source))
    _check_tables(source, elements=elements, anchors=anchors, sections=sections)
    places = find_named_places(source.navigation)
    found_links, reasons = find_links(source, places=places)
    finder = TargetFinder(anchors, sections=sections, elements=elements)
    frames_with_ids = add_publisher_ids(
        anchors, sections, tables=reading.tables, places=places.values(), finder=finder, page_url=page_url
    )
    links = build_links(found_links, pages=source.pages, places=places, finder=finder, document_id=document_id)
    form = reading.form
    frames = {
        "spans": spans,
        "elements": elements,
        "tables": frames_with_ids.tables,
        "anchors": frames_with_ids.anchors,
        "faces": build_faces(source, identity=reading.identity, face_boxes=form.faces),
        "fields": build_fields(
            form.stated,
            anchors=anchors,
            faces=form.faces,
            lines=reading.lines,
            document_id=document_id,
            is_trusted=form.is_trusted,
        ),
        "sections": frames_with_ids.sections,
        "links": links,
        "references": build_references(
            frames_with_ids.sections, frames_with_ids.anchors, identity=reading.identity, links=links
        ),
    }
    return restore_rotation(frames, shown_source=shown_source), reasons


@_without_garbage_collection()
def extract(
    data: bytes,
    *,
    document_id: str,
    is_text: bool = False,
    max_pages: int = 10_000,
    table_engine: str = "own",
    use_tags: bool = True,
) -> Extraction:
    """Extract all tables of a document: spans, elements, tables, anchors, faces, fields, sections and references.

    Args:
        data: Bytes of the file.
        document_id: Id of the document in all tables.
        is_text: Whether the file is plain text, not a PDF.
        max_pages: Maximum number of pages.
        table_engine: Name of the engine that finds tables, a key of `ENGINES`.
        use_tags: Whether to read pages by their structure tags where these are reliable.

    Returns:
        Tables by name, with the identity of the document and its quality warnings.

    Raises:
        StageError: The document cannot be read or fails a check; with stage, reason and remedy.
    """
    policy = TagTrust() if use_tags else None
    pages_as_shown = read_source(data, document_id=document_id, is_text=is_text, max_pages=max_pages, policy=policy)
    source = derotate_pages(pages_as_shown)
    identity = read_identity(source)
    form = _read_form(source, identity)
    source = drop_face_tags(source, faces={page for page, boxes in form.faces.items() if len(boxes) > 1})
    text = read_printed_text(source)
    engine = ENGINES["own" if is_text else table_engine]
    form = _name_columns(form, text)
    table_reading = engine.read(
        data, source.pages, faces={number for number, boxes in form.faces.items() if boxes}, text=text
    )
    tables_by_page = table_reading.found
    if identity.doc_type == "form":
        tables_by_page = {
            page.page: _drop_line_frames(tables_by_page[page.page], lines=text.lines[page.page])
            for page in source.pages
        }
    blocks = find_blocks(
        source,
        identity=identity,
        regions={page: [table.region for table in tables] for page, tables in tables_by_page.items()},
        face_boxes=form.faces,
        text=text,
        stated=form.by_page,
    )
    tables, misread_ids = _keep_tables(source, tables_by_page, blocks)
    addresses = _find_official_addresses(source, identity)
    reading = _Reading(pages_as_shown, source, identity, form, text.lines, blocks, tables, document_id)
    frames, reasons = _build_frames(reading, page_url=addresses.page_url)
    engine_notes = (*table_reading.warnings, *_note_engine(engine.name), *_note_misread_tables(misread_ids))
    return Extraction(
        frames=frames,
        identity=identity,
        page_count=len(source.pages),
        warnings=(*source.warnings, *source.navigation.reasons, *reasons, *engine_notes),
        image_only_pages=tuple(page.page for page in source.pages if not any(s.text.strip() for s in page.spans)),
        hidden_texts=source.hidden_texts,
        addresses=addresses,
        page_sources=find_page_sources(
            source,
            template_pages={
                page
                for page, stated_fields in form.by_page.items()
                if any(stated_field.key for stated_field in stated_fields)
            },
        ),
    )
