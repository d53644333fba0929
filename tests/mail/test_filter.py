"""`naively mail filter` never loses a mail, and the other commands of `naively mail`."""

import functools
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.support.mails import make_mail, make_mails

from naively.cli.main import main
from naively.mail.filter import Filtered, _answer, answer_of_server
from naively.mail.header import NAME, SPAMASSASSIN_NAMES, header_of
from naively.mail.lines import with_headers
from naively.mail.model import Answer, Reason

FILTER = [sys.executable, "-m", "naively", "mail", "filter"]
ANSWER = Answer("spam", "spam", 0.9987, 0.97, {"spam": 0.9987, "ham": 0.0013}, 341)


def run(data: bytes, *arguments: str, limit: Callable[[], None] | None = None) -> tuple[int, bytes, bytes]:
    process = subprocess.run([*FILTER, *arguments], input=data, capture_output=True, check=False, preexec_fn=limit)
    return process.returncode, process.stdout, process.stderr


def without_ours(data: bytes) -> bytes:
    return with_headers(data, [], [NAME])


def test_the_header_and_the_exit_code(model_path: Path) -> None:
    mail = make_mail("spam", 1000)
    code, output, errors = run(mail, "-m", str(model_path))
    assert (code, errors) == (0, b"")
    assert output.startswith(b"X-Naively: spam, p=")
    assert b"entry 3" in output.replace(b"\n ", b" ").partition(b"\n")[0]
    assert without_ours(output) == mail
    assert run(make_mail("ham", 1000), "-m", str(model_path))[0] == 1
    assert run(b"Subject: x\n\nunknown\n", "-m", str(model_path))[0] == 2
    assert run(make_mail("ham", 1000), "-e", "-m", str(model_path))[0] == 0


FILTERED = Filtered(1, [("X-Naively", "ham")], ["X-Naively"])
WRONG_RESPONSES = {
    "nothing": b"",
    "half of the headers": b"SPAMD/1.5 0 EX_OK\r\nContent-le",
    "an error": b"SPAMD/1.5 70 EX_SOFTWARE\r\nError: locked\r\n",
    "an error with a body": b'SPAMD/1.5 70 EX_SOFTWARE\r\n\r\n{"code": 0, "headers": [], "names": []}',
    "another protocol": b"HTTP/1.0 200 OK\r\n\r\n{}",
    "no JSON": b"SPAMD/1.5 0 EX_OK\r\n\r\nhello",
    "other JSON": b"SPAMD/1.5 0 EX_OK\r\n\r\n[1]",
    "a part of the result": b'SPAMD/1.5 0 EX_OK\r\n\r\n{"code": 0, "headers": [["X-Na',
    "wrong headers": b'SPAMD/1.5 0 EX_OK\r\n\r\n{"code": 0, "headers": [1], "names": []}',
    "too much": b"SPAMD/1.5 0 EX_OK\r\n\r\n" + b" " * 2_000_000,
}


@pytest.mark.parametrize("name", [*WRONG_RESPONSES, "no answer", "no server", "no socket"])
def test_a_child_answers_if_the_server_does_not(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # with a short name: that of a socket is limited
        path = Path(folder, "m.sock")
        mail = b"Subject: x\n\n" + b"y" * 1_000_000
        with socket.socket(socket.AF_UNIX) as listener:
            if name == "no socket":
                path.touch()
            elif name != "no server":
                listener.bind(str(path))
                listener.listen()

            def respond() -> None:
                with suppress(OSError):
                    connection, _ = listener.accept()
                    with connection:
                        if name == "no answer":
                            time.sleep(2)
                        connection.sendall(WRONG_RESPONSES.get(name, b""))

            thread = threading.Thread(target=respond)
            if path.is_socket():
                thread.start()
            ask = functools.partial(answer_of_server, str(path), {})
            assert _answer(lambda data: FILTERED, ask, mail, 2.0 if name == "no answer" else 20.0) == FILTERED
            if path.is_socket():
                thread.join()


def test_the_command_asks_the_server_of_its_model(model_path: Path) -> None:
    mail = make_mail("spam", 1000)
    alone = run(mail, "-m", str(model_path))
    serve = [*FILTER[:-1], "serve", "-m", model_path.name]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, cwd=model_path.parent) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            assert Path(f"{model_path}.sock").is_socket()
            assert run(mail, "-m", str(model_path)) == alone
            model_path.rename(model_path.with_suffix(".moved"))  # neither has a model now
            assert run(mail, "-m", str(model_path))[:2] == (3, mail)
        finally:
            server.terminate()


