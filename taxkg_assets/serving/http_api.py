"""The HTTP API: `taxkg serve`. Parse, ask the service, render; `web.py` adds the explorer and the API reference."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from deltalake.exceptions import DeltaError
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.gzip import GZipMiddleware

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.defs.home.storage import StorageError
from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.query.parsed_query import MAX_CHARACTERS
from taxkg_assets.retrieval.results import Flag, Result
from taxkg_assets.serving.api_examples import add_examples
from taxkg_assets.serving.browse_api import create_browse_router
from taxkg_assets.serving.field_names import describe_fields
from taxkg_assets.serving.lookup_api import create_lookup_router
from taxkg_assets.serving.problems import (
    NOT_FOUND,
    code_of,
    describe_invalid,
    describe_problems,
    describe_unknown,
    refuse,
)
from taxkg_assets.serving.replies import CellRow, Served
from taxkg_assets.serving.request_limits import PostOnly, RequestLimits, ToolsPath
from taxkg_assets.serving.server_metrics import MetricsMiddleware, ServerMetrics
from taxkg_assets.serving.service import Service
from taxkg_assets.serving.tools import create_tools
from taxkg_assets.serving.verify_api import create_verify_router
from taxkg_assets.serving.web import SecurityHeaders, create_web_router

_log = logging.getLogger("taxkg.serving")

THREADS = 4
"""Requests worked on side by side: encoding keeps two cores busy, so more of them would only wait inside."""

OUT_OF_REACH = (DeltaError, OSError, StorageError)
"""A table that is read for the first time while the home cannot be read."""

LEVELS = {"auto": "auto", "summary": "section", "detailed": "paragraph"}
"""Size of a passage by the mode of a query."""


def _check_letters(words: object) -> object:
    if isinstance(words, str) and any("\ud800" <= letter <= "\udfff" for letter in words):
        raise ValueError("not valid Unicode (an unpaired surrogate)")
    return words


Words = Annotated[str, BeforeValidator(_check_letters)]
Question = Annotated[
    str,
    Field(min_length=1, max_length=MAX_CHARACTERS, pattern=r"\S", description="the question"),
    BeforeValidator(_check_letters),
]
Level = Literal["auto", "document", "page", "section", "paragraph"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchRequest(_Request):
    """A search with its filters."""

    question: Question
    k: int = Field(default=5, ge=1, le=50, description="maximum number of passages to return")
    form: Words | None = Field(
        default=None, max_length=100, description="return only passages about this form, e.g. 1099-DIV"
    )
    year: int | None = Field(
        default=None, ge=1900, le=2200, description="return only passages of this tax year or revision year"
    )
    document: Words | None = Field(
        default=None, max_length=200, description="return only results from the document with this id"
    )
    tag: Words | None = Field(default=None, max_length=100, description="return only passages with this tag or entity")
    level: Level = Field(default="auto", description="level of the passages; auto: chosen from the question")


class AskRequest(_Request):
    """A question to answer from the whole corpus or from part of it."""

    question: Question
    k: int = Field(default=5, ge=1, le=50, description="number of passages to return besides the cited ones")
    form: Words | None = Field(
        default=None, max_length=100, description="answer only from documents about this form, e.g. 1099-DIV"
    )
    year: int | None = Field(
        default=None, ge=1900, le=2200, description="answer only from documents of this tax year or revision year"
    )
    document: Words | None = Field(
        default=None, max_length=200, description="answer only from the document with this id"
    )


class TableRequest(_Request):
    """A question to answer with a table cell."""

    question: Question
    k: int = Field(default=3, ge=1, le=50, description="maximum number of cells to return")
    document: Words | None = Field(
        default=None, max_length=200, description="return only results from the document with this id"
    )


class QueryRequest(_Request):
    """A question with the amount of detail to return."""

    question: Question
    document: Words | None = Field(
        default=None, max_length=200, description="answer only from the document with this id"
    )
    document_id: Words | None = Field(default=None, max_length=200, description="former name of the field `document`")
    mode: Literal["auto", "summary", "detailed"] = Field(
        default="auto",
        description="summary: from whole sections; detailed: from paragraphs; auto: by the question",
    )


class FeedbackRequest(_Request):
    """A user's judgment of an answer."""

    query_id: str = Field(pattern="^[0-9a-f]{32}$", description="value of the header X-Query-Id of the answer")
    is_helpful: bool = Field(description="whether the answer helped")
    comment: Words = Field(default="", max_length=2000, description="why")


