"""The map is true: what ARCHITECTURE, CONTRIBUTING and the pages on how it works name is there, and they stay short."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pyarrow.compute as pc
import pytest

import ibidem
from tests.test_layers import LAYERS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "ibidem"
MAPS = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/how-it-works").glob("*.md"))]
PAGES = sorted(
    {ROOT / "README.md", ROOT / "CHANGELOG.md", *MAPS, *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")}
)
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
EXTENSIONS = (".py", ".js", ".md", ".txt", ".toml")
PLACEHOLDER = re.compile(r"NAME|DIR|GENOME")
UNUSED = {"prange"}  # named to say that it is not used


@cache
def files() -> list[Path]:
    """Return the files of the project, without what is made of them and without this one."""
    folders = ("src", "tests", "docs", "benchmarks", "studies", "fuzz")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    return [path for path in (*found, ROOT / "Makefile", ROOT / "pyproject.toml") if path != Path(__file__)]


@cache
def words_of_code() -> frozenset[str]:
    code = [path for path in files() if path.suffix in (".py", ".js") or path.name == "Makefile"]
    words = {word for path in code for word in re.findall(r"\w+", path.read_text("utf-8"))}
    return frozenset(words | {path.stem for path in files()})


def quoted(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", FENCED.sub("", page.read_text("utf-8")))


def paths_in(page: Path) -> list[str]:
    """Return the paths that a page names, in commands too; not those of users, nor those that represent any name."""
    parts = [part for text in quoted(page) for part in text.split()]
    found = [part for part in parts if re.fullmatch(r"[\w.*-]*(/[\w.*-]*)+", part) or part.endswith(EXTENSIONS)]
    return [part for part in found if not PLACEHOLDER.search(part) and not part.startswith(("-", "/"))]


def is_there(path: str) -> bool:
    """Return whether a path of the project is there, or one of the package; a single name may be anywhere in it."""
    if any((base / path).exists() for base in (ROOT, SOURCE)):
        return True
    name = path.rstrip("/")
    return "/" not in name and any(name in each.relative_to(ROOT).parts for each in files())


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    assert [path for path in paths_in(page) if not is_there(path)] == []


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.name)
def test_modules_exist(page: Path) -> None:
    modules = [module for text in quoted(page) for module in re.findall(r"\bibidem(?:\.\w+)+", text)]
    wrong = [module for module in modules if not (SOURCE.parent / module.replace(".", "/")).with_suffix(".py").exists()]
    assert [module for module in wrong if not (SOURCE.parent / module.replace(".", "/")).is_dir()] == []


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.name)
def test_names_occur_in_the_code(page: Path) -> None:
    given = [text.removesuffix("()") for text in quoted(page)]
    single = {name for name in given if re.fullmatch(r"[A-Za-z_][\w.]*\w", name) and not name.endswith(EXTENSIONS)}
    long = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", page.read_text("utf-8")))
    known = words_of_code() | UNUSED | {Path(__file__).stem}
    names = [name for name in single | long if not PLACEHOLDER.fullmatch(name)]
    assert sorted(name for name in names if not set(name.split(".")) <= known) == []


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text("utf-8"))):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, fragment = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if fragment:
            headings = re.findall(r"^#+ (.*)$", there.read_text("utf-8"), re.MULTILINE)
            assert fragment in map(anchor, headings), target


def test_every_page_on_how_it_works_is_listed() -> None:
    folder = ROOT / "docs/how-it-works"
    listed = re.findall(r"\]\((\w[\w-]*\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(page.name for page in folder.glob("*.md") if page.name != "README.md")


def test_the_map_is_read_in_ten_minutes() -> None:
    text = MAPS[0].read_text("utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings
    assert [heading for heading in headings if not heading.endswith("?")] == []
    assert len(text.split()) <= 2400
    assert len(MAPS[1].read_text("utf-8").split()) <= 1200


def test_the_drawing_shows_the_layers() -> None:
    (drawing,) = (text for text in FENCED.findall(MAPS[0].read_text("utf-8")) if "ground" in text)
    rows = [line.split()[0] for line in drawing.splitlines()[1:-1] if line[:1].isalpha()]
    (stages,) = (line for line in drawing.splitlines() if line.startswith("stages"))
    at = rows.index("stages")
    upwards = [*rows[:at:-1], *stages.split()[1::2], *rows[at - 1 :: -1]]
    assert upwards == LAYERS


def test_the_passages_of_a_document_are_found_by_its_id() -> None:
    (line,) = re.findall(r"^ *mine = (.*)$", MAPS[0].read_text("utf-8"), re.MULTILINE)
    text = "The harbour was closed on Monday because of the storm. Two ferries stayed in port. The mayor asked all to stay."
    result = ibidem.find([{"id": name, "text": f"{name}. {text}"} for name in ("wire-1", "wire-2", "wire-3")])
    assert eval(line, {"pc": pc, "result": result}).num_rows == 2
