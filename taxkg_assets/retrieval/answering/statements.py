"""Split passages into statements: sentences, items of lists, rows of tables.

A passage may contain the text of several boxes, and a sentence rarely names the box that it is about. So each statement
is marked as foreign or not. It is foreign if it is about another form, box, line or code than the question, unless it
names the one in the question. If the question names no box, the box of the passage that the search found counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from taxkg_assets.retrieval.answering.table_rows import find_captions, find_headers, is_row_or_note
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import CELL_SEPARATOR, Line
from taxkg_assets.retrieval.index.passage_context import PassageContext, open_contexts
from taxkg_assets.retrieval.query.form_match import OTHER_FORM, score_form
from taxkg_assets.retrieval.query.router import Route, covers_key, find_kind, find_listed_codes
from taxkg_assets.retrieval.results import Result
from taxkg_assets.rules.models.answers import load_answers

_NO_LETTERS = re.compile(r"[\W\d_]+")
_ENDS = (".", "?", "!", ":")
_SCHEDULE = re.compile(r"\bSchedules? [\w, -]{1,20} \(Forms? [^()]*\)")
_CLOSERS = ")”\"’' "


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, an item or a table row of a passage.

    Attributes:
        context: Lines around it.
        line_ix: Index of its line in `context`.
        sentence_ix: Index of the sentence in the line.
        text: Its text.
        row: Row of the index.
        passage: Index of its passage among the results.
        terms: Its search terms.
        context_terms: Search terms of its heading, list introductions and table headers.
        is_hit: Whether it is in the chunk that the search found, not in a chunk around it.
        is_foreign: Whether it is about another form, box, line, code or edition than the question.
        explained_keys: Keys of the question whose explanation begins with it.
        is_pointer: Whether it refers the reader to another text.
        is_fragment: Whether it is not a whole sentence.
        is_figures: Whether it mostly consists of figures.
        is_example: Whether it is part of an example.
        is_opening: Whether it is the first statement under the heading of the hit.
        is_expired: Whether it says that it no longer applies.
    """

    context: PassageContext
    line_ix: int
    sentence_ix: int
    text: str
    row: int
    passage: int
    terms: frozenset[str]
    context_terms: frozenset[str]
    is_hit: bool
    is_foreign: bool
    explained_keys: tuple[str, ...]
    is_pointer: bool
    is_fragment: bool
    is_figures: bool
    is_example: bool
    is_opening: bool
    is_expired: bool = False

    @property
    def line(self) -> Line:
        """Return the line that contains the statement."""
        return self.context.lines[self.line_ix]

    @property
    def document_id(self) -> str:
        """Return the id of the document that contains the statement."""
        document_id: str = self.context.facts.columns["document_id"][self.row]
        return document_id


def find_statements(
    results: Sequence[Result],
    facts: PassageFacts,
    *,
    route: Route,
    question_terms: frozenset[str] = frozenset(),
    other_editions: frozenset[str] = frozenset(),
) -> list[Statement]:
    """Split passages into statements without duplicates, and mark those that are foreign.

    Args:
        results: Passages, best first.
        facts: Columns of passages.
        route: Route of the question.
        question_terms: Terms of the question. Boilerplate whose heading they do not name is foreign.
        other_editions: Ids of documents of other editions than the question asks about; their statements are foreign.

    Returns:
        Statements in the order of passages and lines.
    """
    row_of_chunk = facts.row_of_chunk
    rows_by_passage = [[row_of_chunk[chunk] for chunk in result.via.chunk_ids] for result in results]
    contexts = open_contexts([row for rows in rows_by_passage for row in rows], facts)
    # Two boxes may have the same text: a foreign statement must not hide one that is not foreign. Two editions may
    # differ in their years only: the better passage is quoted, unless the question names several years.
    unique: dict[tuple[str, bool, str], Statement] = {}
    for passage, (result, rows) in enumerate(zip(results, rows_by_passage, strict=True)):
        is_other_edition = result.document in other_editions
        document_key = result.document if len(route.years) > 1 else ""
        for row in rows:
            for statement in read_row(
                row,
                contexts[row],
                route=route,
                passage=passage,
                hit=row_of_chunk[result.chunk_id],
                question_terms=question_terms,
            ):
                is_foreign = statement.is_foreign or is_other_edition
                key = (_remove_years(_join_with_intros(statement)), is_foreign, document_key)
                if key not in unique:
                    unique[key] = replace(statement, is_foreign=is_foreign)
    return list(unique.values())


def _join_with_intros(statement: Statement) -> str:
    """Return the text of a statement after the introductions of its lists, as two lists may contain the same item."""
    intros = [statement.context.lines[line_ix].text for line_ix in statement.line.intro_ixs]
    return "\n".join([*intros, statement.text])


def _remove_years(text: str) -> str:
    """Return words in lower case without years, to compare statements of two editions."""
    return re.sub(r"\b(?:19|20)\d\d\b", "", " ".join(text.casefold().split()))


