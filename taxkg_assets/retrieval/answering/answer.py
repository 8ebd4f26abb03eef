"""Answers with the number of the passage behind each sentence, or abstention.

Sentences are quoted from the passages, or worded by a model where there is one and its sentences are verified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer_generation import Citation, blend_relevance, generate_answer
from taxkg_assets.retrieval.answering.answer_kind import find_kind
from taxkg_assets.retrieval.answering.boxes import NamedBox, find_named_box, name_box
from taxkg_assets.retrieval.answering.changes import answer_changes
from taxkg_assets.retrieval.answering.definitions import find_definitions
from taxkg_assets.retrieval.answering.destinations import find_destinations
from taxkg_assets.retrieval.answering.excerpt import excerpt_answer, list_documents, quote_summary
from taxkg_assets.retrieval.answering.notices import find_notices
from taxkg_assets.retrieval.answering.places import place_units
from taxkg_assets.retrieval.answering.printed_lines import find_printed_lines
from taxkg_assets.retrieval.answering.standard_sections import find_form_purposes, find_standard_sections
from taxkg_assets.retrieval.answering.stated import Opening, open_answer, put_first
from taxkg_assets.retrieval.answering.table_cells import add_tables
from taxkg_assets.retrieval.answering.units import Unit
from taxkg_assets.retrieval.query.form_match import score_form
from taxkg_assets.retrieval.query.router import find_level, wants_summary
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Flag, Ranking, Result
from taxkg_assets.rules.forms import form_pattern
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.settings import Settings

_STATED = (
    (guardrail.DESTINATION, find_destinations),
    (guardrail.LINE, find_printed_lines),
    (guardrail.STANDARD_SECTION, find_standard_sections),
    (guardrail.PURPOSE, find_form_purposes),
    (guardrail.DEFINITION, find_definitions),
)
"""What opens an answer, by kind, the first that is found."""


class Answer(BaseModel):
    """Result of `ask`: an answer with citations [n], guidance with its notice, or abstention.

    A rule-based answer quotes its sentences verbatim; a model's answer lists its quotes in `citations`. A question that
    asks which documents exist is answered with a list of documents (`level` is document), each with its best sentence.
    A question that asks what a document is about is answered with the sentences of its summary.
    """

    model_config = ConfigDict(frozen=True)
    answer: str | None
    confidence: float
    abstained: bool
    outcome: str
    results: list[Result]
    created_by: Literal["rule", "llm"] = "rule"
    model: str = ""
    level: str = "auto"
    citations: list[Citation] = []
    units: list[Unit] = []
    """Parts of an answer by rule: statements with their lead-ins and headings, each piece with its place."""
    quality: list[Flag] = []
    """Quality flags of the documents that the answer cites."""
    corrections: dict[str, str] = {}
    """Words of the question that were taken for typing errors, with the words that were searched for instead."""


# arguments: filters and options that the command line and the API offer one by one, nearly all with a default
def ask(
    searcher: Searcher,
    question: str,
    *,
    settings: Settings,
    k: int = 10,
    form: str | None = None,
    year: int | None = None,
    document: str | None = None,
    level: str = "auto",
    is_worded: bool = True,
    is_placed: bool = False,
) -> Answer:
    """Answer a question with quoted passages of the index, or in a model's words, or abstain.

    Args:
        searcher: Opened search.
        question: Words of the user.
        settings: Thresholds of the guardrail, and what a model is used for.
        k: Largest number of results, besides those that the answer cites; the answer itself is the same for any number.
        form: Answer from documents of this form only.
        year: Answer from documents of this year only.
        document: Answer from this document only.
        level: Size of a passage: `auto`, `paragraph`, `section`, `page`, `document` or `table`.
        is_worded: False to rank and grade passages without composing an answer; `answer` is then None.
        is_placed: Whether to add the page rectangles of each piece of the units, which needs a read of `sections`.

    Returns:
        The answer with its results. `confidence` is the estimated probability that the answer contains what is needed.
        Each kind of answer has its own calibration; for statements of the graph it is the measured share of correct
        statements.

    Raises:
        ProposerError: The model cannot be called.
    """
    filters: dict[str, Any] = {"form": form, "year": year, "document": document}
    ranking = searcher.rank(question, **filters)
    found = _find(searcher, ranking, k=k, level=level, filters=filters)
    request = _Request(ranking.question, ranking.corrections, is_worded=is_worded, is_placed=is_placed)
    answer = _answer(searcher, request, found, settings=settings)
    kept = [row for row in answer.results if row.rank <= k or _is_cited(row, answer.answer)]
    return answer.model_copy(update={"results": kept})


def ask_with_signals(searcher: Searcher, question: str, *, settings: Settings) -> tuple[Answer, str, dict[str, float]]:
    """Answer a question and return the kind and the signals from which its confidence is computed.

    Args:
        searcher: Opened search.
        question: Words of the user.
        settings: Thresholds of the guardrail, and what a model is used for.

    Returns:
        The answer, its kind, and the signals of that kind; no signals without results.

    Raises:
        ProposerError: The model cannot be called.
    """
    filters: dict[str, Any] = {"form": None, "year": None, "document": None}
    ranking = searcher.rank(question, **filters)
    found = _find(searcher, ranking, k=10, level="auto", filters=filters)
    answer = _answer(searcher, _Request(ranking.question, ranking.corrections), found, settings=settings)
    return answer, found.graded[0], dict(found.graded[1])


@dataclass(frozen=True, slots=True)
class _Request:
    """A corrected question, and what is wanted besides its passages: words, and their places."""

    question: str
    corrections: Mapping[str, str]
    is_worded: bool = True
    is_placed: bool = False


def _answer(searcher: Searcher, request: _Request, found: _Found, *, settings: Settings) -> Answer:
    """Grade what was found, and word the answer unless it is withheld."""
    results, model, question = found.results, searcher.proposer, request.question
    relevance, outcome = _grade(found, question, settings=settings, model=model)
    text, worded, units = None, None, list[Unit]()
    if request.is_worded and results and outcome != guardrail.ABSTENTION:
        if model is not None and settings.llm_answers and not (found.changes or found.stated):
            worded = generate_answer(question, results, proposer=model)
        units = [] if worded else _quote(searcher, question, found, is_placed=request.is_placed)
        text = worded.text if worded else "\n".join(unit.quote() for unit in units)
        cited = [row for row in results if _is_cited(row, text)]
        notices = find_notices(
            searcher,
            question,
            found.ranking,
            corrections=request.corrections,
            document=results[0].document,
            cited=cited,
            is_guidance=outcome == guardrail.GUIDANCE,
        )
        text = "\n".join([*notices, text])
    return Answer(
        answer=text,
        confidence=round(guardrail.read_confidence(relevance), 4),
        abstained=not results or outcome == guardrail.ABSTENTION,
        outcome=outcome if results else guardrail.ABSTENTION,
        results=results,
        created_by="llm" if worded else "rule",
        model=worded.model if worded else "",
        level=found.level,
        citations=list(worded.citations) if worded else [],
        units=units,
        quality=find_cited_flags(text, results),
        corrections=dict(request.corrections),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a question finds, before an answer is written.

    Attributes:
        ranking: Ranked candidates.
        results: Assembled passages.
        graded: Kind of the answer, and the signals that its confidence is read from.
        level: Size of the passages.
        wording: Function that quotes the results.
        box: Box that the question describes.
        changes: Answer to a question about changes.
        stated: What opens the answer: statements of the graph, definitions, or a section of instructions.
        is_alone: Whether the passages have nothing to add to it.
    """

    ranking: Ranking
    results: list[Result]
    graded: tuple[str, Mapping[str, float]]
    level: str
    wording: Callable[..., list[Unit]] = excerpt_answer
    box: NamedBox | None = None
    changes: list[Unit] = field(default_factory=list)
    stated: list[Unit] = field(default_factory=list)
    is_alone: bool = False


