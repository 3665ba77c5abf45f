"""How well `find` locates quotations, without and with alignment: characters found of the known ones, and how many reported
ones can be accounted for.

The truth of both collections is sound but incomplete (a quotation also is in other messages of its thread), so there are
two precisions: against the truth alone, a lower bound, and counting a passage as right when both messages are of one thread.

A known quotation also contains the replies written between its lines. They are in one message only, so there are two recalls
as well: of everything, and of the lines that are in both messages.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import ibidem
from make_collection import read_lines, require_data


def covered(spans: list[tuple[int, int]], start: int, end: int) -> int:
    """Return how many characters of [start, end) are in any of the spans."""
    total, at = 0, start
    for s, e in sorted(spans):
        s, e = max(s, at), min(e, end)
        if e > s:
            total += e - s
            at = e
    return total


def letters(text: str) -> str:
    """Return a text without blanks, line breaks and signs of quoting."""
    return re.sub(r"[\s>|]", "", text)


def shared_lines(text: str, start: int, end: int, other: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of text[start:end] whose letters are in the other one's, wherever its lines break."""
    there = letters(other)
    for line in re.finditer(r"[^\n]+", text[start:end]):
        if letters(line[0]) in there:
            yield start + line.start(), start + line.end()


def measure(folder: Path, **settings: object) -> tuple[dict[str, float], ibidem.Result]:
    """Run `find` and compare with the truth, by characters of both sides."""
    records = [json.loads(line) for line in read_lines(folder / "docs.jsonl.zst")]
    truth = [json.loads(line) for line in read_lines(folder / "truth_passages.jsonl.zst")]
    texts = {r["id"]: r["text"] for r in records}
    thread = {r["id"]: r.get("thread") or r.get("subject", "").lower().removeprefix("re: ") or r["id"] for r in records}
    begin = time.perf_counter()
    result = ibidem.find(records, **settings)
    seconds = time.perf_counter() - begin
    found: dict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    columns = ("a_id", "b_id", "a_start", "a_end", "b_start", "b_end")
    for a, b, *span in zip(*(result.passages[c].to_pylist() for c in columns), strict=True):
        found[a, b].append(tuple(span))
        found[b, a].append((span[2], span[3], span[0], span[1]))
    known: dict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    wanted = hit = wanted_lines = hit_lines = 0
    n_hit = 0
    for t in truth:
        a, b = t["a_id"], t["b_id"]
        known[a, b].append((t["a_start"], t["a_end"], t["b_start"], t["b_end"]))
        known[b, a].append((t["b_start"], t["b_end"], t["a_start"], t["a_end"]))
        size = t["a_end"] - t["a_start"] + t["b_end"] - t["b_start"]
        got = covered([(s[0], s[1]) for s in found[a, b]], t["a_start"], t["a_end"])
        got += covered([(s[2], s[3]) for s in found[a, b]], t["b_start"], t["b_end"])
        for start, end in shared_lines(texts[a], t["a_start"], t["a_end"], texts[b][t["b_start"] : t["b_end"]]):
            wanted_lines += end - start
            hit_lines += covered([(s[0], s[1]) for s in found[a, b]], start, end)
        for start, end in shared_lines(texts[b], t["b_start"], t["b_end"], texts[a][t["a_start"] : t["a_end"]]):
            wanted_lines += end - start
            hit_lines += covered([(s[2], s[3]) for s in found[a, b]], start, end)
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
        "recall_of_shared_lines": hit_lines / wanted_lines,
        "quotations_found": n_hit / len(truth),
        "precision_truth": true / reported,
        "precision_thread": plausible / reported,
        "passages": len(result),
        "seconds": seconds,
    }
    return figures, result


def shown(figures: dict[str, float]) -> str:
    """Return figures by name: shares, counts and seconds."""
    form = {"passages": ",", "seconds": ".1f"}
    return "  ".join(f"{name} {value:{form.get(name, '.3f')}}" for name, value in figures.items())


def only_in(result: ibidem.Result, other: ibidem.Result) -> Iterator[ibidem.Passage]:
    """Yield the passages that meet none of another result of the same documents."""
    found: dict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    columns = ("a_id", "b_id", "a_start", "a_end", "b_start", "b_end")
    for a, b, *span in zip(*(other.passages[c].to_pylist() for c in columns), strict=True):
        found[a, b].append(tuple(span))
    for passage in result:
        a, b = passage.a, passage.b
        spans = found.get((a.id, b.id), [])
        if not any(s[0] < a.end and s[1] > a.start and s[2] < b.end and s[3] > b.start for s in spans):
            yield passage


def show(title: str, passages: list[ibidem.Passage], count: int) -> None:
    """Print some passages, chosen at random."""
    for number, passage in enumerate(random.Random(2).sample(passages, min(count, len(passages))), start=1):
        print(f"\n{title}, {number} of {len(passages):,}", end=" ")
        print(f"[{passage.kind} {passage.similarity:.2f} {passage.n_sentences}] {passage.a.id} | {passage.b.id}")
        print("  A:", " ".join(passage.a.text.split())[:400])
        print("  B:", " ".join(passage.b.text.split())[:400])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the collections mail_list and newsgroups20")
    parser.add_argument(
        "--show", type=int, default=0, help="print that many random passages, and as many that only alignment finds, to be read"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of find")
    parser.add_argument("--only", default="mail_list,newsgroups20", help="names of the collections, separated by commas")
    options = parser.parse_args()
    data = require_data(options.data)
    settings = {name: (int(value) if value.isdecimal() else value) for name, value in (s.split("=") for s in options.set)}
    for name in options.only.split(","):
        results = {}
        for signature in ("exact", "words"):
            for align in (False, True):
                figures, results[align] = measure(data / name, **{"signature": signature, "align": align, **settings})
                row = signature + " --align" * align
                print(f"{name:13} {row:14} {shown(figures)}", flush=True)
        show("found", list(results[False]), options.show)
        if options.show:
            show("found only with alignment", list(only_in(results[True], results[False])), options.show)


if __name__ == "__main__":
    main()
