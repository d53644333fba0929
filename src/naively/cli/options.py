"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from naively.errors import InputError

if TYPE_CHECKING:
    from naively.data.files.paths import Files
    from naively.data.labelled import Label
    from naively.families.base import Family
    from naively.model.model import Model
    from naively.priors import PriorLike
    from naively.schema.infer import Automatic

FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)  # as click has it

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet"}

OTHER_COMPRESSIONS = (".7z", ".br", ".lz4", ".lzma", ".rar", ".snappy", ".xz", ".z", ".zip")  # are not written

target = click.option(
    "--target", metavar="COLUMN", help="Column with the labels. Default: the column that the model predicts."
)
weight = click.option("--weight", metavar="COLUMN", help="Column with the weight of each row.")
new_classes = click.option("--new-class", "new_classes", is_flag=True, help="Labels may be new to the model.")
source = click.option("--source", help="Where the rows come from, for the log. Default: the file names.")
comment = click.option("--comment", default="", help="Comment for the log.")
families = click.option(
    "--column",
    "families",
    multiple=True,
    metavar="C=FAMILY",
    help="Model column C with this family (bernoulli, categorical, gaussian, binned, poisson, text, …), also with "
    "settings: 'C=Bernoulli(alpha=0)'. Repeatable.",
)
ignore = click.option("--ignore", multiple=True, metavar="C", help="Leave out column C. Repeatable.")
missing = click.option(
    "--missing",
    multiple=True,
    metavar="C",
    help="Treat an empty cell in column C as information, not as unknown. Repeatable.",
)
many_classes = click.option(
    "--many-classes",
    is_flag=True,
    help="Accept a target with nearly as many values as rows, which is refused otherwise.",
)
together = click.option(
    "--together",
    is_flag=True,
    help="Count columns together too, and use what they say together where it helps. Takes longer.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force = click.option("--force", is_flag=True, help="Overwrite an existing file.")
rows_output = click.option(
    "-o", "--output", default="-", show_default=True, help="File to write; - is standard output."
)
PROBABILITY = click.FloatRange(0, 1, min_open=True)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


ROW = (
    click.option("--set", "values", multiple=True, metavar="COLUMN=VALUE", help="A value of one row. Repeatable."),
    click.option("--text", metavar="TEXT", help="The text of one row, for a model with one text column."),
)


def takes_one_row(command: FC) -> FC:
    """Add the options that give one row in place of DATA: `values` and `text`."""
    for option in reversed(ROW):
        command = option(command)
    return command


def refuse_rows_and_row(data: Files | None, values: tuple[str, ...], text: str | None) -> None:
    """Raise an error unless the rows are given once: as DATA, or by --set and --text."""
    if (data is None) == (not values and text is None):
        both = "" if data is None else ", not both"
        raise click.UsageError(f"give DATA, or one row by --set and --text{both}.")


def format_of(*formats: str) -> Callable[[FC], FC]:
    """Return the option for the format of the rows that are written."""
    return click.option(
        "--format", "kind", type=click.Choice(formats), help="Output format. Default: from the file name."
    )


READING = (
    click.option("--delimiter", metavar="CHAR", help="Character between the cells of CSV. Default: found in the file."),
    click.option(
        "--decimal", type=click.Choice([".", ","]), default=".", show_default=True, help="Decimal sign of CSV."
    ),
    click.option(
        "--missing-values",
        multiple=True,
        metavar="CELL,…",
        help="Cells of CSV that are missing values, instead of NA, NaN, null and the like. Empty cells always are.",
    ),
    click.option("--no-header", is_flag=True, help="The first line of CSV is a row: the columns are x0, x1, …"),
    click.option("--encoding", metavar="NAME", help="Encoding of CSV, JSON and texts. Default: found in the file."),
    click.option(
        "--bad-rows",
        type=click.Choice(["stop", "empty", "skip"]),
        default="stop",
        show_default=True,
        help="A cell of the wrong type is an error, is read as empty, or its row is left out. A list is printed.",
    ),
)


def reads_data(required: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the decorator for a command that reads DATA: the argument, and the options that say how it is read.

    The command gets all of them as one value, `data`: `Files`, or None without DATA.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(
            *,
            data: tuple[str, ...],
            delimiter: str | None,
            decimal: str,
            missing_values: tuple[str, ...],
            no_header: bool,
            encoding: str | None,
            bad_rows: Any,
            **others: Any,
        ) -> None:
            from naively.data.files.paths import MISSING_CELLS, Files  # not needed for --help

            try:
                files = Files(
                    data[0] if len(data) == 1 else data,
                    delimiter="\t" if delimiter in ("tab", "\\t") else delimiter,
                    decimal=decimal,
                    missing_values=[cell for cells in missing_values for cell in cells.split(",")] or MISSING_CELLS,
                    header=not no_header,
                    encoding=encoding,
                    bad_rows=bad_rows,
                )
            except InputError as error:
                raise click.UsageError(str(error)) from None
            command(data=files if data else None, **others)

        for option in reversed(READING):
            call = option(call)
        return click.argument("data", nargs=-1, required=required)(call)

    return decorate


@dataclass(frozen=True)
class RowsToCount:
    """Rows with their labels, as a command line gives them: DATA, or one row by --set and --text with its --label."""

    data: Files | None
    values: tuple[str, ...]
    text: str | None
    label: str | None
    target: str | None
    weight: str | None


LABELS = (
    click.option("--label", metavar="CLASS", help="Class of the row that --set and --text give."),
    target,
    weight,
)


def reads_rows_to_count(command: Callable[..., None]) -> Callable[..., None]:
    """Add DATA, the options that give one row in its place, and those of labels; the command gets them as `rows`."""

    @wraps(command)
    def call(
        *,
        data: Files | None,
        values: tuple[str, ...],
        text: str | None,
        label: str | None,
        target: str | None,
        weight: str | None,
        **others: Any,
    ) -> None:
        refuse_rows_and_row(data, values, text)
        if (label is None) == (data is None):
            raise click.UsageError("--label is the class of the row given by --set and --text: give them together.")
        command(rows=RowsToCount(data, values, text, label, target, weight), **others)

    decorated = reads_data(required=False)(call)
    for option in reversed((*ROW, *LABELS)):
        decorated = option(decorated)
    return decorated


def takes_entry(command: FC) -> FC:
    """Add the options that say which entries have counted the rows: `entry` and `source`."""
    command = click.option("--source", help="Source to take the rows from.")(command)
    return click.option("--entry", metavar="ID", help="Entry to take the rows from.")(command)


def source_name(data: Files | None, source: str | None) -> str:
    """Return the source for the log: the option, or the names of the files."""
    return source if source is not None else "" if data is None else " ".join(data.given)


def refuse_output(output: str | Path, force: bool, *inputs: str) -> None:
    """Raise an error if a file cannot be written, or exists and may not be overwritten; an input never may.

    Standard output (-) and devices such as /dev/null can always be written.
    """
    path = Path(output)
    if str(output) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        return
    if path.is_dir():
        raise click.UsageError(f"{path} is a folder. Give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise click.UsageError(f"{path}: there is no such folder.")
    if path.exists() and any(os.path.exists(name) and path.samefile(name) for name in inputs):
        raise click.UsageError(f"{path} is read by this command. Give another name.")
    if path.exists() and not force:
        raise click.UsageError(f"{path} already exists. Give --force to overwrite it, or another name.")


def output_format(output: str, given: str | None) -> str:
    """Return the format of an output file: the given one, or the one that its name ends in."""
    from naively.data.files.paths import COMPRESSIONS

    suffixes = [suffix.lower() for suffix in Path(output).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in (*COMPRESSIONS, *OTHER_COMPRESSIONS) else None
    suffix = suffixes[-1] if suffixes else ""
    if compression in OTHER_COMPRESSIONS:
        raise click.UsageError(
            f"{output}: {compression} is not written. Use {', '.join(COMPRESSIONS)}, or none of them."
        )
    if given is None and output != "-" and suffix not in FORMATS:
        raise click.UsageError(f"{output}: give --format, or a name that ends in .csv, .jsonl or .parquet.")
    chosen = given or FORMATS.get(suffix, "csv")
    if chosen == "parquet" and compression:
        raise click.UsageError(f"{output}: Parquet is compressed by itself. Leave out {compression}.")
    if chosen == "parquet" and output == "-":
        raise click.UsageError("Parquet cannot be written to standard output. Name a file with -o.")
    return chosen


def parse_pair(option: str, item: str) -> tuple[str, str]:
    """Split NAME=VALUE; the name may contain an equals sign, the value may not."""
    name, sign, value = item.rpartition("=")
    if not sign or not name:
        raise click.BadParameter(f"{item!r} is not NAME=VALUE.", param_hint=option)
    return name, value


def parse_family(item: str) -> tuple[str, str]:
    """Split COLUMN=FAMILY or COLUMN=FAMILY(SETTING=VALUE, …); the name of the column may contain an equals sign.

    >>> parse_family("a=b=Bernoulli(alpha=0)")
    ('a=b', 'Bernoulli(alpha=0)')
    """
    parts = re.fullmatch(r"(.+)=\s*(\w+\s*(\(.*\))?)\s*", item, re.DOTALL)
    if parts is None:
        raise click.BadParameter(f"{item!r} is not COLUMN=FAMILY.", param_hint="--column")
    return parts[1], parts[2]


def given_families(names: Mapping[str, str], missing: Sequence[str]) -> dict[str, Family | Automatic]:
    """Return the families of --column, by column, and of --missing, with missing values as evidence."""
    from naively.schema.infer import Automatic, family_of

    columns: dict[str, Family | Automatic] = {name: family_of(family) for name, family in names.items()}
    for name in missing:
        columns[name] = replace(columns[name], missing="value") if name in columns else Automatic("value")
    return columns


def text_types(names: Mapping[str, str]) -> dict[str, str]:
    """Return how CSV files are read: the columns that --column gives the family Text as strings."""
    return {name: "string" for name, family in names.items() if family.lower().partition("(")[0].strip() == "text"}


def parse_prior(text: str) -> str | dict[str, float]:
    """Return the name of a class prior, or probabilities by class."""
    if "=" not in text:
        return text
    pairs = [parse_pair("--prior", item) for item in text.split(",")]
    try:
        return {name: float(value) for name, value in pairs}
    except ValueError:
        raise click.BadParameter(f"{text!r}: probabilities must be numbers.", param_hint="--prior") from None


def with_classes(prior: str | dict[str, float], model: Model) -> PriorLike:
    """Return a class prior with the classes of the model in place of their names."""
    return {find_class(model, name): p for name, p in prior.items()} if isinstance(prior, dict) else prior


def find_class(model: Model, name: str | None) -> Label | None:
    """Return the class that is written like this; the name itself if there is none, so that the model refuses it."""
    return next((label for label in model.classes if str(label) == name), name)


def label_of(model: Model, name: str | None) -> Label | None:
    """Return the class that is written like this; a new one has the type of the classes if it can be read so."""
    label = find_class(model, name)
    numbers = [type(known) for known in model.classes if type(known) in (int, float)]
    if isinstance(label, str) and numbers:
        try:
            return numbers[0](label)
        except ValueError:
            pass  # the model refuses it
    return label


def known_class(model: Model, name: str | None) -> Label | None:
    """Return the class that is written like this; refuse a name that is none."""
    from naively.model.decide import position_of

    return None if name is None else model.classes[position_of(find_class(model, name), model.classes)]
