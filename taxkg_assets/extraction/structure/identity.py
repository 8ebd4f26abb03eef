"""Which product a document is: form, kind, revision, tax year, draft or final, title.

The printed page decides; the PDF's metadata adds a vote; the file name `<irs name>--<revision>` is the last resort.
What a document is about in detail (its boxes, its headings) does not belong here.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from taxkg_assets.extraction.pdf.model import Page, Source, Span
from taxkg_assets.extraction.structure.head_lines import HeadLine, find_head_lines, find_size_runs, squeeze
from taxkg_assets.rules.models.identity import Limits, load_identity
from taxkg_assets.rules.months import MONTHS

_TYPE_LETTERS = {"form": "f", "filer_instructions": "i", "recipient_instructions": "i", "publication": "p"}
_FORM_CODE = re.compile(r"[A-Z]{1,2}-\d+[A-Za-z]{0,3}|\d{3,4}[A-Z]?(?:-[A-Z]{1,5})?")
_NAMED_BEFORE = re.compile(r"(?:Forms?|Schedule|Publication|Pub\.) (?P<name>[\w-]+) ?$")
_CLAUSE_AFTER = re.compile(r", [a-z]")
_FILE_NAME = re.compile(r"^(?P<name>[fip]\d*[a-z0-9]+)--(?P<revision>(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])(?!\d))?)")


@dataclass(frozen=True, slots=True)
class Identity:
    """The form, publication or law that a document is, as printed; what is not stated is empty or None.

    Attributes:
        irs_name: File stem of the product at the IRS, the same for every revision: `f1099div`.
        form: Form or publication: `1099-DIV`, `Pub. 550`; several are joined with `and`.
        doc_type: `form`, `filer_instructions`, `recipient_instructions`, `publication`, `statute` or `other`.
        revision: Revision: `2024-01`, or the tax year.
        tax_year: Tax year, if the revision is one.
        is_draft: Whether the pages say that it is a draft.
        title: Title, composed of form, revision and name.
        pdf_modified_on: Day of the last change of the file.
    """

    irs_name: str
    form: str
    doc_type: str
    revision: str
    tax_year: int | None
    is_draft: bool
    title: str
    pdf_modified_on: str


@dataclass(frozen=True, slots=True)
class _Designation:
    """What a masthead or footer names: `Form 1099-DIV`, `Publication 550`, …"""

    doc_type: str
    form: str
    printed: str
    weight: int


def read_identity(source: Source) -> Identity:
    """Determine which product a document is: its mastheads, running headers and footers vote.

    Args:
        source: Pages of the document.

    Returns:
        Form, type, revision and title of the document.

    Source:
        rules/identity.yaml.
    """
    rules = load_identity()
    limits = rules.limits
    pages = source.pages[: limits.footer_pages]
    lines = [
        line
        for page in pages
        for line in find_head_lines(page, is_whole=_may_name_document_anywhere(page, source, limits=limits))
    ]
    page_texts = [squeeze(" ".join(span.text for span in page.spans)) for page in pages[: limits.head_pages]]
    first_texts = [text[: limits.head_chars] for text in page_texts]
    designation = _find_designation(first_texts, lines, source=source, limits=limits)
    revision, tax_year = _find_revision(first_texts, lines, designation=designation, source=source, limits=limits)
    if designation is not None:
        doc_type, form = designation.doc_type, designation.form
    else:
        doc_type, form = _find_type_without_name(source, lines, limits=limits), ""
    comments = [squeeze(page.text_with_comments) for page in pages[: limits.head_pages] if page.text_with_comments]
    is_draft = any(
        rule.may_match(text.lower()) and rule.pattern.search(text)
        for rule in rules.drafts
        for text in (*page_texts, *comments)
    )
    return Identity(
        irs_name=_build_irs_name(source.document_id, doc_type=doc_type, form=form),
        form=f"Pub. {form}" if doc_type == "publication" else form,
        doc_type=doc_type,
        revision=revision,
        tax_year=tax_year,
        is_draft=is_draft,
        title=_build_title(source, lines, designation=designation, revision=revision),
        pdf_modified_on=_find_day(source),
    )


def _find_type_without_name(source: Source, lines: list[HeadLine], *, limits: Limits) -> str:
    """Return the type of a document that names no form or publication."""
    if _addresses_recipient(lines):
        return "recipient_instructions"
    return "statute" if _is_statute(source, limits=limits) else "other"


def _find_day(source: Source) -> str:
    """Read the day on which the file was made last; it distinguishes the builds of one revision."""
    stamp = source.metadata.get("modDate") or source.metadata.get("creationDate", "")
    match = re.match(r"D:((?:19|20)\d\d)([01]\d)([0-3]\d)", stamp)
    return "-".join(match.groups()) if match else ""


def _letters(text: str) -> str:
    """Return the letters and digits of a text, to compare names."""
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def _may_name_document_anywhere(page: Page, source: Source, *, limits: Limits) -> bool:
    """Decide whether a page may name its document anywhere: later ones do in their edges, or begin with a form."""
    return source.is_text_file or page.page <= limits.head_pages


def _find_designation(
    first_texts: list[str], lines: list[HeadLine], *, source: Source, limits: Limits
) -> _Designation | None:
    """Let mastheads, large type and running headers and footers vote, and so does the metadata's title."""
    votes: Counter[tuple[str, str]] = Counter()
    printed_names: dict[tuple[str, str], str] = {}
    edge_frac = limits.edge_frac
    weighted_texts = [(head, 3) for head in first_texts] + [
        (line.text, 2)
        for line in lines
        if not edge_frac < line.y_frac < 1 - edge_frac
        or (line.page <= limits.head_pages and line.size_pt >= limits.large_pt)
    ]
    title = re.sub(r"^\s*(?:19|20)\d\d\s", "", source.metadata.get("title", ""))
    weighted_texts.append((squeeze(title), limits.title_share))
    first_pages = " ".join(first_texts)
    for text, share in weighted_texts:
        found_designation = _read_designation(text, first_texts=first_pages)
        if found_designation is not None:
            key = (found_designation.doc_type, found_designation.form)
            votes[key] += share * found_designation.weight
            printed_names.setdefault(key, found_designation.printed)
    if not votes:
        return None
    # Of equals the first one read: the front page comes first, later ones may begin with words about another form.
    (doc_type, form), weight = max(votes.items(), key=lambda item: item[1])
    return _Designation(doc_type=doc_type, form=form, printed=printed_names[doc_type, form], weight=weight)


