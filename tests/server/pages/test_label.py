"""The next row to label: smallest margin first, no near-duplicates of rows just labelled; skip and undo."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.server.support import LEARN

import naively
from naively.server.labelling import MAX_DISTANCE, Pool, comment_of, labelled_rows

Client = Callable[..., TestClient]


def write(path: Path, columns: dict[str, list[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def table_model() -> naively.Model:
    generator = np.random.default_rng(2)
    code = generator.integers(0, 2, 200)
    columns = {"x": generator.normal(code, 1), "kind": np.array(["u", "v", "w"])[generator.integers(0, 3, 200)]}
    return naively.fit(columns, np.array(["a", "b"])[code], tune=False)


def test_smallest_margin_comes_first(table_model: naively.Model, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(0.5, 2, 1500).round(3).tolist()
    kind = np.array(["u", "v", "w", ""])[generator.integers(0, 4, 1500)].tolist()
    pool = Pool(table_model, write(tmp_path / "pool.csv", {"x": x, "kind": kind}), 1)
    posterior = table_model.posterior({"x": x, "kind": [k or None for k in kind]})
    margin = np.abs(posterior[:, 0] - posterior[:, 1])
    expected = np.lexsort((np.arange(1500), margin))
    done: set[int] = set()
    for row in expected[:5].tolist():
        choice = pool.next_row(table_model, done)
        assert choice is not None
        assert choice.row == row
        assert choice.margin == pytest.approx(margin[row], abs=1e-12)
        np.testing.assert_array_equal(choice.posterior, posterior[row])
        done.add(row)
    skipped = [int(expected[5])]
    after = pool.next_row(table_model, done, skipped=skipped)
    assert after is not None
    assert after.row == expected[6]
    last = pool.next_row(table_model, set(range(1500)) - set(skipped), skipped=skipped)
    assert last is not None
    assert last.row == skipped[0]
    assert pool.next_row(table_model, set(range(1500))) is None


def test_near_duplicates_of_a_labelled_row_wait(table_model: naively.Model, tmp_path: Path) -> None:
    x = [0.5, 0.5001, 0.5, *np.linspace(-4, 5, 100).tolist()]
    kind: list[object] = ["u", "u", "w", *(["v"] * 100)]
    pool = Pool(table_model, write(tmp_path / "pool.csv", {"x": x, "kind": kind}), 1)
    free = [pool.next_row(table_model, {0}), pool.next_row(table_model, {0}, recent=[0])]
    assert free[0] is not None
    assert free[1] is not None
    assert free[1].row != 1
    only = pool.next_row(table_model, set(range(103)) - {1}, recent=[0])  # nothing else is left
    assert only is not None
    assert only.row == 1


def test_texts_with_the_same_words_are_near_duplicates(tmp_path: Path) -> None:
    model = naively.fit(["cheap pills", "lunch at noon"] * 5, ["spam", "ham"] * 5, tune=False)
    texts: list[object] = ["one two three four five six", "six five four three two one", "other words here", "cheap"]
    pool = Pool(model, write(tmp_path / "pool.csv", {"text": texts}), 1)
    first = pool.next_row(model, set())
    assert first is not None
    assert first.row == 0
    second = pool.next_row(model, {0}, recent=[0])
    assert second is not None
    assert second.row == 2
    assert MAX_DISTANCE < 1


def test_a_pool_is_scored_again_for_a_new_version(table_model: naively.Model, tmp_path: Path) -> None:
    x = np.linspace(-3, 4, 2000).tolist()
    pool = Pool(table_model, write(tmp_path / "pool.csv", {"x": x, "kind": ["u"] * 2000}), 1)
    other = table_model.update({"x": np.linspace(-3, -2, 200), "kind": ["u"] * 200}, ["b"] * 200)
    pool.refresh(other, 2)
    assert pool.version == 2
    posterior = other.posterior({"x": x, "kind": ["u"] * 2000})
    choice = pool.next_row(other, set())
    assert choice is not None
    assert choice.row == int(np.argmin(np.abs(posterior[:, 0] - posterior[:, 1])))


def test_rows_are_remembered_by_the_log(client: Client, models: Path, tmp_path: Path) -> None:
    rows = Path(__file__).parents[2] / "data_sets" / "penguins.csv"
    pool = tmp_path / "pool.csv"
    pool.write_text("\n".join(rows.read_text().splitlines()[:40]) + "\n")
    headers = {"Authorization": f"Bearer {LEARN.secret}"}
    site = client(learn=True, pool=pool)
    site.headers.update(headers)
    labelled = []
    for i in range(5):
        data = site.get("/models/penguins/label.json").json()
        probabilities = [line["probability"] for line in data["posterior"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert data["n_labelled"] == i
        assert data["row"] not in labelled
        labelled.append(data["row"])
        form = {"row": data["row"], "label": data["posterior"][0]["class"], "request_id": f"label-{i}"}
        assert site.post("/models/penguins/label", data=form, follow_redirects=False).status_code == 303
        again = site.post("/models/penguins/label", data={**form, "request_id": "other"}, follow_redirects=False)
        assert again.status_code == 409
    entries = naively.open(models / "penguins.naively").log()
    assert [e.comment for e in entries[1:]] == [comment_of(pool, row) for row in labelled]
    assert list(labelled_rows(entries, pool)) == labelled
    last = site.get("/models/penguins/label.json").json()["last"]
    assert last["row"] == labelled[-1]
    undone = site.post("/models/penguins/undo", data={"entry": last["entry"], "next": "label"}, follow_redirects=False)
    assert f"row={labelled[-1]}" in undone.headers["location"]
    data = site.get("/models/penguins/label.json").json()
    assert data["n_labelled"] == 4
    restarted = client(learn=True, pool=pool)
    restarted.headers.update(headers)
    assert restarted.get("/models/penguins/label.json").json()["n_labelled"] == 4
    skipped = restarted.get(f"/models/penguins/label.json?skip={data['row']}").json()
    assert skipped["row"] != data["row"]


def test_without_a_pool_there_is_nothing_to_label(client: Client) -> None:
    site = client()
    assert site.get("/models/penguins/label.json").status_code == 404
    assert ">Label<" not in site.get("/models/penguins/ask", headers={"Accept": "text/html"}).text
