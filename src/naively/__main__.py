"""Run the command line: `python -m naively`."""

from naively.cli.main import main

main(prog_name="naively")
