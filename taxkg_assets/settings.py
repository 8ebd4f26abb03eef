"""Every setting of taxkg, its default and its environment variable (`TAXKG_` and the field's name in capitals)."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings of one process; every field can be set by an environment variable `TAXKG_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="TAXKG_", extra="ignore", frozen=True)

    home: str = Field("data/store", description="where tables, index, models, reports and Dagster's records live")
    gold: str = Field("", description="further folders with labelled documents, separated by the path separator")
    workers: int = Field(2, ge=1, description="processes that read documents side by side")
    document_seconds: float = Field(300.0, gt=0, description="wall-clock limit for reading one document")
    document_memory_mb: int = Field(3000, ge=256, description="memory limit for reading one document, in MiB")
    max_pages: int = Field(10_000, ge=1, description="a document with more pages is quarantined")
    model: str = Field("", description="path or hub name of the encoder; empty for the packaged MiniLM")
