"""Speed and quality compared with the peers, in one process and in turns; one file per kind of work."""
