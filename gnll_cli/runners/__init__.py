"""Backends that execute an operator."""
