"""Rows that belong together: the groups of a fold are left out together, and the report is that of new groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import naively as nb
from naively.tuning.features import features_of
from naively.tuning.loo_scores import LooScorer
from naively.tuning.sample import join_folds
from naively.tuning.tune import sample_of


def visits(n_patients: int = 120, seed: int = 0) -> pd.DataFrame:
    """Return visits of patients: a patient has one class and one name of a doctor, so that rows of a group leak."""
    rng = np.random.default_rng(seed)
    ill, first = rng.integers(0, 2, n_patients), rng.integers(0, 10**6, n_patients)
    rows = np.repeat(np.arange(n_patients), 6)
    return pd.DataFrame(
        {
            "patient": [f"p{seed}-{i}" for i in rows],
            "place": [f"street {first[i]}" for i in rows],
            "pulse": rng.normal(size=len(rows)) + ill[rows],
            "ill": np.where(ill[rows] == 1, "yes", "no"),
        }
    )


def test_report_is_honest() -> None:
    data, new = visits(), visits(seed=1)
    columns = {"place": nb.Categorical()}
    by_rows = nb.fit(data.drop(columns="patient"), "ill", columns=columns)
    by_groups = nb.fit(data, "ill", columns=columns, group="patient")
    assert by_rows.tuning is not None
    assert by_groups.tuning is not None
    truth = by_groups.evaluate(new, "ill")
    report = by_groups.tuning.report
    assert by_rows.tuning.report["accuracy"] > 0.95
    assert report["accuracy"] == pytest.approx(truth.accuracy.value, abs=0.08)
    assert report["by_groups"] == 1.0
    assert by_groups.schema.names == ("place", "pulse")


@pytest.mark.filterwarnings("ignore:'place' alone predicts:naively.TuningWarning")  # rows of a group share it
def test_counts_are_those_of_all_rows() -> None:
    data = visits()
    grouped = nb.fit(data, "ill", group="patient", tune=False)
    plain = nb.fit(data.drop(columns="patient"), "ill", tune=False)
    np.testing.assert_allclose(grouped.log_posterior(data), plain.log_posterior(data))
    assert grouped.class_counts.tolist() == plain.class_counts.tolist()
    batches = nb.fit(iter([data.iloc[:100], data.iloc[100:]]), "ill", group="patient")
    assert batches.tuning is not None
    whole = nb.fit(data, "ill", group="patient")
    assert whole.tuning is not None
    assert batches.tuning.report == pytest.approx(whole.tuning.report)


def test_weights_are_those_for_new_groups() -> None:
    data, new = visits(), visits(400, seed=1)
    by_groups = nb.fit(data, "ill", columns={"place": nb.Categorical()}, group="patient")  # no warning of `place`
    assert by_groups.tuning is not None
    worth = {column.column: column for column in by_groups.importance()}
    assert worth["place"].alone == pytest.approx(0.0, abs=1e-9)
    assert worth["pulse"].nats > 0.01
    by_rows = nb.fit(data.drop(columns="patient"), "ill", columns={"place": nb.Categorical()})
    assert by_groups.evaluate(new, "ill").log_loss.value < by_rows.evaluate(new, "ill").log_loss.value + 1e-9
    assert by_groups.evaluate(new, "ill").log_loss.value == pytest.approx(by_groups.tuning.report["log_loss"], abs=0.08)


@pytest.mark.parametrize("family", [None, "text"])
def test_a_row_is_scored_by_the_model_without_its_fold(family: str | None) -> None:
    data = visits(40)
    if family == "text":
        data = data.assign(place=data.place + " " + data.pulse.gt(0).map({True: "fast", False: "slow"}))
    columns = {"place": nb.Text() if family else nb.Categorical(), "pulse": nb.Gaussian()}
    parts = [(rows, f) for f, rows in enumerate(np.array_split(np.arange(len(data)), 5))]
    model = nb.fit(data.drop(columns="patient"), "ill", columns=columns, tune=False)
    samples, rests = {}, {}
    for rows, f in parts:
        part = data.iloc[rows].drop(columns=["patient"])
        samples[f] = sample_of(model, part.drop(columns="ill"), part["ill"].tolist(), None, 1000)
        rests[f] = model.forget(part.drop(columns="ill"), part["ill"].tolist())
    sample = join_folds(samples)
    scorer = LooScorer(model, sample, rests=rests)
    features = features_of(scorer)
    evidence = sum(piece.sum(axis=0) for piece in features.pieces())
    expected = np.concatenate([rests[f].log_joint(samples[f].table) - rests[f].log_prior for f in sorted(samples)])
    difference = evidence - expected
    np.testing.assert_allclose(difference - difference[:, :1], 0.0, atol=1e-9)


def test_refusals() -> None:
    data = visits(3)
    with pytest.raises(nb.InputError, match="no column 'doctor' of groups; the data has patient, place"):
        nb.fit(data, "ill", group="doctor")
    with pytest.raises(nb.InputError, match="too few groups"):
        nb.fit(data.assign(patient="one"), "ill", group="patient")
    with pytest.raises(nb.InputError, match="'group' of groups"):
        nb.fit(np.zeros((4, 2)), [0, 1, 0, 1], group="group")
