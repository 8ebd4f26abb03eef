"""Which line of which document a place means: the form, its revision of the year, the line with the key or label."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from taxkg_assets.graph.line_history import fold_label
from taxkg_assets.graph.places import FACE, RETURN, Place, find_places
from taxkg_assets.rules.forms import form_pattern, split_forms
from taxkg_assets.rules.models.flows import load_flows

Row = Mapping[str, Any]
SEVERAL = "several lines of the form match"
"""Problem of an end that names more than one line."""
NO_FORM = "the library does not contain the form"
"""Problem of an end on a form without a document."""
NO_LINE = "the form has no such line"
"""Problem of an end whose key no line of its form has."""
NO_LABEL = "no line of the form has the label"
"""Problem of an end that words name which no line prints."""
_PARENT = re.compile(r" \(Form (.+)\)$")
_NUMBERED = re.compile(r"Schedule \d")
"""Schedules with numbers are those of the return of individuals, which its variants share."""


@dataclass(frozen=True, slots=True)
class About:
    """The form, year and part that a text is about, used to resolve the lines it names.

    Attributes:
        form: Its form; empty for a publication.
        year: Its year.
        document_id: Document of the line whose text it is, if any.
        part: Part of that line.
        schedules: Full names of schedules that the document names with their form in one place, without it in another.
    """

    form: str
    year: int | None
    document_id: str | None = None
    part: str = ""
    schedules: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class End:
    """One end of a flow; `line` is None with a `problem` if the named place is not exactly one line."""

    form: str
    key: str
    part: str = ""
    column: str = ""
    line: Row | None = None
    is_same_year: bool = True
    problem: str = ""
    code: str = ""


class Lines:
    """The lines of all documents, indexed by form, revision and key."""

    def __init__(self, lines: Sequence[Row], documents: Sequence[Row]) -> None:
        """Index lines and the forms that print them.

        Args:
            lines: Rows of `lines`.
            documents: Rows of `documents`.
        """
        self._rows: dict[str, list[Row]] = defaultdict(list)
        self._by_number: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in lines:
            self._rows[row["document_id"]].append(row)
            self._by_number[row["document_id"], _number(row).lower()].append(row)
        self._years = {row["document_id"]: year_of(row) for row in documents if row["document_id"] in self._rows}
        self._kinds: dict[str, set[str]] = {}
        self._named: set[str] = set()
        self._revisions: dict[str, list[Row]] = defaultdict(list)
        for row in documents:
            if row["document_id"] in self._rows:
                self._revisions[row["form"]].append(row)
        self._names: dict[str, list[str]] = defaultdict(list)
        booklets = {form for row in documents for form in split_forms(row["form"] or "")} - {*self._revisions}
        for form in [*sorted(self._revisions), *sorted(booklets)]:
            self._names[_fold(form)].append(form)
            if _PARENT.search(form):
                self._names[_fold(_PARENT.sub("", form))].append(form)

    def watch(self) -> set[str]:
        """Return a set that collects the names of all forms looked up until the next call."""
        self._named = set()
        return self._named

    def describe(self, form: str, contents: Mapping[str, str]) -> str:
        """Describe which lines of a form the library contains, to decide whether cached look-ups are still valid.

        Args:
            form: Form as a text or the library names it.
            contents: Digest of the lines of each document.

        Returns:
            A text to compare.
        """
        names = [form, *self._names.get(_fold(form), [])]
        columns = ("document_id", "form", "revision", "tax_year", "is_draft")
        revision_rows = [row for name in dict.fromkeys(names) for row in self._revisions.get(name, ())]
        return repr([names, *((*(row[c] for c in columns), contents[row["document_id"]]) for row in revision_rows)])

    def find(self, place: Place, about: About, *, key: str, form: str, other_form: str = "") -> End:
        """Find the line that a named place refers to.

        Args:
            place: The named place.
            about: Context of the text that names it.
            key: One of the place's keys; empty if the place has a label instead.
            form: One of its forms; empty for the form that the text is about.
            other_form: Form at the other end of the flow, used to choose between lines under a heading.

        Returns:
            The line, or an end with a `problem` that says why there is none.
        """
        name = self.name_form(form, about)
        shown_name = f"{place.kind}_{key}" if key else place.label
        end = End(name or form, shown_name, place.part, place.column, code=place.code)
        if not name:
            return _fail(end, "the form is not named")
        revision = self._find_revision_of_place(name, place, about)
        if revision is None:
            return _fail(end, NO_FORM)
        document, is_same_year = revision
        if not key and not place.label:
            return _fail(end, "the line is not named")
        if key:
            part = about.part if document == about.document_id else ""
            rows = self._by_key(document, place, key, part)
            problem = NO_LINE
        else:
            rows, problem = self._by_label(document, place.label, other_form)
        if len(rows) != 1:
            return _fail(end, SEVERAL if rows else problem)
        row = rows[0]
        if place.column and not self._has_column(row, place.column):
            return _fail(end, "the line has no such column")
        return End(name, row["key"], row["part"], place.column, row, is_same_year, code=place.code)

    def _find_revision_of_place(self, name: str, place: Place, about: About) -> tuple[str, bool] | None:
        """Find the revision that a place is on, as `find_revision` does; the text's own form is its document."""
        is_other_year = place.year is not None and place.year != about.year
        if about.document_id is not None and name == about.form and not is_other_year:
            return about.document_id, True
        return self.find_revision(name, place.year or about.year)

    def find_columns(self, place: Place, about: About, *, key: str, form: str) -> list[End]:
        """Find a column in every part of a form that has it.

        Args:
            place: The column as named.
            about: Form, year and part that the text is about.
            key: Its letter.
            form: Its form; empty for the form that the text is about.

        Returns:
            One end per part.
        """
        end = self.find(place, about, key=key, form=form)
        if end.problem != SEVERAL:
            return [end]
        name = self.name_form(form, about)
        revision = self.find_revision(name, about.year)
        document, is_same = (about.document_id, True) if about.document_id else revision or ("", True)
        rows = self._by_key(document, place, key, about.part)
        return [End(name, row["key"], row["part"], "", row, is_same) for row in rows]

    def name_form(self, words: str, about: About) -> str:
        """Return the library's name of a form, or the text's name if the library does not contain the form.

        In a text on `Schedule B (Form 2040)`, `Schedule 1` is `Schedule 1 (Form 2040)`.

        Args:
            words: The form's name in the text; empty for the form that the text is about.
            about: What the text is about.

        Returns:
            Name of the form.
        """
        self._named.add(words)
        if words == RETURN:
            return str(load_flows().own_return)
        if words == FACE:
            return _parent_of(about.form)
        if not words:
            return about.form
        stated_parent = _PARENT.search(words)
        if words.startswith("Schedule") and not stated_parent:
            return self._name_schedule_alone(words, about)
        names = self._names.get(_fold(words), [])
        if names:
            return names[0]
        parents = self._names.get(_fold(stated_parent[1]), []) if stated_parent else []
        return f"{_PARENT.sub('', words)} (Form {parents[0]})" if parents else words

    def _name_schedule_alone(self, words: str, about: About) -> str:
        """Return the full name of a schedule that a text names without its form.

        It is that of the form that the text is about, if the library has such a schedule; else the only one of this
        name; a numbered schedule is that of the return of individuals.
        """
        names = self._names.get(_fold(words), [])
        parent = _parent_of(about.form)
        name_with_parent = f"{words} (Form {parent})"
        if name_with_parent in (about.form, *names) or re.match(load_flows().returns, parent):
            return name_with_parent
        only_name = names[0] if len(names) == 1 else words
        name = about.schedules.get(words) or only_name
        own_return = load_flows().own_return
        is_numbered = _NUMBERED.match(name) is not None and not _PARENT.search(name)
        is_about_individuals = re.match(rf"{own_return}(?![0-9])", parent) is not None
        return f"{name} (Form {own_return})" if is_numbered and is_about_individuals else name

    def name_schedule(self, words: str, about: About) -> str:
        """Return the full name of a schedule that a booklet explains.

        A schedule that the library lacks gets the form of the booklet.

        Args:
            words: Schedule as its heading names it.
            about: What the booklet is about.

        Returns:
            Name of the schedule.
        """
        name = self.name_form(words, about)
        return name if _PARENT.search(name) else f"{name} (Form {about.form})"

    def find_revision(self, form: str, year: int | None) -> tuple[str, bool] | None:
        """Find the revision of a form for a year, and whether it is of that year or only the nearest.

        Args:
            form: Form as the library names it.
            year: Tax year, or the year of a revision for continuous use; None where the text states none.

        Returns:
            Document, and whether it is for the year; None where the library has no revision.
        """
        self._named.add(form)
        rows = self._revisions.get(form, [])
        finals = [row for row in rows if not row["is_draft"]] or rows
        if not finals or year is None:
            return None
        of_year = [row for row in finals if year_of(row) == year]

        def is_in_use(row: Row) -> bool:
            """Return whether a revision is for continuous use, which begins with its year, and has begun."""
            first_year = year_of(row)
            return row["tax_year"] is None and first_year is not None and 0 < first_year <= year

        def rank(row: Row) -> tuple[int, int, int, str]:
            """Put the nearest year first, of equally near ones the later, then the document with the shortest id."""
            own_year = year_of(row) or 0
            return abs(own_year - year), -own_year, len(row["document_id"]), row["document_id"]

        applicable = of_year or [row for row in finals if is_in_use(row)]
        nearest = min(applicable or finals, key=rank)
        return nearest["document_id"], bool(applicable)

    def has_only_lines(self, form: str) -> bool:
        """Return whether a form of the library numbers lines and no boxes.

        Args:
            form: Form as the library names it.
        """
        kinds = self._kinds_of(form)
        return "line" in kinds and "box" not in kinds

    def has_boxes(self, form: str) -> bool:
        """Return whether a form of the library numbers boxes.

        Args:
            form: Form as the library names it.
        """
        return "box" in self._kinds_of(form)

    def _kinds_of(self, form: str) -> set[str]:
        """Return the kinds of fields of a form: `line`, `box`, `column`."""
        self._named.add(form)
        if form not in self._kinds:
            revisions = self._revisions.get(form, ())
            self._kinds[form] = {row["kind"] for document in revisions for row in self._rows[document["document_id"]]}
        return self._kinds[form]

    def year_of(self, document_id: str) -> int | None:
        """Return the year of a document with lines; None where it has none, or the document is not known.

        Args:
            document_id: Document.
        """
        return self._years.get(document_id)

    def line_at(self, document_id: str, part: str, key: str) -> Row:
        """Return one line of a document.

        Args:
            document_id: Document.
            part: Part of the form.
            key: Key.
        """
        return next(row for row in self._rows[document_id] if (row["part"], row["key"]) == (part, key))

    def _has_column(self, row: Row, letter: str) -> bool:
        """Decide whether a line has a column; one without lettered fields may have any."""
        heads = self._by_number.get((row["document_id"], letter), [])
        is_head = any(head["kind"] == "column" and head["part"] == row["part"] for head in heads)
        return is_head or not row["column_letters"] or letter in row["column_letters"]

    def _by_key(self, document: str, place: Place, key: str, part: str) -> list[Row]:
        """Return the lines of a document with a key, in the part that the place names, else in that of the text.

        Args:
            document: Document.
            place: The place as named.
            key: Its key.
            part: Part that the text is about; empty for another document's.
        """
        kinds = ("column",) if place.kind == "column" else ("line", "box")
        rows = [row for row in self._by_number.get((document, key.lower()), []) if row["kind"] in kinds]
        # `line 4` may be box 4 where the form has no line 4.
        rows = [row for row in rows if row["kind"] == place.kind] or rows
        if not rows and place.kind == "box":
            return [row for row in self._rows[document] if re.fullmatch(rf"{key}[a-z]", _number(row))]
        if place.part:
            return [row for row in rows if row["part"] in (place.part, "")]
        of_part = [row for row in rows if row["part"] == part]
        return of_part if len(of_part) == 1 else rows

    def _by_label(self, document: str, label: str, other_form: str) -> tuple[list[Row], str]:
        """Return the lines of a document with a label, and the problem to state where there are none.

        Args:
            document: Document.
            label: Words of the text.
            other_form: Form at the other end of the flow; empty for none.
        """
        if load_flows().unnamed.matches(label):
            return [], "the line is not named"
        folded_label = fold_label(label)
        labels = [(row, fold_label(row["label"])) for row in self._rows[document]]
        rows = [row for row, own_label in labels if own_label == folded_label]
        if not rows and folded_label:
            longer = [row for row, own_label in labels if own_label.startswith(f"{folded_label} ")]
            rows = [row for row in longer if not _is_from_another(row["label"], other_form)]
        filled = [row for row in rows if row["field_count"]]
        if len(filled) == 1:
            rows = filled
        if len(rows) == 1 and not rows[0]["field_count"] and other_form:
            rows = self._list_below(rows[0], folded_label, other_form) or rows
        return rows, NO_LABEL

    def _list_below(self, head: Row, wanted: str, other_form: str) -> list[Row]:
        """Return the lines below one that only heads them: line 3 `Dues from:` heads 3a `Form 2889`, 3b `Form 2890`.

        Args:
            head: The line without a field.
            wanted: Label of the text, folded.
            other_form: Form at the other end of the flow: lines that name it come first.
        """
        below = [row for row in self._rows[head["document_id"]] if re.fullmatch(rf"{_number(head)}[a-z]", _number(row))]
        of_other_form = [row for row in below if form_pattern(other_form).search(row["label"])]
        return of_other_form or [row for row in below if fold_label(row["label"]).startswith(wanted)] or below


