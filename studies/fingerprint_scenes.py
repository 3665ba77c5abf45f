"""Sources and targets in two languages: forum posts, and pages of a site in two snapshots. Used by fingerprints.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fingerprint_tables import Sources
from fingerprint_targets import (
    Targets,
    clipping_targets,
    is_conversation,
    only_text,
    quoting_targets,
    revision_targets,
)  # fmt: skip
from inputs import Record, gathered, read_records
from newsgroups import POSTS, QUOTATIONS

N_CLIPPINGS = 4000
PAGES = {"Korean": "mdn_ko", "English": "mdn_en"}
SNAPSHOTS = ("docs_2024-01.jsonl.zst", "docs.jsonl.zst")
PAGE_FILES = tuple(f"{folder}/{name}" for folder in PAGES.values() for name in SNAPSHOTS)
SOURCE_SECTIONS = ("web/api", "web/javascript")
OTHER_SECTIONS = ("web/css", "web/html", "web/http", "web/svg", "web/xpath", "web/xslt", "web/xml", "web/mathml")


@dataclass(frozen=True)
class Scene:
    """Sources, and targets to be compared with them."""

    name: str
    language: str
    collection: str
    records: list[Record]
    sources: Sources
    targets: tuple[Targets, ...]

    def data(self) -> str:
        """Say what the scene consists of."""
        names = {"clippings": "planted clippings"}
        told = "; ".join(
            f"{int(each.duplicated.sum()):,} {names.get(each.name, each.name)} and {int((~each.duplicated).sum()):,} others"
            for each in self.targets
        )
        return f"{self.collection}, {self.language} ({told})"


def post_scene(data: Path, share: float) -> Scene:
    """Return the scene of forum posts; a share of them is runs of posts, so that threads stay together."""
    records = [record for row, record in enumerate(read_records(data / POSTS)) if row % 500 < 500 * share]
    draw = random.Random(1)
    is_source = {record["id"]: is_conversation(record) and draw.random() < 2 / 3 for record in records}
    source_records = only_text([record for record in records if is_source[record["id"]]])
    sources = Sources.of(gathered(source_records))
    quoting = quoting_targets(records, list(read_records(data / QUOTATIONS)), is_source)
    unrelated = [record for record, duplicated in zip(quoting.records, quoting.duplicated, strict=True) if not duplicated]
    clippings = clipping_targets(draw.sample(unrelated, round(share * N_CLIPPINGS)), sources.collection, "English")
    return Scene("English posts", "English", "newsgroups20", source_records, sources, (quoting, clippings))


def read_pages(path: Path) -> dict[str, Record]:
    """Return the pages of a snapshot by their address, without that of the language."""
    records = ({**record, "page": record["cluster"].split("/", 1)[1]} for record in read_records(path))
    return {record["page"]: record for record in records}


def section_of(page: str) -> str:
    """Return the section of a page."""
    return "/".join(page.split("/")[:2])


def page_scenes(data: Path, share: float) -> Iterator[Scene]:
    """Yield the scenes of a site's pages, the same pages in Korean and in English."""
    snapshots = {language: [read_pages(data / folder / name) for name in SNAPSHOTS] for language, folder in PAGES.items()}
    earlier, later = (set.intersection(*(set(of[k]) for of in snapshots.values())) for k in (0, 1))
    draw = random.Random(3)
    pages = [page for page in sorted(earlier) if section_of(page) in SOURCE_SECTIONS and draw.random() < share]
    chosen = {page for page in pages if draw.random() < 2 / 3}
    others = [page for page in sorted(later) if section_of(page) in OTHER_SECTIONS and draw.random() < share]
    for language, (old, new) in snapshots.items():
        source_records = only_text([old[page] for page in sorted(chosen)])
        sources = Sources.of(gathered(source_records))
        texts = {page: old[page]["text"] for page in chosen}
        revisions = revision_targets([new[page] for page in sorted(chosen & later)], texts, [new[page] for page in others])
        hosts = [{"id": f"{new[page]['id']} {n}", "text": new[page]["text"]} for page in others for n in range(2)]
        clippings = clipping_targets(hosts, sources.collection, language)
        yield Scene(f"{language} pages", language, PAGES[language], source_records, sources, (revisions, clippings))
