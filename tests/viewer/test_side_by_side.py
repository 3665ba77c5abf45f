"""Passages side by side: what is marked where, on consoles with and without colours, and what documents cannot do to them."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ibidem.model import Passage, Span
from ibidem.viewer.side_by_side import covered_shares, harmless, print_side_by_side
from tests.texts import text

A = "Four ferries lay in port on Monday because of the storm. Nobody was hurt, said the operator of the line."
B = "Two ferries lay in the port on Monday because of the storm.\nNobody was hurt, said the operator."


def whole(a: str, b: str) -> Passage:
    return Passage(Span("a", 0, len(a), a), Span("b", 7, 7 + len(b), b), 2, 0.8125, "near", "unknown")


def shown(
    *passages: Passage, full: bool = False, width: int = 80, names: tuple[str, str] = ("a.txt", "b.txt"), **settings: object
) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, highlight=False, emoji=False, **settings)  # type: ignore[arg-type]
    print_side_by_side(console, passages, *names, 200, 100, 25, full)
    return file.getvalue()


def columns(output: str) -> tuple[str, str]:
    """Return what is left and right, without line breaks."""
    lines = [line.partition("│") for line in output.splitlines() if "│" in line][1:]
    return " ".join(" ".join(left for left, _, _ in lines).split()), " ".join(" ".join(right for *_, right in lines).split())


def test_two_columns_with_what_differs_marked() -> None:
    output = shown(whole(A, B))
    lines = output.splitlines()
    assert lines[0] == "passage 1  near 0.81, 2 sentences; 1 number, 1 added, 1 removed"
    assert lines[1].split("│") == ["a.txt [0:104]".ljust(39), f" b.txt [7:{7 + len(B)}]"]
    assert columns(output) == (
        "[-Four-] ferries lay in port on Monday because of the storm. Nobody was hurt, said the operator [-of the line.-]",
        "{+Two+} ferries lay in {+the+} port on Monday because of the storm. Nobody was hurt, said the operator.",
    )
    assert lines[-1] == f"1 passage: 52.0 % of a.txt, {len(B)}.0 % of b.txt"
    second = [line for line in lines if "Nobody" in line]
    assert [part.strip().startswith("Nobody") for part in second[0].split("│")] == [True, True], "at the same height"


def test_colours_take_the_place_of_signs_where_there_are_any() -> None:
    output = shown(whole(A, B), force_terminal=True, color_system="standard", no_color=False)
    assert "\x1b[4;31mFour\x1b[0m" in output
    assert "\x1b[4;32mTwo\x1b[0m" in output
    assert "[-" not in output
    assert "{+" not in output


@pytest.mark.parametrize("settings", [{"no_color": True, "force_terminal": True}, {"color_system": None}])
def test_signs_stand_where_there_are_no_colours(settings: dict[str, object]) -> None:
    output = shown(whole(A, B), **settings)
    assert "[-Four-]" in output
    assert "\x1b[3" not in output
    assert "\x1b[4" not in output


def test_the_environment_may_refuse_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "{+Two+}" in shown(whole(A, B), force_terminal=True)


@pytest.mark.parametrize("width", [20, 40, 79, 120, 300])
def test_lines_fit(width: int) -> None:
    long_word = "x" * 400
    for a, b in ((A, B), (f"{A} {long_word}", B), ("他说你好。" * 30, "她说你好。" * 30), ("ก็ดี" * 50, "ก็ดำ" * 50)):
        lines = shown(whole(a, b), width=width).splitlines()
        assert all(cell_len(line) <= width for line in lines[1:-1])


def test_long_equal_stretches_are_cut_down_unless_all_is_wanted() -> None:
    long_text = text(*range(40))
    output = shown(whole(f"Before. {long_text} Same.", f"After. {long_text} Same."))
    assert "equal characters ⋯" in output
    assert output.count("\n") < 25
    for start in ("[-Before.-]", "{+After.+}", "Same."):
        assert start in output
    assert "equal characters" not in shown(whole(long_text, long_text), full=True)
    left, right = columns(shown(whole(long_text, long_text), full=True))
    assert left == right == long_text


def test_nothing_shared_is_said() -> None:
    assert shown().startswith("a.txt and b.txt share no passage of 25 words or more;")


@given(st.text(st.sampled_from("ab .\n[]{}+-\x00\x07\x1b\x9b\x7f\x85\u2028\u202e\u2066"), max_size=60), st.text(max_size=30))
def test_texts_and_names_do_nothing_to_the_terminal(dangerous: str, name: str) -> None:
    for output in (
        shown(whole(dangerous, f"a {dangerous}"), names=(name, dangerous)),
        shown(whole(f"b {dangerous}", dangerous), names=(dangerous, name)),
    ):
        signs = {c for c in output if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066\u2028"}
        assert signs <= {"\n"}


def test_what_is_harmless_stays_and_everything_keeps_its_place() -> None:
    assert harmless("Grüße,\tשלום\r\n你好 👩‍🚀") == "Grüße,\tשלום\r\n你好 👩‍🚀"
    assert harmless("\x1b[2J\x00\x9b\x7f\u202ea\ud800") == "␛[2J␀�␡�a�"


def test_marks_of_rich_are_text() -> None:
    assert "[red]x[/red] :smile:" in shown(whole("[red]x[/red] :smile:", "[red]x[/red] :smile:"))


def test_shares_count_overlapping_passages_once() -> None:
    passages = [whole("x" * 10, "y" * 10), whole("x" * 4, "y" * 20)]
    assert covered_shares(passages, 20, 40) == (0.5, 0.5)
    assert covered_shares([], 20, 40) == (0, 0)
    assert covered_shares([], 0, 0) == (0, 0)
