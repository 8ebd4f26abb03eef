"""Where the amount on a line or in a box goes, or comes from, in the words of the documents, from `flows`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest

import polars as pl

from taxkg_assets.retrieval.answering.stated import (
    UNRANKED,
    Findings,
    find_newest,
    find_row_of_words,
    name_edition,
    name_line,
    read_line,
)
from taxkg_assets.retrieval.answering.statements import Statement, read_row
from taxkg_assets.retrieval.answering.units import Piece, Unit, draft_unit, finish_unit, merge_drafts
from taxkg_assets.retrieval.index.passage_context import PassageContext, open_contexts
from taxkg_assets.retrieval.query.router import Route, covers_key
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.forms import find_named_forms
from taxkg_assets.rules.models.answers import load_answers

_NUMBERS = re.compile(r"\w+")
_CELLS = "| "
"""Between the cells of a row."""
_MOST_YEARS_OLDER = 1
"""How much older than the newest statement about the same lines another one may be."""
SOURCE, TARGET = "source", "target"


@dataclass(frozen=True, slots=True)
class Direction:
    """The end of a flow that a question names, source or target, and the end that it asks for."""

    known: str
    wanted: str


INTO, OUT_OF = Direction(SOURCE, TARGET), Direction(TARGET, SOURCE)


@dataclass(frozen=True, slots=True)
class FlowEnd:
    """One end of a flow; `document_id` is None for a form that the library lacks."""

    document_id: str | None
    form: str
    part: str
    key: str
    column: str
    code: str

    def describe(self) -> str:
        """Return the name of the line or form as people say it."""
        return name_line(self.form, part=self.part, key=self.key, column=self.column, code=self.code)


@dataclass(frozen=True, slots=True)
class Flow:
    """A row of `flows`, oriented so that the end that the question names comes first."""

    flow_id: str
    known: FlowEnd
    wanted: FlowEnd
    relation: str
    is_same_year: bool
    is_resolved: bool
    document_id: str
    element_id: str | None
    evidence: str
    page: int

    @property
    def year(self) -> int:
        """Return the year of the document that states the flow; 0 if the document has none."""
        return _find_year(self.document_id)


def read_flows(flows: pl.DataFrame, direction: Direction, *, forms: Collection[str]) -> Iterator[Flow]:
    """Read the flows that start or end at some forms.

    Args:
        flows: Table `flows`.
        direction: The end that a question names.
        forms: Forms at that end.

    Yields:
        Flows in the order of the table.
    """
    names = [own.name for own in fields(FlowEnd)]
    for row in flows.filter(pl.col(f"{direction.known}_form").is_in(list(forms))).iter_rows(named=True):
        known, wanted = (
            FlowEnd(**{name: row[f"{end}_{name}"] for name in names}) for end in (direction.known, direction.wanted)
        )
        yield Flow(
            flow_id=row["flow_id"],
            known=known,
            wanted=wanted,
            relation=row["relation"],
            is_same_year=row["is_same_year"],
            is_resolved=not row["problem"],
            document_id=row["document_id"],
            element_id=row["element_id"],
            evidence=" ".join(row["evidence"].split()),
            page=row["page"],
        )


def find_direction(question: str, route: Route) -> Direction | None:
    """Decide whether a question asks where the amount of a line goes or where it comes from.

    Args:
        question: Words of the user.
        route: Its route.

    Returns:
        The direction; None where the question asks for neither, or names no line or box.
    """
    if not route.keys:
        return None
    if load_answers().source_questions.matches(question):
        return OUT_OF
    return INTO if load_answers().destination_questions.matches(question) else None


def find_form_groups(question: str, route: Route, flows: pl.DataFrame) -> list[frozenset[str]]:
    """Find the forms that a question names, each with all the names that `flows` may use for it.

    Args:
        question: Words of the user.
        route: Its route.
        flows: Table `flows`.

    Returns:
        Names of each form.
    """
    names = pl.concat([flows["source_form"], flows["target_form"]]).unique().sort().to_list()
    whole = [name for name in names if "(" in name and name.casefold() in question.casefold()]
    rest = question
    for name in whole:
        rest = re.sub(re.escape(name), " ", rest, flags=re.IGNORECASE)
    groups: dict[str, set[str]] = {name: {name} for name in whole}
    for name in find_named_forms(filter(None, names), rest) or (() if whole else route.forms):
        groups.setdefault(_find_bare_name(name), set()).add(name)
    for same, own in groups.items():
        if chosen := own & set(route.forms):
            groups[same] = {*chosen, *(name for name in own if "(" not in name)}
    return [frozenset(own) for own in groups.values()]


def _find_bare_name(form: str) -> str:
    """Return the name of a form without hyphens, and of a schedule without the form that it is filed with."""
    return form.partition(" (")[0].replace("-", "").casefold()


def find_destinations(searcher: Searcher, question: str, ranking: Ranking, *, allowed: Collection[str]) -> Findings:
    """Find the statements that say where the amounts of the lines in a question go or come from.

    Args:
        searcher: Opened search, with the flows of the home.
        question: Words of the user.
        ranking: Its ranking.
        allowed: Documents that may be quoted.

    Returns:
        Statements; empty where the question asks for neither, or where no flow is known.
    """
    route = ranking.route
    direction = find_direction(question, route)
    if direction is None or searcher.open_flows is None:
        return Findings()
    stated = searcher.open_flows().filter(pl.col("document_id").is_in(list(allowed)))
    forms = find_form_groups(question, route, stated)
    newest = find_newest(searcher, frozenset[str]().union(*forms))
    flows = choose_flows(stated, route, forms=forms, direction=direction, newest=newest)
    if not flows and len(forms) > 1:  # "which line of Schedule 9 goes to line 3 of Form 2077"
        direction = Direction(direction.wanted, direction.known)
        flows = choose_flows(stated, route, forms=forms, direction=direction, newest=newest)
    placed = [(flow, row) for flow in flows if (row := _find_row(searcher, flow)) is not None]
    wanted = [key for key in route.keys if key not in route.codes]
    is_whole = all(any(covers_key(flow.known.key, (key,)) for flow, _ in placed) for key in wanted)
    return Findings([(row, _quote(searcher, flow, row, direction)) for flow, row in placed], is_whole)


def choose_flows(
    flows: pl.DataFrame,
    route: Route,
    *,
    forms: Sequence[frozenset[str]],
    direction: Direction,
    newest: Collection[str],
) -> list[Flow]:
    """Choose the flows that answer a question, one for each pair of a line in it and a line at the other end.

    Args:
        flows: Table `flows`.
        route: Route of the question.
        forms: Forms of the question, each with its names in `flows`.
        direction: The end that the question names.
        newest: Documents of the newest revisions of these forms.

    Returns:
        Flows, each line in turn, at most as many as an answer quotes.
    """
    group_of = {name: number for number, group in enumerate(forms) for name in group}
    codes = {key.partition("_")[2] for key in route.codes} or {""}

    def fits(flow: Flow) -> bool:
        is_between = len(forms) == 1 or group_of.get(flow.wanted.form) not in (None, group_of[flow.known.form])
        return is_between and flow.known.code in codes and covers_key(flow.known.key, route.keys)

    found = [flow for flow in read_flows(flows, direction, forms=group_of) if fits(flow)]
    if route.years:
        found = [flow for flow in found if _find_year(flow.known.document_id or flow.document_id) in route.years]
    else:
        found = [flow for flow in found if flow.known.document_id is None or flow.known.document_id in newest]
        recent = max((flow.year for flow in found), default=0) - _MOST_YEARS_OLDER
        found = [flow for flow in found if flow.year >= recent]

    by_line: dict[tuple[str, int], list[Flow]] = {}
    for flow in sorted(found, key=_find_order):
        by_line.setdefault((flow.known.key, flow.year if len(route.years) > 1 else 0), []).append(flow)
    turns = zip_longest(*(_list_once(own) for own in by_line.values()))
    chosen = [flow for turn in turns for flow in turn if flow is not None]
    return chosen[: max(load_answers().most_destinations, len(by_line))]


def _find_order(flow: Flow) -> tuple[object, ...]:
    """Return what flows of a line are sorted by, the best first."""
    is_within = flow.wanted.form == flow.known.form
    is_taken = flow.relation != "flows_to" and not is_within
    has_condition = flow.evidence.lstrip(", ")[:1].islower()  # the words before it are an if or a when
    is_elsewhere = flow.document_id != flow.known.document_id
    is_unknown = flow.wanted.document_id is None
    far = not flow.is_resolved, is_unknown, has_condition, not flow.is_same_year, is_elsewhere
    return is_taken, is_within, *far, -flow.year, flow.flow_id


def _list_once(flows: Sequence[Flow]) -> list[Flow]:
    """Keep a flow for each line at the other end and each statement, of each form those of the first one's year."""
    kept: dict[tuple[str, str, str], Flow] = {}
    year_of: dict[str, int] = {}
    said: set[tuple[str, str]] = set()
    for flow in flows:
        stem, statement = _find_stem(flow.wanted.form), (flow.document_id, flow.evidence)
        place = stem, flow.wanted.part, flow.wanted.key
        if place not in kept and statement not in said and year_of.setdefault(stem, flow.year) == flow.year:
            kept[place] = flow
            said.add(statement)
    return list(kept.values())


