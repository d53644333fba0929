"""Hypothesis profiles, and no coverage of Hypothesis tests.

By default Hypothesis tries few examples, always the same ones; with NAIVELY_SOAK=1 it tries many.

Coverage of a test with 60 examples doubles its time. Without these tests `make test` takes a quarter longer than
without coverage, instead of half as long again, and the figure is 2 points lower.
"""

import os

import pytest
from hypothesis import is_hypothesis_test, settings

settings.register_profile("default", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("soak", max_examples=10_000, deadline=None)
settings.load_profile("soak" if os.environ.get("NAIVELY_SOAK") else "default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip long runs outside of a soak; mark Hypothesis tests as not measured, where coverage is measured at all."""
    if not os.environ.get("NAIVELY_SOAK"):
        for item in items:
            if item.get_closest_marker("soak"):
                item.add_marker(pytest.mark.skip(reason="long: make soak"))
    if config.pluginmanager.hasplugin("_cov"):
        for item in items:
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker("no_cover")
