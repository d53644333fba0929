"""Make the reference pages of the documentation: the help of commands, and the docstrings of public names.

The pages are not in the repository, so they cannot be out of date.
"""

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
    "Fitting and predicting": ("fit", "Model", "Files", "predict_batches"),
    "Model files": ("load", "open", "Ledger", "merge", "copy", "diff", "salvage"),
    "Families and priors": (
        *("Bernoulli", "Categorical", "Multinomial", "Complement", "Gaussian", "LogNormal", "Poisson", "Exponential"),
        *("Binned", "Text", "Automatic", "Family", "Dirichlet", "ClassPrior"),
    ),
    "Tuning and evaluation": ("Tuning", "Evaluation", "compare", "cross_validate"),
    "scikit-learn": ("NaiveBayes", "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
}

RETURNED = (
    *("schema.choose.Chosen", "explanation.explanation.Explanation"),
    *("explanation.explanation.Contribution", "explanation.counterfactual.Counterfactual"),
    *("tuning.leave_one_out.LeaveOneOut", "explanation.word_weights.WordWeights", "explanation.word_weights.Word"),
    "explanation.linear.Linear",
    *("store.entries.Entry", "evaluation.diff.ColumnDiff", "evaluation.comparison.Comparison"),
)


def commands() -> str:
    """Return the help of every command, as `naively COMMAND --help` prints it."""
    outer = click.Context(main, info_name="naively", terminal_width=WIDTH, **main.context_settings)
    parts = [_fenced("text", main.get_help(outer))]
    for name in COMMANDS:
        command = main.get_command(outer, name)
        assert command is not None
        parts += [f"## naively {name}", *_help(command, name, outer)]
    return "\n\n".join(parts)


def _help(command: click.Command, name: str, outer: click.Context) -> Iterator[str]:
    """Yield the help of a command, and of the commands in a group."""
    context = click.Context(command, info_name=name, parent=outer, terminal_width=WIDTH)
    yield _fenced("text", command.get_help(context))
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            subcommand = command.get_command(context, inner)
            if subcommand is not None:
                yield f"### naively {name} {inner}"
                yield from _help(subcommand, inner, context)


def names() -> str:
    """Return every public name with its signature, its docstring and, for a class, its public members."""
    grouped = {name for group in GROUPS.values() for name in group}
    rest = tuple(name for name in naively.__all__ if name not in grouped and isinstance(getattr(naively, name), type))
    problems = tuple(name for name in rest if issubclass(getattr(naively, name), (Warning, Exception)))
    others = tuple(name for name in naively.__all__ if name not in grouped and name not in problems)
    groups = {**GROUPS, **({"More": others} if others else {}), "Errors and warnings": problems}
    parts: list[str] = []
    for title, group in groups.items():
        parts.append(f"## {title}")
        for name in group:
            parts += _entry(f"naively.{name}", getattr(naively, name), "###")
    parts += ["## Pictures", as_markdown(inspect.getdoc(plot) or "")]
    for name in plot.__all__:
        parts += _entry(f"naively.plot.{name}", getattr(plot, name), "###")
    parts.append("## Values that these return")
    for path in RETURNED:
        module, _, name = path.rpartition(".")
        parts += _entry(f"naively.{path}", getattr(importlib.import_module(f"naively.{module}"), name), "###")
    return "\n\n".join(parts)


def _entry(name: str, member: Any, level: str) -> Iterator[str]:
    yield f"{level} {name}"
    yield _fenced("python", _signature(name.rpartition(".")[2], member))
    yield as_markdown(inspect.getdoc(member) or "")
    if inspect.isclass(member) and not issubclass(member, Exception):
        yield from _members(member)


def _members(owner: type) -> Iterator[str]:
    """Yield the public methods and properties that the package defines; those of a family are described in `Family`."""
    is_family = issubclass(owner, naively.Family) and owner is not naively.Family
    for name in () if is_family else dict.fromkeys(n for part in _classes_of_package(owner) for n in vars(part)):
        member = inspect.getattr_static(owner, name)
        if name.startswith("_") or not inspect.getdoc(getattr(owner, name, None)):
            continue
        full_name = f"{owner.__name__}.{name}"
        if isinstance(member, (property, functools.cached_property)):
            signature = full_name
        elif isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
            signature = _signature(full_name, getattr(owner, name))
        else:
            continue
        yield from (f"#### {full_name}", _fenced("python", signature), as_markdown(inspect.getdoc(member) or ""))


def _classes_of_package(owner: type) -> list[type]:
    return [part for part in owner.__mro__ if part.__module__.startswith("naively")]


def _signature(name: str, member: Any) -> str:
    """Return the signature as it is written in the source, with one parameter per line if it is long."""
    if inspect.isclass(member) and issubclass(member, Exception):
        return f"class {name}({member.__mro__[1].__name__})"
    try:
        signature = inspect.signature(member)
    except ValueError:
        return name
    shown = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    parameters = [_parameter(p) for p in shown]
    keyword_only = [i for i, p in enumerate(shown) if p.kind is p.KEYWORD_ONLY]
    if keyword_only and not any(p.kind is p.VAR_POSITIONAL for p in shown):
        parameters.insert(keyword_only[0], "*")
    result = signature.return_annotation
    arrow = "" if result in (signature.empty, "None", None) else f" -> {result}"
    line = f"{name}({', '.join(parameters)}){arrow}"
    return line if len(line) <= WIDTH else "\n".join([f"{name}(", *(f"    {p}," for p in parameters), f"){arrow}"])


def _parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter as it is written; annotations are strings and need no quotes."""
    stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
    has_type = parameter.annotation is not parameter.empty
    default = "" if parameter.default is parameter.empty else f"{' = ' if has_type else '='}{parameter.default!r}"
    return f"{stars}{parameter.name}{f': {parameter.annotation}' if has_type else ''}{default}"


def as_markdown(docstring: str) -> str:
    """Convert a docstring to Markdown: examples and equations become blocks, numpydoc sections become lists."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", docstring):
        section = re.match(r"([A-Z]\w+)\n-{3,}\n", paragraph)
        if section:
            parts += [f"**{section[1]}**", _section(paragraph[section.end() :])]
        elif paragraph.startswith(">>>"):
            parts.append(_fenced("python", paragraph))
        elif paragraph.startswith("    "):
            parts.append(_fenced("text", textwrap.dedent(paragraph)))
        else:
            parts.append(paragraph)
    return "\n\n".join(parts)


def _section(text: str) -> str:
    """Convert names and their indented descriptions to a list; leave prose and examples as they are.

    >>> _section("X\\n    The rows.\\ny : array\\n    The labels.")
    '- `X`: The rows.\\n- `y` (array): The labels.'
    """
    if text.startswith(">>>"):
        return _fenced("python", text)
    items = re.findall(r"^(\S[^\n]*)\n((?: {4}[^\n]*(?:\n|$))+)", text, flags=re.M)
    if not items:
        return text
    lines = []
    for head, body in items:
        name, _, type_ = head.partition(" : ")
        lines.append(f"- `{name}`{f' ({type_})' if type_ else ''}: {' '.join(body.split())}")
    return "\n".join(lines)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"
