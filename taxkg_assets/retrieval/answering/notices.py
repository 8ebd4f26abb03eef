"""Notices that precede an answer: corrected words, forms that the library lacks, other places, general guidance.

Their words are data (rules/guardrail.yaml).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taxkg_assets.retrieval.answering.table_cells import find_listed_places
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
    """Collect the notices printed before an answer: corrections, missing forms, quality flags, guidance.

    Args:
        searcher: Opened search.
        question: The corrected question.
        ranking: Its ranking.
        corrections: Words of the user, with the words that were searched for instead.
        document: Document of the first result.
        cited: Results that the answer cites.
        is_guidance: Whether the answer is general guidance.

    Returns:
        Sentences in the order in which they are printed.
    """
    notices = load_guardrail().notices
    found = [notices.correction.format(word=word, other=other) for word, other in corrections.items()]
    if absent := find_absent_forms(ranking.route, cited):
        found.append(notices.form.format(forms=" or ".join(_name_absent(form, question) for form in absent)))
    if places := _find_foreign_places(searcher, question, ranking, document=document):
        found.append(notices.place.format(places=", ".join(places)))
    if is_guidance:
        found.append(notices.general)
    return found


def find_absent_forms(route: Route, results: Sequence[Result]) -> list[str]:
    """Find the forms in a question that neither a document nor a quoted passage covers.

    Args:
        route: Route of the question.
        results: Passages that the answer quotes.

    Returns:
        Names in lower case; none where a document is about another form of the question.
    """
    if route.forms:
        return []
    text = "\n".join(f"{row.heading_path} {row.text}" for row in results)
    return [form for form in route.unknown_forms if form_pattern(form).search(text) is None]


def _name_absent(form: str, question: str) -> str:
    """Return the name of a form or publication that the library lacks."""
    named = re.search(rf"(?i)\b(pub|schedule)\w*\.?\s*{re.escape(form)}(?!\w)", question)
    kind = {"pub": "Publication", "schedule": "Schedule"}[named[1].lower()] if named else "Form"
    return f"{kind} {form.upper()}"


def _find_foreign_places(searcher: Searcher, question: str, ranking: Ranking, *, document: str) -> list[str]:
    """Return the places of a question that the document is not about, unless a table lists them."""
    foreign = searcher.facts.list_foreign_jurisdictions(ranking.route, document)
    if not foreign:
        return []
    listed = {place.replace("_", " ") for place in find_listed_places(searcher, question, ranking)}
    return [place for place in foreign if place not in listed]
