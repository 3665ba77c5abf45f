"""Where documents live: their numbers, and the home partition of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Layout:
    """Documents are numbered in the order of their records in the sources, those of the reference from `n_input` on.

    Neighbours live together: partition p has the p-th part of the numbers, or those from `first_of_home[p]` on, so what is in
    order inside each partition is in order over all of them.

    Two documents meet in a *bucket*: the home of the earlier one combined with the *region* of the later one, a number of
    consecutive homes. If the two are far apart, the first home of the earlier one's region replaces its home: otherwise text in
    many homes would have to be sent to very many buckets. If all homes are one region (0), buckets are homes.
    """

    n_records: int
    n_input: int
    n_partitions: int
    first_of_home: NDArray[np.int64] | None = None
    homes_per_region: int = 0

    @property
    def n_regions(self) -> int:
        """Number of regions, which are groups of consecutive homes."""
        return -(-self.n_partitions // self.homes_per_region) if self.homes_per_region else 1

    def region(self, homes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the region of each home."""
        return homes // (self.homes_per_region or self.n_partitions)

    def bucket(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the bucket where each two documents meet; a is not after b."""
        home, regions = self.home(a), (self.region(self.home(a)), self.region(self.home(b)))
        home = np.where(regions[1] - regions[0] <= 1, home, regions[0] * self.homes_per_region)
        buckets: NDArray[np.int64] = home * self.n_regions + regions[1]
        return buckets

    def is_far(self, bucket: int) -> bool:
        """Return whether the regions whose documents meet in a bucket are not neighbours."""
        home, region = divmod(bucket, self.n_regions)
        return self.homes_per_region > 0 and region - home // self.homes_per_region > 1

    def is_leading(self, bucket: int, documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which documents of a bucket are the earlier ones, which are paired with all others."""
        home = bucket // self.n_regions
        homes = self.home(documents)
        leading: NDArray[np.bool_] = homes == home
        if self.is_far(bucket):
            leading = homes // self.homes_per_region == home // self.homes_per_region
        return leading

    @property
    def has_reference(self) -> bool:
        """Whether there is a reference side."""
        return self.n_input < self.n_records

    def home(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the partition of each document."""
        if self.first_of_home is not None:
            return np.searchsorted(self.first_of_home, documents, side="right") - 1
        return documents * self.n_partitions // max(1, self.n_records)

    def side(self, documents: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return 1 for documents of the reference, 0 for the others; nothing without a reference."""
        return (documents >= self.n_input).astype(np.int8) if self.has_reference else np.empty(0, np.int8)
