"""Every setting of taxkg, its default and its environment variable (`TAXKG_` and the field's name in capitals)."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

_PREFIX = "TAXKG_"
MOST_SECONDS = 1_000_000.0
"""Longer waits are none that a clock of this machine can keep."""
MOST_DAYS = 36_500
"""A hundred years: nothing that is kept is older."""


class SettingError(ValueError):
    """A setting that cannot be followed; the message names it, its value and the remedy, in one line."""


def _read_object(value: Any) -> Any:
    """The JSON of an environment variable; what is no text was given by a program."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as broken:
        raise ValueError(f"it is not JSON ({broken})") from broken


_JSON_OBJECT = (NoDecode, BeforeValidator(_read_object))


class Settings(BaseSettings):
    """Settings of one process; every field can be set by an environment variable `TAXKG_<FIELD>`."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, extra="ignore", frozen=True, env_ignore_empty=True, allow_inf_nan=False
    )

    home: str = Field(
        default="data/store",
        description="folder of tables, index, models, reports, Dagster's records; or `s3://BUCKET/FOLDER`",
    )
    work: str = Field(
        default="data/work", description="folder for what an `s3://` home keeps here: Dagster's records, extractions"
    )
    gold: str = Field(default="", description="more folders with labeled documents, joined by the path separator")
    workers: int = Field(default=2, ge=1, description="processes that read documents in parallel")
    engine: Literal["local", "spark"] = Field(
        default="local", description="who reads documents: processes of this machine, or a Spark cluster"
    )
    spark_master: str = Field(
        default="", description="address of the cluster's master; empty for the session that runs already"
    )
    document_seconds: float = Field(
        default=300.0, gt=0, le=MOST_SECONDS, description="wall-clock limit for reading one document"
    )
    document_memory_mb: int = Field(default=3000, ge=256, description="memory limit for reading one document, in MiB")
    max_pages: int = Field(default=10_000, ge=1, description="a document with more pages is quarantined")
    withheld_share: float = Field(
        default=0.1, ge=0, le=1, description="share of documents; if laws withhold more of them, the corpus is blocked"
    )
    withheld_least: int = Field(
        default=5, ge=1, description="documents; if laws withhold fewer than these, the corpus is never blocked"
    )
    tables_in_memory_mb: int = Field(default=256, ge=1, description="rows written to a table in one commit, in MiB")
    step_process_rows: int = Field(
        default=20_000,
        ge=0,
        description="rows that a step reads; one that reads more runs in a process of its own, which gives its memory "
        "back",
    )
    table_engine: Literal["own", "pymupdf", "docling"] = Field(
        default="own", description="who reads tables: our own, with PyMuPDF's second opinion, or docling"
    )
    chunker: Literal["auto", "structural", "semantic"] = Field(
        default="auto", description="who cuts documents: by structure, by meaning, or as each layout allows"
    )
    context: Literal["structured", "three_tier"] = Field(
        default="structured", description="context that precedes a chunk when it is embedded: its place, or three tiers"
    )
    model: str = Field(default="", description="path or hub name of the encoder; empty for the packaged MiniLM")
    model_runtime: Literal["torch", "onnx", "onnx_int8"] = Field(
        default="torch",
        description="what embeds passages: torch, or ONNX Runtime, whole or in 8 bits",
    )

    index_memory_rows: int = Field(
        default=1_000_000,
        ge=0,
        description="passages up to which an index on a disk is searched exactly, in memory; beyond it, and "
        "for a home in a bucket, LanceDB stores the passages, and files next to it find the candidates",
    )
    tiers: Annotated[dict[str, Annotated[int, Field(ge=1, le=3)]], *_JSON_OBJECT] = Field(
        default={}, description="JSON object: document, IRS name or type to tier 1 to 3, before the rules' own"
    )
    train_pairs: int = Field(default=8000, ge=32, description="pairs that an encoder learns from, at most")
    train_epochs: float = Field(default=1.0, gt=0, description="times that training sees every pair")
    train_loss: Literal["mnrl", "gist", "gist_relative", "margin"] = Field(
        default="gist", description="loss of the encoder: in-batch negatives, spared by a guide, or with a margin"
    )
    train_seed: int = Field(default=0, ge=0, lt=2**32, description="seed of training")
    reranker: str = Field(
        default="late",
        description="reranker of the best passages: late, cross (trained), none, or a hub's cross-encoder by name",
    )
    reranker_depth: int = Field(default=20, ge=1, le=100, description="passages that are reranked")

    watch: str = Field(
        default="", description="names of IRS products, joined by commas, that the daily schedule fetches"
    )
    inbox: str = Field(
        default="", description="folder that is always a source, and that fetching fills; empty for <home>/inbox"
    )
    automation: bool = Field(
        default=False,
        description="sensors and schedules, but `weekly_training`, start turned on unless they were switched in the UI",
    )
    alert_webhook: SecretStr = Field(
        default=SecretStr(""), description="webhook for failed gates, failed runs and quarantined documents"
    )

    keep_days: float = Field(
        default=7.0,
        ge=0,
        le=MOST_DAYS,
        description="age in days from which versions that no kept release reads are deleted",
    )

    guardrail: bool = Field(default=True, description="grade answers and stay silent where nothing fits")
    answer_relevance: float = Field(default=8.0, ge=0, le=10, description="relevance from which a question is answered")
    guidance_relevance: float = Field(default=7.0, ge=0, le=10, description="relevance from which guidance is given")

    llm_provider: Literal["rules", "replay", "bedrock", "openai"] = Field(
        default="rules", description="who proposes: rules, recorded calls only, Bedrock, or an OpenAI-compatible server"
    )
    llm_model: str = Field(default="", description="model id; further ones after commas are used when it fails")
    llm_models: Annotated[dict[str, str], *_JSON_OBJECT] = Field(
        default={}, description="JSON object: task to model ids, for tasks of their own"
    )
    llm_url: str = Field(default="", description="base URL of an OpenAI-compatible server, or another Bedrock endpoint")
    llm_key: SecretStr = Field(default=SecretStr(""), description="key of an OpenAI-compatible server")
    llm_region: str = Field(default="", description="AWS region of Bedrock; empty for the account's default")
    llm_cross_region: str = Field(default="", description="prefix of Bedrock inference profiles: us, eu, apac, global")
    llm_seconds: float = Field(default=120.0, gt=0, le=MOST_SECONDS, description="time limit of one call of a model")
    llm_attempts: int = Field(default=5, ge=1, description="times a call is tried when a model is busy or fails")
    llm_concurrency: int = Field(default=4, ge=1, description="calls of a model side by side")
    llm_batch: int = Field(default=24, ge=1, le=30, description="items in one call of a model")
    llm_budget_usd: float = Field(default=0.0, ge=0, description="US dollars that one run may spend on models; 0: any")
    llm_budget_tokens: int = Field(default=0, ge=0, description="tokens that one run may spend on models; 0: any")
    llm_budget_seconds: float = Field(default=0.0, ge=0, description="time one run may spend on models; 0: any")
    llm_answers: bool = Field(default=True, description="answers are worded by the model, where one is set")
    llm_answer_seconds: float = Field(
        default=20.0, gt=0, le=MOST_SECONDS, description="time limit of a call while a reader waits"
    )
    llm_hyde: bool = Field(default=False, description="search with a passage that the model imagines, too")
    llm_grading: bool = Field(default=False, description="a language model grades the relevance of answers too")
    llm_prices: str = Field(default="", description="YAML file with prices that go before rules/prices.yaml")
    api_key: SecretStr = Field(default=SecretStr(""), description="key that every request of the API has to bring")
    api_hosts: str = Field(
        default="", description="host names, joined by commas, that the servers accept besides loopback"
    )
    api_origins: str = Field(default="", description="web origins, joined by commas, whose pages may call the servers")
    api_body_kb: int = Field(default=64, ge=1, description="largest body of a request, in KiB")
    api_draft_kb: int = Field(default=1024, ge=1, description="largest body with a draft to be checked, in KiB")
    api_draft_seconds: float = Field(
        default=60.0, gt=0, le=MOST_SECONDS, description="time for one draft; statements after it are left unchecked"
    )
    api_waiting: int = Field(default=64, ge=1, description="requests that may wait for an answer; more are turned away")
    api_cached: int = Field(default=1024, ge=0, description="answers kept in memory until the next release")
    query_log: bool = Field(default=False, description="record the questions to the API and their results")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as wrong:
            raise SettingError(_say_wrong(wrong)) from None

    def shaping(self) -> str:
        """The settings that shape tables, as JSON; where things lie and how fast they are made does not count."""
        return self.model_dump_json(exclude={*_OPERATIONAL, *_JUDGING, *_PROPOSING, *_TRAINING, *_RERANKING})

    def judging(self) -> str:
        """The settings that decide what is found, and between answer, guidance and silence, as JSON."""
        return self.model_dump_json(include=set(_JUDGING))

    def training(self) -> str:
        """The settings that decide how an encoder is trained, as JSON."""
        return self.model_dump_json(include=set(_TRAINING))

    def reranking(self) -> str:
        """The settings that decide which rerankers are trained and evaluated, as JSON."""
        return self.model_dump_json(include={*_TRAINING, *_RERANKING})

    def proposing(self) -> str:
        """The settings that decide which models are used, and how many items per call, as JSON."""
        shaping = {"llm_provider", "llm_model", "llm_models", "llm_batch"}
        return self.model_dump_json(include=shaping)


def settings_of(home: str = "") -> Settings:
    """Return the settings of this process; they are read again once a variable has changed.

    Args:
        home: Home that they are for; empty means the setting `home`.

    Raises:
        SettingError: A setting is wrong.
    """
    named = tuple(sorted(one for one in os.environ.items() if one[0].upper().startswith(_PREFIX)))
    return _read_settings(home, named)


@lru_cache(maxsize=64)
def _read_settings(home: str, _named: tuple[tuple[str, str], ...]) -> Settings:
    return Settings(home=home) if home else Settings()


def _say_wrong(error: ValidationError) -> str:
    """One line that names each wrong setting, what it is, what it should be, and the remedy."""
    said = []
    for wrong in error.errors():
        name, *within = (str(part) for part in wrong["loc"])
        field = Settings.model_fields[name]
        value = f"{str(wrong['input'])[:100]!r}{' at ' + '.'.join(within) if within else ''}"
        reason = wrong["msg"].removeprefix("Value error, ")
        said.append(
            f"TAXKG_{name.upper()} ({field.description}) is {value}: {reason[:1].lower()}{reason[1:]}. "
            f"Fix it, or unset it for its default, {field.default!r}."
        )
    return "A setting is wrong: " + " ".join(said)


_OPERATIONAL = (
    "home",
    "work",
    "model_runtime",
    "index_memory_rows",
    "gold",
    "workers",
    "engine",
    "spark_master",
    "document_seconds",
    "document_memory_mb",
    "max_pages",
    "withheld_share",
    "withheld_least",
    "tables_in_memory_mb",
    "step_process_rows",
    "tiers",
    "watch",
    "inbox",
    "automation",
    "alert_webhook",
    "keep_days",
    "api_key",
    "api_hosts",
    "api_origins",
    "api_body_kb",
    "api_draft_kb",
    "api_draft_seconds",
    "api_waiting",
    "api_cached",
    "query_log",
)
_PROPOSING = tuple(name for name in Settings.model_fields if name.startswith("llm_"))
_TRAINING = tuple(name for name in Settings.model_fields if name.startswith("train_"))
_RERANKING = ("reranker", "reranker_depth")
_JUDGING = ("guardrail", "answer_relevance", "guidance_relevance", "llm_hyde", "llm_grading")
