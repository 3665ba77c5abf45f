"""How well `find` locates quotations: characters found of the known ones, and how many reported ones can be accounted for.

The truth of both collections is sound but incomplete (a quotation also stands in other messages of its thread), so there are
two precisions: against the truth alone, a lower bound, and counting a passage as right when both messages are of one thread.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import ibidem
from make_collection import read_lines, require_data


def covered(spans: list[tuple[int, int]], start: int, end: int) -> int:
    """Return how many characters of [start, end) lie in any of the spans."""
    total, at = 0, start
    for s, e in sorted(spans):
        s, e = max(s, at), min(e, end)
        if e > s:
            total += e - s
            at = e
    return total


def measure(folder: Path, **settings: object) -> tuple[dict[str, float], ibidem.Result]:
    """Run `find` and compare with the truth, by characters of both sides."""
    records = [json.loads(line) for line in read_lines(folder / "docs.jsonl.zst")]
    truth = [json.loads(line) for line in read_lines(folder / "truth_passages.jsonl.zst")]
    thread = {r["id"]: r.get("thread") or r.get("subject", "").lower().removeprefix("re: ") or r["id"] for r in records}
    result = ibidem.find(records, **settings)
    found: dict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    columns = ("a_id", "b_id", "a_start", "a_end", "b_start", "b_end")
    for a, b, *span in zip(*(result.passages[c].to_pylist() for c in columns), strict=True):
        found[a, b].append(tuple(span))
        found[b, a].append((span[2], span[3], span[0], span[1]))
    known: dict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    wanted = hit = 0
    n_hit = 0
    for t in truth:
        a, b = t["a_id"], t["b_id"]
        known[a, b].append((t["a_start"], t["a_end"], t["b_start"], t["b_end"]))
        known[b, a].append((t["b_start"], t["b_end"], t["a_start"], t["a_end"]))
        size = t["a_end"] - t["a_start"] + t["b_end"] - t["b_start"]
        got = covered([(s[0], s[1]) for s in found[a, b]], t["a_start"], t["a_end"])
        got += covered([(s[2], s[3]) for s in found[a, b]], t["b_start"], t["b_end"])
        wanted += size
        hit += got
        n_hit += got >= size / 2
    reported = true = plausible = 0
    for (a, b), spans in found.items():
        for start, end, *_ in spans:
            reported += end - start
            got = covered([(s[0], s[1]) for s in known[a, b]], start, end) if (a, b) in known else 0
            true += got
            plausible += end - start if thread[a] == thread[b] else got
    figures = {
        "recall": hit / wanted,
        "quotations_found": n_hit / len(truth),
        "precision_truth": true / reported,
        "precision_thread": plausible / reported,
        "passages": len(result),
    }
    return figures, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the collections mail_list and newsgroups20")
    parser.add_argument("--show", type=int, default=0, help="print that many random passages, to be read by eye")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of find")
    options = parser.parse_args()
    data = require_data(options.data)
    settings = {name: (int(value) if value.isdecimal() else value) for name, value in (s.split("=") for s in options.set)}
    for name in ("mail_list", "newsgroups20"):
        for signature in ("exact", "words"):
            figures, result = measure(data / name, **{"signature": signature, **settings})
            print(f"{name:13} {signature:6}", "  ".join(f"{k} {v:.3f}" if v <= 1 else f"{k} {v:,}" for k, v in figures.items()))
        for passage in random.Random(2).sample(list(result), min(options.show, len(result))):
            print(f"\n[{passage.kind} {passage.similarity:.2f} {passage.n_sentences}] {passage.a.id} | {passage.b.id}")
            print("  A:", " ".join(passage.a.text.split())[:400])
            print("  B:", " ".join(passage.b.text.split())[:400])


if __name__ == "__main__":
    main()
