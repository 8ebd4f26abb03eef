"""Notices that precede an answer: corrected words, forms that the library lacks, other states, general guidance.

Their texts are data (rules/guardrail.yaml).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taxkg_assets.retrieval.answering.table_cells import find_quoted_states
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import form_pattern
from taxkg_assets.rules.models.guardrail import load_guardrail


def find_notices(
    searcher: Searcher,
    question: str,
    ranking: Ranking,
    *,
    corrections: Mapping[str, str],
    document: str,
    cited: Sequence[Result],
    is_guidance: bool,
) -> list[str]:
    """Collect the notices that are printed before an answer.

    Args:
        searcher: Opened search.
        question: The corrected question.
        ranking: Ranking of the question.
        corrections: Corrected words by the words of the user.
        document: Id of the document of the first result.
        cited: Results that the answer cites.
        is_guidance: Whether the answer is general guidance.

    Returns:
        Sentences in the order in which they are printed.
    """
    notices = load_guardrail().notices
    texts = [notices.correction.format(word=word, other=corrected_word) for word, corrected_word in corrections.items()]
    if absent_forms := find_absent_forms(ranking.route, cited):
        texts.append(notices.form.format(forms=" or ".join(_name_absent_form(form, question) for form in absent_forms)))
    if foreign_places := _find_foreign_places(searcher, question, ranking, document=document):
        texts.append(notices.place.format(places=", ".join(foreign_places)))
    if is_guidance:
        texts.append(notices.general)
    return texts


def find_absent_forms(route: Route, results: Sequence[Result]) -> list[str]:
    """Find the forms in a question that no document is about and no quoted passage mentions.

    Args:
        route: Route of the question.
        results: Passages that the answer quotes.

    Returns:
        Names in lower case; empty where the library has a document about another form of the question.
    """
    if route.forms:
        return []
    text = "\n".join(f"{row.heading_path} {row.text}" for row in results)
    return [form for form in route.unknown_forms if form_pattern(form).search(text) is None]


def _name_absent_form(form: str, question: str) -> str:
    """Return the name of a form or publication that the library lacks."""
    prefix = re.search(rf"(?i)\b(pub|schedule)\w*\.?\s*{re.escape(form)}(?!\w)", question)
    kind = {"pub": "Publication", "schedule": "Schedule"}[prefix[1].lower()] if prefix else "Form"
    return f"{kind} {form.upper()}"


def _find_foreign_places(searcher: Searcher, question: str, ranking: Ranking, *, document: str) -> list[str]:
    """Return the states and cities of a question that neither the document is about nor a quoted table lists."""
    foreign_places = searcher.facts.list_foreign_jurisdictions(ranking.route, document)
    if not foreign_places:
        return []
    listed_places = {place.replace("_", " ") for place in find_quoted_states(searcher, question, ranking)}
    return [place for place in foreign_places if place not in listed_places]
