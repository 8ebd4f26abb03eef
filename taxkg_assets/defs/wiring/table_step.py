"""The step that makes one table: reads what it is made from, builds its rows, drops invalid ones, writes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.defects import DEFECTS, describe_defect, drop_documents
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.home.timing import keep_times, timed
from taxkg_assets.defs.wiring.isolation import build_isolated, find_documents, names_of, record_failures
from taxkg_assets.defs.wiring.output_rows import WholeTable
from taxkg_assets.defs.wiring.parts import (
    Part,
    Parts,
    digest_parts,
    digest_sources,
    find_current_parts,
    record_parts,
    select_parts,
)
from taxkg_assets.defs.wiring.progress import stage_progress
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_builder import TableBuilder
from taxkg_assets.defs.wiring.verdicts import OFFENDING_ROWS, table_metadata
from taxkg_assets.sources.quarantine import find_most_withheld

DROPPED_ANYWAY = 20
"""Invalid rows of a table that are dropped, however small the table is."""


@dataclass(frozen=True, slots=True)
class TableStep:
    """The step that builds one table from its upstream tables."""

    name: str
    schema: type[dy.Schema]
    builder: TableBuilder
    checks: Sequence[Callable[..., pl.DataFrame]]
    publish: Callable[[Home, pl.DataFrame], None] | None
    parts: Parts | None
    read_code: Callable[[Home], str]
    """Digest of the code and the settings that decide its rows."""
    divided_table: str = ""
    """The table above whose rows may be dealt out to several processes, each of which makes what belongs to its own."""
    can_be_divided: Callable[[Home], bool] = lambda home: True
    """Whether a home has room for that: several processes need more memory than one."""
    keep: Callable[[Home], None] | None = None
    """Stores in the home's cache what later steps would compute again."""
    prepare: Callable[[Home], None] | None = None
    """Fills the home's cache for this step. It decides no rows, so it begins before the gates above have passed."""
    is_isolated: bool = False
    """Whether documents on which the builder fails are left out."""
    requires: Sequence[Callable[..., pl.DataFrame]] = ()
    """Checks that return invalid rows. The builder counts as failing on their documents."""

    def make(
        self, home: Home, states: Mapping[str, TableState], *, made_from: str, share: tuple[int, int] = (0, 1)
    ) -> WholeTable:
        """Build the rows of the table.

        Args:
            home: Tables, files and settings of the home.
            states: States of the upstream tables, at the versions to read.
            made_from: Digest of all inputs of the rows.
            share: 0-based number of the share to build and number of shares, for a table whose work is divided.

        Returns:
            The rows, with the input digest of each part.
        """
        with stage_progress(self.name, 0), timed(self.name):
            whole_frames = (
                self._read(home, states, parts=None) if self.parts is None or self.parts.digest_each else None
            )
            digests = self._digest_parts(home, states, whole_frames)
            state = home.store.state(self.name)
            current_parts = find_current_parts(digests, state)
            stale_parts = [part for part in digests if part not in current_parts]
            frames = (
                self._read(home, states, parts=stale_parts if current_parts else None)
                if whole_frames is None
                else whole_frames
            )
            if self.divided_table:
                frames[self.divided_table] = frames[self.divided_table].gather_every(share[1], share[0])
            other_arguments: dict[str, Any] = {name: opener(home) for name, opener in self.builder.resources.items()}
            if self.builder.has_settings:
                other_arguments["settings"] = home.settings
            kept_rows = self._read_kept(home, state, current_parts)
            (rows, notes), errors = self._build(
                home, frames, other_arguments, stale_parts, current_parts, kept_count=kept_rows.height
            )
            if errors:
                left_out = pl.DataFrame({"documents": list(errors), "error": list(errors.values())})
                notes["documents left out"] = table_metadata(left_out)
            if kept_rows.height:
                rows = pl.concat([kept_rows, rows])
            if self.publish:
                try:
                    self.publish(home, rows)
                except DEFECTS as defect:  # the table is complete without its reports
                    notes["reports not written"] = describe_defect(defect)
            if self.keep:
                self.keep(home)
        keep_times(home.store)
        built_digests = {part: digest for part, digest in digests.items() if part not in errors}
        return WholeTable(rows, made_from, notes, record_parts(built_digests))

    def _build(
        self,
        home: Home,
        frames: Mapping[str, pl.DataFrame],
        arguments: Mapping[str, Any],
        stale_parts: Sequence[Part],
        current_parts: Collection[Part],
        *,
        kept_count: int,
    ) -> tuple[tuple[pl.DataFrame, dict[str, Any]], dict[Part, str]]:
        """Build the rows and drop invalid ones.

        Documents or pairs on which the builder or a row check fails are left out, and recorded in the home.

        Returns:
            The valid rows with metadata on the dropped ones, and the error by document or pair that was left out.
        """
        argument = self.parts.argument if self.parts is not None else ""
        settings = home.settings

        def build(units: Sequence[Part]) -> tuple[pl.DataFrame, dict[str, Any]]:
            if not units and all_units:
                return self.schema.create_empty(), {}
            left_out = names_of(all_units) - names_of(units)
            chosen = drop_documents(frames, left_out) if left_out else dict(frames)
            built = self.builder.build(**chosen, **arguments, **({argument: units} if argument else {}))
            checked_frames = chosen | {self.name: built}
            for check in self.requires:
                invalid_count = _apply(check, checked_frames).height
                if invalid_count:
                    raise ValueError(f"{invalid_count} {_name_check(check)}")
            return drop_invalid_rows(
                built,
                checked_frames,
                checks=self.checks,
                key=self.schema.primary_key(),
                most=int(settings.withheld_share * (kept_count + built.height)),
            )

        all_units = list(stale_parts) if argument else [(name,) for name in find_documents(frames)]
        if not self.is_isolated:
            return build(all_units), {}
        count = len(all_units) + len(current_parts)
        most = find_most_withheld(count, max_share=settings.withheld_share, least_count=settings.withheld_least)
        made, errors = build_isolated(build, all_units, table=self.name, most=min(most, count // 2))
        errors_by_document = {unit[-1]: error for unit, error in errors.items()}
        record_failures(home.store.storage, self.name, errors_by_document, kept=names_of(current_parts))
        return made, errors

    def _read_kept(self, home: Home, state: TableState | None, current_parts: Collection[Part]) -> pl.DataFrame:
        """Read the rows of the parts that need not be built again."""
        if self.parts is None or state is None or not current_parts:
            return self.schema.create_empty()
        return select_parts(
            home.store.read(self.name, version=state.version), current_parts, columns=self.parts.columns
        )

    def _digest_parts(
        self, home: Home, states: Mapping[str, TableState], whole_frames: Mapping[str, pl.DataFrame] | None
    ) -> dict[Part, str]:
        if self.parts is None:
            return {}
        if whole_frames is not None:
            return digest_sources(self.parts, whole_frames, code=self.read_code(home))
        documents = home.store.read("documents", version=states["documents"].version)
        input_states = {name: states[name] for name in self.builder.reads}
        return digest_parts(self.parts.find(documents), documents, states=input_states, code=self.read_code(home))

    def _read(
        self, home: Home, states: Mapping[str, TableState], *, parts: Collection[Part] | None
    ) -> dict[str, pl.DataFrame]:
        """Read the input tables: all rows, or only those of the documents that some parts are made from."""
        store = home.store
        versions = {name: states[name].version for name in self.builder.reads}
        if parts is None:
            return {name: store.read(name, version=version) for name, version in versions.items()}
        names = {name for part in parts for name in part}
        return {
            name: store.read_documents(name, names, version=version)
            if name == "documents" or states[name].documents
            else store.read(name, version=version)
            for name, version in versions.items()
        }


def drop_invalid_rows(
    built_rows: pl.DataFrame,
    frames: Mapping[str, pl.DataFrame],
    *,
    checks: Sequence[Callable[..., pl.DataFrame]],
    key: Sequence[str],
    most: int,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Drop the rows of a new table that fail a row check, so that one invalid row does not block the others.

    Where a large share of the rows fails, none is dropped: the builder is at fault, and the table's gate blocks.

    Args:
        built_rows: Rows as built.
        frames: Tables that the checks read, by name.
        checks: Row checks; each returns the offending rows, and names the tables that it reads as parameters.
        key: Columns that identify a row.
        most: Maximum number of rows that a check may drop; up to `DROPPED_ANYWAY` rows are dropped in any case.

    Returns:
        The valid rows, and metadata on the dropped ones: their number by check, and the first rows.
    """
    valid_rows, notes = built_rows, dict[str, Any]()
    for check in checks:
        offending = _apply(check, frames)
        if offending.is_empty():
            continue
        columns = [name for name in key if name in offending.columns]
        dropped_count = built_rows.join(offending, on=columns, how="semi").height
        if dropped_count > max(DROPPED_ANYWAY, most):
            continue
        valid_rows = valid_rows.join(offending, on=columns, how="anti")
        title = _name_check(check)
        notes[f"rows dropped: {title}"] = dropped_count
        notes[f"first rows dropped: {title}"] = table_metadata(offending.head(OFFENDING_ROWS))
    return valid_rows, notes


def _apply(check: Callable[..., pl.DataFrame], frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the rows that a check finds in the tables that its parameters name."""
    return check(**{name: frames[name] for name in inspect.signature(check).parameters})


def _name_check(check: Callable[..., pl.DataFrame]) -> str:
    """Return in words what a check finds."""
    return check.__name__.removeprefix("find_").replace("_", " ")
