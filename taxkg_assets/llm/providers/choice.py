"""Selection of a provider by the settings; a client library is imported only when it is used."""

from __future__ import annotations

from taxkg_assets.llm.exchange import Provider
from taxkg_assets.settings import Settings


def open_provider(settings: Settings) -> Provider:
    """Open the provider that the settings name.

    Args:
        settings: Settings of the home.

    Returns:
        The provider with its client.

    Raises:
        ValueError: The provider is `rules`, which calls no model.
    """
    if settings.llm_provider == "bedrock":
        from taxkg_assets.llm.providers.bedrock import BedrockProvider

        return BedrockProvider(
            region=settings.llm_region,
            seconds=settings.llm_seconds,
            url=settings.llm_url,
            cross_region=settings.llm_cross_region,
            connections=settings.llm_concurrency,
        )
    if settings.llm_provider == "openai":
        from taxkg_assets.llm.providers.openai import OpenAIProvider

        key = settings.llm_key.get_secret_value()
        return OpenAIProvider(url=settings.llm_url, key=key, seconds=settings.llm_seconds)
    if settings.llm_provider == "replay":
        from taxkg_assets.llm.providers.replay import ReplayProvider

        return ReplayProvider()
    raise ValueError(f"{settings.llm_provider!r} is not a known model provider")
