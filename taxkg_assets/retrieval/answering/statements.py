"""Statements of passages: whole sentences, items with what leads them in, rows of tables with their headers.

A passage collects text under one heading, adjacent boxes included, and a sentence alone does not name the box that it
is about. So a statement is foreign if it belongs to a form other than the one in the question, or to a box, line or
code other than the one in the question (or, if the question names none, than that of the hit), unless it names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from taxkg_assets.retrieval.answering.table_rows import find_captions, find_headers, states_something
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
    """A sentence, an item or a table row of a passage, in the order of reading.

    Attributes:
        context: Lines around it.
        place: Its line in `context`.
        sentence: Its sentence in the line.
        text: Its words.
        row: Row of the index.
        passage: Number of its passage, from 0.
        terms: Its search terms.
        around: Terms of its headings and lead-ins.
        is_hit: It is in the chunk that was found, not in its surroundings.
        is_foreign: It is of another form, box, line or code.
        opens: Keys of the question that it explains first.
        is_pointer: It refers the reader to another place.
        is_fragment: It is not a whole sentence.
        is_figures: It is a row of figures.
        is_example: It is part of an example.
        is_opening: It is the first statement under the heading of the hit.
        is_expired: Its own words end it in the past.
    """

    context: PassageContext
    line_ix: int
    sentence: int
    text: str
    row: int
    passage: int
    terms: frozenset[str]
    around: frozenset[str]
    is_hit: bool
    is_foreign: bool
    opens: tuple[str, ...]
    is_pointer: bool
    is_fragment: bool
    is_figures: bool
    is_example: bool
    is_opening: bool
    is_expired: bool = False

    @property
    def line(self) -> Line:
        """Return the line that contains it."""
        return self.context.lines[self.line_ix]


def find_statements(
    results: Sequence[Result],
    facts: PassageFacts,
    *,
    route: Route,
    wanted: frozenset[str] = frozenset(),
    others: frozenset[str] = frozenset(),
) -> list[Statement]:
    """Split passages into statements, without duplicates, and mark those about other forms or editions.

    Args:
        results: Passages, best first.
        facts: Columns of passages.
        route: Route of the question.
        wanted: Terms of the question; boilerplate sections are foreign unless it names them.
        others: Documents of other editions than the one that the question asks about.

    Returns:
        Statements in the order of passages and lines.
    """
    number_of = facts.row_of_chunk
    rows = [[number_of[chunk] for chunk in result.via.chunk_ids] for result in results]
    contexts = open_contexts([row for own in rows for row in own], facts)
    found: list[Statement] = []
    seen: set[tuple[str, bool, str]] = set()
    for passage, (result, own_rows) in enumerate(zip(results, rows, strict=True)):
        hit = number_of[result.chunk_id]
        for row in own_rows:
            for own in read_row(row, contexts[row], route=route, passage=passage, hit=hit, wanted=wanted):
                # Two boxes may have the same text: that of the wrong one must not hide the right one's.
                # Two editions may say the same about their years: the better passage is quoted, unless the
                # question names both.
                own = replace(own, is_foreign=own.is_foreign or result.document in others)
                said_by = result.document if len(route.years) > 1 else ""
                key = (_without_years(_say_whole(own)), own.is_foreign, said_by)
                if key not in seen:
                    seen.add(key)
                    found.append(own)
    return found


def _say_whole(own: Statement) -> str:
    """Return the statement after its lead-ins: two lists may contain the same item."""
    return "\n".join([*(own.context.lines[place].text for place in own.line.intro_ixs), own.text])


def _without_years(text: str) -> str:
    return re.sub(r"\b(?:19|20)\d\d\b", "", " ".join(text.casefold().split()))


def read_row(
    row: int, context: PassageContext, *, route: Route, passage: int, hit: int, wanted: frozenset[str]
) -> Iterator[Statement]:
    """Yield the statements of one row of the index.

    Args:
        row: Row of the index.
        context: Lines around it.
        route: Route of the question.
        passage: Number of its passage, from 0.
        hit: Row that was found.
        wanted: Terms of the question.

    Yields:
        Statements in reading order.
    """
    facts, lines = context.facts, context.lines_by_row[row]
    is_foreign = _is_foreign(row, facts, route=route, is_first=passage == 0 and row == hit, wanted=wanted)
    is_of_other_form = score_form(facts.forms[facts.form_number[row]], route) == OTHER_FORM
    # Line 2b of another form is no line 2b of the form in the question, whatever else it says about that form.
    same_keys = [key for key in route.keys if covers_key(facts.columns["anchor_key"][row], (key,))]
    is_of_other_key = _is_of_other_key(row, hit, facts, keys=route.keys)
    asks_for_code = any(key.startswith("code_") for key in route.keys)
    opened = _find_opened(row, facts, keys=route.keys)
    opening = next((line.line_ix for line in lines if facts.opens_anchor[row] and not line.is_heading), -1)
    is_expired, before = False, ""
    for line, sentence in _list_statements(lines):
        text = line.read_sentence(sentence)
        is_expired = load_answers().expired.matches(text) or (is_expired and before.rstrip().endswith(":"))
        before = text
        codes = {f"code_{code}" for code in find_listed_codes(text)} if sentence == 0 else set()
        listed = tuple(key for key in route.keys if key in codes)
        if not listed and not _is_readable(line, sentence):
            continue
        yield Statement(
            context=context,
            line_ix=line.line_ix,
            sentence=sentence,
            text=text,
            row=row,
            passage=passage,
            terms=find_distinct_terms(text),
            around=_find_around(line, context),
            is_hit=row == hit,
            is_foreign=is_foreign
            or (asks_for_code and bool(codes) and not listed)
            or (is_of_other_form and not names_form(text, route.forms, keys=same_keys))
            or (is_of_other_key and not listed and not names_key(text, route.keys)),
            opens=listed or opened,
            is_pointer=load_answers().pointers.matches(text),
            is_fragment=not text.rstrip(_CLOSERS).endswith(_ENDS) and not line.intro_ixs and not line.is_table,
            is_figures=(line.is_table and CELL_SEPARATOR in text) or _is_of_figures(text),
            is_example=_is_example(text, context.heading(row)),
            is_opening=(line.line_ix, sentence) == (opening, 0)
            and bool(facts.anchor_number[row] == facts.anchor_number[hit]),
            is_expired=is_expired,
        )
        opened = ()


def _is_foreign(row: int, facts: PassageFacts, *, route: Route, is_first: bool, wanted: frozenset[str]) -> bool:
    """Return whether a row is for another audience than the question's, or boilerplate."""
    if _is_of_other_side(row, route, facts):
        return True
    if is_first or covers_key(facts.columns["anchor_key"][row], route.keys):
        return False
    return bool(facts.is_boilerplate[row]) or _is_unasked(facts.columns["heading_path"][row], wanted)