def _parent_of(form: str) -> str:
    """Return the form that a schedule belongs to: `2040` of `Schedule B (Form 2040)`; a form is its own parent."""
    parent = _PARENT.search(form)
    return parent[1] if parent else form


def _is_from_another(label: str, form: str) -> bool:
    """Decide whether a label names lines of other forms than one: `Wages from Form 8919` is no line for a W-2."""
    named_forms = [name for place in find_places(label) for name in place.forms]
    return bool(form and named_forms) and not any(form_pattern(form).fullmatch(name) for name in named_forms)


def year_of(document: Row) -> int | None:
    """Return the tax year of a document, or else the year of its revision; None if it states neither.

    Args:
        document: Row of `documents`.
    """
    if document["tax_year"] is not None:
        return int(document["tax_year"])
    return int(document["revision"][:4]) if document["revision"][:4].isdigit() else None


def _fail(end: End, problem: str) -> End:
    """Return an end without a line, with the reason."""
    return replace(end, line=None, is_same_year=True, problem=problem)


def _number(row: Row) -> str:
    """Return the number of a line: `4a` of `line_4a`."""
    return str(row["key"]).partition("_")[2]


def _fold(form: str) -> str:
    """Return the name of a form in a spelling for comparison: `W-2 G` and `W2-G` are the same."""
    return re.sub(r"[-\s]+", "", form).lower()
