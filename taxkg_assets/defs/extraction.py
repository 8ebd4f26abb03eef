"""The extraction: one step reads documents and makes all their tables, as `extract` does; and their gates.

What a click makes is what the graph shows: a table of this stage is never made without the others, for one pure
function makes them all of a document's bytes. The edges inside the step are those of that function.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.proposers import open_proposer
from taxkg_assets.defs.ingest.intake import PER_DOCUMENT, admit_documents, folder_of, publish
from taxkg_assets.defs.ingest.llm_refinement import build_resolved_references
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.gold import open_labels
from taxkg_assets.defs.wiring.output_rows import DocumentBatches
from taxkg_assets.defs.wiring.registry import PIPELINE, TableRecord
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import DOCUMENT_PARTITIONS, asset_arguments, snake
from taxkg_assets.defs.wiring.table_builder import TableBuilder
from taxkg_assets.defs.wiring.verdicts import Verdict
from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.extraction_scores import (
    LabeledScore,
    find_floor_faults,
    score_ownership,
    score_roles,
    score_tables,
)
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.evaluation.reliability import find_unsure, find_unsure_owners, find_unsure_tables
from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.forms.faces import build_faces
from taxkg_assets.extraction.forms.fields import build_fields
from taxkg_assets.extraction.invariants import (
    find_broken_pieces,
    find_duplicate_anchors,
    find_false_evidence,
    find_misowned_elements,
    find_orphan_anchors,
    find_strayed_sections,
)
from taxkg_assets.extraction.references.references import build_references
from taxkg_assets.extraction.spans import build_spans
from taxkg_assets.extraction.structure.anchors import build_anchors
from taxkg_assets.extraction.structure.elements import build_elements
from taxkg_assets.extraction.structure.links import build_links
from taxkg_assets.extraction.structure.sections import build_sections
from taxkg_assets.extraction.tables.tables import build_tables
from taxkg_assets.rules.floors import load_floors
from taxkg_assets.sources.documents import build_documents
from taxkg_assets.sources.quarantine import build_quarantine


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that is built while a document is read.

    Attributes:
        schema: Schema class of the table.
        made_from: Tables of the same reading that it is made from.
        arguments: Arguments of its Dagster asset: group, description, columns, links to the code.
    """

    schema: type[dy.Schema]
    made_from: tuple[str, ...]
    arguments: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the table's name."""
        return snake(self.schema.__name__)


def declare_read_table(
    schema: type[dy.Schema], build: Callable[..., Any], *made_from: str, group: str = "extraction"
) -> ReadTable:
    """Declare a table that is built while a document is read.

    Args:
        schema: Schema class of the table.
        build: Builder of the table.
        made_from: Tables of the same reading that it is made from.
        group: Stage of the pipeline.
    """
    return ReadTable(schema, made_from, asset_arguments(schema, build, group=group, reading=extract))


READ_TABLES = (
    declare_read_table(schemas.Documents, build_documents, group="sources"),
    declare_read_table(schemas.Quarantine, build_quarantine, group="sources"),
    declare_read_table(schemas.Spans, build_spans, "documents"),
    declare_read_table(schemas.Tables, build_tables, "documents"),
    declare_read_table(schemas.Faces, build_faces, "documents"),
    declare_read_table(schemas.Elements, build_elements, "documents", "tables", "faces"),
    declare_read_table(schemas.Anchors, build_anchors, "documents", "elements"),
    declare_read_table(schemas.Fields, build_fields, "documents", "elements", "anchors", "faces"),
    declare_read_table(schemas.Sections, build_sections, "documents", "elements", "anchors", "tables"),
    declare_read_table(schemas.Links, build_links, "documents", "elements", "sections", "anchors"),
    declare_read_table(schemas.References, build_references, "documents", "sections", "anchors", "links"),
)
"""The tables of one reading, in the order in which `extract` makes them."""

for _table in READ_TABLES:
    PIPELINE.add(TableRecord(_table.name, _table.made_from, functions=(extract,)))


@dg.multi_asset(
    name="extraction",
    outs={spec.name: dg.AssetOut(**spec.arguments) for spec in READ_TABLES},
    internal_asset_deps={spec.name: {dg.AssetKey(n) for n in spec.made_from} for spec in READ_TABLES},
    partitions_def=DOCUMENT_PARTITIONS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    required_resource_keys={"home"},
)
def extraction(context: dg.AssetExecutionContext) -> Iterator[dg.Output[DocumentBatches]]:
    """Read the new and changed documents of the partitions, and commit their rows to all extraction tables.

    An unchanged document is not read again. A document that cannot be read or fails a check goes to `quarantine`, and
    its previous rows stay.

    Args:
        context: Context of the Dagster step, with the partitions.
    """
    home: Home = context.resources.home
    intake = admit_documents(home, context.partition_keys)
    yield dg.Output(DocumentBatches([intake.documents]), "documents")
    yield dg.Output(DocumentBatches([intake.quarantine]), "quarantine")
    for spec in READ_TABLES:
        if spec.name in PER_DOCUMENT:
            yield dg.Output(DocumentBatches(publish(home, spec.name, context.partition_keys)), spec.name)


# To estimate the calls of a model, make the table separately.
PIPELINE["references"].builder = TableBuilder(
    build_resolved_references,
    reads=("documents",),
    resources={"folder_of": lambda home: partial(folder_of, home.store), "proposer": open_proposer},
    has_settings=False,
)


# ------------------------------------------------------------------------------------------------------- gates


