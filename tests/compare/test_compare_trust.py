"""What would pass without computing: found where it is so, and not claimed where it is not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from compare_helpers import Data, blocks, make_case, make_operator, stored

from gnll_cli.compare import judge_case
from gnll_cli.operators.interface import Alternative, Tiling


def untrusted(
    golden,
    *,
    dtype="fp16",
    profiles=("bound",),
    inputs=None,
    tiling=None,
    size=1 << 16,
    magnitude=None,
    others=(),
    **options,
):
    """The survivors for outputs {name: golden values}, which are representable."""
    golden = {name: np.asarray(g, dtype=np.float64) for name, g in golden.items()}
    inputs = {name: Data(stored(v, dtype), dtype) for name, v in (inputs or {}).items()}
    case = make_case({n: g.shape for n, g in golden.items()}, dtype, {n: d.shape for n, d in inputs.items()})

    def compute(c, _inputs, block=size):
        values = others[c.attributes["other"]] if "other" in c.attributes else golden
        for name, g in values.items():
            yield from blocks(name, np.asarray(g, dtype=np.float64), size=block, magnitude=magnitude)

    def alternatives(c, data):
        return [Alternative(label, 1.0, replace(c, attributes={"other": label}), data) for label in others]

    operator = make_operator(list(golden), list(inputs), golden=compute, alternatives=alternatives)
    verdict = judge_case(
        case,
        operator,
        compute(case, inputs),
        {n: stored(g, dtype) for n, g in golden.items()},
        profiles=profiles,
        inputs=inputs,
        tiling=tiling,
        options=options or None,
    )
    assert verdict.passed
    return verdict.untrusted


def tiling(size, cores, tile=8, outputs=("y",)):
    edges = [size * c // cores for c in range(cores + 1)]
    return Tiling(cores, tile, {o: [(edges[c], edges[c + 1]) for c in range(cores)] for o in outputs})


def test_real_data_is_trusted():
    rng = np.random.default_rng(0)
    for n in (6, 60, 300, 5000):
        g = np.round(rng.uniform(1, 2, n) * 512) / 512
        x = np.round(rng.uniform(1, 2, n) * 512) / 512
        other = {"sum": {"y": g * n}, "mean": {"y": g / n}}
        for size in (1 << 16, 7, 1000):
            assert untrusted({"y": g}, inputs={"x": x}, tiling=tiling(n, min(n, 5)), size=size, others=other) == []


@pytest.mark.parametrize("size", [1 << 16, 5])
def test_zeros_and_ones(size):
    ones = np.full(300, 1.0)
    assert untrusted({"y": np.zeros(300), "z": ones * 2}, size=size) == ["zeros would pass in y"]
    assert untrusted({"y": ones, "z": ones * 2}, size=size) == ["ones would pass in y"]
    # Tiny results pass as zeros under an absolute tolerance, not under the bound; every profile must be passed.
    tiny = np.full(300, 2.0**-14)
    assert untrusted({"y": tiny}, profiles=["ut"], size=size, tiling=tiling(300, 3)) == ["zeros would pass in y"]
    assert untrusted({"y": tiny}, profiles=["ut"], size=size) == ["zeros would pass in y"]
    assert untrusted({"y": tiny}, profiles=["ut", "bound"], size=size) == []


@pytest.mark.parametrize("size", [1 << 16, 100])
@pytest.mark.parametrize("last", [0.0, 2.0**-10])
def test_one_element_at_the_end_refutes(size, last):
    golden = np.zeros(1000)
    golden[-1] = last
    found = untrusted({"y": golden}, size=size)
    assert found == (["zeros would pass in y"] if last == 0 else [])


def test_copies_of_inputs():
    x = np.arange(1, 13, dtype=float)
    assert untrusted({"y": x, "z": x + 1}, inputs={"a": x, "b": x + 1, "c": x[:3]}) == [
        "a copy of a would pass in y",
        "a copy of b would pass in z",
    ]
    nearly = x.copy()
    nearly[-1] = 14
    assert untrusted({"y": x}, inputs={"a": nearly}) == []


def test_a_copy_that_holds_nan_and_inf():
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    assert untrusted({"y": x}, inputs={"a": x}) == ["a copy of a would pass in y"]
    assert untrusted({"y": x}, inputs={"a": x[::-1].copy()}) == []


@pytest.mark.parametrize("size", [1 << 16, 33])
def test_a_slice_of_zeros(size):
    g = np.ones(500) * 3
    cut = tiling(500, 5)
    g[300:400] = 0
    assert untrusted({"y": g}, tiling=cut, size=size) == ["core 3's slice of y left zero would pass"]
    g[310] = 1
    assert untrusted({"y": g}, tiling=cut, size=size) == []
    g[300:500] = 0
    # The last tile of 8 in the slice [400, 500) is [496, 500).
    expected = [
        "core 3's slice of y left zero would pass",
        "core 4's slice of y left zero would pass",
        "the last tile of y left zero would pass",
    ]
    assert untrusted({"y": g}, tiling=cut, size=size) == expected
    g[400] = 1
    assert untrusted({"y": g}, tiling=cut, size=size) == [expected[0], expected[2]]


@pytest.mark.parametrize("profiles", [["ut", "bound"], ["bound", "ut"]])
def test_a_slice_must_pass_every_profile(profiles):
    g = np.ones(40) * 3
    g[10:20] = 2.0**-14
    assert untrusted({"y": g}, profiles=profiles, tiling=tiling(40, 4)) == []
    assert untrusted({"y": g}, profiles=["ut"], tiling=tiling(40, 4)) == ["core 1's slice of y left zero would pass"]


def test_slices_count_only_where_two_cores_work():
    g = np.ones(8)
    assert untrusted({"y": np.zeros(8), "z": g * 2}, tiling=Tiling(1, 8, {"y": [(0, 8)], "z": [(0, 8)]})) == [
        "zeros would pass in y"
    ]
    one = np.array([0.0, 0, 2, 2])
    assert untrusted({"y": one}, tiling=Tiling(1, 2, {"y": [(0, 4)]})) == []
    assert untrusted({"y": one[::-1].copy()}, tiling=Tiling(1, 2, {"y": [(0, 4)]})) == [
        "the last tile of y left zero would pass"
    ]
    # Cores without elements write nothing and leave nothing out.
    idle = Tiling(4, 2, {"y": [(0, 2), (2, 4), (4, 4), (4, 4)]})
    assert untrusted({"y": one}, tiling=idle) == ["core 0's slice of y left zero would pass"]


def test_golden_of_another_computation():
    g = np.arange(1, 101, dtype=float)
    same_z = np.full(100, 2.0)
    others = {"sum": {"y": g * 2, "z": same_z}, "mean": {"y": g, "z": same_z / 2}}
    for size in (1 << 16, 9):
        found = untrusted({"y": g, "z": same_z}, others=others, size=size)
        assert found == ["the golden of mean would pass in y", "the golden of sum would pass in z"]


def test_other_computations_run_only_as_far_as_needed():
    read = []
    g = np.arange(1, 1001, dtype=float)

    def compute(c, _inputs, block=50):
        for b in blocks("y", g * (2 if c.attributes else 1), size=50):
            if c.attributes:
                read.append(b.start)
            yield b

    case = make_case({"y": (1000,)}, "fp16", {"x": (1000,)})
    operator = make_operator(
        ["y"],
        ["x"],
        golden=compute,
        alternatives=lambda c, d: [Alternative("twice", 1.0, replace(c, attributes={"t": 1}), d)],
    )
    verdict = judge_case(
        case,
        operator,
        compute(case, {}),
        {"y": stored(g, "fp16")},
        profiles=["bound"],
        inputs={"x": Data(stored(g + 1, "fp16"), "fp16")},
    )
    assert verdict.untrusted == []
    assert read == [0]


def test_empty_outputs_cannot_fail():
    assert untrusted({"y": np.zeros((0, 3)), "z": np.ones(2) * 2}) == ["y has no elements: any result would pass"]


@pytest.mark.parametrize(
    "profile", ["community-mere-mare-2026-04", "community-mixed-2026-07", "community-mixed-2026-09"]
)
def test_statistics(profile):
    """One per cent may be wrong under the mixed profiles: a slice as small as that is left out unseen."""
    g = np.full(1000, 2.0**-5)
    edges = [0, 10, 400, 1000]
    cut = Tiling(3, 4096, {"y": list(itertools.pairwise(edges))})
    found = untrusted({"y": g}, profiles=[profile], tiling=cut)
    assert found == (["core 0's slice of y left zero would pass"] if "mixed" in profile else [])
    # With 11 of 1,000 it is seen; and where the cap is passed, 10 are seen too.
    wider = Tiling(3, 4096, {"y": [(0, 11), (11, 400), (400, 1000)]})
    assert untrusted({"y": g}, profiles=[profile], tiling=wider) == []
    assert untrusted({"y": g * 64}, profiles=[profile], tiling=cut) == []


def test_commercial():
    """Judged by what the benchmark's own errors leave: zeros are far beyond them, unless the benchmark is as wrong."""
    golden = np.linspace(1, 2, 64)
    actual = stored(np.round(golden * 1024) / 1024, "fp16")
    case = make_case({"y": (64,)}, "fp16")

    def run(benchmark):
        return judge_case(
            case,
            make_operator(["y"]),
            blocks("y", golden),
            {"y": actual},
            profiles=["commercial-l0"],
            benchmark={"y": stored(benchmark, "fp16")},
        )

    assert run(actual.astype(float)).untrusted == []
    assert run(np.zeros(64)).untrusted[:1] == ["zeros would pass in y"]