def _read_designation(text: str, *, first_texts: str = "") -> _Designation | None:
    """Read the first designation in a text; `heads`, the first pages, may name the form that a schedule belongs to."""
    for rule in load_identity().designations:
        match = rule.pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        if groups.get("alone"):
            forms = Counter(re.findall(rf"\bSchedule {groups['alone']} \(Form (\d[\w-]*)\)", first_texts))
            if not forms:
                continue
            form = f"Schedule {groups['alone']} (Form {forms.most_common(1)[0][0]})"
        elif groups.get("schedule"):
            form = f"Schedule {groups['schedule']} (Form {groups['of']})"
        elif re.match(r"(?i)schedule", groups["forms"]):
            form = re.sub(r"(?i)^schedule", "Schedule", squeeze(groups["forms"])).replace("( ", "(")
        else:
            form = " and ".join(_FORM_CODE.findall(groups["forms"])) if rule.id != "publication" else groups["forms"]
        printed = rule.named.format(form) if rule.named else squeeze(match.group(0))
        return _Designation(rule.doc_type, form, printed, rule.weight)
    return None


def _find_revision(
    first_texts: list[str], lines: list[HeadLine], *, designation: _Designation | None, source: Source, limits: Limits
) -> tuple[str, int | None]:
    """Read the revision: a month of continuous use first, then the tax year, then metadata and file name.

    Args:
        first_texts: Beginnings of the first pages.
        lines: Lines that may name the document.
        designation: Its form or publication; None for none.
        source: The document.
        limits: Where a document is named.

    Returns:
        Revision, as `2031-05` or `2031`, and tax year; an empty revision where none is printed.
    """
    texts = [*first_texts, *_list_lines_with_form(lines, designation, limits=limits)]
    for text in texts:
        for rule in load_identity().revisions:
            for match in rule.pattern.finditer(text):
                if not _names_other_product(match, designation=designation):
                    return f"{match['year']}-{_month(match['month']):02d}", None
    if designation is not None:
        year = _find_year(texts, lines, limits=limits)
        year_in_title = re.search(r"\b(?:19|20)\d\d\b", source.metadata.get("title", ""))
        if year is None and year_in_title:
            year = int(year_in_title.group(0))
        if year is not None:
            return str(year), year
    file_name = _FILE_NAME.match(source.document_id)
    if file_name is None:
        return "", None
    revision = file_name["revision"]
    is_year = len(revision) == 4
    return revision, int(revision) if is_year else None


