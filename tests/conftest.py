"""Two Hypothesis profiles: few and always the same examples by default, many with NAIVELY_SOAK=1."""

import os

from hypothesis import settings

settings.register_profile("default", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("soak", max_examples=10_000, deadline=None)
settings.load_profile("soak" if os.environ.get("NAIVELY_SOAK") else "default")
