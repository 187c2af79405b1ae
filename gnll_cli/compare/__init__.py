"""Verdicts: actual outputs against their golden."""
