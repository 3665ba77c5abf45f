"""What a report contains: nothing that points outside it, no more than there is room for, and a note of what is left out."""

from __future__ import annotations

import base64
import gzip
import json
import random
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.viewer import page, report
from ibidem.viewer.material import Material, material_of_folder, material_of_result
from ibidem.viewer.page import app_page, assets, report_page
from ibidem.viewer.report import report_data
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import passing_views
from tests.cli.test_find import write_jsonl
from tests.texts import changed, documents, text
from tests.viewer.invented import Invented, invent

HOSTILE = "</script><script>alert(1)</script><!--<script>]]>&lt;\u2028\u2029\x00\"'"


class Parts(HTMLParser):
    """The elements of a page that matter: scripts and styles with their contents, and meta tags."""

    def __init__(self, written: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self._open = False
        self.feed(written)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.elements.append((tag, dict(attrs), ""))
        self._open = tag in ("script", "style", "title")

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, attributes, content = self.elements[-1]
            self.elements[-1] = (tag, attributes, content + data)

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, content) for name, attributes, content in self.elements if name == tag]


def embedded(written: str) -> Any:
    """Return the data of a page."""
    (found,) = [(a, content) for a, content in Parts(written).of("script") if a.get("id") == "ibidem-data"]
    attributes, content = found
    assert "<" not in content
    assert content.isascii()
    if attributes["data-encoding"] == "gzip+base64":
        content = gzip.decompress(base64.b64decode(content)).decode("utf-8")
    else:
        assert attributes["data-encoding"] == "plain"
    return json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def check_stretches(stretches: list[dict[str, Any]], passages: list[dict[str, Any]]) -> None:
    """Check that every passage is in one stretch, and that edits and sentences are inside theirs."""
    by_number = {passage["number"]: passage for passage in passages}
    assert sorted(number for stretch in stretches for number in stretch["passages"]) == sorted(by_number)
    for stretch in stretches:
        for side, at in (("a", 0), ("b", 2)):
            start, end = stretch[f"{side}_start"], stretch[f"{side}_end"]
            own = [by_number[number] for number in stretch["passages"]]
            assert (start, end) == (min(p[f"{side}_start"] for p in own), max(p[f"{side}_end"] for p in own))
            assert all(start <= edit[at] <= edit[at + 1] <= end for edit in stretch["edits"])
            if stretch["sentences"]:
                ends = [sentence[at : at + 2] for sentence in stretch["sentences"]]
                assert [start, *(last for _, last in ends)] == [*(first for first, _ in ends), end]


def check_data(data: dict[str, Any]) -> None:
    """Check that a report points nowhere but into itself, and that all places are in what is shown."""
    numbers = {document["document"] for document in data["documents"]}
    assert len(numbers) == len(data["documents"])
    assert {int(number) for number in data["texts"]} == {int(number) for number in data["shades"]} == numbers
    assert numbers == {pair[side]["document"] for pair in data["pairs"] for side in "ab"}
    assert set(data["passages"]) == {str(pair["pair"]) for pair in data["pairs"]}
    shown = {number: shown_characters(shown) for number, shown in data["texts"].items()}
    for number, shades in data["shades"].items():
        last = 0
        for shade in shades:
            assert last <= shade["start"] < shade["end"]
            assert set(range(shade["start"], shade["end"])) <= shown[number]
            assert shade["n_documents"] >= 1
            last = shade["end"]
    for pair in data["pairs"]:
        entry = data["passages"][str(pair["pair"])]
        assert len(entry["passages"]) <= entry["n_passages"]
        assert [passage["number"] for passage in entry["passages"]] == list(range(1, len(entry["passages"]) + 1))
        for passage in entry["passages"]:
            for side in "ab":
                told = data["texts"][str(pair[side]["document"])]
                start, end = passage[f"{side}_start"], passage[f"{side}_end"]
                assert 0 <= start < end
                assert told["n_chars"] is None or end <= told["n_chars"]
                if told["is_complete"]:
                    assert set(range(start, end)) <= shown[str(pair[side]["document"])]
        check_stretches(entry["stretches"], entry["passages"])
    for family in data["families"]:
        members = [member for variant in family["variants"] for member in variant["members"]]
        assert len(members) == family["n_shown_places"] <= family["family"]["n_places"]
        for variant in family["variants"]:
            assert all(0 <= start < end <= len(variant["text"]) for start, end in variant["changes"])
    summary = data["summary"]
    assert summary["shown"] == {
        "pairs": len(data["pairs"]), "documents": len(data["documents"]), "families": len(data["families"]),
    }  # fmt: skip
    further = {entry["what"]: entry["count"] for entry in summary["left_out"] if entry["what"].startswith("further")}
    for name in ("pairs", "families"):
        n_left = summary["totals"][name] - summary["shown"][name]
        assert further.get(f"further {name}", 0) == n_left


