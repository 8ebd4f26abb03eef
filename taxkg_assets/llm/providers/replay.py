"""Replay only: the proposer finds recorded calls in `llm_calls`, and any other call fails here."""

from __future__ import annotations

from taxkg_assets.llm.exchange import AccessError, Reply, Request


class ReplayProvider:
    """A provider that refuses every request, so that only recorded calls are replayed."""

    name = "replay"

    def complete(self, request: Request) -> Reply:
        """Refuse the request, since this provider only replays recorded calls.

        Args:
            request: A call that is not recorded.

        Returns:
            Never.

        Raises:
            AccessError: Always.
        """
        raise AccessError(
            f"{request.task}: the provider `replay` answers only recorded calls, and llm_calls has no "
            "record of this call "
            f"of {request.model}. Set TAXKG_LLM_PROVIDER to a provider that can call a model, or to `rules`."
        )
