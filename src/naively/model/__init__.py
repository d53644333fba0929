"""The model and its scoring."""