def shown_characters(told: dict[str, Any]) -> set[int]:
    found: set[int] = set()
    last = 0
    for segment in told["segments"]:
        assert segment["start"] >= last
        last = segment["start"] + len(segment["text"])
        found |= set(range(segment["start"], last))
    assert told["n_chars"] is None or last <= told["n_chars"]
    assert told["is_complete"] == (bool(found) and len(found) == told["n_chars"] and len(told["segments"]) == 1)
    return found


@pytest.fixture
def hostile(tmp_path: Path) -> Material:
    """Documents whose every word is against us."""
    shared = f"{text(1, 2)} {HOSTILE} {text(3)}"
    records = [
        {"id": f"a{HOSTILE}", "text": shared, "group": HOSTILE, "title": HOSTILE},
        {"id": f"b{HOSTILE}", "text": f"{text(9)} {shared} {changed(4)}", "title": "\u202eturned"},
    ]
    name = write_jsonl(tmp_path / "n.jsonl", [json.dumps(record) for record in records])
    return material_of_result(ibidem.find(str(tmp_path / name)))


@pytest.fixture(scope="module")
def data(store: ViewStore) -> dict[str, Any]:
    return report_data(store)


# What is in it.


def test_a_report_points_only_into_itself(data: dict[str, Any], invented: Invented) -> None:
    check_data(data)
    assert len(data["pairs"]) == len(invented.pairs)
    assert [pair["pair"] for pair in data["pairs"]] == invented.wanted(lambda pair: True)
    assert not [entry for entry in data["summary"]["left_out"] if entry["what"].startswith("further")]
    assert (data["summary"]["has_index"], data["summary"]["may_write"]) == (False, False)
    assert any(stretch["edits"] for entry in data["passages"].values() for stretch in entry["stretches"])
    assert any(data["shades"].values())


def test_a_report_of_nothing() -> None:
    with passing_views(material_of_result(ibidem.find(documents(text(1, 2, 3), text(4, 5, 6))))) as store:
        data = report_data(store)
        check_data(data)
        assert data["pairs"] == data["families"] == data["documents"] == []
        assert embedded(report_page(data)) == data


@pytest.mark.parametrize("max_pairs", [1, 7, 60])
def test_so_many_pairs_and_no_more(store: ViewStore, invented: Invented, max_pairs: int) -> None:
    data = report_data(store, max_pairs=max_pairs)
    check_data(data)
    assert [pair["pair"] for pair in data["pairs"]] == invented.wanted(lambda pair: True)[:max_pairs]
    assert data["summary"]["totals"]["pairs"] == len(invented.pairs)
    told = [entry for entry in data["summary"]["left_out"] if entry["what"] == "further pairs"]
    assert [entry["count"] for entry in told] == [len(invented.pairs) - max_pairs]
    assert f"{max_pairs}" in told[0]["why"]


