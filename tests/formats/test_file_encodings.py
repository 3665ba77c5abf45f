"""Files in several encodings, detected one by one, reported, and copied as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ibidem
from ibidem.errors import SettingsError
from ibidem.formats.file_encodings import detected_encoding
from tests.formats.languages import SHARED

ENCODINGS = {"a": "utf-8", "b": "utf-16", "c": "cp1252", "d": "utf-8-sig", "e": "utf-16-le"}


def test_mixed_encodings_are_detected_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n\n".join(SHARED["de"])
    for name, encoding in ENCODINGS.items():
        (tmp_path / f"{name}.txt").write_bytes(text.encode(encoding))
    result = ibidem.find("*.txt", encoding="auto")
    assert not result.skipped
    assert [p.a.text for p in result if p.kind == "exact"] == [text] * 10
    (notice,) = result.notices
    assert notice.startswith("3 files are not UTF-8; detected: ")
    assert notice.endswith("such as b.txt")
    for words in ("utf-16 (1)", "utf-16-le (1)", "cp1252 (1)"):
        assert words in notice
    assert [d.text for d in ibidem.read("c.txt", encoding="auto")] == [text]
    (skipped,) = ibidem.find(["a.txt", "c.txt"]).skipped
    assert "--encoding" not in skipped.reason
    assert skipped.reason.endswith("encoding sets another encoding, or auto")


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8"])
def test_records_and_their_copies(tmp_path: Path, encoding: str) -> None:
    lines = [json.dumps({"id": name, "text": SHARED["de"][0]}, ensure_ascii=False) for name in "ab"]
    path = tmp_path / "r.jsonl"
    path.write_bytes("\n".join([*lines, ""]).encode(encoding))
    assert [d.text for d in ibidem.read(path, encoding="auto")] == [SHARED["de"][0]] * 2
    with ibidem.dedup(path, encoding="auto") as result:
        result.write(tmp_path / "out")
    assert (tmp_path / "out" / "r.jsonl").read_bytes().decode(encoding) == lines[0] + "\n"


@pytest.mark.parametrize(
    ("lang", "encoding"), [("zh", "gb18030"), ("ko", "euc_kr"), ("ar", "cp1256"), ("de", "cp1252"), ("zh", "big5")]
)
def test_encodings_of_their_languages(lang: str, encoding: str) -> None:
    data = "\n\n".join(SHARED[lang]).encode(encoding, "ignore")
    assert data.decode(detected_encoding(data)) == data.decode(encoding)


def test_an_encoding_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words", encoding="utf-8")
    with pytest.raises(SettingsError, match="must be auto, or one that Python knows"):
        ibidem.find(tmp_path, encoding="automatic")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "Zażółć gęślą jaźń. Książka leżała na stole, a później ktoś ją wziął."),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Děti šly do školy a večer se vrátily domů."),
        ("cp1250", "Kŕdeľ šťastných ďatľov učí pri ústí Váhu mĺkveho koňa obhrýzať kôru."),
        ("cp1250", "Gojazni đačić s biciklom drži hmelj i finu vatu u džepu nošnje. Čovjek je išao kući."),
        ("cp1252", "Les élèves étaient déjà à l’école où ils ont mangé des pâtes ; ça, c’est l’été, où l'on naît."),
        ("cp1252", "Übermäßige Größe führte zu Ärger. „Schön“, sagte er – die Straße war naß."),
        ("cp1252", "El niño comió piña mañana. ¿Qué pasó? ¡Él llegó con José y Ángel!"),
        ("cp1252", "La città è più bella perché c'è il sole. Così è, però non si può dire di più."),
        ("cp1252", "Það er gott veður á Íslandi í dag. Þórður fór út að ganga með öðrum."),
        ("cp1252", "It’s a “quoted” text – with punctuation of Windows… and nothing else."),
    ],
)
def test_the_two_encodings_of_windows_are_told_apart(encoding: str, text: str) -> None:
    assert detected_encoding(text.encode(encoding)) == encoding
    assert detected_encoding(f"{text} ".encode(encoding) * 100) == encoding


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "Český text o knihách, který je přečten. Žluťoučký kůň úpěl."),
        ("iso8859-2", "Český text o knihách, který je přečten. Žluťoučký kůň úpěl."),
        ("cp1251", "Мой дядя самых честных правил – «не в шутку» занемог…"),
        ("cp1253", "Το «βιβλίο» είναι ακριβό – πολύ ακριβό… Ποιος θα το πάρει;"),
        ("cp1254", "Kitap “pahalı” – çok pahalı… Kimse almıyor, çünkü değmez; ağaçlar şimdi yeşil."),
    ],
)
def test_no_character_is_lost_in_windows_and_iso_encodings(encoding: str, text: str) -> None:
    assert text.encode(encoding).decode(detected_encoding(text.encode(encoding))) == text
