"""Streams into an index: when they commit, what they add, what stops them; and an index in the hands of several."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ibidem.errors import IndexSettingsError, IndexStoreError
from ibidem.index import elements, watcher
from ibidem.index.index import Index
from tests.forking import forking_process
from tests.texts import text
from tests.waiting import LIMIT_SECONDS, wait_until

Record = dict[str, Any]


def stream(n: int, prefix: str = "d") -> list[Record]:
    return [{"id": f"{prefix}{number}", "text": text(number, number + 1, number // 3, count=8)} for number in range(n)]


def test_a_number_of_documents_is_kept_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "ENOUGH_DOCUMENTS", 1)  # else commits also come whenever the index has doubled
    with Index(tmp_path) as index, Index(tmp_path) as reader:
        index.add(stream(1, "first"))
        seen = [len(reader) for _ in index.watch(stream(40), commit_every="10")]
    # An answer is given before the next commit: at most so many wait.
    assert all(number - there < 10 for number, there in enumerate(seen, 1))
    assert len(set(seen)) == 4


def test_seconds_count_from_the_last_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "ENOUGH_DOCUMENTS", 1)
    index, reader = Index(tmp_path), Index(tmp_path)
    index.add(stream(1, "first"))
    now = 100.0
    monkeypatch.setattr(watcher, "time", SimpleNamespace(monotonic=lambda: now))
    end = threading.Event()

    def slow() -> Iterator[Record]:
        yield {"id": "a", "text": text(1)}
        yield {"id": "b", "text": text(2)}
        end.wait(LIMIT_SECONDS)

    answers = index.watch(slow(), commit_every="2s")
    next(answers)
    now += 1.9
    next(answers)
    assert len(reader) == 1
    rest = threading.Thread(target=lambda: list(answers))
    rest.start()
    now += 0.2  # two seconds after the first one, not two after the last
    try:
        wait_until(lambda: len(reader) == 3, "a commit")
    finally:
        end.set()
        rest.join()
        index.close()
        reader.close()


@pytest.mark.parametrize("as_list", [True, False])
def test_what_nobody_was_told_of_is_not_added(tmp_path: Path, as_list: bool) -> None:
    records = stream(30)
    with Index(tmp_path) as index:
        index.add(stream(1200, "old"))
        answers = index.watch(records if as_list else iter(records))
        told = [next(answers).id for _ in range(7)]
        answers.close()
        assert len(index) == 1207
        assert all(name in index for name in told)
        assert index.verify() == []
        # The rest can be added later, under the same ids.
        assert [arrival.skipped for arrival in index.watch(records[7:])] == [None] * 23
    if not as_list:
        wait_until(lambda: all(thread.name != "ibidem-watch" for thread in threading.enumerate()), "an end of the thread")


def test_a_replacement_that_nobody_was_told_of_does_not_happen(tmp_path: Path) -> None:
    with Index(tmp_path) as index:
        index.add(stream(1200, "old"))
        answers = index.watch([{"id": "new", "text": text(1)}, {"id": "old5", "text": text(7000)}], replace=True)
        next(answers)
        answers.close()
        assert len(index) == 1201
        hits = index.query({"id": "?", "text": stream(6, "old")[5]["text"]})
        assert "old5" in {hit.b_id for hit in hits}
        assert index.verify() == []


def test_answers_do_not_depend_on_how_many_come_together(tmp_path: Path) -> None:
    records = stream(70) + [{"id": f"again{n}", "text": text(n, n + 1, 500 + n, count=8)} for n in range(30)]
    told = []
    for size in (1, 7, 512):
        with pytest.MonkeyPatch.context() as patch, Index(tmp_path / str(size)) as index:
            patch.setattr(watcher, "MOST_TOGETHER", size)
            told.append([(arrival.verdict, arrival.n_passages) for arrival in index.watch(records)])
    assert told[0] == told[1] == told[2]


def test_odd_records_stop_nothing(tmp_path: Path) -> None:
    odd = [{"id": "a\ud800", "text": text(1)}, {"id": None, "text": text(1)}, {"text": text(1)}, {"id": "b", "text": ""}, 7]
    with Index(tmp_path) as index:
        answers = list(index.watch([stream(1)[0], *odd, {"id": "last", "text": text(3)}]))
        assert [arrival.verdict is None for arrival in answers] == [False, True, True, True, True, True, False]
        assert len(index) == 2
        assert "a\ud800" not in index
        assert index.remove("a\ud800") == 0


def test_closing_an_index_ends_its_streams(tmp_path: Path) -> None:
    index = Index(tmp_path)
    answers = index.watch(stream(5))
    next(answers)
    next(answers)
    index.close()
    with pytest.raises(StopIteration):
        next(answers)
    with pytest.raises(IndexStoreError, match="closed"):
        len(index)
    with Index(tmp_path) as again:
        assert len(again) == 2


def test_the_first_commit_decides_on_settings(tmp_path: Path) -> None:
    first, second = Index(tmp_path), Index(tmp_path, signature_bits=16, bits_per_word=1)
    first.add(stream(2))
    with pytest.raises(IndexSettingsError, match="signature_bits"):
        second.add(stream(2, "other"))
    with pytest.raises(IndexSettingsError, match="signature_bits"):
        second.query(stream(1, "q"))
    third = Index(tmp_path)
    assert third.config.index.signature_bits == 64
    assert third.query(stream(1, "q"), search_engine="bits", radius=3).hits.num_rows > 0
    for index in (first, second, third):
        index.close()


def test_who_opened_a_new_index_by_its_defaults_is_told_of_others(tmp_path: Path) -> None:
    with Index(tmp_path) as first, Index(tmp_path, signature_bits=16, bits_per_word=1) as second:
        second.add(stream(2))
        with pytest.raises(IndexSettingsError, match="bits_per_word, signature_bits"):
            first.query(stream(1, "q"))
        with pytest.raises(IndexSettingsError):
            first.add(stream(1, "other"))
        assert len(second) == 2


def test_documents_without_sentences_are_no_trouble(tmp_path: Path) -> None:
    with Index(tmp_path) as index:
        assert index.add([{"id": "z", "text": "\u200b"}]) == 1
        assert index.info()["documents"] == 1
        assert index.verify() == []
        assert index.query({"id": "q", "text": text(1)}).hits.num_rows == 0


FORKED = """
import os, sys
from ibidem.errors import IndexStoreError
from ibidem.index.index import Index
from tests.forking import fork
with Index(sys.argv[1]) as index:
    child = fork()
    if child == 0:
        try:
            index.query({"id": "q", "text": "A text."})
        except IndexStoreError as error:
            os._exit(40 + ("another process" in error.message))
        os._exit(1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_process_has_to_open_the_index_itself(tmp_path: Path) -> None:
    with Index(tmp_path) as index:
        index.add(stream(3))
    assert subprocess.run(**forking_process("-c", FORKED, str(tmp_path))).returncode == 41
