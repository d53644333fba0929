"""Rows drawn from a model: unused columns are empty, missing values are as frequent as in training."""

import naively as nb


def test_unused_columns_are_empty() -> None:
    table = {"id": list(range(60)), "one": ["same"] * 60, "x": ["a", "b", "c"] * 20}
    drawn = nb.fit(table, ["yes", "no"] * 30, tune=False).sample(5, seed=1)
    assert drawn.column_names == ["id", "one", "x", "class"]
    assert drawn["id"].null_count == drawn["one"].null_count == 5
    assert drawn["x"].null_count == 0


def test_missing_values_that_are_evidence_are_drawn() -> None:
    sky = ["sun", None, None, None, "rain", "sun"] * 50
    model = nb.fit(
        {"sky": sky}, ["a", "a", "a", "a", "b", "b"] * 50, columns={"sky": nb.Categorical(missing="value")}, tune=False
    )
    drawn = model.sample(4000, seed=2).to_pandas()
    share = drawn.groupby("class")["sky"].agg(lambda column: column.isna().mean())
    assert abs(share["a"] - 0.75) < 0.04
    assert share["b"] < 0.03


def test_words_of_binary_texts_occur_once() -> None:
    texts = ["a b c d", "a b e f", "c d e g", "a g h"]
    model = nb.fit(texts, [0, 0, 1, 1], columns=nb.Text(binary=True), tune=False)
    for text in map(str, model.sample(200, seed=3)["text"].to_pylist()):
        assert len(set(text.split())) == len(text.split())
