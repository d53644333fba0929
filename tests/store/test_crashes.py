"""Kill writers, fill the disk, let it fail: no acknowledged entry is lost, and none is written partly."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.models import fitted, rows, same

import naively
from naively import InputError
from naively.model.count import count_rows

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
HERE = str(Path(__file__).parents[1])

# Updates, forgets, undoes and compacts for ever, and prints each act before and after it.
WRITER = """
import sys; sys.path.insert(0, sys.argv[3])
import random
import naively
from naively.store import running_sum as sums
from tests.support.models import rows
sums.MAX_PENDING_ENTRIES = 3
chance = random.Random(int(sys.argv[2]))
ledger = naively.open(sys.argv[1])
last = None
print("ready", flush=True)
while True:
    seed = chance.randrange(50)
    act = chance.choice("uuuuuufnc")
    print("begin", act, seed, flush=True)
    if act == "u":
        last = ledger.update(*rows(seed, 2)).id, seed
    elif act == "f" and last:
        ledger.forget(*rows(last[1], 2), entry=last[0]); seed, last = last[1], None
    elif act == "n" and last:
        ledger.undo(last[0]); seed, last = last[1], None
    elif act == "c":
        ledger.compact(); last = None
    else:
        act = "-"
    print("done", act, seed, flush=True)
"""


def killed_writer(path: Path, seed: int, seconds: float) -> list[str]:
    """Return the complete lines of a writer that was killed this many seconds after it was ready.

    The kill can cut the last line. Without it, the act before it counts as begun, so as done or not.
    """
    command = [sys.executable, "-c", WRITER, str(path), str(seed), HERE]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    with writer:
        return writer.stdout.read().split("\n")[:-1]


def test_killed_writers(tmp_path: Path) -> None:
    """At random moments: acknowledged entries are in the file, others completely or not at all."""
    path = tmp_path / "m"
    rng = random.Random(os.urandom(8) if SOAK else 7)
    for round_ in range(200 if SOAK else 6):
        if round_ % 10 == 0:
            fitted().save(path, overwrite=True)
            left: list[int] = []
        lines = [line.split() for line in killed_writer(path, rng.randrange(10**6), rng.uniform(0.0, 0.3))]
        done = [(act, int(seed)) for word, act, seed in lines if word == "done"]
        for act, seed in done:
            left = after(left, act, seed)
        last = lines[-1] if lines and lines[-1][0] == "begin" else None
        model = naively.load(path)
        rest = [left]
        if last is not None and last[1] == "u":
            rest.append([*left, int(last[2])])
        if last is not None and last[1] in "fn" and left:
            rest += [left[:i] + left[i + 1 :] for i in range(len(left))]
        assert any(equal(model, possible) for possible in rest)
        left = next(possible for possible in rest if equal(model, possible))
        assert same(naively.open(path).model(), model)
        naively.open(path).log()  # every entry and the chain
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def after(left: list[int], act: str, seed: int) -> list[int]:
    if act == "u":
        return [*left, seed]
    if act in "fn":
        at = len(left) - 1 - left[::-1].index(seed)
        return left[:at] + left[at + 1 :]
    return left


def equal(model: naively.Model, seeds: list[int]) -> bool:
    expected = fitted()
    for seed in seeds:
        expected = expected.update(*rows(seed, 2))
    try:
        return same(model, expected)
    except AssertionError:
        return False


TEACHER = """
import sys; sys.path.insert(0, sys.argv[4])
import naively
from tests.support.models import rows
ledger = naively.open(sys.argv[1])
for i in range(int(sys.argv[3])):
    ledger.update(*rows(1000 * int(sys.argv[2]) + i, 1), source=sys.argv[2])
