"""Checking a text against an index, end to end: JSON, pasted text, uploads, and everything that cannot be checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import httpx
import pytest

import ibidem
from ibidem.viewer.server import index_shapes, text_check
from tests.test_index_alignment import EDITED, TEXT
from tests.texts import text
from tests.viewer.server.conftest import RECORDS, AppMaker, write_lines
from tests.viewer.server.expected import expect, expect_error

CHECK = "/api/v1/check"
NEW = text(300) + " " + text(1, 2, 3, 4) + " " + text(301)


def state_of(folder: Path) -> dict[str, str]:
    # SQLite's own files beside the catalog come and go as it is read.
    paths = (path for path in folder.iterdir() if not path.name.endswith(("-shm", "-wal")))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def checked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    content: dict[str, Any] = expect(index_shapes.Check, client.post(CHECK, json=body))
    return content


def test_a_pasted_text_is_located_and_its_sources_are_ranked(client: httpx.Client, index: Path) -> None:
    before = state_of(index)
    found = checked(client, text=NEW)
    assert found["verdict"] == {
        "id": "", "duplicated": True, "n_sentences": 6, "n_known": 4, "n_common": 0, "is_own_id_known": False,
    }  # fmt: skip
    copied = text(1, 2, 3, 4)
    texts = {record["id"]: record["text"] for record in RECORDS}
    assert [source["id"] for source in found["sources"]] == ["a", "b", "f"]
    for passage in found["passages"]:
        assert NEW[passage["a_start"] : passage["a_end"]] == copied
        source = texts[found["sources"][passage["source"]]["id"]]
        assert source[passage["b_start"] : passage["b_end"]] == copied
    assert [passage["number"] for passage in found["passages"]] == [1, 2, 3]
    assert found["covered_share"] == pytest.approx(len(copied) / len(NEW))
    for source in found["sources"]:
        assert source["coverage"] == pytest.approx(len(copied) / len(NEW))
        assert (source["n_chars"], source["n_passages"], source["n_sentences"]) == (len(copied), 1, 4)
    assert [shade["n_documents"] for shade in found["shades"]] == [3, 3, 3, 3]
    assert [NEW[shade["start"] : shade["end"]] for shade in found["shades"]] == [text(n) for n in (1, 2, 3, 4)]
    assert found["text"]["segments"] == [{"start": 0, "text": NEW}]
    assert found["text"]["id"] == "checked text"
    assert state_of(index) == before
    assert client.get("/api/v1/index").json()["n_documents"] == len(RECORDS)


def test_a_text_that_is_new_has_no_sources(reader: httpx.Client) -> None:
    found = checked(reader, text=text(400, 401, 402))
    assert not found["verdict"]["duplicated"]
    assert (found["passages"], found["sources"], found["shades"], found["covered_share"]) == ([], [], [], 0)


def test_characters_are_code_points(reader: httpx.Client) -> None:
    before = "🐳 " * 10 + text(300) + " "
    (passage, *_) = checked(reader, text=before + text(1, 2, 3, 4))["passages"]
    assert passage["a_start"] == len(before)


def test_a_document_is_not_compared_with_the_one_of_its_own_id(reader: httpx.Client) -> None:
    found = checked(reader, text=NEW, id="a", time="2031-05-01", group="Post")
    assert found["verdict"]["is_own_id_known"]
    assert found["verdict"]["id"] == found["text"]["id"] == "a"
    assert [source["id"] for source in found["sources"]] == ["b", "f"]
    assert {passage["direction"] for passage in found["passages"]} == {"b_to_a", "unknown"}


def test_a_file_is_compared_with_everything_whatever_its_name(reader: httpx.Client) -> None:
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    response = reader.post(CHECK, params={"name": "a"}, content="\ufeff".encode() + NEW.encode(), headers=headers)
    found = expect(index_shapes.Check, response)
    assert [source["id"] for source in found["sources"]] == ["a", "b", "f"]
    assert found["verdict"]["id"] == found["text"]["title"] == "a"
    assert found["text"]["segments"][0]["text"] == NEW


def test_a_text_may_have_another_encoding(reader: httpx.Client) -> None:
    content = ("Äöü. " + NEW).encode("utf-16")
    response = reader.post(CHECK, content=content, headers={"Content-Type": 'text/plain; charset="UTF-16"'})
    assert expect(index_shapes.Check, response)["text"]["segments"][0]["text"] == "Äöü. " + NEW


def test_of_html_the_text_is_checked(reader: httpx.Client) -> None:
    page = f"<html><head><title>x</title><script>alert(1)</script></head><body><h1>News</h1><p>{NEW}</p></body></html>"
    found = expect(index_shapes.Check, reader.post(CHECK, content=page.encode(), headers={"Content-Type": "text/html"}))
    (segment,) = found["text"]["segments"]
    assert "alert" not in segment["text"]
    assert found["text"]["n_chars"] == len(segment["text"])
    passage = found["passages"][0]
    assert segment["text"][passage["a_start"] : passage["a_end"]] == text(1, 2, 3, 4)


def test_markup_in_json_is_text(reader: httpx.Client) -> None:
    markup = "<script>alert(1)</script> " + NEW
    assert checked(reader, text=markup)["text"]["segments"][0]["text"] == markup


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "text is missing"),
        ({"text": ""}, "text must not be empty"),
        ({"text": " \n "}, "the text is empty"),
        ({"text": 7}, "text must be text"),
        ({"text": "x", "time": "some day"}, "time cannot be parsed"),
        ({"text": "x", "id": ""}, "id must not be empty"),
        ({"text": "x", "title": "y"}, "title is not a known parameter"),
        ([], "the body must be a JSON object"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_words(reader: httpx.Client, body: Any, told: str) -> None:
    assert told in expect_error(422, "invalid", reader.post(CHECK, json=body))["message"]


@pytest.mark.parametrize(
    ("content", "content_type", "status", "told"),
    [
        (b'{"text": ', "application/json", 422, "the body is not JSON"),
        (b'{"text": "\\ud800"}', "application/json", 422, "text contains half of a surrogate pair"),
        (b'{"\\ud800": "x"}', "application/json", 422, "is not the name of a field"),
        (b'{"text": ' + b"[" * 100_000, "application/json", 422, "text must be text, not a list"),
        (b"{" + b'"a": 1, ' * 100_000 + b'"text": 1}', "application/json", 422, "more than 20 fields"),
        (b"\xff\xfe\xfd", "application/json", 422, "not JSON"),
        (b"\xff\xfe", "text/plain", 422, "this is not text in UTF-8"),
        (b"\xff", "text/plain; charset=us-ascii", 422, "this is not text in US-ASCII"),
        (b"x", "text/plain; charset=klingon", 415, "charset 'klingon' is not accepted"),
        (b"x", "text/plain; charset=hex", 415, "charset 'hex' is not accepted"),
        (b"\\ud800", "text/plain; charset=unicode_escape", 415, "charset 'unicode_escape' is not accepted"),
        # Python decodes it in the square of its length, and nobody else would be answered meanwhile.
        (b"a" * 320_000, "text/plain; charset=punycode", 415, "charset 'punycode' is not accepted"),
        (b"<p>" + b"a" * 320_000, "text/html; charset=punycode", 415, "charset 'punycode' is not accepted"),
        (b"", "text/plain", 422, "the text is empty"),
        (b"<p></p>", "text/html", 422, "the text is empty"),
        (b"\0" * 100, "text/plain", 422, ""),
        (b"text=x", "application/x-www-form-urlencoded", 415, "must be JSON, plain text, HTML or a named file"),
        (b"x", "", 415, "must be JSON, plain text, HTML or a named file"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_in_words(
    reader: httpx.Client, content: bytes, content_type: str, status: int, told: str
) -> None:
    error = expect_error(status, "invalid", reader.post(CHECK, content=content, headers={"Content-Type": content_type}))
    assert told in error["message"]


def test_without_an_index_there_is_nothing_to_check_against(app_over: AppMaker, result: Path) -> None:
    client = app_over(result)
    assert not client.get("/api/v1/summary").json()["has_index"]
    for response in (client.post(CHECK, json={"text": "x"}), client.get("/api/v1/index")):
        assert "--index" in expect_error(404, "unavailable", response)["next_step"]


def test_an_index_says_what_it_is_made_of(client: httpx.Client) -> None:
    info = expect(index_shapes.IndexInfo, client.get("/api/v1/index"))
    assert info["n_documents"] == len(RECORDS)
    assert info["may_add"]
    assert info["settings"]["signature"] == "words"
    assert "path" not in info


def test_the_secret_seed_of_an_index_is_not_served(app_over: AppMaker, client: httpx.Client, index: Path) -> None:
    with ibidem.Index(index, create=False) as opened:
        seed = str(opened.info()["settings"]["hash_seed"])
    for served in (client, app_over(index)):
        for place in ("/api/v1/index", "/api/v1/summary", "/"):
            answer = served.get(place).text
            assert seed not in answer
            assert "hash_seed" not in answer


def test_many_sources_are_capped_and_counted(app_over: AppMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_check, "MOST_SOURCES", 5)
    copies = [{"id": f"copy {n}", "text": text(1, 2, 3, 4)} for n in range(20)]
    with ibidem.Index(tmp_path / "copies.idx") as index:
        index.add([str(write_lines(tmp_path / "copies.jsonl", copies))])
    found = checked(app_over(tmp_path / "copies.idx"), text=NEW)
    assert (len(found["sources"]), found["n_sources"]) == (5, 20)
    assert (len(found["passages"]), found["n_passages"]) == (5, 20)
    assert {passage["source"] for passage in found["passages"]} == {0, 1, 2, 3, 4}


def test_the_words_of_sources_are_shown_and_edited_copies_are_found(app_over: AppMaker, tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "texts.idx") as index:
        index.add([{"id": "source", "text": TEXT}])
    client = app_over(tmp_path / "texts.idx")
    plain = checked(client, text=EDITED)
    found: dict[str, Any] = expect(index_shapes.Check, client.post(CHECK, params={"align": True}, json={"text": EDITED}))
    assert found["covered_share"] > plain["covered_share"] > 0
    (passage,) = found["passages"]
    assert passage["b_text"] == TEXT[passage["b_start"] : passage["b_end"]]
    assert "calmed" in " ".join(EDITED[start:end] for start, end in passage["a_changes"])
    assert "fallen" in " ".join(passage["b_text"][start:end] for start, end in passage["b_changes"])
    (quote,) = plain["passages"]
    assert quote["b_text"] == "Two ferries stayed in port over night, and nobody was hurt."


def test_an_index_without_texts_shows_none(tmp_path: Path, app_over: AppMaker) -> None:
    with ibidem.Index(tmp_path / "bare.idx", texts=False) as index:
        index.add(RECORDS)
    client = app_over(tmp_path / "bare.idx")
    found: dict[str, Any] = expect(index_shapes.Check, client.post(CHECK, params={"align": True}, json={"text": NEW}))
    assert [passage["b_text"] for passage in found["passages"]] == [None] * 3


# Files, read by their names.


def test_a_named_file_is_read_by_its_name(reader: httpx.Client) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    plain = reader.post(f"{CHECK}?name=note.md", content=NEW.encode(), headers=headers)
    page = reader.post(f"{CHECK}?name=note.HTML", content=f"<p>{NEW}</p>".encode(), headers=headers)
    for answer in (plain, page):
        found = expect(index_shapes.Check, answer)
        assert found["text"]["segments"][0]["text"].strip() == NEW
        assert [source["id"] for source in found["sources"]] == ["a", "b", "f"]


@pytest.mark.parametrize(
    ("name", "content", "status", "told"),
    [
        ("list.jsonl", b'{"id": "x", "text": "y"}', 415, "may contain many documents"),
        ("picture.png", b"\x89PNG\r\n", 415, "cannot be read here"),
        ("no-suffix", b"text", 415, "cannot be read here"),
        ("../../etc/passwd", b"text", 415, "cannot be read here"),
        ("empty.txt", b" ", 422, "empty"),
        ("archive.txt", b"PK\x03\x04" + bytes(200), 422, "zip archive"),
        ("essay.pdf", b"%PDF-1.4 this is not one", None, "essay.pdf"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    reader: httpx.Client, name: str, content: bytes, status: int | None, told: str
) -> None:
    answer = reader.post(CHECK, params={"name": name}, content=content, headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == status or (status is None and answer.status_code in (415, 422))
    error = answer.json()["error"]
    assert told in error["message"]
    assert "/tmp" not in error["message"]
    assert status == 422 or error["next_step"]


def test_a_file_without_a_name_is_refused(reader: httpx.Client) -> None:
    answer = reader.post(CHECK, content=NEW.encode(), headers={"Content-Type": "application/octet-stream"})
    expect_error(415, "invalid", answer)


def test_all_that_is_shared_is_told_even_if_not_all_passages_are_listed(
    reader: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = checked(reader, text=NEW)
    monkeypatch.setattr(text_check, "_MOST_PASSAGES", 1)
    cut = checked(reader, text=NEW)
    assert [passage["source"] for passage in cut["passages"]] == [0]
    assert cut["n_passages"] == whole["n_passages"] == 3
    assert cut["covered"] == whole["covered"] == [[passage[k] for k in ("a_start", "a_end")] for passage in cut["passages"]]
    assert cut["covered_share"] == whole["covered_share"]


def test_the_checked_text_has_the_digest_of_its_bytes(reader: httpx.Client) -> None:
    assert checked(reader, text=NEW)["text"]["sha256"] == hashlib.sha256(NEW.encode()).hexdigest()
