"""What the UI shows on a table's page besides its columns: owner, tags, freshness, description, example query.

The schema says what a row is; the wiring says what the table is made from and what its gates are. Both are known only
when all stages are wired, so pages are completed afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.wiring.asset_notes import NOTES
from taxkg_assets.defs.wiring.column_lineage import find_column_sources
from taxkg_assets.defs.wiring.registry import PIPELINE, TableRecord
from taxkg_assets.defs.wiring.table_asset import TRAINING_GROUPS

OWNERS: Mapping[str, str] = {
    "sources": "team:documents",
    "extraction": "team:documents",
    "quality": "team:documents",
    "chunking": "team:documents",
    "graph": "team:graph",
    "questions": "team:retrieval",
    "retrieval": "team:retrieval",
    "evaluation": "team:retrieval",
    "release": "team:retrieval",
    "llm": "team:retrieval",
    "training": "team:training",
    "reranking": "team:training",
}
"""Owner of the tables of each stage."""

FRESHNESS = dg.FreshnessPolicy.time_window(warn_window=timedelta(days=100), fail_window=timedelta(days=400))
"""The IRS revises most products once a year: a library in which nothing changed for 400 days lacks a year."""

_CLAUSES = re.compile(r" (?=(?:FROM|WHERE|GROUP BY|ORDER BY|HAVING|LIMIT|(?:LEFT |CROSS )?JOIN)\b)")
"""Blanks before the clauses of an example: the page of a table cuts long lines."""

COLUMN_SCHEMA, MOST_SOURCES = "dagster/column_schema", 3

DATED = frozenset({"documents", "release"})
"""Tables that say how old the library is; the age of those between them follows."""


def add_asset_pages(assets: Iterable[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """Add to each asset its documentation page in the Dagster UI: row, key, inputs, gates, example.

    Args:
        assets: Assets of all stages, wired.
    """
    return [asset.map_asset_specs(_complete) for asset in assets]


def _complete(spec: dg.AssetSpec) -> dg.AssetSpec:
    name = spec.key.to_user_string()
    stage = stage_of(spec.group_name or "")
    return spec.replace_attributes(
        owners=[OWNERS[stage]],
        tags={**spec.tags, **_find_tags(spec, stage=stage)},
        description=describe_table(PIPELINE[name]),
        metadata={**_name_column_sources(spec, name), "dagster/table_name": name},
        freshness_policy=FRESHNESS if name in DATED else None,
    )


def _name_column_sources(spec: dg.AssetSpec, name: str) -> dict[str, Any]:
    """Return the metadata of a table with the origin of each column in its description: the UI shows it nowhere else.

    Args:
        spec: The asset.
        name: Its table.
    """
    schema = spec.metadata.get(COLUMN_SCHEMA)
    sources_of = find_column_sources(name)
    if not isinstance(schema, dg.TableSchema):
        return dict(spec.metadata)

    def describe(column: dg.TableColumn) -> str:
        sources = sources_of.get(column.name, ())
        names = ", ".join(f"`{source}`" for source in sources[:MOST_SOURCES])
        more = ", …" if len(sources) > MOST_SOURCES else ""
        return "\n\n".join(filter(None, (column.description, names and f"from {names}{more}")))

    columns = [
        dg.TableColumn(column.name, column.type, description=describe(column), constraints=column.constraints)
        for column in schema.columns
    ]
    return {**spec.metadata, COLUMN_SCHEMA: dg.TableSchema(columns, constraints=schema.constraints)}


def stage_of(group: str) -> str:
    """Return the pipeline stage of a UI group.

    Args:
        group: Name of the group, e.g. `search/retrieval`.
    """
    return group.rpartition("/")[2]


def _find_tags(spec: dg.AssetSpec, *, stage: str) -> dict[str, str]:
    """Return the tags that assets can be filtered by."""
    return {
        "taxkg/stage": stage,
        "taxkg/made-by": "train" if stage in TRAINING_GROUPS else "build",
        "taxkg/partitioned": "by-document" if spec.partitions_def is not None else "no",
    }


def describe_table(record: TableRecord) -> str:
    """Describe a table in Markdown: what a row is and its caveats, its key, inputs, gates and an example.

    The catalog shows the first words only, and Markdown as it is written: they are plain text.

    Args:
        record: Entry of the pipeline, with its gates.
    """
    schema = schema_of(record.name)
    note = NOTES[record.name]
    input_names = ", ".join(f"`{name}`" for name in (*record.upstream, *record.optional)) or "the sources"
    gates = ", ".join(f"`{name}`" for name in PIPELINE.gates(record.name)) or "none of its own"
    key = ", ".join(f"`{column}`" for column in schema.primary_key())
    return "\n\n".join(
        [
            f"{' '.join((schema.__doc__ or '').split())} Caveat: {note.caveat}",
            f"**Key** {key}\n\n**Made from** {input_names}\n\n**Gates** {gates}",
            f"**Example**\n```sql\n{_CLAUSES.sub(chr(10), note.query)}\n```",
        ]
    )
