"""Faults: kills a process that changes an index (`kill -9`) at random moments, and looks at what is left each time.

Every process goes on where the one before was killed. After each kill the index must open, `verify` must find nothing, and the
documents, ids and texts, must be those before or after the change that was broken off, never a mixture; what is left over
must be gone after the next writer.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.index_faults import KINDS, Step, Texts, left_over, make_script, problems_of, sentence_base, server

STEPS_A_RUN = 12
JOURNAL = "catalog.sqlite-journal"  # an empty one may stay until the next commit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    killed_in: Counter[str] = Counter()
    ended: dict[str, Counter[str]] = {}
    failures: list[str] = []
    begin = time.perf_counter()
    seconds_a_run = 1.0
    with tempfile.TemporaryDirectory() as name, server() as running:
        folder, log = Path(name) / "index", Path(name) / "log"
        there: Texts = {}
        n_kills = n_runs = 0
        while n_kills < args.kills and len(failures) < 5:
            n_runs += 1
            kinds = chance.choices(KINDS, weights=[4, 2, 2, 1, 1, 1, 1], k=STEPS_A_RUN)
            steps = make_script(chance.randrange(10**9), kinds, there, base=sentence_base(n_runs), prefix=f"{n_runs}")
            log.write_bytes(b"")
            started = time.perf_counter()
            after_seconds = chance.uniform(0, seconds_a_run)
            status = running.run(folder, steps, log=str(log), kill_after_seconds=after_seconds)["status"]
            was_killed = status == -signal.SIGKILL
            if not was_killed:  # it was quicker: the next ones get less time
                seconds_a_run = max(0.02, 0.8 * (time.perf_counter() - started))
            lines = log.read_text().splitlines()
            n_done = sum(line.startswith("done") for line in lines)
            is_in_step = bool(lines) and lines[-1].startswith("begin")
            n_kills += was_killed
            where = steps[n_done].kind if is_in_step else "between" if was_killed else "not killed"
            for step in steps[:n_done]:
                there = step.states(there)[-1]
            states = steps[n_done].states(there) if is_in_step else [there]
            if not folder.exists() or not (folder / "catalog.sqlite").exists():
                killed_in["opening"] += was_killed
                if lines:
                    failures.append(f"run {n_runs}: the index is gone")
                continue
            problems, which = problems_of(folder, states, dict(step_text for step in steps for step_text in step.texts.items()))
            extra = left_over(folder) - {JOURNAL}
            failures += [f"run {n_runs}, killed in {where}: {problem}" for problem in problems]
            failures += [f"run {n_runs}, killed in {where}: left over {sorted(extra)}"] if extra else []
            killed_in[where] += was_killed
            outcome = "failed" if which < 0 else "before" if which == 0 and len(states) > 1 else "after"
            if 0 < which < len(states) - 1:
                outcome = "part of a stream"
            if len(states) > 1 and states[0] == states[-1]:
                outcome = "same documents"
            ended.setdefault(where, Counter())[outcome] += 1
            there = states[max(which, 0)]
            if len(there) > 150:  # keep it small: each run has to be quick
                remove = Step("remove", {}, tuple(sorted(there)[:100]))
                running.run(folder, [remove])
                there = remove.states(there)[-1]
    print("killed in         kills  before  after  within  same documents  failed")
    for where, kills in (+killed_in).most_common():
        counts = ended.get(where, Counter())
        row = (counts["before"], counts["after"], counts["part of a stream"], counts["same documents"], counts["failed"])
        print(f"{where:16} {kills:6} {row[0]:7} {row[1]:6} {row[2]:7} {row[3]:15} {row[4]:7}")
    print(f"{n_kills} kills in {time.perf_counter() - begin:.0f} s, {len(failures)} failures")
    for failure in failures:
        print(f"  {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
