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
        shown = f"{place.kind}_{key}" if key else place.label
        end = End(name or form, shown, place.part, place.column, code=place.code)
        if not name:
            return _fail(end, "the form is not named")
        is_other_year = place.year is not None and place.year != about.year
        if about.document_id is not None and name == about.form and not is_other_year:
            document, is_same = about.document_id, True
        else:
            found = self.find_revision(name, place.year or about.year)
            if found is None:
                return _fail(end, NO_FORM)
            document, is_same = found
        part = about.part if document == about.document_id else ""
        if not key and not place.label:
            return _fail(end, "the line is not named")
        if not key:
            rows, problem = self._by_label(document, place.label, other_form)
        else:
            rows, problem = self._by_key(document, place, key, part), NO_LINE
        if len(rows) != 1:
            return _fail(end, SEVERAL if rows else problem)
        row = rows[0]
        if place.column and not self._has_column(row, place.column):
            return _fail(end, "the line has no such column")
        return End(name, row["key"], row["part"], place.column, row, is_same, code=place.code)

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
        found = self.find_revision(name, about.year)
        document, is_same = (about.document_id, True) if about.document_id else found or ("", True)
        rows = self._by_key(document, place, key, about.part)
        return [End(name, row["key"], row["part"], "", row, is_same) for row in rows]

    def name_form(self, words: str, about: About) -> str:
        """Return the library's name of a form, or the text's name if the library does not contain the form.

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
            own = _PARENT.search(about.form)
            return own[1] if own else about.form
        if not words:
            return about.form
        names = self._names.get(_fold(words), [])
        stated = _PARENT.search(words)
        if not words.startswith("Schedule") or stated:
            parents = self._names.get(_fold(stated[1]), []) if stated else []
            spelled = f"{_PARENT.sub('', words)} (Form {parents[0]})" if parents else words
            return names[0] if names else spelled
        own = _PARENT.search(about.form)
        parent = own[1] if own else about.form
        of_parent = f"{words} (Form {parent})"
        if of_parent in (about.form, *names) or re.match(load_flows().returns, parent):
            return of_parent
        named = about.schedules.get(words) or (names[0] if len(names) == 1 else words)
        return_of_individuals = load_flows().own_return
        is_numbered = _NUMBERED.match(named) is not None and not _PARENT.search(named)
        is_of_individuals = re.match(rf"{return_of_individuals}(?![0-9])", parent) is not None
        return f"{named} (Form {return_of_individuals})" if is_numbered and is_of_individuals else named

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
        same = [row for row in finals if year_of(row) == year]
        lasting = [row for row in finals if row["tax_year"] is None and (year_of(row) or year + 1) <= year]
        kept = same or lasting or finals
        best = min(
            kept,
            key=lambda row: (abs((own := year_of(row) or 0) - year), -own, len(row["document_id"]), row["document_id"]),
        )
        return best["document_id"], bool(same or lasting)

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
        kinds = ("column",) if place.kind == "column" else ("line", "box")
        rows = [row for row in self._by_number.get((document, key.lower()), []) if row["kind"] in kinds]
        rows = [row for row in rows if row["kind"] == place.kind] or rows
        if not rows and place.kind == "box":
            return [row for row in self._rows[document] if re.fullmatch(rf"{key}[a-z]", _number(row))]
        if place.part:
            return [row for row in rows if row["part"] in (place.part, "")]
        own = [row for row in rows if row["part"] == part]
        return own if len(rows) > 1 and len(own) == 1 else rows

    def _by_label(self, document: str, label: str, other_form: str) -> tuple[list[Row], str]:
        if load_flows().unnamed.matches(label):
            return [], "the line is not named"
        wanted = fold_label(label)
        labels = [(row, fold_label(row["label"])) for row in self._rows[document]]
        rows = [row for row, own in labels if own == wanted] or [
            row
            for row, own in labels
            if wanted and own.startswith(f"{wanted} ") and not _is_from_another(row["label"], other_form)
        ]
        filled = [row for row in rows if row["field_count"]]
        rows = filled if len(rows) > 1 and len(filled) == 1 else rows
        if len(rows) == 1 and not rows[0]["field_count"] and other_form:
            head = _number(rows[0])
            below = [row for row in self._rows[document] if re.fullmatch(rf"{head}[a-z]", _number(row))]
            named = [row for row in below if form_pattern(other_form).search(row["label"])]
            named = named or [row for row in below if fold_label(row["label"]).startswith(wanted)]
            rows = (named or below) if below else rows
        return rows, NO_LABEL


def _is_from_another(label: str, form: str) -> bool:
    """Decide whether a label names lines of other forms than one: `Wages from Form 8919` is no line for a W-2."""
    named = [name for place in find_places(label) for name in place.forms]
    return bool(form and named) and not any(form_pattern(form).fullmatch(name) for name in named)


def year_of(document: Row) -> int | None:
    """Return the tax year of a document, else the year of its revision; None for one without both.

    Args:
        document: Row of `documents`.
    """
    if document["tax_year"] is not None:
        return int(document["tax_year"])
    return int(document["revision"][:4]) if document["revision"][:4].isdigit() else None


def _fail(end: End, problem: str) -> End:
    return replace(end, line=None, is_same_year=True, problem=problem)


def _number(row: Row) -> str:
    return str(row["key"]).partition("_")[2]


def _fold(form: str) -> str:
    return re.sub(r"[-\s]+", "", form).lower()
