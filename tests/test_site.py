"""The site of the docs is built without network and without a broken link."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytest.importorskip("material", reason="mkdocs-material is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site with a proxy that nobody serves: whoever needs the network fails.

    Not with --quiet: MkDocs then does not count the warnings that --strict turns into errors.
    """
    folder = tmp_path_factory.mktemp("site")
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | nowhere, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


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
