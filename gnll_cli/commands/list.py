"""``gnll list``: the expanded cases of a selection, and counts per tier and axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gnll_cli.commands._selection import selection

if TYPE_CHECKING:
    from gnll_cli.cases.model import Case


@click.command("list", short_help="List the expanded cases, with counts per tier and axis.")
@selection
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "ids"]),
    default="text",
    show_default=True,
    help="A line per case; one JSON document per line and case; ids alone.",
)
@click.option("--counts", is_flag=True, help="Only the counts, per tier and axis.")
def command(
    paths: tuple[str, ...],
    chosen: dict[str, Any],
    form: str,
    counts: bool,
) -> int:
    """List the cases of each PATH (a case file or folder, default cases/) that a run with the same options would run.

    Cases go to standard output, one a line; the closing count goes to standard error. Exit code: 0, or 2 where no case
    is selected or a case file has errors.
    """
    from gnll_cli import cases
    from gnll_cli.cases.summary import Summary, record, text_line
    from gnll_cli.errors import EXIT_OK, UsageError

    suite = cases.load(paths)
    summary = Summary()
    for case in suite.cases(**chosen):
        summary.add(case)
        if not counts:
            _show(case, form, text_line, record)
    if summary.total == 0:
        raise UsageError(
            "no case is selected", hint="widen -k, --dtype or --tier (gnll list --counts shows what there is)"
        )
    dropped = dict(suite.dropped)
    if counts:
        click.echo(summary.json(dropped) if form == "json" else summary.text(dropped))
    elif form == "text":
        click.echo(summary.line(dropped), err=True)
    return EXIT_OK


def _show(case: Case, form: str, text_line: Any, record: Any) -> None:
    if form == "ids":
        click.echo(case.id)
    else:
        click.echo(record(case) if form == "json" else text_line(case))
