"""A model as an ONNX graph, for onnxruntime and other runtimes; numbers are float64 throughout.

Each column of the scorecard is an input of shape (rows, 1) and of its own name. Strings are string tensors, in which an
empty string is a missing value. All other columns are float64, in which NaN is a missing value: numbers, booleans as 0
and 1, dates as seconds since 1970.

The outputs are `label` (rows,), `probabilities` and `log_probabilities` (rows, classes). A row with a value that the
family of its column refuses, such as an infinity or a negative count, has NaN probabilities. Its label is "" if classes
are strings, NaN if they are fractions, and otherwise −2⁶³.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.types import Array
from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.labelled import Label
from naively.errors import InputError
from naively.export.scorecard import MAX_DISTANCE, MAX_NUMBER, Scorecard, ScoredBlock, ScoredColumn, scorecard_of
from naively.families.scores import GaussianScores, IntervalScores, LinearScores, ValueScores
from naively.model.model import Model

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

OPSET, ML_OPSET, IR_VERSION = 18, 4, 9
OUTPUTS = ("label", "probabilities", "log_probabilities")


def to_onnx(model: Model) -> ModelProto:
    """Return the graph of a model; see `Model.to_onnx`."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise InputError('ONNX needs the package onnx: pip install "naively[onnx]".') from None
    return _Graph(scorecard_of(model)).model()


