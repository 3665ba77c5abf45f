"""`compare`, `compare_pairs` and `find(align=True)` from texts to located passages."""

# ruff: noqa: E501

from __future__ import annotations

import csv
import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import ibidem
from ibidem import Passage
from ibidem.alignment import aligner
from ibidem.errors import InputError, SettingsError
from tests.texts import text as invented

STORM = [
    "The ferry to the outer islands was cancelled on Thursday morning after a northerly gale had torn two of the mooring lines.",
    "Nobody was hurt, although a crate of lamps that stood on the quay was swept into the basin and had to be fished out.",
    "The harbour master, who has kept the log for nineteen years, said that he could not remember a wind like this in June.",
    "Passengers with tickets for the afternoon were brought to the school, where the cook had set out soup and bread.",
    "A replacement crossing is planned for Saturday, provided that the swell falls below one and a half metres by then.",
    "Until then the post will be carried by the small cutter that usually serves the lighthouse and the bird station.",
]
BAKERY = [
    "Every spring the bakers of the valley meet in the old granary to compare the sourdough that they kept through the winter.",
    "The loaves are numbered, cut and laid on linen, and three judges taste them without knowing who made which one.",
    "Last year the first prize went to a young woman whose grandmother had hidden the leaven in a well during the occupation.",
    "She adds a spoonful of roasted barley, which makes the crust dark and gives it a faint taste of coffee.",
    "The runner-up, a retired postman, insists that nothing but patience and river water should go into the dough.",
]
SURVEY = [
    "Geologists have finished a survey of the limestone caves below the plateau and published a map of nearly forty chambers.",
    "Most of them can be entered only in August, when the stream that feeds the sinkholes has dried up completely.",
    "In the deepest hall they found stalactites whose rings record droughts over the past eleven thousand years.",
    "Samples were sent to three laboratories, and the first results are expected before the end of the year.",
    "Visitors will not be admitted, because even the warmth of a torch is enough to dry out the crystals on the walls.",
]
MUSEUM = [
    "The museum of clocks reopens on Sunday with an exhibition about timekeeping at sea and the quarrel over longitude.",
    "Its centrepiece is a brass chronometer that went round the world twice and lost less than a minute.",
    "Children may build an hourglass in the workshop and take it home if the sand does not run too fast.",
    "The curator hopes for twice as many guests as in the year before the roof was damaged.",
]


def joined(*parts: list[str]) -> str:
    return " ".join(sentence for part in parts for sentence in part)


