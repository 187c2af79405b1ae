"""A run from its options to its exit code: select cases, run them in workers, report."""

from __future__ import annotations

import gc
import os
import platform
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from types import FrameType
from typing import Any

import click

from gnll_cli import cases, operators, pipeline, runners
from gnll_cli.cases.model import Case
from gnll_cli.compare import profiles as accuracy
from gnll_cli.errors import UsageError
from gnll_cli.pipeline import PipelineOptions, Record
from gnll_cli.reports import GREEN, Console, Finished, RunReport, load_known
from gnll_cli.runners.interface import Needs, RunnerOptions
from gnll_cli.runners.workers import Death, default_jobs, run_cases
from gnll_cli.tiers import TIERS

#: What decides the data, the arithmetic of the harness and the verdicts: part of every report and of every fingerprint.
VERSIONS = ("gnll-cli", "numpy", "ml_dtypes")


@dataclass(frozen=True)
class CampaignOptions:
    """The options of ``gnll run``; the defaults are its defaults."""

    paths: tuple[str, ...] = ("cases/",)
    backend: str = "numpy"
    exec_command: str | None = None
    package: str | None = None
    #: Options of backend sim, as words: checks, cores, shuffle.
    sim: dict[str, str] = field(default_factory=dict)
    profiles: tuple[str, ...] = ()
    tolerances: dict[str, float] | None = None
    #: The keyword arguments of ``Suite.cases``: tier, dtype, keyword, shard, campaign_seed.
    chosen: dict[str, Any] = field(default_factory=dict)
    jobs: int | None = None
    repeat: int = 1
    timeout: float = 60.0
    maxfail: int | None = None
    report_dir: str = "reports/"
    resume: bool = False
    known: str | None = None
    advisory: str = "show"

    @property
    def restricted(self) -> bool:
        """True where cases of the suite are left out on purpose."""
        default = CampaignOptions()
        elsewhere = [os.path.normpath(path) for path in self.paths] != [
            os.path.normpath(path) for path in default.paths
        ]
        return (
            elsewhere or self.chosen.get("tier") == TIERS[0] or any(map(self.chosen.get, ("keyword", "dtype", "shard")))
        )

    @property
    def seed(self) -> int:
        """The number of ``--seed``."""
        return int(self.chosen.get("campaign_seed", 0))


def run(options: CampaignOptions, console: Console) -> Finished:
    """Run the campaign and write its reports.

    Raises ``UsageError`` and ``CaseFileError`` (exit code 2) and ``UnavailableError`` (3). An interrupt (SIGINT, SIGTERM)
    ends the run; the reports of what ran are written.
    """
    accuracy.definitions(options.profiles)  # a wrong name is told before anything runs
    suite = cases.load(options.paths)
    runner_options = RunnerOptions(
        options.backend,
        timeout=options.timeout,
        exec_command=options.exec_command,
        package=options.package,
        extra=options.sim,
    )
    runner = runners.require(runner_options)

    def selected() -> Iterator[Case]:
        return suite.cases(**options.chosen)

    total, needs, used = _survey(selected(), options.profiles)
    if total == 0:
        raise UsageError(
            "no case is selected",
            where=" ".join(options.paths),
            hint="`gnll list` shows what there is; -k, --dtype, --tier and --shard choose from it",
        )
    runner_options = runner.prepare(runner_options, needs, console.note)
    shared = PipelineOptions(
        runner=runner_options,
        profiles=options.profiles,
        tolerances=options.tolerances,
        repeat=options.repeat,
        advisory=options.advisory,
        repro=_repro(options),
    )
    environment = {
        "backend": options.backend,
        "operators": sorted(needs),
        "runner": runner.environment(runner_options),
        "versions": {name: version(name) for name in VERSIONS},
        "python": platform.python_version(),
        "machine": {
            "system": platform.system(),
            "machine": platform.machine(),
            "release": platform.release(),
            "cores": os.cpu_count(),
        },
        "profiles": accuracy.definitions(used),
    }
    jobs = options.jobs or default_jobs()
    selection = {**asdict(options), **options.chosen, "jobs": jobs, "restricted": options.restricted}
    del selection["chosen"]
    known = load_known(options.known) if options.known else None
    with (
        RunReport(
            options.report_dir,
            environment,
            selection,
            total,
            fingerprint=_fingerprint(environment, options),
            resume=options.resume,
            known=known,
        ) as report,
        console,
    ):
        # The suite stays until the end: the collector need not walk over thousands of cases again and again.
        gc.freeze()
        console.start(total, f"gnll {version('gnll-cli')}: {total} cases on backend {options.backend}, {jobs} jobs")
        return _run(selected(), shared, options, jobs, report, console)


