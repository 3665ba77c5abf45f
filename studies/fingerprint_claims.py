"""What Yoon et al. say of costs, of common sentences and of other approaches. Used by fingerprints.py."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from evidence import Study
from fingerprint_models import PAPER, Model, processor_seconds
from fingerprint_scenes import Scene
from fingerprint_tables import MIN_HITS, PAPER_SHARE
from inputs import gathered

import ibidem

N_SENTENCES = (100, 1000, 10_000)
LEAST_DATA = "nothing fitted; processor time"


def show_claims(study: Study, scenes: Sequence[Scene], models: dict[tuple[str, str], list[Model]]) -> None:
    """Judge costs and claims in the text."""
    judge_costs(study, scenes, models)
    show_places(study, scenes)
    show_linear_time(study, scenes)


def judge_costs(study: Study, scenes: Sequence[Scene], models: dict[tuple[str, str], list[Model]]) -> None:
    """Table 2: entries and times."""
    sizes, times, told, told_times, bags, told_bags = [], [], "", "", [], ""
    loads = []
    for key, some in models.items():
        document, sentence, fingerprint = some[:3]
        fewer, times_fewer = 1 - fingerprint.entries / sentence.entries, fingerprint.entries / document.entries
        sizes += [fingerprint.entries < sentence.entries, times_fewer > 5]
        told += (
            f"{' '.join(key)}: {fewer:.1%} fewer entries than hashes of sentences, {times_fewer:.1f} times those of documents; "
        )
        slower, like = fingerprint.request_ms / sentence.request_ms, document.request_ms / fingerprint.request_ms
        times += [slower > 1, 0.6 < like < 1.7]
        told_times += (
            f"{' '.join(key)}: {slower:.2f} times the time of hashes of sentences, documents {like:.2f} times its own; "
        )
        loads.append(document.load_ms < min(sentence.load_ms, fingerprint.load_ms))
        by_name = {model.name: model for model in some}
        bag, exact = by_name["Index, overlap"], by_name["Index, fingerprint"]
        bags.append(bag.request_ms / exact.request_ms)
        told_bags += f"{' '.join(key)} {bags[-1]:.2f}; "
    data = "; ".join(scene.data() for scene in scenes)
    paper = {name: cells[:4] for name, cells in PAPER.items()}
    fewer = 1 - paper["fingerprints"][1] / paper["Wang09"][1]
    words = f"{told}in the paper {fewer:.1%} and {paper['fingerprints'][1] / paper['Chowdhury02'][1]:.1f} times."
    claim = "Fingerprints, table 2 and section 4: fewer entries than hashes of sentences, ten times those of documents"
    study.judge(claim, sizes, words, data)
    words = f"{told_times}in the paper 1.70 and 0.99."
    claim = "Fingerprints, table 2: a request takes longer than with hashes of sentences, and about as long as with documents"
    study.judge(claim, times, words, f"{data}; {LEAST_DATA}")
    most = max(model.load_ms for some in models.values() for model in some[:3])
    words = f"Documents load fastest for {sum(loads)} of {len(loads)} targets; here all three load in at most {most:.1f} ms."
    study.judge("Fingerprints, table 2: the small table of documents loads faster", loads, words, f"{data}; {LEAST_DATA}")
    words = "Time of the index with weighted overlap of words (`overlap`), which finds the sentences of a tf-idf model by an "
    words += f"inverted index, as a multiple of its time with fingerprints: {told_bags}they are asked one document at a time."
    claim = "Fingerprints, section 1: comparing bags of words is too slow for requests"
    study.judge(claim, [ratio > 3 for ratio in bags], words, f"{data}; {LEAST_DATA}")


def show_places(study: Study, scenes: Sequence[Scene]) -> None:
    """Section 2: sentences that occur more than 300 times are not known."""
    rows: list[tuple[Any, ...]] = []
    for scene in scenes:
        tables = scene.sources.by_places
        n_all = len(tables[float("inf")].known)
        for most, table in tables.items():
            qualities = [targets.quality(table.n_hits(targets.collection, 1) >= MIN_HITS) for targets in scene.targets]
            counted = [targets.quality(table.found(targets.collection)) for targets in scene.targets]
            rows.append(
                (scene.name, "no limit" if most == float("inf") else int(most), n_all - len(table.known), *qualities, *counted)
            )
    columns = (
        "collection", "most places", "sentences left out", "real duplicates, any sentence", "clippings, any sentence",
        "real duplicates, from 4 words on", "clippings, from 4 words on",
    )  # fmt: skip
    title = f"Precision / recall / F1 by the places that a known sentence may have, share {PAPER_SHARE:g}, {MIN_HITS} hits"
    study.table(
        "places", f"{title} (section 2)", columns, rows, "Real duplicates are quotations (posts) and revisions (pages)."
    )
    for language in ("Korean", "English"):
        chosen = [scene for scene in scenes if scene.language == language]
        told, holds = [], []
        for scene in chosen:
            at = {row[1]: row for row in rows if row[0] == scene.name}
            with_limit, without = at[300], at["no limit"]
            holds.append(with_limit[3].precision > without[3].precision)
            told.append(
                f"{scene.name}: {with_limit[2]} sentences are left out, precision {without[3].precision:.3f} becomes "
                f"{with_limit[3].precision:.3f}; with at most 10 places {at[10][3].precision:.3f}, recall "
                f"{without[3].recall:.3f} becomes {at[10][3].recall:.3f}"
            )
        words = f"Sentences of any length, real duplicates. {'; '.join(told)}. 300 was chosen for 432,162 documents."
        claim = f"Fingerprints, section 2, {language}: leaving out sentences of more than 300 places helps"
        study.judge(claim, holds, words, "; ".join(scene.data() for scene in chosen))


def show_linear_time(study: Study, scenes: Sequence[Scene]) -> None:
    """Section 2: time is linear in the sentences of a document, whatever the size of the table."""
    scene = scenes[-1]
    texts = [record["text"] for record in scene.targets[0].records]
    table = scene.sources.by_share[PAPER_SHARE]
    rows: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory() as work:
        paths = {share: Path(work) / str(share) for share in (0.1, 1.0)}
        for share, path in paths.items():
            with ibidem.Index(path, workers=1) as index:
                index.add(scene.records[: round(share * len(scene.records))])
        for n in N_SENTENCES:
            n_texts, n_sentences = 0, 0
            while n_sentences < n and n_texts < len(texts):
                n_sentences += int(np.diff(scene.targets[0].collection.document_first)[n_texts])
                n_texts += 1
            one = {"id": "one", "text": "\n\n".join(texts[:n_texts])}
            seconds = [processor_seconds(lambda one=one: table.found(gathered([one])))]  # type: ignore[misc]
            for path in paths.values():
                with ibidem.Index(path, create=False, workers=1) as index:
                    told: dict[str, Any] = {"search_engine": "fingerprint", "max_places": 300}
                    seconds.append(processor_seconds(lambda i=index, one=one, t=told: i.check(one, **t)))  # type: ignore[misc]
            rows.append((n_sentences, *(1e6 * s / n_sentences for s in seconds)))
    columns = ("sentences of the document", "table: µs per sentence", "index of a tenth: µs", "index: µs")
    study.table("linear", "Time per sentence by the length of a document (section 2)", columns, rows)
    growth = [rows[-1][k] / rows[0][k] for k in (1, 2, 3)]
    larger = rows[-1][3] / rows[-1][2]
    words = f"From {rows[0][0]:,} to {rows[-1][0]:,} sentences, the time per sentence changes by a factor of "
    words += f"{growth[0]:.2f} with a table of hashes and {growth[2]:.2f} with the index. An index of ten times as many "
    words += (
        f"documents takes {larger:.2f} times as long for the longest document: it keeps hashes sorted, not in a hash table."
    )
    data = f"newsgroups20, English: posts joined to one document; {len(rows)} lengths; {LEAST_DATA}"
    holds = [growth[0] < 1.5, growth[2] < 1.5, larger < 2]
    study.judge("Fingerprints, section 2: time is linear in the sentences of a document", holds, words, data)
