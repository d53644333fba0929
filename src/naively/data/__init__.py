"""Anything → a checked table of columns, with labels and weights. Input is checked here, once."""
