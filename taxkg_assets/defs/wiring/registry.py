"""`PIPELINE`: every table with what it is made from, how, and behind which gates. One object, filled by the wiring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_builder import TableBuilder
from taxkg_assets.defs.wiring.table_step import TableStep
from taxkg_assets.defs.wiring.verdicts import Verdict

GateRunner = Callable[..., tuple[Verdict, dict[str, int]]]
"""Evaluates a gate on a home's tables: its verdict, and the versions of the tables. The second argument, if any, holds
tables that were read before, by name and version; what this gate reads is added."""
Fingerprint = Callable[[Home, Mapping[str, TableState]], str]
"""Digest of what a table would be made from, given the states of its upstream tables."""
Show = Callable[[Store], Mapping[str, Any]]
"""What the UI shows of a table besides its rows, read from the home when the table has been made."""


@dataclass(slots=True)
class TableRecord:
    """A table of the pipeline: its inputs, builder, blocking gates and UI notes.

    `optional` tables are read if they exist: nothing waits for them, and their gates do not block.
    """

    name: str
    upstream: tuple[str, ...]
    optional: tuple[str, ...] = ()
    is_training: bool = False
    fingerprint: Fingerprint | None = None
    functions: tuple[Callable[..., Any], ...] = ()
    """Whose code decides what the table holds."""
    builder: TableBuilder | None = None
    step: TableStep | None = None
    show: Show | None = None
    gates: dict[str, GateRunner] = field(default_factory=dict)
    gate_code: dict[str, Callable[[Home], str]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    """The tables that its gates read."""


class Pipeline:
    """All tables by name, in the order of their wiring."""

    def __init__(self) -> None:
        self._records: dict[str, TableRecord] = {}

    def add(self, record: TableRecord) -> None:
        """Register a table.

        Args:
            record: Table with its builder and upstream tables.
        """
        self._records[record.name] = record

    def add_gate(
        self, table: str, name: str, runner: GateRunner, *, code: Callable[[Home], str], reads: Iterable[str] = ()
    ) -> None:
        """Register a blocking gate of a registered table.

        Args:
            table: Table whose downstream tables the gate blocks.
            name: Name of the gate.
            runner: Function that evaluates the gate.
            code: Function that returns the digest of the gate's code and labels.
            reads: Further tables that the gate reads.
        """
        self[table].gated |= {table, *reads}
        self[table].gates[name] = runner
        self[table].gate_code[name] = code

    def __getitem__(self, name: str) -> TableRecord:
        return self._records[name]

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def records(self) -> Iterable[TableRecord]:
        """Return the records of all tables."""
        return self._records.values()

    def upstream(self, name: str) -> tuple[str, ...]:
        """Return the inputs of a table; empty for an unregistered one.

        Args:
            name: Name of a table or, for `add_gate`, of the gate.
        """
        return self._records[name].upstream if name in self._records else ()

    def gates(self, name: str) -> tuple[str, ...]:
        """Return the blocking gates of a table.

        Args:
            name: Name of a table or, for `add_gate`, of the gate.
        """
        return tuple(self._records[name].gates) if name in self._records else ()

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """Return some tables with all their direct and indirect inputs.

        Args:
            names: Names of tables.
        """
        tables: set[str] = set()
        unread_names = list(names)
        while unread_names:
            name = unread_names.pop()
            if name not in tables:
                tables.add(name)
                unread_names += self.upstream(name)
        return tables

    def order(self) -> list[str]:
        """Return all tables in a topological order that does not depend on registration order."""
        inputs_by_table = {name: sorted(self.upstream(name)) for name in sorted(self)}
        return list(TopologicalSorter(inputs_by_table).static_order())

    def built(self) -> list[str]:
        """Return the tables that a build updates, in pipeline order: all except those of training."""
        return [name for name in self.order() if not self[name].is_training]

    def trained(self) -> set[str]:
        """Return the tables that only `taxkg train` updates."""
        return {record.name for record in self.records() if record.is_training}


PIPELINE = Pipeline()
"""The tables of this process; complete once `taxkg_assets.definitions` is imported."""
