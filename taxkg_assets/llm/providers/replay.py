"""Asks nobody: only calls that stand in `llm_calls` are answered, by the proposer's look into it."""

from __future__ import annotations

from taxkg_assets.llm.exchange import AccessError, Reply, Request


class ReplayProvider:
    """Refuses every request that was never recorded."""

    name = "replay"

    def complete(self, request: Request) -> Reply:
        """Say that the call is not there."""
        raise AccessError(
            f"{request.task}: a call of {request.model} is not recorded in llm_calls, and the provider is `replay`: "
            "set llm_provider to a model's, or to `rules`."
        )
