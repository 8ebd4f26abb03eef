"""Which documents a claim is about: by form, year and month, and the other revisions of the same forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taxkg_assets.records import DocumentRecord
from taxkg_assets.verification.claims import Subject, name_form


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents that can decide on a claim.

    Attributes:
        own: Documents of its forms and year.
        others: Other revisions of its forms, the nearest year first.
        is_known: Whether the library has any document of its forms.
    """

    own: tuple[str, ...]
    others: tuple[str, ...]
    is_known: bool


def find_documents(subject: Subject, documents: Sequence[DocumentRecord]) -> Documents:
    """Return the documents that a claim is about.

    For a form that is revised seldom, the previous revision applies to each year. Without a year, the newest revision
    counts.

    Args:
        subject: What the claim is about.
        documents: Rows of `documents`.
    """
    products: dict[str, list[DocumentRecord]] = {}
    for row in documents:
        if set(name_form(row["form"])) & set(subject.forms):
            products.setdefault(row["irs_name"], []).append(row)
    own, others = [], []
    for rows in products.values():
        chosen = _choose(rows, subject)
        own += [row["document_id"] for row in chosen]
        rest = [row for row in rows if row not in chosen]
        others += sorted(rest, key=lambda row: (abs(_year_of(row) - (subject.year or 9999)), row["document_id"]))
    others.sort(key=lambda row: abs(_year_of(row) - (subject.year or 9999)))
    return Documents(tuple(own), tuple(row["document_id"] for row in others), bool(products))


def _choose(rows: Sequence[DocumentRecord], subject: Subject) -> list[DocumentRecord]:
    final = [row for row in rows if not row["is_draft"]] or list(rows)
    if subject.year is None:
        newest = max(_key_of(row) for row in final)
        return [row for row in final if _key_of(row) == newest]
    exact = [row for row in final if _year_of(row) == subject.year]
    if subject.month is not None and any("-" in row["revision"] for row in exact):
        wanted = f"{subject.year}-{subject.month:02d}"
        return [row for row in exact if row["revision"] in (wanted, str(subject.year))]
    if exact:
        return exact
    standing = [row for row in final if "-" in row["revision"] and _year_of(row) < subject.year]
    newest = max(map(_key_of, standing), default="")
    return [row for row in standing if _key_of(row) == newest]


def _key_of(row: DocumentRecord) -> str:
    return str(row["revision"] or row["tax_year"] or "")


def _year_of(row: DocumentRecord) -> int:
    if row["tax_year"]:
        return int(row["tax_year"])
    first = str(row["revision"])[:4]
    return int(first) if first.isdigit() else 0


def list_forms(documents: Iterable[DocumentRecord]) -> dict[str, tuple[str, ...]]:
    """Return the short names of each document's forms.

    Args:
        documents: Rows of `documents`.
    """
    return {row["document_id"]: name_form(row["form"]) for row in documents}
