"""The figures of the demo, and every probability compared with exact fractions."""

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html.parser import HTMLParser
from math import prod
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import naively
from naively.demos import federalist
from naively.demos.federalist import AUTHORS
from naively.demos.federalist_report import report
from naively.demos.papers import Paper, Word, read_papers, read_stop_words, table

PAPERS = read_papers()
KNOWN = [paper for paper in PAPERS if paper.author in AUTHORS]


@pytest.fixture(scope="module")
def model() -> naively.Model:
    return federalist.train(PAPERS)


@pytest.fixture(scope="module")
def without(model: naively.Model) -> list[float]:
    """The log-odds of each known paper under the model of the others."""
    return federalist.leave_one_out(model, KNOWN)


class Exact:
    """The demo in fractions: the counts of some papers over the V words that occur in any of the 65.

    A word that none of these papers has is left out, as `Multinomial` does.
    """

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.words = {w for w in read_stop_words() if any(w in paper.counts for paper in KNOWN)}
        self.papers = Counter(paper.author for paper in papers)
        self.counts: Mapping[str, Counter[str]] = {author: Counter() for author in AUTHORS}
        for paper in papers:
            self.counts[str(paper.author)].update({w: n for w, n in paper.counts.items() if w in self.words})

        self.seen = set().union(*self.counts.values())

    def joint(self, paper: Paper, author: str) -> Fraction:
        """p(author) Π_k θ_k^x_k, with θ_k = (N_k + 1) / (N + V)."""
        counts = self.counts[author]
        total = sum(counts.values()) + len(self.words)
        used = [(counts[word] + 1, n) for word, n in paper.counts.items() if word in self.seen]
        likelihood = Fraction(prod(top**n for top, n in used), total ** sum(n for _, n in used))
        return Fraction(self.papers[author], self.papers.total()) * likelihood

    def posterior(self, paper: Paper) -> tuple[Fraction, Fraction]:
        hamilton, madison = (self.joint(paper, author) for author in AUTHORS)
        return hamilton / (hamilton + madison), madison / (hamilton + madison)

    def log_odds(self, paper: Paper) -> float:
        hamilton, madison = (self.joint(paper, author) for author in AUTHORS)
        return float(log(hamilton / madison))


def log(x: Fraction) -> Any:
    """The logarithm to 40 digits."""
    with mpmath.workdps(40):
        return mpmath.log(x.numerator) - mpmath.log(x.denominator)


def test_class_priors(model: naively.Model) -> None:
    assert model.classes == AUTHORS
    assert model.class_counts.tolist() == [51, 14]
    assert np.exp(model.log_prior).round(3).tolist() == [0.785, 0.215]
    assert [f"{log_p:.3g}" for log_p in model.log_prior] == ["-0.243", "-1.54"]


def test_only_words_that_occur_are_smoothed(model: naively.Model) -> None:
    assert len(model.schema.names) == 122
    assert "yourselves" not in model.schema.names  # only Jay and the disputed papers have it
    words = {word.word: word for word in federalist.words_of(model, PAPERS)}
    hamilton = sum(w.hamilton for w in words.values()) + 122
    madison = sum(w.madison for w in words.values()) + 122
    for w in words.values():
        ratio = Fraction(w.hamilton + 1, hamilton) / Fraction(w.madison + 1, madison)
        assert w.log_odds == pytest.approx(float(log(ratio)), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: f"No{paper.number}")
def test_posterior_equals_exact_fractions(model: naively.Model, paper: Paper) -> None:
    posterior = model.posterior(table([paper], model.schema.names))[0].tolist()
    expected = [float(p) for p in Exact(KNOWN).posterior(paper)]
    assert posterior == pytest.approx(expected, rel=1e-9, abs=0)


def test_joint_with_the_coefficient_equals_high_precision() -> None:
    """Compare with log of the multinomial probability + log p(author)."""
    exact = Exact(KNOWN)
    words = sorted(exact.words)
    authors = [paper.author for paper in KNOWN]
    fitted = naively.fit(
        table(KNOWN, words), authors, columns=naively.Multinomial(alpha=1, coefficient=True), tune=False
    )
    log_joint = fitted.log_joint(table(PAPERS, words))
    with mpmath.workdps(40):
        for paper, row in zip(PAPERS, log_joint, strict=True):
            x = [paper.counts[word] for word in words if word in paper.counts]
            coefficient = mpmath.loggamma(sum(x) + 1) - mpmath.fsum(mpmath.loggamma(n + 1) for n in x)
            joints = [log(exact.joint(paper, author)) + coefficient for author in AUTHORS]
            assert row.tolist() == pytest.approx([float(joint) for joint in joints], rel=1e-12)


