"""Databases of SQLite and DuckDB, opened for reading only: the rows of a query, or of the one table that has texts."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ibidem.config.surface import given, named
from ibidem.errors import InputError
from ibidem.formats.arrow_records import arrow_jobs
from ibidem.formats.byte_streams import ByteStream
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.jobs import Job
from ibidem.formats.python_records import record_jobs
from ibidem.formats.records import UnfitTableError, Wanted, shown_names
from ibidem.formats.remote_files import RemotePath
from ibidem.formats.sources import FileSource

NO_QUERY = "none"
# What a query may do.
_READING = {
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_PRAGMA,
}  # fmt: skip
_SQLITE, _DUCKDB, _DUCKDB_PLACE = b"SQLite format 3\0", b"DUCK", 8
_ROWS = 1000
Tables = Mapping[str, Sequence[str]]  # names of columns by table


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield jobs for the rows of the query; their position is their number in its answer."""
    if isinstance(stream.path, RemotePath):
        raise InputError(f"{source.name}: a remote database cannot be queried", "Download it first.")
    if stream.is_forward_only:
        raise OSError("a compressed or piped database; decompress it to a file first")
    head = stream.peek(64)
    try:
        if head.startswith(_SQLITE):
            yield from _read_sqlite(stream, source, wanted)
        elif head[_DUCKDB_PLACE:].startswith(_DUCKDB):
            yield from _read_duckdb(stream, source, wanted)
        else:
            raise OSError("not an SQLite or DuckDB database")
    finally:
        stream.take_all()


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Refuse: callers check this before."""
    raise edits.changed()


def field_names(file: InputFile, of_all: bool = False) -> list[str]:
    """Return the names of the columns of all tables."""
    tables: Tables = {}
    if file.peek(len(_SQLITE)) == _SQLITE:
        with contextlib.closing(sqlite3.connect(_address(file), uri=True)) as database:
            tables = _sqlite_tables(database)
    return list(dict.fromkeys(name for columns in tables.values() for name in columns))


def _address(stream: ByteStream) -> str:
    return f"{Path(stream.path).absolute().as_uri()}?mode=ro"


def _read_sqlite(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    with contextlib.closing(sqlite3.connect(_address(stream), uri=True)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            query = _query(source, wanted, lambda: _sqlite_tables(database))
            database.set_authorizer(_allowed)
            rows = database.execute(query)
        except (sqlite3.Error, sqlite3.Warning) as error:
            database.set_authorizer(None)
            raise _refused(source, error, lambda: _sqlite_tables(database)) from None
        names = [column[0] for column in rows.description or ()]
        _check_columns(source, names, wanted)
        yield from record_jobs(_numbered(rows, names), source.name, wanted, stream.take_count)


def _allowed(action: int, *arguments: Any) -> int:
    """Allow reading only: `VACUUM INTO` and `ATTACH` write other files, however a database is opened."""
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _numbered(rows: sqlite3.Cursor, names: Sequence[str]) -> Iterator[tuple[Any, int, int | None]]:
    position = 0
    try:
        for row in rows:
            position += 1
            yield dict(zip(names, row, strict=True)), position, None
    except sqlite3.Error as error:
        raise OSError(f"row {position + 1:,}: {error}") from error


def _sqlite_tables(database: sqlite3.Connection) -> Tables:
    listed = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    names = [name for (name,) in listed if not name.startswith("sqlite_")]
    return {name: [row[1] for row in database.execute(f"PRAGMA table_info({_quoted(name)})")] for name in names}


def _read_duckdb(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    try:
        import duckdb
    except ModuleNotFoundError:
        raise OSError("reading a DuckDB database needs duckdb: pip install 'ibidem[remote]'") from None
    try:
        database: Any = duckdb.connect(stream.path, read_only=True)
    except duckdb.Error as error:
        message = f"cannot open {source.name}: {_first_line(error)}"
        raise InputError(message, "Close the program that is writing to it.") from None
    answer = in_batches = batches = None
    with contextlib.closing(database):
        try:
            query = _query(source, wanted, lambda: _duckdb_tables(database))
            kinds = [statement.type for statement in database.extract_statements(query)]
            if kinds not in ([duckdb.StatementType.SELECT], [duckdb.StatementType.MULTI]):  # MULTI: PIVOT
                # Others may write files, such as COPY, however a database is opened.
                raise duckdb.Error("it must be one SELECT")
            answer = database.sql(query)
            if answer is None:
                raise duckdb.Error("it gives no rows")
            in_batches = getattr(answer, "to_arrow_reader", None) or answer.fetch_record_batch  # the name before 1.4
            batches = in_batches(_ROWS)
            _check_columns(source, batches.schema.names, wanted)
            position = 1
            for batch in batches:
                yield from arrow_jobs(batch, position, source.name, wanted)
                position += batch.num_rows
        except (duckdb.Error, pa.ArrowException) as error:
            raise _refused(source, error, lambda: _duckdb_tables(database)) from None
        finally:
            # Whoever opens the database next would wait for them, and tracebacks keep them.
            answer = in_batches = batches = None


def _duckdb_tables(database: Any) -> Tables:
    listed = "SELECT table_name, column_name FROM information_schema.columns ORDER BY table_name, ordinal_position"
    tables: dict[str, list[str]] = {}
    # Of its own, as an answer may be open.
    with contextlib.closing(database.cursor()) as cursor:
        for table, column in cursor.execute(listed).fetchall():
            tables.setdefault(table, []).append(column)
    return tables


def _query(source: FileSource, wanted: Wanted, list_tables: Any) -> str:
    """Return the query that settings give, or one for the only table that has the field with the text."""
    if wanted.config.query != NO_QUERY:
        return wanted.config.query
    tables: Tables = list_tables()
    name = wanted.config.text_field
    fitting = [table for table, columns in tables.items() if name in columns]
    if len(fitting) == 1:
        return f"SELECT * FROM {_quoted(fitting[0])}"
    if fitting:
        message = f"{source.name} has several tables with a column '{name}': {shown_names(fitting)}"
        raise InputError(message, f"Choose one with {given('query', 'SQL')}.")
    message = f"{source.name} has no table with a column '{name}'; {_shown(tables)}"
    raise UnfitTableError(source.name, message, f"Choose rows with {given('query', 'SQL')}.")


def _check_columns(source: FileSource, names: Sequence[str], wanted: Wanted) -> None:
    name = wanted.config.text_field
    if name not in names:
        message = f"{source.name}: the query returns no column '{name}', only {shown_names(names)}"
        raise InputError(message, f"Add `AS {name}` to the column with the text.")


def _refused(source: FileSource, error: Exception, list_tables: Any) -> InputError:
    """Return the error for a query that the database does not carry out, with the tables that there are."""
    tables: Tables = {}
    with contextlib.suppress(Exception):  # a database that cannot even list its tables
        tables = list_tables()
    message = f"cannot run the query on {source.name}: {_first_line(error)}"
    return InputError(message, f"Check {named('query')}; {_shown(tables)}.")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _shown(tables: Tables) -> str:
    return "its tables are " + (", ".join(f"{name} ({shown_names(columns)})" for name, columns in tables.items()) or "none")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
