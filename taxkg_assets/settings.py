"""Every setting of taxkg, its default and its environment variable (`TAXKG_` and the field's name in capitals)."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

_PREFIX = "TAXKG_"
MOST_SECONDS = 1_000_000.0
"""Longest time limit in seconds; the timers of Python do not accept much more."""
MOST_DAYS = 36_500
"""Largest number of days: a hundred years."""


class SettingError(ValueError):
    """An invalid setting; the message states the setting, its value and the remedy, in one line."""


def _read_object(value: Any) -> Any:
    """Parse the JSON of an environment variable; return a value that is no text, from a program, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as broken:
        raise ValueError(f"the value is not valid JSON ({broken})") from broken


def _read_environment() -> dict[str, str]:
    """Return the variables with the prefix, without that prefix; variables without a value are left out."""
    variables = ((name.upper(), value) for name, value in os.environ.items())
    return {
        name.removeprefix(_PREFIX).lower(): value for name, value in variables if value and name.startswith(_PREFIX)
    }


_JSON_OBJECT = BeforeValidator(_read_object)


class Settings(BaseModel):
    """Settings of one process; every field can be set by an environment variable `TAXKG_<FIELD>`, in any case.

    An empty variable counts as unset, and a named argument takes precedence over a variable. The package
    pydantic-settings does the same, but its imports take 0.1 s in every process.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, validate_default=True)

    home: str = Field(
        default="data/store",
        description="folder of tables, index, models, reports, Dagster's records; or `s3://BUCKET/FOLDER`",
    )
    work: str = Field(
        default="data/work",
        description="local working folder of an `s3://` home: Dagster's run storage, cached extractions",
    )
    gold: str = Field(
        default="", description="additional folders of evaluation labels, separated by `:` (on Windows `;`)"
    )
    workers: int = Field(default=2, ge=1, description="number of processes that read documents in parallel")
    engine: Literal["local", "spark"] = Field(
        default="local", description="where documents are read: worker processes of this machine, or a Spark cluster"
    )
    spark_master: str = Field(default="", description="address of the Spark master; empty for the active Spark session")
    document_seconds: float = Field(
        default=300.0, gt=0, le=MOST_SECONDS, description="wall-clock limit for reading one document, in seconds"
    )
    document_memory_mb: int = Field(default=3000, ge=256, description="memory limit for reading one document, in MiB")
    max_pages: int = Field(
        default=10_000, ge=1, description="maximum number of pages; a document with more is quarantined"
    )
    withheld_share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="maximum share of documents withheld by document checks or left out of a table; above it, a build "
        "is blocked",
    )
    withheld_least: int = Field(
        default=5,
        ge=1,
        description="number of withheld or left-out documents from which TAXKG_WITHHELD_SHARE applies; with fewer, "
        "the share does not block a build",
    )
    tables_in_memory_mb: int = Field(
        default=256, ge=1, description="maximum size of the rows that are written to a table in one commit, in MiB"
    )
    step_process_rows: int = Field(
        default=20_000,
        ge=0,
        description="maximum number of rows that a step reads in the main process; a step that reads more runs in a "
        "process of its own, which releases its memory at the end",
    )
    table_engine: Literal["own", "pymupdf", "docling"] = Field(
        default="own",
        description="finder of tables: taxkg (own), taxkg with PyMuPDF for tables without a grid (pymupdf), or docling",
    )
    chunker: Literal["auto", "structural", "semantic"] = Field(
        default="auto",
        description="chunking: by layout (structural), by meaning (semantic), or auto, which decides for each document",
    )
    context: Literal["structured", "three_tier"] = Field(
        default="structured",
        description="text before a chunk when it is embedded: document, form, revision and headings (structured), "
        "or a longer one in three tiers (three_tier)",
    )
    model: str = Field(
        default="", description="path of the encoder, or its name on Hugging Face; empty for the packaged MiniLM"
    )
    model_runtime: Literal["torch", "onnx", "onnx_int8"] = Field(
        default="torch",
        description="runtime that embeds passages: PyTorch, ONNX Runtime, or ONNX Runtime with 8-bit weights",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto",
        description="where PyTorch embeds passages and trains: an NVIDIA GPU if there is one (auto), the processor "
        "only, or a GPU only; questions are always embedded on the processor",
    )

    index_memory_rows: int = Field(
        default=250_000,
        ge=0,
        description="maximum number of passages of an index that is searched in memory, exactly; a larger index, or one"
        " in a bucket, is searched in LanceDB, by quantized vectors",
    )
    tiers: Annotated[dict[str, Annotated[int, Field(ge=1, le=3)]], _JSON_OBJECT] = Field(
        default={},
        description="JSON object that maps a document id, an IRS name or a document type to a review tier, 1 to 3; "
        "overrides the rules",
    )
    train_pairs: int = Field(default=8000, ge=32, description="maximum number of training pairs of the encoder")
    train_epochs: float = Field(default=1.0, gt=0, description="number of training epochs; may be a fraction")
    train_loss: Literal["mnrl", "gist", "gist_relative", "margin"] = Field(
        default="gist",
        description="training loss of the encoder: mnrl (multiple negatives ranking), gist or gist_relative "
        "(GISTEmbed), or margin",
    )
    train_seed: int = Field(default=0, ge=0, lt=2**32, description="random seed of training")
    reranker: str = Field(
        default="late",
        description="late (late interaction, trained), cross (trained cross-encoder), none, or the name of a cross-"
        "encoder on Hugging Face",
    )
    reranker_depth: int = Field(default=20, ge=1, le=100, description="number of passages that are reranked")

    watch: str = Field(
        default="", description="names of IRS products, joined by commas, that the daily schedule fetches"
    )
    inbox: str = Field(
        default="", description="folder that is always a source, and that fetching fills; empty for <home>/inbox"
    )
    automation: bool = Field(
        default=False,
        description="switch on all sensors and schedules from the start, except `weekly_training`; a switch in the UI "
        "takes precedence",
    )
    alert_webhook: SecretStr = Field(
        default=SecretStr(""),
        description="URL of a webhook for alerts on failed gates, failed runs and quarantined documents",
    )
    explorer_url: str = Field(
        default="http://localhost:8000",
        description="address of the web explorer (`taxkg serve`) that the Dagster UI links to; empty for no links",
    )

    keep_days: float = Field(
        default=7.0,
        ge=0,
        le=MOST_DAYS,
        description="delete versions of tables and of the index that are older than this many days, unless a "
        "kept release uses them",
    )

    guardrail: bool = Field(
        default=True, description="grade the relevance of each answer, and abstain if no passage answers the question"
    )
    ablation: bool = Field(
        default=True,
        description="measure in each build the contribution of every search component; this "
        "doubles the time of evaluation",
    )
    answer_relevance: float = Field(
        default=8.0, ge=0, le=10, description="minimum relevance, on a scale of 0 to 10, from which an answer is given"
    )
    guidance_relevance: float = Field(
        default=7.0,
        ge=0,
        le=10,
        description="minimum relevance, on a scale of 0 to 10, from which general guidance is given",
    )

    llm_provider: Literal["rules", "replay", "bedrock", "openai"] = Field(
        default="rules",
        description="source of proposals: rules, recorded calls only (replay), Amazon Bedrock, or an OpenAI-"
        "compatible server",
    )
    llm_model: str = Field(
        default="", description="id of the language model, or several, joined by commas; the later ones are fallbacks"
    )
    llm_models: Annotated[dict[str, str], _JSON_OBJECT] = Field(
        default={}, description="JSON object that maps a task to its model ids; overrides TAXKG_LLM_MODEL for that task"
    )
    llm_url: str = Field(default="", description="base URL of an OpenAI-compatible server, or another Bedrock endpoint")
    llm_key: SecretStr = Field(default=SecretStr(""), description="API key of an OpenAI-compatible server")
    llm_region: str = Field(default="", description="AWS region of Bedrock; empty for the account's default")
    llm_cross_region: str = Field(default="", description="prefix of Bedrock inference profiles: us, eu, apac, global")
    llm_seconds: float = Field(
        default=120.0, gt=0, le=MOST_SECONDS, description="timeout of one model call, in seconds"
    )
    llm_attempts: int = Field(default=5, ge=1, description="maximum attempts of one call when a model is busy or fails")
    llm_concurrency: int = Field(default=4, ge=1, description="maximum number of concurrent model calls")
    llm_batch: int = Field(default=24, ge=1, le=30, description="maximum number of items in one model call")
    llm_budget_usd: float = Field(
        default=0.0, ge=0, description="spending limit on models per run, in US dollars; 0 = unlimited"
    )
    llm_budget_tokens: int = Field(default=0, ge=0, description="token limit per run; 0 = unlimited")
    llm_budget_seconds: float = Field(
        default=0.0, ge=0, description="time limit for model calls per run, in seconds; 0 = unlimited"
    )
    llm_answers: bool = Field(default=True, description="let the model write answers, if a model is set")
    llm_answer_seconds: float = Field(
        default=20.0, gt=0, le=MOST_SECONDS, description="timeout of a model call while a user waits, in seconds"
    )
    llm_hyde: bool = Field(
        default=False, description="also search with a hypothetical passage written by the model (HyDE)"
    )
    llm_grading: bool = Field(
        default=False,
        description="let the model also grade the relevance of an answer, averaged with the grade of the guardrail",
    )
    llm_prices: str = Field(default="", description="path of a price list in YAML, which overrides rules/prices.yaml")
    api_key: SecretStr = Field(default=SecretStr(""), description="API key required on every request")
    api_hosts: str = Field(
        default="",
        description="host names, joined by commas, that a request may have in its `Host` header, besides loopback",
    )
    api_origins: str = Field(default="", description="web origins, joined by commas, whose pages may call the servers")
    api_body_kb: int = Field(default=64, ge=1, description="maximum size of a request body, in KiB")
    api_draft_kb: int = Field(default=1024, ge=1, description="maximum size of an uploaded draft, in KiB")
    api_draft_seconds: float = Field(
        default=60.0,
        gt=0,
        le=MOST_SECONDS,
        description="time limit for checking one draft, in seconds; the remaining statements are reported as unchecked",
    )
    api_waiting: int = Field(
        default=64, ge=1, description="maximum number of queued requests; further ones get HTTP 503"
    )
    api_cached: int = Field(
        default=1024, ge=0, description="number of answers kept in the cache until the next release"
    )
    query_log: bool = Field(default=False, description="record the questions that the API receives, with their results")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**_read_environment() | values)
        except ValidationError as wrong:
            raise SettingError(_describe_errors(wrong)) from None

    def table_settings(self) -> str:
        """Return the settings that affect table contents, as JSON."""
        return self.model_dump_json(exclude={*_OPERATIONAL, *_ANSWERING, *_EVALUATION, *_LLM, *_TRAINING, *_RERANKING})

    def answer_settings(self) -> str:
        """Return the settings that affect search results and answers, as JSON."""
        return self.model_dump_json(include=set(_ANSWERING))

    def training_settings(self) -> str:
        """Return the settings that affect the training of encoders, as JSON."""
        return self.model_dump_json(include=set(_TRAINING))

    def reranker_settings(self) -> str:
        """Return the settings that affect which rerankers are trained and evaluated, as JSON."""
        return self.model_dump_json(include={*_TRAINING, *_RERANKING})

    def llm_settings(self) -> str:
        """Return the settings that affect model calls, as JSON."""
        return self.model_dump_json(include={"llm_provider", "llm_model", "llm_models", "llm_batch"})


def settings_of(home: str = "") -> Settings:
    """Return the settings of this process, read again after a change of the environment.

    Args:
        home: Folder or address of the home; empty for the setting `home`.

    Raises:
        SettingError: A setting is invalid.
    """
    names = [name for name in os.environ if name.upper().startswith(_PREFIX)]  # other values need no decoding
    return _read_settings(home, tuple((name, os.environ[name]) for name in sorted(names)))


@lru_cache(maxsize=64)
def _read_settings(home: str, _named: tuple[tuple[str, str], ...]) -> Settings:
    return Settings(home=home) if home else Settings()


def _describe_errors(error: ValidationError) -> str:
    """Write one line that names each wrong setting, its value, what it should be, and the remedy."""
    messages = []
    for detail in error.errors():
        name, *inner_path = (str(part) for part in detail["loc"])
        field = Settings.model_fields[name]
        value = f"{str(detail['input'])[:100]!r}{' at ' + '.'.join(inner_path) if inner_path else ''}"
        reason = detail["msg"].removeprefix("Value error, ")
        messages.append(
            f"TAXKG_{name.upper()} ({field.description}) is {value}: {reason[:1].lower()}{reason[1:]}. "
            f"Fix it, or unset it to use the default, {field.default!r}."
        )
    return "A setting is wrong: " + " ".join(messages)


_OPERATIONAL = (
    "home",
    "work",
    "model_runtime",
    "device",
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
    "explorer_url",
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
_LLM = tuple(name for name in Settings.model_fields if name.startswith("llm_"))
_TRAINING = tuple(name for name in Settings.model_fields if name.startswith("train_"))
_RERANKING = ("reranker", "reranker_depth")
_EVALUATION = ("ablation",)
_ANSWERING = ("guardrail", "answer_relevance", "guidance_relevance", "llm_hyde", "llm_grading")
