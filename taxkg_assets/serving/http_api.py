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
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.middleware.gzip import GZipMiddleware

from taxkg_assets.defs.place import PlaceError
from taxkg_assets.retrieval.answer import Answer
from taxkg_assets.retrieval.results import Flag, Result
from taxkg_assets.retrieval.search import MOST_CHARACTERS
from taxkg_assets.serving.boxes import BoxNotFoundError
from taxkg_assets.serving.browse_api import create_browse_router
from taxkg_assets.serving.diff import RevisionNotFoundError
from taxkg_assets.serving.evidence import EvidenceNotFoundError
from taxkg_assets.serving.filters import FilterError
from taxkg_assets.serving.lines import LineNotFoundError
from taxkg_assets.serving.request_limits import PostOnly, RequestLimits
from taxkg_assets.serving.server_metrics import MetricsMiddleware, ServerMetrics
from taxkg_assets.serving.service import Service
from taxkg_assets.serving.show import PageNotFoundError
from taxkg_assets.serving.tools import create_tools
from taxkg_assets.serving.web import SecurityHeaders, create_web_router

_log = logging.getLogger("taxkg.serving")

THREADS = 4
"""Requests worked on side by side: encoding keeps two cores busy, so more of them would only wait inside."""

NOT_FOUND = (
    BoxNotFoundError,
    EvidenceNotFoundError,
    FilterError,
    LineNotFoundError,
    PageNotFoundError,
    RevisionNotFoundError,
)

OUT_OF_REACH = (DeltaError, OSError, PlaceError)
"""A table that is read for the first time while the home cannot be read."""

LEVELS = {"auto": "auto", "summary": "section", "detailed": "paragraph"}
"""Size of a passage by the mode of a query."""


def _check_letters(words: object) -> object:
    if isinstance(words, str) and any("\ud800" <= letter <= "\udfff" for letter in words):
        raise ValueError("half a pair of surrogates is no letter")
    return words


