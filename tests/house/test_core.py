"""What every compiler of the core accepts, checked in its text because only one compiler is at hand."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
BINDING = re.compile(r"auto&{0,2} \[([\w, ]+)\]\s*=")
LAMBDA = re.compile(r"\[[&=][^\[\]]*\]\s*(?:\([^()]*\)[^{;]*)?\{")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)


def end_of_block(code: str, start: int) -> int:
    """Return where the block ends in which a position is, or that begins before it."""
    depth = 1
    for position in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[position], 0)
        if depth == 0:
            return position
    return len(code)


def captured_bindings(code: str) -> list[str]:
    """Return the names of structured bindings that a lambda after them in their block uses."""
    code = COMMENT.sub("", code)
    captured = []
    for binding in BINDING.finditer(code):
        names = binding[1].replace(" ", "").split(",")
        scope = code[binding.end() : end_of_block(code, binding.end())]
        for a_lambda in LAMBDA.finditer(scope):
            body = scope[a_lambda.end() : end_of_block(scope, a_lambda.end())]
            captured += [name for name in names if re.search(rf"(?<![\w.>]){name}\b", body)]
    return captured


def test_a_captured_binding_is_noticed() -> None:
    assert captured_bindings("void f() { const auto& [a, b] = p; g([&] { use(b.data()); }); }") == ["b"]
    assert captured_bindings("void f() { { auto [a, b] = p; } g([&](int x) { use(x.a, b); }); }") == []


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.?pp")), ids=lambda path: path.name)
def test_no_lambda_captures_a_structured_binding(path: Path) -> None:
    assert captured_bindings(path.read_text(encoding="utf-8")) == []  # Clang before 16 refuses it
