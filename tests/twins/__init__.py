"""Readable twins of the compiled kernels: the oracles that the tests compare them with."""
