"""``gnll compare``: judge raw files, or a gen-data folder that holds the operator's outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from gnll_cli.compare.folder import FolderVerdict
    from gnll_cli.compare.interface import OutputVerdict
    from gnll_cli.compare.raw import FileVerdict


@click.command("compare", short_help="Judge raw files or a gen-data folder with outputs.")
@click.argument("paths", nargs=-1, required=True, metavar="(FOLDER | ACTUAL GOLDEN [ACTUAL GOLDEN]...)")
@click.option("--dtype", metavar="NAME", help="Element type of the actual files: fp32, fp16, bf16, int32, ...")
@click.option("--golden-dtype", metavar="NAME", help="Element type of the golden files (default: as --dtype).")
@click.option("--shape", metavar="2,3", help="Shape of the tensors: checks sizes, and tells indices per dimension.")
@click.option(
    "--profile", "profiles", multiple=True, metavar="NAME", help="Accuracy profile; repeatable, all must pass."
)
@click.option("--rtol", type=float, metavar="R", help="With --atol: abs(a-g) <= A + R * abs(g).")
@click.option("--atol", type=float, metavar="A", help="With --rtol.")
@click.option(
    "--json", "json_file", metavar="FILE", help="Write the result as JSON to FILE, or to the output with '-'."
)
def command(
    paths: tuple[str, ...],
    dtype: str | None,
    golden_dtype: str | None,
    shape: str | None,
    profiles: tuple[str, ...],
    rtol: float | None,
    atol: float | None,
    json_file: str | None,
) -> int:
    """Judge raw files (little-endian, C order) element by element, or the outputs in a gen-data folder.

    Files are judged by profile ut (integers: exact) unless --profile, or --rtol and --atol, say otherwise. A gen-data
    folder is judged as `gnll run` would judge it: its inputs are read, its golden is computed again, and each
    <output>.bin there is judged by the profiles of the case. Exit code 0 where everything passes, 1 where something
    does not, 2 for files and options that make no comparison.
    """
    from pathlib import Path

    from gnll_cli import __version__
    from gnll_cli.compare import arguments, judge_files, judge_folder, render
    from gnll_cli.errors import EXIT_NOT_GREEN, EXIT_OK, UsageError

    chosen, options = arguments.parse_profiles(profiles, rtol, atol)
    pairs: list[FileVerdict] = []
    folder: FolderVerdict | None = None
    if len(paths) == 1 and Path(paths[0]).is_dir():
        for option, value in (("--dtype", dtype), ("--golden-dtype", golden_dtype), ("--shape", shape)):
            if value is not None:
                raise UsageError(
                    f"{option} does not go with a gen-data folder: its case.json says it",
                    where=paths[0],
                    hint=f"drop {option}",
                )
        folder = judge_folder(Path(paths[0]), profiles=chosen, options=options)
    else:
        named = arguments.parse_pairs(paths)
        if dtype is None:
            raise UsageError("raw files do not say what they hold", hint="add --dtype, such as --dtype fp16")
        kind = arguments.parse_dtype(dtype)
        golden_kind = arguments.parse_dtype(golden_dtype, "--golden-dtype") if golden_dtype is not None else None
        dimensions = arguments.parse_shape(shape) if shape is not None else None
        pairs = [
            judge_files(
                actual, golden, kind, golden_dtype=golden_kind, shape=dimensions, profiles=chosen, options=options
            )
            for actual, golden in named
        ]
    if json_file != "-":
        _print(pairs, folder)
    if json_file is not None:
        _write_json(render.document(pairs, folder, __version__), json_file)
    passed = all(p.passed for p in pairs) and (folder is None or folder.passed)
    return EXIT_OK if passed else EXIT_NOT_GREEN


def _print(pairs: list[FileVerdict], folder: FolderVerdict | None) -> None:
    """Every verdict, failures explained; wrapped on a terminal, whole lines where piped."""
    from gnll_cli.compare import render

    total = failed = 0
    parts = [(render.file_head(p), p.outputs, [f"hint: {h}" for h in p.hints]) for p in pairs]
    if folder is not None:
        parts.append((render.folder_head(folder), folder.verdict.outputs, [f"note: {n}" for n in folder.notes]))
    for head, outputs, rest in parts:
        _line(head)
        for output in outputs:
            total += 1
            failed += not (output.passed and output.decided)
            word = render.word(output)
            if word == "PASS":
                first, *more = [render.passed_line(output), *(f"  note: {note}" for note in output.notes)]
            else:
                first, *more = _explain(output)
            _line(f"  {word}  {first}", word)
            for line in more:
                _line(f"        {line.lstrip()}")
        for line in rest:
            _line(f"  {line}")
    if total > 1:
        _line(f"{total - failed} of {total} verdicts passed")


def _explain(output: OutputVerdict) -> list[str]:
    from gnll_cli.reports.explain import explain

    return explain({"status": "failed", "outputs": [output.record()]})[1:]


def _line(text: str, word: str = "") -> None:
    """A line; on a terminal wrapped to its width with a hanging indent, and its verdict coloured."""
    import shutil
    import sys
    import textwrap

    lines = [text]
    if sys.stdout.isatty():
        indent = " " * (len(text) - len(text.lstrip()) + 4)
        width = max(shutil.get_terminal_size().columns - 1, 40)
        lines = textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    colour = {"PASS": "green", "FAIL": "red", "OPEN": "yellow"}.get(word)
    for i, line in enumerate(lines):
        if colour and i == 0:
            before, after = line.split(word, 1)
            line = before + click.style(word, fg=colour, bold=True) + after
        click.echo(line)


def _write_json(document: dict[str, Any], target: str) -> None:
    from pathlib import Path

    from gnll_cli.errors import UsageError
    from gnll_cli.reports import strict
    from gnll_cli.reports.files import atomic

    text = strict.pretty(document)
    if target == "-":
        click.echo(text)
        return
    try:
        with atomic(Path(target)) as stream:
            stream.write(text + "\n")
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=target, hint="name a file in a folder that exists"
        ) from None
