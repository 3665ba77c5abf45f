"""PDC-MR (Zhang et al., SIGIR 2010), figures 10 and 11 and table 3: what sentences find and whole documents hide.

The paper's four web collections are licensed; here there are five others: technical pages in English and in Chinese, templated
reference pages, mail and forum posts. As in the paper the level of documents is plain SpotSigs on whole documents: similarity
0.44, its own paper's limit, the 20 most frequent words as antecedents, the 100 most frequent as stop words that chains skip,
and no other comparison of the pairs. Which words its own paper takes is not said; a second table has other choices. The level
of sentences is I-Match on sentences, idf from 0.1 to 1, in runs of at least three; beside it `--as pdc-mr`, as printed: more
than three, and sentences with nothing left by idf are equal. For comparison, ibidem's own `cluster` and `find` run with default
settings.

Table 3 is the judgement of people who read 200 documents of each collection. Instead, passages are classified by what can be
measured: how much of both documents they cover, and in how many documents their text appears. level_times.py has figure 11.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from evidence import Study, require, study_options
from inputs import read_documents, read_records
from level_times import show_times

import ibidem

COLLECTIONS = {
    "technical pages": "mdn_en/docs.jsonl.zst",
    "Chinese technical pages": "mdn_zh/docs.jsonl.zst",
    "reference pages": "win32_api_docs/docs.jsonl.zst",
    "mail": "mail_list/docs.jsonl.zst",
    "forum posts": "newsgroups20/docs.jsonl.zst",
}
QUOTING = {"mail": "mail_list/truth_passages.jsonl.zst", "forum posts": "newsgroups20/truth_passages.jsonl.zst"}
PLAIN: dict[str, Any] = {"method": "spotsigs", "min_similarity": 0.44, "verify": False}
READINGS = ((20, 100), (5, 100), (20, 0), (5, 0))  # antecedents and stop words, the most frequent ones; the first is used
BY_SENTENCE: dict[str, Any] = {
    "signature": "imatch", "min_idf": 0.1, "max_idf": 1.0, "max_gap_sentences": 0, "min_quote_words": 0,
}  # fmt: skip
AS_PRINTED: dict[str, Any] = {"as_paper": "pdc-mr", "max_places": 100}  # without the cap, a footer makes millions of pairs
GROWING = "reference pages"
LONG_SENTENCES = 0.8  # of a document: more is no part of it
COMMON = 0.094  # of the paper's first million documents of WT10g have duplicates in parts only
PRECISE = 0.95  # of whole documents
PART = "a part of both"


def spotsigs(antecedents: int, stop_words: int) -> dict[str, Any]:
    """Return the settings of plain SpotSigs on documents."""
    return PLAIN | {"antecedents": antecedents, "spot_stop_words": stop_words}


def by_document(documents: pa.Table, **settings: Any) -> set[str]:
    """Return the documents that are duplicates of another one as a whole."""
    result = ibidem.cluster(documents, **settings)
    pairs = result.duplicates
    return {*pairs["a_id"].to_pylist(), *pairs["b_id"].to_pylist(), *result.clusters["id"].to_pylist()}


def by_sentence(documents: pa.Table, **settings: Any) -> tuple[set[str], ibidem.Result]:
    """Return the documents that share passages, or text in very many places."""
    result = ibidem.find(documents, **settings)
    table = result.documents
    return set(table.filter(pc.greater(table["reused_share"], 0))["id"].to_pylist()), result


class Levels(NamedTuple):
    """The documents of one collection that have duplicates, by the way that finds them."""

    n_documents: int
    wholes: list[set[str]]  # by SpotSigs, for each reading
    parts: set[str]  # by I-Match on sentences
    printed: set[str]  # the same as printed
    own_wholes: set[str]
    own_parts: set[str]

    def ratio(self, whole: set[str], part: set[str]) -> float:
        """Return how many documents have duplicates in parts only, for each one that has whole ones."""
        return len(part - whole) / max(1, len(whole))


def show_levels(study: Study, collections: dict[str, pa.Table]) -> dict[str, ibidem.Result]:
    """Figure 10: how many more documents have partial duplicates."""
    found, results = {}, {}
    for name, documents in collections.items():
        wholes = [by_document(documents, **spotsigs(*reading)) for reading in READINGS]
        parts, printed = (by_sentence(documents, **settings)[0] for settings in (BY_SENTENCE, AS_PRINTED))
        own_parts, results[name] = by_sentence(documents)
        found[name] = Levels(documents.num_rows, wholes, parts, printed, by_document(documents), own_parts)
    rows = []
    for name, of in found.items():
        whole = of.wholes[0]
        only, missed = len(of.parts - whole), len(whole - of.parts)
        own = len(of.own_wholes), len(of.own_parts - of.own_wholes)
        rows.append((name, of.n_documents, len(whole), only, of.ratio(whole, of.parts), missed, *own))
    columns = (
        "", "documents", "SpotSigs, whole documents", "I-Match by sentences: in parts only", "for each whole one",
        "SpotSigs only", "ibidem cluster", "ibidem find: in parts only",
    )  # fmt: skip
    note = "Paper, first million documents of WT10g: 31,000 whole documents, another 94,000 in parts: 3.0 for each whole one."
    study.table("levels", "Documents with duplicates, whole and partial (figure 10)", columns, rows, note)
    show_readings(study, found)
    points = [
        {"collection": row[0], "level": level, "documents": number / row[1]}
        for row in rows
        for level, number in (("whole", row[2]), ("in parts only", row[3]))
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_bar().encode(
        y=alt.Y("collection:N", title=None, sort=list(collections)), color=alt.Color("level:N", title=None),
        x=alt.X("documents:Q", axis=alt.Axis(format="%"), title="documents"),
    ).properties(width=360, height=140)  # fmt: skip
    study.plot("levels", "Share of documents with duplicates: whole documents, and those with partial duplicates only", chart)
    judge_levels(study, found, data_of(collections))
    return results


def show_readings(study: Study, found: dict[str, Levels]) -> None:
    """Other readings of both levels: documents in parts only, for each whole one."""
    names = [f"{n} antecedents, {m or 'no'} stop words" for n, m in READINGS]
    rows = [
        (name, *(of.ratio(whole, of.parts) for whole in of.wholes), of.ratio(of.wholes[0], of.printed))
        for name, of in found.items()
    ]
    columns = ("", *names, f"`--as pdc-mr` and {names[0]}")
    note = (
        "`--as pdc-mr --max-places 100`: text in more places is a repeat, and counts as found. Sentences without a word in the "
    )
    note += "range of idf are equal there, which adds documents that share no text, most of all among technical pages."
    study.table("readings", "Documents with partial duplicates only, for each whole one, by reading", columns, rows, note)


def data_of(collections: dict[str, pa.Table]) -> str:
    """Return what the verdicts rest on."""
    sizes = ", ".join(f"{name} {documents.num_rows:,}" for name, documents in collections.items())
    return f"documents: {sizes}; nothing planted, nothing fitted; decided by {len(collections)} collections"


def judge_levels(study: Study, found: dict[str, Levels], data: str) -> None:
    """Say what of figure 10 shows."""
    ratios = {name: of.ratio(of.wholes[0], of.parts) for name, of in found.items()}
    told = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    others = {name: [of.ratio(whole, of.parts) for whole in of.wholes] for name, of in found.items()}
    settled = [name for name, values in others.items() if min(values) >= 1]
    words = (
        f"Documents with only partial duplicates, for each one that SpotSigs finds as a whole: {told} (paper: 3.0). Below 1, "
    )
    words += (
        "comparing whole documents finds most: documents are often copied completely there, as a reply contains the message "
    )
    words += f"it answers. Whichever words SpotSigs takes, it is 1 or more for {' and '.join(settled) or 'none'}."
    of = "PDC-MR, figure 10: comparing whole documents misses most partial duplicates"
    study.judge(of, [ratio >= 1 for ratio in ratios.values()], words, data)
    shares = {name: len(of.parts - of.wholes[0]) / of.n_documents for name, of in found.items()}
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    words = f"Documents with partial duplicates only, of all documents: {told} (paper, WT10g: {COMMON:.1%})."
    common = [share >= COMMON for share in shares.values()]
    study.judge("PDC-MR, section 5.4: partial duplicates are common", common, words, data)
    kept = {name: len(of.own_wholes & of.parts) / max(1, len(of.own_wholes)) for name, of in found.items()}
    told = ", ".join(f"{name} {share:.1%} of {len(found[name].own_wholes):,}" for name, share in kept.items())
    words = "Documents that are near-duplicates as a whole (80 % of their ten-word shingles, by `ibidem cluster`) and that "
    words += f"I-Match on sentences also finds: {told}. "
    words += "Where pages of a template differ in a word every few sentences, there is no run of three."
    precise = [share >= PRECISE for share in kept.values()]
    study.judge("PDC-MR, section 1: sentences also find near-duplicates of whole documents", precise, words, data)


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
        PART: large < LONG_SENTENCES,
    }
    for name, chosen in kinds.items():
        yield name, float(chosen.mean()), float(n_sentences[chosen].mean()) if chosen.any() else 0.0


def show_kinds(study: Study, results: dict[str, ibidem.Result], data: str) -> None:
    """Table 3: what the partial duplicates are."""
    rows, lengths = [], {}
    for name, result in results.items():
        mean = float(result.documents["n_sentences"].to_numpy().mean())
        for kind, share, length in kinds_of(result):
            rows.append((name, kind, f"{share:.1%}", length, mean, result.repeats.num_rows))
            if kind == PART:
                lengths[name] = length, mean
    columns = ("", "passages", "share", "mean sentences", "of the documents", "texts in more than 100 places (repeats)")
    study.table("kinds", "What passages are, by what can be measured (instead of table 3)", columns, rows)
    parts = [length for length, _ in lengths.values()]
    words = "No one judged the results here. What can be measured: passages that are a part of both documents have "
    words += f"{min(parts):.1f} to {max(parts):.1f} sentences on average (paper, quotations: about 6); "
    words += "text in very many places, the paper's 'Other', is reported separately, as repeats."
    study.verdict("PDC-MR, table 3: kinds of partial duplicates", "not available", words, data)
    told = "; ".join(f"{name} {length:.1f} of {mean:.0f}" for name, (length, mean) in lengths.items())
    words = (
        f"Sentences of passages that are a part of both documents, and of documents, on average: {told} (paper: about 6 of 23 "
    )
    words += "in SogouT and of 26 in WT10g)."
    of = "PDC-MR, section 5.4: partial duplicates are short, compared with documents"
    study.judge(of, [2 * length < mean for length, mean in lengths.values()], words, data)


def show_quotations(study: Study, data: Path, collections: dict[str, pa.Table]) -> None:
    """Section 5.4: most duplications are longer than three sentences, which is why γ is 3."""
    shares, numbers = {}, {}
    for name, path in QUOTING.items():
        texts = dict(zip(*(collections[name][column].to_pylist() for column in ("id", "text")), strict=True))
        spans = (texts[record["b_id"]][record["b_start"] : record["b_end"]] for record in read_records(data / path))
        counts = np.array([len(ibidem.split_sentences(span)) for span in spans])
        shares[name], numbers[name] = float((counts > 3).mean()), len(counts)
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    words = f"Known quotations of more than three sentences: {told}."
    known = " and ".join(f"{number:,} in {name}" for name, number in numbers.items())
    told = f"quotations known by quote marks and equal lines, incomplete; nothing planted or fitted; decided by {known}"
    of = "PDC-MR, section 5.4: most duplications are longer than three sentences"
    study.judge(of, [share > 0.5 for share in shares.values()], words, told)


def main() -> None:
    """Run the study."""
    options = study_options(__doc__).parse_args()
    data = require(options.data, *COLLECTIONS.values(), *QUOTING.values())
    study = Study("levels", "PDC-MR: whole and partial duplicates", (__doc__ or "").split("\n\n", 1)[1], options.out)
    collections = {name: read_documents(data / path) for name, path in COLLECTIONS.items()}
    results = show_levels(study, collections)
    told = data_of(collections)
    show_kinds(study, results, told)
    show_quotations(study, data, collections)
    del results
    show_times(study, GROWING, collections[GROWING], spotsigs(*READINGS[0]), BY_SENTENCE)
    words = "The four collections are licensed; the study runs on five others."
    study.verdict("PDC-MR, table 1: collections", "not available", words, told)
    largest = max(documents.num_rows for documents in collections.values())
    words = (
        f"The largest collection here has {largest:,} documents; ibidem has not been run on hundreds of millions. The three "
    )
    words += "jobs also run on Spark; tests compare their results with those in memory."
    study.verdict("PDC-MR, section 1: hundreds of millions of documents", "not available", words, told)
    study.write()


if __name__ == "__main__":
    main()
