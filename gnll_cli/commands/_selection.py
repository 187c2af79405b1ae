"""The arguments by which run, gen-data and list choose cases: the same words in each."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from gnll_cli.tiers import TIERS

_OPTIONS = (
    click.argument("paths", nargs=-1, metavar="[PATH]..."),
    click.option("-k", "keyword", metavar="EXPR", help="Cases whose id matches: words with and, or, not; =ID for one."),
    click.option("--dtype", multiple=True, metavar="NAME", help="Only this dtype; repeatable."),
    click.option(
        "--tier", type=click.Choice(TIERS), default="full", show_default=True, help="This tier and those before."
    ),
    click.option("--shard", metavar="I/N", help="The I-th of N balanced parts."),
    click.option(
        "--seed",
        "campaign_seed",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Other data than the suite's own.",
    ),
)


def selection(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command PATH, -k, --dtype, --tier, --shard and --seed.

    The function gets ``paths`` (the default cases/ filled in) and ``chosen``, the keyword arguments of ``Suite.cases``.
    """

    @wraps(function)
    def call(
        paths: tuple[str, ...],
        keyword: str | None,
        dtype: tuple[str, ...],
        tier: str,
        shard: str | None,
        campaign_seed: int,
        **others: Any,
    ) -> int:
        chosen = {
            "keyword": keyword,
            "dtype": dtype or None,
            "tier": tier,
            "shard": shard,
            "campaign_seed": campaign_seed,
        }
        return function(paths=paths or ("cases/",), chosen=chosen, **others)

    decorated: Callable[..., int] = call
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
