"""What each column is worth: equal to fitting again, honest about noise, copies and answers."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import spearmanr

import naively
from naively._kernels.types import Floats
from naively.model.calibrate import ColumnImportance
from naively.tuning.calibrate import Calibration, calibrate
from naively.tuning.importance import losses_after_step, losses_refitted
from naively.tuning.solver import Problem, one_hot


def world(n: int = 600, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Return rows with a strong column, its copy, a weak column and noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    strong = np.where(random.random(n) < 0.85, y, 1 - y)
    weak = np.where(random.random(n) < 0.65, y, 1 - y)
    noise = random.integers(0, 3, n)
    names = np.array(["a", "b", "c"])
    return {"noise": names[noise], "strong": names[strong], "copy": names[strong], "weak": names[weak]}, y


def random_problem(n_classes: int, n_features: int, seed: int = 1, n: int = 300) -> Problem:
    random = np.random.default_rng(seed)
    label = random.integers(0, n_classes, n)
    mean = np.linspace(0.1, 0.6, n_features)[:, None] * random.normal(size=(n_features, n_classes))
    x = random.normal(size=(n_features, n)) + mean[:, label]
    evidence = -0.5 * (x[:, :, None] - mean[:, None, :]) ** 2
    base = np.tile(np.log(np.full(n_classes, 1 / n_classes)), (n, 1))
    return Problem(base, evidence, one_hot(label, n_classes), random.integers(1, 4, n).astype(float))


def oracle(problem: Problem, centre: Floats, pull: Floats, keep: list[int]) -> Floats:
    """Fit weights and offsets without a column by SciPy, and return the loss of each row."""
    n_classes, label = problem.base.shape[1], problem.target.argmax(axis=1)

    def scores(x: Floats) -> Floats:
        return np.asarray(problem.base + x[:n_classes] + np.einsum("j,jic->ic", x[n_classes:], problem.evidence[keep]))

    def losses(x: Floats) -> Floats:
        s = scores(x)
        return np.asarray(problem.weight * (logsumexp(s, axis=1) - s[np.arange(len(s)), label]))

    def objective(x: Floats) -> float:
        penalty = 10.0 * (x[:n_classes] ** 2).sum() + 0.5 * (pull[keep] * (x[n_classes:] - centre[keep]) ** 2).sum()
        return float(losses(x).sum() + penalty)

    bounds = [(None, None)] * n_classes + [(0.0, 50.0)] * len(keep)
    start = np.concatenate([np.zeros(n_classes), centre[keep]])
    return losses(minimize(objective, start, bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9}).x)


def solved(problem: Problem, strength: float) -> Calibration:
    n = len(problem.evidence)
    centre, pull = np.full(n, 0.5), np.full(n, strength)
    solution = problem.solve(centre, pull)
    return Calibration(solution, 0.5, problem.base, (centre, pull, np.zeros(n, np.intp)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_others_are_fitted_again(n_classes: int) -> None:
    problem = random_problem(n_classes, 4)
    calibration = solved(problem, 2.0)
    centre, pull, _ = calibration.penalty
    dropped = [np.array([j]) for j in range(4)] + [np.array([1, 3])]
    for drop, losses in zip(dropped, losses_refitted(problem, calibration, dropped), strict=True):
        expected = oracle(problem, centre, pull, [j for j in range(4) if j not in drop])
        assert losses.sum() == pytest.approx(expected.sum(), rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_tied", [False, True])
def test_one_step_is_close_and_never_understates(n_classes: int, is_tied: bool) -> None:
    problem = random_problem(n_classes, 12)
    calibration = solved(problem, 2.0)
    if is_tied:
        group = np.zeros(12, np.intp)
        summed = problem.summed(group, 1)
        ones = np.ones(12)
        common = summed.solve(ones[:1], ones[:1])
        solution = replace(common, weight=common.weight[group], curvature=None)
        calibration = Calibration(solution, 1.0, problem.base, (ones, ones, group), has_common_weight=True)
    assert calibration.solution is not None
    total = problem.losses(calibration.solution).sum()
    dropped = [np.array([j]) for j in range(12)]
    refitted = np.array([x.sum() for x in losses_refitted(problem, calibration, dropped)]) - total
    stepped = np.array([x.sum() for x in losses_after_step(problem, calibration, dropped)]) - total
    assert (stepped >= refitted - 0.05 - 0.01 * abs(refitted)).all()
    assert spearmanr(stepped, refitted).statistic > 0.95
    large = refitted > 1.0
    assert np.median(stepped[large] / refitted[large]) < 1.1
    assert (stepped[large] < 1.6 * refitted[large]).all()


def test_worth_copies_noise() -> None:
    table, y = world()
    model = naively.fit(table, y)
    worth = {column.column: column for column in model.importance()}
    assert worth["copy"].nats == pytest.approx(worth["strong"].nats, abs=1e-4)
    assert worth["strong"].remark == worth["copy"].remark == "redundant"
    assert worth["noise"].remark == "no more than chance"
    assert worth["weak"].low > 0
    assert worth["weak"].remark == ""
    without_copy = naively.fit({name: table[name] for name in ("noise", "strong", "weak")}, y).importance()
    assert [column.column for column in without_copy][:2] == ["strong", "weak"]
    assert without_copy[0].low > 0.1


def test_rows_give_what_tuning_has_stored() -> None:
    table, y = world()
    model = naively.fit(table, y)
    assert model.importance(table, y) == model.importance()
    backwards = {name: column[::-1] for name, column in table.items()}
    assert naively.fit(backwards, y[::-1]).importance() == model.importance()


def test_plain_naive_bayes_by_hand() -> None:
    """The worth of a column by leave-one-out scores of the model with and without it."""
    table, y = world(200)
    columns = {name: table[name] for name in ("strong", "noise")}
    fewer = {"noise": table["noise"]}
    losses = []
    for part in (columns, fewer):
        left_out = naively.fit(part, y, tune=False).leave_one_out(part, y)
        n = np.bincount(y).astype(float)
        counts = np.tile(n, (len(y), 1))
        counts[np.arange(len(y)), y] -= 0.5  # half of a row leaves the class shares, as in tuning
        scores = np.log(counts) + left_out.evidence.sum(axis=1)
        losses.append(logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
    expected = losses[1] - losses[0]
    strong = naively.fit(columns, y, tune=False).importance(columns, y)[0]
    assert strong.column == "strong"
    half = 1.959964 * expected.std() / np.sqrt(len(y))
    np.testing.assert_allclose(
        strong[1:4], [expected.mean(), expected.mean() - half, expected.mean() + half], rtol=1e-6
    )


def test_many_columns_need_the_rows() -> None:
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 400)
    x = random.normal(size=(400, 300))
    x[:, 7] += 1.5 * y
    model = naively.fit(x, y)
    with pytest.raises(naively.InputError, match=r"as importance\(X, y\)"):
        model.importance()
    worth = model.importance(x, y)
    assert len(worth) == 300
    assert worth[0].column == model.schema.names[7]


def test_untuned_and_foreign_rows() -> None:
    table, y = world(100)
    model = naively.fit(table, y, tune=False)
    with pytest.raises(naively.InputError, match="not tuned"):
        model.importance()
    assert len(model.importance(table, y)) == 4
    with pytest.raises(naively.InputError, match="rows that the model has counted"):
        model.importance({name: np.array(["zebra"] * 100) for name in table}, y)


def test_a_column_that_holds_the_answer_gets_a_warning() -> None:
    table, y = world(300)
    answer = np.where(y == 1, "paid", "open")
    with pytest.warns(naively.TuningWarning, match="'answer' alone predicts the class almost perfectly"):
        naively.fit({**table, "answer": answer}, y)
    answer[:6] = "open"  # wrong in one of a hundred rows: strong, but no answer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        naively.fit({**table, "answer": answer}, y)
        naively.fit({"answer": np.where(y == 1, "paid", "open")}, y)  # nothing else to predict from
        naively.fit([("cheap pills" if c else "lunch at noon") for c in y.tolist()], y)


def test_json_with_and_without_importance() -> None:
    table, y = world(200)
    tuning = naively.fit(table, y).tuning
    assert tuning is not None
    assert naively.Tuning.from_json(tuning.to_json()) == tuning
    old = naively.Tuning.from_json(
        '{"offsets": [], "weights": {}, "exponents": {}, "families": {}, "common": 1.0, "rows": 3, "report": {}}'
    )
    assert old.importance == ()
    for wrong in ('["a", 1]', "[1, 1, 1, 1, 1, 1, 1, 1]", '["a", 1, 1, 1, 1, 1, "x", 1]', '["a", 1, 1, 1, 1, 1, 1, 0]'):
        broken = old.to_json()[:-1] + f', "importance": [{wrong}]}}'
        with pytest.raises(naively.InputError, match="not a tuning"):
            naively.Tuning.from_json(broken)


def test_remarks() -> None:
    def remark(*numbers: float) -> str:
        return ColumnImportance("x", *numbers).remark  # type: ignore[arg-type]

    assert remark(0.001, -0.001, 0.003, 0.2, 0.1, 0.3) == "redundant"
    assert remark(0.001, 0.0005, 0.0015, 0.2, 0.1, 0.3) == "redundant"
    assert remark(0.01, 0.005, 0.015, 0.2, 0.1, 0.3) == ""
    assert remark(0.01, -0.03, 0.05, 0.2, 0.1, 0.3) == ""
    assert remark(0.0, -0.001, 0.001, 0.0, -0.1, 0.1) == "no more than chance"
    assert remark(0.0, 0.0, 0.0, 1e-17, 1e-18, 2e-17) == "no more than chance"  # rounding


def test_calibration_says_what_it_was_found_under() -> None:
    problem = random_problem(3, 4)
    calibration = calibrate(problem, 4, np.arange(300) % 5)
    centre, pull, group = calibration.penalty
    assert calibration.solution is not None
    if calibration.has_common_weight:
        assert len(set(calibration.solution.weight.tolist())) == 1
    else:
        again = problem.solve(centre, pull)
        np.testing.assert_allclose(again.weight, calibration.solution.weight, atol=1e-3)
    assert len(centre) == len(pull) == len(group) == 4
