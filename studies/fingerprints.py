"""Sentence fingerprints (Yoon, Jang, Kim, Park 2012) against document and sentence hashes, and against our default search.

Is a target document a duplicate, wholly or partly, of some source? Three tables of hashes, as in the paper, and the index.
Chowdhury02: one hash per document, of its words in a range of document shares, the best range here. Wang09: one hash per
sentence, of all its words in order. Fingerprints: one hash per sentence, of its words in any order, without common ones. Then
`ibidem.Index` with the search engines fingerprint and overlap. A target is a duplicate from 3 known sentences on (for
documents: from 1); sentences that occur more than 300 times in the sources are not known. Words are counted in the sources.

The paper's Korean blogs and news are not available; the collection here is newsgroups20. Sources are two thirds, drawn at
random, of the posts in discussion groups (alt, rec, soc, talk). Not duplicated are posts in technical groups (comp, misc, sci)
by other authors, without those that share lines with a source by the collection's truth: within the same groups, signatures and
threads under new names are everywhere, and the ground truth does not list them. There are two kinds of duplicates. Quotations
are real: the other posts of the sources' groups that quote, by the collection's truth (equal lines), at least 200 characters of
sources with the same subject; re-wrapped, cut, with comments in between. Clippings are artificial: a piece of a source is added
to posts that are not duplicated, either its entire text or 3 to 8 of its sentences; unchanged, or revised as in the paper's
figure 2 (in every second sentence of a part and every fifth of an entire text, a common word is removed or inserted, or two
words are swapped).

Precision is given for the paper's share of duplicates (924 of 19,076 targets), whatever the share here. The paper's sentences
are of news and blogs, with 11 to 14 words; posts have greetings, names and "Yes.". So sentences count from 4 words on, and a
table shows what happens if others do. Times are the best of three, one document per request, on one thread.

Figures 1 to 4 of the paper (examples of duplicates, the model, an example of its steps) are illustrations and left out.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from evidence import Study, require
from fingerprint_tables import MIN_HITS, MIN_WORDS, MOST_PLACES, SHARES, Sources
from fingerprint_targets import KINDS, Quality, Targets, clipping_targets, is_conversation, only_text, quoting_targets
from inputs import gathered, read_records
from newsgroups import POSTS, QUOTATIONS, best_seconds, every_sentence, parse_options
from numpy.typing import NDArray

import ibidem
from ibidem.config import Config
from ibidem.execution.tasks import in_turn
from ibidem.signatures import type_tokens

HITS = range(1, 7)
N_REQUESTS = 300
N_CLIPPINGS = 4000
LENGTHS = range(1, 9)
PAPER_SHARE = 300_000 / 500_000
PAPER_WORDS_LEFT = (4.09, 9.77)
# Table 2: megabytes, entries, ms to load, ms a request, precision, recall, F1.
PAPER = {
    "Chowdhury02": (88.0, 381_202, 2421.0, 1.38, Quality(0.8735, 0.7262, 0.7931)),
    "Wang09": (903.0, 3_623_531, 27668.0, 0.82, Quality(0.9976, 0.9080, 0.9507)),
    "fingerprints": (891.0, 3_564_761, 24540.0, 1.39, Quality(0.9948, 0.9311, 0.9618)),
}


@dataclass(frozen=True)
class Model:
    """One row of the paper's table 2: what a model costs, and what it finds."""

    name: str
    megabytes: float
    entries: int
    load_ms: float
    request_ms: float
    quality: Quality
    by_kind: Sequence[float | None] = (None,) * len(KINDS)

    def row(self, of: str) -> tuple[Any, ...]:
        """Return the cells of a table."""
        cost = (self.megabytes, self.entries, f"{self.load_ms:,.2f}", f"{self.request_ms:.2f}")
        return (of, self.name, *cost, *self.quality, *self.by_kind)