def span_of(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


def overlap(found: tuple[int, int], wanted: tuple[int, int]) -> float:
    """Return the characters in common, as a share of those of both together."""
    return max(0, min(found[1], wanted[1]) - max(found[0], wanted[0])) / (max(found[1], wanted[1]) - min(found[0], wanted[0]))


def check_found(passages: list[Passage], a: str, b: str, part_a: str, part_b: str, least: float = 0.9) -> Passage:
    """Check that one passage is found, and where."""
    (passage,) = passages
    for span, text, part in ((passage.a, a, part_a), (passage.b, b, part_b)):
        assert text[span.start : span.end] == span.text
        assert overlap((span.start, span.end), span_of(text, part)) > least, (span.text, part)
    return passage


def tuples(passages: Any) -> list[tuple[Any, ...]]:
    return [(p.a, p.b, p.n_sentences, p.similarity, p.kind) for p in passages]


# Two texts.

EDITED = (
    joined(STORM).replace("cancelled", "called off").replace("crate of lamps", "box of lanterns").replace("nineteen", "many")
)
EDITED = (
    EDITED.replace("had set out soup and bread", "served a hot meal")
    .replace("provided that", "if")
    .replace("small cutter", "little boat")
)


def test_an_edited_copy_is_found_and_located() -> None:
    a, b = joined(BAKERY[:3], STORM, BAKERY[3:]), f"{joined(SURVEY[:2])} {EDITED} {joined(SURVEY[2:])}"
    passage = check_found(ibidem.compare(a, b), a, b, joined(STORM), EDITED)
    assert passage.kind == "near"
    assert 0.75 < passage.similarity < 1
    assert passage.n_sentences == 6


def test_a_copy_word_for_word_is_exact() -> None:
    a, b = joined(BAKERY[:3], STORM, BAKERY[3:]), joined(SURVEY, STORM)
    passage = check_found(ibidem.compare(a, b), a, b, joined(STORM), joined(STORM), 0.999)
    assert (passage.kind, passage.similarity) == ("exact", 1.0)


def test_reordered_sentences_are_one_passage() -> None:
    shuffled = [STORM[k] for k in (3, 0, 5, 1, 4, 2)]
    a, b = joined(BAKERY, STORM), joined(shuffled, SURVEY)
    passage = check_found(ibidem.compare(a, b), a, b, joined(STORM), joined(shuffled))
    assert passage.kind == "near"
    assert passage.similarity == pytest.approx(1.0)


HALF = "although a crate of lamps that stood on the quay was swept into the basin and had to be fished out. The harbour master, who has kept the log for nineteen years"


def test_a_half_sentence_is_found_from_word_to_word() -> None:
    a = joined(BAKERY, STORM)
    b = (
        joined(SURVEY[:2])
        + " As the gazette put it, nothing of note happened "
        + HALF
        + " and three months, was not available for questions. "
        + joined(SURVEY[2:])
    )
    passage = check_found(ibidem.compare(a, b), a, b, HALF, HALF)
    assert passage.kind == "quote"


def test_line_breaks_make_no_difference() -> None:
    a = joined(BAKERY, STORM)
    words = joined(STORM).split()
    broken = "\n".join(" ".join(words[k : k + 7]) for k in range(0, len(words), 7))
    b = f"{joined(SURVEY)}\n\n{broken}\n"
    passage = check_found(ibidem.compare(a, b), a, b, joined(STORM), broken)
    assert passage.similarity == 1.0


CHINESE = "星期四清晨，强劲的北风扯断了两条缆绳，开往外岛的渡船只好停航。没有人受伤，不过码头上的一箱灯被卷进了港池，后来才打捞上来。港务长记了十九年的航海日志，他说六月里从来没有见过这样大的风。下午的乘客被带到学校，厨师已经准备好了热汤和面包。"
JAPANESE = "木曜日の朝、北からの強い風で係留ロープが二本切れ、離島へ向かう渡し船は欠航となった。けが人はいなかったが、岸壁に置かれていたランプの木箱が波にさらわれ、あとで引き上げられた。港長は十九年も日誌をつけてきたが、六月にこれほどの風は覚えがないと語った。"
KOREAN = "목요일 아침 거센 북풍에 계류 밧줄 두 개가 끊어져 바깥 섬으로 가는 나룻배가 결항되었다. 다친 사람은 없었지만 부두에 쌓아 둔 등불 상자가 물에 휩쓸려 나중에 건져 올려야 했다. 항만장은 열아홉 해 동안 일지를 써 왔으나 유월에 이런 바람은 처음이라고 말했다. 오후 승객들은 학교로 옮겨 따뜻한 국과 빵을 먹었다."
THAI = "เช้าวันพฤหัสบดีลมเหนือแรงจัดจนเชือกผูกเรือขาดสองเส้น เรือข้ามฟากไปเกาะรอบนอกจึงต้องหยุดวิ่ง ไม่มีใครบาดเจ็บ แต่ลังตะเกียงที่วางอยู่บนท่าถูกคลื่นซัดลงน้ำและต้องงมขึ้นมาภายหลัง นายท่าบอกว่าจดบันทึกมาสิบเก้าปีไม่เคยเห็นลมแรงอย่างนี้ในเดือนมิถุนายน"
HOSTS = {
    "Chinese": (
        "山谷里的面包师每年春天都在旧粮仓聚会，比较各自过冬的酸面团。",
        "地质学家完成了高原下石灰岩洞的测量，并公布了近四十个洞室的地图。",
    ),
    "Japanese": (
        "谷のパン職人たちは毎年春に古い穀物倉へ集まり、冬を越した種を比べ合う。",
        "地質学者らは台地の下にある鍾乳洞の調査を終え、四十近い空洞の地図を公表した。",
    ),
    "Korean": (
        "골짜기의 제빵사들은 해마다 봄이면 낡은 곳간에 모여 겨울을 난 반죽을 견주어 본다.",
        "지질학자들은 고원 아래 석회 동굴 조사를 마치고 마흔 개 가까운 방의 지도를 펴냈다.",
    ),
    "Thai": (
        "ทุกฤดูใบไม้ผลิคนทำขนมปังในหุบเขาจะมาพบกันที่ยุ้งเก่าเพื่อเปรียบเทียบแป้งหมัก",
        "นักธรณีวิทยาสำรวจถ้ำหินปูนใต้ที่ราบสูงเสร็จแล้วและตีพิมพ์แผนที่ห้องถ้ำเกือบสี่สิบห้อง",
    ),
}


@pytest.mark.parametrize(
    ("language", "passage"), [("Chinese", CHINESE), ("Japanese", JAPANESE), ("Korean", KOREAN), ("Thai", THAI)]
)
@pytest.mark.parametrize("host", ["own", "English"])
def test_passages_of_other_scripts_are_found(language: str, passage: str, host: str) -> None:
    before, after = HOSTS[language] if host == "own" else (joined(BAKERY), joined(SURVEY))
    a, b = f"{before}\n\n{passage}\n\n{before}", f"{after}\n\n{passage}\n\n{after}"
    check_found(ibidem.compare(a, b), a, b, passage, passage)


def test_nothing_is_found_in_unrelated_texts() -> None:
    texts = [
        joined(STORM),
        joined(BAKERY),
        joined(SURVEY),
        joined(MUSEUM),
        invented(*range(40)),
        CHINESE,
        HOSTS["Chinese"][0] * 2,
        THAI,
    ]
    texts += [HOSTS["Japanese"][0] + HOSTS["Japanese"][1], KOREAN]
    for i, a in enumerate(texts):
        for b in texts[i + 1 :]:
            assert ibidem.compare(a, b) == [], (a, b)


def test_the_order_of_two_texts_makes_no_difference_to_a_clear_passage() -> None:
    for a, b in (
        (joined(BAKERY[:3], STORM, BAKERY[3:]), f"{joined(SURVEY[:2])} {EDITED} {joined(SURVEY[2:])}"),
        (joined(BAKERY, STORM), joined(SURVEY, STORM[:4], MUSEUM)),
        (joined(BAKERY, STORM), f"{joined(SURVEY)} Someone said that {HALF} was asleep. {joined(MUSEUM)}"),
    ):
        forwards, backwards = ibidem.compare(a, b), ibidem.compare(b, a)
        assert len(forwards) == 1
        assert [(p.a[1:], p.b[1:], p.similarity, p.kind) for p in forwards] == [
            (p.b[1:], p.a[1:], p.similarity, p.kind) for p in backwards
        ]


def made_words(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(4)) for _ in range(n)]


