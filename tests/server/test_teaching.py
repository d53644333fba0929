"""Learn, forget and undo: one entry each, once per request, with what the model answered before."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.server.support import LEARN, READ, bearer, column, post, running, wait_until

import naively

DREAM = [column("island", "BYTES", ["Dream"]), column("bill_length_mm", "FP64", [44.0])]
ADELIE = [*DREAM, column("species", "BYTES", ["Adelie"])]
TOKEN = bearer(LEARN)


def test_learn_is_one_entry_with_source_comment_and_the_answer_before(client: Any, models: Path) -> None:
    http = client(learn=True)
    before = post(http, "penguins/infer", DREAM).json()["outputs"]
    response = post(http, "penguins/learn", ADELIE, headers=TOKEN, parameters={"comment": "by hand"})
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["model_version"] == "2"
    assert answer["before"] == {"model_version": "1", "outputs": before}
    entry = naively.open(models / "penguins.naively").log()[-1]
    assert (entry.id, entry.number, entry.source, entry.comment, entry.rows) == (
        answer["entry"],
        2,
        "anna",
        "by hand",
        1,
    )
    after = post(http, "penguins/infer", DREAM)
    assert after.json()["model_version"] == "2"
    expected = naively.load(models / "penguins.naively")
    row = {name: [None] for name in expected.schema.names} | {"island": ["Dream"], "bill_length_mm": [44.0]}
    assert after.json()["outputs"][1]["data"] == expected.posterior(row).ravel().tolist()


def test_the_same_request_counts_once_even_after_a_restart_and_a_compaction(client: Any, models: Path) -> None:
    path = models / "penguins.naively"
    http = client(learn=True)
    first = post(http, "penguins/learn", ADELIE, headers=TOKEN, id="one").json()
    again = post(http, "penguins/learn", ADELIE, headers=TOKEN, id="one").json()
    assert again.pop("is_repeated") is True
    assert first.pop("is_repeated") is False
    assert again == first
    restarted = client(learn=True)
    assert post(restarted, "penguins/learn", ADELIE, headers=TOKEN, id="one").json()["entry"] == first["entry"]
    assert post(restarted, "penguins/learn", ADELIE, headers=TOKEN, id="two").json()["model_version"] == "3"
    assert len(naively.open(path).log()) == 3
    naively.open(path).compact()
    wait_until(lambda: post(restarted, "penguins/infer", DREAM).json()["model_version"] == "1")
    assert post(restarted, "penguins/learn", ADELIE, headers=TOKEN, id="one").json()["is_repeated"] is True
    assert len(naively.open(path).log()) == 1
    undo = {"entry": first["entry"], "id": "one"}
    assert http.post("/v2/models/penguins/undo", json=undo, headers=TOKEN).status_code in (200, 409)


def test_a_request_id_of_another_kind_or_another_user_is_another_request(client: Any) -> None:
    from naively.server import Token

    other = Token("carl", "another-token-that-learns", True)
    http = client(learn=True, tokens=[LEARN, other])
    entry = post(http, "penguins/learn", ADELIE, headers=TOKEN, id="one").json()["entry"]
    assert post(http, "penguins/learn", ADELIE, headers=bearer(other), id="one").json()["model_version"] == "3"
    clash = http.post("/v2/models/penguins/undo", json={"entry": entry, "id": "one"}, headers=TOKEN)
    assert clash.status_code == 409
    assert "another change" in clash.json()["error"]


def test_a_new_class_needs_a_parameter(client: Any, models: Path) -> None:
    http = client(learn=True)
    typo = [*DREAM, column("species", "BYTES", ["Adélie"])]
    refused = post(http, "penguins/learn", typo, headers=TOKEN)
    assert refused.status_code == 400
    assert "no class 'Adélie'" in refused.json()["error"]
    assert "Did you mean 'Adelie'?" in refused.json()["error"]
    assert "over HTTP: the parameter new_classes" in refused.json()["error"]
    assert len(naively.open(models / "penguins.naively").log()) == 1
    wrong = post(http, "penguins/learn", typo, headers=TOKEN, parameters={"new_classes": "yes"})
    assert (wrong.status_code, wrong.json()["error"]) == (422, "parameter 'new_classes': give true or false.")
    allowed = post(http, "penguins/learn", typo, headers=TOKEN, parameters={"new_classes": True})
    assert allowed.status_code == 200, allowed.text
    assert "Adélie" in naively.load(models / "penguins.naively").classes


def test_undo_and_a_stale_undo(client: Any, models: Path) -> None:
    http = client(learn=True)
    original = post(http, "penguins/infer", DREAM).json()["outputs"]
    entry = post(http, "penguins/learn", ADELIE, headers=TOKEN).json()["entry"]
    assert post(http, "penguins/infer", DREAM).json()["outputs"] != original
    undo = http.post("/v2/models/penguins/undo", json={"entry": entry}, headers=TOKEN)
    assert undo.status_code == 200
    assert post(http, "penguins/infer", DREAM).json()["outputs"] == original
    stale = http.post("/v2/models/penguins/undo", json={"entry": entry}, headers=TOKEN)
    assert stale.status_code == 409
    assert "undone already" in stale.json()["error"]
    assert str(models) not in stale.json()["error"]
    redo = http.post("/v2/models/penguins/undo", json={"entry": undo.json()["entry"]}, headers=TOKEN)
    assert redo.json()["model_version"] == "4"
    assert [e.source for e in naively.open(models / "penguins.naively").log()] == ["", "anna", "anna", "anna"]
    assert http.post("/v2/models/penguins/undo", json={"entry": "abcdef12"}, headers=TOKEN).status_code == 400


def test_forget(client: Any, models: Path) -> None:
    http = client(learn=True)
    before = naively.load(models / "penguins.naively")
    entry = post(http, "penguins/learn", ADELIE, headers=TOKEN).json()["entry"]
    response = post(http, "penguins/forget", ADELIE, headers=TOKEN, parameters={"entry": entry, "comment": "wrong"})
    assert response.status_code == 200, response.text
    assert naively.load(models / "penguins.naively").class_counts.tolist() == before.class_counts.tolist()
    assert naively.open(models / "penguins.naively").log()[-1].comment == "by anna: wrong"
    never = [column("island", "BYTES", ["Mars"]), column("species", "BYTES", ["Adelie"])]
    assert post(http, "penguins/forget", never, headers=TOKEN).status_code == 400


def test_earlier_versions_answer_as_they_did(client: Any) -> None:
    http = client(learn=True)
    answers = [post(http, "penguins/infer", DREAM).json()]
    for _ in range(3):
        post(http, "penguins/learn", ADELIE, headers=TOKEN)
        answers.append(post(http, "penguins/infer", DREAM).json())
    for version, answer in enumerate(answers, start=1):
        assert post(http, f"penguins/versions/{version}/infer", DREAM).json() == answer
    assert post(http, "penguins/versions/9/infer", DREAM).status_code == 404


def test_who_may_learn(client: Any, models: Path) -> None:
    http = client(learn=True)
    assert post(http, "penguins/learn", ADELIE).status_code == 401
    assert post(http, "penguins/learn", ADELIE, headers=bearer(READ)).status_code == 403
    assert post(http, "penguins/learn", ADELIE, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert post(client(tokens=[LEARN]), "penguins/learn", ADELIE, headers=TOKEN).status_code == 403
    assert len(naively.open(models / "penguins.naively").log()) == 1


def test_wrong_rows_are_refused_and_nothing_changes(client: Any, models: Path) -> None:
    http = client(learn=True)
    for inputs in (
        DREAM,
        [column("species", "BYTES", ["Adelie"])],
        [*DREAM, column("species", "BYTES", [None])],
        [*DREAM, column("species", "FP64", [1.5])],
        [*ADELIE, column("bill_depth_mm", "BYTES", ["deep"])],
    ):
        response = post(http, "penguins/learn", inputs, headers=TOKEN)
        assert response.status_code in (400, 422), response.text
    assert len(naively.open(models / "penguins.naively").log()) == 1
    response = post(http, "penguins/learn", ADELIE, headers=TOKEN, parameters={"comment": "x" * 2000})
    assert response.status_code == 422


def test_a_new_class(client: Any) -> None:
    http = client(learn=True)
    new = [*DREAM, column("species", "BYTES", ["Emperor"])]
    response = post(http, "penguins/learn", new, headers=TOKEN, parameters={"new_classes": True})
    assert response.status_code == 200, response.text
    classes = post(http, "penguins/infer", DREAM).json()["outputs"][1]["parameters"]["classes"]
    assert classes == ["Adelie", "Chinstrap", "Emperor", "Gentoo"]


def test_a_change_by_another_process_is_taken_up_within_a_second(client: Any, models: Path) -> None:
    http = client()
    assert post(http, "mail/infer", [column("text", "BYTES", ["lunch"])]).json()["model_version"] == "1"
    code = f"import naively; naively.open({str(models / 'mail.naively')!r}).update(['cheap lunch'], ['ham'])"
    subprocess.run([sys.executable, "-c", code], check=True)
    start = time.monotonic()
    wait_until(lambda: post(http, "mail/infer", [column("text", "BYTES", ["lunch"])]).json()["model_version"] == "2")
    assert time.monotonic() - start < 5  # one second, on a machine that may be busy
    naively.fit(["a", "b"], ["x", "y"]).save(models / "mail.naively", overwrite=True)
    inputs = [column("text", "BYTES", ["a"])]
    wait_until(lambda: post(http, "mail/infer", inputs).json()["outputs"][0]["data"] == ["x"])


def test_a_damaged_file_is_answered_by_the_last_good_model(client: Any, models: Path) -> None:
    http = client()
    (models / "mail.naively").write_bytes(b"not a model")
    service = http.app.state.service
    wait_until(lambda: service.get("mail").problem is not None)
    assert post(http, "mail/infer", [column("text", "BYTES", ["lunch"])]).status_code == 200


def test_disk_full(client: Any, models: Path) -> None:
    """507, nothing is written, and predictions go on; with space, learning goes on."""
    http = client(learn=True)
    writer = http.app.state.service.get("penguins")._writer

    def limit_pages(ledger: Any) -> int:
        connection = ledger._writer()
        pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
        return int(connection.execute(f"PRAGMA max_page_count={pages}").fetchone()[0])

    writer.submit(limit_pages).result()
    rows = [column("island", "BYTES", [f"island {i}" for i in range(2000)])]
    inputs = [*rows, column("species", "BYTES", ["Adelie"] * 2000)]
    response = post(http, "penguins/learn", inputs, headers=TOKEN)
    assert response.status_code == 507, response.text
    assert "disk is full" in response.json()["error"]
    assert post(http, "penguins/infer", DREAM).json()["model_version"] == "1"
    writer.submit(lambda ledger: ledger._writer().execute("PRAGMA max_page_count=1000000").fetchone()).result()
    assert post(http, "penguins/learn", inputs, headers=TOKEN).json()["model_version"] == "2"


def is_longer(items: list[str], n: int) -> bool:
    return len(items) > n


def learn_until_killed(
    url: str, headers: dict[str, str], name: str, acknowledged: list[str], stop: threading.Event
) -> None:
    import httpx2 as httpx

    with httpx.Client(base_url=url, headers=headers, timeout=30) as http:
        for number in range(100_000):
            if stop.is_set():
                return
            request_id = f"{name} {number}"
            inputs = [column("text", "BYTES", ["cheap lunch"]), column("class", "BYTES", ["ham"])]
            body = {"inputs": inputs, "id": request_id, "parameters": {"comment": request_id}}
            try:
                response = http.post("/v2/models/mail/learn", json=body)
            except httpx.TransportError:
                return
            assert response.status_code == 200, response.text
            acknowledged.append(request_id)


@pytest.mark.parametrize("n_kills", [2, pytest.param(50, marks=pytest.mark.soak)])
def test_kill_while_learning(models: Path, n_kills: int) -> None:
    """Every acknowledged entry is there once, none is torn."""
    acknowledged: list[str] = []
    for run in range(n_kills):
        stop = threading.Event()
        with running(models / "mail.naively", "--learn") as server:
            headers = {"Authorization": f"Bearer {server.token}"}
            threads = [
                threading.Thread(
                    target=learn_until_killed, args=(server.url, headers, f"{run} {i}", acknowledged, stop)
                )
                for i in range(4)
            ]
            for thread in threads:
                thread.start()
            n_wanted = len(acknowledged) + 7 * run % 20
            wait_until(partial(is_longer, acknowledged, n_wanted), seconds=60)
            server.process.kill()
            server.process.wait()
            stop.set()
            for thread in threads:
                thread.join()
    log = naively.open(models / "mail.naively").log()  # checks all digests
    comments = [entry.comment for entry in log if entry.act == "update"]
    assert len(comments) == len(set(comments))
    assert set(acknowledged) <= set(comments)
    model = naively.load(models / "mail.naively")
    assert model.class_counts.sum() == 6 + len(comments)


@pytest.mark.parametrize("n_rounds", [5, pytest.param(60, marks=pytest.mark.soak)])
def test_learners_predictors_and_an_update_at_once(models: Path, n_rounds: int) -> None:
    """8 learners, 8 predictors and `naively update`: the counts are exact."""
    import httpx2 as httpx

    path = models / "mail.naively"
    (models / "more.csv").write_text("text,class\ncheap lunch,ham\n")
    errors: list[BaseException] = []

    def call(function: Callable[[Any, int], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                with httpx.Client(base_url=server.url, headers=headers, timeout=60) as http:
                    for n in range(n_rounds):
                        function(http, n)
            except BaseException as error:
                errors.append(error)

        return run

    def learn(http: Any, n: int) -> None:
        inputs = [column("text", "BYTES", ["buy lunch"]), column("class", "BYTES", ["spam"])]
        assert http.post("/v2/models/mail/learn", json={"inputs": inputs}).status_code == 200

    def predict(http: Any, n: int) -> None:
        inputs = [column("text", "BYTES", ["buy lunch"] * (n % 3 + 1))]
        response = http.post("/v2/models/mail/infer", json={"inputs": inputs})
        assert response.status_code == 200
        assert len(response.json()["outputs"][0]["data"]) == n % 3 + 1

    with running(path, "--learn") as server:
        headers = {"Authorization": f"Bearer {server.token}"}
        threads = [threading.Thread(target=call(f)) for f in [learn] * 8 + [predict] * 8]
        for thread in threads:
            thread.start()
        n_updates = 3
        for _ in range(n_updates):
            command = [sys.executable, "-m", "naively", "update", str(path), str(models / "more.csv")]
            subprocess.run(command, check=True, capture_output=True)
        for thread in threads:
            thread.join()
        assert server.stop() == 0
    assert not errors
    counts = dict(zip(*(lambda m: (m.classes, m.class_counts.tolist()))(naively.load(path)), strict=True))
    assert counts == {"ham": 3 + n_updates, "spam": 3 + 8 * n_rounds}


def test_sigterm_finishes_what_is_under_way(models: Path, tmp_path: Path) -> None:
    import httpx2 as httpx

    lines = "\n".join(["text", *["cheap lunch at noon"] * 300_000])
    answers: list[Any] = []

    def predict() -> None:
        headers = {"Content-Type": "text/csv"}
        answers.append(httpx.post(f"{server.url}/v2/models/mail/predict", content=lines, headers=headers, timeout=60))

    folder = tmp_path / "temporary"
    folder.mkdir()
    with running(models / "mail.naively", TMPDIR=str(folder)) as server:
        thread = threading.Thread(target=predict)
        thread.start()
        wait_until(lambda: any(folder.glob("naively-*/rows.csv")))
        assert server.stop() == 0
        thread.join()
    assert answers[0].status_code == 200
    assert len(answers[0].text.splitlines()) == 300_001


def test_collected_changes_are_answered_one_by_one(client: Any) -> None:
    served = client(learn=True).app.state.service.get("mail")

    async def many() -> list[Any]:
        rows = {"text": ["cheap lunch"]}
        wrong = {"text": [5]}
        jobs = [served.learn(rows, ["ham"]), served.learn(wrong, ["ham"]), served.learn(rows, ["spam"])]
        return await asyncio.gather(*jobs, return_exceptions=True)

    first, failed, last = asyncio.run(many())
    assert (first.version, last.version) == (2, 3)
    assert isinstance(failed, Exception)
    assert served.snapshot.version == 3


def test_settings_of_an_earlier_version(tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    naively.fit({"x": ["a", "b", "a", "b"]}, [0, 1, 0, 0], tune=False).save(path)
    ledger = naively.open(path)
    priors = []
    ledger.tune(prior="uniform")
    ledger.undo(ledger.log()[-1].id)
    ledger.tune(prior={0: 0.9, 1: 0.1})
    for version in range(1, 5):
        priors.append(ledger.at(version).log_prior.tolist())
    assert priors[0] == priors[2] != priors[1]
    assert priors[1][0] == priors[1][1]
    assert priors[3] == ledger.model().log_prior.tolist()
    with pytest.raises(naively.InputError, match="there is no version 5"):
        ledger.at(5)
