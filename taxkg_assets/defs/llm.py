"""The asset `llm_calls`: the record of every call of a language model, with what they cost; and its gate."""

import dataframely as dy

from taxkg_assets import schemas
from taxkg_assets.defs._table import SHOWN, Verdict, gate, table
from taxkg_assets.defs.call_journal import Journal
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.store import digest
from taxkg_assets.llm.llm_calls import build_llm_calls, find_altered_calls, summarize_calls

CALLERS: tuple[str, ...] = ("references", "chunks", "summaries", "eval_runs")
"""Tables whose making may call a model: the record is closed after them."""


def _recorded(home: Home) -> str:
    """The calls that the table and the journal hold together; taking the journal up does not change it."""
    table_ids = home.store.read_or_empty("llm_calls")["call_id"].to_list()
    return digest(*sorted({*table_ids, *(call.call_id for call in Journal(home.store).read())}))


llm_calls = table(
    schemas.LlmCalls,
    build_llm_calls,
    group="llm",
    handles={
        "old": lambda home: home.store.read_or_empty("llm_calls"),
        "journal": lambda home: Journal(home.store).read(),
    },
    fingerprint=_recorded,
    after=CALLERS,
)


SHOWN["llm_calls"] = lambda store: summarize_calls(store.read("llm_calls"))


@gate(on="llm_calls")
def calls_are_as_they_were_made(llm_calls: dy.DataFrame[schemas.LlmCalls]) -> Verdict:
    """Every recorded call is kept under the hash of its content; shows calls, tokens and cost so far."""
    return Verdict(find_altered_calls(llm_calls), llm_calls.height, figures=summarize_calls(llm_calls))