def listed(words: list[str], separator: str) -> str:
    """Return sentences that name five words each."""
    return " ".join(f"The {separator.join(words[k : k + 5])} were there." for k in range(0, len(words), 5))


def test_a_summary_is_found_and_may_be_turned_off() -> None:
    names = made_words(200, 1)
    source = listed(names, " and the ")
    told = names[::5]
    random.Random(4).shuffle(told)
    summary = listed(told, " ")
    b = f"{listed(made_words(60, 2), ' and the ')} {summary} {listed(made_words(60, 3), ' and the ')}"
    (passage,) = ibidem.compare(source, b)
    assert (passage.b.start, passage.b.end) == span_of(b, summary)
    assert (passage.a.start, passage.a.end) == (0, len(source))
    assert ibidem.compare(source, b, summaries=False) == []
    assert ibidem.compare(source, b, min_evidence=1000) == []


@pytest.mark.parametrize("a", ["", " ", "\n\n", "…", "!", "word", "漢", "\u0301", "👩\u200d🚀"])
@pytest.mark.parametrize("b", ["", "—", "word", "漢", joined(STORM)])
def test_very_short_texts_have_nothing_in_common(a: str, b: str) -> None:
    assert ibidem.compare(a, b) == ibidem.compare(b, a) == []


def test_short_texts_that_are_equal_are_too_short() -> None:
    assert ibidem.compare("word", "word") == []
    assert ibidem.compare(STORM[0], STORM[0]) == []
    assert len(ibidem.compare(STORM[0], STORM[0], min_aligned_words=10)) == 1


