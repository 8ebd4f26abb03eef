"""Answer a question with sentences that cite their passages, or abstain.

Sentences are quotes from the passages. If a model may write answers, they are its sentences, each verified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.answering import guardrail
from taxkg_assets.retrieval.answering.answer_generation import Citation, blend_relevance, generate_answer
from taxkg_assets.retrieval.answering.answer_kind import find_kind
from taxkg_assets.retrieval.answering.boxes import FormBox, find_described_box, label_box
from taxkg_assets.retrieval.answering.changes import answer_changes
from taxkg_assets.retrieval.answering.definitions import find_definitions
from taxkg_assets.retrieval.answering.destinations import find_destinations
from taxkg_assets.retrieval.answering.excerpt import excerpt_answer, list_documents, quote_summary
from taxkg_assets.retrieval.answering.notices import find_notices
from taxkg_assets.retrieval.answering.openings import has_one_request, make_opening, prepend_opening
from taxkg_assets.retrieval.answering.printed_lines import find_printed_lines
from taxkg_assets.retrieval.answering.rectangles import add_rectangles
from taxkg_assets.retrieval.answering.standard_sections import find_form_purposes, find_standard_sections
from taxkg_assets.retrieval.answering.table_cells import add_tables
from taxkg_assets.retrieval.answering.units import Unit
from taxkg_assets.retrieval.query.form_match import score_form
from taxkg_assets.retrieval.query.router import find_level, wants_summary
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Flag, Ranking, Result
from taxkg_assets.rules.forms import form_pattern
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.settings import Settings

_OPENING_FINDERS = (
    (guardrail.DESTINATION, find_destinations),
    (guardrail.LINE, find_printed_lines),
    (guardrail.STANDARD_SECTION, find_standard_sections),
    (guardrail.PURPOSE, find_form_purposes),
    (guardrail.DEFINITION, find_definitions),
)
"""Functions that find the opening of an answer, by kind; the first one that finds something is used."""


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
    """Parts of a rule-based answer: statements with their lead-ins and headings, each piece with its passage."""
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
    with_text: bool = True,
    with_rectangles: bool = False,
) -> Answer:
    """Answer a question with quoted passages of the index, or in a model's words, or abstain.

    Args:
        searcher: Opened search.
        question: Words of the user.
        settings: Thresholds of the guardrail, and what a model is used for.
        k: Maximum number of results besides those that the answer cites. The answer is the same for any number.
        form: Answer from documents of this form only.
        year: Answer from documents of this year only.
        document: Answer from this document only.
        level: Size of a passage: `auto`, `paragraph`, `section`, `page`, `document` or `table`.
        with_text: False to rank and grade passages only; `answer` is then None.
        with_rectangles: Whether to add the page rectangles of each quote, which reads the table `sections`.

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
    request = _Request(ranking.question, ranking.corrections, with_text=with_text, with_rectangles=with_rectangles)
    answer = _compose_answer(searcher, request, found, settings=settings)
    results = [row for row in answer.results if row.rank <= k or _is_cited(row, answer.answer)]
    return answer.model_copy(update={"results": results})


def ask_with_signals(searcher: Searcher, question: str, *, settings: Settings) -> tuple[Answer, str, dict[str, float]]:
    """Answer a question, and return the kind of the answer and the signals that its confidence is computed from.

    Args:
        searcher: Opened search.
        question: Words of the user.
        settings: Thresholds of the guardrail, and what a model is used for.

    Returns:
        The answer, its kind, and the signals of this kind, which are empty without results.

    Raises:
        ProposerError: The model cannot be called.
    """
    filters: dict[str, Any] = {"form": None, "year": None, "document": None}
    ranking = searcher.rank(question, **filters)
    findings = _find(searcher, ranking, k=10, level="auto", filters=filters)
    answer = _compose_answer(searcher, _Request(ranking.question, ranking.corrections), findings, settings=settings)
    return answer, findings.kind, dict(findings.signals)


@dataclass(frozen=True, slots=True)
class _Request:
    """A corrected question, and whether the answer needs a text and page rectangles."""

    question: str
    corrections: Mapping[str, str]
    with_text: bool = True
    with_rectangles: bool = False


