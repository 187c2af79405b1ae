"""The statuses of a case and which of them are green: the one place that knows."""

from __future__ import annotations

from typing import NamedTuple


class Status(NamedTuple):
    """``meaning`` is what a reader of a report is told; ``green`` says whether the status lets a run pass."""

    meaning: str
    green: bool


STATUSES: dict[str, Status] = {
    "passed": Status("as expected, refusals too", True),
    "failed": Status("ran, and values, guards or diagnostics are wrong", False),
    "refused_wrongly": Status("refused a legal case, or with another refusal than the contract names", False),
    "accepted_wrongly": Status("accepted a case that must be refused", False),
    "crashed": Status("the operator died", False),
    "timeout": Status("the operator did not finish in time", False),
    "error": Status("the harness could not run or decide the case", False),
    "untrusted": Status("the case could not have failed, and does not declare it", False),
    "skipped": Status("not exercised, with a reason", True),
    "known": Status("fails as the list of known failures says", True),
    "fixed": Status("is on the list of known failures, yet passes: mend the list", False),
    "advice": Status("an advisory case that is not as wished", True),
}
GREEN: frozenset[str] = frozenset(name for name, status in STATUSES.items() if status.green)
#: What an entry of the list of known failures can name: the statuses that a failing case can have.
KNOWN_KINDS: tuple[str, ...] = tuple(
    name for name, status in STATUSES.items() if not status.green and name not in ("fixed",)
)


def rank(status: str) -> int:
    """0 passed, 1 green without being verified (skipped, known, advice), 2 not green: a higher rank is worse."""
    if status == "passed":
        return 0
    return 1 if status in GREEN else 2


def counts(statuses: dict[str, int]) -> str:
    """The counts that are not zero, in the order of the table: ``3 passed, 1 failed``."""
    return ", ".join(f"{statuses[name]} {name}" for name in STATUSES if statuses.get(name))