def read_row(
    row: int, context: PassageContext, *, route: Route, passage: int, hit: int, question_terms: frozenset[str]
) -> Iterator[Statement]:
    """Yield the statements of one row of the index.

    Args:
        row: Row of the index.
        context: Lines around it.
        route: Route of the question.
        passage: Index of the passage among the results.
        hit: Row of the index that the search found.
        question_terms: Terms of the question.

    Yields:
        Statements in reading order.
    """
    facts, lines = context.facts, context.lines_by_row[row]
    rules = load_answers()
    is_best_row = passage == 0 and row == hit
    is_foreign_row = _is_foreign_row(row, facts, route=route, is_best_row=is_best_row, question_terms=question_terms)
    is_foreign_text = _make_foreign_test(row, hit, facts, route)
    keys_to_explain = _find_explained_keys(row, facts, keys=route.keys)
    is_under_hit = bool(facts.anchor_number[row] == facts.anchor_number[hit])
    text_lines = [line.line_ix for line in lines if not line.is_heading]
    first_line_ix = text_lines[0] if text_lines and facts.opens_anchor[row] else -1
    is_expired, previous_text = False, ""
    for line, sentence_ix in _list_sentences(lines):
        text = line.read_sentence(sentence_ix)
        continues_expired_list = is_expired and previous_text.rstrip().endswith(":")
        is_expired = rules.expired.matches(text) or continues_expired_list
        previous_text = text
        codes = {f"code_{code}" for code in find_listed_codes(text)} if sentence_ix == 0 else set()
        listed_keys = tuple(key for key in route.keys if key in codes)
        if not listed_keys and not _is_readable(line, sentence_ix):
            continue
        is_whole = text.rstrip(_CLOSERS).endswith(_ENDS)
        yield Statement(
            context=context,
            line_ix=line.line_ix,
            sentence_ix=sentence_ix,
            text=text,
            row=row,
            passage=passage,
            terms=find_distinct_terms(text),
            context_terms=_find_context_terms(line, context),
            is_hit=row == hit,
            is_foreign=is_foreign_row or is_foreign_text(text, codes, listed_keys),
            explained_keys=listed_keys or keys_to_explain,
            is_pointer=rules.pointers.matches(text),
            is_fragment=not is_whole and not line.intro_ixs and not line.is_table,
            is_figures=(line.is_table and CELL_SEPARATOR in text) or _is_of_figures(text),
            is_example=_is_example(text, context.heading(row)),
            is_opening=(line.line_ix, sentence_ix) == (first_line_ix, 0) and is_under_hit,
            is_expired=is_expired,
        )
        keys_to_explain = ()  # only the first statement of the row begins the explanation


def _make_foreign_test(
    row: int, hit: int, facts: PassageFacts, route: Route
) -> Callable[[str, Collection[str], Sequence[str]], bool]:
    """Return a function that decides whether a statement of a row is about another form, key or code than the question.

    Args:
        row: Row of the index.
        hit: Row of the index that the search found.
        facts: Columns of passages.
        route: Route of the question.

    Returns:
        Function of a statement's text, the codes that it lists, and those of them that the question names.
    """
    is_of_other_form = score_form(facts.forms[facts.form_number[row]], route) == OTHER_FORM
    # Line 2b of another form is not line 2b of the form in the question, whatever else it says about that form.
    same_keys = [key for key in route.keys if covers_key(facts.columns["anchor_key"][row], (key,))]
    is_of_other_key = _is_of_other_key(row, hit, facts, keys=route.keys)
    asks_for_code = any(key.startswith("code_") for key in route.keys)

    def is_foreign(text: str, codes: Collection[str], listed_keys: Sequence[str]) -> bool:
        if is_of_other_form and not names_form(text, route.forms, keys=same_keys):
            return True
        if listed_keys:
            return False
        lists_other_codes = asks_for_code and bool(codes)
        return lists_other_codes or (is_of_other_key and not names_key(text, route.keys))

    return is_foreign


def _is_foreign_row(
    row: int, facts: PassageFacts, *, route: Route, is_best_row: bool, question_terms: frozenset[str]
) -> bool:
    """Return whether a row is boilerplate, or is for other readers than the question."""
    if _is_for_other_readers(row, route, facts):
        return True
    if is_best_row or covers_key(facts.columns["anchor_key"][row], route.keys):
        return False
    heading_path = facts.columns["heading_path"][row]
    return bool(facts.is_boilerplate[row]) or _is_under_boilerplate(heading_path, question_terms)


def _find_context_terms(line: Line, context: PassageContext) -> frozenset[str]:
    """Return the terms of the heading, the list introductions and the table headers above a line."""
    texts = [context.heading(line.row), *(context.lines[line_ix].text for line_ix in line.intro_ixs)]
    if line.is_table:
        lines = context.lines_by_row[line.row]
        texts += [*find_captions(lines), *(find_headers(lines, line) or ())]
    return find_distinct_terms(" ".join(texts))


def _list_sentences(lines: Sequence[Line]) -> Iterator[tuple[Line, int]]:
    """Yield line and sentence index of the sentences of some lines, except headings, captions and table headers."""
    for line in lines:
        if not line.is_heading and (not line.is_table or is_row_or_note(lines, line)):
            yield from ((line, sentence_ix) for sentence_ix in range(len(line.sentences)))


