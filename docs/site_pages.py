"""What the site needs beyond the pages in docs: files of the repository that the pages link to are pages of the site, too."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
# file of the repository → page of the site
PROJECT = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "examples/essays/README.md": "examples/essays.md",
    "examples/newsroom/README.md": "examples/newsroom.md",
    "examples/sites/README.md": "examples/sites.md",
    "examples/training/README.md": "examples/training.md",
}
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
_FENCED = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, *, config: Any) -> Files:
    """Add the files of the repository."""
    for source, page in PROJECT.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Let links lead to where the site has the file that the repository has elsewhere."""
    homes = {page: source for source, page in PROJECT.items()}
    here = PurePosixPath(homes.get(page.file.src_uri, f"docs/{page.file.src_uri}")).parent

    def moved(found: re.Match[str]) -> str:
        opening, target, anchor, closing = found.groups()
        path = os.path.normpath(here / target).replace(os.sep, "/")
        path = f"{path}/README.md" if (ROOT / path / "README.md").exists() else path
        page_of = PROJECT.get(path) or path.removeprefix("docs/")
        start = PurePosixPath(page.file.src_uri).parent
        return f"{opening}{os.path.relpath(page_of, start).replace(os.sep, '/')}{anchor or ''}{closing}"

    parts = _FENCED.split(markdown)
    return "".join(part if part.lstrip().startswith("```") else _LINK.sub(moved, part) for part in parts)
