"""Verdicts: actual outputs against their golden. The doors of the room."""

from __future__ import annotations

from gnll_cli.compare.judge import judge_case

__all__ = ["judge_case"]
