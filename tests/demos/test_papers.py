"""The shipped counts are complete, small, and equal to what the tool makes from the text."""

import gzip
import json
import runpy
from collections import Counter
from importlib.resources import files
from pathlib import Path

from tests.support.data_sets import needs_data_set, optional_data_set

from naively.demos.papers import read_papers, read_stop_words, table

ROOT = Path(__file__).parents[2]
PAPERS = "federalist/federalist.csv"
TOOL = ROOT / "tools" / "federalist_counts.py"
SHIPPED = files("naively.demos").joinpath("federalist_counts.json.gz")


def test_all_papers_in_order() -> None:
    papers = read_papers()
    assert [paper.number for paper in papers] == list(range(1, 86))
    assert Counter(paper.author for paper in papers) == {"Hamilton": 51, "Madison": 14, "Jay": 5, None: 15}
    assert [p.number for p in papers if p.status == "joint"] == [18, 19, 20]
    assert [p.number for p in papers if p.status == "disputed"] == [*range(49, 59), 62, 63]
    assert all((paper.author is None) == (paper.status != "known") for paper in papers)


def test_counts_are_of_words() -> None:
    papers = read_papers()
    counts = [n for paper in papers for n in paper.counts.values()]
    words = {word for paper in papers for word in paper.counts}
    assert sum(counts) == 190_196
    assert len(words) == 8_630
    assert min(counts) == 1
    assert all(word == word.lower() and word.strip("'") == word and not word.isdigit() for word in words)
    assert all(paper.counts["people"] >= 1 and paper.counts["publius"] == 1 for paper in papers)


def test_stop_words_are_those_that_occur() -> None:
    stop_words = read_stop_words()
    assert len(stop_words) == len(set(stop_words)) == 123
    assert {"a", "the", "of", "by", "would", "cannot", "yourselves"} <= set(stop_words)
    assert "upon" not in stop_words  # Mosteller and Wallace's best word is not on the list
    assert set(stop_words) <= {word for paper in read_papers() for word in paper.counts}


def test_table_has_a_row_per_paper_and_a_column_per_word() -> None:
    ten, fifty_one = read_papers()[9], read_papers()[50]
    assert table([ten, fifty_one], ["faction", "ambition", "zebra"]) == {
        "faction": [16, 1],
        "ambition": [0, 2],
        "zebra": [0, 0],
    }


def test_file_is_small_and_plain() -> None:
    content = SHIPPED.read_bytes()
    assert len(content) <= 400_000
    assert set(json.loads(gzip.decompress(content))) == {"papers", "stop_words"}


@needs_data_set(PAPERS)
def test_the_tool_makes_the_shipped_counts() -> None:
    tool = runpy.run_path(str(TOOL))
    assert json.loads(gzip.decompress(SHIPPED.read_bytes())) == tool["count_papers"](optional_data_set(PAPERS).parent)


def test_the_tool_splits_words() -> None:
    words = runpy.run_path(str(TOOL))["words"]
    assert words("The 1st of May, 1787: the people's choice.[1]") == [
        *("the", "1st", "of", "may", "the", "people's", "choice"),
    ]
    assert words("self-love; 'tis years' 'LAW'") == ["self", "love", "tis", "years", "law"]
