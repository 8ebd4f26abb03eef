"""What the next build would spend on language models, by table and task."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from taxkg_assets.defs.home.proposers import open_estimator
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home


def estimate_build(home: Home) -> list[dict[str, Any]]:
    """Estimate the model calls of the next build from the current tables.

    Args:
        home: The home.

    Returns:
        One row per table and task that would call a model, with calls, tokens and cost. A table that cannot be made yet
        has one row with the reason and how to get an estimate without cost.

    Raises:
        ProposerSettingError: A setting of the model is wrong, as for a build.
    """
    import taxkg_assets.definitions  # noqa: F401 - registers the tables and how they are made

    if home.settings.llm_provider == "rules":
        return []
    open_estimator(home)  # reports a wrong setting before a home is built that would need it
    rows: list[dict[str, Any]] = []
    for name in PIPELINE:
        builder = PIPELINE[name].builder
        if builder is None or "proposer" not in builder.resources:
            continue
        if missing := [n for n in builder.reads if not home.store.exists(n)]:
            note = f"not built yet: {', '.join(missing)} (TAXKG_LLM_PROVIDER=rules taxkg build asks no model)"
            rows.append({"table": name, "task": "", "note": note})
            continue
        estimator = open_estimator(home)
        builder.make(home, proposer=estimator)
        rows += [{"table": name, **asdict(estimate), "note": ""} for estimate in estimator.estimates.values()]
    return rows
