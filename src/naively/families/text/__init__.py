"""The likelihood of texts."""
