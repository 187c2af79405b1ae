"""``gnll gen-data``: write inputs and golden as raw files, one folder per case."""

from __future__ import annotations

from typing import Any

import click

from gnll_cli.commands._selection import selection


@click.command("gen-data", short_help="Write inputs and golden of cases as raw files.")
@selection
@click.option("-o", "--output", default="golden/", show_default=True, metavar="DIR", help="Where the folders go.")
@click.option("--golden-dtype", metavar="NAME", help="dtype of <output>_golden.bin (default: the case's own).")
@click.option("--manifest", metavar="FILE", help="Write the SHA-256 of every file to FILE instead of the files.")
@click.option(
    "--check-manifest", metavar="FILE", help="Compare with FILE instead of writing; exit code 1 on a difference."
)
def command(
    paths: tuple[str, ...],
    chosen: dict[str, Any],
    output: str,
    golden_dtype: str | None,
    manifest: str | None,
    check_manifest: str | None,
) -> int:
    """Generate the cases of each PATH (a case file or folder, default cases/).

    Each case becomes a folder DIR/<case id>/: <input>.bin, <output>_golden.bin, <output>_golden.f64.bin and case.json; raw,
    little-endian, C order. A case that must be refused has case.json alone. `gnll compare FOLDER` judges outputs put there.
    """
    from pathlib import Path

    from gnll_cli import cases, golden, operators
    from gnll_cli.dtypes import DTYPES
    from gnll_cli.errors import EXIT_NOT_GREEN, EXIT_OK, UsageError, nearest
    from gnll_cli.golden import manifest as manifests

    floats = [name for name, dtype in DTYPES.items() if dtype.is_float]
    if golden_dtype is not None and golden_dtype not in floats:
        raise UsageError(
            f"'{golden_dtype}' is no floating-point dtype", where="--golden-dtype", hint=nearest(golden_dtype, floats)
        )
    if manifest and check_manifest:
        raise UsageError("--manifest and --check-manifest contradict each other", hint="give one of them")
    if golden_dtype and (manifest or check_manifest):
        raise UsageError("a manifest is of files in the cases' own dtypes", hint="leave out --golden-dtype")
    selected = cases.load(paths).cases(**chosen)
    expected = manifests.load(Path(check_manifest)) if check_manifest else {}
    count, place = 0, f"folders below {output}"
    differences: list[str] = []
    try:
        if manifest or check_manifest:
            found = manifests.of_cases(selected)
            count = len(found)
            if manifest and count:
                manifests.write(Path(manifest), found)
            differences = manifests.differences(expected, found) if check_manifest and count else []
            place = f"sums in {manifest}" if manifest else f"checked against {check_manifest}"
        else:
            for case in selected:
                golden.write_case(case, operators.get(case.operator), Path(output), golden_dtype)
                count += 1
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=str(error.filename or output), hint="choose another place"
        ) from None
    if count == 0:
        raise UsageError(
            "no case is selected",
            where=" ".join(paths or ("cases/",)),
            hint="`gnll list` shows what there is; -k, --dtype, --tier and --shard choose from it",
        )
    if differences:
        click.echo(manifests.report(differences))
        click.echo(f"{len(differences)} differences in {count} cases")
        return EXIT_NOT_GREEN
    click.echo(f"{count} cases: {place}")
    return EXIT_OK
