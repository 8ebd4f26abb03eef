"""Filters that a reader sets: one that no document of the release matches is refused, not silently empty."""

from __future__ import annotations

from taxkg_assets.serving.known_names import list_names
from taxkg_assets.serving.released import Released


class FilterError(Exception):
    """A filter that no document of the release matches; the message lists existing values."""


def check_filters(
    released: Released,
    *,
    form: str | None = None,
    year: int | None = None,
    document: str | None = None,
    tag: str | None = None,
) -> None:
    """Raise an error for a filter that no document of the release matches.

    Args:
        released: The release to read.
        form: Name of a form.
        year: Tax year.
        document: Document id.
        tag: Tag of chunks.

    Raises:
        FilterError: Nothing matches; the message lists existing values.
    """
    if not (form or document or tag) and year is None:
        return  # reading the documents would load their schema, which a cold question has no time for
    documents = released.table("documents")
    if document and document not in documents["document_id"]:
        similar_names = list_names(documents["document_id"], unknown_name=document)
        raise FilterError(f"The release has no document {document!r}. Documents: {similar_names}.")
    known_years = {int(tax_year) for tax_year in documents["tax_year"].drop_nulls()} | {
        int(revision[:4]) for revision in documents["revision"] if revision[:4].isdigit()
    }
    if year is not None and year not in known_years:
        raise FilterError(f"The release has no document for {year}. Years: {', '.join(map(str, sorted(known_years)))}.")
    if form and not released.searcher.knows_form(form):
        similar_names = list_names(documents["form"].unique().sort(), unknown_name=form)
        raise FilterError(f"The release has no document about {form!r}. Forms: {similar_names}.")
    if tag and not released.searcher.passages.find_tagged(tag).any():
        similar_names = (
            ", ".join(released.searcher.passages.list_tags()[:12]) or "none; no document was chunked semantically"
        )
        raise FilterError(f"No passage has the tag or entity {tag!r}. Frequent tags: {similar_names}.")
