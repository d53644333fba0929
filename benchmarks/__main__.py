"""Run the benchmarks and keep their figures: `make bench`, or `python -m benchmarks NAME [OPTIONS]` for one of them.

Each benchmark prints its figures and writes them, with the seconds of each round and the versions of all libraries, to
benchmarks/results/DATE-NAME.json. `python -m benchmarks --results FOLDER …` writes elsewhere.
"""

import argparse
import importlib
from pathlib import Path

from benchmarks.results import RESULTS, write_results

NAMES = (
    "one_row",
    "dense",
    "counts",
    "text",
    "tables",
    "ledger",
    "tuning",
    "serve",
    "quality",
    "reported",
    "together",
    "export",
    "databases",
    "engines",
    "mail",
    "versions",
)


def main() -> None:
    """Run the benchmark that is named, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"), help="folder of the JSON files")
    parser.add_argument("name", nargs="?", choices=NAMES, help="one benchmark; all by default")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="options of this benchmark")
    options = parser.parse_args()
    for name in [options.name] if options.name else NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{(module.__doc__ or name).splitlines()[0]}\n", flush=True)
        RESULTS.clear()
        module.main(options.arguments)
        print(f"\n{write_results(options.results, name, options.arguments)}", flush=True)


if __name__ == "__main__":
    main()
