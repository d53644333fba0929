"""What a model computes once for its explanations depends on neither the rows before nor the classes compared."""

import numpy as np
import pytest

import naively
from naively.explanation.explanation import Explanation
from naively.families import evidence


def mixed_table(n: int, seed: int) -> tuple[dict[str, list[object]], list[str]]:
    """Return rows with columns of several families, and their classes, of which there are three."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    is_missing = rng.random(n) < 0.1
    table: dict[str, list[object]] = {
        "size": [None if gone else float(x) for x, gone in zip(rng.normal(label, 1.0), is_missing, strict=True)],
        "count": rng.poisson(1.0 + label).tolist(),
        "colour": rng.choice(["red", "green", "blue", "grey"], n).tolist(),
        "member": (rng.random(n) < 0.3 + 0.2 * label).tolist(),
        "day": [np.datetime64("2024-01-01") + int(x) for x in rng.integers(0, 90, n) + 30 * label],
        "note": [" ".join(rng.choice(["cheap", "late", "good", "poor", "new"], 1 + c)) for c in label.tolist()],
    }
    return table, [f"class {c}" for c in label]


def leaves(explanation: Explanation) -> tuple[list[object], list[float]]:
    """Return what an explanation says: names and texts, and numbers."""
    numbers, others, left = list[float](), list[object](), [explanation.to_dict()]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            others += item
            left += item.values()
        elif isinstance(item, list):
            left += item
        elif isinstance(item, float):
            numbers.append(item)
        else:
            others.append(item)
    return others, numbers


FAMILIES = {
    "default": None,
    "given": {"size": naively.Gaussian(), "count": naively.Poisson(), "colour": naively.Categorical(alpha=0.1)},
}


@pytest.mark.parametrize("families", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("tune", [True, False])
def test_rows_one_by_one_and_together(families: dict[str, naively.Family] | None, tune: bool) -> None:
    table, labels = mixed_table(90, 1)
    model = naively.fit(table, labels, columns=families, tune=tune)
    new, _ = mixed_table(25, 2)
    together = list(map(leaves, model.explain(new)))
    pairs = [(None, None), ("class 0", "class 2"), ("class 2", "class 1")]
    for i in reversed(range(25)):
        row = {name: [column[i]] for name, column in new.items()}
        for of, against in pairs:  # other classes than those of earlier rows
            other = naively.fit(table, labels, columns=families, tune=tune) if i == 24 else model
            assert model.explain(row, of, against)[0].to_dict() == other.explain(row, of, against)[0].to_dict()
        others, numbers = leaves(model.explain(row)[0])
        assert others == together[i][0]
        assert numbers == pytest.approx(together[i][1], rel=1e-9, abs=1e-12)


def test_changed_models_compute_again() -> None:
    table, labels = mixed_table(90, 3)
    model = naively.fit(table, labels)
    row = {name: [column[0]] for name, column in mixed_table(1, 4)[0].items()}
    before = leaves(model.explain(row)[0])
    more = mixed_table(30, 5)
    updated = model.update(*more)
    reference = model.update(*more)
    model.explain(more[0])
    assert leaves(updated.explain(row)[0]) == leaves(reference.explain(row)[0]) != before
    others, numbers = leaves(updated.forget(*more).explain(row)[0])
    assert others == before[0]
    assert numbers == pytest.approx(before[1], rel=1e-9, abs=1e-12)


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MAX_SPREADS", 3)
    table, labels = mixed_table(90, 6)
    new, _ = mixed_table(10, 7)
    model = naively.fit({"colour": table["colour"], "count": table["count"]}, labels, tune=False)
    rows = [{name: [new[name][i]] for name in ("colour", "count")} for i in range(10)]
    first = [model.explain(row)[0].to_dict() for row in rows]
    assert [model.explain(row)[0].to_dict() for row in rows] == first
