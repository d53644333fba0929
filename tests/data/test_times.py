"""Times with zones and fractions of a second are dates in every format, for every function."""

import json
from pathlib import Path

import pytest

import naively

FORMATS = {
    "days": "2023-05-{:02}",
    "seconds": "2023-05-{:02}T10:00:00",
    "a blank": "2023-05-{:02} 10:00:00",
    "milliseconds": "2023-05-{:02}T10:00:00.250",
    "microseconds": "2023-05-{:02} 10:00:00.250001",
    "UTC": "2023-05-{:02}T10:00:00Z",
    "JavaScript": "2023-05-{:02}T10:00:00.250Z",
    "a zone": "2023-05-{:02}T10:00:00+02:00",
    "a zone and a fraction": "2023-05-{:02}T10:00:00.5-03:30",
}


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_times_are_dates_in_every_format(tmp_path: Path, form: str) -> None:
    rows = [{"at": form.format(1 + i), "y": "ab"[i > 13]} for i in range(28)]
    (tmp_path / "rows.csv").write_text("at,y\n" + "".join(f"{row['at']},{row['y']}\n" for row in rows))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rows.json").write_text(json.dumps([*rows, {"at": None, "y": "a"}]))
    files = [tmp_path / f"rows.{ending}" for ending in ("csv", "jsonl", "json")]
    models = [naively.fit(file, "y") for file in files]
    model = models[0]
    expected = model.posterior(files[0])
    assert model.predict(files[0]).tolist() == [row["y"] for row in rows]
    for other in models:
        assert other.schema.kinds() == {"at": "date"}
        for file in files:
            assert other.posterior(file)[:28] == pytest.approx(expected, abs=0.02)
        shown = {str(other.explain(file)[0].contributions[0].shown) for file in files}
        assert len(shown) == 1


def test_what_is_no_time_stays_text_or_is_refused(tmp_path: Path) -> None:
    rows = [{"at": f"2023-13-{i:02}T10:00:00.5Z", "y": "ab"[i % 2]} for i in range(10, 30)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert naively.fit(tmp_path / "rows.jsonl", "y", tune=False).schema.kinds() == {"at": "string"}
    (tmp_path / "good.csv").write_text("at,y\n2023-05-01T10:00Z,a\n2023-05-02T10:00Z,b\n")
    (tmp_path / "bad.csv").write_text("at\n2023-05-01T10:00Z\n2023-13-02T10:00Z\n")
    model = naively.fit(tmp_path / "good.csv", "y", tune=False)
    with pytest.raises(naively.InputError, match=r"line 3: column 'at' is '2023-13-02T10:00Z', but should be a date"):
        model.predict(tmp_path / "bad.csv")
    with pytest.warns(naively.LeftOutWarning, match="line 3"):
        assert len(model.predict(naively.Files(tmp_path / "bad.csv", bad_rows="empty"))) == 2
