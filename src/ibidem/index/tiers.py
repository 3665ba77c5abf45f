"""Which segments are merged: neighbours of about one size, so that a sentence is rewritten a few times, however many come."""

from __future__ import annotations

from collections.abc import Sequence

FAN_OUT = 4
_SMALLEST_SENTENCES = 4096  # smaller ones count as this large


def due_merge(n_sentences: Sequence[int], max_sentences: int) -> slice | None:
    """Return the run of segments (sizes in the order of their documents) that should become one, or None.

    Segments of tier t hold about FAN_OUT**t times the smallest. As soon as the last FAN_OUT segments, or more, belong to a
    tier or lower ones, they are merged, unless one of them is more than two thirds of it all: few segments stay, and a merge
    is paid for by what came since the last one. Nothing grows beyond `max_sentences`.
    """
    tiers = [_tier(n) for n in n_sentences]
    for tier in range(max(tiers, default=-1) + 1):
        begin = len(tiers)
        total = 0
        while begin > 0 and tiers[begin - 1] <= tier and total + n_sentences[begin - 1] <= max_sentences:
            begin -= 1
            total += n_sentences[begin]
        sizes = [max(size, _SMALLEST_SENTENCES) for size in n_sentences[begin:]]
        if len(sizes) >= FAN_OUT and sum(sizes) >= 1.5 * max(sizes):
            return slice(begin, len(tiers))
    return None


def groups_to_compact(n_sentences: Sequence[int], max_sentences: int) -> list[slice]:
    """Return the runs of segments that become one each when everything is compacted."""
    groups: list[slice] = []
    begin = total = 0
    for number, size in enumerate(n_sentences):
        if number > begin and total + size > max_sentences:
            groups.append(slice(begin, number))
            begin, total = number, 0
        total += size
    if begin < len(n_sentences):
        groups.append(slice(begin, len(n_sentences)))
    return groups


def _tier(n_sentences: int) -> int:
    tier, size = 0, _SMALLEST_SENTENCES
    while size * FAN_OUT <= n_sentences:
        size *= FAN_OUT
        tier += 1
    return tier
