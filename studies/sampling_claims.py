"""What Ye, Wen and Ma say beside their figures: samples, hashes, shingle sizes, earlier work, uses. Used by sampling.py."""

from __future__ import annotations

import math
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from evidence import Study
from inputs import Record, read_records
from sampling_inputs import COLLECTIONS, Half

import ibidem
from ibidem.columns.components import connected
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config.settings import LARGEST
from ibidem.execution.threads import Threads

PAGES = ("mdn_en/docs_2024-01.jsonl.zst", "mdn_en/docs.jsonl.zst")
SIZES = (3, 5, 10, 20)
SMALL = 500  # words
# Table 1 and section 2.1: settings of earlier work. N of Heintze is not printed.
EARLIER: dict[str, dict[str, Any]] = {
    "Broder97: 1/25, at most 400": {"sampling": "smallest", "sample_every": 25, "sample_size": 400},
    "Heintze96: the 100 smallest": {"sampling": "smallest", "sample_size": 100},
    "Fetterly03: 2 of 6 supershingles": {"sampling": "supershingles", "shingle_size": 5},
    "Shivakumar98: two lines, 15 shared": {
        "shingle_unit": "line", "shingle_size": 2, "min_shared_shingles": 15, "min_similarity": 1,
    },
    "Cho00: four lines, 25 shared": {
        "shingle_unit": "line", "shingle_size": 4, "min_shared_shingles": 25, "min_similarity": 1,
    },
}  # fmt: skip


def show_claims(study: Study, documents: ShingledDocuments, half: Half, engine: Threads, data: Path) -> None:
    """Judge what is said in the text."""
    show_samples(study, half, engine)
    show_hashes(study, documents)
    pages = [record for name in PAGES for record in read_records(data / name)]
    show_shingle_sizes(study, pages)
    show_earlier_work(study, pages)
    show_uses(study, documents, half, engine)
    study.verdict(
        "Sampling, table 2: the .GOV collection", "not available",
        "The collection is licensed; other collections take the place of its million pages.",
        f"{COLLECTIONS}; {documents.n_documents:,} documents",
    )  # fmt: skip


def show_samples(study: Study, half: Half, engine: Threads) -> None:
    """Section 4.4: all samples of one ratio are much the same."""
    sizes = np.diff(half.sets.first)
    truth = half.pairs(np.ones(len(sizes), np.int64), "0.85", engine)
    hashes, total = half.sets.hashes, len(half.sets.hashes)
    rows, spreads = [], []
    for every in (4, 16):
        figures = []
        for remainder in range(every):
            found = half.pairs(np.full(len(sizes), every), "0.85", engine, remainder)
            right = np.count_nonzero(np.isin(found, truth))
            share = np.count_nonzero(hashes % np.uint64(every) == remainder) / total
            figures.append((share * every, right / len(found), right / len(truth)))
        low, high = np.min(figures, axis=0), np.max(figures, axis=0)
        spreads.append((max(1 - low[0], high[0] - 1), high[1] - low[1], high[2] - low[2]))
        rows.append((f"1/{every}", every, *(f"{a:.3f} to {b:.3f}" for a, b in zip(low, high, strict=True))))
    columns = ("ratio", "samples", "share of the shingles, as a multiple of the ratio", "precision", "recall")
    study.table("samples", "Samples of one ratio compared, limit 0.85 (section 4.4)", columns, rows)
    words = "; ".join(f"{row[0]}: share {row[2]} of what it should be, precision {row[3]}, recall {row[4]}" for row in rows)
    holds = [max(s[0] for s in spreads) < 0.02, max(s[1] for s in spreads) < 0.05, max(s[2] for s in spreads) < 0.05]
    study.judge(
        "Sampling, section 4.4: shares are as they should be, and samples of one ratio differ slightly", holds, f"{words}.",
        f"{COLLECTIONS}; {len(truth):,} true pairs, 20 samples",
    )  # fmt: skip


