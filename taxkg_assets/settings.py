"""Every setting of taxkg, its default and its environment variable (`TAXKG_` and the field's name in capitals)."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings of one process; every field can be set by an environment variable `TAXKG_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="TAXKG_", extra="ignore", frozen=True)

    home: str = Field(default="data/store", description="folder of tables, index, models, reports, Dagster's records")
    gold: str = Field(default="", description="more folders with labelled documents, joined by the path separator")
    workers: int = Field(default=2, ge=1, description="processes that read documents side by side")
    document_seconds: float = Field(default=300.0, gt=0, description="wall-clock limit for reading one document")
    document_memory_mb: int = Field(default=3000, ge=256, description="memory limit for reading one document, in MiB")
    max_pages: int = Field(default=10_000, ge=1, description="a document with more pages is quarantined")
    tables_in_memory_mb: int = Field(default=256, ge=1, description="rows written to a table in one commit, in MiB")
    model: str = Field(default="", description="path or hub name of the encoder; empty for the packaged MiniLM")

    guardrail: bool = Field(default=True, description="grade answers and stay silent where nothing fits")
    answer_relevance: float = Field(default=8.0, ge=0, le=10, description="relevance from which a question is answered")
    guidance_relevance: float = Field(default=7.0, ge=0, le=10, description="relevance from which guidance is given")

    def shaping(self) -> str:
        """The settings that shape tables, as JSON; where things lie and how fast they are made does not count."""
        return self.model_dump_json(exclude={*_OPERATIONAL, *_JUDGING})

    def judging(self) -> str:
        """The settings that decide between answer, guidance and silence, as JSON."""
        return self.model_dump_json(include=set(_JUDGING))


_OPERATIONAL = (
    "home",
    "gold",
    "workers",
    "document_seconds",
    "document_memory_mb",
    "max_pages",
    "tables_in_memory_mb",
)
_JUDGING = ("guardrail", "answer_relevance", "guidance_relevance")
