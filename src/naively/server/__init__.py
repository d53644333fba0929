"""Serve models over HTTP: predict, explain, teach and watch them. Needs the extra `serve`."""

from naively.server.application import app
from naively.server.limits import Limits
from naively.server.security import Token

__all__ = ["Limits", "Token", "app"]
