"""Filters that a reader gives outright: what nothing in the corpus answers to is refused, not silently empty."""

from __future__ import annotations

import polars as pl

from taxkg_assets.serving.released import Released


class FilterError(Exception):
    """A filter that nothing in the corpus answers to; the message lists what there is."""


def check_filters(
    released: Released,
    *,
    form: str | None = None,
    year: int | None = None,
    document: str | None = None,
    tag: str | None = None,
) -> None:
    """Refuse a filter that no document of the release matches.

    Args:
        released: The release to read.
        form: Name of a form.
        year: Tax year.
        document: Document id.
        tag: Tag of chunks.

    Raises:
        FilterError: Nothing matches; the message lists what there is.
    """
    documents = released.table("documents")
    if document and document not in documents["document_id"]:
        near = [name for name in documents["document_id"] if document.lower() in name.lower()]
        raise FilterError(
            f"No document {document!r} in the release. Documents: {', '.join(near or documents['document_id'])}."
        )
    known_years = {int(y) for y in documents["tax_year"].drop_nulls()} | {
        int(r[:4]) for r in documents["revision"] if r[:4].isdigit()
    }
    if year and year not in known_years:
        raise FilterError(f"Nothing of {year} in the release. Years: {', '.join(map(str, sorted(known_years)))}.")
    if form and not released.searcher.knows_form(form):
        forms = documents.filter(pl.col("form") != "")["form"].unique().sort()
        raise FilterError(f"No form {form!r} in the release. Forms: {', '.join(forms)}.")
    if tag and not released.searcher.passages.find_tagged(tag).any():
        known = ", ".join(released.searcher.passages.count_tags()[:12]) or "none, as no document was cut by meaning"
        raise FilterError(f"No passage has the tag {tag!r} or names such an entity. Frequent tags: {known}.")
