"""Case files: from YAML to fully expanded cases. ``load`` is the door; ``Case`` is what leaves the room."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnll_cli.cases.model import Case, Distribution, seed_of

if TYPE_CHECKING:
    from gnll_cli.cases.suite import Suite

__all__ = ["Case", "Distribution", "load", "seed_of", "with_campaign_seed"]


def load(paths: Sequence[Path | str]) -> Suite:
    """The suite of case files and folders (every .yaml and .yml below a folder, sorted; hidden ones are left out).

    ``CaseFileError`` with every problem of every file; ``UsageError`` for a path that is no case file and no folder of
    such.
    """
    # Loading needs the YAML reader and the operators, which know Case: they are imported when used.
    from gnll_cli.cases import suite

    return suite.load(paths)


def with_campaign_seed(case: Case, campaign_seed: int) -> Case:
    """The case with the data that ``--seed`` gives its id."""
    from dataclasses import replace

    return replace(case, seed=seed_of(case.id, campaign_seed))
