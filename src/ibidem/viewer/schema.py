"""The SQLite file that views are read from: `view.sqlite`, beside the results it was made of."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

# What a file of another number holds is not known: it is made anew.
SCHEMA = 3
# The form of what views tell pages and programs.
TOLD = 1

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (number INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE documents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL, is_reference INTEGER NOT NULL, time INTEGER, "group" INTEGER, title TEXT,
  n_chars INTEGER, n_sentences INTEGER, reused_share REAL, first_share REAL, cluster INTEGER,
  n_pairs INTEGER NOT NULL DEFAULT 0, name INTEGER NOT NULL DEFAULT 0, text BLOB
);
CREATE TABLE pieces (document INTEGER NOT NULL, start INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE pairs (
  number INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL, n_passages INTEGER NOT NULL, shared INTEGER NOT NULL,
  longest INTEGER NOT NULL, similarity REAL NOT NULL, coverage_a REAL, coverage_b REAL, coverage REAL NOT NULL,
  kind INTEGER NOT NULL, direction INTEGER NOT NULL, days REAL, interest REAL NOT NULL,
  a_group INTEGER, b_group INTEGER, year INTEGER, a_name INTEGER NOT NULL, b_name INTEGER NOT NULL
);
CREATE TABLE passages (
  pair INTEGER NOT NULL, number INTEGER NOT NULL, a_start INTEGER NOT NULL, a_end INTEGER NOT NULL,
  b_start INTEGER NOT NULL, b_end INTEGER NOT NULL, n_sentences INTEGER NOT NULL, similarity REAL NOT NULL,
  kind INTEGER NOT NULL, direction INTEGER NOT NULL, family INTEGER, PRIMARY KEY (pair, number)
) WITHOUT ROWID;
CREATE TABLE families (
  number INTEGER PRIMARY KEY, n_documents INTEGER NOT NULL, n_places INTEGER NOT NULL, n_chars INTEGER NOT NULL,
  first_time INTEGER, last_time INTEGER, n_groups INTEGER NOT NULL, is_repeat INTEGER NOT NULL, spread INTEGER NOT NULL,
  text TEXT NOT NULL DEFAULT ''
);
CREATE TABLE places (
  family INTEGER NOT NULL, document INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL
);
CREATE TABLE skipped (number INTEGER PRIMARY KEY, source TEXT, position INTEGER, reason TEXT, id TEXT);
CREATE VIRTUAL TABLE names USING fts5(id, title, name, content='', tokenize='trigram');
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='trigram');
"""

# Made after the rows: that is several times as fast. Every order in which pairs are paged through has its own.
INDICES = """
CREATE INDEX documents_by_id ON documents (id);
CREATE INDEX documents_by_name ON documents (name, number);
CREATE INDEX documents_by_time ON documents (time, number);
CREATE INDEX documents_by_time_rising ON documents ((time IS NULL), time, number);
CREATE INDEX documents_by_n_chars ON documents (n_chars, number);
CREATE INDEX documents_by_n_pairs ON documents (n_pairs, number);
CREATE INDEX documents_by_reused_share ON documents (reused_share, number);
CREATE INDEX documents_by_group ON documents ("group");
CREATE INDEX pieces_by_document ON pieces (document, start);
CREATE INDEX pairs_by_a ON pairs (a, number);
CREATE INDEX pairs_by_b ON pairs (b, number);
CREATE INDEX pairs_by_name_of_a ON pairs (a_name, number);
CREATE INDEX pairs_by_name_of_b ON pairs (b_name, number);
CREATE INDEX pairs_by_interest ON pairs (interest, number);
CREATE INDEX pairs_by_shared ON pairs (shared, number);
CREATE INDEX pairs_by_longest ON pairs (longest, number);
CREATE INDEX pairs_by_similarity ON pairs (similarity, number);
CREATE INDEX pairs_by_coverage ON pairs (coverage, number);
CREATE INDEX pairs_by_days ON pairs (days, number);
CREATE INDEX pairs_by_days_rising ON pairs ((days IS NULL), days, number);
CREATE INDEX pairs_by_n_passages ON pairs (n_passages, number);
CREATE INDEX pairs_by_groups ON pairs (a_group, b_group);
CREATE INDEX pairs_by_group_of_b ON pairs (b_group);
CREATE INDEX passages_by_family ON passages (family);
CREATE INDEX families_by_spread ON families (spread, number);
CREATE INDEX families_by_n_documents ON families (n_documents, number);
CREATE INDEX families_by_n_chars ON families (n_chars, number);
CREATE INDEX families_by_first_time ON families ((first_time IS NULL), first_time, number);
CREATE INDEX places_by_family ON places (family, document, start);
CREATE INDEX places_by_document ON places (document, start);
ANALYZE;
"""


def create(path: Path) -> sqlite3.Connection:
    """Make the file, without indices; it is not safe against a crash while it is filled, and thrown away then."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;")
        connection.executescript(TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


def pack(text: str) -> bytes:
    """Return a text as it is kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpack(packed: bytes) -> str:
    """Return a text that was kept."""
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")
