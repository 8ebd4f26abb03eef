"""The IO manager: writes validated rows to Delta tables, and hands on only what its gates have passed.

It refuses a table whose gates are not passed and current, so that a bare click on Materialize cannot build on failed
data.
"""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import dagster as dg

from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring.column_lineage import column_lineage
from taxkg_assets.defs.wiring.compat import add_partition_metadata, set_data_version, step_of
from taxkg_assets.defs.wiring.document_rows import PREVIEW_ROWS, describe_documents, link_explorer
from taxkg_assets.defs.wiring.early_gates import record_output
from taxkg_assets.defs.wiring.gates import UngatedInputError, find_ungated
from taxkg_assets.defs.wiring.output_rows import DocumentBatches, Rows, WholeTable, Written
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.verdicts import shortened, table_metadata

_ungated: WeakKeyDictionary[Any, Mapping[str, str]] = WeakKeyDictionary()
"""What is wrong with the gates above the inputs of a step, by the step's context, for as long as it runs."""


class DeltaIO(dg.ConfigurableIOManager):
    """Dagster IO manager that writes validated rows to the home's Delta tables and reads only gated tables."""

    home: dg.ResourceDependency[Home]

    def handle_output(self, context: dg.OutputContext, obj: Rows) -> None:
        """Validate and commit the rows of a step, and show row count and preview.

        Args:
            context: Context of the step.
            obj: What the step returned: new rows, or that they are written already or unchanged.
        """
        name = context.asset_key.to_user_string()
        store, explorer_url = self.home.store, self.home.settings.explorer_url
        if isinstance(obj, WholeTable):
            description = write_whole(store, name, obj)
        elif isinstance(obj, Written):
            description = obj
        else:
            version_before = store.version(name)
            for frame, documents in obj.batches if isinstance(obj, DocumentBatches) else ():
                if documents:
                    store.replace_documents(name, frame, documents=documents)
            # With partitions, each shows its own document; rows of another document would mislead.
            description = describe(
                store, name, version_before=version_before, has_preview=not context.has_asset_partitions
            )
            if context.has_asset_partitions:
                document_ids = context.asset_partition_keys
                described = describe_documents(store, name, document_ids, explorer_url=explorer_url)
                add_partition_metadata(context, described)
        # Equal rows have an equal data version: the UI then does not call what was made from them unsynced.
        set_data_version(context, description.content)
        links = link_explorer(explorer_url) if name == "release" and explorer_url else {}
        context.add_output_metadata({**description.metadata, **links})
        record_output(self.home, name, is_changed=not description.metadata["unchanged"])

    def load_input(self, context: dg.InputContext) -> TableState:
        """Return the state of an input table if its gates, and those of all its own inputs, passed and are current.

        Args:
            context: Context of the step.

        Raises:
            UngatedInputError: One of these gates has not passed on the current tables, or the table is not built.
        """
        name = context.asset_key.to_user_string()
        ancestors = PIPELINE.ancestors([name])
        ungated = self._find_ungated_of_step(context)
        faults_above = [
            f"{gate} {reason}" for gate, reason in sorted(ungated.items()) if gate.partition(":")[0] in ancestors
        ]
        if faults_above:
            fault_list = "; ".join(faults_above)
            raise UngatedInputError(
                f"{name} cannot be used yet, because these gates have not passed on the current tables: {fault_list}. "
                "Fix the data or the code, then run `taxkg build`, or materialize these tables with their checks."
            )
        state = self.home.store.state(name)
        if state is None:
            raise UngatedInputError(f"{name} has not been built. Run `taxkg build`, or materialize it first.")
        return state

    def _find_ungated_of_step(self, context: dg.InputContext) -> Mapping[str, str]:
        """Return the gates above any input of a step that are not passed and current, looked up once per step."""
        step = step_of(context)
        if step not in _ungated:
            tables = {key.to_user_string() for key in step.get_output_asset_keys()} & set(PIPELINE)
            inputs = {
                context.asset_key.to_user_string(),
                *(name for table in tables for name in PIPELINE.upstream(table)),
            }
            _ungated[step] = find_ungated(context.instance, self.home.store, PIPELINE.ancestors(inputs))
        return _ungated[step]


def write_whole(store: Store, name: str, rows: WholeTable) -> Written:
    """Replace a whole table with new rows.

    Args:
        store: Tables of the home.
        name: Table.
        rows: Rows with the digest of their inputs.

    Returns:
        Digest of the content, and the metadata that the UI shows.
    """
    version_before = store.version(name)
    store.write(name, rows.frame, inputs=rows.inputs, documents=rows.parts)
    return describe(store, name, version_before=version_before, notes=rows.notes)


def describe(
    store: Store, name: str, *, version_before: int, notes: Mapping[str, Any] | None = None, has_preview: bool = True
) -> Written:
    """Return what the UI shows of a table, creating the table empty if no document has rows for it.

    Args:
        store: The home's tables.
        name: Table.
        version_before: Version that the table had before this step.
        notes: More metadata to show.
        has_preview: Whether to show the table's first rows.

    Returns:
        The content's digest and the metadata.
    """
    state = store.state(name) or store.write(name, schema_of(name).create_empty(), inputs="")
    metadata = {
        "dagster/row_count": store.count(name),
        "dagster/uri": store.table_uri(name),
        "dagster/table_name": name,
        "version": state.version,
        "content": state.content,
        "unchanged": state.version == version_before,
        **(notes or {}),
    }
    if lineage := column_lineage(name):
        metadata["dagster/column_lineage"] = lineage
    if has_preview:
        metadata["preview"] = table_metadata(shortened(store.head(name, PREVIEW_ROWS)))
    if name in PIPELINE and (show := PIPELINE[name].show):
        metadata |= show(store)
    return Written(state.content, metadata)
