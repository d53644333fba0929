"""Return predictions as frames and series of pandas or polars, with the index of the rows that came in."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from naively._kernels.types import Array, Floats
from naively.data.plain import CellValue
from naively.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    PandasFrame: TypeAlias = pd.DataFrame
    PandasSeries: TypeAlias = pd.Series[Any]
    PolarsFrame: TypeAlias = pl.DataFrame
    PolarsSeries: TypeAlias = pl.Series

Output = Literal["pandas", "polars"]


def frame_of(numbers: Floats, names: Sequence[CellValue], rows: object, output: Output) -> pd.DataFrame | pl.DataFrame:
    """Return a table (row, column) as a frame.

    Parameters
    ----------
    numbers
        The table.
    names
        The names of its columns: the classes.
    rows
        What the numbers belong to. The index of a pandas frame is kept.
    output
        "pandas" or "polars".
    """
    _require_package(output)
    if output == "pandas":
        import pandas as pd

        return pd.DataFrame(numbers, index=_index_of(rows, len(numbers)), columns=list(names))
    import polars as pl

    return pl.DataFrame(numbers, schema=list(map(str, names)), orient="row")


def series_of(values: Array, name: str, rows: object, output: Output) -> pd.Series[Any] | pl.Series:
    """Return one value for each row as a series; see `frame_of`."""
    _require_package(output)
    if output == "pandas":
        import pandas as pd

        return pd.Series(values, index=_index_of(rows, len(values)), name=name)
    import polars as pl

    return pl.Series(name, values.tolist())


def _require_package(output: str) -> None:
    if output not in ("pandas", "polars"):
        raise InputError(f'output={output!r}: give "pandas" or "polars", or leave it out for arrays.')
    if find_spec(output) is None:
        raise InputError(f"output={output!r} needs {output}: pip install {output}.")


def _index_of(rows: object, n_rows: int) -> Any:
    """Return the index of a pandas frame or of a series of texts; None, which is 0, 1, 2, …, for any other rows."""
    import pandas as pd

    if isinstance(rows, (pd.DataFrame, pd.Series)) and len(rows.index) == n_rows:
        return rows.index
    return [rows.name] if isinstance(rows, pd.Series) and n_rows == 1 else None  # one row of a frame
