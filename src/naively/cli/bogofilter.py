"""`naively-bogofilter`: the mail filter with the options, headers and exit codes of bogofilter.

    naively-bogofilter -p -e < mail         pass the mail through with X-Bogosity
    naively-bogofilter -s < mail            learn as spam; -n as ham; -Ns and -Sn correct a mistake

Exit codes: 0 spam, 1 ham, 2 unsure, 3 error; of several mails, that of the last one. Options that are not known here
are refused by name, and so is -p for more than one mail.
"""

from __future__ import annotations

import getopt
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.mail.filter import Filtered
    from naively.mail.model import Answer, MailModel
    from naively.mail.reader import Mail

PROGRAM = "naively-bogofilter"
FLAGS = "peSNsnuMbBtTvI:O:d:lo:"
EXCLUSIVE = ("sn", "sS", "nN", "SN", "us", "un", "uS", "uN", "pM", "pb", "pB")  # as in bogofilter, but for -p
ERROR_CODE = 3
HEADER = "X-Bogosity"


@dataclass(frozen=True)
class Settings:
    """The options of one call."""

    flags: frozenset[str]
    n_verbose: int
    values: dict[str, str]
    names: tuple[str, ...]

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags

    @property
    def model(self) -> Path:
        """The model file: in the folder of -d or BOGOFILTER_DIR, else the one of `naively mail`."""
        from naively.cli.commands.mail import default_model

        folder = self.values.get("d") or os.environ.get("BOGOFILTER_DIR")
        return default_model() if folder is None else Path(folder) / "mail.naively"


class OptionError(Exception):
    """An option that is wrong."""


def parse(arguments: Sequence[str]) -> Settings:
    """Return the options; OptionError names one that is not known."""
    try:
        pairs, names = getopt.gnu_getopt(list(arguments), FLAGS)
    except getopt.GetoptError as error:
        raise OptionError(f"{error}: {PROGRAM} knows -{' -'.join(FLAGS.replace(':', ''))}.") from None
    values = {flag[1]: value for flag, value in pairs if value}
    flags = frozenset(flag[1] for flag, _ in pairs)
    settings = Settings(flags, sum(flag == "-v" for flag, _ in pairs), values, tuple(names))
    for pair in EXCLUSIVE:
        if set(pair) <= flags:
            raise OptionError(f"-{pair[0]} cannot be given with -{pair[1]}.")
    if names and "B" not in flags:
        raise OptionError(f"{names[0]}: names of files are given with -B, or on standard input with -b.")
    if "o" in values:
        _cutoffs(values["o"])
    return settings


def _cutoffs(text: str) -> tuple[float | None, float | None]:
    """Return the cutoffs for spam and for ham; either may be left out."""
    try:
        numbers = [float(part) if part.strip() else None for part in text.split(",")]
        if len(numbers) > 2 or any(number is not None and not 0 <= number <= 1 for number in numbers):
            raise ValueError
    except ValueError:
        raise OptionError(f"-o {text}: give one or two probabilities, as in -o 0.99,0.45.") from None
    return numbers[0], numbers[1] if len(numbers) == 2 else None


def main() -> None:
    """Run the program."""
    os.umask(0o077)
    try:
        settings = parse(sys.argv[1:])
    except OptionError as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
        sys.exit(ERROR_CODE)
    if "p" in settings:
        _pass_through(settings)
    try:
        sys.exit(_run(settings))
    except OSError as error:
        sys.stderr.write(f"{PROGRAM}: {error.filename or 'input'}: {error.strerror}.\n")
        sys.exit(ERROR_CODE)
    except Exception as error:
        sys.stderr.write(f"{PROGRAM}: {str(error) or type(error).__name__}\n")
        sys.exit(ERROR_CODE)