def _find(searcher: Searcher, ranking: Ranking, *, k: int, level: str, filters: Mapping[str, Any]) -> _Found:
    """Assemble the passages of a ranked question, and find the kind of answer that they lead to."""
    document, question = filters["document"], ranking.question
    box = find_named_box(searcher, question, ranking)
    if box is not None:  # the name of the box finds its text better than the question's description
        ranking = searcher.rank(f"{question} {box.form} {box.name}", **filters)
    most = k if level == "document" else max(k, load_answers().passages)
    results = searcher.assemble(ranking, k=most, level=level)
    graded = find_kind(searcher, question, ranking, results=results)
    changed, changes = answer_changes(searcher, question, ranking, document=document) if level == "auto" else ([], [])
    if changes:
        return _Found(ranking, changed, (guardrail.CHANGES, {}), level, changes=changes)
    wanted = find_level(ranking.route.intent) if level == "auto" else level
    if wanted != level:  # the guardrail is fitted for passages, whatever is returned
        results = searcher.assemble(ranking, k=k if wanted == "document" else most, level=wanted)
    if not results or wanted != "document":
        if wanted == "auto" and results and box is None and searcher.parts.openings:
            opening = _open_answer(searcher, question, ranking, results=results, filters=filters)
            if opening is not None:
                kind, stated = opening
                graded = (kind, {}) if stated.is_whole else graded
                # Where the library lacks the form of a line, the passages are about other forms.
                is_alone = kind in (guardrail.DESTINATION, guardrail.LINE) and not ranking.route.forms
                return _Found(ranking, stated.results, graded, wanted, stated=stated.units, is_alone=is_alone)
        if wanted == "auto" and graded[0] in (guardrail.PASSAGES, guardrail.TABLE, guardrail.CELL):
            results = add_tables(searcher, question, ranking, results=results)
        return _Found(ranking, results, graded, wanted, box=box)
    if not wants_summary(ranking.route.intent):
        return _Found(ranking, results, graded, wanted, wording=list_documents)
    if document is not None or _is_requested_document(searcher, ranking, results[0]):
        return _Found(ranking, results, (guardrail.SUMMARY, {}), wanted, wording=quote_summary)
    return _Found(ranking, results, graded, wanted)


