"""The asset `llm_calls`: the record of every call of a language model, with what they cost; and its gate."""

from collections.abc import Mapping
from typing import Any

import dataframely as dy

from taxkg_assets import schemas
from taxkg_assets.defs.home.call_journal import Journal
from taxkg_assets.defs.home.store import digest
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import Verdict
from taxkg_assets.llm.llm_calls import build_llm_calls, find_altered_calls, summarize_calls
from taxkg_assets.prompts.contract import Task
from taxkg_assets.prompts.tasks import (
    AMBIGUOUS_REFERENCES,
    ANSWERS,
    BOUNDARY_DETECTION,
    HYDE,
    METADATA_ENRICHMENT,
    NEGATIVE_JUDGING,
    PAIR_JUDGING,
    QUALITY_VALIDATION,
    REFINEMENT,
    RELEVANCE_GRADING,
    SCENARIO_QUERIES,
    STRUCTURE_ANALYSIS,
    SUMMARIES,
)

CALLERS: Mapping[str, tuple[Task[Any, Any], ...]] = {
    "references": (AMBIGUOUS_REFERENCES,),
    "chunks": (STRUCTURE_ANALYSIS, BOUNDARY_DETECTION, QUALITY_VALIDATION, REFINEMENT, METADATA_ENRICHMENT),
    "summaries": (SUMMARIES,),
    "eval_runs": (HYDE, RELEVANCE_GRADING),
}
"""Tables of a build whose making may call a model, and the task that it gets there: the record is closed after them."""

LATER_CALLERS: Mapping[str, tuple[Task[Any, Any], ...]] = {
    "scenario_queries": (SCENARIO_QUERIES,),
    "pairs": (PAIR_JUDGING,),
    "hard_negatives": (NEGATIVE_JUDGING,),
}
"""Tables of a training, which no build waits for: a call is in the journal as soon as it returns, and the next
build takes it up."""

READER_TASKS: tuple[Task[Any, Any], ...] = (HYDE, RELEVANCE_GRADING, ANSWERS)
"""Tasks of a model that answer a question; recorded as those of a training are."""


def _recorded(home: Home) -> str:
    """Return the calls of the table and the journal together; merging the journal does not change the result."""
    table_ids = home.store.read_or_empty("llm_calls")["call_id"].to_list()
    return digest(*sorted({*table_ids, *(call.call_id for call in Journal(home.store).read())}))


llm_calls = table(
    schemas.LlmCalls,
    build_llm_calls,
    group="llm",
    resources={
        "old": lambda home: home.store.read_or_empty("llm_calls"),
        "journal": lambda home: Journal(home.store).read(),
    },
    fingerprint=_recorded,
    after=tuple(CALLERS),
    show=lambda store: summarize_calls(store.read("llm_calls")).as_figures(),
)


@gate(on="llm_calls")
def recorded_calls_are_unaltered(llm_calls: dy.DataFrame[schemas.LlmCalls]) -> Verdict:
    """The content of every recorded call still matches the hash that is its key.

    Shows calls, tokens and cost so far.
    """
    return Verdict(find_altered_calls(llm_calls), llm_calls.height, figures=summarize_calls(llm_calls).as_figures())
