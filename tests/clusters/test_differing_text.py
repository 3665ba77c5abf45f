"""What `dedup` drops that the copy kept instead does not have, against a plain count."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem.clusters.differing_text import differing_chars
from ibidem.execution.tasks import in_turn
from tests.cli.test_find import write_jsonl
from tests.clusters.test_lossless import records_of


def plain_count(removed: str, kept: str, size: int) -> int:
    """Return the characters of all stretches of words that are in no gram of the other text."""
    words = [match.group().lower() for match in re.finditer(r"\w+", kept)]
    known = {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}
    found = list(re.finditer(r"\w+", removed))
    own = [True] * len(found)
    for i in range(len(found) - size + 1):
        if tuple(match.group().lower() for match in found[i : i + size]) in known:
            own[i : i + size] = [False] * size
    n_chars, start = 0, None
    for at, (match, is_own) in enumerate(zip(found, own, strict=True)):
        start = match.start() if is_own and start is None else start
        if start is not None and (at + 1 == len(found) or not own[at + 1]):
            n_chars += match.end() - start
            start = None
    return n_chars


@given(st.integers(0, 1 << 30), st.sampled_from([1, 2, 3]))
def test_characters_that_the_kept_copy_does_not_have(number: int, size: int) -> None:
    chance = random.Random(number)
    texts = [record["text"] for record in records_of(chance)[0]]
    removed = [chance.randrange(len(texts)) for _ in range(6)]
    kept = [chance.randrange(len(texts)) for _ in removed]
    expected = sum(plain_count(texts[a], texts[b], size) for a, b in zip(removed, kept, strict=True))
    column = pa.chunked_array([texts[:1], texts[1:]], pa.large_string())
    found = differing_chars(column, pa.array(removed).to_numpy(), pa.array(kept).to_numpy(), size, in_turn)
    assert found == expected


@given(st.integers(0, 1 << 30))
def test_dedup_says_how_much(number: int) -> None:
    inputs, against = records_of(random.Random(number))
    result = ibidem.dedup(inputs, against=against, shingle_size=2, min_similarity=0.3)
    texts = {record["id"]: record["text"] for record in [*inputs, *(against or [])]}
    rows = result.removed.to_pylist()
    expected = sum(plain_count(texts[row["id"]], texts[row["matched_id"]], 3) for row in rows if row["similarity"] != 1)
    assert result.counts.get("differing_characters", 0) == expected


def test_on_disk_it_is_as_much(tmp_path: Path) -> None:
    chance = random.Random(11)
    records = [record for _ in range(20) for record in records_of(chance)[0]]
    write_jsonl(tmp_path / "in.jsonl", [{**record, "id": str(n)} for n, record in enumerate(records)])
    counts = []
    for storage in ({}, {"partitions": 4}):
        with ibidem.dedup(tmp_path / "in.jsonl", shingle_size=2, min_similarity=0.4, **storage) as result:
            counts.append(result.counts["differing_characters"])
    assert counts[0] == counts[1] > 100
