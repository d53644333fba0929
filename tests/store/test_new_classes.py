"""A label that is new to a file of two or more classes may be a typing error: it is refused unless new classes are
expected."""

from __future__ import annotations

from pathlib import Path

import pytest

import naively
from naively.errors import InputError

TEXTS, LABELS = ["cheap pills", "lunch today", "cheap watches", "lunch at noon"], ["spam", "ham", "spam", "ham"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mail.naively"
    naively.fit(TEXTS, LABELS, tune=False).save(path)
    return path


def test_update_refuses_a_typing_error_and_names_the_similar_class(path: Path) -> None:
    ledger = naively.open(path)
    with pytest.raises(InputError, match=r"has no class 'spma'; it has 'ham', 'spam'. Did you mean 'spam'\?"):
        ledger.update(["pills"], ["spma"])
    assert len(ledger.log()) == 1


def test_update_learns_a_new_class_if_it_is_expected(path: Path) -> None:
    ledger = naively.open(path)
    ledger.update(["minutes of the meeting"], ["work"], new_classes=True)
    assert ledger.model().classes == ("ham", "spam", "work")
    ledger.update(["meeting"], ["work"])  # known by now, though no snapshot has it
    assert ledger.model().class_counts.tolist() == [2, 2, 2]


def test_relabel_refuses_a_new_class(path: Path) -> None:
    ledger = naively.open(path)
    with pytest.raises(InputError, match=r"has no class 'hm'; .* Did you mean 'ham'"):
        ledger.relabel(["cheap pills"], ["spam"], to="hm")
    assert len(ledger.log()) == 1
    ledger.relabel(["cheap pills"], ["spam"], to="offer", new_classes=True)
    assert ledger.model().classes == ("ham", "offer", "spam")


def test_a_model_of_one_class_takes_any_other() -> None:
    model = naively.fit(TEXTS[:1], LABELS[:1])
    model = model.update(TEXTS[1:], LABELS[1:])
    assert model.classes == ("ham", "spam")


def test_a_model_in_memory_refuses_too() -> None:
    model = naively.fit(TEXTS, LABELS, tune=False)
    with pytest.raises(InputError, match="new_classes=True"):
        model.update("cheap", "Spam")
    with pytest.raises(InputError, match="new_classes=True"):
        model.relabel("cheap pills", "spam", to="Spam")
    assert model.update("cheap", "Spam", new_classes=True).classes == ("Spam", "ham", "spam")


def test_classes_that_only_a_pending_entry_or_a_snapshot_has_are_known(path: Path) -> None:
    ledger = naively.open(path)
    for k in range(20):
        ledger.update([f"number {k}"], [f"class {k}"], new_classes=True)
    ledger.close()
    reopened = naively.open(path)
    reopened.update(["number 3"], ["class 3"])
    with pytest.raises(InputError, match="has no class 'class 20'"):
        reopened.update(["number 20"], ["class 20"])
