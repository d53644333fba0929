"""A model that has learnt 60 spam and 60 ham mails."""

from pathlib import Path

import pytest
from tests.support.mails import make_mails

from naively.mail import MailModel, read

N_LEARNT = 60


@pytest.fixture(scope="session")
def learnt_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the files of a model: the model and its sample."""
    path = tmp_path_factory.mktemp("mail") / "mail.naively"
    with MailModel(path) as model:
        for label in ("spam", "ham"):
            model.learn([read(mail) for mail in make_mails(label, N_LEARNT)], label, source=f"{label} folder")
    return path, model.sample.path


@pytest.fixture
def model_path(learnt_files: tuple[Path, Path], tmp_path: Path) -> Path:
    """Return a copy of the model that a test may change."""
    for file in learnt_files:
        copy = tmp_path / file.name
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o600)
    return tmp_path / learnt_files[0].name
