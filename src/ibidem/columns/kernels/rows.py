"""The kernel that says which documents are compared."""

from __future__ import annotations

from ibidem.execution.compiler import inner_kernel


@inner_kernel
def may_pair(d, e, pairing):
    """Whether two documents may be paired: not the same one unless asked for, not one side of `--against`, not one group."""
    if d == e:
        return pairing.same_document
    if len(pairing.side) > 0 and pairing.side[d] == pairing.side[e]:
        return False
    group_numbers = pairing.group_numbers
    return not (len(group_numbers) > 0 and group_numbers[d] >= 0 and group_numbers[d] == group_numbers[e])
