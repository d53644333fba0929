"""Shall we play outside? Twelve rows worked by hand, each number shown. Run it with `naively demo play`.

π_c = N_c / N                                                           (1)
θ_jkc = (N_jkc + 1) / (N_c + K_j)            K_j values of column j     (2)
p(x, c) = π_c Π_j θ_{j, x_j, c},   p(c | x) = p(x, c) / Σ_k p(x, k)     (3)
"""

from collections.abc import Mapping
from fractions import Fraction
from math import exp, log, prod

import naively

DAYS: Mapping[str, list[str]] = {
    "sky": ["sun", "sun", "cloud", "rain", "rain", "cloud", "sun", "sun", "rain", "cloud", "rain", "cloud"],
    "wind": ["calm", "gusty", "calm", "calm", "gusty", "gusty", "calm", "calm", "calm", "calm", "gusty", "gusty"],
    "play": ["yes", "no", "yes", "no", "no", "yes", "yes", "yes", "yes", "yes", "no", "no"],
}
COLUMNS = ("sky", "wind")
TODAY = {"sky": "sun", "wind": "gusty"}


def prior(days: Mapping[str, list[str]], answer: str) -> Fraction:
    """Return equation (1)."""
    return Fraction(days["play"].count(answer), len(days["play"]))


def likelihood(days: Mapping[str, list[str]], column: str, value: str, answer: str) -> tuple[int, int]:
    """Return numerator and denominator of equation (2), not reduced."""
    pairs = list(zip(days[column], days["play"], strict=True))
    return pairs.count((value, answer)) + 1, days["play"].count(answer) + len(set(days[column]))


def joint(days: Mapping[str, list[str]], row: Mapping[str, str], answer: str) -> Fraction:
    """Return p(x, c) of equation (3); a column that the row does not have is left out."""
    return prior(days, answer) * prod(Fraction(*likelihood(days, c, v, answer)) for c, v in row.items())


def posterior(days: Mapping[str, list[str]], row: Mapping[str, str], answer: str = "yes") -> Fraction:
    """Return p(c | x) of equation (3)."""
    return joint(days, row, answer) / (joint(days, row, "no") + joint(days, row, "yes"))


def show_table() -> None:
    """Print the data and the count of each value with each answer."""
    print("Shall we play outside? Twelve days of notes:\n")
    for name, values in DAYS.items():
        print(f"   {name:5}" + "".join(f"{value:>6}" for value in values))
    n_yes, n_no = DAYS["play"].count("yes"), DAYS["play"].count("no")
    print(f"\n1. Count the answers: yes {n_yes} of 12, no {n_no} of 12. That is the prior.")
    print("\n2. Count each value with each answer, and add one, so that nothing is impossible:")
    print(f"\n   {'':14}{'yes':>16}{'no':>22}")
    for column in COLUMNS:
        for value in sorted(set(DAYS[column])):
            cells = [likelihood(DAYS, column, value, answer) for answer in ("yes", "no")]
            k = len(set(DAYS[column]))
            yes, no = (f"({n - 1}+1)/({d - k}+{k}) = {n}/{d}" for n, d in cells)
            print(f"   {column + ' = ' + value:14}{yes:>20}{no:>22}")


def show_answer(model: naively.Model) -> None:
    """Print today's prediction, by hand and by naively."""
    print("\n3. Today: sun, but gusty. Multiply the prior and one number per column:\n")
    for answer in ("yes", "no"):
        factors = [likelihood(DAYS, column, value, answer) for column, value in TODAY.items()]
        product = " x ".join(f"{n}/{d}" for n, d in factors)
        p, by_naively = joint(DAYS, TODAY, answer), p_joint(model, TODAY, answer)
        n = DAYS["play"].count(answer)
        print(f"   {answer:4} {n}/12 x {product} = {p} = {float(p):.6f}   naively {by_naively:.6f}")
    p = posterior(DAYS, TODAY)
    print(f"\n4. Divide by the sum: p(yes) = {p} = {float(p):.6f}")
    answer = str(model.predict(row_of(TODAY))[0])
    print(f"   naively:                p(yes) = {p_yes(model, TODAY):.6f}, so the prediction is {answer!r}")
    odds = p / (1 - p)
    print(f"   The odds are {odds}; their logarithm {log(odds):+.6f}, naively {log_odds(model, TODAY):+.6f}")


def show_laws(model: naively.Model) -> None:
    """Print what follows from keeping counts: missing values, forgetting, learning again."""
    sunny = {"sky": "sun"}
    p = posterior(DAYS, sunny)
    print("\n5. The wind is not known yet? A missing value is left out of the product:")
    print(f"   by hand p(yes) = {p} = {float(p):.6f}   naively {p_yes(model, sunny):.6f}")
    first_days = {name: values[:-1] for name, values in DAYS.items()}
    last_day = {name: values[-1:] for name, values in DAYS.items()}
    p = posterior(first_days, TODAY)
    rest = model.forget(last_day, "play")
    print("\n6. The last note was a mistake? Forget it: the counts go down, nothing is trained again:")
    print(f"   by hand p(yes) = {p} = {float(p):.6f}   naively {p_yes(rest, TODAY):.6f}")
    print(f"   and learnt again          = {p_yes(rest.update(last_day, 'play'), TODAY):.6f}, as before.")


def row_of(values: Mapping[str, str]) -> dict[str, list[str | None]]:
    """Return a table of one row; None is a missing value."""
    return {column: [values.get(column)] for column in COLUMNS}


def p_joint(model: naively.Model, values: Mapping[str, str], answer: str) -> float:
    """Return p(x, c) as naively computes it."""
    return exp(float(model.log_joint(row_of(values))[0, model.classes.index(answer)]))


def p_yes(model: naively.Model, values: Mapping[str, str]) -> float:
    """Return p(yes) as naively computes it."""
    return float(model.posterior(row_of(values))[0, model.classes.index("yes")])


def log_odds(model: naively.Model, values: Mapping[str, str]) -> float:
    """Return log p(yes) / p(no) as naively computes it."""
    return float(model.log_odds(row_of(values), of="yes")[0])


def main() -> None:
    """Run all steps, in order."""
    model = naively.fit(dict(DAYS), "play", tune=False)
    show_table()
    show_answer(model)
    show_laws(model)