def _find_around(line: Line, context: PassageContext) -> frozenset[str]:
    """Return the terms of the heading, the lead-ins and the headers above a line."""
    texts = [context.heading(line.row), *(context.lines[place].text for place in line.intro_ixs)]
    if line.is_table:
        lines = context.lines_by_row[line.row]
        texts += [*find_captions(lines), *(find_headers(lines, line) or ())]
    return find_distinct_terms(" ".join(texts))


def _list_statements(lines: Sequence[Line]) -> Iterator[tuple[Line, int]]:
    """Yield sentences and items of some lines; a heading, a caption and the headers of a table only name them."""
    for line in lines:
        if not line.is_heading and (not line.is_table or states_something(lines, line)):
            yield from ((line, sentence) for sentence in range(len(line.sentences)))


def _is_readable(line: Line, sentence: int) -> bool:
    """Return whether the line can stand alone: no rest of a sentence, no label, no index line, and not too long."""
    limits = load_answers()
    text = line.read_sentence(sentence)
    if text[:1].islower() and not (line.mark or line.is_table):
        return False
    if load_answers().furniture.matches(line.text):
        return False
    least = 2 if line.intro_ixs or line.is_table else limits.least_words
    return bool(least <= len(text.split()) <= limits.most_words)


def _is_of_figures(text: str) -> bool:
    words = text.split()
    figures = sum(_NO_LETTERS.fullmatch(word) is not None for word in words)
    return bool(figures > load_answers().most_figures * len(words))


