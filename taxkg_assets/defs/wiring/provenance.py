"""Tables that are current, but whose last materialization recorded other inputs: the UI calls them unsynced.

A training materializes its model table also where no model is promoted. The tables that read the model in use are then
current, and a build has nothing to do, but Dagster compares the versions of the model table.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from taxkg_assets.defs.wiring.compat import data_version_of, input_versions_of
from taxkg_assets.defs.wiring.registry import PIPELINE


def find_unsynced(instance: dg.DagsterInstance) -> list[str]:
    """Find the tables of a build whose inputs have other data versions than their last materialization recorded.

    Args:
        instance: Dagster instance of the home.

    Returns:
        Names of tables in pipeline order. The inputs that are read from documents have a version for each document;
        they are not compared.
    """
    records = instance.get_asset_records([dg.AssetKey(name) for name in PIPELINE])
    events = {
        record.asset_entry.asset_key.to_user_string(): record.asset_entry.last_materialization for record in records
    }
    materializations = {
        name: event.asset_materialization
        for name, event in events.items()
        if event is not None and event.asset_materialization is not None
    }
    versions = {
        name: data_version_of(materialization)
        for name, materialization in materializations.items()
        if materialization.partition is None
    }
    return [
        name
        for name in PIPELINE.built()
        if name in versions and _has_new_input(input_versions_of(materializations[name]), versions)
    ]


def _has_new_input(recorded: Mapping[str, str], versions: Mapping[str, str]) -> bool:
    return any(name in versions and version != versions[name] for name, version in recorded.items())
