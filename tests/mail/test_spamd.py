"""The server: the protocol of spamd, with a client of a few lines, and with Debian's spamc if it is installed."""

import asyncio
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.mails import make_mail, make_mails

from naively.errors import InputError
from naively.mail import MailModel, read
from naively.mail.filter import NoAnswerError, answer_of_server
from naively.mail.lines import with_headers
from naively.mail.model import MIN_MAILS
from naively.mail.service import filter_mail
from naively.mail.spamd import Models, Server, listen

SPAMC = shutil.which("spamc")


@pytest.fixture
def socket_path(model_path: Path) -> Iterator[Path]:
    """Start a server in a thread, and return its socket."""
    path = model_path.parent / "spamd.sock"
    users = model_path.parent / "users"
    users.mkdir()
    shutil.copy(model_path, users / "anna.naively")
    started, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()
    models = Models(model_path, users)

    async def serve() -> None:
        server = Server(models)
        service = await asyncio.start_unix_server(server.serve_connection, sock=listen(path))
        async with service:
            started.set()
            await stop.wait()
        for task in server._tasks:
            task.cancel()
        await asyncio.sleep(0.05)  # connections that were accepted become tasks
        while others := asyncio.all_tasks() - {asyncio.current_task()}:  # connections end when their clients have
            await asyncio.wait(others)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.wait()
    yield path
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    models.close()
    loop.close()


def exchange(path: Path, command: str, mail: bytes = b"", *headers: str) -> bytes:
    """Send one request; return the response."""
    import socket

    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        lines = [f"{command} SPAMC/1.5", f"Content-length: {len(mail)}", *headers, "", ""]
        client.sendall("\r\n".join(lines).encode() + mail)
        client.shutdown(socket.SHUT_WR)
        response = b""
        while part := client.recv(1 << 16):
            response += part
    return response


def ask(path: Path, command: str, mail: bytes = b"", *headers: str) -> tuple[str, dict[str, str], bytes]:
    """Send one request; return the status line, the headers and the content."""
    response = exchange(path, command, mail, *headers)
    head, _, content = response.partition(b"\r\n\r\n")
    status, *rest = head.decode().split("\r\n")
    return status, dict(line.split(": ", 1) for line in rest if line), content


@pytest.mark.parametrize("label", ["spam", "ham"])
@pytest.mark.parametrize("spamassassin", [False, True])
def test_filter_gets_from_the_server_what_it_would_compute(
    socket_path: Path, model_path: Path, label: str, spamassassin: bool
) -> None:
    mail = make_mail(label, 1000)
    options = {"model": str(model_path), "spamassassin": spamassassin, "learn": False}
    with MailModel(model_path) as model:
        expected = filter_mail(model, mail, spamassassin=spamassassin)
    assert answer_of_server(str(socket_path), options, mail, 20.0) == expected


def test_filter_learns_by_the_server_with_u(socket_path: Path, model_path: Path) -> None:
    with MailModel(model_path) as model:
        n_before = len(model.ledger.log())
        for number in range(1000, 1020):
            options = {"model": str(model_path), "spamassassin": False, "learn": True}
            answer_of_server(str(socket_path), options, make_mail("spam", number), 20.0)
        entries = model.ledger.log()[n_before:]
    assert entries
    assert {entry.source for entry in entries if entry.act == "update"} == {"automatic"}


@pytest.mark.parametrize("options", [{}, {"model": "/other.naively", "spamassassin": False, "learn": False}, [], 1])
def test_filter_gets_no_answer_from_a_server_of_another_model(socket_path: Path, options: Any) -> None:
    with pytest.raises(NoAnswerError):
        answer_of_server(str(socket_path), options, make_mail("spam", 1), 20.0)


def test_the_socket_is_for_its_owner_only(socket_path: Path) -> None:
    assert stat.S_IMODE(socket_path.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="too long"):
        listen(socket_path.parent / ("x" * 200))
    with pytest.raises(InputError, match="another server listens"):
        listen(socket_path)  # connects, to see whether a server listens
    assert ask(socket_path, "PING")[0] == "SPAMD/1.5 0 PONG"  # so that this connection is accepted before the test ends


def test_ping_check_symbols_report_process_and_headers(socket_path: Path) -> None:
    spam, ham = make_mail("spam", 1000), make_mail("ham", 1000)
    assert ask(socket_path, "PING")[0] == "SPAMD/1.5 0 PONG"
    status, headers, content = ask(socket_path, "CHECK", spam)
    assert (status, content) == ("SPAMD/1.5 0 EX_OK", b"")
    assert headers["Spam"].startswith("True ; ")
    assert headers["Spam"].endswith(" / 5.0")
    assert ask(socket_path, "CHECK", ham)[1]["Spam"].startswith("False ; ")
    assert ask(socket_path, "SYMBOLS", spam)[2] == b"NAIVELY_SPAM\r\n"
    assert ask(socket_path, "REPORT", spam)[2].startswith(b"spam, probability of spam ")
    assert ask(socket_path, "REPORT_IFSPAM", ham)[2] == b""
    processed = ask(socket_path, "PROCESS", b"X-Spam-Flag: NO\n" + spam)[2]
    assert b"X-Spam-Flag: YES" in processed
    assert with_headers(processed, [], ["X-Naively", "X-Spam-Flag", "X-Spam-Status", "X-Spam-Score"]) == spam
    assert processed.startswith(ask(socket_path, "HEADERS", spam)[2])


