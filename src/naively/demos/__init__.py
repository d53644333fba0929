"""Worked examples on data that the package ships or writes itself; each runs: `python -m naively.demos.play`."""