class Source(BaseModel):
    """The document, page and rectangle of a part of an answer."""

    document: str = Field(description="document id")
    form: str = Field(description="form or publication number, e.g. 1099-DIV; empty if unknown")
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    page: int = Field(description="page of the PDF, from 1")
    paragraph: str = Field(description="the passage")
    heading_path: str = Field(description="headings above the passage, joined with ' > '")
    node_id: str = Field(description="id of the node, for `/v1/nodes` and `/v1/evidence`")
    bboxes: list[BoundingBox] = Field(
        description="rectangles of the passage: page, and x0, y0, x1, y1 in points from the top left"
    )
    evidence: str = Field(description="path of the page's picture with the passage marked")
    quality: list[Flag] = Field(default=[], description="quality flags of the document")


class QueryResponse(BaseModel):
    """An answer with its sources."""

    answer: str | None = Field(
        description="the answer with its citations [n]; null if the library does not answer the question"
    )
    sources: list[Source] = Field(description="the cited passages, in the order of their numbers")
    detail_level: str = Field(
        description="level of the passages used: the requested mode, or the one chosen for `auto`"
    )
    confidence: float = Field(description="estimated chance that the answer contains what is needed, 0 to 1")
    abstained: bool = Field(description="whether the library does not answer the question")
    created_by: Literal["rule", "llm"] = Field(
        description="origin of the answer; llm: written by a language model, each sentence checked against its quotes"
    )


def create_app(service: Service, *, hosts: Iterable[str] = ()) -> FastAPI:
    """Create the HTTP application over one home.

    Args:
        service: The opened home.
        hosts: Host names, in addition to loopback, that requests may have in their `Host` header.

    Returns:
        Application with the API, the explorer and the tools for agents.
    """

    tools = create_tools(service)
    # The guard has checked host and origin already; calls are independent of each other.
    transport_security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools_app = tools.streamable_http_app(
        streamable_http_path="/", json_response=True, stateless_http=True, transport_security=transport_security
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        async with tools.session_manager.run():
            yield
        if service.journal is not None:
            service.journal.close()

    app = FastAPI(
        title="taxkg",
        description="Cited passages and answers from tax forms, their instructions and codified tax law.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=describe_problems(),
        default_response_class=RoundedResponse,
    )
    server_metrics = ServerMetrics(service)
    app.add_middleware(MetricsMiddleware, metrics=server_metrics)
    app.add_middleware(RequestLimits, settings=service.settings, hosts=hosts)
    app.add_middleware(GZipMiddleware, minimum_size=1024)
    app.add_middleware(SecurityHeaders)
    _add_errors(app)
    _add_questions(app, service)
    _add_operations(app, service, server_metrics)
    app.include_router(create_lookup_router(service))
    app.include_router(create_browse_router(service))
    app.include_router(create_verify_router(service))
    app.include_router(create_web_router())
    app.mount("/mcp", PostOnly(tools_app))
    app.add_middleware(ToolsPath)
    _describe_keys(app)
    return app


class RoundedResponse(JSONResponse):
    """JSON with numbers rounded to four decimals, finer than any printed page."""

    def render(self, content: Any) -> bytes:
        """Encode the content as JSON with rounded numbers.

        Args:
            content: Plain data.

        Returns:
            JSON as UTF-8.
        """
        return super().render(_round(content))


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: _round(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_round(item) for item in value]
    return value


def _describe_keys(app: FastAPI) -> None:
    """Add to the OpenAPI document how a key is sent, where the server has one."""
    build_document = app.openapi

    def openapi() -> dict[str, Any]:
        document = build_document()
        document["components"]["securitySchemes"] = {
            "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "Bearer": {"type": "http", "scheme": "bearer"},
        }
        describe_fields(document)
        add_examples(document)
        document["security"] = [{}, {"ApiKey": []}, {"Bearer": []}]
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _add_errors(app: FastAPI) -> None:
    async def not_found(_: Request, error: Exception) -> JSONResponse:
        return refuse(404, str(error))

    async def out_of_reach(_: Request, error: Exception) -> JSONResponse:
        _log.error("A request failed because a table of the release cannot be read: %s", error)
        return refuse(503, "The home cannot be read now. Try again later; the server's log has the cause.")

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        # In ASCII: a name of the input can contain half a pair of surrogates.
        problem = {"detail": describe_invalid(error.errors()), "code": code_of(422)}
        return Response(json.dumps(problem), 422, media_type="application/json")

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteHTTPException)
        detail = describe_unknown(error, method=request.method, path=request.url.path)
        return refuse(error.status_code, detail, headers=error.headers)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(StarletteHTTPException, refused)
    for kind in NOT_FOUND:
        app.add_exception_handler(kind, not_found)
    for fault in OUT_OF_REACH:
        app.add_exception_handler(fault, out_of_reach)


