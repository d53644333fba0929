"""Leave-one-out scores that families share."""