@pytest.mark.parametrize("from_folder", [False, True])
def test_groups_that_share_documents(from_folder: bool, tmp_path: Path) -> None:
    """Pages 0 to 3 of site a are on b, too, and page 0 also on c, which has three pages of its own."""
    pages = [("a", n) for n in range(5)] + [("b", n) for n in range(4)] + [("c", n) for n in (0, 7, 8, 9)]
    records = [{"id": f"{site}/{n}", "site": site, "text": text(*range(10 * n, 10 * n + 9))} for site, n in pages]
    result = ibidem.cluster(records, by_group=True, group_field="site")
    if from_folder:
        result.write(tmp_path / "out")
        with passing_views(material_of_folder(tmp_path / "out")) as store:
            mirrors = report_data(store)["summary"]["mirrors"]
    else:
        with passing_views(material_of_result(result)) as store:
            mirrors = report_data(store)["summary"]["mirrors"]
    assert mirrors["total"] == 3
    told = [(row["a_group"], row["a_shared"], row["a_documents"], row["b_group"], row["b_shared"]) for row in mirrors["items"]]
    assert told == [("a", 4, 5, "b", 4), ("b", 1, 4, "c", 1), ("a", 1, 5, "c", 1)]
    with passing_views(material_of_result(ibidem.cluster(records, group_field="site"))) as store:
        assert store.summary()["mirrors"] is None


def test_the_title(store: ViewStore, data: dict[str, Any]) -> None:
    assert data["summary"]["title"] == "Invented"
    assert report_data(store, "Another <name>", 1)["summary"]["title"] == "Another <name>"
    assert store.summary()["title"] == "Invented"  # nothing of the store has changed
    assert store.summary()["left_out"] == [e for e in data["summary"]["left_out"] if not e["what"].startswith("further")]


def test_long_texts_are_shown_around_their_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = text(*range(1, 30))
    records = documents(
        a=f"{text(*range(100, 140))} {shared} {text(*range(200, 260))} {text(70, 71, 72)}",
        b=f"{shared} {text(*range(300, 330))}",
        c=text(70, 71, 72),
    )
    for name, value in (("_ROOM_FOR_ALL_CHARS", 0), ("_MOST_WHOLE_CHARS", 1_000), ("_CONTEXT_CHARS", 50)):
        monkeypatch.setattr(report, name, value)
    with passing_views(material_of_result(ibidem.find(records))) as store:
        data = report_data(store)
        check_data(data)
        whole = {told["id"]: told["is_complete"] for told in data["texts"].values()}
        assert whole == {"a": False, "b": False, "c": True}
        for told in data["texts"].values():
            (record,) = (r for r in records if r["id"] == told["id"])
            assert len("".join(s["text"] for s in told["segments"])) <= len(record["text"])
            for segment in told["segments"]:
                assert segment["text"] == record["text"][segment["start"] :][: len(segment["text"])]
            for pair in data["pairs"]:
                for side in "ab":
                    if pair[side]["id"] == told["id"]:
                        for passage in data["passages"][str(pair["pair"])]["passages"]:
                            ends = {passage[f"{side}_start"], passage[f"{side}_end"] - 1}
                            assert ends <= shown_characters(told)


