"""Pages of pairs, documents and families against a Python list of dicts."""

from __future__ import annotations

import base64
import json
import math
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ibidem.errors import ResourceError
from ibidem.model import DIRECTIONS, KINDS
from ibidem.viewer.database import Connections
from ibidem.viewer.queries import MOST_ROWS, DocumentQuery, FamilyQuery, PairQuery, read_cursor, terms_of, write_cursor
from ibidem.viewer.store import ViewStore
from tests.viewer.invented import GROUPS, N_DOCUMENTS, TITLES, Invented, in_order, shown_name
from tests.viewer.twins import expected_families, expected_first_share

Ask = Callable[[Any], dict[str, Any]]


def all_pages(ask: Ask, query: Callable[..., Any], name: str, limit: int, **asked: Any) -> list[int]:
    """Return the numbers of all rows, page by page; every page says how many there are."""
    found: list[int] = []
    totals = set()
    cursor = None
    while True:
        page = ask(query(limit=limit, cursor=cursor, **asked))
        totals.add(page["total"])
        assert len(page["items"]) == limit or page["next"] is None
        assert page["items"] or not found, "an empty page at the end"
        found += [item[name] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            assert totals == {len(found)}
            return found


# What is reported about a pair.


def test_pairs_are_told_as_they_are(store: ViewStore, invented: Invented) -> None:
    page = store.pairs(PairQuery(sort="a", limit=MOST_ROWS))
    assert page["total"] == len(page["items"]) == len(invented.pairs)
    assert page["next"] is None
    for told in page["items"]:
        expected = invented.pairs[told["pair"]]
        for side in "ab":
            record = invented.records[expected[side]]
            assert told[side]["document"] == expected[side]
            assert told[side]["id"] == record["id"]
            assert told[side]["title"] == record.get("title")
            assert told[side]["group"] == record.get("group")
            assert told[side]["n_chars"] == len(record["text"])
            time = record.get("time")
            assert told[side]["time"] == (time and time.replace("+00:00", "Z"))
        for name in ("n_passages", "shared", "longest"):
            assert told[name] == expected[name]
        for name in ("similarity", "coverage_a", "coverage_b", "days"):
            assert told[name] == (None if expected[name] is None else pytest.approx(expected[name]))
        assert (told["verdict"], told["note"]) == (None, None)
        assert told["kind"] in {KINDS[p.kind] for p in expected["passages"] if p.length == expected["longest"]}
        assert told["direction"] in {DIRECTIONS[p.direction] for p in expected["passages"] if p.length == expected["longest"]}


def test_one_pair_with_its_passages_and_texts(store: ViewStore, invented: Invented) -> None:
    families, _ = expected_families(invented.passages, invented.records)
    in_families = {(p.a, p.b, p.a_start, p.b_start): family for p, family in zip(invented.passages, families, strict=True)}
    for expected in invented.pairs:
        found = store.pair(expected["number"])
        assert found is not None
        assert found["n_passages"] == len(found["passages"]) == expected["n_passages"]
        assert [p["number"] for p in found["passages"]] == list(range(1, expected["n_passages"] + 1))
        told = [(p["a_start"], p["b_start"]) for p in found["passages"]]
        assert told == [(p.a_start, p.b_start) for p in expected["passages"]]
        for p in found["passages"]:
            assert p["family"] == in_families[expected["a"], expected["b"], p["a_start"], p["b_start"]]
        for side in "ab":
            assert found[side]["segments"] == [{"start": 0, "text": invented.records[expected[side]]["text"]}]
            assert found[side]["is_complete"]


def test_what_is_not_there(store: ViewStore) -> None:
    for number in (-1, 10**6):
        assert store.pair(number) is None
        assert store.pair_summary(number) is None
        assert store.document(number) is None
        assert store.family(number) is None


# Filters, orders and pages.


FILTERS: dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = {
    "all": ({}, lambda pair: True),
    "similarity": ({"min_similarity": 0.5}, lambda pair: pair["similarity"] >= 0.5),
    "coverage": ({"min_coverage": 0.2}, lambda pair: pair["coverage"] >= 0.2),
    "longest": ({"min_longest": 40}, lambda pair: pair["longest"] >= 40),
    "nothing": ({"min_longest": 4000}, lambda pair: False),
    "year": ({"year": 2030}, lambda pair: pair["year"] == 2030),
    "document": ({"document": 3}, lambda pair: 3 in (pair["a"], pair["b"])),
    "no document": ({"document": 3000}, lambda pair: False),
    "together": (
        {"min_similarity": 0.5, "min_longest": 20, "document": 3},
        lambda pair: pair["similarity"] >= 0.5 and pair["longest"] >= 20 and 3 in (pair["a"], pair["b"]),
    ),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("sort", list(PairQuery.SORTS))
@pytest.mark.parametrize("order", ["asc", "desc", None])
def test_pages_give_every_pair_once_in_order(
    store: ViewStore, invented: Invented, name: str, sort: str, order: str | None
) -> None:
    asked, keep = FILTERS[name]
    rising = order == "asc" if order else sort in ("a", "b")
    expected = invented.wanted(keep, {"a": "name of a", "b": "name of b"}.get(sort, sort), rising)
    assert name in ("nothing", "no document") or expected, "the case shows nothing"
    for limit in (7, 50) if name == "all" else (3,):
        assert all_pages(store.pairs, PairQuery, "pair", limit, sort=sort, order=order, **asked) == expected
    rows = store.rows("pairs", PairQuery(sort=sort, order=order, **asked))
    assert [row["pair"] for row in rows] == expected


def test_pages_of_one_row(store: ViewStore, invented: Invented) -> None:
    assert any(pair["days"] is None for pair in invented.pairs)
    for order in ("asc", "desc"):
        expected = invented.wanted(lambda pair: True, "days", order == "asc")
        assert all_pages(store.pairs, PairQuery, "pair", 1, sort="days", order=order) == expected


@pytest.mark.parametrize("group", [group for group in GROUPS if group])
def test_groups(store: ViewStore, invented: Invented, group: str) -> None:
    expected = invented.wanted(lambda pair: group in pair["groups"])
    assert expected
    assert all_pages(store.pairs, PairQuery, "pair", 20, group=group) == expected
    facet = {facet["group"]: facet["n_pairs"] for facet in store.summary()["facets"]["groups"]}
    assert facet[group] == len(expected)


def test_a_group_that_is_not_there(store: ViewStore) -> None:
    assert store.pairs(PairQuery(group="Nobody"))["items"] == []
    assert store.documents(DocumentQuery(group="%"))["total"] == 0


def test_kinds_and_facets(store: ViewStore, invented: Invented) -> None:
    told = {item["pair"]: item["kind"] for item in store.pairs(PairQuery(limit=MOST_ROWS))["items"]}
    facets = store.summary()["facets"]
    for kind in KINDS:
        expected = {number for number, of in told.items() if of == kind}
        assert set(all_pages(store.pairs, PairQuery, "pair", 30, kind=kind)) == expected
        assert {"kind": kind, "n_pairs": len(expected)} in facets["kinds"]
    years = sorted({pair["year"] for pair in invented.pairs if pair["year"]})
    counted = [{"year": year, "n_pairs": sum(pair["year"] == year for pair in invented.pairs)} for year in years]
    assert facets["years"] == counted


def test_the_flow_is_what_shares_most(store: ViewStore, invented: Invented) -> None:
    flow = store.flow(PairQuery(min_similarity=0.5))
    wanted = [pair for pair in invented.pairs if pair["similarity"] >= 0.5]
    expected = sorted(wanted, key=lambda pair: (-pair["shared"], -pair["number"]))
    assert [item["pair"] for item in flow["items"]] == [pair["number"] for pair in expected]
    assert flow["total"] == len(wanted)


def told_documents(invented: Invented) -> list[dict[str, Any]]:
    rows = invented.material.documents.to_pylist()  # type: ignore[union-attr]
    return [
        row
        | {
            "number": number, "group": record.get("group"), "time": record.get("time"), "title": record.get("title", ""),
            "n_pairs": sum(number in (pair["a"], pair["b"]) for pair in invented.pairs),
        }
        for number, (row, record) in enumerate(zip(rows, invented.records, strict=True))
    ]  # fmt: skip


@pytest.mark.parametrize("sort", list(DocumentQuery.SORTS))
@pytest.mark.parametrize("order", ["asc", "desc", None])
@pytest.mark.parametrize("group", [None, "UK"])
def test_pages_of_documents(store: ViewStore, invented: Invented, sort: str, order: str | None, group: str | None) -> None:
    rows = [row for row in told_documents(invented) if group is None or row["group"] == group]
    rows = [{**row, "id": (shown_name(invented.records[row["number"]]), row["number"])} for row in rows]
    expected = in_order(rows, sort, order == "asc" if order else sort in ("id", "time"))
    assert all_pages(store.documents, DocumentQuery, "document", 5, sort=sort, order=order, group=group) == expected


def test_documents_are_told_as_they_are(store: ViewStore, invented: Invented) -> None:
    for expected in told_documents(invented):
        found = store.document(expected["number"])
        assert found is not None
        told = found["document"]
        assert told == store.document_summary(expected["number"])
        for name in ("id", "group", "n_chars", "n_sentences", "reused_share", "cluster", "n_pairs"):
            assert told[name] == expected[name], name
        share = expected_first_share(expected["number"], invented.passages, expected["n_chars"])
        assert told["first_share"] == (None if share is None else pytest.approx(share))
        assert not told["is_reference"]
        assert found["n_pairs"] == expected["n_pairs"]
        own = [pair for pair in invented.pairs if expected["number"] in (pair["a"], pair["b"])]
        assert [pair["pair"] for pair in found["pairs"]] == in_order(own, "shared", rising=False)[:100]
        ends = [0, *(place for shade in found["shades"] for place in (shade["start"], shade["end"]))]
        assert ends == sorted(ends)


@pytest.mark.parametrize("sort", list(FamilyQuery.SORTS))
@pytest.mark.parametrize("order", ["asc", "desc", None])
def test_pages_of_families(store: ViewStore, invented: Invented, sort: str, order: str | None) -> None:
    _, places = expected_families(invented.passages, invented.records)
    rows = []
    for found in places:
        documents = {place[0] for place in found}
        n_chars = max(end - start for _, start, end in found)
        first = min((invented.records[d]["time"] for d in documents if "time" in invented.records[d]), default=None)
        counts = {"n_documents": len(documents), "n_chars": n_chars, "spread": len(documents) * n_chars, "first_time": first}
        rows.append(counts)
    expected = sorted((row[sort] for row in rows), key=lambda value: (value is None, value or ""))  # type: ignore[arg-type]
    rising = order == "asc" if order else sort == "first_time"
    numbers = all_pages(store.families, FamilyQuery, "family", 6, sort=sort, order=order)
    assert sorted(numbers) == list(range(1, len(rows) + 1))
    told = {item["family"]: item for item in store.families(FamilyQuery(limit=MOST_ROWS))["items"]}
    values = [told[n].get(sort, told[n]["n_documents"] * told[n]["n_chars"]) for n in numbers]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=not rising)
    assert values[len(known) :] == [None] * (len(values) - len(known))  # rows without a time come last
    assert len(known) == sum(value is not None for value in expected)
    if sort != "first_time":
        assert sorted(known) == expected


def test_records_that_were_left_out(store: ViewStore) -> None:
    found: list[int] = []
    cursor = None
    while True:
        page = store.skipped(cursor, 3)
        assert page["total"] == 7
        assert all(set(item) == {"source", "position", "reason", "id"} for item in page["items"])
        found += [item["position"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == list(range(7))
    assert [row["position"] for row in store.rows("skipped")] == list(range(7))


# Search.


def holds(pair: dict[str, Any], term: str) -> bool:
    is_word = len(term) >= 3 or not term.isascii()  # one or two letters stand everywhere: only names are looked through
    return any(term.casefold() in told.casefold() for told in (*pair["names"], *(pair["texts"] if is_word else ())))


def named(document: dict[str, Any], term: str) -> bool:
    return any(term.casefold() in (document[name] or "").casefold() for name in ("id", "title", "group"))


LONG_TERMS = [
    "d003", "D003", "003", "Herald", "herald", "100%", "_sure", "%_s", "O'Neil", "NEAR/2", "(x OR", "y)*", "Über", "ÜBER",
    "Brücke", "back\\", "快報です", "off_all", "x_5%'", "^z {q}", "桜が咲", "咲く1", "absent words", "quoted'", "a\\b", "NEAR",
    "äther", "---", "*/*", "d00", "...", "x:y",
]  # fmt: skip


@pytest.mark.parametrize("term", LONG_TERMS)
def test_search_finds_ids_titles_groups_and_words_of_passages(store: ViewStore, invented: Invented, term: str) -> None:
    search = f'"{term}"' if " " in term else term
    expected = invented.wanted(lambda pair: holds(pair, term))
    assert all_pages(store.pairs, PairQuery, "pair", 20, search=search) == expected
    documents = [row for row in told_documents(invented) if named(row, term)]
    assert all_pages(store.documents, DocumentQuery, "document", 4, search=search) == in_order(documents, "reused_share", False)


def test_every_word_of_a_passage_is_found(store: ViewStore, invented: Invented) -> None:
    chance = random.Random(1)
    found = 0
    for _ in range(60):
        pair = chance.choice(invented.pairs)
        told = chance.choice(pair["texts"])
        start = chance.randrange(len(told) - 3)
        term = told[start : start + chance.randint(3, 12)].strip()
        if len(term) < 3 or '"' in term:
            continue
        found += 1
        assert all_pages(store.pairs, PairQuery, "pair", 100, search=f'"{term}"') == invented.wanted(
            lambda pair, term=term: holds(pair, term)  # type: ignore[misc]
        )
        families = {item["family"] for item in store.families(FamilyQuery(search=f'"{term}"', limit=MOST_ROWS))["items"]}
        in_passages = {p["family"] for p in (store.pair(pair["number"]) or {})["passages"]}
        assert families & in_passages
    assert found > 30


@pytest.mark.parametrize(
    "term",
    ["x_", "%", "_", "'", "\\", "*", "桜", "桜が", "新聞", "1", "d", "D", "(", "%'", "UK", "日報", "日"],
)  # fmt: skip
def test_short_terms(store: ViewStore, invented: Invented, term: str) -> None:
    expected = invented.wanted(lambda pair: holds(pair, term))
    assert expected
    assert all_pages(store.pairs, PairQuery, "pair", 50, search=term) == expected
    documents = [row for row in told_documents(invented) if named(row, term)]
    assert all_pages(store.documents, DocumentQuery, "document", 4, search=term) == in_order(documents, "reused_share", False)


def test_several_terms_must_all_be_found(store: ViewStore, invented: Invented) -> None:
    expected = invented.wanted(lambda pair: holds(pair, "herald") and holds(pair, "d00") and holds(pair, "ba"))
    assert all_pages(store.pairs, PairQuery, "pair", 20, search='d00 ba "Herald"') == expected


@pytest.mark.parametrize(
    "search",
    [
        "%", "_", '"', '""', '"""', "'", "''", "*", "(", ")", "((((", "NEAR", "NEAR(", "NEAR(a b)", "OR", "a OR b", "AND",
        "\0", "\0\0\0", "a\0b", "a\0bcd", "-", "--", "---", ";", "; DROP TABLE pairs;--", "id:x", "id : x", "^", "^abc", "NOT",
        "+abc", "a+b", "\\", "\\\\\\", "\\%\\_", "[abc]", "?", "???", ":abc", "@abc", "$abc", "\n\n", "\t", "\r", "é" * 1000,
        " ".join("abcd" for _ in range(500)), "a" * 20_000, "🎈", "🎈🎈🎈", "\u202e", "\ufeffabc", "İstanbul", "ß", "ﬁ",
    ],
)  # fmt: skip
def test_no_search_breaks_anything(store: ViewStore, search: str) -> None:
    n_pairs = store.pairs(PairQuery())["total"]
    assert 0 <= store.pairs(PairQuery(search=search))["total"] <= n_pairs
    assert store.documents(DocumentQuery(search=search))["total"] <= N_DOCUMENTS
    store.families(FamilyQuery(search=search))
    store.flow(PairQuery(search=search))
    if not terms_of(search):
        assert store.pairs(PairQuery(search=search))["total"] == n_pairs


def test_terms() -> None:
    assert terms_of(None) == terms_of("") == terms_of(' " " ') == []
    assert terms_of('one "two three" four') == ["one", "two three", "four"]
    assert terms_of('open "two three') == ["open", "two three"]
    assert terms_of("a\0b") == ["a", "b"]
    assert terms_of("a " * 100) == ["a"]
    with pytest.raises(ValueError, match="at most 16 words"):
        terms_of(" ".join(f"w{n}" for n in range(17)))


def test_titles_are_of_use_to_the_search(invented: Invented) -> None:
    used = {record.get("title") for record in invented.records}
    assert len(used & set(TITLES)) > 4


# What makes no sense.


@pytest.mark.parametrize(
    "asked",
    [
        {"sort": "id"}, {"sort": ""}, {"sort": "p.number; DROP"}, {"order": "up"}, {"order": ""}, {"limit": 0}, {"limit": -1},
        {"limit": MOST_ROWS + 1}, {"kind": "exactly"}, {"verdict": "maybe"}, {"min_similarity": math.nan},
        {"min_coverage": math.inf}, {"min_longest": -math.inf},
    ],
)  # fmt: skip
def test_questions_that_make_no_sense(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        PairQuery(**asked)


def test_other_lists_have_their_own_orders() -> None:
    with pytest.raises(ValueError, match="sort must be one of"):
        DocumentQuery(sort="interest")
    with pytest.raises(ValueError, match="sort must be one of"):
        FamilyQuery(sort="id")
    with pytest.raises(ValueError, match="limit"):
        FamilyQuery(limit=501)


def cursor_of(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


BROKEN = [
    "", "x", "é", "%%%", "a" * 5, "\0", "=", "====", cursor_of([]), cursor_of([1]), cursor_of([1, 2, 3]), cursor_of({}),
    cursor_of(None), cursor_of([1, "2"]), cursor_of([1, 2.5]), cursor_of([1, None]), cursor_of([[1], 2]), cursor_of([{}, 2]),
    cursor_of("ab"), base64.urlsafe_b64encode(b"\xff\xfe").decode(), base64.urlsafe_b64encode(b"[1, 2").decode(),
]  # fmt: skip


@pytest.mark.parametrize("cursor", BROKEN)
def test_broken_cursors_are_value_errors(store: ViewStore, cursor: str) -> None:
    for ask, query in ((store.pairs, PairQuery), (store.documents, DocumentQuery), (store.families, FamilyQuery)):
        with pytest.raises(ValueError):
            ask(query(cursor=cursor))  # type: ignore[operator]
    with pytest.raises(ValueError):
        store.skipped(cursor, 5)
    with pytest.raises(ValueError):
        store.verdicts(cursor, 5)


@pytest.mark.parametrize(
    "cursor",
    [cursor_of(value) for value in ([1, 10**30], [10**30, 1], [1, -(2**63) - 1])]
    + [base64.urlsafe_b64encode(b"[" * 9_000).decode()],
)
def test_cursors_with_what_no_file_holds_are_value_errors(store: ViewStore, cursor: str) -> None:
    with pytest.raises(ValueError):
        store.pairs(PairQuery(cursor=cursor))


@pytest.mark.parametrize("name", ["year", "document"])
def test_numbers_that_no_file_holds_are_value_errors_or_find_nothing(store: ViewStore, name: str) -> None:
    with suppress(ValueError):
        assert store.pairs(PairQuery(**{name: 10**30}))["items"] == []


def test_a_pair_of_a_number_that_no_file_holds(store: ViewStore) -> None:
    assert store.pair(10**30) is None


def test_a_cursor_of_another_order_breaks_nothing(store: ViewStore) -> None:
    cursors = [store.pairs(PairQuery(limit=2, sort=sort))["next"] for sort in PairQuery.SORTS]
    cursors += [cursor_of(["'; DROP TABLE pairs", 1]), cursor_of([True, 1])]
    cursors.append(store.documents(DocumentQuery(limit=2, sort="id"))["next"])
    for cursor in cursors:
        for sort in PairQuery.SORTS:
            page = store.pairs(PairQuery(sort=sort, cursor=cursor, limit=5))
            assert len(page["items"]) <= 5


def test_cursors_are_read_as_they_were_written() -> None:
    for value, number in ((None, 3), (0.1 + 0.2, 0), ('a\n"é', 7), (-5, 2**40)):
        assert read_cursor(write_cursor(value, number)) == (value, number)


# Many at once.


def test_any_thread_may_ask(store: ViewStore, invented: Invented) -> None:
    def ask(k: int) -> list[int]:
        if k % 2:
            return [row["pair"] for row in store.rows("pairs", PairQuery(sort="shared"))]
        return all_pages(store.pairs, PairQuery, "pair", 9, sort="shared")

    expected = invented.wanted(lambda pair: True, "shared")
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(ask, range(40)))


def test_rows_that_nobody_reads_to_the_end(store: ViewStore) -> None:
    for _ in range(50):
        rows = store.rows("passages")
        next(rows)
        rows.close()  # type: ignore[attr-defined]
    assert len(list(store.rows("passages"))) == store.summary()["totals"]["passages"]


def test_totals(store: ViewStore, invented: Invented) -> None:
    summary = store.summary()
    n_families = len(expected_families(invented.passages, invented.records)[1])
    assert summary["totals"] == {
        "documents": N_DOCUMENTS, "sentences": None, "characters": sum(len(r["text"]) for r in invented.records),
        "passages": len(invented.passages), "pairs": len(invented.pairs), "families": n_families, "repeats": 0,
        "reusing_documents": sum(row["reused_share"] > 0 for row in told_documents(invented)), "skipped": 7,
    }  # fmt: skip
    assert summary["shown"] == {"pairs": len(invented.pairs), "documents": N_DOCUMENTS, "families": n_families}
    rows = told_documents(invented)
    share = sum(row["reused_share"] * row["n_chars"] for row in rows) / sum(row["n_chars"] for row in rows)
    assert summary["reused_share"] == pytest.approx(share)
    for distribution in store.distributions().values():
        assert sum(distribution["counts"]) == len(invented.pairs)
    json.dumps([summary, store.distributions()], allow_nan=False)


# How long a query may take.


def test_only_somebody_who_waits_is_refused_a_slow_query(view_file: Path) -> None:
    slow = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT COUNT(*) FROM n"
    served, reported = Connections(view_file, None, most_seconds=0.001), Connections(view_file, None)
    with closing(served), closing(reported):
        with pytest.raises(ResourceError, match="too long"):
            served.rows(slow)
        assert served.rows("SELECT 1")[0][0] == 1
        assert reported.rows(slow)[0][0] == 300_000
