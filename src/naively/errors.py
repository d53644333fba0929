"""What naively raises and warns about; every text says what was found and what to do."""

__all__ = ["ImpossibleRowsWarning", "InputError", "LeftOutWarning", "LostDigitsWarning", "SchemaError"]


class InputError(ValueError):
    """Data or a setting that cannot be used; nothing was changed."""


class SchemaError(InputError):
    """Two models, or a model and a table, whose columns do not agree."""


class ImpossibleRowsWarning(UserWarning):
    """Rows to which every class gives probability zero; they got the class prior."""


class TuningWarning(UserWarning):
    """Models that are tuned differently were added, and their sum is not tuned."""


class LostDigitsWarning(UserWarning):
    """A subtraction took away numbers so large that what is left has lost its digits."""


class LeftOutWarning(UserWarning):
    """Rows or cells that were left out, or a column that was taken as missing or read as another type."""
