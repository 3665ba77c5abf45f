"""The real collections as studies read them. They lie in the folder that is given with --data, not in this repository."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ibidem.columns.collection import Collection
from ibidem.config import Config
from ibidem.execution.tasks import in_turn
from ibidem.formats import read_batches
from ibidem.sentences.core import gather

# The large ones: technical pages, templated reference pages, mail, forum posts, web pages; two snapshots of one site.
SPACED_SOURCES = (
    "mdn_en/docs.jsonl.zst", "mdn_en/docs_2024-01.jsonl.zst", "win32_api_docs/docs.jsonl.zst", "mail_list/docs.jsonl.zst",
    "newsgroups20/docs.jsonl.zst", "pan13_dev/docs.jsonl.zst", "mdn_ko/docs.jsonl.zst",
)  # fmt: skip
SOURCES = (*SPACED_SOURCES, "mdn_ja/docs.jsonl.zst", "mdn_zh/docs.jsonl.zst")

Record = dict[str, Any]


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a JSONL file with all their fields, compressed or not."""
    with pa.input_stream(str(path), compression="detect") as stream:
        # Not splitlines: it also cuts at U+2028, which JSON allows inside a string.
        yield from (json.loads(line) for line in stream.read().split(b"\n") if line)


def read_documents(path: Path) -> pa.Table:
    """Return the ids and texts of a collection."""
    batches = read_batches(str(path), Config().documents, lambda record: None)
    return pa.Table.from_batches([batch.select(["id", "text"]) for batch in batches])


def gathered(records: Sequence[Record]) -> Collection:
    """Return documents with their sentences; those without any text are left out."""
    config = Config()
    batches = read_batches(records, config.documents, lambda record: None)
    return gather(batches, iter(()), config.sentences, in_turn, lambda n_documents, n_sentences: None)
