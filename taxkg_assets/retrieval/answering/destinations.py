"""Find where the amount of a line or box goes or comes from, by `flows`, in the documents' own words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest

import polars as pl

from taxkg_assets.retrieval.answering.openings import (
    UNRANKED,
    Findings,
    find_newest,
    find_row_of_words,
    name_edition,
    name_line,
    quote_line,
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
_CELL_START = "| "
"""Text that only the rows of tables contain."""
_MAX_YEARS_OLDER = 1
"""How many years older than the newest flow another flow of an answer may be."""
SOURCE, TARGET = "source", "target"


@dataclass(frozen=True, slots=True)
class Direction:
    """Direction of a question about flows: the end that it names, and the end that it asks for.

    Attributes:
        named: `source` or `target`.
        requested: The other of the two.
    """

    named: str
    requested: str


FROM_SOURCE, FROM_TARGET = Direction(SOURCE, TARGET), Direction(TARGET, SOURCE)


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
        """Return the name of the line or form for readers."""
        return name_line(self.form, part=self.part, key=self.key, column=self.column, code=self.code)


@dataclass(frozen=True, slots=True)
class Flow:
    """A row of `flows`, with its ends by what the question names (`named`) and asks for (`requested`)."""

    flow_id: str
    named: FlowEnd
    requested: FlowEnd
    relation: str
    is_same_year: bool
    is_resolved: bool
    document_id: str
    element_id: str | None
    evidence: str
    page: int

    @property
    def year(self) -> int:
        """Return the year in the id of the document that states the flow; 0 for none."""
        return _find_year(self.document_id)


def read_flows(flows: pl.DataFrame, direction: Direction, *, forms: Collection[str]) -> Iterator[Flow]:
    """Read the flows that start or end at some forms.

    Args:
        flows: Table `flows`.
        direction: Direction of the question.
        forms: Forms at the end that the question names.

    Yields:
        Flows in the order of the table.
    """
    names = [end_field.name for end_field in fields(FlowEnd)]
    for row in flows.filter(pl.col(f"{direction.named}_form").is_in(list(forms))).iter_rows(named=True):
        named, requested = (
            FlowEnd(**{name: row[f"{end}_{name}"] for name in names}) for end in (direction.named, direction.requested)
        )
        yield Flow(
            flow_id=row["flow_id"],
            named=named,
            requested=requested,
            relation=row["relation"],
            is_same_year=row["is_same_year"],
            is_resolved=not row["problem"],
            document_id=row["document_id"],
            element_id=row["element_id"],
            evidence=" ".join(row["evidence"].split()),
            page=row["page"],
        )


def find_direction(question: str, route: Route) -> Direction | None:
    """Decide whether a question asks where the amount of a line goes, or where it comes from.

    Args:
        question: Words of the user.
        route: Route of the question.

    Returns:
        The direction; None where the question asks for neither, or names no line or box.
    """
    if not route.keys:
        return None
    if load_answers().source_questions.matches(question):
        return FROM_TARGET
    return FROM_SOURCE if load_answers().destination_questions.matches(question) else None


def find_form_groups(question: str, route: Route, flows: pl.DataFrame) -> list[frozenset[str]]:
    """Find the forms that a question names, each with all the names that `flows` may use for it.

    Args:
        question: Words of the user.
        route: Route of the question.
        flows: Table `flows`.

    Returns:
        One set of names for each form.
    """
    names = pl.concat([flows["source_form"], flows["target_form"]]).unique().sort().to_list()
    # "Schedule B (Form 1040)" is one form: its full name is removed, so that "Form 1040" in it is not found.
    full_names = [name for name in names if "(" in name and name.casefold() in question.casefold()]
    other_text = question
    for name in full_names:
        other_text = re.sub(re.escape(name), " ", other_text, flags=re.IGNORECASE)
    groups: dict[str, set[str]] = {name: {name} for name in full_names}
    for name in find_named_forms(filter(None, names), other_text) or (() if full_names else route.forms):
        groups.setdefault(_find_bare_name(name), set()).add(name)
    # Of several full names of one form, those that the route names are meant, and its bare name.
    for bare_name, group in groups.items():
        if routed_names := group & set(route.forms):
            groups[bare_name] = {*routed_names, *(name for name in group if "(" not in name)}
    return [frozenset(group) for group in groups.values()]


def _find_bare_name(form: str) -> str:
    """Return the name of a form without hyphens, and of a schedule without the form that it is filed with."""
    return form.partition(" (")[0].replace("-", "").casefold()


def find_destinations(
    searcher: Searcher, question: str, ranking: Ranking, *, allowed_documents: Collection[str]
) -> Findings:
    """Find the statements that say where the amounts of the lines in a question go or come from.

    Args:
        searcher: Opened search; `open_flows` reads the flows of the home.
        question: Words of the user.
        ranking: Ranking of the question.
        allowed_documents: Ids of the documents that may be quoted.

    Returns:
        Statements; empty where the question does not ask for them, or where no flow is known.
    """
    route = ranking.route
    direction = find_direction(question, route)
    if direction is None or searcher.open_flows is None:
        return Findings()
    all_flows = searcher.open_flows().filter(pl.col("document_id").is_in(list(allowed_documents)))
    forms = find_form_groups(question, route, all_flows)
    newest = find_newest(searcher, frozenset[str]().union(*forms))
    flows = choose_flows(all_flows, route, forms=forms, direction=direction, newest_documents=newest)
    if not flows and len(forms) > 1:  # "which line of Schedule 9 goes to line 3 of Form 2077"
        direction = Direction(direction.requested, direction.named)
        flows = choose_flows(all_flows, route, forms=forms, direction=direction, newest_documents=newest)
    flows_with_row = [(flow, row) for flow in flows if (row := _find_row(searcher, flow)) is not None]
    line_keys = [key for key in route.keys if key not in route.codes]
    covers_question = all(any(covers_key(flow.named.key, (key,)) for flow, _ in flows_with_row) for key in line_keys)
    units = [(row, _quote(searcher, flow, row, direction)) for flow, row in flows_with_row]
    return Findings(units, covers_question, settles_question=True)


def choose_flows(
    flows: pl.DataFrame,
    route: Route,
    *,
    forms: Sequence[frozenset[str]],
    direction: Direction,
    newest_documents: Collection[str],
) -> list[Flow]:
    """Choose the flows that answer a question: one for each line that it names and each line at the other end.

    Args:
        flows: Table `flows`.
        route: Route of the question.
        forms: Forms of the question, each with its names in `flows`.
        direction: Direction of the question.
        newest_documents: Ids of the documents with the newest revisions of these forms.

    Returns:
        Flows, taking turns between the lines that the question names, at most as many as an answer quotes.
    """
    form_ix_of = {name: ix for ix, names in enumerate(forms) for name in names}
    codes = {key.partition("_")[2] for key in route.codes} or {""}

    def fits(flow: Flow) -> bool:
        """Decide whether a flow is of a line, form and code in the question; with two forms, between both."""
        if flow.named.code not in codes or not covers_key(flow.named.key, route.keys):
            return False
        if len(forms) == 1:
            return True
        return form_ix_of.get(flow.requested.form) not in (None, form_ix_of[flow.named.form])

    matches = [flow for flow in read_flows(flows, direction, forms=form_ix_of) if fits(flow)]
    matches = _keep_editions(matches, route.years, newest_documents)
    has_several_years = len(route.years) > 1
    flows_by_line: dict[tuple[str, int], list[Flow]] = {}
    for flow in sorted(matches, key=_rank_flow):
        line = (flow.named.key, flow.year if has_several_years else 0)
        flows_by_line.setdefault(line, []).append(flow)
    turns = zip_longest(*(_drop_repeats(line_flows) for line_flows in flows_by_line.values()))
    chosen = [flow for turn in turns for flow in turn if flow is not None]
    return chosen[: max(load_answers().most_destinations, len(flows_by_line))]


def _keep_editions(flows: Sequence[Flow], years: Sequence[int], newest_documents: Collection[str]) -> list[Flow]:
    """Keep the flows of the years in the question; without any, those of the newest revisions that are not too old."""
    if years:
        return [flow for flow in flows if _find_year(flow.named.document_id or flow.document_id) in years]
    newest = [flow for flow in flows if flow.named.document_id is None or flow.named.document_id in newest_documents]
    min_year = max((flow.year for flow in newest), default=0) - _MAX_YEARS_OLDER
    return [flow for flow in newest if flow.year >= min_year]


def _rank_flow(flow: Flow) -> tuple[object, ...]:
    """Return the sort key of a flow among those of one line; the best flow has the smallest key."""
    is_within_form = flow.requested.form == flow.named.form
    is_other_relation = flow.relation != "flows_to" and not is_within_form
    has_condition = flow.evidence.lstrip(", ")[:1].islower()  # an "if" or "when" clause precedes the evidence
    is_in_other_document = flow.document_id != flow.named.document_id
    is_absent_form = flow.requested.document_id is None
    return (
        is_other_relation,
        is_within_form,
        not flow.is_resolved,
        is_absent_form,
        has_condition,
        not flow.is_same_year,
        is_in_other_document,
        -flow.year,
        flow.flow_id,
    )


def _drop_repeats(flows: Sequence[Flow]) -> list[Flow]:
    """Keep one flow for each line at the other end and each statement; for each form only those of its first year."""
    kept: dict[tuple[str, str, str], Flow] = {}
    year_by_form: dict[str, int] = {}
    statements: set[tuple[str, str]] = set()
    for flow in flows:
        form, statement = _find_stem(flow.requested.form), (flow.document_id, flow.evidence)
        line = form, flow.requested.part, flow.requested.key
        if line not in kept and statement not in statements and year_by_form.setdefault(form, flow.year) == flow.year:
            kept[line] = flow
            statements.add(statement)
    return list(kept.values())


def _find_stem(form: str) -> str:
    """Return the number that variants of a form share, such as 1040 for 1040-SR; a schedule keeps its name."""
    return form.partition("-")[0] if form[:1].isdigit() else form


def _find_year(document_id: str) -> int:
    match = re.search(r"--(\d{4})", document_id)
    return int(match[1]) if match else 0


def _find_row(searcher: Searcher, flow: Flow) -> int | None:
    """Return the row of the index that contains the statement of a flow.

    The row of its element is not enough: the label of a line has no element, and a long table has one element but
    several rows.
    """
    row = searcher.find_row(flow.element_id) if flow.element_id else None
    if row is not None and flow.evidence in " ".join(searcher.passages.columns["text"][row].split()):
        return row
    row_of_words = find_row_of_words(searcher, flow.evidence, document_id=flow.document_id, page=flow.page)
    return row if row_of_words is None else row_of_words


def _quote(searcher: Searcher, flow: Flow, row: int, direction: Direction) -> Unit:
    """Quote the statement of a flow with its context, labeled with the lines at both ends."""
    facts = searcher.passages
    verb = load_answers().destination_words[direction.requested]
    label = f"{flow.named.describe()} {verb} {flow.requested.describe()}"
    edition = name_edition(searcher, flow.document_id)
    title = Piece(role="label", text=f"{label} ({edition})", chunk_id=facts.columns["chunk_id"][row])
    number = flow.named.key.rpartition("_")[2]
    context = open_contexts([row], facts)[row]
    pieces = _read_statement(row, flow.evidence, context, number=number)
    if not pieces or sum(len(piece.text.split()) for piece in pieces) > load_answers().paragraph_words:
        pieces = [
            quote_line(flow.evidence, context) or title.model_copy(update={"role": "sentence", "text": flow.evidence})
        ]
    return Unit(rank=UNRANKED, label=label, pieces=[title, *pieces])


def _read_statement(row: int, evidence: str, context: PassageContext, *, number: str) -> list[Piece]:
    """Return the sentences of a row that contain the evidence of a flow, with the introductions of their lists.

    If the first of them does not print the number of the line, as in "Enter that amount on line 9", the sentence
    before it is returned, too. The row of a table needs no row before it.
    """
    quoted: list[Statement] = []
    previous: Statement | None = None
    for statement in read_row(row, context, route=Route(), passage=0, hit=row, question_terms=frozenset()):
        text = " ".join(statement.text.split())
        if evidence in text or text.rstrip(".") in evidence:
            is_clear = bool(quoted) or _CELL_START in evidence or number in _NUMBERS.findall(text)
            if not is_clear and previous is not None and previous.line_ix == statement.line_ix:
                quoted.append(previous)
            quoted.append(statement)
        previous = statement
    drafts = merge_drafts(draft_unit(statement, score=1.0, with_paragraph=False) for statement in quoted)
    pieces = [piece for draft in drafts for piece in finish_unit(draft, rank=1).pieces]
    return [piece for piece in pieces if piece.role != "label"]
