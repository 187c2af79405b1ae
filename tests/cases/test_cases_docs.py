"""The examples of docs/case-files.md are valid, and its table of limits and keys is that of the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gnll_cli.cases import distributions, matrix, reader, schema

DOCS = (Path(__file__).parents[2] / "docs" / "case-files.md").read_text(encoding="utf-8")


def test_the_examples_load(load: Callable) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)
    assert len(blocks) == 3
    counts = [load(block, f"doc{number}.yaml").count("nightly") for number, block in enumerate(blocks)]
    # 2 x 2 x 2 x 2 x 2 combinations less 8, one include, one single; 2 x 3 x 2; the campaign.
    assert counts == [32 - 8 + 1 + 1, 12, 30_000]


def test_every_key_and_distribution_is_explained() -> None:
    document = schema.schema()
    keys = {
        *document["properties"],
        *document["$defs"]["case"]["properties"],
        *document["properties"]["random"]["properties"],
    }
    for key in keys:
        assert key in DOCS, key
    for usage in distributions.KINDS.values():
        assert f"`{usage.replace('DISTRIBUTION', 'DIST')}`" in DOCS, usage


def test_the_limits_are_those_of_the_code() -> None:
    assert f"{reader.MAX_BYTES >> 20} MiB, {reader.MAX_DEPTH} levels, {reader.MAX_NODES:,} values" in DOCS
    assert f"{matrix.MAX_COMBINATIONS:,} combinations" in DOCS
