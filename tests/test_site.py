"""The site of the docs is built without network and without a broken link."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytest.importorskip("material", reason="mkdocs-material is not installed")


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout with a proxy that nobody serves: whoever needs the network fails.

    Not with --quiet: MkDocs then does not count the warnings that --strict turns into errors.
    """
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    return subprocess.run(command, cwd=root, env=os.environ | nowhere, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_make_builds_as_strictly() -> None:
    (command,) = re.findall(r"-m mkdocs build .*", (ROOT / "Makefile").read_text("utf-8"))
    assert command == "-m mkdocs build --strict"


def test_broken_links_fail(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("mkdocs.yml", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    with (tmp_path / "docs" / "glossary.md").open("a", encoding="utf-8") as page:
        page.write("\n[a](nowhere.md) [b](evidence.md#nothing) [c](../NOTHING.md)\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    assert done.stderr.count("contains a link") == 3, done.stderr


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    made = [page.with_name("index.html") if page.stem == "README" else page.with_suffix(".html") for page in pages]
    assert [str(page) for page in made if not (site / page).exists()] == []


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|iframe|source)[^>]+src="([^"]+)"|<link[^>]+rel="stylesheet"[^>]+href="([^"]+)"')
    for page in site.rglob("*.html"):
        addresses = [first or second for first, second in loaded.findall(page.read_text("utf-8"))]
        assert [address for address in addresses if address.startswith(("http:", "https:", "//"))] == [], page


def test_sources_and_scripts_stay_out(site: Path) -> None:
    assert list(site.rglob("*.py")) == []
