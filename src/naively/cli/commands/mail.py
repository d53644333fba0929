"""`naively mail`: a mail filter that gives its reasons, unlearns exactly and never loses a mail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from naively.cli import options
from naively.data.names import counted

if TYPE_CHECKING:
    from naively.mail.filter import Filtered
    from naively.mail.folders import Learnt
    from naively.mail.model import Answer, MailModel
    from naively.mail.sources import StoredMail
    from naively.store.keyed import Taught

BATCH_MAILS = 500
MODEL_VARIABLE = "NAIVELY_MAIL"
ERROR_CODE = 3  # 1 and 2 are answers: not spam, unsure


def default_model() -> Path:
    """Return the model file that is used unless another is named: NAIVELY_MAIL, or one in the user's data folder."""
    given = os.environ.get(MODEL_VARIABLE)
    if given:
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "naively" / "mail.naively"


def socket_of(model: str | Path) -> str:
    """Return the socket on which the server of a model listens unless another is named."""
    return f"{model}.sock"


class MailCommands(click.Group):
    """The commands of `naively mail`. A wrong option ends with code 3, and `filter` passes the mail through first."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        os.umask(0o077)  # models, samples and sockets are for their owner only
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "selectolax":
                raise
            click.echo('naively: `naively mail` needs one more package: pip install "naively[mail]".', err=True)
            sys.exit(ERROR_CODE)
        except click.UsageError as error:
            if ctx.invoked_subcommand == "filter":
                _pass_through(error.format_message())
            error.show()
            sys.exit(ERROR_CODE)


def _pass_through(message: str) -> NoReturn:
    from naively.mail.filter import run_filter

    def refuse(data: bytes) -> Filtered:
        raise click.UsageError(message)

    run_filter(refuse, always_zero=False, program="naively mail filter")


model_option = click.option(
    "-m", "--model", metavar="FILE", help=f"Model file. Default: ${MODEL_VARIABLE}, or one in the user's data folder."
)
sources_argument = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")


@click.group("mail", cls=MailCommands, short_help="Filter mail: learn, check, filter, watch, serve.")
def command() -> None:
    """Filter mail. A SOURCE is a Maildir, an mbox, an MH folder, a mail, a folder of mails, or - (standard input).

    \b
    naively mail learn spam ~/Maildir/.Junk
    naively mail learn ham ~/Maildir
    naively mail check new.eml

    Exit codes of check and filter: 0 spam, 1 another class, 2 unsure, 3 error. Needs "naively[mail]".
    """


def _open(model: str | None) -> MailModel:
    from naively.mail.model import MailModel

    return MailModel(default_model() if model is None else model)


def _batches(sources: tuple[str, ...]) -> Iterator[list[StoredMail]]:
    from naively.mail.sources import mails_in

    batch = []
    for mail in mails_in(sources):
        batch.append(mail)
        if len(batch) == BATCH_MAILS:
            yield batch
            batch = []
    if batch:
        yield batch


@command.command("learn", short_help="Learn mails as a class.")
@click.argument("label", metavar="CLASS")
@sources_argument
@model_option
@options.comment
@options.as_json
def learn(label: str, sources: tuple[str, ...], model: str | None, comment: str, as_json: bool) -> None:
    """Learn the mails of each SOURCE as CLASS, such as spam or ham.

    Each SOURCE is one entry of the log, which `naively undo` can undo. A mail that was learnt as CLASS before is not
    counted again; one that was learnt as another class is moved.
    """
    from naively.mail.reader import read
    from naively.mail.sources import mails_in

    results = []
    with _open(model) as mail_model:
        for source in sources:
            mails = [read(stored.data) for stored in mails_in([source])]
            taught = mail_model.learn(mails, label, source=source, comment=comment)
            results.append((source, taught))
            if not as_json:
                click.echo(_describe_learnt(label, source, taught))
    if as_json:
        _print_taught(results)


def _describe_learnt(label: str, source: str, taught: Taught) -> str:
    parts = [f"{taught.n_new:,} new"]
    parts += [f"{taught.n_known:,} known already"] if taught.n_known else []
    parts += [f"{taught.n_moved:,} moved from another class"] if taught.n_moved else []
    ids = f"  {' '.join(entry.id[:8] for entry in taught.entries)}" if taught.entries else ""
    return f"{label}: {', '.join(parts)}  {source}{ids}"


def _print_taught(results: list[tuple[str, Taught]]) -> None:
    from naively.cli.output import print_json

    print_json([
        {"source": source, **taught._asdict(), "entries": [entry.id for entry in taught.entries]}
        for source, taught in results
    ])  # fmt: skip


@command.command("forget", short_help="Unlearn mails.")
@sources_argument
@model_option
@options.comment
@options.as_json
def forget(sources: tuple[str, ...], model: str | None, comment: str, as_json: bool) -> None:
    """Unlearn the mails of each SOURCE, under whatever class they were learnt. Mails that were not are left alone."""
    from naively.mail.reader import read
    from naively.mail.sources import mails_in

    results = []
    with _open(model) as mail_model:
        for source in sources:
            mails = [read(stored.data) for stored in mails_in([source])]
            taught = mail_model.forget(mails, comment=comment)
            results.append((source, taught))
            if not as_json:
                unknown = f", {taught.n_unknown:,} never learnt" if taught.n_unknown else ""
                click.echo(f"{taught.n_forgotten:,} forgotten{unknown}  {source}")
    if as_json:
        _print_taught(results)
    if not any(taught.n_forgotten for _, taught in results):
        sys.exit(ERROR_CODE)


@command.command("check", short_help="Answer for mails.")
@sources_argument
@model_option
@options.as_json
def check(sources: tuple[str, ...], model: str | None, as_json: bool) -> None:
    """Print the class of each mail, or unsure, and the probability of spam.

    The exit code is that of the mail if there is one: 0 spam, 1 another class, 2 unsure, 3 error. Of several, it is 0;
    without any, it is 3.
    """
    from naively.cli.output import print_json
    from naively.errors import InputError
    from naively.mail.filter import code_of
    from naively.mail.reader import read

    names: list[str] = []
    results: list[dict[str, object]] = []
    with _open(model) as mail_model:
        for batch in _batches(sources):
            for stored, answer in zip(batch, mail_model.answers([read(m.data) for m in batch]), strict=True):
                names.append(answer.name)
                if as_json:
                    results.append(_answer_json(stored.name, answer))
                else:
                    click.echo(f"{answer.name:<8} {answer.probability:.4f}  {stored.name}")
    if as_json:
        print_json(results)
    if not names:
        raise InputError(f"{' '.join(sources)}: there is no mail.")  # code 0 would say that it is spam
    sys.exit(code_of(names[0]) if len(names) == 1 else 0)


def _answer_json(name: str, answer: Answer) -> dict[str, object]:
    return {"mail": name, "class": answer.name, "probability": answer.probability, "posterior": answer.posterior}


@command.command("explain", short_help="Show why a mail has its class.")
@sources_argument
@model_option
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Number of words to show.")
@options.as_json
def explain(sources: tuple[str, ...], model: str | None, top: int, as_json: bool) -> None:
    """Show the words and pairs of words that speak for spam, and those that speak against it."""
    from naively.cli.output import print_json
    from naively.mail.reader import read
    from naively.mail.sources import mails_in

    with _open(model) as mail_model:
        explanations = []
        for stored in mails_in(sources):
            explanation = mail_model.explain(read(stored.data), top)
            if as_json:
                explanations.append({"mail": stored.name, **explanation.to_dict()})
            else:
                click.echo(f"{stored.name}\n{explanation}\n")
    if as_json:
        print_json(explanations)


@command.command("filter", short_help="Add our header to a mail, from standard input to standard output.")
@model_option
@click.option("-e", "always_zero", is_flag=True, help="Exit with code 0 for every class, and if anything goes wrong.")
@click.option("-u", "learn_sure", is_flag=True, help="Learn a sure answer (p ≥ 0.99), as source “automatic”.")
@click.option("--spamassassin", is_flag=True, help="Add X-Spam-Flag and X-Spam-Status as well.")
@click.option(
    "--timeout", type=click.FloatRange(0.1), default=20.0, show_default=True, help="Seconds until it passes unchanged."
)
def filter_command(model: str | None, always_zero: bool, learn_sure: bool, spamassassin: bool, timeout: float) -> None:
    """Read one mail, and write it with the header X-Naively. If anything goes wrong, the mail is written unchanged.

    If `naively mail serve` runs for the model, on its default socket, it answers: that is much faster.

    Exit codes: 0 spam, 1 another class, 2 unsure, 3 error (the mail is unchanged), 75 if it could not be written.
    """
    from naively.mail.filter import answer_of_server, run_filter

    file = str(default_model() if model is None else model)

    def work(data: bytes) -> Filtered:
        from naively.mail.service import filter_mail

        with _open(file) as mail_model:
            return filter_mail(mail_model, data, spamassassin=spamassassin, learn=learn_sure)

    def ask(data: bytes, seconds: float) -> Filtered:
        options = {"model": os.path.abspath(file), "spamassassin": spamassassin, "learn": learn_sure}
        return answer_of_server(socket_of(file), options, data, seconds)

    run_filter(work, always_zero=always_zero, program="naively mail filter", timeout=timeout, ask=ask)


@command.command("serve", short_help="Serve spamc: the protocol of spamd on a Unix socket.")
@model_option
@click.option("--socket", "path", metavar="PATH", help="Socket to listen on. Default: MODEL.sock.")
@click.option("--users", metavar="FOLDER", help="Folder with a model for each user, NAME.naively.")
@click.option("-u", "learn_sure", is_flag=True, help="Learn sure answers (p ≥ 0.99), as source “automatic”.")
@click.option("--spamassassin/--no-spamassassin", default=True, show_default=True, help="Add X-Spam-… headers.")
def serve(model: str | None, path: str | None, users: str | None, learn_sure: bool, spamassassin: bool) -> None:
    """Answer spamc and other clients of SpamAssassin. Only the owner of the process can open the socket.

    \b
    naively mail serve --socket ~/.spamd.sock &
    spamc -U ~/.spamd.sock < new.eml
    """
    import asyncio

    from naively.errors import InputError
    from naively.mail.spamd import Models, Server, run

    file = default_model() if model is None else Path(model)
    if users is not None and not Path(users).is_dir():
        raise InputError(f"{users}: there is no such folder.")
    socket_path = Path(socket_of(file) if path is None else path)
    server = Server(Models(file, None if users is None else Path(users)), spamassassin, learn_sure)

    def ready() -> None:
        click.echo(socket_path)
        sys.stdout.flush()

    asyncio.run(run(server, socket_path, ready))


@command.command("watch", short_help="Learn from what people move in a Maildir.")
@click.argument("maildir", type=click.Path(path_type=Path))
@model_option
@click.option("--junk", multiple=True, metavar="FOLDER", help="Folder with spam. Default: Junk, Spam. Repeatable.")
@click.option("--trash", multiple=True, metavar="FOLDER", help="Folder that says nothing. Default: Trash. Repeatable.")
@click.option("--once", is_flag=True, help="Look once, and end.")
@click.option("--seconds", type=click.FloatRange(0.1), default=5.0, show_default=True, help="Time between two looks.")
def watch(
    maildir: Path, model: str | None, junk: tuple[str, ...], trash: tuple[str, ...], once: bool, seconds: float
) -> None:
    """Watch MAILDIR: into Junk is spam, out of Junk is ham, into Trash is nothing.

    What is there at the first look is not learnt: use `naively mail learn` for it.
    """
    from naively.mail.folders import Watcher

    with _open(model) as mail_model:
        watcher = Watcher(mail_model, maildir, junk=junk, trash=trash)
        if once:
            for learnt in watcher.scan():
                _print_learnt(learnt)
        else:
            watcher.watch(_print_learnt, seconds)


def _print_learnt(learnt: Learnt) -> None:
    click.echo(_describe_learnt(learnt.label, "", learnt.taught))
    sys.stdout.flush()


@command.command("sort", short_help="Move mails of a Maildir into the folders of their classes.")
@click.argument("maildir", type=click.Path(path_type=Path))
@model_option
@click.option("--folder", "folders", multiple=True, metavar="CLASS=FOLDER", help="Folder of a class. Repeatable.")
@click.option("--go", is_flag=True, help="Move them; else they are only shown.")
@click.option("--back", is_flag=True, help="Move the mails of the last sort back.")
def sort(maildir: Path, model: str | None, folders: tuple[str, ...], go: bool, back: bool) -> None:
    """Show which mails of the inbox of MAILDIR have the class of a folder with p ≥ 0.95, and move them with --go.

    Folders are classes: a mail of class work goes to the folder work. Spam goes to Junk.
    """
    from naively.mail.folders import move_all, move_back, plan_sort

    with _open(model) as mail_model:
        if back:
            click.echo(f"{counted(move_back(mail_model.path), 'mail', 'mails')} moved back")
            return
        pairs = dict(options.parse_pair("--folder", item) for item in folders)
        moves = plan_sort(mail_model, maildir, pairs)
        for move in moves:
            label = move.answer.name
            click.echo(f"{label:<8} {move.answer.posterior[label]:.4f}  {move.source.name} → {move.folder.name}")
        if go:
            click.echo(f"{counted(move_all(mail_model.path, moves), 'mail', 'mails')} moved")
        else:
            click.echo(f"{counted(len(moves), 'mail', 'mails')} to move: nothing was moved without --go")
