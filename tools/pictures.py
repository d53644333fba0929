"""Draw the pictures of README.md and docs/pictures.md, from the data in the repository: `make pictures`.

They show the penguins of tests/data_sets and the Federalist Papers. The pictures of predictions show each fifth of the
penguins as predicted by a model of the others.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

import naively
from naively import plot
from naively.demos.papers import read_papers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
PENGUINS = ROOT / "tests" / "data_sets" / "penguins.csv"
NUMBERS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
EXPLAINED = {
    "island": ["Dream"],
    "bill_length_mm": [44.0],
    "bill_depth_mm": [18.0],
    "flipper_length_mm": [None],
    "body_mass_g": [3600.0],
    "sex": ["FEMALE"],
}


def penguins_by_sex() -> tuple[dict[str, list[float | str | None]], list[str]]:
    """Return the other columns and the sex of the penguins whose sex is known."""
    with PENGUINS.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["sex"]]
    labels = [row.pop("sex") for row in rows]
    columns: dict[str, list[float | str | None]] = {}
    for name in rows[0]:
        columns[name] = [(float(row[name]) if name in NUMBERS else row[name]) if row[name] else None for row in rows]
    return columns, labels


def pictures() -> dict[str, Figure]:
    """Draw each picture, by the name of its file."""
    species = naively.fit(PENGUINS, "species")
    columns, labels = penguins_by_sex()
    sex = naively.fit({**columns, "sex": labels}, "sex")
    probability = np.exp(sex.leave_one_out(columns, labels, folds=5).log_posterior)
    predicted = [sex.classes[i] for i in probability.argmax(axis=1)]
    papers = [paper for paper in read_papers() if paper.author in ("Hamilton", "Madison")]
    texts = [" ".join(word for word, n in paper.counts.items() for _ in range(n)) for paper in papers]
    authors = naively.fit({"text": texts, "author": [paper.author for paper in papers]}, "author", tune=False)
    return {
        "nomogram": plot.nomogram(sex, "MALE", "FEMALE"),
        "waterfall": plot.waterfall(species.explain(EXPLAINED)[0], target="species"),
        "importance": plot.importance(species),
        "distributions": plot.distributions(species),
        "words": plot.words(authors),
        "calibration": plot.calibration(labels, probability, sex.classes, target="sex"),
        "roc": plot.roc(labels, probability, sex.classes, target="sex"),
        "precision_recall": plot.precision_recall(labels, probability, sex.classes, target="sex"),
        "confusion": plot.confusion(labels, predicted, sex.classes, target="sex"),
    }


def svg_of(figure: Figure) -> str:
    """Return a picture as SVG: texts stay texts, and coordinates have two decimals."""
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "naively", "font.family": "sans-serif"}):
        figure.savefig(file, format="svg", metadata={"Date": None}, facecolor="white")
    return re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), file.getvalue())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, figure in pictures().items():
        (FOLDER / f"{name}.svg").write_text(svg_of(figure), encoding="utf-8")
