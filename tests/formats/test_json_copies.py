"""JSON files: arrays, single records and records that follow one another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.formats.decisions import Decision
from tests.formats import json_sources
from tests.formats.copy_oracle import COMPRESSIONS, check_copy, clean, decided, decompressed, folders, texts

ODD_VALUES = ["1", "null", '"text"', "[1, {}]", '{"n": 1.0}', '{"text": null}', "{}", '{"text": "\\ud800"}', '{"text": " "}']
TAILS = ["", "\n", "  trailing words", '{"text": "behind the end"}']
BREAKS = ["", "", "", "{broken", '{"text": "no end', "nonsense, 1"]


@st.composite
def files(draw: Any) -> bytes:
    values = draw(st.lists(st.one_of(json_sources.objects(line_breaks=True), st.sampled_from(ODD_VALUES)), max_size=8))
    if draw(st.booleans()):
        gap = draw(st.sampled_from([",", ", ", ",\r\n  "]))
        inner = gap.join(values) + draw(st.sampled_from(BREAKS))
        source = f"{draw(json_sources.SPACES)}[\n{inner}]{draw(st.sampled_from(TAILS))}"
    else:
        # A list that comes to stand first would be taken for the array of all records.
        values = [value for value in values if not value.startswith("[")]
        source = draw(st.sampled_from(["\n", " ", "\r\n\r\n"])).join(values) + draw(st.sampled_from(["", "\n", "  {"]))
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + source.encode("utf-8")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_file(data: Any) -> None:
    with folders(data.draw(st.sampled_from([5, 40, 1 << 20]))) as (inputs, output):
        suffix = data.draw(st.sampled_from(["", "", ".gz", ".bz2"]))
        path = inputs / f"docs.json{suffix}"
        content = data.draw(files())
        path.write_bytes(COMPRESSIONS[suffix](content))
        found = data.draw(decided(texts(path)))
        copy = check_copy(path, found, output)
        if not found:
            assert copy.read_bytes() == path.read_bytes()
        try:
            values = json.loads(content.decode("utf-8-sig"), strict=False)
        except ValueError:
            return
        if isinstance(values, list):
            n_gone = sum(decision.drop for decision in found.values())
            assert len(json.loads(decompressed(copy).decode("utf-8-sig"), strict=False)) == len(values) - n_gone


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("dropped", [(), (1,), (2,), (3,), (1, 2), (2, 3), (1, 2, 3)])
def test_a_value_goes_with_its_comma(tmp_path: Path, suffix: str, dropped: tuple[int, ...]) -> None:
    records = [{"text": f"number {n}", "n": 1.0} for n in (1, 2, 3)]
    path = tmp_path / f"docs.json{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](json.dumps(records, indent=2).encode()))
    copy = check_copy(path, {(str(path), position): Decision(drop=True) for position in dropped}, tmp_path / "out")
    kept = [record for position, record in enumerate(records, 1) if position not in dropped]
    assert decompressed(copy).decode() == (json.dumps(kept, indent=2) if kept else "[\n  \n]")


def test_numbers_do_not_run_together(tmp_path: Path) -> None:
    path = tmp_path / "docs.json"
    path.write_text('1{"text": "gone"}2 {"text": "stays"}')
    (copy,) = clean(path, {(str(path), 2): Decision(drop=True)}, tmp_path / "out")
    assert copy.read_text() == '1 2 {"text": "stays"}'


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "docs.json"
    source = '[{"text": "one \u00e9", "n": 1e5}, {"text": "two \u00e9"}]'
    for encoding in ("utf-16", "latin-1"):
        path.write_bytes(source.encode(encoding))
        found = {(str(path), 1): Decision(cuts=((0, 4),))}
        copy = check_copy(path, found, tmp_path / encoding, encoding=encoding)
        assert copy.read_bytes() == source.replace("one ", "").encode(encoding)
