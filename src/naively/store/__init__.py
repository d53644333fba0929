"""The model file: a ledger of entries that add up to the model. docs/living_models.md shows it in use."""
