"""Clusters of seeds: the same sets as by cutting again and again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.alignment.twins import expected_clusters
from tests.alignment.wrapping import clusters_of

SEEDS = st.integers(1, 60).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n), st.integers(0, n)), min_size=1, max_size=60))


@settings(max_examples=500, deadline=None)
@given(SEEDS, st.integers(0, 8))
def test_clusters_equal_brute_force(seeds: list[tuple[int, int]], gap: int) -> None:
    found = clusters_of(seeds, gap)
    assert sorted(sorted(cluster) for cluster in found) == expected_clusters(seeds, gap)


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.integers(0, 8))
def test_no_gap_divides_a_cluster_and_a_smaller_one_cuts_it_finer(seeds: list[tuple[int, int]], gap: int) -> None:
    clusters = clusters_of(seeds, gap)
    for cluster in clusters:
        assert expected_clusters(cluster, gap) == [sorted(cluster)]
    finer = [sorted(part) for cluster in clusters for part in clusters_of(cluster, gap // 2)]
    assert sorted(finer) == sorted(sorted(cluster) for cluster in clusters_of(seeds, gap // 2))


def test_seeds_in_any_order_are_one_cluster_and_far_ones_are_not() -> None:
    block = [(i, 9 - i) for i in range(10)]
    assert sorted(len(cluster) for cluster in clusters_of([*block, (4, 40), (40, 4), (41, 5)], 2)) == [1, 2, 10]
