"""LlamaIndex: transformations in an ingestion pipeline with its cache, and a postprocessor of retrieved nodes."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest

from ibidem import Index
from ibidem.errors import NoIndexError
from tests.integrations.conftest import COUNT, KNOWN, NEW
from tests.texts import text

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("llama_index.core")
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from ibidem.integrations.llama_index import DropKnown, KnownPostprocessor, MarkKnown
from tests.own_loop import run_in_own_loop

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
NODES = [TextNode(text=value, id_=f"n{n}", metadata={"n": n}) for n, value in enumerate(NEW)]
NEW_ONES = [f"n{n}" for n, known in enumerate(KNOWN) if not known]


def test_nodes_are_dropped_and_marked(index_path: Path) -> None:
    step = DropKnown(index=str(index_path))
    assert [node.node_id for node in step(NODES)] == NEW_ONES
    assert [node.node_id for node in run_in_own_loop(step.acall(NODES))] == NEW_ONES
    marked = MarkKnown(index=str(index_path))(NODES)
    assert [node.metadata["ibidem_known"] for node in marked] == KNOWN
    assert marked[1].metadata["ibidem_spans"][0]["matched_id"] == "old 1"
    # Models and embeddings do not read the marks.
    for mode in (MetadataMode.EMBED, MetadataMode.LLM):
        assert marked[1].get_content(mode) == NODES[1].get_content(mode)
    assert NODES[1].metadata == {"n": 1}


def test_they_can_be_stored_and_sent_to_other_processes(index_path: Path) -> None:
    step = DropKnown(index=str(index_path), min_covered_share=0.0, settings={"min_quote_words": 0})
    for other in (pickle.loads(pickle.dumps(step)), DropKnown.from_json(step.to_json())):
        assert other.to_dict() == step.to_dict()
        assert [node.node_id for node in other(NODES)] == ["n0", "n4", "n5"]


def test_a_pipeline_adds_new_nodes_and_its_cache_notices(tmp_path: Path) -> None:
    pipeline = IngestionPipeline(transformations=[DropKnown(index=str(tmp_path / "nodes.idx"), add_new=True)])
    nodes = [*NODES[:2], TextNode(text=NEW[1], id_="again")]
    assert [node.node_id for node in pipeline.run(nodes=nodes)] == ["n0", "n1"]
    assert pipeline.run(nodes=nodes) == []
    with Index(tmp_path / "nodes.idx", create=False) as index:
        assert [name in index for name in ("n0", "n1", "again")] == [True, True, False]


def test_a_reading_pipeline_notices_that_the_index_has_grown(tmp_path: Path) -> None:
    with Index(tmp_path / "nodes.idx") as index:
        index.add([{"id": "a", "text": NEW[1]}])
        pipeline = IngestionPipeline(transformations=[DropKnown(index=str(index.path))])
        nodes = [TextNode(text=NEW[0], id_="n0"), TextNode(text=text(900, 901, 902, count=COUNT), id_="n1")]
        assert len(pipeline.run(nodes=nodes)) == 2
        index.add([{"id": "b", "text": NEW[0]}])
        assert [node.node_id for node in pipeline.run(nodes=nodes)] == ["n1"]


def test_retrieved_nodes(index_path: Path) -> None:
    scored = [NodeWithScore(node=node, score=1 / (1 + n)) for n, node in enumerate(NODES)]
    kept = KnownPostprocessor(index=str(index_path)).postprocess_nodes(scored)
    assert [each.node.node_id for each in kept] == NEW_ONES
    assert kept[1].score == scored[2].score
    with pytest.raises(NoIndexError):
        KnownPostprocessor(index=str(index_path.parent / "missing.idx"))