@pytest.mark.parametrize("separator", [" ", ". ", "\n"])
def test_very_long_texts_of_one_word_come_to_an_end(separator: str) -> None:
    a, b = ("tick" + separator) * 50_000, ("tick" + separator) * 40_000
    assert len(ibidem.compare(a, b)) <= 100_000


def test_very_long_texts_of_a_few_words_come_to_an_end() -> None:
    a = "tick tock tack. tack tock! " * 8_000
    b = "tock tick tack. tack tick tock! " * 6_000
    assert len(ibidem.compare(a, b)) <= 100_000


def test_a_text_compared_with_itself_is_one_passage() -> None:
    text = joined(STORM, BAKERY, SURVEY)
    passage = check_found(ibidem.compare(text, text), text, text, text, text, 0.999)
    assert (passage.kind, passage.similarity) == ("exact", 1.0)


def test_differences_cover_the_texts() -> None:
    a, b = joined(BAKERY, STORM), f"{joined(SURVEY)} {EDITED}"
    (passage,) = ibidem.compare(a, b)
    found = passage.differences
    for side, text in (("a", passage.a.text), ("b", passage.b.text)):
        places = [(getattr(d, f"{side}_start"), getattr(d, f"{side}_end")) for d in found]
        assert places[0][0] == 0
        assert places[-1][1] == len(text)
        assert all(x[1] == y[0] for x, y in pairwise(places))
    assert "replace" in {d.operation for d in found}
    equal = sum(d.a_end - d.a_start for d in found if d.operation == "equal")
    assert equal > 0.75 * len(passage.a.text)


def test_settings_have_effect() -> None:
    a, b = joined(BAKERY, STORM[:1]), joined(SURVEY, STORM[:1])
    n_words = len(STORM[0].split())
    assert ibidem.compare(a, b) == []
    assert len(ibidem.compare(a, b, min_aligned_words=n_words)) == 1
    assert ibidem.compare(a, b, min_aligned_words=n_words + 1) == []
    assert ibidem.compare(a, b, min_aligned_words=n_words, min_evidence=500, summaries=False) == []


def test_a_setting_that_cannot_be_is_refused() -> None:
    with pytest.raises(SettingsError):
        ibidem.compare("a", "b", min_evidence=-1)


# Pairs of many documents.


def records() -> list[dict[str, str]]:
    texts = {
        "storm": joined(STORM, MUSEUM[:1]), "edited": f"{joined(SURVEY[:2])} {EDITED}", "bakery": joined(BAKERY), "both": joined(BAKERY[:4], STORM[2:]),
        "half": f"{joined(MUSEUM)} It is said that {HALF} slept. {joined(SURVEY[3:])}", "chinese": HOSTS["Chinese"][0] + CHINESE, "han": CHINESE + HOSTS["Chinese"][1],
        "empty": "…",
    }  # fmt: skip
    return [{"id": name, "text": text} for name, text in texts.items()]


def every_pair() -> list[tuple[str, str]]:
    names = [record["id"] for record in records()]
    return [(a, b) for a in names for b in names]


def test_a_pair_depends_on_no_other_pair_and_not_on_workers() -> None:
    pairs = [(a, b) for a, b in every_pair() if a < b]
    together = ibidem.compare_pairs(records(), pairs, workers=1)
    assert tuples(ibidem.compare_pairs(records(), pairs, workers=3)) == tuples(together)
    found = tuples(together)
    assert len(found) > 5
    alone = [row for pair in pairs for row in tuples(ibidem.compare_pairs(records(), [pair]))]
    assert alone == found
    backwards = tuples(ibidem.compare_pairs(records()[::-1], pairs[::-1]))
    assert sorted(backwards) == sorted(found)