def compare_with_floors(
    score: LabeledScore, *, on: str, checked: int, uncertain_rows: pl.DataFrame | None = None
) -> Verdict:
    """Compare a score on labeled documents with the floors of a table.

    Args:
        score: Score on the labels.
        on: Table whose floors apply.
        checked: Number of rows of the table.
        uncertain_rows: Rows of low confidence, to list for review; None for none.

    Returns:
        Verdict; without labeled rows it passes and says that nothing was measured.
    """
    floors = load_floors(on)
    missed_floors = find_floor_faults(score, floors)
    tables = {"reliability on labeled rows": score.reliability}
    review_count: dict[str, float | int | str] = {}
    if uncertain_rows is not None:
        tables["for review, least sure first"] = uncertain_rows
        review_count["rows for review"] = uncertain_rows.height
    if not score.n_rows:
        note = "not measured: no labeled row belongs to these documents"
        return Verdict(
            missed_floors,
            checked,
            note=note,
            figures=review_count,
            is_passed=True,
            is_measured=False,
            tables=tables,
            floors=floors,
        )
    figures = {name: value for name, value in score.figures.items() if value is not None}
    return Verdict(
        score.misses if missed_floors.height else score.misses.clear(),
        checked,
        note="; ".join(missed_floors["reason"]),
        figures={**figures, "labeled rows": score.n_rows, **review_count},
        is_passed=missed_floors.is_empty(),
        tables=tables,
        floors=floors,
    )


@gate(on="elements", reads=("documents",), measures=True)
def roles_on_labeled_documents(
    elements: dy.DataFrame[schemas.Elements], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """The accuracy of roles on labeled lines reaches the floor."""
    score = score_roles(elements, open_labels(home), documents=documents)
    unsure = find_unsure(elements, text="text", confidence="role_confidence")
    return compare_with_floors(score, on="elements", checked=elements.height, uncertain_rows=unsure)


@gate(on="anchors")
def anchors_form_trees(anchors: dy.DataFrame[schemas.Anchors]) -> Verdict:
    """Every parent heading exists in its document, headings form no cycle, and repeated headings are numbered."""
    columns = ["anchor_id", "document_id"]
    faults = [find_orphan_anchors(anchors).select(columns), find_duplicate_anchors(anchors).select(columns)]
    return Verdict(pl.concat(faults), anchors.height)


@gate(on="anchors", reads=("documents",), measures=True)
def headings_on_labeled_documents(
    anchors: dy.DataFrame[schemas.Anchors], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """Recall and precision of structural headings on labeled pages reach the floors."""
    score = score_anchors(anchors, open_labels(home), documents=documents)
    return compare_with_floors(
        score, on="anchors", checked=anchors.height, uncertain_rows=find_unsure(anchors, text="heading")
    )


@gate(on="sections", reads=("elements", "anchors"))
def every_element_has_one_owner(
    sections: dy.DataFrame[schemas.Sections],
    elements: dy.DataFrame[schemas.Elements],
    anchors: dy.DataFrame[schemas.Anchors],
) -> Verdict:
    """Every content element is in exactly one row of `sections`, and its owner is an anchor of its document."""
    faults_of_ownership = find_misowned_elements(elements, sections).select("document_id", "element_id")
    foreign_owners = find_strayed_sections(sections, anchors).select("document_id", "element_id")
    return Verdict(pl.concat([faults_of_ownership, foreign_owners]), sections.height)


@gate(on="sections")
def pieces_cover_the_text(sections: dy.DataFrame[schemas.Sections]) -> Verdict:
    """The pieces of a row cover its text from end to end, each with a rectangle on a page."""
    return Verdict(find_broken_pieces(sections), sections.height)


@gate(on="sections", reads=("anchors", "documents"), measures=True)
def owners_on_labeled_documents(
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
    documents: dy.DataFrame[schemas.Documents],
    home: Home,
) -> Verdict:
    """The accuracy of owning headings on labeled paragraphs reaches the floor."""
    score = score_ownership(sections, open_labels(home), anchors=anchors, documents=documents)
    unsure = find_unsure_owners(sections, anchors)
    return compare_with_floors(score, on="sections", checked=sections.height, uncertain_rows=unsure)


@gate(on="tables", reads=("documents",), measures=True)
def cells_on_labeled_documents(
    tables: dy.DataFrame[schemas.Tables], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """The share of labeled cells that have the labeled row and column headers reaches the floor."""
    score = score_tables(tables, open_labels(home), documents=documents)
    return compare_with_floors(score, on="tables", checked=tables.height, uncertain_rows=find_unsure_tables(tables))


@gate(on="references", reads=("anchors", "documents"), measures=True)
def references_on_labeled_documents(
    references: dy.DataFrame[schemas.References],
    anchors: dy.DataFrame[schemas.Anchors],
    documents: dy.DataFrame[schemas.Documents],
    home: Home,
) -> Verdict:
    """The accuracy of references in the labeled documents reaches the floor."""
    score = score_references(references, open_labels(home), anchors=anchors, documents=documents)
    unsure = find_unsure(references, text="evidence")
    return compare_with_floors(score, on="references", checked=references.height, uncertain_rows=unsure)


@gate(on="references", reads=("sections",))
def evidence_is_verbatim(
    references: dy.DataFrame[schemas.References], sections: dy.DataFrame[schemas.Sections]
) -> Verdict:
    """The evidence of every reference equals the text at its recorded offsets."""
    return Verdict(find_false_evidence(references, sections), references.height)
