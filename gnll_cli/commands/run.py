"""``gnll run``: generate, execute, compare, report."""

from __future__ import annotations

from typing import Any

import click

from gnll_cli.commands._selection import selection


@click.command("run", short_help="Generate, execute, compare and report cases.")
@selection
@click.option(
    "--backend", metavar="NAME", help="What executes the operator (default: numpy, with a note that says so)."
)
@click.option("--exec", "exec_command", metavar="CMD", help="The command of backend exec; it is given the case folder.")
@click.option("--package", metavar="DIR", help="The operator package of backend sim (default: the operator's own).")
@click.option(
    "--checks",
    type=click.Choice(["all", "memory", "none"]),
    help="What the simulator checks besides values (default: all).",
)
@click.option("--cores", type=click.IntRange(1, 48), metavar="N", help="Vector cores that are simulated (default: 48).")
@click.option("--shuffle-cores", type=click.IntRange(0), metavar="SEED", help="Simulate the cores in a shuffled order.")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Judge by this profile; repeatable.")
@click.option("--rtol", type=float, help="Relative tolerance of profile isclose.")
@click.option("--atol", type=float, help="Absolute tolerance of profile isclose.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help="Worker processes (default: all cores).")
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="N", help="Demand N bit-identical executions.")
@click.option("--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Seconds for an execution.")
@click.option("--maxfail", type=click.IntRange(1), metavar="N", help="Stop after N cases that are not green.")
@click.option("--report-dir", default="reports/", show_default=True, metavar="DIR", help="Where the reports go.")
@click.option("--resume", is_flag=True, help="Go on with the interrupted run of the report folder.")
@click.option("--known", metavar="FILE", help="List of known failures.")
@click.option(
    "--advisory",
    type=click.Choice(["show", "fail"]),
    default="show",
    show_default=True,
    help="What an advisory case that is not as wished is.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only the result.")
@click.option("-v", "--verbose", is_flag=True, help="A line for every case.")
def command(
    paths: tuple[str, ...],
    chosen: dict[str, Any],
    backend: str | None,
    exec_command: str | None,
    package: str | None,
    checks: str | None,
    cores: int | None,
    shuffle_cores: int | None,
    profiles: tuple[str, ...],
    rtol: float | None,
    atol: float | None,
    jobs: int | None,
    repeat: int,
    timeout: float,
    maxfail: int | None,
    report_dir: str,
    resume: bool,
    known: str | None,
    advisory: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run the cases of each PATH (a case file or folder, default cases/) and report.

    Exit code: 0 all green, 1 a case is not green, 2 wrong usage or an invalid case file, 3 the backend is not available, 130
    interrupted (the report of what ran is written).
    """
    from gnll_cli import campaign
    from gnll_cli.errors import UsageError
    from gnll_cli.reports import Console
    from gnll_cli.runners import DEFAULT

    if backend is None and exec_command is None and package is None:
        # Never chosen silently: a green run on the reference says nothing about a kernel.
        click.echo(
            "gnll: backend numpy, since none is named: the NumPy reference is the operator here, and no package is verified "
            "(--backend sim runs one)",
            err=True,
        )
    backend = backend or DEFAULT
    if quiet and verbose:
        raise UsageError("-q and -v contradict each other", hint="give one of them")
    if not timeout > 0 or timeout == float("inf"):
        raise UsageError(f"{timeout:g} is no time limit", where="--timeout", hint="give seconds, above 0")
    if backend == "exec" and exec_command is None:
        raise UsageError("backend exec needs a command", where="--backend exec", hint="add --exec 'CMD'")
    if backend != "exec" and exec_command is not None:
        raise UsageError(f"--exec is of backend exec, not of {backend}", hint="add --backend exec")
    sim = {"checks": checks, "cores": cores, "shuffle": shuffle_cores}
    sim_words = {name: str(value) for name, value in sim.items() if value is not None}
    if backend != "sim":
        if package is not None:
            raise UsageError(f"--package is of backend sim, not of {backend}", hint="add --backend sim")
        if sim_words:
            given = "shuffle-cores" if "shuffle" in sim_words else next(iter(sim_words))
            raise UsageError(f"--{given} is of backend sim, not of {backend}", hint="add --backend sim")
    options = campaign.CampaignOptions(
        paths=paths,
        backend=backend,
        exec_command=exec_command,
        package=package,
        sim=sim_words,
        profiles=profiles,
        tolerances=_tolerances(profiles, rtol, atol),
        chosen=chosen,
        jobs=jobs,
        repeat=repeat,
        timeout=timeout,
        maxfail=maxfail,
        report_dir=report_dir,
        resume=resume,
        known=known,
        advisory=advisory,
    )
    return campaign.run(options, Console(quiet=quiet, verbose=verbose)).exit_code


def _tolerances(profiles: tuple[str, ...], rtol: float | None, atol: float | None) -> dict[str, float] | None:
    from gnll_cli.errors import UsageError

    if "isclose" not in profiles:
        if rtol is not None or atol is not None:
            raise UsageError("--rtol and --atol are of profile isclose", hint="add --profile isclose")
        return None
    if rtol is None or atol is None:
        raise UsageError("profile isclose needs both tolerances", hint="add --rtol R and --atol A")
    for name, value in (("--rtol", rtol), ("--atol", atol)):
        if not value >= 0:
            raise UsageError(f"{value!r} is no tolerance", where=name, hint="give a number of at least 0")
    return {"rtol": rtol, "atol": atol}
