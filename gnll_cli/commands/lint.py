"""``gnll lint``: errors and warnings in case files, with file, line and column."""

from __future__ import annotations

import click


@click.command("lint", short_help="Check case files: errors and warnings with file:line:column.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--no-golden", is_flag=True, help="Skip the check of absolute tolerances, which computes golden results.")
def command(paths: tuple[str, ...], no_golden: bool) -> int:
    """Check each PATH (a case file or folder, default cases/).

    Errors: what the loader refuses. Warnings: what is hardly meant, such as an exclude that matches nothing, or an
    absolute tolerance that a correct result could miss. Exit code: 0 without errors, 2 with.
    """
    from gnll_cli import cases
    from gnll_cli.cases.lint import tolerance_warnings
    from gnll_cli.errors import EXIT_OK, EXIT_USAGE, CaseFileError

    try:
        suite = cases.load(paths or ("cases/",))
    except CaseFileError as error:
        for problem in error.problems:
            click.echo(str(problem))
        count = len(error.problems)
        click.echo(_plural(count, "error"), err=True)
        return EXIT_USAGE
    warnings = list(suite.warnings)
    if not no_golden:
        warnings += tolerance_warnings(suite.sample())
    for warning in warnings:
        click.echo(f"{warning.where}: warning: {warning.what}\n  {warning.hint}")
    click.echo(_counts(len(suite.files), suite.count("nightly"), dict(suite.dropped), len(warnings)))
    return EXIT_OK


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _counts(files: int, cases: int, dropped: dict[str, int], warnings: int) -> str:
    parts = [f"{_plural(files, 'file')}, {_plural(cases, 'case')}, no errors, {_plural(warnings, 'warning')}"]
    names = {"impossible": "cannot exist", "same": "same as an earlier one", "excluded": "excluded"}
    told = [f"{count:,} {names[kind]}" for kind, count in sorted(dropped.items()) if count]
    if told:
        parts.append(f"combinations left out: {', '.join(told)}")
    return "; ".join(parts)