def test_pairs_are_the_same_as_two_texts() -> None:
    texts = {record["id"]: record["text"] for record in records()}
    for a, b in (("storm", "edited"), ("both", "storm"), ("storm", "half"), ("han", "chinese"), ("bakery", "edited")):
        alone = [(p.a[1:], p.b[1:], p.similarity, p.kind) for p in ibidem.compare(texts[a], texts[b])]
        assert [(p.a[1:], p.b[1:], p.similarity, p.kind) for p in ibidem.compare_pairs(records(), [(a, b)])] == alone


def test_unknown_ids_are_skipped_records() -> None:
    result = ibidem.compare_pairs(records(), [("storm", "nobody"), ("storm", "edited"), ("x", "y")])
    assert result.n_pairs == 1
    assert len(result) == 1
    assert [(s.source, s.position) for s in result.skipped] == [("the pairs", 1), ("the pairs", 3)]
    assert "nobody" in result.skipped[0].reason
    assert "x" in result.skipped[1].reason
    assert "y" in result.skipped[1].reason
    with pytest.raises(InputError):
        ibidem.compare_pairs(records(), [("x", "y")])


def test_a_pair_listed_twice_comes_out_once_and_a_document_is_not_compared_with_itself() -> None:
    once = tuples(ibidem.compare_pairs(records(), [("storm", "edited")]))
    result = ibidem.compare_pairs(
        records(), [("storm", "edited"), ("edited", "storm"), ("storm", "storm"), ("storm", "edited")]
    )
    assert tuples(result) == once
    assert [record.position for record in result.skipped] == [2, 3, 4]


@pytest.mark.parametrize("pairs", [[("a", "b", "c")], ["ab"], [(1, 2)], [("a", None)]])
def test_what_is_no_pair_is_refused(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(ibidem.UsageError, match="is not a pair of ids"):
        ibidem.compare_pairs(records(), pairs)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_pairs_are_read_from_files(tmp_path: Path, kind: str) -> None:
    pairs = [("storm", "edited"), ("both", "bakery"), ("storm", "nobody")]
    path = tmp_path / f"pairs.{kind}"
    if kind == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("a_id", "b_id"), *pairs])
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"a_id": a, "b_id": b}) + "\n" for a, b in pairs), "utf-8")
    else:
        pyarrow.parquet.write_table(pa.table({"a_id": [a for a, _ in pairs], "b_id": [b for _, b in pairs]}), path)
    result = ibidem.compare_pairs(records(), path)
    assert tuples(result) == tuples(ibidem.compare_pairs(records(), pairs[:2]))
    assert [s.position for s in result.skipped] == [3]
    assert str(path) in result.skipped[0].source


# `find` with alignment.

QUOTED = f"{joined(MUSEUM[:2])} One reads that nothing of note happened {HALF} and more, was silent. {joined(MUSEUM[2:])}"
COLLECTION = [
    {"id": "original", "text": joined(BAKERY[:2], STORM), "group": "g"},
    {"id": "edited", "text": f"{joined(SURVEY[:2])} {EDITED} {joined(SURVEY[2:])}", "group": "h"},
    {"id": "quoting", "text": QUOTED, "group": "g"},
    {"id": "copied", "text": joined(SURVEY[1:], BAKERY[2:]), "group": "i"},
]  # fmt: skip


def found_pairs(result: Any) -> set[tuple[str, str]]:
    return {(p.a.id, p.b.id) for p in result}


def covered(result: Any) -> set[tuple[str, int, str]]:
    """Return which characters are found, with the document they are found in."""
    return {(x.id, k, y.id) for p in result for x, y in ((p.a, p.b), (p.b, p.a)) for k in range(x.start, x.end)}


