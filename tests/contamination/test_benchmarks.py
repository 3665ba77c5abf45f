"""Benchmarks as people have them: names of fields, damaged records, several files; and what is said of the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.config.contamination_settings import fields_of_benchmark
from ibidem.errors import InputError, OutputExistsError, SettingsError

QUESTION = "How many ferries leave the northern harbour on the morning of a stormy market day"
PAGES = [{"id": "a", "text": f"Listen. {QUESTION}? Nobody knows."}, {"id": "b", "text": "It was quiet in the valley."}]


def write(path: Path, records: list[Any]) -> str:
    path.write_text("".join(each if isinstance(each, str) else json.dumps(each) + "\n" for each in records), "utf-8")
    return str(path)


def found(benchmarks: dict[str, Any], **settings: Any) -> list[tuple[str, ...]]:
    rows = ibidem.decontaminate(PAGES, benchmarks, **settings).item_places.to_pylist()
    return [(row["benchmark"], row["item"], row["field"], row["role"], row["id"]) for row in rows]


def test_fields_of_benchmarks() -> None:
    assert fields_of_benchmark("question", "quiz") == ["question"]
    assert fields_of_benchmark("question, a.b ,quiz=stem,quiz=hint", "quiz") == ["stem", "hint"]
    assert fields_of_benchmark("question,a.b,quiz=stem", "exam") == ["question", "a.b"]
    assert fields_of_benchmark("quiz=stem", "exam") == []


def test_each_benchmark_has_its_own_fields(tmp_path: Path) -> None:
    quiz = write(tmp_path / "quiz.jsonl", [{"id": 1, "question": QUESTION}])
    exam = write(tmp_path / "exam.jsonl", [{"number": "x", "task": {"stem": QUESTION}, "question": "no"}])
    chat = [{"id": "c", "messages": [{"content": "Hello."}, {"content": QUESTION}]}]
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "one.txt").write_text(QUESTION, "utf-8")
    names = {"quiz": quiz, "exam": exam, "chat": chat, "plain": str(tmp_path / "plain")}
    rows = found(names, prompt_fields=["exam=task.stem", "chat=messages[].content"], item_id_field="exam=number")
    assert [row[:4] for row in rows] == [
        ("quiz", "1", "question", "prompt"),
        ("exam", "x", "task.stem", "prompt"),
        ("chat", "c", "messages[].content", "prompt"),
        ("plain", str(tmp_path / "plain" / "one.txt"), "text", "prompt"),
    ]


@pytest.mark.parametrize("kind", ["list", "jsonl", "json"])
def test_usual_fields_are_those_of_all_records(kind: str, tmp_path: Path) -> None:
    others = [{"id": n, "problem": f"How long is river number {n}?"} for n in range(300)]
    records: list[dict[str, Any]] = [
        *others,
        {"id": "late", "question": "Why?", "answer": QUESTION},
        {"id": "q", "question": QUESTION},
    ]
    path = tmp_path / f"quiz.{kind}"
    if kind != "list":
        path.write_text(json.dumps(records) if kind == "json" else "\n".join(map(json.dumps, records)), "utf-8")
    rows = found({"quiz": records if kind == "list" else str(path)})
    assert sorted(row[1:4] for row in rows) == [("late", "answer", "answer"), ("q", "question", "prompt")]


def test_ids_that_occur_again(tmp_path: Path) -> None:
    other = "Which of the old lighthouses on the western coast was built before the harbour was"
    (tmp_path / "quiz").mkdir()
    one = write(
        tmp_path / "quiz" / "one.jsonl",
        [{"id": "1", "question": "Short?"}, {"id": f"{tmp_path}/quiz/two.jsonl:1", "question": "?"}],
    )
    two = write(tmp_path / "quiz" / "two.jsonl", [{"id": "1", "question": QUESTION}, {"id": "1", "question": other}])
    pages = [*PAGES, {"id": "c", "text": f"{other}?"}]
    for benchmark in (str(tmp_path / "quiz"), [one, two]):
        result = ibidem.decontaminate(pages, {"quiz": benchmark})
        rows = {row["item"]: result.text_of(row) for row in result.found_items.to_pylist()}
        assert rows == {f"{two}:1+": QUESTION, f"{two}:2": other}
        assert {row["item"]: row["id"] for row in result.item_places.to_pylist()} == {f"{two}:1+": "a", f"{two}:2": "c"}


def test_fields_of_training_data_are_their_own(tmp_path: Path) -> None:
    train = write(tmp_path / "train.jsonl", [{"url": "u", "body": f"So. {QUESTION}"}])
    quiz = write(tmp_path / "quiz.jsonl", [{"id": 1, "text": QUESTION, "body": "other"}])
    result = ibidem.decontaminate(train, {"quiz": quiz}, text_field="body", id_field="url")
    assert [(row["id"], row["item"]) for row in result.item_places.to_pylist()] == [("u", "1")]


def test_prompts_and_answers_are_told_apart() -> None:
    answer = "That depends on whether the wind comes from the north or from the west"
    pages = [f"Hm. {answer}.", f"{QUESTION}? {answer}."]
    result = ibidem.decontaminate(pages, {"quiz": [{"id": 1, "question": QUESTION, "answer": answer}, {"question": "Why?"}]})
    rows = {row["part"]: row for row in result.benchmarks.to_pylist()}
    assert [(rows[part]["n_items"], rows[part]["n_whole"], rows[part]["n_documents"]) for part in rows] == [
        (2, 1, 2), (2, 1, 1), (1, 1, 2),
    ]  # fmt: skip
    assert rows["item"]["n_short"] == 1
    assert result.shares == {"quiz": 0.5}
    only = ibidem.decontaminate(pages, {"quiz": [{"id": 1, "question": QUESTION, "answer": answer}]}, answer_fields="none")
    assert [row["part"] for row in only.benchmarks.to_pylist()] == ["item"]


@pytest.mark.parametrize(
    ("call", "message", "step"),
    [
        ({"prompt_fields": "stem"}, r"no record of the benchmark quiz has text in the field 'stem' \(.*quiz.jsonl:1: ",
         'prompt_fields="quiz=FIELD". The fields are id, task'),
        ({}, "the benchmark quiz has no field that usually contains a prompt", "The fields are id, task"),
        ({"prompt_fields": "exam=task"}, "fields are given for 'exam', which is not a benchmark; the benchmarks are quiz", ""),
        ({"prompt_fields": "task", "answer_fields": "task"}, "the field 'task' of the benchmark quiz is named twice", ""),
        ({"prompt_fields": "none", "answer_fields": "none"}, "the benchmark quiz has no fields", ""),
        ({"level": "run"}, 'decontaminate knows level="document" or level="passage", not level="run"', ""),
        ({"min_item_words": 2}, "min_item_words must be", ""),
        ({"whole_share": 0}, "whole_share must be", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(call: dict[str, Any], message: str, step: str, tmp_path: Path) -> None:
    quiz = write(tmp_path / "quiz.jsonl", [{"id": 1, "task": QUESTION}])
    with pytest.raises((InputError, SettingsError), match=message) as raised:
        ibidem.decontaminate(PAGES, {"quiz": quiz}, **call)
    assert step in raised.value.next_step


@pytest.mark.parametrize("name", ["", "quiz.jsonl", "quiz.json", "quiz.csv", "header.csv", "folder"])
@pytest.mark.parametrize("settings", [{}, {"prompt_fields": "question"}])
def test_a_benchmark_without_records(name: str, settings: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    if name not in ("", "folder"):
        (tmp_path / name).write_text({"quiz.json": "[]", "header.csv": "id,question\n"}.get(name, ""), "utf-8")
    with pytest.raises(InputError, match=r"^the benchmark quiz has no records") as raised:
        ibidem.decontaminate(PAGES, {"quiz": str(tmp_path / name) if name else []}, **settings)
    assert raised.value.next_step == "Check the path, or what is passed."


@pytest.mark.parametrize("settings", [{}, {"prompt_fields": "question"}])
def test_a_benchmark_of_empty_texts(settings: dict[str, str]) -> None:
    records = [{"question": ""}, {"question": " \n"}]
    message = r"^all texts of the benchmark quiz in the field 'question' are empty \(records:1: empty text\)"
    with pytest.raises(InputError, match=message):
        ibidem.decontaminate(PAGES, {"quiz": records}, **settings)


def test_a_benchmark_among_the_training_data_is_refused(tmp_path: Path) -> None:
    quiz = write(tmp_path / "quiz.jsonl", [{"id": 1, "text": QUESTION}])
    with pytest.raises(InputError, match=r"quiz.jsonl is both the benchmark quiz and training data"):
        ibidem.decontaminate(str(tmp_path), {"quiz": quiz})
    with pytest.raises(SettingsError, match="benchmarks must be a dict"):
        ibidem.decontaminate(PAGES, {})
    with pytest.raises(InputError, match=r"there is no file or folder .*nothing.jsonl"):
        ibidem.decontaminate(PAGES, {"quiz": str(tmp_path / "nothing.jsonl")})


def test_records_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    quiz = write(tmp_path / "quiz.jsonl", [{"id": 1, "question": QUESTION}, '{"id": 2\n', {"id": 3, "hint": "x"}])
    result = ibidem.decontaminate(PAGES, {"quiz": quiz})
    (notice,) = result.notices
    assert notice.startswith(f"2 records of the benchmark quiz not used, such as {quiz}:2: ")
    assert result.benchmarks["n_items"].to_pylist() == [1]


def test_what_a_result_offers(tmp_path: Path) -> None:
    train = write(tmp_path / "train.jsonl", PAGES)
    result = ibidem.decontaminate(train, {"quiz": [{"id": 1, "question": QUESTION}]}, level="passage")
    assert repr(result) == (
        f"<ContaminationResult: 1 of 1 benchmark item found; 0 documents and {len(QUESTION) + 2} characters to remove>"
    )
    assert QUESTION in result._repr_html_()
    (row,) = result.worst("quiz")
    assert (row["item"], row["text"]) == ("1", QUESTION)
    assert result.exceeding(0.5) == ["quiz"]
    assert result.exceeding(1) == []
    result.write(tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "train.jsonl", "removed.jsonl", "skipped.jsonl", "run.json", "benchmarks.jsonl", "found_items.jsonl",
        "item_places.jsonl",
    }  # fmt: skip
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert run["counts"].items() >= {"benchmark_items": 1, "items_whole": 1, "items_part": 0, "removals": 1}.items()
    assert run["inputs"][-1] == {"kind": "python object", "benchmark": "quiz"}
    (removed,) = [json.loads(line) for line in (tmp_path / "out" / "removed.jsonl").read_text("utf-8").splitlines()]
    assert removed["items"] == [
        {"benchmark": "quiz", "item": "1", "field": "question", "found": "whole", "share": 1.0, "start": 8,
         "end": 8 + len(QUESTION)},
    ]  # fmt: skip
    page = result.to_html(tmp_path / "page.html")
    assert QUESTION in page.read_text("utf-8")
    result.to_html(page)
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(OutputExistsError):
        result.to_html(tmp_path / "mine.html")


def test_a_run_is_only_continued_with_the_same_benchmarks(tmp_path: Path) -> None:
    train = write(tmp_path / "train.jsonl", PAGES)
    one, other = (write(tmp_path / f"{name}.jsonl", [{"id": name, "question": QUESTION}]) for name in ("one", "other"))
    call: dict[str, Any] = {"partitions": 2, "work_dir": str(tmp_path / "work"), "resume": True}
    with pytest.raises(RuntimeError), ibidem.decontaminate(train, {"quiz": one}, **call):
        raise RuntimeError
    with pytest.raises(ibidem.UsageError, match="benchmarks are not the same"):
        ibidem.decontaminate(train, {"quiz": other}, **call)
    with pytest.raises(ibidem.UsageError, match="Python objects cannot be resumed"):
        ibidem.decontaminate(train, {"quiz": [{"question": QUESTION}]}, **call)
    with ibidem.decontaminate(train, {"quiz": one}, **call) as result:
        assert [row["item"] for row in result.item_places.to_pylist()] == ["one"]
