"""The table of language-model calls."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import key_column, text_column


class LlmCalls(dy.Schema):
    """One call of a language model with its reply; equal calls are replayed from here."""

    call_id = key_column("content hash of task, prompt, model, input and limits")
    task = text_column("task, named like its prompt file")
    prompt_hash = text_column("SHA-256 of the prompt file, shortened")
    provider = text_column("bedrock, openai, …")
    model = text_column("model id")
    item_count = dy.Int32(min=1, description="number of items in the call")
    max_tokens = dy.Int32(min=1, description="limit on the tokens of the answer")
    input = text_column("what was sent besides the prompt: items as JSON between delimiters")
    output = text_column("the reply, word for word")
    stop = text_column("how the reply ended: complete, truncated or refused")
    input_tokens = dy.Int32(min=0, description="number of tokens sent, as the provider counts")
    output_tokens = dy.Int32(min=0, description="number of tokens returned, as the provider counts")
    cost_usd = dy.Float64(
        nullable=True, min=0.0, description="cost in US dollars by the price list; null without a price"
    )
    latency_ms = dy.Int32(min=0, description="duration of the call in milliseconds, waits included")
    called_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when the reply arrived")
