"""Sentence fingerprints (Yoon, Jang, Kim, Park 2012) against document and sentence hashes, and against our default search.

Is a target document a duplicate, wholly or partly, of some source? Three tables of hashes, as in the paper, and the index.
Chowdhury02: one hash per document, of its words in a range of document shares, the best range here. Wang09: one hash per
sentence, of all its words in order. Fingerprints: one hash per sentence, of its words in any order, without common ones. Then
`ibidem.Index` with the search engines exact, fingerprint and overlap, and with everything as printed. A target is a duplicate
from 3 known sentences on (for documents: from 1; as printed: from 4); sentences that occur more than 300 times in the sources
are not known. Words are counted in the sources.

The paper's Korean blogs and news are not available. There are three collections instead. English posts: newsgroups20. Sources
are two thirds, drawn at random, of the posts in discussion groups (alt, rec, soc, talk). Not duplicated are posts in technical
groups (comp, misc, sci) by other authors, without those that share lines with a source by the collection's truth: within the
same groups, signatures and threads under new names are everywhere, and the ground truth does not list them. Korean pages: MDN
Web Docs in Korean, in two snapshots (January 2024, August 2026). Sources are two thirds of the pages on APIs and JavaScript in
the older one; not duplicated are pages on CSS, HTML, HTTP, SVG and XML in the newer one. English pages: the same pages of MDN
in English, to tell the language from the kind of text.

Some duplicates are real. Quotations: the other posts of the sources' groups that quote, by the collection's truth (equal
lines), at least 200 characters of sources with the same subject; re-wrapped, cut, with comments in between. Revisions: the
sources' pages two and a half years later, unchanged, edited or rewritten. Clippings are planted: a piece of a source is added
to documents that are not duplicated, either its entire text or 3 to 8 of its sentences; unchanged, or revised as in the paper's
figure 2 (in every second sentence of a part and every fifth of an entire text, a common word is removed or inserted, or two
words are swapped).

Precision is given for the paper's share of duplicates (924 of 19,076 targets), whatever the share here. The paper's sentences
are of news and blogs, with 11 to 14 words; posts have greetings, names and "Yes.", pages have headings. So sentences count from
4 words on, and a table shows what happens if others do. A word is what is between spaces and punctuation, in Korean with its
particles; which words the paper has is not said. Times are processor
time, the best of three, one document per request.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from evidence import Study, require
from fingerprint_claims import show_claims
from fingerprint_models import PAPER, Model, known_sentences, measure_models
from fingerprint_scenes import PAGE_FILES, Scene, page_scenes, post_scene
from fingerprint_tables import MIN_HITS, PAPER_SHARE, SHARES
from fingerprint_targets import KINDS, Targets
from newsgroups import POSTS, QUOTATIONS, every_sentence, parse_options
from numpy.typing import NDArray

import ibidem
from ibidem.execution.tasks import in_turn
from ibidem.signatures import type_tokens

HITS = range(1, 7)
LENGTHS = range(1, 9)
LANGUAGES = ("Korean", "English")
PAPER_WORDS_LEFT = (4.09, 9.77)
FITTED = "fitted to the paper: the share of duplicates, in precision; sentences count from 4 words on"

Key = tuple[str, str]  # of a scene and its targets


def every_targets(scenes: Sequence[Scene]) -> Iterator[tuple[Key, Scene, Targets]]:
    """Yield all targets with their scenes."""
    for scene in scenes:
        for targets in scene.targets:
            yield (scene.name, targets.name), scene, targets


def by_language(scenes: Sequence[Scene]) -> Iterator[tuple[str, list[Key], str]]:
    """Yield each language with the keys of its targets, and what they are."""
    for language in LANGUAGES:
        chosen = [scene for scene in scenes if scene.language == language]
        yield language, [key for key, _, _ in every_targets(chosen)], "; ".join([*(s.data() for s in chosen), FITTED])


def show_collections(study: Study, scenes: Sequence[Scene]) -> None:
    """Table 1: what replaces what."""
    rows: list[tuple[Any, ...]] = []
    for scene in scenes:
        for name, collection, n_duplicated in (
            *((targets.name, targets.collection, int(targets.duplicated.sum())) for targets in scene.targets),
            ("sources", scene.sources.collection, None),
        ):
            n_sentences = len(collection.digest)
            paper = (432_162, None, 11.57, 14.45) if name == "sources" else (19_076, 924, 17.13, 11.34)
            n = collection.n_documents
            rows.append((scene.name, name, n, n_duplicated, n_sentences / n, float(collection.n_words.mean()), *paper))
    what = ("documents", "duplicated", "sentences per document", "words per sentence")
    study.table("collections", "Targets and sources (table 1)", ("", "", *what, *(f"paper: {name}" for name in what)), rows)
    told = "; ".join(f"{row[0]}, {row[1]}: {row[2]:,} with {row[4]:.1f} sentences of {row[5]:.1f} words" for row in rows)
    words = f"Forum posts, and pages of a site, take the place of blogs and news of a week. Documents: {told}."
    study.verdict("Fingerprints, table 1: documents", "not available", words, "; ".join(scene.data() for scene in scenes))


def show_models(study: Study, scenes: Sequence[Scene], models: dict[Key, list[Model]], n_unlike: dict[Key, int]) -> None:
    """Table 2: the three models, and the index."""
    rows = [("the paper's", *Model(name, *cells).row("")) for name, cells in PAPER.items()]
    rows += [(scene, *model.row(targets)) for (scene, targets), some in models.items() for model in some]
    columns = ("collection", "targets", "model", "MB", "entries", "load ms", "request ms", "precision", "recall", "F1")
    note = "The last columns give recall by kind of clipping; revisions are entire. The index keeps places and words, not only "
    note += f"hashes; it and the bare table of fingerprints decide differently about {sum(n_unlike.values())} of all targets."
    study.table("models", f"Three models and the index, {MIN_HITS} hits (table 2)", (*columns, *KINDS), rows, note)
    for language, keys, data in by_language(scenes):
        better, gains, parts, printed = ([] for _ in range(4))
        told = gain_words = parts_told = printed_told = ""
        for key in keys:
            document, sentence, fingerprint = (model.quality for model in models[key][:3])
            name = " ".join(key)
            told += (
                f"{name}: precision {document.precision:.3f}, {sentence.precision:.3f}, {fingerprint.precision:.3f}, recall "
            )
            told += f"{document.recall:.3f}, {sentence.recall:.3f}, {fingerprint.recall:.3f}; "
            better += [min(sentence[k], fingerprint[k]) - document[k] > 0.1 for k in (0, 1)]
            gains.append(fingerprint.f1 - max(document.f1, sentence.f1) >= 0.001)
            gain_words += f"{name}: F1 {document.f1:.3f}, {sentence.f1:.3f}, {fingerprint.f1:.3f}, recall "
            gain_words += f"{100 * (fingerprint.recall - sentence.recall):+.2f} points; "
            kinds = [model.by_kind for model in models[key][:3]]
            if kinds[0][2] is not None:
                cells = [(row[2] or 0.0, row[3] or 0.0) for row in kinds]
                found = ", ".join(f"{part:.3f} and {revised:.3f}" for part, revised in cells)
                parts_told += f"{name}: {found}; "
                parts += [max(cells[0]) < 0.1, cells[1][1] < cells[1][0] - 0.1, cells[2][1] > cells[1][1] + 0.1]
            whole = next(model.quality for model in models[key] if "--as yoon" in model.name)
            printed.append(abs(whole.f1 - 0.962) <= 0.05)
            printed_told += f"{name}: {whole}; "
        words = f"Documents, sentences, fingerprints: {told}in the paper .874, .998, .995 and .726, .908, .931."
        study.judge(f"Fingerprints, table 2, {language}: sentences beat documents by 10 points in both", better, words, data)
        words = f"Documents, sentences, fingerprints: {gain_words}in the paper F1 .793, .951, .962, recall +2.31 points."
        study.judge(f"Fingerprints, table 2, {language}: fingerprints find more than hashes of sentences", gains, words, data)
        words = "Recall of planted parts, unchanged and revised, by documents, sentences and fingerprints: "
        claim = (
            f"Fingerprints, section 1, {language}: documents miss partial duplicates, sentences near ones, fingerprints neither"
        )
        study.judge(claim, parts, words + parts_told.removesuffix("; ") + ".", data)
        words = f"Precision / recall / F1 with `--as yoon`: {printed_told}in the paper .995, .931 and .962. Without a least "
        words += "length, headings and greetings count as known sentences."
        claim = f"Fingerprints, table 2, {language}: precision and recall with everything as printed"
        study.judge(claim, printed, words, "; ".join([*data.split("; ")[:-1], "sentences of any length"]))


def show_lengths(study: Study, known: dict[Key, dict[str, NDArray[np.bool_]]], scenes: Sequence[Scene]) -> None:
    """Short sentences occur in many documents by chance: what if only longer ones count?"""
    rows = []
    for key, _, targets in every_targets(scenes):
        collection = targets.collection
        for n_words in LENGTHS:
            cells = []
            for is_known in known[key].values():
                document = collection.document[is_known & (collection.n_words >= n_words)]
                cells.append(targets.quality(np.bincount(document, minlength=collection.n_documents) >= MIN_HITS))
            rows.append((*key, n_words, *cells))
    title = f"Precision / recall / F1 by the least words of a counted sentence, {MIN_HITS} hits"
    study.table("lengths", title, ("collection", "targets", "words", *next(iter(known.values()))), rows)


def show_cutoffs(study: Study, scenes: Sequence[Scene]) -> dict[Key, float]:
    """Figures 5 and 6: by document share above which words are dropped. Returns the best share for each targets."""
    left: dict[str, list[float]] = {}
    entries: dict[str, list[int]] = {}
    n_common: dict[str, list[int]] = {}
    for scene in scenes:
        collection = scene.sources.collection
        tokens = type_tokens(collection, every_sentence(collection), in_turn).tokens
        common = [scene.sources.counts.common_hashes(share) for share in SHARES]
        n_common[scene.name] = [len(some) for some in common]
        left[scene.name] = [np.count_nonzero(~np.isin(tokens, some)) / len(collection.digest) for some in common]
        entries[scene.name] = [len(table.known) for table in scene.sources.by_share.values()]
    qualities = {
        key: [targets.quality(table.found(targets.collection)) for table in scene.sources.by_share.values()]
        for key, scene, targets in every_targets(scenes)
    }
    rows = [
        (*key, f"{share:g}", n_common[key[0]][i], left[key[0]][i], entries[key[0]][i], *qualities[key][i])
        for key in qualities
        for i, share in enumerate(SHARES)
    ]
    columns = (
        "collection", "targets", "share", "words dropped", "words left per sentence", "entries", "precision", "recall", "F1",
    )  # fmt: skip
    title = "By document share above which words are dropped (figures 5 and 6)"
    study.table("cutoffs", title, columns, rows, f"The paper's best is a share of {PAPER_SHARE:g} (300,000 of 500,000 posts).")
    sizes = [
        {"share": share, "words": left[name][i], "entries": entries[name][i], "of": name}
        for name in left
        for i, share in enumerate(SHARES)
    ]
    axis = alt.X("share:Q", scale=alt.Scale(type="log"), title="document share above which words are dropped")
    base = alt.Chart(alt.Data(values=sizes)).mark_line(point=True).encode(x=axis, color=alt.Color("of:N", title=None))
    base = base.properties(width=260, height=180)
    both = base.encode(y=alt.Y("words:Q", title="words left per sentence")) | base.encode(y=alt.Y("entries:Q", title="entries"))
    study.plot("sizes", "Words left per sentence, and entries of the table, by document share (figure 5)", both)
    study.plot("cutoffs", "Precision, recall and F1 of fingerprints by document share (figure 6)", faceted(
        {key: {"fingerprints": some} for key, some in qualities.items()}, SHARES, axis, "share"
    ))  # fmt: skip
    best = {key: max(zip(some, SHARES, strict=True), key=lambda pair: pair[0].f1) for key, some in qualities.items()}
    for language, keys, data in by_language(scenes):
        names = list(dict.fromkeys(name for name, _ in keys))
        rises = [bool(np.all(np.diff(of[name]) >= 0)) for name in names for of in (left, entries)]
        words = "; ".join(
            f"{name}: from a share of {SHARES[0]:g} to {SHARES[-1]:g} the words left grow from {left[name][0]:.2f} to "
            f"{left[name][-1]:.2f}, the entries from {entries[name][0]:,} to {entries[name][-1]:,}"
            for name in names
        )
        words += f" (paper: {PAPER_WORDS_LEFT[0]} to {PAPER_WORDS_LEFT[1]} words)."
        study.judge(f"Fingerprints, figure 5, {language}: words and entries by cut-off", rises, words, data)
        low, high, told = [], [], ""
        for key in keys:
            quality, share = best[key]
            lowest, printed, highest = (qualities[key][SHARES.index(each)] for each in (SHARES[0], PAPER_SHARE, SHARES[-1]))
            low.append(lowest.precision < quality.precision)
            high.append(highest.recall < quality.recall)
            told += (
                f"{' '.join(key)}: best share {share:g} with {quality}, share {SHARES[0]:g} {lowest}, share {PAPER_SHARE:g} "
            )
            told += f"{printed}, no word dropped {highest}; "
        dropped = ", ".join(f"{n_common[name][SHARES.index(PAPER_SHARE)]} words of {name}" for name in names)
        words = f"Precision / recall / F1: {told}the paper's best is {PAPER_SHARE:g}. That drops {dropped}."
        study.judge(
            f"Fingerprints, figure 6, {language}: low cut-offs cost precision, high ones recall", [*low, *high], words, data
        )  # fmt: skip
    return {key: share for key, (_, share) in best.items()}


def faceted(qualities: dict[Key, dict[str, Any]], values: Sequence[float], axis: Any, name: str) -> Any:
    """Return precision, recall and F1 by some value, a chart for each targets."""
    points = [
        {"targets": " ".join(key), name: value, "model": model, "what": what, "value": figure}
        for key, models in qualities.items()
        for model, some in models.items()
        for value, quality in zip(values, some, strict=True)
        for what, figure in zip(("precision", "recall", "F1"), quality, strict=True)
    ]
    order = [" ".join(key) for key in qualities]
    dash = alt.StrokeDash("model:N", title=None, sort=["fingerprints", "Wang09"])
    return alt.Chart(alt.Data(values=points)).mark_line(point=name == "share").encode(
        x=axis, y=alt.Y("value:Q", scale=alt.Scale(zero=False), title=None), color=alt.Color("what:N", title=None),
        strokeDash=dash, facet=alt.Facet("targets:N", title=None, sort=order, columns=2),
    ).properties(width=260, height=160)  # fmt: skip


def show_hits(study: Study, scenes: Sequence[Scene], shares: dict[Key, float]) -> None:
    """Figure 7: by hits that make a duplicate, with the best share."""
    qualities: dict[Key, dict[str, Any]] = {}
    for key, scene, targets in every_targets(scenes):
        tables = {"Wang09": scene.sources.sentences, "fingerprints": scene.sources.by_share[shares[key]]}
        n_hits = {name: table.n_hits(targets.collection) for name, table in tables.items()}
        qualities[key] = {name: [targets.quality(hits >= n) for n in HITS] for name, hits in n_hits.items()}
    rows = [(*key, n, *(of[name][i] for name in of)) for key, of in qualities.items() for i, n in enumerate(HITS)]
    title = "Precision / recall / F1 by hits that make a duplicate (figure 7)"
    told = ", ".join(f"{share:g} ({' '.join(key)})" for key, share in shares.items())
    note = f"Fingerprints without words above the best share: {told}. The paper's text says that three hits are enough, its "
    note += "formula that there must be more: the row of 4."
    study.table("hits", title, ("collection", "targets", "hits", "Wang09", "fingerprints"), rows, note)
    chart = faceted(qualities, list(HITS), alt.X("hits:O"), "hits")
    study.plot("hits", "Precision, recall and F1 by hits that make a duplicate (figure 7)", chart)
    for language, keys, data in by_language(scenes):
        told, as_printed, two = "", [], []
        for key in keys:
            mine = qualities[key]["fingerprints"]
            best = HITS[int(np.argmax([quality.f1 for quality in mine]))]
            as_printed += [mine[4].precision > mine[0].precision, mine[4].recall < mine[0].recall, best == MIN_HITS]
            two.append(mine[1].precision)
            told += f"{' '.join(key)}: best with {best} hits ({mine[best - 1]}), with {MIN_HITS} {mine[MIN_HITS - 1]}, "
            told += f"with 5 {mine[4]}; "
        words = f"Precision / recall / F1 of fingerprints: {told}the paper's best is 3, and with 5 it has .998 and .701."
        claim = f"Fingerprints, figure 7, {language}: more hits, more precision, less recall; three are best"
        study.judge(claim, as_printed, words, data)
        told = ", ".join(f"{precision:.3f} ({' '.join(key)})" for key, precision in zip(keys, two, strict=True))
        words = f"Precision from two known sentences on: {told}."
        claim = f"Fingerprints, section 3.1, {language}: more than one collision makes a duplicate very likely"
        study.judge(claim, [p >= 0.9 for p in two], words, data)


def main() -> None:
    """Run the study."""
    options = parse_options(__doc__)
    data = require(options.data, POSTS, QUOTATIONS, *PAGE_FILES)
    study = Study("fingerprints", "Sentence fingerprints", (__doc__ or "").split("\n\n", 1)[1], options.out)
    scenes = [*page_scenes(data, options.share), post_scene(data, options.share)]
    show_collections(study, scenes)
    models: dict[Key, list[Model]] = {}
    n_unlike: dict[Key, int] = {}
    known: dict[Key, dict[str, NDArray[np.bool_]]] = {}
    for scene in scenes:
        chosen = scene.sources.by_share[PAPER_SHARE]
        with tempfile.TemporaryDirectory() as work, ibidem.Index(Path(work) / "index", workers=1) as index:
            index.add(scene.records)
            for targets in scene.targets:
                key = (scene.name, targets.name)
                models[key], n_unlike[key] = measure_models(scene.sources, targets, index, Path(work))
                known[key] = {
                    table.name: table.is_known(table.hashes_of(targets.collection)[0])
                    for table in (scene.sources.sentences, chosen)
                } | {f"overlap, min_contained_words {n}": known_sentences(index, targets, n) for n in (1, 8)}
    show_models(study, scenes, models, n_unlike)
    show_lengths(study, known, scenes)
    shares = show_cutoffs(study, scenes)
    show_hits(study, scenes, shares)
    show_claims(study, scenes, models)
    study.write()


if __name__ == "__main__":
    main()
