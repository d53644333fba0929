"""`naively.spark.NaiveBayes`: an Estimator of pyspark.ml, for Pipeline and CrossValidator, with save and load.

The prediction is a double if the labels are numbers, as evaluators of pyspark.ml expect it, else it has the type of the
labels. The probability is a Vector in the order of the classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasInputCols,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as f

from naively.engines.spark import fit, model_from_bytes, model_to_bytes, predict
from naively.errors import InputError
from naively.schema.infer import Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from naively.model.model import Model as LocalModel

PREFIX = "__naively"  # of columns that `transform` adds and drops again
DATA = "model"  # folder of the model in a saved directory


class _Settings(HasInputCols, HasLabelCol, HasWeightCol, HasPredictionCol, HasProbabilityCol):
    """The parameters that estimator and model share."""

    tune = Param(
        Params._dummy(), "tune", "whether to choose smoothing, families and calibration", TypeConverters.toBoolean
    )
    together = Param(Params._dummy(), "together", "whether to count tables of columns too", TypeConverters.toBoolean)
    families = Param(Params._dummy(), "families", "family of a column by its name, as text")

    def __init__(self) -> None:
        """Set the defaults."""
        super().__init__()
        self._setDefault(tune=True, together=False, families={}, labelCol="label", predictionCol="prediction")
        self._setDefault(probabilityCol="probability")

    def getTune(self) -> bool:
        """Return whether the model is tuned."""
        return bool(self.getOrDefault(self.tune))

    def getTogether(self) -> bool:
        """Return whether tables of columns are counted too."""
        return bool(self.getOrDefault(self.together))

    def getFamilies(self) -> dict[str, str]:
        """Return the families that were given, by column."""
        families: dict[str, str] = self.getOrDefault(self.families)
        return families


class NaiveBayes(Estimator, _Settings, DefaultParamsReadable, DefaultParamsWritable):
    """Naive Bayes for columns of any type, as an Estimator of pyspark.ml.

    Parameters
    ----------
    inputCols
        The columns to learn from: numbers, strings, booleans, dates or texts. No vectors are needed.
    labelCol, weightCol, predictionCol, probabilityCol
        As in pyspark.ml.
    tune
        Whether to choose smoothing, families and calibration by leave-one-out.
    together
        Whether to count tables of columns too, as in `naively.fit`.
    families
        The family of a column by its name, as text: {"price": "LogNormal"}.
    """

    def __init__(
        self,
        *,
        inputCols: list[str] | None = None,
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
        tune: bool = True,
        together: bool = False,
        families: dict[str, str] | None = None,
    ) -> None:
        """Set the parameters that differ from their defaults."""
        super().__init__()
        given = {"inputCols": inputCols, "weightCol": weightCol, "families": families}
        self._set(**{name: value for name, value in given.items() if value is not None})
        self._set(labelCol=labelCol, predictionCol=predictionCol, probabilityCol=probabilityCol)
        self._set(tune=tune, together=together)

    def _fit(self, dataset: DataFrame) -> NaiveBayesModel:
        if not self.isSet(self.inputCols):
            raise InputError("set inputCols=, the names of the columns to learn from.")
        y, names = self.getLabelCol(), list(self.getInputCols())
        weight = self.getWeightCol() if self.isSet(self.weightCol) else None
        rows = dataset.select(*names, y, *([] if weight is None else [weight]))
        families: Columns | None = self.getFamilies() or None
        model = fit(rows, y, columns=families, weight=weight, tune=self.getTune(), together=self.getTogether())
        fitted: NaiveBayesModel = self._copyValues(NaiveBayesModel(model))
        return fitted


class NaiveBayesModel(Model, _Settings, MLReadable, MLWritable):
    """A fitted model; `.model` is the `naively.Model` on the driver."""

    def __init__(self, model: LocalModel | None = None) -> None:
        """Hold a model of naively."""
        super().__init__()
        self.model = model

    def _transform(self, dataset: DataFrame) -> DataFrame:
        assert self.model is not None
        predicted = predict(self.model, dataset, proba=True, name=PREFIX)
        names = [f"{PREFIX}_p_{label}" for label in self.model.classes]
        quoted = [f.col("`" + name.replace("`", "``") + "`") for name in names]
        answer = f.col(PREFIX)
        if not isinstance(self.model.classes[0], (str, bool)):
            answer = answer.cast("double")
        return predicted.select(
            *(f.col("`" + name.replace("`", "``") + "`") for name in dataset.columns),
            answer.alias(self.getPredictionCol()),
            array_to_vector(f.array(*quoted)).alias(self.getProbabilityCol()),
        )

    def copy(self, extra: Any = None) -> NaiveBayesModel:
        """Return a copy with other parameters, and the same model."""
        copied: NaiveBayesModel = super().copy(extra)
        copied.model = self.model
        return copied

    def write(self) -> MLWriter:
        """Return what `save` calls."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader:
        """Return what `load` calls."""
        return _ModelReader()


class _ModelWriter(MLWriter):
    """Write the parameters, and the model as one row of Parquet: any file system of Spark will do."""

    def __init__(self, instance: NaiveBayesModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        """Write both."""
        assert self.instance.model is not None
        session = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, session)
        data = model_to_bytes(self.instance.model)
        session.createDataFrame([(bytearray(data),)], "model binary").coalesce(1).write.parquet(f"{path}/{DATA}")


class _ModelReader(MLReader):
    """Read what `_ModelWriter` wrote; the bytes of the model are checked."""

    def load(self, path: str) -> NaiveBayesModel:
        """Return the model."""
        session = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, session)
        row = session.read.parquet(f"{path}/{DATA}").first()
        model = NaiveBayesModel(model_from_bytes(bytes(row["model"])))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