def test_sentences_that_are_shown_in_part_are_not_shaded(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = text(*range(1, 60))
    for name, value in (
        ("_ROOM_FOR_ALL_CHARS", 0),
        ("_MOST_WHOLE_CHARS", 500), ("_CONTEXT_CHARS", 7), ("_PASSAGE_HEAD_CHARS", 300), ("_PASSAGE_TAIL_CHARS", 100),
    ):  # fmt: skip
        monkeypatch.setattr(report, name, value)
    with passing_views(material_of_result(ibidem.find(documents(f"{text(90)} {shared}", f"{shared} {text(91)}")))) as store:
        data = report_data(store)
        check_data(data)
        assert all(len(told["segments"]) == 3 or told["segments"][0]["start"] == 0 for told in data["texts"].values())
        for number, shades in data["shades"].items():
            assert 3 <= len(shades) < len(store.texts.shades(int(number)))


def test_kept_texts_of_passages(tmp_path: Path) -> None:
    from ibidem.viewer.material import material_of_folder

    records = documents(a=text(1, 2, 3, 4), b=f"{text(9, 1, 2)} {changed(3)} {text(4)}", c=text(8, 1, 2))
    ibidem.find(records, min_sentences=2).write(tmp_path / "out", keep_text=True)
    with passing_views(material_of_folder(tmp_path / "out")) as store:
        check_data(report_data(store))


# No more than there is room for.


def test_pairs_stop_where_the_room_ends(store: ViewStore, invented: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    written = set()
    for n_bytes in (0, 4_000, 16_000, 22_000, 30_000):
        monkeypatch.setattr(report, "_MOST_BYTES", n_bytes)
        data = report_data(store)
        check_data(data)
        written.add(len(data["pairs"]))
        assert len(data["pairs"]) < len(invented.pairs)
        # In order; a pair that finds no room does not keep out a smaller one.
        held = {pair["pair"] for pair in data["pairs"]}
        assert [pair["pair"] for pair in data["pairs"]] == [n for n in invented.wanted(lambda pair: True) if n in held]
    assert len(written) >= 3
    assert 0 in written


def size_as_written(data: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(page, "_MOST_PLAIN_BYTES", 0)
    return len(page._embedded(data))


def in_chinese(n_documents: int) -> list[dict[str, Any]]:
    """Return documents of signs drawn by chance: hardly to be compressed, and three bytes each."""
    chance = random.Random(5)

    def sentence() -> str:
        return "".join(chr(chance.randrange(0x4E00, 0x9FA0)) for _ in range(25)) + "。"

    shared = "".join(sentence() for _ in range(5))
    return documents(*("".join(sentence() for _ in range(30)) + shared for _ in range(n_documents)))


@pytest.mark.parametrize("which", ["latin", "chinese"])
def test_the_page_is_no_larger_than_it_may_be(
    invented: Invented, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, which: str
) -> None:
    material = invent(tmp_path, 9, 400).material if which == "latin" else material_of_result(ibidem.find(in_chinese(40)))
    with passing_views(material) as store:
        monkeypatch.setattr(report, "_MOST_BYTES", 0)
        empty = size_as_written(report_data(store), monkeypatch)
        monkeypatch.setattr(report, "_MOST_BYTES", 40_000)
        data = report_data(store)
        assert 0 < len(data["pairs"]) < data["summary"]["totals"]["pairs"]
        size = size_as_written(data, monkeypatch) - empty
        # Ten million are allowed: eight for this, one for scripts and styles.
        assert 20_000 < size < 40_000 * 1.11


def test_scripts_and_styles_leave_room_for_the_data() -> None:
    assert sum(len(content.encode()) for _, content in assets().values()) < 1_500_000


@pytest.mark.parametrize("n_inputs", [60_000])
def test_a_collection_of_very_many_files(invented: Invented, n_inputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(2)
    modified = "2031-01-01T00:00:00+00:00"
    told = [
        {"path": f"/corpus/{chance.getrandbits(64):x}/{k}.txt", "bytes": chance.randrange(10**6), "modified": modified}
        for k in range(n_inputs)
    ]
    run = dict(invented.material.run) | {"inputs": told}
    with passing_views(replace(invented.material, run=run)) as store:
        assert size_as_written(report_data(store), monkeypatch) < 300_000


@pytest.mark.parametrize(("name", "n_most"), [("_MOST_FAMILIES", 3), ("_MOST_MEMBERS", 2), ("_MOST_PASSAGES", 1)])
def test_other_limits(store: ViewStore, monkeypatch: pytest.MonkeyPatch, name: str, n_most: int) -> None:
    monkeypatch.setattr(report, name, n_most)
    data = report_data(store)
    check_data(data)
    if name == "_MOST_FAMILIES":
        assert len(data["families"]) == n_most
    elif name == "_MOST_MEMBERS":
        assert {entry["n_shown_places"] for entry in data["families"]} == {n_most}
    else:
        cut = [entry for entry in data["passages"].values() if entry["n_passages"] > n_most]
        assert cut
        assert {len(entry["passages"]) for entry in data["passages"].values()} == {n_most}


# The page.


@pytest.mark.parametrize("most_plain", [0, 10**9])
def test_data_are_read_as_they_were_embedded(data: dict[str, Any], monkeypatch: pytest.MonkeyPatch, most_plain: int) -> None:
    monkeypatch.setattr(page, "_MOST_PLAIN_BYTES", most_plain)
    assert embedded(report_page(data)) == json.loads(json.dumps(data))


def test_the_same_results_make_the_same_page(invented: Invented, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for most_plain in (0, 10**9):
        monkeypatch.setattr(page, "_MOST_PLAIN_BYTES", most_plain)
        pages = []
        for _ in range(2):
            with passing_views(invented.material) as store:
                pages.append(report_page(report_data(store)))
        assert pages[0] == pages[1]


def test_only_our_own_scripts_may_run(data: dict[str, Any]) -> None:
    import hashlib

    written = report_page(data)
    parts = Parts(written)
    (policy,) = [a["content"] or "" for a, _ in parts.of("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules["default-src"] == ["'none'"]
    assert rules["base-uri"] == rules["form-action"] == ["'none'"]
    assert rules["img-src"] == ["data:"]

    def digest(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode('utf-8')).digest()).decode()}'"

    scripts = [content for attributes, content in parts.of("script") if attributes.get("type") != "application/json"]
    assert len(scripts) > 5
    assert [digest(script) for script in scripts] == rules["script-src"]
    assert [digest(style) for _, style in parts.of("style")] == rules["style-src"]
    assert all(not attributes.keys() & {"src", "style"} for attributes, _ in parts.of("script"))
    # Browsers read these otherwise than we wrote them, and the digest would not fit.
    assert "\r" not in written
    assert "\0" not in written
    # The policy comes before anything that it is to hold for.
    assert parts.tags.index("meta") < parts.tags.index("style") < parts.tags.index("script")


def test_a_page_needs_nothing_else(data: dict[str, Any]) -> None:
    parts = Parts(report_page(data))
    for tag, attributes, _ in parts.elements:
        assert not attributes.keys() & {"src", "href", "action", "onload", "onclick", "style"}, tag
    (title,) = parts.of("title")
    assert title[1] == "Invented"
    assert [a["data-mode"] for a, _ in parts.of("html")] == ["report"]


def test_words_that_are_against_us(hostile: Material, tmp_path: Path) -> None:
    with passing_views(hostile) as store:
        data = report_data(store, title=HOSTILE)
    check_data(data)
    assert len(data["pairs"]) == 1
    written = report_page(data)
    parts, plain = Parts(written), Parts(report_page(report_data_of_nothing()))
    assert parts.tags == plain.tags  # not one more element
    assert embedded(written) == json.loads(json.dumps(data))
    assert HOSTILE in data["texts"]["0"]["segments"][0]["text"]
    assert data["pairs"][0]["a"]["title"] is not None


def report_data_of_nothing() -> dict[str, Any]:
    with passing_views(material_of_result(ibidem.find(documents(text(1, 2, 3), text(4, 5, 6))))) as store:
        return report_data(store)


def test_the_frame_of_the_app() -> None:
    parts = Parts(app_page(HOSTILE))
    sources = [attributes["src"] for attributes, _ in parts.of("script") if "src" in attributes]
    assert sources == [f"assets/{name}" for name in assets() if name.endswith(".js")]
    assert [content for attributes, content in parts.of("script") if "src" in attributes and content] == []
    assert not parts.of("style")
    assert [a["data-mode"] for a, _ in parts.of("html")] == ["app"]


@pytest.fixture(autouse=True)
def page_is_there() -> None:
    try:
        page.asset("page.css")
    except FileNotFoundError:
        pytest.skip("page.css is not there yet")
