"""Count the words of the Federalist Papers for the demos: federalist.csv and stopwords_en.txt → one small file.

    python tools/federalist_counts.py FOLDER [-o federalist_counts.json.gz]

FOLDER holds federalist.csv (number, author, status, text) and stopwords_en.txt (one word a line).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parents[1] / "src" / "naively" / "demos" / "federalist_counts.json.gz"
RUN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")


def words(text: str) -> list[str]:
    """Return the words in lower case: runs of letters and digits with apostrophes inside and at least one letter.

    >>> words("The 1st of May, 1787: the people's choice.[1] Self-love")
    ['the', '1st', 'of', 'may', 'the', "people's", 'choice', 'self', 'love']
    """
    return [run for run in RUN.findall(text.lower()) if not run.isdigit()]


def count_papers(folder: Path) -> dict[str, Any]:
    """Return the stop words that occur, and the number, author, status and word counts of each paper."""
    with (folder / "federalist.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    papers: list[dict[str, Any]] = [
        {
            "number": int(row["number"]),
            "author": row["author"] or None,
            "status": row["status"],
            "counts": dict(sorted(Counter(words(row["text"])).items())),
        }
        for row in rows
    ]
    stop_words = (folder / "stopwords_en.txt").read_text(encoding="utf-8").split()
    occurring = {word for paper in papers for word in paper["counts"]}
    return {"stop_words": sorted(occurring.intersection(stop_words)), "papers": papers}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    content = json.dumps(count_papers(arguments.folder), separators=(",", ":")).encode()
    arguments.output.write_bytes(
        gzip.compress(content, mtime=0)
    )  # without a time, so that the same counts give the same bytes
    print(f"{arguments.output.name}: {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
