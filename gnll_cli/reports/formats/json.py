"""report.json: the whole run, one case a line, strict JSON of schema gnll-report/1."""

from __future__ import annotations

from typing import TextIO

from gnll_cli.reports import strict
from gnll_cli.reports.interface import SCHEMA, Format, Report


def write(report: Report, stream: TextIO) -> None:
    """The records are copied as the journal holds them: they are strict JSON already."""
    head = {
        "schema": SCHEMA,
        "summary": report.summary,
        "environment": report.environment,
        "selection": report.selection,
    }
    stream.write(strict.pretty(head)[:-2])
    stream.write(',\n "cases": [')
    separator = "\n"
    for text in report.texts():
        stream.write(separator)
        stream.write(text)
        separator = ",\n"
    stream.write("\n ]\n}\n")


FORMAT = Format("json", "report.json", write)
