"""Input data and golden results."""
