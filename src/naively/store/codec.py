"""Encode what a model has counted as bytes, the payload of an entry or a snapshot, and decode it.

    body     = length of the head (4 bytes), head (JSON), the bytes of the arrays one after the other
    payload  = version 1 (1 byte), 0 stored or 1 deflated (1 byte), length of the body (8 bytes), length of the body in
               the payload (8 bytes), body, the bytes of the arrays that are stored outside the body

The head holds the classes, the class weights, one statistic per block of the schema, hashes of the rows, and, if it was
asked for, a sample of the rows to tune by. A statistic is a dataclass whose fields are arrays, cells, a vocabulary,
other statistics, names or plain values, so that a new one needs no code here, only `register_statistic`. "arrays" in
the head lists for each array its type, its shape, and either its values, if it has few, or a coding and a width:

- "bits": the bytes of the array; "apart": the same, outside the body. Long arrays of bytes (the letters of words) are
  stored there and are not deflated: that would halve them and take longer than all the rest of reading.
- "whole": integers with the sign in the lowest bit; "steps": the differences of integers modulo 2⁶⁴, in the same way.

Bytes of equal significance are stored together, which deflates better. All numbers are little-endian. Integers take
the width of the largest, also if their type is floating point.

A payload is never deflated to less than 1/16 of its body, and no array is wider than 8 times its bytes. So memory is
bounded by the size of the file, and checked before it is allocated.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from naively._kernels.cells import Cells
from naively._kernels.histogram import HistogramCells
from naively._kernels.packing import pack_arrays
from naively._kernels.text import Vocabulary
from naively._kernels.types import Array
from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.names import Numbered
from naively.data.plain import JsonObject
from naively.errors import InputError
from naively.model.model import Model
from naively.schema.schema import Schema
from naively.statistics import ClassWeights, Histogram, RowHashes, statistic_named
from naively.statistics.arrays import require

VERSION = 1
MAX_INFLATION = 16  # a body may be this many times longer than its payload
MAX_INLINE_VALUES = 32  # arrays up to this size are stored in the head
MIN_SEPARATE_BYTES = 4096  # arrays of bytes from this size on are stored outside the body
MAX_SMALL_WINDOW_BYTES = 4096  # bodies up to this size are deflated with a small window
MIN_CHUNKED_BYTES, CHUNK_BYTES, SAMPLE_BYTES = 1 << 20, 1 << 17, 1 << 12  # bodies that are deflated chunk by chunk
MAX_DEFLATED_SHARE = 7 / 8  # of a sample; a chunk that would not become smaller is stored
STRATEGIES = (zlib.Z_HUFFMAN_ONLY, zlib.Z_DEFAULT_STRATEGY)
ZLIB_HEADER = b"\x78\x01"  # RFC 1950: deflate with a window of 32 kB, fastest level
COMPACT_JSON = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
PREFIX = struct.Struct("<BBQQ")
TYPES: Mapping[str, np.dtype[Any]] = {name: np.dtype(f"<{name}") for name in ("f8", "i8", "i4", "u1", "b1")}
UNSIGNED: Mapping[int, np.dtype[Any]] = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}
SIGNED: Mapping[int, np.dtype[Any]] = {width: np.dtype(f"<i{width}") for width in UNSIGNED}
PLAIN_TYPES = (str, bool, int, float)
ARRAY_GROUPS: Mapping[type, str] = {Cells: "cells", HistogramCells: "histogram", Vocabulary: "vocabulary"}
GROUP_NAMES = {name: group for group, name in ARRAY_GROUPS.items()}

# Statistics whose class was renamed keep the name in files that they had at first: class name, name in files.
STORED_NAMES: Mapping[str, str] = {"NumberSummary": "Measured", "EmptyStatistic": "Nothing"}
CLASS_NAMES = {stored: name for name, stored in STORED_NAMES.items()}


def encode_counts(model: Model, sample: bytes = b"") -> bytes:
    """Return the payload of what a model has counted; its schema is stored elsewhere, because entries share it.

    `sample` are rows to tune by, as an Arrow stream (`SampledRows.to_bytes`).
    """
    arrays: list[Array] = []
    parts: JsonObject = {"classes": model.classes, "seen": model.class_weights, "statistics": model.statistics}
    if model.table_counts is not None:
        parts["tables"] = model.table_counts
    if model.row_hashes is not None:
        parts["row_hashes"] = model.row_hashes.export()
    if sample:
        parts["sample"] = np.frombuffer(sample, np.uint8)
    head = ",".join([f'"{name}":{encode_value(part, arrays)}' for name, part in parts.items()])
    return pack(f"{{{head}}}", arrays)


def decode_counts(payload: bytes, schema: Schema) -> Model:
    """Return a model of these counts, without settings; raise one of DECODE_ERRORS for a payload that is not valid.

    Sizes, types, order and finiteness are checked before any of it reaches the core.
    """
    head, arrays = unpack(payload)
    classes, weights = tuple(head["classes"]), decode_value(head["seen"], arrays)
    counts = tuple(decode_value(value, arrays) for value in head["statistics"])
    kinds = {type(label) if isinstance(label, (bool, str)) else float for label in classes}
    require(all(isinstance(label, PLAIN_TYPES) for label in classes) and len(kinds) == 1, "classes")
    require(list(classes) == sorted(set(classes)), "classes in order")
    require(len(counts) == len(schema.blocks), "one statistic for each block of columns")
    require(type(weights) is ClassWeights, "weights of classes")
    weights.check(len(classes))
    for block, statistic in zip(schema.blocks, counts, strict=True):
        block.family.check(statistic, len(classes), block.names)
    tables: Histogram | None = None
    if schema.tables is not None:
        tables = decode_value(head["tables"], arrays)
        require(type(tables) is Histogram, "tables of columns")
        assert tables is not None
        tables.check(len(classes), Numbered(len(schema.tables.tables)))
    hashes = head.get("row_hashes")
    known_rows = None if hashes is None else RowHashes.from_export(*decode_value(hashes, arrays))
    return Model(schema, classes, weights, counts, row_hashes=known_rows, table_counts=tables)


def decode_sample(payload: bytes) -> bytes:
    """Return the rows to tune by of a payload, as an Arrow stream; empty if it has none."""
    head, arrays = unpack(payload)
    sample = decode_value(head.get("sample"), arrays)
    require(sample is None or (isinstance(sample, np.ndarray) and sample.dtype == np.uint8), "a sample of rows")
    return b"" if sample is None else bytes(sample.tobytes())


def encode_value(value: Any, arrays: list[Array]) -> str:
    """Return a value as JSON; append its arrays to the list and refer to them by position.

    >>> arrays: list[Array] = []
    >>> encode_value((np.zeros(3), "a", (1, True, None)), arrays), len(arrays)
    ('[{"array":0},"a",[1,true,null]]', 1)
    """
    if value is None:
        return "null"
    kind = type(value)
    if kind is np.ndarray:
        arrays.append(value)
        return f'{{"array":{len(arrays) - 1}}}'
    if kind is str:
        return COMPACT_JSON.encode(value)
    if kind in ARRAY_GROUPS:
        first = len(arrays)
        arrays += value.export() if kind is Vocabulary else value
        references = ",".join([f'{{"array":{i}}}' for i in range(first, len(arrays))])
        return f'{{"{ARRAY_GROUPS[kind]}":[{references}]}}'
    if kind is Numbered:
        return f'{{"numbered":{len(value)}}}'
    if kind is tuple and not set(map(type, value)).issubset(PLAIN_TYPES):
        return f"[{','.join([encode_value(item, arrays) for item in value])}]"
    if statistic_named(kind.__name__) is kind:
        value = value.without_unused()
        parts = [
            f'"{name}":{encode_value(part, arrays)}'
            for name, is_optional in _fields(kind)
            if (part := getattr(value, name)) is not None or not is_optional
        ]
        name = STORED_NAMES.get(kind.__name__, kind.__name__)
        return f'{{"statistic":"{name}","fields":{{{",".join(parts)}}}}}'
    if kind is tuple or isinstance(value, PLAIN_TYPES):
        return COMPACT_JSON.encode(value)
    raise InputError(f"a {kind.__name__} cannot be written to a model file.")


@cache
def _fields(statistic: type) -> list[tuple[str, bool]]:
    """Return the name of each field of a statistic, and whether it is not written where it is None."""
    return [(field.name, field.default is None) for field in fields(statistic)]


def decode_value(value: Any, arrays: list[Array]) -> Any:
    """Return the value that `encode_value` wrote; the result is not checked yet."""
    if isinstance(value, list):
        return tuple(decode_value(item, arrays) for item in value)
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(name, part)] = value.items()
        if name == "array" and type(part) is int and part >= 0:
            return arrays[part]
        if name == "numbered" and type(part) is int and 0 <= part < 2**31:
            return Numbered(part)
        if name in GROUP_NAMES:
            group, parts = GROUP_NAMES[name], decode_value(part, arrays)
            return Vocabulary.from_arrays(*parts) if group is Vocabulary else group(*parts)
    elif value.keys() == {"statistic", "fields"}:
        statistic = statistic_named(CLASS_NAMES.get(str(value["statistic"]), str(value["statistic"])))
        if statistic is not None:
            parts = {name: decode_value(field, arrays) for name, field in value["fields"].items()}
            return statistic(**parts).repaired()
    raise TypeError(f"{str(value)[:60]} is not part of a statistic")


def pack(head: Mapping[str, Any] | str, arrays: Sequence[Array]) -> bytes:
    """Return a head, or its JSON, and arrays as a payload.

    >>> head, arrays = unpack(pack({"a": 1}, [np.arange(1000), np.array([0.5])]))
    >>> head["a"], len(arrays[0]), arrays[1].tolist(), len(pack({}, [np.arange(1000)])) < 1100
    (1, 1000, [0.5], True)
    """
    descriptions, inside, outside = pack_arrays(arrays, MAX_INLINE_VALUES, MIN_SEPARATE_BYTES)
    front = (head if isinstance(head, str) else COMPACT_JSON.encode(head))[:-1]
    front += "," if len(front) > 1 else ""
    text = b"".join([front.encode("utf-8", "surrogatepass"), b'"arrays":', descriptions, b"}"])
    body = b"".join([struct.pack("<I", len(text)), text, inside])
    if len(body) >= MIN_CHUNKED_BYTES:
        small = _deflate_in_chunks(body)
    elif len(body) > MAX_SMALL_WINDOW_BYTES:
        small = zlib.compress(body, 1)
    else:
        deflater = zlib.compressobj(1, wbits=12, memLevel=4)  # to allocate a larger window takes longer than to use it
        small = deflater.compress(body) + deflater.flush()
    if len(small) < len(body) <= MAX_INFLATION * len(small):
        return b"".join([PREFIX.pack(VERSION, 1, len(body), len(small)), small, outside])
    return b"".join([PREFIX.pack(VERSION, 0, len(body), len(body)), body, outside])


def _deflate_in_chunks(body: bytes) -> bytes:
    """Return a zlib stream of chunks, each deflated in the way that makes a sample of it smallest.

    Half of the bytes of a large statistic are low bytes of hashes and counts. To search them for repetitions takes most
    of the time, and finds none that are worth their codes.
    """
    parts = [ZLIB_HEADER]
    for start in range(0, len(body), CHUNK_BYTES):
        chunk = body[start : start + CHUNK_BYTES]
        sample = chunk[len(chunk) // 2 :][:SAMPLE_BYTES]
        size, strategy = min((len(_deflate(sample, 1, strategy, zlib.Z_FINISH)), strategy) for strategy in STRATEGIES)
        level = 1 if size < MAX_DEFLATED_SHARE * len(sample) else 0
        is_last = start + CHUNK_BYTES >= len(body)
        parts.append(_deflate(chunk, level, strategy, zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH))
    return b"".join([*parts, struct.pack(">I", zlib.adler32(body))])


def _deflate(data: bytes, level: int, strategy: int, end: int) -> bytes:
    """Return data as blocks of deflate (RFC 1951), which do not refer to what stands before them."""
    deflater = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)
    return deflater.compress(data) + deflater.flush(end)


def unpack(payload: bytes) -> tuple[JsonObject, list[Array]]:
    """Return the head and the arrays of a payload; raise one of DECODE_ERRORS if it is not valid."""
    head, inside, outside = open_payload(payload)
    arrays: list[Array] = []
    for description in head.pop("arrays"):
        if description[2] == "apart":
            array, n_bytes = _decode_array(description, outside)
            outside = outside[n_bytes:]
        else:
            array, n_bytes = _decode_array(description, inside)
            inside = inside[n_bytes:]
        arrays.append(array)
    require(not len(inside) and not len(outside), "bytes after the arrays")
    return head, arrays


def open_payload(payload: bytes) -> tuple[JsonObject, memoryview, memoryview]:
    """Return the head, and the bytes of the arrays that are stored in the body and outside it."""
    require(len(payload) >= PREFIX.size, "a payload that is too short")
    version, deflated, length, n_bytes = PREFIX.unpack_from(payload)
    require(version == VERSION and deflated in (0, 1), f"version {version} of a payload")
    rest = memoryview(payload)[PREFIX.size :]
    require(n_bytes <= len(rest), "length of a payload")
    body, outside = rest[:n_bytes], rest[n_bytes:]
    if deflated:
        require(
            length <= MAX_INFLATION * n_bytes, f"a payload that inflates to more than {MAX_INFLATION} times its size"
        )
        inflater = zlib.decompressobj()
        body = memoryview(inflater.decompress(body, max(length, 1)))
        require(inflater.eof and not inflater.unused_data, "length of a payload")
    require(len(body) == length, "length of a payload")
    size = int.from_bytes(body[:4], "little")
    require(4 + size <= len(body), "a head that is cut short")
    head = json.loads(bytes(body[4 : 4 + size]).decode("utf-8", "surrogatepass"))
    require(isinstance(head, dict) and isinstance(head.get("arrays"), list), "a payload without a head")
    return head, body[4 + size :], outside


def _decode_array(description: Any, data: memoryview) -> tuple[Array, int]:
    """Return an array and how many bytes it took; its size is checked before it is allocated."""
    dtype, shape = TYPES[description[0]], description[1]
    require(
        isinstance(shape, list) and len(shape) <= 3 and all(type(s) is int and s >= 0 for s in shape),
        "shape of an array",
    )
    n = math.prod(shape)
    if isinstance(description[2], list):
        values = description[2]
        types = {int, float} if dtype.kind == "f" else {bool} if dtype.kind == "b" else {int}
        require(
            len(description) == 3 and len(values) == n and types.issuperset(map(type, values)), "values of an array"
        )
        return np.array(values, dtype=dtype).reshape(shape), 0
    _, _, coding, width = description
    require(width in UNSIGNED and n * width <= len(data), "an array that is cut short")
    planes = np.frombuffer(data[: n * width], dtype=np.uint8).reshape(width, n)
    numbers = planes[0].copy() if width == 1 else np.ascontiguousarray(planes.T).view(UNSIGNED[width]).ravel()
    if coding in ("bits", "apart"):
        require(width == dtype.itemsize, "width of an array")
        require(dtype.kind != "b" or not n or int(numbers.max()) <= 1, "a boolean")
        return numbers.view(dtype).reshape(shape), n * width
    require(coding in ("whole", "steps") and dtype.kind in "fi", "coding of an array")
    one = numbers.dtype.type(1)
    integers = np.asarray((numbers >> one) ^ np.negative(numbers & one)).view(SIGNED[width])
    if coding == "steps":
        integers = np.cumsum(integers, dtype=np.int64)  # modulo 2⁶⁴
    if integers.itemsize >= 4 and n and not (dtype.itemsize == 8 and dtype.kind == "i"):
        low, high = int(integers.min()), int(integers.max())
        largest = MAX_EXACT_INTEGER if dtype.kind == "f" else 2**31 - 1
        require(-largest - (dtype.kind == "i") <= low and high <= largest, "a number that is too large")
    return integers.astype(dtype, copy=False).reshape(shape), n * width
