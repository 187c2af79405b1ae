"""Random campaigns: legal, within the ranges asked for, the same whenever and wherever they are drawn, and lazy."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnll_cli import operators
from gnll_cli.cases import campaign
from gnll_cli.cases.campaign import Words, draw_shape
from gnll_cli.errors import CaseFileError

HEAD = "operator: gaussian_nll_loss_grad\n"
FULL = (
    HEAD
    + """\
tier: nightly
random:
  count: 30000
  dtype: [fp32, fp16, bf16]
  rank: [0, 8]
  elements: [0, 5000]
  reduction: [none, mean, sum]
  full: [false, true]
  eps: [1e-6, 0.5]
  target: [same, axis]
  var: [same, last_dim_one, missing_last_dim, scalar]
  layout: [contiguous, transposed, {var: offset}]
  data:
    - {var: "uniform(0.5, 2)"}
    - {name: wide, var: "spread(0.001, 100)"}
"""
)


def test_every_case_is_legal_and_within_the_ranges(load: Callable) -> None:
    suite = load(FULL)
    drawn = suite.files[0].campaign
    operator = operators.get("gaussian_nll_loss_grad")
    seen: dict[str, Counter] = {name: Counter() for name in ("dtype", "reduction", "target", "var", "rank", "layout")}
    sizes = Counter()
    for k in range(0, 30000, 23):
        case = drawn.case(k)
        assert case.id == f"x/random-{k:05d}"
        assert operator.refusal(case) is None
        assert 0 <= len(case.shapes["input"]) <= 8
        assert 0 <= prod(case.shapes["input"]) <= 5000
        assert case.attributes["eps"] in (1e-6, 0.5)
        assert case.tier == "nightly"
        for name, counts in seen.items():
            counts[case.axes.get(name, "contiguous")] += 1
        sizes[prod(case.shapes["input"]).bit_length()] += 1
    assert set(seen["dtype"]) == {"fp32", "fp16", "bf16"}
    assert set(seen["reduction"]) == {"none", "mean", "sum"}
    assert set(seen["var"]) == {"same", "last_dim_one", "missing_last_dim", "scalar"}
    assert {"same", "axis0", "axis1", "axis3"} <= set(seen["target"])
    assert set(seen["rank"]) == {str(rank) for rank in range(9)}
    assert {"contiguous", "transposed", "offset"} <= set(seen["layout"])
    # Small and large tensors alike: every number of bits of the size occurs.
    assert set(sizes) == set(range(14))


def test_the_kth_case_depends_on_nothing_but_its_id(load: Callable) -> None:
    suite = load(FULL)
    drawn = suite.files[0].campaign
    late = drawn.case(29_999)
    assert [c.id for c in suite.cases("nightly", keyword="random-2999")] == [
        f"x/random-{k:05d}" for k in range(29990, 30000)
    ]
    (again,) = suite.cases("nightly", keyword="=x/random-29999")
    assert again == late
    fresh = load(FULL.replace("count: 30000", "count: 40000"), "x.yaml").files[0].campaign
    assert fresh.case(29_999) == late
    # Another file name gives other ids, and so other cases.
    other = load(FULL, "y.yaml").files[0].campaign
    assert any(other.case(k).shapes != drawn.case(k).shapes for k in range(20))
    # Another campaign seed gives other shapes to the same ids.
    assert any(drawn.case(k, 5).shapes != drawn.case(k).shapes for k in range(20))
    assert drawn.case(3, 5) == drawn.case(3, 5)


def test_a_campaign_is_not_drawn_unless_its_cases_are_wanted(load: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    draw = campaign.Campaign._draw

    def counted(self, words, k, seed):  # type: ignore[no-untyped-def]
        calls.append(k)
        return draw(self, words, k, seed)

    monkeypatch.setattr(campaign.Campaign, "_draw", counted)
    suite = load(
        FULL + "cases: [{name: a, shapes: {gradOutput: [1], input: [2], target: [2], var: [2]}, tier: full}]\n"
    )
    assert len(calls) < 50
    calls.clear()
    assert [case.id for case in suite.cases("full")] == ["x/a"]
    assert suite.count("nightly") == 30_001
    assert suite.count("nightly", keyword="random-000") == 100
    assert [next(iter(suite.cases("nightly", keyword="random-12345"))).id] == ["x/random-12345"]
    assert set(calls) == {12345}


def test_the_shapes_drawn_are_pinned(load: Callable) -> None:
    """SHA-256 of the seed decides, by the rule that Words documents; computed here a second time from that rule."""
    import hashlib

    seed = 12345
    block = hashlib.sha256(b"gnll campaign" + seed.to_bytes(8, "little") + bytes(8)).digest()
    words = [int.from_bytes(block[i : i + 8], "little") for i in (0, 8, 16, 24)]
    stream = Words(seed)
    assert [stream.word() for _ in range(4)] == words
    assert Words(seed).between(10, 19) == 10 + words[0] * 10 // 2**64


@given(st.integers(0, 2**64 - 1), st.integers(0, 8), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_shapes_are_of_the_rank_and_size_asked_for(seed: int, rank: int, one: int, other: int) -> None:
    low, high = sorted((one, other))
    shape = draw_shape(Words(seed), rank, low, high)
    assert len(shape) == rank
    assert all(isinstance(dim, int) and dim >= 0 for dim in shape)
    if rank > 0:
        assert low <= prod(shape) <= high


@given(st.integers(0, 2**64 - 1), st.integers(0, 100), st.integers(0, 100))
def test_numbers_are_within_their_bounds(seed: int, low: int, span: int) -> None:
    words = Words(seed)
    for _ in range(5):
        assert low <= words.between(low, low + span) <= low + span
        assert low <= words.magnitude(low, low + span) <= low + span
    assert sorted(words.shuffled(list(range(span)))) == list(range(span))


def test_exact_sizes_and_narrow_ranges(load: Callable) -> None:
    drawn = load(HEAD + "random: {count: 200, rank: [3, 3], elements: [997, 997]}\n").files[0].campaign
    assert {prod(drawn.case(k).shapes["input"]) for k in range(200)} == {997}
    drawn = load(HEAD + "random: {count: 200, rank: [1, 8], elements: [0, 0]}\n").files[0].campaign
    assert {prod(drawn.case(k).shapes["input"]) for k in range(200)} == {0}


def test_ids_of_a_campaign_clash_with_nothing(write: Callable, tmp_path) -> None:  # type: ignore[no-untyped-def]
    from gnll_cli import cases

    one = "{gradOutput: [1], input: [2], target: [2], var: [2]}"
    text = HEAD + "random: {count: 10}\ncases: [{name: %s, shapes: " + one + "}]\n"
    with pytest.raises(CaseFileError, match=r"x.yaml:3:9: the id 'x/Random-00009' is also one of the campaign's"):
        cases.load([write(text % "Random-00009")])
    assert cases.load([write(text % "random-00010")]).count() == 11
    assert cases.load([write(text % "random-9")]).count() == 11
    write(HEAD + "random: {count: 10}\n", "a/x.yaml")
    write(HEAD + "random: {count: 10}\n", "b/X.yaml")
    with pytest.raises(CaseFileError, match=r"the ids 'X/random-...' are there already"):
        cases.load([tmp_path / "a", tmp_path / "b"])


def test_thirty_thousand_cases_stream_quickly(load: Callable) -> None:
    suite = load(FULL)
    began = time.process_time()
    count = sum(1 for _ in suite.cases("nightly", keyword="random-0"))
    assert count == 10_000
    # A tenth of a millisecond a case on an idle machine; far from what running a case takes.
    assert time.process_time() - began < 10
