"""Assets of the stage `extraction`: each publishes its frames of the documents that were read; and their gates."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs._table import (
    DOCUMENT_PARTITIONS,
    MAKERS,
    OFFENDING_ROWS,
    UPSTREAM,
    DocumentBatches,
    Handle,
    Maker,
    Rows,
    Verdict,
    asset_arguments,
    gate,
    snake,
)
from taxkg_assets.defs.gold import open_labels
from taxkg_assets.defs.intake import folder_of, publish
from taxkg_assets.defs.proposers import open_proposer
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.settling import build_settled_references
from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.extraction_scores import (
    LabelledScore,
    find_floor_faults,
    score_ownership,
    score_roles,
    score_tables,
)
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.evaluation.reliability import find_unsure, find_unsure_owners, find_unsure_tables
from taxkg_assets.extraction.forms.faces import build_faces
from taxkg_assets.extraction.invariants import (
    find_boxes_without_face,
    find_broken_pieces,
    find_invented_boxes,
    find_misowned_elements,
    find_orphan_anchors,
    find_silent_pages,
    find_strayed_sections,
    find_twin_anchors,
    find_unanchored_boxes,
)
from taxkg_assets.extraction.references.references import build_references
from taxkg_assets.extraction.spans import build_spans
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.elements import build_elements
from taxkg_assets.extraction.structure.links import build_links
from taxkg_assets.extraction.structure.sections import build_sections
from taxkg_assets.extraction.tables.tables import build_tables, find_cells_without_path
from taxkg_assets.graph.integrity import find_reference_faults
from taxkg_assets.rules.floors import load_floors
from taxkg_assets.sources.quarantine import are_too_many


def extracted(schema: type[dy.Schema], build: Callable[..., Any], *, upstream: tuple[str, ...]) -> dg.AssetsDefinition:
    """Make the asset of a per-document table.

    Its rows were made when the document was read (one pure function from bytes to all frames); the step commits those
    of the run's partitions, batch by batch, and skips documents whose reading the table already holds.
    """
    name = snake(schema.__name__)
    UPSTREAM[name] = upstream

    def step(context: dg.AssetExecutionContext, **inputs: Handle) -> Rows:
        home: Home = context.resources.home
        return DocumentBatches(publish(home, name, context.partition_keys))

    made: dg.AssetsDefinition = dg.asset(
        name=name,
        ins={n: dg.AssetIn(n) for n in upstream},
        partitions_def=DOCUMENT_PARTITIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        required_resource_keys={"home"},
        **asset_arguments(schema, build, group="extraction"),
    )(step)
    return made


spans = extracted(schemas.Spans, build_spans, upstream=("documents",))
elements = extracted(schemas.Elements, build_elements, upstream=("documents", "spans"))
tables = extracted(schemas.Tables, build_tables, upstream=("documents", "elements"))
anchors = extracted(schemas.Anchors, build_anchors, upstream=("documents", "elements"))
faces = extracted(schemas.Faces, build_faces, upstream=("documents", "spans"))
sections = extracted(schemas.Sections, build_sections, upstream=("documents", "elements", "tables", "anchors"))
links = extracted(schemas.Links, build_links, upstream=("documents", "elements", "sections", "anchors"))
references = extracted(schemas.References, build_references, upstream=("documents", "sections", "anchors", "links"))

# Whoever wants to know what a model would be asked makes the table aside.
MAKERS["references"] = Maker(
    build_settled_references,
    reads=("documents",),
    handles={"folder_of": lambda home: partial(folder_of, home.store), "proposer": open_proposer},
    has_settings=False,
)


# ------------------------------------------------------------------------------------------------------- gates


def measured(score: LabelledScore, *, on: str, checked: int, unsure: pl.DataFrame | None = None) -> Verdict:
    """A labelled figure against the floors of a table; without labelled rows it says so and leaves it to the laws.

    What is not sure, where the rows have a confidence, is counted and listed for review, whatever was measured.
    """
    faults = find_floor_faults(score, load_floors(on))
    shown = {"reliability on labelled rows": score.reliability}
    review: dict[str, float | int | str] = {}
    if unsure is not None:
        shown["for review, least sure first"] = unsure
        review["rows for review"] = unsure.height
    if not score.n_rows:
        note = "not measured: no labelled row belongs to these documents"
        return Verdict(faults, checked, note=note, figures=review, is_passed=True, tables=shown)
    figures = {name: value for name, value in score.figures.items() if value is not None}
    return Verdict(
        score.misses if faults.height else score.misses.clear(),
        checked,
        note="; ".join(faults["reason"]),
        figures={**figures, "labelled rows": score.n_rows, **review},
        is_passed=faults.is_empty(),
        tables=shown,
    )


def named_first(
    offending: pl.DataFrame,
    documents: dy.DataFrame[schemas.Documents],
    *,
    checked: int,
    figures: Mapping[str, float | int | str] | None = None,
) -> Verdict:
    """Name the documents whose rows offend; only so many as may not be withheld either stop the corpus."""
    faulty = sorted(set(offending["document_id"]))
    is_passed = not are_too_many(len(faulty), documents.height)
    note = f"to be looked at: {', '.join(faulty)}" if faulty else ""
    return Verdict(offending, checked, note=note, figures=figures or {}, is_passed=is_passed)


@gate(on="elements", reads=("documents",))
def roles_on_labelled_documents(
    elements: dy.DataFrame[schemas.Elements], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """Roles of labelled lines are right at least as often as the floor says."""
    score = score_roles(elements, open_labels(home), documents=documents)
    unsure = find_unsure(elements, text="text", confidence="role_confidence")
    return measured(score, on="elements", checked=elements.height, unsure=unsure)


@gate(on="elements", reads=("documents",))
def every_page_has_text(
    elements: dy.DataFrame[schemas.Elements], documents: dy.DataFrame[schemas.Documents]
) -> Verdict:
    """Every page has an element, or its document lists it as image-only or blank."""
    return Verdict(find_silent_pages(elements, documents), int(documents["page_count"].sum()))


@gate(on="anchors")
def anchors_form_trees(anchors: dy.DataFrame[schemas.Anchors]) -> Verdict:
    """Every parent exists in its document and none is its own ancestor; real repeats are numbered."""
    columns = ["anchor_id", "document_id"]
    faults = [find_orphan_anchors(anchors).select(columns), find_twin_anchors(anchors).select(columns)]
    return Verdict(pl.concat(faults), anchors.height)


@gate(on="anchors", reads=("faces", "documents", "elements"))
def every_box_is_explained(
    anchors: dy.DataFrame[schemas.Anchors],
    faces: dy.DataFrame[schemas.Faces],
    documents: dy.DataFrame[schemas.Documents],
    elements: dy.DataFrame[schemas.Elements],
) -> Verdict:
    """Every box of a face has its anchor in the instructions, unless no line there begins with its key.

    A document that leaves boxes out is named; only too many such documents stop what follows.
    """
    found = find_unanchored_boxes(faces, anchors, documents=documents, elements=elements)
    excused = found.filter("is_excused")
    listed = ", ".join(f"{d} {k}" for d, k in excused.select("document_id", "box_key").head(OFFENDING_ROWS).iter_rows())
    faceless = find_boxes_without_face(faces, anchors, documents=documents)
    bare = ", ".join(faceless["document_id"].head(OFFENDING_ROWS))
    figures = {"without a line of their own": excused.height} | ({"listed": listed} if listed else {})
    figures |= {"forms that speak of boxes and show none": faceless.height} | ({"those forms": bare} if bare else {})
    return named_first(found.filter(~pl.col("is_excused")), documents, checked=faces.height, figures=figures)


@gate(on="anchors", reads=("faces", "documents"))
def no_box_is_invented(
    anchors: dy.DataFrame[schemas.Anchors],
    faces: dy.DataFrame[schemas.Faces],
    documents: dy.DataFrame[schemas.Documents],
) -> Verdict:
    """No anchor speaks of a box that the face of its form and revision does not print.

    A document with such an anchor is named; only too many such documents stop what follows.
    """
    return named_first(find_invented_boxes(faces, anchors, documents=documents), documents, checked=anchors.height)


@gate(on="anchors", reads=("documents",))
def headings_on_labelled_documents(
    anchors: dy.DataFrame[schemas.Anchors], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """Structural headings of labelled pages are found, and none invented, as well as the floor says."""
    score = score_anchors(anchors, open_labels(home), documents=documents)
    return measured(score, on="anchors", checked=anchors.height, unsure=find_unsure(anchors, text="heading"))


@gate(on="sections", reads=("elements", "anchors"))
def every_element_has_one_owner(
    sections: dy.DataFrame[schemas.Sections],
    elements: dy.DataFrame[schemas.Elements],
    anchors: dy.DataFrame[schemas.Anchors],
) -> Verdict:
    """Every content element stands in exactly one row, and every row's owner is an anchor of its document."""
    misowned = find_misowned_elements(elements, sections).select("document_id", "element_id")
    strayed = find_strayed_sections(sections, anchors).select("document_id", "element_id")
    return Verdict(pl.concat([misowned, strayed]), sections.height)


