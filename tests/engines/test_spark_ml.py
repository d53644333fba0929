"""`naively.spark.NaiveBayes` among the estimators of pyspark.ml: Pipeline, CrossValidator, save and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import naively

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def rows(n: int = 240) -> pa.Table:
    random = np.random.default_rng(0)
    label = random.random(n) < 0.4
    return pa.table(
        {
            "size": (random.normal(size=n) + 2 * label).tolist(),
            "town": np.where(random.random(n) < 0.3 + 0.4 * label, "Ulm", "Rom").tolist(),
            "label": label.astype(float).tolist(),
        }
    )


def test_pipeline_cross_validator_save_and_load(spark: Any, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.feature import SQLTransformer
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    df = spark.createDataFrame(rows()).repartition(2)
    bayes = naively.spark.NaiveBayes(inputCols=["size", "town", "twice"], families={"size": "Gaussian"})
    twice = SQLTransformer(statement="SELECT *, 2 * size AS twice FROM __THIS__")
    fitted = Pipeline(stages=[twice, bayes]).fit(df)
    predicted = fitted.transform(df)
    assert predicted.columns == ["size", "town", "label", "twice", "prediction", "probability"]
    first = predicted.first()
    assert isinstance(first["prediction"], float)
    model = fitted.stages[-1].model
    one = {name: [first[name]] for name in ("size", "town", "twice")}
    np.testing.assert_array_equal(first["probability"].toArray(), model.posterior(one)[0])
    assert str(model.chosen.families()["size"]) == "Gaussian"

    fitted.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert again.transform(df).select("probability").collect() == predicted.select("probability").collect()
    assert again.stages[-1].getInputCols() == ["size", "town", "twice"]

    evaluator = MulticlassClassificationEvaluator(metricName="logLoss")
    single = naively.spark.NaiveBayes(inputCols=["size", "town"])
    single.write().overwrite().save(str(tmp_path / "estimator"))
    single = naively.spark.NaiveBayes.load(str(tmp_path / "estimator"))
    grid = ParamGridBuilder().addGrid(single.tune, [False, True]).build()
    search = CrossValidator(estimator=single, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1)
    best = search.fit(df)
    assert len(best.avgMetrics) == 2
    assert max(best.avgMetrics) < 0.6
    assert best.bestModel.model.schema.names == ("size", "town")


def test_labels_of_text_and_weights(spark: Any) -> None:
    table = rows().append_column("w", pa.array([1, 2] * 120))
    table = table.set_column(2, "label", pa.array(["yes" if c else "no" for c in table["label"].to_pylist()]))
    df = spark.createDataFrame(table)
    fitted = naively.spark.NaiveBayes(inputCols=["size", "town"], weightCol="w", tune=False).fit(df)
    first = fitted.transform(df).first()
    assert first["prediction"] in ("no", "yes")
    assert len(first["probability"]) == 2
    assert float(fitted.model.class_counts.sum()) == 360
    with pytest.raises(naively.InputError, match="set inputCols="):
        naively.spark.NaiveBayes().fit(df)
