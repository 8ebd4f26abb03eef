"""Opens proposers: rules, or a model behind the record of calls in the home, with its budget."""

from __future__ import annotations

import json
import math
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from taxkg_assets.defs.home.access import AnyHome
from taxkg_assets.defs.home.call_journal import BudgetScope, Journal, UsageReader
from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.llm.budget import Budget, Price, Prices
from taxkg_assets.llm.estimate import EstimatingProposer
from taxkg_assets.llm.llm_calls import CallTotals, build_llm_calls, summarize_calls
from taxkg_assets.llm.model_proposer import CallPolicy, ModelProposer
from taxkg_assets.llm.providers.choice import open_provider
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.prompts.loader import load_prompt
from taxkg_assets.prompts.tasks import TASKS
from taxkg_assets.schemas import LlmCalls
from taxkg_assets.settings import Settings


class ProposerSettingError(Exception):
    """An invalid setting of the language models."""


@dataclass(frozen=True, slots=True)
class ProposerStatus:
    """The configured language models of a home, and the cost of their recorded calls.

    Attributes:
        provider: Provider of the settings.
        models: Model ids in order of preference by task, under "" for all other tasks; empty where rules propose.
        spent: Calls, tokens and US dollars so far.
    """

    provider: str
    models: dict[str, list[str]]
    spent: CallTotals

    def as_figures(self) -> dict[str, Any]:
        """Return provider, models and figures by name for display."""
        models = {"models": self.models} if self.models else {}
        return {"provider": self.provider, **models, **self.spent.as_figures()}


def describe_proposer(home: AnyHome) -> ProposerStatus:
    """Describe the configured language models, and total their recorded calls.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        Provider, models, and what was spent.
    """
    settings, store = home.settings, home.store
    journal = Journal(store).read()
    recorded = build_llm_calls(old=LlmCalls.cast(store.read_or_empty("llm_calls")), journal=journal)
    models = {} if settings.llm_provider == "rules" else models_of(settings)
    return ProposerStatus(settings.llm_provider, models, summarize_calls(recorded))


def prune_journal(store: Store) -> None:
    """Delete journal entries that the table `llm_calls` already contains.

    Args:
        store: Tables of the home.
    """
    Journal(store).forget(set(store.read_or_empty("llm_calls")["call_id"]))


def open_proposer(home: AnyHome, *, spender: BudgetScope = BudgetScope.BUILD) -> Proposer:
    """Open the language model of the settings, which replays recorded calls.

    Args:
        home: Tables, files and settings of the home.
        spender: Whether a build, a training or a reader calls the model; each has its own budget.

    Returns:
        The proposer.
    """
    if home.settings.llm_provider == "rules":
        return RuleProposer()
    return _open_model(home, home.settings, spender=spender)


def open_trainer(home: AnyHome) -> Proposer:
    """Open the language model for training, which has its own budget.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        The proposer.
    """
    return open_proposer(home, spender=BudgetScope.TRAINING)


def open_reader(home: AnyHome) -> Proposer | None:
    """Open the language model that answers readers, with one attempt and a short timeout.

    If the call fails, rules answer and the reply says so: a reader never gets an error for it. Calls are recorded like
    those of a build.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        The model; None where rules propose.
    """
    settings = home.settings
    if settings.llm_provider == "rules":
        return None
    seconds = min(settings.llm_seconds, settings.llm_answer_seconds)
    reader_settings = settings.model_copy(update={"llm_seconds": seconds, "llm_attempts": 1})
    return _open_model(home, reader_settings, spender=BudgetScope.READER)


def _open_model(home: AnyHome, settings: Settings, *, spender: BudgetScope) -> ModelProposer:
    return ModelProposer(
        provider=open_provider(_checked(settings)),
        log=Journal(home.store, spender=spender),
        budget=open_budget(home.store, settings, spender=spender),
        policy=_call_policy(settings, is_lenient=spender is BudgetScope.READER),
        fingerprint=proposer_fingerprint(home),
    )


def open_estimator(home: AnyHome) -> EstimatingProposer:
    """Open a proposer that only counts the calls it would make.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        The proposer.
    """
    settings = _checked(home.settings)
    prices = Prices(_own_prices(settings.llm_prices))
    return EstimatingProposer(log=Journal(home.store), prices=prices, policy=_call_policy(settings))


