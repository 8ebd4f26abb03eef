"""Requests to language models: the contract, the typed tasks and one Markdown file per task; not how they are sent."""