@gate(on="sections")
def pieces_cover_the_text(sections: dy.DataFrame[schemas.Sections]) -> Verdict:
    """The pieces of a row cover its text from end to end, each with a rectangle on a page."""
    return Verdict(find_broken_pieces(sections), sections.height)


@gate(on="sections", reads=("anchors", "documents"))
def owners_on_labelled_documents(
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
    documents: dy.DataFrame[schemas.Documents],
    home: Home,
) -> Verdict:
    """Labelled paragraphs hang on the labelled heading at least as often as the floor says."""
    score = score_ownership(sections, open_labels(home), anchors=anchors, documents=documents)
    unsure = find_unsure_owners(sections, anchors)
    return measured(score, on="sections", checked=sections.height, unsure=unsure)


@gate(on="tables", reads=("documents",))
def cells_on_labelled_documents(
    tables: dy.DataFrame[schemas.Tables], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """Labelled cells are found under their row and column headers at least as often as the floor says."""
    score = score_tables(tables, open_labels(home), documents=documents)
    return measured(score, on="tables", checked=tables.height, unsure=find_unsure_tables(tables))


@gate(on="tables")
def no_cell_without_path(tables: dy.DataFrame[schemas.Tables]) -> Verdict:
    """Every cell of a table with headers is reached by a row or a column header."""
    return Verdict(find_cells_without_path(tables), tables.height)


@gate(on="references", reads=("anchors", "documents"))
def references_on_labelled_documents(
    references: dy.DataFrame[schemas.References],
    anchors: dy.DataFrame[schemas.Anchors],
    documents: dy.DataFrame[schemas.Documents],
    home: Home,
) -> Verdict:
    """References inside the labelled scope are right at least as often as the floor says."""
    score = score_references(references, open_labels(home), anchors=anchors, documents=documents)
    unsure = find_unsure(references, text="evidence")
    return measured(score, on="references", checked=references.height, unsure=unsure)


@gate(on="references", reads=("sections",))
def evidence_is_verbatim(
    references: dy.DataFrame[schemas.References], sections: dy.DataFrame[schemas.Sections]
) -> Verdict:
    """The evidence of every reference is the slice of its element's text that the offsets give."""
    return Verdict(find_reference_faults(references, sections), references.height)
