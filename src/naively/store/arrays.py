"""Arrays as few bytes: whole numbers as narrow as they come, rising ones by their steps; deflated if that helps.

    body     = size of the head (4 bytes), head (JSON), the bytes of the arrays one after the other
    payload  = version 1 (1 byte), 0 stored or 1 deflated (1 byte), length of the body (8 bytes), bytes that it takes
               here (8 bytes), body, and the bytes of the arrays that lie apart

In the head, "arrays" lists for each array its type, its shape and either its values (few of them) or a coding and a
width in bytes: "bits" as they are, "whole" numbers, or the "steps" between whole numbers (modulo 2⁶⁴); both of the
latter with the sign in the lowest bit. Bytes of one weight lie together, because that deflates better. All numbers are
little-endian. Long arrays of bytes (the letters of words) lie "apart" from the body and are not deflated: that would
halve them, and take longer than all the rest of reading.

A payload is never deflated to less than 1/16 of its body, and no array is wider than 8 times its bytes: so memory is
bounded by the size of the file, and checked before it is taken.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels

__all__ = ["Arrays", "content", "pack", "traces", "unpack"]

Arrays = list[NDArray[Any]]
VERSION = 1
RATIO = 16  # a body may be so many times longer than its payload
FEW = 32  # arrays up to this size stand in the head
MANY = 4096  # bytes from which on an array of bytes lies apart
LITTLE = 4096  # bytes of a body that is deflated with a small window
COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
HEAD = struct.Struct("<BBQQ")
EXACT = 2**53  # whole numbers up to this are exact as float64
TYPES: Mapping[str, np.dtype[Any]] = {
    "f8": np.dtype("<f8"),
    "i8": np.dtype("<i8"),
    "i4": np.dtype("<i4"),
    "u1": np.dtype("u1"),
    "b1": np.dtype("?"),
}
WIDTHS: Mapping[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}
SIGNED: Mapping[int, np.dtype[Any]] = {width: np.dtype(f"<i{width}") for width in WIDTHS}


def pack(head: dict[str, Any] | str, arrays: Sequence[NDArray[Any]]) -> bytes:
    """A head, or the JSON of one, and arrays as one payload.

    >>> head, arrays = unpack(pack({"a": 1}, [np.arange(1000), np.array([0.5])]))
    >>> head["a"], len(arrays[0]), arrays[1].tolist(), len(pack({}, [np.arange(1000)])) < 1100
    (1, 1000, [0.5], True)
    """
    listed, numbers, apart = kernels.pack_arrays(arrays, FEW, MANY)
    front = (head if isinstance(head, str) else COMPACT.encode(head))[:-1]
    front += "," if len(front) > 1 else ""
    text = b"".join([front.encode("utf-8", "surrogatepass"), b'"arrays":', listed, b"}"])
    body = b"".join([struct.pack("<I", len(text)), text, numbers])
    small = _deflated(body)
    if len(small) < len(body) <= RATIO * len(small):
        return b"".join([HEAD.pack(VERSION, 1, len(body), len(small)), small, apart])
    return b"".join([HEAD.pack(VERSION, 0, len(body), len(body)), body, apart])


def _deflated(body: bytes) -> bytes:
    if len(body) > LITTLE:
        return zlib.compress(body, 1)
    deflater = zlib.compressobj(1, wbits=12, memLevel=4)  # to make a larger window takes longer than to use it
    return deflater.compress(body) + deflater.flush()


def unpack(payload: bytes) -> tuple[dict[str, Any], Arrays]:
    """The inverse; ValueError, KeyError or TypeError for what `pack` did not write."""
    whole, tail = _body(payload)
    body = memoryview(whole)
    (size,) = struct.unpack_from("<I", body)
    at = 4 + size
    _need(at <= len(body), "the head is cut short")
    head = json.loads(bytes(body[4:at]).decode("utf-8", "surrogatepass"))
    _need(isinstance(head, dict) and isinstance(head.get("arrays"), list), "the head is none")
    arrays: Arrays = []
    for described in head.pop("arrays"):
        if described[2] == "apart":
            array, taken = _unpacked(described, tail)
            tail = tail[taken:]
        else:
            array, taken = _unpacked(described, body[at:])
            at += taken
        arrays.append(array)
    _need(at == len(body) and not len(tail), "bytes are left over")
    return head, arrays


def content(payload: bytes) -> bytes:
    """What a payload holds, however it was deflated: the same head and arrays have the same content.

    >>> content(pack({"a": 1}, [np.arange(100)])) == content(pack({"a": 1}, [np.arange(100)]))
    True
    """
    body, tail = _body(payload)
    return bytes(body) + bytes(tail)


def traces(letters: bytes) -> tuple[bytes, bytes]:
    """Two runs of bytes, of which one is in every content that has an array of bytes with these letters in it.

    Arrays of bytes stand there as they are, or if they are few, as numbers in the head.

    >>> found = [content(pack({}, [np.frombuffer(b"lunch" * n, np.uint8)])) for n in (1, 9)]
    >>> [[run in one for run in traces(b"un")] for one in found]
    [[False, True], [True, False]]
    """
    return letters, ",".join(map(str, letters)).encode()


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"a payload is not as it was written: {what}")


def _body(payload: bytes) -> tuple[bytes | memoryview, memoryview]:
    """The body, inflated, and what lies apart from it."""
    _need(len(payload) >= HEAD.size, "it is too short")
    version, deflated, length, taken = HEAD.unpack_from(payload)
    _need(version == VERSION and deflated in (0, 1), f"version {version}")
    rest = memoryview(payload)[HEAD.size :]
    _need(taken <= len(rest), "its length")
    found, tail = rest[:taken], rest[taken:]
    if not deflated:
        _need(length == taken, "its length")
        return found, tail
    _need(length <= RATIO * taken, "it would take more than 16 times its size")
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(found, max(length, 1))
    except zlib.error as error:
        raise ValueError(f"a payload is not as it was written: {error}") from None
    _need(len(body) == length and inflater.eof and not inflater.unused_data, "its length")
    return body, tail


def _signs_first(x: NDArray[Any]) -> NDArray[Any]:
    """The inverse, as narrow as it came."""
    one = x.dtype.type(1)
    return np.asarray((x >> one) ^ np.negative(x & one)).view(SIGNED[x.itemsize])


def _unpacked(described: Any, rest: memoryview) -> tuple[NDArray[Any], int]:
    """One array, and how many bytes it took; nothing is allocated before its size is known to be there."""
    dtype, shape = TYPES[described[0]], described[1]
    _need(isinstance(shape, list) and len(shape) <= 3 and all(type(s) is int and s >= 0 for s in shape), "a shape")
    n = math.prod(shape)
    if isinstance(described[2], list):
        values = described[2]
        plain = (int, float) if dtype.kind == "f" else (bool,) if dtype.kind == "b" else (int,)
        _need(len(described) == 3 and len(values) == n and all(type(v) in plain for v in values), "values")
        return np.array(values, dtype=dtype).reshape(shape), 0
    _, _, coding, width = described
    _need(width in WIDTHS and n * width <= len(rest), "an array is cut short")
    planes = np.frombuffer(rest[: n * width], dtype=np.uint8).reshape(width, n)
    numbers = planes[0].copy() if width == 1 else np.ascontiguousarray(planes.T).view(WIDTHS[width]).ravel()
    if coding in ("bits", "apart"):
        _need(width == dtype.itemsize, "a width")
        _need(dtype.kind != "b" or not n or int(numbers.max()) <= 1, "a truth value")
        return numbers.view(dtype).reshape(shape), n * width
    _need(coding in ("whole", "steps") and dtype.kind in "fi", "a coding")
    whole = _signs_first(numbers)
    if coding == "steps":
        whole = np.cumsum(whole, dtype=np.int64)  # modulo 2⁶⁴
    _fits(whole, dtype)
    return whole.astype(dtype).reshape(shape), n * width


def _fits(whole: NDArray[Any], dtype: np.dtype[Any]) -> None:
    if whole.itemsize < 4 or not whole.size or (dtype.itemsize == 8 and dtype.kind == "i"):
        return
    low, high = int(whole.min()), int(whole.max())
    most = EXACT if dtype.kind == "f" else 2**31 - 1
    _need(-most - (dtype.kind == "i") <= low and high <= most, "a number is too large")