def known_sentences(index: ibidem.Index, targets: Targets, settings: dict[str, Any]) -> NDArray[np.bool_]:
    """Tell which sentences of the targets are known to the index, in no more places than allowed."""
    known = np.zeros(len(targets.collection.digest), np.bool_)
    for begin in range(0, len(targets.records), 256):
        result = index.query(targets.records[begin : begin + 256], max_places=MOST_PLACES + 1, **settings)
        hits = result.hits
        document = hits.column("a_id").combine_chunks().indices.to_numpy().astype(np.int64) + begin
        sentence = targets.collection.document_first[document] + hits.column("a_sentence").to_numpy()
        other = hits.column("b_id").combine_chunks().indices.to_numpy().astype(np.int64)
        places = np.unique(sentence << 32 | other) >> 32
        which, n_places = np.unique(places, return_counts=True)
        known[which[n_places <= MOST_PLACES]] = True
    return known


def measure_models(sources: Sources, targets: Targets, index: ibidem.Index, work: Path) -> tuple[list[Model], int]:
    """Return the models of table 2, and about how many targets the index and the bare table of fingerprints disagree."""
    collection = targets.collection
    best = max(sources.by_range.values(), key=lambda table: targets.quality(table.found(collection)).f1)
    chosen = sources.by_share[Config().signatures.max_document_share]
    asked = targets.records[:: max(1, len(targets.records) // N_REQUESTS)]
    models = []
    for table in (best, sources.sentences, chosen):
        path = work / "table.npy"
        np.save(path, table.known)
        load = best_seconds(lambda path=path: np.load(path))  # type: ignore[misc]
        request = best_seconds(lambda table=table: [table.found(gathered([one])) for one in asked]) / len(asked)  # type: ignore[misc]
        found = table.found(collection)
        cost = (path.stat().st_size / 1e6, len(table.known), 1000 * load, 1000 * request)
        models.append(Model(table.name, *cost, targets.quality(found), targets.recall_by_kind(found)))

    def reopen() -> None:
        with ibidem.Index(index.path, create=False) as again:
            len(again)

    size = sum(path.stat().st_size for path in index.path.rglob("*") if path.is_file())
    load = best_seconds(reopen)
    n_unlike = 0
    for engine in ("fingerprint", "overlap"):
        settings: dict[str, Any] = {
            "search_engine": engine, "max_places": MOST_PLACES, "min_hits": MIN_HITS, "min_hit_words": MIN_WORDS,
        }  # fmt: skip
        request = best_seconds(lambda s=settings: [index.check(one, **s) for one in asked]) / len(asked)  # type: ignore[misc]
        found = np.array([verdict.duplicated for verdict in index.check(targets.records, **settings)])
        if engine == "fingerprint":
            n_unlike = int(np.count_nonzero(found != chosen.found(collection)))
        entries = len(chosen.known) if engine == "fingerprint" else len(np.unique(sources.collection.digest))
        cost = (size / 1e6, entries, 1000 * load, 1000 * request)
        models.append(Model(f"Index, {engine}", *cost, targets.quality(found), targets.recall_by_kind(found)))
    return models, n_unlike


def show_collections(study: Study, sources: Sources, every_targets: Sequence[Targets]) -> None:
    """Table 1: what replaces what."""
    rows: list[tuple[Any, ...]] = []
    for name, collection, n_duplicated in (
        *((targets.name, targets.collection, int(targets.duplicated.sum())) for targets in every_targets),
        ("sources", sources.collection, None),
    ):
        n_sentences = len(collection.digest)
        paper = (432_162, None, 11.57, 14.45) if name == "sources" else (19_076, 924, 17.13, 11.34)
        n = collection.n_documents
        rows.append((name, n, n_duplicated, n_sentences / n, float(collection.n_words.mean()), *paper))
    what = ("documents", "duplicated", "sentences per document", "words per sentence")
    study.table("collections", "Targets and sources (table 1)", ("", *what, *(f"paper: {name}" for name in what)), rows)
    told = "; ".join(f"{row[0]}: {row[1]:,} documents with {row[3]:.1f} sentences of {row[4]:.1f} words" for row in rows)
    words = f"Forum posts in English take the place of Korean blogs and news of a week. {told}."
    study.verdict("Fingerprints, table 1: documents", "not available", words)


def show_models(study: Study, models: dict[str, list[Model]], n_unlike: dict[str, int], every: dict[str, Quality]) -> None:
    """Table 2: the three models, and the index. `every`: fingerprints on each targets if sentences of any length count."""
    rows = [Model(name, *cells).row("the paper's") for name, cells in PAPER.items()]
    rows += [model.row(name) for name, of_targets in models.items() for model in of_targets]
    columns = ("targets", "model", "MB", "entries", "load ms", "request ms", "precision", "recall", "F1")
    told = " and ".join(f"{n} of the {name}" for name, n in n_unlike.items())
    note = "The last columns give recall by kind of clipping. The index keeps places and words, not only hashes; it and the "
    note += f"bare table of fingerprints decide differently about {told}."
    study.table("models", f"Three models and the index, {MIN_HITS} hits (table 2)", (*columns, *KINDS), rows, note)
    words, costs, is_cheaper = "", "", True
    is_better = []
    for name, (document, sentence, fingerprint, *_) in models.items():
        qualities = [model.quality for model in (document, sentence, fingerprint)]
        words += f"{name}: F1 {', '.join(f'{quality.f1:.3f}' for quality in qualities)}, recall "
        words += f"{', '.join(f'{quality.recall:.3f}' for quality in qualities)}; "
        is_better.append(qualities[2].f1 - max(qualities[0].f1, qualities[1].f1) >= 0.001)
        slower, fewer = fingerprint.request_ms / sentence.request_ms, 1 - fingerprint.entries / sentence.entries
        is_cheaper &= document.entries < fingerprint.entries < sentence.entries and slower > 1
        costs += f"{name}: {fewer:.1%} fewer entries than hashes of sentences, {slower:.2f} times their time per request; "
    paper = ", ".join(f"{cells[4].f1:.3f}" for cells in PAPER.values())
    told = " and ".join(f"{quality.f1:.3f} ({name})" for name, quality in every.items())
    words = f"Documents, sentences, fingerprints: {words}the paper's F1 {paper}. If sentences of any length count, "
    words += f"fingerprints have F1 {told}. Quotations were not revised, so fingerprints cannot gain over sentences."
    study.judge("Fingerprints, table 2: better than hashes of documents and of sentences", is_better, words)
    fewer = 1 - PAPER["fingerprints"][1] / PAPER["Wang09"][1]
    words = f"{costs}in the paper {fewer:.1%} and {PAPER['fingerprints'][3] / PAPER['Wang09'][3]:.2f} times."
    study.judge("Fingerprints, table 2: fewer entries, more time per request", is_cheaper, words)


def show_lengths(study: Study, known: dict[str, dict[str, NDArray[np.bool_]]], every_targets: Sequence[Targets]) -> None:
    """Short sentences occur in many documents by chance: what if only longer ones count?"""
    rows = []
    for targets in every_targets:
        collection = targets.collection
        for n_words in LENGTHS:
            cells = []
            for is_known in known[targets.name].values():
                document = collection.document[is_known & (collection.n_words >= n_words)]
                cells.append(targets.quality(np.bincount(document, minlength=collection.n_documents) >= MIN_HITS))
            rows.append((targets.name, n_words, *cells))
    title = f"Precision / recall / F1 by the least words of a counted sentence, {MIN_HITS} hits"
    study.table("lengths", title, ("targets", "words", *next(iter(known.values()))), rows)


def show_cutoffs(study: Study, sources: Sources, every_targets: Sequence[Targets]) -> dict[str, float]:
    """Figures 5 and 6: by document share above which words are dropped. Returns the best share for each targets."""
    tokens = type_tokens(sources.collection, every_sentence(sources.collection), in_turn).tokens
    n_sentences = len(sources.collection.digest)
    left = [np.count_nonzero(~np.isin(tokens, sources.counts.common_hashes(share))) / n_sentences for share in SHARES]
    entries = [len(table.known) for table in sources.by_share.values()]
    qualities = {
        targets.name: [targets.quality(table.found(targets.collection)) for table in sources.by_share.values()]
        for targets in every_targets
    }
    rows = [
        (name, f"{share:g}", left[i], entries[i], *qualities[name][i]) for name in qualities for i, share in enumerate(SHARES)
    ]
    columns = ("targets", "share", "words left per sentence", "entries", "precision", "recall", "F1")
    title = "By document share above which words are dropped (figures 5 and 6)"
    study.table("cutoffs", title, columns, rows, f"The paper's best is a share of {PAPER_SHARE:g} (300,000 of 500,000 posts).")
    sizes = [{"share": share, "words": left[i], "entries": entries[i]} for i, share in enumerate(SHARES)]
    axis = alt.X("share:Q", scale=alt.Scale(type="log"), title="document share above which words are dropped")
    base = alt.Chart(alt.Data(values=sizes)).mark_line(point=True).encode(x=axis).properties(width=260, height=180)
    both = base.encode(y=alt.Y("words:Q", title="words left per sentence")) | base.encode(y=alt.Y("entries:Q", title="entries"))
    study.plot("sizes", "Words left per sentence, and entries of the table, by document share (figure 5)", both)
    points = [
        {"targets": name, "share": share, "what": what, "value": value}
        for name, of_targets in qualities.items()
        for share, quality in zip(SHARES, of_targets, strict=True)
        for what, value in zip(("precision", "recall", "F1"), quality, strict=True)
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x=axis, y=alt.Y("value:Q", scale=alt.Scale(zero=False), title=None), color=alt.Color("what:N", title=None),
        column=alt.Column("targets:N", title=None, sort=list(qualities)),
    ).properties(width=260, height=200)  # fmt: skip
    study.plot("cutoffs", "Precision, recall and F1 of fingerprints by document share (figure 6)", chart)

    rises = bool(np.all(np.diff(left) >= 0) and np.all(np.diff(entries) >= 0))
    words = f"From a share of {SHARES[0]:g} to {SHARES[-1]:g} the words left grow from {left[0]:.2f} to {left[-1]:.2f} (paper: "
    words += f"{PAPER_WORDS_LEFT[0]} to {PAPER_WORDS_LEFT[1]}), the entries from {entries[0]:,} to {entries[-1]:,}."
    study.judge("Fingerprints, figure 5: words and entries by cut-off", rises, words)
    best = {name: max(zip(some, SHARES, strict=True), key=lambda pair: pair[0].f1) for name, some in qualities.items()}
    words = ""
    as_printed = []
    for name, (quality, share) in best.items():
        lowest, highest = qualities[name][0], qualities[name][-1]
        as_printed += [lowest.precision < quality.precision, highest.recall < quality.recall]
        words += f"{name}: best share {share:g} with {quality} (precision / recall / F1), share {SHARES[0]:g} {lowest}, no "
        words += f"word dropped {highest}; "
    words += f"the paper's best is {PAPER_SHARE:g}."
    study.judge("Fingerprints, figure 6: low cut-offs cost precision, high ones recall", as_printed, words)
    return {name: share for name, (_, share) in best.items()}


def show_hits(study: Study, sources: Sources, every_targets: Sequence[Targets], shares: dict[str, float]) -> None:
    """Figure 7: by hits that make a duplicate, with the best share."""
    rows, points, words, bests, as_printed = [], [], "", [], True
    for targets in every_targets:
        tables = {"Wang09": sources.sentences, "fingerprints": sources.by_share[shares[targets.name]]}
        n_hits = {name: table.n_hits(targets.collection) for name, table in tables.items()}
        qualities = {name: [targets.quality(hits >= n) for n in HITS] for name, hits in n_hits.items()}
        for i, n in enumerate(HITS):
            rows.append((targets.name, n, *(qualities[name][i] for name in tables)))
        points += [
            {"targets": targets.name, "hits": n, "model": name, "what": what, "value": value}
            for name, of_model in qualities.items()
            for n, quality in zip(HITS, of_model, strict=True)
            for what, value in zip(("precision", "recall", "F1"), quality, strict=True)
        ]
        mine = qualities["fingerprints"]
        bests.append(HITS[int(np.argmax([quality.f1 for quality in mine]))])
        as_printed &= mine[4].precision > mine[0].precision and mine[4].recall < mine[0].recall
        words += f"{targets.name}: best with {bests[-1]} hits ({mine[bests[-1] - 1]}), with {MIN_HITS} {mine[MIN_HITS - 1]}, "
        words += f"with 5 {mine[4]}; "
    title = "Precision / recall / F1 by hits that make a duplicate (figure 7)"
    shares_told = " and ".join(f"{share:g} ({name})" for name, share in shares.items())
    note = f"Fingerprints without words above the best share: {shares_told}. The paper's text says that three hits are enough, "
    note += "its formula that there must be more: the row of 4."
    study.table("hits", title, ("targets", "hits", "Wang09", "fingerprints"), rows, note)
    chart = alt.Chart(alt.Data(values=points)).mark_line().encode(
        x=alt.X("hits:O"), y=alt.Y("value:Q", scale=alt.Scale(zero=False), title=None), color=alt.Color("what:N", title=None),
        strokeDash=alt.StrokeDash("model:N", title=None, sort=["fingerprints", "Wang09"]),
        column=alt.Column("targets:N", title=None, sort=[targets.name for targets in every_targets]),
    ).properties(width=240, height=200)  # fmt: skip
    study.plot("hits", "Precision, recall and F1 by hits that make a duplicate (figure 7)", chart)
    words = f"Precision / recall / F1 of fingerprints: {words}the paper's best is 3, and with 5 it has .998 and .701."
    study.judge("Fingerprints, figure 7: more hits, more precision, less recall", as_printed, words)


def main() -> None:
    """Run the study."""
    options = parse_options(__doc__)
    data = require(options.data, POSTS, QUOTATIONS)
    study = Study("fingerprints", "Sentence fingerprints", (__doc__ or "").split("\n\n", 1)[1], options.out)
    # A share of it is runs of posts, so that threads stay together.
    records = [record for row, record in enumerate(read_records(data / POSTS)) if row % 500 < 500 * options.share]
    draw = random.Random(1)
    is_source = {record["id"]: is_conversation(record) and draw.random() < 2 / 3 for record in records}
    source_records = only_text([record for record in records if is_source[record["id"]]])
    sources = Sources.of(gathered(source_records))
    quoting = quoting_targets(records, list(read_records(data / QUOTATIONS)), is_source)
    unrelated = [record for record, duplicated in zip(quoting.records, quoting.duplicated, strict=True) if not duplicated]
    hosts = draw.sample(unrelated, round(options.share * N_CLIPPINGS))
    every_targets = (quoting, clipping_targets(hosts, sources.collection))
    show_collections(study, sources, every_targets)
    models, n_unlike, known = {}, {}, {}
    chosen = sources.by_share[Config().signatures.max_document_share]
    with tempfile.TemporaryDirectory() as work, ibidem.Index(Path(work) / "index", workers=1) as index:
        index.add(source_records)
        for targets in every_targets:
            models[targets.name], n_unlike[targets.name] = measure_models(sources, targets, index, Path(work))
            known[targets.name] = {
                table.name: table.is_known(table.hashes_of(targets.collection)[0]) for table in (sources.sentences, chosen)
            } | {
                f"overlap, min_contained_words {n}": known_sentences(index, targets, {"min_contained_words": n}) for n in (1, 8)
            }
    every = {targets.name: targets.quality(chosen.n_hits(targets.collection, 1) >= MIN_HITS) for targets in every_targets}
    show_models(study, models, n_unlike, every)
    show_lengths(study, known, every_targets)
    shares = show_cutoffs(study, sources, every_targets)
    show_hits(study, sources, every_targets, shares)
    study.write()


if __name__ == "__main__":
    main()
