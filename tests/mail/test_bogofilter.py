"""`naively-bogofilter`: the options, headers and exit codes of bogofilter."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.mails import make_mail, make_mails

from naively.cli import bogofilter
from naively.mail import MailModel, read
from naively.mail.lines import with_headers

PROGRAM = [sys.executable, "-c", "from naively.cli.bogofilter import main; main()"]


@pytest.fixture
def folder(model_path: Path) -> str:
    return str(model_path.parent)


def run(
    data: bytes, *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Run the program in this process; for all options but -p."""
    monkeypatch.setattr(sys, "argv", ["naively-bogofilter", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    mask = os.umask(0o077)
    try:
        with pytest.raises(SystemExit) as error:
            bogofilter.main()
    finally:
        os.umask(mask)
    output = capsys.readouterr()
    return int(error.value.code or 0), output.out + output.err


def test_pass_through(folder: str) -> None:
    mail = b"X-Bogosity: Ham, forged\n" + make_mail("spam", 1000)
    process = subprocess.run([*PROGRAM, "-p", "-d", folder], input=mail, capture_output=True, check=False)
    assert process.returncode == 0
    assert process.stdout.startswith(b"X-Bogosity: Spam, tests=naively, spamicity=")
    assert with_headers(process.stdout, [], ["X-Bogosity"]) == make_mail("spam", 1000)
    mail = make_mail("ham", 1000)
    codes = [
        subprocess.run([*PROGRAM, *o, "-d", folder], input=mail, capture_output=True).returncode
        for o in (["-p"], ["-pe"])
    ]
    assert codes == [1, 0]
    missing = subprocess.run([*PROGRAM, "-pe", "-d", "/nonexistent"], input=mail, capture_output=True, check=False)
    assert (missing.returncode, missing.stdout) == (0, mail)


def test_answers(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def ask(data: bytes, *arguments: str) -> tuple[int, str]:
        return run(data, *arguments, "-d", folder, monkeypatch=monkeypatch, capsys=capsys)

    spam, ham, unknown = make_mail("spam", 1000), make_mail("ham", 1000), b"Subject: x\n\nunknown\n"
    assert [ask(mail)[0] for mail in (spam, ham, unknown)] == [0, 1, 2]
    assert ask(spam, "-t")[1][:4] == "S 0." or ask(spam, "-t")[1] == "S 1.000000\n"
    assert ask(ham, "-T")[1].startswith("H ")
    assert ask(unknown, "-v")[1].startswith("X-Bogosity: Unsure, tests=naively, spamicity=0.")
    assert len(ask(spam, "-vv")[1].splitlines()) > 5
    assert ask(unknown, "-o", "0.0001,0")[0] == 0
    assert ask(unknown, "-o", "0.9999,0.9999")[0] == 1
    box = tmp_path / "box"
    box.write_bytes(b"".join(b"From a@b Mon Jan 1 00:00:00 2024\n" + mail + b"\n" for mail in (spam, ham)))
    assert [line[0] for line in ask(b"", "-M", "-t", "-I", str(box))[1].splitlines()] == ["S", "H"]
    names = []
    for name, mail in (("a", spam), ("b", ham)):
        (tmp_path / name).write_bytes(mail)
        names.append(str(tmp_path / name))
    bulk = ask("\n".join(names).encode(), "-b", "-t")
    assert [line.split()[:2] for line in bulk[1].splitlines()] == [[names[0], "S"], [names[1], "H"]]
    assert ask(b"", "-t", "-B", *names) == bulk
    assert bulk[0] == 1  # of the last mail
    assert ask(b"", "-B", *reversed(names))[0] == 0
    assert ask(ham, "-e")[0] == 0


def test_learning(folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    mail = make_mail("spam", 2000)

    def label_after(*arguments: str) -> tuple[str, str] | None:
        assert run(mail, *arguments, "-d", folder, monkeypatch=monkeypatch, capsys=capsys)[0] == 0
        with MailModel(Path(folder) / "mail.naively") as model:
            (position,) = model.positions([read(mail)])
            return None if position is None else (str(position.label), position.source)

    assert label_after("-N") is None
    assert label_after("-u") == ("spam", "automatic")
    assert label_after("-Sn") == ("ham", "naively-bogofilter")
    assert label_after("-S") == ("ham", "naively-bogofilter")
    assert label_after("-N") is None
    assert label_after("-s") == ("spam", "naively-bogofilter")


def test_a_new_model_is_made_by_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for flag, label in (("-s", "spam"), ("-n", "ham")):
        data = b"".join(b"From a@b Mon Jan 1 00:00:00 2024\n" + mail + b"\n" for mail in make_mails(label, 25))
        assert run(data, flag, "-M", "-d", str(tmp_path), monkeypatch=monkeypatch, capsys=capsys) == (0, "")
    spam = make_mail("spam", 1000)
    assert run(spam, "-d", str(tmp_path), monkeypatch=monkeypatch, capsys=capsys)[0] == 0


@pytest.mark.parametrize("arguments", [["-I", "none.eml"], ["-s", "-B", "none.eml"], ["-M", "-I", "none.eml"]])
def test_a_missing_file_is_named(
    arguments: list[str], folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = run(b"", *arguments, "-d", folder, monkeypatch=monkeypatch, capsys=capsys)
    assert code == 3
    assert output.startswith("naively-bogofilter: none.eml: ")
    assert "Errno" not in output


@pytest.mark.parametrize(
    "arguments",
    [
        ["-z"],
        ["--help"],
        ["-s", "-n"],
        ["file"],
        ["-o", "x"],
        ["-p", "-M"],
        ["-p", "-b"],
        ["a", "-p", "-B"],
        ["-u", "-S"],
    ],
)
def test_other_options_are_refused(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = run(b"", *arguments, monkeypatch=monkeypatch, capsys=capsys)
    assert code == 3
    assert arguments[-1].lstrip("-") in output
