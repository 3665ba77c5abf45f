"""LlamaIndex: transformations that drop or mark nodes whose text an index knows, and a postprocessor for retrieved nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TransformComponent
from pydantic import Field, PrivateAttr

from ibidem.integrations.chunks import look_up_chunks
from ibidem.integrations.known_text import MARKS, MIN_COVERED_SHARE, Known, KnownText


class _Transformation(TransformComponent):
    """What both transformations have in common."""

    index: str = Field(description="The path of the index.")
    add_new: bool = Field(default=False, description="Whether nodes that are new are added to the index.")
    min_covered_share: float = Field(default=MIN_COVERED_SHARE, description="The share of a text that makes it known.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings of Index.query.")
    _known: KnownText = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Open the index; without one, raise NoIndexError, or create one if nodes are added."""
        self._known = KnownText(self.index, min_covered_share=self.min_covered_share, create=self.add_new, **self.settings)

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the fields, and the last commit of the index: a cache of a pipeline must notice when the index has grown."""
        return {**super().to_dict(**kwargs), "commit": self._known.commit}

    def _look_up(self, nodes: Sequence[BaseNode]) -> list[Known]:
        return look_up_chunks(self._known, _texts_of(nodes), [node.node_id for node in nodes], self.add_new)


class DropKnown(_Transformation):
    """Drops nodes whose text the index knows.

    With `add_new`, the others are added to the index under their ids; an index is created if there is none. Then a node is also
    compared with those before it. `settings` are those of `Index.query`.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name that is stored."""
        return "IbidemDropKnown"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Return the nodes that are new, as they are."""
        return [node for node, found in zip(nodes, self._look_up(nodes), strict=True) if not found.is_known]


class MarkKnown(_Transformation):
    """Marks all nodes in their metadata: `ibidem_known`, `ibidem_covered_share` and `ibidem_spans`.

    The marks are kept out of what is embedded and of what a model reads. The fields are those of `DropKnown`.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name that is stored."""
        return "IbidemMarkKnown"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Return copies of the nodes with marks."""
        return [_marked(node, found) for node, found in zip(nodes, self._look_up(nodes), strict=True)]


class KnownPostprocessor(BaseNodePostprocessor):
    """Drops retrieved nodes whose text the index knows, such as texts that a reader has seen or that must not be quoted."""

    index: str = Field(description="The path of the index.")
    min_covered_share: float = Field(default=MIN_COVERED_SHARE, description="The share of a text that makes it known.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings of Index.query.")
    _known: KnownText = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Open the index; without one, raise NoIndexError."""
        self._known = KnownText(self.index, min_covered_share=self.min_covered_share, **self.settings)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that is stored."""
        return "IbidemKnownPostprocessor"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        found = self._known.look_up(_texts_of([scored.node for scored in nodes]))
        return [scored for scored, each in zip(nodes, found, strict=True) if not each.is_known]


def _texts_of(nodes: Sequence[BaseNode]) -> list[str]:
    return [node.get_content(MetadataMode.NONE) for node in nodes]


def _marked(node: BaseNode, found: Known) -> BaseNode:
    copy: BaseNode = node.model_copy(deep=True)
    copy.metadata.update(found.marks())
    for hidden in (copy.excluded_embed_metadata_keys, copy.excluded_llm_metadata_keys):
        hidden.extend(name for name in MARKS.names if name not in hidden)
    return copy