def _is_example(text: str, heading: str) -> bool:
    return load_answers().examples.matches(text) or load_answers().examples.matches(heading)


def _is_unasked(path: str, wanted: frozenset[str]) -> bool:
    """Return whether a text is under a boilerplate heading that the question does not name: "Future Developments"."""
    headings = path.split(" > ")[1:]
    for rule in load_answers().unasked:
        for number, heading in enumerate(headings):
            if rule.pattern.search(heading) and not (rule.is_bare and headings[number + 1 :]):
                named = find_distinct_terms(heading)
                below = find_distinct_terms(" ".join(headings[number + 1 :]))
                least = load_answers().unasked_share
                return len(named & wanted) < least * len(named) and not len(below & wanted) >= least * len(below) > 0
    return False


def _is_of_other_side(row: int, route: Route, facts: PassageFacts) -> bool:
    """Return whether a row addresses the recipient where the filer is meant, or the reverse."""
    limit, side = load_answers().certain_side, facts.perspectives[int(facts.perspective_number[row])]
    if not facts.has_filer_and_recipient[facts.form_number[row]]:  # the filer of such a form is the taxpayer
        return False
    return route.certainty >= limit and {side, route.perspective} == {"filer", "recipient"}


def _find_opened(row: int, facts: PassageFacts, *, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the requested keys whose text begins with this row."""
    if not facts.opens_anchor[row]:
        return ()
    return tuple(key for key in keys if covers_key(facts.columns["anchor_key"][row], (key,)))


def _is_of_other_key(row: int, hit: int, facts: PassageFacts, *, keys: Sequence[str]) -> bool:
    """Return whether a row is of another box, line or code than the requested one, or than that of the hit.

    Lines of a return follow one from the other, and an answer names the line of each: where the question names none,
    the text of a line next to that of the hit is not foreign.
    """
    own = facts.columns["anchor_key"][row]
    kind = find_kind(own)
    if not kind or covers_key(own, keys):
        return False
    is_gathered = bool(facts.anchor_number[row] != facts.anchor_number[hit])
    is_gathered &= bool(keys) or kind != "line"
    return is_gathered or any(find_kind(key) == kind for key in keys)


def names_form(text: str, forms: Sequence[str], *, keys: Sequence[str] = ()) -> bool:
    """Return whether a text names a form in the question, as instructions may discuss other forms.

    "Schedule 1 (Form 1040)" names the schedule, not the form that it is filed with.

    Args:
        text: Text of a statement.
        forms: Forms of the question.
        keys: Boxes and lines, one of which must be named as one of that form; empty if the form is enough.
    """
    bare = _SCHEDULE.sub(" ", text)
    return any(_find_form(form, keys).search(text if form.startswith("Schedule") else bare) for form in forms)


def _find_form(form: str, keys: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of a form, with one of some keys before or after it: "line 2b of Form 1040"."""
    name = rf"(?<![\w-]){re.escape(form)}(?![\w-])"
    if not keys:
        return re.compile(name)
    places = "|".join(rf"{kind}e?s? {re.escape(value)}" for kind, _, value in (key.partition("_") for key in keys))
    before, after = rf"(?:{places}),? (?:of|on) (?:[\w-]+ ){{0,4}}{name}", rf"{name}[^.;:]{{0,40}}?, (?:{places})"
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
