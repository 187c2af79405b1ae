"""``gnll gate``: an exit code for CI from a report and a baseline."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gnll_cli.reports.gate import Decision

#: Findings and new cases that are printed; the JSON has them all.
SHOWN = 50


def _factor(_: click.Context, __: click.Parameter, value: float) -> float:
    if not math.isfinite(value) or value < 1:
        raise click.BadParameter(f"{value:g} is no factor: give a number of 1 or more (2 lets headroom halve)")
    return value


@click.command(name="gate", short_help="Decide for CI from a report and a baseline.")
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="Baseline to compare with. [default: reports/baseline.json if it is there]",
)
@click.option("--no-baseline", is_flag=True, help="Gate on green alone.")
@click.option("--update", is_flag=True, help="Write the baseline from the report instead of judging it.")
@click.option("--allow-failing", is_flag=True, help="With --update: accept a report that is not green.")
@click.option(
    "--headroom-factor",
    type=float,
    default=2.0,
    show_default=True,
    callback=_factor,
    help="How many times less headroom (limit over error) a case may have than in the baseline.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    report: Path,
    baseline: Path | None,
    no_baseline: bool,
    update: bool,
    allow_failing: bool,
    headroom_factor: float,
    form: str,
) -> int:
    """Exit 0 if the run that wrote REPORT (report.json or its folder) may pass, 1 if not, 2 if that cannot be told.

    Without a baseline every case must be green. With one, no case may be worse than there: in status, in headroom
    by more than the factor (headroom above 10 counts as 10), or missing, unless the run was restricted to a part of
    the suite.
    """
    from gnll_cli.errors import UsageError
    from gnll_cli.reports import baseline as baselines
    from gnll_cli.reports.gate import decide, updated
    from gnll_cli.reports.load import load_report
    from gnll_cli.reports.strict import pretty

    if no_baseline and (baseline is not None or update):
        raise UsageError(f"--no-baseline contradicts {'--update' if update else '--baseline'}", hint="leave one out")
    if allow_failing and not update:
        raise UsageError("--allow-failing is for --update: a gate does not pass a case that is not green")
    document = load_report(report)
    path = baseline or baselines.DEFAULT
    if update:
        old = baselines.load(path) if path.exists() else None
        new, notes = updated(document, old, allow_failing)
        baselines.save(new, path)
        if form == "json":
            click.echo(
                pretty({"schema": "gnll-gate/1", "baseline": str(path), "cases": len(new.cases), "notes": notes})
            )
        else:
            for note in notes:
                click.echo(f"note: {note}")
            click.echo(f"wrote {path}: {len(new.cases)} cases")
        return 0
    used = baselines.load(path) if not no_baseline and (baseline is not None or path.exists()) else None
    decision = decide(document, used, headroom_factor)
    if form == "json":
        click.echo(pretty({**decision.record(), "baseline": None if used is None else str(path)}))
        return decision.exit_code
    _print(decision, None if used is None else path)
    return decision.exit_code


def _print(decision: Decision, baseline: Path | None) -> None:
    from gnll_cli.reports.texts import printable

    for note in decision.notes:
        click.echo(f"note: {printable(note)}")
    for finding in decision.findings[:SHOWN]:
        click.echo(f"{finding.kind.replace('_', ' ')}: {printable(finding.text)}")
    if len(decision.findings) > SHOWN:
        click.echo(f"and {len(decision.findings) - SHOWN} more; --format json lists them all")
    if decision.new:
        click.echo(f"new: {len(decision.new)} cases are not in the baseline yet (--update takes them in)")
        for name in decision.new[:SHOWN]:
            click.echo(f"  {printable(name)}")
        if len(decision.new) > SHOWN:
            click.echo(f"  and {len(decision.new) - SHOWN} more")
    against = f"{decision.compared} compared with {baseline}" if baseline is not None else "no baseline, green alone"
    result = "passed" if decision.passed else f"failed with {len(decision.findings)} findings"
    click.echo(f"gate {result}: {decision.total} cases, {against}")
