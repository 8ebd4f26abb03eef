"""Request counts and latencies of a server, in Prometheus' text format."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taxkg_assets.serving.service import Service


class ServerMetrics:
    """Request metrics of one application in the Prometheus text format."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._registry = CollectorRegistry()
        names = ["path", "status"]
        self._requests = Counter("taxkg_requests", "Requests by path and status.", names, registry=self._registry)
        self._seconds = Histogram("taxkg_request_seconds", "Time to answer.", ["path"], registry=self._registry)
        self._release = Gauge("taxkg_release", "Release that is served.", registry=self._registry)
        self._stale = Gauge(
            "taxkg_release_stale", "1 while the newest release cannot be read.", registry=self._registry
        )
        self._hits = Gauge("taxkg_answers_from_memory", "Answers found in memory.", registry=self._registry)
        self._misses = Gauge("taxkg_answers_made", "Answers that had to be found.", registry=self._registry)

    def count(self, path: str, status: int, *, seconds: float) -> None:
        """Count one request.

        Args:
            path: Path of the request, without its query.
            status: HTTP status.
            seconds: Time that it took.
        """
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        self._release.set(self._service.current.row["release_ix"])
        self._stale.set(self._service.is_stale)
        self._hits.set(self._service.counts.hits)
        self._misses.set(self._service.counts.misses)
        return generate_latest(self._registry)


class MetricsMiddleware:
    """Counts requests by path, status and time. Paths are routes, so that the number of series stays small."""

    def __init__(self, app: ASGIApp, *, metrics: ServerMetrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, then count it; one that fails counts with status 500.

        Args:
            scope: Connection.
            receive: Source of the client's messages.
            send: Sink of the server's messages.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_noted)
        finally:
            path = getattr(scope.get("route"), "path", "unknown")
            self._metrics.count(path, status, seconds=time.perf_counter() - started)
