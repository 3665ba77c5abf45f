"""What `ibidem warmup` runs: every verb, in memory and on disk, with each setting that has kernels of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ibidem import api, contamination_api
from ibidem.config.settings import KEEP_RULES, LEVELS, MEASURES, METHODS, METHODS_IN_PARTS, SEARCH_METHODS, SIGNATURES
from ibidem.formats.json_columns import read_plain
from ibidem.index.index import Index

_N_DOCUMENTS = 24
_WORDS = [
    "amber", "basin", "candle", "delta", "ember", "ferry", "garden", "harbour", "island", "jetty", "kettle", "lantern",
    "meadow", "needle", "orchard", "pebble", "quarry", "river", "saddle", "timber", "umber", "valley", "willow", "yarrow",
]  # fmt: skip
_BOILERPLATE = "All rights are reserved by the small harbour company and its many friends in the valley."
Rehearsal = Callable[[], Any]


def sample_texts() -> list[str]:
    """Return texts that share passages, sentences, edited copies and boilerplate; some are copies, and one is empty."""
    texts = []
    for number in range(_N_DOCUMENTS):
        story = number // 3
        sentences = []
        for k in range(12):
            words = [_WORDS[(story * 7 + k * 5 + i * (k + 3)) % len(_WORDS)] for i in range(14)]
            if number % 3 == 1 and k % 4 == 1:
                words[3] = f"Ärger{k}"  # an edited copy; the third one is equal to the first
            sentences.append(" ".join(["The", *words]) + ".")
        texts.append(" ".join([_BOILERPLATE, *sentences, sentences[0]]))
    return [*texts, "これは短い文です。港はとても静かです。", ""]


def summed_up() -> list[str]:
    """Return a long text, and another one with a few words from all over it."""
    sentences = [" ".join(f"{_WORDS[(5 * k + 7 * i) % len(_WORDS)]}{k}" for i in range(14)).capitalize() for k in range(60)]
    rest = [" ".join(f"{_WORDS[(3 * k + i) % len(_WORDS)]}x{k}" for i in range(14)).capitalize() for k in range(12)]
    brief = " ".join(" ".join(sentence.split()[2:8]) for sentence in sentences[::10]).capitalize()
    return [". ".join(sentences), ". ".join([*rest, brief, *reversed(rest)])]


def edited_inside() -> list[str]:
    """Return two texts that differ in some sentences in the middle; alignment joins what is found around them."""
    sentences = [[f"{_WORDS[(5 * k + 7 * i) % len(_WORDS)]}{k}" for i in range(14)] for k in range(27)]
    edited = [[word if i % 7 < 5 else f"other{k}x{i}" for i, word in enumerate(words)] for k, words in enumerate(sentences)]
    texts = sentences, [*sentences[:10], *edited[10:17], *sentences[17:]]
    return [". ".join(" ".join(words).capitalize() for words in text) for text in texts]


def write_sample(folder: Path) -> tuple[str, str]:
    """Write the texts to two files in a folder, and return their names."""
    records = [
        json.dumps({"id": f"d{number}", "text": text, "time": f"2031-01-{number + 1:02}", "group": f"g{number % 2}"})
        for number, text in enumerate(sample_texts())
    ]
    for name, some in (("all.jsonl", records), ("some.jsonl", records[:9])):
        (folder / name).write_text("\n".join(some) + "\n", "utf-8")
    return str(folder / "all.jsonl"), str(folder / "some.jsonl")


def rehearsals(verb: str, folder: Path) -> Iterator[Rehearsal]:
    """Yield the runs of a verb over files in a folder. Nothing of what they find is kept."""
    whole, part = write_sample(folder)
    on_disk = {"memory": "1MB", "tmp_dir": str(folder)}
    if verb in ("compare", "find"):  # both align
        yield partial(api.compare, *sample_texts()[:2])
        (folder / "pairs.csv").write_text("a_id,b_id\nd0,d1\nd0,d5\n", "utf-8")
        yield partial(api.compare_pairs, whole, str(folder / "pairs.csv"))
    if verb == "find":
        # Records, because a verb of the program takes strings for paths.
        for texts in (summed_up(), edited_inside()):
            yield partial(api.find, [{"id": str(number), "text": text} for number, text in enumerate(texts)], align=True)
    if verb == "tune":
        yield partial(api.tune, whole)
    elif verb == "index":
        for signature in ("words", "exact"):
            for search in SEARCH_METHODS:
                yield partial(_use_index, folder / f"{signature}-{search}.idx", whole, part, signature, search)
    elif verb == "decontaminate":
        for where in ({}, on_disk, {"level": "passage", "ignore": part}):
            yield partial(_decontaminate, whole, part, where)
    elif verb in _SETTINGS:
        for settings in _SETTINGS[verb]():
            yield partial(_run, verb, whole, None, settings)
            yield partial(_run, verb, part, whole, settings)
            in_memory_only = verb == "dedup" and settings.get("align")
            if settings.get("method", "join") in METHODS_IN_PARTS and not in_memory_only:
                yield partial(_run, verb, whole, None, {**settings, **on_disk})
                yield partial(_run, verb, part, whole, {**settings, **on_disk})
    yield partial(read_plain, Path(whole).read_bytes(), ("text", "id", "time", "group"))  # as in large files


def _run(verb: str, inputs: str, against: str | None, settings: dict[str, Any]) -> None:
    getattr(api, verb)(inputs, against=against, **settings).close()


def _decontaminate(train: str, benchmark: str, settings: dict[str, Any]) -> None:
    contamination_api.decontaminate(train, {"sample": benchmark}, **settings).close()


def _find() -> Iterator[dict[str, Any]]:
    for signature in ("words", *(each for each in SIGNATURES if each != "words")):
        yield {"signature": signature}
    yield {"families": True}
    yield {"runs": True, "min_run_words": 20}
    yield from ({"max_places": 2}, {"same_document": True, "skip_same_group": True}, {"min_sentences": 1, "min_words": 3})
    yield from ({"align": True}, {"align": True, "signature": "exact"}, {"align": True, "summaries": True})


def _cluster() -> Iterator[dict[str, Any]]:
    yield from ({"method": method} for method in METHODS)
    yield from ({"measure": measure, "shingle_size": 2} for measure in MEASURES)
    yield from ({"min_containment": 0.5}, {"sample_every": 4}, {"max_shingle_documents": 2})
    yield from ({"chains": True}, {"verify": False, "method": "minhash"}, {"verify": False, "method": "shingling"})


def _dedup() -> Iterator[dict[str, Any]]:
    for level in LEVELS:
        for signature in ("exact", "words") if level != "document" else ("exact",):
            yield from ({"level": level, "signature": signature, "keep": keep} for keep in KEEP_RULES)
    yield {"level": "passage", "align": True}


def _use_index(folder: Path, whole: str, part: str, signature: str, search: str) -> None:
    """Add, query, watch, remove, merge: everything that changes or reads an index."""
    settings: dict[str, Any] = {"signature": signature, "search_engine": search}
    with Index(folder, create=True, **settings) as index:
        index.add(part)
        index.add(whole, replace=True)
        assert index.query(whole).hits.num_rows  # tables are made when they are asked for
        arriving = [{"id": f"w{number}", "text": text} for number, text in enumerate(sample_texts()[:3])]
        index.check(arriving[0])
        index.query(arriving, align=True).with_texts()
        for _ in index.watch(arriving, align=True):
            pass
        index.remove(["d0", "d7"])
        index.compact(recount=True)
        index.query(part)


_SETTINGS = {"find": _find, "cluster": _cluster, "dedup": _dedup}
