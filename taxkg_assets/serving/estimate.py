"""What the next build would spend on language models, by table and task."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from taxkg_assets.defs.home.proposers import open_estimator
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.llm.estimate import Estimate


@dataclass(frozen=True, slots=True)
class TableEstimate:
    """Estimated model calls, tokens and cost of building one table.

    Attributes:
        table: Name of the table.
        estimate: Calls, tokens and cost of one task; None if the table cannot be made yet.
        note: Why it cannot be estimated yet; empty if it can.
    """

    table: str
    estimate: Estimate | None = None
    note: str = ""

    def as_row(self) -> dict[str, Any]:
        """Return the estimate as a flat JSON object."""
        figures = {"task": ""} if self.estimate is None else asdict(self.estimate)
        return {"table": self.table, **figures, "note": self.note}


def estimate_build(home: Home) -> list[TableEstimate]:
    """Estimate the model calls of the next build from the current tables.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        One estimate per table and task that would call a model; empty if rules are used instead. A table whose inputs
        are not built yet has one entry with a note.

    Raises:
        ProposerSettingError: A setting of the model is invalid; a build would fail, too.
    """
    import taxkg_assets.definitions  # noqa: F401 - registers the tables and how they are made

    if home.settings.llm_provider == "rules":
        return []
    open_estimator(home)  # reports a wrong setting before a home is built that would need it
    rows: list[TableEstimate] = []
    for name in PIPELINE:
        builder = PIPELINE[name].builder
        if builder is None or "proposer" not in builder.resources:
            continue
        if missing_tables := [table for table in builder.reads if not home.store.exists(table)]:
            note = (
                f"not built yet: {', '.join(missing_tables)} (`TAXKG_LLM_PROVIDER=rules taxkg build` builds them "
                "without a model)"
            )
            rows.append(TableEstimate(name, note=note))
            continue
        estimator = open_estimator(home)
        builder.make(home, proposer=estimator)
        rows += [TableEstimate(name, estimate) for estimate in estimator.estimates.values()]
    return rows