def _list_lines_with_form(lines: list[HeadLine], designation: _Designation | None, *, limits: Limits) -> list[str]:
    """Return the headers and footers that name the document's form, then the lines that begin with it."""
    if designation is None:
        return []
    form = designation.form
    at_edge = [line for line in lines if not limits.edge_frac < line.y_frac < 1 - limits.edge_frac]
    headers_with_form = [line.text for line in at_edge if form in line.text]
    return headers_with_form + [line.text for line in lines if line.text.startswith(f"Form {form}")]


def _names_other_product(revision: re.Match[str], *, designation: _Designation | None) -> bool:
    """Return whether a sentence names the revision of another product: `Form 9, Fees (Rev. May 2031), which`."""
    text = revision.string
    if _CLAUSE_AFTER.match(text, revision.end()):
        return True
    named_before = _NAMED_BEFORE.search(text[: revision.start()])
    if designation is None or named_before is None:
        return False
    return named_before["name"] not in re.findall(r"[\w-]+", designation.form)


def _find_year(texts: list[str], lines: list[HeadLine], *, limits: Limits) -> int | None:
    """Find the tax year next to the name of the document, or in large type on the first pages; the votes decide.

    Of equally many votes, the later year counts.
    """
    years = load_identity().years
    votes: Counter[int] = Counter()
    for text in texts:
        match = years.designation_year.pattern.search(text) or years.title_year.pattern.search(text)
        if match:
            votes[int(match[match.lastgroup or 0])] += 1
    large_lines = [line for line in find_size_runs(lines) if line.page <= 3 and line.size_pt >= limits.year_pt]
    for line in large_lines:
        if match := years.masthead_year.pattern.search(line.text):
            votes[int(match["a"].replace(" ", ""))] += 2
    return min(votes, key=lambda year: (-votes[year], -year)) if votes else None


def _month(text: str) -> int:
    """Return the number of a month, from 1, from its number or name."""
    return int(text) if text.isdigit() else MONTHS.index(text[:3].casefold()) + 1


def _is_statute(source: Source, *, limits: Limits) -> bool:
    """Decide whether a document is a statute, by the lines on its first pages that are headings of sections."""
    heading_count = sum(
        load_identity().statutes.matches("".join(span.text for span in spans))
        for page in source.pages[: limits.statute_pages]
        for spans in _stored_lines(page)
    )
    return bool(heading_count >= min(limits.statute_headings, max(1, len(source.pages))))


def _stored_lines(page: Page) -> list[list[Span]]:
    """Return the spans of each line of a page, as the PDF stores them."""
    return [list(spans) for _, spans in groupby(page.spans, key=lambda span: (span.block_ix, span.line_ix))]


def _addresses_recipient(lines: list[HeadLine]) -> bool:
    rule = load_identity().recipients.instructions_for_recipient
    return any(rule.pattern.search(line.text) is not None for line in lines if line.page == 1 and line.y_frac < 0.2)


def _build_irs_name(document_id: str, *, doc_type: str, form: str) -> str:
    """Take the file name's stem where it agrees with the printed form, else derive it from the form."""
    letter = _TYPE_LETTERS.get(doc_type, "")
    if not letter or not form:
        return ""
    file_stem = re.match(r"^([fip][a-z0-9]+)(?=--|$)", document_id)
    number = re.search(r"\d+", form.split("(Form")[-1])
    if file_stem and file_stem[1].startswith(letter) and number and number.group(0) in file_stem[1]:
        return file_stem[1]
    schedule = re.match(r"Schedule (\S+) \(Form (\S+)\)", form)
    if schedule:
        return f"{letter}{_letters(schedule[2])}s{_letters(schedule[1])}"
    stems: dict[str, str] = load_identity().irs_stems
    names = [stems.get(code, _letters(code)) for code in form.split(" and ")]
    shared = re.match(r"\d{4}", names[0])
    if shared and all(name.startswith(shared[0]) for name in names):
        return letter + shared[0] + "".join(name[4:] for name in names)
    return letter + "".join(names)


