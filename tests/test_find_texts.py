"""Offsets count characters of the text as read, in every script and through every kind of input."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from tests.texts import documents, only, text

PARAGRAPHS = {
    "English": "The harbour was closed on Monday. Two ferries stayed in port over night. The mayor asked for patience.",
    "emoji": "🌊🌊 The harbour 🚢 was closed. Two ferries 👩‍👩‍👧 stayed in port. The mayor 🇩🇪 asked for patience 🙏.",
    "combining marks": "Le\u0301a mange ta\u0302che. Zoe\u0308 e\u0301tait la\u0300 aussi. Rene\u0301 ne dit rien.",
    "Chinese": "港口昨晚因为风暴而关闭。两艘渡轮整夜停在码头。市长请大家留在家里！",
    "Chinese, rare characters": "𠮷野家昨晚关闭了大门。𡈽地的主人整夜没有睡觉。𠀋夫请大家留在家里。",
    "Japanese": "港は昨夜の嵐で閉鎖された。フェリー二隻が一晩中停泊した。市長は家にいるよう求めた。",
    "Korean": "항구는 어젯밤 폭풍으로 닫혔다. 여객선 두 척이 밤새 머물렀다. 시장은 집에 있으라고 했다.",
    "Thai": "เมื่อคืนท่าเรือปิดเพราะพายุใหญ่มาก เรือสองลำจอดอยู่ที่ท่าเรือตลอดทั้งคืน นายกเทศมนตรีขอให้ทุกคนอยู่แต่ในบ้าน",
    "Arabic": "أُغلق الميناء ليلة أمس بسبب العاصفة. بقيت عبارتان في الميناء طوال الليل. طلب العمدة من الجميع البقاء.",
    "Hindi": "कल रात तूफ़ान से बंदरगाह बंद रहा। दो नावें रात भर किनारे रहीं। महापौर ने सबको घर पर रहने को कहा।",
    "Russian": "Порт был закрыт из-за бури. Два парома остались на ночь. Мэр попросил всех остаться дома.",
    "German": "Der Hafen war wegen des Sturms geschlossen. Zwei Fähren blieben über Nacht. Die Stadt bat um Geduld.",
    "CRLF": "The harbour was closed on\r\nMonday. Two ferries stayed\r\nin port.\r\nThe mayor asked for patience.",
    "soft hyphens": "The har\u00adbour was closed. Two fer\u00adries stayed\u200b in port. The mayor asked\u00ad us.",
    "wide letters": "Ｔｈｅ ｈａｒｂｏｕｒ was closed. Two ﬁshing boats stayed. The mayor asked for patience.",
}
AROUND = [
    ("", ""),
    ("\ufeff", "\n"),
    ("  \t\n", " \n\n "),
    ("😀 Other words come first here.\r\n\r\n", "\r\n\r\nAnd others come last 😀"),
]


@pytest.mark.parametrize("paragraph", PARAGRAPHS.values(), ids=PARAGRAPHS.keys())
@pytest.mark.parametrize("signature", ["exact", "words"])
def test_a_passage_is_its_slice_of_the_text(paragraph: str, signature: str) -> None:
    texts = [before + paragraph + after for before, after in AROUND]
    records = documents(*texts)
    result = ibidem.find(records, signature=signature, min_sentences=2, min_quote_words=0)
    by_id = {record["id"]: record["text"] for record in records}
    assert len(result) == 6
    for passage in result:
        for side in (passage.a, passage.b):
            assert side.text == by_id[side.id][side.start : side.end]
            assert side.text == side.text.strip()
            assert side.text.rstrip(".!。！।🙏") == paragraph.lstrip("🌊 ").rstrip(".!。！।🙏") or side.text == paragraph
        assert (passage.kind, passage.similarity) == ("exact", 1.0)


PIECES = [
    "Velmo tarrin",
    "quovex 😀",
    "e\u0301te\u0301",
    "港口昨晚关闭",
    "ท่าเรือปิด",
    "الميناء مغلق",
    "𠮷",
    "\r\n",
    "\n\n",
    ". ",
    "。",
    "! ",
    " ",
    "한국",
    "\u200d",
]


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join).filter(str.strip),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
    st.sampled_from(["exact", "words"]),
)
def test_offsets_come_back_in_any_mixture(shared: str, before: str, signature: str) -> None:
    records = documents(shared, f"{before}\n\n{shared}")
    for min_sentences in (1, 3):
        result = ibidem.find(records, signature=signature, min_sentences=min_sentences, min_words=1, workers=1)
        by_id = {record["id"]: record["text"] for record in records}
        for passage in result:
            for side in (passage.a, passage.b):
                assert side.text == by_id[side.id][side.start : side.end]
                assert side.text
                assert side.text == side.text.strip()
    sentences = len(ibidem.split_sentences(shared))
    if sentences:
        assert ibidem.find(records, min_sentences=1, min_words=1, workers=1).documents["reused_share"].to_pylist()[0] == 1.0


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_files_are_counted_in_characters_as_they_are(tmp_path: Path, newline: str) -> None:
    body = f"Ünser Hafen.{newline}{newline}{text(1, 2, 3)}{newline}"
    (tmp_path / "one.txt").write_bytes(body.encode())
    (tmp_path / "two.txt").write_bytes(f"😀{newline}{newline}{text(1, 2, 3)}".encode())
    passage = only(ibidem.find(tmp_path))
    assert (passage.a.id, passage.b.id) == (str(tmp_path / "one.txt"), str(tmp_path / "two.txt"))
    assert body[passage.a.start : passage.a.end] == passage.a.text == passage.b.text == text(1, 2, 3)
    assert passage.b.start == 1 + 2 * len(newline)


def test_the_text_taken_out_of_html_is_kept(tmp_path: Path) -> None:
    page = "<html><body><nav>Menu</nav><h1>Títle</h1><p>{}</p><script>x()</script></body></html>"
    records = documents(page.format(text(1, 2, 3)), page.format("Ålso: " + text(1, 2, 3)))
    result = ibidem.find(records, html=True)
    result.write(tmp_path / "out")
    kept = {row["id"]: row["text"] for row in pa.parquet.read_table(tmp_path / "out" / "texts.parquet").to_pylist()}
    assert set(kept) == {"d0", "d1"}
    assert "<" not in kept["d0"]
    passages = list(result)
    assert passages
    for passage in passages:
        for side in (passage.a, passage.b):
            assert side.text == kept[side.id][side.start : side.end]
    assert any(passage.a.text.endswith(text(1, 2, 3)) for passage in passages)


def test_only_cleaned_texts_are_kept(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "page.html").write_text(f"<p>{text(1, 2, 3)}</p>", "utf-8")
    (tmp_path / "in" / "note.txt").write_text(text(1, 2, 3), "utf-8")
    result = ibidem.find(tmp_path / "in")
    result.write(tmp_path / "out", format="jsonl")
    assert only(result).b.text == text(1, 2, 3)
    (line,) = (tmp_path / "out" / "texts.jsonl").read_text("utf-8").splitlines()
    assert f'"{tmp_path}/in/page.html"' in line


@pytest.mark.parametrize("kind", ["dicts", "Documents", "generator", "Arrow", "one by one"])
def test_records_of_any_kind_give_the_same_passage(kind: str) -> None:
    records = documents(x=text(1, 2, 3), y=text(1, 2, 3))
    inputs = {
        "dicts": records,
        "Documents": [ibidem.Document(r["id"], r["text"]) for r in records],
        "generator": (record for record in records),
        "Arrow": pa.Table.from_pylist(records),
        "one by one": [pa.Table.from_pylist(records[:1]), records[1]],
    }[kind]
    passage = only(ibidem.find(inputs))
    assert (passage.a.id, passage.a.text, passage.b.id) == ("x", text(1, 2, 3), "y")


def test_fields_may_have_other_names() -> None:
    records = [{"url": name, "body": text(1, 2, 3), "when": time} for name, time in (("x", "2024-02-02"), ("y", "2024-01-01"))]
    passage = only(ibidem.find(records, id_field="url", text_field="body", time_field="when"))
    assert (passage.a.id, passage.direction) == ("x", "b_to_a")
