"""How many antecedents SpotSigs should have for whole documents: `python benchmarks/spots.py --data DIR`.

Truth are the pairs that the exact join finds by ten-word shingles. What plain SpotSigs (`--no-verify`) finds by the same limit
is compared with them; a method that finds candidates should miss none of them, and should not find many others. For sentences,
`studies/signatures.py` measures the same on oracle sets.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

import ibidem

COLLECTIONS = ("mdn_en", "newsgroups20", "mail_list", "mdn_zh")
ANTECEDENTS = (5, 20, 100, 1000, 10_000, "auto")


def pairs_of(documents: pa.Table, **settings: Any) -> tuple[set[tuple[str, str]], float]:
    """Return the pairs of duplicates, and the seconds it took to find them."""
    begin = time.perf_counter()
    found = ibidem.cluster(documents, **settings).duplicates
    seconds = time.perf_counter() - begin
    return set(zip(found["a_id"].to_pylist(), found["b_id"].to_pylist(), strict=True)), seconds


def read_documents(path: Path, n_documents: int) -> pa.Table:
    """Return the first documents of a collection."""
    rows = []
    for document in ibidem.read(str(path)):
        rows.append({"id": document.id, "text": document.text})
        if len(rows) == n_documents:
            break
    return pa.Table.from_pylist(rows)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of real collections")
    parser.add_argument("--documents", type=int, default=12_000, help="documents of each collection")
    options = parser.parse_args()
    missing = [name for name in COLLECTIONS if not (options.data / name / "docs.jsonl.zst").exists()]
    if missing:
        sys.exit(f"{options.data} has no {', '.join(missing)}")
    print("| collection | antecedents | true pairs | found | recall | precision | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in COLLECTIONS:
        documents = read_documents(options.data / name / "docs.jsonl.zst", options.documents)
        truth, _ = pairs_of(documents)
        for number in ANTECEDENTS:
            found, seconds = pairs_of(documents, method="spotsigs", antecedents=number, verify=False)
            right = len(found & truth)
            recall, precision = right / max(1, len(truth)), right / max(1, len(found))
            counts = f"{number} | {len(truth):,} | {len(found):,}"
            print(f"| {name} | {counts} | {recall:.3f} | {precision:.3f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
