"""Standard sections of instructions: who must file a form, when, and where.

Every booklet of instructions has them, under headings of their own. The words of such a question are in many of its
passages, most of all in the notices about paperwork ("Do not send the form to this address").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taxkg_assets.retrieval.answering.context import Spot, fill_section, fill_table
from taxkg_assets.retrieval.answering.stated import UNRANKED, Findings, find_plain_words, is_current, name_edition
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


@dataclass(slots=True)
class _Section:
    """A section with a standard heading.

    Attributes:
        order: Preference of its heading, and its depth.
        is_whole: Whether it says all that a question of its kind is for.
        rows: Rows that begin the text under its heading and under each heading below it.
    """

    order: tuple[int, int]
    is_whole: bool
    rows: list[int]


def find_standard_sections(
    searcher: Searcher, question: str, ranking: Ranking, *, allowed: Collection[str]
) -> Findings:
    """Find the standard sections of a form's instructions that a question asks for, such as who must file.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question. A question about a line or a box asks for no standard section.
        allowed: Documents that may be quoted.

    Returns:
        The beginning of each section; empty where the question asks for something else, or where the instructions have
        no such section.
    """
    route = ranking.route
    kind, rules = read_kind(question), load_standard_sections()
    if not kind or route.keys or route.unknown_forms or _names_other_number(question, route):
        return Findings()
    documents = _find_instructions(searcher, route, allowed=allowed)
    sections = sorted(_find_sections(searcher, documents, kind), key=lambda own: (own.order, own.rows))
    chosen = [own for own in sections if own.order == sections[0].order][: rules.most]
    contexts = open_contexts([row for own in chosen for row in own.rows[: rules.parts]], searcher.passages)
    units: list[tuple[int, Unit]] = []
    for own in chosen:
        edition = name_edition(searcher, documents[int(searcher.passages.document_number[own.rows[0]])])
        units += quote_section(own.rows[: rules.parts], contexts, edition=edition, words=rules.words)
    is_whole = all(own.is_whole for own in chosen)
    return Findings(units, is_whole=is_whole, frame=rules.frame, most_other_words=rules.most_other_words)


def _names_other_number(question: str, route: Route) -> bool:
    """Return whether a question names one more form, by its number alone: "Forms 941 and 944"."""
    known = {*" ".join(route.forms).replace("(", " ").replace(")", " ").split(), *map(str, route.years)}
    return any(number not in known and number.partition("-")[0] not in known for number in _NUMBER.findall(question))


def find_form_purposes(searcher: Searcher, question: str, ranking: Ranking, *, allowed: Collection[str]) -> Findings:
    """Find the form for a purpose that a question describes: "which form is for gifts?".

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question. A question that already names a form is excluded.
        allowed: Documents that may be quoted.

    Returns:
        The first purpose that contains the words of the question; empty where the question asks for something else, or
        where no instructions among the first passages state such a purpose.
    """
    route = ranking.route
    rules = load_standard_sections()
    if route.forms or route.keys or not rules.form_questions.matches(question):
        return Findings()
    for number, own in _list_instructions(searcher, ranking, allowed=allowed).items():
        sections = sorted(_find_sections(searcher, [number], _PURPOSE), key=lambda own: (own.order, own.rows))
        rows = sections[0].rows[:1] if sections else []
        edition = name_edition(searcher, own["document_id"])
        units = quote_section(rows, open_contexts(rows, searcher.passages), edition=edition, words=rules.words)
        frame = f"{rules.frame} {rules.form_frame} {own['title']}"
        said = " ".join([frame, *(_read_purpose(unit) for _, unit in units)])
        if units and not find_plain_words(question) - find_plain_words(said):
            return Findings(units, is_whole=True, frame=frame, most_other_words=0)
    return Findings()


def _read_purpose(unit: Unit) -> str:
    """Return the beginning of a stated purpose without what the form is not for."""
    begin = " ".join(" ".join(piece.text for piece in unit.pieces).split()[: load_standard_sections().purpose_words])
    sentences = (begin[start:end] for start, end in find_sentences(begin))
    return " ".join(own for own in sentences if not load_answers().denials.matches(own))


def _list_instructions(searcher: Searcher, ranking: Ranking, *, allowed: Collection[str]) -> dict[int, IndexedDocument]:
    """List the current instructions among the documents of the first candidates, by number, best first."""
    found: dict[int, IndexedDocument] = {}
    for candidate in ranking.candidates:
        number = int(searcher.passages.document_number[candidate.row])
        own = searcher.facts.documents[number]
        is_own = own["document_id"] in allowed and own["doc_type"] == _INSTRUCTIONS
        if is_own and is_current(searcher, own, ranking.route, allowed=allowed):
            found[number] = own
        if len(found) == load_standard_sections().documents:
            break
    return found


def quote_section(
    rows: Sequence[int], contexts: Mapping[int, PassageContext], *, edition: str, words: int
) -> list[tuple[int, Unit]]:
    """Quote what begins under a heading and under each heading below it.

    Args:
        rows: Rows of the index that begin these texts.
        contexts: Lines around each row.
        edition: Form and edition to name.
        words: Largest number of words that are quoted.

    Returns:
        Each text with its row; one that is cut has a note.
    """
    left, rules = words, load_standard_sections()
    units: list[tuple[int, Unit]] = []
    for row in rows:
        statements = read_row(row, contexts[row], route=Route(), passage=0, hit=row, wanted=frozenset())
        first = next((own for own in statements if own.is_opening or not own.is_pointer), None)
        if first is None:
            continue
        draft, whole = _draft_opening(first, words=left)
        left -= draft.words
        unit = finish_unit(draft, rank=UNRANKED, edition=edition)
        is_cut = bool(whole - draft.spots) or (left <= 0 and row != rows[-1])
        note = [Piece(role="note", text=rules.note)] if is_cut and unit.pieces[-1].role != "note" else []
        units.append((row, unit.model_copy(update={"pieces": [*unit.pieces, *note]})))
        if left <= 0:
            break
    return units


def _draft_opening(first: Statement, *, words: int) -> tuple[Draft, set[Spot]]:
    """Draft the text under a heading from its first statement on, or the table there; and return what all of it is."""
    context, spot = first.context, (first.line_ix, first.sentence)
    draft = draft_unit(first, worth=1.0)
    if first.line.is_table:
        draft.spots |= fill_table(context, spot, rows=load_standard_sections().rows)
        return draft, fill_table(context, spot, rows=len(context.lines))
    draft.spots |= fill_section(context, spot, words=words)
    return draft, fill_section(context, spot)


def read_kind(question: str) -> str:
    """Classify which standard section a question asks for.

    Args:
        question: Words of the user.

    Returns:
        Id of the first rule of `questions` that matches; empty for none. A negated question matches no section, except
        the one about penalties for not filing.
    """
    rules = load_standard_sections()
    kind = next((rule.id for rule in rules.questions if rule.pattern.search(question)), "")
    is_barred = kind != _PENALTIES and rules.barred.matches(question)
    return "" if is_barred else kind


def _find_instructions(searcher: Searcher, route: Route, *, allowed: Collection[str]) -> dict[int, str]:
    """Find the instructions for the forms of a question by number: those that are current, or of its years."""
    parents = {form.rpartition("(Form ")[2].rstrip(")") for form in route.forms if "(" in form}
    forms = {*route.forms} - parents  # Schedule B (Form 1040) is one form
    return {
        number: own["document_id"]
        for number, own in enumerate(searcher.facts.documents)
        if own["document_id"] in allowed and own["doc_type"] == _INSTRUCTIONS
        if forms and forms <= {*split_forms(own["document_form"])} and is_current(searcher, own, route, allowed=allowed)
    }


def _find_sections(searcher: Searcher, documents: Collection[int], kind: str) -> list[_Section]:
    """Find the sections of some documents with a heading of a kind; the first text may be under a heading below it."""
    facts, found = searcher.passages, dict[tuple[int, tuple[str, ...]], _Section | None]()
    rules = [rule for rule in load_standard_sections().headings if rule.kind == kind]
    rows = np.flatnonzero(np.isin(facts.document_number, list(documents)) & facts.opens_anchor).tolist()
    facts.prefetch(rows, ("heading_path",))
    for row in rows:
        headings = tuple(facts.columns["heading_path"][row].split(" > "))
        for depth in range(1, len(headings)):
            name = (int(facts.document_number[row]), headings[: depth + 1])
            if name not in found:
                place = next((place for place, rule in enumerate(rules) if rule.pattern.search(headings[depth])), None)
                found[name] = None if place is None else _Section((place, depth), rules[place].is_whole, [])
            if (section := found[name]) is not None:
                section.rows.append(row)
    return [section for section in found.values() if section is not None]
