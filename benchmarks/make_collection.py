"""Makes benchmark collections out of the JSONL files of a data folder: all of them, shuffled, cut to a share of their size."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pyarrow as pa

# The large ones: technical pages, templated reference pages, mail, forum posts, web pages; two snapshots of one site.
SOURCES = (
    "mdn_en/docs.jsonl.zst",
    "mdn_en/docs_2024-01.jsonl.zst",
    "win32_api_docs/docs.jsonl.zst",
    "mail_list/docs.jsonl.zst",
    "newsgroups20/docs.jsonl.zst",
    "pan13_dev/docs.jsonl.zst",
    "mdn_ja/docs.jsonl.zst",
    "mdn_zh/docs.jsonl.zst",
    "mdn_ko/docs.jsonl.zst",
)


def require_data(folder: str | None) -> Path:
    """Return the data folder, or leave with a clear word: the collections are not in the repository."""
    if folder is None or not (Path(folder) / SOURCES[0]).exists():
        sys.exit("This benchmark needs the folder of real collections: give it with --data DIR. Nothing was measured.")
    return Path(folder)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a zstd-compressed JSONL file."""
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        # Not splitlines: it also cuts at U+2028, which JSON allows inside a string.
        return [line for line in stream.read().decode("utf-8").split("\n") if line]


def make_collection(data: Path, target: Path, shares: tuple[float, ...] = (1.0,)) -> list[Path]:
    """Write the shuffled union of all sources, and the first shares of it, as JSONL with `id` and `text`; return the paths."""
    paths = [target / f"collection-{share:g}.jsonl" for share in shares]
    if all(path.exists() for path in paths):
        return paths
    target.mkdir(parents=True, exist_ok=True)
    records = []
    for source in SOURCES:
        name = source.replace("/docs", "").removesuffix(".jsonl.zst")
        for line in read_lines(data / source):
            record = json.loads(line)
            records.append(json.dumps({"id": f"{name}:{record['id']}", "text": record["text"]}, ensure_ascii=False))
    random.Random(1).shuffle(records)
    for path, share in zip(paths, shares, strict=True):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(record + "\n" for record in records[: int(share * len(records))])
    return paths


if __name__ == "__main__":
    data_folder, target_folder = sys.argv[1:3]
    for made in make_collection(require_data(data_folder), Path(target_folder), (1.0, 0.5, 0.25, 0.125, 0.0625)):
        print(made, f"{made.stat().st_size / 1e6:.0f} MB")
