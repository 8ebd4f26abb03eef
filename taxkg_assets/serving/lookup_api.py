"""Endpoints that look one thing up: a box, a line, a trace, changes, a node, the picture of its page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from taxkg_assets.serving.problems import describe_problems
from taxkg_assets.serving.replies import BoxRow, ChangeRow, LineRow, NodeDetail, Trace
from taxkg_assets.serving.service import Service

FormName = Annotated[str, Query(min_length=1, max_length=100, description="form or schedule, e.g. 1099-DIV")]
Key = Annotated[str, Query(min_length=1, max_length=50, description="box, line or column, e.g. 1a or Part II 2")]
Revision = Annotated[str, Query(max_length=200, description="revision, its year, or document; the newest if empty")]
NodeId = Annotated[str, Path(max_length=300, description="`node_id` of a result; write # as %23")]

MOST_CHANGES = 5000


def create_lookup_router(service: Service) -> APIRouter:
    """Create the endpoints that look up boxes, lines, cells and nodes.

    Args:
        service: The opened home.

    Returns:
        Router below `/v1`.
    """
    router = APIRouter(prefix="/v1", tags=["look up"], responses=describe_problems(404))
    _add_fields(router, service)
    _add_changes(router, service)
    _add_nodes(router, service)
    return router


def _add_fields(router: APIRouter, service: Service) -> None:
    @router.get("/boxes", summary="A box in each revision of its form with the paragraphs about it, or all boxes")
    def boxes(
        form: FormName,
        key: Annotated[str, Query(max_length=50, description="box, e.g. 2e; all boxes if empty")] = "",
    ) -> list[BoxRow]:
        return service.find_box(form, key) if key.strip() else service.list_boxes(form)

    @router.get("/lines", summary="A line, box or column of a form in each revision, with its fields")
    def lines(form: FormName, key: Key) -> list[LineRow]:
        return service.find_line(form, key)

    @router.get("/trace", summary="Where the amount of a line goes and comes from, across documents")
    def trace(form: FormName, key: Key, revision: Revision = "") -> Trace:
        return service.trace_line(form, key, revision)


def _add_changes(router: APIRouter, service: Service) -> None:
    @router.get("/diff", summary="What changed between two revisions, the two newest if none is named")
    def diff(
        name: Annotated[
            str, Query(min_length=1, max_length=100, description="form or file stem, e.g. 1099-NEC or f1099nec")
        ],
        older: Annotated[str, Query(max_length=200, description="older revision or document, e.g. 2020")] = "",
        newer: Annotated[str, Query(max_length=200, description="newer revision or document")] = "",
        routine: Annotated[
            bool, Query(description="whether to include changes that need no action, at the end")
        ] = True,
        key: Annotated[
            str, Query(max_length=50, description="return only changes of this box or line, e.g. box_1a")
        ] = "",
        k: Annotated[
            int, Query(ge=1, le=MOST_CHANGES, description="maximum number of changes to return")
        ] = MOST_CHANGES,
    ) -> list[ChangeRow]:
        return service.list_changes(name, older, newer, routine=routine, key=key)[:k]


def _add_nodes(router: APIRouter, service: Service) -> None:
    @router.get("/nodes/{node_id:path}", summary="A node of the graph: its text, its place, its relations")
    def node(node_id: NodeId) -> NodeDetail:
        return service.read_node(node_id)

    @router.get(
        "/evidence/{node_id:path}.png",
        summary="The page of a node with its rectangles marked",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}, "description": "The page as a picture."}},
    )
    def evidence(
        node_id: NodeId,
        page: Annotated[int | None, Query(ge=1, description="page of the PDF; the node's first page if empty")] = None,
        zoom: Annotated[float, Query(ge=0.5, le=4.0, description="pixels per point")] = 2.0,
    ) -> Response:
        return Response(service.draw_evidence(node_id, page=page, zoom=zoom), media_type="image/png")
