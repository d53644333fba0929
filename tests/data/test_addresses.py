"""Addresses of servers are split as libpq splits them, and are never shown with a password."""

from __future__ import annotations

import sys
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively.data.files.addresses import is_address, parse_address, shown_name
from naively.data.files.paths import Files, is_path
from naively.errors import InputError

SECRET = "xyzzy"


@pytest.mark.parametrize(
    ("given", "uri", "shown", "query"),
    [
        ("postgresql://::t", "postgresql://", "postgresql://", "t"),
        ("postgresql://localhost", "postgresql://localhost", "postgresql://localhost", None),
        ("postgres://h:5432/d::t", "postgres://h:5432/d", "postgres://h:5432/d", "t"),
        ("postgresql://u@/d::t", "postgresql://u@/d", "postgresql://u@/d", "t"),
        ("postgresql://u:p@h/d::t", "postgresql://u:p@h/d", "postgresql://u@h/d", "t"),
        ("postgresql://u:a%40b:c@h::t", "postgresql://u:a%40b:c@h", "postgresql://u@h", "t"),
        ("postgresql://[::1]:99/d::t", "postgresql://[::1]:99/d", "postgresql://[::1]:99/d", "t"),
        ("postgresql://u:p@[::1]/d::t", "postgresql://u:p@[::1]/d", "postgresql://u@[::1]/d", "t"),
        ("postgresql://a:1,b:2/d::t", "postgresql://a:1,b:2/d", "postgresql://a:1,b:2/d", "t"),
        (
            "postgresql:///d?host=/run/x&password=p&user=u::SELECT a::int, '@' FROM t",
            "postgresql:///d?host=/run/x&password=p&user=u",
            "postgresql:///d?host=/run/x&user=u",
            "SELECT a::int, '@' FROM t",
        ),
        ("postgresql:///?password=p::t", "postgresql:///?password=p", "postgresql:///", "t"),
        ("postgresql:///?service=shop::t", "postgresql:///?service=shop", "postgresql:///?service=shop", "t"),
        ("postgresql://h::SELECT '://u@h/'", "postgresql://h", "postgresql://h", "SELECT '://u@h/'"),
        ("postgresql://h::SELECT\n1", "postgresql://h", "postgresql://h", "SELECT\n1"),
        ("postgresql://h/d::", "postgresql://h/d", "postgresql://h/d", None),
    ],
)
def test_the_parts_of_an_address(given: str, uri: str, shown: str, query: str | None) -> None:
    address = parse_address(given)
    assert (address.uri, address.shown, address.query) == (uri, shown, query)
    assert is_path(given, is_text=True)


@pytest.mark.parametrize(
    "given",
    [
        f"postgresql://u:{SECRET}@x@h/d::t",
        f"postgresql://u:{SECRET}/x@h/d::t",
        f"postgresql://u:{SECRET}?x@h/d::t",
        f"postgresql://u:{SECRET}#x@h/d::t",
        f"postgresql://u:{SECRET}%x@h/d::t",
        f"postgresql://u:{SECRET}%00@h/d::t",
        f"postgresql://u:{SECRET} x@h/d::t",
        f"postgresql://u:{SECRET}::x@h/d::t",
        f"postgresql://u:{SECRET}",
        f"postgresql:///d?password:{SECRET}::t",
        f"postgresql:///d?password={SECRET}=x::t",
    ],
)
def test_an_unreadable_address_is_not_shown(given: str) -> None:
    with pytest.raises(InputError, match="address cannot be read") as error:
        Files(given).data_files()
    assert SECRET not in f"{error.value} {shown_name(given)} {Files(given)!r} {Files(given).given}"


def test_a_list_of_files_shows_no_password() -> None:
    files = Files(["a.csv", f"postgresql://u:{SECRET}@h/d::t"])
    assert files.given == ("a.csv", "postgresql://u@h/d::t")
    assert SECRET not in repr(files)
    assert SECRET not in repr(Files(files.names[1]).data_files())


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.booleans())
def test_any_password_can_be_given(password: str, as_parameter: bool) -> None:
    encoded = quote(SECRET + password, safe="")
    given = f"postgresql://u@h/d?password={encoded}::t" if as_parameter else f"postgresql://u:{encoded}@h/d::t"
    address = parse_address(given)
    assert address.uri == given.removesuffix("::t")
    assert SECRET not in f"{address!r} {shown_name(given)}"
    assert address.without_secrets(f"a {SECRET + password} b {encoded}") == "a *** b ***"


@given(st.text())
def test_nothing_else_is_an_address(text: str) -> None:
    assert not is_address(text)
    assert shown_name(text) == text


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(InputError) as error:
        naively.fit(f"postgresql://u:{SECRET}@h/d::t", "y")
    assert str(error.value) == (
        "postgresql://u@h/d: is a PostgreSQL server; install adbc-driver-postgresql to read it "
        '(pip install "naively[postgres]").'
    )