@dataclass
class _Graph:
    """A graph that is being written: each method adds nodes and returns the name of their result."""

    card: Scorecard
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    inputs: dict[str, bool] = field(default_factory=dict)  # whether each is a string

    def model(self) -> ModelProto:
        """Return the graph with its inputs and outputs."""
        from onnx import TensorProto, checker, helper

        self.outputs(self.total())
        text, double = TensorProto.STRING, TensorProto.DOUBLE
        inputs = [
            helper.make_tensor_value_info(name, text if is_text else double, ["rows", 1])
            for name, is_text in self.inputs.items()
        ]
        label_type = {"U": text, "f": double}.get(self.labels().dtype.kind, TensorProto.INT64)
        outputs = [helper.make_tensor_value_info("label", label_type, ["rows"])]
        shape: list[str | int | None] = ["rows", len(self.card.classes)]
        outputs += [helper.make_tensor_value_info(name, double, shape) for name in OUTPUTS[1:]]
        graph = helper.make_graph(self.nodes, "naively", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=IR_VERSION,
            producer_name="naively",
            producer_version=version("naively"),
        )
        checker.check_model(model)
        return model

    def node(self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its result."""
        from onnx import helper

        output = output or f"naively:{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, values: Array | Sequence[Any] | float) -> str:
        """Add a constant; return its name."""
        from onnx import numpy_helper

        array = np.asarray(values)
        array = array.astype(object) if array.dtype.kind == "U" else array
        name = f"naively:constant {len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def read(self, column: ScoredColumn) -> str:
        """Return the input of a column, (rows, 1)."""
        if column.name in OUTPUTS or column.name.startswith("naively:") or not column.name:
            raise InputError(f"column {column.name!r} has a name that an ONNX graph uses itself: rename it.")
        self.inputs[column.name] = column.kind == "string"
        return column.name

    # Each column adds its scores, (rows, classes).

    def total(self) -> str:
        """Return log π_c + b_c and the scores of all blocks."""
        scores = [self.constant(self.card.start[None])]
        scores += [self.score_block(block) for block in self.card.blocks if block.columns]
        if not self.inputs:
            raise InputError("no column of the model is evidence, so an ONNX graph would have no input.")
        return self.add_up(scores)

    def score_block(self, block: ScoredBlock) -> str:
        """Return the sum over the columns of a block, times L^(−β)."""
        total = self.add_up([self.score_column(column) for column in block.columns])
        if not block.exponent:
            return total
        counted = [c.name for c in block.columns if c.scores.form == "linear" and c.scores.in_length]
        zero = self.constant(0.0)
        counts = [self.node("Where", self.node("IsNaN", name), zero, name) for name in counted]
        length = self.node("Max", self.add_up(counts), self.constant(1.0)) if counts else self.constant(np.ones((1, 1)))
        return self.node("Mul", total, self.node("Pow", length, self.constant(-block.exponent)))

    def score_column(self, column: ScoredColumn) -> str:
        """Return the scores of a column."""
        scores = column.scores
        if scores.form == "values":
            return self.score_values(column, scores)
        if scores.form == "intervals":
            return self.score_intervals(column, scores)
        return self.score_gaussian(column, scores) if scores.form == "gaussian" else self.score_linear(column, scores)

    def score_values(self, column: ScoredColumn, scores: ValueScores) -> str:
        """Look up the value: the table ends with any other value and a missing one."""
        is_text, x = column.kind == "string", self.read(column)
        table = [(v, s) for v, s in zip(scores.values, scores.scores, strict=True) if isinstance(v, str) == is_text]
        n, n_classes = len(table), len(self.card.classes)
        other = np.full(n_classes, np.nan) if scores.other is None else scores.other
        rows = self.constant(np.array([*(s for _, s in table), other, scores.missing]))
        if is_text:
            if any(v == "" for v, _ in table):
                raise InputError(
                    f"column {column.name!r} ({column.family}) has the empty string as a value, which is a missing "
                    "value in ONNX: replace it before fitting."
                )
            keys, places = [*(v for v, _ in table), ""], [*range(n), n + 1]
            position = self.node(
                "LabelEncoder", x, domain="ai.onnx.ml", keys_strings=keys, values_int64s=places, default_int64=n
            )
            return self.take(rows, position)
        if any(isinstance(v, int) and abs(v) > MAX_EXACT_INTEGER for v, _ in table):
            raise InputError(
                f"column {column.name!r} ({column.family}) has integers beyond 2**53 as values, which float64 does not "
                "tell apart: give it as text."
            )
        is_missing = self.node("IsNaN", x)
        if scores.other is not None:
            rows = self.constant(np.array([*(s for _, s in table), other, scores.missing, np.full(n_classes, np.nan)]))
        position = self.constant(np.full((1, 1), n))
        if n:
            is_equal = self.cast(
                self.node("Equal", x, self.constant(np.array([[float(v) for v, _ in table]]))), np.int64
            )
            place = self.node("ArgMax", is_equal, axis=1)
            is_listed = self.cast(self.node("ReduceMax", is_equal, self.constant(np.array([1]))), np.bool_)
            position = self.node("Where", is_listed, place, position)
            if scores.other is not None:  # a value that is not listed; an infinity is refused
                position = self.node("Where", self.node("IsInf", x), self.constant(n + 2), position)
        return self.take(rows, self.node("Where", is_missing, self.constant(n + 1), position))

    def score_intervals(self, column: ScoredColumn, scores: IntervalScores) -> str:
        """Count the cuts ≤ x; the interval after the last is a missing value."""
        x, n = self.read(column), len(scores.scores)
        rows = self.constant(np.concatenate([scores.scores, np.zeros((1, len(self.card.classes)))]))
        is_above = self.cast(self.node("GreaterOrEqual", x, self.constant(scores.cuts[None])), np.int64)
        position = self.node("ReduceSum", is_above, self.constant(np.array([1])))
        return self.take(rows, self.node("Where", self.node("IsNaN", x), self.constant(n), position))

    def score_gaussian(self, column: ScoredColumn, scores: GaussianScores) -> str:
        """Return base − ½ z², between limits in which z² is finite."""
        x = self.read(column)
        value = self.node("Log", x) if scores.of_logarithm else x  # NaN below 0; the logarithm of 0 is infinite
        distance = float(np.abs(scores.mean).max() + MAX_DISTANCE * scores.deviation.min())
        bounded = self.node("Max", self.node("Min", value, self.constant(distance)), self.constant(-distance))
        z = self.node("Sub", bounded, self.constant(scores.mean[None]))
        z = self.node("Mul", z, self.constant(np.sqrt(0.5) / scores.deviation[None]))
        score = self.node("Sub", self.constant(scores.base[None]), self.node("Mul", z, z))
        refused = self.node("Where", self.node("IsInf", value), self.constant(np.nan), score)
        return self.or_zero(x, refused)

    def score_linear(self, column: ScoredColumn, scores: LinearScores) -> str:
        """Return intercept + slope · x, −∞ where only 0 is possible, NaN for numbers that are refused."""
        x, zero = self.read(column), self.constant(0.0)
        highest = MAX_NUMBER / max(1.0, float(np.abs(scores.slope).max()))
        bounded = self.node("Min", x, self.constant(highest))
        line = self.node("Mul", bounded, self.constant(scores.slope[None]))
        score = self.node("Add", line, self.constant(scores.intercept[None]))
        if scores.zero_only.any():
            is_above = self.node("Greater", x, zero)
            impossible = self.node("And", is_above, self.constant(scores.zero_only[None]))
            score = self.node("Where", impossible, self.constant(-np.inf), score)
        is_good = self.node(
            "And", self.node("GreaterOrEqual", x, zero), self.node("LessOrEqual", x, self.constant(MAX_NUMBER))
        )
        if scores.integers_only:
            is_good = self.node("And", is_good, self.node("Equal", self.node("Floor", x), x))
        return self.or_zero(x, self.node("Where", is_good, score, self.constant(np.nan)))

    def outputs(self, scores: str) -> None:
        """Normalise the scores; a row that is impossible in every class gets the prior."""
        axis, n_classes = self.constant(np.array([1])), len(self.card.classes)
        best = self.node("ReduceMax", scores, axis)
        is_impossible = self.node("Equal", best, self.constant(-np.inf))
        scores = self.node("Where", is_impossible, self.constant(self.card.log_prior[None]), scores)
        best = self.node("ReduceMax", scores, axis)
        relative = self.node("Sub", scores, best)
        share = self.node("Exp", relative)
        total = self.node("ReduceSum", share, axis)
        # A NaN score is in every class of the row, so the first tells.
        is_refused = self.node(
            "IsNaN", self.node("Slice", scores, *map(self.constant, (np.array([0]), np.array([1]), np.array([1]))))
        )
        probability = self.node("Div", share, total)
        log_share = self.node("Sub", relative, self.node("Log", total))
        if self.card.floor.any():
            rest, floor = self.constant(1.0 - self.card.floor.sum()), self.constant(self.card.floor[None])
            probability = self.node("Add", self.node("Mul", probability, rest), floor)
            log_share = self.node("Log", probability)
        self.node("Where", is_refused, self.constant(np.nan), probability, output="probabilities")
        self.node("Where", is_refused, self.constant(np.nan), log_share, output="log_probabilities")
        position = self.node("ArgMax", scores, axis=1)
        position = self.node("Where", is_refused, self.constant(n_classes), position)
        position = self.node("Squeeze", position, axis)
        self.node("Gather", self.constant(self.labels()), position, output="label")

    def labels(self) -> Array:
        """Return the classes, and the label of a row that is refused."""
        classes: tuple[Label, ...] = self.card.classes
        if isinstance(classes[0], str):
            return np.array([*classes, ""])
        if all(isinstance(label, int) for label in classes):
            return np.array([*map(int, classes), -(2**63)], dtype=np.int64)
        return np.array([*map(float, classes), np.nan])

    def take(self, rows: str, position: str) -> str:
        """Return the rows of a table at positions (rows, 1)."""
        return self.node("Gather", rows, self.node("Squeeze", position, self.constant(np.array([1]))))

    def cast(self, x: str, kind: type[np.int64] | type[np.bool_]) -> str:
        from onnx import TensorProto

        return self.node("Cast", x, to=TensorProto.INT64 if kind is np.int64 else TensorProto.BOOL)

    def or_zero(self, x: str, score: str) -> str:
        """Return a score, or 0 where x is missing."""
        return self.node("Where", self.node("IsNaN", x), self.constant(0.0), score)

    def add_up(self, scores: Sequence[str]) -> str:
        """Return a sum."""
        return scores[0] if len(scores) == 1 else self.node("Sum", *scores)