def _run(
    selected: Iterator[Case],
    shared: PipelineOptions,
    options: CampaignOptions,
    jobs: int,
    report: RunReport,
    console: Console,
) -> Finished:
    red = 0

    def take(record: Record) -> bool:
        """Count and show a reported record; True where the run has to stop for it."""
        nonlocal red
        console.case(record)
        red += record["status"] not in GREEN
        return options.maxfail is not None and red >= options.maxfail

    in_flight: dict[int, tuple[int, Case]] = {}
    full = False

    def feed() -> Iterator[Case]:
        """The cases to run; those that an interrupted run has done already are reported on the way."""
        nonlocal full
        position = 0
        for index, case in enumerate(selected):
            if full:
                return
            if report.resumable and report.is_done(case.id, pipeline.fingerprint(case)):
                full = take(report.reuse(index, case.id))
                continue
            in_flight[position] = (index, case)
            position += 1
            yield case

    interrupted = False
    with _terminate_as_interrupt():
        answers = run_cases(
            feed(),
            "gnll_cli.pipeline:start",
            shared,
            jobs=jobs,
            timeout=options.timeout,
            stray=lambda death: click.echo(f"gnll: a worker died between two cases: {death.reason}", err=True),
        )
        try:
            for position, answer in answers:
                index, case = in_flight.pop(position)
                if isinstance(answer, Death):
                    answer = _death(case, shared, answer)
                full = take(report.add(index, answer)) or full
                if full:
                    break
        except KeyboardInterrupt:
            interrupted = True
        finally:
            answers.close()
    finished = report.finish(interrupted=interrupted, stopped=f"--maxfail {options.maxfail}" if full else "")
    console.finish(finished)
    return finished


def _death(case: Case, shared: PipelineOptions, death: Death) -> Record:
    record = pipeline.death_record(case, shared, death.kind, death.reason, death.phase)
    record["seconds"] = {death.phase or "start": death.seconds}
    if death.output:
        record["diagnostics"].append({"kind": "output", "severity": "warning", "message": death.output})
    return record


def _survey(selected: Iterator[Case], override: tuple[str, ...]) -> tuple[int, Needs, list[str]]:
    """How many cases are selected, what they need of each operator, and which profiles they name; no case is kept."""
    total = 0
    needs: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    used = set(override)
    for case in selected:
        total += 1
        needs.setdefault(case.operator, set()).add(tuple(case.dtypes.items()))
        if not override:
            used.update(case.profile)
    for name in sorted(needs):
        operators.get(name)
    return total, {name: frozenset(found) for name, found in needs.items()}, sorted(used)


def _repro(options: CampaignOptions) -> tuple[str, ...]:
    """The options that decide what one case does, for its line to reproduce."""
    words: list[str] = ["--backend", options.backend]
    if options.exec_command is not None:
        words += ["--exec", options.exec_command]
    if options.package is not None:
        words += ["--package", options.package]
    for key, word in options.sim.items():
        words += ["--shuffle-cores" if key == "shuffle" else f"--{key}", word]
    for profile in options.profiles:
        words += ["--profile", profile]
    for name, value in (options.tolerances or {}).items():
        words += [f"--{name}", repr(value)]
    if options.seed:
        words += ["--seed", str(options.seed)]
    if options.repeat > 1:
        words += ["--repeat", str(options.repeat)]
    if options.timeout != CampaignOptions.timeout:
        words += ["--timeout", f"{options.timeout:g}"]
    return tuple(words)


def _fingerprint(environment: dict[str, Any], options: CampaignOptions) -> dict[str, Any]:
    """What must be the same for the records of an interrupted run to be used again.

    The list of known failures is no part of it: the journal holds the records as they were before it was applied.
    """
    parts = {key: environment[key] for key in ("backend", "runner", "versions", "python", "profiles")}
    for key in ("profiles", "tolerances", "seed", "repeat", "timeout", "advisory", "exec_command", "package", "sim"):
        parts[f"option {key}"] = getattr(options, key)
    return parts


class _terminate_as_interrupt:
    """SIGTERM ends a run as Ctrl-C does: with its reports written."""

    def __enter__(self) -> None:
        def interrupt(signum: int, frame: FrameType | None) -> None:
            raise KeyboardInterrupt

        self._before = signal.signal(signal.SIGTERM, interrupt)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