def _find_stem(form: str) -> str:
    """Return the number that variants of a form share: 1040 of 1040-SR; the name of a schedule."""
    return form.partition("-")[0] if form[:1].isdigit() else form


def _find_year(document_id: str) -> int:
    match = re.search(r"--(\d{4})", document_id)
    return int(match[1]) if match else 0


def _find_row(searcher: Searcher, flow: Flow) -> int | None:
    """Return the row of the index that contains the statement of a flow.

    A label has no element, and of a long table the first row has the element while a later one has the words.
    """
    row = searcher.find_row(flow.element_id) if flow.element_id else None
    if row is not None and flow.evidence in " ".join(searcher.passages.columns["text"][row].split()):
        return row
    found = find_row_of_words(searcher, flow.evidence, document_id=flow.document_id, page=flow.page)
    return row if found is None else found


def _quote(searcher: Searcher, flow: Flow, row: int, direction: Direction) -> Unit:
    """Quote what states a flow, with what it needs to be understood, below the line that it is about."""
    facts = searcher.passages
    verb = load_answers().destination_words[direction.wanted]
    label = f"{flow.known.describe()} {verb} {flow.wanted.describe()}"
    edition = name_edition(searcher, flow.document_id)
    title = Piece(role="label", text=f"{label} ({edition})", chunk_id=facts.columns["chunk_id"][row])
    number = flow.known.key.rpartition("_")[2]
    context = open_contexts([row], facts)[row]
    pieces = _read_statement(row, flow.evidence, context, number=number)
    if not pieces or sum(len(piece.text.split()) for piece in pieces) > load_answers().paragraph_words:
        pieces = [
            read_line(flow.evidence, context) or title.model_copy(update={"role": "sentence", "text": flow.evidence})
        ]
    return Unit(rank=UNRANKED, label=label, pieces=[title, *pieces])


def _read_statement(row: int, evidence: str, context: PassageContext, *, number: str) -> list[Piece]:
    """Return the sentences of a row that contain the words of a statement, with their lead-ins.

    Where they do not print the number of the line, as in "Enter that amount on line 9", the sentence before comes too;
    the row of a table above another one says nothing about it.
    """
    quoted: list[Statement] = []
    before: Statement | None = None
    for own in read_row(row, context, route=Route(), passage=0, hit=row, wanted=frozenset()):
        text = " ".join(own.text.split())
        if evidence in text or text.rstrip(".") in evidence:
            is_named = bool(quoted) or _CELLS in evidence or number in _NUMBERS.findall(text)
            quoted += [own] if is_named or before is None or before.line_ix != own.line_ix else [before, own]
        before = own
    drafts = merge_drafts(draft_unit(own, worth=1.0, is_whole=False) for own in quoted)
    pieces = [piece for draft in drafts for piece in finish_unit(draft, rank=1).pieces]
    return [piece for piece in pieces if piece.role != "label"]
