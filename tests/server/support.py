"""Requests, tokens, and servers in a process of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naively.server import Token

LEARN = Token("anna", "a-token-that-may-learn", True)
READ = Token("bob", "a-token-that-may-read")


def bearer(token: Token) -> dict[str, str]:
    """Return the header that holds a token."""
    return {"Authorization": f"Bearer {token.secret}"}


def column(name: str, datatype: str, data: list[Any], shape: list[int] | None = None) -> dict[str, Any]:
    """Return one input of a request."""
    return {"name": name, "shape": shape or [len(data)], "datatype": datatype, "data": data}


def post(client: Any, path: str, inputs: list[Any], headers: dict[str, str] | None = None, **more: Any) -> Any:
    """Send a request of the protocol."""
    return client.post(f"/v2/models/{path}", content=json.dumps({"inputs": inputs} | more), headers=headers)


def wait_until(is_done: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something; AssertionError if it does not happen."""
    end = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.02)


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str
    token: str | None

    def stop(self) -> int:
        """End it as an operator does, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextmanager
def running(*arguments: str | Path, **environment: str) -> Iterator[Server]:
    """Run `naively serve` on a free port of the loopback address."""
    command = [sys.executable, "-m", "naively", "serve", *map(str, arguments)]
    if "--uds" not in command and "--port" not in command:
        command += ["--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    try:
        assert process.stdout is not None
        url, token = "", None
        for line in process.stdout:
            if match := re.search(r"(https?://\S+?)/?(?:\?token=(\S+))?$", line.strip()):
                url, token = match[1], match[2]
                break
            if "--uds" in command:
                break
        yield Server(process, url, token)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=60)
        if process.stdout is not None:
            process.stdout.close()
