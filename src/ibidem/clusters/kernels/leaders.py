"""The kernel that chooses the leaders of clusters."""

from __future__ import annotations

from ibidem.execution.compiler import outer_kernel


@outer_kernel
def choose_leaders(order, first, neighbours, canonical):
    """In order, each document in no cluster takes its neighbours in no cluster; `canonical` is initially all -1."""
    for i in range(len(order)):
        document = order[i]
        if canonical[document] >= 0:
            continue
        canonical[document] = document
        for k in range(first[document], first[document + 1]):
            if canonical[neighbours[k]] < 0:
                canonical[neighbours[k]] = document
