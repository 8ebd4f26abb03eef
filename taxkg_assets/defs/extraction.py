"""Assets of the stage `extraction`: each publishes its frames of the documents that were read; and their gates."""

from collections.abc import Callable
from typing import Any

import dagster as dg
import dataframely as dy

from taxkg_assets import schemas
from taxkg_assets.defs._table import (
    CONDITION,
    DOCUMENT_PARTITIONS,
    UPSTREAM,
    DocumentBatches,
    Handle,
    asset_arguments,
    snake,
)
from taxkg_assets.defs.intake import publish
from taxkg_assets.defs.resources import Home
from taxkg_assets.extraction.anchors import build_anchors
from taxkg_assets.extraction.elements import build_elements
from taxkg_assets.extraction.faces import build_faces
from taxkg_assets.extraction.references import build_references
from taxkg_assets.extraction.sections import build_sections
from taxkg_assets.extraction.spans import build_spans
from taxkg_assets.extraction.tables import build_tables


def extracted(schema: type[dy.Schema], build: Callable[..., Any], *, upstream: tuple[str, ...]) -> dg.AssetsDefinition:
    """Make the asset of a per-document table.

    Its rows were made when the document was read (one pure function from bytes to all frames); the step commits those
    of the run's partitions, batch by batch, and skips documents whose reading the table already holds.
    """
    name = snake(schema.__name__)
    UPSTREAM[name] = upstream

    def step(context: dg.AssetExecutionContext, **inputs: Handle) -> DocumentBatches:
        home: Home = context.resources.home
        return DocumentBatches(publish(home, name, context.partition_keys))

    made: dg.AssetsDefinition = dg.asset(
        name=name,
        ins={n: dg.AssetIn(n) for n in upstream},
        partitions_def=DOCUMENT_PARTITIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        required_resource_keys={"home"},
        automation_condition=CONDITION,
        **asset_arguments(schema, build, group="extraction"),
    )(step)
    return made


spans = extracted(schemas.Spans, build_spans, upstream=("documents",))
elements = extracted(schemas.Elements, build_elements, upstream=("documents", "spans"))
tables = extracted(schemas.Tables, build_tables, upstream=("documents", "elements"))
anchors = extracted(schemas.Anchors, build_anchors, upstream=("documents", "elements"))
faces = extracted(schemas.Faces, build_faces, upstream=("documents", "spans"))
sections = extracted(schemas.Sections, build_sections, upstream=("documents", "elements", "tables", "anchors"))
references = extracted(schemas.References, build_references, upstream=("documents", "sections", "anchors"))
