"""Counts and times for Prometheus. Labels are names of models and routes, never anything of a row."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.types import Scope

from naively.server.service import Service
from naively.store.entries import Entry

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics(Collector):
    """The metrics of one application. All are counted in the event loop, so that plain numbers do."""

    def __init__(self, service: Service) -> None:
        """Make a registry of its own, so that several applications can be in one process."""
        self.service = service
        self.requests: Counter[tuple[str, int]] = Counter()
        self.seconds: Counter[str] = Counter()
        self.buckets: dict[str, list[int]] = {}
        self.entries: Counter[tuple[str, str]] = Counter()
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        endpoint = scope.get("endpoint")
        route = "other" if endpoint is None else getattr(endpoint, "__name__", "other")
        self.requests[route, status] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]  # the counter of a number is a sum
        buckets = self.buckets.get(route)
        if buckets is None:
            buckets = self.buckets[route] = [0] * (len(SECONDS) + 1)
        buckets[bisect_left(SECONDS, seconds)] += 1

    def count_entries(self, model: str, entries: Iterable[Entry]) -> None:
        """Count entries that were written."""
        for entry in entries:
            self.entries[model, entry.act] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        requests = CounterMetricFamily("naively_requests", "Requests.", labels=["route", "status"])
        for (route, status), n in self.requests.items():
            requests.add_metric([route, str(status)], n)
        yield requests
        seconds = HistogramMetricFamily("naively_request_seconds", "Time of a request.", labels=["route"])
        for route, counts in self.buckets.items():
            limits = [*map(str, SECONDS), "+Inf"]
            sums = [(limit, float(sum(counts[: i + 1]))) for i, limit in enumerate(limits)]
            seconds.add_metric([route], sums, self.seconds[route])
        yield seconds
        rows = CounterMetricFamily("naively_rows", "Rows predicted.", labels=["model"])
        version = GaugeMetricFamily("naively_model_version", "Entries of a model.", labels=["model"])
        for served in self.service:
            rows.add_metric([served.name], served.n_rows)
            version.add_metric([served.name], served.snapshot.version)
        yield rows
        yield version
        entries = CounterMetricFamily("naively_entries", "Entries written.", labels=["model", "act"])
        for (model, act), n in self.entries.items():
            entries.add_metric([model, act], n)
        yield entries

    def response(self) -> Response:
        """Return all metrics in the format of Prometheus."""
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)
