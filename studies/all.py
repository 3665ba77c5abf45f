"""Runs all studies, one after the other, and makes the page of them: `python studies/all.py --data DIR`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from evidence import EVIDENCE, study_options

STUDIES = ("restaurants", "signatures", "levels", "qsign", "qsign_disk", "fingerprints", "sampling", "peers")


def main() -> None:
    """Run what is chosen; a study that fails is named in the end, and the others run all the same."""
    parser = study_options(__doc__)
    parser.add_argument("--only", default=",".join(STUDIES), help="names of studies, separated by commas")
    options = parser.parse_args()
    failed = []
    begin = time.perf_counter()
    for name in options.only.split(","):
        script = Path(__file__).with_name(f"{name}.py")
        told = ["--data", options.data] if options.data else []
        print(f"\n# {name}", flush=True)
        if subprocess.run([sys.executable, str(script), *told, "--out", str(options.out)], check=False).returncode:
            failed.append(name)
    print(f"\n{(time.perf_counter() - begin) / 60:.0f} minutes", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    if options.out.resolve() == EVIDENCE:
        subprocess.run([sys.executable, str(Path(__file__).with_name("page.py"))], check=True)


if __name__ == "__main__":
    main()
