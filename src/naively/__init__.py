"""naively."""
