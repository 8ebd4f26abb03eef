"""Rule family `document_checks`: limits of the checks on how pages were read; read by extraction/page_checks.py."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class StructureTagsAreTrusted(Section):
    """Values of `structure_tags_are_trusted`."""

    distrusted_frac: float
    least_pages: int


class TagsAndLayoutAgree(Section):
    """Agreed_frac.

    Least share of the headings on lines of their own, on pages read by tags, that the layout sees as well.
    least_headings: a document with fewer of them is not judged.
    """

    agreed_frac: float
    least_headings: int


class TableRowsAreTheirOwn(Section):
    """Values of `table_rows_are_their_own`.

    slack_pt: a cell may reach over the edge of its table by this much. shared_frac: share of a cell's area that cells
    of another table cover where both print the same words. cells_frac: share of a row's cells for which this is so.
    """

    slack_pt: float
    shared_frac: float
    cells_frac: float


class DocumentChecks(Family):
    """Content of `rules/document_checks.yaml`."""

    structure_tags_are_trusted: StructureTagsAreTrusted
    tags_and_layout_agree: TagsAndLayoutAgree
    table_rows_are_their_own: TableRowsAreTheirOwn


@cache
def load_document_checks() -> DocumentChecks:
    """Return the rules that decide when a check of how pages were read fails."""
    return load_model("document_checks", DocumentChecks)
