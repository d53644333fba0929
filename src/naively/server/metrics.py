"""Counts and times for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.types import Scope

from naively.store.entries import Entry

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The metrics of one application. Labels are names of models and routes, never anything of a row."""

    def __init__(self) -> None:
        """Make a registry of its own, so that several applications can be in one process."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "naively_requests", "Requests by route and status.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "naively_request_seconds", "Time of a request.", ["route"], registry=self.registry, buckets=SECONDS
        )
        self.rows = Counter("naively_rows", "Rows predicted.", ["model"], registry=self.registry)
        self.entries = Counter("naively_entries", "Entries written.", ["model", "act"], registry=self.registry)
        self.version = Gauge(
            "naively_model_version", "Entries in the file of a model.", ["model"], registry=self.registry
        )
        self._rows: dict[str, Counter] = {}
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        route = scope.get("naively.route", "other")
        children = self._children.get((route, status))
        if children is None:
            children = self._children[route, status] = (
                self.requests.labels(route, str(status)),
                self.seconds.labels(route),
            )
        children[0].inc()
        children[1].observe(seconds)

    def count_rows(self, model: str, n_rows: int) -> None:
        """Count rows that were predicted."""
        counter = self._rows.get(model)
        if counter is None:
            counter = self._rows[model] = self.rows.labels(model)
        counter.inc(n_rows)

    def count_entries(self, model: str, entries: Iterable[Entry]) -> None:
        """Count entries that were written."""
        for entry in entries:
            self.entries.labels(model, entry.act).inc()

    def response(self) -> Response:
        """Return all metrics in the format of Prometheus."""
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)
