"""Reference pages made while the documentation is built: the commands as `--help` tells them, the public names as their
docstrings do. Nothing of it is kept in the repository, so nothing of it can be out of date."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import click

import naively
from naively import plot
from naively.cli.main import COMMANDS, main

WIDTH = 100

GROUPS = {
    "Fitting and predicting": ("fit", "Model", "predict_batches", "load", "open", "Ledger", "merge", "copy", "salvage"),
    "Families and priors": (
        *("Bernoulli", "Categorical", "Multinomial", "Complement", "Gaussian", "LogNormal", "Poisson", "Exponential"),
        *("Binned", "Text", "Automatic", "Family", "Dirichlet", "ClassPrior"),
    ),
    "Tuning and evaluation": ("Tuning", "Evaluation"),
    "scikit-learn": ("NaiveBayes", "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
}

RETURNED = (
    *("schema.choose.Chosen", "explanation.explanation.Explanation"),
    *("explanation.explanation.Contribution", "explanation.counterfactual.Counterfactual"),
    *("tuning.leave_one_out.LeaveOneOut", "explanation.word_weights.WordWeights", "explanation.word_weights.Word"),
    "explanation.linear.Linear",
    *("store.entries.Entry", "evaluation.diff.ColumnDiff"),
)


def commands() -> str:
    """Every command's help, as `naively COMMAND --help` prints it."""
    outer = click.Context(main, info_name="naively", terminal_width=WIDTH, **main.context_settings)
    parts = [_fenced("text", main.get_help(outer))]
    for name in COMMANDS:
        command = main.get_command(outer, name)
        assert command is not None
        parts += [f"## naively {name}", *_help(command, name, outer)]
    return "\n\n".join(parts)


def _help(command: click.Command, name: str, outer: click.Context) -> Iterator[str]:
    """A command's help; those of a group's commands after it."""
    context = click.Context(command, info_name=name, parent=outer, terminal_width=WIDTH)
    yield _fenced("text", command.get_help(context))
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                yield f"### naively {name} {inner}"
                yield from _help(found, inner, context)


def names() -> str:
    """Every public name with its signature, its docstring and, for a class, its public members."""
    named = {name for group in GROUPS.values() for name in group}
    rest = tuple(name for name in naively.__all__ if name not in named and isinstance(getattr(naively, name), type))
    problems = tuple(name for name in rest if issubclass(getattr(naively, name), (Warning, Exception)))
    others = tuple(name for name in naively.__all__ if name not in named and name not in problems)
    groups = {**GROUPS, **({"More": others} if others else {}), "Errors and warnings": problems}
    parts: list[str] = []
    for title, group in groups.items():
        parts.append(f"## {title}")
        for name in group:
            parts += _entry(f"naively.{name}", getattr(naively, name), "###")
    parts += ["## Pictures", as_markdown(inspect.getdoc(plot) or "")]
    for name in plot.__all__:
        parts += _entry(f"naively.plot.{name}", getattr(plot, name), "###")
    parts.append("## What these return, and more")
    for path in RETURNED:
        module, _, name = path.rpartition(".")
        parts += _entry(f"naively.{path}", getattr(importlib.import_module(f"naively.{module}"), name), "###")
    return "\n\n".join(parts)


def _entry(name: str, found: Any, level: str) -> Iterator[str]:
    yield f"{level} {name}"
    yield _fenced("python", _signature(name.rpartition(".")[2], found))
    yield as_markdown(inspect.getdoc(found) or "")
    if inspect.isclass(found) and not issubclass(found, Exception):
        yield from _members(found)


def _members(found: type) -> Iterator[str]:
    """Public methods and properties that the package itself gives a class; a family's are those of `Family`."""
    family = issubclass(found, naively.Family) and found is not naively.Family
    for name in () if family else dict.fromkeys(n for part in _own(found) for n in vars(part)):
        member = inspect.getattr_static(found, name)
        if name.startswith("_") or not inspect.getdoc(getattr(found, name, None)):
            continue
        if isinstance(member, (property, functools.cached_property)):
            yield _fenced("python", f"{found.__name__}.{name}")
        elif isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
            yield _fenced("python", _signature(f"{found.__name__}.{name}", getattr(found, name)))
        else:
            continue
        yield as_markdown(inspect.getdoc(member) or "")


def _own(found: type) -> list[type]:
    return [part for part in found.__mro__ if part.__module__.startswith("naively")]


def _signature(name: str, found: Any) -> str:
    """The signature as it is written, one parameter a line where it is long."""
    if inspect.isclass(found) and issubclass(found, Exception):
        return f"class {name}({found.__mro__[1].__name__})"
    try:
        signature = inspect.signature(found)
    except ValueError:
        return name
    kept = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    parameters = [_parameter(p) for p in kept]
    starred = [i for i, p in enumerate(kept) if p.kind is p.KEYWORD_ONLY]
    if starred and not any(p.kind is p.VAR_POSITIONAL for p in kept):
        parameters.insert(starred[0], "*")
    returned = signature.return_annotation
    arrow = "" if returned in (signature.empty, "None", None) else f" -> {returned}"
    line = f"{name}({', '.join(parameters)}){arrow}"
    return line if len(line) <= WIDTH else "\n".join([f"{name}(", *(f"    {p}," for p in parameters), f"){arrow}"])


def _parameter(parameter: inspect.Parameter) -> str:
    """As it is written: annotations are kept as strings, and have no quotes of their own here."""
    stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
    written = parameter.annotation is not parameter.empty
    default = "" if parameter.default is parameter.empty else f"{' = ' if written else '='}{parameter.default!r}"
    return f"{stars}{parameter.name}{f': {parameter.annotation}' if written else ''}{default}"


def as_markdown(docstring: str) -> str:
    """A docstring as Markdown: examples and indented equations are set as they stand, all else is prose."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", docstring):
        if paragraph.startswith(">>>"):
            parts.append(_fenced("python", paragraph))
        elif paragraph.startswith("    "):
            parts.append(_fenced("text", textwrap.dedent(paragraph)))
        else:
            parts.append(paragraph)
    return "\n\n".join(parts)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"
