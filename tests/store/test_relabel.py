"""A relabelled row counts as if it had been learnt with its new label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import InputError
from naively.cli.main import main

TEXTS = ["cheap pills", "lunch at noon", "cheap offer", "see you at noon", "pills and lunch"]
LABELS = ["spam", "ham", "spam", "ham", "ham"]


@given(st.lists(st.booleans(), min_size=5, max_size=5).filter(any), st.data())
def test_relabelled_rows_equal_rows_with_the_new_label(chosen: list[bool], data: Any) -> None:
    table: dict[str, list[Any]] = {"text": TEXTS, "x": [1.0, 2.5, -3.0, 4.0, 0.5], "k": ["a", "b", "a", None, "b"]}
    columns = {"text": naively.Text(), "x": naively.Gaussian(), "k": naively.Categorical()}
    new = [data.draw(st.sampled_from(["spam", "ham", "other"])) for _ in range(sum(chosen))]
    rows = {name: [v for v, c in zip(values, chosen, strict=True) if c] for name, values in table.items()}
    old = [label for label, c in zip(LABELS, chosen, strict=True) if c]
    corrected = iter(new)
    labels = [next(corrected) if c else label for label, c in zip(LABELS, chosen, strict=True)]
    model = naively.fit(table, LABELS, columns=columns, tune=False).relabel(rows, old, to=new, new_classes=True)
    expected = naively.fit(table, labels, columns=columns, tune=False)
    assert model.classes == expected.classes
    assert model.class_counts.tolist() == expected.class_counts.tolist()
    assert np.allclose(model.posterior(table), expected.posterior(table), rtol=1e-9)


@pytest.mark.parametrize("remember", [False, True])
def test_a_file_relabels_in_one_transaction(tmp_path: Path, remember: bool) -> None:
    ledger = naively.Ledger.fit(tmp_path / "m", TEXTS, LABELS, remember_rows=remember, tune=False, source="a")
    first = ledger.log()[0]
    entries = ledger.relabel("pills and lunch", "ham", to="spam", entry=first.id, comment="wrong")
    assert [(e.act, e.rows, e.source, e.time, e.comment) for e in entries] == [
        ("forget", 1, "a", first.time, "wrong"),
        ("update", 1, "a", first.time, "wrong"),
    ]
    expected = naively.fit(TEXTS, [*LABELS[:4], "spam"], tune=False)
    assert np.array_equal(ledger.model().posterior(TEXTS), expected.posterior(TEXTS))
    assert np.array_equal(ledger.model(sources="a").posterior(TEXTS), expected.posterior(TEXTS))
    with pytest.raises(InputError, match=r"never counted|not among"):
        ledger.relabel(["pills and lunch"], ["ham"], to="spam")
    with pytest.raises(InputError, match="rows but 3 labels"):
        ledger.relabel(TEXTS[:2], LABELS[:2], to=["spam"] * 3)
    with pytest.raises(InputError, match="type"):
        ledger.relabel(TEXTS[:1], LABELS[:1], to=1)
    assert len(ledger.log()) == 3
    for entry in reversed(entries):
        ledger.undo(entry.id)
    assert np.array_equal(ledger.model().posterior(TEXTS), naively.fit(TEXTS, LABELS, tune=False).posterior(TEXTS))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    naively.fit(TEXTS, LABELS, tune=False).save("m")
    one = CliRunner().invoke(
        main, ["relabel", "m", "--text", "pills and lunch", "--label", "ham", "--to", "spam", "--json"]
    )
    assert one.exit_code == 0, one.output
    assert [entry["act"] for entry in json.loads(one.stdout)] == ["forget", "update"]
    Path("d.csv").write_text("text,class\npills and lunch,spam\ncheap offer,spam\n")
    many = CliRunner().invoke(main, ["relabel", "m", "d.csv", "--to", "ham"])
    assert many.exit_code == 0, many.output
    expected = naively.fit(TEXTS, ["spam", "ham", "ham", "ham", "ham"], tune=False)
    assert np.array_equal(naively.load("m").posterior(TEXTS), expected.posterior(TEXTS))
    wrong = CliRunner().invoke(main, ["relabel", "m", "--text", "x", "--to", "ham"])
    assert wrong.exit_code == 2
