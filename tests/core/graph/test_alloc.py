"""The allocator: best fit, reuse in place, chunks."""

import pytest

from app.core.graph import build as g
from app.core.graph.alloc import Arena, allocate
from app.core.graph.build import Graph


def test_takes_the_smallest_block_that_fits() -> None:
    arena = Arena(32, None)
    places = [arena.take(n) for n in (64, 32, 128, 32, 96, 32)]
    assert [offset for _chunk, offset in places] == [0, 64, 96, 224, 256, 352]
    for (chunk, offset), n in zip(places[::2], (64, 128, 96), strict=True):
        arena.give(chunk, offset, n)
    assert arena.take(90) == (0, 256)  # 96 fits better than 128, although it comes later
    assert arena.take(100) == (0, 96)
    assert arena.peak == 384


def test_joins_free_neighbours() -> None:
    arena = Arena(32, None)
    places = [arena.take(32) for _ in range(4)]
    for i in (0, 2, 1):
        arena.give(*places[i], 32)
    assert arena.take(96) == (0, 0)


def test_begins_a_chunk_when_the_largest_buffer_is_full() -> None:
    arena = Arena(32, 128)
    assert [arena.take(n) for n in (96, 64, 32)] == [(0, 0), (1, 0), (0, 96)]
    assert arena.peak == 192


@pytest.mark.parametrize(("size", "rounded"), [(0, 0), (1, 32), (32, 32), (33, 64)])
def test_rounds_up_to_the_alignment(size: int, rounded: int) -> None:
    assert Arena(32, None).padded(size) == rounded


def test_reuses_a_source_in_place_when_it_is_the_last_to_use_it() -> None:
    graph, start = Graph(), g.given("f32", 1024)
    graph.expand(g.scale(g.scale(g.mul_mat(g.given("f32", 1024, 1024), start))))
    assert _peak(graph) == 4 * (1024 + 1024 * 1024 + 1024)


def test_never_gives_an_output_away() -> None:
    graph, start = Graph(), g.given("f32", 1024)
    kept = g.cont(start)
    kept.is_output = True
    graph.expand(g.cont(g.scale(kept)))
    assert _peak(graph) == 3 * 4096  # the input's memory is taken again, the output's is not


def _peak(graph: Graph) -> int:
    arena = Arena(32, None)
    leafs = [(leaf, 0) for leaf in graph.leafs]
    allocate([(node, 0) for node in graph.nodes], leafs, [arena])
    return arena.peak
