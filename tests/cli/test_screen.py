"""What the screen shows: no line of a summary or of the progress is wider than it, whatever ids and paths there are."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import ibidem.cli.display as display_module
from ibidem.cli.display import STAGES, BarDisplay
from ibidem.execution.progress import Step
from ibidem.execution.warmup import _NEEDED, _PARTS, announcement
from ibidem.results.screen_lines import excerpt_of, fit_lines, shortened, table_lines, with_names
from tests.cli.test_find import Run, write_jsonl
from tests.texts import text

SOURCE = Path(__file__).parents[2] / "src" / "ibidem"
WIDTHS = (80, 60)
LONG = "https://www.example.org/archive/2031/04/17/a-very-long-name-of-an-article-that-nobody-would-type/"
WORDS = st.text(st.sampled_from("ab 港ö[]{}:…"), max_size=120)


def check_width(shown: str, width: int) -> None:
    """Every line fits, but for a single word such as a path, which must be whole to be copied."""
    for line in shown.splitlines():
        assert cell_len(line) <= width or len(line.split()) == 1, line


@pytest.fixture
def files(run: Run, tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "a-folder-with-a-name-that-is-long" / "and-another-one-inside-of-it"
    folder.mkdir(parents=True)
    shared = text(1, 2, 3, 4)
    records = [{"id": f"{LONG}{k}", "text": f"{text(10 + k)}\n\n{shared}", "category": "news"} for k in range(4)]
    records += [{"id": f"港町の記事{'港' * 60}{k}", "text": shared} for k in range(3)]
    name = str(folder / write_jsonl(folder / "documents-of-the-archive.jsonl", [*records, {"id": "empty"}, "{"]))
    pairs = folder / "pairs.jsonl"
    pairs.write_text(json.dumps({"a_id": f"{LONG}0", "b_id": f"{LONG}1"}) + "\n", "utf-8")
    (folder / "a.txt").write_text(shared, "utf-8")
    (folder / "picture.xyz").write_text("?", "utf-8")
    return {
        "documents": name, "folder": str(folder), "pairs": str(pairs), "text": str(folder / "a.txt"),
        "out": str(folder / "results-of-today"), "index": str(folder / "archive.idx"),
    }  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_a_summary_is_wider_than_the_screen(
    run: Run, files: dict[str, str], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("LINES", raising=False)
    news, out = files["documents"], files["out"]
    commands = [
        ["find", news, "-o", out],
        ["find", files["folder"], "-o", out, "--overwrite", "--report"],
        ["report", out],
        ["eval", files["pairs"], out, "--bootstrap", "9"],
        ["cluster", news, "-o", out, "--overwrite", "--keep", "longest"],
        ["dedup", news, "--dry-run", "--level", "passage"],
        ["dedup", news, "-o", f"{out}-clean"],
        ["compare", news, "--pairs", files["pairs"], "-o", out, "--overwrite"],
        ["compare", files["text"], files["text"], "--html", f"{out}.html"],
        ["tune", news],
        ["index", "add", files["index"], news],
        ["index", "query", files["index"], files["text"], "--format", "text"],
        ["index", "query", files["index"], news, "-o", out, "--overwrite"],
        ["index", "check", files["index"], news, "--format", "text", "--all"],
        ["index", "info", files["index"]],
        ["index", "verify", files["index"]],
        ["index", "compact", files["index"]],
    ]
    for command in commands:
        answer = run(*command)
        assert answer.code == 0, (command, answer.err)
        assert len(f"{answer.out}{answer.err}") > 20, command
        check_width(answer.out, width)
        check_width(answer.err, width)


def test_a_log_has_lines_as_long_as_they_are(run: Run, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")  # set by readline, not by a person
    shown = run("find", files["documents"], "-o", files["out"]).err
    assert f"to view: ibidem report {files['out']}, or ibidem serve {files['out']}" in shown.splitlines()
    assert f"{LONG}0 [" in shown


# The line of progress.


def line_of(display: BarDisplay, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    with console.capture() as shown:
        console.print(display.line())
    return shown.get()


@pytest.mark.parametrize("width", [*WIDTHS, 40, 200])
@pytest.mark.parametrize("name", STAGES)
def test_progress_is_one_line(name: str, width: int) -> None:
    display = BarDisplay(width)
    assert line_of(display, width).strip() == ""
    display.add_documents(123_456_789, 9_876_543_210)
    with display.stage(name, 10**12):
        display.add_bytes(10**12 // 3)
        begun = line_of(display, width)
        display.add_bytes(10**12)
        full = line_of(display, width)
        display.add_step(Step("grams-of-some-partition", 1.0, 10**13, 10**13, 10**13))
        stored = line_of(display, width)
    for shown in (begun, full, stored):
        check_width(shown, width)
        assert shown.count("\n") == 1
        assert "?" not in shown
    if width >= WIDTHS[0]:
        words, unit = STAGES[name]
        assert begun.startswith(f"{words} ")
        assert " 33 %" in begun
        assert unit in begun
        assert "%" not in full
        assert "TB on disk, 0:0" in stored
    assert line_of(display, width).strip() == ""


def test_the_share_never_becomes_all_of_it() -> None:
    display = BarDisplay(80)
    with display.stage("sentences", 1000):
        shares = []
        for _ in range(12):
            shares.append(display.share())
            display.add_bytes(100)
    assert shares == [k / 10 if k < 10 else None for k in range(12)]


def test_the_time_left_is_told_once_it_can_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(display_module.time, "monotonic", lambda: clock[0])
    display = BarDisplay(80)
    with display.stage("adding", 1000):
        display.add_bytes(250)
        clock[0] += 1
        assert "left" not in line_of(display, 80)
        clock[0] += 3719
        assert "25 %, 1:02:00, 3:06:00 left" in line_of(display, 80)


def test_every_stage_has_plain_words() -> None:
    used = {name for path in SOURCE.rglob("*.py") for name in re.findall(r'\.stage\(\s*"([^"]+)"', path.read_text("utf-8"))}
    assert used
    assert used - set(STAGES) == set()
    assert set(STAGES) - used == set()


# What is said of compiling.


@pytest.mark.parametrize("verb", _NEEDED)
def test_compiling_is_announced_for_the_verb_at_hand(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem.execution.warmup._is_compiled", lambda part: False)
    seconds = {part: each for part, (_, _, each) in _PARTS.items()}
    said = announcement(verb)
    assert re.fullmatch(r"compiling code this run needs: about \d+ s; later runs skip this", said)
    assert len(f"ibidem: {said}") <= 80
    (shown,) = re.findall(r"about (\d+) s", said)
    assert int(shown) <= sum(seconds[part] for part in _NEEDED[verb])
    # What an earlier run of another verb has compiled is not counted again, and nothing is said when nothing is left.
    monkeypatch.setattr("ibidem.execution.warmup._is_compiled", lambda part: part == "sentences")
    less = re.findall(r"about (\d+) s", announcement(verb))
    needs_sentences = "sentences" in _NEEDED[verb] and verb != "dedup"
    assert [int(each) for each in less] == [int(shown) - needs_sentences * seconds["sentences"]]
    monkeypatch.setattr("ibidem.execution.warmup._is_compiled", lambda part: True)
    assert announcement(verb) == ""


def test_every_part_has_a_kernel() -> None:
    from importlib import import_module

    for module, name, seconds in _PARTS.values():
        assert hasattr(getattr(import_module(f"ibidem.{module}"), name), "py_func")
        assert seconds > 0


# How lines are made to fit.


@given(st.lists(WORDS, max_size=5), st.integers(5, 100))
def test_lines_lose_no_word(lines: Sequence[str], width: int) -> None:
    fitted = list(fit_lines(lines, width))
    assert " ".join(fitted).split() == " ".join(lines).split()
    assert list(fit_lines(lines, None)) == list(lines)
    for line in fitted:
        assert cell_len(line) <= width or len(line.split()) <= 1


def test_blanks_within_a_name_stay() -> None:
    line = "  two documents have the id my  old\u00a0 essay.txt, which is   one too many for a list of names all different"
    first, second = fit_lines([line], 70)
    assert line == f"{first} {second.lstrip()}"
    assert "my  old\u00a0 essay.txt" in first
    assert list(fit_lines([" " * 80], 70)) == [""]


@given(WORDS, st.integers(3, 60))
def test_a_shortened_name_has_its_beginning_and_its_end(name: str, room: int) -> None:
    short = shortened(name, room)
    assert cell_len(short) <= room
    if short != name:
        begin, _, end = short.rpartition("…") if "…" not in name else ("", "", "")
        assert name.startswith(begin)
        assert name.endswith(end)


def test_of_a_path_the_last_folders_are_shown() -> None:
    path = "examples/essays/essays/bilal.txt"
    assert [shortened(path, room) for room in (32, 31, 20, 18, 11)] == [
        path,
        "…/essays/essays/bilal.txt",
        "…/essays/bilal.txt",
        "…/essays/bilal.txt",
        "…/bilal.txt",
    ]
    assert shortened(path, 10) == "exam…l.txt"
    assert shortened("folder/", 5) == "fo…r/"


@given(st.text("ab 港\n", max_size=900), st.integers(2, 100))
def test_an_excerpt_fits_its_room(long_text: str, room: int) -> None:
    excerpt = excerpt_of(long_text, room)
    assert cell_len(excerpt) <= room
    whole = " ".join(long_text.split())
    assert whole.startswith(excerpt.removesuffix("…"))
    assert excerpt == whole or excerpt.endswith("…")


@given(st.lists(st.text("ab港{}", max_size=60), min_size=2, max_size=2), st.integers(20, 120))
def test_names_stay_whole_unless_one_is_too_long_for_a_line(names: list[str], width: int) -> None:
    parts = ("  {} [1:20]", " · {} [3:40]", "  2 sentences")
    whole, lines = "".join(parts).format(*names), list(with_names(parts, names, width))
    assert list(with_names(parts, names, None)) == [whole]
    if cell_len(whole) <= width:
        assert lines == [whole]
    else:
        assert len(lines) > 1
    own_lines = [parts[0].format(names[0]), f"    · {names[1]} [3:40]"]
    if max(map(cell_len, own_lines)) <= width:
        assert " ".join(" ".join(lines).split()) == " ".join(whole.split())
    for line in lines:
        assert cell_len(line) <= max(width, 24 + len("    ·  [3:40]"))


def test_a_table_that_is_too_wide_becomes_lines_of_names_and_values() -> None:
    rows = [["", "precision", "recall"], ["all", "0.50", "0.25"]]
    assert list(table_lines(rows, None, align_left=1)) == ["     precision  recall", "all       0.50    0.25"]
    assert list(table_lines(rows, 22, align_left=1)) == list(table_lines(rows, None, align_left=1))
    assert list(table_lines(rows, 21, align_left=1)) == ["all: precision 0.50,", "  recall 0.25"]


@pytest.mark.parametrize(
    "arguments",
    [
        "find absent.txt -o out",
        "cluster absent.txt -o out",
        "dedup absent.txt -o out",
        "tune absent.txt",
        "compare absent.txt gone.txt",
        "find a.txt --against absent.txt -o out",
    ],
)
def test_compiling_is_not_announced_for_inputs_that_are_not_there(
    run: Run, arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ibidem.execution.warmup._is_compiled", lambda part: False)
    (tmp_path / "a.txt").write_text("A few words of text.", "utf-8")
    answer = run(*arguments.split())
    assert answer.code == 3
    assert "absent.txt" in answer.err
    assert "ibidem: compiling" not in answer.err
