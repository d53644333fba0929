"""NAME=VALUE on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["classes_by_name", "pair", "prior_of"]


def pair(option: str, item: str) -> tuple[str, str]:
    """The name and the value; a name may have an equals sign in it, a value may not."""
    name, sign, value = item.rpartition("=")
    if not sign or not name:
        raise click.BadParameter(f"{item!r} is not NAME=VALUE.", param_hint=option)
    return name, value


def prior_of(given: str) -> Any:
    """A name, or probabilities by class."""
    if "=" not in given:
        return given
    pairs = [pair("--prior", item) for item in given.split(",")]
    try:
        return {name: float(value) for name, value in pairs}
    except ValueError:
        raise click.BadParameter(f"{given!r}: probabilities are numbers.", param_hint="--prior") from None


def classes_by_name(model: Model) -> dict[str, Any]:
    """The classes as a person types them."""
    return {str(label): label for label in model.classes}
