"""`naively show`: what a model knows."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["command"]


@click.command("show", short_help="Tell what a model knows.")
@click.argument("model")
@click.argument("column", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(model: str, column: str | None, as_json: bool) -> None:
    """Tell the classes and columns of MODEL, or what it knows of one COLUMN.

    \b
    naively show income.naively
    naively show income.naively age
    naively show income.naively age --json
    """
    import json

    import naively
    from naively.cli.describe import aligned, column_data, columns_of, model_data, quality_of, tuning_of

    loaded = naively.load(model)
    data = model_data(loaded) if column is None else column_data(loaded, column)
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
        return
    if column is not None:
        click.echo(f"{data['column']}  {data['family']}")
        for found in data["classes"]:
            click.echo(f"\n{found.pop('class')}")
            for name, value in found.items():
                click.echo(f"  {name}  {_short(value)}")
        return
    rows = [("class", "prior", "rows", "weight")]
    for found in data["classes"]:
        rows.append((str(found["class"]), f"{found['prior']:.6g}", f"{found['rows']:,}", f"{found['weight']:,.10g}"))
    lines = [f"predicts {data['target']!r}", "", *aligned(rows), "", *columns_of(loaded)]
    click.echo("\n".join([*lines, *tuning_of(loaded), *quality_of(loaded)]))


def _short(value: Any) -> str:
    if not isinstance(value, list):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    most = sorted(value, key=lambda pair: -pair[1])[:20]
    more = f", … {len(value) - 20} more" if len(value) > 20 else ""
    return ", ".join(f"{name} {count:.10g}" for name, count in most) + more
