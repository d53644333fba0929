"""Parts divided by word and value add up to the part, and each shard is sound on its own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.engines import assert_same_counts, mixed_table, text_table

import naively
from naively.engines.by_key import n_keys, split_by_key

COLUMNS: dict[str, Any] = {
    "automatic": None,
    "tables": None,
    "hashed": {"text": naively.Text(hash_bits=10)},
    "given": {"town": naively.Categorical(), "far": naively.Gaussian(), "count": naively.Poisson()},
}


@pytest.mark.parametrize("n_shards", [1, 3, 8])
@pytest.mark.parametrize("columns", COLUMNS)
def test_shards_add_up(columns: str, n_shards: int) -> None:
    tables = {"hashed": [text_table(200)], "given": [mixed_table(300)], "tables": [mixed_table(300)]}
    for table in tables.get(columns, [mixed_table(300), text_table(200)]):
        schema = naively.infer_schema(table, "y", columns=COLUMNS[columns], together=columns == "tables")
        part = naively.count(table, schema, "y")
        shards = [naively.Part.from_bytes(shard.to_bytes()) for shard in split_by_key(part, n_shards)]
        assert len(shards) == n_shards
        if columns != "hashed":  # of hashes only the largest is known
            assert sum(map(n_keys, shards)) == n_keys(part)
        added = naively.total(shards[::-1])
        assert added.tally == part.tally
        assert added.counts is not None
        assert part.counts is not None
        assert_same_counts(added.counts, part.counts)


def test_a_part_without_rows_has_no_keys() -> None:
    schema = naively.infer_schema(["a b"], ["u"])
    part = naively.count([], schema, [])
    assert split_by_key(part, 4) == [part]
    assert n_keys(part) == 0
