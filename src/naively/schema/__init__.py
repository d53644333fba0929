"""The schema of a table: columns, kinds and families."""
