"""Endpoints for readers who browse: documents, forms, fields, pages and their pictures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from taxkg_assets.serving import library
from taxkg_assets.serving.library_replies import (
    DocumentDetail,
    DocumentEntry,
    FormEntry,
    FormField,
    IndexTerm,
    PageDetail,
)
from taxkg_assets.serving.library_summary import LibrarySummary, summarize_library
from taxkg_assets.serving.problems import describe_problems
from taxkg_assets.serving.service import Service

DocumentId = Annotated[str, Path(min_length=1, max_length=200, description="document id, as in a search result")]
PageNumber = Annotated[int, Path(ge=1, description="page of the PDF, from 1")]

PICTURE_CACHE = "private, max-age=3600"
"""A page's picture changes only with its file, and then with the release."""


def create_browse_router(service: Service) -> APIRouter:
    """Create the endpoints of documents, pages, forms and fields.

    Args:
        service: The opened home.

    Returns:
        Router below `/v1`.
    """
    router = APIRouter(prefix="/v1", tags=["browse"], responses=describe_problems(404))

    @router.get("/library", summary="What the release holds: counts, forms, years, questions to try")
    def library_summary() -> LibrarySummary:
        return summarize_library(service.current)

    @router.get("/documents", summary="Every document of the release")
    def documents() -> list[DocumentEntry]:
        return library.list_documents(service.current)

    @router.get("/documents/{document}", summary="A document: outline, quality flags, other revisions")
    def document_detail(document: DocumentId) -> DocumentDetail:
        return library.describe_document(service.current, document)

    @router.get("/documents/{document}/index", summary="Terms of the index that a document prints, with their pages")
    def index_terms(document: DocumentId) -> list[IndexTerm]:
        return library.list_index_terms(service.current, document)

    @router.get(
        "/documents/{document}/pages/{page}.png",
        summary="A page as a picture, without marks; headers give its size in points",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}, "description": "The page as a picture."}},
    )
    def page_picture(
        document: DocumentId,
        page: PageNumber,
        zoom: Annotated[float, Query(ge=0.5, le=4.0, description="pixels per point")] = library.PAGE_ZOOM,
    ) -> Response:
        picture = library.draw_plain_page(service.current, document, page, zoom=zoom)
        headers = {
            "Cache-Control": PICTURE_CACHE,
            "X-Page-Width": f"{picture.width:g}",
            "X-Page-Height": f"{picture.height:g}",
        }
        return Response(picture.png, media_type="image/png", headers=headers)

    @router.get("/documents/{document}/pages/{page}", summary="The content of a page: paragraphs, tables, fields")
    def page_detail(document: DocumentId, page: PageNumber) -> PageDetail:
        return library.read_page(service.current, document, page)

    @router.get("/forms", summary="Forms with their revisions")
    def forms() -> list[FormEntry]:
        return library.list_forms(service.current)

    @router.get("/fields", summary="The fields of one form, in the order they are filled in")
    def fields(
        document: Annotated[str, Query(min_length=1, max_length=200, description="document id of the form")],
    ) -> list[FormField]:
        return library.list_fields(service.current, document)

    return router
