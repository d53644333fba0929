"""Who wrote the disputed Federalist Papers? Document 002, step by step: `naively demo federalist`.

    π_c = D_c / D                                papers of author c         (1)
    θ_kc = (N_kc + 1) / (N_c + V)                V stop words seen          (2)
    log odds = log π_H/π_M + Σ_k x_k log θ_kH/θ_kM                          (3)

H is Hamilton and M Madison; Jay's papers are set aside. Everything below is asked of one model by its public names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import naively
from naively.demos.federalist_report import report
from naively.demos.papers import Paper, read_papers, read_stop_words, table

__all__ = ["Evidence", "Word", "calibrated", "evidence", "leave_one_out", "main", "telling_words", "train", "words_of"]

AUTHORS = ("Hamilton", "Madison")


@dataclass(frozen=True)
class Word:
    """A stop word: how often each author used it, and the log-odds for Hamilton that one occurrence adds."""

    word: str
    hamilton: int
    madison: int
    log_odds: float


@dataclass(frozen=True)
class Evidence:
    """What a word says about a paper: how often it is there, and the log-odds for Hamilton that all of them add."""

    word: str
    count: int
    log_odds: float


def train(papers: Sequence[Paper]) -> naively.Model:
    """Equations (1) and (2) from the papers of the two authors; the words are those that either of them used."""
    known = by_the_two(papers)
    seen = [word for word in read_stop_words() if any(word in paper.counts for paper in known)]
    return naively.fit(
        table(known, seen),
        [paper.author for paper in known],
        columns=naively.Multinomial(alpha=1),
        n_jobs=1,
        tune=False,
    )


def by_the_two(papers: Sequence[Paper]) -> list[Paper]:
    """The papers that are known to be Hamilton's or Madison's."""
    return [paper for paper in papers if paper.author in AUTHORS]


def log_odds(model: naively.Model, papers: Sequence[Paper]) -> list[float]:
    """Equation (3), per paper."""
    return [float(odds) for odds in model.log_odds(table(papers, model.schema.names), of="Hamilton")]


def words_of(model: naively.Model, papers: Sequence[Paper]) -> list[Word]:
    """Every word of the model with its counts and its weight in equation (3)."""
    linear = model.linear(of="Hamilton", against="Madison")
    used = [table([p for p in papers if p.author == author], linear.features) for author in AUTHORS]
    weights = zip(linear.features, linear.weights.tolist(), strict=True)
    return [Word(word, sum(used[0][word]), sum(used[1][word]), weight) for word, weight in weights]


def telling_words(words: Sequence[Word]) -> list[Word]:
    """Words by how well they tell the authors apart: how much more often the one uses it, times what that says.

    That product, (θ_kH − θ_kM) log θ_kH/θ_kM, is the word's share of the symmetric divergence between the two dice.
    """
    hamilton = sum(w.hamilton + 1 for w in words)
    madison = sum(w.madison + 1 for w in words)

    def share(w: Word) -> float:
        return ((w.hamilton + 1) / hamilton - (w.madison + 1) / madison) * w.log_odds

    return sorted(words, key=share, reverse=True)


def leave_one_out(model: naively.Model, papers: Sequence[Paper]) -> list[float]:
    """The log-odds of each paper under the model that has never seen it: the whole minus the paper."""
    without = []
    for paper in papers:
        row = table([paper], model.schema.names)
        rest = model - model.of_rows(row, [paper.author])
        without.append(float(rest.log_odds(row, of="Hamilton")[0]))
    return without


def evidence(model: naively.Model, paper: Paper) -> list[Evidence]:
    """The sum in equation (3), term by term, from Hamilton's best word to Madison's."""
    linear = model.linear(of="Hamilton", against="Madison")
    weights = zip(linear.features, linear.weights.tolist(), strict=True)
    terms = [Evidence(w, paper.counts[w], paper.counts[w] * weight) for w, weight in weights if w in paper.counts]
    return sorted(terms, key=lambda term: -term.log_odds)


def probability(log_odds: float) -> float:
    """p(Hamilton) from its log-odds."""
    return 1 / (1 + math.exp(-log_odds))


def show_papers(papers: Sequence[Paper]) -> None:
    """What there is to read."""
    who = [paper.author or paper.status for paper in papers]
    print("Who wrote the disputed Federalist Papers?")
    print("\n1. The papers")
    print(f"   {len(papers)} papers, {sum(sum(p.counts.values()) for p in papers):,} words:")
    print(
        "   " + ", ".join(f"{name} {who.count(name)}" for name in ("Hamilton", "Madison", "Jay", "joint", "disputed"))
    )
    print("   Jay's are set aside: the question is Hamilton or Madison. We look only at stop")
    print("   words (the, of, by, ...): they tell a man's habit, not his subject.")


def show_training(model: naively.Model, papers: Sequence[Paper]) -> None:
    """Priors and the most telling words."""
    print("\n2. Training is counting: naively.fit(counts, authors, columns=Multinomial(alpha=1), tune=False)")
    print(f"\n   {'author':10}{'papers':>8}{'p':>8}{'log p':>9}")
    for author, n, log_p in zip(model.classes, model.class_counts, model.log_prior, strict=True):
        print(f"   {author:10}{n:>8.0f}{math.exp(log_p):>8.3f}{log_p:>9.3g}")
    words = words_of(model, papers)
    hamilton, madison = sum(w.hamilton for w in words), sum(w.madison for w in words)
    print(f"\n   {len(words)} stop words are seen (V). Each gets probability (count + 1) / (all + V):")
    print(f"   all = {hamilton:,} for Hamilton, {madison:,} for Madison.")
    print("   The most telling, per 1,000 stop words, and the log-odds that one occurrence adds:")
    print(f"\n   {'word':10}{'Hamilton':>10}{'Madison':>10}{'log-odds':>10}")
    for w in telling_words(words)[:12]:
        rates = f"{1000 * w.hamilton / hamilton:>10.2f}{1000 * w.madison / madison:>10.2f}"
        print(f"   {w.word:10}{rates}{w.log_odds:>+10.3f}  {favoured(w.log_odds)}")


def favoured(log_odds: float) -> str:
    """Whom the log-odds favour."""
    return "Hamilton" if log_odds > 0 else "Madison"


def show_leave_one_out(papers: Sequence[Paper], without: Sequence[float]) -> None:
    """How good the answers are, on papers that were taken out of the counts."""
    known = by_the_two(papers)
    right = [favoured(odds) == paper.author for paper, odds in zip(known, without, strict=True)]
    print("\n3. Is it any good? Take each known paper out of the model and ask who wrote it:")
    print("   rest = model - model.of_rows(paper, author): counts subtract, nothing is trained again.")
    print(f"\n   {sum(right)} of {len(known)} papers right (leave-one-out).")
    for paper, odds, ok in zip(known, without, right, strict=True):
        if not ok:
            p = probability(-abs(odds))
            print(f"   Wrong: No. {paper.number}, {paper.author}'s, to whom it gives p = {p:.2g}.")
    claimed = sum(probability(-abs(odds)) for odds in without)
    print(f"   The probabilities themselves claim only {claimed:.2f} mistakes: words are not independent, so they are")
    print("   too sure. Trust which side of 0.5 an answer is on more than its many nines.")


def show_unknown(model: naively.Model, papers: Sequence[Paper]) -> None:
    """The papers whose author is not known, and the words that decide."""
    print("\n4. The papers in question: log-odds (above 0 Hamilton), p(Hamilton), and what adds most to it,")
    print(f"   as word x count; each starts from the prior, {model.linear(of='Hamilton').bias:+.2f}.")
    for status, title in (("disputed", "Disputed"), ("joint", "Joint")):
        some = [paper for paper in papers if paper.status == status]
        print(f"\n   {title}")
        for paper, odds in zip(some, log_odds(model, some), strict=True):
            terms = evidence(model, paper)
            p = probability(odds)
            print(f"   No. {paper.number}  {favoured(odds):9} log-odds {odds:+7.2f}   p(Hamilton) = {p:.3g}")
            print(f"           for Hamilton: {listed(terms[:5])}")
            print(f"           for Madison:  {listed(terms[:-6:-1])}")
    disputed = [paper for paper in papers if paper.status == "disputed"]
    hamilton = [p.number for p, odds in zip(disputed, log_odds(model, disputed), strict=True) if odds > 0]
    print(f"\n   All {len(disputed)} disputed papers go to Madison, but No. {', '.join(map(str, hamilton))}.")


def listed(terms: Sequence[Evidence]) -> str:
    """Words with their counts and what they add."""
    return ", ".join(f"{term.word} x{term.count} {term.log_odds:+.1f}" for term in terms)


def show_picture(model: naively.Model, papers: Sequence[Paper]) -> None:
    """p(Hamilton) by number of the paper, as the document plots it, in letters."""
    print("\n5. p(Hamilton) of every paper, as the document plots it")
    print("   (H Hamilton's, M Madison's, + joint, ? disputed; the known ones were counted)")
    plotted = [paper for paper in papers if paper.author != "Jay"]
    odds = dict(zip([paper.number for paper in plotted], log_odds(model, plotted), strict=True))
    sign = {p.number: {"disputed": "?", "joint": "+"}.get(p.status) or str(p.author)[0] for p in plotted}
    bands = {"> 0.99": (0.99, 1.1), "0.5 - 0.99": (0.5, 0.99), "0.01 - 0.5": (0.01, 0.5), "< 0.01": (-0.1, 0.01)}
    for numbers in (range(1, 44), range(44, 86)):
        print()
        for band, (low, high) in bands.items():
            row = "".join(sign[n] if n in odds and low < probability(odds[n]) <= high else " " for n in numbers)
            print(f"   {band:>10} |{row}".rstrip())
        ruler = "".join(f"{n:<5}" for n in numbers if n % 5 == 0)
        print(f"   {'No.':>10} |{' ' * (-numbers[0] % 5)}{ruler}".rstrip())


def calibrated(model: naively.Model, papers: Sequence[Paper]) -> naively.Model:
    """The same counts and smoothing, calibrated: what a word is worth, by leave-one-out on the known papers.

    unseen="smooth" is no different here, as every word was seen, and says that the smoothing is to stay.
    """
    known = by_the_two(papers)
    counts = table(known, model.schema.names)
    words = naively.Multinomial(alpha=1, unseen="smooth")
    return naively.fit(counts, [paper.author for paper in known], columns=words, n_jobs=1)


def show_calibrated(model: naively.Model, tuned: naively.Model, papers: Sequence[Paper]) -> None:
    """The textbook beside the tuned model."""
    print("\n6. The textbook against the calibrated probability: naively.fit(counts, authors) tunes by itself.")
    assert tuned.tuning is not None
    accuracy, rows = tuned.tuning.report["accuracy"], tuned.tuning.rows
    worth = next(iter(tuned.tuning.weights.values()))
    print(f"   By leave-one-out on the {rows} known papers, a word is worth {worth:.2f} of what the textbook says:")
    print("   words are not independent. The answers stay, the nines go.")
    print(f"   {accuracy * rows:.0f} of {rows} papers are right (cross-fitted).")
    if accuracy == 1:
        print("   Without a mistake there is little to learn caution from: mind the nines here too.")
    unknown = [paper for paper in papers if paper.status != "known"]
    asked = table(unknown, model.schema.names)
    print(f"\n   {'':8}{'textbook':>12}{'calibrated':>12}   p(Hamilton)")
    pairs = zip(unknown, model.posterior(asked)[:, 0], tuned.posterior(asked)[:, 0], strict=True)
    for paper, one, two in pairs:
        print(f"   No. {paper.number:<4}{one:>12.3g}{two:>12.3g}")


REPORT = "federalist_report.html"
NEXT = """
8. Try it on your own data: three commands
   naively fit people.csv --target income -o income.naively
   naively explain income.naively people.csv --row 1
   naively plot nomogram income.naively -o income.svg
   (and two more examples: naively demo spam, naively demo play)"""


def main() -> None:
    """All steps, in order."""
    papers = read_papers()
    model = train(papers)
    show_papers(papers)
    show_training(model, papers)
    without = leave_one_out(model, by_the_two(papers))
    show_leave_one_out(papers, without)
    show_unknown(model, papers)
    show_picture(model, papers)
    tuned = calibrated(model, papers)
    show_calibrated(model, tuned, papers)
    words = telling_words(words_of(model, papers))[:20]
    page = report(model, tuned, papers, words, without)
    Path(REPORT).write_text(page, encoding="utf-8")
    print(f"\n7. All of this with pictures, and every answer word by word, for your browser:\n   {REPORT}")
    print(NEXT)


if __name__ == "__main__":
    main()
