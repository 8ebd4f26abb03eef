"""Whether a question that a model made up is about what it quotes, and is a question."""

from __future__ import annotations

from taxkg_assets.llm.claims import find_contrasts, find_measures
from taxkg_assets.llm.wording import find_content, find_figures, find_keys, find_stems, spell_alike
from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.rules.sentences import find_sentence_parts


def find_flaw(question: str, source: str) -> str:
    """What is wrong with a question about some sentences; empty where nothing is."""
    limits = load_family("llm")["asked"]
    asked, source = spell_alike(question.strip()), spell_alike(source)
    if not asked.endswith("?"):
        return "no question"
    if not limits["least_words"] <= len(asked.split()) <= limits["most_words"]:
        return "too short or too long"
    if holds_an_order(asked):
        return "an order"
    if not (find_figures(asked) <= find_figures(source) and find_keys(asked) <= find_keys(source)):
        return "a figure that is not in the source"
    if not find_measures(asked) <= find_measures(source):
        return "a figure that is not in the source"
    if not find_contrasts(_stated(asked)) <= find_contrasts(source):
        return "says what the source does not say"
    shared = find_stems(asked) & find_stems(source)
    lay = {rule.id for rule in load_rules("lay_terms") if _is_meant(rule.extra["terms"], source)}
    shared |= {rule.id for rule in load_rules("lay_terms") if rule.id in lay and rule.pattern.search(asked)}
    return "" if len(shared) >= limits["least_shared"] else "about something else"


def holds_an_order(text: str) -> bool:
    """Whether a text speaks to a program, or tells somebody to do something else than to read on."""
    rules = load_rules("llm", "asked_orders")
    parts = [text[start:end] for start, end in find_sentence_parts(text)] or [text]
    return any(rule.pattern.search(part) for rule in rules for part in parts) or speaks_to_a_program(text)


def speaks_to_a_program(text: str) -> bool:
    """Whether a text gives orders to a program that reads it, which no tax document does."""
    return any(rule.pattern.search(text) for rule in load_rules("hidden_text", "orders"))


def _is_meant(terms: str, source: str) -> bool:
    return bool(find_content(terms) & find_content(source))


def _stated(question: str) -> str:
    """What a question takes for granted: its sentences that ask nothing, and what it gives as a reason."""
    parts = [question[start:end] for start, end in find_sentence_parts(question)]
    told = [part for part in parts if not part.rstrip().endswith("?")]
    given = [match[0] for rule in load_rules("llm", "given") for part in parts for match in rule.pattern.finditer(part)]
    return " ".join([*told, *given])
