"""Worked examples on data that comes with the package or is generated. Run one with `naively demo NAME`."""
