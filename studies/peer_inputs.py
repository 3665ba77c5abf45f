"""What other tools are given: files of `id` and `text`, as they are or as plain words, made in the folder of the study."""

from __future__ import annotations

import random
import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from inputs import SPACED_SOURCES, Record, read_records
from peer_runs import SIZE, write_lines

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def plain_words(text: str) -> str:
    """Return the words of a text in small letters, without marks, so that a word is a word for every tool."""
    if not text.isascii():
        letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
        text = unicodedata.normalize("NFC", letters)
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def plain_texts(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return ids and plain words, without texts that are shorter than a feature: tools treat these in ways of their own."""
    plain = ((doc_id, plain_words(text)) for doc_id, text in texts)
    return [(doc_id, words) for doc_id, words in plain if words.count(" ") + 1 >= SIZE]


def write_texts(path: Path, texts: Sequence[tuple[str, str]]) -> Path:
    """Write a file of `id` and `text` for the tools."""
    write_lines(path, ({"id": doc_id, "text": text} for doc_id, text in texts))
    return path


def make_collection(data: Path, work: Path, share: float) -> Path:
    """Write a share of all documents of spaced scripts, chosen by their ids, as plain words, shuffled."""
    texts = []
    for source in SPACED_SOURCES:
        name = source.replace("/docs", "").removesuffix(".jsonl.zst")
        for record in read_records(data / source):
            doc_id = f"{name}:{record['id']}"
            if zlib.crc32(doc_id.encode()) < share * 2**32 and not UNSPACED.search(record["text"]):
                texts.append((doc_id, record["text"]))
    random.Random(1).shuffle(texts)
    return write_texts(work / f"documents-{share:g}.jsonl", plain_texts(texts))


def take_documents(folder: Path, n_documents: int) -> list[Record]:
    """Return the documents of a collection with true passages: all of them, or for a trial, those of the first passages."""
    records = list(read_records(folder / "docs.jsonl.zst"))
    if n_documents:
        wanted: dict[str, None] = {}
        for passage in read_records(folder / "truth_passages.jsonl.zst"):
            wanted |= {passage["a_id"]: None, passage["b_id"]: None}
        chosen = set(list(wanted)[:n_documents])
        records = [record for record in records if record["id"] in chosen]
    return records


def take_text(path: Path, megabytes: float) -> tuple[list[tuple[str, str]], float]:
    """Return the ids and texts of documents chosen at random, until there are so many megabytes, and how many there are."""
    records = list(read_records(path))
    random.Random(1).shuffle(records)
    texts, n_bytes = [], 0
    while records and n_bytes < megabytes * 1e6:
        record = records.pop()
        texts.append((record["id"], record["text"]))
        n_bytes += len(record["text"].encode())
    return texts, n_bytes / 1e6
