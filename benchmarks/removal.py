"""How much of known copies `dedup --level passage` removes, without and with `--align`, and whether a copy of it stays.

`python benchmarks/removal.py --data DIR` reads DIR/NAME/docs.jsonl.zst and truth_passages.jsonl.zst. A passage that occurs
twice should lose one side: the share is of the characters on the side that loses more.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from typing import Any

import numpy as np

import ibidem
from make_collection import read_lines, require_data

LIMITS = (0.9, 0.8, 0.7, 0.6)


def main() -> None:
    """Print a row per setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--name", default="pan13_dev", help="collection in it")
    options = parser.parse_args()
    folder = require_data(options.data) / options.name
    records = [json.loads(line) for line in read_lines(folder / "docs.jsonl.zst")]
    truth = [json.loads(line) for line in read_lines(folder / "truth_passages.jsonl.zst")]
    n_chars = {record["id"]: len(record["text"]) for record in records}
    settings: list[dict[str, Any]] = [{}, *({"align": True, "min_copy_similarity": limit} for limit in LIMITS)]
    print(f"{'':36}{'removed':>9}{'of known copies':>17}{'copy not kept':>15}{'s':>7}")
    for some in settings:
        begin = time.perf_counter()
        removed = ibidem.dedup(records, level="passage", **some).removed.to_pylist()
        seconds = time.perf_counter() - begin
        cut = {name: np.zeros(n, np.bool_) for name, n in n_chars.items()}
        for row in removed:
            cut[row["id"]][row["start"] : row["end"]] = True
        lost = sum(bool(cut[row["matched_id"]][row["matched_start"] : row["matched_end"]].any()) for row in removed)
        by_kind: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for known in truth:
            sides = [cut[known[f"{side}_id"]][known[f"{side}_start"] : known[f"{side}_end"]] for side in "ab"]
            side = max(sides, key=lambda one: int(one.sum()))
            for kind in ("", known.get("category", "")):
                by_kind[kind][0] += int(side.sum())
                by_kind[kind][1] += len(side)
        share = sum(int(one.sum()) for one in cut.values()) / sum(n_chars.values())
        of_known = by_kind.pop("")
        name = " ".join(f"{key}={value}" for key, value in some.items()) or "sentences alone"
        print(f"{name:36}{share:9.3f}{of_known[0] / of_known[1]:17.3f}{lost:15,}{seconds:7.1f}")
        print("    " + ", ".join(f"{kind} {part / whole:.3f}" for kind, (part, whole) in sorted(by_kind.items())), flush=True)


if __name__ == "__main__":
    main()