EVERY_BYTE = bytes(range(256))
ODD_MAILS = {
    "every byte": b"Subject: x\n\n" + EVERY_BYTE * 3,
    "every byte in the headers": b"Subject: " + EVERY_BYTE.replace(b"\n", b"").replace(b"\r", b"") + b"\n\nx",
    "carriage returns": b"Subject: x\r\rbody\rmore\r",
    "CRLF": b"Subject: x\r\n\r\nbody\r\n",
    "mixed": b"Subject: x\r\nTo: y\n\r\nbody\r\n\n\r",
    "no final line end": b"Subject: x\n\nbody",
    "no headers": b"\nbody\n",
    "no body": b"Subject: x\n",
    "text": b"hello world",
    "mbox": b"From a@b Mon Jan 1 00:00:00 2024\nSubject: x\n\n>From here\n",
    "a blank and a CR at the start": b" x\rTo: y\nSubject: z\n\nbody",
    "a postmark with a CR": b"From a@b Mon\r Jan 1 00:00:00 2024\n x\rTo: y\nSubject: z\n\nbody",
    "empty": b"",
}


PIECES = [
    b"\r",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b"From ",
    b">From ",
    b"X-Naively: ham",
    b"X-Naively",
    b":",
    b"To: x",
    b"y",
]


@pytest.mark.parametrize("name", ODD_MAILS)
@pytest.mark.parametrize("line", [header_of(ANSWER, [Reason("subject: cheap", 2.1)])])
def test_nothing_but_our_header_changes(name: str, line: str) -> None:
    mail = ODD_MAILS[name]
    output = with_headers(mail, [(NAME, line)], [NAME])
    assert len(output) > len(mail)
    assert without_ours(output) == mail
    assert output.startswith(b"X-Naively: ") or b"\nX-Naively: " in output


