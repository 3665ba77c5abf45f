"""The texts that an index keeps: they come back as they were, through merges and removals, and answers show them."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.errors import IndexDamagedError, IndexSettingsError
from ibidem.index import kept_texts, snapshot
from ibidem.index.array_files import map_arrays
from ibidem.index.index import Index
from ibidem.index.kept_texts import merge_texts, pack_texts
from ibidem.index.source_texts import bytes_of_chars, joined_texts
from tests.index_twins import Record, temporary_folder
from tests.texts import render, words

TEXTS = st.lists(st.text(st.sampled_from("ab éß漢𝄞\n"), max_size=40), max_size=12)


def texts_of(index: Index) -> dict[str, str]:
    """Return the texts of all documents that are in an index, by id."""
    found = {}
    for part in index._current().parts:
        assert part.segment.texts is not None
        rows = np.flatnonzero(part.kept)
        texts = [text.decode() for text in part.segment.texts.read(rows)]
        found |= dict(zip(part.segment.ids(rows).to_pylist(), texts, strict=True))
    return found


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=5), st.sampled_from([1, 7, 60, 1 << 16]), st.randoms())
def test_texts_survive_packing_and_merging(parts: list[tuple[list[str], bool]], block: int, chance: random.Random) -> None:
    """Some of the parts have no texts, some documents are left out, and blocks are of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_texts, "BLOCK_BYTES", block)
        given_parts, expected = [], []
        for texts, is_kept in parts:
            packed = pack_texts([pa.array(texts[:3], pa.large_string()), pa.array(texts[3:], pa.large_string()).slice(0)])
            rows = np.array([row for row in range(len(texts)) if chance.random() < 0.7], np.int64)
            given_parts.append((packed if is_kept else None, rows))
            expected += [texts[row] if is_kept else None for row in rows.tolist()]
            anyhow = np.array([chance.randrange(len(texts)) for _ in texts], np.int64)
            assert [text.decode() for text in packed.read(anyhow)] == [texts[row] for row in anyhow.tolist()]
        merged = merge_texts(given_parts)
        if all(columns is None for columns, _ in given_parts):
            assert merged is None
            return
        assert merged is not None
        rows = np.arange(len(expected))
        is_there = merged.has(rows).tolist()
        assert is_there == [text is not None for text in expected]
        assert [text.decode() if there else None for text, there in zip(merged.read(rows), is_there, strict=True)] == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab éß漢𝄞"), max_size=30), max_size=4), st.randoms(use_true_random=False))
def test_characters_are_found_in_bytes(texts: list[str], chance: random.Random) -> None:
    chars = [[k for k in range(len(text) + 1) if chance.random() < 0.7] for text in texts]
    first, data = joined_texts([text.encode() for text in texts])
    places = np.array([k for some in chars for k in some], np.int64)
    found = bytes_of_chars(data, first, np.array([len(some) for some in chars], np.int64), places)
    assert found.tolist() == [len(text[:k].encode()) for text, some in zip(texts, chars, strict=True) for k in some]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["add", "watch"]), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 6), min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["compact", "recount", "reopen"]), st.none()),
    ),
    min_size=2,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.sampled_from([64, 1 << 16]))
def test_an_index_has_the_texts_of_its_documents(steps: list[tuple[str, Any]], block: int) -> None:
    there: dict[str, str] = {}
    with temporary_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_texts, "BLOCK_BYTES", block)
        index = Index(folder, workers=1)
        for step, detail in steps:
            if step in ("add", "watch"):
                new = {f"d{name}": f"{render(words(kind))} Ünd 漢 {kind}." for name, kind in detail}
                records = [{"id": name, "text": text} for name, text in new.items()]
                _ = index.add(records, replace=True) if step == "add" else list(index.watch(records, replace=True))
                there |= new
            elif step == "remove":
                index.remove([f"d{name}" for name in detail])
                there = {name: text for name, text in there.items() if int(name[1:]) not in detail}
            elif step == "reopen":
                index.close()
                index = Index(folder, create=False, workers=1)
            else:
                index.compact(recount=step == "recount")
            assert texts_of(index) == there
        assert index.verify() == []
        index.close()


SOURCE = "The harbour stayed closed on Monday morning. Two ferries stayed in port for the whole night. Nobody was hurt at all."
COPY = "So they say. " + SOURCE.replace("morning.", "morning!").replace("the whole", "a whole")


