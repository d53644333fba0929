"""Read files and streams in batches."""