@given(st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
def test_any_bytes_come_back_when_our_header_is_removed(data: bytes) -> None:
    clean = without_ours(data)
    assert without_ours(clean) == clean
    assert without_ours(with_headers(clean, [(NAME, "spam, p=1.0")], [NAME])) == clean


def test_forged_headers_are_removed() -> None:
    mail = b"x-naively : ham,\n\tp=0\nSubject: x\nX-Spam-Flag: NO\nX-Naively: ham\n\nX-Naively: in the body\n"
    output = with_headers(mail, [(NAME, "spam")], [NAME, *SPAMASSASSIN_NAMES])
    assert output == b"X-Naively: spam\nSubject: x\n\nX-Naively: in the body\n"


@pytest.mark.parametrize(
    ("mail", "clean"),
    [
        (b"Subject: a\r\rb\nX-Naively: ham\nTo: c\n\nbody\n", b"Subject: a\r\rb\nTo: c\n\nbody\n"),
        (b"Subject: a\rX-Naively: ham\nTo: c\n\nbody\n", b"Subject: a\nTo: c\n\nbody\n"),
        (b"A: 1\n\rb\nX-Naively: ham\n\nbody\n", b"A: 1\n\rb\n\nbody\n"),
        (b"X-Naively: a\rX-Naively: b\rA: 1\rX-Naively: c\r\rX-Naively: d", b"A: 1\r\rX-Naively: d"),
        (b"A: 1\r\r\nX-Naively: a\r\nX-Naively: b\r\n\r\nX-Naively: c", b"A: 1\r\r\n\r\nX-Naively: c"),
    ],
)
def test_forged_headers_are_removed_whether_or_not_cr_ends_a_line(mail: bytes, clean: bytes) -> None:
    assert with_headers(mail, [], [NAME]) == clean


def test_no_header_can_be_injected() -> None:
    line = header_of(ANSWER, [Reason("a\r\nX-Evil: 1\n\nbody\x00\u2028caf\xe9", 1.0)])
    output = with_headers(b"Subject: x\n\nbody\n", [(NAME, line)], [NAME])
    head = output.partition(b"\n\n")[0].split(b"\n")
    assert all(part.startswith((b"X-Naively:", b" ", b"Subject:")) for part in head)
    assert max(map(len, head)) <= 78


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[2000:6000] = b"\xff" * 4000
    path.write_bytes(data)


def from_the_future(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[60:64] = (99).to_bytes(4, "big")
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [Path.unlink, damaged, from_the_future, lambda path: path.write_bytes(b"")])
def test_a_mail_passes_unchanged_if_the_model_is_broken(model_path: Path, harm: Callable[[Path], None]) -> None:
    harm(model_path)
    mail = make_mail("spam", 1000)
    assert run(mail, "-e", "-m", str(model_path))[:2] == (0, mail)
    code, output, errors = run(mail, "-m", str(model_path))
    assert (code, output) == (3, mail)
    assert errors.endswith(b"The mail is unchanged.\n")


def test_a_mail_passes_unchanged_if_the_model_is_locked_or_memory_is_short(model_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    mail = make_mail("spam", 1000)
    with closing(sqlite3.connect(model_path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert run(mail, "--timeout", "1.5", "-m", str(model_path))[:2] == (3, mail)

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))

    assert run(mail, "-m", str(model_path), limit=little_memory)[:2] == (3, mail)


def test_a_wrong_option_passes_the_mail_unchanged() -> None:
    mail = make_mail("spam", 1000)
    assert run(mail, "--nonsense")[:2] == (3, mail)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is not there")
def test_an_output_that_cannot_be_written_is_code_75(model_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        arguments = [*FILTER, "-e", "-m", str(model_path)]
        process = subprocess.run(
            arguments, input=make_mail("spam", 1), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert process.returncode == 75
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(arguments, input=make_mail("spam", 1), stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert process.returncode == 75


PEAK = """
import os, re, subprocess, sys
filter = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(filter.pid, 0)
print(usage.ru_maxrss // 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_mail_of_100_megabytes(model_path: Path) -> None:
    """It comes out unchanged but for our header, and takes at most 300 MB; the peak is measured by a small parent."""
    mail = make_mail("spam", 1000) + b"\0" * 100_000_000
    command = [sys.executable, "-c", PEAK, *FILTER, "-m", str(model_path)]
    process = subprocess.run(command, input=mail, capture_output=True, check=False)
    assert process.returncode in (0, 2)
    assert without_ours(process.stdout) == mail
    assert int(process.stderr) <= 300


@pytest.fixture
def spam_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "spam"
    folder.mkdir()
    for number, mail in enumerate(make_mails("spam", 3, 400)):
        (folder / f"{number}.eml").write_bytes(mail)
    return folder


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["mail", *arguments])
    return result.exit_code, result.output


def test_learn_check_forget_and_undo(model_path: Path, spam_folder: Path) -> None:
    model, mail = str(model_path), str(spam_folder / "0.eml")
    code, output = invoke("learn", "spam", str(spam_folder), "-m", model)
    assert (code, output.split("  ")[0]) == (0, "spam: 3 new")
    assert invoke("learn", "spam", str(spam_folder), "-m", model)[1].startswith("spam: 0 new, 3 known already")
    assert invoke("check", mail, "-m", model)[0] == 0
    code, output = invoke("check", str(spam_folder), "-m", model, "--json")
    assert [answer["class"] for answer in json.loads(output)] == ["spam"] * 3
    assert "answer spam" in invoke("explain", mail, "-m", model)[1]
    assert invoke("forget", mail, "-m", model) == (0, f"1 forgotten  {mail}\n")
    assert invoke("forget", mail, "-m", model) == (3, f"0 forgotten, 1 never learnt  {mail}\n")


@pytest.mark.parametrize("source", ["folder", "-"])
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_without_a_mail_the_code_does_not_say_spam(
    model_path: Path, tmp_path: Path, source: str, arguments: list[str]
) -> None:
    (tmp_path / "folder").mkdir()
    code, output = invoke(
        "check", str(tmp_path / "folder") if source == "folder" else "-", "-m", str(model_path), *arguments
    )
    assert code == 3
    assert "there is no mail" in output


def test_a_missing_model_is_named(tmp_path: Path, spam_folder: Path) -> None:
    code, output = invoke("check", str(spam_folder), "-m", str(tmp_path / "none.naively"))
    assert code == 3
    assert "there is no such model: learn mails first" in output