def test_leave_one_out_is_right_for_63_of_65(without: list[float]) -> None:
    wrong = [p.number for p, odds in zip(KNOWN, without, strict=True) if (odds > 0) != (p.author == "Hamilton")]
    assert len(KNOWN) == 65
    assert wrong == [14, 38]


def test_leave_one_out_equals_exact_fractions_of_the_rest(without: list[float]) -> None:
    expected = [Exact([other for other in KNOWN if other is not paper]).log_odds(paper) for paper in KNOWN]
    assert without == pytest.approx(expected, rel=1e-10)


def test_subtracting_a_paper_equals_training_without_it(model: naively.Model) -> None:
    words = list(model.schema.names)
    for paper in KNOWN[::13]:
        others = [other for other in KNOWN if other is not paper]
        fresh = naively.fit(
            table(others, words), [other.author for other in others], columns=naively.Multinomial(alpha=1), tune=False
        )
        rest = model.forget(table([paper], words), [paper.author])
        assert np.array_equal(rest.log_joint(table(PAPERS, words)), fresh.log_joint(table(PAPERS, words)))


def test_all_unknown_papers_but_one_go_to_madison(model: naively.Model) -> None:
    unknown = [paper for paper in PAPERS if paper.status in ("disputed", "joint")]
    odds = federalist.log_odds(model, unknown)
    assert [paper.number for paper, o in zip(unknown, odds, strict=True) if o > 0] == [55]


@pytest.mark.parametrize("paper", PAPERS[::6], ids=lambda paper: f"No{paper.number}")
def test_evidence_adds_up_to_the_log_odds(model: naively.Model, paper: Paper) -> None:
    terms = federalist.terms_of(model, paper)
    total = model.linear(of="Hamilton").bias + sum(term.log_odds for term in terms)
    assert total == pytest.approx(federalist.log_odds(model, [paper])[0], abs=1e-10)
    assert sum(t.count for t in terms) == sum(n for w, n in paper.counts.items() if w in model.schema.names)
    assert [t.log_odds for t in terms] == sorted((t.log_odds for t in terms), reverse=True)


def test_demo_prints_the_figures_and_writes_the_report(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", "from naively.demos import federalist; federalist.main()"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    lines = [line.strip() for line in run.stdout.splitlines()]
    assert "Hamilton        51   0.785   -0.243" in lines
    assert "Madison         14   0.215    -1.54" in lines
    assert "63 of 65 papers right (leave-one-out)." in lines
    assert "All 12 disputed papers go to Madison, but No. 55." in lines
    assert [int(line.split()[1]) for line in lines if line.startswith("No. ") and "log-odds" in line] == [
        *range(49, 59),
        *(62, 63, 18, 19, 20),
    ]
    assert sum(line.startswith("naively ") for line in lines) == 3
    assert max(map(len, run.stdout.splitlines())) <= 100
    assert [path.name for path in tmp_path.iterdir()] == ["federalist_report.html"]
    check_page((tmp_path / "federalist_report.html").read_text(encoding="utf-8"))


def check_page(page: str) -> None:
    """Check the figures, a dot for each of 80 papers, 15 explanations, and that nothing is loaded or run."""
    assert "<td>0.785</td><td>-0.243</td>" in page
    assert "63 of 65 are right (wrong: No. 14, No. 38)" in page
    assert page.count("p(Hamilton) = ") == 80
    assert page.count("<details>") == 15
    for outside in ("http:", "https:", "src=", "<script", "<link", "@import", "url("):
        assert outside not in page
    parser = Tags()
    parser.feed(page)
    parser.close()
    assert not parser.open


class Tags(HTMLParser):
    """Checks that every tag is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_words_are_escaped_in_html(model: naively.Model) -> None:
    word = Word("<script>alert(1)</script>", 3, 1, 0.5)
    page = report(model, model, PAPERS, [word], federalist.leave_one_out(model, KNOWN))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
