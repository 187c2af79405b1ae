"""Verdicts: actual outputs against their golden.

``judge_case`` judges what a runner returned, ``judge_files`` two raw files, ``judge_folder`` a gen-data folder with
outputs; ``profiles`` holds the named standards.
"""

from __future__ import annotations

from gnll_cli.compare import profiles
from gnll_cli.compare.folder import judge_folder
from gnll_cli.compare.judge import judge_case
from gnll_cli.compare.raw import judge_files

__all__ = ["judge_case", "judge_files", "judge_folder", "profiles"]
