"""Who wrote the disputed Federalist Papers? Run it with `naively demo federalist`.

    π_c = D_c / D                                papers of author c         (1)
    θ_kc = (N_kc + 1) / (N_c + V)                V stop words               (2)
    log odds = log π_H/π_M + Σ_k x_k log θ_kH/θ_kM                          (3)

H is Hamilton, M is Madison; Jay's papers are set aside. Every figure comes from public functions of one model.
Source: J. Arnold, Naive Bayes (2018; document 002 of docs/equations.md). The question is that of Mosteller & Wallace,
Inference in an authorship problem, J. Am. Stat. Assoc. 58 (1963) 275–309.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import naively
from naively.demos.federalist_report import report
from naively.demos.papers import Paper, Word, read_papers, read_stop_words, table

AUTHORS = ("Hamilton", "Madison")
BANDS = {"> 0.99": (0.99, 1.1), "0.5 - 0.99": (0.5, 0.99), "0.01 - 0.5": (0.01, 0.5), "< 0.01": (-0.1, 0.01)}
REPORT = "federalist_report.html"
NEXT = """
8. Try it on your own data: three commands
   naively fit people.csv --target income -o income.naively
   naively explain income.naively people.csv --row 1
   naively plot nomogram income.naively -o income.svg
   (and two more examples: naively demo spam, naively demo play)"""


@dataclass(frozen=True)
class Term:
    """A word in a paper: its count, and the log-odds for Hamilton that all occurrences add."""

    word: str
    count: int
    log_odds: float


def train(papers: Sequence[Paper]) -> naively.Model:
    """Fit equations (1) and (2) to the papers of the two authors; the words are those that either of them used."""
    known = papers_of_authors(papers)
    words = [word for word in read_stop_words() if any(word in paper.counts for paper in known)]
    return naively.fit(
        table(known, words), [paper.author for paper in known], columns=naively.Multinomial(alpha=1), tune=False
    )


def calibrate(model: naively.Model, papers: Sequence[Paper]) -> naively.Model:
    """Fit the same counts and smoothing, with the weight of a word chosen by leave-one-out on the known papers.

    Every word occurs in a known paper, so unseen="smooth" changes no probability; it makes tuning keep alpha = 1.
    """
    known = papers_of_authors(papers)
    words = naively.Multinomial(alpha=1, unseen="smooth")
    return naively.fit(table(known, model.schema.names), [paper.author for paper in known], columns=words)


def papers_of_authors(papers: Sequence[Paper]) -> list[Paper]:
    """Return the papers that are known to be by Hamilton or Madison."""
    return [paper for paper in papers if paper.author in AUTHORS]


def log_odds(model: naively.Model, papers: Sequence[Paper]) -> list[float]:
    """Return equation (3) for each paper."""
    return [float(odds) for odds in model.log_odds(table(papers, model.schema.names), of="Hamilton")]


def words_of(model: naively.Model, papers: Sequence[Paper]) -> list[Word]:
    """Return every word of the model with its counts and its weight in equation (3)."""
    linear = model.linear(of="Hamilton", against="Madison")
    hamilton, madison = (table([p for p in papers if p.author == author], linear.features) for author in AUTHORS)
    weights = zip(linear.features, linear.weights.tolist(), strict=True)
    return [Word(word, sum(hamilton[word]), sum(madison[word]), weight) for word, weight in weights]


def most_telling_words(words: Sequence[Word]) -> list[Word]:
    """Return the words, the best at telling the authors apart first.

    They are sorted by (θ_kH − θ_kM) log θ_kH/θ_kM, their part of the symmetric Kullback–Leibler divergence.
    """
    hamilton = sum(w.hamilton + 1 for w in words)
    madison = sum(w.madison + 1 for w in words)
    return sorted(
        words, key=lambda w: ((w.hamilton + 1) / hamilton - (w.madison + 1) / madison) * w.log_odds, reverse=True
    )


def leave_one_out(model: naively.Model, papers: Sequence[Paper]) -> list[float]:
    """Return the log-odds of each paper under the model that has forgotten it."""
    rows = [table([paper], model.schema.names) for paper in papers]
    rests = [model.forget(row, [paper.author]) for row, paper in zip(rows, papers, strict=True)]
    return [float(rest.log_odds(row, of="Hamilton")[0]) for rest, row in zip(rests, rows, strict=True)]


def terms_of(model: naively.Model, paper: Paper) -> list[Term]:
    """Return the terms of the sum in equation (3), from Hamilton's best word to Madison's."""
    linear = model.linear(of="Hamilton", against="Madison")
    weights = zip(linear.features, linear.weights.tolist(), strict=True)
    terms = [Term(w, paper.counts[w], paper.counts[w] * weight) for w, weight in weights if w in paper.counts]
    return sorted(terms, key=lambda term: -term.log_odds)


def probability(log_odds: float) -> float:
    """Return p(Hamilton) from its log-odds."""
    return 1 / (1 + math.exp(-log_odds))


def favoured(log_odds: float) -> str:
    """Return the author whom the log-odds favour."""
    return "Hamilton" if log_odds > 0 else "Madison"


def show_papers(papers: Sequence[Paper]) -> None:
    """Print what the data is."""
    authors = [paper.author or paper.status for paper in papers]
    counts = [f"{name} {authors.count(name)}" for name in ("Hamilton", "Madison", "Jay", "joint", "disputed")]
    print("Who wrote the disputed Federalist Papers?\n\n1. The papers")
    print(f"   {len(papers)} papers, {sum(sum(p.counts.values()) for p in papers):,} words:\n   {', '.join(counts)}")
    print("   Jay's are set aside: the question is Hamilton or Madison. We use only stop words")
    print("   (the, of, by, ...): they depend on a writer's habits, not on the subject.")


def show_training(model: naively.Model, papers: Sequence[Paper]) -> None:
    """Print the priors and the most telling words."""
    print("\n2. Training is counting: naively.fit(counts, authors, columns=Multinomial(alpha=1), tune=False)")
    print(f"\n   {'author':10}{'papers':>8}{'p':>8}{'log p':>9}")
    for author, n, log_p in zip(model.classes, model.class_counts, model.log_prior, strict=True):
        print(f"   {author:10}{n:>8.0f}{math.exp(log_p):>8.3f}{log_p:>9.3g}")
    words = words_of(model, papers)
    hamilton, madison = sum(w.hamilton for w in words), sum(w.madison for w in words)
    print(f"\n   The papers have {len(words)} stop words (V). Each gets probability (count + 1) / (all + V):")
    print(f"   all = {hamilton:,} for Hamilton, {madison:,} for Madison.")
    print("   The most telling words, per 1,000 stop words, and the log-odds that one occurrence adds:")
    print(f"\n   {'word':10}{'Hamilton':>10}{'Madison':>10}{'log-odds':>10}")
    for w in most_telling_words(words)[:12]:
        rates = f"{1000 * w.hamilton / hamilton:>10.2f}{1000 * w.madison / madison:>10.2f}"
        print(f"   {w.word:10}{rates}{w.log_odds:>+10.3f}  {favoured(w.log_odds)}")


def show_leave_one_out(papers: Sequence[Paper], left_out: Sequence[float]) -> None:
    """Print how good the predictions are for papers that were taken out of the counts."""
    known = papers_of_authors(papers)
    wrong = [(paper, odds) for paper, odds in zip(known, left_out, strict=True) if favoured(odds) != paper.author]
    print("\n3. How good is it? Take each known paper out of the model and predict its author:")
    print("   rest = model.forget(paper, author) subtracts counts; nothing is trained again.")
    print(f"\n   {len(known) - len(wrong)} of {len(known)} papers right (leave-one-out).")
    for paper, odds in wrong:
        print(
            f"   Wrong: No. {paper.number} by {paper.author}, with p({paper.author}) = {probability(-abs(odds)):.2g}."
        )
    expected = sum(probability(-abs(odds)) for odds in left_out)
    print(f"   By its own probabilities, {expected:.2f} mistakes are expected: words are not independent, so it is")
    print("   overconfident. Trust the side of 0.5 more than the many nines.")


def show_unknown(model: naively.Model, papers: Sequence[Paper]) -> None:
    """Print the predictions for the papers whose author is not known, and the words with the most evidence."""
    print("\n4. The unknown papers: log-odds (above 0: Hamilton), p(Hamilton), and the strongest words,")
    print(f"   as word x count and log-odds; each sum starts from the prior, {model.linear(of='Hamilton').bias:+.2f}.")
    for status in ("disputed", "joint"):
        unknown = [paper for paper in papers if paper.status == status]
        print(f"\n   {status.capitalize()}")
        for paper, odds in zip(unknown, log_odds(model, unknown), strict=True):
            terms = [f"{term.word} x{term.count} {term.log_odds:+.1f}" for term in terms_of(model, paper)]
            p = probability(odds)
            print(f"   No. {paper.number}  {favoured(odds):9} log-odds {odds:+7.2f}   p(Hamilton) = {p:.3g}")
            print(f"           for Hamilton: {', '.join(terms[:5])}")
            print(f"           for Madison:  {', '.join(terms[:-6:-1])}")
    disputed = [paper for paper in papers if paper.status == "disputed"]
    hamilton = [str(p.number) for p, odds in zip(disputed, log_odds(model, disputed), strict=True) if odds > 0]
    print(f"\n   All {len(disputed)} disputed papers go to Madison, but No. {', '.join(hamilton)}.")


def show_picture(model: naively.Model, papers: Sequence[Paper]) -> None:
    """Print p(Hamilton) by number of the paper as a plot of letters."""
    print("\n5. p(Hamilton) of every paper (H by Hamilton, M by Madison, + joint, ? disputed;")
    print("   the model was trained on the known ones)")
    plotted = [paper for paper in papers if paper.author != "Jay"]
    odds = dict(zip([paper.number for paper in plotted], log_odds(model, plotted), strict=True))
    letter = {p.number: {"disputed": "?", "joint": "+"}.get(p.status) or str(p.author)[0] for p in plotted}
    for numbers in (range(1, 44), range(44, 86)):
        print()
        for band, (low, high) in BANDS.items():
            row = "".join(letter[n] if n in odds and low < probability(odds[n]) <= high else " " for n in numbers)
            print(f"   {band:>10} |{row}".rstrip())
        ruler = "".join(f"{n:<5}" for n in numbers if n % 5 == 0)
        print(f"   {'No.':>10} |{' ' * (-numbers[0] % 5)}{ruler}".rstrip())


def show_calibrated(model: naively.Model, tuned: naively.Model, papers: Sequence[Paper]) -> None:
    """Print the probabilities of plain Naive Bayes and of the tuned model."""
    assert tuned.tuning is not None
    accuracy, n_rows = tuned.tuning.report["accuracy"], tuned.tuning.rows
    weight = next(iter(tuned.tuning.weights.values()))
    print("\n6. Plain and calibrated probabilities: naively.fit(counts, authors) tunes by default.")
    print(f"   By leave-one-out on the {n_rows} known papers, the evidence of a word gets the weight {weight:.2f}:")
    print("   words are not independent. The predictions stay, the nines go.")
    print(f"   {accuracy * n_rows:.0f} of {n_rows} papers are right (cross-fitted).")
    if accuracy == 1:
        print("   Without a mistake there is little to learn caution from: do not trust the nines here either.")
    unknown = [paper for paper in papers if paper.status != "known"]
    rows = table(unknown, model.schema.names)
    print(f"\n   {'':8}{'plain':>12}{'calibrated':>12}   p(Hamilton)")
    for paper, p, q in zip(unknown, model.posterior(rows)[:, 0], tuned.posterior(rows)[:, 0], strict=True):
        print(f"   No. {paper.number:<4}{p:>12.3g}{q:>12.3g}")


def main() -> None:
    """Run all steps, in order."""
    papers = read_papers()
    model = train(papers)
    tuned = calibrate(model, papers)
    left_out = leave_one_out(model, papers_of_authors(papers))
    show_papers(papers)
    show_training(model, papers)
    show_leave_one_out(papers, left_out)
    show_unknown(model, papers)
    show_picture(model, papers)
    show_calibrated(model, tuned, papers)
    page = report(model, tuned, papers, most_telling_words(words_of(model, papers))[:20], left_out)
    Path(REPORT).write_text(page, encoding="utf-8")
    print(f"\n7. The same with pictures, and every prediction word by word, for your browser:\n   {REPORT}")
    print(NEXT)