def n_repeated(values: np.ndarray) -> int:
    """Return how many values are there once more."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def show_hashes(study: Study, documents: ShingledDocuments) -> None:
    """Section 4.3: how often shorter hashes collide."""
    ordered = np.sort(documents.known_by.hashes)  # far faster than np.unique
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    spread = distinct * np.uint64(0x9E3779B97F4A7C15)  # one to one: the same 64 bits in another order
    rows, n = [], 1 << 20
    for bits in (32, 40, 64):
        short = spread >> np.uint64(64 - bits)
        n_lost = n_repeated(short)
        batches = [short[i : i + n] for i in range(0, len(short) - n + 1, n)]
        colliding = sum(n_repeated(batch) > 0 for batch in batches)
        rows.append((bits, len(distinct), n_lost, f"{colliding} of {len(batches)}", 1 - math.exp(-n * n / 2 / 2.0**bits)))
    columns = ("bits", "distinct shingles", "lost by collisions", "batches of 2^20 with a collision", "expected share")
    study.table("hashes", "Collisions by length of the hash (section 4.3)", columns, rows)
    of_pair = SMALL * SMALL / 2.0**32
    words = f"Of {rows[0][1]:,} distinct shingles 32 bits lose {rows[0][2]:,}, 40 bits {rows[1][2]:,}, 64 bits (ours) "
    words += f"{rows[2][2]}. {rows[1][3]} batches of 2^20 collide in 40 bits (calculated {rows[1][4]:.0%}; the paper says a "
    words += f"half). But two documents of 500 shingles share {of_pair:.5f} by accident, even with 32 "
    words += "bits: no pair is found by that."
    holds = [0.2 < rows[1][4] < 0.8 and rows[1][2] > 0, False]
    study.judge("Sampling, section 4.3: 32 and 40 bits collide, and make false positives", holds, words, f"{COLLECTIONS}")


def show_shingle_sizes(study: Study, pages: list[Record]) -> None:
    """Section 3.1: larger shingles are more precise, and find less."""
    cluster = {record["id"]: record["cluster"] for record in pages}
    n_true = sum(n * (n - 1) // 2 for n in Counter(cluster.values()).values())
    rows = []
    for size in SIZES:
        result = ibidem.cluster(pages, shingle_size=size, min_similarity=0.85, max_shingle_documents=LARGEST, workers=2)
        table = result.duplicates
        same = sum(cluster[a] == cluster[b] for a, b in zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True))
        rows.append((size, table.num_rows, same / table.num_rows, same / n_true))
    columns = ("words", "pairs", "share of the same page", "share of pages found again")
    study.table("words", "Pages found again two years later, by words in a shingle, limit 0.85 (section 3.1)", columns, rows)
    precision, recall = ([row[k] for row in rows] for k in (2, 3))
    told = "; ".join(f"{row[0]} words: {row[2]:.3f} and {row[3]:.3f}" for row in rows)
    words = f"Share of the pairs found that are the same page, and of these pages that are found: {told}."
    study.judge(
        "Sampling, section 3.1: larger shingles, higher precision and lower recall",
        [precision == sorted(precision), recall == sorted(recall, reverse=True)], words,
        f"mdn_en, two snapshots, English; true is the same address; nothing planted; {n_true:,} true pairs",
    )  # fmt: skip


def pairs_of(result: Any) -> set[tuple[str, str]]:
    """Return the pairs of a result."""
    table = result.duplicates
    return set(zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True))


def show_earlier_work(study: Study, pages: list[Record]) -> None:
    """Table 1: the methods of earlier work, each as printed."""
    by_text = {record["text"]: record for record in reversed(pages)}  # identical documents count once
    records = [{"id": record["id"], "text": record["text"]} for record in by_text.values()][::-1]
    n_words = {record["id"]: len(record["text"].split()) for record in records}
    exact = ibidem.cluster(records, min_similarity=0.5, max_shingle_documents=LARGEST).duplicates
    columns_of = (exact[name].to_pylist() for name in ("a_id", "b_id", "similarity"))
    truth = {(a, b): s for a, b, s in zip(*columns_of, strict=True)}
    near = {pair for pair, s in truth.items() if s >= 0.9}
    small = {pair for pair in near if max(n_words[name] for name in pair) < SMALL}
    rows: list[tuple[Any, ...]] = []
    for name, settings in EARLIER.items():
        told = {"min_similarity": 0.5, "verify": False, "max_shingle_documents": 1000, **settings}
        ibidem.cluster(records[:100], **told)  # kernels are compiled before the time is taken
        begin = time.perf_counter()
        found = pairs_of(ibidem.cluster(records, **told))
        seconds = time.perf_counter() - begin
        right = len(found & truth.keys())
        recalls = [len(found & some) / len(some) for some in (near, small, near - small)]
        rows.append((name, seconds, len(found), right / max(1, len(found)), right / len(truth), *recalls))
    columns = (
        "method", "seconds", "pairs", "precision", "recall", "recall from .9 on", "both below 500 words", "others from .9 on",
    )  # fmt: skip
    note = f"Right is a resemblance of at least 0.5 by all shingles of ten words: {len(truth):,} pairs, {len(near):,} of them "
    note += f"from 0.9 on ({len(small):,} with both documents below 500 words). Not verified; shingles of more than 1,000 "
    note += "documents make no pair."
    study.table("earlier", "Methods of earlier work (table 1)", columns, rows, note)
    by_name = {row[0].split(":")[0]: row for row in rows}
    data = f"mdn_en, two snapshots, English, {len(records):,} different pages; nothing planted; {len(truth):,} pairs from .5 on"
    told = "; ".join(f"{row[0]}: precision {row[3]:.2f}, recall {row[4]:.2f}" for row in rows)
    words = f"All five run (`--sampling`, `--shingle-unit`): {told}. Parameters only: the paper has no figures of them."
    study.verdict("Sampling, table 1: parameters of earlier work", "in shape", words, data)
    row = by_name["Fetterly03"]
    words = f"Of pairs from .9 on they find {row[6]:.2f} below 500 words and {row[7]:.2f} of the others, in {row[1]:.1f} s "
    words += f"(Broder's sample: {by_name['Broder97'][1]:.1f} s)."
    faster = row[1] < 0.8 * by_name["Broder97"][1]
    study.judge(
        "Sampling, section 2.1: supershingles are much faster, and worse for small documents",
        [faster, row[6] < row[7]],
        words,
        data,
    )
    recalls = [by_name[name][4] for name in ("Shivakumar98", "Cho00")]
    words = (
        f"Recall {recalls[0]:.2f} (two lines) and {recalls[1]:.2f} (four), {by_name['Broder97'][4]:.2f} with Broder's sample."
    )
    study.judge(
        "Sampling, section 2.1: shingles of lines may hurt recall",
        [each < by_name["Broder97"][4] for each in recalls],
        words,
        data,
    )


def show_uses(study: Study, documents: ShingledDocuments, half: Half, engine: Threads) -> None:
    """Section 7: what duplicates cost."""
    n = documents.n_documents
    wanted = np.unique(documents.digests, return_index=True)[1]
    exact = 1 - len(wanted) / n
    sizes = np.diff(half.sets.first)
    found = half.pairs(np.ones(len(sizes), np.int64), "0.85", engine)
    canonical = connected((found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32), n)
    saved = n - len(np.unique(canonical))
    near = saved / int(half.wanted.sum())
    words = (
        f"{exact:.1%} of the documents are word for word another one (paper: 9 %); of the others {near:.1%} could be removed "
    )
    words += "as near-duplicates at .85 (one half of the collection)."
    claim = "Sampling, section 7: one in ten is an exact duplicate, and near-duplicates save more"
    study.judge(claim, [exact >= 0.05, near >= 0.01], words, f"{COLLECTIONS}; {n:,} documents")
    words = (
        "Both run: `cluster --by-group` names mirrored sites, `collapse` folds duplicates in ranked results (see the guide). "
    )
    words += "The paper's figures on them (10 % of sites, 5.5 % of results, spam) are cited from others and need their data."
    study.verdict(
        "Sampling, section 7: crawling, ranking, noise", "not available", words, "examples/sites only: 19 invented pages"
    )