def _build_title(source: Source, lines: list[HeadLine], *, designation: _Designation | None, revision: str) -> str:
    """Compose `<designation> (<revision>) — <name>` from what is printed."""
    name = _cut_name(_find_name(source, lines, designation=designation))
    if designation is None:
        return name or source.document_id.replace("-", " ")
    kind = {"publication": f"Publication {designation.form}", "filer_instructions": designation.printed}
    label = kind.get(
        designation.doc_type,
        designation.form if designation.form.startswith("Schedule") else f"Form {designation.form}",
    )
    label = re.sub(
        r"(?i)^(?:general )?instructions for", lambda match: match.group(0).title().replace("For", "for"), label
    )
    dated = f"{label} ({_revision_words(revision)})" if revision else label
    return f"{dated} — {name}" if name else dated


def _cut_name(name: str) -> str:
    """Return a name without the headings of first sections that follow it; empty where no word of its own is left."""
    for rule in load_identity().name_ends:
        name = rule.pattern.sub("", name)
    return name.strip() if re.search(r"(?i)\b(?!(?:and|for|the)\b)[^\W\d_]{3}", name) else ""


def _revision_words(revision: str) -> str:
    if len(revision) == 4:
        return revision
    names = load_identity().revisions.revised_month_name.source_pattern
    month = re.findall(r"[A-Z][a-z]+(?=[|)])", names)[int(revision[5:]) - 1]
    return f"Rev. {month} {revision[:4]}"


def is_law_name(text: str) -> bool:
    """Return whether a text is the name of a law, by its words alone, as text files have no fonts.

    Args:
        text: Text to test.
    """
    return load_identity().law_names.matches(text)


def _find_name(source: Source, lines: list[HeadLine], *, designation: _Designation | None) -> str:
    """Take the metadata's subject where the pages print it, else the largest type that is not furniture."""
    page_letters = _letters(" ".join(span.text for page in source.pages[:3] for span in page.spans))
    for field in ("subject", "title"):
        text = squeeze(source.metadata.get(field, ""))
        if designation is not None:
            text = re.sub(rf"^.*?{re.escape(designation.printed)}[\s,:—–-]*", "", text)
            for rule in load_identity().name_heads:
                text = rule.pattern.sub("", text)
        if (
            text
            and not _is_furniture(text, designation=designation)
            and all(_letters(word) in page_letters for word in text.split())
        ):
            return text
    if source.is_text_file:
        return _find_code_title(lines)
    page = next((line.page for line in lines if designation and designation.printed in line.text and line.page <= 3), 1)
    return _find_large_type(find_size_runs([line for line in lines if line.page == page]), designation=designation)


def _find_code_title(lines: list[HeadLine]) -> str:
    """Read the title of a code in plain text: it is above the first section."""
    title = load_identity().code_titles.numbered_title
    if lines and is_law_name(lines[0].text):
        return squeeze(lines[0].text)
    for line in lines:
        if load_identity().statutes.matches(line.text):
            break
        if title.pattern.search(line.text):
            return squeeze(line.text)
    return ""


def _find_large_type(lines: list[HeadLine], *, designation: _Designation | None) -> str:
    """Read the largest type at the head of a page, furniture and designation apart."""
    limits = load_identity().limits
    body = median(line.size_pt for line in lines) if lines else 0.0
    name_lines = [
        line
        for line in lines
        if line.y_frac < limits.masthead_frac
        and line.size_pt >= limits.name_ratio * body
        and re.search(r"[A-Za-z]{3}", line.text)
        and not _is_furniture(line.text, designation=designation)
    ]
    size = max((line.size_pt for line in name_lines), default=0.0)
    return squeeze(" ".join([line.text for line in name_lines if line.size_pt >= size - 0.2][:4]))


def _is_furniture(text: str, *, designation: _Designation | None) -> bool:
    if load_identity().not_names.matches(text):
        return True
    if designation is not None and (designation.form in text or _letters(text) in _letters(designation.printed)):
        return True
    other_designation = _read_designation(text)
    return other_designation is not None and designation is not None and other_designation.form == designation.form
