"""Accuracy profiles, one module per family."""
