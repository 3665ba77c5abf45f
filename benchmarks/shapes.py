"""Collections of unusual shape, with a limit on memory: ten million tiny documents, and single documents of 100 MB.

Each verb runs in a process of its own (see large.py). Printed are time, peak memory, temporary files and what was found. The
tiny documents are one or two short sentences, a tenth of them copies of earlier ones; the large ones are two texts of sentences
that nobody would write, which share every other ten thousand sentences. No data is needed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from hostile_texts import sentence, word
from large import FOUND, VERBS, measure

SEED = 1


def tiny(n_documents: int) -> Iterator[str]:
    """Yield lines of tiny documents."""
    chance = random.Random(SEED)
    for number in range(n_documents):
        of = chance.randrange(number) if number and chance.random() < 0.1 else number
        words = [word(of % 4096), word(of // 4096 % 4096), word(of // 4096**2 + 7), *(word(of * k % 997) for k in (3, 5, 11))]
        yield f'{{"id": "{number}", "text": "{" ".join(words).capitalize()}. {word(of % 89)} {word(of % 83)}."}}\n'


def large(n_bytes: int) -> Iterator[str]:
    """Yield lines of two large documents."""
    for document in (0, 1):
        sentences, n_written, number = [], 0, 0
        while n_written < n_bytes:
            shared = number % 20_000 < 10_000
            sentences.append(sentence(2 * number + (0 if shared else document)))
            n_written += len(sentences[-1])
            number += 1
        yield f'{{"id": "large {document}", "text": "{"".join(sentences)}"}}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000_000, help="number of tiny documents")
    parser.add_argument("--mb", type=int, default=100, help="size of a large document in MB")
    parser.add_argument("--memory", default="2GB", help="limit on memory")
    parser.add_argument("--verbs", default="find-exact,find-words,cluster,dedup", help="of " + ", ".join(VERBS))
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-shapes"), help="folder for all files")
    options = parser.parse_args()
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    shapes: dict[str, Callable[[], Iterator[str]]] = {
        f"{options.documents:,} tiny": lambda: tiny(options.documents),
        f"2 of {options.mb} MB": lambda: large(10**6 * options.mb),
    }
    print("| documents | MB | verb | time | peak memory, GB | disk at most, GB | found |\n|---|---|---|---|---|---|---|")
    failed = False
    for name, lines in shapes.items():
        path = work / "documents.jsonl"
        with open(path, "w", encoding="utf-8", buffering=1 << 20) as file:
            file.writelines(lines())
        for verb in options.verbs.split(","):
            told = measure(verb, path, work / "out", work / "spill", options.memory)
            failed = failed or told is None
            if told is not None:
                kind = next((kind for kind in FOUND if kind in told["counts"]), None)
                found = f"{told['counts'][kind]:,} {kind}" if kind else ""
                size, seconds = f"{path.stat().st_size / 1e6:,.0f}", f"{told['seconds']:.0f} s"
                peak, disk = f"{told['peak_bytes'] / 1e9:.2f}", f"{told['spilled_bytes_peak'] / 1e9:.1f}"
                print("| " + " | ".join((name, size, verb, seconds, peak, disk, found)) + " |", flush=True)
    shutil.rmtree(work)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