def test_answers_show_the_words_of_both_sides() -> None:
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        index.add([{"id": "source", "text": f"Ä. {SOURCE}"}])
        result = index.query({"id": "copy", "text": COPY})
        (passage,) = result.with_texts().to_pylist()
        assert passage == {**result.passages.to_pylist()[0], "a_text": COPY[13:], "b_text": SOURCE}
        assert result.passages_of(0) == [passage]
        hits = result.hits_with_texts().to_pylist()
        assert [hit["b_text"] for hit in hits] == [f"{part}." for part in SOURCE[:-1].split(". ")]
        assert [hit["a_text"] for hit in hits] == [COPY[hit["a_start"] : hit["a_end"]] for hit in hits]
        assert result.hit_records_of(0) == hits
        (arrival,) = index.watch([{"id": "copy", "text": COPY}])
        assert arrival.passages == [passage]
        verdict = index.check({"id": "another", "text": COPY})
        assert {found["b_text"] for found in verdict.passages} == {SOURCE, COPY}


def test_an_index_without_texts_shows_none() -> None:
    """Not even those of documents that arrived together: an answer must not depend on that."""
    with temporary_folder() as folder, Index(folder, workers=1, texts=False) as index:
        assert index.info()["settings"]["texts"] is False
        records = [{"id": "source", "text": SOURCE}, {"id": "copy", "text": COPY}]
        _, arrival = index.watch(records)
        assert "b_text" not in arrival.passages[0]
        result = index.query({"id": "another", "text": COPY})
        assert not result.has_texts
        assert result.with_texts()["b_text"].to_pylist() == [None, None]
        assert "a_text" not in result.passages_of(0)[0]
        assert "a_text" not in result.hit_records_of(0)[0]
        with pytest.raises(IndexSettingsError, match="texts"):
            index.query({"id": "another", "text": COPY}, align=True)
        index.compact()
        assert all(part.segment.texts is None for part in index._current().parts)
        index.close()
        with pytest.raises(IndexSettingsError, match="texts"):
            Index(folder, texts=True)


def test_an_index_of_an_earlier_version_keeps_none(tmp_path: Path) -> None:
    """What a newer version adds is stored as the rest; texts cannot be asked for."""
    shutil.copytree(Path(__file__).parent / "compat/index_v1", tmp_path / "i")
    with pytest.raises(IndexSettingsError, match="texts"):
        Index(tmp_path / "i", texts=True)
    with Index(tmp_path / "i") as index:
        assert index.config.index.texts is False
        index.add([{"id": "source", "text": SOURCE}])
        result = index.query({"id": "copy", "text": COPY})
        assert (result.passages.num_rows, result.has_texts) == (1, False)
        index.compact()
        assert all(part.segment.texts is None for part in index._current().parts)
        assert index.verify() == []


def damage(folder: Path) -> None:
    """Change a byte in the texts of the only segment."""
    (path,) = folder.glob("segment-*.ibi")
    packed = map_arrays(path)[0]["text_bytes"].tobytes()
    data = path.read_bytes()
    at = data.index(packed) + len(packed) // 2
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def test_damaged_texts_are_noticed_when_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Index(tmp_path / "i") as index:
        index.add([{"id": "a", "text": SOURCE}])
    damage(tmp_path / "i")
    monkeypatch.setattr(snapshot, "_MOST_CHECKED_BYTES", 0)  # as if it were large
    with Index(tmp_path / "i") as index:
        with pytest.raises(IndexDamagedError, match="texts"):
            index.query({"id": "q", "text": COPY}, align=True)
        result = index.query({"id": "q", "text": COPY})  # no end of its passage may move: nothing is read
        assert result.passages.num_rows == 1
        with pytest.raises(IndexDamagedError, match="texts"):
            result.with_texts()
        assert "text_bytes" in index.verify()[0]
        with pytest.raises(IndexDamagedError):
            index.compact(recount=True)


def test_texts_are_compressed(tmp_path: Path) -> None:
    records: list[Record] = [{"id": str(n), "text": " ".join(render(words(n + k)) for k in range(40))} for n in range(60)]
    sizes = {}
    for texts in (True, False):
        with ibidem.Index(tmp_path / str(texts), texts=texts) as index:
            index.add(records)
            sizes[texts] = index.info()["bytes"]
    assert 0 < sizes[True] - sizes[False] < 0.6 * sum(len(record["text"]) for record in records)
