"""LangChain's document transformers: chunks that are in an index are dropped or marked, others may be added."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ibidem import Index
from tests.integrations.conftest import KNOWN, NEW

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("langchain_core")
    from langchain_core.documents import BaseDocumentTransformer, Document

from ibidem.integrations.langchain import DropKnown, MarkKnown
from tests.own_loop import run_in_own_loop

CHUNKS = [Document(page_content=value, metadata={"n": n}) for n, value in enumerate(NEW)]
NEW_ONES = [n for n, known in enumerate(KNOWN) if not known]


def test_chunks_are_dropped_and_marked(index_path: Path) -> None:
    step = DropKnown(index_path)
    assert isinstance(step, BaseDocumentTransformer)
    kept = step.transform_documents(CHUNKS)
    assert kept == [CHUNKS[n] for n in NEW_ONES]
    assert run_in_own_loop(step.atransform_documents(CHUNKS)) == kept
    marked = MarkKnown(index_path).transform_documents(CHUNKS)
    assert [(chunk.metadata["n"], chunk.metadata["ibidem_known"]) for chunk in marked] == list(enumerate(KNOWN))
    assert marked[1].metadata["ibidem_spans"][0]["matched_id"] == "old 1"
    assert marked[1].page_content == NEW[1]
    assert CHUNKS[1].metadata == {"n": 1}


def test_new_chunks_are_added(tmp_path: Path) -> None:
    step = DropKnown(tmp_path / "chunks.idx", add_new=True)
    named = [Document(page_content=NEW[0], id="named"), Document(page_content=NEW[1]), Document(page_content=NEW[1])]
    assert step.transform_documents(named) == named[:2]
    assert step.transform_documents(named) == []
    with Index(tmp_path / "chunks.idx", create=False) as index:
        assert (len(index), "named" in index) == (2, True)
    assert step.transform_documents([]) == []


def test_marking_can_add_as_well(tmp_path: Path) -> None:
    step = MarkKnown(tmp_path / "chunks.idx", add_new=True)
    marks = [[chunk.metadata["ibidem_known"] for chunk in step.transform_documents(CHUNKS[:2] * 2)] for _ in range(2)]
    assert marks == [[False, False, True, True], [True] * 4]