def _add_questions(app: FastAPI, service: Service) -> None:
    @app.post("/v1/search", responses=describe_problems(404), summary="Ranked passages with page and rectangles")
    def search(body: SearchRequest, response: Response) -> list[Result]:
        started = time.perf_counter()
        filters = {"form": body.form, "year": body.year, "document": body.document, "tag": body.tag}
        results = service.search(body.question, k=body.k, level=body.level, **filters)
        _note(service, response, body.question, results, filters=filters, started=started)
        return results

    @app.post("/v1/table", responses=describe_problems(404), summary="Cells of tables by their row and column headers")
    def table(body: TableRequest) -> list[CellRow]:
        return service.find_cells(body.question, k=body.k, document=body.document)

    @app.post(
        "/v1/ask", responses=describe_problems(404), summary="An answer with citations, general guidance, or abstention"
    )
    def ask(body: AskRequest, response: Response) -> Answer:
        filters = {"form": body.form, "year": body.year, "document": body.document}
        return answer(body.question, response, k=body.k, level="auto", filters=filters)

    @app.post("/v1/query", responses=describe_problems(404), summary="An answer with its sources, short or detailed")
    def query(body: QueryRequest, response: Response) -> QueryResponse:
        filters = {"document": body.document or body.document_id}
        reply = answer(body.question, response, k=5, level=LEVELS[body.mode], filters=filters)
        return QueryResponse(
            answer=reply.answer,
            sources=[_source(row) for row in reply.results],
            detail_level=body.mode if body.mode != "auto" else reply.level,
            confidence=reply.confidence,
            abstained=reply.abstained,
            created_by=reply.created_by,
        )

    def answer(question: str, response: Response, *, k: int, level: str, filters: dict[str, Any]) -> Answer:
        started = time.perf_counter()
        reply = service.ask(question, k=k, level=level, **filters)
        _note(service, response, question, reply, filters=filters, started=started)
        return reply

    @app.post(
        "/v1/feedback",
        status_code=204,
        responses=describe_problems(409),
        summary="Report whether an answer helped; the log of questions must be on",
    )
    def feedback(given: FeedbackRequest) -> None:
        if service.journal is None:
            raise HTTPException(409, "This server keeps no query log. Start it with TAXKG_QUERY_LOG=true.")
        service.journal.note_feedback(given.query_id, is_helpful=given.is_helpful, comment=given.comment)


def _note(
    service: Service,
    response: Response,
    question: str,
    reply: Answer | list[Result],
    *,
    filters: dict[str, Any],
    started: float,
) -> None:
    """Keep the question in the log, if there is one; its id goes back in a header."""
    if service.journal is None:
        return
    response.headers["X-Query-Id"] = service.journal.note_question(
        question,
        reply,
        filters=filters,
        release_ix=service.current.row["release_ix"],
        seconds=time.perf_counter() - started,
    )


def _add_operations(app: FastAPI, service: Service, server_metrics: ServerMetrics) -> None:
    # A thread of their own: they answer at once while questions wait for the others.
    own_thread = anyio.CapacityLimiter(1)

    @app.get("/healthz", summary="What is served, and whether a newer release cannot be read")
    async def healthz() -> Served:
        return await anyio.to_thread.run_sync(service.describe, limiter=own_thread)

    @app.get("/metrics", response_class=PlainTextResponse, summary="Figures in Prometheus' text format")
    async def metrics() -> Response:
        return Response(
            await anyio.to_thread.run_sync(server_metrics.render, limiter=own_thread), media_type=CONTENT_TYPE_LATEST
        )


def _source(row: Result) -> Source:
    return Source(
        document=row.document,
        form=row.form,
        revision=row.revision,
        page=row.page,
        paragraph=row.text,
        heading_path=row.heading_path,
        node_id=row.node_id,
        bboxes=row.bboxes,
        evidence=f"/v1/evidence/{row.node_id.replace('#', '%23')}.png",
        quality=row.quality,
    )
