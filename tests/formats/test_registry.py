"""Formats are found in one table, loaded when they are met, and added by a module and an entry."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ibidem.config import DocumentsConfig
from ibidem.formats import read, registry, resolve_inputs
from ibidem.formats.byte_streams import ByteStream
from ibidem.formats.copies import rewrite
from ibidem.formats.decisions import Decision
from ibidem.formats.python_records import record_jobs
from ibidem.formats.registry import FORMATS, FileFormat, Format, format_of, load_format, sniff_format
from tests.formats.copy_oracle import ListedDecisions


@pytest.mark.parametrize("name", FORMATS)
def test_a_module_provides_what_its_format_needs(name: str) -> None:
    needed = ["read", "rewrite", *["field_names"] * FORMATS[name].has_fields]
    for function in needed:
        expected = list(inspect.signature(getattr(FileFormat, function)).parameters)[1:]
        parameters = inspect.signature(getattr(load_format(name), function)).parameters
        assert list(parameters)[: len(expected)] == expected
        assert all(parameters[further].default is not inspect.Parameter.empty for further in list(parameters)[len(expected) :])


def test_an_extension_means_one_format() -> None:
    listed = [extension for kind in FORMATS.values() for extension in (*kind.extensions, *kind.other_extensions)]
    assert len(set(listed)) == len(listed)
    assert [format_of(f"a{kind.extensions[0].upper()}.gz") for kind in FORMATS.values()] == list(FORMATS)
    assert (format_of("a.gz"), format_of("a.xyz"), format_of("a")) == (None, None, None)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_a_telling_name_is_known_by_its_first_bytes(name: str, tmp_path: Path) -> None:
    for first_bytes in FORMATS[name].first_bytes:
        for before in (b"",) if FORMATS[name].is_binary else (b"", b" \n"):
            (tmp_path / "a").write_bytes(before + first_bytes + b" and more")
            with ByteStream(str(tmp_path / "a")) as stream:
                assert sniff_format(stream) == name


def test_formats_are_loaded_when_they_are_met() -> None:
    modules = sorted({f"ibidem.formats.{kind.module}" for kind in FORMATS.values()} - {"ibidem.formats.text_files"})
    code = f"import sys, ibidem.formats; print(sorted(set({modules}) & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


class Verses(ModuleType):
    """A format in which every line is a record."""

    @staticmethod
    def read(stream: ByteStream, source: Any, wanted: Any) -> Iterator[Any]:
        texts = stream.read().decode().splitlines()
        found = (({"text": text}, number, None) for number, text in enumerate(texts, 1))
        return record_jobs(found, source.name, wanted, stream.take_count)

    @staticmethod
    def rewrite(file: Any, output: Any, edits: Any) -> None:
        for number, line in enumerate(b"".join(file.raw_chunks()).splitlines(keepends=True), 1):
            if (decision := edits.at(number)) is not None:
                edits.meet(number, line.decode().rstrip())
            if decision is None or not decision.drop:
                output.write(line)


def test_a_format_is_added_by_a_module_and_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ibidem.formats.verse_files", Verses("verses"))
    monkeypatch.setitem(FORMATS, "verses", Format("verse_files", (".verse",), first_bytes=(b"#verses",)))
    monkeypatch.setitem(registry._BY_EXTENSION, ".verse", "verses")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.verse").write_bytes(b"one\ntwo\nthree\n")
    (tmp_path / "in" / "b.txt").write_bytes(b"a text")
    assert [document.text for document in read(tmp_path / "in")] == ["one", "two", "three", "a text"]
    sources = resolve_inputs(tmp_path / "in")
    found = ListedDecisions({(sources[0].name, 2): Decision(drop=True)})
    rewrite(sources, found, tmp_path / "out", DocumentsConfig())
    assert (tmp_path / "out" / "a.verse").read_bytes() == b"one\nthree\n"
    (tmp_path / "c").write_bytes(b"#verses\nfour\n")
    assert [document.text for document in read(tmp_path / "c")] == ["#verses", "four"]
