"""`naively serve`: ask, explain, teach and watch models in a browser and over HTTP."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import click

from naively.cli import options

if TYPE_CHECKING:
    from naively.server import Limits, Token

PACKAGES = ("starlette", "uvicorn", "jinja2", "msgspec", "prometheus_client")


@click.command("serve", short_help="Serve models in a browser and over HTTP.")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on. Others need a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 is any free port.")
@click.option("--uds", metavar="PATH", help="Listen on a Unix socket instead.")
@click.option("--learn", is_flag=True, help="Let holders of a token add rows, forget rows and undo entries.")
@click.option("--pool", metavar="FILE", help="Rows to label; needs --learn.")
@click.option("--test", metavar="FILE", help="Rows with known classes to evaluate the models on.")
@click.option("--token-file", metavar="FILE", help="Lines of NAME read|learn SECRET. Default: one random token.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name of this server. Repeatable.")
@click.option(
    "--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="Allow pages of this origin. Repeatable."
)
@click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="Change a limit. Repeatable.")
@click.option("--log-requests", is_flag=True, help="Log method, path, status and time of each request.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.option("--demo", is_flag=True, help="Serve two small models made from data in the package.")
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    uds: str | None,
    learn: bool,
    pool: str | None,
    test: str | None,
    token_file: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    limits: tuple[str, ...],
    log_requests: bool,
    open_browser: bool,
    demo: bool,
) -> None:
    """Serve MODELs: pages for people, the Open Inference Protocol (V2) for programs. Needs "naively[serve]".

    The name of a model is its file name without the ending. Changes of the files by other processes are taken up within
    a second. Limits: body_bytes, rows, explained_rows, cell_bytes, file_bytes, line_bytes, seconds, connections, files.

    \b
    naively serve income.naively spam.naively            # read only, on this machine
    naively serve spam.naively --learn --pool new.csv    # correct, label, undo
    naively serve --demo --open
    """
    if not models and not demo:
        raise click.UsageError("give a MODEL, or --demo.")
    if pool is not None and not learn:
        raise click.UsageError("--pool needs --learn.")
    try:
        from naively.server.application import app
        from naively.server.run import listen, listen_unix, run
        from naively.server.security import host_names, is_loopback
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        click.echo('naively: `naively serve` needs more packages: pip install "naively[serve]".', err=True)
        sys.exit(2)
    if log_requests:
        _log_requests()
    with ExitStack() as stack:
        if demo:
            from naively.demos.serve import save_models

            models = (*models, *save_models(stack))
        needs_token = (uds is None and not is_loopback(host)) or token_file is not None
        tokens = _tokens(token_file, learn, needs_token)
        names, any_address = host_names(host, hosts)
        settings = _limits(limits)
        application = app(
            models,
            learn=learn,
            pool=pool,
            test=test,
            tokens=tokens,
            read_needs_token=needs_token,
            hosts=names,
            any_address=any_address,
            origins=origins,
            limits=settings,
        )
        listener = stack.enter_context(listen(host, port) if uds is None else listen_unix(uds))
        link = uds or _address(host, listener.getsockname()[1])
        if tokens and token_file is None:
            link = f"{link}/?token={tokens[0].secret}"

        def report() -> None:
            click.echo(link)
            sys.stdout.flush()
            if open_browser and uds is None:
                click.launch(link)

        run(application, listener, settings, report)


def _log_requests() -> None:
    import logging

    logging.basicConfig(format="%(asctime)s %(message)s")
    logging.getLogger("naively.server").setLevel(logging.INFO)


def _address(host: str, port: int) -> str:
    """Return the address of the server, as a browser writes it."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def _tokens(path: str | None, learn: bool, needs_token: bool) -> list[Token]:
    """Return the tokens of a file, or a new one if any is needed."""
    from getpass import getuser

    from naively.server.security import Token, read_tokens

    if path is not None:
        tokens = read_tokens(path)
        if learn and not any(token.may_learn for token in tokens):
            raise click.UsageError(f"--learn: no token of {path} may learn.")
        return tokens
    if not learn and not needs_token:
        return []
    try:
        name = getuser()
    except (OSError, KeyError):  # a user without a name
        name = "server"
    return [Token.new(name, learn)]


def _limits(pairs: tuple[str, ...]) -> Limits:
    """Return the limits with those that are given as NAME=VALUE."""
    from naively.server.limits import Limits

    limits = Limits()
    types = {field.name: type(getattr(limits, field.name)) for field in fields(Limits)}
    for pair in pairs:
        name, value = options.parse_pair("--limit", pair)
        try:
            number = types[name](value)
        except (KeyError, ValueError):
            raise click.UsageError(f"--limit {pair}: give one of {', '.join(types)} and a number.") from None
        if not number > 0:
            raise click.UsageError(f"--limit {pair}: must be above 0.")
        limits = replace(limits, **{name: number})
    return limits
