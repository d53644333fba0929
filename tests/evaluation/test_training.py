"""Evaluate a model on its training rows under the prior that the model has."""

import numpy as np
import pytest

import naively as nb
from naively.evaluation.training import cross_validate
from naively.priors import PriorLike

GENERATOR = np.random.default_rng(3)
LABEL = np.repeat(["ham", "spam"], [300, 100])
TABLE = {
    "x": GENERATOR.normal(size=400) + (LABEL == "spam"),
    "b": GENERATOR.random(400) < 0.3 + 0.4 * (LABEL == "spam"),
}

FAMILIES = {"x": nb.Gaussian(), "b": nb.Bernoulli()}


@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.parametrize("prior", ["empirical", "uniform", {"ham": 0.05, "spam": 0.95}, 50.0])
def test_training_rows_are_evaluated_under_the_prior_of_the_model(prior: PriorLike, tune: bool) -> None:
    model = nb.fit(TABLE, LABEL, prior=prior, columns=FAMILIES, tune=tune)
    of_training, of_same_rows = model.evaluate_training(TABLE, LABEL), model.evaluate(TABLE, LABEL)
    assert of_training.log_loss.value == pytest.approx(of_same_rows.log_loss.value, abs=0.03)
    assert of_training.accuracy.value == pytest.approx(of_same_rows.accuracy.value, abs=0.03)


@pytest.mark.parametrize("prior", ["uniform", {"ham": 0.05, "spam": 0.95}])
def test_prior_shifts_the_log_odds_of_every_training_row(prior: PriorLike) -> None:
    """Refit without each row, by the definition of leave-one-out."""
    model = nb.fit(TABLE, LABEL, prior=prior, columns=FAMILIES, tune=False)
    losses = []
    for i in range(len(LABEL)):
        others = np.arange(len(LABEL)) != i
        refitted = nb.fit(
            {name: x[others] for name, x in TABLE.items()}, LABEL[others], prior=prior, columns=FAMILIES, tune=False
        )
        row = {name: x[[i]] for name, x in TABLE.items()}
        losses.append(-refitted.log_posterior(row)[0, list(refitted.classes).index(LABEL[i])])
    assert model.evaluate_training(TABLE, LABEL).log_loss.value == pytest.approx(np.mean(losses), abs=1e-9)


def test_folds_of_groups_do_not_warn_of_the_column_that_names_the_groups() -> None:
    """Filters of pytest make every warning an error."""
    group = np.arange(400) // 10
    label = np.where(np.random.default_rng(1).permutation(40) < 20, "ham", "spam")[group]
    table = {"x": TABLE["x"], "patient": [f"p{g}" for g in group]}
    columns = {"x": nb.Gaussian(), "patient": nb.Categorical(alpha=0.01)}
    with pytest.warns(nb.TuningWarning, match="'patient' alone predicts the class"):
        model = nb.fit(table, label, columns=columns)
    evaluation = cross_validate(model, table, label, k=3, groups="patient")
    assert model.evaluate_training(table, label, groups="patient").rows == evaluation.rows == 400
    nb.fit(table, label, columns={"x": nb.Gaussian()}, group="patient")
