"""Patterns of failed positions, from whole outputs and from blocks of any size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gnll_cli.compare.location import Finder, Layout, group_of, place


def locate(bad, *, shape=None, cores=0, tile=0, group=None, block=1 << 16):
    bad = np.asarray(bad, dtype=bool)
    size = bad.size
    edges = [size * c // cores for c in range(cores + 1)] if cores else []
    layout = Layout(tuple(shape or (size,)), size, tuple(itertools.pairwise(edges)), tile, group)
    finder = Finder(layout)
    for start in range(0, size, block):
        finder.add(start, bad[start : start + block])
    return finder.locate(int(np.flatnonzero(bad)[0]), 0)


def at(size, *positions):
    bad = np.zeros(size, dtype=bool)
    bad[list(positions)] = True
    return bad


@pytest.mark.parametrize("block", [1 << 16, 7, 64])
class TestPatterns:
    def test_all(self, block):
        assert locate(np.ones(100), block=block).pattern == "all"

    def test_one_element(self, block):
        found = locate(at(100, 61), cores=4, tile=8, block=block)
        assert (found.pattern, found.core, found.tile, found.lane) == ("one element", 2, 1, 3)

    def test_one_core(self, block):
        bad = np.zeros(400, dtype=bool)
        bad[100:200] = True
        found = locate(bad, cores=4, tile=16, block=block)
        assert found.pattern == "one core"
        assert "all of the 100 elements of core 1" in found.text
        bad[100:130] = False
        bad[140:150] = False
        assert locate(bad, cores=4, tile=16, block=block).pattern == "one core"

    def test_one_var_group(self, block):
        bad = np.zeros(400, dtype=bool)
        bad[80:90] = True
        found = locate(bad, shape=(40, 10), cores=4, tile=16, group=("var", 10), block=block)
        assert found.pattern == "one var group"
        assert "all of the 10 elements that share element 8 of var" in found.text

    def test_last_tile_of_each_core(self, block):
        bad = np.zeros(400, dtype=bool)
        for core in range(4):
            bad[core * 100 + 96 : core * 100 + 100] = True
        assert locate(bad, cores=4, tile=32, block=block).pattern == "last tile of each core"
        bad[20] = True
        assert locate(bad, cores=4, tile=32, block=block).pattern == "scattered"

    def test_every_kth(self, block):
        bad = np.zeros(400, dtype=bool)
        bad[3::16] = True
        found = locate(bad, block=block)
        assert (found.pattern, "every 16-th from 3 to 387" in found.text) == ("every k-th", True)

    def test_first_and_last_lanes(self, block):
        bad = np.zeros((20, 13), dtype=bool)
        bad[:, :3] = True
        bad[4, 1] = False
        found = locate(bad.reshape(-1), shape=(20, 13), block=block)
        assert (found.pattern, "first 3 of the 13 elements of a row" in found.text) == ("first lanes", True)
        bad = bad[:, ::-1]
        found = locate(bad.reshape(-1), shape=(20, 13), block=block)
        assert (found.pattern, "last 3 of the 13 elements of a row" in found.text) == ("last lanes", True)

    def test_last_lanes_of_a_tile(self, block):
        bad = np.zeros(400, dtype=bool)
        for tile in range(0, 192, 32):
            bad[tile + 30 : tile + 32] = True
            bad[208 + tile + 30 : min(208 + tile + 32, 400)] = True
        found = locate(bad[:400], cores=1, tile=32, block=block)
        assert found.pattern == "scattered"
        bad = np.zeros(400, dtype=bool)
        for start in range(0, 384, 32):
            bad[start + 30 : start + 32] = True
        found = locate(bad, cores=1, tile=32, block=block)
        assert (found.pattern, "last 2 of the 32 elements of a tile" in found.text) == ("last lanes", True)

    def test_scattered(self, block):
        found = locate(at(400, 3, 5, 77, 78, 200), shape=(4, 100), cores=4, tile=16, group=("var", 100), block=block)
        assert (found.pattern, found.text) == ("scattered", "5 of 400 elements, between 3 and 200")


def test_memory_does_not_grow_with_the_failures():
    import tracemalloc

    finder = Finder(Layout((1 << 22,), 1 << 22))
    bad = np.zeros(1 << 16, dtype=bool)
    bad[::2] = True
    finder.add(0, bad)
    tracemalloc.start()
    for start in range(1 << 16, 1 << 22, 1 << 16):
        finder.add(start, bad)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert finder.count == 1 << 21
    assert kept < 100_000


def test_place():
    layout = Layout((20,), 20, ((0, 12), (12, 20)), 5)
    assert [place(layout, i) for i in (0, 11, 12, 19)] == [(0, 0, 0), (0, 2, 1), (1, 0, 0), (1, 1, 2)]
    assert place(Layout((20,), 20), 3) == (None, None, None)


@pytest.mark.parametrize(
    ("shape", "inputs", "expected"),
    [
        ((4, 5), (("x", (4, 5)), ("var", (4, 1))), ("var", 5)),
        ((4, 5), (("x", (4, 5)), ("var", (4,))), ("var", 5)),
        ((4, 5, 6), (("var", (4, 5, 1)),), ("var", 6)),
        ((4, 5), (("var", (4, 5)),), None),
        ((4, 5), (("var", (1,)),), None),
        ((4, 5), (("t", (1, 5)),), None),
        ((), (("x", ()),), None),
    ],
)
def test_group_of(shape, inputs, expected):
    assert group_of(shape, inputs) == expected
