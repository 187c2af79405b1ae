"""Reports of a run, and the gate.

``RunReport`` takes case records and writes every format; ``Console`` (gnll_cli.reports.console) shows a run to a
person; ``known.load`` reads a list of known failures; ``gate`` (gnll_cli.reports.gate) decides for CI from a report
and a baseline.
"""

from gnll_cli.reports.console import Console
from gnll_cli.reports.known import KnownList, apply_known
from gnll_cli.reports.known import load as load_known
from gnll_cli.reports.run_report import Finished, RunReport, comparable
from gnll_cli.reports.status import GREEN, STATUSES

__all__ = [
    "GREEN",
    "STATUSES",
    "Console",
    "Finished",
    "KnownList",
    "RunReport",
    "apply_known",
    "comparable",
    "load_known",
]
