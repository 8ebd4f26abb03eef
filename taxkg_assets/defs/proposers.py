"""Opens proposers: rules, or a model behind the record of calls in the home, with its budget.

A call is appended to a journal in the home, flushed to the disk, as soon as it returns; the asset `llm_calls` takes the
journal up. Whoever is killed in between has lost nothing: look-ups read both.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from taxkg_assets.defs.resources import Home, code_version
from taxkg_assets.defs.store import Store, digest
from taxkg_assets.llm.budget import Budget, Price, Prices
from taxkg_assets.llm.estimate import EstimatingProposer
from taxkg_assets.llm.llm_calls import Call, build_llm_calls, summarize_calls
from taxkg_assets.llm.model_proposer import Manner, ModelProposer
from taxkg_assets.llm.providers.choice import open_provider
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.prompts.loader import load_prompt
from taxkg_assets.prompts.tasks import TASKS
from taxkg_assets.schemas import LlmCalls
from taxkg_assets.settings import Settings

JOURNAL = "llm_calls.jsonl"
_CALL = TypeAdapter(Call)


class ProposerSettingError(Exception):
    """A setting of the language models that cannot be followed."""


class Journal:
    """The home's calls: the table, and a file of those that have come since."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.home / "cache" / JOURNAL
        self._lock = threading.Lock()
        self._known: dict[str, Call] | None = None

    def find(self, call_id: str) -> Call | None:
        """The call of this content, if it was ever made in this home."""
        with self._lock:
            if self._known is None:
                table = self._store.read_or_empty("llm_calls").iter_rows(named=True)
                self._known = {row["call_id"]: Call(**row) for row in table}
                self._known |= {call.call_id: call for call in self.read()}
            return self._known.get(call_id)

    def record(self, call: Call) -> None:
        """Append a call as one line and flush it to the disk."""
        line = json.dumps({**asdict(call), "called_at": call.called_at.isoformat()}, ensure_ascii=False)
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # A writer that was killed may have left half a line behind.
                is_torn = file.tell() > 0 and _last_byte(self._path) != b"\n"
                file.write(b"\n" * is_torn + line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            if self._known is not None:
                self._known.setdefault(call.call_id, call)

    def read(self) -> list[Call]:
        """The calls of the file; half a line that a killed process left is passed over."""
        if not self._path.exists():
            return []
        calls = (_read_call(line) for line in self._path.read_bytes().split(b"\n"))
        return [call for call in calls if call is not None]

    def forget(self, held: set[str]) -> None:
        """Drop from the file the calls that the table holds."""
        if not self._path.exists():
            return
        with self._lock, self._path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            calls = [(line, _read_call(line)) for line in file.read().split(b"\n")]
            kept = [line for line, call in calls if call is not None and call.call_id not in held]
            file.seek(0)
            file.write(b"".join(line + b"\n" for line in kept))
            file.truncate()
            os.fsync(file.fileno())


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def _read_call(line: bytes) -> Call | None:
    """The call of a line; None where it holds no whole one."""
    try:
        return _CALL.validate_json(line.decode("utf8", errors="replace"), strict=True)
    except ValidationError:
        return None


def describe_proposer(home: Home) -> dict[str, Any]:
    """Who proposes by the settings, and what the home's record holds."""
    settings, store = home.settings, home.store
    journal = Journal(store).read()
    recorded = build_llm_calls(old=LlmCalls.cast(store.read_or_empty("llm_calls")), journal=journal)
    asked = {} if settings.llm_provider == "rules" else {"models": models_of(settings)}
    return {"provider": settings.llm_provider, **asked, **summarize_calls(recorded)}


def prune_journal(store: Store) -> None:
    """Drop from the journal what the table has taken up."""
    Journal(store).forget(set(store.read_or_empty("llm_calls")["call_id"]))


def open_proposer(home: Home) -> Proposer:
    """The proposer that the settings name, over the home's record of calls."""
    if home.settings.llm_provider == "rules":
        return RuleProposer()
    return _open_model(home, home.settings, is_lenient=False)


def open_reader(home: Home) -> Proposer | None:
    """Whom readers ask: the model, asked once and for a short time, or nobody where rules propose.

    Where it cannot be asked, rules answer and say so: a reader gets an answer without a model, and no error. Its calls
    are recorded like those of a build.
    """
    settings = home.settings
    if settings.llm_provider == "rules":
        return None
    seconds = min(settings.llm_seconds, settings.llm_answer_seconds)
    hasty = settings.model_copy(update={"llm_seconds": seconds, "llm_attempts": 1})
    return _open_model(home, hasty, is_lenient=True)


def _open_model(home: Home, settings: Settings, *, is_lenient: bool) -> ModelProposer:
    return ModelProposer(
        provider=open_provider(_checked(settings)),
        log=Journal(home.store),
        budget=open_budget(settings),
        manner=_manner(settings, is_lenient=is_lenient),
        fingerprint=proposer_fingerprint(home),
    )


def open_estimator(home: Home) -> EstimatingProposer:
    """A proposer that counts what would be asked, and asks nobody."""
    settings = _checked(home.settings)
    prices = Prices(_own_prices(settings.llm_prices))
    return EstimatingProposer(log=Journal(home.store), prices=prices, manner=_manner(settings))


def _manner(settings: Settings, *, is_lenient: bool = False) -> Manner:
    return Manner(
        models=models_of(settings),
        batch=settings.llm_batch,
        concurrency=settings.llm_concurrency,
        attempts=settings.llm_attempts,
        is_lenient=is_lenient,
    )


def open_budget(settings: Settings) -> Budget:
    """What this process may spend, whichever of its tables asks."""
    limits = (settings.llm_budget_usd, settings.llm_budget_tokens, settings.llm_budget_seconds)
    return _budget(*limits, settings.llm_prices)


@cache
def _budget(usd: float, tokens: int, seconds: float, prices: str) -> Budget:
    own = Prices(_own_prices(prices))
    return Budget(usd=usd, tokens=tokens, seconds=seconds, prices=own, clock=time.monotonic)


def proposer_fingerprint(home: Home) -> str:
    """Digest of who proposes and how, without opening a client: part of what decides whether a table is current."""
    settings, code = home.settings, digest(code_version("llm"), code_version("prompts"))
    if settings.llm_provider == "rules":
        return digest("rules", code)
    # A replay must find what the provider's build has made: it is the same proposer, asked again.
    asked = json.loads(settings.proposing()) | {"llm_provider": "models"}
    return digest(json.dumps(asked, sort_keys=True), code, *(load_prompt(name).prompt_hash for name in TASKS))


def models_of(settings: Settings) -> dict[str, list[str]]:
    """Model ids in order of preference for each task that has its own, and under `` for all others."""
    named = {"": settings.llm_model, **settings.llm_models}
    return {task: [part.strip() for part in ids.split(",") if part.strip()] for task, ids in named.items()}


def _checked(settings: Settings) -> Settings:
    """The settings, if they name models and an address; an error that tells the remedy otherwise."""
    if unknown := sorted(settings.llm_models.keys() - TASKS.keys()):
        raise ProposerSettingError(
            f"llm_models names no such task: {', '.join(unknown)}. There are: {', '.join(TASKS)}."
        )
    if not models_of(settings)[""] and settings.llm_models.keys() != TASKS.keys():
        raise ProposerSettingError(f"TAXKG_LLM_MODEL is empty: name the model of the provider {settings.llm_provider}.")
    if settings.llm_provider == "openai" and not settings.llm_url:
        raise ProposerSettingError(
            "TAXKG_LLM_URL is empty: name the server, e.g. http://localhost:11434/v1 for Ollama."
        )
    return settings


@cache
def _own_prices(path: str) -> dict[str, Price]:
    """Prices of a file that maps a pattern of model ids to `input_usd` and `output_usd` for a million tokens."""
    if not path:
        return {}
    try:
        rows = yaml.safe_load(Path(path).read_text(encoding="utf8"))
        return {str(k): Price(float(v["input_usd"]), float(v["output_usd"])) for k, v in rows.items()}
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as broken:
        raise ProposerSettingError(
            f"{path} (llm_prices) is no price list: {broken}. "
            "Write lines like `my-model: {input_usd: 1, output_usd: 2}`."
        ) from broken
