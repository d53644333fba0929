"""Host names, origins, tokens and headers: each rule from a second origin or under a second host name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from tests.server.support import LEARN, READ, bearer, column, post, running

import naively
from naively.errors import InputError
from naively.server import Token, app
from naively.server.security import Policy, host_names, is_loopback, read_tokens

ADELIE = [column("island", "BYTES", ["Dream"]), column("species", "BYTES", ["Adelie"])]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", "", "127.0.0.2"]
)
def test_another_host_name_is_refused_before_routing(client: Any, host: str) -> None:
    http = client(learn=True)
    for path in ("/v2", "/no/such/path", "/v2/models/penguins/infer"):
        response = http.get(path, headers={"Host": host})
        assert response.status_code == 421
        assert "Dream" not in response.text
    response = post(http, "penguins/learn", ADELIE, headers=bearer(LEARN) | {"Host": host})
    assert response.status_code == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]", "[::1]:9", "LocalHost:1"])
def test_own_names(client: Any, host: str) -> None:
    assert client().get("/v2", headers={"Host": host}).status_code == 200


def test_given_names_and_addresses() -> None:
    names, any_address = host_names("0.0.0.0", ["Models.Example"])
    policy = Policy(hosts=names, any_address=any_address)
    for host in ("models.example", "models.example:8000", "192.0.2.7:8000", "[2001:db8::1]:8000"):
        policy.check_host(host)
    with pytest.raises(Exception, match=r"not 'evil\.example'"):
        policy.check_host("evil.example")
    assert host_names("2001:db8::1", []) == (["[2001:db8::1]"], False)
    assert is_loopback("127.0.0.9")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("models.example")


CROSS = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:9000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.2:8000"},
    {"Origin": "http://127.0.0.1:9000"},
    {"Origin": "null"},
]


@pytest.mark.parametrize("headers", CROSS)
def test_pages_of_another_origin_cannot_send(client: Any, models: Path, headers: dict[str, str]) -> None:
    http = client(learn=True)
    http.cookies.set("naively_8000", LEARN.secret)
    for path in ("penguins/learn", "penguins/infer"):
        assert post(http, path, ADELIE, headers=headers).status_code == 403
    assert len(naively.open(models / "penguins.naively").log()) == 1
    response = http.get("/v2", headers=headers)
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "headers",
    [{}, {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8000"}, {"Origin": "http://127.0.0.1:8000"}],
)
def test_own_pages_and_programs_can_send(client: Any, headers: dict[str, str]) -> None:
    http = client(learn=True)
    http.cookies.set("naively_8000", LEARN.secret)
    assert post(http, "penguins/learn", ADELIE, headers=headers).status_code == 200


def test_cors_only_if_asked(client: Any) -> None:
    other = {"Origin": "https://app.example"}
    preflight = other | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    assert "access-control-allow-origin" not in client().options("/v2/models/penguins/infer", headers=preflight).headers
    http = client(origins=["https://app.example"])
    response = http.options("/v2/models/penguins/infer", headers=preflight)
    assert response.headers["access-control-allow-origin"] == "https://app.example"
    inputs = [column("island", "BYTES", ["Dream"])]
    response = post(http, "penguins/infer", inputs, headers=other)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://app.example"
    assert post(http, "penguins/infer", inputs, headers={"Origin": "https://evil.example"}).status_code == 403


def test_link_sets_a_cookie_that_scripts_and_other_sites_do_not_get(client: Any) -> None:
    http = client(learn=True)
    response = http.get(f"/v2/models?x=1&token={LEARN.secret}", follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == "/v2/models?x=1"
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"naively_8000={LEARN.secret}")
    for word in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert word.lower() in cookie.lower()
    assert http.get("/v2/models?token=wrong-token-wrong").status_code == 401
    http.cookies.set("naively_8000", LEARN.secret)
    assert post(http, "penguins/learn", ADELIE).status_code == 200


def test_reading_needs_a_token_if_told(client: Any) -> None:
    http = client(tokens=[READ], read_needs_token=True)
    assert http.get("/v2/health/live").status_code == 200
    assert http.get("/v2/models").status_code == 401
    assert http.get("/metrics").status_code == 401
    assert http.get("/v2/models", headers=bearer(READ)).status_code == 200
    assert http.get("/v2/models", headers=bearer(Token("x", "y" * 20))).status_code == 401
    assert post(http, "penguins/learn", ADELIE, headers=bearer(READ)).status_code == 403


def test_headers_on_every_answer(client: Any) -> None:
    http = client()
    right = post(http, "penguins/infer", ADELIE[:1])
    assert right.status_code == 200
    wrong = http.get("/nothing"), post(http, "penguins/infer", []), http.put("/v2")
    for response in (http.get("/v2"), http.get("/models/penguins/ask"), right, *wrong):
        assert "script-src 'self'" in response.headers["content-security-policy"]
        assert "unsafe-inline" not in response.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
        assert response.headers["x-frame-options"] == "DENY"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def compare(one: bytes, two: bytes) -> bool:
        calls.append(one)
        return one == two

    monkeypatch.setattr("naively.server.security.hmac.compare_digest", compare)
    policy = Policy([LEARN, READ])
    assert policy.find(LEARN.secret) is LEARN
    assert len(calls) == 2
    assert policy.find("wrong") is None
    assert len(calls) == 4


def test_token_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("# names\nanna learn 0123456789abcdef\n\nbob read fedcba9876543210\n")
    assert [(t.name, t.may_learn) for t in read_tokens(path)] == [("anna", True), ("bob", False)]
    assert "0123456789abcdef" not in repr(read_tokens(path))
    for text, words in (
        ("", "no tokens"),
        ("anna learn\n", "line 1"),
        ("anna write 0123456789abcdef\n", "line 1"),
        ("a read short\n", "16"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            read_tokens(path)


def test_learning_needs_a_token(models: Path) -> None:
    with pytest.raises(InputError, match="needs a token"):
        app([models / "mail.naively"], learn=True)


def test_the_command_listens_on_loopback_unless_told(models: Path) -> None:
    with running(models / "mail.naively") as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.token is None
        assert httpx.get(f"{server.url}/v2").status_code == 200
        assert httpx.get(f"{server.url}/v2", headers={"Host": "evil.example"}).status_code == 421
        body = {"inputs": [column("text", "BYTES", ["a"]), column("class", "BYTES", ["ham"])]}
        assert httpx.post(f"{server.url}/v2/models/mail/learn", json=body).status_code == 401


def test_another_address_needs_a_token(models: Path) -> None:
    """127.0.0.2 stands for an address of the network: a server on all addresses answers there, with a token only."""
    with running(models / "mail.naively", "--host", "0.0.0.0") as server:
        assert server.token is not None
        url = server.url.replace("127.0.0.1", "127.0.0.2")
        assert httpx.get(f"{url}/v2").status_code == 401
        assert httpx.get(f"{url}/v2", headers={"Authorization": f"Bearer {server.token}"}).status_code == 200
        assert httpx.get(f"{url}/v2/health/ready").status_code == 200


def test_unix_socket(models: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with running(models / "mail.naively", "--uds", path) as server:
        assert path.stat().st_mode & 0o077 == 0
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as http:
            assert http.get("/v2/models").json()["models"][0]["name"] == "mail"
        assert server.stop() == 0


def test_logs_hold_no_rows(models: Path) -> None:
    command = [sys.executable, "-m", "naively", "serve", str(models / "mail.naively"), "--port", "0", "--log-requests"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        inputs = {"inputs": [column("text", "BYTES", ["SECRET"])]}
        httpx.post(f"{url}/v2/models/mail/infer", json=inputs)
        httpx.post(f"{url}/v2/models/mail/infer?text=SECRET", json={"inputs": [column("SECRET", "BYTES", ["SECRET"])]})
        httpx.post(f"{url}/v2/models/mail/infer", content=b'{"SECRET')
        csv = {"Content-Type": "text/csv"}
        httpx.post(f"{url}/v2/models/mail/predict", content="text\nSECRET\nSECRET,2\n", headers=csv)
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert log.count("POST /v2/models/mail/infer 200") == 1
    assert "SECRET" not in log


def test_without_the_extra_one_line_says_what_to_install(models: Path) -> None:
    code = "import sys; sys.modules['starlette'] = None\nfrom naively.cli.main import main\nmain()"
    command = [sys.executable, "-c", code, "serve", str(models / "mail.naively")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == 'naively: `naively serve` needs more packages: pip install "naively[serve]".\n'


def test_an_error_of_the_server_is_a_500_without_its_message(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("SECRET")

    http = client()
    monkeypatch.setattr("naively.server.protocol.rows_of", fail)
    response = post(http, "penguins/infer", [])
    assert response.status_code == 500
    assert "SECRET" not in response.text + caplog.text
    assert "RuntimeError" in caplog.text
