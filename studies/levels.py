"""PDC-MR (Zhang et al., SIGIR 2010), figures 10 and 11 and table 3: what sentences find and whole documents hide.

The paper's four web collections are licensed; here there are five others: technical pages in English and in Chinese, templated
reference pages, mail and forum posts. As in the paper the level of documents is plain SpotSigs on whole documents (similarity
of spots 0.44,
its own paper's limit; few antecedents, as there: the 20 most frequent words; chains skip the 100 most frequent
words), the level of sentences is I-Match on sentences, idf from 0.1 to 1, in runs of at least three. For them stand
ibidem's own `cluster` and `find` run are by default
settings.

Table 3 is the judgement of people who read 200 documents of each collection. Instead, passages are classified by what can be
measured: how much of both documents they cover, and in how many documents their text appears.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from evidence import Study, require, study_options
from inputs import read_documents

import ibidem

COLLECTIONS = {
    "technical pages": "mdn_en/docs.jsonl.zst",
    "technical pages, Chinese": "mdn_zh/docs.jsonl.zst",
    "reference pages": "win32_api_docs/docs.jsonl.zst",
    "mail": "mail_list/docs.jsonl.zst",
    "forum posts": "newsgroups20/docs.jsonl.zst",
}
BY_DOCUMENT: dict[str, Any] = {
    "method": "spotsigs", "min_similarity": 0.44, "antecedents": 20, "spot_stop_words": 100, "verify": False,
}  # fmt: skip
BY_SENTENCE: dict[str, Any] = {
    "signature": "imatch", "min_idf": 0.1, "max_idf": 1.0, "max_gap_sentences": 0, "min_quote_words": 0,
}  # fmt: skip
GROWING = "reference pages"
SHARES = (0.125, 0.25, 0.5, 1.0)
LONG_SENTENCES = 0.8  # of a document: more is no part of it


class Level(NamedTuple):
    """The documents that one way finds something in, and its time."""

    documents: set[str]
    seconds: float
    n_pairs: int


def by_document(documents: pa.Table, **settings: Any) -> Level:
    """Return the documents that are duplicates of another one as a whole."""
    begin = time.perf_counter()
    result = ibidem.cluster(documents, **settings)
    seconds = time.perf_counter() - begin
    pairs = result.duplicates
    clusters = result.clusters["id"].to_pylist()
    return Level({*pairs["a_id"].to_pylist(), *pairs["b_id"].to_pylist(), *clusters}, seconds, pairs.num_rows)


def by_sentence(documents: pa.Table, **settings: Any) -> tuple[Level, ibidem.Result]:
    """Return the documents that share passages, or text in very many places."""
    begin = time.perf_counter()
    result = ibidem.find(documents, **settings)
    seconds = time.perf_counter() - begin
    table = result.documents
    found = set(table.filter(pc.greater(table["reused_share"], 0))["id"].to_pylist())
    return Level(found, seconds, result.passages.num_rows), result


def show_levels(study: Study, collections: dict[str, pa.Table]) -> dict[str, ibidem.Result]:
    """Figure 10: how many more documents have partial duplicates."""
    rows, points, results = [], [], {}
    for name, documents in collections.items():
        whole = by_document(documents, **BY_DOCUMENT)
        part, _ = by_sentence(documents, **BY_SENTENCE)
        own_whole = by_document(documents)
        own_part, results[name] = by_sentence(documents)
        more = len(part.documents - whole.documents)
        own_more, missed = own_part.documents - own_whole.documents, whole.documents - part.documents
        n_whole, n_own = len(whole.documents), len(own_whole.documents)
        rows.append((name, documents.num_rows, n_whole, more, more / max(1, n_whole), n_own, len(own_more), len(missed)))
        points += [
            {"collection": name, "level": "whole", "documents": len(whole.documents) / documents.num_rows},
            {"collection": name, "level": "in parts only", "documents": more / documents.num_rows},
        ]
    columns = (
        "", "documents", "SpotSigs, whole documents", "I-Match by sentences: in parts only", "times as many more",
        "ibidem cluster", "ibidem find: in parts only", "whole documents only",
    )  # fmt: skip
    note = "Paper, first million documents of WT10g: 31,000 whole documents, another 94,000 in parts: 3.0 times as many more."
    study.table("levels", "Documents with duplicates, whole and partial (figure 10)", columns, rows, note)
    chart = alt.Chart(alt.Data(values=points)).mark_bar().encode(
        y=alt.Y("collection:N", title=None, sort=list(collections)), color=alt.Color("level:N", title=None),
        x=alt.X("documents:Q", axis=alt.Axis(format="%"), title="documents"),
    ).properties(width=360, height=140)  # fmt: skip
    study.plot("levels", "Share of documents with duplicates: whole documents, and those with partial duplicates only", chart)
    ratios = [row[4] for row in rows]
    told = ", ".join(f"{row[0]} {row[4]:.1f}" for row in rows)
    words = "Documents with only partial duplicates, for each one that is duplicated as a whole: "
    words += f"{told} (paper: 3.0). "
    words += "Below 1, comparing whole documents finds most: documents are often copied completely there, "
    words += "as a reply contains the message it answers."
    holds = [ratio >= 1 for ratio in ratios]
    study.judge("PDC-MR, figure 10: comparing whole documents misses most partial duplicates", holds, words)
    return results


def kinds_of(result: ibidem.Result) -> Iterator[tuple[str, float, float]]:
    """Yield what can be measured of the passages: their kind, their share, and how many sentences they have in the mean."""
    passages, documents = result.passages, result.documents
    row = {name: k for k, name in enumerate(documents["id"].to_pylist())}
    n_chars = documents["n_chars"].to_numpy()
    share = []
    for side in "ab":
        at = np.array([row[name] for name in passages[f"{side}_id"].to_pylist()], np.int64)
        share.append((passages[f"{side}_end"].to_numpy() - passages[f"{side}_start"].to_numpy()) / np.maximum(1, n_chars[at]))
    small, large = np.minimum(*share), np.maximum(*share)
    n_sentences = passages["n_sentences"].to_numpy()
    kinds = {
        "both nearly whole": small >= LONG_SENTENCES,
        "one nearly whole inside the other": (small < LONG_SENTENCES) & (large >= LONG_SENTENCES),
        "a part of both": large < LONG_SENTENCES,
    }
    for name, chosen in kinds.items():
        yield name, float(chosen.mean()), float(n_sentences[chosen].mean()) if chosen.any() else 0.0


def show_kinds(study: Study, results: dict[str, ibidem.Result]) -> None:
    """Table 3: what the partial duplicates are."""
    rows, lengths = [], []
    for name, result in results.items():
        repeated = result.repeats.num_rows
        for kind, share, length in kinds_of(result):
            rows.append((name, kind, f"{share:.1%}", length, repeated))
            if kind == "a part of both":
                lengths.append(length)
    columns = ("", "passages", "share", "mean sentences", "texts in more than 100 places (repeats)")
    study.table("kinds", "What passages are, by what can be measured (instead of table 3)", columns, rows)
    words = "No one judged the results here. What can be measured: passages that are a part of both documents have "
    words += f"{min(lengths):.1f} to {max(lengths):.1f} sentences on average (paper, quotations: about 6); "
    words += "text in very many places, the paper's 'Other', is reported separately, as repeats."
    study.verdict("PDC-MR, table 3: kinds of partial duplicates", "not available", words)


def show_times(study: Study, documents: pa.Table) -> None:
    """Figure 11: time by size."""
    rows, points = [], []
    for share in SHARES:
        some = documents.slice(0, int(share * documents.num_rows))
        whole, (part, _) = by_document(some, **BY_DOCUMENT), by_sentence(some, **BY_SENTENCE)
        rows.append((some.num_rows, whole.seconds, part.seconds))
        points += [
            {"documents": some.num_rows, "seconds": level.seconds, "way": way}
            for level, way in ((whole, "SpotSigs, documents"), (part, "I-Match, sentences"))
        ]
    columns = ("documents", "SpotSigs on documents, s", "I-Match on sentences, s")
    study.table("times", f"Time by size ({GROWING}; figure 11)", columns, rows)
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x="documents:Q", y="seconds:Q", color=alt.Color("way:N", title=None)
    ).properties(width=320, height=180)  # fmt: skip
    study.plot("times", "Seconds by number of documents, SpotSigs on documents and I-Match on sentences", chart)
    faster = [by_sentences < by_documents for _, by_documents, by_sentences in rows]
    told = "; ".join(f"{n:,} documents: {b:.2f} s by sentences, {a:.2f} s by documents" for n, a, b in (rows[0], rows[-1]))
    words = f"{told}. By sentences is faster at {sum(faster)} of {len(faster)} sizes. (On one machine, and both with the same "
    words += "engine.)"
    study.judge("PDC-MR, figure 11: by sentences is faster", faster, words)


def main() -> None:
    """Run the study."""
    options = study_options(__doc__).parse_args()
    data = require(options.data, *COLLECTIONS.values())
    study = Study("levels", "PDC-MR: whole and partial duplicates", (__doc__ or "").split("\n\n", 1)[1], options.out)
    collections = {name: read_documents(data / path) for name, path in COLLECTIONS.items()}
    results = show_levels(study, collections)
    show_kinds(study, results)
    show_times(study, collections[GROWING])
    words = "The four collections are licensed; the study runs on five others."
    study.verdict("PDC-MR, table 1: collections", "not available", words)
    study.write()


if __name__ == "__main__":
    main()