def _call_policy(settings: Settings, *, is_lenient: bool = False) -> CallPolicy:
    return CallPolicy(
        models=models_of(settings),
        batch=settings.llm_batch,
        concurrency=settings.llm_concurrency,
        attempts=settings.llm_attempts,
        is_lenient=is_lenient,
    )


def open_budget(store: Store, settings: Settings, *, spender: BudgetScope) -> Budget:
    """Open the budget of a build, of training or of readers, which covers all tables.

    A resumed build continues with the rest of its budget until `llm_calls` contains its calls. Budgets of training and
    readers start with their process.

    Args:
        store: Tables of the home, from which spent calls are counted.
        settings: Settings with the limits in US dollars, tokens and seconds.
        spender: Whether a build, a training or a reader spends it.
    """
    limits = (settings.llm_budget_usd, settings.llm_budget_tokens, settings.llm_budget_seconds)
    return _budget(store.uri, spender, limits, settings.llm_prices)


@cache
def _budget(home: str, spender: BudgetScope, limits: tuple[float, int, float], prices: str) -> Budget:
    usd, tokens, seconds = limits
    known_prices = Prices(_own_prices(prices))
    since = None if spender is BudgetScope.BUILD else datetime.now(UTC)
    spending = UsageReader(Store(home), spender=spender, prices=known_prices, since=since)
    return Budget(
        usd=usd, tokens=tokens, seconds=seconds, prices=known_prices, clock=time.monotonic, ledger=spending.read
    )


def proposer_fingerprint(home: AnyHome) -> str:
    """Compute a digest of the model settings, as part of deciding whether a table is current.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        Hex digest of 24 digits.
    """
    settings = home.settings
    if settings.llm_provider == "rules":
        return digest("rules", code_fingerprint(RuleProposer))
    code = code_fingerprint(RuleProposer, ModelProposer)
    # A replay must find what the provider's build has made: it is the same proposer.
    model_settings = json.loads(settings.llm_settings()) | {"llm_provider": "models"}
    return digest(json.dumps(model_settings, sort_keys=True), code, *(load_prompt(name).prompt_hash for name in TASKS))


def models_of(settings: Settings) -> dict[str, list[str]]:
    """Return model ids in order of preference for each task with its own setting, and under "" for all others.

    Args:
        settings: Settings with `llm_model` and `llm_models`, each a comma-separated list of model ids.
    """
    id_lists = {"": settings.llm_model, **settings.llm_models}
    return {task: [part.strip() for part in ids.split(",") if part.strip()] for task, ids in id_lists.items()}


def _checked(settings: Settings) -> Settings:
    """Return the settings if they name models and an address, else raise an error with the remedy."""
    if unknown := sorted(settings.llm_models.keys() - TASKS.keys()):
        raise ProposerSettingError(
            f"TAXKG_LLM_MODELS names unknown tasks: {', '.join(unknown)}. Tasks: {', '.join(TASKS)}."
        )
    if not models_of(settings)[""] and settings.llm_models.keys() != TASKS.keys():
        raise ProposerSettingError(
            f"TAXKG_LLM_MODEL is empty. Set it to a model of the provider {settings.llm_provider}."
        )
    if settings.llm_provider == "openai" and not settings.llm_url:
        raise ProposerSettingError(
            "TAXKG_LLM_URL is empty. Set it to the server's URL, e.g. http://localhost:11434/v1 for Ollama."
        )
    return settings


@cache
def _own_prices(path: str) -> dict[str, Price]:
    """Read a file that maps a pattern of model ids to `input_usd` and `output_usd` for a million tokens."""
    if not path:
        return {}
    try:
        rows = yaml.safe_load(Path(path).read_text(encoding="utf8"))
        return {re.compile(str(k)).pattern: _read_price(v) for k, v in rows.items()}
    except (OSError, yaml.YAMLError, re.error, KeyError, TypeError, ValueError, AttributeError) as broken:
        message = " ".join(str(broken).split())
        raise ProposerSettingError(
            f"{path} (TAXKG_LLM_PRICES) is not a price list: {message}. "
            "Write lines like `my-model: {input_usd: 1, output_usd: 2}`, both for a million tokens."
        ) from broken


def _read_price(row: Any) -> Price:
    """Return a price; reject a negative one or none, with which a budget would last for ever."""
    price = Price(float(row["input_usd"]), float(row["output_usd"]))
    if not all(0 <= usd < math.inf for usd in (price.input_usd, price.output_usd)):
        raise ValueError(f"{row} is not a price")
    return price