Words = Annotated[str, BeforeValidator(_check_letters)]
Question = Annotated[
    str,
    Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S", description="the question"),
    BeforeValidator(_check_letters),
]
Level = Literal["auto", "document", "page", "section", "paragraph"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchRequest(_Request):
    """A search with its filters."""

    question: Question
    k: int = Field(default=5, ge=1, le=50, description="number of passages")
    form: Words | None = Field(default=None, max_length=100, description="only this form, e.g. 1099-DIV")
    year: int | None = Field(default=None, ge=1900, le=2200, description="only this tax year or revision year")
    document: Words | None = Field(default=None, max_length=200, description="only this document")
    tag: Words | None = Field(default=None, max_length=100, description="only passages with this tag or entity")
    level: Level = "auto"


class AskRequest(_Request):
    """A question to be answered from the corpus, or from a part of it."""

    question: Question
    k: int = Field(default=5, ge=1, le=50, description="number of passages to hand over")
    form: Words | None = Field(default=None, max_length=100, description="only this form, e.g. 1099-DIV")
    year: int | None = Field(default=None, ge=1900, le=2200, description="only this tax year or revision year")
    document: Words | None = Field(default=None, max_length=200, description="only this document")


class TableRequest(_Request):
    """A question that a cell of a table answers."""

    question: Question
    k: int = Field(default=3, ge=1, le=50, description="number of cells")
    document: Words | None = Field(default=None, max_length=200, description="only this document")


class QueryRequest(_Request):
    """A question with the detail that is wanted."""

    question: Question
    document_id: Words | None = Field(default=None, max_length=200, description="only this document")
    mode: Literal["auto", "summary", "detailed"] = "auto"


class FeedbackRequest(_Request):
    """A judgement of an answer."""

    query_id: str = Field(pattern="^[0-9a-f]{32}$", description="X-Query-Id of the answer")
    is_helpful: bool
    comment: Words = Field(default="", max_length=2000)


class Source(BaseModel):
    """Where a part of an answer stands."""

    document: str
    form: str
    revision: str
    page: int
    paragraph: str = Field(description="the passage")
    heading_path: str
    node_id: str
    bboxes: list[dict[str, float]]
    evidence: str = Field(description="path of the page's picture with the passage marked")
    quality: list[Flag] = Field(default=[], description="what to doubt of the document")


class QueryResponse(BaseModel):
    """An answer with its sources."""

    answer: str | None
    sources: list[Source]
    detail_level: str = Field(description="the mode asked for; of auto the size of passages that the question wants")
    confidence: float
    abstained: bool
    created_by: Literal["rule", "llm"] = Field(description="llm: sentences of a model, each checked against its quotes")


def create_app(service: Service, *, hosts: Iterable[str] = ()) -> FastAPI:
    """The application over one home.

    Args: hosts: names beside loopback that it answers to.
    """

    tools = create_tools(service)
    # The guard has looked at host and origin already; every call stands for itself.
    guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools_app = tools.streamable_http_app(
        streamable_http_path="/", json_response=True, stateless_http=True, transport_security=guarded
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
        description="Cited passages and answers from tax forms, their instructions and sectioned tax law.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    measured = ServerMetrics(service)
    app.add_middleware(MetricsMiddleware, metrics=measured)
    app.add_middleware(RequestLimits, settings=service.settings, hosts=hosts)
    app.add_middleware(GZipMiddleware, minimum_size=1024)
    app.add_middleware(SecurityHeaders)
    _add_errors(app)
    _add_questions(app, service)
    _add_lookups(app, service)
    _add_operations(app, service, measured)
    app.include_router(create_browse_router(service))
    app.include_router(create_web_router())
    app.mount("/mcp", PostOnly(tools_app))
    return app


def _add_errors(app: FastAPI) -> None:
    async def not_found(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 404)

    async def out_of_reach(_: Request, error: Exception) -> JSONResponse:
        _log.error("a table of the release cannot be read: %s", error)
        detail = "What this needs of the home cannot be read now: try again later; the server's log says more."
        return JSONResponse({"detail": detail}, 503)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        # Without the input and in ASCII: an input can hold what no answer can, half a pair of surrogates.
        wrong = [{key: one[key] for key in ("type", "loc", "msg")} for one in error.errors()]
        return Response(json.dumps({"detail": wrong}), 422, media_type="application/json")

    app.add_exception_handler(RequestValidationError, invalid)
    for kind in NOT_FOUND:
        app.add_exception_handler(kind, not_found)
    for fault in OUT_OF_REACH:
        app.add_exception_handler(fault, out_of_reach)


def _add_questions(app: FastAPI, service: Service) -> None:
    @app.post("/v1/search", summary="Ranked passages with page and rectangles")
    def search(asked: SearchRequest, response: Response) -> list[Result]:
        started = time.perf_counter()
        filters = {"form": asked.form, "year": asked.year, "document": asked.document, "tag": asked.tag}
        found = service.search(asked.question, k=asked.k, level=asked.level, **filters)
        _note(service, response, asked.question, found, filters=filters, started=started)
        return found

    @app.post("/v1/table", summary="Cells of tables by their row and column headers")
    def table(asked: TableRequest) -> list[dict[str, Any]]:
        return service.find_cells(asked.question, k=asked.k, document=asked.document)

    @app.post("/v1/ask", summary="An answer with citations, general guidance, or silence")
    def ask(asked: AskRequest, response: Response) -> Answer:
        filters = {"form": asked.form, "year": asked.year, "document": asked.document}
        return answer(asked.question, response, k=asked.k, level="auto", filters=filters)

    @app.post("/v1/query", summary="An answer with its sources, short or detailed")
    def query(asked: QueryRequest, response: Response) -> QueryResponse:
        filters = {"document": asked.document_id}
        found = answer(asked.question, response, k=5, level=LEVELS[asked.mode], filters=filters)
        return QueryResponse(
            answer=found.answer,
            sources=[_source(row) for row in found.results],
            detail_level=asked.mode if asked.mode != "auto" else found.level,
            confidence=found.confidence,
            abstained=found.abstained,
            created_by=found.created_by,
        )

    def answer(question: str, response: Response, *, k: int, level: str, filters: dict[str, Any]) -> Answer:
        started = time.perf_counter()
        found = service.ask(question, k=k, level=level, **filters)
        _note(service, response, question, found, filters=filters, started=started)
        return found

    @app.post("/v1/feedback", status_code=204, summary="Say whether an answer helped; the log of questions must be on")
    def feedback(given: FeedbackRequest) -> None:
        if service.journal is None:
            raise HTTPException(409, "No log of questions is kept: start the server with TAXKG_QUERY_LOG=true.")
        service.journal.note_feedback(given.query_id, is_helpful=given.is_helpful, comment=given.comment)


def _note(
    service: Service,
    response: Response,
    question: str,
    found: Answer | list[Result],
    *,
    filters: dict[str, Any],
    started: float,
) -> None:
    """Keep the question in the log, if there is one; its id goes back in a header."""
    if service.journal is None:
        return
    response.headers["X-Query-Id"] = service.journal.note_question(
        question,
        found,
        filters=filters,
        release_ix=service.current.row["release_ix"],
        seconds=time.perf_counter() - started,
    )


def _add_lookups(app: FastAPI, service: Service) -> None:
    @app.get("/v1/boxes", summary="A box: label, aliases, revisions, and what is said of it")
    def boxes(
        form: Annotated[str, Query(min_length=1, max_length=100)],
        key: Annotated[str, Query(min_length=1, max_length=50)],
    ) -> list[dict[str, Any]]:
        return service.find_box(form, key)

    @app.get("/v1/lines", summary="A line, box or column of a form in each revision, with its fields")
    def lines(
        form: Annotated[str, Query(min_length=1, max_length=100)],
        key: Annotated[str, Query(min_length=1, max_length=50)],
    ) -> list[dict[str, Any]]:
        return service.find_line(form, key)

    @app.get("/v1/trace", summary="Where the amount of a line goes and comes from, across documents")
    def trace(
        form: Annotated[str, Query(min_length=1, max_length=100)],
        key: Annotated[str, Query(min_length=1, max_length=50)],
        revision: Annotated[str, Query(max_length=200, description="revision, its year, or document; newest if empty")]
        = "",
    ) -> dict[str, Any]:
        return service.trace_line(form, key, revision)

    @app.get("/v1/diff", summary="What changed between two revisions, the two newest if none is named")
    def diff(
        name: Annotated[str, Query(min_length=1, max_length=100)],
        older: Annotated[str, Query(max_length=200)] = "",
        newer: Annotated[str, Query(max_length=200)] = "",
        routine: Annotated[bool, Query(description="also changes that nobody has to act on")] = True,
    ) -> list[dict[str, Any]]:
        return [row for row in service.compare(name, older, newer) if routine or not row["is_routine"]]

    @app.get("/v1/evidence/{node_id:path}.png", summary="The page of a node with its rectangles marked")
    def evidence(
        node_id: str,
        page: Annotated[int | None, Query(ge=1)] = None,
        zoom: Annotated[float, Query(ge=0.5, le=4.0)] = 2.0,
    ) -> Response:
        return Response(service.draw_evidence(node_id, page=page, zoom=zoom), media_type="image/png")


def _add_operations(app: FastAPI, service: Service, measured: ServerMetrics) -> None:
    # A thread of their own: they are told at once while questions wait for the others.
    watching = anyio.CapacityLimiter(1)

    @app.get("/healthz", summary="What is served, and whether a newer release cannot be read")
    async def healthz() -> dict[str, Any]:
        described = await anyio.to_thread.run_sync(service.describe, limiter=watching)
        return {"status": "stale" if service.is_stale else "ok", **described}

    @app.get("/metrics", response_class=PlainTextResponse, summary="Figures in Prometheus' text format")
    async def metrics() -> Response:
        return Response(
            await anyio.to_thread.run_sync(measured.render, limiter=watching), media_type=CONTENT_TYPE_LATEST
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
        bboxes=[box.model_dump() for box in row.bboxes],
        evidence=f"/v1/evidence/{row.node_id.replace('#', '%23')}.png",
        quality=row.quality,
    )
