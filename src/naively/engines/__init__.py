"""Where counting and scoring happen; each engine returns statistics and nothing else."""
