"""Where mails come from: Maildir, mbox, MH, files and folders."""

import io
import mailbox
import sys
from pathlib import Path

import pytest
from tests.support.mails import make_mails

from naively.errors import InputError
from naively.mail import mails_in, read

MAILS = [mail + b"\nFrom here on it is text\n" for mail in make_mails("ham", 4)]


def keys(source: Path | str) -> list[bytes]:
    return sorted(read(stored.data).key for stored in mails_in([source]))


EXPECTED = sorted(read(mail).key for mail in MAILS)


def test_maildir(tmp_path: Path) -> None:
    maildir = mailbox.Maildir(tmp_path / "Maildir")
    for mail in MAILS:
        maildir.add(mail)
    maildir.add_folder("Junk").add(make_mails("spam", 1)[0])
    assert keys(tmp_path / "Maildir") == EXPECTED
    assert len(keys(tmp_path / "Maildir" / ".Junk")) == 1


@pytest.mark.parametrize("kind", [mailbox.mbox, mailbox.MH])
def test_mbox_and_mh(tmp_path: Path, kind: type[mailbox.mbox] | type[mailbox.MH]) -> None:
    box = kind(tmp_path / "box")
    for mail in MAILS:
        box.add(mail)
    box.flush()
    box.close()
    assert keys(tmp_path / "box") == EXPECTED


def test_folders_of_files_and_single_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number, mail in enumerate(MAILS):
        (tmp_path / ("a" if number % 2 else ".") / f"{number}.eml").write_bytes(mail)
    (tmp_path / ".hidden").write_bytes(b"Subject: x\n\n")
    assert keys(tmp_path) == EXPECTED
    assert keys(tmp_path / "0.eml") == [read(MAILS[0]).key]


def test_standard_input_and_a_missing_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MAILS[0])))
    assert keys("-") == [read(MAILS[0]).key]
    with pytest.raises(InputError, match="there is no such file or folder"):
        keys(tmp_path / "none")
