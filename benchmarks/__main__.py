"""All benchmarks, one after the other: `make bench`. Arguments after the name of one go to that one alone."""

import importlib
import sys

NAMES = ("one_row", "dense", "counts", "text", "tables", "ledger", "tuning", "quality")


def main() -> None:
    """Run the benchmarks named, or all."""
    names = [name for name in sys.argv[1:2] if name in NAMES] or NAMES
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{(module.__doc__ or name).splitlines()[0]}\n", flush=True)
        module.main(sys.argv[2:] if len(sys.argv) > 1 else [])


if __name__ == "__main__":
    main()
