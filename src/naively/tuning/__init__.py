"""Choose smoothing, families, weights and calibration by leave-one-out."""
