"""Two small models to serve: who wrote a Federalist paper, and whether to play outside."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

import naively
from naively.demos.federalist import papers_of_authors
from naively.demos.papers import read_papers
from naively.demos.play import DAYS


def save_models(stack: ExitStack) -> list[str]:
    """Fit both models, save them in a temporary folder, and return the files; the folder lasts as long as `stack`."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="naively-demo-")))
    papers = papers_of_authors(read_papers())
    texts = [" ".join(word for word, count in paper.counts.items() for _ in range(count)) for paper in papers]
    naively.fit({"paper": texts, "author": [paper.author for paper in papers]}, "author").save(
        folder / "federalist.naively", source="the Federalist Papers"
    )
    naively.fit(DAYS, "play").save(folder / "play.naively", source="twelve days")
    return [str(folder / "federalist.naively"), str(folder / "play.naively")]
