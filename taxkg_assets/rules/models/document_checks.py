"""Rule family `document_checks`: limits of the checks on how pages were read, and on the graph of a document."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class StructureTagsAreTrusted(Section):
    """Values of `structure_tags_are_trusted`.

    Attributes:
        distrusted_frac: Largest share of tagged pages that may be read without their tags.
        least_pages: Minimum number of tagged pages for a document to be checked.
    """

    distrusted_frac: float
    least_pages: int


class TagsAndLayoutAgree(Section):
    """Values of `tags_and_layout_agree`.

    Attributes:
        agreed_frac: Minimum share of standalone headings on tagged pages that layout also finds.
        least_headings: Minimum number of such headings for a document to be checked.
    """

    agreed_frac: float
    least_headings: int


class TableRowsAreTheirOwn(Section):
    """Values of `table_rows_are_their_own`.

    Attributes:
        slack_pt: Points by which a cell may extend beyond its table.
        shared_frac: Minimum share of a cell's area that cells of another table with the same words cover.
        cells_frac: Minimum share of a row's cells that are covered like this.
    """

    slack_pt: float
    shared_frac: float
    cells_frac: float


class PagesHaveContent(Section):
    """Values of `pages_have_content`.

    Attributes:
        artifact_frac: Largest share of a page's characters that may be page artifacts, such as headers.
        least_chars: Minimum number of characters for a page to be checked.
    """

    artifact_frac: float
    least_chars: int


class ReferencesLeadToAPlace(Section):
    """Values of `references_lead_to_a_place`.

    Attributes:
        unresolved_frac: Largest share of references within a document that may be without a target.
        least_references: Minimum number of such references for a document to be checked.
    """

    unresolved_frac: float
    least_references: int


class PassagesAreRelated(Section):
    """Values of `passages_are_related`.

    Attributes:
        unrelated_frac: Largest share of a document's nodes that may be unrelated to all but their outline.
        least_nodes: Minimum number of nodes for a document to be checked.
    """

    unrelated_frac: float
    least_nodes: int


class DocumentChecks(Family):
    """Content of `rules/document_checks.yaml`."""

    structure_tags_are_trusted: StructureTagsAreTrusted
    tags_and_layout_agree: TagsAndLayoutAgree
    table_rows_are_their_own: TableRowsAreTheirOwn
    pages_have_content: PagesHaveContent
    references_lead_to_a_place: ReferencesLeadToAPlace
    passages_are_related: PassagesAreRelated


@cache
def load_document_checks() -> DocumentChecks:
    """Return the limits of the document checks."""
    return load_model("document_checks", DocumentChecks)
