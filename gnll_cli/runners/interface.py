"""The seam of a runner: it takes a case and its inputs and hands back what the operator did.

A module of this folder with ``RUNNER: type[Runner]`` is a backend; it is named as its file, and so is ``RUNNER.name``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy.typing as npt

from gnll_cli.cases.model import Case
from gnll_cli.errors import UnavailableError
from gnll_cli.golden.interface import TensorData
from gnll_cli.operators.interface import Operator, Tiling


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """What the command line says about the backend. Picklable: workers make their runner from it."""

    backend: str
    timeout: float = 60.0
    exec_command: str | None = None
    package: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


#: Operator -> the combinations of dtypes of its selected cases, each as (tensor, dtype) of every tensor. Those of cases to be refused
#: are among them: one that is accepted wrongly must not look refused for want of what was not built.
Needs = Mapping[str, frozenset[tuple[tuple[str, str], ...]]]


@dataclass(slots=True)
class Execution:
    """What one execution of the operator did.

    ``outcome``: "ran" (``outputs`` holds an array of storage dtype and shape per output), "refused" (``aclnn_status`` holds
    the code), "skipped", "crashed", "timeout", "failed" (ran, but outputs are missing or of the wrong size) or
    "error" (the harness could not run it). ``reason`` explains every outcome but "ran". ``diagnostics`` are findings, each a
    dict with at least ``kind``, ``severity`` ("failure" or "warning") and ``message``: a touched guard and a changed
    input are such. ``untouched`` is False where a refusal wrote to an output.
    """

    outcome: str
    outputs: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    aclnn_status: int | None = None
    reason: str = ""
    diagnostics: list[dict[str, Any]] = field(default_factory=list)
    untouched: bool = True
    seconds: float = 0.0
    tiling: Tiling | None = None


class Runner(ABC):
    """A backend. Made once per worker process, used for many cases."""

    name: ClassVar[str]
    #: One line for ``gnll doctor`` and ``--help``.
    summary: ClassVar[str]

    def __init__(self, options: RunnerOptions) -> None:
        self.options = options

    @classmethod
    def missing(cls, options: RunnerOptions) -> str | None:
        """What is missing on this machine to use the backend, with the command that fixes it; None when nothing is."""
        return None

    @classmethod
    def require(cls, options: RunnerOptions) -> None:
        """Raise ``UnavailableError`` where something is missing; a backend with options of its own checks those too."""
        missing = cls.missing(options)
        if missing is not None:
            raise UnavailableError(f"backend '{cls.name}' cannot run here: {missing}")

    @classmethod
    def prepare(cls, options: RunnerOptions, needs: Needs, say: Callable[[str], None]) -> RunnerOptions:
        """Called in the parent once the cases are known, before workers start: do once what all of them share, such as a build.

        Returns the options that the workers get. ``say`` shows a line to the user. Raises ``GnllError`` where it cannot be done.
        """
        return options

    @classmethod
    def environment(cls, options: RunnerOptions) -> dict[str, Any]:
        """What the report must say about the operator that ran: paths, SHA-256 sums, versions. ``options`` are the prepared ones."""
        return {}

    def skip(self, case: Case, operator: Operator) -> str | None:
        """The reason why this backend cannot exercise the case, or None."""
        return None

    @abstractmethod
    def run(self, case: Case, operator: Operator, inputs: Mapping[str, TensorData]) -> Execution:
        """Execute the case once. ``inputs`` is empty for a case that must be refused."""

    def close(self) -> None:  # noqa: B027 - a backend with nothing to free needs no close
        """Free what the runner holds."""
