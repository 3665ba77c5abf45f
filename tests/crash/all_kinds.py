"""The kinds of folders by name."""

from __future__ import annotations

from tests.crash.cleaned_folder import CleanedFolder
from tests.crash.index_folder import IndexFolder
from tests.crash.kinds import Kind
from tests.crash.run_folder import RunFolder
from tests.crash.served_folder import ServedFolder

KINDS: dict[str, type[Kind]] = {"index": IndexFolder, "runs": RunFolder, "cleaned": CleanedFolder, "served": ServedFolder}
