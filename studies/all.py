"""Runs all studies, one after the other, and makes the pages of them: `python studies/all.py --data DIR`.

On two idle cores it takes less than an hour. A study whose collections are not in DIR is skipped; the pages then show what it
found the last time.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from evidence import EVIDENCE, MISSING, study_options

STUDIES = (
    "restaurants",
    "signatures",
    "levels",
    "qsign",
    "qsign_disk",
    "fingerprints",
    "sampling",
    "peers",
)
DONE, SKIPPED, FAILED = "done", "skipped, collections are missing", "failed"


def run_study(name: str, data: str | None, out: Path) -> str:
    """Run a study and say what became of it."""
    script = Path(__file__).with_name(f"{name}.py")
    collections = ["--data", data] if data else []
    code = subprocess.run([sys.executable, str(script), *collections, "--out", str(out)], check=False).returncode
    return {0: DONE, MISSING: SKIPPED}.get(code, FAILED)


def main() -> None:
    """Run the chosen studies; one that fails is named when all have run."""
    parser = study_options(__doc__)
    parser.add_argument("--only", default=",".join(STUDIES), help="names of studies, separated by commas")
    options = parser.parse_args()
    names = options.only.split(",")
    outcomes: dict[str, str] = {}
    begin = time.perf_counter()
    for number, name in enumerate(names, 1):
        print(f"\n# [{number}/{len(names)}] {name}", flush=True)
        begin_study = time.perf_counter()
        outcomes[name] = run_study(name, options.data, options.out)
        now = time.perf_counter()
        taken = f"{now - begin_study:.0f} s; {(now - begin) / 60:.1f} min so far"
        print(f"\n[{number}/{len(names)}] {name}: {outcomes[name]}, {taken}", flush=True)
    print(f"\nall studies: {(time.perf_counter() - begin) / 60:.1f} min", flush=True)
    for outcome in (SKIPPED, FAILED):
        of_outcome = [name for name in names if outcomes[name] == outcome]
        if of_outcome:
            print(f"{outcome}: {', '.join(of_outcome)}", flush=True)
    if FAILED in outcomes.values():
        sys.exit(1)
    if DONE not in outcomes.values():
        sys.exit("nothing was measured")
    if options.out.resolve() == EVIDENCE:
        subprocess.run([sys.executable, str(Path(__file__).with_name("page.py"))], check=True)


if __name__ == "__main__":
    main()
