"""The tools as an MCP server, with limits on how long texts are, how much is answered, and how long that takes."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from ibidem.agents.tool_answers import (
    AddAnswer,
    CheckAnswer,
    KnownSource,
    PassagesAnswer,
    QuotationAnswer,
    passages_answer,
    quotation_answer,
    record_of,
)
from ibidem.api import compare
from ibidem.errors import IbidemError
from ibidem.formats.times import parse_time
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.version import __version__

# Tools are pure computation: more at once than there are cores would only slow all of them down.
_AT_ONCE = 2
_MOST_ID_CHARS = 1_000
_INSTRUCTIONS = """Tools over an index of documents. They compare words, not meanings: a text is known if its sentences are
in the index, exactly or nearly. Use check_text before adding a document or to see whether a text is new, find_passages to see
which parts come from where, verify_quotation before you quote, and compare_texts for two texts that you have."""
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)

Answer = TypeVar("Answer")
Text = Annotated[str, Field(min_length=1, description="The text.")]


@dataclass(frozen=True)
class Limits:
    """How long a text may be, how many passages or sources an answer lists, and how many seconds it may take."""

    max_chars: int = 200_000
    max_answers: int = 20
    max_seconds: float = 30.0


def mcp_server(index: Index, limits: Limits, may_add: bool) -> MCPServer[None]:
    """Return a server over an open index. Without `may_add` it has no tool that changes anything."""
    server: MCPServer[None] = MCPServer(
        "ibidem", title="ibidem", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING", subscriptions=False
    )
    gate: list[anyio.CapacityLimiter] = []
    slots = threading.BoundedSemaphore(_AT_ONCE)  # taken until the work ends, even if no caller waits for it any more

    async def run(work: Callable[[], Answer], *texts: str, may_take_longer: bool = False) -> Answer:
        """Run in a thread, within the limits. What takes too long is answered with an error, and ends on its own; what changes
        the index is waited for.
        """
        for text in texts:
            if len(text) > limits.max_chars:
                raise ToolError(f"the text has {len(text):,} characters; at most {limits.max_chars:,} are allowed")
            if not text.strip():
                raise ToolError("the text is empty")
            if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
                raise ToolError("the text contains lone surrogates, which are not valid characters")
        if not gate:  # created here: it belongs to the running loop
            gate.append(anyio.CapacityLimiter(_AT_ONCE))

        def held() -> Answer:
            if not slots.acquire(timeout=limits.max_seconds):
                raise ToolError("the server is busy; try again later")
            try:
                return work()
            finally:
                slots.release()

        try:
            if not may_take_longer:
                with anyio.fail_after(limits.max_seconds):
                    return await anyio.to_thread.run_sync(held, limiter=gate[0], abandon_on_cancel=True)
            return await anyio.to_thread.run_sync(held, limiter=gate[0])
        except TimeoutError:
            raise ToolError(f"this took longer than {limits.max_seconds:g} seconds; try a shorter text") from None
        except IbidemError as error:
            raise ToolError(" ".join(filter(None, (f"{error.message}.", error.next_step)))) from None

    async def check_text(text: Text) -> CheckAnswer:
        """Say how much of a text is already in the index, and which documents contain it. Nothing is stored."""
        return await run(partial(_check, index, text, limits), text)

    async def find_passages(
        text: Text,
        edited: Annotated[bool, Field(description="Also find edited copies and parts of sentences; slower.")] = True,
    ) -> PassagesAnswer:
        """Find the passages of a text that are also in documents of the index, with their places and the words that differ."""
        return await run(partial(_find, index, text, edited, limits), text)

    async def verify_quotation(
        quotation: Annotated[str, Field(min_length=1, description="The quotation, without quotation marks; 3 words or more.")],
        source: Annotated[str | None, Field(description="Id of the document it is attributed to.")] = None,
    ) -> QuotationAnswer:
        """Say whether a quotation is in the index word for word, altered, in another document, or not at all."""
        return quotation_answer(await run(lambda: index.verify(quotation, source=source), quotation))

    async def compare_texts(a: Text, b: Text) -> PassagesAnswer:
        """Align two texts word by word: which passages they share, and which words differ in them."""
        return await run(partial(_compare, a, b, limits), a, b)

    async def add_document(
        id: Annotated[str, Field(min_length=1, max_length=_MOST_ID_CHARS, description="A new id.")],
        text: Text,
        time: Annotated[str | None, Field(description="When it appeared, ISO 8601.")] = None,
        group: Annotated[str | None, Field(description="Its source, such as an outlet.")] = None,
    ) -> AddAnswer:
        """Add a document to the index for good. An id that is already there is an error."""
        if time is not None and parse_time(time) is None:
            raise ToolError("time cannot be parsed. Use ISO 8601, for example 2031-09-13T04:00:00Z.")
        return await run(partial(_add, index, Document(id, text, time, group)), text, may_take_longer=True)

    for tool in (check_text, find_passages, verify_quotation, compare_texts):
        server.add_tool(tool, annotations=_READS)
    if may_add:
        server.add_tool(add_document, annotations=_ADDS)
    return server


def warm_up(index: Index) -> None:
    """Compile or load what the tools need, so that no call has to wait for it."""
    text = "One short text, so that everything is ready. It is compared with all the others there are, and then forgotten."
    for work in (partial(_find, index, text, True, Limits()), partial(_compare, text, text, Limits())):
        work()
    if index.config.index.texts:
        index.verify(text)


def _asked(text: str) -> Document:
    # An id that no document has: the index does not compare a document with its own id.
    return Document(f"text {secrets.token_hex(16)}", text)


def _check(index: Index, text: str, limits: Limits) -> CheckAnswer:
    verdict = index.check(_asked(text), html=False, main_content=False)
    n_known = verdict.n_known + verdict.n_common
    return CheckAnswer(
        duplicated=verdict.duplicated,
        n_sentences=verdict.n_sentences,
        n_known=n_known,
        known_share=n_known / verdict.n_sentences if verdict.n_sentences else 0.0,
        sources=[KnownSource(**source._asdict()) for source in verdict.sources[: limits.max_answers]],
    )


def _find(index: Index, text: str, edited: bool, limits: Limits) -> PassagesAnswer:
    align = edited and index.config.index.texts
    verdict = index.check(_asked(text), html=False, main_content=False, align=align)
    found = [{**p, "a_text": text[p["a_start"] : p["a_end"]], "b_text": p.get("b_text")} for p in verdict.passages]
    return passages_answer(found, limits.max_answers, verdict.covered_share)


def _compare(a: str, b: str, limits: Limits) -> PassagesAnswer:
    found = [record_of(passage) for passage in compare(a, b)]
    covered = reached = 0
    for start, end in sorted((p["a_start"], p["a_end"]) for p in found):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return passages_answer(found, limits.max_answers, covered / len(a))


def _add(index: Index, document: Document) -> AddAnswer:
    index.add([document], html=False, main_content=False)
    return AddAnswer(id=document.id, n_documents=len(index), same_text_as=index.same_texts.get(document.id))
