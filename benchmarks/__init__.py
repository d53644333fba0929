"""Our speed beside the peers', in the same process, taking turns; one file per kind of work."""
