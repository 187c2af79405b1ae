"""``gnll doctor``: what this machine can run, what is missing, and the command that fixes it."""

from __future__ import annotations

import click


@click.command("doctor", short_help="Show what this machine can run and what is missing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def command(as_json: bool) -> int:
    """Show what this machine can run, what is missing, and the command that fixes it.

    Exit code: 0 when the default backend can run, 3 otherwise.
    """
    import json
    import shutil
    import textwrap
    from dataclasses import asdict

    from gnll_cli import __version__, doctor
    from gnll_cli.errors import EXIT_OK, EXIT_UNAVAILABLE

    checks = doctor.examine()
    healthy = doctor.healthy(checks)
    code = EXIT_OK if healthy else EXIT_UNAVAILABLE
    if as_json:
        document = {"schema": 1, "version": __version__, "healthy": healthy, "checks": [asdict(c) for c in checks]}
        click.echo(json.dumps(document, indent=2))
        return code
    # Piped, the size of a terminal is unknown and this is 80.
    width = max(60, min(shutil.get_terminal_size().columns, 110))
    margin = " " * 24

    def show(text: str, first: str) -> None:
        # Commands and paths stay in one piece: they are copied.
        wrapper = textwrap.TextWrapper(width, first, margin, break_long_words=False, break_on_hyphens=False)
        click.echo(wrapper.fill(text))

    click.echo(f"gnll {__version__}")
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            click.echo("\n" + textwrap.fill(group, width))
        show(check.text, f"  {check.state:<8} {check.name:<12} ")
        if check.fix:
            show(f"fix: {check.fix}", margin)
    click.echo()
    click.echo("The default backend can run." if healthy else "The default backend cannot run: see the fixes above.")
    return code
