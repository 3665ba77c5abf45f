"""Rows of SQLite and DuckDB: those of a query, or of the one table with texts; databases are never changed."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.errors import InputError
from ibidem.formats import resolve_inputs
from ibidem.formats.sources import describe_source, file_states, is_changed
from tests.cli.test_find import Run, run, said
from tests.formats.test_inputs import collect, ids

__all__ = ["run"]
ROWS = [(f"n{number}", f"This is text number {number}.", f"2031-05-{number % 28 + 1:02}", "press") for number in range(3000)]
QUERY = "SELECT key AS id, body AS text, day AS time, paper AS 'group' FROM articles WHERE length(body) > 5 ORDER BY rowid"
TABLES = "CREATE TABLE articles (key TEXT, body TEXT, day TEXT, paper TEXT)", "CREATE TABLE notes (id INTEGER, text TEXT)"
NOTES = [(1, "A note."), (2, None), (3, "Another note.")]


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "news.sqlite")) as database, database:
        for table in TABLES:
            database.execute(table)
        database.executemany("INSERT INTO articles VALUES (?, ?, ?, ?)", ROWS)
        database.executemany("INSERT INTO notes VALUES (?, ?)", NOTES)
    return tmp_path / "news.sqlite"


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(str(tmp_path / "news.duckdb"))) as database:
        for table in TABLES:
            database.execute(table)
        database.executemany("INSERT INTO articles VALUES (?, ?, ?, ?)", ROWS[:300])
        more = "SELECT 'm' || i, 'More text ' || i || '.', '2031-06-01', 'web' FROM range(70000) t(i)"
        database.execute(f"INSERT INTO articles {more}")
        database.executemany("INSERT INTO notes VALUES (?, ?)", NOTES)
    return tmp_path / "news.duckdb"


@pytest.fixture(params=["sqlite", "duck"])
def database(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


def test_rows_of_a_query(sqlite: Path) -> None:
    rows, skipped = collect(sqlite, query=QUERY)
    assert not skipped
    found = [(row["id"], row["text"], f"{row['time']:%Y-%m-%d}", row["group"]) for row in rows]
    assert found == ROWS


def test_rows_of_duckdb(duck: Path) -> None:
    query = QUERY.replace("'group'", '"group"')
    rows, skipped = collect(duck, query=query)
    assert not skipped
    found = [(row["id"], row["text"], f"{row['time']:%Y-%m-%d}", row["group"]) for row in rows]
    assert found[:300] == ROWS[:300]
    assert len(found) == 70_300
    assert {row["position"] for row in rows} == set(range(1, 70_301))


def test_without_a_query_the_table_with_texts_is_read(database: Path) -> None:
    rows, skipped = collect(database)
    assert [(row["id"], row["text"]) for row in rows] == [("1", "A note."), ("3", "Another note.")]
    assert [(record.position, record.reason) for record in skipped] == [(2, "field 'text' is null")]
    assert next(document.fields for document in ibidem.read(database, text_field="body"))["day"] == "2031-05-01"


def test_what_is_wrong_with_a_query_is_said_with_the_tables_there_are(database: Path) -> None:
    tables = r"its tables are articles \(key, body, day, paper\), notes \(id, text\)"
    for query in ("SELECT * FROM nothing", "SELEC", "DROP TABLE notes", "INSERT INTO notes VALUES (1, 'x')"):
        with pytest.raises(InputError, match=rf"cannot run the query on .*{database.name}: .*\n.*{tables}"):
            ids(database, query=query)
    with pytest.raises(InputError, match=r"the query returns no column 'text', only id\n.*AS text"):
        ids(database, query="SELECT id FROM notes")
    with pytest.raises(InputError, match=rf"has no table with a column 'words'; {tables}"):
        ids(database, text_field="words")


def test_several_tables_with_texts(sqlite: Path) -> None:
    with closing(sqlite3.connect(sqlite)) as database, database:
        database.execute("CREATE VIEW old AS SELECT * FROM notes")
    with pytest.raises(InputError, match="several tables with a column 'text': notes, old"):
        ids(sqlite)


def test_a_database_is_never_changed(database: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest(), sorted(database.parent.iterdir())
    ids(database)
    with pytest.raises(InputError):
        ids(database, query="DELETE FROM notes")
    assert (hashlib.sha256(database.read_bytes()).hexdigest(), sorted(database.parent.iterdir())) == before


def test_a_folder_with_a_database_and_others(database: Path) -> None:
    (database.parent / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0 of another program")
    (database.parent / "a.txt").write_text("words")
    rows, skipped = collect(database.parent)
    assert {row["text"] for row in rows} == {"A note.", "Another note.", "words"}
    assert any("not an SQLite or DuckDB database" in record.reason for record in skipped)


def test_a_database_under_another_name(sqlite: Path) -> None:
    plain = sqlite.rename(sqlite.with_name("news"))
    assert len(ids(plain)) == 2
    text = plain.rename(plain.with_name("news.txt"))
    assert "as .sqlite it would be read" in collect(text)[1][0].reason


def test_texts_that_are_no_texts(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute("CREATE TABLE a (id, text)")
        database.executemany("INSERT INTO a VALUES (?, ?)", [(1, b"\x00\x01"), (2, 17), (3, "words"), (4, "")])
        database.execute("INSERT INTO a VALUES (5, CAST(x'ff41' AS TEXT))")
    rows, skipped = collect(tmp_path / "a.db")
    assert [row["id"] for row in rows] == ["3"]
    assert [record.position for record in skipped] == [1, 2, 4, 5]


def test_a_damaged_database(sqlite: Path) -> None:
    data = bytearray(sqlite.read_bytes())
    data[len(data) // 2 :] = b"\x07" * (len(data) - len(data) // 2)
    sqlite.write_bytes(data)
    rows, skipped = collect(sqlite, query=QUERY.partition(" ORDER")[0])
    assert 0 < len(rows) < len(ROWS)
    assert [record.position for record in skipped] == [0]
    assert "cannot be read to its end: row 1," in skipped[0].reason


def test_no_cleaned_copy_is_made_of_a_database(run: Run, database: Path, tmp_path: Path) -> None:
    for level in ("document", "passage"):
        answer = run("dedup", database.name, "-o", "clean", "--level", level)
        said(answer, 3, f"{database.name}: cannot make a cleaned copy of a database")
    assert not (tmp_path / "clean").exists()


def test_verbs_read_databases(run: Run, database: Path, tmp_path: Path) -> None:
    query = "SELECT key AS id, body AS text FROM articles LIMIT 50"
    said(run("find", database.name, "--query", query, "-o", "out", "--min-sentences", "1"), 0)
    said(run("cluster", database.name, "--query", query, "-o", "clusters"), 0)
    said(run("index", "add", "a.idx", database.name, "--query", query), 0, "50 documents added")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, duck: Path, sqlite: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    _, skipped = collect([duck, sqlite])
    assert "needs duckdb: pip install 'ibidem[remote]'" in skipped[0].reason


def test_what_cannot_be_queried(sqlite: Path, tmp_path: Path) -> None:
    import gzip

    packed = tmp_path / "news.db.gz"
    packed.write_bytes(gzip.compress(sqlite.read_bytes()))
    assert "decompress it to a file first" in collect(packed)[1][0].reason
    fsspec: Any = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/news.db", sqlite.read_bytes())
    with pytest.raises(InputError, match="a remote database cannot be queried"):
        ids("memory://news.db")


def test_a_query_writes_nothing(sqlite: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    other = tmp_path / "other"
    for query in (f"VACUUM INTO '{other}'", f"ATTACH '{other}' AS other", "PRAGMA user_version = 3; SELECT 1"):
        with pytest.raises(InputError, match="cannot run the query"):
            ids(sqlite, query=query)
    duck = request.getfixturevalue("duck")
    copying = f"COPY (SELECT text FROM notes) TO '{other}'"
    for query in (copying, f"{copying}; SELECT * FROM notes", f"ATTACH '{other}' AS other"):
        with pytest.raises(InputError, match=r"cannot run the query on .*: it must be one SELECT"):
            ids(duck, query=query)
    assert not other.exists()


def test_a_query_without_a_database(run: Run, sqlite: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words", "utf-8")
    for words in (("find", "a.txt", "-o", "out"), ("dedup", "a.txt", "-o", "clean"), ("index", "add", "a.idx", "a.txt")):
        said(run(*words, "--query", "SELECT 1"), 2, "--query chooses rows of a database, and no input is one")
    assert not (tmp_path / "a.idx").exists()
    said(run("cluster", "a.txt", "--against", sqlite.name, "--query", "SELECT * FROM notes", "-o", "c"), 0)


def test_rows_in_the_log_beside_a_database_are_a_change(sqlite: Path) -> None:
    with closing(sqlite3.connect(sqlite)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("INSERT INTO notes VALUES (4, 'One.')")
        database.commit()
        os.utime(f"{sqlite}-wal", (1e9, 1e9))
        os.utime(sqlite, (1e9, 1e9))
        (source,) = sources = resolve_inputs(sqlite)
        before, described = file_states(sources), describe_source(source)
        assert len(ids(sqlite)) == 3
        assert file_states(sources) == before
        database.execute("INSERT INTO notes VALUES (5, 'One more.')")
        database.commit()
        os.utime(sqlite, (1e9, 1e9))
        assert file_states(sources) != before
        assert is_changed(str(sqlite), described)
