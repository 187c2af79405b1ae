"""The ``gnll`` command: finds its subcommands by file, and turns errors into one message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from gnll_cli import __version__, commands
from gnll_cli.errors import EXIT_INTERRUPTED, EXIT_USAGE, GnllError


class Commands(click.Group):
    """Every module of ``gnll_cli.commands`` with a ``command`` is a subcommand; it is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        files = os.listdir(commands.__path__[0])
        return sorted(f[:-3].replace("_", "-") for f in files if f.endswith(".py") and not f.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = import_module(f"gnll_cli.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from gnll_cli.errors import nearest

        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"no such command '{args[0]}': {nearest(args[0], self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gnll")
def cli() -> None:
    """Verify CANN operator packages: cases, golden, verdicts, reports, gate."""


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: exits with the documented codes (0 green, 1 not green, 2 usage, 3 unavailable, 130 interrupted)."""
    try:
        code = cli.main(args=None if argv is None else list(argv), prog_name="gnll", standalone_mode=False)
    except GnllError as error:
        click.echo(f"gnll: error: {error}", err=True)
        sys.exit(error.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        click.echo(f"gnll: error: {error.format_message()}", err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("gnll: interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe (head, less) has gone: not our error, and nothing more can be said to it.
        sys.stderr.close()
        sys.exit(EXIT_USAGE)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