def _open_answer(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result], filters: Mapping[str, Any]
) -> tuple[str, Opening] | None:
    """Return what opens the answer to a question, and the kind of answer that it makes."""
    allowed = find_allowed(searcher, **filters)
    for kind, find in _STATED:
        findings = find(searcher, question, ranking, allowed=allowed)
        if opening := open_answer(searcher, question, ranking, findings, results=results):
            return kind, opening
    return None


def find_allowed(searcher: Searcher, *, form: str | None, year: int | None, document: str | None) -> frozenset[str]:
    """Return the documents that pass the filters of a request.

    Args:
        searcher: Opened search.
        form: Documents of this form only.
        year: Documents of this year only.
        document: This document only.

    Returns:
        Ids of documents.
    """
    pattern = form_pattern(form) if form else None
    return frozenset(
        own["document_id"]
        for own in searcher.facts.documents
        if document in (None, own["document_id"])
        and (year is None or year in own["years"])
        and (pattern is None or pattern.search(own["document_form"]))
    )


def _grade(found: _Found, question: str, *, settings: Settings, model: Proposer | None) -> tuple[float, str]:
    """Return the relevance, blended with a model's grade where that is on, and the guardrail's decision."""
    kind, signals = found.graded
    relevance = guardrail.score_kind(kind, signals) if found.results else 0.0
    if model is not None and settings.llm_grading and settings.guardrail:
        relevance = blend_relevance(relevance, question, found.results, proposer=model)
    outcome = guardrail.find_outcome(
        relevance,
        answer_at=settings.answer_relevance,
        guide_at=settings.guidance_relevance,
        is_on=settings.guardrail,
    )
    return relevance, outcome


def _quote(searcher: Searcher, question: str, found: _Found, *, is_placed: bool) -> list[Unit]:
    """Return the units of an answer in the documents' own words."""
    if found.is_alone:
        units = found.stated
    else:
        units = found.changes or found.wording(searcher, question, found.ranking, results=found.results)
        units = put_first(found.stated, units, results=found.results)
    if found.box is not None:
        units = name_box(units, found.box, found.results)
    if is_placed and searcher.read_sections is not None:
        units = place_units(units, searcher.read_sections)
    return units


def find_cited_flags(text: str | None, results: Sequence[Result]) -> list[Flag]:
    """Return the quality flags of the documents that an answer cites.

    Args:
        text: Answer with citations; None for none.
        results: Passages that it may cite.

    Returns:
        Flags, each once.
    """
    return list(dict.fromkeys(flag for row in results if _is_cited(row, text) for flag in row.quality))


def _is_cited(result: Result, text: str | None) -> bool:
    return text is not None and f"[{result.rank}]" in text


def _is_requested_document(searcher: Searcher, ranking: Ranking, result: Result) -> bool:
    """Return whether a document is of the form that a question names, and of the year if it names one."""
    years = next(row["years"] for row in searcher.facts.documents if row["document_id"] == result.document)
    wanted = ranking.route.years
    return score_form(result.form, ranking.route) == 1.0 and (not wanted or not years.isdisjoint(wanted))
