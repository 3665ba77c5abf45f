"""What is measured by complexity fuzzing: every verb, and the routes that take texts, each as a function of documents.

`VERBS[name](documents, folder)` gets everything ready, yields a function that does the work and returns how many rows came out,
and closes what it opened. Only that function is measured. Everything runs in this process, on as many threads as `WORKERS`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import ibidem

Documents = list[dict[str, str]]
Work = Callable[[], int]
Verb = Callable[[Documents, Path], AbstractContextManager[Work]]
WORKERS = 1
_MOST_REQUESTS = 8
_REFUSALS = (400, 413, 422)  # documented answers to texts that cannot be looked up


def documents_of(texts: list[str], prefix: str = "d") -> Documents:
    """Return texts as documents."""
    return [{"id": f"{prefix}{number}", "text": text} for number, text in enumerate(texts)]


def _find(**settings: Any) -> Verb:
    @contextmanager
    def ready(documents: Documents, folder: Path) -> Iterator[Work]:
        def work() -> int:
            result = ibidem.find(documents, workers=WORKERS, **settings)
            return int(result.passages.num_rows + result.repeats.num_rows)

        yield work

    return ready


def _cluster(**settings: Any) -> Verb:
    @contextmanager
    def ready(documents: Documents, folder: Path) -> Iterator[Work]:
        def work() -> int:
            result = ibidem.cluster(documents, workers=WORKERS, **settings)
            return int(result.duplicates.num_rows + result.clusters.num_rows)

        yield work

    return ready


def _dedup(**settings: Any) -> Verb:
    @contextmanager
    def ready(documents: Documents, folder: Path) -> Iterator[Work]:
        yield lambda: int(ibidem.dedup(documents, workers=WORKERS, **settings).removed.num_rows)

    return ready


@contextmanager
def _compare(documents: Documents, folder: Path) -> Iterator[Work]:
    """Compare neighbours; of one document alone, its halves."""
    if len(documents) == 1:
        text = documents[0]["text"]
        documents = documents_of([text[: len(text) // 2], text[len(text) // 2 :]])
    names = [document["id"] for document in documents]
    pairs = list(zip(names[::2], names[1::2], strict=False))
    yield lambda: len(ibidem.compare_pairs(documents, pairs, workers=WORKERS))


@contextmanager
def _index(folder: Path, documents: Documents) -> Iterator[ibidem.Index]:
    """Open a new index of these documents."""
    shutil.rmtree(folder / "index", ignore_errors=True)
    with ibidem.Index(folder / "index", workers=WORKERS) as index:
        if documents:
            index.add(documents)
        yield index


@contextmanager
def _add(documents: Documents, folder: Path) -> Iterator[Work]:
    with _index(folder, []) as index:
        yield lambda: int(index.add(documents))


@contextmanager
def _query(documents: Documents, folder: Path) -> Iterator[Work]:
    asked = [{**document, "id": f"again {document['id']}"} for document in documents]
    with _index(folder, documents) as index:

        def work() -> int:
            result = index.query(asked)
            return int(result.hits.num_rows + result.passages.num_rows)

        yield work


@contextmanager
def _check(documents: Documents, folder: Path) -> Iterator[Work]:
    asked = [{**document, "id": f"again {document['id']}"} for document in documents]
    with _index(folder, documents) as index:
        yield lambda: sum(len(verdict.sources) for verdict in index.check(asked))


@contextmanager
def _watch(documents: Documents, folder: Path) -> Iterator[Work]:
    with _index(folder, []) as index:
        yield lambda: sum(arrival.n_passages for arrival in index.watch(documents))


def _post(route: str, known: bool) -> Verb:
    """Post texts to a route of the app, in this process; with `known`, an index that has them all."""

    @contextmanager
    def ready(documents: Documents, folder: Path) -> Iterator[Work]:
        import anyio
        import httpx

        from ibidem.viewer.server.app import make_app
        from ibidem.viewer.server.security import Access
        from ibidem.viewer.server.served import open_served

        # One request a tiny document would measure little but requests.
        step = -(-len(documents) // _MOST_REQUESTS)
        groups = [documents[k : k + step] for k in range(0, len(documents), step)]
        asked = documents_of(["\n\n".join(document["text"] for document in group) for group in groups], "asked")
        with _index(folder, documents if known else documents[:0]):
            pass
        with open_served(folder / "index") as served:
            transport = httpx.ASGITransport(make_app(served, Access(max_upload_bytes=10**9)))

            async def send() -> int:
                n_rows = 0
                async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:
                    for document in asked:
                        answer = await client.post(f"/api/v1/{route}", json=document)
                        if answer.status_code not in _REFUSALS:
                            answer.raise_for_status()
                            n_rows += answer.json()["n_passages"]
                return n_rows

            yield lambda: anyio.run(send)

    return ready


VERBS: dict[str, Verb] = {
    "find": _find(),
    "find-exact": _find(signature="exact"),
    "find-shingles": _find(signature="shingles"),
    "find-align": _find(align=True),
    "cluster": _cluster(),
    "dedup-document": _dedup(level="document"),
    "dedup-passage": _dedup(level="passage"),
    "dedup-passage-words": _dedup(level="passage", signature="words"),
    "dedup-sentence": _dedup(level="sentence"),
    "dedup-sentence-words": _dedup(level="sentence", signature="words"),
    "compare": _compare,
    "index-add": _add,
    "index-query": _query,
    "index-check": _check,
    "index-watch": _watch,
    "http-check": _post("check", known=True),
    "http-arrivals": _post("arrivals", known=False),
}