def test_alignment_finds_edited_copies_and_half_sentences_that_sentences_miss() -> None:
    strict: dict[str, Any] = {"min_similarity": "0.9"}
    plain, aligned = ibidem.find(COLLECTION, align=False, **strict), ibidem.find(COLLECTION, **strict)
    assert ("original", "quoting") not in found_pairs(plain)
    assert {("original", "edited"), ("original", "quoting"), ("edited", "copied")} <= found_pairs(aligned)
    texts = {record["id"]: record["text"] for record in COLLECTION}
    (edited,) = [p for p in aligned if (p.a.id, p.b.id) == ("original", "edited")]
    check_found([edited], texts["original"], texts["edited"], joined(STORM), EDITED)
    (half,) = [p for p in aligned if (p.a.id, p.b.id) == ("original", "quoting")]
    check_found([half], texts["original"], texts["quoting"], HALF, HALF)
    assert covered(plain) <= covered(aligned)


@pytest.mark.parametrize("signature", ["words", "exact"])
@pytest.mark.parametrize("workers", [1, 3])
def test_alignment_keeps_what_is_found_without_it(signature: str, workers: int) -> None:
    plain = ibidem.find(COLLECTION, signature=signature)
    aligned = ibidem.find(COLLECTION, align=True, signature=signature, workers=workers)
    assert len(plain) > 0
    assert covered(plain) <= covered(aligned)
    assert ("original", "quoting") in found_pairs(aligned)


def test_find_aligns_by_default_and_says_so() -> None:
    by_default, told, plain = (ibidem.find(COLLECTION, **chosen) for chosen in ({}, {"align": True}, {"align": False}))
    assert tuples(by_default) == tuples(told) != tuples(plain)
    assert [run.config.alignment.align for run in (by_default, plain)] == [True, False]
    assert tuples(ibidem.find(COLLECTION, signature="words")) == tuples(plain)


def test_alignment_is_the_same_for_any_number_of_workers() -> None:
    assert tuples(ibidem.find(COLLECTION, align=True, workers=1)) == tuples(ibidem.find(COLLECTION, align=True, workers=3))


def test_the_share_that_is_reused_rises_with_alignment() -> None:
    plain, aligned = (
        dict(zip(*(result.documents[name].to_pylist() for name in ("id", "reused_share")), strict=True))
        for result in (ibidem.find(COLLECTION, align=align, min_similarity="0.9") for align in (False, True))
    )
    assert all(aligned[name] >= plain[name] for name in plain)
    assert aligned["quoting"] > plain["quoting"]
    assert aligned["original"] > plain["original"]
    assert all(share <= 1 for share in aligned.values())


def test_alignment_works_against_a_reference() -> None:
    result = ibidem.find(COLLECTION[:1], against=COLLECTION[1:], align=True)
    assert found_pairs(result) == {("original", "edited"), ("original", "quoting"), ("original", "copied")} & found_pairs(
        result
    )
    assert {("original", "edited"), ("original", "quoting")} <= found_pairs(result)
    assert found_pairs(ibidem.find(COLLECTION[1:], against=COLLECTION[:1], align=True)) >= {
        ("edited", "original"),
        ("quoting", "original"),
    }


def test_alignment_leaves_out_pairs_of_one_group() -> None:
    assert ("original", "quoting") in found_pairs(ibidem.find(COLLECTION, align=True, group_field="group"))
    result = ibidem.find(COLLECTION, align=True, skip_same_group=True, group_field="group")
    assert ("original", "quoting") not in found_pairs(result)
    assert ("original", "edited") in found_pairs(result)


@pytest.mark.parametrize("n_between", [0, 1, 4])
def test_within_one_document_passages_do_not_run_into_one_another(n_between: int) -> None:
    changed = [sentence.replace("the", "this") for sentence in STORM]
    for second in (STORM, changed):
        text = joined(STORM, BAKERY[:n_between], second)
        plain, aligned = (
            ibidem.find([{"id": "one", "text": text}], same_document=True, align=align) for align in (False, True)
        )
        assert len(plain) >= 1
        assert covered(plain) <= covered(aligned)
        for p in aligned:
            assert p.a.end <= p.b.start