"""


def test_eight_processes(tmp_path: Path) -> None:
    """All entries of all processes are in the file, and a reader sees only complete ones at any time."""
    path, each = tmp_path / "m", 200 if SOAK else 8
    fitted().save(path)
    command = [sys.executable, "-c", TEACHER, str(path)]
    teachers = [subprocess.Popen([*command, str(i), str(each), HERE]) for i in range(8)]
    seen = [12]
    while any(teacher.poll() is None for teacher in teachers):
        model = naively.load(path)
        seen.append(int(model.class_weights.rows.sum()))
        assert model.statistics[0] is not None
        time.sleep(0.05)
    assert [teacher.wait() for teacher in teachers] == [0] * 8
    assert seen == sorted(seen)
    expected = naively.model.merge.total(
        [fitted(), *(count_rows(fitted(), *rows(1000 * i + j, 1)) for i in range(8) for j in range(each))]
    )
    assert expected is not None
    assert same(naively.load(path), expected)
    log = naively.open(path).log()
    assert len(log) == 1 + 8 * each
    assert {entry.source: sum(e.source == entry.source for e in log) for entry in log[1:]} == {
        str(i): each for i in range(8)
    }
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_disk_full(tmp_path: Path) -> None:
    """The message names the cause, nothing is changed, and updates work again when there is space."""
    path = tmp_path / "m"
    fitted().save(path)
    ledger = naively.open(path)
    ledger.update(*rows(1))
    connection = ledger._writer()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages + 2}")
    many = {name: values * 400 for name, values in rows(2)[0].items()}
    many["text"] = [os.urandom(8).hex() for _ in range(2000)]
    with pytest.raises(InputError, match="the disk is full; nothing was changed"):
        ledger.update(many, rows(2)[1] * 400)
    assert same(ledger.model(), fitted().update(*rows(1)))
    connection.execute("PRAGMA max_page_count=1000000")
    ledger.update(*rows(3))
    ledger.close()
    assert same(naively.load(path), fitted().update(*rows(1)).update(*rows(3)))


SHIM = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
static int failing(void) { const char *flag = getenv("FAILING_DISK"); return flag && access(flag, F_OK) == 0; }
int fsync(int fd) { (void)fd; if (failing()) { errno = EIO; return -1; } return 0; }
int fdatasync(int fd) { return fsync(fd); }
"""

FAILING = """
import os, sys; sys.path.insert(0, sys.argv[2])
import naively
from tests.support.models import rows
ledger = naively.open(sys.argv[1])
ledger.update(*rows(1))
flag = os.environ["FAILING_DISK"]
open(flag, "w").close()
for act in (lambda: ledger.update(*rows(2)), lambda: ledger.undo(ledger.log()[1].id), ledger.compact):
    try:
        act()
    except naively.InputError as error:
        print("refused:", error)
    else:
        print("done")
try:
    ledger.model().save(sys.argv[1] + "2")
except naively.InputError as error:
    print("refused:", error)
os.unlink(flag)
ledger.update(*rows(3))
print("rows", int(ledger.model().class_weights.rows.sum()))
"""


@pytest.mark.skipif(shutil.which("cc") is None or sys.platform != "linux", reason="needs a C compiler on Linux")
def test_failing_disk(tmp_path: Path) -> None:
    """If fsync returns an error, the change is not acknowledged."""
    (tmp_path / "shim.c").write_text(SHIM)
    library = tmp_path / "shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "shim.c"], check=True)
    path = tmp_path / "m"
    fitted().save(path)
    environment = {**os.environ, "LD_PRELOAD": str(library), "FAILING_DISK": str(tmp_path / "flag")}
    command = [sys.executable, "-c", FAILING, str(path), HERE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == ["refused"] * 4, done.stdout
    assert all("the disk failed" in line or "cannot be written" in line for line in lines[:4])
    assert not (tmp_path / "m2").exists()
    assert lines[4] == f"rows {12 + 5 + 5}"
    assert same(naively.load(path), fitted().update(*rows(1)).update(*rows(3)))


def test_save_over_a_file_in_use(tmp_path: Path) -> None:
    """Refused, because the writer would write to a file without a name. A killed writer does not matter."""
    path = tmp_path / "m"
    fitted().save(path)
    ledger = naively.open(path)
    ledger.update(*rows(1))
    with pytest.raises(InputError, match="this or another process has it open"):
        fitted(3).save(path, overwrite=True)
    assert same(naively.load(path), fitted().update(*rows(1)))
    ledger.close()
    fitted(3).save(path, overwrite=True)
    assert same(naively.load(path), fitted(3))
    killed_writer(path, 1, 0.2)
    fitted(4).save(path, overwrite=True)
    assert same(naively.load(path), fitted(4))


def test_fork_does_not_share_the_connection(tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    ledger = naively.open(path)
    ledger.update(*rows(1))
    child = os.fork()
    if child == 0:
        try:
            ledger.update(*rows(2))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    ledger.update(*rows(3))
    ledger.close()
    assert same(naively.load(path), fitted().update(*rows(1)).update(*rows(2)).update(*rows(3)))