def test_tell(socket_path: Path, model_path: Path) -> None:
    mail = make_mail("spam", 3000)

    def label() -> str | None:
        with MailModel(model_path) as model:
            (position,) = model.positions([read(mail)])
            return None if position is None else str(position.label)

    assert ask(socket_path, "TELL", mail, "Message-class: ham", "Set: local")[1]["DidSet"] == "local"
    assert label() == "ham"
    assert "DidSet" not in ask(socket_path, "TELL", mail, "Message-class: ham", "Set: local")[1]
    ask(socket_path, "TELL", mail, "Message-class: spam", "Set: local", "Remove: local")
    assert label() == "spam"
    assert ask(socket_path, "TELL", mail, "Remove: local")[1]["DidRemove"] == "local"
    assert label() is None
    assert "DidRemove" not in ask(socket_path, "TELL", mail, "Remove: local")[1]


def test_a_user_is_a_name_and_never_a_path(socket_path: Path) -> None:
    spam = make_mail("spam", 1000)
    assert ask(socket_path, "CHECK", spam, "User: anna")[1]["Spam"].startswith("True")
    for user in ("../mail", "/etc/passwd", "a/b", "..", ".hidden", "x" * 100):
        assert ask(socket_path, "CHECK", spam, f"User: {user}")[0] == "SPAMD/1.5 67 EX_NOUSER"
    assert ask(socket_path, "CHECK", spam, "User: nobody")[0] == "SPAMD/1.5 70 EX_SOFTWARE"


@pytest.mark.parametrize("user", ["nobody", "../mail"])
@pytest.mark.parametrize("command", ["CHECK", "SYMBOLS", "REPORT", "PROCESS", "HEADERS", "TELL"])
def test_an_error_ends_within_its_headers(socket_path: Path, user: str, command: str) -> None:
    """spamc writes the content of a complete response in place of the mail, whatever its status."""
    response = exchange(socket_path, command, make_mail("spam", 1000), f"User: {user}", "Remove: local")
    status, *rest = response.split(b"\r\n")
    assert status in (b"SPAMD/1.5 67 EX_NOUSER", b"SPAMD/1.5 70 EX_SOFTWARE")
    assert rest[0].startswith(b"Error: ")
    assert rest[1:] == [b""]


@pytest.mark.parametrize(
    "request_line",
    [
        "GET / HTTP/1.1",
        "CHECK",
        "EVIL SPAMC/1.5",
        "CHECK SPAMC/1.5\r\nContent-length: x",
        "CHECK SPAMC/1.5\r\nCompress: zlib",
    ],
)
def test_bad_requests_are_refused(socket_path: Path, request_line: str) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(socket_path))
        client.sendall(request_line.encode() + b"\r\n\r\n")
        response = client.recv(1000)
        assert response.startswith(b"SPAMD/1.5 64 EX_USAGE")
        assert b"\r\n\r\n" not in response
    assert ask(socket_path, "PING")[0] == "SPAMD/1.5 0 PONG"


@pytest.mark.skipif(SPAMC is None, reason="spamc is not installed: make mail installs it from Debian")
def test_spamc(socket_path: Path, model_path: Path) -> None:
    def spamc(mail: bytes, *arguments: str, path: Path = socket_path) -> tuple[int, bytes]:
        command = [str(SPAMC), "-U", str(path), "-u", "anna", *arguments]
        process = subprocess.run(command, input=mail, capture_output=True, check=False)
        return process.returncode, process.stdout

    spam, ham = make_mail("spam", 1000), make_mail("ham", 1000)
    assert spamc(spam, "-c")[0] == 1
    assert spamc(ham, "-c")[0] == 0
    code, output = spamc(spam)
    assert code == 0
    assert output.startswith(b"X-Naively: spam, ")
    assert spamc(spam, "--headers")[1].endswith(spam.partition(b"\n\n")[2])
    assert b"probability of spam" in spamc(spam, "-R")[1]
    new = make_mails("ham", 1, 4000)[0]
    assert b"successfully" in spamc(new, "-L", "ham")[1]
    with MailModel(model_path.parent / "users" / "anna.naively") as model:
        assert model.positions([read(new)])[0] is not None
    assert b"successfully" in spamc(new, "-L", "forget")[1]
    assert spamc(spam, path=socket_path.parent / "none")[1] == spam  # the server is down
    for arguments in (["-u", "nobody"], ["-u", "../mail"], ["-u", "nobody", "--headers"]):
        assert spamc(spam, *arguments)[1] == spam  # the response is an error
    for part in (b"a\r\rb", b"a\n\rb", b"a\r\r\nb"):
        odd = b"Subject: " + part + b"\nTo: c\n\nbody\n"
        names = ["X-Naively", "X-Spam-Flag", "X-Spam-Status", "X-Spam-Score"]
        assert with_headers(spamc(odd, "--headers")[1], [], names) == odd
    assert spamc(spam + b"a\0b\n", "--headers")[1] == spam + b"a\0b\n"


def test_a_model_is_tuned_in_the_background(socket_path: Path) -> None:
    path = socket_path.parent / "users" / "bob.naively"
    for label in ("spam", "ham"):
        for mail in make_mails(label, MIN_MAILS, 3000):
            status, headers, _ = ask(socket_path, "TELL", mail, "User: bob", f"Message-class: {label}", "Set: local")
            assert (status, headers["DidSet"]) == ("SPAMD/1.5 0 EX_OK", "local")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with MailModel(path) as model:
            if model.ledger.model().tuning is not None:
                break
        time.sleep(0.1)
    with MailModel(path) as model:
        assert model.ledger.model().tuning is not None
        assert not model.is_tuning_due