def test_repeated_sentences_of_one_document_do_not_run_into_one_another() -> None:
    others = [{"id": name, "text": joined(SURVEY)} for name in ("x", "y")]
    for p in ibidem.find(
        [{"id": "one", "text": joined(STORM[:2], STORM[:2], STORM[:1])}, *others], same_document=True, align=True
    ):
        assert p.a.id != p.b.id or p.a.end <= p.b.start


def test_without_anything_to_align_nothing_changes() -> None:
    for collection in (
        [],
        [{"id": "a", "text": ""}],
        [{"id": "a", "text": joined(STORM)}],
        [{"id": str(i), "text": "…"} for i in range(3)],
    ):
        try:
            plain = tuples(ibidem.find(collection))
        except InputError:
            continue
        assert tuples(ibidem.find(collection, align=True)) == plain == []


def test_an_end_that_stands_in_both_is_added_word_by_word() -> None:
    a = f"{joined(STORM)} He added that the lamps were still burning when he left the pier."
    b = f"{joined(STORM)} He added that the lamps were still broken, and nobody knew why."
    (passage,) = ibidem.find([{"id": "a", "text": a}, {"id": "b", "text": b}], align=True)
    assert passage.a.text == passage.b.text == f"{joined(STORM)} He added that the lamps were still"


def test_copies_stay_copies_when_one_of_their_passages_is_extended() -> None:
    """The passages of a pair count together, however each of them was found."""
    a = joined(STORM, ["Nobody had a word to say about the lamps that burnt all night."], SURVEY)
    b = joined(STORM, ["Nobody had a word to say about the lamps, which were out of order."], SURVEY)
    documents = [{"id": "a", "text": a}, {"id": "b", "text": b}]
    for align in (False, True):
        clusters = ibidem.find(documents, align=align, max_gap_sentences=0).documents["cluster"].to_pylist()
        assert clusters == [0, 0]


def test_what_is_found_by_sentences_stays_covered() -> None:
    rng = random.Random(5)
    words = made_words(60, 9)
    for _ in range(40):
        sentences = [" ".join(rng.choices(words, k=rng.randint(4, 14))).capitalize() + "." for _ in range(8)]
        documents = []
        for name in "abc":
            chosen = rng.choices(sentences, k=12)
            changed = [" ".join(w if rng.random() > 0.1 else rng.choice(words) for w in s[:-1].split()) + "." for s in chosen]
            documents.append({"id": name, "text": " ".join(changed)})
        plain, aligned = ibidem.find(documents), ibidem.find(documents, align=True)
        lost = n_chars = 0
        for passage in plain:
            for side in "ab":
                span = getattr(passage, side)
                here = [getattr(p, side) for p in aligned if (p.a.id, p.b.id) == (passage.a.id, passage.b.id)]
                left = set(range(span.start, span.end)) - {k for other in here for k in range(other.start, other.end)}
                n_chars += span.end - span.start
                lost += len(left)
        assert lost <= n_chars // 20, documents


def test_passages_are_the_same_however_often_their_table_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    between = [invented(*range(20 * k, 20 * k + 20), count=12) for k in range(12)]
    shuffled = " ".join(" ".join(pair) for pair in zip([*STORM, *BAKERY][::-1], between, strict=False))
    texts = {"few": STORM[0] + " " + between[0], "many": " ".join([*STORM, *BAKERY]), "shuffled": shuffled, "none": between[11]}
    documents = [{"id": name, "text": text} for name, text in texts.items()]
    pairs = [(a, b) for a in texts for b in texts if a < b]
    found = []
    monkeypatch.setattr(aligner, "_N_TASKS", 1)  # so all pairs have one table
    for first_rows in (1000, 1 - 2 * len(pairs)):  # room for all, and for one
        monkeypatch.setattr(aligner, "FIRST_ROWS", first_rows)
        found.append(ibidem.compare_pairs(documents, pairs, workers=1).passages.to_pylist())
    assert found[0] == found[1]
    assert len(found[0]) > 3
