"""Union–find: over nodes numbered from 0, and over arbitrary 64-bit numbers in a hash table."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel

_HALF = np.uint64(32)


@inner_kernel
def find_root(parent, x):
    """Return the root of x, halving the path on the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@inner_kernel
def unite(parent, x, y):
    """Join two components; the smaller number is the root, so the outcome does not depend on the order of joins."""
    x = find_root(parent, x)
    y = find_root(parent, y)
    if x < y:
        parent[y] = x
    elif y < x:
        parent[x] = y


@outer_kernel
def unite_all(parent, other):
    """Join the components of two forests over the same nodes into the first."""
    for x in range(len(parent)):
        if other[x] != x:
            unite(parent, x, other[x])


@outer_kernel
def unite_pairs(a, b, parent):
    """Join the components of every a with those of b."""
    for k in range(len(a)):
        unite(parent, a[k], b[k])


@outer_kernel
def flatten(parent):
    """Make every node point to its root."""
    for x in range(len(parent)):
        parent[x] = parent[parent[x]]  # roots have the smallest numbers, so the parent is already flat


@inlined_kernel
def _slot_of(node, nodes, parent):
    """Return the slot of a node; it gets the next free one if it has none."""
    slot = np.int64(((mix(SEED, node) >> _HALF) * np.uint64(len(nodes))) >> _HALF)
    while parent[slot] >= 0 and nodes[slot] != node:
        slot += 1
        if slot == len(nodes):
            slot = 0
    if parent[slot] < 0:
        nodes[slot] = node
        parent[slot] = slot
    return slot


@outer_kernel
def unite_nodes(a, b, nodes, parent):
    """Join the components of a[i] and b[i], for each i; the smallest node is the root.

    `nodes` and `parent` are the table: fewer than 2^32 slots, more than there are nodes; the parent of a free one is -1.
    """
    for i in range(len(a)):
        if a[i] == b[i]:
            continue
        x = find_root(parent, _slot_of(a[i], nodes, parent))
        y = find_root(parent, _slot_of(b[i], nodes, parent))
        if nodes[x] < nodes[y]:
            parent[y] = x
        else:
            parent[x] = y


@outer_kernel
def list_roots(begin, end, nodes, parent, known, roots):
    """Write the nodes in the slots [begin, end) and their roots; return how many there are."""
    n = 0
    for slot in range(begin, end):
        if parent[slot] >= 0:
            known[n] = nodes[slot]
            roots[n] = nodes[find_root(parent, slot)]
            n += 1
    return n