def test_it_can_be_left_out():
    case = make_case({"y": (3,)}, "fp16")
    verdict = judge_case(
        case,
        make_operator(["y"]),
        blocks("y", np.zeros(3)),
        {"y": stored(np.zeros(3), "fp16")},
        profiles=["ut"],
        trust=False,
    )
    assert verdict.untrusted == []


def test_the_golden_times_a_number_is_an_alternative_and_needs_no_computation():
    g = np.array([1.0, -3.0, 0.5])
    case = make_case({"y": (3,)}, "fp16", {"x": (3,)})
    inputs = {"x": Data(stored([7.0, 8.0, 9.0], "fp16"), "fp16")}

    def verdict(scales):
        operator = make_operator(["y"], ["x"], alternatives=lambda c, d: [Alternative(f"times {s}", s) for s in scales])
        return judge_case(
            case, operator, blocks("y", g), {"y": stored(g, "fp16")}, profiles=["bound"], inputs=inputs
        ).untrusted

    assert verdict([2.0, -1.0, 0.5]) == []
    # Closer to 1 than half can tell: it would pass.
    assert verdict([2.0, 1.0 + 2.0**-13]) == [f"the golden of times {1.0 + 2.0**-13} would pass in y"]


def test_alternatives_that_share_a_computation_run_it_once():
    runs = []
    g = np.arange(1, 301, dtype=float)

    def compute(c, _inputs, block=100):
        if c.attributes:
            runs.append(c)
        yield from blocks("y", g * (2 if c.attributes else 1), size=100)

    def alternatives(c, d):
        other = replace(c, attributes={"t": 1})
        # The second is the golden again: it has to be looked at to the end.
        return [Alternative("twice", 1.0, other, d), Alternative("half of twice", 0.5, other, d)]

    case = make_case({"y": (300,)}, "fp16", {"x": (300,)})
    operator = make_operator(["y"], ["x"], golden=compute, alternatives=alternatives)
    verdict = judge_case(
        case,
        operator,
        compute(case, {}),
        {"y": stored(g, "fp16")},
        profiles=["bound"],
        inputs={"x": Data(stored(g + 1, "fp16"), "fp16")},
    )
    assert verdict.untrusted == ["the golden of half of twice would pass in y"]
    assert len(runs) == 1