def _pass_through(settings: Settings) -> None:
    """Filter one mail from the input to the output, and end the process."""
    from naively.mail.filter import TEMPORARY_FAILURE, run_filter

    try:
        if "I" in settings.values:
            os.dup2(os.open(settings.values["I"], os.O_RDONLY), 0)
        if "O" in settings.values:
            os.dup2(os.open(settings.values["O"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    except OSError as error:
        sys.stderr.write(f"{PROGRAM}: {error.filename}: {error.strerror}.\n")
        sys.exit(TEMPORARY_FAILURE)

    def work(data: bytes) -> Filtered:
        from naively.mail.filter import Filtered, code_of
        from naively.mail.model import MailModel
        from naively.mail.reader import read

        mail = read(data)
        with MailModel(settings.model) as model:
            answer = _answer(settings, model, mail)
            _teach(settings, model, [mail], [answer])
            headers = [(HEADER, _bogosity(answer))]
            if settings.n_verbose > 1:
                headers.append(("X-Naively", "; ".join(map(str, model.reasons(mail)))))
        _log(settings, answer)
        return Filtered(code_of(answer.name), headers, [HEADER, "X-Naively"])

    run_filter(work, always_zero="e" in settings, program=PROGRAM)


def _run(settings: Settings) -> int:
    """Learn, unlearn or classify the mails of the input; return the exit code."""
    from naively.mail.filter import code_of
    from naively.mail.model import MailModel
    from naively.mail.reader import read

    names, mails = [], []
    for name, data in _input(settings):
        names.append(name)
        mails.append(read(data))
    is_teaching = bool(settings.flags & set("snSN"))
    with MailModel(settings.model) as model:
        if is_teaching:
            _teach(settings, model, mails, [])
            return 0
        answers = [_answer(settings, model, mail) for mail in mails]
        _teach(settings, model, mails, answers)
        for name, mail, answer in zip(names, mails, answers, strict=True):
            _print(settings, name, answer, model, mail)
            _log(settings, answer)
    return code_of(answers[-1].name) if answers and "e" not in settings else 0


def _input(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield the mails to read, with their names if several files are read."""
    from naively.mail.sources import mails_in

    if settings.flags & set("bB"):
        listed: Iterable[str] = (line.rstrip("\n") for line in sys.stdin) if "b" in settings else settings.names
        for name in listed:
            for stored in mails_in([name]):
                yield stored.name, stored.data
        return
    source = settings.values.get("I", "-")
    if "M" in settings:
        yield from (("", stored.data) for stored in mails_in([source]))
        return
    data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    yield "", data


def _answer(settings: Settings, model: MailModel, mail: Mail) -> Answer:
    """Return the answer for a mail, by the cutoffs of -o if they are given."""
    if settings.flags & set("sn") and not model.path.exists():
        from naively.mail.model import Answer

        return Answer(None, None, 0.0, 1.0, {}, 0)
    (answer,) = model.answers([mail])
    if "o" not in settings.values or answer.best is None:
        return answer
    spam, ham = _cutoffs(settings.values["o"])
    least = answer.threshold if spam is None else spam
    most = 1 - 0.9 if ham is None else ham or least  # a cutoff of 0 leaves no mail unsure, as in bogofilter
    label = "spam" if answer.probability >= least else "ham" if answer.probability <= most else None
    return replace(answer, label=label)


def _teach(settings: Settings, model: MailModel, mails: Sequence[Mail], answers: Sequence[Answer]) -> None:
    """Unlearn (-S, -N), learn (-s, -n), or learn what is sure (-u)."""
    unlearnt = {label for flag, label in (("S", "spam"), ("N", "ham")) if flag in settings}
    if unlearnt and model.path.exists():
        positions = model.positions(mails)
        pairs = zip(mails, positions, strict=True)
        model.forget([mail for mail, position in pairs if position is not None and position.label in unlearnt])
    for flag, label in (("s", "spam"), ("n", "ham")):
        if flag in settings:
            model.learn(mails, label, source=PROGRAM)
            return
    if "u" in settings:
        from naively.mail.service import learn_if_sure

        for mail, answer in zip(mails, answers, strict=True):
            learn_if_sure(model, mail, answer)


def _bogosity(answer: Answer) -> str:
    from importlib.metadata import version

    kind = {"spam": "Spam", None: "Unsure"}.get(answer.label, "Ham")
    return f"{kind}, tests=naively, spamicity={answer.probability:.6f}, version={version('naively')}"


def _print(settings: Settings, name: str, answer: Answer, model: MailModel, mail: Mail) -> None:
    """Print the answer for a mail, if any option asks for it."""
    letter = {"spam": "S", None: "U"}.get(answer.label, "H")
    if "T" in settings:
        text = f"{letter} {answer.probability:.6g}"
    elif "t" in settings:
        text = f"{letter} {answer.probability:.6f}"
    elif settings.n_verbose:
        text = f"{HEADER}: {_bogosity(answer)}"
        if settings.n_verbose > 1:
            text += "".join(f"\n  {reason}" for reason in model.reasons(mail, 20))
    else:
        return
    sys.stdout.write(f"{name} {text}\n" if name else f"{text}\n")


def _log(settings: Settings, answer: Answer) -> None:
    if "l" in settings:
        import syslog

        syslog.syslog(f"{PROGRAM}: {_bogosity(answer)}")
