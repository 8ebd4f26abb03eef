"""Standard sections of instructions: who must file a form, when, and where.

Every booklet of instructions has these sections, each under a heading of its own; information returns print their due
dates behind their copies. A search by words often finds other passages of the booklet instead, such as the notice about
paperwork ("Do not send the form to this address").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taxkg_assets.retrieval.answering.context import SentenceRef, fill_section, fill_table
from taxkg_assets.retrieval.answering.openings import UNRANKED, Findings, find_plain_words, is_current, name_edition
from taxkg_assets.retrieval.answering.statements import Statement, read_row
from taxkg_assets.retrieval.answering.units import Draft, Piece, Unit, draft_unit, finish_unit
from taxkg_assets.retrieval.index.document_facts import IndexedDocument
from taxkg_assets.retrieval.index.passage_context import PassageContext, open_contexts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.standard_sections import load_standard_sections
from taxkg_assets.rules.sentences import find_sentences

_NUMBER = re.compile(r"(?:\band|\bor|[,/&])\s*(?:Form )?(\d{3,4}(?:-[A-Z]{1,4})?)(?![\w,.]?\d)")
_INSTRUCTIONS, _PURPOSE, _PENALTIES = "filer_instructions", "purpose", "penalties"
_FORM, _PRINTED_ON_FORMS = "form", frozenset({"when_to_file"})


@dataclass(slots=True)
class _Section:
    """A section with a standard heading.

    Attributes:
        order: Sort key: index of the rule that matches its heading, and depth of the heading.
        is_whole: Whether it contains everything that a question of its kind asks for.
        rows: First row under its heading and under each heading below that one.
    """

    order: tuple[int, int]
    is_whole: bool
    rows: list[int]


def find_standard_sections(
    searcher: Searcher, question: str, ranking: Ranking, *, allowed_documents: Collection[str]
) -> Findings:
    """Find the standard sections of a form's instructions that a question asks for, such as who must file.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        allowed_documents: Ids of the documents that may be quoted.

    Returns:
        The beginning of each section; empty where the question names a line or box or asks for something else, or where
        the instructions have no such section.
    """
    route = ranking.route
    kind, rules = find_section_kind(question), load_standard_sections()
    if not kind or route.keys or route.unknown_forms or _names_other_number(question, route):
        return Findings()
    documents = _find_documents(searcher, route, _INSTRUCTIONS, allowed_documents=allowed_documents)
    years_behind = None
    if not documents and kind in _PRINTED_ON_FORMS:
        documents, years_behind = _find_forms(searcher, route, kind, allowed_documents=allowed_documents)
    sections = sorted(_find_sections(searcher, documents, kind), key=lambda section: (section.order, section.rows))
    chosen = [section for section in sections if section.order == sections[0].order][: rules.most]
    contexts = open_contexts([row for section in chosen for row in section.rows[: rules.parts]], searcher.passages)
    units: list[tuple[int, Unit]] = []
    for section in chosen:
        edition = name_edition(searcher, documents[int(searcher.passages.document_number[section.rows[0]])])
        units += quote_section(section.rows[: rules.parts], contexts, edition=edition, max_words=rules.words)
    return Findings(
        units,
        covers_question=all(section.is_whole for section in chosen),
        request_words=rules.frame,
        max_other_words=rules.most_other_words,
        years_behind=years_behind,
        settles_question=years_behind is not None,  # the passages are about other things than when a form is due
    )


def _names_other_number(question: str, route: Route) -> bool:
    """Return whether a question names another form by its number alone, as 944 in "Forms 941 and 944"."""
    routed_numbers = {*" ".join(route.forms).replace("(", " ").replace(")", " ").split(), *map(str, route.years)}
    return any(
        number not in routed_numbers and number.partition("-")[0] not in routed_numbers
        for number in _NUMBER.findall(question)
    )


def find_form_purposes(
    searcher: Searcher, question: str, ranking: Ranking, *, allowed_documents: Collection[str]
) -> Findings:
    """Find the form for a purpose that a question describes: "which form is for gifts?".

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        allowed_documents: Ids of the documents that may be quoted.

    Returns:
        The first purpose that contains the words of the question; empty where the question names a form or asks for
        something else, or where no instructions among the first candidates state such a purpose.
    """
    route = ranking.route
    rules = load_standard_sections()
    if route.forms or route.keys or not rules.form_questions.matches(question):
        return Findings()
    for number, document in _list_instructions(searcher, ranking, allowed_documents=allowed_documents).items():
        sections = sorted(
            _find_sections(searcher, [number], _PURPOSE), key=lambda section: (section.order, section.rows)
        )
        rows = sections[0].rows[:1] if sections else []
        edition = name_edition(searcher, document["document_id"])
        units = quote_section(rows, open_contexts(rows, searcher.passages), edition=edition, max_words=rules.words)
        request_words = f"{rules.frame} {rules.form_frame} {document['title']}"
        covered_text = " ".join([request_words, *(_read_purpose(unit) for _, unit in units)])
        if units and not find_plain_words(question) - find_plain_words(covered_text):
            return Findings(units, covers_question=True, request_words=request_words, max_other_words=0)
    return Findings()


def _read_purpose(unit: Unit) -> str:
    """Return the beginning of a quoted purpose, without sentences that say what the form is not for."""
    beginning = " ".join(
        " ".join(piece.text for piece in unit.pieces).split()[: load_standard_sections().purpose_words]
    )
    sentences = (beginning[start:end] for start, end in find_sentences(beginning))
    return " ".join(sentence for sentence in sentences if not load_answers().denials.matches(sentence))


def _list_instructions(
    searcher: Searcher, ranking: Ranking, *, allowed_documents: Collection[str]
) -> dict[int, IndexedDocument]:
    """Return the current instructions among the candidates by document number, best first."""
    instructions: dict[int, IndexedDocument] = {}
    for candidate in ranking.candidates:
        number = int(searcher.passages.document_number[candidate.row])
        document = searcher.facts.documents[number]
        may_be_quoted = document["document_id"] in allowed_documents and document["doc_type"] == _INSTRUCTIONS
        if may_be_quoted and is_current(searcher, document, ranking.route, allowed_documents=allowed_documents):
            instructions[number] = document
        if len(instructions) == load_standard_sections().documents:
            break
    return instructions


def quote_section(
    rows: Sequence[int], contexts: Mapping[int, PassageContext], *, edition: str, max_words: int
) -> list[tuple[int, Unit]]:
    """Quote the text under a heading and under each heading below it.

    Args:
        rows: First row under each of these headings.
        contexts: Lines around each row.
        edition: Form and edition for the labels of the units.
        max_words: Maximum number of words.

    Returns:
        Units with their rows; a unit whose text is cut ends in a note.
    """
    words_left, rules = max_words, load_standard_sections()
    units: list[tuple[int, Unit]] = []
    for row in rows:
        statements = read_row(row, contexts[row], route=Route(), passage=0, hit=row, question_terms=frozenset())
        first = next((statement for statement in statements if statement.is_opening or not statement.is_pointer), None)
        if first is None:
            continue
        draft, section_refs = _draft_opening(first, max_words=words_left)
        words_left -= draft.words
        unit = finish_unit(draft, rank=UNRANKED, edition=edition)
        is_cut = bool(section_refs - draft.refs) or (words_left <= 0 and row != rows[-1])
        note = [Piece(role="note", text=rules.note)] if is_cut and unit.pieces[-1].role != "note" else []
        units.append((row, unit.model_copy(update={"pieces": [*unit.pieces, *note]})))
        if words_left <= 0:
            break
    return units


def _draft_opening(first: Statement, *, max_words: int) -> tuple[Draft, set[SentenceRef]]:
    """Draft the text, or the table, that begins with a statement, up to a number of words.

    Returns:
        The draft, and the references of the whole section or table.
    """
    context, ref = first.context, (first.line_ix, first.sentence_ix)
    draft = draft_unit(first, score=1.0)
    if first.line.is_table:
        draft.refs |= fill_table(context, ref, rows=load_standard_sections().rows)
        return draft, fill_table(context, ref, rows=len(context.lines))
    draft.refs |= fill_section(context, ref, words=max_words)
    return draft, fill_section(context, ref)


def find_section_kind(question: str) -> str:
    """Find the kind of standard section that a question asks for.

    Args:
        question: Words of the user.

    Returns:
        Id of the first rule of `questions` that matches; empty for none. A negated question, such as "who need not
        file", only matches the section about penalties for not filing.
    """
    rules = load_standard_sections()
    kind = next((rule.id for rule in rules.questions if rule.pattern.search(question)), "")
    is_negated = kind != _PENALTIES and rules.barred.matches(question)
    return "" if is_negated else kind


def _find_documents(
    searcher: Searcher, route: Route, doc_type: str, *, allowed_documents: Collection[str], is_any_edition: bool = False
) -> dict[int, str]:
    """Return by number the documents of a type for all forms of a question that are current, or of its years.

    Args:
        searcher: Opened search.
        route: Route of the question.
        doc_type: Type of the documents, such as instructions.
        allowed_documents: Ids of the documents that may be quoted.
        is_any_edition: Whether older editions count, too.
    """
    parent_forms = {form.rpartition("(Form ")[2].rstrip(")") for form in route.forms if "(" in form}
    forms = {*route.forms} - parent_forms  # Schedule B (Form 1040) is one form
    return {
        document_number: document["document_id"]
        for document_number, document in enumerate(searcher.facts.documents)
        if document["document_id"] in allowed_documents and document["doc_type"] == doc_type
        if forms
        and forms <= {*split_forms(document["document_form"])}
        and (
            (is_any_edition and document["is_draft"] == route.wants_draft)
            or is_current(searcher, document, route, allowed_documents=allowed_documents)
        )
    }


def _find_forms(
    searcher: Searcher, route: Route, kind: str, *, allowed_documents: Collection[str]
) -> tuple[dict[int, str], int | None]:
    """Find the form itself where it prints a section, and the age of its edition.

    Without a year in the question, the newest edition with the section counts; its answer names the edition.

    Returns:
        Documents by number, and how many years they are behind; None for a current edition, or one of the question's
        year.
    """
    forms = _find_documents(searcher, route, _FORM, allowed_documents=allowed_documents)
    if route.years or _find_sections(searcher, forms, kind):
        return forms, None
    forms = _find_documents(searcher, route, _FORM, allowed_documents=allowed_documents, is_any_edition=True)
    numbers = searcher.passages.document_number
    printing = {int(numbers[section.rows[0]]) for section in _find_sections(searcher, forms, kind)}
    revisions = {number: searcher.facts.documents[number]["revision"] for number in printing}
    newest = max(revisions.values(), default="")
    chosen = {number: forms[number] for number, revision in revisions.items() if revision == newest}
    ages = [searcher.facts.count_years_behind(searcher.facts.documents[number]) for number in chosen]
    return chosen, min(ages, default=None)


def _find_sections(searcher: Searcher, documents: Collection[int], kind: str) -> list[_Section]:
    """Find the sections of some documents with a heading of a kind, and the rows under it and under its subheadings."""
    facts, section_by_path = searcher.passages, dict[tuple[int, tuple[str, ...]], _Section | None]()
    rules = [rule for rule in load_standard_sections().headings if rule.kind == kind]
    rows = np.flatnonzero(np.isin(facts.document_number, list(documents)) & facts.opens_anchor).tolist()
    facts.prefetch(rows, ("heading_path",))
    for row in rows:
        headings = tuple(facts.columns["heading_path"][row].split(" > "))
        for depth in range(1, len(headings)):
            path_key = (int(facts.document_number[row]), headings[: depth + 1])
            if path_key not in section_by_path:
                rule_ix = next(
                    (rule_ix for rule_ix, rule in enumerate(rules) if rule.pattern.search(headings[depth])), None
                )
                section_by_path[path_key] = (
                    None if rule_ix is None else _Section((rule_ix, depth), rules[rule_ix].is_whole, [])
                )
            if (section := section_by_path[path_key]) is not None:
                section.rows.append(row)
    return [section for section in section_by_path.values() if section is not None]
