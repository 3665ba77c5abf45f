"""Power cuts: traces what changes four kinds of folders, and looks at many states that a power cut may leave of each.

    python -m tests.crash --states 20000

Prints the number of different states of each kind, what restarted programs made of them, and what was lost. Exit code 1 if
anything was. States are rebuilt in /dev/shm where there is one; nothing else is written.
"""

from __future__ import annotations

import argparse
import sys

from tests.crash.all_kinds import KINDS
from tests.crash.calls import why_not
from tests.crash.replay import Report, check_sampled, trace_kinds
from tests.index_faults import quick_folder

# Of all states. A stored run takes a third of a second to be resumed, the others some hundredths.
SHARES = {"index": 0.45, "served": 0.3, "cleaned": 0.15, "runs": 0.1}


def tell(report: Report) -> None:
    """Say how far it is."""
    done = f"{report.n_states:,} states in {report.seconds:.0f} s, {len(report.losses)} losses"
    print(f"  {report.kind}: {done}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=20_000, help="states in all")
    parser.add_argument("--kinds", default=",".join(SHARES), help="of " + ", ".join(SHARES))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if reason := why_not():
        sys.exit(reason)
    names = options.kinds.split(",")
    total = sum(SHARES[name] for name in names)
    n_states = n_losses = 0
    with quick_folder() as folder:
        given = folder / "given"
        given.mkdir()
        kinds = {name: KINDS[name](given) for name in names}
        traces = trace_kinds(kinds, folder)
        for name, kind in kinds.items():
            wanted = round(options.states * SHARES[name] / total)
            report = check_sampled(kind, name, traces[name], wanted, options.seed, folder / "place", tell)
            print("\n".join(report.lines()), flush=True)
            n_states, n_losses = n_states + report.n_states, n_losses + len(report.losses)
    print(f"{n_states:,} states, {n_losses} losses")
    sys.exit(1 if n_losses else 0)


if __name__ == "__main__":
    main()
