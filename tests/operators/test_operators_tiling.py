"""Tiling of GaussianNllLossGrad, against examples computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FIELDS = [
    "smallCoreDataNum",
    "bigCoreDataNum",
    "finalBigTileNum",
    "finalSmallTileNum",
    "tileDataNum",
    "smallTailDataNum",
    "bigTailDataNum",
    "tailBlockNum",
    "totalDataNum",
    "targetDataNum",
    "varDataNum",
    "targetBroadcastAxisSize",
    "targetInnerStride",
    "targetBroadcastMode",
    "varBroadcastMode",
    "varReduceSize",
    "reduction",
    "eps",
    "meanScale",
]
EPS = 9.999999974752427e-07  # float32(1e-6): 8796093 * 2^-43
# (196352 - 160) / 44 = 4458.9 elements fit the UB, 4456 in units of 8: the limit of 4096 holds.


@pytest.mark.parametrize(
    ("shape", "target", "var", "reduction", "cores", "values"),
    [
        # 6 elements on 48 cores: 6 cores of one element each.
        (
            (2, 3),
            "axis:-1",
            "last_dim_one",
            "none",
            48,
            [1, 1, 1, 1, 4096, 1, 1, 0, 6, 2, 2, 3, 1, 1, 1, 3, 0, EPS, 0.1666666716337204],
        ),
        # 100 = 48 * 2 + 4: four cores of 3, the others of 2.
        (
            (4, 25),
            "same",
            "scalar",
            "sum",
            48,
            [2, 3, 1, 1, 4096, 2, 3, 4, 100, 100, 1, 1, 1, 0, 3, 100, 1, EPS, 0.009999999776482582],
        ),
        # 10^6 = 48 * 20833 + 16; 20833 = 5 * 4096 + 353.
        (
            (1000, 1000),
            "axis:0",
            "same",
            "mean",
            48,
            [20833, 20834, 6, 6, 4096, 353, 354, 16, 10**6, 1000, 10**6, 1000, 1000, 1, 0, 1, 2, EPS, EPS],
        ),
        # 2 * 4096 on one core: two full tiles.
        (
            (2, 4096),
            "same",
            "missing_last_dim",
            "none",
            1,
            [8192, 8192, 2, 2, 4096, 4096, 4096, 0, 8192, 8192, 2, 1, 1, 0, 2, 4096, 0, EPS, 2.0**-13],
        ),
        # Empty: one core, nothing to do, meanScale 0.
        ((5, 0), "same", "last_dim_one", "mean", 48, [0, 0, 0, 0, 4096, 0, 0, 0, 0, 0, 5, 1, 1, 0, 1, 0, 2, EPS, 0.0]),
    ],
)
def test_tiling_data_by_hand(make_case, operator, shape, target, var, reduction, cores, values):
    tiling = operator.tiling(make_case(shape, target, var, reduction), cores)
    assert list(tiling.fields) == FIELDS
    assert dict(tiling.fields) == dict(zip(FIELDS, values, strict=True))
    assert tiling.tile == 4096


def test_slices_by_hand(make_case, operator):
    tiling = operator.tiling(make_case((10,)), 4)
    assert tiling.cores == 4
    assert tiling.slices == dict.fromkeys(("gradInput", "gradVar"), ((0, 3), (3, 6), (6, 8), (8, 10)))


def test_grad_var_of_a_broadcast_var_goes_by_units_of_eight(make_case, operator):
    # 20 var elements are three units; 60 elements use 48 cores: the first three get a unit each, the last is short.
    tiling = operator.tiling(make_case((20, 3), var="missing_last_dim"), 48)
    assert tiling.slices["gradVar"][:4] == ((0, 8), (8, 16), (16, 20), (20, 20))
    # 100 var elements are 13 units on 4 cores: 4, 3, 3, 3.
    tiling = operator.tiling(make_case((100, 3), var="last_dim_one"), 4)
    assert tiling.slices["gradVar"] == ((0, 32), (32, 56), (56, 80), (80, 100))


def test_an_empty_input_still_has_grad_var_to_write(make_case, operator):
    tiling = operator.tiling(make_case((5, 0), var="last_dim_one"), 48)
    assert tiling.cores == 1
    assert tiling.slices == {"gradInput": ((0, 0),), "gradVar": ((0, 5),)}


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=3).map(tuple),
    st.sampled_from(["same", "last_dim_one", "missing_last_dim", "scalar"]),
    st.integers(1, 50),
)
@settings(max_examples=200, deadline=None)
def test_slices_cover_each_output_once_in_order(make_case, operator, shape, var, cores):
    case = make_case(shape, var=var)
    tiling = operator.tiling(case, cores)
    for output, slices in tiling.slices.items():
        assert len(slices) == tiling.cores == max(1, min(cores, case.elements("input")))
        ends = [0, *(stop for _, stop in slices)]
        assert [start for start, _ in slices] == ends[:-1]
        assert ends[-1] == case.elements(output)