def _compose_answer(searcher: Searcher, request: _Request, found: _Found, *, settings: Settings) -> Answer:
    """Grade the passages, and write the text of the answer unless the guardrail abstains."""
    results, model, question = found.results, searcher.proposer, request.question
    relevance, outcome = _grade(found, question, settings=settings, model=model)
    text, generated, units = None, None, list[Unit]()
    if request.with_text and results and outcome != guardrail.ABSTENTION:
        if model is not None and settings.llm_answers and not (found.change_units or found.opening_units):
            generated = generate_answer(question, results, proposer=model)
        units = [] if generated else _quote(searcher, question, found, with_rectangles=request.with_rectangles)
        text = generated.text if generated else "\n".join(unit.quote() for unit in units)
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
        confidence=round(guardrail.read_confidence(relevance, found.kind), 4),
        abstained=not results or outcome == guardrail.ABSTENTION,
        outcome=outcome if results else guardrail.ABSTENTION,
        results=results,
        created_by="llm" if generated else "rule",
        model=generated.model if generated else "",
        level=found.level,
        citations=list(generated.citations) if generated else [],
        units=units,
        quality=find_cited_flags(text, results),
        corrections=dict(request.corrections),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Passages of a question and the kind of answer that they support.

    Attributes:
        ranking: Ranked candidates.
        results: Assembled passages.
        kind: Kind of the answer.
        signals: Signals that the confidence of this kind is computed from.
        level: Size of the passages.
        quote_results: Function that quotes the results.
        box: Box that the question describes; None for none.
        change_units: Answer to a question about changes.
        opening_units: Opening of the answer: statements of the graph, definitions, or a section of instructions.
        is_opening_only: Whether the opening is the whole answer, without quotes from the passages.
    """

    ranking: Ranking
    results: list[Result]
    kind: str
    signals: Mapping[str, float]
    level: str
    quote_results: Callable[..., list[Unit]] = excerpt_answer
    box: FormBox | None = None
    change_units: list[Unit] = field(default_factory=list)
    opening_units: list[Unit] = field(default_factory=list)
    is_opening_only: bool = False


def _find(searcher: Searcher, ranking: Ranking, *, k: int, level: str, filters: Mapping[str, Any]) -> _Found:
    """Assemble the passages of a ranked question, and find the kind of answer that they support."""
    document, question = filters["document"], ranking.question
    box = find_described_box(searcher, question, ranking)
    if box is not None:  # the name of the box finds its text better than the question's description
        ranking = searcher.rank(f"{question} {box.form} {box.name}", **filters)
    passage_count = k if level == "document" else max(k, load_answers().passages)
    results = searcher.assemble(ranking, k=passage_count, level=level)
    kind, signals = find_kind(searcher, question, ranking, results=results)
    if level == "auto":
        change_results, change_units = answer_changes(searcher, question, ranking, document=document)
        if change_units:
            return _Found(ranking, change_results, guardrail.CHANGES, {}, level, change_units=change_units)
    result_level = find_level(ranking.route.intent) if level == "auto" else level
    if result_level != level:  # the guardrail is fitted for passages, whatever the level of the results
        count = k if result_level == "document" else passage_count
        results = searcher.assemble(ranking, k=count, level=result_level)
    found = _Found(ranking, results, kind, signals, result_level)
    if results and result_level == "document":
        return _find_documents(searcher, found, document=document)
    if results and result_level == "auto":
        opened = None if box is not None else _find_opening(searcher, found, filters=filters)
        if opened is not None:
            return opened
        if kind in (guardrail.PASSAGES, guardrail.TABLE, guardrail.CELL):
            found = replace(found, results=add_tables(searcher, question, ranking, results=results))
    return replace(found, box=box)


def _find_documents(searcher: Searcher, found: _Found, *, document: str | None) -> _Found:
    """Choose between a list of documents, the summary of one document, and its passages."""
    if not wants_summary(found.ranking.route.intent):
        return replace(found, quote_results=list_documents)
    if document is not None or _is_requested_document(searcher, found.ranking, found.results[0]):
        return replace(found, kind=guardrail.SUMMARY, signals={}, quote_results=quote_summary)
    return found


def _find_opening(searcher: Searcher, found: _Found, *, filters: Mapping[str, Any]) -> _Found | None:
    """Find the opening of an answer by the first function that finds one; None where none does."""
    if not searcher.parts.openings:
        return None
    ranking = found.ranking
    allowed_documents = list_allowed_documents(searcher, **filters)
    for kind, find in _OPENING_FINDERS:
        findings = find(searcher, ranking.question, ranking, allowed_documents=allowed_documents)
        opening = make_opening(searcher, ranking.question, ranking, findings, results=found.results)
        if opening is None:
            continue
        if opening.covers_question and findings.years_behind is not None:
            found = replace(found, kind=guardrail.OUTDATED_SECTION, signals={"age": float(findings.years_behind)})
        elif opening.covers_question:
            found = replace(found, kind=kind, signals={})
        # Where the library lacks the form of a line, the passages are about other forms.
        is_about_other_forms = kind in (guardrail.DESTINATION, guardrail.LINE) and not ranking.route.forms
        is_settled = opening.covers_question and findings.settles_question and has_one_request(ranking.question)
        is_opening_only = is_about_other_forms or is_settled
        return replace(found, results=opening.results, opening_units=opening.units, is_opening_only=is_opening_only)
    return None


def list_allowed_documents(
    searcher: Searcher, *, form: str | None, year: int | None, document: str | None
) -> frozenset[str]:
    """List the documents that pass the filters of a request.

    Args:
        searcher: Opened search.
        form: Form of the documents; None for all.
        year: Year of the documents; None for all.
        document: Id of the only document; None for all.

    Returns:
        Ids of documents.
    """
    pattern = form_pattern(form) if form else None
    return frozenset(
        row["document_id"]
        for row in searcher.facts.documents
        if document in (None, row["document_id"])
        and (year is None or year in row["years"])
        and (pattern is None or pattern.search(row["document_form"]))
    )


def _grade(found: _Found, question: str, *, settings: Settings, model: Proposer | None) -> tuple[float, str]:
    """Return the relevance, blended with a model's grade if grading by a model is on, and the guardrail's decision."""
    is_readable = guardrail.shares_script(question, [row.text for row in found.results])
    relevance = guardrail.score_kind(found.kind, found.signals) if found.results and is_readable else 0.0
    if model is not None and settings.llm_grading and settings.guardrail:
        relevance = blend_relevance(relevance, question, found.results, proposer=model)
    outcome = guardrail.find_outcome(
        relevance,
        answer_at=settings.answer_relevance,
        guide_at=settings.guidance_relevance,
        is_on=settings.guardrail,
    )
    return relevance, outcome


def _quote(searcher: Searcher, question: str, found: _Found, *, with_rectangles: bool) -> list[Unit]:
    """Return the units of an answer in the documents' own words."""
    if found.is_opening_only:
        units = found.opening_units
    else:
        units = found.change_units or found.quote_results(searcher, question, found.ranking, results=found.results)
        units = prepend_opening(found.opening_units, units, results=found.results)
    if found.box is not None:
        units = label_box(units, found.box, found.results)
    if with_rectangles and searcher.read_sections is not None:
        units = add_rectangles(units, searcher.read_sections)
    return units


def find_cited_flags(text: str | None, results: Sequence[Result]) -> list[Flag]:
    """Return the quality flags of the documents that an answer cites.

    Args:
        text: Answer with citations; None for none.
        results: Passages that the answer may cite.

    Returns:
        Distinct flags.
    """
    return list(dict.fromkeys(flag for row in results if _is_cited(row, text) for flag in row.quality))


def _is_cited(result: Result, text: str | None) -> bool:
    return text is not None and f"[{result.rank}]" in text


def _is_requested_document(searcher: Searcher, ranking: Ranking, result: Result) -> bool:
    """Return whether a document is about the form that a question names, and of its years if the question names any."""
    document_years = next(row["years"] for row in searcher.facts.documents if row["document_id"] == result.document)
    years = ranking.route.years
    return score_form(result.form, ranking.route) == 1.0 and (not years or not document_years.isdisjoint(years))
