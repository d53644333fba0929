"""Run a command with a PostgreSQL server of its own; its address is in NAIVELY_POSTGRES.

The server listens on a socket in a temporary folder only, and ends with the command. It refuses to run as root, so root
starts it as the user postgres or nobody. Where there can be no server the command runs without one, after a line with
the reason: tests that need a server are skipped then.

Usage: python tools/with_postgres.py python -m pytest -q tests/export
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDERS = "/usr/lib/postgresql/*/bin"  # of Debian, which has a folder for each version
RULES = "local all guarded scram-sha-256\nlocal all all trust\n"  # the role guarded needs its password
SETTINGS = "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off"


class NoServerError(Exception):
    """The reason why there is no server."""


def find_programs() -> Path:
    """Return the folder with postgres and initdb, the newest of them."""
    versions = sorted(Path("/").glob(FOLDERS[1:]), key=lambda path: float(path.parent.name))
    on_path = shutil.which("initdb")
    folders = [*versions[::-1], *([Path(on_path).parent] if on_path else [])]
    if not folders:
        raise NoServerError("PostgreSQL is not installed, and apt-get could not install it")
    return folders[0]


def server_user() -> int | None:
    """Return the id of the user who runs the server; None is the current user, unless that is root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise NoServerError("the server does not run as root, and there is no user postgres or nobody")


def run(command: list[str], user: int | None) -> None:
    """Run a program of PostgreSQL as the user of the server."""
    try:
        subprocess.run(command, user=user, check=True, capture_output=True, text=True, cwd="/")
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error)
        raise NoServerError(f"{Path(command[0]).name} failed: {output.strip().splitlines()[-1]}") from None


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server, yield its address, and end it."""
    programs, user = find_programs(), server_user()
    folder = Path(tempfile.mkdtemp(prefix="naively-postgres-"))
    data = folder / "data"
    try:
        if user is not None:
            os.chown(folder, user, -1)
        initdb = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        run(list(map(str, initdb)), user)
        (data / "pg_hba.conf").write_text(RULES)
        control = [str(programs / "pg_ctl"), "-D", str(data), "-w"]
        run([*control, "-l", str(folder / "log"), "-o", f"-k {folder} {SETTINGS}", "start"], user)
        try:
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            run([*control, "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(command: list[str]) -> int:
    """Run the command; return its exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the server too
    try:
        with postgres_server() as address:
            return subprocess.run(command, env=os.environ | {"NAIVELY_POSTGRES": address}, check=False).returncode
    except NoServerError as reason:
        print(f"tests of PostgreSQL are skipped: {reason}", flush=True)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
