"""What `serve` keeps: verdicts on pairs beside results, and the log of arrivals beside an index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ibidem.errors import IbidemError
from ibidem.execution.output_folder import ARRIVALS_FILE
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.viewer.queries import PairQuery
from ibidem.viewer.server.arrivals import Adder, ArrivalLog
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import open_views
from tests.crash.kinds import WRITTEN_SECONDS, Kind, Promise, run_command
from tests.execution.disk.sameness import write_lines
from tests.execution.random_collections import random_records
from tests.index_faults import records, text

# Number of the pair, what is said of it, and a note: the first three, then changed, then taken back.
_VERDICTS: tuple[tuple[int, str | None, str], ...] = (
    (0, "confirmed", ""), (1, "rejected", "not at all"), (2, "unsure", "x" * 5000), (0, "rejected", "after all"),
    (1, None, ""), (2, "confirmed", ""), (1, "unsure", "again"),
)  # fmt: skip
_ARRIVALS = tuple((f"arrival {number}", (100 + number, number)) for number in range(7))

Verdicts = dict[tuple[str, str], tuple[str | None, str]]


class ServedFolder(Kind):
    """Results with their verdicts, and an index with its arrivals."""

    def prepare(self, root: Path) -> None:
        root.mkdir(parents=True)
        write_lines(self.given / "served.jsonl", random_records(3, 6))
        code, said = run_command(
            "find", str(self.given / "served.jsonl"), "-o", str(root / "out"), "--workers", "1", "--keep-text"
        )
        assert code == 0, said
        for path in (root / "out").iterdir():
            os.utime(path, (WRITTEN_SECONDS, WRITTEN_SECONDS))
        with Index(root / "index") as index:
            index.add(records({"there": (1, 2, 3)}))

    def change(self, root: Path, promise: Promise) -> None:
        with Index(root / "index") as index:
            store, log = open_views(root / "out"), ArrivalLog(root / "index" / ARRIVALS_FILE)
            adder = Adder(index, log)
            for number in range(len(_VERDICTS)):
                _judge(store, number)
                promise("verdict")
                adder.add(Document(_ARRIVALS[number][0], text(_ARRIVALS[number][1])))
                promise("arrival")
            store.close()
            log.close()

    def problems(self, root: Path, promised: Sequence[str]) -> list[str]:
        n_verdicts, n_arrivals = promised.count("verdict"), promised.count("arrival")
        try:
            return self._problems_of_verdicts(root / "out", n_verdicts) or _problems_of_arrivals(root / "index", n_arrivals)
        except IbidemError as error:
            return [f"{type(error).__name__}: {error}"]

    def _problems_of_verdicts(self, out: Path, count: int) -> list[str]:
        store = open_views(out)
        try:
            allowed = [_expected(store, number) for number in (count, count + 1)]
            there = _verdicts_in(store)
            if there not in allowed:
                return [f"{count} verdicts were promised, there are {there}"]
            self.outcomes["as promised" if there == allowed[0] else "one verdict more"] += 1
            _judge(store, 0)
            return [] if _verdicts_in(store).get(_pair(store, 0)) == ("confirmed", "") else ["the next verdict is not kept"]
        finally:
            store.close()


def _problems_of_arrivals(folder: Path, count: int) -> list[str]:
    expected = [name for name, _ in _ARRIVALS]
    log = ArrivalLog(folder / ARRIVALS_FILE)
    try:
        with Index(folder, create=False) as index:
            if damage := index.verify():
                return damage
            logged = [row["id"] for row in log.rows()]
            if logged not in (expected[:count], expected[: count + 1]):
                return [f"{count} arrivals were promised, {logged} are logged"]
            # A document is added before it is logged.
            if lost := [name for name in logged if name not in index]:
                return [f"{lost} were logged, and are not in the index"]
            Adder(index, log).add(Document("next", text((90, 91))))
            return [] if [row["id"] for row in log.rows()] == [*logged, "next"] else ["the next arrival is not logged"]
    finally:
        log.close()


def _judge(store: ViewStore, number: int) -> None:
    pair, verdict, note = _VERDICTS[number]
    assert store.set_verdict(_numbers(store)[pair], verdict, note) is not None


def _numbers(store: ViewStore) -> list[int]:
    return sorted(item["pair"] for item in store.pairs(PairQuery(limit=50))["items"])


def _pair(store: ViewStore, pair: int) -> tuple[str, str]:
    found = store.pair_summary(_numbers(store)[pair])
    assert found is not None
    first, second = sorted((found["a"]["id"], found["b"]["id"]))
    return first, second


def _expected(store: ViewStore, count: int) -> Verdicts:
    """Return what is known of pairs after so many verdicts."""
    found: Verdicts = {}
    for pair, verdict, note in _VERDICTS[:count]:
        found[_pair(store, pair)] = verdict, note
        if verdict is None:
            del found[_pair(store, pair)]
    return found


def _verdicts_in(store: ViewStore) -> Verdicts:
    items = store.verdicts(None, 50)["items"]
    return {tuple(sorted((item["a_id"], item["b_id"]))): (item["verdict"], item["note"]) for item in items}  # type: ignore[misc]