def _is_readable(line: Line, sentence_ix: int) -> bool:
    """Return whether a sentence can stand alone: no rest of a sentence, no label, no index line, and not too long."""
    limits = load_answers()
    text = line.read_sentence(sentence_ix)
    if text[:1].islower() and not (line.mark or line.is_table):
        return False
    if load_answers().furniture.matches(line.text):
        return False
    min_words = 2 if line.intro_ixs or line.is_table else limits.least_words
    return bool(min_words <= len(text.split()) <= limits.most_words)


def _is_of_figures(text: str) -> bool:
    words = text.split()
    figures = sum(_NO_LETTERS.fullmatch(word) is not None for word in words)
    return bool(figures > load_answers().most_figures * len(words))


def _is_example(text: str, heading: str) -> bool:
    return load_answers().examples.matches(text) or load_answers().examples.matches(heading)


def _is_under_boilerplate(path: str, question_terms: frozenset[str]) -> bool:
    """Return whether a text is under a boilerplate heading ("Future Developments") that the question does not name."""
    headings = path.split(" > ")[1:]
    min_share = load_answers().unasked_share

    def is_requested(text: str) -> bool:
        terms = find_distinct_terms(text)
        return len(terms & question_terms) >= min_share * len(terms)

    for rule in load_answers().unasked:
        for ix, heading in enumerate(headings):
            subheadings = " ".join(headings[ix + 1 :])
            if rule.pattern.search(heading) and not (rule.is_bare and subheadings):
                asks_for_subheading = bool(find_distinct_terms(subheadings)) and is_requested(subheadings)
                return not is_requested(heading) and not asks_for_subheading
    return False


def _is_for_other_readers(row: int, route: Route, facts: PassageFacts) -> bool:
    """Return whether a row addresses the recipient of a form while the question is a filer's, or the reverse."""
    min_certainty = load_answers().certain_side
    perspective = facts.perspectives[int(facts.perspective_number[row])]
    if not facts.has_filer_and_recipient[facts.form_number[row]]:  # the filer of such a form is the taxpayer
        return False
    return route.certainty >= min_certainty and {perspective, route.perspective} == {"filer", "recipient"}


def _find_explained_keys(row: int, facts: PassageFacts, *, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of a question whose explanation begins with a row."""
    if not facts.opens_anchor[row]:
        return ()
    return tuple(key for key in keys if covers_key(facts.columns["anchor_key"][row], (key,)))


def _is_of_other_key(row: int, hit: int, facts: PassageFacts, *, keys: Sequence[str]) -> bool:
    """Return whether a row is about another box, line or code than the question, or than the hit.

    If the question names no line, a row about the line before or after that of the hit is not another one: the lines
    of a return depend on each other, and an answer names the line of each quote.
    """
    row_key = facts.columns["anchor_key"][row]
    kind = find_kind(row_key)
    if not kind or covers_key(row_key, keys):
        return False
    differs_from_hit = bool(facts.anchor_number[row] != facts.anchor_number[hit]) and (bool(keys) or kind != "line")
    return differs_from_hit or any(find_kind(key) == kind for key in keys)


def names_form(text: str, forms: Sequence[str], *, keys: Sequence[str] = ()) -> bool:
    """Return whether a text names a form of the question, as instructions may discuss other forms.

    "Schedule 1 (Form 1040)" names the schedule, not the form that it is filed with.

    Args:
        text: Text of a statement.
        forms: Forms of the question.
        keys: Boxes and lines of that form, one of which the text must name, too; empty if the form is enough.
    """
    text_without_schedules = _SCHEDULE.sub(" ", text)
    return any(
        _find_form(form, keys).search(text if form.startswith("Schedule") else text_without_schedules) for form in forms
    )


def _find_form(form: str, keys: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of a form name, with one of some keys before or after it: "line 2b of Form 1040"."""
    name = rf"(?<![\w-]){re.escape(form)}(?![\w-])"
    if not keys:
        return re.compile(name)
    key_names = "|".join(rf"{kind}e?s? {re.escape(value)}" for kind, _, value in (key.partition("_") for key in keys))
    before, after = rf"(?:{key_names}),? (?:of|on) (?:[\w-]+ ){{0,4}}{name}", rf"{name}[^.;:]{{0,40}}?, (?:{key_names})"
    return re.compile(rf"(?:{before}|{after})(?!\w)", re.IGNORECASE)


def names_key(text: str, keys: Sequence[str]) -> bool:
    """Return whether a text names a box, line or code of the question: "amounts of box 2a", "boxes 1a and 2a".

    Args:
        text: Text of a statement.
        keys: Keys of the question.
    """
    words = text.casefold().replace("(", " ").replace(")", " ").replace(",", " ").rstrip(".").split()
    return any(
        value.casefold() in words and any(word.startswith(kind) for word in words)
        for kind, _, value in (key.partition("_") for key in keys)
    )
